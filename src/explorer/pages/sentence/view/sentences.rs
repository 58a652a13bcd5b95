//! The panel at the left: examples, opened files and history. Only visible rows are painted.

use egui::accesskit::Role;
use egui::{
    Align2, Area, CollapsingHeader, CornerRadius, Id, Order, Panel, Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2,
};

use crate::app::{command::WindowCommand, files::lists::List};
use crate::pages::shell::local::{Panel as PanelName, Window, keep_side};
use crate::pages::{
    sentence::command::ListCommand, sentence::view::memory::ListPlace, sentence::view::memory::SentenceMemory,
    shell::dialogs::TEXT,
};
use crate::widgets;
use crate::widgets::{labels, node, rows, theme};
use engine::lang;

const LIMITS: (f32, f32) = (160.0, 600.0);
/// Below this width of the window the list is folded, points.
const NARROW: f32 = 1100.0;
/// The list is also folded if it leaves less than this to the columns, points.
const LEFT_OVER: f32 = 560.0;
/// Even, so that rows stay equally high far down a long list, where positions are rounded to even points.
const ROW: f32 = 26.0;

fn list_id() -> Id {
    Id::unique("sentence_list")
}

pub(super) fn sentences_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let was_open = window.layout.sentences_open;
    let width = window.layout.sentences_width.unwrap_or(theme::SENTENCES_WIDTH).clamp(LIMITS.0, LIMITS.1);
    // Ctrl+F goes to the list wherever it is; F6 passes over it where it is not
    let is_wanted = window.local.shared.focus == Some(PanelName::Sentences) && window.local.shared.cycling == 0;
    if folds(ui, window, width) {
        if is_wanted || window.local.of::<SentenceMemory>().list == ListPlace::Over {
            over_ui(ui, window, width);
        } else {
            window.local.of::<SentenceMemory>().list = ListPlace::Folded;
        }
        return;
    }
    window.local.of::<SentenceMemory>().list = ListPlace::Beside;
    if is_wanted && !was_open {
        window.layout.sentences_open = true;
    }
    let mut is_open = was_open;
    let panel = Panel::left("sentences").default_size(width).min_size(LIMITS.0).max_size(LIMITS.1).resizable(true);
    let panel = panel.frame(theme::panel(theme::tokens(ui)));
    let shown = widgets::sized(ui, ("sentences", tr!("Sentences")), |ui| {
        panel.show_collapsible(ui, &mut is_open, |ui| panel_ui(ui, window))
    });
    if is_open != was_open {
        window.layout.sentences_open = is_open;
    }
    let Some(shown) = shown else { return };
    let now = shown.response.rect.width();
    // While it opens or closes it is narrower than it may be made.
    if is_open && was_open && now >= LIMITS.0 {
        keep_side(ui, &mut window.layout.sentences_width, width, now);
    }
}

fn folds(ui: &Ui, window: &Window<'_>, width: f32) -> bool {
    let (room, count) = (ui.available_width(), window.app.document.columns.len() as f32);
    let left = room - width - 2.0 * theme::SPACE_3;
    let count = if window.layout.solo { count.min(1.0) } else { count };
    let wanted = count * (theme::COLUMN_MIN_WIDTH + theme::SPACE_2) - theme::SPACE_2;
    left < LEFT_OVER || (room < NARROW && left < wanted)
}

fn over_ui(ui: &mut Ui, window: &mut Window<'_>, width: f32) {
    window.local.of::<SentenceMemory>().list = ListPlace::Over;
    let place = ui.available_rect_before_wrap();
    let frame = theme::panel(theme::tokens(ui)).shadow(ui.visuals().popup_shadow);
    let room = place.size() - frame.total_margin().sum();
    let area = Area::new(Id::unique("sentences_over")).order(Order::Middle).fixed_pos(place.min);
    let shown = area.show(ui.ctx(), |ui| {
        frame
            .show(ui, |ui| {
                ui.set_min_size(vec2(width.min(room.x), room.y));
                ui.set_max_size(vec2(width.min(room.x), room.y));
                let closes = over_heading_ui(ui);
                panel_ui(ui, window);
                closes
            })
            .inner
    });
    if shown.inner || shown.response.clicked_elsewhere() {
        window.local.of::<SentenceMemory>().list = ListPlace::Folded;
    }
}

