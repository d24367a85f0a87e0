//! The `sinew` program.

use std::{env, path::Path, process::ExitCode};

use sinew::import::ImportError;

mod inspect;

#[expect(clippy::print_stderr, reason = "errors of the program go there")]
fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|a| a.as_os_str()).collect();
    let (path, json) = match arguments[..] {
        [command, path] if command == "inspect" => (path, false),
        [command, path, flag] if command == "inspect" && flag == "--json" => (path, true),
        _ => {
            eprintln!("usage: sinew inspect FILE [--json]");
            return ExitCode::from(2);
        }
    };
    let Err(error) = inspect::run(Path::new(path), json) else { return ExitCode::SUCCESS };
    eprintln!("error: {error}");
    if let Some(error) = error.downcast_ref::<ImportError>() {
        eprintln!("help: {}", error.help());
    }
    ExitCode::FAILURE
}
