//! Floor 7: what an error analyst asks of many sentences at once: scores by length, F1 of words by their frequency, source
//! words that go wrong, n-grams of one system against another, jumps of alignments. Each number has the condition that
//! shows its sentences.
//!
//! [`Counting`] goes through the sentences in steps, so that a lane can do other things between; [`Overview`] is what
//! comes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::analysis::bleu::BleuSettings;
use crate::analysis::bootstrap::{Paired, correct};
use crate::analysis::buckets::{Bucket, Buckets};
use crate::analysis::contrast::{Contrast, Ngram};
use crate::analysis::jumps::jumps;
use crate::analysis::lexical::{LexicalCounts, cut, each};
use crate::analysis::{aer, bleu};
use crate::corpus::import::aligned::{AlignedBy, Linker, WordFate, fates, word_fates};
use crate::corpus::measures::aggregate;
use crate::corpus::measures::frequencies::{CLASSES, Frequencies};
use crate::corpus::measures::scores::{ByLength, ComparedScores, PairedTests, SystemScores};
use crate::corpus::overview::parts::{PartTally, TaggedOutput};
use crate::corpus::overview::spread;
use crate::corpus::query::column::TableColumn;
use crate::corpus::store::conditions::quoted;
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::error::Result;
use crate::text::cells::CellTable;
use crate::text::words::words;

/// The most sentences that are counted in the window.
pub const MOST_COUNTED: usize = 100_000;
/// The most n-grams of each system that are told.
const MOST_NGRAMS: usize = 40;
/// The most source words of a system that are told.
const MOST_WORDS: usize = 2000;
/// Farther jumps are counted with this one.
pub const SHOWN_JUMP: i32 = 8;

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedThing {
    /// Scores by words of the source.
    Lengths,
    /// Words by their frequency.
    Frequencies,
    /// Source words that go wrong.
    Words,
    /// Source words by their part of speech.
    Parts,
    /// N-grams of one system against another.
    Ngrams,
    /// Jumps of the alignment.
    Jumps,
    /// Two systems by BLEU.
    Pair,
    /// Two systems by the scores of others.
    Scores,
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewOptions {
    /// Nothing but these is counted; none: everything.
    pub only: Vec<CountedThing>,
    /// The two systems that are compared, by their places.
    pub pair: (usize, usize),
    /// The most sentences that are counted.
    pub most: usize,
}

/// The first two systems that translate: references that were forced are compared with none.
pub fn first_pair(corpus: &CorpusTable) -> (usize, usize) {
    let is_rival = |at: &usize| !corpus.systems[*at].system.is_forced();
    let mut rivals = (0..corpus.systems.len()).filter(is_rival);
    (rivals.next().unwrap_or(0), rivals.next().unwrap_or(usize::MAX))
}

/// Sentences of a length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverviewGroup {
    /// Words of the source; none: of any length.
    pub bucket: Option<Bucket>,
    /// The tag that they have; none: any or none.
    pub tag: Option<String>,
    pub sentences: usize,
    /// Of each system.
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

/// Words of a frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// From and to.
    pub range: (u32, u32),
    /// Of each system.
    pub words: Vec<LexicalCounts>,
    /// For each system how many sentences have such a word in the reference or in its output.
    pub sentences: Vec<usize>,
}

/// What becomes of a source word in a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceWordErrors {
    /// Bare.
    pub word: String,
    /// Sentences where it is linked.
    pub sentences: usize,
    /// Sentences where something is not as in the reference.
    pub wrong: usize,
    /// All of them together.
    pub fate: WordFate,
}

/// The title of a score, how many sentences have it of two systems, and these by its mean.
pub type GivenScore = (&'static str, usize, Paired);

/// Two systems.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPair {
    /// The first.
    pub first: usize,
    /// The second.
    pub second: usize,
    /// By BLEU, over sentences where both say something; `None` where there is none.
    pub paired: Option<Paired>,
    /// Sentences where the BLEU of the first is greater, equal, less.
    pub sentences: [usize; 3],
    /// By the means of the scores that others gave both, each with its title and the sentences that it is of.
    pub scores: Vec<GivenScore>,
    /// N-grams that the first has right more often, and those of the second.
    pub ngrams: [Vec<Ngram>; 2],
}

/// Everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// Sentences that were counted.
    pub counted: usize,
    /// Sentences that were asked for.
    pub of: usize,
    /// All together.
    pub all: OverviewGroup,
    /// By words of the source.
    pub lengths: Vec<OverviewGroup>,
    /// By the tags that anybody gave, such as those of documents and domains.
    pub tags: Vec<OverviewGroup>,
    /// By frequency of words.
    pub classes: Vec<Class>,
    /// Where the frequencies are from.
    pub origin: String,
    /// Of each system.
    pub words: Vec<Vec<SourceWordErrors>>,
    /// By part of speech; no rows where nobody gave any.
    pub parts: Arc<CellTable>,
    /// References that were linked by hand, by forced models, by the aligner, by nobody.
    pub linked: [usize; 4],
    /// Of each system how often its alignments jump so far, from -[`SHOWN_JUMP`] to it; none where there is no alignment.
    pub jumps: Vec<Option<Vec<u64>>>,
    /// The two systems that are compared; `None` where there are fewer.
    pub pair: Option<SystemPair>,
}

impl Overview {
    /// What shows the sentences that the scores of a system count.
    pub fn scored(&self, group: &OverviewGroup, system: usize) -> String {
        let all = group.scores.get(system).is_none_or(|scores| scores.sentences == group.sentences);
        let rest = if all { String::new() } else { format!("has:{} has:reference", system + 1) };
        join(&group.condition(), &rest)
    }

    /// Who linked the references, and how many each.
    pub fn linked_by(&self) -> String {
        let there = LINKED.iter().zip(self.linked).filter(|(_, count)| *count > 0);
        there.map(|((_, by), count)| format!("{count} {}", crate::lang::text(by))).collect::<Vec<_>>().join(", ")
    }

    /// What shows the sentences that the AER of a system counts.
    pub fn aligned(&self, group: &OverviewGroup, system: usize) -> String {
        join(&group.condition(), &format!("has:gold aer.{}>=0", system + 1))
    }
}

/// Two conditions.
fn join(first: &str, second: &str) -> String {
    if first.is_empty() || second.is_empty() { format!("{first}{second}") } else { format!("{first} {second}") }
}

impl SourceWordErrors {
    /// What shows its sentences that are wrong.
    pub fn condition(&self, system: usize) -> String {
        format!("wrong.{}:{}", system + 1, quoted(&self.word))
    }
}

/// What shows the sentences of a jump, from -[`SHOWN_JUMP`] to it.
pub fn jump_condition(system: usize, jump: i32) -> String {
    let range = if jump <= -SHOWN_JUMP {
        format!("..{jump}")
    } else if jump >= SHOWN_JUMP {
        format!("{jump}..")
    } else {
        jump.to_string()
    };
    format!("jump.{}={range}", system + 1)
}

/// What shows the sentences where one system has an n-gram right more often than another.
pub fn ngram_condition(one: usize, other: usize, words: &str) -> String {
    format!("right.{}-{}:{}", one + 1, other + 1, quoted(words))
}

/// Of a source word: sentences, wrong ones, and its fate.
type Tally = (usize, usize, WordFate);

/// Goes through the sentences.
pub struct Counting {
    corpus: Arc<CorpusTable>,
    rows: Vec<u32>,
    of: usize,
    next: usize,
    frequencies: Arc<Frequencies>,
    linker: Linker,
    only: Vec<CountedThing>,
    pair: Option<(usize, usize)>,
    buckets: Buckets,
    /// Sentences by length, whoever has said something of them.
    sizes: ByLength,
    scores: Vec<ByLength>,
    /// Of each tag, the sentences and what was counted of each system.
    tags: BTreeMap<String, (usize, Vec<SystemScores>)>,
    classes: Vec<Class>,
    words: Vec<HashMap<String, Tally>>,
    parts: PartTally,
    /// Whether the file has any; known from the first sentence on.
    has_parts: Option<bool>,
    linked: [usize; 4],
    jumps: Vec<Option<Vec<u64>>>,
    contrast: Contrast,
    paired: [Vec<bleu::BleuCounts>; 2],
    sentences: [usize; 3],
    /// The other pairs, whose tests that of the pair is corrected for, as far as they are still to be made,
    others: Vec<(usize, usize)>,
    /// and what came of those that are: by BLEU and by the scores of others.
    tested: Vec<(Option<Paired>, Vec<GivenScore>)>,
}

