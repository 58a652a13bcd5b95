//! How the models of Luong, Pham and Manning 2015 are drawn. The equations are computed in `models/luong.rs`.

use crate::attention::AttentionKind;
use crate::models::anatomy::MachineSpan::{Free, Gate, Signed};
use crate::models::anatomy::entry::{candidates, embedding, line, shown, stage, word, words};
use crate::models::anatomy::{Equation, Layers, MachineStage, Miswiring, Plan, ShownQuantity};
use crate::models::config::{Config, LuongSizes};

pub(crate) const PLAN: Plan = Plan { stages: STAGES, adapt };

const LAYERS: &[&str] = &[
    id!("state of the first layer"),
    id!("state of the second layer"),
    id!("state of the third layer"),
    id!("state of the fourth layer"),
    id!("state of a further layer"),
];

const MODEL: &str = "Luong et al. 2015, section 2";
const GLOBAL: &str = "Luong et al. 2015, section 3.1";
const LOCAL: &str = "Luong et al. 2015, section 3.2";
const FEEDING: &str = "Luong et al. 2015, section 3.3";
const LSTM: &str = "Zaremba et al. 2015, section 3";
const LEFT_OUT: &str = id!("not the paper's: the source states are left out");

const CELL: &[ShownQuantity] = &[
    shown("decoder.{k}.i", "i_t", id!("input gate: how much of the proposal enters"), Gate),
    shown("decoder.{k}.f", "f_t", id!("forget gate: how much of the memory stays"), Gate),
    shown("decoder.{k}.o", "o_t", id!("output gate: how much of the memory shows"), Gate),
    shown("decoder.{k}.g", "g_t", "proposal", Signed),
    shown("decoder.{k}.c", "m_t", id!("memory cell"), Free),
    ShownQuantity { by_layer: LAYERS, ..shown("decoder.{k}.h", "h_t", "state", Signed) },
];

