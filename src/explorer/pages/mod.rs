//! The pages, each a folder of one shape ([`PageState`]): its command, what it keeps, its views.

pub mod command;
#[cfg(not(target_family = "wasm"))]
pub mod corpus;
pub mod lesson;
pub mod map;
pub mod sentence;
pub mod shape;
#[cfg(feature = "gui")]
pub mod shell;
pub mod steps;
pub mod training;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::app::page::{Dropped, Page, SENTENCE};
use crate::app::state::AppState;
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::{CORPUS, CorpusPage};
use crate::pages::map::{MAP, MapPage};
use crate::pages::steps::{STEPS, StepsPage};
use crate::pages::{sentence::SentencePage, shape::PageState, training::NewTraining};

/// Every page in the order of the tabs; a browser has those that need no files. The whole program reads this table.
pub const PAGES: &[Page] = &[
    SENTENCE,
    STEPS,
    #[cfg(not(target_family = "wasm"))]
    CORPUS,
    MAP,
];

pub fn page_of_key(key: &str) -> Option<Page> {
    PAGES.iter().copied().find(|page| page.0.key == key)
}

/// Which page takes what was dropped on `on`.
pub fn taker(on: Page, dropped: Dropped) -> Page {
    let own = Some(on).filter(|on| on.takes(dropped));
    own.or_else(|| PAGES.iter().copied().find(|page| page.takes(dropped))).unwrap_or(on)
}

/// The state of every page.
#[derive(Default)]
pub struct Pages {
    pub sentence: SentencePage,
    pub maps: MapPage,
    pub steps: StepsPage,
    #[cfg(not(target_family = "wasm"))]
    pub corpus: CorpusPage,
    pub training: NewTraining,
}

macro_rules! each {
    ($pages:ident, $($how:tt)+) => {
        [
            $($how)+ $pages.sentence as _,
            $($how)+ $pages.steps as _,
            #[cfg(not(target_family = "wasm"))]
            { $($how)+ $pages.corpus as _ },
            $($how)+ $pages.maps as _,
        ]
    };
}

impl Pages {
    pub fn each(&self) -> [&dyn PageState; PAGES.len()] {
        each!(self, &)
    }

    pub fn each_mut(&mut self) -> [&mut dyn PageState; PAGES.len()] {
        each!(self, &mut)
    }

    pub fn get(&self, page: Page) -> &dyn PageState {
        self.each().into_iter().find(|one| one.page() == page).unwrap_or(&self.sentence)
    }

    pub fn get_mut(&mut self, page: Page) -> Option<&mut dyn PageState> {
        self.each_mut().into_iter().find(|one| one.page() == page)
    }

    pub fn saved(&self) -> BTreeMap<String, Value> {
        self.parts(|page| page.saved())
    }

    /// What a link keeps of every page that is not in its first state.
    pub fn linked(&self, app: &AppState) -> BTreeMap<String, Value> {
        self.parts(|page| page.linked(app))
    }

    fn parts(&self, part: impl Fn(&dyn PageState) -> Value) -> BTreeMap<String, Value> {
        let parts = self.each().map(|page| (page.page().0.saved_as.to_owned(), part(page)));
        parts.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// Shows what a link keeps of every page; a page that the link lacks is reset.
    pub fn show_linked(&mut self, mut linked: BTreeMap<String, Value>, app: &mut AppState) {
        for page in self.each_mut() {
            page.show_linked(linked.remove(page.page().0.saved_as).unwrap_or_default(), app);
        }
    }

    /// Restores what was kept; a page that was not kept is in its first state.
    pub fn restored(mut self, mut saved: BTreeMap<String, Value>) -> serde_json::Result<Self> {
        for page in self.each_mut() {
            if let Some(part) = saved.remove(page.page().0.saved_as) {
                page.restore(part)?;
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_key_a_digit_and_a_place_of_its_own() {
        let pages = Pages::default();
        for (at, page) in PAGES.iter().enumerate() {
            let info = page.0;
            assert_eq!((page_of_key(info.key), pages.each()[at].page()), (Some(*page), *page));
            for other in PAGES[at + 1..].iter().map(|other| other.0) {
                assert!(info.key != other.key && info.digit != other.digit && info.saved_as != other.saved_as);
            }
        }
    }

    #[test]
    fn what_a_page_does_not_take_goes_to_the_one_that_does() {
        for (on, dropped, takes) in [
            (SENTENCE, Dropped::Text, SENTENCE),
            (MAP, Dropped::Text, SENTENCE),
            (CORPUS, Dropped::Text, CORPUS),
            (MAP, Dropped::Model, SENTENCE),
            (SENTENCE, Dropped::Logs, CORPUS),
            (CORPUS, Dropped::Links, CORPUS),
            (MAP, Dropped::Links, SENTENCE),
            (MAP, Dropped::Annotated, SENTENCE),
            (CORPUS, Dropped::Annotated, CORPUS),
        ] {
            assert_eq!(taker(on, dropped), takes, "{dropped:?} on {on:?}");
        }
    }
}
