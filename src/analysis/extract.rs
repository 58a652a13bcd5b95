//! Floor 5: phrase tables from word alignments (Och and Ney 2004; Koehn, Och, Marcu 2003). Imports `text`.
//!
//! A phrase pair is consistent with an alignment when no link leads out of it on either side and at least one lies
//! inside. Its scores are relative frequencies both ways and lexical weights, in the order of Moses.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use crate::analysis::ngrams::Numbering;
use crate::text::links::Link;

/// A pair of phrases of one sentence pair, as ranges of words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhraseBlock {
    pub source: Range<usize>,
    pub target: Range<usize>,
}

/// All phrase pairs consistent with the links of a sentence pair of `t_x` and `t_y` words, at most `most` words a side.
/// Words without links at the edges of a phrase are left out and taken in, each time a pair of its own.
pub fn blocks(links: &[Link], t_x: usize, t_y: usize, most: usize) -> Vec<PhraseBlock> {
    let mut linked = vec![false; t_y];
    links.iter().filter(|link| link.target < t_y).for_each(|link| linked[link.target] = true);
    let mut found = Vec::new();
    for from in 0..t_x {
        for to in from + 1..=(from + most).min(t_x) {
            let source = from..to;
            let inside = links.iter().filter(|link| source.contains(&link.source)).map(|link| link.target);
            let (Some(first), Some(last)) = (inside.clone().min(), inside.max()) else { continue };
            let leads_out = |link: &Link| (first..=last).contains(&link.target) && !source.contains(&link.source);
            if last - first >= most || last >= t_y || links.iter().any(leads_out) {
                continue;
            }
            // Outwards over words without links, on both sides of the target.
            for start in (0..=first).rev().take_while(|start| *start == first || !linked[*start]) {
                for end in (last..t_y).take_while(|end| *end == last || !linked[*end]) {
                    if end - start < most {
                        found.push(PhraseBlock { source: source.clone(), target: start..end + 1 });
                    }
                }
            }
        }
    }
    found
}

/// Counts over a corpus, in memory.
#[derive(Clone, Debug, Default)]
pub struct PhraseCounts {
    phrases: [Numbering; 2],
    alignments: Numbering,
    /// How often a source phrase, a target phrase and an alignment between them were seen together.
    pairs: HashMap<(u32, u32, u32), u32>,
    words: [Numbering; 2],
    /// How often a source word and a target word were linked; 0 stands for no word, the others are from 1.
    linked: HashMap<(u32, u32), u32>,
}

impl PhraseCounts {
    /// Counts the phrase pairs of a sentence pair, at most `most` words a side, and its links. `|` is written as
    /// Moses writes it.
    pub fn add<S: AsRef<str>, T: AsRef<str>>(&mut self, source: &[S], target: &[T], links: &[Link], most: usize) {
        let source: Vec<String> = source.iter().map(|word| escape(word.as_ref())).collect();
        let target: Vec<String> = target.iter().map(|word| escape(word.as_ref())).collect();
        self.count_links(&source, &target, links);
        for block in blocks(links, source.len(), target.len(), most) {
            let inside = links.iter().filter(|link| block.source.contains(&link.source));
            let mut inside: Vec<Link> = inside
                .map(|link| Link { source: link.source - block.source.start, target: link.target - block.target.start })
                .collect();
            inside.sort_unstable();
            let alignment: Vec<String> = inside.iter().map(|link| format!("{}-{}", link.source, link.target)).collect();
            let key = (
                self.phrases[0].number(&source[block.source].join(" ")),
                self.phrases[1].number(&target[block.target].join(" ")),
                self.alignments.number(&alignment.join(" ")),
            );
            *self.pairs.entry(key).or_insert(0) += 1;
        }
    }

    fn count_links(&mut self, source: &[String], target: &[String], links: &[Link]) {
        let source: Vec<u32> = source.iter().map(|word| self.words[0].number(word) + 1).collect();
        let target: Vec<u32> = target.iter().map(|word| self.words[1].number(word) + 1).collect();
        let mut add = |pair| *self.linked.entry(pair).or_insert(0) += 1;
        for link in links {
            add((source[link.source], target[link.target]));
        }
        let alone = |j: usize| !links.iter().any(|link| link.source == j);
        source.iter().enumerate().filter(|(j, _)| alone(*j)).for_each(|(_, word)| add((*word, 0)));
        let alone = |i: usize| !links.iter().any(|link| link.target == i);
        target.iter().enumerate().filter(|(i, _)| alone(*i)).for_each(|(_, word)| add((0, *word)));
    }

