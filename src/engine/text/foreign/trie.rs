//! Texts by their beginnings. Imports nothing of ours.

use ahash::AHashMap;

/// Texts, each with a number, found by their letters.
#[derive(Debug, Default)]
pub(super) struct Trie {
    /// Where a letter leads from a node; the root is 0.
    next: AHashMap<(u32, char), u32>,
    /// The number of the text that ends at each node but the root.
    ends: Vec<Option<u32>>,
}

impl Trie {
    pub(super) fn insert(&mut self, text: &str, number: u32) {
        let mut node = 0;
        for c in text.chars() {
            let fresh = self.ends.len() as u32 + 1;
            node = *self.next.entry((node, c)).or_insert(fresh);
            if node == fresh {
                self.ends.push(None);
            }
        }
        if let Some(end) = (node as usize).checked_sub(1).and_then(|node| self.ends.get_mut(node)) {
            *end = Some(number);
        }
    }

    /// The texts that `text` begins with, the shortest first, as their lengths in bytes and their numbers.
    pub(super) fn prefixes(&self, text: &str) -> impl Iterator<Item = (usize, u32)> {
        let mut node = 0;
        let along = text.char_indices().map_while(move |(at, c)| {
            node = *self.next.get(&(node, c))?;
            Some((at + c.len_utf8(), self.ends[node as usize - 1]))
        });
        along.filter_map(|(length, number)| Some((length, number?)))
    }
}
