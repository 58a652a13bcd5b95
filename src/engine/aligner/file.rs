//! What was learned as a small file: a line that names the format and its version, then one zstandard frame. In it, one
//! after the other: two language tags and both vocabularies as lines of text; for each source word its target words, as
//! differences; and every probability as one byte, an eighth of a factor of 2 each. Words have ids by falling frequency,
//! so most differences are small numbers, and all of one kind lie together: both make the file small.

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;

use crate::aligner::jumps::{CELLS, Jumps, Row};
use crate::aligner::lexicon::{Lexicon, LexiconEntry};
use crate::aligner::{learned::Learned, vocabulary::AlignerVocabulary};
use crate::error::{Error, Result};
use crate::text::zstandard::{Decoder, Encoder};
use crate::text::{reader, write::write_atomic};

const NAME: &str = "interlinear aligner ";
const VERSION: u32 = 1;
const LEVEL: i32 = 19;
const MOST_BYTES: u64 = 1 << 30;
/// Words that keep jumps of their own: the frequent ones, of which enough is known.
const JUMPING: usize = 2000;

impl Learned {
    pub fn save(&self, path: &Path) -> Result<()> {
        let payload = Writer::all(self);
        write_atomic(path, |file| {
            writeln!(file, "{NAME}{VERSION}")?;
            let mut packed = Encoder::new(file, LEVEL)?;
            packed.include_checksum(true)?;
            packed.write_all(&payload)?;
            packed.finish().map(|_| ())
        })
    }

    /// Reads what [`Self::save`] wrote.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(path, reader::open(path)?)
    }

    /// As [`Self::open`], from bytes that errors call `path`.
    pub fn from_bytes(path: &Path, bytes: &'static [u8]) -> Result<Self> {
        Self::read(path, Box::new(bytes))
    }

    fn read(path: &Path, mut file: Box<dyn std::io::BufRead + Send>) -> Result<Self> {
        let mut head = Vec::new();
        let longest = NAME.len() as u64 + 12;
        (&mut file).take(longest).read_until(b'\n', &mut head).map_err(|error| Error::io(path, &error))?;
        let version = std::str::from_utf8(&head).ok().and_then(|head| head.strip_prefix(NAME));
        let Some(version) = version.and_then(|version| version.trim_end().parse::<u32>().ok()) else {
            let advice = "make one with `interlinear align --statistical --save FILE`";
            return Err(Error::file(path, format!("is not what an aligner learned; {advice}")));
        };
        if version != VERSION {
            let message = format!("has version {version} of its format, and this program reads version {VERSION}");
            return Err(Error::file(path, format!("{message}; learn it again, or use a newer program")));
        }
        let damaged = |what: &str| Error::file(path, format!("is damaged ({what}); learn it again or copy it anew"));
        let mut payload = Vec::new();
        let unpacked =
            Decoder::with_buffer(file).and_then(|unpacked| unpacked.take(MOST_BYTES + 1).read_to_end(&mut payload));
        unpacked.map_err(|_| damaged("it does not unpack"))?;
        if payload.len() as u64 > MOST_BYTES {
            return Err(damaged("it unpacks to more than a gigabyte"));
        }
        Reader { bytes: &payload }.all().ok_or_else(|| damaged("its tables do not fit together"))
    }

    /// The same with about `most` pairs of words, those that matter most in running text, and without the words that
    /// have none left. Words have ids by falling frequency, so 1 over the id stands for how often a word occurs (Zipf's
    /// law).
    pub fn pruned(&self, most: usize) -> Self {
        let often = |id: u32| 1.0 / (id as f32 + 10.0);
        let weight = |source: u32, entry: &LexiconEntry| {
            (entry.forward * often(source)).max(entry.reverse * often(entry.target))
        };
        let rows: Vec<Vec<LexiconEntry>> =
            (0..self.lexicon.sources()).map(|source| self.lexicon.entries(source)).collect();
        let each = rows.iter().enumerate().flat_map(|(s, row)| row.iter().map(move |entry| (s as u32, entry)));
        let mut weights: Vec<f32> = each.map(|(source, entry)| weight(source, entry)).collect();
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = weights.get(most).copied().unwrap_or(0.0);
        let keep = |source: usize, entry: &LexiconEntry| weight(source as u32, entry) > least;
        let (mut sources, mut targets) = (vec![false; rows.len()], vec![false; self.target_words.len()]);
        for (s, row) in rows.iter().enumerate() {
            for entry in row.iter().filter(|entry| keep(s, entry)) {
                (sources[s], targets[entry.target as usize]) = (true, true);
            }
        }
        let places = |kept: &[bool]| -> Vec<u32> {
            let mut next = 0;
            let place = |&kept: &bool| {
                next += u32::from(kept);
                next.saturating_sub(1)
            };
            kept.iter().map(place).collect()
        };
        let target_places = places(&targets);
        let row = |(s, row): (usize, &Vec<LexiconEntry>)| -> Vec<LexiconEntry> {
            let kept = row.iter().filter(|entry| keep(s, entry));
            kept.map(|entry| LexiconEntry { target: target_places[entry.target as usize], ..*entry }).collect()
        };
        let rows: Vec<Vec<LexiconEntry>> = rows.iter().enumerate().filter(|(s, _)| sources[*s]).map(row).collect();
        let lexicon = &self.lexicon;
        Self {
            source_words: AlignerVocabulary::new(kept(self.source_words.words(), &sources)),
            target_words: AlignerVocabulary::new(kept(self.target_words.words(), &targets)),
            lexicon: Lexicon::new(&rows, kept(&lexicon.null_forward, &targets), kept(&lexicon.null_reverse, &sources)),
            forward: Jumps { words: kept(&self.forward.words, &sources), ..self.forward },
            reverse: Jumps { words: kept(&self.reverse.words, &targets), ..self.reverse },
            languages: self.languages.clone(),
            ..*self
        }
    }
}

