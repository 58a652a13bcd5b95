//! What a system says of a sentence, and how it is packed.

use half::f16;
use half::slice::{HalfBitsSliceExt as _, HalfFloatSliceExt as _};
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;

use crate::store::rules::{SideRules, counterparts, spread};
use crate::store::{coder, file::Workspace, file::change, file::list, file::one};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention, words::pooled};
use engine::error::Result;
use engine::text::{cut::WordRule, links::Link, readable::places, sentence::EOS, words, words::without_end};
use engine::text::{links, links::Links, links::read::links_of, words::words};

const LEVEL: i32 = 3;
/// The most bytes that the words of one side may unpack to.
const MOST_LETTERS: usize = 1 << 24;

/// What a system says of a sentence, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemOutput {
    pub text: String,
    /// Source words of the system, with `</s>` if alpha has its column; empty if unknown.
    pub source: Vec<String>,
    /// The target words, `</s>` where alpha has its row.
    pub target: Vec<String>,
    /// log p of each target word; none where they are not known.
    pub word_log_p: Vec<f32>,
    pub log_p: Option<f32>,
    /// Tokens of the model that log p is over, `</s>` counted; 0 where that is not known.
    pub token_count: usize,
    /// A row for each target word, a column for each source word.
    pub alpha: Option<Alignment>,
    /// Whether alpha is that of an alignment head, which says where the words come from.
    pub is_head: bool,
    /// Links that came without weights, between the words of the corpus.
    pub links: Option<Vec<Link>>,
}

impl SystemOutput {
    /// Target words without `</s>`.
    pub fn words(&self) -> &[String] {
        without_end(&self.target)
    }

    /// log p and the tokens that it is over, where there is one.
    pub fn scored(&self) -> Option<(f32, usize)> {
        Some((self.log_p?, self.token_count))
    }

    /// Source words without `</s>`.
    pub fn source_words(&self) -> &[String] {
        without_end(&self.source)
    }

    /// alpha between the words that the rules cut; `None` without alpha or if its words are not those of the texts.
    pub fn word_alignment(&self, source: &str, rules: SideRules) -> Option<Alignment> {
        let source = places(self.source_words(), source, rules.source)?;
        let target = places(self.words(), &self.text, rules.target)?;
        Some(pooled(&self.alignment()?, &source, &target))
    }

    /// Links between these words: those of the file, else the source word of greatest alpha for each target word.
    pub fn word_links(&self, source: &str, rules: SideRules) -> Option<Vec<Link>> {
        self.links.clone().or_else(|| Some(self.reading().links(&self.word_alignment(source, rules)?)))
    }

    /// A text that nobody cut, of a source: its words are those of the rules.
    pub fn plain(text: &str, source: &str, rules: SideRules) -> Self {
        let (source, target) = (rules.source.owned(source), rules.target.owned(text));
        Self { text: text.to_owned(), source, target, ..Self::default() }
    }

    /// With links of its words turned into links of the words of the corpus, if these match the texts.
    #[must_use]
    pub fn with_own_links(mut self, source: &str, rules: SideRules) -> Self {
        let stand = |own: &[String], text: &str, rule: WordRule| {
            if WordRule::Spaces.words(text) == own {
                return Some(counterparts(text, WordRule::Spaces, rule));
            }
            Some(places(own, text, rule)?.places.into_iter().map(Iterator::collect).collect::<Vec<Vec<usize>>>())
        };
        let sides = stand(self.source_words(), source, rules.source).zip(stand(self.words(), &self.text, rules.target));
        if let (Some((sources, targets)), Some(links)) = (sides, &mut self.links) {
            *links = spread(links, Some(&sources), Some(&targets));
        }
        self
    }

    /// How links are read off alpha.
    pub fn reading(&self) -> RowConvention {
        if self.is_head { RowConvention::Head } else { RowConvention::default() }
    }

    /// alpha between words, without `</s>` on either side.
    pub fn alignment(&self) -> Option<Alignment> {
        Some(self.alpha.as_ref()?.words(self.words().len(), self.source_words().len()))
    }
}

/// How exact the weights of a corpus are.
pub const PRECISION: &str = "half precision (three digits); each row has the sum that it had";

