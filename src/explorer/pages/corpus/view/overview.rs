//! Page Corpus, the overview: numbers over all sentences that are shown, each of which leads to its sentences.

use std::sync::Arc;

use egui::{ComboBox, ProgressBar, RichText, ScrollArea, Ui, vec2};

use crate::app::document::column::file_name;
use crate::pages::corpus::view::bars::{BarGroup, GroupBar, bars_ui, legend_ui};
use crate::pages::corpus::view::listing::{ListingRow, listing_ui};
use crate::pages::shell::dialogs::{Question, TEXTS, Wants};
use crate::pages::{
    corpus::CorpusPage, corpus::view::matrix::tests_ui, corpus::view::memory::CorpusMemory,
    corpus::views::ExploreCommand, shell::local::Window, shell::menu,
};
use crate::widgets::grid::{GridLook, GridTitle, grid_ui};
use crate::widgets::{labels, theme};
use corpus::measures::frequencies::{class_name, class_range};
use corpus::measures::scores::{SENTENCE_BLEU, SystemScores};
use corpus::overview::compute::{Overview, SHOWN_JUMP, SourceWordErrors, jump_condition, ngram_condition};
use corpus::overview::tables::jump_name;
use engine::analysis::{mteval::TOKENIZATIONS, mteval::Tokenization};
use engine::{lang, text::cells::CellTable};

/// Two parts stand side by side where there is so much room, points.
const WIDE: f32 = 760.0;

/// A score by its name: what of the scores of a system it is, and its digits.
type Score = (&'static str, fn(&SystemScores) -> Option<f64>, usize);

const SCORES: [Score; 6] = [
    ("BLEU", SystemScores::bleu, 1),
    ("chrF2", SystemScores::chrf, 1),
    ("TER", SystemScores::ter, 1),
    ("AER", SystemScores::aer, 3),
    ("BP", SystemScores::brevity_penalty, 3),
    ("ratio", SystemScores::ratio, 3),
];
const MOST_TAGS: usize = 24;
/// The place of the alignment error among them.
const AER: usize = 3;

const FREQUENCIES: Question = Question::new(
    id!("Frequencies of words"),
    id!("Choose"),
    Wants::File(TEXTS),
    id!("Lines of a word and its count, or the training text itself, whose words are counted; packed or not."),
);

const ALIGNER: Question = Question::new(
    id!("The aligner of this corpus"),
    id!("Choose"),
    Wants::File(&["aligner"]),
    id!(
        "A file of `interlinear align --statistical --save`. It comes before any other for this corpus: links that judging begins with, conditions, overviews, and what models are measured by from now on. The corpus keeps it."
    ),
);

const PART_TITLES: &[GridTitle] = &[
    ("part", id!("Part of speech"), id!("As the file in CoNLL-U has it; of a word that it cuts, of the longest piece")),
    ("system", id!("System"), ""),
    ("words", id!("Words"), id!("Source words of the sentences that the system aligns")),
    ("fertility", id!("Fertility"), id!("Links for each word")),
    ("unaligned", id!("Unaligned"), id!("The share of words without a link")),
    ("crossing", id!("Crossing"), id!("The share of words with a link that crosses that of another word")),
    ("judged", id!("Judged"), id!("Words that are linked to a word of the output or of the reference")),
    ("wrong", id!("Wrong"), id!("Those of them of which something is not as in the reference")),
    ("error", id!("Error rate"), id!("The share of the judged words that are wrong")),
    ("precision", id!("Precision"), id!("The share of output words linked to it that the reference has")),
    ("recall", id!("Recall"), id!("The share of words of the reference linked to it that the output has")),
];
/// A line of a table, and the highest that one is, points.
const TABLE_LINE: (f32, f32) = (22.0, 440.0);

/// A part of the overview; gives the condition of what was clicked.
type Part = fn(&mut Ui, &CorpusPage, &mut Window<'_>, &Overview) -> Option<String>;

const PARTS: [Part; 5] = [
    lengths_ui,
    frequencies_ui,
    words_ui,
    |ui, page, _, overview| jumps_ui(ui, page, overview),
    |ui, page, _, overview| ngrams_ui(ui, page, overview),
];

pub fn overview_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    if let Some(share) = page.whole.counted.share {
        labels::caption(ui, tr!("Counting the sentences"));
        let bar = ProgressBar::new(share).desired_height(theme::PROGRESS_HEIGHT).animate(false).fill(t.accent);
        ui.add(bar).accessible_name(tr!("Counting the sentences"));
    }
    let is_counting = page.whole.counted.share.is_some();
    let Some(overview) = page.whole.counted.overview.clone() else {
        if !is_counting {
            // The file of frequencies may be what was missing.
            ui.label(tr!("Nothing was counted; choose where the frequencies of words come from:"));
            ui.horizontal(|ui| from_ui(ui, page, window));
        }
        return;
    };
    if page.corpus.systems.is_empty() {
        ui.label(tr!("No system says anything yet: run the models above, or import what another system said."));
        return;
    }
    let mut clicked = None;
    ScrollArea::vertical().id_salt("corpus_overview").auto_shrink(false).show(ui, |ui| {
        clicked = all_ui(ui, page, window, &overview);
        if ui.available_width() < WIDE {
            for part in PARTS {
                clicked = framed(ui, |ui| part(ui, page, window, &overview)).or(clicked.take());
            }
            grids_ui(ui, &overview);
            return;
        }
        let width = (ui.available_width() - theme::SPACE_3) / 2.0;
        for pair in PARTS.chunks(2) {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = theme::SPACE_3;
                // One that is alone has all the width.
                let width = if pair.len() == 1 { 2.0 * width + theme::SPACE_3 } else { width };
                for part in pair {
                    ui.allocate_ui_with_layout(vec2(width, 0.0), egui::Layout::top_down(egui::Align::Min), |ui| {
                        ui.set_width(width);
                        clicked = framed(ui, |ui| part(ui, page, window, &overview)).or(clicked.take());
                    });
                }
            });
        }
        grids_ui(ui, &overview);
    });
    if let Some(condition) = clicked {
        window.push(ExploreCommand::Follow(condition));
    }
}

