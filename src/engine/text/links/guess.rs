//! How a file of links counts words and which side it names first, found out from all its links and from the
//! numbers of words of its sentences, where those are known. Imports floor 0.
//!
//! The shared task of HLT-NAACL 2003 counts from 1, and its 0 is no word. Everywhere else a 0 is the first word, and a file
//! without any 0 is asked about, unless links lie outside their sentences.

use crate::text::links::{Link, Links};

/// How a file writes links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// A line for each sentence pair: `0-0 1?2`.
    #[default]
    Pharaoh,
    /// The same, counted from 1 as long as there is no 0: `1-1 2p3`.
    Talp,
    /// A line for each link: `1 1 1 S`.
    Naacl,
}

impl Notation {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pharaoh => "pharaoh",
            Self::Talp => "talp",
            Self::Naacl => "naacl",
        }
    }
}

/// Where a file starts to count words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The first word is 0.
    #[default]
    Zero,
    /// The first word is 1.
    One,
}

impl Base {
    pub fn name(self) -> &'static str {
        if self == Self::Zero { "words counted from 0" } else { "words counted from 1" }
    }
}

/// Which side's position a link names first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkOrder {
    /// The side that is translated from.
    #[default]
    SourceFirst,
    /// The side that is translated to.
    TargetFirst,
}

impl LinkOrder {
    pub fn name(self) -> &'static str {
        if self == Self::SourceFirst { "the source side first" } else { "the target side first" }
    }
}

/// What is known of how a file writes links; `None` is found out from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkLayout {
    pub notation: Option<Notation>,
    pub base: Option<Base>,
    pub order: Option<LinkOrder>,
}

/// Something that a file does not say outright.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fact<T> {
    /// Files of this format leave nothing open here.
    #[default]
    None,
    Known {
        value: T,
        how: String,
    },
    /// Unclear: people should be asked, and the answer given when the file is read again.
    Ask {
        used: T,
        other: T,
        why: String,
    },
}

impl<T: Copy> Fact<T> {
    pub fn known(value: T, how: impl Into<String>) -> Self {
        Self::Known { value, how: how.into() }
    }

    /// How it is read.
    pub fn value(&self) -> Option<T> {
        match self {
            Self::None => None,
            Self::Known { value, .. } => Some(*value),
            Self::Ask { used, .. } => Some(*used),
        }
    }

    /// Whether people should be asked.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Ask { .. })
    }

    pub fn note(&self, name: fn(T) -> &'static str) -> Option<String> {
        let capital = |text: &str| text[..1].to_uppercase() + &text[1..];
        match self {
            Self::None => None,
            Self::Known { value, how } => Some(format!("{}: {how}.", capital(name(*value)))),
            Self::Ask { used, other, why } => {
                Some(format!("{}, or {}? {} is used: {why}.", capital(name(*used)), name(*other), capital(name(*used))))
            }
        }
    }
}

/// A link as a file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEntry {
    /// Both positions as they are written.
    pub first: usize,
    pub second: usize,
    pub sure: bool,
}

/// A way to read positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkGuess {
    pub notation: Notation,
    pub base: Base,
    pub order: LinkOrder,
}

impl LinkGuess {
    /// The link of an entry in a sentence of so many source and target words, where that is known; none where the
    /// shared task says that a word has no partner.
    ///
    /// # Errors
    /// A position outside the sentence.
    fn place(self, entry: LinkEntry, lengths: Option<(usize, usize)>) -> Result<Option<Link>, ()> {
        let from = usize::from(self.base == Base::One);
        if self.notation == Notation::Naacl && entry.first.min(entry.second) < from {
            return Ok(None);
        }
        let (Some(first), Some(second)) = (entry.first.checked_sub(from), entry.second.checked_sub(from)) else {
            return Err(());
        };
        let link = Link { source: first, target: second };
        let link = if self.order == LinkOrder::SourceFirst { link } else { link.turned() };
        let is_inside = lengths.is_none_or(|(source, target)| link.source < source && link.target < target);
        if is_inside { Ok(Some(link)) } else { Err(()) }
    }

    /// All links of a sentence, and which of the entries lie outside it.
    pub fn links(self, entries: &[LinkEntry], lengths: Option<(usize, usize)>) -> (Links, Vec<usize>) {
        let (mut sure, mut possible, mut outside) = (Vec::new(), Vec::new(), Vec::new());
        for (n, entry) in entries.iter().enumerate() {
            match self.place(*entry, lengths) {
                Ok(link) => if entry.sure { &mut sure } else { &mut possible }.extend(link),
                Err(()) => outside.push(n),
            }
        }
        (Links::new(sure, possible), outside)
    }
}

