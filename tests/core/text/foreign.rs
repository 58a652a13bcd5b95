//! Vocabularies of others: pieces and places as `sentencepiece` and `subword-nmt` have them, ids of the files beside.

use std::fs;
use std::path::{Path, PathBuf};

use interlinear::text::sentence::{EOS, UNK};
use interlinear::text::tokenizer::{CorpusEncoder, Tokenizer};
use interlinear::text::{foreign::sentencepiece::SentencePiece, foreign::vocabulary::Vocabulary, pieces::PieceMarks};
use interlinear::{error::Result, text::cut::WordRule};
use serde_json::Value;

use crate::folder::{Files as _, Folder};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name)
}

fn model(name: &str) -> SentencePiece {
    SentencePiece::read(&corpus(&format!("sentencepiece/sound-{name}.spm"))).expect("a sound model")
}

fn vocabulary(words: &[&str]) -> Vocabulary {
    let folder = Folder::new();
    let path = folder.put("words.txt", words.join("\n"));
    Vocabulary::read(&path, None).expect("a vocabulary")
}

fn tokenizer(file: Result<Vec<u8>>) -> Tokenizer {
    Tokenizer::from_json(Path::new("t.json"), &file.expect("a file")).expect("it can be read")
}

#[test]
fn pieces_and_their_places_are_those_of_sentencepiece() {
    let expected = include_str!("../../fixtures/pieces/expected.json");
    let cases: Vec<Value> = serde_json::from_str(expected).expect("JSON");
    assert!(cases.len() > 400);
    let mut known: Option<(String, Tokenizer)> = None;
    for case in &cases {
        let (name, text) = (case["model"].as_str().expect("a name"), case["text"].as_str().expect("a text"));
        if known.as_ref().is_none_or(|(known, _)| known != name) {
            known = Some((name.to_owned(), tokenizer(model(name).tokenizer(None, false)).ending(false)));
        }
        let (_, tokenizer) = known.as_ref().expect("set above");
        let sentence = tokenizer.encode(text);
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        let all = |key: &str| case[key].as_array().expect("a list").clone();
        let ids: Vec<u32> = all("ids").iter().map(|id| number(id) as u32).collect();
        let places: Vec<_> = all("places").iter().map(|place| number(&place[0])..number(&place[1])).collect();
        assert_eq!((sentence.ids, sentence.spans), (ids, places), "{name}: {text:?}");
        for (token, span) in sentence.tokens.iter().zip(tokenizer.encode(text).spans) {
            assert!(token == &text[span.clone()] || span.is_empty() && !token.is_empty(), "{name}: {text:?} {token:?}");
        }
    }
}

#[test]
fn ids_are_those_of_the_vocabulary_beside_the_model() {
    let pieces = model("unigram");
    // The vocabulary lacks `▁old`, has a letter that the model does not know, and a language.
    let words = ["</s>", "<unk>", "\u{2581}mill", "猫", "\u{2581}", "\u{2581}the", ">>fra<<", "\u{2581}never", "<pad>"];
    let beside = vocabulary(&words);
    let tokenizer = tokenizer(pieces.tokenizer(Some(&beside), false));
    assert_eq!(tokenizer.len(), words.len());
    assert_eq!((tokenizer.token(0), tokenizer.token(1), tokenizer.token(8)), (Some(EOS), Some(UNK), Some("<pad>")));
    for (text, ids, tokens) in [
        ("the mill", vec![5, 2, 0], vec!["the", "mill", EOS]),
        ("the old mill", vec![5, 1, 2, 0], vec!["the", "old", "mill", EOS]),
        ("猫 mill", vec![4, 3, 2, 0], vec!["\u{2581}", "猫", "mill", EOS]),
        (">>fra<< the mill", vec![6, 5, 2, 0], vec![">>fra<<", "the", "mill", EOS]),
        (" >>fra<<the", vec![6, 5, 0], vec![">>fra<<", "the", EOS]),
        (">>deu<< the", vec![1, 5, 0], vec![">>deu<<", "the", EOS]),
        ("</s>", vec![4, 1, 1, 1, 0], vec!["\u{2581}", "</", "s", ">", EOS]),
    ] {
        let sentence = tokenizer.encode(text);
        assert_eq!((&sentence.ids, sentence.tokens.iter().map(String::as_str).collect()), (&ids, tokens), "{text}");
        let place = |span: &std::ops::Range<usize>| &text[span.clone()];
        let fits = |(token, span)| place(span) == token || span.is_empty();
        assert!(sentence.tokens.iter().zip(&sentence.spans).all(fits), "{text}: {:?}", sentence.spans);
        let mut ids = Vec::new();
        CorpusEncoder::new(&tokenizer).extend(text, &mut ids);
        assert_eq!(ids, sentence.ids[..sentence.len() - 1], "{text}: a corpus is read alike");
    }
    let inside = tokenizer.encode("the >>fra<< mill");
    assert!(!inside.ids.contains(&6), "only the beginning of a text names its language: {:?}", inside.tokens);
}

