//! The statistical aligner: posteriors against all alignments written out, a likelihood that never falls, the same links on
//! any number of threads, and a file that is refused when it is damaged.

use std::path::Path;

use interlinear::aligner::bundled::{AlignerChoice, AlignerFile, AlignerFiles};
use interlinear::aligner::corpus::{AlignerText, CorpusBuilder};
use interlinear::aligner::jumps::{CELLS, FAR, Jumps, NEAR, REACH, Row};
use interlinear::aligner::learn::{LearningProgress, learn};
use interlinear::aligner::words::{Cutter, LineAligner};
use interlinear::aligner::{jumps, lattice::Lattice, learned::Learned, lexicon::Prior};
use interlinear::aligner::{lexicon::exp_digamma, pair::PairPosteriors, settings::AlignerSettings, vocabulary::fold};
use interlinear::error::{Error, Result};
use interlinear::{decoding::SystemSpec, models::choice::ModelSpec, text::links::Link};

use crate::{counted, folder::Folder, forever};

/// Numbers that look drawn, from a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }
}

/// A sentence pair as numbers: t(y_i | x_j), t(y_i | NULL), and jumps for each source word.
struct Case {
    n: usize,
    m: usize,
    t: Vec<Vec<f64>>,
    null: Vec<f64>,
    rows: Vec<Row>,
    start: Row,
    p0: f64,
}

impl Case {
    fn new(n: usize, m: usize, seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let mut row = || {
            let mut row = [0.0; CELLS];
            for p in &mut row {
                *p = 0.01 + numbers.next() as f32;
            }
            let sum: f32 = row.iter().sum();
            row.map(|p| p / sum)
        };
        let (rows, start) = ((0..n).map(|_| row()).collect(), row());
        let t = (0..m).map(|_| (0..n).map(|_| numbers.next()).collect()).collect();
        let null = (0..m).map(|_| numbers.next()).collect();
        Self { n, m, t, null, rows, start, p0: 0.3 }
    }

    fn lattice(&self) -> Lattice {
        let mut lattice = Lattice::default();
        // Room that was used for another pair is as good as new.
        lattice.prepare(self.n + 9, self.m + 2);
        lattice.prepare(self.n, self.m);
        for i in 0..self.m {
            lattice.set_null(i, self.null[i] as f32);
            for j in 0..self.n {
                lattice.set(i, j, self.t[i][j] as f32);
            }
        }
        lattice
    }

    /// d(jump from a place to another | the word there); places count from 1, 0 lies before the first word.
    fn d(&self, from: usize, to: usize) -> f64 {
        let row = if from == 0 { &self.start } else { &self.rows[from - 1] };
        let cell = (to + REACH).wrapping_sub(from);
        let near = if cell < NEAR { row[cell] } else { 0.0 };
        f64::from(near) + f64::from(row[FAR]) / (self.n + 1) as f64
    }

    fn all(&self) -> impl Iterator<Item = Vec<usize>> {
        let (n, m) = (self.n, self.m);
        (0..(n + 1).pow(m as u32)).map(move |mut number| {
            let mut a = Vec::with_capacity(m);
            for _ in 0..m {
                a.push(number % (n + 1));
                number /= n + 1;
            }
            a
        })
    }

    /// p(y, a | x) of the hidden Markov model.
    fn hmm(&self, a: &[usize]) -> f64 {
        let (mut p, mut place) = (1.0, 0);
        for (i, &to) in a.iter().enumerate() {
            if to == 0 {
                p *= self.p0 * self.null[i];
            } else {
                p *= (1.0 - self.p0) * self.d(place, to) * self.t[i][to - 1];
                place = to;
            }
        }
        p * self.d(place, self.n + 1)
    }

    /// p(y, a | x) of model 1 with a liking for the diagonal.
    fn model1(&self, a: &[usize], tension: f64) -> f64 {
        let weight = |i: usize, j: usize| {
            let middle = ((i as f64 + 0.5) / self.m as f64 * self.n as f64 - 0.5).clamp(0.0, self.n as f64 - 1.0);
            (-tension * (middle - j as f64).abs() / self.n as f64).exp()
        };
        let of = |(i, &to): (usize, &usize)| {
            let all: f64 = (0..self.n).map(|j| weight(i, j)).sum();
            match to {
                0 => self.p0 * self.null[i],
                to => (1.0 - self.p0) * weight(i, to - 1) / all * self.t[i][to - 1],
            }
        };
        a.iter().enumerate().map(of).product()
    }

