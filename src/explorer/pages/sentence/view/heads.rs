//! The attention of every head of a Transformer as small pictures, with errors against the aligner's links.

use egui::{Rect, RichText, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::app::document::table::{AlignmentTable, HeadTable, MeasuredTable, SourceWord};
use crate::app::{command::SettingsCommand, document::column::Column, settings::Shown};
use crate::pages::sentence::command::{ColumnCommand, InterveneCommand};
use crate::pages::sentence::view::{change, measured};
use crate::pages::shell::local::Window;
use crate::widgets::{labels, theme};
use engine::analysis::{aer::AerCounts, alignment::Alignment, hard, measures::MEASURES};
use engine::lang;
use engine::models::choice::{HeadChoice, ModelChoice};
use engine::models::transformer::heads::{HeadKind, HeadPlace};
use engine::text::links::Link;
use figure::palette::ColourMap;

const SIDE: f32 = 84.0;
const TITLE: f32 = 16.0;

const CHOSEN: f32 = 3.0;

struct HeadPicture<'a> {
    of: &'a HeadTable,
    aer: Option<f64>,
    is_left_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeadDeed {
    Look,
    LeaveOut,
}

/// All heads of a kind. A click makes one the column's alignment; its menu leaves it out.
pub fn heads_ui(
    ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, measured: &MeasuredTable,
) {
    kinds_ui(ui, window, column, measured);
    let kind = window.app.view.heads;
    let left_out = &window.app.document.interventions(column).leave_out;
    let mut heads: Vec<HeadPicture<'_>> = measured
        .heads
        .iter()
        .filter(|head| head.place.attention == kind)
        .map(|head| {
            let is_compared = kind == HeadKind::Cross && change::is_of_aligner(window, column);
            let links = table.links.as_ref().filter(|_| is_compared);
            let aer = links.and_then(|links| AerCounts::of(&links_of(&head.alpha, table), links).rates().aer);
            HeadPicture { of: head, aer, is_left_out: left_out.contains(&head.place) }
        })
        .collect();
    labels::note(ui, about(kind, &heads));
    let order = |head: &HeadPicture<'_>| head.of.js.map_or(head.aer.unwrap_or(0.0), |js| -js);
    heads.sort_by(|a, b| order(a).total_cmp(&order(b)));
    let map = ColourMap::at(theme::map_at(window.app.view.settings.palette_on(ui.visuals().dark_mode)));
    ScrollArea::vertical().id_salt(("heads", column.id)).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(theme::SPACE_2, theme::SPACE_2);
            for head in &heads {
                let HeadPlace { layer, head: number, .. } = head.of.place;
                match head_ui(ui, head, table, map) {
                    Some(HeadDeed::Look) => {
                        let heads = Some(HeadChoice { layer, heads: vec![number] });
                        let own = column.system.only().map(|model| model.choice.clone());
                        let chosen = ModelChoice { heads, ..own.unwrap_or_default() };
                        window.push(ColumnCommand::Choose { column: column.id, chosen });
                        window.push(SettingsCommand::SetShown(Shown::Alpha));
                    }
                    Some(HeadDeed::LeaveOut) => {
                        let (column, place, is_left_out) = (column.id, head.of.place, !head.is_left_out);
                        window.push(InterveneCommand::LeaveOut { column, place, is_left_out });
                    }
                    None => {}
                }
            }
        });
    });
}

fn kinds_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, measured: &MeasuredTable) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_1;
        let shown = window.app.view.heads;
        for kind in HeadKind::ALL {
            let title = RichText::new(lang::text(kind.title())).size(theme::TEXT_SMALL);
            window.push_if(ui.selectable_label(shown == kind, title).clicked(), SettingsCommand::SetHeads(kind));
        }
        let others = MEASURES.iter().enumerate().filter(|(n, line)| line.is_of_heads() && *n != measured.measure);
        for (n, line) in others {
            let title = RichText::new(lang::text(line.title)).size(theme::TEXT_SMALL);
            let button = labels::small_button(ui, title).on_hover_text(lang::text(line.about));
            if button.accessible_name(tr!("Show {}", lang::text(line.title))).clicked() {
                measured::measure(window, column.id, n);
            }
        }
    });
}

