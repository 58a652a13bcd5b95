//! How the recurrent models of other toolkits are drawn: those of Nematus and Marian, of OpenNMT and Joey NMT.
//! They share their boxes; the equations are computed in `models/nematus` and `models/opennmt`.

use crate::models::anatomy::MachineSpan::{Free, Gate, Signed};
use crate::models::anatomy::entry::{candidates, embedding, line, shares, shown, stage, word, words};
use crate::models::anatomy::{Equation, Layers, MachineStage, Miswiring, Plan, ShownQuantity};
use crate::models::config::Config;
use crate::models::nematus::sizes::{NematusNorm, NematusUnit};
use crate::models::opennmt::sizes::{AttentionalMix, DecoderStart};

pub(crate) const NEMATUS: Plan = Plan { stages: STAGES, adapt: nematus };
pub(crate) const OPENNMT: Plan = Plan { stages: STAGES, adapt: opennmt };

const CONDITIONAL: &str = "Sennrich et al. 2017, section 3.1";
const LSTM: &str = "Hochreiter and Schmidhuber 1997, with a forget gate";
const OPEN: &str = "Klein et al. 2017, section 3";
const FEEDING: &str = "Luong et al. 2015, section 3.3";

macro_rules! unit {
    ($state:literal, $reset:literal) => {
        [
            &[
                line("z_i, r_i = σ(W x_i + U s_{i-1} + b)", CONDITIONAL),
                line(concat!(r"\t{s}_i = tanh(W x_i + b + r_i ∘ ", $reset, ")"), CONDITIONAL),
                line(concat!($state, r" = z_i ∘ s_{i-1} + (1 - z_i) ∘ \t{s}_i"), CONDITIONAL),
            ],
            &[
                line("i_i, f_i, o_i = σ(W x_i + U s_{i-1} + b)", LSTM),
                line("m_i = f_i ∘ m_{i-1} + i_i ∘ tanh(W x_i + U s_{i-1} + b)", LSTM),
                line(concat!($state, " = o_i ∘ tanh(m_i)"), LSTM),
            ],
        ]
    };
}

const FIRST_UNIT: [&[Equation]; 2] = unit!("s'_i", "(U s_{i-1})");
const OPEN_UNIT: [&[Equation]; 2] = unit!("s_i", "(U s_{i-1} + b_u)");

macro_rules! gates {
    ($unit:literal, $state:expr) => {
        [
            &[
                shown(concat!($unit, "z"), "z_i", "update gate: how much of the state stays", Gate),
                shown(concat!($unit, "r"), "r_i", "reset gate: how much of the state the proposal reads", Gate),
                shown(concat!($unit, "proposal"), r"\t{s}_i", "proposed state", Signed),
                $state,
            ],
            &[
                shown(concat!($unit, "i"), "i_i", "input gate: how much of the proposal enters", Gate),
                shown(concat!($unit, "f"), "f_i", "forget gate: how much of the memory stays", Gate),
                shown(concat!($unit, "o"), "o_i", "output gate: how much of the memory shows", Gate),
                shown(concat!($unit, "g"), "g_i", "proposal", Signed),
                $state,
            ],
        ]
    };
}

const LOOKS: ShownQuantity = shown("looks", "s'_i", id!("the state that looks"), Signed);
const FIRST: [&[ShownQuantity]; 2] = gates!("decoder.1.1.", LOOKS);
const SECOND: [&[ShownQuantity]; 2] = gates!("decoder.1.2.", shown("top", "s_i", id!("new state"), Free));
const TOP: [&[ShownQuantity]; 2] =
    gates!("decoder.{l}.", shown("looks", "s_i", id!("state of the top layer, which looks"), Signed));

const BEHIND: &[&str] = &[
    "decoder.1.2.", "decoder.1.3.", "decoder.1.4.", "decoder.1.5.", "decoder.1.6.", "decoder.1.7.", "decoder.1.8.",
    "decoder.2.", "decoder.3.", "decoder.4.", "decoder.5.", "decoder.6.", "decoder.7.", "decoder.8.",
];

