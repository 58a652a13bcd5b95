//! Floor 6: alignments as links: Pharaoh (`0-0 1?2`, also `i-j-score`, and lines that begin with an id and a tab), the talp
//! notation (`1-1 2s2 3p4`, a file whose name ends so; counted from 1, where 0 is no word) and HLT-NAACL 2003 (a line a
//! link). Imports its room and `text`.
//!
//! Where words are counted from and which side comes first is found out in a first pass over the file; with the texts
//! beside it no link may lie outside its sentence.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::import::beside::Sides;
use crate::import::facts::{Facts, ImportFact, ImportReported, Warnings};
use crate::import::format::{FileSample, FormatReader, system};
use crate::import::input::{ImportInput, TextLines};
use crate::import::matrix::{MOST_ID, MOST_WORDS};
use crate::import::options::{Base, ImportOptions, LinkOrder, Role};
use crate::import::record::{ImportedOutput, Record};
use crate::text::links::read::{naacl_link, pharaoh_link};
use crate::text::links::{Link, Links};

/// A file without a 0 in so many sentences is hardly counted from 0.
const MANY: usize = 20;

/// Links between spaces.
pub fn sniff_pharaoh(sample: &FileSample<'_>) -> u8 {
    sniff(sample, |line| entries(line).is_ok())
}

/// Lines of three numbers or more.
pub fn sniff_naacl(sample: &FileSample<'_>) -> u8 {
    sniff(sample, |line| naacl_link(&line.split_whitespace().collect::<Vec<_>>()).is_some())
}

/// How many of the first lines are of a notation: half of them are enough, for a file may be damaged.
fn sniff(sample: &FileSample<'_>, is: impl Fn(&str) -> bool) -> u8 {
    let lines: Vec<&str> = sample.lines().take(20).collect();
    let good = lines.iter().filter(|line| is(line)).count();
    match good {
        0 => 0,
        good if good == lines.len() => 85,
        good if good * 2 >= lines.len() => 60,
        _ => 0,
    }
}

/// A link as the file has it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    first: usize,
    second: usize,
    sure: bool,
}

/// The links of a line in Pharaoh's notation, and the id before them.
///
/// # Errors
/// The word that is no link.
fn entries(line: &str) -> ImportReported<(Option<&str>, Vec<Entry>)> {
    // A tab may stand between links too.
    let id = line.split_once('\t').filter(|(id, _)| !id.split_ascii_whitespace().any(|word| entry(word).is_some()));
    let (id, rest) = id.map_or((None, line), |(id, rest)| (Some(id.trim()), rest));
    let links: ImportReported<Vec<Entry>> =
        rest.split_ascii_whitespace().map(|word| entry(word).ok_or_else(|| word.to_owned())).collect();
    Ok((id, links?))
}

/// A link, perhaps with a score behind it; positions beyond any sentence are none.
fn entry(word: &str) -> Option<Entry> {
    let mut dashes = word.match_indices('-').map(|(at, _)| at);
    let scored = dashes.nth(1).filter(|at| word[at + 1..].parse::<f32>().is_ok());
    let (first, second, sure) = pharaoh_link(scored.map_or(word, |at| &word[..at]))?;
    (first.max(second) < MOST_WORDS).then_some(Entry { first, second, sure })
}

/// The links of a cell of a table: Pharaoh's notation, words counted from `base`, the source first.
///
/// # Errors
/// What is wrong, as the end of a sentence.
pub fn cell(text: &str, base: Base) -> ImportReported<Links> {
    let (_, entries) = entries(text).map_err(|word| no_link(&word))?;
    let guess = Guess { base, order: LinkOrder::SourceFirst };
    let mut sorted = (Vec::new(), Vec::new());
    for entry in entries {
        let link = guess.link(entry).ok_or("has a position 0, but words are counted from 1")?;
        if entry.sure { sorted.0.push(link) } else { sorted.1.push(link) }
    }
    Ok(Links::new(sorted.0, sorted.1))
}

fn no_link(word: &str) -> String {
    format!("`{word:.40}` is no link; write `i-j` for a sure link and `i?j` or `ipj` for a possible one")
}

/// A way to read positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Guess {
    base: Base,
    order: LinkOrder,
}

impl Guess {
    /// The link of an entry; `None` for a position before the first word.
    fn link(self, entry: Entry) -> Option<Link> {
        let first = usize::from(self.base == Base::One);
        let (a, b) = (entry.first.checked_sub(first)?, entry.second.checked_sub(first)?);
        let link = Link { source: a, target: b };
        Some(if self.order == LinkOrder::SourceFirst { link } else { link.turned() })
    }
}

const BASES: [Base; 2] = [Base::Zero, Base::One];
const ORDERS: [LinkOrder; 2] = [LinkOrder::SourceFirst, LinkOrder::TargetFirst];

/// What the first pass found.
#[derive(Default)]
struct Census {
    sentences: usize,
    has_zero: bool,
    has_lengths: bool,
    /// Links outside their sentences, by base and order.
    outside: [[usize; 2]; 2],
}

