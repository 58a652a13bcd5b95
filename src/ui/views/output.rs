//! Floor 9: a model's translation as words: warm where it doubts, underlined where outputs differ.

use egui::{Id, Ui};

use crate::session::{Column, Hover, SelectCommand, TargetWord};
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
    let output = area.show(ui, |ui| {
        words::flow(ui, Id::unique(("output", column.id)), &list, &theme::output(), from_right, |i| {
            tooltip(&table.target, i)
        })
    });
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
