//! What is in the measured windows: a translation of many words, and a large search.

use interlinear::decoding::{Hypothesis, Node, NodeFate};
use interlinear::jobs::live::protocol::{ColumnResult, Event, HypothesisView, ModelFacts};
use interlinear::pages::sentence::command::{ColumnCommand, SearchCommand};
use interlinear::text::sentence::{EOS, Sentence};
use interlinear::{app::command::SourceCommand, session::driver::OpenWith, session::state::Session};

const SYLLABLES: [&str; 8] = ["la", "mer", "sol", "ti", "vent", "ro", "ge", "nuit"];

fn word(n: usize) -> String {
    (0..=n % 3).map(|k| SYLLABLES[(n * 5 + k * 3) % SYLLABLES.len()]).collect()
}

pub fn translation(words: usize) -> Session {
    let result = ColumnResult { hypotheses: vec![hypothesis(words)], millis: 9.0, ..ColumnResult::default() };
    finished(words, result, 5)
}

fn finished(words: usize, result: ColumnResult, beam: usize) -> Session {
    let mut session = Session::start(None, &OpenWith::default());
    session.apply(SearchCommand::SetBeam(beam));
    let source = sentence(words);
    session.apply(SourceCommand::Replace(source.text.clone()));
    session.apply(ColumnCommand::Add("measured".into()));
    let Some(column) = session.app().document.columns.last().map(|column| column.id) else { return session };
    let facts = ModelFacts { name: "measured".to_owned(), has_alignment: true, ..ModelFacts::default() };
    let number = session.app().tasks.newest;
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

fn hypothesis(words: usize) -> HypothesisView {
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
        found: Hypothesis {
            tokens: vec![7; t_y],
            token_log_p: vec![-0.3; t_y],
            log_p: -0.3 * t_y as f32,
            finished: true,
            alpha: Some(energies.iter().map(softmax).collect()),
            energies: Some(energies),
            ..Hypothesis::default()
        },
        is_unk: vec![false; t_y],
        text: tokens.join(" "),
        candidates: vec![Vec::new(); t_y],
        replaced: vec![None; t_y],
        tokens,
        ..HypothesisView::default()
    }
}

pub fn tree(beam: usize, words: usize) -> Session {
    let mut best = hypothesis(words);
    best.found.tokens = (0..words as u32).map(|step| step * 1000).collect();
    let nodes = search(beam, words);
    let names = nodes.iter().map(|node| (node.token, word(node.token as usize))).collect();
    let result = ColumnResult { hypotheses: vec![best], nodes, words: names, millis: 9.0, ..ColumnResult::default() };
    finished(words, result, beam)
}

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
                true if step + 1 == steps => NodeFate::Finished,
                true => NodeFate::Alive,
                false => NodeFate::Pruned,
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

fn prune(nodes: &mut [Node]) {
    let mut leads = vec![false; nodes.len()];
    for at in (0..nodes.len()).rev() {
        leads[at] |= nodes[at].fate == NodeFate::Finished;
        match nodes[at].parent {
            Some(parent) if leads[at] => leads[parent] = true,
            _ => {}
        }
        if !leads[at] {
            nodes[at].fate = NodeFate::Pruned;
        }
    }
}