fn kept<T: Clone>(all: &[T], which: &[bool]) -> Vec<T> {
    all.iter().zip(which).filter(|(_, kept)| **kept).map(|(one, _)| one.clone()).collect()
}

/// A probability as a byte: 0 is none, 255 is 1, and each step down an eighth of a factor of 2.
fn byte(p: f32) -> u8 {
    if p > 0.0 { (255.0 + 8.0 * p.log2()).round().clamp(1.0, 255.0) as u8 } else { 0 }
}

fn probability(byte: u8) -> f32 {
    if byte == 0 { 0.0 } else { ((f32::from(byte) - 255.0) / 8.0).exp2() }
}

struct Writer(Vec<u8>);

impl Writer {
    fn all(learned: &Learned) -> Vec<u8> {
        let mut file = Self(Vec::new());
        file.line(&learned.languages.0);
        file.line(&learned.languages.1);
        for words in [&learned.source_words, &learned.target_words] {
            file.number(words.len() as u32);
            for word in words.words() {
                file.line(word);
            }
        }
        file.0.extend(learned.p0.to_le_bytes());
        file.0.extend(learned.floor.to_le_bytes());
        let rows: Vec<Vec<LexiconEntry>> = (0..learned.lexicon.sources()).map(|s| learned.lexicon.entries(s)).collect();
        for row in &rows {
            file.number(row.len() as u32);
        }
        for row in &rows {
            let mut last = 0;
            for entry in row {
                file.number(entry.target - last);
                last = entry.target;
            }
        }
        let each = || rows.iter().flatten();
        file.probabilities(each().map(|entry| entry.forward));
        file.probabilities(each().map(|entry| entry.reverse));
        file.probabilities(learned.lexicon.null_forward.iter().copied());
        file.probabilities(learned.lexicon.null_reverse.iter().copied());
        for jumps in [&learned.forward, &learned.reverse] {
            file.probabilities(jumps.common.iter().chain(&jumps.start).copied());
            let own = &jumps.words[..jumps.words.len().min(JUMPING)];
            file.number(own.len() as u32);
            file.probabilities(own.iter().flatten().copied());
        }
        file.0
    }

