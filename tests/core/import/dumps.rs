//! Attention of other toolkits: what they write, which side is which, what is padding.

use interlinear::analysis::alignment::Alignment;
use interlinear::import::{ImportFact, ImportOptions, ImportedOutput, Orientation};

use super::{Planted, Read, read};

const NEMATUS: &str = "\
0 ||| le ch@@ at ||| 1.25 ||| the cat ||| 3 4
0.8 0.1 0.1
0.1 0.8 0.1
0.2 0.7 0.1
0.0 0.1 0.9

1 ||| oui ||| 0.5 ||| yes ||| 2 2
0.9 0.1
0.2 0.8

";

const OPENNMT: &str = "\
0 ||| le chat noir ||| -1.25 ||| the cat ||| 0 0
0.9 0.1
0.1 0.9
0.2 0.8
1 ||| oui oui ||| -0.5 ||| yes ||| 0 0
1.0
1.0
";

const SOCKEYE: &str = "\
1 ||| le chat noir ||| 1.25 ||| the cat ||| 2 ||| 3
0.9 0.1 0.2
0.1 0.9 0.8

2 ||| oui oui ||| 0.5 ||| yes ||| 1 ||| 2
1.0 1.0

";

fn best(read: &Read) -> Vec<&ImportedOutput> {
    read.records.iter().filter_map(|record| record.outputs.first()).collect()
}

fn rows(alpha: Option<&Alignment>) -> Vec<Vec<f32>> {
    alpha.map(|alpha| alpha.iter().map(<[f32]>::to_vec).collect()).unwrap_or_default()
}

#[test]
fn nematus_writes_the_end_of_both_sides() {
    let read = read("mine.txt", NEMATUS);
    assert_eq!((read.facts.format, read.warnings.len(), read.sentences()), ("nematus", 0, vec![1, 2]));
    let output = best(&read)[0];
    assert_eq!((output.text.as_str(), output.system.as_deref(), output.score), ("le chat", Some("mine"), Some(1.25)));
    assert_eq!(output.tokens, ["le", "ch@@", "at"]);
    let source = read.records[0].source.as_ref().unwrap();
    assert_eq!((source.text.as_str(), source.tokens.as_deref().unwrap().len()), ("the cat", 2));
    assert_eq!(rows(output.alpha.as_ref())[3], [0.0, 0.1, 0.9]);
    assert_eq!(
        read.facts.sentences()[1],
        "A row for each target token: the rows sum to 1, as the weights of a target token do."
    );
}

#[test]
fn opennmt_and_sockeye_give_the_same_matrices() {
    let (lua, sockeye) = (read("a.txt", OPENNMT), read("b.txt", SOCKEYE));
    assert_eq!((lua.facts.format, sockeye.facts.format), ("opennmt", "sockeye"));
    assert_eq!(sockeye.facts.orientation.value(), Some(Orientation::SourceRows));
    assert_eq!((lua.sentences(), sockeye.sentences()), (vec![1, 2], vec![1, 2]));
    for (one, other) in best(&lua).iter().zip(best(&sockeye)) {
        assert_eq!((rows(one.alpha.as_ref()), &one.tokens), (rows(other.alpha.as_ref()), &other.tokens));
    }
    assert_eq!(rows(best(&lua)[0].alpha.as_ref()), [[0.9, 0.1], [0.1, 0.9], [0.2, 0.8]]);
    assert_eq!((lua.count, sockeye.count), (0, 0));
}

#[test]
fn an_nbest_list_is_one_sentence() {
    let text = NEMATUS
        .replace("\n1 ||| oui", "\n0 ||| oui")
        .replace("||| yes |||", "||| the cat |||")
        .replace("0.9 0.1\n0.2 0.8", "0.9 0.1 0\n0.2 0.8 0");
    let read = read("a.txt", &text);
    assert_eq!((read.sentences(), read.records[0].outputs.len()), (vec![1], 2));
}

