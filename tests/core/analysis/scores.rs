//! BLEU, chrF2 and TER against the numbers of sacreBLEU 2.6.0, sentences of our own.

use interlinear::analysis::bleu::{BleuSettings, Tokenization};
use interlinear::analysis::{bleu, chrf, mteval, ter};
use interlinear::analysis::{mteval::TOKENIZATIONS, ngrams::Ngrams};

struct Case {
    hypotheses: &'static [&'static str],
    references: &'static [&'static [&'static str]],
    settings: BleuSettings,
    bleu: (f64, f64),
    chrf: (f64, f64),
    /// What sacreBLEU prints behind the score.
    details: &'static str,
}

const fn mixed(tokenization: Tokenization) -> BleuSettings {
    BleuSettings { tokenization, lowercase: false }
}

const fn lowercase(tokenization: Tokenization) -> BleuSettings {
    BleuSettings { tokenization, lowercase: true }
}

const CHINESE: &[&str] =
    &["红色的灯挂在门上，12.5米高。", "他说\u{201c}明天见\u{201d}——然后走了", "The lamp 在 Paris, 3-5 天"];
const CHINESE_REFERENCES: &[&[&str]] = &[
    &["红灯挂在门的上方，12.5米高。", "他说\u{201c}明天见\u{201d}，然后就走了", "The lamp 在 Paris. 3-5天"],
    &["门上挂着一盏红灯，高12.5米。", "\u{201c}明天见\u{201d}，他说完就走了", "这盏灯在 Paris, 3-5天"],
];

