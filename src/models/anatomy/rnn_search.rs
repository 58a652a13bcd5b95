//! Floor 3: RNNsearch taken apart (Bahdanau, Cho, Bengio 2015, appendix A.2).

use crate::error::Result;
use crate::models::anatomy::gated::{GATES, Reset, Sense, Unit};
use crate::models::anatomy::matrix::{Matrix, dot, log_softmax, maxout, mix, softmax, sum, tanh};
use crate::models::anatomy::{
    Anatomy, Arrow, Encoded, Equation, Machine, Part, Quantity, Span, Stage, Taken, Wrong, arrow, embedding, line,
    stage, word, words,
};
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::models::{Shapes, shapes};

/// RNNsearch.
struct Parts {
    config: Config,
    wrong: Option<Wrong>,
    source_embedding: Matrix,
    target_embedding: Matrix,
    forward: Unit,
    backward: Unit,
    decoder: Unit,
    w_s: Matrix,
    b_s: Vec<f32>,
    w_a: Matrix,
    u_a: Matrix,
    b_a: Vec<f32>,
    v_a: Vec<f32>,
    u_o: Matrix,
    v_o: Matrix,
    c_o: Matrix,
    b_o: Vec<f32>,
    w_o: Matrix,
    b_w: Vec<f32>,
}

/// See [`Dissect`](crate::models::anatomy::Dissect).
pub(crate) fn dissect(config: &Config, weights: &Weights, wrong: Option<Wrong>) -> Result<Box<dyn Anatomy>> {
    let matrix = |name: &str| Matrix::find(weights, name);
    let reset = if wrong == Some(Wrong::ResetPlace) { Reset::After } else { Reset::Before };
    let unit = |prefix: &str, context| Unit::find(weights, prefix, context, reset, Sense::Bahdanau);
    Ok(Box::new(Parts {
        config: config.clone(),
        wrong,
        source_embedding: matrix("source_embedding")?,
        target_embedding: matrix("target_embedding")?,
        forward: unit("encoder.forward", false)?,
        backward: unit("encoder.backward", false)?,
        decoder: unit("decoder", true)?,
        w_s: matrix("decoder.W_s")?,
        b_s: weights.numbers("decoder.b_s")?,
        w_a: matrix("attention.W_a")?,
        u_a: matrix("attention.U_a")?,
        b_a: weights.numbers("attention.b_a")?,
        v_a: weights.numbers("attention.v_a")?,
        u_o: matrix("readout.U_o")?,
        v_o: matrix("readout.V_o")?,
        c_o: matrix("readout.C_o")?,
        b_o: weights.numbers("readout.b_o")?,
        w_o: matrix("readout.W_o")?,
        b_w: weights.numbers("readout.b_w")?,
    }))
}

impl Parts {
    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    /// e_ij = v_a' tanh(W_a s + U_a h_j + b_a), [t_x], and W_a s, [n'].
    fn energies(&self, s: &[f32], encoded: &Encoded) -> (Vec<f32>, Vec<f32>) {
        let query = self.w_a.times(s);
        let e = |key: &Vec<f32>| {
            let key = if self.is(Wrong::BlindWeights) { &self.b_a } else { key };
            dot(&self.v_a, &tanh(&sum([&query, key])))
        };
        (encoded.keys.iter().map(e).collect(), query)
    }
}

impl Anatomy for Parts {
    fn machine(&self) -> Machine {
        Machine { stages: stages(&self.config, self.wrong), arrows: arrows(self.wrong) }
    }

    fn encode(&self, source: &[u32]) -> Encoded {
        let e: Vec<Vec<f32>> = source.iter().map(|id| self.source_embedding.row(*id as usize)).collect();
        let (forward, backward) = (self.forward.read(&e, false), self.backward.read(&e, true));
        let h: Vec<Vec<f32>> = forward.iter().zip(&backward).map(|(f, b)| [f.as_slice(), b].concat()).collect();
        let keys: Vec<Vec<f32>> = self.u_a.times_rows(&h).iter().map(|key| sum([key, &self.b_a])).collect();
        let s_0 = tanh(&sum([&self.w_s.times(&backward[0]), &self.b_s]));
        let rows = Quantity::rows;
        let parts = vec![
            Part::new("embedding", vec![rows("E x_j", "embedding of each source word", Span::Free, &e)]),
            Part::new(
                "forward",
                vec![rows(r"\r{h}_j", "state after reading as far as word j", Span::Signed, &forward)],
            ),
            Part::new(
                "backward",
                vec![rows(r"\l{h}_j", "state after reading back to word j", Span::Signed, &backward)],
            ),
            Part::new(
                "annotations",
                vec![
                    rows("h_j", "annotation of each source word", Span::Signed, &h),
                    rows("U_a h_j + b_a", "what the alignment model reads of it", Span::Free, &keys),
                ],
            ),
        ];
        // The late query reads the context of the step before, which at first is nothing.
        let start = if self.is(Wrong::LateQuery) { vec![s_0, vec![0.0; self.c_o.columns()]] } else { vec![s_0] };
        Encoded { parts, h, keys, start }
    }

