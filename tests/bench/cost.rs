//! How many floating-point operations the matrix products of a model come to, so that a speed can be given as a share
//! of what the machine multiplies.
//!
//! Counted is what the equations need, not what a program happens to do: every weight matrix [out, in] once for
//! each vector that it is applied to (2 out in operations), and the products of attention (energies, c_i) over the
//! words that are looked at. What does not depend on the step is counted once a sentence (U_a h_j, C c). Not counted are
//! element-wise work, look-ups and padding.

use interlinear::models::config::{Architecture, Config, OwnSizes};
use interlinear::models::shapes;

/// When a weight matrix is applied while a sentence is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Never,
    /// To each source word, to all of them at once.
    Word,
    /// To each source word after the one before: U of the encoder, as h_j waits for h_{j-1}.
    WordAfterWord,
    Sentence,
    Step,
    /// At each step of each hypothesis, as the output layer or a factor of it.
    Output,
    /// One half of its columns to each source word, the other at each step.
    Halves,
}

pub fn applied(config: &Config, name: &str) -> Applied {
    let last = name.rsplit('.').next().unwrap_or(name);
    match name {
        // a tied output layer multiplies its rows too
        "source_embedding" | "target_embedding" if is_tied(config, name) => Applied::Output,
        "source_embedding" | "target_embedding" | "source_positions" | "target_positions" => Applied::Never,
        "W_s" | "readout.W_o" | "readout.G" | "readout.G_l" | "readout.G_r" => Applied::Output,
        // c is the same at every step, and so is what it is multiplied by
        "encoder.V" | "decoder.V" | "decoder.W_s" | "readout.O_c" | "start.W" => Applied::Sentence,
        _ if config.architecture == Architecture::RNN_ENC_DEC && name.starts_with("decoder.C") => Applied::Sentence,
        _ if name.starts_with("encoder.") && last.starts_with('U') => Applied::WordAfterWord,
        _ if name.starts_with("encoder.") => Applied::Word,
        "attention.U_a" | "attention.key.W" => Applied::Word,
        _ if matches!(last, "W_k" | "W_v") && name.contains(".cross.") => Applied::Word,
        "attention.W_a" => match config.looks().map(|looks| looks.score.name) {
            Some("general") => Applied::Word,
            Some("concat") => Applied::Halves,
            _ => Applied::Step,
        },
        _ => Applied::Step,
    }
}

fn is_tied(config: &Config, name: &str) -> bool {
    let side = |shared| if shared { "source_embedding" } else { "target_embedding" };
    match &config.own {
        OwnSizes::Transformer(sizes) => sizes.tied_output && name == side(sizes.shared_embedding),
        OwnSizes::Nematus(sizes) => sizes.tied_output && name == side(sizes.shared_embedding),
        OwnSizes::OpenNmt(sizes) => sizes.tied_output && name == side(sizes.shared_embedding),
        OwnSizes::Luong(_) | OwnSizes::None => false,
    }
}

fn look_products(config: &Config) -> u64 {
    if let Some(sizes) = config.transformer() {
        // energies and sums of all heads, in every layer; the words that were said are few and not counted
        return (2 * sizes.decoder_layers * config.hidden) as u64;
    }
    let Some(looks) = config.looks() else { return 0 };
    let annotation = (config.architecture.entry().annotation)(config);
    let products = match (config.luong(), looks.score.name) {
        (Some(_), _) => config.hidden * if looks.score.content { 2 } else { 1 },
        (None, "additive") if config.alignment > 0 => config.alignment + annotation,
        // as wide as the annotations in Nematus, as the states in OpenNMT
        (None, "additive") if config.nematus().is_some() => 2 * annotation,
        (None, _) => config.hidden + annotation,
    };
    products as u64
}

/// Operations of the products, as they are shared out. A sentence has t_x source words, `</s>` included; a step makes
/// one target word of one hypothesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// For each source word: the encoder, and the keys of attention.
    pub source_word: u64,
    /// Once a sentence: start states, and what a context that never changes is multiplied by.
    pub sentence: u64,
    /// For each step: the decoder and the read-out up to the output layer.
    pub step: u64,
    /// For each step: the output layer, [K_y, l] or its factors.
    pub output: u64,
    /// For each step and each source word that is looked at: the energy and its part of c_i.
    pub look: u64,
    /// Source words that a step looks at, at most.
    pub reach: usize,
}

impl Cost {
    pub fn of(config: &Config) -> Self {
        let mut cost = Self { reach: config.window().map_or(usize::MAX, |d| 2 * d + 1), ..Self::default() };
        for (name, shape) in shapes(config) {
            if let [rows, columns] = shape[..] {
                cost.add(applied(config, &name), 2 * (rows * columns) as u64);
            }
        }
        cost.look = 2 * look_products(config);
        cost
    }

    fn add(&mut self, applied: Applied, work: u64) {
        match applied {
            Applied::Never => {}
            Applied::Word | Applied::WordAfterWord => self.source_word += work,
            Applied::Sentence => self.sentence += work,
            Applied::Step => self.step += work,
            Applied::Output => self.output += work,
            Applied::Halves => {
                self.source_word += work / 2;
                self.step += work / 2;
            }
        }
    }

    pub fn encode(&self, t_x: usize) -> u64 {
        self.sentence + self.source_word * t_x as u64
    }

    pub fn decode(&self, t_x: usize) -> u64 {
        self.step + self.output + self.look * t_x.min(self.reach) as u64
    }

    pub fn train(&self, t_x: usize, t_y: usize) -> u64 {
        3 * (self.encode(t_x) + self.decode(t_x) * t_y as u64)
    }
}
