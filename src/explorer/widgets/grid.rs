//! A table of texts and numbers: heads sort it, rows can be chosen; only those in view are drawn. A leaf.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Align2, Id, Key, Rect, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use crate::widgets::marks::Letters;
use crate::widgets::{labels, rows, theme};
use engine::lang;
use engine::text::cells::{CellTable, TableCell};
use figure::measure::TextMeasure as _;

const LINE: f32 = 24.0;
const ROOM: (f32, f32) = (78.0, 110.0);
const HEAD: (f32, f32) = (170.0, 26.0);
/// Texts of at most this many letters fit into a number's width; and the rows that are searched for longer ones.
const SHORT: (usize, usize) = (9, 200);
const GAP: f32 = 8.0;

/// Name in the file, title and explanation; a name `*_low`, after the others, matches every column with that ending.
pub type GridTitle = (&'static str, &'static str, &'static str);

/// How a table is shown.
pub struct GridLook<'a> {
    /// Unique among the visible tables.
    pub id: &'a str,
    pub label: &'a str,
    pub titles: &'static [GridTitle],
    pub selected: Option<usize>,
}

#[derive(Clone)]
struct Sorted {
    table: Arc<CellTable>,
    by: Option<(usize, bool)>,
    order: Arc<Vec<u32>>,
}

impl Sorted {
    fn new(table: &Arc<CellTable>, by: Option<(usize, bool)>) -> Self {
        let by = by.filter(|(column, _)| *column < table.head.len());
        let order = by.map_or_else(
            || (0..table.rows.len() as u32).collect(),
            |(column, is_falling)| table.sorted(column, is_falling),
        );
        Self { table: Arc::clone(table), by, order: Arc::new(order) }
    }

    fn of(ui: &Ui, id: Id, table: &Arc<CellTable>) -> Self {
        let kept: Option<Self> = ui.data(|data| data.get_temp(id));
        match kept {
            Some(kept) if Arc::ptr_eq(&kept.table, table) => kept,
            kept => Self::new(table, kept.and_then(|kept| kept.by)),
        }
    }
}

fn is_number(table: &CellTable, column: usize) -> bool {
    table.rows.first().and_then(|row| row.get(column)).is_some_and(|cell| !matches!(cell, TableCell::Text(_)))
}

/// The chosen row.
#[derive(Clone, Copy, Debug)]
pub struct GridPick {
    pub row: usize,
    /// By a click or Enter; the arrow keys only move there.
    pub opens: bool,
}

pub fn grid_ui(ui: &mut Ui, table: &Arc<CellTable>, look: &GridLook<'_>) -> Option<GridPick> {
    let id = ui.scope_id().with(look.id);
    let sorted = Sorted::of(ui, id, table);
    let is_short = |row: &Vec<TableCell>, column: usize| match row.get(column) {
        Some(TableCell::Text(text)) => text.chars().count() <= SHORT.0,
        _ => true,
    };
    // A column of numbers may have a few words in their place, such as "none judged".
    let is_known = |row: &Vec<TableCell>, column: usize| {
        matches!(row.get(column), Some(TableCell::Count(_) | TableCell::Number(Some(_))))
    };
    let first = || table.rows.iter().take(SHORT.1);
    let is_narrow = |column| first().all(|row| is_short(row, column)) || first().any(|row| is_known(row, column));
    let narrow: Vec<bool> = (0..table.head.len()).map(is_narrow).collect();
    let texts = narrow.iter().filter(|is_narrow| !**is_narrow).count();
    let head = |name: &str| Letters(ui).width(title(look, name).0, theme::TEXT_SMALL) + HEAD.1;
    let number = |name: &&'static str| head(name).clamp(ROOM.0, HEAD.0);
    let mut widths: Vec<f32> = table.head.iter().map(number).collect();
    let numbers: f32 = widths.iter().zip(&narrow).filter(|(_, is_narrow)| **is_narrow).map(|(width, _)| width).sum();
    let text = ((ui.available_width() - theme::SPACE_3 - numbers) / texts.max(1) as f32).max(ROOM.1);
    widths.iter_mut().zip(&narrow).filter(|(_, is_narrow)| !**is_narrow).for_each(|(width, _)| *width = text);
    let mut chosen = None;
    ScrollArea::horizontal().id_salt((look.id, "wide")).auto_shrink(false).show(ui, |ui| {
        ui.set_min_width(widths.iter().sum());
        ui.spacing_mut().item_spacing.y = 0.0;
        let by = heads_ui(ui, table, look, (&widths, sorted.by));
        let list = ui.interact(ui.available_rect_before_wrap(), id.with("rows"), Sense::click());
        list.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, look.label));
        let moved = moved(&sorted, look.selected, rows::keys(ui, &list));
        let entered = list.has_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        chosen = look.selected.filter(|_| entered).map(|row| GridPick { row, opens: true });
        chosen = moved.map(|(_, row)| GridPick { row, opens: false }).or(chosen);
        rows::ring(ui, &list, list.rect, 0.0);
        let mut area = ScrollArea::vertical().id_salt(look.id).auto_shrink(false);
        if let Some((place, _)) = moved {
            area = area.vertical_scroll_offset((place as f32 * LINE - list.rect.height() / 2.0).max(0.0));
        }
        area.show_rows(ui, LINE, sorted.order.len(), |ui, range| {
            ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(LINE * 2.0));
            for row in sorted.order[range].iter().map(|row| *row as usize) {
                if row_ui(ui, &table.rows[row], (&widths, id.with(row)), look.selected == Some(row)) {
                    list.request_focus();
                    chosen = Some(GridPick { row, opens: true });
                }
            }
        });
        let sorted = if by == sorted.by { sorted } else { Sorted::new(table, by) };
        ui.data_mut(|data| data.insert_temp(id, sorted));
    });
    chosen
}

