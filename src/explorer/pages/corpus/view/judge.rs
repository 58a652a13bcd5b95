//! Page Corpus, judging: a sentence and its translations, with keys and buttons for everything. The sentences are those
//! that are shown, or the tasks of a campaign; in a blind one letters stand for the systems.

use std::sync::Arc;

use egui::{
    Button, DragValue, Event, Frame, Key, Margin, Modifiers, ProgressBar, RichText, ScrollArea, Slider, Stroke,
    TextEdit, Ui,
};

use crate::jobs::corpus::thread::{CorpusRequest, Detail};
use crate::pages::corpus::judging_state::{DeskSheet, JudgingAction, JudgingKey};
use crate::pages::corpus::view::tints::{TintedSide, Tints};
use crate::pages::corpus::view::words::{Marked, Tint};
use crate::pages::corpus::view::{filter, judgement, marks};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::memory::CorpusMemory,
    corpus::view::memory::SchemeDraft, corpus::view::save::saving, shell::menu,
};
use crate::widgets::{labels, theme};
use corpus::export::out::ExportFormat;
use corpus::judgements::campaign::{Campaign, STAR, letter};
use corpus::judgements::judge::{Judgement, METRIC, MOST_RATING};
use engine::lang;
use engine::text::words::{letters_at, place_of};

/// Width of the fields of a plan, and of the slider of a rating, points.
const FIELD: (f32, f32) = (260.0, 180.0);
const DIGITS: [Key; 10] =
    [Key::Num0, Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];
/// Kinds of errors have these keys, in order.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LEGEND: &str = id!(
    "Up, Down: translation   Left, Right: word, with Shift more words, with Alt letters, with Ctrl words of the source   \
                      A letter, then a digit: mark of that kind and severity   -: missing there   .: no errors   \
                      Digits, Enter: rating (in stars a digit); Enter again: next   Backspace: takes back   =: what a metric marked   \
                      Page Up, Page Down: task   Ctrl+Z: undo"
);

/// What is judged where there is no campaign: what all systems say, rated and marked.
fn free(page: &CorpusPage) -> Campaign {
    let systems = page.corpus.systems.iter().map(|column| column.system.name.clone()).collect();
    Campaign { rates: true, systems, ..Campaign::default() }
}

pub fn judge_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let annotator = page.kept.annotator.clone();
    let desk = &mut window.local.of::<CorpusMemory>().desk;
    let campaign = if let Some(campaign) = &page.corpus.campaign {
        desk.sit(&annotator, campaign);
        Arc::clone(campaign)
    } else {
        (desk.tasks, desk.of) = (Arc::clone(&page.rows), None);
        Arc::new(free(page))
    };
    let is_done = |at: usize| page.has_judged(&campaign, at);
    let is_free = page.corpus.campaign.is_none();
    let tasks = Arc::clone(&desk.tasks);
    let place = page.selected.and_then(|at| tasks.iter().position(|task| *task as usize == at));
    if place.is_none() {
        let open = if is_free { None } else { desk.open_task(None, is_done) };
        if let Some(first) = open.or_else(|| tasks.first().map(|at| *at as usize)) {
            window.push(CorpusCommand::Select(Some(first)));
        }
    }
    bar_ui(ui, page, window);
    head_ui(ui, page, window, &campaign, (&tasks, place));
    if tasks.is_empty() {
        if !is_free {
            let all = campaign.annotators.join(", ");
            labels::note(ui, tr!("{annotator} has no tasks in this campaign; these have: {}.", all, annotator));
        }
        return;
    }
    listen(ui, page, window);
    let detail = page.detail.clone().filter(|detail| place.is_some() && Some(detail.at) == page.selected);
    let Some(detail) = detail else { return };
    window.local.of::<CorpusMemory>().desk.lay(detail.at);
    let own = page.said(detail.at, &annotator);
    let mut sheet = sheet(page, &campaign, &annotator, (&detail, own));
    handle_keys(page, window, &campaign, &mut sheet);
    sheet_ui(ui, page, window, &campaign, (&detail, &sheet));
    if !window.local.of::<CorpusMemory>().desk.waiting.is_empty() {
        // A button was clicked that a key stands for.
        ui.ctx().request_repaint();
    }
}

