//! What is done with the lists of sentences and the files in them.

use std::path::{Path, PathBuf};
use std::{borrow::Cow, sync::Arc};

use crate::app::files::lists::{List, OpenFile};
use crate::app::{document::column::file_name, files::work::FileJob, state::AppState};
use crate::pages::sentence::command::ListCommand;
use engine::text::{lines::TextFile, links::Links};

pub(super) fn browse(app: &mut AppState, command: ListCommand) {
    match command {
        ListCommand::Show(list) => show_list(app, list),
        ListCommand::CloseFile(n) => close_file(app, n),
        ListCommand::Search(text) => {
            if text != app.lists.search.text {
                app.lists.search.text = text;
                app.lists.search_again();
            }
        }
        ListCommand::ClearHistory => {
            app.lists.translated.clear();
            app.document.typed_on = false;
            app.changed();
            if app.lists.shown == List::History {
                app.document.state.position = None;
                app.lists.search_again();
            }
        }
        ListCommand::Pick(position) => pick(app, Some(position)),
        ListCommand::Move(by) => pick(app, app.lists.moved_from(app.document.state.position, by)),
        ListCommand::First => pick(app, app.lists.visible(0)),
        ListCommand::Last => {
            let last = app.lists.visible_len().checked_sub(1);
            pick(app, last.and_then(|last| app.lists.visible(last)));
        }
    }
}

fn pick(app: &mut AppState, position: Option<usize>) {
    let text = position.and_then(|position| app.lists.sentence(position)).map(Cow::into_owned);
    if let Some(text) = text {
        app.replace_source(text, position);
        find_gold(app);
    }
}

fn find_gold(app: &mut AppState) {
    if let Some(gold) = app.gold_of_list() {
        app.document.gold = Some(Arc::new(gold));
    }
}

pub(crate) fn open_gold(app: &mut AppState, path: PathBuf) {
    match files_of_gold(app) {
        Ok((source, target)) => app.tasks.chore(FileJob::ReadGold { path, source, target }),
        Err(why) => {
            let text = tr!(
                "{} holds word links, alignments by hand of a text and its translation; {why}",
                file_name(&path),
                why
            );
            app.notify(text, true);
        }
    }
}

/// The paths of the list and of its translations, or why there are none.
fn files_of_gold(app: &AppState) -> Result<(PathBuf, PathBuf), String> {
    let List::File(n) = app.lists.shown else {
        return Err(tr!("open that text first, so that its list is shown").to_owned());
    };
    let Some(file) = app.lists.files.get(n).filter(|file| file.is_whole()) else {
        return Err(tr!("the text is still being read, so open them again in a moment").to_owned());
    };
    let as_long = |other: &&OpenFile| other.path != file.path && other.is_whole() && other.len() == file.len();
    let other = || app.lists.files.iter().find(as_long).map(|other| other.path.clone());
    let target = file.target_path.clone().or_else(other).ok_or_else(|| {
        let (name, lines) = (file.name(), file.len());
        tr!(
            "open the translation of {name} first, a file of {lines} lines too, and then show {name} again",
            name,
            lines
        )
    })?;
    Ok((file.path.clone(), target))
}

/// Keeps gold alignments and the translations they belong to.
pub(crate) fn gold_read(app: &mut AppState, path: &Path, of: (&Path, PathBuf), links: &Arc<Vec<Links>>, note: &str) {
    let (list, target) = of;
    let lines = app.lists.files.iter().find(|file| file.path == target).and_then(|file| file.lines.clone());
    // The same text may be open with several translations.
    let files = &mut app.lists.files;
    let with = files.iter().position(|file| file.path == list && file.target_path.as_ref() == Some(&target));
    let bare = || files.iter().position(|file| file.path == list && file.target_path.is_none());
    let Some(file) = with.or_else(bare).and_then(|at| files.get_mut(at)) else { return };
    if file.target_path.as_ref() != Some(&target) {
        (file.target, file.target_path) = (lines, Some(target.clone()));
    }
    file.gold = Some(Arc::clone(links));
    let text = tr!(
        "{} is the alignment by hand of {} and {}, {} lines. {note}",
        file_name(path),
        file_name(list),
        file_name(&target),
        links.len(),
        note
    );
    find_gold(app);
    app.changed();
    app.notify(text, false);
}

