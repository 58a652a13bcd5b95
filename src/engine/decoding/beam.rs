//! Beam search over a batch of sentences, one word a step; greedy is a beam of 1.
//!
//! At every step the best (beam - finished) extensions of a sentence stay. One that emits `</s>`
//! is finished and leaves, so the beam shrinks, as in `GroundHog`, the code of Bahdanau et al.
//! (2015). It ends when the beam is empty or at the maximal length; unfinished hypotheses are
//! returned only when none finished. Finished ones are ranked by log p, corrected for length and
//! coverage as [`Ranking`](crate::decoding::Ranking) says; the search itself goes by log p alone.

use crate::decoding::select::{BestWords, Extension};
use crate::decoding::trace::{Decoded, Hypothesis, NodeFate, SearchProgress, whole};
use crate::decoding::tree::{Expansion, Tree, TreePath};
use crate::decoding::{SearchOptions, Specials};
use crate::error::{Error, Result};
use crate::models::{Asked, Need, StepOutput, StepRow, Stepper};
use crate::ticket::CancellationToken;

pub fn decode(
    stepper: &mut dyn Stepper, specials: Specials, sources: &[&[u32]], options: &SearchOptions,
    ticket: &CancellationToken, emit: &mut dyn FnMut(usize, SearchProgress<'_>),
) -> Result<Vec<Decoded>> {
    check_options(sources, options)?;
    ticket.check()?;
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    stepper.heed(ticket);
    stepper.begin(sources)?;
    ticket.check()?;
    let rules = Rules::new(options, specials);
    let mut beams: Vec<Beam> = sources
        .iter()
        .enumerate()
        .map(|(row, source)| Beam::new(source.len(), row, options).at_most(stepper.most()))
        .collect();
    for sentence in 0..beams.len() {
        emit(sentence, SearchProgress::Encoded { context: stepper.context(sentence) });
    }
    let mut step = Step::default();
    while beams.iter().any(Beam::is_live) {
        let live: Vec<bool> = beams.iter().map(Beam::is_live).collect();
        step.advance(stepper, beams.iter_mut().enumerate(), &rules, ticket)?;
        for (sentence, beam) in beams.iter_mut().enumerate().filter(|(sentence, _)| live[*sentence]) {
            emit(sentence, SearchProgress::Expanded { best: beam.lead(options) });
        }
        ticket.check()?;
    }
    Ok(beams.into_iter().enumerate().map(|(sentence, beam)| beam.finish(options, stepper.context(sentence))).collect())
}

/// What no search can begin with.
pub(super) fn check_options(sources: &[&[u32]], options: &SearchOptions) -> Result<()> {
    if options.beam == 0 {
        return Err(Error::Input("the beam is 0, but it must keep at least 1 hypothesis".to_owned()));
    }
    check_sources(sources)
}

/// Buffers of the steps of many beams at once.
#[derive(Default)]
pub(super) struct Step {
    /// The rows of the last step.
    pub(super) rows: Vec<StepRow>,
    words: Vec<Asked>,
    output: StepOutput,
}

impl Step {
    /// Takes a step with all beams that live, which are given with their places in the batch.
    pub(super) fn advance<'b>(
        &mut self, stepper: &mut dyn Stepper, beams: impl Iterator<Item = (usize, &'b mut Beam)>, rules: &Rules<'_>,
        ticket: &CancellationToken,
    ) -> Result<()> {
        let mut live: Vec<(usize, &mut Beam)> = beams.filter(|(_, beam)| beam.is_live()).collect();
        self.rows.clear();
        self.words.clear();
        if live.is_empty() {
            return Ok(());
        }
        for (sentence, beam) in &mut live {
            beam.push_rows(*sentence, &mut self.rows);
            beam.forced = stepper.forced(*sentence, beam.step).map(|token| (token, self.words.len()));
            if let Some((token, _)) = beam.forced {
                self.words.extend((beam.first_row..self.rows.len()).map(|row| Asked { row, token }));
            }
        }
        let free = live.iter().filter(|(_, beam)| beam.forced.is_none()).map(|(_, beam)| beam.seen(rules.options));
        let best = free.map(|seen| rules.best(seen)).max().unwrap_or(0).max(rules.options.candidates);
        stepper.step(&self.rows, &Need { every: false, best, words: &self.words }, &mut self.output)?;
        ticket.check()?;
        check_coverage(&self.output, rules.options)?;
        live.into_iter().try_for_each(|(_, beam)| beam.advance(&self.output, rules))
    }
}

/// A source without words cannot be encoded.
pub(crate) fn check_sources(sources: &[&[u32]]) -> Result<()> {
    match sources.iter().position(|source| source.is_empty()) {
        Some(index) => Err(Error::Input(format!("source sentence {} is empty, not even `</s>` is there", index + 1))),
        None => Ok(()),
    }
}

fn check_coverage(output: &StepOutput, options: &SearchOptions) -> Result<()> {
    if options.ranking.coverage == 0.0 || !output.alpha.is_empty() {
        return Ok(());
    }
    Err(Error::Input(
        "the coverage penalty needs an alignment and this model has none; set it to 0 or choose a model that aligns"
            .to_owned(),
    ))
}

/// What is the same for all sentences and steps.
pub(super) struct Rules<'a> {
    options: &'a SearchOptions,
    forbidden: Option<u32>,
    eos: u32,
}

