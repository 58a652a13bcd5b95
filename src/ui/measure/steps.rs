//! Floor 13: frames of the page Steps, without a display.

use std::sync::Arc;

use crate::app::effect::Effect;
use crate::app::figures::StepsFigures;
use crate::app::page::Page;
use crate::jobs::live::protocol::ColumnResult;
use crate::jobs::steps::{Apart, StepsEvent};
use crate::pages::steps::command::StepsCommand;
use crate::session::command::WindowCommand;
use crate::session::state::Session;
use crate::ui::measure::frames::{WARM_UP, WINDOW, Window};
use crate::ui::measure::heatmap;

/// Frames of a window with these steps: nothing happening, another step in every frame, another open box in every frame.
pub fn steps(apart: &Arc<Apart>, frames: usize) -> StepsFigures {
    let (count, machine) = (apart.steps.len().max(1), apart.machine.clone());
    let mut window = Window::new(session(apart), WINDOW);
    for _ in 0..WARM_UP {
        window.frame(Vec::new());
    }
    let mut figures = StepsFigures { triangles: window.triangles, ..StepsFigures::default() };
    figures.still_millis = (0..frames).map(|_| window.frame(Vec::new())).collect();
    for n in 0..frames {
        window.app.send(StepsCommand::GoTo(n % count));
        figures.stepping_millis.push(window.frame(Vec::new()));
    }
    for n in 0..frames {
        let key = machine.stages.get(n % machine.stages.len().max(1)).map(|stage| stage.key.to_owned());
        window.app.send(StepsCommand::Open(key));
        figures.opening_millis.push(window.frame(Vec::new()));
    }
    figures
}

/// The page Steps with these steps.
fn session(apart: &Arc<Apart>) -> Session {
    let best = heatmap::hypothesis(4);
    let mut session = heatmap::finished(4, ColumnResult { hypotheses: vec![best], ..ColumnResult::default() }, 5);
    session.apply(WindowCommand::ShowPage(Page::Steps));
    for effect in session.take_effects() {
        if let Effect::TakeApart { number, .. } = effect {
            session.absorb_steps(StepsEvent { number, found: Ok(Arc::clone(apart)) });
        }
    }
    session
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoding::apart::ApartStep;

    #[test]
    fn the_measured_window_shows_the_steps() {
        let step = ApartStep { said: Some((7, -0.1)), best: vec![(7, -0.1)], ..ApartStep::default() };
        let words = vec![vec!["sol".to_owned(), "sol".to_owned()]; 3];
        let apart = Apart { steps: vec![step; 3], words, ..Apart::default() };
        assert!(session(&Arc::new(apart.clone())).steps().apart.is_some());
        let figures = steps(&Arc::new(apart), 2);
        let counts = [&figures.still_millis, &figures.stepping_millis, &figures.opening_millis].map(Vec::len);
        assert!(counts == [2; 3] && figures.triangles > 0);
    }
}
