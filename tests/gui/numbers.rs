//! Widgets as numbers: the heatmap's layout, colour maps, wrapping, the order of right-to-left text.

use egui::{Rect, Vec2, pos2, vec2};
use interlinear::session::{Matrix, Shown};
use interlinear::ui::views::column::Parts;
use interlinear::ui::widgets::heatmap::layout::{Gaze, Grid, Metrics, Needs, Zoom};
use interlinear::ui::widgets::heatmap::paint;
use interlinear::ui::widgets::{strip, words};
use interlinear::ui::{bidi, shortcuts, theme};

fn needs(rows: usize, columns: usize) -> Needs {
    Needs { rows, columns, source_width: 60.0, target_width: 70.0, text_height: 15.0, pixels_per_point: 1.0 }
}

fn grid(rows: usize, columns: usize, cell: f32) -> Grid {
    Grid { origin: pos2(100.0, 50.0), cell, rows, columns }
}

#[test]
fn cells_are_square_whole_points_and_readable_unless_told_otherwise() {
    for (rows, columns) in [(1, 1), (5, 7), (14, 16), (60, 40), (200, 200)] {
        let metrics = Metrics::choose(&needs(rows, columns), vec2(480.0, 300.0), Zoom::Auto);
        assert!(
            (theme::CELL_AUTO.0..=theme::CELL_AUTO.1).contains(&metrics.cell),
            "{rows}x{columns}: {}",
            metrics.cell
        );
        assert_eq!(metrics.cell.fract(), 0.0, "{rows}x{columns}");
        assert_eq!(metrics.matrix(rows, columns), vec2(columns as f32, rows as f32) * metrics.cell);
    }
}

#[test]
fn cells_are_whole_pixels_at_any_scale() {
    for pixels_per_point in [0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 2.7] {
        for zoom in [Zoom::Auto, Zoom::Whole, Zoom::Fixed(2.0), Zoom::Fixed(15.0), Zoom::Fixed(96.0)] {
            let needs = Needs { pixels_per_point, ..needs(40, 50) };
            let pixels = Metrics::choose(&needs, vec2(900.0, 700.0), zoom).cell * pixels_per_point;
            assert!(
                pixels >= 1.0 && (pixels - pixels.round()).abs() < 1e-3,
                "{zoom:?} at {pixels_per_point}: {pixels}"
            );
        }
    }
}

#[test]
fn all_of_200_by_200_fits_when_asked() {
    let room = vec2(900.0, 700.0);
    let metrics = Metrics::choose(&needs(200, 200), room, Zoom::Whole);
    let matrix = metrics.matrix(200, 200);
    assert!(matrix.x + metrics.left + metrics.right <= room.x && matrix.y + metrics.top <= room.y, "{metrics:?}");
    assert!(metrics.cell >= theme::CELL_LIMITS.0);
}

#[test]
fn labels_slant_only_when_they_must_and_thin_out_when_cells_are_small() {
    let at = |side| Metrics::choose(&needs(5, 5), vec2(900.0, 900.0), Zoom::Fixed(side)).slant;
    assert_eq!(at(80.0).angle, 0.0);
    assert!((0.7..1.1).contains(&at(24.0).angle));
    assert_eq!(at(24.0).stride, 1);
    assert!(at(4.0).angle > 1.5);
    assert_eq!(at(4.0).stride, 4);
}

#[test]
fn a_point_hits_the_cell_that_holds_it() {
    let grid = grid(200, 200, 7.0);
    for (i, j) in [(0, 0), (0, 199), (199, 0), (123, 45), (199, 199)] {
        assert_eq!(grid.hit(grid.cell_rect(i, j).center()), Some((i, j)));
    }
    for outside in
        [pos2(99.9, 60.0), pos2(120.0, 49.9), grid.rect().max + vec2(0.1, -1.0), grid.rect().max + vec2(-1.0, 0.1)]
    {
        assert_eq!(grid.hit(outside), None, "{outside:?}");
    }
}

#[test]
fn only_what_the_clip_shows_is_visible() {
    let grid = grid(200, 200, 10.0);
    let clip = Rect::from_min_size(grid.origin + vec2(95.0, 1005.0), vec2(100.0, 50.0));
    assert_eq!(grid.visible_columns(clip), 9..20);
    assert_eq!(grid.visible_rows(clip), 100..106);
    let away = Rect::from_min_size(pos2(-500.0, -500.0), vec2(10.0, 10.0));
    assert!(grid.visible_rows(away).is_empty() && grid.visible_columns(away).is_empty());
    let below = Rect::from_min_size(pos2(5000.0, 5000.0), vec2(10.0, 10.0));
    assert!(grid.visible_rows(below).is_empty() && grid.visible_columns(below).is_empty());
}

