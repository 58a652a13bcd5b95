//! Floor 9: what is done with the lists of sentences and the files in them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::document::column::file_name;
use crate::app::effect::Chore;
use crate::app::files::lists::List;
use crate::app::files::lists::OpenFile;
use crate::app::state::AppState;
use crate::pages::sentence::command::ListCommand;
use crate::text::lines::TextFile;
use crate::text::links::Links;

/// So many sentences of a list are compared with the source to find it there.
const COMPARED: usize = 1_000;

impl AppState {
    pub(crate) fn apply_to_lists(&mut self, command: ListCommand) {
        match command {
            ListCommand::Show(list) => self.show_list(list),
            ListCommand::CloseFile(n) => self.close_file(n),
            ListCommand::Search(text) => {
                if text != self.lists.search.text {
                    self.lists.search.text = text;
                    self.lists.search_again();
                }
            }
            ListCommand::ClearHistory => {
                self.lists.translated.clear();
                self.typed_on = false;
                self.changed();
                if self.lists.shown == List::History {
                    self.scene.position = None;
                    self.lists.search_again();
                }
            }
            ListCommand::Pick(position) => self.pick(Some(position)),
            ListCommand::Move(by) => self.pick(self.lists.moved_from(self.scene.position, by)),
            ListCommand::First => self.pick(self.lists.visible(0)),
            ListCommand::Last => {
                let last = self.lists.visible_len().checked_sub(1);
                self.pick(last.and_then(|last| self.lists.visible(last)));
            }
        }
    }

    /// Translates a sentence of the shown list.
    fn pick(&mut self, position: Option<usize>) {
        let text = position.and_then(|position| self.lists.sentence(position)).map(Cow::into_owned);
        if let Some(text) = text {
            self.replace_source(text, position);
            self.find_gold();
        }
    }

    /// The alignment by hand of the sentence that is shown, where its list has one.
    fn find_gold(&mut self) {
        if let Some(gold) = self.gold_of_list() {
            self.gold = Some(Arc::new(gold));
        }
    }

    /// Word links that were opened become the alignments by hand of the shown list, if they are of it and its translations.
    pub(crate) fn open_gold(&mut self, path: PathBuf) {
        match self.files_of_gold() {
            Ok((source, target)) => self.chore(Chore::ReadGold { path, source, target }),
            Err(why) => {
                let text = format!(
                    "{} holds word links, alignments by hand of a text and its translation; {why}",
                    file_name(&path)
                );
                self.notify(text, true);
            }
        }
    }

    /// The lines of the shown list and of its translations: those that it was opened with, or another open file that is
    /// as long. Otherwise why there are none.
    fn files_of_gold(&self) -> Result<(PathBuf, PathBuf), String> {
        let List::File(n) = self.lists.shown else {
            return Err("open that text first, so that its list is shown".to_owned());
        };
        let Some(file) = self.lists.files.get(n).filter(|file| file.is_whole()) else {
            return Err("the text is still being read, so open them again in a moment".to_owned());
        };
        let as_long = |other: &&OpenFile| other.path != file.path && other.is_whole() && other.len() == file.len();
        let other = || self.lists.files.iter().find(as_long).map(|other| other.path.clone());
        let target = file.target_path.clone().or_else(other).ok_or_else(|| {
            let (name, lines) = (file.name(), file.len());
            format!("open the translation of {name} first, a file of {lines} lines too, and then show {name} again")
        })?;
        Ok((file.path.clone(), target))
    }

    /// Alignments by hand were read; the list keeps them and the translations that they are of.
    pub(crate) fn gold_read(&mut self, path: &Path, of: (&Path, PathBuf), links: &Arc<Vec<Links>>, note: &str) {
        let (list, target) = of;
        let lines = self.lists.files.iter().find(|file| file.path == target).and_then(|file| file.lines.clone());
        // The same text may be open with several translations.
        let files = &mut self.lists.files;
        let with = files.iter().position(|file| file.path == list && file.target_path.as_ref() == Some(&target));
        let bare = || files.iter().position(|file| file.path == list && file.target_path.is_none());
        let Some(file) = with.or_else(bare).and_then(|at| files.get_mut(at)) else { return };
        if file.target_path.as_ref() != Some(&target) {
            (file.target, file.target_path) = (lines, Some(target.clone()));
        }
        file.gold = Some(Arc::clone(links));
        let text = format!(
            "{} is the alignment by hand of {} and {}, {} lines. {note}",
            file_name(path),
            file_name(list),
            file_name(&target),
            links.len()
        );
        self.find_gold();
        self.changed();
        self.notify(text, false);
    }