    /// Number of different phrase pairs.
    pub fn len(&self) -> usize {
        self.merged().len()
    }

    /// True before anything was counted.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Of each phrase pair its most frequent alignment and its count.
    fn merged(&self) -> HashMap<(u32, u32), (u32, u32)> {
        let mut best: HashMap<(u32, u32), (u32, u32, u32)> = HashMap::new();
        for (&(source, target, alignment), &count) in &self.pairs {
            let (most, chosen, all) = best.entry((source, target)).or_insert((0, alignment, 0));
            let name = |alignment: u32| &self.alignments.names[alignment as usize];
            if count > *most || count == *most && name(alignment) < name(*chosen) {
                (*most, *chosen) = (count, alignment);
            }
            *all += count;
        }
        best.into_iter().map(|(pair, (_, alignment, count))| (pair, (alignment, count))).collect()
    }

    /// Writes the table, sorted by source and target phrase: p(s | t), lexical weight, p(t | s), lexical weight, the
    /// most frequent alignment, and how often target, source and both were seen.
    pub fn write(&self, output: &mut dyn Write) -> std::io::Result<()> {
        let merged = self.merged();
        let mut of_source = vec![0_u64; self.phrases[0].names.len()];
        let mut of_target = vec![0_u64; self.phrases[1].names.len()];
        for ((source, target), (_, count)) in &merged {
            of_source[*source as usize] += u64::from(*count);
            of_target[*target as usize] += u64::from(*count);
        }
        let weights = Weights::new(self);
        let text = |side: usize, phrase: u32| &*self.phrases[side].names[phrase as usize];
        let mut order: Vec<(u32, u32)> = merged.keys().copied().collect();
        order.sort_unstable_by_key(|(source, target)| (text(0, *source), text(1, *target)));
        for (source, target) in order {
            let (alignment, count) = merged[&(source, target)];
            let alignment = &*self.alignments.names[alignment as usize];
            let (c_source, c_target) = (of_source[source as usize], of_target[target as usize]);
            let (s, t) = (text(0, source), text(1, target));
            let [inverse, direct] = weights.of(s, t, alignment);
            let share = |of: u64| number(f64::from(count) / of as f64);
            writeln!(
                output,
                "{s} ||| {t} ||| {} {} {} {} ||| {alignment} ||| {c_target} {c_source} {count}",
                share(c_target),
                number(inverse),
                share(c_source),
                number(direct)
            )?;
        }
        Ok(())
    }
}

/// Lexical weights (Koehn, Och, Marcu 2003): w(t | s) = c(s, t) / c(s) of linked words, no word among them.
struct Weights<'a> {
    counts: &'a PhraseCounts,
    of_source: HashMap<u32, u64>,
    of_target: HashMap<u32, u64>,
}

impl<'a> Weights<'a> {
    fn new(counts: &'a PhraseCounts) -> Self {
        let (mut of_source, mut of_target) = (HashMap::new(), HashMap::new());
        for (&(source, target), &count) in &counts.linked {
            *of_source.entry(source).or_insert(0) += u64::from(count);
            *of_target.entry(target).or_insert(0) += u64::from(count);
        }
        Self { counts, of_source, of_target }
    }

