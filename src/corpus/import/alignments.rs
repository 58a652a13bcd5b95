//! Alignments of other toolkits on their way in: whose they are, whether they are of the words that are here, and
//! what is cut off.

use std::path::Path;

use crate::import::counted::{Counted, Counterparts, uncut};
use crate::import::report::ImportReport;
use crate::store::rules::{SideRules, spread};
use crate::store::{file::Workspace, output::SystemOutput, read::StoredSystem};
use engine::analysis::alignment::Alignment;
use engine::error::{Error, Result};
use engine::text::{cut::WordRule, links::Link, pieces::PieceMarks, words::without_end};
use import::facts::{Behind, ImportReported};
use import::{ImportOptions, ImportedOutput, Record, Role};
use import::{beside::Sides, matrix::fit};

pub(super) fn sides(workspace: &Workspace, path: &Path, options: &ImportOptions) -> Result<Sides> {
    let rules = SideRules::of_lines(options.link_tokens, workspace.rules());
    let system = match &options.role {
        Some(Role::Output(name)) => system_of(workspace, name, (path, options)).ok(),
        _ => None,
    };
    let count = |text: &str, rule: WordRule| u32::try_from(rule.count(text)).ok();
    let mut sides = Vec::new();
    let std::ops::Range { start: first, end: len } = workspace.newest()?;
    for start in (first..len).step_by(READ) {
        for (at, sentence) in (start..len).zip(workspace.sentences(start..len.min(start + READ))?) {
            let said = system.as_ref().map(|system| workspace.output(system.id, at)).transpose()?.flatten();
            let target = match &options.role {
                Some(Role::Output(_)) => said.as_ref().map(|said| said.text.as_str()),
                _ => sentence.reference(0),
            };
            sides.push([count(&sentence.source, rules.source), target.and_then(|text| count(text, rules.target))]);
        }
    }
    Ok(Sides(sides.into()))
}

const READ: usize = 1000;

/// The system of links without texts: the named one, else the one of this command, else the only one.
fn system_of(workspace: &Workspace, name: &str, (path, options): (&Path, &ImportOptions)) -> Result<StoredSystem> {
    let (mut known, mut others) = (None, Vec::new());
    for system in workspace.systems()? {
        match workspace.outputs(system.id)? {
            0 => {}
            _ if system.name == name => known = Some(system),
            _ if system.competes() => others.push(system),
            _ => {}
        }
    }
    if matches!(&options.role, Some(Role::Output(name)) if path.file_stem() != Some(name.as_ref())) {
        others.clear();
    }
    let came = |system: &StoredSystem| options.came_with.as_ref() == Some(&system.name) || others.len() == 1;
    known.or_else(|| others.iter().find(|system| came(system)).cloned()).ok_or_else(|| {
        let names: Vec<&str> = others.iter().map(|system| system.name.as_str()).collect();
        let message = match names.as_slice() {
            [] => format!("has alignments of the system `{name}`, which has no outputs here; import its outputs first, then this file as its \
                           outputs too (`--output NAME=FILE` for both)"),
            names => format!("has alignments, but does not say of which system; import it as the outputs (`--output NAME=FILE`) of {}", names.join(" or ")),
        };
        Error::file(path, message)
    })
}

#[derive(Debug, Default)]
pub(super) struct Alignments {
    behind: Behind,
    is_theirs: bool,
    system: Option<String>,
    is_cut: bool,
    /// Those with weights; with a row for `</s>`, with a column for it, and with more behind the words.
    all: usize,
    end_rows: usize,
    end_columns: usize,
    padded: usize,
    end_links: usize,
}

impl Alignments {
    pub(super) fn new(behind: Behind) -> Self {
        Self { behind, ..Self::default() }
    }

