//! Floor 8: the pages of the window, and the long work that pages have done in the corpus lane.
//!
//! A page asks with [`Session::order`]; what became of it comes back by [`Session::absorb_corpus`] to the page's own
//! module. Progress, pause and cancel are the same for all pages and live here.

use crate::session::Session;
use crate::worker::corpus::{CorpusEvent, Found, Kind, Order, Progress};

/// A page of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Page {
    /// One sentence, its translations and alignments.
    #[default]
    Sentence,
    /// Models measured on a test set, and learning curves.
    Evaluation,
    /// Words and phrases in the plane.
    Map,
    /// Phrase tables.
    Phrases,
}

impl Page {
    /// Every page, in the order of the tabs.
    pub const ALL: [Self; 4] = [Self::Sentence, Self::Evaluation, Self::Map, Self::Phrases];

    /// On its tab.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sentence => "Sentence",
            Self::Evaluation => "Evaluation",
            Self::Map => "Map",
            Self::Phrases => "Phrases",
        }
    }

    /// In the saved state.
    pub fn key(self) -> &'static str {
        match self {
            Self::Sentence => "sentence",
            Self::Evaluation => "evaluation",
            Self::Map => "map",
            Self::Phrases => "phrases",
        }
    }

    /// The page of this key; the sentence when there is none.
    pub fn of_key(key: &str) -> Self {
        Self::ALL.into_iter().find(|page| page.key() == key).unwrap_or_default()
    }
}

/// Work that a page has ordered and that is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Of the order.
    pub number: u64,
    /// Whose.
    pub page: Page,
    /// How far it is; `None` while it waits for its turn.
    pub progress: Option<Progress>,
    /// Held up until it is told to go on.
    pub is_paused: bool,
}

/// What the corpus lane is to do.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are a handful at a time, and each is moved once")]
pub enum LaneCall {
    /// A new order.
    Submit(u64, Order),
    /// This one is not wanted any more.
    Cancel(u64),
    /// Hold this one up, or have it go on.
    Pause(u64, bool),
}

impl Session {
    /// Has this done in the corpus lane; answers with its number.
    pub(super) fn order(&mut self, page: Page, order: Order) -> u64 {
        let number = self.fresh_id();
        self.tasks.push(Task { number, page, progress: None, is_paused: false });
        self.lane_calls.push(LaneCall::Submit(number, order));
        number
    }

    /// Ends an order that is not done; nothing more is heard of it.
    pub(super) fn cancel_task(&mut self, number: u64) {
        let Some(at) = self.tasks.iter().position(|task| task.number == number) else { return };
        let task = self.tasks.remove(at);
        self.lane_calls.push(LaneCall::Cancel(number));
        self.without(task.page, number, None);
    }

    pub(super) fn pause_task(&mut self, number: u64, is_paused: bool) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.number == number) else { return };
        task.is_paused = is_paused;
        self.lane_calls.push(LaneCall::Pause(number, is_paused));
    }

    /// The work of this number, while it is not done.
    pub fn task(&self, number: u64) -> Option<&Task> {
        self.tasks.iter().find(|task| task.number == number)
    }

    /// What the corpus lane has been asked since the last call.
    pub fn take_lane_calls(&mut self) -> Vec<LaneCall> {
        std::mem::take(&mut self.lane_calls)
    }

    /// Takes in an event of the corpus lane; true when anything changed. One of an order that was cancelled changes
    /// nothing.
    pub fn absorb_corpus(&mut self, event: CorpusEvent) -> bool {
        let CorpusEvent { number, kind } = event;
        let Some(at) = self.tasks.iter().position(|task| task.number == number) else { return false };
        if let Kind::Progress(progress) = kind {
            self.tasks[at].progress = Some(progress);
            return true;
        }
        let page = self.tasks.remove(at).page;
        match kind {
            Kind::Progress(_) => {}
            Kind::Found(Found::Evaluated(found)) => self.evaluated(number, found),
            Kind::Found(Found::Mapped(found)) => self.mapped(number, found),
            Kind::Found(Found::Phrases(found)) => self.phrases_scored(number, found),
            Kind::Failed(message) => self.without(page, number, Some(message)),
            Kind::Cancelled => self.without(page, number, None),
        }
        true
    }

    /// Nothing comes of an order: it failed, for the reason given, or was cancelled.
    fn without(&mut self, page: Page, number: u64, message: Option<String>) {
        match page {
            Page::Sentence => {}
            Page::Evaluation => self.evaluation_ended(number, message),
            Page::Map => self.map_ended(number, message),
            Page::Phrases => self.phrases_ended(number, message),
        }
    }
}
