//! One model: its name and numbers, its output, its picture, its beam.

use egui::{ProgressBar, Rect, RichText, Ui, UiBuilder, Vec2, pos2};

use crate::app::document::column::{Column, ColumnState};
use crate::app::document::table::{GIVEN, Units};
use crate::app::{
    command::SettingsCommand, files::picture, files::picture::GUIDED, layout::Look, lights::HighlightPart,
    settings::Shown,
};
use crate::pages::sentence::view::{alignment, beam, context, ensemble, links, measured, output, tree, variant};
use crate::pages::{
    sentence::SentencePage, sentence::command::ColumnCommand, shell::clicked::MenuTarget, shell::local::Window,
};
use crate::widgets::heatmap::layout::Metrics;
use crate::widgets::{labels, theme};
use engine::analysis::{hard::AlignmentAgreement, measures::MEASURES, measures::Measure};
use engine::models::transformer::heads::HeadKind;
use engine::{lang, text::cut::WordRule};

/// Where the parts of a column are, from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnParts {
    pub header: Rect,
    /// A line under the picture: the mix of an ensemble, or what differs in a variant; of height 0 in other columns.
    pub mixing: Rect,
    pub output: Rect,
    pub picture: Rect,
    pub beam: Rect,
}

const PADDING: f32 = theme::SPACE_3;
const LEAST_NAME: f32 = 104.0;
const GUIDED_NOTE: &str = id!("guided");
const GIVEN_NOTE: &str = id!("yours");
const HEADER: f32 = 24.0;
const MIXING: f32 = 28.0;
const ABOVE_FOOT: f32 = theme::SPACE_2;
pub const FOOT: f32 = MIXING + ABOVE_FOOT;
const FRAMED: f32 = 3.0;
/// Least and greatest height of the output before it scrolls.
const OUTPUT: (f32, f32) = (28.0, 86.0);
/// The output takes at most this share of a low column.
const OUTPUT_SHARE: f32 = 0.2;
const BEAM_ROWS: f32 = 3.0;
/// Above this height the beam gets one more row for each [`A_ROW`] points, up to [`MOST_ROWS`].
const HIGH: f32 = 600.0;
const A_ROW: f32 = 80.0;
const MOST_ROWS: f32 = 10.0;
/// From this width on, in a column wider than high, the beam is next to the picture, points.
const WIDE: f32 = 720.0;
/// A column below this height is wide from [`WIDE_OF_LOW`] on, points.
const LOW: f32 = 300.0;
const WIDE_OF_LOW: f32 = 560.0;
/// Its share of the width, and least and greatest width.
const BESIDE: (f32, f32, f32) = (0.36, 280.0, 640.0);
/// The beam takes at most this share of the remaining height of a low window.
const BEAM_SHARE: f32 = 0.32;
/// Least height of the picture with a beam under it, points.
const PICTURE: f32 = 190.0;
const PICTURE_UNDER_TWO: f32 = 140.0;
/// With less height for both the beam is left out, points.
const FLAT_PICTURE: f32 = 120.0;

impl ColumnParts {
    /// `output`: height of the tallest output and of its lines. `picture`: height up to which the beam gives up rows.
    pub fn split(size: Vec2, output: (f32, f32), beam_open: bool, picture: f32) -> Self {
        let most = OUTPUT.1.min((size.y * OUTPUT_SHARE).max(OUTPUT.0));
        let (high, line) = output;
        let whole = (most / line).floor() * line;
        let high = if high > most && whole >= OUTPUT.0 { whole } else { high.clamp(OUTPUT.0, most) };
        Self::split_under(size, high, beam_open, (PICTURE, picture))
    }

    /// With the whole output, as far as half of the column holds it: a lesson speaks of it.
    pub fn split_whole(size: Vec2, (output, _): (f32, f32), beam_open: bool, picture: f32) -> Self {
        let output = output.min(size.y / 2.0).max(OUTPUT.0);
        Self::split_under(size, output, beam_open, (PICTURE, picture))
    }

    pub fn split_for_two(size: Vec2, (output, _): (f32, f32), beam_open: bool, picture: f32) -> Self {
        let most = (2.0 * size.y * OUTPUT_SHARE).max(2.0 * OUTPUT.0);
        let output = output.clamp(2.0 * OUTPUT.0, 2.0 * OUTPUT.1).min(most);
        Self::split_under(size, output, beam_open, (PICTURE_UNDER_TWO, picture))
    }

