//! Puts code into methods, and takes code out.
