//! Reduces a class to what can change behaviour.
