//! A model that is ready, or several as one, with what is told of it.

use std::sync::{Arc, Mutex};

use crate::jobs::live::protocol::{DeviceFacts, Member, ModelFacts, ModelSizes};
use crate::jobs::{live::view::Wording, thread::lock};
use engine::decoding::ensemble::{Ensemble, Mixing};
use engine::error::{Error, Result};
use engine::evaluation::{EvaluatedSystem, plan::reader, rows::RowReader};
use engine::models::{Kernels, Model, Stepper};
use engine::text::sentence::{MAX_SOURCE_BYTES, MAX_SOURCE_TOKENS, Sentence};
use engine::text::tokenizer::Encode as _;
use engine::{interventions::InterventionReader, lang::Count, nn::device::Device};

/// A loaded model, with its last stepper if that is costly to make.
pub(crate) struct LoadedModel {
    ensemble: Ensemble,
    pub(crate) facts: ModelFacts,
    stepper: Mutex<Option<(Kernels, Box<dyn Stepper>)>>,
}

impl LoadedModel {
    pub(crate) fn new(model: Model, device: &Device, card: String) -> Self {
        let notice = || model.head(Kernels::Fused).err().map(|error| error.to_string());
        let notice = device.notice.clone().or_else(notice);
        let citation = model.config.architecture.entry().citation.to_owned();
        let device = DeviceFacts { name: device.name.clone(), notice };
        Self::of(model.into(), ModelFacts { citation, device, card, ..ModelFacts::default() })
    }

    pub(crate) fn ensemble(members: &[Arc<Self>], mixing: Mixing) -> Result<Self> {
        let ensemble = Ensemble::new(members.iter().map(|member| member.model().clone()).collect(), mixing)?;
        let is_lead = |member: &&Arc<Self>| member.model().folder == ensemble.lead().folder;
        let lead = members.iter().find(is_lead).unwrap_or(&members[0]);
        let device = DeviceFacts { notice: None, ..lead.facts.device.clone() };
        let citation = format!("The mean {} of {} models at every word", mixing.average, members.len());
        let member =
            |member: &Arc<Self>| Member { name: member.facts.name.clone(), has_alignment: member.facts.has_alignment };
        let members = members.iter().map(member).collect();
        Ok(Self::of(ensemble, ModelFacts { citation, device, members, ..ModelFacts::default() }))
    }

    fn of(ensemble: Ensemble, known: ModelFacts) -> Self {
        let (model, shown) = (ensemble.lead(), ensemble.shown());
        let config = &model.config;
        let only = if let [n] = shown { Some(&ensemble.members()[*n]) } else { None };
        let mean = || ensemble.aligns().then(|| "mean".to_owned());
        let facts = ModelFacts {
            name: ensemble.name(),
            architecture: EvaluatedSystem::from(&ensemble).architecture().to_owned(),
            source_language: config.source_language.clone(),
            target_language: config.target_language.clone(),
            sizes: ModelSizes {
                parameters: ensemble.members().iter().map(Model::parameters).sum(),
                source_vocabulary: config.source_vocabulary,
                target_vocabulary: config.target_vocabulary,
                hidden: config.hidden,
                heads: config.transformer().map_or((0, 0), |sizes| (sizes.decoder_layers, sizes.heads)),
            },
            marks: model.target.marks().clone(),
            specials: ensemble.specials(),
            languages: model.source.languages().map(str::to_owned).collect(),
            has_alignment: ensemble.aligns(),
            attention: only.map_or_else(mean, |model| model.config.attention()),
            window: only.and_then(|model| model.config.window()),
            input_delay: ensemble.input_delay(),
            guided: shown.iter().find_map(|n| ensemble.members()[*n].guided()).map(str::to_owned),
            reading: RowReader::own((&ensemble).into()).reading,
            ..known
        };
        Self { ensemble, facts, stepper: Mutex::new(None) }
    }

    /// The model; of an ensemble the member whose words are the columns of the alignment.
    pub(crate) fn model(&self) -> &Model {
        self.ensemble.lead()
    }

    /// Its facts; whether it has an alignment head may change.
    pub(crate) fn facts(&self) -> ModelFacts {
        ModelFacts { has_head: self.system().has_head(), ..self.facts.clone() }
    }

    pub(crate) fn wording(&self) -> Wording<'_> {
        let (model, facts) = (self.model(), &self.facts);
        Wording {
            source: &model.source,
            target: &model.target,
            language: &facts.target_language,
            unk: facts.specials.unk,
            rows: (facts.reading, facts.input_delay.unwrap_or_default()),
        }
    }

    pub(crate) fn system(&self) -> EvaluatedSystem<'_> {
        (&self.ensemble).into()
    }

    pub(crate) fn read(&self, text: &str) -> Result<Sentence> {
        if text.len() > MAX_SOURCE_BYTES {
            return Err(Error::Input(format!(
                "The text is {} bytes long, but a sentence may have at most {} bytes; translate a shorter piece.",
                Count::of(text.len()),
                Count::of(MAX_SOURCE_BYTES)
            )));
        }
        let sentence = self.encode(text);
        let words = sentence.words();
        if words == 0 {
            return Err(Error::Input("The text has no words that this model could read.".to_owned()));
        }
        if words > MAX_SOURCE_TOKENS {
            return Err(Error::Input(format!(
                "The text has {} words, but a sentence may have at most {}; translate a shorter piece.",
                Count::of(words),
                Count::of(MAX_SOURCE_TOKENS)
            )));
        }
        match self.system().source().refuses(&sentence) {
            Some(refuses) => Err(Error::Input(format!("The text {refuses}."))),
            None => Ok(sentence),
        }
    }

    /// A text as the model reads it; an ensemble's ids stand for what all members read.
    pub(crate) fn encode(&self, text: &str) -> Sentence {
        self.ensemble.encode(text)
    }

    /// With its alignment head, where it has one that fits.
    fn make_stepper(&self, kernels: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        self.ensemble.stepper_with_head(kernels, threads).or_else(|_| self.ensemble.stepper(kernels, threads))
    }

    /// SHA-256 of the weights, slow at the first call; `None` when `goes_on` turns false.
    pub(crate) fn digest_while(&self, goes_on: &dyn Fn() -> bool) -> Option<String> {
        let digests =
            self.ensemble.members().iter().map(|member| member.digest_while(goes_on)).collect::<Option<Vec<_>>>()?;
        Some(digests.join(" "))
    }

    pub(crate) fn reader(&self) -> InterventionReader<'_> {
        reader(self.system())
    }

    /// Runs `work` with a stepper of this kind. Fused ones share the packed weights and are made anew; plain ones
    /// hold a copy of all weights on their device, so the last one is used again. It is away while `work` runs,
    /// so that a panic loses it instead of leaving it half changed.
    pub(crate) fn with_stepper<T>(
        &self, kernels: Kernels, threads: usize, work: impl FnOnce(&mut dyn Stepper) -> Result<T>,
    ) -> Result<T> {
        if kernels == Kernels::Fused && self.model().device.is_cpu() {
            return work(&mut *self.make_stepper(kernels, threads)?);
        }
        let kept = lock(&self.stepper).take().filter(|(kind, _)| *kind == kernels);
        let mut stepper = match kept {
            Some((_, stepper)) => stepper,
            None => self.make_stepper(kernels, threads)?,
        };
        let outcome = work(&mut *stepper);
        *lock(&self.stepper) = Some((kernels, stepper));
        outcome
    }
}
