//! Acting on the decoder, as offers of a menu.

use crate::app::document::table::TargetWord;
use crate::pages::sentence::command::{InterveneCommand, RowEdit, SelectCommand};
use crate::pages::{sentence::view::memory::SentenceMemory, shell::clicked::MenuTarget, shell::local::Window};
use engine::interventions::Word;

fn target<'a>(window: &Window<'a>, clicked: MenuTarget) -> Option<(usize, &'a TargetWord)> {
    let i = clicked.target()?;
    Some((i, window.app.document.column(clicked.column())?.table.as_deref()?.target.get(i)?))
}

pub fn force(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(i) = clicked.target() else { return };
    window.push(SelectCommand::Target { column: clicked.column(), i });
    window.layout.inspector_open = true;
    window.local.of::<SentenceMemory>().opens_word = Some(());
}

fn forbid(window: &mut Window<'_>, clicked: MenuTarget, is_here: bool) {
    let Some((i, word)) = target(window, clicked) else { return };
    let word = Word::Entry(word.entry.clone());
    let i = is_here.then_some(i);
    window.push(InterveneCommand::Ban { column: clicked.column(), i, word, in_all: false });
}

pub fn ban(window: &mut Window<'_>, clicked: MenuTarget) {
    forbid(window, clicked, true);
}

pub fn never(window: &mut Window<'_>, clicked: MenuTarget) {
    forbid(window, clicked, false);
}

fn edit(window: &mut Window<'_>, clicked: MenuTarget, edit: RowEdit) {
    let Some(i) = clicked.target() else { return };
    window.push(InterveneCommand::Row { column: clicked.column(), i, edit });
}

pub fn one_hot(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(j) = clicked.source() else { return };
    edit(window, clicked, RowEdit::OneHot(j));
}

pub fn uniform(window: &mut Window<'_>, clicked: MenuTarget) {
    edit(window, clicked, RowEdit::Uniform);
}

pub fn can_gold(window: &Window<'_>, clicked: MenuTarget) -> bool {
    fits(window, clicked) == Some(true)
}

/// Whether the column emits the translation that was linked manually; `None` without such links.
pub fn fits(window: &Window<'_>, clicked: MenuTarget) -> Option<bool> {
    let column = window.app.document.column(clicked.column())?;
    let own = column.table.as_deref().filter(|table| !table.is_given && table.alpha.is_some());
    own.and_then(|_| window.app.gold()).map(|gold| gold.fits(column))
}

pub fn gold(window: &mut Window<'_>, clicked: MenuTarget) {
    edit(window, clicked, RowEdit::Gold);
}

pub fn all_gold(window: &mut Window<'_>, clicked: MenuTarget) {
    window.push(InterveneCommand::Rows { column: clicked.column(), edit: RowEdit::Gold });
}

pub fn reference(window: &mut Window<'_>, clicked: MenuTarget) {
    let Some(text) = window.app.gold().map(|gold| gold.reference.clone()) else { return };
    window.push(InterveneCommand::Whole { column: clicked.column(), text });
}

pub fn free(window: &mut Window<'_>, clicked: MenuTarget) {
    edit(window, clicked, RowEdit::Free);
}

pub fn is_pinned(window: &Window<'_>, clicked: MenuTarget) -> bool {
    target(window, clicked).is_some_and(|(_, word)| word.is_pinned)
}

pub fn masked(window: &Window<'_>, clicked: MenuTarget) -> Option<bool> {
    let table = window.app.document.column(clicked.column())?.table.as_deref().filter(|table| table.alpha.is_some())?;
    Some(table.source.get(clicked.source()?)?.is_masked)
}

pub fn is_masked(window: &Window<'_>, clicked: MenuTarget) -> bool {
    masked(window, clicked) == Some(true)
}

fn set_mask(window: &mut Window<'_>, clicked: MenuTarget, is_masked: bool) {
    let Some(j) = clicked.source() else { return };
    window.push(InterveneCommand::Mask { column: clicked.column(), j, is_masked, in_all: false });
}

pub fn mask(window: &mut Window<'_>, clicked: MenuTarget) {
    set_mask(window, clicked, true);
}

pub fn unmask(window: &mut Window<'_>, clicked: MenuTarget) {
    set_mask(window, clicked, false);
}
