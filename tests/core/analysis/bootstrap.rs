//! Paired tests against sacreBLEU 2.6.0 and numpy 2; sentences of our own.

use interlinear::analysis::bleu::{BleuCounts, BleuSettings};
use interlinear::analysis::bootstrap::significance::{correct, holm, ranks, signed, unsigned};
use interlinear::analysis::bootstrap::{
    BootstrapCounts, BootstrapSample, Interval, LEAST_SENTENCES, MeanCounts, Paired, PairedTests, Trials,
};
use interlinear::analysis::{chrf::ChrfCounts, ter::TerCounts};
use interlinear::corpus::measures::paired::{SystemTests, every_two};

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

const WORDS: &str = "a boat lies in the old harbour and waits for wind while gulls cry over nets of blue rope near tar";

/// x <- (1103515245 x + 12345) mod 2^31 from 1, and x / 2^16 mod n of each; Python had the same.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut x = 1_u64;
    move |n| {
        x = (x * 1_103_515_245 + 12345) % (1 << 31);
        (x >> 16) as usize % n
    }
}

fn made(sentences: usize, rates: &[usize]) -> (Vec<String>, Vec<Vec<String>>) {
    let (words, mut next) = (WORDS.split(' ').collect::<Vec<_>>(), numbers());
    let (mut references, mut outputs) = (Vec::new(), vec![Vec::new(); rates.len()]);
    for _ in 0..sentences {
        let length = 6 + next(9);
        let reference: Vec<&str> = (0..length).map(|_| words[next(words.len())]).collect();
        for (output, rate) in outputs.iter_mut().zip(rates) {
            let mut said = Vec::new();
            for word in &reference {
                match next(100) {
                    chance if chance < *rate => said.push(words[next(words.len())]),
                    chance if chance < rate + 3 => {}
                    _ => said.push(*word),
                }
            }
            output.push(said.join(" "));
        }
        references.push(reference.join(" "));
    }
    (references, outputs)
}

fn counts<C>(texts: &[impl AsRef<str>], references: &[impl AsRef<str>], of: impl Fn(&str, &[&str]) -> C) -> Vec<C> {
    texts.iter().zip(references).map(|(text, reference)| of(text.as_ref(), &[reference.as_ref()])).collect()
}

fn bleu(text: &str, references: &[&str]) -> BleuCounts {
    BleuCounts::of(text, references, &BleuSettings::default())
}

fn chrf(text: &str, references: &[&str]) -> ChrfCounts {
    ChrfCounts::of(text, references, false)
}

fn compare<C: BootstrapCounts>(tests: PairedTests, first: &[C], second: &[C]) -> Option<Paired> {
    let mut sample = BootstrapSample::new(first.len(), tests.seed);
    first.iter().zip(second).for_each(|(one, other)| sample.add([Some(*one), Some(*other)]));
    let mut trials = Trials::new(&sample, &[(0, 1)], tests);
    while trials.step() {}
    trials.finish().pop().flatten()
}

fn tests(trials: usize) -> PairedTests {
    PairedTests { bootstrap: trials, randomisation: trials, seed: 7 }
}

/// `PairedTest([("a", first), ("b", second)], .., test_type="bs", n_samples=200)` with those draws: score, mean and
/// half the interval of both. sacreBLEU adds chrF's counts up in single precision.
#[test]
fn paired_bootstrap_is_that_of_sacrebleu_on_the_same_draws() {
    fn check<C: BootstrapCounts>(of: impl Fn(&str, &[&str]) -> C + Copy, wanted: [[f64; 3]; 2]) {
        let [first, second] = [FIRST, SECOND].map(|texts| counts(texts, REFERENCES, of));
        let mut sample = BootstrapSample::new(first.len(), 1);
        first.iter().zip(&second).for_each(|(one, other)| sample.add([Some(*one), Some(*other)]));
        let mut trials = Trials::new(&sample, &[(0, 1)], PairedTests { bootstrap: 200, randomisation: 0, seed: 1 });
        let mut next = numbers();
        trials.resample(200, &mut || next(REFERENCES.len()));
        let [Some(paired)] = trials.finish()[..] else { panic!("both have all sentences") };
        for (interval, wanted) in [paired.first, paired.second].into_iter().zip(wanted) {
            let found = [interval.value, interval.mean, (interval.high - interval.low) / 2.0];
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 2e-5), "{found:?}, not {wanted:?}");
        }
        assert!((paired.difference.mean - (paired.second.mean - paired.first.mean)).abs() < 1e-9);
        assert_eq!((paired.p_value, paired.p_randomised, paired.resamples), (None, None, 200), "ten sentences");
    }
    check(
        bleu,
        [
            [64.514382863731, 63.449060366533374, 16.744298751955085],
            [69.20574518695153, 69.15600438813217, 19.209493772703272],
        ],
    );
    check(chrf, [[82.9382966245199, 82.65585, 9.286018], [84.89563726272719, 84.87933, 9.728809]]);
    check(
        TerCounts::of,
        [
            [17.80821917808219, 17.739165220884892, 9.590437361008156],
            [16.43835616438356, 16.4352462157055, 10.04694835680751],
        ],
    );
}

