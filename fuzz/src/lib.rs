//! What the fuzz targets share with the crate's own tests, from where it stands there.

#![allow(private_interfaces, reason = "the reference model is not public, and need not be")]

#[path = "../../tests/support/encodings.rs"]
mod encodings;
#[path = "../../tests/support/lists.rs"]
mod lists;
#[path = "../../tests/support/operations/mod.rs"]
pub mod operations;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::process;

use utf8_codec::__kernel::Kernel;

/// The kernel of this name. On a machine without it the target ends here, and says so.
pub fn kernel_or_exit(name: &str) -> Kernel {
    Kernel::available().find(|kernel| kernel.name() == name).unwrap_or_else(|| {
        println!("SKIPPED: this machine has no kernel {name}");
        process::exit(0)
    })
}
