//! One row of numbers as bars over the source words, by egui_plot, with slanted words under them, or with level ones that
//! are cut where there is no room.

use egui::accesskit::Role;
use egui::{Rect, Sense, Ui, Vec2, pos2, vec2};
use egui_plot::{Bar, BarChart, HLine, Plot, PlotPoint};

use crate::widgets::{has_reader, labels, marks, node, theme};
use crate::{app::document::table::SourceWord, widgets::marks::WholeLetters};
use figure::label::Tone;
use figure::mark::{Across, Down, Mark, TextMark};
use figure::measure::TextMeasure as _;

const WORDS: f32 = 46.0;
const LEVEL_WORDS: f32 = 17.0;
/// Closer words are left out.
const PITCH: f32 = 13.0;
const BARS: f32 = 36.0;
pub const LEAST: f32 = BARS + WORDS;
const ANGLE: f32 = 0.85;
const NUMBERS: f32 = 0.85;

/// Returns the source word under the mouse. `is_share`: the axis goes from 0 to 1.
pub fn source_bars(
    ui: &mut Ui, name: &str, source: &[SourceWord], values: &[f32], marked: Option<usize>, is_share: bool,
) -> Option<usize> {
    let t = theme::tokens(ui);
    let is_low = ui.available_height() < LEAST;
    let height = (ui.available_height() - if is_low { LEVEL_WORDS } else { WORDS }).max(BARS);
    let count = values.len().max(1);
    // Words beyond the reach of a location score have no energy.
    let bars = values.iter().enumerate().filter(|(_, value)| !value.is_nan()).map(|(j, value)| {
        let colour = if marked == Some(j) { t.accent } else { t.accent.gamma_multiply(0.62) };
        Bar::new(j as f64, f64::from(*value)).width(0.8).fill(colour)
    });
    let chart = BarChart::new(name, bars.collect()).allow_hover(false);
    let mut plot = Plot::new((name, "bars"))
        .height(height)
        .show_axes([false, true])
        .show_grid([false, true])
        .show_background(false)
        .show_crosshair(false)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .set_margin_fraction(vec2(0.0, 0.06))
        .y_axis_min_width(30.0)
        .include_x(-0.5)
        .include_x(count as f64 - 0.5)
        .include_y(0.0)
        .cursor_color(egui::Color32::TRANSPARENT)
        .sense(Sense::hover());
    if is_share {
        plot = plot.include_y(1.0);
    }
    // a number below the longest bar stands within the plot as well
    let (least, most) = values
        .iter()
        .filter(|value| value.is_finite())
        .fold((0.0_f32, 0.0_f32), |(low, high), value| (low.min(*value), high.max(*value)));
    let line = WholeLetters(ui).height(theme::TEXT_SMALL * NUMBERS) / height;
    if least < 0.0 {
        plot = plot.include_y(f64::from(least - (most - least) * 1.3 * line));
    }
    let shown = plot.show(ui, |plot| {
        plot.hline(HLine::new("zero", 0.0).color(t.weak).allow_hover(false));
        plot.bar_chart(chart);
    });
    let place = |j: f64, value: f64| shown.transform.position_from_point(&PlotPoint::new(j, value));
    let pitch = (place(1.0, 0.0).x - place(0.0, 0.0).x).abs();
    let frame = shown.response.rect;
    numbers(
        ui,
        values,
        pitch,
        is_share,
        |j, value| pos2(place(j as f64, f64::from(value)).x, place(0.0, f64::from(value)).y),
        frame,
    );
    let greatest = values.iter().enumerate().filter(|(_, value)| value.is_finite());
    let greatest = greatest.max_by(|a, b| a.1.total_cmp(b.1)).map(|(j, _)| j);
    words(ui, source, (marked, greatest), (pitch, is_low), |j| pos2(place(j as f64, 0.0).x, frame.bottom() + 3.0));
    label(ui, name, source, values, &shown.response, |j| {
        Rect::from_center_size(pos2(place(j as f64, 0.0).x, frame.center().y), Vec2::new(pitch, frame.height()))
    });
    let over = shown.response.hover_pos().map(|point| shown.transform.value_from_position(point).x.round());
    let over = over.filter(|x| *x >= 0.0 && (*x as usize) < values.len()).map(|x| x as usize)?;
    let word = source.get(over).map_or_else(String::new, labels::source_text);
    shown.response.on_hover_text_at_pointer(format!("{word}  {name} {}", number(values[over])));
    Some(over)
}

