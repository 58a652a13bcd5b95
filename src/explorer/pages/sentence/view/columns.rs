//! The models side by side, in equal columns with one set of sizes, so that they can be compared.

use egui::scroll_area::ScrollBarVisibility;
use egui::{Id, RichText, Ui, UiBuilder, Vec2, vec2};

use crate::app::{
    document::column::Column, document::table::AlignmentTable, files::picture, layout::Look, lights::HighlightPart,
    state::AppState,
};
use crate::pages::sentence::view::memory::{ColumnsMemory, SentenceMemory};
use crate::pages::{
    sentence::SentencePage, sentence::command::ColumnCommand, sentence::view::beam, sentence::view::column,
    sentence::view::column::ColumnParts, sentence::view::interlinear, shell::act::Act, shell::dialogs::MODEL,
    shell::local::Window,
};
use crate::widgets::heatmap::layout::{Metrics, Needs, Zoom};
use crate::widgets::marks::Letters;
use crate::widgets::{can_drop, labels, theme, words};
use engine::analysis::row_convention::RowConvention;
use engine::lang;
use figure::{heatmap::widest_word, label::widest};

const GAP: f32 = theme::SPACE_2;

pub(super) fn columns_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let app = window.app;
    if app.document.columns.is_empty() || window.layout.interlinear {
        window.local.of::<SentenceMemory>().needed = 0.0;
    }
    if app.document.columns.is_empty() {
        empty_ui(ui, window);
        return;
    }
    if window.layout.interlinear {
        interlinear::interlinear_ui(ui, window);
        return;
    }
    if window.layout.solo {
        alone_ui(ui, sentence, window);
        return;
    }
    let (count, room) = (app.document.columns.len() as f32, ui.available_width());
    let fitting = fitting(app, room);
    let width = ((room - GAP * (fitting as f32 - 1.0)) / fitting as f32).floor();
    if fitting < app.document.columns.len() && !theme::is_squat(ui) {
        ui.horizontal(|ui| paging_ui(ui, window, fitting));
    }
    let pitch = width + GAP;
    let offset = offset(ui, window, pitch, fitting);
    let has_foot = app.document.columns.iter().any(column::has_foot);
    let needs = needs(ui, window, aligned(app));
    keep_needed(ui, window, &needs, (width, has_foot));
    // the line above says where one is; a bar would take its room from the columns when it comes
    let area = egui::ScrollArea::horizontal().id_salt("columns").auto_shrink(false);
    let area = area.horizontal_scroll_offset(offset);
    let area = area.scroll_bar_visibility(ScrollBarVisibility::AlwaysHidden).show(ui, |ui| {
        let height = ui.available_height();
        let parts = split(ui, window, vec2(width, height), output_height(window), &needs, has_foot);
        // one size of cells for all, so the column with least room decides
        let least = if has_foot { parts.with_mixing() } else { parts };
        let metrics = metrics(ui, window, &least, &needs);
        window.local.of::<SentenceMemory>().cell = metrics.cell;
        // as wide as the view where it ends with the last column
        let (_, all) = ui.allocate_space(vec2((count - fitting as f32) * pitch + room, height));
        for (n, column) in app.document.columns.iter().enumerate() {
            let corner = all.min + vec2(n as f32 * pitch, 0.0);
            let rect = egui::Rect::from_min_size(corner, vec2(width, height));
            let name = tr!("Column {} of {}", n + 1, column.name());
            let builder = UiBuilder::new().id_salt(("column", column.id)).max_rect(rect).accessibility_label(name);
            column::column_ui(&mut ui.new_child(builder), sentence, window, column, &parts, &metrics);
        }
    });
    // the mouse or a finger has moved them; nothing else may leave a column half in view
    let moved = area.state.clamped_offset().x;
    let by_hand = ui.input(|input| input.smooth_scroll_delta != egui::Vec2::ZERO || input.any_touches())
        || area.state.velocity() != egui::Vec2::ZERO;
    if by_hand && (moved - offset).abs() > 0.5 {
        window.local.of::<ColumnsMemory>().first_column = (moved / pitch).round() as usize;
        window.local.of::<ColumnsMemory>().scrolled = Some(moved);
    }
}

