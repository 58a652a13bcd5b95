//! Outputs on their way in: what the workspace keeps of one, beside what it has of it already.

use crate::import::alignments::{is_bare, known_words, units};
use crate::import::{counted::uncut, importer::Importer, places::is_same, report::ImportReport};
use crate::store::output::SystemOutput;
use engine::error::Result;
use import;
use import::{ColumnRole, ImportColumn, Record};

impl Importer<'_> {
    fn said_before(&mut self, name: &str, at: usize) -> Result<Option<SystemOutput>> {
        let system = self.system(name)?;
        if system.is_new { Ok(None) } else { self.workspace.output(system.id, at) }
    }

    pub(super) fn output(
        &mut self, (at, name): (usize, &str), source: &str, record: &Record, output: &import::ImportedOutput,
        report: &mut ImportReport,
    ) -> Result<Option<SystemOutput>> {
        let (rules, is_weighed) = (self.workspace.rules(), output.alpha.is_some());
        let mut kept = SystemOutput {
            text: output.text.clone(),
            target: if output.tokens.is_empty() {
                uncut(&output.text, rules.target, is_weighed)
            } else {
                output.tokens.clone()
            },
            word_log_p: output.token_log_p.clone(),
            log_p: output.log_p,
            token_count: output.token_count,
            links: output.links.clone(),
            ..SystemOutput::default()
        };
        // A text without words is a translation, unless the file has numbers alone.
        let is_text = |column: &ImportColumn| matches!(&column.role, ColumnRole::Output(system) if system == name);
        let is_number = output.log_p.is_some() && !self.columns.iter().any(is_text) && !self.columns.is_empty();
        let is_bare = is_bare(output) && (is_number || output.links.is_some() || output.alpha.is_some());
        let mut is_joined = false;
        let before = if is_bare { None } else { self.said_before(name, at)? };
        if let Some(known) = &before {
            if known.text != kept.text {
                if !report.replaces(format!("outputs of {name}"), self.options.replaces) {
                    if !is_same(&known.text, &kept.text) {
                        self.stays.insert((name.to_owned(), at));
                    }
                    return Ok(None);
                }
            } else if output.alpha.is_none() && (known.alpha.is_some() || output.tokens.is_empty()) {
                // The same words again say no less than before.
                let links = kept.links.take().or_else(|| known.links.clone());
                is_joined = true;
                let (log_p, token_count) = kept.scored().or_else(|| known.scored()).unzip();
                kept = SystemOutput { links, log_p, token_count: token_count.unwrap_or_default(), ..known.clone() };
                if kept == *known {
                    return Ok(None);
                }
            }
        }
        if is_bare {
            let id = self.system(name)?.id;
            let Some(known) = self.workspace.output(id, at)? else {
                let message = format!("has links of {name}, which says nothing of sentence {}", at + 1);
                report.warn(self.path, record.line, &message);
                return Ok(None);
            };
            let links = kept.links.take().or_else(|| known.links.clone());
            is_joined = known.alpha.is_some() && output.alpha.is_none();
            let kept_scored = kept.scored();
            let word_log_p = if kept.word_log_p.is_empty() { known.word_log_p.clone() } else { kept.word_log_p };
            let (log_p, token_count) = kept_scored.or_else(|| known.scored()).unzip();
            let token_count = token_count.unwrap_or_default();
            let target = known_words(&known, rules.target, is_weighed);
            kept = SystemOutput { target, word_log_p, log_p, token_count, links, ..known };
        }
        if !is_joined {
            let of_record = || record.source.as_ref().and_then(|source| source.tokens.clone());
            let tokens = output.source.clone().or_else(of_record);
            kept.source = tokens.unwrap_or_else(|| uncut(source, rules.source, is_weighed));
        }
        let units = units((record, output), &kept, source, self.counted());
        self.alignments.put(output, (&mut kept, &units), (self.path, record.line), report);
        if output.links.is_some() && kept.alpha.is_none() && kept.word_log_p.is_empty() && !kept.text.is_empty() {
            // links alone are of the words of the corpus
            let SystemOutput { source, target, .. } = SystemOutput::plain(&kept.text, source, rules);
            (kept.source, kept.target) = (source, target);
        }
        Ok(Some(kept).filter(|kept| before.as_ref() != Some(kept)))
    }
}