/// Packs all but the texts: words by what cuts them, alpha as f16 with its exponents compressed, and the row sums.
pub fn pack(output: &SystemOutput, source: &str) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    put_words(&mut body, &output.source, source)?;
    put_words(&mut body, &output.target, &output.text)?;
    put_number(&mut body, output.log_p.map_or(0, |_| 1 + output.token_count));
    body.extend(output.log_p.into_iter().flat_map(f32::to_le_bytes));
    put_number(&mut body, output.word_log_p.len());
    body.extend(output.word_log_p.iter().flat_map(|log_p| log_p.to_le_bytes()));
    put_number(&mut body, output.links.as_ref().map_or(0, |links| links.len() + 1));
    for link in output.links.iter().flatten() {
        put_number(&mut body, link.source);
        put_number(&mut body, link.target);
    }
    put_alpha(&mut body, output.alpha.as_ref(), output.is_head);
    let mut packed = vec![FORM];
    put_number(&mut packed, body.len());
    packed.extend(body);
    Ok(packed)
}

/// The reverse of [`pack`]; the texts come from their own columns. `None` where the bytes are damaged.
pub fn unpack(text: String, source: &str, packed: &[u8]) -> Option<SystemOutput> {
    let mut rest = packed.strip_prefix(&[FORM])?;
    if take_number(&mut rest)? != rest.len() {
        return None;
    }
    let rest = &mut rest;
    let source = take_words(rest, source)?;
    let target = take_words(rest, &text)?;
    let tokens = take_number(rest)?.checked_sub(1);
    let log_p = if tokens.is_some() { Some(take_floats(rest, 1)?[0]) } else { None };
    let token_count = tokens.unwrap_or_default();
    let count = take_number(rest)?;
    let word_log_p = take_floats(rest, count)?;
    let links = match take_number(rest)?.checked_sub(1) {
        None => None,
        Some(count) => {
            let links = (0..count).map(|_| Some(Link { source: take_number(rest)?, target: take_number(rest)? }));
            Some(links.collect::<Option<Vec<Link>>>()?)
        }
    };
    let is_head = rest.first()? & weights::HEAD > 0;
    let alpha = take_alpha(rest)?;
    Some(SystemOutput { text, source, target, word_log_p, log_p, token_count, alpha, is_head, links })
}

const FORM: u8 = 1;
const MOST_WORDS: usize = 1 << 20;

