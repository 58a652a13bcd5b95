//! Plots: ticks, axes, lines, bars, legends.

use interlinear::figure::geometry::{Area, dashed, point, size};
use interlinear::figure::mark::{Mark, TextMark};
use interlinear::figure::measure::{SansSerif, TextMeasure as _};
use interlinear::figure::plot::{Plot, Series, SeriesStyle, Shape};
use interlinear::figure::{axes::ticks, palette::Palette, provenance::Provenance, svg::svg};

use super::{elements, parsed, texts};

fn series(name: &str, place: usize, look: SeriesStyle, points: &[[f64; 2]]) -> Series {
    Series { name: name.to_owned(), place, points: points.to_vec(), look }
}

fn plot<'a>(series: &'a [Series], text: &'a dyn Fn(f64) -> String) -> Plot<'a> {
    Plot { title: "A <title>", x_label: "words", x_text: text, x_ticks: &[], y_text: text, from_zero: false, series }
}

fn area(text: &TextMark<'_>) -> Area {
    use interlinear::figure::mark::{Across, Down};
    let of = size(SansSerif.width(&text.text, text.size).min(text.room), SansSerif.height(text.size));
    let left = match text.anchor.0 {
        Across::Left => text.at.x,
        Across::Centre => text.at.x - 0.5 * of.x,
        Across::Right => text.at.x - of.x,
    };
    let top = match text.anchor.1 {
        Down::Top => text.at.y,
        Down::Middle => text.at.y - 0.5 * of.y,
        Down::Bottom => text.at.y - of.y,
    };
    Area::from_min_size(point(left, top), of)
}

#[test]
fn ticks_are_round_numbers_within_the_ends() {
    for (low, high, most, wanted) in [
        (0.0, 1.0, 5, vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-0.03, 1.03, 5, vec![0.0, 0.5, 1.0]),
        (12.0, 97.0, 4, vec![50.0]),
        (12.0, 97.0, 5, vec![20.0, 40.0, 60.0, 80.0]),
        (-7.0, 7.0, 3, vec![-5.0, 0.0, 5.0]),
        (1e6, 1.5e6, 5, vec![1e6, 1.1e6, 1.2e6, 1.3e6, 1.4e6, 1.5e6]),
        (2.0, 2.0, 5, vec![]),
        (3.0, f64::NAN, 5, vec![]),
    ] {
        let found = ticks(low, high, most);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * b.abs().max(1.0);
        assert!(found.len() == wanted.len() && found.iter().zip(&wanted).all(near), "{low} to {high}: {found:?}");
    }
    for power in -9..9 {
        for (low, span) in [(0.0, 1.0), (-3.3, 7.7), (41.0, 0.9)] {
            let scale = 10_f64.powi(power);
            let found = ticks(low * scale, (low + span) * scale, 6);
            assert!((2..=7).contains(&found.len()), "{low} {span} {power}: {found:?}");
        }
    }
}

#[test]
fn labels_never_overlap_and_all_stands_in_the_figure() {
    let text = |value: f64| format!("{value} updates");
    let names = ["a", "a model with a rather long name", "another model with a name", "d"];
    for (width, height) in [(300.0, 200.0), (420.0, 300.0), (900.0, 500.0)] {
        for span in [1.0, 37.0, 123_456.0] {
            let points: Vec<[f64; 2]> = (0..30).map(|n| [f64::from(n) * span, f64::from(n % 7) * span]).collect();
            let all: Vec<Series> =
                names.iter().enumerate().map(|(n, name)| series(name, n, SeriesStyle::Marked, &points)).collect();
            let figure = plot(&all, &text).whole(size(width, height), &SansSerif, false, Provenance::default());
            let places: Vec<Area> = texts(&figure.marks).into_iter().map(area).collect();
            let whole = Area::from_min_size(point(0.0, 0.0), size(width, height)).shrink(-0.5);
            for (n, a) in places.iter().enumerate() {
                assert!(whole.union(*a) == whole, "{width} {span}: {:?} at {a:?}", texts(&figure.marks)[n].text);
                for b in &places[..n] {
                    let both = a.intersect(*b);
                    assert!(both.width() <= 0.1 || both.height() <= 0.1, "{width} {span}: {a:?} {b:?}");
                }
            }
            assert!(places.len() > names.len() + 4, "there are ticks on both axes");
        }
    }
}

