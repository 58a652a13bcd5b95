//! Choosing a model folder or a file, by the system's dialog or a typed path.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui::text::{CCursor, CCursorRange};
use egui::{Key, RichText, ScrollArea, Ui, WidgetInfo};

use crate::app::open_with::{Installed, LanguagePair};
use crate::app::{catalogue, document::column::file_name};
use crate::pages::shell::dialogs::{AskedPath, MODEL, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{sentence::command::ColumnCommand, shell::sheet};
use crate::ui::views::presentation;
use crate::widgets;
use crate::widgets::{labels, theme};
use engine::decoding::{SystemSpec, ensemble::Mixing};
use engine::{lang, models::choice::ModelSpec, text::language};

const AROUND: f32 = 120.0;
const WIDTH: f32 = 640.0;

/// What could not be put on the clipboard, to be copied from a field.
pub fn copy_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Sheet::Copy(text) = window.local.shared.sheet.clone() else { return };
    let response = sheet::modal(ui, "copy_sheet", WIDTH, |ui, room| {
        ui.heading(tr!("Copy from here"));
        ui.label(tr!(
            "This page may not use the clipboard, because its address does not begin with https. Press Ctrl+C."
        ));
        let mut shown = text.as_str();
        let field = egui::TextEdit::multiline(&mut shown).desired_width(f32::INFINITY).desired_rows(2);
        let scroll = ScrollArea::vertical().max_height((room.y - AROUND) * 0.4);
        let mut output = scroll.show(ui, |ui| field.show(ui)).inner;
        let response = output.response.response.clone();
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, tr!("Text to copy")));
        if !response.has_focus() {
            response.request_focus();
            let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
            output.state.cursor.set_char_range(Some(all));
            output.state.store(ui.ctx(), response.id);
        }
        if text.contains("#v") && !window.local.code.2.is_empty() {
            presentation::squares_ui(ui, window);
        }
        ui.add_space(theme::SPACE_2);
        ui.button(tr!("Close")).clicked()
    });
    if response.inner || response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
}

pub fn sheets_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Sheet::Ask(asked) = window.local.shared.sheet.clone() else { return };
    let response = sheet::modal(ui, "path_sheet", WIDTH, |ui, room| {
        let most = room.y - AROUND;
        // the room of the sheet before, or before an error was told, is not that of this one
        widgets::growing(most)
            .id_salt(asked.question.title)
            .auto_shrink([false, true])
            .show(ui, |ui| sheet_ui(ui, window, &asked));
    });
    if response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
    if window.local.shared.sheet == Sheet::None {
        window.local.shared.replaces = None;
    }
}

fn sheet_ui(ui: &mut Ui, window: &mut Window<'_>, asked: &AskedPath) {
    ui.heading(lang::text(asked.question.title));
    let weak = theme::tokens(ui).weak;
    ui.label(RichText::new(lang::text(asked.question.note)).color(weak));
    window.local.dialogs.missing_ui(ui);
    ui.add_space(theme::SPACE_2);
    let (called, hint) = match asked.question.wants {
        // a browser has no paths
        Wants::NewFile(_) if cfg!(target_family = "wasm") => (tr!("Name"), tr!("a name, with which it is saved")),
        _ if cfg!(target_family = "wasm") => (tr!("Name"), tr!("a model of this site, or a link")),
        _ => (tr!("Path"), tr!("a path on this computer")),
    };
    let label = ui.label(called);
    let hint = asked.name.as_deref().map_or_else(|| hint.to_owned(), sheet::hint);
    let field = egui::TextEdit::singleline(&mut window.local.shared.path).desired_width(f32::INFINITY).hint_text(hint);
    let mut output = field.show(ui);
    let response = output.response.response.clone().labelled_by(label.id);
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if ui.memory(|memory| memory.focused().is_none()) {
        response.request_focus();
        // what is typed takes the place of the path that is there
        let all = CCursorRange::two(CCursor::new(0), CCursor::new(window.local.shared.path.chars().count()));
        output.state.cursor.set_char_range(Some(all));
        output.state.store(ui.ctx(), response.id);
    }
    ui.add_space(theme::SPACE_2);
    buttons_ui(ui, window, asked, entered);
    if asked.question == MODEL {
        bundled_ui(ui, window, asked);
        ensemble_ui(ui, window);
    }
}

