//! The sheet of shortcuts, made from the table of keys, and each term explained once.

use egui::{RichText, Ui};

use crate::pages::shell::local::{Sheet, Window};
use crate::pages::shell::sheet;
use crate::widgets::{labels, theme};
use crate::{pages::shell::act::key_text, ui::act, widgets};
use engine::lang;

/// In a window of 1280 by 800 points nothing scrolls at this width.
const WIDTH: f32 = 1120.0;
const WIDE: f32 = 960.0;

/// Terms of the field with a sentence and an equation each.
const TERMS: &[(&str, &str)] = &[
    (
        "alpha_ij",
        id!(
            "How much of source word j goes into the context for target word i; each row adds up to 1, under the Gaussian of local-p to less (Bahdanau et al. 2015, equation 6; Luong et al. 2015, section 3)."
        ),
    ),
    (
        id!("energy e_ij"),
        id!(
            "How well source word j fits target word i before the softmax makes alpha of it (Bahdanau et al. 2015, section 3.1)."
        ),
    ),
    (
        id!("position p_t"),
        id!(
            "The source word, counted from 0, round which local attention looks; its window is the words from p_t - D to p_t + D (Luong et al. 2015, section 3.2)."
        ),
    ),
    (
        id!("context c"),
        id!("The one vector that holds the whole sentence for the RNN Encoder-Decoder (Cho et al. 2014, section 2.2)."),
    ),
    (
        id!("log p"),
        id!(
            "Natural logarithm of the probability that the model gives to a word or a whole translation; 0 is certain."
        ),
    ),
    (id!("beam"), id!("The unfinished translations that the search keeps at each step.")),
    (
        id!("link"),
        id!(
            "A pair of words that a statistical aligner, which learned from parallel text alone, takes for each other's translation."
        ),
    ),
    ("[UNK]", id!("A word that is not in the vocabulary.")),
    ("</s>", id!("The end of the sentence, a word like any other for the models.")),
];

pub fn help_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if window.local.shared.sheet != Sheet::Help {
        return;
    }
    let response = sheet::modal(ui, "help_sheet", WIDTH, |ui, room| {
        let closes = ui.horizontal(|ui| {
            ui.heading(tr!("Shortcuts and explanations"));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| ui.button(tr!("Close")).clicked())
                .inner
        });
        ui.separator();
        widgets::growing(room.y - 120.0).auto_shrink([false, true]).show(ui, body_ui);
        closes.inner
    });
    if response.inner || response.should_close() {
        window.local.shared.sheet = Sheet::None;
    }
}

fn body_ui(ui: &mut Ui) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_5 * 1.5;
        keys_ui(ui);
    });
    ui.separator();
    let weak = theme::tokens(ui).weak;
    let count = if ui.available_width() >= WIDE { 2 } else { 1 };
    ui.columns(count, |columns| {
        let share = TERMS.len().div_ceil(count);
        for (n, (column, terms)) in columns.iter_mut().zip(TERMS.chunks(share)).enumerate() {
            terms_ui(column, n, terms, weak);
        }
    });
}

fn terms_ui(ui: &mut Ui, n: usize, terms: &[(&str, &str)], weak: egui::Color32) {
    egui::Grid::new(("terms", n)).num_columns(2).spacing([theme::SPACE_4, theme::SPACE_1]).show(ui, |ui| {
        for (term, meaning) in terms.iter().map(|(term, meaning)| (lang::text(term), lang::text(meaning))) {
            let text = ui.visuals().text_color();
            labels::said(ui.label(labels::signs(term, theme::TEXT_SMALL, text)), term);
            let meaning_job = labels::signs(meaning, theme::TEXT_SMALL, weak);
            labels::said(ui.add(egui::Label::new(meaning_job).wrap()), meaning);
            ui.end_row();
        }
    });
}

/// The groups in reading order; columns are as even as possible.
fn keys_ui(ui: &mut Ui) {
    let mut groups: Vec<&str> = act::bindings().iter().map(|binding| binding.group).collect();
    groups.dedup();
    let lines = |group: &&str| 2 + act::bindings().iter().filter(|binding| binding.group == *group).count();
    let total: usize = groups.iter().map(lines).sum();
    let count = if ui.available_width() >= WIDE { 3 } else { 2 };
    ui.columns(count, |columns| {
        let mut before = 0;
        for group in &groups {
            // the middle of a group decides on its column
            let at = (before + lines(group) / 2) * count / total;
            group_ui(&mut columns[at.min(count - 1)], group);
            before += lines(group);
        }
    });
}

fn group_ui(ui: &mut Ui, group: &str) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing = egui::vec2(theme::SPACE_2, 1.0);
    ui.add_space(theme::SPACE_2);
    ui.label(RichText::new(lang::text(group)).color(t.accent));
    let mut named: Vec<&str> = Vec::new();
    for binding in act::bindings().iter().filter(|binding| binding.group == group) {
        if named.contains(&binding.name) {
            continue;
        }
        named.push(binding.name);
        let same = act::bindings().iter().filter(|other| other.act == binding.act).flat_map(|other| other.keys);
        let mut keys: Vec<String> = same.map(|key| key_text(ui.ctx(), key)).collect();
        keys.truncate(2);
        ui.horizontal(|ui| {
            ui.label(lang::text(binding.name));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                labels::caption(ui, keys.join("  "));
            });
        });
    }
}
