//! Page Corpus, two annotators compared: a sheet with their agreement and the sentences where they differ.

use egui::{ComboBox, Label, RichText, ScrollArea, Ui, vec2};

use crate::pages::corpus::views::{ExploreCommand, ExploreView};
use crate::pages::corpus::{Compared, CorpusPage};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{corpus::command::CorpusCommand, corpus::judging::condition, shell::dialogs::IMPORT};
use crate::widgets::{labels, theme};
use crate::{jobs::corpus::thread::CorpusRequest, pages::shell::sheet};
use corpus::judgements::agreement::{Agreement, Aspect};
use engine::lang;

/// Width of the sheet, points, and the height of a sentence in its list.
const SIZE: (f32, f32) = (640.0, 24.0);
/// What stands above the lists, between them, and around the sheet, points.
const FIXED: f32 = 280.0;

pub fn agreement_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let Some(Compared { pair, agreement }) = page.compared.clone().filter(|_| window.local.shared.sheet == Sheet::None)
    else {
        return;
    };
    let response = sheet::modal(ui, "agreement_sheet", SIZE.0, |ui, room| {
        let closes = ui.horizontal(|ui| {
            ui.heading(tr!("Agreement of two annotators"));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| ui.button(tr!("Done")).clicked())
                .inner
        });
        pair_ui(ui, page, window, &pair);
        ui.separator();
        if let Some(agreement) = agreement {
            let height = ((room.y - FIXED) / 2.0).max(100.0);
            numbers_ui(ui, &agreement, height);
            differing_ui(ui, page, window, &agreement, height);
        } else {
            let note =
                tr!("Two annotators are needed. Judge sentences under another name, or bring in the judgements of \
                            another: those that Save wrote in another copy of this corpus.");
            ui.add(Label::new(RichText::new(note).color(theme::tokens(ui).weak)).wrap());
        }
        closes.inner
    });
    window.push_if(response.inner || response.should_close(), CorpusRequest::Compare(None));
}

fn pair_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, pair: &(String, String)) {
    let annotators = page.corpus.counts.annotators.clone();
    ui.horizontal_wrapped(|ui| {
        let mut next = pair.clone();
        for (name, chosen) in [(tr!("First annotator"), &mut next.0), (tr!("Second annotator"), &mut next.1)] {
            let combo = ComboBox::from_id_salt(name).selected_text(chosen.clone()).show_ui(ui, |ui| {
                for (annotator, count) in &annotators {
                    let text = format!("{annotator} ({})", tr!("{n} sentence" | "{n} sentences" % *count));
                    ui.selectable_value(chosen, annotator.clone(), text);
                }
            });
            combo.response.accessible_name(name);
        }
        window.push_if(next != *pair, CorpusRequest::Compare(Some(next)));
        window.ask_on(&ui.button(tr!("Bring in judgements...")), IMPORT, CorpusCommand::Import);
    });
}

/// A list that grows with what is in it; a sheet would keep the height that it had before.
fn list(name: &str, height: f32) -> ScrollArea {
    let area = ScrollArea::vertical().id_salt(name).max_height(height).min_scrolled_height(height);
    area.auto_shrink([false, true])
}

fn numbers_ui(ui: &mut Ui, agreement: &Agreement, height: f32) {
    ui.label(tr!("Both judged {n} sentence" | "Both judged {n} sentences" % agreement.both));
    let small = |ui: &mut Ui, text: String| {
        ui.label(RichText::new(text).size(theme::TEXT_SMALL));
    };
    let grid = egui::Grid::new("agreement").striped(true).spacing(vec2(theme::SPACE_3, 3.0));
    list("agreed", height).show(ui, |ui| {
        grid.show(ui, |ui| {
            for head in ["", tr!("same"), tr!("of"), tr!("kappa"), ""] {
                labels::caption(ui, head);
            }
            ui.end_row();
            for line in &agreement.lines {
                small(ui, lang::text(&line.name).to_owned());
                match line.kappa {
                    Some(kappa) => {
                        small(ui, format!("{:.1} %", 100.0 * kappa.observed));
                        small(ui, format!("{} {}", kappa.items, lang::text(line.of)));
                        small(
                            ui,
                            kappa.kappa.map_or_else(|| tr!("all the same").to_owned(), |kappa| format!("{kappa:.3}")),
                        );
                    }
                    None => {
                        (0..3).for_each(|n| small(ui, if n == 1 { tr!("nothing").to_owned() } else { String::new() }));
                    }
                }
                let more: Vec<String> =
                    line.more.iter().map(|(name, number)| format!("{} {number:.3}", lang::text(name))).collect();
                small(ui, more.join(", "));
                ui.end_row();
            }
            alphas_ui(ui, agreement);
        })
    });
}

fn alphas_ui(ui: &mut Ui, agreement: &Agreement) {
    let small = |ui: &mut Ui, text: String| ui.label(RichText::new(text).size(theme::TEXT_SMALL));
    for head in [tr!("all annotators"), tr!("judgements"), tr!("of"), "alpha", ""] {
        labels::caption(ui, head);
    }
    ui.end_row();
    for line in agreement.alphas.iter().filter(|line| line.units > 0) {
        small(ui, lang::text(&line.name).to_owned());
        small(ui, line.values.to_string());
        small(ui, format!("{} {}", line.units, lang::text(line.of)));
        let alpha = line.alpha.map_or_else(|| tr!("all the same").to_owned(), |alpha| format!("{alpha:.3}"));
        small(ui, alpha)
            .on_hover_text(tr!("Krippendorff's alpha: 1 for perfect agreement, 0 for what chance would give"));
        ui.end_row();
    }
}

fn differing_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, agreement: &Agreement, height: f32) {
    ui.add_space(theme::SPACE_2);
    let (first, second) = &agreement.annotators;
    if agreement.differing.is_empty() {
        ui.label(tr!("They differ nowhere"));
        return;
    }
    ui.horizontal(|ui| {
        ui.label(tr!("They differ in {n} sentence" | "They differ in {n} sentences" % agreement.differing.len()));
        if ui.button(tr!("Show them in the table")).clicked() {
            window.push(ExploreCommand::SetView(ExploreView::Table));
            window.push(CorpusCommand::SetFilter(condition(first, second)));
            window.push(CorpusRequest::Compare(None));
        }
    });
    list("differing", height).show_rows(ui, SIZE.1, agreement.differing.len(), |ui, range| {
        for (at, aspects) in &agreement.differing[range] {
            let names: Vec<&str> = aspects.iter().map(|aspect: &Aspect| lang::text(aspect.name())).collect();
            let source = page.corpus.sources.get(*at).unwrap_or_default();
            let text = format!("{}: {}. {source}", at + 1, names.join(", "));
            let button = egui::Button::selectable(false, RichText::new(text).size(theme::TEXT_SMALL)).truncate();
            let name = tr!("Sentence {}: {}", at + 1, names.join(", "));
            if ui.add(button).accessible_name(name).clicked() {
                window.push(CorpusCommand::SetFilter(condition(first, second)));
                window.push(CorpusCommand::Select(Some(*at)));
                window.push(CorpusRequest::Compare(None));
            }
        }
    });
}
