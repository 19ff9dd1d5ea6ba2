//! Writes the JavaScript bindings of a wasm module: `bindings MODULE.wasm FOLDER NAME`.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [module, folder, name] = &arguments[..] else {
        eprintln!("usage: bindings MODULE.wasm FOLDER NAME");
        return ExitCode::FAILURE;
    };
    let written = Bindgen::new()
        .input_path(module)
        .out_name(name)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .omit_default_module_path(false)
        .web(true)
        .and_then(|bindgen| bindgen.generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bindings: {error:#}");
            ExitCode::FAILURE
        }
    }
}
