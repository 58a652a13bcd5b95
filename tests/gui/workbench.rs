//! The page Corpus by its labels: a workspace is opened, sorted, read, judged and undone by mouse and keyboard.

use std::{sync::Arc, time::Duration};

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::jobs::corpus::thread::{CorpusNews, CorpusRequest, CorpusThread};
use interlinear::jobs::queue::{JobProgress, QueueEvent};
use interlinear::pages::corpus::views::{ExploreCommand, ExploreView};
use interlinear::{app::command::WindowCommand, app::page::SENTENCE, import::Role, pages::command::Command};
use interlinear::{pages::corpus::CORPUS, pages::corpus::command::CorpusCommand, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires};

const PATIENCE: Duration = Duration::from_mins(1);

const SOURCE: &str = "The red boat sleeps.\nThe old mill turns in the wind.\nRain.\n";
const REFERENCE: &str = "Le bateau rouge dort.\nLe vieux moulin tourne au vent.\nPluie.\n";
const OTHER: &str = "Le bateau dort rouge.\nLe moulin tourne.\nPluie.\n";

fn last_news(call: &CorpusRequest) -> Option<fn(&CorpusNews) -> bool> {
    match call {
        CorpusRequest::Close | CorpusRequest::Stop => None,
        CorpusRequest::Open(_)
        | CorpusRequest::Begin
        | CorpusRequest::SaveAs(_)
        | CorpusRequest::Show { .. }
        | CorpusRequest::Remove(_)
        | CorpusRequest::Plan(_)
        | CorpusRequest::Add(..)
        | CorpusRequest::SetTokenizer(_)
        | CorpusRequest::Fill { .. } => Some(|news| matches!(news, CorpusNews::Rows(_))),
        CorpusRequest::Import(..) => Some(|news| matches!(news, CorpusNews::Imported(..))),
        CorpusRequest::Write(_) | CorpusRequest::SaveScheme(_) => Some(|news| matches!(news, CorpusNews::Written(_))),
        CorpusRequest::Detail(_) => Some(|news| matches!(news, CorpusNews::Detail(_))),
        CorpusRequest::See(..) => Some(|news| matches!(news, CorpusNews::Seen)),
        CorpusRequest::Compare(pair) => {
            pair.as_ref().map(|_| (|news| matches!(news, CorpusNews::Compared(_))) as fn(&CorpusNews) -> bool)
        }
        CorpusRequest::Judge(..)
        | CorpusRequest::SetGold(..)
        | CorpusRequest::SetOutputGold(..)
        | CorpusRequest::Align(..)
        | CorpusRequest::SetScheme(..)
        | CorpusRequest::OpenScheme(_)
        | CorpusRequest::Undo
        | CorpusRequest::Redo => Some(|news| matches!(news, CorpusNews::Judged(..))),
        CorpusRequest::Keep(_) | CorpusRequest::Means(..) | CorpusRequest::Count(None) => None,
        CorpusRequest::Find(None) | CorpusRequest::Tally(None) => None,
        CorpusRequest::Count(Some(_)) => Some(|news| matches!(news, CorpusNews::Counted(_))),
        CorpusRequest::Tally(Some(_)) => {
            Some(|news| matches!(news, CorpusNews::Tallied(_, _, Some(_)) | CorpusNews::Refused(..)))
        }
        CorpusRequest::Find(Some(_)) => Some(|news| match news {
            CorpusNews::Hits(hits) => hits.is_over,
            news => matches!(news, CorpusNews::Refused(..)),
        }),
        CorpusRequest::SaveHits { .. } => Some(|news| matches!(news, CorpusNews::Written(_))),
    }
}

