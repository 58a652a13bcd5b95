//! Figures as numbers: where marks stand, their colours, and the files that are written of them.

#[path = "figure/files.rs"]
mod files;
#[path = "figure/links.rs"]
mod links;
#[path = "figure/outlines.rs"]
mod outlines;
#[path = "figure/plane.rs"]
mod plane;
#[path = "figure/plot.rs"]
mod plot;

use std::sync::LazyLock;

use interlinear::figure::geometry::{Area, point, size};
use interlinear::figure::heatmap::layout::{Gaze, Grid, Metrics, Needs, Zoom};
use interlinear::figure::heatmap::{Heatmap, HeatmapMarks, PAGE_CELL};
use interlinear::figure::label::{Label, Tone};
use interlinear::figure::mark::{
    Across, BorderSide, Cells, Curve, Down, LinesMark, Mark, Polygon, Rectangle, Scale, Stroke, TextMark,
};
use interlinear::figure::measure::{SansSerif, TextMeasure as _, broken, cut};
use interlinear::figure::palette::{COLOUR_MAPS, ColourMap, Palette, Rgba, SERIES};
use interlinear::figure::sizes::{CELL_AUTO, CELL_LIMITS, LABEL_MAX};
use interlinear::figure::{Figure, bars};
use interlinear::figure::{heatmap::outlines::Outlined, provenance::Provenance, strip::StripLayout, svg::svg};
use interlinear::{analysis::alignment::Alignment, figure::beam::BeamRow};
use roxmltree::{Document, Node};

fn needs(rows: usize, columns: usize) -> Needs {
    let (source_width, target_width, corner_width) = (60.0, 70.0, 0.0);
    Needs { rows, columns, source_width, target_width, corner_width, text_height: 15.0, pixels_per_point: 1.0 }
}

fn grid(rows: usize, columns: usize, cell: f32) -> Grid {
    Grid { origin: point(100.0, 50.0), cell, rows, columns }
}

#[test]
fn cells_are_square_whole_points_and_readable_unless_told_otherwise() {
    for (rows, columns) in [(1, 1), (5, 7), (14, 16), (60, 40), (200, 200)] {
        let metrics = Metrics::choose(&needs(rows, columns), size(480.0, 300.0), Zoom::Auto);
        assert!((CELL_AUTO.0..=CELL_AUTO.1).contains(&metrics.cell), "{rows}x{columns}: {}", metrics.cell);
        assert_eq!(metrics.cell.fract(), 0.0, "{rows}x{columns}");
        assert_eq!(metrics.matrix(rows, columns), size(columns as f32 * metrics.cell, rows as f32 * metrics.cell));
    }
}

#[test]
fn cells_are_whole_pixels_at_any_scale() {
    for pixels_per_point in [0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 2.7] {
        for zoom in [Zoom::Auto, Zoom::Whole, Zoom::Fixed(2.0), Zoom::Fixed(15.0), Zoom::Fixed(96.0)] {
            let needs = Needs { pixels_per_point, ..needs(40, 50) };
            let pixels = Metrics::choose(&needs, size(900.0, 700.0), zoom).cell * pixels_per_point;
            assert!(
                pixels >= 1.0 && (pixels - pixels.round()).abs() < 1e-3,
                "{zoom:?} at {pixels_per_point}: {pixels}"
            );
        }
    }
}

#[test]
fn all_of_200_by_200_fits_when_asked() {
    let room = size(900.0, 700.0);
    let metrics = Metrics::choose(&needs(200, 200), room, Zoom::Whole);
    let matrix = metrics.matrix(200, 200);
    assert!(matrix.x + metrics.left + metrics.right <= room.x && matrix.y + metrics.top <= room.y, "{metrics:?}");
    assert!(metrics.cell >= CELL_LIMITS.0);
}

#[test]
fn labels_slant_only_when_they_must_and_thin_out_when_cells_are_small() {
    let at = |side| Metrics::choose(&needs(5, 5), size(900.0, 900.0), Zoom::Fixed(side)).slant;
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
        assert_eq!(grid.hit(grid.cell_area(i, j).center()), Some((i, j)));
    }
    for outside in
        [point(99.9, 60.0), point(120.0, 49.9), grid.area().max + size(0.1, -1.0), grid.area().max + size(-1.0, 0.1)]
    {
        assert_eq!(grid.hit(outside), None, "{outside:?}");
    }
}