    /// Checks the first sentences of a file without texts before anything is written.
    pub(super) fn check(
        &mut self, workspace: &Workspace, base: usize, (path, options, counted): (&Path, &ImportOptions, Counted),
        window: &[Record],
    ) -> Result<()> {
        let is_aligned = |output: &ImportedOutput| output.alpha.is_some() || output.links.is_some();
        let outputs = || window.iter().filter_map(|record| Some((record, record.outputs.first()?)));
        let Some((_, first)) = outputs().find(|(_, output)| is_aligned(output)) else { return Ok(()) };
        let mut system = None;
        if window.iter().all(|record| record.source.is_none()) {
            if base == workspace.len()? {
                let message = "has no source sentences, and none are here; import them first (`--source FILE`)";
                return Err(Error::file(path, message));
            }
            if outputs().all(|(_, output)| is_bare(output)) {
                let name = first.system.as_deref().unwrap_or_default();
                system = Some(system_of(workspace, name, (path, options))?);
                self.system = system.as_ref().filter(|system| system.name != name).map(|system| system.name.clone());
            }
        }
        let (mut sides, mut marks) = (Vec::new(), [PieceMarks::Words, PieceMarks::Words]);
        for (record, output) in outputs().filter(|(_, output)| self.behind != Behind::Nothing || is_aligned(output)) {
            let at = base + record.sentence.saturating_sub(1);
            let text = match &record.source {
                Some(source) => source.text.clone(),
                None => workspace.sentence(at)?.map(|sentence| sentence.source).unwrap_or_default(),
            };
            let tokens = record.source.as_ref().and_then(|source| source.tokens.clone());
            let source = output.source.clone().or(tokens);
            let source = source.unwrap_or_else(|| uncut(&text, counted.to.source, output.alpha.is_some()));
            let said = system.as_ref().map(|system| workspace.output(system.id, at)).transpose()?.flatten();
            if record.source.is_none() {
                let seen = [PieceMarks::seen(&WordRule::Spaces.words(&text)), PieceMarks::seen(&output.tokens)];
                marks
                    .iter_mut()
                    .zip(seen)
                    .filter(|(_, seen)| seen.has_pieces())
                    .for_each(|(known, seen)| *known = seen);
            }
            let is_weighed = output.alpha.is_some();
            let mut kept = SystemOutput { source, links: output.links.clone(), ..SystemOutput::default() };
            (kept.text, kept.target) = match said {
                Some(said) => (said.text.clone(), known_words(&said, counted.to.target, is_weighed)),
                None if output.tokens.is_empty() => {
                    (output.text.clone(), uncut(&output.text, counted.to.target, is_weighed))
                }
                None => (output.text.clone(), output.tokens.clone()),
            };
            let units = units((record, output), &kept, &text, counted);
            sides.push((record.line, output, kept, units));
        }
        self.is_cut = marks[0].has_pieces() && marks[0] == marks[1];
        let faults = |behind: Behind| {
            let fault = |(line, output, kept, units): &(usize, &ImportedOutput, SystemOutput, LinkUnits)| {
                let fitted = Self::new(behind).fitted(output, &mut kept.clone(), units);
                let fitted =
                    if is_aligned(output) { fitted } else { Err("has no alignment that can be read".to_owned()) };
                fitted.err().map(|why| (*line, why))
            };
            sides.iter().filter_map(fault).collect::<Vec<_>>()
        };
        let mut found = faults(self.behind);
        if self.behind == (Behind::Decoder { has_end: false }) && !found.is_empty() {
            let behind = Behind::Decoder { has_end: true };
            let others = faults(behind);
            if others.len() < found.len() {
                (self.behind, found) = (behind, others);
            }
        }
        if found.len() * 2 <= sides.len() {
            self.is_theirs = true;
            return Ok(());
        }
        let (line, why) = &found[0];
        let message =
            format!("{why}. {} of the first {} alignments are such, so nothing is imported", found.len(), sides.len());
        Err(Error::line(path, *line, message))
    }

    pub(super) fn name(&self, output: &mut ImportedOutput) {
        if self.is_cut && !output.tokens.is_empty() {
            output.text = without_end(&output.tokens).join(" ");
        }
        output.system = self.system.clone().or(output.system.take());
    }

    pub(super) fn put(
        &mut self, output: &ImportedOutput, (kept, units): (&mut SystemOutput, &LinkUnits),
        (path, line): (&Path, usize), report: &mut ImportReport,
    ) {
        let words = kept.source_words().len();
        if let Err(why) = self.fitted(output, kept, units) {
            report.warn(path, line, &format!("{why}; that is left out"));
        }
        let columns = output.alpha.as_ref().map_or(words, Alignment::columns);
        if kept.alpha.is_some() && columns < words {
            let message = format!("has weights for the first {columns} of {words} source words; the others get none");
            report.warn(path, line, &message);
        }
        if kept.alpha.is_none() && kept.words().is_empty() && kept.word_log_p.is_empty() {
            kept.target.clear();
        }
    }

