//! The plane as numbers and marks.

use interlinear::figure::geometry::{Area, Point, point, size};
use interlinear::figure::mark::{Dots, Mark};
use interlinear::figure::plane::{Camera, Labels, Plane};
use interlinear::figure::{measure::SansSerif, palette::Palette, plane, provenance::Provenance, svg::svg};

use super::{elements, parsed, texts};

const VIEW: Area = Area::from_min_max(point(100.0, 50.0), point(900.0, 650.0));

#[test]
fn the_whole_map_is_in_view_and_places_come_back() {
    let places = [[-3.0, 10.0], [5.0, 10.5], [0.0, 9.0], [f32::NAN, 0.0]];
    let camera = Camera::whole(&places, VIEW.size());
    assert!(places[..3].iter().all(|place| VIEW.contains(camera.to_screen(&VIEW, *place))));
    let up = |place| camera.to_screen(&VIEW, place).y;
    assert!(up(places[1]) < up(places[2]), "up is up");
    let back = camera.to_place(&VIEW, camera.to_screen(&VIEW, places[1]));
    assert!((back[0] - 5.0).abs() < 1e-4 && (back[1] - 10.5).abs() < 1e-4, "{back:?}");
    // Nothing, one place, and places that are all the same have a view as well.
    for few in [&[][..], &[[2.0, 2.0]], &[[1.0, 1.0]; 3]] {
        let camera = Camera::whole(few, VIEW.size());
        assert!(camera.scale.is_finite() && few.iter().all(|place| camera.to_screen(&VIEW, *place) == VIEW.center()));
    }
}

#[test]
fn zooming_keeps_what_is_under_the_mouse_and_has_limits() {
    let places = [[0.0, 0.0], [8.0, 4.0]];
    let camera = Camera::whole(&places, VIEW.size());
    let at = camera.to_screen(&VIEW, places[1]);
    let closer = camera.zoomed(&VIEW, at, 3.0);
    assert!(closer.to_screen(&VIEW, places[1]).distance(at) < 0.01);
    assert!((closer.closeness() - 3.0).abs() < 1e-4);
    assert!(camera.zoomed(&VIEW, at, 1e9).closeness() <= 200.1 && camera.zoomed(&VIEW, at, 1e-9).closeness() >= 0.49);
    let moved = closer.panned(size(30.0, -20.0));
    let wanted = closer.to_screen(&VIEW, places[0]) + size(30.0, -20.0);
    assert!(moved.to_screen(&VIEW, places[0]).distance(wanted) < 0.01);
    assert!(closer.centred(places[0]).to_screen(&VIEW, places[0]).distance(VIEW.center()) < 0.01);
}

#[test]
fn labels_never_overlap_and_who_comes_first_has_the_choice() {
    let mut labels = Labels::default();
    let letters = size(60.0, 14.0);
    let feet: Vec<Point> = (0..4000)
        .map(|n: u32| {
            let part = |by: u32| f32::from((n.wrapping_mul(by) % 8192) as u16) / 8192.0;
            VIEW.min + size(VIEW.width() * part(2_654_435_761), VIEW.height() * part(40_503))
        })
        .collect();
    for (n, foot) in feet.iter().enumerate() {
        let crowded = labels.is_crowded(*foot, letters.y, &VIEW);
        let placed = labels.place(n, *foot, letters, &VIEW);
        assert!(!(crowded && placed), "what is crowded has no place");
    }
    let first = labels.placed[0].0;
    assert!(first < 5 && labels.placed.is_sorted_by_key(|placed| placed.0), "the first that has room");
    assert!(labels.placed.len() > 50);
    for (n, (_, a)) in labels.placed.iter().enumerate() {
        assert!(VIEW.union(*a) == VIEW);
        assert!(labels.placed[..n].iter().all(|(_, b)| apart(a, b)), "label {n} overlaps");
    }
    let again = |order: &mut dyn Iterator<Item = usize>| {
        let mut labels = Labels::default();
        for n in order {
            labels.place(n, feet[n], letters, &VIEW);
        }
        labels.placed
    };
    assert_eq!(again(&mut (0..4000)), labels.placed, "the same labels again");
    assert_ne!(again(&mut (0..4000).rev()), labels.placed);
}

