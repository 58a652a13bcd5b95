//! The sheet that saves a figure of a column: what it shows, in which format, how large and how it looks.

use std::path::PathBuf;

use egui::{Button, Checkbox, ComboBox, DragValue, Grid, Key, RichText, TextEdit, Ui};

use crate::app::files::drawing::{Branches, Drawing, MOST_IN_A_ROW};
use crate::app::{
    command::SettingsCommand, document::column::Column, document::table::GIVEN, files::export, layout::Look,
};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{
    sentence::command::ColumnCommand, sentence::view::interlinear, sentence::view::memory::SentenceMemory, shell::sheet,
};
use crate::widgets::{labels, theme};
use engine::lang;
use figure::page::{DPIS, WIDTHS_MM};
use figure::sheet::{FigureKind, KINDS};
use figure::{formats::FORMATS, links::Weight, palette::COLOUR_MAPS};

/// Where a picture is saved; its file is named after its contents.
pub const PICTURE: Question = Question::new(
    id!("Save a picture"),
    id!("Save"),
    Wants::NewFile("picture.svg"),
    if cfg!(target_family = "wasm") {
        id!("SVG or PNG, as the name ends: .svg or .png.")
    } else {
        id!("SVG, PDF or PNG, as the name ends: .svg, .pdf or .png.")
    },
);

const PICTURES: [&str; 3] = ["heatmap", "links", "tree"];
const WIDTH: f32 = 520.0;
/// Default width of a figure where one is set, millimetres: a column of a two-column page.
const COLUMN_MM: f32 = 80.0;

pub(super) fn figure_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Sheet::Figure { column: id, kind } = window.local.shared.sheet else { return };
    let Some(column) = window.app.document.column(id) else {
        window.local.shared.sheet = Sheet::None;
        return;
    };
    let response = sheet::modal(ui, "figure_sheet", WIDTH, |ui, room| {
        let height = room.y - 80.0;
        let area = egui::ScrollArea::vertical().max_height(height).min_scrolled_height(height);
        area.show(ui, |ui| sheet_ui(ui, window, column, kind));
    });
    if response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
}

/// `asked` is the kind for which it was opened. A column without such a figure shows another and keeps the choice.
fn sheet_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, asked: Option<&'static str>) {
    ui.heading(tr!("Save a figure of {}", column.name()));
    ui.add_space(theme::SPACE_2);
    let before = window.app.view.drawing;
    let selection = window.app.view.selection;
    let word = selection.target.filter(|_| selection.column == Some(column.id));
    let can = |kind: &FigureKind| export::can_draw(column, kind, window.app.view.settings.shown, word);
    let wanted = asked.unwrap_or_else(|| usual(window, column, before.kind));
    let is_there = |kind: &&FigureKind| can(kind).is_ok();
    let shown = KINDS.iter().find(|kind| kind.name == wanted).filter(is_there).or(KINDS.iter().find(is_there));
    let shown = shown.map_or(wanted, |kind| kind.name);
    let mut drawing = Drawing { kind: shown, ..as_on_screen(window, before, column.id) };
    let mut is_of_rows = false;
    Grid::new("figure_choices").num_columns(2).spacing([theme::SPACE_4, theme::SPACE_2]).show(ui, |ui| {
        is_of_rows = what_ui(ui, &mut drawing, &can);
        models_ui(ui, &mut drawing, window.app.document.columns.len());
        size_ui(ui, &mut drawing);
        look_ui(ui, &mut drawing, window.app.gold().is_some());
    });
    if drawing.page.width_mm.is_some() {
        let of = lang::in_english(|| export::figure(window.app, column.id, &drawing));
        let small = of.and_then(|of| of.drawn(|figure| Ok(drawing.page.small_letters(figure.size))).ok().flatten());
        if let Some(notice) = small {
            ui.add(egui::Label::new(RichText::new(notice).color(theme::tokens(ui).warm)).wrap());
        }
    }
    let is_of_search = matches!(drawing.kind, "beam" | "tree");
    if !is_of_search && column.table.as_ref().is_some_and(|table| table.is_given) {
        let text = tr!("It shows {whose}, and says so", whose = lang::text(GIVEN));
        ui.label(RichText::new(text).color(theme::tokens(ui).warm));
    }
    let is_chosen = drawing.kind != shown;
    if is_chosen {
        window.local.shared.sheet = Sheet::Figure { column: column.id, kind: Some(drawing.kind) };
    }
    let kept = Drawing { kind: if is_chosen { drawing.kind } else { before.kind }, ..drawing };
    if kept != before {
        window.push(SettingsCommand::SetDrawing(kept));
    }
    ui.add_space(theme::SPACE_2);
    if is_of_rows {
        return interlinear::ask_save(window, drawing.format, drawing.format);
    }
    save_ui(ui, window, column, drawing);
}

