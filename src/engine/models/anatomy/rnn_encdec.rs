//! How the RNN Encoder-Decoder is drawn (Cho et al. 2014, appendix A). The equations are computed in
//! `models/rnn_encdec.rs`.

use crate::models::anatomy::MachineSpan::{Free, Gate, Signed};
use crate::models::anatomy::entry::{GATES, candidates, embedding, line, shown, stage, word, words};
use crate::models::anatomy::{MachineStage, Miswiring, Plan};
use crate::models::config::Config;

pub(crate) const PLAN: Plan = Plan { stages: STAGES, adapt };

const ENCODER: &str = "Cho et al. 2014, appendix A.1";
const DECODER: &str = "Cho et al. 2014, appendix A.2";
const OUTSIDE: &str = id!("not the paper's: the reset gate outside the product");
const INSIDE: &str = id!("not the paper's: the reset gate inside the product, and not on the summary");

const STAGES: &[MachineStage] = &[
    words("x_j"),
    embedding(
        "e(x_j)",
        &[line("e(x_j)", ENCODER)],
        &[shown("e", "e(x_j)", id!("embedding of each source word"), Free)],
    ),
    MachineStage {
        equations: &[
            line(r"h_j = z_j ∘ h_{j-1} + (1 - z_j) ∘ \t{h}_j", ENCODER),
            line(r"\t{h}_j = tanh(W e(x_j) + U (r_j ∘ h_{j-1}) + b)", ENCODER),
        ],
        weights: &[
            "encoder.W", "encoder.U", "encoder.b", "encoder.W_z", "encoder.U_z", "encoder.b_z", "encoder.W_r",
            "encoder.U_r", "encoder.b_r",
        ],
        shows: &[shown("encoder.states", "h_j", id!("state after reading as far as word j"), Signed)],
        reads: &["embedding"],
        ..stage(
            ("encoder", id!("Read forwards"), "h_j"),
            (2, 0),
            id!("A gated unit reads from the first word to the last. Only the last state is handed on."),
        )
    },
    MachineStage {
        equations: &[line("c = tanh(V h_N + b_c)", ENCODER)],
        weights: &["encoder.V", "encoder.b_c"],
        shows: &[shown("h", "c", id!("the whole sentence"), Signed)],
        reads: &["encoder"],
        ..stage(
            ("summary", id!("Summary"), "c"),
            (4, 0),
            id!(
                "The whole sentence in one vector, however long it is: the bottleneck. Every step reads this and nothing else \
                of the source, so there is no alignment."
            ),
        )
    },
    MachineStage {
        equations: &[line("h'_0 = tanh(V' c + b_s)", DECODER)],
        weights: &["decoder.V", "decoder.b_s"],
        shows: &[shown("s_prev", "h'_{t-1}", id!("the state before"), Signed)],
        recalls: &["next"],
        starts: &["summary"],
        ..stage(
            ("state", id!("State"), "h'_{t-1}"),
            (0, 1),
            id!(
                "What the decoder remembers of the words that it has said; before the first, what it makes of the summary."
            ),
        )
    },
    MachineStage {
        equations: &[line("e(y_{t-1})", DECODER)],
        weights: &["target_embedding"],
        shows: &[shown("e", "e(y_{t-1})", id!("embedding of the word before"), Free)],
        recalls: &["word"],
        ..stage(
            ("previous", id!("Word before"), "e(y_{t-1})"),
            (0, 2),
            id!("The word that was said last, as its row of a learned table; nothing before the first."),
        )
    },
    MachineStage {
        equations: &[
            line("z_t = σ(W_z e(y_{t-1}) + U_z h'_{t-1} + C_z c + b_z)", DECODER),
            line("r_t = σ(W_r e(y_{t-1}) + U_r h'_{t-1} + C_r c + b_r)", DECODER),
        ],
        weights: GATES,
        shows: &[
            shown("decoder.z", "z_t", id!("update gate: how much of the old state stays"), Gate),
            shown("decoder.r", "r_t", id!("reset gate: how much of the old state and of c it reads"), Gate),
        ],
        reads: &["summary", "previous", "state"],
        ..stage(
            ("gates", id!("Gates"), "z_t, r_t"),
            (2, 2),
            id!("Numbers from 0 to 1, one for each unit: what stays, and what of the old state and of c is read."),
        )
    },
    MachineStage {
        equations: &[line(r"\t{h}'_t = tanh(W e(y_{t-1}) + r_t ∘ (U h'_{t-1} + C c) + b)", DECODER)],
        weights: &["decoder.W", "decoder.U", "decoder.C", "decoder.b"],
        shows: &[shown("decoder.proposal", r"\t{h}'_t", id!("proposed state"), Signed)],
        reads: &["summary", "gates"],
        ..stage(
            ("proposal", id!("Proposal"), r"\t{h}'_t"),
            (3, 2),
            id!("What the state would become if all of it were renewed."),
        )
    },
    MachineStage {
        equations: &[line(r"h'_t = z_t ∘ h'_{t-1} + (1 - z_t) ∘ \t{h}'_t", DECODER)],
        shows: &[shown("s", "h'_t", id!("new state"), Signed)],
        reads: &["proposal"],
        ..stage(
            ("next", id!("New state"), "h'_t"),
            (4, 2),
            id!("Old state and proposal, mixed unit by unit as z says. Here z is what stays, not what enters."),
        )
    },
    MachineStage {
        equations: &[
            line("s'_t = O_h h'_t + O_y e(y_{t-1}) + O_c c + b_o", DECODER),
            line("s_t = max(s'_{t,2k-1}, s'_{t,2k})", DECODER),
        ],
        weights: &["readout.O_h", "readout.O_y", "readout.O_c", "readout.b_o"],
        shows: &[
            shown("readout.t_tilde", "s'_t", id!("before maxout"), Free),
            shown("readout.t", "s_t", id!("the greater of each two neighbours"), Free),
        ],
        reads: &["summary", "next", "previous"],
        ..stage(
            ("readout", id!("Readout"), "s_t"),
            (2, 3),
            id!("All that is known, in half as many numbers: of each two neighbours the greater."),
        )
    },
    candidates(
        "p(y_t)",
        &[line("p(y_t | y_1 .. y_{t-1}, x) = softmax(G s_t + b_w)", DECODER)],
        &["readout.G", "readout.G_l", "readout.G_r", "readout.b_w"],
    ),
    word("y_t"),
];

#[expect(clippy::ptr_arg, reason = "every plan adapts its stages by one signature")]
fn adapt(_: &Config, wrong: Option<Miswiring>, stages: &mut Vec<MachineStage>) {
    for stage in stages.iter_mut().filter(|_| wrong == Some(Miswiring::ResetPlace)) {
        match stage.key {
            "encoder" => {
                stage.equations = const {
                    let proposal = line(r"\t{h}_j = tanh(W e(x_j) + r_j ∘ (U h_{j-1}) + b)", OUTSIDE);
                    &[line(r"h_j = z_j ∘ h_{j-1} + (1 - z_j) ∘ \t{h}_j", ENCODER), proposal]
                };
            }
            "proposal" => {
                stage.equations =
                    const { &[line(r"\t{h}'_t = tanh(W e(y_{t-1}) + U (r_t ∘ h'_{t-1}) + C c + b)", INSIDE)] };
            }
            _ => {}
        }
    }
}