fn bar_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new(tr!("by")).color(theme::tokens(ui).weak));
        let name = window.local.of::<CorpusMemory>().annotator.get_or_insert_with(|| page.kept.annotator.clone());
        let field = ui.add(TextEdit::singleline(name).desired_width(80.0)).labelled_by(label.id);
        let field = field.on_hover_text(tr!("Whose judgements these are; each annotator's are kept apart"));
        if field.lost_focus() {
            let name = name.clone();
            window.push(CorpusCommand::SetAnnotator(name));
        }
        let agreement = ui.button(tr!("Agreement..."));
        if agreement.on_hover_text(tr!("How far two annotators agree, and where they differ")).clicked() {
            // The one who judges here comes first, if there is anything by that name.
            let mut names: Vec<String> = page.corpus.counts.annotators.keys().cloned().collect();
            names.sort_by_key(|name| (*name == METRIC, *name != page.kept.annotator));
            let mut names = names.into_iter();
            let pair = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
            window.push(CorpusRequest::Compare(Some(pair)));
        }
        let scheme = ui.button(tr!("Scheme of errors..."));
        if scheme.on_hover_text(tr!("Kinds of errors, and what each severity weighs")).clicked() {
            let draft = SchemeDraft::new(Arc::clone(&page.corpus.scheme));
            window.local.of::<CorpusMemory>().scheme = Some(draft);
        }
        if page.corpus.campaign.is_none() {
            filter::menu(tr!("Campaign...")).ui(ui, |ui| plan_ui(ui, page, window));
            return;
        }
        let tasks = ui.button(tr!("Save the tasks..."));
        if tasks.on_hover_text(tr!("Who judges which sentence, in which order, and what is done")).clicked() {
            let kind = ExportFormat::Tasks;
            window.ask(saving(kind).then(move |path| CorpusCommand::Save(kind, path)));
        }
        ui.menu_button(tr!("End the campaign"), |ui| {
            ui.label(tr!("What was judged stays"));
            window.push_on(&menu::entry(ui, tr!("Yes, end it")), CorpusRequest::Plan(None));
        });
    });
}

fn sheet<'a>(
    page: &'a CorpusPage, campaign: &'a Campaign, annotator: &str, (detail, own): (&'a Detail, Judgement),
) -> DeskSheet<'a> {
    let said = |name: &str| {
        let at = page.corpus.systems.iter().position(|column| column.system.name == name)?;
        Some(detail.outputs.get(at)?.as_ref()?.text.as_str())
    };
    let order = campaign.order(annotator, detail.at).into_iter();
    let names = order.filter_map(|n| campaign.systems.get(n)).map(String::as_str);
    let rows = names.filter_map(|name| Some((name, said(name)?))).collect();
    let others = page.judgements(detail.at).iter().filter(|(name, _)| is_metric(campaign, annotator, name));
    let suggested = others.flat_map(|(_, judgement)| &judgement.marks).collect();
    DeskSheet { at: detail.at, source: &detail.sentence.source, rules: page.corpus.rules, rows, own, suggested }
}

/// Whether marks are of nobody who judges here: what the others say is not seen.
fn is_metric(campaign: &Campaign, annotator: &str, name: &str) -> bool {
    name != annotator && !campaign.annotators.iter().any(|known| known == name)
}

fn head_ui(
    ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, campaign: &Campaign,
    (tasks, place): (&[u32], Option<usize>),
) {
    let is_free = page.corpus.campaign.is_none();
    let is_done = |at: usize| page.has_judged(campaign, at);
    let done = if is_free { 0 } else { tasks.iter().filter(|at| is_done(**at as usize)).count() };
    ui.horizontal_wrapped(|ui| {
        let task = place.map_or_else(String::new, |place| tr!("Task {} of {}, ", place + 1, tasks.len()));
        let title = match page.selected {
            Some(at) if is_free => tr!("Sentence {}", at + 1),
            _ if is_free => String::new(),
            _ => tr!("{task}{done} done", task, done),
        };
        ui.label(RichText::new(title).size(theme::TEXT_TITLE));
        let steps = if is_free {
            [(tr!("Previous sentence"), -1), (tr!("Next sentence"), 1)]
        } else {
            [(tr!("Previous task"), -1), (tr!("Next task"), 1)]
        };
        for (name, by) in steps {
            let next = place.and_then(|place| place.checked_add_signed(by)).and_then(|place| tasks.get(place));
            let button = ui.add_enabled(next.is_some(), Button::new(name));
            window.push_on(&button, CorpusCommand::Select(next.map(|at| *at as usize)));
        }
        if is_free {
            return;
        }
        let open = window.local.of::<CorpusMemory>().desk.open_task(page.selected, is_done);
        let button = ui.add_enabled(open.is_some(), Button::new(tr!("Next open task")));
        window.push_on(&button.on_disabled_hover_text(tr!("All tasks are done")), CorpusCommand::Select(open));
    });
    if !is_free {
        let share = done as f32 / tasks.len().max(1) as f32;
        let bar = ProgressBar::new(share).desired_height(theme::PROGRESS_HEIGHT).animate(false);
        ui.add(bar.fill(theme::tokens(ui).accent));
    }
}

