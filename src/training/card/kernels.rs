//! What a step computes between its products of matrices, forward and back, and softmaxes: one
//! kernel each on an NVIDIA card (`kernels.cu`), and the same in tensors elsewhere, with which a test on a card compares
//! it. Nothing here is part of a graph.

use candle_core::{D, Tensor};

use crate::card::launch::{Given, LaunchGrid, launch};
use engine::nn::{sigmoid, softmax};
use engine::{error::Result, nn::linear::apply};

/// What a unit reads at a step: x = W e + b of z, r and the proposal, [b, 3n], and C c where there is a context, [b,
/// 3n].
#[derive(Clone, Copy, Debug)]
pub struct UnitInput<'a> {
    pub x: &'a Tensor,
    pub c: Option<&'a Tensor>,
}

impl UnitInput<'_> {
    /// Their sum for gate k of z, r and the proposal, [b, n].
    fn gate(&self, k: usize) -> Result<Tensor> {
        let n = self.x.dim(1)? / 3;
        let of = |tensor: &Tensor| tensor.narrow(1, k * n, n)?.contiguous();
        let x = of(self.x)?;
        Ok(match self.c {
            Some(c) => (x + of(c)?)?,
            None => x,
        })
    }
}

/// z, r and r * s', [3, b, n], from what is read, `a` = U s' of z and r, [b, 2n], and `s_prev` = s', [b, n].
pub fn gates(input: UnitInput<'_>, a: &Tensor, s_prev: &Tensor) -> Result<Tensor> {
    let (b, n) = s_prev.dims2()?;
    if s_prev.device().is_cuda() {
        let given = [
            Given::numbers(input.x, 3 * b * n),
            Given::numbers(a, 2 * b * n),
            Given::Numbers(input.c, 3 * b * n),
            Given::numbers(s_prev, b * n),
        ];
        return launch("gates", &given, &[b, n], (3, b, n), LaunchGrid::Each(b * n));
    }
    let (z, r) = ((input.gate(0)? + a.narrow(1, 0, n)?)?, (input.gate(1)? + a.narrow(1, n, n)?)?);
    let (z, r) = (sigmoid(&z)?, sigmoid(&r)?);
    let reset = (&r * s_prev)?;
    Ok(Tensor::stack(&[z, r, reset], 0)?)
}

/// s = s' + z * (s~ - s') and s~ = tanh(x + C c + p), [2, b, n], from `p` = U (r * s') and what [`gates`] gave. Where
/// `mask` [b, 1] is 0, s = s'.
pub fn propose(
    input: UnitInput<'_>, p: &Tensor, gates: &Tensor, s_prev: &Tensor, mask: Option<&Tensor>,
) -> Result<Tensor> {
    let (b, n) = s_prev.dims2()?;
    if s_prev.device().is_cuda() {
        let given = [
            Given::numbers(input.x, 3 * b * n),
            Given::numbers(p, b * n),
            Given::Numbers(input.c, 3 * b * n),
            Given::numbers(gates, 3 * b * n),
            Given::numbers(s_prev, b * n),
            Given::Numbers(mask, b),
        ];
        return launch("propose", &given, &[b, n], (2, b, n), LaunchGrid::Each(b * n));
    }
    let s_tilde = (input.gate(2)? + p)?.tanh()?;
    let step = (masked(&gates.get(0)?, mask)? * (&s_tilde - s_prev)?)?;
    Ok(Tensor::stack(&[(s_prev + step)?, s_tilde], 0)?)
}

/// From the parts of the gradient of s: those of what the sigmoid of z and the tanh read, and the part of that of s'
/// that skips the gates, [3, b, n].
pub fn propose_back(
    d: [Option<&Tensor>; 4], gates: &Tensor, s_tilde: &Tensor, s_prev: &Tensor, mask: Option<&Tensor>,
) -> Result<Tensor> {
    let (b, n) = s_prev.dims2()?;
    if s_prev.device().is_cuda() {
        let given = [
            Given::Numbers(d[0], b * n),
            Given::Numbers(d[1], b * n),
            Given::Numbers(d[2], b * n),
            Given::Numbers(d[3], b * n),
            Given::numbers(gates, 3 * b * n),
            Given::numbers(s_tilde, b * n),
            Given::numbers(s_prev, b * n),
            Given::Numbers(mask, b),
        ];
        return launch("propose_back", &given, &[b, n], (3, b, n), LaunchGrid::Each(b * n));
    }
    let sum = sum_of_parts(d, s_prev)?;
    let z = gates.get(0)?;
    let kept = masked(&sum, mask)?;
    let dz = ((&kept * (s_tilde - s_prev)?)? * slope(&z)?)?;
    let dp = ((&kept * &z)? * s_tilde.sqr()?.affine(-1.0, 1.0)?)?;
    let ds = (sum - (kept * z)?)?;
    Ok(Tensor::stack(&[dz, dp, ds], 0)?)
}

