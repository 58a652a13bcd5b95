//! Files of word links, Pharaoh, talp or HLT-NAACL 2003; where counting starts and which side comes first is found
//! out by [`guess`](crate::text::links::guess). Imports floor 0.
//!
//! Pharaoh: a line for each sentence pair, `i-j` a sure link, `i?j` or `ipj` a possible one, perhaps with a score behind it
//! (`i-j-0.5`), perhaps with an id and a tab before them; talp is the same, a file whose name ends so. HLT-NAACL 2003: a line
//! for each link, `sentence position position [S|P] [confidence]`, without S or P a sure one, sentences counted from 1.

use std::path::Path;

use crate::error::{Error, Result};
use crate::text::links::guess::{LinkCensus, LinkGuess};
use crate::text::links::{Link, Links};
use crate::text::{reader::LineReader, words::words};

pub use crate::text::links::guess::{Base, LinkEntry, LinkLayout, LinkOrder, Notation};

/// No sentence has so many words.
pub const MOST_WORDS: usize = 1 << 16;
const PHARAOH: &str = "write `i-j` for a sure link and `i?j` or `ipj` for a possible one";
const NAACL: &str = "write `sentence position position S` for a sure link, P in place of S for a possible one";

/// The gold alignment of a corpus, and how its file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldLinks {
    /// The links of each sentence pair, from 0, source and target as the caller has them.
    pub pairs: Vec<Links>,
    pub notation: Notation,
    /// Where the file counts words from.
    pub base: Base,
    /// The side that comes first in the file.
    pub order: LinkOrder,
    /// How base and order were known, in sentences.
    pub note: String,
}

type PairEntries = (Vec<LinkEntry>, Vec<usize>);

/// Reads the gold alignment of a corpus whose sentence pairs have `lengths` (source words, target words).
pub fn read(path: &Path, lengths: &[(usize, usize)], layout: &LinkLayout) -> Result<GoldLinks> {
    let (notation, all) = entries(path, lengths, layout.notation)?;
    let mut census = LinkCensus::new(notation);
    all.iter().zip(lengths).for_each(|((entries, _), lengths)| census.add(entries, Some(*lengths)));
    let (base, order) = census.found(layout);
    let guess = census.guess((&base, &order));
    let note = [base.note(Base::name), order.note(LinkOrder::name)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mut pairs = Vec::with_capacity(all.len());
    for (n, ((entries, lines), &(source, target))) in all.iter().zip(lengths).enumerate() {
        let (links, outside) = guess.links(entries, Some((source, target)));
        if let Some(&at) = outside.first() {
            let (LinkEntry { first, second, .. }, line) = (entries[at], lines[at]);
            let (base, order) = (guess.base.name(), guess.order.name());
            let message = format!(
                "the link of words {first} and {second} lies outside sentence {}, which has {source} source and {target} target \
                 words, with {base} and {order}; correct the line, or set --gold-base and --gold-order",
                n + 1
            );
            return Err(Error::line(path, line, message));
        }
        pairs.push(links);
    }
    Ok(GoldLinks { pairs, notation, base: guess.base, order: guess.order, note })
}

/// The numbers of words of lines and their translations, as [`read`] wants them.
pub fn lengths<S: AsRef<str>, T: AsRef<str>>(source: &[S], target: &[T]) -> Vec<(usize, usize)> {
    let count = |line: &str| words(line).count();
    source.iter().zip(target).map(|(source, target)| (count(source.as_ref()), count(target.as_ref()))).collect()
}

/// Every link of a file by sentence pair, and how it is written. A file is read no further than the links of its text
/// could go.
fn entries(path: &Path, lengths: &[(usize, usize)], known: Option<Notation>) -> Result<(Notation, Vec<PairEntries>)> {
    let is_talp = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("talp"));
    let (mut notation, pairs) = (known.or(is_talp.then_some(Notation::Talp)), lengths.len());
    let (mut all, mut count) = (vec![PairEntries::default(); pairs], 0);
    let most = lengths.iter().fold(1000, |most: usize, (x, y)| most.saturating_add(4 * x * y));
    let mut lines = LineReader::open(path)?;
    while let Some(line) = lines.next().transpose()? {
        let n = lines.line();
        if notation.is_none() && !line.trim().is_empty() {
            notation = Some(if is_naacl(&line) { Notation::Naacl } else { Notation::Pharaoh });
        }
        if notation != Some(Notation::Naacl) {
            let Some(pair) = all.get_mut(n - 1) else {
                return Err(wrong_length(path, &format!("more than {pairs} lines"), pairs));
            };
            let (_, links) = line_entries(&line).map_err(|word| Error::line(path, n, no_link(&word)))?;
            count += links.len();
            pair.1.resize(links.len(), n);
            pair.0 = links;
        } else if !line.trim().is_empty() {
            let (sentence, entry) = naacl_entry(&line).map_err(|message| Error::line(path, n, message))?;
            let Some(pair) = sentence.checked_sub(1).and_then(|sentence| all.get_mut(sentence)) else {
                let message = format!("there is no sentence {sentence}; the corpus has the sentences 1 to {pairs}");
                return Err(Error::line(path, n, message));
            };
            count += 1;
            pair.0.push(entry);
            pair.1.push(n);
        }
        if count > most {
            let message = "has more links than the words of the text could have; check that it belongs to the text";
            return Err(Error::line(path, n, message));
        }
    }
    let notation = notation.unwrap_or_default();
    if notation != Notation::Naacl && lines.line() < pairs {
        return Err(wrong_length(path, &format!("{} lines", lines.line()), pairs));
    }
    Ok((notation, all))
}