fn desk_key(key: Key, modifiers: Modifiers) -> Option<JudgingKey> {
    if let (Key::ArrowRight | Key::ArrowLeft, by) = (key, if key == Key::ArrowRight { 1 } else { -1 }) {
        return Some(match (modifiers.command, modifiers.alt, modifiers.shift) {
            (true, _, true) => JudgingKey::SourceWider(by),
            (true, _, false) => JudgingKey::Source(by),
            (false, true, true) => JudgingKey::Letters(by),
            (false, true, false) => JudgingKey::LettersBefore(by),
            (false, false, true) => JudgingKey::Wider(by),
            (false, false, false) => JudgingKey::Words(by),
        });
    }
    if modifiers.any() {
        return None;
    }
    let simple = match key {
        Key::ArrowDown => JudgingKey::Row(1),
        Key::ArrowUp => JudgingKey::Row(-1),
        Key::PageDown => JudgingKey::Task(1),
        Key::PageUp => JudgingKey::Task(-1),
        Key::Enter => JudgingKey::Enter,
        Key::Minus => JudgingKey::Missing,
        Key::Period => JudgingKey::NoErrors,
        Key::Backspace | Key::Delete => JudgingKey::Back,
        Key::Equals => JudgingKey::TakeOver,
        _ => {
            if let Some(digit) = DIGITS.iter().position(|other| *other == key) {
                return Some(JudgingKey::Digit(digit as u8));
            }
            let name = key.name();
            return LETTERS.find(name).filter(|_| name.len() == 1).map(JudgingKey::Kind);
        }
    };
    Some(simple)
}

/// Notes the keys that were pressed, in their order, unless they are meant for something else.
fn listen(ui: &Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let ctx = ui.ctx();
    let is_elsewhere =
        ctx.text_edit_focused() || egui::Popup::is_any_open(ctx) || window.local.shared.sheet != Sheet::None;
    if is_elsewhere || page.compared.is_some() || window.local.of::<CorpusMemory>().scheme.is_some() {
        return;
    }
    let waiting = &mut window.local.of::<CorpusMemory>().desk.waiting;
    ui.input_mut(|input| {
        input.events.retain(|event| {
            let Event::Key { key, pressed: true, modifiers, .. } = event else { return true };
            let key = desk_key(*key, *modifiers);
            waiting.extend(key);
            key.is_none()
        });
    });
}

fn handle_keys(page: &CorpusPage, window: &mut Window<'_>, campaign: &Campaign, sheet: &mut DeskSheet<'_>) {
    let is_done = |at: usize| page.has_judged(campaign, at);
    let with = (campaign, &*page.corpus.scheme);
    for action in window.local.of::<CorpusMemory>().desk.handle_keys(sheet, with, is_done) {
        window.push(match action {
            JudgingAction::Rate(system, rating) => CorpusCommand::Rate(system, Some(rating)),
            JudgingAction::Mark(mark) => CorpusCommand::Mark(mark),
            JudgingAction::Unmark(number) => CorpusCommand::Unmark(number),
            JudgingAction::NoErrors(system) => CorpusCommand::NoErrors(system),
            JudgingAction::Select(at) => CorpusCommand::Select(Some(at)),
        });
    }
}

fn press(window: &mut Window<'_>, key: JudgingKey) {
    window.local.of::<CorpusMemory>().desk.waiting.push(key);
}