const STAGES: &[MachineStage] = &[
    words("x_j"),
    embedding(
        "E x_j",
        &[line("E x_j", CONDITIONAL)],
        &[shown("e", "E x_j", id!("embedding of each source word"), Free)],
    ),
    MachineStage {
        weights: &["encoder.forward."],
        shows: &[shown("forward", r"\r{h}_j", id!("state after reading as far as word j"), Free)],
        reads: &["embedding"],
        ..stage(
            ("forward", id!("Read forwards"), r"\r{h}_j"),
            (2, 0),
            id!(
                "Recurrent layers read from the first word; what is shown is the top one. Each state knows what came before."
            ),
        )
    },
    MachineStage {
        weights: &["encoder.backward."],
        shows: &[shown("backward", r"\l{h}_j", id!("state after reading back to word j"), Free)],
        reads: &["embedding"],
        ..stage(
            ("backward", id!("Read backwards"), r"\l{h}_j"),
            (3, 0),
            id!(
                "Others read from the last word; each state knows what comes after. Of several layers the directions may take \
                turns, or each layer reads both of the one below."
            ),
        )
    },
    MachineStage {
        equations: &[line(r"h_j = [\r{h}_j ; \l{h}_j]", "Bahdanau et al. 2015, eq. 7")],
        weights: &["encoder.top.", "attention.key.", "attention.U_a", "attention.b_a"],
        shows: &[
            shown("h", "h_j", id!("annotation of each source word"), Free),
            shown("keys", "U_a h_j", id!("what the alignment model reads of it"), Free),
        ],
        reads: &["forward", "backward"],
        ..stage(
            ("annotations", id!("Annotations"), "h_j"),
            (4, 0),
            id!("Both states side by side: the word in its sentence."),
        )
    },
    MachineStage {
        equations: &[line("x_i = E y_{i-1}", CONDITIONAL)],
        weights: &["target_embedding"],
        shows: &[
            shown("e", "E y_{i-1}", id!("embedding of the word before"), Free),
            shown("fed", r"\t{h}_{i-1}", id!("what the step before knew, fed in"), Free),
        ],
        recalls: &["word"],
        ..stage(
            ("previous", id!("Word before"), "E y_{i-1}"),
            (0, 1),
            id!("The word that was said last, as its row of a learned table."),
        )
    },
    MachineStage {
        equations: FIRST_UNIT[0],
        weights: &["decoder.1.1.", "start."],
        shows: FIRST[0],
        reads: &["previous"],
        recalls: &["next"],
        starts: &["annotations"],
        ..stage(
            ("state", id!("First unit"), "s'_i"),
            (1, 1),
            id!(
                "The step moves first: by the word before, to the state that looks at the source. Before the first word the state is \
                made of the mean of the annotations."
            ),
        )
    },
    MachineStage {
        equations: &[line("e_{ij} = v_a' tanh(W_a s'_i + U_a h_j + b_a)", CONDITIONAL)],
        weights: &["attention.query.", "attention.W_a", "attention.v_a"],
        shows: &[shown("e_i", "e_{ij}", id!("energy of each source word"), Free)],
        reads: &["state", "annotations"],
        ..stage(
            ("energies", id!("Energies"), "e_{ij}"),
            (2, 1),
            id!("How well each annotation fits what the state is looking for."),
        )
    },
    shares(&[line("α_{ij} = exp(e_{ij}) / ∑_k exp(e_{ik})", "Bahdanau et al. 2015, eq. 6")], (3, 1)),
    MachineStage {
        equations: &[line("c_i = ∑_j α_{ij} h_j", "Bahdanau et al. 2015, eq. 5")],
        shows: &[shown("c_i", "c_i", id!("sum of the annotations by their shares"), Free)],
        reads: &["alpha", "annotations"],
        ..stage(("context", id!("Context"), "c_i"), (4, 1), id!("The annotations, each as much as its share."))
    },
    MachineStage {
        equations: &[
            line("z_i, r_i = σ(W c_i + U s'_i + b)", CONDITIONAL),
            line(r"\t{s}_i = tanh(W c_i + r_i ∘ (U s'_i + b))", CONDITIONAL),
            line(r"s_i = z_i ∘ s'_i + (1 - z_i) ∘ \t{s}_i", CONDITIONAL),
        ],
        weights: BEHIND,
        shows: SECOND[0],
        reads: &["state", "context"],
        ..stage(
            ("next", id!("Second unit"), "s_i"),
            (2, 2),
            id!(
                "A second unit moves on by what was found. Further units of the layer read nothing, and further layers the one below; \
                what is shown as s_i is the top of them."
            ),
        )
    },
    MachineStage {
        equations: &[line("t_i = tanh(W_1 E y_{i-1} + W_2 s_i + W_3 c_i + b)", CONDITIONAL)],
        weights: &["readout.word.", "readout.state.", "readout.context."],
        shows: &[shown("t", "t_i", id!("what the output layer reads"), Free)],
        reads: &["previous", "next", "context"],
        ..stage(("readout", id!("Readout"), "t_i"), (2, 3), id!("All that is known, in one vector."))
    },
    candidates(
        "p(y_i)",
        &[line("p(y_i | y_1 .. y_{i-1}, x) = softmax(W_o t_i + b_o)", CONDITIONAL)],
        &["readout.W_o", "readout.b_o"],
    ),
    word("y_i"),
];

fn adapt_source(reads_both: bool, stages: &mut Vec<MachineStage>) {
    stages.retain(|stage| reads_both || stage.key != "backward");
    for stage in stages {
        match stage.key {
            "previous" => stage.shows = &stage.shows[..1],
            "annotations" if !reads_both => {
                stage.equations = const { &[line(r"h_j = \r{h}_j", CONDITIONAL)] };
                stage.about = id!("The states of the top layer, one a word.");
            }
            _ => {}
        }
    }
}

