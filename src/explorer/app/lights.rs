//! The parts of the window that a lesson can light, by name. A leaf.

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

/// A part of the window that a lesson can highlight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HighlightPart {
    Source,
    Column,
    Translation,
    Heatmap,
    Beam,
    Inspector,
    Pages,
    Models,
    BeamSize,
    /// What is set on page Steps before one begins.
    Choices,
    Words,
    Player,
    Machine,
    Box,
    OpenBox,
    /// The rows so far on page Steps.
    Rows,
}

impl HighlightPart {
    fn name(self) -> &'static str {
        match self {
            Self::Source => tr!("the sentence"),
            Self::Column => tr!("the column"),
            Self::Translation => tr!("the translation"),
            Self::Heatmap => tr!("the picture"),
            Self::Beam => tr!("the beam"),
            Self::Inspector => tr!("the inspector below"),
            Self::Pages => tr!("the tabs of the pages"),
            Self::Models => tr!("the names of the models"),
            Self::BeamSize => tr!("the number beside Beam"),
            Self::Choices => tr!("the choices of page Steps"),
            Self::Words => tr!("the words of the steps"),
            Self::Player => tr!("the player"),
            Self::Machine => tr!("the machine"),
            Self::Box => tr!("the box"),
            Self::OpenBox => tr!("the open box"),
            Self::Rows => tr!("the rows so far"),
        }
    }
}

/// A highlighted part: a part, and a model or box.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Highlight {
    pub lit: HighlightPart,
    /// A model, or a box; `None`: wherever it is.
    pub of: Option<String>,
}

impl TryFrom<String> for Highlight {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (key, of) = text.split_once(' ').unwrap_or((&text, ""));
        let input: StrDeserializer<'_, Error> = key.into_deserializer();
        let lit = HighlightPart::deserialize(input).map_err(|error| error.to_string())?;
        let of = Some(of.trim()).filter(|of| !of.is_empty()).map(str::to_owned);
        match lit {
            HighlightPart::Box if of.is_none() => Err("`box` needs the key of a box, such as \"box alpha\"".to_owned()),
            HighlightPart::Column
            | HighlightPart::Translation
            | HighlightPart::Heatmap
            | HighlightPart::Beam
            | HighlightPart::Box => Ok(Self { lit, of }),
            _ if of.is_some() => Err(format!("`{key}` stands alone")),
            _ => Ok(Self { lit, of }),
        }
    }
}

impl Highlight {
    pub fn is(&self, lit: HighlightPart, of: &str) -> bool {
        self.lit == lit && self.of.as_ref().is_none_or(|wanted| wanted == of)
    }

    pub fn text(&self, called: Option<&str>) -> String {
        let name = self.lit.name();
        called.map_or_else(|| name.to_owned(), |of| format!("{name} ({of})"))
    }
}

/// What a page of a lesson highlights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lights {
    pub is_shown: bool,
    pub page: (String, usize),
    pub parts: Vec<Highlight>,
    /// Whether what the page brings about has come.
    pub is_ready: bool,
}

impl Lights {
    /// Whether a lesson is open, and not the list of them.
    pub fn is_open(&self) -> bool {
        !self.page.0.is_empty()
    }

    pub fn lights(&self, lit: HighlightPart, of: &str) -> bool {
        self.parts.iter().any(|light| light.is(lit, of))
    }
}
