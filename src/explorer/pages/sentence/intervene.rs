//! Acting on the decoder: words that are forced, held or forbidden, and rows of alpha that are set.
//!
//! Whatever is changed at a position holds the words before it as they are shown, so that the search goes on from there.
//! They are held no longer than something behind them needs it.

use std::sync::Arc;

use crate::app::{
    document::MovedRow, document::column::Column, document::hand::TakenAway, document::rows,
    document::sentence_state::SentenceState, state::AppState,
};
use crate::jobs::live::protocol::ColumnId;
use crate::pages::sentence::command::{InterveneCommand, RowEdit};
use engine::analysis::row_convention::RowConvention;
use engine::interventions::{Forbid, Force, Interventions, Pin, Place, Said, SetAlpha, Word};
use engine::lang;
use engine::text::sentence::{EOS, MAX_SOURCE_BYTES};
use figure::heatmap::outlines::Outlined;

const TEMPERATURES: (f32, f32) = (0.05, 20.0);

fn is_fit(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_SOURCE_BYTES
}

/// Returns what was moved, which a further command may continue; `last` was moved before.
pub(super) fn intervene(app: &mut AppState, command: InterveneCommand, last: Option<MovedRow>) -> Option<MovedRow> {
    match command {
        InterveneCommand::Force { column, i, word } => force(app, column, i, word),
        InterveneCommand::Follow { column, tokens } => follow_tokens(app, column, &tokens),
        InterveneCommand::Whole { column, text } => whole(app, column, text),
        InterveneCommand::Ban { column, i, word, in_all } => ban(app, column, i, &word, in_all),
        InterveneCommand::Weight { column, i, j, weight, renormalise, goes_on } => {
            let continues = goes_on && last == Some((column, Some(i)));
            if weigh(app, column, i, (j, weight, renormalise), continues) || continues {
                return Some((column, Some(i)));
            }
        }
        InterveneCommand::Row { column, i, edit } => edit_row(app, column, i, edit),
        InterveneCommand::Rows { column, edit } => edit_rows(app, column, edit),
        InterveneCommand::Mask { column, j, is_masked, in_all } => mask(app, column, j, is_masked, in_all),
        InterveneCommand::LeaveOut { column, place, is_left_out } => {
            change(app, &[column], false, |wanted| {
                wanted.leave_out.retain(|other| *other != place);
                if is_left_out {
                    let at = wanted.leave_out.partition_point(|other| *other < place);
                    wanted.leave_out.insert(at, place);
                }
            });
        }
        InterveneCommand::Temperature { column, temperature, goes_on } => {
            let temperature = temperature.clamp(TEMPERATURES.0, TEMPERATURES.1);
            let set = (temperature.is_finite() && temperature != 1.0).then_some(temperature);
            let continues = goes_on && last == Some((column, None));
            if change(app, &[column], continues, |wanted| wanted.temperature = set) || continues {
                return Some((column, None));
            }
        }
        InterveneCommand::Take { column, what } => {
            change(app, &[column], false, |wanted| take(wanted, &what));
        }
        InterveneCommand::TakeAll => take_all(app),
    }
    None
}

fn take_all(app: &mut AppState) {
    change_sentence(app, false, |sentence| {
        sentence.interventions = Arc::default();
        for id in sentence.variants.iter().map(|variant| variant.id).collect::<Vec<_>>() {
            sentence.change_variant(id, |variant| variant.interventions = None);
        }
        sentence.variants = sentence.variants.iter().filter(|variant| !variant.is_as_original()).cloned().collect();
    });
}

fn all_beside(app: &AppState, id: ColumnId) -> Vec<ColumnId> {
    let text = |column: &Column| app.document.state.text_of(column.variant).to_owned();
    let own = app.document.column(id).map(text);
    app.document.columns.iter().filter(|column| Some(text(column)) == own).map(|column| column.id).collect()
}

/// Changes the sentence as one step of undo, or as part of the last one if it `continues`. True if anything changed.
pub(super) fn change_sentence(app: &mut AppState, continues: bool, change: impl FnOnce(&mut SentenceState)) -> bool {
    let before = app.document.state.clone();
    change(&mut app.document.state);
    if app.document.state == before {
        return false;
    }
    if !continues {
        app.document.history.replaced(before);
    }
    app.changed();
    app.request();
    true
}

