//! The file that is kept between starts. It has a form of its own, so that the session may change freely.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::app::document::sentence_state::{Owned, SearchSettings, Variant, cut};
use crate::app::files::lists::{List, OpenFile};
use crate::app::{
    document::interlinear::InterlinearPlan, files::drawing::Drawing, layout::Layout, open_with::Installed,
    settings::Settings,
};
use crate::pages::{Pages, shape::changed_fields};
use crate::session::lessons::progress::Progress;
use engine::error::{Error, Result};
use engine::text::write::{make_private_folder, write_private};
use engine::{decoding::SystemSpec, text::sentence::MAX_SOURCE_BYTES};

const VERSION: u32 = 1;

/// The most columns, sets of interventions and variants of a state, and the most members of an ensemble.
const MOST_SHOWN: usize = 64;

/// The saved state. Unknown keys are ignored, missing ones have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSession {
    pub version: u32,
    /// The text being translated; `None`: the first example.
    pub source: Option<String>,
    pub given: Option<String>,
    /// What was translated before, oldest first.
    pub translated: Vec<String>,
    pub files: Vec<SavedFile>,
    /// Models and ensembles from left to right; `None`: the bundled ones.
    pub columns: Option<Vec<SystemSpec>>,
    /// What is set in the columns, while `source` is translated.
    pub interventions: Vec<Owned>,
    /// What stands beside them, while `source` is translated.
    pub variants: Vec<Variant>,
    pub interlinear: InterlinearPlan,
    /// `examples`, `history` or `file 0`.
    pub list: String,
    #[serde(serialize_with = "layout_changed", deserialize_with = "layout_of")]
    pub layout: Layout,
    pub figure: Drawing,
    #[serde(flatten)]
    pub settings: Settings,
    #[serde(flatten)]
    pub search: SearchSettings,
    /// The page that is shown, by its key.
    pub page: String,
    /// How far each lesson was read, by its key.
    pub lessons: BTreeMap<String, Progress>,
    /// What each page keeps, by its name in the table of pages.
    #[serde(flatten)]
    pub pages: BTreeMap<String, Value>,
}

fn layout_changed<S: Serializer>(layout: &Layout, output: S) -> std::result::Result<S::Ok, S::Error> {
    changed_fields(layout).serialize(output)
}

/// What is not understood is as at first.
fn layout_of<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<Layout, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(input)?).unwrap_or_default())
}

/// An opened file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedFile {
    pub path: PathBuf,
    pub target: Option<PathBuf>,
}

impl Default for SavedSession {
    fn default() -> Self {
        Self {
            version: VERSION,
            source: None,
            given: None,
            translated: Vec::new(),
            files: Vec::new(),
            columns: None,
            interventions: Vec::new(),
            variants: Vec::new(),
            interlinear: InterlinearPlan::default(),
            list: "examples".to_owned(),
            layout: Layout::default(),
            figure: Drawing::default(),
            settings: Settings::default(),
            search: SearchSettings::default(),
            page: "sentence".to_owned(),
            lessons: BTreeMap::new(),
            pages: BTreeMap::new(),
        }
    }
}

impl SavedSession {
    /// With bundled models at their present place: another build or an update may have moved them.
    pub fn with_moved(mut self, bundled: &[Installed]) -> Self {
        for folder in self.models_mut().map(|model| &mut model.folder).filter(|folder| !folder.exists()) {
            if let Some(moved) = bundled.iter().find(|here| here.folder.file_name() == folder.file_name()) {
                folder.clone_from(&moved.folder);
            }
        }
        self
    }

    /// Leaves out models beyond what a window can show; true when there were any.
    pub(super) fn limit(&mut self) -> bool {
        let Self { columns, interventions, variants, .. } = self;
        let mut nothing = Vec::new();
        let columns = columns.as_mut().unwrap_or(&mut nothing);
        let before = columns.len() + interventions.len() + variants.len();
        columns.retain(|system| (1..=MOST_SHOWN).contains(&system.members.len()));
        columns.truncate(MOST_SHOWN);
        interventions.truncate(MOST_SHOWN);
        variants.truncate(MOST_SHOWN);
        before > columns.len() + interventions.len() + variants.len()
    }

    /// Cuts what is longer than a sentence may be; true when anything was.
    pub(super) fn cut(&mut self) -> bool {
        let mut was_cut = false;
        let is_long = self.source.as_ref().is_some_and(|text| text.len() > MAX_SOURCE_BYTES);
        if is_long || self.source.is_none() {
            // they belong to the words of the whole text
            self.interventions.clear();
            self.variants.clear();
        }
        for text in self.source.iter_mut().chain(&mut self.given).chain(&mut self.translated) {
            let (short, is_cut) = cut(std::mem::take(text));
            *text = short;
            was_cut |= is_cut;
        }
        was_cut
    }

    /// Writes the state under a temporary name, then renames it; nobody but its owner may read it.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::Internal(format!("the state cannot be written ({error})")))?;
        bytes.push(b'\n');
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_private_folder(folder)?;
        }
        write_private(path, |file| file.write_all(&bytes))
    }
}

impl SavedFile {
    /// As it is kept; `None` where its path is not text.
    pub fn of(file: &OpenFile) -> Option<Self> {
        let target = file.target_path.clone().filter(|path| is_text(path));
        is_text(&file.path).then(|| Self { path: file.path.clone(), target })
    }
}

/// JSON holds text, so a path that is not text cannot be kept.
pub(super) fn is_text(path: &Path) -> bool {
    path.to_str().is_some()
}