fn moved(sorted: &Sorted, selected: Option<usize>, by: isize) -> Option<(usize, usize)> {
    let last = sorted.order.len().checked_sub(1).filter(|_| by != 0)?;
    let place = selected.and_then(|row| sorted.order.iter().position(|other| *other as usize == row));
    let next = place.map_or(0, |place| place.saturating_add_signed(by).min(last));
    sorted.order.get(next).map(|row| (next, *row as usize))
}

fn is_named(known: &str, name: &str) -> bool {
    known.strip_prefix('*').map_or(known == name, |end| name.ends_with(end))
}

fn title<'a>(look: &GridLook<'_>, name: &'a str) -> (&'a str, &'a str) {
    let found = look.titles.iter().find(|(known, ..)| is_named(known, name));
    found.map_or((name, ""), |(_, title, about)| (lang::text(title), lang::text(about)))
}

fn heads_ui(
    ui: &mut Ui, table: &CellTable, look: &GridLook<'_>, (widths, by): (&[f32], Option<(usize, bool)>),
) -> Option<(usize, bool)> {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(widths.iter().sum(), LINE));
    let (mut left, mut asked) = (rect.left(), by);
    for (column, (name, width)) in table.head.iter().zip(widths).enumerate() {
        let (title, about) = title(look, name);
        let now = by.filter(|(sorted, _)| *sorted == column).map(|(_, is_falling)| is_falling);
        let order = match now {
            None => String::new(),
            Some(true) => format!(", {}", tr!("greatest first")),
            Some(false) => format!(", {}", tr!("least first")),
        };
        let place = Rect::from_min_size(pos2(left, rect.top()), vec2(*width, LINE)).shrink(1.0);
        let arrow = now.map_or("", |is_falling| if is_falling { " \u{2193}" } else { " \u{2191}" });
        let text = egui::RichText::new(format!("{title}{arrow}")).size(theme::TEXT_SMALL).color(t.weak);
        let builder = UiBuilder::new().scope_id(ui.scope_id().with((look.id, *name))).max_rect(place);
        let button = egui::Button::new(text).truncate().frame_when_inactive(false).min_size(place.size());
        let button = ui.scope_builder(builder, |ui| ui.put(place, button)).inner.on_hover_text(about);
        if button.accessible_name(format!("{title}{order}")).clicked() {
            let first = is_number(table, column);
            asked = match now {
                None => Some((column, first)),
                Some(now) if now == first => Some((column, !first)),
                Some(_) => None,
            };
        }
        left += width;
    }
    ui.painter().hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, t.line));
    asked
}

fn row_ui(ui: &mut Ui, cells: &[TableCell], (widths, id): (&[f32], Id), is_chosen: bool) -> bool {
    let t = theme::tokens(ui);
    let (_, rect) = ui.allocate_space(vec2(widths.iter().sum(), LINE));
    let response = ui.interact(rect, id, Sense::CLICK);
    let spoken = || cells.iter().map(TableCell::shown).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(", ");
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_chosen, spoken()));
    ui.painter().rect_filled(rect, 0.0, rows::ground(ui, &response, is_chosen, None));
    let mut left = rect.left();
    for (cell, width) in cells.iter().zip(widths) {
        let (shown, middle) = (cell.shown(), rect.center().y);
        if matches!(cell, TableCell::Text(_)) {
            let galley = labels::galley(ui.painter(), &shown, &theme::small(), t.text, width - GAP);
            ui.painter().galley(pos2(left + GAP / 2.0, middle - galley.size().y / 2.0), galley, t.text);
        } else {
            let place = pos2(left + width - GAP, middle);
            ui.painter().text(place, Align2::RIGHT_CENTER, shown, theme::small(), t.text);
        }
        left += width;
    }
    response.clicked()
}