fn buttons_ui(ui: &mut Ui, window: &mut Window<'_>, asked: &AskedPath, entered: bool) {
    let path = sheet::typed(window, asked.name.as_deref().unwrap_or_default());
    let is_new = asked.question.wants.may_replace();
    let replaces = is_new && sheet::replaces_ui(ui, window, &path);
    ui.horizontal(|ui| {
        let verb = if replaces { tr!("Replace it") } else { lang::text(asked.question.verb) };
        let open = ui.add_enabled(!path.is_empty(), egui::Button::new(verb)).clicked();
        let browse = egui::Button::new(tr!("Browse..."));
        if ui.add_enabled(!window.local.dialogs.is_open(), browse).clicked() {
            window.local.dialogs.ask(asked.clone());
        }
        if ui.button(tr!("Cancel")).clicked() {
            window.local.shared.sheet = Sheet::None;
        }
        if !(open || entered) || path.is_empty() {
            return;
        }
        if !is_new || window.local.shared.may_write(&path) {
            choose(window, PathBuf::from(path), asked);
        }
    });
}

fn bundled_ui(ui: &mut Ui, window: &mut Window<'_>, asked: &AskedPath) {
    if window.local.bundled.is_empty() {
        return;
    }
    ui.separator();
    ui.label(tr!("Models that come with Interlinear"));
    let bundled = window.local.bundled.clone();
    for LanguagePair { languages: (source, target), models } in LanguagePair::all(&bundled) {
        if !source.is_empty() {
            labels::caption(ui, tr!("{} to {}", language::name(source), language::name(target)));
        }
        for model in models {
            ui.horizontal(|ui| installed_ui(ui, window, model, asked));
        }
    }
}

const NAME: f32 = 190.0;

/// A model by what it is for, with its quality and its size; marked if a column shows it.
fn installed_ui(ui: &mut Ui, window: &mut Window<'_>, model: &Installed, asked: &AskedPath) {
    let t = *theme::tokens(ui);
    let name = file_name(&model.folder);
    let is_open = window.app.document.models().any(|column| column.system == (&model.folder).into());
    let left = ui.cursor().left();
    let button = ui.add(egui::Button::new(&name).selected(is_open));
    let button = if model.paper.is_empty() { button } else { button.on_hover_text(&model.paper) };
    if button.clicked() {
        choose(window, model.folder.clone(), asked);
    }
    ui.add_space((left + NAME - ui.cursor().left()).max(0.0));
    let purpose = catalogue::purpose(&name);
    let bleu =
        purpose.and_then(|purpose| purpose.bleu).map(|bleu| tr!("BLEU {bleu}", bleu = format_args!("{bleu:.1}")));
    let size = (model.bytes > 0).then(|| tr!("{} MB", model.bytes.div_ceil(1_000_000)));
    let open = is_open.then(|| tr!("open").to_owned());
    let numbers: Vec<String> = [open, bleu, size].into_iter().flatten().collect();
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        labels::caption(ui, numbers.join("   "));
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            let text = purpose.map_or(model.paper.as_str(), |purpose| lang::text(purpose.text));
            let text = RichText::new(text).size(theme::TEXT_SMALL).color(t.text);
            ui.add(egui::Label::new(text).truncate());
        });
    });
}

/// Installed models that can be members, by folder, with names: those of the columns, then the bundled ones.
fn candidates(window: &Window<'_>) -> Vec<(ModelSpec, String)> {
    let columns = window.app.document.models();
    let columns = columns.filter_map(|column| Some((column.system.only()?.clone(), column.name())));
    let bundled = window.local.bundled.iter().map(|model| ((&model.folder).into(), file_name(&model.folder)));
    let mut found: Vec<(ModelSpec, String)> = Vec::new();
    for (model, name) in columns.chain(bundled) {
        if !found.iter().any(|(other, _)| *other == model) {
            found.push((model, name));
        }
    }
    found
}

fn ensemble_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let found = candidates(window);
    if found.len() < 2 {
        return;
    }
    let weak = theme::tokens(ui).weak;
    ui.separator();
    ui.label(tr!("Several models as one"));
    let note = tr!(
        "Two or more models with the same target vocabulary make an ensemble: their probabilities are averaged at every word."
    );
    ui.add(egui::Label::new(RichText::new(note).color(weak)).wrap());
    let chosen = &mut window.local.members;
    chosen.retain(|model| found.iter().any(|(there, _)| there == model));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(theme::SPACE_4, theme::SPACE_1);
        for (model, name) in &found {
            let mut is_member = chosen.contains(model);
            let response = ui.checkbox(&mut is_member, name).on_hover_text(model.to_string());
            if response.changed() && is_member {
                chosen.push(model.clone());
            } else if response.changed() {
                chosen.retain(|other| other != model);
            }
        }
    });
    if ui.add_enabled(chosen.len() > 1, egui::Button::new(tr!("Add ensemble"))).clicked() {
        let (members, mixing) = (std::mem::take(chosen), Mixing::default());
        window.push(ColumnCommand::Add(SystemSpec { members, mixing }));
        window.local.shared.sheet = Sheet::None;
    }
}

fn choose(window: &mut Window<'_>, path: PathBuf, asked: &AskedPath) {
    window.push(asked.answered(path));
    window.local.shared.path.clear();
    window.local.shared.sheet = Sheet::None;
}
