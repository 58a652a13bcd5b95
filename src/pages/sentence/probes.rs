//! Floor 9: questions about a column, asked in the background: a row that makes the model say a word, measures of its
//! translation, files of interventions. What is asked of a column ends as soon as the column is about something else.

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::measures::{MEASURES, Tested};
use crate::app::document::column::Column;
use crate::app::document::rows;
use crate::app::effect::Chore;
use crate::app::files::gold::Gold;
use crate::app::files::share;
use crate::app::page::Page;
use crate::app::settings::Shown;
use crate::app::state::AppState;
use crate::app::view::Selection;
use crate::jobs::live::interventions::{Pin, Word};
use crate::jobs::live::protocol::{ColumnId, HypothesisView};
use crate::jobs::queue::Order;
use crate::jobs::queue::probe::{Opened, Persuasion, Probe, Probed, Question};
use crate::pages::sentence::asked::About;
use crate::pages::sentence::asked::Asked;
use crate::pages::sentence::asked::Persuaded;
use crate::pages::sentence::asked::Subject;
use crate::pages::sentence::command::ProbeCommand;

/// Rows whose distance is remembered.
const MOST_ROWS: usize = 100;

/// Why an ensemble is not asked.
const ENSEMBLE: &str =
    "This is asked of one model, and the column is an ensemble; ask in a column of one of its members";

impl AppState {
    pub(crate) fn apply_to_probes(&mut self, command: ProbeCommand) {
        let done = match command {
            ProbeCommand::Persuade { column, i, word } => self.persuade(column, i, word),
            ProbeCommand::Measure { column, measure } => {
                self.settings.shown = Shown::Measure(measure);
                self.changed();
                self.measure(column, measure)
            }
            ProbeCommand::Save { column, path } => self.share(column, path),
        };
        if let Err(message) = done {
            self.notify(message, false);
        }
    }

    /// A column that stands: its words are those of the present text with what is set.
    fn standing(&self, id: ColumnId) -> Result<&Column, String> {
        let column = self.column(id).ok_or("This column is gone")?;
        let stands = !column.decoding && !column.stale && column.source.text == self.scene.text_of(column.variant);
        if !stands || column.hypotheses.is_empty() || *column.set != *self.interventions(column) {
            return Err("The words of this column are still being chosen; ask again when they stand".to_owned());
        }
        Ok(column)
    }

    fn ask(&mut self, column: &Column, question: Question, about: About) {
        let (source, set) = (self.scene.text_of(column.variant).to_owned(), self.interventions(column));
        let subject = Some(Subject { column: column.id, source, set });
        let probe = Probe { model: column.folder.clone(), device: self.settings.device, question };
        self.order_probe(probe, subject, about);
    }

    fn order_probe(&mut self, probe: Probe, subject: Option<Subject>, about: About) {
        let number = self.order(Page::Sentence, Order::Probe(probe));
        self.probes.push(Asked { number, subject, about });
    }

    /// Ends the questions of which this holds.
    fn drop_probes(&mut self, is_over: impl Fn(&Self, &Asked) -> bool) {
        let over: Vec<u64> =
            self.probes.iter().filter(|asked| is_over(self, asked)).map(|asked| asked.number).collect();
        self.probes.retain(|asked| !over.contains(&asked.number));
        for number in over {
            self.cancel(number);
        }
    }

    /// Ends questions about what is no more.
    pub(crate) fn leave_probes(&mut self) {
        self.drop_probes(|app, asked| asked.subject.as_ref().is_some_and(|subject| !app.is_current(subject)));
    }

    fn is_current(&self, subject: &Subject) -> bool {
        let column = self.column(subject.column);
        column.is_some_and(|column| {
            subject.source == self.scene.text_of(column.variant) && *self.interventions(column) == *subject.set
        })
    }

    fn persuade(&mut self, id: ColumnId, i: usize, word: Word) -> Result<(), String> {
        let column = self.standing(id)?.clone();
        let has_alignment = column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
        if column.ensemble.is_some() || !has_alignment {
            let none = "This model has no alignment whose rows could be changed";
            return Err(if has_alignment { ENSEMBLE } else { none }.to_owned());
        }
        if word.text().trim().is_empty() {
            return Err("There is no word to say; type one".to_owned());
        }
        let shown = column.shown().ok_or("Nothing is translated yet")?;
        let row = rows::target_tokens(&column, &self.settings, i).ok_or("There is no such word")?.start;
        let before = shown.ids.get(..row).ok_or("There is no such word")?.to_vec();
        let used = shown.alpha.as_ref().filter(|_| column.set.changes_alpha()).and_then(|alpha| alpha.get(..row));
        let question = Question::Persuade {
            source: column.source.ids.clone(),
            before: before.clone(),
            rows: used.map(<[Vec<f32>]>::to_vec).unwrap_or_default(),
            word: word.clone(),
        };
        self.drop_probes(|_, asked| matches!(asked.about, About::Row { .. }));
        self.ask(&column, question, About::Row { i: row, before, word });
        Ok(())
    }

