//! Floor 7: files of others brought into a workspace: sentences are added, or joined with those that are there.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Result;
use crate::import;
use crate::import::{Import, Record};
use crate::text::links::{Links, places};
use crate::text::sentence::EOS;
use crate::ticket::Ticket;
use crate::workspace::file::Workspace;
use crate::workspace::measures::Measuring;
use crate::workspace::output::Output;
use crate::workspace::read::About;
use crate::workspace::write::{NewSentence, Placed};

/// Sentences that are written at once.
const WINDOW: usize = 2000;
/// The most sentences that a file may leave out in one place.
const MOST_GAP: usize = 10_000;
/// Sentences compared to find out whether a file tells of those that are there.
const COMPARED: usize = 20;

/// What came of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Sentences that are new.
    pub sentences: usize,
    /// References for sentences that had none or another.
    pub references: usize,
    /// Outputs of systems.
    pub outputs: usize,
    /// Alignments by hand.
    pub golds: usize,
    /// Judgements, one for each sentence and annotator.
    pub judgements: usize,
    /// How the file was read, in sentences.
    pub facts: Vec<String>,
    /// Something should be asked: the file leaves open how it is meant.
    pub asks: bool,
    /// What could not be taken, with line numbers: the first ones.
    pub warnings: Vec<String>,
    /// How many there were.
    pub warned: usize,
}

impl Brought {
    /// In one sentence.
    pub fn told(&self) -> String {
        let parts = [
            (self.sentences, "new sentences"),
            (self.references, "references"),
            (self.outputs, "outputs"),
            (self.golds, "alignments by hand"),
            (self.judgements, "judgements"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let what = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
        match self.warned {
            0 => format!("Imported {what}"),
            1 => format!("Imported {what}; 1 line has a fault"),
            count => format!("Imported {what}; {count} lines have faults"),
        }
    }

    pub(super) fn warn(&mut self, path: &Path, line: usize, message: &str) {
        self.warned += 1;
        if self.warnings.len() < import::facts::MOST_WARNINGS {
            self.warnings.push(crate::error::Error::line(path, line, message).to_string());
        }
    }
}

/// Brings a file in. `hear` is told how far it is, from 0 to 1. What came before an error stays.
///
/// # Errors
/// [`Error::Stale`](crate::error::Error::Stale) as soon as the ticket is stale; a sentence about either file.
pub fn bring(
    workspace: &mut Workspace,
    path: &Path,
    options: &import::Options,
    measuring: &mut Measuring,
    ticket: &Ticket,
    hear: &mut dyn FnMut(f32),
) -> Result<Brought> {
    let mut import = import::open(path, options)?;
    let facts = import.facts.told();
    let mut brought = Brought { facts: facts.clone(), asks: import.facts.asks(), ..Brought::default() };
    let origin = workspace.add_origin(&path.display().to_string(), &facts.join(" "))?;
    let stem = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = stem.split('.').next().unwrap_or_default().to_owned();
    let mut bringing =
        Bringing { workspace, path, origin, stem, facts: facts.join(" "), base: None, systems: BTreeMap::new() };
    loop {
        ticket.check()?;
        let window = window(&mut import)?;
        let is_last = window.len() < WINDOW;
        bringing.take(window, measuring, &mut brought)?;
        hear(import.progress());
        if is_last {
            break;
        }
    }
    let warnings = import.warnings();
    brought.warned += warnings.count();
    let mut told: Vec<String> = warnings.kept().iter().map(|warning| warning.sentence.clone()).collect();
    told.append(&mut brought.warnings);
    brought.warnings = told;
    Ok(brought)
}

fn window(import: &mut Import) -> Result<Vec<Record>> {
    import.take(WINDOW).collect()
}

/// A file on its way in.
struct Bringing<'a> {
    workspace: &'a mut Workspace,
    path: &'a Path,
    origin: i64,
    /// The name of a system that has none in the file.
    stem: String,
    facts: String,
    /// The place of the file's first sentence, from 0.
    base: Option<usize>,
    systems: BTreeMap<String, i64>,
}

impl Bringing<'_> {
    fn take(&mut self, window: Vec<Record>, measuring: &mut Measuring, brought: &mut Brought) -> Result<()> {
        let base = match self.base {
            Some(base) => base,
            None => *self.base.insert(self.find_base(&window)?),
        };
        self.add_sentences(base, &window, brought)?;
        let len = self.workspace.len()?;
        let (mut references, mut golds) = (Vec::new(), Vec::new());
        let mut outputs: BTreeMap<String, Vec<Placed>> = BTreeMap::new();
        for record in window {
            let at = base + record.sentence.saturating_sub(1);
            if at >= len {
                brought.warn(self.path, record.line, &format!("belongs to sentence {}, but there are {len}", at + 1));
                continue;
            }
            let Some(known) = self.workspace.sentence(at)? else { continue };
            if record.source.as_ref().is_some_and(|source| !same(&known.source, &source.text)) {
                brought.warn(self.path, record.line, &format!("is not sentence {}; it is left out", at + 1));
                continue;
            }
            if let Some(reference) = record.reference.as_ref().filter(|new| known.reference.as_ref() != Some(&new.text))
            {
                references.push((at, reference.text.clone()));
            }
            if let Some(gold) = &record.gold {
                golds.push((at, gold.clone()));
            }
            // Of an n-best list the best is taken.
            let mut named: Vec<String> = Vec::new();
            for output in &record.outputs {
                let name = output.system.clone().unwrap_or_else(|| self.stem.clone());
                if named.contains(&name) {
                    continue;
                }
                named.push(name.clone());
                let output = self.output(at, &known.source, &record, output, brought)?;
                outputs.entry(name).or_default().extend(output.map(|output| (at, output)));
            }
        }
        brought.references += references.len();
        brought.golds += golds.len();
        self.workspace.set_references(&references)?;
        self.workspace.set_golds(&golds)?;
        for (name, outputs) in &outputs {
            let id = self.system(name)?;
            self.workspace.add_outputs(id, outputs, measuring)?;
            brought.outputs += outputs.len();
        }
        self.measure(&references, &golds, measuring)
    }

