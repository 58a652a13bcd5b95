//! Floor 11: where every head of a Transformer looks, as small pictures side by side, each with its error against the links of
//! the statistical aligner where those are shown.

use egui::{Rect, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::analysis::aer::AerCounts;
use crate::analysis::alignment::Alignment;
use crate::analysis::hard;
use crate::app::command::SettingsCommand;
use crate::app::document::column::Column;
use crate::app::document::table::{AlignmentTable, MeasuredTable, SourceWord};
use crate::app::settings::Shown;
use crate::figure::palette::ColourMap;
use crate::models::choice::{self, HeadChoice, ModelChoice};
use crate::pages::sentence::command::ColumnCommand;
use crate::pages::window::local::Window;
use crate::text::links::Link;
use crate::widgets::{labels, theme};

/// The longer side of a picture, points.
const SIDE: f32 = 84.0;
/// The line over a picture, points.
const TITLE: f32 = 16.0;

/// A head and how far it is from the links.
struct HeadPicture<'a> {
    layer: usize,
    head: usize,
    alpha: &'a Alignment,
    aer: Option<f64>,
}

/// All heads; a click makes one the alignment of the column.
pub fn heads_ui(
    ui: &mut Ui,
    window: &mut Window<'_>,
    column: &Column,
    table: &AlignmentTable,
    measured: &MeasuredTable,
) {
    let per_layer = column.facts.as_ref().map_or(1, |facts| facts.sizes.heads.1.max(1));
    let mut heads: Vec<HeadPicture<'_>> = measured
        .heads
        .iter()
        .enumerate()
        .map(|(n, alpha)| HeadPicture {
            layer: n / per_layer + 1,
            head: n % per_layer + 1,
            alpha,
            aer: table.links.as_ref().and_then(|links| AerCounts::of(&links_of(alpha, table), links).rates().aer),
        })
        .collect();
    let has_errors = heads.iter().any(|head| head.aer.is_some());
    let says = if has_errors {
        "The head that comes nearest to the outlined links first. Click one to make it the alignment."
    } else {
        "Layer by layer. Click one to make it the alignment; with View, Links of the aligner, they are sorted by their error."
    };
    labels::note(ui, says);
    heads.sort_by(|a, b| a.aer.unwrap_or(0.0).total_cmp(&b.aer.unwrap_or(0.0)));
    let map = ColourMap::at(theme::map_at(window.app.view.settings().palette_on(ui.visuals().dark_mode)));
    ScrollArea::vertical().id_salt(("heads", column.id)).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(theme::SPACE_2, theme::SPACE_2);
            for head in &heads {
                if head_ui(ui, head, map) {
                    let heads = Some(HeadChoice { layer: head.layer, heads: vec![head.head] });
                    let chosen = ModelChoice { heads, ..choice::split(&column.folder).1 };
                    window.push(ColumnCommand::Choose { column: column.id, chosen });
                    window.push(SettingsCommand::SetShown(Shown::Alpha));
                }
            }
        });
    });
}

/// For each word the source word at which it looks most, `</s>` left aside on both sides, and a target language.
fn links_of(alpha: &Alignment, table: &AlignmentTable) -> Vec<Link> {
    let is_word = |j: usize| table.source.get(j).is_some_and(SourceWord::is_word);
    let only = |row: &[f32]| row.iter().enumerate().map(|(j, alpha)| if is_word(j) { *alpha } else { 0.0 }).collect();
    let alpha = Alignment::from_rows(&alpha.iter().map(only).collect::<Vec<Vec<f32>>>());
    let words = alpha.columns();
    let rows = table.target.iter().position(|word| word.is_eos).unwrap_or(table.target.len());
    hard::links(&alpha.resized(rows, words, 0.0))
}

fn head_ui(ui: &mut Ui, head: &HeadPicture<'_>, map: &ColourMap) -> bool {
    let t = theme::tokens(ui);
    let (rows, columns) = (head.alpha.rows().max(1), head.alpha.columns().max(1));
    let cell = SIDE / rows.max(columns) as f32;
    let (rect, response) = ui.allocate_exact_size(Vec2::new(SIDE, SIDE + TITLE), Sense::click());
    let error = head.aer.map(|aer| format!(", AER {aer:.2}")).unwrap_or_default();
    let said = format!("Layer {}, head {}{error}", head.layer, head.head);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &said));
    if ui.is_rect_visible(rect) {
        let short = head.aer.map_or(String::new(), |aer| format!("  {aer:.2}"));
        let colour = if response.hovered() { t.accent } else { t.weak };
        let font = egui::FontId::proportional(theme::TEXT_SMALL);
        let text = format!("{}.{}{short}", head.layer, head.head);
        ui.painter().text(rect.left_top(), egui::Align2::LEFT_TOP, text, font, colour);
        let corner = rect.left_top() + vec2(0.0, TITLE);
        for i in 0..head.alpha.rows() {
            for (j, weight) in head.alpha.row(i).iter().enumerate() {
                let at = corner + vec2(j as f32 * cell, i as f32 * cell);
                let square = Rect::from_min_max(at, pos2(at.x + cell, at.y + cell));
                ui.painter().rect_filled(square, 0.0, theme::colour(map.colour(*weight)));
            }
        }
        let frame = Rect::from_min_size(corner, vec2(columns as f32 * cell, rows as f32 * cell));
        ui.painter().rect_stroke(frame, 0.0, (1.0, colour), egui::StrokeKind::Outside);
    }
    response.on_hover_text(format!("{said}: click to make it the alignment")).clicked()
}
