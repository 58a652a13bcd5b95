//! The page Evaluation by its labels.

use std::path::PathBuf;
use std::sync::Arc;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use interlinear::analysis::aer;
use interlinear::analysis::reading::Reading;
use interlinear::app::command::{TaskCommand, WindowCommand};
use interlinear::app::files::work::FileEvent;
use interlinear::corpus::overview::evaluated::Evaluated;
use interlinear::corpus::overview::gold::{AlignmentErrorRow, Baseline};
use interlinear::evaluation::alignment::Extraction;
use interlinear::figure::mark::Mark;
use interlinear::jobs::corpus::thread::{CorpusRequest, CorpusThread};
use interlinear::jobs::files::follow::FollowEvent;
use interlinear::jobs::queue::{Found, JobProgress, QueueEvent, QueueNews};
use interlinear::pages::command::Command;
use interlinear::pages::evaluation::EVALUATION;
use interlinear::pages::evaluation::FiguresFormat;
use interlinear::pages::evaluation::command::{EvaluationCommand, TestCommand};
use interlinear::session::state::Session;
use interlinear::training::curves::{CurvePoint, Curves};
use interlinear::ui::App;

use crate::{desk, measured};

/// A session on the page with a test set chosen.
pub fn ready() -> Session {
    let mut session = desk::two_models();
    session.apply(WindowCommand::ShowPage(EVALUATION));
    let long = format!("somewhere/{}.en", "a-long-name-of-a-test-set-".repeat(8));
    session.apply(TestCommand::SetSource(Some(PathBuf::from(long))));
    session.apply(TestCommand::AddReference(PathBuf::from("test.fr")));
    session
}

/// As [`ready`], with these results.
pub fn with(results: Evaluated) -> Session {
    let mut session = ready();
    session.apply(EvaluationCommand::Run);
    let number = session.evaluation().task.expect("it runs");
    session.absorb_corpus(QueueEvent { number, kind: QueueNews::Found(Found::Evaluated(results)) });
    session
}

