//! Snapshots of small checkouts.

mod cache;
mod class_path;
mod files;
mod lookup;
mod support;
