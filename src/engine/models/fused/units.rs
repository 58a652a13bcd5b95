//! The recurrent units and layers of conditional models and of OpenNMT's on the CPU; the equations stand in
//! `models/nematus/units.rs`.

use std::sync::Arc;

use super::{Sources, columns, stack};
use crate::error::Result;
use crate::models::nematus::sizes::{NematusNorm, NematusUnit};
use crate::models::nematus::units::{MARIAN_EPSILON, NEMATUS_EPSILON};
use crate::models::{checkpoint::Weights, nematus::sizes::UnitPlace};
use crate::nn::fused::{Onto, Packed, gru, heads, lstm};
use crate::nn::{bidirectional::Direction, fused::elementwise::add};

/// What follows a product W x: a bias, and a norm where the model normalises.
#[derive(Debug, Default)]
pub struct ProductEnd {
    bias: Vec<f32>,
    norm: Option<ProductNorm>,
}

#[derive(Debug)]
struct ProductNorm {
    /// As many numbers of a row, from its first on, share a mean and a variance; the others share another.
    together: usize,
    epsilon: f32,
    g: Vec<f32>,
    b: Vec<f32>,
}

impl ProductEnd {
    pub fn dense(weights: &Weights, name: &str, norm: NematusNorm, has_bias: bool) -> Result<Self> {
        let numbers = |part: &str| weights.numbers(&format!("{name}.{part}"));
        let zeros = vec![0.0; weights.rows(&format!("{name}.W"))?.count];
        let (together, b) = (zeros.len(), if has_bias { numbers("b")? } else { zeros.clone() });
        let (bias, norm) = match norm {
            NematusNorm::None => (b, None),
            NematusNorm::Marian => (zeros, Some((MARIAN_EPSILON, numbers("norm.g")?, b))),
            NematusNorm::Nematus => (b, Some((NEMATUS_EPSILON, numbers("norm.g")?, numbers("norm.b")?))),
        };
        let norm = norm.map(|(epsilon, g, b)| ProductNorm { together, epsilon: epsilon as f32, g, b });
        Ok(Self { bias, norm })
    }

    pub fn width(&self) -> usize {
        self.bias.len()
    }

    pub fn finish(&self, y: &mut [f32]) {
        let width = self.bias.len();
        for row in y.chunks_exact_mut(width.max(1)) {
            add(&self.bias, row);
            let Some(ProductNorm { together, epsilon, g, b }) = &self.norm else { continue };
            for part in [0..*together, *together..width].into_iter().filter(|part| !part.is_empty()) {
                heads::norm(&mut row[part.clone()], &g[part.clone()], &b[part], *epsilon);
            }
        }
    }
}

/// W x and what follows it.
#[derive(Debug)]
pub struct PackedProduct {
    w: Arc<Packed>,
    width: usize,
    end: ProductEnd,
}

impl PackedProduct {
    fn of(weights: &Weights, names: &[String], width: usize, end: ProductEnd) -> Result<Self> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let w = Arc::new(super::pack(weights, &names, width)?);
        weights.hand_over(names.into_iter(), &w);
        Ok(Self { w, width, end })
    }

    pub fn dense(weights: &Weights, name: &str, norm: NematusNorm, has_bias: bool) -> Result<Self> {
        let matrix = format!("{name}.W");
        let width = weights.rows(&matrix)?.width;
        Self::of(weights, &[matrix], width, ProductEnd::dense(weights, name, norm, has_bias)?)
    }

    pub fn affine(weights: &Weights, matrix: &str, bias: Option<&str>) -> Result<Self> {
        let rows = weights.rows(matrix)?;
        let (count, width) = (rows.count, rows.width);
        let bias = bias.map_or_else(|| Ok(vec![0.0; count]), |name| weights.numbers(name))?;
        Self::of(weights, &[matrix.to_owned()], width, ProductEnd { bias, norm: None })
    }

    pub fn apply(&self, threads: usize, x: &[f32]) -> Vec<f32> {
        let (rows, wide) = (x.len() / self.width, self.w.columns());
        let mut y = vec![0.0; rows * wide];
        self.w.apply_on(threads, rows, x, self.width, &mut y, wide, Onto::Zero);
        self.end.finish(&mut y);
        y
    }
}

