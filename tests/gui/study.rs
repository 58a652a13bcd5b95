//! The study in the window, by labels: minimal pairs of a table on page Corpus, from file to page Sentence; learning
//! curves; documents, from two files to pairs.

use std::{path::PathBuf, sync::Arc};

use egui::accesskit::Role;
use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::analysis::contrast::pairs::{ContrastPair, ContrastTables, ContrastedModel};
use interlinear::analysis::contrast::{depends::LookedAt, minimal::MinimalPair};
use interlinear::app::command::{SourceCommand, TaskCommand, WindowCommand};
use interlinear::jobs::queue::{Found, JobProgress, QueueEvent, QueueNews};
use interlinear::jobs::{files::follow::FollowEvent, queue::contrast::ContrastFound, queue::documents::DocumentsFound};
use interlinear::pages::{command::Command, corpus::CORPUS, corpus::command::ContrastCommand};
use interlinear::training::curves::{CurvePoint, Curves};
use interlinear::{app::files::work::FileEvent, app::page::SENTENCE, evaluation::contrast::ContrastMeasures};
use interlinear::{figure::mark::Mark, import::documents::beads::BeadRow, jobs::corpus::thread::CorpusRequest};
use interlinear::{pages::corpus::documents::DocumentCommand, ui::App};

use crate::{desk, desk::WindowActions as _, workbench::Bench};

#[track_caller]
fn found(measures: ContrastMeasures) -> ContrastFound {
    let pair = |line: usize, good: &str, bad: &str, tag: &str| ContrastPair {
        line,
        source: "the red shoe".to_owned(),
        targets: [good, bad].map(str::to_owned),
        tags: vec![tag.to_owned()],
    };
    let said = |good: f64, bad: f64| {
        let words = ["la", "le"].map(str::to_owned);
        let word_log_p = [good / 2.0, bad / 2.0];
        Some(MinimalPair { log_p: [good, bad], words, word_log_p, ..MinimalPair::default() })
    };
    let model = |name: &str, found: Vec<Option<MinimalPair>>| ContrastedModel { name: name.to_owned(), found };
    let pairs = vec![pair(2, "la chaussure", "le chaussure", "gender"), pair(3, "rouge", "rouges", "number")];
    let mut models = vec![
        model("RNNencdec", vec![said(-1.0, -2.0), said(-3.0, -1.0)]),
        model("RNNsearch", vec![said(-1.5, -4.0), None]),
    ];
    if let (true, Some(pair)) = (measures.left_out, &mut models[1].found[0]) {
        pair.depends.looks_at = Some(LookedAt { word: "shoe".to_owned(), alpha: 0.75, lost: [2.5, 0.5] });
    }
    ContrastFound {
        table: PathBuf::from("pairs.tsv"),
        tables: ContrastTables::new(&pairs, &models),
        pairs: Arc::new(pairs),
        models,
        notes: vec!["pairs.tsv, line 3: has no words".to_owned()],
    }
}

pub fn contrasted() -> (Harness<'static, App>, desk::Wires) {
    let (mut harness, wires) = desk::on_page(CORPUS);
    harness.click_role(Role::Tab, "Minimal pairs");
    harness.send(ContrastCommand::Open(PathBuf::from("pairs.tsv")));
    let number = harness.corpus().tools.contrast.task.expect("it runs");
    let all = found(ContrastMeasures { left_out: true });
    wires.report(&mut harness, number, QueueNews::Found(Found::Contrasted(all)));
    (harness, wires)
}

