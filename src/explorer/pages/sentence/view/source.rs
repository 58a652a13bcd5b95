//! The text that is typed, and under it the words as the model reads them.

use egui::{Id, RichText, TextEdit, Ui};

use crate::app::document::column::{Column, file_name};
use crate::app::document::table::{AlignmentTable, SourceWord};
use crate::app::open_with::{Installed, LanguagePair};
use crate::app::{command::SourceCommand, lights::HighlightPart, view::Hover};
use crate::pages::sentence::view::{alignment, variant};
use crate::pages::shell::source::{MOST_CHARACTERS, SourceMemory, editor_ui};
use crate::pages::{
    sentence::command::ColumnCommand, sentence::view::memory::ListPlace, sentence::view::memory::SentenceMemory,
    shell::act::Act, shell::clicked::MenuTarget, shell::local, shell::local::Window, shell::menu,
};
use crate::widgets::{bidi, labels, theme, words};
use engine::interventions::Said;
use engine::text::{language, language::primary};

const MOST_OFFERED: usize = 3;
const NARROW: f32 = 480.0;
const WIDE: f32 = 1200.0;
const WORDS_HEIGHT: (f32, f32) = (62.0, 26.0);

pub(super) fn source_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let is_squat = theme::is_squat(ui);
    let margin = if is_squat { 2 } else { 8 };
    let card = theme::card(theme::tokens(ui)).inner_margin(egui::Margin::symmetric(12, margin));
    let shown = card.show(ui, |ui| {
        ui.take_available_width();
        text_ui(ui, window, is_squat);
        given_ui(ui, window);
        if window.local.of::<SourceMemory>().cut {
            let text = tr!(
                "Only the first {MOST_CHARACTERS} characters are kept here; open a longer text as a file",
                MOST_CHARACTERS
            );
            ui.label(RichText::new(text).color(theme::tokens(ui).warm));
        }
        if !is_squat {
            words_ui(ui, window);
        }
        unread_ui(ui, window);
        // a low window has no room for advice
        if !theme::is_low(ui) {
            language_ui(ui, window);
        }
        reference_ui(ui, window);
    });
    window.part(ui, HighlightPart::Source, "", shown.response.rect);
    ui.add_space(if is_squat { 0.0 } else { theme::SPACE_2 });
}

fn text_ui(ui: &mut Ui, window: &mut Window<'_>, is_squat: bool) {
    let is_narrow = ui.available_width() < NARROW && !is_squat;
    ui.horizontal_top(|ui| {
        let is_open = window.layout.sentences_open && window.local.of::<SentenceMemory>().list == ListPlace::Beside;
        if !is_open {
            menu::act_button(ui, window, tr!("Sentences"), Act::ToggleSentences);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::TOP), |ui| {
            // in a low window the sentence has the room, and the menu has the button
            let has_buttons = !is_squat && window.layout.has_switches();
            if window.app.document.state.given.is_none() && has_buttons {
                menu::act_button(ui, window, tr!("Score yours"), Act::ToggleGiven);
            }
            if ui.ctx().content_rect().width() >= WIDE && has_buttons {
                let is_on = window.layout.interlinear;
                let name = if is_on { tr!("Pictures") } else { tr!("Interlinear") };
                menu::act_button(ui, window, name, Act::Interlinear);
            }
            if !is_narrow {
                ui.with_layout(egui::Layout::top_down(egui::Align::LEFT), |ui| editor_ui(ui, window));
            }
        });
    });
    if is_narrow {
        editor_ui(ui, window);
    }
}

/// The column whose segmentation of the source is shown: the selected one, else the first that has it.
fn reader<'a>(window: &Window<'a>) -> Option<(&'a Column, &'a AlignmentTable)> {
    let app = window.app;
    let column = app.selected_column().filter(|column| column.table.is_some());
    let column = column.or_else(|| app.document.columns.iter().find(|column| column.table.is_some()))?;
    Some((column, column.table.as_deref()?))
}

