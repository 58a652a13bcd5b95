//! What an error analyst asks of many sentences at once: scores by length, F1 of words by their frequency, source
//! words that go wrong, n-grams of one system against another, jumps of alignments. Each number has the condition
//! that shows its sentences.
//!
//! [`Counting`] goes through the sentences in steps, so that a lane can do other things between; [`Overview`] is what
//! comes of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::import::aligned::{AlignedBy, Linker, WordFate, fates, reference_errors, word_fates};
use crate::measures::frequencies::{CLASSES, Frequencies};
use crate::measures::paired::{ComparedSample, SystemTests, TestedScore, every_two};
use crate::measures::scores::{ByLength, ComparedScores, OverviewGroup, SystemScores};
use crate::overview::parts::{PartTally, TaggedOutput};
use crate::overview::{people, spread};
use crate::store::{corpus::CorpusTable, file::Workspace, kinds::quoted, output::SystemOutput};
use crate::{measures::aggregate, overview::people::MetricCount, query::column::TableColumn};
use engine::analysis::bootstrap::{BootstrapSample, MeanCounts, Paired, PairedTests};
use engine::analysis::contrast::{Contrast, Ngram};
use engine::analysis::lexical::{LexicalCounts, each};
use engine::analysis::{aer::AerCounts, alignment::jumps, buckets::Buckets};
use engine::error::Result;
use engine::text::{cells::CellTable, links::Link};

pub const MOST_COUNTED: usize = 100_000;
const MOST_NGRAMS: usize = 40;
const MOST_WORDS: usize = 2000;
pub const SHOWN_JUMP: i32 = 8;

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedThing {
    Lengths,
    Links,
    Frequencies,
    Words,
    Parts,
    Ngrams,
    Jumps,
    Pair,
    Scores,
    Judged,
    Metrics,
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverviewOptions {
    /// Nothing but these is counted; none: everything.
    pub only: Vec<CountedThing>,
    /// The two systems that are compared, by their places.
    pub pair: (usize, usize),
    pub most: usize,
}

/// The first two systems that translate: references that were forced are compared with none.
pub fn first_pair(corpus: &CorpusTable) -> (usize, usize) {
    let is_rival = |at: &usize| !corpus.systems[*at].system.is_forced();
    let mut rivals = (0..corpus.systems.len()).filter(is_rival);
    (rivals.next().unwrap_or(0), rivals.next().unwrap_or(usize::MAX))
}

/// Words of a frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    pub range: (u32, u32),
    pub words: Vec<LexicalCounts>,
    /// For each system how many sentences have such a word in the reference or in its output.
    pub sentences: Vec<usize>,
}

/// What becomes of a source word in a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceWordErrors {
    pub word: String,
    /// Sentences where it is linked.
    pub sentences: usize,
    /// Sentences where something is not as in the reference.
    pub wrong: usize,
    /// All of them together.
    pub fate: WordFate,
}

/// Two systems.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPair {
    pub first: usize,
    pub second: usize,
    pub sentences: [usize; 3],
    /// N-grams that the first has right more often, and those of the second.
    pub ngrams: [Vec<Ngram>; 2],
}

/// All that an overview counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    pub counted: usize,
    /// Sentences that were asked for.
    pub of: usize,
    pub all: OverviewGroup,
    /// Signatures of the scores and what one must know of them, as [`aggregate::notes`] has it.
    pub notes: Vec<String>,
    pub lengths: Vec<OverviewGroup>,
    /// By the tags that anybody gave, such as those of documents and domains.
    pub tags: Vec<OverviewGroup>,
    /// Of each system its alignment errors: by the source word of greatest alpha, then by [`THRESHOLDS`](crate::import::aligned::THRESHOLDS).
    pub by_links: Vec<Vec<AerCounts>>,
    pub classes: Vec<Class>,
    pub origin: String,
    pub words: Vec<Vec<SourceWordErrors>>,
    pub parts: Arc<CellTable>,
    /// What people say of each system, and whether metrics say the same.
    pub judged: Arc<CellTable>,
    pub metrics: Arc<CellTable>,
    /// References that were linked by hand, by forced models, by the aligner, by nobody.
    pub linked: [usize; 4],
    /// Of each system how often its alignments jump so far, from -[`SHOWN_JUMP`] to it; none where there is no alignment.
    pub jumps: Vec<Option<Vec<u64>>>,
    /// The two systems that are compared; `None` where there are fewer.
    pub pair: Option<SystemPair>,
    /// Every two systems that compete, and this pair, by each score.
    pub tested: Vec<TestedScore>,
}

