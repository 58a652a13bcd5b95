//! Floor 13: frames with the tree of a search, without a display.

use egui::{Event as Input, Pos2, pos2};

use crate::app::figures::TreeFigures;
use crate::decoding::{Fate, Node};
use crate::jobs::live::protocol::ColumnResult;
use crate::session::command::WindowCommand;
use crate::session::state::Session;
use crate::ui::local;
use crate::ui::measure::frames::{WARM_UP, WINDOW, Window, wheel, word};
use crate::ui::measure::heatmap;
use crate::ui::views::sentence::tree_memory::Memory;

/// Frames of a window with the tree of a search with this beam for a translation of so many words: nothing happening, the
/// mouse over the nodes, scrolling, another node looked at in every frame, another number of steps in every frame.
/// `pruned`: with what fell out of the beam.
pub fn tree(beam: usize, words: usize, pruned: bool, frames: usize) -> TreeFigures {
    let mut window = Window::new(session(beam, words), WINDOW);
    window.app.send(WindowCommand::SetLayout { key: local::TREE.to_owned(), value: 1.0 });
    window.frame(Vec::new());
    remember(&mut window, |memory| memory.pruned = pruned);
    for _ in 0..WARM_UP {
        window.frame(Vec::new());
    }
    let still_millis = (0..frames).map(|_| window.frame(Vec::new())).collect();
    let (triangles, mut nodes) = (window.triangles, Vec::new());
    remember(&mut window, |memory| {
        nodes = memory.arranged.iter().flat_map(|arranged| arranged.drawn.parts.iter().flatten().copied()).collect();
    });
    let hovering_millis = (0..frames).map(|n| window.frame(vec![Input::PointerMoved(over(n))])).collect();
    let scrolling_millis = (0..frames).map(|n| window.frame(vec![wheel(n)])).collect();
    let walking_millis = (0..frames)
        .map(|n| {
            remember(&mut window, |memory| memory.selected = nodes.get(n % nodes.len().max(1)).copied());
            window.frame(Vec::new())
        })
        .collect();
    let growing_millis = (0..frames)
        .map(|n| {
            remember(&mut window, |memory| memory.steps = Some(1 + n % words.max(1)));
            window.frame(Vec::new())
        })
        .collect();
    TreeFigures {
        beam,
        words,
        nodes: nodes.len(),
        window: (WINDOW.x, WINDOW.y),
        triangles,
        still_millis,
        hovering_millis,
        scrolling_millis,
        walking_millis,
        growing_millis,
    }
}

fn remember(window: &mut Window, change: impl FnOnce(&mut Memory)) {
    if let Some(memory) = window.app.local().sentence.trees.values_mut().next() {
        change(memory);
    }
}

/// Where the mouse is in frame n: it wanders over the nodes.
fn over(n: usize) -> Pos2 {
    let share = |step: usize| (n * step % 100) as f32 / 100.0;
    let (top, bottom) = (0.5 * WINDOW.y, WINDOW.y - 260.0);
    pos2(WINDOW.x * (0.38 + 0.4 * share(7)), top + (bottom - top) * share(3))
}

/// One column with a finished search.
fn session(beam: usize, words: usize) -> Session {
    let mut best = heatmap::hypothesis(words);
    best.ids = (0..words as u32).map(|step| step * 1000).collect();
    let nodes = search(beam, words);
    let names = nodes.iter().map(|node| (node.token, word(node.token as usize))).collect();
    let result = ColumnResult { hypotheses: vec![best], nodes, words: names, millis: 9.0, ..ColumnResult::default() };
    heatmap::finished(words, result, beam)
}

/// The trace of a search of so many steps: at each the beam is full, as many extensions fall out, and most of what stays
/// continues one of the better hypotheses.
fn search(beam: usize, steps: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut before: Vec<usize> = Vec::new();
    let mut random = 1_u64;
    let mut draw = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    for step in 0..steps {
        let first = nodes.len();
        for n in 0..2 * beam {
            let of = if n == 0 { 0 } else { draw(beam).min(draw(beam)) };
            let fate = match n < beam {
                true if step + 1 == steps => Fate::Finished,
                true => Fate::Alive,
                false => Fate::Pruned,
            };
            nodes.push(Node {
                id: nodes.len(),
                parent: before.get(of).copied(),
                step,
                token: (step * 1000 + n) as u32,
                log_p: -0.05 * (1 + n) as f32,
                total: -0.3 * (step + 1) as f32 - 0.05 * n as f32,
                alpha: None,
                energies: None,
                p_t: None,
                candidates: Vec::new(),
                fate,
            });
        }
        before = (first..first + beam).collect();
    }
    prune(&mut nodes);
    nodes
}

/// What leads nowhere has fallen out.
fn prune(nodes: &mut [Node]) {
    let mut leads = vec![false; nodes.len()];
    for at in (0..nodes.len()).rev() {
        leads[at] |= nodes[at].fate == Fate::Finished;
        match nodes[at].parent {
            Some(parent) if leads[at] => leads[parent] = true,
            _ => {}
        }
        if !leads[at] {
            nodes[at].fate = Fate::Pruned;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_window_shows_the_tree_and_keeps_it_between_frames() {
        let mut window = Window::new(session(4, 10), WINDOW);
        window.app.send(WindowCommand::SetLayout { key: local::TREE.to_owned(), value: 1.0 });
        for _ in 0..WARM_UP {
            window.frame(Vec::new());
        }
        let arranged = |window: &mut Window| {
            let mut found = None;
            remember(window, |memory| found.clone_from(&memory.arranged));
            found.expect("the tree is drawn")
        };
        let first = arranged(&mut window);
        assert!(first.drawn.nodes.len() >= 10, "{} nodes", first.drawn.nodes.len());
        assert!(first.drawn.nodes.iter().take(10).all(|node| node.is_best), "the best translation stands first");
        for n in 0..10 {
            window.frame(vec![Input::PointerMoved(over(n)), wheel(n)]);
        }
        // a node that is drawn anyway is looked at
        remember(&mut window, |memory| memory.selected = first.drawn.id(3));
        window.frame(Vec::new());
        assert!(std::sync::Arc::ptr_eq(&first, &arranged(&mut window)), "nothing that it shows has changed");
        remember(&mut window, |memory| memory.pruned = true);
        window.frame(Vec::new());
        assert_eq!(arranged(&mut window).drawn.nodes.len(), 80);
        let figures = tree(2, 4, true, 3);
        assert_eq!((figures.nodes, figures.growing_millis.len()), (16, 3));
    }
}
