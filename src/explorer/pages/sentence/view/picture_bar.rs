//! The line over the columns: what the colours mean, which numbers are shown, how large the cells are.

use egui::accesskit::Role;
use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{ComboBox, Id, RichText, Sense, Ui, WidgetInfo, vec2};

use crate::app::{
    command::SettingsCommand, document::column::Column, document::table::AlignmentTable, files::picture, layout::Look,
    layout::SWITCHES, settings::Shown,
};
use crate::pages::sentence::view::questions::{
    asked_ui, has_choice, has_heads, has_own_reading, reading_ui, sample_ui,
};
use crate::pages::sentence::view::{alignment, columns, measured};
use crate::pages::{shell::act::Act, shell::local::Window};
use crate::widgets::heatmap::layout::Zoom;
use crate::widgets::{labels, marks, theme};
use engine::analysis::measures::{MEASURES, Measure};
use engine::lang;
use figure::heatmap::{gaze_legend, outlines::Outlined};
use figure::legend as band;
use figure::palette::Rgba;

/// Width that the legend of doubt and the buttons at the right need, points.
const DOUBT: f32 = 560.0;
const NARROW: f32 = 640.0;

pub(super) fn picture_bar_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if window.app.document.columns.is_empty() {
        return;
    }
    let fitting = columns::fitting(window.app, ui.available_width());
    let is_alone = window.layout.solo;
    if theme::is_squat(ui) && fitting < window.app.document.columns.len() && !is_alone {
        ui.horizontal(|ui| {
            folded_ui(ui, window, true);
            columns::paging_ui(ui, window, fitting);
        });
        return;
    }
    let (id, line) = (Id::unique("picture bar"), line(ui, window));
    let known = ui.data(|data| data.get_temp::<(FoldingLine, Folding)>(id));
    let now = known.filter(|(of, _)| *of == line).map_or_else(|| line.folding(), |(_, folding)| folding);
    let now = if window.layout.has_switches() { now } else { Folding::Slim };
    let fits = match now {
        Folding::All | Folding::Slim => {
            let room = ui.max_rect().right();
            let line = ui.horizontal(|ui| folded_ui(ui, window, now == Folding::Slim)).response;
            line.rect.right() <= room + 0.5 || now == Folding::Slim
        }
        _ => ui.horizontal(|ui| line_ui(ui, window, now)).inner,
    };
    let next = if fits { now } else { now.more() };
    if window.layout.has_switches() {
        ui.data_mut(|data| data.insert_temp(id, (line, next)));
    }
    if !fits {
        ui.ctx().request_discard("the line over the columns has no room for all of it");
    }
    ui.add_space(theme::SPACE_1);
}

fn line(ui: &Ui, window: &Window<'_>) -> FoldingLine {
    let any = |is: &dyn Fn(&AlignmentTable) -> bool| tables(window).any(is);
    let settings = &window.app.view.settings;
    FoldingLine {
        room: ui.available_width(),
        columns: window.app.document.columns.len(),
        shown: settings.shown,
        pictured: [
            settings.links,
            window.layout.look == Look::Tree,
            window.layout.interlinear,
            window.layout.look == Look::Links,
        ],
        extras: [
            differs(window),
            has_heads(window),
            any(&has_choice),
            has_own_reading(window),
            any(&|table| table.units.is_some()),
            any(&|table| table.p_t.is_some()),
        ],
    }
}

/// Paints the line; false if the buttons at its right overlap the rest.
fn line_ui(ui: &mut Ui, window: &mut Window<'_>, folding: Folding) -> bool {
    let (is_full, is_tight) = (folding != Folding::Nothing, folding == Folding::More);
    picture_ui(ui, window);
    if window.layout.interlinear {
        return true;
    }
    differs_legend(ui, window);
    if window.layout.look == Look::Tree {
        units_ui(ui, window);
    } else if window.layout.look == Look::Links {
        asked_ui(ui, window);
        threshold_ui(ui, window);
        rows_ui(ui, window, is_full, is_tight);
        if !is_tight {
            links_ui(ui, window);
        }
    } else {
        asked_ui(ui, window);
        numbers_ui(ui, window);
        rows_ui(ui, window, is_full, is_tight);
        palette_ui(ui, window);
        if !is_tight {
            links_ui(ui, window);
            gaze_ui(ui, window);
        }
    }
    if ui.available_width() > DOUBT {
        doubt_legend(ui);
    }
    let end = ui.cursor().left();
    let right = ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| size_ui(ui, window));
    right.response.rect.left() + 0.5 >= end
}

