//! After a defect the window asks before it opens what was there; and the line that says where newer versions are.

use std::{cell::Cell, rc::Rc};

use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::{session::defect::Defect, session::state::Session, ui::native::AfterDefect};

use crate::{desk::WindowActions as _, desk::window};

struct Opened;

impl eframe::App for Opened {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        ui.label("The window is open");
    }
}

fn answer(button: &str) -> Option<bool> {
    let begun = Rc::new(Cell::new(None));
    let theirs = Rc::clone(&begun);
    let defect = Defect { place: "src/a.rs:1:2, Interlinear 0".to_owned(), path: "/state/defect-told.txt".into() };
    let mut harness = Harness::builder().with_size([800.0, 500.0]).build_eframe(move |creation| {
        let begin = move |is_anew: bool, _: &egui::Context| -> Box<dyn eframe::App> {
            theirs.set(Some(is_anew));
            Box::new(Opened)
        };
        AfterDefect::new(defect, &creation.egui_ctx, Box::new(begin))
    });
    harness.run();
    assert_eq!(begun.get(), None, "nothing opens unasked");
    for words in ["src/a.rs:1:2, Interlinear 0", "/state/defect-told.txt"] {
        assert!(harness.query_by_label_contains(words).is_some(), "{words}");
    }
    harness.get_by_label(button).click();
    harness.run();
    harness.get_by_label("The window is open");
    begun.get()
}

#[test]
fn after_a_defect_the_state_of_before_is_opened_only_when_that_is_chosen() {
    assert_eq!(answer("Go on where it ended"), Some(false));
    assert_eq!(answer("Begin anew"), Some(true));
}

#[test]
fn the_menu_says_the_version_and_where_a_newer_one_is() {
    let (mut harness, _) = window(Session::default());
    harness.click_on("File");
    let line = format!("Version {}. ", env!("CARGO_PKG_VERSION"));
    assert!(harness.query_by_label_contains(&line).is_some());
}
