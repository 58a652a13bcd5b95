//! Gold alignments: both formats, where they start to count, which side comes first; and from tokens to words.

use std::path::PathBuf;

use interlinear::text::links::read::{Base, GoldLinks, LinkLayout, LinkOrder, Notation, lengths, read};
use interlinear::text::links::{Link, Links, naacl, pharaoh};
use interlinear::{error::Result, text::cut::WordRule, text::sentence::Sentence, text::words::WordPlaces};

use super::tokenizer;

use crate::folder::Folder;

fn reads(text: &str, lengths: &[(usize, usize)], reading: LinkLayout) -> Result<GoldLinks> {
    let folder = Folder::new();
    let path: PathBuf = folder.join("gold.txt");
    std::fs::write(&path, text).expect("a temporary file");
    read(&path, lengths, &reading)
}

const ASK: LinkLayout = LinkLayout { notation: None, base: None, order: None };
const FROM_0: LinkLayout = LinkLayout { base: Some(Base::Zero), ..ASK };
const FROM_1: LinkLayout = LinkLayout { base: Some(Base::One), ..ASK };
const TALP: LinkLayout = LinkLayout { notation: Some(Notation::Talp), ..ASK };
const SOURCE: LinkLayout = LinkLayout { order: Some(LinkOrder::SourceFirst), ..ASK };
const TARGET: LinkLayout = LinkLayout { order: Some(LinkOrder::TargetFirst), ..ASK };

