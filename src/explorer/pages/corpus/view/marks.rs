//! Page Corpus, marks of errors: the words that they are of as chips, and each as a line.

use egui::{Button, RichText, ScrollArea, Ui};

use crate::pages::corpus::view::tints::{TintedWords, Tints, line};
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::judging_state::DeskSheet,
    corpus::view::memory::CorpusMemory, corpus::view::words::chips_ui, shell::local::Window,
};
use crate::widgets::{labels, theme};
use corpus::judgements::judge::{ErrorMark, StaleMark};
use engine::text::cut::WordRule;
use engine::text::words::{letters_at, place_of, words_of};

/// The words of a text as chips are no higher; those of a long one scroll, points.
const CHIPS: f32 = 112.0;

/// A mark as a line: while the mouse is over it, or once it was clicked, its words are shown in the texts.
pub fn seen_ui(
    ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, (sheet, text, name): (&DeskSheet<'_>, &str, &str),
    (seen, tints): (&TintedWords, &Tints),
) {
    let own = seen.key.annotator == page.kept.annotator;
    ui.horizontal(|ui| {
        if own {
            let take = labels::small_button(ui, "\u{d7}").on_hover_text(tr!("Takes the mark away"));
            if take.accessible_name(tr!("Take away mark {}", seen.key.number + 1)).clicked() {
                window.local.of::<CorpusMemory>().mark = None;
                window.push(CorpusCommand::Unmark(seen.key.number));
            }
        }
        let by = if own { String::new() } else { tr!(", by {}", seen.key.annotator) };
        let text = format!("{}{by}", label(&seen.mark, sheet, text, name));
        let colour = line(ui, &page.corpus.scheme, &seen.mark.severity).color;
        let is_chosen = window.local.of::<CorpusMemory>().mark.as_ref() == Some(&seen.key);
        let is_shown = tints.shown.as_ref() == Some(&seen.key);
        let button =
            Button::selectable(is_chosen || is_shown, RichText::new(&text).size(theme::TEXT_SMALL).color(colour));
        let button = ui.add(button.truncate());
        if button.hovered() || button.has_focus() {
            window.local.of::<CorpusMemory>().over_mark = Some(seen.key.clone());
        }
        if button.on_hover_text(&text).accessible_name(text).clicked() {
            window.local.of::<CorpusMemory>().mark = (!is_chosen).then(|| seen.key.clone());
        }
    });
}

/// A mark that is set apart: the system says something else now.
pub fn stale_ui(ui: &mut Ui, window: &mut Window<'_>, (own, annotator): (Option<usize>, &str), stale: &StaleMark) {
    ui.horizontal(|ui| {
        if let Some(number) = own {
            let take = labels::small_button(ui, "\u{d7}").on_hover_text(tr!("Takes the mark away"));
            if take.accessible_name(tr!("Take away mark {}", number + 1)).clicked() {
                window.push(CorpusCommand::Unmark(number));
            }
        }
        let by = if own.is_some() { String::new() } else { tr!(", by {annotator}", annotator) };
        let StaleMark { mark, words } = stale;
        let text = tr!("Set apart{by}: {words}: {}, {} ({})", mark.category, mark.severity, mark.system, by, words);
        let note = tr!("What was marked was replaced by another translation; the mark is kept and counts for nothing");
        let text = RichText::new(text).size(theme::TEXT_SMALL).color(theme::tokens(ui).weak);
        ui.add(egui::Label::new(text).truncate()).on_hover_text(note);
    });
}

fn label(mark: &ErrorMark, sheet: &DeskSheet<'_>, text: &str, name: &str) -> String {
    let place = place_of(text, sheet.rules.target, mark.target).unwrap_or(0..0);
    let place = mark.letters.map_or_else(|| place.clone(), |letters| letters_at(text, &place, letters));
    let said = if mark.target.0 == mark.target.1 { tr!("missing") } else { &text[place] };
    let source = words_of(sheet.source, sheet.rules.source, mark.source);
    let source = if source.is_empty() { String::new() } else { tr!(" for \u{201c}{source}\u{201d}", source) };
    format!("{said}{source}: {}, {} ({name})", mark.category, mark.severity)
}

/// Words as chips, those of a span chosen; answers with the one that was clicked.
pub fn clicked(ui: &mut Ui, (text, rule): (&str, WordRule), whose: &str, span: (usize, usize)) -> Option<usize> {
    let mut answer = None;
    let area = ScrollArea::vertical().id_salt(whose).max_height(CHIPS).auto_shrink([false, true]);
    let chips = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (n, word) in rule.words(text).into_iter().enumerate() {
            let is_within = (span.0..span.1).contains(&n);
            let button = egui::Button::selectable(is_within, RichText::new(word).size(theme::TEXT_SMALL));
            if ui.add(button).accessible_name(tr!("Word {} {whose}: {word}", n + 1, whose, word)).clicked() {
                answer = Some(n);
            }
        }
    };
    area.show(ui, |ui| chips_ui(ui, text, chips));
    answer
}