#[test]
fn a_file_of_pieces_is_saved_as_it_is_and_refused_with_rules_that_it_ignores() {
    let (_folder, path) = Folder::and_path("tokenizer.json");
    let file = model("bpe-bytes").tokenizer(None, false).expect("a file");
    tokenizer(Ok(file.clone())).save(&path).expect("written");
    assert_eq!(fs::read(&path).expect("read"), file);
    let text = String::from_utf8(file).expect("JSON");
    let other = text.replacen(r#""normalizer":null"#, r#""normalizer":{"type":"Lowercase"}"#, 1);
    let refused = Tokenizer::from_json(Path::new("t.json"), other.as_bytes()).expect_err("refused").to_string();
    assert!(refused.contains("normalizer"), "{refused}");
    for (from, to, told) in [("\"spm\":\"", "\"spm\":\"!", "model"), ("punctuation", "colour", "colour")] {
        let broken = text.replacen(from, to, 1);
        let refused = Tokenizer::from_json(Path::new("t.json"), broken.as_bytes()).expect_err("refused").to_string();
        assert!(refused.contains("t.json") && refused.contains(told), "{refused}");
    }
}

#[test]
fn pieces_are_put_together_at_their_spaces_and_bytes_are_letters_again() {
    for name in ["unigram-bytes", "bpe-bytes", "unigram-suffix"] {
        let tokenizer = tokenizer(model(name).tokenizer(None, false));
        let text = if name == "unigram-suffix" { "the mill, old" } else { "the 猫, mill «déjà» (old)" };
        let sentence = tokenizer.encode(text);
        let pieces = tokenizer.tokens(&sentence.ids);
        if name != "unigram-suffix" {
            assert_eq!(tokenizer.join("fr", &pieces), text, "{name}: {pieces:?}");
            // marks are words as far as they begin with a piece
            let words = tokenizer.word_ranges(&sentence.ids).len() - 1;
            let most = tokenizer.rule(false).count(text);
            assert!((text.split(' ').count()..=most).contains(&words), "{name}: {pieces:?}");
        }
    }
    let joins = PieceMarks::Joins("@@".to_owned());
    assert_eq!(PieceMarks::seen(&["un@@", "believ@@", "able"]), joins);
    assert_eq!(joins.words(&["un@@", "believ@@", "able", "sun", EOS], WordRule::Tokens), [0..3, 3..4, 4..5]);
    assert_eq!(joins.word(&["un@@", "believ@@", "able"]), "unbelievable");
}

#[test]
fn punctuation_is_folded_where_it_is_asked_for() {
    let pieces = model("unigram-bytes");
    let (plain, folding) = (tokenizer(pieces.tokenizer(None, false)), tokenizer(pieces.tokenizer(None, true)));
    for (text, folded) in [
        ("“mill”，old。  the、wheel！", "\"mill\",old. the,wheel!"),
        ("the…  mill’s１２％", "the... mill's\"2%"),
        ("  \u{200d}the\u{7}mill\u{feff} ", "the mill"),
        ("（the）《mill》．", "(the)\"mill\"."),
    ] {
        let sentence = folding.encode(text);
        assert_eq!(sentence.ids, plain.encode(folded).ids, "{text}");
        assert_ne!(sentence.ids, plain.encode(text).ids, "{text}");
        assert_eq!(sentence.text, text);
        assert!(sentence.spans.is_sorted_by_key(|span| span.start), "{:?}", sentence.spans);
    }
    let text = "old。 the";
    let sentence = folding.encode(text);
    let the = sentence.tokens.iter().position(|token| token == "the").expect("found as typed");
    assert_eq!(sentence.spans[the], 7..10);
}

#[test]
fn words_between_spaces_are_cut_by_codes_as_subword_nmt_does() {
    let words = vocabulary(&["</s>", "<unk>", "the", "mi@@", "ll", "old", "coun@@", "ts", "t@@", "mill", "s"]);
    for (file, text, ids, tokens) in [
        ("sound-new", "the mill  counts old", vec![2, 9, 6, 7, 5], vec!["the", "mill", "coun", "ts", "old"]),
        ("sound-new", "tt mi", vec![8, 1, 1, 1], vec!["t", "t", "m", "i"]),
        ("sound-old", "the mills", vec![2, 1, 10], vec!["the", "mill", "s"]),
        ("sound-bare", "the ", vec![2], vec!["the"]),
    ] {
        let tokenizer = tokenizer(words.words_tokenizer(Some(&corpus(&format!("codes/{file}.bpe"))))).ending(false);
        let sentence = tokenizer.encode(text);
        assert_eq!((sentence.ids, sentence.tokens), (ids, tokens.iter().map(ToString::to_string).collect()), "{text}");
        assert_eq!(tokenizer.marks(), &PieceMarks::Joins("@@".to_owned()));
    }
    let plain = tokenizer(words.words_tokenizer(None)).ending(false);
    let sentence = plain.encode("the old, mill ts");
    assert_eq!((sentence.ids, sentence.spans), (vec![2, 1, 9, 7], vec![0..3, 4..8, 9..13, 14..16]));
}

#[test]
fn what_is_not_read_is_refused_by_its_name() {
    for (name, told) in [
        ("sentencepiece/cut.spm", "cut.spm"),
        ("sentencepiece/score.spm", "NaN"),
        ("codes/sound-new.bpe", "SentencePiece"),
        ("sentencepiece/missing.spm", "missing.spm"),
    ] {
        let refused = SentencePiece::read(&corpus(name)).expect_err(name).to_string();
        assert!(refused.contains(told), "{refused}");
    }
    let words = vocabulary(&["</s>", "<unk>", "the"]);
    for (name, told) in [("codes/version.bpe", "version 7"), ("codes/three.bpe", "line 2")] {
        let refused = words.words_tokenizer(Some(&corpus(name))).expect_err(name).to_string();
        assert!(refused.contains(told), "{refused}");
    }
}
