//! Floor 11: the pages, each a module of one shape ([`PageState`]): its command, what it finds, what it keeps.

pub mod command;
pub mod corpus;
pub mod evaluation;
pub mod lesson;
pub mod map;
pub mod phrases;
pub mod sentence;
pub mod shape;
pub mod steps;
pub mod training;
#[cfg(feature = "gui")]
pub mod window;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::app::page::{PAGES, Page};
use crate::app::state::AppState;
use crate::jobs::queue::Found;
use crate::pages::corpus::CorpusPage;
use crate::pages::evaluation::EvaluationPage;
use crate::pages::map::MapPage;
use crate::pages::phrases::PhrasesPage;
use crate::pages::sentence::SentencePage;
use crate::pages::shape::{AnyPage, PageState as _};
use crate::pages::steps::StepsPage;
use crate::pages::training::NewTraining;

/// The state of every page.
#[derive(Default)]
pub struct Pages {
    /// The page Sentence.
    pub sentence: SentencePage,
    /// The page Evaluation.
    pub evaluation: EvaluationPage,
    /// The page Map.
    pub maps: MapPage,
    /// The page Phrases.
    pub phrases: PhrasesPage,
    /// The page Steps.
    pub steps: StepsPage,
    /// The page Corpus.
    pub workbench: CorpusPage,
    /// The sheet New training.
    pub training: NewTraining,
}

impl Pages {
    /// A page.
    pub fn get(&self, page: Page) -> &dyn AnyPage {
        match page {
            Page::Sentence => &self.sentence,
            Page::Evaluation => &self.evaluation,
            Page::Map => &self.maps,
            Page::Phrases => &self.phrases,
            Page::Steps => &self.steps,
            Page::Workbench => &self.workbench,
        }
    }

    /// What every page has in common.
    pub fn get_mut(&mut self, page: Page) -> &mut dyn AnyPage {
        match page {
            Page::Sentence => &mut self.sentence,
            Page::Evaluation => &mut self.evaluation,
            Page::Map => &mut self.maps,
            Page::Phrases => &mut self.phrases,
            Page::Steps => &mut self.steps,
            Page::Workbench => &mut self.workbench,
        }
    }

    /// Gives what an order found to its page.
    pub fn found(&mut self, number: u64, found: Found, app: &mut AppState) {
        match found {
            Found::Probed(found) => self.sentence.found(number, found, app),
            Found::Evaluated(found) => self.evaluation.found(number, found, app),
            Found::Mapped(found) => self.maps.found(number, found, app),
            Found::Analysed(found) => self.workbench.found(number, found, app),
            Found::Phrases(found) => self.phrases.found(number, found, app),
        }
    }

    /// What every page keeps between starts.
    pub fn saved(&self) -> BTreeMap<String, Value> {
        let parts = PAGES.iter().map(|entry| (entry.saved_as.to_owned(), self.get(entry.page).saved()));
        parts.filter(|(_, value)| !value.is_null()).collect()
    }

    /// The pages as they were kept; a page that was not kept is as at first.
    pub fn restored(mut saved: BTreeMap<String, Value>) -> serde_json::Result<Self> {
        let mut pages = Self::default();
        for entry in PAGES {
            if let Some(part) = saved.remove(entry.saved_as) {
                pages.get_mut(entry.page).restore(part)?;
            }
        }
        Ok(pages)
    }
}
