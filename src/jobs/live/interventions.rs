//! Floor 8: what a person has set in a column, in words and places of the text, and what that is for its model.
//!
//! Ids differ between vocabularies, so words are kept as text and source words as places of the text; [`resolve`] turns
//! them into ids and source positions. What a model cannot do is left out, and [`Touched::notes`] says so.

use std::ops::Range;
use std::sync::Arc;

use crate::decoding::{Intervention, Said};
use crate::text::sentence::{EOS, Sentence, UNK};
use crate::text::tokenizer::Tokenizer;

/// Words further on than any translation goes.
const FURTHEST: usize = 10_000;

/// A target word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// An entry of the model's vocabulary, as it writes it.
    Entry(String),
    /// Text that is still to be cut; it may become several entries.
    Typed(String),
}

impl Word {
    /// As it is written.
    pub fn text(&self) -> &str {
        match self {
            Self::Entry(text) | Self::Typed(text) => text,
        }
    }
}

/// A word that the translation begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Which.
    pub word: Word,
    /// A person chose it; otherwise it is held as the model had chosen it.
    pub is_forced: bool,
}

/// A word that is not said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// At this target position, from 0; `None`: at every one.
    pub i: Option<usize>,
    /// Which.
    pub word: Word,
}

/// A row of alpha that is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Target position, from 0.
    pub i: usize,
    /// alpha_ij over the source tokens, [t_x].
    pub alpha: Arc<[f32]>,
}

/// All that is set in a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interventions {
    /// The translation begins with these.
    pub prefix: Vec<Start>,
    /// Words that are said further on, each at its target position, from 0, whatever is said before.
    pub forces: Vec<(usize, Word)>,
    /// Words that are not said.
    pub bans: Vec<Ban>,
    /// Rows of alpha, one a position, in their order.
    pub pins: Vec<Pin>,
    /// Rows, by target position, that are the model's own in the order that follows from a seed.
    pub orders: Vec<(usize, u64)>,
    /// Source words that get no weight where alpha is not pinned, as places of the text; an empty one is `</s>`.
    pub masks: Vec<Range<usize>>,
    /// T of softmax(e_i / T) where alpha is not pinned; `None`: 1.
    pub temperature: Option<f32>,
}

impl Interventions {
    /// Whether any alpha is other than the model's own.
    pub fn changes_alpha(&self) -> bool {
        let rows = !self.pins.is_empty() || !self.orders.is_empty();
        rows || !self.masks.is_empty() || self.temperature.is_some()
    }

    /// The row at a target position is the model's own again.
    pub fn free(&mut self, i: usize) {
        self.pins.retain(|pin| pin.i != i);
        self.orders.retain(|(at, _)| *at != i);
    }

    /// Nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What still means something for another text: nothing that belongs to a position or a source word.
    pub fn for_other_text(&self) -> Self {
        let bans = self.bans.iter().filter(|ban| ban.i.is_none()).cloned().collect();
        Self { bans, temperature: self.temperature, ..Self::default() }
    }
}

/// What was set in a result, by its positions; shared by its hypotheses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Who chose the first target tokens; those behind are free.
    pub words: Vec<Said>,
    /// Target positions whose alpha is set.
    pub pinned: Vec<usize>,
    /// Source tokens without weight.
    pub masked: Vec<usize>,
    /// Anything else is changed that touches every word: a ban or the temperature.
    pub elsewhere: bool,
    /// What this model could not do, as sentences.
    pub notes: Vec<String>,
    /// Words that were to be forbidden or forced and that it cannot take so.
    pub refused: Vec<Word>,
}

impl Touched {
    /// Who chose target token i.
    pub fn said(&self, i: usize) -> Said {
        self.words.get(i).copied().unwrap_or_default()
    }

    /// Whether the model did all by itself.
    pub fn is_untouched(&self) -> bool {
        *self == Self { notes: self.notes.clone(), refused: self.refused.clone(), ..Self::default() }
    }

    /// log p of the words that were held or forced, and of those that the model chose.
    pub fn parts(&self, token_log_p: &[f32]) -> (f32, f32) {
        let sum = |is_free: bool| {
            let of = |(i, log_p): (usize, &f32)| ((self.said(i) == Said::Free) == is_free).then_some(*log_p);
            token_log_p.iter().enumerate().filter_map(of).sum()
        };
        (sum(false), sum(true))
    }
}

/// What is set, for a model.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// Ids that the translation begins with.
    pub prefix: Vec<u32>,
    /// Everything else.
    pub list: Arc<[Intervention]>,
    /// What is marked.
    pub touched: Touched,
}

/// A model as far as interventions need it.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The target vocabulary.
    pub target: &'a Tokenizer,
    /// Id of `</s>`.
    pub eos: u32,
    /// Id of `[UNK]`.
    pub unk: u32,
    /// Whether there is an alignment to change.
    pub has_alignment: bool,
}

/// What `wanted` is for this model and the source as it reads it.
pub fn resolve(wanted: &Interventions, reader: Reader<'_>, source: &Sentence) -> Resolved {
    let mut out = Resolving { reader, list: Vec::new(), prefix: Vec::new(), touched: Touched::default() };
    out.words(wanted);
    if reader.has_alignment {
        out.alignment(wanted, source);
    } else if wanted.changes_alpha() {
        out.note("This model has no alignment, so that only its words can be changed".to_owned());
    }
    Resolved { prefix: out.prefix, list: out.list.into(), touched: out.touched }
}

