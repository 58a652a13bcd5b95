//! Floor 8: an alignment head learned behind the window for a model that is open, from a text of the user's own. The model is
//! not held up meanwhile and has the head as soon as it is written. An order that was ended goes on from its checkpoint.

use std::path::PathBuf;

use crate::error::Result;
use crate::jobs::queue::work::{JobProgress, Work};
use crate::models::fused::head::HeadSizes;
use crate::nn::device::DeviceChoice;
use crate::text::reader::require_file;
use crate::training::head::{HeadProgress, HeadTraining, head_parameters, is_of, train_head};
use crate::training::linked::{LinkedText, aligner_for};
use crate::training::settings::LinkWords;
use crate::training::state::Checkpoint;

/// Bytes of text that are held.
const MOST_TEXT: u64 = 1 << 30;
/// Updates between two checkpoints.
const KEEP: u64 = 50;

/// What is learned from what.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadOrder {
    pub model: PathBuf,
    pub device: DeviceChoice,
    /// Sources and their translations.
    pub files: (PathBuf, PathBuf),
    /// Links between the words that spaces separate; `None`: those of a statistical aligner.
    pub links: Option<PathBuf>,
    /// Over the text.
    pub passes: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadLearned {
    pub model: PathBuf,
    /// Where the head was written.
    pub path: PathBuf,
    /// Pairs that it was learned from.
    pub pairs: usize,
    /// Cost a word over the last updates, nats.
    pub cost: f64,
}

impl HeadOrder {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<HeadLearned> {
        let files = [self.files];
        for path in [&files[0].0, &files[0].1].into_iter().chain(&self.links) {
            require_file(path)?;
        }
        let shelved = work.model(&self.model, self.device)?;
        let (model, name) = (&shelved.model, &shelved.facts.name);
        let mut aligner = None;
        if self.links.is_none() {
            work.say("Reading what the aligner knows".to_owned());
            let mut hear = |done, total| {
                let what = "Learning to align".to_owned();
                work.tell(JobProgress { done, total, what, ..JobProgress::default() });
            };
            aligner = Some(aligner_for(model, &files, work.threads(), &work.ticket, &mut hear)?);
        }
        work.say("Reading the text".to_owned());
        let links = self.links.as_slice();
        let text = LinkedText { files: &files, links, words: LinkWords::Spaces, most: None, bytes: MOST_TEXT };
        let (corpus, guide) = text.read(model, aligner.as_mut(), &work.ticket)?;
        drop(aligner);
        let options = HeadTraining { passes: self.passes, ..HeadTraining::default() };
        let path = model.head_file();
        let kept = path.with_extension("checkpoint");
        let parameters = head_parameters(HeadSizes::of(&model.config));
        let before = Checkpoint::load(&kept, parameters).ok();
        let before = before.filter(|before| is_of(before, model, (&corpus, &guide), options));
        let (start, begun, mut last) = (work.seconds(), before.as_ref().map_or(0, |before| before.position.words), 0.0);
        let weights = train_head(model, (&corpus, &guide), options, before.as_ref(), &work.ticket, &mut |step| {
            let HeadProgress { updates: (done, all), words, cost } = step.progress;
            last = cost;
            work.tell(JobProgress {
                done: done as usize,
                total: all as usize,
                what: format!("Learning an alignment head for {name}, {cost:.3} nats a word"),
                words_per_second: (words - begun) as f32 / (work.seconds() - start).max(1e-3),
            });
            if done % KEEP == 0 {
                step.checkpoint().save(&kept)?;
            }
            work.breathe()
        })?;
        weights.save(&path, true)?;
        // what it was for is done
        let _ = std::fs::remove_file(&kept);
        model.forget_head();
        Ok(HeadLearned { model: self.model, path, pairs: corpus.len(), cost: last })
    }
}