/// What a unit keeps from one step to the next, [rows, n] each.
#[derive(Clone, Debug, Default)]
pub struct UnitRows {
    pub s: Vec<f32>,
    pub c: Vec<f32>,
}

impl UnitRows {
    pub fn of(states: &[Vec<f32>], size: usize) -> Vec<Self> {
        states.chunks(size).map(|own| Self { s: own[0].clone(), c: own.get(1).cloned().unwrap_or_default() }).collect()
    }

    pub fn vectors(units: Vec<Self>) -> Vec<Vec<f32>> {
        units.into_iter().flat_map(|unit| [unit.s, unit.c]).filter(|vector| !vector.is_empty()).collect()
    }

    pub fn start(s: Vec<f32>, kind: NematusUnit) -> Self {
        Self { c: if kind == NematusUnit::Lstm { s.clone() } else { Vec::new() }, s }
    }

    pub fn concat(&self, other: &Self, n: usize) -> Self {
        Self { s: side_by_side((&self.s, n), (&other.s, n)), c: side_by_side((&self.c, n), (&other.c, n)) }
    }
}

pub fn side_by_side((a, wide): (&[f32], usize), (b, other): (&[f32], usize)) -> Vec<f32> {
    a.chunks_exact(wide).zip(b.chunks_exact(other)).flat_map(|(a, b)| a.iter().chain(b)).copied().collect()
}

/// A recurrent unit.
#[derive(Debug)]
pub struct PackedUnit {
    place: UnitPlace,
    n: usize,
    /// The first columns of W, as many as its own input has numbers; `None` where the caller multiplies.
    w: Option<(Arc<Packed>, usize)>,
    end: ProductEnd,
    u: PackedProduct,
    still: Vec<f32>,
}

pub fn of_gates(prefix: &str, letter: &str, place: UnitPlace) -> Vec<String> {
    place.gates().iter().map(|gate| format!("{prefix}.{letter}{gate}")).collect()
}

