//! Floor 9: the icon of the window, drawn as numbers: an alignment with one crossing.

use crate::ui::theme;

const SIDE: usize = 64;
/// alpha of a tiny alignment: "the red shoe" with its adjective behind.
const CELLS: [[f32; 3]; 3] = [[1.0, 0.1, 0.0], [0.05, 0.25, 1.0], [0.0, 0.95, 0.3]];

/// Three by three cells on a rounded dark square.
#[must_use]
pub fn icon() -> egui::IconData {
    let map = theme::ColourMap::at(2);
    let mut rgba = Vec::with_capacity(SIDE * SIDE * 4);
    for y in 0..SIDE {
        for x in 0..SIDE {
            rgba.extend_from_slice(&pixel(map, x, y));
        }
    }
    egui::IconData { rgba, width: SIDE as u32, height: SIDE as u32 }
}

fn pixel(map: &theme::ColourMap, x: usize, y: usize) -> [u8; 4] {
    let (border, cell, gap) = (5, 18, 2);
    let place = |v: usize| v.checked_sub(border).map(|v| (v / cell, v % cell));
    let (Some((column, dx)), Some((row, dy))) = (place(x), place(y)) else {
        return map.colour(0.0).to_array();
    };
    if column > 2 || row > 2 || dx < gap || dy < gap || dx >= cell - gap + 1 || dy >= cell - gap + 1 {
        return map.colour(0.0).to_array();
    }
    map.colour(0.12 + 0.88 * CELLS[row][column]).to_array()
}
