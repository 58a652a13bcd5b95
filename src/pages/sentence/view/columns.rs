//! Floor 11: the models side by side, in equal columns with one set of sizes, so that they can be compared.

use egui::scroll_area::ScrollBarVisibility;
use egui::{RichText, Ui, UiBuilder, Vec2, vec2};

use crate::analysis::reading::Reading;
use crate::app::document::column::{Column, file_name};
use crate::app::document::table::AlignmentTable;
use crate::app::files::picture;
use crate::app::lights::HighlightPart;
use crate::app::state::AppState;
use crate::figure::heatmap::widest_word;
use crate::figure::label::widest;
use crate::jobs::live::protocol::ColumnId;
use crate::pages::sentence::SentencePage;
use crate::pages::sentence::command::ColumnCommand;
use crate::pages::sentence::view::column;
use crate::pages::sentence::view::column::ColumnParts;
use crate::pages::sentence::view::memory::SentenceMemory;
use crate::pages::window::act::Act;
use crate::pages::window::dialogs::MODEL;
use crate::pages::window::local::{View, ViewPlace, Window};
use crate::pages::window::{local, shortcuts};
use crate::widgets::heatmap::layout::{Metrics, Needs, Zoom};
use crate::widgets::marks::Letters;
use crate::widgets::{labels, theme};

/// Between two columns, points.
const GAP: f32 = theme::SPACE_2;

/// The models side by side.
pub struct ColumnsView;

impl View for ColumnsView {
    type Page = SentencePage;

    fn place(&self) -> ViewPlace {
        ViewPlace::Middle
    }

    fn ui(&self, ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
        let app = window.app;
        if app.document.columns().is_empty() {
            empty_ui(ui, window);
            return;
        }
        if window.layout(local::SOLO, 0.0) > 0.0 {
            alone_ui(ui, sentence, window);
            return;
        }
        let (count, room) = (app.document.columns().len() as f32, ui.available_width());
        let (gap, fitting) = (GAP, fitting(app, room) as f32);
        let width = ((room - gap * (fitting - 1.0)) / fitting).floor();
        if fitting < count && !theme::is_squat(ui) {
            ui.horizontal(|ui| paging_ui(ui, window, fitting as usize));
        }
        // the line above says where one is; a bar would take its room from the columns when it comes
        let area = egui::ScrollArea::horizontal().id_salt("columns").auto_shrink(false);
        // a column that is brought into view ends with the view, not with the gap before it
        let between = std::mem::take(&mut ui.spacing_mut().item_spacing.x);
        let area = area.scroll_bar_visibility(ScrollBarVisibility::AlwaysHidden).show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = between;
            let height = ui.available_height();
            let has_foot = app.document.columns().iter().any(column::has_foot);
            let needs = needs(ui, window, aligned(app));
            let parts = split(ui, window, vec2(width, height), output_height(window), &needs, has_foot);
            // one size of cells for all, so the column with least room decides
            let least = if has_foot { parts.with_mixing() } else { parts };
            let metrics = metrics(ui, window, &least, &needs);
            window.local.of::<SentenceMemory>().cell = metrics.cell;
            let wanted = newly_wanted(window).or_else(|| newly_lit(window));
            // as wide as the view where it ends with the last column
            let slack = room - (fitting * (width + gap) - gap);
            let (_, all) = ui.allocate_space(vec2(count * (width + gap) - gap + slack, height));
            // of another width, the columns begin elsewhere
            let memory: &mut SentenceMemory = window.local.of();
            let is_other_width = std::mem::replace(&mut memory.column_width, width) != width;
            let first = memory.wanted_column.take().or(is_other_width.then_some(memory.first_column));
            for (n, column) in app.document.columns().iter().enumerate() {
                let corner = all.min + vec2(n as f32 * (width + gap), 0.0);
                let rect = egui::Rect::from_min_size(corner, vec2(width, height));
                if wanted == Some(column.id) {
                    ui.scroll_to_rect(rect, None);
                }
                if first == Some(n) {
                    ui.scroll_to_rect(rect, Some(egui::Align::Min));
                }
                let name = format!("Column {} of {}", n + 1, column.name());
                let builder = UiBuilder::new().id_salt(("column", column.id)).max_rect(rect).accessibility_label(name);
                column::column_ui(&mut ui.new_child(builder), sentence, window, column, &parts, &metrics);
            }
        });
        ui.spacing_mut().item_spacing.x = between;
        window.local.of::<SentenceMemory>().first_column =
            (area.state.clamped_offset().x / (width + gap)).round() as usize;
    }
}

