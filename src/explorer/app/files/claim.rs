//! Which window keeps the state. Of two windows on one state only the first saves; otherwise the last writer
//! would take from the other what it had kept.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::text::write::{make_private_folder, remove_left_over};

/// A window's right to save a state; it ends with the process.
#[derive(Debug, Default)]
pub enum Claim {
    /// Nothing is kept, or the system has no locks: there is nothing to guard.
    #[default]
    None,
    Held {
        /// The lock lives as long as it is open.
        _file: File,
        path: PathBuf,
    },
    Taken,
}

impl Claim {
    /// Locks a file next to the state, since the state itself is replaced at every save.
    pub fn on(state: &Path) -> Self {
        let mut name = state.as_os_str().to_owned();
        name.push(".lock");
        let path = Path::new(&name);
        let is_usable = match std::fs::metadata(path) {
            // A pipe would block; it locks nothing.
            Ok(facts) => facts.is_file(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if !is_usable {
            return Self::None;
        }
        if let Some(folder) = path.parent() {
            // Where it cannot be made, the first save will say why.
            let _ = make_private_folder(folder);
        }
        let Ok(file) = OpenOptions::new().write(true).create(true).truncate(false).open(path) else {
            return Self::None;
        };
        match file.try_lock() {
            Ok(()) => {
                if let Some(folder) = path.parent() {
                    // Nobody else saves here: what killed windows were writing is of no use to anyone.
                    remove_left_over(folder);
                }
                Self::Held { _file: file, path: path.to_owned() }
            }
            Err(TryLockError::WouldBlock) => Self::Taken,
            Err(TryLockError::Error(_)) => Self::None,
        }
    }

    /// Releases the lock and removes its file.
    pub fn give_up(self) {
        if let Self::Held { path, .. } = &self {
            // An empty file that stays does no harm.
            let _ = std::fs::remove_file(path);
        }
    }

    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Taken)
    }

    pub fn trouble(&self) -> Option<String> {
        let text = tr!("Another window of Interlinear is open and keeps the state, so nothing of this one is kept");
        self.is_taken().then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::text::write::faults;

    #[test]
    fn a_second_window_leaves_alone_what_the_first_is_writing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("session.json");
        let first = Claim::on(&path);
        std::fs::write(folder.path().join(".interlinear-abc.tmp"), "half").expect("a temporary folder");
        assert!(Claim::on(&path).is_taken());
        assert_eq!(faults::left_over(folder.path()).len(), 1);
        drop(first);
        assert!(!Claim::on(&path).is_taken());
        assert_eq!(faults::left_over(folder.path()), [""; 0]);
    }
}
