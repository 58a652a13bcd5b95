//! The bar at the top: the pages, the models, and what is set once for all of them.

use egui::{Button, CornerRadius, Margin, Panel, RichText, Stroke, Ui, WidgetInfo};
use egui::{accesskit::Role, containers::menu::MenuButton};

use crate::app::command::{SettingsCommand, WindowCommand};
use crate::app::document::column::{Column, ColumnState};
use crate::app::{files::export::AlignmentFormat, lights::HighlightPart};
use crate::pages::sentence::command::{ColumnCommand, SelectCommand};
use crate::pages::sentence::view::{facts, measured};
use crate::pages::shell::dialogs::{MODEL, Question, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{PAGES, shell::act::Act, shell::clicked::MenuTarget, shell::menu::act_item};
use crate::ui::views::offers::{MenuKind, WHAT_IF};
use crate::ui::views::{lesson, offers, settings};
use crate::widgets::{labels, theme};
use engine::analysis::measures::MEASURES;
use engine::lang;
use engine::models::choice::{HeadChoice, ModelChoice, ModelSpec};

/// Letters of a model's name before it is cut, at least and at most; ensembles have long ones.
const FEWEST_LETTERS: f32 = 6.0;
const LEAST_LETTERS: f32 = 4.0;
const MOST_LETTERS: f32 = 22.0;
const LETTER: f32 = 7.5;
const AROUND: f32 = 96.0;
const ADD: f32 = 84.0;
/// Width of the list of all models, where only one is named.
const LIST: f32 = 52.0;

const NARROW: f32 = 980.0;
const NARROWEST: f32 = 800.0;

const BESIDE: f32 = 950.0;

/// Width besides the models' names from which lessons have their own button, and what a model adds.
const BESIDE_LESSONS: f32 = 804.0;
const OF_MODEL: f32 = 95.0;

const EXPORTS: [(&str, AlignmentFormat, &str, &str, &str); 3] = [
    (
        id!("Save alignment as TSV..."),
        AlignmentFormat::Tsv,
        id!("Save the alignment as TSV"),
        "alignment.tsv",
        id!("alpha with the source words along the top and the target words down the side."),
    ),
    (
        id!("Save alignment as links..."),
        AlignmentFormat::Pharaoh,
        id!("Save the alignment as links"),
        "alignment.txt",
        id!(
            "A pair of places, source and target from 0, for each target word and the source word that it looks at most."
        ),
    ),
    (
        id!("Save translations as JSON..."),
        AlignmentFormat::Json,
        id!("Save the translations as JSON"),
        "alignment.json",
        id!("All translations of the beam with their alignments, as interlinear translate writes them."),
    ),
];

pub fn top_bar_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    Panel::top("top_bar").frame(theme::bar(ui)).show(ui, |ui| {
        ui.horizontal(|ui| {
            let count = window.app.document.columns.len() as f32;
            let models = count * (FEWEST_LETTERS * LETTER + AROUND);
            let longer = longer(ui);
            let room = ui.available_width() - longer.menus - longer.add;
            let is_narrow = room - longer.tabs < NARROW.max(BESIDE + models);
            let spare = room - longer.tabs - BESIDE_LESSONS - OF_MODEL * count;
            if room - longer.tabs < NARROWEST {
                let tabs = ui.scope(|ui| tabs_menu_ui(ui, window));
                window.part(ui, HighlightPart::Pages, "", tabs.response.rect);
            } else {
                if !is_narrow {
                    ui.label(RichText::new("Interlinear").size(theme::TEXT_TITLE).color(t.accent));
                    ui.add_space(theme::SPACE_1);
                }
                let tabs = ui.scope(|ui| tabs_ui(ui, window));
                window.part(ui, HighlightPart::Pages, "", tabs.response.rect);
            }
            ui.add_space(theme::SPACE_1);
            // The right side first: chips take what it leaves.
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                right_ui(ui, window, is_narrow, spare);
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| chips_ui(ui, window));
            });
        });
    });
}