#[test]
fn only_what_the_clip_shows_is_visible() {
    let grid = grid(200, 200, 10.0);
    let clip = Area::from_min_size(grid.origin + size(95.0, 1005.0), size(100.0, 50.0));
    assert_eq!(grid.visible_columns(clip), 9..20);
    assert_eq!(grid.visible_rows(clip), 100..106);
    let away = Area::from_min_size(point(-500.0, -500.0), size(10.0, 10.0));
    assert!(grid.visible_rows(away).is_empty() && grid.visible_columns(away).is_empty());
    let below = Area::from_min_size(point(5000.0, 5000.0), size(10.0, 10.0));
    assert!(grid.visible_rows(below).is_empty() && grid.visible_columns(below).is_empty());
}

#[test]
fn rows_and_columns_meet_in_cells() {
    let grid = grid(9, 4, 13.0);
    assert_eq!(grid.row_area(3).intersect(grid.column_area(2)), grid.cell_area(3, 2));
    assert_eq!(grid.area().size(), size(52.0, 117.0));
}

#[test]
fn a_slanted_label_is_found_along_its_slope() {
    let grid = grid(3, 5, 20.0);
    let (foot, angle) = (50.0, 55.0_f32.to_radians());
    for up in [0.0, 10.0, 40.0] {
        let point = point(grid.column_area(2).center().x + up / angle.tan(), foot - up);
        assert_eq!(grid.column_of_label(point, foot, angle), Some(2), "{up}");
    }
    assert_eq!(grid.column_of_label(point(10.0, 40.0), foot, angle), None);
}

