//! Every fused kernel against a plain loop in f64, on random numbers and odd shapes, at every
//! level of instructions that this processor has.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use interlinear::nn::fused::{
    Level, Onto, Packed, Precision, attention, elementwise, focus, gru, lstm, output, pack, pairs, scan, team, update,
    vocabulary,
};
use interlinear::nn::{bidirectional::Direction, fused, fused::focus::Focus, fused::gru::Sense};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const LENGTHS: &[usize] = &[1, 2, 15, 16, 17, 31, 32, 33, 64, 100];

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn numbers(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(*f) - e).abs();
        // NaN fails as well
        assert!(error <= tolerance * e.abs().max(1.0), "{what}: number {i} is {f}, not {e}");
    }
}

fn at_every_level(test: impl Fn(Level)) {
    let most = fused::level();
    for level in [Level::Base, Level::Avx2, Level::Avx512].into_iter().filter(|level| *level <= most) {
        fused::at_most(level, || test(level));
    }
}

fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let mut x = x.to_vec();
    (0..x.len())
        .map(|i| {
            let here = x[i];
            x[i] = here + STEP;
            let above = f(&x);
            x[i] = here - STEP;
            let below = f(&x);
            x[i] = here;
            (above - below) / (2.0 * STEP)
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sigma(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// W x with W [rows, x.len()].
fn times(w: &[f64], x: &[f64]) -> Vec<f64> {
    w.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
}

fn product(
    m: usize, n: usize, k: usize, a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32,
    c: impl Fn(usize, usize) -> f32,
) -> Vec<f64> {
    let cell =
        |i: usize, j: usize| f64::from(c(i, j)) + (0..k).map(|l| f64::from(a(i, l)) * f64::from(b(l, j))).sum::<f64>();
    (0..m * n).map(|at| cell(at / n, at % n)).collect()
}

#[test]
fn packed_products_are_products() {
    const SHAPES: &[(usize, usize)] = &[(1, 1), (3, 5), (7, 31), (16, 64), (17, 33), (40, 70)];
    at_every_level(|level| {
        for m in 1..=27 {
            let (k, n) = SHAPES[m % SHAPES.len()];
            let (lda, ldc) = (k + 3 * (m % 2), n + 5 * (m % 3));
            let random = &mut rng(m as u64);
            let a = numbers(m * lda, random);
            let w = numbers(n * k, random);
            for (packed, by) in [(Packed::transposed(&w, n, k), (1, k)), (Packed::plain(&w, k, n), (n, 1))] {
                assert_eq!(packed.columns(), n);
                for accumulate in [false, true] {
                    let before = numbers(m * ldc, random);
                    let mut c = before.clone();
                    packed.apply(m, &a, lda, &mut c, ldc, accumulate);
                    let start = |i: usize, j: usize| if accumulate { before[i * ldc + j] } else { 0.0 };
                    let expected = product(m, n, k, |i, l| a[i * lda + l], |l, j| w[l * by.0 + j * by.1], start);
                    let found: Vec<f32> = (0..m * n).map(|at| c[at / n * ldc + at % n]).collect();
                    assert_close(&found, &expected, 1e-5, &format!("{level:?} {m} x {k} x {n}, {accumulate}"));
                    let gaps = (0..m * ldc).filter(|at| at % ldc >= n);
                    assert!(gaps.into_iter().all(|at| c[at] == before[at]), "what lies between rows is not touched");
                }
            }
        }
    });
}

fn wait(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

fn job_that_waits_for(a: std::thread::ThreadId, begun: &AtomicBool, visited: &AtomicBool) {
    begun.store(true, Ordering::Release);
    team::run(2, 2, &|_| {
        if std::thread::current().id() == a {
            visited.store(true, Ordering::Release);
        } else {
            wait(visited);
        }
    });
}

#[test]
fn who_helps_another_from_inside_a_part_does_not_lose_its_own_job() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    let [busy, begun, visited, over] = &[(); 4].map(|()| AtomicBool::new(false));
    let done: [AtomicUsize; 3] = std::array::from_fn(|_| AtomicUsize::new(0));
    let nested = AtomicUsize::new(0);
    pool.scope(|scope| {
        let a = std::thread::current().id();
        team::run(2, 3, &|part| {
            done[part].fetch_add(1, Ordering::Relaxed);
            if part == 0 {
                wait(busy);
                scope.spawn(move |_| job_that_waits_for(a, begun, visited));
                wait(begun);
                while !visited.load(Ordering::Acquire) {
                    rayon::yield_now();
                }
                team::run(2, 8, &|_| {
                    nested.fetch_add(usize::from(std::thread::current().id() == a), Ordering::Relaxed);
                });
                over.store(true, Ordering::Release);
            } else if part == 2 {
                busy.store(true, Ordering::Release);
                wait(over);
            }
        });
    });
    assert_eq!(done.each_ref().map(|done| done.load(Ordering::Relaxed)), [1, 1, 1], "each part once");
    assert_eq!(nested.load(Ordering::Relaxed), 8, "inside a part, all parts are done alone");
}

#[test]
fn products_of_bf16_factors_are_products_of_rounded_numbers() {
    const SHAPES: &[(usize, usize, usize)] =
        &[(1, 1, 1), (3, 70, 5), (13, 33, 64), (64, 64, 16), (70, 97, 33), (131, 65, 17)];
    at_every_level(|level| {
        for &(m, n, k) in SHAPES {
            let random = &mut rng((m * n + k) as u64);
            let (a, b, before) = (numbers(m * k, random), numbers(k * n, random), numbers(m * n, random));
            let (a_r, b_r) = (rounded(&a), rounded(&b));
            let what = format!("{level:?} {m} x {k} x {n}");
            let check = |found: &[f32], a: &dyn Fn(usize, usize) -> f32, b: &dyn Fn(usize, usize) -> f32, add: bool| {
                let expected = product(m, n, k, a, b, |i, j| if add { before[i * n + j] } else { 0.0 });
                assert_close(found, &expected, 1e-5, &what);
            };
            for (packed, by) in [(true, (1, k)), (false, (n, 1))] {
                let mut weight = Packed::default();
                if packed {
                    weight.pack_transposed(Precision::Bf16, &b, n, k);
                } else {
                    weight.pack_plain(Precision::Bf16, &b, k, n);
                }
                let mut c = before.clone();
                weight.apply(m, &a, k, &mut c, n, true);
                check(&c, &|i, l| a_r[i * k + l], &|l, j| b_r[l * by.0 + j * by.1], true);
            }
            // below the size that pays, factors stay as they are
            let rounds = m.min(n) >= 64 && k >= 16;
            let (a_r, b_r) = if rounds { (&a_r, &b_r) } else { (&a, &b) };
            for add in [false, true] {
                let [mut nn, mut nt, mut tn] = [(); 3].map(|()| before.clone());
                Precision::Bf16.matmul(m, n, k, &a, &b, &mut nn, add);
                Precision::Bf16.matmul_nt(m, n, k, &a, &b, &mut nt, add);
                Precision::Bf16.matmul_tn(m, n, k, &a, m, &b, n, &mut tn, add);
                check(&nn, &|i, l| a_r[i * k + l], &|l, j| b_r[l * n + j], add);
                check(&nt, &|i, l| a_r[i * k + l], &|l, j| b_r[j * k + l], add);
                check(&tn, &|i, l| a_r[l * m + i], &|l, j| b_r[l * n + j], add);
            }
        }
    });
}

fn halves(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let scale = |at: usize| if at.is_multiple_of(7) { 1e-6 } else { 1.0 };
    numbers(count, rng).iter().enumerate().map(|(at, x)| half::f16::from_f32(x * scale(at)).to_f32()).collect()
}

#[test]
fn a_weight_of_sixteen_bits_gives_the_numbers_of_one_of_thirty_two() {
    at_every_level(|level| {
        for m in 1..=14 {
            let (k, n) = [(3, 5), (17, 33), (40, 300)][m % 3];
            let random = &mut rng(m as u64);
            let (mut w, a, row) = (halves(n * k, random), numbers(m * k, random), numbers(n, random));
            let (full, half) = (Packed::transposed(&w, n, k), Packed::compact(&w, n, k));
            assert_eq!(half.is_half(), level > Level::Base, "{level:?}: kept as f16 where the processor widens it");
            for onto in [Onto::Zero, Onto::C, Onto::Row(&row)] {
                let before = numbers(m * n, random);
                let [mut by_full, mut by_half] = [(); 2].map(|()| before.clone());
                full.apply_on(1, m, &a, k, &mut by_full, n, onto);
                half.apply_on(1, m, &a, k, &mut by_half, n, onto);
                let what = format!("{level:?} {m} x {k} x {n} onto {onto:?}");
                assert_eq!(by_full, by_half, "{what}");
                let start = |i: usize, j: usize| match onto {
                    Onto::Zero => 0.0,
                    Onto::C => before[i * n + j],
                    Onto::Row(row) => row[j],
                };
                let expected = product(m, n, k, |i, l| a[i * k + l], |l, j| w[j * k + l], start);
                assert_close(&by_full, &expected, 1e-5, &what);
                let mut by_portable = before.clone();
                fused::at_most(Level::Base, || half.apply_on(1, m, &a, k, &mut by_portable, n, onto));
                assert_close(&by_portable, &expected, 1e-5, &what);
            }
            w[n * k - 1] = 0.1;
            let packed = Packed::compact(&w, n, k);
            assert!(!packed.is_half(), "0.1 is no f16, and nothing may be lost");
            let (mut whole, mut exact) = (vec![0.0; m * n], vec![0.0; m * n]);
            packed.apply(m, &a, k, &mut whole, n, false);
            Packed::transposed(&w, n, k).apply(m, &a, k, &mut exact, n, false);
            assert_eq!(whole, exact);
        }
    });
}

#[test]
fn a_row_s_product_does_not_depend_on_its_company() {
    let (k, n, most) = (50, 150, 27);
    let random = &mut rng(5);
    let (w, a) = (halves(n * k, random), numbers(most * k, random));
    at_every_level(|level| {
        for packed in [Packed::transposed(&w, n, k), Packed::compact(&w, n, k)] {
            let mut all = vec![0.0; most * n];
            packed.apply(most, &a, k, &mut all, n, false);
            for m in 1..most {
                let mut few = vec![0.0; m * n];
                packed.apply(m, &a, k, &mut few, n, false);
                assert_eq!(few, all[..m * n], "{level:?}, {m} rows");
            }
        }
    });
}

#[test]
fn sums_of_a_sentence_s_rows_are_products() {
    at_every_level(|level| {
        for (m, n, k) in [(1, 1, 1), (2, 33, 4), (5, 64, 21), (13, 100, 3)] {
            let random = &mut rng(n as u64);
            let (lda, ldb, ldc) = (k + 2, pack::padded(n) + 32, n + 1);
            let (a, b) = (numbers(m * lda, random), numbers(k * ldb, random));
            let before = numbers(m * ldc, random);
            for threads in [1, 2, 3] {
                let mut c = before.clone();
                pack::mix(threads, m, n, k, &a, lda, &b, ldb, &mut c, ldc, Onto::C);
                let start = |i: usize, j: usize| before[i * ldc + j];
                let expected = product(m, n, k, |i, l| a[i * lda + l], |l, j| b[l * ldb + j], start);
                let found: Vec<f32> = (0..m * n).map(|at| c[at / n * ldc + at % n]).collect();
                assert_close(&found, &expected, 1e-5, &format!("{level:?}, {m} x {k} x {n}, {threads} threads"));
            }
        }
    });
}

#[test]
fn a_packed_weight_can_be_packed_again_and_shared_among_threads() {
    let random = &mut rng(3);
    let mut packed = Packed::plain(&numbers(40 * 100, random), 40, 100);
    let w = numbers(7 * 33, random);
    packed.pack_transposed(Precision::F32, &w, 33, 7);
    let fresh = Packed::transposed(&w, 33, 7);
    let a = numbers(2 * 7, random);
    let (mut again, mut once) = (vec![0.0; 66], vec![0.0; 66]);
    packed.apply(2, &a, 7, &mut again, 33, false);
    fresh.apply(2, &a, 7, &mut once, 33, false);
    assert_eq!(again, once, "nothing is left of the weight before");

    // large enough that three threads are worth it
    let (m, k, n) = (2, 512, 1000);
    let packed = Packed::plain(&numbers(k * n, random), k, n);
    let a = numbers(m * (k + 1), random);
    let before = numbers(m * (n + 7), random);
    let mut alone = before.clone();
    packed.apply(m, &a, k + 1, &mut alone, n + 7, true);
    for threads in [0, 1, 2, 3, 5] {
        let mut shared = before.clone();
        packed.apply_on(threads, m, &a, k + 1, &mut shared, n + 7, Onto::C);
        assert_eq!(shared, alone, "{threads} threads give the very same numbers");
    }
}

#[test]
fn threads_share_parts_and_each_is_done_once() {
    let pools = [1, 2, 4].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool"));
    let check = |threads: usize, parts: usize| {
        let mut counts = vec![0; parts];
        team::each(threads, &mut counts, &|part, count| *count += part + 1);
        assert!(counts.iter().enumerate().all(|(part, count)| *count == part + 1), "{threads} threads, {parts} parts");
        // 70,000 parts are more than are shared out at once
        let mut rows = vec![0; parts * 3 + 1];
        team::chunks(threads, &mut rows, 3, &|part, row| row.fill(part));
        assert!(rows.iter().enumerate().all(|(at, row)| *row == at / 3), "{threads} threads, {parts} rows");
    };
    let cases = [1, 2, 3, 5].into_iter().flat_map(|threads| [0, 1, 2, 3, 100, 70_000].map(|parts| (threads, parts)));
    for (threads, parts) in cases {
        check(threads, parts);
        for pool in &pools {
            pool.install(|| check(threads, parts));
        }
    }
    // what is shared inside a part is done by its thread
    let mut outer = [[0; 7]; 5];
    team::each(3, &mut outer, &|part, inner| team::each(3, inner, &|at, x| *x = 10 * part + at));
    assert!(outer.iter().enumerate().all(|(part, inner)| inner.iter().enumerate().all(|(at, x)| *x == 10 * part + at)));
}

#[test]
fn a_panic_in_a_part_reaches_the_caller_and_ends_nothing_else() {
    for part_of_doom in 0..8 {
        let fall = || team::run(3, 8, &|part| assert_ne!(part, part_of_doom, "on purpose"));
        assert!(std::panic::catch_unwind(fall).is_err());
        let mut counts = [0; 8];
        team::each(3, &mut counts, &|_, count| *count += 1);
        assert_eq!(counts, [1; 8], "the next work is done as ever");
    }
}

#[test]
fn products_of_views_are_products() {
    for (case, (m, n, k)) in
        [(1, 1, 1), (5, 3, 7), (17, 33, 9), (1, 40, 31), (6, 1, 0), (0, 4, 3)].into_iter().enumerate()
    {
        for accumulate in [false, true] {
            let random = &mut rng(case as u64);
            let (lda, ldb) = (m + 2, n + 3);
            let (a, b) = (numbers(m * k, random), numbers(k * n, random));
            let (a_tall, b_wide) = (numbers(k * lda, random), numbers(k * ldb, random));
            let before = numbers(m * n, random);
            let start = |i: usize, j: usize| if accumulate { before[i * n + j] } else { 0.0 };
            let mut c = before.clone();
            Precision::F32.matmul(m, n, k, &a, &b, &mut c, accumulate);
            assert_close(&c, &product(m, n, k, |i, l| a[i * k + l], |l, j| b[l * n + j], start), 1e-5, "A B");
            c.copy_from_slice(&before);
            Precision::F32.matmul_nt(m, n, k, &a, &b, &mut c, accumulate);
            assert_close(&c, &product(m, n, k, |i, l| a[i * k + l], |l, j| b[j * k + l], start), 1e-5, "A W'");
            c.copy_from_slice(&before);
            Precision::F32.matmul_tn(m, n, k, &a_tall, lda, &b_wide, ldb, &mut c, accumulate);
            let expected = product(m, n, k, |i, l| a_tall[l * lda + i], |l, j| b_wide[l * ldb + j], start);
            assert_close(&c, &expected, 1e-5, "A' B");
        }
    }
}

#[test]
fn exp_and_its_children_are_accurate_everywhere() {
    for step in -20_000..=20_000 {
        let x = step as f32 * 0.005;
        let exact = f64::from(x);
        if (-87.0..=88.0).contains(&x) {
            let error = f64::from(elementwise::exp(x)) / exact.exp() - 1.0;
            assert!(error.abs() < 2.5e-7, "exp({x}) is off by a share of {error}");
        }
        let (sigmoid, tanh) = (f64::from(elementwise::sigmoid(x)), f64::from(elementwise::tanh(x)));
        assert!((sigmoid - sigma(exact)).abs() < 3e-7, "sigma({x}) = {sigmoid}");
        assert!((tanh - exact.tanh()).abs() < 3e-7, "tanh({x}) = {tanh}");
        assert!((0.0..=1.0).contains(&sigmoid) && (-1.0..=1.0).contains(&tanh), "in range at {x}");
    }
    for huge in [1e4, f32::MAX, f32::INFINITY] {
        assert!(elementwise::exp(huge).is_finite() && elementwise::exp(-huge) < 1e-37);
        assert!((elementwise::sigmoid(huge), elementwise::tanh(huge), elementwise::tanh(-huge)) == (1.0, 1.0, -1.0));
    }
    assert!(elementwise::exp(f32::NAN).is_nan() && elementwise::tanh(f32::NAN).is_nan(), "NaN is not hidden");
    let x: Vec<f32> = (-35..=35).map(|i| i as f32 * 3.0).collect();
    at_every_level(|level| {
        let mut y = x.clone();
        elementwise::tanh_all(&mut y);
        assert_close(&y, &x.iter().map(|x| f64::from(*x).tanh()).collect::<Vec<_>>(), 3e-7, &format!("{level:?} tanh"));
    });
}

#[test]
fn sums_and_rows_are_those_of_plain_loops() {
    at_every_level(|level| {
        for &n in LENGTHS.iter().chain(&[5000]) {
            let random = &mut rng(n as u64);
            let (x, y) = (numbers(n, random), numbers(n, random));
            let (x64, y64) = (wide(&x), wide(&y));
            let what = format!("{level:?}, {n}");
            assert_close(&[fused::dot(&x, &y)], &[dot(&x64, &y64)], 1e-4, &what);
            assert!((elementwise::squared_norm(&x) / dot(&x64, &x64) - 1.0).abs() < 1e-5, "{what}");
            let mut sum = y.clone();
            fused::axpy(0.5, &x, &mut sum);
            elementwise::add(&x, &mut sum);
            let expected: Vec<f64> = x64.iter().zip(&y64).map(|(x, y)| y + 1.5 * x).collect();
            assert_close(&sum, &expected, 1e-6, &what);
            let mut rows = vec![9.0; 3 * n];
            fused::fill_rows(&x, &mut rows);
            assert_eq!(rows, [x.clone(), x.clone(), x.clone()].concat(), "{what}");
            let mut columns = y.clone();
            elementwise::add_column_sums(&rows, &mut columns);
            let expected: Vec<f64> = x64.iter().zip(&y64).map(|(x, y)| y + 3.0 * x).collect();
            assert_close(&columns, &expected, 1e-6, &what);
        }
    });
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + x.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
}

#[test]
fn softmax_and_its_logarithm_are_those_of_plain_loops() {
    at_every_level(|level| {
        for (&n, scale) in LENGTHS.iter().flat_map(|n| [1.0, 100.0].map(|scale| (n, scale))) {
            let x: Vec<f32> = numbers(n, &mut rng(n as u64)).iter().map(|x| x * scale).collect();
            let x64 = wide(&x);
            let log_z = log_sum_exp(&x64);
            let what = format!("{level:?}, {n} numbers up to {scale}");
            let mut p = x.clone();
            assert_close(&[elementwise::softmax(&mut p)], &[log_z], 1e-6, &what);
            assert_close(&p, &x64.iter().map(|x| (x - log_z).exp()).collect::<Vec<_>>(), 1e-6, &what);
            let mut log_p = x;
            elementwise::log_softmax(&mut log_p);
            assert_close(&log_p, &x64.iter().map(|x| x - log_z).collect::<Vec<_>>(), 1e-6, &what);
        }
    });
}

const NOTHING: f32 = f32::NEG_INFINITY;

#[test]
fn logarithms_are_added_as_probabilities() {
    at_every_level(|level| {
        for (&n, scale) in LENGTHS.iter().flat_map(|n| [0.1, 10.0].map(|scale| (n, scale))) {
            let random = &mut rng(n as u64);
            let [x, mut y] = [(); 2].map(|()| numbers(n, random).iter().map(|x| x * scale).collect::<Vec<f32>>());
            let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| log_sum_exp(&wide(&[*x, *y]))).collect();
            elementwise::log_add_exp(&x, &mut y);
            assert_close(&y, &expected, 5e-7, &format!("{level:?}, {n} numbers up to {scale}"));
        }
        let mut y = [NOTHING, NOTHING, -3.0, -1e6];
        elementwise::log_add_exp(&[NOTHING, -2.0, NOTHING, -1.0], &mut y);
        assert_eq!(y, [NOTHING, -2.0, -3.0, -1.0], "{level:?}");
        let mut y = [f32::NAN, -1.0];
        elementwise::log_add_exp(&[-1.0, f32::NAN], &mut y);
        assert!(y.iter().all(|y| y.is_nan()), "{level:?}: NaN is not hidden");
    });
}

#[test]
fn maxout_takes_neighbours_and_gives_back_to_the_greater() {
    at_every_level(|level| {
        for &l in LENGTHS {
            let random = &mut rng(l as u64);
            let mut pre = numbers(2 * l, random);
            pre[1] = pre[0]; // a tie goes to the first
            let d = numbers(l, random);
            let (mut t, mut d_pre) = (vec![9.0; l], vec![9.0; 2 * l]);
            output::maxout(&pre, &mut t);
            output::maxout_back(&pre, &d, &mut d_pre);
            for j in 0..l {
                let (a, b) = (pre[2 * j], pre[2 * j + 1]);
                assert_eq!(t[j], a.max(b), "{level:?}");
                let back = if a >= b { (d[j], 0.0) } else { (0.0, d[j]) };
                assert_eq!((d_pre[2 * j], d_pre[2 * j + 1]), back, "{level:?}");
            }
        }
    });
}

/// [U_z; U_r; U] of one unit.
struct Recurrent {
    n: usize,
    u: Vec<f32>,
}

impl Recurrent {
    fn new(n: usize, rng: &mut ChaCha8Rng) -> Self {
        Self { n, u: numbers(3 * n * n, rng) }
    }

    fn packs(&self) -> (Packed, Packed) {
        let (zr, u) = self.u.split_at(2 * self.n * self.n);
        (Packed::transposed(zr, 2 * self.n, self.n), Packed::transposed(u, self.n, self.n))
    }

    fn step(&self, sense: Sense, x: &[f64], s: &[f64]) -> Vec<f64> {
        let n = self.n;
        let u = wide(&self.u);
        let zr = times(&u[..2 * n * n], s);
        let rs: Vec<f64> = (0..n).map(|k| sigma(x[n + k] + zr[n + k]) * s[k]).collect();
        let a = times(&u[2 * n * n..], &rs);
        (0..n)
            .map(|k| {
                let z = sigma(x[k] + zr[k]);
                let new = if sense == Sense::New { z } else { 1.0 - z };
                (1.0 - new) * s[k] + new * (x[2 * n + k] + a[k]).tanh()
            })
            .collect()
    }
}

#[test]
fn the_gated_unit_and_its_gradient() {
    at_every_level(|level| {
        for (n, sense) in [(5, Sense::New), (5, Sense::Old), (17, Sense::New), (17, Sense::Old)] {
            let random = &mut rng(n as u64);
            let b = 3;
            let unit = Recurrent::new(n, random);
            let (u_zr, u) = unit.packs();
            let (x, s, d) = (numbers(b * 3 * n, random), numbers(b * n, random), numbers(b * n, random));
            let live = [true, false, true];
            // the products of the gates lie inside wider rows, as those of the decoder do
            let (stride, offset) = (2 * n + 4, 3);
            let mut g = vec![0.0; b * stride];
            u_zr.apply(b, &s, n, &mut g[offset..], stride, false);
            let zeros = || vec![0.0f32; b * n];
            let (mut gate, mut r, mut rs, mut a, mut t, mut out) =
                (zeros(), zeros(), zeros(), zeros(), zeros(), zeros());
            gru::gates(sense, n, &x, &g, stride, offset, &s, Some(&live), &mut gate, &mut r, &mut rs);
            u.apply(b, &rs, n, &mut a, n, false);
            gru::update(n, &x, &a, &s, &gate, &mut t, &mut out);
            let (zr, candidate) = unit.u.split_at(2 * n * n);
            let (mut dx, mut ds, mut d_rs) = (vec![0.0; b * 3 * n], zeros(), zeros());
            gru::update_back(sense, n, &d, &gate, &t, &s, &mut dx, &mut ds);
            Packed::plain(candidate, n, n).apply(b, &dx[2 * n..], 3 * n, &mut d_rs, n, false);
            gru::reset_back(n, &d_rs, &r, &s, &mut dx, &mut ds);
            Packed::plain(zr, 2 * n, n).apply(b, &dx, 3 * n, &mut ds, n, true);
            for row in 0..b {
                let (narrow, full) = (row * n..(row + 1) * n, row * 3 * n..(row + 1) * 3 * n);
                let (x, s, d) = (wide(&x[full.clone()]), wide(&s[narrow.clone()]), wide(&d[narrow.clone()]));
                let step = |x: &[f64], s: &[f64]| if live[row] { unit.step(sense, x, s) } else { s.to_vec() };
                let what = format!("{level:?}, {sense:?}, n = {n}, row {row}");
                assert_close(&out[narrow.clone()], &step(&x, &s), 1e-5, &what);
                assert_close(&dx[full], &differences(&x, |x| dot(&d, &step(x, &s))), 1e-5, &what);
                assert_close(&ds[narrow], &differences(&s, |s| dot(&d, &step(&x, s))), 1e-5, &what);
            }
        }
    });
}

fn cho(x: &[f64], p: &[f64], s: &[f64]) -> Vec<f64> {
    let n = s.len();
    (0..n)
        .map(|k| {
            let (z, r) = (sigma(x[k] + p[k]), sigma(x[n + k] + p[n + k]));
            z * s[k] + (1.0 - z) * (x[2 * n + k] + r * p[2 * n + k]).tanh()
        })
        .collect()
}

#[test]
fn cho_s_decoder_unit_and_its_gradient() {
    at_every_level(|level| {
        for n in [3, 16, 19] {
            let random = &mut rng(n as u64);
            let b = 2;
            let (x, p) = (numbers(b * 3 * n, random), numbers(b * 3 * n, random));
            let (s, d) = (numbers(b * n, random), numbers(b * n, random));
            let zeros = || vec![0.0f32; b * n];
            let (mut u, mut r, mut t, mut out, mut ds) = (zeros(), zeros(), zeros(), zeros(), zeros());
            gru::cho_decoder(n, &x, &p, &s, &mut u, &mut r, &mut t, &mut out);
            let (mut dx, mut dp) = (vec![0.0; b * 3 * n], vec![0.0; b * 3 * n]);
            gru::cho_decoder_back(n, &d, &p, &u, &r, &t, &s, &mut dx, &mut dp, &mut ds);
            for row in 0..b {
                let (narrow, full) = (row * n..(row + 1) * n, row * 3 * n..(row + 1) * 3 * n);
                let (x, p) = (wide(&x[full.clone()]), wide(&p[full.clone()]));
                let (s, d) = (wide(&s[narrow.clone()]), wide(&d[narrow.clone()]));
                let what = format!("{level:?}, n = {n}, row {row}");
                assert_close(&out[narrow.clone()], &cho(&x, &p, &s), 1e-6, &what);
                assert_close(&dx[full.clone()], &differences(&x, |x| dot(&d, &cho(x, &p, &s))), 1e-6, &what);
                assert_close(&dp[full], &differences(&p, |p| dot(&d, &cho(&x, p, &s))), 1e-6, &what);
                // s as the old state alone; its part through p is the caller's
                assert_close(&ds[narrow], &differences(&s, |s| dot(&d, &cho(&x, &p, s))), 1e-6, &what);
            }
        }
    });
}

fn align(q: &[f64], keys: &[f64], v: &[f64], h: &[f64], t_x: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (n_a, width) = (v.len(), h.len() / t_x);
    let energy = |key: &[f64]| (0..n_a).map(|k| v[k] * (q[k] + key[k]).tanh()).sum::<f64>();
    let e: Vec<f64> = keys.chunks_exact(n_a).map(energy).collect();
    let log_z = log_sum_exp(&e);
    let alpha: Vec<f64> = e.iter().map(|e| (e - log_z).exp()).collect();
    let c = (0..width).map(|k| (0..t_x).map(|j| alpha[j] * h[j * width + k]).sum()).collect();
    (e, alpha, c)
}

#[test]
fn the_alignment_model_and_its_gradient() {
    at_every_level(|level| {
        for (t_x, n_a, width) in [(1, 1, 1), (4, 7, 10), (7, 16, 32), (3, 19, 35)] {
            let random = &mut rng(n_a as u64);
            let (q, keys, v) = (numbers(n_a, random), numbers(t_x * n_a, random), numbers(n_a, random));
            let (h, dc) = (numbers(t_x * width, random), numbers(width, random));
            let (mut e, mut alpha, mut c) = (vec![9.0; t_x], vec![9.0; t_x], vec![9.0; width]);
            attention::energies(&q, &keys, &v, &mut e);
            attention::align(&e, &h, &mut alpha, &mut c);
            let [q64, keys64, v64, h64, dc64] = [&q, &keys, &v, &h, &dc].map(|x| wide(x));
            let what = format!("{level:?}, {t_x} words, n' = {n_a}, {width}");
            let expected = align(&q64, &keys64, &v64, &h64, t_x);
            assert_close(&e, &expected.0, 2e-6, &what);
            assert_close(&alpha, &expected.1, 1e-6, &what);
            assert_close(&c, &expected.2, 1e-6, &what);

            // dkeys and dv are added to what is there, dq is written
            let (mut de, mut dq) = (vec![9.0; t_x], vec![9.0; n_a]);
            let (mut dkeys, mut dv) = (vec![0.5; t_x * n_a], vec![0.5; n_a]);
            attention::align_back(&dc, &h, &alpha, &mut de);
            attention::energies_back(&q, &keys, &v, &de, &mut dq, &mut dkeys, &mut dv);
            let loss = |q: &[f64], keys: &[f64], v: &[f64]| dot(&dc64, &align(q, keys, v, &h64, t_x).2);
            let added = |d: Vec<f64>| d.into_iter().map(|d| d + 0.5).collect::<Vec<_>>();
            assert_close(&dq, &differences(&q64, |q| loss(q, &keys64, &v64)), 2e-6, &what);
            assert_close(&dkeys, &added(differences(&keys64, |keys| loss(&q64, keys, &v64))), 2e-6, &what);
            assert_close(&dv, &added(differences(&v64, |v| loss(&q64, &keys64, v))), 2e-6, &what);
        }
    });
}

#[test]
fn a_scan_reads_each_row_as_if_it_were_alone() {
    let (n, lengths) = (5, [4, 1, 3, 4]);
    let (b, t_x) = (lengths.len(), 4);
    let random = &mut rng(11);
    let unit = Recurrent::new(n, random);
    let (u_zr, u) = unit.packs();
    let x = numbers(t_x * b * 3 * n, random);
    let live: Vec<bool> = (0..t_x * b).map(|at| at / b < lengths[at % b]).collect();
    at_every_level(|level| {
        for (direction, sense) in [Direction::Forward, Direction::Backward].into_iter().zip([Sense::New, Sense::Old]) {
            let unit64 = scan::Unit { n, u_zr: &u_zr, u: &u, sense, direction };
            let mut h = vec![f32::NAN; (t_x + 1) * b * n];
            let [mut gate, mut r, mut rh, mut t] = [(); 4].map(|()| vec![f32::NAN; t_x * b * n]);
            let mut kept = scan::ScanStates { h: &mut h, u: &mut gate, r: &mut r, rh: &mut rh, h_tilde: &mut t };
            scan::scan(&unit64, &x, t_x, b, &live, &mut kept, &mut vec![f32::NAN; 3 * b * n]);
            for row in 0..b {
                let mut s = vec![0.0; n];
                for t in direction.order(t_x, false) {
                    if t < lengths[row] {
                        s = unit.step(sense, &wide(&x[(t * b + row) * 3 * n..(t * b + row + 1) * 3 * n]), &s);
                    }
                    let slot = direction.slots(t).1 * b + row;
                    let what = format!("{level:?}, {direction:?}, row {row}, word {t}");
                    assert_close(&h[slot * n..(slot + 1) * n], &s, 1e-5, &what);
                }
            }
        }
    });
    let back: Vec<usize> = Direction::Forward.order(3, true).collect();
    assert_eq!(back, Direction::Backward.order(3, false).collect::<Vec<_>>(), "gradients run the other way");
}

#[test]
fn rules_move_weights_as_their_papers_say() {
    const RATE: f64 = 0.1;
    const SCALE: f64 = 0.5;
    at_every_level(|level| {
        for &n in LENGTHS {
            let random = &mut rng(n as u64);
            let start = numbers(n, random);
            let [mut sgd, mut adam, mut adadelta] = [(); 3].map(|()| start.clone());
            let [mut m, mut v, mut g2, mut dx2] = [(); 4].map(|()| vec![0.0; n]);
            let mut expected = [(); 3].map(|()| wide(&start));
            let mut memory = vec![[0.0f64; 4]; n];
            for t in 1..=3 {
                let g = numbers(n, random);
                let (rate, scale) = (RATE as f32, SCALE as f32);
                let mut cleared = [(); 3].map(|()| g.clone());
                let corrections = (1.0 - 0.9f32.powi(t), 1.0 - 0.999f32.powi(t));
                update::sgd(&mut sgd, &mut cleared[0], scale, rate);
                update::adam(&mut adam, &mut cleared[1], &mut m, &mut v, scale, rate, (0.9, 0.999), corrections, 1e-8);
                update::adadelta(&mut adadelta, &mut cleared[2], &mut g2, &mut dx2, scale, rate, 0.95, 1e-6);
                assert!(cleared.iter().flatten().all(|g| *g == 0.0), "gradients are cleared");
                for (k, [m, v, g2, dx2]) in memory.iter_mut().enumerate() {
                    let d = SCALE * f64::from(g[k]);
                    expected[0][k] -= RATE * d;
                    *m = 0.9 * *m + 0.1 * d;
                    *v = 0.999 * *v + 0.001 * d * d;
                    let (m_hat, v_hat) = (*m / (1.0 - 0.9f64.powi(t)), *v / (1.0 - 0.999f64.powi(t)));
                    expected[1][k] -= RATE * m_hat / (v_hat.sqrt() + 1e-8);
                    *g2 = 0.95 * *g2 + 0.05 * d * d;
                    let step = -((*dx2 + 1e-6) / (*g2 + 1e-6)).sqrt() * d;
                    *dx2 = 0.95 * *dx2 + 0.05 * step * step;
                    expected[2][k] += RATE * step;
                }
            }
            for (name, (found, expected)) in
                ["sgd", "adam", "adadelta"].iter().zip([sgd, adam, adadelta].iter().zip(&expected))
            {
                assert_close(found, expected, 1e-5, &format!("{level:?}, {name} of {n} numbers"));
            }
            // where the gradient is 0, nothing else comes of leaving it out
            let memories = [(); 4].map(|()| numbers(n, &mut rng(n as u64)).iter().map(|x| x * x).collect::<Vec<f32>>());
            let [mut m, mut v, mut g2, mut dx2] = memories.clone();
            let [mut m_0, mut v_0, mut g2_0, mut dx2_0] = memories;
            let (mut x, mut x_0, mut zeros) = (start.clone(), start.clone(), vec![0.0; n]);
            update::adam(&mut x, &mut zeros, &mut m, &mut v, 0.5, 0.01, (0.9, 0.999), (0.1, 0.001), 1e-8);
            update::adam_coast(&mut x_0, &mut m_0, &mut v_0, 0.01, (0.9, 0.999), (0.1, 0.001), 1e-8);
            assert_eq!((&x, &m, &v), (&x_0, &m_0, &v_0), "{level:?}, Adam without a gradient, {n} numbers");
            update::adadelta(&mut x, &mut zeros, &mut g2, &mut dx2, 0.5, 1.0, 0.95, 1e-6);
            update::fade(&mut g2_0, &mut dx2_0, 0.95);
            assert_eq!((x, g2, dx2), (x_0, g2_0, dx2_0), "{level:?}, Adadelta without a gradient, {n} numbers");
            let (mut a, mut b) = (start.clone(), start.clone());
            update::take(&mut a, &mut b);
            assert!(a.iter().zip(&start).all(|(a, s)| *a == 2.0 * s) && b.iter().all(|b| *b == 0.0));
        }
    });
}

/// The cell of Zaremba et al. 2015 by its equations: (h, c) of one unit.
fn lstm_unit([i, f, o, g]: [f64; 4], c: f64) -> (f64, f64) {
    let sigma = |x: f64| 1.0 / (1.0 + (-x).exp());
    let c = sigma(f) * c + sigma(i) * g.tanh();
    (sigma(o) * c.tanh(), c)
}

#[test]
fn the_lstm_cell_is_its_equations_forward_and_backward() {
    at_every_level(|level| {
        for &n in LENGTHS {
            let (mut rng, b) = (rng(n as u64), 3);
            let live = [true, false, true];
            let (pre, c_prev, h_prev) =
                (numbers(b * 4 * n, &mut rng), numbers(b * n, &mut rng), numbers(b * n, &mut rng));
            let (dh, dc) = (numbers(b * n, &mut rng), numbers(b * n, &mut rng));
            let (mut gates, mut c, mut h) = (pre.clone(), vec![0.0; b * n], vec![0.0; b * n]);
            lstm::cell(n, &mut gates, &c_prev, &h_prev, Some(&live), &mut c, &mut h);
            let (mut d_c, mut d_pre, mut carry) = (dc.clone(), vec![9.0; b * 4 * n], vec![9.0; b * n]);
            lstm::cell_back(n, &gates, &c_prev, &c, &dh, Some(&live), &mut d_c, &mut d_pre, &mut carry);
            let (mut expected, mut backward) = ([vec![], vec![]], [vec![], vec![0.0; b * 4 * n]]);
            for (row, live) in live.iter().enumerate() {
                for k in 0..n {
                    let unit = |gate: usize| row * 4 * n + gate * n + k;
                    let at = row * n + k;
                    if !live {
                        expected[0].push(f64::from(h_prev[at]));
                        expected[1].push(f64::from(c_prev[at]));
                        backward[0].push(f64::from(dc[at]));
                        continue;
                    }
                    let inputs: Vec<f64> =
                        (0..4).map(|gate| f64::from(pre[unit(gate)])).chain([f64::from(c_prev[at])]).collect();
                    let run = |x: &[f64]| lstm_unit([x[0], x[1], x[2], x[3]], x[4]);
                    let (h, c) = run(&inputs);
                    expected[0].push(h);
                    expected[1].push(c);
                    let d = differences(&inputs, |x| {
                        let (h, c) = run(x);
                        h * f64::from(dh[at]) + c * f64::from(dc[at])
                    });
                    (0..4).for_each(|gate| backward[1][unit(gate)] = d[gate]);
                    backward[0].push(d[4]);
                }
            }
            let what = format!("n = {n} at {level:?}");
            assert_close(&h, &expected[0], 1e-6, &what);
            assert_close(&c, &expected[1], 1e-6, &what);
            assert_close(&d_c, &backward[0], 1e-5, &what);
            assert_close(&d_pre, &backward[1], 1e-5, &what);
            let past: Vec<f64> = (0..b * n).map(|at| if live[at / n] { 0.0 } else { f64::from(dh[at]) }).collect();
            assert_close(&carry, &past, 0.0, &what);
        }
    });
}

#[test]
fn products_and_mixtures_are_sums() {
    at_every_level(|level| {
        for &width in LENGTHS {
            let mut rng = rng(width as u64);
            let (q, x, w) = (numbers(width, &mut rng), numbers(5 * width, &mut rng), numbers(5, &mut rng));
            let (mut products, mut mixed) = (vec![0.0; 5], q.clone());
            focus::products(&q, &x, &mut products);
            focus::add_weighted(&w, &x, &mut mixed);
            let rows: Vec<&[f32]> = x.chunks_exact(width).collect();
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            let expected: Vec<f64> = rows.iter().map(|row| dot(&q, row)).collect();
            assert_close(&products, &expected, 1e-5, &format!("{width} at {level:?}"));
            let sum = |k: usize| {
                f64::from(q[k]) + rows.iter().zip(&w).map(|(r, w)| f64::from(r[k]) * f64::from(*w)).sum::<f64>()
            };
            let expected: Vec<f64> = (0..width).map(sum).collect();
            assert_close(&mixed, &expected, 1e-5, &format!("{width} at {level:?}"));
        }
    });
}

#[test]
fn a_window_holds_the_words_within_d_of_p_t() {
    let cases: [(f32, usize, usize, std::ops::Range<usize>); 7] = [
        (0.0, 2, 9, 0..3),
        (8.0, 2, 9, 6..9),
        (4.5, 2, 9, 3..7),
        (4.0, 1, 9, 3..6),
        (0.2, 1, 1, 0..1),
        (2.9, 10, 3, 0..3),
        (8.9, 1, 9, 8..9),
    ];
    for (p_t, d, words, seen) in cases {
        let focus = Focus::window(p_t, d, words, false);
        assert_eq!(focus.first..focus.end, seen, "p_t {p_t}, D {d}, {words} words");
    }
}

#[test]
fn local_weights_fall_off_and_go_back_as_differences() {
    let (words, d) = (9, 3);
    let e = numbers(words, &mut rng(3));
    let d_alpha = numbers(words, &mut rng(4));
    for gaussian in [false, true] {
        for p_t in [0.3_f32, 4.0, 5.7, 8.6] {
            let focus = Focus::window(p_t, d, words, gaussian);
            let (mut base, mut alpha) = (vec![9.0; words], vec![9.0; words]);
            focus.align(&e, &mut base, &mut alpha);
            // the window stays; e and p_t vary
            let align = |x: &[f64]| -> Vec<f64> {
                let window = focus.first..focus.end;
                let sum: f64 = window.clone().map(|j| x[j].exp()).sum();
                let sigma = d as f64 / 2.0;
                let fall = |j: usize| {
                    if gaussian { (-(j as f64 - x[words]).powi(2) / (2.0 * sigma * sigma)).exp() } else { 1.0 }
                };
                (0..words).map(|j| if window.contains(&j) { x[j].exp() / sum * fall(j) } else { 0.0 }).collect()
            };
            let mut inputs = wide(&e);
            inputs.push(f64::from(p_t));
            let what = format!("p_t {p_t}, Gaussian {gaussian}");
            assert_close(&alpha, &align(&inputs), 1e-6, &what);
            let loss = |x: &[f64]| align(x).iter().zip(&d_alpha).map(|(a, d)| a * f64::from(*d)).sum::<f64>();
            let expected = differences(&inputs, loss);
            let mut de = d_alpha.clone();
            let dp = focus.align_back(&base, &alpha, &mut de);
            assert_close(&de, &expected[..words], 1e-5, &what);
            assert_close(&[dp], &expected[words..], 1e-5, &what);
        }
    }
}

#[test]
fn the_output_layer_and_its_gradients_are_those_of_plain_loops() {
    // (rows, K, l): around the widths of tiles, lanes and blocks; the last is longer than a block of lines
    const SHAPES: &[(usize, usize, usize)] =
        &[(1, 1, 1), (1, 7, 3), (5, 13, 16), (16, 12, 31), (17, 25, 33), (33, 50, 40), (48, 37, 5), (70, 230, 65)];
    at_every_level(|level| {
        let mut scratch = vocabulary::Scratch::default();
        for &(rows, k, l) in SHAPES {
            for (epsilon, biased) in [(0.0, true), (0.1, true), (0.1, false)] {
                let random = &mut rng((rows * k + l) as u64);
                let (w, bias, t) = (numbers(k * l, random), numbers(k, random), numbers(rows * l, random));
                let targets: Vec<u32> = (0..rows).map(|row| (row * 5 % k) as u32).collect();
                let (dw_before, db_before) = (numbers(k * l, random), numbers(k, random));
                let (mut dw, mut db, mut dt) = (dw_before.clone(), db_before.clone(), vec![9.0; rows * l]);
                let objective = vocabulary::Objective { epsilon, scale: 0.25 };
                let layer = vocabulary::OutputLayer { w: &w, bias: biased.then_some(bias.as_slice()), l, mixed: None };
                let (nll, smoothed) = layer.forward(&t, &targets, objective, &mut scratch);
                let db_out = biased.then_some(db.as_mut_slice());
                layer.backward(&t, &targets, objective, &mut scratch, &mut dt, &mut dw, db_out);
                let expected = output_layer(&w, biased.then_some(&bias), &t, &targets, l, (f64::from(epsilon), 0.25));
                let what = format!("{level:?}, {rows} rows, {k} words, l {l}, epsilon {epsilon}, bias {biased}");
                assert_close(&[nll as f32, smoothed as f32], &expected.0, 1e-5, &what);
                assert_close(&dt, &expected.1, 1e-5, &format!("dt, {what}"));
                let sum = |before: &[f32], d: &[f64]| -> Vec<f64> {
                    before.iter().zip(d).map(|(b, d)| f64::from(*b) + d).collect()
                };
                assert_close(&dw, &sum(&dw_before, &expected.2), 1e-5, &format!("dW, {what}"));
                let expected = if biased { sum(&db_before, &expected.3) } else { wide(&db_before) };
                assert_close(&db, &expected, 1e-5, &format!("db, {what}"));
            }
        }
    });
}

#[test]
fn the_output_layer_with_bf16_factors_is_that_of_plain_loops_over_rounded_ones() {
    const SHAPES: &[(usize, usize, usize)] =
        &[(1, 1, 1), (2, 7, 3), (5, 13, 16), (33, 50, 40), (48, 37, 5), (70, 389, 65)];
    at_every_level(|level| {
        let mut scratch = vocabulary::Scratch::default();
        let mut mixed = vocabulary::Mixed::default();
        for &(rows, k, l) in SHAPES {
            for (epsilon, biased) in [(0.0, true), (0.1, false)] {
                let random = &mut rng((rows * k + l) as u64);
                let (w, bias, t) = (numbers(k * l, random), numbers(k, random), numbers(rows * l, random));
                let targets: Vec<u32> = (0..rows).map(|row| (row * 5 % k) as u32).collect();
                let (mut dw, mut db, mut dt) = (vec![0.0; k * l], vec![0.0; k], vec![9.0; rows * l]);
                let objective = vocabulary::Objective { epsilon, scale: 0.25 };
                mixed.pack(&w, l);
                let bias = biased.then_some(bias);
                let layer = vocabulary::OutputLayer { w: &w, bias: bias.as_deref(), l, mixed: Some(&mixed) };
                let (nll, smoothed) = layer.forward(&t, &targets, objective, &mut scratch);
                let db_out = biased.then_some(db.as_mut_slice());
                layer.backward(&t, &targets, objective, &mut scratch, &mut dt, &mut dw, db_out);
                let (w, t) = (rounded(&w), rounded(&t));
                let expected = output_layer(&w, bias.as_ref(), &t, &targets, l, (f64::from(epsilon), 0.25));
                let what = format!("{level:?}, {rows} rows, {k} words, l {l}, epsilon {epsilon}, bias {biased}");
                assert_close(&[nll as f32, smoothed as f32], &expected.0, 1e-5, &what);
                for (name, found, expected) in [("dt", &dt, &expected.1), ("dW", &dw, &expected.2)] {
                    let norm = dot(expected, expected).sqrt();
                    let error =
                        found.iter().zip(expected).map(|(f, e)| (f64::from(*f) - e).powi(2)).sum::<f64>().sqrt();
                    assert!(error <= norm / 256.0 + 1e-7, "{name}, {what}: off by {error} of {norm}");
                }
                // the sums of the gradient of the logits are those before it is rounded
                assert_close(&db, if biased { &expected.3 } else { &[0.0; 389][..k] }, 1e-5, &format!("db, {what}"));
            }
        }
    });
}

fn rounded(x: &[f32]) -> Vec<f32> {
    x.iter().map(|x| half::bf16::from_f32(*x).to_f32()).collect()
}

#[test]
fn rounding_to_bf16_is_that_of_the_standard() {
    let random = &mut rng(5);
    let mut all: Vec<f32> = (0..2000).map(|_| f32::from_bits(random.random())).filter(|x| !x.is_nan()).collect();
    all.extend([
        0.0,
        -0.0,
        1.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MIN_POSITIVE,
        1.001_953_1,
        1.005_859_4,
    ]);
    for x in all {
        assert_eq!(pairs::round(x).to_bits(), half::bf16::from_f32(x).to_bits(), "{x:e}");
    }
    assert!(pairs::round(f32::NAN).is_nan());
}

#[allow(clippy::type_complexity, reason = "four results of one test")]
fn output_layer(
    w: &[f32], bias: Option<&Vec<f32>>, t: &[f32], targets: &[u32], l: usize, (epsilon, scale): (f64, f64),
) -> ([f64; 2], Vec<f64>, Vec<f64>, Vec<f64>) {
    let (w, t, k) = (wide(w), wide(t), w.len() / l);
    let mut loss = [0.0; 2];
    let (mut dt, mut dw, mut db) = (vec![0.0; t.len()], vec![0.0; w.len()], vec![0.0; k]);
    for (row, &target) in targets.iter().enumerate() {
        let at = row * l..(row + 1) * l;
        let logits: Vec<f64> = times(&w, &t[at.clone()])
            .iter()
            .enumerate()
            .map(|(v, x)| x + bias.map_or(0.0, |bias| f64::from(bias[v])))
            .collect();
        let log_sum = logits.iter().map(|x| x.exp()).sum::<f64>().ln();
        let nll = log_sum - logits[target as usize];
        loss[0] += nll;
        loss[1] += (1.0 - epsilon) * nll + epsilon * (log_sum - logits.iter().sum::<f64>() / k as f64);
        for v in 0..k {
            let q = epsilon / k as f64 + if v == target as usize { 1.0 - epsilon } else { 0.0 };
            let d = scale * ((logits[v] - log_sum).exp() - q);
            db[v] += d;
            for i in 0..l {
                dw[v * l + i] += d * t[row * l + i];
                dt[row * l + i] += d * w[v * l + i];
            }
        }
    }
    (loss, dt, dw, db)
}