/// How much wider the bar's labels are than the English ones, for which its limits are, points.
struct Longer {
    tabs: f32,
    menus: f32,
    add: f32,
}

fn longer(ui: &Ui) -> Longer {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let width =
        |text: &str| ui.painter().layout_no_wrap(text.to_owned(), font.clone(), ui.visuals().text_color()).size().x;
    let more = |id: &'static str| (width(lang::text(id)) - width(id)).max(0.0);
    let menus = settings::MENUS.iter().map(|(name, _)| *name).chain([id!("Lessons"), id!("Beam")]);
    Longer {
        tabs: PAGES.iter().map(|page| more(page.0.name)).sum(),
        menus: menus.map(more).sum(),
        add: more(id!("+ Model")),
    }
}

fn right_ui(ui: &mut Ui, window: &mut Window<'_>, is_narrow: bool, spare: f32) {
    let help = ui.add(labels::for_finger(Button::new("?"))).on_hover_text(tr!("Shortcuts and explanations (?)"));
    if help.accessible_name(tr!("Help")).clicked() {
        window.local.shared.sheet = if window.local.shared.sheet == Sheet::Help { Sheet::None } else { Sheet::Help };
    }
    if spare >= 0.0 {
        let note =
            tr!("The sentence, two columns, and nothing else to press by mistake ({})", Act::Class.key_text(ui.ctx()));
        if ui.button(tr!("Class")).on_hover_text(note).clicked() {
            window.local.acts.push(Act::Class);
        }
    }
    if spare >= 0.0
        && ui
            .button(tr!("Lessons"))
            .on_hover_text(tr!("Guided pages of ten minutes that use the program itself"))
            .clicked()
    {
        lesson::toggle(window);
    }
    settings::menus_ui(ui, window, is_narrow);
    if !settings::is_phone(ui) {
        settings::beam_ui(ui, window);
    }
}

fn chips_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let app = window.app;
    let count = app.document.columns.len();
    let add = ADD + longer(ui).add;
    let room = (ui.available_width() - add).max(0.0);
    let letters = |room: f32| (room - AROUND) / LETTER;
    let each = letters(room / count.max(1) as f32);
    // where no name could be read, one has the room of all
    let is_one = count > 1 && each < FEWEST_LETTERS;
    let selected = app.selected_column().or(app.document.columns.first()).map(|column| column.id);
    let letters = if is_one { letters(room - LIST) } else { each }.clamp(LEAST_LETTERS, MOST_LETTERS) as usize;
    // the bar of many models lies over their lower edge: beside them it would move everything below when it comes
    ui.spacing_mut().scroll.floating_allocated_width = 0.0;
    let area = egui::ScrollArea::horizontal().id_salt("chips").auto_shrink([true, true]).max_width(room);
    let area_rect = area.show(ui, |ui| {
        ui.horizontal(|ui| {
            for (at, column) in app.document.columns.iter().enumerate() {
                if !is_one || Some(column.id) == selected {
                    chip_ui(ui, window, column, at, count, letters);
                }
            }
            if is_one {
                list_ui(ui, window);
            }
        });
    });
    let area_rect = area_rect.inner_rect;
    window.part(ui, HighlightPart::Models, "", area_rect);
    let key = Act::AddModel.key_text(ui.ctx());
    let text = if ui.available_width() < add { "+" } else { tr!("+ Model") };
    let add = ui.button(text).on_hover_text(tr!("Add a model folder ({key})", key));
    if add.accessible_name(tr!("Add a model")).clicked() {
        window.ask(MODEL.then(|path| ColumnCommand::Add(path.into())));
    }
}

/// All models by their whole names, to choose from.
fn list_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let app = window.app;
    let button = ui.menu_button(format!("{} \u{25be}", app.document.columns.len()), |ui| {
        for column in &app.document.columns {
            let is_selected = app.selected_column().is_some_and(|selected| selected.id == column.id);
            let clicked = ui.selectable_label(is_selected, column.name()).clicked();
            window.push_if(clicked, SelectCommand::Column(column.id));
        }
    });
    button.response.accessible_name(tr!("All models")).on_hover_text(tr!("All models"));
}

