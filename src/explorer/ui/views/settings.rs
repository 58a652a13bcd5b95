//! The two menus of settings: how to search, and how it looks.

use egui::containers::menu::{MenuButton, MenuConfig, SubMenuButton};
use egui::{ComboBox, RichText, Slider, Ui};

use crate::app::{command::SettingsCommand, document::column::file_name, lights::HighlightPart, settings::Theme};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{
    sentence::command::SearchCommand, sentence::view::picture_bar, shell::act::Act, shell::local::Window,
    shell::menu::act_item,
};
use crate::ui::views::lesson;
use crate::widgets::{labels, theme};
use engine::aligner::bundled::AlignerFile;
use engine::lang;
use engine::lang::{LANGUAGES, Language};
use engine::nn::{device, device::DeviceChoice};

/// Where newer versions are. Packagers set `INTERLINEAR_NEWER` at build time, or leave it out if the system updates it.
const NEWER: &str = match option_env!("INTERLINEAR_NEWER") {
    Some(text) => text,
    None => id!("A newer one is where this one came from; the program does not look."),
};

fn menu(text: &str) -> MenuButton<'_> {
    MenuButton::new(text).config(MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside))
}

type Menu = (&'static str, fn(&mut Ui, &mut Window<'_>));

pub const MENUS: [Menu; 3] = [(id!("View"), view_ui), (id!("Decoding"), search_ui), (id!("File"), file_ui)];

pub fn menus_ui(ui: &mut Ui, window: &mut Window<'_>, is_narrow: bool) {
    if !is_narrow {
        for (name, content) in MENUS {
            menu(lang::text(name)).ui(ui, |ui| content(ui, window));
        }
        return;
    }
    menu(tr!("Menu")).ui(ui, |ui| {
        for (name, content) in MENUS.iter().rev() {
            // One that does not fit below its line slides over the line, and would be clicked in its place.
            let room = ui.ctx().content_rect().bottom() - ui.cursor().top() - theme::SPACE_4;
            SubMenuButton::new(lang::text(name)).ui(ui, |ui| {
                // a bar that is always there shows that there are more entries
                ui.spacing_mut().scroll = egui::style::ScrollStyle::solid();
                egui::ScrollArea::vertical().max_height(room).show(ui, |ui| content(ui, window));
            });
        }
        if ui.button(tr!("Lessons")).clicked() {
            lesson::toggle(window);
            ui.close();
        }
    });
}

fn search_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.set_width(320.0_f32.min(ui.ctx().content_rect().width() - 2.0 * theme::SPACE_4));
    if is_phone(ui) {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center).with_main_align(egui::Align::Min), |ui| {
            beam_ui(ui, window);
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
    let mut power = window.app.document.state.search.length_normalization;
    let label = ui.label(tr!("Length normalisation A"));
    let slider = ui.add(Slider::new(&mut power, 0.0..=2.0).step_by(0.1).fixed_decimals(1)).labelled_by(label.id);
    window.push_if(slider.changed(), SearchCommand::SetLengthNormalization(power));
    labels::note(
        ui,
        tr!("Finished translations are ranked by log p divided by their length to the power of A. 0 ranks by log p."),
    );
}

fn unknown_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let settings = &window.app.view.settings;
    let mut replace = settings.unk_replacement;
    window.push_if(
        ui.checkbox(&mut replace, tr!("Show the typed word for [UNK]")).changed(),
        SettingsCommand::SetUnkReplacement(replace),
    );
    labels::note(
        ui,
        tr!(
            "[UNK] stands for a word that is not in the vocabulary. The source word of greatest alpha is put in its place."
        ),
    );
    let mut forbid = window.app.document.state.search.forbid_unk;
    window.push_if(ui.checkbox(&mut forbid, tr!("Never choose [UNK]")).changed(), SearchCommand::SetForbidUnk(forbid));
    let mut allow = window.app.document.state.search.allow_unk;
    let switch = egui::Checkbox::new(&mut allow, tr!("Let models of Marian choose [UNK]"));
    let about = tr!("Marian never writes [UNK] by default. Other models choose it where it is likeliest.");
    window.push_if(ui.add_enabled(!forbid, switch).on_hover_text(about).changed(), SearchCommand::SetAllowUnk(allow));
}