fn about(kind: HeadKind, heads: &[HeadPicture<'_>]) -> String {
    if heads.is_empty() {
        return tr!(
            "The decoder of this model reads the words before with an SSRU: there are no heads that look at them."
        )
        .to_owned();
    }
    let order = if heads.iter().any(|head| head.of.js.is_some()) {
        tr!("First the head without which the next words change most (Jensen-Shannon divergence, nats).")
    } else if heads.iter().any(|head| head.aer.is_some()) {
        tr!("The head that comes nearest to the outlined links first.")
    } else {
        tr!("Layer by layer.")
    };
    let what = match kind {
        HeadKind::Cross if heads.iter().all(|head| head.aer.is_none() && head.of.js.is_none()) => {
            tr!(
                "Click one to make it the alignment, right-click to leave it out; with View, Links of the aligner, they are sorted by their error."
            )
        }
        HeadKind::Cross => tr!("Click one to make it the alignment, right-click to leave it out."),
        HeadKind::Source => {
            tr!("Rows and columns are the source words: how each looks at all of them. Click a head to leave it out.")
        }
        HeadKind::Target => {
            tr!(
                "Rows and columns are the beginning and the words that were said: how each looks back. Click a head to leave it out."
            )
        }
    };
    format!("{order} {what}")
}

/// For each word the source word with the greatest alpha, without `</s>` on either side and target languages.
fn links_of(alpha: &Alignment, table: &AlignmentTable) -> Vec<Link> {
    let is_word = |j: usize| table.source.get(j).is_some_and(SourceWord::is_word);
    let only = |row: &[f32]| row.iter().enumerate().map(|(j, alpha)| if is_word(j) { *alpha } else { 0.0 }).collect();
    let alpha = Alignment::from_rows(&alpha.iter().map(only).collect::<Vec<Vec<f32>>>());
    let words = alpha.columns();
    let rows = table.target.iter().position(|word| word.is_eos).unwrap_or(table.target.len());
    hard::links(&alpha.resized(rows, words, 0.0))
}

fn words_of(kind: HeadKind, table: &AlignmentTable, (i, j): (usize, usize)) -> (String, String) {
    let source = |j: usize| table.source.get(j).map_or_else(String::new, |word| word.text.clone());
    let target = |i: usize| table.target.get(i).map_or_else(String::new, |word| word.text.clone());
    let read = |i: usize| i.checked_sub(1).map_or_else(|| tr!("the beginning").to_owned(), target);
    match kind {
        HeadKind::Cross => (target(i), source(j)),
        HeadKind::Source => (source(i), source(j)),
        HeadKind::Target => (read(i), read(j)),
    }
}

fn head_ui(ui: &mut Ui, head: &HeadPicture<'_>, table: &AlignmentTable, map: &ColourMap) -> Option<HeadDeed> {
    let t = theme::tokens(ui);
    let HeadTable { place, alpha, js, is_alignment } = head.of;
    let (rows, columns) = (alpha.rows().max(1), alpha.columns().max(1));
    let cell = SIDE / rows.max(columns) as f32;
    let (rect, response) = ui.allocate_exact_size(Vec2::new(SIDE, SIDE + TITLE), Sense::click());
    let of_kind = if place.attention == HeadKind::Cross { "" } else { lang::text(place.attention.title()) };
    let error = head.aer.map(|aer| tr!(", AER {aer}", aer = format_args!("{aer:.2}"))).unwrap_or_default();
    let change = js.map(|js| tr!(", JS {js}", js = format_args!("{js:.3}"))).unwrap_or_default();
    let out = if head.is_left_out { tr!(", left out") } else { "" };
    let chosen = if *is_alignment { tr!(", the alignment") } else { "" };
    let said = tr!(
        "{of_kind} Layer {}, head {}{error}{change}{chosen}{out}",
        place.layer,
        place.head,
        of_kind,
        error,
        change,
        chosen,
        out
    );
    let said = said.trim_start();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, said));
    let corner = rect.left_top() + vec2(0.0, TITLE);
    if ui.is_rect_visible(rect) {
        let short = js.map(|js| format!("  {js:.3}")).or(head.aer.map(|aer| format!("  {aer:.2}"))).unwrap_or_default();
        let colour = if response.hovered() || *is_alignment { t.accent } else { t.weak };
        let colour = if head.is_left_out { t.set } else { colour };
        let font = egui::FontId::proportional(theme::TEXT_SMALL);
        let text = format!("{}.{}{short}", place.layer, place.head);
        ui.painter().text(rect.left_top(), egui::Align2::LEFT_TOP, text, font, colour);
        for i in 0..alpha.rows() {
            for (j, weight) in alpha.row(i).iter().enumerate() {
                let at = corner + vec2(j as f32 * cell, i as f32 * cell);
                let square = Rect::from_min_max(at, pos2(at.x + cell, at.y + cell));
                ui.painter().rect_filled(square, 0.0, theme::colour(map.colour(*weight)));
            }
        }
        let frame = Rect::from_min_size(corner, vec2(columns as f32 * cell, rows as f32 * cell));
        let line = if *is_alignment { CHOSEN } else { 1.0 };
        ui.painter().rect_stroke(frame, 0.0, (line, colour), egui::StrokeKind::Outside);
    }
    let leave = if head.is_left_out { tr!("Let it take part again") } else { tr!("Leave it out") };
    let (click, deed) = match place.attention {
        HeadKind::Cross => (tr!("make it the alignment"), HeadDeed::Look),
        _ if head.is_left_out => (tr!("let it take part again"), HeadDeed::LeaveOut),
        _ => (tr!("leave it out"), HeadDeed::LeaveOut),
    };
    let mut done = response.clicked().then_some(deed);
    response.context_menu(|ui| {
        if place.attention == HeadKind::Cross && ui.button(tr!("Make it the alignment")).clicked() {
            done = Some(HeadDeed::Look);
        }
        if ui.button(leave).on_hover_text(tr!("Its output is zero, in every step")).clicked() {
            done = Some(HeadDeed::LeaveOut);
        }
    });
    let under = response.hover_pos().map(|at| (at - corner) / cell).filter(|at| at.x >= 0.0 && at.y >= 0.0);
    let weight = under.and_then(|at| {
        let (i, j) = (at.y as usize, at.x as usize);
        let (row, column) = words_of(place.attention, table, (i, j));
        Some(tr!("\n{row} looks at {column}: {}", format_args!("{:.2}", alpha.get(i, j)?), row, column))
    });
    response.on_hover_text(tr!("{said}: click to {click}{}", weight.unwrap_or_default(), said, click));
    done
}
