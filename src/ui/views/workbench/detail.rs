//! Floor 10: page Corpus, the chosen sentence: all texts, the picture of a system, what people say of it.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, TextEdit, Ui, vec2};

use crate::session::WorkbenchCommand;
use crate::ui::local::Window;
use crate::ui::theme;
use crate::ui::views::workbench::words::Marked;
use crate::ui::views::workbench::{gold, marks, picture};
use crate::worker::keeper::Detail;
use crate::workspace::column::Column;
use crate::workspace::judge::MOST_STARS;
use crate::workspace::measures::MEASURES;

/// The chosen sentence.
pub fn detail_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let Some(detail) = window.session.workbench().detail.clone() else { return };
    ScrollArea::vertical().id_salt("corpus_detail").auto_shrink(false).show(ui, |ui| {
        head_ui(ui, window, &detail);
        texts_ui(ui, window, &detail);
        picture::picture_ui(ui, window);
        ui.separator();
        judged_ui(ui, window, &detail);
        ui.separator();
        marks::marks_ui(ui, window, &detail);
        ui.separator();
        gold::gold_ui(ui, window, &detail);
        ui.separator();
        numbers_ui(ui, window, &detail);
    });
}

fn head_ui(ui: &mut Ui, window: &mut Window<'_>, detail: &Detail) {
    let t = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("Sentence {}", detail.at + 1)).size(theme::TEXT_TITLE));
        if let Some(name) = &detail.sentence.name {
            ui.label(RichText::new(name).color(t.weak));
        }
        let open = ui.button("Open on page Sentence");
        if open
            .on_hover_text("Shows it live in every model, with its links by hand (double click on the row)")
            .clicked()
        {
            window.push(WorkbenchCommand::OpenSentence);
        }
        if ui.button("Close").on_hover_text("Gives the table all the room").clicked() {
            window.push(WorkbenchCommand::Select(None));
        }
    });
}

fn texts_ui(ui: &mut Ui, window: &Window<'_>, detail: &Detail) {
    let t = theme::tokens(ui);
    let line = |ui: &mut Ui, name: &str, text: &str, other: Option<&str>| {
        ui.label(RichText::new(name).size(theme::TEXT_SMALL).color(t.weak));
        Marked::new(text, other, theme::body(), (t.text, t.warm)).paragraph_ui(ui, ("corpus text", detail.at, name));
    };
    line(ui, "Source", &detail.sentence.source, None);
    let reference = detail.sentence.reference.as_deref();
    if let Some(reference) = reference {
        line(ui, "Reference", reference, None);
    }
    let systems = &window.session.workbench().corpus.systems;
    for (column, output) in systems.iter().zip(&detail.outputs) {
        let Some(output) = output else { continue };
        line(ui, &column.system.name, &output.text, reference);
    }
}