    fn check(&self, lattice: &Lattice, log_p: f64, p: &dyn Fn(&[usize]) -> f64) {
        let (mut sum, mut posterior) = (0.0, vec![vec![0.0; self.n + 1]; self.m]);
        for a in self.all() {
            let p = p(&a);
            sum += p;
            a.iter().zip(&mut posterior).for_each(|(&to, row)| row[to] += p);
        }
        assert!((log_p - sum.ln()).abs() < 1e-4 * (1.0 + sum.ln().abs()), "{log_p} is not {}", sum.ln());
        for i in 0..self.m {
            assert!((f64::from(lattice.null(i)) - posterior[i][0] / sum).abs() < 1e-4);
            for j in 0..self.n {
                let (found, expect) = (f64::from(lattice.posterior(i, j)), posterior[i][j + 1] / sum);
                assert!((found - expect).abs() < 1e-4, "p(a_{i} = {j}) is {found} and not {expect}");
            }
        }
    }
}

#[test]
fn model_1_is_the_sum_over_all_alignments() {
    for (n, m, tension) in [(1, 1, 0.0), (3, 4, 0.0), (5, 3, 0.0), (1, 3, 4.0), (4, 4, 4.0), (9, 3, 12.0), (2, 5, 8.0)]
    {
        let case = Case::new(n, m, 1 + n as u64);
        let mut lattice = case.lattice();
        let log_p = lattice.model1(case.p0 as f32, tension);
        case.check(&lattice, log_p, &|a| case.model1(a, f64::from(tension)));
    }
}

#[test]
fn the_hidden_markov_model_is_the_sum_over_all_paths() {
    for (n, m) in [(1, 1), (1, 4), (2, 3), (7, 3), (8, 3), (9, 4), (17, 3)] {
        let case = Case::new(n, m, 7 * n as u64 + m as u64);
        let mut lattice = case.lattice();
        let words: Vec<Option<u32>> = (0..n as u32).map(Some).collect();
        let jumps = Jumps { common: case.start, words: case.rows.clone(), start: case.start };
        let log_p = lattice.hmm(case.p0 as f32, &words, &jumps);
        case.check(&lattice, log_p, &|a| case.hmm(a));
        jumps_are_those_of_all_paths(&case, &lattice, &words);
    }
}

fn jumps_are_those_of_all_paths(case: &Case, lattice: &Lattice, words: &[Option<u32>]) {
    let counts = jumps::JumpCounts::new(case.n);
    lattice.count_jumps(words, &counts, 0.0);
    let found = counts.estimate(0.0, 0.0).common;
    let mut expect = [0.0; CELLS];
    for a in case.all() {
        let (p, mut place) = (case.hmm(&a), 0);
        for to in a.into_iter().chain([case.n + 1]).filter(|to| *to > 0) {
            if place > 0 {
                let row = &case.rows[place - 1];
                let (cell, far) = ((to + REACH).wrapping_sub(place), f64::from(row[FAR]) / (case.n + 1) as f64);
                let share = far / case.d(place, to);
                expect[FAR] += p * share;
                if cell < NEAR {
                    expect[cell] += p * (1.0 - share);
                }
            }
            place = to;
        }
    }
    let all: f64 = expect.iter().sum();
    for (found, expect) in found.iter().zip(expect) {
        assert!((f64::from(*found) - expect / all).abs() < 1e-4, "{found} is not {}", expect / all);
    }
}

#[test]
fn a_count_under_a_dirichlet_prior_is_exp_of_digamma() {
    // psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2, psi(10) = H_9 - gamma
    let gamma = 0.577_215_664_901_532_9_f64;
    let h_9: f64 = (1..10).map(|n| 1.0 / f64::from(n)).sum();
    for (x, psi) in [(1.0, -gamma), (0.5, -gamma - 2.0 * 2.0_f64.ln()), (10.0, h_9 - gamma)] {
        assert!((exp_digamma(x) - psi.exp()).abs() < 1e-7, "at {x}");
    }
    assert_eq!(exp_digamma(0.0), 0.0);
}