fn offset(ui: &Ui, window: &mut Window<'_>, pitch: f32, fitting: usize) -> f32 {
    let lit = lit(window);
    let is_lit_anew = lit.is_some_and(|n| window.is_lit_anew(HighlightPart::Column, &format!("view of {n}")));
    let (kept, wanted) = (kept(window), newly_wanted(window));
    let memory = window.local.of::<ColumnsMemory>();
    let is_other_width = std::mem::replace(&mut memory.column_width, pitch) != pitch;
    let first = memory.first_column;
    // by the least way
    let shows = |n: usize| if n < first { n } else { first.max((n + 1).saturating_sub(fitting)) };
    let speaks = lit.filter(|_| is_lit_anew || is_other_width || wanted.is_some());
    let to = memory.wanted_column.take().or(kept).or(speaks.or(wanted).map(shows));
    if to.is_some() || is_other_width {
        memory.scrolled = None;
    }
    let most = window.app.document.columns.len().saturating_sub(fitting);
    memory.first_column = to.unwrap_or(first).min(most);
    let goal = memory.scrolled.unwrap_or(memory.first_column as f32 * pitch).min(most as f32 * pitch);
    let jumps = is_other_width || memory.scrolled.is_some() || speaks.is_some();
    let time = if jumps { 0.0 } else { 2.0 * ui.style().animation_time };
    ui.ctx().animate_value_with_time(Id::unique("columns_offset"), goal, time)
}

pub fn fitting(app: &AppState, room: f32) -> usize {
    let count = app.document.columns.len().max(1);
    (((room + GAP) / (theme::COLUMN_MIN_WIDTH + GAP)).floor().max(1.0) as usize).min(count)
}

/// Shows which columns are in view if not all of them fit, with buttons that page.
pub fn paging_ui(ui: &mut Ui, window: &mut Window<'_>, fitting: usize) {
    let count = window.app.document.columns.len();
    let first = window.local.of::<ColumnsMemory>().first_column.min(count.saturating_sub(fitting));
    let keys = [Act::PreviousColumn, Act::NextColumn].map(|act| act.key_text(ui.ctx()));
    let mut page = |ui: &mut Ui, text: &str, name: &str, can: bool, to: usize, key: &str| {
        let button =
            ui.add_enabled(can, egui::Button::new(text)).on_hover_text(tr!("Or column by column ({key})", key));
        if button.accessible_name(name).clicked() {
            window.local.of::<ColumnsMemory>().wanted_column = Some(to);
        }
    };
    let is_squat = theme::is_squat(ui);
    let (previous, next) = if is_squat { ("<", ">") } else { (tr!("Previous"), tr!("Next")) };
    page(ui, previous, tr!("Previous columns"), first > 0, first.saturating_sub(fitting), &keys[0]);
    let last = first + fitting;
    let (shown, squat) = if fitting == 1 {
        (tr!("Column {last} of {count}", last, count), tr!("{last} of {count}", last, count))
    } else {
        let first = first + 1;
        let squat = tr!("{first} to {last} of {count}", first, last, count);
        (tr!("Columns {first} to {last} of {count}", first, last, count), squat)
    };
    let short = if is_squat { squat } else { shown.clone() };
    labels::said(ui.label(RichText::new(short).color(theme::tokens(ui).accent)), &shown);
    page(ui, next, tr!("Next columns"), last < count, last.min(count.saturating_sub(fitting)), &keys[1]);
}

pub fn alone_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let Some(column) = only(window.app) else { return };
    few_ui(ui, sentence, window, &[column]);
}

pub fn presented_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>) {
    let app = window.app;
    if window.layout.interlinear {
        return interlinear::interlinear_ui(ui, window);
    }
    let Some(column) = only(app) else { return };
    let columns = &app.document.columns;
    let at = columns.iter().position(|other| other.id == column.id).unwrap_or(0);
    let first = at.min(columns.len().saturating_sub(2));
    let has_room = fitting(app, ui.available_width()) > 1 && !window.layout.solo;
    match columns.get(first..first + 2).filter(|_| has_room) {
        Some([left, right]) => few_ui(ui, sentence, window, &[left, right]),
        _ => few_ui(ui, sentence, window, &[column]),
    }
}

fn only(app: &AppState) -> Option<&Column> {
    let aligns = |column: &&Column| column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
    let first = app.document.columns.iter().find(aligns).or(app.document.columns.first());
    app.selected_column().or(first)
}

