//! The checks that the fuzz targets share with the crate's own tests.

#![allow(private_interfaces, reason = "the reference model is not public, and need not be")]

#[path = "../../tests/support/encodings.rs"]
mod encodings;
#[path = "../../tests/support/lists.rs"]
mod lists;
#[path = "../../tests/support/operations/mod.rs"]
pub mod operations;
#[path = "../../tests/support/mod.rs"]
mod support;
