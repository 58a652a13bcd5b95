//! The links of an aligner over a heatmap: which cells are framed, how, and whether they can be seen.

use interlinear::figure::heatmap::outlines::{Outlined, outlines};
use interlinear::figure::mark::{LinesMark, Mark};
use interlinear::figure::palette::{COLOUR_MAPS, DARK, LIGHT, Rgba};
use interlinear::figure::{geometry::Area, heatmap::Heatmap, measure::SansSerif, svg::svg};
use interlinear::text::links::{Link, Links};

use super::{SOURCE, TARGET, elements, grid, heatmap, labels, parsed, texts};

fn links() -> Links {
    let link = |source, target| Link { source, target };
    Links::new(vec![link(2, 0)], vec![link(0, 1), link(9, 0)])
}

fn drawn(marks: &[Mark<'_>], colour: Rgba) -> Vec<LinesMark> {
    let lines = |mark: &Mark<'_>| if let Mark::Lines(lines) = mark { Some(lines.clone()) } else { None };
    marks.iter().filter_map(lines).filter(|lines| lines.stroke.colour == colour).collect()
}

#[test]
fn a_linked_cell_has_a_frame_of_its_own_and_a_possible_one_dashes() {
    for cell in [2.0, 5.0, 8.0, 14.0, 18.0, 42.0, 96.0] {
        let grid = grid(3, 4, cell);
        let marks = outlines(&links(), &grid, &grid.area(), &LIGHT);
        let [whole, dashed] = &drawn(&marks, LIGHT.link)[..] else { panic!("two kinds of lines: {marks:?}") };
        assert_eq!(whole.ends.len(), 4, "the sides of one cell; a link outside the matrix is nowhere");
        assert!(cell < 14.0 || dashed.ends.len() > 4, "cell {cell}: {} dashes", dashed.ends.len());
        for (lines, area) in [(whole, grid.cell_area(0, 2)), (dashed, grid.cell_area(1, 0))] {
            for [from, to] in &lines.ends {
                let covered = area.union(Area::from_min_max(*from, *to));
                let room = area.shrink(-0.01);
                assert_eq!(room.union(covered), room, "cell {cell}: {from:?} to {to:?} leaves its cell");
            }
        }
    }
    let grid = grid(3, 4, 20.0);
    let elsewhere = outlines(&links(), &grid, &grid.cell_area(2, 3), &LIGHT);
    assert!(elsewhere.is_empty(), "only what is in view is drawn: {elsewhere:?}");
}

#[test]
fn outlines_stand_out_from_every_colour_of_every_map() {
    let ratio = |a: Rgba, b: Rgba| {
        let (a, b) = (a.luminance() + 0.05, b.luminance() + 0.05);
        if a > b { a / b } else { b / a }
    };
    for palette in [&LIGHT, &DARK] {
        for map in COLOUR_MAPS {
            for step in 0..=100_u8 {
                let cell = map.colour(f32::from(step) / 100.0);
                let seen = ratio(palette.link, cell).max(ratio(palette.link_edge, cell));
                assert!(seen >= 3.0, "{} at {step} %: {seen}", map.name);
            }
        }
    }
}

#[test]
fn an_svg_has_the_outlines_and_says_what_they_are() {
    let (source, target, links) = (labels(&SOURCE), labels(&TARGET), links());
    let with = Heatmap { links: Some(&links), ..heatmap(&source, &target) };
    for outlined in [Outlined::Head, Outlined::Alpha, Outlined::Aligner] {
        let figure = Heatmap { outlined, ..with }.sheet(None, true, &SansSerif);
        let texts = texts(&figure.marks);
        assert!(outlined.legend().iter().all(|(legend, _)| texts.iter().any(|text| text.text == *legend)));
    }
    let figure = with.sheet(None, true, &SansSerif);
    let without = heatmap(&source, &target).sheet(None, true, &SansSerif);
    assert!(figure.size.y > without.size.y && figure.size.x > without.size.x, "there is room for the legend");
    let (with, without) = (svg(&figure), svg(&without));
    let paths = |text: &str| elements(&parsed(text), "path").len();
    assert!(
        paths(&with) >= paths(&without) + 6,
        "three kinds of lines over the cells, and two for each kind of link in the legend"
    );
    assert!(with.contains("#ff9a1f") && !without.contains("#ff9a1f"));
}