fn framed(ui: &mut Ui, part: impl FnOnce(&mut Ui) -> Option<String>) -> Option<String> {
    theme::card(theme::tokens(ui))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            part(ui)
        })
        .inner
}

fn title(ui: &mut Ui, text: &str, about: &str) {
    ui.label(RichText::new(text).strong()).on_hover_text(about);
}

fn all_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) -> Option<String> {
    ui.horizontal_wrapped(|ui| {
        let counted = if overview.counted == overview.of {
            tr!("{n} sentence shown" | "{n} sentences shown" % overview.of)
        } else {
            tr!(
                "{n} sentence of the {} shown, spread evenly"
                    | "{n} sentences of the {} shown, spread evenly" % overview.counted,
                overview.of
            )
        };
        ui.label(RichText::new(counted).color(theme::tokens(ui).weak));
        legend_ui(ui, page.corpus.systems.iter().map(|column| column.system.name.as_str()));
    });
    egui::Grid::new("corpus_all").spacing(vec2(theme::SPACE_4, 0.0)).min_row_height(18.0).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        let small = |text: &str| RichText::new(text).size(theme::TEXT_SMALL).weak();
        for head in ["", tr!("sentences")].into_iter().chain(SCORES.map(|(name, ..)| name)) {
            let label = ui.label(small(head));
            if head == "BLEU" {
                label.on_hover_text(lang::text(SENTENCE_BLEU));
            }
        }
        ui.end_row();
        for (system, scores) in overview.all.scores.iter().enumerate() {
            ui.label(RichText::new(format!("{}. {}", system + 1, page.system_name(system))).size(theme::TEXT_SMALL));
            ui.label(scores.sentences.to_string());
            for (_, score, digits) in SCORES {
                ui.label(score(scores).map_or_else(String::new, |score| format!("{score:.digits$}")));
            }
            ui.end_row();
        }
    });
    scoring_ui(ui, page, window, overview);
    pair_ui(ui, page, window, overview)
}

