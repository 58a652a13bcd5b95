//! Menus of the selected word that change what a model emits and attends to, and the drag of a weight.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{DragValue, RichText, ScrollArea, Slider, TextEdit, Ui};

use crate::app::document::table::{AlignmentTable, TargetWord};
use crate::app::{document::column::Column, files::gold::OTHER_WORDS};
use crate::jobs::live::protocol::Shift;
use crate::pages::sentence::command::{InterveneCommand, ProbeCommand, RowEdit};
use crate::pages::{sentence::view::memory::Dragged, sentence::view::memory::SentenceMemory, shell::local::Window};
use crate::widgets::{labels, theme};
use engine::{analysis::row_convention::RowConvention, interventions::Word, lang};
use figure::heatmap::outlines::Outlined;

/// Points of upward movement for a weight of 1 more.
const TRAVEL: f32 = 120.0;
const STEP: f32 = 0.01;
const LIST: f32 = 260.0;

const NO_GOLD: &str = id!(
    "No alignment by hand is known of this sentence; open one with links by hand from page Corpus, or drop a file of word \
     links here while the list of their text is shown"
);

const BY_ROW: &str = id!(
    "Looks for a small change of this word's row of alpha, by its gradient, that makes the model say the other word here, \
     and sets the row"
);

/// Explanation of the divergence.
pub const DIVERGENCE: &str = id!(
    "Jensen-Shannon divergence of the next-word distributions with what is set and without it, after the same words: 0 \
     where they are equal, ln 2 = 0.693 nats where they share no word"
);

/// What the model would emit at word i by itself, if something is set and the best hypothesis is shown.
pub fn shift<'a>(window: &Window<'_>, column: &'a Column, i: usize) -> Option<&'a Shift> {
    let is_given = column.table.as_deref().is_some_and(|table| table.is_given);
    let untouched = column.baseline.untouched.as_deref().filter(|_| column.hypothesis == 0 && !is_given)?;
    let pieces = column.shown()?.pieces.as_ref().filter(|_| !window.app.view.settings.pieces);
    let token = pieces.map_or(Some(i), |pieces| pieces.target.get(i).map(|word| word.start))?;
    untouched.shifts.get(token)
}

fn menu(ui: &mut Ui, texts: (&str, &str, &str), opens: bool, content: impl FnOnce(&mut Ui)) {
    let (title, name, note) = texts;
    let config = MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let button = MenuButton::from_button(labels::small_sized(egui::Button::new(title))).config(config).ui(ui, content);
    if opens {
        egui::Popup::open_id(ui.ctx(), egui::Popup::default_response_id(&button.0));
    }
    button.0.on_hover_text(note).accessible_name(name);
}

pub fn word_menu(ui: &mut Ui, window: &mut Window<'_>, column: &Column, word: &TargetWord, i: usize) {
    let opens = window.local.of::<SentenceMemory>().opens_word.take().is_some();
    menu(ui, (tr!("Word"), tr!("Change the word"), tr!("Force another word, or forbid this one")), opens, |ui| {
        ui.set_min_width(260.0);
        force_ui(ui, window, column, i);
        ui.separator();
        for (text, probability) in word.candidates.iter().take(6).filter(|(text, _)| *text != word.entry) {
            let word = Word::Entry(text.clone());
            ui.horizontal(|ui| {
                let button = ui.button(format!("{text}   {probability:.3}"));
                if button.accessible_name(tr!("Say {text} here", text)).clicked() {
                    window.push(InterveneCommand::Force { column: column.id, i, word: word.clone() });
                    ui.close();
                }
                by_row_ui(ui, window, (column, i), word, &tr!("Find a row that says {text}", text));
            });
        }
        ui.separator();
        ban_ui(ui, window, column, word, i);
    });
}

fn force_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, i: usize) {
    let label = ui.label(tr!("Any other word, or a whole translation"));
    let field = TextEdit::singleline(&mut window.local.of::<SentenceMemory>().forced)
        .desired_width(240.0)
        .hint_text(tr!("as text"));
    let response = ui.add(field).labelled_by(label.id);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    if ui.memory(|memory| memory.focused().is_none()) {
        response.request_focus();
    }
    let text = window.local.of::<SentenceMemory>().forced.trim().to_owned();
    let can = !text.is_empty();
    ui.horizontal(|ui| {
        if ui.add_enabled(can, egui::Button::new(tr!("Say it here"))).clicked() || entered && can {
            let word = Word::Typed(text.clone());
            window.push(InterveneCommand::Force { column: column.id, i, word });
            window.local.of::<SentenceMemory>().forced.clear();
            ui.close();
        }
        let word = Word::Typed(text.clone());
        if ui.add_enabled_ui(can, |ui| by_row_ui(ui, window, (column, i), word, tr!("Find a row that says it"))).inner {
            window.local.of::<SentenceMemory>().forced.clear();
        }
        if ui.add_enabled(can, egui::Button::new(tr!("As the whole translation"))).clicked() {
            window.push(InterveneCommand::Whole { column: column.id, text });
            window.local.of::<SentenceMemory>().forced.clear();
            ui.close();
        }
    });
}

