//! The lists of sentences: examples, opened files, what was translated; and what is looked for in them.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use serde::Deserialize;

use crate::app::{document::column::file_name, files::gold::Gold};
use engine::text::lines::{Needle, TextFile};
use engine::text::{cut::WordRule, links::Links, toml::parse};

/// Most sentences kept in the history.
pub const MAX_TRANSLATED: usize = 500;

/// A list of sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum List {
    #[default]
    Examples,
    /// What was translated before, newest first.
    History,
    /// An opened file, by its position among the opened files.
    File(usize),
}

/// Sentences that show one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleGroup {
    pub name: String,
    /// What to look for.
    pub shows: String,
    pub sentences: Vec<Example>,
}

/// One example sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its position in the list of examples, counted through all groups.
    pub position: usize,
    pub text: String,
}

/// A text file opened as a list, perhaps with its translation beside it.
#[derive(Clone, Debug)]
pub struct OpenFile {
    pub path: PathBuf,
    /// Its lines, those read so far while it is being read; `None` before the first.
    pub lines: Option<Arc<TextFile>>,
    /// A file with the reference translations, line by line.
    pub target_path: Option<PathBuf>,
    pub target: Option<Arc<TextFile>>,
    /// Links by hand between its lines and those of the translation.
    pub gold: Option<Arc<Vec<Links>>>,
    /// Translate its first line as soon as it is read.
    pub(crate) pick_first: bool,
    /// The list that it took the place of and the position there, shown again when it cannot be read.
    pub(crate) before: Option<(List, Option<usize>)>,
}

/// What is looked for in the shown list. Long files are searched a little at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListSearch {
    /// What is looked for, letter case aside; empty: everything matches.
    pub text: String,
    pub matches: Vec<usize>,
    pub scanned: usize,
}

/// The lists of sentences.
#[derive(Clone, Debug)]
pub struct Lists {
    pub examples: Vec<ExampleGroup>,
    pub files: Vec<OpenFile>,
    /// What was translated before, oldest first; at most [`MAX_TRANSLATED`].
    pub translated: Vec<String>,
    pub shown: List,
    pub search: ListSearch,
}

/// Bytes of a file that one call of [`Lists::search_some`] looks at: well under a millisecond's work.
const SEARCH_AT_ONCE: usize = 1 << 18;

#[derive(Deserialize)]
struct ExamplesFile {
    group: Vec<GroupInFile>,
}

#[derive(Deserialize)]
struct GroupInFile {
    name: String,
    shows: String,
    sentences: Vec<String>,
}

pub fn examples() -> Vec<ExampleGroup> {
    // A test reads the embedded file; a window without examples would still be a window.
    let Ok(file) = parse::<ExamplesFile>(include_str!("../../../../assets/examples.toml")) else {
        return Vec::new();
    };
    let mut position = 0;
    let mut example = |text| {
        position += 1;
        Example { position: position - 1, text }
    };
    file.group
        .into_iter()
        .map(|group| ExampleGroup {
            name: group.name,
            shows: group.shows,
            sentences: group.sentences.into_iter().map(&mut example).collect(),
        })
        .collect()
}

impl OpenFile {
    pub fn name(&self) -> String {
        file_name(&self.path)
    }

    pub fn len(&self) -> usize {
        self.lines.as_ref().map_or(0, |lines| lines.len())
    }

    pub fn is_whole(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.is_whole())
    }

    /// True for an empty file and before its first lines are read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            examples: examples(),
            files: Vec::new(),
            translated: Vec::new(),
            shown: List::Examples,
            search: ListSearch::default(),
        }
    }
}

impl Lists {
    pub fn len(&self) -> usize {
        self.len_of(self.shown)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn len_of(&self, list: List) -> usize {
        match list {
            List::Examples => self.examples.iter().map(|group| group.sentences.len()).sum(),
            List::History => self.translated.len(),
            List::File(n) => self.files.get(n).map_or(0, OpenFile::len),
        }
    }

    pub fn sentence(&self, position: usize) -> Option<Cow<'_, str>> {
        self.sentence_of(self.shown, position)
    }

