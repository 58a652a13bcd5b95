//! Candidates and alignment of one target word. It takes no room that the pictures need: without a selection it is one
//! line, and with one at least the line of candidates.

use std::borrow::Cow;

use egui::{Label, Panel, Rect, RichText, Ui, UiBuilder, pos2};

use crate::app::document::table::{AlignmentTable, LEFT_OUT, TargetWord, Units};
use crate::app::{document::column::Column, lights::HighlightPart};
use crate::pages::sentence::command::{InterveneCommand, SelectCommand};
use crate::pages::sentence::view::{change, context, memory::SentenceMemory};
use crate::pages::shell::local::{Panel as PanelName, Window, keep_side};
use crate::pages::shell::{act::Act, clicked::MenuTarget, menu};
use crate::widgets;
use crate::widgets::{bars, labels, marks::WholeLetters, source_bars, theme};
use engine::{analysis::divergence::entropy, interventions::Word, lang};
use figure::{inspected::Inspected, measure::TextMeasure as _};

const CANDIDATES: (f32, f32) = (0.3, 340.0);
const ONE_LINE: f32 = 900.0;
const LOWEST: f32 = 96.0;
const HIGHEST: f32 = 500.0;
/// What it leaves to everything above it, unless it has its least height, points.
const ABOVE: f32 = 480.0;

pub(super) fn inspector_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if !window.layout.inspector_open {
        return;
    }
    let frame = theme::panel(theme::tokens(ui));
    // the line and the hint in its place are equally high
    let flat = frame.inner_margin(egui::Margin::symmetric(frame.inner_margin.left, 4));
    if window.app.selected_word().is_none() {
        // Words of interlinear text cannot be selected.
        let has_words = !window.layout.interlinear;
        let is_wanted = window.local.shared.focus == Some(PanelName::Inspector);
        if !is_wanted && (theme::is_low(ui) || !has_words) {
            return;
        }
        Panel::bottom("inspector_hint").frame(flat).show(ui, |ui| hint_ui(ui, window));
        return;
    }
    let around = frame.total_margin().sum().y + ui.spacing().item_spacing.y;
    let room = ui.available_height() - window.local.of::<SentenceMemory>().needed - around;
    let is_lit = window.lights.lights(HighlightPart::Inspector, "");
    if theme::is_flat(ui) || room < LOWEST && !is_lit {
        let shown = Panel::bottom("inspector_line").frame(flat).show(ui, |ui| line_ui(ui, window));
        window.part(ui, HighlightPart::Inspector, "", shown.response.rect);
        return;
    }
    let highest = (ui.ctx().content_rect().height() - ABOVE).min(room).clamp(LOWEST, HIGHEST);
    let wish = window.layout.inspector_height.unwrap_or(theme::INSPECTOR_HEIGHT);
    let height = wish.clamp(LOWEST, highest);
    // squeezed by the pictures it is another panel, so that the chosen height is not forgotten
    let is_tight = highest < wish;
    let name = if is_tight { "inspector_tight" } else { "inspector" };
    let panel = Panel::bottom(name);
    let panel = panel.default_size(height).min_size(LOWEST).max_size(highest).resizable(true);
    let panel = panel.frame(frame);
    let shown = widgets::sized(ui, (name, tr!("Inspector")), |ui| panel.show(ui, |ui| panel_ui(ui, window)));
    window.part(ui, HighlightPart::Inspector, "", shown.response.rect);
    if !is_tight {
        keep_side(ui, &mut window.layout.inspector_height, height, shown.response.rect.height());
    }
}

/// Height of the inspector's line.
const LINE: f32 = 22.0;
/// Height of the line of candidates in class mode.
const STRIP: f32 = 32.0;
/// Candidates in it.
const IN_STRIP: usize = 5;

/// The room of the columns and, below, that of [`strip_ui`], which is kept free, so that no click makes a picture smaller.
pub(super) fn with_strip(rect: Rect) -> (Rect, Rect) {
    rect.split_top_bottom_at_y((rect.bottom() - STRIP).max(rect.top()))
}

