//! Floor 7: what is counted for each sentence and each output: the columns of numbers.

use crate::aligner::words::LineAligner;
use crate::analysis::aer;
use crate::analysis::bleu::{BleuSettings, Counts};
use crate::analysis::chrf;
use crate::text::links::{Link, Links};
use crate::text::sentence::UNK;
use crate::workspace::output::Output;

/// A sentence and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The source text.
    pub source: &'a str,
    /// The reference.
    pub reference: Option<&'a str>,
    /// Links by hand, of the output's words.
    pub gold: Option<&'a Links>,
    /// Links of the statistical aligner, of the output's words.
    pub statistical: Option<&'a [Link]>,
    /// What a system says; `None` where the sentence itself is measured.
    pub output: Option<&'a Output>,
}

/// Which end of a measure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Greater numbers.
    Greater,
    /// Smaller numbers.
    Smaller,
    /// Neither.
    Neither,
}

/// A measure; a line of [`MEASURES`] or [`OF_SENTENCES`].
pub struct Measure {
    /// As it is typed and written into files.
    pub name: &'static str,
    /// As the head of a column.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Which end is better.
    pub better: Better,
    /// Digits behind the point.
    pub digits: usize,
    /// The number; `None` where there is nothing to measure.
    pub of: fn(&Subject<'_>) -> Option<f32>,
}

/// Measures of an output.
pub const MEASURES: &[Measure] = &[
    Measure {
        name: "length",
        title: "words",
        about: "Words of the translation",
        better: Better::Neither,
        digits: 0,
        of: |subject| Some(words(&subject.output?.text).count() as f32),
    },
    Measure {
        name: "ratio",
        title: "ratio",
        about: "Words of the translation for each word of the source",
        better: Better::Neither,
        digits: 2,
        of: |subject| {
            let source = words(subject.source).count();
            (source > 0).then(|| Some(words(&subject.output?.text).count() as f32 / source as f32)).flatten()
        },
    },
    Measure {
        name: "logp",
        title: "log p",
        about: "log p of the translation, natural logarithm",
        better: Better::Greater,
        digits: 2,
        of: |subject| subject.output?.log_p,
    },
    Measure {
        name: "mean-logp",
        title: "log p / |y|",
        about: "log p of the translation divided by its words, </s> counted",
        better: Better::Greater,
        digits: 3,
        of: |subject| {
            let output = subject.output?;
            (!output.target.is_empty()).then(|| output.log_p.map(|log_p| log_p / output.target.len() as f32)).flatten()
        },
    },
    Measure {
        name: "bleu",
        title: "BLEU",
        about: "BLEU of the sentence with effective order, as sacreBLEU's sentence_bleu",
        better: Better::Greater,
        digits: 1,
        of: |subject| {
            let reference = subject.reference?;
            Some(Counts::of(&subject.output?.text, &[reference], &BleuSettings::default()).sentence() as f32)
        },
    },
    Measure {
        name: "chrf",
        title: "chrF2",
        about: "chrF2 of the sentence, as sacreBLEU's sentence_chrf",
        better: Better::Greater,
        digits: 1,
        of: |subject| {
            let reference = subject.reference?;
            Some(chrf::Counts::of(&subject.output?.text, &[reference], false).score() as f32)
        },
    },
    Measure {
        name: "unk",
        title: "[UNK]",
        about: "Unknown words in the translation",
        better: Better::Smaller,
        digits: 0,
        of: |subject| Some(subject.output?.text.matches(UNK).count() as f32),
    },
    Measure {
        name: "aer",
        title: "AER",
        about: "Alignment error against links by hand, of a translation that is the reference itself; the links are \
                the source word of greatest alpha for each target word",
        better: Better::Smaller,
        digits: 3,
        of: |subject| {
            let (gold, output, reference) = (subject.gold?, subject.output?, subject.reference?);
            let is_same = words(reference).eq(words(&output.text));
            let found = is_same.then(|| in_chunks(subject)).flatten()?;
            aer::Counts::of(&found, gold).rates().aer.map(|aer| aer as f32)
        },
    },
    Measure {
        name: "disagreement",
        title: "off links",
        about: "Share of the links of greatest alpha that the statistical aligner does not have",
        better: Better::Smaller,
        digits: 3,
        of: |subject| {
            let (statistical, found) = (subject.statistical?, in_chunks(subject)?);
            let off = found.iter().filter(|link| !statistical.contains(link)).count();
            (!found.is_empty()).then(|| off as f32 / found.len() as f32)
        },
    },
];

/// Measures of a source sentence.
pub const OF_SENTENCES: &[Measure] = &[
    Measure {
        name: "words",
        title: "words",
        about: "Words of the source, between spaces",
        better: Better::Neither,
        digits: 0,
        of: |subject| Some(words(subject.source).count() as f32),
    },
    Measure {
        name: "reference-words",
        title: "ref. words",
        about: "Words of the reference, between spaces",
        better: Better::Neither,
        digits: 0,
        of: |subject| Some(words(subject.reference?).count() as f32),
    },
];

/// A measure by its name.
pub fn named(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().chain(OF_SENTENCES).find(|measure| measure.name == name)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    crate::text::links::places::words(text)
}

/// An output's links between the words between spaces of its two texts, as alignments by hand count them.
fn in_chunks(subject: &Subject<'_>) -> Option<Vec<Link>> {
    let output = subject.output?;
    let links = output.hard_links()?;
    if output.alpha.is_none() {
        // They came from a file, which counts so already.
        return Some(links);
    }
    let (source, target) = (chunks(output.source_words(), subject.source)?, chunks(output.words(), &output.text)?);
    let place = |link: &Link| Some(Link { source: *source.get(link.source)?, target: *target.get(link.target)? });
    let mut found: Vec<Link> = links.iter().filter_map(place).collect();
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// For each of some words that a text consists of, the word between spaces that it begins in. `None` where the text is
/// another one.
fn chunks(parts: &[String], text: &str) -> Option<Vec<usize>> {
    let (mut rest, mut chunk, mut places) = (text, 0, Vec::with_capacity(parts.len()));
    for part in parts {
        let trimmed = rest.trim_start();
        let begins_a_chunk = trimmed.len() < rest.len() && !places.is_empty();
        chunk += usize::from(begins_a_chunk);
        places.push(chunk);
        rest = trimmed.strip_prefix(part.as_str())?;
    }
    rest.trim().is_empty().then_some(places)
}

/// All of some measures, NaN where there is nothing to measure.
pub fn measure_all(measures: &[Measure], subject: &Subject<'_>) -> Vec<f32> {
    measures.iter().map(|measure| (measure.of)(subject).unwrap_or(f32::NAN)).collect()
}

/// What measuring needs beyond the file.
#[derive(Default)]
pub struct Measuring {
    /// Finds the links that alpha is compared with; none: they are not compared.
    pub aligner: Option<LineAligner>,
}

impl Measuring {
    /// Measures an output.
    pub fn output(&mut self, source: &str, reference: Option<&str>, gold: Option<&Links>, output: &Output) -> Vec<f32> {
        let aligns = output.alpha.is_some() || output.links.is_some();
        let aligner = self.aligner.as_mut().filter(|_| aligns);
        let statistical = aligner.map(|aligner| aligner.lines(source, &output.text).forward);
        let subject = Subject { source, reference, gold, statistical: statistical.as_deref(), output: Some(output) };
        measure_all(MEASURES, &subject)
    }
}