#[test]
fn minimal_pairs_are_asked_of_all_models() {
    let (mut harness, wires) = desk::on_page(CORPUS);
    harness.click_role(Role::Tab, "Minimal pairs");
    harness.click_on("Open pairs...");
    harness.type_into("Path", "sets/pairs.tsv");
    harness.press(egui::Key::Enter);
    assert!(wires.heard(ContrastCommand::Open(PathBuf::from("sets/pairs.tsv"))));
    let number = harness.corpus().tools.contrast.task.expect("it runs");
    let task = harness.app().tasks.task(number).expect("it is under way");
    assert!(!task.keeps_work, "minimal pairs that were cancelled are not kept");
    let progress =
        JobProgress { done: 1, total: 4, what: "Comparing pairs with RNNencdec".to_owned(), words_per_second: 0.0 };
    wires.report(&mut harness, number, QueueNews::Progress(progress));
    harness.assert_has("Comparing pairs with RNNencdec, 25 %");
    harness.click_on("Cancel");
    assert!(wires.heard(TaskCommand::Cancel(number)));
    harness.click_on("Ask again");
    let number = harness.corpus().tools.contrast.task.expect("it runs again");
    wires.report(&mut harness, number, QueueNews::Found(Found::Contrasted(found(ContrastMeasures::default()))));

    harness.assert_has("pairs.tsv, line 3: has no words");
    // model, tag, pairs, accuracy with its interval, at the word, differences, equal, unknown, p
    harness.assert_has("RNNencdec, all, 2, 0.5000, 0.0945, 0.9055, 0.5000, -0.5000, -0.2500, 0, 0, -");
    harness.assert_has("RNNsearch, gender, 1, 1.0000, 0.2065, 1.0000, 1.0000, 2.5000, 1.2500, 0, 0, too few");
    harness.send(ContrastCommand::Save(PathBuf::from("contrast.tsv")));
    let (_, text) = wires.written.borrow().last().cloned().expect("written");
    assert!(text.starts_with("model\ttag\tpairs\taccuracy\tlow\thigh\tword_accuracy\t"), "{text}");

    // the questions beside
    harness.click_on_each(&["Also ask", "What is left out"]);
    let measures = ContrastMeasures { left_out: true };
    assert!(wires.heard(ContrastCommand::SetMeasures(measures)));
    harness.click_on_each(&["Also ask", "With interventions of a file..."]);
    harness.type_into("Path", "sets/mask.json");
    harness.press(egui::Key::Enter);
    assert!(wires.heard(ContrastCommand::SetInterventions(Some(PathBuf::from("sets/mask.json")))));
    harness.click_on_each(&["Also ask", "Without mask.json"]);
    assert!(wires.heard(ContrastCommand::SetInterventions(None)));
    harness.click_on("Ask again");
    let contrast = &harness.corpus().tools.contrast;
    let (number, asked) = (contrast.task.expect("it runs once more"), contrast.measures);
    assert_eq!(asked, measures);
    wires.report(&mut harness, number, QueueNews::Found(Found::Contrasted(found(measures))));
    // alpha, what is lost of the good word and of the difference, each with its interval and its number of pairs
    harness.assert_has(
        "RNNsearch, gender, 1, 1.0000, 0.2065, 1.0000, 1.0000, 2.5000, 1.2500, 0, 0, too few, 0.7500, 0.7500, 0.7500, 1, \
         2.5000, 2.5000, 2.5000, 1, 2.0000, 2.0000, 2.0000, 1",
    );
}

#[test]
fn minimal_pairs_are_sorted_and_shown_on_page_sentence() {
    let (mut harness, _) = contrasted();
    harness.click_on("Every pair");
    let rows = |harness: &Harness<'_, App>| -> Vec<f32> {
        let place = |label: &str| harness.get_by_label_contains(label).rect().top();
        ["2, gender, RNNencdec", "2, gender, RNNsearch", "3, number, RNNencdec"].map(place).to_vec()
    };
    let tops = rows(&harness);
    assert!(tops.is_sorted());
    harness.click_on("Difference");
    harness.assert_has("Difference, greatest first");
    let tops = rows(&harness);
    assert!(tops[1] < tops[0] && tops[0] < tops[2], "{tops:?}");

    let before = harness.app().document.state.clone();
    harness.click_containing("2, gender, RNNsearch");
    harness.state_mut().send(SourceCommand::Undo);
    assert_eq!(harness.app().document.state, before, "one step");
    harness.send(SourceCommand::Redo);
    let state = |harness: &Harness<'_, App>| {
        let app = harness.app();
        (app.view.page, app.document.state.source.clone(), app.document.state.given.clone())
    };
    let given = |text: &str| (SENTENCE, "the red shoe".to_owned(), Some(text.to_owned()));
    assert_eq!(state(&harness), given("la chaussure"));
    harness.click_on("bad");
    assert_eq!(state(&harness), given("le chaussure"));
    harness.click_on("good");
    assert_eq!(state(&harness), given("la chaussure"));
}

#[test]
fn learning_curves_grow_while_a_training_runs_and_are_saved_as_pictures() {
    let (mut harness, _) = desk::on_page(CORPUS);
    harness.click_on("Training");
    harness.assert_has("No learning curves yet");
    let mut session = desk::two_models();
    session.apply(WindowCommand::ShowPage(CORPUS));
    let path = PathBuf::from("runs/big/training/log.jsonl");
    session.absorb_file(FileEvent::Logs { path: path.clone(), found: vec![path.clone()] });
    let nll: Vec<CurvePoint> = (1..=2).map(|n| CurvePoint { update: n * 500, value: 4.0 / n as f64 }).collect();
    let curves =
        Curves { training_nll: nll.clone(), development_nll: nll, update: 1000, seconds: 90.0, ..Curves::default() };
    session.absorb_seen(&FollowEvent { path: path.clone(), curves: Ok(Arc::new(curves)) });
    let (mut harness, wires) = desk::window(session);
    for label in ["big", "big, 500, 4.00", "big, 1000, 2.00", "1000 updates, epoch 0, 2 min; best -log p 2.000 at 1000"]
    {
        harness.assert_has(label);
    }
    let bleu = "BLEU of the development text, against updates";
    assert!(!harness.has_any(bleu), "it was not measured");
    harness.click_on("Save the picture: -log p a token in nats, against updates");
    let kept = wires.sent.borrow().iter().find_map(|command| match command {
        Command::Window(WindowCommand::KeepFigure(figure)) => Some(Arc::clone(figure)),
        _ => None,
    });
    let kept = kept.expect("it is kept");
    let has = |wanted: &str| kept.marks.iter().any(|mark| matches!(mark, Mark::Text(text) if text.text == wanted));
    assert!(has("-log p a token in nats, against updates") && has("big"));
    harness.type_into("Path", "curves.pdf");
    harness.press(egui::Key::Enter);
    assert!(wires.heard(WindowCommand::SaveFigure(PathBuf::from("curves.pdf"))));
    harness.click_on("Close the log of big");
    harness.assert_has("No learning curves yet");
}