fn device_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let chosen = window.app.view.settings.device;
    let choices = std::iter::once(DeviceChoice::Auto)
        .chain(device::available().into_iter().filter(|choice| *choice != DeviceChoice::Auto));
    let label = ui.label(tr!("Compute on"));
    let combo = ComboBox::from_id_salt("device").selected_text(device_text(chosen)).show_ui(ui, |ui| {
        for choice in choices {
            window.push_if(
                ui.selectable_label(choice == chosen, device_text(choice)).clicked(),
                SettingsCommand::SetDevice(choice),
            );
        }
    });
    combo.response.labelled_by(label.id);
}

fn device_text(choice: DeviceChoice) -> String {
    match choice {
        DeviceChoice::Auto => tr!("the best that works").to_owned(),
        DeviceChoice::Cpu => "CPU".to_owned(),
        DeviceChoice::Metal => "Metal".to_owned(),
        DeviceChoice::Cuda(number) => format!("CUDA {number}"),
    }
}

fn view_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.set_min_width(280.0);
    let theme = window.app.view.settings.theme;
    ui.label(RichText::new(tr!("Theme")).color(theme::tokens(ui).weak));
    ui.horizontal(|ui| {
        for (choice, name) in
            [(Theme::System, tr!("As the system")), (Theme::Light, tr!("Light")), (Theme::Dark, tr!("Dark"))]
        {
            if ui.selectable_label(theme == choice, name).clicked() {
                window.push(SettingsCommand::SetTheme(choice));
                ui.close();
            }
        }
    });
    ui.separator();
    ui.menu_button(tr!("Language"), |ui| language_ui(ui, window));
    act_item(ui, window, tr!("Larger"), Act::ZoomIn);
    act_item(ui, window, tr!("Smaller"), Act::ZoomOut);
    act_item(ui, window, tr!("Usual size"), Act::ZoomReset);
    let mut moves = window.layout.motion;
    let note = tr!("Off: panels, menus and what is scrolled into view jump to their places");
    if ui.checkbox(&mut moves, tr!("Motion")).on_hover_text(note).changed() {
        window.layout.motion = moves;
    }
    ui.separator();
    act_item(ui, window, tr!("Class mode"), Act::Class);
    act_item(ui, window, tr!("Presentation"), Act::Present);
    act_item(ui, window, tr!("Full screen"), Act::FullScreen);
    act_item(ui, window, tr!("One column alone, or all"), Act::Solo);
    act_item(ui, window, tr!("Manual"), Act::Manual);
    ui.separator();
    act_item(ui, window, tr!("Heatmap, links or tree"), Act::NextPicture);
    act_item(ui, window, tr!("Alignment as a table"), Act::Table);
    act_item(ui, window, tr!("Interlinear text"), Act::Interlinear);
    act_item(ui, window, tr!("Next palette"), Act::NextPalette);
    act_item(ui, window, tr!("Alpha or energies"), Act::ToggleEnergies);
    ui.add_enabled_ui(picture_bar::can_link(window).is_ok(), |ui| {
        act_item(ui, window, tr!("Links of the aligner"), Act::ToggleLinks);
    });
    aligner_ui(ui, window);
    act_item(ui, window, tr!("Words or their pieces"), Act::TogglePieces);
    act_item(ui, window, tr!("Show or hide the sentences"), Act::ToggleSentences);
    act_item(ui, window, tr!("Show or hide the inspector"), Act::ToggleInspector);
    act_item(ui, window, tr!("Score a translation of your own"), Act::ToggleGiven);
}

