//! Systems run over the sentences of a workspace: what is missing is asked for, batch after batch, and kept at once,
//! so that a run goes on where it stopped.

use std::{sync::Arc, time::Instant};

use crate::measures::table::Measuring;
use crate::store::read::{FORCED, StoredAbout, StoredSystem};
use crate::store::{file::Workspace, output::SystemOutput, rules::KnownWords, write::Placed};
use engine::analysis::words::{merge_alpha, merge_log_p};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention, unknown::Replacing};
use engine::decoding::{Hypothesis, SearchOptions, SystemSpec};
use engine::error::{Error, Result};
use engine::evaluation::{ask::AskedSystem, plan::InterventionPlan, rows::RowReader, wording};
use engine::models::{Model, Stepper};
use engine::text::words::{translated, vocabulary_words, whole_words};
use engine::text::{line, sentence::Sentence};
use engine::{evaluation, interventions::Intervention, ticket::CancellationToken};

/// How a system is run over the sentences of a workspace.
#[derive(Clone, Debug)]
pub struct SystemRunOptions {
    pub search: SearchOptions,
    /// Sentences decoded together, at least 1.
    pub batch: usize,
    /// The references are forced, instead of translating: alignments of given pairs.
    pub forces: bool,
    /// What is changed while it translates.
    pub acting: Option<InterventionPlan>,
    /// Whose rows are kept as the alignment; `None`: as training guided them.
    pub reading: Option<RowConvention>,
    /// What replaces unknown words of the output, in systems that align; the others keep `[UNK]`.
    pub replace_unk: Option<Replacing>,
    /// A source without words is no reason not to force its reference, where the system reads its `</s>`.
    pub forces_blank: bool,
    /// What tells the time, where that is wanted.
    pub clock: Option<fn() -> Instant>,
}

impl Default for SystemRunOptions {
    fn default() -> Self {
        Self {
            search: SearchOptions::default(),
            batch: 16,
            forces: false,
            acting: None,
            reading: None,
            replace_unk: None,
            forces_blank: false,
            clock: None,
        }
    }
}

/// How far a run is.
#[derive(Clone, Debug)]
pub struct RunDone<'a> {
    /// What came, as it was written into the workspace.
    pub outputs: &'a [Placed],
    /// Sentences that the system cannot read, and why; their outputs are empty.
    pub refused: &'a [(usize, String)],
    /// Words that came, `</s>` counted.
    pub words: usize,
    /// Seconds that the system took, 0 without a clock; a pause between two batches is not among them.
    pub seconds: f64,
    /// Sentences done, those of earlier runs too.
    pub done: usize,
    pub total: usize,
}

/// Batches between two looks into the file for what is missing.
const BATCHES: usize = 8;
/// Outputs whose measures are folded together.
const FOLDED: usize = 1 << 15;

/// What a system is called in a workspace: the same model run otherwise is another one.
pub fn name(model: &str, options: &SystemRunOptions) -> String {
    let search = &options.search;
    let acting = options.acting.as_ref().map(|acting| format!(" + {}", acting.name));
    let mut name = format!("{model}{}", acting.unwrap_or_default());
    name += &options.reading.map_or_else(String::new, |reading| format!(", {}", reading.name()));
    if options.forces {
        return format!("{name}, references");
    }
    if search.beam != SearchOptions::default().beam {
        name += &format!(", beam {}", search.beam);
    }
    if search.ranking.length.normalises() {
        name += &format!(", {}", search.ranking.length);
    }
    if search.ranking.coverage != 0.0 {
        name += &format!(", coverage {}", search.ranking.coverage);
    }
    if search.forbid_unk {
        name += ", no [UNK]";
    } else if search.allow_unk {
        name += ", [UNK] allowed";
    }
    name
}

fn system(workspace: &mut Workspace, name: &str, about: &StoredAbout) -> Result<StoredSystem> {
    let known = workspace.systems()?;
    let of = |name: &str| known.iter().find(|system| system.name == name).map(|system| &system.about);
    let is_other = |name: &str| {
        of(name).is_some_and(|known| {
            known.digests != about.digests || known.mixing != about.mixing || known.reading != about.reading
        })
    };
    let digest: String = about.digests.concat().chars().take(8).collect();
    let name = if is_other(name) { format!("{name} ({digest})") } else { name.to_owned() };
    let acts_so = |name: &String| of(name).is_none_or(|known| known.interventions == about.interventions);
    let mut names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name} ({n})")));
    let name = names.find(acts_so).unwrap_or(name);
    workspace.add_system(&name, about)
}

/// The system of a workspace for a model, or an ensemble, with these options; a new one if there is none.
pub fn begin(
    workspace: &mut Workspace, asked: evaluation::EvaluatedSystem<'_>, spec: &SystemSpec, options: &SystemRunOptions,
) -> Result<StoredSystem> {
    let about = about(asked, spec, &digests(asked), options);
    check(workspace, asked, options)?;
    system(workspace, &name(&asked.name(), options), &about)
}

