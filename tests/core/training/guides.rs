//! Guided attention from a file of links: read, learned, logged, refused.

use interlinear::training::settings::{GuideSettings, LinkWords, TrainingSettings, Unlinked};
use interlinear::training::{guide, guide::Guide, trainer::TrainingReport, vocabularies::TrainingTokenizers};
use interlinear::{error::Result, models::config::Config, text::corpus::ParallelText};
use interlinear::{text::tokenizer::Tokenizer, text::vocab, training::data::rules};

use super::{GUIDED, Toy, on};

use crate::forever;

fn tokenizer(language: &str, text: &str) -> Tokenizer {
    let counts = vocab::count(language, text.lines().map(|line| Ok(line.to_owned()))).expect("counted");
    vocab::build(language, counts, 100).expect("a tokenizer")
}

fn read(source: &str, target: &str, links: &str, words: LinkWords, delay: usize) -> Result<(usize, Guide)> {
    let (corpus, guide) = read_with(source, target, links, (words, delay), Unlinked::Free)?;
    Ok((corpus.len(), guide))
}

fn read_with(
    source: &str, target: &str, links: &str, (words, delay): (LinkWords, usize), unlinked: Unlinked,
) -> Result<(ParallelText, Guide)> {
    let toy = Toy::new(GUIDED);
    for (name, text) in [("train.en", source), ("train.fr", target), ("train.links", links)] {
        toy.write(name, text.as_bytes());
    }
    let mut settings = TrainingSettings::load(&toy.path("toy.toml")).expect("sound");
    settings.guide.as_mut().expect("it guides").unlinked = unlinked;
    let tokenizers = TrainingTokenizers { source: tokenizer("en", source), target: tokenizer("fr", target) };
    let mut text = settings.data.train[0].clone();
    text.link_words = words;
    let links = text.links.clone().expect("links");
    let rules = rules(&text, settings.data.max_length, u64::MAX);
    guide::read(&text, &links, &settings, &tokenizers, (delay, &rules), &forever())
}

fn places(guide: &Guide, k: usize) -> Vec<(u16, u16)> {
    guide.of(k).iter().map(|look| (look.i, look.j)).collect()
}

#[test]
fn links_of_words_become_places_of_tokens() {
    let (source, target) = ("the time, now\n", "l'heure est venue.\n");
    // between spaces: `time,` are two tokens, `l'heure` and `venue.` two each
    let (_, guide) = read(source, target, "1-0 0-0 2-2 1?1\n", LinkWords::Spaces, 0).expect("read");
    let expect = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (3, 3), (4, 3)];
    assert_eq!(places(&guide, 0), expect, "possible links guide nothing");
    let (_, guide) = read(source, target, "0-0 1-1 3-3\n", LinkWords::Tokens, 0).expect("read");
    assert_eq!(places(&guide, 0), [(0, 0), (1, 1), (3, 3)]);
    // the row of `</s>` is number 5
    let (_, guide) = read(source, target, "0-0 1-1 3-3 2-4\n", LinkWords::Tokens, 1).expect("read");
    assert_eq!(places(&guide, 0), [(1, 0), (2, 1), (4, 3), (5, 2)], "the reading `input` of Luong's models");
}

#[test]
fn the_last_word_has_its_row_behind_the_end_where_it_is_read_two_rows_later() {
    let (source, target, links) = ("the time, now\n", "l'heure est venue.\n", "0-0 1-1 3-3 2-4\n");
    for (delay, more) in [(0, 0), (1, 0), (2, 1)] {
        let (corpus, guide) =
            read_with(source, target, links, (LinkWords::Tokens, delay), Unlinked::Free).expect("read");
        let eos = *corpus.pair(0).0.last().expect("`</s>`");
        let words = corpus.pair(0).1;
        assert_eq!((words.len(), &words[5..]), (6 + more, &vec![eos; 1 + more][..]), "delay {delay}");
        let rows: Vec<u16> = guide.of(0).iter().map(|look| look.i).collect();
        assert_eq!(rows, [0, 1, 3, 4].map(|i| i + delay as u16), "delay {delay}: every link has its row");
    }
}

#[test]
fn words_without_links_look_where_the_file_says() {
    // a b c d e: b and d are linked
    let (source, target, links) = ("v w x\n", "a b c d e\n", "0-1 1-1 2-3\n");
    for (unlinked, expect) in [
        (Unlinked::Free, &[(1, 0), (1, 1), (3, 2)][..]),
        (Unlinked::End, &[(0, 3), (1, 0), (1, 1), (2, 3), (3, 2), (4, 3)]),
        (Unlinked::Nearest, &[(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 2), (4, 2)]),
    ] {
        let (_, guide) = read_with(source, target, links, (LinkWords::Spaces, 0), unlinked).expect("read");
        assert_eq!(places(&guide, 0), expect, "{unlinked:?}");
        let (_, later) = read_with(source, target, links, (LinkWords::Spaces, 2), unlinked).expect("read");
        let moved: Vec<(u16, u16)> = expect.iter().map(|(i, j)| (i + 2, *j)).collect();
        assert_eq!(places(&later, 0), moved, "{unlinked:?}, read two rows later");
        let (_, none) = read_with(source, target, "\n", (LinkWords::Spaces, 0), unlinked).expect("read");
        assert_eq!(none.of(0).len(), if unlinked == Unlinked::End { 5 } else { 0 }, "{unlinked:?}");
    }
}