pub struct Bench {
    pub harness: Harness<'static, App>,
    wires: Wires,
    lane: CorpusThread,
    pub folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self::sized([1280.0, 800.0])
    }

    pub fn sized(size: [f32; 2]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("a.en", SOURCE), ("a.fr", REFERENCE), ("b.fr", OTHER)] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let mut session: Session = desk::two_models();
        session.apply(WindowCommand::ShowPage(CORPUS));
        let (harness, wires) =
            desk::window_with(session, size, vec![std::path::PathBuf::from("some/other-model").into()]);
        let lane = CorpusThread::spawn(Arc::new(|| {}));
        Self { harness, wires, lane, folder }
    }

    pub fn settle(&mut self) {
        self.harness.run();
        loop {
            let calls: Vec<CorpusRequest> = self.wires.calls.borrow_mut().drain(..).collect();
            if calls.is_empty() {
                return;
            }
            for call in calls {
                let is_last = last_news(&call);
                self.lane.send(call);
                while let Some(is_last) = is_last {
                    let news = self.lane.news.next_within(PATIENCE).expect("the lane answers");
                    let is_over = is_last(&news) || matches!(news, CorpusNews::Failed(_));
                    self.wires.news.borrow_mut().push(news);
                    if is_over {
                        break;
                    }
                }
            }
            self.harness.run();
        }
    }

    pub fn send(&mut self, command: impl Into<Command>) {
        self.harness.state_mut().send(command);
        self.settle();
    }

    pub fn click(&mut self, label: &str) {
        self.harness.get_by_label(label).click();
        self.settle();
    }

    pub fn click_each(&mut self, labels: &[&str]) {
        for label in labels {
            self.click(label);
        }
    }

    pub fn says_all(&self, labels: &[&str]) {
        for label in labels {
            self.says(label);
        }
    }

    pub fn press(&mut self, key: Key) {
        self.press_with(Modifiers::NONE, key);
    }

    pub fn press_with(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    pub fn filled() -> Self {
        Self::filled_of(Self::new())
    }

    pub fn filled_of(mut bench: Self) -> Self {
        let at = |bench: &Self, name: &str| bench.folder.path().join(name);
        let path = at(&bench, "w.ilws");
        bench.send(CorpusRequest::Open(path));
        for (name, role) in
            [("a.en", Role::Source), ("a.fr", Role::Reference), ("b.fr", Role::Output("Other".to_owned()))]
        {
            let path = at(&bench, name);
            bench.send(CorpusCommand::SetRole(role));
            bench.send(CorpusCommand::Import(path));
        }
        bench
    }

    #[track_caller]
    pub fn says(&self, label: &str) {
        assert!(self.harness.has_any(label), "{label} is missing");
    }

    pub fn is_gone(&self, label: &str) -> bool {
        !self.harness.has_any(label)
    }

    pub fn written(&self) -> (std::path::PathBuf, String) {
        self.wires.written.borrow().last().cloned().expect("something is written")
    }

    pub fn absorb(&mut self, event: QueueEvent) {
        self.wires.corpus.borrow_mut().push(event);
        self.settle();
    }

    pub fn chosen(&self) -> Option<usize> {
        self.harness.corpus().selected
    }
}

#[test]
fn a_page_without_a_workspace_says_what_one_is() {
    let mut bench = Bench::new();
    bench.settle();
    bench
        .says_all(&["Corpora", "New corpus...", "Open corpus...", "Path", "Open", "References...", "System output..."]);
    bench.click("Put in a set to try");
    bench.says_all(&["24 sentences, 0 systems", "Save as..."]);
}

#[test]
fn a_new_workspace_can_be_filled_with_a_set_to_try() {
    let mut bench = Bench::new();
    let path = bench.folder.path().join("w.ilws");
    bench.send(CorpusRequest::Open(path));
    bench.click("Put in a set to try");
    bench.says("24 sentences, 0 systems");
    bench.send(CorpusCommand::Select(Some(0)));
    let detail = bench.harness.corpus().detail.clone().expect("a sentence");
    assert!(detail.sentence.reference.is_some() && detail.gold.is_some());
}