/// What else could have stood in the place of the selected word, in one line.
pub(super) fn strip_ui(ui: &mut Ui, window: &mut Window<'_>) {
    // at the right, so that the candidates keep their places when it comes
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        if !window.app.document.state.interventions.is_empty() {
            menu::act_button(ui, window, tr!("Undo"), Act::Undo);
        }
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            let Some((column, i, word)) = window.app.selected_word() else {
                let text = tr!("Click a word of a translation to see what else could have stood there");
                ui.add(Label::new(RichText::new(text).color(theme::tokens(ui).weak)).truncate());
                return;
            };
            candidates_in_line_ui(ui, window, (column, i), word);
        });
    });
}

/// As many candidates as there is room for; a click says one of them.
fn candidates_in_line_ui(ui: &mut Ui, window: &mut Window<'_>, (column, i): (&Column, usize), word: &TargetWord) {
    for (text, probability) in word.candidates.iter().take(IN_STRIP) {
        let shown = format!("{}  {}", label(column, text), labels::percent(*probability));
        if WholeLetters(ui).width(&shown, theme::TEXT_BODY) + 2.0 * theme::SPACE_3 > ui.available_width() {
            return;
        }
        let button = ui.selectable_label(*text == word.entry, shown);
        let said = candidate_text(tr!("Candidate"), &label(column, text), *probability);
        if button.on_hover_text(lang::text(FORCE)).accessible_name(said).clicked() {
            window.push(InterveneCommand::Force { column: column.id, i, word: Word::Entry(text.clone()) });
        }
    }
}

fn panel_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.take_available_space();
    let Some((column, i, word)) = window.app.selected_word() else { return };
    let Some(table) = column.table.as_deref() else { return };
    header_ui(ui, window, column, table, i);
    let rect = ui.available_rect_before_wrap();
    let candidates = (rect.width() * CANDIDATES.0).min(CANDIDATES.1);
    let split = rect.left() + candidates;
    let left = egui::Rect::from_min_max(rect.min, pos2(split, rect.bottom()));
    let right = egui::Rect::from_min_max(pos2(split + theme::SPACE_4, rect.top()), rect.max);
    let place = (column, table, i);
    candidates_ui(&mut ui.new_child(UiBuilder::new().id_salt("candidates").max_rect(left)), window, place, word);
    numbers_ui(&mut ui.new_child(UiBuilder::new().id_salt("numbers").max_rect(right)), window, column, table, i);
    let at = ui.input(|input| input.pointer.interact_pos().filter(|_| input.pointer.secondary_clicked()));
    if let Some(at) = at.filter(|_| ui.rect_contains_pointer(rect)) {
        window.offer_at(MenuTarget::Bars { column: column.id, i }, at);
    }
}

fn line_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some((column, i, word)) = window.app.selected_word() else { return };
    let Some(table) = column.table.as_deref() else { return };
    ui.horizontal(|ui| {
        ui.set_height(LINE);
        ui.spacing_mut().button_padding.y = 0.0;
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            buttons_ui(ui, window, column, table, i);
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                let name = name_ui(ui, window, column, table, i);
                name.on_hover_text(caption(table, column, i));
                candidates_in_line_ui(ui, window, (column, i), word);
            });
        });
    });
}

fn hint_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let text = tr!("Click a target word to see what else could have stood there and where the model looked");
    let label = Label::new(labels::small(ui, text)).truncate().sense(egui::Sense::focusable_noninteractive());
    let label = ui
        .horizontal(|ui| {
            ui.set_min_height(LINE);
            ui.add(label)
        })
        .inner;
    if window.local.shared.takes_focus(PanelName::Inspector) {
        label.request_focus();
    }
}

fn name_ui(ui: &mut Ui, window: &Window<'_>, column: &Column, table: &AlignmentTable, i: usize) -> egui::Response {
    let text =
        table.target.get(i).map_or_else(String::new, |word| labels::target_text(word, window.app.replaces(column)));
    let text = RichText::new(text).size(theme::TEXT_TITLE).color(theme::tokens(ui).accent);
    ui.add(Label::new(text).truncate())
}