const CASES: &[Case] = &[
    Case {
        hypotheses: &["The lamp over the door is green."],
        references: &[&["The lamp above the door is green."]],
        settings: mixed(Tokenization::Mteval13a),
        bleu: (59.4603557501361, 59.4603557501361),
        chrf: (73.14077744284798, 73.14077744284798),
        details: "87.5/71.4/50.0/40.0 (BP = 1.000 ratio = 1.000 hyp_len = 8 ref_len = 8)",
    },
    Case {
        hypotheses: &["The Lamp over the door is green."],
        references: &[&["the lamp above the door is GREEN."]],
        settings: lowercase(Tokenization::Mteval13a),
        bleu: (59.4603557501361, 59.4603557501361),
        chrf: (73.14077744284798, 73.14077744284798),
        details: "87.5/71.4/50.0/40.0 (BP = 1.000 ratio = 1.000 hyp_len = 8 ref_len = 8)",
    },
    Case {
        hypotheses: &["Elle a payé 12,50 € à l’épicerie."],
        references: &[&["Elle a payé 12,50€ à l'épicerie."]],
        settings: mixed(Tokenization::International),
        bleu: (70.71067811865478, 70.71067811865478),
        chrf: (85.15424403830202, 85.15424403830202),
        details: "90.0/77.8/62.5/57.1 (BP = 1.000 ratio = 1.000 hyp_len = 10 ref_len = 10)",
    },
    Case {
        hypotheses: &["Elle a payé 12,50 € à l’épicerie."],
        references: &[&["Elle a payé 12,50€ à l'épicerie."]],
        settings: mixed(Tokenization::Mteval13a),
        bleu: (23.356898886410015, 23.356898886410015),
        chrf: (85.15424403830202, 85.15424403830202),
        details: "62.5/28.6/16.7/10.0 (BP = 1.000 ratio = 1.143 hyp_len = 8 ref_len = 7)",
    },
    Case {
        hypotheses: &["Elle a payé 12,50 € à l’épicerie."],
        references: &[&["Elle a payé 12,50€ à l'épicerie."]],
        settings: mixed(Tokenization::None),
        bleu: (26.269098944241588, 26.269098944241588),
        chrf: (85.15424403830202, 85.15424403830202),
        details: "57.1/33.3/20.0/12.5 (BP = 1.000 ratio = 1.167 hyp_len = 7 ref_len = 6)",
    },
    Case {
        hypotheses: &["In 2019. the price (3.14$) rose—twice…"],
        references: &[&["In 2019 . the price ( 3.14 $ ) rose — twice …"]],
        settings: mixed(Tokenization::International),
        bleu: (100.00000000000004, 100.00000000000004),
        chrf: (100.0, 100.0),
        details: "100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 13 ref_len = 13)",
    },
    Case {
        hypotheses: &["هل قرأت الكتاب، يا سامي؟ نعم، مرّتين."],
        references: &[&["هل قرأت هذا الكتاب يا سامي؟ نعم، مرتين."]],
        settings: mixed(Tokenization::International),
        bleu: (42.969435238201484, 42.969435238201484),
        chrf: (64.32293733781538, 64.32293733781538),
        details: "81.8/50.0/33.3/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 11 ref_len = 11)",
    },
    Case {
        hypotheses: &["窓の外に、小さな鳥がいる。"],
        references: &[&["窓の外に小さい鳥がいます。"]],
        settings: mixed(Tokenization::International),
        bleu: (15.97357760615681, 15.97357760615681),
        chrf: (27.365967365967364, 27.365967365967364),
        details: "25.0/16.7/12.5/12.5 (BP = 1.000 ratio = 2.000 hyp_len = 4 ref_len = 2)",
    },
    Case {
        hypotheses: &["窓の外に、小さな鳥がいる。"],
        references: &[&["窓の外に小さい鳥がいます。"]],
        settings: mixed(Tokenization::Mteval13a),
        bleu: (0.0, 0.0),
        chrf: (27.365967365967364, 27.365967365967364),
        details: "0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 1 ref_len = 1)",
    },
    Case {
        hypotheses: &["नदी के पार, एक पुराना पुल है।"],
        references: &[&["नदी के उस पार एक पुराना पुल है।"]],
        settings: mixed(Tokenization::International),
        bleu: (53.07712171072444, 53.07712171072444),
        chrf: (69.18227191197558, 69.18227191197558),
        details: "88.9/62.5/42.9/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 9 ref_len = 9)",
    },
    Case {
        hypotheses: &["👩\u{200d}🚀 waves 👋🏽 at the moon!"],
        references: &[&["👩\u{200d}🚀 waves at 👋🏽 the moon!"]],
        settings: mixed(Tokenization::International),
        bleu: (43.47208719449915, 43.47208719449915),
        chrf: (66.61678706570348, 66.61678706570348),
        details: "100.0/66.7/37.5/14.3 (BP = 1.000 ratio = 1.000 hyp_len = 10 ref_len = 10)",
    },
    Case {
        hypotheses: &["cafe\u{301} noir, s\u{327}il vous plai\u{302}t"],
        references: &[&["café noir, s'il vous plaît"]],
        settings: mixed(Tokenization::International),
        bleu: (12.872632311973014, 12.872632311973014),
        chrf: (54.48542489791565, 54.48542489791565),
        details: "50.0/20.0/12.5/8.3 (BP = 0.717 ratio = 0.750 hyp_len = 6 ref_len = 8)",
    },
    Case {
        hypotheses: &["", "One line came out.", "Two\u{a0}lines\u{2009} came\u{3000}out."],
        references: &[&["Nothing came out.", "One line came out.", ""]],
        settings: mixed(Tokenization::Mteval13a),
        bleu: (49.99999999999999, 33.33333333333335),
        chrf: (55.55555555555556, 33.333333333333336),
        details: "50.0/50.0/50.0/50.0 (BP = 1.000 ratio = 1.111 hyp_len = 10 ref_len = 9)",
    },
    Case {
        hypotheses: &["&quot;Tea &amp; cake&quot;, she said-\nand left. <skipped>"],
        references: &[&["\"Tea & cake\", she said and left."]],
        settings: mixed(Tokenization::Mteval13a),
        bleu: (63.981667416455416, 63.981667416455416),
        chrf: (49.48972707985684, 49.48972707985684),
        details: "90.0/77.8/62.5/57.1 (BP = 0.905 ratio = 0.909 hyp_len = 10 ref_len = 11)",
    },
    Case {
        hypotheses: &["&quot;Tea &amp; cake&quot;, she said-\nand left. <skipped>"],
        references: &[&["\"Tea & cake\", she said and left."]],
        settings: mixed(Tokenization::International),
        bleu: (13.304062588217075, 13.304062588217075),
        chrf: (49.48972707985684, 49.48972707985684),
        details: "42.9/25.0/10.5/2.8 (BP = 1.000 ratio = 1.909 hyp_len = 21 ref_len = 11)",
    },
    Case {
        hypotheses: &["The boat drifts past the old mill at dusk.", "Nobody heard the second bell."],
        references: &[
            &["At dusk the boat drifts past the old mill.", "No one heard the second bell."],
            &["The boat floats past the ancient mill at dusk.", "Nobody had heard the second bell ring."],
            &["A boat drifts by the old mill at dusk.", ""],
        ],
        settings: mixed(Tokenization::Mteval13a),
        bleu: (83.32735744165156, 80.18934986719245),
        chrf: (81.03817729559943, 80.67717252109071),
        details: "100.0/92.9/83.3/80.0 (BP = 0.939 ratio = 0.941 hyp_len = 16 ref_len = 17)",
    },
    Case {
        hypotheses: &["ΟΔΟΣ ΑΣ. İZMİR STRASSE"],
        references: &[&["οδος ας. i\u{307}zmir straße"]],
        settings: lowercase(Tokenization::Mteval13a),
        bleu: (39.76353643835252, 39.76353643835252),
        chrf: (70.52541096804838, 70.52541096804838),
        details: "60.0/50.0/33.3/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)",
    },
    Case {
        hypotheses: &["a b c"],
        references: &[&["a b d"]],
        settings: mixed(Tokenization::None),
        bleu: (0.0, 55.03212081491043),
        chrf: (38.888888888888886, 38.888888888888886),
        details: "66.7/50.0/50.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 3 ref_len = 3)",
    },
    Case {
        hypotheses: &["?", "!"],
        references: &[&["?", "."]],
        settings: mixed(Tokenization::International),
        bleu: (0.0, 50.00000000000002),
        chrf: (50.0, 50.0),
        details: "50.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 2 ref_len = 2)",
    },
    Case {
        hypotheses: CHINESE,
        references: &[CHINESE_REFERENCES[0]],
        settings: mixed(Tokenization::Chinese),
        bleu: (55.826518040702005, 56.11373803908595),
        chrf: (61.91773990958195, 60.13758935327564),
        details: "88.6/65.6/48.3/34.6 (BP = 1.000 ratio = 1.000 hyp_len = 35 ref_len = 35)",
    },
    Case {
        hypotheses: CHINESE,
        references: CHINESE_REFERENCES,
        settings: mixed(Tokenization::Chinese),
        bleu: (65.629712946569, 68.65255133128439),
        chrf: (61.91773990958195, 60.13758935327564),
        details: "91.4/75.0/58.6/46.2 (BP = 1.000 ratio = 1.000 hyp_len = 35 ref_len = 35)",
    },
    Case {
        hypotheses: CHINESE,
        references: &[CHINESE_REFERENCES[0]],
        settings: mixed(Tokenization::Characters),
        bleu: (70.02679704336032, 68.08417066092716),
        chrf: (61.91773990958195, 60.13758935327564),
        details: "91.5/75.0/63.4/55.3 (BP = 1.000 ratio = 1.000 hyp_len = 47 ref_len = 47)",
    },
    Case {
        hypotheses: CHINESE,
        references: CHINESE_REFERENCES,
        settings: lowercase(Tokenization::Characters),
        bleu: (77.26695526153253, 73.9485727859826),
        chrf: (61.91773990958195, 60.13758935327564),
        details: "93.6/81.8/70.7/65.8 (BP = 1.000 ratio = 1.000 hyp_len = 47 ref_len = 47)",
    },
];

