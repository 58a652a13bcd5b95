//! The line of an ensemble: what is averaged, and whose alignment is shown.

use egui::{ComboBox, Ui};

use crate::app::document::column::Column;
use crate::pages::{sentence::command::ColumnCommand, shell::local::Window};
use crate::widgets::{labels, theme};
use engine::decoding::ensemble::{AVERAGES, AlignmentOf, Average, Mixing};

const WIDE: f32 = 400.0;

fn average_text(average: Average) -> &'static str {
    match average {
        Average::Probability => tr!("mean of p"),
        Average::LogProbability => tr!("mean of log p"),
    }
}

fn alignment_text(column: &Column, of: AlignmentOf) -> String {
    match of {
        AlignmentOf::Mean => tr!("mean").to_owned(),
        AlignmentOf::Member(n) => {
            let members = column.facts.as_ref().map_or(&[][..], |facts| &facts.members);
            members.get(n).map_or_else(|| tr!("member {}", n + 1), |member| member.name.clone())
        }
    }
}

pub fn mixing_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let system = &column.system;
    let mut mixing = system.mixing;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = theme::SPACE_1;
        // the heading names the members; in a narrow column their number makes way for the choices
        if ui.available_width() > WIDE {
            labels::caption(ui, tr!("{} models,", system.members.len()));
        }
        average_ui(ui, column, &mut mixing);
        if column.facts.as_ref().is_some_and(|facts| facts.has_alignment) {
            labels::caption(ui, tr!("alignment").to_owned());
            alignment_ui(ui, column, &mut mixing);
        }
    });
    if mixing != system.mixing {
        window.push(ColumnCommand::SetMixing { column: column.id, mixing });
    }
}

fn average_ui(ui: &mut Ui, column: &Column, mixing: &mut Mixing) {
    let combo = ComboBox::from_id_salt(("average", column.id)).width(96.0).selected_text(average_text(mixing.average));
    let shown = combo.show_ui(ui, |ui| {
        for average in AVERAGES {
            ui.selectable_value(&mut mixing.average, average, average_text(average));
        }
    });
    let name = tr!("What {} averages", column.name());
    shown.response.accessible_name(name).on_hover_text(
        tr!("The members' probabilities of each word are averaged, or their log-probabilities, which is the geometric mean, normalised again"),
    );
}

fn alignment_ui(ui: &mut Ui, column: &Column, mixing: &mut Mixing) {
    let members = column.facts.as_ref().map_or(&[][..], |facts| &facts.members);
    let with = members.iter().enumerate().filter(|(_, member)| member.has_alignment);
    let choices = std::iter::once(AlignmentOf::Mean).chain(with.map(|(n, _)| AlignmentOf::Member(n)));
    let text = |of: AlignmentOf| alignment_text(column, of);
    let width = ui.available_width().clamp(60.0, 160.0);
    let combo =
        ComboBox::from_id_salt(("alignment", column.id)).width(width).truncate().selected_text(text(mixing.alignment));
    let shown = combo.show_ui(ui, |ui| {
        for of in choices {
            ui.selectable_value(&mut mixing.alignment, of, text(of));
        }
    });
    shown
        .response
        .accessible_name(tr!("Alignment of {}, shown", column.name()))
        .on_hover_text(tr!("The alignment of one member, or the mean of those that have one"));
}