fn chip_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, at: usize, count: usize, letters: usize) {
    let t = theme::tokens(ui);
    let is_selected = window.app.selected_column().is_some_and(|selected| selected.id == column.id);
    let stroke = if is_selected && count > 1 { t.accent } else { t.line };
    let frame = egui::Frame::new()
        .fill(t.sunken)
        .stroke(Stroke::new(1.0, stroke))
        .corner_radius(CornerRadius::same(theme::RADIUS_SMALL));
    frame.inner_margin(Margin { left: 2, right: 0, top: 0, bottom: 0 }).show(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let colour = if matches!(column.state, ColumnState::Failed(_)) { t.error } else { t.text };
        let colour = if column.difference.label.is_some() { t.warm } else { colour };
        let text = short(&names(window), at, letters);
        let name = Button::new(RichText::new(text).color(colour)).frame_when_inactive(false).selected(false);
        let response = ui.add(name).on_hover_ui(|ui| facts::facts_ui(ui, column));
        response.widget_info(|| WidgetInfo::selected(Role::Tab, true, is_selected, column.name()));
        window.push_if(response.clicked(), SelectCommand::Column(column.id));
        response.context_menu(|ui| chip_menu_ui(ui, window, column, at, count));
        let more = labels::for_finger(Button::new(RichText::new("\u{25be}").color(t.weak)).frame(false));
        let (more, _) = MenuButton::from_button(more).ui(ui, |ui| chip_menu_ui(ui, window, column, at, count));
        more.accessible_name(tr!("Menu of {}", column.name())).on_hover_text(tr!("What can be done with this model"));
        // a slim window has it in the menu alone
        if !window.layout.has_switches() || settings::is_phone(ui) {
            return;
        }
        let remove = labels::for_finger(Button::new(RichText::new("\u{d7}").color(t.weak)).frame(false));
        if ui
            .add(remove)
            .on_hover_text(if column.variant.is_some() { tr!("Close this variant") } else { tr!("Remove this model") })
            .accessible_name(tr!("Remove {}", column.name()))
            .clicked()
        {
            window.push(ColumnCommand::Remove(column.id));
        }
    });
}

fn names(window: &Window<'_>) -> Vec<String> {
    let name = |column: &Column| match &column.difference.label {
        Some(variant_label) => variant_label.text(),
        None => column.name(),
    };
    window.app.document.columns.iter().map(name).collect()
}

/// A name cut to `letters`. Names with the same beginning are shown by their end, without a word that ends all of them.
fn short(names: &[String], at: usize, letters: usize) -> String {
    let cut = |name: &str, count: usize| name.chars().take(count).collect::<String>();
    let Some(whole) = names.get(at) else { return String::new() };
    if whole.chars().count() <= letters {
        return whole.clone();
    }
    let last = |name: &str| name.rsplit_once(' ').map(|(_, last)| last.to_owned());
    let is_shared = names.len() > 1 && names.iter().all(|name| last(name).is_some() && last(name) == last(whole));
    let own = |name: &str| match name.rsplit_once(' ') {
        Some((before, _)) if is_shared => before.to_owned(),
        _ => name.to_owned(),
    };
    let name = own(whole);
    let count = name.chars().count();
    if count <= letters {
        return name;
    }
    let begins_alike = |(n, other): (usize, &String)| n != at && cut(&own(other), letters) == cut(&name, letters);
    if !names.iter().enumerate().any(begins_alike) {
        return format!("{}\u{2026}", cut(&name, letters).trim_end());
    }
    let tail = |name: &str, head: usize| -> String {
        name.chars().skip(name.chars().count().saturating_sub(letters - head)).collect()
    };
    let ends_alike = |head: usize| {
        names.iter().enumerate().any(|(n, other)| n != at && tail(&own(other), head) == tail(&name, head))
    };
    let head = (0..=letters / 3).rev().find(|head| !ends_alike(*head)).unwrap_or(letters / 3);
    format!("{}\u{2026}{}", cut(&name, head), tail(&name, head).trim_start())
}

