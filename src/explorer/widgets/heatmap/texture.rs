//! A matrix as textures of a pixel a cell, made when they are first visible and when numbers or colours change.

use std::{collections::HashMap, collections::hash_map::Entry, ops::Range};

use egui::{Color32, ColorImage, Painter, Rect, TextureHandle, TextureOptions, pos2};

use crate::widgets::theme;
use figure::heatmap::layout::visible;
use figure::mark::{Cells, Image, Scale};

/// Rows and columns of a tile. Graphics cards refuse large textures, and a tile takes less than a millisecond.
const TILE: usize = 256;
const UV: Rect = Rect { min: pos2(0.0, 0.0), max: pos2(1.0, 1.0) };

type Key = (u64, &'static str, Scale);

/// A matrix as tiles.
#[derive(Default)]
pub struct Texture {
    key: Option<Key>,
    ends: (f32, f32),
    tiles: HashMap<(usize, usize), (Key, TextureHandle)>,
}

impl Texture {
    pub fn paint(&mut self, painter: &Painter, image: &Image<'_>) {
        let (cells, area) = (&image.cells, image.area);
        let (rows, columns) = (cells.numbers.rows(), cells.numbers.columns());
        if rows == 0 || columns == 0 {
            return;
        }
        let side = (area.width() / columns as f32, area.height() / rows as f32);
        let clip = painter.clip_rect();
        let across = tiles(&visible(clip.left() - area.left(), clip.right() - area.left(), side.0, columns));
        let down = tiles(&visible(clip.top() - area.top(), clip.bottom() - area.top(), side.1, rows));
        let key = (cells.revision, cells.map.name, cells.scale);
        if self.key != Some(key) {
            self.key = Some(key);
            self.ends = cells.scale.ends(cells.numbers);
            self.tiles.retain(|(row, column), _| down.contains(row) && across.contains(column));
        }
        for place in down.flat_map(|row| across.clone().map(move |column| (row, column))) {
            let rows = place.0 * TILE..((place.0 + 1) * TILE).min(rows);
            let columns = place.1 * TILE..((place.1 + 1) * TILE).min(columns);
            let corner = |row: usize, column: usize| {
                pos2(area.left() + column as f32 * side.0, area.top() + row as f32 * side.1)
            };
            let rect = Rect::from_min_max(corner(rows.start, columns.start), corner(rows.end, columns.end));
            let tile = self.tile(painter, cells, key, place, rows, columns);
            painter.image(tile.id(), rect, UV, Color32::WHITE);
        }
    }

    fn tile(
        &mut self, painter: &Painter, cells: &Cells<'_>, key: Key, place: (usize, usize), rows: Range<usize>,
        columns: Range<usize>,
    ) -> &TextureHandle {
        let ends = self.ends;
        let image = || {
            let size = [columns.len(), rows.len()];
            ColorImage::new(size, cells.pixels(ends, rows, columns).map(theme::colour).collect())
        };
        match self.tiles.entry(place) {
            Entry::Vacant(free) => {
                let made = painter.ctx().load_texture("alignment", image(), TextureOptions::NEAREST);
                &free.insert((key, made)).1
            }
            Entry::Occupied(taken) => {
                let (made, handle) = taken.into_mut();
                if *made != key {
                    handle.set(image(), TextureOptions::NEAREST);
                    *made = key;
                }
                handle
            }
        }
    }
}

fn tiles(cells: &Range<usize>) -> Range<usize> {
    if cells.is_empty() { 0..0 } else { cells.start / TILE..(cells.end - 1) / TILE + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_in_view_lies_in_a_tile() {
        for (cells, expect) in
            [(0..0, 0..0), (0..1, 0..1), (0..256, 0..1), (0..257, 0..2), (255..257, 0..2), (256..600, 1..3)]
        {
            assert_eq!(tiles(&cells), expect, "{cells:?}");
        }
    }
}
