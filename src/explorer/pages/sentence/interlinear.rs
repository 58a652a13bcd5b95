//! The sentence as interlinear text: its rows, the lines typed under them, and its files.

use std::{path::Path, sync::Arc};

use crate::app::document::interlinear::{InterlinearPlan, RowChoice, TextRow};
use crate::app::{
    document::column::file_name, document::history::TypedIn, files::interlinear, files::work::FileJob, state::AppState,
};
use crate::pages::sentence::command::{InterlinearCommand, TierEdit};
use engine::lang;
use engine::text::words::visible;
use figure::interlinear::conllu;
use figure::interlinear::{GLOSS_FORMATS, GlossTier, GlossedSentence};

/// Columns of CoNLL-U that belong to a dependency tree, which is not shown.
const OF_TREES: [&str; 3] = ["head", "relation", "enhanced"];
const LONGEST: usize = 200;

pub(super) fn arrange(app: &mut AppState, command: InterlinearCommand) {
    let mut plan = (*app.document.state.interlinear).clone();
    match command {
        InterlinearCommand::Move(row, by) => {
            plan.rows = moved(app, &row, by);
        }
        InterlinearCommand::Show(row, is_shown) => {
            choose(app, &mut plan, &row, |choice| choice.is_hidden = !is_shown);
        }
        InterlinearCommand::Links(row, by) => choose(app, &mut plan, &row, |choice| choice.links = Some(by)),
        InterlinearCommand::Threshold(threshold) => {
            // a look, and no step of undo
            plan.threshold = threshold.clamp(0.0, 1.0);
            app.document.state.interlinear = Arc::new(plan);
            return app.changed();
        }
        InterlinearCommand::Add { under, name, is_gloss } => {
            let name = plan.free_name(&under, &name);
            plan.tier(&under, &name).is_gloss = is_gloss;
        }
        InterlinearCommand::Tier(at, edit) => edit_tier(&mut plan, at, edit),
        InterlinearCommand::Type { tier, words, j, text } => return type_cell(app, plan, (tier, j), &words, &text),
        InterlinearCommand::Open(path) => return app.tasks.chore(FileJob::ReadAnnotated(path)),
        InterlinearCommand::Save { format, path } => return save(app, format, &path),
    }
    put(app, plan);
}

fn put(app: &mut AppState, plan: InterlinearPlan) {
    if *app.document.state.interlinear != plan {
        app.document.history.replaced(app.document.state.clone());
        app.document.state.interlinear = Arc::new(plan);
        app.changed();
    }
}

fn choose(app: &AppState, plan: &mut InterlinearPlan, row: &TextRow, change: impl FnOnce(&mut RowChoice)) {
    plan.rows = interlinear::choices(app);
    if let Some(choice) = plan.rows.iter_mut().find(|choice| choice.row == *row) {
        change(choice);
    }
}

fn moved(app: &AppState, row: &TextRow, by: isize) -> Vec<RowChoice> {
    let mut all = interlinear::choices(app);
    let shown: Vec<TextRow> = interlinear::rows(app).into_iter().skip(1).map(|shown| shown.row).collect();
    let other = shown.iter().position(|shown| shown == row).and_then(|at| shown.get(at.checked_add_signed(by)?));
    let place = |wanted: &TextRow| all.iter().position(|choice| choice.row == *wanted);
    if let (Some(from), Some(to)) = (place(row), other.and_then(place)) {
        all.swap(from, to);
    }
    all
}

fn edit_tier(plan: &mut InterlinearPlan, at: usize, edit: TierEdit) {
    let Some(under) = plan.tiers.get(at).map(|tier| tier.under.clone()) else { return };
    match edit {
        TierEdit::Name(name) => {
            let is_new = !name.trim().is_empty() && plan.tiers[at].name != name.trim();
            if is_new {
                plan.tiers[at].name = plan.free_name(&under, name.trim());
            }
        }
        TierEdit::Gloss(is_gloss) => plan.tiers[at].is_gloss = is_gloss,
        TierEdit::Move(by) => {
            let own: Vec<usize> = (0..plan.tiers.len()).filter(|other| plan.tiers[*other].under == under).collect();
            let other = own.iter().position(|own| *own == at).and_then(|n| own.get(n.checked_add_signed(by)?));
            if let Some(other) = other {
                plan.tiers.swap(at, *other);
            }
        }
        TierEdit::Remove => drop(plan.tiers.remove(at)),
    }
}

