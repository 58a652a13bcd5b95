//! Floor 11: the pages, each a folder of one shape ([`PageState`]): its command, what it keeps, its views.

pub mod command;
#[cfg(not(target_family = "wasm"))]
pub mod corpus;
pub mod lesson;
pub mod map;
pub mod sentence;
pub mod shape;
pub mod steps;
pub mod training;
#[cfg(feature = "gui")]
pub mod window;

use std::any::Any;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::app::page::{Dropped, Page};
use crate::app::state::AppState;
#[cfg(not(target_family = "wasm"))]
use crate::pages::corpus::CorpusPage;
use crate::pages::map::MapPage;
use crate::pages::sentence::SentencePage;
use crate::pages::shape::{AnyPage, PageState};
use crate::pages::steps::StepsPage;
use crate::pages::training::NewTraining;

/// A line of the table of pages.
#[derive(Clone, Copy, Debug)]
pub struct PageEntry {
    /// Which page.
    pub page: Page,
    make: fn() -> Box<dyn AnyPage>,
}

impl PageEntry {
    /// The line of a page.
    pub const fn of<P: PageState>() -> Self {
        Self { page: P::PAGE, make: || Box::new(P::default()) }
    }
}

/// Every page, in the order of the tabs; in a browser those that need no files. Menus, shortcuts, dropped files, lessons and the saved state read this table.
pub const PAGES: &[PageEntry] = &[
    PageEntry::of::<SentencePage>(),
    PageEntry::of::<StepsPage>(),
    #[cfg(not(target_family = "wasm"))]
    PageEntry::of::<CorpusPage>(),
    PageEntry::of::<MapPage>(),
];

/// The page of this key.
pub fn page_of_key(key: &str) -> Option<Page> {
    PAGES.iter().find(|entry| entry.page.key() == key).map(|entry| entry.page)
}

/// The state of every page.
pub struct Pages {
    table: &'static [PageEntry],
    states: Vec<Box<dyn AnyPage>>,
    /// The sheet New training.
    pub training: NewTraining,
}

impl Default for Pages {
    fn default() -> Self {
        Self::new(PAGES)
    }
}

impl Pages {
    /// The pages of a table, as at first.
    pub fn new(table: &'static [PageEntry]) -> Self {
        let states = table.iter().map(|entry| (entry.make)()).collect();
        Self { table, states, training: NewTraining::default() }
    }

    /// The pages, in the order of the tabs.
    pub fn list(&self) -> impl Iterator<Item = Page> + use<> {
        self.table.iter().map(|entry| entry.page)
    }

    fn at(&self, page: Page) -> usize {
        self.list().position(|one| one == page).unwrap_or(0)
    }

    /// A page; the first where the table has no such page.
    pub fn get(&self, page: Page) -> &dyn AnyPage {
        &*self.states[self.at(page)]
    }

    /// What every page has in common.
    pub fn get_mut(&mut self, page: Page) -> &mut dyn AnyPage {
        let at = self.at(page);
        &mut *self.states[at]
    }

    /// The page of this type; the table has it.
    ///
    /// # Panics
    ///
    /// Where the table of the pages lacks it.
    pub fn of<P: PageState>(&self) -> &P {
        let page: &dyn Any = self.get(P::PAGE);
        page.downcast_ref().expect("a page of this type is a line of the table")
    }

    /// The page of this type, to be changed.
    ///
    /// # Panics
    ///
    /// Where the table of the pages lacks it.
    pub fn of_mut<P: PageState>(&mut self) -> &mut P {
        let page: &mut dyn Any = self.get_mut(P::PAGE);
        page.downcast_mut().expect("a page of this type is a line of the table")
    }

    /// Every page, to be changed, in the order of the tabs.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn AnyPage>> {
        self.states.iter_mut()
    }

    /// The page of this key; the first where there is none.
    pub fn page_of_key(&self, key: &str) -> Page {
        self.list().find(|page| page.key() == key).unwrap_or_default()
    }

    /// Which page takes what was dropped on this one.
    pub fn taker(&self, on: Page, dropped: Dropped) -> Page {
        let own = Some(on).filter(|on| on.takes(dropped));
        own.or_else(|| self.list().find(|page| page.takes(dropped))).unwrap_or(on)
    }

    /// What every page keeps between starts.
    pub fn saved(&self) -> BTreeMap<String, Value> {
        let parts = self.list().map(|page| (page.info().saved_as.to_owned(), self.get(page).saved()));
        parts.filter(|(_, value)| !value.is_null()).collect()
    }

    /// What a link tells of every page, where it is not as at first.
    pub fn linked(&self, app: &AppState) -> BTreeMap<String, Value> {
        let parts = self.list().map(|page| (page.info().saved_as.to_owned(), self.get(page).linked(app)));
        parts.filter(|(_, value)| !value.is_null()).collect()
    }

    /// Shows what a link tells of every page; one of which it tells nothing is as at first.
    pub fn show_linked(&mut self, mut told: BTreeMap<String, Value>, app: &mut AppState) {
        for (entry, state) in self.table.iter().zip(&mut self.states) {
            state.show_linked(told.remove(entry.page.info().saved_as).unwrap_or_default(), app);
        }
    }

    /// Goes on from what was kept; a page that was not kept is as at first.
    ///
    /// # Errors
    ///
    /// Where what was kept is none of a page.
    pub fn restored(mut self, mut saved: BTreeMap<String, Value>) -> serde_json::Result<Self> {
        for (entry, state) in self.table.iter().zip(&mut self.states) {
            if let Some(part) = saved.remove(entry.page.info().saved_as) {
                state.restore(part)?;
            }
        }
        Ok(self)
    }
}

#[cfg(feature = "gui")]
impl window::local::ShownPages for Pages {
    fn list(&self) -> Vec<Page> {
        self.list().collect()
    }

    fn get(&self, page: Page) -> &dyn window::local::PageView {
        self.get(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::page::SENTENCE;
    use crate::pages::corpus::CORPUS;
    use crate::pages::map::MAP;

    #[test]
    fn every_page_has_a_key_a_digit_and_a_place_of_its_own() {
        for (at, entry) in PAGES.iter().enumerate() {
            let info = entry.page.info();
            assert_eq!(page_of_key(info.key), Some(entry.page));
            for other in PAGES[at + 1..].iter().map(|other| other.page.info()) {
                assert!(info.key != other.key && info.digit != other.digit && info.saved_as != other.saved_as);
            }
        }
    }

    #[test]
    fn what_a_page_does_not_take_goes_to_the_one_that_does() {
        let pages = Pages::default();
        for (on, dropped, taker) in [
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
            assert_eq!(pages.taker(on, dropped), taker, "{dropped:?} on {on:?}");
        }
    }
}
