//! Columns of numbers, by name: `words`, `bleu.1` (of the first system), `bleu.1-2` (how much more the first has than
//! the second), `stars`.

use crate::measures::{score::score, table::CorpusMeasure};
use crate::store::file::Workspace;
use crate::store::texts::{ColumnNumbers, PIECE, TextStore};
use crate::{judgements::judge::Judges, store::corpus::CorpusTable};
use engine::analysis::{
    concordance::ConcordanceQuery, concordance::ConcordanceSentence, concordance::weights::WeightTally,
};
use engine::error::{Error, Result};
use engine::lang;

const ERRORS: &str = "errors";
const MQM: &str = "mqm_score";
const SUGGESTED: &str = "suggested";
const RATING: &str = "rating";

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableColumn {
    Number,
    Sentence(usize),
    Output(usize, usize),
    Difference(usize, usize, usize),
    Stars,
    Marks,
    Errors(usize),
    Weight(Judges, usize),
    Rating(usize),
    RatingDifference(usize, usize),
}

/// A column of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextColumn {
    Source,
    Reference,
    Output(usize),
}

impl TextColumn {
    /// A column by its name: `source`, `reference`, `output.1`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "source" => Some(Self::Source),
            "reference" => Some(Self::Reference),
            _ => name.strip_prefix("output.")?.parse::<usize>().ok()?.checked_sub(1).map(Self::Output),
        }
    }

    pub fn name(self) -> String {
        match self {
            Self::Source => "source".to_owned(),
            Self::Reference => "reference".to_owned(),
            Self::Output(system) => format!("output.{}", system + 1),
        }
    }

    /// Its texts, where there is the system.
    pub fn texts(self, corpus: &CorpusTable) -> Option<&TextStore> {
        match self {
            Self::Source => Some(&corpus.sources),
            Self::Reference => Some(&corpus.references),
            Self::Output(system) => corpus.systems.get(system).map(|column| &column.texts),
        }
    }
}

impl CorpusTable {
    /// Reads the texts of these sentences, and their numbers of these columns.
    pub fn read_rows(&self, rows: &[u32], columns: &[TableColumn]) {
        for at in rows.iter().map(|at| *at as usize) {
            self.texts().for_each(|texts| texts.read(at / PIECE));
            columns.iter().flat_map(|column| column.numbers(self)).for_each(|numbers| numbers.read(at / PIECE));
        }
    }

    /// Whether the texts of these sentences, and their numbers of these columns, are in memory.
    pub fn has_rows(&self, rows: &[u32], columns: &[TableColumn]) -> bool {
        rows.iter().map(|at| *at as usize).all(|at| {
            self.texts().all(|texts| texts.is_here(at))
                && columns.iter().flat_map(|column| column.numbers(self)).all(|numbers| numbers.is_here(at))
        })
    }
}

