//! Floor 9: what is set once for all columns: where models compute and how the window looks.

use crate::analysis::reading::Reading;
use crate::jobs::live::protocol::ModelFacts;
use crate::nn::device::DeviceChoice;

/// The palette of the dark theme: black is 0, white is 1, as in Bahdanau's figure 3.
pub const DARK_PALETTE: &str = "gray";
/// The palette of the light theme: white is 0.
pub const LIGHT_PALETTE: &str = "print";

/// Key of the layout: 1 when links are shown in place of heatmaps.
pub const LINKS_PICTURE: &str = "links_picture";
/// Key of the layout: 1 when the search is shown as a tree in place of heatmaps and links.
pub const TREE_PICTURE: &str = "tree_picture";
/// Key of the layout: 1 when the inspector is open, which it is at first.
pub const INSPECTOR_OPEN: &str = "inspector_open";
/// Key of the layout: 1 when one column stands alone.
pub const SOLO: &str = "solo";

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Which numbers the heatmap shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// alpha_ij, from 0 to 1.
    #[default]
    Alpha,
    /// e_ij, before the softmax.
    Energies,
    /// How much word i depends on word j by this line of `MEASURES`, which is not alpha. Not kept.
    Measure(usize),
}

/// Whose translation is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// The model's own.
    Own,
    /// The one that the user gives.
    #[default]
    Given,
}

impl Whose {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Own => Self::Given,
            Self::Given => Self::Own,
        }
    }
}

/// Where models compute and how the picture looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Show the source word of greatest alpha in place of `[UNK]`.
    pub unk_replacement: bool,
    /// Where models compute.
    pub device: DeviceChoice,
    /// alpha or energies.
    pub shown: Shown,
    /// Which word a row of an alignment belongs to, in models where there is a choice; `None`: as each was trained.
    pub reading: Option<Reading>,
    /// Show the pieces of words, in models whose vocabulary has them.
    pub pieces: bool,
    /// Show the links of a statistical aligner, where one comes with the program.
    pub links: bool,
    /// Whose alignment pictures show where the user gives a translation. Not kept.
    pub whose: Whose,
    /// Colour map, by name; `None` until one is chosen: that of the theme.
    pub palette: Option<String>,
    /// Light, dark or as the system.
    pub theme: Theme,
    /// Size of everything, from 0.5 to 3.
    pub zoom: f32,
}

impl Settings {
    /// How the rows of a model are read, with the delay of the reading `input`; `None` where there is no choice.
    pub fn reading_of(&self, facts: Option<&ModelFacts>) -> Option<(Reading, usize)> {
        let facts = facts?;
        facts.input_delay.map(|delay| (self.reading.unwrap_or(facts.reading), delay))
    }

    /// The colour map by name, on the dark or the light theme.
    pub fn palette_on(&self, is_dark: bool) -> &str {
        self.palette.as_deref().unwrap_or(if is_dark { DARK_PALETTE } else { LIGHT_PALETTE })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            unk_replacement: false,
            device: DeviceChoice::Auto,
            shown: Shown::Alpha,
            reading: None,
            pieces: false,
            links: false,
            whose: Whose::Given,
            palette: None,
            theme: Theme::System,
            zoom: 1.0,
        }
    }
}
