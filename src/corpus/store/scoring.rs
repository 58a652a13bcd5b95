//! How the BLEU of a corpus cuts text into words. The file keeps the tokenizer, so all its numbers are of the same one.

use rusqlite::Connection;

use crate::measures::table::{CorpusMeasure, MEASURES, MeasureSubject, measure_all};
use crate::store::file::{Workspace, change, list, one};
use crate::store::output::SystemOutput;
use crate::store::read::{SAMPLE, key};
use crate::store::write::{Measured, add_numbers};
use engine::analysis::bleu::{BleuSettings, Tokenization};
use engine::{analysis::mteval::TOKENIZATIONS, error::Result};

/// What a new file keeps until it has an output and a reference; then their language decides.
const USUAL: &str = "usual";
const STEP: usize = 4096;

fn kept(all: &Connection) -> rusqlite::Result<Option<String>> {
    one(all, "SELECT document FROM setting WHERE name = 'tokenizer'", [], |row| row.get(0))
}

fn keep(all: &Connection, name: &str) -> rusqlite::Result<()> {
    change(all, "INSERT OR REPLACE INTO setting(name, document) VALUES ('tokenizer', ?1)", [name]).map(drop)
}

impl Workspace {
    pub fn bleu(&self) -> Result<BleuSettings> {
        let name = self.ask(kept)?.unwrap_or_default();
        let known = TOKENIZATIONS.iter().find(|(known, _)| known.name() == name);
        Ok(BleuSettings { tokenization: known.map(|(known, _)| *known).unwrap_or_default(), ..BleuSettings::default() })
    }

    pub(crate) fn settle_bleu<'a>(&mut self, references: impl Iterator<Item = &'a str>) -> Result<BleuSettings> {
        let is_open = self.ask(kept)?.is_some_and(|name| name == USUAL);
        let references: Vec<&str> = references.filter(|text| is_open && !text.trim().is_empty()).take(SAMPLE).collect();
        if !references.is_empty() {
            let systems = self.systems()?;
            let mut targets = systems.iter().filter_map(|system| Some(system.about.languages.rsplit_once('>')?.1));
            let usual = Tokenization::usual_of(targets.next().unwrap_or_default(), &references.join(" "));
            self.at_once(|all| keep(all, usual.name()))?;
        }
        self.bleu()
    }

    /// Sets the tokenizer and measures all outputs again; an error of `on_progress`, which gets the progress, cancels it.
    pub fn set_tokenizer(
        &mut self, tokenization: Tokenization, on_progress: &mut dyn FnMut(f32) -> Result<()>,
    ) -> Result<()> {
        let bleu = BleuSettings { tokenization, ..BleuSettings::default() };
        let measures: Vec<CorpusMeasure> = MEASURES.iter().filter(|measure| measure.counts_tokens()).copied().collect();
        let (systems, len) = (self.systems()?, self.len()?);
        let mut rows: Vec<Vec<Measured>> = vec![Vec::new(); systems.len()];
        for first in (0..len).step_by(STEP) {
            on_progress(first as f32 / len as f32)?;
            let sentences = self.sentences(first..first + STEP)?;
            for (system, rows) in systems.iter().zip(&mut rows) {
                let sql = "SELECT (key & 0xffffffff) - 1, text FROM output WHERE key > ?1 AND key <= ?2";
                let keys = [first, first + STEP].map(|at| key(system.id, at as i64));
                let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?));
                let texts: Vec<(usize, String)> = self.ask(|all| list(all, sql, keys, read))?;
                let row = |(at, text): (usize, String)| {
                    let references = sentences.get(at - first)?.references();
                    let output = SystemOutput { text, ..SystemOutput::default() };
                    Some((at, measure_all(&measures, &MeasureSubject::new(&output, &references, bleu))))
                };
                rows.extend(texts.into_iter().filter_map(row));
            }
        }
        self.at_once(|all| {
            let mut all_rows = systems.iter().zip(&rows);
            all_rows.try_for_each(|(system, rows)| add_numbers(all, system.id, &measures, rows))?;
            keep(all, tokenization.name())
        })?;
        self.fold_much()
    }
}