fn over_heading_ui(ui: &mut Ui) -> bool {
    let heading = ui.horizontal(|ui| {
        ui.label(RichText::new(tr!("Sentences")).size(theme::TEXT_TITLE));
        let right = egui::Layout::right_to_left(egui::Align::Center);
        ui.with_layout(right, |ui| labels::small_button(ui, tr!("Close")).on_hover_text("Esc")).inner
    });
    heading.inner.accessible_name(tr!("Close the sentences")).clicked()
}

fn panel_ui(ui: &mut Ui, window: &mut Window<'_>) {
    tabs_ui(ui, window);
    search_ui(ui, window);
    ui.add_space(theme::SPACE_1);
    keys(ui, window);
    match window.app.lists.shown {
        List::Examples if window.app.lists.search.text.is_empty() => examples_ui(ui, window),
        _ => rows_ui(ui, window),
    }
}

fn tabs_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let app = window.app;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_1;
        for (list, name) in [(List::Examples, tr!("Examples")), (List::History, tr!("History"))] {
            window.push_if(ui.selectable_label(app.lists.shown == list, name).clicked(), ListCommand::Show(list));
        }
        for (n, file) in app.lists.files.iter().enumerate() {
            let list = List::File(n);
            if labels::choice(ui, app.lists.shown == list, file.name(), file.path.display().to_string()) {
                window.push(ListCommand::Show(list));
            }
        }
        if ui.button(tr!("Open...")).on_hover_text(tr!("Open a text file, one sentence a line (Ctrl+O)")).clicked() {
            window.ask(TEXT.then(WindowCommand::Open));
        }
    });
}

fn search_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let mut text = window.app.lists.search.text.clone();
    // Arrows in the search field move through what was found.
    let id = Id::unique("sentence_search");
    if ui.memory(|memory| memory.has_focus(id)) {
        move_by(window, rows::arrows(ui));
    }
    let field = egui::TextEdit::singleline(&mut text).id(id).hint_text(tr!("Search")).desired_width(f32::INFINITY);
    let response = ui.add(field).accessible_name(tr!("Search in the list"));
    window.push_if(response.changed(), ListCommand::Search(text));
    if window.local.shared.takes_focus(PanelName::Sentences) {
        response.request_focus();
    }
    let app = window.app;
    let is_growing =
        matches!(app.lists.shown, List::File(n) if app.lists.files.get(n).is_some_and(|file| !file.is_whole()));
    let caption = match (app.lists.search.text.is_empty(), app.lists.is_searching()) {
        (true, _) if is_growing => tr!("{n} sentence so far" | "{n} sentences so far" % app.lists.len()),
        (true, _) => tr!("{n} sentence" | "{n} sentences" % app.lists.len()),
        (false, true) => tr!("{n} sentence found so far" | "{n} sentences found so far" % app.lists.visible_len()),
        (false, false) => tr!("{n} sentence found" | "{n} sentences found" % app.lists.visible_len()),
    };
    ui.horizontal(|ui| {
        labels::caption(ui, caption);
        let (name, note, command) = match app.lists.shown {
            List::History if !app.lists.is_empty() => {
                (tr!("Clear"), tr!("Forget the sentences translated before"), ListCommand::ClearHistory)
            }
            List::File(n) => (tr!("Close"), tr!("Close this file"), ListCommand::CloseFile(n)),
            _ => return,
        };
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            window.push_if(labels::small_button(ui, name).on_hover_text(note).clicked(), command);
        });
    });
}

fn keys(ui: &mut Ui, window: &mut Window<'_>) {
    let response = ui.interact(ui.available_rect_before_wrap(), list_id(), Sense::CLICK | Sense::FOCUSABLE);
    let name = tr!("List of sentences, arrows move through it");
    node(&response, Role::ListBox, || name.to_owned());
    move_by(window, rows::keys(ui, &response));
    rows::ring(ui, &response, response.rect.expand(2.0), 4.0);
}

fn move_by(window: &mut Window<'_>, by: isize) {
    if by != 0 {
        window.push(ListCommand::Move(by));
    }
}

