//! Page Corpus, what an annotator says of a sentence as a whole: stars, tags, a note.

use egui::{RichText, TextEdit, Ui};

use crate::jobs::corpus::thread::Detail;
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::memory::CorpusMemory, shell::local::Window,
};
use crate::widgets::{labels, theme};
use corpus::judgements::judge::MOST_STARS;

/// Stars of which so many are given; which of them is clicked.
pub fn stars_ui(ui: &mut Ui, given: u8, name: impl Fn(u8) -> String) -> Option<u8> {
    let mut clicked = None;
    for star in 1..=MOST_STARS {
        let sign = RichText::new(if star <= given { "\u{2605}" } else { "\u{2606}" }).color(theme::tokens(ui).accent);
        let button = ui.add(labels::for_finger(egui::Button::new(sign).frame(false))).on_hover_text(name(star));
        if button.accessible_name(name(star)).clicked() {
            clicked = Some(star);
        }
    }
    clicked
}

/// Stars, tags and a note of the sentence; what the others say of it where that may be seen.
pub fn judged_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, detail: &Detail, sees_others: bool) {
    let judgement = page.judgement();
    ui.horizontal_wrapped(|ui| {
        if let Some(star) = stars_ui(ui, judgement.stars, |star| tr!("{n} star" | "{n} stars" % star)) {
            window.push(CorpusCommand::Star(star));
        }
        for tag in &judgement.tags {
            let chip = ui.button(format!("{tag} \u{d7}"));
            if chip.on_hover_text(tr!("Takes the tag away")).accessible_name(tr!("Take away tag {tag}", tag)).clicked()
            {
                window.push(CorpusCommand::Tag(tag.clone()));
            }
        }
        let label = ui.label(tr!("Tag"));
        let field = TextEdit::singleline(&mut window.local.of::<CorpusMemory>().tag)
            .desired_width(110.0)
            .hint_text(tr!("new tag"));
        let field = ui.add(field).labelled_by(label.id);
        if field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
            let tag = std::mem::take(&mut window.local.of::<CorpusMemory>().tag);
            window.push(CorpusCommand::Tag(tag));
            field.request_focus();
        }
    });
    note_ui(ui, page, window, detail, &judgement.note);
    let is_seen = |name: &String| sees_others && *name != page.kept.annotator;
    for (annotator, other) in page.judgements(detail.at).iter().filter(|(name, _)| is_seen(name)) {
        let tags: Vec<&str> = other.tags.iter().map(String::as_str).collect();
        let stars = "\u{2605}".repeat(usize::from(other.stars));
        let clean: Vec<&str> = other.no_errors.iter().map(String::as_str).collect();
        let clean = if clean.is_empty() { String::new() } else { tr!("no errors in {}", clean.join(", ")) };
        let rated: Vec<String> =
            other.ratings.iter().map(|(name, rating)| tr!("{name} rated {rating}", name, rating)).collect();
        let parts = [stars, tags.join(", "), other.note.clone(), clean, rated.join(", ")];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        // Marks stand with the others below.
        if parts.is_empty() {
            continue;
        }
        let text = format!("{annotator}: {}", parts.join("; "));
        labels::note(ui, text);
    }
}

/// How long a note is typed before it is kept, seconds.
const PAUSE: f64 = 0.5;

/// The note is kept while it is typed, and when the field is left, also by choosing another sentence.
fn note_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, detail: &Detail, note: &str) {
    let of = (detail.at, page.kept.annotator.clone());
    let local = window.local.of::<CorpusMemory>();
    let is_other = local.note.of.as_ref() != Some(&of);
    if is_other {
        keep(window, page.path.is_some());
        let local = window.local.of::<CorpusMemory>();
        local.note.of = Some(of);
        note.clone_into(&mut local.note.text);
        local.note.is_typed = false;
    }
    let local = window.local.of::<CorpusMemory>();
    if !local.note.is_typed {
        note.clone_into(&mut local.note.text);
    }
    let field = ui.horizontal(|ui| {
        let label = ui.label(tr!("Note"));
        let field = TextEdit::multiline(&mut local.note.text).desired_rows(1).desired_width(f32::INFINITY);
        ui.add(field).labelled_by(label.id)
    });
    let field = field.inner;
    let now = ui.input(|input| input.time);
    if field.changed() {
        local.note.is_typed = true;
        local.note.due.get_or_insert(now + PAUSE);
    }
    let due = local.note.due;
    if field.lost_focus() {
        local.note.is_typed = false;
        keep(window, true);
    } else if let Some(due) = due {
        if now >= due {
            keep(window, true);
        } else {
            ui.ctx().request_repaint_after_secs((due - now) as f32);
        }
    }
}

pub fn keep(window: &mut Window<'_>, is_open: bool) {
    let local = window.local.of::<CorpusMemory>();
    if local.note.due.take().is_none() || !is_open {
        return;
    }
    if let Some((at, annotator)) = local.note.of.clone() {
        let note = local.note.text.clone();
        window.push(CorpusCommand::Note { at, annotator, note });
    }
}
