//! How RNNsearch is drawn (Bahdanau, Cho, Bengio 2015, appendix A.2). The equations are computed in
//! `models/rnn_search.rs`.

use crate::models::anatomy::MachineSpan::{Free, Gate, Signed};
use crate::models::anatomy::entry::{GATES, candidates, embedding, line, shares, shown, stage, word, words};
use crate::models::anatomy::{MachineStage, Miswiring, Plan};
use crate::models::config::Config;

pub(crate) const PLAN: Plan = Plan { stages: STAGES, adapt };

const UNIT: &str = "Bahdanau et al. 2015, appendix A.2.2";
const ENCODER: &str = "Bahdanau et al. 2015, appendix A.2.1";
const OUTSIDE: &str = id!("not the paper's: the reset gate outside the product");
const EARLIER: &str = id!("not the paper's: the context of the step before");
const NEWER: &str = id!("not the paper's: the new state in place of the old one");
const LEFT_OUT: &str = id!("not the paper's: the annotations are left out");

const STAGES: &[MachineStage] = &[
    words("x_j"),
    embedding("E x_j", &[line("E x_j", ENCODER)], &[shown("e", "E x_j", id!("embedding of each source word"), Free)]),
    MachineStage {
        equations: &[
            line(r"\r{h}_j = (1 - \r{z}_j) ∘ \r{h}_{j-1} + \r{z}_j ∘ \t{h}_j", ENCODER),
            line(r"\t{h}_j = tanh(W E x_j + U (\r{r}_j ∘ \r{h}_{j-1}) + b)", ENCODER),
        ],
        weights: &["encoder.forward."],
        shows: &[shown("encoder.forward.states", r"\r{h}_j", id!("state after reading as far as word j"), Signed)],
        reads: &["embedding"],
        ..stage(
            ("forward", id!("Read forwards"), r"\r{h}_j"),
            (2, 0),
            id!("A gated unit reads from the first word; each state knows what came before."),
        )
    },
    MachineStage {
        equations: &[line(r"\l{h}_j = (1 - \l{z}_j) ∘ \l{h}_{j+1} + \l{z}_j ∘ \t{h}_j", ENCODER)],
        weights: &["encoder.backward."],
        shows: &[shown("encoder.backward.states", r"\l{h}_j", id!("state after reading back to word j"), Signed)],
        reads: &["embedding"],
        ..stage(
            ("backward", id!("Read backwards"), r"\l{h}_j"),
            (3, 0),
            id!("Another unit reads from the last word; each state knows what comes after."),
        )
    },
    MachineStage {
        equations: &[line(r"h_j = [\r{h}_j ; \l{h}_j]", "Bahdanau et al. 2015, eq. 7")],
        weights: &["attention.U_a"],
        shows: &[
            shown("h", "h_j", id!("annotation of each source word"), Signed),
            shown("keys", "U_a h_j + b_a", id!("what the alignment model reads of it"), Free),
        ],
        reads: &["forward", "backward"],
        ..stage(
            ("annotations", id!("Annotations"), "h_j"),
            (4, 0),
            id!("Both states side by side: the word in its sentence. There are as many as there are words."),
        )
    },
    MachineStage {
        equations: &[line(r"s_0 = tanh(W_s \l{h}_1 + b_s)", UNIT)],
        weights: &["decoder.W_s", "decoder.b_s"],
        shows: &[
            shown("s_prev", "s_{i-1}", id!("the state before"), Signed),
            shown("attention.query", "W_a s", id!("what the alignment model reads of it"), Free),
        ],
        recalls: &["next"],
        starts: &["backward"],
        ..stage(
            ("state", id!("State"), "s_{i-1}"),
            (0, 1),
            id!(
                "The new state of the step before, which has read all words but the last; at the first step it is made of \
                 the source. It is what looks."
            ),
        )
    },
    MachineStage {
        equations: &[line("e_{ij} = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a)", UNIT)],
        weights: &["attention.W_a", "attention.U_a", "attention.b_a", "attention.v_a"],
        shows: &[shown("e_i", "e_{ij}", id!("energy of each source word"), Free)],
        reads: &["state", "annotations"],
        ..stage(
            ("energies", id!("Energies"), "e_{ij}"),
            (2, 1),
            id!("How well each annotation fits what the state is looking for. One small network serves all words."),
        )
    },
    shares(&[line("α_{ij} = exp(e_{ij}) / ∑_k exp(e_{ik})", "Bahdanau et al. 2015, eq. 6")], (3, 1)),
    MachineStage {
        equations: &[line("c_i = ∑_j α_{ij} h_j", "Bahdanau et al. 2015, eq. 5")],
        shows: &[shown("c_i", "c_i", id!("sum of the annotations by their shares"), Signed)],
        reads: &["alpha", "annotations"],
        ..stage(
            ("context", id!("Context"), "c_i"),
            (4, 1),
            id!("The annotations, each as much as its share. This is all that the step sees of the source."),
        )
    },
    MachineStage {
        equations: &[line("E y_{i-1}", UNIT)],
        weights: &["target_embedding"],
        shows: &[shown("e", "E y_{i-1}", id!("embedding of the word before"), Free)],
        recalls: &["word"],
        ..stage(
            ("previous", id!("Word before"), "E y_{i-1}"),
            (0, 2),
            id!("The word that was said last, as its row of a learned table; nothing before the first."),
        )
    },
    MachineStage {
        equations: &[
            line("z_i = σ(W_z E y_{i-1} + U_z s_{i-1} + C_z c_i + b_z)", UNIT),
            line("r_i = σ(W_r E y_{i-1} + U_r s_{i-1} + C_r c_i + b_r)", UNIT),
        ],
        weights: GATES,
        shows: &[
            shown("decoder.z", "z_i", id!("update gate: how much of the proposal enters"), Gate),
            shown("decoder.r", "r_i", id!("reset gate: how much of the old state it reads"), Gate),
        ],
        reads: &["previous", "state", "context"],
        ..stage(
            ("gates", id!("Gates"), "z_i, r_i"),
            (2, 2),
            id!("Numbers from 0 to 1, one for each unit: what is renewed, and what of the old state is read."),
        )
    },
    MachineStage {
        equations: &[line(r"\t{s}_i = tanh(W E y_{i-1} + U (r_i ∘ s_{i-1}) + C c_i + b)", UNIT)],
        weights: &["decoder.W", "decoder.U", "decoder.C", "decoder.b"],
        shows: &[shown("decoder.proposal", r"\t{s}_i", id!("proposed state"), Signed)],
        reads: &["gates"],
        ..stage(
            ("proposal", id!("Proposal"), r"\t{s}_i"),
            (3, 2),
            id!("What the state would become if all of it were renewed."),
        )
    },
    MachineStage {
        equations: &[line(r"s_i = (1 - z_i) ∘ s_{i-1} + z_i ∘ \t{s}_i", UNIT)],
        shows: &[shown("s", "s_i", id!("new state"), Signed)],
        reads: &["proposal"],
        ..stage(
            ("next", id!("New state"), "s_i"),
            (4, 2),
            id!("Old state and proposal, mixed unit by unit as z says. The next step looks with it."),
        )
    },
    MachineStage {
        equations: &[
            line(r"\t{t}_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i + b_o", UNIT),
            line(r"t_i = max(\t{t}_{i,2k-1}, \t{t}_{i,2k})", UNIT),
        ],
        weights: &["readout.U_o", "readout.V_o", "readout.C_o", "readout.b_o"],
        shows: &[
            shown("readout.t_tilde", r"\t{t}_i", id!("before maxout"), Free),
            shown("readout.t", "t_i", id!("the greater of each two neighbours"), Free),
        ],
        reads: &["previous", "state", "context"],
        ..stage(
            ("readout", id!("Readout"), "t_i"),
            (2, 3),
            id!("All that is known, in half as many numbers: of each two neighbours the greater."),
        )
    },
    candidates(
        "p(y_i)",
        &[line("p(y_i | y_1 .. y_{i-1}, x) = softmax(W_o t_i + b_w)", UNIT)],
        &["readout.W_o", "readout.b_w"],
    ),
    word("y_i"),
];

