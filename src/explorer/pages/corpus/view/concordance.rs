//! Page Corpus, the concordance: hits of a query with the key words in the middle, below them the output with the
//! words that they are linked to, in the same colours.

use egui::accesskit::Role;
use egui::text::{LayoutJob, TextFormat};
use egui::{Align2, Color32, ComboBox, Label, Rect, RichText, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, pos2, vec2};

use crate::pages::corpus::views::{Concordance, ExploreCommand};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::memory::CorpusMemory, corpus::view::tallies,
    shell::local::Window,
};
use crate::widgets::{bidi, labels, rows, theme};
use corpus::query::linked::LinkChoice;
use engine::analysis::concordance::{ConcordanceLine, ConcordanceOrder};
use engine::lang;

const ROW: f32 = 44.0;
const NUMBERS: f32 = 84.0;
/// Least and greatest width of the query, points.
const FIELD: (f32, f32) = (180.0, 460.0);
/// Words of a side that are laid out at most.
const MOST_WORDS: usize = 30;

const HITS: Question = Question::new(
    id!("Save the hits as TSV"),
    id!("Save"),
    Wants::NewFile("hits.tsv"),
    id!("A row for each hit: what stands before it, the hit, what stands behind it, what it is linked to."),
);

const ORDERS: [(ConcordanceOrder, &str); 4] = [
    (ConcordanceOrder::Place, id!("as the sentences stand")),
    (ConcordanceOrder::Left, id!("words before it")),
    (ConcordanceOrder::Hit, id!("words of the hit")),
    (ConcordanceOrder::Right, id!("words behind it")),
];

const EXAMPLES: &[(&str, &str)] = &[
    ("house", id!("A word of the source, letter case aside")),
    ("the _ of", id!("Words one behind the other; _ is any")),
    ("the ..3 of", id!("Up to three words between")),
    ("{red, old, big} _", id!("One of a list")),
    ("{@colours.txt} _", id!("One of a list in a file beside the corpus, a word a line")),
    ("/.*ing/", id!("A regular expression for a whole word")),
    ("house -> maison", id!("A word that is linked to this one")),
    ("not -/> pas", id!("A word that is not linked to this one, whether the output has it or not")),
    ("_ -> \"[UNK]\"", id!("What is linked to an unknown word")),
    ("{red, old} -> _ _ -> _ crossing", id!("Two words whose links cross: the order is turned")),
    ("not | pas", id!("Of the source, where the output has this besides")),
    ("| ne ..3 pas", id!("Of the output alone")),
];

pub fn concordance_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    if LinkChoice::all(&page.corpus).is_empty() {
        ui.label(tr!("No system says anything yet: run the models above, or import what another system said."));
        return;
    }
    ui.horizontal_wrapped(|ui| query_ui(ui, page, window));
    let is_counted = page.whole.tallied.asked.is_shown;
    ui.horizontal_wrapped(|ui| {
        tallies::tabs_ui(ui, page, window);
        if is_counted { tallies::asked_ui(ui, page, window) } else { order_ui(ui, page, window) }
    });
    let concordance = &page.whole.concordance;
    let t = theme::tokens(ui);
    let tallied = &page.whole.tallied;
    if let Some(trouble) = if is_counted { &tallied.trouble } else { &concordance.trouble } {
        ui.add(Label::new(RichText::new(trouble).color(t.error)).wrap());
    }
    if is_counted {
        return tallies::counts_ui(ui, page);
    }
    if let Some(note) = &concordance.note {
        ui.add(Label::new(RichText::new(lang::text(note)).size(theme::TEXT_SMALL).color(t.warm)).wrap());
    }
    if concordance.query.trim().is_empty() {
        ui.add_space(theme::SPACE_3);
        ui.label(RichText::new(tr!("Type a word or a pattern above; Examples shows what can be asked.")).color(t.weak));
        return;
    }
    hits_ui(ui, page, window);
}