fn sheet_ui(
    ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, campaign: &Campaign,
    (detail, sheet): (&Detail, &DeskSheet<'_>),
) {
    let mut tints = Tints::of(ui, page, window, detail);
    let own = &page.kept.annotator;
    tints.seen.retain(|seen| seen.key.annotator == *own || is_metric(campaign, own, &seen.key.annotator));
    let is_free = page.corpus.campaign.is_none();
    ScrollArea::vertical().id_salt("corpus_judge").auto_shrink(false).show(ui, |ui| {
        source_ui(ui, window, sheet, &tints);
        let references = detail.sentence.references();
        if !references.is_empty() {
            egui::CollapsingHeader::new(tr!("Reference")).id_salt("judged_reference").show_unindented(ui, |ui| {
                for text in references {
                    labels::note(ui, text);
                }
            });
        }
        judgement::judged_ui(ui, page, window, detail, is_free);
        for n in 0..sheet.rows.len() {
            ui.add_space(theme::SPACE_2);
            row_ui(ui, page, window, campaign, (sheet, &tints), n);
        }
        // Names of systems stand in them.
        let stale = page.judgements(detail.at).iter().filter(|(name, _)| is_free || *name == own && !campaign.is_blind);
        for (annotator, judgement) in stale {
            for (n, stale) in judgement.stale.iter().enumerate() {
                let number = (annotator == own).then_some(judgement.marks.len() + n);
                marks::stale_ui(ui, window, (number, annotator), stale);
            }
        }
        labels::note(ui, lang::text(LEGEND));
    });
    let local = window.local.of::<CorpusMemory>();
    let next = local.over_mark.as_ref().or(local.mark.as_ref()).filter(|key| tints.has(key));
    if next != tints.shown.as_ref() {
        // The texts above were painted before.
        ui.ctx().request_repaint();
    }
}

/// The source, and its words once those of a translation are chosen: a mark may concern some of them.
fn source_ui(ui: &mut Ui, window: &mut Window<'_>, sheet: &DeskSheet<'_>, tints: &Tints) {
    let t = theme::tokens(ui);
    labels::caption(ui, tr!("Source"));
    let (mut set_off, said) = tints.on(sheet.source, TintedSide::Source);
    let desk = &window.local.of::<CorpusMemory>().desk;
    let (chosen, marks) = (desk.source, desk.target.0 < desk.target.1);
    let place = place_of(sheet.source, sheet.rules.source, chosen).filter(|_| chosen.0 < chosen.1);
    set_off.extend(place.map(|place| Tint { place, line: Stroke::NONE, ground: t.accent_soft }));
    let source = Marked::new(sheet.source, (&[], sheet.rules.source), theme::sentence(), (t.text, t.warm));
    source.with_tints(set_off, said).paragraph_ui(ui, ("judged source", sheet.at));
    if !marks {
        return;
    }
    labels::caption(ui, tr!("Which words of the source does it concern, if any?"));
    if let Some(n) = marks::clicked(ui, (sheet.source, sheet.rules.source), tr!("of the source"), chosen) {
        press(window, JudgingKey::ClickSource(n));
    }
}

fn row_ui(
    ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, campaign: &Campaign,
    (sheet, tints): (&DeskSheet<'_>, &Tints), n: usize,
) {
    let t = theme::tokens(ui);
    let (system, text) = sheet.rows[n];
    let name = if campaign.is_blind { letter(n) } else { system.to_owned() };
    let desk = &window.local.of::<CorpusMemory>().desk;
    let is_chosen = desk.row == n;
    let (target, letters) = (desk.target, desk.letters);
    let place = place_of(text, sheet.rules.target, target).filter(|_| is_chosen && target.0 < target.1);
    let ground = place.map(|place| letters.map_or_else(|| place.clone(), |letters| letters_at(text, &place, letters)));
    let frame = Frame::new().inner_margin(Margin::same(8)).corner_radius(theme::RADIUS);
    let frame = frame.stroke(Stroke::new(if is_chosen { 2.0 } else { 1.0 }, if is_chosen { t.accent } else { t.line }));
    let shown = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        row_head_ui(ui, window, campaign, sheet, (n, &name));
        let (mut set_off, said) = tints.on(text, TintedSide::System(system));
        set_off.extend(ground.map(|place| Tint { place, line: Stroke::NONE, ground: t.accent_soft }));
        let marked = Marked::new(text, (&[], sheet.rules.target), theme::sentence(), (t.text, t.warm));
        marked.with_tints(set_off, said).paragraph_ui(ui, ("judged", sheet.at, n));
        if is_chosen {
            labels::caption(ui, tr!("To mark an error, click its first and its last word"));
            if let Some(word) =
                marks::clicked(ui, (text, sheet.rules.target), &tr!("of {system}", system = name), target)
            {
                press(window, JudgingKey::Click(word));
            }
            kinds_ui(ui, page, window);
        }
        for seen in tints.seen.iter().filter(|seen| seen.mark.system == system) {
            marks::seen_ui(ui, page, window, (sheet, text, &name), (seen, tints));
        }
    });
    // Whoever judges by keys sees what is rated.
    let lies = (sheet.at, n);
    if is_chosen && window.local.of::<CorpusMemory>().judged.replace(lies) != Some(lies) {
        ui.scroll_to_rect(if n == 0 { ui.min_rect() } else { shown.response.rect }, None);
    }
}

