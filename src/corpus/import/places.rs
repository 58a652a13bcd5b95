//! Where sentences of a file stand in a corpus, by their letters.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use unicode_normalization::char::is_combining_mark;

use crate::store::file::{Workspace, list};
use crate::store::read::StoredSentence;
use engine::error::{Error, Result};
use engine::text::{words, write::is_database};

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

pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The letters of a text as copies of it are compared: as [`words::visible`], without soft hyphens and the like.
pub(crate) fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let straight = |c| if matches!(c, '\u{2018}' | '\u{2bc}' | '\u{b4}' | '`') { '\'' } else { c };
    words::visible(text).filter(|c| is_shown(*c)).map(straight)
}

fn is_shown(c: char) -> bool {
    // Tables have a space for what terminals obey.
    !c.is_whitespace() && !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Whether a letter counts when places in copies of a text are compared.
pub(crate) fn is_base(c: char) -> bool {
    is_shown(c) && !is_combining_mark(c)
}

pub(crate) fn refuse_copy(path: &Path) -> Result<()> {
    if !is_database(path) {
        return Ok(());
    }
    let (name, to) = (path.file_name().unwrap_or(path.as_os_str()).display(), stem(path));
    let how = format!("interlinear analyse --workspace {name} --format judgements --save {to}.jsonl");
    let message =
        format!("is a corpus, and only its judgements can be imported: write them with `{how}` and import that file");
    Err(Error::file(path, message))
}
