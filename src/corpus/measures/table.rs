//! What is counted for each sentence and each output: the columns of numbers.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::store::{output::SystemOutput, rules::SideRules};
use engine::aligner::words::LineAligner;
use engine::analysis::bleu::{BleuCounts, BleuSettings};
use engine::analysis::confidence::{CONFIDENCES, ConfidenceEntry, TranslationSigns};
use engine::analysis::{aer, chrf, ter, unknown};
use engine::text::links::{Link, Links};

/// A sentence and what is known of it.
#[derive(Clone, Debug)]
pub struct MeasureSubject<'a> {
    pub source: &'a str,
    pub rules: SideRules,
    pub references: &'a [&'a str],
    /// Links by hand, of the output's words.
    pub gold: Option<&'a Links>,
    /// Links of the statistical aligner, of the output's words.
    pub statistical: Option<&'a [Link]>,
    pub bleu: BleuSettings,
    /// What a system says; `None` where the sentence itself is measured.
    pub output: Option<&'a SystemOutput>,
    pub seen: TranslationSigns<'a>,
}

impl<'a> MeasureSubject<'a> {
    /// An output of which nothing but the text is looked at.
    pub fn new(output: &'a SystemOutput, references: &'a [&'a str], bleu: BleuSettings) -> Self {
        let (gold, statistical, seen) = (None, None, TranslationSigns::default());
        Self {
            source: "",
            rules: SideRules::default(),
            references,
            gold,
            statistical,
            bleu,
            output: Some(output),
            seen,
        }
    }

    fn compared(&self) -> Option<&'a [&'a str]> {
        (!self.references.is_empty()).then_some(self.references)
    }
}

/// A measure; a line of [`MEASURES`] or [`OF_SENTENCES`].
#[derive(Clone, Copy)]
pub struct CorpusMeasure {
    /// As it is typed and written into files.
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub digits: usize,
    /// The number; `None` where there is nothing to measure.
    pub of: Of,
}