    fn line(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'\n');
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn probabilities(&mut self, all: impl Iterator<Item = f32>) {
        self.0.extend(all.map(byte));
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn all(mut self) -> Option<Learned> {
        let languages = (self.line()?, self.line()?);
        let source_words = self.vocabulary()?;
        let target_words = self.vocabulary()?;
        let (p0, floor) = (self.float()?, self.float()?);
        let within = |p: f32| p > 0.0 && p < 1.0;
        if !within(p0) || !within(floor) {
            return None;
        }
        let lengths = (0..source_words.len()).map(|_| self.number()).collect::<Option<Vec<u32>>>()?;
        // Each entry has three bytes to come at least.
        if lengths.iter().map(|&length| u64::from(length)).sum::<u64>() > self.bytes.len() as u64 / 3 {
            return None;
        }
        let blank = LexiconEntry { target: 0, forward: 0.0, reverse: 0.0 };
        let mut rows: Vec<Vec<LexiconEntry>> = lengths.iter().map(|&length| vec![blank; length as usize]).collect();
        for row in &mut rows {
            let mut last = 0_u32;
            for (n, entry) in row.iter_mut().enumerate() {
                let step = self.number()?;
                last = last.checked_add(step)?;
                let is_new = n == 0 || step > 0;
                if !is_new || last as usize >= target_words.len() {
                    return None;
                }
                entry.target = last;
            }
        }
        for entry in rows.iter_mut().flatten() {
            entry.forward = self.probability()?;
        }
        for entry in rows.iter_mut().flatten() {
            entry.reverse = self.probability()?;
        }
        let null_forward = self.probabilities(target_words.len())?;
        let null_reverse = self.probabilities(source_words.len())?;
        let forward = self.jumps(source_words.len())?;
        let reverse = self.jumps(target_words.len())?;
        let lexicon = Lexicon::new(&rows, null_forward, null_reverse);
        self.bytes.is_empty().then_some(Learned {
            languages,
            source_words,
            target_words,
            lexicon,
            forward,
            reverse,
            p0,
            floor,
        })
    }

    fn vocabulary(&mut self) -> Option<AlignerVocabulary> {
        let length = self.number()?;
        let words = (0..length).map(|_| self.line().map(String::into_boxed_str)).collect::<Option<Vec<_>>>()?;
        Some(AlignerVocabulary::new(words))
    }

    fn jumps(&mut self, words: usize) -> Option<Jumps> {
        let (common, start) = (self.jump_row()?, self.jump_row()?);
        let own = self.number()? as usize;
        if own > words {
            return None;
        }
        let words = (0..own).map(|_| self.jump_row()).collect::<Option<Vec<_>>>()?;
        Some(Jumps { common, words, start })
    }

    fn jump_row(&mut self) -> Option<Row> {
        let row: Row = self.probabilities(CELLS)?.try_into().ok()?;
        // Every word must be able to lead to every other one.
        row.iter().all(|p| *p > 0.0).then_some(row)
    }

    fn line(&mut self) -> Option<String> {
        let end = memchr::memchr(b'\n', self.bytes)?;
        let line = std::str::from_utf8(&self.bytes[..end]).ok()?.to_owned();
        self.bytes = &self.bytes[end + 1..];
        Some(line)
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(number).ok();
            }
        }
        None
    }

    fn float(&mut self) -> Option<f32> {
        let (bytes, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(f32::from_le_bytes(*bytes))
    }

    fn probability(&mut self) -> Option<f32> {
        self.byte().map(probability)
    }

    fn probabilities(&mut self, count: usize) -> Option<Vec<f32>> {
        let (bytes, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(bytes.iter().copied().map(probability).collect())
    }
}
