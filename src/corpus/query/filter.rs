//! Which sentences are shown: a line of conditions that all hold, unless `OR` stands between them.
//!
//! ```text
//! bank                    a text has it: source, reference or an output, letter case aside
//! "river bank"            the same with spaces
//! /colou?rs?\b/           a regular expression
//! source:bank             the source has it; also reference:, output: (any system), 2: (the second system), note:
//! 10:30                   a time is a text; 2:"30" is 30 in the second system's output
//! bleu<20  bleu.2 >= 40   a number of the first system, which is meant where no number stands, and of the second
//! bleu.1-2>10             the first system has at least so much more than the second
//! words=7  number<=100    of the sentence itself
//! words=11..20  bleu.1=..5 from and to, both among them; an end may be left out
//! freq=0..4               the reference has a word that is so frequent; freq.1: it or the first system
//! right.1:"le chat"       the first system has these words as the reference has them; right.1-2: more often than the second
//! missed.1:chat           the reference has them more often than the first system; extra.1: the other way round
//! wrong.1:bank            what the first system, or the reference, has for this source word is not what the other has
//! jump.1=-3  jump.1=8..   the alignment of the first system jumps so far
//! tag:idiom  by:anna      judged so, by this annotator
//! task:anna  todo:anna    of the campaign, for this annotator; and not judged yet
//! differs:anna,bob        these two judged it otherwise; differs:anna,bob,stars (tags, marks, links): in this
//! has:gold  has:marks  has:note  has:reference  has:2
//! -source:bank            not so; also NOT source:bank
//! a b OR c                both a and b, or c; a (b OR c) with groups
//! ```

use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::ops::RangeBounds as _;
use std::sync::Arc;

use crate::judgements::agreement::{ASPECTS, Aspect, check, differences};
use crate::judgements::judge::{Judgement, Judges};
use crate::query::column::{TableColumn, TextColumn};
use crate::query::line::{Step, parts, shown, steps};
use crate::store::{corpus::CorpusTable, texts::TextStore};
use engine::analysis::lexical::{bare, tokens};
use engine::error::{Error, Result};
use engine::text::words::{composed, composed_rule};
use engine::text::{lines::Needle, words::folded};

/// Conditions, and which of them must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    terms: Vec<Term>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Term {
    condition: Condition,
    gathered: Option<Arc<Vec<bool>>>,
}

/// A condition that more than the corpus in memory, or more than a moment, is needed for.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpensiveCondition {
    /// The reference, or what a system says, has a word of such a frequency.
    Frequency(Option<usize>, u32, u32),
    Ngram(Matched, Vec<String>),
    Wrong(usize, String),
    Jump(usize, i32, i32),
}

/// What an n-gram must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    Right(usize),
    More(usize, usize),
    Missed(usize),
    Extra(usize),
}

#[derive(Clone, Debug)]
enum Condition {
    Text(Place, Pattern),
    Number(TableColumn, Bounds),
    ExpensiveCondition(ExpensiveCondition),
    Tag(String),
    Note(Needle),
    By(String),
    /// For this annotator, by the campaign; whether only what is to be done.
    Task(String, bool),
    Differs(String, String, Option<Aspect>),
    Has(Thing),
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Any,
    AnyOutput,
    Of(TextColumn),
}

#[derive(Clone, Debug)]
enum Pattern {
    Plain(Needle),
    Expression(regex::Regex),
}

#[derive(Clone, Copy, Debug)]
enum Thing {
    Gold,
    Marks,
    Note,
    Text(TextColumn),
}

