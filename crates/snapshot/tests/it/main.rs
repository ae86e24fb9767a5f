//! Snapshots of small checkouts.

mod blocks;
mod cache;
mod class_path;
mod files;
mod lookup;
mod support;