fn of_sentence(case: &Case, i: usize) -> Vec<&'static str> {
    case.references.iter().map(|stream| stream[i]).collect()
}

#[test]
fn bleu_is_that_of_sacrebleu_for_every_setting() {
    for case in CASES {
        let count = |(i, text): (usize, &&str)| bleu::BleuCounts::of(text, &of_sentence(case, i), &case.settings);
        let counts: Vec<bleu::BleuCounts> = case.hypotheses.iter().enumerate().map(count).collect();
        let bleu = counts.iter().sum::<bleu::BleuCounts>().bleu();
        let sentences = counts.iter().map(bleu::BleuCounts::sentence).sum::<f64>() / counts.len() as f64;
        let near = (bleu.score - case.bleu.0).abs() < 1e-9 && (sentences - case.bleu.1).abs() < 1e-9;
        assert!(near, "{:?}: {} {sentences}, not {:?}", case.hypotheses, bleu.score, case.bleu);
        assert_eq!(bleu.details(), case.details, "{:?}", case.hypotheses);
    }
}

#[test]
fn chrf_is_that_of_sacrebleu() {
    for case in CASES {
        let lowercase = case.settings.lowercase;
        let count = |(i, text): (usize, &&str)| chrf::ChrfCounts::of(text, &of_sentence(case, i), lowercase);
        let counts: Vec<chrf::ChrfCounts> = case.hypotheses.iter().enumerate().map(count).collect();
        let corpus = counts.iter().sum::<chrf::ChrfCounts>().score();
        let sentences = counts.iter().map(chrf::ChrfCounts::score).sum::<f64>() / counts.len() as f64;
        let near = (corpus - case.chrf.0).abs() < 1e-9 && (sentences - case.chrf.1).abs() < 1e-9;
        assert!(near, "{:?}: {corpus} {sentences}, not {:?}", case.hypotheses, case.chrf);
    }
    let of = |text: &str| chrf::ChrfCounts::of(text, &[text], false);
    assert_eq!([of("same"), of("")].iter().sum::<chrf::ChrfCounts>().score(), 100.0);
    assert_eq!(chrf::ChrfCounts::of("no reference", &[], false), chrf::ChrfCounts::default());
    // Of references that are equally far the first counts, as there.
    assert_eq!(chrf::ChrfCounts::of("abc", &["xy", "uvwxyz"], false).reference, [2, 1, 0, 0, 0, 0]);
}

