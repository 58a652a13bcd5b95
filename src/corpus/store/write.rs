//! What comes into a workspace: files, sentences, systems and what they say.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};

use crate::measures::table::{
    CorpusMeasure, DISAGREEMENT, GIVEN, MEASURES, MeasureSubject, Measuring, OF_SENTENCE, OF_SENTENCES, measure_all,
};
use crate::store::blocks::{Written, forget_texts};
use crate::store::file::{Workspace, change, list, number, one};
use crate::store::output::{SystemOutput, as_kept, pack};
use crate::store::read::{MOST_REFERENCES, SAMPLE, StoredAbout, StoredSentence, StoredSystem, key, stored_system};
use crate::store::rules::{KnownWords, SideRules};
use crate::{judgements::judge::set_apart, store::output::set_gold};
use engine::analysis::{bleu::BleuSettings, confidence::TranslationSigns};
use engine::error::{Error, Result};
use engine::text::links::Links;

/// A sentence that comes in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewSentence {
    pub source: String,
    pub reference: Option<String>,
    pub further: Vec<String>,
    pub name: Option<String>,
    pub line: usize,
    /// Links by hand between the source and the first reference, which count words between spaces.
    pub gold: Option<Links>,
}

impl NewSentence {
    /// The first reference; empty without one.
    pub fn first(&self) -> &str {
        self.reference.as_deref().unwrap_or_default()
    }

    /// All references, as they came.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.reference.iter().chain(&self.further).map(String::as_str)
    }
}

/// An output and the sentence, from 0, that it is one of.
pub type Placed = (usize, SystemOutput);

/// A sentence, from 0, and the numbers of an output of it, in the order of [`MEASURES`].
pub type Measured = (usize, Vec<f32>);

pub(crate) struct Ready {
    text: String,
    packed: Vec<u8>,
    measured: Measured,
}

impl Ready {
    pub(crate) fn new(
        at: usize, output: &SystemOutput, (source, references, gold): (&str, &[&str], Option<&Links>),
        (rules, measuring): (SideRules, &mut Measuring),
    ) -> std::io::Result<Self> {
        let packed = pack(output, source)?;
        // What is measured is what is kept and goes out.
        let kept = SystemOutput { alpha: output.alpha.as_ref().map(as_kept), ..output.clone() };
        let numbers = measuring.output((source, rules), references, gold, &kept);
        Ok(Self { text: output.text.clone(), packed, measured: (at, numbers) })
    }
}

impl Workspace {
    /// Notes a file, and how it was read; gives its number.
    pub fn add_origin(&mut self, path: &str, facts: &str) -> Result<i64> {
        self.at_once(|all| {
            change(all, "INSERT INTO origin(path, facts) VALUES (?1, ?2)", [path, facts])?;
            Ok(all.last_insert_rowid())
        })
    }

    /// Puts sentences behind those that are there; gives the place of the first, from 0.
    pub fn add_sentences(&mut self, origin: i64, new: &[NewSentence]) -> Result<usize> {
        let sources = new.iter().map(|new| new.source.as_str());
        self.settle_words(&KnownWords::default(), sources, new.iter().flat_map(NewSentence::references))?;
        let rules = self.rules();
        self.at_once(|all| {
            // Another window may be adding sentences too.
            let first = number(all, "SELECT coalesce(max(id), 0) FROM sentence", [])? as usize;
            let sql = "INSERT INTO sentence(id, origin, line, name, source, reference) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let (mut add, mut rows) = (all.prepare_cached(sql)?, Vec::with_capacity(new.len()));
            for (n, new) in new.iter().enumerate() {
                let id = (first + n + 1) as i64;
                add.execute(params![id, origin, new.line as i64, new.name, new.source, new.reference])?;
                if let Some(gold) = &new.gold {
                    let gold = rules.respread(gold, SideRules::SPACES, (&new.source, new.first()));
                    set_gold(all, id, Some(&gold))?;
                }
                let further = new.further.iter().map(|text| text.trim()).enumerate();
                for (n, text) in further.filter(|(_, text)| !text.is_empty()) {
                    set_reference(all, n + 1, id, text)?;
                }
                rows.push((first + n, of_sentence((&new.source, rules), new.reference.as_deref())));
            }
            for written in Written::of(0, MOST_REFERENCES) {
                forget_texts(all, written, rows.iter().map(|(at, _)| *at))?;
            }
            add_numbers(all, 0, OF_SENTENCES, &rows)?;
            Ok(first)
        })
    }

