//! Beam search against its definition, brute force and the reference; forced decoding; batches.

mod ensemble;
pub mod fake;
mod pool;
mod reference;
mod sample;

use fake::Fake;
use interlinear::decoding::{
    Decoded, Hypothesis, LengthRule, Node, NodeFate, Ranking, SearchOptions, SearchProgress, Specials, batches, decode,
    force,
};
use interlinear::error::Error;

use crate::{counted, forever};

const EOS: u32 = 0;
const UNK: u32 = 1;
const SPECIALS: Specials = Specials { eos: EOS, unk: UNK, bars_unk: false };

#[derive(Default)]
struct Naive {
    hypotheses: Vec<(Vec<u32>, f64, bool)>,
    leaders: Vec<Vec<u32>>,
}

/// Equation 14 of Wu et al. 2016, or log p / |y|^A.
fn rank(model: &Fake, source: &[u32], tokens: &[u32], total: f64, options: &SearchOptions) -> f64 {
    let length = tokens.len() as f64;
    let total = match options.ranking.length {
        LengthRule::Power(a) => total / length.powf(f64::from(a)),
        LengthRule::Wu(alpha) => total * 6f64.powf(f64::from(alpha)) / (5.0 + length).powf(f64::from(alpha)),
    };
    if options.ranking.coverage == 0.0 {
        return total;
    }
    let mut covered = vec![0.0; source.len()];
    for i in 0..tokens.len() {
        let alpha = model.alpha(model.state(source, &tokens[..i]), source.len());
        covered.iter_mut().zip(alpha).for_each(|(sum, alpha)| *sum += f64::from(alpha));
    }
    total + f64::from(options.ranking.coverage) * covered.iter().map(|sum: &f64| sum.min(1.0).ln()).sum::<f64>()
}

fn allowed(model: &Fake, i: usize, token: u32, options: &SearchOptions) -> bool {
    match model.prefix.get(i) {
        Some(&forced) => token == forced,
        None => !(options.forbid_unk && token == UNK),
    }
}

fn naive(model: &Fake, source: &[u32], options: &SearchOptions) -> Naive {
    let best_first = |list: &mut Vec<(Vec<u32>, f64, bool)>| {
        let rank = |one: &(Vec<u32>, f64, bool)| rank(model, source, &one.0, one.1, options);
        list.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    };
    let max_length = options.max_length.unwrap_or(2 * source.len() + 10);
    let mut live = vec![(Vec::new(), 0.0)];
    let mut finished = Vec::new();
    let mut leaders = Vec::new();
    for i in 0..max_length {
        let mut extensions = Vec::new();
        for (parent, (tokens, total)) in live.iter().enumerate() {
            let log_p = model.log_p(model.state(source, tokens));
            for (token, value) in (0u32..).zip(log_p).filter(|&(token, _)| allowed(model, i, token, options)) {
                extensions.push((total + f64::from(value), parent, token));
            }
        }
        extensions.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        extensions.truncate(options.beam - finished.len());
        let mut next = Vec::new();
        for (total, parent, token) in extensions {
            let tokens = [live[parent].0.as_slice(), &[token]].concat();
            if token == EOS { finished.push((tokens, total, true)) } else { next.push((tokens, total)) }
        }
        live = next;
        let mut all = finished.clone();
        // Among the unfinished, which are equally long, log p alone decides.
        all.extend(live.first().map(|(tokens, total)| (tokens.clone(), *total, false)));
        best_first(&mut all);
        leaders.push(all[0].0.clone());
        if live.is_empty() {
            break;
        }
    }
    let mut hypotheses = finished;
    if hypotheses.is_empty() {
        hypotheses = live
            .into_iter()
            .filter(|(tokens, _)| !tokens.is_empty())
            .map(|(tokens, total)| (tokens, total, false))
            .collect();
    }
    best_first(&mut hypotheses);
    Naive { hypotheses, leaders }
}

fn run(model: &mut Fake, sources: &[&[u32]], options: &SearchOptions) -> Vec<Decoded> {
    decode(model, SPECIALS, sources, options, &forever(), &mut |_, _| {}).expect("the fake refuses nothing")
}

