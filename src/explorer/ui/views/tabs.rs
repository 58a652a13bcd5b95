//! The tabs of the pages, in the bar at the top.

use egui::accesskit::Role;
use egui::{Button, RichText, Ui, WidgetInfo};

use crate::pages::{PAGES, shell::act::Act, shell::local::Window, shell::menu::act_item};
use crate::{app::command::WindowCommand, widgets::theme};

pub fn tabs_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.x = theme::SPACE_1;
    for page in PAGES.iter().copied() {
        let is_shown = window.app.view.page == page;
        let name = RichText::new(page.name()).color(if is_shown { t.accent } else { t.weak });
        let tab = ui.add(Button::new(name).selected(is_shown).frame_when_inactive(is_shown));
        tab.widget_info(|| WidgetInfo::selected(Role::Tab, true, is_shown, page.title()));
        let key = Act::ShowPage(page).key_text(ui.ctx());
        if tab.on_hover_text(tr!("Show this page ({key})", key)).clicked() {
            window.push(WindowCommand::ShowPage(page));
        }
    }
}

pub fn menu_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let shown = window.app.view.page.name();
    let button = ui.menu_button(format!("{shown} \u{25be}"), |ui| {
        for page in PAGES.iter().copied() {
            act_item(ui, window, page.title(), Act::ShowPage(page));
        }
    });
    button.response.accessible_name(tr!("Page {shown}", shown));
}