fn made_up(pairs: usize) -> Vec<(String, String, Vec<Link>)> {
    let mut numbers = Numbers(11);
    (0..pairs)
        .map(|_| {
            let length = 2 + numbers.below(7);
            let mut words = Vec::new();
            while words.len() < length {
                let word = numbers.below(6) * numbers.below(6);
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            let mut order: Vec<usize> = (0..length).collect();
            let at = numbers.below(length);
            if at + 1 < length {
                order.swap(at, at + 1);
            }
            let source: Vec<String> = words.iter().map(|word| format!("a{word}")).collect();
            let mut target: Vec<String> = order.iter().map(|&j| format!("b{}", words[j])).collect();
            let links = order.iter().enumerate().map(|(target, &source)| Link { source, target }).collect();
            if numbers.below(3) == 0 {
                target.push("filler".to_owned());
            }
            (source.join(" "), target.join(" "), links)
        })
        .collect()
}

fn corpus(pairs: &[(String, String, Vec<Link>)], rare: u32) -> AlignerText {
    let mut reading = CorpusBuilder::default();
    for (source, target, _) in pairs {
        let words = |line: &'_ str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        reading.push(&words(source), &words(target));
    }
    reading.finish(rare)
}

const PLAIN: AlignerSettings = AlignerSettings {
    model1: 6,
    hmm: 8,
    tension: 0.0,
    p0: 0.2,
    prior: Prior { alpha: 0.0, alike: 0.0 },
    jump_weight: 0.0,
    jump_smoothing: 0.0,
    agreement: false,
    association: 0.0,
    floor: 1e-9,
    least: 0.0,
    prune: 0.0,
};

fn learned(settings: &AlignerSettings, threads: usize, pairs: usize) -> Learned {
    learn(corpus(&made_up(pairs), 1), settings, threads, &forever(), &mut |_| {}).expect("it learns")
}

#[test]
fn the_likelihood_never_falls() {
    let mut passes = Vec::new();
    let hear = &mut |progress: LearningProgress| {
        if let LearningProgress::Pass(pass) = progress {
            passes.push(pass);
        }
    };
    learn(corpus(&made_up(300), 1), &PLAIN, 2, &forever(), hear).expect("it learns");
    assert_eq!(passes.len(), PLAIN.model1 + PLAIN.hmm);
    for pair in passes.windows(2).filter(|pair| pair[0].model == pair[1].model) {
        for (before, after) in [(pair[0].forward, pair[1].forward), (pair[0].reverse, pair[1].reverse)] {
            // t(word | NULL) is kept from 0, which costs a little of the maximum.
            assert!(after > before - 1e-5 * before.abs(), "{} {}: {before} to {after}", pair[1].model, pair[1].number);
        }
    }
    let (first, last) = (passes[0], passes[passes.len() - 1]);
    assert!(last.forward > first.forward && last.reverse > first.reverse);
}

#[test]
fn the_links_of_made_up_pairs_are_found() {
    let aligner = learned(&AlignerSettings::default(), 2, 600);
    let (mut found, mut right, mut all) = (0, 0, 0);
    for (source, target, links) in made_up(100) {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = aligner.links(&words(&source), &words(&target));
        found += given.sure().len();
        right += given.sure().iter().filter(|link| links.contains(link)).count();
        all += links.len();
    }
    assert!(right * 100 > 90 * all && right * 100 > 95 * found, "{right} of {found} and of {all}");
}

#[test]
fn likely_links_lie_between_the_intersection_and_the_union() {
    let aligner = learned(&AlignerSettings::default(), 2, 60);
    let (mut room, mut more) = (PairPosteriors::default(), [0; 2]);
    for (source, target, _) in made_up(200) {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (source, target) = (words(&source), words(&target));
        let found = aligner.directions_in(&mut room, &source, &target);
        for target in 0..target.len() {
            for source in 0..source.len() {
                let link = Link { source, target };
                let p = [room.forward.posterior(target, source), room.reverse.posterior(source, target)];
                assert_eq!(found.likely.contains(&link), p[0] + p[1] > 1.0, "{p:?}");
                let there = [found.forward.contains(&link), found.reverse.contains(&link)];
                assert!(there != [false; 2] || !found.likely.contains(&link), "one direction has it");
                more[0] += usize::from(there == [true; 2]);
                more[1] += usize::from(found.likely.contains(&link));
            }
        }
    }
    assert!(more[0] != more[1], "{more:?}: the two rules never differ");
}

#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    let bytes = |threads| {
        let path = folder.join(format!("{threads}"));
        learned(&AlignerSettings::default(), threads, 700).save(&path).expect("it is written");
        std::fs::read(path).expect("it is there")
    };
    let one = bytes(1);
    assert!(one == bytes(3) && one == bytes(8));
}

#[test]
fn nobody_waits_for_learning_that_is_not_wanted() {
    let (counter, ticket) = counted();
    let stop = &mut |_| counter.cancel();
    let ended = learn(corpus(&made_up(300), 1), &AlignerSettings::default(), 2, &ticket, stop);
    assert!(matches!(ended, Err(Error::Stale)));
}