impl Overview {
    /// The two systems that are compared, by each score.
    pub fn of_pair(&self) -> impl Iterator<Item = (&TestedScore, &Paired)> {
        let asked = self.pair.as_ref().map(|pair| (pair.first, pair.second));
        self.tested.iter().filter_map(move |tested| {
            let (_, paired) = tested.pairs.iter().find(|(pair, _)| Some(*pair) == asked)?;
            Some((tested, paired))
        })
    }

    /// What shows the sentences that the scores of a system count.
    pub fn scored(&self, group: &OverviewGroup, system: usize) -> String {
        let all = group.scores.get(system).is_none_or(|scores| scores.sentences == group.sentences);
        let rest = if all { String::new() } else { format!("has:{} has:reference", system + 1) };
        join(&group.condition(), &rest)
    }

    /// Who linked the references, and how many each.
    pub fn linked_by(&self) -> String {
        let there = LINKED.iter().zip(self.linked).filter(|(_, count)| *count > 0);
        there.map(|((_, by), count)| format!("{count} {}", engine::lang::text(by))).collect::<Vec<_>>().join(", ")
    }

    /// What shows the sentences that the AER of a system counts.
    pub fn aligned(&self, group: &OverviewGroup, system: usize) -> String {
        join(&group.condition(), &format!("has:gold aer.{}>=0", system + 1))
    }
}

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
    buckets: Buckets,
    sizes: ByLength,
    scores: Vec<ByLength>,
    tags: BTreeMap<String, (usize, Vec<SystemScores>)>,
    by_links: Vec<Vec<AerCounts>>,
    classes: Vec<Class>,
    words: Vec<HashMap<String, Tally>>,
    parts: PartTally,
    has_parts: Option<bool>,
    linked: [usize; 4],
    jumps: Vec<Option<Vec<u64>>>,
    rivals: Rivals,
    metrics: MetricCount,
}

struct Rivals {
    pair: Option<(usize, usize)>,
    contrast: Contrast,
    sentences: [usize; 3],
    sample: ComparedSample,
    tests: Option<SystemTests>,
}

impl Counting {
    /// Of some rows, in whatever order: resamples are drawn by place, and the same sentences give the same p.
    pub fn new(
        corpus: Arc<CorpusTable>, rows: &[u32], options: &OverviewOptions, frequencies: Arc<Frequencies>,
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
        let of = rows.len();
        let rows: Vec<u32> = spread(of, options.most).map(|n| rows[n]).collect();
        let mut counting = Self {
            of,
            rivals: Rivals {
                pair,
                contrast: Contrast::default(),
                sentences: [0; 3],
                sample: ComparedSample::new(rows.len(), PairedTests::of_pairs(0).seed),
                tests: None,
            },
            rows,
            next: 0,
            frequencies,
            linker,
            only: options.only.clone(),
            sizes: ByLength::new(&buckets),
            scores: vec![ByLength::new(&buckets); systems],
            buckets,
            tags: BTreeMap::new(),
            by_links: vec![Vec::new(); systems],
            classes: CLASSES.iter().map(class).collect(),
            words: vec![HashMap::new(); systems],
            parts: PartTally::default(),
            has_parts: None,
            linked: [0; 4],
            jumps: vec![None; systems],
            metrics: MetricCount::default(),
            corpus,
        };
        if counting.counts(CountedThing::Metrics) {
            counting.metrics = MetricCount::new(&counting.corpus, &counting.rows);
        }
        counting
    }

    pub fn share(&self) -> f32 {
        let counted = if self.rows.is_empty() { 1.0 } else { self.next as f32 / self.rows.len() as f32 };
        counted.midpoint(self.rivals.tests.as_ref().map_or(0.0, SystemTests::share))
    }

    /// Counts some more sentences, then runs the tests; false when all is done.
    pub fn step(&mut self, workspace: &Workspace, count: usize) -> Result<bool> {
        if self.next == self.rows.len() {
            let tests = self.rivals.tests.take().unwrap_or_else(|| self.all_tests());
            return Ok(self.rivals.tests.insert(tests).step() || self.metrics.step(&self.corpus));
        }
        let end = (self.next + count).min(self.rows.len());
        for n in self.next..end {
            self.sentence(self.rows[n] as usize, workspace)?;
        }
        self.next = end;
        Ok(true)
    }