#[test]
fn sentences_that_all_have_the_same_number_are_counted() {
    let read = read("a.txt", &OPENNMT.replace("1 ||| oui", "0 ||| oui"));
    assert_eq!((read.sentences(), read.count), (vec![1, 2], 0));
    assert!(read.facts.notes[0].ends_with("tell nothing; they are counted as they come."));
}

#[test]
fn damaged_blocks_are_told_and_the_others_are_read() {
    let text = NEMATUS
        .replace("0.1 0.8 0.1", "0.1 oops 0.1")
        .replace("0.9 0.1\n0.2 0.8", "0.9 0.1\n0.9 0.8")
        .replace("1 ||| oui", "stray words\nmore\n\n1 ||| oui");
    // Enough good ones for the rows to be known as the target's.
    let good: String = (4..20).map(|id| format!("\n{id} ||| bon ||| 1 ||| good ||| 2 2\n0.9 0.1\n0.8 0.2\n")).collect();
    let more = "2 ||| non non ||| 1 ||| no ||| 2 3\n0.5 0.5\n\n3 ||| a ||| 1 ||| b ||| 2 2\n0.5 0.5\n0.5\n";
    let read = read("a.txt", &format!("{text}{more}{good}"));
    assert_eq!(read.sentences(), (1..=20).collect::<Vec<_>>());
    assert_eq!(read.outputs()[..5], ["le chat", "oui", "non non", "a", "bon"]);
    let alpha: Vec<bool> = best(&read).iter().map(|output| output.alpha.is_some()).collect();
    assert_eq!(alpha[..5], [false, true, true, false, true]);
    let expect = [
        "a.txt, line 3: has `oops`, which is no weight; the alignment of its sentence is left out",
        "a.txt, line 7: is no header of a sentence",
        "a.txt, line 19: has 1 weights, the row before it 2; the alignment of its sentence is left out",
    ];
    for expect in expect {
        assert!(read.warnings.iter().any(|warning| warning.starts_with(expect)), "{expect}: {:#?}", read.warnings);
    }
    assert_eq!(read.warnings.len(), 3);
}

#[test]
fn an_unclear_orientation_is_asked_and_can_be_answered() {
    // Rows and columns sum to 1, and both sides have as many words.
    let text = "0 ||| a b ||| 1 ||| c d ||| 2 2\n0.9 0.1\n0.1 0.9\n\n";
    let planted = Planted::new("a.txt", text.as_bytes());
    let read = planted.read(&ImportOptions::default());
    let ImportFact::Ask { used, other, why } = &read.facts.orientation else { panic!("{:?}", read.facts.orientation) };
    assert_eq!((*used, *other), (Orientation::TargetRows, Orientation::SourceRows));
    assert_eq!(why, "rows and columns sum to 1, and the numbers of words do not tell");
    assert!(read.facts.asks() && read.facts.sentences()[1].ends_with("and the numbers of words do not tell."));
    let answered =
        planted.read(&ImportOptions { orientation: Some(Orientation::SourceRows), ..ImportOptions::default() });
    assert!(!answered.facts.asks());
    // Neither sums to 1, but the numbers of words tell.
    let text = "0 ||| a b c ||| 1 ||| d ||| 1 3\n0.5 0.2 0.1\n\n";
    let read = super::read("a.txt", text);
    assert_eq!(
        read.facts.orientation,
        ImportFact::known(Orientation::SourceRows, "only so do the matrices fit the numbers of words")
    );
}

