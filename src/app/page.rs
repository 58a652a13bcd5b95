//! Floor 9: the pages of the window, one line each. Menus, shortcuts, dropped files and the saved state read this table.

/// A page of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// A model taken apart, step by step.
    Steps,
    /// A workspace: sentences, systems and judgements.
    Workbench,
}

/// What a dropped path turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A model folder.
    Model,
    /// Lines of text.
    Text,
    /// Training logs.
    Logs,
    /// A phrase table.
    PhraseTable,
    /// A sentence with interventions.
    Interventions,
    /// A workspace.
    Workspace,
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct PageEntry {
    /// Which page.
    pub page: Page,
    /// On its tab.
    pub name: &'static str,
    /// On the sheet of shortcuts.
    pub title: &'static str,
    /// Which page is shown, in the saved state.
    pub key: &'static str,
    /// What the page keeps, in the saved state.
    pub saved_as: &'static str,
    /// Ctrl and this digit show it.
    pub digit: u8,
    /// What may be dropped on it. Other things go to the first page of the table that takes them.
    pub takes: &'static [Dropped],
}

/// Every page, in the order of the tabs.
pub const PAGES: &[PageEntry] = &[
    PageEntry {
        page: Page::Sentence,
        name: "Sentence",
        title: "Page Sentence",
        key: "sentence",
        saved_as: "sentence",
        digit: 1,
        takes: &[Dropped::Model, Dropped::Text, Dropped::Interventions],
    },
    PageEntry {
        page: Page::Evaluation,
        name: "Evaluation",
        title: "Page Evaluation",
        key: "evaluation",
        saved_as: "evaluation",
        digit: 2,
        takes: &[Dropped::Logs, Dropped::Text],
    },
    PageEntry { page: Page::Map, name: "Map", title: "Page Map", key: "map", saved_as: "maps", digit: 3, takes: &[] },
    PageEntry {
        page: Page::Phrases,
        name: "Phrases",
        title: "Page Phrases",
        key: "phrases",
        saved_as: "phrases",
        digit: 4,
        takes: &[Dropped::PhraseTable, Dropped::Text],
    },
    PageEntry {
        page: Page::Steps,
        name: "Steps",
        title: "Page Steps",
        key: "steps",
        saved_as: "steps",
        digit: 5,
        takes: &[],
    },
    PageEntry {
        page: Page::Workbench,
        name: "Corpus",
        title: "Page Corpus",
        key: "corpus",
        saved_as: "workbench",
        digit: 6,
        takes: &[Dropped::Workspace, Dropped::Text],
    },
];

impl Page {
    /// Its line of the table.
    pub fn entry(self) -> &'static PageEntry {
        PAGES.iter().find(|entry| entry.page == self).unwrap_or(&PAGES[0])
    }

    /// On its tab.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// In the saved state.
    pub fn key(self) -> &'static str {
        self.entry().key
    }

    /// The page of this key; the sentence when there is none.
    pub fn of_key(key: &str) -> Self {
        PAGES.iter().find(|entry| entry.key == key).map_or_else(Self::default, |entry| entry.page)
    }

    /// Which page takes what was dropped on this one.
    pub fn taker(self, dropped: Dropped) -> Self {
        let takes = |entry: &&PageEntry| entry.takes.contains(&dropped);
        let own = Some(self.entry()).filter(takes);
        own.or_else(|| PAGES.iter().find(takes)).map_or(self, |entry| entry.page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_one_line_with_a_key_a_digit_and_a_place_of_its_own() {
        for (at, entry) in PAGES.iter().enumerate() {
            assert_eq!((entry.page.entry().key, Page::of_key(entry.key)), (entry.key, entry.page));
            for other in &PAGES[at + 1..] {
                assert!(entry.page != other.page && entry.key != other.key && entry.digit != other.digit);
                assert_ne!(entry.saved_as, other.saved_as);
            }
        }
    }

    #[test]
    fn what_a_page_does_not_take_goes_to_the_one_that_does() {
        for (on, dropped, taker) in [
            (Page::Sentence, Dropped::Text, Page::Sentence),
            (Page::Map, Dropped::Text, Page::Sentence),
            (Page::Evaluation, Dropped::Text, Page::Evaluation),
            (Page::Phrases, Dropped::Text, Page::Phrases),
            (Page::Phrases, Dropped::Model, Page::Sentence),
            (Page::Evaluation, Dropped::PhraseTable, Page::Phrases),
            (Page::Sentence, Dropped::Logs, Page::Evaluation),
            (Page::Evaluation, Dropped::Interventions, Page::Sentence),
        ] {
            assert_eq!(on.taker(dropped), taker, "{dropped:?} on {on:?}");
        }
    }
}