impl Counting {
    /// Of some rows, in whatever order: resamples are drawn by place, and the same sentences give the same p.
    pub fn new(
        corpus: Arc<CorpusTable>,
        rows: &[u32],
        options: &OverviewOptions,
        frequencies: Arc<Frequencies>,
        linker: Linker,
    ) -> Self {
        let systems = corpus.systems.len();
        let buckets = Buckets::default();
        let class = |range: &(u32, u32)| Class {
            range: *range,
            words: vec![LexicalCounts::default(); systems],
            sentences: vec![0; systems],
        };
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let (first, second) = options.pair;
        let is_rival = |at: usize| corpus.systems.get(at).is_some_and(|column| !column.system.is_forced());
        let pair = (is_rival(first) && is_rival(second) && first != second).then_some(options.pair);
        let rivals: Vec<usize> = (0..systems).filter(|at| corpus.systems[*at].system.competes()).collect();
        let mut counting = Self {
            of: rows.len(),
            rows: spread(rows.len(), options.most).map(|n| rows[n]).collect(),
            next: 0,
            frequencies,
            linker,
            only: options.only.clone(),
            pair,
            sizes: ByLength::new(&buckets),
            scores: vec![ByLength::new(&buckets); systems],
            buckets,
            tags: BTreeMap::new(),
            classes: CLASSES.iter().map(class).collect(),
            words: vec![HashMap::new(); systems],
            parts: PartTally::default(),
            has_parts: None,
            linked: [0; 4],
            jumps: vec![None; systems],
            contrast: Contrast::default(),
            paired: [Vec::new(), Vec::new()],
            sentences: [0; 3],
            others: Vec::new(),
            tested: Vec::new(),
            corpus,
        };
        if counting.pair.is_some() && (counting.counts(CountedThing::Pair) || counting.counts(CountedThing::Scores)) {
            counting.others = other_pairs(&rivals, options.pair, options.most / counting.rows.len().max(1));
        }
        counting
    }

    /// How far it is, from 0 to 1.
    pub fn share(&self) -> f32 {
        if self.rows.is_empty() { 1.0 } else { self.next as f32 / self.rows.len() as f32 }
    }

    /// Counts some more sentences, or tests another pair behind them; false when all is done.
    ///
    /// # Errors
    /// A sentence about the file.
    pub fn step(&mut self, workspace: &Workspace, count: usize) -> Result<bool> {
        let end = (self.next + count).min(self.rows.len());
        for n in self.next..end {
            self.sentence(self.rows[n] as usize, workspace)?;
        }
        if self.next == self.rows.len()
            && let Some(pair) = self.others.pop()
        {
            let is_asked = self.counts(CountedThing::Pair);
            let by_bleu = is_asked.then(|| aggregate::compare(&self.corpus, pair.0, pair.1, &self.rows)).flatten();
            self.tested.push((by_bleu, self.compared_scores(pair)));
        }
        self.next = end;
        Ok(self.next < self.rows.len() || !self.others.is_empty())
    }

    /// Lets go of texts, which are read again.
    pub fn forget_texts(&mut self) {
        Arc::make_mut(&mut self.corpus).forget_texts();
    }

    fn counts(&self, thing: CountedThing) -> bool {
        self.only.is_empty() || self.only.contains(&thing)
    }

    fn sentence(&mut self, at: usize, workspace: &Workspace) -> Result<()> {
        let corpus = Arc::clone(&self.corpus);
        let source = corpus.sources.get(at).unwrap_or_default();
        let bucket = self.buckets.bucket(words(source).count());
        self.sizes.add(bucket, &SystemScores::of(None));
        let tags = self.tags_of(at);
        // Words and links are those of the first; BLEU and chrF2 are over all.
        let references = corpus.references_of(at);
        let reference = references.first().copied();
        let mut links = Vec::new();
        let asks_parts =
            self.counts(CountedThing::Parts) && *self.has_parts.get_or_insert_with(|| workspace.has_parts());
        let parts = if asks_parts { workspace.parts(at, source) } else { None };
        let judges = self.counts(CountedThing::Words) || parts.is_some();
        if judges {
            let by;
            (links, by) = self.linker.of_reference(&corpus, workspace, at)?;
            self.linked[by as usize] += usize::from(reference.is_some());
        }
        let is_cut = self.counts(CountedThing::Frequencies) || self.counts(CountedThing::Ngrams);
        let cut_reference = if is_cut { cut(reference.unwrap_or_default()) } else { String::new() };
        // Reading outputs is most of the work.
        let reads = judges
            || self.counts(CountedThing::Jumps)
            || self.counts(CountedThing::Lengths) && corpus.golds.contains(&at);
        for system in 0..corpus.systems.len() {
            let Some(text) = corpus.systems[system].texts.get(at) else { continue };
            // What is damaged there is told when the workspace opens; the others are counted.
            let output = reads.then(|| workspace.output(corpus.systems[system].system.id, at).ok().flatten()).flatten();
            if let Some(output) = output.as_ref().filter(|_| self.counts(CountedThing::Jumps)) {
                self.jump(system, output);
            }
            let is_rival = !corpus.systems[system].system.is_forced();
            let fates_of = |output: &SystemOutput| word_fates(source, &references, &links, output);
            let word_fates =
                output.as_ref().filter(|_| judges && is_rival && reference.is_some()).map(fates_of).unwrap_or_default();
            let own = output.as_ref().filter(|_| parts.is_some()).and_then(|output| output.word_links(source));
            if let (Some(parts), Some(links)) = (&parts, &own) {
                let output = TaggedOutput { system: (system, corpus.systems.len()), links, fates: &word_fates };
                self.parts.add(parts, &output);
            }
            let Some(reference) = reference else { continue };
            if self.counts(CountedThing::Lengths) {
                let counts = || ComparedScores::of(text, &references, &BleuSettings::default());
                let mut sums = SystemScores::of(is_rival.then(counts));
                if let Some(output) = &output
                    && let Some(counts) = errors(source, (reference, output), &corpus, workspace, at)?
                {
                    (sums.aligned, sums.errors) = (1, counts);
                }
                self.scores[system].add(bucket, &sums);
                for tag in &tags {
                    if let Some((_, scores)) = self.tags.get_mut(tag) {
                        scores[system] += sums;
                    }
                }
            }
            if !is_rival {
                continue;
            }
            if self.counts(CountedThing::Frequencies) {
                self.count_words(system, &cut_reference, &cut(text));
            }
            if self.counts(CountedThing::Words) {
                self.count_fates(system, fates(source, &word_fates));
            }
        }
        self.count_pair(at, &references, &cut_reference);
        Ok(())
    }

