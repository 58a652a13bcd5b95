//! Floor 9: the views, one file each, in the table [`VIEWS`]. A view reads the session and pushes commands.
//!
//! The edges of the window belong to every page, what stands between them to one page.

pub mod alignment;
pub mod beam;
pub mod column;
pub mod columns;
pub mod context;
pub mod ensemble;
pub mod evaluation;
pub mod facts;
pub mod help;
pub mod inspector;
pub mod map;
pub mod map_settings;
pub mod map_side;
pub mod new_training;
pub mod output;
pub mod phrases;
pub mod picture_bar;
pub mod sentences;
pub mod settings;
pub mod sheets;
pub mod source;
pub mod status;
pub mod tabs;
pub mod task;
pub mod top_bar;

use crate::session::Page;
use crate::ui::local::Screen;

/// Where in the window a view stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the top, across the window.
    Top,
    /// At the bottom, across the window.
    Bottom,
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
    fn place(&self) -> Place;
    /// Paints it and pushes what the user did.
    fn ui(&self, ui: &mut egui::Ui, screen: &mut Screen<'_>);
}

impl Place {
    /// The page it belongs to; `None`: to all.
    pub fn page(self) -> Option<Page> {
        match self {
            Self::Top | Self::Bottom | Self::Over => None,
            Self::Left | Self::BottomInside | Self::Middle => Some(Page::Sentence),
            Self::Page(page) => Some(page),
        }
    }

    fn is_middle(self) -> bool {
        matches!(self, Self::Middle | Self::Page(_))
    }
}

/// Every view, from the edges of the window inwards.
pub const VIEWS: &[&dyn View] = &[
    &top_bar::TopBar,
    &status::Status,
    &sentences::Sentences,
    &inspector::Inspector,
    &source::Source,
    &picture_bar::PictureBar,
    &columns::Columns,
    &evaluation::Evaluation,
    &map::Map,
    &phrases::Phrases,
    &sheets::Sheets,
    &new_training::NewTraining,
    &help::Help,
];

/// Paints the views of the page that is shown.
pub fn show(ui: &mut egui::Ui, screen: &mut Screen<'_>) {
    let page = screen.session.page;
    let views = || VIEWS.iter().filter(|view| view.place().page().is_none_or(|own| own == page));
    for view in views().filter(|view| !view.place().is_middle() && view.place() != Place::Over) {
        view.ui(ui, screen);
    }
    egui::CentralPanel::default().frame(middle()).show(ui, |ui| {
        for view in views().filter(|view| view.place().is_middle()) {
            view.ui(ui, screen);
        }
    });
    for view in views().filter(|view| view.place() == Place::Over) {
        view.ui(ui, screen);
    }
}

fn middle() -> egui::Frame {
    egui::Frame::new().inner_margin(egui::Margin::same(crate::ui::theme::SPACE_3 as i8))
}