    fn all_tests(&mut self) -> SystemTests {
        let pairs = self.rivals.pair.map_or_else(Vec::new, |pair| every_two(&competing(&self.corpus), pair));
        let tests = PairedTests::of_pairs(pairs.len());
        let mut of_all = SystemTests::new(pairs, tests);
        if self.rivals.pair.is_some() && self.counts(CountedThing::Pair) {
            let none = ComparedSample::new(0, tests.seed);
            of_all.compare(&std::mem::replace(&mut self.rivals.sample, none));
        }
        if self.rivals.pair.is_some() && self.counts(CountedThing::Scores) {
            let given = self.corpus.measures.iter().enumerate().filter(|(_, measure)| measure.is_given());
            let given = given.map(|(n, measure)| (measure.title, Some(n)));
            for (title, measure) in given.chain([("rating", None)]) {
                let column = |at| measure.map_or(TableColumn::Rating(at), |n| TableColumn::Output(n, at));
                let mut sample = BootstrapSample::new(self.rows.len(), tests.seed);
                for &at in &self.rows {
                    let number = |system| MeanCounts::of(column(system).value(&self.corpus, at as usize));
                    sample.add((0..self.corpus.systems.len()).map(number));
                }
                of_all.add(title, true, &sample);
            }
        }
        of_all
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
        let bucket = self.buckets.bucket(corpus.rules.source.count(source));
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
        let cut_reference = if is_cut { corpus.cut(reference.unwrap_or_default()) } else { String::new() };
        // Reading outputs is most of the work.
        let reads = judges
            || self.counts(CountedThing::Jumps)
            || (self.counts(CountedThing::Lengths) || self.counts(CountedThing::Links)) && corpus.golds.contains(&at);
        let mut compared = vec![None; corpus.systems.len()];
        for system in 0..corpus.systems.len() {
            let Some(text) = corpus.systems[system].texts.get(at) else { continue };
            // What is damaged there is told when the workspace opens; the others are counted.
            let output = reads.then(|| workspace.output(corpus.systems[system].system.id, at).ok().flatten()).flatten();
            if let Some(output) = output.as_ref().filter(|_| self.counts(CountedThing::Jumps)) {
                self.jump(system, output.word_links(source, corpus.rules));
            }
            let is_rival = !corpus.systems[system].system.is_forced();
            let fates_of = |output: &SystemOutput| word_fates((source, corpus.rules), &references, &links, output);
            let word_fates =
                output.as_ref().filter(|_| judges && is_rival && reference.is_some()).map(fates_of).unwrap_or_default();
            let own = |output: &SystemOutput| output.word_links(source, corpus.rules);
            if let (Some(parts), Some(links)) = (&parts, &output.as_ref().filter(|_| parts.is_some()).and_then(own)) {
                let output = TaggedOutput { system: (system, corpus.systems.len()), links, fates: &word_fates };
                self.parts.add(parts, &output);
            }
            let Some(reference) = reference else { continue };
            if is_rival && (self.counts(CountedThing::Lengths) || self.counts(CountedThing::Pair)) {
                compared[system] = Some(ComparedScores::of(text, &references, &corpus.bleu));
            }
            let errors = output.as_ref().map(|output| self.links((system, at), (source, reference), output, workspace));
            let errors = errors.transpose()?.flatten();
            if self.counts(CountedThing::Lengths) {
                let mut sums = if is_rival {
                    SystemScores::of(compared[system])
                } else {
                    aggregate::likelihood(&corpus, &corpus.systems[system], at)
                };
                (sums.aligned, sums.errors) = (usize::from(errors.is_some()), errors.unwrap_or_default());
                self.add(system, (bucket, &tags), &sums);
            }
            if !is_rival {
                continue;
            }
            if self.counts(CountedThing::Frequencies) {
                self.count_words(system, &cut_reference, &corpus.cut(text));
            }
            if self.counts(CountedThing::Words) {
                self.count_fates(system, fates(source, corpus.rules.source, &word_fates));
            }
        }
        self.count_pair(at, &compared, &cut_reference);
        Ok(())
    }

    fn add(&mut self, system: usize, (bucket, tags): (Option<usize>, &BTreeSet<String>), sums: &SystemScores) {
        self.scores[system].add(bucket, sums);
        for tag in tags {
            if let Some((_, scores)) = self.tags.get_mut(tag) {
                scores[system] += *sums;
            }
        }
    }