fn judged_ui(ui: &mut Ui, window: &mut Window<'_>, detail: &Arc<Detail>) {
    let t = theme::tokens(ui);
    let workbench = window.session.workbench();
    let judgement = workbench.judgement();
    ui.horizontal_wrapped(|ui| {
        for star in 1..=MOST_STARS {
            let sign = if star <= judgement.stars { "\u{2605}" } else { "\u{2606}" };
            let button = egui::Button::new(RichText::new(sign).color(t.accent)).frame(false);
            let button = ui.add(button);
            let name = if star == 1 { "1 star".to_owned() } else { format!("{star} stars") };
            if button.on_hover_text(&name).accessible_name(name.clone()).clicked() {
                window.push(WorkbenchCommand::Star(star));
            }
        }
        let label = ui.label(RichText::new("by").color(t.weak));
        let name = window.local.workbench.annotator.get_or_insert_with(|| workbench.annotator.clone());
        let field = ui.add(TextEdit::singleline(name).desired_width(80.0)).labelled_by(label.id);
        let field = field.on_hover_text("Whose judgements these are; each annotator's are kept apart");
        if field.lost_focus() {
            let name = name.clone();
            window.push(WorkbenchCommand::SetAnnotator(name));
        }
    });
    ui.horizontal_wrapped(|ui| {
        for tag in &judgement.tags {
            let chip = ui.button(format!("{tag} \u{d7}"));
            if chip.on_hover_text("Takes the tag away").accessible_name(format!("Take away tag {tag}")).clicked() {
                window.push(WorkbenchCommand::Tag(tag.clone()));
            }
        }
        let label = ui.label("Tag");
        let field = TextEdit::singleline(&mut window.local.workbench.tag).desired_width(110.0).hint_text("new tag");
        let field = ui.add(field).labelled_by(label.id);
        if field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
            let tag = std::mem::take(&mut window.local.workbench.tag);
            window.push(WorkbenchCommand::Tag(tag));
            field.request_focus();
        }
    });
    note_ui(ui, window, detail, &judgement.note);
    for (annotator, other) in detail.judgements.iter().filter(|(name, _)| **name != workbench.annotator) {
        let tags: Vec<&str> = other.tags.iter().map(String::as_str).collect();
        let stars = "\u{2605}".repeat(usize::from(other.stars));
        let text = format!("{annotator}: {stars} {} {}", tags.join(", "), other.note);
        ui.add(Label::new(RichText::new(text).size(theme::TEXT_SMALL).color(t.weak)).wrap());
    }
}

/// The note is kept when the field is left, also by choosing another sentence.
fn note_ui(ui: &mut Ui, window: &mut Window<'_>, detail: &Detail, note: &str) {
    let workbench = window.session.workbench();
    let of = (detail.at, workbench.annotator.clone());
    let local = &mut window.local.workbench;
    let is_other = local.noted.as_ref() != Some(&of);
    if is_other {
        keep(window, workbench.path.is_some());
        let local = &mut window.local.workbench;
        local.noted = Some(of);
        note.clone_into(&mut local.note);
        local.is_noting = false;
    }
    let local = &mut window.local.workbench;
    if !local.is_noting {
        note.clone_into(&mut local.note);
    }
    let label = ui.label("Note");
    let field = TextEdit::multiline(&mut local.note).desired_rows(2).desired_width(f32::INFINITY);
    let field = ui.add(field).labelled_by(label.id);
    local.is_noting |= field.changed();
    if field.lost_focus() {
        keep(window, true);
    }
}

/// Keeps what was typed.
fn keep(window: &mut Window<'_>, is_open: bool) {
    let local = &mut window.local.workbench;
    if !std::mem::take(&mut local.is_noting) || !is_open {
        return;
    }
    if let Some((at, annotator)) = local.noted.clone() {
        let note = local.note.clone();
        window.push(WorkbenchCommand::Note { at, annotator, note });
    }
}

fn numbers_ui(ui: &mut Ui, window: &Window<'_>, detail: &Detail) {
    let t = theme::tokens(ui);
    let corpus = &window.session.workbench().corpus;
    if corpus.systems.is_empty() {
        return;
    }
    ScrollArea::horizontal().id_salt("corpus_numbers").show(ui, |ui| {
        egui::Grid::new("numbers").striped(true).spacing(vec2(theme::SPACE_3, 2.0)).show(ui, |ui| {
            ui.label("");
            for at in 0..corpus.systems.len() {
                ui.label(RichText::new(format!("{}.", at + 1)).color(t.weak))
                    .on_hover_text(&corpus.systems[at].system.name);
            }
            ui.end_row();
            for (at, measure) in MEASURES.iter().enumerate() {
                ui.label(RichText::new(measure.title).size(theme::TEXT_SMALL)).on_hover_text(measure.about);
                for system in 0..corpus.systems.len() {
                    let column = Column::Output(at, system);
                    let text = column.text(column.value(corpus, detail.at));
                    ui.label(RichText::new(text).size(theme::TEXT_SMALL));
                }
                ui.end_row();
            }
        });
    });
}