    pub(crate) fn name_sentences<'a>(&mut self, names: impl Iterator<Item = (usize, &'a str)>) -> Result<()> {
        let sql = "UPDATE sentence SET name = ?2 WHERE id = ?1 AND name IS NULL AND ?2 <> ''";
        self.at_once(|all| {
            let mut names = names;
            names.try_for_each(|(at, name)| change(all, sql, params![at as i64 + 1, name]).map(drop))
        })
    }

    /// Sets reference `n`, from 0, of sentences; outputs must be measured again ([`Workspace::measure`]).
    pub fn set_references(&mut self, n: usize, references: &[(usize, String)]) -> Result<()> {
        self.settle_words(
            &KnownWords::default(),
            std::iter::empty(),
            references.iter().map(|(_, text)| text.as_str()),
        )?;
        let rules = self.rules();
        let forced = self.systems()?.into_iter().filter(|system| n == 0 && system.is_forced());
        let forced: Vec<i64> = forced.map(|system| system.id).collect();
        let mut rows = Vec::with_capacity(references.len());
        for (at, reference) in references {
            if let Some(sentence) = self.sentence(*at)? {
                let first = if n == 0 { Some(reference.as_str()) } else { sentence.reference.as_deref() };
                rows.push((*at, of_sentence((&sentence.source, rules), first)));
            }
        }
        self.at_once(|all| {
            for (at, reference) in references {
                set_reference(all, n, *at as i64 + 1, reference)?;
            }
            forget_texts(all, Written::Reference(n), references.iter().map(|(at, _)| *at))?;
            // What was forced was another reference.
            for system in &forced {
                remove_outputs(all, *system, references.iter().map(|(at, _)| *at))?;
            }
            add_numbers(all, 0, OF_SENTENCES, &rows)
        })
    }

    /// Gives sentences links by hand.
    pub fn set_golds(&mut self, golds: &[(usize, Links)]) -> Result<()> {
        self.at_once(|all| golds.iter().try_for_each(|(at, gold)| set_gold(all, *at as i64 + 1, Some(gold))))
    }

    /// The system of this name; a new one where there is none.
    pub fn add_system(&mut self, name: &str, about: &StoredAbout) -> Result<StoredSystem> {
        let sql = "SELECT id, name, about FROM system WHERE name = ?1";
        if let Some(known) = self.ask(|all| one(all, sql, [name], stored_system))? {
            return Ok(known);
        }
        let text = serde_json::to_string(about).unwrap_or_default();
        let id = self.at_once(|all| {
            change(all, "INSERT INTO system(name, about) VALUES (?1, ?2)", [name, &text])?;
            Ok(all.last_insert_rowid())
        })?;
        Ok(StoredSystem { id, name: name.to_owned(), about: about.clone() })
    }

    /// Removes a system and all that it said.
    pub fn remove_system(&mut self, id: i64) -> Result<()> {
        self.at_once(|all| {
            for table in ["output", "body", "block"] {
                all.execute(&format!("DELETE FROM {table} WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32"), [id])?;
            }
            all.execute("DELETE FROM numbers WHERE system = ?1", [id])?;
            all.execute("DELETE FROM system WHERE id = ?1", [id])?;
            Ok(())
        })
    }

    /// Adds or replaces outputs of a system, measured; returns how many marks were set aside because their words are gone.
    pub fn add_outputs(&mut self, system: i64, new: &[Placed], measuring: &mut Measuring) -> Result<usize> {
        let texts = new.iter().map(|(_, output)| output.text.as_str());
        self.settle_words(&KnownWords::default(), std::iter::empty(), texts)?;
        let (rules, mut ready) = (self.rules(), Vec::with_capacity(new.len()));
        let sentences = new.iter().map(|(at, _)| self.sentence(*at)).collect::<Result<Vec<_>>>()?;
        measuring.bleu = self.settle_bleu(sentences.iter().flatten().flat_map(StoredSentence::references))?;
        for ((at, output), sentence) in new.iter().zip(sentences) {
            let Some(sentence) = sentence else { continue };
            let has_links = output.alpha.is_some() || output.links.is_some();
            let gold = || self.gold_of_output(*at, &output.text, sentence.reference.as_deref());
            let gold = if has_links { gold()? } else { None };
            let references = sentence.references();
            let of = (sentence.source.as_str(), references.as_slice(), gold.as_ref());
            ready
                .push(Ready::new(*at, output, of, (rules, measuring)).map_err(|error| Error::io(self.path(), &error))?);
        }
        self.add_ready(system, &ready, measuring.aligner.is_some())
    }

    pub(crate) fn add_ready(&mut self, system: i64, ready: &[Ready], has_aligner: bool) -> Result<usize> {
        let rule = self.rules().target;
        self.at_once(|all| {
            let mut text = all.prepare_cached("INSERT OR REPLACE INTO output(key, text) VALUES (?1, ?2)")?;
            let mut body = all.prepare_cached("INSERT OR REPLACE INTO body(key, packed) VALUES (?1, ?2)")?;
            let find = "SELECT name FROM system WHERE id = ?1";
            let Some(name) = one(all, find, [system], |row| row.get::<_, String>(0))? else { return Ok(0) };
            let (mut apart, mut changed) = (0, Vec::new());
            for ready in ready {
                let id = ready.measured.0 as i64 + 1;
                let key = key(system, id);
                let before: Option<String> =
                    one(all, "SELECT text FROM output WHERE key = ?1", [key], |row| row.get(0))?;
                if before.as_ref() != Some(&ready.text) {
                    apart += set_apart(all, (id, &name), before.as_deref(), (&ready.text, rule))?;
                    changed.extend(before.is_some().then_some(ready.measured.0));
                }
                text.execute(params![key, ready.text])?;
                body.execute(params![key, ready.packed])?;
            }
            forget_texts(all, Written::Outputs(system), ready.iter().map(|ready| ready.measured.0))?;
            add_measured(all, system, ready.iter().map(|ready| &ready.measured), has_aligner)?;
            // Others scored another text.
            forget_scores(all, system, &changed)?;
            Ok(apart)
        })
    }

    /// The measures of outputs: [`MEASURES`], then imported scores.
    pub fn measures(&self) -> Result<Vec<CorpusMeasure>> {
        let given = self.ask(|all| given(all, GIVEN))?;
        Ok(MEASURES.iter().copied().chain(given).collect())
    }

    /// The imported numbers of sentences.
    pub fn sentence_numbers(&self) -> Result<Vec<CorpusMeasure>> {
        self.ask(|all| given(all, OF_SENTENCE))
    }

    /// Adds scores with a title, such as COMET, of a system's outputs, or of the sentences if `system` is 0.
    pub fn add_scores(&mut self, system: i64, title: &str, scores: &BTreeMap<usize, f32>) -> Result<()> {
        let of = if system == 0 { OF_SENTENCE } else { GIVEN };
        let rows: Vec<Measured> = scores.iter().map(|(at, score)| (*at, vec![*score])).collect();
        self.at_once(|all| add_numbers(all, system, &[CorpusMeasure::given(title, of)], &rows))
    }

    /// Measures all systems' outputs of some sentences again; returns the numbers by system id.
    pub fn measure(&mut self, places: &[usize]) -> Result<Vec<(i64, Vec<Measured>)>> {
        let mut all_rows = Vec::new();
        if places.is_empty() {
            return Ok(all_rows);
        }
        let sample = places.iter().take(SAMPLE).map(|at| self.sentence(*at)).collect::<Result<Vec<_>>>()?;
        let bleu = self.settle_bleu(sample.iter().flatten().flat_map(StoredSentence::references))?;
        for system in self.systems()? {
            let mut rows = Vec::with_capacity(places.len());
            for at in places {
                let (Some(sentence), Some(output)) = (self.sentence(*at)?, self.output(system.id, *at)?) else {
                    continue;
                };
                let gold = self.gold_of_output(*at, &output.text, sentence.reference.as_deref())?;
                let mut measuring = Measuring { bleu, ..Measuring::default() };
                let references = sentence.references();
                let of = (sentence.source.as_str(), self.rules());
                rows.push((*at, measuring.output(of, &references, gold.as_ref(), &output)));
            }
            self.at_once(|all| add_measured(all, system.id, &rows, false))?;
            all_rows.push((system.id, rows));
        }
        Ok(all_rows)
    }
}

