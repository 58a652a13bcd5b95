//! Conditional recurrent models on the CPU; the equations are in `models/nematus`.
//! C is what the second unit and the readout make of c_i.

use std::sync::Arc;

use super::recurrent::{PackedRecurrent, PackedScore, RecurrentStep, RecurrentWiring, StateVectors};
use super::units::{PackedLayer, PackedProduct, PackedUnit, ProductEnd, UnitRows, of_gates, side_by_side};
use super::{PackedModel, Sources, columns, stack};
use super::{readout::Readout, rows::RowTable};
use crate::models::nematus::sizes::{EncoderKind, NematusSizes, UnitPlace};
use crate::models::{checkpoint::Weights, config::Config, config::required};
use crate::nn::fused::elementwise::{add, tanh_all};
use crate::nn::fused::{Packed, focus, team};
use crate::{error::Result, nn::bidirectional::Direction};

#[derive(Debug)]
struct PackedNematus {
    sizes: NematusSizes,
    n: usize,
    forward: Vec<PackedLayer>,
    backward: Vec<PackedLayer>,
    top: Vec<PackedLayer>,
    start: PackedProduct,
    decoder: Vec<PackedLayer>,
    word: PackedProduct,
    state: PackedProduct,
    /// What follows the product with c_i in the readout.
    context: ProductEnd,
}

pub fn pack_model(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let sizes = required(config.nematus(), "a conditional recurrent model")?;
    let (n, c) = (config.hidden, sizes.annotation(config.hidden));
    let stack_of = |name: &str| -> Result<Vec<PackedLayer>> {
        let own = sizes.layers(config.embedding, config.hidden).into_iter().filter(|layer| layer.0 == name);
        own.map(|(stack, l, places)| {
            let unit = |(k, place): (usize, &UnitPlace)| {
                let prefix = format!("{stack}.{l}.{}", k + 1);
                let own = if (stack, l, k) == ("decoder", 1, 1) { 0 } else { place.input };
                PackedUnit::new(weights, &prefix, *place, n, own)
            };
            Ok(PackedLayer(places.iter().enumerate().map(unit).collect::<Result<_>>()?))
        })
        .collect()
    };
    let dense = |name: &str, has_bias: bool| PackedProduct::dense(weights, name, sizes.norm, has_bias);
    let wiring = PackedNematus {
        forward: stack_of("encoder.forward")?,
        backward: stack_of("encoder.backward")?,
        top: stack_of("encoder.top")?,
        start: dense("start", true)?,
        decoder: stack_of("decoder")?,
        word: dense("readout.word", true)?,
        state: dense("readout.state", true)?,
        context: ProductEnd::dense(weights, "readout.context", sizes.norm, true)?,
        sizes: sizes.clone(),
        n,
    };
    let (query, key) = (dense("attention.query", false)?, dense("attention.key", true)?);
    let (target, output) = (config.target_embedding(), if sizes.tied_output { None } else { Some("readout.W_o") });
    Ok(Arc::new(PackedRecurrent {
        source_embedding: RowTable::new(weights, "source_embedding")?,
        target_embedding: RowTable::new(weights, target)?,
        start: None,
        score: PackedScore::Additive(query, key, weights.numbers("attention.v_a")?),
        context: context(config, &sizes, weights, c)?,
        readout: Readout::new(weights, output.unwrap_or(target), Some("readout.b_o"))?,
        wiring: Box::new(wiring),
        config: config.clone(),
    }))
}

