//! Floor 11: page Evaluation, the table: a row for each model, and a column for each figure of each set of sentences.

use egui::{RichText, Ui};

use crate::corpus::measures::scores::SystemScores;
use crate::corpus::overview::evaluated::{Evaluated, EvaluatedScores};
use crate::corpus::overview::test_set::{Set, Unk};
use crate::lang;
use crate::pages::evaluation::view::parts;
use crate::pages::evaluation::view::parts::{figure, name_ui, note_ui, right_ui};
use crate::widgets::labels::{count_text, said};
use crate::widgets::theme;

/// Which figure of a column is the best.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Best {
    High,
    Low,
}

/// A figure: its name, what it is, and how a row has it.
struct Figure {
    head: &'static str,
    note: &'static str,
    of: fn(&SystemScores) -> Option<f64>,
    digits: usize,
    best: Best,
}

/// What is measured on the references, whatever is translated.
const OF_REFERENCES: &[Figure] = &[
    Figure {
        head: id!("-log p a word"),
        note: id!(
            "Of the first reference, in nats, for each word between its spaces, </s> counted, however a model cuts it"
        ),
        of: SystemScores::nll_per_word,
        digits: 3,
        best: Best::Low,
    },
    Figure {
        head: id!("Perplexity"),
        note: id!("e to the power of -log p a word"),
        of: SystemScores::perplexity,
        digits: 2,
        best: Best::Low,
    },
];

/// What is measured on translations.
const OF_TRANSLATIONS: &[Figure] = &[
    Figure {
        head: "BLEU",
        note: id!("From 0 to 100, as sacreBLEU"),
        of: SystemScores::bleu,
        digits: 2,
        best: Best::High,
    },
    Figure {
        head: "chrF2",
        note: id!("From 0 to 100, as sacreBLEU"),
        of: SystemScores::chrf,
        digits: 2,
        best: Best::High,
    },
    Figure {
        head: "TER",
        note: id!("Edits and shifts for 100 words of the reference, as sacreBLEU"),
        of: SystemScores::ter,
        digits: 2,
        best: Best::Low,
    },
];

/// A column of the table: a figure of a set of sentences and a kind of output.
struct Column<'a> {
    figure: &'static Figure,
    scores: &'a EvaluatedScores,
    /// What stands below its name.
    of: String,
}

/// The columns, in the order of the sets; figures of the references once for each set.
fn columns(results: &Evaluated) -> Vec<Column<'_>> {
    let mut columns: Vec<Column<'_>> = Vec::new();
    for scores in &results.scores {
        let count = count_text(scores.all.sentences);
        let set = match scores.set {
            Set::All => tr!("all {count}", count),
            Set::WithoutUnk => tr!("{count} of known words", count),
        };
        let of = match scores.unk {
            Unk::Allowed => set.clone(),
            Unk::Forbidden => tr!("{set}, never [UNK]", set),
        };
        let is_new = !columns.iter().any(|column| column.scores.set == scores.set);
        let of_references = OF_REFERENCES.iter().filter(|_| is_new).map(|figure| (figure, &set));
        let all = of_references.chain(OF_TRANSLATIONS.iter().map(|figure| (figure, &of)));
        columns.extend(all.map(|(figure, of)| Column { figure, scores, of: of.clone() }));
    }
    columns
}

impl Column<'_> {
    fn values(&self) -> impl Iterator<Item = Option<f64>> {
        self.scores.all.scores.iter().map(self.figure.of)
    }

    /// The best value where there are several models and all are of the same words.
    fn best(&self, results: &Evaluated) -> Option<f64> {
        let is_of_references = OF_REFERENCES.iter().any(|figure| std::ptr::eq(figure, self.figure));
        if is_of_references && self.scores.set == Set::All && results.incomparable().is_some() {
            return None;
        }
        let best = match self.figure.best {
            Best::High => f64::max,
            Best::Low => f64::min,
        };
        self.values().flatten().reduce(best).filter(|_| results.models.len() > 1)
    }
}

/// The table.
pub fn table_ui(ui: &mut Ui, results: &Evaluated) {
    let columns = columns(results);
    let weak = theme::tokens(ui).weak;
    let small = |text: &str| RichText::new(text).size(theme::TEXT_SMALL).color(weak);
    let rows = |ui: &mut Ui| {
        ui.label(small(tr!("Model")));
        for column in &columns {
            right_ui(ui, |ui| ui.label(lang::text(column.figure.head)).on_hover_text(lang::text(column.figure.note)));
        }
        right_ui(ui, |ui| {
            ui.label(tr!("words/s")).on_hover_text(tr!("Words scored and produced a second, all in all"))
        });
        ui.end_row();
        ui.label("");
        for column in &columns {
            right_ui(ui, |ui| ui.label(small(&column.of)));
        }
        ui.end_row();
        for (place, measured) in results.models.iter().enumerate() {
            name_ui(ui, place, &measured.name);
            for column in &columns {
                value_ui(ui, column, column.values().nth(place).flatten(), results);
            }
            right_ui(ui, |ui| ui.label(figure(measured.words_per_second, 0)));
            ui.end_row();
        }
    };
    parts::table_ui(ui, "figures_table", rows, |ui| results.incomparable().iter().for_each(|why| note_ui(ui, why)));
}

/// A number; the best of its column is told from the others by colour and a word under the mouse.
fn value_ui(ui: &mut Ui, column: &Column<'_>, value: Option<f64>, results: &Evaluated) {
    let number = figure(value, column.figure.digits);
    let text = RichText::new(&number);
    let is_best = value.is_some() && value == column.best(results);
    let accent = theme::tokens(ui).accent;
    right_ui(ui, |ui| {
        if is_best {
            let label = ui.label(text.color(accent).underline()).on_hover_text(tr!("The best of these models"));
            said(label, &tr!("{number}, the best of these models", number))
        } else {
            ui.label(text)
        }
    });
}
