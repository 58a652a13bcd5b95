//! Alignments of a test set against gold links, by the alignment error rate (Och and Ney 2003) as Luong et al. (2015,
//! section 5.4) measure it, with its floor and its ceiling: a straight line and a statistical aligner.

use crate::overview::test_set::TestSet;
use engine::aligner::{learned::Directions, words::LineAligner};
use engine::analysis::{aer, row_convention::RowConvention};
use engine::error::{Error, Result};
use engine::evaluation::alignment::{Aligner, AlignerDirection, Extraction, WordPair};
use engine::models::transformer::heads::{HeadKind, HeadPlace};
use engine::{
    evaluation::system::EvaluatedSystem, models::transformer::sizes::TransformerSizes, text::links::Link,
    ticket::CancellationToken,
};

/// Hears after every batch how many sentences and words were aligned. It may wait, as while paused.
pub type AlignmentListener<'a> = dyn FnMut(usize, usize) + 'a;

/// How to measure alignments.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignmentOptions {
    pub thresholds: Vec<f32>,
    /// Pairs forced together, at least 1.
    pub batch: usize,
    /// Also by the word that was read, where training did not guide those rows.
    pub by_input: bool,
}

impl AlignmentOptions {
    fn extractions(&self, readings: &[RowConvention]) -> Vec<Extraction> {
        let rules = || std::iter::once(None).chain(self.thresholds.iter().copied().map(Some));
        let of = |&reading: &RowConvention| rules().map(move |threshold| Extraction { reading, threshold });
        readings.iter().flat_map(of).collect()
    }
}

impl Default for AlignmentOptions {
    fn default() -> Self {
        Self { thresholds: Vec::new(), batch: 16, by_input: false }
    }
}

/// How near some links come to the gold ones.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignmentErrorRow {
    pub direction: AlignerDirection,
    pub extraction: Option<Extraction>,
    /// What was counted; [`aer::AerCounts::rates`] has AER, precision and recall.
    pub counts: aer::AerCounts,
}

impl AlignmentErrorRow {
    fn of<'a>(direction: AlignerDirection, links: impl Iterator<Item = &'a Vec<Link>>, test_set: &TestSet) -> Self {
        Self { direction, extraction: None, counts: count(links, test_set) }
    }
}

/// What one model, or two of opposite directions, made of a gold set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlignmentErrorReport {
    pub reverse: Option<String>,
    pub rows: Vec<AlignmentErrorRow>,
    /// The links of each sentence, for the first row.
    pub links: Vec<Vec<Link>>,
}

/// Measures the alignments of a model, and of a reverse one if there is one, against the gold links of the test set.
/// [`Error::Stale`] as soon as the ticket is stale.
pub fn measure(
    mut forward: Aligner<'_>, reverse: Option<Aligner<'_>>, test_set: &TestSet, options: &AlignmentOptions,
    ticket: &CancellationToken, on_progress: &mut AlignmentListener<'_>,
) -> Result<AlignmentErrorReport> {
    let heads = [forward.has_head(), reverse.as_ref().is_some_and(Aligner::has_head)];
    // A row of alpha of the reverse model that has one reading alone is the same in both.
    let of_alpha = reverse.iter().map(Aligner::of_alpha).fold(forward.of_alpha(), |most, other| {
        if !most.is_empty() && other.len() > most.len() { other } else { most }
    });
    let head = heads.contains(&true).then_some(RowConvention::Head);
    let readings: Vec<RowConvention> = asked_for(of_alpha, options.by_input).chain(head).collect();
    let (extractions, batch) = (&options.extractions(&readings), options.batch);
    let pairs = read(forward.system, test_set, false)?;
    let there = forward.links(&pairs.iter().collect::<Vec<_>>(), extractions, batch, ticket, on_progress)?;
    let name = reverse.as_ref().map(|reverse| reverse.system.name());
    let mut report = AlignmentErrorReport { reverse: name, ..AlignmentErrorReport::default() };
    let back = match reverse {
        Some(mut reverse) => {
            let pairs = read(reverse.system, test_set, true)?;
            Some(turned(reverse.links(&pairs.iter().collect::<Vec<_>>(), extractions, batch, ticket, on_progress)?))
        }
        None => None,
    };
    let directions =
        AlignerDirection::all().filter(|direction| back.is_some() || *direction == AlignerDirection::Forward);
    for (index, &extraction) in extractions.iter().enumerate() {
        let has = |direction: &AlignerDirection| match direction {
            _ if extraction.reading != RowConvention::Head => true,
            AlignerDirection::Forward => heads[0],
            AlignerDirection::Reverse => heads[1],
            AlignerDirection::Both(_) | AlignerDirection::Likely => heads == [true; 2],
        };
        for direction in directions.clone().filter(has) {
            let back = |at: usize| back.as_ref().map_or_else(Vec::new, |back| back[at][index].clone());
            let both = |(at, there): (usize, &Vec<Vec<Link>>)| Directions {
                forward: there[index].clone(),
                reverse: back(at),
                ..Directions::default()
            };
            let links: Vec<Vec<Link>> = there.iter().enumerate().map(|pair| direction.of(both(pair))).collect();
            let row = AlignmentErrorRow::of(direction, links.iter(), test_set);
            report.rows.push(AlignmentErrorRow { extraction: Some(extraction), ..row });
            if report.links.is_empty() {
                report.links = links;
            }
        }
    }
    Ok(report)
}