fn translated(own: &'static str) -> &'static str {
    match own {
        ERRORS => tr!("errors"),
        MQM => "MQM",
        SUGGESTED => tr!("suggested"),
        RATING => tr!("rating"),
        "stars" => tr!("stars"),
        "marks" => tr!("marks"),
        _ => own,
    }
}

impl TableColumn {
    /// A column by its name; without a system's number the first system is meant.
    pub fn named(name: &str, corpus: &CorpusTable) -> Result<Self> {
        match name {
            "number" => return Ok(Self::Number),
            "stars" => return Ok(Self::Stars),
            "marks" => return Ok(Self::Marks),
            _ => {}
        }
        if let Some(at) = corpus.of_sentences().position(|measure| measure.name == name) {
            return Ok(Self::Sentence(at));
        }
        let (measure, systems) = name.rsplit_once('.').unwrap_or((name, "1"));
        let find = |name: &str| corpus.measures.iter().position(|known| known.name == name);
        let at = find(measure).or_else(|| find(&measure.to_lowercase()));
        let own: Option<fn(usize) -> Self> = match measure {
            ERRORS => Some(Self::Errors),
            MQM => Some(|system| Self::Weight(Judges::People, system)),
            SUGGESTED => Some(|system| Self::Weight(Judges::Metric, system)),
            _ => None,
        };
        let Some(at) = at.or_else(|| (own.is_some() || measure == RATING).then_some(usize::MAX)) else {
            return Err(Error::Input(format!("there is no column `{measure}`; there are {}", names(corpus))));
        };
        let system = |digits: &str| {
            let count = corpus.systems.len();
            let number = digits.parse().ok().filter(|number| (1..=count).contains(number));
            let why = || Error::Input(format!("`{name}` names system {digits}; there are {count}, counted from 1"));
            number.map(|number| number - 1).ok_or_else(why)
        };
        // `bleu.-1` is one system, whose name is wrong.
        let pair = systems.split_once('-').filter(|(first, _)| !first.is_empty());
        if let Some(column) = own.filter(|_| at == usize::MAX) {
            let why = || Error::Input(format!("`{name}`: of {measure} there are no differences; write {measure}.1"));
            return if pair.is_some() { Err(why()) } else { Ok(column(system(systems)?)) };
        }
        match pair {
            None if measure == RATING => Ok(Self::Rating(system(systems)?)),
            Some((first, second)) if measure == RATING => Ok(Self::RatingDifference(system(first)?, system(second)?)),
            None => Ok(Self::Output(at, system(systems)?)),
            Some((first, second)) => Ok(Self::Difference(at, system(first)?, system(second)?)),
        }
    }

    pub fn name(self, corpus: &CorpusTable) -> String {
        self.written(corpus, |measure| measure.name, |own| own, ('.', '-'))
    }

    /// The head of the column.
    pub fn title(self, corpus: &CorpusTable) -> String {
        match self {
            Self::Number => tr!("no.").to_owned(),
            column => column.written(corpus, |measure| lang::text(measure.title), translated, (' ', '\u{2212}')),
        }
    }

    fn written(
        self, corpus: &CorpusTable, of: fn(&CorpusMeasure) -> &'static str, own: fn(&'static str) -> &'static str,
        (point, minus): (char, char),
    ) -> String {
        let measure = self.measure(corpus).map_or("", of);
        match self {
            Self::Number => "number".to_owned(),
            Self::Stars => own("stars").to_owned(),
            Self::Marks => own("marks").to_owned(),
            Self::Errors(system) => format!("{}{point}{}", own(ERRORS), system + 1),
            Self::Weight(Judges::People, system) => format!("{}{point}{}", own(MQM), system + 1),
            Self::Weight(Judges::Metric, system) => format!("{}{point}{}", own(SUGGESTED), system + 1),
            Self::Rating(system) => format!("{}{point}{}", own(RATING), system + 1),
            Self::RatingDifference(first, second) => {
                format!("{}{point}{}{minus}{}", own(RATING), first + 1, second + 1)
            }
            Self::Sentence(_) => measure.to_owned(),
            Self::Output(_, system) => format!("{measure}{point}{}", system + 1),
            Self::Difference(_, first, second) => format!("{measure}{point}{}{minus}{}", first + 1, second + 1),
        }
    }

    /// Its measure, where it is one.
    pub fn measure(self, corpus: &CorpusTable) -> Option<&CorpusMeasure> {
        match self {
            Self::Number
            | Self::Stars
            | Self::Marks
            | Self::Errors(_)
            | Self::Weight(..)
            | Self::Rating(_)
            | Self::RatingDifference(..) => None,
            Self::Sentence(at) => corpus.of_sentences().nth(at),
            Self::Output(at, _) | Self::Difference(at, ..) => corpus.measures.get(at),
        }
    }

    /// What it is, in a sentence.
    pub fn about(self, corpus: &CorpusTable) -> String {
        let system = |at: usize| corpus.systems.get(at).map_or("", |column| column.system.name.as_str());
        let about = self.measure(corpus).map_or("", |measure| lang::text(measure.about));
        match self {
            Self::Number => tr!("The place in the corpus").to_owned(),
            Self::Stars => tr!("The most stars that an annotator gave").to_owned(),
            Self::Marks => tr!("How many errors are marked").to_owned(),
            Self::Errors(of) => {
                let about =
                    tr!("Errors for each word by the weights of the scheme, where they were judged; {}", system(of));
                format!("{about} ({})", corpus.scheme.name())
            }
            Self::Weight(Judges::People, of) => {
                let about = tr!("MQM: weights of the errors, the mean over annotators; less is better; {}", system(of));
                format!("{about} ({})", corpus.scheme.name())
            }
            Self::Weight(Judges::Metric, of) => tr!("Weights of the errors that a metric suggests; {}", system(of)),
            Self::Rating(of) => tr!("Mean of the ratings from 0 to 100 that annotators gave; {}", system(of)),
            Self::RatingDifference(first, second) => {
                tr!("Mean of the ratings that annotators gave; of {} less that of {}", system(first), system(second))
            }
            Self::Sentence(_) => about.to_owned(),
            Self::Output(_, of) => format!("{about}; {}", system(of)),
            Self::Difference(_, first, second) => {
                tr!("{about}; of {} less that of {}", system(first), system(second), about)
            }
        }
    }

    /// The number of a sentence, from 0; NaN where there is none.
    pub fn value(self, corpus: &CorpusTable, at: usize) -> f32 {
        let of = |measure: usize, system: usize| {
            corpus.systems.get(system).and_then(|column| column.numbers.get(measure)).map_or(f32::NAN, |n| n.get(at))
        };
        match self {
            Self::Number => (at + 1) as f32,
            Self::Sentence(measure) => corpus.numbers.get(measure).map_or(f32::NAN, |numbers| numbers.get(at)),
            Self::Output(measure, system) => of(measure, system),
            Self::Difference(measure, first, second) => of(measure, first) - of(measure, second),
            Self::Stars => {
                let by = corpus.judgements.get(&at);
                by.map_or(0.0, |by| by.values().map(|one| f32::from(one.stars)).fold(0.0, f32::max))
            }
            Self::Marks => {
                let count = |by| Judges::People.said(by).map(|(_, one)| one.marks.len() as f32).sum();
                corpus.judgements.get(&at).map_or(0.0, |by| count(by))
            }
            Self::Rating(system) => rating(corpus, system, at),
            Self::RatingDifference(first, second) => rating(corpus, first, at) - rating(corpus, second, at),
            Self::Errors(system) => {
                score(corpus, system, [at], Judges::People).per_word().map_or(f32::NAN, |score| score as f32)
            }
            Self::Weight(judges, system) => {
                let weights = score(corpus, system, [at], judges).segments;
                weights.first().map_or(f32::NAN, |weight| *weight as f32)
            }
        }
    }

    /// The same of another system.
    pub fn of_system(self, system: usize) -> Self {
        match self {
            Self::Output(measure, _) => Self::Output(measure, system),
            Self::Errors(_) => Self::Errors(system),
            Self::Weight(judges, _) => Self::Weight(judges, system),
            Self::Rating(_) => Self::Rating(system),
            other => other,
        }
    }

    /// The numbers in memory that [`TableColumn::value`] reads; none of what is judged.
    pub fn numbers(self, corpus: &CorpusTable) -> impl Iterator<Item = &ColumnNumbers> {
        let of = |measure: usize, system: usize| corpus.systems.get(system)?.numbers.get(measure);
        let both = match self {
            Self::Sentence(measure) => [corpus.numbers.get(measure), None],
            Self::Output(measure, system) => [of(measure, system), None],
            Self::Difference(measure, first, second) => [of(measure, first), of(measure, second)],
            _ => [None, None],
        };
        both.into_iter().flatten()
    }

    /// Whether it is about what people say.
    pub fn is_judged(self) -> bool {
        use TableColumn::{Errors, Marks, Rating, RatingDifference, Stars, Weight};
        matches!(self, Stars | Marks | Errors(_) | Weight(..) | Rating(_) | RatingDifference(..))
    }

    /// A number as it is shown; empty where there is none.
    pub fn text(self, corpus: &CorpusTable, number: f32) -> String {
        let own = match self {
            Self::Errors(_) => 3,
            Self::Weight(..) => 2,
            Self::Rating(_) | Self::RatingDifference(..) => 1,
            _ => 0,
        };
        let digits = self.measure(corpus).map_or(own, |measure| measure.digits);
        match self {
            _ if number.is_nan() => String::new(),
            // a year, or how many annotators: as the file had it
            Self::Sentence(_) if self.measure(corpus).is_some_and(CorpusMeasure::is_given) => number.to_string(),
            _ => format!("{number:.digits$}"),
        }
    }
}

