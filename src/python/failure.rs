//! What went wrong, as the exception that Python has for its kind.

use engine::error::Error;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::{PyErr, PyResult, Python};

/// What went wrong, in one of ours or in Python.
pub enum Failure {
    /// An error of the program.
    Ours(Error),
    /// An exception.
    Raised(PyErr),
}

/// What a function called by Python gives.
pub type Answer<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Ours(error) => raised(&error),
            Failure::Raised(error) => error,
        }
    }
}

/// A warning of Python.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = std::ffi::CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
}

/// An error as the exception that Python has for its kind.
fn raised(error: &Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::File { path, .. } if !path.exists() => PyFileNotFoundError::new_err(sentence),
        Error::File { .. } => PyOSError::new_err(sentence),
        Error::Line { .. } | Error::Key { .. } | Error::Tensor { .. } | Error::Input(_) => {
            PyValueError::new_err(sentence)
        }
        Error::Device(_) | Error::Stale | Error::Internal(_) | Error::Candle(_) => PyRuntimeError::new_err(sentence),
    }
}
