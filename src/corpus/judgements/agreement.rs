//! Two annotators of a workspace compared: how far they agree, by how much more than chance, and where not.
//!
//! Both judged a sentence where each said anything of it. Stars count where both gave some; links where both drew
//! some, over all pairs of a word of the source and one of the reference. Of marks each word of a translation is a
//! thing that was judged: it has the kind and the severity of the gravest mark that covers it, or none. Words that
//! are missing count with the word before which they are missing. Translations count that both judged.

use std::collections::BTreeSet;

use crate::judgements::judge::{ErrorMark, Judgement};
use crate::store::corpus::CorpusTable;
use engine::analysis::kappa::{Confusion, Kappa, PairVote, of_links, shared};
use engine::error::{Error, Result};
use engine::text::cut::WordRule;

/// What people may disagree about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    Stars,
    Tags,
    Marks,
    Links,
}

pub const ASPECTS: &[Aspect] = &[Aspect::Stars, Aspect::Tags, Aspect::Marks, Aspect::Links];

impl Aspect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stars => id!("stars"),
            Self::Tags => id!("tags"),
            Self::Marks => id!("marks"),
            Self::Links => id!("links"),
        }
    }
}

/// One thing that was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct AgreementLine {
    pub name: String,
    pub of: &'static str,
    pub kappa: Option<Kappa>,
    pub more: Vec<(&'static str, f64)>,
}

/// One thing that any number of annotators were compared in.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaLine {
    pub name: String,
    pub of: &'static str,
    /// Things that two or more judged.
    pub units: usize,
    pub values: usize,
    /// Krippendorff's alpha; `None` where all said the same, or nothing.
    pub alpha: Option<f64>,
}

/// Two annotators compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    pub annotators: (String, String),
    pub both: usize,
    pub lines: Vec<AgreementLine>,
    pub alphas: Vec<AlphaLine>,
    /// The sentences, from 0, where they differ, and in what.
    pub differing: Vec<(usize, Vec<Aspect>)>,
}

/// Refuses a name under which nobody judged anything.
pub fn check(corpus: &CorpusTable, name: &str) -> Result<()> {
    if corpus.counts.annotators.contains_key(name) {
        return Ok(());
    }
    let known: Vec<&str> = corpus.counts.annotators.keys().map(String::as_str).collect();
    let there = if known.is_empty() { "nobody did".to_owned() } else { format!("these did: {}", known.join(", ")) };
    Err(Error::Input(format!("nobody named `{name}` has judged anything; {there}")))
}

/// Compares two annotators over some sentences, by their places.
pub fn compare(corpus: &CorpusTable, (first, second): (&str, &str), rows: &[u32]) -> Result<Agreement> {
    check(corpus, first)?;
    check(corpus, second)?;
    let both: Vec<Both<'_>> = rows.iter().filter_map(|at| Both::of(corpus, *at as usize, first, second)).collect();
    let mut lines = vec![stars(&both)];
    lines.extend(tags(&both));
    lines.extend(marks(corpus, &both));
    lines.push(links(corpus, &both));
    let differing = both.iter().map(|both| (both.at, both.differs(corpus))).filter(|(_, aspects)| !aspects.is_empty());
    Ok(Agreement {
        annotators: (first.to_owned(), second.to_owned()),
        both: both.len(),
        lines,
        alphas: Vec::new(),
        differing: differing.collect(),
    })
}

/// What two annotators differ in about a sentence, from 0; nothing where one of them said nothing of it.
pub fn differences(corpus: &CorpusTable, at: usize, first: &str, second: &str) -> Vec<Aspect> {
    Both::of(corpus, at, first, second).map(|both| both.differs(corpus)).unwrap_or_default()
}

struct Both<'a> {
    at: usize,
    first: &'a Judgement,
    second: &'a Judgement,
}

impl<'a> Both<'a> {
    fn of(corpus: &'a CorpusTable, at: usize, first: &str, second: &str) -> Option<Self> {
        let by = corpus.judgements.get(&at)?;
        Some(Self { at, first: by.get(first)?, second: by.get(second)? })
    }

    fn differs(&self, corpus: &CorpusTable) -> Vec<Aspect> {
        let (one, other) = (self.first, self.second);
        let is = |aspect: &&Aspect| match aspect {
            Aspect::Stars => one.stars > 0 && other.stars > 0 && one.stars != other.stars,
            Aspect::Tags => one.tags != other.tags,
            Aspect::Marks => {
                systems_of([one, other]).into_iter().any(|system| {
                    // of a translation that one of them did not judge nothing is known
                    let both = one.judges(system) && other.judges(system);
                    let labels = |judgement| labels(corpus, self.at, system, judgement);
                    both && labels(one) != labels(other)
                })
            }
            Aspect::Links => one.drawn().zip(other.drawn()).is_some_and(|(one, other)| one != other),
        };
        ASPECTS.iter().filter(is).copied().collect()
    }
}