/// The gradient of what is read, [b, 3n], and of s' but for what comes through U, [b, n], from `d_reset`, that of r *
/// s', and `back`, what [`propose_back`] gave.
pub fn gates_back(d_reset: &Tensor, back: &Tensor, gates: &Tensor, s_prev: &Tensor) -> Result<(Tensor, Tensor)> {
    let (b, n) = s_prev.dims2()?;
    let all = if s_prev.device().is_cuda() {
        let given = [
            Given::numbers(d_reset, b * n),
            Given::numbers(back, 3 * b * n),
            Given::numbers(gates, 3 * b * n),
            Given::numbers(s_prev, b * n),
        ];
        launch("gates_back", &given, &[b, n], 4 * b * n, LaunchGrid::Each(b * n))?
    } else {
        let r = gates.get(1)?;
        let dr = ((d_reset * s_prev)? * slope(&r)?)?;
        let d = Tensor::cat(&[back.get(0)?, dr, back.get(1)?], 1)?.flatten_all()?;
        let ds = (back.get(2)? + (d_reset * r)?)?.flatten_all()?;
        Tensor::cat(&[d, ds], 0)?
    };
    Ok((all.narrow(0, 0, 3 * b * n)?.reshape((b, 3 * n))?, all.narrow(0, 3 * b * n, b * n)?.reshape((b, n))?))
}

/// A step of Cho's decoder: h', z, r, U h' + C c of the proposal, and h~, [5, b, n], from `x` = W e + b, `a` = U s' and `c`
/// = C c of z, r and the proposal, [b, 3n] each, and `s_prev` = s', [b, n].
pub fn cho_step(x: &Tensor, a: &Tensor, c: &Tensor, s_prev: &Tensor) -> Result<Tensor> {
    let (b, n) = s_prev.dims2()?;
    if s_prev.device().is_cuda() {
        let given = [
            Given::numbers(x, 3 * b * n),
            Given::numbers(a, 3 * b * n),
            Given::numbers(c, 3 * b * n),
            Given::numbers(s_prev, b * n),
        ];
        return launch("cho_step", &given, &[b, n], (5, b, n), LaunchGrid::Each(b * n));
    }
    let gate = |tensor: &Tensor, k: usize| tensor.narrow(1, k * n, n)?.contiguous();
    let read = |k: usize| gate(a, k)? + gate(c, k)?;
    let (z, r) = (sigmoid(&(gate(x, 0)? + read(0)?)?)?, sigmoid(&(gate(x, 1)? + read(1)?)?)?);
    let q = read(2)?;
    let proposal = (gate(x, 2)? + (&r * &q)?)?.tanh()?;
    let s = (&proposal + (&z * (s_prev - &proposal)?)?)?;
    Ok(Tensor::stack(&[s, z, r, q, proposal], 0)?)
}

/// Gradients of what [`cho_step`] read.
#[derive(Debug)]
pub struct ChoGradients {
    /// [b, 3n].
    pub x: Tensor,
    /// Of U s', and of C c, [b, 3n].
    pub a: Tensor,
    /// Of s' but for what comes through U, [b, n].
    pub skipping: Tensor,
}

/// From the parts of the gradient of s and what [`cho_step`] gave.
pub fn cho_step_back(d: [Option<&Tensor>; 3], step: &Tensor, s_prev: &Tensor) -> Result<ChoGradients> {
    let (b, n) = s_prev.dims2()?;
    if s_prev.device().is_cuda() {
        let given = [
            Given::Numbers(d[0], b * n),
            Given::Numbers(d[1], b * n),
            Given::Numbers(d[2], b * n),
            Given::numbers(step, 5 * b * n),
            Given::numbers(s_prev, b * n),
        ];
        let all = launch("cho_step_back", &given, &[b, n], 7 * b * n, LaunchGrid::Each(b * n))?;
        let piece = |from: usize, width: usize| all.narrow(0, from * b * n, width * b * n)?.reshape((b, width * n));
        return Ok(ChoGradients { x: piece(0, 3)?, a: piece(3, 3)?, skipping: piece(6, 1)? });
    }
    let sum = sum_of_parts(d, s_prev)?;
    let part = |k: usize| step.get(k);
    let (z, r, q, proposal) = (part(1)?, part(2)?, part(3)?, part(4)?);
    let dz = ((&sum * (s_prev - &proposal)?)? * slope(&z)?)?;
    let dp = ((&sum * z.affine(-1.0, 1.0)?)? * proposal.sqr()?.affine(-1.0, 1.0)?)?;
    let dr = ((&dp * q)? * slope(&r)?)?;
    let x = Tensor::cat(&[&dz, &dr, &dp], 1)?;
    let a = Tensor::cat(&[dz, dr, (dp * r)?], 1)?;
    Ok(ChoGradients { x, a, skipping: (sum * z)? })
}

