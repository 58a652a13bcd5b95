//! Questions about a column in the background: what is answered against slow direct computations with the readable
//! models, what the session makes of the answers, and files that hold a sentence with what is set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlinear::analysis::measures::{MEASURES, MeasuredWords, Tested};
use interlinear::analysis::{ablation, ablation::AblationMeans};
use interlinear::app::command::{SettingsCommand, SourceCommand};
use interlinear::app::files::{drawing::Drawing, export, export::AlignmentFormat, gold::Gold, picture::FigureRequest};
use interlinear::app::{document::column::Column, document::hand::TakenAway, tasks::QueueCall};
use interlinear::app::{files::work::FileJob, page::Dropped, page::SENTENCE, settings::Shown};
use interlinear::interventions::{Force, InterventionFile, Interventions, Pin, Place, SetAlpha, Word};
use interlinear::jobs::live::protocol::{ColumnId, Event, Request};
use interlinear::jobs::queue::probe::{Opened, Persuasion, Probe, ProbeQuestion, Probed};
use interlinear::jobs::queue::{Found, JobQueue, QueueEvent, QueueNews, QueueOrder};
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::pages::sentence::command::{InterveneCommand, ProbeCommand, RowEdit};
use interlinear::text::links::{Link, Links};
use interlinear::{jobs::Library, jobs::gate::ForegroundGate, models::gradient::PersuadedRow, pages::map::MAP};
use interlinear::{session::driver::OpenWith, session::state::Session, text::cut::WordRule};

use crate::acting::{acted_on, answer, asked};
use crate::cli::{feed, json_of, reference};
use crate::effects::{Shows as _, act, chores, lane_calls, opened, with_model};
use crate::folder::{Files as _, Folder};
use crate::importance::{SOURCE, TARGET, best, said};
use crate::worker::{PATIENCE, serve_all, store};
use crate::{forever, measured, models::FOLDERS, tiny::TINY};

pub fn lane_answers(model: &Path, question: ProbeQuestion) -> Result<Probed, String> {
    let lane = JobQueue::<QueueOrder>::spawn(Library::new(1), ForegroundGate::new(), Arc::new(|| {}));
    lane.submit(1, QueueOrder::Probe(Probe { model: model.into(), device: DeviceChoice::Cpu, question }));
    loop {
        match lane.news.next_within(PATIENCE).expect("every order ends").kind {
            QueueNews::Progress(_) => {}
            QueueNews::Found(Found::Probed(found)) => return Ok(found),
            QueueNews::Failed(message) => return Err(message),
            other => panic!("{other:?}"),
        }
    }
}

