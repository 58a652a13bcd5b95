//! Guesses of several groups of the class, entered one after the other, and their counts.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::pages::steps::guess::{GroupGuess, Guessing, is_same};
use engine::text::{links::Link, pieces::PieceMarks};

const MOST_GROUPS: usize = 1000;

impl Guessing {
    pub(crate) fn next_group(&mut self) {
        if self.is_made() && !self.is_revealed && self.groups.len() < MOST_GROUPS {
            let (words, links) = (std::mem::take(&mut self.words), std::mem::take(&mut self.links));
            self.groups.push(GroupGuess { words, word: self.word.take(), links });
        }
    }

    pub fn voices(&self) -> usize {
        self.groups.len()
    }

    pub fn word_counts(&self, t_x: usize) -> Vec<usize> {
        (0..t_x).map(|j| self.groups.iter().filter(|group| group.words.contains(&j)).count()).collect()
    }

    pub fn link_counts(&self) -> BTreeMap<Link, usize> {
        let mut counts = BTreeMap::new();
        for link in self.groups.iter().flat_map(|group| &group.links) {
            *counts.entry(*link).or_default() += 1;
        }
        counts
    }

    /// The share of the groups that guessed each link. // [t_y, t_x]
    pub(crate) fn link_shares(&self, t_y: usize, t_x: usize) -> Vec<Vec<f32>> {
        let counts = self.link_counts();
        let share = |source, target| {
            counts.get(&Link { source, target }).map_or(0.0, |count| *count as f32 / self.voices().max(1) as f32)
        };
        (0..t_y).map(|target| (0..t_x).map(|source| share(source, target)).collect()).collect()
    }

    /// Guessed words with their number of groups, most frequent first; words that read the same are merged.
    pub fn said_counts(&self, marks: &PieceMarks) -> Vec<(String, usize)> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for word in self.groups.iter().filter_map(|group| group.word.as_deref()).map(str::trim) {
            match counts.iter_mut().find(|(said, _)| is_same(word, said, marks) || is_same(said, word, marks)) {
                Some((_, count)) => *count += 1,
                None => counts.push((word.to_owned(), 1)),
            }
        }
        counts.sort_by_key(|(_, count)| Reverse(*count));
        counts
    }

    /// The class's answer is the most frequent one of the groups; its links are those of at least half of them.
    pub(crate) fn agree(&mut self, marks: &PieceMarks) {
        self.next_group();
        let voices = self.voices();
        if voices == 0 {
            return;
        }
        let counts =
            self.word_counts(self.groups.iter().flat_map(|group| &group.words).max().map_or(0, |last| last + 1));
        let most = counts.iter().copied().max().filter(|most| *most > 0);
        self.words = (0..counts.len()).filter(|j| Some(counts[*j]) == most).collect();
        self.word = self.said_counts(marks).into_iter().next().map(|(word, _)| word);
        let links = self.link_counts().into_iter().filter(|(_, count)| 2 * count >= voices);
        self.links = links.map(|(link, _)| link).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::steps::command::Guessed;

    fn link(source: usize, target: usize) -> Link {
        Link { source, target }
    }

    #[test]
    fn the_class_says_what_most_groups_say() {
        let marks = PieceMarks::default();
        let mut guessing = Guessing::new(Guessed::Row);
        for words in [vec![2], vec![2, 1], vec![0]] {
            guessing.words = words.into_iter().collect();
            guessing.next_group();
        }
        // nothing guessed is no voice
        guessing.next_group();
        assert_eq!((guessing.voices(), guessing.word_counts(4)), (3, vec![1, 1, 2, 0]));
        // the guess that stands is one more
        guessing.words = [0].into();
        guessing.agree(&marks);
        assert_eq!((guessing.voices(), guessing.words.clone()), (4, [0, 2].into()));

        let mut guessing = Guessing::new(Guessed::Word);
        for word in ["Maison", "chat", "maison "] {
            guessing.say(word);
            guessing.next_group();
        }
        assert_eq!(guessing.said_counts(&marks), [("Maison".to_owned(), 2), ("chat".to_owned(), 1)]);

        let mut guessing = Guessing::new(Guessed::Whole);
        for links in [vec![link(0, 0), link(2, 1)], vec![link(0, 0)], vec![link(1, 2)]] {
            for link in links {
                guessing.toggle_link(link);
            }
            guessing.next_group();
        }
        assert_eq!(guessing.link_counts().get(&link(0, 0)), Some(&2));
        guessing.agree(&marks);
        assert_eq!(guessing.links, [link(0, 0)].into());
    }
}
