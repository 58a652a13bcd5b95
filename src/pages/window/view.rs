//! Floor 11: what a view is and where it stands. A leaf.

use crate::app::page::Page;
use crate::pages::window::local::Window;

/// Where in the window a view stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPlace {
    /// At the top, across the window.
    Top,
    /// At the bottom, across the window.
    Bottom,
    /// At the right, on every page.
    Right,
    /// On the page Sentence, at the left.
    Left,
    /// On the page Sentence, at the bottom, beside the left.
    BottomInside,
    /// On the page Sentence, what is left, from top to bottom.
    Middle,
    /// On this page, all that the edges leave.
    Page(Page),
    /// Over everything.
    Over,
}

/// A part of the window.
pub trait View: Sync {
    /// What it is called in tests and for screen readers.
    fn name(&self) -> &'static str;
    /// Where it stands.
    fn place(&self) -> ViewPlace;
    /// Paints it and pushes what the user did.
    fn ui(&self, ui: &mut egui::Ui, window: &mut Window<'_>);
}

impl ViewPlace {
    /// The page it belongs to; `None`: to all.
    pub fn page(self) -> Option<Page> {
        match self {
            Self::Top | Self::Bottom | Self::Right | Self::Over => None,
            Self::Left | Self::BottomInside | Self::Middle => Some(Page::Sentence),
            Self::Page(page) => Some(page),
        }
    }

    /// Whether it is in the middle, between the edges.
    pub fn is_middle(self) -> bool {
        matches!(self, Self::Middle | Self::Page(_))
    }
}