/// How a measure is found.
#[derive(Clone, Copy)]
pub enum Of {
    Subject(fn(&MeasureSubject<'_>) -> Option<f32>),
    Seen(fn(&TranslationSigns<'_>) -> Option<f64>),
    Given(&'static str),
}

/// Before the title of a score of others in a workspace, so that no measure has its name.
pub const GIVEN: &str = "given:";
/// The same of a number that a file has of the sentences themselves, such as how difficult they are.
pub const OF_SENTENCE: &str = "sentence:";

impl CorpusMeasure {
    /// Whether it is how near an output comes to the references.
    pub fn compares(&self) -> bool {
        self.counts_tokens() || matches!(self.name, "chrf" | "ter")
    }

    /// Whether it depends on how BLEU cuts text into words.
    pub fn counts_tokens(&self) -> bool {
        matches!(self.name, "bleu" | "ref_ratio")
    }

    /// The number of a subject; `None` where there is nothing to measure.
    pub fn value(&self, subject: &MeasureSubject<'_>) -> Option<f32> {
        match self.of {
            Of::Subject(of) => of(subject),
            Of::Seen(of) => of(&subject.seen).map(|number| number as f32),
            Of::Given(_) => None,
        }
    }

    /// A number that a file gave of outputs ([`GIVEN`]) or sentences ([`OF_SENTENCE`]), with this title.
    pub fn given(title: &str, of: &'static str) -> Self {
        let title = &title.replace(char::is_whitespace, "_");
        let mut name = title.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_");
        if of == GIVEN && OF_PEOPLE.contains(&name.as_str()) {
            name += "_given";
        }
        let about = if of == GIVEN {
            id!("Score of others, as a file gave it")
        } else {
            id!("Number of the sentence, as a file gave it")
        };
        Self { name: kept(&name), title: kept(title), about, digits: 3, of: Of::Given(of) }
    }

    /// Whether it is a number of others.
    pub fn is_given(&self) -> bool {
        matches!(self.of, Of::Given(_))
    }

    /// As the workspace keeps it.
    pub fn stored(&self) -> &'static str {
        if let Of::Given(of) = self.of { kept(&[of, self.title].concat()) } else { self.name }
    }
}

/// The columns of what people, or a metric, say here.
pub const OF_PEOPLE: &[&str] = &["errors", "mqm_score", "suggested", "rating", "stars", "marks", "number"];
/// A name that stays until the program ends: there are few, and columns are passed about by copies.
fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = names.get(name).copied();
    known.unwrap_or_else(|| {
        let name: &'static str = name.to_owned().leak();
        names.insert(name);
        name
    })
}

/// The measure that needs the statistical aligner.
pub const DISAGREEMENT: &str = "disagreement";

const fn measure(
    name: &'static str, title: &'static str, about: &'static str, digits: usize,
    of: fn(&MeasureSubject<'_>) -> Option<f32>,
) -> CorpusMeasure {
    CorpusMeasure { name, title, about, digits, of: Of::Subject(of) }
}

const OWN: &[CorpusMeasure] = &[
    measure("length", id!("words"), id!("Words of the translation"), 0, |subject| {
        Some(subject.rules.target.count(&subject.output?.text) as f32)
    }),
    measure("ratio", id!("ratio"), id!("Words of the translation for each word of the source"), 2, |subject| {
        let source = subject.rules.source.count(subject.source);
        let target = subject.rules.target.count(&subject.output?.text);
        (source > 0).then(|| target as f32 / source as f32)
    }),
    measure(
        "logp",
        id!("log p"),
        id!(
            "log p of the translation, natural logarithm; to be compared only between systems that read the same words: [UNK] \
                is more probable than the word that it stands for"
        ),
        2,
        |subject| subject.output?.log_p,
    ),
    measure(
        "mean_logp",
        id!("log p / |y|"),
        id!("log p of the translation divided by its words, </s> counted"),
        3,
        |subject| {
            let output = subject.output?;
            let end = output.target.len() - output.words().len();
            let count = subject.rules.target.count(&output.text) + end;
            (!output.target.is_empty() && count > 0).then(|| output.log_p.map(|log_p| log_p / count as f32)).flatten()
        },
    ),
    measure(
        "token_logp",
        id!("log p / token"),
        id!("log p of the translation divided by the tokens of the model, </s> counted"),
        3,
        |subject| {
            let output = subject.output?;
            output.log_p.filter(|_| output.token_count > 0).map(|log_p| log_p / output.token_count as f32)
        },
    ),
    measure(
        "bleu",
        "BLEU",
        id!("BLEU of the sentence with effective order, as sacreBLEU's sentence_bleu"),
        1,
        |subject| Some(BleuCounts::of(&subject.output?.text, subject.compared()?, &subject.bleu).sentence() as f32),
    ),
    measure(
        "ref_ratio",
        id!("ref. ratio"),
        id!(
            "Tokens of the translation for each token of the reference nearest in length, as sacreBLEU's ratio of the sentence"
        ),
        2,
        |subject| {
            let counts = BleuCounts::of(&subject.output?.text, subject.compared()?, &subject.bleu);
            counts.ratio().map(|ratio| ratio as f32)
        },
    ),
    measure("chrf", "chrF2", id!("chrF2 of the sentence, as sacreBLEU's sentence_chrf"), 1, |subject| {
        Some(chrf::ChrfCounts::of(&subject.output?.text, subject.compared()?, false).score() as f32)
    }),
    measure(
        "ter",
        "TER",
        id!(
            "Translation edit rate of the sentence, as sacreBLEU's sentence_ter: edits and shifts for 100 words of the \
                reference, so lower is better"
        ),
        1,
        |subject| Some(ter::TerCounts::of(&subject.output?.text, subject.compared()?).score() as f32),
    ),
    measure("unk", "[UNK]", id!("Unknown words in the translation"), 0, |subject| {
        Some(unknown::count(&subject.output?.text) as f32)
    }),
    measure(
        "aer",
        "AER",
        id!("Alignment error against links by hand of the first reference, where the translation is that, or of the \
                translation itself; the links are the source word of greatest alpha for each target word"),
        3,
        |subject| {
            let (gold, found) = (subject.gold?, subject.output?.word_links(subject.source, subject.rules)?);
            aer::AerCounts::of(&found, gold).rates().aer.map(|aer| aer as f32)
        },
    ),
    measure(
        DISAGREEMENT,
        id!("off links"),
        id!("Share of the links of greatest alpha that the statistical aligner has in neither direction"),
        3,
        |subject| {
            let (statistical, found) =
                (subject.statistical?, subject.output?.word_links(subject.source, subject.rules)?);
            let off = found.iter().filter(|link| !statistical.contains(link)).count();
            (!found.is_empty()).then(|| off as f32 / found.len() as f32)
        },
    ),
];

/// Measures of a source sentence.
pub const OF_SENTENCES: &[CorpusMeasure] = &[
    measure("words", id!("words"), id!("Words of the source"), 0, |subject| {
        Some(subject.rules.source.count(subject.source) as f32)
    }),
    measure("reference_words", id!("ref. words"), id!("Words of the first reference"), 0, |subject| {
        Some(subject.rules.target.count(subject.references.first()?) as f32)
    }),
];

/// Measures of an output: those made here, then what alpha says of its translation.
pub static MEASURES: LazyLock<Vec<CorpusMeasure>> = LazyLock::new(|| {
    let is_new = |entry: &&ConfidenceEntry| !ELSEWHERE.contains(&entry.name);
    let seen = CONFIDENCES.iter().filter(is_new).map(|entry| CorpusMeasure {
        name: entry.name,
        title: entry.label,
        about: entry.formula,
        digits: 3,
        of: Of::Seen(entry.of),
    });
    OWN.iter().copied().chain(seen).collect()
});

/// Lines of [`CONFIDENCES`] that [`OWN`] has in another way.
const ELSEWHERE: &[&str] = &["disagreement", "unk", "length_ratio"];

/// All of some measures, NaN where there is nothing to measure.
pub fn measure_all(measures: &[CorpusMeasure], subject: &MeasureSubject<'_>) -> Vec<f32> {
    measures.iter().map(|measure| measure.value(subject).unwrap_or(f32::NAN)).collect()
}

/// What measuring needs beyond the file.
#[derive(Default)]
pub struct Measuring {
    pub aligner: Option<LineAligner>,
    /// How BLEU counts; the workspace says it.
    pub bleu: BleuSettings,
}

impl Measuring {
    pub fn output(
        &mut self, (source, rules): (&str, SideRules), references: &[&str], gold: Option<&Links>, output: &SystemOutput,
    ) -> Vec<f32> {
        let aligns = output.alpha.is_some() || output.links.is_some();
        let aligner = self.aligner.as_mut().filter(|_| aligns);
        // Those of either direction, as they are outlined.
        let statistical = aligner.map(|aligner| {
            let links = rules.aligned(aligner, source, &output.text);
            [links.forward, links.reverse].concat()
        });
        let alpha = output.alpha.clone().unwrap_or_default();
        let reading = output.reading();
        let seen = TranslationSigns { alpha, reading, source: &output.source, target: &output.target, links: None };
        let statistical = statistical.as_deref();
        measure_all(
            &MEASURES,
            &MeasureSubject {
                source,
                rules,
                references,
                gold,
                statistical,
                output: Some(output),
                bleu: self.bleu,
                seen,
            },
        )
    }
}