/// The readings that are measured: that of words read is one only where training guided it or somebody asks.
fn asked_for(readings: &[RowConvention], by_input: bool) -> impl Iterator<Item = RowConvention> {
    let is_own = readings.first() == Some(&RowConvention::Input);
    readings.iter().copied().filter(move |reading| is_own || by_input || *reading != RowConvention::Input)
}

/// How near a head of a Transformer comes to some links.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadErrorRow {
    pub layer: usize,
    pub head: usize,
    pub reading: RowConvention,
    pub counts: aer::AerCounts,
}

/// Measures every head of a Transformer's cross-attention against links, as [`measure`] does alpha.
pub fn heads(
    mut aligner: Aligner<'_>, test_set: &TestSet, (batch, by_input): (usize, bool), ticket: &CancellationToken,
    on_progress: &mut AlignmentListener<'_>,
) -> Result<Vec<HeadErrorRow>> {
    let sizes = sizes_of(aligner.system)?;
    let pairs = read(aligner.system, test_set, false)?;
    let pairs: Vec<&WordPair> = pairs.iter().collect();
    let readings: Vec<RowConvention> = asked_for(aligner.of_alpha(), by_input).collect();
    let found = aligner.head_links(&pairs, &readings, batch, ticket, on_progress)?;
    let row = |((at, place), (n, reading)): ((usize, HeadPlace), (usize, &RowConvention))| {
        let links = found.iter().map(|heads| &heads[at][n]);
        HeadErrorRow { layer: place.layer, head: place.head, reading: *reading, counts: count(links, test_set) }
    };
    let places = sizes.places(HeadKind::Cross).enumerate();
    Ok(places.flat_map(|place| readings.iter().enumerate().map(move |reading| (place, reading))).map(row).collect())
}

fn sizes_of(system: EvaluatedSystem<'_>) -> Result<TransformerSizes> {
    let none = || Error::Input(format!("{} has no heads to compare; choose a Transformer", system.name()));
    system.lead().config.transformer().cloned().ok_or_else(none)
}

/// The effect of leaving out each head of a Transformer: mean Jensen-Shannon divergence over target words, nats, greatest first.
pub fn heads_left_out(
    aligner: &mut Aligner<'_>, test_set: &TestSet, ticket: &CancellationToken, on_progress: &mut AlignmentListener<'_>,
) -> Result<Vec<(HeadPlace, f64)>> {
    let sizes = sizes_of(aligner.system)?;
    let pairs = read(aligner.system, test_set, false)?;
    let pairs: Vec<&WordPair> = pairs.iter().collect();
    let places: Vec<HeadPlace> = HeadKind::ALL.into_iter().flat_map(|kind| sizes.places(kind)).collect();
    let found = aligner.heads_left_out(&pairs, &places, ticket, &mut |words| on_progress(1, words))?;
    let mut all: Vec<(HeadPlace, f64)> = places.into_iter().zip(found).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(all)
}

fn read(system: EvaluatedSystem<'_>, test_set: &TestSet, turned: bool) -> Result<Vec<WordPair>> {
    let pairs = test_set.pairs.iter().enumerate();
    pairs
        .map(|(number, pair)| {
            let (source, reference) = (pair.source.as_str(), pair.first());
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

fn turned(links: Vec<Vec<Vec<Link>>>) -> Vec<Vec<Vec<Link>>> {
    let turn = |links: Vec<Link>| links.into_iter().map(Link::turned).collect();
    links.into_iter().map(|lists| lists.into_iter().map(turn).collect()).collect()
}

/// What no model is needed for, measured beside the models: the floor and the ceiling of their error rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    pub name: &'static str,
    pub rows: Vec<AlignmentErrorRow>,
}

/// The diagonal, and the links of a statistical aligner where there is one, against links by hand.
pub fn baselines(test_set: &TestSet, aligner: Option<&mut LineAligner>) -> Vec<Baseline> {
    let lines: Vec<_> = test_set.lengths().into_iter().map(|(t_x, t_y)| diagonal(t_x, t_y)).collect();
    let row = AlignmentErrorRow::of(AlignerDirection::Forward, lines.iter(), test_set);
    let mut baselines = vec![Baseline { name: "diagonal", rows: vec![row] }];
    if let Some(aligner) = aligner {
        let pairs = test_set.pairs.iter();
        let found: Vec<Directions> = pairs.map(|pair| aligner.lines(&pair.source, pair.first())).collect();
        let row = |direction: AlignerDirection| {
            let links = found.iter().map(|found| direction.of(found.clone()));
            AlignmentErrorRow::of(direction, links.collect::<Vec<_>>().iter(), test_set)
        };
        baselines.push(Baseline { name: "statistical", rows: AlignerDirection::of_aligner().map(row).collect() });
    }
    baselines
}

/// A straight line: target word i with the source word j in which (i + 1/2) T_x / T_y lies.
pub fn diagonal(t_x: usize, t_y: usize) -> Vec<Link> {
    let rows = if t_x == 0 { 0 } else { t_y };
    (0..rows).map(|target| Link { source: (2 * target + 1) * t_x / (2 * t_y), target }).collect()
}

fn count<'a>(links: impl Iterator<Item = &'a Vec<Link>>, test_set: &TestSet) -> aer::AerCounts {
    let golds = test_set.pairs.iter().map(|pair| pair.gold.as_ref());
    links.zip(golds).filter_map(|(links, gold)| Some(aer::AerCounts::of(links, gold?))).sum()
}
