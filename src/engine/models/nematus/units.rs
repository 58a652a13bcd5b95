//! The units and layers of a conditional recurrent model, with layer normalisation where it has one.
//!
//! | | |
//! |---|---|
//! | GRU | z, r = sigma(W x + U s' + b), s~ = tanh(W x + r (U s') + b), s = z s' + (1 - z) s~ |
//! | GRU that reads c_i, or nothing in the decoder | s~ = tanh(W x + r (U s' + b)) |
//! | GRU of cuDNN and PyTorch | s~ = tanh(W x + b + r (U s' + b_u)) |
//! | LSTM | i, f, o = sigma(W x + U s' + b), g = tanh(W x + U s' + b), c = f c' + i g, s = o tanh(c) |
//!
//! Normalised are W x and U s', each by itself. The gates of `gru` and `lstm` share one mean and one variance, and b
//! comes behind. In `gru-nematus` z and r share them and s~ has its own, and b stands within the norm: with W x, or
//! with U s' where b is within the reset; only units of the encoder that read nothing have it behind.

use candle_core::{D, Tensor};

use crate::error::{Error, Result};
use crate::models::header::Shapes;
use crate::models::nematus::sizes::{NematusNorm, NematusUnit, UnitPlace};
use crate::nn::linear::{Parameters, apply};
use crate::nn::{bidirectional::Direction, sigmoid, trace::Trace};

pub const MARIAN_EPSILON: f64 = 1e-9;
pub const NEMATUS_EPSILON: f64 = 1e-5;

/// (x - mean) / sqrt(variance + epsilon) over the last dimension.
fn standardise(x: &Tensor, epsilon: f64) -> Result<Tensor> {
    let x = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let variance = x.sqr()?.mean_keepdim(D::Minus1)?;
    Ok(x.broadcast_div(&(variance + epsilon)?.sqrt()?)?)
}

/// W x + b, normalised where the model normalises.
pub struct Dense {
    w: Tensor,         // [out, in]
    b: Option<Tensor>, // [out]
    norm: NematusNorm,
    g: Option<Tensor>,    // [out]
    beta: Option<Tensor>, // [out]
}

impl Dense {
    pub fn find(all: &Parameters<'_>, norm: NematusNorm, has_bias: bool) -> Result<Self> {
        Ok(Self {
            w: all.get("W")?,
            b: has_bias.then(|| all.get("b")).transpose()?,
            norm,
            g: (norm != NematusNorm::None).then(|| all.get("norm.g")).transpose()?,
            beta: (norm == NematusNorm::Nematus).then(|| all.get("norm.b")).transpose()?,
        })
    }

    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let x = apply(&self.w, x)?;
        match self.norm {
            NematusNorm::None => plus(&x, self.b.as_ref()),
            NematusNorm::Marian => plus(&times(&standardise(&x, MARIAN_EPSILON)?, self.g.as_ref())?, self.b.as_ref()),
            NematusNorm::Nematus => {
                let x = standardise(&plus(&x, self.b.as_ref())?, NEMATUS_EPSILON)?;
                plus(&times(&x, self.g.as_ref())?, self.beta.as_ref())
            }
        }
    }

    pub fn shapes(prefix: &str, norm: NematusNorm, has_bias: bool, [out, input]: [usize; 2]) -> Shapes {
        let names = [
            ("W", true, vec![out, input]),
            ("b", has_bias, vec![out]),
            ("norm.g", norm != NematusNorm::None, vec![out]),
            ("norm.b", norm == NematusNorm::Nematus, vec![out]),
        ];
        names.into_iter().filter(|name| name.1).map(|(name, _, shape)| (format!("{prefix}.{name}"), shape)).collect()
    }
}

fn plus(x: &Tensor, b: Option<&Tensor>) -> Result<Tensor> {
    b.map_or_else(|| Ok(x.clone()), |b| Ok(x.broadcast_add(b)?))
}

fn times(x: &Tensor, g: Option<&Tensor>) -> Result<Tensor> {
    g.map_or_else(|| Ok(x.clone()), |g| Ok(x.broadcast_mul(g)?))
}

struct Product {
    w: Vec<Tensor>, // [n, in]
    g: Vec<Tensor>, // [n]; none without a norm
    b: Vec<Tensor>, // [n]; only in `gru-nematus`
    place: UnitPlace,
}

