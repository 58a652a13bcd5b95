//! The heatmap of a column, and what is marked in it.

use egui::{Id, Ui};

use crate::app::document::table::{AlignmentTable, LEFT_OUT};
use crate::app::{document::column::Column, files::picture, settings::Shown, state::AppState, view::Hover};
use crate::pages::sentence::view::{change, heads, measured, variant};
use crate::pages::shell::local::{Panel, Window};
use crate::pages::{
    sentence::SentencePage, sentence::command::SelectCommand, sentence::view::memory::Dragged,
    sentence::view::memory::SentenceMemory, shell::act, shell::clicked::MenuTarget,
};
use crate::widgets::heatmap::layout::{Gaze, Metrics};
use crate::widgets::heatmap::{Answer, HeatmapMarks, HeatmapWidget};
use crate::widgets::theme;
use engine::analysis::{measures::Measure, row_convention::RowConvention};
use engine::lang;
use figure::{mark::Scale, palette::ColourMap};

pub fn alignment_ui(
    ui: &mut Ui, sentence: &SentencePage, window: &mut Window<'_>, column: &Column, table: &AlignmentTable,
    metrics: &Metrics,
) {
    let settings = &window.app.view.settings;
    let shown = shown(settings.shown, column);
    if shown == settings.shown && !measured::strip_ui(ui, sentence, window, column, table) {
        return;
    }
    if let Some(measured) = table.measured(shown).filter(|measured| !measured.heads.is_empty()) {
        return heads::heads_ui(ui, window, column, table, measured);
    }
    let Some(matrix) = table.numbers(shown).filter(|matrix| matrix.columns() > 0) else {
        if table.left_out {
            ui.add(egui::Label::new(lang::text(LEFT_OUT)).wrap());
        } else if table.reading == Some(RowConvention::Head) && shown == Shown::Energies {
            ui.add(egui::Label::new(tr!("Of an alignment head no energies are kept; choose \u{3b1} above")).wrap());
        }
        return;
    };
    let is_selected = window.app.selected_column().is_some_and(|selected| selected.id == column.id);
    let focus = is_selected && window.local.shared.takes_focus(Panel::Picture);
    let given = if table.is_given { tr!(" for your translation") } else { "" };
    let name = format!("{}{given}", column.name());
    let marks = marks(window.app, column);
    let heatmap = HeatmapWidget {
        id: Id::unique(("heatmap", column.id)),
        name: &name,
        table,
        matrix,
        shown,
        map: match shown {
            Shown::Measure(_) => ColourMap::of_measures(ui.visuals().dark_mode),
            Shown::Alpha | Shown::Energies => ColourMap::at(theme::map_at(settings.palette_on(ui.visuals().dark_mode))),
        },
        scale: {
            let (low, high) = picture::scale(shown).of_range(range(window.app, shown));
            Scale::Between(low, high)
        },
        metrics: *metrics,
        marks,
        gaze: gaze(column, table).filter(|_| !matches!(shown, Shown::Measure(_))),
        draws_gaze: window.layout.gaze,
        outlined: settings.outlined(column.facts.as_ref()),
        can_drag: true,
        before: variant::looked(column),
        replace: window.app.replaces(column),
        scroll_x: window.local.of::<SentenceMemory>().scroll_x,
        locate: located(window, column),
        reveal: reveal(window, column, marks.selected, ui.available_height()),
    };
    let mut texture = window.local.shared.textures.remove(&column.id).unwrap_or_default();
    let answer = heatmap.show(ui, &mut texture, focus);
    window.local.shared.textures.insert(column.id, texture);
    if let Some((i, j, from)) = answer.grabbed {
        let before = matrix.get(i, j).unwrap_or(0.0);
        window.local.of::<SentenceMemory>().dragged =
            Some(Dragged { column: column.id, i, j, from, before, wanted: before, sent: None });
    }
    change::drag(ui, window, column);
    handle_answer(window, column, table, metrics, &answer);
}

/// Next to the heads of a Transformer a model that has none goes on showing alpha.
fn shown(wanted: Shown, column: &Column) -> Shown {
    let is_of_heads = picture::measure(wanted).is_some_and(Measure::is_of_heads);
    let has_heads = column.facts.as_ref().is_none_or(|facts| facts.sizes.heads.0 > 0);
    if is_of_heads && !has_heads { Shown::Alpha } else { wanted }
}

/// The least and the greatest number in all pictures, which share one legend.
pub fn range(app: &AppState, shown: Shown) -> Option<(f32, f32)> {
    if shown == Shown::Alpha {
        return Some((0.0, 1.0));
    }
    let tables = app.document.columns.iter().filter_map(|column| column.table.as_ref());
    let ranges = tables.filter_map(|table| table.numbers(shown)?.range());
    ranges.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)))
}

pub fn gaze<'a>(column: &Column, table: &'a AlignmentTable) -> Option<Gaze<'a>> {
    let window = column.facts.as_ref()?.window?;
    table.p_t.as_deref().map(|p_t| Gaze { p_t, window })
}