#[test]
fn every_palette_is_monotone_in_luminance() {
    for map in COLOUR_MAPS {
        let steps: Vec<f32> = (0..=100).map(|n| map.colour(n as f32 / 100.0).luminance()).collect();
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
    let gray = ColourMap::at(0);
    assert_eq!(gray.colour(0.0).channels(), [0, 0, 0, 255]);
    assert_eq!(gray.colour(1.0).channels(), [255; 4]);
    assert_eq!(gray.colour(7.0), gray.colour(1.0));
    assert_eq!(gray.colour(f32::NAN), gray.colour(0.0));
}

#[test]
fn alpha_is_drawn_as_it_is_and_energies_from_least_to_greatest() {
    let drawn = |values: &[f32], scale: Scale, columns| {
        let numbers = &Alignment::from_rows(&[values]);
        let cells = Cells { numbers, map: ColourMap::at(0), scale, revision: 1 };
        let pixels = cells.pixels(scale.ends(numbers), 0..1, columns);
        pixels.map(|pixel| pixel.channels()[0]).collect::<Vec<u8>>()
    };
    assert_eq!(drawn(&[0.0, 0.5, 1.0], Scale::Unit, 0..3), [0, 128, 255]);
    let energies = [-4.0, 0.0, 4.0];
    assert_eq!(drawn(&energies, Scale::Range, 0..3), [0, 128, 255]);
    assert_eq!(drawn(&energies, Scale::Range, 1..3), [128, 255], "a part has the colours of the whole");
}

#[test]
fn a_legend_has_no_side_where_no_number_lies() {
    assert_eq!(Scale::Signed.legend(Some((0.0, 0.25))), (0.5, (0.0, 0.25)), "a divergence is not below 0");
    assert_eq!(Scale::Signed.legend(Some((-0.5, 0.25))), (0.0, (-0.5, 0.5)));
    assert_eq!(Scale::Range.legend(Some((-4.0, 4.0))), (0.0, (-4.0, 4.0)));
    let numbers = Alignment::from_rows(&[[1.0, 2.0]]);
    assert_eq!(Scale::Between(-4.0, 21.975).ends(&numbers), (-4.0, 21.975), "several pictures have one scale");
}

/// The contrast of WCAG 2, from 1 to 21.
fn contrast(a: Rgba, b: Rgba) -> f32 {
    let (a, b) = (a.luminance(), b.luminance());
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn what_has_the_keyboard_and_every_series_stand_out_from_every_ground() {
    for dark in [false, true] {
        let t = Palette::of(dark);
        let series = (0..SERIES.len()).map(|place| (format!("series {place}"), Palette::series(place, dark)));
        let frames = [("focus".to_owned(), t.accent), ("what is set".to_owned(), t.set)];
        for (name, colour) in series.chain(frames) {
            for (ground, back) in [
                ("ground", t.ground),
                ("panel", t.panel),
                ("sunken", t.sunken),
                ("raised", t.raised),
                ("selection", t.accent_soft),
            ] {
                let contrast = contrast(colour, back);
                assert!(contrast >= 3.0, "dark {dark}: {name} on {ground} has a contrast of {contrast:.1}");
            }
        }
    }
}

#[test]
fn text_is_readable_in_both_themes() {
    for dark in [false, true] {
        let t = Palette::of(dark);
        for (name, text, back, least) in [
            ("text", t.text, t.panel, 7.0),
            ("weak", t.weak, t.panel, 4.5),
            ("accent", t.accent, t.panel, 4.5),
            ("on accent", t.on_accent, t.accent, 4.5),
            ("text on selection", t.text, t.accent_soft, 7.0),
            ("warm", t.warm, t.panel, 4.5),
            ("error", t.error, t.error_soft, 4.5),
        ] {
            let contrast = contrast(text, back);
            assert!(contrast >= least, "dark {dark}: {name} has a contrast of {contrast:.1}");
        }
    }
}

#[test]
fn doubt_grows_as_probability_falls() {
    let alpha = |p: f32| Palette::of(false).doubt(p.ln()).channels()[3];
    assert_eq!(alpha(1.0), 0);
    assert!(alpha(0.9) < alpha(0.5) && alpha(0.5) < alpha(0.1) && alpha(0.1) < alpha(0.01));
    assert_eq!(alpha(0.01), alpha(0.0));
}

#[test]
fn a_vector_of_any_length_has_a_box_for_every_number() {
    for count in [1, 3, 320, 512, 1000] {
        let layout = StripLayout::choose(count, size(450.0, 130.0));
        for n in [0, count / 2, count - 1] {
            let centre = layout.cell(n).center();
            assert_eq!(layout.hit(centre.x, centre.y, count), Some(n), "{n} of {count}");
            assert!(layout.cell(n).right() <= 450.5);
        }
        assert_eq!(layout.hit(-1.0, 0.0, count), None);
    }
}

#[test]
fn p_t_stands_at_its_fraction_of_a_column() {
    let grid = grid(3, 5, 20.0);
    for (p_t, x) in [(0.0, 110.0), (2.0, 150.0), (2.5, 160.0), (4.9, 200.0), (-0.9, 100.0)] {
        assert_eq!(grid.position(1, p_t), point(x, 80.0), "{p_t}");
    }
    let [left, top, right, bottom] = grid.gaze_mark(1, 2.0);
    assert_eq!((left.y, right.y, top.x, bottom.x), (80.0, 80.0, 150.0, 150.0));
    assert!(
        right.x - left.x > 5.0
            && [left, top, right, bottom].iter().all(|corner| grid.cell_area(1, 2).contains(*corner))
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
    let frame = grid.gaze_frame(2, &(1..=3));
    let cells = grid.cell_area(2, 1).union(grid.cell_area(2, 3));
    assert!(cells.union(frame) == cells && frame.width() > 80.0, "{frame:?}");
}

const SOURCE: [&str; 4] = ["<the>", "&\"x'", "\u{1b}ship", "\u{5d0}\u{5d1}"];
const TARGET: [&str; 3] = ["le", "a very long word that no label has room for at all", "</s>"];
const ALPHA: [f32; 12] = [0.0, 0.0, 1.0, 0.5, 0.25, 0.25, 0.25, 0.25, f32::NAN, 0.0, 0.0, 1.0];
static CELLS: LazyLock<Alignment> = LazyLock::new(|| Alignment::new(ALPHA.to_vec(), 4).expect("whole rows"));

fn labels<'a>(words: &[&'a str]) -> Vec<Label<'a>> {
    let label =
        |word: &&'a str| Label { text: (*word).into(), tone: Tone::of(false, *word == "</s>"), ..Label::default() };
    words.iter().map(label).collect()
}