fn query_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let mut query = page.whole.concordance.query.clone();
    let label = ui.label(tr!("Find"));
    let width = (ui.available_width() - 470.0).clamp(FIELD.0, FIELD.1);
    let field = TextEdit::singleline(&mut query).desired_width(width).hint_text("{red, old} -> _ _ -> _ crossing");
    let field = ui.add(field).labelled_by(label.id).on_hover_text(lang::text(HELP));
    window.push_if(field.changed(), ExploreCommand::SetQuery(query));
    ui.menu_button(tr!("Examples"), |ui| {
        egui::Grid::new("query_examples").spacing(vec2(theme::SPACE_4, 2.0)).show(ui, |ui| {
            for (example, about) in EXAMPLES {
                if ui.button(RichText::new(*example).monospace()).clicked() {
                    window.push(ExploreCommand::SetQuery((*example).to_owned()));
                    ui.close();
                }
                ui.label(RichText::new(lang::text(about)).size(theme::TEXT_SMALL));
                ui.end_row();
            }
        });
    });
    let (mut by_parts, mut by_target) = (page.whole.concordance.by_parts, page.whole.concordance.by_target);
    if page.corpus.has_parts {
        let note = tr!(
            "Words of the query before | are parts of speech, such as ADJ NOUN crossing; sentences without them are passed over"
        );
        let is_changed = ui.checkbox(&mut by_parts, tr!("by part of speech")).on_hover_text(note).changed();
        window.push_if(is_changed, ExploreCommand::SetByParts(by_parts, by_target));
    }
    if page.corpus.has_target_parts {
        let note = tr!("Words of the query behind -> and | are parts of speech; texts without them are skipped");
        let is_changed = ui.checkbox(&mut by_target, tr!("target by part of speech")).on_hover_text(note).changed();
        window.push_if(is_changed, ExploreCommand::SetByParts(by_parts, by_target));
    }
    tallies::links_ui(ui, page, window);
}

const HELP: &str = id!("word   \"word\"   {red, old}   {@file}   /rule/   _ (any word)\n\
    red car   one behind the other      red ..2 car   up to two words between\n\
    red -> rouge   linked to this output word      red -/> rouge   not linked to it\n\
    | rouge   the output has it\n\
    red _ crossing   the links of two words cross");

fn order_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let concordance = &page.whole.concordance;
    let label = ui.label(tr!("Sorted by"));
    let shown = ORDERS.iter().find(|(order, _)| *order == concordance.order).map_or("", |(_, name)| name);
    let combo = ComboBox::from_id_salt("query_order").selected_text(lang::text(shown)).show_ui(ui, |ui| {
        for (order, name) in ORDERS {
            let button = ui.selectable_label(order == concordance.order, lang::text(name));
            window.push_on(&button, ExploreCommand::SetOrder(order));
        }
    });
    combo.response.labelled_by(label.id);
    let button = ui.add_enabled(!concordance.lines.is_empty(), egui::Button::new(tr!("Save as TSV...")));
    window.ask_on(&button, HITS, ExploreCommand::SaveHits);
    if !concordance.query.trim().is_empty() && concordance.trouble.is_none() {
        let text = counted(concordance, page.rows.len());
        labels::caption(ui, text);
    }
}

fn counted(concordance: &Concordance, of: usize) -> String {
    let hits = tr!("{n} hit" | "{n} hits" % concordance.lines.len());
    if concordance.is_searching {
        tr!("{hits} so far; {} of {of} sentences are looked through", concordance.done, hits, of)
    } else {
        tr!(
            "{hits} in {} of {n} sentence" | "{hits} in {} of {n} sentences" % concordance.done,
            concordance.sentences,
            hits
        )
    }
}

fn hits_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let count = page.whole.concordance.sorted.len();
    ui.spacing_mut().item_spacing.y = 0.0;
    let list = ui.interact(ui.available_rect_before_wrap(), ui.scope_id().with("hits"), Sense::click());
    list.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, tr!("Hits of the query")));
    let by = rows::keys(ui, &list);
    window.push_if(by != 0, ExploreCommand::MoveHit(by));
    let is_opened = list.has_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    window.push_if(is_opened, CorpusCommand::OpenSentence);
    rows::ring(ui, &list, list.rect, 0.0);
    let mut area = ScrollArea::vertical().id_salt("corpus_hits").auto_shrink(false);
    let selected = page.whole.concordance.selected;
    let seen = std::mem::replace(&mut window.local.of::<CorpusMemory>().seen_hit, selected);
    if let Some(row) = selected.filter(|_| seen != selected && list.has_focus()) {
        area = area.vertical_scroll_offset((row as f32 * ROW - list.rect.height() / 2.0).max(0.0));
    }
    area.show_rows(ui, ROW, count, |ui, range| {
        ui.ctx().allow_widget_id_changes_in(ui.clip_rect().expand(ROW * 2.0));
        for row in range {
            hit_ui(ui, page, window, row, &list);
        }
    });
}