fn rows_ui(ui: &mut Ui, window: &mut Window<'_>, is_full: bool, is_tight: bool) {
    if !is_full {
        reading_ui(ui, window);
        units_ui(ui, window);
        return;
    }
    let config = MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let button = MenuButton::new(tr!("Rows")).config(config).ui(ui, |ui| {
        ui.horizontal(|ui| reading_ui(ui, window));
        ui.horizontal(|ui| units_ui(ui, window));
        if is_tight {
            ui.horizontal(|ui| links_ui(ui, window));
            ui.horizontal(|ui| gaze_ui(ui, window));
        }
    });
    let more = if is_tight { tr!(", links of the statistical aligner, marks of local attention") } else { "" };
    button.0.on_hover_text(tr!("Which word a row belongs to{more}", more));
    ui.add_space(theme::SPACE_2);
}

fn folded_ui(ui: &mut Ui, window: &mut Window<'_>, is_slim: bool) {
    picture_ui(ui, window);
    if window.layout.interlinear {
        return;
    }
    let is_tree = window.layout.look == Look::Tree;
    let is_links = window.layout.look == Look::Links && !is_tree;
    let is_heatmap = !is_links && !is_tree;
    if !is_tree && !is_slim {
        asked_ui(ui, window);
    }
    if is_heatmap && !is_slim {
        numbers_ui(ui, window);
    }
    if !is_slim {
        differs_legend(ui, window);
    }
    let config = MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    MenuButton::new(tr!("More")).config(config).ui(ui, |ui| {
        if is_links {
            ui.horizontal(|ui| threshold_ui(ui, window));
        }
        if is_slim {
            ui.horizontal(|ui| differs_legend(ui, window));
        }
        if is_slim && !is_tree {
            ui.horizontal(|ui| asked_ui(ui, window));
        }
        if is_slim && is_heatmap {
            ui.horizontal(|ui| numbers_ui(ui, window));
        }
        if !is_tree {
            ui.horizontal(|ui| reading_ui(ui, window));
        }
        ui.horizontal(|ui| units_ui(ui, window));
        if is_heatmap {
            ui.horizontal(|ui| palette_ui(ui, window));
        }
        if !is_tree {
            ui.horizontal(|ui| links_ui(ui, window));
        }
        if is_heatmap {
            ui.horizontal(|ui| gaze_ui(ui, window));
        }
        ui.horizontal(doubt_legend);
        ui.horizontal(|ui| size_ui(ui, window));
        let mut in_line = window.layout.has_switches();
        let about = tr!("In a line over the columns, as far as it has room");
        if ui.checkbox(&mut in_line, tr!("Always show these switches")).on_hover_text(about).changed() {
            window.layout.turn(SWITCHES);
        }
    });
}

fn picture_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let key = Act::NextPicture.key_text(ui.ctx());
    let shown = Some(window.layout.look).filter(|_| !window.layout.interlinear);
    ui.spacing_mut().item_spacing.x = theme::SPACE_1;
    for (choice, name, note) in [
        (Look::Heatmap, tr!("heatmap"), tr!("A cell for each target and source word ({key})", key)),
        (
            Look::Links,
            tr!("links"),
            tr!("Both lines of words, and a link for each alpha above the threshold ({key})", key),
        ),
        (Look::Tree, tr!("tree"), tr!("The whole search, word by word ({key})", key)),
    ] {
        if labels::choice(ui, shown == Some(choice), name, note) {
            (window.layout.look, window.layout.interlinear) = (choice, false);
        }
    }
    ui.separator();
}

fn threshold_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let mut threshold = window.layout.links_threshold;
    if labels::threshold_ui(ui, &mut threshold) {
        window.layout.links_threshold = threshold;
    }
    let by_opacity = window.layout.links_opacity;
    for (opacity, name) in [(false, tr!("width")), (true, tr!("opacity"))] {
        let note = tr!("alpha is the {name} of a link", name);
        if labels::choice(ui, by_opacity == opacity, name, note) {
            window.layout.links_opacity = opacity;
        }
    }
    ui.add_space(theme::SPACE_2);
}

