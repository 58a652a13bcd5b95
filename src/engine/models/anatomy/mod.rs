//! A model taken apart: every number of its encoder and of a decoder step, by the names of its paper. The numbers are
//! the notes of the readable form ([`crate::nn::trace`]); each architecture has one drawing, its [`Plan`].

mod drawing;
pub mod entry;
pub(super) mod luong;
mod quantity;
pub(super) mod recurrent;
pub(super) mod rnn_encdec;
pub(super) mod rnn_search;
pub mod shrunk;
pub(super) mod transformer;
pub mod wrong;

use candle_core::{Device, Tensor};

use crate::error::{Error, Result};
use crate::models::init::{InitScheme, initial_weights};
use crate::models::readable::{AlignedStep, Annotations, State, Step};
use crate::models::{anatomy::quantity::numbers, checkpoint::Weights, config::Config, entry::shapes, loss::Trainable};
use crate::nn::linear::Parameters;
use crate::nn::trace::{Notes, Trace};

pub use crate::models::anatomy::drawing::{Arrow, Diagram, Flows};
pub use crate::models::anatomy::entry::{Layers, MachineStage, ShownQuantity};
pub use crate::models::anatomy::quantity::{Equation, MachinePart, MachineSpan, Name, Quantity};
pub use crate::models::anatomy::shrunk::{Shrunk, shrunk};
pub use crate::models::anatomy::wrong::{Miswiring, WRONGS};
pub use crate::models::entry::Plan;

/// The source as the decoder finds it.
pub struct Encoded {
    pub parts: Vec<MachinePart>,
    pub annotations: Annotations,
    pub start: State,
}

/// A decoder step.
pub struct StepNumbers {
    pub parts: Vec<MachinePart>,
    /// Energies [t_x], NaN at words that have none; `None` without alignment.
    pub e_i: Option<Vec<f32>>,
    /// Weights [t_x]; `None` without alignment.
    pub alpha_i: Option<Vec<f32>>,
    /// The aligned position of local attention, from 0.
    pub p_t: Option<f32>,
    /// log p of every word, [K_y].
    pub log_p: Vec<f32>,
    pub state: State,
}

/// A model that is taken apart: its readable form, recorded.
pub struct Anatomy {
    model: Box<dyn Trainable>,
    trace: Trace,
    wrong: Option<Miswiring>,
    layers: usize,
    machine: Diagram,
    /// What a blind model's energies read in place of each annotation, unless that is 0.
    b_a: Option<Tensor>,
}

/// Random weights of a model of these sizes, such as a training starts from; always the same.
pub fn untrained(config: &Config) -> Weights {
    initial_weights(config, InitScheme::Scaled, 1)
}

/// The readable form of a model, recorded, and wrongly wired or before its training if requested.
pub fn anatomy_of(config: &Config, weights: &Weights, wrong: Option<Miswiring>) -> Result<Anatomy> {
    if wrong == Some(Miswiring::Untrained) {
        return anatomy_of(config, &untrained(config), None);
    }
    let architecture = config.architecture;
    let Some(plan) = architecture.entry().anatomy else {
        let message = "is not taken apart: its wiring is its toolkit's, of which there is no drawing";
        return Err(Error::Input(format!("A model of the architecture {} {message}", architecture.name())));
    };
    // a wiring that is not this architecture's own changes nothing
    let wrong = wrong.filter(|wrong| wrong.entry().fits(architecture.name()));
    let layers = layers(config);
    let mut tensors = weights.tensors(&Device::Cpu)?;
    let unplaced = (wrong == Some(Miswiring::NoPositions)).then(|| transformer::unplaced(config, &mut tensors));
    let unplaced = unplaced.transpose()?;
    let trace = Trace::recording();
    let all = Parameters::new(&tensors).traced(&trace, wrong == Some(Miswiring::ResetPlace));
    let model = (architecture.entry().readable)(unplaced.as_ref().unwrap_or(config), &all)?;
    let machine = drawn(plan, config, wrong);
    let b_a = tensors.get("attention.b_a").cloned();
    Ok(Anatomy { model, trace, wrong, layers, machine, b_a })
}

/// The drawing of a model of this configuration; empty if it has none.
pub fn machine(config: &Config, wrong: Option<Miswiring>) -> Diagram {
    let architecture = config.architecture;
    let wrong = wrong.filter(|wrong| *wrong != Miswiring::Untrained && wrong.entry().fits(architecture.name()));
    architecture.entry().anatomy.map_or_else(Diagram::default, |plan| drawn(plan, config, wrong))
}

