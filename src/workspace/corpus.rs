//! Floor 7: a workspace in memory, without alignments: what the table shows, sorts and looks through.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Result;
use crate::workspace::file::Workspace;
use crate::workspace::judge::Judgements;
use crate::workspace::measures::{MEASURES, Measure, OF_SENTENCES};
use crate::workspace::output::Output;
use crate::workspace::read::System;
use crate::workspace::texts::{Numbers, Texts};

/// Sentences, what systems say of them and what people say of that. A copy shares all that is large.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// Source texts.
    pub sources: Texts,
    /// References.
    pub references: Texts,
    /// Measures of the sentences, in the order of [`OF_SENTENCES`].
    pub numbers: Vec<Numbers>,
    /// Systems, in the order in which they came.
    pub systems: Vec<SystemColumn>,
    /// Stars, tags, notes and marks.
    pub judgements: Arc<Judgements>,
    /// Sentences with links by hand.
    pub golds: Arc<BTreeSet<usize>>,
    /// What could not be read, in sentences.
    pub damages: Vec<String>,
}

/// What a system says.
#[derive(Clone, Debug)]
pub struct SystemColumn {
    /// Which.
    pub system: System,
    /// Its translations.
    pub texts: Texts,
    /// Measures, in the order of [`MEASURES`].
    pub numbers: Vec<Numbers>,
    /// How many sentences it has been asked about.
    pub done: usize,
}

impl SystemColumn {
    fn new(system: System, len: usize) -> Self {
        let mut texts = Texts::default();
        texts.grow(len);
        Self { system, texts, numbers: vec![Numbers::default(); MEASURES.len()], done: 0 }
    }
}

/// A kind of reading that failed half way.
type Read<'a> = dyn FnMut(&mut Corpus) -> rusqlite::Result<()> + 'a;

impl Corpus {
    /// Reads a workspace, as far as it is sound.
    ///
    /// # Errors
    /// A sentence when not even its sentences can be counted.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let mut corpus = Self { numbers: vec![Numbers::default(); OF_SENTENCES.len()], ..Self::default() };
        corpus.attempt("sentences", workspace, &mut |corpus| read_sentences(workspace, corpus));
        for system in workspace.systems()? {
            corpus.systems.push(SystemColumn::new(system, corpus.len()));
        }
        corpus.attempt("outputs", workspace, &mut |corpus| read_outputs(workspace, corpus));
        corpus.attempt("measures", workspace, &mut |corpus| read_numbers(workspace, corpus));
        corpus.read_judgements(workspace)?;
        Ok(corpus)
    }

    /// Reads again what people say.
    ///
    /// # Errors
    /// A sentence about the file.
    pub fn read_judgements(&mut self, workspace: &Workspace) -> Result<()> {
        self.judgements = Arc::new(workspace.judgements()?);
        self.golds = Arc::new(workspace.golds()?);
        Ok(())
    }

    /// Goes on after damage with what was read until then.
    fn attempt(&mut self, what: &str, workspace: &Workspace, read: &mut Read<'_>) {
        if let Err(error) = read(self) {
            let why = crate::workspace::file::told(workspace.path(), &error);
            self.damages.push(format!("{what}: {why}"));
        }
    }

    /// How many sentences there are.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Takes in sentences that came.
    pub fn add_sentence(&mut self, source: &str, reference: Option<&str>) {
        self.sources.push(Some(source));
        self.references.push(reference);
        for column in &mut self.systems {
            column.texts.grow(self.sources.len());
        }
    }

    /// Takes in what a system said, with its measures.
    pub fn add_outputs(&mut self, system: &System, outputs: &[(usize, Output)], rows: &[(usize, Vec<f32>)]) {
        let len = self.len();
        let at = self.systems.iter().position(|column| column.system.id == system.id).unwrap_or_else(|| {
            self.systems.push(SystemColumn::new(system.clone(), len));
            self.systems.len() - 1
        });
        let column = &mut self.systems[at];
        let mut new: Vec<(usize, &str)> = outputs.iter().map(|(at, output)| (*at, output.text.as_str())).collect();
        new.sort_by_key(|(at, _)| *at);
        column.done += new.iter().filter(|(at, _)| column.texts.get(*at).is_none()).count();
        column.texts.set(&new);
        self.add_numbers(at, rows);
    }

    /// Takes in measures of the system in a column.
    pub fn add_numbers(&mut self, column: usize, rows: &[(usize, Vec<f32>)]) {
        let Some(column) = self.systems.get_mut(column) else { return };
        for (at, row) in rows {
            for (numbers, number) in column.numbers.iter_mut().zip(row) {
                numbers.set(*at, *number);
            }
        }
    }
}

