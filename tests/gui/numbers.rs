//! Widgets as numbers: wrapping, the order of right-to-left text, the parts of a column.

use egui::{RawInput, Rect, Vec2, pos2, vec2};
use interlinear::figure::geometry::{Area, point};
use interlinear::figure::mark::{
    Across, BorderSide, Curve, Down, LinesMark, Mark, Polygon, Rectangle, Stroke, TextMark,
};
use interlinear::widgets::{bidi, marks, words};
use interlinear::{figure::palette::Palette, pages::sentence::view::column::ColumnParts, ui::act};

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
fn the_parts_of_a_column_never_overlap() {
    for (height, output, beam) in [(300.0, 30.0, true), (460.0, 60.0, true), (460.0, 500.0, false), (900.0, 60.0, true)]
    {
        let plain = ColumnParts::split(vec2(400.0, height), (output, 25.0), beam, 0.0);
        let parts = plain.with_mixing();
        assert_eq!(plain.picture.top(), parts.picture.top(), "the picture of an ensemble begins as high as others");
        let all = [parts.header, parts.output, parts.picture, parts.mixing, parts.beam];
        for pair in all.windows(2) {
            assert!(pair[0].bottom() <= pair[1].top() + 0.01, "{height}: {parts:?}");
        }
        assert!(parts.picture.bottom() + 4.0 <= parts.mixing.top(), "{height}: the foot is apart from the last row");
        assert!(parts.beam.bottom() <= height && plain.picture.height() > 90.0, "{height}: {parts:?}");
        let lines = plain.output.height() / 25.0;
        assert!(output < 80.0 || lines == lines.floor(), "{height}: no line is cut in two, {lines}");
    }
}

#[test]
fn no_key_does_two_things() {
    for (n, a) in act::bindings().iter().enumerate() {
        for b in act::bindings().iter().skip(n + 1) {
            let shared = a.keys.iter().find(|key| b.keys.contains(key));
            assert!(shared.is_none() || a.act == b.act, "{} and {} share a key", a.name, b.name);
        }
    }
}

#[test]
fn the_window_paints_every_mark_where_it_stands() {
    let colour = Palette::of(false).accent;
    let stroke = Stroke { width: 2.0, colour };
    let area = Area::from_min_max(point(100.0, 50.0), point(180.0, 90.0));
    let (min, max) = (area.min, area.max);
    let text = |anchor, angle| {
        let text = TextMark::new("word", area.center(), anchor, 12.0, colour);
        Mark::Text(TextMark { angle, room: 70.0, ..text })
    };
    // What is painted, and a place that must lie in it.
    let all = [
        (Mark::Rect(Rectangle::framed(area, 3.0, stroke, BorderSide::Inside)), min),
        (Mark::Lines(LinesMark { ends: vec![[min, point(max.x, min.y)]], stroke, is_crisp: true }), point(140.0, 50.0)),
        (Mark::Lines(LinesMark { ends: vec![[min, max]], stroke, is_crisp: false }), area.center()),
        (Mark::Curve(Curve { points: [min, point(100.0, 90.0), point(180.0, 50.0), max], stroke }), area.center()),
        (Mark::Polygon(Polygon { corners: vec![min, point(180.0, 50.0), max], fill: colour, stroke }), max),
        (text((Across::Left, Down::Top), 0.0), point(143.0, 73.0)),
        (text((Across::Right, Down::Bottom), 0.0), point(137.0, 67.0)),
        (text((Across::Right, Down::Middle), 0.85), point(130.0, 81.0)),
    ];
    for (mark, place) in all {
        let mut is_cut = false;
        let mut output = egui::Context::default().run_ui(RawInput::default(), |ui| {
            is_cut = marks::paint(ui.painter(), [mark.clone()]);
        });
        output.textures_delta.clear();
        let shapes = output.shapes.iter().map(|clipped| clipped.shape.visual_bounding_rect());
        let painted = shapes.filter(Rect::is_positive).reduce(Rect::union).expect("it is painted");
        assert!(painted.contains(place), "{mark:?}: {painted:?}");
        assert!(area.expand(6.0).contains_rect(painted) && !is_cut, "{mark:?}: {painted:?}");
    }
}
