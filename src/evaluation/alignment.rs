//! Floor 6: the words that a model aligns in given pairs, and the alignment error rate (Och and Ney 2003) against
//! gold links, as Luong et al. (2015, section 5.4) measure it: the reference is forced, and each target word gets
//! the one source word of greatest alpha.
//!
//! Words are what stands between the spaces of a line, as alignment files count them; alpha over a model's own
//! tokens becomes alpha over words ([`pooled`]). The row and the column of `</s>` are left out: a target word that
//! looks mostly at `</s>` is linked to the word that it looks at most.

use std::ops::Range;

use crate::aligner::learned::Directions;
use crate::aligner::words::LineAligner;
use crate::analysis::alignment::Alignment;
use crate::analysis::correlation::kendall;
use crate::analysis::pooled::pooled;
use crate::analysis::reading::Reading;
use crate::analysis::symmetrize::{SYMMETRIZATIONS, Symmetrization};
use crate::analysis::{aer, hard};
use crate::decoding;
use crate::decoding::importance::{ATTENTION, Importance, Matrix, Subject, shares};
use crate::error::{Error, Result};
use crate::evaluation::rows::Rows;
use crate::evaluation::{Pair, Progress, Stage, System, TestSet};
use crate::models::config::Config;
use crate::models::gradient::Smoothing;
use crate::models::{Model, Stepper};
use crate::text::line;
use crate::text::links::{Link, Links, places};
use crate::text::sentence::Sentence;
use crate::text::tokenizer::Encode;
use crate::ticket::Ticket;

/// One side of a pair.
struct Side {
    sentence: Sentence,
    /// For each token the words that it belongs to.
    places: Vec<Range<usize>>,
    /// Words between spaces.
    words: usize,
}

/// A pair of lines as a model reads it, with the places of its tokens among the words of the lines.
pub struct WordPair {
    source: Side,
    target: Side,
}

/// Why a model does not read a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The target line is at fault, not the source line.
    pub target: bool,
    /// The rest of a sentence that begins with the name of the line.
    pub why: String,
}

impl WordPair {
    /// Tokenises a pair for a model or an ensemble.
    pub fn read<'a>(
        system: impl Into<System<'a>>,
        (source, target): (&str, &str),
        pretokenized: bool,
    ) -> std::result::Result<Self, Refused> {
        let system = system.into();
        let side = |tokenizer: &dyn Encode, text: &str, is_target| {
            let refuse = |why| Refused { target: is_target, why };
            let sentence = line::read(tokenizer, text, pretokenized).map_err(refuse)?;
            let places = places::places(&sentence, text)
                .ok_or_else(|| refuse("is changed by the tokenizer beyond its spaces; give it tokenised".to_owned()))?;
            Ok(Side { sentence, places, words: places::words(text).count() })
        };
        let (source, target) = (side(system.source(), source, false)?, side(&system.lead().target, target, true)?);
        if source.sentence.is_empty() {
            return Err(Refused { target: false, why: line::NO_WORDS.to_owned() });
        }
        Ok(Self { source, target })
    }

    /// The tokens of both sides, `</s>` included.
    pub fn tokens(&self) -> (&[String], &[String]) {
        (&self.source.sentence.tokens, &self.target.sentence.tokens)
    }

    /// The links of a forced target; `alpha` has a row for each token of the target and perhaps for steps after it.
    fn links(&self, alpha: &[Vec<f32>], extraction: Extraction, delay: usize) -> Vec<Link> {
        let alpha = extraction.reading.assign_after(delay, alpha);
        let tokens = Alignment::from_rows(&alpha).words(self.target.sentence.words(), self.source.sentence.words());
        let source = (self.source.places.as_slice(), self.source.words);
        let words = pooled(&tokens, source, (self.target.places.as_slice(), self.target.words));
        extraction.threshold.map_or_else(|| hard::links(&words), |theta| hard::links_above(&words, theta))
    }
}

/// How links are read off alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extraction {
    /// Which word a row of alpha belongs to.
    pub reading: Reading,
    /// All source words with an alpha of at least this; `None`: the one of greatest alpha.
    pub threshold: Option<f32>,
}

