//! The texts and numbers of a million sentences in memory, in pieces that copies share; a piece of a file is read
//! when something of it is asked for first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use engine::text::{lines::Needle, words::composed};

pub const PIECE: usize = 4096;

/// Bytes of texts of a file that stay in memory without having been asked for one by one.
const MOST: usize = 640 << 20;
/// Bytes beyond which all are let go, and are read again where something of them is asked for.
const TOO_MANY: usize = 896 << 20;

pub(crate) type Held = Arc<AtomicUsize>;

pub(crate) fn are_too_many(held: &Held) -> bool {
    held.load(Ordering::Relaxed) > TOO_MANY
}

#[derive(Debug)]
struct HeldBytes {
    held: Held,
    bytes: usize,
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

pub(crate) type Reads<P> = Arc<dyn Fn(usize) -> P + Send + Sync>;

/// Something of each sentence, in pieces one behind the other.
#[derive(Clone, Default)]
pub struct PieceStore<P> {
    cells: Vec<Arc<OnceLock<P>>>,
    /// `None`: a copy reads them.
    reads: Option<Reads<P>>,
    len: usize,
    held: Held,
}

/// A text for each sentence, or none.
pub type TextStore = PieceStore<TextPiece>;

/// A number for each sentence, NaN where there is none.
pub type ColumnNumbers = PieceStore<Vec<f32>>;

impl<P> std::fmt::Debug for PieceStore<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PieceStore").field("count", &self.cells.len()).finish_non_exhaustive()
    }
}

impl<P> PieceStore<P> {
    pub(crate) fn of_file(len: usize, held: &Held, reads: Reads<P>) -> Self {
        let mut pieces = Self { cells: Vec::new(), reads: Some(reads), len: 0, held: Arc::clone(held) };
        pieces.grow(len);
        pieces
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn grow(&mut self, len: usize) {
        self.len = self.len.max(len);
        self.cells.resize_with(self.len.div_ceil(PIECE), Arc::default);
    }

    fn piece(&self, n: usize) -> Option<&P> {
        let cell = self.cells.get(n)?;
        self.reads.as_ref().map_or_else(|| cell.get(), |reads| Some(cell.get_or_init(|| reads(n))))
    }

    pub(crate) fn read(&self, n: usize) {
        self.piece(n);
    }

    pub(crate) fn forget(&mut self) {
        if self.reads.is_some() {
            self.cells.fill_with(Arc::default);
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.held.load(Ordering::Relaxed) < MOST
    }

    pub(crate) fn pieces(&self) -> usize {
        self.cells.len()
    }

    /// Whether what is at a place is in memory, if there is anything.
    pub fn is_here(&self, at: usize) -> bool {
        self.cells.get(at / PIECE).is_none_or(|cell| cell.get().is_some())
    }

    pub(crate) fn is_read(&self, n: usize) -> bool {
        self.reads.is_none() || self.is_here(n * PIECE)
    }

    pub(crate) fn is_used(&self) -> bool {
        self.cells.iter().any(|cell| cell.get().is_some())
    }

    pub(crate) fn stop_reading(&mut self) {
        self.reads = None;
    }

    pub(crate) fn read_again(&mut self, places: &std::ops::Range<usize>) {
        let Some(reads) = &self.reads else { return };
        // A damaged file may tell of any places.
        for n in places.start / PIECE..places.end.div_ceil(PIECE).min(self.cells.len()) {
            // One that is not read yet may be under way in a copy, from before.
            self.cells[n] = if self.cells[n].get().is_some() { Arc::new(reads(n).into()) } else { Arc::default() };
        }
    }
}

/// TextPiece one behind the other, a line feed behind each.
#[derive(Clone, Debug, Default)]
pub struct TextPiece {
    text: String,
    /// Where each text ends, its feed not counted.
    ends: Vec<u32>,
    there: Vec<bool>,
    counted: Option<Arc<HeldBytes>>,
}

/// Stands for no text where texts are written down, and before one that begins with it or with [`MARKED`].
const MISSING: char = '\0';
/// Stands before a text that begins with a sign of this file.
const MARKED: char = '\u{1}';

impl TextPiece {
    pub(crate) fn len(&self) -> usize {
        self.there.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn counted(mut self, held: &Held) -> Self {
        let bytes = self.bytes();
        held.fetch_add(bytes, Ordering::Relaxed);
        self.counted = Some(Arc::new(HeldBytes { held: Arc::clone(held), bytes }));
        self
    }

    pub(crate) fn count(&self) -> usize {
        self.there.iter().filter(|there| **there).count()
    }

    pub(crate) fn written(&self) -> String {
        let mut written = String::with_capacity(self.text.len() + self.len());
        for i in 0..self.len() {
            match self.get(i) {
                None => written.push(MISSING),
                Some(text) => {
                    written.extend(text.starts_with([MISSING, MARKED]).then_some(MARKED));
                    written.push_str(text);
                }
            }
            written.push('\n');
        }
        written
    }

    pub(crate) fn of_written(written: String) -> Self {
        if memchr::memchr2(MISSING as u8, MARKED as u8, written.as_bytes()).is_none() {
            let ends: Vec<u32> = memchr::memchr_iter(b'\n', written.as_bytes()).map(|end| end as u32).collect();
            return Self { there: vec![true; ends.len()], ends, text: written, counted: None };
        }
        let mut piece = Self::default();
        for line in written.split_terminator('\n') {
            let text = line.strip_prefix(MARKED).or((!line.starts_with(MISSING)).then_some(line));
            piece.push(text);
        }
        piece
    }

    pub(crate) fn push(&mut self, text: Option<&str>) {
        // A feed within a text would be taken for its end.
        let start = self.text.len();
        self.text.push_str(text.unwrap_or_default());
        if self.text[start..].contains('\n') {
            let line = self.text[start..].replace('\n', " ");
            self.text.replace_range(start.., &line);
        }
        self.ends.push(self.text.len() as u32);
        self.text.push('\n');
        self.there.push(text.is_some());
    }

    fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] as usize + 1 }
    }

