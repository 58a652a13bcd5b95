//! Paired bootstrap resampling against sacreBLEU 2.6.0 on the same draws; sentences of our own.

use interlinear::analysis::bleu::BleuSettings;
use interlinear::analysis::bootstrap::{
    BootstrapCounts, Interval, Paired, correct, holm, paired, paired_by, randomised,
};
use interlinear::analysis::{bleu, chrf};

const REFERENCES: &[&str] = &[
    "A grey heron waits by the weir.",
    "The baker opens before the street lamps go out.",
    "We counted nine barges on the canal.",
    "Rain fell on the tin roof all night.",
    "Her brother mends clocks in a cellar.",
    "The ferry was late, but nobody minded.",
    "Two foxes crossed the empty square.",
    "He keeps every letter in a biscuit tin.",
    "The orchard smells of smoke and apples.",
    "Snow closed the pass for a week.",
];

const FIRST: &[&str] = &[
    "A grey heron waits at the weir.",
    "The baker opens before the lamps of the street go out.",
    "We counted nine barges on the canal.",
    "Rain fell all night on the tin roof.",
    "Her brother repairs clocks in a cellar.",
    "The ferry was late, but nobody minded.",
    "Two foxes crossed an empty square.",
    "He keeps each letter in a tin.",
    "The orchard smells of smoke and apples.",
    "Snow closed the pass for one week.",
];

const SECOND: &[&str] = &[
    "A heron is waiting by the weir.",
    "The baker opens before the street lamps go out.",
    "We have counted nine boats on the canal.",
    "Rain fell on the tin roof all night.",
    "Her brother mends the clocks in a cellar.",
    "The ferry came late and nobody minded.",
    "Two foxes crossed the empty square.",
    "He keeps every letter in a biscuit tin.",
    "The orchard smells like smoke and apple.",
    "Snow has closed the pass for a week.",
];

fn bleu_counts(texts: &[&str]) -> Vec<bleu::BleuCounts> {
    let count = |(text, reference): (&&str, &&str)| bleu::BleuCounts::of(text, &[reference], &BleuSettings::default());
    texts.iter().zip(REFERENCES).map(count).collect()
}

fn chrf_counts(texts: &[&str]) -> Vec<chrf::ChrfCounts> {
    texts.iter().zip(REFERENCES).map(|(text, reference)| chrf::ChrfCounts::of(text, &[reference], false)).collect()
}

/// The draws that sacreBLEU was given: x <- (1103515245 x + 12345) mod 2^31 from 1, and x / 2^16 mod n of each.
fn draws() -> impl FnMut() -> usize {
    let mut x = 1_u64;
    move || {
        x = (x * 1_103_515_245 + 12345) % (1 << 31);
        (x >> 16) as usize % REFERENCES.len()
    }
}

/// `PairedTest([("a", first), ("b", second)], .., test_type="bs", n_samples=200)` with those draws: score, mean and
/// half the interval of both. sacreBLEU adds chrF's counts up in single precision.
#[test]
fn paired_bootstrap_is_that_of_sacrebleu_on_the_same_draws() {
    let bleu = paired_by(&bleu_counts(FIRST), &bleu_counts(SECOND), 200, &mut draws());
    let chrf = paired_by(&chrf_counts(FIRST), &chrf_counts(SECOND), 200, &mut draws());
    let cases = [
        (
            bleu,
            [64.514382863731, 63.449060366533374, 16.744298751955085],
            [69.20574518695153, 69.15600438813217, 19.209493772703272],
        ),
        (chrf, [82.9382966245199, 82.65585, 9.286018], [84.89563726272719, 84.87933, 9.728809]),
    ];
    for (paired, first, second) in cases {
        let paired = paired.expect("both have all sentences");
        for (interval, expect) in [(paired.first, first), (paired.second, second)] {
            let found = [interval.value, interval.mean, (interval.high - interval.low) / 2.0];
            assert!(found.iter().zip(expect).all(|(a, b)| (a - b).abs() < 2e-5), "{found:?}, not {expect:?}");
        }
        assert_eq!(paired.difference.value, paired.second.value - paired.first.value);
        assert!((paired.difference.mean - (paired.second.mean - paired.first.mean)).abs() < 1e-9);
    }
}

#[test]
fn a_seed_gives_one_answer_and_other_seeds_similar_ones() {
    let (first, second) = (bleu_counts(FIRST), bleu_counts(SECOND));
    let with = |seed: u64| paired(&first, &second, 1000, seed).expect("both have all sentences");
    assert_eq!(with(7), with(7));
    assert_ne!(with(7), with(8));
    for seed in 0..5 {
        let Paired { p_value, second_wins, difference, resamples, .. } = with(seed);
        assert!((0.5..0.85).contains(&second_wins), "{second_wins}");
        assert!((p_value - 2.0 * (1.0 - second_wins)).abs() < 1e-9, "two-sided, of the same resamples: {p_value}");
        assert!(difference.low < 0.0 && difference.high > difference.value && resamples == 1000);
    }
    // The other way round everything is mirrored.
    let (there, back) = (with(3), paired(&second, &first, 1000, 3).expect("both have all sentences"));
    assert_eq!((there.first, there.p_value), (back.second, back.p_value));
    assert!((there.difference.low + back.difference.high).abs() < 1e-9);
}