fn nematus(config: &Config, _: Option<Miswiring>, stages: &mut Vec<MachineStage>) {
    let Some(sizes) = config.nematus() else { return };
    adapt_source(true, stages);
    let of_lstm = sizes.decoder_unit == NematusUnit::Lstm;
    for stage in stages {
        match stage.key {
            "annotations" if sizes.paired_layers() < sizes.encoder_layers => {
                stage.about = id!("Both states side by side, read again from the first word by further layers.");
            }
            "annotations" if sizes.norm != NematusNorm::None => {
                stage.about = id!(
                    "Both states side by side. All sums of this model are normalised: less their mean, by their spread."
                );
            }
            "state" => {
                stage.equations = FIRST_UNIT[usize::from(of_lstm)];
                stage.shows = FIRST[usize::from(of_lstm)];
            }
            "next" => {
                stage.shows = SECOND[usize::from(of_lstm)];
                if of_lstm {
                    stage.equations = const {
                        &[
                            line("i_i, f_i, o_i = σ(W c_i + U s'_i + b)", LSTM),
                            line("m_i = f_i ∘ m'_i + i_i ∘ tanh(W c_i + U s'_i + b)", LSTM),
                            line("s_i = o_i ∘ tanh(m_i)", LSTM),
                        ]
                    };
                }
                if sizes.base_cells == 1 {
                    stage.title = id!("New state");
                    stage.shows = &stage.shows[stage.shows.len() - 1..];
                    stage.equations = const { &[line("s_i = s'_i", CONDITIONAL)] };
                    stage.about =
                        id!("There is no second unit: the state that was moved to, or the top of the layers above it.");
                    stage.reads = &["state"];
                }
            }
            _ => {}
        }
    }
}

fn adapt_rows(stages: &mut Vec<MachineStage>) {
    stages.retain(|stage| stage.key != "next");
    for stage in stages {
        match stage.key {
            "energies" | "alpha" | "context" => stage.place.1 = 2,
            "state" => stage.title = id!("State"),
            _ => {}
        }
    }
}

fn opennmt(config: &Config, _: Option<Miswiring>, stages: &mut Vec<MachineStage>) {
    let Some(sizes) = config.opennmt() else { return };
    adapt_source(sizes.both_directions, stages);
    adapt_rows(stages);
    let of_lstm = sizes.unit == NematusUnit::Lstm;
    for stage in stages {
        match (stage.key, sizes.score.as_str()) {
            ("annotations", "dot") => stage.shows = &stage.shows[..1],
            ("annotations", "general") => {
                stage.weights = &["attention.W_a"];
                stage.shows = const {
                    let key = shown("keys", "W_a h_j", id!("what the alignment model reads of it"), Free);
                    &[shown("h", "h_j", id!("annotation of each source word"), Free), key]
                };
            }
            ("energies", "additive") => {
                stage.equations = const { &[line("e_{ij} = v_a' tanh(W_a s_i + U_a h_j + b_a)", OPEN)] };
            }
            ("energies", "dot") => stage.equations = const { &[line("e_{ij} = s_i' h_j", OPEN)] },
            ("energies", "general") => stage.equations = const { &[line("e_{ij} = s_i' W_a h_j", OPEN)] },
            ("previous", _) if sizes.input_feeding => {
                stage.equations = const { &[line(r"x_i = [E y_{i-1} ; \t{h}_{i-1}]", FEEDING)] };
                stage.shows = STAGES[5].shows;
                stage.recalls = &["word", "readout"];
                stage.about = id!("The word that was said last and, fed in beside it, all that the step before knew.");
            }
            ("state", _) => {
                (stage.symbol, stage.equations) = ("s_i", OPEN_UNIT[usize::from(of_lstm)]);
                (stage.shows, stage.layers) = (TOP[usize::from(of_lstm)], Layers::Highest);
                stage.weights = &["decoder.", "start."];
                stage.recalls = &[];
                stage.about = id!(
                    "All layers move, each by the state of the one below, and what is shown is the top one: it looks."
                );
                if sizes.start_state == DecoderStart::Zeros {
                    stage.starts = &[];
                }
            }
            ("readout", _) => {
                (stage.title, stage.symbol, stage.weights) = (id!("Attentional state"), r"\t{h}_i", &["W_c", "b_c"]);
                stage.equations = if sizes.mixing == AttentionalMix::Tanh {
                    const { &[line(r"\t{h}_i = tanh(W_c [c_i ; s_i] + b_c)", "Luong et al. 2015, eq. 5")] }
                } else {
                    const { &[line(r"\t{h}_i = W_c [c_i ; s_i] + b_c", OPEN)] }
                };
                stage.shows = const { &[shown("t", r"\t{h}_i", id!("attentional state"), Free)] };
                stage.reads = &["context", "state"];
            }
            ("candidates", _) => {
                stage.equations = const { &[line(r"p(y_i | y_1 .. y_{i-1}, x) = softmax(W_o \t{h}_i + b_o)", OPEN)] };
            }
            _ => {}
        }
    }
}