fn usual(window: &Window<'_>, column: &Column, kept: &'static str) -> &'static str {
    if PICTURES.contains(&kept) { picture_of(window, column) } else { kept }
}

fn caption(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).color(theme::tokens(ui).weak));
}

fn what_ui(ui: &mut Ui, drawing: &mut Drawing, can: &dyn Fn(&FigureKind) -> Result<(), &'static str>) -> bool {
    let mut is_of_rows = false;
    caption(ui, tr!("Figure"));
    ui.horizontal(|ui| {
        for kind in KINDS {
            let button = Button::selectable(drawing.kind == kind.name, lang::text(kind.name));
            let is_there = can(kind);
            let button = ui.add_enabled(is_there.is_ok(), button).on_hover_text(lang::text(kind.about));
            let button = button.on_disabled_hover_text(is_there.err().unwrap_or_default());
            if button.accessible_name(tr!("Draw {}", lang::text(kind.name))).clicked() {
                drawing.kind = kind.name;
            }
        }
        let note = tr!("The sentence with all rows and lines under it, its words in columns, in letters of 10 points");
        is_of_rows = ui.button(tr!("interlinear text...")).on_hover_text(note).clicked();
    });
    ui.end_row();
    caption(ui, tr!("Format"));
    ui.horizontal(|ui| {
        for format in FORMATS {
            if labels::choice(ui, drawing.format == format.name, format.name.to_uppercase(), lang::text(format.about)) {
                drawing.format = format.name;
            }
        }
    });
    ui.end_row();
    is_of_rows
}

fn models_ui(ui: &mut Ui, drawing: &mut Drawing, count: usize) {
    if count < 2 {
        return;
    }
    caption(ui, tr!("Models"));
    ui.horizontal(|ui| {
        ui.selectable_value(&mut drawing.of_all, false, tr!("this one"));
        let note =
            tr!("One figure of all columns that have it, variants among them, on one scale, each with its model below");
        ui.selectable_value(&mut drawing.of_all, true, tr!("all beside each other")).on_hover_text(note);
        let value = DragValue::new(&mut drawing.in_a_row).range(1..=MOST_IN_A_ROW).suffix(tr!(" in a row"));
        ui.add_enabled(drawing.of_all, value).accessible_name(tr!("Figures in a row"));
    });
    ui.end_row();
}

fn size_ui(ui: &mut Ui, drawing: &mut Drawing) {
    caption(ui, tr!("Width"));
    ui.horizontal(|ui| {
        let mut is_free = drawing.page.width_mm.is_none();
        if ui.checkbox(&mut is_free, tr!("as its text needs")).changed() {
            drawing.page.width_mm = (!is_free).then_some(COLUMN_MM);
        }
        let mut width = drawing.page.width_mm.unwrap_or(COLUMN_MM);
        let value = DragValue::new(&mut width).range(WIDTHS_MM.0..=WIDTHS_MM.1).speed(0.5).suffix(tr!(" mm"));
        let value = ui.add_enabled(!is_free, value);
        if value.accessible_name(tr!("Width in millimetres")).changed() {
            drawing.page.width_mm = Some(width);
        }
    });
    ui.end_row();
    caption(ui, tr!("Resolution"));
    let is_pixels = drawing.format == "png";
    let value = DragValue::new(&mut drawing.page.dpi).range(DPIS.0..=DPIS.1).speed(1.0).suffix(tr!(" dpi"));
    let value = ui.add_enabled(is_pixels, value).accessible_name(tr!("Pixels in an inch"));
    value.on_disabled_hover_text(tr!("SVG and PDF are as fine as the printer"));
    ui.end_row();
}