fn row_head_ui(
    ui: &mut Ui, window: &mut Window<'_>, campaign: &Campaign, sheet: &DeskSheet<'_>, (n, name): (usize, &str),
) {
    let system = sheet.rows[n].0;
    let desk = &window.local.of::<CorpusMemory>().desk;
    let is_chosen = desk.row == n;
    let (typed, too_high) = (desk.typed.clone(), desk.is_too_high());
    let rating = sheet.own.ratings.get(system);
    let marks = sheet.own.marks.iter().filter(|mark| mark.system == system).count();
    ui.horizontal_wrapped(|ui| {
        let shown = if is_chosen && too_high {
            tr!("rating {typed}: 100 is the most (Backspace)", typed)
        } else if is_chosen && !typed.is_empty() {
            tr!("rating {typed}\u{2026}", typed)
        } else {
            rating.map_or_else(
                || if campaign.rates { tr!("not rated").to_owned() } else { String::new() },
                |rating| if campaign.in_stars { stars(*rating) } else { tr!("rating {rating}", rating) },
            )
        };
        let marks_text = match marks {
            0 if sheet.own.no_errors.contains(system) => tr!("no errors").to_owned(),
            0 => String::new(),
            count => tr!("{n} mark" | "{n} marks" % count),
        };
        let parts = [name.to_owned(), shown, marks_text];
        let head = parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(", ");
        if ui.selectable_label(is_chosen, RichText::new(&head).strong()).clicked() {
            window.local.of::<CorpusMemory>().desk.go_to(n);
        }
        if campaign.in_stars {
            let said = |star: u8| tr!("{} for {name}", stars(star * STAR), name);
            if let Some(star) = judgement::stars_ui(ui, rating.map_or(0, |rating| rating / STAR), said) {
                window.push(CorpusCommand::Rate(system.to_owned(), Some(star * STAR)));
            }
        } else if campaign.rates {
            rating_ui(ui, window, (system, name), rating.copied());
        }
        let button = Button::selectable(sheet.own.no_errors.contains(system), tr!("No errors"));
        let button = ui.add_enabled(marks == 0, button.frame_when_inactive(true));
        let about = tr!("Says that this translation was read and has none. One that nobody judged has no score");
        let button = button.on_hover_text(about).on_disabled_hover_text(tr!("Errors are marked in this translation"));
        if button.accessible_name(tr!("No errors in {name}", name)).clicked() {
            window.push(CorpusCommand::NoErrors(system.to_owned()));
        }
    });
}

fn stars(rating: u8) -> String {
    tr!("{n} star" | "{n} stars" % rating / STAR)
}

/// A rating by the mouse; what is dragged is kept when it is let go.
fn rating_ui(ui: &mut Ui, window: &mut Window<'_>, (system, name): (&str, &str), rating: Option<u8>) {
    let id = ui.scope_id().with(("rating", system));
    let mut value = ui.data(|data| data.get_temp::<u8>(id)).or(rating).unwrap_or(MOST_RATING / 2);
    ui.spacing_mut().slider_width = FIELD.1;
    let slider = ui.add(Slider::new(&mut value, 0..=MOST_RATING).show_value(false));
    let slider = slider.accessible_name(tr!("Rating of {name}", name));
    if slider.drag_stopped() || slider.changed() && !slider.dragged() {
        ui.data_mut(|data| data.remove_temp::<u8>(id));
        window.push(CorpusCommand::Rate(system.to_owned(), Some(value)));
    } else if slider.dragged() {
        ui.data_mut(|data| data.insert_temp(id, value));
    }
}

