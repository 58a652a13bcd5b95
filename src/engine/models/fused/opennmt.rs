//! The recurrent models of OpenNMT and of Joey NMT on the CPU; the equations are in `models/opennmt`.
//! C is the half of W_c for c_i.

use std::sync::Arc;

use super::recurrent::{PackedRecurrent, PackedScore, RecurrentStep, RecurrentWiring, StateVectors};
use super::units::{PackedLayer, PackedProduct, PackedUnit, UnitRows, side_by_side};
use super::{PackedModel, Sources, columns};
use super::{readout::Readout, rows::RowTable};
use crate::models::opennmt::sizes::{AttentionalMix, DecoderStart, OpenNmtSizes};
use crate::models::{checkpoint::Weights, config::Config, config::required};
use crate::nn::fused::elementwise::{add, tanh_all};
use crate::nn::fused::{Onto, Packed, fill_rows, team};
use crate::{error::Result, nn::bidirectional::Direction};

#[derive(Debug)]
struct PackedOpenNmt {
    sizes: OpenNmtSizes,
    n: usize,
    m: usize,
    forward: Vec<PackedLayer>,
    backward: Vec<PackedLayer>,
    bridge: Option<PackedProduct>,
    decoder: Vec<PackedLayer>,
    /// The half of W_c for s_i.
    w_c: Packed,
    b_c: Vec<f32>,
}

pub fn pack_model(config: &Config, weights: &Arc<Weights>) -> Result<Arc<dyn PackedModel>> {
    let sizes = required(config.opennmt(), "OpenNMT")?;
    let (n, c) = (config.hidden, sizes.annotation());
    let stack_of = |name: &str, n: usize| -> Result<Vec<PackedLayer>> {
        let own = sizes.layers(config.embedding, config.hidden).into_iter().filter(|layer| layer.0 == name);
        own.map(|(stack, l, place)| {
            let unit = PackedUnit::new(weights, &format!("{stack}.{l}"), place, n, place.input);
            Ok(PackedLayer(vec![unit?]))
        })
        .collect()
    };
    let score = match sizes.score.as_str() {
        "dot" => PackedScore::Dot,
        "general" => PackedScore::General(PackedProduct::affine(weights, "attention.W_a", None)?),
        _ => PackedScore::additive(weights)?,
    };
    let bridge = || PackedProduct::affine(weights, "start.W", Some("start.b"));
    let w_c = weights.numbers("W_c")?;
    let part = |from: usize, to: usize| Packed::compact(&columns(&w_c, c + n, from, to), n, to - from);
    let wiring = PackedOpenNmt {
        forward: stack_of("encoder.forward", sizes.encoder_hidden)?,
        backward: stack_of("encoder.backward", sizes.encoder_hidden)?,
        bridge: (sizes.start_state == DecoderStart::Bridge).then(bridge).transpose()?,
        decoder: stack_of("decoder", n)?,
        w_c: part(c, c + n),
        b_c: weights.numbers("b_c")?,
        sizes: sizes.clone(),
        m: config.embedding,
        n,
    };
    let (target, output) = (config.target_embedding(), if sizes.tied_output { None } else { Some("readout.W_o") });
    Ok(Arc::new(PackedRecurrent {
        source_embedding: RowTable::new(weights, "source_embedding")?,
        target_embedding: RowTable::new(weights, target)?,
        start: Some(sizes.start),
        score,
        context: part(0, c),
        readout: Readout::new(weights, output.unwrap_or(target), Some("readout.b_o"))?,
        wiring: Box::new(wiring),
        config: config.clone(),
    }))
}

impl PackedOpenNmt {
    fn starts(&self, threads: usize, ends: Vec<UnitRows>, b: usize) -> Vec<UnitRows> {
        let top = ends.last().map_or_else(Vec::new, |end| end.s.clone());
        let s = match (self.sizes.start_state, &self.bridge) {
            (DecoderStart::Layers, _) => return ends,
            (DecoderStart::Bridge, Some(bridge)) => {
                let mut s = bridge.apply(threads, &top);
                tanh_all(&mut s);
                s
            }
            (DecoderStart::Top | DecoderStart::Bridge, _) => columns(&top, top.len() / b, 0, self.n),
            (DecoderStart::Zeros, _) => vec![0.0; b * self.n],
        };
        vec![UnitRows::start(s, self.sizes.unit); self.decoder.len()]
    }

    fn vectors(&self) -> usize {
        self.sizes.unit.tensors() * self.decoder.len()
    }
}

impl RecurrentWiring for PackedOpenNmt {
    fn read(&self, threads: usize, sources: &Sources, e: &[f32]) -> (Vec<f32>, StateVectors) {
        let (mut x, mut ends) = (e.to_vec(), Vec::new());
        let n = self.sizes.encoder_hidden;
        for (l, forward) in self.forward.iter().enumerate() {
            let mut both = vec![(forward, Direction::Forward, Default::default())];
            both.extend(self.backward.get(l).map(|layer| (layer, Direction::Backward, Default::default())));
            team::each(threads, &mut both, &|_, (layer, direction, read)| {
                *read = layer.read(threads, &x, sources, *direction);
            });
            let mut read = both.into_iter().map(|(_, _, read)| read);
            let (states, end): (Vec<f32>, UnitRows) = read.next().unwrap_or_default();
            (x, ends) = match read.next() {
                None => (states, [ends, vec![end]].concat()),
                Some((others, other)) => {
                    let end = end.concat(&other, n);
                    (side_by_side((&states, n), (&others, n)), [ends, vec![end]].concat())
                }
            };
        }
        let b = sources.lengths.len();
        let mut states = UnitRows::vectors(self.starts(threads, ends, b));
        if self.sizes.input_feeding {
            states.push(vec![0.0; b * self.n]); // h~_0
        }
        (x, states)
    }

    fn advance(&self, step: &RecurrentStep<'_>, states: StateVectors) -> StateVectors {
        let mut x = match states.get(self.vectors()) {
            Some(h_tilde) => side_by_side((step.e, self.m), (h_tilde, self.n)),
            None => step.e.to_vec(),
        };
        let mut units = UnitRows::of(&states[..self.vectors()], self.sizes.unit.tensors());
        for (layer, state) in self.decoder.iter().zip(&mut units) {
            *state = layer.0[0].step(step.threads, &x, state);
            x.clone_from(&state.s);
        }
        UnitRows::vectors(units)
    }

    fn read_out(&self, step: &RecurrentStep<'_>, half: &[Vec<f32>]) -> (Vec<f32>, StateVectors) {
        let (rows, n) = (step.rows.len(), self.n);
        let mut h_tilde = vec![0.0; rows * n];
        fill_rows(&self.b_c, &mut h_tilde);
        add(step.from_context, &mut h_tilde);
        self.w_c.apply_on(step.threads, rows, &half[self.query()], n, &mut h_tilde, n, Onto::C);
        if self.sizes.mixing == AttentionalMix::Tanh {
            tanh_all(&mut h_tilde);
        }
        let fed = self.sizes.input_feeding.then(|| h_tilde.clone());
        (h_tilde, half.iter().cloned().chain(fed).collect())
    }

    fn query(&self) -> usize {
        self.vectors() - self.sizes.unit.tensors()
    }
}