#[test]
fn rows_and_columns_meet_in_cells() {
    let grid = grid(9, 4, 13.0);
    assert_eq!(grid.row_rect(3).intersect(grid.column_rect(2)), grid.cell_rect(3, 2));
    assert_eq!(grid.rect().size(), vec2(52.0, 117.0));
}

#[test]
fn a_slanted_label_is_found_along_its_slope() {
    let grid = grid(3, 5, 20.0);
    let (foot, angle) = (50.0, 55.0_f32.to_radians());
    for up in [0.0, 10.0, 40.0] {
        let point = pos2(grid.column_rect(2).center().x + up / angle.tan(), foot - up);
        assert_eq!(grid.column_of_label(point, foot, angle), Some(2), "{up}");
    }
    assert_eq!(grid.column_of_label(pos2(10.0, 40.0), foot, angle), None);
}

#[test]
fn every_palette_is_monotone_in_luminance() {
    for map in theme::COLOUR_MAPS {
        let steps: Vec<f32> = (0..=100).map(|n| theme::luminance(map.colour(n as f32 / 100.0))).collect();
        let rises = steps[100] > steps[0];
        for pair in steps.windows(2) {
            let grows = if rises { pair[1] - pair[0] } else { pair[0] - pair[1] };
            assert!(grows > -1e-3, "{}: {pair:?}", map.name);
        }
        assert!((steps[100] - steps[0]).abs() > 0.5, "{} has too little contrast", map.name);
    }
}

#[test]
fn the_first_palette_is_black_for_0_and_white_for_1_and_numbers_outside_are_cut() {
    let gray = theme::ColourMap::at(0);
    assert_eq!(gray.colour(0.0), egui::Color32::BLACK);
    assert_eq!(gray.colour(1.0), egui::Color32::WHITE);
    assert_eq!(gray.colour(7.0), egui::Color32::WHITE);
    assert_eq!(gray.colour(f32::NAN), egui::Color32::BLACK);
}

#[test]
fn alpha_is_drawn_as_it_is_and_energies_from_least_to_greatest() {
    let drawn = |matrix: &Matrix, shown, columns| {
        paint::image(matrix, theme::ColourMap::at(0), paint::scale(matrix, shown), &(0..1), &columns)
    };
    let alpha = Matrix { rows: 1, columns: 3, values: vec![0.0, 0.5, 1.0] };
    let image = drawn(&alpha, Shown::Alpha, 0..3);
    assert_eq!(image.size, [3, 1]);
    assert_eq!(image.pixels[1], egui::Color32::from_gray(128));
    let energies = Matrix { rows: 1, columns: 3, values: vec![-4.0, 0.0, 4.0] };
    assert_eq!(drawn(&energies, Shown::Energies, 0..3).pixels, image.pixels);
    assert_eq!(
        drawn(&energies, Shown::Energies, 1..3).pixels,
        image.pixels[1..],
        "a part has the colours of the whole"
    );
}

#[test]
fn text_is_readable_in_both_themes() {
    for dark in [false, true] {
        let t = theme::of(dark);
        for (name, text, back, least) in [
            ("text", t.text, t.panel, 7.0),
            ("weak", t.weak, t.panel, 4.5),
            ("accent", t.accent, t.panel, 4.5),
            ("on accent", t.on_accent, t.accent, 4.5),
            ("text on selection", t.text, t.accent_soft, 7.0),
            ("warm", t.warm, t.panel, 4.5),
            ("error", t.error, t.error_soft, 4.5),
        ] {
            let (a, b) = (theme::luminance(text), theme::luminance(back));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= least, "dark {dark}: {name} has a contrast of {contrast:.1}");
        }
    }
}

#[test]
fn doubt_grows_as_probability_falls() {
    let t = theme::of(false);
    let alpha = |p: f32| theme::doubt(t, p.ln()).a();
    assert_eq!(alpha(1.0), 0);
    assert!(alpha(0.9) < alpha(0.5) && alpha(0.5) < alpha(0.1) && alpha(0.1) < alpha(0.01));
    assert_eq!(alpha(0.01), alpha(0.0));
}

#[test]
fn words_wrap_and_run_from_the_right_when_they_must() {
    let sizes = [vec2(40.0, 20.0), vec2(40.0, 20.0), vec2(40.0, 20.0)];
    let (corners, height) = words::wrap(&sizes, 100.0, vec2(5.0, 2.0), false);
    assert_eq!(corners, [pos2(0.0, 0.0), pos2(45.0, 0.0), pos2(0.0, 22.0)]);
    assert_eq!(height, 42.0);
    let (corners, _) = words::wrap(&sizes, 100.0, vec2(5.0, 2.0), true);
    assert_eq!(corners, [pos2(60.0, 0.0), pos2(15.0, 0.0), pos2(60.0, 22.0)]);
    assert_eq!(words::wrap(&[], 100.0, Vec2::ZERO, false).1, 0.0);
}

