//! Page Corpus, the concordance: where its links come from, and kinds of links against each other as a table.

use egui::{ComboBox, DragValue, ProgressBar, Ui};

use crate::pages::corpus::views::{CountedLinks, ExploreCommand};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{corpus::CorpusPage, corpus::view::filter, shell::local::Window};
use crate::widgets::grid::{GridLook, GridTitle, grid_ui};
use crate::widgets::{labels, theme};
use corpus::query::linked::{LinkChoice, LinkOrigin};
use engine::text::cells::TableCell;

pub const COUNTS: Question = Question::new(
    id!("Save the counts of links as TSV"),
    id!("Save"),
    Wants::NewFile("links.tsv"),
    id!("The table as it stands, as interlinear concordance writes it."),
);

const LIST: f32 = 420.0;
const TITLES: &[GridTitle] = &[
    ("word", id!("Word"), id!("In small letters; (all) is every word")),
    ("links", id!("Links"), id!("Where they come from")),
    ("words", id!("Words"), id!("Source words that were counted")),
    ("fertility", id!("Fertility"), id!("Links for each source word")),
    ("unaligned", id!("Unaligned"), id!("Share of source words without a link")),
    ("p_unaligned", id!("p unaligned"), id!("McNemar's exact test against the first links, over the same words")),
    (
        "*_low",
        id!("Difference from"),
        id!("Share less that of the first links, where it lies with a confidence of 95 % (Newcombe 1998, pairs)"),
    ),
    (
        "*_high",
        id!("Difference to"),
        id!("Share less that of the first links, where it lies with a confidence of 95 % (Newcombe 1998, pairs)"),
    ),
    ("crossing", id!("Crossing"), id!("Share of source words with a link that crosses that of another")),
    ("p_crossing", id!("p crossing"), id!("McNemar's exact test against the first links, over the same words")),
    ("targets", id!("Linked to"), id!("The words that it is linked to most often")),
    ("hit", id!("Hit"), id!("The words that were found; (sentences) counts sentences with any")),
    ("linked", id!("Linked to"), id!("The words that the hit is linked to")),
    ("count", id!("Count"), id!("How often")),
    ("share", id!("Share"), id!("Of the hits by these links, or of the sentences")),
    ("system", id!("System"), ""),
    ("weight", id!("Weight"), id!("Of the output word on the words of the hit; mean of the means of the sentences")),
    ("low", id!("95 % from"), id!("By Student's t over the means of the sentences")),
    ("high", id!("95 % to"), id!("By Student's t over the means of the sentences")),
    ("sentences", id!("Sentences"), id!("With a hit and the output word")),
    ("pairs", id!("Pairs"), id!("Hits with an output word")),
    ("p", "p", id!("McNemar's exact test against the first links, over sentences with a hit")),
];

pub fn links_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let (corpus, chosen) = (&page.corpus, page.whole.concordance.links);
    let label = ui.label(tr!("in"));
    let combo = ComboBox::from_id_salt("query_links").truncate().height(LIST).selected_text(chosen.name(corpus));
    let combo = combo.show_ui(ui, |ui| {
        for choice in LinkChoice::all(corpus) {
            let is_clicked = ui.selectable_label(choice == chosen, choice.name(corpus)).clicked() && choice != chosen;
            window.push_if(is_clicked, ExploreCommand::SetLinks(choice));
        }
    });
    combo.response.labelled_by(label.id);
    if let LinkOrigin::Above(hundredths) = chosen.by {
        let mut threshold = f32::from(hundredths) / 100.0;
        let drag = DragValue::new(&mut threshold).range(0.01..=0.99).speed(0.01).fixed_decimals(2);
        let drag = ui.add(drag).on_hover_text(tr!("The least alpha of a link"));
        if drag.changed() {
            let by = LinkOrigin::Above((threshold * 100.0).round() as u8);
            window.push(ExploreCommand::SetLinks(LinkChoice { by, ..chosen }));
        }
    }
}

pub fn tabs_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let asked = &page.whole.tallied.asked;
    let tabs = [(false, false, tr!("Hits")), (true, false, tr!("Counts of links")), (true, true, tr!("Weights"))];
    for (is_shown, weighs, name) in tabs {
        let is_this = asked.is_shown == is_shown && asked.weighs == weighs;
        if ui.selectable_label(is_this, name).clicked() && !is_this {
            window.push(ExploreCommand::SetCounts(CountedLinks { is_shown, weighs, ..asked.clone() }));
        }
    }
    ui.separator();
}

pub fn asked_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let (tallied, first) = (&page.whole.tallied, page.whole.concordance.links);
    let mut asked = tallied.asked.clone();
    let count = asked.beside.iter().filter(|choice| **choice != first).count();
    // It stays open while one chooses; weights are of all systems.
    let beside_ui = |ui: &mut Ui, asked: &mut CountedLinks| {
        for choice in LinkChoice::all(&page.corpus).into_iter().filter(|choice| *choice != first) {
            let mut is_chosen = asked.beside.contains(&choice);
            if ui.checkbox(&mut is_chosen, choice.name(&page.corpus)).changed() {
                asked.beside.retain(|other| *other != choice);
                asked.beside.extend(is_chosen.then_some(choice));
            }
        }
    };
    if !asked.weighs {
        filter::menu(&tr!("Compared with {count}...", count)).ui(ui, |ui| beside_ui(ui, &mut asked));
    }
    if page.whole.concordance.query.trim().is_empty() && !asked.weighs {
        ui.checkbox(&mut asked.each_word, tr!("Each word"));
        if asked.each_word {
            let label = ui.label(tr!("at least"));
            ui.add(DragValue::new(&mut asked.least).range(1..=1000)).labelled_by(label.id);
        }
    }
    window.push_if(asked != tallied.asked, ExploreCommand::SetCounts(asked));
    let is_there = tallied.table.is_some() && tallied.share.is_none();
    let button = ui.add_enabled(is_there, egui::Button::new(tr!("Save as TSV...")));
    window.ask_on(&button, COUNTS, ExploreCommand::SaveCounts);
}

pub fn counts_ui(ui: &mut Ui, page: &CorpusPage) {
    let (tallied, t) = (&page.whole.tallied, theme::tokens(ui));
    if let Some(share) = tallied.share {
        ui.add(ProgressBar::new(share).desired_height(theme::PROGRESS_HEIGHT).animate(false).fill(t.accent));
    }
    let Some(table) = &tallied.table else { return };
    let is_counted = table.rows.iter().flatten().any(|cell| matches!(cell, TableCell::Count(count) if *count > 0));
    let note = if tallied.asked.weighs && tallied.trouble.is_none() {
        tr!(
            "alpha, or the weight of an alignment head: of each output word behind |, how much lies on the words of the hit."
        )
    } else if is_counted {
        tr!("Of sentences that all these links are known of.")
    } else {
        tr!(
            "There is no sentence that all these links are known of: a system may have come without any. Choose others, or those of the aligner."
        )
    };
    labels::note(ui, note);
    let look = GridLook { id: "link_counts", label: tr!("Counts of links"), titles: TITLES, selected: None };
    grid_ui(ui, table, &look);
}
