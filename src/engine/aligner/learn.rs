//! Learning from parallel text: expectation and maximisation, both directions at once.

use crate::aligner::pair::{LatticeStep, PairPosteriors};
use crate::aligner::{
    candidates::candidates, corpus::AlignerText, jumps::Jumps, learned::Learned, lexicon::Lexicon, parallel::parallel,
    settings::AlignerSettings,
};
use crate::aligner::{jumps, lexicon};
use crate::error::{Error, Result};
use crate::ticket::CancellationToken;

const CHUNK: usize = 256;

/// A pass over the corpus that is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Which model, `IBM model 1` or `HMM`.
    pub model: &'static str,
    pub number: usize,
    /// log p(target | source) before the pass.
    pub forward: f64,
    /// log p(source | target) before the pass.
    pub reverse: f64,
}

/// What is heard while learning goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LearningProgress {
    /// Of all sentence pairs of all passes, so many are done.
    Pairs(usize),
    /// A pass is done.
    Pass(Pass),
}

/// Sentence pairs of all passes together, of so many in the corpus.
pub fn pairs_of_all_passes(pairs: usize, settings: &AlignerSettings) -> usize {
    pairs * (settings.model1 + settings.hmm)
}

/// Learns; the same corpus and settings give the same, whatever the number of threads.
pub fn learn(
    corpus: AlignerText, settings: &AlignerSettings, threads: usize, ticket: &CancellationToken,
    progress: &mut dyn FnMut(LearningProgress),
) -> Result<Learned> {
    if corpus.source.is_empty() {
        return Err(Error::Input("there is nothing to learn from; every pair of lines has an empty side".into()));
    }
    let alike = lexicon::alike(&corpus);
    let lexicon = candidates(&corpus, settings.association, &alike, threads, ticket)?;
    let (sources, targets) = (corpus.source_words.len(), corpus.target_words.len());
    let model = Model { lexicon, forward: Jumps::new(sources), reverse: Jumps::new(targets) };
    let mut run = Run { corpus: &corpus, settings, threads, ticket, alike, done: 0 };
    let model = run.passes(model, LatticeStep::Model1, settings.model1, progress)?;
    let model = Model { lexicon: model.lexicon.pruned(settings.prune), ..model };
    let model = run.passes(model, LatticeStep::Hmm, settings.hmm, progress)?;
    Ok(Learned {
        languages: (String::new(), String::new()),
        source_words: corpus.source_words,
        target_words: corpus.target_words,
        lexicon: model.lexicon,
        forward: model.forward,
        reverse: model.reverse,
        p0: settings.p0,
        floor: settings.floor,
    })
}

struct Model {
    lexicon: Lexicon,
    forward: Jumps,
    reverse: Jumps,
}

struct Run<'a> {
    corpus: &'a AlignerText,
    settings: &'a AlignerSettings,
    threads: usize,
    ticket: &'a CancellationToken,
    alike: Vec<u32>,
    done: usize,
}

impl Run<'_> {
    fn passes(
        &mut self, mut model: Model, step: LatticeStep, passes: usize, progress: &mut dyn FnMut(LearningProgress),
    ) -> Result<Model> {
        let settings = self.settings;
        let counts = lexicon::PairCounts::new(&model.lexicon);
        let (sources, targets) = (self.corpus.source_words.len(), self.corpus.target_words.len());
        let jumps =
            [sources, targets].map(|words| jumps::JumpCounts::new(if step == LatticeStep::Hmm { words } else { 0 }));
        for number in 1..=passes {
            let (forward, reverse) = self.expect(&model, step, &counts, &jumps, progress)?;
            model.lexicon.estimate(&counts, settings.prior, &self.alike);
            if step == LatticeStep::Hmm {
                model.forward = jumps[0].estimate(settings.jump_weight, settings.jump_smoothing);
                model.reverse = jumps[1].estimate(settings.jump_weight, settings.jump_smoothing);
            }
            progress(LearningProgress::Pass(Pass { model: step.name(), number, forward, reverse }));
        }
        Ok(model)
    }

    fn expect(
        &mut self, model: &Model, step: LatticeStep, counts: &lexicon::PairCounts, jumps: &[jumps::JumpCounts; 2],
        progress: &mut dyn FnMut(LearningProgress),
    ) -> Result<(f64, f64)> {
        let (corpus, settings) = (self.corpus, self.settings);
        let pairs = corpus.source.len();
        let before = self.done;
        let mut chunks = 0;
        let mut notify = |_| {
            chunks += 1;
            progress(LearningProgress::Pairs(before + (chunks * self.threads * CHUNK).min(pairs)));
        };
        let work = |pair: &mut PairPosteriors, chunk: usize| {
            let mut log_p = (0.0, 0.0);
            for s in chunk * CHUNK..((chunk + 1) * CHUNK).min(pairs) {
                pair.read_ids(&model.lexicon, corpus.source.get(s), corpus.target.get(s), settings.floor);
                let (forward, reverse) = pair.posteriors(step, settings, (&model.forward, &model.reverse));
                log_p.0 += forward;
                log_p.1 += reverse;
                pair.count(settings, counts);
                if step == LatticeStep::Hmm {
                    pair.count_jumps(jumps, settings.least);
                }
            }
            log_p
        };
        let sums =
            parallel(pairs.div_ceil(CHUNK), self.threads, self.ticket, &mut notify, &PairPosteriors::default, &work)?;
        self.done += pairs;
        progress(LearningProgress::Pairs(self.done));
        Ok(sums.into_iter().fold((0.0, 0.0), |sum, log_p| (sum.0 + log_p.0, sum.1 + log_p.1)))
    }
}
