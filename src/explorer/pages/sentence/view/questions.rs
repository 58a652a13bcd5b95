//! Which question the pictures answer, where it looked or where words come from, and by which word rows are read.

use egui::accesskit::Role;
use egui::{Sense, Ui, WidgetInfo, vec2};

use crate::app::{command::SettingsCommand, document::table::AlignmentTable, settings::RowSource};
use crate::pages::shell::local::Window;
use crate::widgets::{labels, marks, theme};
use engine::analysis::row_convention::{OF_ALPHA, RowConvention};
use engine::lang;
use figure::heatmap::{outlines, outlines::Outlined};

/// Whether its rows of alpha can be read by another word.
pub fn has_choice(table: &AlignmentTable) -> bool {
    table.reading.is_some_and(|reading| reading != RowConvention::Head)
}

pub fn has_heads(window: &Window<'_>) -> bool {
    let mut facts = window.app.document.columns.iter().filter_map(|column| column.facts.as_ref());
    facts.any(|facts| facts.has_head)
}

pub fn asked_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if !has_heads(window) {
        return;
    }
    let asked = window.app.view.settings.asked;
    for (origin, name, said, note) in [
        (false, tr!("where it looked"), tr!("Where it looked to choose the word"), lang::text(LOOKED)),
        (true, tr!("where it comes from"), tr!("Where the word comes from"), lang::text(COMES)),
    ] {
        let button = ui.selectable_label(asked.origin == origin, name).on_hover_text(note);
        window
            .push_if(button.accessible_name(said).clicked(), SettingsCommand::SetAsked(RowSource { origin, ..asked }));
    }
    let other = if asked.origin { Outlined::Alpha } else { Outlined::Head };
    if asked.both {
        sample_ui(ui, other, tr!("Legend of the outlines, the other of both questions"));
    }
    let note = tr!(
        "Outlines the other one over it, in place of the links of the statistical aligner.\n{}",
        other.legend().map(|(text, _)| lang::text(text)).join("\n")
    );
    let button = ui.selectable_label(asked.both, tr!("both")).on_hover_text(note);
    window.push_if(
        button.accessible_name(tr!("Outline the other of both questions")).clicked(),
        SettingsCommand::SetAsked(RowSource { both: !asked.both, ..asked }),
    );
    ui.separator();
}

pub fn sample_ui(ui: &mut Ui, of: Outlined, name: &'static str) {
    let (rect, response) = ui.allocate_exact_size(vec2(outlines::SAMPLE_WIDTH, 14.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Legend, true, name));
    marks::paint(ui.painter(), outlines::sample(&rect, theme::palette(ui)));
    response.on_hover_text(of.legend().map(|(text, _)| lang::text(text)).join("\n"));
}

const LOOKED: &str =
    id!("alpha, where the model looked when it chose each word; what is set there changes the translation");

const COMES: &str = id!(
    "In models with an alignment head, where each word comes from. The head was learned on the finished model and is \
                     asked once a word has been read, so that the row of a word comes one step behind it and the last word has \
                     none. It explains the alignment and not the choice: no word would be another one without it. In RNNencdec it \
                     is a probe of what the states know, for its decoder never sees h_j"
);

pub fn reading_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if !window.app.document.columns.iter().filter_map(|column| column.table.as_deref()).any(has_choice) {
        return;
    }
    labels::caption(ui, tr!("rows by"));
    let chosen = window.app.view.settings.reading;
    let has_own = has_own_reading(window);
    if has_own {
        let button = ui.selectable_label(chosen.is_none(), tr!("own")).on_hover_text(lang::text(OWN));
        window.push_if(
            button.accessible_name(tr!("Rows by each model's own reading")).clicked(),
            SettingsCommand::SetReading(None),
        );
    }
    for entry in OF_ALPHA {
        let note = format!("{} {}", lang::text(entry.about), lang::text(WHEN_READ));
        let is_chosen =
            if has_own { chosen == Some(entry.reading) } else { chosen.unwrap_or_default() == entry.reading };
        let button = ui.selectable_label(is_chosen, lang::text(entry.name)).on_hover_text(note);
        if button.accessible_name(tr!("Rows by {}", lang::text(entry.name))).clicked() {
            window.push(SettingsCommand::SetReading(Some(entry.reading)));
        }
    }
    ui.add_space(theme::SPACE_2);
}

/// Whether a model is shown whose training guided the rows of the words that the decoder reads.
pub fn has_own_reading(window: &Window<'_>) -> bool {
    let mut facts = window.app.document.columns.iter().filter_map(|column| column.facts.as_ref());
    facts.any(|facts| facts.reading != RowConvention::default())
}

const OWN: &str =
    id!("Rows as each model was trained: of the word that had just been read where its training guided those \
                   rows, else of the word that was predicted");

const WHEN_READ: &str = id!(
    "(Luong et al. 2015, footnote 14). A model of Luong's has read a word one row after the one that predicted it, \
                         RNNsearch two rows after, since alpha_i is made from s_{i-1}, before y_{i-1} is read (Bahdanau et al. 2015, \
                         appendix A.2.2); so the last words have no row, but in models that were trained so, which take a step more."
);
