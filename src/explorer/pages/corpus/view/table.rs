//! Page Corpus, the table: a line a sentence; only those in view are drawn.

use egui::accesskit::Role;
use egui::{Align2, Color32, Rect, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::memory::CorpusMemory,
    corpus::view::words::Marked, corpus::views::ExploreCommand, shell::local::Window,
};
use crate::widgets::{bidi, labels, rows, theme};
use corpus::query::column::{TableColumn, TextColumn};
use corpus::store::corpus::CorpusTable;

const LINE: f32 = 26.0;
const NUMBER: f32 = 76.0;
const FIGURE: f32 = 78.0;
/// Least room for a text, points: some 30 letters; with less room the table scrolls to the numbers.
const TEXT: f32 = 200.0;
/// Round the title of a column, and between it and its arrow, points.
const ARROW: f32 = 4.0;
/// Stands for a text that is being read.
const WAITS: &str = "\u{2026}";
/// Only so much of a very long text is laid out.
const MOST_SEEN: usize = 240;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// A text, by its place among the texts.
    Text(TextColumn),
    /// A number, by its place among the columns that are shown.
    Figure(usize, TableColumn),
}

impl What {
    /// As a table is sorted by it.
    fn name(self, corpus: &CorpusTable) -> String {
        match self {
            Self::Text(text) => text.name(),
            Self::Figure(_, column) => column.name(corpus),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    what: What,
    left: f32,
    width: f32,
}

/// The layout of the columns. The number and the sort column stay in view at the edge.
struct Layout {
    slots: Vec<Slot>,
    /// The column that it is sorted by, by its place among the slots.
    sorted: Option<usize>,
    columns: Vec<TableColumn>,
    width: f32,
}

impl Layout {
    fn new(page: &CorpusPage, room: f32) -> Self {
        let corpus = &page.corpus;
        let has_reference = corpus.has_references() || corpus.systems.is_empty();
        let mut texts = vec![TextColumn::Source];
        texts.extend(has_reference.then_some(TextColumn::Reference));
        texts.extend((0..corpus.systems.len()).map(TextColumn::Output));
        let columns = page.columns.shown(corpus);
        let rest = room - NUMBER - FIGURE * columns.len() as f32;
        let text = (rest / texts.len() as f32).max(TEXT);
        let texts = texts.into_iter().map(|column| (What::Text(column), text));
        let figures = columns.iter().copied().enumerate().map(|(at, column)| (What::Figure(at, column), FIGURE));
        let mut left = NUMBER;
        let slot = |(what, width): (What, f32)| {
            left += width;
            Slot { what, left: left - width, width }
        };
        let slots: Vec<Slot> = texts.chain(figures).map(slot).collect();
        let sorting = page.sorting.strip_prefix('-').unwrap_or(&page.sorting);
        let sorted = slots.iter().position(|slot| slot.what.name(&page.corpus) == sorting);
        Self { slots, sorted, columns, width: left }
    }

    /// The columns that move with the table.
    fn moving(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().enumerate().filter(|(at, _)| Some(*at) != self.sorted).map(|(_, slot)| slot)
    }

    /// Where the column that it is sorted by stands in view; and whether it is kept there.
    fn kept(&self, view: &View) -> Option<(Slot, bool)> {
        let slot = *self.slots.get(self.sorted?)?;
        let most = (view.to - slot.width).max(view.from + NUMBER);
        let left = slot.left.clamp(view.from + NUMBER, most);
        Some((Slot { left, ..slot }, (left - slot.left).abs() > 0.5))
    }

    fn figures(&self) -> (f32, usize) {
        let mut figures = self.slots.iter().filter(|slot| matches!(slot.what, What::Figure(..)));
        (figures.next().map_or(0.0, |slot| slot.left), 1 + figures.count())
    }
}

struct View {
    from: f32,
    to: f32,
}

impl View {
    fn of(ui: &Ui, rect: Rect) -> Self {
        let clip = ui.clip_rect();
        Self { from: (clip.left() - rect.left()).max(0.0), to: clip.right() - rect.left() }
    }
}

/// The ground of what lies over the others; a line parts it from them.
fn cover(ui: &Ui, rect: Rect, slot: &Slot, tint: Color32) {
    let place = Rect::from_min_size(rect.left_top() + vec2(slot.left, 0.0), vec2(slot.width, LINE));
    ui.painter().rect_filled(place, 0.0, ui.visuals().panel_fill);
    ui.painter().rect_filled(place, 0.0, tint);
    let edge = Stroke::new(1.0, theme::tokens(ui).line);
    ui.painter().vline(place.left(), place.y_range(), edge);
    ui.painter().vline(place.right(), place.y_range(), edge);
}

pub fn table_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let layout = Layout::new(page, ui.available_width() - theme::SPACE_3);
    ScrollArea::horizontal().id_salt(("corpus_wide", &page.path)).auto_shrink(false).show(ui, |ui| {
        ui.set_min_width(layout.width);
        ui.spacing_mut().item_spacing.y = 0.0;
        head_ui(ui, page, window, &layout);
        let list = ui.interact(ui.available_rect_before_wrap(), ui.scope_id().with("corpus"), Sense::click());
        let count = page.rows.len();
        list.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, tr!("Sentences of the corpus")));
        let by = rows::keys(ui, &list);
        window.push_if(by != 0, CorpusCommand::Move(by));
        rows::ring(ui, &list, list.rect, 0.0);
        let mut area = ScrollArea::vertical().id_salt(("corpus_rows", &page.path)).auto_shrink(false);
        if by != 0
            && let Some(row) = page.row()
        {
            let next = (row as isize + by).clamp(0, count as isize - 1) as f32;
            area = area.vertical_scroll_offset((next * LINE - list.rect.height() / 2.0).max(0.0));
        }
        // The first of other rows, or of another order, is what was asked for.
        let ordered = (page.filter.clone(), page.sorting.clone());
        if window.local.of::<CorpusMemory>().ordered != ordered {
            window.local.of::<CorpusMemory>().ordered = ordered;
            area = area.vertical_scroll_offset(0.0);
        }
        area.show_rows(ui, LINE, count, |ui, range| {
            ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(LINE * 2.0));
            let seen: Vec<u32> = range.filter_map(|n| page.rows.get(n).copied()).collect();
            for at in &seen {
                row_ui(ui, page, window, &layout, *at as usize, &list);
            }
            if page.lacks(&seen, &layout.columns) {
                window.push(CorpusRequest::See(seen, layout.columns.clone()));
            }
        });
    });
}