fn type_cell(app: &mut AppState, mut plan: InterlinearPlan, (at, j): (usize, usize), words: &[String], text: &str) {
    let Some(tier) = plan.tiers.get_mut(at) else { return };
    let mut cells = tier.cells(words);
    let Some(cell) = cells.get_mut(j) else { return };
    let before = std::mem::replace(cell, text.chars().take(LONGEST).collect());
    if before == *cell {
        return;
    }
    app.document.history.typed(TypedIn::Cell(at, j), app.document.state.clone(), &before, cell);
    tier.set(words, cells);
    app.document.state.interlinear = Arc::new(plan);
    app.changed();
}

fn save(app: &mut AppState, format: &str, path: &Path) {
    let sentences = lang::in_english(|| interlinear::sentences(app));
    let text = GLOSS_FORMATS.iter().find(|one| one.name == format);
    let ending = text.map_or(format, |format| format.ending);
    let path = if path.extension().is_some() { path.to_owned() } else { path.with_extension(ending) };
    match text {
        _ if sentences.is_empty() => app.notify(tr!("There is no text to save"), true),
        Some(format) => app.tasks.chore(FileJob::Write { path, text: format.file(&sentences) }),
        None => match interlinear::picture(app, &sentences) {
            Ok(figure) => app.tasks.chore(FileJob::WriteFigure { path, figure: Arc::new(figure) }),
            Err(why) => app.notify(why.to_string(), true),
        },
    }
}

/// Fills the lines of the sentence that is shown, else of the first. Other word boundaries replace the sentence.
pub(super) fn annotate(app: &mut AppState, path: &Path, sentences: &[GlossedSentence]) {
    let source = app.document.source().to_owned();
    let is_shown = |sentence: &&GlossedSentence| {
        let of = |text: &str| visible(text).eq(visible(&source));
        of(&sentence.words.concat()) || of(&sentence.text())
    };
    let Some(found) = sentences.iter().find(is_shown).or(sentences.first()) else {
        return app.notify(tr!("{} has no sentence", path.display()), true);
    };
    // No-break spaces do not part words, as the spaces in a form of the file would.
    let own: Vec<String> = found.words.iter().map(|word| word.replace(' ', "\u{a0}")).collect();
    let mut plan = (*app.document.state.interlinear).clone();
    // A model that is open says its words itself.
    let live = interlinear::choices(app);
    let is_live = |name: &str| {
        live.iter().any(|choice| matches!(&choice.row, TextRow::Model(model) if conllu::misc_name(model) == name))
    };
    let is_kept = |tier: &&GlossTier| !OF_TREES.contains(&tier.name.as_str()) && !is_live(&tier.name);
    let tiers: Vec<&GlossTier> = found.tiers.iter().filter(is_kept).collect();
    for tier in &tiers {
        plan.tier(&TextRow::Source, &tier.name).set(&own, tier.cells.clone());
    }
    let text = own.join(" ");
    if text == source || interlinear::rows(app).first().is_some_and(|sentence| sentence.words == own) {
        put(app, plan);
    } else {
        // both are one step of undo
        app.replace_source(text, None);
        app.document.state.interlinear = Arc::new(plan);
        app.changed();
    }
    let (count, name) = (tiers.len(), file_name(path));
    let at = sentences.iter().position(|sentence| std::ptr::eq(sentence, found)).unwrap_or(0) + 1;
    let mut notice =
        tr!("{n} line of {name} stands under the words" | "{n} lines of {name} stand under the words" % count, name);
    if sentences.len() > 1 {
        notice += &tr!("; it has {} sentences, of which this is number {at}", sentences.len(), at);
    }
    app.notify(notice, false);
}

pub(super) fn ask_aligner(app: &mut AppState) {
    if !app.document.state.interlinear.asks_aligner() {
        return;
    }
    for at in 0..app.document.columns.len() {
        let column = &app.document.columns[at];
        if column.links.is_some() || column.request.links_question.is_some() {
            continue;
        }
        if column.shown().and_then(|shown| column.question(shown, &app.view.settings)).is_some() {
            app.ask_links(at);
        }
    }
}
