//! The rows so far as a heatmap, which grows with the steps.

use egui::{Id, Key, Modifiers, Ui};

use crate::app::{document::table::AlignmentTable, lights::HighlightPart, settings::Shown};
use crate::pages::{
    shell::local::Window, steps::StepsPage, steps::command::StepsCommand, steps::view::memory::StepsMemory,
};
use crate::widgets::heatmap::{Answer, HeatmapMarks, HeatmapWidget, Outlined};
use crate::widgets::{labels, theme};
use crate::{jobs::steps::StepTrace, widgets::marks::Letters};
use engine::{analysis::alignment::Alignment, text::links::Link};
use figure::heatmap::layout::{Gaze, Metrics, Needs, Zoom};
use figure::{heatmap::widest_word, label::widest, mark::Scale, palette::ColourMap};

pub fn id() -> Id {
    Id::unique("steps_heatmap")
}

pub fn rows_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let Some(table) = steps.table.clone() else { return };
    let Some(matrix) = table.alpha.as_ref().filter(|matrix| matrix.columns() > 0) else { return };
    let whole = steps.whole();
    let is_first = whole.is_some_and(|guessing| !guessing.is_revealed);
    let cursor = window
        .local
        .of::<StepsMemory>()
        .cursor
        .filter(|(i, j)| *i < matrix.rows() && *j < matrix.columns() && is_first);
    let name = if is_first { tr!("the class").to_owned() } else { tr!("{} step by step", trace.model) };
    // A row is brought into view once; the mouse may look elsewhere.
    let looked = cursor.map_or(steps.i, |(i, _)| i);
    let reveal = (window.local.of::<StepsMemory>().revealed != Some(looked)).then_some(looked);
    window.local.of::<StepsMemory>().revealed = Some(looked);
    let p_t: Option<Vec<f32>> = trace.steps.iter().take(table.target.len()).map(|step| step.p_t).collect();
    let local = steps.column(window.app).and_then(|column| column.facts.as_ref()?.window);
    let scroll_x = window.local.of::<StepsMemory>().scroll;
    let heatmap = HeatmapWidget {
        marks: match (whole, cursor) {
            (Some(_), Some((i, j))) => HeatmapMarks { row: Some(i), column: Some(j), selected: None },
            (Some(_), None) => HeatmapMarks::default(),
            (None, _) => {
                HeatmapMarks { row: None, column: None, selected: Some(steps.i).filter(|i| *i < table.target.len()) }
            }
        },
        gaze: p_t.as_deref().zip(local).map(|(p_t, window)| Gaze { p_t, window }).filter(|_| !is_first),
        draws_gaze: true,
        outlined: match whole {
            None => Outlined::Aligner,
            Some(_) if is_first => Outlined::GuessFirst,
            Some(_) => Outlined::Guess,
        },
        scroll_x,
        reveal,
        ..heatmap(ui, window, (id(), &name), (&table, matrix), trace)
    };
    let mut texture = std::mem::take(&mut window.local.of::<StepsMemory>().texture);
    let place = ui.available_rect_before_wrap();
    let answer = heatmap.show(ui, &mut texture, false);
    window.part(ui, HighlightPart::Rows, "", place);
    window.local.of::<StepsMemory>().texture = texture;
    window.local.of::<StepsMemory>().scroll = answer.scroll_x;
    if is_first {
        guess_cells(ui, window, &answer, cursor, (matrix.rows(), matrix.columns()));
        return;
    }
    if let Some(i) = answer.clicked {
        window.push(StepsCommand::GoTo(i));
    }
    if answer.steps.0 != 0 {
        window.push(StepsCommand::MoveWord(answer.steps.0));
    }
}

fn heatmap<'a>(
    ui: &Ui, window: &Window<'_>, (id, name): (Id, &'a str), (table, matrix): (&'a AlignmentTable, &'a Alignment),
    trace: &StepTrace,
) -> HeatmapWidget<'a> {
    HeatmapWidget {
        id,
        name,
        table,
        matrix,
        shown: Shown::Alpha,
        scale: Scale::Unit,
        map: ColourMap::at(theme::map_at(window.app.view.settings.palette_on(ui.visuals().dark_mode))),
        metrics: Metrics::choose(&needs(ui, table, trace), ui.available_size(), Zoom::Auto),
        marks: HeatmapMarks::default(),
        gaze: None,
        draws_gaze: false,
        outlined: Outlined::Guess,
        can_drag: false,
        before: Vec::new(),
        replace: false,
        scroll_x: 0.0,
        locate: None,
        reveal: None,
    }
}

/// The needs of the finished table, so that cells keep their size while rows are added.
fn needs(ui: &Ui, table: &AlignmentTable, trace: &StepTrace) -> Needs {
    Needs {
        rows: trace.steps.len(),
        columns: table.source.len(),
        source_width: widest(&Letters(ui), table.source.iter().map(labels::source)),
        target_width: widest(&Letters(ui), table.target.iter().map(|word| labels::target(word, false))).max(60.0),
        corner_width: table
            .reading
            .map_or(0.0, |reading| widest_word(&Letters(ui), engine::lang::text(reading.row_text()))),
        text_height: ui.text_style_height(&egui::TextStyle::Small),
        pixels_per_point: ui.pixels_per_point(),
    }
}

pub fn class_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let Some(table) = steps.class_table.clone() else { return };
    let Some(matrix) = table.alpha.as_ref().filter(|matrix| matrix.columns() > 0) else { return };
    let scroll_x = window.local.of::<StepsMemory>().class_scroll;
    let name = (Id::unique("steps_class_heatmap"), tr!("the class"));
    let heatmap = HeatmapWidget { scroll_x, ..heatmap(ui, window, name, (&table, matrix), trace) };
    let mut texture = std::mem::take(&mut window.local.of::<StepsMemory>().class_texture);
    let answer = heatmap.show(ui, &mut texture, false);
    window.local.of::<StepsMemory>().class_texture = texture;
    window.local.of::<StepsMemory>().class_scroll = answer.scroll_x;
}

/// Guesses cells: by a click, or by the space bar at the cursor of the arrow keys.
fn guess_cells(
    ui: &Ui, window: &mut Window<'_>, answer: &Answer, cursor: Option<(usize, usize)>, (rows, columns): (usize, usize),
) {
    let to = |at: usize, by: isize, count: usize| at.saturating_add_signed(by).min(count.saturating_sub(1));
    let (down, right) = answer.steps;
    let now = match cursor {
        Some((i, j)) => Some((to(i, down, rows), to(j, right, columns))),
        None => ((down, right) != (0, 0)).then_some((0, 0)),
    };
    let has_focus = ui.memory(|memory| memory.has_focus(id()));
    let is_pressed = has_focus && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Space));
    window.local.of::<StepsMemory>().cursor = answer.cell.or(now);
    if answer.cell.is_some() {
        ui.memory_mut(|memory| memory.request_focus(id()));
    }
    if let Some((i, j)) = answer.cell.or(now.filter(|_| is_pressed)) {
        window.push(StepsCommand::GuessLink(Link { source: j, target: i }));
    }
}
