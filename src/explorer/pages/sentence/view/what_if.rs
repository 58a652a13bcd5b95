//! The sheets of variants: other words, with the neighbours of the one that is replaced, and other settings.

use egui::{Button, DragValue, Grid, Key, RichText, Slider, TextEdit, Ui};

use crate::app::{document::column::Column, document::rewording::WordEdit};
use crate::pages::shell::local::{Sheet, VariantWords, Window};
use crate::pages::{
    sentence::SentencePage, sentence::command::VariantCommand, sentence::view::memory::SentenceMemory,
    sentence::view::variant,
};
use crate::{pages::shell::sheet, widgets::theme};

const WIDTH: f32 = 480.0;
const FIELD: f32 = 60.0;

pub(super) fn what_if_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let (Sheet::Words(id, _) | Sheet::Beside(id)) = window.local.shared.sheet else { return };
    let Some(column) = window.app.document.column(id) else { return close(sentence, window) };
    let response = sheet::modal(ui, "what_if", WIDTH, |ui, _| match window.local.shared.sheet {
        Sheet::Words(_, words) => words_ui(ui, sentence, window, column, words),
        Sheet::Beside(_) => beside_ui(ui, sentence, window, column),
        Sheet::None
        | Sheet::Help
        | Sheet::Training
        | Sheet::Figure { .. }
        | Sheet::Head(_)
        | Sheet::Alignment
        | Sheet::Ask(_)
        | Sheet::Copy(_) => {}
    });
    if response.should_close() {
        close(sentence, window);
    }
}

fn close(sentence: &SentencePage, window: &mut Window<'_>) {
    window.local.shared.sheet = Sheet::None;
    window.local.of::<SentenceMemory>().beside = None;
    if sentence.near.is_some() {
        window.push(VariantCommand::Near(None));
    }
}

fn where_ui(ui: &mut Ui, column: &Column) {
    let text = if column.variant.is_some() {
        tr!("This variant is changed; undo brings its words back.")
    } else {
        tr!("The variant is translated in a column beside the original.")
    };
    ui.add(egui::Label::new(RichText::new(text).color(theme::tokens(ui).weak)).wrap());
}

fn words_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, words: VariantWords) {
    let word = |j: usize| column.table.as_ref().and_then(|table| table.source.get(j)).map(|word| word.text.clone());
    let (title, name) = match words {
        VariantWords::Replace(j) => {
            (tr!("Replace \"{}\"", word(j).unwrap_or_default()), tr!("Other words in its place"))
        }
        VariantWords::Insert(j) => {
            (tr!("Words before \"{}\"", word(j).unwrap_or_default()), tr!("Words that are inserted"))
        }
        VariantWords::Whole => (tr!("Beside it with other words").to_owned(), tr!("The whole text")),
    };
    ui.heading(title);
    where_ui(ui, column);
    ui.add_space(theme::SPACE_2);
    let label = ui.label(name);
    let field = TextEdit::singleline(&mut window.local.of::<SentenceMemory>().wording)
        .id(variant::field_id())
        .desired_width(f32::INFINITY);
    let response = ui.add(field).labelled_by(label.id);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if window.local.shared.focus_id == Some(variant::field_id()) {
        window.local.shared.focus_id = None;
        response.request_focus();
    }
    if let VariantWords::Replace(j) = words {
        near_ui(ui, sentence, window, column, j);
    }
    ui.add_space(theme::SPACE_2);
    ui.horizontal(|ui| {
        let text = window.local.of::<SentenceMemory>().wording.clone();
        let can = !text.trim().is_empty();
        if ui.add_enabled(can, Button::new(tr!("Translate it so"))).clicked() || entered && can {
            send(sentence, window, column, words, text);
        }
        if ui.button(tr!("Cancel")).clicked() {
            close(sentence, window);
        }
    });
}