/// The readings that the rows of a model's alpha have: both where a later row has read the word
/// ([`Config::input_delay`]), else the usual one alone; none without an alignment.
pub fn readings(config: &Config) -> &'static [Reading] {
    readings_with(config.aligns(), config.input_delay(), Reading::default())
}

/// That of the model's own first.
fn readings_with(aligns: bool, input_delay: Option<usize>, own: Reading) -> &'static [Reading] {
    match input_delay {
        _ if !aligns => &[],
        Some(_) if own == Reading::Input => &[Reading::Input, Reading::Predicted],
        Some(_) => &[Reading::Predicted, Reading::Input],
        None => &[Reading::Predicted],
    }
}

/// What matters in a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Important {
    /// Between the words of the lines.
    pub links: Vec<Link>,
    /// A row for each token of the target, `</s>` included, a column for each of the source.
    pub matrix: Matrix,
    /// Kendall's tau of each row with that of alpha, where the model has one and neither is all ties.
    pub ranks: Vec<f64>,
}

/// A model or an ensemble and what runs it.
pub struct Aligner<'a> {
    /// It.
    pub system: System<'a>,
    /// Its stepper.
    pub stepper: &'a mut dyn Stepper,
}

impl Aligner<'_> {
    /// The links of some pairs, for each pair one list for each extraction; a reading that the model's rows do not
    /// have gives way to the usual one. `done` hears the sentences and words of
    /// every batch.
    ///
    /// # Errors
    /// [`Error::Stale`] as soon as the ticket is stale; a model without an alignment; what forced decoding refuses.
    pub fn links(
        &mut self,
        pairs: &[&WordPair],
        extractions: &[Extraction],
        batch: usize,
        ticket: &Ticket,
        done: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Vec<Vec<Link>>>> {
        self.require_alignment()?;
        let possible = self.readings();
        let eos = self.system.specials().eos;
        let delay = self.system.input_delay().unwrap_or_default();
        // Where a word has its row only after the next step but one, the last word needs a step after `</s>`.
        let reads = extractions.iter().any(|extraction| extraction.reading == Reading::Input);
        let more = if reads { delay.saturating_sub(1) } else { 0 };
        let targets: Vec<Vec<u32>> = pairs
            .iter()
            .map(|pair| pair.target.sentence.ids.iter().copied().chain(std::iter::repeat_n(eos, more)).collect())
            .collect();
        let sources = pairs.iter().map(|pair| &pair.source.sentence.ids[..]);
        let ids: Vec<(&[u32], &[u32])> = sources.zip(targets.iter().map(Vec::as_slice)).collect();
        let mut links = vec![Vec::new(); pairs.len()];
        decoding::force_all(self.stepper, &ids, batch, ticket, &mut |indexes, forced| {
            for (&index, forced) in indexes.iter().zip(forced) {
                let alpha = forced.alpha.unwrap_or_default();
                let read = |extraction: &Extraction| {
                    let reading =
                        if possible.contains(&extraction.reading) { extraction.reading } else { Reading::default() };
                    pairs[index].links(&alpha, Extraction { reading, ..*extraction }, delay)
                };
                links[index] = extractions.iter().map(read).collect();
            }
            done(indexes.len(), indexes.iter().map(|&index| ids[index].1.len()).sum());
            Ok(())
        })?;
        Ok(links)
    }

    /// What matters in some pairs, by any definition; gradients are averaged over so many samples. `done` hears the words of every pair.
    ///
    /// # Errors
    /// [`Error::Stale`] as soon as the ticket is stale; an ensemble; what [`Importance::measure`] refuses.
    pub fn important_links(
        &mut self,
        (importance, samples): (&Importance, usize),
        pairs: &[&WordPair],
        threshold: Option<f32>,
        ticket: &Ticket,
        done: &mut dyn FnMut(usize),
    ) -> Result<Vec<Important>> {
        let System::Model(model) = self.system else {
            let name = self.system.name();
            return Err(Error::Input(format!("{name} is an ensemble; measure {} in one model", importance.name)));
        };
        importance.check(model)?;
        let mut subject = Subject::new(model, self.stepper);
        subject.smoothing = Smoothing::of(samples);
        let mut links = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let ids = (pair.source.sentence.ids.as_slice(), pair.target.sentence.ids.as_slice());
            // alpha belongs to words as the model was trained; everything else is measured of the word that is predicted
            let matrix = if importance.name == ATTENTION {
                own_rows(model, subject.stepper(), ids, ticket)?
            } else {
                importance.measure(&mut subject, ids, ticket)?
            };
            let rows = subject.model().config.aligns().then(|| decoding::force(subject.stepper(), &[ids], ticket));
            let alpha = rows.transpose()?.and_then(|forced| forced.into_iter().next()?.alpha).unwrap_or_default();
            let ranks = alpha.iter().zip(&matrix).filter_map(|(alpha, row)| kendall(alpha, row)).collect();
            let extraction = Extraction { threshold, ..Extraction::default() };
            links.push(Important { links: pair.links(&shares(&matrix), extraction, 0), matrix, ranks });
            done(ids.1.len());
        }
        Ok(links)
    }

    /// Refuses a model that has no alignment.
    pub fn require_alignment(&self) -> Result<()> {
        if self.system.aligns() {
            return Ok(());
        }
        let (name, architecture) = (self.system.name(), self.system.architecture());
        Err(Error::Input(format!("{name} ({architecture}) has no alignment; choose a model that has one")))
    }

    fn readings(&self) -> &'static [Reading] {
        readings_with(self.system.aligns(), self.system.input_delay(), Rows::own(self.system).reading)
    }
}