    fn split_under(size: Vec2, output: f32, beam_open: bool, (least, wanted): (f32, f32)) -> Self {
        let (left, right) = (PADDING, size.x - PADDING);
        let part = |top: f32, bottom: f32| Rect::from_min_max(pos2(left, top), pos2(right, bottom.max(top)));
        let header = part(PADDING - 2.0, PADDING - 2.0 + HEADER);
        let output = part(header.bottom() + 2.0, header.bottom() + 2.0 + output);
        let is_wide = size.x >= WIDE || size.x >= WIDE_OF_LOW && size.y < LOW;
        if beam_open && is_wide && size.x > size.y {
            let low = part(output.bottom() + theme::SPACE_2, size.y - PADDING + 4.0);
            let beam = (size.x * BESIDE.0).clamp(BESIDE.1, BESIDE.2);
            let (picture, beam) = low.split_left_right_at_x(low.right() - beam);
            let picture = picture.with_max_x(picture.right() - theme::SPACE_4);
            return Self { header, mixing: foot(picture), output, picture, beam };
        }
        let high = ((size.y - HIGH) / A_ROW).floor().max(0.0);
        let rows = if beam_open { (BEAM_ROWS + high).min(MOST_ROWS) } else { 0.0 };
        let left_over = size.y - PADDING + 4.0 - output.bottom() - 2.0 * theme::SPACE_2;
        let least = least.max(wanted.min(left_over - beam::HEADER - beam::ROW));
        let room = (left_over * BEAM_SHARE).min(left_over - least) - beam::HEADER;
        let room = (room / beam::ROW).floor().max(0.0);
        // where there is no room even for the picture the beam goes altogether
        let heading = if left_over < FLAT_PICTURE { 0.0 } else { beam::HEADER };
        let beam = heading + rows.min(room) * beam::ROW;
        let beam = part(size.y - PADDING + 4.0 - beam, size.y - PADDING + 4.0);
        let picture = part(output.bottom() + theme::SPACE_2, beam.top() - theme::SPACE_2);
        Self { header, mixing: foot(picture), output, picture, beam }
    }

    pub fn with_mixing(mut self) -> Self {
        let top = (self.picture.bottom() - MIXING).max(self.picture.top());
        self.mixing = self.picture.with_min_y(top);
        self.picture = self.picture.with_max_y((top - ABOVE_FOOT).max(self.picture.top()));
        self
    }

    pub fn without_beam(mut self) -> Self {
        self.picture = self.picture.with_max_x(self.output.right()).with_max_y(self.beam.bottom());
        self.beam = foot(self.picture);
        self
    }
}

fn foot(picture: Rect) -> Rect {
    picture.with_min_y(picture.bottom())
}

pub fn has_foot(column: &Column) -> bool {
    column.system.is_ensemble() || column.variant.is_some()
}

pub fn column_ui(
    ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, parts: &ColumnParts,
    metrics: &Metrics,
) {
    let rect = ui.max_rect();
    let parts = &if has_foot(column) { parts.with_mixing() } else { *parts };
    let t = theme::tokens(ui);
    let edge = if column.variant.is_some() { egui::Stroke::new(1.5, t.warm) } else { egui::Stroke::new(1.0, t.line) };
    ui.painter().rect(rect, theme::RADIUS, t.panel, edge, egui::StrokeKind::Inside);
    let corner = rect.min.to_vec2();
    let mut part = |place: Rect, name: &str| {
        let place = place.translate(corner);
        let mut child = ui.new_child(UiBuilder::new().id_salt((name, column.id)).max_rect(place));
        child.shrink_clip_rect(place.expand(2.0));
        child
    };
    header_ui(&mut part(parts.header, "header"), window, column);
    let rest = parts.output.union(parts.picture);
    match &column.state {
        ColumnState::Failed(message) => failed_ui(&mut part(rest, "rest"), window, column, message),
        ColumnState::Loading(fraction) => loading_ui(&mut part(rest, "rest"), *fraction),
        ColumnState::Ready => {
            let dim = |mut ui: Ui| {
                if column.stale {
                    ui.set_opacity(theme::STALE_OPACITY);
                }
                ui
            };
            output::output_ui(&mut dim(part(parts.output, "output")), window, column);
            picture_ui(&mut dim(part(parts.picture, "picture")), sentence, window, column, metrics);
            if column.variant.is_some() {
                variant::foot_ui(&mut part(parts.mixing, "foot"), window, column);
            } else if column.system.is_ensemble() {
                ensemble::mixing_ui(&mut part(parts.mixing, "mixing"), window, column);
            }
            if parts.beam.is_positive() {
                beam::beam_ui(&mut dim(part(parts.beam, "beam")), window, column);
            }
        }
    }
    let name = column.system.name();
    window.frame_part(ui, HighlightPart::Column, &name, rect);
    // the frame goes round it, and not over the name above
    let below = parts.output.with_min_y((parts.output.top() + FRAMED).min(parts.output.bottom()));
    for (lit, place) in [
        (HighlightPart::Translation, below),
        (HighlightPart::Heatmap, parts.picture),
        (HighlightPart::Beam, parts.beam),
    ] {
        window.frame_part(ui, lit, &name, place.translate(corner));
    }
}

