//! The kernels of a card beside the same in tensors. They need an NVIDIA card; without one there is nothing to compare.

use candle_core::{DType, Device, Tensor};
use interlinear::nn::device::{DeviceChoice, pick};
use interlinear::training::card::attend::{Attend, Place};
use interlinear::training::card::kernels::{
    AdditiveLook, LstmInput, UnitInput, cho_step, cho_step_back, cross_entropy, cross_entropy_back, gates, gates_back,
    lstm_step, lstm_step_back, propose, propose_back, scatter,
};
use interlinear::training::card::launch::ready;

fn wave(shape: &[usize], phase: f64, device: &Device) -> Tensor {
    let count: usize = shape.iter().product();
    let all: Vec<f32> = (0..count).map(|k| ((k as f64 * 0.7 + phase).sin() * 0.8) as f32).collect();
    Tensor::from_vec(all, shape, device).expect("a tensor")
}

fn results([b, n, t_x, t_y, k_y]: [usize; 5], device: &Device) -> Vec<(&'static str, Tensor)> {
    let w = |shape: &[usize], phase: f64| wave(shape, phase, device);
    let (x, c, a, p) = (w(&[b, 3 * n], 1.0), w(&[b, 3 * n], 2.0), w(&[b, 2 * n], 3.0), w(&[b, n], 4.0));
    let (s_prev, d) = (w(&[b, n], 5.0), w(&[b, n], 6.0));
    let mask: Vec<f32> = (0..b).map(|k| if k % 3 == 1 { 0.0 } else { 1.0 }).collect();
    let mask = Tensor::from_vec(mask, (b, 1), device).expect("a mask");
    let mut all = Vec::new();
    for (c, mask) in [(None, Some(&mask)), (Some(&c), None)] {
        let input = UnitInput { x: &x, c };
        let gated = gates(input, &a, &s_prev).expect("gates");
        let next = propose(input, &p, &gated, &s_prev, mask).expect("a state");
        let parts = [Some(&d), None, Some(&p), None];
        let back = propose_back(parts, &gated, &next.get(1).expect("s~"), &s_prev, mask).expect("back");
        let (read, skipping) = gates_back(&d, &back, &gated, &s_prev).expect("back");
        all.extend([("gates", gated), ("propose", next), ("propose_back", back)]);
        all.extend([("gates_back", read), ("gates_back, s'", skipping)]);
    }
    let words: Vec<f32> = (0..b * t_x).map(|k| if k % t_x <= k / t_x % t_x { 1.0 } else { 0.0 }).collect();
    let look = AdditiveLook {
        keys: w(&[b, t_x, n], 7.0),
        v: w(&[n], 8.0),
        mask: Tensor::from_vec(words, (b, t_x), device).expect("a mask"),
    };
    let alpha = look.look(&s_prev).expect("alpha");
    let (de, dq) = look.back(&s_prev, &alpha, [&w(&[b, t_x], 9.0), &w(&[b, t_x], 10.0)]).expect("back");
    let (keys, v) = look.keys_back(&w(&[t_y, b, n], 11.0), &w(&[t_y, b, t_x], 12.0)).expect("back");
    all.extend([("look", alpha), ("de", de), ("dq", dq), ("keys", keys), ("v", v)]);
    all.extend(of_luong_and_cho([b, n, t_x], &mask, &look.mask, device));
    let ids: Vec<u32> = (0..b as u32).map(|k| k * k % 5).collect();
    let ids = Tensor::from_vec(ids, b, device).expect("ids");
    all.push(("scatter", scatter(6, &ids, &d).expect("rows")));
    let (logits, bias) = (w(&[b, k_y], 13.0), w(&[k_y], 14.0));
    let found = cross_entropy(&logits, &bias, &ids).expect("losses");
    let back = cross_entropy_back([&logits, &bias, &ids], &found, &w(&[b], 15.0), 0.1).expect("back");
    all.extend([("cross_entropy", found), ("cross_entropy_back", back)]);
    all
}

fn of_luong_and_cho(
    [b, n, t_x]: [usize; 3], stays: &Tensor, words: &Tensor, device: &Device,
) -> Vec<(&'static str, Tensor)> {
    let w = |shape: &[usize], phase: f64| wave(shape, phase, device);
    let (x, p, q) = (w(&[b, 4 * n], 1.0), w(&[b, 4 * n], 2.0), w(&[1, 4 * n], 3.0));
    let (h, c, d, dc) = (w(&[b, n], 5.0), w(&[b, n], 6.0), w(&[b, n], 7.0), w(&[b, n], 8.0));
    let mut all = Vec::new();
    for (x, products, mask) in [(&x, [Some(&p), None], Some(stays)), (&q, [Some(&p), Some(&x)], None)] {
        let step = lstm_step(LstmInput { x, products }, [&h, &c], mask).expect("a step");
        let back = lstm_step_back([Some(&d), None, Some(&h), None], Some(&dc), &step, &c, mask).expect("back");
        all.extend([("lstm", step), ("lstm, read", back.read), ("lstm, h'", back.h), ("lstm, c'", back.c)]);
    }
    let (x, a, context) = (w(&[b, 3 * n], 1.0), w(&[b, 3 * n], 2.0), w(&[b, 3 * n], 3.0));
    let step = cho_step(&x, &a, &context, &h).expect("a step");
    let back = cho_step_back([Some(&d), None, Some(&c)], &step, &h).expect("back");
    all.extend([("cho", step), ("cho, x", back.x), ("cho, a", back.a), ("cho, s'", back.skipping)]);
    let place = Place { w_p: w(&[n, n], 9.0), v_p: w(&[n], 10.0), window: 2 };
    for place in [None, Some(place)] {
        let attend = Attend { keys: w(&[b, t_x, n], 11.0), mask: words.clone(), place };
        let looked = attend.look(&h).expect("alpha");
        let (first, second) = (w(&[b, t_x], 12.0), w(&[b, t_x], 13.0));
        let back = attend.back(&looked, [Some(&first), Some(&second)]).expect("back");
        all.extend([("attend", looked.alpha), ("attend, e", back.e)]);
        all.extend(
            back.place.into_iter().flat_map(|(inner, score)| [("attend, p", inner), ("attend, p's score", score)]),
        );
    }
    all
}

#[test]
fn kernels_compute_what_tensors_do() {
    let Ok(card) = pick(DeviceChoice::Cuda(0)) else {
        return eprintln!("nothing was compared: there is no card");
    };
    ready(&card.candle).expect("kernels");
    for sizes in [[1, 1, 1, 1, 5], [3, 33, 7, 4, 300], [40, 257, 300, 9, 1000]] {
        let expected = results(sizes, &Device::Cpu);
        for ((name, found), (_, expected)) in results(sizes, &card.candle).into_iter().zip(expected) {
            let numbers = |tensor: &Tensor| tensor.flatten_all()?.to_dtype(DType::F32)?.to_vec1::<f32>();
            let (found, expected) = (numbers(&found).expect("numbers"), numbers(&expected).expect("numbers"));
            let size = expected.iter().fold(1.0_f32, |most, x| most.max(x.abs()));
            let error = found.iter().zip(&expected).fold(0.0_f32, |most, (f, e)| most.max((f - e).abs()));
            assert!(found.len() == expected.len() && error <= 1e-4 * size, "{name} at {sizes:?}: off by {error}");
        }
    }
}