/// alpha of a pair by the words that its rows belong to.
fn own_rows(
    model: &Model,
    stepper: &mut dyn Stepper,
    pair: (&[u32], &[u32]),
    ticket: &Ticket,
) -> Result<Vec<Vec<f32>>> {
    let mut alpha = Vec::new();
    let rows = Rows::own(model.into());
    rows.force_all(stepper, &[pair], 1, ticket, &mut |_, forced| {
        alpha.extend(forced.into_iter().filter_map(|forced| forced.alpha).flatten());
        Ok(())
    })?;
    Ok(alpha)
}

/// How to measure alignments.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignmentOptions {
    /// Beside the source word of greatest alpha, all those with an alpha of at least one of these.
    pub thresholds: Vec<f32>,
    /// Pairs forced together, at least 1.
    pub batch: usize,
}

impl AlignmentOptions {
    /// Every way in which links are read off alpha, by reading; the first is the main one.
    fn extractions(&self, readings: &[Reading]) -> Vec<Extraction> {
        let rules = || std::iter::once(None).chain(self.thresholds.iter().copied().map(Some));
        let of = |&reading: &Reading| rules().map(move |threshold| Extraction { reading, threshold });
        readings.iter().flat_map(of).collect()
    }
}

impl Default for AlignmentOptions {
    fn default() -> Self {
        Self { thresholds: Vec::new(), batch: 16 }
    }
}

/// Which links.
#[derive(Clone, Copy, Debug)]
pub enum Direction {
    /// Those of the model.
    Forward,
    /// Those of the model of the other direction, turned.
    Reverse,
    /// Both put together.
    Both(&'static Symmetrization),
}

impl Direction {
    /// Its name: `forward`, `reverse`, or that of the symmetrization.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::Both(symmetrization) => symmetrization.name,
        }
    }

    /// The links of this direction out of those of the model and the turned ones of the model of the other direction.
    pub fn of(&self, there: Vec<Link>, back: &[Link]) -> Vec<Link> {
        match self {
            Self::Forward => there,
            Self::Reverse => back.to_vec(),
            Self::Both(symmetrization) => (symmetrization.combine)(&there, back),
        }
    }
}

/// How near some links come to the gold ones.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which links.
    pub direction: Direction,
    /// How they were read off alpha.
    pub extraction: Extraction,
    /// What was counted; [`aer::Counts::rates`] has AER, precision and recall.
    pub counts: aer::Counts,
}

/// What one model, or two of opposite directions, made of a gold set.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model's name.
    pub name: String,
    /// That of the reverse model.
    pub reverse: Option<String>,
    /// Of all sentences.
    pub rows: Vec<Row>,
    /// Of each sentence, for the first row.
    pub sentences: Vec<aer::Counts>,
    /// The links of each sentence, for the first row.
    pub links: Vec<Vec<Link>>,
}