fn languages_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let languages = column.facts.as_ref().map_or(&[][..], |facts| &facts.languages);
    let Some(ModelSpec { choice: own, .. }) = column.system.only().filter(|_| !languages.is_empty()) else { return };
    ui.menu_button(tr!("Target language"), |ui| {
        egui::ScrollArea::vertical().max_height(theme::PLOT_HEIGHT).show(ui, |ui| {
            let mut item = |ui: &mut Ui, text: &str, language: Option<String>| {
                if ui.radio(own.language == language, text).clicked() {
                    let chosen = ModelChoice { language, ..own.clone() };
                    window.push(ColumnCommand::Choose { column: column.id, chosen });
                    ui.close();
                }
            };
            item(ui, tr!("As the text begins"), None);
            for language in languages {
                item(ui, language, Some(language.clone()));
            }
        });
    });
}

fn heads_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let (layers, heads) = column.facts.as_ref().map_or((0, 0), |facts| facts.sizes.heads);
    let Some(ModelSpec { choice: own, .. }) = column.system.only().filter(|_| layers > 0) else { return };
    ui.menu_button(tr!("Alignment"), |ui| {
        let mut item = |ui: &mut Ui, text: String, heads: Option<HeadChoice>| {
            if ui.radio(own.heads == heads, text).clicked() {
                let chosen = ModelChoice { heads, ..own.clone() };
                window.push(ColumnCommand::Choose { column: column.id, chosen });
                ui.close();
            }
        };
        let looks = column.facts.as_ref().and_then(|facts| facts.attention.as_deref()).filter(|_| own.heads.is_none());
        item(ui, looks.map_or_else(|| tr!("By default").to_owned(), |looks| tr!("By default: {looks}", looks)), None);
        for layer in 1..=layers {
            ui.menu_button(tr!("Layer {layer}", layer), |ui| {
                item(ui, tr!("Mean of its heads").to_owned(), Some(HeadChoice { layer, heads: Vec::new() }));
                for head in 1..=heads {
                    item(ui, tr!("Head {head}", head), Some(HeadChoice { layer, heads: vec![head] }));
                }
            });
        }
    });
}

fn learn_item(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let learn = ui.add_enabled(!column.system.is_ensemble(), Button::new(tr!("Learn an alignment head...")));
    let note = tr!("Where each word comes from, learned from a text of your own; translations stay as they are");
    if learn.on_hover_text(note).on_disabled_hover_text(tr!("Open one of its models alone")).clicked() {
        window.local.shared.sheet = Sheet::Head(column.id);
    }
}

const ALIGNER: Question = Question::new(
    id!("An aligner for this model"),
    id!("Choose"),
    Wants::File(&["aligner"]),
    id!("A file of `interlinear align --statistical --save`. It links the words of this model before any other."),
);

fn aligner_item(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let button = ui.add_enabled(!column.system.is_ensemble(), Button::new(tr!("Aligner for this model...")));
    let button =
        button.on_hover_text(lang::text(ALIGNER.note)).on_disabled_hover_text(tr!("Open one of its models alone"));
    if button.clicked() {
        let model = column.system.only().cloned();
        window.ask(ALIGNER.then(move |path| SettingsCommand::OpenAligner { path, model: model.clone() }));
    }
    if let Some(own) = window.app.view.settings.aligner.of_model(&column.system) {
        settings::without_ui(ui, window, own);
    }
}