fn numbers_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let shown = window.app.view.settings.shown;
    let explained = [
        (
            Shown::Alpha,
            "alpha",
            tr!(
                "alpha_ij, how much of source word j goes into the context for target word i (Bahdanau et al. 2015, equation 6)"
            ),
        ),
        (
            Shown::Energies,
            tr!("energies"),
            tr!(
                "e_ij, how well source word j fits target word i, before the softmax (Bahdanau et al. 2015, section 3.1)"
            ),
        ),
    ];
    ui.spacing_mut().item_spacing.x = theme::SPACE_1;
    for (choice, name, note) in explained {
        let button = egui::Button::selectable(shown == choice, name.replacen("alpha", "\u{3b1}", 1));
        let button = ui.add(labels::for_finger(button)).on_hover_text(note);
        window.push_if(button.accessible_name(name).clicked(), SettingsCommand::SetShown(choice));
    }
    measures_ui(ui, window, shown);
    ui.add_space(theme::SPACE_2);
}

fn measures_ui(ui: &mut Ui, window: &mut Window<'_>, shown: Shown) {
    let chosen = picture::measure(shown);
    let title = RichText::new(if chosen.is_some() { tr!("tested") } else { tr!("tests") });
    let t = theme::tokens(ui);
    let title = if chosen.is_some() { title.color(t.accent) } else { title };
    let note = tr!(
        "How much the words of the selected column's translation really depended on each source word: what becomes of \
                them without it, and by gradients"
    );
    let (button, _) = MenuButton::from_button(egui::Button::new(title).frame_when_inactive(false)).ui(ui, |ui| {
        let has_heads = |column: &Column| column.facts.as_ref().is_some_and(|facts| facts.sizes.heads.0 > 0);
        let has_heads = window.app.document.columns.iter().any(has_heads);
        for (n, measure) in MEASURES.iter().enumerate().filter(|(_, measure)| has_heads || !measure.is_of_heads()) {
            let is_chosen = shown == Shown::Measure(n);
            if labels::choice(ui, is_chosen, lang::text(measure.title), lang::text(measure.about)) {
                let app = window.app;
                let can = |column: &&Column| app.document.why_not_measured(column, n).is_none();
                let column = app.selected_column().filter(can).or_else(|| app.document.columns.iter().find(can));
                match column.map(|column| column.id) {
                    Some(column) => measured::measure(window, column, n),
                    None => window.push(SettingsCommand::SetShown(Shown::Measure(n))),
                }
                ui.close();
            }
        }
    });
    let name =
        chosen.map_or_else(|| tr!("Measures").to_owned(), |measure| tr!("Measures, {}", lang::text(measure.title)));
    button.on_hover_text(note).accessible_name(name);
}

fn tables<'a>(window: &Window<'a>) -> impl Iterator<Item = &'a AlignmentTable> {
    window.app.document.columns.iter().filter_map(|column| column.table.as_deref())
}

fn units_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if tables(window).all(|table| table.units.is_none()) {
        return;
    }
    let on = window.app.view.settings.pieces;
    let note = tr!(
        "Shows the pieces of words that the model reads and writes. Where words are shown, the columns of alpha are added over the pieces of a word and its rows averaged, so that rows keep their sums; an energy is log sum exp over the pieces"
    );
    let pieces = ui.selectable_label(on, tr!("pieces")).on_hover_text(note);
    window.push_if(pieces.accessible_name(tr!("Pieces of words")).clicked(), SettingsCommand::SetPieces(!on));
    ui.add_space(theme::SPACE_2);
}

pub fn can_link(window: &Window<'_>) -> Result<(), String> {
    let columns = &window.app.document.columns;
    if columns.iter().any(|column| column.aligner(&window.app.view.settings).is_some()) {
        return Ok(());
    }
    let mut facts = columns.iter().filter_map(|column| column.facts.as_ref());
    let languages = facts.next().map(|facts| tr!("{} and {}", facts.source_language, facts.target_language));
    Err(languages.map_or_else(
        || tr!("No model is loaded yet").to_owned(),
        |languages| {
            tr!(
                "No statistical aligner for {languages} comes with the program; the menu View takes a file of your own",
                languages
            )
        },
    ))
}

fn links_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let (can, on) = (can_link(window), window.app.view.settings.links);
    if on && can.is_ok() {
        sample_ui(ui, Outlined::Aligner, tr!("Legend of the outlines, links of the statistical aligner"));
    }
    let note = tr!(
        "Outlines the word links of a statistical aligner, which learned from parallel text alone and knows nothing of the \
         models; whole where both directions agree, dashed where only one has the link ({})",
        Act::ToggleLinks.key_text(ui.ctx())
    );
    let button = ui.add_enabled(can.is_ok(), egui::Button::selectable(on && can.is_ok(), tr!("aligner")));
    let button = button.on_hover_text(note).on_disabled_hover_text(can.err().unwrap_or_default());
    window.push_if(
        button.accessible_name(tr!("Links of the statistical aligner")).clicked(),
        SettingsCommand::SetLinks(!on),
    );
    ui.add_space(theme::SPACE_2);
}