/// Measures the alignments of a model, and of a reverse one where there is one, against gold links: those of the test
/// set's pairs with their first references.
///
/// # Errors
/// [`Error::Stale`] as soon as the ticket is stale; a model without an alignment; a line that a model cannot read,
/// named; another number of gold sentences than pairs; what forced decoding refuses.
pub fn measure(
    mut forward: Aligner<'_>,
    reverse: Option<Aligner<'_>>,
    (test_set, gold): (&TestSet, &[Links]),
    options: &AlignmentOptions,
    ticket: &Ticket,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    if gold.len() != test_set.len() {
        let message = format!("has {} sentences, but the gold alignment has {}", test_set.len(), gold.len());
        return Err(Error::file(&test_set.source, message));
    }
    let total = test_set.len() * (1 + usize::from(reverse.is_some()));
    let mut done = 0;
    let mut tell = |sentences, words| {
        done += sentences;
        progress(Progress { stage: Stage::Aligning, sentences, words, done, total });
    };
    // A row of the reverse model that has one reading alone is the same in both.
    let readings = reverse
        .iter()
        .map(Aligner::readings)
        .fold(forward.readings(), |most, other| if other.len() > most.len() { other } else { most });
    let (extractions, batch) = (&options.extractions(readings), options.batch);
    let pairs = read(forward.system, test_set, false)?;
    let there = forward.links(&pairs.iter().collect::<Vec<_>>(), extractions, batch, ticket, &mut tell)?;
    let mut report = Report {
        name: forward.system.name(),
        reverse: reverse.as_ref().map(|reverse| reverse.system.name()),
        rows: Vec::new(),
        sentences: Vec::new(),
        links: Vec::new(),
    };
    let back = match reverse {
        Some(mut reverse) => {
            let pairs = read(reverse.system, test_set, true)?;
            Some(turned(reverse.links(&pairs.iter().collect::<Vec<_>>(), extractions, batch, ticket, &mut tell)?))
        }
        None => None,
    };
    for (index, &extraction) in extractions.iter().enumerate() {
        for (direction, links) in directions(&there, back.as_deref(), index) {
            let counts: Vec<aer::Counts> =
                links.iter().zip(gold).map(|(links, gold)| aer::Counts::of(links, gold)).collect();
            report.rows.push(Row { direction, extraction, counts: counts.iter().sum() });
            if report.sentences.is_empty() {
                (report.sentences, report.links) = (counts, links);
            }
        }
    }
    Ok(report)
}

/// What the links of a model are by another definition of what matters than alpha.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportanceRow {
    /// Its name.
    pub name: &'static str,
    /// What was counted against the gold links.
    pub counts: aer::Counts,
    /// The mean of Kendall's tau with alpha over the target words; `None` where the model has none.
    pub kendall: Option<f64>,
}

