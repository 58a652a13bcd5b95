//! The page Corpus: a workspace as a table, the chosen sentence beside it. A tab is a file and a line of `TABS`.

mod agreement;
mod bars;
mod concordance;
mod contrasts;
mod detail;
mod documents;
mod filter;
mod gold;
mod judge;
mod judgement;
mod listing;
mod marks;
pub mod matrix;
mod memory;
mod overview;
mod run;
mod save;
mod scheme;
mod table;
mod tallies;
mod tints;
mod training;
mod words;

use std::path::PathBuf;

use egui::{Key, Label, ProgressBar, RichText, TextEdit, Ui, UiBuilder, vec2};

use crate::jobs::corpus::thread::CorpusRequest;
use crate::pages::corpus::views::{ExploreCommand, ExploreView as WholeView};
use crate::pages::shell::dialogs::{AskedPath, IMPORT, Question, WORKSPACE, Wants};
use crate::pages::shell::local::{PageView, Window};
use crate::pages::{
    command::Command, corpus::CorpusPage, corpus::command::CorpusCommand, corpus::documents::DocumentCommand,
    corpus::view::memory::CorpusMemory, shell::menu, shell::task,
};
use crate::widgets::{can_drop, labels, theme};
use engine::lang;
use import::Role;

const PATH_WIDTH: f32 = 520.0;
/// Share of the width that the chosen sentence takes, and its least and greatest width, points.
const DETAIL: (f32, f32, f32) = (0.36, 320.0, 560.0);
/// With less room the chosen sentence stands below the table, points.
const NARROW: f32 = 860.0;
const BELOW: f32 = 0.45;
/// With less room what stands in the bar moves closer together, so that it has one line, points.
const WIDE_BAR: f32 = 1100.0;
const MOST_WARNINGS: usize = 5;
const RERANK: f32 = 120.0;

const MAKE: Question = Question::new(id!("New corpus"), id!("Make"), Wants::NewFile("corpus.ilws"), WORKSPACE.note);

const SAVE_AS: Question =
    Question::new(id!("Save the corpus"), id!("Save"), Wants::NewFile("corpus.ilws"), WORKSPACE.note);

struct Tab {
    view: WholeView,
    name: &'static str,
    ui: fn(&mut Ui, &CorpusPage, &mut Window<'_>),
    /// It shows sentences: without a corpus there is nothing to show.
    of_corpus: bool,
    /// The chosen sentence stands beside it.
    has_detail: bool,
}

impl Tab {
    const fn new(view: WholeView, name: &'static str, ui: fn(&mut Ui, &CorpusPage, &mut Window<'_>)) -> Self {
        Self { view, name, ui, of_corpus: true, has_detail: false }
    }
}

const TABS: [Tab; 6] = [
    Tab { has_detail: true, ..Tab::new(WholeView::Table, id!("Table"), table::table_ui) },
    // It is about all sentences and needs the room.
    Tab::new(WholeView::Overview, id!("Overview"), overview::overview_ui),
    Tab { has_detail: true, ..Tab::new(WholeView::Concordance, id!("Concordance"), concordance::concordance_ui) },
    // Who judges sees no names of systems.
    Tab::new(WholeView::Judge, id!("Judge"), judge::judge_ui),
    Tab { of_corpus: false, ..Tab::new(WholeView::Contrast, id!("Minimal pairs"), contrasts::contrasts_ui) },
    Tab { of_corpus: false, ..Tab::new(WholeView::Training, id!("Training"), training::training_ui) },
];

impl PageView for CorpusPage {
    fn middle_ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        self.ui(ui, window);
    }

    fn manual(&self) -> Option<&'static str> {
        Some("corpus.md")
    }

    fn undo(&self, again: bool) -> Option<Command> {
        Some(match (self.tools.documents.is_open, again) {
            (true, false) => DocumentCommand::Undo.into(),
            (true, true) => DocumentCommand::Redo.into(),
            (false, false) => CorpusRequest::Undo.into(),
            (false, true) => CorpusRequest::Redo.into(),
        })
    }

    fn opens(&self) -> AskedPath {
        let is_open = self.path.is_some();
        if is_open { IMPORT.then(CorpusCommand::Import) } else { WORKSPACE.then(CorpusRequest::Open) }
    }

    fn escape(&self, window: &mut Window<'_>) {
        if window.local.of::<CorpusMemory>().scheme.take().is_some() {
            return;
        }
        if self.compared.is_some() {
            return window.push(CorpusRequest::Compare(None));
        }
        match self.whole.view {
            WholeView::Judge => window.local.of::<CorpusMemory>().desk.clear(),
            _ => window.push(CorpusCommand::Select(None)),
        }
    }
}