fn check_near(got: f32, expected: f64) {
    assert!((f64::from(got) - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{got} instead of {expected}");
}

fn check_hypothesis(model: &Fake, source: &[u32], got: &Hypothesis, options: &SearchOptions) {
    let length = got.tokens.len();
    assert_eq!((got.token_log_p.len(), got.candidates.len()), (length, length));
    assert_eq!((got.alpha.is_some(), got.energies.is_some()), (model.aligned, model.aligned));
    assert_eq!(got.p_t.as_ref().map(Vec::len), model.aligned.then_some(length));
    let mut total = 0.0;
    for i in 0..length {
        let state = model.state(source, &got.tokens[..i]);
        let log_p = model.log_p(state);
        assert_eq!(got.token_log_p[i], log_p[got.tokens[i] as usize]);
        total += f64::from(got.token_log_p[i]);
        check_candidates(&got.candidates[i], &log_p, options.candidates);
        if let (Some(alpha), Some(energies)) = (&got.alpha, &got.energies) {
            assert_eq!((alpha.len(), energies.len()), (length, length));
            assert_eq!(alpha[i], model.alpha(state, source.len()));
            assert_eq!(energies[i], model.energies(state, source.len()));
            assert_eq!(got.p_t.as_ref().map(|p_t| p_t[i]), Some(model.p_t(state)));
        }
    }
    check_near(got.log_p, total);
    check_near(got.rank, rank(model, source, &got.tokens, total, options));
    assert_eq!(got.finished, got.tokens.last() == Some(&EOS));
}

fn check_candidates(got: &[(u32, f32)], log_p: &[f32], count: usize) {
    let mut words: Vec<(u32, f32)> = (0..).zip(log_p.iter().copied()).collect();
    words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    words.truncate(count);
    assert_eq!(got, words);
}

fn ranking_of(seed: u64) -> Ranking {
    let length = [LengthRule::Power(0.0), LengthRule::Power(1.0), LengthRule::Power(0.6), LengthRule::Wu(0.8)];
    let coverage = if seed.is_multiple_of(7) { 0.0 } else { [0.0, 0.3, 0.0, 2.0, 0.0][(seed % 5) as usize] };
    Ranking { length: length[(seed / 2 % 4) as usize], coverage }
}

fn options_of(seed: u64) -> SearchOptions {
    SearchOptions {
        beam: 1 + (seed % 6) as usize,
        max_length: [None, Some(1), Some(4), Some(9)][(seed / 6 % 4) as usize],
        ranking: ranking_of(seed),
        forbid_unk: seed % 4 < 2,
        candidates: (seed % 5) as usize,
        trace: seed.is_multiple_of(3),
        ..SearchOptions::default()
    }
}

fn model_of(seed: u64) -> Fake {
    Fake {
        aligned: !seed.is_multiple_of(7),
        coarse: seed % 2 == 1,
        prefix: [vec![], vec![2], vec![], vec![3, UNK, 2], vec![], vec![2, EOS]][(seed / 5 % 6) as usize].clone(),
        ..Fake::new(seed, [4, 5, 9, 70][(seed / 3 % 4) as usize])
    }
}

const SOURCES: [&[u32]; 5] = [&[4, 2, EOS], &[EOS], &[2, 2, 3, 5, 7, EOS], &[3, EOS], &[9, 8, 7, 6, 5, 4, 3, EOS]];

#[test]
fn beam_equals_its_definition_alone_and_in_a_batch() {
    for seed in 0..240 {
        let (mut model, options) = (model_of(seed), options_of(seed));
        let sources = &SOURCES[..=(seed % 5) as usize];
        let together = run(&mut model, sources, &options);
        assert_eq!(together.len(), sources.len());
        for (source, decoded) in sources.iter().zip(&together) {
            let expected = naive(&model, source, &options);
            let got: Vec<_> = decoded.hypotheses.iter().map(|h| (h.tokens.clone(), h.finished)).collect();
            let plain: Vec<_> = expected.hypotheses.iter().map(|h| (h.0.clone(), h.2)).collect();
            assert_eq!(got, plain, "seed {seed}, {options:?}");
            for (hypothesis, expected) in decoded.hypotheses.iter().zip(&expected.hypotheses) {
                check_near(hypothesis.log_p, expected.1);
                check_hypothesis(&model, source, hypothesis, &options);
            }
            assert_eq!(decoded.context.is_some(), !model.aligned);
            assert_eq!(run(&mut model, &[source], &options)[0], *decoded, "seed {seed} alone");
        }
    }
}

fn enumerate(
    model: &Fake, source: &[u32], options: &SearchOptions, tokens: &mut Vec<u32>, total: f64,
    all: &mut Vec<(f64, Vec<u32>)>,
) {
    if tokens.last() == Some(&EOS) {
        all.push((rank(model, source, tokens, total, options), tokens.clone()));
        return;
    }
    if Some(tokens.len()) == options.max_length {
        return;
    }
    let log_p = model.log_p(model.state(source, tokens));
    for (token, value) in (0u32..).zip(log_p) {
        if allowed(model, tokens.len(), token, options) {
            tokens.push(token);
            enumerate(model, source, options, tokens, total + f64::from(value), all);
            tokens.pop();
        }
    }
}

#[test]
fn a_wide_beam_finds_what_brute_force_finds() {
    for seed in 0..40_u64 {
        let prefix = if seed.is_multiple_of(5) { vec![3] } else { Vec::new() };
        let mut model = Fake { prefix, ..Fake::new(seed, 4) };
        let options = SearchOptions {
            beam: 1000,
            max_length: Some(5),
            ranking: ranking_of(seed),
            forbid_unk: seed.is_multiple_of(2),
            ..SearchOptions::default()
        };
        let source = SOURCES[(seed % 5) as usize];
        let mut all = Vec::new();
        enumerate(&model, source, &options, &mut Vec::new(), 0.0, &mut all);
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let decoded = run(&mut model, &[source], &options);
        let got: Vec<_> = decoded[0].hypotheses.iter().map(|hypothesis| hypothesis.tokens.clone()).collect();
        assert_eq!(got, all.into_iter().map(|(_, tokens)| tokens).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn progress_tells_the_leader_after_every_step() {
    for seed in 0..120 {
        let (mut model, options) = (model_of(seed), options_of(seed));
        let mut heard: Vec<Vec<Hypothesis>> = vec![Vec::new(); SOURCES.len()];
        let mut encoded = [0; SOURCES.len()];
        let mut emit = |sentence: usize, progress: SearchProgress<'_>| match progress {
            SearchProgress::Encoded { context } => {
                assert_eq!(context.is_some(), seed.is_multiple_of(7));
                encoded[sentence] += 1;
            }
            SearchProgress::Expanded { best } => {
                assert_eq!(encoded[sentence], 1);
                heard[sentence].push(best.clone());
            }
        };
        decode(&mut model, SPECIALS, &SOURCES, &options, &forever(), &mut emit).expect("the fake refuses nothing");
        for (source, heard) in SOURCES.iter().zip(&heard) {
            let leaders: Vec<_> = heard.iter().map(|hypothesis| hypothesis.tokens.clone()).collect();
            assert_eq!(leaders, naive(&model, source, &options).leaders, "seed {seed}");
            for hypothesis in heard {
                check_hypothesis(&model, source, hypothesis, &options);
            }
        }
    }
}

fn check_tree(model: &Fake, source: &[u32], nodes: &[Node], options: &SearchOptions) {
    let mut prefixes: Vec<Vec<u32>> = Vec::new();
    for (id, node) in nodes.iter().enumerate() {
        assert_eq!(node.id, id);
        let parent = node.parent.map(|parent| &nodes[parent]);
        assert!(node.parent.is_none_or(|parent| parent < id));
        let mut prefix = node.parent.map_or(Vec::new(), |parent| prefixes[parent].clone());
        assert_eq!(node.step, prefix.len());
        let state = model.state(source, &prefix);
        assert_eq!(node.log_p, model.log_p(state)[node.token as usize]);
        check_near(node.total, f64::from(parent.map_or(0.0, |parent| parent.total)) + f64::from(node.log_p));
        assert_eq!(node.alpha, model.aligned.then(|| model.alpha(state, source.len()).into()));
        assert_eq!(node.energies, model.aligned.then(|| model.energies(state, source.len()).into()));
        assert_eq!(node.p_t, model.aligned.then(|| model.p_t(state)));
        check_candidates(&node.candidates, &model.log_p(state), options.candidates);
        prefix.push(node.token);
        prefixes.push(prefix);
    }
    let count = prefixes.len();
    prefixes.sort();
    prefixes.dedup();
    assert_eq!(prefixes.len(), count, "no extension is told twice");
}

fn check_fates(nodes: &[Node], options: &SearchOptions, max_length: usize) {
    let mut leads = vec![false; nodes.len()];
    let mut has_children = vec![false; nodes.len()];
    for node in nodes.iter().rev() {
        let ends = matches!(node.fate, NodeFate::Finished | NodeFate::Cut);
        leads[node.id] |= ends;
        if let Some(parent) = node.parent {
            leads[parent] |= leads[node.id];
            has_children[parent] = true;
        }
        assert!(!(ends && has_children[node.id]), "what ended is not extended");
        assert_eq!(node.fate == NodeFate::Finished, ends && node.token == EOS);
        assert!(node.fate != NodeFate::Cut || node.step + 1 == max_length);
        assert_eq!(node.fate == NodeFate::Alive, leads[node.id] && !ends);
    }
    let mut finished = 0;
    for step in 0..max_length {
        let here: Vec<&Node> = nodes.iter().filter(|node| node.step == step).collect();
        assert!(here.is_sorted_by(|a, b| a.total >= b.total), "each step is told best first");
        assert!(here.len() <= 2 * options.beam - finished);
        let kept = here.iter().rposition(|node| node.fate != NodeFate::Pruned || has_children[node.id]);
        assert!(kept.is_none_or(|place| place < options.beam - finished), "nothing is kept that found no room");
        finished += here.iter().filter(|node| node.fate == NodeFate::Finished).count();
    }
}

#[test]
fn the_trace_is_a_tree_that_explains_every_hypothesis() {
    let mut fates = Vec::new();
    for seed in 0..180 {
        let model = &mut Fake { prefix: Vec::new(), ..model_of(seed) };
        let options = SearchOptions { trace: true, ..options_of(seed) };
        for (source, decoded) in SOURCES.iter().zip(run(model, &SOURCES, &options)) {
            check_tree(model, source, &decoded.nodes, &options);
            check_fates(&decoded.nodes, &options, options.limit(source.len()));
            fates.extend(decoded.nodes.iter().map(|node| node.fate));
            for hypothesis in &decoded.hypotheses {
                let tip = hypothesis.node.expect("a trace was kept");
                let chain = std::iter::successors(Some(tip), |&node| decoded.nodes[node].parent);
                let mut tokens: Vec<u32> = chain.map(|node| decoded.nodes[node].token).collect();
                tokens.reverse();
                assert_eq!(tokens, hypothesis.tokens);
                assert_eq!(decoded.nodes[tip].total, hypothesis.log_p);
                assert_eq!(
                    decoded.nodes[tip].fate,
                    if hypothesis.finished { NodeFate::Finished } else { NodeFate::Cut }
                );
            }
            let ends = decoded.nodes.iter().filter(|node| node.fate == NodeFate::Finished).count();
            assert!(ends == 0 || ends == decoded.hypotheses.len(), "all that finished is returned");
        }
    }
    for fate in [NodeFate::Alive, NodeFate::Pruned, NodeFate::Finished, NodeFate::Cut] {
        assert!(fates.contains(&fate), "{fate:?} never came up");
    }
}

#[test]
fn without_a_trace_no_node_is_told() {
    let model = &mut Fake::new(3, 9);
    let traced = run(model, &SOURCES, &SearchOptions { trace: true, ..SearchOptions::default() });
    for (plain, traced) in run(model, &SOURCES, &SearchOptions::default()).iter().zip(traced) {
        assert!(plain.nodes.is_empty());
        assert!(
            plain
                .hypotheses
                .iter()
                .all(|hypothesis| hypothesis.node.is_none() && hypothesis.candidates.iter().all(Vec::is_empty))
        );
        let tokens = |decoded: &Decoded| decoded.hypotheses.iter().map(|h| h.tokens.clone()).collect::<Vec<_>>();
        assert_eq!(tokens(plain), tokens(&traced), "a trace changes nothing");
    }
}

#[test]
fn the_best_hypotheses_keep_their_numbers_where_not_all_have_room() {
    let model = &mut Fake::new(3, 9);
    let all = run(model, &SOURCES, &SearchOptions::default());
    for most_numbers in [0, 30, 100, usize::MAX] {
        for (whole, some) in
            all.iter().zip(run(model, &SOURCES, &SearchOptions { most_numbers, ..SearchOptions::default() }))
        {
            let numbers = |h: &Hypothesis| h.alpha.iter().chain(&h.energies).flatten().map(Vec::len).sum::<usize>();
            assert!(!some.hypotheses[0].left_out, "the best one is always whole");
            let total: usize = some.hypotheses.iter().map(numbers).sum();
            assert!(total <= most_numbers.max(numbers(&some.hypotheses[0])), "{total} of {most_numbers}");
            for (whole, some) in whole.hypotheses.iter().zip(&some.hypotheses) {
                assert_eq!((some.alpha.is_none(), some.energies.is_none()), (some.left_out, some.left_out));
                assert_eq!((&whole.tokens, whole.left_out), (&some.tokens, false));
                assert!(some.left_out || whole == some);
            }
        }
    }
    let aligned =
        |model: &mut Fake| run(model, &SOURCES, &SearchOptions { most_numbers: 0, ..SearchOptions::default() });
    let without = aligned(&mut Fake { aligned: false, ..model.clone() });
    assert!(without.iter().flat_map(|decoded| &decoded.hypotheses).all(|h| !h.left_out && h.alpha.is_none()));
}

#[test]
fn a_prefix_opens_every_hypothesis() {
    let prefix = vec![3, UNK, 2];
    let model = &mut Fake { prefix: prefix.clone(), ..Fake::new(11, 6) };
    let options = SearchOptions { forbid_unk: true, beam: 4, ..SearchOptions::default() };
    for decoded in run(model, &SOURCES, &options) {
        for hypothesis in &decoded.hypotheses {
            assert_eq!(hypothesis.tokens[..3], prefix, "the prefix may name what is forbidden elsewhere");
            assert!(!hypothesis.tokens[3..].contains(&UNK));
        }
    }
    let cut = run(model, &SOURCES[..1], &SearchOptions { max_length: Some(2), ..options.clone() });
    assert_eq!(cut[0].hypotheses[0].tokens, prefix[..2], "the maximal length holds for a prefix too");
    model.prefix = vec![3, EOS, 2];
    let ended = run(model, &SOURCES[..1], &options);
    assert_eq!(ended[0].hypotheses.len(), 1);
    assert_eq!(ended[0].hypotheses[0].tokens, [3, EOS], "a prefix may end the sentence");
}

#[test]
fn a_stale_ticket_stops_at_once() {
    for step in 0..4 {
        let (counter, ticket) = counted();
        let mut model = Fake { cancel: Some((step, counter)), ..Fake::new(1, 30) };
        let mut heard = 0;
        let result = decode(&mut model, SPECIALS, &SOURCES, &SearchOptions::default(), &ticket, &mut |_, progress| {
            heard += usize::from(matches!(progress, SearchProgress::Expanded { .. }));
        });
        assert!(matches!(result, Err(Error::Stale)));
        assert_eq!((model.steps, heard), (step + 1, step * SOURCES.len()), "nothing is done or told after step {step}");
        let result = decode(&mut model, SPECIALS, &SOURCES, &SearchOptions::default(), &ticket, &mut |_, _| {});
        assert!(matches!(result, Err(Error::Stale)));
        assert!(matches!(force(&mut model, &[(SOURCES[0], SOURCES[2])], &ticket), Err(Error::Stale)));
        assert_eq!(model.begun, 1, "what is stale before it starts is not even encoded");
    }
}

#[test]
fn a_listener_can_stop_the_search() {
    let (counter, ticket) = counted();
    let mut model = Fake::new(2, 30);
    let result = decode(&mut model, SPECIALS, &SOURCES[..1], &SearchOptions::default(), &ticket, &mut |_, progress| {
        if matches!(progress, SearchProgress::Expanded { best } if best.tokens.len() == 2) {
            counter.cancel();
        }
    });
    assert!(matches!(result, Err(Error::Stale)));
    assert_eq!(model.steps, 2);
}

#[test]
fn forced_decoding_reads_off_each_target() {
    for seed in 0..20u64 {
        let mut model = Fake { aligned: !seed.is_multiple_of(3), ..Fake::new(seed, 11) };
        let targets: [&[u32]; 5] = [&[2, 3, EOS], &[4, 4, 4, 9, 2, EOS], &[], &[EOS], &[10, EOS]];
        let pairs: Vec<(&[u32], &[u32])> = SOURCES.iter().copied().zip(targets).collect();
        let together = force(&mut model, &pairs, &forever()).expect("the fake refuses nothing");
        assert_eq!(model.steps, 6);
        for (&(source, target), got) in pairs.iter().zip(&together) {
            let states: Vec<u64> = (0..target.len()).map(|i| model.state(source, &target[..i])).collect();
            let token_log_p: Vec<f32> =
                states.iter().zip(target).map(|(&state, &token)| model.log_p(state)[token as usize]).collect();
            check_near(got.log_p, token_log_p.iter().map(|&value| f64::from(value)).sum());
            assert_eq!(got.token_log_p, token_log_p);
            let rows = model.aligned && !target.is_empty();
            assert_eq!(got.alpha, rows.then(|| states.iter().map(|&state| model.alpha(state, source.len())).collect()));
            assert_eq!(
                got.energies,
                rows.then(|| states.iter().map(|&state| model.energies(state, source.len())).collect())
            );
            assert_eq!(got.p_t, rows.then(|| states.iter().map(|&state| model.p_t(state)).collect::<Vec<_>>()));
            let alone = force(&mut model, &[(source, target)], &forever()).expect("the fake refuses nothing");
            assert_eq!(alone[0], *got);
        }
    }
}

#[test]
fn forcing_a_hypothesis_gives_back_its_numbers() {
    let model = &mut Fake::new(5, 9);
    for (source, decoded) in SOURCES.iter().zip(run(model, &SOURCES, &SearchOptions::default())) {
        for hypothesis in decoded.hypotheses {
            let forced = force(model, &[(source, &hypothesis.tokens)], &forever()).expect("the fake refuses nothing");
            assert_eq!((forced[0].log_p, &forced[0].alpha), (hypothesis.log_p, &hypothesis.alpha));
        }
    }
}

#[test]
fn what_cannot_be_searched_is_said_in_a_sentence() {
    let check = |model: Fake, options: SearchOptions, source: &[u32], expected: &str| {
        let result = decode(&mut model.clone(), SPECIALS, &[source], &options, &forever(), &mut |_, _| {});
        let message = result.expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
    };
    let plain = SearchOptions::default;
    check(Fake::new(1, 9), SearchOptions { beam: 0, ..plain() }, &[2, EOS], "the beam is 0");
    check(Fake::new(1, 9), plain(), &[], "source sentence 1 is empty");
    let covering = SearchOptions { ranking: Ranking { coverage: 0.2, ..Ranking::default() }, ..plain() };
    check(Fake { aligned: false, ..Fake::new(1, 9) }, covering, &[2, EOS], "the coverage penalty needs an alignment");
    check(Fake { broken_at: Some(1), ..Fake::new(1, 9) }, plain(), &[2, EOS], "at target position 2");
    for beam in [1, 5] {
        let impossible = Fake { impossible: Some(4), prefix: vec![2, 4, 3], ..Fake::new(1, 9) };
        check(impossible, SearchOptions { beam, ..plain() }, &[2, EOS], "forced at target position 2 (id 4)");
    }
    let forced = force(&mut Fake::new(1, 9), &[(&[2, EOS], &[2, 9, EOS])], &forever());
    assert!(forced.expect_err("9 is no word").to_string().contains("word 2 of a target has the id 9"));
}

#[test]
fn nothing_in_nothing_out() {
    let model = &mut Fake::new(1, 9);
    assert!(run(model, &[], &SearchOptions::default()).is_empty());
    assert!(force(model, &[], &forever()).expect("nothing to refuse").is_empty());
    let none =
        run(model, &SOURCES[..2], &SearchOptions { max_length: Some(0), trace: true, ..SearchOptions::default() });
    assert!(none.iter().all(|decoded| decoded.hypotheses.is_empty() && decoded.nodes.is_empty()));
}

#[test]
fn batches_hold_every_index_once_and_like_lengths_together() {
    assert_eq!(batches(&[5, 1, 3, 1, 2], 2), [vec![1, 3], vec![4, 2], vec![0]]);
    assert_eq!(batches(&[2, 1], 0), [vec![1], vec![0]]);
    assert!(batches(&[], 4).is_empty());
    let lengths: Vec<usize> = (0..1000).map(|i| i * 7919 % 53).collect();
    let cut = batches(&lengths, 8);
    let mut seen: Vec<usize> = cut.iter().flatten().copied().collect();
    assert!(seen[..160].iter().all(|&index| index < 160), "a window does not reach beyond its sentences");
    assert!(seen[..160].is_sorted_by_key(|&index| lengths[index]));
    seen.sort_unstable();
    assert_eq!(seen, (0..1000).collect::<Vec<_>>());
    assert!(cut.iter().all(|batch| batch.len() <= 8));
}
