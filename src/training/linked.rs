//! The text that an alignment head is learned from: pairs of files with links between their words, of files, of an
//! aligner that is at hand, or of one that learns from the very text.

use std::path::PathBuf;

use crate::guide::{Guide, GuidedReader};
use crate::settings::{LinkWords, Unlinked};
use engine::aligner::corpus::{CorpusBuilder, RARE};
use engine::aligner::learn::{LearningProgress, learn, pairs_of_all_passes};
use engine::aligner::words::{Cutter, LineAligner};
use engine::error::{Error, Result};
use engine::text::corpus::{PairRules, ParallelText};
use engine::{
    aligner::settings::AlignerSettings, analysis::symmetrize::symmetrization, models::Model,
    text::parallel::ParallelReader, ticket::CancellationToken,
};

const MOST_WORDS: usize = 100;

/// Pairs that an aligner learns from; more would not fit into the memory of a small computer.
const MOST_PAIRS: usize = 1_000_000;

/// Pairs of files, and whose links.
#[derive(Clone, Copy, Debug)]
pub struct LinkedText<'a> {
    pub files: &'a [(PathBuf, PathBuf)],
    /// Links of each pair of files; none: those of an aligner.
    pub links: &'a [PathBuf],
    /// Which words the files of links count.
    pub words: LinkWords,
    /// At most so many pairs of each pair of files.
    pub most: Option<usize>,
    /// At most so many bytes of text are held.
    pub bytes: u64,
}

impl LinkedText<'_> {
    /// The text as a model reads it, with the links of each pair; `aligner` finds them where no files have them. Words
    /// without a link look at `</s>`.
    pub fn read(
        &self, model: &Model, mut aligner: Option<&mut LineAligner>, ticket: &CancellationToken,
    ) -> Result<(ParallelText, Guide)> {
        let languages = (model.config.source_language.as_str(), model.config.target_language.as_str());
        let words = if self.links.is_empty() { LinkWords::Tokens } else { self.words };
        let source = model.source.clone().ending(false);
        let mut reader = GuidedReader::new(words, languages, (&source, &model.target));
        let (eos, source_eos) = (model.config.eos, model.config.source_eos);
        let (max_words, max_pairs, max_bytes) = (MOST_WORDS, self.most, self.bytes);
        let rules = PairRules { eos, source_eos, max_words, max_pairs, max_bytes };
        // heads learn better from many links than from sure ones
        let way = symmetrization("grow-diag-final-and").ok_or_else(|| Error::Internal("no such rule".to_owned()))?;
        let (mut corpus, mut guide) = (ParallelText::default(), Guide::default());
        for (n, (source, target)) in self.files.iter().enumerate() {
            let (files, looks) = ((source.as_path(), target.as_path()), (0, Unlinked::End));
            let (found, looks) = match (self.links.get(n), aligner.as_deref_mut()) {
                (Some(links), _) => reader.read_linked(files, links, looks, &rules, ticket)?,
                (None, Some(aligner)) => reader.read(files, looks, &rules, ticket, &mut |_, pair| {
                    let links = aligner.words(pair.0, pair.1).2;
                    Ok((files.0, (way.combine)(&links.forward, &links.reverse)))
                })?,
                (None, None) => return Err(Error::Input(format!("{} has no links; give them", source.display()))),
            };
            for k in 0..found.len() {
                let (source, target) = found.pair(k);
                corpus.push(source, target);
                guide.push(looks.of(k));
            }
        }
        Ok((corpus, guide))
    }
}

/// The aligner that a text teaches, of the languages of a model. `on_progress` gets how much of the learning is done, and all
/// of it.
pub fn learn_aligner(
    model: &Model, files: &[(PathBuf, PathBuf)], threads: usize, ticket: &CancellationToken,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<LineAligner> {
    let (x, y) = (model.config.source_language.as_str(), model.config.target_language.as_str());
    let (mut source, mut target) = (Cutter::new(x, false), Cutter::new(y, false));
    let mut text = CorpusBuilder::default();
    for pair in ParallelReader::new(files).learned_from().take(MOST_PAIRS) {
        ticket.check()?;
        let (x, y) = pair?;
        text.push(&source.cut(&x).words, &target.cut(&y).words);
    }
    let settings = AlignerSettings::default();
    let all = pairs_of_all_passes(text.len(), &settings);
    let mut learned = learn(text.finish(RARE), &settings, threads, ticket, &mut |progress| {
        if let LearningProgress::Pairs(done) = progress {
            on_progress(done, all);
        }
    })?;
    learned.languages = (x.to_owned(), y.to_owned());
    Ok(LineAligner::new(learned, source, target))
}
