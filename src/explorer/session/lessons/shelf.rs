//! The lessons that there are: those that come with the program, and those of the user's own folder.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::session::{lessons::script, lessons::script::Script};
use engine::lang;

macro_rules! bundled {
    ($($key:literal),* $(,)?) => {
        &[$(($key, include_str!(concat!("../../../../assets/lessons/", $key, ".toml")))),*]
    };
}

/// The lessons that come with the program: key and text, in the order in which they build on each other.
pub const BUNDLED: &[(&str, &str)] = bundled![
    "bottleneck", "alignment", "verb-last", "soft-hard", "global-local", "bahdanau-luong", "beam-greedy", "learning",
    "copies", "explanation", "attention-fails", "unknown-words", "annotation", "query-key-value", "transformer",
];

/// A first lesson on attention: these lessons in this order, with their minutes, 45 together.
pub const PATH: [(&str, usize); 3] = [("alignment", 12), ("bottleneck", 15), ("explanation", 18)];

/// How keys of a user's own lessons begin.
const OWN: &str = "own/";

/// A lesson of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonFile {
    pub key: String,
    /// Its file, where it is the user's own.
    pub file: Option<PathBuf>,
    pub script: Option<Arc<Script>>,
    /// Why its file cannot be read now, as a sentence.
    pub fault: Option<String>,
}

impl LessonFile {
    /// Its title, or the name of its file where nothing of it could be read.
    pub fn title(&self) -> &str {
        let name = self.key.strip_prefix(OWN).unwrap_or(&self.key);
        self.script.as_ref().map_or(name, |script| &script.title)
    }
}

/// The lessons that come with the program, in the language of the thread.
pub fn bundled() -> &'static [LessonFile] {
    static READ: [OnceLock<Vec<LessonFile>>; lang::COUNT] = [const { OnceLock::new() }; lang::COUNT];
    READ[lang::spoken() as usize].get_or_init(|| {
        let kept = |(key, text): &(&str, &str)| read(key, None, Path::new(&format!("{key}.toml")), Ok(text), None);
        BUNDLED.iter().map(kept).collect()
    })
}

/// A file of the user's own folder; `before` is what was known of it.
pub fn own(path: &Path, text: Result<&str, &str>, before: Option<&LessonFile>) -> LessonFile {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    read(&format!("{OWN}{stem}"), Some(path), path, text, before)
}

fn read(
    key: &str, file: Option<&Path>, said: &Path, text: Result<&str, &str>, before: Option<&LessonFile>,
) -> LessonFile {
    let found = match text {
        Ok(text) => script::read(text).map_err(|fault| format!("{}, {fault}", said.display())),
        Err(message) => Err(message.to_owned()),
    };
    let (script, fault) = match found {
        Ok(script) => (Some(Arc::new(script)), None),
        Err(fault) => (before.and_then(|before| before.script.clone()), Some(fault)),
    };
    LessonFile { key: key.to_owned(), file: file.map(Path::to_path_buf), script, fault }
}
