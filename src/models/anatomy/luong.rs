//! Floor 3: the models of Luong, Pham and Manning 2015 taken apart.

use std::ops::Range;

use crate::attention::AttentionKind;
use crate::error::{Error, Result};
use crate::models::anatomy::matrix::{Matrix, dot, log_softmax, logistic, mix, product, sigmoid, softmax, sum, tanh};
use crate::models::anatomy::{
    Anatomy, Arrow, Encoded, Equation, Machine, Part, Quantity, Span, Stage, Taken, Wrong, arrow, embedding, line,
    stage, word, words,
};
use crate::models::checkpoint::Weights;
use crate::models::config::{Config, LuongSizes};
use crate::models::{Shapes, shapes};

/// A model of Luong et al.
struct Parts {
    config: Config,
    sizes: LuongSizes,
    wrong: Option<Wrong>,
    source_embedding: Matrix,
    target_embedding: Matrix,
    encoder: Vec<Layer>,
    decoder: Vec<Layer>,
    look: Option<Look>,
    w_s: Matrix,
}

/// A layer: the input, forget and output gates and the proposal.
struct Layer([(Matrix, Matrix, Vec<f32>); 4]);

/// What a layer computes in a step.
struct Moved {
    i: Vec<f32>,
    f: Vec<f32>,
    o: Vec<f32>,
    g: Vec<f32>,
    c: Vec<f32>,
    h: Vec<f32>,
}

/// Attention and what is made of it.
struct Look {
    score: Score,
    /// W_p and v_p of local-p.
    place: Option<(Matrix, Vec<f32>)>,
    w_c: Matrix,
}

enum Score {
    Dot,
    General(Matrix),
    /// W_a cut into what reads h_t and what reads h_s, and v_a.
    Concat(Matrix, Matrix, Vec<f32>),
    Location(Matrix),
}

/// See [`Dissect`](crate::models::anatomy::Dissect).
pub(crate) fn dissect(config: &Config, weights: &Weights, wrong: Option<Wrong>) -> Result<Box<dyn Anatomy>> {
    let Some(sizes) = config.luong.clone() else {
        return Err(Error::Internal("this configuration is not one of luong".into()));
    };
    let stack = |side: &str| {
        (0..sizes.layers).map(|k| Layer::find(weights, &format!("{side}.{k}"))).collect::<Result<Vec<_>>>()
    };
    let look = config.aligns().then(|| Look::find(config, &sizes, weights)).transpose()?;
    Ok(Box::new(Parts {
        config: config.clone(),
        wrong,
        source_embedding: Matrix::find(weights, "source_embedding")?,
        target_embedding: Matrix::find(weights, "target_embedding")?,
        encoder: stack("encoder")?,
        decoder: stack("decoder")?,
        look,
        w_s: Matrix::find(weights, "W_s")?,
        sizes,
    }))
}

impl Layer {
    fn find(weights: &Weights, prefix: &str) -> Result<Self> {
        let gate = |gate: &str| {
            let matrix = |letter: &str| Matrix::find(weights, &format!("{prefix}.{letter}_{gate}"));
            Ok::<_, Error>((matrix("W")?, matrix("U")?, weights.numbers(&format!("{prefix}.b_{gate}"))?))
        };
        Ok(Self([gate("i")?, gate("f")?, gate("o")?, gate("g")?]))
    }

    /// One step from h' and c' with the input x.
    fn step(&self, x: &[f32], h_prev: &[f32], c_prev: &[f32]) -> Moved {
        let [i, f, o, g] = self.0.each_ref().map(|(w, u, b)| sum([&w.times(x), &u.times(h_prev), b]));
        let (i, f, o, g) = (sigmoid(&i), sigmoid(&f), sigmoid(&o), tanh(&g));
        let c = sum([&product(&f, c_prev), &product(&i, &g)]);
        let h = product(&o, &tanh(&c));
        Moved { i, f, o, g, c, h }
    }

