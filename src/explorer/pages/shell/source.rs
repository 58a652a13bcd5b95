//! The field of the source text, which is typed on every page that shows the sentence.

use egui::text::{CCursor, CCursorRange};
use egui::{Id, TextEdit, Ui};

use crate::app::command::SourceCommand;
use crate::pages::shell::local::{Panel, Window};
use crate::widgets::{bidi, theme};

/// A longer text is cut: its layout would block the window.
pub const MOST_CHARACTERS: usize = 100_000;
const TEXT_HEIGHT: f32 = 84.0;

/// What the text field remembers between frames.
#[derive(Default)]
pub struct SourceMemory {
    /// The text was too long for the field and was cut; shown until the next edit.
    pub cut: bool,
    /// The selection in the last frame, and the number of characters of its text.
    selected: Option<(CCursorRange, usize)>,
}

pub fn editor_id() -> Id {
    Id::unique("source_text")
}

pub fn editor_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let mut text = window.app.document.source().to_owned();
    let align = if bidi::starts_right(&text) { egui::Align::RIGHT } else { egui::Align::LEFT };
    select_anew(ui.ctx(), window, &text);
    let output = egui::ScrollArea::vertical().id_salt("source").max_height(TEXT_HEIGHT).show(ui, |ui| {
        TextEdit::multiline(&mut text)
            .id(editor_id())
            .font(theme::sentence())
            .frame(egui::Frame::NONE)
            .margin(egui::Margin::symmetric(2, 2))
            .desired_width(f32::INFINITY)
            .desired_rows(1)
            // a sentence is one line; Enter would only add an empty one, or erase what is selected
            .return_key(egui::KeyboardShortcut::new(egui::Modifiers::SHIFT, egui::Key::Enter))
            .align(egui::Align2([align, egui::Align::TOP]))
            .char_limit(MOST_CHARACTERS)
            .hint_text(tr!("Type a sentence to translate"))
            .show(ui)
    });
    let mut output = output.inner;
    let response = output.response.response.clone().accessible_name(tr!("Source text"));
    let is_asked = window.local.shared.takes_focus(Panel::Source);
    // what was typed in the first frame stays
    if is_asked && !response.changed() {
        response.request_focus();
        output.state.cursor.set_char_range(Some(all_of(&text)));
        output.state.clone().store(ui.ctx(), editor_id());
    }
    let range = output.state.cursor.char_range().filter(|range| !range.is_empty());
    window.local.of::<SourceMemory>().selected = range.map(|range| (range, text.chars().count()));
    if response.changed() {
        window.local.of::<SourceMemory>().cut =
            text.len() >= MOST_CHARACTERS && text.chars().count() >= MOST_CHARACTERS;
        window.push(SourceCommand::Edit(text));
    }
}

fn all_of(text: &str) -> CCursorRange {
    CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()))
}

/// Focuses the field before the first frame, which is slow, with all text selected: early keys replace the sentence.
pub fn begin(ctx: &egui::Context, text: &str) {
    ctx.memory_mut(|memory| memory.request_focus(editor_id()));
    let mut state = egui::text_edit::TextEditState::default();
    state.cursor.set_char_range(Some(all_of(text)));
    state.store(ctx, editor_id());
}

/// In a new sentence all is selected if all was, else nothing.
fn select_anew(ctx: &egui::Context, window: &mut Window<'_>, text: &str) {
    let Some((range, count)) = window.local.of::<SourceMemory>().selected else { return };
    let Some(mut state) = egui::text_edit::TextEditState::load(ctx, editor_id()) else { return };
    if count == text.chars().count() || state.cursor.char_range() != Some(range) {
        return;
    }
    let end = CCursorRange::one(CCursor::new(text.chars().count()));
    let (ends, all) = ([range.primary, range.secondary], [CCursor::new(0), CCursor::new(count)]);
    let was_all = ends == all || ends == [all[1], all[0]];
    state.cursor.set_char_range(Some(if was_all { all_of(text) } else { end }));
    state.store(ctx, editor_id());
}