    fn fitted(&mut self, output: &ImportedOutput, kept: &mut SystemOutput, units: &LinkUnits) -> ImportReported<()> {
        if let Some(alpha) = &output.alpha {
            let fitted = fit(alpha, (self.behind, self.is_theirs), &mut kept.target, &mut kept.source)?;
            self.all += 1;
            self.end_rows += usize::from(kept.words().len() < fitted.rows());
            self.end_columns += usize::from(kept.source_words().len() < fitted.columns());
            self.padded += usize::from(alpha.rows() > fitted.rows() || alpha.columns() > fitted.columns());
            kept.alpha = Some(fitted);
        }
        let [s, t] = [units[0].len(), units[1].len()];
        let may_end = self.behind != Behind::Nothing;
        let mut beyond: Vec<Link> = Vec::new();
        // those of the output that is here count the words of the corpus already
        if let Some(links) = kept.links.as_mut().filter(|_| output.links.is_some()) {
            links.retain(|link| {
                let is_within = link.source < s && link.target < t;
                if !is_within && may_end && link.source <= s && link.target <= t {
                    self.end_links += 1;
                } else if !is_within {
                    beyond.push(*link);
                }
                is_within
            });
            *links = spread(links, Some(&units[0]), Some(&units[1]));
        }
        let Some(Link { source, target }) = beyond.first() else { return Ok(()) };
        let advice = "import the texts cut into tokens as the system cuts them";
        Err(match beyond.len() {
            1 => format!("has the link {source}-{target} beyond its {s} source and {t} target words; {advice}"),
            n => {
                format!("has {n} links such as {source}-{target} beyond its {s} source and {t} target words; {advice}")
            }
        })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(system) = &self.system {
            notes.push(format!(
                "The alignments are those of the outputs of {system}; to choose another system, import the file as its output \
                 (`--output NAME=FILE`)."
            ));
        }
        if self.is_cut {
            notes.push("The texts stay cut into pieces, as the source sentences are.".to_owned());
        }
        if self.all > 0 {
            notes.push(format!(
                "Alignments with weights: {}; with a row for `</s>`: {}; with a column for it: {}; with more behind the words, which is cut off: \
                 {}.",
                self.all, self.end_rows, self.end_columns, self.padded
            ));
        }
        if self.end_links > 0 {
            notes.push(format!("Links of `</s>` are left out: {}.", self.end_links));
        }
        notes
    }
}

pub(super) fn is_bare(output: &ImportedOutput) -> bool {
    output.text.is_empty() && output.tokens.is_empty()
}

/// For each word of both sides that links count, the words of the corpus.
pub(super) type LinkUnits = [Counterparts; 2];

pub(super) fn units(
    (record, output): (&Record, &ImportedOutput), kept: &SystemOutput, source: &str, counted: Counted,
) -> LinkUnits {
    if output.links.is_none() {
        return LinkUnits::default();
    }
    let (counted, copy) = (counted.of(record), record.source.as_ref());
    let of_record = || output.source.as_deref().or(copy?.tokens.as_deref());
    let of_output = || (!output.tokens.is_empty()).then_some(output.tokens.as_slice());
    // a record that says what its links count cuts its texts so
    let [own_source, own_target] = if record.words.is_some() { [Some(&[][..]); 2] } else { [of_record(), of_output()] };
    let strange =
        |own: &'_ [String], text: &str, rules: [WordRule; 3]| rules.iter().all(|rule| rule.words(text) != own);
    let (from, to) = (counted.from, counted.to);
    let known =
        Some(kept.source_words()).filter(|own| strange(own, source, [from.source, to.source, WordRule::Spaces]));
    let own = own_source.or(known).unwrap_or_default();
    let sources = counted.source((own, copy.map_or("", |copy| &copy.text)), source);
    let known = Some(kept.words()).filter(|own| strange(own, &kept.text, [from.target, to.target, WordRule::Spaces]));
    let targets = counted.target((own_target.or(known).unwrap_or_default(), &output.text), &kept.text);
    let whole = |count: usize| (0..count).map(|word| vec![word]).collect();
    let [s, t] = [kept.source_words().len(), kept.words().len()];
    [sources.unwrap_or_else(|| whole(s)), targets.unwrap_or_else(|| whole(t))]
}

pub(super) fn known_words(known: &SystemOutput, rule: WordRule, is_weighed: bool) -> Vec<String> {
    let is_cut_here = known.alpha.is_none() && known.word_log_p.is_empty() && rule.words(&known.text) == known.target;
    if is_cut_here { uncut(&known.text, rule, is_weighed) } else { known.target.clone() }
}
