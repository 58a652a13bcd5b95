//! Page Corpus, the chosen sentence: all texts, what people say of it, the picture of a system. What is below
//! the texts stands in sections that can be closed, with its counts in their heads.

use egui::{CollapsingHeader, ComboBox, Id, RichText, ScrollArea, Ui, UiBuilder, vec2};

use crate::pages::corpus::view::tints::{TintedSide, Tints};
use crate::pages::corpus::views::{ExploreCommand, ExploreView};
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::memory::CorpusMemory,
    corpus::view::words::Marked, shell::local::Window,
};
use crate::widgets::heatmap::{HeatmapMarks, HeatmapWidget, Outlined};
use crate::widgets::{labels, theme};
use crate::{app::settings::Shown, widgets::marks::Letters};
use crate::{jobs::corpus::thread::Detail, pages::corpus::view::gold};
use corpus::{judgements::judge::Judgement, query::column::TableColumn};
use figure::heatmap::layout::{Metrics, Needs, Zoom};
use figure::{heatmap::widest_word, label::widest, mark::Scale, palette::ColourMap};

/// Share of the height that the texts take at most, so that what is judged stands in view.
const TEXTS: f32 = 0.42;
/// With less height all scrolls as one, points.
const LOW: f32 = 380.0;
/// Height of the picture, points, at most, and of a row.
const PICTURE: (f32, f32) = (360.0, 22.0);
const PICTURE_HEAD: f32 = 90.0;

pub fn detail_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let Some(detail) = page.detail.clone() else { return };
    let tints = Tints::of(ui, page, window, &detail);
    let height = ui.available_height();
    if height < LOW {
        ScrollArea::vertical().id_salt("corpus_detail").auto_shrink(false).show(ui, |ui| {
            head_ui(ui, window, &detail);
            texts_ui(ui, page, window, (&detail, &tints));
            sections_ui(ui, page, window, &detail, &tints);
        });
        return;
    }
    head_ui(ui, window, &detail);
    let texts = ScrollArea::vertical().id_salt("corpus_texts").max_height(height * TEXTS).auto_shrink([false, true]);
    texts.show(ui, |ui| texts_ui(ui, page, window, (&detail, &tints)));
    ui.separator();
    ScrollArea::vertical().id_salt("corpus_detail").auto_shrink(false).show(ui, |ui| {
        sections_ui(ui, page, window, &detail, &tints);
    });
}

fn sections_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, detail: &Detail, tints: &Tints) {
    ui.horizontal_wrapped(|ui| {
        let judge = ui.button(tr!("Judge"));
        let judge = judge.on_hover_text(tr!("Stars, tags, a note, ratings and errors of this sentence"));
        window.push_on(&judge.accessible_name(tr!("Judge this sentence")), ExploreCommand::SetView(ExploreView::Judge));
        labels::caption(ui, judged_head(&page.judgement()));
        labels::caption(ui, tints.head());
    });
    if page.tables.iter().any(Option::is_some) {
        section(ui, window, "alignment", tr!("Alignment"), |ui, window| picture_ui(ui, page, window));
    }
    let links = detail.gold.as_ref().map_or(0, |gold| gold.all().len());
    let head = if links == 0 { tr!("Links by hand").to_owned() } else { tr!("Links by hand: {links}", links) };
    section(ui, window, "links", &head, |ui, window| gold::gold_ui(ui, page, window, detail));
    if !page.corpus.systems.is_empty() {
        section(ui, window, "numbers", tr!("Numbers"), |ui, _| numbers_ui(ui, page, detail));
    }
}

/// A part that can be closed; it stays so, after the next start as well.
fn section(ui: &mut Ui, window: &mut Window<'_>, id: &str, head: &str, body: impl FnOnce(&mut Ui, &mut Window<'_>)) {
    let key = format!("corpus_section_{id}");
    let was_open = !window.layout.closed.contains(&key);
    let head = CollapsingHeader::new(RichText::new(head).strong()).id_salt(&key).default_open(was_open);
    if head.show_unindented(ui, |ui| body(ui, window)).header_response.clicked() {
        window.layout.turn(&key);
    }
}

