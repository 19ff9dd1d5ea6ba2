//! Compiles the checkout of simdutf, and passes the versions of the compilers and the commits to the program.

use std::env;
use std::process::Command;

fn main() {
    let simdutf = "checkouts/simdutf";
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(3).warnings(false).flag_if_supported("-w");
    build.include(format!("{simdutf}/include")).include(format!("{simdutf}/src"));
    build.file(format!("{simdutf}/src/simdutf.cpp"));
    let cxx = first_line(build.get_compiler().to_command().arg("--version"));
    build.compile("simdutf_head");

    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = first_line(Command::new(rustc).arg("--version"));
    println!("cargo::rustc-env=COMPILERS={rustc}, {cxx}");
    for (name, checkout) in
        [("OURS", "."), ("SIMDUTF", simdutf), ("SIMDUTF8", "checkouts/simdutf8")]
    {
        let commit = first_line(Command::new("git").args([
            "-C",
            checkout,
            "rev-parse",
            "--short=10",
            "HEAD",
        ]));
        println!("cargo::rustc-env={name}_COMMIT={commit}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={simdutf}/src");
    println!("cargo::rerun-if-changed={simdutf}/include");
    // The commits change without a change of these files.
    println!("cargo::rerun-if-env-changed=COMMITS");
}

/// The first line that a command prints; `unknown` if it fails.
fn first_line(command: &mut Command) -> String {
    let printed = command.output().ok().filter(|output| output.status.success());
    let text = printed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.as_deref().and_then(|text| text.lines().next()).unwrap_or("unknown").to_owned()
}
