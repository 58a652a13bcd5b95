//! Floor 9: the parts of the window that a lesson can light, by name. A leaf.

use crate::text::lesson::{LessonEntry, hint};

/// A part of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HighlightPart {
    /// The field of the sentence.
    Source,
    /// A column.
    Column,
    /// The words of a column.
    Translation,
    /// The picture of a column.
    Heatmap,
    /// The beam of a column.
    Beam,
    /// What is known of the selected word.
    Inspector,
    /// The tabs of the pages.
    Pages,
    /// The names of the models.
    Models,
    /// The number of hypotheses.
    BeamSize,
    /// What is set on page Steps before one begins.
    Choices,
    /// The words that the steps say.
    Words,
    /// Back, on, play.
    Player,
    /// The boxes.
    Machine,
    /// One box.
    Box,
    /// The box that is open.
    OpenBox,
    /// The rows so far on page Steps.
    Rows,
}

/// One line of [`LIGHTS`].
#[derive(Clone, Copy, Debug)]
pub struct LightEntry {
    /// Which.
    pub lit: HighlightPart,
    /// In a lesson.
    pub key: &'static str,
    /// For those who do not see the light.
    pub name: &'static str,
    /// What may stand behind the key.
    pub takes: &'static str,
}

/// Every part that can be lit.
pub const LIGHTS: &[LightEntry] = &[
    LightEntry { lit: HighlightPart::Source, key: "source", name: "the sentence", takes: "" },
    LightEntry { lit: HighlightPart::Column, key: "column", name: "the column", takes: "a model" },
    LightEntry { lit: HighlightPart::Translation, key: "translation", name: "the translation", takes: "a model" },
    LightEntry { lit: HighlightPart::Heatmap, key: "heatmap", name: "the picture", takes: "a model" },
    LightEntry { lit: HighlightPart::Beam, key: "beam", name: "the beam", takes: "a model" },
    LightEntry { lit: HighlightPart::Inspector, key: "inspector", name: "the inspector below", takes: "" },
    LightEntry { lit: HighlightPart::Pages, key: "pages", name: "the tabs of the pages", takes: "" },
    LightEntry { lit: HighlightPart::Models, key: "models", name: "the names of the models", takes: "" },
    LightEntry { lit: HighlightPart::BeamSize, key: "beam-size", name: "the number beside Beam", takes: "" },
    LightEntry { lit: HighlightPart::Choices, key: "choices", name: "the choices of page Steps", takes: "" },
    LightEntry { lit: HighlightPart::Words, key: "words", name: "the words of the steps", takes: "" },
    LightEntry { lit: HighlightPart::Player, key: "player", name: "the player", takes: "" },
    LightEntry { lit: HighlightPart::Machine, key: "machine", name: "the machine", takes: "" },
    LightEntry { lit: HighlightPart::Box, key: "box", name: "the box", takes: "the key of a box" },
    LightEntry { lit: HighlightPart::OpenBox, key: "open-box", name: "the open box", takes: "" },
    LightEntry { lit: HighlightPart::Rows, key: "rows", name: "the rows so far", takes: "" },
];

impl HighlightPart {
    /// Its line of the table.
    pub fn entry(self) -> &'static LightEntry {
        LIGHTS.iter().find(|entry| entry.lit == self).unwrap_or(&LIGHTS[0])
    }
}

/// A part that is lit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Which.
    pub lit: HighlightPart,
    /// A model, or a box; `None`: wherever it is.
    pub of: Option<String>,
}

impl Highlight {
    /// Whether it is this part of this model or box.
    pub fn is(&self, lit: HighlightPart, of: &str) -> bool {
        self.lit == lit && self.of.as_ref().is_none_or(|wanted| wanted == of)
    }

    /// In words.
    pub fn text(&self) -> String {
        let name = self.lit.entry().name;
        self.of.as_ref().map_or_else(|| name.to_owned(), |of| format!("{name} ({of})"))
    }
}

/// What a page of a lesson lights now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lights {
    /// The panel with the lessons is open.
    pub is_shown: bool,
    /// The lesson and its page.
    pub page: (String, usize),
    /// The parts.
    pub parts: Vec<Highlight>,
    /// Whether what the page brings about has come.
    pub is_ready: bool,
}

impl Lights {
    /// Whether a part of the window is lit.
    pub fn lights(&self, lit: HighlightPart, of: &str) -> bool {
        self.parts.iter().any(|light| light.is(lit, of))
    }
}

/// Reads a line of a block `light`; `none` puts all out.
pub fn read(entry: &LessonEntry) -> Result<Option<Highlight>, String> {
    if entry.key == "none" {
        return Ok(None);
    }
    let Some(line) = LIGHTS.iter().find(|line| line.key == entry.key) else {
        let hint = hint(&entry.key, LIGHTS.iter().map(|line| line.key));
        return Err(format!("there is no part `{}`{hint}", entry.key));
    };
    let of = Some(entry.value.clone()).filter(|of| !of.is_empty());
    if line.takes.is_empty() && of.is_some() {
        return Err(format!("`{}` stands alone on its line", line.key));
    }
    if line.lit == HighlightPart::Box && of.is_none() {
        return Err("`box` needs the key of a box, such as `box alpha`".to_owned());
    }
    Ok(Some(Highlight { lit: line.lit, of }))
}
