//! The count of operations against the papers' equations, written out for one model of each kind.

use interlinear::models::config::{Architecture, AttentionKind, Config, LuongSizes};

use crate::models::tiny;
use operations::Cost;

#[path = "../bench/cost.rs"]
mod operations;

const K: u64 = 1000;
const M: u64 = 30;
const N: u64 = 40;
const L: u64 = 20;
const A: u64 = 50;

fn config(architecture: Architecture, output_rank: Option<usize>) -> Config {
    let size = |key, size| if architecture.entry().needs.contains(&key) { size } else { 0 };
    let (maxout, alignment) = (size("maxout", L), size("alignment", A));
    Config {
        target_vocabulary: K as usize,
        embedding: M as usize,
        hidden: N as usize,
        maxout: maxout as usize,
        alignment: alignment as usize,
        ..tiny(architecture, output_rank)
    }
}

fn luong(attention: AttentionKind, score: &str, input_feeding: bool) -> Config {
    let sizes = LuongSizes {
        layers: 2,
        attention,
        score: score.into(),
        input_feeding,
        reverse_source: true,
        window: if attention.is_local() { 3 } else { 0 },
        max_source: if score == "location" { 60 } else { 0 },
        start: 2,
    };
    Config { own: sizes.into(), ..config(Architecture::LUONG, None) }
}

#[test]
fn operations_are_those_of_the_equations() {
    // multiplications, each with an addition: (source word, sentence, step, output, look)
    let lstm = |x: u64| 4 * N * (x + N);
    let stack = |x: u64| lstm(x) + lstm(N);
    let cases = [
        (
            config(Architecture::RNN_SEARCH, None),
            [
                2 * 3 * N * (M + N) + A * 2 * N,
                N * N,
                A * N + 3 * N * (M + N + 2 * N) + 2 * L * (N + M + 2 * N),
                K * L,
                A + 2 * N,
            ],
        ),
        (
            config(Architecture::RNN_ENC_DEC, None),
            [3 * N * (M + N), 2 * N * N + 3 * N * N + 2 * L * N, 3 * N * (M + N) + 2 * L * (N + M), K * L, 0],
        ),
        (
            config(Architecture::RNN_ENC_DEC, Some(7)),
            [3 * N * (M + N), 2 * N * N + 3 * N * N + 2 * L * N, 3 * N * (M + N) + 2 * L * (N + M), 7 * (K + L), 0],
        ),
        (luong(AttentionKind::None, "dot", false), [stack(M), 0, stack(M), K * N, 0]),
        (luong(AttentionKind::Global, "dot", true), [stack(M), 0, stack(M + N) + 2 * N * N, K * N, 2 * N]),
        (luong(AttentionKind::Global, "general", true), [stack(M) + N * N, 0, stack(M + N) + 2 * N * N, K * N, 2 * N]),
        (luong(AttentionKind::Global, "concat", false), [stack(M) + N * N, 0, stack(M) + 3 * N * N, K * N, 2 * N]),
        (luong(AttentionKind::Global, "location", true), [stack(M), 0, stack(M + N) + 2 * N * N + 60 * N, K * N, N]),
        (luong(AttentionKind::LocalP, "dot", true), [stack(M), 0, stack(M + N) + 3 * N * N, K * N, 2 * N]),
    ];
    for (config, [source_word, sentence, step, output, look]) in cases {
        let cost = Cost::of(&config);
        let what = format!("{:?}", config.luong().map(|luong| (luong.attention, &luong.score)));
        assert_eq!(cost.source_word, 2 * source_word, "{what}");
        assert_eq!(cost.sentence, 2 * sentence, "{what}");
        assert_eq!(cost.step, 2 * step, "{what}");
        assert_eq!(cost.output, 2 * output, "{what}");
        assert_eq!(cost.look, 2 * look, "{what}");
        assert_eq!(cost.encode(5), 2 * (sentence + 5 * source_word), "{what}");
        assert_eq!(cost.train(5, 4), 3 * (cost.encode(5) + 4 * cost.decode(5)), "{what}");
    }
}

#[test]
fn local_attention_pays_for_its_window_only() {
    for (config, looked) in
        [(luong(AttentionKind::Global, "dot", true), 30), (luong(AttentionKind::LocalM, "dot", true), 7)]
    {
        let cost = Cost::of(&config);
        assert_eq!(cost.decode(30), cost.step + cost.output + looked * cost.look);
        assert_eq!(cost.decode(2), cost.step + cost.output + 2 * cost.look);
    }
}
