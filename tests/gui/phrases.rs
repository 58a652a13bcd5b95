//! The page Phrases by its labels, on a table made up here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::WindowCommand;
use interlinear::app::effect::{Effect, FileEvent, QueueCall};
use interlinear::app::page::Dropped;
use interlinear::app::page::SENTENCE;
use interlinear::jobs::queue::phrases::{PhraseOrder as Job, PhraseScores, Scored};
use interlinear::jobs::queue::{Found, JobProgress, QueueEvent, QueueNews, QueueOrder};
use interlinear::pages::phrases::PHRASES;
use interlinear::pages::phrases::command::PhrasesCommand;
use interlinear::pages::phrases::{DrawnPhrases, Pairs, Samples};
use interlinear::session::state::Session;
use interlinear::text::phrases::PhraseTable;
use interlinear::ui::App;

use crate::desk;

const TABLE: &str = "the red shoe ||| le soulier rouge ||| 0.5 0.1 0.25 0.1\n\
the red shoe ||| la chaussure rouge ||| 0.5 0.1 0.5 0.2\n\
the red shoe ||| chaussure ||| 0.1 0.1 0.125 0.2\n\
the hat ||| le chapeau ||| 0.9 0.1 0.75 0.2\n\
old ||| vieux ||| 0.9 0.1 0 0.2\n";

fn pairs() -> Arc<Pairs> {
    let input = Box::new(std::io::Cursor::new(TABLE.as_bytes()));
    let table = PhraseTable::new(Path::new("folder/shoes.txt"), input);
    Arc::new(Pairs::read(table, 1000, &mut |_, _| Ok(())).expect("it is a table"))
}

/// Tells the session what came of its newest order.
fn tell(session: &mut Session, found: Scored) {
    let number = session.phrases().task.expect("an order is under way");
    assert!(session.absorb_corpus(QueueEvent { number, kind: QueueNews::Found(Found::Phrases(found)) }));
}

/// Both models on the page Phrases; nothing is open.
pub fn page() -> Session {
    let mut session = desk::two_models();
    session.apply(WindowCommand::ShowPage(PHRASES));
    session
}

/// The table is read.
fn opened() -> Session {
    let mut session = page();
    session.apply(PhrasesCommand::Open(PathBuf::from("folder/shoes.txt")));
    tell(&mut session, Scored::Read(pairs()));
    session
}

/// The scores of a model for the made-up table, compared with a feature.
fn scores(model: &str, feature: usize) -> Scored {
    let log_p: Arc<[f32]> = [-1.0, -3.0, -0.5, -0.25, -6.0].into();
    let pairs = pairs();
    let table: Vec<f32> = (0..pairs.len()).map(|pair| pairs.feature(pair, feature).expect("it has four")).collect();
    let chart = Arc::new(interlinear::pages::phrases::PhraseChart::new(&table, &log_p));
    Scored::Compared(PhraseScores { model: model.into(), pairs, log_p }, feature, chart)
}

pub fn scored() -> Session {
    let mut session = opened();
    tell(&mut session, scores("RNNencdec", 3));
    session
}

