//! A layer of an LSTM over whole minibatches (`engine::nn::lstm`), one node of the graph.

use candle_core::Tensor;

use crate::card::kernels::{LstmInput, lstm_step, lstm_step_back};
use crate::card::node::{by_hand, flat, pieces};
use engine::{error::Result, nn::bidirectional::Direction};

/// A step with what it began from.
#[derive(Clone, Debug)]
pub struct LstmUnit {
    pub h_prev: Tensor,
    pub c_prev: Tensor,
    /// h, c, i, f, o and g, [6, b, n].
    pub step: Tensor,
}

impl LstmUnit {
    /// A step from `h` and `c`, [b, n].
    pub fn step(input: LstmInput<'_>, [h, c]: [&Tensor; 2], mask: Option<&Tensor>) -> Result<Self> {
        Ok(Self { h_prev: h.clone(), c_prev: c.clone(), step: lstm_step(input, [h, c], mask)? })
    }

    pub fn h(&self) -> Result<Tensor> {
        Ok(self.step.get(0)?)
    }

    pub fn c(&self) -> Result<Tensor> {
        Ok(self.step.get(1)?)
    }
}

/// The states after each position, [t_x, b, n], and c after the last word read, [b, n], from `x` = W e + b of i, f, o and
/// g, [t_x, b, 4n], and their U, [4n, n]; `mask` [t_x, b, 1] is 0 at padding.
pub fn read(x: &Tensor, u: &Tensor, mask: Option<&Tensor>, direction: Direction) -> Result<(Tensor, Tensor)> {
    let (t_x, b, four_n) = x.dims3()?;
    let (own, all, n) = (u.detach(), x.detach(), four_n / 4);
    let u_t = own.t()?;
    let zeros = Tensor::zeros((b, n), x.dtype(), x.device())?;
    let (mut h, mut c) = (zeros.clone(), zeros);
    let mut units: Vec<LstmUnit> = Vec::with_capacity(t_x); // in reading order
    let mask_at = move |t: usize, mask: Option<&Tensor>| mask.map(|mask| mask.get(t)).transpose();
    for t in direction.order(t_x, false) {
        let product = h.matmul(&u_t)?;
        let input = LstmInput { x: &all.get(t)?, products: [Some(&product), None] };
        let unit = LstmUnit::step(input, [&h, &c], mask_at(t, mask)?.as_ref())?;
        (h, c) = (unit.h()?, unit.c()?);
        units.push(unit);
    }
    let by_position = move |mut all: Vec<Tensor>| {
        if direction == Direction::Backward {
            all.reverse();
        }
        Tensor::stack(&all, 0)
    };
    let states = by_position(units.iter().map(LstmUnit::h).collect::<Result<_>>()?)?;
    let shapes = [[t_x, b, n], [1, b, n]];
    let mask = mask.cloned();
    let node = by_hand(&flat(&[&states, &c])?, [x, u, u], move |d| {
        let [d, dc] = pieces(&d.contiguous()?, &shapes)?;
        let mut of_c = dc.squeeze(0)?;
        let mut later: Option<[Tensor; 2]> = None;
        let mut read = Vec::with_capacity(t_x);
        for (unit, t) in units.iter().rev().zip(direction.order(t_x, true)) {
            let parts = later.as_ref();
            let of = [Some(&d.get(t)?), parts.map(|parts| &parts[0]), parts.map(|parts| &parts[1]), None];
            let back = lstm_step_back(of, Some(&of_c), &unit.step, &unit.c_prev, mask_at(t, mask.as_ref())?.as_ref())?;
            later = Some([back.h, back.read.matmul(&own)?]);
            of_c = back.c;
            read.push(back.read);
        }
        read.reverse(); // in reading order
        let before: Vec<&Tensor> = units.iter().map(|unit| &unit.h_prev).collect();
        let of_u = Tensor::cat(&read, 0)?.t()?.matmul(&Tensor::cat(&before, 0)?)?;
        Ok([Some(by_position(read)?), Some(of_u), None])
    })?;
    let [states, c] = pieces(&node, &shapes)?;
    Ok((states, c.squeeze(0)?))
}
