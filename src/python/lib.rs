//! The module of Python, `interlinear._native`, which maturin builds.

#![allow(clippy::needless_pass_by_value, reason = "Python hands over what it owns")]

pub mod aligning;
pub mod arrays;
pub mod failure;
pub mod figure;
pub mod forked;
pub mod model;
pub mod translation;
pub mod waiting;
pub mod workspace;

use std::{ffi::OsString, path::PathBuf};

use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::{Python, pyfunction, pymodule};

use crate::failure::Answer;
use host::bundled;

/// Gives memory back that threads leave, as in the program.
#[cfg(not(target_family = "wasm"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "gui")]
const CONTEXT: cli::Context = cli::Context { window: Some(explorer::ui::run) };
#[cfg(not(feature = "gui"))]
const CONTEXT: cli::Context = cli::Context { window: None };

/// Where a model lies that is named by a path or as installed models are; without one, why, and where it was looked for.
#[pyfunction]
fn model_path(name: PathBuf) -> Answer<PathBuf> {
    let places = || {
        let home = bundled::home();
        let there = bundled::places().into_iter().filter(|place| place.is_dir() || Some(place) == home.as_ref());
        there.map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let found = bundled::model_of(name);
    let found = found.map_err(|why| PyFileNotFoundError::new_err(format!("{why}. Looked in {}", places())))?;
    let mut path = found.folder.into_os_string();
    path.push(found.choice.to_string());
    Ok(path.into())
}

/// The installed models.
#[pyfunction]
fn installed() -> Vec<PathBuf> {
    bundled::models()
}

/// Runs the program on its arguments, its own name first, and gives its exit code.
#[pyfunction]
fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cli::code_of(arguments, CONTEXT))
}

/// The module.
#[pymodule]
pub mod _native {
    #[pymodule_export]
    use super::{installed, model_path, run_program};
    #[pymodule_export]
    use crate::aligning::{Learner, aer, pharaoh, symmetrizations};
    #[pymodule_export]
    use crate::figure::{NativeFigure, draw, words_of_pieces};
    #[pymodule_export]
    use crate::model::NativeModel;
    #[pymodule_export]
    use crate::translation::NativeTranslation;
    #[pymodule_export]
    use crate::workspace::NativeWorkspace;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
