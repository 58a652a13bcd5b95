//! What a figure has besides alpha: the links of the statistical aligner or of people, and what was set by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::args::GoldLayoutArgs;
use engine::aligner::bundled::{AlignerChoice, AlignerFile, AlignerFiles};
use engine::aligner::placed::{PlacedAligner, PlacedWords};
use engine::error::{Error, Result};
use engine::interventions::{InterventionFile, Interventions, Origin, Resolved, ResolvedText};
use engine::text::links::{Links, read};
use engine::text::{cut::WordRule, reader::LineReader, sentence::Sentence, words::vocabulary_words};
use engine::{decoding::Ensemble, evaluation::plan::reader};
use explorer::app::{document::column::placed, files::gold::Gold};
use explorer::jobs::live::protocol::HypothesisView;

/// As typed.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct OverlayArgs {
    /// Outline the links of the statistical aligner, of this file in place of the one that comes with the program
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = HEADING)]
    aligner: Option<String>,
    /// Outline links by hand between the sentences and the given translations: a Pharaoh or NAACL file
    #[arg(long, value_name = "FILE", conflicts_with = "aligner", help_heading = HEADING)]
    gold: Option<PathBuf>,
    #[command(flatten)]
    layout: GoldLayoutArgs,
    /// Translate with these interventions, as translate does; what they set is marked
    #[arg(long, value_name = "FILE", conflicts_with_all = ["target", "target_file"], help_heading = HEADING)]
    interventions: Option<PathBuf>,
}

const HEADING: &str = "Drawn over alpha";

/// What is drawn over the alignments of a system.
#[derive(Default)]
pub struct Overlays {
    aligner: Option<PlacedAligner>,
    language: String,
    plan: Option<InterventionFile>,
    line: Option<(Arc<Interventions>, Origin)>,
}

impl OverlayArgs {
    /// The links by hand of each pair of sentence and given translation, in their order; none where none are asked for.
    pub fn gold(&self, text: Option<(&str, Option<&str>)>, files: (Option<&Path>, Option<&Path>)) -> Result<Vec<Gold>> {
        let Some(path) = &self.gold else { return Ok(Vec::new()) };
        let lines = |path: &Path| -> Result<Vec<String>> { LineReader::open(path)?.held().collect() };
        let (source, target) = match (text, files) {
            (Some((source, Some(target))), _) => (vec![source.to_owned()], vec![target.to_owned()]),
            (None, (Some(source), Some(target))) => (lines(source)?, lines(target)?),
            _ => {
                let message = "--gold links sentences with translations; give --target, or --target-file beside the file of sentences";
                return Err(Error::Input(message.to_owned()));
            }
        };
        let links = read::read(path, &read::lengths(&source, &target), &self.layout.plan())?.pairs;
        let pairs = source.into_iter().zip(target).zip(links);
        let rules = [WordRule::Spaces; 2];
        Ok(pairs.map(|((source, reference), links)| Gold { source, reference, links, rules }).collect())
    }

    pub fn open(&self, system: &Ensemble) -> Result<Overlays> {
        let config = &system.lead().config;
        let (source, target) = (config.source_language.clone(), config.target_language.clone());
        let open = |own: &String| -> Result<PlacedAligner> {
            let own = Some(own).filter(|own| !own.is_empty()).map(|own| AlignerFile::open(own.into())).transpose()?;
            let choice = AlignerChoice::new((source.clone(), target.clone()), &AlignerFiles::from(own));
            let message = format!("there is no statistical aligner for {source} and {target}");
            let none = || Error::Input(format!("{message}; name a file with --aligner=FILE"));
            PlacedAligner::chosen(&choice)?.ok_or_else(none)
        };
        let aligner = self.aligner.as_ref().map(open).transpose()?;
        let plan = self.interventions.as_deref().map(InterventionFile::open).transpose()?;
        if let Some((all, origin)) = plan.as_ref().and_then(InterventionFile::all) {
            reader(system).check(all, &origin)?;
        }
        Ok(Overlays { aligner, language: target, plan, line: None })
    }
}

impl Overlays {
    /// Takes what is set for the next line, whether it can be drawn or not.
    pub fn take_line(&mut self) -> Result<()> {
        self.line = self.plan.as_mut().map(InterventionFile::next_sentence).transpose()?;
        Ok(())
    }

    /// What is set for this line.
    pub fn set(&self, system: &Ensemble, sentence: &Sentence, pretokenized: bool) -> Result<Resolved> {
        let Some((interventions, origin)) = &self.line else { return Ok(Resolved::default()) };
        let words = vocabulary_words(&system.lead().source, sentence, pretokenized);
        reader(system).resolve(interventions, ResolvedText { sentence, words: &words }).strict(origin)
    }

    /// Refuses lines of interventions behind the last sentence.
    pub fn finish(&mut self) -> Result<()> {
        self.plan.as_mut().map_or(Ok(()), InterventionFile::finish)
    }

    /// The links of the aligner, where it is asked.
    pub fn links(&mut self, source: &Sentence, shown: &HypothesisView) -> Option<Links> {
        let aligner = self.aligner.as_mut()?;
        let (source, target) = placed(source, shown);
        Some(aligner.links(&source, &PlacedWords::joined(&self.language, &target)))
    }
}
