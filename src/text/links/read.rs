//! Floor 1: files of gold alignments, Pharaoh or HLT-NAACL 2003, with what they do not say about themselves found out:
//! where counting starts and which side comes first. Imports floor 0.
//!
//! Pharaoh: a line for each sentence pair, `i-j` a sure link, `i?j` or `ipj` a possible one. HLT-NAACL 2003: a line
//! for each link, `sentence position position [S|P] [confidence]`, without S or P a sure one, sentences counted from 1.
//! A position 0 is no word where words are counted from 1: the shared task writes words without a partner so.

use std::path::Path;

use crate::error::{Error, Result};
use crate::text::links::{Link, Links};
use crate::text::reader::LineReader;
use crate::text::words::words;

/// How a file writes links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// A line for each sentence pair: `0-0 1?2`.
    Pharaoh,
    /// A line for each link: `1 1 1 S`.
    Naacl,
}

/// Where a file starts to count words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The first word is 0.
    Zero,
    /// The first word is 1.
    One,
}

/// Which side's position a link names first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOrder {
    /// The side that is translated from.
    SourceFirst,
    /// The side that is translated to.
    TargetFirst,
}

/// What is known of how a file writes links; `None` is found out from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkLayout {
    /// The notation.
    pub notation: Option<Notation>,
    /// Where words are counted from.
    pub base: Option<Base>,
    /// The side that comes first.
    pub order: Option<LinkOrder>,
}

/// The gold alignment of a corpus, and how its file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldLinks {
    /// The links of each sentence pair, from 0, source and target as the caller has them.
    pub pairs: Vec<Links>,
    /// The notation.
    pub notation: Notation,
    /// Where the file counts words from.
    pub base: Base,
    /// The side that comes first in the file.
    pub order: LinkOrder,
    /// How base and order were known, in sentences.
    pub note: String,
}

/// A link as the file has it.
#[derive(Clone, Copy)]
struct Entry {
    /// Line, counted from 1.
    line: usize,
    /// Sentence pair, from 0.
    sentence: usize,
    first: usize,
    second: usize,
    sure: bool,
}

/// A way to read all positions.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Guess {
    base: Base,
    order: LinkOrder,
}

/// Reads the gold alignment of a corpus whose sentence pairs have `lengths` (source words, target words).
///
/// # Errors
/// A sentence that names the file and line of what is no link, of a sentence that does not exist or of a link outside its
/// sentence; or the file when it has another number of sentence pairs.
pub fn read(path: &Path, lengths: &[(usize, usize)], layout: &LinkLayout) -> Result<GoldLinks> {
    let (notation, entries) = entries(path, lengths, layout.notation)?;
    let guesses = guesses(&entries, notation, *layout);
    let outside = |guess: &Guess| entries.iter().find(|entry| place(entry, *guess, notation, lengths).is_err());
    let Some(&guess) = guesses.iter().find(|guess| outside(guess).is_none()) else {
        return Err(no_guess_fits(path, &entries, &guesses, notation, lengths));
    };
    let fits = |guess: Guess| guesses.contains(&guess) && outside(&guess).is_none();
    let note = format!("{} {}", base_note(&entries, guess, notation, *layout, fits), order_note(guess, *layout, fits));
    let mut pairs: Vec<(Vec<Link>, Vec<Link>)> = vec![(Vec::new(), Vec::new()); lengths.len()];
    for entry in &entries {
        let Ok(Some(link)) = place(entry, guess, notation, lengths) else { continue };
        let (sure, possible) = &mut pairs[entry.sentence];
        if entry.sure { sure.push(link) } else { possible.push(link) }
    }
    let pairs = pairs.into_iter().map(|(sure, possible)| Links::new(sure, possible)).collect();
    Ok(GoldLinks { pairs, notation, base: guess.base, order: guess.order, note })
}

/// So many lines with something in them tell whether a file holds links, and so many blank ones may stand before them.
const TELLING: usize = 10;
const BLANK: usize = 1000;

