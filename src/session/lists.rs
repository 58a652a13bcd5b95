//! Floor 8: the lists of sentences: examples, opened files, what was translated; and search in them.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::session::Session;
use crate::session::apply::moved;
use crate::session::command::{Command, List};
use crate::session::driver::Chore;
use crate::worker::protocol::Request;

use crate::text::lines::{Needle, TextFile};

/// Sentences that show one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleGroup {
    /// Short heading.
    pub name: String,
    /// What to look for, in a sentence.
    pub shows: String,
    /// The sentences.
    pub sentences: Vec<Example>,
}

/// One example sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its position in [`crate::session::List::Examples`], counted through all groups.
    pub position: usize,
    /// The sentence.
    pub text: String,
}

/// A text file opened as a list, perhaps with its translation beside it.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its lines, those read so far while it is being read; `None` before the first.
    pub lines: Option<Arc<TextFile>>,
    /// A file with the reference translations, line by line.
    pub target_path: Option<PathBuf>,
    /// Its lines, once read.
    pub target: Option<Arc<TextFile>>,
    /// Translate its first line as soon as it is read.
    pub(crate) pick_first: bool,
    /// The list that it took the place of and the position there, shown again when it cannot be read.
    pub(crate) before: Option<(List, Option<usize>)>,
}

/// What is looked for in the shown list. Long files are searched a little at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What is looked for, letter case aside; empty: everything matches.
    pub text: String,
    /// Positions of the sentences found so far, in order.
    pub matches: Vec<usize>,
    /// How many sentences have been looked at.
    pub scanned: usize,
}

/// Bytes of a file that one call of [`Session::search_some`] looks at: well under a millisecond's work.
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

