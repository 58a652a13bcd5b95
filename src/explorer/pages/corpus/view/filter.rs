//! Page Corpus, the conditions and which columns are shown.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Label, PopupCloseBehavior, RichText, ScrollArea, TextEdit, Ui};

use crate::pages::corpus::views::{ExploreCommand, ExploreView};
use crate::pages::{
    corpus::CorpusPage, corpus::command::CorpusCommand, corpus::view::overview::pair_choice, shell::local::Window,
};
use crate::widgets::{labels, theme};
use corpus::{overview::compute::first_pair, query::column::TableColumn, store::corpus::CorpusTable};
use engine::lang;

/// Room that the field leaves for what stands behind it, and its least and greatest width, points.
const FIELD: (f32, f32, f32) = (430.0, 160.0, 640.0);
const LIST: f32 = 380.0;

pub fn filter_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        if let Some((_, before)) = page.whole.back.last() {
            let back = ui.button(tr!("\u{2190} Back"));
            let about = if before.is_empty() { tr!("to all sentences").to_owned() } else { tr!("to {before}", before) };
            if back.on_hover_text(tr!("Back {about}", about)).clicked() {
                window.push(ExploreCommand::Back);
            }
        }
        let mut filter = page.filter.clone();
        let label = ui.label(tr!("Show"));
        let width = (ui.available_width() - FIELD.0).clamp(FIELD.1, FIELD.2);
        let field = TextEdit::singleline(&mut filter)
            .desired_width(width)
            .hint_text("word, \"phrase\", /rule/, source:word, bleu.1<20, words=11..20, tag:name");
        let field = ui.add(field).labelled_by(label.id).on_hover_text(lang::text(HELP));
        window.push_if(field.changed(), CorpusCommand::SetFilter(filter));
        let all = ui.add_enabled(!page.filter.is_empty(), egui::Button::new(tr!("All")));
        let button = all.on_hover_text(tr!("Takes the conditions away: all sentences"));
        window.push_on(&button, CorpusCommand::SetFilter(String::new()));
        let count = tr!("{} of {}", page.rows.len(), page.corpus.len());
        labels::caption(ui, count);
        if page.whole.view == ExploreView::Table {
            menu(tr!("Columns")).ui(ui, |ui| columns_ui(ui, page, window));
        }
        let tags = &page.corpus.counts.tags;
        if !tags.is_empty() {
            ui.menu_button(tr!("Tags"), |ui| {
                for (tag, count) in tags {
                    if ui.button(format!("{tag} ({count})")).clicked() {
                        let quoted = if tag.contains(' ') { format!("tag:\"{tag}\"") } else { format!("tag:{tag}") };
                        window.push(CorpusCommand::SetFilter(quoted));
                        ui.close();
                    }
                }
            });
        }
        if let Some(trouble) = &page.trouble {
            ui.add(Label::new(RichText::new(trouble).color(t.error)).wrap());
        }
    });
}

/// A menu in which several things are chosen one after the other.
pub fn menu(name: &str) -> MenuButton<'_> {
    MenuButton::new(name).config(MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside))
}

const HELP: &str = id!("All conditions hold:\n\
    bank   \"river bank\"   /colou?r/   in any text, within words too, letter case aside\n\
    source:bank   reference:bank   output:bank   2:bank (system 2)\n\
    bleu.1<20 (bleu<20: system 1)   logp.2>=-5   words=7   words=11..20   bleu.1-2>10 (system 1 less system 2)\n\
    right.1:\"le chat\" (as the reference has it)   right.1-2:chat (more often than system 2)\n\
    missed.1:chat   extra.1:chat   wrong.1:bank (a source word)\n\
    freq.1=0..4 (a word so frequent, in the reference or output 1)   jump.1=8..\n\
    tag:idiom   stars>=3   rating.1<50   note:word   by:anna   differs:anna,bob   task:anna   todo:anna\n\
    has:gold   has:marks   has:note   has:reference   has:2\n\
    -source:bank (not so)");

/// A column in words, for those who do not see the heads.
pub fn spoken(column: TableColumn, corpus: &CorpusTable) -> String {
    match (column, column.measure(corpus)) {
        (TableColumn::Output(_, system), Some(measure)) => tr!("{}, system {}", lang::text(measure.title), system + 1),
        (TableColumn::Difference(_, first, second), Some(measure)) => {
            tr!("{}, system {} less system {}", lang::text(measure.title), first + 1, second + 1)
        }
        _ => column.title(corpus),
    }
}

fn columns_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let note = tr!("Heads of columns can also be dragged");
    ui.label(RichText::new(note).size(theme::TEXT_SMALL).weak());
    if page.corpus.systems.len() > 2 {
        let pair = page.columns.look.pair.unwrap_or_else(|| first_pair(&page.corpus));
        ui.horizontal(|ui| pair_choice(ui, page, window, (tr!("Differences of"), tr!("and")), pair));
    }
    ScrollArea::vertical().max_height(LIST).show(ui, |ui| {
        for column in page.columns.all(&page.corpus) {
            let mut is_shown = page.columns.is_shown(column, &page.corpus);
            let about = column.about(&page.corpus);
            ui.horizontal(|ui| {
                let is_changed =
                    ui.checkbox(&mut is_shown, spoken(column, &page.corpus)).on_hover_text(about).changed();
                window.push_if(is_changed, CorpusCommand::ShowColumn(column.name(&page.corpus), is_shown));
                if !is_shown {
                    return;
                }
                for (sign, way, by) in [("\u{2190}", tr!("left"), -1), ("\u{2192}", tr!("right"), 1)] {
                    let name = tr!("Move {} {way}", spoken(column, &page.corpus), way);
                    window.push_if(
                        labels::small_button(ui, sign).on_hover_text(&name).accessible_name(name.clone()).clicked(),
                        ExploreCommand::MoveColumn(column.name(&page.corpus), by),
                    );
                }
            });
        }
    });
}