fn pair_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) -> Option<String> {
    let pair = overview.pair.as_ref()?;
    let mut clicked = None;
    ui.horizontal_wrapped(|ui| {
        if page.corpus.systems.len() > 2 {
            pair_choice(ui, page, window, (tr!("Compare"), tr!("with")), (pair.first, pair.second));
        }
        let (one, other) = (pair.first + 1, pair.second + 1);
        ui.label(tr!("Sentences by BLEU, {one} against {other}:", one, other));
        for (count, sign, word) in [
            (pair.sentences[0], ">", tr!("better")),
            (pair.sentences[1], "=", tr!("equal")),
            (pair.sentences[2], "<", tr!("worse")),
        ] {
            let condition = format!("bleu.{one}-{other}{sign}0");
            let button = ui.button(format!("{count} {word}")).on_hover_text(tr!("Click: {condition}", condition));
            if button.accessible_name(tr!("{count} {word} by BLEU", count, word)).clicked() {
                clicked = Some(condition);
            }
        }
    });
    tests_ui(ui, page, overview);
    ui.add_space(theme::SPACE_1);
    clicked
}

pub fn pair_choice(
    ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, (before, between): (&str, &str),
    (first, second): (usize, usize),
) {
    for (label, chosen, other, is_first) in [(before, first, second, true), (between, second, first, false)] {
        let label = ui.label(label);
        let text = format!("{}. {}", chosen + 1, page.system_name(chosen));
        let combo = ComboBox::from_id_salt(("pair", is_first)).truncate().selected_text(text);
        let combo = combo.show_ui(ui, |ui| {
            let is_rival = |at: &usize| !page.corpus.systems[*at].system.is_forced();
            for at in (0..page.corpus.systems.len()).filter(|at| *at != other).filter(is_rival) {
                let text = format!("{}. {}", at + 1, page.system_name(at));
                if ui.selectable_label(at == chosen, text).clicked() && at != chosen {
                    let (first, second) = if is_first { (at, other) } else { (other, at) };
                    window.push(ExploreCommand::SetPair(first, second));
                }
            }
        });
        combo.response.labelled_by(label.id);
    }
}

fn lengths_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) -> Option<String> {
    let chosen = window.local.of::<CorpusMemory>().overview.score.min(SCORES.len() - 1);
    ui.horizontal_wrapped(|ui| {
        title(ui, tr!("By words of the source"), tr!("Corpus scores of the sentences of each length"));
        if !overview.tags.is_empty() {
            let by_tag = &mut window.local.of::<CorpusMemory>().overview.by_tag;
            let note = tr!("Corpus scores of the sentences with each tag, such as those of documents and domains");
            ui.checkbox(by_tag, tr!("by tag")).on_hover_text(note);
        }
        for (at, (name, ..)) in SCORES.iter().enumerate() {
            let label = ui.selectable_label(at == chosen, *name);
            if label.accessible_name(tr!("{name} by length", name)).clicked() {
                window.local.of::<CorpusMemory>().overview.score = at;
            }
        }
    });
    let (score_name, score, digits) = SCORES[chosen];
    let is_tagged = window.local.of::<CorpusMemory>().overview.by_tag && !overview.tags.is_empty();
    let group = |group: &corpus::measures::scores::OverviewGroup| BarGroup {
        name: group.name(),
        bars: (0..group.scores.len())
            .map(|system| {
                let scores = &group.scores[system];
                let value = score(scores)?;
                let count = if chosen == AER { scores.aligned } else { scores.sentences };
                let words = group.name();
                let label = tr!(
                    "{score_name} {value} of {}, {words}{}, {n} sentence"
                        | "{score_name} {value} of {}, {words}{}, {n} sentences" % count,
                    page.system_name(system),
                    if is_tagged { "" } else { tr!(" words") },
                    score_name,
                    value = format_args!("{value:.digits$}"),
                    words
                );
                let condition =
                    if chosen == AER { overview.aligned(group, system) } else { overview.scored(group, system) };
                Some(GroupBar { value, text: format!("{value:.digits$}"), label, series: system, condition })
            })
            .collect(),
    };
    let groups = if is_tagged { &overview.tags } else { &overview.lengths };
    let groups: Vec<BarGroup> = groups.iter().take(MOST_TAGS).map(group).collect();
    if groups.iter().all(|group| group.bars.iter().all(Option::is_none)) {
        let why = if chosen == AER {
            tr!(
                "No system that says the references has links by hand to compare with: import or draw some, then Run, Align the references"
            )
        } else {
            tr!("There are no references to compare with; import some")
        };
        labels::note(ui, why);
        return None;
    }
    bars_ui(ui, "length", &|score| format!("{}", (score * 1e6).round() / 1e6), &groups)
}