fn put_number(body: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        body.push(number as u8 | 0x80);
        number >>= 7;
    }
    body.push(number as u8);
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = *rest.split_off_first()?;
        number |= usize::from(byte & 0x7F).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_floats(rest: &mut &[u8], count: usize) -> Option<Vec<f32>> {
    let bytes = rest.split_off(..count.checked_mul(4)?)?;
    Some(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

mod cut {
    pub const NONE: u8 = 0;
    /// They are those between the spaces of the text.
    pub const SPACES: u8 = 1;
    /// They follow each other in the text: how long each is.
    pub const LENGTHS: u8 = 2;
    pub const WORDS: u8 = 3;
    /// Added where `</s>` stands behind them.
    pub const END: u8 = 0x10;
}

fn put_words(body: &mut Vec<u8>, words: &[String], text: &str) -> std::io::Result<()> {
    let bare = without_end(words);
    let end = if bare.len() < words.len() { cut::END } else { 0 };
    if bare.is_empty() {
        body.push(cut::NONE | end);
    } else if words::words(text).eq(bare) {
        body.push(cut::SPACES | end);
    } else if is_cut_from(bare, text) {
        body.push(cut::LENGTHS | end);
        put_number(body, bare.len());
        for word in bare {
            put_number(body, word.len());
        }
    } else {
        body.push(cut::WORDS | end);
        let packed = zstd::bulk::compress(&serde_json::to_vec(bare)?, LEVEL)?;
        put_number(body, packed.len());
        body.extend(packed);
    }
    Ok(())
}

fn is_cut_from(words: &[String], text: &str) -> bool {
    let mut rest = text;
    words.iter().all(|word| {
        let behind = rest.trim_start().strip_prefix(word.as_str());
        rest = behind.unwrap_or_default();
        behind.is_some() && !word.starts_with(char::is_whitespace)
    })
}

fn take_words(rest: &mut &[u8], text: &str) -> Option<Vec<String>> {
    let kind = *rest.split_off_first()?;
    let mut words: Vec<String> = match kind & !cut::END {
        cut::NONE => Vec::new(),
        cut::SPACES => words::words(text).map(str::to_owned).collect(),
        cut::LENGTHS => {
            let count = take_number(rest)?;
            let mut text = text;
            let mut word = || {
                let (word, behind) = text.trim_start().split_at_checked(take_number(rest)?)?;
                text = behind;
                Some(word.to_owned())
            };
            (0..count).map(|_| word()).collect::<Option<_>>()?
        }
        cut::WORDS => {
            let count = take_number(rest)?;
            listed(&unpacked(rest.split_off(..count)?, MOST_LETTERS)?)?
        }
        _ => return None,
    };
    words.extend((kind & cut::END > 0).then(|| EOS.to_owned()));
    Some(words)
}

/// Lists in JSON, at most so many of them: an empty word takes three bytes there and twenty-four here.
fn listed<T: DeserializeOwned>(json: &[u8]) -> Option<T> {
    let is_few = memchr::memchr_iter(b',', json).nth(MOST_WORDS).is_none();
    is_few.then(|| serde_json::from_slice(json).ok()).flatten()
}

pub(crate) fn unpacked(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let size = usize::try_from(zstd::zstd_safe::get_frame_content_size(packed).ok()??).ok()?;
    (size <= most).then(|| zstd::bulk::decompress(packed, size).ok()).flatten()
}

mod weights {
    pub const NONE: u8 = 0;
    /// Row sums (a bit for each 1, the others as f32), low bytes, the two bits above, exponents.
    pub const POSITIVE: u8 = 1;
    /// f16 as they are: there are some below 0, or none at all.
    pub const ANY: u8 = 2;
    /// Added where they are those of an alignment head.
    pub const HEAD: u8 = 0x10;
}

/// So near 1 a row of a softmax sums, in single precision, also where the columns of pieces are added.
const NEAR: f64 = 1e-5;

/// Restores the row sums. Each weight moves within its f16 rounding interval, so that links and repacking do not change.
fn with_sums(halves: &[f16], columns: usize, sums: &[f64]) -> Vec<f32> {
    let mut weights = vec![0.0; halves.len()];
    halves.convert_to_f32_slice(&mut weights);
    let total = |row: &[f32]| row.iter().copied().map(f64::from).sum::<f64>();
    for (i, (row, halves)) in weights.chunks_mut(columns.max(1)).zip(halves.chunks(columns.max(1))).enumerate() {
        let lacks = sums.get(i).map_or(0.0, |sum| sum - total(row));
        let room = |half: &f16| match half.to_bits() {
            0 => 0.0,
            bits if lacks > 0.0 => f64::from(f16::from_bits(bits + 1).to_f32() - half.to_f32()) / 2.0,
            bits => f64::from(f16::from_bits(bits - 1).to_f32() - half.to_f32()) / -2.0,
        };
        let rooms: Vec<f64> = halves.iter().map(room).collect();
        let share = lacks / rooms.iter().sum::<f64>();
        if lacks != 0.0 && share.is_finite() {
            let share = share.clamp(-0.999, 0.999);
            row.iter_mut().zip(rooms).for_each(|(alpha, room)| *alpha = (f64::from(*alpha) + share * room) as f32);
        }
    }
    weights
}

pub(crate) fn as_kept(alpha: &Alignment) -> Alignment {
    let mut body = Vec::new();
    put_alpha(&mut body, Some(alpha), false);
    take_alpha(&mut body.as_slice()).flatten().unwrap_or_default()
}

fn put_alpha(body: &mut Vec<u8>, alpha: Option<&Alignment>, is_head: bool) {
    let Some(alpha) = alpha else { return body.push(weights::NONE) };
    let mut halves = vec![f16::ZERO; alpha.weights().len()];
    halves.convert_from_f32_slice(alpha.weights());
    let bits: &[u16] = halves.reinterpret_cast();
    let is_positive = bits.iter().all(|bits| bits >> 15 == 0);
    let kind = if is_positive { weights::POSITIVE } else { weights::ANY };
    let sums = if is_positive { alpha.row_sums() } else { Vec::new() };
    body.push(kind | if is_head { weights::HEAD } else { 0 });
    put_number(body, alpha.rows());
    put_number(body, alpha.columns());
    if is_positive {
        let is_1 = |sum: &f64| (sum - 1.0).abs() <= NEAR;
        body.extend(sums.chunks(8).map(|sums| sums.iter().rev().fold(0, |byte, sum| byte << 1 | u8::from(is_1(sum)))));
        body.extend(sums.iter().filter(|sum| !is_1(sum)).flat_map(|sum| (*sum as f32).to_le_bytes()));
        body.extend(bits.iter().map(|bits| *bits as u8));
        let two = |bits: u16| (bits >> 8 & 3) as u8;
        let four = |four: &[u16]| four.iter().rev().fold(0, |byte, bits| byte << 2 | two(*bits));
        body.extend(bits.chunks(4).map(four));
        body.extend(coder::encode(bits.iter().map(|bits| (bits >> 10) as u8)));
    } else {
        body.extend(bits.iter().flat_map(|bits| bits.to_le_bytes()));
    }
}

#[expect(clippy::option_option, reason = "damaged, or without alpha, or with it")]
fn take_alpha(rest: &mut &[u8]) -> Option<Option<Alignment>> {
    let kind = *rest.split_off_first()? & !weights::HEAD;
    if kind == weights::NONE {
        return Some(None);
    }
    let (rows, columns) = (take_number(rest)?, take_number(rest)?);
    let mut sums = Vec::new();
    if kind == weights::POSITIVE {
        let ones = rest.split_off(..rows.div_ceil(8))?;
        for i in 0..rows {
            let is_1 = ones[i / 8] >> (i % 8) & 1 > 0;
            sums.push(if is_1 { 1.0 } else { f64::from(take_floats(rest, 1)?[0]) });
        }
    }
    let count = rows.checked_mul(columns).filter(|count| *count <= rest.len() && rows <= MOST_WORDS)?;
    let bits: Vec<u16> = match kind {
        weights::POSITIVE => {
            let (low, two) = (rest.split_off(..count)?, rest.split_off(..count.div_ceil(4))?);
            let bits = |(k, exponent): (usize, u8)| {
                u16::from(low[k]) | u16::from(two[k / 4] >> (k % 4 * 2) & 3) << 8 | u16::from(exponent) << 10
            };
            coder::decode(rest, count).into_iter().enumerate().map(bits).collect()
        }
        weights::ANY => {
            let bytes = rest.split_off(..2 * count)?;
            bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect()
        }
        _ => return None,
    };
    let flat = with_sums(bits.reinterpret_cast(), columns, &sums);
    Some(Some(Alignment::new(flat, columns)?.resized(rows, columns, 0.0)))
}

pub(crate) fn set_gold(all: &Connection, id: i64, gold: Option<&Links>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO gold(sentence, links) VALUES (?1, ?2)";
    let done = match gold {
        None => change(all, "DELETE FROM gold WHERE sentence = ?1", [id]),
        Some(gold) => change(all, sql, params![id, links::pharaoh(gold)]),
    };
    done.map(drop)
}

pub(crate) fn output_links(all: &Connection, id: i64, text: &str) -> rusqlite::Result<String> {
    let sql = "SELECT links FROM target WHERE sentence = ?1 AND text = ?2";
    let links = one(all, sql, params![id, text], |row| row.get::<_, Option<String>>(0))?;
    Ok(links.flatten().unwrap_or_default())
}

pub(crate) fn set_output_links(all: &Connection, id: i64, text: &str, links: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO target(sentence, text, links) VALUES (?1, ?2, nullif(?3, ''))
        ON CONFLICT DO UPDATE SET links = excluded.links";
    change(all, sql, params![id, text, links]).map(drop)
}

impl Workspace {
    /// Links by hand of an output of a sentence, from 0: those of the first reference where it says that, else its own.
    pub fn gold_of_output(&self, at: usize, text: &str, reference: Option<&str>) -> Result<Option<Links>> {
        if is_said(text, reference) {
            return self.gold(at);
        }
        let links = self.ask(|all| output_links(all, at as i64 + 1, text))?;
        Ok(links_of(&links).filter(|links| !links.all().is_empty()))
    }

    /// All links by hand of outputs of a sentence, from 0, by their texts.
    pub fn output_golds(&self, at: usize) -> Vec<(String, Links)> {
        let sql = "SELECT text, links FROM target WHERE sentence = ?1 AND links IS NOT NULL ORDER BY text";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
        let all: Vec<(String, String)> = self.ask(|all| list(all, sql, [at as i64 + 1], row)).unwrap_or_default();
        all.into_iter().filter_map(|(text, links)| Some((text, links_of(&links)?))).collect()
    }
}

/// Whether an output says the reference.
pub fn is_said(text: &str, reference: Option<&str>) -> bool {
    reference.is_some_and(|reference| words(reference).eq(words(text)))
}