fn words_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some((column, table)) = reader(window) else { return };
    let t = theme::tokens(ui);
    let marks = alignment::marks(window.app, column);
    let list: Vec<words::FlowWord> = table
        .source
        .iter()
        .enumerate()
        .map(|(j, word)| {
            let unknown = if word.is_unk { tr!(", not in the vocabulary") } else { "" };
            let differs = variant::is_changed(column, j);
            let changed = if differs { tr!(", changed") } else { "" };
            words::FlowWord {
                text: labels::source_text(word),
                label: tr!("Source word {} {}{unknown}{}", j + 1, word.text, changed, unknown),
                back: t.sunken,
                colour: match (word.is_unk, word.is_word()) {
                    (true, _) => t.warm,
                    (false, false) => t.weak,
                    (false, true) => t.text,
                },
                is_over: marks.column == Some(j),
                is_selected: false,
                differs,
                said: Said::Free,
            }
        })
        .collect();
    let from_right = bidi::starts_right(&column.source.text);
    let id = Id::unique("source_words");
    let (font, picked) = (theme::body(), window.picked(id, &column.source.text));
    let flow = words::Flow { id, font: &font, from_right, picked, asked: None };
    let height = if theme::is_low(ui) { WORDS_HEIGHT.1 } else { WORDS_HEIGHT.0 };
    let area = egui::ScrollArea::vertical().id_salt("source_words").max_height(height);
    let answer = area.show(ui, |ui| {
        if column.stale {
            ui.set_opacity(theme::STALE_OPACITY);
        }
        words::flow(ui, &flow, &list, |j| tooltip(table, j))
    });
    if let Some(range) = answer.inner.picked {
        let source: Vec<&str> =
            table.source.iter().filter(|word| word.is_word()).map(|word| word.text.as_str()).collect();
        window.pick(ui, id, &column.source.text, &source, range);
    }
    if let Some((j, at)) = answer.inner.menu {
        window.offer_at(MenuTarget::Source { column: column.id, j }, at);
    }
    if let Some(j) = answer.inner.over {
        window.local.shared.hover = Some(Hover { column: column.id, i: None, j: Some(j) });
    }
}

fn unread_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some((column, table)) = reader(window).filter(|(column, _)| !column.stale) else { return };
    let has_letters = |word: &&SourceWord| word.is_word() && word.text.contains(char::is_alphabetic);
    let mut words = table.source.iter().filter(has_letters).peekable();
    if words.peek().is_none() || !words.all(|word| word.is_unk) {
        return;
    }
    let language = column.facts.as_ref().map_or("", |facts| facts.source_language.as_str());
    let language = language::name(language);
    let text = tr!("{} knows none of these words; it reads {language}", column.name(), language);
    // that the sentence is in another language is said better below
    if !theme::is_low(ui) && guessed(window).is_some() {
        return;
    }
    ui.label(RichText::new(text).color(theme::tokens(ui).warm));
}

/// The language that the sentence seems to be in, where no model reads it, and those that the models read.
fn guessed(window: &mut Window<'_>) -> Option<(&'static str, Vec<String>)> {
    let (text, columns) = (window.app.document.source(), &window.app.document.columns);
    let memory = window.local.of::<SentenceMemory>();
    if memory.guessed.0 != text {
        memory.guessed = (text.to_owned(), language::guess(text));
    }
    let tag = memory.guessed.1?;
    let read = columns.iter().filter_map(|column| column.facts.as_ref()).map(|facts| primary(&facts.source_language));
    let mut read: Vec<String> = read.collect();
    read.dedup();
    let is_open = |read: &String| read == tag || ["und", "mul", ""].contains(&read.as_str());
    (!read.is_empty() && !read.iter().any(is_open)).then_some((tag, read))
}

