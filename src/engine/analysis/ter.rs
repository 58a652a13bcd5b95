//! The translation edit rate (Snover et al. 2006): the fewest insertions, deletions, substitutions and shifts of
//! phrases that make a reference of a hypothesis, for each word of the reference, with the numbers of sacreBLEU 2.x, which
//! are Tercom's. Letter case aside, words between spaces. To find the fewest shifts is too hard, so they are taken one
//! by one, the best first, within Tercom's bounds. Imports its room.

use std::collections::HashMap;

use crate::analysis::mteval::is_space;

const LONGEST: usize = 10;
const FARTHEST: usize = 50;
const MOST_TRIED: usize = 1000;
const BEAM: usize = 25;

/// What TER counts; counts of sentences add up to those of the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TerCounts {
    /// Edits against the reference that needs fewest.
    pub edits: u64,
    /// Words of the references, the mean over those of a sentence.
    pub length: f64,
}

/// The signature in sacreBLEU's notation; `references` as in [`crate::analysis::bleu::BleuSettings::signature`].
pub fn signature(references: Option<usize>) -> String {
    let references = references.map_or_else(|| "var".to_owned(), |count| count.to_string());
    let version = env!("CARGO_PKG_VERSION");
    format!("nrefs:{references}|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:interlinear-{version}")
}

impl TerCounts {
    pub fn of(hypothesis: &str, references: &[&str]) -> Self {
        let mut ids: HashMap<String, u32> = HashMap::new();
        let mut words = |text: &str| -> Vec<u32> {
            let text = text.to_lowercase();
            let id = |word: &str| {
                let next = ids.len() as u32;
                *ids.entry(word.to_owned()).or_insert(next)
            };
            text.split(is_space).filter(|word| !word.is_empty()).map(id).collect()
        };
        let hypothesis = words(hypothesis);
        let references: Vec<Vec<u32>> = references.iter().map(|reference| words(reference)).collect();
        let edits = references.iter().map(|reference| edits(&hypothesis, reference)).min();
        let length = references.iter().map(Vec::len).sum::<usize>() as f64 / references.len().max(1) as f64;
        Self { edits: edits.unwrap_or_default(), length }
    }

    /// 100 edits / words, 0 and more; 100 where there are edits and no words.
    pub fn score(&self) -> f64 {
        match (self.edits, self.length) {
            (0, _) => 0.0,
            (_, 0.0) => 100.0,
            (edits, length) => 100.0 * edits as f64 / length,
        }
    }
}

sums!(TerCounts: edits, length; each);

fn edits(hypothesis: &[u32], reference: &[u32]) -> u64 {
    if reference.is_empty() {
        return hypothesis.len() as u64;
    }
    let mut words = hypothesis.to_vec();
    let (mut shifts, mut tried) = (0, 0);
    while let Some(shifted) = best_shift(&words, reference, &mut tried) {
        words = shifted;
        shifts += 1;
    }
    shifts + distance(&words, reference).0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Same,
    Substituted,
    Inserted,
    Deleted,
}

fn distance(hypothesis: &[u32], reference: &[u32]) -> (u64, Vec<Edit>) {
    const FAR: u64 = u64::MAX / 2;
    let (n, wide) = (hypothesis.len(), reference.len() + 1);
    let ratio = if n == 0 { 1.0 } else { reference.len() as f64 / n as f64 };
    let half = ratio / 2.0;
    let beam = if (BEAM as f64) < half { (half + BEAM as f64).ceil() as usize } else { BEAM };
    let mut table = vec![(FAR, Edit::Inserted); (n + 1) * wide];
    for (j, cell) in table[..wide].iter_mut().enumerate() {
        *cell = (j as u64, Edit::Inserted);
    }
    for i in 1..=n {
        let diagonal = (i as f64 * ratio).floor() as usize;
        let end = if i == n { wide } else { wide.min(diagonal + beam) };
        for j in diagonal.saturating_sub(beam)..end {
            let above = table[(i - 1) * wide + j].0 + 1;
            if j == 0 {
                table[i * wide] = (above, Edit::Deleted);
                continue;
            }
            let is_same = hypothesis[i - 1] == reference[j - 1];
            let edit = if is_same { Edit::Same } else { Edit::Substituted };
            let kept = table[(i - 1) * wide + j - 1].0 + u64::from(!is_same);
            let before = table[i * wide + j - 1].0 + 1;
            for (cost, edit) in [(kept, edit), (above, Edit::Deleted), (before, Edit::Inserted)] {
                if table[i * wide + j].0 > cost {
                    table[i * wide + j] = (cost, edit);
                }
            }
        }
    }
    let (mut i, mut j, mut edits) = (n, wide - 1, Vec::with_capacity(n + wide));
    while i > 0 || j > 0 {
        let edit = table[i * wide + j].1;
        edits.push(edit);
        i -= usize::from(edit != Edit::Inserted);
        j -= usize::from(edit != Edit::Deleted);
    }
    edits.reverse();
    (table[n * wide + wide - 1].0, edits)
}

