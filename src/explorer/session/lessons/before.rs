//! The window as it was before a lesson began, to which it goes back.

use crate::app::command::{SettingsCommand, WindowCommand};
use crate::app::settings::{Settings, Whose};
use crate::app::{
    document::sentence_state::SentenceState, layout::Layout, page::Page, state::AppState, view::Selection,
};
use crate::pages::steps::{StepsCommand, StepsPage};
use crate::pages::{command::Command, sentence::command::SelectCommand, steps::STEPS};
use crate::session::{lessons::things::LessonAction, persist::SavedSession};
use engine::{decoding::SystemSpec, models::transformer::heads::HeadKind};

/// The window's state before a lesson.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(in crate::session) state: SentenceState,
    pub(in crate::session) columns: Vec<SystemSpec>,
    selected: Option<usize>,
    pub(in crate::session) page: Page,
    pub(in crate::session) layout: Layout,
    pub(in crate::session) settings: Settings,
    heads: HeadKind,
    steps: Vec<StepsCommand>,
    step: usize,
}

impl Snapshot {
    pub fn of(app: &AppState, steps: &StepsPage) -> Self {
        let id = app.view.selection.column;
        Self {
            state: app.document.state.clone(),
            columns: app.document.originals().map(|column| column.system.clone()).collect(),
            selected: app.document.originals().position(|column| Some(column.id) == id),
            page: app.view.page,
            layout: app.view.layout.clone(),
            settings: app.view.settings.clone(),
            heads: app.view.heads,
            steps: vec![
                StepsCommand::SetWrong(steps.wrong),
                StepsCommand::SetDepth(steps.depth),
                StepsCommand::SetMode(steps.mode),
                StepsCommand::SetGuessing(steps.guessing.as_ref().map(|guessing| guessing.of)),
                StepsCommand::SetBeam(steps.has_beam),
                StepsCommand::SetByStage(steps.by_stage),
                StepsCommand::Open(steps.open.clone()),
            ],
            step: steps.i,
        }
    }

    /// The window that a saved state shows, with this scene, page and selected column.
    pub(in crate::session) fn of_saved(
        saved: SavedSession, sentence: SentenceState, page: Page, selected: Option<usize>,
    ) -> Self {
        Self {
            state: sentence,
            layout: saved.layout,
            columns: saved.columns.unwrap_or_default(),
            selected,
            page,
            settings: saved.settings,
            heads: HeadKind::default(),
            steps: Vec::new(),
            step: 0,
        }
    }

    /// The step that was shown, where page Steps was.
    pub(super) fn step(&self) -> Option<LessonAction> {
        (self.page == STEPS).then(|| LessonAction::Step((self.step + 1).to_string()))
    }

    /// Puts columns and scene back, and says what is left to do.
    pub fn restore(self, app: &mut AppState) -> Vec<Command> {
        app.put_columns(self.columns);
        let selected = self.selected.and_then(|at| app.document.originals().nth(at)).map(|column| column.id);
        app.view.selection = Selection { column: selected, target: None };
        app.put_state(self.state);
        let layout = WindowCommand::SetLayout(Box::new(app.view.layout.clone().showing(&self.layout)));
        let Settings { shown, pieces, links, asked, unk_replacement, whose, reading, .. } = self.settings;
        // heads first: all of them are shown with these, and then what was shown
        let settings = [
            SettingsCommand::SetReading(reading),
            SettingsCommand::SetHeads(self.heads),
            SettingsCommand::SetShown(shown),
            SettingsCommand::SetPieces(pieces),
            SettingsCommand::SetLinks(links),
            SettingsCommand::SetAsked(asked),
            SettingsCommand::SetUnkReplacement(unk_replacement),
        ];
        let page = WindowCommand::ShowPage(self.page).into();
        let steps = self.steps.into_iter().map(Command::from);
        let given = SelectCommand::ShowGiven(whose == Whose::Given).into();
        [layout.into(), given]
            .into_iter()
            .chain(settings.into_iter().map(Command::from))
            .chain(steps)
            .chain([page])
            .collect()
    }
}
