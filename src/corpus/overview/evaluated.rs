//! Floor 7: what systems made of a corpus that is not saved, sentence by sentence and in sum.

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::buckets::{Bucket, Buckets};
use crate::corpus::measures::scores;
use crate::corpus::measures::scores::{ByLength, ComparedScores, Comparison, PairedTests, ScoreSums, SystemScores};
use crate::corpus::overview::gold;
use crate::corpus::overview::gold::{Baseline, ImportanceRow};
use crate::corpus::overview::test_set::{Set, TestPair, Unk};
use crate::decoding;
use crate::decoding::ensemble::Mixing;
use crate::text::links::read::GoldLinks;

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
    /// BLEU of the sentence, from 0 to 100, over those n that it has n-grams for.
    pub bleu: f64,
}

/// One sentence of the test set and what the model made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRecord {
    pub pair: TestPair,
    /// Words between the spaces of the source.
    pub source_words: usize,
    /// Words between the spaces of the first reference, and one for `</s>`.
    pub words: usize,
    /// Tokens of the model in the first reference, `</s>` counted.
    pub tokens: usize,
    /// -log p of the first reference, in nats.
    pub nll: f64,
    /// The source holds a word that the model does not know.
    pub source_unk: bool,
    /// A reference does.
    pub reference_unk: bool,
    /// One for each of [`EvaluationReport::unk`], in that order.
    pub translations: Vec<Translation>,
}

impl EvaluationRecord {
    /// What it adds to the scores, with the translation of this index.
    fn sums(&self, index: usize) -> ScoreSums {
        let counts = self.translations.get(index).map(|translation| translation.counts);
        let sums = counts.map_or(ScoreSums { sentences: 1, ..ScoreSums::default() }, ScoreSums::compared);
        ScoreSums { words: self.words, tokens: self.tokens, nll: self.nll, ..sums }
    }
}

/// The scores of some sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoresRow {
    /// Which sentences.
    pub set: Set,
    /// Which translations; `Allowed` where none were made.
    pub unk: Unk,
    /// Of which length; `None` of any.
    pub bucket: Option<Bucket>,
    /// Theirs. Forbidding `[UNK]` does not change the NLL.
    pub scores: SystemScores,
}

impl ScoresRow {
    /// The length: `all` or the bucket's name.
    pub fn length(&self) -> &str {
        self.bucket.as_ref().map_or("all", |bucket| &bucket.name)
    }
}

/// What one model, or an ensemble, made of a test set.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationReport {
    pub name: String,
    /// Its architecture, or `ensemble`.
    pub architecture: &'static str,
    /// Where it lies; of an ensemble the folders of its members with ` + ` between.
    pub folder: PathBuf,
    /// How its members become one, where it is an ensemble.
    pub mixing: Option<Mixing>,
    pub test_set: String,
    /// How it searched; `forbid_unk` as in `unk`.
    pub search: decoding::SearchOptions,
    /// Sentences decoded together.
    pub batch: usize,
    /// Unknown words of the output were replaced by those for the source words that they are aligned with.
    pub replaced: bool,
    /// Which translations were made, perhaps none, in the order of [`EvaluationRecord::translations`].
    pub unk: Vec<Unk>,
    /// How BLEU was computed, in sacreBLEU's notation.
    pub bleu_signature: String,
    /// How chrF2 was computed, in sacreBLEU's notation.
    pub chrf_signature: String,
    /// Time spent translating; `None` without a clock.
    pub seconds: Option<f64>,
    /// Sentences that were translated, once for each of `unk`.
    pub translated: usize,
    /// Words produced by that, `</s>` counted.
    pub words: usize,
    /// Sentence by sentence, in the order of the test set.
    pub records: Vec<EvaluationRecord>,
    /// In sum and by length.
    pub rows: Vec<ScoresRow>,
}

impl EvaluationReport {
    /// Words produced a second.
    pub fn words_per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.words as f64 / seconds.max(1e-9))
    }

    /// Sentences translated a second.
    pub fn sentences_per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.translated as f64 / seconds.max(1e-9))
    }

    fn counts(&self, index: usize) -> Vec<ComparedScores> {
        self.records.iter().filter_map(|record| record.translations.get(index)).map(|one| one.counts).collect()
    }

    /// The row of a set, of any length.
    pub fn row(&self, set: Set, unk: Unk) -> Option<&ScoresRow> {
        self.rows.iter().find(|row| row.set == set && row.unk == unk && row.bucket.is_none())
    }
}

/// For each sentence whether no system finds a word unknown in it.
pub fn known(systems: &[&[EvaluationRecord]]) -> Vec<bool> {
    let is_known = |record: &EvaluationRecord| !(record.source_unk || record.reference_unk);
    let count = systems.first().map_or(0, |records| records.len());
    (0..count).map(|at| systems.iter().all(|records| records.get(at).is_some_and(is_known))).collect()
}

