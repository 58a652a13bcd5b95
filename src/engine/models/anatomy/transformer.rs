//! How a Transformer is drawn: all layers of the encoder, and the decoder layer whose cross-attention is the alignment
//! (Vaswani et al. 2017, section 3). The equations are computed in `models/transformer`.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};

use crate::error::Result;
use crate::models::anatomy::entry::{embedding, line, shares, shown, stage, word, words};
use crate::models::anatomy::{Equation, Layers, MachineStage, Miswiring, Plan, ShownQuantity};
use crate::models::config::OwnSizes;
use crate::models::transformer::sizes::{DecoderCell, Positions};
use crate::models::{anatomy::MachineSpan::Free, config::Config};

pub(crate) const PLAN: Plan = Plan { stages: STAGES, adapt };

const STACKS: &str = "Vaswani et al. 2017, section 3.1";
const ATTENTION: &str = "Vaswani et al. 2017, eq. 1";
const HEADS: &str = "Vaswani et al. 2017, section 3.2.2";
const FEED: &str = "Vaswani et al. 2017, eq. 2";
const POSITIONS: &str = "Vaswani et al. 2017, section 3.5";
const SSRU: &str = "Kim et al. 2019, From Research to Production and Back, section 3";

const ENCODER: &[Equation] = &[
    line("q_j = W_q x_j + b_q, k_j = W_k x_j + b_k, v_j = W_v x_j + b_v", HEADS),
    line("c_j = ∑_m α_{jm} v_m, α_{jm} = softmax(q_j' k_m / √(d_k))", ATTENTION),
    line("norm(x_j + W_o c_j + b_o)", HEADS),
    line("norm(x_j + W_2 f(W_1 x_j + b_1) + b_2)", FEED),
];

const ENCODED: &[ShownQuantity] = &[
    ShownQuantity { by_layer: QUERIES, ..shown("encoder.{l}.self.q", "q_j", id!("query of each source word"), Free) },
    ShownQuantity { by_layer: KEYS, ..shown("encoder.{l}.self.k", "k_j", id!("key of each source word"), Free) },
    ShownQuantity { by_layer: VALUES, ..shown("encoder.{l}.self.v", "v_j", id!("value of each source word"), Free) },
    ShownQuantity { by_layer: WORDS, ..shown("encoder.{l}.x", "x_j", id!("each source word after the layer"), Free) },
];

macro_rules! by_layer {
    ($what:literal) => {
        &[
            concat!($what, ", layer 1"),
            concat!($what, ", layer 2"),
            concat!($what, ", layer 3"),
            concat!($what, ", layer 4"),
            concat!($what, ", layer 5"),
            concat!($what, ", layer 6"),
            concat!($what, ", a further layer"),
        ]
    };
}

const UNPLACED: &str = id!("not the paper's: no position is added");
const QUERIES: &[&str] = by_layer!("query of each source word");
const KEYS: &[&str] = by_layer!("key of each source word");
const VALUES: &[&str] = by_layer!("value of each source word");
const WORDS: &[&str] = by_layer!("each source word");

