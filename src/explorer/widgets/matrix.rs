//! A learned matrix as a small picture of block means, with its size, its ends, and the block under the mouse.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Color32, ColorImage, Label, Rect, RichText, Sense, TextureHandle, TextureOptions, Ui, pos2, vec2};

use crate::widgets::{marks, node, theme};
use engine::models::anatomy::Shrunk;
use figure::palette::Palette;

const BLOCK: f32 = 1.75;
const LEAST: (f32, f32) = (48.0, 9.0);
pub const MATRIX: f32 = 116.0;

/// Pictures of matrices as textures, for a set of matrices and colours.
#[derive(Default)]
pub struct Textures {
    of: Option<(Arc<[Shrunk]>, bool)>,
    made: Vec<(String, TextureHandle)>,
}

impl Textures {
    pub fn follow(&mut self, ui: &Ui, matrices: &Arc<[Shrunk]>) {
        let is_dark = ui.visuals().dark_mode;
        let is_same = |(known, dark): &(Arc<[Shrunk]>, bool)| Arc::ptr_eq(known, matrices) && *dark == is_dark;
        if !self.of.as_ref().is_some_and(is_same) {
            *self = Self { of: Some((Arc::clone(matrices), is_dark)), made: Vec::new() };
        }
    }
}

pub fn matrix(ui: &mut Ui, textures: &mut Textures, matrix: &Shrunk) {
    let t = *theme::tokens(ui);
    ui.set_width(MATRIX);
    ui.spacing_mut().item_spacing.y = 1.0;
    let (down, across) = matrix.blocks;
    let side = vec2((across as f32 * BLOCK).max(LEAST.0), (down as f32 * BLOCK).max(LEAST.1));
    let (rect, response) = ui.allocate_exact_size(side, Sense::hover());
    if ui.is_rect_visible(rect) {
        let texture = texture(ui, textures, matrix);
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(texture, rect, whole, Color32::WHITE);
    }
    let (low, high) = matrix.ends();
    let size = size_text(matrix);
    node(&response, Role::Figure, || {
        tr!(
            "{} {size}, numbers from {low} to {high}",
            matrix.name,
            size,
            low = format_args!("{low:.3}"),
            high = format_args!("{high:.3}")
        )
    });
    let text = |text: String| Label::new(RichText::new(text).size(theme::TEXT_SMALL).color(t.weak)).truncate();
    ui.horizontal(|ui| {
        marks::equation_ui(ui, &short(&matrix.name), theme::TEXT_SMALL);
        ui.add(text(size));
    });
    ui.add(text(tr!("{low} to {high}", low = format_args!("{low:.2}"), high = format_args!("{high:.2}"))));
    ui.add_space(theme::SPACE_1);
    let hover = response.hover_pos();
    let name = format!("{}, {}", matrix.name, size_text(matrix));
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(name);
        if let Some(text) = hover.and_then(|at| block_text(matrix, (at - rect.min) / rect.size())) {
            ui.label(text);
        }
    });
}

fn block_text(matrix: &Shrunk, at: egui::Vec2) -> Option<String> {
    let place = |share: f32, of: usize| ((share * of as f32) as usize).min(of.saturating_sub(1));
    let (row, column) = (place(at.y, matrix.blocks.0), place(at.x, matrix.blocks.1));
    let block = matrix.at(row, column)?;
    let (rows, columns) = (matrix.rows(row), matrix.columns(column));
    let from_to = |range: std::ops::Range<usize>| match range.len() {
        1 => range.end.to_string(),
        _ => tr!("{} to {}", range.start + 1, range.end),
    };
    let place = match matrix.size.0 {
        1 => tr!("number {}", from_to(columns.clone())),
        _ => tr!("row {}, column {}", from_to(rows.clone()), from_to(columns.clone())),
    };
    if rows.len() * columns.len() == 1 {
        return Some(format!("{place}: {:.4}", block.mean));
    }
    Some(tr!(
        "{place}: mean {}, from {} to {}",
        format_args!("{:.4}", block.mean),
        format_args!("{:.3}", block.least),
        format_args!("{:.3}", block.greatest),
        place
    ))
}

fn size_text(matrix: &Shrunk) -> String {
    match matrix.size {
        (1, columns) => columns.to_string(),
        (rows, columns) => format!("{rows} \u{d7} {columns}"),
    }
}

/// `decoder.0.W_i` as `W_i (0)`. The V of a decoder is the V' of its paper.
fn short(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        ["decoder", "V"] => "V'".to_owned(),
        [_, layer, letter] if layer.parse::<usize>().is_ok() => format!("{letter} ({layer})"),
        [.., letter] => letter.to_owned(),
        [] => String::new(),
    }
}

fn texture(ui: &Ui, textures: &mut Textures, matrix: &Shrunk) -> egui::TextureId {
    if let Some((_, known)) = textures.made.iter().find(|(name, _)| *name == matrix.name) {
        return known.id();
    }
    let image = image(matrix, theme::palette(ui));
    let handle = ui.ctx().load_texture(format!("matrix {}", matrix.name), image, TextureOptions::NEAREST);
    let id = handle.id();
    textures.made.push((matrix.name.clone(), handle));
    id
}

fn image(matrix: &Shrunk, palette: &Palette) -> ColorImage {
    let largest = matrix.largest().max(f32::MIN_POSITIVE);
    let colour = |mean: f32| theme::colour(palette.signed(mean / largest).over(palette.panel));
    let pixels = matrix.values.iter().map(|block| colour(block.mean)).collect();
    ColorImage::new([matrix.blocks.1, matrix.blocks.0], pixels)
}