impl Product {
    fn find(all: &Parameters<'_>, letter: &str, place: UnitPlace) -> Result<Self> {
        let each = |name: &str, has: bool| {
            let gates = place.gates().iter().filter(|_| has);
            gates.map(|gate| all.get(&format!("{name}{gate}"))).collect::<Result<Vec<_>>>()
        };
        Ok(Self {
            w: each(letter, true)?,
            g: each(&format!("{letter}_norm.g"), place.is_normed)?,
            b: each(&format!("{letter}_norm.b"), place.is_apart())?,
            place,
        })
    }

    fn apply(&self, x: &Tensor, bias: Option<&[Tensor]>) -> Result<Vec<Tensor>> {
        let product = |(k, w): (usize, &Tensor)| plus(&apply(w, x)?, bias.map(|bias| &bias[k]));
        let all: Vec<Tensor> = self.w.iter().enumerate().map(product).collect::<Result<_>>()?;
        if !self.place.is_normed {
            return Ok(all);
        }
        let (together, epsilon) =
            if self.place.is_apart() { (all.len() - 1, NEMATUS_EPSILON) } else { (all.len(), MARIAN_EPSILON) };
        let mut normed = Vec::with_capacity(all.len());
        for group in [&all[..together], &all[together..]].into_iter().filter(|group| !group.is_empty()) {
            normed.extend(standardise(&Tensor::cat(group, D::Minus1)?, epsilon)?.chunk(group.len(), D::Minus1)?);
        }
        let end = |(k, x): (usize, &Tensor)| plus(&times(x, self.g.get(k))?, self.b.get(k));
        normed.iter().enumerate().map(end).collect()
    }
}

/// What a layer keeps from one step to the next.
#[derive(Clone, Debug)]
pub struct UnitState {
    pub s: Tensor,
    /// The memory cell of an LSTM, [rows, n].
    pub c: Option<Tensor>,
}

impl UnitState {
    /// A state whose memory, if the unit has one, starts like the rest.
    pub fn start(kind: NematusUnit, s: Tensor) -> Self {
        Self { c: (kind == NematusUnit::Lstm).then(|| s.clone()), s }
    }

    /// The states of so many layers, and the tensor behind them if there is one.
    pub fn of(kind: NematusUnit, layers: usize, tensors: &[Tensor]) -> Result<(Vec<Self>, Option<Tensor>)> {
        let Some((states, rest)) = tensors.split_at_checked(kind.tensors() * layers) else {
            return Err(Error::Internal(format!("{} tensors are no state of this model", tensors.len())));
        };
        let state = |state: &[Tensor]| Self { s: state[0].clone(), c: state.get(1).cloned() };
        Ok((states.chunks(kind.tensors()).map(state).collect(), rest.first().cloned()))
    }

    pub fn tensors(&self) -> impl Iterator<Item = Tensor> {
        [Some(self.s.clone()), self.c.clone()].into_iter().flatten()
    }

    pub fn concat(&self, other: &Self) -> Result<Self> {
        let cat = |a: &Tensor, b: &Tensor| Ok::<_, Error>(Tensor::cat(&[a, b], D::Minus1)?);
        let c = self.c.as_ref().zip(other.c.as_ref()).map(|(c, other)| cat(c, other)).transpose()?;
        Ok(Self { s: cat(&self.s, &other.s)?, c })
    }

    fn stay(&self, mask: &Tensor, next: &Self) -> Result<Self> {
        let stay = |before: &Tensor, next: &Tensor| Ok::<_, Error>((before + (next - before)?.broadcast_mul(mask)?)?);
        let c = self.c.as_ref().zip(next.c.as_ref()).map(|(before, next)| stay(before, next)).transpose()?;
        Ok(Self { s: stay(&self.s, &next.s)?, c })
    }
}

/// A recurrent unit.
pub struct RecurrentUnit {
    w: Option<Product>,
    u: Product,
    b: Vec<Tensor>,      // [n]
    b_u: Option<Tensor>, // [n]
    place: UnitPlace,
    trace: Trace,
}