type Bounds = (Bound<f32>, Bound<f32>);
type Relation = (&'static str, fn(f32) -> Bounds);

/// Relations as they are typed, longer ones first, and what they say of a number.
const RELATIONS: &[Relation] = &[
    ("<=", |number| (Unbounded, Included(number))),
    (">=", |number| (Included(number), Unbounded)),
    ("<", |number| (Unbounded, Excluded(number))),
    (">", |number| (Excluded(number), Unbounded)),
    ("=", |number| (Included(number), Included(number))),
];

/// Other ways of writing them.
const SIGNS: [(&str, &str); 4] = [("\u{2264}", "<="), ("\u{2265}", ">="), ("==", "="), ("=<", "<=")];

impl Filter {
    /// Reads a line of conditions.
    pub fn new(line: &str, corpus: &CorpusTable) -> Result<Self> {
        let mut terms = Vec::new();
        let steps = steps(parts(line)?, &mut |word| {
            terms.push(Term { condition: condition(word, corpus)?, gathered: None });
            Ok(())
        })?;
        Ok(Self { terms, steps })
    }

    /// Whether what people say decides what is shown.
    pub fn reads_judgements(&self) -> bool {
        self.terms.iter().any(|term| match &term.condition {
            Condition::Number(column, _) => column.is_judged(),
            Condition::Tag(_) | Condition::Note(_) | Condition::By(_) | Condition::Differs(..) => true,
            Condition::Task(_, to_do) => *to_do,
            Condition::Has(thing) => matches!(thing, Thing::Marks | Thing::Note),
            Condition::Text(..) | Condition::ExpensiveCondition(_) => false,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Finds out where the costly conditions hold, for each sentence.
    pub fn gather(&mut self, find: &mut dyn FnMut(&ExpensiveCondition) -> Result<Vec<bool>>) -> Result<()> {
        for term in &mut self.terms {
            if let Condition::ExpensiveCondition(costly) = &term.condition {
                term.gathered = Some(Arc::new(find(costly)?));
            }
        }
        Ok(())
    }

    /// For each sentence whether it is shown. Costly conditions hold nowhere until they are gathered.
    pub fn shown(&self, corpus: &CorpusTable) -> Vec<bool> {
        let mut terms = self.terms.iter();
        let next = || {
            let term = terms.next();
            let gathered = term.and_then(|term| term.gathered.as_deref().cloned());
            gathered.or_else(|| term.map(|term| term.condition.holds(corpus))).unwrap_or_default()
        };
        shown(&self.steps, next).unwrap_or_else(|| vec![true; corpus.len()])
    }
}

impl Condition {
    fn holds(&self, corpus: &CorpusTable) -> Vec<bool> {
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
            Self::Number(column, bounds) => {
                for (at, holds) in holds.iter_mut().enumerate() {
                    *holds = bounds.contains(&column.value(corpus, at));
                }
            }
            Self::ExpensiveCondition(_) => {}
            Self::Tag(tag) => {
                judged(&mut holds, &|_, judgement| judgement.tags.iter().any(|own| composed(own) == composed(tag)));
            }
            Self::Note(needle) => {
                judged(&mut holds, &|_, judgement| !judgement.note.is_empty() && needle.is_in(&judgement.note));
            }
            Self::By(name) => judged(&mut holds, &|by, _| composed(by) == composed(name)),
            Self::Task(name, to_do) => {
                for (campaign, at) in
                    corpus.campaign.iter().flat_map(|all| all.tasks(name).into_iter().map(move |at| (all, at as usize)))
                {
                    let is_left = !to_do || !campaign.is_done_by(corpus, name, at);
                    if let Some(holds) = holds.get_mut(at) {
                        *holds = is_left;
                    }
                }
            }
            Self::Differs(first, second, aspect) => {
                for at in corpus.judgements.keys().filter(|at| **at < corpus.len()) {
                    let found = differences(corpus, *at, first, second);
                    holds[*at] = aspect.map_or(!found.is_empty(), |aspect| found.contains(&aspect));
                }
            }
            Self::Has(Thing::Marks) => {
                judged(&mut holds, &|by, judgement| Judges::People.are(by) && !judgement.marks.is_empty());
            }
            Self::Has(Thing::Note) => judged(&mut holds, &|_, judgement| !judgement.note.is_empty()),
            Self::Has(Thing::Gold) => {
                corpus.golds.iter().filter(|at| **at < corpus.len()).for_each(|at| holds[*at] = true);
            }
            Self::Has(Thing::Text(column)) => {
                if let Some(texts) = column.texts(corpus) {
                    holds.iter_mut().enumerate().for_each(|(at, holds)| *holds = texts.get(at).is_some());
                }
            }
        }
        holds
    }
}

impl Place {
    fn texts(self, corpus: &CorpusTable) -> Vec<&TextStore> {
        match self {
            Self::Any => corpus.texts().collect(),
            Self::AnyOutput => corpus.systems.iter().map(|column| &column.texts).collect(),
            Self::Of(TextColumn::Reference) => std::iter::once(&corpus.references).chain(&corpus.further).collect(),
            Self::Of(column) => column.texts(corpus).into_iter().collect(),
        }
    }
}

fn condition(word: &str, corpus: &CorpusTable) -> Result<Condition> {
    if word.starts_with(['"', '/']) {
        return Ok(Condition::Text(Place::Any, pattern(word)?));
    }
    if let Some((head, rest)) = word.split_once(':')
        && let Some(condition) = of_place(head, rest, corpus)?
    {
        if rest.is_empty() {
            return Err(Error::Input(format!(
                "`{word}` says nothing behind its colon; write `{word}...`, or leave it out"
            )));
        }
        return Ok(condition);
    }
    let written = SIGNS.iter().fold(word.to_owned(), |written, (sign, usual)| written.replace(sign, usual));
    for (sign, bounds) in RELATIONS {
        if let Some((name, number)) = written.split_once(sign) {
            if name.is_empty() || number.is_empty() || name.ends_with('!') {
                return Err(Error::Input(format!(
                    "`{word}` needs a column, one of < <= = >= > and a number, as in bleu.1<20, and - before it for its contrary; write \
                     \"{word}\" in quotes to find it in a text"
                )));
            }
            if let Some(costly) = of_counts(name, (sign, number), word, corpus)? {
                return Ok(Condition::ExpensiveCondition(costly));
            }
            let range = range(number, word)?.filter(|_| *sign == "=");
            let column = TableColumn::named(name, corpus)?;
            if let Some((low, high)) = range {
                return Ok(Condition::Number(column, (Included(low), Included(high))));
            }
            let why = || Error::Input(format!("`{number}` in `{word}` is no number; write it as in 20.5"));
            return Ok(Condition::Number(column, bounds(number.parse().map_err(|_| why())?)));
        }
    }
    let text = Condition::Text(Place::Any, pattern(word)?);
    match of_text(word, corpus) {
        Some(why) if !text.holds(corpus).contains(&true) => Err(Error::Input(why)),
        _ => Ok(text),
    }
}

pub(crate) fn range(text: &str, word: &str) -> Result<Option<(f32, f32)>> {
    let Some((low, high)) = text.split_once("..") else { return Ok(None) };
    let end = |text: &str, open: f32| {
        let why = || Error::Input(format!("`{text}` in `{word}` is no number; write a range as in words=11..20"));
        if text.is_empty() { Ok(open) } else { text.parse().map_err(|_| why()) }
    };
    let (low, high) = (end(low, f32::NEG_INFINITY)?, end(high, f32::INFINITY)?);
    if low > high {
        return Err(Error::Input(format!(
            "`{text}` in `{word}` has its ends the wrong way round; the lesser comes first"
        )));
    }
    Ok(Some((low, high)))
}

/// `freq=0..4`, `freq.1<5`, `jump.1=-3`; `None` where it is about neither.
fn of_counts(
    name: &str, (sign, number): (&str, &str), word: &str, corpus: &CorpusTable,
) -> Result<Option<ExpensiveCondition>> {
    let (head, of) = name.split_once('.').map_or((name, None), |(head, of)| (head, Some(of)));
    if !matches!(head, "freq" | "jump") {
        return Ok(None);
    }
    let whole = || Error::Input(format!("`{number}` in `{word}` is no whole number and no range such as 2..5"));
    let (low, high) = match range(number, word)? {
        Some(range) if sign == "=" => range,
        Some(_) => return Err(whole()),
        None => {
            let number = number.parse::<i32>().map_err(|_| whole())? as f32;
            match sign {
                "<" => (f32::NEG_INFINITY, number - 1.0),
                "<=" => (f32::NEG_INFINITY, number),
                ">" => (number + 1.0, f32::INFINITY),
                ">=" => (number, f32::INFINITY),
                _ => (number, number),
            }
        }
    };
    if head == "jump" {
        return Ok(Some(ExpensiveCondition::Jump(
            system(of.unwrap_or("1"), corpus)?,
            low.ceil() as i32,
            high.floor() as i32,
        )));
    }
    let system = of.map(|of| system(of, corpus)).transpose()?;
    Ok(Some(ExpensiveCondition::Frequency(system, low.ceil() as u32, high.floor() as u32)))
}

/// `right.1:le chat`, `wrong.1:bank`; `None` where the head is none of these.
fn of_words(head: &str, rest: &str, corpus: &CorpusTable) -> Result<Option<ExpensiveCondition>> {
    let (head, of) = head.split_once('.').unwrap_or((head, "1"));
    if !matches!(head, "right" | "missed" | "extra" | "wrong") {
        return Ok(None);
    }
    let text = composed(&unquoted(rest)).into_owned();
    if head == "wrong" {
        return Ok(Some(ExpensiveCondition::Wrong(system(of, corpus)?, bare(text.trim()))));
    }
    let matched = match (head, of.split_once('-')) {
        ("right", Some((first, second))) => Matched::More(system(first, corpus)?, system(second, corpus)?),
        ("right", None) => Matched::Right(system(of, corpus)?),
        ("missed", _) => Matched::Missed(system(of, corpus)?),
        _ => Matched::Extra(system(of, corpus)?),
    };
    // Uncut, for a word alone may come apart at other places than within a sentence.
    let text = tokens(&text, corpus.bleu.tokenization);
    let words: Vec<String> = text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if words.is_empty() {
        return Err(Error::Input(format!("`{head}.{of}:` has no words; write it as in {head}.{of}:\"le chat\"")));
    }
    Ok(Some(ExpensiveCondition::Ngram(matched, words)))
}

fn of_place(head: &str, rest: &str, corpus: &CorpusTable) -> Result<Option<Condition>> {
    let text = |place: Place| Ok(Condition::Text(place, pattern(rest)?));
    let condition = match head {
        "output" => text(Place::AnyOutput),
        "tag" => of_tag(&unquoted(rest), corpus)
            .map_or_else(|| Ok(Condition::Tag(unquoted(rest))), |why| Err(Error::Input(why))),
        "note" => Ok(Condition::Note(Needle::new(&unquoted(rest)))),
        "by" => Ok(Condition::By(unquoted(rest))),
        "task" | "todo" => task(&unquoted(rest), head == "todo", corpus),
        "differs" => differs(&unquoted(rest), corpus),
        "has" => has(rest, corpus).map(Condition::Has),
        "source" => text(Place::Of(TextColumn::Source)),
        "reference" => text(Place::Of(TextColumn::Reference)),
        _ if is_time(head, rest) => return Ok(None),
        _ if !head.is_empty() && head.bytes().all(|byte| byte.is_ascii_digit()) && head.len() < 4 => {
            text(Place::Of(TextColumn::Output(system(head, corpus)?)))
        }
        _ => {
            if let Some(meant) = misspelt(head) {
                let message = format!(
                    "`{head}:` is no condition; write `{meant}:`, or \"{head}:{rest}\" in quotes to find it in a text"
                );
                return Err(Error::Input(message));
            }
            return Ok(of_words(head, rest, corpus)?.map(Condition::ExpensiveCondition));
        }
    };
    condition.map(Some)
}

fn has(what: &str, corpus: &CorpusTable) -> Result<Thing> {
    match what {
        "gold" => Ok(Thing::Gold),
        "marks" => Ok(Thing::Marks),
        "note" => Ok(Thing::Note),
        "reference" => Ok(Thing::Text(TextColumn::Reference)),
        _ => {
            let advice = "gold, marks, note, reference, or the number of a system";
            let why = |error: Error| Error::Input(format!("`{what}` is none of {advice}: {error}"));
            system(what, corpus).map(|system| Thing::Text(TextColumn::Output(system))).map_err(why)
        }
    }
}

fn task(name: &str, to_do: bool, corpus: &CorpusTable) -> Result<Condition> {
    let advice = "begin one under Judging, or with --assign";
    let none = || Error::Input(format!("there is no campaign, so that nobody has tasks; {advice}"));
    let campaign = corpus.campaign.as_ref().ok_or_else(none)?;
    if !name.is_empty() && !campaign.annotators.iter().any(|known| known == name) {
        let names = campaign.annotators.join(", ");
        return Err(Error::Input(format!("nobody named `{name}` is in the campaign; these are: {names}")));
    }
    Ok(Condition::Task(name.to_owned(), to_do))
}

/// Whether `head:rest` begins as a time of the day does, such as 10:30, and not as the output of a system.
fn is_time(head: &str, rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 2 && rest.as_bytes()[0] < b'6' && head.len() < 3 && head.parse().is_ok_and(|hour: u8| hour < 24)
}

fn differs(text: &str, corpus: &CorpusTable) -> Result<Condition> {
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

fn system(digits: &str, corpus: &CorpusTable) -> Result<usize> {
    let count = corpus.systems.len();
    let number: Option<usize> = digits.parse().ok().filter(|number| (1..=count).contains(number));
    let why = || Error::Input(format!("`{digits}` is no system; there are {count} systems, counted from 1"));
    number.map(|number| number - 1).ok_or_else(why)
}

fn pattern(text: &str) -> Result<Pattern> {
    if let Some(rule) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|rule| !rule.is_empty()) {
        let built = regex::RegexBuilder::new(&composed_rule(rule)).case_insensitive(true).build();
        let why = |error: regex::Error| {
            // Its other lines show the whole expression again.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Error::Input(format!("`{text:.60}` is no regular expression: {reason}"))
        };
        return built.map(Pattern::Expression).map_err(why);
    }
    Ok(Pattern::Plain(Needle::new(&unquoted(text))))
}

fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\\\"", "\""))
}