#[test]
fn two_documents_become_beads_that_are_edited_and_a_corpus() {
    let mut bench = Bench::new();
    bench.settle();
    bench.click("From two documents...");
    bench.send(DocumentCommand::Choose(0, PathBuf::from("tale.docx")));
    let sheet = |bench: &Bench| bench.harness.corpus().tools.documents.clone();
    assert!(sheet(&bench).task.is_none(), "one is not enough");
    bench.click("Its translation...");
    bench.harness.type_into("Path", "conte.html");
    bench.press(egui::Key::Enter);
    let number = sheet(&bench).task.expect("both are aligned");
    assert_eq!(sheet(&bench).files[1], Some(PathBuf::from("conte.html")));
    let bead = |source: &[&str], target: &[&str], score: Option<f32>| {
        BeadRow::new([source, target].map(|side| side.iter().map(|text| (*text).to_owned()).collect()), score)
    };
    let beads = vec![
        bead(&["The boat left.", "It rained."], &["Le bateau partit."], Some(0.25)),
        bead(&["Nobody came."], &["Il pleuvait.", "Personne ne vint."], Some(-0.5)),
        bead(&["The end."], &[], None),
    ];
    let found = DocumentsFound { beads, note: Some("too few".to_owned()) };
    bench.absorb(QueueEvent { number, kind: QueueNews::Found(Found::Documents(found)) });
    bench.says_all(&["too few", "3 beads"]);
    bench.says("1, 2-1, 0.2500, The boat left. It rained., Le bateau partit.");
    // The first sentence of the second bead is the last of the first one's translation.
    bench.click("2, 1-2, -0.5000, Nobody came., Il pleuvait. Personne ne vint.");
    bench.says("Il pleuvait.");
    bench.click("First target sentence up");
    bench.says("1, 2-2, -, The boat left. It rained., Le bateau partit. Il pleuvait.");
    bench.click_each(&["1, 2-2, -, The boat left. It rained., Le bateau partit. Il pleuvait.", "Split"]);
    bench.says("2, 1-1, -, It rained., Il pleuvait.");
    bench.click("Join with the next");
    bench.says("1, 2-2, -, The boat left. It rained., Le bateau partit. Il pleuvait.");
    bench.click("Undo");
    bench.says("4 beads");
    // the keys are those of the beads, and not of the corpus behind
    bench.press_with(egui::Modifiers::COMMAND, egui::Key::Y);
    bench.says("3 beads");
    bench.press_with(egui::Modifiers::COMMAND, egui::Key::Z);
    bench.says("4 beads");
    bench.click_each(&["4, 1-0, -, The end.", "Remove"]);
    bench.says("3 beads");
    bench.send(DocumentCommand::Save(PathBuf::from("pairs.tsv")));
    let table = "bead\tscore\tsource\ttarget\n1-1\t\tThe boat left.\tLe bateau partit.\n1-1\t\tIt rained.\tIl pleuvait.\n\
        1-1\t\tNobody came.\tPersonne ne vint.\n";
    assert_eq!(bench.written(), (PathBuf::from("pairs.tsv"), table.to_owned()));

    let path = bench.folder.path().join("pairs.ilws");
    bench.send(DocumentCommand::Put(Some(path)));
    bench.says_all(&["3 sentences, 0 systems", "Sentence 2 It rained."]);
    bench.click_each(&["Import...", "From two documents..."]);
    bench.says("3 beads");
    bench.click("Put into the corpus");
    bench.says("6 sentences, 0 systems");
    // A table that was saved is read again; work under way is given up for it.
    bench.send(DocumentCommand::Show(true));
    bench.send(DocumentCommand::Open(PathBuf::from("pairs.tsv")));
    let number = sheet(&bench).task.expect("it is read");
    bench.absorb(QueueEvent { number, kind: QueueNews::Failed("pairs.tsv: does not exist".to_owned()) });
    bench.says("pairs.tsv: does not exist");
    bench.click("Dismiss");
    bench.send(CorpusRequest::Close);
    bench.click("Back to the corpus");
    bench.says("Corpora");
}