fn few_ui(ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, columns: &[&Column]) {
    let rect = ui.available_rect_before_wrap();
    let count = columns.len() as f32;
    let size = vec2(((rect.width() - GAP * (count - 1.0)) / count).floor(), rect.height());
    let heights =
        columns.iter().filter_map(|column| window.local.seen::<SentenceMemory>()?.output_heights.get(&column.id));
    let output = heights.copied().fold(0.0, f32::max);
    let tables = columns.iter().filter_map(|column| column.table.as_deref()).filter(|table| has_picture(table));
    let needs = needs(ui, window, tables);
    let has_foot = columns.iter().any(|column| column::has_foot(column));
    let parts = split(ui, window, size, output, &needs, has_foot);
    let parts = if window.is_plain() { parts.without_beam() } else { parts };
    keep_needed(ui, window, &needs, (size.x, has_foot));
    let least = if has_foot { parts.with_mixing() } else { parts };
    let metrics = metrics(ui, window, &least, &needs);
    window.local.of::<SentenceMemory>().cell = metrics.cell;
    for (n, column) in columns.iter().enumerate() {
        let corner = rect.min + vec2(n as f32 * (size.x + GAP), 0.0);
        let name = tr!("Column of {}", column.name());
        let builder = UiBuilder::new().id_salt(("column", column.id)).max_rect(egui::Rect::from_min_size(corner, size));
        let mut child = ui.new_child(builder.accessibility_label(name));
        column::column_ui(&mut child, sentence, window, column, &parts, &metrics);
    }
    ui.advance_cursor_after_rect(rect);
}

fn empty_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let weak = theme::tokens(ui).weak;
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        ui.heading(tr!("No model is open"));
        ui.label(
            RichText::new(if can_drop() {
                tr!("Add a model folder, or drop one on this window")
            } else {
                tr!("Add a model folder with + Model")
            })
            .color(weak),
        );
        if window.local.bundled.is_empty() {
            ui.label(RichText::new(how_to_get(window.local.home.as_deref())).color(weak));
        }
        ui.add_space(theme::SPACE_2);
        if ui.button(tr!("Add a model")).clicked() {
            window.ask(MODEL.then(|path| ColumnCommand::Add(path.into())));
        }
    });
}

fn how_to_get(home: Option<&std::path::Path>) -> String {
    let home = home.map_or_else(String::new, |home| tr!(" Copy one into {}, or", home.display()));
    tr!(
        "No model is installed. Models come with the program's source and packages.{home} name the folder that holds it in \
         INTERLINEAR_MODELS, and start again.",
        home
    )
}

/// The column that was just added or selected, once; of several new ones the selected one, else the first.
fn newly_wanted(window: &mut Window<'_>) -> Option<usize> {
    let columns = &window.app.document.columns;
    let now = (window.app.view.selection.column, columns.iter().map(|column| column.id).max());
    let before = std::mem::replace(&mut window.local.of::<ColumnsMemory>().seen_columns, now);
    let new = columns.iter().filter(|column| before.1.is_some_and(|last| column.id > last)).count();
    let wanted = match new {
        0 if before.0 == now.0 => None,
        1 => now.1,
        _ => now.0,
    };
    let at = wanted.and_then(|id| columns.iter().position(|column| column.id == id));
    at.or((new > 1).then_some(0))
}

fn lit(window: &Window<'_>) -> Option<usize> {
    const PARTS: [HighlightPart; 4] =
        [HighlightPart::Column, HighlightPart::Translation, HighlightPart::Heatmap, HighlightPart::Beam];
    let is_lit = |column: &Column| PARTS.iter().any(|lit| window.lights.lights(*lit, &column.system.name()));
    let columns = window.app.document.columns.iter().enumerate();
    let mut lit = columns.filter(|(_, column)| is_lit(column)).map(|(n, _)| n);
    lit.next().filter(|_| lit.next().is_none())
}

fn kept(window: &mut Window<'_>) -> Option<usize> {
    let (is_open, memory) = (!window.lights.page.0.is_empty(), window.local.of::<ColumnsMemory>());
    if is_open {
        memory.before_lesson.get_or_insert(memory.first_column);
        return None;
    }
    memory.before_lesson.take()
}

