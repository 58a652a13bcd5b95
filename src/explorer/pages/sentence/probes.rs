//! Questions to workers about a column. An answer is dropped once the column shows something else.

use std::{path::PathBuf, sync::Arc};

use crate::app::document::{ENSEMBLE, rows};
use crate::app::{
    document::column::Column, files::export, files::work::FileJob, page::SENTENCE, settings::Shown, state::AppState,
    view::Selection,
};
use crate::jobs::live::protocol::{ColumnId, HypothesisView};
use crate::jobs::queue::QueueOrder;
use crate::jobs::queue::probe::{Opened, Persuasion, Probe, ProbeQuestion, Probed};
use crate::pages::sentence::asked::{AskedProbe, PersuadedWord, ProbeAbout, ProbeSubject};
use crate::pages::{sentence::asked::SentencePage, sentence::command::ProbeCommand, sentence::intervene::pin};
use engine::interventions::{Pin, SetAlpha, Word};
use engine::{analysis::measures::Tested, lang, models::choice::ModelSpec};

/// Rows whose distance is remembered.
const MOST_ROWS: usize = 100;

impl SentencePage {
    pub(super) fn probe(&mut self, app: &mut AppState, command: ProbeCommand) {
        let done = match command {
            ProbeCommand::Persuade { column, i, word } => self.persuade(app, column, i, word),
            ProbeCommand::Measure { column, measure } => {
                app.view.settings.shown = Shown::Measure(measure);
                app.changed();
                self.measure(app, column, measure)
            }
            ProbeCommand::Save { column, path } => share(app, column, path),
        };
        if let Err(message) = done {
            app.notify(message, false);
        }
    }

    fn ask(&mut self, app: &mut AppState, column: &Column, question: ProbeQuestion, about: ProbeAbout) {
        let (source, set) = (app.document.state.text_of(column.variant).to_owned(), app.document.interventions(column));
        let subject = Some(ProbeSubject { column: column.id, source, set });
        let Some(model) = column.system.only().cloned() else { return };
        let probe = Probe { model, device: app.view.settings.device, question };
        self.order_probe(app, probe, subject, about);
    }

    fn order_probe(&mut self, app: &mut AppState, probe: Probe, subject: Option<ProbeSubject>, about: ProbeAbout) {
        let number = app.tasks.order(SENTENCE, QueueOrder::Probe(probe));
        self.probes.push(AskedProbe { number, subject, about });
    }

    fn drop_probes(&mut self, app: &mut AppState, is_over: impl Fn(&AppState, &AskedProbe) -> bool) {
        let (over, rest): (Vec<AskedProbe>, Vec<AskedProbe>) =
            std::mem::take(&mut self.probes).into_iter().partition(|asked| is_over(app, asked));
        self.probes = rest;
        for asked in over {
            app.tasks.cancel(asked.number);
        }
    }

    pub(super) fn end_stale_probes(&mut self, app: &mut AppState) {
        self.drop_probes(app, |app, asked| asked.subject.as_ref().is_some_and(|subject| !is_current(app, subject)));
    }

    fn persuade(&mut self, app: &mut AppState, id: ColumnId, i: usize, word: Word) -> Result<(), String> {
        let column = standing(app, id)?.clone();
        let has_alignment = column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
        if column.system.is_ensemble() || !has_alignment {
            let none = tr!("This model has no alignment whose rows could be changed");
            return Err(if has_alignment { lang::text(ENSEMBLE) } else { none }.to_owned());
        }
        if word.text().trim().is_empty() {
            return Err(tr!("There is no word to say; type one").to_owned());
        }
        let shown = column.shown().ok_or(tr!("Nothing is translated yet"))?;
        let row = rows::target_tokens(&column, &app.view.settings, i).ok_or(tr!("There is no such word"))?.start;
        let before = shown.found.tokens.get(..row).ok_or(tr!("There is no such word"))?.to_vec();
        let used = shown.found.alpha.as_ref().filter(|_| column.set.changes_alpha()).and_then(|alpha| alpha.get(..row));
        let question = ProbeQuestion::Persuade {
            source: column.source.ids.clone(),
            before: before.clone(),
            rows: used.map(<[Vec<f32>]>::to_vec).unwrap_or_default(),
            word: word.clone(),
        };
        self.drop_probes(app, |_, asked| matches!(asked.about, ProbeAbout::Row { .. }));
        self.ask(app, &column, question, ProbeAbout::Row { i: row, before, word });
        Ok(())
    }