    /// lex(s | t) and lex(t | s) under an alignment: for each word the mean of w over its links, w of no word where it
    /// has none; and the product over the words.
    fn of(&self, source: &str, target: &str, alignment: &str) -> [f64; 2] {
        let ids = |side: usize, phrase: &str| -> Vec<u32> {
            let known = &self.counts.words[side].known;
            phrase.split(' ').map(|word| known.get(word).map_or(0, |number| number + 1)).collect()
        };
        let (source, target) = (ids(0, source), ids(1, target));
        let links: Vec<(usize, usize)> = alignment
            .split(' ')
            .filter_map(|link| link.split_once('-'))
            .filter_map(|(j, i)| Some((j.parse().ok()?, i.parse().ok()?)))
            .collect();
        let count = |s: u32, t: u32| self.counts.linked.get(&(s, t)).copied().unwrap_or(0);
        let share = |s: u32, t: u32, of: Option<&u64>| match of {
            Some(of) => f64::from(count(s, t)) / *of as f64,
            None => 0.0,
        };
        let given_source = |s: u32, t: u32| share(s, t, self.of_source.get(&s));
        let given_target = |s: u32, t: u32| share(s, t, self.of_target.get(&t));
        let mean = |values: Vec<f64>, alone: f64| {
            if values.is_empty() { alone } else { values.iter().sum::<f64>() / values.len() as f64 }
        };
        let direct = target.iter().enumerate().map(|(i, t)| {
            let linked = links.iter().filter(|link| link.1 == i).map(|link| given_source(source[link.0], *t));
            mean(linked.collect(), given_source(0, *t))
        });
        let inverse = source.iter().enumerate().map(|(j, s)| {
            let linked = links.iter().filter(|link| link.0 == j).map(|link| given_target(*s, target[link.1]));
            mean(linked.collect(), given_target(*s, 0))
        });
        [inverse.product(), direct.product()]
    }
}

/// What would end a field of the table.
fn escape(word: &str) -> String {
    word.replace('|', "&#124;")
}

/// As short as it reads back to seven digits.
fn number(value: f64) -> String {
    let value = value as f32;
    if value != 0.0 && value < 1e-4 { format!("{value:e}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<Link> {
        let link = |text: &str| {
            let (source, target) = text.split_once('-').expect("i-j");
            Link { source: source.parse().expect("a number"), target: target.parse().expect("a number") }
        };
        text.split_whitespace().map(link).collect()
    }

    /// Every pair of ranges, tried against the definition.
    fn brute_force(links: &[Link], t_x: usize, t_y: usize, most: usize) -> Vec<PhraseBlock> {
        let ranges = |length: usize| {
            let ends = (0..length).flat_map(move |from| (from + 1..=length).map(move |to| from..to));
            ends.filter(move |range| range.len() <= most).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        for source in ranges(t_x) {
            for target in ranges(t_y) {
                let sides = |link: &Link| (source.contains(&link.source), target.contains(&link.target));
                if links.iter().all(|link| sides(link).0 == sides(link).1) && links.iter().any(|link| sides(link).0) {
                    found.push(PhraseBlock { source: source.clone(), target });
                }
            }
        }
        found
    }

    #[test]
    fn blocks_are_those_of_the_definition() {
        let cases =
            ["0-0 1-1 2-2", "0-1 1-0 3-3", "0-0 0-2 2-1", "1-1", "", "3-0 0-3 1-4", "0-0 4-4", "0-0 1-0 2-3 2-4"];
        for case in cases {
            let links = links(case);
            for most in [1, 2, 3, 7] {
                let (mut found, mut wanted) = (blocks(&links, 5, 5, most), brute_force(&links, 5, 5, most));
                let key =
                    |block: &PhraseBlock| (block.source.start, block.source.end, block.target.start, block.target.end);
                found.sort_by_key(key);
                wanted.sort_by_key(key);
                assert_eq!(found, wanted, "{case}, at most {most}");
            }
        }
    }

    #[test]
    fn scores_are_relative_frequencies_and_lexical_weights() {
        let mut counts = PhraseCounts::default();
        for (source, target, of_pair) in [("a b", "x y", "0-0 1-1"), ("a b", "y", "1-0"), ("a", "z|", "0-0")] {
            let (source, target): (Vec<&str>, Vec<&str>) = (source.split(' ').collect(), target.split(' ').collect());
            counts.add(&source, &target, &links(of_pair), 2);
        }
        let mut table = Vec::new();
        counts.write(&mut table).expect("a vector has room");
        // a is linked to x, to no word and to z; y always to b.
        let wanted = "\
a ||| x ||| 1 1 0.5 0.33333334 ||| 0-0 ||| 1 2 1
a ||| z&#124; ||| 1 1 0.5 0.33333334 ||| 0-0 ||| 1 2 1
a b ||| x y ||| 1 1 0.5 0.33333334 ||| 0-0 1-1 ||| 1 2 1
a b ||| y ||| 0.33333334 1 0.5 1 ||| 1-0 ||| 3 2 1
b ||| y ||| 0.6666667 1 1 1 ||| 0-0 ||| 3 2 2
";
        assert_eq!(String::from_utf8(table).expect("text"), wanted);
        assert_eq!(counts.len(), 5);
    }
}
