//! Floor 13: the two menus of settings: how to search, and how it looks.

use egui::containers::menu::{MenuButton, MenuConfig, SubMenuButton};
use egui::{ComboBox, RichText, Slider, Ui};

use crate::aligner::bundled::AlignerFile;
use crate::app::command::SettingsCommand;
use crate::app::document::column::file_name;
use crate::app::settings::Theme;
use crate::nn::device;
use crate::nn::device::DeviceChoice;
use crate::pages::sentence::command::SearchCommand;
use crate::pages::sentence::view::picture_bar;
use crate::pages::window::act::Act;
use crate::pages::window::dialogs::{Question, Wants};
use crate::pages::window::local;
use crate::pages::window::local::Window;
use crate::pages::window::menu::act_item;
use crate::ui::views::{beam, lesson};
use crate::widgets::{labels, theme};

/// Where a newer version is to be had. Who packs the program says so when it is built (`INTERLINEAR_NEWER`), or says nothing
/// where the system updates it.
const NEWER: &str = match option_env!("INTERLINEAR_NEWER") {
    Some(text) => text,
    None => "A newer one is where this one came from; the program does not look.",
};

/// Menus that stay open while something in them is set.
fn menu(text: &str) -> MenuButton<'_> {
    MenuButton::new(text).config(MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside))
}

/// A menu: its name and what paints it.
type Menu = (&'static str, fn(&mut Ui, &mut Window<'_>));

/// The menus of the bar at the top, from the right.
pub const MENUS: [Menu; 3] = [("View", view_ui), ("Decoding", search_ui), ("File", file_ui)];

/// All of [`MENUS`], each behind its button; in a narrow window all behind one.
pub fn menus_ui(ui: &mut Ui, window: &mut Window<'_>, is_narrow: bool) {
    if !is_narrow {
        for (name, content) in MENUS {
            menu(name).ui(ui, |ui| content(ui, window));
        }
        return;
    }
    menu("Menu").ui(ui, |ui| {
        for (name, content) in MENUS.iter().rev() {
            SubMenuButton::new(*name).ui(ui, |ui| content(ui, window));
        }
    });
}

/// How to search.
fn search_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.set_width(320.0_f32.min(ui.ctx().content_rect().width() - 2.0 * theme::SPACE_4));
    if beam::is_phone(ui) {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center).with_main_align(egui::Align::Min), |ui| {
            beam::beam_ui(ui, window);
        });
        ui.separator();
    }
    length_ui(ui, window);
    ui.separator();
    unknown_ui(ui, window);
    ui.separator();
    device_ui(ui, window);
}

fn length_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let mut power = window.app.document.scene().search.length_normalization;
    let label = ui.label("Length normalisation A");
    let slider = ui.add(Slider::new(&mut power, 0.0..=2.0).step_by(0.1).fixed_decimals(1)).labelled_by(label.id);
    if slider.changed() {
        window.push(SearchCommand::SetLengthNormalization(power));
    }
    labels::note(
        ui,
        "Finished translations are ranked by log p divided by their length to the power of A. 0 ranks by log p.",
    );
}

fn unknown_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let settings = window.app.view.settings();
    let mut replace = settings.unk_replacement;
    if ui.checkbox(&mut replace, "Show the typed word for [UNK]").changed() {
        window.push(SettingsCommand::SetUnkReplacement(replace));
    }
    labels::note(
        ui,
        "[UNK] stands for a word that is not in the vocabulary. The source word of greatest alpha is put in its place.",
    );
    let mut forbid = window.app.document.scene().search.forbid_unk;
    if ui.checkbox(&mut forbid, "Never choose [UNK]").changed() {
        window.push(SearchCommand::SetForbidUnk(forbid));
    }
}

fn device_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let chosen = window.app.view.settings().device;
    let choices = std::iter::once(DeviceChoice::Auto)
        .chain(device::available().into_iter().filter(|choice| *choice != DeviceChoice::Auto));
    let label = ui.label("Compute on");
    let combo = ComboBox::from_id_salt("device").selected_text(device_text(chosen)).show_ui(ui, |ui| {
        for choice in choices {
            if ui.selectable_label(choice == chosen, device_text(choice)).clicked() {
                window.push(SettingsCommand::SetDevice(choice));
            }
        }
    });
    combo.response.labelled_by(label.id);
}