    fn step(&self, encoded: &Encoded, state: &[Vec<f32>], _: usize, y_prev: Option<u32>) -> Taken {
        let e = self.target_embedding.row_or_zeros(y_prev);
        let s_prev = &state[0];
        // With the wrong order the state that looks, and that the word is read out of, is the new one.
        let early = self.is(Wrong::LateQuery).then(|| self.decoder.step(&e, Some(&state[1]), s_prev));
        let asking = early.as_ref().map_or(s_prev, |moved| &moved.s);
        let (e_i, query) = self.energies(asking, encoded);
        let alpha_i = softmax(&e_i, |_| true);
        let c_i = mix(&alpha_i, &encoded.h);
        let t_tilde = sum([&self.u_o.times(asking), &self.v_o.times(&e), &self.c_o.times(&c_i), &self.b_o]);
        let t_i = maxout(&t_tilde);
        let log_p = log_softmax(&sum([&self.w_o.times(&t_i), &self.b_w]));
        let vector = Quantity::vector;
        let read = vector("W_a s", "what the alignment model reads of it", Span::Free, query);
        let mut looking = vec![vector("s_{i-1}", "the state before", Span::Signed, s_prev.clone())];
        let mut new = Vec::new();
        if early.is_some() {
            new.push(read);
        } else {
            looking.push(read);
        }
        let moved = early.unwrap_or_else(|| self.decoder.step(&e, Some(&c_i), s_prev));
        let parts = vec![
            Part::new("previous", vec![vector("E y_{i-1}", "embedding of the word before", Span::Free, e)]),
            Part::new("state", looking),
            Part::new("energies", vec![vector("e_{ij}", "energy of each source word", Span::Free, e_i.clone())]),
            Part::new("alpha", vec![vector("α_{ij}", "share of each source word", Span::Gate, alpha_i.clone())]),
            Part::new(
                "context",
                vec![vector("c_i", "sum of the annotations by their shares", Span::Signed, c_i.clone())],
            ),
            Part::new(
                "gates",
                vec![
                    vector("z_i", "update gate: how much of the proposal enters", Span::Gate, moved.z),
                    vector("r_i", "reset gate: how much of the old state it reads", Span::Gate, moved.r),
                ],
            ),
            Part::new("proposal", vec![vector(r"\t{s}_i", "proposed state", Span::Signed, moved.proposal)]),
            Part::new("next", [vec![vector("s_i", "new state", Span::Signed, moved.s.clone())], new].concat()),
            Part::new(
                "readout",
                vec![
                    vector(r"\t{t}_i", "before maxout", Span::Free, t_tilde),
                    vector("t_i", "the greater of each two neighbours", Span::Free, t_i),
                ],
            ),
        ];
        let state = if self.is(Wrong::LateQuery) { vec![moved.s, c_i] } else { vec![moved.s] };
        Taken { parts, e_i: Some(e_i), alpha_i: Some(alpha_i), p_t: None, log_p, state }
    }
}

const UNIT: &str = "Bahdanau et al. 2015, appendix A.2.2";
const ENCODER: &str = "Bahdanau et al. 2015, appendix A.2.1";

fn stages(config: &Config, wrong: Option<Wrong>) -> Vec<Stage> {
    let all = shapes(config);
    let (looking, moving) = (looking(&all, wrong), moving(&all, wrong));
    let step = if wrong == Some(Wrong::LateQuery) { [moving, looking] } else { [looking, moving] };
    [reading(&all, wrong), step.concat(), saying(&all, wrong)].concat()
}

fn energies(wrong: Option<Wrong>) -> Equation {
    match wrong {
        Some(Wrong::BlindWeights) => {
            line("e_{ij} = v_a' tanh(W_a s_{i-1} + b_a)", "not the paper's: the annotations are left out")
        }
        Some(Wrong::LateQuery) => line(
            "e_{ij} = v_a' tanh(W_a s_i + U_a h_j + b_a)",
            "not the paper's: the new state in place of the old one",
        ),
        Some(Wrong::ResetPlace | Wrong::Untrained) | None => {
            line("e_{ij} = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a)", UNIT)
        }
    }
}