fn language_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let chosen = window.app.view.settings.language;
    let has_chinese = ui.fonts_mut(|fonts| fonts.has_glyphs(&theme::body(), Language::Chinese.name()));
    for language in std::iter::once(None).chain(LANGUAGES.map(Some)) {
        let name = language.map_or(tr!("As the system"), Language::name);
        let is_bare = language == Some(Language::Chinese) && !has_chinese;
        // boxes for letters say nothing
        let item = ui.radio(chosen == language, if is_bare { "Chinese" } else { name });
        let item =
            if is_bare { item.on_hover_text(tr!("This computer has no font with Chinese characters")) } else { item };
        if item.accessible_name(name).clicked() {
            window.push(SettingsCommand::SetLanguage(language));
            ui.close();
        }
    }
}

const ALIGNER: Question = Question::new(
    id!("An aligner of your own"),
    id!("Open"),
    Wants::File(&["aligner"]),
    id!(
        "A file of `interlinear align --statistical --save`. It links the words of its languages in the place of what comes with the program: outlines, the links that judging begins with, and what is measured from now on."
    ),
);

fn aligner_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if ui.button(tr!("Another aligner...")).on_hover_text(lang::text(ALIGNER.note)).clicked() {
        window.ask(ALIGNER.then(|path| SettingsCommand::OpenAligner { path, model: None }));
        ui.close();
    }
    for own in window.app.view.settings.aligner.iter() {
        without_ui(ui, window, own);
    }
}

pub fn without_ui(ui: &mut Ui, window: &mut Window<'_>, own: &AlignerFile) {
    let AlignerFile { path, languages: (source, target), model } = own;
    let of = match model {
        Some(model) => model.name(),
        None if source.is_empty() => tr!("all languages").to_owned(),
        None => format!("{source}-{target}"),
    };
    let note = match model {
        Some(_) => tr!("Its words are linked by the aligner of its languages again, if there is one"),
        None => tr!("Its languages have what comes with the program again, or none"),
    };
    if ui.button(tr!("Without {} ({of})", file_name(path), of)).on_hover_text(note).clicked() {
        window.push(SettingsCommand::RemoveAligner(own.clone()));
        ui.close();
    }
}

fn file_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.set_min_width(240.0);
    act_item(ui, window, tr!("Open..."), Act::Open);
    act_item(ui, window, tr!("Add a model..."), Act::AddModel);
    #[cfg(not(target_family = "wasm"))]
    act_item(ui, window, tr!("New training..."), Act::NewTraining);
    act_item(ui, window, tr!("Save a figure..."), Act::SaveFigure);
    act_item(ui, window, tr!("Copy link"), Act::CopyLink);
    ui.separator();
    act_item(ui, window, tr!("Undo"), Act::Undo);
    act_item(ui, window, tr!("Undo to the sentence before"), Act::UndoSentence);
    act_item(ui, window, tr!("Redo"), Act::Redo);
    act_item(ui, window, tr!("Stop translating"), Act::Stop);
    if !NEWER.is_empty() {
        ui.separator();
        labels::note(ui, tr!("Version {}. {newer}", env!("CARGO_PKG_VERSION"), newer = lang::text(NEWER)));
    }
}

/// A screen reader reads typed letters already.
const PHONE: f32 = 560.0;

pub fn is_phone(ui: &Ui) -> bool {
    ui.ctx().content_rect().width() < PHONE
}

pub fn beam_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let mut beam = window.app.document.state.search.beam;
    let value = ui.add(egui::DragValue::new(&mut beam).range(1..=50).speed(0.1));
    let label = ui.label(RichText::new(tr!("Beam")).color(theme::tokens(ui).weak));
    let value = value
        .labelled_by(label.id)
        .on_hover_text(tr!("How many unfinished translations the search keeps at each step; 1 is greedy"));
    window.part(ui, HighlightPart::BeamSize, "", value.rect.union(label.rect));
    window.push_if(value.changed(), SearchCommand::SetBeam(beam));
}