fn measured_by_lane(folder: &str, measure: usize) -> Result<Arc<Tested>, String> {
    let question =
        ProbeQuestion::Measure { measure, source: SOURCE.to_vec(), target: TARGET.to_vec(), left_out: Vec::new() };
    match lane_answers(&reference(folder), question)? {
        Probed::Measured(tested) => Ok(tested),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_standard_tests_are_those_of_the_command_line() {
    for folder in FOLDERS {
        let model = Model::load(reference(folder), &Device::cpu()).expect("the fixture loads");
        if !model.config.aligns() {
            let error = measured_by_lane(folder, 0).expect_err("no alignment");
            assert!(error.contains("no alignment"), "{error}");
            continue;
        }
        let tested = measured_by_lane(folder, 0).expect("it is measured");
        assert_eq!((tested.source.as_slice(), tested.target.as_slice()), (SOURCE, TARGET));
        let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
        let (seeds, ticket) = ((1..=10).collect::<Vec<u64>>(), forever());
        let words = ablation::words(stepper.as_mut(), (SOURCE, TARGET), &seeds, &ticket).expect("it is tested");
        let mut taus = Vec::new();
        for (i, word) in words.iter().enumerate() {
            for (j, without) in word.without.iter().enumerate() {
                let found = [0, 1].map(|measure| tested.measured[measure].rows[i][j]);
                let near =
                    (found[0] - without.js).abs() < 1e-4 && (found[1] - (word.log_p - without.log_p)).abs() < 1e-4;
                assert!(near, "{folder}, word {i} without {j}: {found:?}");
            }
            taus.extend(word.kendall());
        }
        let (found, mut expected) = (tested.means.clone().expect("figures"), AblationMeans::default());
        expected.add(&words);
        for name in ["js_uniform", "js_permuted"] {
            let [found, expected] = [&found, &expected].map(|means| means.named(name).expect("a mean"));
            assert!((found - expected).abs() < 1e-4, "{folder}, {name}: {found} is not {expected}");
        }
        let tau = taus.iter().sum::<f64>() / taus.len() as f64;
        assert!((tested.measured[0].kendall.expect("a tau") - tau).abs() < 1e-6, "{folder}");
    }
}

#[test]
fn every_measure_is_made_for_every_model_that_has_what_it_needs() {
    for folder in ["rnnsearch", "rnnencdec"] {
        for (place, measure) in MEASURES.iter().enumerate().skip(2).filter(|(_, measure)| !measure.is_of_heads()) {
            let found = measured_by_lane(folder, place);
            if measure.aligns && folder == "rnnencdec" {
                assert!(found.expect_err("no alignment").contains("no alignment"));
                continue;
            }
            let tested = found.expect("it is measured");
            let [MeasuredWords { measure: of, rows, kendall, .. }] = &tested.measured[..] else {
                panic!("one measure")
            };
            assert_eq!((*of, rows.len(), kendall.is_some()), (place, TARGET.len(), folder == "rnnsearch"));
            assert!(rows.iter().all(|row| row.len() == SOURCE.len()) && tested.means.is_none());
        }
    }
}

#[test]
fn a_row_that_is_found_says_the_word_behind_rows_that_are_set() {
    let mut found_some = 0;
    for folder in FOLDERS {
        let model = Model::load(reference(folder), &Device::cpu()).expect("the fixture loads");
        let ask = |rows: Vec<Vec<f32>>, word: usize| {
            let entry = model.target.token(word as u32).expect("a word").to_owned();
            let (source, before) = (SOURCE.to_vec(), TARGET[..2].to_vec());
            lane_answers(&reference(folder), ProbeQuestion::Persuade { source, before, rows, word: Word::Entry(entry) })
        };
        if !model.config.aligns() {
            assert!(ask(Vec::new(), 3).expect_err("no alignment").contains("no alignment"));
            continue;
        }
        // the rows before are other than the model's own
        let rows: Vec<Vec<f32>> = vec![vec![0.0, 0.0, 0.0, 1.0, 0.0], vec![0.2; 5]];
        let pins: Vec<(usize, Vec<f32>)> = rows.iter().cloned().enumerate().collect();
        let (own, log_p) = said(&model, 2, &pins);
        let mut order: Vec<usize> = (2..log_p.len()).collect();
        order.sort_by(|a, b| log_p[*b].total_cmp(&log_p[*a]));
        for &word in order.iter().filter(|word| **word != best(&log_p)).take(3) {
            let Ok(Probed::Persuaded(Persuasion { row, piece_of: None, .. })) = ask(rows.clone(), word) else {
                panic!("{folder}: no answer")
            };
            let Some(row) = row else { continue };
            found_some += 1;
            let changed: Vec<_> = pins.iter().cloned().chain([(2, row.alpha.clone())]).collect();
            let now = said(&model, 2, &changed).1;
            let place = format!("{folder}, word {word}: {row:?}");
            assert!(now[best(&now)] - now[word] < 1e-4, "{place}");
            assert!((now[word] - row.log_p).abs() < 1e-4 && (log_p[word] - row.own_log_p).abs() < 1e-4, "{place}");
            let moved: f32 = row.alpha.iter().zip(&own).map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0;
            let terms = row.alpha.iter().zip(&own).filter(|(a, _)| **a > 0.0);
            let divergence: f32 = terms.map(|(a, b)| a * (a / b).ln()).sum();
            assert!((moved - row.moved).abs() < 1e-5 && (divergence - row.divergence).abs() < 1e-4, "{place}");
        }
    }
    assert!(found_some >= 3, "only {found_some} rows were found");
    let unheard = ProbeQuestion::Persuade {
        source: SOURCE.to_vec(),
        before: Vec::new(),
        rows: Vec::new(),
        word: Word::Typed("unheard".to_owned()),
    };
    let error = lane_answers(&reference("rnnsearch"), unheard).expect_err("no such word");
    assert!(error.contains("does not know the word \"unheard\""), "{error}");
}

// The session.

fn persuade(column: ColumnId, i: usize) -> ProbeCommand {
    ProbeCommand::Persuade { column, i, word: Word::Entry("botte".to_owned()) }
}

fn ordered(session: &mut Session) -> Option<(u64, ProbeQuestion)> {
    lane_calls(session).into_iter().find_map(|call| match call {
        QueueCall::Submit(number, QueueOrder::Probe(probe)) => Some((number, probe.question)),
        _ => None,
    })
}

fn found(session: &mut Session, number: u64, found: Probed) -> bool {
    session.absorb_job(QueueEvent { number, kind: QueueNews::Found(Found::Probed(found)) })
}

fn persuaded(moved: f32) -> Probed {
    let alpha = vec![0.1, 0.2, 0.3, 0.4];
    let row = PersuadedRow { alpha, moved, divergence: 0.25, log_p: -0.5, own_log_p: -2.0 };
    Probed::Persuaded(Persuasion { word: "botte".to_owned(), piece_of: None, row: Some(row) })
}

fn column(session: &Session, id: ColumnId) -> &Column {
    session.app().document.column(id).expect("the column")
}

fn last_notice(session: &Session) -> String {
    session.app().view.notices.last().map(|notice| notice.text.clone()).unwrap_or_default()
}

#[test]
fn a_row_that_is_found_is_set_said_and_undone() {
    let (mut session, ids) = acted_on(1);
    let id = ids[0];
    session.take_effects();
    session.apply(persuade(id, 1));
    let (number, question) = ordered(&mut session).expect("an order");
    assert!(matches!(question, ProbeQuestion::Persuade { before, rows, .. } if before == [5] && rows.is_empty()));
    assert!(found(&mut session, number, persuaded(0.125)));
    let pin = Pin { i: 1, alpha: SetAlpha::Weights(vec![0.1, 0.2, 0.3, 0.4]) };
    let set = session.app().document.interventions(column(&session, id));
    assert_eq!((set.pin.clone(), set.force.len()), (vec![pin.clone()], 1));
    let note = last_notice(&session);
    for part in ["\"botte\"", "total variation 0.125", "KL 0.250 nats", "-2.00 before and -0.50 now"] {
        assert!(note.contains(part), "{note}");
    }
    let text = |session: &Session| session.sentence().persuaded_text(column(session, id), &pin).expect("it is known");
    assert!(!text(&session).contains("the translation says"), "the words are still being chosen");
    let request = session.take_effects().into_iter().find_map(|effect| match effect {
        interlinear::app::tasks::Effect::Decode(request) => Some(request),
        _ => None,
    });
    let request = request.expect("a request");
    answer(&mut session, &request, "la botte rouge </s>");
    assert!(text(&session).ends_with("; the translation says it"));
    assert!(column(&session, id).table.as_deref().expect("a table").target[1].is_pinned);

    // undo takes it back, and with it what is said of it; redo brings both
    let request = act(&mut session, SourceCommand::Undo).expect("a request");
    assert!(asked(&request, id).is_empty());
    let request = act(&mut session, SourceCommand::Redo).expect("a request");
    assert_eq!(asked(&request, id).pin, std::slice::from_ref(&pin));
    answer(&mut session, &request, "la chaussure rouge </s>");
    assert!(text(&session).contains("the translation says \"chaussure\" all the same"));
    act(&mut session, InterveneCommand::Take { column: id, what: TakenAway::Pin(1) });
    assert!(session.app().document.interventions(column(&session, id)).is_empty());
}

#[test]
fn what_is_asked_of_a_column_ends_when_it_is_about_something_else() {
    let edit = |session: &mut Session| session.apply(SourceCommand::Edit("the red shoes".to_owned()));
    let force = |session: &mut Session| {
        let column = session.nth(0).id;
        session.apply(InterveneCommand::Force { column, i: 0, word: Word::Entry("une".to_owned()) });
    };
    let changes: [&dyn Fn(&mut Session); 2] = [&edit, &force];
    for change in changes {
        for command in [persuade(0, 1), ProbeCommand::Measure { column: 0, measure: 0 }] {
            let (mut session, ids) = acted_on(1);
            session.take_effects();
            session.apply(match command {
                ProbeCommand::Persuade { i, word, .. } => ProbeCommand::Persuade { column: ids[0], i, word },
                ProbeCommand::Measure { measure, .. } => ProbeCommand::Measure { column: ids[0], measure },
                ProbeCommand::Save { .. } => panic!("not asked"),
            });
            let (number, _) = ordered(&mut session).expect("an order");
            change(&mut session);
            assert!(lane_calls(&mut session).contains(&QueueCall::Cancel(number)), "stale work stops");
            let before = session.saved();
            assert!(!found(&mut session, number, persuaded(0.5)), "and an answer all the same changes nothing");
            assert_eq!(session.saved(), before);
            assert!(session.sentence().probes.is_empty());
        }
    }
}

#[test]
fn what_cannot_be_asked_and_what_was_not_found_is_a_sentence() {
    let (mut session, ids) = acted_on(1);
    let id = ids[0];
    let mut ask = |command: ProbeCommand, found_one: Option<Probed>| {
        session.take_effects();
        session.apply(command);
        if let Some(answer) = found_one {
            let (number, _) = ordered(&mut session).expect("an order");
            found(&mut session, number, answer);
        } else {
            assert_eq!(ordered(&mut session), None);
        }
        last_notice(&session)
    };
    let none = Probed::Persuaded(Persuasion { word: "bo".to_owned(), piece_of: Some("botte".to_owned()), row: None });
    let note = ask(persuade(id, 1), Some(none));
    assert!(note.contains("No change of this row") && note.contains("\"bo\", the first piece of \"botte\","), "{note}");
    let note = ask(persuade(id, 1), Some(persuaded(0.0)));
    assert!(note.contains("already"), "{note}");
    let note = ask(ProbeCommand::Persuade { column: id, i: 1, word: Word::Typed(" ".to_owned()) }, None);
    assert!(note.contains("no word"), "{note}");
    session.apply(InterveneCommand::Row { column: id, i: 1, edit: RowEdit::Uniform });
    session.take_effects();
    session.apply(ProbeCommand::Measure { column: id, measure: 0 });
    assert!(last_notice(&session).contains("still being chosen"), "{}", last_notice(&session));
    session.apply(SourceCommand::Undo);
    session.apply(persuade(id, 2));
    let (number, _) = ordered(&mut session).expect("an order");
    session.absorb_job(QueueEvent { number, kind: QueueNews::Failed("It broke.".to_owned()) });
    assert_eq!(last_notice(&session), "It broke.");
}

fn tested() -> Arc<Tested> {
    let row = |i: usize| (0..4).map(|j| if j == i { 0.5 } else { -0.25 }).collect();
    let rows: Vec<Vec<f32>> = (0..4).map(row).collect();
    let measured = (0..2)
        .map(|measure| MeasuredWords { measure, rows: rows.clone(), kendall: Some(0.25), heads: Vec::new() })
        .collect();
    let mut means = AblationMeans::default();
    means.add(&[]);
    let (source, target) = (vec![5, 5, 5, 0], vec![5; 4]);
    Arc::new(Tested { source, target, left_out: Vec::new(), measured, means: Some(means) })
}

#[test]
fn what_was_measured_is_a_picture_of_its_own_in_every_file() {
    let (mut session, ids) = acted_on(1);
    let id = ids[0];
    session.take_effects();
    session.apply(ProbeCommand::Measure { column: id, measure: 1 });
    let (number, question) = ordered(&mut session).expect("an order");
    let (source, target, left_out) = (vec![5, 5, 5, 0], vec![5; 4], Vec::new());
    assert_eq!(question, ProbeQuestion::Measure { measure: 1, source, target, left_out });
    session.apply(ProbeCommand::Measure { column: id, measure: 1 });
    assert_eq!(ordered(&mut session), None, "it is asked already");
    assert_eq!(session.app().view.settings.shown, Shown::Measure(1));
    let drawn = |session: &Session| {
        let picture = export::picture(
            column(session, id),
            &session.app().document.state.search,
            &session.app().view.settings,
            &Drawing::default(),
            None,
        );
        let bytes = FigureRequest::from(picture.expect("a picture")).bytes(Path::new("a.svg")).expect("drawn");
        String::from_utf8(bytes).expect("SVG is text")
    };
    assert!(!drawn(&session).contains("Not alpha"), "before it is measured the picture is of alpha and says so");
    found(&mut session, number, Probed::Measured(tested()));
    let table = column(&session, id).table.clone().expect("a table");
    let matrix = table.numbers(Shown::Measure(1)).expect("measured");
    assert_eq!((matrix.get(2, 2), matrix.get(2, 1)), (Some(0.5), Some(-0.25)));
    assert_eq!(table.numbers(Shown::Alpha).and_then(|alpha| alpha.get(2, 1)), Some(0.5 / 3.0), "alpha is as it was");
    let svg = drawn(&session);
    for part in ["left out: log p lost", "Not alpha but", "Kendall", "tau with alpha 0.25", "leave-one-out"] {
        assert!(svg.contains(part), "{part} is missing in {svg}");
    }
    let settings = session.app().view.settings.clone();
    let text = |format| export::text(column(&session, id), &settings, format).expect("something");
    let tsv = text(AlignmentFormat::Tsv);
    assert!(tsv.starts_with("target (leave-one-out, nats)\tlog_p\tthe\tred\tshoe\t"), "{tsv}");
    assert!(tsv.lines().nth(1).expect("a row").starts_with("la\t-0.5\t0.5\t-0.25"), "{tsv}");
    let table = column(&session, id).table.clone().expect("a table");
    let shown = session.app().view.settings.shown;
    let (row, word) = (export::shown_tsv(&table, shown, 0..1), export::source_tsv(&table, shown, 1));
    assert_eq!(row.lines().collect::<Vec<_>>(), tsv.lines().take(2).collect::<Vec<_>>());
    assert!(word.starts_with("target (leave-one-out, nats)\tred\nla\t-0.25"), "{word}");
    let json = json_of(&text(AlignmentFormat::Json));
    assert_eq!(json["measured"][1]["measure"], "leave-one-out");
    assert_eq!(json["measured"][1]["rows"][0][0], 0.5);

    // what is set by hand is not what was measured
    let request = act(&mut session, InterveneCommand::Row { column: id, i: 3, edit: RowEdit::Uniform });
    answer(&mut session, &request.expect("a request"), "la chaussure rouge </s>");
    assert!(column(&session, id).table.as_deref().expect("a table").measured.is_empty());
    session.apply(ProbeCommand::Measure { column: id, measure: 0 });
    assert!(last_notice(&session).contains("set by hand"), "{}", last_notice(&session));
    let request = act(&mut session, SourceCommand::Undo);
    answer(&mut session, &request.expect("a request"), "la chaussure rouge </s>");
    assert_eq!(column(&session, id).table.as_deref().expect("a table").measured.len(), 2, "it is there again");
    session.apply(SettingsCommand::SetShown(Shown::Alpha));
    assert!(!drawn(&session).contains("Not alpha"));
}

fn gold(links: &[(usize, usize)], possible: &[(usize, usize)]) -> Gold {
    let of = |links: &[(usize, usize)]| links.iter().map(|&(source, target)| Link { source, target }).collect();
    let (source, reference) = ("the red shoe".to_owned(), "La chaussure rouge".to_owned());
    Gold { source, reference, links: Links::new(of(links), of(possible)), rules: [WordRule::Spaces; 2] }
}

#[test]
fn rows_are_made_of_links_by_hand_where_the_reference_is_said() {
    let (session, ids) = acted_on(1);
    let here = column(&session, ids[0]);
    let gold = gold(&[(0, 0), (2, 1), (1, 1)], &[(1, 2), (2, 1)]);
    assert!(gold.fits(here), "letters count, not their case");
    for (i, row) in [(0, [1.0, 0.0, 0.0, 0.0]), (1, [0.0, 0.5, 0.5, 0.0]), (2, [0.0, 1.0, 0.0, 0.0])] {
        assert_eq!(gold.row(here, i).expect("a row"), row, "word {i}");
    }
    assert!(gold.row(here, 3).expect_err("`</s>`").contains("links this word with none"));
    let other = Gold { reference: "le soulier rouge".to_owned(), ..gold };
    let elsewhere = Gold { source: "the blue shoe".to_owned(), ..other.clone() };
    assert!(!elsewhere.fits(here));
    assert!(!other.fits(here) && other.row(here, 0).expect_err("other words").contains("the reference"));
}

#[test]
fn links_by_hand_go_by_letters() {
    let (mut session, ids) = acted_on(1);
    let request = act(&mut session, SourceCommand::Replace("the red shoe".to_owned()));
    assert!(request.is_none());
    let mut here = column(&session, ids[0]).clone();
    here.hypotheses[0].tokens = ["l'", "eau", "rouge", "</s>"].map(str::to_owned).to_vec();
    here.hypotheses[0].rules = [WordRule::Tokens, WordRule::Eliding];
    let gold = Gold {
        source: "the redshoe".to_owned(),
        reference: "l\u{2019}eau rouge".to_owned(),
        links: Links::new(vec![Link { source: 1, target: 0 }, Link { source: 0, target: 1 }], Vec::new()),
        rules: [WordRule::Spaces; 2],
    };
    assert_eq!(gold.row(&here, 0).expect("a row"), [0.0, 0.5, 0.5, 0.0]);
    assert_eq!(gold.row(&here, 1).expect("a row"), [0.0, 0.5, 0.5, 0.0]);
    assert_eq!(gold.row(&here, 2).expect("a row"), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_sentence_of_a_corpus_brings_its_links_by_hand() {
    let (mut session, ids) = acted_on(1);
    let id = ids[0];
    session.apply(InterveneCommand::Row { column: id, i: 2, edit: RowEdit::Gold });
    assert!(last_notice(&session).contains("No alignment by hand"), "{}", last_notice(&session));
    let links = Links::new(vec![Link { source: 0, target: 2 }], Vec::new());
    measured::open_first(&mut session, ("the red shoe", "la chaussure rouge"), links);
    assert_eq!(session.app().gold().expect("gold").reference, "la chaussure rouge");
    let request = act(&mut session, InterveneCommand::Rows { column: id, edit: RowEdit::Gold }).expect("a request");
    let set = asked(&request, id);
    assert_eq!(set.pin, [Pin { i: 2, alpha: SetAlpha::Weights(vec![1.0, 0.0, 0.0, 0.0]) }]);
    session.apply(SourceCommand::Edit("the red shoes".to_owned()));
    assert!(session.app().gold().is_none(), "they are of that sentence alone");
}

// Files.

fn set_up(folder: &Path) -> (Session, ColumnId, PathBuf) {
    let model = TINY.save(folder);
    let mut session = with_model(&model);
    let id = session.nth(0).id;
    serve(&mut session, SourceCommand::Replace("one three two".to_owned()));
    serve(&mut session, InterveneCommand::Force { column: id, i: 0, word: Word::Typed("deux".to_owned()) });
    serve(&mut session, InterveneCommand::Row { column: id, i: 1, edit: RowEdit::OneHot(2) });
    serve(&mut session, InterveneCommand::Mask { column: id, j: 0, is_masked: true, in_all: false });
    (session, id, model)
}

fn serve(session: &mut Session, command: impl Into<interlinear::pages::command::Command>) {
    let request: Option<Request> = act(session, command);
    let events: Vec<Event> = serve_all(&request.expect("a request"), &mut store(), &forever());
    session.absorb_all(events);
}

fn saved_text(session: &mut Session, column: ColumnId) -> String {
    session.take_effects();
    session.apply(ProbeCommand::Save { column, path: "mine".into() });
    let written = chores(session).into_iter().find_map(|chore| match chore {
        FileJob::Write { path, text } => Some((path, text)),
        _ => None,
    });
    let (path, text) = written.unwrap_or_else(|| panic!("{}", last_notice(session)));
    assert_eq!(path, Path::new("mine.json"));
    text
}

fn open_file(path: &Path, source: &str, model: &Path) -> Result<Opened, String> {
    let columns = vec![(7, model.into())];
    let question = ProbeQuestion::Open { path: path.to_path_buf(), source: source.to_owned(), columns };
    lane_answers(model, question).map(|found| match found {
        Probed::Opened(opened) => opened,
        other => panic!("{other:?}"),
    })
}

#[test]
fn a_file_from_the_window_runs_in_translate_and_opens_again() {
    let folder = Folder::new();
    let (mut session, id, model) = set_up(&folder);
    let said = column(&session, id).hypotheses[0].clone();
    let text = saved_text(&mut session, id);
    let path = folder.put("mine.json", &text);
    assert!(InterventionFile::open(&path).is_ok(), "{text}");
    let translated = feed(
        &folder,
        &["translate", "--model", "tiny", "--beam", "5", "--format", "jsonl", "--interventions", "mine.json"],
        b"one three two\n",
    )
    .good();
    let line = json_of(&translated.stdout);
    let best = &line["hypotheses"][0];
    assert_eq!(best["tokens"], serde_json::json!(said.tokens), "{text}");
    assert!((best["log_p"].as_f64().expect("a number") - f64::from(said.found.log_p)).abs() < 1e-4);

    let opened = open_file(&path, "anything", &model).expect("it opens");
    assert_eq!((opened.column, opened.source.as_str()), (7, "one three two"));
    let set = session.app().document.interventions(column(&session, id));
    let force = vec![Force { i: 0, word: Word::Entry("deux".to_owned()), held: false }];
    assert_eq!(opened.interventions, Interventions { force, ..(*set).clone() });
}

#[test]
fn a_file_that_is_opened_is_one_step_of_undo() {
    let (mut session, ids) = acted_on(2);
    let id = ids[1];
    session.take_effects();
    session.absorb_file(opened("a.json", Dropped::Interventions, MAP));
    assert_eq!(session.app().view.page, SENTENCE);
    let (number, question) = ordered(&mut session).expect("an order");
    assert!(matches!(question, ProbeQuestion::Open { columns, .. } if columns.len() == 2));
    let force = vec![Force { i: 2, word: Word::Entry("verte".to_owned()), held: false }];
    let pin = vec![Pin { i: 1, alpha: SetAlpha::Permuted(9) }];
    let interventions = Interventions { force, pin, ..Interventions::default() };
    let file =
        Opened { column: id, made_with: None, source: "a green shoe".to_owned(), interventions: interventions.clone() };
    found(&mut session, number, Probed::Opened(file));
    assert_eq!(session.source(), "a green shoe");
    assert_eq!(*session.app().document.interventions(column(&session, id)), interventions);
    assert!(session.app().document.interventions(column(&session, ids[0])).is_empty());
    assert_eq!(session.app().view.selection.column, Some(id));
    // it is kept between starts
    let restored = Session::start(Some(session.saved()), &OpenWith::default());
    assert_eq!(*restored.app().document.interventions(restored.nth(1)), interventions);
    let request =
        act(&mut session, InterveneCommand::Take { column: id, what: TakenAway::Word(2) }).expect("a request");
    assert!(asked(&request, id).force.is_empty());
    session.apply(SourceCommand::Undo);
    let request = act(&mut session, SourceCommand::Undo).expect("a request");
    assert_eq!((request.source.as_str(), asked(&request, id).is_empty()), ("the red shoe", true));
}

#[test]
fn a_file_of_a_script_is_opened_as_translate_reads_it() {
    let folder = Folder::new();
    let model = TINY.save(&folder);
    let path = folder.join("script.json");
    let json = r#"{"version": 1, "source": "one three two", "prefix": "deux", "temperature": 0.5,
        "force": [{"position": 3, "word": "trois"}], "forbid": [{"word": "un"}],
        "pin": [{"row": 2, "alpha": {"word": "two"}}, {"row": 3, "alpha": {"permuted": 4}}], "mask": [{"position": 4}]}"#;
    std::fs::write(&path, json).expect("written");
    let Opened { interventions, source, .. } = open_file(&path, "", &model).expect("it opens");
    assert_eq!(interventions.force.iter().map(|force| force.i).collect::<Vec<_>>(), [0, 2]);
    let rows = [SetAlpha::Weights(vec![0.0, 0.0, 1.0, 0.0]), SetAlpha::Permuted(4)];
    assert!(interventions.pin.iter().map(|pin| &pin.alpha).eq(&rows));
    assert_eq!(
        (interventions.mask.clone(), interventions.temperature),
        (vec![Place::Bytes(13..13)], Some(0.5)),
        "`</s>`"
    );

    let run = |name: &str| {
        let file = ["translate", "--model", "tiny", "--beam", "5", "--format", "jsonl", "--interventions", name];
        let run = feed(&folder, &file, b"one three two\n").good();
        let line = json_of(&run.stdout);
        (line["hypotheses"][0]["tokens"].clone(), line["hypotheses"][0]["log_p"].as_f64().expect("a number"))
    };
    let by_script = run("script.json");
    let mut session = with_model(&model);
    let id = session.nth(0).id;
    serve(&mut session, SourceCommand::Replace(source.clone()));
    session.apply(interlinear::app::command::WindowCommand::Open(path));
    session.absorb_file(opened("script.json", Dropped::Interventions, SENTENCE));
    let (number, _) = ordered(&mut session).expect("an order");
    found(&mut session, number, Probed::Opened(Opened { column: id, made_with: None, source, interventions }));
    let request = session.take_effects().into_iter().find_map(|effect| match effect {
        interlinear::app::tasks::Effect::Decode(request) => Some(request),
        _ => None,
    });
    for event in serve_all(&request.expect("a request"), &mut store(), &forever()) {
        session.absorb(event);
    }
    let best = &column(&session, id).hypotheses[0];
    assert_eq!(
        (serde_json::json!(best.tokens), best.touched.said(2)),
        (by_script.0.clone(), interlinear::interventions::Said::Forced)
    );
    assert!((f64::from(best.found.log_p) - by_script.1).abs() < 1e-4);
    let text = saved_text(&mut session, id);
    folder.put("again.json", text);
    let again = run("again.json");
    assert!(again.0 == by_script.0 && (again.1 - by_script.1).abs() < 1e-4);
    // a word that this model does not know anyway would keep the file from being opened
    let word = Word::Typed("unheard".to_owned());
    serve(&mut session, InterveneCommand::Ban { column: id, i: None, word, in_all: false });
    let text = saved_text(&mut session, id);
    assert!(!text.contains("unheard") && text.contains("\"un\""), "{text}");
    folder.put("third.json", text);
    assert_eq!(run("third.json").0, by_script.0);
}

#[test]
fn bad_files_say_the_line_and_the_key() {
    let folder = Folder::new();
    let model = TINY.save(&folder);
    let path = folder.join("bad.json");
    for (json, parts) in [
        ("{\"version\": 1,\n \"prefx\": \"un\"}", &["bad.json", "line 2", "prefx"][..]),
        ("{\"version\": 7}", &["version", "7"]),
        ("{\"version\": 1, \"pin\": [{\"row\": 0, \"alpha\": \"uniform\"}]}", &["pin[0].row", "0"]),
        ("{\"version\": 1, \"force\": [{\"position\": 1, \"word\": \"quatre\"}]}", &["force[0].word", "quatre"]),
        ("{\"version\": 1}\n{\"version\": 1}\n", &["bad.json", "one object"]),
        ("not at all", &["bad.json", "line 1"]),
    ] {
        std::fs::write(&path, json).expect("written");
        let error = open_file(&path, "one", &model).expect_err(json);
        assert!(parts.iter().all(|part| error.contains(part)), "{json}: {error}");
    }
    let error = open_file(&folder.join("none.json"), "one", &model).expect_err("no file");
    assert!(error.contains("none.json"), "{error}");
}
