//! Floor 13: one picture in large type, for a room that looks at a projector: the sentence, one column, nothing else.

use egui::{Label, RichText, Ui};

use crate::figure::measure::TextMeasure as _;
use crate::pages::window::act::Act;
use crate::pages::window::local::Window;
use crate::pages::window::menu;
use crate::widgets::marks::WholeLetters;
use crate::widgets::{bidi, theme};

/// How much larger everything is than in the window.
pub const LARGER: f32 = 1.7;

/// How small the letters of a long sentence become, of their size.
const LEAST_SENTENCE: f32 = 0.6;

/// Whether only this is painted: some pages can be presented.
pub fn is_shown(window: &Window<'_>) -> bool {
    let page = window.pages.get(window.app.view.page());
    window.local.presents && page.presents().is_some() && !window.app.document.columns().is_empty()
}

/// The sentence, the column, and how to go on.
pub fn presentation_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let weak = theme::tokens(ui).weak;
    let source = bidi::visual(window.app.document.source()).into_owned();
    // a long sentence has smaller letters before it is cut
    let wide = WholeLetters(ui).width(&source, theme::TEXT_SENTENCE).max(1.0);
    let share = (ui.available_width() / wide).clamp(LEAST_SENTENCE, 1.0);
    let text = RichText::new(&source).size(share * theme::TEXT_SENTENCE);
    ui.add(Label::new(text).truncate()).on_hover_text(source);
    let foot = ui.text_style_height(&egui::TextStyle::Small) + theme::SPACE_2;
    let rect = ui.available_rect_before_wrap();
    let (above, below) = rect.split_top_bottom_at_y((rect.bottom() - foot).max(rect.top()));
    let mut child = ui.new_child(egui::UiBuilder::new().id_salt("presented").max_rect(above));
    let page = window.pages.get(window.app.view.page());
    page.present_ui(&mut child, window);
    let mut foot =
        ui.new_child(egui::UiBuilder::new().id_salt("presenting").max_rect(below.shrink2(egui::vec2(0.0, 2.0))));
    foot.horizontal(|ui| {
        ui.spacing_mut().button_padding.y = 0.0;
        for (name, act) in
            [("Previous", Act::PreviousSentence), ("Next", Act::NextSentence), ("Next model", Act::NextColumn)]
        {
            menu::act_button(ui, window, name, act);
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            menu::act_button(ui, window, "Leave", Act::Present);
            let what = page.presents().unwrap_or_default();
            let said = format!("Page Up and Page Down {what}, Esc leaves");
            ui.add(Label::new(RichText::new(said).size(theme::TEXT_SMALL).color(weak)).truncate());
        });
    });
}