#[test]
fn pairs_that_are_left_out_take_their_links_with_them() {
    let long = "a ".repeat(9);
    let (source, target) = (format!("one\n{long}\n\ntwo three\n"), "un\nx\ny\ndeux trois\n");
    let (pairs, guide) = read(&source, target, "0-0\n8-0\n\n0-0 1-1\n", LinkWords::Spaces, 0).expect("read");
    assert_eq!((pairs, places(&guide, 0), places(&guide, 1)), (2, vec![(0, 0)], vec![(0, 0), (1, 1)]));
    assert!(guide.of(2).is_empty() && guide.note().contains("2 of 2 pairs"));
}

#[test]
fn wrong_links_are_named() {
    for (links, names) in [
        ("0-0\n", &["train.links", "line 1", "ends here", "train.en"][..]),
        ("0-0\n\n0-0\n", &["train.links", "line 3", "goes on"]),
        ("0-0\n0:1\n", &["train.links", "line 2", "`0:1`", "no link"]),
        ("0-0\n2-0\n", &["train.links", "line 2", "2-0", "2 source and 1 target words between spaces", "link_words"]),
    ] {
        let error = read("one\ntwo three\n", "un\ndeux\n", links, LinkWords::Spaces, 0).expect_err(links);
        let sentence = error.to_string();
        assert!(error.is_users() && names.iter().all(|name| sentence.contains(name)), "{sentence}");
    }
}

#[test]
fn the_weight_falls_as_the_file_says() {
    let guide = |from, until| GuideSettings {
        weight: 2.0,
        decay_from: from,
        decay_until: until,
        final_weight: 1.0,
        ..GuideSettings::default()
    };
    let weights = |guide: GuideSettings| [0, 10, 15, 20, 90].map(|update| guide.weight_at(update, 30));
    assert_eq!(weights(guide(None, None)), [2.0; 5]);
    assert_eq!(weights(guide(Some(10), Some(20))), [2.0, 2.0, 1.5, 1.0, 1.0]);
    assert_eq!(weights(guide(Some(10), None)), [2.0, 2.0, 1.75, 1.5, 1.0]);
}

fn costs(toy: &Toy) -> (f64, f64) {
    let reports = toy.train_through("toy.toml", &on(1));
    let costs: Vec<f64> =
        reports.iter().filter_map(|r| if let TrainingReport::Line(line) = r { line.guide } else { None }).collect();
    (costs[0], costs[costs.len() - 1])
}

#[test]
fn guided_attention_is_learned_in_every_wiring_that_aligns() {
    let luong = "maxout = 4\nalignment = 5";
    for changes in [
        &[][..],
        &[("weight = 1.0", "weight = 1.0\nreading = \"input\"")],
        &[("\"rnnsearch\"", "\"luong\""), (luong, "attention = \"global\"")],
        &[("\"rnnsearch\"", "\"luong\""), (luong, "attention = \"local-p\"\nwindow = 3")],
    ] {
        let longer = [("updates = 22", "updates = 220"), ("measure_every = 7", "measure_every = 1000")];
        let toy = Toy::new(&[GUIDED, changes, &longer].concat());
        let (first, last) = costs(&toy);
        assert!(last < 0.6 * first, "{changes:?}: the cost goes from {first} to {last}");
        let log = String::from_utf8(toy.read("out/training/log.jsonl")).expect("text");
        assert!(log.lines().next().is_some_and(|line| line.contains("\"guide\":")), "{log}");
    }
}

#[test]
fn the_row_that_has_read_a_word_depends_on_the_architecture() {
    let delay = |changes: &[(&str, &str)]| {
        let settings = TrainingSettings::load(&Toy::new(changes).path("toy.toml")).expect("sound");
        Config::input_delay(&settings.config(10, 10))
    };
    let luong = |says: &'static str| [("\"rnnsearch\"", "\"luong\""), ("maxout = 4\nalignment = 5", says)];
    assert_eq!(delay(&[]), Some(2));
    assert_eq!(delay(&luong("score = \"dot\"")), Some(1));
    assert_eq!(delay(&luong("score = \"location\"")), None);
    assert_eq!(delay(&[("\"rnnsearch\"", "\"rnnencdec\""), ("alignment = 5", "")]), None);
}