impl CorpusPage {
    fn ui(&self, ui: &mut Ui, window: &mut Window<'_>) {
        let page = self;
        if page.tools.documents.is_open {
            return documents::documents_ui(ui, page, window);
        }
        let view = page.whole.view;
        let Some(tab) = TABS.iter().find(|tab| tab.view == view) else { return };
        if view != WholeView::Judge {
            // a field that is gone never says that it lost the keyboard
            judgement::keep(window, page.path.is_some());
        }
        ui.horizontal_wrapped(|ui| bar_ui(ui, page, window));
        if page.path.is_none() && tab.of_corpus {
            empty_ui(ui, page, window);
            return;
        }
        agreement::agreement_ui(ui, page, window);
        scheme::scheme_ui(ui, page, window);
        imported_ui(ui, page, window);
        for number in page.tasks.clone() {
            task::task_ui(ui, window, Some(number));
        }
        if !tab.of_corpus {
            (tab.ui)(ui, page, window);
            return;
        }
        if page.corpus.is_empty() {
            first_ui(ui, window);
            return;
        }
        if view != WholeView::Judge || page.corpus.campaign.is_none() {
            filter::filter_ui(ui, page, window);
        }
        ui.add_space(theme::SPACE_1);
        let room = ui.available_rect_before_wrap();
        let is_chosen = page.detail.is_some() && tab.has_detail;
        let (mut list, mut rest) = (room, room);
        if is_chosen && room.width() >= NARROW {
            let width = (room.width() * DETAIL.0).clamp(DETAIL.1, DETAIL.2);
            (list, rest) = room.split_left_right_at_x(room.right() - width);
            rest = rest.with_min_x(rest.left() + theme::SPACE_3);
        } else if is_chosen {
            (list, rest) = room.split_top_bottom_at_y(room.bottom() - room.height() * BELOW);
            rest = rest.with_min_y(rest.top() + theme::SPACE_2);
        }
        ui.scope_builder(UiBuilder::new().max_rect(list), |ui| (tab.ui)(ui, page, window));
        if is_chosen {
            ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| detail::detail_ui(ui, page, window));
        }
    }
}

fn empty_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.16);
        ui.set_max_width(ui.available_width().min(PATH_WIDTH + 120.0));
        ui.heading(tr!("Corpora"));
        let note =
            tr!("A corpus is one file: sentences, what systems make of them, alignments, and what you say of that. \
                    Everything is kept as it happens.");
        ui.label(RichText::new(note).color(t.weak));
        ui.add_space(theme::SPACE_3);
        imported_ui(ui, page, window);
        open_ui(ui, page, window);
        ui.add_space(theme::SPACE_3);
        start_ui(ui, window);
        ui.add_space(theme::SPACE_3);
        let note = tr!("Then run the models above over them, or import more; the tab Overview measures all systems.");
        ui.label(RichText::new(note).color(t.weak));
    });
}

fn open_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let is_free = !window.local.dialogs.is_open();
    ui.horizontal_wrapped(|ui| {
        if ui.add_enabled(is_free, egui::Button::new(tr!("New corpus..."))).clicked() {
            window.local.dialogs.ask(MAKE.then(CorpusRequest::Open));
        }
        if ui.add_enabled(is_free, egui::Button::new(tr!("Open corpus..."))).clicked() {
            window.local.dialogs.ask(WORKSPACE.then(CorpusRequest::Open));
        }
        documents::offer_ui(ui, window);
    });
    let width = ui.available_width();
    ui.allocate_ui(vec2(width, 0.0), |ui| {
        ui.horizontal(|ui| {
            let label = ui.label(tr!("Path"));
            let room = (ui.available_width() - 140.0).max(120.0);
            let field = TextEdit::singleline(&mut window.local.of::<CorpusMemory>().path)
                .desired_width(room)
                .hint_text(tr!("of a corpus, new or not"));
            let field = ui.add(field).labelled_by(label.id);
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let path = window.local.of::<CorpusMemory>().path.trim().to_owned();
            let open = ui.add_enabled(!path.is_empty(), egui::Button::new(tr!("Open")));
            window.push_if((open.clicked() || entered) && !path.is_empty(), CorpusRequest::Open(PathBuf::from(path)));
        });
    });
    if let Some(last) = page.kept.workspace.clone() {
        let name = last.file_name().unwrap_or(last.as_os_str()).display().to_string();
        if ui.button(tr!("Open {name} again", name)).on_hover_text(last.display().to_string()).clicked() {
            window.push(CorpusRequest::Open(last));
        }
    }
}