    /// The tags that anybody gave a sentence, each counted once.
    fn tags_of(&mut self, at: usize) -> BTreeSet<String> {
        let by = self.corpus.judgements.get(&at).filter(|_| self.counts(CountedThing::Lengths));
        let tags: BTreeSet<String> = by.iter().flat_map(|by| by.values()).flat_map(|one| one.tags.clone()).collect();
        let systems = self.scores.len();
        for tag in &tags {
            let none = || (0, vec![SystemScores::default(); systems]);
            self.tags.entry(tag.clone()).or_insert_with(none).0 += 1;
        }
        tags
    }

    fn jump(&mut self, system: usize, output: &SystemOutput) {
        let Some(links) = output.hard_links() else { return };
        let counts = self.jumps[system].get_or_insert_with(|| vec![0; 2 * SHOWN_JUMP as usize + 1]);
        for jump in jumps(&links) {
            counts[(jump.clamp(-SHOWN_JUMP, SHOWN_JUMP) + SHOWN_JUMP) as usize] += 1;
        }
    }

    fn count_words(&mut self, system: usize, reference: &str, output: &str) {
        let mut classes = BTreeSet::new();
        for (word, counts) in each(reference, output) {
            let class = self.frequencies.class(word);
            self.classes[class].words[system] += counts;
            classes.insert(class);
        }
        for class in classes {
            self.classes[class].sentences[system] += 1;
        }
    }

    fn count_fates(&mut self, system: usize, fates: BTreeMap<String, WordFate>) {
        for (word, fate) in fates {
            let tally = self.words[system].entry(word).or_default();
            tally.0 += 1;
            tally.1 += usize::from(fate.is_wrong());
            tally.2 += fate;
        }
    }

    fn count_pair(&mut self, at: usize, references: &[&str], cut_reference: &str) {
        let Some((first, second)) = self.pair.filter(|_| !references.is_empty()) else { return };
        let text = |system: usize| self.corpus.systems[system].texts.get(at);
        let (Some(one), Some(other)) = (text(first), text(second)) else { return };
        if self.counts(CountedThing::Ngrams) {
            self.contrast.add(cut_reference, [&cut(one), &cut(other)]);
        }
        if !self.counts(CountedThing::Pair) {
            return;
        }
        let counts = |text: &str| bleu::BleuCounts::of(text, references, &BleuSettings::default());
        let (a, b) = (counts(one), counts(other));
        // As the column of differences has it, so that its conditions show the same sentences.
        let difference = a.sentence() as f32 - b.sentence() as f32;
        self.sentences[if difference > 0.0 { 0 } else { 1 + usize::from(difference < 0.0) }] += 1;
        self.paired[0].push(a);
        self.paired[1].push(b);
    }

