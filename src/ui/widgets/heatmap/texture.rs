//! Floor 9: a matrix as pictures of one pixel a cell, kept on the graphics card. What is in view is made when it is
//! first looked at, and again only when its numbers or colours have changed.

use std::collections::HashMap;
use std::ops::Range;

use egui::{Rect, TextureHandle, TextureId, TextureOptions, Ui};

use crate::session::Shown;
use crate::ui::theme::ColourMap;
use crate::ui::widgets::heatmap::layout::Grid;
use crate::ui::widgets::heatmap::{Heatmap, paint};

/// Rows and columns of a tile. Graphics cards refuse large textures, and a tile takes less than a millisecond.
const TILE: usize = 256;

/// What a tile was made from: revision of the table, place of the palette, which numbers.
type Key = (u64, usize, Shown);

/// A matrix as tiles.
#[derive(Default)]
pub struct Texture {
    key: Option<Key>,
    /// The ends of the scale of the whole matrix.
    ends: (f32, f32),
    tiles: HashMap<(usize, usize), (Key, TextureHandle)>,
}

impl Texture {
    /// The tiles in view and where they stand, up to date.
    pub fn in_view(&mut self, ui: &Ui, heatmap: &Heatmap<'_>, grid: &Grid) -> Vec<(Rect, TextureId)> {
        let key = (heatmap.table.revision, heatmap.palette, heatmap.shown);
        let rows = tiles(&grid.visible_rows(ui.clip_rect()));
        let columns = tiles(&grid.visible_columns(ui.clip_rect()));
        if self.key != Some(key) {
            self.key = Some(key);
            self.ends = paint::scale(heatmap.matrix, heatmap.shown);
            self.tiles.retain(|(row, column), _| rows.contains(row) && columns.contains(column));
        }
        let places = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        places.map(|place| self.tile(ui, heatmap, grid, key, place)).collect()
    }

    fn tile(
        &mut self,
        ui: &Ui,
        heatmap: &Heatmap<'_>,
        grid: &Grid,
        key: Key,
        place: (usize, usize),
    ) -> (Rect, TextureId) {
        let rows = place.0 * TILE..((place.0 + 1) * TILE).min(grid.rows);
        let columns = place.1 * TILE..((place.1 + 1) * TILE).min(grid.columns);
        let image = || paint::image(heatmap.matrix, ColourMap::at(heatmap.palette), self.ends, &rows, &columns);
        let (made, handle) = self
            .tiles
            .entry(place)
            .or_insert_with(|| (key, ui.ctx().load_texture("alignment", image(), TextureOptions::NEAREST)));
        if *made != key {
            handle.set(image(), TextureOptions::NEAREST);
            *made = key;
        }
        (grid.cells_rect(&rows, &columns), handle.id())
    }
}

/// The tiles that hold these rows or columns.
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
