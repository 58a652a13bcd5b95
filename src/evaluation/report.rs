//! Floor 6: what a run found, sentence by sentence and in sum.

use std::path::PathBuf;

use crate::analysis::buckets::{Bucket, Buckets};
use crate::analysis::{bleu, chrf};
use crate::decoding;
use crate::decoding::ensemble::Mixing;
use crate::evaluation::Pair;

/// Whether translations may contain `[UNK]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unk {
    /// As any other word.
    Allowed,
    /// The search never emits it (Bahdanau et al. 2015, table 1, last column).
    Forbidden,
}

impl Unk {
    /// Its name: `allowed` or `forbidden`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Forbidden => "forbidden",
        }
    }
}

/// Which sentences of a test set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// All.
    All,
    /// Those without unknown words in the source and in every reference.
    WithoutUnk,
}

impl Set {
    /// Its name: `all` or `without UNK`.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::WithoutUnk => "without UNK",
        }
    }
}

/// A translation and its scores against the references.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// As it is compared: normal text, or words split by spaces where the test set is.
    pub text: String,
    /// Words produced, `</s>` counted.
    pub words: usize,
    /// Holds `[UNK]`, or did before it was replaced.
    pub has_unk: bool,
    /// What corpus BLEU adds up.
    pub counts: bleu::Counts,
    /// BLEU of the sentence, from 0 to 100, over those n that it has n-grams for.
    pub bleu: f64,
    /// What corpus chrF2 adds up; its score is that of the sentence.
    pub chrf: chrf::Counts,
}

/// One sentence of the test set and what the model made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its texts.
    pub pair: Pair,
    /// Source words, `</s>` not counted.
    pub source_words: usize,
    /// Words of the first reference, `</s>` counted.
    pub words: usize,
    /// -log p of the first reference, in nats.
    pub nll: f64,
    /// The source holds a word that the model does not know.
    pub source_unk: bool,
    /// A reference does.
    pub reference_unk: bool,
    /// One for each of [`Report::unk`], in that order.
    pub translations: Vec<Translation>,
}

impl Record {
    /// Whether it belongs to a set.
    pub fn is_in(&self, set: Set) -> bool {
        set == Set::All || !(self.source_unk || self.reference_unk)
    }
}

/// The figures of some sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which sentences.
    pub set: Set,
    /// Which translations; `Allowed` where none were made.
    pub unk: Unk,
    /// Of which length; `None` of any.
    pub bucket: Option<Bucket>,
    /// How many.
    pub sentences: usize,
    /// Words of the first references, `</s>` counted.
    pub words: usize,
    /// NLL of the first references, in nats, summed. Forbidding `[UNK]` does not change it.
    pub nll: f64,
    /// BLEU, from 0 to 100; `None` of no sentences.
    pub bleu: Option<f64>,
    /// chrF2, from 0 to 100; `None` of no sentences.
    pub chrf: Option<f64>,
}

impl Row {
    /// In nats; `None` of no sentences.
    pub fn nll_per_sentence(&self) -> Option<f64> {
        (self.sentences > 0).then(|| self.nll / self.sentences as f64)
    }

    /// In nats; `None` of no words.
    pub fn nll_per_word(&self) -> Option<f64> {
        (self.words > 0).then(|| self.nll / self.words as f64)
    }

    /// exp(NLL / words); `None` of no words.
    pub fn perplexity(&self) -> Option<f64> {
        self.nll_per_word().map(f64::exp)
    }

    /// The length: `all` or the bucket's name.
    pub fn length(&self) -> &str {
        self.bucket.as_ref().map_or("all", |bucket| &bucket.name)
    }
}

/// What one model, or an ensemble, made of a test set.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The model's name.
    pub name: String,
    /// Its architecture, or `ensemble`.
    pub architecture: &'static str,
    /// Where it lies; of an ensemble the folders of its members with ` + ` between.
    pub folder: PathBuf,
    /// How its members become one, where it is an ensemble.
    pub mixing: Option<Mixing>,
    /// The test set's name.
    pub test_set: String,
    /// How it searched; `forbid_unk` as in `unk`.
    pub search: decoding::SearchOptions,
    /// Sentences decoded together.
    pub batch: usize,
    /// Unknown words of the output were replaced by those for the source words that they are aligned with.
    pub replaced: bool,
    /// Which translations were made, perhaps none, in the order of [`Record::translations`].
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
    pub records: Vec<Record>,
    /// In sum and by length.
    pub rows: Vec<Row>,
}

impl Report {
    /// Words produced a second.
    pub fn words_per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.words as f64 / seconds.max(1e-9))
    }

    /// Sentences translated a second.
    pub fn sentences_per_second(&self) -> Option<f64> {
        self.seconds.map(|seconds| self.translated as f64 / seconds.max(1e-9))
    }

    /// The row of a set, of any length.
    pub fn row(&self, set: Set, unk: Unk) -> Option<&Row> {
        self.rows.iter().find(|row| row.set == set && row.unk == unk && row.bucket.is_none())
    }
}

/// A row for each set and kind of translation (where there is none, one without BLEU), and behind it one for each bucket with anything in it.
pub fn rows(records: &[Record], unk: &[Unk], buckets: &Buckets) -> Vec<Row> {
    let mut rows = Vec::new();
    for set in [Set::All, Set::WithoutUnk] {
        let records: Vec<&Record> = records.iter().filter(|record| record.is_in(set)).collect();
        let lengths: Vec<usize> = records.iter().map(|record| record.source_words).collect();
        let by_length = buckets.by_length(&lengths);
        let none = [Unk::Allowed];
        for (index, &unk) in (if unk.is_empty() { &none } else { unk }).iter().enumerate() {
            rows.push(row(set, unk, index, None, &records));
            // One bucket would say the same again.
            let told = buckets.all().iter().zip(&by_length).filter(|(_, chosen)| !chosen.is_empty());
            for (bucket, chosen) in told.filter(|_| buckets.all().len() > 1) {
                let chosen: Vec<&Record> = chosen.iter().map(|&at| records[at]).collect();
                rows.push(row(set, unk, index, Some(bucket.clone()), &chosen));
            }
        }
    }
    rows
}

fn row(set: Set, unk: Unk, index: usize, bucket: Option<Bucket>, records: &[&Record]) -> Row {
    let translations = || records.iter().filter_map(|record| record.translations.get(index));
    let bleu: bleu::Counts = translations().map(|translation| &translation.counts).sum();
    let chrf: chrf::Counts = translations().map(|translation| &translation.chrf).sum();
    let any = translations().next().is_some();
    Row {
        set,
        unk,
        bucket,
        sentences: records.len(),
        words: records.iter().map(|record| record.words).sum(),
        nll: records.iter().fold(0.0, |sum, record| sum + record.nll),
        bleu: any.then(|| bleu.bleu().score),
        chrf: any.then(|| chrf.score()),
    }
}
