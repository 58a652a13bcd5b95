//! Class mode, and its large form for a projector: the sentence, a column or two, and the open lesson.

use egui::accesskit::Role;
use egui::{Key, RichText, Ui, WidgetInfo};

use crate::app::page::SENTENCE;
use crate::pages::{
    lesson::LessonCommand, sentence::command::SelectCommand, sentence::view::columns, shape::PageState,
    shell::act::Act, shell::local::Window, shell::menu, shell::source,
};
use crate::widgets::{labels, marks::WholeLetters, theme};
use figure::measure::TextMeasure as _;

pub const LARGER: f32 = 1.7;

const CODE_SIDE: f32 = 300.0;

pub fn is_shown(window: &Window<'_>, page: &dyn PageState) -> bool {
    window.is_plain() && page.presents() && !window.app.document.columns.is_empty()
}

pub fn presentation_ui(ui: &mut Ui, window: &mut Window<'_>, page: &dyn PageState) {
    let weak = theme::tokens(ui).weak;
    source::editor_ui(ui, window);
    // then the keys go through the steps again
    if ui.input(|input| input.key_pressed(Key::Enter)) {
        ui.memory_mut(|memory| memory.surrender_focus(source::editor_id()));
    }
    let foot = theme::FINGER + theme::SPACE_1;
    let rect = ui.available_rect_before_wrap();
    let (above, below) = rect.split_top_bottom_at_y((rect.bottom() - foot).max(rect.top()));
    let mut child = ui.new_child(egui::UiBuilder::new().id_salt("presented").max_rect(above));
    page.present_ui(&mut child, window);
    let mut foot =
        ui.new_child(egui::UiBuilder::new().id_salt("presenting").max_rect(below.shrink2(egui::vec2(0.0, 2.0))));
    foot.horizontal(|ui| {
        // before the first of the list comes what was typed
        let is_first = window.app.document.state.position.is_none_or(|position| position == 0);
        let previous = if is_first { Act::UndoSentence } else { Act::PreviousSentence };
        menu::act_button(ui, window, tr!("Previous"), previous);
        menu::act_button(ui, window, tr!("Next"), Act::NextSentence);
        next_model_ui(ui, window);
        let is_large = window.local.presents;
        if is_large {
            code_ui(ui, window);
        } else {
            window.push_if(
                labels::small_button(ui, tr!("Lessons")).clicked(),
                LessonCommand::Show(!window.lights.is_shown),
            );
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if is_large {
                menu::act_button(ui, window, tr!("Leave"), Act::Present);
            } else {
                menu::act_button(ui, window, tr!("All controls"), Act::Class);
                menu::act_button(ui, window, tr!("Large"), Act::Present);
            }
            let said = tr!("Page Up and Page Down, Esc leaves");
            if is_large && WholeLetters(ui).width(said, theme::TEXT_SMALL) < ui.available_width() {
                ui.label(RichText::new(said).size(theme::TEXT_SMALL).color(weak));
            }
        });
    });
}

/// The models by turns, where not all are in view.
fn next_model_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let models = &window.app.document.columns;
    let has_two = window.app.view.page == SENTENCE && !window.layout.solo;
    let in_view = if has_two { columns::fitting(window.app, ui.max_rect().width()).min(2) } else { 1 };
    if models.len() <= in_view {
        return;
    }
    let at = window.app.selected_column().and_then(|own| models.iter().position(|column| column.id == own.id));
    let next = models[at.map_or(0, |at| at + 1) % models.len()].id;
    window.push_if(labels::small_button(ui, tr!("Next model")).clicked(), SelectCommand::Column(next));
}

/// The code of the link, where there is one.
pub(super) fn squares_ui(ui: &mut Ui, window: &Window<'_>) {
    let (_, side, dark) = &window.local.code;
    // around a code four squares are light
    let all = side + 8;
    let square = (CODE_SIDE / all as f32).floor().max(1.0);
    let whole = egui::Vec2::splat(square * all as f32);
    let (rect, response) = ui.allocate_exact_size(whole, egui::Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, tr!("Link to what is shown, as a code")));
    ui.painter().rect_filled(rect, 0.0, theme::PAPER);
    for (at, _) in dark.iter().enumerate().filter(|(_, dark)| **dark) {
        let place = egui::vec2((at % side + 4) as f32, (at / side + 4) as f32) * square;
        let rect = egui::Rect::from_min_size(rect.min + place, egui::Vec2::splat(square));
        ui.painter().rect_filled(rect, 0.0, theme::INK);
    }
}

fn code_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let why = match &window.app.view.settings.site {
        None => tr!("A code needs the address of the explorer in a browser: interlinear explore --site ADDRESS"),
        Some(_) => tr!("What is set is too long for a code; copy the link instead"),
    };
    if window.local.code.2.is_empty() {
        ui.add_enabled(false, labels::small_sized(egui::Button::new(tr!("Code")))).on_disabled_hover_text(why);
        return;
    }
    ui.menu_button(tr!("Code"), |ui| squares_ui(ui, window));
}