fn look_ui(ui: &mut Ui, drawing: &mut Drawing, has_gold: bool) {
    caption(ui, tr!("Palette"));
    let shown = drawing.map.map_or(tr!("as on the screen"), |map| lang::text(map.name));
    let combo = ComboBox::from_id_salt("figure_palette").selected_text(shown).show_ui(ui, |ui| {
        ui.selectable_value(&mut drawing.map, None, tr!("as on the screen"));
        for map in COLOUR_MAPS {
            ui.selectable_value(&mut drawing.map, Some(map), lang::text(map.name)).on_hover_text(lang::text(map.note));
        }
    });
    combo.response.accessible_name(tr!("Palette of the figure"));
    ui.end_row();
    caption(ui, tr!("Ground"));
    ui.horizontal(|ui| {
        for (is_dark, name) in [(false, tr!("light, as paper")), (true, tr!("dark, as slides"))] {
            ui.selectable_value(&mut drawing.is_dark, is_dark, name);
        }
    });
    ui.end_row();
    caption(ui, tr!("With"));
    ui.horizontal(|ui| {
        ui.add(Checkbox::new(&mut drawing.has_legend, tr!("legend")));
        let note = tr!("Below the figure: the model, how it searched, log p");
        ui.add(Checkbox::new(&mut drawing.has_caption, tr!("caption"))).on_hover_text(note);
        if has_gold {
            let note = tr!("Outlined where a column says the reference, in place of other links");
            ui.add(Checkbox::new(&mut drawing.of_gold, tr!("links by hand"))).on_hover_text(note);
        }
    });
    ui.end_row();
}

fn save_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, drawing: Drawing) {
    let label = ui.label(tr!("Path"));
    let field = TextEdit::singleline(&mut window.local.shared.path)
        .desired_width(f32::INFINITY)
        .hint_text(sheet::hint(&drawing.file()));
    let field = ui.add(field).labelled_by(label.id);
    let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    window.local.dialogs.missing_ui(ui);
    let path = sheet::typed(window, &drawing.file());
    // the format's ending is added where none is typed
    let written = drawing.named(PathBuf::from(&path)).display().to_string();
    let replaces = sheet::replaces_ui(ui, window, &written);
    ui.add_space(theme::SPACE_2);
    ui.horizontal(|ui| {
        let verb = if replaces { tr!("Replace it") } else { tr!("Save") };
        let is_clicked = ui.add_enabled(!path.is_empty(), Button::new(verb)).clicked();
        if (is_clicked || is_entered) && !path.is_empty() && window.local.shared.may_write(&written) {
            window.push(ColumnCommand::Draw { column: column.id, kind: drawing.kind, path: PathBuf::from(path) });
            window.local.shared.path.clear();
            window.local.shared.sheet = Sheet::None;
        }
        if ui.add_enabled(!window.local.dialogs.is_open(), Button::new(tr!("Browse..."))).clicked() {
            let (kind, format) = (drawing.kind, drawing.format);
            let id = column.id;
            let draw = move |path| ColumnCommand::Draw { column: id, kind, path };
            window.local.dialogs.ask(PICTURE.then(draw).named(format!("{kind}.{format}")));
        }
        let note = tr!("Into the clipboard, as an image");
        if ui.button(tr!("Copy")).on_hover_text(note).clicked() {
            window.push(ColumnCommand::Copy { column: column.id, drawing });
            window.local.shared.sheet = Sheet::None;
        }
        if ui.button(tr!("Cancel")).clicked() {
            window.local.shared.sheet = Sheet::None;
        }
    });
}

/// The kind of figure that a column shows, else that of its beam.
pub fn picture_of(window: &Window<'_>, column: &Column) -> &'static str {
    let aligns = column.table.as_ref().is_some_and(|table| table.alpha.is_some());
    match window.layout.look {
        Look::Tree if !column.result.nodes.is_empty() => "tree",
        _ if !aligns => {
            let shown = window.app.view.settings.shown;
            let has_cells = column.table.as_ref().is_some_and(|table| table.numbers(shown).is_some());
            if has_cells { "heatmap" } else { "beam" }
        }
        Look::Links => "links",
        Look::Heatmap | Look::Tree => "heatmap",
    }
}

/// A figure with the links and the branches of the screen.
pub fn as_on_screen(window: &Window<'_>, drawing: Drawing, column: ColumnId) -> Drawing {
    let weight = if window.layout.links_opacity { Weight::Opacity } else { Weight::Width };
    let tree = window.local.seen::<SentenceMemory>().and_then(|memory| memory.trees.get(&column));
    let branches = tree.map_or(Branches::default(), |tree| Branches { pruned: tree.pruned, steps: tree.steps });
    Drawing { threshold: window.layout.links_threshold, weight, branches, ..drawing }
}