fn caption(table: &AlignmentTable, column: &Column, i: usize) -> String {
    let Some(word) = table.target.get(i) else { return String::new() };
    let (unit, pieces) =
        if table.units == Some(Units::Pieces) { (tr!("piece"), String::new()) } else { (tr!("word"), pieces(word)) };
    let by = if table.is_given { tr!("of your translation, read by") } else { tr!("by") };
    tr!(
        "p {}   log p {}   {unit} {} of {} {by} {}{pieces}{}",
        format_args!("{:.3}", word.probability),
        format_args!("{:.2}", word.log_p),
        i + 1,
        table.target.len(),
        column.name(),
        word.set_text(),
        unit,
        by,
        pieces
    )
}

fn header_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, i: usize) {
    let caption = RichText::new(caption(table, column, i)).size(theme::TEXT_SMALL).color(theme::tokens(ui).weak);
    let is_narrow = ui.available_width() < ONE_LINE;
    ui.horizontal(|ui| {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            buttons_ui(ui, window, column, table, i);
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                name_ui(ui, window, column, table, i);
                if !is_narrow {
                    ui.add(Label::new(caption.clone()).truncate());
                }
            });
        });
    });
    if is_narrow {
        ui.add(Label::new(caption).truncate());
    }
}

fn buttons_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, i: usize) {
    let (next, previous) =
        if theme::is_slim(ui) { (tr!("Next"), tr!("Previous")) } else { (tr!("Next word"), tr!("Previous word")) };
    let next = labels::small_button(ui, next).on_hover_text("Alt+Down");
    if window.local.shared.takes_focus(PanelName::Inspector) {
        next.request_focus();
    }
    window.push_if(next.clicked(), SelectCommand::MoveTarget(1));
    window.push_if(labels::small_button(ui, previous).on_hover_text("Alt+Up").clicked(), SelectCommand::MoveTarget(-1));
    if let Some(word) = table.target.get(i).filter(|_| !table.is_given) {
        change::row_menu(ui, window, column, table, i);
        change::word_menu(ui, window, column, word, i);
    }
    window.push_if(
        labels::small_button(ui, tr!("Close")).on_hover_text(tr!("Select nothing (Escape)")).clicked(),
        SelectCommand::Nothing,
    );
}

fn pieces(word: &TargetWord) -> String {
    if word.pieces.is_empty() { String::new() } else { tr!("   pieces {}", word.pieces.join(" ")) }
}

/// A word or a piece of the model's vocabulary as it is shown.
fn label<'a>(column: &Column, text: &'a str) -> Cow<'a, str> {
    column.facts.as_ref().map_or(Cow::Borrowed(text), |facts| facts.marks.label(text))
}

fn candidate_text(kind: &str, text: &str, probability: f32) -> String {
    tr!("{kind} {text} probability {probability}", kind, text, probability = format_args!("{probability:.3}"))
}

fn candidates_ui(ui: &mut Ui, window: &mut Window<'_>, place: (&Column, &AlignmentTable, usize), word: &TargetWord) {
    let (column, table, i) = place;
    let is_given = table.is_given;
    let own = change::shift(window, column, i);
    let heading = match (word.pieces.first(), own) {
        (Some(first), _) => Inspected::heading(Some(first)),
        (None, Some(shift)) => {
            tr!("Next-word candidates   {} nats from the model's own", format_args!("{:.3}", shift.divergence))
        }
        (None, None) => Inspected::heading(None),
    };
    let heading = labels::caption(ui, &heading);
    if own.is_some() {
        heading.on_hover_text(lang::text(change::DIVERGENCE));
    }
    let bar = |(text, probability): &(String, f32), kind: &str| bars::Bar {
        text: label(column, text).into_owned(),
        share: *probability,
        number: format!("{probability:.3}"),
        label: candidate_text(kind, &label(column, text), *probability),
        is_marked: *text == word.entry,
        ..bars::Bar::default()
    };
    let list: Vec<bars::Bar> = word.candidates.iter().map(|one| bar(one, tr!("Candidate"))).collect();
    let of_before = own.map_or(&[][..], |shift| &shift.before);
    let before: Vec<bars::Bar> =
        of_before.iter().map(|(text, log_p)| bar(&(text.clone(), log_p.exp()), tr!("By itself"))).collect();
    ui.spacing_mut().item_spacing.y = 0.0;
    if list.is_empty() {
        let none = if is_given {
            tr!("Nothing was searched; you gave the word")
        } else {
            tr!("Known once the search has ended")
        };
        ui.add(Label::new(RichText::new(none).color(theme::tokens(ui).weak)).wrap());
    }
    let mut chosen = None;
    egui::ScrollArea::vertical().id_salt("candidates").auto_shrink(false).show(ui, |ui| {
        if before.is_empty() {
            chosen = bars::bars(ui, &list, lang::text(FORCE)).and_then(|n| word.candidates.get(n));
            return;
        }
        ui.columns(2, |columns| {
            labels::caption(&mut columns[0], tr!("with what is set"));
            labels::caption(&mut columns[1], tr!("by itself"));
            let with = bars::bars(&mut columns[0], &list, lang::text(FORCE)).and_then(|n| word.candidates.get(n));
            chosen = bars::bars(&mut columns[1], &before, lang::text(FORCE)).and_then(|n| of_before.get(n)).or(with);
        });
    });
    if let Some((text, _)) = chosen {
        let word = Word::Entry(text.clone());
        window.push(InterveneCommand::Force { column: column.id, i, word });
    }
}