#[test]
fn files_come_in_and_the_table_sorts_and_filters() {
    let mut bench = Bench::filled();
    bench.says_all(&["3 sentences, 1 system", "Sentence 1 The red boat sleeps."]);
    bench.says("b.fr: Imported 3 outputs");
    bench.click("Dismiss");
    assert!(bench.is_gone("b.fr: Imported 3 outputs"));
    bench.click("BLEU 1");
    let rows = |bench: &Bench| bench.harness.corpus().rows.to_vec();
    assert_eq!(rows(&bench)[0], 2, "the best first");
    bench.click("BLEU 1, greatest first");
    assert_eq!(rows(&bench)[2], 2, "the best last");
    bench.click("BLEU 1, least first");
    assert_eq!(rows(&bench), [0, 1, 2]);
    bench.click("1. Other");
    assert_eq!(rows(&bench), [0, 1, 2], "A to Z");
    bench.click("1. Other, A to Z");
    assert_eq!(rows(&bench), [2, 1, 0]);
    bench.click("1. Other, Z to A");
    // The keyboard stays at a head that has sorted.
    bench.harness.get_by_label("Source").focus();
    for order in ["source", "-source"] {
        bench.harness.press(egui::Key::Enter);
        assert_eq!(bench.harness.corpus().sorting, order);
    }
    bench.click("Source, Z to A");
    bench.send(CorpusCommand::SetFilter("source:mill".to_owned()));
    bench.says("1 of 3");
    bench.send(CorpusCommand::SetFilter("blue<3".to_owned()));
    assert!(bench.harness.query_by_label_contains("there is no column `blue`").is_some());
    bench.says("1 of 3");
    bench.send(CorpusCommand::SetFilter(String::new()));
    bench.click("BLEU 1");
    let path = bench.folder.path().join("w.ilws");
    bench.send(CorpusRequest::Open(path));
    assert_eq!(bench.harness.corpus().sorting, "-bleu.1", "the file keeps how it is sorted");
    assert_eq!(rows(&bench)[0], 2);
}

#[test]
fn an_import_can_be_stopped() {
    let mut bench = Bench::filled();
    assert!(bench.is_gone("Stop the import"));
    bench
        .wires
        .news
        .borrow_mut()
        .push(CorpusNews::Busy { progress: JobProgress::of_share("Importing a.en", 0.25), is_import: true });
    bench.harness.run();
    bench.says("Importing a.en");
    bench.harness.click_on("Stop the import");
    assert_eq!(bench.wires.calls.borrow_mut().drain(..).collect::<Vec<_>>(), [CorpusRequest::Stop]);
    bench.wires.news.borrow_mut().push(CorpusNews::Idle);
    bench.harness.run();
    assert!(bench.is_gone("Stop the import"));
}

#[test]
fn a_sentence_is_chosen_by_keyboard_judged_and_undone() {
    let mut bench = Bench::filled();
    bench.click("Sentence 1 The red boat sleeps.");
    assert_eq!(bench.chosen(), Some(0));
    bench.says("Sentence 1");
    bench.press(Key::ArrowDown);
    assert_eq!(bench.chosen(), Some(1));
    bench.click_each(&["Judge this sentence", "3 stars"]);
    let stars = |bench: &Bench| bench.harness.corpus().judgement().stars;
    assert_eq!(stars(&bench), 3);
    bench.click_each(&["Word 2 of Other: moulin", "Word 2 of the source: old", "Word 3 of the source: mill"]);
    bench.click_each(&["Error: accuracy/addition", "Mark as minor"]);
    let marks = bench.harness.corpus().judgement().marks.clone();
    assert_eq!(marks.iter().map(|mark| (mark.target, mark.source)).collect::<Vec<_>>(), [((1, 2), (1, 3))]);
    assert!(bench.harness.query_by_label_contains("moulin for \u{201c}old mill\u{201d}").is_some());
    bench.press_with(Modifiers::COMMAND, Key::Z);
    assert_eq!((stars(&bench), bench.harness.corpus().judgement().marks.len()), (3, 0));
    bench.press_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(stars(&bench), 0);
    bench.press_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(stars(&bench), 3);
    bench.send(ExploreCommand::SetView(ExploreView::Table));
    bench.press(Key::Escape);
    assert_eq!(bench.chosen(), None);
}

#[test]
fn links_by_hand_are_drawn_word_by_word() {
    let mut bench = Bench::filled();
    bench.click("Sentence 1 The red boat sleeps.");
    let gold = |bench: &Bench| {
        let detail = bench.harness.corpus().detail.clone().expect("a sentence");
        detail.gold.as_ref().map(interlinear::text::links::pharaoh).unwrap_or_default()
    };
    bench.click_each(&["Source word 2: red", "Reference word 3: rouge"]);
    assert_eq!(gold(&bench), "1-2");
    bench.click("Reference word 3: rouge");
    assert_eq!(gold(&bench), "1?2");
    bench.click("Reference word 3: rouge");
    assert_eq!(gold(&bench), "");
    bench.click("From the aligner");
    assert!(gold(&bench).contains("1-2"), "{}", gold(&bench));
    bench.click("None");
    assert_eq!(gold(&bench), "");
}