    fn compared_scores(&self, (first, second): (usize, usize)) -> Vec<GivenScore> {
        if !self.counts(CountedThing::Scores) {
            return Vec::new();
        }
        let given = self.corpus.measures.iter().enumerate().filter(|(_, measure)| measure.is_given());
        let given = given.map(|(n, measure)| (measure.title, [first, second].map(|at| TableColumn::Output(n, at))));
        let rated = ("rating", [first, second].map(TableColumn::Rating));
        let compared = given.chain([rated]).filter_map(|(title, [one, other])| {
            let pairs = aggregate::paired_numbers(&self.corpus, (one, other), &self.rows);
            Some((title, pairs.0.len(), PairedTests::default().compare(&pairs.0, &pairs.1)?))
        });
        compared.collect()
    }

    /// What came of it.
    pub fn finish(mut self) -> Overview {
        let mut lengths = OverviewGroup::all(&self.buckets, &self.sizes, &self.scores);
        let all = lengths.remove(0);
        let names: Vec<&str> = self.corpus.systems.iter().map(|column| column.system.name.as_str()).collect();
        let mut paired = PairedTests::default().compare(&self.paired[0], &self.paired[1]);
        let mut scores = self.pair.map_or_else(Vec::new, |pair| self.compared_scores(pair));
        correct(self.tested.iter_mut().filter_map(|(by_bleu, _)| by_bleu.as_mut()).chain(&mut paired).collect());
        for (title, _, own) in &mut scores {
            let others = self.tested.iter_mut().flat_map(|(_, scores)| scores).filter(|(of, ..)| of == title);
            correct(others.map(|(.., other)| other).chain([own]).collect());
        }
        let pair = self.pair.map(|(first, second)| SystemPair {
            first,
            second,
            paired,
            sentences: self.sentences,
            scores,
            ngrams: [self.contrast.ranked(0, MOST_NGRAMS), self.contrast.ranked(1, MOST_NGRAMS)],
        });
        Overview {
            counted: self.rows.len(),
            of: self.of,
            all,
            lengths,
            tags: self
                .tags
                .into_iter()
                .map(|(tag, (sentences, scores))| OverviewGroup { tag: Some(tag), bucket: None, sentences, scores })
                .collect(),
            classes: self.classes,
            origin: self.frequencies.origin.clone(),
            words: self.words.into_iter().map(ranked).collect(),
            parts: Arc::new(self.parts.table(&names)),
            linked: self.linked,
            jumps: self.jumps,
            pair,
        }
    }
}

/// The pairs of systems beside one; none where there are more than `most`, whose tests would take minutes.
fn other_pairs(systems: &[usize], (first, second): (usize, usize), most: usize) -> Vec<(usize, usize)> {
    let pairs = systems.iter().flat_map(|one| systems.iter().map(move |other| (*one, *other)));
    let is_other = |pair: &(usize, usize)| pair.0 < pair.1 && *pair != (first.min(second), first.max(second));
    let others: Vec<(usize, usize)> = pairs.filter(is_other).collect();
    if others.len() <= most { others } else { Vec::new() }
}

/// The alignment errors of an output that has links by hand, as the measure AER counts them.
fn errors(
    source: &str,
    (reference, output): (&str, &SystemOutput),
    corpus: &CorpusTable,
    workspace: &Workspace,
    at: usize,
) -> Result<Option<aer::AerCounts>> {
    if !corpus.golds.contains(&at) {
        return Ok(None);
    }
    let gold = workspace.gold_of_output(at, &output.text, Some(reference))?;
    let (Some(gold), Some(found)) = (gold, output.word_links(source)) else { return Ok(None) };
    let counts = aer::AerCounts::of(&found, &gold);
    Ok(counts.rates().aer.map(|_| counts))
}

/// Those that are wrong most often; the alphabet decides among equals.
fn ranked(words: HashMap<String, Tally>) -> Vec<SourceWordErrors> {
    let word = |(word, (sentences, wrong, fate)): (String, Tally)| SourceWordErrors { word, sentences, wrong, fate };
    let mut words: Vec<SourceWordErrors> = words.into_iter().map(word).filter(|word| word.wrong > 0).collect();
    words.sort_by(|a, b| b.wrong.cmp(&a.wrong).then_with(|| a.word.cmp(&b.word)));
    words.truncate(MOST_WORDS);
    words
}

/// The links of the reference, in the order of [`Overview::linked`].
const LINKED: [(AlignedBy, &str); 4] = [
    (AlignedBy::Hand, id!("by hand")),
    (AlignedBy::Forced, id!("by a model that it was forced through")),
    (AlignedBy::Aligner, id!("by the aligner")),
    (AlignedBy::Nobody, id!("by nobody")),
];