    fn measure(&mut self, app: &mut AppState, id: ColumnId, measure: usize) -> Result<(), String> {
        let column = standing(app, id)?.clone();
        if let Some(message) = app.document.why_not_measured(&column, measure) {
            return Err(message);
        }
        let shown = shown(&column).ok_or(tr!("Nothing is translated yet"))?;
        let target = shown.found.tokens.clone();
        let is_asked = |asked: &AskedProbe| {
            let is_same =
                matches!(&asked.about, ProbeAbout::Measure { measure: m, target: t } if *m == measure && *t == target);
            is_same && asked.subject.as_ref().is_some_and(|subject| subject.column == id)
        };
        let is_there = column.tested_for(shown).any(|tested| tested.measured.iter().any(|one| one.measure == measure));
        if is_there || self.probes.iter().any(is_asked) {
            return Ok(());
        }
        let question = ProbeQuestion::Measure {
            measure,
            source: column.source.ids.clone(),
            target: target.clone(),
            left_out: shown.touched.form.leave_out.clone(),
        };
        self.ask(app, &column, question, ProbeAbout::Measure { measure, target });
        Ok(())
    }

    pub(crate) fn open_interventions(&mut self, app: &mut AppState, path: PathBuf) {
        app.show_page(SENTENCE);
        let selected = app.selected_column().map(|column| app.document.original(column).unwrap_or(column).id);
        let models = app.document.models();
        let models = models.filter_map(|column| Some((column.id, column.system.only()?.clone())));
        let mut columns: Vec<(ColumnId, ModelSpec)> = models.collect();
        columns.sort_by_key(|(id, _)| Some(*id) != selected);
        let Some((_, model)) = columns.first().cloned() else {
            app.notify(tr!("There is no model to set anything for; add one first"), true);
            return;
        };
        self.drop_probes(app, |_, asked| asked.about == ProbeAbout::File);
        let question = ProbeQuestion::Open { path, source: app.document.state.source.clone(), columns };
        self.order_probe(app, Probe { model, device: app.view.settings.device, question }, None, ProbeAbout::File);
    }

    /// An answer to a question that was dropped changes nothing.
    pub(crate) fn probed(&mut self, app: &mut AppState, number: u64, found: Probed) {
        let Some(at) = self.probes.iter().position(|asked| asked.number == number) else { return };
        let AskedProbe { subject, about, .. } = self.probes.remove(at);
        match (found, subject, about) {
            (Probed::Persuaded(found), Some(subject), ProbeAbout::Row { i, before, .. }) => {
                self.persuaded(app, &subject, (i, &before), found);
            }
            (Probed::Measured(tested), Some(subject), ProbeAbout::Measure { .. }) => {
                keep_tested(app, subject.column, tested);
            }
            (Probed::Opened(opened), ..) => open(app, opened),
            // an answer to another question than was asked
            (Probed::Persuaded(_) | Probed::Measured(_), ..) => {}
        }
    }

    pub(crate) fn unanswered(&mut self, app: &mut AppState, number: u64, message: Option<String>) {
        self.probes.retain(|asked| asked.number != number);
        if let Some(message) = message {
            app.notify(message, true);
        }
    }

    fn persuaded(
        &mut self, app: &mut AppState, subject: &ProbeSubject, (i, before): (usize, &[u32]), found: Persuasion,
    ) {
        let Some(column) = app.document.column(subject.column).filter(|_| is_current(app, subject)) else { return };
        let (name, Persuasion { word, piece_of, row }) = (column.name(), found);
        let said = piece_of.map_or_else(
            || format!("\"{word}\""),
            |whole| tr!("\"{word}\", the first piece of \"{whole}\",", word, whole),
        );
        let Some(row) = row else {
            let text = tr!("No change of this row was found that makes {name} say {said} here", name, said);
            return app.notify(text, false);
        };
        if row.moved <= 0.0 {
            let text = tr!(
                "By its own row {name} finds {said} the most probable here already; force it to have it said",
                name,
                said
            );
            return app.notify(text, false);
        }
        // the search may have chosen another beginning meanwhile
        if !column.shown().is_some_and(|shown| shown.found.tokens.starts_with(before)) {
            return app.notify(tr!("The words before it have changed meanwhile; ask again"), false);
        }
        let set = Pin { i, alpha: SetAlpha::Weights(row.alpha) };
        pin(app, subject.column, std::slice::from_ref(&set), false);
        let log_p = (row.own_log_p, row.log_p);
        let persuaded = PersuadedWord { pin: set, word, moved: row.moved, divergence: row.divergence, log_p };
        app.notify(tr!("Row {} of {name} is set {}", i + 1, persuaded.distance(), name), false);
        self.persuaded.push(persuaded);
        let excess = self.persuaded.len().saturating_sub(MOST_ROWS);
        self.persuaded.drain(..excess);
    }

