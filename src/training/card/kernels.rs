//! Floor 6: the elementwise work of a step, forward and back: one kernel each on an NVIDIA card (`kernels.cu`), and the
//! same in tensors elsewhere, which is what they are tested by. Nothing here is part of a graph.

use candle_core::{D, Tensor};

use crate::error::Result;
use crate::nn::linear::apply;
use crate::nn::{sigmoid, softmax};
use crate::training::card::launch::{Grid, launch};

/// What a unit reads at a step: x = W e + b of z, r and the proposal, [b, 3n], and C c where there is a context, [b, 3n].
#[derive(Clone, Copy, Debug)]
pub struct Read<'a> {
    /// W e + b.
    pub x: &'a Tensor,
    /// C c.
    pub c: Option<&'a Tensor>,
}

impl Read<'_> {
    /// Their sum for gate k of z, r and the proposal, [b, n].
    fn gate(&self, k: usize) -> Result<Tensor> {
        let n = self.x.dim(1)? / 3;
        let of = |tensor: &Tensor| Ok::<_, candle_core::Error>(tensor.narrow(1, k * n, n)?.contiguous()?);
        let x = of(self.x)?;
        Ok(match self.c {
            Some(c) => (x + of(c)?)?,
            None => x,
        })
    }
}

/// z, r and r * s', [3, b, n], from what is read, `a` = U s' of z and r, [b, 2n], and s', [b, n].
pub fn gates(read: Read<'_>, a: &Tensor, s: &Tensor) -> Result<Tensor> {
    let (b, n) = s.dims2()?;
    if s.device().is_cuda() {
        return launch("gates", &[Some(read.x), Some(a), read.c, Some(s)], &[b, n], (3, b, n), Grid::Each(b * n));
    }
    let (z, r) = ((read.gate(0)? + a.narrow(1, 0, n)?)?, (read.gate(1)? + a.narrow(1, n, n)?)?);
    let (z, r) = (sigmoid(&z)?, sigmoid(&r)?);
    let r_s = (&r * s)?;
    Ok(Tensor::stack(&[z, r, r_s], 0)?)
}

/// s = s' + z * (s~ - s') and s~ = tanh(x + C c + p), [2, b, n], from `p` = U (r * s'). Where `mask` [b, 1] is 0, s = s'.
pub fn propose(read: Read<'_>, p: &Tensor, gates: &Tensor, s: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
    let (b, n) = s.dims2()?;
    if s.device().is_cuda() {
        let inputs = [Some(read.x), Some(p), read.c, Some(gates), Some(s), mask];
        return launch("propose", &inputs, &[b, n], (2, b, n), Grid::Each(b * n));
    }
    let proposal = (read.gate(2)? + p)?.tanh()?;
    let step = (masked(&gates.get(0)?, mask)? * (&proposal - s)?)?;
    Ok(Tensor::stack(&[(s + step)?, proposal], 0)?)
}

/// From the parts of the gradient of s: those of what the sigmoid of z and the tanh read, and the part of s' that skips the
/// gates, [3, b, n].
pub fn propose_back(
    d: [Option<&Tensor>; 4],
    gates: &Tensor,
    proposal: &Tensor,
    s: &Tensor,
    mask: Option<&Tensor>,
) -> Result<Tensor> {
    let (b, n) = s.dims2()?;
    if s.device().is_cuda() {
        let inputs = [d[0], d[1], d[2], d[3], Some(gates), Some(proposal), Some(s), mask];
        return launch("propose_back", &inputs, &[b, n], (3, b, n), Grid::Each(b * n));
    }
    let mut sum = s.zeros_like()?;
    for d in d.into_iter().flatten() {
        sum = (sum + d)?;
    }
    let z = gates.get(0)?;
    let kept = masked(&sum, mask)?;
    let dz = ((&kept * (proposal - s)?)? * (&z * z.affine(-1.0, 1.0)?)?)?;
    let dp = ((&kept * &z)? * proposal.sqr()?.affine(-1.0, 1.0)?)?;
    let ds = (sum - (kept * z)?)?;
    Ok(Tensor::stack(&[dz, dp, ds], 0)?)
}

/// The gradient of what is read, [b, 3n], and of s' but for what comes through U, [b, n], from `drs`, that of r * s', and
/// what [`propose_back`] gave.
pub fn gates_back(drs: &Tensor, back: &Tensor, gates: &Tensor, s: &Tensor) -> Result<(Tensor, Tensor)> {
    let (b, n) = s.dims2()?;
    let all = if s.device().is_cuda() {
        let inputs = [Some(drs), Some(back), Some(gates), Some(s)];
        launch("gates_back", &inputs, &[b, n], 4 * b * n, Grid::Each(b * n))?
    } else {
        let r = gates.get(1)?;
        let dr = ((drs * s)? * (&r * r.affine(-1.0, 1.0)?)?)?;
        let d = Tensor::cat(&[back.get(0)?, dr, back.get(1)?], 1)?.flatten_all()?;
        let ds = (back.get(2)? + (drs * r)?)?.flatten_all()?;
        Tensor::cat(&[d, ds], 0)?
    };
    Ok((all.narrow(0, 0, 3 * b * n)?.reshape((b, 3 * n))?, all.narrow(0, 3 * b * n, b * n)?.reshape((b, n))?))
}

/// What the additive alignment model is asked: keys [b, t_x, n'], v_a [n'] and where words are, [b, t_x].
#[derive(Clone, Debug)]
pub struct Look {
    /// U_a h_j + b_a.
    pub keys: Tensor,
    /// v_a.
    pub v: Tensor,
    /// 1 at words, 0 at padding.
    pub mask: Tensor,
}