/// Whether a file holds word links, by its first lines.
pub fn holds_links(path: &Path) -> bool {
    let Ok(lines) = LineReader::open(path) else { return false };
    let lines = lines.take(BLANK).map_while(std::result::Result::ok);
    let found: Vec<String> = lines.filter(|line| !line.trim().is_empty()).take(TELLING).collect();
    let is_links = |line: &String| match sniff(line) {
        Notation::Naacl => naacl_link(&line.split_whitespace().collect::<Vec<_>>()).is_some(),
        Notation::Pharaoh => line.split_whitespace().all(|word| pharaoh_link(word).is_some()),
    };
    !found.is_empty() && found.iter().all(is_links)
}

/// The numbers of words of lines and their translations, as [`read`] wants them.
pub fn lengths<S: AsRef<str>, T: AsRef<str>>(source: &[S], target: &[T]) -> Vec<(usize, usize)> {
    let count = |line: &str| words(line).count();
    source.iter().zip(target).map(|(source, target)| (count(source.as_ref()), count(target.as_ref()))).collect()
}

/// Every link of a file, and how it is written. A file is read no further than the links of its text could go.
fn entries(path: &Path, lengths: &[(usize, usize)], known: Option<Notation>) -> Result<(Notation, Vec<Entry>)> {
    let (mut notation, mut entries, pairs) = (known, Vec::new(), lengths.len());
    let most = lengths.iter().fold(1000, |most: usize, (x, y)| most.saturating_add(4 * x * y));
    let mut lines = LineReader::open(path)?;
    while let Some(line) = lines.next().transpose()? {
        let is_blank = line.trim().is_empty();
        if !is_blank {
            notation.get_or_insert_with(|| sniff(&line));
        }
        match notation {
            Some(Notation::Naacl) if is_blank => {}
            Some(Notation::Naacl) => entries.push(naacl(path, lines.line(), &line, pairs)?),
            Some(Notation::Pharaoh) | None => pharaoh(path, lines.line(), &line, pairs, &mut entries)?,
        }
        if entries.len() > most {
            let message = "has more links than the words of the text could have; check that it belongs to the text";
            return Err(Error::line(path, lines.line(), message));
        }
    }
    let notation = notation.unwrap_or(Notation::Pharaoh);
    if notation == Notation::Pharaoh && lines.line() < pairs {
        return Err(wrong_length(path, &format!("{} lines", lines.line()), pairs));
    }
    Ok((notation, entries))
}

fn wrong_length(path: &Path, lines: &str, pairs: usize) -> Error {
    let message = format!("has {lines}, but the corpus has {pairs} sentence pairs");
    Error::file(path, format!("{message}; a Pharaoh file needs a line for each, blank ones included"))
}

/// The notation of a line that is not blank: numbers apart are HLT-NAACL 2003.
fn sniff(line: &str) -> Notation {
    let mut fields = line.split_whitespace().take(3);
    let apart = fields.clone().count() == 3 && fields.all(|field| field.bytes().all(|byte| byte.is_ascii_digit()));
    if apart { Notation::Naacl } else { Notation::Pharaoh }
}

/// The links of line `n`, from 1, which is a sentence pair.
fn pharaoh(path: &Path, n: usize, line: &str, pairs: usize, entries: &mut Vec<Entry>) -> Result<()> {
    if n > pairs {
        return Err(wrong_length(path, &format!("more than {pairs} lines"), pairs));
    }
    for link in pharaoh_links(line) {
        let (first, second, sure) = link.map_err(|word| no_link(path, n, word))?;
        entries.push(Entry { line: n, sentence: n - 1, first, second, sure });
    }
    Ok(())
}

/// The sure links of line `number`, counted from 1, of a file in Pharaoh's notation, words counted from 0.
pub fn pharaoh_line(path: &Path, number: usize, line: &str) -> Result<Vec<Link>> {
    let links = pharaoh_links(line).filter(|link| !matches!(link, Ok((.., false))));
    let link = |(source, target, _)| Link { source, target };
    links.map(|found| found.map(link).map_err(|word| no_link(path, number, word))).collect()
}

/// The links of a line in Pharaoh's notation, sure and possible, words counted from 0; `None` where it is something else.
pub fn links_of(line: &str) -> Option<Links> {
    let all: Vec<_> = pharaoh_links(line).collect::<std::result::Result<_, _>>().ok()?;
    let of = |sure: bool| all.iter().filter(move |link| link.2 == sure);
    let links = |sure| of(sure).map(|&(source, target, _)| Link { source, target }).collect();
    Some(Links::new(links(true), links(false)))
}