/// Three systems of 40 sentences. Scores and p of `--paired-ar` are sacreBLEU's with 10,000 trials, which counts greater differences
/// alone; those of TER, which has many equal ones, and p of the bootstrap are numpy's with 20,000.
#[test]
fn every_score_has_the_p_of_sacrebleu_and_numpy() {
    fn check<C: BootstrapCounts>(all: &[Vec<C>; 3], scores: [f64; 3], p: [[f64; 2]; 2]) {
        for (at, p) in [1, 2].into_iter().zip(p) {
            let paired = compare(tests(4000), &all[0], &all[at]).expect("sentences");
            let wanted = [scores[0], scores[at], scores[at] - scores[0], p[0], p[1]];
            let p = [paired.p_value, paired.p_randomised].map(|p| p.expect("40 sentences"));
            let found = [paired.first.value, paired.second.value, paired.difference.value, p[0], p[1]];
            let is_near = |n: usize| (found[n] - wanted[n]).abs() < [1e-5, 1e-5, 1e-5, 0.03, 0.02][n];
            assert!((0..5).all(is_near), "{found:?}, not {wanted:?}");
            assert_eq!(paired.second_wins > 0.5, (paired.difference.value > 0.0) != C::LOWER_IS_BETTER);
            let leaves_0_out = paired.difference.low > 0.0 || paired.difference.high < 0.0;
            assert_eq!(p[0] <= 0.05, leaves_0_out, "p and interval are of the same resamples: {paired:?}");
        }
    }
    let (references, outputs) = made(40, &[25, 30, 33]);
    let all = |texts: &Vec<String>| counts(texts, &references, bleu);
    check(&[0, 1, 2].map(|n| all(&outputs[n])), [49.887593, 43.028422, 39.743285], [[0.252, 0.2763], [0.0411, 0.0552]]);
    let all = |texts: &Vec<String>| counts(texts, &references, chrf);
    check(
        &[0, 1, 2].map(|n| all(&outputs[n])),
        [66.323483, 61.636315, 59.274532],
        [[0.2283, 0.2451], [0.0548, 0.0703]],
    );
    let all = |texts: &Vec<String>| counts(texts, &references, TerCounts::of);
    check(
        &[0, 1, 2].map(|n| all(&outputs[n])),
        [24.873096, 29.441624, 32.994924],
        [[0.2051, 0.2392], [0.0073, 0.0130]],
    );
}

#[test]
fn a_seed_gives_one_answer_and_a_system_is_as_good_as_itself() {
    let (references, outputs) = made(LEAST_SENTENCES, &[10, 40]);
    let [first, second] = [0, 1].map(|n| counts(&outputs[n], &references, bleu));
    let with = |seed| compare(PairedTests { seed, ..tests(400) }, &first, &second).expect("sentences");
    assert_eq!(with(7), with(7));
    assert_ne!(with(7), with(8));
    let back = compare(tests(400), &second, &first).expect("sentences");
    assert_eq!((with(7).first, with(7).p_value, with(7).p_randomised), (back.second, back.p_value, back.p_randomised));
    assert!((with(7).difference.low + back.difference.high).abs() < 1e-9);
    let same = compare(tests(400), &first, &first).expect("sentences");
    assert_eq!((same.p_value, same.p_randomised, same.second_wins, same.ties), (Some(1.0), Some(1.0), 0.0, 1.0));
    assert_eq!(same.difference, Interval::default());
    assert_eq!(compare(tests(9), &first[..0], &second[..0]), None);
    assert_eq!(compare(tests(0), &first, &second), None);
    let few = compare(tests(99), &first[1..], &second[1..]).expect("sentences");
    assert_eq!(few.p_texts(), ["too few", "too few", "", ""]);
}

fn means(sentences: usize, levels: &[f32], misses: &[usize]) -> BootstrapSample<MeanCounts> {
    let (mut sample, mut next) = (BootstrapSample::new(sentences, 7), numbers());
    for at in 1..=sentences {
        let number = |level: &f32| level + next(100) as f32 / 100.0;
        let all: Vec<f32> = levels.iter().map(number).collect();
        let is_there = |n: usize| misses.get(n).is_none_or(|misses| at % misses != 0);
        sample.add(all.into_iter().enumerate().map(|(n, number)| MeanCounts::of(number).filter(|_| is_there(n))));
    }
    sample
}

