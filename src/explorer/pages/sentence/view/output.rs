//! A model's translation as words: warm where it doubts, underlined where outputs differ.

use egui::{Button, Id, RichText, Ui};

use crate::app::{document::column::Column, document::table::AlignmentTable, view::Hover};
use crate::pages::sentence::view::{alignment, variant};
use crate::pages::{
    sentence::command::SelectCommand, sentence::view::memory::SentenceMemory, shell::clicked::MenuTarget,
    shell::local::Window,
};
use crate::widgets::heatmap::HeatmapMarks;
use crate::widgets::{bidi, labels, theme, words};
use engine::interventions::Said;
use engine::lang;

pub fn output_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let (Some(own), given) = column.both() else {
        window.local.of::<SentenceMemory>().output_heights.remove(&column.id);
        return;
    };
    let area = egui::ScrollArea::vertical().id_salt("output").auto_shrink([false, true]);
    let output = area.show(ui, |ui| {
        if given.is_some() {
            caption_ui(ui, window, column, own, tr!("Its own   log p {}", format_args!("{:.2}", own.log_p)));
        }
        words_ui(ui, window, column, own);
        if let Some(given) = given {
            caption_ui(ui, window, column, given, given_caption(own, given));
            words_ui(ui, window, column, given);
        } else if let Some(Err(message)) = &column.given.view {
            ui.add(egui::Label::new(RichText::new(message).color(theme::tokens(ui).error)).wrap());
        }
    });
    window.local.of::<SentenceMemory>().output_heights.insert(column.id, output.content_size.y);
}

fn given_caption(own: &AlignmentTable, given: &AlignmentTable) -> String {
    let by = own.log_p - given.log_p;
    let beside = if by.abs() < 0.005 {
        tr!("as its own").to_owned()
    } else if by < 0.0 {
        tr!("{} above", format_args!("{:.2}", -by))
    } else {
        tr!("{by} below", by = format_args!("{by:.2}"))
    };
    let unknown = given.target.iter().filter(|word| word.is_unk).count();
    let unknown = if unknown > 0 { tr!(", {unknown} unknown", unknown) } else { String::new() };
    tr!("Yours, not the model's   log p {}, {beside}{unknown}", format_args!("{:.2}", given.log_p), beside, unknown)
}

const SWITCH: &str = id!("Shows the alignment of this translation");
const MISSED: &str = id!("The model finds this translation more probable than its own, which its search has not found");
const UNKNOWN: &str = id!("Words that are not in the vocabulary are read as [UNK]");

fn caption_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable, text: String) {
    let t = theme::tokens(ui);
    let (is_shown, colour) = (is_shown(column, table), if table.is_given { t.warm } else { t.weak });
    let button = Button::selectable(is_shown, RichText::new(text).size(theme::TEXT_SMALL).color(colour)).truncate();
    let mut note = lang::text(SWITCH).to_owned();
    let own = column.both().0.map_or(f32::INFINITY, |own| own.log_p);
    for (says, sentence) in [
        (table.is_given && table.log_p > own, lang::text(MISSED)),
        (table.is_given && table.target.iter().any(|word| word.is_unk), lang::text(UNKNOWN)),
    ] {
        if says {
            note = format!("{note}. {sentence}");
        }
    }
    window.push_if(ui.add(button).on_hover_text(note).clicked(), SelectCommand::ShowGiven(table.is_given));
}

fn is_shown(column: &Column, table: &AlignmentTable) -> bool {
    column.table.as_ref().is_some_and(|shown| shown.is_given == table.is_given)
}

fn words_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable) {
    let t = theme::tokens(ui);
    let is_shown = is_shown(column, table);
    let marks = if is_shown { alignment::marks(window.app, column) } else { HeatmapMarks::default() };
    let replace = window.app.replaces(column) && !table.is_given;
    let whose = if table.is_given { tr!("Yours, ") } else { "" };
    let list: Vec<words::FlowWord> = table
        .target
        .iter()
        .enumerate()
        .map(|(i, word)| words::FlowWord {
            text: labels::target_text(word, replace),
            label: tr!(
                "{whose}{} probability {}{}{}",
                labels::target_text(word, replace),
                format_args!("{:.2}", word.probability),
                word.set_text(),
                if is_shown { variant::moved_text(window, column, i) } else { String::new() },
                whose
            ),
            back: theme::doubt(t, word.log_p),
            colour: if word.is_eos { t.weak } else { t.text },
            is_over: marks.row == Some(i),
            is_selected: marks.selected == Some(i),
            differs: word.differs && is_shown,
            said: word.said,
        })
        .collect();
    let from_right = bidi::starts_right(&table.text);
    let id = Id::unique((if table.is_given { "given" } else { "output" }, column.id));
    let asked = match window.local.shared.asked {
        // the heatmap has the place of a cell
        Some(MenuTarget::Target { column: of, i }) if of == column.id && is_shown => Some(i),
        _ => None,
    };
    let (font, picked) = (theme::output(), window.picked(id, &table.text));
    let flow = words::Flow { id, font: &font, from_right, picked, asked };
    let answer = words::flow(ui, &flow, &list, |i| tooltip(window, column, table, i));
    if let Some(range) = answer.picked {
        let target: Vec<String> =
            table.target.iter().filter(|word| !word.is_eos).map(|word| labels::target_text(word, replace)).collect();
        let target: Vec<&str> = target.iter().map(String::as_str).collect();
        window.pick(ui, id, &table.text, &target, range);
    }
    if (answer.clicked.is_some() || answer.menu.is_some()) && !is_shown {
        window.push(SelectCommand::ShowGiven(table.is_given));
    }
    if let Some((i, at)) = answer.menu {
        window.offer_at(MenuTarget::Target { column: column.id, i }, at);
    }
    if let Some(i) = answer.over.filter(|_| is_shown) {
        window.local.shared.hover = Some(Hover { column: column.id, i: Some(i), j: None });
    }
    if let Some(i) = answer.clicked {
        window.push(SelectCommand::Target { column: column.id, i });
    }
}

fn tooltip(window: &Window<'_>, column: &Column, table: &AlignmentTable, i: usize) -> String {
    let Some(word) = table.target.get(i) else { return String::new() };
    let mut text = tr!(
        "{}, p {}, log p {}",
        word.text,
        format_args!("{:.3}", word.probability),
        format_args!("{:.2}", word.log_p)
    );
    if let Some(typed) = &word.replaced {
        if table.is_given {
            text.push_str(&tr!("; \"{typed}\" is a word that this model does not know", typed));
        } else {
            text.push_str(&tr!("; the source word of greatest alpha is \"{typed}\"", typed));
        }
    }
    match word.said {
        Said::Free => {}
        Said::Held => text.push_str(tr!("; held, because something behind it was changed")),
        Said::Forced => text.push_str(tr!("; forced, the model did not choose it")),
    }
    if word.is_pinned {
        text.push_str(tr!("; its alpha was set by hand"));
    }
    if word.differs {
        let original = tr!("; not in the original's translation");
        text.push_str(if column.variant.is_some() { original } else { tr!("; not in every output") });
    }
    text.push_str(&variant::moved_text(window, column, i));
    text
}