#[test]
fn right_to_left_text_is_put_into_visual_order() {
    let check = |line: &str, seen: &str| assert_eq!(bidi::visual(line), seen);
    check("plain text", "plain text");
    check("שלום עולם", "עולם שלום");
    check("مرحبا بالعالم.", ".بالعالم مرحبا");
    check("שלום abc", "abc שלום");
    check("say שלום עולם now", "say עולם שלום now");
    check("שלום (עולם)", "(עולם) שלום");
    assert!(bidi::starts_right("  שלום abc") && !bidi::starts_right("abc שלום") && !bidi::starts_right("123"));
}

#[test]
fn a_vector_of_any_length_has_a_box_for_every_number() {
    for count in [1, 3, 320, 512, 1000] {
        let layout = strip::Layout::choose(count, vec2(450.0, 130.0));
        for n in [0, count / 2, count - 1] {
            let centre = layout.cell(n).center();
            assert_eq!(layout.hit(centre.x, centre.y, count), Some(n), "{n} of {count}");
            assert!(layout.cell(n).right() <= 450.5);
        }
        assert_eq!(layout.hit(-1.0, 0.0, count), None);
    }
}

#[test]
fn the_parts_of_a_column_never_overlap() {
    for (height, output, beam) in [(300.0, 30.0, true), (460.0, 60.0, true), (460.0, 500.0, false), (900.0, 60.0, true)]
    {
        let parts = Parts::split(vec2(400.0, height), output, beam, beam);
        let all = [parts.header, parts.mixing, parts.output, parts.picture, parts.beam];
        for pair in all.windows(2) {
            assert!(pair[0].bottom() <= pair[1].top() + 0.01, "{height}: {parts:?}");
        }
        assert!(parts.beam.bottom() <= height && parts.picture.height() > 90.0, "{height}: {parts:?}");
    }
}

#[test]
fn no_key_does_two_things() {
    for (n, a) in shortcuts::bindings().enumerate() {
        for b in shortcuts::bindings().skip(n + 1) {
            let shared = a.keys.iter().find(|key| b.keys.contains(key));
            assert!(shared.is_none() || a.act == b.act, "{} and {} share a key", a.name, b.name);
        }
    }
}

#[test]
fn p_t_stands_at_its_fraction_of_a_column() {
    let grid = grid(3, 5, 20.0);
    for (p_t, x) in [(0.0, 110.0), (2.0, 150.0), (2.5, 160.0), (4.9, 200.0), (-0.9, 100.0)] {
        assert_eq!(grid.position(1, p_t), pos2(x, 80.0), "{p_t}");
    }
    let [left, top, right, bottom] = grid.gaze_mark(1, 2.0);
    assert_eq!((left.y, right.y, top.x, bottom.x), (80.0, 80.0, 150.0, 150.0));
    assert!(
        right.x - left.x > 5.0 && grid.cell_rect(1, 2).contains_rect(Rect::from_points(&[left, top, right, bottom]))
    );
}

#[test]
fn the_window_holds_the_words_within_d_of_p_t() {
    // (p_t, D, words of 6)
    let cases = [
        (2.0, 1, Some(1..=3)),
        (2.31, 1, Some(2..=3)),
        (0.4, 2, Some(0..=2)),
        (5.5, 2, Some(4..=5)),
        (2.5, 0, None),
        (3.0, 0, Some(3..=3)),
        (2.5, 10, Some(0..=5)),
        (f32::NAN, 3, None),
    ];
    for (p_t, window, words) in cases {
        assert_eq!(Gaze { p_t: &[p_t], window }.words(0, 6), words, "{p_t} {window}");
    }
    assert_eq!(Gaze { p_t: &[1.0], window: 1 }.words(1, 6), None, "a row that is not there");
    let grid = grid(4, 6, 30.0);
    let gaze = Gaze { p_t: &[1.0, 1.0, 3.0, f32::NAN], window: 1 };
    let lines = grid.gaze_outline(&gaze, 0..4);
    let has = |from: (f32, f32), to: (f32, f32)| {
        let at = |(j, i): (f32, f32)| grid.origin + vec2(j, i) * grid.cell;
        lines.contains(&[at(from), at(to)])
    };
    assert!(has((0.0, 0.0), (3.0, 0.0)) && has((0.0, 0.0), (0.0, 1.0)) && has((3.0, 0.0), (3.0, 1.0)), "{lines:?}");
    assert!(!has((0.0, 1.0), (3.0, 1.0)), "nothing between two rows that look at the same words");
    assert!(has((0.0, 2.0), (2.0, 2.0)) && has((3.0, 2.0), (5.0, 2.0)) && has((2.0, 3.0), (5.0, 3.0)), "{lines:?}");
    assert_eq!(lines.len(), 10);
    let frame = grid.gaze_frame(2, &(1..=3));
    let cells = grid.cell_rect(2, 1).union(grid.cell_rect(2, 3));
    assert!(cells.contains_rect(frame) && frame.width() > 80.0, "{frame:?}");
}