fn chip_menu_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, at: usize, count: usize) {
    let mut item = |ui: &mut Ui, enabled: bool, text: &str, command: ColumnCommand| {
        window.push_if(ui.add_enabled(enabled, Button::new(text)).clicked(), command);
    };
    item(ui, at > 0, tr!("Move left"), ColumnCommand::Move { column: column.id, to: at.saturating_sub(1) });
    item(ui, at + 1 < count, tr!("Move right"), ColumnCommand::Move { column: column.id, to: at + 1 });
    item(ui, true, tr!("Load again"), ColumnCommand::Reload(column.id));
    item(ui, true, tr!("Remove"), ColumnCommand::Remove(column.id));
    languages_ui(ui, window, column);
    heads_ui(ui, window, column);
    if !cfg!(target_family = "wasm") {
        learn_item(ui, window, column);
        aligner_item(ui, window, column);
    }
    ui.separator();
    let clicked = MenuTarget::Column { column: column.id };
    for offer in WHAT_IF.iter().filter(|offer| offer.on.contains(&MenuKind::Column)) {
        if (offer.can)(window, clicked) && ui.button(lang::text(offer.name)).clicked() {
            (offer.does)(window, clicked);
        }
    }
    ui.separator();
    let has_alignment = column.table.as_ref().is_some_and(|table| table.alpha.is_some());
    let shown = window.app.view.settings.shown;
    let has_numbers = column.table.as_ref().is_some_and(|table| table.numbers(shown).is_some());
    let enabled = [has_alignment || has_numbers, has_alignment, column.table.is_some()];
    for ((text, format, title, file, note), enabled) in EXPORTS.into_iter().zip(enabled) {
        if ui.add_enabled(enabled, Button::new(lang::text(text))).clicked() {
            let column = column.id;
            let question = Question::new(title, tr!("Save"), Wants::NewFile(file), note);
            window.ask(question.then(move |path| ColumnCommand::Export { column, format, path }));
        }
    }
    let tip = tr!(
        "The sentence and what is set in this column, for another window or for interlinear translate --interventions"
    );
    if ui.add_enabled(column.table.is_some(), Button::new(tr!("Save what is set..."))).on_hover_text(tip).clicked() {
        offers::ask_for_set(window, column.id);
    }
    let why = window.app.document.why_not_measured(column, 0);
    let test = ui.add_enabled(has_alignment && why.is_none(), Button::new(tr!("Test what the words depend on")));
    if test.on_hover_text(lang::text(MEASURES[0].about)).on_disabled_hover_text(why.unwrap_or_default()).clicked() {
        measured::measure(window, column.id, 0);
    }
    let figure = Button::new(tr!("Save a figure...")).shortcut_text(Act::SaveFigure.key_text(ui.ctx()));
    if ui.add_enabled(column.table.is_some(), figure).on_hover_text(tr!("As SVG, PDF or PNG")).clicked() {
        window.local.shared.sheet = Sheet::Figure { column: column.id, kind: None };
    }
}

fn tabs_ui(ui: &mut Ui, window: &mut Window<'_>) {
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

fn tabs_menu_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let shown = window.app.view.page.name();
    let button = ui.menu_button(format!("{shown} \u{25be}"), |ui| {
        for page in PAGES.iter().copied() {
            act_item(ui, window, page.title(), Act::ShowPage(page));
        }
    });
    button.response.accessible_name(tr!("Page {shown}", shown));
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_that_are_cut_are_told_apart() {
        let copies = ["200", "500", "2,000", "9,000"].map(|count| format!("After {count} updates"));
        for (letters, expected) in [
            (5, ["A\u{2026}200", "A\u{2026}500", "\u{2026}2,000", "\u{2026}9,000"]),
            (11, ["After 200", "After 500", "After 2,000", "After 9,000"]),
        ] {
            let found: Vec<String> = (0..4).map(|at| short(&copies, at, letters)).collect();
            assert_eq!(found, expected, "{letters}");
        }
        let models = ["RNNsearch en-fr", "RNNsearch guided en-fr"].map(str::to_owned);
        let found: Vec<String> = (0..2).map(|at| short(&models, at, 8)).collect();
        assert_ne!(found[0], found[1], "{found:?}");
    }
}
