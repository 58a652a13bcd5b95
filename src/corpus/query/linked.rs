//! Links of the texts of a workspace, wherever they come from, and kinds of them against each other, counted in steps.

use std::{collections::HashSet, path::Path};

use crate::export::out::{LinkRule, links_of};
use crate::query::column;
use crate::store::{corpus::CorpusTable, file::Workspace, rules::SideRules};
use engine::aligner::{bundled::AlignerChoice, words::LineAligner};
use engine::analysis::concordance::tally::{LinkTally, TalliedSentence};
use engine::analysis::{
    concordance::ConcordanceQuery, concordance::weights::WeightTally, row_convention::RowConvention,
};
use engine::error::{Error, Result};
use engine::text::{cells::CellTable, links::Link};
use engine::text::{reader::LineReader, words::folded};

/// Where links come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkOrigin {
    /// Those of the system: that it came with, else the source word of greatest alpha, or of its alignment head where that was kept.
    #[default]
    Own,
    /// All with an alpha of at least so many hundredths.
    Above(u8),
    Aligner,
    Hand,
}

/// A text with links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkChoice {
    /// What a system says, by its place; `None`: the reference.
    pub system: Option<usize>,
    pub by: LinkOrigin,
}

impl Default for LinkChoice {
    fn default() -> Self {
        Self { system: Some(0), by: LinkOrigin::Own }
    }
}

/// The threshold that is offered first, hundredths.
pub const USUAL_THRESHOLD: u8 = 20;

impl LinkChoice {
    /// What a corpus may be asked about.
    pub fn all(corpus: &CorpusTable) -> Vec<Self> {
        let of_system = [LinkOrigin::Own, LinkOrigin::Above(USUAL_THRESHOLD), LinkOrigin::Aligner];
        let of_reference = [(!corpus.golds.is_empty()).then_some(LinkOrigin::Hand), Some(LinkOrigin::Aligner)];
        let has_reference = corpus.has_references() || !corpus.golds.is_empty();
        let systems = (0..corpus.systems.len()).flat_map(|at| of_system.map(|by| Self { system: Some(at), by }));
        let references = of_reference.into_iter().flatten().filter(|_| has_reference);
        systems.chain(references.map(|by| Self { system: None, by })).collect()
    }

    /// Every system with its name, as kinds of a [`TallyOrder`] that weighs.
    pub fn systems(corpus: &CorpusTable) -> Vec<(Self, String)> {
        let one = |at| Self { system: Some(at), by: LinkOrigin::Own };
        (0..corpus.systems.len()).map(|at| (one(at), one(at).name(corpus))).collect()
    }

    /// Whether it is one of these, whatever its threshold.
    pub fn is_in(self, corpus: &CorpusTable) -> bool {
        let usual = |by| if matches!(by, LinkOrigin::Above(_)) { LinkOrigin::Above(USUAL_THRESHOLD) } else { by };
        Self::all(corpus).contains(&Self { by: usual(self.by), ..self })
    }

    /// What is linked with the source.
    pub fn text(self, corpus: &CorpusTable, at: usize) -> Option<&str> {
        match self.system {
            Some(system) => corpus.systems.get(system)?.texts.get(at),
            None => corpus.references.get(at),
        }
    }

    fn is_head(self, corpus: &CorpusTable) -> bool {
        let column = self.system.and_then(|at| corpus.systems.get(at));
        column.is_some_and(|column| column.system.about.reading == RowConvention::Head.name())
    }

    /// What it is called.
    pub fn name(self, corpus: &CorpusTable) -> String {
        let named = |at: usize| corpus.systems.get(at).map(|column| format!("{}. {}", at + 1, column.system.name));
        let text = self.system.map_or_else(|| Some(tr!("the reference").to_owned()), named).unwrap_or_default();
        match self.by {
            LinkOrigin::Own => text,
            LinkOrigin::Above(hundredths) => {
                let at_least = format_args!("0.{hundredths:02}");
                if self.is_head(corpus) {
                    tr!("{text}, head's weight of at least {}", at_least, text)
                } else {
                    tr!("{text}, alpha of at least {}", at_least, text)
                }
            }
            LinkOrigin::Aligner => tr!("{text}, statistical aligner", text),
            LinkOrigin::Hand => tr!("{text}, by hand", text),
        }
    }
}

