//! Floor 11: page Evaluation, the figures: a table, BLEU by length, AER, and whether a difference means anything.

use egui::{RichText, Ui};

use crate::analysis::aer::AerCounts;
use crate::analysis::bootstrap::Interval;
use crate::analysis::bootstrap::significance::{TOO_FEW, signed};
use crate::analysis::reading::Reading;
use crate::corpus::overview::compute::OverviewGroup;
use crate::corpus::overview::evaluated::{Evaluated, EvaluatedScores, MeasuredSystem};
use crate::corpus::overview::gold;
use crate::corpus::overview::gold::Baseline;
use crate::corpus::overview::test_set::Set;
use crate::evaluation::alignment::AlignerDirection;
use crate::figure::plot::{Plot, Series, SeriesStyle};
use crate::lang;
use crate::pages::evaluation::EvaluationPage;
use crate::pages::evaluation::command::EvaluationCommand;
use crate::pages::evaluation::view::EvaluationMemory;
use crate::pages::evaluation::view::parts;
use crate::pages::evaluation::view::parts::{figure, name_ui, note_ui, right_ui, waiting_ui};
use crate::pages::evaluation::view::table::table_ui;
use crate::pages::shell::local::Window;
use crate::widgets::chart::{ChartWidget, chart_ui};
use crate::widgets::{chart, labels, theme};

/// Share of the room that a plot takes in height, where the room is high.
const PLOT_SHARE: f32 = 0.34;

/// What the interval of a difference says,
const RANGE: &str = id!(
    "The test set is drawn again at least 10,000 times from its own sentences, with repeats: 95 % of the differences lie \
                     between these. It says how large the difference is and how surely that is known; with 0 between its ends \
                     another test set of the kind could turn it round."
);
/// what p says,
const P_BOOTSTRAP: &str =
    id!("Paired bootstrap (sacreBLEU's --paired-bs): twice the share of the same differences on the \
                           rarer side of 0. It says whether there is a difference, not how large it is.");
/// and p of the other test,
const P_RANDOMISED: &str = id!(
    "Approximate randomisation (sacreBLEU's --paired-ar): in how many of at least 10,000 trials the difference is as \
                            great when chance gives the outputs of each sentence to the one system or the other."
);
/// What p becomes where there are several pairs,
const HOLM: &str = id!(
    "The p before it, corrected for the number of pairs (Holm 1979): of all tables of equal systems one in twenty has \
                        any such p of at most 0.05."
);
/// and how all go together.
const BOTH: &str =
    id!("95 % says how large a difference may be, p how easily chance alone makes one as great: p bs is at most 0.05 \
                    exactly where the interval leaves 0 out. p ar asks otherwise and may differ.");

/// The figures.
pub fn figures_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let Some(results) = evaluation.results.clone() else {
        waiting_ui(ui, evaluation, window, tr!("The figures of the models of the columns come up here"));
        first_set_ui(ui, evaluation, window);
        return;
    };
    let height = (ui.available_height() * PLOT_SHARE).max(theme::PLOT_HEIGHT);
    egui::ScrollArea::vertical().id_salt("figures").auto_shrink(false).show(ui, |ui| {
        table_ui(ui, &results);
        ui.add_space(theme::SPACE_2);
        let names = results.models.iter().map(|measured| measured.name.as_str()).enumerate();
        chart::legend_ui(ui, names);
        let has_gold = results.models.iter().any(|measured| measured.alignment.is_some());
        if has_gold {
            chart::side_by_side(
                ui,
                |ui| lengths_ui(ui, window, &results, height),
                |ui| thresholds_ui(ui, &results, height),
            );
            ui.add_space(theme::SPACE_2);
            aer_ui(ui, &results);
        } else {
            lengths_ui(ui, window, &results, height);
        }
        comparisons_ui(ui, &results);
        signatures_ui(ui, &results);
    });
}

fn head_ui(ui: &mut Ui, heads: &[(&str, &str)]) {
    for (head, note) in heads {
        let label = labels::caption(ui, *head);
        if !note.is_empty() {
            label.on_hover_text(*note);
        }
    }
    ui.end_row();
}

/// AER, precision and recall end a row.
fn rates_ui(ui: &mut Ui, counts: &AerCounts) {
    let rates = counts.rates();
    for rate in [rates.aer, rates.precision, rates.recall] {
        right_ui(ui, |ui| ui.label(figure(rate, 3)));
    }
    ui.end_row();
}