const STAGES: &[MachineStage] = &[
    words("x_s"),
    embedding("e(x_s)", &[line("e(x_s)", MODEL)], &[shown("e", "e(x_s)", id!("embedding of each source word"), Free)]),
    MachineStage {
        equations: &[line("m_s = f_s ∘ m_{s-1} + i_s ∘ g_s", LSTM), line("h_s = o_s ∘ tanh(m_s)", LSTM)],
        weights: &["encoder.{k}."],
        shows: &[ShownQuantity { by_layer: LAYERS, ..shown("encoder.{k}.states", "h_s^k", "state", Signed) }],
        reads: &["embedding"],
        layers: Layers::Lower,
        ..stage(("layers", id!("Lower layers"), "h_s^k"), (2, 0), id!("Long short-term memories, one over the other."))
    },
    MachineStage {
        equations: &[line("h_s = o_s ∘ tanh(m_s)", LSTM)],
        weights: &["encoder.{k}.", "attention.W_a"],
        shows: &[
            shown("h", "h_s", id!("source state of the top layer"), Signed),
            shown("keys", "W_a h_s", id!("what the alignment model reads of it"), Free),
        ],
        reads: &["layers"],
        layers: Layers::Highest,
        ..stage(
            ("annotations", id!("Source states"), "h_s"),
            (3, 0),
            id!("The states of the top layer, one a word. The decoder starts from the last of every layer."),
        )
    },
    MachineStage {
        equations: &[line(r"x_t = [e(y_{t-1}) ; \t{h}_{t-1}]", FEEDING)],
        weights: &["target_embedding"],
        shows: &[
            shown("e", "e(y_{t-1})", id!("embedding of the word before"), Free),
            shown("fed", r"\t{h}_{t-1}", id!("what the step before knew, fed in"), Signed),
        ],
        recalls: &["word", "attentional"],
        ..stage(
            ("previous", id!("Word before"), r"e(y_{t-1}), \t{h}_{t-1}"),
            (0, 1),
            id!(
                "The word that was said last and, fed in beside it, all that the step before knew: so the model can tell \
                    where it has looked."
            ),
        )
    },
    MachineStage {
        equations: &[
            line("i_t, f_t, o_t = σ(W x_t + U h_{t-1} + b)", LSTM),
            line("g_t = tanh(W x_t + U h_{t-1} + b)", LSTM),
            line("m_t = f_t ∘ m_{t-1} + i_t ∘ g_t", LSTM),
            line("h_t = o_t ∘ tanh(m_t)", LSTM),
        ],
        weights: &["decoder.{k}."],
        shows: CELL,
        reads: &["previous"],
        starts: &["layers"],
        layers: Layers::Lower,
        ..stage(("below", id!("Lower layers"), "h_t^k"), (1, 1), id!("Each layer hands its state to the one above."))
    },
    MachineStage {
        equations: &[
            line("i_t, f_t, o_t = σ(W x_t + U h_{t-1} + b)", LSTM),
            line("m_t = f_t ∘ m_{t-1} + i_t ∘ g_t", LSTM),
            line("h_t = o_t ∘ tanh(m_t)", LSTM),
        ],
        weights: &["decoder.{k}."],
        shows: CELL,
        reads: &["below"],
        starts: &["annotations"],
        layers: Layers::Highest,
        ..stage(
            ("top", id!("Top layer"), "h_t"),
            (2, 1),
            id!("The state of the top layer. The step moves first; it is the new state that looks."),
        )
    },
    MachineStage {
        equations: &[line("p_t = T_x σ(v_p' tanh(W_p h_t))", LOCAL)],
        weights: &["attention.W_p", "attention.v_p"],
        shows: &[shown("p_t", "p_t", id!("where it looks, in words from 0"), Free)],
        reads: &["top"],
        ..stage(("place", id!("Place"), "p_t"), (1, 2), id!("The model guesses the place from its state."))
    },
    MachineStage {
        equations: &[line("e_{ts} = h_t' W_a h_s", GLOBAL)],
        weights: &["attention.W_a", "attention.v_a"],
        shows: &[shown("e_i", "e_{ts}", id!("score of each source word"), Free)],
        reads: &["annotations", "top"],
        ..stage(
            ("energies", id!("Scores"), "e_{ts}"),
            (2, 2),
            id!("How well each source state fits the state of this step."),
        )
    },
    MachineStage {
        equations: &[line("a_{ts} = exp(e_{ts}) / ∑_{s'} exp(e_{ts'})", "Luong et al. 2015, eq. 7")],
        shows: &[shown("alpha_i", "a_{ts}", id!("share of each source word"), Gate)],
        reads: &["energies", "place"],
        ..stage(
            ("alpha", id!("Weights"), "a_{ts}"),
            (3, 2),
            id!("Scores as shares that sum to 1: the row of the heatmap."),
        )
    },
    MachineStage {
        equations: &[line("c_t = ∑_s a_{ts} h_s", GLOBAL)],
        shows: &[shown("c_i", "c_t", id!("sum of the source states by their shares"), Signed)],
        reads: &["alpha", "annotations"],
        ..stage(("context", id!("Context"), "c_t"), (4, 2), id!("The source states, each as much as its share."))
    },
    MachineStage {
        equations: &[line(r"\t{h}_t = tanh(W_c [c_t ; h_t])", "Luong et al. 2015, eq. 5")],
        weights: &["W_c"],
        shows: &[shown("h_tilde", r"\t{h}_t", id!("attentional state"), Signed)],
        reads: &["context", "top"],
        ..stage(
            ("attentional", id!("Attentional state"), r"\t{h}_t"),
            (2, 3),
            id!("Where it looked and what it was about to say, in one vector. The word is read out of it."),
        )
    },
    MachineStage {
        reads: &["attentional"],
        ..candidates(
            "p(y_t)",
            &[line(r"p(y_t | y_1 .. y_{t-1}, x) = softmax(W_s \t{h}_t)", "Luong et al. 2015, eq. 6")],
            &["W_s"],
        )
    },
    word("y_t"),
];