fn bar_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    let Some(path) = page.path.clone() else { return views_ui(ui, page, window) };
    if ui.available_width() < WIDE_BAR {
        let spacing = ui.spacing_mut();
        (spacing.item_spacing.x, spacing.button_padding.x) = (theme::SPACE_1, theme::SPACE_1);
    }
    let name = path.file_stem().unwrap_or(path.as_os_str()).display().to_string();
    let counts = format!(
        "{}, {}",
        tr!("{n} sentence" | "{n} sentences" % page.corpus.len()),
        tr!("{n} system" | "{n} systems" % page.corpus.systems.len())
    );
    ui.label(RichText::new(name).size(theme::TEXT_TITLE).color(t.text)).on_hover_text(path.display().to_string());
    labels::caption(ui, counts);
    views_ui(ui, page, window);
    ui.separator();
    import_ui(ui, page, window);
    run::run_ui(ui, page, window);
    save::save_ui(ui, page, window);
    let mut note = tr!("Close this corpus; everything in it is kept");
    if page.is_unsaved() {
        note = tr!("Close this corpus; nothing of it is kept unless it is saved");
        let save =
            ui.button(tr!("Save as...")).on_hover_text(tr!("Keep this corpus in a file; now it goes with the window"));
        window.ask_on(&save, SAVE_AS, CorpusRequest::SaveAs);
    }
    window.push_on(&ui.button(tr!("Close")).on_hover_text(note), CorpusRequest::Close);
}

fn views_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let shown = page.whole.view;
    for Tab { view, name, .. } in TABS {
        let name = lang::text(name);
        let tab = ui.selectable_label(view == shown, name);
        tab.widget_info(|| egui::WidgetInfo::selected(egui::accesskit::Role::Tab, true, view == shown, name));
        window.push_on(&tab, ExploreCommand::SetView(view));
    }
}

fn import_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    // It stays open while one chooses.
    filter::menu(tr!("Import...")).ui(ui, |ui| {
        let role = page.incoming.role.clone();
        ui.label(tr!("A plain text is"));
        for other in
            [Role::Source, Role::Reference, Role::Output(String::new()), Role::Scores(String::new()), Role::Gold]
        {
            let is_chosen = std::mem::discriminant(&other) == std::mem::discriminant(&role);
            window.push_if(ui.radio(is_chosen, role_name(&other)).clicked() && !is_chosen, CorpusCommand::SetRole(other));
        }
        if let Role::Output(name) = &role {
            let mut name = name.clone();
            let label = ui.label(tr!("Name of the system"));
            window.push_if(ui.text_edit_singleline(&mut name).labelled_by(label.id).changed(), CorpusCommand::SetRole(Role::Output(name)));
        }
        if let Role::Scores(column) = &role {
            let mut column = column.clone();
            let label = ui.label(tr!("Score and system, such as COMET.1"));
            window.push_if(ui.text_edit_singleline(&mut column).labelled_by(label.id).changed(), CorpusCommand::SetRole(Role::Scores(column)));
            let note = tr!("A number for each sentence. A table has scores in columns of such names.");
            ui.add(Label::new(RichText::new(note).size(theme::TEXT_SMALL).weak()).wrap());
        }
        if role == Role::Reference {
            let note = tr!("A further file is another reference; BLEU, chrF2 and TER are over all.");
            ui.add(Label::new(RichText::new(note).size(theme::TEXT_SMALL).weak()).wrap());
        }
        let mut takes = page.incoming.oracle.is_some();
        let note = tr!("The candidate nearest to the references, by chrF2, as the system \"oracle of ...\", and where it stands as a column");
        window.push_if(ui.checkbox(&mut takes, tr!("The oracle of n-best lists, too")).on_hover_text(note).changed(), CorpusCommand::TakeOracle(takes));
        ui.horizontal(|ui| {
            let mut rerank = page.incoming.rerank.clone();
            let label = ui.label(tr!("Rerank n-best lists by"));
            let field = TextEdit::singleline(&mut rerank).desired_width(RERANK).hint_text("score, log_p, LM0");
            let note = tr!("The candidate of the greatest score, log_p, or feature of this name, as the system \"... by ...\"; empty: no such system");
            window.push_if(ui.add(field).labelled_by(label.id).on_hover_text(note).changed(), CorpusCommand::Rerank(rerank));
        });
        let (mut is_cut, is_begun) = (page.incoming.pretokenized, !page.corpus.is_empty());
        let note = tr!("Words are what stands between the spaces of the texts. Without it they are tokens, as the rules of the languages cut them: \
                    punctuation, elisions and clitics are words of their own");
        let cut = ui.add_enabled(!is_begun, egui::Checkbox::new(&mut is_cut, tr!("The texts are cut into words")));
        let late = tr!("What a word is was chosen with the first sentences of this corpus");
        window.push_if(cut.on_hover_text(note).on_disabled_hover_text(late).changed(), CorpusCommand::Pretokenized(is_cut));
        let note = tr!("Tables, TMX, XLIFF, alignments, judgements and dumps of attention say themselves what they are.");
        ui.add(Label::new(RichText::new(note).size(theme::TEXT_SMALL).weak()).wrap());
        window.ask_on(&menu::entry(ui, tr!("Choose a file...")), IMPORT, CorpusCommand::Import);
        documents::offer_ui(ui, window);
    });
}

