//! An alignment head learned behind the window for a model that is open, from a text of the user's own. The model is
//! not held up meanwhile and has the head as soon as it is written. An order that was ended goes on from its checkpoint.

use std::path::PathBuf;

use crate::jobs::queue::work::{JobProgress, Work};
use engine::aligner::bundled::{AlignerChoice, AlignerFile, AlignerFiles};
use engine::models::{choice::ModelSpec, fused::head::HeadSizes};
use engine::{aligner::words::LineAligner, error::Result, nn::device::DeviceChoice, text::reader::require_file};
use training::head::{HeadProgress, HeadTraining, head_parameters, is_of, train_head};
use training::linked::{LinkedText, learn_aligner};
use training::{settings::LinkWords, state::Checkpoint};

/// Bytes of text that are held.
const MOST_TEXT: u64 = 1 << 30;
/// Updates between two checkpoints.
const KEEP: u64 = 50;
/// Pairs of words that an aligner's file keeps, some 2 MB.
const WORD_PAIRS: usize = 500_000;

/// An alignment head to train.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadOrder {
    pub model: ModelSpec,
    pub device: DeviceChoice,
    /// Sources and their translations.
    pub files: (PathBuf, PathBuf),
    /// Links between the words that spaces separate; `None`: those of a statistical aligner.
    pub links: Option<PathBuf>,
    /// The user's aligners, which find the links of their languages.
    pub own: AlignerFiles,
    pub passes: u64,
    /// Nothing is learned but an aligner of the model's languages, which this file is to keep.
    pub aligner: Option<PathBuf>,
}

/// A trained alignment head.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadLearned {
    pub model: ModelSpec,
    pub path: PathBuf,
    pub pairs: usize,
    /// Cost a word over the last updates, nats.
    pub cost: f64,
}

/// The result of a training order.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnedOfText {
    Head(HeadLearned),
    Aligner(AlignerFile),
}

impl HeadOrder {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<LearnedOfText> {
        let files = [self.files];
        for path in [&files[0].0, &files[0].1].into_iter().chain(&self.links) {
            require_file(path)?;
        }
        let model = work.model(&self.model, self.device)?;
        let (model, name) = (model.model(), &model.facts.name);
        let mut on_progress = |done, total| {
            let what = tr!("Learning to align").to_owned();
            work.notify(JobProgress { done, total, what, ..JobProgress::default() });
        };
        let mut learn = || learn_aligner(model, &files, work.library.threads, &work.ticket, &mut on_progress);
        if let Some(path) = self.aligner {
            let learned = learn()?.learned.pruned(WORD_PAIRS);
            learned.save(&path)?;
            return Ok(LearnedOfText::Aligner(AlignerFile { path, languages: learned.languages, model: None }));
        }
        let mut aligner = None;
        if self.links.is_none() {
            work.say(tr!("Reading what the aligner knows").to_owned());
            let languages = (model.config.source_language.clone(), model.config.target_language.clone());
            let choice = AlignerChoice::of_system(&self.model.clone().into(), languages, &self.own, None);
            let known = LineAligner::chosen(&choice, false)?;
            aligner = Some(known.map_or_else(learn, Ok)?);
        }
        work.say(tr!("Reading the text").to_owned());
        let links = self.links.as_slice();
        let text = LinkedText { files: &files, links, words: LinkWords::Spaces, most: None, bytes: MOST_TEXT };
        let (corpus, guide) = text.read(model, aligner.as_mut(), &work.ticket)?;
        drop(aligner);
        let options = HeadTraining { passes: self.passes, ..HeadTraining::default() };
        let path = model.head_file();
        let kept = path.with_extension("checkpoint");
        let parameters = head_parameters(HeadSizes::of(&model.config, &model.weights));
        let before = Checkpoint::load(&kept, parameters).ok();
        let before = before.filter(|before| is_of(before, model, (&corpus, &guide), options));
        let (start, begun, mut last) = (work.seconds(), before.as_ref().map_or(0, |before| before.position.words), 0.0);
        let weights = train_head(model, (&corpus, &guide), options, before.as_ref(), &work.ticket, &mut |step| {
            let HeadProgress { updates: (done, all), words, cost } = step.progress;
            last = cost;
            work.notify(JobProgress {
                done: done as usize,
                total: all as usize,
                what: tr!(
                    "Learning an alignment head for {name}, {cost} nats a word",
                    name,
                    cost = format_args!("{cost:.3}")
                ),
                words_per_second: (words - begun) as f32 / (work.seconds() - start).max(1e-3),
            });
            if done % KEEP == 0 {
                step.checkpoint().save(&kept)?;
            }
            work.pause_point()
        })?;
        weights.save(&path, true)?;
        // what it was for is done
        let _ = std::fs::remove_file(&kept);
        model.forget_head();
        Ok(LearnedOfText::Head(HeadLearned { model: self.model, path, pairs: corpus.len(), cost: last }))
    }
}