const FORCE: &str = id!("Click to have this word said here, and the rest translated again behind it");

const ENTROPY: &str =
    id!("Entropy of alpha in nats: 0 looks at one source word, ln 2 = 0.69 at two alike, ln 4 = 1.39 at four alike");
/// Alpha and energies are stacked only below this width, and with this height each, points.
const SIDE_BY_SIDE: f32 = 480.0;
const EACH: f32 = source_bars::LEAST + 22.0;
/// A narrower half names its quantity in one word, points.
const NARROW: f32 = 280.0;

fn numbers_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, i: usize) {
    let (Some(alpha), Some(energies)) = (&table.alpha, &table.energies) else {
        ui.add_space(theme::SPACE_5);
        let none = context::without_alignment(column);
        ui.add(Label::new(if table.left_out { lang::text(LEFT_OUT) } else { none }).wrap());
        return;
    };
    let marked = window.app.view.hover.filter(|hover| hover.column == column.id).and_then(|hover| hover.j);
    let rect = ui.available_rect_before_wrap();
    // side by side where there is room, otherwise one above the other
    let beside = rect.width() >= SIDE_BY_SIDE || rect.height() < 2.0 * EACH;
    let (first, second) =
        if beside { rect.split_left_right_at_fraction(0.5) } else { rect.split_top_bottom_at_fraction(0.5) };
    let (first, second) =
        (first.shrink2(egui::vec2(theme::SPACE_1, 0.0)), second.shrink2(egui::vec2(theme::SPACE_1, 0.0)));
    let mut half = |place: egui::Rect, name: &str, values: &[f32], is_share: bool| {
        let mut child = ui.new_child(UiBuilder::new().id_salt(name).max_rect(place));
        if is_share {
            let entropy = entropy(values);
            let text = if place.width() < NARROW {
                tr!("alpha   entropy {} nats", format_args!("{entropy:.2}"))
            } else {
                tr!("alpha over the source words   entropy {} nats", format_args!("{entropy:.2}"))
            };
            let caption = labels::caption(&mut child, text.replacen("alpha", "\u{3b1}", 1));
            let sum: f32 = values.iter().sum();
            let mut note = lang::text(ENTROPY).to_owned();
            if (sum - 1.0).abs() >= 5e-3 {
                note += "\n";
                note += &tr!(
                    "The weights of this row add up to {}, because local-p does not divide them by their sum; the entropy is of these weights",
                    format_args!("{sum:.2}")
                );
            }
            labels::said(caption.on_hover_text(note), &text);
        } else {
            labels::caption(&mut child, tr!("Energies e before the softmax"));
        }
        source_bars::source_bars(&mut child, name, &table.source, values, marked, is_share)
    };
    let over = half(first, "alpha", alpha.row(i), true);
    let over = half(second, "e", energies.row(i), false).or(over);
    if let Some(j) = over {
        window.local.shared.hover = Some(crate::app::view::Hover { column: column.id, i: Some(i), j: Some(j) });
    }
}
