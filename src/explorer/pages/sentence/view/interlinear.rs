//! The sentence and its translations as interlinear text, with links between rows and editable lines.

use egui::accesskit::Role;
use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{
    Align, Align2, Button, Id, Key, Layout, Modifiers, PopupCloseBehavior, Rect, RichText, ScrollArea, Sense, TextEdit,
    Ui, pos2, vec2,
};

use crate::app::document::interlinear::{LinksBy, TextRow};
use crate::app::{files::interlinear, files::interlinear::TextRowShown};
use crate::pages::sentence::command::{InterlinearCommand, TierEdit};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{Window, cell_id};
use crate::widgets::{bidi, labels, marks, node, theme};
use crate::{pages::sentence::view::memory::SentenceMemory, widgets::marks::Letters};
use engine::lang;
use figure::interlinear::{GLOSS_FORMATS, GlossTier, formats};
use figure::links::{LinksLayout, outlines};
use figure::measure::TextMeasure as _;
use figure::{geometry::Size, interlinear::leipzig::fits};

const NAMES: f32 = 168.0;
const LINE: f32 = 26.0;
const RISE: f32 = 56.0;
const CELL: f32 = 64.0;

const LINES: [(&str, &str, bool); 3] = [
    (id!("Add a line of glosses"), id!("gloss"), true),
    (id!("Add a transliteration"), id!("transliteration"), false),
    (id!("Add another line"), id!("line"), false),
];
const LINKS: [(LinksBy, &str); 3] = [
    (LinksBy::Alpha, id!("Links by alpha, from the threshold on")),
    (LinksBy::Head, id!("Links by the alignment head")),
    (LinksBy::Aligner, id!("Links of the statistical aligner")),
];

const OPEN: Question = Question::new(
    id!("Open CoNLL-U"),
    id!("Open"),
    Wants::File(&["conllu", "conll", "txt"]),
    id!(
        "Lemmas, parts of speech, morphology and what else the file has of the sentence that is shown, else of its first one, become lines under the words."
    ),
);

const SAVE: Question =
    Question::new(id!("Save as interlinear text"), id!("Save"), Wants::NewFile("interlinear.txt"), "");

pub fn interlinear_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let rows = interlinear::rows(window.app);
    ui.horizontal_wrapped(|ui| tools_ui(ui, window, &rows));
    ScrollArea::both().id_salt("interlinear").auto_shrink(false).show(ui, |ui| {
        let widths: Vec<Vec<f32>> = rows.iter().map(|row| widths(ui, row)).collect();
        let width = widths.iter().map(|row| row.iter().sum::<f32>()).fold(0.0, f32::max);
        let height: f32 = rows.iter().map(high).sum::<f32>() + RISE * rows.len().saturating_sub(1) as f32;
        let (all, _) = ui.allocate_exact_size(vec2(NAMES + width, height), Sense::hover());
        let (mut top, mut above) = (all.top(), Vec::new());
        for (row, widths) in rows.iter().zip(&widths) {
            let words = places(row, widths, pos2(all.left() + NAMES, top));
            if !above.is_empty() {
                links_ui(ui, row, &above, &words, pos2(all.left() + NAMES, top - RISE));
            }
            row_ui(ui, window, row, pos2(all.left(), top), &words);
            above = words;
            top += high(row) + RISE;
        }
        if rows.len() == 1 {
            labels::note(ui, tr!("A translation comes below as soon as it is there"));
        }
    });
}

fn high(row: &TextRowShown) -> f32 {
    LINE * (1 + row.tiers.len()) as f32
}

fn widths(ui: &Ui, row: &TextRowShown) -> Vec<f32> {
    let letters = Letters(ui);
    let width = |text: &str| letters.width(text, theme::TEXT_BODY) + 3.0 * theme::SPACE_2;
    let width = |(j, word): (usize, &String)| {
        let cells = row.tiers.iter().filter_map(|(_, tier)| tier.cells.get(j)).map(|cell| width(cell).max(CELL));
        cells.fold(width(word), f32::max) + theme::SPACE_2
    };
    row.words.iter().enumerate().map(width).collect()
}

fn places(row: &TextRowShown, widths: &[f32], from: egui::Pos2) -> Vec<Rect> {
    let whole: f32 = widths.iter().sum();
    let is_from_right = row.words.first().is_some_and(|word| bidi::starts_right(word));
    let mut x = 0.0;
    let place = |width: &f32| {
        let left = if is_from_right { whole - x - width } else { x };
        x += width;
        Rect::from_min_size(from + vec2(left, 0.0), vec2(width - theme::SPACE_2, high(row)))
    };
    widths.iter().map(place).collect()
}