fn frequencies_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) -> Option<String> {
    ui.horizontal(|ui| {
        let about =
            tr!("F1 = 2 right / (output + reference); an output word is right as often as the reference has it");
        title(ui, tr!("F1 of words by their frequency"), about);
        from_ui(ui, page, window);
    });
    let mut groups = Vec::new();
    for class in &overview.classes {
        let (shown, range) = (class_name(class.range), class_range(class.range));
        let bar = |(system, words): (usize, &engine::analysis::lexical::LexicalCounts)| {
            let value = words.f1()?;
            let rate = |rate: Option<f64>| rate.map_or(tr!("none").to_owned(), |rate| format!("{:.0} %", 100.0 * rate));
            let label = tr!(
                "F1 {value} of {}, words seen {shown} times: precision {}, recall {}, {n} sentence"
                    | "F1 {value} of {}, words seen {shown} times: precision {}, recall {}, {n} sentences"
                        % class.sentences[system],
                page.system_name(system),
                rate(words.precision()),
                rate(words.recall()),
                value = format_args!("{value:.2}"),
                shown
            );
            let condition = format!("freq.{}={range}", system + 1);
            Some(GroupBar { value, text: format!("{:.0}", 100.0 * value), label, series: system, condition })
        };
        let bars: Vec<Option<GroupBar>> = class.words.iter().enumerate().map(bar).collect();
        if bars.iter().any(Option::is_some) {
            groups.push(BarGroup { name: shown, bars });
        }
    }
    let clicked = bars_ui(ui, "frequency", &percent, &groups);
    labels::note(ui, tr!("F1 by how often a word is in {}", lang::text(&overview.origin)));
    clicked
}

fn jumps_ui(ui: &mut Ui, page: &CorpusPage, overview: &Overview) -> Option<String> {
    let about = tr!(
        "How far the source word of a target word lies behind that of the target word before it: 1 goes on to the \
                 next, below 0 goes back"
    );
    title(ui, tr!("Jumps of the alignment"), about);
    if overview.jumps.iter().all(Option::is_none) {
        labels::note(ui, tr!("No system has alignments"));
        return None;
    }
    // Systems without alignments take no room.
    let systems: Vec<usize> = (0..overview.jumps.len()).filter(|at| overview.jumps[*at].is_some()).collect();
    let group = |jump: i32| BarGroup {
        name: jump_name(jump),
        bars: systems
            .iter()
            .map(|&system| {
                let counts = overview.jumps[system].as_ref()?;
                let (all, count) = (counts.iter().sum::<u64>(), counts[(jump + SHOWN_JUMP) as usize]);
                let share = count as f64 / all.max(1) as f64;
                let label = tr!(
                    "{} % of the jumps of {} are {}, {n} time"
                        | "{} % of the jumps of {} are {}, {n} times" % count as usize,
                    format_args!("{:.1}", 100.0 * share),
                    page.system_name(system),
                    jump_name(jump)
                );
                // The root, so that rare far jumps are seen beside 0 and 1.
                let text = format!("{:.0}", 100.0 * share);
                let condition = jump_condition(system, jump);
                Some(GroupBar { value: share.sqrt(), text, label, series: system, condition })
            })
            .collect(),
    };
    let groups: Vec<BarGroup> = (-SHOWN_JUMP..=SHOWN_JUMP).map(group).collect();
    let clicked = bars_ui(ui, "jump", &|root| percent(root * root), &groups);
    labels::note(ui, tr!("Share of the jumps by their length in words; heights are roots of the shares"));
    clicked
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn words_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) -> Option<String> {
    let count = overview.words.len();
    let system = window.local.of::<CorpusMemory>().overview.words_of.min(count.saturating_sub(1));
    let about = tr!(
        "A source word goes wrong in a sentence where an output word linked to it is not in the reference, or a word of \
                 the reference linked to it is not in the output"
    );
    ui.horizontal_wrapped(|ui| {
        title(ui, tr!("Source words that go wrong"), about);
        if count > 1 {
            let text = format!("{}. {}", system + 1, page.system_name(system));
            let combo = ComboBox::from_id_salt("words_of").truncate().selected_text(text);
            let combo = combo.show_ui(ui, |ui| {
                for at in 0..count {
                    let text = format!("{}. {}", at + 1, page.system_name(at));
                    ui.selectable_value(&mut window.local.of::<CorpusMemory>().overview.words_of, at, text);
                }
            });
            labels::said(combo.response, tr!("System whose source words are listed"));
        }
        for (by_share, text, about) in [
            (false, tr!("most often"), tr!("By how many sentences")),
            (true, tr!("largest share"), tr!("By share of their sentences")),
        ] {
            let chosen = &mut window.local.of::<CorpusMemory>().overview.by_share;
            ui.selectable_value(chosen, by_share, text).on_hover_text(about);
        }
    });
    if page.corpus.systems.get(system).is_some_and(|column| column.system.is_forced()) {
        labels::note(ui, tr!("Forced references translate nothing; choose another system"));
        return None;
    }
    let Some(words) = overview.words.get(system).filter(|words| !words.is_empty()) else {
        labels::note(
            ui,
            tr!("Nothing is linked: systems without alignments and references without links tell nothing here"),
        );
        return None;
    };
    let mut order: Vec<&SourceWordErrors> = words.iter().collect();
    if window.local.of::<CorpusMemory>().overview.by_share {
        // 1 of 1 says less than 9 of 10.
        let share = |word: &SourceWordErrors| word.wrong as f64 / (word.sentences as f64 + 2.0);
        order.sort_by(|a, b| share(b).total_cmp(&share(a)));
    }
    let rate =
        |part: u64, of: u64| if of == 0 { String::new() } else { format!("{:.0} %", 100.0 * part as f64 / of as f64) };
    let head = [
        (tr!("source word"), tr!("Between spaces, without the punctuation round it")),
        (tr!("wrong"), tr!("Sentences where something is not as in the reference")),
        (tr!("of"), tr!("Sentences where it is linked")),
        (tr!("recall"), tr!("Words of the reference that it is linked to, and that the output has")),
        (tr!("precision"), tr!("Output words that it is linked to, and that the reference has")),
    ];
    let clicked = listing_ui(ui, "source_words", &head, order.len(), |n| {
        let word = order[n];
        let (recall, precision) = (rate(word.fate.found, word.fate.wanted), rate(word.fate.right, word.fate.said));
        ListingRow {
            label: tr!(
                "{} goes wrong in {} of {n} sentence" | "{} goes wrong in {} of {n} sentences" % word.sentences,
                word.word,
                word.wrong
            ),
            text: word.word.clone(),
            numbers: vec![word.wrong.to_string(), word.sentences.to_string(), recall, precision],
            condition: word.condition(system),
        }
    });
    labels::note(ui, tr!("References are linked: {}", overview.linked_by()));
    clicked
}

