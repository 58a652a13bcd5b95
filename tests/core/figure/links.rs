//! Links between two lines of words.

use std::sync::LazyLock;

use interlinear::analysis::alignment::Alignment;
use interlinear::figure::links::{LinkedWord, LinksFigure, LinksLayout, Weight, outlines};
use interlinear::figure::mark::{Curve, Mark};
use interlinear::figure::sheet::{FigureStyle, PictureSheet, kind};
use interlinear::figure::{geometry::size, label::Label, measure::SansSerif, palette::Palette, svg::svg};
use interlinear::text::links::{Link, Links};

use super::{elements, labels, number, parsed, texts};

const SOURCE: [&str; 3] = ["the", "red", "ship"];
const TARGET: [&str; 4] = ["le", "bateau", "<rouge>", "</s>"];
const ALPHA: [f32; 12] = [0.9, 0.05, 0.05, 0.0, 0.1, 0.9, 0.2, 0.7, 0.1, f32::NAN, 0.0, 0.5];
static CELLS: LazyLock<Alignment> = LazyLock::new(|| Alignment::new(ALPHA.to_vec(), 3).expect("whole rows"));

fn links<'a>(source: &'a [Label<'a>], target: &'a [Label<'a>], threshold: f32, weight: Weight) -> LinksFigure<'a> {
    LinksFigure { source, target, alpha: &CELLS, threshold, weight, marked: None, palette: Palette::of(false) }
}

fn curves(marks: &[Mark<'_>]) -> Vec<Curve> {
    marks.iter().filter_map(|mark| if let Mark::Curve(curve) = mark { Some(*curve) } else { None }).collect()
}

#[test]
fn words_stand_in_two_lines_side_by_side_in_any_room() {
    let words: Vec<String> = (0..40).map(|n| "word".repeat(1 + n % 4)).collect();
    let many: Vec<Label<'_>> = words.iter().map(|word| Label { text: word.into(), ..Label::default() }).collect();
    let few = labels(&SOURCE);
    for (source, target) in [(&few, &many), (&many, &few), (&few, &few), (&few, &Vec::new())] {
        for room in [size(0.0, 0.0), size(300.0, 100.0), size(2000.0, 400.0)] {
            let layout = LinksLayout::choose(&links(source, target, 0.1, Weight::Width), room, &SansSerif);
            assert!(layout.size.x >= room.x && layout.size.y >= room.y, "{layout:?}");
            for (line, words) in [(&layout.source, source), (&layout.target, target)] {
                assert_eq!(line.len(), words.len());
                assert!(line.windows(2).all(|two| two[0].right() < two[1].left()), "{line:?}");
                assert!(line.iter().all(|area| area.left() > -0.1 && area.right() < layout.size.x + 0.1), "{line:?}");
            }
            let (above, below) = (layout.source[0], layout.target.first().copied());
            assert!(
                below.is_none_or(|below| above.bottom() + 40.0 < below.top() && below.bottom() <= layout.size.y + 0.1)
            );
        }
    }
}

#[test]
fn every_alpha_from_the_threshold_on_is_a_curve_from_its_source_to_its_target_word() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    for (threshold, wanted) in [(0.0, 9), (0.1, 7), (0.5, 4), (0.9, 2), (1.0, 0)] {
        let links = links(&source, &target, threshold, Weight::Width);
        let layout = LinksLayout::choose(&links, size(400.0, 150.0), &SansSerif);
        let (drawn, curves) = (links.drawn(), curves(&links.marks(&layout)));
        assert_eq!((drawn.len(), curves.len()), (wanted, wanted), "{threshold}: {drawn:?}");
        for ((i, j, _), curve) in drawn.iter().zip(&curves) {
            let ends = [LinkedWord::Source(*j), LinkedWord::Target(*i)].map(|word| layout.area(word).unwrap());
            assert!(ends[0].contains(curve.points[0]) && ends[1].contains(curve.points[3]), "{i} {j}");
        }
    }
}

#[test]
fn more_alpha_is_wider_or_more_opaque_and_lies_over_less() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    for weight in [Weight::Width, Weight::Opacity] {
        let links = links(&source, &target, 0.01, weight);
        let layout = LinksLayout::choose(&links, size(400.0, 150.0), &SansSerif);
        let strokes = curves(&links.marks(&layout)).into_iter().map(|curve| curve.stroke);
        let seen: Vec<f32> = strokes.map(|stroke| stroke.width * f32::from(stroke.colour.channels()[3])).collect();
        assert!(seen.is_sorted() && seen[0] < seen[seen.len() - 1], "{weight:?}: {seen:?}");
    }
}

#[test]
fn the_links_of_a_marked_word_stand_out() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    let marked = LinksFigure { marked: Some(LinkedWord::Target(1)), ..links(&source, &target, 0.01, Weight::Width) };
    let layout = LinksLayout::choose(&marked, size(400.0, 150.0), &SansSerif);
    let drawn = marked.drawn();
    for ((i, _, _), curve) in drawn.iter().zip(curves(&marked.marks(&layout))) {
        assert_eq!(curve.stroke.colour.channels()[3] > 100, *i == 1, "{drawn:?}");
    }
    assert_eq!(drawn.last().map(|link| link.0), Some(1), "they lie over the others");
    let marks = marked.marks(&layout);
    let backs = marks
        .iter()
        .filter(|mark| matches!(mark, Mark::Rect(of) if Some(&of.area) == layout.area(LinkedWord::Target(1))));
    assert_eq!(backs.count(), 1);
}

