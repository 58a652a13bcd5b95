//! Links of annotators and of systems.

use interlinear::import::beside::Sides;
use interlinear::import::{Base, ImportFact, ImportOptions, LinkOrder, Role};
use interlinear::text::links::{Link, Links};

use super::{Planted, Read, read, read_beside};

fn links(sure: &[(usize, usize)], possible: &[(usize, usize)]) -> Links {
    let list = |pairs: &[(usize, usize)]| pairs.iter().map(|&(source, target)| Link { source, target }).collect();
    Links::new(list(sure), list(possible))
}

fn gold(read: &Read) -> Vec<Links> {
    read.records.iter().filter_map(|record| record.gold.clone()).collect()
}

#[test]
fn links_are_sure_and_possible() {
    let read = read("a.txt", "0-0 1?2 2p1\n\nid 7\t0-1-0.5\nx-y\n");
    assert_eq!(gold(&read), [links(&[(0, 0)], &[(1, 2), (2, 1)]), links(&[], &[]), links(&[(0, 1)], &[])]);
    assert_eq!((read.sentences(), read.records[2].id.as_deref()), (vec![1, 2, 3], Some("id 7")));
    let tabbed = super::read("b.txt", "0-0\t1-1\n0-0-1e-5 18446744073709551615-0\n");
    assert_eq!(gold(&tabbed), [links(&[(0, 0), (1, 1)], &[])]);
    assert!(tabbed.warnings[0].contains("line 2: `18446744073709551615-0` is no link"));
    let expect = "a.txt, line 4: `x-y` is no link; write `i-j` for a sure link and `i?j` or `ipj` for a possible one; the \
                  line is left out";
    assert_eq!(read.warnings, [expect]);
    assert_eq!(read.facts.base, ImportFact::known(Base::Zero, "the file has a 0"));
}

#[test]
fn the_base_is_found_or_asked() {
    for (text, words, base, order) in [
        ("1-1 2-2\n", None, None, LinkOrder::SourceFirst),
        ("1-1 2-2\n", Some((2, 2)), Some(Base::One), LinkOrder::SourceFirst),
        ("1-1\n", Some((2, 2)), None, LinkOrder::SourceFirst),
        ("0-2 1-0\n", Some((2, 3)), Some(Base::Zero), LinkOrder::SourceFirst),
        ("2-0 0-1\n", Some((2, 3)), Some(Base::Zero), LinkOrder::TargetFirst),
        ("3-1 1-2\n", Some((2, 3)), Some(Base::One), LinkOrder::TargetFirst),
    ] {
        let read = words.map_or_else(|| read("a.txt", text), |words| read_beside("a.txt", text.as_bytes(), &[words]));
        assert_eq!(read.facts.base.asks(), base.is_none(), "{text}");
        assert_eq!(read.facts.base.value(), Some(base.unwrap_or(Base::Zero)), "{text}");
        assert_eq!(read.facts.order.value(), Some(order), "{text}");
        assert_eq!(read.warnings.len(), 0, "{text} {:?}", read.warnings);
    }
    let many = read("a.txt", &"1-1 2-2\n".repeat(20));
    assert!(matches!(many.facts.base, ImportFact::Ask { used: Base::One, other: Base::Zero, .. }));
    let asked =
        ImportOptions { base: Some(Base::One), order: Some(LinkOrder::TargetFirst), ..ImportOptions::default() };
    let read = Planted::new("a.txt", b"1-2\n").read(&asked);
    assert_eq!(gold(&read), [links(&[(1, 0)], &[])]);
}

#[test]
fn the_talp_notation_counts_from_1_unless_it_has_a_0() {
    let read = read("a.talp", "0-0 1-1 2s2\n\n0-1 1p2\n");
    assert_eq!(gold(&read), [links(&[(0, 0), (1, 1), (2, 2)], &[]), links(&[], &[]), links(&[(0, 1)], &[(1, 2)])]);
    assert_eq!(read.facts.base, ImportFact::known(Base::Zero, "the file has a 0"));
    let clear = super::read("b.talp", "1-1 2p3\n");
    assert_eq!((clear.facts.base.value(), clear.facts.base.asks()), (Some(Base::One), false));
}

