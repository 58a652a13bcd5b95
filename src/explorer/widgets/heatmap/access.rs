//! The heatmap in words: a labelled node for every cell in view, and the tooltip.

use egui::accesskit::{Action, Role};
use egui::{Rect, Response, Sense, Ui};

use crate::app::{document::table::TargetWord, files::picture, settings::Shown};
use crate::widgets::heatmap::widget::{Answer, HeatmapWidget};
use crate::widgets::{has_reader, labels, node, theme};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention};
use engine::{interventions::Said, lang, text::links::Link};
use figure::heatmap::{layout::Grid, outlines::Outlined};

/// With more cells in view only the marked rows get nodes, for the sake of screen readers.
const MOST_CELLS: usize = 1_200;

const MASKED: &str = id!("masked");

const BEFORE: &str = id!("the original looked here");

/// The label of a cell, such as `zone <- Area 0.83`.
pub fn cell_label(heatmap: &HeatmapWidget<'_>, i: usize, j: usize) -> String {
    let target =
        heatmap.table.target.get(i).map_or_else(String::new, |word| labels::target_text(word, heatmap.replace));
    let source = heatmap.table.source.get(j).map_or_else(String::new, labels::source_text);
    let value = heatmap.matrix.get(i, j).unwrap_or(0.0);
    let set = heatmap.table.target.get(i).map_or_else(String::new, TargetWord::set_text);
    let masked = heatmap.table.source.get(j).is_some_and(|word| word.is_masked);
    let set = if masked { format!("{set}, {}", lang::text(MASKED)) } else { set };
    let set = if heatmap.before.contains(&(i, j)) { format!("{set}, {}", lang::text(BEFORE)) } else { set };
    let link = link_text(heatmap, i, j).map_or(set.clone(), |text| format!("{set}, {text}"));
    let gaze = gaze_text(heatmap, i).map_or(link.clone(), |text| format!("{link}, {text}"));
    match heatmap.shown {
        _ if heatmap.outlined == Outlined::GuessFirst => format!("{target} <- {source}{gaze}"),
        Shown::Alpha => format!("{target} <- {source} {value:.2}{gaze}"),
        Shown::Energies if value.is_nan() => tr!("{target} <- {source} no energy{gaze}", target, source, gaze),
        Shown::Energies => format!("{target} <- {source} e {value:.2}{gaze}"),
        Shown::Measure(_) => {
            let title = picture::measure(heatmap.shown).map_or("", |measure| lang::text(measure.title));
            format!("{target} <- {source} {title} {value:.3}{gaze}")
        }
    }
}

pub fn name(heatmap: &HeatmapWidget<'_>) -> String {
    let what = picture::measure(heatmap.shown).map_or(tr!("Alignment"), |measure| lang::text(measure.title));
    tr!("{what} of {}", heatmap.name, what)
}

pub fn link_text(heatmap: &HeatmapWidget<'_>, i: usize, j: usize) -> Option<&'static str> {
    let (links, link) = (heatmap.table.links.as_ref()?, Link { source: j, target: i });
    let (sure, possible) = match heatmap.outlined {
        Outlined::Aligner => (tr!("linked"), tr!("linked in one direction")),
        Outlined::Alpha => (tr!("it looked here"), tr!("it looked here, too")),
        Outlined::Head => (tr!("it comes from here"), tr!("it may come from here")),
        Outlined::ByHand => (tr!("linked by hand"), tr!("possibly linked by hand")),
        Outlined::GuessFirst => (tr!("guessed"), tr!("guessed")),
        Outlined::Guess => (tr!("guessed right"), tr!("guessed, not the model's")),
    };
    if links.is_sure(link) { Some(sure) } else { links.is_possible(link).then_some(possible) }
}

/// Where local attention looks, such as `p_t 2.31, window from the to shoe`.
pub fn gaze_text(heatmap: &HeatmapWidget<'_>, i: usize) -> Option<String> {
    let gaze = heatmap.gaze?;
    let p_t = gaze.position(i)?;
    let word = |j: usize| heatmap.table.source.get(j).map_or_else(String::new, labels::source_text);
    let window = gaze.words(i, heatmap.matrix.columns()).map_or_else(
        || tr!("no word in the window").to_owned(),
        |words| tr!("window from {} to {}", word(*words.start()), word(*words.end())),
    );
    Some(format!("p_t {p_t:.2}, {window}"))
}

/// Labels the matrix and its cells. Almost free without a screen reader.
pub fn grid(ui: &mut Ui, heatmap: &HeatmapWidget<'_>, grid: &Grid, response: &Response, answer: &mut Answer) {
    let ctx = ui.ctx().clone();
    let (rows, columns) = (heatmap.matrix.rows(), heatmap.matrix.columns());
    node(response, Role::Grid, || tr!("{}, {rows} target by {columns} source words", name(heatmap), rows, columns));
    if !has_reader(response) {
        return;
    }
    let clip = ui.clip_rect();
    let (rows, columns) = (grid.visible_rows(clip), grid.visible_columns(clip));
    let few = rows.len() * columns.len() <= MOST_CELLS;
    let marked = |i: &usize| few || heatmap.marks.selected == Some(*i) || heatmap.marks.row == Some(*i);
    // Cells come and go while scrolling; egui would warn of a widget that changed its identity.
    ctx.allow_widget_id_changes_in(Rect::EVERYTHING);
    let wanted =
        ctx.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::AccessKitActionRequest(_))));
    for i in rows.filter(marked) {
        for j in columns.clone() {
            let id = response.id.with((i, j));
            let cell = ui.interact(grid.cell_area(i, j).intersect(clip), id, Sense::hover());
            node(&cell, Role::GridCell, || cell_label(heatmap, i, j));
            if wanted && ctx.input(|input| input.has_accesskit_action_request(id, Action::Click)) {
                (answer.clicked, answer.cell) = (Some(i), Some((i, j)));
            }
        }
    }
}