fn set_reference(all: &Connection, n: usize, id: i64, text: &str) -> rusqlite::Result<()> {
    let done = match n {
        0 => change(all, "UPDATE sentence SET reference = ?2 WHERE id = ?1", params![id, text]),
        n => {
            let sql = "INSERT OR REPLACE INTO reference(key, text) VALUES (?1, ?2)";
            change(all, sql, params![key(n as i64, id), text])
        }
    };
    done.map(drop)
}

fn remove_outputs(all: &Connection, system: i64, places: impl Iterator<Item = usize> + Clone) -> rusqlite::Result<()> {
    let mut removed = Vec::new();
    for at in places {
        let key = [key(system, at as i64 + 1)];
        change(all, "DELETE FROM body WHERE key = ?1", key)?;
        if change(all, "DELETE FROM output WHERE key = ?1", key)? > 0 {
            removed.push((at, vec![f32::NAN; MEASURES.len()]));
        }
    }
    removed.sort_by_key(|(at, _)| *at);
    forget_texts(all, Written::Outputs(system), removed.iter().map(|(at, _)| *at))?;
    forget_scores(all, system, &removed.iter().map(|(at, _)| *at).collect::<Vec<_>>())?;
    add_numbers(all, system, &MEASURES, &removed)
}

/// Takes away the scores that others gave outputs which are not there any more; `places` rise.
fn forget_scores(all: &Connection, system: i64, places: &[usize]) -> rusqlite::Result<()> {
    let given = if places.is_empty() { Vec::new() } else { given(all, GIVEN)? };
    let rows: Vec<Measured> = places.iter().map(|at| (*at, vec![f32::NAN; given.len()])).collect();
    if given.is_empty() { Ok(()) } else { add_numbers(all, system, &given, &rows) }
}