/// The sentences that come with the program.
pub fn examples() -> Vec<ExampleGroup> {
    // A test reads the embedded file; a window without examples would still be a window.
    let Ok(file) = toml::from_str::<ExamplesFile>(include_str!("../../assets/examples.toml")) else {
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
    /// The file's name without its folders.
    pub fn name(&self) -> String {
        self.path
            .file_name()
            .map_or_else(|| self.path.display().to_string(), |name| name.to_string_lossy().into_owned())
    }

    /// How many lines it has, or had so far.
    pub fn len(&self) -> usize {
        self.lines.as_ref().map_or(0, |lines| lines.len())
    }

    /// Whether it was read to its end.
    pub fn is_whole(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.is_whole())
    }

    /// True for an empty file and before its first lines are read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Session {
    /// How many sentences the shown list has.
    pub fn list_len(&self) -> usize {
        self.list_len_of(self.list)
    }

    /// How many sentences a list has.
    pub fn list_len_of(&self, list: List) -> usize {
        match list {
            List::Examples => self.examples.iter().map(|group| group.sentences.len()).sum(),
            List::History => self.translated.len(),
            List::File(n) => self.files.get(n).map_or(0, OpenFile::len),
        }
    }

    /// A sentence of the shown list.
    pub fn list_sentence(&self, position: usize) -> Option<Cow<'_, str>> {
        self.list_sentence_of(self.list, position)
    }

    /// A sentence of a list, from 0; the history has its newest first.
    pub fn list_sentence_of(&self, list: List, position: usize) -> Option<Cow<'_, str>> {
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

    /// How many sentences of the shown list are to be drawn: all, or those that match the search.
    pub fn visible_len(&self) -> usize {
        if self.search.text.is_empty() { self.list_len() } else { self.search.matches.len() }
    }

    /// The position in the list of the `n`-th sentence to be drawn.
    pub fn visible(&self, n: usize) -> Option<usize> {
        if self.search.text.is_empty() {
            (n < self.list_len()).then_some(n)
        } else {
            self.search.matches.get(n).copied()
        }
    }

    /// Where among the sentences to be drawn the present one is.
    pub fn visible_position(&self) -> Option<usize> {
        let position = self.position?;
        if self.search.text.is_empty() { Some(position) } else { self.search.matches.binary_search(&position).ok() }
    }

    /// Whether the search has not seen the whole list yet.
    pub fn is_searching(&self) -> bool {
        !self.search.text.is_empty() && self.search.scanned < self.list_len()
    }

    /// The reference translation of the shown sentence, when its file was opened with one.
    pub fn reference(&self) -> Option<Cow<'_, str>> {
        let List::File(n) = self.list else { return None };
        line(self.files.get(n)?.target.as_deref()?, self.position?)
    }

    /// Looks through some more of the list; false when there was nothing left to do.
    pub fn search_some(&mut self) -> bool {
        if !self.is_searching() {
            return false;
        }
        let needle = Needle::new(&self.search.text);
        let from = self.search.scanned;
        let lines =
            if let List::File(n) = self.list { self.files.get(n).and_then(|file| file.lines.clone()) } else { None };
        let (found, end) = if let Some(lines) = lines {
            lines.search(&needle, from, SEARCH_AT_ONCE)
        } else {
            let holds = |&at: &usize| self.list_sentence(at).is_some_and(|text| needle.is_in(&text));
            ((from..self.list_len()).filter(holds).collect(), self.list_len())
        };
        self.search.matches.extend(found);
        self.search.scanned = end;
        true
    }

    pub(super) fn search_again(&mut self) {
        self.search.matches.clear();
        self.search.scanned = 0;
        self.search_some();
    }

    pub(super) fn apply_to_lists(&mut self, command: Command) -> Option<Request> {
        match command {
            Command::ShowList(list) => self.show_list(list),
            Command::CloseFile(n) => self.close_file(n),
            Command::Search(text) if text != self.search.text => {
                self.search.text = text;
                self.search_again();
            }
            Command::ClearHistory => {
                self.translated.clear();
                self.typed_on = false;
                self.revision += 1;
                if self.list == List::History {
                    self.position = None;
                    self.search_again();
                }
            }
            Command::PickSentence(position) => return self.pick(position),
            Command::MoveSentence(by) => return self.move_sentence(by),
            Command::FirstSentence => return self.pick(self.visible(0)?),
            Command::LastSentence => return self.pick(self.visible(self.visible_len().checked_sub(1)?)?),
            _ => {}
        }
        None
    }

    /// Translates a sentence of the shown list.
    pub(super) fn pick(&mut self, position: usize) -> Option<Request> {
        let text = self.list_sentence(position)?.into_owned();
        self.replace_source(text, Some(position))
    }

    fn move_sentence(&mut self, by: isize) -> Option<Request> {
        let length = self.visible_len();
        if length == 0 {
            return None;
        }
        let to = match self.position {
            None => {
                if by < 0 {
                    length - 1
                } else {
                    0
                }
            }
            Some(position) if self.search.text.is_empty() => moved(position, by, length),
            Some(position) => match self.search.matches.binary_search(&position) {
                Ok(at) => moved(at, by, length),
                // Between two matches: the next one down is one step, the one above too.
                Err(at) => moved(at, if by > 0 { by - 1 } else { by }, length),
            },
        };
        self.pick(self.visible(to)?)
    }

    fn show_list(&mut self, list: List) {
        let list = self.existing(list);
        if list == self.list {
            return;
        }
        self.list = list;
        let n = self.list_len().min(1_000);
        self.position = (0..n).find(|&at| self.list_sentence(at).is_some_and(|text| text == self.source));
        self.revision += 1;
        self.search_again();
    }

    /// Opens a text file as a list and shows it; one that is open already is only shown.
    pub(super) fn open_file(&mut self, path: PathBuf) {
        if let Some(n) = self.files.iter().position(|file| file.path == path) {
            self.show_list(List::File(n));
            return;
        }
        self.add_file(path, None, true);
    }

    pub(super) fn add_file(&mut self, path: PathBuf, target: Option<PathBuf>, show: bool) {
        let known =
            self.files.iter().position(|file| file.path == path && (target.is_none() || file.target_path == target));
        let n = known.unwrap_or(self.files.len());
        if known.is_none() {
            self.chores.push(Chore::Read(path.clone()));
            self.chores.extend(target.clone().map(Chore::Read));
            let before = show.then_some((self.list, self.position));
            self.files.push(OpenFile {
                path,
                lines: None,
                target_path: target,
                target: None,
                pick_first: show,
                before,
            });
        }
        self.files[n].pick_first |= show;
        if show {
            self.list = List::File(n);
            self.position = None;
            self.search_again();
        }
        self.revision += 1;
    }

    pub(super) fn close_file(&mut self, n: usize) {
        if n >= self.files.len() {
            return;
        }
        let file = self.files.remove(n);
        self.revision += 1;
        match self.list {
            List::File(shown) if shown == n => {
                match file.before.filter(|_| !file.lines.is_some_and(|lines| lines.is_whole())) {
                    Some((list, position)) => {
                        self.list = self.existing(list);
                        self.position = position.filter(|_| self.list == list);
                        self.search_again();
                    }
                    None => self.show_list(List::Examples),
                }
            }
            List::File(shown) if shown > n => self.list = List::File(shown - 1),
            _ => {}
        }
    }
}

fn line(file: &TextFile, position: usize) -> Option<Cow<'_, str>> {
    (position < file.len()).then(|| file.line(position))
}
