//! `interlinear evaluate`: the figures of a corpus whose systems were measured as they ran: each model is first the system
//! that was forced through the references, then one for each kind of translation.

use std::path::PathBuf;

use crate::evaluate::arguments::Unks;
use corpus::measures::paired::{ComparedSample, SystemTests};
use corpus::measures::scores::{ByLength, SystemScores};
use corpus::measures::{aggregate, scores::OverviewGroup};
use corpus::overview::gold::{AlignmentErrorReport, Baseline};
use corpus::overview::test_set::TestSet;
use corpus::store::{corpus::CorpusTable, file::Workspace};
use engine::analysis::bootstrap::{Paired, PairedTests};
use engine::decoding::{SearchOptions, ensemble::Mixing};
use engine::{analysis::buckets::Buckets, error::Result};

/// What only the run of a model, or an ensemble, knew.
#[derive(Debug, Default)]
pub struct MeasuredModel {
    pub name: String,
    pub architecture: &'static str,
    /// Where it lies; of an ensemble the folders of its members with ` + ` between.
    pub folder: PathBuf,
    /// How its members become one, where it is an ensemble.
    pub mixing: Option<Mixing>,
    /// Unknown words of the output were replaced by those for the source words that they are aligned with.
    pub replaced: bool,
    /// Seconds spent translating, with the sentences and words that came.
    pub seconds: f64,
    pub sentences: usize,
    pub words: usize,
    pub device: String,
    pub threads: usize,
    /// Of each sentence whether the source, and a reference, holds a word that it does not know.
    pub unknown: Vec<[bool; 2]>,
    /// How near its alignments come to the links by hand.
    pub alignment: Option<AlignmentErrorReport>,
}

impl MeasuredModel {
    /// So many of something in the time spent translating.
    pub fn per_second(&self, count: usize) -> f64 {
        count as f64 / self.seconds.max(1e-9)
    }
}

/// Whether one model is better than another.
pub struct Against {
    pub pair: (usize, usize),
    pub unk: &'static str,
    /// By each score over the same resamples.
    pub by: Vec<(&'static str, Paired)>,
}

/// The scores of all models for some sentences and translations.
pub struct EvaluatedScores {
    /// Which sentences: `all`, or `without UNK`.
    pub set: &'static str,
    pub unk: &'static str,
    /// Of any length, then by words of the source, where there is more than one bucket.
    pub groups: Vec<OverviewGroup>,
}

/// What a kind of translations is called, as to `[UNK]`.
pub fn unk_name(is_forbidden: bool) -> &'static str {
    if is_forbidden { "forbidden" } else { "allowed" }
}

/// The name of a group of sentences.
pub fn length(group: &OverviewGroup) -> &str {
    group.bucket.as_ref().map_or("all", |bucket| &bucket.name)
}

/// A corpus and its figures.
pub struct Evaluated {
    /// On what; with links by hand where there are any.
    pub test_set: TestSet,
    pub workspace: Workspace,
    pub corpus: CorpusTable,
    pub search: SearchOptions,
    pub batch: usize,
    pub unk: Unks,
    pub models: Vec<MeasuredModel>,
    /// Of each system of the corpus, sentence by sentence.
    pub counts: Vec<Vec<SystemScores>>,
    pub scores: Vec<EvaluatedScores>,
    pub comparisons: Vec<Against>,
    /// The file of the links by hand and how it was read, where there is one.
    pub gold: Option<(PathBuf, String)>,
    /// Alignments that need no model, against these.
    pub baselines: Vec<Baseline>,
}

impl Evaluated {
    /// What models made of a test set, in sum and by length; nothing is compared yet.
    pub fn of(
        (test_set, workspace): (TestSet, Workspace), (search, batch, unk): (SearchOptions, usize, Unks),
        models: Vec<MeasuredModel>, buckets: &Buckets,
    ) -> Result<Self> {
        let corpus = CorpusTable::read(&workspace)?;
        let of = |system, at| aggregate::sentence(&corpus, system, at).unwrap_or_default();
        let counts = |system| (0..corpus.len()).map(|at| of(system, at)).collect();
        let counts = (0..corpus.systems.len()).map(counts).collect();
        let mut evaluated = Self {
            test_set,
            workspace,
            corpus,
            search,
            batch,
            unk,
            models,
            counts,
            scores: Vec::new(),
            comparisons: Vec::new(),
            gold: None,
            baselines: Vec::new(),
        };
        evaluated.scores = evaluated.scores(buckets);
        Ok(evaluated)
    }

