//! Page Corpus, the overview: systems against systems, two of them by every score, and every two with their ranks.

use egui::{CollapsingHeader, Grid, RichText, ScrollArea, Ui, vec2};

use crate::{pages::corpus::CorpusPage, widgets::theme};
use corpus::measures::paired::TestedScore;
use corpus::overview::{compute::Overview, pairs::turned};
use engine::analysis::bootstrap::Paired;
use engine::analysis::bootstrap::significance::{ALPHA, TOO_FEW, signed, unsigned};
use engine::lang;

pub fn tests_ui(ui: &mut Ui, page: &CorpusPage, overview: &Overview) {
    let Some(pair) = &overview.pair else { return };
    for (tested, paired) in overview.of_pair() {
        let text = RichText::new(difference(tested, paired, (pair.first + 1, pair.second + 1)));
        ui.label(text.size(theme::TEXT_SMALL).weak()).on_hover_text(
            tr!("--paired-bs: sentences are drawn again with repetition, and the scores of both are compared (Koehn 2004). \
                 --paired-ar: outputs change sides by chance (approximate randomisation). Of several pairs p is corrected by Holm (1979)"),
        );
    }
    if overview.tested.iter().any(|tested| tested.systems.len() > 2) {
        CollapsingHeader::new(tr!("Every two systems, and ranks")).id_salt("corpus_matrix").show(ui, |ui| {
            ScrollArea::horizontal().id_salt("corpus_matrix_scroll").show(ui, |ui| {
                for tested in &overview.tested {
                    matrix_ui(ui, page, tested);
                    ui.add_space(theme::SPACE_2);
                }
            });
            let note = tr!(
                "Row less column, and p of --paired-ar, corrected by Holm for all pairs. A new rank begins where each system above is better \
                 than each system below, with a corrected p of at most 0.05"
            );
            ui.label(RichText::new(note).size(theme::TEXT_SMALL).weak());
        });
    }
}

fn translated(p: String) -> String {
    if p == TOO_FEW { lang::text(TOO_FEW).to_owned() } else { p }
}

/// The difference of two systems, its interval, and how easily chance makes one as great.
fn difference(tested: &TestedScore, paired: &Paired, (one, other): (usize, usize)) -> String {
    let digits = tested.digits();
    let value = turned(paired).map(|number| signed(number, digits));
    let [bootstrap, randomised, holm, holm_randomised] = paired.p_texts().map(translated);
    let wins = (1.0 - paired.second_wins - paired.ties).max(0.0);
    let text = tr!(
        "{score}, {one} less {other}: {difference} ({low} to {high} in 95 % of {resamples} resamples) over {sentences} sentences, \
         p {bootstrap} (--paired-bs), {randomised} (--paired-ar); {one} better in {wins} % of the resamples",
        score = tested.name,
        one,
        other,
        difference = value[0],
        low = value[1],
        high = value[2],
        resamples = paired.resamples,
        sentences = paired.sentences,
        bootstrap,
        randomised,
        wins = format_args!("{:.1}", 100.0 * wins)
    );
    if holm.is_empty() {
        return text;
    }
    text + &tr!(
        "; p corrected by Holm for all pairs of systems {bootstrap} (--paired-bs), {randomised} (--paired-ar)",
        bootstrap = holm,
        randomised = holm_randomised
    )
}

/// A row and a column for each system, from the best on.
fn matrix_ui(ui: &mut Ui, page: &CorpusPage, tested: &TestedScore) {
    let small = |text: String| RichText::new(text).size(theme::TEXT_SMALL);
    Grid::new(("corpus_matrix", tested.name)).spacing(vec2(theme::SPACE_3, 0.0)).show(ui, |ui| {
        for head in [tr!("Rank"), tr!("System"), tested.name] {
            ui.label(small(head.to_owned()).weak());
        }
        for ranked in &tested.systems {
            ui.label(small((ranked.system + 1).to_string()).weak()).on_hover_text(page.system_name(ranked.system));
        }
        ui.end_row();
        for row in &tested.systems {
            ui.label(small(row.rank_text()));
            ui.label(small(format!("{}. {}", row.system + 1, page.system_name(row.system))));
            ui.label(small(unsigned(row.score, tested.digits())));
            for column in &tested.systems {
                let Some((value, paired)) = tested.between(row.system, column.system) else {
                    ui.label("");
                    continue;
                };
                let [_, p, _, holm] = paired.p_texts().map(translated);
                let text =
                    small(format!("{} ({})", signed(value, tested.digits()), if holm.is_empty() { p } else { holm }));
                let is_clear = paired.p_randomised_holm.or(paired.p_randomised).is_some_and(|p| p <= ALPHA);
                let of =
                    tested.pairs.iter().find(|(_, one)| std::ptr::eq(one, paired)).map_or((0, 0), |(pair, _)| *pair);
                let label = ui.label(if is_clear { text } else { text.weak() });
                label.on_hover_ui(|ui| {
                    ui.label(difference(tested, paired, (of.0 + 1, of.1 + 1)));
                });
            }
            ui.end_row();
        }
    });
}
