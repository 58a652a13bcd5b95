//! Where sentences of a file stand in a corpus, by their letters.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::store::file::{Workspace, list};
use crate::{import::letters::visible, store::read::StoredSentence};
use engine::error::Result;

/// The sentences of a corpus by what is left of their letters, spaces aside and with straight apostrophes: read once for a file.
pub(crate) struct SentencePlaces(Vec<(u64, u32)>);

impl SentencePlaces {
    /// Reads them in passing; 16 bytes a sentence stay.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let sql = "SELECT id - 1, source FROM sentence WHERE id > 0";
        let row = |row: &rusqlite::Row<'_>| Ok((mixed(row.get_ref(1)?.as_str().unwrap_or_default()), row.get(0)?));
        let mut all: Vec<(u64, u32)> = workspace.ask(|connection| list(connection, sql, [], row))?;
        all.sort_unstable();
        Ok(Self(all))
    }

    /// The places of the sentences that have a number of their letters, in order.
    pub fn alike(&self, wanted: u64) -> &[(u64, u32)] {
        let first = self.0.partition_point(|(mixed, _)| *mixed < wanted);
        let count = self.0[first..].partition_point(|(mixed, _)| *mixed == wanted);
        &self.0[first..first + count]
    }

    /// The numbers of the letters of so many sentences, by their places.
    pub fn in_order(&self, len: usize) -> Vec<Option<u64>> {
        let mut numbers = vec![None; len];
        for (mixed, at) in &self.0 {
            numbers.get_mut(*at as usize).into_iter().for_each(|number| *number = Some(*mixed));
        }
        numbers
    }

    /// The sentences with the letters of a text, each with its place, from 0, in order; each is read when it is its turn.
    pub fn of(&self, workspace: &Workspace, text: &str) -> impl Iterator<Item = Result<(usize, StoredSentence)>> {
        self.alike(mixed(text)).iter().filter_map(move |(_, at)| {
            let at = *at as usize;
            let stored = workspace.sentence(at).transpose()?;
            stored.map(|stored| is_same(&stored.source, text).then_some((at, stored))).transpose()
        })
    }
}

pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one == other || visible(one).eq(visible(other))
}

pub(crate) fn mixed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    visible(text).for_each(|letter| letter.hash(&mut hasher));
    hasher.finish()
}