/// `_get_tokenizer("intl")()(text.rstrip())`.
/// Pseudo-random lines, the same as those that sacreBLEU was given: a reference, and a hypothesis made of it by moving phrases
/// and by other edits; the last ones are long, and of ten neither has anything to do with the other.
fn edited_lines() -> Vec<(String, String)> {
    let mut state: u64 = 7;
    let mut draw = |n: usize| {
        state = (state * 1_103_515_245 + 12345) % (1 << 31);
        (state >> 8) as usize % n
    };
    let line = |words: &[usize]| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    for k in 0..EDITS.len() {
        let v = 3 + draw(40);
        let n = if k < 110 { draw(45) } else { 60 + draw(80) };
        let reference: Vec<usize> = (0..n).map(|_| draw(v)).collect();
        let mut words = reference.clone();
        if k >= 120 {
            let n = draw(140);
            words = (0..n).map(|_| draw(v)).collect();
        }
        for _ in 0..draw(7) {
            match draw(4) {
                0 if !words.is_empty() => {
                    let start = draw(words.len());
                    let length = 1 + draw((words.len() - start).min(6));
                    let phrase: Vec<usize> = words.drain(start..start + length).collect();
                    let to = draw(words.len() + 1);
                    words.splice(to..to, phrase);
                }
                1 if !words.is_empty() => {
                    let word = draw(v);
                    let at = draw(words.len());
                    words[at] = word;
                }
                2 if !words.is_empty() => {
                    let at = draw(words.len());
                    words.remove(at);
                }
                3 => {
                    let at = draw(words.len() + 1);
                    words.insert(at, draw(v));
                }
                _ => {}
            }
        }
        lines.push((line(&words), line(&reference)));
    }
    lines
}

const EDITS: [u64; 130] = [
    0, 1, 6, 1, 1, 3, 1, 3, 5, 4, 3, 3, 3, 3, 4, 6, 1, 0, 3, 4, 1, 3, 3, 3, 5, 3, 0, 1, 0, 1, 2, 2, 2, 0, 3, 0, 0, 0,
    4, 0, 1, 5, 0, 3, 0, 4, 4, 4, 2, 3, 6, 1, 1, 0, 0, 1, 4, 3, 0, 1, 4, 1, 1, 2, 1, 0, 3, 0, 3, 0, 2, 0, 2, 3, 5, 0,
    0, 2, 1, 0, 6, 2, 4, 1, 2, 0, 7, 5, 4, 4, 0, 5, 5, 3, 2, 5, 1, 4, 4, 4, 3, 3, 7, 5, 3, 2, 3, 2, 2, 0, 4, 6, 1, 1,
    0, 6, 2, 5, 2, 13, 92, 98, 76, 73, 105, 83, 86, 84, 86, 98,
];
const TER_OF_ALL: f64 = 25.786713286713287;

