//! A line of words that wraps, each of which can be pointed at and clicked.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{
    Align2, Color32, CornerRadius, FontId, Galley, Id, PointerButton, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

use crate::widgets::{bidi, labels, theme};
use engine::interventions::Said;

/// A word with its marks.
#[derive(Clone, Debug)]
pub struct FlowWord {
    pub text: String,
    pub label: String,
    pub back: Color32,
    pub colour: Color32,
    pub is_over: bool,
    pub is_selected: bool,
    /// Not the same in every output.
    pub differs: bool,
    pub said: Said,
}

/// What the mouse does on the words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowAnswer {
    pub over: Option<usize>,
    pub clicked: Option<usize>,
    /// The word whose menu is requested, and where.
    pub menu: Option<(usize, Pos2)>,
    pub picked: Option<(usize, usize)>,
}

/// How a line of words is painted.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    pub id: Id,
    pub font: &'a FontId,
    pub from_right: bool,
    pub picked: Option<(usize, usize)>,
    pub asked: Option<usize>,
}

const WIDEST: f32 = 320.0;
const PADDING: Vec2 = vec2(3.0, 1.5);
const GAP: Vec2 = vec2(1.0, 3.0);

/// Corners of boxes laid out in lines of `width`, and the total height. A box wider than a line has its own line.
pub fn wrap(sizes: &[Vec2], width: f32, gap: Vec2, from_right: bool) -> (Vec<Pos2>, f32) {
    let mut corners = Vec::with_capacity(sizes.len());
    let (mut x, mut y, mut line) = (0.0, 0.0, 0.0_f32);
    for size in sizes {
        if x > 0.0 && x + size.x > width {
            (x, y, line) = (0.0, y + line + gap.y, 0.0);
        }
        corners.push(pos2(if from_right { width - x - size.x } else { x }, y));
        x += size.x + gap.x;
        line = line.max(size.y);
    }
    (corners, y + line)
}

pub fn pitch(ui: &Ui, font: &FontId) -> f32 {
    ui.fonts_mut(|fonts| fonts.row_height(font)) + 2.0 * PADDING.y + GAP.y
}

/// Paints the words and returns what the mouse does. `tooltip` gives the text for the word under the mouse.
pub fn flow(ui: &mut Ui, flow: &Flow<'_>, words: &[FlowWord], tooltip: impl Fn(usize) -> String) -> FlowAnswer {
    let &Flow { id, font, from_right, picked, asked } = flow;
    let galley = |word: &FlowWord| {
        let text = if from_right { bidi::turned(&word.text) } else { word.text.as_str().into() };
        labels::galley(ui.painter(), &text, font, word.colour, WIDEST)
    };
    let galleys: Vec<Arc<Galley>> = words.iter().map(galley).collect();
    let sizes: Vec<Vec2> = galleys.iter().map(|galley| galley.size() + 2.0 * PADDING).collect();
    let width = ui.available_width();
    let (corners, height) = wrap(&sizes, width, GAP, from_right);
    let (_, rect) = ui.allocate_space(vec2(width, height));
    let mut answer = FlowAnswer::default();
    let place = |n: usize| Rect::from_min_size(rect.min + corners[n].to_vec2(), sizes[n]);
    ui.ctx().allow_widget_id_changes_in(rect.expand(1.0));
    for (n, (word, galley)) in words.iter().zip(galleys).enumerate() {
        let (place, nearest) = (place(n), |at: Pos2| nearest((0..words.len()).map(place), at));
        if !ui.is_rect_visible(place) && ui.clip_rect().is_positive() {
            continue;
        }
        let response = ui.interact(place, id.with(n), Sense::CLICK | Sense::DRAG);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &word.label));
        if response.contains_pointer() {
            answer.over = Some(n);
            response.clone().on_hover_text(tooltip(n));
        }
        if response.clicked() {
            // with Shift words are selected as by dragging
            if ui.input(|input| input.modifiers.shift) {
                let first = picked.map_or(n, |(first, _)| first);
                answer.picked = Some((n.min(first), n.max(first)));
            } else {
                answer.clicked = Some(n);
            }
        }
        if response.secondary_clicked() {
            answer.menu = Some((n, response.interact_pointer_pos().unwrap_or(place.left_bottom())));
        } else if asked == Some(n) {
            answer.menu = Some((n, place.left_bottom()));
        }
        if let Some(at) = response.interact_pointer_pos().filter(|_| response.dragged_by(PointerButton::Primary)) {
            let other = nearest(at);
            answer.picked = Some((n.min(other), n.max(other)));
        }
        let is_picked = picked.is_some_and(|(first, last)| (first..=last).contains(&n));
        paint(ui, word, place, galley, is_picked);
    }
    answer
}

fn nearest(places: impl Iterator<Item = Rect>, at: Pos2) -> usize {
    let near = places.map(|place| place.distance_sq_to_pos(at)).enumerate();
    near.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(n, _)| n)
}

/// The text from one of its words to another; if the text has other words, these joined with spaces.
pub fn part(text: &str, words: &[&str], (first, last): (usize, usize)) -> String {
    let last = last.min(words.len().saturating_sub(1));
    if first > last {
        return String::new();
    }
    let (mut at, mut start) = (0, 0);
    for (n, word) in words.iter().enumerate().take(last + 1) {
        let Some(found) = text[at..].find(word) else {
            return words.get(first..=last).unwrap_or_default().join(" ");
        };
        if n == first {
            start = at + found;
        }
        at += found + word.len();
    }
    text.get(start..at).unwrap_or_default().to_owned()
}

fn paint(ui: &Ui, word: &FlowWord, place: Rect, galley: Arc<Galley>, is_picked: bool) {
    let t = theme::tokens(ui);
    let painter = ui.painter();
    let radius = CornerRadius::same(theme::RADIUS_SMALL);
    if word.back != Color32::TRANSPARENT {
        painter.rect_filled(place, radius, word.back);
    }
    match word.said {
        Said::Free => {}
        Said::Held => drop(painter.rect_stroke(place, radius, Stroke::new(1.0, t.set_soft), StrokeKind::Inside)),
        Said::Forced => drop(painter.rect(place, radius, t.set_soft, Stroke::new(2.0, t.set), StrokeKind::Inside)),
    }
    if is_picked {
        painter.rect_filled(place.expand2(vec2(0.5, 1.5)), 0.0, ui.visuals().selection.bg_fill);
    }
    if word.is_selected {
        painter.rect(place, radius, t.accent, Stroke::new(1.5, t.accent), StrokeKind::Inside);
    } else if word.is_over {
        painter.rect(place, radius, t.accent_soft, Stroke::new(1.5, t.accent), StrokeKind::Inside);
    }
    let corner = Align2::CENTER_CENTER.anchor_size(place.center(), galley.size()).min;
    if word.is_selected {
        painter.galley_with_override_text_color(corner, galley, t.on_accent);
    } else {
        painter.galley(corner, galley, word.colour);
    }
    if word.differs {
        let line = if word.is_selected { t.on_accent } else { t.accent };
        painter.hline(place.shrink2(vec2(4.0, 0.0)).x_range(), place.bottom() - 1.5, Stroke::new(1.5, line));
    }
}
