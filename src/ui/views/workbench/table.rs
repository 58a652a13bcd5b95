//! Floor 10: page Corpus, the table: a line a sentence; only those in view are drawn.

use egui::accesskit::Role;
use egui::{Align2, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::session::workbench::Workbench;
use crate::session::{WholeCommand, WorkbenchCommand};
use crate::ui::bidi;
use crate::ui::local::Window;
use crate::ui::theme;
use crate::ui::views::rows;
use crate::ui::views::workbench::words::Marked;
use crate::workspace::column::Column;

/// Height of a line, points.
const LINE: f32 = 26.0;
/// Room for the number of a sentence and its stars, points.
const NUMBER: f32 = 76.0;
/// Room for a number, points.
const FIGURE: f32 = 78.0;
/// Least room for a text, points.
const TEXT: f32 = 120.0;
/// Only so much of a very long text is laid out.
const MOST_SEEN: usize = 240;

/// What stands where.
struct Layout {
    /// Source, reference and outputs.
    texts: usize,
    /// Width of each.
    text: f32,
    columns: Vec<Column>,
    width: f32,
}

impl Layout {
    fn new(workbench: &Workbench, room: f32) -> Self {
        let has_reference = workbench.corpus.references.get(0).is_some() || workbench.corpus.systems.is_empty();
        let texts = 1 + usize::from(has_reference) + workbench.corpus.systems.len();
        let columns = workbench.columns.shown(&workbench.corpus);
        let rest = room - NUMBER - FIGURE * columns.len() as f32;
        let text = (rest / texts as f32).max(TEXT);
        let width = NUMBER + text * texts as f32 + FIGURE * columns.len() as f32;
        Self { texts, text, columns, width }
    }

    /// Whether the second text is the reference.
    fn has_reference(&self, workbench: &Workbench) -> bool {
        self.texts > 1 + workbench.corpus.systems.len()
    }

    fn text_left(&self, at: usize) -> f32 {
        NUMBER + self.text * at as f32
    }

    fn figure_right(&self, at: usize) -> f32 {
        NUMBER + self.text * self.texts as f32 + FIGURE * (at + 1) as f32
    }
}

/// The table.
pub fn table_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let layout = Layout::new(window.session.workbench(), ui.available_width() - theme::SPACE_3);
    ScrollArea::horizontal().id_salt("corpus_wide").auto_shrink(false).show(ui, |ui| {
        ui.set_min_width(layout.width);
        ui.spacing_mut().item_spacing.y = 0.0;
        head_ui(ui, window, &layout);
        let list = ui.interact(ui.available_rect_before_wrap(), ui.scope_id().with("corpus"), Sense::click());
        let count = window.session.workbench().rows.len();
        list.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, "Sentences of the workspace"));
        let by = rows::keys(ui, &list);
        if by != 0 {
            window.push(WorkbenchCommand::Move(by));
        }
        rows::ring(ui, &list, list.rect, 0.0);
        let mut area = ScrollArea::vertical().id_salt("corpus_rows").auto_shrink(false);
        if by != 0
            && let Some(row) = window.session.workbench().row()
        {
            let next = (row as isize + by).clamp(0, count as isize - 1) as f32;
            area = area.vertical_scroll_offset((next * LINE - list.rect.height() / 2.0).max(0.0));
        }
        area.show_rows(ui, LINE, count, |ui, range| {
            ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(LINE * 2.0));
            for n in range {
                if let Some(at) = window.session.workbench().rows.get(n) {
                    row_ui(ui, window, &layout, *at as usize, &list);
                }
            }
        });
    });
}

fn head_ui(ui: &mut Ui, window: &mut Window<'_>, layout: &Layout) {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(layout.width, LINE));
    let workbench = window.session.workbench();
    let sorting = workbench.sorting.clone();
    let mut heads: Vec<(Rect, String, Option<String>, String)> = Vec::new();
    let place = |left: f32, width: f32| Rect::from_min_size(pos2(rect.left() + left, rect.top()), vec2(width, LINE));
    let number = Column::Number;
    heads.push((place(0.0, NUMBER), number.title(), Some(number.name()), number.about(&workbench.corpus)));
    let mut names = vec!["Source".to_owned()];
    names.extend(layout.has_reference(workbench).then(|| "Reference".to_owned()));
    let systems = workbench.corpus.systems.iter().enumerate();
    names.extend(systems.map(|(at, column)| format!("{}. {}", at + 1, column.system.name)));
    for (at, name) in names.into_iter().enumerate() {
        heads.push((place(layout.text_left(at), layout.text), name.clone(), None, name));
    }
    for (at, column) in layout.columns.iter().enumerate() {
        let left = layout.figure_right(at) - FIGURE;
        heads.push((place(left, FIGURE), column.title(), Some(column.name()), column.about(&workbench.corpus)));
    }
    for (place, title, sorts, about) in heads {
        let arrow = match &sorts {
            Some(name) if sorting == *name => " \u{2191}",
            Some(name) if sorting.strip_prefix('-') == Some(name) => " \u{2193}",
            _ => "",
        };
        let text = RichText::new(format!("{title}{arrow}")).size(theme::TEXT_SMALL).color(t.weak);
        let inner = place.shrink2(vec2(2.0, 1.0));
        match sorts {
            None => {
                let label = egui::Label::new(text).truncate();
                ui.put(inner, label).on_hover_text(about);
            }
            Some(name) => {
                let is_number = name == Column::Number.name();
                let sense = if is_number { Sense::click() } else { Sense::click_and_drag() };
                let button = egui::Button::new(text).frame_when_inactive(false).truncate().sense(sense);
                let hint = if is_number { "Click to sort" } else { "Click to sort, drag to move" };
                let button = ui.put(inner, button).on_hover_text(format!("{about}. {hint}"));
                if button.clicked() {
                    window.push(WorkbenchCommand::Sort(name.clone()));
                }
                if !is_number {
                    dragged(ui, window, layout, rect, &button, &name);
                }
            }
        }
    }
    ui.painter().hline(rect.x_range(), rect.bottom(), egui::Stroke::new(1.0, t.line));
}