fn heatmap<'a>(source: &'a [Label<'a>], target: &'a [Label<'a>]) -> Heatmap<'a> {
    let metrics = Metrics::choose(&needs(3, 4), size(300.0, 300.0), Zoom::Auto);
    Heatmap {
        source,
        target,
        cells: Cells { numbers: &CELLS, map: ColourMap::at(0), scale: Scale::Unit, revision: 1 },
        name: "",
        gaze: Some(Gaze { p_t: &[1.0, 1.4, f32::NAN], window: 1 }),
        links: None,
        outlined: Outlined::default(),
        marks: HeatmapMarks { row: Some(0), column: None, selected: Some(1) },
        metrics,
        text_height: 15.0,
        palette: Palette::of(false),
    }
}

fn texts<'a>(marks: &'a [Mark<'_>]) -> Vec<&'a TextMark<'a>> {
    let text = |mark: &'a Mark<'_>| if let Mark::Text(text) = mark { Some(text) } else { None };
    marks.iter().filter_map(text).collect()
}

#[test]
fn a_heatmap_is_its_cells_its_words_and_where_they_stand() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    let figure = heatmap(&source, &target).sheet(Some("word read"), true, &SansSerif);
    let images = figure.marks.iter().filter_map(|mark| match mark {
        Mark::Image(image) => Some(image),
        _ => None,
    });
    let [image] = images.collect::<Vec<_>>()[..] else { panic!("one image: {:?}", figure.marks) };
    let near = |a: f32, b: f32| (a - b).abs() < 1e-3;
    assert!(near(image.area.width(), 4.0 * PAGE_CELL) && near(image.area.height(), 3.0 * PAGE_CELL), "{image:?}");
    let texts = texts(&figure.marks);
    let at = |word: &str| texts.iter().find(|text| text.text == word).map(|text| text.at).expect("it is there");
    for (i, word) in TARGET.iter().enumerate() {
        let at = at(word);
        let middle = image.area.top() + (i as f32 + 0.5) * PAGE_CELL;
        assert!(at.x < image.area.left() && near(at.y, middle), "{word} {at:?}");
    }
    for (j, word) in SOURCE.iter().enumerate() {
        let at = at(word);
        let middle = image.area.left() + (j as f32 + 0.5) * PAGE_CELL;
        assert!(at.y < image.area.top() && near(at.x, middle), "{word} {at:?}");
    }
    assert!(at("word read").y < image.area.top() && at("word read").x < image.area.left());
    assert!(at("0").y > image.area.bottom() && at("1").x > at("0").x, "the legend");
    let all = Area::from_min_max(point(0.0, 0.0), point(figure.size.x, figure.size.y));
    assert!(texts.iter().all(|text| all.contains(text.at)) && all.union(image.area) == all, "{figure:?}");
    let lozenges = figure.marks.iter().filter(|mark| matches!(mark, Mark::Polygon(_))).count();
    assert_eq!(lozenges, 3, "p_t of the rows that have one, and of the legend");
}

fn parsed(text: &str) -> Document<'_> {
    Document::parse(text).expect("SVG is XML")
}

fn elements<'a, 'i>(document: &'a Document<'i>, name: &str) -> Vec<Node<'a, 'i>> {
    document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name))).collect()
}

fn number(node: &Node<'_, '_>, name: &str) -> f32 {
    node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} of {node:?}"))
}