/// Scrolls to a selected word once, and again when the room for the picture has changed.
fn reveal(window: &mut Window<'_>, column: &Column, selected: Option<usize>, room: f32) -> Option<usize> {
    let now = selected.map(|i| (column.id, i, room as u32));
    if now.is_none() || window.local.of::<SentenceMemory>().seen_target == now {
        return None;
    }
    window.local.of::<SentenceMemory>().seen_target = now;
    selected
}

fn located(window: &Window<'_>, column: &Column) -> Option<(usize, usize)> {
    match window.local.shared.asked {
        Some(MenuTarget::Cell { column: of, i, j }) if of == column.id => Some((i, j)),
        _ => None,
    }
}

fn handle_answer(window: &mut Window<'_>, column: &Column, table: &AlignmentTable, metrics: &Metrics, answer: &Answer) {
    let (i, j) = answer.over;
    if i.is_some() || j.is_some() {
        window.local.shared.hover = Some(Hover { column: column.id, i, j });
    }
    if let Some(i) = answer.clicked {
        window.push(SelectCommand::Target { column: column.id, i });
    }
    if let Some(asked) = answer.menu {
        let column = column.id;
        let clicked = match (asked.i, asked.j) {
            (Some(i), Some(j)) => Some(MenuTarget::Cell { column, i, j }),
            (Some(i), None) => Some(MenuTarget::Target { column, i }),
            (None, Some(j)) => Some(MenuTarget::Source { column, j }),
            (None, None) => None,
        };
        if let Some(clicked) = clicked {
            window.offer_at(clicked, asked.at);
        }
    }
    if (answer.zoom - 1.0).abs() > 1e-3 {
        // Whole points keep the cells sharp; a slow wheel still has to get somewhere.
        let side = metrics.cell * answer.zoom;
        let side = if answer.zoom > 1.0 { side.max(metrics.cell + 1.0) } else { side.min(metrics.cell - 1.0) };
        window.layout.cell = act::cell(side.round());
    }
    if (answer.scroll_x - window.local.of::<SentenceMemory>().scroll_x).abs() > 0.1 {
        window.local.of::<SentenceMemory>().scroll_x = answer.scroll_x;
    }
    let (down, right) = answer.steps;
    if down != 0 {
        window.push(SelectCommand::MoveTarget(down));
        if let Some(mark) = &mut window.local.of::<SentenceMemory>().key_mark {
            let last = table.target.len().saturating_sub(1) as isize;
            mark.i = mark.i.map(|i| (i as isize + down).clamp(0, last) as usize);
        }
    }
    if right != 0 {
        let selected = window.app.view.selection.target;
        let before = window.local.of::<SentenceMemory>().key_mark.and_then(|mark| mark.j);
        let last = table.source.len() as isize - 1;
        let j = before.map_or(0, |j| (j as isize + right).clamp(0, last.max(0)) as usize);
        window.local.of::<SentenceMemory>().key_mark = Some(Hover { column: column.id, i: selected, j: Some(j) });
    }
}

/// What the mouse and the inspector mark in a column: the words under the mouse, and the same words in other columns.
pub fn marks(app: &AppState, column: &Column) -> HeatmapMarks {
    let selected = app.view.selection.target.filter(|_| app.view.selection.column == Some(column.id));
    let none = HeatmapMarks { row: None, column: None, selected };
    let (Some(hover), Some(table)) = (app.view.hover, column.table.as_deref()) else { return none };
    if hover.column == column.id {
        return HeatmapMarks { row: hover.i, column: hover.j, selected };
    }
    let Some(other) = app.document.column(hover.column) else { return none };
    let Some(there) = other.table.as_deref() else { return none };
    HeatmapMarks {
        row: hover.i.and_then(|i| table.like_target(there, i)),
        column: hover.j.and_then(|j| like_source(app, (other, column), j)),
        selected,
    }
}

/// The word of another column that corresponds to this one; variants are compared by way of their originals.
fn like_source(app: &AppState, (there, here): (&Column, &Column), j: usize) -> Option<usize> {
    if there.source.text == here.source.text {
        return at_same_place(there.table.as_deref()?, here.table.as_deref()?, j);
    }
    let (from, to) = (app.document.original(there).unwrap_or(there), app.document.original(here).unwrap_or(here));
    let j = match there.variant {
        Some(_) => *there.difference.comparison.as_ref()?.sources.get(j)?,
        None => Some(j),
    };
    let j = at_same_place(from.table.as_deref()?, to.table.as_deref()?, j?);
    match here.variant {
        Some(_) => here.difference.comparison.as_ref()?.sources.iter().position(|of| of.is_some() && *of == j),
        None => j,
    }
}

/// The word at the same place of the typed text; models may segment it differently.
fn at_same_place(there: &AlignmentTable, here: &AlignmentTable, j: usize) -> Option<usize> {
    let word = there.source.get(j)?;
    if word.is_eos {
        return here.source.iter().position(|other| other.is_eos);
    }
    here.source.iter().position(|other| other.span.start < word.span.end && word.span.start < other.span.end)
}