fn wrong_length(path: &Path, lines: &str, pairs: usize) -> Error {
    let message = format!("has {lines}, but the corpus has {pairs} sentence pairs");
    Error::file(path, format!("{message}; a Pharaoh file needs a line for each, blank ones included"))
}

fn is_naacl(line: &str) -> bool {
    let mut fields = line.split_whitespace().take(3);
    fields.clone().count() == 3 && fields.all(|field| field.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The links of a line of Pharaoh's notation, and the id before them.
pub fn line_entries(line: &str) -> std::result::Result<(Option<&str>, Vec<LinkEntry>), String> {
    // A tab may stand between links too.
    let id = line.split_once('\t').filter(|(id, _)| !id.split_whitespace().any(|word| entry(word).is_some()));
    let (id, rest) = id.map_or((None, line), |(id, rest)| (Some(id.trim()), rest));
    let links = rest.split_whitespace().map(|word| entry(word).ok_or_else(|| word.to_owned()));
    Ok((id, links.collect::<std::result::Result<_, _>>()?))
}

/// What is wrong with a word that is no link.
pub fn no_link(word: &str) -> String {
    format!("`{word:.40}` is no link; {PHARAOH}")
}

fn entry(word: &str) -> Option<LinkEntry> {
    let mut dashes = word.match_indices('-').map(|(at, _)| at);
    let scored = dashes.nth(1).filter(|at| word[at + 1..].parse::<f32>().is_ok());
    let (first, second, sure) = pharaoh_link(scored.map_or(word, |at| &word[..at]))?;
    (first.max(second) < MOST_WORDS).then_some(LinkEntry { first, second, sure })
}

/// The sure links of line `number`, counted from 1, of a file in Pharaoh's notation, words counted from 0.
pub fn pharaoh_line(path: &Path, number: usize, line: &str) -> Result<Vec<Link>> {
    let (_, entries) = line_entries(line).map_err(|word| Error::line(path, number, no_link(&word)))?;
    let sure = entries.into_iter().filter(|entry| entry.sure);
    Ok(sure.map(|entry| Link { source: entry.first, target: entry.second }).collect())
}

/// The links of a line in Pharaoh's notation, sure and possible, words counted from 0; `None` where it is something
/// else.
pub fn links_of(line: &str) -> Option<Links> {
    let (_, entries) = line_entries(line).ok().filter(|(id, _)| id.is_none())?;
    Some(LinkGuess::default().links(&entries, None).0)
}

/// `i-j` or `isj`, `i?j` or `ipj`: both positions as they stand there, and whether the link is sure.
fn pharaoh_link(word: &str) -> Option<(usize, usize, bool)> {
    let at = word.find(['-', 's', '?', 'p'])?;
    Some((number(&word[..at])?, number(&word[at + 1..])?, matches!(word.as_bytes()[at], b'-' | b's')))
}

/// Digits alone: `parse` would take `+1` too.
fn number(digits: &str) -> Option<usize> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// `sentence position position [S|P] [confidence]`: the sentence, from 1, and its link.
pub fn naacl_entry(line: &str) -> std::result::Result<(usize, LinkEntry), String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    naacl_link(&fields).ok_or_else(|| format!("`{line:.40}` is no link; {NAACL}"))
}

fn naacl_link(fields: &[&str]) -> Option<(usize, LinkEntry)> {
    let (numbers, rest) = fields.split_at_checked(3)?;
    let (sure, rest) = match rest.split_first() {
        Some((&"S", rest)) => (true, rest),
        Some((&"P", rest)) => (false, rest),
        _ => (true, rest),
    };
    let is_confidence = rest.is_empty() || rest.len() == 1 && rest[0].parse::<f64>().is_ok();
    let [sentence, first, second] = numbers else { return None };
    let (sentence, first, second) = (number(sentence)?, number(first)?, number(second)?);
    is_confidence.then_some((sentence, LinkEntry { first, second, sure }))
}
