//! A page in one file: it counts what the class found. [`TABLE`] is all that the program is told of it; with that line
//! it has a tab, commands, a memory of its views and a place in the saved state.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use interlinear::app::page::{Page, PageInfo, SENTENCE};
use interlinear::app::state::AppState;
use interlinear::pages::shape::{AnyPage, PageState};
use interlinear::pages::window::local::{AnyView, PageView, View, ViewPlace, Window};
use interlinear::pages::{PAGES, PageEntry};
use interlinear::session::driver::OpenWith;
use interlinear::session::persist::SavedSession;
use interlinear::session::state::Session;
use serde_json::Value;

use crate::desk;

/// The pages of the program, and one line.
const TABLE: &[PageEntry] = &[PAGES[0], PAGES[1], PAGES[2], PAGES[3], PageEntry::of::<Tally>()];

const TALLY: Page = Page::new(&PageInfo {
    key: "tally",
    name: "Tally",
    title: "Page Tally",
    saved_as: "tally",
    digit: 7,
    takes: &[],
    keeps_work: false,
    has_only_models: false,
});

#[derive(Default)]
struct Tally {
    found: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum TallyCommand {
    Found(u64),
    Forget,
}

interlinear::page_commands!(Tally: TallyCommand);

impl PageState for Tally {
    const PAGE: Page = TALLY;
    type Command = TallyCommand;

    fn apply(&mut self, command: TallyCommand, _app: &mut AppState) {
        self.found = match command {
            TallyCommand::Found(more) => self.found + more,
            TallyCommand::Forget => 0,
        };
    }
}

impl AnyPage for Tally {
    fn saved(&self) -> Value {
        self.found.into()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        self.found = serde_json::from_value(saved)?;
        Ok(())
    }
}

impl PageView for Tally {
    fn views(&self) -> &'static [&'static dyn AnyView] {
        &[&TallyView]
    }

    fn escape(&self, window: &mut Window<'_>) {
        window.push(TallyCommand::Forget);
    }
}

struct TallyView;

/// What the view remembers between two frames.
#[derive(Default)]
struct TallyMemory {
    clicks: u64,
}

impl View for TallyView {
    type Page = Tally;

    fn place(&self) -> ViewPlace {
        ViewPlace::Middle
    }

    fn ui(&self, ui: &mut egui::Ui, tally: &Tally, window: &mut Window<'_>) {
        if ui.button("Found one").clicked() {
            window.local.of::<TallyMemory>().clicks += 1;
            window.push(TallyCommand::Found(1));
        }
        let clicks = window.local.of::<TallyMemory>().clicks;
        ui.label(format!("{} found, {clicks} clicks", tally.found));
    }
}

fn window(saved: Option<SavedSession>) -> Harness<'static, interlinear::ui::App> {
    desk::window(Session::with_pages(TABLE, saved, &OpenWith::default())).0
}

#[test]
fn a_page_of_one_file_and_one_line_is_a_page_of_the_window() {
    let mut harness = window(None);
    for label in ["Page Tally", "Found one", "Found one"] {
        harness.get_by_label(label).click();
        harness.run();
    }
    harness.get_by_label("2 found, 2 clicks");
    let saved = harness.state().session().saved();
    assert_eq!((saved.page.as_str(), &saved.pages["tally"]), ("tally", &Value::from(2)));

    let mut harness = window(Some(saved));
    harness.get_by_label("2 found, 0 clicks");
    harness.key_press(egui::Key::Escape);
    harness.run();
    harness.get_by_label("0 found, 0 clicks");
    let pages = harness.state().session().pages();
    assert_eq!((pages.of::<Tally>().found, pages.list().next(), pages.list().last()), (0, Some(SENTENCE), Some(TALLY)));
}