fn judged_head(judgement: &Judgement) -> String {
    let mut parts = Vec::new();
    if judgement.stars > 0 {
        parts.push(tr!("{n} star" | "{n} stars" % usize::from(judgement.stars)));
    }
    if !judgement.tags.is_empty() {
        parts.push(tr!("{n} tag" | "{n} tags" % judgement.tags.len()));
    }
    if !judgement.note.is_empty() {
        parts.push(tr!("a note").to_owned());
    }
    if parts.is_empty() { tr!("Judgement").to_owned() } else { tr!("Judgement: {}", parts.join(", ")) }
}

fn head_ui(ui: &mut Ui, window: &mut Window<'_>, detail: &Detail) {
    let t = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(tr!("Sentence {}", detail.at + 1)).size(theme::TEXT_TITLE));
        if let Some(name) = &detail.sentence.name {
            ui.label(RichText::new(name).color(t.weak));
        }
        let note = tr!("Shows it live in every model, with its links by hand (double click on the row)");
        let open = ui.button(tr!("Open on page Sentence")).on_hover_text(note);
        window.push_on(&open, CorpusCommand::OpenSentence);
        let button = ui.button(tr!("Close")).on_hover_text(tr!("Gives the table all the room"));
        window.push_on(&button, CorpusCommand::Select(None));
    });
}

/// What the words of the texts are compared with: the system that was chosen, by its place, and what it says.
fn lit<'a>(window: &mut Window<'_>, detail: &'a Detail) -> Option<(usize, &'a str)> {
    let at = window.local.of::<CorpusMemory>().lit?;
    Some((at, detail.outputs.get(at)?.as_ref()?.text.as_str()))
}

fn lit_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, detail: &Detail) {
    let there = detail.outputs.iter().enumerate().filter(|(_, output)| output.is_some());
    let there: Vec<usize> = there.map(|(at, _)| at).collect();
    if there.is_empty() || there.len() < 2 && detail.sentence.references().is_empty() {
        return;
    }
    let chosen = lit(window, detail).map(|(at, _)| at);
    let lit = &mut window.local.of::<CorpusMemory>().lit;
    ui.horizontal(|ui| {
        labels::caption(ui, tr!("Set off are words that are not in"));
        let shown = chosen.map_or(tr!("the references"), |at| page.system_name(at));
        let combo = ComboBox::from_id_salt("corpus_lit").selected_text(shown).show_ui(ui, |ui| {
            let note = tr!("Words of a system that no reference has, and words of the references that no system has");
            ui.selectable_value(lit, None, tr!("the references")).on_hover_text(note);
            for at in there {
                let note = tr!("Words of the references and of the other systems that it does not have");
                ui.selectable_value(lit, Some(at), page.system_name(at)).on_hover_text(note);
            }
        });
        combo.response.accessible_name(tr!("What words are compared with"));
    });
}

fn texts_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, (detail, tints): (&Detail, &Tints)) {
    let t = theme::tokens(ui);
    lit_ui(ui, page, window, detail);
    let lit = lit(window, detail);
    let outputs = detail.outputs.iter().flatten().map(|output| output.text.as_str());
    // Without a choice words are missed that nobody has.
    let missed: Vec<&str> = lit.map_or_else(|| outputs.collect(), |(_, text)| vec![text]);
    let line = |ui: &mut Ui, name: &str, text: &str, others: &[&str], side: Option<TintedSide<'_>>| {
        labels::caption(ui, name);
        let marked = Marked::new(text, (others, page.corpus.rules.target), theme::body(), (t.text, t.warm));
        let (tints, said) = side.map(|side| tints.on(text, side)).unwrap_or_default();
        marked.with_tints(tints, said).paragraph_ui(ui, ("corpus text", detail.at, name));
    };
    line(ui, tr!("Source"), &detail.sentence.source, &[], Some(TintedSide::Source));
    if let Some(reference) = detail.sentence.reference.as_deref() {
        line(ui, tr!("Reference"), reference, &missed, None);
    }
    for (n, text) in detail.sentence.further.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        line(ui, &tr!("Reference {}", n + 2), text, &missed, None);
    }
    let (systems, references) = (&page.corpus.systems, detail.sentence.references());
    for (at, (column, output)) in systems.iter().zip(&detail.outputs).enumerate() {
        let Some(output) = output else { continue };
        let is_other = lit.is_some_and(|(chosen, _)| chosen != at);
        let others = if is_other { &missed } else { &references };
        line(ui, &column.system.name, &output.text, others, Some(TintedSide::System(&column.system.name)));
    }
}

