//! Parses the arguments, then runs the command line or the window; nothing else.

use std::process::ExitCode;

use interlinear::cli;

/// A build without the feature `gui` has no window.
#[cfg(feature = "gui")]
const CONTEXT: cli::Context = cli::Context { window: Some(interlinear::ui::run) };
#[cfg(not(feature = "gui"))]
const CONTEXT: cli::Context = cli::Context { window: None };

/// Gives memory back that threads leave; the C library of Linux keeps it for each of them, 200 MB in an hour of use.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run(std::env::args_os(), CONTEXT)
}
