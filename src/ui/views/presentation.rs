//! Floor 13: a picture in large type, for a room that looks at a projector: the sentence, which can be typed over, a column
//! or two, the lesson that is open, nothing else.

use egui::{Key, RichText, Ui};

use crate::figure::measure::TextMeasure as _;
use crate::pages::sentence::view::source;
use crate::pages::window::act::Act;
use crate::pages::window::local::Window;
use crate::pages::window::menu;
use crate::widgets::marks::WholeLetters;
use crate::widgets::theme;

/// How much larger everything is than in the window.
pub const LARGER: f32 = 1.7;

/// Whether only this is painted: some pages can be presented.
pub fn is_shown(window: &Window<'_>) -> bool {
    let page = window.pages.get(window.app.view.page());
    window.local.presents && page.presents() && !window.app.document.columns().is_empty()
}

/// The sentence, the columns, and how to go on.
pub fn presentation_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let weak = theme::tokens(ui).weak;
    source::editor_ui(ui, window);
    // then the keys go through the steps again
    if ui.input(|input| input.key_pressed(Key::Enter)) {
        ui.memory_mut(|memory| memory.surrender_focus(source::editor_id()));
    }
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
            let said = "Page Up and Page Down, Esc leaves";
            if WholeLetters(ui).width(said, theme::TEXT_SMALL) < ui.available_width() {
                ui.label(RichText::new(said).size(theme::TEXT_SMALL).color(weak));
            }
        });
    });
}
