//! The second picture of a column's alignment: links between its source and its target words.

use egui::accesskit::Role;
use egui::{Id, ScrollArea, Sense, Ui};

use crate::app::document::table::{AlignmentTable, LEFT_OUT};
use crate::app::{document::column::Column, view::Hover};
use crate::pages::shell::local::{Panel, Window};
use crate::pages::{sentence::command::SelectCommand, sentence::view::alignment, shell::clicked::MenuTarget};
use crate::widgets::marks::Letters;
use crate::widgets::{labels, marks, node, theme};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention};
use engine::lang;
use figure::links::{LinkedWord, LinksFigure, LinksLayout, Weight, outlines};
use figure::{heatmap::outlines::Outlined, label::Label};

pub fn links_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, table: &AlignmentTable) {
    let Some(alpha) = table.alpha.as_ref().filter(|alpha| alpha.columns() > 0) else {
        if table.left_out {
            ui.add(egui::Label::new(lang::text(LEFT_OUT)).wrap());
        }
        return;
    };
    let replace = window.app.replaces(column);
    let (source, target) = (labels::of_source(table), labels::of_target(table, replace));
    let links = figure(ui, window, (&source, &target), alpha, marked(window, column));
    let room = ui.available_size();
    let layout = LinksLayout::glossed(&links, room, &Letters(ui));
    ScrollArea::both().id_salt(("links", column.id)).auto_shrink(false).show(ui, |ui| {
        let (rect, response) = ui.allocate_exact_size(layout.size, Sense::click());
        let count = links.drawn().len();
        let outlined = table.links.as_ref().map_or(0, |links| links.all().len());
        let of = match window.app.view.settings.outlined(column.facts.as_ref()) {
            Outlined::Head => tr!("where words come from"),
            Outlined::Alpha => tr!("where it looked"),
            _ => tr!("of the statistical aligner"),
        };
        let more = if outlined > 0 { format!(", {outlined} {of}") } else { String::new() };
        let weight = if table.reading == Some(RowConvention::Head) { tr!("a weight") } else { "alpha" };
        let name = tr!(
            "Links of {}, {count} with {weight} of at least {}{more}",
            column.name(),
            format_args!("{:.2}", links.threshold),
            count,
            weight,
            more
        );
        node(&response, Role::Image, || name);
        let is_selected = window.app.selected_column().is_some_and(|selected| selected.id == column.id);
        if is_selected && window.local.shared.takes_focus(Panel::Picture) {
            response.request_focus();
        }
        let layout = layout.moved(rect.min.to_vec2());
        marks::paint(&ui.painter_at(rect), links.marks(&layout));
        if let Some(of_aligner) = &table.links {
            marks::paint(&ui.painter_at(rect), outlines(of_aligner, &layout, links.palette));
        }
        words_ui(ui, window, column, &layout);
    });
}

fn figure<'a>(
    ui: &Ui, window: &Window<'_>, (source, target): (&'a [Label<'a>], &'a [Label<'a>]), alpha: &'a Alignment,
    marked: Option<LinkedWord>,
) -> LinksFigure<'a> {
    LinksFigure {
        source,
        target,
        alpha,
        threshold: window.layout.links_threshold,
        weight: if window.layout.links_opacity { Weight::Opacity } else { Weight::Width },
        marked,
        palette: theme::palette(ui),
    }
}

fn marked(window: &Window<'_>, column: &Column) -> Option<LinkedWord> {
    let marks = alignment::marks(window.app, column);
    let hovered = marks.row.map(LinkedWord::Target).or(marks.column.map(LinkedWord::Source));
    hovered.or(marks.selected.map(LinkedWord::Target))
}

fn words_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, layout: &LinksLayout) {
    let words =
        (0..layout.source.len()).map(LinkedWord::Source).chain((0..layout.target.len()).map(LinkedWord::Target));
    for word in words {
        let Some(area) = layout.area(word) else { continue };
        let response = ui.interact(*area, Id::unique(("link_word", column.id, word)), Sense::click());
        let text = said(column, word);
        node(&response, Role::ListItem, || text.clone());
        let column = column.id;
        let (clicked, i, j) = match word {
            LinkedWord::Source(j) => (MenuTarget::Source { column, j }, None, Some(j)),
            LinkedWord::Target(i) => (MenuTarget::Target { column, i }, Some(i), None),
        };
        window.offer(&response, clicked);
        if response.hovered() {
            window.local.shared.hover = Some(Hover { column, i, j });
        }
        if let Some(i) = i.filter(|_| response.clicked()) {
            window.push(SelectCommand::Target { column, i });
        }
        response.on_hover_text(text);
    }
}

fn said(column: &Column, word: LinkedWord) -> String {
    let Some(table) = column.table.as_deref() else { return String::new() };
    let Some(alpha) = &table.alpha else { return String::new() };
    let (name, mut links): (String, Vec<(f32, &str)>) = match word {
        LinkedWord::Target(i) => {
            let Some(target) = table.target.get(i) else { return String::new() };
            let linked = alpha.row(i).iter().zip(&table.source).map(|(alpha, word)| (*alpha, word.text.as_str()));
            (target.text.clone(), linked.collect())
        }
        LinkedWord::Source(j) => {
            let Some(source) = table.source.get(j) else { return String::new() };
            let weight = |i: usize| alpha.row(i).get(j).copied().unwrap_or(0.0);
            let linked = table.target.iter().enumerate().map(|(i, word)| (weight(i), word.text.as_str()));
            (source.text.clone(), linked.collect())
        }
    };
    links.sort_by(|a, b| b.0.total_cmp(&a.0));
    let most: Vec<String> = links
        .iter()
        .take(3)
        .filter(|(alpha, _)| *alpha >= 0.005)
        .map(|(alpha, word)| format!("{word} {}", labels::alpha_text(*alpha)))
        .collect();
    format!("{name}: {}", most.join(", "))
}