fn by_row_ui(ui: &mut Ui, window: &mut Window<'_>, at: (&Column, usize), word: Word, name: &str) -> bool {
    let (column, i) = at;
    let has_alignment = column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
    if !has_alignment || column.system.is_ensemble() {
        return false;
    }
    let is_clicked = ui.button(tr!("By its row")).on_hover_text(lang::text(BY_ROW)).accessible_name(name).clicked();
    if is_clicked {
        window.push(ProbeCommand::Persuade { column: column.id, i, word });
        ui.close();
    }
    is_clicked
}

fn ban_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, word: &TargetWord, i: usize) {
    let entry = word.entry.clone();
    for (name, i, in_all) in [
        (tr!("Not {entry} here", entry), Some(i), false),
        (tr!("Never {entry}", entry), None, false),
        (tr!("Never {entry}, in every column", entry), None, true),
    ] {
        if ui.button(name).clicked() {
            let word = if in_all { Word::Typed(word.text.clone()) } else { Word::Entry(entry.clone()) };
            window.push(InterveneCommand::Ban { column: column.id, i, word, in_all });
            ui.close();
        }
    }
}

pub fn row_menu(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, i: usize) {
    let Some(alpha) = table.alpha.as_ref().filter(|_| table.reading != Some(RowConvention::Head)) else { return };
    menu(ui, (tr!("Row"), tr!("Change the row"), tr!("Set alpha of this word, mask source words")), false, |ui| {
        ui.set_min_width(300.0);
        let mut renormalise = window.app.view.layout.renormalise;
        let note = tr!("The other words of the row share what is left of 1, in proportion");
        if ui.checkbox(&mut renormalise, tr!("The row keeps the sum 1")).on_hover_text(note).changed() {
            window.layout.renormalise = renormalise;
        }
        ScrollArea::vertical().id_salt("weights").max_height(LIST).show(ui, |ui| {
            egui::Grid::new("weights").num_columns(4).show(ui, |ui| {
                for j in 0..table.source.len() {
                    weight_ui(ui, window, column, table, (i, j, alpha.get(i, j).unwrap_or(0.0)));
                    ui.end_row();
                }
            });
        });
        ui.separator();
        edits_ui(ui, window, column, table, i);
        ui.separator();
        temperature_ui(ui, window, column);
    });
}

fn weight_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, at: (usize, usize, f32)) {
    let (i, j, before) = at;
    let Some(word) = table.source.get(j) else { return };
    let name = labels::source_text(word);
    let label = ui.label(&name);
    let mut weight = before;
    let field = DragValue::new(&mut weight).range(0.0..=1.0).speed(0.005).fixed_decimals(3);
    let response = ui.add(field).labelled_by(label.id);
    if response.changed() && (weight - before).abs() > 1e-4 {
        let goes_on = response.dragged() && !response.drag_started();
        let renormalise = window.app.view.layout.renormalise;
        window.push(InterveneCommand::Weight { column: column.id, i, j, weight, renormalise, goes_on });
    }
    if labels::small_button(ui, tr!("all")).accessible_name(tr!("All weight on {name}", name)).clicked() {
        window.push(InterveneCommand::Row { column: column.id, i, edit: RowEdit::OneHot(j) });
    }
    let mut is_masked = word.is_masked;
    let note = tr!("Takes its weight in every row that is not set; with Shift in every column");
    let mask = ui.checkbox(&mut is_masked, tr!("mask")).accessible_name(tr!("Mask {name}", name)).on_hover_text(note);
    if mask.changed() {
        let in_all = ui.input(|input| input.modifiers.shift);
        window.push(InterveneCommand::Mask { column: column.id, j, is_masked, in_all });
    }
}

pub fn is_of_aligner(window: &Window<'_>, column: &Column) -> bool {
    window.app.view.settings.outlined(column.facts.as_ref()) == Outlined::Aligner
}