impl<'a> Rules<'a> {
    pub(super) fn new(options: &'a SearchOptions, specials: Specials) -> Self {
        Self { options, forbidden: specials.forbidden(options.forbid_unk, options.allow_unk), eos: specials.eos }
    }

    /// How many of the best words of a row must be known for the best `seen` that may be said to be among them.
    fn best(&self, seen: usize) -> usize {
        seen.saturating_add(usize::from(self.forbidden.is_some()))
    }
}

#[derive(Clone, Copy, Debug)]
struct Live {
    node: Option<usize>,
    /// Row of the last step, or among the first states, that holds its state.
    row: usize,
}

/// The search of one sentence.
pub(super) struct Beam {
    t_x: usize,
    max_length: usize,
    step: usize,
    live: Vec<Live>,
    /// The row of the running step that extends `live[0]`; the others follow.
    first_row: usize,
    /// The one word that may be said at the running step, and where its log p stand among the words that are asked for.
    forced: Option<(u32, usize)>,
    finished: Vec<(f64, usize)>,
    cut: Vec<usize>,
    tree: Tree,
    leading: TreePath,
}

impl Beam {
    /// The same, no longer than the stepper has positions for.
    pub(super) fn at_most(self, most: usize) -> Self {
        Self { max_length: self.max_length.min(most), ..self }
    }

    /// The empty hypothesis of a sentence whose first state is that of `row`.
    pub(super) fn new(t_x: usize, row: usize, options: &SearchOptions) -> Self {
        let max_length = options.limit(t_x);
        let live = if max_length == 0 { Vec::new() } else { vec![Live { node: None, row }] };
        Self {
            t_x,
            max_length,
            step: 0,
            live,
            first_row: 0,
            forced: None,
            finished: Vec::new(),
            cut: Vec::new(),
            tree: Tree::default(),
            leading: TreePath::default(),
        }
    }

    pub(super) fn is_live(&self) -> bool {
        !self.live.is_empty()
    }

    fn push_rows(&mut self, sentence: usize, rows: &mut Vec<StepRow>) {
        self.first_row = rows.len();
        for live in &self.live {
            let y_prev = live.node.map(|node| self.tree.token(node));
            rows.push(StepRow { sentence, parent: live.row, y_prev });
        }
    }

    fn room(&self, options: &SearchOptions) -> usize {
        options.beam - self.finished.len()
    }

    fn seen(&self, options: &SearchOptions) -> usize {
        let room = self.room(options);
        if options.trace { room.saturating_add(options.beam) } else { room }
    }