/// Measures all systems on the same sentences of known words: those that no system finds a word unknown in.
pub fn share_known(models: &mut [MeasuredSystem], buckets: &Buckets) {
    let records: Vec<&[EvaluationRecord]> = models.iter().map(|measured| &*measured.report.records).collect();
    let known = known(&records);
    for MeasuredSystem { report, .. } in models {
        report.rows = rows(&report.records, &known, &report.unk, buckets);
    }
}

/// A row for each set and kind of translation (where there is none, one without BLEU), and behind it one for each bucket
/// with anything in it; `known` says which sentences are without unknown words.
pub fn rows(records: &[EvaluationRecord], known: &[bool], unk: &[Unk], buckets: &Buckets) -> Vec<ScoresRow> {
    let mut rows = Vec::new();
    let none = [Unk::Allowed];
    for set in [Set::All, Set::WithoutUnk] {
        for (index, &unk) in (if unk.is_empty() { &none } else { unk }).iter().enumerate() {
            let mut sums = ByLength::new(buckets);
            for (record, _) in records.iter().zip(known).filter(|(_, known)| set == Set::All || **known) {
                sums.add(buckets.bucket(record.source_words), &record.sums(index));
            }
            rows.push(ScoresRow { set, unk, bucket: None, scores: sums.all.scores() });
            // One bucket would say the same again.
            let lengths = buckets.all().iter().zip(&sums.lengths).filter(|(_, sums)| sums.sentences > 0);
            let row = |(bucket, sums): (&Bucket, &ScoreSums)| ScoresRow {
                set,
                unk,
                bucket: Some(bucket.clone()),
                scores: sums.scores(),
            };
            rows.extend(lengths.filter(|_| buckets.all().len() > 1).map(row));
        }
    }
    rows
}

/// What was measured of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSystem {
    /// The figures and every sentence.
    pub report: EvaluationReport,
    /// Words a second; `None` where nothing was timed.
    pub words_per_second: Option<f64>,
    /// How near its alignments come to the gold ones; `None` without any, or why not, as a sentence.
    pub alignment: Option<std::result::Result<gold::AlignmentErrorReport, String>>,
    /// What else may matter than alpha, where that was measured.
    pub importances: Vec<ImportanceRow>,
    pub device: String,
    /// On so many threads.
    pub threads: usize,
}

impl MeasuredSystem {
    /// Its alignments, where they were measured.
    pub fn aligned(&self) -> Option<&gold::AlignmentErrorReport> {
        self.alignment.as_ref()?.as_ref().ok()
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

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// One a system, in the order asked for.
    pub models: Vec<Arc<MeasuredSystem>>,
    /// Some of them with each other.
    pub comparisons: Vec<Against>,
    /// The gold alignment and its file, where there is one.
    pub gold: Option<(PathBuf, GoldLinks)>,
    /// Alignments that need no model, against the gold one.
    pub baselines: Vec<Baseline>,
    /// Which models were not measured and why, as a sentence.
    pub left_out: Option<String>,
}

impl Evaluated {
    /// Why -log p of the models is not of the same words, as a sentence: some read `[UNK]` where others read the word.
    pub fn incomparable(&self) -> Option<String> {
        let reads = |measured: &MeasuredSystem| measured.report.records.iter().filter(|one| one.reference_unk).count();
        let counts: Vec<usize> = self.models.iter().map(|measured| reads(measured)).collect();
        if counts.windows(2).all(|pair| pair[0] == pair[1]) {
            return None;
        }
        let of = |(measured, count): (&Arc<MeasuredSystem>, usize)| format!("{} {count}", measured.report.name);
        let counts: Vec<String> = self.models.iter().zip(counts).map(of).collect();
        Some(format!(
            "Sentences whose reference has a word that is read as [UNK]: {}. -log p and perplexity of all sentences are \
             not comparable between these models; those of known words are.",
            counts.join(", ")
        ))
    }

    /// The buckets of lengths that any model has sentences of a set in, shortest first.
    pub fn buckets(&self, set: Set, unk: Unk) -> Vec<&Bucket> {
        let rows = self.models.iter().flat_map(|measured| &measured.report.rows);
        let mut buckets: Vec<&Bucket> = Vec::new();
        for bucket in rows.filter(|row| row.set == set && row.unk == unk).filter_map(|row| row.bucket.as_ref()) {
            if !buckets.contains(&bucket) {
                buckets.push(bucket);
            }
        }
        buckets.sort_by_key(|bucket| bucket.from);
        buckets
    }
}

/// Compares the systems of two reports of the same test set, all sentences, for each kind of translation that both have.
/// The same seed gives the same answer.
pub fn compare(
    first: &EvaluationReport,
    second: &EvaluationReport,
    tests: PairedTests,
) -> impl Iterator<Item = (Unk, Comparison)> {
    let kinds = first.unk.iter().enumerate();
    let same = kinds.filter_map(|(at, unk)| Some((*unk, at, second.unk.iter().position(|other| other == unk)?)));
    same.filter_map(move |(unk, of, to)| Some((unk, scores::compare(&first.counts(of), &second.counts(to), tests)?)))
}
