//! The one error of the library. Imports nothing of ours.
//!
//! Every variant that a user can cause is a sentence that names the file, line,
//! key or tensor and, where it helps, says what to do.

use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong, told as a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file as a whole: missing, unreadable, truncated, foreign.
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    /// One line of a file, counted from 1.
    #[error("{}, line {line}: {message}", path.display())]
    Line { path: PathBuf, line: usize, message: String },
    /// One key of a configuration file.
    #[error("{}: key `{key}` {message}", path.display())]
    Key {
        path: PathBuf,
        key: String,
        /// Continues "key `k` ".
        message: String,
    },
    /// One tensor of a weights file.
    #[error("{}: tensor `{tensor}` {message}", path.display())]
    Tensor {
        path: PathBuf,
        tensor: String,
        /// Continues "tensor `t` ".
        message: String,
    },
    /// Any other input of the user.
    #[error("{0}")]
    Input(String),
    /// A device that was asked for and is not there or does not work.
    #[error("{0}")]
    Device(String),
    /// The ticket went stale: the work is no longer wanted. Never shown.
    #[error("the work was stopped because newer work replaced it")]
    Stale,
    /// A defect of ours, in words.
    #[error("internal error: {0}")]
    Internal(String),
    /// candle refused an operation.
    #[error("the tensor library refused an operation: {0}")]
    Candle(#[from] candle_core::Error),
}

impl Error {
    /// A file error with `path` named.
    pub fn file(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().into(), message: message.into() }
    }

    /// A line error, `line` counted from 1.
    pub fn line(path: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Self {
        Self::Line { path: path.as_ref().into(), line, message: message.into() }
    }

    /// A key error; `message` continues "key `k` ...".
    pub fn key(path: impl AsRef<Path>, key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Key { path: path.as_ref().into(), key: key.into(), message: message.into() }
    }

    /// A tensor error; `message` continues "tensor `t` ...".
    pub fn tensor(path: impl AsRef<Path>, tensor: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Tensor { path: path.as_ref().into(), tensor: tensor.into(), message: message.into() }
    }

    /// Turns an I/O error into a sentence about `path`.
    pub fn io(path: impl AsRef<Path>, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let message = match error.kind() {
            ErrorKind::NotFound => "does not exist; check the path".to_owned(),
            ErrorKind::PermissionDenied => "may not be opened; check its permissions".to_owned(),
            ErrorKind::StorageFull => {
                "could not be written because the disk is full; free some space and try again".to_owned()
            }
            _ => format!("could not be read or written ({error})"),
        };
        Self::file(path, message)
    }

    /// True for errors that the user caused and can mend (exit code 2).
    pub fn is_users(&self) -> bool {
        !matches!(self, Self::Stale | Self::Internal(_) | Self::Candle(_))
    }
}
