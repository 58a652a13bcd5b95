//! Floor 3: the RNN Encoder-Decoder taken apart (Cho et al. 2014, appendix A).

use crate::error::Result;
use crate::models::anatomy::gated::{GATES, Reset, Sense, Unit};
use crate::models::anatomy::matrix::{Matrix, log_softmax, maxout, sum, tanh};
use crate::models::anatomy::{
    Anatomy, Arrow, Encoded, Equation, Machine, Part, Quantity, Span, Stage, Taken, Wrong, arrow, embedding, line,
    stage, word, words,
};
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::models::{Shapes, shapes};

/// The RNN Encoder-Decoder.
struct Parts {
    config: Config,
    wrong: Option<Wrong>,
    source_embedding: Matrix,
    target_embedding: Matrix,
    encoder: Unit,
    v: Matrix,
    b_c: Vec<f32>,
    decoder: Unit,
    v_prime: Matrix,
    b_s: Vec<f32>,
    o_h: Matrix,
    o_y: Matrix,
    o_c: Matrix,
    b_o: Vec<f32>,
    /// G, or G_l and G_r.
    output: Vec<Matrix>,
    b_w: Vec<f32>,
}

/// See [`Dissect`](crate::models::anatomy::Dissect).
pub(crate) fn dissect(config: &Config, weights: &Weights, wrong: Option<Wrong>) -> Result<Box<dyn Anatomy>> {
    let matrix = |name: &str| Matrix::find(weights, name);
    let is_moved = wrong == Some(Wrong::ResetPlace);
    let (reading, saying) = if is_moved { (Reset::After, Reset::Before) } else { (Reset::Before, Reset::AfterBoth) };
    let output = if config.output_rank.is_some() {
        vec![matrix("readout.G_r")?, matrix("readout.G_l")?]
    } else {
        vec![matrix("readout.G")?]
    };
    Ok(Box::new(Parts {
        config: config.clone(),
        wrong,
        source_embedding: matrix("source_embedding")?,
        target_embedding: matrix("target_embedding")?,
        encoder: Unit::find(weights, "encoder", false, reading, Sense::Cho)?,
        v: matrix("encoder.V")?,
        b_c: weights.numbers("encoder.b_c")?,
        decoder: Unit::find(weights, "decoder", true, saying, Sense::Cho)?,
        v_prime: matrix("decoder.V")?,
        b_s: weights.numbers("decoder.b_s")?,
        o_h: matrix("readout.O_h")?,
        o_y: matrix("readout.O_y")?,
        o_c: matrix("readout.O_c")?,
        b_o: weights.numbers("readout.b_o")?,
        output,
        b_w: weights.numbers("readout.b_w")?,
    }))
}

impl Anatomy for Parts {
    fn machine(&self) -> Machine {
        Machine { stages: stages(&self.config, self.wrong), arrows: arrows() }
    }

    fn encode(&self, source: &[u32]) -> Encoded {
        let e: Vec<Vec<f32>> = source.iter().map(|id| self.source_embedding.row(*id as usize)).collect();
        let h = self.encoder.read(&e, false);
        let c = tanh(&sum([&self.v.times(&h[h.len() - 1]), &self.b_c]));
        let start = tanh(&sum([&self.v_prime.times(&c), &self.b_s]));
        let parts = vec![
            Part::new("embedding", vec![Quantity::rows("e(x_j)", "embedding of each source word", Span::Free, &e)]),
            Part::new("encoder", vec![Quantity::rows("h_j", "state after reading as far as word j", Span::Signed, &h)]),
            Part::new("summary", vec![Quantity::vector("c", "the whole sentence", Span::Signed, c.clone())]),
        ];
        Encoded { parts, h: vec![c], keys: Vec::new(), start: vec![start] }
    }