#[test]
fn a_corpus_without_words_teaches_nothing() {
    let mut reading = CorpusBuilder::default();
    reading.push::<&str>(&[], &["b"]);
    reading.push(&vec!["a"; 201], &["b"]);
    assert_eq!((reading.len(), reading.left_out), (0, 2));
    let ended = learn(reading.finish(1), &AlignerSettings::default(), 1, &forever(), &mut |_| {});
    assert!(ended.expect_err("there is nothing").to_string().contains("nothing to learn from"));
}

#[test]
fn words_are_folded_and_rare_ones_share_an_entry() {
    for (word, folded) in [("The", "the"), ("l\u{2019}", "l'"), ("\u{c9}t\u{c9}", "\u{e9}t\u{e9}"), ("a-b", "a-b")] {
        assert_eq!(fold(word), folded);
    }
    let mut reading = CorpusBuilder::default();
    for word in ["constraint", "constraints", "often", "often", "Often"] {
        reading.push(&[word], &["x"]);
    }
    let words = reading.finish(3).source_words;
    assert_eq!(words.len(), 2);
    assert_eq!(words.id("constrained"), words.id("constraints"));
    assert!(words.id("often").is_some() && words.id("of").is_none());
}

#[test]
fn links_are_told_of_what_stands_between_spaces() -> Result<()> {
    let mut reading = CorpusBuilder::default();
    for _ in 0..20 {
        reading.push(&["the", "friend", "."], &["l'", "ami", "."]);
        reading.push(&["the", "cat", "."], &["le", "chat", "."]);
        reading.push(&["a", "friend", "!"], &["un", "ami", "!"]);
    }
    let learned = learn(reading.finish(1), &AlignerSettings::default(), 1, &forever(), &mut |_| {})?;
    let mut aligner = LineAligner::new(learned, Cutter::new("en", false), Cutter::new("fr", false));
    let links = aligner.lines("The friend.", "L\u{2019}ami .");
    let link = |source, target| Link { source, target };
    assert_eq!(links.forward, [link(0, 0), link(1, 0)], "the full stop of `friend.` has no vote");
    let (source, target, _) = aligner.words("The friend.", "L\u{2019}ami .");
    assert_eq!(
        (source.exchange.places, target.exchange.places),
        (vec![Some(0), Some(1), None], vec![Some(0), Some(0), Some(1)])
    );
    assert!(aligner.lines("", "un").forward.is_empty() && aligner.lines("a", "").reverse.is_empty());
    Ok(())
}

#[test]
fn words_that_nobody_knows_are_linked_when_they_are_alike() {
    let aligner = learned(&AlignerSettings::default(), 1, 300);
    let links = aligner.links(&["a1", "Qwertz", "a2"], &["b1", "qwertz", "b2"]);
    assert!(links.sure().contains(&Link { source: 1, target: 1 }), "{links:?}");
}

#[test]
fn what_was_learned_comes_back_from_its_file() -> Result<()> {
    let (_folder, path) = Folder::and_path("kept");
    let mut aligner = learned(&AlignerSettings::default(), 1, 400);
    aligner.languages = ("en".to_owned(), "fr".to_owned());
    aligner.save(&path)?;
    let again = Learned::open(&path)?;
    assert_eq!(again.languages, aligner.languages);
    let same = |(source, target, _): &(String, String, Vec<Link>)| {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (source, target) = (words(source), words(target));
        again.links(&source, &target) == aligner.links(&source, &target)
    };
    // A probability is kept to 4 %, so what is nearly a tie may fall the other way.
    assert!(made_up(100).iter().filter(|pair| same(pair)).count() > 95);
    let few = aligner.pruned(10);
    few.save(&path)?;
    let few = Learned::open(&path)?;
    assert!((1..=10).contains(&few.source_words.len()) && few.source_words.len() < again.source_words.len());
    Ok(())
}