fn hit_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>, row: usize, list: &egui::Response) {
    let t = theme::tokens(ui);
    let concordance = &page.whole.concordance;
    let Some(line) = concordance.line(row) else { return };
    let is_chosen = concordance.selected == Some(row);
    let (_, rect) = ui.allocate_space(vec2(ui.available_width(), ROW));
    let response = ui.interact(rect, ui.scope_id().with(("hit", row)), Sense::CLICK);
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_chosen, spoken(row, line)));
    ui.painter().rect_filled(rect, 0.0, rows::ground(ui, &response, is_chosen, None));
    let numbers = format!("{}", row + 1);
    let sentence = tr!("sentence {}", line.at + 1);
    ui.painter().text(rect.left_top() + vec2(6.0, 4.0), Align2::LEFT_TOP, numbers, theme::body(), t.weak);
    ui.painter().text(rect.left_bottom() + vec2(6.0, -5.0), Align2::LEFT_BOTTOM, sentence, theme::small(), t.weak);
    let room = rect.with_min_x(rect.left() + NUMBERS);
    let (above, below) = room.split_top_bottom_at_fraction(0.5);
    let span = line.span();
    centred(ui, above, &line.words, span, &|place| line.key(place), t.text);
    let linked = line.linked.iter().map(|(place, _)| *place);
    let first = linked.clone().min();
    let span = first.map_or(0..0, |first| first..linked.max().map_or(first, |last| last + 1));
    centred(ui, below, &line.others, span, &|place| line.link(place), t.weak);
    ui.painter().hline(rect.x_range(), rect.bottom(), egui::Stroke::new(0.5, t.line));
    if response.clicked() {
        list.request_focus();
        window.push(ExploreCommand::SelectHit(row));
    }
    window.push_if(response.double_clicked(), CorpusCommand::OpenSentence);
}

/// A hit for those who hear it.
fn spoken(row: usize, line: &ConcordanceLine) -> String {
    let [_, hit, _] = line.parts();
    let linked = line.linked_words().join(" ");
    let to = if linked.is_empty() { String::new() } else { tr!(", linked to {linked}", linked) };
    tr!("Hit {}: {} in sentence {}{to}", row + 1, hit.join(" "), line.at + 1, to)
}

/// Words with those of a span in the middle of the room; the others run out of it on both sides.
fn centred(
    ui: &Ui, room: Rect, words: &[String], span: std::ops::Range<usize>, item: &dyn Fn(usize) -> Option<usize>,
    colour: Color32,
) {
    let end = span.end.min(words.len());
    let start = span.start.min(end);
    let painter = ui.painter().with_clip_rect(room.intersect(ui.clip_rect()));
    let from_right = bidi::starts_right(&words.join(" "));
    let job = |range: std::ops::Range<usize>| {
        let mut job = LayoutJob::default();
        let places: Vec<usize> = if from_right { range.rev().collect() } else { range.collect() };
        for place in places {
            let word = item(place).map_or_else(
                || TextFormat::simple(theme::body(), colour),
                |item| {
                    let colour = theme::series(ui, item);
                    let background = colour.gamma_multiply(0.16);
                    TextFormat { background, ..TextFormat::simple(theme::body(), colour) }
                },
            );
            let text = words.get(place).map_or("", String::as_str);
            let text = if from_right { bidi::turned(text) } else { text.into() };
            job.append(&text, 0.0, word);
            job.append(" ", 0.0, TextFormat::simple(theme::body(), colour));
        }
        job.wrap.max_rows = 1;
        painter.layout_job(job)
    };
    let (mut left, middle) = (job(start.saturating_sub(MOST_WORDS)..start), job(start..end));
    let mut right = job(end..words.len().min(end + MOST_WORDS));
    if from_right {
        std::mem::swap(&mut left, &mut right);
    }
    // A hit stands in the middle; what has no hit begins where lines do.
    let from = if start < end {
        room.center().x - (middle.size().x / 2.0).min(room.width() / 3.0)
    } else if from_right {
        room.right()
    } else {
        room.left()
    };
    let top = room.center().y - right.size().y.max(middle.size().y) / 2.0;
    painter.galley(pos2(from - left.size().x, top), left, colour);
    let width = middle.size().x;
    painter.galley(pos2(from, top), middle, colour);
    painter.galley(pos2(from + width, top), right, colour);
}
