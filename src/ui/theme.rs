//! Floor 9: every colour, size and font of the window, and the colour maps of the heatmap.
//!
//! No other file builds a colour. The scale of spaces is 4, 8, 12, 16, 24; there is one accent
//! colour (selection and hover) and one warm colour (doubt: improbable words, warnings).

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, Vec2, Visuals};

/// Hairline gaps inside a widget.
pub const SPACE_1: f32 = 4.0;
/// Between neighbours that belong together.
pub const SPACE_2: f32 = 8.0;
/// Inside cards and panels.
pub const SPACE_3: f32 = 12.0;
/// Between groups.
pub const SPACE_4: f32 = 16.0;
/// Between sections.
pub const SPACE_5: f32 = 24.0;

/// Captions and axis labels, points.
pub const TEXT_SMALL: f32 = 12.5;
/// Running text of the interface, points.
pub const TEXT_BODY: f32 = 14.5;
/// Names of columns and dialogs, points.
pub const TEXT_TITLE: f32 = 17.0;
/// The sentence that is typed, points.
pub const TEXT_SENTENCE: f32 = 18.0;

/// Translations, points.
pub const TEXT_OUTPUT: f32 = 16.5;

/// Radius of cards and popups.
pub const RADIUS: u8 = 8;
/// Radius of buttons, chips and marks on words.
pub const RADIUS_SMALL: u8 = 5;

/// Width of the sentences panel at first.
pub const SENTENCES_WIDTH: f32 = 248.0;
/// Height of the inspector of a selected word at first.
pub const INSPECTOR_HEIGHT: f32 = 176.0;
/// Width of the panel beside the map at first.
pub const SIDE_WIDTH: f32 = 288.0;
/// A column is never narrower; below this the columns scroll sideways.
pub const COLUMN_MIN_WIDTH: f32 = 328.0;
/// Height of the thin progress line.
pub const PROGRESS_HEIGHT: f32 = 4.0;
/// A lower window leaves out hints and second lines, points.
const LOW_WINDOW: f32 = 620.0;
/// A window so low has no room for the lists of the inspector, points.
const FLAT_WINDOW: f32 = 560.0;
/// Opacity of what belongs to the sentence before.
pub const STALE_OPACITY: f32 = 0.4;

/// Smallest and largest side of a heatmap cell chosen by itself, points.
pub const CELL_AUTO: (f32, f32) = (14.0, 42.0);
/// Smallest and largest side of a heatmap cell reached by zooming, points.
pub const CELL_LIMITS: (f32, f32) = (2.0, 96.0);
/// The mark of p_t, half its height as a share of a cell, and its limits in points.
pub const GAZE_MARK: (f32, f32, f32) = (0.24, 2.0, 7.0);
/// Width of the frame round the window of local attention, points.
pub const GAZE_LINE: f32 = 1.5;
/// Room between that frame and the edges of its row, points; none in small cells.
pub const GAZE_INSET: f32 = 2.0;
/// Widest label at the side of the heatmap, points.
pub const LABEL_MAX: f32 = 132.0;

/// Width of the setup at the left of page Evaluation, points.
pub const SETUP_WIDTH: f32 = 288.0;
/// Least height of a plot, points.
pub const PLOT_HEIGHT: f32 = 240.0;
/// Two plots stand side by side where each has so much room, points.
pub const PLOT_WIDTH: f32 = 400.0;
/// Radius of the mark of a data point, points.
pub const POINT: f32 = 4.0;

/// The colours of one theme.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Behind everything.
    pub ground: Color32,
    /// Panels and cards.
    pub panel: Color32,
    /// Fields and chips, one step off the panel.
    pub sunken: Color32,
    /// A hovered row or chip.
    pub raised: Color32,
    /// Hairlines.
    pub line: Color32,
    /// Running text.
    pub text: Color32,
    /// Captions.
    pub weak: Color32,
    /// The one accent: selection, hover, focus.
    pub accent: Color32,
    /// Its soft background.
    pub accent_soft: Color32,
    /// The accent as lines over a heatmap, where it has to stand out from black and from white.
    pub mark: Color32,
    /// Where local attention looks, as lines over a heatmap.
    pub gaze: Color32,
    /// Text on the accent.
    pub on_accent: Color32,
    /// Doubt.
    pub warm: Color32,
    /// Its soft background.
    pub warm_soft: Color32,
    /// Failure.
    pub error: Color32,
    /// Its soft background.
    pub error_soft: Color32,
}