fn adapt(_: &Config, wrong: Option<Miswiring>, stages: &mut Vec<MachineStage>) {
    for stage in &mut *stages {
        match (wrong, stage.key) {
            (Some(Miswiring::ResetPlace), "forward") => {
                stage.equations = const {
                    let proposal = line(r"\t{h}_j = tanh(W E x_j + \r{r}_j ∘ (U \r{h}_{j-1}) + b)", OUTSIDE);
                    &[line(r"\r{h}_j = (1 - \r{z}_j) ∘ \r{h}_{j-1} + \r{z}_j ∘ \t{h}_j", ENCODER), proposal]
                };
            }
            (Some(Miswiring::ResetPlace), "proposal") => {
                stage.equations =
                    const { &[line(r"\t{s}_i = tanh(W E y_{i-1} + r_i ∘ (U s_{i-1}) + C c_i + b)", OUTSIDE)] };
            }
            (Some(Miswiring::BlindWeights), "energies") => {
                stage.equations = const { &[line("e_{ij} = v_a' tanh(W_a s_{i-1} + b_a)", LEFT_OUT)] };
                stage.reads = &["state"];
            }
            (Some(Miswiring::LateQuery), _) => look_late(stage),
            _ => {}
        }
    }
    if wrong == Some(Miswiring::LateQuery)
        && let Some(step) = stages.get_mut(5..13)
    {
        step.rotate_left(4);
    }
}

fn look_late(stage: &mut MachineStage) {
    match stage.key {
        "state" => {
            stage.about =
                id!("What the decoder remembers of the words that it has said. Here the new state looks in its place.");
            stage.shows = &stage.shows[..1];
        }
        "energies" => {
            stage.equations = const { &[line("e_{ij} = v_a' tanh(W_a s_i + U_a h_j + b_a)", NEWER)] };
            stage.reads = &["next", "annotations"];
        }
        "gates" => {
            stage.equations = const {
                &[
                    line("z_i = σ(W_z E y_{i-1} + U_z s_{i-1} + C_z c_{i-1} + b_z)", EARLIER),
                    line("r_i = σ(W_r E y_{i-1} + U_r s_{i-1} + C_r c_{i-1} + b_r)", EARLIER),
                ]
            };
            (stage.reads, stage.recalls) = (&["previous", "state"], &["context"]);
        }
        "proposal" => {
            stage.equations =
                const { &[line(r"\t{s}_i = tanh(W E y_{i-1} + U (r_i ∘ s_{i-1}) + C c_{i-1} + b)", EARLIER)] };
        }
        "next" => {
            stage.shows = const {
                let query = shown("attention.query", "W_a s", id!("what the alignment model reads of it"), Free);
                &[shown("s", "s_i", id!("new state"), Signed), query]
            };
        }
        "readout" => {
            stage.equations = const {
                let readout = line(r"\t{t}_i = U_o s_i + V_o E y_{i-1} + C_o c_i + b_o", NEWER);
                &[readout, line(r"t_i = max(\t{t}_{i,2k-1}, \t{t}_{i,2k})", UNIT)]
            };
            stage.reads = &["previous", "next", "context"];
        }
        _ => {}
    }
}