fn gaze_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if tables(window).all(|table| table.p_t.is_none()) {
        return;
    }
    let is_drawn = window.layout.gaze;
    let (rect, response) = ui.allocate_exact_size(vec2(30.0, 14.0), Sense::hover());
    response
        .widget_info(|| WidgetInfo::labeled(Role::Legend, true, tr!("Legend of local attention, p_t in its window")));
    marks::paint(ui.painter(), gaze_legend(&rect, theme::palette(ui)));
    let note = tr!(
        "The mark is p_t, the place where local attention looks; the frame, in the row under the mouse and in the selected one, holds the words from p_t - D to p_t + D, the only ones that it weighs (Luong et al. 2015, section 3.2)"
    );
    let name = labels::signs("p_t", theme::TEXT_BODY, theme::tokens(ui).text);
    let label = ui.selectable_label(is_drawn, name).on_hover_text(note);
    if label.accessible_name(tr!("Marks of local attention")).clicked() {
        window.layout.gaze = !is_drawn;
    }
    ui.add_space(theme::SPACE_2);
}

fn legend(window: &Window<'_>) -> (f32, (String, String)) {
    let shown = window.app.view.settings.shown;
    let range = alignment::range(window.app, shown);
    if range.is_none() {
        return (0.0, (tr!("least").to_owned(), tr!("greatest").to_owned()));
    }
    let (from, (low, high)) = picture::scale(shown).legend(range);
    let digits = match shown {
        Shown::Alpha => 0,
        Shown::Energies => 1,
        Shown::Measure(_) => 2,
    };
    (from, (format!("{low:.digits$}"), format!("{high:.digits$}")))
}

fn palette_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let at = theme::map_at(window.app.view.settings.palette_on(ui.visuals().dark_mode));
    let measure = picture::measure(window.app.view.settings.shown);
    // pictures of heads are of weights, whatever is measured of them
    let is_of_heads = measure.is_some_and(Measure::is_of_heads);
    let (from, (low, high)) = if is_of_heads { (0.0, ("0".to_owned(), "1".to_owned())) } else { legend(window) };
    let map = match measure.filter(|_| !is_of_heads) {
        Some(_) => theme::ColourMap::of_measures(ui.visuals().dark_mode),
        None => theme::ColourMap::at(at),
    };
    if ui.available_width() > NARROW {
        labels::caption(ui, low.clone());
        let colour = |share: f32| map.colour(from + (1.0 - from) * share);
        gradient(ui, colour, tr!("Legend of the palette, from the least to the greatest number")).on_hover_text(tr!(
            "From {low} to {high}, in all columns alike",
            low,
            high
        ));
        labels::caption(ui, high);
    }
    if let Some(measure) = measure {
        // the palette is one of alpha
        labels::caption(ui, format!("{} ({})", lang::text(measure.title), lang::text(measure.unit)));
        return;
    }
    let combo = ComboBox::from_id_salt("palette")
        .width(96.0)
        .selected_text(lang::text(theme::ColourMap::at(at).name))
        .show_ui(ui, |ui| {
            for (n, map) in theme::COLOUR_MAPS.iter().enumerate() {
                if labels::choice(ui, n == at, lang::text(map.name), lang::text(map.note)) {
                    window.push(SettingsCommand::SetPalette(map.name.to_owned()));
                }
            }
        });
    combo.response.accessible_name(tr!("Palette")).on_hover_text(tr!("Palette of the heatmap (Ctrl+P)"));
    ui.add_space(theme::SPACE_3);
}

fn doubt_legend(ui: &mut Ui) {
    labels::caption(ui, tr!("words  sure"));
    let palette = theme::palette(ui);
    gradient(ui, |share| palette.doubt(-4.6 * share), tr!("Legend of the words, from sure to doubtful"))
        .on_hover_text(tr!("A word's background grows warmer as its probability falls, from 1 down to 0.01"));
    labels::caption(ui, tr!("doubtful"));
}

fn differs(window: &Window<'_>) -> bool {
    tables(window).any(|table| table.target.iter().any(|word| word.differs))
}

