//! What is shown as a link: the part of an address behind `#`, which no server sees. It holds what a saved state
//! holds of one sentence, packed, and the page of a lesson where one is open; models are named, never placed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::{layout::Layout, open_with::Installed, settings::Settings};
use crate::{pages::shape::changed_fields, session::persist::SavedSession};
use engine::error::{Error, Result};
use engine::models::choice::ModelSpec;

const VERSION: u32 = 1;
/// What stands before the version, behind the address.
const MARK: &str = "#v";
/// Most letters of a link that are read: many times those of the longest text.
const MOST_LETTERS: usize = 4 << 20;
/// Most bytes that they are unpacked to.
const MOST_BYTES: u64 = 4 << 20;
/// Most items of a list in it: ten times the words of a text.
const MOST_ITEMS: usize = 10_000;

/// What a link shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShownLink {
    /// The key of the lesson that is open; empty: none is.
    pub lesson: String,
    /// Its page, from 0.
    pub lesson_page: usize,
    /// The column that is selected, from 0.
    pub selected: Option<usize>,
    /// Its target word i that is selected, from 0.
    pub word: Option<usize>,
    /// What is shown on each page, by its name in the table of pages, where it is not as at first.
    pub pages: BTreeMap<String, Value>,
    /// Sentence, models by name, interventions and page; no lists, files or window layout.
    #[serde(flatten)]
    pub state: SavedSession,
}

fn has_short_lists(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.len() <= MOST_ITEMS && list.iter().all(has_short_lists),
        Value::Object(keys) => keys.values().all(has_short_lists),
        _ => true,
    }
}

/// The part of a text that may be a link, from the `#` on.
pub fn found_in(text: &str) -> Option<&str> {
    let link = &text[text.rfind(MARK)?..];
    let version = link[MARK.len()..].split('.').next().unwrap_or_default();
    (!version.is_empty() && version.bytes().all(|letter| letter.is_ascii_digit())).then_some(link)
}

impl ShownLink {
    pub fn new(state: SavedSession, lesson: Option<(String, usize)>) -> Self {
        let Settings { unk_replacement, shown, reading, asked, pieces, links, .. } = state.settings;
        let settings = Settings { unk_replacement, shown, reading, asked, pieces, links, ..Settings::default() };
        let layout = Layout::default().showing(&state.layout);
        let SavedSession { source, given, columns, interventions, variants, search, page, .. } = state;
        let kept = SavedSession {
            source,
            given,
            columns,
            interventions,
            variants,
            layout,
            settings,
            search,
            page,
            ..SavedSession::default()
        };
        let (lesson, lesson_page) = lesson.unwrap_or_default();
        let mut link = Self { lesson, lesson_page, state: kept, ..Self::default() };
        for ModelSpec { folder, .. } in link.state.models_mut() {
            if let Some(name) = folder.file_name().map(PathBuf::from) {
                *folder = name;
            }
        }
        link
    }

    /// The mode for a class, with the sentence and the models that are shown already.
    pub fn class() -> Self {
        let state = SavedSession { layout: Layout { class: true, ..Layout::default() }, ..SavedSession::default() };
        Self::new(state, None)
    }