fn split(ui: &Ui, window: &Window<'_>, size: Vec2, output: f32, needs: &Needs, has_foot: bool) -> ColumnParts {
    let beam_open = window.shows_beam();
    let has_two = window.app.document.columns.iter().any(|column| column.given.view.is_some());
    let is_lit = |column: &Column| window.lights.lights(HighlightPart::Translation, &column.system.name());
    let split = if has_two {
        ColumnParts::split_for_two
    } else if window.app.document.columns.iter().any(is_lit) {
        ColumnParts::split_whole
    } else {
        ColumnParts::split
    };
    let foot = if has_foot { column::FOOT } else { 0.0 };
    let line = words::pitch(ui, &theme::output());
    split(size, (output, line), beam_open, wanted(ui, window, needs, size.x) + foot)
}

/// Rows of a picture that no click takes out of view.
const ALWAYS: usize = 12;

/// A height in which nothing of a column is cut: what it needs must not depend on what it has.
const ROOMY: f32 = 2000.0;

/// Keeps the height in which columns of this width, from here on, show [`ALWAYS`] rows, with the margins of the window's
/// middle and what is above; 0 where pictures have no rows.
fn keep_needed(ui: &Ui, window: &mut Window<'_>, needs: &Needs, (width, has_foot): (f32, bool)) {
    let above = ui.cursor().top() - ui.max_rect().top();
    let parts = split(ui, window, vec2(width, ROOMY), output_height(window), needs, has_foot);
    let rows = Needs { rows: needs.rows.min(ALWAYS), ..*needs };
    let picture = wanted(ui, window, &rows, width);
    let foot = if has_foot { column::FOOT } else { 0.0 };
    let beam = if window.shows_beam() { beam::HEADER + beam::ROW } else { beam::HEADER };
    let under = foot + beam + 2.0 * theme::SPACE_2 + theme::SPACE_3;
    let height = above + parts.picture.top() + picture + under + 2.0 * theme::SPACE_3;
    let now = if picture > 0.0 { height } else { 0.0 };
    if (std::mem::replace(&mut window.local.of::<SentenceMemory>().needed, now) - now).abs() > 0.5 {
        ui.ctx().request_repaint();
    }
}

/// The height at which the smallest readable cells fit into this width.
fn wanted(ui: &Ui, window: &Window<'_>, needs: &Needs, width: f32) -> f32 {
    if window.layout.look != Look::Heatmap {
        return 0.0;
    }
    let least = Metrics::choose(needs, vec2(width, 0.0), Zoom::Auto);
    let matrix = least.matrix(needs.rows, needs.columns);
    let is_wide = least.left + matrix.x + least.right > width - 2.0 * theme::SPACE_3;
    let bar = if is_wide { ui.spacing().scroll.allocated_width() } else { 0.0 };
    // a point for what is rounded
    least.top + matrix.y + strip(ui, window) + bar + 1.0
}

fn strip(ui: &Ui, window: &Window<'_>) -> f32 {
    let has_probe = window.app.document.columns.iter().any(Column::is_probe);
    if picture::measure(window.app.view.settings.shown).is_none() && !has_probe {
        return 0.0;
    }
    ui.text_style_height(&egui::TextStyle::Small) + ui.spacing().item_spacing.y
}

fn output_height(window: &Window<'_>) -> f32 {
    let heights = window
        .app
        .document
        .columns
        .iter()
        .filter_map(|column| window.local.seen::<SentenceMemory>()?.output_heights.get(&column.id));
    heights.copied().fold(0.0, f32::max)
}

fn metrics(ui: &Ui, window: &Window<'_>, parts: &ColumnParts, needs: &Needs) -> Metrics {
    Metrics::choose(needs, parts.picture.size() - vec2(0.0, strip(ui, window)), window.zoom())
}

fn needs<'a>(ui: &Ui, window: &Window<'_>, tables: impl Iterator<Item = &'a AlignmentTable>) -> Needs {
    let replace = window.app.view.settings.unk_replacement;
    let measure = picture::measure(window.app.view.settings.shown);
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
        let corner =
            measure.map(|measure| measure.title).or(table.reading.map(RowConvention::row_text)).map(lang::text);
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
    app.document.columns.iter().filter_map(|column| column.table.as_deref()).filter(|table| has_picture(table))
}

fn has_picture(table: &AlignmentTable) -> bool {
    table.alpha.is_some() || !table.measured.is_empty()
}
