//! Floor 7: what systems made of a corpus that is not saved, sentence by sentence and in sum.

use std::path::PathBuf;

use crate::analysis::bleu::{BleuSettings, Tokenization};
use crate::analysis::bootstrap::{Paired, PairedTests};
use crate::analysis::buckets::Buckets;
use crate::corpus::measures::paired::{ComparedSample, SystemTests};
use crate::corpus::measures::scores;
use crate::corpus::measures::scores::{ByLength, ComparedScores, SystemScores};
use crate::corpus::overview::compute::OverviewGroup;
use crate::corpus::overview::gold::{AlignmentErrorReport, Baseline};
use crate::corpus::overview::test_set::{EvaluationOptions, Set, TestSet, Unk};
use crate::corpus::store::read::compared;
use crate::corpus::store::write::NewSentence;
use crate::decoding::SearchOptions;
use crate::decoding::ensemble::Mixing;
use crate::error::Result;

/// A translation and its scores against the references.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// As it is compared: normal text, or words split by spaces where the test set is.
    pub text: String,
    /// Words produced, `</s>` counted.
    pub words: usize,
    /// Holds `[UNK]`, or did before it was replaced.
    pub has_unk: bool,
    /// What corpus BLEU and chrF2 add up.
    pub counts: ComparedScores,
}

/// What a model made of a sentence of the test set.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRecord {
    /// Tokens of the model in the first reference, `</s>` counted.
    pub tokens: usize,
    /// -log p of the first reference, in nats.
    pub nll: f64,
    /// The source holds a word that the model does not know.
    pub source_unk: bool,
    /// A reference does.
    pub reference_unk: bool,
    /// One for each of [`Evaluated::unk`], in that order.
    pub translations: Vec<Translation>,
}

impl EvaluationRecord {
    /// What it adds to the scores, with the translation of this index; the reference has so many words.
    fn sums(&self, index: usize, words: usize) -> SystemScores {
        let counts = self.translations.get(index).map(|translation| translation.counts);
        SystemScores { words: words + 1, tokens: self.tokens, nll: self.nll, ..SystemScores::of(counts) }
    }
}

/// What one model, or an ensemble, made of a test set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredSystem {
    pub name: String,
    /// Its architecture, or `ensemble`.
    pub architecture: &'static str,
    /// Where it lies; of an ensemble the folders of its members with ` + ` between.
    pub folder: PathBuf,
    /// How its members become one, where it is an ensemble.
    pub mixing: Option<Mixing>,
    /// Unknown words of the output were replaced by those for the source words that they are aligned with.
    pub replaced: bool,
    /// Time spent translating; `None` without a clock.
    pub seconds: Option<f64>,
    pub sentences_per_second: Option<f64>,
    pub words_per_second: Option<f64>,
    /// Sentence by sentence, in the order of the test set.
    pub records: Vec<EvaluationRecord>,
    /// How near its alignments come to the gold ones; `None` without any, or why not, as a sentence.
    pub alignment: Option<std::result::Result<AlignmentErrorReport, String>>,
    pub device: String,
    /// On so many threads.
    pub threads: usize,
}

impl MeasuredSystem {
    /// Its alignments, where they were measured.
    pub fn aligned(&self) -> Option<&AlignmentErrorReport> {
        self.alignment.as_ref()?.as_ref().ok()
    }
}

/// Two systems, by each score over the same resamples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    pub bleu: Paired,
    /// By chrF2.
    pub chrf: Paired,
    pub ter: Paired,
}

impl Comparison {
    /// Each score by its name.
    pub fn named(&self) -> [(&'static str, &Paired); 3] {
        [("BLEU", &self.bleu), ("chrF2", &self.chrf), ("TER", &self.ter)]
    }
}

/// Whether one system is better than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The two, by their positions.
    pub pair: (usize, usize),
    /// Which translations.
    pub unk: Unk,
    /// By paired tests.
    pub by: Comparison,
}

/// The scores of all systems for some sentences and translations.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedScores {
    /// Which sentences.
    pub set: Set,
    /// Which translations; `Allowed` where none were made.
    pub unk: Unk,
    /// Of any length. Forbidding `[UNK]` does not change the NLL.
    pub all: OverviewGroup,
    /// By words of the source; none where there is one bucket alone, which would say the same again.
    pub lengths: Vec<OverviewGroup>,
}

impl EvaluatedScores {
    /// The scores of a system by length, `all` or the name of the bucket.
    pub fn of(&self, system: usize) -> impl Iterator<Item = (&str, &SystemScores)> {
        let groups = std::iter::once(&self.all).chain(&self.lengths);
        groups.filter_map(move |group| {
            Some((group.bucket.as_ref().map_or("all", |bucket| &bucket.name), group.scores.get(system)?))
        })
    }
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// On what; with links by hand where there are any.
    pub test_set: TestSet,
    /// How it was searched; `forbid_unk` as in `unk`.
    pub search: SearchOptions,
    /// Sentences decoded together.
    pub batch: usize,
    /// How BLEU cuts text into words.
    pub tokenization: Tokenization,
    /// Which translations were made, perhaps none.
    pub unk: Vec<Unk>,
    /// One a system, in the order asked for.
    pub models: Vec<MeasuredSystem>,
    /// For each set and kind of translation, one without BLEU where there is none.
    pub scores: Vec<EvaluatedScores>,
    /// Some of the systems with each other.
    pub comparisons: Vec<Against>,
    /// The file of the links by hand and how it was read, where there is one.
    pub gold: Option<(PathBuf, String)>,
    /// Alignments that need no model, against the gold one.
    pub baselines: Vec<Baseline>,
    /// Which models were not measured, and which aligner file was not taken, and why.
    pub left_out: Option<String>,
}