/// The digests of a system's weights, as far as they are known.
pub fn digests(system: evaluation::EvaluatedSystem<'_>) -> Vec<String> {
    match system {
        evaluation::EvaluatedSystem::Model(one) => vec![one.digest()],
        evaluation::EvaluatedSystem::Ensemble(ensemble) => ensemble.members().iter().map(Model::digest).collect(),
    }
}

/// What a system is, for the workspace.
pub fn about(
    system: evaluation::EvaluatedSystem<'_>, spec: &SystemSpec, digests: &[String], options: &SystemRunOptions,
) -> StoredAbout {
    let (ranking, config) = (&options.search.ranking, &system.lead().config);
    StoredAbout {
        languages: format!("{}>{}", config.source_language, config.target_language),
        folders: spec.members.iter().map(ToString::to_string).collect(),
        digests: digests.to_vec(),
        beam: if options.forces { 0 } else { options.search.beam },
        ranking: if options.forces { FORCED.to_owned() } else { ranking.length.to_string() },
        no_unk: system.specials().forbidden(options.search.forbid_unk, options.search.allow_unk).is_some(),
        interventions: options.acting.as_ref().map(InterventionPlan::document).unwrap_or_default(),
        mixing: system.mixing().map_or_else(String::new, |mixing| mixing.average.to_string()),
        reading: RowReader::wanted(system, options.reading).name().unwrap_or_default().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..StoredAbout::default()
    }
}

