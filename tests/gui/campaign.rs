//! A campaign of human evaluation on page Corpus by the keyboard alone.

use std::fmt::Write as _;

use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use interlinear::corpus::judgements::campaign::Campaign;
use interlinear::pages::corpus::views::{ExploreCommand, ExploreView};
use interlinear::{import::Role, jobs::corpus::thread::CorpusRequest, pages::corpus::command::CorpusCommand};

use crate::{desk::WindowActions as _, workbench::Bench};

const SYSTEMS: [&str; 4] = ["First", "Second", "Third", "Fourth"];

pub fn desk(count: usize, plan: Campaign) -> Bench {
    let mut bench = Bench::new();
    let folder = bench.folder.path().to_owned();
    bench.send(CorpusRequest::Open(folder.join("c.ilws")));
    let mut texts = vec![("s.en".to_owned(), Role::Source)];
    texts.extend(SYSTEMS.iter().map(|name| (format!("{name}.fr"), Role::Output((*name).to_owned()))));
    for (n, (name, role)) in texts.into_iter().enumerate() {
        let mut text = String::new();
        for line in 0..count {
            let _ = writeln!(text, "phrase {line} du texte {n}.");
        }
        std::fs::write(folder.join(&name), text).expect("written");
        bench.send(CorpusCommand::SetRole(role));
        bench.send(CorpusCommand::Import(folder.join(name)));
    }
    bench.send(CorpusCommand::DismissMessage);
    bench.send(CorpusRequest::Plan(Some(Box::new(plan))));
    bench.send(ExploreCommand::SetView(ExploreView::Judge));
    bench
}

pub fn plan(rates: bool) -> Campaign {
    Campaign {
        seed: 5,
        is_blind: true,
        rates,
        annotators: vec!["me".to_owned(), "anna".to_owned()],
        each: usize::MAX,
        ..Campaign::default()
    }
}

fn press(bench: &mut Bench, keys: &[(Modifiers, Key)]) {
    for (modifiers, key) in keys {
        bench.harness.key_press_modifiers(*modifiers, *key);
    }
    bench.settle();
}

fn plain(keys: &[Key]) -> Vec<(Modifiers, Key)> {
    keys.iter().map(|key| (Modifiers::NONE, *key)).collect()
}

#[test]
fn a_hundred_sentences_of_four_systems_are_judged_by_the_keyboard_alone() {
    let mut bench = desk(100, plan(true));
    bench.says("Task 1 of 100, 0 done");
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4];
    // A mark is three keys: the word, the kind, the severity.
    let mut keys = vec![Key::ArrowRight, Key::C, Key::Num2];
    for digit in digits {
        keys.extend([digit, Key::Num5, Key::Enter]);
    }
    keys.push(Key::Enter);
    for _ in 0..100 {
        press(&mut bench, &plain(&keys));
    }
    bench.says("Task 100 of 100, 100 done");
    let corpus = bench.harness.corpus().corpus.clone();
    let campaign = corpus.campaign.clone().expect("a campaign");
    let mut first = [0; 4];
    for at in 0..100 {
        let said = &corpus.judgements[&at]["me"];
        let order = campaign.order("me", at);
        for (place, system) in order.iter().enumerate() {
            assert_eq!(said.ratings[SYSTEMS[*system]], 10 * (place as u8 + 1) + 5, "sentence {at}");
        }
        assert_eq!(said.marks.len(), 1);
        let mark = &said.marks[0];
        assert_eq!((mark.system.as_str(), mark.target), (SYSTEMS[order[0]], (0, 1)));
        assert_eq!((mark.category.as_str(), mark.severity.as_str()), ("accuracy/mistranslation", "minor"));
        first[order[0]] += 1;
    }
    assert!(first.iter().all(|times| *times > 10), "each is first now and then: {first:?}");
    assert_eq!(corpus.counts.ratings, 400);
}

#[test]
fn a_rating_of_more_than_a_hundred_waits_to_be_corrected() {
    let mut bench = desk(2, plan(true));
    press(&mut bench, &plain(&[Key::Num8, Key::Num5, Key::Num0, Key::Enter]));
    assert!(bench.harness.query_all_by_label_contains("100 is the most").next().is_some());
    assert_eq!(bench.harness.corpus().corpus.counts.ratings, 0);
    press(&mut bench, &plain(&[Key::Backspace, Key::Enter]));
    let corpus = bench.harness.corpus().corpus.clone();
    let at = bench.chosen().expect("a sentence");
    assert_eq!(corpus.judgements[&at]["me"].ratings.values().collect::<Vec<_>>(), [&85]);
}

#[test]
fn outputs_are_rated_in_stars() {
    let mut bench = desk(2, Campaign { in_stars: true, ..plan(true) });
    press(&mut bench, &plain(&[Key::Num9, Key::Num4, Key::Enter, Key::Num2]));
    bench.says_all(&["A, 4 stars", "B, 2 stars"]);
    bench.click("5 stars for C");
    let corpus = bench.harness.corpus().corpus.clone();
    let mut ratings: Vec<u8> =
        corpus.judgements[&bench.chosen().expect("a sentence")]["me"].ratings.values().copied().collect();
    ratings.sort_unstable();
    assert_eq!(ratings, [40, 80, 100], "no digit above 5 is a rating");
}