    fn links(
        &mut self, (system, at): (usize, usize), texts: (&str, &str), output: &SystemOutput, workspace: &Workspace,
    ) -> Result<Option<AerCounts>> {
        let output = (output, self.counts(CountedThing::Links));
        let errors = reference_errors(texts, output, &self.corpus, workspace, at)?;
        let sums = &mut self.by_links[system];
        sums.resize(sums.len().max(errors.len()), AerCounts::default());
        sums.iter_mut().zip(&errors).for_each(|(sum, counts)| *sum += *counts);
        Ok(errors.first().copied())
    }

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

    fn jump(&mut self, system: usize, links: Option<Vec<Link>>) {
        let Some(links) = links else { return };
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

    fn count_pair(&mut self, at: usize, compared: &[Option<ComparedScores>], cut_reference: &str) {
        let Some((first, second)) = self.rivals.pair else { return };
        let text = |system: usize| self.corpus.systems[system].texts.get(at).filter(|_| !cut_reference.is_empty());
        if let (Some(one), Some(other)) = (text(first), text(second))
            && self.counts(CountedThing::Ngrams)
        {
            self.rivals.contrast.add(cut_reference, [&self.corpus.cut(one), &self.corpus.cut(other)]);
        }
        if !self.counts(CountedThing::Pair) {
            return;
        }
        if let (Some(one), Some(other)) = (compared[first], compared[second]) {
            // As the column of differences has it, so that its conditions show the same sentences.
            let difference = one.bleu.sentence() as f32 - other.bleu.sentence() as f32;
            self.rivals.sentences[if difference > 0.0 { 0 } else { 1 + usize::from(difference < 0.0) }] += 1;
        }
        self.rivals.sample.add(compared);
    }

    /// What came of it.
    pub fn finish(self) -> Overview {
        let mut lengths = OverviewGroup::all(&self.buckets, &self.sizes, &self.scores);
        let all = lengths.remove(0);
        let asks = self.counts(CountedThing::Judged);
        let judged = if asks { people::judged(&self.corpus, &self.rows) } else { CellTable::default() };
        let names: Vec<&str> = self.corpus.systems.iter().map(|column| column.system.name.as_str()).collect();
        let pair = self.rivals.pair.map(|(first, second)| SystemPair {
            first,
            second,
            sentences: self.rivals.sentences,
            ngrams: [self.rivals.contrast.ranked(0, MOST_NGRAMS), self.rivals.contrast.ranked(1, MOST_NGRAMS)],
        });
        Overview {
            counted: self.rows.len(),
            of: self.of,
            all,
            notes: aggregate::notes(&self.corpus, &self.rows),
            lengths,
            tags: self
                .tags
                .into_iter()
                .map(|(tag, (sentences, scores))| OverviewGroup { tag: Some(tag), bucket: None, sentences, scores })
                .collect(),
            by_links: self.by_links,
            classes: self.classes,
            origin: self.frequencies.origin.clone(),
            words: self.words.into_iter().map(ranked).collect(),
            parts: Arc::new(self.parts.table(&names)),
            judged: Arc::new(judged),
            metrics: Arc::new(self.metrics.table()),
            linked: self.linked,
            jumps: self.jumps,
            pair,
            tested: self.rivals.tests.map_or_else(Vec::new, SystemTests::finish),
        }
    }
}

fn competing(corpus: &CorpusTable) -> Vec<usize> {
    (0..corpus.systems.len()).filter(|at| corpus.systems[*at].system.competes()).collect()
}

fn ranked(words: HashMap<String, Tally>) -> Vec<SourceWordErrors> {
    let word = |(word, (sentences, wrong, fate)): (String, Tally)| SourceWordErrors { word, sentences, wrong, fate };
    let mut words: Vec<SourceWordErrors> = words.into_iter().map(word).filter(|word| word.wrong > 0).collect();
    words.sort_by(|a, b| b.wrong.cmp(&a.wrong).then_with(|| a.word.cmp(&b.word)));
    words.truncate(MOST_WORDS);
    words
}

const LINKED: [(AlignedBy, &str); 4] = [
    (AlignedBy::Hand, id!("by hand")),
    (AlignedBy::Forced, id!("by a model that it was forced through")),
    (AlignedBy::Aligner, id!("by the aligner")),
    (AlignedBy::Nobody, id!("by nobody")),
];