/// What a layer of an LSTM reads at a step, of i, f, o and g: x, [b, 4n] or [1, 4n], and products, [b, 4n].
#[derive(Clone, Copy, Debug)]
pub struct LstmInput<'a> {
    pub x: &'a Tensor,
    pub products: [Option<&'a Tensor>; 2],
}

/// h, c, i, f, o and g, [6, b, n], from what is read and from h' and c', [b, n]. Where `mask` [b, 1] is 0, h = h' and c =
/// c'.
pub fn lstm_step(input: LstmInput<'_>, [h, c]: [&Tensor; 2], mask: Option<&Tensor>) -> Result<Tensor> {
    let ((b, n), rows) = (h.dims2()?, input.x.dim(0)?);
    if h.device().is_cuda() {
        let given = [
            Given::numbers(input.x, 4 * rows * n),
            Given::Numbers(input.products[0], 4 * b * n),
            Given::Numbers(input.products[1], 4 * b * n),
            Given::numbers(h, b * n),
            Given::numbers(c, b * n),
            Given::Numbers(mask, b),
        ];
        return launch("lstm_step", &given, &[b, n, rows], (6, b, n), LaunchGrid::Each(b * n));
    }
    let mut all = input.x.broadcast_as((b, 4 * n))?.contiguous()?;
    for product in input.products.into_iter().flatten() {
        all = (all + product)?;
    }
    let gate = |k: usize| all.narrow(1, k * n, n)?.contiguous();
    let (i, f, o, g) = (sigmoid(&gate(0)?)?, sigmoid(&gate(1)?)?, sigmoid(&gate(2)?)?, gate(3)?.tanh()?);
    let c_new = ((&f * c)? + (&i * &g)?)?;
    let h_new = (&o * c_new.tanh()?)?;
    let stay = |old: &Tensor, new: Tensor| -> Result<Tensor> { Ok((old + masked(&(new - old)?, mask)?)?) };
    Ok(Tensor::stack(&[stay(h, h_new)?, stay(c, c_new)?, i, f, o, g], 0)?)
}

/// Gradients of what [`lstm_step`] read.
#[derive(Debug)]
pub struct LstmGradients {
    /// Of x and of each product, [b, 4n].
    pub read: Tensor,
    /// Of h' but for what comes through a product: what the mask let stay, [b, n].
    pub h: Tensor,
    /// Of c', [b, n].
    pub c: Tensor,
}

/// From the parts of the gradient of h and from that of c, what [`lstm_step`] gave and c'.
pub fn lstm_step_back(
    d: [Option<&Tensor>; 4], dc: Option<&Tensor>, step: &Tensor, c: &Tensor, mask: Option<&Tensor>,
) -> Result<LstmGradients> {
    let (b, n) = c.dims2()?;
    if c.device().is_cuda() {
        let given = [
            Given::Numbers(d[0], b * n),
            Given::Numbers(d[1], b * n),
            Given::Numbers(d[2], b * n),
            Given::Numbers(d[3], b * n),
            Given::Numbers(dc, b * n),
            Given::numbers(step, 6 * b * n),
            Given::numbers(c, b * n),
            Given::Numbers(mask, b),
        ];
        let all = launch("lstm_step_back", &given, &[b, n], 6 * b * n, LaunchGrid::Each(b * n))?;
        let piece = |from: usize, width: usize| all.narrow(0, from * b * n, width * b * n)?.reshape((b, width * n));
        return Ok(LstmGradients { read: piece(0, 4)?, h: piece(4, 1)?, c: piece(5, 1)? });
    }
    let (dh, dc) = (sum_of_parts(d, c)?, sum_of_parts([dc], c)?);
    let part = |k: usize| step.get(k);
    let (i, f, o, g, t) = (part(2)?, part(3)?, part(4)?, part(5)?, part(1)?.tanh()?);
    let (dh_new, dc_new) = (masked(&dh, mask)?, masked(&dc, mask)?);
    let (h, stays) = ((&dh - &dh_new)?, (&dc - &dc_new)?);
    let dc_new = (dc_new + ((&dh_new * &o)? * t.sqr()?.affine(-1.0, 1.0)?)?)?;
    let di = ((&dc_new * &g)? * slope(&i)?)?;
    let df = ((&dc_new * c)? * slope(&f)?)?;
    let d_o = ((dh_new * t)? * slope(&o)?)?;
    let dg = ((&dc_new * i)? * g.sqr()?.affine(-1.0, 1.0)?)?;
    Ok(LstmGradients { read: Tensor::cat(&[di, df, d_o, dg], 1)?, h, c: (stays + (dc_new * f)?)? })
}