const BASES: [Base; 2] = [Base::Zero, Base::One];
const ORDERS: [LinkOrder; 2] = [LinkOrder::SourceFirst, LinkOrder::TargetFirst];
/// A file of so many sentences that never links a first word hardly counts from 0.
const MANY: usize = 20;

/// What a first pass over all links of a file finds.
#[derive(Clone, Debug, Default)]
pub struct LinkCensus {
    notation: Notation,
    sentences: usize,
    has_zero: bool,
    links_zeros: bool,
    has_lengths: bool,
    outside: [[usize; 2]; 2],
}

impl LinkCensus {
    pub fn new(notation: Notation) -> Self {
        Self { notation, ..Self::default() }
    }

    pub fn add(&mut self, entries: &[LinkEntry], lengths: Option<(usize, usize)>) {
        self.sentences += usize::from(!entries.is_empty());
        self.has_lengths |= lengths.is_some();
        for entry in entries {
            self.has_zero |= entry.first.min(entry.second) == 0;
            self.links_zeros |= entry.first.max(entry.second) == 0;
            for (b, base) in BASES.into_iter().enumerate() {
                for (o, order) in ORDERS.into_iter().enumerate() {
                    let guess = LinkGuess { notation: self.notation, base, order };
                    self.outside[b][o] += usize::from(guess.place(*entry, lengths).is_err());
                }
            }
        }
    }

    fn outside(&self, base: Base, order: LinkOrder) -> usize {
        self.outside[usize::from(base == Base::One)][usize::from(order == LinkOrder::TargetFirst)]
    }

    /// Where the file counts from, and which side it names first.
    pub fn found(&self, asked: &LinkLayout) -> (Fact<Base>, Fact<LinkOrder>) {
        let zero_fits = || ORDERS.iter().any(|order| self.outside(Base::Zero, *order) == 0);
        let (bases, how): (&[Base], _) = match (&asked.base, self.notation) {
            (Some(base), _) => (std::slice::from_ref(base), "as was asked"),
            (None, Notation::Naacl) if self.links_zeros && zero_fits() => {
                (&BASES[..1], "it links 0 with 0, and a word without a partner is linked with one 0 only")
            }
            (None, Notation::Naacl) if self.has_zero => {
                (&BASES[1..], "as the format has it; its 0 is no word, and links with it are left out")
            }
            (None, Notation::Naacl) => (&BASES[1..], "as the format has it"),
            (None, _) if self.has_zero => (&BASES[..1], "the file has a 0"),
            (None, Notation::Talp) => (&BASES[1..], "as the notation has it, and the file has no 0"),
            (None, Notation::Pharaoh) => (&BASES, ""),
        };
        let best = |order: LinkOrder| bases.iter().map(|base| self.outside(*base, order)).min().unwrap_or(0);
        let (source, target) = ORDERS.map(best).into();
        let order = match asked.order {
            Some(asked) => Fact::known(asked, "as was asked"),
            // A few damaged links do not turn a file.
            None if target * 10 < source => {
                Fact::known(LinkOrder::TargetFirst, "otherwise links lie outside their sentences")
            }
            None if source < target => {
                Fact::known(LinkOrder::SourceFirst, "otherwise links lie outside their sentences")
            }
            None if self.has_lengths => {
                Fact::known(LinkOrder::SourceFirst, "as files mostly have it; both fit the texts")
            }
            None => Fact::known(LinkOrder::SourceFirst, "as files mostly have it"),
        };
        let of = order.value().unwrap_or_default();
        let base = match bases {
            _ if self.sentences == 0 && asked.base.is_none() => Fact::None,
            [base] => Fact::known(*base, how),
            _ if self.outside(Base::One, of) < self.outside(Base::Zero, of) => {
                Fact::known(Base::One, "from 0 links lie outside their sentences")
            }
            _ => {
                let (used, other) =
                    if self.sentences >= MANY { (Base::One, Base::Zero) } else { (Base::Zero, Base::One) };
                Fact::Ask { used, other, why: "no position is 0, and nothing else in the file tells".into() }
            }
        };
        (base, order)
    }

    /// The reading that [`LinkCensus::found`] comes to.
    pub fn guess(&self, (base, order): (&Fact<Base>, &Fact<LinkOrder>)) -> LinkGuess {
        LinkGuess {
            notation: self.notation,
            base: base.value().unwrap_or_default(),
            order: order.value().unwrap_or_default(),
        }
    }
}