fn head_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, layout: &Layout) {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(layout.width, LINE));
    for slot in layout.moving() {
        head(ui, page, window, (layout, rect), *slot, false);
    }
    let view = View::of(ui, rect);
    if let Some((slot, is_kept)) = layout.kept(&view) {
        if is_kept {
            cover(ui, rect, &slot, Color32::TRANSPARENT);
        }
        head(ui, page, window, (layout, rect), slot, is_kept);
    }
    let number = Slot { what: What::Figure(0, TableColumn::Number), left: view.from, width: NUMBER };
    if view.from > 0.0 {
        cover(ui, rect, &number, Color32::TRANSPARENT);
    }
    head(ui, page, window, (layout, rect), number, true);
    ui.painter().hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, t.line));
}

/// The orders that clicks on the head of a column put it into, one after the other, and whether each falls.
fn orders(what: What) -> [(&'static str, bool); 2] {
    match what {
        What::Text(_) => [(tr!("A to Z"), false), (tr!("Z to A"), true)],
        What::Figure(_, TableColumn::Number) => [(tr!("least first"), false), (tr!("greatest first"), true)],
        What::Figure(..) => [(tr!("greatest first"), true), (tr!("least first"), false)],
    }
}

fn called(page: &CorpusPage, what: What) -> (String, String) {
    match what {
        What::Text(TextColumn::Source) => (tr!("Source").to_owned(), tr!("What is translated").to_owned()),
        What::Text(TextColumn::Reference) => (tr!("Reference").to_owned(), tr!("What people made of it").to_owned()),
        What::Text(TextColumn::Output(at)) => {
            (format!("{}. {}", at + 1, page.system_name(at)), tr!("What system {} made of it", at + 1))
        }
        What::Figure(_, column) => (column.title(&page.corpus), column.about(&page.corpus)),
    }
}

/// The head of a column: a button that sorts. An arrow tells how it is sorted; a title that has no room is cut before it.
fn head(
    ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, (layout, rect): (&Layout, Rect), slot: Slot, is_kept: bool,
) {
    let t = theme::tokens(ui);
    let (title, about) = called(page, slot.what);
    let name = slot.what.name(&page.corpus);
    let falling = match page.sorting.strip_prefix('-') {
        Some(sorting) => (sorting == name).then_some(true),
        None => (page.sorting == name).then_some(false),
    };
    let orders = orders(slot.what);
    let now = orders.iter().position(|(_, is_falling)| Some(*is_falling) == falling);
    let next = match now {
        None => tr!("Click: {}", orders[0].0),
        Some(0) => tr!("Click: {}", orders[1].0),
        Some(_) => tr!("Click: as they came").to_owned(),
    };
    let place = Rect::from_min_size(pos2(rect.left() + slot.left, rect.top()), vec2(slot.width, LINE));
    let inner = place.shrink2(vec2(2.0, 1.0));
    let stays = is_kept || matches!(slot.what, What::Text(_));
    let sense = if stays { Sense::click() } else { Sense::click_and_drag() };
    let button = egui::Button::new("").frame_when_inactive(false).min_size(inner.size()).sense(sense);
    // The sorted head is drawn last: an id by order would hand the keyboard to its neighbour.
    let by_name = UiBuilder::new().scope_id(ui.scope_id().with(("head", &name))).max_rect(inner);
    let button = ui.scope_builder(by_name, |ui| ui.put(inner, button)).inner;
    let arrow = match falling {
        None => "",
        Some(true) => "\u{2193}",
        Some(false) => "\u{2191}",
    };
    let painter = ui.painter();
    let arrow = painter.layout_no_wrap(arrow.to_owned(), theme::small(), t.accent);
    let gap = if falling.is_some() { ARROW } else { 0.0 };
    let room = inner.width() - 2.0 * ARROW - arrow.size().x - gap;
    let text = labels::galley(painter, &title, &theme::small(), t.weak, room);
    let wide = text.size().x + gap + arrow.size().x;
    let left = match slot.what {
        What::Text(_) => inner.left() + ARROW,
        What::Figure(..) => inner.center().x - wide / 2.0,
    };
    let top = |size: egui::Vec2| inner.center().y - size.y / 2.0;
    painter.galley(pos2(left, top(text.size())), text, t.weak);
    painter.galley(pos2(left + wide - arrow.size().x, top(arrow.size())), arrow, t.accent);
    let drag = if stays { "" } else { tr!(", drag to move") };
    let order = now.map_or_else(String::new, |now| format!(", {}", orders[now].0));
    let button = button.on_hover_text(format!("{title}{order}: {about}. {next}{drag}"));
    let button = button.accessible_name(format!("{title}{order}"));
    if button.clicked() {
        window.push(CorpusCommand::Sort(name.clone()));
    }
    if !stays && let What::Figure(at, _) = slot.what {
        dragged(ui, window, (layout, rect), &button, (at, &name));
    }
}

/// The head of a column follows the mouse over the others; a line tells where it would stand.
fn dragged(
    ui: &Ui, window: &mut Window<'_>, (layout, heads): (&Layout, Rect), head: &egui::Response,
    (at, name): (usize, &str),
) {
    if !head.dragged() && !head.drag_stopped() {
        return;
    }
    let Some(mouse) = head.interact_pointer_pos() else { return };
    let (first, count) = layout.figures();
    let first = heads.left() + first;
    let to = (((mouse.x - first) / FIGURE).floor() as isize).clamp(0, count as isize - 1) as usize;
    if head.drag_stopped() {
        let by = to as isize - at as isize;
        if by != 0 {
            window.push(ExploreCommand::MoveColumn(name.to_owned(), by));
        }
        return;
    }
    ui.ctx().set_cursor_icon(egui::CursorIcon::Grabbing);
    let edge = first + FIGURE * (to + usize::from(to > at)) as f32;
    let lines = heads.with_max_y(ui.clip_rect().bottom());
    ui.painter().vline(edge, lines.y_range(), Stroke::new(2.0, theme::tokens(ui).accent));
}

fn row_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, layout: &Layout, at: usize, list: &egui::Response) {
    let is_chosen = page.selected == Some(at);
    let (_, rect) = ui.allocate_space(vec2(layout.width, LINE));
    let response = ui.interact(rect, ui.scope_id().with(("corpus_row", at)), Sense::CLICK);
    let source = page.corpus.sources.get(at).unwrap_or_default();
    response.widget_info(|| {
        WidgetInfo::selected(Role::ListBoxOption, true, is_chosen, tr!("Sentence {} {source}", at + 1, source))
    });
    if response.clicked() {
        list.request_focus();
        window.push(CorpusCommand::Select(Some(at)));
    }
    window.push_if(response.double_clicked(), CorpusCommand::OpenSentence);
    if !ui.is_rect_visible(rect) {
        return;
    }
    let ground = rows::ground(ui, &response, is_chosen, None);
    ui.painter().rect_filled(rect, 0.0, ground);
    for slot in layout.moving() {
        cell(ui, page, (rect, at), *slot);
    }
    let view = View::of(ui, rect);
    if let Some((slot, is_kept)) = layout.kept(&view) {
        if is_kept {
            cover(ui, rect, &slot, ground);
        }
        cell(ui, page, (rect, at), slot);
    }
    if view.from > 0.0 {
        cover(ui, rect, &Slot { what: What::Figure(0, TableColumn::Number), left: view.from, width: NUMBER }, ground);
    }
    number(ui, page, (rect, at), view.from);
}

