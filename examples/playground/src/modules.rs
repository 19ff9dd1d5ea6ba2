//! Builds the decoder for wasm32, once without and once with simd128, and its JavaScript bindings.
//!
//! `wasm-bindgen` is used as a library, by the program `bindings` of the package `wasm`, so that no tool of its exact
//! version has to be installed.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A file that the page loads.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TARGET: &str = "wasm32-unknown-unknown";

const MISSING: &str = "there is no standard library for wasm32-unknown-unknown. Install it with

    rustup target add wasm32-unknown-unknown

or, on Debian, install a compiler that can build it:

    apt-get install rustc-web cargo-web rust-web-src lld
";

/// A way to compile for wasm32.
#[derive(Clone, Copy, Debug)]
enum Toolchain {
    /// The toolchain in use has the standard library.
    InUse,
    /// Debian's compiler builds the standard library from source.
    Debian,
}

/// Builds all modules. What has been built before is used again.
///
/// # Errors
///
/// If the toolchain lacks something, or a build fails. The message describes what to install.
pub(crate) fn build() -> Result<Vec<File>> {
    let toolchain = Toolchain::find().ok_or(MISSING)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm");
    // This program is `target/PROFILE/playground`.
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("no target folder")?.join("playground");

    eprintln!("building the program that writes the bindings");
    let mut cargo = command("cargo", &folder, &target);
    run(cargo.args(["build", "--features", "bindings", "--bin", "bindings"]))?;
    let bindings = target.join("debug").join(format!("bindings{}", env::consts::EXE_SUFFIX));

    let mut files = Vec::new();
    for (name, feature) in [("scalar", "-simd128"), ("simd128", "+simd128")] {
        eprintln!("building the wasm module: {name}");
        // Both builds stay in one folder, because cargo keeps those with other flags apart; the module itself is replaced.
        run(&mut toolchain.compiler(feature, &folder, &target))?;
        let module = target.join(TARGET).join("release/playground_wasm.wasm");
        let output = target.join("page");
        run(Command::new(&bindings).arg(module).arg(&output).arg(name))?;
        for name in [format!("{name}.js"), format!("{name}_bg.wasm")] {
            files.push(File { bytes: fs::read(output.join(&name))?, name });
        }
    }
    Ok(files)
}

impl Toolchain {
    fn find() -> Option<Self> {
        let rustc = env::var_os("RUSTC").unwrap_or("rustc".into());
        let query = ["--print", "target-libdir", "--target", TARGET];
        if let Ok(output) = Command::new(rustc).args(query).output()
            && let Ok(folder) = String::from_utf8(output.stdout)
            && fs::read_dir(folder.trim()).is_ok_and(|files| files.count() > 0)
        {
            return Some(Self::InUse);
        }
        let paths = env::var_os("PATH").unwrap_or_default();
        let has_linker = env::split_paths(&paths).any(|folder| folder.join("wasm-ld").exists());
        let source = Path::new("/usr/lib/rustlib/src/rust/library");
        let compiler = Path::new("/usr/bin/cargo").exists() && Path::new("/usr/bin/rustc").exists();
        (has_linker && compiler && source.exists()).then_some(Self::Debian)
    }

    /// Returns the command that builds the module.
    fn compiler(self, feature: &str, folder: &Path, target: &Path) -> Command {
        let mut flags = format!("-Ctarget-feature={feature}");
        let mut cargo = match self {
            Self::InUse => command("cargo", folder, target),
            Self::Debian => {
                flags.push_str(" -Clinker=wasm-ld");
                let mut cargo = command("/usr/bin/cargo", folder, target);
                cargo.arg("-Zbuild-std=std,panic_abort");
                cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
                cargo
            }
        };
        cargo.args(["build", "--release", "--lib", "--target", TARGET]).env("RUSTFLAGS", flags);
        cargo
    }
}

/// Returns a command of `cargo` in `folder` that the build of this program does not affect.
fn command(cargo: &str, folder: &Path, target: &Path) -> Command {
    let mut command = Command::new(cargo);
    for name in
        ["CARGO_BUILD_TARGET", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS"]
    {
        command.env_remove(name);
    }
    command.current_dir(folder).env("CARGO_TARGET_DIR", target);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_owned();
    let status = command
        .status()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    if !status.success() {
        return Err(format!("{} failed, with {status}", program.display()).into());
    }
    Ok(())
}