fn ngrams_ui(ui: &mut Ui, page: &CorpusPage, overview: &Overview) -> Option<String> {
    let about = tr!(
        "N-grams of 1 to 4 words; ratio = (right in the one + 1) / (right in both together + 2), as compare-mt has it"
    );
    title(ui, tr!("N-grams that one system has right more often"), about);
    let Some(pair) = &overview.pair else {
        labels::note(ui, tr!("Two systems are needed to compare"));
        return None;
    };
    let mut clicked = None;
    let ways = [(pair.first, pair.second, &pair.ngrams[0]), (pair.second, pair.first, &pair.ngrams[1])];
    ui.columns(2, |columns| {
        for (ui, (one, other, ngrams)) in columns.iter_mut().zip(ways) {
            labels::note(ui, tr!("in {}. {}", one + 1, page.system_name(one)));
            let (first, second) = (tr!("in {}", one + 1), tr!("in {}", other + 1));
            let head = [
                (tr!("n-gram"), tr!("Words and signs, each by itself")),
                (first.as_str(), tr!("How often it is right here")),
                (second.as_str(), tr!("How often it is right in the other")),
                (tr!("ratio"), tr!("Smoothed")),
            ];
            let row = |n: usize| {
                let ngram = &ngrams[n];
                ListingRow {
                    label: tr!(
                        "{}: right {n} time against {}" | "{}: right {n} times against {}" % ngram.one as usize,
                        ngram.words,
                        ngram.other
                    ),
                    text: ngram.words.clone(),
                    numbers: vec![ngram.one.to_string(), ngram.other.to_string(), format!("{:.2}", ngram.ratio)],
                    condition: ngram_condition(one, other, &ngram.words),
                }
            };
            let id = if one == pair.first { "ngrams_first" } else { "ngrams_second" };
            clicked = listing_ui(ui, id, &head, ngrams.len(), row).or(clicked.take());
        }
    });
    clicked
}