fn context(config: &Config, sizes: &NematusSizes, weights: &Weights, c: usize) -> Result<Packed> {
    let base =
        sizes.layers(config.embedding, config.hidden).into_iter().find(|layer| (layer.0, layer.1) == ("decoder", 1));
    let mut all = Vec::new();
    if let Some(place) = base.and_then(|(_, _, places)| places.get(1).copied()) {
        let names = of_gates("decoder.1.2", "W", place);
        let w = stack(weights, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
        all = columns(&w, place.input, place.input - c, place.input);
    }
    weights.append("readout.context.W", &mut all)?;
    Ok(Packed::compact(&all, all.len() / c, c))
}

impl PackedNematus {
    /// Layers one over the other, [t_x, b, ..]; those above the first add what they read where the model skips.
    fn climb(
        &self, (layers, backward): (&[PackedLayer], bool), threads: usize, sources: &Sources, x: &[f32],
    ) -> Vec<f32> {
        let turns = self.sizes.encoder == EncoderKind::Alternating;
        let mut below = x.to_vec();
        for (l, layer) in layers.iter().enumerate() {
            let is_backward = backward != (turns && l % 2 == 1);
            let direction = if is_backward { Direction::Backward } else { Direction::Forward };
            let (mut states, _) = layer.read(threads, &below, sources, direction);
            if self.sizes.skip && l > 0 {
                add(&below, &mut states);
            }
            below = states;
        }
        below
    }

    /// The mean of the annotations of each sentence, [b, ..].
    fn mean(sources: &Sources, h: &[f32]) -> Vec<f32> {
        let b = sources.lengths.len();
        let width = h.len() / (b * sources.t_x);
        let mut mean = vec![0.0; b * width];
        for (row, (mean, words)) in mean.chunks_exact_mut(width).zip(&sources.lengths).enumerate() {
            let share = 1.0 / *words as f32;
            for t in 0..*words {
                focus::add_weighted(&[share], &h[(t * b + row) * width..(t * b + row + 1) * width], mean);
            }
        }
        mean
    }
}

impl RecurrentWiring for PackedNematus {
    fn read(&self, threads: usize, sources: &Sources, e: &[f32]) -> (Vec<f32>, StateVectors) {
        let mut halves = [(&self.forward, false, Vec::new()), (&self.backward, true, Vec::new())];
        team::each(threads, &mut halves, &|_, (layers, backward, h)| {
            *h = self.climb((layers, *backward), threads, sources, e);
        });
        let [(.., forward), (.., backward)] = halves;
        let h =
            self.climb((&self.top, false), threads, sources, &side_by_side((&forward, self.n), (&backward, self.n)));
        let mut s = self.start.apply(threads, &Self::mean(sources, &h));
        tanh_all(&mut s);
        let start = UnitRows::start(s, self.sizes.decoder_unit);
        (h, UnitRows::vectors(vec![start; self.decoder.len()]))
    }

    fn advance(&self, step: &RecurrentStep<'_>, states: StateVectors) -> StateVectors {
        let unit = &self.decoder[0].0[0];
        let before =
            UnitRows::of(&states[..self.sizes.decoder_unit.tensors()], self.sizes.decoder_unit.tensors()).remove(0);
        let made = vec![0.0; step.rows.len() * unit.wide()];
        let moved = unit.next(step.threads, Some(&unit.input(step.threads, step.e, made)), &before);
        UnitRows::vectors(vec![moved])
            .into_iter()
            .chain(states.into_iter().skip(self.sizes.decoder_unit.tensors()))
            .collect()
    }

    fn read_out(&self, step: &RecurrentStep<'_>, half: &[Vec<f32>]) -> (Vec<f32>, StateVectors) {
        let (threads, mut units) = (step.threads, UnitRows::of(half, self.sizes.decoder_unit.tensors()));
        let wide = step.from_context.len() / step.rows.len();
        let base = &self.decoder[0];
        if let Some(second) = base.0.get(1) {
            let made = second.input(threads, &[], columns(step.from_context, wide, 0, second.wide()));
            units[0] = base.pass(threads, 2, second.next(threads, Some(&made), &units[0]));
        }
        let mut x = units[0].s.clone();
        for (layer, state) in self.decoder.iter().zip(&mut units).skip(1) {
            *state = layer.pass(threads, 1, layer.0[0].step(threads, &x, state));
            if self.sizes.skip {
                add(&state.s, &mut x);
            } else {
                x.clone_from(&state.s);
            }
        }
        let mut t = columns(step.from_context, wide, wide - self.context.width(), wide);
        self.context.finish(&mut t);
        add(&self.word.apply(threads, step.e), &mut t);
        add(&self.state.apply(threads, &x), &mut t);
        tanh_all(&mut t);
        (t, UnitRows::vectors(units))
    }

    fn state(&self) -> usize {
        self.sizes.decoder_unit.tensors() * (self.decoder.len() - 1)
    }
}
