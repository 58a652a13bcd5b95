//! The sheet with the alignment as a table, for those who read or hear it: a row for each target word.

use egui::accesskit::Role;
use egui::{Layout, RichText, Sense, Ui, WidgetInfo, vec2};

use crate::app::document::table::LEFT_OUT;
use crate::app::{document::column::Column, files::in_words, files::in_words::WordInWords, settings::Shown};
use crate::pages::sentence::{command::SelectCommand, view::context};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::shell::sheet;
use crate::widgets;
use crate::widgets::{bidi, labels, rows, theme};
use engine::lang;

const WIDTH: f32 = 640.0;
const AROUND: f32 = 190.0;
/// Of the width for the target words.
const TARGET: f32 = 0.34;

pub(super) fn words_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if window.local.shared.sheet != Sheet::Alignment {
        return;
    }
    let response = sheet::modal(ui, "alignment_sheet", WIDTH, |ui, room| {
        let Some(column) = window.app.selected_column() else {
            ui.label(tr!("Nothing is translated yet"));
            return ui.button(tr!("Close")).clicked();
        };
        let closes = heading_ui(ui, window, column);
        about_ui(ui, window, column);
        ui.separator();
        table_ui(ui, window, column, room.y - AROUND);
        closes
    });
    if response.inner || response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
}

/// Returns whether the sheet is closed.
fn heading_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) -> bool {
    let has_rows = column.table.as_ref().is_some_and(|table| table.alpha.is_some());
    let buttons = |ui: &mut Ui| {
        let closes = ui.button(tr!("Close")).clicked();
        let copy = ui.add_enabled(has_rows, egui::Button::new(tr!("Copy")));
        if copy.on_hover_text(tr!("Copy the table as text, with tabs between the columns")).clicked() {
            window.local.shared.copied = Some(in_words::tsv(column, window.app.replaces(column)));
        }
        let heading = RichText::new(tr!("Alignment of {}", column.name())).heading();
        ui.with_layout(Layout::left_to_right(egui::Align::Center), |ui| {
            ui.add(egui::Label::new(heading).truncate());
        });
        closes
    };
    ui.horizontal(|ui| ui.with_layout(Layout::right_to_left(egui::Align::Center), buttons).inner).inner
}

/// Which translation it is, and what the shares are.
fn about_ui(ui: &mut Ui, window: &Window<'_>, column: &Column) {
    let Some(table) = &column.table else { return };
    let text = if table.is_given {
        format!("{} ({})", table.text, lang::text(crate::app::document::table::GIVEN))
    } else {
        tr!("Hypothesis {}: {text}", table.hypothesis + 1, text = table.text)
    };
    ui.add(egui::Label::new(bidi::visual(&text)).wrap());
    if table.alpha.is_none() {
        return;
    }
    if column.is_probe() {
        labels::warm(ui, in_words::about(column));
    } else {
        labels::note(ui, in_words::about(column));
    }
    if window.app.view.settings.shown != Shown::Alpha {
        labels::note(ui, tr!("The picture shows other numbers."));
    }
}

fn table_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, most: f32) {
    let Some(words) = in_words::rows(column, window.app.replaces(column)) else {
        let why = match column.table.as_deref() {
            None => tr!("Nothing is translated yet"),
            Some(table) if table.left_out => lang::text(LEFT_OUT),
            Some(_) => context::without_alignment(column),
        };
        ui.add(egui::Label::new(why).wrap());
        return;
    };
    let selected = window.app.view.selection.target.filter(|_| window.app.view.selection.column == Some(column.id));
    let first = selected.filter(|i| *i < words.len()).unwrap_or(0);
    let takes_focus = ui.memory(|memory| memory.focused().is_none());
    widgets::growing(most).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for (i, word) in words.iter().enumerate() {
            let response = row_ui(ui, word, (i, words.len()), selected == Some(i));
            if takes_focus && i == first {
                response.request_focus();
            }
            if response.gained_focus() {
                response.scroll_to_me(None);
            }
            window.push_on(&response, SelectCommand::Target { column: column.id, i });
        }
    });
}

fn row_ui(ui: &mut Ui, word: &WordInWords, (i, count): (usize, usize), is_selected: bool) -> egui::Response {
    let t = theme::tokens(ui);
    let (width, gap) = (ui.available_width(), vec2(theme::SPACE_2, theme::SPACE_1));
    let galley = |text: &str, width: f32| {
        ui.painter().layout(bidi::visual(text).into_owned(), theme::body(), t.text, width - 2.0 * gap.x)
    };
    let (target, sources) = (galley(&word.target, TARGET * width), galley(&word.sources, (1.0 - TARGET) * width));
    let height = target.size().y.max(sources.size().y) + 2.0 * gap.y;
    let (rect, response) =
        ui.allocate_exact_size(vec2(width, height.max(ui.spacing().interact_size.y)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &word.said));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_position_in_set(i);
        node.set_size_of_set(count);
    });
    ui.painter().rect_filled(rect, 0.0, rows::ground(ui, &response, is_selected, None));
    ui.painter().galley(rect.min + gap, target, t.text);
    ui.painter().galley(rect.min + vec2(TARGET * width, 0.0) + gap, sources, t.text);
    response
}