const HEADS: &str = "source reference output note tag by task todo has differs right missed extra wrong";
/// What others call them.
const OTHERS: [&str; 6] = ["src source", "ref reference", "target output", "hyp output", "mt output", "label tag"];

/// The head that was probably meant: one letter more, less or other, two swapped, or other case.
pub(super) fn misspelt(head: &str) -> Option<&'static str> {
    let name = head.split_once('.').map_or(head, |(name, _)| name);
    let typed = name.to_lowercase();
    let is_meant = |head: &&'static str| match head.len() {
        4.. => strsim::osa_distance(&typed, head) < 2,
        3 => typed == **head || typed.len() == 4 && typed.starts_with(*head),
        _ => typed == **head,
    };
    let is_known = HEADS.split(' ').any(|head| head == name);
    HEADS.split(' ').find(is_meant).filter(|_| !is_known)
}

pub(super) fn of_text(word: &str, corpus: &CorpusTable) -> Option<String> {
    let column = |name: &str| TableColumn::named(name, corpus);
    if column(word).is_ok() {
        return Some(format!("`{word}` is a column and no text has it; say what its number must be, as in {word}>10"));
    }
    if let (Some((name, _)), Err(why)) = (word.rsplit_once('.'), column(word))
        && column(name).is_ok()
    {
        return Some(why.to_string());
    }
    let (head, rest) = word.split_once(':').filter(|(head, _)| head.contains(char::is_alphabetic))?;
    let small = folded(head);
    let system = corpus.systems.iter().position(|column| folded(&column.system.name).starts_with(&small));
    let other = OTHERS.iter().find_map(|other| other.split_once(' ').filter(|(other, _)| *other == small));
    let meant = system.map(|at| format!("{}:{rest}", at + 1)).or_else(|| Some(format!("{}:{rest}", other?.1)));
    let meant = meant.or_else(|| Some(format!("tag:{}", tag_like(word, corpus)?)));
    let advice = meant.map_or_else(
        || format!("there are {}:, and N: of system N", HEADS.replace(' ', ":, ")),
        |meant| format!("write {meant}"),
    );
    Some(format!("`{head}:` is no condition, and no text has `{word}`; {advice}"))
}

pub(super) fn of_tag(tag: &str, corpus: &CorpusTable) -> Option<String> {
    let is_there = tags(corpus).any(|known| composed(known) == composed(tag));
    let known = tag_like(tag, corpus).filter(|_| !is_there)?;
    Some(format!("no sentence has the tag `{tag}`; there is tag:{known}"))
}

fn tags(corpus: &CorpusTable) -> impl Iterator<Item = &String> {
    corpus.judgements.values().flat_map(|by| by.values()).flat_map(|judgement| &judgement.tags)
}

fn tag_like<'a>(tag: &str, corpus: &'a CorpusTable) -> Option<&'a String> {
    let tag = folded(tag);
    let kind = tag.split_once(':').map(|(kind, _)| format!("{kind}:"));
    let exact = tags(corpus).find(|known| folded(known) == tag || folded(known).ends_with(&format!(":{tag}")));
    exact.or_else(|| tags(corpus).find(|known| kind.as_ref().is_some_and(|kind| folded(known).starts_with(kind))))
}