fn read_sentences(workspace: &Workspace, corpus: &mut Corpus) -> rusqlite::Result<()> {
    let mut find = workspace.connection.prepare("SELECT source, reference FROM sentence ORDER BY id")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        corpus.sources.push(Some(row.get_ref(0)?.as_str().unwrap_or_default()));
        corpus.references.push(row.get_ref(1)?.as_str_or_null().unwrap_or_default());
    }
    Ok(())
}

fn read_outputs(workspace: &Workspace, corpus: &mut Corpus) -> rusqlite::Result<()> {
    let sql = "SELECT key, text FROM output WHERE key > ?1 << 32 AND key < (?1 + 1) << 32 ORDER BY key";
    let mut find = workspace.connection.prepare(sql)?;
    let len = corpus.len();
    for column in &mut corpus.systems {
        let mut texts = Texts::default();
        let mut rows = find.query([column.system.id])?;
        while let Some(row) = rows.next()? {
            let at = (row.get::<_, i64>(0)? & 0xFFFF_FFFF) as usize - 1;
            if at < len {
                texts.grow(at);
                texts.push(Some(row.get_ref(1)?.as_str().unwrap_or_default()));
                column.done += 1;
            }
        }
        texts.grow(len);
        column.texts = texts;
    }
    Ok(())
}

fn read_numbers(workspace: &Workspace, corpus: &mut Corpus) -> rusqlite::Result<()> {
    let mut layouts = BTreeMap::new();
    let mut find = workspace.connection.prepare("SELECT id, names FROM measures")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let names: String = row.get(1)?;
        layouts.insert(row.get::<_, i64>(0)?, names);
    }
    let mut find = workspace.connection.prepare("SELECT system, measures, first, packed FROM numbers ORDER BY id")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (system, first): (i64, i64) = (row.get(0)?, row.get(2)?);
        let Some(names) = layouts.get(&row.get::<_, i64>(1)?) else { continue };
        let packed = row.get_ref(3)?.as_blob().unwrap_or_default();
        let (measures, columns): (&[Measure], &mut [Numbers]) = if system == 0 {
            (OF_SENTENCES, &mut corpus.numbers)
        } else {
            let Some(column) = corpus.systems.iter_mut().find(|column| column.system.id == system) else { continue };
            (MEASURES, &mut column.numbers)
        };
        take_numbers(names, measures, columns, first as usize, packed);
    }
    Ok(())
}

/// Unpacks numbers of neighbouring sentences. A measure that this program does not know is passed over.
fn take_numbers(names: &str, measures: &[Measure], columns: &mut [Numbers], first: usize, packed: &[u8]) {
    let names: Vec<&str> = names.split(' ').collect();
    let place = |name: &&str| measures.iter().position(|measure| measure.name == *name);
    let places: Vec<Option<usize>> = names.iter().map(place).collect();
    for (n, row) in packed.chunks_exact(4 * names.len()).enumerate() {
        for (place, bytes) in places.iter().zip(row.as_chunks::<4>().0) {
            if let Some(column) = place.and_then(|place| columns.get_mut(place)) {
                column.set(first + n, f32::from_le_bytes(*bytes));
            }
        }
    }
}
