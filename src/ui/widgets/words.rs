//! Floor 9: a line of words that wraps, each of which can be pointed at and clicked.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{
    Align2, Color32, CornerRadius, FontId, Galley, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2,
    vec2,
};

use crate::ui::widgets::labels;
use crate::ui::{bidi, theme};

/// How a word looks.
#[derive(Clone, Debug)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// What a screen reader says.
    pub label: String,
    /// Behind it.
    pub back: Color32,
    /// Its letters.
    pub colour: Color32,
    /// The mouse is on it or on its like elsewhere.
    pub is_over: bool,
    /// It is in the inspector.
    pub is_selected: bool,
    /// Not so in every output.
    pub differs: bool,
}

/// Which words the mouse is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Under the mouse.
    pub over: Option<usize>,
    /// Clicked.
    pub clicked: Option<usize>,
}

/// A word is never wider.
const WIDEST: f32 = 320.0;

/// Corners of boxes of `sizes` laid in lines of `width`, and the height of all lines. From the right when
/// `from_right`. A box wider than a line has a line of its own.
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

/// Paints the words and returns what the mouse does. `tooltip` gives the text for the word under the mouse.
pub fn flow(
    ui: &mut Ui,
    id: egui::Id,
    words: &[Word],
    font: &FontId,
    from_right: bool,
    tooltip: impl Fn(usize) -> String,
) -> Answer {
    let padding = vec2(3.0, 1.5);
    let galley = |word: &Word| {
        let text = if from_right { bidi::turned(&word.text) } else { word.text.as_str().into() };
        labels::galley(ui.painter(), &text, font, word.colour, WIDEST)
    };
    let galleys: Vec<Arc<Galley>> = words.iter().map(galley).collect();
    let sizes: Vec<Vec2> = galleys.iter().map(|galley| galley.size() + 2.0 * padding).collect();
    let width = ui.available_width();
    let (corners, height) = wrap(&sizes, width, vec2(1.0, 3.0), from_right);
    let (_, rect) = ui.allocate_space(vec2(width, height));
    let mut answer = Answer::default();
    ui.ctx().allow_widget_id_changes_in(rect.expand(1.0));
    for (n, (word, galley)) in words.iter().zip(galleys).enumerate() {
        let place = Rect::from_min_size(rect.min + corners[n].to_vec2(), sizes[n]);
        if !ui.is_rect_visible(place) && ui.clip_rect().is_positive() {
            continue;
        }
        let response = ui.interact(place, id.with(n), Sense::CLICK);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &word.label));
        if response.contains_pointer() {
            answer.over = Some(n);
            response.clone().on_hover_text(tooltip(n));
        }
        if response.clicked() {
            answer.clicked = Some(n);
        }
        paint(ui, word, place, galley);
    }
    answer
}

fn paint(ui: &Ui, word: &Word, place: Rect, galley: Arc<Galley>) {
    let t = theme::tokens(ui);
    let painter = ui.painter();
    let radius = CornerRadius::same(theme::RADIUS_SMALL);
    if word.back != Color32::TRANSPARENT {
        painter.rect_filled(place, radius, word.back);
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