fn number(value: f32) -> String {
    if value.is_nan() { tr!("none").to_owned() } else { format!("{value:.3}") }
}

fn numbers(ui: &Ui, values: &[f32], pitch: f32, is_share: bool, end: impl Fn(usize, f32) -> egui::Pos2, frame: Rect) {
    let text = |value: f32| if is_share { format!("{value:.2}").replacen('0', "", 1) } else { format!("{value:.1}") };
    let size = theme::TEXT_SMALL * NUMBERS;
    let known = || values.iter().enumerate().filter(|(_, value)| value.is_finite());
    let widest = known().map(|(_, value)| WholeLetters(ui).width(&text(*value), size)).fold(0.0, f32::max);
    if widest + 2.0 > pitch {
        return;
    }
    let half = 0.5 * WholeLetters(ui).height(size);
    let number = |(j, value): (usize, &f32)| {
        let end = end(j, *value);
        let y = if *value < 0.0 { end.y + half } else { end.y - half };
        let middle = pos2(end.x, y.clamp(frame.top() + half, (frame.bottom() - half).max(frame.top() + half)));
        let anchor = (Across::Centre, Down::Middle);
        Mark::Text(TextMark::new(text(*value), middle, anchor, size, theme::palette(ui).text))
    };
    marks::paint(ui.painter(), known().map(number));
}

/// Level words that do not fit below their bars are left out but for the marked one or, without one, that of the greatest bar.
fn words(
    ui: &mut Ui, source: &[SourceWord], (marked, greatest): (Option<usize>, Option<usize>),
    (pitch, is_level): (f32, bool), foot: impl Fn(usize) -> egui::Pos2,
) {
    let palette = theme::palette(ui);
    let stride = ((PITCH / pitch.max(0.1)).ceil() as usize).max(1);
    let width = |word: &SourceWord| WholeLetters(ui).width(&word.text, theme::TEXT_SMALL);
    let is_few = is_level && source.iter().any(|word| width(word) > stride as f32 * pitch - 2.0);
    let room = WORDS / ANGLE.sin();
    let word = |(j, word): (usize, &SourceWord)| {
        let is_marked = marked == Some(j);
        let colour = if is_marked { palette.accent } else { Tone::of(word.is_unk, false).colour(palette) };
        if is_level {
            let (at, anchor) = (foot(j) - vec2(0.0, 2.0), (Across::Centre, Down::Top));
            let text = TextMark::new(word.text.clone(), at, anchor, theme::TEXT_SMALL, colour);
            return Mark::Text(TextMark {
                room: if is_few { room } else { (stride as f32 * pitch - 2.0).max(1.0) },
                is_underlined: is_marked,
                ..text
            });
        }
        let (end, anchor) = (foot(j) + vec2(2.0, 4.0), (Across::Right, Down::Middle));
        let text = TextMark::new(word.text.clone(), end, anchor, theme::TEXT_SMALL, colour);
        Mark::Text(TextMark { room, angle: ANGLE, is_underlined: is_marked, ..text })
    };
    // The words hang below the plot and lean to its left edge; the panel's edge cuts them.
    let is_seen =
        |j: usize| if is_few { marked.or(greatest) == Some(j) } else { j.is_multiple_of(stride) || marked == Some(j) };
    let seen = source.iter().enumerate().filter(|(j, _)| is_seen(*j));
    marks::paint(ui.painter(), seen.map(word));
}

fn label(
    ui: &Ui, name: &str, source: &[SourceWord], values: &[f32], plot: &egui::Response, bar: impl Fn(usize) -> Rect,
) {
    node(plot, Role::Figure, || tr!("{name} over the source words", name));
    if !has_reader(plot) {
        return;
    }
    ui.ctx().allow_widget_id_changes_in(plot.rect.expand(4.0));
    for (j, (word, value)) in source.iter().zip(values).enumerate() {
        let part = ui.interact(bar(j), plot.id.with(("bar", j)), Sense::hover());
        node(&part, Role::Meter, || format!("{name} {} {}", labels::source_text(word), number(*value)));
    }
}