/// Something to try: a small set that comes with the program.
fn first_set_ui(ui: &mut Ui, evaluation: &EvaluationPage, window: &mut Window<'_>) {
    let is_free = evaluation.test.source.is_none();
    ui.vertical_centered(|ui| {
        ui.add_space(theme::SPACE_2);
        let note = tr!("Twenty-four English sentences with translations and alignments by hand, as three files; German ones for models that write German");
        if is_free && ui.button(tr!("Take a small test set")).on_hover_text(note).clicked() {
            let folder = window.local.own_folder().join("first-set");
            window.push(EvaluationCommand::TakeFirstSet(folder));
        }
    });
}

/// BLEU by length, as in figure 2 of Bahdanau et al. and figure 6 of Luong et al.
fn lengths_ui(ui: &mut Ui, window: &mut Window<'_>, results: &Evaluated, height: f32) {
    let set = if window.local.of::<EvaluationMemory>().without_unk { Set::WithoutUnk } else { Set::All };
    // Of the first way in which [UNK] is treated.
    let Some(scores) = results.scores.iter().find(|scores| scores.set == set) else { return };
    let series: Vec<Series> = (0..results.models.len()).map(|place| by_length(results, place, scores)).collect();
    let marks: Vec<f64> = (0..scores.lengths.len()).map(|at| at as f64).collect();
    let chart = ChartWidget {
        plot: Plot {
            title: tr!("BLEU by length of the source, words"),
            x_label: "",
            x_text: &|x| {
                let at = x.round();
                let group = if (x - at).abs() < 0.01 && at >= 0.0 { scores.lengths.get(at as usize) } else { None };
                group.and_then(|group| group.bucket.as_ref()).map_or_else(String::new, |bucket| bucket.name.clone())
            },
            x_ticks: &marks,
            y_text: &|bleu| format!("{bleu:.1}"),
            from_zero: true,
            series: &series,
        },
        moves: false,
        height,
    };
    if scores.lengths.is_empty() {
        ui.label(tr!("There is no sentence of any length in this set"));
    } else {
        chart_ui(ui, &chart);
    }
    ui.horizontal_wrapped(|ui| {
        for (place, other) in [Set::All, Set::WithoutUnk].into_iter().enumerate() {
            let name = if other == Set::All { tr!("All sentences") } else { tr!("Without unknown words") };
            if ui.selectable_label(other == set, name).clicked() {
                window.local.of::<EvaluationMemory>().without_unk = place > 0;
            }
        }
        labels::caption(ui, basis(results, scores));
    });
}

/// On how many sentences each point rests, and which translations they are of where there are several.
fn basis(results: &Evaluated, scores: &EvaluatedScores) -> String {
    let count = |group: &OverviewGroup| Some(tr!("{} of {}", group.sentences, group.bucket.as_ref()?.name));
    let counts: Vec<String> = scores.lengths.iter().filter_map(count).collect();
    let which = if results.unk.len() > 1 { tr!(", with [UNK] in the output allowed") } else { "" };
    tr!("Sentences {} words{which}", counts.join(", "), which)
}

fn by_length(results: &Evaluated, place: usize, scores: &EvaluatedScores) -> Series {
    let bleu =
        scores.lengths.iter().enumerate().filter_map(|(at, group)| Some([at as f64, group.scores[place].bleu()?]));
    Series { name: results.name(place).to_owned(), place, points: bleu.collect(), ..Series::default() }
}

fn aligned(results: &Evaluated) -> impl Iterator<Item = (usize, &MeasuredSystem, &[gold::AlignmentErrorRow])> {
    let models = results.models.iter().enumerate();
    models.filter_map(|(place, measured)| Some((place, measured, measured.aligned()?.rows.as_slice())))
}

fn thresholds_ui(ui: &mut Ui, results: &Evaluated, height: f32) {
    let mut series = Vec::new();
    for (place, measured, rows) in aligned(results) {
        let readings = readings(rows);
        for &reading in &readings {
            // that of the model's own comes first
            let is_minor = readings.first() != Some(&reading);
            let name = &measured.name;
            let points = rows.iter().filter(|row| is_read(row, reading) && row.direction == AlignerDirection::Forward);
            let points = points.filter_map(|row| Some([f64::from(threshold(row)?), row.counts.rates().aer?]));
            series.push(Series {
                name: if is_minor {
                    tr!("{name} by the {}", lang::text(reading.row_text()), name)
                } else {
                    name.clone()
                },
                place,
                points: points.collect(),
                look: if is_minor { SeriesStyle::Minor } else { SeriesStyle::Marked },
            });
        }
    }
    if series.is_empty() {
        ui.label(RichText::new(tr!("No model here has an alignment")).color(theme::tokens(ui).weak));
        return;
    }
    let lines = baseline_lines(results, &series);
    let first = lines.first().map(|line| line.place);
    series.extend(lines);
    let chart = ChartWidget {
        plot: Plot {
            title: tr!("AER with all source words of at least this alpha"),
            x_label: "alpha",
            x_text: &|theta| format!("{theta:.2}"),
            x_ticks: &[0.2, 0.4, 0.6, 0.8],
            y_text: &|aer| format!("{aer:.2}"),
            from_zero: false,
            series: &series,
        },
        moves: false,
        height,
    };
    chart_ui(ui, &chart);
    let is_other = |one: &&Series| one.look == SeriesStyle::Minor;
    // Which reading is a model's own, and so drawn whole, depends on its training.
    let others: Vec<&str> = series.iter().filter(is_other).map(|one| one.name.as_str()).collect();
    let told = tr!("dashed: {}", others.join("; "));
    let dashed = series.iter().find(is_other).map(|one| Series { name: told, ..one.clone() });
    let level = series.iter().filter(|one| first.is_some_and(|first| one.place >= first)).cloned();
    chart::lines_ui(ui, &dashed.into_iter().chain(level).collect::<Vec<_>>());
}