fn show_list(app: &mut AppState, list: List) {
    let list = app.lists.existing(list);
    if list == app.lists.shown {
        return;
    }
    app.lists.shown = list;
    app.document.state.position = app.position_of_source();
    app.changed();
    app.lists.search_again();
}

pub(crate) fn open_file(app: &mut AppState, path: PathBuf) {
    if let Some(n) = app.lists.files.iter().position(|file| file.path == path) {
        show_list(app, List::File(n));
        return;
    }
    add_file(app, path, None, true);
}

pub(crate) fn add_file(app: &mut AppState, path: PathBuf, target: Option<PathBuf>, show: bool) {
    let is_it = |file: &OpenFile| file.path == path && (target.is_none() || file.target_path == target);
    let known = app.lists.files.iter().position(is_it);
    let n = known.unwrap_or(app.lists.files.len());
    if known.is_none() {
        app.tasks.chore(FileJob::Read(path.clone()));
        if let Some(target) = target.clone() {
            app.tasks.chore(FileJob::Read(target));
        }
        let before = show.then_some((app.lists.shown, app.document.state.position));
        let (lines, pick_first) = (None, show);
        app.lists.files.push(OpenFile {
            path,
            lines,
            target_path: target,
            target: None,
            gold: None,
            pick_first,
            before,
        });
    }
    app.lists.files[n].pick_first |= show;
    if show {
        app.lists.shown = List::File(n);
        app.document.state.position = None;
        app.lists.search_again();
    }
    app.changed();
}

fn close_file(app: &mut AppState, n: usize) {
    if n >= app.lists.files.len() {
        return;
    }
    let file = app.lists.remove_file(n);
    app.changed();
    match app.lists.shown {
        List::File(shown) if shown == n => {
            match file.before.filter(|_| !file.lines.is_some_and(|lines| lines.is_whole())) {
                Some((list, position)) => {
                    app.lists.shown = app.lists.existing(list);
                    app.document.state.position = position.filter(|_| app.lists.shown == list);
                    app.lists.search_again();
                }
                None => show_list(app, List::Examples),
            }
        }
        List::File(shown) if shown > n => app.lists.shown = List::File(shown - 1),
        List::File(_) | List::Examples | List::History => {}
    }
}

pub(crate) fn file_read(app: &mut AppState, path: &Path, lines: &Arc<TextFile>) {
    let (mut first, mut grows) = (None, false);
    for (n, file) in app.lists.files.iter_mut().enumerate() {
        if file.path == path {
            // What was found so far is found still, and the search goes on in the new lines.
            grows |= file.lines.is_some() && app.lists.shown == List::File(n);
            file.lines = Some(Arc::clone(lines));
            if std::mem::take(&mut file.pick_first) {
                first = Some(n);
            }
        }
        if file.target_path.as_deref() == Some(path) {
            file.target = Some(Arc::clone(lines));
        }
    }
    if !grows {
        app.lists.search_again();
    }
    if first.is_some_and(|n| app.lists.shown == List::File(n)) {
        pick(app, Some(0));
    } else if !grows && app.document.state.position.is_none() {
        // a file of the last start is read only now
        app.document.state.position = app.position_of_source();
    }
}

pub(crate) fn file_failed(app: &mut AppState, path: &Path) {
    for file in &mut app.lists.files {
        if file.target_path.as_deref() == Some(path) {
            (file.target_path, file.target) = (None, None);
        }
    }
    while let Some(n) = app.lists.files.iter().position(|file| file.path == path && !file.is_whole()) {
        close_file(app, n);
    }
}