#[test]
fn a_sentence_opens_live_with_its_links() {
    let mut bench = Bench::filled();
    bench.click_each(&["Sentence 2 The old mill turns in the wind.", "Open on page Sentence"]);
    let session = bench.harness.state().session();
    assert_eq!(
        (session.app().view.page, session.app().document.source()),
        (SENTENCE, "The old mill turns in the wind.")
    );
}

#[test]
fn two_annotators_are_compared_in_a_sheet() {
    let mut bench = Bench::filled();
    let judge = |bench: &mut Bench, annotator: &str, stars: [u8; 2]| {
        bench.send(CorpusCommand::SetAnnotator(annotator.to_owned()));
        for (at, stars) in stars.into_iter().enumerate() {
            bench.send(CorpusCommand::Select(Some(at)));
            bench.send(CorpusCommand::Star(stars));
        }
    };
    judge(&mut bench, "anna", [3, 4]);
    bench.send(ExploreCommand::SetView(ExploreView::Judge));
    bench.click("Agreement...");
    assert!(bench.harness.query_by_label_contains("Two annotators are needed").is_some());
    bench.click("Done");
    judge(&mut bench, "bob", [3, 2]);
    bench.click("Agreement...");
    bench.says_all(&["Both judged 2 sentences", "50.0 %", "They differ in 1 sentence"]);
    bench.press(Key::Escape);
    assert!(bench.is_gone("Agreement of two annotators") && bench.chosen() == Some(1));
    bench.click_each(&["Agreement...", "Sentence 2: stars"]);
    assert!(bench.is_gone("Agreement of two annotators"));
    let page = bench.harness.corpus();
    assert_eq!((page.filter.as_str(), page.selected), ("differs:bob,anna", Some(1)));
    bench.says("1 of 3");

    // A third comes as a file; one undo takes all of it back.
    let path = bench.folder.path().join("cleo.tsv");
    std::fs::write(&path, "source\tannotator\tstars\nRain.\tme\t5\nThe red boat sleeps.\tme\t1\n").expect("written");
    bench.send(CorpusCommand::Import(path));
    bench.says("cleo.tsv: Imported 2 judgements");
    let count = |bench: &Bench| bench.harness.corpus().corpus.counts.annotators.get("cleo").copied();
    assert_eq!(count(&bench), Some(2));
    bench.send(CorpusRequest::Undo);
    assert_eq!(count(&bench), None);
}

#[test]
fn the_scheme_of_errors_is_edited_in_a_sheet() {
    let mut bench = Bench::filled();
    bench.send(ExploreCommand::SetView(ExploreView::Judge));
    bench.click_each(&["Word 2 of Other: bateau", "Error: accuracy/addition", "Mark as minor"]);
    let marked = |bench: &Bench| bench.harness.corpus().judgement().marks[0].category.clone();
    assert_eq!(marked(&bench), "accuracy/addition");
    bench.click("Scheme of errors...");
    bench.says_all(&["Weight 2", "Remove kind 1..."]);
    bench.click("Remove kind 2");
    bench.harness.focus_on("Kind 1");
    bench.harness.get_by_label("Kind 1").type_text("s");
    bench.settle();
    bench.click("Save the scheme");
    let scheme = bench.harness.corpus().corpus.scheme.clone();
    assert_eq!((scheme.categories.len(), scheme.categories[1].as_str()), (12, "accuracy/mistranslation"));
    assert!(bench.is_gone("Scheme of errors"));
    assert_eq!(marked(&bench), scheme.categories[0]);
    assert!(scheme.categories[0].contains('s') && scheme.categories[0].len() == "accuracy/additions".len());
    bench.press_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.harness.corpus().corpus.scheme.categories.len(), 13);
    assert_eq!(marked(&bench), "accuracy/addition");
    bench.click("Scheme of errors...");
    for _ in 0..12 {
        bench.click("Remove kind 2");
    }
    bench.click_each(&["Remove kind 1...", "Remove kind 1"]);
    assert!(bench.harness.query_by_label_contains("The list of categories has none").is_some());
    bench.press(Key::Escape);
    assert!(bench.is_gone("Scheme of errors"));
    bench.click_each(&["Scheme of errors...", "Cancel"]);
    assert!(bench.is_gone("Scheme of errors"));
}

#[test]
fn models_run_with_what_is_set_or_with_a_file() {
    let mut bench = Bench::filled();
    bench.click_each(&["Run", "With interventions", "What is set on page Sentence"]);
    assert!(bench.harness.query_by_label_contains("Nothing is set for a model above").is_some());
    bench.click_each(&["Run", "With interventions", "Of a file..."]);
    bench.says("Run with interventions");
}