/// Measures other definitions of what matters against gold links, as [`measure`] does alpha.
///
/// # Errors
/// As there; a model without the alignment that a definition needs.
pub fn importances(
    aligner: &mut Aligner<'_>,
    (test_set, gold): (&TestSet, &[Links]),
    (definitions, samples): (&[&'static Importance], usize),
    ticket: &Ticket,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<ImportanceRow>> {
    let pairs = read(aligner.system, test_set, false)?;
    let pairs: Vec<&WordPair> = pairs.iter().collect();
    let (mut done, total) = (0, pairs.len() * definitions.len());
    let mut row = |definition: &&'static Importance| {
        let found = aligner.important_links((definition, samples), &pairs, None, ticket, &mut |words| {
            done += 1;
            progress(Progress { stage: Stage::Aligning, sentences: 1, words, done, total });
        })?;
        let ranks: Vec<f64> = found.iter().flat_map(|found| found.ranks.iter().copied()).collect();
        let kendall = (!ranks.is_empty()).then(|| ranks.iter().sum::<f64>() / ranks.len() as f64);
        let counts = count(found.into_iter().map(|found| found.links), gold);
        Ok(ImportanceRow { name: definition.name, counts, kendall })
    };
    definitions.iter().map(&mut row).collect()
}

/// The pairs of a test set, for a model of the other direction where they are `turned`.
fn read(system: System<'_>, test_set: &TestSet, turned: bool) -> Result<Vec<WordPair>> {
    let pairs = test_set.pairs.iter().enumerate();
    pairs
        .map(|(number, pair)| {
            let (source, reference) = (pair.source.as_ref(), pair.references.first().map_or("", AsRef::as_ref));
            let lines = if turned { (reference, source) } else { (source, reference) };
            WordPair::read(system, lines, test_set.pretokenized).map_err(|refused| {
                let path = match test_set.references.first() {
                    Some(reference) if refused.target != turned => reference,
                    _ => &test_set.source,
                };
                Error::line(path, number + 1, refused.why)
            })
        })
        .collect()
}

/// Links of a model of the other direction, as those of this one.
fn turned(links: Vec<Vec<Vec<Link>>>) -> Vec<Vec<Vec<Link>>> {
    let turn = |links: Vec<Link>| links.into_iter().map(Link::turned).collect();
    links.into_iter().map(|lists| lists.into_iter().map(turn).collect()).collect()
}

/// The links of every direction that there is, of one extraction.
fn directions(
    there: &[Vec<Vec<Link>>],
    back: Option<&[Vec<Vec<Link>>]>,
    extraction: usize,
) -> Vec<(Direction, Vec<Vec<Link>>)> {
    let of = |links: &[Vec<Vec<Link>>]| links.iter().map(|lists| lists[extraction].clone()).collect::<Vec<_>>();
    let forward = of(there);
    let Some(reverse) = back.map(of) else { return vec![(Direction::Forward, forward)] };
    let both = |way: &'static Symmetrization| {
        let links = forward.iter().zip(&reverse).map(|(there, back)| (way.combine)(there, back)).collect();
        (Direction::Both(way), links)
    };
    let combined: Vec<_> = SYMMETRIZATIONS.iter().map(both).collect();
    [(Direction::Forward, forward), (Direction::Reverse, reverse)].into_iter().chain(combined).collect()
}

/// What no model is needed for, measured beside the models: the floor and the ceiling of their error rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// `diagonal` or `statistical`.
    pub name: &'static str,
    /// By name of the direction, what was counted.
    pub rows: Vec<(&'static str, aer::Counts)>,
}

/// The diagonal, and the links of a statistical aligner where there is one, against gold links.
pub fn baselines(test_set: &TestSet, gold: &[Links], aligner: Option<&mut LineAligner>) -> Vec<Baseline> {
    let text = |pair: &Pair| (pair.source.clone(), pair.references.first().cloned().unwrap_or_default());
    let pairs: Vec<_> = test_set.pairs.iter().map(text).collect();
    let lines =
        pairs.iter().map(|(source, target)| diagonal(places::words(source).count(), places::words(target).count()));
    let mut baselines =
        vec![Baseline { name: "diagonal", rows: vec![(Direction::Forward.name(), count(lines, gold))] }];
    if let Some(aligner) = aligner {
        let found: Vec<Directions> = pairs.iter().map(|(source, target)| aligner.lines(source, target)).collect();
        let both = SYMMETRIZATIONS.iter().map(Direction::Both);
        let row = |direction: Direction| {
            let links = found.iter().map(|found| direction.of(found.forward.clone(), &found.reverse));
            (direction.name(), count(links, gold))
        };
        let rows = [Direction::Forward, Direction::Reverse].into_iter().chain(both).map(row).collect();
        baselines.push(Baseline { name: "statistical", rows });
    }
    baselines
}

/// A straight line: target word i with the source word j in which (i + 1/2) T_x / T_y lies.
pub fn diagonal(t_x: usize, t_y: usize) -> Vec<Link> {
    let rows = if t_x == 0 { 0 } else { t_y };
    (0..rows).map(|target| Link { source: (2 * target + 1) * t_x / (2 * t_y), target }).collect()
}

fn count(links: impl Iterator<Item = Vec<Link>>, gold: &[Links]) -> aer::Counts {
    links.zip(gold).map(|(links, gold)| aer::Counts::of(&links, gold)).collect::<Vec<_>>().iter().sum()
}