    fn get(&self, i: usize) -> Option<&str> {
        self.there.get(i)?.then(|| &self.text[self.start(i)..self.ends[i] as usize])
    }

    fn search_each(&self, holds: &mut dyn FnMut(&str) -> bool, found: &mut dyn FnMut(usize)) {
        (0..self.len()).filter(|i| self.get(*i).is_some_and(&mut *holds)).for_each(found);
    }

    fn search(&self, rule: &regex::Regex, found: &mut dyn FnMut(usize)) {
        let mut at = 0;
        while let Some(hit) = rule.find_at(&self.text, at) {
            let i = self.ends.partition_point(|end| (*end as usize) < hit.start());
            if i >= self.ends.len() {
                return;
            }
            if self.there[i] {
                found(i);
            }
            at = self.ends[i] as usize + 1;
        }
    }
}

impl TextStore {
    /// The text of a place, from 0.
    pub fn get(&self, at: usize) -> Option<&str> {
        if at >= self.len {
            return None;
        }
        self.piece(at / PIECE)?.get(at % PIECE)
    }

    /// Calls `found` with every place whose text holds the needle, in order.
    pub fn search(&self, needle: &Needle, found: &mut dyn FnMut(usize)) {
        // A piece may have been read when the file had more sentences already.
        let mut found = |at: usize| {
            if at < self.len {
                found(at);
            }
        };
        self.each_piece(&mut |start, piece| {
            match needle.rule() {
                Some(rule) => piece.search(rule, &mut |i| found(start + i)),
                None => piece.search_each(&mut |text| needle.is_in(text), &mut |i| found(start + i)),
            }
            true
        });
    }

    /// As [`TextStore::search`] for an expression that may match across texts, hence text by text, as [`composed`] has them.
    pub fn search_each(&self, rule: &regex::Regex, found: &mut dyn FnMut(usize)) {
        self.each_piece(&mut |start, piece| {
            piece.search_each(&mut |text| rule.is_match(&composed(text)), &mut |i| found(start + i));
            true
        });
    }