fn change(app: &mut AppState, ids: &[ColumnId], continues: bool, change: impl Fn(&mut Interventions)) -> bool {
    let columns = app.document.columns.iter().filter(|column| ids.contains(&column.id));
    let columns: Vec<_> = columns.map(|column| (column.system.members.clone(), column.variant)).collect();
    change_sentence(app, continues, |sentence| {
        for (models, variant) in columns {
            let mut wanted = (*sentence.set_of(&models, variant)).clone();
            change(&mut wanted);
            sentence.set_in(&models, variant, wanted);
        }
    })
}

/// A column that shows a translation of the present text that the model chose.
fn present(app: &AppState, id: ColumnId) -> Option<&Column> {
    let is_own = |column: &&Column| column.table.as_ref().is_some_and(|table| !table.is_given);
    app.document
        .column(id)
        .filter(|column| column.source.text == app.document.state.text_of(column.variant))
        .filter(is_own)
}

/// The first `count` tokens of a column as held or forced words; fewer while newly set words are not shown yet.
fn held(app: &AppState, id: ColumnId, count: usize) -> Option<Vec<Force>> {
    let column = present(app, id)?;
    let wanted = app.document.interventions(column);
    if wanted.beginning() != column.set.beginning() {
        return Some(wanted.beginning().iter().take(count).cloned().collect());
    }
    let shown = column.shown()?;
    let held = |i: usize| shown.touched.said(i) != Said::Forced;
    Some(beginning(shown.tokens.get(..count)?, held))
}

fn all_held(app: &mut AppState, id: ColumnId, count: usize) -> Option<Vec<Force>> {
    let held = held(app, id, count).filter(|held| held.len() == count);
    if held.is_none() {
        app.notify(tr!("The words before it are still being chosen; try again when they stand"), false);
    }
    held
}

fn force(app: &mut AppState, id: ColumnId, i: usize, word: Word) {
    let tokens = present(app, id).and_then(|column| rows::target_tokens(column, &app.view.settings, i));
    let Some(i) = tokens.map(|tokens| tokens.start) else { return };
    let Some(mut start) = all_held(app, id, i) else { return };
    if is_fit(word.text()) {
        start.push(Force { i, word, held: false });
        change(app, &[id], false, |wanted| wanted.begin_with(&start));
    }
}

fn follow_tokens(app: &mut AppState, id: ColumnId, tokens: &[String]) {
    let Some(column) = present(app, id) else { return };
    let was_forced = |i: usize| column.shown().is_some_and(|shown| shown.touched.said(i) == Said::Forced);
    let start = beginning(tokens, |i| i + 1 < tokens.len() && !was_forced(i));
    change(app, &[id], false, |wanted| wanted.begin_with(&start));
}

fn whole(app: &mut AppState, id: ColumnId, text: String) {
    if is_fit(&text) {
        let words = [Word::Typed(text), Word::Entry(EOS.to_owned())];
        let force: Vec<Force> = (0..).zip(words).map(|(i, word)| Force { i, word, held: false }).collect();
        change(app, &[id], false, |wanted| wanted.force.clone_from(&force));
    }
}

fn ban(app: &mut AppState, id: ColumnId, i: Option<usize>, word: &Word, in_all: bool) {
    let Some(i) = i else {
        let ids = if in_all { app.document.columns.iter().map(|column| column.id).collect() } else { vec![id] };
        change(app, &ids, false, |wanted| forbid(wanted, Forbid { i: None, word: word.clone() }));
        return;
    };
    let tokens = present(app, id).and_then(|column| rows::target_tokens(column, &app.view.settings, i));
    let Some(start) = tokens.map(|tokens| tokens.start) else { return };
    let Some(held) = all_held(app, id, start) else { return };
    change(app, &[id], false, |wanted| {
        wanted.begin_with(&held);
        forbid(wanted, Forbid { i: Some(start), word: word.clone() });
    });
}

fn row_of(app: &AppState, column: &Column, row: usize) -> Option<Vec<f32>> {
    let wanted = app.document.interventions(column);
    let pinned = wanted.pin.iter().find(|pin| pin.i == row);
    let pinned = pinned.and_then(|pin| if let SetAlpha::Weights(row) = &pin.alpha { Some(row.clone()) } else { None });
    pinned.or_else(|| column.shown()?.found.alpha.as_ref()?.get(row).cloned())
}