fn picture_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, metrics: &Metrics) {
    if let Some(message) = &column.message {
        ui.add(egui::Label::new(RichText::new(message).color(theme::tokens(ui).error)).wrap());
        return;
    }
    let has_alignment = column.facts.as_ref().is_none_or(|facts| facts.has_alignment)
        || column.table.as_ref().is_some_and(|table| table.alpha.is_some());
    let Some(table) = &column.table else {
        let hint = if window.app.document.source().trim().is_empty() {
            tr!("Type a sentence above")
        } else {
            tr!("Translating")
        };
        ui.label(RichText::new(hint).color(theme::tokens(ui).weak));
        return;
    };
    if window.layout.look != Look::Tree && picture::measure(window.app.view.settings.shown).is_none() {
        context::probe_ui(ui, column);
    }
    if window.layout.look == Look::Tree {
        tree::tree_ui(ui, window, column);
    } else if has_alignment && window.layout.look == Look::Links {
        links::links_ui(ui, window, column, table);
    } else if has_alignment || matches!(window.app.view.settings.shown, Shown::Measure(_)) {
        alignment::alignment_ui(ui, sentence, window, column, table, metrics);
    } else if column.system.is_ensemble() {
        ui.add(egui::Label::new(tr!("No member of this ensemble has an alignment.")).wrap());
    } else {
        context::context_ui(ui, column, window.app.replaces(column));
    }
}

fn header_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let t = theme::tokens(ui);
    let explained = tr!(
        "log p is the natural logarithm of the probability of the whole translation, the sum over its words (Bahdanau et al. 2015, equation 2)"
    );
    // The name first; the numbers take what it leaves, where they have no more room than those by which columns are
    // compared, and the tooltip has them whole.
    let name = RichText::new(column.name()).size(theme::TEXT_TITLE);
    let is_plain = window.is_plain();
    ui.horizontal(|ui| {
        let name = if let Some(variant_label) = &column.difference.label {
            variant::head_ui(ui, column, variant_label)
        } else {
            let room = if is_plain { ui.available_width() } else { name_room(ui, column) };
            let label = egui::Label::new(name).truncate().sense(egui::Sense::CLICK);
            let label = ui.scope(|ui| {
                ui.set_max_width(room);
                ui.add(label)
            });
            label.inner.on_hover_text(tr!("{}\nA right click offers variants beside it", column.name()))
        };
        window.offer(&name, MenuTarget::Column { column: column.id });
        if !is_plain {
            guided_ui(ui, column);
            looks_ui(ui, window, column);
        }
        given_ui(ui, column);
        doubts_ui(ui, column, is_plain);
        if is_plain {
            return;
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let numbers = numbers(column);
            let caption = RichText::new(fitting(ui, &numbers)).size(theme::TEXT_SMALL).color(t.weak);
            ui.label(caption).on_hover_text(format!("{numbers}\n{explained}{}", agreed(column)));
        });
    });
}

/// Width of a small text with the gap before it; 0 of none.
fn width(ui: &Ui, text: &str) -> f32 {
    if text.is_empty() {
        return 0.0;
    }
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::small(), egui::Color32::PLACEHOLDER);
    galley.size().x + ui.spacing().item_spacing.x
}