fn adapt(config: &Config, wrong: Option<Miswiring>, stages: &mut Vec<MachineStage>) {
    let Some(sizes) = config.luong() else { return };
    let looks = sizes.attention != AttentionKind::None;
    stages.retain(|stage| match stage.key {
        "layers" | "below" => sizes.layers > 1,
        "place" => sizes.attention.is_local(),
        "energies" | "alpha" | "context" | "attentional" => looks,
        _ => true,
    });
    for stage in stages {
        adapt_layers(sizes, stage);
        if looks {
            adapt_place(sizes.attention, stage);
            adapt_score(&sizes.score, wrong == Some(Miswiring::BlindWeights), stage);
        } else if stage.key == "candidates" {
            stage.equations = const { &[line("p(y_t | y_1 .. y_{t-1}, x) = softmax(W_s h_t)", MODEL)] };
            stage.reads = &["top"];
        } else if stage.key == "annotations" {
            stage.shows = &stage.shows[..1];
        }
    }
}

fn adapt_layers(sizes: &LuongSizes, stage: &mut MachineStage) {
    match stage.key {
        "layers" if sizes.reverse_source => {
            stage.about = id!("Long short-term memories, one over the other. They read the sentence from its end.");
        }
        "annotations" if sizes.layers == 1 => stage.reads = &["embedding"],
        "previous" if !sizes.input_feeding => {
            (stage.symbol, stage.about) = ("e(y_{t-1})", id!("The word that was said last."));
            stage.equations = const { &[line("x_t = e(y_{t-1})", MODEL)] };
            stage.shows = &stage.shows[..1];
            stage.recalls = &["word"];
        }
        "top" => {
            let below = if sizes.layers > 1 { "below" } else { "previous" };
            stage.reads = match (sizes.attention, below) {
                (AttentionKind::None, "below") => &["below", "annotations"],
                (AttentionKind::None, _) => &["previous", "annotations"],
                (_, "below") => &["below"],
                _ => &["previous"],
            };
            if sizes.attention == AttentionKind::None {
                stage.starts = &[];
            }
        }
        _ => {}
    }
}

fn adapt_place(kind: AttentionKind, stage: &mut MachineStage) {
    match (stage.key, kind) {
        ("place", AttentionKind::LocalM) => {
            stage.equations = const { &[line("p_t = min(t, T_x - 1)", LOCAL)] };
            stage.about = id!("The place moves one word a step, whatever the sentence says.");
            stage.reads = &[];
        }
        ("alpha", AttentionKind::LocalM) => {
            stage.equations =
                const { &[line("a_{ts} = exp(e_{ts}) / ∑_{s'} exp(e_{ts'}), p_t - D .. p_t + D", LOCAL)] };
            stage.about = id!("Scores as shares within the window.");
        }
        ("alpha", AttentionKind::LocalP) => {
            stage.equations = const {
                &[
                    line("a_{ts} = align(h_t, h_s) exp(-(s - p_t)^2 / (2 (D/2)^2))", "Luong et al. 2015, eq. 10"),
                    line("align: softmax of p_t - D .. p_t + D", LOCAL),
                ]
            };
            stage.about = id!(
                "Scores as shares within the window, less the further they lie from the place: a row may sum to less than 1."
            );
        }
        _ => {}
    }
}

fn adapt_score(score: &str, is_blind: bool, stage: &mut MachineStage) {
    const BLIND_CONCAT: &[Equation] = &[line("e_{ts} = v_a' tanh(W_a [h_t ; 0])", LEFT_OUT)];
    const BLIND: &[Equation] = &[line("e_{ts} = 0", LEFT_OUT)];
    const DOT: &[Equation] = &[line("e_{ts} = h_t' h_s", GLOBAL)];
    const CONCAT: &[Equation] = &[line("e_{ts} = v_a' tanh(W_a [h_t ; h_s])", GLOBAL)];
    const LOCATION: &[Equation] = &[line("e_t = W_a h_t", GLOBAL)];
    match stage.key {
        "annotations" if matches!(score, "dot" | "location") => stage.shows = &stage.shows[..1],
        "energies" => {
            stage.equations = match (score, is_blind) {
                ("location", _) => LOCATION,
                ("concat", true) => BLIND_CONCAT,
                ("concat", false) => CONCAT,
                (_, true) => BLIND,
                ("dot", false) => DOT,
                (_, false) => stage.equations,
            };
            if is_blind || score == "location" {
                stage.reads = &["top"];
            }
        }
        _ => {}
    }
}