impl Census {
    fn add(&mut self, entries: &[Entry], lengths: Option<(usize, usize)>) {
        self.sentences += usize::from(!entries.is_empty());
        self.has_zero |= entries.iter().any(|entry| entry.first == 0 || entry.second == 0);
        let Some(lengths) = lengths else { return };
        self.has_lengths = true;
        for (b, base) in BASES.into_iter().enumerate() {
            for (o, order) in ORDERS.into_iter().enumerate() {
                let outside =
                    |entry: &&Entry| Guess { base, order }.link(**entry).is_some_and(|link| !is_inside(link, lengths));
                self.outside[b][o] += entries.iter().filter(outside).count();
            }
        }
    }

    fn of(&self, base: Base, order: LinkOrder) -> usize {
        self.outside[usize::from(base == Base::One)][usize::from(order == LinkOrder::TargetFirst)]
    }

    /// The order with far fewer links outside their sentences, for the better of `bases`.
    fn order(&self, asked: Option<LinkOrder>, bases: &[Base]) -> ImportFact<LinkOrder> {
        let best = |order: LinkOrder| bases.iter().map(|base| self.of(*base, order)).min().unwrap_or(0);
        match asked {
            Some(asked) => ImportFact::known(asked, "as was asked"),
            None if !self.has_lengths => {
                ImportFact::known(LinkOrder::SourceFirst, "as files mostly have it; no texts lie beside it to tell")
            }
            // A few damaged links turn no file.
            None if best(LinkOrder::TargetFirst) * 10 < best(LinkOrder::SourceFirst) => {
                ImportFact::known(LinkOrder::TargetFirst, "otherwise links lie outside their sentences")
            }
            None if best(LinkOrder::SourceFirst) < best(LinkOrder::TargetFirst) => {
                ImportFact::known(LinkOrder::SourceFirst, "otherwise links lie outside their sentences")
            }
            None => ImportFact::known(LinkOrder::SourceFirst, "as files mostly have it; both fit the texts"),
        }
    }

    /// The base of a file in Pharaoh's notation: any 0 tells, then the texts.
    fn base(&self, asked: Option<Base>, order: LinkOrder) -> ImportFact<Base> {
        let (zero, one) = (self.of(Base::Zero, order), self.of(Base::One, order));
        match asked {
            Some(asked) => ImportFact::known(asked, "as was asked"),
            None if self.sentences == 0 => ImportFact::None,
            None if self.has_zero => ImportFact::known(Base::Zero, "the file has a 0"),
            None if zero > one => ImportFact::known(Base::One, "from 0 links lie outside their sentences"),
            None if one > zero => ImportFact::known(Base::Zero, "from 1 links lie outside their sentences"),
            None => {
                let used = if self.sentences >= MANY { Base::One } else { Base::Zero };
                let other = if used == Base::One { Base::Zero } else { Base::One };
                ImportFact::Ask { used, other, why: "no position is 0, and nothing else in the file tells".into() }
            }
        }
    }

    /// The base of a file of the shared task, which counts from 1 and may use 0 for no word.
    fn naacl_base(&self, asked: Option<Base>, order: LinkOrder) -> ImportFact<Base> {
        let (zero, one) = (self.of(Base::Zero, order), self.of(Base::One, order));
        match asked {
            Some(asked) => ImportFact::known(asked, "as was asked"),
            None if one > zero => ImportFact::known(Base::Zero, "from 1 links lie outside their sentences"),
            None if self.has_zero && zero == one => ImportFact::Ask {
                used: Base::One,
                other: Base::Zero,
                why: "the format counts from 1, but a position is 0, which may also stand for no word".into(),
            },
            None => ImportFact::known(Base::One, "as the format has it"),
        }
    }
}

fn is_inside(link: Link, (source, target): (usize, usize)) -> bool {
    link.source < source && link.target < target
}

/// How links are read, and whose they are.
struct Reading {
    guess: Guess,
    /// Links of a system rather than of annotators.
    system: Option<String>,
    sides: Sides,
}

impl Reading {
    fn new(input: &ImportInput, options: &ImportOptions, facts: &Facts) -> Self {
        let is_systems = matches!(options.role, Some(Role::Output(_)));
        Self {
            guess: Guess {
                base: facts.base.value().unwrap_or(Base::Zero),
                order: facts.order.value().unwrap_or(LinkOrder::SourceFirst),
            },
            system: is_systems.then(|| system(input, options)),
            sides: options.beside.clone(),
        }
    }