fn shows(harness: &Harness<'_, App>, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

fn part(harness: &mut Harness<'_, App>, name: &str) {
    harness.get_by_role_and_label(Role::Tab, name).click();
    harness.run();
}

#[test]
fn with_nothing_measured_each_part_says_what_to_do() {
    let mut session = desk::two_models();
    session.apply(WindowCommand::ShowPage(EVALUATION));
    let (mut harness, _) = desk::window(session);
    assert!(shows(&harness, "Nothing is measured yet"));
    assert!(shows(&harness, "Choose a file of source sentences"), "why nothing can be measured");
    part(&mut harness, "Training");
    assert!(shows(&harness, "No learning curves yet"));
}

#[test]
fn a_file_that_cannot_be_read_says_so_under_its_name() {
    let mut session = ready();
    session.hear(FileEvent::Faulty { path: "test.fr".into(), message: "test.fr: does not exist".to_owned() });
    session.hear(FileEvent::Faulty { path: "other.fr".into(), message: "other.fr: is not asked for".to_owned() });
    let (harness, _) = desk::window(session);
    assert!(shows(&harness, "test.fr: does not exist") && !shows(&harness, "other.fr: is not asked for"));
}

#[test]
fn a_small_set_can_be_taken_and_is_put_into_a_folder_of_the_user() {
    let mut session = desk::two_models();
    session.apply(WindowCommand::ShowPage(EVALUATION));
    let (mut harness, wires) = desk::window(session);
    harness.get_by_label("Take a small test set").click();
    harness.run();
    let taken = wires.sent.borrow().iter().find_map(|command| match command {
        Command::Evaluation(EvaluationCommand::TakeFirstSet(folder)) => Some(folder.clone()),
        _ => None,
    });
    assert!(taken.expect("it is asked for").ends_with("first-set"));
    let (harness, _) = desk::window(ready());
    assert!(!shows(&harness, "Take a small test set"), "a set is chosen already");
}

#[test]
fn the_best_of_each_column_is_marked() {
    let (harness, _) = desk::window(with(measured::two_models()));
    assert!(shows(&harness, "BLEU") && shows(&harness, "chrF2"));
    let best = harness.query_all_by_label_contains(", the best of these models").count();
    assert!(best >= 4, "one of each column, {best}");
    let below = harness.query_all_by_label_contains("of known words").count();
    assert!(below >= 4, "what each column is of stands below its name");
}

/// -log p of a model that read [UNK] was called better than that of one that read the word.
#[test]
fn what_is_not_of_the_same_words_has_no_best() {
    let mut results = measured::two_models();
    results.models[0].records[1].reference_unk = true;
    results.scores[0].all.scores[0].nll *= 0.5;
    let perplexity = results.scores[0].all.scores[0].perplexity().expect("there are words");
    let (harness, _) = desk::window(with(results));
    assert!(shows(&harness, &format!("{perplexity:.2}")), "it stands there, but not as the best");
    let note = "Sentences whose reference has a word that is read as [UNK]: RNNencdec 1, RNNsearch 0.";
    assert!(harness.query_all_by_label_contains(note).next().is_some());
}

#[test]
fn files_are_asked_for_by_path_and_taken_away() {
    let mut session = desk::two_models();
    session.apply(WindowCommand::ShowPage(EVALUATION));
    let (mut harness, wires) = desk::window(session);
    harness.get_by_label("Source sentences of a test set").click();
    harness.run();
    harness.get_by_label("Path").type_text("sets/a.en");
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(wires.heard(TestCommand::SetSource(Some(PathBuf::from("sets/a.en")))));
    harness.get_by_label("Take a.en away").click();
    harness.run();
    assert!(wires.heard(TestCommand::SetSource(None)));
}

#[test]
fn a_run_shows_how_far_it_is_and_can_be_paused_and_cancelled() {
    let (mut harness, wires) = desk::window(ready());
    harness.get_by_label("Evaluate 2 models").click();
    harness.run();
    assert!(wires.heard(EvaluationCommand::Run));
    let number = harness.state().session().evaluation().task.expect("it runs");
    let progress =
        JobProgress { done: 25, total: 100, what: "Translating with RNNsearch".to_owned(), words_per_second: 812.0 };
    wires.corpus.borrow_mut().push(QueueEvent { number, kind: QueueNews::Progress(progress) });
    harness.run();
    assert!(shows(&harness, "Translating with RNNsearch, 25 %, 812 words/s"));
    harness.get_by_label("Pause").click();
    harness.run();
    assert!(wires.heard(TaskCommand::Pause(number, true)));
    assert!(shows(&harness, "Translating with RNNsearch, 25 %, paused"));
    harness.get_by_label("Go on").click();
    harness.run();
    harness.get_by_label("Cancel").click();
    harness.run();
    assert!(wires.heard(TaskCommand::Cancel(number)));
    assert!(shows(&harness, "Evaluate 2 models"));
}

#[test]
fn a_failed_run_is_a_sentence() {
    let mut session = ready();
    session.apply(EvaluationCommand::Run);
    let number = session.evaluation().task.expect("it runs");
    let message = "test.fr ends after line 3, but test.en goes on; the files must be translations line by line";
    session.absorb_corpus(QueueEvent { number, kind: QueueNews::Failed(message.to_owned()) });
    let (mut harness, wires) = desk::window(session);
    assert!(shows(&harness, message));
    harness.get_by_label("Dismiss").click();
    harness.run();
    assert!(wires.heard(EvaluationCommand::DismissMessage) && !shows(&harness, message));
}

#[test]
fn figures_are_a_table_and_plots_whose_points_can_be_read() {
    let results = measured::two_models();
    let short = results.scores[0].of(1).find(|(length, _)| *length == "1-10").and_then(|(_, scores)| scores.bleu());
    let short = format!("RNNsearch, 1-10, {:.1}", short.expect("there are short sentences"));
    let (mut harness, wires) = desk::window(with(results));
    for label in [
        "RNNsearch",
        "Perplexity",
        "321",
        "BLEU by length of the source, words",
        "RNNsearch, 11-20, 100.0",
        short.as_str(),
        "AER with all source words of at least this alpha",
        "RNNsearch, 0.20, 0.30",
        "greatest alpha",
        "RNNencdec has no alignment",
        "Words are counted from 1.",
    ] {
        assert!(shows(&harness, label), "{label} is missing");
    }
    harness.get_by_label("Without unknown words").click();
    harness.run();
    assert!(shows(&harness, "RNNsearch, 1-10, 100.0"));
    harness.get_by_label("TSV...").click();
    harness.run();
    harness.get_by_label("Path").type_text("out.tsv");
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(wires.heard(EvaluationCommand::Export { format: FiguresFormat::Tsv, path: PathBuf::from("out.tsv") }));
}

#[test]
fn p_stands_corrected_beside_itself_where_several_pairs_are_compared() {
    let labels = |results: Evaluated, label: &str| desk::window(with(results)).0.query_all_by_label(label).count();
    assert_eq!(labels(measured::two_models(), "Holm"), 0, "one pair needs no correction");
    assert_eq!(labels(measured::two_models(), "too few"), 6, "p of four sentences");
    let [good, fair, bad] = ["le chat dort ici", "le chat dort", "un chien"].map(|output| {
        [("the cat sleeps here", "le chat dort ici", output), ("it rains", "il pleut", "il pleut")].repeat(15)
    });
    let three = measured::evaluated(&[("A", &good), ("B", &fair), ("C", &bad)]);
    assert_eq!((labels(three.clone(), "Holm"), labels(three, "TER")), (2, 5));
}

#[test]
fn a_plot_is_saved_as_a_picture() {
    let (mut harness, wires) = desk::window(with(measured::two_models()));
    harness.get_by_label("Save the picture: BLEU by length of the source, words").click();
    harness.run();
    let kept = wires.sent.borrow().iter().find_map(|command| match command {
        Command::Window(WindowCommand::KeepFigure(figure)) => Some(Arc::clone(figure)),
        _ => None,
    });
    let kept = kept.expect("it is kept");
    let says = |wanted: &str| kept.marks.iter().any(|mark| matches!(mark, Mark::Text(text) if text.text == wanted));
    assert!(says("BLEU by length of the source, words") && says("RNNsearch") && says("1-10"));
    harness.get_by_label("Path").type_text("lengths.pdf");
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(wires.heard(WindowCommand::SaveFigure(PathBuf::from("lengths.pdf"))));
}

#[test]
fn the_sentences_are_shown_on_page_corpus() {
    let (mut harness, wires) = desk::window(with(measured::two_models()));
    harness.get_by_label("Sentences").click();
    harness.run();
    assert!(wires.heard(EvaluationCommand::ShowSentences));
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    let mut session = with(measured::two_models());
    session.apply(EvaluationCommand::ShowSentences);
    measured::answer(&mut session, &thread, |page| page.rows.len() == 4);
    let (mut harness, wires) = desk::window(session);
    assert!(shows(&harness, "shoes") && shows(&harness, "4 sentences, 4 systems"));
    harness.get_by_label("Save as...").click();
    harness.run();
    harness.get_by_label("Path").type_text("kept.ilws");
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(wires.heard(CorpusRequest::SaveAs(PathBuf::from("kept.ilws"))));
}

#[test]
fn learning_curves_grow_while_a_training_runs() {
    let mut session = ready();
    let path = PathBuf::from("runs/big/training/log.jsonl");
    session.hear(FileEvent::Logs { path: path.clone(), found: vec![path.clone()] });
    let curves = |points: u64| {
        let nll: Vec<CurvePoint> =
            (1..=points).map(|n| CurvePoint { update: n * 500, value: 4.0 / n as f64 }).collect();
        let update = nll.last().map_or(0, |last| last.update);
        Curves { training_nll: nll.clone(), development_nll: nll, update, seconds: 90.0, ..Curves::default() }
    };
    session.absorb_seen(&FollowEvent { path: path.clone(), curves: Ok(Arc::new(curves(2))) });
    let (mut harness, _) = desk::window(session);
    part(&mut harness, "Training");
    for label in ["big", "big, 500, 4.00", "big, 1000, 2.00", "1000 updates, epoch 0, 2 min; best -log p 2.000 at 1000"]
    {
        assert!(shows(&harness, label), "{label} is missing");
    }
    assert!(!shows(&harness, "BLEU of the development text, against updates"), "it was not measured");
    harness.get_by_label("Close the log of big").click();
    harness.run();
    assert!(shows(&harness, "No learning curves yet"));
}

#[test]
fn one_and_four_models_in_the_smallest_window_and_in_a_large_one() {
    let pairs = &[("the red shoe", "la chaussure rouge", "le soulier")][..];
    for models in [1, 4] {
        for size in [[800.0, 500.0], [1920.0, 1080.0]] {
            let mut results = measured::evaluated(&vec![("RNNsearch", pairs); models]);
            results.left_out = Some("Left out, for they translate the other way".to_owned());
            let (mut harness, _) = desk::window_of(with(results), size);
            for name in ["Training", "Figures"] {
                part(&mut harness, name);
            }
            assert!(shows(&harness, "BLEU by length of the source, words"));
            assert!(shows(&harness, "Left out, for they translate the other way"));
        }
    }
}

#[test]
fn what_is_to_be_done_next_follows_the_files_that_are_chosen() {
    let mut session = ready();
    let (harness, _) = desk::window(ready());
    assert!(shows(&harness, "Ready to measure") && !shows(&harness, "Nothing is measured yet"));
    session.apply(EvaluationCommand::Run);
    let (harness, _) = desk::window(session);
    assert!(shows(&harness, "Measuring"));
}

#[test]
fn tables_that_are_wider_than_the_page_scroll_in_their_card() {
    for size in [[1024.0, 768.0], [1280.0, 800.0], [640.0, 480.0]] {
        let (harness, _) = desk::window_of(with(measured::two_models()), size);
        let note = harness.query_all_by_label_contains("95 % says how large").next().expect("p is explained");
        assert!(note.rect().right() <= size[0], "{size:?}: {}", note.rect());
    }
}

#[test]
fn the_lines_of_the_chart_of_aer_say_what_they_are() {
    let mut both = measured::two_models();
    let counts = aer::AerCounts { found: 100, sure: 100, found_sure: 50, found_possible: 50 };
    let row = AlignmentErrorRow { extraction: None, counts, ..measured::alignments(70).rows.remove(0) };
    let baseline = |name| Baseline { name, rows: vec![row.clone()] };
    both.baselines = vec![baseline("diagonal"), baseline("statistical")];
    let mut rows = measured::alignments(70);
    for row in &mut rows.rows {
        row.extraction = row.extraction.map(|of| Extraction { reading: Reading::Input, ..of });
    }
    if let Some(Ok(of)) = &mut both.models[1].alignment {
        of.rows.extend(rows.rows);
    }
    let (harness, _) = desk::window_of(with(both), [1280.0, 1400.0]);
    for text in ["straight line, 0.500", "statistical aligner, 0.500", "dashed: RNNsearch by the word read"] {
        assert!(harness.query_all_by_label_contains(text).next().is_some(), "{text}");
    }
}

/// A click on the name of a reference, and another file, added that one.
#[test]
fn another_reference_takes_the_place_of_the_one_that_was_clicked() {
    let (mut harness, wires) = desk::window_of(ready(), [1280.0, 900.0]);
    harness.get_by_label("References of a test set, test.fr").click();
    harness.run();
    harness.get_by_label("Path").type_text("other.fr");
    harness.run();
    harness.key_press(egui::Key::Enter);
    harness.run();
    assert!(wires.heard(TestCommand::SetReference(0, PathBuf::from("other.fr"))), "{:?}", wires.sent.borrow());
    let session = harness.state().session();
    assert_eq!(session.evaluation().test.references, [PathBuf::from("other.fr")]);
}