fn given(all: &Connection, of: &'static str) -> rusqlite::Result<Vec<CorpusMeasure>> {
    let names: Vec<String> = list(all, "SELECT name FROM name UNION SELECT names FROM measures", [], |row| row.get(0))?;
    let names = names.iter().flat_map(|names| names.split(' '));
    let titles: BTreeSet<&str> = names.filter_map(|name| name.strip_prefix(of)).collect();
    Ok(titles.into_iter().map(|title| CorpusMeasure::given(title, of)).collect())
}

fn is_there(all: &Connection, system: i64) -> rusqlite::Result<bool> {
    all.prepare_cached("SELECT 1 FROM system WHERE id = ?1")?.exists([system])
}

/// Writes the measures of outputs: without an aligner nothing is said of its links, and what was said of them before stays.
fn add_measured<'a>(
    all: &Connection, system: i64, rows: impl IntoIterator<Item = &'a Measured>, has_aligner: bool,
) -> rusqlite::Result<()> {
    if !is_there(all, system)? {
        return Ok(());
    }
    let is_kept = |at: &usize| has_aligner || MEASURES[*at].name != DISAGREEMENT;
    let kept: Vec<usize> = (0..MEASURES.len()).filter(is_kept).collect();
    let measures: Vec<CorpusMeasure> = kept.iter().map(|at| MEASURES[*at]).collect();
    let row = |(at, row): &Measured| (*at, kept.iter().map(|place| row[*place]).collect());
    let rows: Vec<Measured> = rows.into_iter().map(row).collect();
    add_numbers(all, system, &measures, &rows)
}

fn of_sentence((source, rules): (&str, SideRules), reference: Option<&str>) -> Vec<f32> {
    let references: Vec<&str> = reference.into_iter().collect();
    let subject = MeasureSubject {
        source,
        rules,
        references: &references,
        gold: None,
        statistical: None,
        output: None,
        bleu: BleuSettings::default(),
        seen: TranslationSigns::default(),
    };
    measure_all(OF_SENTENCES, &subject)
}

/// Writes numbers, a row of the table for each run of neighbouring sentences.
pub(crate) fn add_numbers(
    all: &Connection, system: i64, measures: &[CorpusMeasure], rows: &[Measured],
) -> rusqlite::Result<()> {
    let names: Vec<&str> = measures.iter().map(CorpusMeasure::stored).collect();
    let names = names.join(" ");
    change(all, "INSERT OR IGNORE INTO measures(names) VALUES (?1)", [&names])?;
    let id = number(all, "SELECT id FROM measures WHERE names = ?1", [&names])?;
    let sql = "INSERT INTO numbers(system, measures, first, packed, count) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut add = all.prepare_cached(sql)?;
    for run in rows.chunk_by(|a, b| a.0 + 1 == b.0) {
        let packed: Vec<u8> = run.iter().flat_map(|(_, row)| row).flat_map(|number| number.to_le_bytes()).collect();
        add.execute(params![system, id, run[0].0 as i64, packed, run.len() as i64])?;
    }
    Ok(())
}