/// Parses a query whose word lists are in `folder`.
pub fn parsed(query: &str, folder: &Path) -> Result<ConcordanceQuery> {
    let mut list = |name: &str| words(folder, name).map_err(|error| error.to_string());
    ConcordanceQuery::parse_with(query, &mut list).map_err(|why| Error::Input(why.to_string()))
}

/// Finds links.
pub struct LinkFinder {
    aligner: Option<LineAligner>,
}

/// The words of a text, and links to them; no links where nothing says any.
pub type LinkedWords = (Vec<String>, Option<Vec<Link>>);

impl LinkFinder {
    /// A finder for some kinds of links, with the aligner of two languages.
    pub fn new(kinds: &[LinkChoice], aligner: Option<&AlignerChoice>, rules: SideRules) -> Result<Self> {
        if kinds.iter().all(|choice| choice.by != LinkOrigin::Aligner) {
            return Ok(Self { aligner: None });
        }
        let chosen = aligner.map(|choice| LineAligner::chosen(choice, rules.are_given())).transpose()?.flatten();
        let none = || {
            let languages = aligner.map_or_else(
                || tr!("languages that are not known").to_owned(),
                |own| format!("{} - {}", own.source, own.target),
            );
            Error::Input(tr!(
                "There is no statistical aligner for {languages}; choose a file in Settings, or other links",
                languages
            ))
        };
        chosen.map(|aligner| Self { aligner: Some(aligner) }).ok_or_else(none)
    }

    /// The words of a text and the links of the source's words to them; `None` if the sentence has no such text.
    pub fn find(
        &mut self, (corpus, workspace): (&CorpusTable, &Workspace), at: usize, choice: LinkChoice,
    ) -> Result<Option<LinkedWords>> {
        let (Some(source), Some(text)) = (corpus.sources.get(at), choice.text(corpus, at)) else { return Ok(None) };
        let links = match (choice.by, choice.system) {
            (LinkOrigin::Aligner, _) => {
                self.aligner.as_mut().map(|aligner| corpus.rules.aligned(aligner, source, text).likely)
            }
            (LinkOrigin::Hand, _) | (_, None) => {
                let gold = if corpus.golds.contains(&at) { workspace.gold(at)? } else { None };
                gold.map(|gold| gold.all().into_iter().map(|(link, _)| link).collect())
            }
            (by, Some(system)) => {
                let id = corpus.systems.get(system).map_or(0, |column| column.system.id);
                // A damaged one is told of where it is shown.
                let output = workspace.output(id, at).ok().flatten();
                let rule = if let LinkOrigin::Above(theta) = by { LinkRule::Above(theta) } else { LinkRule::Greatest };
                output.and_then(|output| links_of(&output, source, (rule, corpus.rules)))
            }
        };
        Ok(Some((corpus.rules.target.owned(text), links)))
    }
}

/// What is to be counted.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TallyOrder {
    /// Its number; what comes of it has it, too.
    pub number: u64,
    /// As typed; empty: all words.
    pub query: String,
    /// Kinds of links with their names; the others are compared with the first.
    pub kinds: Vec<(LinkChoice, String)>,
    pub each_word: bool,
    /// Words that are rarer are left out.
    pub least: usize,
    /// Parts of speech in place of source words.
    pub by_parts: bool,
    /// Weights of what systems say in place of links.
    pub weighs: bool,
    /// Parts of speech in place of the words of the texts.
    pub by_target: bool,
}

