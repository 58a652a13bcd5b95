//! Scatters as numbers and marks.

use interlinear::figure::geometry::size;
use interlinear::figure::mark::Mark;
use interlinear::figure::measure::SansSerif;
use interlinear::figure::palette::Palette;
use interlinear::figure::provenance::Provenance;
use interlinear::figure::scatter;
use interlinear::figure::scatter::{Bins, ScatterView};
use interlinear::figure::svg::svg;

use super::{elements, parsed};

#[test]
fn points_fall_into_bins_and_the_nearest_is_found() {
    let view = ScatterView { x: [-10.0, 0.0], y: [-20.0, 0.0], size: [300.0, 200.0] };
    let points: Vec<[f32; 2]> =
        (0..20_000).map(|i| [-(i as f32 * 0.37) % 12.0, -(i as f32 * 1.13) % 20.0]).chain([[1.0, 1.0]]).collect();
    let bins = Bins::new(&points, 0..points.len() as u32, &view);
    let inside = |[x, y]: &[f32; 2]| (-10.0..=0.0).contains(x) && (-20.0..=0.0).contains(y);
    let seen = points.iter().filter(|point| inside(point)).count();
    assert!(bins.len() <= seen && seen - bins.len() < 200, "the edges apart all in view are there");
    let dots: Vec<_> = bins.dots(&points, &view).collect();
    assert_eq!(dots.iter().map(|dot| dot.count as usize).sum::<usize>(), bins.len());
    assert!(dots.len() <= 100 * 67 && dots.iter().any(|dot| dot.count == bins.most()));
    for at in [[150.0, 100.0], [3.0, 4.0], [299.0, 199.0]] {
        let distance = |index: usize| {
            let [x, y] = view.place(points[index]);
            (x - at[0]).hypot(y - at[1])
        };
        let brute = (0..points.len()).filter(|i| inside(&points[*i]) && distance(*i) <= 8.0);
        let (nearest, near) = bins.nearest(&points, &view, at, 8.0).expect("points are dense");
        let best = brute.clone().map(distance).fold(f32::INFINITY, f32::min);
        assert!((distance(nearest) - best).abs() < 1e-4, "{at:?}");
        assert!(near <= brute.count());
    }
    assert_eq!(Bins::new(&points, std::iter::empty(), &view).nearest(&points, &view, [9.0, 9.0], 8.0), None);
}

#[test]
fn few_points_are_discs_and_many_are_squares_over_two_axes() {
    for (count, few) in [(50_u16, true), (20_000, false)] {
        let at = |n: u16| [-f32::from(n % 101) * 0.1, -f32::from(n % 197) * 0.1];
        let points: Vec<[f32; 2]> = (0..count).map(at).collect();
        let both = (&SansSerif as &dyn interlinear::figure::measure::TextMeasure, Palette::of(false));
        let labels = ["log p by count", "log p by model"];
        let figure = scatter::whole(&points, &[3, 7], labels, size(500.0, 400.0), both, Provenance::default());
        let dots = figure.marks.iter().filter_map(|mark| if let Mark::Dots(dots) = mark { Some(dots) } else { None });
        let dots: Vec<_> = dots.collect();
        assert!(dots.len() == 2 && dots[0].is_square != few && !dots[1].dots.is_empty());
        assert!(dots[0].dots.len() <= usize::from(count) && dots[0].dots.len() > 10);
        let inside = dots
            .iter()
            .flat_map(|dots| &dots.dots)
            .all(|(at, _)| (0.0..=500.0).contains(&at.x) && (0.0..=400.0).contains(&at.y));
        assert!(inside, "all points are in view");
        let text = svg(&figure);
        let document = parsed(&text);
        assert_eq!(elements(&document, "circle").is_empty(), !few);
        let words: Vec<_> = elements(&document, "text").iter().filter_map(roxmltree::Node::text).collect();
        assert!(labels.iter().all(|label| words.contains(label)) && words.contains(&"0"), "{words:?}");
        assert!(!text.contains("NaN"));
    }
    let both = (&SansSerif as &dyn interlinear::figure::measure::TextMeasure, Palette::of(false));
    let none = scatter::whole(&[], &[], ["", ""], size(300.0, 200.0), both, Provenance::default());
    assert!(elements(&parsed(&svg(&none)), "circle").is_empty());
}