/// The links of a line, or the first word that is none.
fn pharaoh_links(line: &str) -> impl Iterator<Item = std::result::Result<(usize, usize, bool), &str>> {
    line.split_whitespace().map(|word| pharaoh_link(word).ok_or(word))
}

fn no_link(path: &Path, number: usize, word: &str) -> Error {
    let advice = "write `i-j` for a sure link and `i?j` or `ipj` for a possible one";
    Error::line(path, number, format!("`{word:.40}` is no link; {advice}"))
}

/// `i-j` or `isj`, `i?j` or `ipj`: both positions as they stand there, and whether the link is sure.
pub fn pharaoh_link(word: &str) -> Option<(usize, usize, bool)> {
    let at = word.find(['-', 's', '?', 'p'])?;
    Some((number(&word[..at])?, number(&word[at + 1..])?, matches!(word.as_bytes()[at], b'-' | b's')))
}

/// Digits alone: `parse` would take `+1` too.
fn number(digits: &str) -> Option<usize> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The link of line `n`, from 1.
fn naacl(path: &Path, n: usize, line: &str, pairs: usize) -> Result<Entry> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let Some((sentence, first, second, sure)) = naacl_link(&fields) else {
        let advice = "write `sentence position position S` for a sure link, P in place of S for a possible one";
        return Err(Error::line(path, n, format!("`{line:.40}` is no link; {advice}")));
    };
    let Some(sentence) = sentence.checked_sub(1).filter(|sentence| *sentence < pairs) else {
        let message = format!("there is no sentence {sentence}; the corpus has the sentences 1 to {pairs}");
        return Err(Error::line(path, n, message));
    };
    Ok(Entry { line: n, sentence, first, second, sure })
}

/// `sentence position position [S|P] [confidence]`: sentence and both positions as they stand there, and whether the
/// link is sure.
pub fn naacl_link(fields: &[&str]) -> Option<(usize, usize, usize, bool)> {
    let (numbers, rest) = fields.split_at_checked(3)?;
    let (sure, rest) = match rest.split_first() {
        Some((&"S", rest)) => (true, rest),
        Some((&"P", rest)) => (false, rest),
        _ => (true, rest),
    };
    let confident = match rest {
        [] => true,
        [confidence] => confidence.parse::<f64>().is_ok(),
        _ => false,
    };
    let [sentence, first, second] = numbers else { return None };
    confident.then_some((number(sentence)?, number(first)?, number(second)?, sure))
}

/// All readings that are open, the likeliest first.
fn guesses(entries: &[Entry], notation: Notation, layout: LinkLayout) -> Vec<Guess> {
    let zero = has_zero(entries);
    let bases: &[Base] = match (layout.base, notation) {
        (Some(Base::Zero), _) => &[Base::Zero],
        (Some(Base::One), _) => &[Base::One],
        (None, Notation::Pharaoh) if zero => &[Base::Zero],
        (None, Notation::Naacl) if !zero => &[Base::One, Base::Zero],
        (None, _) => &[Base::Zero, Base::One],
    };
    let orders: &[LinkOrder] = match layout.order {
        Some(LinkOrder::SourceFirst) => &[LinkOrder::SourceFirst],
        Some(LinkOrder::TargetFirst) => &[LinkOrder::TargetFirst],
        None => &[LinkOrder::SourceFirst, LinkOrder::TargetFirst],
    };
    let guess = |order: &LinkOrder, base: &Base| Guess { base: *base, order: *order };
    if zero {
        // A position 0 nearly settles the base: rather turn the sides than take it for a missing word.
        return bases.iter().flat_map(|base| orders.iter().map(|order| guess(order, base))).collect();
    }
    orders.iter().flat_map(|order| bases.iter().map(|base| guess(order, base))).collect()
}

fn has_zero(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| entry.first == 0 || entry.second == 0)
}