/// Kinds of links on their way through some sentences.
pub struct Tallying {
    order: TallyOrder,
    rows: Vec<u32>,
    next: usize,
    finder: LinkFinder,
    tally: LinkTally,
    weights: Option<WeightTally>,
}

impl Tallying {
    /// Starts counting; word lists of the query are in `folder`.
    pub fn new(
        order: TallyOrder, folder: &Path, rows: Vec<u32>, (aligner, rules): (Option<&AlignerChoice>, SideRules),
    ) -> Result<Self> {
        let query: Option<ConcordanceQuery> =
            (!order.query.trim().is_empty()).then(|| parsed(&order.query, folder)).transpose()?;
        let (kinds, names): (Vec<_>, Vec<_>) = order.kinds.iter().cloned().unzip();
        let weights = order.weighs.then(|| column::tally(&names, query.as_ref())).transpose()?;
        let (finder, tally) = (LinkFinder::new(&kinds, aligner, rules)?, LinkTally::new(names, query, order.each_word));
        Ok(Self { order, rows, next: 0, finder, tally, weights })
    }

    pub fn number(&self) -> u64 {
        self.order.number
    }

    pub fn share(&self) -> f32 {
        self.next as f32 / self.rows.len().max(1) as f32
    }

    /// Counts some more sentences that every kind has links of; returns the table at the end.
    pub fn step(&mut self, corpus: &CorpusTable, workspace: &Workspace, count: usize) -> Result<Option<CellTable>> {
        let end = (self.next + count).min(self.rows.len());
        for at in &self.rows[self.next..end] {
            if let Some(weights) = &mut self.weights {
                let systems = self.order.kinds.iter().map(|(choice, _)| choice.system);
                column::add(weights, systems, self.order.by_parts, (corpus, workspace), *at as usize);
                continue;
            }
            let mut texts = Vec::with_capacity(self.order.kinds.len());
            for (choice, _) in &self.order.kinds {
                let found = self.finder.find((corpus, workspace), *at as usize, *choice)?;
                let text = choice.text(corpus, *at as usize).unwrap_or_default();
                let parts = || workspace.target_parts(*at as usize, text);
                let named = |words| if self.order.by_target { parts() } else { Some(words) };
                texts.extend(found.and_then(|(words, links)| Some((named(words)?, links?, None))));
            }
            if texts.len() == self.order.kinds.len() {
                let text = corpus.sources.get(*at as usize).unwrap_or_default();
                let (source, keys) = if self.order.by_parts {
                    let Some(parts) = workspace.parts(*at as usize, text) else { continue };
                    (parts.clone(), parts)
                } else {
                    let own = corpus.rules.source.owned(text);
                    let small = own.iter().map(|word| word.to_lowercase()).collect();
                    (own, small)
                };
                self.tally.add(*at, TalliedSentence { keys: &keys, source: &source, texts: &texts });
            }
        }
        self.next = end;
        let table = || self.weights.as_ref().map_or_else(|| self.tally.table(self.order.least), WeightTally::table);
        Ok((end == self.rows.len()).then(table))
    }
}

const MOST: usize = 1_000_000;

/// The words of a file in small letters, without blank lines and `#` comments; relative paths begin at `folder`.
pub fn words(folder: &Path, name: &str) -> Result<HashSet<String>> {
    let path = folder.join(name);
    let mut words = HashSet::new();
    for (n, line) in LineReader::open(&path)?.held().enumerate() {
        let line = line?;
        let word = line.trim();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        if word.split_whitespace().count() > 1 {
            return Err(Error::line(&path, n + 1, format!("`{word}` is no single word; a list has one word a line")));
        }
        words.insert(folded(word));
        if words.len() > MOST {
            return Err(Error::file(&path, format!("has more than {MOST} words; take a shorter list")));
        }
    }
    if words.is_empty() {
        return Err(Error::file(&path, "has no words; write one a line"));
    }
    Ok(words)
}