/// The encoder's proposal.
fn proposed(wrong: Option<Wrong>) -> Equation {
    if wrong == Some(Wrong::ResetPlace) {
        let source = "not the paper's: the reset gate outside the product";
        return line(r"\t{h}_j = tanh(W E x_j + \r{r}_j ∘ (U \r{h}_{j-1}) + b)", source);
    }
    line(r"\t{h}_j = tanh(W E x_j + U (\r{r}_j ∘ \r{h}_{j-1}) + b)", ENCODER)
}

/// The gates; with the late query they read the context of the step before.
fn gates(wrong: Option<Wrong>) -> [Equation; 2] {
    if wrong == Some(Wrong::LateQuery) {
        let source = "not the paper's: the context of the step before";
        return [
            line("z_i = σ(W_z E y_{i-1} + U_z s_{i-1} + C_z c_{i-1} + b_z)", source),
            line("r_i = σ(W_r E y_{i-1} + U_r s_{i-1} + C_r c_{i-1} + b_r)", source),
        ];
    }
    [
        line("z_i = σ(W_z E y_{i-1} + U_z s_{i-1} + C_z c_i + b_z)", UNIT),
        line("r_i = σ(W_r E y_{i-1} + U_r s_{i-1} + C_r c_i + b_r)", UNIT),
    ]
}

fn proposal(wrong: Option<Wrong>) -> Equation {
    if wrong == Some(Wrong::LateQuery) {
        let source = "not the paper's: the context of the step before";
        return line(r"\t{s}_i = tanh(W E y_{i-1} + U (r_i ∘ s_{i-1}) + C c_{i-1} + b)", source);
    }
    if wrong == Some(Wrong::ResetPlace) {
        return line(
            r"\t{s}_i = tanh(W E y_{i-1} + r_i ∘ (U s_{i-1}) + C c_i + b)",
            "not the paper's: the reset gate outside the product",
        );
    }
    line(r"\t{s}_i = tanh(W E y_{i-1} + U (r_i ∘ s_{i-1}) + C c_i + b)", UNIT)
}

fn readout(wrong: Option<Wrong>) -> Equation {
    if wrong == Some(Wrong::LateQuery) {
        let source = "not the paper's: the new state in place of the old one";
        return line(r"\t{t}_i = U_o s_i + V_o E y_{i-1} + C_o c_i + b_o", source);
    }
    line(r"\t{t}_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i + b_o", UNIT)
}

/// The encoder.
fn reading(all: &Shapes, wrong: Option<Wrong>) -> Vec<Stage> {
    vec![
        words(all, "x_j"),
        embedding(all, "E x_j", ENCODER),
        stage(
            all,
            ("forward", "Read forwards", r"\r{h}_j"),
            (2, 0),
            "A gated unit reads from the first word; each state knows what came before.",
            &[line(r"\r{h}_j = (1 - \r{z}_j) ∘ \r{h}_{j-1} + \r{z}_j ∘ \t{h}_j", ENCODER), proposed(wrong)],
            &[
                "encoder.forward.W",
                "encoder.forward.U",
                "encoder.forward.b",
                "encoder.forward.W_z",
                "encoder.forward.U_z",
                "encoder.forward.b_z",
                "encoder.forward.W_r",
                "encoder.forward.U_r",
                "encoder.forward.b_r",
            ],
        ),
        stage(
            all,
            ("backward", "Read backwards", r"\l{h}_j"),
            (3, 0),
            "Another unit reads from the last word; each state knows what comes after.",
            &[line(r"\l{h}_j = (1 - \l{z}_j) ∘ \l{h}_{j+1} + \l{z}_j ∘ \t{h}_j", ENCODER)],
            &[
                "encoder.backward.W",
                "encoder.backward.U",
                "encoder.backward.b",
                "encoder.backward.W_z",
                "encoder.backward.U_z",
                "encoder.backward.b_z",
                "encoder.backward.W_r",
                "encoder.backward.U_r",
                "encoder.backward.b_r",
            ],
        ),
        stage(
            all,
            ("annotations", "Annotations", "h_j"),
            (4, 0),
            "Both states side by side: the word in its sentence. There are as many as there are words.",
            &[line(r"h_j = [\r{h}_j ; \l{h}_j]", "Bahdanau et al. 2015, eq. 7")],
            &["attention.U_a"],
        ),
    ]
}