    /// A sentence with its links; those outside it are told and left out.
    fn record(&self, (sentence, line): (usize, usize), entries: &[(usize, Entry)], warnings: &mut Warnings) -> Record {
        // Of gold links the corpus leaves out the whole sentence, for what is left would be another alignment.
        let lengths = self.sides.words(sentence).filter(|_| self.system.is_some());
        let (mut sure, mut possible) = (Vec::new(), Vec::new());
        for (line, entry) in entries {
            // Position 0 is no word where words are counted from 1.
            let Some(link) = self.guess.link(*entry) else { continue };
            if let Some((s, t)) = lengths.filter(|lengths| !is_inside(link, *lengths)) {
                let (first, second) = (entry.first, entry.second);
                warnings.add(*line, format!("links words {first} and {second} of sentence {sentence}, which has {s} source and {t} target words; the link is left out"));
            } else if entry.sure {
                sure.push(link);
            } else {
                possible.push(link);
            }
        }
        let links = Links::new(sure, possible);
        let mut record = Record { sentence, line, ..Record::default() };
        if let Some(system) = &self.system {
            let all = links.all().into_iter().map(|(link, _)| link).collect();
            record.outputs.push(ImportedOutput { links: Some(all), ..ImportedOutput::plain(system, String::new()) });
        } else {
            record.gold = Some(links);
        }
        record
    }
}

/// Starts to read Pharaoh's notation.
pub fn open_pharaoh(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut census = Census::default();
    let (mut lines, mut unheard) = (input.lines()?, Warnings::new(input.path()));
    // Damage is told when it is reached in earnest.
    while let Ok(Some(line)) = lines.next(&mut unheard) {
        let text = line.text.unwrap_or_default();
        if let Ok((_, entries)) = entries(&text) {
            census.add(&entries, options.beside.words(line.number));
        }
    }
    let is_talp = input.name().rsplit_once('.').is_some_and(|(_, ending)| ending == "talp");
    // A 0 is no word counted from 1.
    let bases = if census.has_zero && !is_talp { &BASES[..1] } else { &BASES[..] };
    facts.order = census.order(options.order, bases);
    let order = facts.order.value().unwrap_or(LinkOrder::SourceFirst);
    let base = if is_talp { census.naacl_base(options.base, order) } else { census.base(options.base, order) };
    facts.base = base;
    Ok(Box::new(PharaohReader { reading: Reading::new(input, options, facts), lines: input.lines()? }))
}

struct PharaohReader {
    reading: Reading,
    lines: TextLines,
}

impl FormatReader for PharaohReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text else { continue };
            match entries(&text) {
                Ok((id, entries)) => {
                    let entries: Vec<(usize, Entry)> = entries.into_iter().map(|entry| (line.number, entry)).collect();
                    let mut record = self.reading.record((line.number, line.number), &entries, warnings);
                    record.id = id.map(str::to_owned);
                    return Ok(Some(record));
                }
                Err(word) => warnings.add(line.number, format!("{}; the line is left out", no_link(&word))),
            }
        }
        Ok(None)
    }
}

/// Starts to read the notation of HLT-NAACL 2003. Such files are made by hand and small: they are held in memory,
/// so that the links of a sentence may lie anywhere.
pub fn open_naacl(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut warnings = Warnings::new(input.path());
    let (mut sentences, mut lines): (Sentences, TextLines) = (BTreeMap::new(), input.lines()?);
    while let Some(line) = lines.next(&mut warnings)? {
        let text = line.text.unwrap_or_default();
        let fields: Vec<&str> = text.split_whitespace().collect();
        match naacl_link(&fields) {
            Some((sentence, first, second, sure)) if sentence > 0 && is_sane(sentence, first, second) => {
                sentences.entry(sentence).or_default().push((line.number, Entry { first, second, sure }));
            }
            Some((0, ..)) => {
                warnings.add(line.number, "is of sentence 0, but sentences are counted from 1; it is left out");
            }
            Some(_) => warnings.add(line.number, "names a sentence or a word far beyond any text; it is left out"),
            None if fields.is_empty() => {}
            None => {
                let advice = "write `sentence position position S` for a sure link, P in place of S for a possible one";
                warnings.add(line.number, format!("`{text:.40}` is no link; {advice}"));
            }
        }
    }
    let mut census = Census::default();
    for (sentence, links) in &sentences {
        let entries: Vec<Entry> = links.iter().map(|(_, entry)| *entry).collect();
        census.add(&entries, options.beside.words(*sentence));
    }
    facts.order = census.order(options.order, &BASES);
    facts.base = census.naacl_base(options.base, facts.order.value().unwrap_or(LinkOrder::SourceFirst));
    facts.sentences = sentences.last_key_value().map(|(last, _)| *last);
    let reading = Reading::new(input, options, facts);
    Ok(Box::new(NaaclReader { reading, sentences, early: Some(warnings) }))
}

fn is_sane(sentence: usize, first: usize, second: usize) -> bool {
    sentence < MOST_ID && first.max(second) < MOST_WORDS
}

/// The links of each sentence, each with its line.
type Sentences = BTreeMap<usize, Vec<(usize, Entry)>>;

struct NaaclReader {
    reading: Reading,
    sentences: Sentences,
    /// What was wrong while the file was read.
    early: Option<Warnings>,
}

impl FormatReader for NaaclReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        if let Some(early) = self.early.take() {
            *warnings = early;
        }
        let Some((sentence, links)) = self.sentences.pop_first() else { return Ok(None) };
        let line = links.first().map_or(1, |(line, _)| *line);
        Ok(Some(self.reading.record((sentence, line), &links, warnings)))
    }
}