fn weigh(app: &mut AppState, id: ColumnId, i: usize, set: (usize, f32, bool), continues: bool) -> bool {
    let (j, weight, renormalise) = set;
    let Some(column) = present(app, id).filter(|_| weight.is_finite()) else { return false };
    let Some(word) = rows::source_tokens(column, &app.view.settings, j) else { return false };
    let set = |row: usize| {
        let alpha = rows::weighted(&row_of(app, column, row)?, &word, weight, renormalise);
        Some(Pin { i: row, alpha: SetAlpha::Weights(alpha) })
    };
    let pins: Vec<Pin> = rows::settable(column, &app.view.settings, i).into_iter().filter_map(set).collect();
    pin(app, id, &pins, continues)
}

pub(crate) fn pin(app: &mut AppState, id: ColumnId, pins: &[Pin], continues: bool) -> bool {
    let Some(first) = pins.iter().map(|pin| pin.i).min() else { return false };
    let held = held(app, id, first);
    change(app, &[id], continues, |wanted| {
        for pin in pins {
            wanted.pin(pin.clone());
        }
        let forced = wanted.beginning().iter().rposition(|force| !force.held);
        if forced.is_none_or(|forced| forced < first)
            && let Some(held) = &held
        {
            wanted.begin_with(held);
        }
    })
}

fn edit_row(app: &mut AppState, id: ColumnId, i: usize, edit: RowEdit) {
    let Some(column) = present(app, id) else { return };
    if edit == RowEdit::Free {
        let positions = rows::rows_of(column, &app.view.settings, i);
        change(app, &[id], false, |wanted| {
            for row in &positions {
                wanted.free(*row);
            }
            trim(wanted);
        });
        return;
    }
    match made(app, column, i, edit) {
        Ok(pins) => drop(pin(app, id, &pins, false)),
        Err(message) => app.notify(message, false),
    }
}

fn made(app: &AppState, column: &Column, i: usize, edit: RowEdit) -> Result<Vec<Pin>, &'static str> {
    let rows = rows::settable(column, &app.view.settings, i);
    if column.table.as_ref().is_some_and(|table| table.reading == Some(RowConvention::Head)) {
        return Err(tr!("Where a word comes from is no part of the search; show where the model looked to set alpha"));
    }
    if rows.is_empty() {
        return Err(tr!("This word has no row that can be set: it is read behind the end of the translation"));
    }
    let one = |row: usize| {
        let before = row_of(app, column, row).ok_or(tr!("This word has no row of alpha"))?;
        Ok(Pin { i: row, alpha: SetAlpha::Weights(edited(app, column, i, &before, edit)?) })
    };
    rows.into_iter().map(one).collect()
}

fn edit_rows(app: &mut AppState, id: ColumnId, edit: RowEdit) {
    let Some(column) = present(app, id) else { return };
    let words = column.table.as_deref().map_or(0, |table| table.target.len());
    let (mut pins, mut why) = (Vec::new(), None);
    for i in 0..words {
        match made(app, column, i, edit) {
            Ok(made) => pins.extend(made),
            Err(message) => why = why.or(Some(message)),
        }
    }
    match why {
        Some(message) if pins.is_empty() => app.notify(message, false),
        _ => drop(pin(app, id, &pins, false)),
    }
}

fn edited(app: &AppState, column: &Column, i: usize, row: &[f32], edit: RowEdit) -> Result<Vec<f32>, &'static str> {
    match edit {
        RowEdit::OneHot(j) => {
            let tokens =
                rows::source_tokens(column, &app.view.settings, j).ok_or(tr!("There is no such source word"))?;
            Ok(rows::on_these(row.len(), &tokens.collect::<Vec<_>>()))
        }
        RowEdit::Uniform => Ok(vec![1.0 / row.len().max(1) as f32; row.len()]),
        RowEdit::Reversed => Ok(row.iter().rev().copied().collect()),
        RowEdit::Permuted(seed) => Ok(rows::permuted(row, seed, i)),
        RowEdit::Like(other) => like(app, column, i, other),
        RowEdit::Links => {
            let is_of_aligner = app.view.settings.outlined(column.facts.as_ref()) == Outlined::Aligner;
            let links = column.table.as_deref().and_then(|table| table.links.as_ref()).filter(|_| is_of_aligner);
            let links = links.ok_or(tr!("The links of the statistical aligner are not shown; show them first"))?;
            let all = links.sure().iter().chain(links.possible()).filter(|link| link.target == i);
            let tokens = all.filter_map(|link| rows::source_tokens(column, &app.view.settings, link.source)).flatten();
            let tokens: Vec<usize> = tokens.collect();
            if tokens.is_empty() {
                return Err(tr!("The statistical aligner links this word with none"));
            }
            Ok(rows::on_these(row.len(), &tokens))
        }
        RowEdit::Gold => {
            let gold = app.gold().ok_or(tr!("No alignment by hand is known of this sentence"))?;
            let pieces = column.shown().and_then(|shown| shown.pieces.as_ref()).filter(|_| app.view.settings.pieces);
            let word = pieces.and_then(|pieces| pieces.target.iter().position(|word| word.contains(&i)));
            gold.row(column, word.unwrap_or(i))
        }
        RowEdit::Free => Ok(row.to_vec()),
    }
}

