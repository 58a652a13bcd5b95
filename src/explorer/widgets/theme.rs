//! Every size and font of the window, and the colours of [`palette`] as egui has them.
//!
//! The scale of spaces is 4, 8, 12, 16, 24.

use std::sync::{Arc, LazyLock};

use egui::style::ScrollAnimation;
use egui::{
    Color32, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, Vec2,
    Visuals,
};

use figure::palette;
use figure::palette::{Palette, Rgba};

pub use figure::palette::{COLOUR_MAPS, ColourMap};
pub use figure::sizes::{CELL_AUTO, CELL_LIMITS, DATA_POINT, LABEL_MAX, SPACE_1, SPACE_2, TEXT_BODY, TEXT_SMALL};

pub const SPACE_3: f32 = 12.0;
pub const SPACE_4: f32 = 16.0;
pub const SPACE_5: f32 = 24.0;

pub const TEXT_TITLE: f32 = 17.0;
pub const TEXT_SENTENCE: f32 = 18.0;

pub const TEXT_OUTPUT: f32 = 16.5;

/// The least height and width of what is pressed.
pub const FINGER: f32 = 24.0;

pub const RADIUS: u8 = 8;
pub const RADIUS_SMALL: u8 = 5;

/// Default width of the list of sentences.
pub const SENTENCES_WIDTH: f32 = 248.0;
pub const INSPECTOR_HEIGHT: f32 = 176.0;
pub const SIDE_WIDTH: f32 = 288.0;
/// Least width of a column next to others; what does not fit is on a further page of columns.
pub const COLUMN_MIN_WIDTH: f32 = 320.0;
pub const MENU_WIDTH: f32 = 260.0;
pub const PROGRESS_HEIGHT: f32 = 4.0;
const SLIM_WINDOW: f32 = 560.0;
const LOW_WINDOW: f32 = 620.0;
const FLAT_WINDOW: f32 = 560.0;
const SQUAT_WINDOW: f32 = 520.0;
pub const STALE_OPACITY: f32 = 0.4;

pub const PLOT_HEIGHT: f32 = 240.0;
pub const PLOT_WIDTH: f32 = 400.0;

pub fn map_at(name: &str) -> usize {
    COLOUR_MAPS.iter().position(|map| map.name.eq_ignore_ascii_case(name)).unwrap_or(0)
}

/// The colours of one theme.
pub type DesignTokens = Palette<Color32>;

static LIGHT: LazyLock<DesignTokens> = LazyLock::new(|| palette::LIGHT.map(colour));
static DARK: LazyLock<DesignTokens> = LazyLock::new(|| palette::DARK.map(colour));

pub const PAPER: Color32 = Color32::WHITE;
pub const INK: Color32 = Color32::BLACK;

pub const fn colour(rgba: Rgba) -> Color32 {
    let [r, g, b, a] = rgba.channels();
    Color32::from_rgba_premultiplied(covering(r, a), covering(g, a), covering(b, a), a)
}

const fn covering(channel: u8, cover: u8) -> u8 {
    ((channel as u32 * cover as u32 + 127) / 255) as u8
}

pub fn palette(ui: &egui::Ui) -> &'static Palette {
    Palette::of(ui.visuals().dark_mode)
}

pub fn series(ui: &egui::Ui, place: usize) -> Color32 {
    colour(Palette::series(place, ui.visuals().dark_mode))
}

pub fn tokens(ui: &egui::Ui) -> &'static DesignTokens {
    of(ui.visuals().dark_mode)
}

pub fn of(dark: bool) -> &'static DesignTokens {
    if dark { &DARK } else { &LIGHT }
}

/// A window as slim as an upright phone.
pub fn is_slim(ui: &egui::Ui) -> bool {
    ui.ctx().content_rect().width() < SLIM_WINDOW
}

/// A window so low that hints and second lines are left out.
pub fn is_low(ui: &egui::Ui) -> bool {
    ui.ctx().content_rect().height() < LOW_WINDOW
}

/// A window so low that bars fold into one line and repeated texts are left out.
pub fn is_squat(ui: &egui::Ui) -> bool {
    ui.ctx().content_rect().height() < SQUAT_WINDOW
}

/// A window so low that a picture needs all the room.
pub fn is_flat(ui: &egui::Ui) -> bool {
    ui.ctx().content_rect().height() < FLAT_WINDOW
}

const ANIMATION: f32 = 0.09;

/// The two stars of judgements, drawn by `assets/fonts/signs.py`.
const SIGNS: &[u8] = include_bytes!("../../../assets/fonts/Signs.ttf");

/// Text fonts, then the code font, which has arrows and triangles, then a font of signs that the others lack.
pub fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    fonts.font_data.insert("signs".to_owned(), Arc::new(FontData::from_static(SIGNS)));
    let code = fonts.families.get(&FontFamily::Monospace).and_then(|family| family.first()).cloned();
    fonts.families.entry(FontFamily::Proportional).or_default().extend(code);
    for family in fonts.families.values_mut() {
        family.push("signs".to_owned());
    }
    fonts
}