#[test]
fn links_of_an_aligner_are_whole_or_dashed_between_their_words() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    let links = links(&source, &target, 0.5, Weight::Width);
    let layout = LinksLayout::choose(&links, size(400.0, 150.0), &SansSerif);
    let link = |source, target| Link { source, target };
    let of_aligner = Links::new(vec![link(0, 0)], vec![link(1, 2), link(9, 9)]);
    let marks = outlines(&of_aligner, &layout, links.palette);
    let [Mark::Curve(whole), Mark::Lines(dashed)] = &marks[..] else { panic!("{marks:?}") };
    assert_eq!(Some(whole.points), layout.curve(0, 0));
    let [from, .., to] = layout.curve(2, 1).expect("there are such words");
    assert_eq!(dashed.ends[0][0], from);
    let last = dashed.ends[dashed.ends.len() - 1][1];
    assert!(dashed.ends.len() > 4 && to.y - last.y < 0.1 * (to.y - from.y), "{last:?} is not near {to:?}");
}

/// The file named the aligner and had none of its lines.
#[test]
fn a_file_of_links_has_those_of_the_aligner() {
    let of_aligner = Links::new(vec![Link { source: 0, target: 0 }], vec![Link { source: 1, target: 2 }]);
    let drawn = |links| {
        let sheet = PictureSheet {
            source: labels(&SOURCE),
            target: labels(&TARGET),
            alpha: Some(&CELLS),
            links,
            ..PictureSheet::default()
        };
        let figure = kind("links").expect("a kind").draw(&sheet, &FigureStyle::default()).expect("an alignment");
        let dashed = figure.marks.iter().filter(|mark| matches!(mark, Mark::Lines(_))).count();
        (curves(&figure.marks).len(), dashed)
    };
    let (curves, dashed) = drawn(None);
    assert_eq!(drawn(Some(&of_aligner)), (curves + 1, dashed + 1));
}

#[test]
fn links_are_written_as_paths_between_words() {
    let (source, target) = (labels(&SOURCE), labels(&TARGET));
    let links = links(&source, &target, 0.5, Weight::Width);
    let figure = links.whole(size(400.0, 150.0), None, &SansSerif);
    let text = svg(&figure);
    let document = parsed(&text);
    let words: Vec<_> = elements(&document, "text").iter().filter_map(roxmltree::Node::text).collect();
    assert_eq!(words, ["the", "red", "ship", "le", "bateau", "<rouge>", "</s>"]);
    assert_eq!(texts(&figure.marks).len(), words.len());
    let paths = elements(&document, "path");
    let widths: Vec<f32> = paths.iter().map(|path| number(path, "stroke-width")).collect();
    assert_eq!(widths, [3.0, 4.2, 5.4, 5.4]);
    assert!(paths.iter().all(|path| path.attribute("d").is_some_and(|d| d.contains(" C ") && !d.contains("NaN"))));
}

/// A first word that looks at the last, as models of Luong et al. look at `</s>`, once drove all words of the target
/// below those of the source.
#[test]
fn long_lines_are_broken_into_pairs_of_words_that_belong_together() {
    let words: Vec<String> = (0..12).map(|n| format!("word{n:02}")).collect();
    let labels: Vec<Label<'_>> = words.iter().map(|word| Label { text: word.into(), ..Label::default() }).collect();
    let mut alpha = vec![0.0; 144];
    (0..12).for_each(|i| alpha[12 * i + if i == 0 { 11 } else { i }] = 1.0);
    let alpha = Alignment::new(alpha, 12).expect("whole rows");
    let links = LinksFigure {
        source: &labels,
        target: &labels,
        alpha: &alpha,
        threshold: 0.1,
        weight: Weight::Width,
        marked: None,
        palette: Palette::of(false),
    };
    let room = size(220.0, 500.0);
    let layout = LinksLayout::glossed(&links, room, &SansSerif);
    assert_eq!((layout.source.len(), layout.target.len()), (12, 12));
    assert!(layout.size.x <= room.x + 0.5, "{:?}", layout.size);
    for (n, (source, target)) in layout.source.iter().zip(&layout.target).enumerate() {
        let rise = target.top() - source.bottom();
        assert!(rise > 0.0 && rise < 140.0, "word {n} stands {rise} points over the word that looks at it");
        assert!(source.left() >= 0.0 && target.right() <= room.x + 0.5, "word {n} lies in the room");
    }
    let whole = LinksLayout::choose(&links, size(2000.0, 300.0), &SansSerif);
    assert_eq!(LinksLayout::glossed(&links, size(2000.0, 300.0), &SansSerif), whole, "what fits stands in two lines");
}
