//! Page Corpus, the scheme of errors: a sheet with its kinds and the weights of its severities.

use std::sync::Arc;

use egui::{DragValue, Label, RichText, ScrollArea, TextEdit, Ui};

use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::corpus::view::memory::{CorpusMemory, Named, SchemeDraft};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::shell::local::{Sheet, Window};
use crate::pages::{corpus::CorpusPage, shell::sheet};
use crate::widgets::{labels, theme};
use corpus::judgements::scheme::ErrorScheme;
use engine::lang;

const OPEN: Question = Question::new(
    id!("Read a scheme of errors"),
    id!("Open"),
    Wants::File(&["toml", "json"]),
    id!("A TOML or JSON file with categories, and severities with their weights; it takes the place of the scheme."),
);

const SAVE: Question = Question::new(
    id!("Save the scheme of errors"),
    id!("Save"),
    Wants::NewFile("scheme.toml"),
    id!("TOML, or JSON where the name ends with .json; other corpora and interlinear analyse --scheme read it."),
);

const WIDTH: f32 = 620.0;
const NAME: f32 = 220.0;
/// What stands round the lists, points.
const FIXED: f32 = 260.0;

const SEVERITY: &str = id!("Severity");

pub fn scheme_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let scheme = Arc::clone(&page.corpus.scheme);
    let Some(draft) = window.local.of::<CorpusMemory>().scheme.take().filter(|_| page.path.is_some()) else {
        return;
    };
    // A file was read, or something was taken back.
    let mut draft = if *draft.of == *scheme { draft } else { SchemeDraft::new(scheme) };
    if window.local.shared.sheet != Sheet::None {
        window.local.of::<CorpusMemory>().scheme = Some(draft);
        return;
    }
    let response = sheet::modal(ui, "scheme_sheet", WIDTH, |ui, room| {
        ui.heading(tr!("Scheme of errors"));
        let note =
            tr!("Marks have a kind and a severity; the score of a system is the weight of its errors for each word.");
        ui.add(Label::new(RichText::new(note).color(theme::tokens(ui).weak)).wrap());
        let height = (room.y - FIXED).max(160.0);
        // A sheet would keep the height that it had before.
        let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height).auto_shrink([false, true]);
        area.show(ui, |ui| {
            list_ui(ui, page, SEVERITY, &mut draft.severities);
            ui.separator();
            list_ui(ui, page, id!("Kind"), &mut draft.kinds);
        });
        ui.separator();
        buttons_ui(ui, window, &mut draft)
    });
    if !(response.inner || response.should_close()) {
        window.local.of::<CorpusMemory>().scheme = Some(draft);
    }
}

fn list_ui(ui: &mut Ui, page: &CorpusPage, what: &str, list: &mut Vec<Named>) {
    let t = theme::tokens(ui);
    let used = &page.corpus.counts;
    let used = if what == SEVERITY { &used.severities } else { &used.kinds };
    let mut removed = None;
    for (n, named) in list.iter_mut().enumerate() {
        ui.horizontal(|ui| {
            let field = ui.add(TextEdit::singleline(&mut named.name).desired_width(NAME).hint_text(tr!("group/kind")));
            field.accessible_name(format!("{} {}", lang::text(what), n + 1));
            if what == SEVERITY {
                let weight = DragValue::new(&mut named.weight).range(0.0..=1000.0).speed(0.1);
                ui.add(weight).on_hover_text(tr!("What an error weighs")).accessible_name(tr!("Weight {}", n + 1));
            }
            let count = named.was.as_ref().and_then(|was| used.get(was)).copied().unwrap_or(0);
            let remove = |ui: &mut Ui, text: &str| {
                ui.button(text).accessible_name(tr!("Remove {} {}", lang::text(what).to_lowercase(), n + 1)).clicked()
            };
            if count == 0 {
                removed = remove(ui, tr!("Remove")).then_some(n).or(removed);
                return;
            }
            // Marks stay as they are; without its line of the scheme a severity weighs nothing.
            let marks = tr!("{n} mark" | "{n} marks" % count);
            ui.menu_button(tr!("Remove..."), |ui| {
                let note = tr!("{marks} of this stay as they are, outside the scheme", marks);
                ui.label(RichText::new(note).color(t.warm));
                if remove(ui, tr!("Remove all the same")) {
                    removed = Some(n);
                    ui.close();
                }
            })
            .response
            .accessible_name(tr!("Remove {} {}...", lang::text(what).to_lowercase(), n + 1));
            labels::caption(ui, marks);
        });
    }
    if let Some(n) = removed {
        list.remove(n);
    }
    if ui.button(if what == SEVERITY { tr!("Add a severity") } else { tr!("Add a kind") }).clicked() {
        list.push(Named { weight: 1.0, ..Named::default() });
    }
}

/// Gives whether the sheet closes.
fn buttons_ui(ui: &mut Ui, window: &mut Window<'_>, draft: &mut SchemeDraft) -> bool {
    let (scheme, renamed) = draft.scheme();
    let wrong = scheme.check().err();
    if let Some((key, why)) = &wrong {
        ui.label(RichText::new(tr!("The list of {key} {why}", key, why)).color(theme::tokens(ui).error));
    }
    ui.horizontal_wrapped(|ui| {
        let is_new = scheme != *draft.of;
        let save = ui.add_enabled(wrong.is_none() && is_new, egui::Button::new(tr!("Save the scheme")));
        if save.on_hover_text(tr!("Marks follow new names; Ctrl+Z takes all of it back")).clicked() {
            window.push(CorpusRequest::SetScheme(Box::new(scheme), renamed));
            return true;
        }
        for (name, label, note) in [
            ("mqm", tr!("MQM core"), tr!("The kinds and weights that a corpus begins with")),
            ("google", tr!("Google's MQM"), tr!("The kinds and weights of Google's raters")),
        ] {
            let preset = ui.button(label).on_hover_text(note).clicked().then(|| ErrorScheme::preset(name)).flatten();
            if let Some(preset) = preset {
                *draft = SchemeDraft { of: Arc::clone(&draft.of), ..SchemeDraft::new(Arc::new(preset)) };
            }
        }
        window.ask_on(&ui.button(tr!("From a file...")), OPEN, CorpusRequest::OpenScheme);
        let button = ui.button(tr!("To a file...")).on_hover_text(tr!("The scheme as it was saved, as TOML or JSON"));
        window.ask_on(&button, SAVE, CorpusRequest::SaveScheme);
        ui.button(tr!("Cancel")).clicked()
    })
    .inner
}