/// The AER of links that need no model, as level lines over all thresholds; their places follow those of the models.
fn baseline_lines(results: &Evaluated, series: &[Series]) -> Vec<Series> {
    let x = || series.iter().flat_map(|one| &one.points).map(|[x, _]| *x);
    let (from, to) = (x().fold(f64::INFINITY, f64::min), x().fold(f64::NEG_INFINITY, f64::max));
    let line = |(n, baseline): (usize, &Baseline)| {
        let row = baseline.rows.iter().find(|row| row.direction == AlignerDirection::Forward)?;
        let aer = row.counts.rates().aer.filter(|_| from <= to)?;
        let name = format!("{}, {aer:.3}", baseline_name(baseline).0);
        let (place, points) = (results.models.len() + n, vec![[from, aer], [to, aer]]);
        Some(Series { name, place, points, look: SeriesStyle::Bare })
    };
    results.baselines.iter().enumerate().filter_map(line).collect()
}

/// Precision, recall and AER with the one source word of greatest alpha, and with the best threshold.
fn aer_ui(ui: &mut Ui, results: &Evaluated) {
    let rows = |ui: &mut Ui| {
        let heads = [
            (tr!("Alignments"), tr!("Of the first reference, by forced decoding")),
            (
                tr!("Direction"),
                tr!("The model's own links, or those of a model of the other direction, or both put together"),
            ),
            (tr!("Links"), tr!("How they are read off alpha")),
            (tr!("Row of"), tr!("Which word a row of alpha belongs to (Luong et al. 2015, footnote 14)")),
            (tr!("AER"), tr!("Alignment error rate of Och and Ney 2003, section 6; 0 is best")),
            (tr!("Precision"), tr!("Links found that are sure or possible")),
            (tr!("Recall"), tr!("Sure links that are found")),
        ];
        head_ui(ui, &heads);
        for (place, measured, rows) in aligned(results) {
            for reading in readings(rows) {
                let same: Vec<&gold::AlignmentErrorRow> = rows.iter().filter(|row| is_read(row, reading)).collect();
                let greatest = same.iter().filter(|row| threshold(row).is_none());
                for row in greatest.copied().chain(best_threshold(&same)) {
                    aligned_ui(ui, place, measured, row);
                }
            }
        }
        for baseline in &results.baselines {
            baseline_ui(ui, baseline);
        }
    };
    parts::table_ui(ui, "aer_table", rows, |ui| {
        for measured in &results.models {
            if let Some(Err(message)) = &measured.alignment {
                ui.add(egui::Label::new(RichText::new(message).color(theme::tokens(ui).weak)).wrap());
            }
        }
        let reverse = |name: &String| tr!("The links of the other direction are those of {name}.", name);
        let other = aligned(results).find_map(|(_, measured, _)| measured.aligned()?.reverse.as_ref());
        let note = results.gold.as_ref().map(|(_, note)| note);
        for note in other.map(reverse).iter().chain(note) {
            note_ui(ui, note);
        }
    });
}

/// Which words the rows of alpha were read as.
fn readings(rows: &[gold::AlignmentErrorRow]) -> Vec<Reading> {
    let mut readings = Vec::new();
    for row in rows {
        readings.extend(row.extraction.map(|of| of.reading).filter(|reading| !readings.contains(reading)));
    }
    readings
}

fn is_read(row: &gold::AlignmentErrorRow, reading: Reading) -> bool {
    row.extraction.is_some_and(|of| of.reading == reading)
}

fn threshold(row: &gold::AlignmentErrorRow) -> Option<f32> {
    row.extraction?.threshold
}

