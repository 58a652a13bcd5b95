//! What a lesson can bring about, and wait for: [`LessonAction`]. A leaf: what comes of them is not known here.

use std::{fmt, mem::discriminant};

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::app::{layout::Look, page::Page, page::SENTENCE};
use crate::pages::steps::command::{Guessed, Mode};
use crate::pages::{page_of_key, steps::STEPS, steps::depth::Depth};
use engine::models::{anatomy::Miswiring, transformer::heads::HeadKind};

/// What only a reader can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum LessonAct {
    #[serde(rename = "another sentence")]
    AnotherSentence,
    #[serde(rename = "select a word")]
    SelectWord,
    #[serde(rename = "reveal the guess")]
    Reveal,
    /// Sets what the decoder looks at or says.
    #[serde(rename = "set something")]
    Intervene,
    #[serde(rename = "another step")]
    AnotherStep,
    /// Says a word in place of the model.
    #[serde(rename = "say a word")]
    Say,
    #[serde(rename = "another hypothesis")]
    AnotherHypothesis,
}

/// An action or condition of a lesson, in the order of making a page ready.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LessonAction {
    Models(Vec<String>),
    Sentence(#[serde(deserialize_with = "filled")] String),
    /// Every model is given this translation, and shows where it would look; `None`: its own.
    Given(#[serde(deserialize_with = "or_none")] Option<String>),
    Beam(#[serde(deserialize_with = "beam")] usize),
    ForbidUnk(bool),
    Page(#[serde(deserialize_with = "page")] Page),
    Select(#[serde(deserialize_with = "filled")] String),
    /// This hypothesis of the selected column is shown, from 1, the best.
    Hypothesis(#[serde(deserialize_with = "beam")] usize),
    /// This word of the selected column's translation is selected; `None`: none.
    Word(#[serde(deserialize_with = "or_none")] Option<String>),
    /// alpha of the selected word is set: all of it on this source word, or `even`; `None`: nothing is set any more.
    Row(#[serde(deserialize_with = "or_none")] Option<String>),
    Picture(Look),
    /// Energies in place of alpha.
    Energies(bool),
    /// All heads of this kind of the selected column's model in place of its alignment; `None`: the alignment.
    Heads(#[serde(deserialize_with = "heads")] Option<HeadKind>),
    Pieces(bool),
    Links(bool),
    /// Where words come from, by alignment heads, in place of where the model looked.
    Origin(bool),
    TypedWords(bool),
    Inspector(bool),
    Solo(bool),
    /// The mode for a class.
    Class(bool),
    /// How much of the machine the steps show.
    Depth(#[serde(deserialize_with = "depth")] Depth),
    /// Whose words the steps read on.
    Mode(#[serde(deserialize_with = "mode")] Mode),
    /// How the model of the steps is wired.
    Wrong(#[serde(deserialize_with = "wrong")] Option<Miswiring>),
    /// This is guessed first; `None`: nothing.
    Guess(#[serde(deserialize_with = "guess")] Option<Guessed>),
    StepBeam(bool),
    /// The player goes box by box.
    Stages(bool),
    /// The step that says this word is shown; a number: that step, from 1.
    Step(#[serde(deserialize_with = "step")] String),
    /// The box of this key is open; `None`: none.
    Box(#[serde(deserialize_with = "or_none")] Option<String>),
    Act(LessonAct),
}

/// What `find` makes of a word, or what it must be.
fn known<'de, D, T>(input: D, takes: &str, find: impl FnOnce(&str) -> Option<T>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    let text = String::deserialize(input)?;
    find(&text).ok_or_else(|| D::Error::custom(format!("this takes {takes}, not {text:?}")))
}

fn filled<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    known(input, "a sentence or a name", |text| (!text.is_empty()).then(|| text.to_owned()))
}

fn or_none<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    filled(input).map(|text| Some(text).filter(|text| text != "none"))
}

fn beam<'de, D: Deserializer<'de>>(input: D) -> Result<usize, D::Error> {
    let takes = "a number from 1 to 50, such as 5";
    let beam = i64::deserialize(input).map_err(|_| D::Error::custom(format!("this takes {takes}")))?;
    let found = usize::try_from(beam).ok().filter(|beam| (1..=50).contains(beam));
    found.ok_or_else(|| D::Error::custom(format!("this takes {takes}, not {beam}")))
}

fn page<'de, D: Deserializer<'de>>(input: D) -> Result<Page, D::Error> {
    known(input, "a page, such as \"steps\"", page_of_key)
}

fn depth<'de, D: Deserializer<'de>>(input: D) -> Result<Depth, D::Error> {
    known(input, "\"sentence\", \"step\" or \"inside\"", Depth::from_key)
}

fn mode<'de, D: Deserializer<'de>>(input: D) -> Result<Mode, D::Error> {
    known(input, "\"shown\", \"greedy\" or \"class\"", Mode::from_key)
}

fn wrong<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Miswiring>, D::Error> {
    known(input, "a wrong wiring, such as \"blind-weights\", or \"none\"", |text| match text {
        "none" => Some(None),
        _ => Miswiring::from_key(text).map(Some),
    })
}

fn heads<'de, D: Deserializer<'de>>(input: D) -> Result<Option<HeadKind>, D::Error> {
    known(input, "\"cross\", \"source\", \"target\" or \"none\"", |text| match text {
        "none" => Some(None),
        _ => HeadKind::ALL.into_iter().find(|kind| kind.name() == text).map(Some),
    })
}

fn guess<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Guessed>, D::Error> {
    known(input, "\"row\", \"word\", \"alignment\" or \"off\"", |text| match text {
        "off" => Some(None),
        _ => Guessed::from_key(text).map(Some),
    })
}

fn step<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "this takes a word of the translation, or a number from 1")]
    enum Step {
        Number(usize),
        Word(String),
    }
    Step::deserialize(input).map(|step| match step {
        Step::Number(number) => number.to_string(),
        Step::Word(word) => word,
    })
}

pub(super) fn things<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<LessonAction>, D::Error> {
    struct Table;
    impl<'de> Visitor<'de> for Table {
        type Value = Vec<LessonAction>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a table of what is brought about")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            let (mut entries, mut things) = (Entries { map, is_over: false }, Vec::new());
            loop {
                match LessonAction::deserialize(MapAccessDeserializer::new(&mut entries)) {
                    Ok(LessonAction::Act(_)) => {
                        return Err(A::Error::custom("`act` is for the reader; it belongs into a part `wait`"));
                    }
                    Ok(thing) => things.push(thing),
                    Err(_) if entries.is_over => break,
                    Err(error) => return Err(error),
                }
            }
            things.sort();
            Ok(things)
        }
    }
    input.deserialize_map(Table)
}

struct Entries<A> {
    map: A,
    is_over: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut Entries<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let key = self.map.next_key_seed(seed)?;
        self.is_over = key.is_none();
        Ok(key)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// The row in which every source word has the same weight.
pub const EVEN: &str = "even";

impl LessonAction {
    /// Selects the first column, whichever it is.
    pub const FIRST: Self = Self::Select(String::new());

    /// What the window shows when a lesson begins, whatever was shown before; each page says it again.
    pub const AT_FIRST: &[Self] = &[
        Self::Page(SENTENCE),
        Self::Picture(Look::Heatmap),
        Self::Energies(false),
        Self::Heads(None),
        Self::Pieces(false),
        Self::Links(false),
        Self::Origin(false),
        Self::TypedWords(false),
        Self::Solo(false),
        Self::Class(false),
        Self::Depth(Depth::Sentence),
        Self::Mode(Mode::Shown),
        Self::Wrong(None),
        Self::Guess(None),
        Self::StepBeam(false),
        Self::Stages(false),
        Self::Box(None),
    ];

    /// Whether it is about what the window shows, and neither about models and text nor about what was clicked in them.
    pub fn is_of_the_window(&self) -> bool {
        Self::AT_FIRST.iter().any(|shown| discriminant(shown) == discriminant(self))
    }

    /// Whether after this nothing is left of the other: another text has other words, and only page Steps has steps.
    pub fn ends(&self, other: &Self) -> bool {
        match self {
            Self::Models(_) | Self::Sentence(_) => {
                matches!(other, Self::Word(_) | Self::Row(_) | Self::Hypothesis(_) | Self::Step(_))
            }
            Self::Page(page) => *page != STEPS && matches!(other, Self::Step(_) | Self::Box(Some(_))),
            _ => false,
        }
    }

    /// Whether it can be done for a reader who passes it over.
    pub fn can_be_done(&self) -> bool {
        matches!(self, Self::Act(LessonAct::Reveal)) || !matches!(self, Self::Act(_))
    }

    /// What the reader is told to do when it is waited for and the lesson does not say it.
    pub fn prompt(&self) -> String {
        match self {
            Self::Models(names) => tr!("Show the models {}.", names.join(", ")),
            Self::Sentence(text) => tr!("Type: {text}", text),
            Self::Given(Some(text)) => tr!("Give the translation: {text}", text),
            Self::Beam(beam) => tr!("Set the beam to {beam}.", beam),
            Self::Page(page) => tr!("Open the page {}.", page.name()),
            Self::Select(model) => tr!("Click the column of {model}.", model),
            Self::Hypothesis(number) => tr!("Click line {number} of the list below the column.", number),
            Self::Row(Some(row)) if row == EVEN => {
                tr!("Right-click a word of the translation, and choose \"The same weight on every word\".").to_owned()
            }
            Self::Row(Some(word)) => {
                tr!("Right-click a cell over {word}, and choose \"All weight on this source word\".", word)
            }
            Self::Word(Some(word)) => tr!("Click the word {word} of the translation.", word),
            Self::Step(step) => tr!("Go to the step {step}.", step),
            Self::Box(Some(key)) => tr!("Open the box {key}.", key),
            Self::Act(act) => match act {
                LessonAct::AnotherSentence => tr!("Type another sentence, or choose one from the list."),
                LessonAct::SelectWord => tr!("Click a word of a translation."),
                LessonAct::Reveal => tr!("Guess, then press Show."),
                LessonAct::Intervene => tr!("Change where the model looks or what it says."),
                LessonAct::AnotherStep => tr!("Go to another step."),
                LessonAct::Say => tr!("Choose a word for the model to say."),
                LessonAct::AnotherHypothesis => tr!("Click another line of the beam."),
            }
            .to_owned(),
            _ => tr!("Do what the page says.").to_owned(),
        }
    }
}
