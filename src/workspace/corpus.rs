//! Floor 7: a workspace in memory, without alignments: what the table shows, sorts and looks through.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Result;
use crate::workspace::file::Workspace;
use crate::workspace::judge::Judgements;
use crate::workspace::measures::{MEASURES, Measure, OF_SENTENCES};
use crate::workspace::read::{System, key};
use crate::workspace::scheme::Scheme;
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
    /// The scheme of errors.
    pub scheme: Arc<Scheme>,
    /// Annotators who mark errors.
    pub markers: Arc<BTreeSet<String>>,
    /// What could not be read, in sentences.
    pub damages: Vec<String>,
    /// The last row of measures that was read: what came later is new.
    seen: i64,
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
        // One moment of the file, whatever others write meanwhile.
        let _moment = workspace.tell(workspace.connection.unchecked_transaction())?;
        let mut corpus = Self { numbers: vec![Numbers::default(); OF_SENTENCES.len()], ..Self::default() };
        corpus.attempt("sentences", workspace, &mut |corpus| read_sentences(workspace, corpus));
        match workspace.systems() {
            Ok(systems) => {
                let len = corpus.len();
                corpus.systems = systems.into_iter().map(|system| SystemColumn::new(system, len)).collect();
            }
            Err(error) => corpus.damages.push(error.to_string()),
        }
        corpus.attempt("outputs", workspace, &mut |corpus| read_outputs(workspace, corpus));
        corpus.attempt("measures", workspace, &mut |corpus| read_numbers(workspace, corpus).map(drop));
        if let Err(error) = corpus.read_judgements(workspace) {
            corpus.damages.push(error.to_string());
        }
        Ok(corpus)
    }

    /// Reads again what people say.
    ///
    /// # Errors
    /// A sentence about the file.
    pub fn read_judgements(&mut self, workspace: &Workspace) -> Result<()> {
        self.judgements = Arc::new(workspace.judgements()?);
        self.golds = Arc::new(workspace.golds()?);
        self.scheme = Arc::new(workspace.scheme()?);
        let said = self.judgements.values().flatten().filter(|(_, judgement)| !judgement.marks.is_empty());
        self.markers = Arc::new(said.map(|(annotator, _)| annotator.clone()).collect());
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

    /// Reads what came since, from this window or another: everything that is written leaves measures behind.
    ///
    /// # Errors
    /// A sentence about the file.
    pub fn refresh(&mut self, workspace: &Workspace) -> Result<()> {
        let _moment = workspace.tell(workspace.connection.unchecked_transaction())?;
        let known = self.len();
        // Behind damage nothing can be read.
        let to = if self.damages.is_empty() { workspace.len()? } else { known };
        for sentence in workspace.sentences(known..to)? {
            self.sources.push(Some(&sentence.source));
            self.references.push(sentence.reference.as_deref());
        }
        let systems = workspace.systems()?;
        self.systems.retain(|column| systems.iter().any(|system| system.id == column.system.id));
        for system in systems {
            if !self.systems.iter().any(|column| column.system.id == system.id) {
                self.systems.push(SystemColumn::new(system, self.len()));
            }
        }
        let len = self.len();
        self.systems.iter_mut().for_each(|column| column.texts.grow(len));
        let runs = workspace.tell(read_numbers(workspace, self))?;
        for (system, first, count) in runs {
            workspace.tell(self.read_texts(workspace, system, first, count))?;
        }
        self.read_judgements(workspace)
    }

    /// The texts of some neighbouring sentences, of one system; references of system 0.
    fn read_texts(&mut self, workspace: &Workspace, system: i64, first: usize, count: usize) -> rusqlite::Result<()> {
        let (from, to) = (first as i64 + 1, (first + count) as i64);
        let sql = if system == 0 {
            "SELECT id, coalesce(reference, '') FROM sentence WHERE id BETWEEN ?1 AND ?2 AND reference IS NOT NULL"
        } else {
            "SELECT key, text FROM output WHERE key BETWEEN ?1 AND ?2 ORDER BY key"
        };
        let mut find = workspace.connection.prepare_cached(sql)?;
        let rows = find.query_map([key(system, from), key(system, to)], |row| {
            Ok(((row.get::<_, i64>(0)? & 0xFFFF_FFFF) as usize - 1, row.get::<_, String>(1)?))
        })?;
        let new = rows.collect::<rusqlite::Result<Vec<(usize, String)>>>()?;
        let new: Vec<(usize, &str)> = new.iter().map(|(at, text)| (*at, text.as_str())).collect();
        if system == 0 {
            self.references.set(&new);
        } else if let Some(column) = self.systems.iter_mut().find(|column| column.system.id == system) {
            column.done += new.iter().filter(|(at, _)| column.texts.get(*at).is_none()).count();
            column.texts.set(&new);
        }
        Ok(())
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
        let end = loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let at = ((row.get::<_, i64>(0)? & 0xFFFF_FFFF) as usize).wrapping_sub(1);
            if at < len && at >= texts.len() {
                texts.grow(at);
                texts.push(Some(row.get_ref(1)?.as_str().unwrap_or_default()));
                column.done += 1;
            }
        };
        texts.grow(len);
        column.texts = texts;
        end?;
    }
    Ok(())
}

/// Reads the measures that came since; gives of each row its system, its first sentence from 0, and how many.
fn read_numbers(workspace: &Workspace, corpus: &mut Corpus) -> rusqlite::Result<Vec<(i64, usize, usize)>> {
    let mut layouts = BTreeMap::new();
    let mut find = workspace.connection.prepare("SELECT id, names FROM measures")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let names: String = row.get(1)?;
        layouts.insert(row.get::<_, i64>(0)?, names);
    }
    let sql = "SELECT system, measures, first, packed, id FROM numbers WHERE id > ?1 ORDER BY id";
    let mut find = workspace.connection.prepare(sql)?;
    let (mut rows, mut runs) = (find.query([corpus.seen])?, Vec::new());
    while let Some(row) = rows.next()? {
        let (system, first): (i64, i64) = (row.get(0)?, row.get(2)?);
        corpus.seen = row.get(4)?;
        let Some(names) = layouts.get(&row.get::<_, i64>(1)?) else { continue };
        let packed = row.get_ref(3)?.as_blob().unwrap_or_default();
        if first < 0 || first as usize >= corpus.sources.len() {
            continue;
        }
        let (measures, columns): (&[Measure], &mut [Numbers]) = if system == 0 {
            (OF_SENTENCES, &mut corpus.numbers)
        } else {
            let Some(column) = corpus.systems.iter_mut().find(|column| column.system.id == system) else { continue };
            (&MEASURES, &mut column.numbers)
        };
        runs.push((system, first as usize, take_numbers(names, measures, columns, first as usize, packed)));
    }
    Ok(runs)
}

/// Unpacks numbers of neighbouring sentences. A measure that this program does not know is passed over.
/// Gives how many sentences they are of.
fn take_numbers(names: &str, measures: &[Measure], columns: &mut [Numbers], first: usize, packed: &[u8]) -> usize {
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
    packed.len() / (4 * names.len())
}