fn name_room(ui: &Ui, column: &Column) -> f32 {
    let width = |text: &str| width(ui, text);
    let facts = column.facts.as_ref();
    let guided = if facts.is_some_and(|facts| facts.guided.is_some()) { lang::text(GUIDED_NOTE) } else { "" };
    let given = if is_given(column) { lang::text(GIVEN_NOTE) } else { "" };
    let looks = match looks(column) {
        "" => 0.0,
        looks => width(looks) + 2.0 * ui.spacing().button_padding.x,
    };
    let beside = width(guided) + looks + width(given) + width(&compared(column));
    (ui.available_width() - beside).max(LEAST_NAME)
}

fn guided_ui(ui: &mut Ui, column: &Column) {
    let Some(reading) = column.facts.as_ref().and_then(|facts| facts.guided.as_ref()) else { return };
    let note = tr!("This model was told: {how} (rows by {reading})", how = lang::text(GUIDED), reading);
    labels::warm(ui, lang::text(GUIDED_NOTE)).on_hover_text(note);
}

/// The heads that are the alignment; a click shows all heads, another one the alignment again.
fn looks_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let Some(looks) = column.facts.as_ref().and_then(|facts| facts.attention.as_deref()) else { return };
    let short = self::looks(column);
    if short.is_empty() {
        return;
    }
    let Some(all) = MEASURES.iter().position(Measure::is_of_heads) else { return };
    let is_shown = picture::measure(window.app.view.settings.shown).is_some_and(Measure::is_of_heads);
    let text = RichText::new(short).size(theme::TEXT_SMALL);
    let note =
        tr!("The alignment: {looks}\nClick to see all heads of this model; another click shows the alignment", looks);
    let button = labels::small_sized(egui::Button::selectable(is_shown, text).frame_when_inactive(true));
    let button = ui.add(button).on_hover_text(note);
    if button.accessible_name(tr!("All heads of {}", column.name())).clicked() {
        if is_shown {
            window.push(SettingsCommand::SetShown(Shown::Alpha));
        } else {
            // the alignment is among these
            window.push(SettingsCommand::SetHeads(HeadKind::Cross));
            measured::measure(window, column.id, all);
        }
    }
}

fn looks(column: &Column) -> &str {
    let facts = column.facts.as_ref().filter(|facts| facts.sizes.heads.0 > 0);
    let looks = facts.and_then(|facts| facts.attention.as_deref()).unwrap_or_default();
    looks.split(" (").next().unwrap_or(looks)
}

fn is_given(column: &Column) -> bool {
    column.table.as_ref().is_some_and(|table| table.is_given)
}

fn given_ui(ui: &mut Ui, column: &Column) {
    if is_given(column) {
        let note = tr!("The alignment and the numbers are those of {whose}", whose = lang::text(GIVEN));
        labels::said(labels::warm(ui, lang::text(GIVEN_NOTE)).on_hover_text(note), lang::text(GIVEN));
    }
}

/// In words, that the translation probably lacks something or says something twice.
fn doubts_ui(ui: &mut Ui, column: &Column, is_plain: bool) {
    let Some(table) = column.table.as_deref().filter(|_| !column.decoding && !column.stale) else { return };
    let source = table.source.iter().filter(|word| word.is_left_out).map(|word| word.text.as_str());
    let target = table.target.iter().filter(|word| word.is_repeated).map(|word| word.text.as_str());
    let (source, target): (Vec<&str>, Vec<&str>) = (source.collect(), target.collect());
    let (source, target) = (source.join(", "), target.join(", "));
    let (mut short, mut whole) = (Vec::new(), Vec::new());
    if !source.is_empty() {
        whole.push(tr!("Probably left out: {source}", source));
        short.push(tr!("left out? {source}", source));
    }
    if !target.is_empty() {
        whole.push(tr!("Probably repeated: {target}", target));
        short.push(tr!("repeated? {target}", target));
    }
    if whole.is_empty() {
        return;
    }
    let whole = whole.join("; ");
    let text = if is_plain { whole.clone() } else { short.join(", ") };
    let note = tr!(
        "{whole}.\nA word is left out if, by the alignment head, no word of the translation comes from it. Checked on the \
         bundled models: 144 of 161 such hints were right, and 34 of 35 that a word is repeated.",
        whole
    );
    // the number by which columns are compared keeps its room
    let number = if is_plain { 0.0 } else { width(ui, &compared(column)) };
    let room = (ui.available_width() - number).max(0.0);
    let label = ui.scope(|ui| {
        ui.set_max_width(room);
        labels::warm_line(ui, text)
    });
    labels::said(label.inner.on_hover_text(note), &whole);
}