#[derive(Default)]
struct Wrong {
    hypothesis: Vec<bool>,
    reference: Vec<bool>,
    behind: Vec<usize>,
}

impl Wrong {
    fn of(edits: &[Edit]) -> Self {
        let mut wrong = Self::default();
        for edit in edits {
            let is_wrong = *edit != Edit::Same;
            if *edit != Edit::Inserted {
                wrong.hypothesis.push(is_wrong);
            }
            if *edit != Edit::Deleted {
                wrong.reference.push(is_wrong);
                wrong.behind.push(wrong.hypothesis.len());
            }
        }
        wrong
    }
}

type Rank = (i64, usize, i64, i64);

fn best_shift(words: &[u32], reference: &[u32], tried: &mut usize) -> Option<Vec<u32>> {
    let (before, edits) = distance(words, reference);
    let wrong = Wrong::of(&edits);
    let mut best: Option<(Rank, Vec<u32>)> = None;
    for (start, there, length) in shared_phrases(words, reference) {
        let is_right = |wrong: &[bool]| wrong.iter().all(|wrong| !wrong);
        let at = wrong.behind[there];
        if is_right(&wrong.hypothesis[start..start + length])
            || is_right(&wrong.reference[there..there + length])
            || (start < at && at <= start + length)
        {
            continue;
        }
        let mut last = None;
        for offset in 0..=length {
            // behind the word of the reference before the phrase, then behind each word of it
            let to = match (there + offset).checked_sub(1) {
                None => 0,
                Some(word) if word < wrong.behind.len() => wrong.behind[word],
                Some(_) => break,
            };
            if last.replace(to) == Some(to) {
                continue;
            }
            let shifted = shift(words, start, length, to);
            let saved = before as i64 - distance(&shifted, reference).0 as i64;
            let rank = (saved, length, -(start as i64), -(to as i64));
            *tried += 1;
            if best.as_ref().is_none_or(|(most, _)| rank > *most) {
                best = Some((rank, shifted));
            }
        }
        if *tried >= MOST_TRIED {
            return None;
        }
    }
    best.filter(|((saved, ..), _)| *saved > 0).map(|(_, words)| words)
}

fn shared_phrases<'a>(words: &'a [u32], reference: &'a [u32]) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
    (0..words.len()).flat_map(move |start| {
        let near = (0..reference.len()).filter(move |there| there.abs_diff(start) <= FARTHEST);
        near.flat_map(move |there| {
            let same = words[start..].iter().zip(&reference[there..]).take_while(|(a, b)| a == b).count();
            (1..=same.min(LONGEST)).map(move |length| (start, there, length))
        })
    })
}

fn shift(words: &[u32], start: usize, length: usize, to: usize) -> Vec<u32> {
    let (phrase, end) = (&words[start..start + length], start + length);
    if to < start {
        [&words[..to], phrase, &words[to..start], &words[end..]].concat()
    } else if to > end {
        [&words[..start], &words[end..to], phrase, &words[to..]].concat()
    } else {
        // the phrase moves within itself and what follows, and not behind the last word
        let to = words.len().min(length + to);
        [&words[..start], &words[end..to], phrase, &words[to..]].concat()
    }
}
