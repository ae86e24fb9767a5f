//! Control flow within a method.