    /// Where the file's sentences belong: to those that are there when they are the same, else behind them. A file without
    /// sources tells of those that the last file with sources brought.
    fn find_base(&self, window: &[Record]) -> Result<usize> {
        let Some(first) = window.iter().find(|record| record.source.is_some()) else {
            return self.workspace.newest();
        };
        let text = first.source.as_ref().map_or("", |source| source.text.as_str());
        let mut places = vec![first.sentence.saturating_sub(1)];
        places.extend(self.workspace.places_of(&visible(text).collect::<String>())?);
        for place in places {
            let Some(base) = (place + 1).checked_sub(first.sentence) else { continue };
            if self.is_base(base, window)? {
                return Ok(base);
            }
        }
        self.workspace.len()
    }

    /// Whether the first sentences of the file are those from this place on.
    fn is_base(&self, base: usize, window: &[Record]) -> Result<bool> {
        for record in window.iter().filter(|record| record.source.is_some()).take(COMPARED) {
            let known = self.workspace.sentence(base + record.sentence.saturating_sub(1))?;
            if !known.zip(record.source.as_ref()).is_some_and(|(known, new)| same(&known.source, &new.text)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add_sentences(&mut self, base: usize, window: &[Record], brought: &mut Brought) -> Result<()> {
        let mut len = self.workspace.len()?;
        let mut new: Vec<NewSentence> = Vec::new();
        for record in window {
            let Some(source) = &record.source else { continue };
            let at = base + record.sentence.saturating_sub(1);
            if at > len + MOST_GAP {
                brought.warn(self.path, record.line, "is far beyond the sentences before it; it is left out");
                continue;
            }
            // A gap in the file keeps its place, so that other files still fit.
            while len < at {
                new.push(NewSentence::default());
                len += 1;
            }
            if len == at {
                new.push(NewSentence {
                    source: source.text.clone(),
                    reference: record.reference.as_ref().map(|reference| reference.text.clone()),
                    name: record.id.clone(),
                    line: record.line,
                    gold: None,
                });
                len += 1;
            }
        }
        brought.sentences += new.len();
        self.workspace.add_sentences(self.origin, &new).map(drop)
    }

    fn system(&mut self, name: &str) -> Result<i64> {
        if let Some(id) = self.systems.get(name) {
            return Ok(*id);
        }
        let about = About { file: self.path.display().to_string(), facts: self.facts.clone(), ..About::default() };
        let id = self.workspace.add_system(name, &about)?.id;
        self.systems.insert(name.to_owned(), id);
        Ok(id)
    }

    /// An output as the workspace keeps it. Links or weights alone join the output that is there.
    fn output(
        &mut self,
        at: usize,
        source: &str,
        record: &Record,
        output: &import::Output,
        brought: &mut Brought,
    ) -> Result<Option<Output>> {
        let name = output.system.clone().unwrap_or_else(|| self.stem.clone());
        let mut kept = Output {
            text: output.text.clone(),
            target: if output.tokens.is_empty() { words(&output.text) } else { output.tokens.clone() },
            word_log_p: output.token_log_p.clone(),
            log_p: output.log_p,
            links: output.links.clone(),
            ..Output::default()
        };
        let is_bare = output.text.is_empty() && output.tokens.is_empty();
        let says_more = output.links.is_some() || output.alpha.is_some() || output.log_p.is_some();
        if is_bare && !says_more {
            // A cell that is empty says nothing; a blank line of a text is a translation without words.
            let id = self.system(&name)?;
            let is_known = self.workspace.output(id, at)?.is_some_and(|known| !known.text.is_empty());
            return Ok((!is_known).then_some(kept));
        }
        let mut is_joined = false;
        if is_bare {
            let id = self.system(&name)?;
            let Some(known) = self.workspace.output(id, at)? else {
                brought.warn(
                    self.path,
                    record.line,
                    &format!("has links of {name}, which says nothing of sentence {}", at + 1),
                );
                return Ok(None);
            };
            let links = kept.links.take().or_else(|| known.links.clone());
            is_joined = known.alpha.is_some() && output.alpha.is_none();
            kept = Output { links, log_p: kept.log_p.or(known.log_p), ..known };
        }
        if !is_joined {
            let tokens = record.source.as_ref().and_then(|source| source.tokens.clone());
            kept.source = tokens.unwrap_or_else(|| words(source));
        }
        if let Some(alpha) = &output.alpha {
            end(&mut kept.source, alpha.columns());
            end(&mut kept.target, alpha.rows());
            if (kept.target.len(), kept.source.len()) == (alpha.rows(), alpha.columns()) {
                kept.alpha = Some(alpha.to_rows());
            } else {
                let shape = format!("{} by {}", alpha.rows(), alpha.columns());
                let words = format!("{} by {}", kept.target.len(), kept.source.len());
                brought.warn(
                    self.path,
                    record.line,
                    &format!("has {shape} weights for {words} words; they are left out"),
                );
            }
        }
        if let Some(links) = &kept.links {
            let is_within = links.iter().all(|link| link.source < kept.source.len() && link.target < kept.target.len());
            if !is_within {
                brought.warn(self.path, record.line, "has a link beyond its words; its links are left out");
                kept.links = None;
            }
        }
        Ok(Some(kept))
    }

    /// What systems said is measured again where there are new references and links.
    fn measure(
        &mut self,
        references: &[(usize, String)],
        golds: &[(usize, Links)],
        measuring: &mut Measuring,
    ) -> Result<()> {
        let mut places: Vec<usize> =
            references.iter().map(|(at, _)| *at).chain(golds.iter().map(|(at, _)| *at)).collect();
        places.sort_unstable();
        places.dedup();
        if places.is_empty() {
            return Ok(());
        }
        for system in self.workspace.systems()? {
            self.workspace.measure(system.id, &places, measuring)?;
        }
        Ok(())
    }
}

/// Whether two texts have the same letters: tokenizers put spaces between and write one apostrophe for another.
fn same(a: &str, b: &str) -> bool {
    visible(a).eq(visible(b))
}

fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let letter = |c: char| if c == '\u{2019}' { '\'' } else { c };
    text.chars().filter(|c| !c.is_whitespace()).map(letter)
}

fn words(text: &str) -> Vec<String> {
    places::words(text).map(str::to_owned).collect()
}

/// Puts `</s>` behind words where the weights have one more.
fn end(words: &mut Vec<String>, count: usize) {
    if words.len() + 1 == count && words.last().is_none_or(|last| last != EOS) {
        words.push(EOS.to_owned());
    }
}