pub fn install(ctx: &egui::Context) {
    ctx.set_fonts(fonts());
    for theme in [Theme::Light, Theme::Dark] {
        ctx.style_mut_of(theme, |style| {
            style.visuals = visuals(theme == Theme::Dark);
            style.text_styles = text_styles();
            spacing(&mut style.spacing);
            style.interaction.tooltip_delay = 0.3;
            style.interaction.selectable_labels = false;
            style.animation_time = ANIMATION;
        });
    }
}

pub fn set_motion(ctx: &egui::Context, moves: bool) {
    ctx.all_styles_mut(|style| {
        style.animation_time = if moves { ANIMATION } else { 0.0 };
        style.scroll_animation = if moves { ScrollAnimation::default() } else { ScrollAnimation::none() };
    });
}

pub fn body() -> FontId {
    FontId::new(TEXT_BODY, FontFamily::Proportional)
}

pub fn small() -> FontId {
    FontId::new(TEXT_SMALL, FontFamily::Proportional)
}

pub fn sentence() -> FontId {
    FontId::new(TEXT_SENTENCE, FontFamily::Proportional)
}

/// A little smaller than what is typed, since columns are narrow.
pub fn output() -> FontId {
    FontId::new(TEXT_OUTPUT, FontFamily::Proportional)
}

pub fn title() -> FontId {
    FontId::new(TEXT_TITLE, FontFamily::Proportional)
}

pub fn card(t: &DesignTokens) -> egui::Frame {
    egui::Frame::new()
        .fill(t.panel)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(CornerRadius::same(RADIUS))
        .inner_margin(Margin::same(12))
}

pub fn panel(t: &DesignTokens) -> egui::Frame {
    egui::Frame::new().fill(t.panel).inner_margin(Margin::symmetric(12, 8))
}

pub fn bar(ui: &egui::Ui) -> egui::Frame {
    let margin = Margin::symmetric(12, if is_squat(ui) { 3 } else { 8 });
    panel(tokens(ui)).inner_margin(margin)
}

/// The background of a word by its probability: none when sure, warm when in doubt.
pub fn doubt(t: &DesignTokens, log_p: f32) -> Color32 {
    t.warm_soft.gamma_multiply(palette::doubt(log_p))
}

/// The colour of a point of a map by its share from 0 to 1; ends that would vanish in the background are left out.
pub fn point(dark: bool, share: f32) -> Color32 {
    colour(palette::point(dark, share))
}

fn text_styles() -> std::collections::BTreeMap<TextStyle, FontId> {
    [
        (TextStyle::Small, small()),
        (TextStyle::Body, body()),
        (TextStyle::Button, body()),
        (TextStyle::Heading, title()),
        (TextStyle::Monospace, FontId::new(TEXT_BODY - 1.0, FontFamily::Monospace)),
    ]
    .into()
}

fn spacing(spacing: &mut egui::style::Spacing) {
    spacing.item_spacing = Vec2::new(SPACE_2, SPACE_1 + 2.0);
    spacing.button_padding = Vec2::new(SPACE_2 + 1.0, SPACE_1);
    spacing.interact_size = Vec2::new(32.0, 26.0);
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(8);
    spacing.indent = SPACE_3;
    spacing.icon_width = 15.0;
    spacing.tooltip_width = 320.0;
    spacing.menu_width = 300.0;
    spacing.scroll = egui::style::ScrollStyle::thin();
}

fn visuals(dark: bool) -> Visuals {
    let t = of(dark);
    let mut v = if dark { Visuals::dark() } else { Visuals::light() };
    v.panel_fill = t.ground;
    v.window_fill = t.panel;
    v.window_stroke = Stroke::new(1.0, t.line);
    v.window_corner_radius = CornerRadius::same(RADIUS);
    v.menu_corner_radius = CornerRadius::same(RADIUS);
    v.extreme_bg_color = t.sunken;
    v.faint_bg_color = t.sunken;
    v.code_bg_color = t.sunken;
    v.weak_text_color = Some(t.weak);
    v.hyperlink_color = t.accent;
    v.warn_fg_color = t.warm;
    v.error_fg_color = t.error;
    v.selection.bg_fill = t.accent_soft;
    v.selection.stroke = Stroke::new(1.0, t.accent);
    v.text_cursor.stroke = Stroke::new(2.0, t.accent);
    // A blinking cursor repaints the window for ever; software rendering pays for it.
    v.text_cursor.blink = false;
    v.indent_has_left_vline = false;
    v.slider_trailing_fill = true;
    widgets(&mut v.widgets, t);
    v
}

fn widgets(w: &mut egui::style::Widgets, t: &DesignTokens) {
    let radius = CornerRadius::same(RADIUS_SMALL);
    for (visuals, fill, stroke, text) in [
        (&mut w.noninteractive, t.panel, t.line, t.text),
        (&mut w.inactive, t.sunken, t.line, t.text),
        (&mut w.hovered, t.raised, t.weak.gamma_multiply(0.5), t.text),
        (&mut w.active, t.accent_soft, t.accent, t.text),
        (&mut w.open, t.raised, t.line, t.text),
    ] {
        visuals.bg_fill = fill;
        visuals.weak_bg_fill = fill;
        visuals.bg_stroke = Stroke::new(1.0, stroke);
        visuals.fg_stroke = Stroke::new(1.0, text);
        visuals.corner_radius = radius;
        visuals.expansion = 0.0;
    }
}