#[test]
fn an_svg_holds_every_mark_where_it_stands() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    let facts = vec![("sentence".to_owned(), SOURCE.join(" "))];
    let provenance = Provenance { title: "RNNsearch & <others>".to_owned(), facts };
    let figure = Figure { provenance, ..heatmap(&source, &target).sheet(None, true, &SansSerif) };
    let text = svg(&figure);
    let document = parsed(&text);
    let root = document.root_element();
    let sides = root.attribute("viewBox").expect("a size").split(' ').filter_map(|side| side.parse::<f32>().ok());
    let wanted = [0.0, 0.0, figure.size.x, figure.size.y];
    assert!(sides.zip(wanted).filter(|(side, wanted)| (side - wanted).abs() < 1e-3).count() == 4, "{root:?}");
    assert_eq!(elements(&document, "title")[0].text(), Some("RNNsearch & <others>"));
    let fact = document.descendants().find(|node| node.has_tag_name(("urn:interlinear:provenance", "fact")));
    let fact = fact.expect("the sentence is written into the file");
    assert_eq!(fact.attribute("name"), Some("sentence"));
    assert!(fact.text().is_some_and(|text| text.starts_with("<the> &\"x' \u{fffd}ship \u{5d0}")), "{fact:?}");

    let written: Vec<&str> = elements(&document, "text").iter().filter_map(Node::text).collect();
    assert_eq!(written.len(), texts(&figure.marks).len());
    assert!(
        written.contains(&"<the>") && written.contains(&"&\"x'") && written.contains(&"\u{fffd}ship"),
        "{written:?}"
    );
    assert!(written.iter().any(|word| word.starts_with("a very long") && word.ends_with('\u{2026}')), "{written:?}");
    assert_eq!(elements(&document, "polygon").len(), 3, "two marks of p_t, and that of the legend");

    // Cells: neighbours of one colour in a row are one rectangle, and together they cover every cell once.
    let groups = elements(&document, "g");
    let cells: Vec<_> = groups[0].children().filter(Node::is_element).collect();
    let widths: Vec<f32> = cells.iter().map(|cell| number(cell, "width")).collect();
    assert_eq!(widths, [2.0, 1.0, 1.0, 4.0, 3.0, 1.0]);
    let fills: Vec<_> = cells.iter().filter_map(|cell| cell.attribute("fill")).collect();
    assert_eq!(fills, ["#000000", "#ffffff", "#808080", "#404040", "#000000", "#ffffff"]);
    assert_eq!((number(&cells[5], "x"), number(&cells[5], "y")), (3.0, 2.0));
    let place = groups[0].attribute("transform").expect("cells stand in their place");
    let corner =
        figure.marks.iter().find_map(|mark| if let Mark::Image(image) = mark { Some(image.area.min) } else { None });
    let corner = corner.expect("an image");
    let values: Vec<f32> =
        place.split(|c: char| !(c.is_ascii_digit() || c == '.')).filter_map(|n| n.parse().ok()).collect();
    assert!((values[0] - corner.x).abs() < 1e-3 && (values[1] - corner.y).abs() < 1e-3, "{place}");
    assert!(values[2..].iter().all(|side| (side - PAGE_CELL).abs() < 1e-3), "{place}");
}

#[test]
fn every_kind_of_mark_is_written_and_nothing_that_is_no_number() {
    let colour = Palette::of(false).accent;
    let stroke = Stroke { width: 2.0, colour: colour.fade(0.5) };
    let ends = vec![[point(1.0, 2.0), point(f32::NAN, f32::INFINITY)]];
    let area = Area::from_min_max(point(10.0, 10.0), point(30.0, 20.0));
    let row = BeamRow {
        per_token: None,
        place: 1,
        log_p: -2.5,
        rank: Some(-0.5),
        words: vec![("a".into(), -9.0), ("b".into(), 0.0)],
        said: Vec::new(),
        shared: 0,
        back: colour,
    };
    let mut marks = vec![
        Mark::Lines(LinesMark { ends, stroke, is_crisp: true }),
        Mark::Lines(LinesMark::default()),
        Mark::Curve(Curve { points: [point(0.0, 0.0), point(0.0, 5.0), point(9.0, 5.0), point(9.0, 9.0)], stroke }),
        Mark::Polygon(Polygon {
            corners: vec![point(0.0, 0.0), point(1.0, 0.0), point(0.0, 1.0)],
            fill: colour,
            stroke,
        }),
        Mark::Rect(Rectangle::framed(area, 3.0, stroke, BorderSide::Outside)),
        Mark::Text(TextMark {
            lines: 2,
            room: 30.0,
            ..TextMark::new("two lines", point(5.0, 5.0), (Across::Right, Down::Bottom), 10.0, colour)
        }),
    ];
    marks.extend(row.marks(&Area::from_min_max(point(0.0, 0.0), point(400.0, 22.0)), Palette::of(false)));
    let figure = Figure { size: size(400.0, 100.0), marks, provenance: Provenance::default() };
    let text = svg(&figure);
    let document = parsed(&text);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    let paths: Vec<_> = elements(&document, "path").iter().filter_map(|path| path.attribute("d")).collect();
    assert_eq!(paths, ["M 1 2 L 0 0", "M 0 0 C 0 5 9 5 9 9"]);
    let rects = elements(&document, "rect");
    let frame = rects.iter().find(|rect| rect.attribute("fill") == Some("none")).expect("a frame");
    // Around the area: the stroke's middle lies half its width outside.
    assert_eq!(["x", "y", "width", "height", "rx"].map(|side| number(frame, side)), [9.0, 9.0, 22.0, 12.0, 4.0]);
    assert!(text.contains("stroke-opacity=\"0.502\""), "{text}");
    let lines: Vec<_> = elements(&document, "text").iter().filter_map(Node::text).collect();
    assert_eq!(lines, ["two", "lines", "1", "-2.50", "-0.50", "a", "b"]);
    let backs = rects.iter().filter(|rect| rect.attribute("fill-opacity").is_some()).count();
    assert_eq!(backs, 1, "only the doubtful word has a colour behind it");
}

