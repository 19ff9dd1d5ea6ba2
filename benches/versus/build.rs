//! Passes the version of the compiler to the program.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    println!("cargo:rustc-env=COMPILER={}", version.unwrap_or_default().trim());
    println!("cargo:rerun-if-changed=build.rs");
}