#[test]
fn phrases_of_ter_are_shifted_up_to_the_end() {
    for (line, reference, edits) in [
        ("b a a", "a a b", 1),
        ("a a b", "b a b b", 2),
        ("a b a", "b b b a b", 3),
        ("c c a b", "c a b b c", 2),
        ("b c b c", "a b b b c b", 3),
        ("a a b a a a b", "b a a b a", 3),
    ] {
        assert_eq!(ter::TerCounts::of(line, &[reference]).edits, edits, "{line}");
    }
}

#[test]
fn ter_is_that_of_sacrebleu() {
    let lines = edited_lines();
    let counts: Vec<ter::TerCounts> =
        lines.iter().map(|(line, reference)| ter::TerCounts::of(line, &[reference])).collect();
    let edits: Vec<u64> = counts.iter().map(|counts| counts.edits).collect();
    assert_eq!(edits, EDITS);
    assert!((counts.iter().sum::<ter::TerCounts>().score() - TER_OF_ALL).abs() < 1e-9);
    let dog = ["Yesterday the old dog slept in the garden", "The old dog slept yesterday in the garden"];
    for (line, references, score) in [
        ("The lamp over the door is green.", &["the lamp above the door is GREEN."][..], 100.0 / 7.0),
        ("In the garden yesterday the old dog slept", &dog, 12.5),
        ("", &["a b"], 100.0),
        ("a b", &[""], 100.0),
        ("", &[""], 0.0),
    ] {
        let found = ter::TerCounts::of(line, references).score();
        assert!((found - score).abs() < 1e-9, "{line}: {found}");
    }
}

#[test]
fn text_is_cut_as_mteval_v14_does() {
    let cases = [
        ("Hello, world!", "Hello , world !"),
        ("1,000.5 and .5 or 5.", "1,000.5 and . 5 or 5."),
        ("(in 2019) .", "( in 2019 ) ."),
        ("£5+3=8 №7 x²", "£ 5 + 3 = 8 № 7 x²"),
        ("don't—«oui»… 。", "don ' t — « oui » … 。"),
        ("a&amp;b &lt;i&gt;", "a & amp ; b & lt ; i & gt ;"),
        ("٣٫١٤ و؟", "٣٫١٤ و ؟"),
        ("!!a", "! ! a"),
        ("a!!", "a ! !"),
        ("-\n-", "- -"),
        ("", ""),
    ];
    for (text, expect) in cases {
        assert_eq!(mteval::tokenize(text, Tokenization::International), expect, "{text}");
    }
}