fn language_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some((tag, read)) = guessed(window) else { return };
    let columns = &window.app.document.columns;
    let bundled = window.local.bundled.clone();
    let pairs = LanguagePair::all(&bundled).into_iter().filter(|pair| primary(&pair.languages.0) == tag);
    let offered = pairs.filter_map(|pair| Some((pair.languages, pair.best()?))).take(MOST_OFFERED);
    let read: Vec<String> = read.iter().map(|read| language::name(read)).collect();
    let note = tr!("This seems to be {}; the models read {}", language::name(tag), read.join(tr!(" and ")));
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(note).color(theme::tokens(ui).warm));
        for ((source, target), (best, all)) in offered {
            let mut open = |ui: &mut Ui, text: String, note: &str, models: &[&Installed]| {
                if labels::small_button(ui, text).on_hover_text(note).clicked() {
                    let is_open =
                        |model: &&&Installed| columns.iter().any(|column| column.system == (&model.folder).into());
                    let new = models.iter().filter(|model| !is_open(model));
                    new.for_each(|model| window.push(ColumnCommand::Add((&model.folder).into())));
                }
            };
            let name = file_name(&best.folder);
            open(ui, tr!("Open {name}", name), tr!("Adds a model that reads this language"), &[best]);
            if all.len() > 1 {
                let pair = tr!("{} to {}", language::name(source), language::name(target));
                let papers: Vec<String> =
                    all.iter().map(|model| format!("{}: {}", file_name(&model.folder), model.paper)).collect();
                open(ui, tr!("All {} of {pair}", all.len(), pair), &papers.join("\n"), &all);
            }
        }
    });
}

fn tooltip(table: &AlignmentTable, j: usize) -> String {
    let Some(word) = table.source.get(j) else { return String::new() };
    if word.is_eos {
        tr!("</s> ends the sentence; the model reads it as a word").to_owned()
    } else if word.is_language {
        tr!("{} is no word of the text: it tells the model the language to translate into", word.text)
    } else if word.is_unk {
        tr!("\"{}\" is not in the vocabulary; the model reads [UNK]", word.text)
    } else if table.alpha.is_some() {
        tr!("{}, alpha added up over the target words {}", word.text, format_args!("{:.2}", word.coverage))
    } else {
        word.text.clone()
    }
}

fn given_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some(given) = &window.app.document.state.given else { return };
    let mut text = given.clone();
    ui.horizontal(|ui| {
        let note =
            tr!("Every model reads it word by word and says how probable it finds each; it chooses none of them");
        let label = labels::caption(ui, tr!("Your translation")).on_hover_text(note);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let key = Act::ToggleGiven.key_text(ui.ctx());
            let close = labels::small_button(ui, "\u{d7}").on_hover_text(tr!("Take it away ({key})", key));
            window
                .push_if(close.accessible_name(tr!("Take your translation away")).clicked(), SourceCommand::Give(None));
            pair_ui(ui, window, given);
            let field = TextEdit::singleline(&mut text).id(local::given_id()).char_limit(MOST_CHARACTERS);
            let hint = tr!("Type or paste a translation, and every model says how probable it finds it");
            let response = ui.add(field.desired_width(f32::INFINITY).hint_text(hint)).labelled_by(label.id);
            if window.local.shared.focus_id == Some(local::given_id()) {
                window.local.shared.focus_id = None;
                response.request_focus();
            }
            window.push_if(response.changed(), SourceCommand::Give(Some(text)));
        });
    });
}

fn pair_ui(ui: &mut Ui, window: &mut Window<'_>, given: &str) {
    let Some(pair) = window.app.pair().cloned() else { return };
    for (target, name) in pair.targets.iter().zip([tr!("good"), tr!("bad")]).rev() {
        let note = tr!("A translation of the minimal pair of line {}", pair.line);
        if labels::choice(ui, given == target, name, note) {
            window.push(SourceCommand::Give(Some(target.clone())));
        }
    }
}

fn reference_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some(reference) = window.app.reference() else { return };
    ui.horizontal_wrapped(|ui| {
        labels::caption(ui, tr!("Reference"));
        ui.label(bidi::visual(&reference).into_owned());
        if labels::small_button(ui, tr!("Score it"))
            .on_hover_text(tr!("Every model says how probable it finds it"))
            .clicked()
        {
            window.push(SourceCommand::Give(Some(reference.into_owned())));
        }
    });
}