/// The link of an entry, or none where the shared task says that a word has no partner; an error when a position lies
/// outside its sentence.
fn place(
    entry: &Entry,
    guess: Guess,
    notation: Notation,
    lengths: &[(usize, usize)],
) -> std::result::Result<Option<Link>, ()> {
    let (source, target) = match guess.order {
        LinkOrder::SourceFirst => (entry.first, entry.second),
        LinkOrder::TargetFirst => (entry.second, entry.first),
    };
    let (source_words, target_words) = lengths[entry.sentence];
    let within = |position: usize, words: usize| match guess.base {
        Base::Zero if position < words => Ok(Some(position)),
        Base::One if position == 0 && notation == Notation::Naacl => Ok(None),
        Base::One if (1..=words).contains(&position) => Ok(Some(position - 1)),
        _ => Err(()),
    };
    let (source, target) = (within(source, source_words)?, within(target, target_words)?);
    Ok(source.zip(target).map(|(source, target)| Link { source, target }))
}

/// The error for the reading under which the fewest links lie outside their sentences.
fn no_guess_fits(
    path: &Path,
    entries: &[Entry],
    guesses: &[Guess],
    notation: Notation,
    lengths: &[(usize, usize)],
) -> Error {
    let outside =
        |guess: &Guess| entries.iter().filter(|entry| place(entry, *guess, notation, lengths).is_err()).count();
    let best = guesses.iter().min_by_key(|guess| outside(guess)).copied();
    let best = best.unwrap_or(Guess { base: Base::Zero, order: LinkOrder::SourceFirst });
    let Some(entry) = entries.iter().find(|entry| place(entry, best, notation, lengths).is_err()) else {
        return Error::Internal("a link was outside its sentence and is not now".to_owned());
    };
    let (source, target) = lengths[entry.sentence];
    let message = format!(
        "the link of words {} and {} lies outside sentence {}, which has {source} source and {target} target words, \
         with words counted from {} and the {} side first; mend the line, or say how the file counts and which side \
         comes first",
        entry.first,
        entry.second,
        entry.sentence + 1,
        base_name(best.base),
        order_name(best.order),
    );
    Error::line(path, entry.line, message)
}

fn base_name(base: Base) -> &'static str {
    match base {
        Base::Zero => "0",
        Base::One => "1",
    }
}

fn order_name(order: LinkOrder) -> &'static str {
    match order {
        LinkOrder::SourceFirst => "source",
        LinkOrder::TargetFirst => "target",
    }
}

fn base_note(
    entries: &[Entry],
    guess: Guess,
    notation: Notation,
    layout: LinkLayout,
    fits: impl Fn(Guess) -> bool,
) -> String {
    let base = base_name(guess.base);
    let other = Guess { base: if guess.base == Base::Zero { Base::One } else { Base::Zero }, ..guess };
    let why = match (layout.base, notation) {
        (Some(_), _) => "as was asked".to_owned(),
        (None, Notation::Pharaoh) if has_zero(entries) => "for the file has a 0".to_owned(),
        (None, _) if !fits(other) => {
            format!("for counted from {} a link would lie outside its sentence", base_name(other.base))
        }
        (None, Notation::Naacl) if has_zero(entries) => "for the file has a 0 and no link lies outside".to_owned(),
        (None, Notation::Pharaoh) => "as Pharaoh files mostly are, for nothing in the file tells".to_owned(),
        (None, Notation::Naacl) => "as the format has it, for nothing in the file tells".to_owned(),
    };
    let nowhere = guess.base == Base::One && has_zero(entries);
    let nowhere = if nowhere { " Position 0 is no word, and links to it are left out." } else { "" };
    format!("Words are counted from {base}, {why}.{nowhere}")
}

fn order_note(guess: Guess, layout: LinkLayout, fits: impl Fn(Guess) -> bool) -> String {
    let (order, other) = match guess.order {
        LinkOrder::SourceFirst => ("source", LinkOrder::TargetFirst),
        LinkOrder::TargetFirst => ("target", LinkOrder::SourceFirst),
    };
    let why = match layout.order {
        Some(_) => "as was asked",
        None if !fits(Guess { order: other, ..guess }) => "for otherwise a link would lie outside its sentence",
        None => "as is assumed where the lengths of the sentences do not tell",
    };
    format!("The {order} side comes first, {why}.")
}