fn sum_of_parts<const N: usize>(d: [Option<&Tensor>; N], like: &Tensor) -> Result<Tensor> {
    let mut sum = like.zeros_like()?;
    for d in d.into_iter().flatten() {
        sum = (sum + d)?;
    }
    Ok(sum)
}

/// y (1 - y), the slope of the sigmoid where it is y.
fn slope(y: &Tensor) -> Result<Tensor> {
    Ok((y * y.affine(-1.0, 1.0)?)?)
}

/// What the additive alignment model is asked: keys [b, t_x, n'], v_a [n'] and where words are, [b, t_x].
#[derive(Clone, Debug)]
pub struct AdditiveLook {
    pub keys: Tensor,
    pub v: Tensor,
    pub mask: Tensor,
}

impl AdditiveLook {
    fn matches(&self, query: &Tensor) -> Result<Tensor> {
        Ok(self.keys.broadcast_add(&query.unsqueeze(1)?)?.tanh()?)
    }

    /// alpha [b, t_x] for `query` = W_a s', [b, n'].
    pub fn look(&self, query: &Tensor) -> Result<Tensor> {
        let (b, t_x, n_a) = self.keys.dims3()?;
        if query.device().is_cuda() {
            let given = [
                Given::numbers(&self.keys, b * t_x * n_a),
                Given::numbers(query, b * n_a),
                Given::numbers(&self.v, n_a),
                Given::numbers(&self.mask, b * t_x),
            ];
            return launch("look", &given, &[t_x, n_a], (b, t_x), LaunchGrid::Rows { rows: b, shared: t_x });
        }
        let e = apply(&self.v.unsqueeze(0)?, &self.matches(query)?)?.squeeze(2)?;
        softmax::masked(&e, &self.mask)
    }

    /// The gradients of the energies, [b, t_x], and of the query, [b, n'], from the two parts of that of alpha.
    pub fn back(&self, query: &Tensor, alpha: &Tensor, d: [&Tensor; 2]) -> Result<(Tensor, Tensor)> {
        let (b, t_x, n_a) = self.keys.dims3()?;
        if query.device().is_cuda() {
            let given = [
                Given::numbers(&self.keys, b * t_x * n_a),
                Given::numbers(query, b * n_a),
                Given::numbers(&self.v, n_a),
                Given::numbers(alpha, b * t_x),
                Given::numbers(d[0], b * t_x),
                Given::numbers(d[1], b * t_x),
            ];
            let grid = LaunchGrid::Rows { rows: b, shared: t_x };
            let all = launch("look_back", &given, &[b, t_x, n_a], b * (t_x + n_a), grid)?;
            let (de, dq) = (all.narrow(0, 0, b * t_x)?, all.narrow(0, b * t_x, b * n_a)?);
            return Ok((de.reshape((b, t_x))?, dq.reshape((b, n_a))?));
        }
        let d = (d[0] + d[1])?;
        let dot = (alpha * &d)?.sum_keepdim(D::Minus1)?;
        let de = (alpha * d.broadcast_sub(&dot)?)?;
        let slope = self.matches(query)?.sqr()?.affine(-1.0, 1.0)?;
        let dq = de.unsqueeze(1)?.matmul(&slope)?.squeeze(1)?.broadcast_mul(&self.v)?;
        Ok((de, dq))
    }