    /// Gives the texts that there are, with their places, in order, until `job` says no; whether it never did.
    pub fn each(&self, job: &mut dyn FnMut(usize, &str) -> bool) -> bool {
        let places = |start: usize, piece: &TextPiece| start..(start + piece.len()).min(self.len);
        self.each_piece(&mut |start, piece| {
            places(start, piece).all(|at| piece.get(at - start).is_none_or(|text| job(at, text)))
        })
    }

    /// All pieces with the place of their first text, until `job` returns false.
    fn each_piece(&self, job: &mut dyn FnMut(usize, &TextPiece) -> bool) -> bool {
        (0..self.pieces()).all(|n| match &self.reads {
            Some(reads) if !self.is_read(n) && !self.has_room() => job(n * PIECE, &reads(n)),
            _ => self.piece(n).is_none_or(|piece| job(n * PIECE, piece)),
        })
    }
}

impl ColumnNumbers {
    /// The number of a place, from 0.
    pub fn get(&self, at: usize) -> f32 {
        self.piece(at / PIECE).and_then(|piece| piece.get(at % PIECE)).copied().unwrap_or(f32::NAN)
    }

    /// Sets a number of a piece that is in memory.
    pub(crate) fn update(&mut self, at: usize, number: f32) {
        if let Some(cell) = self.cells.get_mut(at / PIECE).filter(|cell| cell.get().is_some())
            && let Some(numbers) = Arc::make_mut(cell).get_mut()
        {
            put(numbers, at % PIECE, number);
        }
    }
}

pub(crate) fn put(numbers: &mut Vec<f32>, at: usize, number: f32) {
    if numbers.len() <= at {
        numbers.resize(at + 1, f32::NAN);
    }
    numbers[at] = number;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(held: &Held) -> (TextStore, Arc<AtomicUsize>) {
        let (count, times) = (Arc::clone(held), Arc::new(AtomicUsize::new(0)));
        let read = Arc::clone(&times);
        let reads: Reads<TextPiece> = Arc::new(move |n| {
            let mut piece = TextPiece::default();
            let says = |i: usize| if (n * PIECE + i).is_multiple_of(100) { "it is found" } else { "it is not" };
            (0..PIECE).for_each(|i| piece.push(Some(says(i))));
            read.fetch_add(1, Ordering::Relaxed);
            piece.counted(&count)
        });
        (TextStore::of_file(3 * PIECE, held, reads), times)
    }

    #[test]
    fn where_memory_is_full_pieces_are_read_in_passing() {
        let found = |texts: &TextStore| {
            let (mut plain, mut each) = (Vec::new(), Vec::new());
            texts.search(&Needle::new("found"), &mut |at| plain.push(at));
            texts.search_each(&regex::Regex::new("found$").expect("an expression"), &mut |at| each.push(at));
            assert_eq!(plain, each);
            each.clear();
            texts.each(&mut |at, text| {
                each.extend(text.ends_with("found").then_some(at));
                at < PIECE
            });
            assert_eq!(plain.iter().filter(|at| **at <= PIECE).collect::<Vec<_>>(), each.iter().collect::<Vec<_>>());
            plain
        };
        let (roomy, full) = (Held::default(), Arc::new(AtomicUsize::new(MOST)));
        let (mut kept, times) = column(&roomy);
        let all = found(&kept);
        assert_eq!(all, (0..3 * PIECE).step_by(100).collect::<Vec<_>>());
        assert_eq!((times.load(Ordering::Relaxed), kept.is_used()), (3, true), "the second search reads nothing");
        let (passing, times) = column(&full);
        assert_eq!(found(&passing), all);
        assert_eq!((times.load(Ordering::Relaxed), passing.is_used()), (8, false), "each search reads");
        assert_eq!(full.load(Ordering::Relaxed), MOST, "what was read in passing is not held");
        let copy = kept.clone();
        kept.forget();
        let all = roomy.load(Ordering::Relaxed);
        assert!(!kept.is_used() && copy.is_used() && all > 0, "a copy holds what it has read");
        assert_eq!(kept.get(PIECE), copy.get(PIECE));
        drop(copy);
        assert!(roomy.load(Ordering::Relaxed) < all / 2, "the others are gone");
    }
}