    /// The state after each word, indexed by word, and h and c after the last that is read.
    fn read(&self, x: &[Vec<f32>], backwards: bool) -> (Vec<Vec<f32>>, [Vec<f32>; 2]) {
        let n = self.0[0].2.len();
        let (mut h, mut c) = (vec![0.0; n], vec![0.0; n]);
        let mut states = vec![Vec::new(); x.len()];
        for step in 0..x.len() {
            let j = if backwards { x.len() - 1 - step } else { step };
            let moved = self.step(&x[j], &h, &c);
            (h, c) = (moved.h, moved.c);
            states[j].clone_from(&h);
        }
        (states, [h, c])
    }
}

impl Look {
    fn find(config: &Config, sizes: &LuongSizes, weights: &Weights) -> Result<Self> {
        let matrix = |name: &str| Matrix::find(weights, &format!("attention.{name}"));
        let numbers = |name: &str| weights.numbers(&format!("attention.{name}"));
        let n = config.hidden;
        let score = match sizes.score.as_str() {
            "dot" => Score::Dot,
            "general" => Score::General(matrix("W_a")?),
            "concat" => {
                let both = matrix("W_a")?;
                Score::Concat(both.cut(0, n), both.cut(n, both.columns()), numbers("v_a")?)
            }
            "location" => Score::Location(matrix("W_a")?),
            other => return Err(Error::Internal(format!("the score function `{other}` cannot be taken apart"))),
        };
        let is_predicted = sizes.attention == AttentionKind::LocalP;
        let place = is_predicted.then(|| Ok::<_, Error>((matrix("W_p")?, numbers("v_p")?))).transpose()?;
        Ok(Self { score, place, w_c: Matrix::find(weights, "W_c")? })
    }

    /// What the energies read of each annotation.
    fn keys(&self, h: &[Vec<f32>]) -> Vec<Vec<f32>> {
        match &self.score {
            Score::Dot => h.to_vec(),
            Score::General(w_a) => w_a.times_rows(h),
            Score::Concat(_, of_annotation, _) => of_annotation.times_rows(h),
            Score::Location(_) => vec![Vec::new(); h.len()],
        }
    }

    /// e_ts; NaN where a word has none.
    fn energies(&self, h_t: &[f32], keys: &[Vec<f32>], is_blind: bool) -> Vec<f32> {
        match &self.score {
            Score::Dot | Score::General(_) if is_blind => vec![0.0; keys.len()],
            Score::Dot | Score::General(_) => keys.iter().map(|key| dot(h_t, key)).collect(),
            Score::Concat(of_state, _, v_a) => {
                let query = of_state.times(h_t);
                let read = |key: &Vec<f32>| if is_blind { query.clone() } else { sum([&query, key]) };
                keys.iter().map(|key| dot(v_a, &tanh(&read(key)))).collect()
            }
            Score::Location(w_a) => {
                let e = w_a.times(h_t);
                (0..keys.len()).map(|s| e.get(s).copied().unwrap_or(f32::NAN)).collect()
            }
        }
    }

    /// p_t, from 0; `None` of global attention.
    fn position(&self, kind: AttentionKind, h_t: &[f32], t: usize, t_x: usize) -> Option<f32> {
        match (&self.place, kind) {
            (Some((w_p, v_p)), _) => Some(t_x as f32 * logistic(dot(v_p, &tanh(&w_p.times(h_t))))),
            (None, AttentionKind::LocalM) => Some(t.min(t_x - 1) as f32),
            (None, AttentionKind::None | AttentionKind::Global | AttentionKind::LocalP) => None,
        }
    }

    /// alpha_t from e_t.
    fn align(&self, e_t: &[f32], p_t: Option<f32>, window: usize) -> Vec<f32> {
        let Some(p_t) = p_t else { return softmax(e_t, |s| !e_t[s].is_nan()) };
        let d = window as f32;
        let distance = |s: usize| s as f32 - p_t;
        let mut alpha = softmax(e_t, |s| distance(s).abs() <= d);
        if self.place.is_some() {
            for (s, alpha) in alpha.iter_mut().enumerate() {
                *alpha *= (-2.0 * distance(s).powi(2) / (d * d)).exp();
            }
        }
        alpha
    }
}