    fn measure(&mut self, id: ColumnId, measure: usize) -> Result<(), String> {
        let column = self.standing(id)?.clone();
        if let Some(message) = self.why_not_measured(&column, measure) {
            return Err(message);
        }
        let shown = shown(&column).ok_or("Nothing is translated yet")?;
        let target = shown.ids.clone();
        let is_asked = |asked: &Asked| {
            let is_same =
                matches!(&asked.about, About::Measure { measure: m, target: t } if *m == measure && *t == target);
            is_same && asked.subject.as_ref().is_some_and(|subject| subject.column == id)
        };
        let is_there = column.tested_for(shown).any(|tested| tested.measured.iter().any(|one| one.measure == measure));
        if is_there || self.probes.iter().any(is_asked) {
            return Ok(());
        }
        let question = Question::Measure { measure, source: column.source.ids.clone(), target: target.clone() };
        self.ask(&column, question, About::Measure { measure, target });
        Ok(())
    }

    fn share(&mut self, id: ColumnId, path: PathBuf) -> Result<(), String> {
        let column = self.standing(id)?;
        let text = share::json(column, &self.interventions(column)).map_err(|error| error.to_string())?;
        let path = if path.extension().is_some() { path } else { path.with_extension("json") };
        self.chore(Chore::Write { path, text });
        Ok(())
    }

    /// Opens a file of interventions, for the selected column or the one whose model it names.
    pub(crate) fn open_interventions(&mut self, path: PathBuf) {
        self.show_page(Page::Sentence);
        let selected = self.selected_column().map(|column| self.original(column).unwrap_or(column).id);
        let mut columns: Vec<(ColumnId, PathBuf)> =
            self.models().map(|column| (column.id, column.folder.clone())).collect();
        columns.sort_by_key(|(id, _)| Some(*id) != selected);
        let Some((_, model)) = columns.first().cloned() else {
            self.notify("There is no model to set anything for; add one first", true);
            return;
        };
        self.drop_probes(|_, asked| asked.about == About::File);
        let question = Question::Open { path, source: self.scene.source.clone(), columns };
        self.order_probe(Probe { model, device: self.settings.device, question }, None, About::File);
    }

    /// Takes in an answer; one that nobody waits for any more changes nothing.
    pub(crate) fn probed(&mut self, number: u64, found: Probed) {
        let Some(at) = self.probes.iter().position(|asked| asked.number == number) else { return };
        let Asked { subject, about, .. } = self.probes.remove(at);
        match (found, subject, about) {
            (Probed::Persuaded(found), Some(subject), About::Row { i, before, .. }) => {
                self.persuaded(&subject, (i, &before), found);
            }
            (Probed::Measured(tested), Some(subject), About::Measure { .. }) => self.tested(subject.column, tested),
            (Probed::Opened(opened), ..) => self.opened(opened),
            // an answer to another question than was asked
            (Probed::Persuaded(_) | Probed::Measured(_), ..) => {}
        }
    }

    /// Nothing came of it.
    pub(crate) fn unanswered(&mut self, number: u64, message: Option<String>) {
        self.probes.retain(|asked| asked.number != number);
        if let Some(message) = message {
            self.notify(message, true);
        }
    }

    fn persuaded(&mut self, subject: &Subject, (i, before): (usize, &[u32]), found: Persuasion) {
        let Some(column) = self.column(subject.column).filter(|_| self.is_current(subject)) else { return };
        let (name, Persuasion { word, piece_of, row }) = (column.name(), found);
        let said = piece_of
            .map_or_else(|| format!("\"{word}\""), |whole| format!("\"{word}\", the first piece of \"{whole}\","));
        let Some(row) = row else {
            let text = format!("No change of this row was found that makes {name} say {said} here");
            return self.notify(text, false);
        };
        if row.moved <= 0.0 {
            let text =
                format!("By its own row {name} finds {said} the most probable here already; force it to have it said");
            return self.notify(text, false);
        }
        // the search may have chosen another beginning meanwhile
        if !column.shown().is_some_and(|shown| shown.ids.starts_with(before)) {
            return self.notify("The words before it have changed meanwhile; ask again", false);
        }
        self.pin(subject.column, &[(i, row.alpha.clone())], false);
        let pin = Pin { i, alpha: Arc::from(row.alpha) };
        let log_p = (row.own_log_p, row.log_p);
        let persuaded = Persuaded { pin, word, moved: row.moved, divergence: row.divergence, log_p };
        self.notify(format!("Row {} of {name} is set {}", i + 1, persuaded.distance()), false);
        self.persuaded.push(persuaded);
        let excess = self.persuaded.len().saturating_sub(MOST_ROWS);
        self.persuaded.drain(..excess);
    }

