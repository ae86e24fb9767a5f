//! What a method's code names.