const LIGHT: Tokens = Tokens {
    ground: Color32::from_rgb(0xF3, 0xF4, 0xF7),
    panel: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    sunken: Color32::from_rgb(0xEE, 0xF0, 0xF4),
    raised: Color32::from_rgb(0xE4, 0xE8, 0xEF),
    line: Color32::from_rgb(0xDA, 0xDF, 0xE7),
    text: Color32::from_rgb(0x16, 0x1C, 0x28),
    weak: Color32::from_rgb(0x55, 0x60, 0x72),
    accent: Color32::from_rgb(0x1F, 0x58, 0xC4),
    accent_soft: Color32::from_rgb(0xD9, 0xE6, 0xFD),
    mark: Color32::from_rgb(0x3F, 0x8E, 0xFF),
    gaze: Color32::from_rgb(0xE0, 0x3A, 0x8C),
    on_accent: Color32::from_rgb(0xFF, 0xFF, 0xFF),
    warm: Color32::from_rgb(0x9A, 0x55, 0x00),
    warm_soft: Color32::from_rgb(0xFF, 0xC9, 0x70),
    error: Color32::from_rgb(0xAE, 0x22, 0x1B),
    error_soft: Color32::from_rgb(0xFC, 0xE6, 0xE4),
};

const DARK: Tokens = Tokens {
    ground: Color32::from_rgb(0x11, 0x14, 0x19),
    panel: Color32::from_rgb(0x1A, 0x1E, 0x25),
    sunken: Color32::from_rgb(0x25, 0x2A, 0x33),
    raised: Color32::from_rgb(0x30, 0x37, 0x43),
    line: Color32::from_rgb(0x30, 0x36, 0x41),
    text: Color32::from_rgb(0xEC, 0xEF, 0xF4),
    weak: Color32::from_rgb(0xA0, 0xAA, 0xBA),
    accent: Color32::from_rgb(0x84, 0xAE, 0xFA),
    accent_soft: Color32::from_rgb(0x27, 0x3C, 0x60),
    mark: Color32::from_rgb(0x5B, 0x9D, 0xFF),
    gaze: Color32::from_rgb(0xFF, 0x6A, 0xB0),
    on_accent: Color32::from_rgb(0x0D, 0x16, 0x28),
    warm: Color32::from_rgb(0xEC, 0xB0, 0x5A),
    warm_soft: Color32::from_rgb(0x9A, 0x5F, 0x12),
    error: Color32::from_rgb(0xF5, 0x8E, 0x84),
    error_soft: Color32::from_rgb(0x43, 0x20, 0x1E),
};

/// Lines and points of several models in one plot; told apart by lightness and by shape too.
const SERIES: [(Color32, Color32); 8] = [
    (Color32::from_rgb(0x1F, 0x58, 0xC4), Color32::from_rgb(0x84, 0xAE, 0xFA)),
    (Color32::from_rgb(0xC2, 0x57, 0x0C), Color32::from_rgb(0xF5, 0xA3, 0x5C)),
    (Color32::from_rgb(0x0F, 0x7B, 0x5F), Color32::from_rgb(0x58, 0xCF, 0xAB)),
    (Color32::from_rgb(0x8A, 0x2F, 0xA0), Color32::from_rgb(0xD8, 0x9B, 0xEC)),
    (Color32::from_rgb(0x7A, 0x68, 0x00), Color32::from_rgb(0xDD, 0xCC, 0x5A)),
    (Color32::from_rgb(0xA6, 0x1B, 0x4E), Color32::from_rgb(0xF4, 0x8F, 0xB4)),
    (Color32::from_rgb(0x00, 0x6D, 0x8F), Color32::from_rgb(0x63, 0xC7, 0xE6)),
    (Color32::from_rgb(0x5A, 0x5F, 0x6B), Color32::from_rgb(0xB4, 0xBC, 0xC9)),
];

/// The colour of the model at this place.
pub fn series(ui: &egui::Ui, place: usize) -> Color32 {
    let (light, dark) = SERIES[place % SERIES.len()];
    if ui.visuals().dark_mode { dark } else { light }
}

impl Tokens {
    /// The edge of a mark in [`Tokens::gaze`], so that it stands out from every palette.
    pub fn on_gaze(&self) -> Color32 {
        contrast(self.gaze)
    }
}

/// The colours of the theme that is on.
pub fn tokens(ui: &egui::Ui) -> &'static Tokens {
    of(ui.visuals().dark_mode)
}

/// The colours of the dark or the light theme.
pub fn of(dark: bool) -> &'static Tokens {
    if dark { &DARK } else { &LIGHT }
}

/// A window so low that hints and second lines are left out.
pub fn is_low(ui: &egui::Ui) -> bool {
    ui.ctx().content_rect().height() < LOW_WINDOW
}

/// A window so low that a picture needs all the room.
pub fn is_flat(ui: &egui::Ui) -> bool {
    ui.ctx().content_rect().height() < FLAT_WINDOW
}

/// Installs both themes.
pub fn install(ctx: &egui::Context) {
    for theme in [Theme::Light, Theme::Dark] {
        ctx.style_mut_of(theme, |style| {
            style.visuals = visuals(theme == Theme::Dark);
            style.text_styles = text_styles();
            spacing(&mut style.spacing);
            style.interaction.tooltip_delay = 0.3;
            style.interaction.selectable_labels = false;
            style.animation_time = 0.09;
        });
    }
}

/// Type of the interface.
pub fn body() -> FontId {
    FontId::new(TEXT_BODY, FontFamily::Proportional)
}

/// Type of captions and labels.
pub fn small() -> FontId {
    FontId::new(TEXT_SMALL, FontFamily::Proportional)
}