fn links_ui(ui: &Ui, row: &TextRowShown, above: &[Rect], words: &[Rect], corner: egui::Pos2) {
    let areas = |rects: &[Rect]| rects.to_vec();
    let layout = LinksLayout { source: areas(above), target: areas(words), size: Size::default() };
    marks::paint(ui.painter(), outlines(&row.between, &layout, theme::palette(ui)));
    let rect = Rect::from_min_size(corner, vec2(ui.max_rect().right() - corner.x, RISE));
    let response = ui.interact(rect, Id::unique(("interlinear links", &row.name)), Sense::hover());
    let count = row.between.all().len();
    node(&response, Role::Image, || {
        tr!(
            "{n} link between {name} and the row above" | "{n} links between {name} and the row above" % count,
            name = row.name
        )
    });
}

fn row_ui(ui: &mut Ui, window: &mut Window<'_>, row: &TextRowShown, corner: egui::Pos2, words: &[Rect]) {
    let t = theme::tokens(ui);
    let name = |line: usize| {
        Rect::from_min_size(corner + vec2(0.0, line as f32 * LINE), vec2(NAMES - theme::SPACE_2, LINE - 2.0))
    };
    let title = RichText::new(&row.name).color(t.accent);
    menu_ui(ui, name(0), (title, tr!("Row {}", row.name)), |ui| row_menu_ui(ui, window, row));
    for (word, rect) in row.words.iter().zip(words) {
        let area = Rect::from_min_size(rect.min, vec2(rect.width(), LINE));
        ui.painter().text(area.center(), Align2::CENTER_CENTER, bidi::turned(word), theme::body(), t.text);
        let response =
            ui.interact(area, Id::unique(("interlinear word", &row.name, rect.min.x.to_bits())), Sense::hover());
        node(&response, Role::ListItem, || tr!("{word} in {}", row.name, word));
    }
    for (line, (at, tier)) in row.tiers.iter().enumerate() {
        let label = tr!("Line {} under {}", tier.name, row.name);
        menu_ui(ui, name(line + 1), (RichText::new(&tier.name).color(t.weak), label), |ui| {
            tier_menu_ui(ui, window, *at, tier);
        });
        for (j, rect) in words.iter().enumerate() {
            let top = rect.top() + (line + 1) as f32 * LINE;
            let place = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), LINE - 4.0));
            cell_ui(ui, window, row, line, (j, place));
        }
    }
}

/// A name that opens a menu.
fn menu_ui(ui: &mut Ui, place: Rect, (title, label): (RichText, String), content: impl FnOnce(&mut Ui)) {
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
    let button = labels::small_sized(Button::new(title).truncate());
    let (response, _) = MenuButton::from_button(button).config(config).ui(&mut child, content);
    response.accessible_name(label);
}

fn row_menu_ui(ui: &mut Ui, window: &mut Window<'_>, row: &TextRowShown) {
    for (line, name, is_gloss) in LINES {
        if ui.button(lang::text(line)).clicked() {
            let (under, name) = (row.row.clone(), lang::text(name).to_owned());
            window.push(InterlinearCommand::Add { under, name, is_gloss });
            window.local.of::<SentenceMemory>().line_begins = Some((row.name.clone(), row.tiers.len()));
            ui.close();
        }
    }
    if row.row == TextRow::Source {
        return;
    }
    ui.separator();
    for (by, name) in LINKS.into_iter().filter(|(by, _)| row.choices.contains(by)) {
        if ui.selectable_label(row.by == Some(by), lang::text(name)).clicked() {
            window.push(InterlinearCommand::Links(row.row.clone(), by));
            ui.close();
        }
    }
    ui.separator();
    let commands = [
        (tr!("Move it up"), InterlinearCommand::Move(row.row.clone(), -1)),
        (tr!("Move it down"), InterlinearCommand::Move(row.row.clone(), 1)),
        (tr!("Leave it out"), InterlinearCommand::Show(row.row.clone(), false)),
    ];
    commands_ui(ui, window, commands);
}

fn commands_ui<const N: usize>(ui: &mut Ui, window: &mut Window<'_>, commands: [(&str, InterlinearCommand); N]) {
    for (name, command) in commands {
        if ui.button(name).clicked() {
            window.push(command);
            ui.close();
        }
    }
}

fn tier_menu_ui(ui: &mut Ui, window: &mut Window<'_>, at: usize, tier: &GlossTier) {
    let typed = &mut window.local.of::<SentenceMemory>().line_name;
    let mut name = typed.take().filter(|(of, _)| *of == at).map_or_else(|| tier.name.clone(), |(_, name)| name);
    let field = ui.add(TextEdit::singleline(&mut name).desired_width(theme::MENU_WIDTH));
    let field = field.accessible_name(tr!("Name of the line"));
    if field.lost_focus() {
        window.push(InterlinearCommand::Tier(at, TierEdit::Name(name)));
    } else if field.has_focus() {
        window.local.of::<SentenceMemory>().line_name = Some((at, name));
    }
    let mut is_gloss = tier.is_gloss;
    let note = tr!(
        "Each has as many hyphens, equals signs and tildes as what stands above it; labels of grammar are set in small capitals and explained"
    );
    window.push_if(
        ui.checkbox(&mut is_gloss, tr!("Glosses by the Leipzig rules")).on_hover_text(note).changed(),
        InterlinearCommand::Tier(at, TierEdit::Gloss(is_gloss)),
    );
    let commands = [
        (tr!("Move it up"), InterlinearCommand::Tier(at, TierEdit::Move(-1))),
        (tr!("Move it down"), InterlinearCommand::Tier(at, TierEdit::Move(1))),
        (tr!("Take it away"), InterlinearCommand::Tier(at, TierEdit::Remove)),
    ];
    commands_ui(ui, window, commands);
}