#[test]
fn a_damaged_file_is_refused_with_a_sentence() {
    let (_folder, path) = Folder::and_path("kept");
    learned(&AlignerSettings::default(), 1, 100).save(&path).expect("it is written");
    let bytes = std::fs::read(&path).expect("it is there");
    let head = bytes.iter().position(|byte| *byte == b'\n').expect("it has a first line") + 1;
    let payload = zstd::decode_all(&bytes[head..]).expect("it is packed");
    let with = |payload: &[u8]| [&bytes[..head], &zstd::encode_all(payload, 1).expect("it packs")].concat();
    let mut cases = vec![
        (Vec::new(), "is not what an aligner learned"),
        (b"0-0 1-1\n".to_vec(), "is not what an aligner learned"),
        (b"interlinear aligner 2\n".to_vec(), "version 2"),
        (bytes[..head].to_vec(), "damaged"),
        (bytes[..bytes.len() - 5].to_vec(), "damaged"),
        (with(&[&payload[..], b"x"].concat()), "damaged"),
        (with(&[b"\n\n".as_slice(), &[0xff; 5]].concat()), "damaged"),
    ];
    cases.extend((0..payload.len()).step_by(7).map(|end| (with(&payload[..end]), "damaged")));
    for (bytes, message) in cases {
        std::fs::write(&path, bytes).expect("it is written");
        let error = Learned::open(&path).expect_err("it is damaged").to_string();
        assert!(error.contains("kept") && error.contains(message), "{error}");
    }
    // What still fits together is read and can be used, whatever it says.
    for at in 0..payload.len() {
        let mut payload = payload.clone();
        payload[at] ^= 0x55;
        std::fs::write(&path, with(&payload)).expect("it is written");
        if let Ok(learned) = Learned::open(&path) {
            learned.links(&["a1", "a2"], &["b1", "b2"]);
        }
    }
    let missing = Learned::open(Path::new("no/such/file")).expect_err("it is not there");
    assert!(missing.is_users() && missing.to_string().contains("does not exist"));
}

#[test]
fn the_bundled_aligner_goes_both_ways() -> Result<()> {
    let mut there = LineAligner::bundled("en", "fr-CA", false)?.expect("it comes with the program");
    let mut back = LineAligner::bundled("fr", "en", false)?.expect("it comes with the program");
    let (source, target) =
        ("The red flowers of my sister are beautiful .", "Les fleurs rouges de ma s\u{153}ur sont belles .");
    let links = there.lines(source, target);
    for (source, target) in [(1, 2), (2, 1), (5, 5), (6, 6), (8, 8)] {
        assert!(links.forward.contains(&Link { source, target }), "{source}-{target} is not in {links:?}");
    }
    let turned = back.lines(target, source);
    let turn = |links: Vec<Link>| {
        let mut links: Vec<Link> = links.into_iter().map(Link::turned).collect();
        links.sort_unstable();
        links
    };
    assert_eq!((turn(turned.reverse), turn(turned.forward)), (links.forward, links.reverse));
    assert!(LineAligner::bundled("en", "und", false)?.is_none());
    Ok(())
}

/// One of English and French for two languages of which one is unknown was refused, or taken the wrong way round.
#[test]
fn a_file_that_comes_first_says_the_languages_that_nobody_knows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/aligner/en-fr.aligner");
    let gone = Path::new("gone.aligner").to_owned();
    for (source, target, first, is_guess, learned, is_in_trouble) in [
        ("en", "mul", &path, false, Some(("en", "fr")), false),
        ("mul", "en", &path, false, Some(("fr", "en")), false),
        ("und", "", &path, false, Some(("en", "fr")), false),
        ("mul", "de", &path, false, None, true),
        ("de", "en", &path, true, Some(("en", "fr")), false),
        ("fr", "en", &gone, true, Some(("fr", "en")), true),
    ] {
        let languages = (source.to_owned(), target.to_owned());
        let choice = AlignerChoice::new(languages, &AlignerFiles::default());
        let choice = AlignerChoice { first: Some(first.clone()), is_guess, ..choice };
        let found = choice.learned().map(|found| found.expect("it opens"));
        let tags = found.as_ref().map(|found| choice.tags(found));
        assert_eq!((tags, choice.trouble().is_some()), (learned, is_in_trouble), "{source}-{target}");
        let languages = found.as_ref().map(|found| (found.languages.0.as_str(), found.languages.1.as_str()));
        assert_eq!(languages, learned, "{source}-{target}");
    }
}

#[test]
fn the_file_of_a_corpus_comes_before_that_of_a_model_and_several_models_have_none() {
    let model = ModelSpec::from("models/a");
    let mut own = AlignerFiles::default();
    own.add(AlignerFile { path: "a.aligner".into(), languages: Default::default(), model: Some(model.clone()) });
    let two = [model.clone(), model.clone()];
    for (models, corpus, first) in [
        (&two[..1], None, Some("a.aligner")),
        (&two[..1], Some("corpus.aligner"), Some("corpus.aligner")),
        (&two[..], None, None),
        (&[][..], None, None),
    ] {
        let system = SystemSpec { members: models.to_vec(), ..SystemSpec::default() };
        let choice = AlignerChoice::of_system(&system, Default::default(), &own, corpus.map(Into::into));
        assert_eq!(choice.first.as_deref(), first.map(Path::new), "{models:?} {corpus:?}");
    }
}