fn number(ui: &Ui, page: &CorpusPage, (rect, at): (Rect, usize), shift: f32) {
    let t = theme::tokens(ui);
    let corpus = &page.corpus;
    let (painter, left, middle) = (ui.painter(), rect.left() + shift, rect.center().y);
    painter.text(pos2(left + 6.0, middle), Align2::LEFT_CENTER, at + 1, theme::small(), t.weak);
    let stars = TableColumn::Stars.value(corpus, at) as usize;
    let is_noted = corpus.judgements.contains_key(&at);
    // five stars would lie over the number
    let sign = if stars > 0 { format!("{stars}\u{2605}") } else { if is_noted { "\u{2022}" } else { "" }.to_owned() };
    painter.text(pos2(left + NUMBER - 6.0, middle), Align2::RIGHT_CENTER, sign, theme::small(), t.accent);
}

fn cell(ui: &Ui, page: &CorpusPage, (rect, at): (Rect, usize), slot: Slot) {
    let t = theme::tokens(ui);
    let corpus = &page.corpus;
    let (painter, left, middle) = (ui.painter(), rect.left() + slot.left, rect.center().y);
    let (text, against, colour) = match slot.what {
        What::Figure(_, column) => {
            let number = painter.layout_no_wrap(column.text(corpus, column.value(corpus, at)), theme::small(), t.text);
            let place = Align2::RIGHT_CENTER.anchor_size(pos2(left + slot.width - 8.0, middle), number.size());
            // a number that is cut would read as another
            if place.right() > ui.clip_rect().right() + 0.5 {
                painter.text(pos2(left + 8.0, middle), Align2::LEFT_CENTER, WAITS, theme::small(), t.weak);
            } else {
                painter.galley(place.min, number, t.text);
            }
            return;
        }
        What::Text(TextColumn::Source) => (corpus.sources.get(at), Vec::new(), t.text),
        What::Text(TextColumn::Reference) => (corpus.references.get(at), Vec::new(), t.weak),
        What::Text(TextColumn::Output(system)) => {
            let text = corpus.systems.get(system).and_then(|column| column.texts.get(at));
            (text, corpus.references_of(at), t.text)
        }
    };
    // What is not in memory yet is being read.
    let is_here = corpus.has_rows(&[at as u32], &[]);
    let Some(text) = text.or((!is_here).then_some(WAITS)) else { return };
    let end = text.char_indices().nth(MOST_SEEN).map_or(text.len(), |(end, _)| end);
    let room = slot.width - 10.0;
    let galley =
        Marked::new(&text[..end], (&against, corpus.rules.target), theme::body(), (colour, t.warm)).line(painter, room);
    let indent = if bidi::starts_right(text) { room - galley.size().x } else { 0.0 };
    painter.galley(pos2(left + 4.0 + indent, middle - galley.size().y / 2.0), galley, colour);
}