#[test]
fn one_model_runs_that_is_open_or_not() {
    let mut bench = Bench::filled();
    bench.wires.sent.borrow_mut().clear();
    let sent = |bench: &Bench| {
        let runs = |command: &Command| match command {
            Command::Corpus(CorpusCommand::RunOne(candidate, forces)) => Some((candidate.to_string(), *forces)),
            _ => None,
        };
        bench.wires.sent.borrow().iter().filter_map(runs).collect::<Vec<_>>()
    };
    let folder = bench.harness.app().document.columns[1].system.to_string();
    bench.click_each(&["Run", "Translate with"]);
    bench.says("All models above");
    bench.click_each(&["Translate with RNNsearch", "Run", "Align the references with"]);
    bench.click("Align the references with other-model");
    assert_eq!(sent(&bench), [(folder, false), ("some/other-model".to_owned(), true)]);
    bench.click_each(&["Run", "Translate with", "Another model folder..."]);
    bench.says("Translate the corpus with a model");
}

#[test]
fn errors_are_seen_in_the_texts_and_a_translation_may_have_none() {
    let mut bench = Bench::filled();
    let path = bench.folder.path().join("c.fr");
    std::fs::write(&path, REFERENCE).expect("written");
    bench.send(CorpusCommand::SetRole(Role::Output("Third".to_owned())));
    bench.send(CorpusCommand::Import(path));
    bench.click_each(&["Dismiss", "Sentence 2 The old mill turns in the wind."]);
    bench.says("Errors");
    bench.click("Judge this sentence");
    // What is judged stands in view.
    for label in ["3 stars", "Word 2 of Other: moulin", "No errors in Other"] {
        let rect = bench.harness.get_by_label(label).rect();
        assert!(rect.bottom() < 800.0, "{label} at {rect:?}");
    }
    bench.click_each(&["Word 2 of Other: moulin", "Word 2 of the source: old", "Word 3 of the source: mill"]);
    bench.click_each(&["Error: accuracy/addition", "Mark as minor"]);
    let number = |bench: &Bench, column: &str| {
        let corpus = &bench.harness.corpus().corpus;
        let value =
            interlinear::corpus::query::column::TableColumn::named(column, corpus).expect(column).value(corpus, 1);
        (!value.is_nan()).then_some(value)
    };
    assert!(number(&bench, "errors.1").is_some_and(|errors| errors > 0.0));
    assert_eq!(number(&bench, "errors.2"), None, "nobody judged it");
    let away = "Agreement...";
    bench.harness.get_by_label(away).hover();
    bench.settle();
    bench.says("Le moulin tourne.; marked: \u{201c}moulin\u{201d} minor");
    bench.says("The old mill turns in the wind.; marked: \u{201c}old mill\u{201d} minor");
    let mark = "moulin for \u{201c}old mill\u{201d}: accuracy/addition, minor (Other)";
    let shown =
        "The old mill turns in the wind.; marked: \u{201c}old mill\u{201d} minor; shown: \u{201c}old mill\u{201d}";
    bench.harness.get_by_label(mark).hover();
    bench.settle();
    bench.says(shown);
    bench.harness.get_by_label(away).hover();
    bench.settle();
    assert!(bench.is_gone(shown));
    bench.click(mark);
    bench.harness.get_by_label(away).hover();
    bench.settle();
    bench.says(shown);
    // Where errors are marked there are some; of the other it can be said.
    assert!(bench.harness.get_by_label("No errors in Other").accesskit_node().is_disabled());
    bench.click("No errors in Third");
    bench.says("Third, not rated, no errors");
    assert_eq!(number(&bench, "errors.2"), Some(0.0));
    bench.send(ExploreCommand::SetView(ExploreView::Table));
    bench.says("Errors: 1 mark, none in 1 system");
    bench.says("Le moulin tourne.; marked: \u{201c}moulin\u{201d} minor; shown: \u{201c}moulin\u{201d}");
    bench.press_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(number(&bench, "errors.2"), None);
    bench.says("Errors: 1 mark");
    bench.click_each(&["Judge this sentence", "Take away mark 1"]);
    assert!(bench.is_gone(mark));
}