/// The kinds, each with its key; once one is chosen the severities, each with its digit.
fn kinds_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let scheme = &page.corpus.scheme;
    let desk = &window.local.of::<CorpusMemory>().desk;
    let (kind, is_missing) = (desk.kind, desk.is_missing);
    let small = |text: &str| RichText::new(text).size(theme::TEXT_SMALL);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        if let Some(kind) = kind.and_then(|kind| scheme.categories.get(kind)) {
            ui.label(small(&format!("{kind}:")).strong());
            for (n, severity) in (1..).zip(&scheme.severities) {
                let button = ui.button(small(&format!("{n} {}", severity.name)));
                if button.accessible_name(tr!("Mark as {}", severity.name)).clicked() {
                    press(window, JudgingKey::Digit(n));
                }
            }
            return;
        }
        for (n, kind) in scheme.categories.iter().enumerate() {
            let key = LETTERS.get(n..=n).map(|key| key.to_ascii_lowercase() + " ").unwrap_or_default();
            if ui.button(small(&format!("{key}{kind}"))).accessible_name(tr!("Error: {kind}", kind)).clicked() {
                press(window, JudgingKey::Kind(n));
            }
        }
        let missing = ui.add(Button::selectable(is_missing, small(tr!("Missing before"))).frame_when_inactive(true));
        if missing.on_hover_text(tr!("Words are missing before the first of these")).clicked() {
            press(window, JudgingKey::Missing);
        }
    });
}

fn plan_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    ui.heading(tr!("A campaign of human evaluation"));
    let note = tr!(
        "Annotators judge what all systems say of the sentences that are shown, in an order of their own, by mouse or keyboard. \
                Where it is blind, translations stand under letters in another order for each sentence."
    );
    labels::note(ui, note);
    let (names, plan) = window.local.of::<CorpusMemory>().plan.get_or_insert_with(|| {
        let first = Campaign { seed: 1, each: usize::MAX, is_blind: true, rates: true, ..Campaign::default() };
        (page.kept.annotator.clone(), Campaign { ratings_only: Some(false), ..first })
    });
    egui::Grid::new("corpus_plan").num_columns(2).show(ui, |ui| {
        let label = ui.label(tr!("Annotators, with commas between"));
        ui.add(TextEdit::singleline(names).desired_width(FIELD.0)).labelled_by(label.id);
        ui.end_row();
        let all = names.split(',').filter(|name| !name.trim().is_empty()).count().max(1);
        let label = ui.label(tr!("How many judge each sentence"));
        let mut each = plan.each.min(all);
        if ui.add(DragValue::new(&mut each).range(1..=all)).labelled_by(label.id).changed() {
            plan.each = each;
        }
        ui.end_row();
        let label = ui.label(tr!("Number that the orders are drawn with"));
        ui.add(DragValue::new(&mut plan.seed)).labelled_by(label.id);
        ui.end_row();
    });
    ui.checkbox(&mut plan.is_blind, tr!("Blind: letters in the place of names"));
    ui.checkbox(&mut plan.rates, tr!("A rating from 0 to 100 for each translation (ESA, DA); else errors alone (MQM)"));
    ui.add_enabled_ui(plan.rates, |ui| {
        ui.checkbox(&mut plan.in_stars, tr!("In one to five stars, which count 20 to 100"));
        ui.checkbox(
            plan.ratings_only.get_or_insert_default(),
            tr!("Ratings alone (DA): one without a mark does not say that there are no errors"),
        );
    });
    let count = tr!("{n} sentence" | "{n} sentences" % page.rows.len());
    if ui.button(tr!("Begin with the {count} shown", count)).clicked() {
        let annotators = names.split(',').map(str::to_owned).collect();
        let plan = Campaign { in_stars: plan.rates && plan.in_stars, annotators, ..plan.clone() };
        window.push(CorpusRequest::Plan(Some(Box::new(plan))));
    }
}