fn line(name: &str, of: &'static str, kappa: Option<Kappa>) -> AgreementLine {
    AgreementLine { name: name.to_owned(), of, kappa, more: Vec::new() }
}

fn stars(both: &[Both<'_>]) -> AgreementLine {
    let mut table = Confusion::default();
    for both in both.iter().filter(|both| both.first.stars > 0 && both.second.stars > 0) {
        table.add(both.first.stars, both.second.stars, 1);
    }
    let apart = |one: &u8, other: &u8| f64::from(one.abs_diff(*other));
    let weighted = [
        (id!("linear kappa"), table.weighted(apart)),
        (id!("quadratic kappa"), table.weighted(|one, other| apart(one, other).powi(2))),
    ];
    let more = weighted.into_iter().filter_map(|(name, number)| Some((name, number?))).collect();
    AgreementLine { more, ..line(id!("stars"), id!("sentences"), table.kappa()) }
}

fn tags(both: &[Both<'_>]) -> Vec<AgreementLine> {
    let names: BTreeSet<&String> = both.iter().flat_map(|both| both.first.tags.union(&both.second.tags)).collect();
    let mut all = Confusion::default();
    let mut lines = Vec::new();
    for name in names {
        let mut table = Confusion::default();
        for both in both {
            table.add(both.first.tags.contains(name), both.second.tags.contains(name), 1);
        }
        all.add_all(&table);
        lines.push(line(&format!("tag {name}"), "sentences", table.kappa()));
    }
    lines.insert(0, line(id!("tags"), id!("sentences and tags"), all.kappa()));
    lines
}

pub(super) type Label<'a> = Option<(&'a str, &'a str)>;

pub(super) fn labels<'a>(corpus: &CorpusTable, at: usize, system: &str, judgement: &'a Judgement) -> Vec<Label<'a>> {
    let column = corpus.systems.iter().find(|column| column.system.name == system);
    let text = column.and_then(|column| column.texts.get(at)).unwrap_or_default();
    let count = corpus.rules.target.count(text);
    let mut labels: Vec<Option<&ErrorMark>> = vec![None; count];
    for mark in judgement.marks.iter().filter(|mark| mark.system == system) {
        let (first, behind) = mark.target;
        let first = first.min(count.saturating_sub(1));
        let weight = |mark: &ErrorMark| corpus.scheme.weight(&mark.category, &mark.severity);
        for label in labels.iter_mut().take(behind.max(first + 1)).skip(first) {
            if label.is_none_or(|known| weight(mark) > weight(known)) {
                *label = Some(mark);
            }
        }
    }
    let name = |mark: &'a ErrorMark| (mark.category.as_str(), mark.severity.as_str());
    labels.into_iter().map(|mark| mark.map(name)).collect()
}

pub(super) fn systems_of<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> BTreeSet<&'a str> {
    let of = |judgement: &'a Judgement| {
        let marked = judgement.marks.iter().map(|mark| mark.system.as_str());
        marked.chain(judgement.no_errors.iter().map(String::as_str))
    };
    judgements.into_iter().flat_map(of).collect()
}

fn marks(corpus: &CorpusTable, both: &[Both<'_>]) -> Vec<AgreementLine> {
    let systems = systems_of(both.iter().flat_map(|both| [both.first, both.second]));
    let (mut kinds, mut severities, mut wrong) = (Confusion::default(), Confusion::default(), Confusion::default());
    for both in both {
        let judged = |system: &&&str| both.first.judges(system) && both.second.judges(system);
        for system in systems.iter().filter(judged) {
            let (first, second) =
                (labels(corpus, both.at, system, both.first), labels(corpus, both.at, system, both.second));
            for (one, other) in first.into_iter().zip(second) {
                wrong.add(one.is_some(), other.is_some(), 1);
                kinds.add(one.map(|label| label.0), other.map(|label| label.0), 1);
                severities.add(one.map(|label| label.1), other.map(|label| label.1), 1);
            }
        }
    }
    vec![
        line(id!("words marked"), id!("words"), wrong.kappa()),
        line(id!("kind of each word"), id!("words"), kinds.kappa()),
        line(id!("severity of each word"), id!("words"), severities.kappa()),
    ]
}

fn links(corpus: &CorpusTable, both: &[Both<'_>]) -> AgreementLine {
    let mut table: Confusion<PairVote> = Confusion::default();
    for both in both {
        let Some((first, second)) = both.first.drawn().zip(both.second.drawn()) else { continue };
        let count = |text: Option<&str>, rule: WordRule| rule.count(text.unwrap_or_default());
        let source = count(corpus.sources.get(both.at), corpus.rules.source);
        let target = count(corpus.references.get(both.at), corpus.rules.target);
        table.add_all(&of_links(&first, &second, source, target));
    }
    let more = shared(&table).map(|shared| (id!("F1 of links"), shared)).into_iter().collect();
    AgreementLine { more, ..line(id!("links by hand"), id!("pairs of words"), table.kappa()) }
}
