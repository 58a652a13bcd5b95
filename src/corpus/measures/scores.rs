//! The scores of a system: what is counted of each sentence, what that comes to over many and by their length. Page
//! Corpus and the command line have their numbers here.

use std::collections::BTreeSet;

use crate::store::kinds::quoted;
use engine::analysis::buckets::{Bucket, Buckets};
use engine::analysis::{aer, bleu, chrf, ter};
use engine::analysis::{bleu::BleuSettings, sums};

/// Why BLEU of a corpus is not the mean of that of its sentences.
pub const SENTENCE_BLEU: &str = id!(
    "BLEU of several sentences counts their n-grams together: it is 0 if no output has four tokens. BLEU of one sentence, in the table, leaves \
     out lengths of n-grams that the sentence is too short for: three tokens that are all right have 100 there"
);

/// An output against its references.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComparedScores {
    /// What corpus BLEU adds up.
    pub bleu: bleu::BleuCounts,
    /// What corpus chrF2 adds up; its score is that of the sentence.
    pub chrf: chrf::ChrfCounts,
    /// What TER adds up; its score is that of the sentence.
    pub ter: ter::TerCounts,
}

impl ComparedScores {
    pub fn of(output: &str, references: &[&str], settings: &BleuSettings) -> Self {
        Self {
            bleu: bleu::BleuCounts::of(output, references, settings),
            chrf: chrf::ChrfCounts::of(output, references, false),
            ter: ter::TerCounts::of(output, references),
        }
    }
}

/// Signatures of corpus BLEU, chrF2 and TER in sacreBLEU's notation; `references` are the counts of the sentences.
pub fn signatures(bleu: &BleuSettings, references: impl IntoIterator<Item = usize>) -> [String; 3] {
    let counts: BTreeSet<usize> = references.into_iter().filter(|count| *count > 0).collect();
    let count = (counts.len() < 2).then(|| counts.first().copied().unwrap_or(1));
    [bleu.signature(count), chrf::signature(count, false), ter::signature(count)]
}

/// What is counted of what a system makes of one sentence, or of many, and what that comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SystemScores {
    pub sentences: usize,
    /// Words between the spaces of the references whose probability is known, and one `</s>` each.
    pub words: usize,
    /// The same in tokens of the model: pieces where its vocabulary has them.
    pub tokens: usize,
    /// -log p of these references, in nats.
    pub nll: f64,
    /// Outputs that were compared with references.
    pub compared: usize,
    pub counts: ComparedScores,
    /// Sentences with links by hand whose output is the reference.
    pub aligned: usize,
    pub errors: aer::AerCounts,
}

impl SystemScores {
    /// A sentence, and its output where that is compared with references.
    pub fn of(counts: Option<ComparedScores>) -> Self {
        let compared = usize::from(counts.is_some());
        Self { sentences: 1, compared, counts: counts.unwrap_or_default(), ..Self::default() }
    }

    /// Corpus BLEU, from 0 to 100; `None` without outputs.
    pub fn bleu(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.counts.bleu.bleu().score)
    }

    /// Brevity penalty of BLEU, at most 1; `None` without outputs.
    pub fn brevity_penalty(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.counts.bleu.brevity_penalty())
    }

    /// Tokens of the outputs for each token of the references, as sacreBLEU's `ratio`; `None` without these.
    pub fn ratio(&self) -> Option<f64> {
        self.counts.bleu.ratio()
    }

    /// Corpus chrF2, from 0 to 100; `None` without outputs.
    pub fn chrf(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.counts.chrf.score())
    }

    /// Corpus TER, from 0 on, the lower the better; `None` without outputs.
    pub fn ter(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.counts.ter.score())
    }

    /// Alignment error rate of the sentences with links by hand.
    pub fn aer(&self) -> Option<f64> {
        self.errors.rates().aer.filter(|_| self.aligned > 0)
    }

    /// In nats; `None` of no sentences.
    pub fn nll_per_sentence(&self) -> Option<f64> {
        (self.sentences > 0).then(|| self.nll / self.sentences as f64)
    }

    /// In nats, a word of the text, however the model cuts it; `None` of no words.
    pub fn nll_per_word(&self) -> Option<f64> {
        (self.words > 0).then(|| self.nll / self.words as f64)
    }

    /// In nats, a token of the model: not to be compared between vocabularies. `None` of no tokens.
    pub fn nll_per_token(&self) -> Option<f64> {
        (self.tokens > 0).then(|| self.nll / self.tokens as f64)
    }

    /// exp(NLL / words); `None` of no words.
    pub fn perplexity(&self) -> Option<f64> {
        self.nll_per_word().map(f64::exp)
    }
}

sums!(ComparedScores: bleu, chrf, ter; each);
sums!(SystemScores: sentences, words, tokens, nll, compared, counts, aligned, errors; each);

/// The sums of all sentences, and of those in each bucket of lengths.
#[derive(Clone, Debug)]
pub struct ByLength {
    pub all: SystemScores,
    /// By bucket; a sentence without words is in none.
    pub lengths: Vec<SystemScores>,
}

impl ByLength {
    pub fn new(buckets: &Buckets) -> Self {
        Self { all: SystemScores::default(), lengths: vec![SystemScores::default(); buckets.all().len()] }
    }

    pub fn add(&mut self, bucket: Option<usize>, sums: &SystemScores) {
        self.all += *sums;
        if let Some(bucket) = bucket {
            self.lengths[bucket] += *sums;
        }
    }
}

/// Sentences of a length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverviewGroup {
    /// Words of the source; none: of any length.
    pub bucket: Option<Bucket>,
    /// The tag that they have; none: any or none.
    pub tag: Option<String>,
    pub sentences: usize,
    pub scores: Vec<SystemScores>,
}

impl OverviewGroup {
    /// All sentences together, then those of each length that there are, by what was counted of each system.
    pub fn all(buckets: &Buckets, sizes: &ByLength, systems: &[ByLength]) -> Vec<Self> {
        let group = |bucket: Option<&Bucket>, of: &dyn Fn(&ByLength) -> SystemScores| Self {
            bucket: bucket.cloned(),
            tag: None,
            sentences: of(sizes).sentences,
            scores: systems.iter().map(of).collect(),
        };
        let lengths = buckets.all().iter().enumerate();
        let lengths = lengths.map(|(at, bucket)| group(Some(bucket), &|sums| sums.lengths[at]));
        let lengths = lengths.filter(|group| group.sentences > 0);
        std::iter::once(group(None, &|sums| sums.all)).chain(lengths).collect()
    }

    /// Words of the source or the tag, as they are shown; empty: all.
    pub fn name(&self) -> String {
        if let Some(tag) = &self.tag {
            return tag.clone();
        }
        self.bucket.as_ref().map_or_else(String::new, |bucket| bucket.name.replace('-', "\u{2013}"))
    }

    /// What shows its sentences; empty: all.
    pub fn condition(&self) -> String {
        if let Some(tag) = &self.tag {
            return format!("tag:{}", quoted(tag));
        }
        let Some(Bucket { from, to, .. }) = &self.bucket else { return String::new() };
        let to = if *to == usize::MAX { String::new() } else { to.to_string() };
        format!("words={from}..{to}")
    }
}
