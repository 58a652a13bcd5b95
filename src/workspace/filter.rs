//! Floor 7: which sentences are shown: a line of conditions that all hold.
//!
//! ```text
//! bank                    a text has it: source, reference or an output, letter case aside
//! "river bank"            the same with spaces
//! /colou?rs?\b/           a regular expression
//! source:bank             the source has it; also reference:, output: (any system), 2: (the second system), note:
//! bleu<20  bleu.2>=40     a number of the first, of the second system
//! bleu.1-2>10             the first system has at least so much more than the second
//! words=7  number<=100    of the sentence itself
//! tag:idiom  by:anna      judged so, by this annotator
//! differs:anna,bob        these two judged it otherwise; differs:anna,bob,stars (tags, marks, links): in this
//! has:gold  has:marks  has:note  has:reference  has:2
//! -source:bank            not so
//! ```

use crate::error::{Error, Result};
use crate::text::lines::Needle;
use crate::workspace::agreement::{ASPECTS, Aspect, check, differences};
use crate::workspace::column::Column;
use crate::workspace::corpus::Corpus;
use crate::workspace::judge::Judgement;
use crate::workspace::texts::Texts;

/// Conditions that all hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    terms: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Term {
    is_negated: bool,
    condition: Condition,
}

#[derive(Clone, Debug)]
enum Condition {
    Text(Place, Pattern),
    Number(Column, Relation, f32),
    Tag(String),
    Note(Needle),
    By(String),
    Differs(String, String, Option<Aspect>),
    Has(Thing),
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Any,
    Source,
    Reference,
    AnyOutput,
    Output(usize),
}

#[derive(Clone, Debug)]
enum Pattern {
    Plain(Needle),
    Expression(regex::Regex),
}

#[derive(Clone, Copy, Debug)]
enum Relation {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

#[derive(Clone, Copy, Debug)]
enum Thing {
    Gold,
    Marks,
    Note,
    Reference,
    Output(usize),
}

/// Relations as they are typed, longer ones first.
const RELATIONS: &[(&str, Relation)] = &[
    ("<=", Relation::LessEqual),
    (">=", Relation::GreaterEqual),
    ("<", Relation::Less),
    (">", Relation::Greater),
    ("=", Relation::Equal),
];

impl Filter {
    /// Reads a line of conditions.
    ///
    /// # Errors
    /// A sentence about the condition that is none.
    pub fn new(line: &str, corpus: &Corpus) -> Result<Self> {
        let mut terms = Vec::new();
        for word in split(line)? {
            let (is_negated, word) = match word.strip_prefix('-') {
                Some(rest) if !rest.is_empty() => (true, rest),
                _ => (false, word.as_str()),
            };
            terms.push(Term { is_negated, condition: condition(word, corpus)? });
        }
        Ok(Self { terms })
    }