fn edits_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, i: usize) {
    let mut edit = None;
    ui.horizontal(|ui| {
        for (name, one) in [(tr!("Uniform"), RowEdit::Uniform), (tr!("Reversed"), RowEdit::Reversed)] {
            if ui.button(name).clicked() {
                edit = Some(one);
            }
        }
        let note = tr!("In an order that follows from the number beside it");
        if ui.button(tr!("Permuted")).on_hover_text(note).clicked() {
            edit = Some(RowEdit::Permuted(window.local.of::<SentenceMemory>().seed));
            window.local.of::<SentenceMemory>().seed += 1;
        }
        ui.add(DragValue::new(&mut window.local.of::<SentenceMemory>().seed))
            .accessible_name(tr!("Seed of the permutation"));
    });
    let aligns =
        |other: &&Column| other.id != column.id && other.table.as_deref().is_some_and(|table| table.alpha.is_some());
    for other in window.app.document.columns.iter().filter(aligns) {
        if ui.button(tr!("As in {}", other.name())).clicked() {
            edit = Some(RowEdit::Like(other.id));
        }
    }
    let has_links = table.links.is_some() && is_of_aligner(window, column);
    let links = ui.add_enabled(has_links, egui::Button::new(tr!("As the aligner links it")));
    if links.on_disabled_hover_text(tr!("Show the links of the statistical aligner first (Ctrl+K)")).clicked() {
        edit = Some(RowEdit::Links);
    }
    let gold = window.app.gold();
    let why = match &gold {
        None => lang::text(NO_GOLD),
        Some(gold) if gold.fits(column) => "",
        Some(_) => lang::text(OTHER_WORDS),
    };
    ui.horizontal(|ui| {
        let mut button =
            |name: &str| ui.add_enabled(why.is_empty(), egui::Button::new(name)).on_disabled_hover_text(why).clicked();
        if button(tr!("As linked by hand")) {
            edit = Some(RowEdit::Gold);
        }
        if button(tr!("All rows so")) {
            window.push(InterveneCommand::Rows { column: column.id, edit: RowEdit::Gold });
        }
    });
    if let Some(gold) = gold.filter(|gold| !gold.fits(column))
        && ui.button(tr!("Say the reference")).on_hover_text(&gold.reference).clicked()
    {
        window.push(InterveneCommand::Whole { column: column.id, text: gold.reference.clone() });
    }
    let is_pinned = table.target.get(i).is_some_and(|word| word.is_pinned);
    if ui.add_enabled(is_pinned, egui::Button::new(tr!("By the model again"))).clicked() {
        edit = Some(RowEdit::Free);
    }
    if let Some(edit) = edit {
        window.push(InterveneCommand::Row { column: column.id, i, edit });
    }
}

fn temperature_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let before = window.app.document.interventions(column).temperature.unwrap_or(1.0);
    let mut temperature = before;
    let note = tr!(
        "T of softmax(e / T), in every row that is not set: above 1 the model looks more evenly, below 1 more sharply"
    );
    let label = ui.label(RichText::new(tr!("Temperature")).size(theme::TEXT_SMALL)).on_hover_text(note);
    let slider = Slider::new(&mut temperature, 0.1..=10.0).logarithmic(true).fixed_decimals(2);
    let response = ui.add(slider).labelled_by(label.id);
    if response.changed() && (temperature - before).abs() > 1e-3 {
        let goes_on = response.dragged() && !response.drag_started();
        window.push(InterveneCommand::Temperature { column: column.id, temperature, goes_on });
    }
}

/// Drags a cell: upward movement of the mouse is more weight.
pub fn drag(ui: &Ui, window: &mut Window<'_>, column: &Column) {
    let Some(mut dragged) = window.local.of::<SentenceMemory>().dragged.filter(|dragged| dragged.column == column.id)
    else {
        return;
    };
    let (is_down, at) = ui.input(|input| (input.pointer.primary_down(), input.pointer.latest_pos()));
    // once the button is up the mouse says nothing more
    if let Some(at) = at.filter(|_| is_down) {
        dragged.wanted = (dragged.before + (dragged.from - at.y) / TRAVEL).clamp(0.0, 1.0);
    }
    let weight = dragged.wanted;
    let is_new = (weight - dragged.sent.unwrap_or(dragged.before)).abs() >= STEP;
    // while the words behind the row are chosen again, a frame may not have it
    let is_there = column.table.as_deref().is_some_and(|table| dragged.i < table.target.len());
    if is_new && is_there {
        let renormalise = window.app.view.layout.renormalise;
        let (goes_on, Dragged { i, j, .. }) = (dragged.sent.is_some(), dragged);
        window.push(InterveneCommand::Weight { column: column.id, i, j, weight, renormalise, goes_on });
        dragged.sent = Some(weight);
    }
    window.local.of::<SentenceMemory>().dragged = (is_down || is_new && !is_there).then_some(dragged);
}