/// Eleven systems had p of at least 0.0549 after Holm, however far apart they were.
#[test]
fn clear_differences_of_many_systems_are_significant_after_holm_and_make_ranks() {
    let levels = [0.0, 3.0, 3.0, 1.0, 9.0, 5.0, 5.01, 7.0, 8.0, 2.0, 4.0];
    let systems: Vec<usize> = (0..levels.len()).collect();
    let pairs = every_two(&systems, (4, 0));
    assert_eq!((pairs.len(), pairs[0]), (55, (4, 0)));
    let mut running = SystemTests::new(pairs.clone(), PairedTests::of_pairs(pairs.len()));
    running.add("COMET", true, &means(60, &levels, &[]));
    while running.step() {}
    let [tested] = &running.finish()[..] else { panic!("one score") };
    let (difference, paired) = tested.between(0, 4).expect("a pair");
    assert!((difference + 9.0).abs() < 0.2, "{difference}");
    assert_eq!(paired.p_texts(), ["< 0.0001", "< 0.0001", "< 0.0055", "< 0.0055"]);
    let ranks: Vec<(usize, usize)> = tested.systems.iter().map(|one| (one.rank.expect("p"), one.system)).collect();
    assert_eq!(ranks[..4], [(1, 4), (2, 8), (3, 7), (4, 6)]);
    assert_eq!((ranks[5], ranks[10]), ((5, 10), (9, 0)), "5.01 and 5 share a rank, and so do 3 and 3");
    // 25 systems have 300 pairs.
    let many = PairedTests::of_pairs(300);
    assert!(
        300.0 / (many.randomisation.min(many.bootstrap) + 1) as f64 <= 0.01
            && PairedTests::of_pairs(1).bootstrap >= 10_000
    );
}

#[test]
fn a_rank_ends_where_all_above_are_better_than_all_below() {
    let by = |better: &[(usize, usize)]| ranks(4, |above, below| better.contains(&(above, below)));
    assert_eq!(by(&[]), [1; 4]);
    assert_eq!(by(&[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]), [1, 2, 2, 3]);
    assert_eq!(by(&[(0, 2), (0, 3), (1, 3), (2, 3)]), [1, 1, 1, 2], "0 and 1 are equal, 1 and 2, too");
    assert_eq!(by(&[(0, 1), (0, 3), (1, 2), (2, 3)]), [1; 4]);
}

#[test]
fn gaps_and_groups_of_sentences_leave_p_as_it_is() {
    let alone = |sample, pair| {
        let mut trials = Trials::new(&sample, &[pair], tests(2000));
        while trials.step() {}
        trials.finish()[0].expect("sentences")
    };
    let of = |paired: &Paired| (paired.sentences, paired.p_value.expect("p"), paired.p_randomised.expect("p"));
    let (gaps, whole) =
        (alone(means(300, &[0.0, 0.05, 0.0], &[3, 5, 2]), (0, 1)), alone(means(300, &[0.0, 0.05, 0.0], &[]), (0, 1)));
    assert_eq!((gaps.sentences, whole.sentences), (160, 300));
    assert!((of(&gaps).1 - of(&gaps).2).abs() < 0.05 && of(&whole).1 < 0.1, "{gaps:?} {whole:?}");
    let many = alone(means(12_000, &[0.0, 0.008], &[]), (0, 1));
    // A z test of the same mean: the standard error is sqrt(2/12/12000).
    let wide = many.difference.high - many.difference.low;
    assert!((wide / (2.0 * 1.96 * (1.0_f64 / 6.0 / 12_000.0).sqrt()) - 1.0).abs() < 0.08, "{many:?}");
    assert_eq!(many.sentences, 12_000);
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
        assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(is_near), "{p:?}: {found:?}, {wanted:?}");
    }
    let (references, outputs) = made(LEAST_SENTENCES, &[10]);
    let counts = counts(&outputs[0], &references, bleu);
    let pair = |p: f64, p_randomised| Paired {
        p_value: Some(p),
        p_randomised,
        ..compare(tests(10), &counts, &counts).expect("both have all sentences")
    };
    let mut pairs = [pair(0.01, Some(0.2)), pair(0.04, Some(0.3)), pair(0.5, Some(0.01))];
    correct(pairs.iter_mut().collect());
    assert_eq!(pairs.map(|pair| pair.p_holm), [Some(0.03), Some(0.08), Some(0.5)]);
    assert_eq!(pairs.map(|pair| pair.p_randomised_holm), [Some(0.4), Some(0.4), Some(0.03)]);
    let mut alone = [pair(0.01, None), Paired { p_value: None, ..pair(0.1, None) }];
    correct(alone.iter_mut().collect());
    assert_eq!(alone[0].p_holm, None, "one pair needs no correction, and one of too few sentences is none");
}

#[test]
fn p_and_differences_are_written_alike() {
    assert_eq!(
        [0.00009999, 0.0001, 0.04999, 1.0].map(interlinear::text::cells::p_shown),
        ["< 0.0001", "0.0001", "0.0500", "1.0000"]
    );
    assert_eq!(
        [-0.004, 0.004, -0.0, 1.5, -1.5].map(|value| signed(value, 2)),
        ["0.00", "0.00", "0.00", "+1.50", "-1.50"]
    );
    assert_eq!([-0.004, 1.5, -1.5].map(|value| unsigned(value, 2)), ["0.00", "1.50", "-1.50"]);
}
