//! What is marked: the word, the column and the hypothesis.

use crate::app::{document::column::Column, files::lists::moved, settings::Whose, state::AppState, view::Selection};
use crate::{jobs::live::protocol::ColumnId, pages::sentence::command::SelectCommand};

pub(super) fn select(app: &mut AppState, command: &SelectCommand) {
    match *command {
        SelectCommand::Hover(hover) => {
            app.view.hover = hover.filter(|hover| app.document.column(hover.column).is_some());
        }
        SelectCommand::Target { column, i } => {
            if app.document.column(column).is_some() {
                app.view.selection = Selection { column: Some(column), target: Some(i) };
            }
        }
        SelectCommand::MoveTarget(by) => move_target(app, by),
        SelectCommand::ShowGiven(on) => show_given(app, on),
        SelectCommand::Column(column) => app.select_column(column),
        SelectCommand::MoveColumn(by) => move_selected_column(app, by),
        SelectCommand::Hypothesis { column, hypothesis } => show_hypothesis(app, column, hypothesis),
        SelectCommand::MoveHypothesis(by) => {
            let Some(column) = app.selected_column() else { return };
            if !column.hypotheses.is_empty() {
                let (id, to) = (column.id, moved(column.hypothesis, by, column.hypotheses.len()));
                show_hypothesis(app, id, to);
            }
        }
        // the column stays, so that what is saved next is of it
        SelectCommand::Nothing => app.view.selection.target = None,
    }
}

fn move_selected_column(app: &mut AppState, by: isize) {
    let Some(selected) = app.selected_column() else { return };
    let has_only_models = app.view.page.0.has_only_models;
    let selected = if has_only_models { app.document.original(selected).unwrap_or(selected) } else { selected }.id;
    let goes = |column: &&Column| !has_only_models || (column.variant.is_none() && !column.system.is_ensemble());
    let ids: Vec<ColumnId> = app.document.columns.iter().filter(goes).map(|column| column.id).collect();
    if ids.is_empty() {
        return;
    }
    let to = ids.iter().position(|id| *id == selected).map_or(0, |at| moved(at, by, ids.len()));
    app.view.selection.column = Some(ids[to]);
}

fn move_target(app: &mut AppState, by: isize) {
    let Some(column) = app.selected_column() else { return };
    let words = column.table.as_ref().map_or(0, |table| table.target.len());
    let target = match (app.view.selection.target, words) {
        (_, 0) => None,
        (Some(i), _) => Some(moved(i, by, words)),
        (None, _) => Some(if by < 0 { words - 1 } else { 0 }),
    };
    app.view.selection = Selection { column: Some(column.id), target };
}

fn show_hypothesis(app: &mut AppState, id: ColumnId, hypothesis: usize) {
    let Some(at) = app.document.columns.iter().position(|column| column.id == id) else { return };
    if hypothesis >= app.document.columns[at].hypotheses.len() {
        return;
    }
    show_given(app, false);
    if app.document.columns[at].hypothesis != hypothesis {
        app.document.columns[at].hypothesis = hypothesis;
        app.ask_links(at);
    }
    if app.view.selection.column != Some(id) {
        app.view.selection.target = None;
    }
    app.view.selection.column = Some(id);
    app.rebuild(at);
    app.mark_differences();
}

fn show_given(app: &mut AppState, on: bool) {
    let whose = if on { Whose::Given } else { Whose::Own };
    if app.view.settings.whose != whose {
        app.view.settings.whose = whose;
        // the words that were marked are other words now
        (app.view.selection.target, app.view.hover) = (None, None);
        app.rebuild_all();
    }
}