    fn step(&self, encoded: &Encoded, state: &[Vec<f32>], _: usize, y_prev: Option<u32>) -> Taken {
        let e = self.target_embedding.row_or_zeros(y_prev);
        let (c, h_prev) = (&encoded.h[0], &state[0]);
        let moved = self.decoder.step(&e, Some(c), h_prev);
        let t_tilde = sum([&self.o_h.times(&moved.s), &self.o_y.times(&e), &self.o_c.times(c), &self.b_o]);
        let t = maxout(&t_tilde);
        let raised = self.output.iter().fold(t.clone(), |x, matrix| matrix.times(&x));
        let log_p = log_softmax(&sum([&raised, &self.b_w]));
        let vector = Quantity::vector;
        let parts = vec![
            Part::new("previous", vec![vector("e(y_{t-1})", "embedding of the word before", Span::Free, e)]),
            Part::new("state", vec![vector("h'_{t-1}", "the state before", Span::Signed, h_prev.clone())]),
            Part::new(
                "gates",
                vec![
                    vector("z_t", "update gate: how much of the old state stays", Span::Gate, moved.z),
                    vector("r_t", "reset gate: how much of the old state and of c it reads", Span::Gate, moved.r),
                ],
            ),
            Part::new("proposal", vec![vector(r"\t{h}'_t", "proposed state", Span::Signed, moved.proposal)]),
            Part::new("next", vec![vector("h'_t", "new state", Span::Signed, moved.s.clone())]),
            Part::new(
                "readout",
                vec![
                    vector("s'_t", "before maxout", Span::Free, t_tilde),
                    vector("s_t", "the greater of each two neighbours", Span::Free, t),
                ],
            ),
        ];
        Taken { parts, e_i: None, alpha_i: None, p_t: None, log_p, state: vec![moved.s] }
    }
}

const ENCODER: &str = "Cho et al. 2014, appendix A.1";
const DECODER: &str = "Cho et al. 2014, appendix A.2";

fn stages(config: &Config, wrong: Option<Wrong>) -> Vec<Stage> {
    let all = shapes(config);
    [reading(&all, wrong), moving(&all, wrong), saying(&all)].concat()
}

/// The encoder's proposal.
fn proposed(wrong: Option<Wrong>) -> Equation {
    if wrong == Some(Wrong::ResetPlace) {
        return line(
            r"\t{h}_j = tanh(W e(x_j) + r_j ∘ (U h_{j-1}) + b)",
            "not the paper's: the reset gate outside the product",
        );
    }
    line(r"\t{h}_j = tanh(W e(x_j) + U (r_j ∘ h_{j-1}) + b)", ENCODER)
}

/// The decoder's proposal.
fn proposal(wrong: Option<Wrong>) -> Equation {
    if wrong == Some(Wrong::ResetPlace) {
        let source = "not the paper's: the reset gate inside the product, and not on the summary";
        return line(r"\t{h}'_t = tanh(W e(y_{t-1}) + U (r_t ∘ h'_{t-1}) + C c + b)", source);
    }
    line(r"\t{h}'_t = tanh(W e(y_{t-1}) + r_t ∘ (U h'_{t-1} + C c) + b)", DECODER)
}

/// The encoder.
fn reading(all: &Shapes, wrong: Option<Wrong>) -> Vec<Stage> {
    vec![
        words(all, "x_j"),
        embedding(all, "e(x_j)", ENCODER),
        stage(
            all,
            ("encoder", "Read forwards", "h_j"),
            (2, 0),
            "A gated unit reads from the first word to the last. Only the last state is handed on.",
            &[line(r"h_j = z_j ∘ h_{j-1} + (1 - z_j) ∘ \t{h}_j", ENCODER), proposed(wrong)],
            &[
                "encoder.W",
                "encoder.U",
                "encoder.b",
                "encoder.W_z",
                "encoder.U_z",
                "encoder.b_z",
                "encoder.W_r",
                "encoder.U_r",
                "encoder.b_r",
            ],
        ),
        stage(
            all,
            ("summary", "Summary", "c"),
            (4, 0),
            "The whole sentence in one vector, however long it is: the bottleneck. Every step reads this and nothing else \
                of the source, so there is no alignment.",
            &[line("c = tanh(V h_N + b_c)", ENCODER)],
            &["encoder.V", "encoder.b_c"],
        ),
    ]
}