fn from_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    ui.menu_button(tr!("From..."), |ui| {
        let button = menu::entry(ui, tr!("Count the references of this corpus"));
        window.push_on(&button, ExploreCommand::SetFrequencies(None));
        window.ask_on(&menu::entry(ui, tr!("Choose a list or a training text...")), FREQUENCIES, |path| {
            ExploreCommand::SetFrequencies(Some(path))
        });
    });
    ui.menu_button(tr!("Aligner..."), |ui| {
        let button = menu::entry(ui, tr!("The aligner of this corpus...")).on_hover_text(lang::text(ALIGNER.note));
        window.ask_on(&button, ALIGNER, |path| ExploreCommand::SetAligner(Some(path)));
        if let Some(own) = &page.columns.look.aligner
            && ui.button(tr!("Without {}", file_name(own))).clicked()
        {
            window.push(ExploreCommand::SetAligner(None));
            ui.close();
        }
    });
}

fn scoring_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, overview: &Overview) {
    let chosen = ui.horizontal(|ui| tokenizers_ui(ui, Some(page.corpus.bleu.tokenization), None)).inner;
    if let Some(tokenizer) = chosen.flatten() {
        window.push(ExploreCommand::SetTokenizer(tokenizer));
    }
    overview.notes.iter().for_each(|text| drop(labels::note(ui, text)));
}

fn grids_ui(ui: &mut Ui, overview: &Overview) {
    let parts = (tr!("Source words by part of speech"), tr!("Of the words of a file in CoNLL-U that was imported"));
    let links = tr!("References are linked: {}", overview.linked_by());
    table_card(ui, &overview.parts, ("parts", PART_TITLES), parts, &links);
    let judged = (tr!("Errors and ratings of each system"), tr!("What people, and a metric, marked and rated"));
    let mqm =
        tr!("MQM is the mean over sentences of the weights of the errors, the mean over annotators: less is better");
    table_card(ui, &overview.judged, ("judged", &[]), judged, mqm);
    let metrics = (tr!("Do metrics and people agree"), tr!("Fewer than 10 sentences or 3 systems are too few to tell"));
    let signs = tr!(
        "Signs are turned so that more is better on both sides; low and high: 95 % of the resamples of the sentences"
    );
    table_card(ui, &overview.metrics, ("metrics", &[]), metrics, signs);
}

fn table_card(
    ui: &mut Ui, table: &Arc<CellTable>, (id, titles): (&'static str, &'static [GridTitle]),
    (label, about): (&str, &str), note: &str,
) {
    if table.rows.is_empty() {
        return;
    }
    theme::card(theme::tokens(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new(label).strong()).on_hover_text(about);
        let height = (TABLE_LINE.0 * (table.rows.len() + 2) as f32).min(TABLE_LINE.1);
        let room = vec2(ui.available_width(), height);
        ui.allocate_ui_with_layout(room, egui::Layout::top_down(egui::Align::Min), |ui| {
            ui.set_max_height(height);
            grid_ui(ui, table, &GridLook { id, label, titles, selected: None });
        });
        labels::note(ui, note);
    });
}

/// Returns the new choice. `usual` explains `None`, if that is offered.
#[expect(clippy::option_option, reason = "no new choice, the usual one, one by name")]
pub fn tokenizers_ui(
    ui: &mut Ui, chosen: Option<Tokenization>, usual: Option<&'static str>,
) -> Option<Option<Tokenization>> {
    let label = ui.label(tr!("Words for BLEU"));
    let name = |one: Option<Tokenization>| one.map_or(tr!("as usual"), Tokenization::name);
    let mut clicked = None;
    let combo = ComboBox::from_id_salt("tokenization").selected_text(name(chosen)).show_ui(ui, |ui| {
        let all = usual.map(|note| (None, note)).into_iter();
        for (one, note) in all.chain(TOKENIZATIONS.iter().map(|(one, note)| (Some(*one), *note))) {
            let item = ui.selectable_label(one == chosen, name(one));
            if item.on_hover_text(tr!("Cut {note}", note = lang::text(note))).clicked() && one != chosen {
                clicked = Some(one);
            }
        }
    });
    combo.response.labelled_by(label.id).on_hover_text(tr!("How BLEU cuts text into words, by sacreBLEU's name"));
    clicked
}
