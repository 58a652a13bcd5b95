//! Floor 9: a model's translation as words: warm where it doubts, underlined where outputs differ.

use egui::{Id, Ui};

use crate::session::{Column, Hover, SelectCommand, TargetWord};
use crate::ui::clicked::Clicked;
use crate::ui::local::Window;
use crate::ui::views::alignment;
use crate::ui::widgets::{labels, words};
use crate::ui::{bidi, theme};

/// Paints the translation.
pub fn output_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let Some(table) = column.table.as_deref() else {
        window.local.output_heights.remove(&column.id);
        return;
    };
    let t = theme::tokens(ui);
    let marks = alignment::marks(window.session, column);
    let replace = window.session.settings().unk_replacement;
    let list: Vec<words::Word> = table
        .target
        .iter()
        .enumerate()
        .map(|(i, word)| words::Word {
            text: labels::target_text(word, replace),
            label: format!("{} probability {:.2}", labels::target_text(word, replace), word.probability),
            back: theme::doubt(t, word.log_p),
            colour: if word.is_eos { t.weak } else { t.text },
            is_over: marks.row == Some(i),
            is_selected: marks.selected == Some(i),
            differs: word.differs,
        })
        .collect();
    let area = egui::ScrollArea::vertical().id_salt("output").auto_shrink([false, true]);
    let from_right = bidi::starts_right(&table.text);
    let id = Id::unique(("output", column.id));
    let asked = match window.local.asked {
        // the heatmap has the place of a cell
        Some(Clicked::Target { column: of, i }) if of == column.id => Some(i),
        _ => None,
    };
    let (font, picked) = (theme::output(), window.picked(id, &table.text));
    let flow = words::Flow { id, font: &font, from_right, picked, asked };
    let output = area.show(ui, |ui| words::flow(ui, &flow, &list, |i| tooltip(&table.target, i)));
    if let Some(range) = output.inner.picked {
        let target: Vec<String> =
            table.target.iter().filter(|word| !word.is_eos).map(|word| labels::target_text(word, replace)).collect();
        let target: Vec<&str> = target.iter().map(String::as_str).collect();
        window.pick(ui, id, &table.text, &target, range);
    }
    if let Some((i, at)) = output.inner.menu {
        window.offer_at(Clicked::Target { column: column.id, i }, at);
    }
    window.local.output_heights.insert(column.id, output.content_size.y);
    if let Some(i) = output.inner.over {
        window.local.hover = Some(Hover { column: column.id, i: Some(i), j: None });
    }
    if let Some(i) = output.inner.clicked {
        window.push(SelectCommand::Target { column: column.id, i });
    }
}

fn tooltip(target: &[TargetWord], i: usize) -> String {
    let Some(word) = target.get(i) else { return String::new() };
    let mut text = format!("{}, p {:.3}, log p {:.2}", word.text, word.probability, word.log_p);
    if let Some(typed) = &word.replaced {
        text.push_str(&format!("; the source word of greatest alpha is \"{typed}\""));
    }
    if word.differs {
        text.push_str("; not in every output");
    }
    text
}
