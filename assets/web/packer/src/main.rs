//! Makes of a module of WebAssembly what a browser loads: packer MODULE.wasm FOLDER NAME

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: packer MODULE.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let made = bindgen
        .input_path(module)
        .out_name(name)
        .typescript(false)
        .remove_producers_section(true)
        .remove_name_section(true)
        .web(true)
        .and_then(|bindgen| bindgen.generate(folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module} could not be packed: {error:#}");
            ExitCode::FAILURE
        }
    }
}
