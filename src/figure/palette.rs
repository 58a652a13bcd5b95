//! Every colour, as plain numbers: the light and the dark palette, colours of several models, colour maps.

/// A colour: red, green, blue, and how much it covers; 255 hides what lies behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rgba([u8; 4]);

impl Rgba {
    pub const TRANSPARENT: Self = Self([0; 4]);

    const BLACK: Self = Self::from_hex(0x00_00_00);
    const WHITE: Self = Self::from_hex(0xFF_FF_FF);

    const fn from_hex(rgb: u32) -> Self {
        Self([(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8, 0xFF])
    }

    /// Red, green, blue and cover.
    pub const fn channels(self) -> [u8; 4] {
        self.0
    }

    /// It covers so much of what it did, from 0 to 1.
    pub fn fade(self, share: f32) -> Self {
        let [r, g, b, a] = self.0;
        Self([r, g, b, (f32::from(a) * share.clamp(0.0, 1.0)).round() as u8])
    }

    /// What is seen of it on a ground that hides what lies behind.
    pub fn over(self, ground: Self) -> Self {
        let share = f32::from(self.0[3]) / 255.0;
        let mix = |n: usize| {
            let (top, below) = (f32::from(self.0[n]), f32::from(ground.0[n]));
            (below + (top - below) * share).round() as u8
        };
        Self([mix(0), mix(1), mix(2), ground.0[3]])
    }

    /// Whether there is nothing to see of it.
    pub const fn is_clear(self) -> bool {
        self.0[3] == 0
    }

    /// Relative luminance of WCAG 2, 0..1.
    pub fn luminance(self) -> f32 {
        let linear = |c: u8| {
            let c = f32::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b, _] = self.0;
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    /// Black or white, whichever reads better on it.
    pub fn contrast(self) -> Self {
        if self.luminance() > 0.3 { Self::BLACK } else { Self::WHITE }
    }
}

macro_rules! palettes {
    ($($(#[$what:meta])* $name:ident: $light:literal, $dark:literal;)*) => {
        /// The colours of a theme, as plain numbers or of the kind that paints them.
        #[derive(Clone, Copy, Debug)]
        pub struct Palette<C = Rgba> { $($(#[$what])* pub $name: C,)* }

        impl<C: Copy> Palette<C> {
            /// Each colour as another kind has it.
            pub fn map<D>(&self, of: impl Fn(C) -> D) -> Palette<D> {
                Palette { $($name: of(self.$name),)* }
            }
        }

        /// On white, as on paper.
        pub const LIGHT: Palette = Palette { $($name: Rgba::from_hex($light),)* };

        pub const DARK: Palette = Palette { $($name: Rgba::from_hex($dark),)* };
    };
}

// Each colour on white and on black.
palettes! {
    ground: 0xF3F4F7, 0x111419;
    panel: 0xFFFFFF, 0x1A1E25;
    /// Fields and chips, one step off the panel.
    sunken: 0xEEF0F4, 0x252A33;
    /// A hovered row or chip.
    raised: 0xE4E8EF, 0x303743;
    line: 0xDADFE7, 0x303641;
    text: 0x161C28, 0xECEFF4;
    weak: 0x556072, 0xA0AABA;
    /// The one accent: selection, hover, focus.
    accent: 0x1F58C4, 0x84AEFA;
    accent_soft: 0xD9E6FD, 0x273C60;
    /// The accent as lines over a heatmap, where it has to stand out from black and from white.
    mark: 0x3F8EFF, 0x5B9DFF;
    /// Where local attention looks, as lines over a heatmap.
    gaze: 0xE03A8C, 0xFF6AB0;
    /// The links of an aligner, as outlines over a heatmap.
    link: 0xFF9A1F, 0xFF9A1F;
    /// The line inside them, which stands out where they do not.
    link_edge: 0x000000, 0x000000;
    /// What a person has set: frames of words and rows.
    set: 0x8A35D6, 0xC08BFF;
    set_soft: 0xEBDCFB, 0x4A2F6B;
    /// Text on the accent.
    on_accent: 0xFFFFFF, 0x0D1628;
    warm: 0x9A5500, 0xECB05A;
    warm_soft: 0xFFC970, 0x9A5F12;
    error: 0xAE221B, 0xF58E84;
    error_soft: 0xFCE6E4, 0x43201E;
}

/// Lines and points of several models in one plot, light and dark; told apart by lightness and by shape too.
pub const SERIES: [(Rgba, Rgba); 8] = [
    (Rgba::from_hex(0x1F58C4), Rgba::from_hex(0x84AEFA)),
    (Rgba::from_hex(0xC2570C), Rgba::from_hex(0xF5A35C)),
    (Rgba::from_hex(0x0F7B5F), Rgba::from_hex(0x58CFAB)),
    (Rgba::from_hex(0x8A2FA0), Rgba::from_hex(0xD89BEC)),
    (Rgba::from_hex(0x7A6800), Rgba::from_hex(0xDDCC5A)),
    (Rgba::from_hex(0xA61B4E), Rgba::from_hex(0xF48FB4)),
    (Rgba::from_hex(0x006D8F), Rgba::from_hex(0x63C7E6)),
    (Rgba::from_hex(0x5A5F6B), Rgba::from_hex(0xB4BCC9)),
];

impl Palette {
    /// The dark or the light one.
    pub fn of(dark: bool) -> &'static Self {
        if dark { &DARK } else { &LIGHT }
    }

    /// The colour of the model or run at a place.
    pub fn series(place: usize, dark: bool) -> Rgba {
        let (light, on_black) = SERIES[place % SERIES.len()];
        if dark { on_black } else { light }
    }

    /// Behind a word by its probability: nothing when sure, warm when in doubt.
    pub fn doubt(&self, log_p: f32) -> Rgba {
        self.warm_soft.fade(doubt(log_p))
    }

    /// The colour of a signed number in -1..1: warm below zero, accent above.
    pub fn signed(&self, value: f32) -> Rgba {
        let strength = value.abs().clamp(0.0, 1.0).sqrt();
        if value < 0.0 { self.warm } else { self.accent }.fade(0.12 + 0.88 * strength)
    }
}

/// The colour of a point of a map by its share from 0 to 1; the ends that would vanish in the ground are left out.
pub fn point(dark: bool, share: f32) -> Rgba {
    let viridis = ColourMap::at(2);
    if dark { viridis.colour(1.0 - 0.72 * share) } else { viridis.colour(0.84 * share) }
}

/// How much of the warm colour shows behind a word, 0..1. Doubt grows with -log p and is full at p = 0.01.
pub fn doubt(log_p: f32) -> f32 {
    let doubt = (-log_p / 4.6).clamp(0.0, 1.0);
    if doubt < 0.03 { 0.0 } else { 0.85 * doubt }
}

/// A colour map for alpha in 0..1.
#[derive(Debug, PartialEq)]
pub struct ColourMap {
    /// Its name in menus and in the saved state.
    pub name: &'static str,
    /// Its name on the command line.
    pub key: &'static str,
    pub note: &'static str,
    anchors: &'static [u32],
}

/// The colour maps, first the paper's.
pub const COLOUR_MAPS: &[ColourMap] = &[
    ColourMap::of(
        id!("Gray"),
        "gray",
        id!("0 is black and 1 is white, as in Bahdanau's figure 3"),
        &[0x000000, 0xFFFFFF],
    ),
    ColourMap::of(id!("Print"), "print", id!("0 is white and 1 is black"), &[0xFFFFFF, 0x000000]),
    ColourMap::of(
        id!("Viridis"),
        "viridis",
        id!("Dark violet to yellow"),
        &[0x440154, 0x482475, 0x414487, 0x355F8D, 0x2A788E, 0x21918C, 0x22A884, 0x44BF70, 0x7AD151, 0xBDDF26, 0xFDE725],
    ),
    ColourMap::of(
        id!("Blue to yellow"),
        "blue-to-yellow",
        id!("Looks the same with every kind of colour vision"),
        &[0x00224E, 0x1B346E, 0x3D4A6C, 0x5C616E, 0x7C7B78, 0x9B9477, 0xBCAF6C, 0xDECC57, 0xFEE838],
    ),
];

const ON_LIGHT: &[u32] = &[0x2166AC, 0x92C5DE, 0xFFFFFF, 0xF4A582, 0xB2182B];
const ON_DARK: &[u32] = &[0x78BEFF, 0x265896, 0x0C0E12, 0xA03C28, 0xFFA078];

/// The colours of measures that are not alpha, from speaking against a word to speaking for it.
pub const MEASURE_MAPS: [ColourMap; 2] = [
    ColourMap::of("Measure", "measure", "Blue below 0, white 0, red above 0", ON_LIGHT),
    ColourMap::of("Measure on dark", "measure-dark", "Blue below 0, black 0, red above 0", ON_DARK),
];

impl serde::Serialize for ColourMap {
    fn serialize<S: serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.key)
    }
}

impl ColourMap {
    const fn of(name: &'static str, key: &'static str, note: &'static str, anchors: &'static [u32]) -> Self {
        Self { name, key, note, anchors }
    }

    pub fn of_measures(is_dark: bool) -> &'static Self {
        &MEASURE_MAPS[usize::from(is_dark)]
    }

    /// The map of alpha where none is chosen: 1 is black on paper, and white on a dark ground.
    pub fn usual(is_dark: bool) -> &'static Self {
        &COLOUR_MAPS[usize::from(!is_dark)]
    }

    /// The map at this place of the table; the first when there is none.
    pub fn at(index: usize) -> &'static Self {
        COLOUR_MAPS.get(index).unwrap_or(&COLOUR_MAPS[0])
    }

    /// The map that a setting names, in whatever capitals; the first when there is none.
    pub fn on(name: &str) -> &'static Self {
        COLOUR_MAPS.iter().find(|map| map.name.eq_ignore_ascii_case(name)).unwrap_or(&COLOUR_MAPS[0])
    }

    /// The colour map of that name on the command line.
    pub fn named(key: &str) -> Option<&'static Self> {
        COLOUR_MAPS.iter().find(|map| map.key == key)
    }

    /// The colour of `value` in 0..1; anything that is not a number is 0.
    pub fn colour(&self, value: f32) -> Rgba {
        let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
        let last = self.anchors.len() - 1;
        let place = value * last as f32;
        let index = (place as usize).min(last - 1);
        let part = place - index as f32;
        let (low, high) = (self.anchors[index], self.anchors[index + 1]);
        let mix = |shift: u32| {
            let (a, b) = (f32::from((low >> shift) as u8), f32::from((high >> shift) as u8));
            // rounds as round() does for what is not negative, without a call for each of a matrix's numbers
            (a + (b - a) * part + 0.5) as u8
        };
        Rgba([mix(16), mix(8), mix(0), 0xFF])
    }
}