fn role_name(role: &Role) -> &'static str {
    match role {
        Role::Source => tr!("what is translated"),
        Role::Reference => tr!("the reference"),
        Role::Output(_) => tr!("what a system said"),
        Role::Gold => tr!("links by hand"),
        Role::Scores(_) => tr!("scores of a system"),
    }
}

fn imported_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let t = theme::tokens(ui);
    if let Some(busy) = &page.busy {
        let what = lang::text(&busy.progress.what);
        ui.horizontal(|ui| {
            labels::caption(ui, what);
            let note = tr!("What came in stays; importing the file again goes on");
            let is_clicked =
                busy.imports && labels::small_button(ui, tr!("Stop the import")).on_hover_text(note).clicked();
            window.push_if(is_clicked, CorpusRequest::Stop);
        });
        let bar = ProgressBar::new(busy.progress.share());
        let bar = bar.desired_height(theme::PROGRESS_HEIGHT).animate(false).fill(t.accent);
        ui.add(bar).widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::ProgressIndicator, true, what));
    }
    let (message, imported) = (page.message.clone(), page.incoming.last.clone());
    if message.is_none() && imported.is_none() {
        return;
    }
    let frame = egui::Frame::new()
        .fill(if message.is_some() { t.error_soft } else { t.sunken })
        .corner_radius(egui::CornerRadius::same(theme::RADIUS))
        .inner_margin(egui::Margin::same(8));
    frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            window.push_on(&labels::small_button(ui, tr!("Dismiss")), CorpusCommand::DismissMessage);
            ui.vertical(|ui| {
                if let Some(message) = &message {
                    ui.add(Label::new(RichText::new(message).color(t.error)).wrap());
                }
                let Some((path, imported)) = &imported else { return };
                let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
                ui.add(Label::new(format!("{name}: {}", imported.summary())).wrap());
                let facts = imported.facts.join(" ");
                let colour = if imported.asks { t.warm } else { t.weak };
                ui.add(Label::new(RichText::new(facts).size(theme::TEXT_SMALL).color(colour)).wrap());
                if let Some(options) = &imported.replacing {
                    let note = tr!("Imports the file again; its texts and links go in the place of those that differ");
                    if ui.button(tr!("Replace them")).on_hover_text(note).clicked() {
                        window.push(CorpusRequest::Import(path.clone(), options.clone()));
                    }
                }
                for warning in imported.warnings.iter().take(MOST_WARNINGS) {
                    ui.add(Label::new(RichText::new(warning).size(theme::TEXT_SMALL).color(t.warm)).wrap());
                }
            });
        });
    });
}

fn first_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.2);
        ui.heading(tr!("No sentences yet"));
        start_ui(ui, window);
    });
}

fn start_ui(ui: &mut Ui, window: &mut Window<'_>) {
    ui.label(if can_drop() {
        tr!("Drop or choose source sentences, references and system outputs, one sentence per line")
    } else {
        tr!("Choose source sentences, references and system outputs, one sentence per line")
    });
    ui.horizontal_wrapped(|ui| {
        for (name, role) in [
            (tr!("Source sentences..."), Role::Source),
            (tr!("References..."), Role::Reference),
            (tr!("System output..."), Role::Output(String::new())),
        ] {
            if ui.button(name).clicked() {
                window.push(CorpusCommand::SetRole(role));
                window.ask(IMPORT.then(CorpusCommand::Import));
            }
        }
        let fill = ui.button(tr!("Put in a set to try"));
        let button = fill.on_hover_text(tr!("24 English sentences with translations and alignments by hand"));
        window.push_on(&button, CorpusCommand::Fill);
    });
}