fn best_threshold<'a>(rows: &[&'a gold::AlignmentErrorRow]) -> Option<&'a gold::AlignmentErrorRow> {
    let above = rows.iter().filter(|row| threshold(row).is_some() && row.direction == AlignerDirection::Forward);
    let with_aer = above.filter_map(|row| Some((row.counts.rates().aer?, row)));
    with_aer.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| *row)
}

fn aligned_ui(ui: &mut Ui, place: usize, measured: &MeasuredSystem, row: &gold::AlignmentErrorRow) {
    name_ui(ui, place, &measured.name);
    ui.label(lang::text(row.direction.name()));
    let (text, said) = threshold(row).map_or_else(
        || (tr!("greatest \u{3b1}").to_owned(), tr!("greatest alpha").to_owned()),
        |theta| {
            (
                tr!("\u{3b1} \u{2265} {theta}, the best", theta = format_args!("{theta:.2}")),
                tr!("alpha at least {theta}, the best", theta = format_args!("{theta:.2}")),
            )
        },
    );
    labels::said(ui.label(text), &said);
    ui.label(row.extraction.map_or("-", |of| lang::text(of.reading.name())));
    rates_ui(ui, &row.counts);
}

/// What links that need no model are called, and what they are.
fn baseline_name(baseline: &Baseline) -> (&'static str, &'static str) {
    match baseline.name {
        "diagonal" => {
            (tr!("straight line"), tr!("Each target word with the source word at its share of the sentence: the floor"))
        }
        "statistical" => (
            tr!("statistical aligner"),
            tr!(
                "A model of word alignment that has read both sides and translates nothing: what attention is measured against"
            ),
        ),
        other => (other, ""),
    }
}

/// Links that need no model: the floor and the ceiling of the rows above.
fn baseline_ui(ui: &mut Ui, baseline: &Baseline) {
    for row in &baseline.rows {
        let (name, note) = baseline_name(baseline);
        ui.label(name).on_hover_text(note);
        for text in [lang::text(row.direction.name()), "-", "-"] {
            ui.label(text);
        }
        rates_ui(ui, &row.counts);
    }
}

/// Every two models, by paired tests.
fn comparisons_ui(ui: &mut Ui, results: &Evaluated) {
    if results.comparisons.is_empty() {
        return;
    }
    ui.add_space(theme::SPACE_2);
    let is_corrected = results.comparisons.iter().any(|comparison| comparison.by.bleu.p_holm.is_some());
    let rows = |ui: &mut Ui| {
        let treated = tr!("Of the translations in which [UNK] is treated the first way that was asked for");
        let mut heads = vec![(tr!("First"), ""), (tr!("Second"), ""), (tr!("Score"), "")];
        heads.extend([(tr!("second less first"), treated), ("95 %", lang::text(RANGE))]);
        for p in [(tr!("p bs"), lang::text(P_BOOTSTRAP)), (tr!("p ar"), lang::text(P_RANDOMISED))] {
            heads.push(p);
            heads.extend(is_corrected.then(|| (tr!("Holm"), lang::text(HOLM))));
        }
        head_ui(ui, &heads);
        for comparison in &results.comparisons {
            for (score, paired) in comparison.by.named() {
                for place in [comparison.pair.0, comparison.pair.1] {
                    name_ui(ui, place, results.name(place));
                }
                ui.label(score);
                let Interval { value, low, high, .. } = paired.difference;
                let [value, low, high] = [value, low, high].map(|number| signed(number, 2));
                let span = tr!("{low} to {high}", low, high);
                let told = |p: String| if p == TOO_FEW { lang::text(TOO_FEW).to_owned() } else { p };
                let [bootstrap, randomised, holm, holm_randomised] = paired.p_texts().map(told);
                let p = [(bootstrap, holm), (randomised, holm_randomised)].into_iter();
                let p = p.flat_map(|(p, holm)| std::iter::once(p).chain(is_corrected.then_some(holm)));
                for text in [value, span].into_iter().chain(p) {
                    right_ui(ui, |ui| ui.label(text));
                }
                ui.end_row();
            }
        }
    };
    parts::table_ui(ui, "bootstrap_table", rows, |ui| {
        note_ui(ui, lang::text(BOTH));
    });
}

fn signatures_ui(ui: &mut Ui, results: &Evaluated) {
    ui.add_space(theme::SPACE_2);
    let [bleu, chrf, ter] = results.signatures();
    for text in [
        tr!("{}, beam {}", results.test_set.name(), results.search.beam),
        format!("BLEU {bleu}"),
        format!("chrF2 {chrf}"),
        format!("TER {ter}"),
    ]
    .into_iter()
    .chain(results.left_out.clone())
    {
        note_ui(ui, &text);
    }
}