fn numbers_ui(ui: &mut Ui, page: &CorpusPage, detail: &Detail) {
    let t = theme::tokens(ui);
    let corpus = &page.corpus;
    ScrollArea::horizontal().id_salt("corpus_numbers").show(ui, |ui| {
        egui::Grid::new("numbers").striped(true).spacing(vec2(theme::SPACE_3, 2.0)).show(ui, |ui| {
            ui.label("");
            for at in 0..corpus.systems.len() {
                ui.label(RichText::new(format!("{}.", at + 1)).color(t.weak))
                    .on_hover_text(&corpus.systems[at].system.name);
            }
            ui.end_row();
            for (at, measure) in corpus.measures.iter().enumerate() {
                ui.label(RichText::new(measure.title).size(theme::TEXT_SMALL)).on_hover_text(measure.about);
                for system in 0..corpus.systems.len() {
                    let column = TableColumn::Output(at, system);
                    let text = column.text(corpus, column.value(corpus, detail.at));
                    ui.label(RichText::new(text).size(theme::TEXT_SMALL));
                }
                ui.end_row();
            }
        });
    });
}

/// The alignment of a system with links by hand as outlines; nothing where no system has an alignment.
fn picture_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let with: Vec<usize> = (0..page.tables.len()).filter(|at| page.tables[*at].is_some()).collect();
    let Some(first) = with.first() else { return };
    let system = window.local.of::<CorpusMemory>().picture.system;
    let chosen = if with.contains(&system) { system } else { *first };
    let Some(table) = page.tables.get(chosen).cloned().flatten() else { return };
    let Some(matrix) = table.alpha.as_ref().filter(|matrix| matrix.columns() > 0) else { return };
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new(tr!("Alignment of")).color(theme::tokens(ui).weak));
        let combo =
            ComboBox::from_id_salt("aligned").truncate().selected_text(page.system_name(chosen)).show_ui(ui, |ui| {
                for at in &with {
                    ui.selectable_value(
                        &mut window.local.of::<CorpusMemory>().picture.system,
                        *at,
                        page.system_name(*at),
                    );
                }
            });
        combo.response.labelled_by(label.id);
        // Also before the first link, which would otherwise move the words to click.
        labels::caption(ui, tr!("outlines are links by hand"));
    });
    let needs = Needs {
        rows: matrix.rows(),
        columns: matrix.columns(),
        source_width: widest(&Letters(ui), table.source.iter().map(labels::source)),
        target_width: widest(&Letters(ui), table.target.iter().map(|word| labels::target(word, false))),
        corner_width: table
            .reading
            .map_or(0.0, |reading| widest_word(&Letters(ui), engine::lang::text(reading.row_text()))),
        text_height: ui.text_style_height(&egui::TextStyle::Small),
        pixels_per_point: ui.pixels_per_point(),
    };
    let height = (PICTURE_HEAD + PICTURE.1 * matrix.rows() as f32).min(PICTURE.0);
    let (_, room) = ui.allocate_space(vec2(ui.available_width(), height));
    let settings = &window.app.view.settings;
    let title = tr!("Alignment of {}", page.system_name(chosen));
    let heatmap = HeatmapWidget {
        id: Id::unique("corpus_heatmap"),
        name: &title,
        table: &table,
        matrix,
        shown: Shown::Alpha,
        scale: Scale::Unit,
        map: ColourMap::at(theme::map_at(settings.palette_on(ui.visuals().dark_mode))),
        metrics: Metrics::choose(&needs, room.size(), Zoom::Auto),
        marks: HeatmapMarks { row: None, column: None, selected: None },
        gaze: None,
        draws_gaze: false,
        outlined: Outlined::ByHand,
        can_drag: false,
        before: Vec::new(),
        replace: false,
        scroll_x: window.local.of::<CorpusMemory>().picture.scroll,
        locate: None,
        reveal: None,
    };
    let shown = &mut window.local.of::<CorpusMemory>().picture;
    let room = UiBuilder::new().max_rect(room);
    shown.scroll = ui.scope_builder(room, |ui| heatmap.show(ui, &mut shown.texture, false)).inner.scroll_x;
}