#[test]
fn a_point_is_hit_from_near_and_colours_go_from_end_to_end() {
    let points = [point(10.0, 10.0), point(20.0, 10.0), point(300.0, 10.0)];
    for (at, expected) in [((11.0, 10.0), Some(0)), ((17.0, 12.0), Some(1)), ((150.0, 10.0), None)] {
        assert_eq!(plane::hit(&points, point(at.0, at.1)), expected);
    }
    for (value, most, is_rank, expected) in [
        (1, 100, true, 0.0),
        (100, 100, true, 1.0),
        (26, 101, true, 0.5),
        (51, 101, false, 0.5),
        (900, 10, false, 1.0),
        (1, 1, true, 0.0),
    ] {
        assert!((plane::share(value, most, is_rank) - expected).abs() < 1e-6, "{value} of {most}");
    }
    assert!(plane::most_labels(size(0.0, 0.0)) > 0 && plane::most_labels(size(1e5, 1e5)) < 1000);
}

fn apart(a: &Area, b: &Area) -> bool {
    let both = a.intersect(*b);
    both.width() <= 0.0 || both.height() <= 0.0
}

fn dots<'a>(marks: &'a [Mark<'_>]) -> Vec<&'a Dots> {
    marks.iter().filter_map(|mark| if let Mark::Dots(dots) = mark { Some(dots) } else { None }).collect()
}

#[test]
fn what_is_selected_has_a_ring_a_label_and_stands_out() {
    let places: Vec<[f32; 2]> = (0..200).map(|n: u16| [f32::from(n % 20), f32::from(n / 20)]).collect();
    let words: Vec<String> = (0..200).map(|n| format!("<word {n}>")).collect();
    let text = |at: usize| words[at].as_str();
    let plane = Plane {
        feet: &[],
        shade: &|at| at as f32 / 200.0,
        text: &text,
        selected: Some(150),
        near: &[151, 130],
        matches: &[],
        under: None,
        closeness: 1.0,
        dark: false,
    };
    let figure = plane.whole(&places, size(800.0, 600.0), &SansSerif, Provenance::default());
    let all = dots(&figure.marks);
    let counts: Vec<usize> = all.iter().map(|dots| dots.dots.len()).collect();
    assert_eq!(counts, [197, 3, 3, 1], "aside, in full, special, selected");
    let covers = |n: usize| all[n].dots[0].1.channels()[3];
    assert!(covers(0) < 100 && covers(1) == 255);
    let labels = texts(&figure.marks);
    assert!(labels[0].text == "<word 150>" && labels[0].colour == Palette::of(false).accent, "{:?}", labels[0]);
    assert!(labels.len() > 12 && labels.len() < 200);
    let view = Area::from_min_max(point(0.0, 0.0), point(800.0, 600.0));
    assert!(all.iter().flat_map(|dots| &dots.dots).all(|(at, _)| view.contains(*at)));
    let text = svg(&figure);
    let document = parsed(&text);
    assert_eq!(elements(&document, "circle").len(), 204);
    let written: Vec<_> = elements(&document, "text").iter().filter_map(roxmltree::Node::text).collect();
    assert!(written.contains(&"<word 150>") && written.len() == labels.len());
    assert!(!text.contains("NaN"));
}

#[test]
fn what_was_looked_for_is_painted_over_the_rest_and_a_plane_without_points_is_its_ground() {
    let feet = [point(110.0, 60.0), point(500.0, 300.0), point(5000.0, 300.0)];
    let text = |_: usize| "a";
    let plane = Plane {
        feet: &feet,
        shade: &|_| 0.5,
        text: &text,
        selected: None,
        near: &[],
        matches: &[1, 2, 77],
        under: Some(0),
        closeness: 1.0,
        dark: true,
    };
    let marks = plane.marks(&VIEW, &Labels::default());
    let places = |n: usize| dots(&marks)[n].dots.iter().map(|(at, _)| *at).collect::<Vec<Point>>();
    assert_eq!((places(0), places(1)), (vec![feet[0]], vec![feet[1]]), "only what is in view");
    assert_eq!(places(3), [feet[0]], "a ring under the mouse");
    let none = Plane { feet: &[], matches: &[], under: None, ..plane };
    let figure = none.whole(&[], size(100.0, 100.0), &SansSerif, Provenance::default());
    assert!(dots(&figure.marks).iter().all(|dots| dots.dots.is_empty()) && texts(&figure.marks).is_empty());
    assert_eq!(elements(&parsed(&svg(&figure)), "rect").len(), 1);
}