impl Reader<'_> {
    /// The ids of a word; `None` where the vocabulary lacks it.
    pub fn ids(&self, word: &Word) -> Option<Vec<u32>> {
        let Reader { target, eos, unk, .. } = *self;
        match word {
            Word::Entry(entry) if entry == EOS => Some(vec![eos]),
            Word::Entry(entry) if entry == UNK => Some(vec![unk]),
            Word::Entry(entry) => target.id(entry).map(|id| vec![id]),
            Word::Typed(text) if text.trim() == EOS => Some(vec![eos]),
            Word::Typed(text) => {
                let ids = target.encode_phrase(text.trim(), None);
                (!ids.is_empty() && !ids.contains(&unk)).then_some(ids)
            }
        }
    }
}

struct Resolving<'a> {
    reader: Reader<'a>,
    list: Vec<Intervention>,
    prefix: Vec<u32>,
    touched: Touched,
}

impl Resolving<'_> {
    fn note(&mut self, note: String) {
        self.touched.notes.push(note);
    }

    /// The first word of a typed text that the vocabulary lacks, to be named.
    fn unknown<'w>(&self, word: &'w Word) -> &'w str {
        let Reader { target, unk, .. } = self.reader;
        let lacks = |word: &&str| {
            let ids = target.encode_phrase(word, None);
            ids.is_empty() || ids.contains(&unk)
        };
        word.text().split_whitespace().find(lacks).unwrap_or(word.text())
    }

    fn words(&mut self, wanted: &Interventions) {
        for start in &wanted.prefix {
            let Some(ids) = self.reader.ids(&start.word) else {
                // what follows was chosen for what it stands behind
                let word = self.unknown(&start.word);
                self.note(format!(
                    "The model does not know the word \"{word}\" and goes on without what was set there"
                ));
                break;
            };
            let said = if start.is_forced { Said::Forced } else { Said::Held };
            self.touched.words.extend(ids.iter().map(|_| said));
            self.prefix.extend(ids);
        }
        for ban in &wanted.bans {
            let (ids, word) = (self.reader.ids(&ban.word), ban.word.text());
            let several = "is several pieces for this model, which can only forbid single ones";
            match ids.as_deref() {
                Some(&[token]) => self.ban(ban.i, token),
                Some(_) => self.refuse(&ban.word, format!("\"{word}\" {several}")),
                None => self.refuse(&ban.word, format!("The model does not know the word \"{word}\" anyway")),
            }
        }
        for (at, word) in &wanted.forces {
            match self.reader.ids(word) {
                Some(_) if *at >= FURTHEST => {
                    self.refuse(word, format!("Word {} is behind the end of any translation", at + 1));
                }
                Some(ids) => (*at..).zip(ids).for_each(|(i, token)| self.force(i, token)),
                None => self.refuse(word, format!("The model does not know the word \"{}\"", self.unknown(word))),
            }
        }
    }

    /// Passes over a word that was to be forbidden or forced.
    fn refuse(&mut self, word: &Word, why: String) {
        self.note(why);
        self.touched.refused.push(word.clone());
    }

    /// Says a word behind the prefix.
    fn force(&mut self, i: usize, token: u32) {
        if i < self.prefix.len() {
            return;
        }
        let words = &mut self.touched.words;
        words.resize(words.len().max(i + 1), Said::Free);
        words[i] = Said::Forced;
        self.list.push(Intervention::Force { i, token });
    }

    /// Forbids a word. A forced one is said all the same.
    fn ban(&mut self, i: Option<usize>, token: u32) {
        if i.is_some_and(|i| i < self.prefix.len()) {
            return;
        }
        self.touched.elsewhere = true;
        self.list.push(Intervention::Forbid { i, token });
        let said = (0..).zip(&self.prefix).filter(|(_, said)| **said == token).map(|(i, _)| i);
        self.list.extend(said.map(|i| Intervention::Force { i, token }));
    }

    fn alignment(&mut self, wanted: &Interventions, source: &Sentence) {
        for &(i, seed) in &wanted.orders {
            self.list.push(Intervention::Permute { i, seed });
            self.touched.pinned.push(i);
        }
        for pin in &wanted.pins {
            if pin.alpha.len() == source.len() {
                self.list.push(Intervention::Pin { i: pin.i, alpha: pin.alpha.to_vec() });
                self.touched.pinned.push(pin.i);
            } else {
                self.note(format!("Row {} was set for other source words", pin.i + 1));
            }
        }
        for place in &wanted.masks {
            let is_it = |span: &Range<usize>| {
                if place.is_empty() { span.is_empty() } else { span.start < place.end && place.start < span.end }
            };
            let words = source.spans.iter().enumerate().filter(|(_, span)| is_it(span)).map(|(j, _)| j);
            self.touched.masked.extend(words);
        }
        self.list.extend(self.touched.masked.iter().map(|&j| Intervention::Mask { j }));
        if let Some(t) = wanted.temperature {
            self.list.push(Intervention::Temperature(t));
            self.touched.elsewhere = true;
        }
    }
}