fn has(harness: &Harness<'_, App>, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

#[test]
fn the_empty_page_says_what_to_do_and_takes_a_path() {
    let (mut harness, wires) = desk::window(page());
    assert!(has(&harness, "Phrase tables") && has(&harness, "Browse..."));
    harness.get_by_label("Path").click();
    harness.run();
    harness.get_by_label("Path").type_text("some/table.gz");
    harness.run();
    harness.get_by_label("Open").click();
    harness.run();
    assert!(wires.heard(PhrasesCommand::Open("some/table.gz".into())));
    assert!(has(&harness, "Cancel") && has(&harness, "Pause"), "it is being read");
    let number = harness.state().session().phrases().task.expect("an order");
    let message = "some/table.gz, line 2: has 1 field".to_owned();
    wires.corpus.borrow_mut().push(QueueEvent { number, kind: QueueNews::Failed(message.clone()) });
    harness.run();
    assert!(has(&harness, &message) && has(&harness, "Open table.gz again"));
    let typed = harness.get_by_label("Path").accesskit_node().value();
    assert_eq!(typed.as_deref(), Some("some/table.gz"), "a wrong path can be mended");
    harness.get_by_label("Dismiss").click();
    harness.run();
    assert!(!has(&harness, &message));
}

#[test]
fn a_table_is_scored_with_the_first_model_as_soon_as_it_is_read() {
    let mut session = opened();
    let effects = session.take_effects();
    let asked = effects.iter().any(|effect| {
        let Effect::Lane(QueueCall::Submit(_, QueueOrder::Phrases(Job::Score { model, feature, .. }))) = effect else {
            return false;
        };
        model == Path::new("RNNencdec") && *feature == 3
    });
    assert!(asked, "{effects:?}");
    let (mut harness, wires) = desk::window(session);
    assert!(
        has(&harness, "Source phrase the red shoe") && has(&harness, "Source phrase the hat"),
        "most targets first"
    );
    let number = harness.state().session().phrases().task.expect("an order");
    let progress = JobProgress { done: 2, total: 5, what: "Scoring phrase pairs".to_owned(), words_per_second: 80.0 };
    wires.corpus.borrow_mut().push(QueueEvent { number, kind: QueueNews::Progress(progress) });
    harness.run();
    assert!(has(&harness, "Scoring phrase pairs, 40 %, 80 words/s"));
    harness.get_by_label("Cancel").click();
    harness.run();
    harness.get_by_label("Score with RNNencdec").click();
    harness.run();
    assert!(wires.heard(PhrasesCommand::Score) && harness.state().session().phrases().task.is_some());
}

#[test]
fn both_lists_are_ranked_and_what_one_lacks_is_marked() {
    let (mut harness, wires) = desk::window(scored());
    assert!(has(&harness, "Scatter of 4 phrase pairs, log p of the table and log p of RNNencdec"));
    harness.get_by_label("Source phrase the red shoe").click();
    harness.run();
    for label in [
        "By RNNencdec 1 chaussure -0.50",
        "By RNNencdec 2 le soulier rouge -1.00",
        "By RNNencdec 3 la chaussure rouge -3.00",
        "By the table 1 la chaussure rouge 0.500",
        "By the table 2 le soulier rouge 0.250",
        "the red shoe ||| chaussure table 0.125, log p -0.50",
        "3 targets",
    ] {
        assert!(has(&harness, label), "{label} is missing");
    }
    harness.get_by_label("By the table 1 la chaussure rouge 0.500").click();
    harness.run();
    assert!(wires.heard(PhrasesCommand::Select(Some(1))));
    assert!(has(&harness, "Line of the table") && has(&harness, "0.500, its logarithm -0.693"));
}

#[test]
fn samples_of_a_phrase_are_counted_and_new_ones_marked() {
    let mut session = scored();
    session.apply(PhrasesCommand::TypeSource("the red shoe".to_owned()));
    let (mut harness, wires) = desk::window(session);
    harness.get_by_label("Draw samples").click();
    harness.run();
    assert!(wires.heard(PhrasesCommand::Sample) && has(&harness, "Drawing"));
    let number = harness.state().session().phrases().sampling.expect("an order");
    let drawn = [("le soulier  Rouge", -1.5, 40), ("la botte", -4.0, 10)];
    let drawn = drawn.map(|(text, log_p, count)| DrawnPhrases { text: text.to_owned(), log_p, count });
    let samples = Samples { model: "RNNencdec".into(), source: "the red shoe".into(), seed: 1, drawn: drawn.into() };
    let kind = QueueNews::Found(Found::Phrases(Scored::Sampled(samples)));
    wires.corpus.borrow_mut().push(QueueEvent { number, kind });
    harness.run();
    for label in ["Sample 1 le soulier  Rouge -1.50   40\u{d7}", "Sample 2 la botte -4.00   10\u{d7}, not in the table"]
    {
        assert!(has(&harness, label), "{label} is missing");
    }
    assert!(has(&harness, "Draw others"));
    // They are of this phrase and this model alone.
    harness.state_mut().send(PhrasesCommand::TypeSource("the hat".to_owned()));
    harness.run();
    assert!(
        has(&harness, "Draw samples")
            && harness.state().session().phrases().samples(harness.state().session().app()).is_none()
    );
}

#[test]
fn phrases_are_offered_while_they_are_typed() {
    let mut session = scored();
    let type_in = |session: &mut Session, text: &str| {
        session.apply(PhrasesCommand::TypeSource(text.to_owned()));
        let phrases = &session.phrases();
        let pairs = phrases.pairs.clone().expect("it is open");
        let offered: Vec<String> = phrases.suggested.iter().map(|s| pairs.source_phrase(*s).to_owned()).collect();
        (phrases.source.is_some(), offered)
    };
    assert_eq!(type_in(&mut session, "The"), (false, vec!["the red shoe".to_owned(), "the hat".to_owned()]));
    assert_eq!(type_in(&mut session, "hat"), (false, vec!["the hat".to_owned()]));
    assert!(type_in(&mut session, " the  hat ").0);
    assert_eq!(type_in(&mut session, "gloves"), (false, vec![]));
    let (harness, _) = desk::window(session);
    assert!(has(&harness, "The table has no such source phrase"));
}

#[test]
fn what_is_searched_is_counted_and_another_feature_compared() {
    let (mut harness, wires) = desk::window(scored());
    harness.get_by_label("Search in both sides").click();
    harness.run();
    harness.get_by_label("Search in both sides").type_text("ROUGE");
    harness.run();
    assert_eq!(*harness.state().session().phrases().found, [0, 1]);
    assert!(has(&harness, "2 pairs found"));
    harness.state_mut().send(PhrasesCommand::SetFeature(1));
    harness.run();
    let number = harness.state().session().phrases().task.expect("the scatter is made anew");
    let kind = QueueNews::Found(Found::Phrases(scores("RNNencdec", 1)));
    wires.corpus.borrow_mut().push(QueueEvent { number, kind });
    harness.run();
    assert!(has(&harness, "Scatter of 5 phrase pairs, log p of the table and log p of RNNencdec"));
    // The scores are kept: going back to a model compares, and does not score again.
    harness.state_mut().send(PhrasesCommand::SetModel("RNNsearch".into()));
    harness.state_mut().send(PhrasesCommand::SetModel("RNNencdec".into()));
    harness.run();
    assert!(!harness.state().session().phrases().wants_scores(harness.state().session().app()));
}

#[test]
fn a_file_dropped_on_the_page_is_a_phrase_table() {
    let mut session = page();
    session.hear(FileEvent::Opened { path: "x.txt".into(), what: Dropped::Text, on: PHRASES });
    assert!(session.phrases().task.is_some() && session.app().lists.files.is_empty());
    let mut session = desk::two_models();
    session.hear(FileEvent::Opened { path: "x.gz".into(), what: Dropped::PhraseTable, on: SENTENCE });
    assert!(session.phrases().task.is_some() && session.app().view.page() == PHRASES);
}
