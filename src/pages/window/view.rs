//! Floor 11: what a view of a page is and where it stands. A leaf.

use std::any::Any;

use crate::pages::window::local::Window;

/// Where in the window a view stands, while its page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPlace {
    /// At the left.
    Left,
    /// At the bottom, beside the left.
    Bottom,
    /// What the edges leave, from top to bottom.
    Middle,
    /// Over everything, whichever page is shown.
    Over,
}

/// A part of a page.
pub trait View: Sync {
    /// The state of its page.
    type Page: 'static;
    /// Where it stands.
    fn place(&self) -> ViewPlace;
    /// Paints it and pushes what the user did.
    fn ui(&self, ui: &mut egui::Ui, page: &Self::Page, window: &mut Window<'_>);
}

/// A part of whichever page.
pub trait AnyView: Sync {
    /// Where it stands.
    fn stands(&self) -> ViewPlace;
    /// Paints it from the state of its page.
    fn show(&self, ui: &mut egui::Ui, page: &dyn Any, window: &mut Window<'_>);
}

impl<V: View> AnyView for V {
    fn stands(&self) -> ViewPlace {
        self.place()
    }

    fn show(&self, ui: &mut egui::Ui, page: &dyn Any, window: &mut Window<'_>) {
        if let Some(page) = page.downcast_ref() {
            self.ui(ui, page, window);
        }
    }
}