#[test]
fn texts_of_the_shared_task_stand_at_their_numbers() {
    let text = "<s snum=0002> a red boat . </s>\n<s snum=4>rain</s>\nno tag\n<s snum=x> a </s>\n<s snum=3> late </s>\n";
    let read = read("test.e", text);
    assert_eq!(
        (read.facts.format, read.sentences(), read.sources()),
        ("naacl-text", vec![2, 4], vec!["a red boat .", "rain"])
    );
    for (warning, says) in read
        .warnings
        .iter()
        .zip(["line 3: does not begin", "line 4: has the number `x`", "line 5: is sentence 3 behind"])
    {
        assert!(warning.contains(says), "{warning}");
    }
    let options = ImportOptions { role: Some(Role::Reference), ..ImportOptions::default() };
    assert_eq!(Planted::new("test.f", text.as_bytes()).read(&options).references(), ["a red boat .", "rain"]);
}

#[test]
fn links_come_as_xml_with_their_texts() {
    let text = "<?xml version=\"1.0\"?>\n<sentences>\n<s id=\"a-1\">\n <english>the old mill</english>\n <czech>star\u{fd} &amp; \
                dobr\u{fd}</czech>\n <sure>2-1 3-3</sure>\n <possible>1-2</possible>\n</s>\n<s id=\"a-2\"><english>rain</english>\
                <czech>de\u{161}\u{165}</czech><sure/></s>\n<s id=\"a-3\"><english>a</english><czech>b</czech><sure>1-2</sure></s>\n\
                <s id=\"a-4\"><english>a</english><czech>b</czech><sure>1=1</sure></s></sentences>";
    let read = read("a.wa", text);
    assert_eq!((read.facts.format, read.error.as_deref()), ("wordalign", None));
    let none = || links(&[], &[]);
    assert_eq!(gold(&read), [links(&[(1, 0), (2, 2)], &[(0, 1)]), none(), none(), none()]);
    assert_eq!(read.sources(), ["the old mill", "rain", "a", "a"]);
    assert_eq!((read.references()[0], read.records[1].id.as_deref()), ("star\u{fd} & dobr\u{fd}", Some("a-2")));
    assert!(
        read.warnings[0].contains("beyond its 1 and 1 words") && read.warnings[1].contains("`1=1` is no link"),
        "{:?}",
        read.warnings
    );
    let turned = ImportOptions { order: Some(LinkOrder::TargetFirst), ..ImportOptions::default() };
    let read = Planted::new("a.wa", text.as_bytes()).read(&turned);
    assert_eq!((gold(&read)[0].clone(), read.sources()[1]), (links(&[(0, 1), (2, 2)], &[(1, 0)]), "de\u{161}\u{165}"));
}

#[test]
fn links_of_a_system_are_its_own() {
    let planted = Planted::new("a.txt", b"0-0 1?1 1-7\n");
    let beside = Sides([[Some(2), Some(2)]].into());
    let role = Some(Role::Output("mine".into()));
    let read = planted.read(&ImportOptions { role, beside, ..ImportOptions::default() });
    let said =
        "a.txt, line 1: links words 1 and 7 of sentence 1, which has 2 source and 2 target words; the link is left out";
    assert_eq!(read.warnings, [said]);
    let output = &read.records[0].outputs[0];
    assert_eq!((output.system.as_deref(), output.links.as_ref().unwrap().len()), (Some("mine"), 2));
    assert_eq!(read.records[0].gold, None);
}

#[test]
fn the_shared_task_has_a_line_for_each_link() {
    let read = read("a.wa", "0002 1 1 S\n1 1 2 P 0.5\n0002 2 1 P\n\nbad line here\n0 1 1\n1 2 2\n");
    assert_eq!(gold(&read), [links(&[(1, 1)], &[(0, 1)]), links(&[(0, 0)], &[(1, 0)])]);
    assert_eq!((read.sentences(), read.facts.sentences), (vec![1, 2], Some(2)));
    let expect = [
        "a.wa, line 5: `bad line here` is no link; write `sentence position position S` for a sure link, P in place of S \
         for a possible one",
        "a.wa, line 6: is of sentence 0, but sentences are counted from 1; it is left out",
    ];
    assert_eq!(read.warnings, expect);
    assert_eq!(read.facts.base, ImportFact::known(Base::One, "as the format has it"));
}

#[test]
fn a_0_in_the_shared_task_is_no_word() {
    let alone = super::read("a.wa", "1 0 1 S\n1 1 2 S\n");
    assert_eq!((alone.facts.base.value(), gold(&alone)), (Some(Base::One), vec![links(&[(0, 1)], &[])]));
    assert!(!alone.facts.base.asks() && alone.count == 0);
    let read = read_beside("a.wa", b"1 0 1 S\n1 2 2 S\n", &[(2, 2)]);
    assert_eq!((read.facts.base.value(), gold(&read)), (Some(Base::One), vec![links(&[(1, 1)], &[])]));
}
