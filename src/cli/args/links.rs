//! How files of word links are read, as every command asks that reads some.

use clap::Args;

use crate::args::{Choice, one_of};
use engine::text::links::read::{Base, LinkLayout, LinkOrder, Notation};
use training::settings::LinkWords;

/// Which words written links count, by the names that a training configuration has for them.
pub const LINK_WORDS: &[Choice<LinkWords>] = &[
    ("spaces", "What stands between spaces, as other programs count", LinkWords::Spaces),
    (
        "tokens",
        "Words as the rules of the language cut them, as `link_words = \"tokens\"` of a training configuration reads them",
        LinkWords::Tokens,
    ),
];

/// As typed.
#[derive(Args, Clone, Copy, Debug)]
pub struct LinkWordsArgs {
    /// Which words the written links count; those between spaces have the links of their letters and digits, not of punctuation
    #[arg(long, value_name = "WORDS", default_value = "spaces", value_parser = one_of(LINK_WORDS.iter().copied()))]
    pub link_words: LinkWords,
}

/// As typed.
#[derive(Args, Clone, Debug)]
pub struct GoldLayoutArgs {
    /// How files of links are written
    #[arg(long, default_value = "auto", value_parser = one_of(FORMATS.iter().copied()), help_heading = HEADING)]
    pub gold_format: Detected<Notation>,
    /// Which side a link names first
    #[arg(long, default_value = "auto", value_parser = one_of(ORDERS.iter().copied()), help_heading = HEADING)]
    pub gold_order: Detected<LinkOrder>,
    /// From where files of links count words
    #[arg(long, default_value = "auto", value_parser = one_of(BASES.iter().copied()), help_heading = HEADING)]
    pub gold_base: Detected<Base>,
}

const HEADING: &str = "Files of links";

/// `None` where the file decides. Under this name clap reads the whole value, not an argument that may be missing.
type Detected<T> = Option<T>;

const FORMATS: &[Choice<Detected<Notation>>] = &[
    ("auto", "As the file looks", None),
    (
        Notation::Pharaoh.name(),
        "A line for each sentence: `0-0 1?2`, `?` or `p` for a possible link",
        Some(Notation::Pharaoh),
    ),
    (Notation::Talp.name(), "The same, counted from 1 unless it has a 0", Some(Notation::Talp)),
    (
        Notation::Naacl.name(),
        "A line for each link, as in the HLT-NAACL 2003 shared task: `1 1 1 S`",
        Some(Notation::Naacl),
    ),
];

const ORDERS: &[Choice<Detected<LinkOrder>>] = &[
    ("auto", "The source, unless links lie outside their sentences then", None),
    ("source", "The source", Some(LinkOrder::SourceFirst)),
    ("target", "The target", Some(LinkOrder::TargetFirst)),
];

const BASES: &[Choice<Detected<Base>>] =
    &[("auto", "As the file looks", None), ("0", "From 0", Some(Base::Zero)), ("1", "From 1", Some(Base::One))];

impl GoldLayoutArgs {
    pub fn plan(&self) -> LinkLayout {
        LinkLayout { notation: self.gold_format, base: self.gold_base, order: self.gold_order }
    }
}
