//! The columns: adding, moving, loading again, and writing what they show.

use std::path::PathBuf;

use crate::app::document::column::{Column, ColumnDifference};
use crate::app::{
    files::drawing::Drawing, files::export, files::export::AlignmentFormat, files::picture::FigureRequest,
    files::work::FileJob, state::AppState, view::Selection,
};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::{sentence::command::ColumnCommand, sentence::variants::close_variant};
use engine::decoding::{SystemSpec, ensemble::Mixing};
use engine::{interventions::Interventions, lang, models::choice::ModelSpec};
use figure::palette::COLOUR_MAPS;

pub(super) fn arrange(app: &mut AppState, command: ColumnCommand) {
    match command {
        ColumnCommand::Add(system) => app.add_column(system),
        ColumnCommand::SetMixing { column, mixing } => {
            if !mix(app, column, mixing) {
                return;
            }
        }
        ColumnCommand::Remove(id) => {
            if app.document.column(id).is_some_and(|column| column.variant.is_some()) {
                return close_variant(app, id);
            }
            app.document.columns.retain(|column| column.id != id);
            if app.view.selection.column == Some(id) {
                app.view.selection = Selection::default();
            }
            app.view.hover = app.view.hover.filter(|hover| hover.column != id);
        }
        ColumnCommand::Move { column, to } => return move_column(app, column, to),
        ColumnCommand::Reload(id) => {
            let Some(at) = app.document.columns.iter().position(|one| one.id == id) else { return };
            let system = app.document.columns[at].system.clone();
            renew(app, at, system);
        }
        ColumnCommand::Choose { column, chosen } => {
            let Some(at) = app.document.columns.iter().position(|one| one.id == column) else { return };
            let Some(model) = app.document.columns[at].system.only().cloned() else { return };
            let model = ModelSpec { choice: chosen, ..model };
            let set = app.document.interventions(&app.document.columns[at]);
            renew(app, at, (&model).into());
            // what is set goes along, but rows, which were those of other heads
            let set = Interventions { pin: Vec::new(), ..(*set).clone() };
            app.document.state.set_in(&[model], app.document.columns[at].variant, set);
        }
        ColumnCommand::Export { column, format, path } => return export(app, column, format, path),
        ColumnCommand::Draw { column, kind, path } => {
            let drawing = Drawing { kind, ..app.view.drawing };
            let Some(picture) = picture(app, column, &drawing) else { return };
            return app.tasks.chore(FileJob::Draw { path: drawing.named(path), picture });
        }
        ColumnCommand::Copy { column, drawing } => {
            let Some(picture) = picture(app, column, &drawing) else { return };
            return app.tasks.chore(FileJob::Paint(picture));
        }
    }
    app.columns_changed();
}

/// Loads the model of a column again under a new column id, so that old events no longer match.
fn renew(app: &mut AppState, at: usize, system: SystemSpec) {
    let fresh = app.tasks.fresh_id();
    let column = &mut app.document.columns[at];
    let (variant, label) = (column.variant, column.difference.label.take());
    let difference = ColumnDifference { label, comparison: None };
    *column = Column { variant, difference, ..Column::new(fresh, system) };
}

/// Mixes the variants of an ensemble as the ensemble; true if that is a change.
fn mix(app: &mut AppState, id: ColumnId, mixing: Mixing) -> bool {
    let system = app.document.column(id).map(|column| &column.system);
    let system = system.filter(|system| system.is_ensemble() && system.mixing != mixing);
    let Some(models) = system.map(|system| system.members.clone()) else { return false };
    for Column { id: own, variant, system, .. } in &mut app.document.columns {
        if *own == id || variant.is_some() && system.members == models {
            system.mixing = mixing;
        }
    }
    true
}

fn move_column(app: &mut AppState, column: ColumnId, to: usize) {
    let Some(from) = app.document.columns.iter().position(|one| one.id == column) else { return };
    let moved = app.document.columns.remove(from);
    app.document.columns.insert(to.min(app.document.columns.len()), moved);
    app.changed();
    app.mark_differences();
}

fn picture(app: &mut AppState, column: ColumnId, drawing: &Drawing) -> Option<Box<FigureRequest>> {
    let on_screen = app.view.settings.palette_on(drawing.is_dark);
    let on_screen = COLOUR_MAPS.iter().find(|map| map.name == on_screen);
    let drawing = Drawing { map: drawing.map.or(on_screen), ..*drawing };
    let picture = lang::in_english(|| export::figure(app, column, &drawing));
    if picture.is_none() {
        app.notify(tr!("There is nothing to draw yet, because nothing is translated in this column"), true);
    }
    picture.map(Box::new)
}

fn export(app: &mut AppState, column: ColumnId, format: AlignmentFormat, path: PathBuf) {
    let column = app.document.column(column);
    match column.and_then(|column| lang::in_english(|| export::text(column, &app.view.settings, format))) {
        Some(text) => {
            let note = column.and_then(|column| export::note(column, format));
            let from = column.and_then(|column| lang::in_english(|| export::provenance(app, column)));
            let from = from.unwrap_or_default();
            let text = if format == AlignmentFormat::Json { from.within(&text) + "\n" } else { text };
            if format != AlignmentFormat::Json {
                app.tasks.chore(FileJob::WriteBeside { path: path.clone(), from });
            }
            app.tasks.chore(FileJob::Write { path, text });
            if let Some(note) = note {
                app.notify(note, false);
            }
        }
        None => app.notify(export::why_not(column, format), true),
    }
}