    /// Whether everything is shown.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// For each sentence whether it is shown.
    pub fn shown(&self, corpus: &Corpus) -> Vec<bool> {
        let mut shown = vec![true; corpus.len()];
        for term in &self.terms {
            let holds = term.condition.holds(corpus);
            for (shown, holds) in shown.iter_mut().zip(holds) {
                *shown &= holds != term.is_negated;
            }
        }
        shown
    }
}

impl Condition {
    fn holds(&self, corpus: &Corpus) -> Vec<bool> {
        let mut holds = vec![false; corpus.len()];
        let judged = |holds: &mut [bool], is: &dyn Fn(&str, &Judgement) -> bool| {
            for (at, by) in corpus.judgements.iter() {
                if let Some(holds) = holds.get_mut(*at) {
                    *holds = by.iter().any(|(name, judgement)| is(name, judgement));
                }
            }
        };
        match self {
            Self::Text(place, pattern) => {
                for texts in place.texts(corpus) {
                    let mut found = |at: usize| holds[at] = true;
                    match pattern {
                        Pattern::Plain(needle) => texts.search(needle, &mut found),
                        Pattern::Expression(rule) => texts.search_each(rule, &mut found),
                    }
                }
            }
            Self::Number(column, relation, number) => {
                for (at, holds) in holds.iter_mut().enumerate() {
                    *holds = relation.holds(column.value(corpus, at), *number);
                }
            }
            Self::Tag(tag) => judged(&mut holds, &|_, judgement| judgement.tags.contains(tag)),
            Self::Note(needle) => {
                judged(&mut holds, &|_, judgement| !judgement.note.is_empty() && needle.is_in(&judgement.note));
            }
            Self::By(name) => judged(&mut holds, &|by, _| by == name),
            Self::Differs(first, second, aspect) => {
                for at in corpus.judgements.keys().filter(|at| **at < corpus.len()) {
                    let found = differences(corpus, *at, first, second);
                    holds[*at] = aspect.map_or(!found.is_empty(), |aspect| found.contains(&aspect));
                }
            }
            Self::Has(Thing::Marks) => judged(&mut holds, &|_, judgement| !judgement.marks.is_empty()),
            Self::Has(Thing::Note) => judged(&mut holds, &|_, judgement| !judgement.note.is_empty()),
            Self::Has(Thing::Gold) => {
                corpus.golds.iter().filter(|at| **at < corpus.len()).for_each(|at| holds[*at] = true);
            }

            Self::Has(Thing::Reference) => there(&corpus.references, &mut holds),
            Self::Has(Thing::Output(system)) => {
                if let Some(column) = corpus.systems.get(*system) {
                    there(&column.texts, &mut holds);
                }
            }
        }
        holds
    }
}

fn there(texts: &Texts, holds: &mut [bool]) {
    for (at, holds) in holds.iter_mut().enumerate() {
        *holds = texts.get(at).is_some();
    }
}

impl Place {
    fn texts(self, corpus: &Corpus) -> Vec<&Texts> {
        let outputs = || corpus.systems.iter().map(|column| &column.texts);
        match self {
            Self::Any => [&corpus.sources, &corpus.references].into_iter().chain(outputs()).collect(),
            Self::Source => vec![&corpus.sources],
            Self::Reference => vec![&corpus.references],
            Self::AnyOutput => outputs().collect(),
            Self::Output(at) => outputs().skip(at).take(1).collect(),
        }
    }
}

impl Relation {
    /// Never of something that is not there.
    fn holds(self, value: f32, number: f32) -> bool {
        match self {
            Self::Less => value < number,
            Self::LessEqual => value <= number,
            Self::Equal => value == number,
            Self::GreaterEqual => value >= number,
            Self::Greater => value > number,
        }
    }
}

/// The words of a line; quotes and slashes keep spaces together.
fn split(line: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut within) = (Vec::new(), String::new(), None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match within {
            Some(end) => {
                word.push(c);
                if c == '\\'
                    && end == '/'
                    && let Some(next) = chars.next()
                {
                    word.push(next);
                } else if c == end {
                    within = None;
                }
            }
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            None => {
                let begins = word.is_empty() || word == "-" || word.ends_with(':');
                within = (begins && (c == '"' || c == '/')).then_some(c);
                word.push(c);
            }
        }
    }
    if let Some(end) = within {
        return Err(Error::Input(format!("`{word}` has no closing {end}")));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

fn condition(word: &str, corpus: &Corpus) -> Result<Condition> {
    if word.starts_with(['"', '/']) {
        return Ok(Condition::Text(Place::Any, pattern(word)?));
    }
    if let Some((head, rest)) = word.split_once(':')
        && let Some(condition) = of_place(head, rest, corpus)?
    {
        return Ok(condition);
    }
    for (sign, relation) in RELATIONS {
        if let Some((name, number)) = word.split_once(sign) {
            let column = Column::named(name, corpus)?;
            let why = || Error::Input(format!("`{number}` in `{word}` is no number"));
            return Ok(Condition::Number(column, *relation, number.parse().map_err(|_| why())?));
        }
    }
    Ok(Condition::Text(Place::Any, pattern(word)?))
}

/// A condition `head:rest`; `None` where the head is none, for texts have colons too.
fn of_place(head: &str, rest: &str, corpus: &Corpus) -> Result<Option<Condition>> {
    let plain = || rest.trim_matches('"').to_owned();
    let text = |place: Place| Ok(Some(Condition::Text(place, pattern(rest)?)));
    match head {
        "source" => text(Place::Source),
        "reference" => text(Place::Reference),
        "output" => text(Place::AnyOutput),
        "tag" => Ok(Some(Condition::Tag(plain()))),
        "note" => Ok(Some(Condition::Note(Needle::new(&plain())))),
        "by" => Ok(Some(Condition::By(plain()))),
        "differs" => differs(&plain(), corpus).map(Some),
        "has" => match rest {
            "gold" => Ok(Some(Condition::Has(Thing::Gold))),
            "marks" => Ok(Some(Condition::Has(Thing::Marks))),
            "note" => Ok(Some(Condition::Has(Thing::Note))),
            "reference" => Ok(Some(Condition::Has(Thing::Reference))),
            _ => Ok(Some(Condition::Has(Thing::Output(system(rest, corpus)?)))),
        },
        _ if !head.is_empty() && head.bytes().all(|byte| byte.is_ascii_digit()) && head.len() < 4 => {
            text(Place::Output(system(head, corpus)?))
        }
        _ => Ok(None),
    }
}

/// `anna,bob` or `anna,bob,stars`.
fn differs(text: &str, corpus: &Corpus) -> Result<Condition> {
    let mut names = text.split(',').map(str::trim);
    let (Some(first), Some(second)) = (names.next(), names.next()) else {
        let message = format!("`differs:{text}` names one annotator; write two, as differs:anna,bob");
        return Err(Error::Input(message));
    };
    check(corpus, first)?;
    check(corpus, second)?;
    let why = |name: &str| {
        let known: Vec<&str> = ASPECTS.iter().map(|aspect| aspect.name()).collect();
        Error::Input(format!("`{name}` in `differs:{text}` is none of {}", known.join(", ")))
    };
    let named = |name: &str| ASPECTS.iter().find(|aspect| aspect.name() == name).copied().ok_or_else(|| why(name));
    Ok(Condition::Differs(first.to_owned(), second.to_owned(), names.next().map(named).transpose()?))
}

fn system(digits: &str, corpus: &Corpus) -> Result<usize> {
    let count = corpus.systems.len();
    let number: Option<usize> = digits.parse().ok().filter(|number| (1..=count).contains(number));
    let why = || {
        let advice = "gold, marks, note, reference, or the number of a system";
        Error::Input(format!("`{digits}` is none of {advice}; there are {count} systems, counted from 1"))
    };
    number.map(|number| number - 1).ok_or_else(why)
}

fn pattern(text: &str) -> Result<Pattern> {
    if let Some(rule) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|rule| !rule.is_empty()) {
        let built = regex::RegexBuilder::new(rule).case_insensitive(true).build();
        let why = |error: regex::Error| Error::Input(format!("`{text}` is no regular expression: {error}"));
        return built.map(Pattern::Expression).map_err(why);
    }
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Ok(Pattern::Plain(Needle::new(quoted.unwrap_or(text))))
}