impl RecurrentUnit {
    pub fn find(all: &Parameters<'_>, place: UnitPlace) -> Result<Self> {
        Ok(Self {
            w: (place.input > 0).then(|| Product::find(all, "W", place)).transpose()?,
            u: Product::find(all, "U", place)?,
            b: place.gates().iter().map(|gate| all.get(&format!("b{gate}"))).collect::<Result<_>>()?,
            b_u: (place.kind == NematusUnit::GruCudnn).then(|| all.get("b_u")).transpose()?,
            place,
            trace: all.trace(),
        })
    }

    fn input(&self, x: &Tensor) -> Result<Vec<Tensor>> {
        let inside = self.place.is_apart() && !self.place.resets_bias;
        self.w.as_ref().map_or_else(|| Ok(Vec::new()), |w| w.apply(x, inside.then_some(&self.b[..])))
    }

    fn next(&self, x: &[Tensor], before: &UnitState) -> Result<UnitState> {
        let Self { place, b, .. } = self;
        let inside = place.is_apart() && place.resets_bias;
        let u = self.u.apply(&before.s, inside.then_some(&b[..]))?;
        // b where no norm has taken it in
        let left = |k: usize| (!place.is_apart() || (!inside && self.w.is_none())).then(|| &b[k]);
        let sum = |k: usize| plus(&plus(&u[k], x.get(k))?, left(k));
        if place.kind == NematusUnit::Lstm {
            let Some(c_prev) = &before.c else {
                return Err(Error::Internal("an LSTM was given no memory cell".into()));
            };
            let (i, f, o, g) = (sigmoid(&sum(0)?)?, sigmoid(&sum(1)?)?, sigmoid(&sum(2)?)?, sum(3)?.tanh()?);
            self.note([("i", &i), ("f", &f), ("o", &o), ("g", &g)]);
            let c = ((f * c_prev)? + (i * g)?)?;
            return Ok(UnitState { s: (o * c.tanh()?)?, c: Some(c) });
        }
        let (z, r) = (sigmoid(&sum(0)?)?, sigmoid(&sum(1)?)?);
        let s_tilde = if place.resets_bias {
            plus(&(&r * plus(&u[2], left(2))?)?, x.get(2))?
        } else {
            plus(&plus(&(&r * plus(&u[2], self.b_u.as_ref())?)?, x.get(2))?, left(2))?
        };
        let s_tilde = s_tilde.tanh()?;
        self.note([("z", &z), ("r", &r), ("proposal", &s_tilde)]);
        // z s' + (1 - z) s~
        Ok(UnitState { s: (&s_tilde + (z * (&before.s - &s_tilde)?)?)?, c: before.c.clone() })
    }

    fn note<const N: usize>(&self, values: [(&str, &Tensor); N]) {
        for (name, value) in values {
            self.trace.note(name, value);
        }
    }

    pub fn step(&self, x: &Tensor, before: &UnitState) -> Result<UnitState> {
        self.next(&self.input(x)?, before)
    }
}

/// Units one after the other; the first reads the input of the layer.
pub struct Layer(pub Vec<RecurrentUnit>);

impl Layer {
    pub fn pass(&self, done: usize, mut state: UnitState) -> Result<UnitState> {
        for unit in self.0.iter().skip(done) {
            state = unit.next(&[], &state)?;
        }
        Ok(state)
    }

    /// All states s of whole sentences, [t_x, b, n], of `x` [t_x, b, in], and the state where it ends; `mask` [t_x, b,
    /// 1].
    pub fn read(&self, x: &Tensor, mask: Option<&Tensor>, direction: Direction) -> Result<(Tensor, UnitState)> {
        let (t_x, b, _) = x.dims3()?;
        let Some(first) = self.0.first() else {
            return Err(Error::Internal("a layer has no unit".into()));
        };
        let input = first.input(x)?;
        let zeros = Tensor::zeros((b, first.b[0].dim(0)?), x.dtype(), x.device())?;
        let mut state = UnitState::start(first.place.kind, zeros);
        let mut states = Vec::with_capacity(t_x);
        for t in direction.order(t_x, false) {
            let input = input.iter().map(|gate| Ok(gate.get(t)?)).collect::<Result<Vec<_>>>()?;
            let next = self.pass(1, first.next(&input, &state)?)?;
            state = match mask {
                None => next,
                Some(mask) => state.stay(&mask.get(t)?, &next)?,
            };
            states.push(state.s.clone());
        }
        if direction == Direction::Backward {
            states.reverse();
        }
        Ok((Tensor::stack(&states, 0)?, state))
    }
}