/// How many columns fit side by side into so many points.
pub fn fitting(app: &AppState, room: f32) -> usize {
    let count = app.document.columns().len().max(1);
    (((room + GAP) / (theme::COLUMN_MIN_WIDTH + GAP)).floor().max(1.0) as usize).min(count)
}

/// Says which columns are in view where not all of them fit, and goes to the others; in a low window in few letters.
pub fn paging_ui(ui: &mut Ui, window: &mut Window<'_>, fitting: usize) {
    let count = window.app.document.columns().len();
    let first = window.local.of::<SentenceMemory>().first_column.min(count.saturating_sub(fitting));
    let keys = [Act::PreviousColumn, Act::NextColumn].map(|act| shortcuts::text(ui.ctx(), act));
    let mut page = |ui: &mut Ui, text: &str, name: &str, can: bool, to: usize, key: &str| {
        let button = ui.add_enabled(can, egui::Button::new(text)).on_hover_text(format!("Or column by column ({key})"));
        if button.accessible_name(name).clicked() {
            window.local.of::<SentenceMemory>().wanted_column = Some(to);
        }
    };
    let is_squat = theme::is_squat(ui);
    let (previous, next) = if is_squat { ("<", ">") } else { ("Previous", "Next") };
    page(ui, previous, "Previous columns", first > 0, first.saturating_sub(fitting), &keys[0]);
    let last = first + fitting;
    let shown = if fitting == 1 {
        format!("Column {last} of {count}")
    } else {
        format!("Columns {} to {last} of {count}", first + 1)
    };
    let short = if is_squat { shown.replacen("Columns ", "", 1).replacen("Column ", "", 1) } else { shown.clone() };
    labels::said(ui.label(RichText::new(short).color(theme::tokens(ui).accent)), &shown);
    page(ui, next, "Next columns", last < count, last.min(count.saturating_sub(fitting)), &keys[1]);
}

/// One column in all the room there is: the selected one, else the first that aligns, else the first.
pub fn alone_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let app = window.app;
    let aligns = |column: &&Column| column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
    let first = app.document.columns().iter().find(aligns).or(app.document.columns().first());
    let Some(column) = app.selected_column().or(first) else { return };
    let rect = ui.available_rect_before_wrap();
    let output = window.local.of::<SentenceMemory>().output_heights.get(&column.id).copied().unwrap_or(0.0);
    let needs = needs(ui, window, column.table.as_deref().filter(|table| has_picture(table)).into_iter());
    let has_foot = column::has_foot(column);
    let parts = split(ui, window, rect.size(), output, &needs, has_foot);
    let parts = if window.local.presents { parts.without_beam() } else { parts };
    let least = if has_foot { parts.with_mixing() } else { parts };
    let metrics = metrics(ui, window, &least, &needs);
    window.local.of::<SentenceMemory>().cell = metrics.cell;
    let name = format!("Column of {}", column.name());
    let builder = UiBuilder::new().id_salt(("column", column.id)).max_rect(rect).accessibility_label(name);
    column::column_ui(&mut ui.new_child(builder), sentence, window, column, &parts, &metrics);
    ui.advance_cursor_after_rect(rect);
}

fn empty_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let weak = theme::tokens(ui).weak;
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading("No model is open");
        ui.label(RichText::new("Add a model folder, or drop one on this window").color(weak));
        if window.local.bundled.is_empty() {
            ui.label(RichText::new(how_to_get(window.local.home.as_deref())).color(weak));
        }
        ui.add_space(theme::SPACE_2);
        if ui.button("Add a model").clicked() {
            window.ask(MODEL.then(ColumnCommand::Add));
        }
    });
}

/// What to do where no model was found at all.
fn how_to_get(home: Option<&std::path::Path>) -> String {
    let home = home.map_or_else(String::new, |home| format!(" Copy one into {}, or", home.display()));
    format!(
        "No model is installed. Models come with the program's source and packages.{home} name the folder that holds it in \
         INTERLINEAR_MODELS, and start again."
    )
}

/// A column that was just added or selected is brought into view, once. While nothing is selected the view stays at the
/// first, whichever model is done first.
fn newly_wanted(window: &mut Window<'_>) -> Option<ColumnId> {
    let app = window.app;
    let now = (app.view.selection().column, app.document.columns().iter().map(|column| column.id).max());
    let before = std::mem::replace(&mut window.local.of::<SentenceMemory>().seen_columns, now);
    if before.1.is_some() && now.1 > before.1 {
        now.1
    } else if before.0 != now.0 {
        now.0
    } else {
        None
    }
}