/// `_get_tokenizer("zh")()(text.rstrip())`, and `"char"` with single spaces.
#[test]
fn chinese_text_is_cut_as_sacrebleu_does() {
    for (text, chinese, characters) in [
        ("红色的灯，12.5米。", "红 色 的 灯 ， 12.5 米 。", "红 色 的 灯 ， 1 2 . 5 米 。"),
        ("明天见\u{201d}——走了…", "明 天 见 \u{201d} — — 走 了 …", "明 天 见 \u{201d} — — 走 了 …"),
        ("  .5 and 5.", ".5 and 5.", ". 5 a n d 5 ."),
        ("a&amp;b x-3 3-x", "a & amp ; b x-3 3 - x", "a & a m p ; b x - 3 3 - x"),
        ("The lamp 在Paris.", "The lamp 在 Paris .", "T h e l a m p 在 P a r i s ."),
        ("ｶﾞコーヒー한국어", "ｶ ﾞ コーヒー한국어", "ｶ ﾞ コ ー ヒ ー 한 국 어"),
        ("：（全角）ＡＢ１２", "： （ 全 角 ） Ａ Ｂ １ ２", "： （ 全 角 ） Ａ Ｂ １ ２"),
        ("a\u{3000}b\u{2000}c\u{2003}d", "a b c d", "a b c d"),
        ("3.红5,灯.", "3 . 红 5 , 灯 .", "3 . 红 5 , 灯 ."),
        (",红", ", 红", ", 红"),
        ("", "", ""),
    ] {
        assert_eq!(mteval::tokenize(text, Tokenization::Chinese), chinese, "{text}");
        assert_eq!(mteval::tokenize(text, Tokenization::Characters), characters, "{text}");
    }
    // the ends of its ranges, and what lies outside; letters behind stay together
    let apart = "\u{2001}\u{2a6d}\u{2e80}\u{2fdf}\u{2ff0}\u{303f}\u{3100}\u{312f}\u{31a0}\u{31ef}\u{3200}\u{4db5}\u{4e00}\u{9fbb}\
        \u{f900}\u{fa2d}\u{fa30}\u{fa6a}\u{fa70}\u{fad9}\u{fe10}\u{fe1f}\u{fe30}\u{fe4f}\u{ff00}\u{ffef}";
    let together = "\u{2a6e}\u{2e7f}\u{2fe0}\u{3040}\u{30ff}\u{3130}\u{319f}\u{31f0}\u{31ff}\u{4db6}\u{4dff}\u{9fbc}\u{f8ff}\
        \u{fa2e}\u{fa6b}\u{fada}\u{fe0f}\u{fe20}\u{fe50}\u{feff}\u{fff0}\u{20000}\u{2f800}";
    assert_eq!(mteval::tokenize(together, Tokenization::Chinese), together);
    for c in apart.chars() {
        let words = mteval::tokenize(&format!("a{c}b"), Tokenization::Chinese);
        assert!(words.starts_with("a ") && words.ends_with(" b"), "{c:?}: {words}");
    }
}

#[test]
fn tokenizers_have_names() {
    let read = |name: &str| serde_json::from_value::<Tokenization>(name.into()).expect("any name is read");
    for (tokenization, about) in TOKENIZATIONS {
        assert_eq!(serde_json::to_value(tokenization).expect("JSON"), tokenization.name());
        assert_eq!(read(tokenization.name()), *tokenization);
        assert!(about.len() > 10);
    }
    assert_eq!(read("ja-mecab"), Tokenization::Mteval13a);
    let usual = ["zh", "zh-Hant", "ZH_cn", "ja", "th", "ko", "fr", "und"].map(|one| Tokenization::usual(one).name());
    assert_eq!(usual, ["zh", "zh", "zh", "char", "char", "13a", "13a", "13a"]);
    for (language, text, expect) in [
        ("", "旧磨坊慢慢地转动。", "zh"),
        ("", "古い水車が回る。", "char"),
        ("", "กังหันเก่าหมุนช้าๆ", "char"),
        ("", "ကြောင်နီ အိပ်နေတယ်", "char"),
        ("", "오래된 물레방아가 돈다.", "13a"),
        ("", "Le mot 水 veut dire eau.", "13a"),
        ("", "", "13a"),
        ("en", "旧磨坊慢慢地转动。", "13a"),
    ] {
        assert_eq!(Tokenization::usual_of(language, text).name(), expect, "{language} {text}");
    }
}

#[test]
fn ngrams_are_counted_as_by_definition() {
    // Numbers that repeat, from a small generator.
    let mut x = 1_u32;
    for length in 0..40 {
        let mut draw = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) % 3
        };
        let a: Vec<u32> = (0..length).map(|_| draw()).collect();
        let b: Vec<u32> = (0..length / 2 + 3).map(|_| draw()).collect();
        let c: Vec<u32> = (0..5).map(|_| draw()).collect();
        let of = |symbols: &[u32]| Ngrams::new(symbols, 6);
        for order in 1..=6 {
            let occurs =
                |ngram: &[u32], text: &[u32]| text.windows(order).filter(|other| *other == ngram).count() as u64;
            let mut distinct: Vec<&[u32]> = a.windows(order).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let most = |ngram: &[u32]| occurs(ngram, &b).max(occurs(ngram, &c));
            let expect: u64 = distinct.iter().map(|ngram| occurs(ngram, &a).min(most(ngram))).sum();
            assert_eq!(of(&a).shared(&[of(&b), of(&c)], order), expect, "{a:?} {b:?} {c:?} {order}");
            assert_eq!(of(&a).total(order), a.windows(order).count() as u64);
            assert_eq!(of(&a).counted(order).count(), distinct.len());
        }
    }
}