    /// The gradients of the keys and of v_a from the queries, [t_y, b, n'], and gradients of the energies, [t_y, b,
    /// t_x], of all steps.
    pub fn keys_back(&self, queries: &Tensor, de: &Tensor) -> Result<(Tensor, Tensor)> {
        let ((b, t_x, n_a), t_y) = (self.keys.dims3()?, queries.dim(0)?);
        if queries.device().is_cuda() {
            let given = [
                Given::numbers(&self.keys, b * t_x * n_a),
                Given::numbers(queries, t_y * b * n_a),
                Given::numbers(&self.v, n_a),
                Given::numbers(de, t_y * b * t_x),
            ];
            let grid = LaunchGrid::Rows { rows: b * t_x, shared: 0 };
            let all = launch("look_keys", &given, &[t_y, b, t_x, n_a], (2, b * t_x, n_a), grid)?;
            let ones = Tensor::ones((1, b * t_x), all.dtype(), all.device())?;
            return Ok((all.get(0)?.reshape((b, t_x, n_a))?, ones.matmul(&all.get(1)?)?.squeeze(0)?));
        }
        let (mut keys, mut v) = (self.keys.zeros_like()?, self.v.zeros_like()?);
        for i in 0..t_y {
            let (matches, de) = (self.matches(&queries.get(i)?)?, de.get(i)?.unsqueeze(2)?);
            keys = (keys + matches.sqr()?.affine(-1.0, 1.0)?.broadcast_mul(&self.v)?.broadcast_mul(&de)?)?;
            v = (v + matches.broadcast_mul(&de)?.sum((0, 1))?)?;
        }
        Ok((keys, v))
    }
}

/// Zeros of `rows` rows, to those of the `ids`, each below `rows`, of which the rows of `d` [ids, m] are added.
pub fn scatter(rows: usize, ids: &Tensor, d: &Tensor) -> Result<Tensor> {
    let (count, m) = d.dims2()?;
    if d.device().is_cuda() {
        let given = [Given::Ids(ids, count), Given::numbers(d, count * m)];
        return launch("scatter", &given, &[count, m, rows], (rows, m), LaunchGrid::Each(count * m));
    }
    Ok(Tensor::zeros((rows, m), d.dtype(), d.device())?.index_add(ids, d, 0)?)
}

/// For each row of o = `logits` + `bias`: -log p(y), log sum_k exp(o_k) and the mean of o, [3, rows]. Each of `y` is
/// below K_y.
pub fn cross_entropy(logits: &Tensor, bias: &Tensor, y: &Tensor) -> Result<Tensor> {
    let (rows, k_y) = logits.dims2()?;
    if logits.device().is_cuda() {
        let given = [Given::numbers(logits, rows * k_y), Given::numbers(bias, k_y), Given::Ids(y, rows)];
        return launch("cross_entropy", &given, &[rows, k_y], (3, rows), LaunchGrid::Rows { rows, shared: 0 });
    }
    let o = logits.broadcast_add(bias)?;
    let most = o.max_keepdim(D::Minus1)?;
    let log_sum = (o.broadcast_sub(&most)?.exp()?.sum(D::Minus1)?.log()? + most.squeeze(1)?)?;
    let chosen = o.gather(&y.unsqueeze(1)?, 1)?.squeeze(1)?;
    Ok(Tensor::stack(&[(&log_sum - chosen)?, log_sum, o.mean(D::Minus1)?], 0)?)
}

/// The gradient of the logits from `d` [rows], that of each row's (1 - eps) (-log p(y)) + eps (-mean log p).
pub fn cross_entropy_back([logits, bias, y]: [&Tensor; 3], found: &Tensor, d: &Tensor, epsilon: f64) -> Result<Tensor> {
    let (rows, k_y) = logits.dims2()?;
    if logits.device().is_cuda() {
        let epsilon = Tensor::new(&[epsilon as f32], logits.device())?;
        let given = [
            Given::numbers(logits, rows * k_y),
            Given::numbers(bias, k_y),
            Given::Ids(y, rows),
            Given::numbers(found, 3 * rows),
            Given::numbers(d, rows),
            Given::numbers(&epsilon, 1),
        ];
        let grid = LaunchGrid::Rows { rows, shared: 0 };
        return launch("cross_entropy_back", &given, &[rows, k_y], (rows, k_y), grid);
    }
    let p = logits.broadcast_add(bias)?.broadcast_sub(&found.get(1)?.unsqueeze(1)?)?.exp()?;
    let chosen = Tensor::full((1.0 - epsilon) as f32, (rows, 1), p.device())?;
    let wanted = p.zeros_like()?.scatter_add(&y.unsqueeze(1)?, &chosen, 1)?.affine(1.0, epsilon / k_y as f64)?;
    Ok((p - wanted)?.broadcast_mul(&d.unsqueeze(1)?)?)
}

fn masked(x: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
    Ok(match mask {
        Some(mask) => x.broadcast_mul(mask)?,
        None => x.clone(),
    })
}