/// From the state to the context.
fn looking(all: &Shapes, wrong: Option<Wrong>) -> Vec<Stage> {
    vec![
        stage(
            all,
            ("state", "State", "s_{i-1}"),
            (0, 1),
            if wrong == Some(Wrong::LateQuery) {
                "What the decoder remembers of the words that it has said. Here the new state looks in its place."
            } else {
                "What the decoder remembers of the words that it has said. It is what looks."
            },
            &[line(r"s_0 = tanh(W_s \l{h}_1 + b_s)", UNIT)],
            &["decoder.W_s", "decoder.b_s"],
        ),
        stage(
            all,
            ("energies", "Energies", "e_{ij}"),
            (2, 1),
            "How well each annotation fits what the state is looking for. One small network serves all words.",
            &[energies(wrong)],
            &["attention.W_a", "attention.U_a", "attention.b_a", "attention.v_a"],
        ),
        stage(
            all,
            ("alpha", "Weights", "α_{ij}"),
            (3, 1),
            "Energies as shares that sum to 1: the row of the heatmap.",
            &[line("α_{ij} = exp(e_{ij}) / ∑_k exp(e_{ik})", "Bahdanau et al. 2015, eq. 6")],
            &[],
        ),
        stage(
            all,
            ("context", "Context", "c_i"),
            (4, 1),
            "The annotations, each as much as its share. This is all that the step sees of the source.",
            &[line("c_i = ∑_j α_{ij} h_j", "Bahdanau et al. 2015, eq. 5")],
            &[],
        ),
    ]
}

/// From the word before to the new state.
fn moving(all: &Shapes, wrong: Option<Wrong>) -> Vec<Stage> {
    vec![
        stage(
            all,
            ("previous", "Word before", "E y_{i-1}"),
            (0, 2),
            "The word that was said last, as its row of a learned table; nothing before the first.",
            &[line("E y_{i-1}", UNIT)],
            &["target_embedding"],
        ),
        stage(
            all,
            ("gates", "Gates", "z_i, r_i"),
            (2, 2),
            "Numbers from 0 to 1, one for each unit: what is renewed, and what of the old state is read.",
            &gates(wrong),
            GATES,
        ),
        stage(
            all,
            ("proposal", "Proposal", r"\t{s}_i"),
            (3, 2),
            "What the state would become if all of it were renewed.",
            &[proposal(wrong)],
            &["decoder.W", "decoder.U", "decoder.C", "decoder.b"],
        ),
        stage(
            all,
            ("next", "New state", "s_i"),
            (4, 2),
            "Old state and proposal, mixed unit by unit as z says. The next step looks with it.",
            &[line(r"s_i = (1 - z_i) ∘ s_{i-1} + z_i ∘ \t{s}_i", UNIT)],
            &[],
        ),
    ]
}

/// The word.
fn saying(all: &Shapes, wrong: Option<Wrong>) -> Vec<Stage> {
    vec![
        stage(
            all,
            ("readout", "Readout", "t_i"),
            (2, 3),
            "All that is known, in half as many numbers: of each two neighbours the greater.",
            &[readout(wrong), line(r"t_i = max(\t{t}_{i,2k-1}, \t{t}_{i,2k})", UNIT)],
            &["readout.U_o", "readout.V_o", "readout.C_o", "readout.b_o"],
        ),
        stage(
            all,
            ("candidates", "Candidates", "p(y_i)"),
            (3, 3),
            "Every word of the vocabulary with its probability.",
            &[line("p(y_i | y_1 .. y_{i-1}, x) = softmax(W_o t_i + b_w)", UNIT)],
            &["readout.W_o", "readout.b_w"],
        ),
        word(all, "y_i"),
    ]
}

fn arrows(wrong: Option<Wrong>) -> Vec<Arrow> {
    let late = wrong == Some(Wrong::LateQuery);
    let mut arrows = vec![
        arrow("words", "embedding"),
        arrow("embedding", "forward"),
        arrow("embedding", "backward"),
        arrow("forward", "annotations"),
        arrow("backward", "annotations"),
        arrow("energies", "alpha"),
        arrow("alpha", "context"),
        arrow("annotations", "context"),
        arrow("previous", "gates"),
        arrow("state", "gates"),
        arrow("gates", "proposal"),
        arrow("proposal", "next"),
        arrow("previous", "readout"),
        arrow("context", "readout"),
        arrow("readout", "candidates"),
        arrow("candidates", "word"),
    ];
    let looking = if late { "next" } else { "state" };
    arrows.extend([arrow(looking, "energies"), arrow(looking, "readout")]);
    if wrong != Some(Wrong::BlindWeights) {
        arrows.push(arrow("annotations", "energies"));
    }
    arrows.push(Arrow { from_before: late, ..arrow("context", "gates") });
    arrows.push(Arrow { from_before: true, ..arrow("next", "state") });
    arrows.push(Arrow { from_before: true, ..arrow("word", "previous") });
    arrows
}
