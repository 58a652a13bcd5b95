//! What a page of the window is to those that know none: its names, its key, what may be dropped on it.

use engine::lang;

/// Names and fixed properties of a page.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageInfo {
    /// In the saved state, in lessons and in links of the manual: which page is shown.
    pub key: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    /// What the page keeps, in the saved state.
    pub saved_as: &'static str,
    pub digit: u8,
    /// What may be dropped on it. Other things go to the first page of the table that takes them.
    pub takes: &'static [Dropped],
    /// It shows models by themselves, neither variants nor ensembles.
    pub has_only_models: bool,
}

/// A page of the window; `pages::PAGES` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Page(pub &'static PageInfo);

pub const SENTENCE: Page = Page::new(&PageInfo {
    key: "sentence",
    name: id!("Sentence"),
    title: id!("Page Sentence"),
    saved_as: "sentence",
    digit: 1,
    takes: &[Dropped::Model, Dropped::Text, Dropped::Interventions, Dropped::Links, Dropped::Annotated],
    has_only_models: false,
});

/// What a dropped path turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dropped {
    Model,
    Text,
    Logs,
    Interventions,
    Workspace,
    Links,
    /// Sentences with glosses (CoNLL-U).
    Annotated,
}

impl Page {
    pub const fn new(info: &'static PageInfo) -> Self {
        Self(info)
    }

    pub fn name(self) -> &'static str {
        lang::text(self.0.name)
    }

    pub fn title(self) -> &'static str {
        lang::text(self.0.title)
    }

    pub fn takes(self, dropped: Dropped) -> bool {
        self.0.takes.contains(&dropped)
    }
}

impl Default for Page {
    fn default() -> Self {
        SENTENCE
    }
}