#[test]
fn names_are_hidden_and_keys_mark_words_letters_sources_and_what_is_missing() {
    let mut bench = desk(3, plan(false));
    for name in SYSTEMS {
        assert!(bench.harness.query_all_by_label_contains(name).next().is_none(), "{name} is seen");
    }
    bench.says_all(&["A", "D"]);
    let at = bench.chosen().expect("a sentence");
    let (shift, alt, ctrl) = (Modifiers::SHIFT, Modifiers::ALT, Modifiers::COMMAND);
    let said = |bench: &Bench| bench.harness.corpus().said(at, "me");
    let mut keys = plain(&[Key::ArrowDown, Key::ArrowRight]);
    keys.extend([(shift, Key::ArrowRight), (ctrl, Key::ArrowRight), (ctrl | shift, Key::ArrowRight)]);
    keys.extend(plain(&[Key::A, Key::Num3]));
    press(&mut bench, &keys);
    bench.says("B, 1 mark");
    let mark = said(&bench).marks[0].clone();
    assert_eq!((mark.target, mark.source, mark.letters), ((0, 2), (0, 2), None));
    assert_eq!((mark.category.as_str(), mark.severity.as_str()), ("accuracy/addition", "major"));

    // A part of a word; the full stop is a word of its own.
    let mut keys = plain(&[Key::ArrowLeft, Key::ArrowLeft, Key::ArrowLeft]);
    keys.extend([(alt | shift, Key::ArrowLeft), (alt, Key::ArrowRight)]);
    keys.extend(plain(&[Key::G, Key::Num1, Key::ArrowRight, Key::ArrowRight, Key::Minus, Key::B, Key::Num2]));
    press(&mut bench, &keys);
    let marks = said(&bench).marks;
    let last = marks[1].target;
    assert_eq!((last.1 - last.0, marks[1].letters), (1, Some((1, 4))), "letters of `texte`");
    assert_eq!((marks[2].target, marks[2].category.as_str()), ((1, 1), "accuracy/omission"));
    press(&mut bench, &plain(&[Key::Backspace]));
    assert_eq!(said(&bench).marks.len(), 2);
    bench.press_with(ctrl, Key::Z);
    assert_eq!(said(&bench).marks.len(), 3, "what was taken away comes back");

    press(&mut bench, &plain(&[Key::ArrowUp, Key::Period, Key::ArrowDown, Key::ArrowDown, Key::Period]));
    assert_eq!(said(&bench).no_errors.len(), 2);
    bench.says("A, no errors");
    press(&mut bench, &plain(&[Key::Enter, Key::Period, Key::Enter]));
    assert_ne!(bench.chosen(), Some(at), "the next task, for all is judged");
    bench.says("Task 2 of 3, 1 done");
    press(&mut bench, &plain(&[Key::PageUp]));
    assert_eq!(bench.chosen(), Some(at));
}

#[test]
fn what_a_metric_marked_is_seen_and_taken_over_and_what_others_marked_is_not() {
    let mut bench = desk(2, plan(true));
    let at = bench.chosen().expect("a sentence");
    let campaign = bench.harness.corpus().corpus.campaign.clone().expect("a campaign");
    let system = SYSTEMS[campaign.order("me", at)[0]];
    let mark = |target| interlinear::corpus::judgements::judge::ErrorMark {
        system: system.to_owned(),
        target,
        category: "style".to_owned(),
        severity: "major".to_owned(),
        ..interlinear::corpus::judgements::judge::ErrorMark::default()
    };
    for (name, target) in [("xCOMET", (1, 2)), ("anna", (2, 3))] {
        let mut judgement = interlinear::corpus::judgements::judge::Judgement::default();
        judgement.mark(mark(target));
        bench.send(CorpusRequest::Judge(at, name.to_owned(), judgement));
    }
    assert!(bench.harness.query_all_by_label_contains("by xCOMET").next().is_some());
    assert!(bench.harness.query_all_by_label_contains("by anna").next().is_none());
    press(&mut bench, &plain(&[Key::Equals]));
    let said = bench.harness.corpus().said(at, "me");
    assert_eq!(said.marks, [mark((1, 2))]);
}

#[test]
fn a_campaign_is_planned_in_the_window_and_ended() {
    let mut bench = Bench::filled();
    bench.click("Judge");
    bench.says("Other, not rated");
    bench.click("Campaign...");
    bench.says("A campaign of human evaluation");
    bench.click("Begin with the 3 sentences shown");
    bench.says_all(&["Task 1 of 3, 0 done", "A, not rated"]);
    bench.send(CorpusCommand::SetAnnotator("anna".to_owned()));
    bench.says("anna has no tasks in this campaign; these have: me.");
    bench.click_each(&["End the campaign", "Yes, end it"]);
    bench.says("Campaign...");
}
