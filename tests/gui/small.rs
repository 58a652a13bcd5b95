//! Small things of the window that once stung.

use std::borrow::Cow;

use egui::{Key, accesskit::Role};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::{files::work::FileEvent, layout::Layout, settings::Theme};
use interlinear::pages::{map::MAP, map::command::MapCommand, shell::source};
use interlinear::{session::driver::OpenWith, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _};

const SIZE: [f32; 2] = [1280.0, 800.0];

fn focused(harness: &Harness<'_, App>) -> Option<egui::Id> {
    harness.ctx.memory(egui::Memory::focused)
}

#[test]
fn the_source_has_the_keyboard_at_start_and_typing_replaces_it() {
    let (mut harness, _) = desk::window_at_start(desk::two_models(), SIZE);
    assert_eq!(focused(&harness), Some(source::editor_id()));
    harness.event(egui::Event::Text("x".to_owned()));
    harness.run();
    assert_eq!(harness.app().document.source(), "x");
}

#[test]
fn f6_goes_on_to_a_panel_that_is_there() {
    let (mut harness, _) = desk::window_at_start(desk::two_models(), SIZE);
    harness.press(Key::F6);
    let first = focused(&harness);
    assert!(first.is_some() && first != Some(source::editor_id()), "RNNencdec has no picture to go to, but a beam");
    let layout = Layout { inspector_open: false, sentences_open: false, ..Layout::default() };
    harness.send(WindowCommand::SetLayout(Box::new(layout)));
    let mut seen = vec![focused(&harness)];
    for _ in 0..2 {
        harness.press(Key::F6);
        seen.push(focused(&harness));
    }
    let mut different = seen.clone();
    different.dedup();
    assert_eq!(different.len(), 3, "closed panels are passed over: {seen:?}");
    assert_eq!(seen[1], Some(source::editor_id()), "{seen:?}");
}

#[test]
fn the_beam_shows_the_typed_word_for_unk() {
    let mut session = desk::session("the zorglub");
    desk::add_finished(&mut session, "RNNsearch", "the zorglub", &["le [UNK]"]);
    let (mut harness, _) = desk::window(session);
    assert!(harness.has("Hypothesis 1, log p -1.50, le [UNK]"));
    harness.send(SettingsCommand::SetUnkReplacement(true));
    assert!(harness.has("Hypothesis 1, log p -1.50, le zorglub [UNK]"));
}

#[test]
fn a_notice_moves_nothing() {
    let place = |session: Session| {
        let (harness, _) = desk::window(session);
        let grid = harness.get_by_role(Role::Grid).rect();
        (grid, harness.query_by_label("Dismiss").map(|button| button.rect()))
    };
    let (before, _) = place(desk::two_models());
    let mut session = desk::two_models();
    session.absorb_file(FileEvent::Notice { text: "Saved a.tsv".to_owned(), is_error: false });
    let (after, dismiss) = place(session);
    assert_eq!(before, after);
    assert!(dismiss.is_some_and(|button| button.bottom() < SIZE[1] && button.top() > 0.5 * SIZE[1]), "{dismiss:?}");
}

#[test]
fn words_that_differ_have_their_legend_in_a_narrow_window_too() {
    for width in [700.0, 1024.0, 1600.0] {
        let (harness, _) = desk::window_of(desk::two_models(), [width, 800.0]);
        let legend = harness.get_by_label("differs").rect();
        assert!(legend.right() <= width, "{width}: {legend}");
    }
    let mut session = desk::session("the red shoe");
    desk::add_finished(&mut session, "RNNsearch", "the red shoe", &["la chaussure rouge"]);
    let (harness, _) = desk::window(session);
    assert!(!harness.has_any("differs"), "with one model nothing is underlined");
}

#[test]
fn each_theme_has_its_palette_until_one_is_chosen() {
    let chosen =
        |harness: &Harness<'_, App>, is_dark: bool| harness.app().view.settings.palette_on(is_dark).to_lowercase();
    let (mut harness, _) = desk::window(desk::two_models());
    assert_eq!((chosen(&harness, true), chosen(&harness, false)), ("gray".to_owned(), "print".to_owned()));
    harness.send(SettingsCommand::SetTheme(Theme::Light));
    assert_eq!(harness.get_by_label("Palette").accesskit_node().value().as_deref(), Some("Print"));
    harness.send(SettingsCommand::SetPalette("Gray".to_owned()));
    assert_eq!((chosen(&harness, true), chosen(&harness, false)), ("gray".to_owned(), "gray".to_owned()));
}

#[test]
fn an_empty_map_offers_something_to_try() {
    let (mut harness, wires) = desk::on_page(MAP);
    harness.click_on_each(&["Cancel", "Try twelve short phrases"]);
    assert!(wires.sent.borrow().iter().filter(|sent| **sent == MapCommand::Compute.into()).count() == 2);
    assert_eq!(harness.state().session().maps().typed.lines().count(), 12);
}

#[test]
fn the_source_is_marked_in_its_list_after_a_restart() {
    let mut session = Session::start(None, &OpenWith::default());
    let third = session.app().lists.sentence(2).map(Cow::into_owned).unwrap_or_default();
    session.apply(SourceCommand::Edit(third));
    assert_eq!(session.app().document.state.position, None);
    let again = Session::start(Some(session.saved()), &OpenWith::default());
    assert_eq!(again.app().document.state.position, Some(2));
}

/// egui takes a texture as large as the card allows for its letters; after many sizes of letters it was a gigabyte.
#[test]
fn the_letters_take_a_small_part_of_what_the_graphics_card_offers() {
    let (mut harness, _) = desk::window_of(desk::two_models(), SIZE);
    let ctx = harness.ctx.clone();
    for (offered, taken) in [(Some(16_384), 2048), (Some(1024), 1024), (None, 2048)] {
        let mut input = egui::RawInput { max_texture_side: offered, ..egui::RawInput::default() };
        eframe::App::raw_input_hook(harness.state_mut(), &ctx, &mut input);
        assert_eq!(input.max_texture_side, Some(taken));
    }
}
