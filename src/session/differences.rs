//! Floor 8: which words the outputs of the columns do not share, by longest common subsequences.

use std::collections::HashMap;

use crate::session::column::Column;
use crate::session::table::TargetWord;
use crate::text::sentence::EOS;
use crate::worker::protocol::HypothesisView;

/// Longest outputs that are compared word by word (cells of the comparison); these take about a millisecond.
const MAX_COMPARED: usize = 500_000;

/// For each column, which target words are not in every output. Only finished translations into the first column's
/// language are compared, each with the first. Columns that failed or show an older text are passed over; one that is
/// still at work is waited for.
pub fn differences(columns: &[Column]) -> Vec<Vec<bool>> {
    let mut marks: Vec<Vec<bool>> = columns.iter().map(|column| vec![false; words(column).len()]).collect();
    let Some(at) = columns.iter().position(|column| comparable(column) || column.decoding) else { return marks };
    let first = &columns[at];
    if !comparable(first) {
        return marks;
    }
    let mine = words(first);
    let others = columns.iter().enumerate().skip(at + 1);
    let others = others.filter(|(_, other)| comparable(other) && language(other) == language(first));
    let compared: Vec<(usize, Vec<(usize, usize)>)> =
        others.filter_map(|(n, other)| Some((n, common(mine, words(other))?))).collect();
    let mut shared_by = vec![0; mine.len()];
    compared.iter().flat_map(|(_, pairs)| pairs).for_each(|&(a, _)| shared_by[a] += 1);
    for (n, pairs) in &compared {
        marks[*n].fill(true);
        for &(a, b) in pairs {
            marks[*n][b] = shared_by[a] < compared.len();
        }
    }
    marks[at] = shared_by.iter().map(|shared| *shared < compared.len()).collect();
    marks
}

/// Which words of `changed` are not in `own`, by a longest common subsequence; none where they are too long to compare.
pub fn changed(own: &[String], changed: &[String]) -> Vec<bool> {
    let word = |text: &String| TargetWord { text: text.clone(), ..TargetWord::default() };
    let (own, other): (Vec<_>, Vec<_>) = (own.iter().map(word).collect(), changed.iter().map(word).collect());
    let Some(pairs) = common(&own, &other) else { return vec![false; other.len()] };
    let mut marks = vec![true; other.len()];
    for (_, b) in pairs {
        marks[b] = false;
    }
    marks
}

/// The words that a model says by itself, and whether each is not said with what is set.
pub fn by_itself(own: &HypothesisView, said: &HypothesisView) -> Vec<(String, bool)> {
    let words = |of: &HypothesisView| -> Vec<String> {
        let words = of.pieces.as_ref().map_or(&of.tokens, |pieces| &pieces.words);
        words.iter().filter(|word| *word != EOS).cloned().collect()
    };
    let (own, said) = (words(own), words(said));
    let differs = changed(&said, &own);
    own.into_iter().zip(differs).collect()
}

fn words(column: &Column) -> &[TargetWord] {
    column.table.as_ref().map_or(&[], |table| &table.target)
}

fn comparable(column: &Column) -> bool {
    column.table.is_some() && !column.decoding && !column.stale
}

fn language(column: &Column) -> Option<&str> {
    column.facts.as_ref().map(|facts| facts.target_language.as_str())
}

/// A longest common subsequence as pairs of positions; `None` when the texts are too long to compare.
fn common<'a>(a: &'a [TargetWord], b: &'a [TargetWord]) -> Option<Vec<(usize, usize)>> {
    // Models number their words each in its own way, so the words are numbered here once, and numbers compared.
    let mut numbers = HashMap::new();
    let mut number = |word: &'a TargetWord| {
        let next = numbers.len();
        *numbers.entry(word.text.as_str()).or_insert(next)
    };
    let a: Vec<usize> = a.iter().map(&mut number).collect();
    let b: Vec<usize> = b.iter().map(&mut number).collect();
    // What both begin and end with belongs to some longest common subsequence; translations share most of it.
    let same = |(x, y): &(&usize, &usize)| x == y;
    let head = a.iter().zip(&b).take_while(same).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(same).count();
    let inner = common_between(&a[head..a.len() - tail], &b[head..b.len() - tail])?;
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    pairs.extend(inner.into_iter().map(|(i, j)| (head + i, head + j)));
    pairs.extend((0..tail).rev().map(|k| (a.len() - 1 - k, b.len() - 1 - k)));
    Some(pairs)
}

/// [`common`] by the table of lengths, O(|a| |b|).
fn common_between(a: &[usize], b: &[usize]) -> Option<Vec<(usize, usize)>> {
    let (rows, columns) = (a.len() + 1, b.len() + 1);
    if rows * columns > MAX_COMPARED {
        return None;
    }
    // length[i][j]: of the common subsequence of a[i..] and b[j..].
    let mut length = vec![0_u32; rows * columns];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i * columns + j] = if a[i] == b[j] {
                length[(i + 1) * columns + j + 1] + 1
            } else {
                length[(i + 1) * columns + j].max(length[i * columns + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if length[(i + 1) * columns + j] >= length[i * columns + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Vec<TargetWord> {
        text.split_whitespace().map(|word| TargetWord { text: word.to_owned(), ..TargetWord::default() }).collect()
    }

    #[test]
    fn what_two_outputs_share_is_as_long_as_it_can_be() {
        // (one, other, words shared)
        let cases = [
            ("", "", 0),
            ("a", "", 0),
            ("a b c", "a b c", 3),
            ("a a a", "a a", 2),
            ("a b a", "a", 1),
            ("x a b y c z", "a q b c", 3),
            ("a b c d e", "a x c y e", 3),
            ("a b", "b a", 1),
        ];
        for (one, other, count) in cases {
            let (one, other) = (output(one), output(other));
            let pairs = common(&one, &other).expect("short texts are compared");
            assert_eq!(pairs.len(), count);
            assert!(pairs.iter().all(|&(i, j)| one[i].text == other[j].text));
            assert!(pairs.is_sorted_by(|x, y| x.0 < y.0 && x.1 < y.1), "{pairs:?}");
        }
    }

    #[test]
    fn long_outputs_are_compared_only_where_they_are_alike() {
        let long = |differs: usize| {
            (0..2000)
                .map(|i| if i >= 100 && i < 100 + differs { format!("{differs}-{i} ") } else { format!("{i} ") })
                .collect::<String>()
        };
        let shared = |a: &str, b: &str| common(&output(a), &output(b)).map(|pairs| pairs.len());
        assert_eq!(shared(&long(0), &long(0)), Some(2000));
        assert_eq!(shared(&long(0), &long(300)), Some(1700));
        assert_eq!(shared(&long(0), &long(1500)), None);
    }
}