    /// The place of a model among the systems of the corpus, forced through the references.
    pub fn forced(&self, model: usize) -> usize {
        model * (1 + self.unk.len())
    }

    fn sums(&self, model: usize, kind: usize, at: usize) -> SystemScores {
        let forced = self.counts[self.forced(model)][at];
        if self.unk.is_empty() {
            return forced;
        }
        let SystemScores { compared, counts, .. } = self.counts[self.forced(model) + 1 + kind][at];
        SystemScores { compared, counts, ..forced }
    }

    fn scores(&self, buckets: &Buckets) -> Vec<EvaluatedScores> {
        let lengths = self.test_set.lengths();
        let is_known = |at: &usize| self.models.iter().all(|model| model.unknown[*at] == [false; 2]);
        let all: Vec<usize> = (0..lengths.len()).collect();
        let known: Vec<usize> = all.iter().copied().filter(is_known).collect();
        let mut scores = Vec::new();
        for (set, rows) in [("all", &all), ("without UNK", &known)] {
            for (kind, &unk) in (if self.unk.is_empty() { &[false] } else { self.unk }).iter().enumerate() {
                let sums = |model| {
                    let mut sums = ByLength::new(buckets);
                    for &at in rows {
                        sums.add(buckets.bucket(lengths[at].0), &self.sums(model, kind, at));
                    }
                    sums
                };
                let models: Vec<ByLength> = (0..self.models.len()).map(sums).collect();
                let mut groups = OverviewGroup::all(buckets, &models[0], &models);
                // One bucket alone would say the same again.
                groups.truncate(if buckets.all().len() > 1 { groups.len() } else { 1 });
                scores.push(EvaluatedScores { set, unk: unk_name(unk), groups });
            }
        }
        scores
    }

    /// Compares pairs of models by their translations of all sentences, by paired tests, for each kind of translation, and corrects
    /// their p by each score for each other. The same seed gives the same answer.
    pub fn compare(&mut self, pairs: &[(usize, usize)], tests: PairedTests) {
        for (kind, &unk) in self.unk.iter().enumerate() {
            let mut sample = ComparedSample::new(self.corpus.len(), tests.seed);
            for at in 0..self.corpus.len() {
                let counts = |model| Some(self.sums(model, kind, at).counts);
                sample.add(&(0..self.models.len()).map(counts).collect::<Vec<_>>());
            }
            let mut running = SystemTests::new(pairs.to_vec(), tests);
            running.compare(&sample);
            while running.step() {}
            let tested = running.finish();
            let by = |n: usize| tested.iter().map(|tested| (tested.name, tested.pairs[n].1)).collect();
            let pairs = tested.first().map_or(&[][..], |tested| &tested.pairs).iter().enumerate();
            let against = pairs.map(|(n, (pair, _))| Against { pair: *pair, unk: unk_name(unk), by: by(n) });
            self.comparisons.extend(against);
        }
    }

    /// How BLEU, chrF2 and TER were computed, in sacreBLEU's notation.
    pub fn signatures(&self) -> [String; 3] {
        aggregate::signatures(&self.corpus, &(0..self.corpus.len() as u32).collect::<Vec<_>>())
    }

    /// Why -log p of the models is not of the same words, as a sentence: some read `[UNK]` where others read the word.
    pub fn incomparable(&self) -> Option<String> {
        let reads = |model: &MeasuredModel| model.unknown.iter().filter(|[_, reference]| *reference).count();
        let counts: Vec<usize> = self.models.iter().map(reads).collect();
        if counts.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let counts = self.models.iter().zip(counts).map(|(model, count)| format!("{} {count}", model.name));
        Some(format!(
            "Sentences whose reference has a word that is read as [UNK]: {}. -log p and perplexity of all sentences are \
             not comparable between these models; those of known words are.",
            counts.collect::<Vec<_>>().join(", ")
        ))
    }
}