type Case = (&'static str, &'static [(usize, usize)], LinkLayout, &'static str, &'static [&'static str]);

const READ: &[Case] = &[
    // Pharaoh: a 0 tells.
    ("0-0 1?2\n", &[(2, 3)], ASK, "0-0 1?2", &["from 0: the file has a 0", "source side first: otherwise"]),
    ("0-0 1p1 \n", &[(2, 2)], ASK, "0-0 1?1", &["from 0: the", "source side first: as files mostly"]),
    ("0-0 2-1\n", &[(2, 3)], ASK, "0-0 1-2", &["from 0: the", "target side first: otherwise"]),
    // A greatest index as great as a length tells too.
    ("1-1 2?3\n", &[(2, 3)], ASK, "0-0 1?2", &["from 1: from 0 links lie outside"]),
    ("1-1\n\n2-2\n", &[(3, 3), (1, 1), (2, 2)], ASK, "0-0||1-1", &["from 1: from 0 links"]),
    // Nothing tells: the conventions.
    ("1-1\n", &[(3, 3)], ASK, "1-1", &["counted from 0, or words counted from 1? Words counted from 0 is used"]),
    ("1 1 1 S\n", &[(3, 3)], ASK, "0-0", &["from 1: as the format has it"]),
    ("\n", &[(3, 3)], ASK, "", &[]),
    // What is asked for wins.
    ("1-1\n", &[(3, 3)], FROM_1, "0-0", &["from 1: as was asked."]),
    ("1 1 1\n", &[(3, 3)], FROM_0, "1-1", &["from 0: as was asked."]),
    ("1-1 2p2\n", &[(3, 3)], TALP, "0-0 1?1", &["from 1: as the notation has it"]),
    ("0-0 2-2\n", &[(3, 3)], TALP, "0-0 2-2", &["from 0: the file has a 0"]),
    ("0-1\n", &[(3, 3)], TARGET, "1-0", &["target side first: as was asked."]),
    ("0-1\n", &[(3, 3)], SOURCE, "0-1", &["source side first: as was asked."]),
    // Scores behind links, and ids before them.
    ("s 1\t0-0-0.5 1-2-1e-3\n", &[(2, 3)], ASK, "0-0 1-2", &["from 0: the file has a 0"]),
    // HLT-NAACL 2003, sentences in any order, sure where nothing is said, confidences of no matter.
    (
        "2 1 1 S\n2 2 1 P 0.5\n\n1 3 2\n1 1 1 1.0\n",
        &[(3, 2), (2, 1)],
        ASK,
        "0-0 2-1|0-0 1?0",
        &["from 1: as the format"],
    ),
    ("0001 1 2 P\n", &[(1, 2)], ASK, "0?1", &["source side first: otherwise"]),
    ("1 2 1 P\n", &[(1, 2)], ASK, "0?1", &["target side first: otherwise"]),
    // Its 0 is no word, whether or not all would fit from 0.
    ("1 1 1 S\n1 2 2 S\n1 0 3 P\n", &[(4, 4)], ASK, "0-0 1-1", &["from 1: as the format has it; its 0 is no word"]),
    ("1 0 1 S\n1 2 2 S\n", &[(2, 2)], ASK, "1-1", &["its 0 is no word"]),
    // But two words that are none are not linked.
    ("1 0 0 S\n1 1 1 S\n", &[(2, 2)], ASK, "0-0 1-1", &["from 0: it links 0 with 0"]),
    // A link listed twice is there once, and sure wins.
    ("0-0 0?0 0-0\n", &[(1, 1)], ASK, "0-0", &[]),
];

#[test]
fn gold_files_are_read_and_say_how() {
    for (text, lengths, reading, expect, notes) in READ {
        let gold = reads(text, lengths, *reading).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let sentences: Vec<String> = gold.pairs.iter().map(pharaoh).collect();
        assert_eq!(sentences.join("|"), *expect, "{text:?}");
        for note in *notes {
            assert!(gold.note.contains(note), "{text:?}: {}, without {note:?}", gold.note);
        }
    }
}

type Refusal = (&'static str, &'static [(usize, usize)], LinkLayout, &'static [&'static str]);

const REFUSED: &[Refusal] = &[
    (
        "0-0\n0-0 5-1\n",
        &[(2, 2), (3, 3)],
        ASK,
        &["gold.txt, line 2: ", "words 5 and 1", "3 source and 3 target", "from 0"],
    ),
    ("1 1 1 S\n1 2 9 S\n", &[(2, 2)], ASK, &["line 2: ", "words 2 and 9", "sentence 1", "from 1"]),
    ("1-1 2-2\n", &[(2, 2)], FROM_0, &["line 1: ", "words 2 and 2", "from 0"]),
    ("0-0\n", &[(2, 2)], FROM_1, &["line 1: ", "words 0 and 0", "from 1"]),
    ("0-2\n", &[(2, 3)], TARGET, &["line 1: ", "target side first"]),
    ("0-0\n", &[(2, 2), (3, 3)], ASK, &["gold.txt: has 1 lines", "2 sentence pairs"]),
    ("0-0\n0+1\n", &[(2, 2), (2, 2)], ASK, &["line 2: `0+1` is no link", "`i-j`"]),
    ("0-0 -1-0\n", &[(2, 2)], ASK, &["line 1: `-1-0` is no link"]),
    ("0-+1\n", &[(2, 2)], ASK, &["line 1: `0-+1` is no link"]),
    ("0-99999999999999999999999\n", &[(2, 2)], ASK, &["line 1: ", "is no link"]),
    ("3 1 1 S\n", &[(2, 2), (2, 2)], ASK, &["line 1: there is no sentence 3", "1 to 2"]),
    ("0 1 1 S\n", &[(2, 2)], ASK, &["line 1: there is no sentence 0"]),
    ("1 1 1 S\n1 1 S\n", &[(2, 2)], ASK, &["line 2: `1 1 S` is no link", "S"]),
    ("1 1 1 X\n", &[(2, 2)], ASK, &["line 1: `1 1 1 X` is no link"]),
    ("1 1 1 S 0.5 7\n", &[(2, 2)], ASK, &["line 1: ", "is no link"]),
];

#[test]
fn gold_files_that_do_not_fit_are_refused_by_line() {
    for (text, lengths, reading, expect) in REFUSED {
        let error = reads(text, lengths, *reading).expect_err(text);
        assert!(error.is_users(), "{text:?}");
        for part in *expect {
            assert!(error.to_string().contains(part), "{text:?}: {error}, without {part:?}");
        }
    }
    let format = LinkLayout { notation: Some(Notation::Pharaoh), ..ASK };
    assert!(reads("1 1 1 S\n", &[(2, 2)], format).is_err());
    let missing = read(&PathBuf::from("no/such/gold"), &[], &ASK).expect_err("it is missing");
    assert!(missing.to_string().contains("no/such/gold"));
}

#[test]
fn what_is_written_is_read_again() {
    let sizes = [(4, 5), (2, 2), (3, 1)];
    let gold = reads("0-0 2?3 3-4\n\n2-0 1?0\n", &sizes, ASK).expect("a good file");
    let pharaoh_text: String = gold.pairs.iter().map(|links| pharaoh(links) + "\n").collect();
    assert_eq!(pharaoh_text, "0-0 2?3 3-4\n\n1?0 2-0\n");
    let naacl_text: String = gold.pairs.iter().enumerate().map(|(n, links)| naacl(n + 1, links)).collect();
    assert_eq!(naacl_text, "1 1 1 S\n1 3 4 P\n1 4 5 S\n3 2 1 P\n3 3 1 S\n");
    for text in [pharaoh_text, naacl_text] {
        assert_eq!(reads(&text, &sizes, ASK).expect("a good file").pairs, gold.pairs);
    }
    // The other way round, the same file has the sides turned.
    let turned: Vec<(usize, usize)> = sizes.iter().map(|(source, target)| (*target, *source)).collect();
    let back = reads("0-0 2?3 3-4\n\n2-0 1?0\n", &turned, ASK).expect("a good file");
    assert_eq!(back.order, LinkOrder::TargetFirst);
    assert_eq!(back.pairs, gold.pairs.iter().map(Links::turned).collect::<Vec<_>>());
}

#[test]
fn sure_links_are_possible_too() {
    let link = |source, target| Link { source, target };
    let links = Links::new(vec![link(1, 1), link(0, 0)], vec![link(0, 0), link(2, 1)]);
    assert_eq!((links.sure(), links.possible()), (&[link(0, 0), link(1, 1)][..], &[link(2, 1)][..]));
    assert!(links.is_sure(link(0, 0)) && links.is_possible(link(0, 0)));
    assert!(!links.is_sure(link(2, 1)) && links.is_possible(link(2, 1)) && !links.is_possible(link(1, 2)));
    assert_eq!(links.all(), [(link(0, 0), true), (link(1, 1), true), (link(2, 1), false)]);
}

const PLACES: &[(&str, &str, &str, &str)] = &[
    ("fr", "l' heure bleue .", "l' heure bleue .", "l':0 heure:1 bleue:2 .:3 </s>:"),
    ("fr", "l'heure bleue.", "l' heure bleue .", "l':0 heure:1 bleue:2 .:3 </s>:"),
    ("fr", "l' heure", "l'heure", "l':0 heure:0 </s>:"),
    ("en", "a well-known dog", "a well-known  dog", "a:0 well:1 -known:1 dog:2 </s>:"),
    ("en", "wait ...", "wait . . .", "wait:0 ...:1,2,3 </s>:"),
    ("en", "C - 49", "C - 49", "C:0 -:1 49:2 </s>:"),
    ("en", " caf\u{e9} 👍🏽 \u{a0}x", "café 👍🏽\u{a0}x", "café:0 👍:1 🏽:1 x:1 </s>:"),
    ("en", "", "", "</s>:"),
];

#[test]
fn tokens_know_the_words_they_cover() {
    for (language, text, line, expect) in PLACES {
        let sentence = tokenizer(language, &[]).encode(text);
        let places =
            WordPlaces::of_sentence(&sentence, line, WordRule::Spaces).unwrap_or_else(|| panic!("{text} is {line}"));
        let parts: Vec<&str> = sentence.tokens.iter().map(String::as_str).filter(|token| *token != "</s>").collect();
        let of_parts = WordPlaces::of_parts(&parts, line, WordRule::Spaces).expect("the same text");
        assert_eq!((&of_parts.places[..], of_parts.words), (&places.places[..parts.len()], places.words), "{text}");
        let shown = |(token, words): (&String, &std::ops::Range<usize>)| {
            format!("{token}:{}", words.clone().map(|word| word.to_string()).collect::<Vec<_>>().join(","))
        };
        let shown: Vec<String> = sentence.tokens.iter().zip(&places.places).map(shown).collect();
        assert_eq!(shown.join(" "), *expect, "{text} | {line}");
    }
    for (text, line) in [("one two", "one too"), ("one", "one two")] {
        assert_eq!(WordPlaces::of_sentence(&tokenizer("en", &[]).encode(text), line, WordRule::Spaces), None);
        assert_eq!(WordPlaces::of_parts(&[text], line, WordRule::Spaces), None);
    }
    for (parts, text, expect) in [
        (&["红色", "的", "书", "。"][..], "红色的书。", &[0..1, 1..2, 2..3, 3..4][..]),
        (&["红色", "的", "书"], "红色 的 书", &[0..1, 1..2, 2..3]),
        (&["10\u{a0}000", "euros"], "10\u{a0}000 euros", &[0..1, 1..2]),
    ] {
        assert_eq!(
            WordPlaces::of_parts(parts, text, WordRule::Spaces).expect("the same text").places,
            expect,
            "{text}"
        );
    }
    let nothing = WordPlaces { places: Vec::new(), words: 0 };
    assert_eq!(WordPlaces::of_sentence(&Sentence::default(), "", WordRule::Spaces), Some(nothing));
}

#[test]
fn lengths_are_counted_at_spaces() {
    let found = lengths(&["l' heure bleue", "", "a\u{a0}b c"], &["the  blue\thour ", "x", ""]);
    assert_eq!(found, [(3, 3), (0, 1), (2, 0)]);
}