pub fn tooltip(response: &Response, heatmap: &HeatmapWidget<'_>, i: usize, j: usize) {
    let (Some(target), Some(source)) = (heatmap.table.target.get(i), heatmap.table.source.get(j)) else {
        return;
    };
    let number = |matrix: Option<&Alignment>| matrix.and_then(|matrix| matrix.get(i, j));
    let (alpha, energies) = step(heatmap);
    response.clone().on_hover_ui_at_pointer(|ui| {
        let (target, source) = (labels::target_text(target, heatmap.replace), labels::source_text(source));
        let said = format!("{target} <- {source}");
        let heading = labels::arrow(&target, &source, ui.visuals().text_color());
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        labels::said(ui.label(heading), &said);
        if heatmap.outlined == Outlined::GuessFirst {
            return;
        }
        if let Some(alpha) = number(alpha) {
            let (name, said) = if is_head(heatmap) { (tr!("head"), tr!("head")) } else { ("\u{3b1}", "alpha") };
            labels::said(ui.label(format!("{name} {alpha:.3}")), &format!("{said} {alpha:.3}"));
        }
        if let Some(e) = number(energies) {
            ui.label(if e.is_nan() {
                tr!("no energy").to_owned()
            } else {
                tr!("energy e {e}", e = format_args!("{e:.3}"))
            });
        }
        if let (Some(measure), Some(value)) = (picture::measure(heatmap.shown), heatmap.matrix.get(i, j)) {
            ui.label(format!("{} {value:.4} {}", measure.title, measure.unit));
        }
        if let Some(text) = link_text(heatmap, i, j) {
            let by = if heatmap.outlined == Outlined::Aligner { tr!(" by the statistical aligner") } else { "" };
            ui.label(format!("{text}{by}"));
        }
        for text in set_texts(heatmap, i, j) {
            ui.label(text);
        }
        if let Some(text) = odd_text(heatmap, i, j) {
            ui.add(egui::Label::new(egui::RichText::new(text).size(theme::TEXT_SMALL)));
        }
        if heatmap.marks.selected == Some(i) && heatmap.drags() {
            ui.label(tr!("drag up or down to change the weight"));
        }
        if let Some(text) = gaze_text(heatmap, i) {
            let shown = labels::signs(&text, theme::TEXT_BODY, ui.visuals().text_color());
            labels::said(ui.label(shown), &text);
        }
    });
}

/// alpha and energies of the shown rows; a measure has those of the predicted words.
fn step<'a>(heatmap: &HeatmapWidget<'a>) -> (Option<&'a Alignment>, Option<&'a Alignment>) {
    let table = heatmap.table;
    let own = (table.alpha.as_ref(), table.energies.as_ref());
    table.measured(heatmap.shown).map_or(own, |measured| (measured.alpha.as_ref(), measured.energies.as_ref()))
}

fn odd_text(heatmap: &HeatmapWidget<'_>, i: usize, j: usize) -> Option<&'static str> {
    let (alpha, _) = step(heatmap);
    let alpha = alpha?;
    let most = (0..alpha.columns()).filter_map(|j| alpha.get(i, j)).fold(0.0, f32::max);
    let is_most = alpha.get(i, j).is_some_and(|alpha| alpha > 0.0 && alpha >= most);
    let (target, source) = (heatmap.table.target.get(i)?, heatmap.table.source.get(j)?);
    (is_most && source.is_eos && !target.is_eos).then_some(if is_head(heatmap) {
        lang::text(FROM_NOWHERE)
    } else {
        lang::text(NOWHERE)
    })
}

fn is_head(heatmap: &HeatmapWidget<'_>) -> bool {
    heatmap.table.reading == Some(RowConvention::Head) && heatmap.shown == Shown::Alpha
}

const FROM_NOWHERE: &str =
    id!("the end of the source stands for no word:\nthe head finds none that this one comes from");

const NOWHERE: &str =
    id!("looking at the end of the source is looking nowhere:\nno source word was needed to choose this one");

fn set_texts(heatmap: &HeatmapWidget<'_>, i: usize, j: usize) -> Vec<&'static str> {
    let (target, source) = (heatmap.table.target.get(i), heatmap.table.source.get(j));
    let said = target.map_or(Said::Free, |word| word.said);
    let words = match said {
        Said::Free => None,
        Said::Held => Some(tr!("held as the model had chosen it")),
        Said::Forced => Some(tr!("forced, the model did not choose it")),
    };
    let row = target.is_some_and(|word| word.is_pinned).then_some(tr!("alpha of this row was set by hand"));
    let column = source.is_some_and(|word| word.is_masked).then_some(tr!("masked, it has no weight"));
    words.into_iter().chain(row).chain(column).collect()
}