impl PackedUnit {
    pub fn new(weights: &Weights, prefix: &str, place: UnitPlace, n: usize, own: usize) -> Result<Self> {
        let numbers = |letter: &str| {
            let names = of_gates(prefix, letter, place);
            stack(weights, &names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let b = numbers("b")?;
        let zeros = vec![0.0; b.len()];
        let end = |letter: &str, takes_bias: bool| {
            let mut end = ProductEnd { bias: zeros.clone(), norm: None };
            if place.is_normed {
                let (together, epsilon) =
                    if place.is_apart() { (2 * n, NEMATUS_EPSILON) } else { (b.len(), MARIAN_EPSILON) };
                let g = numbers(&format!("{letter}_norm.g"))?;
                let own = if place.is_apart() { numbers(&format!("{letter}_norm.b"))? } else { zeros.clone() };
                end.norm = Some(ProductNorm { together, epsilon: epsilon as f32, g, b: own });
            }
            let mut behind = if takes_bias { b.clone() } else { zeros.clone() };
            if place.kind == NematusUnit::GruCudnn && letter == "U" && !place.resets_bias {
                add(&weights.numbers(&format!("{prefix}.b_u"))?, &mut behind[2 * n..]);
            }
            match &mut end.norm {
                Some(norm) if !place.is_apart() => norm.b = behind,
                _ => end.bias = behind,
            }
            Result::Ok(end)
        };
        let reads = place.input > 0;
        let w = if own == place.input {
            let names = of_gates(prefix, "W", place);
            reads.then(|| PackedProduct::of(weights, &names, own, ProductEnd::default()).map(|whole| whole.w))
        } else {
            let part = |w: Vec<f32>| Arc::new(Packed::compact(&columns(&w, place.input, 0, own), b.len(), own));
            (own > 0).then(|| numbers("W").map(part))
        };
        Ok(Self {
            w: w.transpose()?.map(|w| (w, own)),
            end: if reads { end("W", !place.resets_bias)? } else { ProductEnd::default() },
            u: PackedProduct::of(weights, &of_gates(prefix, "U", place), n, end("U", place.resets_bias)?)?,
            still: if reads || place.resets_bias { zeros.clone() } else { b.clone() },
            place,
            n,
        })
    }

    pub fn wide(&self) -> usize {
        self.still.len()
    }

    /// What the gates read of the rows of x, added to what the caller has made of the rest, [rows, wide].
    pub fn input(&self, threads: usize, x: &[f32], mut made: Vec<f32>) -> Vec<f32> {
        if let Some((w, own)) = &self.w {
            w.apply_on(threads, x.len() / own, x, *own, &mut made, self.wide(), Onto::C);
        }
        self.end.finish(&mut made);
        made
    }

    pub fn next(&self, threads: usize, x: Option<&[f32]>, before: &UnitRows) -> UnitRows {
        let (n, rows) = (self.n, before.s.len() / self.n);
        let mut from_state = self.u.apply(threads, &before.s);
        let still = x.is_none().then(|| self.still.repeat(rows));
        let x = x.or(still.as_deref()).unwrap_or_default();
        let mut s = vec![0.0; rows * n];
        if self.place.kind == NematusUnit::Lstm {
            add(x, &mut from_state);
            let mut c = vec![0.0; rows * n];
            lstm::cell(n, &mut from_state, &before.c, &before.s, None, &mut c, &mut s);
            return UnitRows { s, c };
        }
        // its reset gate acts behind the product, as that of Cho's decoder
        let [mut z, mut r, mut proposal] = [(); 3].map(|()| vec![0.0; rows * n]);
        gru::cho_decoder(n, x, &from_state, &before.s, &mut z, &mut r, &mut proposal, &mut s);
        UnitRows { s, c: Vec::new() }
    }

    pub fn step(&self, threads: usize, x: &[f32], before: &UnitRows) -> UnitRows {
        let made = vec![0.0; before.s.len() / self.n * self.wide()];
        self.next(threads, Some(&self.input(threads, x, made)), before)
    }
}

/// Units one after the other; the first reads the input of the layer.
#[derive(Debug)]
pub struct PackedLayer(pub Vec<PackedUnit>);

impl PackedLayer {
    pub fn pass(&self, threads: usize, done: usize, state: UnitRows) -> UnitRows {
        self.0.iter().skip(done).fold(state, |state, unit| unit.next(threads, None, &state))
    }

    /// All states s of the sources, [t_x, b, n], of x [t_x, b, ..], and the state where it ends.
    pub fn read(&self, threads: usize, x: &[f32], sources: &Sources, direction: Direction) -> (Vec<f32>, UnitRows) {
        let (first, b) = (&self.0[0], sources.lengths.len());
        let (n, wide) = (first.n, first.wide());
        let input = first.input(threads, x, vec![0.0; sources.t_x * b * wide]);
        let mut state = UnitRows::start(vec![0.0; b * n], first.place.kind);
        let mut states = vec![0.0; sources.t_x * b * n];
        for t in direction.order(sources.t_x, false) {
            let mut next = first.next(threads, Some(&input[t * b * wide..(t + 1) * b * wide]), &state);
            next = self.pass(threads, 1, next);
            for row in (0..b).filter(|row| !sources.live[t * b + row]) {
                let at = row * n..(row + 1) * n;
                next.s[at.clone()].copy_from_slice(&state.s[at.clone()]);
                if !next.c.is_empty() {
                    next.c[at.clone()].copy_from_slice(&state.c[at]);
                }
            }
            state = next;
            states[t * b * n..(t + 1) * b * n].copy_from_slice(&state.s);
        }
        (states, state)
    }
}