    /// What is known of a row that was set to make the model emit a word, and whether the model emits it now.
    pub fn persuaded_text(&self, column: &Column, pin: &Pin) -> Option<String> {
        let found = self.persuaded.iter().rev().find(|found| found.pin == *pin)?;
        let is_set = !column.decoding && column.set.pin.contains(pin);
        let said = column.hypotheses.first().filter(|_| is_set).and_then(|best| best.tokens.get(pin.i));
        let now = match said {
            Some(said) if *said == found.word => tr!("; the translation says it").to_owned(),
            Some(said) => {
                tr!("; the translation says \"{said}\" all the same, for the search looks at whole translations", said)
            }
            None => String::new(),
        };
        Some(format!("{}{now}", found.distance()))
    }
}

fn standing(app: &AppState, id: ColumnId) -> Result<&Column, String> {
    let column = app.document.column(id).ok_or(tr!("This column is gone"))?;
    let stands = !column.decoding && !column.stale && column.source.text == app.document.state.text_of(column.variant);
    if !stands || column.hypotheses.is_empty() || *column.set != *app.document.interventions(column) {
        return Err(tr!("The words of this column are still being chosen; ask again when they stand").to_owned());
    }
    Ok(column)
}

fn is_current(app: &AppState, subject: &ProbeSubject) -> bool {
    let column = app.document.column(subject.column);
    column.is_some_and(|column| {
        subject.source == app.document.state.text_of(column.variant)
            && *app.document.interventions(column) == *subject.set
    })
}

fn share(app: &mut AppState, id: ColumnId, path: PathBuf) -> Result<(), String> {
    let column = standing(app, id)?;
    let text = export::set_json(column, &app.document.interventions(column)).map_err(|error| error.to_string())?;
    let path = if path.extension().is_some() { path } else { path.with_extension("json") };
    app.tasks.chore(FileJob::Write { path, text });
    Ok(())
}

fn keep_tested(app: &mut AppState, id: ColumnId, tested: Arc<Tested>) {
    let Some(at) = app.document.columns.iter().position(|column| column.id == id) else { return };
    app.document.columns[at].keep_tested(tested);
    app.rebuild(at);
    app.mark_differences();
}

fn open(app: &mut AppState, opened: Opened) {
    let Opened { column, made_with, source, interventions } = opened;
    let found = app.document.column(column).map(|column| (column.system.members.clone(), column.name()));
    let Some((models, name)) = found else {
        return app.notify(tr!("The column that the file was opened for is gone"), true);
    };
    if let Some(other) = made_with {
        app.notify(tr!("The file was made with {other}, which is not open; it is set for {name}", other, name), false);
    }
    let before = app.document.state.clone();
    if source != app.document.state.source {
        app.document.state.given = app.document.state.given.take().map(|_| String::new());
        app.leave_words(None);
        (app.document.state.source, app.document.state.position) = (source, None);
        (app.document.typed, app.document.typed_on, app.view.hover) = (false, false, None);
        app.document.state.position = app.position_of_source();
    }
    app.document.state.set(&models, interventions);
    app.view.selection = Selection { column: Some(column), target: None };
    if app.document.state != before {
        app.document.history.replaced(before);
        app.changed();
        app.request();
    }
}

fn shown(column: &Column) -> Option<&HypothesisView> {
    let is_given = column.table.as_deref().is_some_and(|table| table.is_given);
    column.read().filter(|_| is_given).or_else(|| column.shown())
}
