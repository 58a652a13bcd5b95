//! What a defect leaves behind: where it was and in which version, so that it can be reported. No message, since
//! that may hold words of the user's.

use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::thread::{Thread, ThreadId};

use engine::text::write::write_private;

/// The name of the window's thread; a defect on another is shown in the window.
const OF_THE_WINDOW: &str = "of the window";
/// The file next to the state, before and after it was shown.
const NOTED: &str = "defect.txt";
const SHOWN: &str = "defect-told.txt";
const LONGEST_BYTES: u64 = 1 << 16;

/// The panic that ended the window before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Where it was, in which version.
    pub place: String,
    pub path: PathBuf,
}

/// Records a panic next to the state; `window` is the thread of the window. What cannot be written is lost.
pub fn note(state: &Path, info: &PanicHookInfo<'_>, window: ThreadId) {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    note_place(state, &place, called(&std::thread::current(), window));
}

fn called(thread: &Thread, window: ThreadId) -> &str {
    if thread.id() == window { OF_THE_WINDOW } else { thread.name().unwrap_or("without a name") }
}

fn note_place(state: &Path, place: &str, thread: &str) {
    let mut text = String::new();
    let _ = writeln!(text, "{place}, Interlinear {}", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "thread {thread}");
    let _ = writeln!(text, "{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let _ = write_private(&state.with_file_name(NOTED), |file| file.write_all(text.as_bytes()));
}

/// The defect that ended the window of this state. It is found once; its file stays, under another name.
pub fn found(state: &Path) -> Option<Defect> {
    let noted = state.with_file_name(NOTED);
    let facts = std::fs::symlink_metadata(&noted).ok()?;
    let text = (facts.is_file() && facts.len() <= LONGEST_BYTES).then(|| std::fs::read_to_string(&noted).ok())??;
    let mut lines = text.lines();
    let place = lines.next()?.to_owned();
    lines.next()?.strip_prefix("thread ").filter(|thread| *thread == OF_THE_WINDOW)?;
    let path = state.with_file_name(SHOWN);
    std::fs::rename(noted, &path).ok()?;
    Some(Defect { place, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_of_the_window_is_found_once_and_one_of_another_thread_never() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = folder.path().join("session.json");
        assert_eq!(found(&state), None);
        note_place(&state, "src/a.rs:1:2", "interlinear-live");
        assert_eq!(found(&state), None);
        // The thread of a test is not called `main`, nor is that of Python.
        let window = std::thread::current();
        note_place(&state, "src/b.rs:3:4", called(&window, window.id()));
        let defect = found(&state).expect("it is noted");
        assert_eq!(defect.place, format!("src/b.rs:3:4, Interlinear {}", env!("CARGO_PKG_VERSION")));
        assert!(std::fs::read_to_string(&defect.path).expect("it is kept").contains("thread of the window"));
        assert_eq!(found(&state), None, "it was told");
    }
}
