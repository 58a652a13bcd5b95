//! A longest common subsequence of two lists of words. A leaf.

use std::collections::HashMap;

/// Longest lists that are compared word by word (cells of the comparison); these take about a millisecond.
const MAX_COMPARED: usize = 500_000;

/// A longest common subsequence as pairs of positions; `None` when the texts are too long to compare.
pub fn common<'a>(a: &[&'a str], b: &[&'a str]) -> Option<Vec<(usize, usize)>> {
    // the words are numbered once, and numbers compared
    let mut numbers = HashMap::new();
    let mut number = |word: &&'a str| {
        let next = numbers.len();
        *numbers.entry(*word).or_insert(next)
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

    fn output(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
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
            assert!(pairs.iter().all(|&(i, j)| one[i] == other[j]));
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
