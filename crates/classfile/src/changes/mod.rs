//! Compares two versions of a class, or of a folder of classes.