fn device_text(choice: DeviceChoice) -> String {
    match choice {
        DeviceChoice::Auto => "the best that works".to_owned(),
        DeviceChoice::Cpu => "CPU".to_owned(),
        DeviceChoice::Metal => "Metal".to_owned(),
        DeviceChoice::Cuda(number) => format!("CUDA {number}"),
    }
}

/// How it looks.
fn view_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.set_min_width(280.0);
    let theme = window.app.view.settings().theme;
    ui.label(RichText::new("Theme").color(theme::tokens(ui).weak));
    ui.horizontal(|ui| {
        for (choice, name) in [(Theme::System, "As the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")] {
            if ui.selectable_label(theme == choice, name).clicked() {
                window.push(SettingsCommand::SetTheme(choice));
                ui.close();
            }
        }
    });
    ui.separator();
    act_item(ui, window, "Larger", Act::ZoomIn);
    act_item(ui, window, "Smaller", Act::ZoomOut);
    act_item(ui, window, "Usual size", Act::ZoomReset);
    let mut moves = window.layout(local::MOTION, 1.0) > 0.0;
    let note = "Off: panels, menus and what is scrolled into view jump to their places";
    if ui.checkbox(&mut moves, "Motion").on_hover_text(note).changed() {
        window.keep(local::MOTION, f32::from(u8::from(moves)));
    }
    ui.separator();
    act_item(ui, window, "Presentation", Act::Present);
    act_item(ui, window, "Full screen", Act::FullScreen);
    act_item(ui, window, "One column alone, or all", Act::Solo);
    act_item(ui, window, "Manual", Act::Manual);
    if ui.button("Lessons").clicked() {
        lesson::toggle(window);
        ui.close();
    }
    ui.separator();
    act_item(ui, window, "Heatmap, links or tree", Act::NextPicture);
    act_item(ui, window, "Next palette", Act::NextPalette);
    act_item(ui, window, "Alpha or energies", Act::ToggleEnergies);
    ui.add_enabled_ui(picture_bar::can_link(window).is_ok(), |ui| {
        act_item(ui, window, "Links of the aligner", Act::ToggleLinks);
    });
    aligner_ui(ui, window);
    act_item(ui, window, "Words or their pieces", Act::TogglePieces);
    act_item(ui, window, "Show or hide the sentences", Act::ToggleSentences);
    act_item(ui, window, "Show or hide the inspector", Act::ToggleInspector);
    act_item(ui, window, "Score a translation of your own", Act::ToggleGiven);
}

const ALIGNER: Question = Question::new(
    "An aligner of your own",
    "Open",
    Wants::File(&["aligner"]),
    "A file of `interlinear align --statistical --save`. It links the words of its languages in the place of what comes with the program: outlines, the links that judging begins with, and what is measured from now on.",
);

/// Which aligner links words.
fn aligner_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if ui.button("Another aligner...").on_hover_text(ALIGNER.note).clicked() {
        window.ask(ALIGNER.then(SettingsCommand::OpenAligner));
        ui.close();
    }
    for AlignerFile { path, languages: (source, target) } in window.app.view.settings().aligner.iter() {
        let of = if source.is_empty() { "all languages".to_owned() } else { format!("{source}-{target}") };
        let note = "Its languages have what comes with the program again, or none";
        if ui.button(format!("Without {} ({of})", file_name(path))).on_hover_text(note).clicked() {
            window.push(SettingsCommand::RemoveAligner(path.clone()));
            ui.close();
        }
    }
}

/// What is opened and begun, and what is taken back.
fn file_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.set_min_width(240.0);
    act_item(ui, window, "Open...", Act::Open);
    act_item(ui, window, "Add a model...", Act::AddModel);
    #[cfg(not(target_family = "wasm"))]
    act_item(ui, window, "New training...", Act::NewTraining);
    act_item(ui, window, "Save a figure...", Act::SaveFigure);
    act_item(ui, window, "Copy link", Act::CopyLink);
    ui.separator();
    act_item(ui, window, "Undo", Act::Undo);
    act_item(ui, window, "Undo to the sentence before", Act::UndoSentence);
    act_item(ui, window, "Redo", Act::Redo);
    act_item(ui, window, "Stop translating", Act::Stop);
    if !NEWER.is_empty() {
        ui.separator();
        labels::note(ui, format!("Version {}. {NEWER}", env!("CARGO_PKG_VERSION")));
    }
}
