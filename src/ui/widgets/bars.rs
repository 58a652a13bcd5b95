//! Floor 9: words with horizontal bars, for the candidates of a position.

use egui::accesskit::Role;
use egui::{Align2, CornerRadius, Rect, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::ui::theme;
use crate::ui::widgets::labels;

/// A row's height, points.
pub const ROW: f32 = 19.0;
/// Room for the number at the end.
const NUMBER: f32 = 52.0;

/// One bar.
pub struct Bar {
    /// In front of the bar.
    pub text: String,
    /// 0..1.
    pub share: f32,
    /// Behind the bar.
    pub number: String,
    /// What a screen reader says.
    pub label: String,
    /// Drawn in the accent colour.
    pub is_marked: bool,
}

/// Paints the bars one under the other.
pub fn bars(ui: &mut Ui, bars: &[Bar]) {
    let t = theme::tokens(ui);
    let texts = bars.iter().map(|bar| bar.text.clone());
    let names = labels::widest(ui.painter(), texts).min(ui.available_width() * 0.4) + theme::SPACE_2;
    for bar in bars {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, &bar.label));
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let painter = ui.painter();
        let name = labels::galley(painter, &bar.text, &theme::small(), t.text, names);
        let at =
            Align2::RIGHT_CENTER.anchor_size(pos2(rect.left() + names - theme::SPACE_1, rect.center().y), name.size());
        painter.galley(at.min, name, t.text);
        let track = Rect::from_min_max(
            pos2(rect.left() + names + theme::SPACE_1, rect.top() + 4.0),
            pos2(rect.right() - NUMBER, rect.bottom() - 4.0),
        );
        let radius = CornerRadius::same(2);
        painter.rect_filled(track, radius, t.sunken);
        let length = (track.width() * bar.share.clamp(0.0, 1.0)).max(1.0);
        let colour = if bar.is_marked { t.accent } else { t.weak };
        painter.rect_filled(Rect::from_min_size(track.min, vec2(length, track.height())), radius, colour);
        painter.text(pos2(rect.right(), rect.center().y), Align2::RIGHT_CENTER, &bar.number, theme::small(), t.weak);
    }
}