/// What was found where the state is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundState {
    /// The state, where there is one that can be used.
    pub state: Option<SavedSession>,
    /// What was wrong, as a sentence for the user.
    pub trouble: Option<String>,
    /// The file is not ours to replace: a newer program's, or one that may not be read. Nothing is saved there.
    pub is_left_alone: bool,
}

/// Largest file that is read; a state with the longest texts has about a fifth of it.
const MOST_BYTES: u64 = 256 << 20;

/// Reads the saved state. A damaged one is renamed; one that cannot be judged stays.
pub fn load_or_set_aside(path: &Path) -> FoundState {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(found) => return *found,
    };
    let foreign = |error: serde_json::Error| Error::file(path, format!("is not a saved state ({error})"));
    // A list would be read as the fields in order; only an object is a state.
    let keys = match serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes) {
        Ok(keys) => keys,
        Err(error) => return set_aside(path, &foreign(error)),
    };
    // The version is asked first: what a newer program writes need not make sense here.
    if keys.get("version").and_then(Value::as_u64).is_some_and(|version| version > u64::from(VERSION)) {
        return left_alone(&Error::file(path, "was saved by a newer Interlinear; update this one to use it"));
    }
    match judged(keys.into()) {
        Ok(mut state) => {
            let cut = [
                (state.cut(), format!("a text longer than {MAX_SOURCE_BYTES} bytes, which was cut")),
                (
                    state.limit(),
                    format!("more than {MOST_SHOWN} columns, or an ensemble without models; they are left out"),
                ),
            ];
            let cut = cut.into_iter().find(|(is_cut, _)| *is_cut);
            let trouble = cut.map(|(_, what)| format!("{} held {what}", path.display()));
            FoundState { state: Some(state), trouble, ..FoundState::default() }
        }
        Err(error) => set_aside(path, &foreign(error)),
    }
}

fn judged(keys: Value) -> serde_json::Result<SavedSession> {
    let state: SavedSession = serde_json::from_value(keys)?;
    Pages::default().restored(state.pages.clone())?;
    Ok(state)
}

/// A state that was kept as text by this version; `None`: it is none.
pub fn of_text(text: &str) -> Option<SavedSession> {
    let mut state = judged(serde_json::from_str(text).ok()?).ok().filter(|state| state.version == VERSION)?;
    state.cut();
    state.limit();
    Some(state)
}

/// The bytes of a plain file of reasonable size, or what to answer.
fn read(path: &Path) -> std::result::Result<Vec<u8>, Box<FoundState>> {
    let missing = |error: std::io::Error| {
        Box::new(match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => FoundState::default(),
            _ => left_alone(&Error::io(path, &error)),
        })
    };
    let facts = std::fs::metadata(path).map_err(missing)?;
    if !facts.is_file() {
        // Opening a pipe would wait for someone who writes to it.
        return Err(Box::new(left_alone(&Error::file(path, "is a folder, a pipe or a device and not a file"))));
    }
    if facts.len() > MOST_BYTES {
        return Err(Box::new(set_aside(path, &Error::file(path, "is too large to be a saved state"))));
    }
    std::fs::read(path).map_err(missing)
}

fn left_alone(error: &Error) -> FoundState {
    let trouble = format!("{error}. It is left as it is, so the window's state is not being kept.");
    FoundState { trouble: Some(trouble), is_left_alone: true, state: None }
}

pub fn put_aside(path: &Path) -> std::io::Result<PathBuf> {
    let aside = free_name(path);
    std::fs::rename(path, &aside).map(|()| aside)
}

fn set_aside(path: &Path, error: &Error) -> FoundState {
    let (done, is_left_alone) = match put_aside(path) {
        Ok(aside) => (format!("It was set aside as {} and a new one was begun.", aside.display()), false),
        Err(problem) => {
            (format!("It could not be set aside ({problem}), so the window's state is not being kept."), true)
        }
    };
    FoundState { trouble: Some(format!("{error}. {done}")), is_left_alone, state: None }
}

/// `state.json` becomes `state.json.damaged`, or `.damaged-2` and so on when that is taken.
fn free_name(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let first = path.with_file_name(format!("{name}.damaged"));
    if !first.exists() {
        return first;
    }
    (2..1000).map(|n| path.with_file_name(format!("{name}.damaged-{n}"))).find(|path| !path.exists()).unwrap_or(first)
}

pub fn list_name(list: List) -> String {
    match list {
        List::Examples => "examples".to_owned(),
        List::History => "history".to_owned(),
        List::File(n) => format!("file {n}"),
    }
}

/// The list of this name; the examples when there is none.
pub fn list_of(name: &str) -> List {
    match name {
        "history" => List::History,
        _ => name.strip_prefix("file ").and_then(|n| n.parse().ok()).map_or(List::Examples, List::File),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::files::claim::Claim;
    use engine::text::write::faults;

    #[test]
    fn a_window_killed_at_any_call_of_a_save_lost_nothing_and_left_nothing_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("session.json");
        let state = |source: &str| SavedSession { source: Some(source.to_owned()), ..SavedSession::default() };
        let (old, new) = (state("before"), state(&"after ".repeat(10_000)));
        old.save(&path).expect("a temporary folder");
        let before = std::fs::read(&path).expect("it was saved");
        faults::at_every_call(
            4,
            || {
                std::fs::write(&path, &before).expect("a temporary folder");
                new.save(&path)
            },
            |what, failed, _| {
                let claim = Claim::on(&path);
                let found = load_or_set_aside(&path);
                assert_eq!((found.trouble, claim.is_taken()), (None, false), "{what}");
                assert!(found.state.as_ref() == Some(if failed { &old } else { &new }), "{what}");
                assert_eq!(faults::left_over(folder.path()), [""; 0], "{what}");
            },
        );
    }
}
