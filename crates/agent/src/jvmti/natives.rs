//! The agent's own functions in front of native methods of the JDK.
