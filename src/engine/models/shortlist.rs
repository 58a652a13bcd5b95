//! The words that a sentence may be translated with, as Firefox keeps them next to its models (`lex.*.bin`), and a
//! stepper limited to them: a lexical shortlist (Junczys-Dowmunt et al. 2018).
//!
//! A file has, in little endian: a magic number, a checksum of the rest, the number of frequent words, the longest
//! list, the numbers of offsets and of listed words, an offset for each source word and one more (u64 each), and the
//! lists (u32 each). A sentence has the frequent words, the lists of its words, its own words if both sides share a
//! vocabulary, and further words up to a multiple of 8, as its makers' kernels need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::{disk, need::Need, transformer::heads::HeadChanges};
use crate::text::write::folder_of;

const MAGIC: u64 = 0xF11A_48D5_0134_17F5;
const HEAD: usize = 6;
/// More bytes than any such file has.
const LIMIT: u64 = 1 << 28;

/// The words of a shortlist file.
#[derive(Debug)]
pub struct Shortlist {
    frequent: usize,
    offsets: Vec<usize>,
    lists: Vec<u32>,
    words: usize,
    shared: bool,
}

impl Shortlist {
    pub fn next_to(file: &Path) -> Result<PathBuf> {
        let folder = folder_of(file);
        let is_list = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("lex.") && Path::new(&name).extension().is_some_and(|end| end == "bin")
        };
        let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, &error))?;
        let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_list).collect();
        match (found.pop(), found.len()) {
            (Some(only), 0) => Ok(only),
            (None, _) => {
                Err(Error::file(folder, "has no shortlist (lex.*.bin) beside the model; leave out @shortlist"))
            }
            _ => Err(Error::file(folder, "has several shortlists (lex.*.bin); keep the one of the model")),
        }
    }

    pub fn read(path: &Path, [source, target]: [usize; 2], shared: bool) -> Result<Self> {
        let bytes = disk::read(path, LIMIT)?;
        let wrong = |message: String| Error::file(path, message);
        let (numbers, _) = bytes.as_chunks::<8>();
        let at = |n: usize| numbers.get(n).map(|bytes| u64::from_le_bytes(*bytes));
        if at(0) != Some(MAGIC) {
            return Err(wrong("is no binary shortlist; its first 8 bytes are others".to_owned()));
        }
        let [frequent, count, listed] = [2, 4, 5].map(|n| at(n).and_then(|n| usize::try_from(n).ok()));
        let (Some(frequent), Some(count), Some(listed)) = (frequent, count, listed) else {
            return Err(wrong(format!("has {} bytes, fewer than its head", bytes.len())));
        };
        let size =
            count.checked_mul(8).zip(listed.checked_mul(4)).and_then(|(a, b)| a.checked_add(b)?.checked_add(8 * HEAD));
        if size != Some(bytes.len()) {
            let message = format!("says that it has {count} offsets and {listed} words, but has {} bytes", bytes.len());
            return Err(wrong(message));
        }
        // as its makers sum it up: what is left of whole numbers is not counted
        let sum = numbers[2..].iter().fold(0_u64, |sum, bytes| {
            let mixed = u64::from_le_bytes(*bytes).wrapping_add(0x9e37_79b9);
            sum ^ mixed.wrapping_add(sum << 6).wrapping_add(sum >> 2)
        });
        if at(1) != Some(sum) {
            return Err(wrong(
                "is damaged: its checksum is another; copy it again from where it comes from".to_owned(),
            ));
        }
        let offsets: Option<Vec<usize>> =
            (HEAD..HEAD + count).map(|n| at(n).and_then(|n| usize::try_from(n).ok())).collect();
        let offsets = offsets.unwrap_or_default();
        if count != source + 1 {
            return Err(wrong(format!("is for {} source words, but the model has {source}", count.saturating_sub(1))));
        }
        if offsets.last() != Some(&listed) || !offsets.is_sorted() {
            return Err(wrong(format!("has offsets that do not lead through its {listed} words in order")));
        }
        let lists: Vec<u32> =
            bytes[8 * (HEAD + count)..].as_chunks::<4>().0.iter().map(|id| u32::from_le_bytes(*id)).collect();
        if let Some(id) = lists.iter().find(|id| **id as usize >= target) {
            return Err(wrong(format!("lists the target word {id}, but the model has {target}")));
        }
        Ok(Self { frequent, offsets, lists, words: target, shared })
    }

    pub fn of(&self, source: &[u32]) -> Vec<u32> {
        let mut is_listed = vec![false; self.words];
        is_listed.iter_mut().take(self.frequent).for_each(|listed| *listed = true);
        for id in source {
            let range = self.offsets.get(*id as usize).copied().zip(self.offsets.get(*id as usize + 1).copied());
            let list = range.and_then(|(start, end)| self.lists.get(start..end)).unwrap_or_default();
            let own = Some(id).filter(|_| self.shared);
            for id in list.iter().chain(own) {
                if let Some(listed) = is_listed.get_mut(*id as usize) {
                    *listed = true;
                }
            }
        }
        let count = is_listed.iter().filter(|listed| **listed).count();
        let missing = count.next_multiple_of(8) - count;
        let free: Vec<usize> = (self.frequent..self.words).filter(|id| !is_listed[*id]).take(missing).collect();
        for id in free {
            is_listed[id] = true;
        }
        (0..self.words as u32).filter(|id| is_listed[*id as usize]).collect()
    }
}

/// A [`Stepper`] limited to listed words, over which p sums to 1.
pub struct Shortlisted {
    inner: Box<dyn Stepper>,
    list: Arc<Shortlist>,
    words: Vec<Vec<u32>>,
}

impl Shortlisted {
    pub fn new(inner: Box<dyn Stepper>, list: Arc<Shortlist>) -> Self {
        Self { inner, list, words: Vec::new() }
    }
}

impl Stepper for Shortlisted {
    fn inner(&self) -> Option<&dyn Stepper> {
        Some(&*self.inner)
    }

    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begin_changed(sources, &[])
    }

    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        self.words = sources.iter().map(|source| self.list.of(source)).collect();
        self.inner.begin_changed(sources, changes)
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.inner.align(rows, output)
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.inner.predict(rows, &Need::all(), output)?;
        for (row, log_p) in rows.iter().zip(output.log_p.chunks_exact_mut(output.vocabulary.max(1))) {
            let listed = &self.words[row.sentence];
            let sum: f64 = listed.iter().map(|id| f64::from(log_p[*id as usize]).exp()).sum();
            let kept: Vec<f32> = listed.iter().map(|id| (f64::from(log_p[*id as usize]) - sum.ln()) as f32).collect();
            log_p.fill(f32::NEG_INFINITY);
            listed.iter().zip(kept).for_each(|(id, kept)| log_p[*id as usize] = kept);
        }
        output.answer(need);
        Ok(())
    }

    fn joins(&self) -> bool {
        self.inner.joins()
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let kept_words = kept.iter().map(|sentence| std::mem::take(&mut self.words[*sentence]));
        self.words = kept_words.chain(sources.iter().map(|source| self.list.of(source))).collect();
        self.inner.join(kept, sources)
    }
}