const STAGES: &[MachineStage] = &[
    words("x_j"),
    embedding(
        "E x_j + p_j",
        &[line("E x_j + p_j", POSITIONS)],
        &[shown("e", "E x_j + p_j", id!("embedding of each source word, with its position"), Free)],
    ),
    MachineStage {
        equations: ENCODER,
        weights: &["encoder.{l}."],
        shows: ENCODED,
        reads: &["embedding"],
        layers: Layers::Lower,
        ..stage(
            ("layers", id!("Lower layers"), "x_j"),
            (2, 0),
            id!(
                "In each layer every source word looks at all of them, with query, key and value of its own, and changes by what it \
                finds."
            ),
        )
    },
    MachineStage {
        equations: ENCODER,
        weights: &["encoder.{l}.", "encoder.norm."],
        shows: &[ENCODED[0], ENCODED[1], ENCODED[2], shown("h", "h_j", id!("annotation of each source word"), Free)],
        reads: &["layers"],
        layers: Layers::Highest,
        ..stage(
            ("annotations", id!("Encoder"), "h_j"),
            (3, 0),
            id!("The last layer in which every source word looks at all of them: the word in its sentence."),
        )
    },
    MachineStage {
        equations: &[line("k_j = W_k h_j + b_k", HEADS), line("v_j = W_v h_j + b_v", HEADS)],
        shows: &[
            shown("k", "k_j", id!("key of each source word: what is compared"), Free),
            shown("v", "v_j", id!("value of each source word: what is handed over"), Free),
        ],
        reads: &["annotations"],
        ..stage(
            ("keys", id!("Keys, values"), "k_j, v_j"),
            (4, 0),
            id!("Of each annotation two readings: one to find it by, one to take from it. RNNsearch has h_j for both."),
        )
    },
    MachineStage {
        equations: &[line("E y_{i-1} + p_i", POSITIONS)],
        shows: &[shown("y", "E y_{i-1} + p_i", id!("embedding of the word before, with its position"), Free)],
        recalls: &["word"],
        ..stage(
            ("previous", id!("Word before"), "E y_{i-1}"),
            (0, 1),
            id!(
                "The word that was said last, and how many were said. There is no other state: all words before are read again."
            ),
        )
    },
    MachineStage {
        equations: &[line("s_i = norm(x + W_o [head_1 ; .. ; head_h] + b_o)", HEADS)],
        shows: &[shown("back", "s_i", id!("after looking back"), Free)],
        reads: &["previous"],
        recalls: &["back"],
        ..stage(
            ("back", id!("Looks back"), "s_i"),
            (1, 1),
            id!(
                "Self-attention: the word before looks at all words that were said, in this layer and in those below it."
            ),
        )
    },
    MachineStage {
        equations: &[line("q_i = W_q s_i + b_q", HEADS)],
        shows: &[shown("q", "q_i", id!("query: what is looked for"), Free)],
        reads: &["back"],
        ..stage(
            ("query", id!("Query"), "q_i"),
            (2, 1),
            id!("What the step asks of the source; each head has its part of it."),
        )
    },
    MachineStage {
        equations: &[line("e_{ij} = q_i' k_j / √(d_k)", ATTENTION)],
        shows: &[shown("e_i", "e_{ij}", id!("energy of each source word in the head that is shown"), Free)],
        reads: &["query", "keys"],
        ..stage(
            ("energies", id!("Energies"), "e_{ij}"),
            (3, 1),
            id!(
                "Query and key multiplied number by number and added up, in each head. Where several heads are the alignment, \
                their mean has no energies."
            ),
        )
    },
    shares(&[line("α_{ij} = exp(e_{ij}) / ∑_k exp(e_{ik})", ATTENTION)], (4, 1)),
    MachineStage {
        equations: &[line("c_i = ∑_j α_{ij} v_j", ATTENTION)],
        shows: &[shown("c_i", "c_i", id!("sums of the values, head beside head"), Free)],
        reads: &["alpha", "keys"],
        ..stage(
            ("context", id!("Context"), "c_i"),
            (1, 2),
            id!("The values, each as much as its share: one sum for each head."),
        )
    },
    MachineStage {
        equations: &[line("x = norm(s_i + W_o c_i + b_o)", HEADS)],
        shows: &[shown("looked", "x", id!("what is known after looking"), Free)],
        reads: &["context", "back"],
        ..stage(("looked", id!("Add, norm"), "x"), (2, 2), id!("What the source gave, added to what was there."))
    },
    MachineStage {
        equations: &[line("x + W_2 f(W_1 x + b_1) + b_2", FEED)],
        shows: &[shown("fed", "x", id!("after the feed-forward net"), Free)],
        reads: &["looked"],
        ..stage(
            ("feed", id!("Feed forward"), "f(W_1 x)"),
            (3, 2),
            id!("A net of two layers that sees this step alone."),
        )
    },
    MachineStage {
        equations: &[line("t_i", STACKS)],
        shows: &[shown("t", "t_i", id!("what the output layer reads"), Free)],
        reads: &["feed"],
        ..stage(
            ("readout", id!("Top"), "t_i"),
            (4, 2),
            id!("What the last layer gives. Where this layer is the last, it is the same."),
        )
    },
    MachineStage {
        equations: &[line("p(y_i | y_1 .. y_{i-1}, x) = softmax(W t_i + b)", "Vaswani et al. 2017, section 3.4")],
        weights: &["readout."],
        reads: &["readout"],
        ..stage(
            ("candidates", id!("Candidates"), "p(y_i)"),
            (3, 3),
            id!("Every piece of the vocabulary with its probability."),
        )
    },
    word("y_i"),
];

/// More pieces than page Steps takes apart.
const PLACES: usize = 1024;

/// The configuration with a table of positions that are all zeros; the table comes to the tensors.
pub(super) fn unplaced(config: &Config, tensors: &mut HashMap<String, Tensor>) -> Result<Config> {
    let mut config = config.clone();
    if let OwnSizes::Transformer(sizes) = &mut config.own {
        (sizes.positions, sizes.max_positions) = (Positions::Table, PLACES);
        for side in ["source_positions", "target_positions"] {
            let zeros = Tensor::zeros((PLACES, config.embedding), DType::F32, &Device::Cpu)?;
            tensors.insert(side.to_owned(), zeros);
        }
    }
    Ok(config)
}

fn adapt(config: &Config, wrong: Option<Miswiring>, stages: &mut Vec<MachineStage>) {
    let Some(sizes) = config.transformer() else { return };
    if sizes.encoder_layers == 1 {
        stages.retain(|stage| stage.key != "layers");
    }
    for stage in stages {
        if wrong == Some(Miswiring::NoPositions) && stage.key == "embedding" {
            stage.symbol = "E x_j";
            stage.equations = const { &[line("E x_j", UNPLACED)] };
            stage.shows = const { &[shown("e", "E x_j", id!("embedding of each source word"), Free)] };
        }
        if wrong == Some(Miswiring::NoPositions) && stage.key == "previous" {
            stage.equations = const { &[line("E y_{i-1}", UNPLACED)] };
            stage.shows = const { &[shown("y", "E y_{i-1}", id!("embedding of the word before"), Free)] };
            stage.about = id!("The word that was said last. There is no other state: all words before are read again.");
        }
        if stage.key == "annotations" && sizes.encoder_layers == 1 {
            stage.reads = &["embedding"];
        }
        if stage.key == "back" && sizes.cell == DecoderCell::Ssru {
            stage.equations = const {
                &[line("c_i = f_i ∘ c_{i-1} + (1 - f_i) ∘ W x", SSRU), line("s_i = norm(x + max(0, c_i))", SSRU)]
            };
            stage.about = id!("A simple recurrent unit in place of self-attention: it keeps one sum of what was said.");
        }
    }
}