#[test]
fn a_clear_difference_is_significant_and_no_difference_is_not() {
    let (perfect, first) = (bleu_counts(REFERENCES), bleu_counts(FIRST));
    let clear = paired(&first, &perfect, 999, 1).expect("both have all sentences");
    assert!(clear.p_value < 0.01 && clear.second_wins > 0.99, "{clear:?}");
    assert_eq!(
        clear.second,
        Interval {
            value: clear.second.value,
            mean: clear.second.mean,
            low: clear.second.value,
            high: clear.second.value
        }
    );
    let same = paired(&first, &first, 999, 1).expect("both have all sentences");
    assert_eq!((same.p_value, same.second_wins, same.difference), (1.0, 0.0, Interval::default()));
}

/// p was that of sacreBLEU, which is below 0.05 beside intervals that hold 0.
#[test]
fn p_never_contradicts_the_interval_beside_it() {
    let (first, second, perfect) = (chrf_counts(FIRST), chrf_counts(SECOND), chrf_counts(REFERENCES));
    let mut seen = [0, 0];
    for (first, second) in [(&first, &second), (&perfect, &first), (&second, &perfect)] {
        for from in 0..REFERENCES.len() - 1 {
            for to in from + 2..=REFERENCES.len() {
                for resamples in [40, 199, 1000] {
                    let found = paired(&first[from..to], &second[from..to], resamples, 7).expect("some sentences");
                    let leaves_0_out = found.difference.low > 0.0 || found.difference.high < 0.0;
                    seen[usize::from(leaves_0_out)] += 1;
                    assert_eq!(found.p_value <= 0.05, leaves_0_out, "{from}..{to}, {resamples}: {found:?}");
                    assert!(found.p_value > 0.0 && found.p_value <= 1.0);
                }
            }
        }
    }
    assert!(seen[0] > 99 && seen[1] > 20, "{seen:?}");
}

/// The share of all exchanges that make a difference at least as great.
fn of_all_exchanges<C: BootstrapCounts>(first: &[C], second: &[C]) -> f64 {
    let difference = |swapped: usize| {
        let side = |side: usize| {
            let pairs = first.iter().zip(second).enumerate();
            pairs.map(|(n, (a, b))| if swapped >> n & 1 == side { a } else { b }).sum::<C>().score()
        };
        (side(1) - side(0)).abs()
    };
    let all = 1 << first.len();
    (0..all).filter(|swapped| difference(*swapped) >= difference(0)).count() as f64 / all as f64
}

#[test]
fn approximate_randomisation_comes_to_what_all_exchanges_come_to() {
    let check = |exact: f64, found: Option<f64>| {
        let found = found.expect("some sentences");
        assert!((found - exact).abs() < 0.02 && exact < 1.0, "{found}, not {exact}");
    };
    let (first, second) = (bleu_counts(FIRST), bleu_counts(SECOND));
    check(of_all_exchanges(&first, &second), randomised(&first, &second, 4000, 3));
    // sacreBLEU 2.6.0 with 10,000 trials.
    check(0.8331, randomised(&first, &second, 4000, 5));
    assert_eq!(randomised(&first, &second, 500, 3), randomised(&second, &first, 500, 3));
    assert_eq!(randomised(&first, &first, 99, 3), Some(1.0), "a system is as good as itself");
    let (first, second) = (chrf_counts(FIRST), chrf_counts(SECOND));
    check(of_all_exchanges(&first[..5], &second[..5]), randomised(&first[..5], &second[..5], 4000, 3));
    assert_eq!(randomised(&first, &second[1..], 99, 3), None);
    assert_eq!(randomised(&first, &second, 0, 3), None);
}

#[test]
fn nothing_to_compare_has_no_answer() {
    let counts = bleu_counts(FIRST);
    assert_eq!(paired(&counts[..0], &counts[..0], 10, 1), None);
    assert_eq!(paired(&counts, &counts[1..], 10, 1), None);
    assert_eq!(paired(&counts, &counts, 0, 1), None);
    let one = paired(&counts[..1], &counts[1..2], 1, 1).expect("one of each");
    assert_eq!((one.first.low, one.first.high), (one.first.value, one.first.value));
}

#[test]
fn many_pairs_are_corrected_by_holm() {
    // By hand: the smallest of n times n, the next times n - 1 and so on, none below the one before it, none above 1.
    for (p, wanted) in [
        (&[][..], &[][..]),
        (&[0.03], &[0.03]),
        (&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]),
        (&[0.02, 0.02, 0.02], &[0.06, 0.06, 0.06]),
        (&[0.5, 0.001, 0.6], &[1.0, 0.003, 1.0]),
    ] {
        let found = holm(p);
        let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert!(
            found.len() == wanted.len() && found.iter().zip(wanted).all(is_near),
            "{p:?}: {found:?}, not {wanted:?}"
        );
    }
    let counts = bleu_counts(FIRST);
    let pair = |p_value, p_randomised| Paired {
        p_value,
        p_randomised,
        ..paired(&counts, &counts, 10, 1).expect("both have all sentences")
    };
    let mut pairs = [pair(0.01, Some(0.2)), pair(0.04, Some(0.3)), pair(0.5, Some(0.01))];
    correct(pairs.iter_mut().collect());
    assert_eq!(pairs.map(|pair| pair.p_holm), [Some(0.03), Some(0.08), Some(0.5)]);
    assert_eq!(pairs.map(|pair| pair.p_randomised_holm), [Some(0.4), Some(0.4), Some(0.03)]);
    assert_eq!(pairs.map(|pair| pair.p_value), [0.01, 0.04, 0.5], "as they were");
    let mut alone = [pair(0.01, None)];
    correct(alone.iter_mut().collect());
    assert_eq!(alone[0].p_holm, None, "one pair needs no correction");
}