impl Anatomy for Parts {
    fn machine(&self) -> Machine {
        let is_blind = self.wrong == Some(Wrong::BlindWeights);
        Machine { stages: stages(&self.config, &self.sizes, is_blind), arrows: arrows(&self.sizes, is_blind) }
    }

    fn encode(&self, source: &[u32]) -> Encoded {
        let e: Vec<Vec<f32>> = source.iter().map(|id| self.source_embedding.row(*id as usize)).collect();
        let mut parts = vec![Part::new(
            "embedding",
            vec![Quantity::rows("e(x_s)", "embedding of each source word", Span::Free, &e)],
        )];
        let (mut x, mut start, mut layers) = (e, Vec::new(), Vec::new());
        for (k, layer) in self.encoder.iter().enumerate() {
            let (states, last) = layer.read(&x, self.sizes.reverse_source);
            start.extend(last);
            if k + 1 < self.encoder.len() {
                layers.push(Quantity::rows("h_s^k", LAYERS[k.min(LAYERS.len() - 1)], Span::Signed, &states));
            }
            x = states;
        }
        if !layers.is_empty() {
            parts.push(Part::new("layers", layers));
        }
        if self.sizes.input_feeding {
            start.push(vec![0.0; self.config.hidden]);
        }
        let keys = self.look.as_ref().map_or_else(Vec::new, |look| look.keys(&x));
        let mut annotations = vec![Quantity::rows("h_s", "source state of the top layer", Span::Signed, &x)];
        if let Some(Look { score: Score::General(_) | Score::Concat(..), .. }) = &self.look {
            annotations.push(Quantity::rows("W_a h_s", "what the alignment model reads of it", Span::Free, &keys));
        }
        parts.push(Part::new("annotations", annotations));
        Encoded { parts, h: x, keys, start }
    }

    fn step(&self, encoded: &Encoded, state: &[Vec<f32>], t: usize, y_prev: Option<u32>) -> Taken {
        let vector = Quantity::vector;
        let e = self.target_embedding.row(y_prev.unwrap_or(self.sizes.start) as usize);
        let fed = self.sizes.input_feeding.then(|| state[2 * self.decoder.len()].clone());
        let mut read = vec![vector("e(y_{t-1})", "embedding of the word before", Span::Free, e.clone())];
        read.extend(
            fed.clone().map(|fed| vector(r"\t{h}_{t-1}", "what the step before knew, fed in", Span::Signed, fed)),
        );
        let mut parts = vec![Part::new("previous", read)];
        let mut x = [e, fed.unwrap_or_default()].concat();
        let (mut after, mut below) = (Vec::new(), Vec::new());
        let mut top = Vec::new();
        for (k, layer) in self.decoder.iter().enumerate() {
            let moved = layer.step(&x, &state[2 * k], &state[2 * k + 1]);
            let of = LAYERS[k.min(LAYERS.len() - 1)];
            let is_top = k + 1 == self.decoder.len();
            let gates = if is_top { &mut top } else { &mut below };
            gates.extend([
                vector("i_t", "input gate: how much of the proposal enters", Span::Gate, moved.i),
                vector("f_t", "forget gate: how much of the memory stays", Span::Gate, moved.f),
                vector("o_t", "output gate: how much of the memory shows", Span::Gate, moved.o),
                vector("g_t", "proposal", Span::Signed, moved.g),
                vector("m_t", "memory cell", Span::Free, moved.c.clone()),
                vector("h_t", of, Span::Signed, moved.h.clone()),
            ]);
            x.clone_from(&moved.h);
            after.extend([moved.h, moved.c]);
        }
        if !below.is_empty() {
            parts.push(Part::new("below", below));
        }
        parts.push(Part::new("top", top));
        let h_t = x;
        let (mut e_i, mut alpha_i, mut p_t) = (None, None, None);
        let mut h_tilde = h_t.clone();
        if let Some(look) = &self.look {
            let e_t = look.energies(&h_t, &encoded.keys, self.wrong == Some(Wrong::BlindWeights));
            p_t = look.position(self.sizes.attention, &h_t, t, encoded.h.len());
            let alpha_t = look.align(&e_t, p_t, self.sizes.window);
            let c_t = mix(&alpha_t, &encoded.h);
            h_tilde = tanh(&look.w_c.times(&[c_t.as_slice(), &h_t].concat()));
            if let Some(p_t) = p_t {
                parts.push(Part::new(
                    "place",
                    vec![vector("p_t", "where it looks, in words from 0", Span::Free, vec![p_t])],
                ));
            }
            parts.extend([
                Part::new("energies", vec![vector("e_{ts}", "score of each source word", Span::Free, e_t.clone())]),
                Part::new("alpha", vec![vector("a_{ts}", "share of each source word", Span::Gate, alpha_t.clone())]),
                Part::new(
                    "context",
                    vec![vector("c_t", "sum of the source states by their shares", Span::Signed, c_t)],
                ),
            ]);
            (e_i, alpha_i) = (Some(e_t), Some(alpha_t));
        }
        if self.look.is_some() {
            let known = vector(r"\t{h}_t", "attentional state", Span::Signed, h_tilde.clone());
            parts.push(Part::new("readout", vec![known]));
        }
        let log_p = log_softmax(&self.w_s.times(&h_tilde));
        if self.sizes.input_feeding {
            after.push(h_tilde);
        }
        Taken { parts, e_i, alpha_i, p_t, log_p, state: after }
    }
}