/// From the word before to the new state.
fn moving(all: &Shapes, wrong: Option<Wrong>) -> Vec<Stage> {
    vec![
        stage(
            all,
            ("state", "State", "h'_{t-1}"),
            (0, 1),
            "What the decoder remembers of the words that it has said.",
            &[line("h'_0 = tanh(V' c + b_s)", DECODER)],
            &["decoder.V", "decoder.b_s"],
        ),
        stage(
            all,
            ("previous", "Word before", "e(y_{t-1})"),
            (0, 2),
            "The word that was said last, as its row of a learned table; nothing before the first.",
            &[line("e(y_{t-1})", DECODER)],
            &["target_embedding"],
        ),
        stage(
            all,
            ("gates", "Gates", "z_t, r_t"),
            (2, 2),
            "Numbers from 0 to 1, one for each unit: what stays, and what of the old state and of c is read.",
            &[
                line("z_t = σ(W_z e(y_{t-1}) + U_z h'_{t-1} + C_z c + b_z)", DECODER),
                line("r_t = σ(W_r e(y_{t-1}) + U_r h'_{t-1} + C_r c + b_r)", DECODER),
            ],
            GATES,
        ),
        stage(
            all,
            ("proposal", "Proposal", r"\t{h}'_t"),
            (3, 2),
            "What the state would become if all of it were renewed.",
            &[proposal(wrong)],
            &["decoder.W", "decoder.U", "decoder.C", "decoder.b"],
        ),
        stage(
            all,
            ("next", "New state", "h'_t"),
            (4, 2),
            "Old state and proposal, mixed unit by unit as z says. Here z is what stays, not what enters.",
            &[line(r"h'_t = z_t ∘ h'_{t-1} + (1 - z_t) ∘ \t{h}'_t", DECODER)],
            &[],
        ),
    ]
}

/// The word.
fn saying(all: &Shapes) -> Vec<Stage> {
    vec![
        stage(
            all,
            ("readout", "Readout", "s_t"),
            (2, 3),
            "All that is known, in half as many numbers: of each two neighbours the greater.",
            &[
                line("s'_t = O_h h'_t + O_y e(y_{t-1}) + O_c c + b_o", DECODER),
                line("s_t = max(s'_{t,2k-1}, s'_{t,2k})", DECODER),
            ],
            &["readout.O_h", "readout.O_y", "readout.O_c", "readout.b_o"],
        ),
        stage(
            all,
            ("candidates", "Candidates", "p(y_t)"),
            (3, 3),
            "Every word of the vocabulary with its probability.",
            &[line("p(y_t | y_1 .. y_{t-1}, x) = softmax(G s_t + b_w)", DECODER)],
            &["readout.G", "readout.G_l", "readout.G_r", "readout.b_w"],
        ),
        word(all, "y_t"),
    ]
}

fn arrows() -> Vec<Arrow> {
    vec![
        arrow("words", "embedding"),
        arrow("embedding", "encoder"),
        arrow("encoder", "summary"),
        arrow("summary", "gates"),
        arrow("summary", "proposal"),
        arrow("summary", "readout"),
        arrow("previous", "gates"),
        arrow("state", "gates"),
        arrow("gates", "proposal"),
        arrow("proposal", "next"),
        arrow("next", "readout"),
        arrow("previous", "readout"),
        arrow("readout", "candidates"),
        arrow("candidates", "word"),
        Arrow { from_before: true, ..arrow("next", "state") },
        Arrow { from_before: true, ..arrow("word", "previous") },
    ]
}
