//! The models of Luong et al. 2015 from few large nodes: global attention and local-p, by a score that is a product.

use candle_core::Tensor;

use crate::card::attend::{Attend, LookGradients, Looked, Place};
use crate::card::kernels::{LstmInput, lstm_step_back};
use crate::card::lstm::{LstmUnit, read};
use crate::card::node::{by_hand, flat, pieces};
use crate::card::tensors::{CardHidden, CardTensors, sum_of_rows};
use engine::error::Result;
use engine::models::config::{AttentionKind, Config, LuongSizes, required};
use engine::models::{batch::Batch, loss::Regularizer};
use engine::nn::bidirectional::Direction;
use engine::nn::linear::{affine, apply};

const GATES: [&str; 4] = ["_i", "_f", "_o", "_g"];

/// Whether the configuration is one of these.
pub fn fits(config: &Config) -> bool {
    config.luong().is_some_and(|luong| {
        matches!(luong.attention, AttentionKind::Global | AttentionKind::LocalP)
            && matches!(luong.score.as_str(), "dot" | "general")
    })
}

/// h~_t and alpha.
pub fn hidden(own: &CardTensors, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<CardHidden> {
    let sizes = required(own.config.luong(), "luong")?;
    let (states, start) = encode(own, source, &sizes, regularizer)?;
    let h = states.transpose(0, 1)?.contiguous()?; // [b, t_x, n]
    let e = regularizer.drop(&own.target(target, Some(sizes.start))?)?; // [t_y, b, m]
    let first = own.stacked("decoder.0", "W", &GATES)?;
    let (m, n) = (own.config.embedding, own.config.hidden);
    let x = affine(&first.narrow(1, 0, m)?.contiguous()?, &own.stacked("decoder.0", "b", &GATES)?, &e)?;
    let dropped = (regularizer.dropout > 0.0 && sizes.layers > 1)
        .then(|| {
            let ones = (target.longest, sizes.layers - 1, target.sentences(), n);
            regularizer.drop(&Tensor::ones(ones, e.dtype(), e.device())?)
        })
        .transpose()?;
    let unit = |k: usize| format!("decoder.{k}");
    let w_c = own.get("W_c")?;
    let decoder = Decoder {
        u: (0..sizes.layers).map(|k| own.stacked(&unit(k), "U", &GATES)).collect::<Result<_>>()?,
        fed: sizes.input_feeding.then(|| first.narrow(1, m, n)?.contiguous()).transpose()?,
        upper: (1..sizes.layers)
            .map(|k| Ok((own.stacked(&unit(k), "W", &GATES)?, own.stacked(&unit(k), "b", &GATES)?)))
            .collect::<Result<_>>()?,
        attend: Attend {
            keys: if sizes.score == "dot" { h.clone() } else { apply(&own.get("attention.W_a")?, &h)? },
            mask: source.mask(h.dtype(), h.device())?,
            place: (sizes.attention == AttentionKind::LocalP)
                .then(|| {
                    let (w_p, v_p) = (own.get("attention.W_p")?, own.get("attention.v_p")?);
                    Ok::<_, engine::error::Error>(Place { w_p, v_p, window: sizes.window })
                })
                .transpose()?,
        },
        from_context: w_c.narrow(1, 0, n)?.contiguous()?,
        from_state: w_c.narrow(1, n, n)?.contiguous()?,
        start,
    };
    let (h_tilde, alpha) = decoder.decode(&x, &h, dropped)?;
    Ok(CardHidden { t: h_tilde, alpha: Some(alpha) })
}

/// The states of the top layer, [t_x, b, n], and h and c of every layer after the last word read.
fn encode(
    own: &CardTensors, source: &Batch, sizes: &LuongSizes, regularizer: &mut Regularizer,
) -> Result<(Tensor, Vec<[Tensor; 2]>)> {
    let (direction, last) =
        if sizes.reverse_source { (Direction::Backward, 0) } else { (Direction::Forward, source.longest - 1) };
    let mut states = own.source(source)?; // [t_x, b, m], then [t_x, b, n]
    let mask = source.time_mask(states.dtype(), states.device())?;
    let mut start = Vec::with_capacity(sizes.layers);
    for k in 0..sizes.layers {
        let of = |letter| own.stacked(&format!("encoder.{k}"), letter, &GATES);
        let x = affine(&of("W")?, &of("b")?, &regularizer.drop(&states)?)?;
        let (above, c) = read(&x, &of("U")?, mask.as_ref(), direction)?;
        start.push([above.get(last)?, c]);
        states = above;
    }
    Ok((states, start))
}

/// What the decoder has beside W e + b of its first layer.
struct Decoder {
    /// U of each layer, [4n, n].
    u: Vec<Tensor>,
    /// The columns of the first layer's W that read h~_{t-1}, [4n, n]; with input feeding only.
    fed: Option<Tensor>,
    /// W, [4n, n], and b, [4n], of the layers above the first.
    upper: Vec<(Tensor, Tensor)>,
    attend: Attend,
    /// The two halves of W_c, [n, n].
    from_context: Tensor,
    from_state: Tensor,
    /// h and c of each layer, [b, n].
    start: Vec<[Tensor; 2]>,
}

struct DecoderStep {
    units: Vec<LstmUnit>,
    /// What the layers above the first read: the state below with its dropout.
    below: Vec<Tensor>,
    /// h~_{t-1}.
    fed: Option<Tensor>,
    looked: Looked,
    c: Tensor,
    h_tilde: Tensor,
}

impl DecoderStep {
    fn h_t(&self) -> Result<Tensor> {
        self.units[self.units.len() - 1].h()
    }
}

impl Decoder {
    fn detached(&self) -> Self {
        let place = |place: &Place| Place { w_p: place.w_p.detach(), v_p: place.v_p.detach(), window: place.window };
        let Attend { keys, mask, place: of_place } = &self.attend;
        Self {
            u: self.u.iter().map(Tensor::detach).collect(),
            fed: self.fed.as_ref().map(Tensor::detach),
            upper: self.upper.iter().map(|(w, b)| (w.detach(), b.detach())).collect(),
            attend: Attend { keys: keys.detach(), mask: mask.clone(), place: of_place.as_ref().map(place) },
            from_context: self.from_context.detach(),
            from_state: self.from_state.detach(),
            start: self.start.iter().map(|[h, c]| [h.detach(), c.detach()]).collect(),
        }
    }

    /// All that has gradients beside x and h.
    fn parts(&self) -> Vec<&Tensor> {
        let mut all = vec![&self.attend.keys, &self.from_context, &self.from_state];
        all.extend(&self.u);
        all.extend(&self.fed);
        all.extend(self.upper.iter().flat_map(|(w, b)| [w, b]));
        all.extend(self.attend.place.iter().flat_map(|place| [&place.w_p, &place.v_p]));
        all.extend(self.start.iter().flatten());
        all
    }

    /// h~_t, [t_y, b, n], and alpha_t, [t_y, b, t_x], of all steps from `x` = W e + b, [t_y, b, 4n], and the annotations
    /// `h`, [b, t_x, n]; `dropped` is what the states that a layer above reads are multiplied by, [t_y, layers - 1, b, n].
    fn decode(&self, x: &Tensor, h: &Tensor, dropped: Option<Tensor>) -> Result<(Tensor, Tensor)> {
        let ((t_y, b, _), (_, t_x, n)) = (x.dims3()?, h.dims3()?);
        let (own, all, annotations) = (self.detached(), x.detach(), h.detach());
        let mut steps: Vec<DecoderStep> = Vec::with_capacity(t_y);
        for t in 0..t_y {
            let dropped = dropped.as_ref().map(|dropped| dropped.get(t)).transpose()?;
            steps.push(own.step(&all.get(t)?, &annotations, steps.last(), dropped.as_ref())?);
        }
        let shapes = [[t_y, b, n], [t_y, b, t_x]];
        let value = flat(&[&stacked(&steps, |step| &step.h_tilde)?, &stacked(&steps, |step| &step.looked.alpha)?])?;
        let rest = flat(&self.parts())?;
        let node = by_hand(&value, [x, h, &rest], move |d| {
            let [of_h_tilde, of_alpha] = pieces(&d.contiguous()?, &shapes)?;
            own.back(&steps, &annotations, [&of_h_tilde, &of_alpha], dropped.as_ref())
        })?;
        let [h_tilde, alpha] = pieces(&node, &shapes)?;
        Ok((h_tilde, alpha))
    }

    fn step(
        &self, x: &Tensor, annotations: &Tensor, before: Option<&DecoderStep>, dropped: Option<&Tensor>,
    ) -> Result<DecoderStep> {
        let fed = match (&self.fed, before) {
            (Some(_), Some(before)) => Some(before.h_tilde.clone()),
            _ => None,
        };
        let (mut units, mut below): (Vec<LstmUnit>, Vec<Tensor>) = (Vec::with_capacity(self.u.len()), Vec::new());
        for (k, u) in self.u.iter().enumerate() {
            let [h, c] = match before {
                Some(before) => [before.units[k].h()?, before.units[k].c()?],
                None => self.start[k].clone(),
            };
            let product = h.matmul(&u.t()?)?;
            let read = if k == 0 {
                self.fed.as_ref().zip(fed.as_ref()).map(|(w, fed)| fed.matmul(&w.t()?)).transpose()?
            } else {
                let state = units[k - 1].h()?;
                let state = match dropped {
                    Some(dropped) => (state * dropped.get(k - 1)?)?,
                    None => state,
                };
                let read = state.matmul(&self.upper[k - 1].0.t()?)?;
                below.push(state);
                Some(read)
            };
            let bias = if k > 0 { self.upper[k - 1].1.unsqueeze(0)? } else { x.clone() };
            let input = LstmInput { x: &bias, products: [Some(&product), read.as_ref()] };
            units.push(LstmUnit::step(input, [&h, &c], None)?);
        }
        let h_t = units[units.len() - 1].h()?;
        let looked = self.attend.look(&h_t)?;
        let c = looked.alpha.unsqueeze(1)?.matmul(annotations)?.squeeze(1)?;
        let h_tilde = (c.matmul(&self.from_context.t()?)? + h_t.matmul(&self.from_state.t()?)?)?.tanh()?;
        Ok(DecoderStep { units, below, fed, looked, c, h_tilde })
    }

    fn back(
        &self, steps: &[DecoderStep], h: &Tensor, [of_h_tilde, of_alpha]: [&Tensor; 2], dropped: Option<&Tensor>,
    ) -> Result<[Option<Tensor>; 3]> {
        let (t_y, layers, h_t) = (steps.len(), self.u.len(), h.transpose(1, 2)?);
        let mut done = BackSteps::new(layers);
        let mut of_fed: Option<Tensor> = None;
        let mut later: Vec<Option<[Tensor; 2]>> = vec![None; layers]; // of h_{t} through U, and of c_t
        for t in (0..t_y).rev() {
            let step = &steps[t];
            let mut d = of_h_tilde.get(t)?;
            if let Some(of_fed) = &of_fed {
                d = (d + of_fed)?;
            }
            let d = (d * step.h_tilde.sqr()?.affine(-1.0, 1.0)?)?; // of what the tanh reads
            let of_c = d.matmul(&self.from_context)?;
            let through = of_c.unsqueeze(1)?.matmul(&h_t)?.squeeze(1)?;
            let LookGradients { e, place } =
                self.attend.back(&step.looked, [Some(&of_alpha.get(t)?), Some(&through)])?;
            let mut parts = vec![d.matmul(&self.from_state)?, e.unsqueeze(1)?.matmul(&self.attend.keys)?.squeeze(1)?];
            if let (Some(place), Some((inner, _))) = (&self.attend.place, &place) {
                parts.push(inner.matmul(&place.w_p)?);
            }
            for k in (0..layers).rev() {
                let unit = &step.units[k];
                let (through, of_c) = match &later[k] {
                    Some([through, of_c]) => (Some(through), Some(of_c)),
                    None => (None, None),
                };
                let of = [parts.first(), parts.get(1), parts.get(2), through];
                let back = lstm_step_back(of, of_c, &unit.step, &unit.c_prev, None)?;
                later[k] = Some([back.read.matmul(&self.u[k])?, back.c]);
                if k == 0 {
                    of_fed = self.fed.as_ref().map(|w| back.read.matmul(w)).transpose()?;
                } else {
                    let below = back.read.matmul(&self.upper[k - 1].0)?;
                    parts = vec![match dropped {
                        Some(dropped) => (below * dropped.get(t)?.get(k - 1)?)?,
                        None => below,
                    }];
                }
                done.reads[k].push(back.read);
            }
            done.d.push(d);
            done.of_c.push(of_c);
            done.e.push(e);
            done.place.extend(place);
        }
        done.in_order();
        self.sums(steps, done, later)
    }

    /// Gradients of weights, keys and annotations, for all steps at once.
    fn sums(
        &self, steps: &[DecoderStep], done: BackSteps, later: Vec<Option<[Tensor; 2]>>,
    ) -> Result<[Option<Tensor>; 3]> {
        let tall = |all: &[Tensor]| Tensor::cat(all, 0); // [t_y * b, ..]
        let of_weights = |d: &Tensor, read: Vec<Tensor>| -> Result<Tensor> { Ok(d.t()?.matmul(&tall(&read)?)?) };
        let each = |pick: &dyn Fn(&DecoderStep) -> Result<Tensor>| steps.iter().map(pick).collect::<Result<Vec<_>>>();
        // sum_t a_t(s) b_t, [b, t_x, n], from [t_y, b, t_x] and [t_y, b, n]
        let spread = |a: &Tensor, b: &Tensor| -> Result<Tensor> {
            Ok(a.permute((1, 2, 0))?.contiguous()?.matmul(&b.transpose(0, 1)?.contiguous()?)?)
        };
        let states = each(&DecoderStep::h_t)?;
        let d = tall(&done.d)?;
        let of_keys = spread(&Tensor::stack(&done.e, 0)?, &Tensor::stack(&states, 0)?)?;
        let of_h = spread(&stacked(steps, |step| &step.looked.alpha)?, &Tensor::stack(&done.of_c, 0)?)?;
        let mut rest =
            vec![of_keys, of_weights(&d, each(&|step| Ok(step.c.clone()))?)?, of_weights(&d, states.clone())?];
        let reads = done.reads.iter().map(|reads| tall(reads)).collect::<candle_core::Result<Vec<_>>>()?;
        for (k, read) in reads.iter().enumerate() {
            rest.push(of_weights(read, each(&|step| Ok(step.units[k].h_prev.clone()))?)?);
        }
        if self.fed.is_some() {
            let zeros = steps[0].h_tilde.zeros_like()?;
            let fed = each(&|step| Ok(step.fed.clone().unwrap_or_else(|| zeros.clone())))?;
            rest.push(of_weights(&reads[0], fed)?);
        }
        for (k, read) in reads.iter().enumerate().skip(1) {
            rest.push(of_weights(read, each(&|step| Ok(step.below[k - 1].clone()))?)?);
            rest.push(sum_of_rows(read)?);
        }
        if self.attend.place.is_some() {
            let (inner, score): (Vec<Tensor>, Vec<Tensor>) = done.place.into_iter().unzip();
            rest.push(of_weights(&tall(&inner)?, states)?);
            let matches: Vec<&Tensor> = steps.iter().filter_map(|step| step.looked.inner.as_ref()).collect();
            rest.push(tall(&score)?.unsqueeze(0)?.matmul(&Tensor::cat(&matches, 0)?.tanh()?)?.squeeze(0)?);
        }
        rest.extend(later.into_iter().flatten().flatten());
        let of_x = Tensor::stack(&done.reads[0], 0)?;
        Ok([Some(of_x), Some(of_h), Some(flat(&rest.iter().collect::<Vec<_>>())?)])
    }
}

/// Gradients of each step, the last one first until [`BackSteps::in_order`].
struct BackSteps {
    /// Of what each layer reads, [b, 4n].
    reads: Vec<Vec<Tensor>>,
    /// Of what the tanh of h~_t reads, [b, n].
    d: Vec<Tensor>,
    /// Of c_t, [b, n].
    of_c: Vec<Tensor>,
    /// Of the energies, [b, t_x].
    e: Vec<Tensor>,
    place: Vec<(Tensor, Tensor)>,
}

impl BackSteps {
    fn new(layers: usize) -> Self {
        Self { reads: vec![Vec::new(); layers], d: Vec::new(), of_c: Vec::new(), e: Vec::new(), place: Vec::new() }
    }

    fn in_order(&mut self) {
        self.reads.iter_mut().chain([&mut self.d, &mut self.of_c, &mut self.e]).for_each(|all| all.reverse());
        self.place.reverse();
    }
}

/// One tensor of all steps, [t_y, b, ..].
fn stacked(steps: &[DecoderStep], pick: impl Fn(&DecoderStep) -> &Tensor) -> Result<Tensor> {
    Ok(Tensor::stack(&steps.iter().map(pick).collect::<Vec<_>>(), 0)?)
}