impl Evaluated {
    /// What systems made of a test set, in sum and by length; nothing is compared yet.
    pub fn of(test_set: TestSet, options: &EvaluationOptions, models: Vec<MeasuredSystem>) -> Self {
        Self {
            scores: scores(&test_set, &models, &options.unk, &options.buckets),
            test_set,
            search: options.search.clone(),
            batch: options.batch,
            tokenization: options.tokenization,
            unk: options.unk.clone(),
            models,
            ..Self::default()
        }
    }

    /// Compares pairs of systems by their translations of all sentences, by paired tests, for each kind of translation, and corrects
    /// their p by each score for each other. The same seed gives the same answer. `goes_on` hears how far it is, from 0 to 1.
    ///
    /// # Errors
    /// What `goes_on` ends it with.
    pub fn compare(
        &mut self,
        pairs: &[(usize, usize)],
        tests: PairedTests,
        goes_on: &mut dyn FnMut(f32) -> Result<()>,
    ) -> Result<()> {
        let sentences = self.models.iter().map(|measured| measured.records.len()).max().unwrap_or_default();
        for (at, &unk) in self.unk.iter().enumerate() {
            let mut sample = ComparedSample::new(sentences, tests.seed);
            for n in 0..sentences {
                let counts = |measured: &MeasuredSystem| Some(measured.records.get(n)?.translations.get(at)?.counts);
                sample.add(&self.models.iter().map(counts).collect::<Vec<_>>());
            }
            let mut running = SystemTests::new(pairs.to_vec(), tests);
            running.compare(&sample);
            while running.step() {
                goes_on((at as f32 + running.share()) / self.unk.len() as f32)?;
            }
            let [bleu, chrf, ter] = running.finish().try_into().unwrap_or_default();
            for ((&(pair, bleu), (_, chrf)), (_, ter)) in bleu.pairs.iter().zip(chrf.pairs).zip(ter.pairs) {
                self.comparisons.push(Against { pair, unk, by: Comparison { bleu, chrf, ter } });
            }
        }
        Ok(())
    }

    /// How BLEU, chrF2 and TER were computed, in sacreBLEU's notation.
    pub fn signatures(&self) -> [String; 3] {
        let settings = BleuSettings { tokenization: self.tokenization, ..BleuSettings::default() };
        let of =
            |pair: &NewSentence| compared(pair.reference.as_deref(), pair.further.iter().map(String::as_str)).len();
        scores::signatures(&settings, self.test_set.pairs.iter().map(of))
    }

    /// The name of a system by its position.
    pub fn name(&self, at: usize) -> &str {
        self.models.get(at).map_or("", |measured| &measured.name)
    }

    /// Why -log p of the models is not of the same words, as a sentence: some read `[UNK]` where others read the word.
    pub fn incomparable(&self) -> Option<String> {
        let reads = |measured: &MeasuredSystem| measured.records.iter().filter(|one| one.reference_unk).count();
        let counts: Vec<usize> = self.models.iter().map(reads).collect();
        if counts.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let of = |(measured, count): (&MeasuredSystem, usize)| format!("{} {count}", measured.name);
        let counts: Vec<String> = self.models.iter().zip(counts).map(of).collect();
        Some(format!(
            "Sentences whose reference has a word that is read as [UNK]: {}. -log p and perplexity of all sentences are \
             not comparable between these models; those of known words are.",
            counts.join(", ")
        ))
    }
}

/// The scores of all sentences, and of those that no system finds a word unknown in.
fn scores(test_set: &TestSet, models: &[MeasuredSystem], unk: &[Unk], buckets: &Buckets) -> Vec<EvaluatedScores> {
    let lengths = test_set.lengths();
    let is_known = |record: &EvaluationRecord| !(record.source_unk || record.reference_unk);
    let is_known = |at: &usize| models.iter().all(|model| model.records.get(*at).is_some_and(is_known));
    let all: Vec<usize> = (0..lengths.len()).collect();
    let known: Vec<usize> = all.iter().copied().filter(is_known).collect();
    let mut scores = Vec::new();
    for (set, sentences) in [(Set::All, &all), (Set::WithoutUnk, &known)] {
        for (index, &unk) in (if unk.is_empty() { &[Unk::Allowed] } else { unk }).iter().enumerate() {
            let sums = |model: &MeasuredSystem| {
                let mut sums = ByLength::new(buckets);
                for (&at, record) in sentences.iter().filter_map(|at| Some((at, model.records.get(*at)?))) {
                    sums.add(buckets.bucket(lengths[at].0), &record.sums(index, lengths[at].1));
                }
                sums
            };
            let systems: Vec<ByLength> = models.iter().map(sums).collect();
            let sizes = systems.first().cloned().unwrap_or_else(|| ByLength::new(buckets));
            let mut lengths = OverviewGroup::all(buckets, &sizes, &systems);
            let all = lengths.remove(0);
            lengths.retain(|_| buckets.all().len() > 1);
            scores.push(EvaluatedScores { set, unk, all, lengths });
        }
    }
    scores
}