    fn tested(&mut self, id: ColumnId, tested: Arc<Tested>) {
        let Some(at) = self.columns.iter().position(|column| column.id == id) else { return };
        self.columns[at].keep_tested(tested);
        self.rebuild(at);
        self.mark_differences();
    }

    /// A sentence with what is set in a column, as one step of undo.
    fn opened(&mut self, opened: Opened) {
        let Opened { column, made_with, source, interventions } = opened;
        let found = self.column(column).map(|column| (column.folders().to_vec(), column.name()));
        let Some((folders, name)) = found else {
            return self.notify("The column that the file was opened for is gone", true);
        };
        if let Some(other) = made_with {
            self.notify(format!("The file was made with {other}, which is not open; it is set for {name}"), false);
        }
        let before = self.scene.clone();
        if source != self.scene.source {
            self.scene.given = self.scene.given.take().map(|_| String::new());
            self.leave_words(None);
            (self.scene.source, self.scene.position) = (source, None);
            (self.typed, self.typed_on, self.hover) = (false, false, None);
            self.scene.position = self.position_of_source();
        }
        self.scene.set(&folders, interventions);
        self.selection = Selection { column: Some(column), target: None };
        if self.scene != before {
            self.history.replaced(before);
            self.changed();
            self.request();
        }
    }
}

impl AppState {
    /// What is known of a row that was set so that the model says a word, and whether it says it now.
    pub fn persuaded_text(&self, column: &Column, pin: &Pin) -> Option<String> {
        let found = self.persuaded.iter().rev().find(|found| found.pin == *pin)?;
        let is_set = !column.decoding && column.set.pins.contains(pin);
        let said = column.hypotheses.first().filter(|_| is_set).and_then(|best| best.tokens.get(pin.i));
        let now = match said {
            Some(said) if *said == found.word => "; the translation says it".to_owned(),
            Some(said) => {
                format!("; the translation says \"{said}\" all the same, for the search looks at whole translations")
            }
            None => String::new(),
        };
        Some(format!("{}{now}", found.distance()))
    }

    /// Why what a column shows cannot be measured so; `None` where it can.
    pub fn why_not_measured(&self, column: &Column, measure: usize) -> Option<String> {
        let is_given = column.table.as_deref().is_some_and(|table| table.is_given);
        let has_alignment = column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
        let line = MEASURES.get(measure)?;
        if column.ensemble.is_some() {
            return Some(ENSEMBLE.to_owned());
        }
        if line.aligns && !has_alignment {
            return Some(format!(
                "This model has no alignment, which \"{}\" is about; choose another measure",
                line.title
            ));
        }
        let changed =
            "The tests are of the model's own alpha, and some of it is set by hand here; take that away first";
        (!is_given && self.interventions(column).changes_alpha()).then(|| changed.to_owned())
    }

    /// Questions about columns that are under way.
    pub fn probes(&self) -> &[Asked] {
        &self.probes
    }

    /// The alignment by hand of the present text, where one is known.
    pub fn gold(&self) -> Option<Arc<Gold>> {
        let known = self.gold.clone().filter(|gold| gold.source == self.scene.source);
        known.or_else(|| self.gold_of_list().map(Arc::new))
    }

    /// That of the sentence of the shown list.
    pub(crate) fn gold_of_list(&self) -> Option<Gold> {
        let gold = self.lists.gold(self.scene.position?)?;
        (gold.source == self.scene.source).then_some(gold)
    }

    /// Opens a sentence of a test set, with its alignment by hand where there is one.
    pub(crate) fn show_with_gold(&mut self, text: String, gold: Option<Gold>) {
        self.gold = gold.map(Arc::new);
        self.show_sentence(text);
    }
}

/// The translation that a column shows.
fn shown(column: &Column) -> Option<&HypothesisView> {
    let is_given = column.table.as_deref().is_some_and(|table| table.is_given);
    column.read().filter(|_| is_given).or_else(|| column.shown())
}