impl Look {
    /// tanh(keys + query), [b, t_x, n'].
    fn matches(&self, query: &Tensor) -> Result<Tensor> {
        Ok(self.keys.broadcast_add(&query.unsqueeze(1)?)?.tanh()?)
    }

    /// alpha [b, t_x] for `query` = W_a s', [b, n'].
    pub fn look(&self, query: &Tensor) -> Result<Tensor> {
        let (b, t_x, n) = self.keys.dims3()?;
        if query.device().is_cuda() {
            let inputs = [Some(&self.keys), Some(query), Some(&self.v), Some(&self.mask)];
            return launch("look", &inputs, &[t_x, n], (b, t_x), Grid::Rows { rows: b, shared: t_x });
        }
        let e = apply(&self.v.unsqueeze(0)?, &self.matches(query)?)?.squeeze(2)?;
        softmax::masked(&e, &self.mask)
    }

    /// The gradients of the energies, [b, t_x], and of the query, [b, n'], from the two parts of that of alpha.
    pub fn back(&self, query: &Tensor, alpha: &Tensor, d: [&Tensor; 2]) -> Result<(Tensor, Tensor)> {
        let (b, t_x, n) = self.keys.dims3()?;
        if query.device().is_cuda() {
            let inputs = [Some(&self.keys), Some(query), Some(&self.v), Some(alpha), Some(d[0]), Some(d[1])];
            let grid = Grid::Rows { rows: b, shared: t_x };
            let all = launch("look_back", &inputs, &[b, t_x, n], b * (t_x + n), grid)?;
            let (de, dq) = (all.narrow(0, 0, b * t_x)?, all.narrow(0, b * t_x, b * n)?);
            return Ok((de.reshape((b, t_x))?, dq.reshape((b, n))?));
        }
        let d = (d[0] + d[1])?;
        let dot = (alpha * &d)?.sum_keepdim(D::Minus1)?;
        let de = (alpha * d.broadcast_sub(&dot)?)?;
        let slope = self.matches(query)?.sqr()?.affine(-1.0, 1.0)?;
        let dq = de.unsqueeze(1)?.matmul(&slope)?.squeeze(1)?.broadcast_mul(&self.v)?;
        Ok((de, dq))
    }

    /// The gradients of the keys and of v_a from the queries, [t_y, b, n'], and gradients of the energies, [t_y, b, t_x],
    /// of all steps.
    pub fn keys_back(&self, queries: &Tensor, de: &Tensor) -> Result<(Tensor, Tensor)> {
        let ((b, t_x, n), t_y) = (self.keys.dims3()?, queries.dim(0)?);
        if queries.device().is_cuda() {
            let inputs = [Some(&self.keys), Some(queries), Some(&self.v), Some(de)];
            let grid = Grid::Rows { rows: b * t_x, shared: 0 };
            let all = launch("look_keys", &inputs, &[t_y, b, t_x, n], (2, b * t_x, n), grid)?;
            let ones = Tensor::ones((1, b * t_x), all.dtype(), all.device())?;
            return Ok((all.get(0)?.reshape((b, t_x, n))?, ones.matmul(&all.get(1)?)?.squeeze(0)?));
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

/// Zeros of `rows` rows, to those of the `ids` of which the rows of `d` [ids, m] are added.
pub fn scatter(rows: usize, ids: &Tensor, d: &Tensor) -> Result<Tensor> {
    let (count, m) = d.dims2()?;
    if d.device().is_cuda() {
        return launch("scatter", &[Some(ids), Some(d)], &[count, m], (rows, m), Grid::Each(count * m));
    }
    Ok(Tensor::zeros((rows, m), d.dtype(), d.device())?.index_add(ids, d, 0)?)
}

/// -log p(y) of each row of `logits` + `bias`, and the logarithm of the sum below the line, [2, rows].
pub fn cross_entropy(logits: &Tensor, bias: &Tensor, y: &Tensor) -> Result<Tensor> {
    let (rows, k) = logits.dims2()?;
    if logits.device().is_cuda() {
        let inputs = [Some(logits), Some(bias), Some(y)];
        return launch("cross_entropy", &inputs, &[rows, k], (2, rows), Grid::Rows { rows, shared: 0 });
    }
    let o = logits.broadcast_add(bias)?;
    let most = o.max_keepdim(D::Minus1)?;
    let log_sum = (o.broadcast_sub(&most)?.exp()?.sum(D::Minus1)?.log()? + most.squeeze(1)?)?;
    let chosen = o.gather(&y.unsqueeze(1)?, 1)?.squeeze(1)?;
    Ok(Tensor::stack(&[(&log_sum - chosen)?, log_sum], 0)?)
}

/// The gradient of the logits from `d` [rows], that of each row's loss.
pub fn cross_entropy_back(logits: &Tensor, bias: &Tensor, y: &Tensor, losses: &Tensor, d: &Tensor) -> Result<Tensor> {
    let (rows, k) = logits.dims2()?;
    if logits.device().is_cuda() {
        let inputs = [Some(logits), Some(bias), Some(y), Some(losses), Some(d)];
        return launch("cross_entropy_back", &inputs, &[rows, k], (rows, k), Grid::Rows { rows, shared: 0 });
    }
    let p = logits.broadcast_add(bias)?.broadcast_sub(&losses.get(1)?.unsqueeze(1)?)?.exp()?;
    let ones = Tensor::ones((rows, 1), p.dtype(), p.device())?;
    let chosen = p.zeros_like()?.scatter_add(&y.unsqueeze(1)?, &ones, 1)?;
    Ok((p - chosen)?.broadcast_mul(&d.unsqueeze(1)?)?)
}

fn masked(x: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
    Ok(match mask {
        Some(mask) => x.broadcast_mul(mask)?,
        None => x.clone(),
    })
}