fn agreed(column: &Column) -> String {
    let Some(agreement) = column.table.as_ref().and_then(|table| table.agreement) else { return String::new() };
    let AlignmentAgreement { on_link, linked, words } = agreement;
    let none = words - linked;
    tr!(
        "\n{on_link} of {words} words look most, </s> apart, at a word that the statistical aligner links them with; {n} of \
         them has no link"
            | "\n{on_link} of {words} words look most, </s> apart, at a word that the statistical aligner links them with; {n} \
               of them have no link"
                % none,
        on_link,
        words
    )
}

fn fitting(ui: &Ui, numbers: &str) -> String {
    let mut text = numbers;
    loop {
        let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::small(), egui::Color32::PLACEHOLDER);
        if text.is_empty() || galley.size().x <= ui.available_width() {
            return text.to_owned();
        }
        text = text.rfind("   ").map_or("", |at| &text[..at]);
    }
}

pub fn numbers(column: &Column) -> String {
    let mut text = compared(column);
    if !matches!(column.state, ColumnState::Ready) || column.table.is_none() {
        return text;
    }
    if column.decoding {
        text.push_str(tr!("   translating"));
    } else if column.result.millis > 0.0 {
        text.push_str(&tr!(
            "   {} ms   {} words/s",
            format_args!("{:.0}", column.result.millis),
            format_args!("{:.0}", column.result.words_per_second)
        ));
    }
    text
}

fn compared(column: &Column) -> String {
    match &column.state {
        ColumnState::Loading(_) => return tr!("loading").to_owned(),
        ColumnState::Failed(_) => return tr!("not loaded").to_owned(),
        ColumnState::Ready => {}
    }
    let Some(table) = &column.table else { return String::new() };
    let length = match table.units {
        Some(Units::Pieces) => table.target.iter().filter(|word| !word.is_eos).count(),
        Some(Units::Words) | None => {
            let rule = column.shown().map_or_else(WordRule::default, |shown| shown.rules[1]);
            rule.count(&table.text)
        }
    };
    let mut text = tr!("log p {}   ", format_args!("{:.2}", table.log_p));
    // what was asked for goes before what is always there
    if let Some(agreement) = &table.agreement {
        text.push_str(&tr!("{} % on links   ", format_args!("{:.0}", 100.0 * agreement.share())));
    }
    text.push_str(&match table.units {
        Some(Units::Pieces) => tr!("{n} piece" | "{n} pieces" % length),
        Some(Units::Words) | None => tr!("{n} word" | "{n} words" % length),
    });
    text
}

fn loading_ui(ui: &mut Ui, fraction: f32) {
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.label(tr!("Loading the model, {} %", format_args!("{:.0}", fraction * 100.0)));
        let bar = ProgressBar::new(fraction)
            .desired_height(theme::PROGRESS_HEIGHT)
            .desired_width(220.0)
            .fill(theme::tokens(ui).accent);
        ui.add(bar).accessible_name(tr!("Loading the model"));
    });
}

fn failed_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, message: &str) {
    let t = theme::tokens(ui);
    let frame = egui::Frame::new()
        .fill(t.error_soft)
        .corner_radius(egui::CornerRadius::same(theme::RADIUS))
        .inner_margin(egui::Margin::same(12));
    frame.show(ui, |ui| {
        ui.take_available_width();
        ui.label(RichText::new(tr!("This model could not be loaded")).color(t.error));
        ui.add(egui::Label::new(message).wrap());
        ui.horizontal(|ui| {
            window.push_if(ui.button(tr!("Try again")).clicked(), ColumnCommand::Reload(column.id));
            window.push_if(ui.button(tr!("Remove")).clicked(), ColumnCommand::Remove(column.id));
        });
    });
}