fn send(sentence: &SentencePage, window: &mut Window<'_>, column: &Column, words: VariantWords, text: String) {
    let column = column.id;
    window.push(match words {
        VariantWords::Replace(j) => VariantCommand::Word { column, j, edit: WordEdit::Replace(text) },
        VariantWords::Insert(j) => VariantCommand::Word { column, j, edit: WordEdit::Insert(text) },
        VariantWords::Whole => VariantCommand::Text { column, text },
    });
    close(sentence, window);
}

fn near_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, j: usize) {
    let Some(near) = sentence.near.as_ref().filter(|near| near.of.column == column.id) else { return };
    let weak = theme::tokens(ui).weak;
    ui.add_space(theme::SPACE_2);
    let words = match &near.found {
        None => return drop(ui.label(RichText::new(tr!("Looking for its neighbours")).color(weak))),
        Some(Err(message)) => {
            return drop(ui.add(egui::Label::new(RichText::new(message).color(weak)).wrap()));
        }
        Some(Ok(words)) => words,
    };
    let note = tr!("Cosine of the rows of the source embedding matrix");
    ui.label(RichText::new(tr!("Nearest by the model's embeddings")).color(weak)).on_hover_text(note);
    let mut chosen = None;
    ui.horizontal_wrapped(|ui| {
        for (word, cosine) in words {
            let button = ui.button(format!("{word}   {cosine:.2}"));
            let cosine = format!("{cosine:.2}");
            if button.accessible_name(tr!("Replace it by {word}, cosine {cosine}", word, cosine)).clicked() {
                chosen = Some(word.clone());
            }
        }
    });
    if let Some(word) = chosen {
        send(sentence, window, column, VariantWords::Replace(j), word);
    }
}

fn beside_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column) {
    let Some(mut beside) = window.local.of::<SentenceMemory>().beside else { return close(sentence, window) };
    ui.heading(tr!("{} beside itself", column.name()));
    let note = tr!(
        "The same words with other settings, in a further column. What is left as it is follows the window's settings."
    );
    ui.add(egui::Label::new(RichText::new(note).color(theme::tokens(ui).weak)).wrap());
    ui.add_space(theme::SPACE_2);
    Grid::new("beside").num_columns(2).spacing([theme::SPACE_4, theme::SPACE_2]).show(ui, |ui| {
        let label = ui.label(tr!("Beam of the variant"));
        let field = DragValue::new(&mut beside.search.beam).range(1..=50).speed(0.1);
        ui.add_sized([FIELD, ui.spacing().interact_size.y], field).labelled_by(label.id);
        ui.end_row();
        let label = ui.label(tr!("Its length normalisation A"));
        let slider = Slider::new(&mut beside.search.length_normalization, 0.0..=2.0).step_by(0.1).fixed_decimals(1);
        ui.add(slider).labelled_by(label.id);
        ui.end_row();
    });
    ui.checkbox(&mut beside.search.forbid_unk, tr!("It never chooses [UNK]"));
    let allows = egui::Checkbox::new(&mut beside.search.allow_unk, tr!("Let models of Marian choose [UNK]"));
    ui.add_enabled(!beside.search.forbid_unk, allows);
    ui.checkbox(&mut beside.replaces, tr!("It shows the typed word for [UNK]"));
    let is_set = !window.app.document.interventions(column).is_empty();
    let with = egui::Checkbox::new(&mut beside.has_interventions, tr!("With the interventions of this column"));
    ui.add_enabled(is_set, with).on_disabled_hover_text(tr!("Nothing is set in this column"));
    window.local.of::<SentenceMemory>().beside = Some(beside);
    ui.add_space(theme::SPACE_2);
    ui.horizontal(|ui| {
        if ui.button(tr!("Put it beside")).clicked() {
            window.push(VariantCommand::Beside(column.id, beside));
            close(sentence, window);
        }
        if ui.button(tr!("Cancel")).clicked() {
            close(sentence, window);
        }
    });
}