fn differs_legend(ui: &mut Ui, window: &Window<'_>) {
    if !differs(window) {
        return;
    }
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.x = theme::SPACE_1;
    let (rect, _) = ui.allocate_exact_size(vec2(16.0, 14.0), Sense::hover());
    ui.painter().hline(rect.x_range(), rect.bottom() - 2.0, egui::Stroke::new(2.0, t.accent));
    let text = RichText::new(tr!("differs")).size(theme::TEXT_SMALL).color(t.weak);
    ui.label(text).on_hover_text(tr!("The word is not in every column's output at this place"));
    ui.add_space(theme::SPACE_2);
}

fn gradient(ui: &mut Ui, colour: impl Fn(f32) -> Rgba, label: &str) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(band::SIZE, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Legend, true, label));
    marks::paint(ui.painter(), band::band(&rect, theme::palette(ui), colour));
    response
}

fn size_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.spacing_mut().item_spacing.x = theme::SPACE_1;
    let is_open = window.layout.inspector_open;
    if labels::choice(ui, is_open, tr!("Inspector"), tr!("Show or hide the inspector of a word (Ctrl+I)")) {
        window.layout.inspector_open = !is_open;
    }
    if window.app.document.columns.len() > 1 {
        let alone = window.layout.solo;
        let key = Act::Solo.key_text(ui.ctx());
        if labels::choice(ui, alone, tr!("Alone"), tr!("The selected column alone, or all of them ({key})", key)) {
            window.layout.solo = !alone;
        }
    }
    ui.add_space(theme::SPACE_2);
    let zoom = window.zoom();
    if labels::choice(ui, zoom == Zoom::Whole, tr!("Whole"), tr!("All cells in view, however small (0)")) {
        window.layout.cell = -1.0;
    }
    if labels::choice(ui, zoom == Zoom::Auto, tr!("Auto"), tr!("Cells as large as fits, but not too small to read")) {
        window.layout.cell = 0.0;
    }
    for (text, name, wanted) in
        [("+", tr!("Larger cells"), Act::LargerCells), ("\u{2013}", tr!("Smaller cells"), Act::SmallerCells)]
    {
        let button = labels::for_finger(egui::Button::new(text));
        let button = ui.add(button).on_hover_text(tr!("{name} (Ctrl and the wheel over the heatmap)", name));
        if button.accessible_name(name).clicked() {
            window.local.acts.push(wanted);
        }
    }
    if ui.available_width() > 44.0 {
        labels::caption(ui, tr!("cells"));
    }
}

/// Widths that the parts of the line need, points.
const FOLDED: f32 = 860.0;
const DIFFERS: f32 = 84.0;
const ASKED: f32 = 290.0;
const READING: f32 = 140.0;
const OWN_READING: f32 = 40.0;
const UNITS: f32 = 80.0;
const GAZE: f32 = 104.0;
const ALONE: f32 = 72.0;
const TESTS: f32 = 52.0;

/// How much of the line is behind a button: estimated first, then more if parts overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folding {
    Nothing,
    Rows,
    More,
    All,
    Slim,
}

impl Folding {
    /// The next level, with less in the line.
    fn more(self) -> Self {
        match self {
            Self::Nothing => Self::Rows,
            Self::Rows => Self::More,
            Self::More => Self::All,
            Self::All | Self::Slim => Self::Slim,
        }
    }
}

/// What the width of the line depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FoldingLine {
    room: f32,
    columns: usize,
    shown: Shown,
    /// Whether the aligner's links are on, and whether the picture is the tree, interlinear text, or links.
    pictured: [bool; 4],
    /// Whether there are differing words, alignment heads, readings, own readings, pieces, marks of local attention.
    extras: [bool; 6],
}

impl FoldingLine {
    fn folding(&self) -> Folding {
        let [differs, heads, reading, own, units, gaze] = self.extras;
        let width = |is_there: bool, width: f32| if is_there { width } else { 0.0 };
        let folded = FOLDED + width(differs, DIFFERS) + width(heads, ASKED);
        if self.room < folded {
            return Folding::All;
        }
        let rows = width(reading, READING + width(own, OWN_READING)) + width(units, UNITS);
        let gaze = width(gaze, GAZE);
        let is_crowded = self.columns > 1 || gaze > 0.0;
        if self.room >= folded + rows + gaze + width(is_crowded, TESTS) || rows + gaze == 0.0 {
            return Folding::Nothing;
        }
        // with less room not even the aligner and the marks of local attention stand beside that button
        let alone = width(self.columns > 1, ALONE);
        if self.room < folded + gaze + alone { Folding::More } else { Folding::Rows }
    }
}