fn examples_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let app = window.app;
    let moved = app.document.state.position != window.local.of::<SentenceMemory>().seen_position;
    window.local.of::<SentenceMemory>().seen_position = app.document.state.position;
    egui::ScrollArea::vertical().id_salt("examples").auto_shrink(false).show(ui, |ui| {
        for (n, group) in app.lists.examples.iter().enumerate() {
            let has_present = app
                .document
                .state
                .position
                .is_some_and(|at| group.sentences.iter().any(|example| example.position == at));
            let header = CollapsingHeader::new(lang::text(&group.name))
                .id_salt(n)
                .default_open(n < 2 || has_present)
                .open((moved && has_present).then_some(true));
            let shown = header.show_unindented(ui, |ui| {
                labels::note(ui, lang::text(&group.shows));
                ui.spacing_mut().item_spacing.y = 0.0;
                for example in &group.sentences {
                    let row = row_ui(ui, window, example.position, None, &example.text);
                    if moved && app.document.state.position == Some(example.position) {
                        row.scroll_to_me(None);
                    }
                }
            });
            shown.header_response.on_hover_text(lang::text(&group.shows));
        }
    });
}

fn rows_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let app = window.app;
    let total = app.lists.visible_len();
    if total == 0 {
        empty_ui(ui, window);
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let numbered = matches!(app.lists.shown, List::File(_));
    let list = app.lists.shown;
    let id = ("rows", list, app.lists.search.text.is_empty());
    let mut area = egui::ScrollArea::vertical().id_salt(id).auto_shrink(false);
    if app.document.state.position != window.local.of::<SentenceMemory>().seen_position {
        window.local.of::<SentenceMemory>().seen_position = app.document.state.position;
        if let Some(row) = app.document.state.position.and_then(|at| app.lists.visible_position(at)) {
            let middle = ui.available_height() * 0.4;
            let shown = window.local.of::<SentenceMemory>().rows_in_view.clone();
            if !(shown.start + 1..shown.end.saturating_sub(2)).contains(&row) {
                area = area.vertical_scroll_offset((row as f32 * ROW - middle).max(0.0));
            }
        }
    }
    let rows = area.show_rows(ui, ROW, total, |ui, rows| {
        ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(ROW * 2.0));
        for n in rows.clone() {
            let Some(position) = app.lists.visible(n) else { continue };
            let Some(text) = app.lists.sentence(position) else { continue };
            row_ui(ui, window, position, numbered.then_some(position + 1), &text);
        }
        rows
    });
    window.local.of::<SentenceMemory>().rows_in_view = rows.inner;
}

fn empty_ui(ui: &mut Ui, window: &Window<'_>) {
    let app = window.app;
    let text = match app.lists.shown {
        _ if app.lists.is_searching() => tr!("Searching"),
        _ if !app.lists.search.text.is_empty() => tr!("Nothing in this list matches"),
        List::File(n) if app.lists.files.get(n).is_some_and(|file| file.lines.is_none()) => tr!("Reading the file"),
        List::File(_) => tr!("This file has no lines"),
        List::History => tr!("Sentences that you translate are kept here"),
        List::Examples => tr!("There are no examples"),
    };
    ui.label(RichText::new(text).color(theme::tokens(ui).weak));
}

fn row_ui(ui: &mut Ui, window: &mut Window<'_>, position: usize, number: Option<usize>, text: &str) -> egui::Response {
    let t = theme::tokens(ui);
    let is_present = window.app.document.state.position == Some(position);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW));
    let response = ui.interact(rect, list_id().with(("row", position)), Sense::CLICK);
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_present, text));
    if response.clicked() {
        window.push(ListCommand::Pick(position));
        ui.memory_mut(|memory| memory.request_focus(list_id()));
    }
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let fill = rows::ground(ui, &response, is_present, None);
    ui.painter().rect_filled(rect, CornerRadius::same(theme::RADIUS_SMALL), fill);
    let mut left = rect.left() + theme::SPACE_2;
    if let Some(number) = number {
        let digits =
            ui.painter().text(pos2(left, rect.center().y), Align2::LEFT_CENTER, number, theme::small(), t.weak);
        left = digits.right() + theme::SPACE_2;
    }
    let room = Rect::from_min_max(pos2(left, rect.top()), pos2(rect.right() - theme::SPACE_1, rect.bottom()));
    // Only what can be seen of a very long line is laid out.
    let seen: String = text.chars().take(200).collect();
    let galley = labels::galley(ui.painter(), &seen, &theme::body(), t.text, room.width());
    let is_cut = galley.elided;
    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), room);
    ui.painter().galley(at.min, galley, t.text);
    if is_cut {
        response.on_hover_text(crate::widgets::bidi::visual(&text.chars().take(600).collect::<String>()).into_owned())
    } else {
        response
    }
}