#[test]
fn text_is_cut_and_broken_to_its_room() {
    let width = |text: &str| SansSerif.width(text, 10.0);
    assert_eq!(width("Hi"), 9.44);
    assert!(width("\u{6f22}") > width("m") && width("e\u{301}") == width("e"));
    for room in [0.0, 5.0, 12.0, 30.0, 80.0, 1000.0] {
        let shown = cut(&SansSerif, "some words in a row", 10.0, room);
        assert!(width(&shown) <= room.max(width("\u{2026}")), "{room}: {shown}");
        assert_eq!(shown.ends_with('\u{2026}'), room < 85.0, "{room}: {shown}");
    }
    assert_eq!(broken(&SansSerif, "word predicted", 10.0, 50.0, 2), ["word", "predicted"]);
    assert_eq!(broken(&SansSerif, "word predicted", 10.0, 500.0, 2), ["word predicted"]);
    assert_eq!(broken(&SansSerif, "a b c", 10.0, 1.0, 2).len(), 2);
}

#[test]
fn a_bar_is_as_long_as_its_share() {
    let area = Area::from_min_max(point(0.0, 0.0), point(200.0, 19.0));
    let length = |share: f32| {
        let bar = bars::BarMark { text: "le".into(), share, number: "0.5".into(), ..bars::BarMark::default() };
        let [_, track, bar, ..] = bar.marks(&area, 50.0, Palette::of(true));
        let width = |mark: &Mark<'_>| if let Mark::Rect(rect) = mark { rect.area.width() } else { f32::NAN };
        width(&bar) / width(&track)
    };
    assert_eq!((length(0.5), length(1.0), length(7.0)), (0.5, 1.0, 1.0));
    assert!(length(0.0) > 0.0, "a bar of nothing is still seen");

    // below 0 it goes to the left of the line of 0, and looks otherwise
    let palette = Palette::of(true);
    let ends = |share: f32| {
        let bar = bars::BarMark { share, zero: 0.4, is_marked: true, ..bars::BarMark::default() };
        let [_, _, Mark::Rect(bar), Mark::Rect(line), _] = bar.marks(&area, 50.0, palette) else {
            panic!("five marks")
        };
        (bar.area.left() - line.area.left(), bar.area.right() - line.area.left(), bar.fill)
    };
    let (below, above) = (ends(-0.4), ends(0.2));
    assert!(below.0 < -10.0 && below.1.abs() < 0.1 && below.2 == palette.warm, "{below:?}");
    assert!(above.0.abs() < 0.1 && above.1 > 10.0 && above.2 == palette.accent, "{above:?}");
}

#[test]
fn only_labels_in_view_become_marks() {
    let words: Vec<String> = (0..1000).map(|n| format!("word{n}")).collect();
    let all: Vec<Label<'_>> = words.iter().map(|word| Label { text: word.into(), ..Label::default() }).collect();
    let numbers = Alignment::default().resized(1000, 1000, 0.0);
    let mut map = heatmap(&all, &all);
    map.cells.numbers = &numbers;
    let grid = Grid { origin: point(0.0, 0.0), cell: 14.0, rows: 1000, columns: 1000 };
    let strip = Area::from_min_max(point(0.0, 1400.0), point(80.0, 1540.0));
    let labels = map.row_labels(&grid, &strip);
    let seen = texts(&labels);
    assert_eq!((seen.len(), seen[0].text.as_ref(), seen[0].room), (10, "word100", LABEL_MAX));
    let marks = map.cells(&grid, &strip);
    let lines = marks.iter().map(|mark| if let Mark::Lines(lines) = mark { lines.ends.len() } else { 0 }).max();
    assert!(lines.is_some_and(|lines| lines < 30), "{lines:?}");
}
