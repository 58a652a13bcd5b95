//! Floor 7: parts of speech of source words as the file keeps them: a text for each sentence that has them, with one for each of its
//! words and spaces between. The table is made when there are any, as that of looks is.

use rusqlite::params;

use crate::corpus::store::file::{Workspace, change, one};
use crate::corpus::store::schema::BESIDE;
use crate::error::Result;

impl Workspace {
    /// Keeps the parts of speech of sentences, by their places from 0.
    pub fn set_parts(&mut self, parts: &[(usize, String)]) -> Result<()> {
        self.at_once(|all| {
            BESIDE.iter().try_for_each(|sql| all.execute_batch(sql))?;
            let sql = "INSERT OR REPLACE INTO part(sentence, words) VALUES (?1, ?2)";
            parts.iter().try_for_each(|(at, words)| change(all, sql, params![*at as i64 + 1, words]).map(drop))
        })
    }

    /// Whether any sentence has parts of speech.
    pub fn has_parts(&self) -> bool {
        // Where there is no table yet, nothing is kept.
        let find = |all| one(all, "SELECT sentence FROM part LIMIT 1", [], |row| row.get::<_, i64>(0));
        self.ask(find).ok().flatten().is_some()
    }

    /// The parts of speech of the words of a source; `None` where it has not one for each.
    pub fn parts(&self, at: usize, source: &str) -> Option<Vec<String>> {
        let find = |all| {
            one(all, "SELECT words FROM part WHERE sentence = ?1", [at as i64 + 1], |row| row.get::<_, String>(0))
        };
        let parts: Vec<String> = self.ask(find).ok().flatten()?.split(' ').map(str::to_owned).collect();
        Some(parts).filter(|parts| parts.len() == self.rules().source.count(source))
    }
}