/// Type of sentences.
pub fn sentence() -> FontId {
    FontId::new(TEXT_SENTENCE, FontFamily::Proportional)
}

/// Type of translations, a little smaller than what is typed: columns are narrow.
pub fn output() -> FontId {
    FontId::new(TEXT_OUTPUT, FontFamily::Proportional)
}

/// Type of names.
pub fn title() -> FontId {
    FontId::new(TEXT_TITLE, FontFamily::Proportional)
}

/// A white card with a hairline on the ground colour.
pub fn card(t: &Tokens) -> egui::Frame {
    egui::Frame::new()
        .fill(t.panel)
        .stroke(Stroke::new(1.0, t.line))
        .corner_radius(CornerRadius::same(RADIUS))
        .inner_margin(Margin::same(12))
}

/// A panel at an edge of the window.
pub fn panel(t: &Tokens) -> egui::Frame {
    egui::Frame::new().fill(t.panel).inner_margin(Margin::symmetric(12, 8))
}

/// The background of a word by its probability: none when sure, warm when in doubt.
/// Doubt grows with -log p and is full at p = 0.01.
pub fn doubt(t: &Tokens, log_p: f32) -> Color32 {
    let doubt = (-log_p / 4.6).clamp(0.0, 1.0);
    if doubt < 0.03 { Color32::TRANSPARENT } else { t.warm_soft.gamma_multiply(doubt * 0.85) }
}

/// The colour of a signed number in -1..1: warm below zero, accent above.
pub fn signed(t: &Tokens, value: f32) -> Color32 {
    let strength = value.abs().clamp(0.0, 1.0).sqrt();
    let colour = if value < 0.0 { t.warm } else { t.accent };
    colour.gamma_multiply(0.12 + 0.88 * strength)
}

/// The colour of a point of a map by its share from 0 to 1; the ends that would vanish in the ground are left out.
pub fn point(dark: bool, share: f32) -> Color32 {
    let viridis = ColourMap::at(2);
    if dark { viridis.colour(1.0 - 0.72 * share) } else { viridis.colour(0.84 * share) }
}

/// Black or white, whichever reads better on `background`.
pub fn contrast(background: Color32) -> Color32 {
    if luminance(background) > 0.3 { Color32::BLACK } else { Color32::WHITE }
}

/// Relative luminance of WCAG 2, 0..1.
pub fn luminance(colour: Color32) -> f32 {
    let linear = |c: u8| {
        let c = f32::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour.r()) + 0.7152 * linear(colour.g()) + 0.0722 * linear(colour.b())
}

/// A colour map for alpha in 0..1.
#[derive(Debug)]
pub struct ColourMap {
    /// Its name in menus and in the saved state.
    pub name: &'static str,
    /// What it is for.
    pub note: &'static str,
    /// Evenly spaced anchors, sRGB.
    anchors: &'static [[u8; 3]],
}

/// The colour maps, first the paper's.
pub const COLOUR_MAPS: &[ColourMap] = &[
    ColourMap {
        name: "Gray",
        note: "0 is black and 1 is white, as in Bahdanau's figure 3",
        anchors: &[[0, 0, 0], [255, 255, 255]],
    },
    ColourMap { name: "Print", note: "0 is white and 1 is black", anchors: &[[255, 255, 255], [0, 0, 0]] },
    ColourMap {
        name: "Viridis",
        note: "Dark violet to yellow",
        anchors: &[
            [68, 1, 84],
            [72, 36, 117],
            [65, 68, 135],
            [53, 95, 141],
            [42, 120, 142],
            [33, 145, 140],
            [34, 168, 132],
            [68, 191, 112],
            [122, 209, 81],
            [189, 223, 38],
            [253, 231, 37],
        ],
    },
    ColourMap {
        name: "Blue to yellow",
        note: "Looks the same with every kind of colour vision",
        anchors: &[
            [0, 34, 78],
            [27, 52, 110],
            [61, 74, 108],
            [92, 97, 110],
            [124, 123, 120],
            [155, 148, 119],
            [188, 175, 108],
            [222, 204, 87],
            [254, 232, 56],
        ],
    },
];

impl ColourMap {
    /// The map at this place of the table; the first when there is none.
    pub fn at(index: usize) -> &'static Self {
        COLOUR_MAPS.get(index).unwrap_or(&COLOUR_MAPS[0])
    }

    /// The colour of `value` in 0..1; anything that is not a number is 0.
    pub fn colour(&self, value: f32) -> Color32 {
        let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
        let last = self.anchors.len() - 1;
        let place = value * last as f32;
        let index = (place as usize).min(last - 1);
        let part = place - index as f32;
        let mix = |k: usize| {
            let (a, b) = (f32::from(self.anchors[index][k]), f32::from(self.anchors[index + 1][k]));
            // rounds as round() does for what is not negative, without a call for each of a matrix's numbers
            (a + (b - a) * part + 0.5) as u8
        };
        Color32::from_rgb(mix(0), mix(1), mix(2))
    }
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

fn widgets(w: &mut egui::style::Widgets, t: &Tokens) {
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