    /// A sentence of a list, from 0; the history has its newest first.
    pub fn sentence_of(&self, list: List, position: usize) -> Option<Cow<'_, str>> {
        match list {
            List::Examples => {
                let mut all = self.examples.iter().flat_map(|group| &group.sentences);
                all.nth(position).map(|example| Cow::Borrowed(example.text.as_str()))
            }
            List::History => {
                let from_end = self.translated.len().checked_sub(position + 1)?;
                self.translated.get(from_end).map(|text| Cow::Borrowed(text.as_str()))
            }
            List::File(n) => line(self.files.get(n)?.lines.as_deref()?, position),
        }
    }

    pub fn reference(&self, position: usize) -> Option<Cow<'_, str>> {
        let List::File(n) = self.shown else { return None };
        line(self.files.get(n)?.target.as_deref()?, position)
    }

    pub fn gold(&self, position: usize) -> Option<Gold> {
        let List::File(n) = self.shown else { return None };
        let links = self.files.get(n)?.gold.as_ref()?.get(position)?.clone();
        let (source, reference) = (self.sentence(position)?.into_owned(), self.reference(position)?.into_owned());
        Some(Gold { source, reference, links, rules: [WordRule::Spaces; 2] })
    }

    /// How many sentences of the shown list are to be drawn: all, or those that match the search.
    pub fn visible_len(&self) -> usize {
        if self.search.text.is_empty() { self.len() } else { self.search.matches.len() }
    }

    /// The position in the list of the `n`-th sentence to be drawn.
    pub fn visible(&self, n: usize) -> Option<usize> {
        if self.search.text.is_empty() { (n < self.len()).then_some(n) } else { self.search.matches.get(n).copied() }
    }

    /// Where among the sentences to be drawn this one is.
    pub fn visible_position(&self, position: usize) -> Option<usize> {
        if self.search.text.is_empty() { Some(position) } else { self.search.matches.binary_search(&position).ok() }
    }

    pub fn is_searching(&self) -> bool {
        !self.search.text.is_empty() && self.search.scanned < self.len()
    }

    /// The list itself where it exists, else the examples.
    pub fn existing(&self, list: List) -> List {
        match list {
            List::File(n) if n >= self.files.len() => List::Examples,
            List::Examples | List::History | List::File(_) => list,
        }
    }

    /// Looks through some more of the list; false when there was nothing left to do.
    pub fn search_some(&mut self) -> bool {
        if !self.is_searching() {
            return false;
        }
        let needle = Needle::new(&self.search.text);
        let from = self.search.scanned;
        let lines =
            if let List::File(n) = self.shown { self.files.get(n).and_then(|file| file.lines.clone()) } else { None };
        let (found, end) = if let Some(lines) = lines {
            lines.search(&needle, from, SEARCH_AT_ONCE)
        } else {
            let holds = |&at: &usize| self.sentence(at).is_some_and(|text| needle.is_in(&text));
            ((from..self.len()).filter(holds).collect(), self.len())
        };
        self.search.matches.extend(found);
        self.search.scanned = end;
        true
    }

    pub fn search_again(&mut self) {
        self.search.matches.clear();
        self.search.scanned = 0;
        self.search_some();
    }

    /// Which sentence is to be drawn `by` places on from this one; `None` where there is none at all.
    pub fn moved_from(&self, position: Option<usize>, by: isize) -> Option<usize> {
        let length = self.visible_len();
        if length == 0 {
            return None;
        }
        let to = match position {
            None if by < 0 => length - 1,
            None => 0,
            Some(position) if self.search.text.is_empty() => moved(position, by, length),
            Some(position) => match self.search.matches.binary_search(&position) {
                Ok(at) => moved(at, by, length),
                // Between two matches: the next one down is one step, the one above too.
                Err(at) => moved(at, if by > 0 { by - 1 } else { by }, length),
            },
        };
        self.visible(to)
    }

    /// Takes a file out. What other files keep of places in this list of files moves along.
    pub fn remove_file(&mut self, n: usize) -> OpenFile {
        let file = self.files.remove(n);
        let shifted = |list| match list {
            List::File(at) if at > n => Some(List::File(at - 1)),
            List::File(at) if at == n => None,
            List::Examples | List::History | List::File(_) => Some(list),
        };
        for other in &mut self.files {
            other.before = other.before.and_then(|(list, position)| Some((shifted(list)?, position)));
        }
        file
    }
}

/// `at + by`, kept inside `0..length` (not empty).
pub fn moved(at: usize, by: isize, length: usize) -> usize {
    at.saturating_add_signed(by).min(length - 1)
}

fn line(file: &TextFile, position: usize) -> Option<Cow<'_, str>> {
    (position < file.len()).then(|| file.line(position))
}