/// The table stayed where it was scrolled to, so that the first row in view was not the greatest.
#[test]
fn a_table_that_is_sorted_or_filtered_begins_at_its_first_row() {
    let bench = Bench::sized([1000.0, 700.0]);
    let lines: String = (1..=200).map(|n| format!("{}\n", ["word"; 8][..=n % 8].join(" "))).collect();
    let numbered: String = lines.lines().enumerate().map(|(n, line)| format!("{n} {line}\n")).collect();
    for name in ["a.en", "a.fr", "b.fr"] {
        std::fs::write(bench.folder.path().join(name), &numbered).expect("written");
    }
    let mut bench = Bench::filled_of(bench);
    let is_there = |bench: &Bench, n: usize| {
        bench.harness.query_all_by_label_contains(&format!("Sentence {n} {} word", n - 1)).next().is_some()
    };
    let to_the_end = |bench: &mut Bench| {
        let rect = bench.harness.get_by_label("Sentences of the corpus").rect();
        bench.harness.hover_at(rect.center());
        bench.harness.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -9000.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
        for _ in 0..60 {
            bench.harness.step();
        }
        bench.settle();
    };
    assert!(is_there(&bench, 1));
    to_the_end(&mut bench);
    assert!(is_there(&bench, 200) && !is_there(&bench, 1));
    // Sentences 7, 15, 23 have most words.
    bench.send(CorpusCommand::Sort("words".to_owned()));
    assert!(is_there(&bench, 7) && is_there(&bench, 15), "the greatest first");
    to_the_end(&mut bench);
    assert!(!is_there(&bench, 7));
    bench.send(CorpusCommand::SetFilter("words>2".to_owned()));
    assert!(is_there(&bench, 7) && is_there(&bench, 15));
}