fn cell_ui(ui: &mut Ui, window: &mut Window<'_>, row: &TextRowShown, line: usize, (j, place): (usize, Rect)) {
    let t = theme::tokens(ui);
    let (Some((at, tier)), Some(word)) = (row.tiers.get(line), row.words.get(j)) else { return };
    let mut text = tier.cells.get(j).cloned().unwrap_or_default();
    let id = |j: usize| Id::unique(("interlinear cell", *at, j));
    let mut above = std::iter::once(word).chain(row.tiers[..line].iter().filter_map(|(_, tier)| tier.cells.get(j)));
    let is_wrong = tier.is_gloss && !above.any(|above| fits(above, &text));
    let field = TextEdit::singleline(&mut text).id(id(j)).hint_text("-").align(egui::Align2::CENTER_CENTER);
    let field = ui.put(place, field.text_color(if is_wrong { t.error } else { t.text }));
    let field = field.accessible_name(tr!("{} of word {}, {word}", tier.name, j + 1, word));
    let begins = &mut window.local.of::<SentenceMemory>().line_begins;
    if j == 0 && begins.as_ref().is_some_and(|(name, before)| *name == row.name && *before == line) {
        *begins = None;
        field.request_focus();
    }
    if field.has_focus() {
        ui.data_mut(|data| data.insert_temp(cell_id(), field.id));
    }
    if field.changed() {
        let words = row.words.clone();
        window.push(InterlinearCommand::Type { tier: *at, words, j, text });
    }
    // The next cell, which is made in this frame as well, would take the key for its own, and so would all behind it.
    if field.lost_focus() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter)) {
        ui.memory_mut(|memory| memory.request_focus(id(j + 1)));
    }
    if is_wrong {
        field.on_hover_text(tr!("A word and its gloss need the same hyphens, equals signs and tildes"));
    }
}

pub(super) fn ask_save(window: &mut Window<'_>, format: &'static str, ending: &str) {
    let save = move |path| InterlinearCommand::Save { format, path };
    window.ask(SAVE.then(save).named(format!("interlinear.{ending}")));
}

fn tools_ui(ui: &mut Ui, window: &mut Window<'_>, rows: &[TextRowShown]) {
    let left_out =
        interlinear::choices(window.app).into_iter().filter(|choice| choice.is_hidden).map(|choice| choice.row);
    let left_out: Vec<TextRow> = left_out.collect();
    ui.add_enabled_ui(!left_out.is_empty(), |ui| {
        ui.menu_button(tr!("Add a row"), |ui| {
            for row in left_out {
                let name = match &row {
                    TextRow::Source => tr!("Sentence"),
                    TextRow::Reference => tr!("Reference"),
                    TextRow::Model(name) => name,
                };
                if ui.button(name).accessible_name(tr!("Add the row {name}", name)).clicked() {
                    window.push(InterlinearCommand::Show(row.clone(), true));
                    ui.close();
                }
            }
        });
    });
    if rows.iter().any(|row| row.by == Some(LinksBy::Alpha)) {
        let mut threshold = window.app.document.state.interlinear.threshold;
        if labels::threshold_ui(ui, &mut threshold) {
            window.push(InterlinearCommand::Threshold(threshold));
        }
    }
    if ui.button(tr!("Open CoNLL-U...")).on_hover_text(lang::text(OPEN.note)).clicked() {
        window.ask(OPEN.then(InterlinearCommand::Open));
    }
    ui.menu_button(tr!("Copy as"), |ui| {
        for format in GLOSS_FORMATS {
            let button = ui.button(format.name).on_hover_text(lang::text(format.about));
            if button.accessible_name(tr!("Copy as {}", format.name)).clicked() {
                window.local.shared.copied =
                    Some(format.file(&lang::in_english(|| interlinear::sentences(window.app))));
                ui.close();
            }
        }
    });
    ui.menu_button(tr!("Save as"), |ui| {
        for (name, ending, about) in formats() {
            let button = ui.button(name).on_hover_text(lang::text(about));
            if button.accessible_name(tr!("Save as {}", name)).clicked() {
                ask_save(window, name, ending);
                ui.close();
            }
        }
    });
}