    /// The part behind the address. Error: the state is no text.
    pub fn text(&self) -> Result<String> {
        let failed = |error: &dyn std::fmt::Display| Error::Internal(format!("the link cannot be written ({error})"));
        // what is as at first need not be said
        let keys = changed_fields(self);
        let json = serde_json::to_vec(keys.as_object().unwrap_or(&Map::new())).map_err(|error| failed(&error))?;
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&json).map_err(|error| failed(&error))?;
        let packed = packed.finish().map_err(|error| failed(&error))?;
        Ok(format!("{MARK}{VERSION}.{}", URL_SAFE_NO_PAD.encode(packed)))
    }

    /// Error: the link is damaged or of a newer version.
    pub fn read(text: &str) -> Result<Self> {
        let damaged = || {
            let message = "This link is damaged: a part of it is missing or was changed; ask for it again";
            Error::Input(message.to_owned())
        };
        let too_much = || {
            let message =
                "This link is damaged: it shows more than the window has room for, or an ensemble without models";
            Error::Input(message.to_owned())
        };
        let link = found_in(text.trim()).ok_or_else(damaged)?;
        let (version, packed) = link[MARK.len()..].split_once('.').ok_or_else(damaged)?;
        if version.parse::<u32>().map_or(true, |version| version > VERSION) {
            let message = "This link was made by a newer Interlinear; update this one to open it";
            return Err(Error::Input(message.to_owned()));
        }
        if packed.len() > MOST_LETTERS {
            return Err(damaged());
        }
        let packed = URL_SAFE_NO_PAD.decode(packed).map_err(|_| damaged())?;
        let mut json = Vec::new();
        let read = ZlibDecoder::new(packed.as_slice()).take(MOST_BYTES).read_to_end(&mut json);
        read.map_err(|_| damaged())?;
        // a list would be read as the fields in order
        let keys: Map<String, Value> = serde_json::from_slice(&json).map_err(|_| damaged())?;
        if !keys.values().all(has_short_lists) {
            return Err(too_much());
        }
        let mut link: Self = serde_json::from_value(keys.into()).map_err(|_| damaged())?;
        let is_name = |ModelSpec { folder, .. }: &mut ModelSpec| {
            let mut parts = folder.components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
                && !folder.to_string_lossy().contains('\\')
        };
        if !link.state.models_mut().all(is_name) {
            return Err(damaged());
        }
        if link.state.limit() {
            return Err(too_much());
        }
        link.state.cut();
        // what has no place in a link does nothing
        let Self { lesson, lesson_page, selected, word, pages, state } = link;
        let lesson = (!lesson.is_empty()).then_some((lesson, lesson_page));
        Ok(Self { selected, word, pages, ..Self::new(state, lesson) })
    }

    /// Resolves the models in `bundled` or the user's folder; drops missing ones and returns their names.
    pub fn placed(mut self, bundled: &[Installed], home: Option<&Path>) -> (Self, Vec<String>) {
        let mut missing = BTreeSet::new();
        for model in self.state.models_mut() {
            let mut folders = bundled.iter().map(|installed| &installed.folder);
            let at_home = || home.map(|home| home.join(&model.folder)).filter(|folder| folder.is_dir());
            let here = folders.find(|folder| folder.file_name() == Some(model.folder.as_os_str()));
            match here.cloned().or_else(at_home) {
                Some(place) => model.folder = place,
                None => drop(missing.insert(model.to_string())),
            }
        }
        let are_here = |models: &[ModelSpec]| !models.iter().any(|model| missing.contains(&model.to_string()));
        if let Some(columns) = &mut self.state.columns {
            let before = |at: usize| columns.iter().take(at).filter(|column| are_here(&column.members)).count();
            let is_here = |at: &usize| columns.get(*at).is_some_and(|column| are_here(&column.members));
            self.selected = self.selected.filter(is_here).map(before);
            columns.retain(|column| are_here(&column.members));
        }
        self.state.interventions.retain(|owned| are_here(&owned.models));
        self.state.variants.retain(|variant| are_here(&variant.models));
        (self, missing.into_iter().collect())
    }
}

impl SavedSession {
    /// All models that it names.
    pub(super) fn models_mut(&mut self) -> impl Iterator<Item = &mut ModelSpec> {
        let models = self.columns.iter_mut().flatten().flat_map(|system| system.members.iter_mut());
        let models = models.chain(self.interventions.iter_mut().flat_map(|one| one.models.iter_mut()));
        let models = models.chain(self.variants.iter_mut().flat_map(|one| one.models.iter_mut()));
        models.chain(self.settings.aligner.models_mut())
    }
}