#[test]
fn the_column_that_sorts_stays_in_view_beside_a_sentence() {
    let mut bench = Bench::filled_of(Bench::sized([1000.0, 700.0]));
    for column in ["chrf.1", "length.1", "ratio.1", "entropy.1"] {
        bench.send(CorpusCommand::ShowColumn(column.to_owned(), true));
    }
    bench.send(CorpusCommand::Sort("entropy.1".to_owned()));
    bench.click("Sentence 1 The red boat sleeps.");
    let rect =
        |bench: &Bench, label: &str| bench.harness.get_by_role_and_label(egui::accesskit::Role::Button, label).rect();
    // Entropy is the last of the columns, and in view all the same, behind no other.
    let corpus = &bench.harness.corpus().corpus;
    let title =
        |name: &str| interlinear::corpus::query::column::TableColumn::named(name, corpus).expect(name).title(corpus);
    let (head, other) = (&format!("{}, greatest first", title("entropy.1")), &title("ratio.1"));
    let (table, beside) = (rect(&bench, "no.").left(), bench.harness.get_by_label("Sentence 1").rect().left());
    let within = |rect: egui::Rect| rect.left() >= table - 1.0 && rect.right() <= beside;
    assert!(within(rect(&bench, head)), "{:?}", rect(&bench, head));
    assert!(!within(rect(&bench, other)), "{:?}", rect(&bench, other));
    // Scrolled to the right, it and the number stay, and the others go.
    let (number, source) = (rect(&bench, "no."), rect(&bench, "Source"));
    let scroll = |bench: &mut Bench, by: f32| {
        bench.harness.hover_at(number.center() + egui::vec2(120.0, 60.0));
        bench.harness.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(by, 0.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
        for _ in 0..30 {
            bench.harness.step();
        }
    };
    scroll(&mut bench, -150.0);
    assert!(rect(&bench, "Source").left() < source.left() - 50.0, "{source:?}");
    assert!((rect(&bench, "no.").left() - number.left()).abs() < 4.0);
    assert!(within(rect(&bench, head)), "{:?}", rect(&bench, head));
    bench.click(head);
    assert_eq!(bench.harness.corpus().sorting, "entropy.1");
    // A column of texts stays at the other side.
    bench.send(CorpusCommand::Sort("source".to_owned()));
    scroll(&mut bench, -150.0);
    let sorted = rect(&bench, "Source, A to Z");
    assert!(within(sorted) && (sorted.left() - rect(&bench, "no.").right()).abs() < 6.0, "{sorted:?}");
}

/// A note is in the file within a second, while its field has the focus and after the program was killed.
#[test]
fn a_note_is_kept_while_it_is_typed() {
    let mut bench = Bench::filled();
    bench.click_each(&["Sentence 1 The red boat sleeps.", "Judge this sentence"]);
    let note = |bench: &Bench| bench.harness.corpus().judgement().note.clone();
    for (typed, kept) in [("odd", "odd"), (" word", "odd word")] {
        let field = bench.harness.get_by_role_and_label(egui::accesskit::Role::MultilineTextInput, "Note");
        field.focus();
        bench.harness.run();
        bench.harness.get_by_role_and_label(egui::accesskit::Role::MultilineTextInput, "Note").type_text(typed);
        bench.harness.run_steps(4);
        bench.settle();
        assert_eq!(note(&bench), kept);
    }
}

#[test]
fn further_references_stand_below_the_first_and_nothing_is_replaced_unasked() {
    let mut bench = Bench::filled();
    let at = |bench: &Bench, name: &str| bench.folder.path().join(name);
    for (name, role) in [("b.fr", Role::Reference), ("a.fr", Role::Output("Other".to_owned()))] {
        let path = at(&bench, name);
        bench.send(CorpusCommand::SetRole(role));
        bench.send(CorpusCommand::Import(path));
    }
    bench.click("Sentence 1 The red boat sleeps.");
    bench.says("Reference 2");
    let said = |bench: &Bench| {
        let detail = bench.harness.corpus().detail.clone().expect("a sentence");
        detail.outputs[0].as_ref().expect("an output").text.clone()
    };
    let before = said(&bench);
    bench.click("Replace them");
    assert!(bench.is_gone("Replace them"));
    assert_ne!(said(&bench), before, "{before}");
}

/// With three systems and a sentence open, texts had some twelve letters.
#[test]
fn texts_of_the_table_can_be_read_beside_an_open_sentence() {
    let mut bench = Bench::filled_of(Bench::sized([1440.0, 900.0]));
    for name in ["Second", "Third"] {
        bench.send(CorpusCommand::SetRole(Role::Output(name.to_owned())));
        let path = bench.folder.path().join("a.fr");
        bench.send(CorpusCommand::Import(path));
    }
    bench.send(CorpusCommand::Select(Some(0)));
    for head in ["Source", "Reference", "1. Other", "2. Second"] {
        let heads = bench.harness.query_all_by_label(head);
        let widest = heads.map(|node| node.rect().width()).fold(0.0, f32::max);
        assert!(widest >= 190.0, "{head}: {widest}");
    }
}

#[test]
fn the_first_link_by_hand_moves_no_word() {
    let mut bench = Bench::filled();
    let path = bench.folder.path().join("m.jsonl");
    let line = r#"{"source":["Rain",".","</s>"],"hypotheses":[{"tokens":["Pluie",".","</s>"],"text":"Pluie.","log_p":-1.0,"token_log_p":[-1.0,0.0,0.0],"alpha":[[1.0,0.0,0.0],[0.0,1.0,0.0],[0.0,0.0,1.0]]}]}"#;
    std::fs::write(&path, format!("{line}\n")).expect("written");
    let name = "A system whose name is long enough that it takes a line of its own, as with interventions";
    bench.send(CorpusCommand::SetRole(Role::Output(name.to_owned())));
    bench.send(CorpusCommand::Import(path));
    bench.send(CorpusCommand::Select(Some(2)));
    let place = |bench: &Bench| bench.harness.get_by_label_contains("Source word 1: Rain").rect();
    let before = place(&bench);
    assert!(bench.harness.query_by_label_contains("AER 0.").is_none(), "nothing is linked yet");
    for word in ["Source word 1: Rain", "Reference word 1: Pluie"] {
        bench.harness.get_by_label_contains(word).click_accesskit();
        bench.settle();
    }
    assert!(bench.harness.query_by_label_contains("AER 0.").is_some(), "a link and its error are there");
    assert_eq!(place(&bench), before);
}

#[test]
fn a_section_that_was_closed_is_closed_at_the_next_start() {
    let mut bench = Bench::filled();
    bench.send(CorpusCommand::Select(Some(0)));
    bench.click("Links by hand");
    let layout = bench.harness.app().view.layout.clone();
    assert!(layout.closed.contains("corpus_section_links"));
    let mut next = Bench::filled();
    next.send(WindowCommand::SetLayout(Box::new(layout)));
    next.send(CorpusCommand::Select(Some(0)));
    assert!(next.is_gone("From the aligner"));
    next.click("Links by hand");
    next.says("From the aligner");
}