/// What the state of each layer is called; from the last on, of all above.
const LAYERS: [&str; 5] = [
    "state of the first layer",
    "state of the second layer",
    "state of the third layer",
    "state of the fourth layer",
    "state of a further layer",
];

const MODEL: &str = "Luong et al. 2015, section 2";
const GLOBAL: &str = "Luong et al. 2015, section 3.1";
const LOCAL: &str = "Luong et al. 2015, section 3.2";
const FEEDING: &str = "Luong et al. 2015, section 3.3";
const LSTM: &str = "Zaremba et al. 2015, section 3";

/// The tensors of some layers.
fn of_layers(side: &str, layers: Range<usize>) -> Vec<String> {
    let gates = |k: usize| ["i", "f", "o", "g"].into_iter().map(move |gate| (k, gate));
    let tensor = |(k, gate): (usize, &str)| ["W", "U", "b"].map(|letter| format!("{side}.{k}.{letter}_{gate}"));
    layers.flat_map(gates).flat_map(tensor).collect()
}

fn names(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

fn stages(config: &Config, sizes: &LuongSizes, is_blind: bool) -> Vec<Stage> {
    let (all, aligns) = (shapes(config), config.aligns());
    let looking = if aligns { looking(&all, sizes, is_blind) } else { Vec::new() };
    [reading(&all, sizes), moving(&all, sizes), looking, saying(&all, aligns)].concat()
}

/// The encoder.
fn reading(all: &Shapes, sizes: &LuongSizes) -> Vec<Stage> {
    let mut stages = vec![words(all, "x_s"), embedding(all, "e(x_s)", MODEL)];
    if sizes.layers > 1 {
        stages.push(stage(
            all,
            ("layers", "Lower layers", "h_s^k"),
            (2, 0),
            if sizes.reverse_source {
                "Long short-term memories, one over the other. They read the sentence from its end."
            } else {
                "Long short-term memories, one over the other."
            },
            &[line("m_s = f_s ∘ m_{s-1} + i_s ∘ g_s", LSTM), line("h_s = o_s ∘ tanh(m_s)", LSTM)],
            &names(&of_layers("encoder", 0..sizes.layers - 1)),
        ));
    }
    stages.extend([stage(
        all,
        ("annotations", "Source states", "h_s"),
        (3, 0),
        "The states of the top layer, one a word. The decoder starts from the last of every layer.",
        &[line("h_s = o_s ∘ tanh(m_s)", LSTM)],
        &names(&[of_layers("encoder", sizes.layers - 1..sizes.layers), vec!["attention.W_a".to_owned()]].concat()),
    )]);
    stages
}

/// From the word before to the state of the top layer.
fn moving(all: &Shapes, sizes: &LuongSizes) -> Vec<Stage> {
    let mut stages = vec![stage(
        all,
        ("previous", "Word before", if sizes.input_feeding { r"e(y_{t-1}), \t{h}_{t-1}" } else { "e(y_{t-1})" }),
        (0, 1),
        if sizes.input_feeding {
            "The word that was said last and, fed in beside it, all that the step before knew: so the model can tell \
                    where it has looked."
        } else {
            "The word that was said last."
        },
        &[if sizes.input_feeding {
            line(r"x_t = [e(y_{t-1}) ; \t{h}_{t-1}]", FEEDING)
        } else {
            line("x_t = e(y_{t-1})", MODEL)
        }],
        &["target_embedding"],
    )];
    if sizes.layers > 1 {
        stages.push(stage(
            all,
            ("below", "Lower layers", "h_t^k"),
            (1, 1),
            "Each layer hands its state to the one above.",
            &[
                line("i_t, f_t, o_t = σ(W x_t + U h_{t-1} + b)", LSTM),
                line("g_t = tanh(W x_t + U h_{t-1} + b)", LSTM),
                line("m_t = f_t ∘ m_{t-1} + i_t ∘ g_t", LSTM),
                line("h_t = o_t ∘ tanh(m_t)", LSTM),
            ],
            &names(&of_layers("decoder", 0..sizes.layers - 1)),
        ));
    }
    stages.push(stage(
        all,
        ("top", "Top layer", "h_t"),
        (2, 1),
        "The state of the top layer. The step moves first; it is the new state that looks.",
        &[
            line("i_t, f_t, o_t = σ(W x_t + U h_{t-1} + b)", LSTM),
            line("m_t = f_t ∘ m_{t-1} + i_t ∘ g_t", LSTM),
            line("h_t = o_t ∘ tanh(m_t)", LSTM),
        ],
        &names(&of_layers("decoder", sizes.layers - 1..sizes.layers)),
    ));
    stages
}

/// The word.
fn saying(all: &Shapes, aligns: bool) -> Vec<Stage> {
    vec![
        stage(
            all,
            ("candidates", "Candidates", "p(y_t)"),
            (3, 3),
            "Every word of the vocabulary with its probability.",
            &[if aligns {
                line(r"p(y_t | y_1 .. y_{t-1}, x) = softmax(W_s \t{h}_t)", "Luong et al. 2015, eq. 6")
            } else {
                line("p(y_t | y_1 .. y_{t-1}, x) = softmax(W_s h_t)", MODEL)
            }],
            &["W_s"],
        ),
        word(all, "y_t"),
    ]
}

/// From the state to the attentional state.
fn looking(all: &Shapes, sizes: &LuongSizes, is_blind: bool) -> Vec<Stage> {
    let energies = match (sizes.score.as_str(), is_blind) {
        ("concat", true) => {
            line("e_{ts} = v_a' tanh(W_a [h_t ; 0])", "not the paper's: the source states are left out")
        }
        ("dot" | "general", true) => line("e_{ts} = 0", "not the paper's: the source states are left out"),
        ("dot", false) => line("e_{ts} = h_t' h_s", GLOBAL),
        ("concat", false) => line("e_{ts} = v_a' tanh(W_a [h_t ; h_s])", GLOBAL),
        ("location", _) => line("e_t = W_a h_t", GLOBAL),
        _ => line("e_{ts} = h_t' W_a h_s", GLOBAL),
    };
    let mut stages = Vec::new();
    let place = match sizes.attention {
        AttentionKind::LocalP => {
            Some((line("p_t = T_x σ(v_p' tanh(W_p h_t))", LOCAL), "The model guesses the place from its state."))
        }
        AttentionKind::LocalM => {
            Some((line("p_t = min(t, T_x - 1)", LOCAL), "The place moves one word a step, whatever the sentence says."))
        }
        AttentionKind::None | AttentionKind::Global => None,
    };
    if let Some((equation, about)) = place {
        stages.push(stage(
            all,
            ("place", "Place", "p_t"),
            (1, 2),
            about,
            &[equation],
            &["attention.W_p", "attention.v_p"],
        ));
    }
    let alpha: &[Equation] = match sizes.attention {
        AttentionKind::LocalP => &[
            line("a_{ts} = align(h_t, h_s) exp(-(s - p_t)^2 / 2 (D/2)^2)", "Luong et al. 2015, eq. 10"),
            line("align: softmax of p_t - D .. p_t + D", LOCAL),
        ],
        AttentionKind::LocalM => &[line("a_{ts} = exp(e_{ts}) / ∑_{s'} exp(e_{ts'}), p_t - D .. p_t + D", LOCAL)],
        AttentionKind::None | AttentionKind::Global => {
            &[line("a_{ts} = exp(e_{ts}) / ∑_{s'} exp(e_{ts'})", "Luong et al. 2015, eq. 7")]
        }
    };
    stages.extend([
        stage(
            all,
            ("energies", "Scores", "e_{ts}"),
            (2, 2),
            "How well each source state fits the state of this step.",
            &[energies],
            &["attention.W_a", "attention.v_a"],
        ),
        stage(
            all,
            ("alpha", "Weights", "a_{ts}"),
            (3, 2),
            match sizes.attention {
                AttentionKind::LocalP => {
                    "Scores as shares within the window, less the further from p_t: a row may sum to less than 1."
                }
                AttentionKind::LocalM => "Scores as shares within the window.",
                AttentionKind::None | AttentionKind::Global => {
                    "Scores as shares that sum to 1: the row of the heatmap."
                }
            },
            alpha,
            &[],
        ),
        stage(
            all,
            ("context", "Context", "c_t"),
            (4, 2),
            "The source states, each as much as its share.",
            &[line("c_t = ∑_s a_{ts} h_s", GLOBAL)],
            &[],
        ),
        stage(
            all,
            ("readout", "Attentional state", r"\t{h}_t"),
            (2, 3),
            "Where it looked and what it was about to say, in one vector. The word is read out of it.",
            &[line(r"\t{h}_t = tanh(W_c [c_t ; h_t])", "Luong et al. 2015, eq. 5")],
            &["W_c"],
        ),
    ]);
    stages
}

fn arrows(sizes: &LuongSizes, is_blind: bool) -> Vec<Arrow> {
    let (has_layers, aligns) = (sizes.layers > 1, sizes.attention != AttentionKind::None);
    let mut arrows = vec![arrow("words", "embedding"), arrow("candidates", "word")];
    arrows.push(Arrow { from_before: true, ..arrow("word", "previous") });
    if has_layers {
        arrows.extend([arrow("embedding", "layers"), arrow("layers", "annotations")]);
        arrows.extend([arrow("previous", "below"), arrow("below", "top")]);
    } else {
        arrows.extend([arrow("embedding", "annotations"), arrow("previous", "top")]);
    }
    if !aligns {
        arrows.extend([arrow("annotations", "top"), arrow("top", "candidates")]);
        return arrows;
    }
    if !is_blind && sizes.score != "location" {
        arrows.push(arrow("annotations", "energies"));
    }
    arrows.push(arrow("top", "energies"));
    arrows.extend([arrow("energies", "alpha"), arrow("alpha", "context"), arrow("annotations", "context")]);
    arrows.extend([arrow("context", "readout"), arrow("top", "readout"), arrow("readout", "candidates")]);
    if matches!(sizes.attention, AttentionKind::LocalM | AttentionKind::LocalP) {
        arrows.push(arrow("place", "alpha"));
    }
    if sizes.attention == AttentionKind::LocalP {
        arrows.push(arrow("top", "place"));
    }
    if sizes.input_feeding {
        arrows.push(Arrow { from_before: true, ..arrow("readout", "previous") });
    }
    arrows
}