/// The column of which a lesson begins to light something, where it is one of several.
fn newly_lit(window: &mut Window<'_>) -> Option<ColumnId> {
    const PARTS: [HighlightPart; 4] =
        [HighlightPart::Column, HighlightPart::Translation, HighlightPart::Heatmap, HighlightPart::Beam];
    let app = window.app;
    let is_lit = |column: &&Column| PARTS.iter().any(|lit| window.lights.lights(*lit, &file_name(&column.folder)));
    let mut lit = app.document.columns().iter().filter(is_lit);
    let (only, None) = (lit.next()?, lit.next()) else { return None };
    window.is_lit_anew(HighlightPart::Column, &format!("view of {}", only.id)).then_some(only.id)
}

/// The parts of a column, with room for the user's translation under the model's where there is one.
fn split(ui: &Ui, window: &Window<'_>, size: Vec2, output: f32, needs: &Needs, has_foot: bool) -> ColumnParts {
    let beam_open = window.layout(local::BEAM_OPEN, 1.0) > 0.0;
    let has_two = window.app.document.columns().iter().any(|column| column.given.is_some());
    let split = if has_two { ColumnParts::split_for_two } else { ColumnParts::split };
    let foot = if has_foot { column::FOOT } else { 0.0 };
    split(size, output, beam_open, wanted(ui, window, needs, size.x) + foot)
}

/// How high a picture of this width wants to be: as its least readable cells need.
fn wanted(ui: &Ui, window: &Window<'_>, needs: &Needs, width: f32) -> f32 {
    if window.layout(local::TREE, 0.0) > 0.0 || window.layout(local::LINKS, 0.0) > 0.0 {
        return 0.0;
    }
    let least = Metrics::choose(needs, vec2(width, 0.0), Zoom::Auto);
    let matrix = least.matrix(needs.rows, needs.columns);
    let is_wide = least.left + matrix.x + least.right > width - 2.0 * theme::SPACE_3;
    let bar = if is_wide { ui.spacing().scroll.allocated_width() } else { 0.0 };
    // a point for what is rounded
    least.top + matrix.y + strip(ui, window) + bar + 1.0
}

/// What stands over what was measured, points: the line that says what it is.
fn strip(ui: &Ui, window: &Window<'_>) -> f32 {
    if picture::measure(window.app.view.settings().shown).is_none() {
        return 0.0;
    }
    ui.text_style_height(&egui::TextStyle::Small) + ui.spacing().item_spacing.y
}

/// The tallest output decides, so that the pictures under them start at one height.
fn output_height(window: &Window<'_>) -> f32 {
    let heights = window
        .app
        .document
        .columns()
        .iter()
        .filter_map(|column| window.local.seen::<SentenceMemory>()?.output_heights.get(&column.id));
    heights.copied().fold(0.0, f32::max)
}

/// The heatmap's sizes for all columns.
fn metrics(ui: &Ui, window: &Window<'_>, parts: &ColumnParts, needs: &Needs) -> Metrics {
    Metrics::choose(needs, parts.picture.size() - vec2(0.0, strip(ui, window)), window.zoom())
}

/// What the heatmaps of all columns need, the largest needs of any.
fn needs<'a>(ui: &Ui, window: &Window<'_>, tables: impl Iterator<Item = &'a AlignmentTable>) -> Needs {
    let replace = window.app.view.settings().unk_replacement;
    let measure = picture::measure(window.app.view.settings().shown);
    let mut needs = Needs {
        rows: 1,
        columns: 1,
        source_width: 0.0,
        target_width: 0.0,
        corner_width: 0.0,
        text_height: ui.text_style_height(&egui::TextStyle::Small),
        pixels_per_point: ui.pixels_per_point(),
    };
    for table in tables {
        needs.rows = needs.rows.max(table.target.len());
        needs.columns = needs.columns.max(table.source.len());
        let source = table.source.iter().map(labels::source);
        needs.source_width = needs.source_width.max(widest(&Letters(ui), source));
        let target = table.target.iter().map(|word| labels::target(word, replace));
        needs.target_width = needs.target_width.max(widest(&Letters(ui), target));
        let corner = measure.map(|measure| measure.title).or(table.reading.map(Reading::row_text));
        let corner = corner.map_or(0.0, |text| widest_word(&Letters(ui), text));
        needs.corner_width = needs.corner_width.max(corner);
    }
    // While words are still being chosen the cells keep a size that leaves room for about as many as the source has.
    if window.app.document.decoding() > 0 {
        needs.rows = needs.rows.max(needs.columns);
    }
    needs
}

fn aligned(app: &AppState) -> impl Iterator<Item = &AlignmentTable> {
    app.document.columns().iter().filter_map(|column| column.table.as_deref()).filter(|table| has_picture(table))
}

/// Whether there may be a heatmap of it: of alpha, or of what was measured.
fn has_picture(table: &AlignmentTable) -> bool {
    table.alpha.is_some() || !table.measured.is_empty()
}