fn drawn(plan: &Plan, config: &Config, wrong: Option<Miswiring>) -> Diagram {
    let mut stages = plan.stages.to_vec();
    (plan.adapt)(config, wrong, &mut stages);
    drawing::machine(stages, &shapes(config), layers(config))
}

fn layers(config: &Config) -> usize {
    let encoder = config.transformer().map_or(1, |sizes| sizes.encoder_layers);
    let decoder = config.opennmt().map(|sizes| sizes.decoder_layers);
    decoder.or(config.luong().map(|sizes| sizes.layers)).unwrap_or(encoder)
}

impl Anatomy {
    pub fn machine(&self) -> Diagram {
        self.machine.clone()
    }

    pub fn encode(&mut self, source: &[u32]) -> Result<Encoded> {
        self.trace.take();
        let mut annotations = self.model.encode(&[source])?;
        let mut start = self.model.init_state(&annotations)?;
        let mut notes = self.trace.take();
        note(&mut notes, [("h", Some(&annotations.h)), ("keys", annotations.keys.as_ref())]);
        let parts = self.parts(&notes, true)?;
        match (self.wrong, &mut annotations.keys) {
            (Some(Miswiring::BlindWeights), Some(keys)) => {
                *keys = keys.zeros_like()?;
                if let Some(b_a) = &self.b_a {
                    *keys = keys.broadcast_add(b_a)?;
                }
            }
            // the context of the step before is at first nothing
            (Some(Miswiring::LateQuery), _) => start.tensors.push(annotations.mask.zeros_like()?),
            _ => {}
        }
        Ok(Encoded { parts, annotations, start })
    }

    /// The step after the word `y_prev`, `None` at the first, from a state.
    pub fn step(&mut self, encoded: &Encoded, state: &State, y_prev: Option<u32>) -> Result<StepNumbers> {
        let y_prev = y_prev.as_ref().map(std::slice::from_ref);
        self.trace.take();
        let (aligned, step, mut notes) = if self.wrong == Some(Miswiring::LateQuery) {
            self.late(&encoded.annotations, state, y_prev)?
        } else {
            let aligned = self.model.align(y_prev, state, &encoded.annotations)?;
            let step = self.model.predict(y_prev, &aligned, &encoded.annotations)?;
            (aligned, step, self.trace.take())
        };
        let AlignedStep { e_i, alpha_i, p_t, .. } = &aligned;
        note(&mut notes, [("e_i", e_i.as_ref()), ("alpha_i", alpha_i.as_ref()), ("p_t", p_t.as_ref())]);
        note(&mut notes, [("c_i", step.c_i.as_ref())]);
        note(&mut notes, [("s_prev", state.tensors.first()), ("s", step.s.tensors.first())]);
        Ok(StepNumbers {
            parts: self.parts(&notes, false)?,
            e_i: e_i.as_ref().map(numbers).transpose()?,
            alpha_i: alpha_i.as_ref().map(numbers).transpose()?,
            p_t: p_t.as_ref().map(numbers).transpose()?.and_then(|p_t| p_t.first().copied()),
            log_p: numbers(&step.log_p)?,
            state: step.s,
        })
    }

    /// A step in the wrong order: the state moves by the alpha of the step before (its second tensor), then aligns.
    fn late(&self, source: &Annotations, state: &State, y_prev: Option<&[u32]>) -> Result<(AlignedStep, Step, Notes)> {
        let (s, alpha) = state.tensors.split_at(1);
        let before = State { tensors: s.to_vec(), i: state.i };
        let before = AlignedStep { alpha_i: alpha.first().cloned(), ..AlignedStep::nowhere(&before) };
        let moved = self.model.predict(y_prev, &before, source)?.s;
        let of_unit = |(name, _): &(String, Tensor)| name.starts_with("decoder.");
        let mut notes: Notes = self.trace.take().into_iter().filter(of_unit).collect();
        let aligned = self.model.align(y_prev, &moved, source)?;
        let step = self.model.predict(y_prev, &aligned, source)?;
        notes.extend(self.trace.take().into_iter().filter(|note| !of_unit(note)));
        let tensors = moved.tensors.into_iter().chain(aligned.alpha_i.clone()).collect();
        Ok((aligned, Step { s: State { tensors, i: moved.i }, ..step }, notes))
    }

    fn parts(&self, notes: &Notes, reads_source: bool) -> Result<Vec<MachinePart>> {
        let own = |stage: &&MachineStage| stage.reads_source() == reads_source && !stage.shows.is_empty();
        self.machine.stages.iter().filter(own).map(|stage| stage.part(notes, self.layers)).collect()
    }
}

fn note<const N: usize>(notes: &mut Notes, values: [(&str, Option<&Tensor>); N]) {
    notes.extend(values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))));
}