#[test]
fn marian_writes_nbest_lists_and_scores() {
    let nbest = "0 ||| le chat ||| 1,0 0,1 ||| F0= -1.5 ||| -0.75\n0 ||| chat ||| 0,1 ||| F0= -2 ||| -2\n\
                 2 ||| oui ||| 1 ||| WordScores= -0.5 ||| F0= -0.5 ||| -0.5\n";
    let read = read("a.txt", nbest);
    assert_eq!((read.sentences(), read.outputs()), (vec![1, 3], vec!["le chat", "chat", "oui"]));
    assert_eq!((read.records[0].id.as_deref(), read.records[0].outputs[1].score), (Some("0"), Some(-2.0)));
    assert_eq!(read.records[1].outputs[0].log_p, Some(-0.5));
    let named = |field: &str| {
        let read = super::read("a.txt", &format!("0 ||| oui ||| {field} ||| -1\n"));
        read.records[0].outputs[0].features.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(named("LM0= -12.5 TM0= -1.2 -0.5"), ["LM0", "TM0.1", "TM0.2"]);
    assert_eq!(
        (named("F0=-1.5 Len= 3"), named("-1 -2")),
        (vec!["F0".into(), "Len".into()], vec!["1".into(), "2".into()])
    );
    // The first bytes may end within a line, or within the first.
    for copies in [1, 1500, 9000] {
        let group = vec!["0.5,0.5"; copies].join(" ");
        let text = vec!["w"; copies].join(" ");
        let line = |id: usize| format!("{id} ||| {text} ||| {group} ||| F0= -1 ||| -1\n");
        let read = super::read("a.txt", &(0..8).map(line).collect::<String>());
        assert_eq!((read.records.len(), read.count), (8, 0), "{copies}");
        assert_eq!(read.records[7].outputs[0].tokens.len(), copies);
    }
}

fn npy(kind: &str, version: u8, shape: &str, weights: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    for weight in weights {
        match kind {
            "<f4" => bytes.extend(weight.to_le_bytes()),
            ">f4" => bytes.extend(weight.to_be_bytes()),
            "<f8" => bytes.extend(f64::from(*weight).to_le_bytes()),
            _ => bytes.extend(half::f16::from_f32(*weight).to_le_bytes()),
        }
    }
    bytes
}

const WEIGHTS: [f32; 24] = [
    1.0, 0.5, 0.25, 0.0, 0.0, 0.5, 0.75, 0.0, 0.0, 0.0, 0.0, 0.0, //
    0.5, 0.25, 0.0, 0.0, 0.5, 0.25, 1.0, 0.0, 0.0, 0.5, 0.0, 1.0,
];

#[test]
fn neural_monkey_pads_and_puts_the_source_first() {
    for (kind, version) in [("<f4", 1), (">f4", 1), ("<f8", 2), ("<f2", 3)] {
        let read = Planted::new("a.npy", &npy(kind, version, "(2, 3, 4)", &WEIGHTS)).read(&ImportOptions::default());
        assert_eq!((read.facts.format, read.facts.encoding, read.facts.sentences), ("neural-monkey", "", Some(2)));
        assert_eq!(read.facts.orientation.value(), Some(Orientation::SourceRows), "{kind}");
        assert!(!read.facts.orientation.asks());
        let expect = vec![vec![1.0, 0.0, 0.0], vec![0.5, 0.5, 0.0], vec![0.25, 0.75, 0.0], vec![0.0; 3]];
        assert_eq!(rows(best(&read)[0].alpha.as_ref()), expect, "{kind}");
        assert_eq!(best(&read)[1].alpha.as_ref().map(|alpha| (alpha.rows(), alpha.columns())), Some((4, 3)));
    }
}

#[test]
fn an_array_that_is_cut_gives_what_came_before() {
    let whole = npy("<f4", 1, "(2, 3, 4)", &WEIGHTS);
    let read = Planted::new("a.npy", &whole[..whole.len() - 1]).read(&ImportOptions::default());
    assert_eq!(read.records.len(), 1);
    assert!(read.error.unwrap().starts_with("a.npy: ends within sentence 2 of 2"));
    for (bytes, expect) in [
        (npy("<i8", 1, "(2, 3, 4)", &[]), "holds numbers of the kind `i8`"),
        (npy("<f4", 1, "(2, 3, 4, 5)", &[]), "has no shape (sentences, source, target)"),
        (npy("<f4", 1, "(2, 90000, 90000)", &[]), "has 90000 by 90000 weights a sentence"),
    ] {
        let said = super::refusal("a.npy", &bytes, &ImportOptions::default());
        assert!(said.contains(expect), "{said}");
    }
}