/// Runs a system over the sentences that it has no output for; [`Error::Stale`] as soon as the ticket is stale.
pub fn run(
    workspace: &mut Workspace, id: i64, (system, stepper): (evaluation::EvaluatedSystem<'_>, &mut dyn Stepper),
    options: &SystemRunOptions, measuring: &mut Measuring, ticket: &CancellationToken,
    on_progress: &mut dyn FnMut(RunDone<'_>) -> Result<()>,
) -> Result<()> {
    let (total, mut done) = (workspace.len()?, workspace.outputs(id)?);
    let languages = [None, Some(system.lead().config.target_language.clone())];
    let known = KnownWords { languages, ..KnownWords::default() };
    workspace.settle_words(&known, std::iter::empty(), std::iter::once(""))?;
    let is_given = workspace.rules().are_given();
    check(workspace, system, options)?;
    RowReader::chosen(system, &*stepper, options.reading)?;
    let asked = AskedSystem { system, search: &options.search, batch: options.batch, reading: options.reading, ticket };
    let (mut from, mut loose) = (0, 0);
    let mut step = || -> Result<bool> {
        let places = workspace.missing(id, from, options.batch.max(1) * BATCHES)?;
        let Some(last) = places.last() else { return Ok(false) };
        from = last + 1;
        let (mut refused, begun) = (Vec::new(), options.clock.map(|clock| clock()));
        let (outputs, words) = Batch { asked, stepper: &mut *stepper, options, refused: &mut refused, is_given }
            .ask(workspace, &places)?;
        let taken = options.clock.zip(begun).map(|(clock, begun)| clock().duration_since(begun));
        let seconds = taken.map_or(0.0, |taken| taken.as_secs_f64());
        workspace.add_outputs(id, &outputs, measuring)?;
        done += outputs.len();
        loose += outputs.len();
        if loose > FOLDED {
            workspace.fold()?;
            loose = 0;
        }
        on_progress(RunDone { outputs: &outputs, refused: &refused, words, seconds, done, total })?;
        Ok(true)
    };
    let result = loop {
        match step() {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    workspace.fold()?;
    result
}

/// Checks that a run can begin, before its system is added to the workspace.
pub fn check(workspace: &Workspace, system: evaluation::EvaluatedSystem<'_>, options: &SystemRunOptions) -> Result<()> {
    let Some(acting) = &options.acting else { return Ok(()) };
    acting.check(system)?;
    acting.check_length(workspace.len()?)
}

struct Batch<'a> {
    asked: AskedSystem<'a>,
    stepper: &'a mut dyn Stepper,
    options: &'a SystemRunOptions,
    refused: &'a mut Vec<(usize, String)>,
    is_given: bool,
}

struct Case {
    at: usize,
    source: Sentence,
    target: Sentence,
    list: Arc<[Intervention]>,
}

impl Batch<'_> {
    fn ask(&mut self, workspace: &Workspace, places: &[usize]) -> Result<(Vec<Placed>, usize)> {
        let mut outputs = Vec::with_capacity(places.len());
        let mut cases = Vec::with_capacity(places.len());
        for &at in places {
            let Some(sentence) = workspace.sentence(at)? else { continue };
            match self.read(at, &sentence.source, sentence.reference.as_deref()) {
                Ok(case) => match self.act(case) {
                    Ok(case) => cases.push(case),
                    Err(why) => self.refused.push((at, format!("is left out: {why}"))),
                },
                Err(why) => {
                    self.refused.push((at, why));
                    // A reference may still come.
                    if !self.options.forces || sentence.reference.is_some() {
                        outputs.push((at, SystemOutput::default()));
                    }
                }
            }
        }
        let said = if self.options.forces {
            let pairs: Vec<(&[u32], &[u32])> =
                cases.iter().map(|case| (case.source.ids.as_slice(), case.target.ids.as_slice())).collect();
            self.asked.force(self.stepper, &pairs)?
        } else {
            self.translate(&mut cases)?
        };
        let words = said.iter().map(|hypothesis| hypothesis.tokens.len()).sum();
        let (system, forces, is_given) = (self.asked.system, self.options.forces, self.is_given);
        let reading = self.asked.reading.unwrap_or_default();
        let of = |case: &Case, said| {
            let (texts, replacing) =
                ((&case.source, forces.then_some(&case.target), is_given), self.options.replace_unk.as_ref());
            output(system, texts, (said, reading), replacing)
        };
        outputs.extend(cases.iter().zip(said).map(|(case, said)| (case.at, of(case, said))));
        outputs.sort_by_key(|(at, _)| *at);
        Ok((outputs, words))
    }

    fn read(&self, at: usize, source: &str, reference: Option<&str>) -> std::result::Result<Case, String> {
        let source = line::read(self.asked.system.source(), source, self.is_given)?;
        if source.is_empty() || source.words() == 0 && !self.options.forces_blank {
            return Err("has no words".to_owned());
        }
        let target = match reference {
            _ if !self.options.forces => Sentence::default(),
            None => return Err("has no reference to force".to_owned()),
            Some(reference) => line::read(&self.asked.system.lead().target, reference, self.is_given)?,
        };
        Ok(Case { at, source, target, list: Arc::default() })
    }

    fn act(&self, mut case: Case) -> Result<Case> {
        if let Some(acting) = &self.options.acting {
            case.list = acting.resolve(case.at, self.asked.system, (&case.source, self.is_given))?;
        }
        Ok(case)
    }

    fn translate(&mut self, cases: &mut Vec<Case>) -> Result<Vec<Hypothesis>> {
        match self.translate_all(cases) {
            Err(Error::Input(_)) if self.options.acting.is_some() => {}
            other => return other,
        }
        // One of them asks for what cannot be, as a word that has no probability.
        let mut said = Vec::with_capacity(cases.len());
        let mut kept = Vec::with_capacity(cases.len());
        for case in std::mem::take(cases) {
            match self.translate_all(std::slice::from_ref(&case)) {
                Ok(best) => {
                    said.extend(best);
                    kept.push(case);
                }
                Err(Error::Input(why)) => self.refused.push((case.at, format!("is left out: {why}"))),
                Err(error) => return Err(error),
            }
        }
        *cases = kept;
        Ok(said)
    }

    fn translate_all(&mut self, cases: &[Case]) -> Result<Vec<Hypothesis>> {
        let sources: Vec<&[u32]> = cases.iter().map(|case| case.source.ids.as_slice()).collect();
        let lists: Vec<Arc<[Intervention]>> = cases.iter().map(|case| Arc::clone(&case.list)).collect();
        self.asked.translate(self.stepper, &sources, &lists)
    }
}

/// A hypothesis in words, or the output of a forced target; `replacing` replaces unknown words in the text.
pub fn output(
    system: evaluation::EvaluatedSystem<'_>, (source, target, pretokenized): (&Sentence, Option<&Sentence>, bool),
    (said, reading): (Hypothesis, RowConvention), replacing: Option<&Replacing>,
) -> SystemOutput {
    let lead = system.lead();
    let x = vocabulary_words(&lead.source, source, pretokenized);
    let (text, y, target) = if let Some(target) = target {
        let y = vocabulary_words(&lead.target, target, pretokenized);
        let words = whole_words(target, &y).tokens;
        (target.text.clone(), y, words)
    } else {
        let (y, target) = translated(&lead.target, &said.tokens);
        (wording::text(lead, &said, source, replacing, pretokenized), y, target)
    };
    SystemOutput {
        text,
        source: whole_words(source, &x).tokens,
        target,
        word_log_p: merge_log_p(&said.token_log_p, &y),
        log_p: Some(said.log_p),
        token_count: said.token_log_p.len(),
        alpha: said.alpha.map(|alpha| merge_alpha(&Alignment::from_rows(&alpha), &x, &y)),
        is_head: reading == RowConvention::Head,
        links: None,
    }
}