fn rating(corpus: &CorpusTable, system: usize, at: usize) -> f32 {
    let (Some(column), Some(by)) = (corpus.systems.get(system), corpus.judgements.get(&at)) else { return f32::NAN };
    let given = Judges::People.said(by).filter_map(|(_, judgement)| judgement.ratings.get(&column.system.name));
    let (sum, count) = given.fold((0.0, 0.0), |(sum, count), rating| (sum + f32::from(*rating), count + 1.0));
    sum / count
}

fn names(corpus: &CorpusTable) -> String {
    let own = ["number", "stars", "marks", ERRORS, MQM, SUGGESTED, RATING].into_iter();
    let measures = corpus.of_sentences().chain(corpus.measures.iter()).map(|measure| measure.name);
    own.chain(measures).collect::<Vec<_>>().join(", ")
}

pub(super) fn tally(names: &[String], query: Option<&ConcordanceQuery>) -> Result<WeightTally> {
    query
        .and_then(|query| WeightTally::new(names.to_vec(), query.clone()))
        .ok_or_else(|| Error::Input(tr!("Weights need source words, | and output words, such as not | pas").to_owned()))
}

pub(super) fn add(
    tally: &mut WeightTally, systems: impl Iterator<Item = Option<usize>>, by_parts: bool,
    (corpus, workspace): (&CorpusTable, &Workspace), at: usize,
) {
    let text = corpus.sources.get(at).unwrap_or_default();
    let rules = corpus.rules;
    let own = || Some(rules.source.owned(text));
    let Some(source) = (if by_parts { workspace.parts(at, text) } else { own() }) else { return };
    for (n, system) in systems.enumerate() {
        let column = system.and_then(|system| corpus.systems.get(system));
        // A damaged output is told of where it is shown.
        let said = column.and_then(|column| workspace.output(column.system.id, at).ok().flatten());
        let Some((alpha, said)) = said.and_then(|said| Some((said.word_alignment(text, rules)?, said))) else {
            continue;
        };
        let output = rules.target.owned(&said.text);
        let links = said.word_links(text, rules).unwrap_or_default();
        tally.add(n, &ConcordanceSentence { source: &source, output: &output, links: &links, chunks: None }, &alpha);
    }
}