/// The head of a column follows the mouse over the others; a line tells where it would stand.
fn dragged(ui: &Ui, window: &mut Window<'_>, layout: &Layout, heads: Rect, head: &egui::Response, name: &str) {
    if !head.dragged() && !head.drag_stopped() {
        return;
    }
    let Some(at) = head.interact_pointer_pos() else { return };
    let count = layout.columns.len();
    let Some(from) = layout.columns.iter().position(|column| column.name() == name) else { return };
    let first = heads.left() + layout.figure_right(0) - FIGURE;
    let to = (((at.x - first) / FIGURE).floor() as isize).clamp(0, count as isize - 1);
    let by = to - from as isize;
    if head.drag_stopped() {
        if by != 0 {
            window.push(WholeCommand::MoveColumn(name.to_owned(), by));
        }
        return;
    }
    ui.ctx().set_cursor_icon(egui::CursorIcon::Grabbing);
    let edge = first + FIGURE * (to + isize::from(by > 0)) as f32;
    let lines = heads.with_max_y(ui.clip_rect().bottom());
    ui.painter().vline(edge, lines.y_range(), egui::Stroke::new(2.0, theme::tokens(ui).accent));
}

fn row_ui(ui: &mut Ui, window: &mut Window<'_>, layout: &Layout, at: usize, list: &egui::Response) {
    let t = theme::tokens(ui);
    let workbench = window.session.workbench();
    let corpus = &workbench.corpus;
    let is_chosen = workbench.selected == Some(at);
    let (_, rect) = ui.allocate_space(vec2(layout.width, LINE));
    let response = ui.interact(rect, ui.scope_id().with(("corpus_row", at)), Sense::CLICK);
    let source = corpus.sources.get(at).unwrap_or_default();
    response.widget_info(|| {
        WidgetInfo::selected(Role::ListBoxOption, true, is_chosen, format!("Sentence {} {source}", at + 1))
    });
    if response.clicked() {
        list.request_focus();
        window.push(WorkbenchCommand::Select(Some(at)));
    }
    if response.double_clicked() {
        window.push(WorkbenchCommand::OpenSentence);
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    ui.painter().rect_filled(rect, 0.0, rows::ground(ui, &response, is_chosen, None));
    let middle = rect.center().y;
    let painter = ui.painter();
    painter.text(pos2(rect.left() + 6.0, middle), Align2::LEFT_CENTER, at + 1, theme::small(), t.weak);
    let stars = Column::Stars.value(corpus, at) as usize;
    let is_noted = corpus.judgements.contains_key(&at);
    // five stars would lie over the number
    let sign = if stars > 0 { format!("{stars}\u{2605}") } else { if is_noted { "\u{2022}" } else { "" }.to_owned() };
    painter.text(pos2(rect.left() + NUMBER - 6.0, middle), Align2::RIGHT_CENTER, sign, theme::small(), t.accent);
    let reference = corpus.references.get(at);
    let mut texts = vec![(Some(source), None, t.text)];
    if layout.has_reference(workbench) {
        texts.push((reference, None, t.weak));
    }
    texts.extend(corpus.systems.iter().map(|column| (column.texts.get(at), reference, t.text)));
    for (n, (text, against, colour)) in texts.into_iter().enumerate() {
        let Some(text) = text else { continue };
        let end = text.char_indices().nth(MOST_SEEN).map_or(text.len(), |(end, _)| end);
        let room = layout.text - 10.0;
        let galley = Marked::new(&text[..end], against, theme::body(), (colour, t.warm)).line(painter, room);
        let indent = if bidi::starts_right(text) { room - galley.size().x } else { 0.0 };
        let place = pos2(rect.left() + layout.text_left(n) + 4.0 + indent, middle - galley.size().y / 2.0);
        painter.galley(place, galley, colour);
    }
    for (n, column) in layout.columns.iter().enumerate() {
        let text = column.text(column.value(corpus, at));
        let right = rect.left() + layout.figure_right(n) - 8.0;
        painter.text(pos2(right, middle), Align2::RIGHT_CENTER, text, theme::small(), t.text);
    }
}