    /// Where the source stands in the shown list, as far as the list is looked through.
    pub(crate) fn position_of_source(&self) -> Option<usize> {
        let n = self.lists.len().min(COMPARED);
        (0..n).find(|at| self.lists.sentence(*at).is_some_and(|text| text == self.scene.source))
    }

    fn show_list(&mut self, list: List) {
        let list = self.lists.existing(list);
        if list == self.lists.shown {
            return;
        }
        self.lists.shown = list;
        self.scene.position = self.position_of_source();
        self.changed();
        self.lists.search_again();
    }

    /// Opens a text file as a list and shows it; one that is open already is only shown.
    pub(crate) fn open_file(&mut self, path: PathBuf) {
        if let Some(n) = self.lists.files.iter().position(|file| file.path == path) {
            self.show_list(List::File(n));
            return;
        }
        self.add_file(path, None, true);
    }

    /// Has a file read as a list, perhaps with its translation.
    pub(crate) fn add_file(&mut self, path: PathBuf, target: Option<PathBuf>, show: bool) {
        let is_it = |file: &OpenFile| file.path == path && (target.is_none() || file.target_path == target);
        let known = self.lists.files.iter().position(is_it);
        let n = known.unwrap_or(self.lists.files.len());
        if known.is_none() {
            self.chore(Chore::Read(path.clone()));
            if let Some(target) = target.clone() {
                self.chore(Chore::Read(target));
            }
            let before = show.then_some((self.lists.shown, self.scene.position));
            let (lines, pick_first) = (None, show);
            self.lists.files.push(OpenFile {
                path,
                lines,
                target_path: target,
                target: None,
                gold: None,
                pick_first,
                before,
            });
        }
        self.lists.files[n].pick_first |= show;
        if show {
            self.lists.shown = List::File(n);
            self.scene.position = None;
            self.lists.search_again();
        }
        self.changed();
    }

    fn close_file(&mut self, n: usize) {
        if n >= self.lists.files.len() {
            return;
        }
        let file = self.lists.remove_file(n);
        self.changed();
        match self.lists.shown {
            List::File(shown) if shown == n => {
                match file.before.filter(|_| !file.lines.is_some_and(|lines| lines.is_whole())) {
                    Some((list, position)) => {
                        self.lists.shown = self.lists.existing(list);
                        self.scene.position = position.filter(|_| self.lists.shown == list);
                        self.lists.search_again();
                    }
                    None => self.show_list(List::Examples),
                }
            }
            List::File(shown) if shown > n => self.lists.shown = List::File(shown - 1),
            List::File(_) | List::Examples | List::History => {}
        }
    }

    /// A file was read, or more of it than before.
    pub(crate) fn file_read(&mut self, path: &Path, lines: &Arc<TextFile>) {
        let (mut pick, mut grows) = (None, false);
        for (n, file) in self.lists.files.iter_mut().enumerate() {
            if file.path == path {
                // What was found so far is found still, and the search goes on in the new lines.
                grows |= file.lines.is_some() && self.lists.shown == List::File(n);
                file.lines = Some(Arc::clone(lines));
                if std::mem::take(&mut file.pick_first) {
                    pick = Some(n);
                }
            }
            if file.target_path.as_deref() == Some(path) {
                file.target = Some(Arc::clone(lines));
            }
        }
        if !grows {
            self.lists.search_again();
        }
        if pick.is_some_and(|n| self.lists.shown == List::File(n)) {
            self.pick(Some(0));
        } else if !grows && self.scene.position.is_none() {
            // a file of the last start is read only now
            self.scene.position = self.position_of_source();
        }
    }

    /// A file could not be read: its list goes, and so does it as a translation.
    pub(crate) fn file_failed(&mut self, path: &Path) {
        for file in &mut self.lists.files {
            if file.target_path.as_deref() == Some(path) {
                (file.target_path, file.target) = (None, None);
            }
        }
        while let Some(n) = self.lists.files.iter().position(|file| file.path == path && !file.is_whole()) {
            self.close_file(n);
        }
    }
}
