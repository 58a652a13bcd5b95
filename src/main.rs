//! Floor 14: parses the arguments, then runs the command line or the window; nothing else.

use std::process::ExitCode;

use interlinear::cli;

/// A build without the feature `gui` has no window.
#[cfg(feature = "gui")]
const CONTEXT: cli::Context = cli::Context { window: Some(interlinear::ui::run) };
#[cfg(not(feature = "gui"))]
const CONTEXT: cli::Context = cli::Context { window: None };

fn main() -> ExitCode {
    cli::run(std::env::args_os(), CONTEXT)
}
