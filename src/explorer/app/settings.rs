//! What is set once for all columns: where models compute and how the window looks.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::jobs::live::protocol::ModelFacts;
use engine::{
    aligner::bundled::AlignerFiles, analysis::row_convention::RowConvention, lang::Language, nn::device::DeviceChoice,
};
use figure::heatmap::outlines::Outlined;

/// The palette of the dark theme: black is 0, white is 1, as in Bahdanau's figure 3.
pub const DARK_PALETTE: &str = "gray";
/// The palette of the light theme: white is 0.
pub const LIGHT_PALETTE: &str = "print";

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    Light,
    Dark,
    #[default]
    #[serde(other)]
    System,
}

/// Which numbers the heatmap shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "&'static str")]
pub enum Shown {
    /// alpha_ij, from 0 to 1.
    #[default]
    Alpha,
    /// e_ij, before the softmax.
    Energies,
    /// Dependence by this line of `MEASURES`. Not saved.
    Measure(usize),
}

impl From<String> for Shown {
    fn from(name: String) -> Self {
        if name == "energies" { Self::Energies } else { Self::Alpha }
    }
}

impl From<Shown> for &'static str {
    fn from(shown: Shown) -> Self {
        if shown == Shown::Energies { "energies" } else { "alpha" }
    }
}

/// Which translation: the model's own or the given one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    Own,
    #[default]
    Given,
}

impl Whose {
    pub fn other(self) -> Self {
        match self {
            Self::Own => Self::Given,
            Self::Given => Self::Own,
        }
    }
}

/// Which question pictures answer in models with an alignment head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowSource {
    /// Where each word comes from, by the head; else where the model looked to choose it, by alpha.
    pub origin: bool,
    /// The links of the other answer are outlined.
    pub both: bool,
}

/// How rows are read where each model has its own reading, in the saved state.
const OWN_READING: &str = "own";

/// Settings of all columns; in the saved state an invalid one has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub unk_replacement: bool,
    #[serde(serialize_with = "device_name", deserialize_with = "device_of")]
    pub device: DeviceChoice,
    pub shown: Shown,
    /// Which word a row of an alignment belongs to, in models where there is a choice; `None`: as each was trained.
    #[serde(rename = "rows_by", serialize_with = "reading_name", deserialize_with = "reading_of")]
    pub reading: Option<RowConvention>,
    pub asked: RowSource,
    pub pieces: bool,
    pub links: bool,
    /// The aligner files that take the place of what comes with the program, each for its languages or for a model.
    pub aligner: AlignerFiles,
    /// Whose alignment pictures show where the user gives a translation. Not kept.
    #[serde(skip)]
    pub whose: Whose,
    /// Colour map, by name; `None` until one is chosen: that of the theme.
    pub palette: Option<String>,
    pub theme: Theme,
    /// The language of the window; `None`: as the system.
    #[serde(serialize_with = "language_code", deserialize_with = "language_of")]
    pub language: Option<Language>,
    /// Size of everything, from 0.5 to 3.
    pub zoom: f32,
    /// The address of the explorer in a browser, with which links begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
}

fn device_name<S: Serializer>(device: &DeviceChoice, output: S) -> Result<S::Ok, S::Error> {
    output.collect_str(device)
}

fn device_of<'de, D: Deserializer<'de>>(input: D) -> Result<DeviceChoice, D::Error> {
    Ok(String::deserialize(input)?.parse().unwrap_or_default())
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn reading_name<S: Serializer>(reading: &Option<RowConvention>, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_str(reading.map_or(OWN_READING, RowConvention::name))
}

fn reading_of<'de, D: Deserializer<'de>>(input: D) -> Result<Option<RowConvention>, D::Error> {
    Ok(RowConvention::from_name(&String::deserialize(input)?))
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn language_code<S: Serializer>(language: &Option<Language>, output: S) -> Result<S::Ok, S::Error> {
    output.serialize_str(language.map_or("system", Language::code))
}

fn language_of<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Language>, D::Error> {
    Ok(Language::from_code(&String::deserialize(input)?))
}

impl Settings {
    /// How the rows of a model are read, with the delay of the reading `input`; `None` where there is no choice.
    pub fn reading_of(&self, facts: Option<&ModelFacts>) -> Option<(RowConvention, usize)> {
        let has_head = facts.is_some_and(|facts| facts.has_head);
        if has_head && self.asked.origin { Some((RowConvention::Head, 0)) } else { self.of_alpha(facts) }
    }

    /// `reading_of` for alpha alone.
    pub fn of_alpha(&self, facts: Option<&ModelFacts>) -> Option<(RowConvention, usize)> {
        let facts = facts?;
        facts.input_delay.map(|delay| (self.reading.unwrap_or(facts.reading), delay))
    }

    /// The reading of the other one of two answers, where its links are outlined.
    pub fn outlined_of(&self, facts: Option<&ModelFacts>) -> Option<(RowConvention, usize)> {
        let has_head = facts.is_some_and(|facts| facts.has_head);
        let other =
            || if self.asked.origin { self.of_alpha(facts).unwrap_or_default() } else { (RowConvention::Head, 0) };
        (has_head && self.asked.both).then(other)
    }

    pub fn outlined(&self, facts: Option<&ModelFacts>) -> Outlined {
        match self.outlined_of(facts) {
            None => Outlined::Aligner,
            Some((RowConvention::Head, _)) => Outlined::Head,
            Some(_) => Outlined::Alpha,
        }
    }

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
            asked: RowSource::default(),
            pieces: false,
            links: false,
            aligner: AlignerFiles::default(),
            whose: Whose::Given,
            palette: None,
            theme: Theme::System,
            language: None,
            zoom: 1.0,
            site: None,
        }
    }
}
