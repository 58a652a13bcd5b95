//! Page Steps in a link: mode, depth, step and open box. Restored when the steps are computed.

use serde::{Deserialize, Serialize};

use crate::app::state::AppState;
use crate::pages::steps::command::{Guessed, Mode};
use crate::pages::steps::{StepsPage, StepsPlace, StepsRequested};
use crate::pages::{steps::depth::Depth, steps::guess::Guessing};
use engine::models::anatomy::Miswiring;

/// What a link keeps of the page, by the keys of its tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StepsLink {
    mode: String,
    depth: String,
    wrong: String,
    guess: String,
    by_stage: bool,
    beam: bool,
    class: Vec<u32>,
    i: usize,
    /// Key of the last stage that was done; empty if all are.
    stage: String,
    /// Key of the open box; empty if none is.
    open: String,
}

impl Default for StepsLink {
    fn default() -> Self {
        StepsPage::default().to_link(&AppState::default())
    }
}

impl StepsPage {
    pub(super) fn to_link(&self, app: &AppState) -> StepsLink {
        let place = self.place_of(app);
        let guessed = self.guessing.as_ref().map(|guessing| guessing.of.entry().key);
        StepsLink {
            mode: self.mode.entry().key.to_owned(),
            depth: self.depth.entry().key.to_owned(),
            wrong: self.wrong.map_or("", |wrong| wrong.entry().key).to_owned(),
            guess: guessed.unwrap_or_default().to_owned(),
            by_stage: self.by_stage,
            beam: self.has_beam,
            class: place.class,
            i: place.i,
            stage: place.stage,
            open: place.open,
        }
    }

    fn place_of(&self, app: &AppState) -> StepsPlace {
        if let Some(place) = self.place.as_ref().filter(|place| place.is_of(app)) {
            return place.clone();
        }
        let source = app.document.state.source.clone();
        let (class, i, stage) = match &self.requested.of {
            Some((_, of)) if *of == source => (self.class.clone(), self.i, self.current().unwrap_or_default()),
            _ => (Vec::new(), 0, ""),
        };
        StepsPlace { source, class, i, stage: stage.to_owned(), open: self.open.clone().unwrap_or_default() }
    }

    /// Restores a link; its place in the sentence follows when the steps are computed.
    pub(super) fn take_link(&mut self, link: StepsLink, app: &mut AppState) {
        let StepsLink { class, i, stage, open, .. } = link;
        let guessed = Guessed::from_key(&link.guess);
        *self = Self {
            mode: Mode::from_key(&link.mode).unwrap_or_default(),
            depth: Depth::from_key(&link.depth).unwrap_or_default(),
            wrong: Miswiring::from_key(&link.wrong),
            guessing: guessed.map(Guessing::new),
            by_stage: link.by_stage,
            has_beam: link.beam,
            place: Some(StepsPlace { source: app.document.state.source.clone(), class, i, stage, open }),
            pace: self.pace,
            trace: self.trace.take(),
            table: self.table.take(),
            requested: StepsRequested { of: self.requested.of.take(), ..StepsRequested::default() },
            revision: self.revision,
            ..Self::default()
        };
        app.compare_links(guessed.is_some_and(|of| of != Guessed::Word));
        app.changed();
    }

    pub(super) fn take_place(&mut self, app: &AppState) {
        let Some(place) = self.place.take().filter(|place| place.is_of(app)) else { return };
        let has = |key: &str| {
            self.trace.as_ref().is_some_and(|trace| trace.machine.stages.iter().any(|stage| stage.key == key))
        };
        self.open = Some(place.open).filter(|key| has(key) && Depth::of(key) <= self.depth);
        let at = self.stages().iter().position(|stage| stage.key == place.stage);
        self.show(place.i, at.map(|at| at + 1));
    }
}