fn like(app: &AppState, column: &Column, i: usize, other: ColumnId) -> Result<Vec<f32>, &'static str> {
    const NONE: &str = id!("The other column has no alignment of this sentence");
    let other = present(app, other).filter(|other| other.source.text == column.source.text).ok_or(lang::text(NONE))?;
    let (here, there) =
        (column.table.as_deref().ok_or(lang::text(NONE))?, other.table.as_deref().ok_or(lang::text(NONE))?);
    let at = there.like_target(here, i).ok_or(tr!("The other column does not say this word"))?;
    let alpha = other.shown().and_then(|shown| shown.found.alpha.as_ref()).ok_or(lang::text(NONE))?;
    let rows = rows::rows_of(other, &app.view.settings, at);
    let first = rows.first().and_then(|row| alpha.get(*row)).ok_or(lang::text(NONE))?;
    // a word of several pieces has the mean of their rows, as where it is shown
    let mean = |j: usize| rows.iter().filter_map(|row| alpha.get(*row)?.get(j)).sum::<f32>() / rows.len() as f32;
    let mean: Vec<f32> = (0..first.len()).map(mean).collect();
    Ok(rows::carried(&other.source, &mean, &column.source))
}

fn mask(app: &mut AppState, id: ColumnId, j: usize, is_masked: bool, in_all: bool) {
    let table = present(app, id).and_then(|column| column.table.as_deref());
    let Some(bytes) = table.and_then(|table| Some(table.source.get(j)?.span.clone())) else { return };
    let place = Place::Bytes(bytes.clone());
    let ids = if in_all { all_beside(app, id) } else { vec![id] };
    change(app, &ids, false, |wanted| {
        wanted.mask.retain(|mask| *mask != place);
        if is_masked {
            let is_before = |mask: &Place| matches!(mask, Place::Bytes(other) if (other.start, other.end) < (bytes.start, bytes.end));
            let at = wanted.mask.iter().take_while(|mask| is_before(mask)).count();
            wanted.mask.insert(at, place.clone());
        }
    });
}

fn beginning(tokens: &[String], held: impl Fn(usize) -> bool) -> Vec<Force> {
    let word = |(i, token): (usize, &String)| Force { i, word: Word::Entry(token.clone()), held: held(i) };
    tokens.iter().enumerate().map(word).collect()
}

fn forbid(wanted: &mut Interventions, forbid: Forbid) {
    let is_it = |other: &Forbid| other.i == forbid.i && other.word.text() == forbid.word.text();
    if !wanted.forbid.iter().any(is_it) {
        wanted.forbid.push(forbid);
    }
}

/// At the beginning, words chosen after a forced word followed from it and are removed with it.
fn take(wanted: &mut Interventions, what: &TakenAway) {
    match what {
        TakenAway::Word(i) if *i < wanted.begun() => drop(wanted.force.drain(*i..wanted.begun())),
        TakenAway::Word(i) => wanted.force.retain(|force| force.i != *i),
        TakenAway::Ban(forbid) => wanted.forbid.retain(|other| other != forbid),
        TakenAway::Pin(i) => wanted.free(*i),
        TakenAway::Mask(place) => wanted.mask.retain(|mask| mask != place),
        TakenAway::Head(place) => wanted.leave_out.retain(|other| other != place),
        TakenAway::Temperature => wanted.temperature = None,
    }
    trim(wanted);
}

/// Words are held only as far as a forced word, a row or a ban after them needs it.
fn trim(wanted: &mut Interventions) {
    let start = wanted.beginning();
    let forced = start.iter().rposition(|force| !force.held).map_or(0, |at| at + 1);
    let rows = wanted.pin.iter().map(|pin| pin.i);
    let behind = rows.chain(wanted.forbid.iter().filter_map(|forbid| forbid.i)).max();
    let needed = forced.max(behind.unwrap_or(0)).min(start.len());
    wanted.force.drain(needed..wanted.begun());
}
