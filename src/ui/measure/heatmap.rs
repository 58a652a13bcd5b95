//! Floor 13: frames with a heatmap, without a display.

use std::path::PathBuf;

use egui::{Event as Input, Pos2, Vec2, pos2, vec2};

use crate::app::figures::HeatmapFigures;
use crate::jobs::live::protocol::{ColumnResult, Event, HypothesisView, ModelFacts};
use crate::pages::sentence::command::{ColumnCommand, SearchCommand, SourceCommand};
use crate::session::command::SettingsCommand;
use crate::session::driver::OpenWith;
use crate::session::state::Session;
use crate::text::sentence::{EOS, Sentence};
use crate::ui::measure::frames::{WARM_UP, WINDOW, Window, wheel, word};
use crate::widgets::theme;

/// Frames of a window with one heatmap of so many source and target words: nothing happening, the mouse over the
/// cells, scrolling, and new numbers in every frame. `whole`: the window is large enough for every cell and label.
pub fn heatmap(words: usize, whole: bool, frames: usize) -> HeatmapFigures {
    let side = words as f32 * theme::CELL_AUTO.0;
    let size = if whole { WINDOW.max(vec2(side + 520.0, side + 760.0)) } else { WINDOW };
    let mut window = Window::new(session(words), size);
    for _ in 0..WARM_UP {
        window.frame(Vec::new());
    }
    let still_millis = (0..frames).map(|_| window.frame(Vec::new())).collect();
    let triangles = window.triangles;
    let hovering_millis = (0..frames).map(|n| window.frame(vec![Input::PointerMoved(over(size, n))])).collect();
    let scrolling_millis = (0..frames).map(|n| window.frame(vec![wheel(n)])).collect();
    let new_numbers_millis = (0..frames)
        .map(|n| {
            window
                .app
                .send(SettingsCommand::SetPalette(theme::COLOUR_MAPS[n % theme::COLOUR_MAPS.len()].name.to_owned()));
            window.frame(Vec::new())
        })
        .collect();
    HeatmapFigures {
        words,
        window: (size.x, size.y),
        triangles,
        still_millis,
        hovering_millis,
        scrolling_millis,
        new_numbers_millis,
    }
}

/// Where the mouse is in frame n: it wanders over the cells.
fn over(size: Vec2, n: usize) -> Pos2 {
    let share = |step: usize| (n * step % 100) as f32 / 100.0;
    // under the source text and the translation, over the beam
    let (top, bottom) = (0.55 * size.y, size.y - 220.0);
    pos2(size.x * (0.38 + 0.2 * share(7)), top + (bottom - top) * share(3))
}

/// One column with a finished translation of so many words into as many, `</s>` included.
fn session(words: usize) -> Session {
    let result = ColumnResult { hypotheses: vec![hypothesis(words)], millis: 9.0, ..ColumnResult::default() };
    finished(words, result, 5)
}

/// One column that has found this with this beam for a source of so many words.
pub(super) fn finished(words: usize, result: ColumnResult, beam: usize) -> Session {
    let mut session = Session::start(None, &OpenWith::default());
    session.apply(SearchCommand::SetBeam(beam));
    let source = sentence(words);
    session.apply(SourceCommand::Replace(source.text.clone()));
    session.apply(ColumnCommand::Add(PathBuf::from("measured")));
    let Some(column) = session.app().document.columns().last().map(|column| column.id) else { return session };
    let facts = ModelFacts { name: "measured".to_owned(), has_alignment: true, ..ModelFacts::default() };
    let number = session.app().tasks.newest();
    for event in [
        Event::Loaded { column, facts },
        Event::Started { number, column, source, context: None },
        Event::Finished { number, column, result },
    ] {
        session.absorb(event);
    }
    session
}

fn sentence(words: usize) -> Sentence {
    let mut sentence = Sentence::default();
    for n in 0..words.saturating_sub(1) {
        let (word, start) = (word(n), sentence.text.len());
        sentence.text.push_str(&word);
        sentence.spans.push(start..sentence.text.len());
        sentence.text.push(' ');
        sentence.tokens.push(word);
        sentence.ids.push(5);
    }
    let end = sentence.text.len();
    sentence.tokens.push(EOS.to_owned());
    sentence.spans.push(end..end);
    sentence.ids.push(0);
    sentence
}

/// A translation that looks along the diagonal, and a little beside it.
pub(super) fn hypothesis(words: usize) -> HypothesisView {
    let mut tokens: Vec<String> = (0..words.saturating_sub(1)).map(|n| word(n + 1)).collect();
    tokens.push(EOS.to_owned());
    let t_y = tokens.len();
    let e = |i: usize, j: usize| -0.7 * i.abs_diff(j) as f32 + ((i * 7 + j * 3) % 5) as f32 * 0.1;
    let energies: Vec<Vec<f32>> = (0..t_y).map(|i| (0..words).map(|j| e(i, j)).collect()).collect();
    let softmax = |e_i: &Vec<f32>| -> Vec<f32> {
        let sum: f32 = e_i.iter().map(|e| e.exp()).sum();
        e_i.iter().map(|e| e.exp() / sum).collect()
    };
    HypothesisView {
        ids: vec![7; t_y],
        is_unk: vec![false; t_y],
        text: tokens.join(" "),
        token_log_p: vec![-0.3; t_y],
        log_p: -0.3 * t_y as f32,
        finished: true,
        alpha: Some(energies.iter().map(softmax).collect()),
        energies: Some(energies),
        candidates: vec![Vec::new(); t_y],
        replaced: vec![None; t_y],
        tokens,
        ..HypothesisView::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_window_shows_the_heatmap_and_hears_mouse_and_wheel() {
        let mut window = Window::new(session(30), WINDOW);
        for _ in 0..WARM_UP {
            window.frame(Vec::new());
        }
        let column = window.app.session().app().document.columns().last().expect("there is one");
        let table = column.table.as_ref().expect("it is translated");
        assert_eq!((table.target.len(), table.source.len()), (30, 30));
        assert!(window.triangles > 500, "{} triangles", window.triangles);
        let mut seen = Vec::new();
        for n in 0..10 {
            window.frame(vec![Input::PointerMoved(over(WINDOW, n))]);
            seen.extend(window.app.session().app().view.hover().and_then(|hover| hover.i));
        }
        assert!(seen.len() > 5, "the mouse was over rows {seen:?}");
        for n in 0..10 {
            window.frame(vec![wheel(n)]);
        }
        let scrolled = window.app.session().app().view.hover().and_then(|hover| hover.i);
        assert_ne!(seen.last().copied(), scrolled, "the wheel moves the rows under the mouse");
    }
}