#[test]
fn data_stand_at_their_numbers_and_what_is_no_number_is_left_out() {
    let text = |value: f64| format!("{value}");
    let one = [series("a", 0, SeriesStyle::Marked, &[[0.0, 1.0], [1.0, 3.0], [2.0, f64::NAN], [4.0, 2.0]])];
    let plot = plot(&one, &text);
    let marks = plot.marks(&Area::from_min_size(point(0.0, 0.0), size(400.0, 300.0)), &SansSerif, false);
    let dots: Vec<_> =
        marks.iter().filter_map(|mark| if let Mark::Dots(dots) = mark { Some(dots.dots[0].0) } else { None }).collect();
    let [_, a, b, c] = dots[..] else { panic!("one in the legend and three: {dots:?}") };
    assert!(a.x < b.x && (c.x - b.x) / (b.x - a.x) > 2.99 && (c.x - b.x) / (b.x - a.x) < 3.01);
    assert!(((a.y - c.y) - (c.y - b.y)).abs() < 0.01 && b.y < c.y, "up is up");
    let ends = plot.ends();
    assert!(ends[0][0] < 0.0 && ends[0][1] > 4.0 && ends[1][0] < 1.0 && ends[1][1] > 3.0);
    assert!(Plot { from_zero: true, ..plot }.ends()[1][0] <= 0.0);
    assert_eq!(Plot { series: &[], ..plot }.ends(), [[0.0, 1.0]; 2]);
}

#[test]
fn bars_of_several_models_stand_side_by_side_from_zero() {
    let text = |value: f64| format!("{value}");
    let points = [[0.0, 10.0], [1.0, 20.0], [2.0, -5.0]];
    let all = [
        series("a", 0, SeriesStyle::Bars, &points),
        series("b", 1, SeriesStyle::Bare, &points),
        series("c", 2, SeriesStyle::Bars, &points),
    ];
    let plot = plot(&all, &text);
    let (a, c) = (plot.bars(0), plot.bars(2));
    assert!(plot.bars(1).is_empty() && a.len() == 3);
    for (n, (a, c)) in a.iter().zip(&c).enumerate() {
        assert!((a[0] + 0.5 * a[1] - (c[0] - 0.5 * c[1])).abs() < 1e-9, "they touch");
        assert!((0.5 * (a[0] + c[0]) - n as f64).abs() < 1e-9, "around their place");
    }
    assert!(a[0][1] + c[0][1] < 1.0, "room between the groups");
    let marks = plot.marks(&Area::from_min_size(point(0.0, 0.0), size(400.0, 300.0)), &SansSerif, false);
    let colour = Palette::series(0, false);
    let bars = marks.iter().filter_map(|mark| match mark {
        Mark::Rect(of) if of.fill == colour => Some(of.area),
        _ => None,
    });
    let [_, first, second, below] = bars.collect::<Vec<_>>()[..] else { panic!("a sample and three bars") };
    assert!((second.height() / first.height() - 2.0).abs() < 0.01 && (first.bottom() - second.bottom()).abs() < 0.01);
    assert!((below.top() - first.bottom()).abs() < 0.01 && below.height() > 0.0);
}

#[test]
fn dashes_go_on_round_corners() {
    let corner = [point(0.0, 0.0), point(6.0, 0.0), point(6.0, 6.0)];
    let dashes = dashed(&corner, 4.0, 4.0);
    assert_eq!(dashes.len(), 2);
    assert_eq!(dashes[0], [point(0.0, 0.0), point(4.0, 0.0)]);
    assert!(dashes[1][0].distance(point(6.0, 2.0)) < 1e-3 && dashes[1][1].distance(point(6.0, 6.0)) < 1e-3);
    assert!(dashed(&corner[..1], 4.0, 4.0).is_empty() && dashed(&[corner[0]; 2], 4.0, 4.0).is_empty());
}

#[test]
fn a_plot_is_written_with_its_legend_and_every_shape() {
    let text = |value: f64| format!("{value}");
    let looks = [SeriesStyle::Marked, SeriesStyle::Bare, SeriesStyle::Minor, SeriesStyle::Bars];
    let all: Vec<Series> =
        (0..8).map(|n| series(&format!("model & {n}"), n, looks[n % 4], &[[0.0, n as f64], [1.0, 2.0]])).collect();
    for dark in [false, true] {
        let figure = plot(&all, &text).whole(size(600.0, 400.0), &SansSerif, dark, Provenance::default());
        let text = svg(&figure);
        let document = parsed(&text);
        let words: Vec<_> = elements(&document, "text").iter().filter_map(roxmltree::Node::text).collect();
        assert!(words.contains(&"A <title>") && words.contains(&"words"), "{words:?}");
        assert!((0..8).all(|n| words.contains(&format!("model & {n}").as_str())), "{words:?}");
        assert!(!text.contains("NaN") && !text.contains("inf"));
        assert!(elements(&document, "circle").len() == 3, "two points and the legend");
    }
    let shapes: Vec<Shape> = (0..8).map(Shape::at).collect();
    assert!(shapes.iter().enumerate().all(|(n, shape)| !shapes[..n].contains(shape)) && Shape::at(8) == shapes[0]);
}