    fn advance(&mut self, output: &StepOutput, rules: &Rules<'_>) -> Result<()> {
        let room = self.room(rules.options);
        let extensions = self.best(output, rules.forbidden, self.seen(rules.options))?;
        let mut expansions = vec![None; self.live.len()];
        let before = std::mem::take(&mut self.live);
        self.step += 1;
        for (place, extension) in extensions.iter().enumerate() {
            let row = self.first_row + extension.parent;
            let expansion = *expansions[extension.parent].get_or_insert_with(|| {
                self.tree.expand(Expansion::read(output, row, self.t_x, rules.options.candidates))
            });
            let fate = if place < room { self.fate(extension.token, rules.eos) } else { NodeFate::Pruned };
            let node = self.tree.push(before[extension.parent].node, extension, expansion, fate);
            match fate {
                NodeFate::Alive => self.live.push(Live { node: Some(node), row }),
                NodeFate::Cut => self.cut.push(node),
                NodeFate::Finished => self.finished.push((self.tree.rank(node, rules.options.ranking), node)),
                NodeFate::Pruned => {}
            }
        }
        if !rules.options.trace {
            let ended = before.iter().zip(&expansions).filter(|(_, expansion)| expansion.is_none());
            ended.filter_map(|(live, _)| live.node).for_each(|node| self.tree.forget(node));
        }
        Ok(())
    }

    fn fate(&self, token: u32, eos: u32) -> NodeFate {
        if token == eos {
            NodeFate::Finished
        } else if self.step == self.max_length {
            NodeFate::Cut
        } else {
            NodeFate::Alive
        }
    }

    fn best(&self, output: &StepOutput, forbidden: Option<u32>, seen: usize) -> Result<Vec<Extension>> {
        let mut best = BestWords::new(seen);
        for (parent, live) in self.live.iter().enumerate() {
            let total = live.node.map_or(0.0, |node| self.tree.total(node));
            let row = self.first_row + parent;
            match self.forced {
                None => best.offer_row(parent, total, output.best_row(row), forbidden),
                Some((token, asked)) => {
                    best.offer(parent, total, token, forced(output, asked + parent, token, self.step)?);
                }
            }
        }
        let best = best.into_vec();
        if best.is_empty() {
            return Err(Error::Input(format!(
                "the model gives no word a probability at target position {}; its weights are probably damaged, load another copy",
                self.step + 1
            )));
        }
        Ok(best)
    }

    fn lead(&mut self, options: &SearchOptions) -> &Hypothesis {
        let unfinished = self.live.first().and_then(|live| live.node).or(self.cut.first().copied());
        let unfinished = unfinished.map(|node| (self.tree.rank(node, options.ranking), node));
        let mut leader = None;
        for (rank, node) in self.finished.iter().copied().chain(unfinished) {
            if leader.is_none_or(|(best, _)| rank > best) {
                leader = Some((rank, node));
            }
        }
        let (_, node) = leader.expect("a step that keeps no extension is an error");
        self.leading.follow(&self.tree, node, options.ranking, options.trace)
    }

    pub(super) fn finish(self, options: &SearchOptions, context: Option<Vec<f32>>) -> Decoded {
        let Self { finished, cut, tree, t_x, .. } = self;
        let cut = cut.into_iter().map(|node| (tree.rank(node, options.ranking), node));
        let mut tips = if finished.is_empty() { cut.collect() } else { finished };
        tips.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut room = options.most_numbers;
        let read = |(place, (_, tip))| {
            let mut path = TreePath::default();
            path.follow(&tree, tip, options.ranking, options.trace);
            let mut hypothesis = path.hypothesis;
            hypothesis.head = whole(hypothesis.head, hypothesis.tokens.len(), t_x);
            let numbers = numbers(&hypothesis);
            if place > 0 && numbers > room {
                (hypothesis.alpha, hypothesis.energies, hypothesis.head) = (None, None, None);
                hypothesis.left_out = true;
            } else {
                room = room.saturating_sub(numbers);
            }
            hypothesis
        };
        let hypotheses = tips.into_iter().enumerate().map(read).collect();
        let nodes = if options.trace { tree.nodes() } else { Vec::new() };
        Decoded { hypotheses, nodes, context }
    }
}

fn numbers(hypothesis: &Hypothesis) -> usize {
    [&hypothesis.alpha, &hypothesis.energies, &hypothesis.head].into_iter().flatten().flatten().map(Vec::len).sum()
}

fn forced(output: &StepOutput, asked: usize, token: u32, i: usize) -> Result<f32> {
    match output.words.get(asked).copied() {
        Some(log_p) if log_p != f32::NEG_INFINITY => Ok(log_p),
        // No sum with it is a number that could be compared.
        Some(_) | None => Err(Error::Input(format!(
            "the model gives the word forced at target position {} (id {token}) no probability at all; choose another word there",
            i + 1
        ))),
    }
}
