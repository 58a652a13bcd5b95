//! Floor 11: parses the arguments, then runs the command line or the window; nothing else.

use std::process::ExitCode;

use interlinear::cli;

/// A build without the feature `gui` has no window.
#[cfg(feature = "gui")]
const CONTEXT: cli::Context = cli::Context {
    window: Some(interlinear::ui::run),
    measure: Some(interlinear::ui::measure::measure),
    measure_heatmap: Some(interlinear::ui::measure::heatmap),
    measure_tree: Some(interlinear::ui::measure::tree),
    measure_steps: Some(interlinear::ui::measure::steps),
    measure_workspace: Some(interlinear::ui::measure::workspace),
};
#[cfg(not(feature = "gui"))]
const CONTEXT: cli::Context = cli::Context {
    window: None,
    measure: None,
    measure_heatmap: None,
    measure_tree: None,
    measure_steps: None,
    measure_workspace: None,
};

fn main() -> ExitCode {
    cli::run(std::env::args_os(), CONTEXT)
}
