//! What is laid over an alignment and how it is read: the links of the aligner, pieces of words, rows by the word read,
//! models whose attention was guided.

use std::{fs, path::Path, sync::Arc, time::Duration};

use interlinear::aligner::bundled::{AlignerChoice, AlignerFiles};
use interlinear::aligner::placed::{PlacedAligner, PlacedWords};
use interlinear::analysis::measures::{MeasuredWords, Tested};
use interlinear::app::command::{SettingsCommand, SourceCommand};
use interlinear::app::document::table::{AlignmentTable, Making, Units, build};
use interlinear::app::files::work::{AlignQuestion, FileEvent, FileJob, KeptAligners};
use interlinear::app::files::{drawing::Drawing, export, export::AlignmentFormat, picture::FigureRequest, work};
use interlinear::jobs::live::protocol::{ColumnResult, Event, HypothesisView, ModelFacts};
use interlinear::models::{Model, shapes};
use interlinear::pages::sentence::command::{InterveneCommand, RowEdit, SelectCommand};
use interlinear::session::{driver::OpenWith, persist::SavedSession, state::Session};
use interlinear::text::links::{Link, Links};
use interlinear::text::{cut::WordRule, sentence::Sentence};
use interlinear::{
    aligner::words::LineAligner, analysis::alignment::Alignment, analysis::row_convention::RowConvention,
};
use interlinear::{app::settings::Shown, decoding::Hypothesis, error::Result, jobs::files::disk::Disk};
use interlinear::{models::checkpoint::Weights, models::choice::ModelSpec, models::config::Config, nn::device::Device};
use serde_json::Value;

use crate::cli::{json_of, reference, run_in};
use crate::effects::{Shows as _, act, chores, facts, with_models};
use crate::folder::{Files as _, Folder};
use crate::worker::{request, serve_all, store};
use crate::{bad_input::copy_of, forever, pieces, session::hypothesis_with};

fn link(source: usize, target: usize) -> Link {
    Link { source, target }
}

fn chunks(text: &str) -> PlacedWords {
    let at = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    PlacedWords { text: text.to_owned(), spans: text.split(' ').map(|word| at(word)..at(word) + word.len()).collect() }
}

fn drawn(session: &Session) -> String {
    let (column, drawing) = (session.nth(0), Drawing::new("heatmap", false));
    let picture =
        export::picture(column, &session.app().document.state.search, &session.app().view.settings, &drawing, None)
            .expect("a picture");
    String::from_utf8(FigureRequest::from(picture).bytes(Path::new("heatmap.svg")).expect("it is drawn")).expect("text")
}

#[test]
fn links_are_carried_to_words_that_a_model_cuts_its_own_way() -> Result<()> {
    let mut placed =
        PlacedAligner::chosen(&AlignerChoice::new(("en".to_owned(), "fr".to_owned()), &AlignerFiles::default()))?
            .expect("it comes with the program");
    let mut lines = LineAligner::bundled("en", "fr", false)?.expect("it comes with the program");
    // cut otherwise than the aligner cuts: at spaces alone
    for (source, target) in [
        ("The red flowers of my sister are beautiful.", "Les fleurs rouges de ma s\u{153}ur sont belles."),
        ("I don't know the man's house, she said.", "Je ne connais pas la maison de l'homme, dit-elle."),
        ("Is this yours?", "Est-ce \u{e0} toi ?"),
    ] {
        let found = placed.links(&chunks(source), &chunks(target));
        let expect = lines.lines(source, target);
        let possible = [expect.forward, expect.reverse].concat();
        assert_eq!(found, Links::new(expect.likely, possible), "{source}");
        assert!(!found.sure().is_empty(), "{source}");
    }
    // as a model writes them: joined again, `</s>` nowhere
    let source = chunks("the man reads .");
    let words = ["l'", "homme", "lit", "[UNK]", ".", "</s>"];
    let target = PlacedWords::joined("fr", &words);
    assert_eq!(target.text, "l'homme lit unk.");
    let places: Vec<&str> = target.spans.iter().map(|span| &target.text[span.clone()]).collect();
    assert_eq!(places, ["l'", "homme", "lit", "unk", ".", ""]);
    let links = placed.links(&source, &target);
    for known in [link(1, 1), link(2, 2), link(3, 4)] {
        assert!(links.is_possible(known), "{known:?} is not in {links:?}");
    }
    assert!(links.all().iter().all(|(link, _)| link.target < 5), "`</s>` has no link: {links:?}");
    // cut finer: each part has the links of the word
    let finer = PlacedWords { text: "the man reads .".to_owned(), spans: vec![0..3, 4..5, 5..7, 8..13, 14..15] };
    let links = placed.links(&finer, &target);
    assert!(links.is_possible(link(1, 1)) && links.is_possible(link(2, 1)), "{links:?}");
    assert_eq!(placed.links(&PlacedWords::default(), &target), Links::default());
    Ok(())
}

fn session(facts: &ModelFacts) -> Session {
    with_models(1, |_| facts.clone())
}

fn english_to(language: &str) -> ModelFacts {
    ModelFacts { source_language: "en-GB".to_owned(), target_language: language.to_owned(), ..facts() }
}

fn hypothesis(words: &[&str], t_x: usize) -> HypothesisView {
    let best = hypothesis_with(&words.join(" "), t_x, |i, j| if i == j { 0.75 } else { 0.25 / (t_x - 1) as f32 });
    let energies = Some((0..words.len()).map(|i| vec![i as f32; t_x]).collect());
    HypothesisView {
        found: Hypothesis { energies, finished: true, log_p: 0.0, ..best.found },
        replaced: Vec::new(),
        ..best
    }
}

fn translate(session: &mut Session, text: &str, hypotheses: Vec<HypothesisView>) {
    let request = act(session, SourceCommand::Replace(text.to_owned())).expect("another text");
    let column = session.nth(0).id;
    let mut source = chunks(text);
    let mut sentence = Sentence { text: text.to_owned(), ..Default::default() };
    sentence.tokens = source.spans.iter().map(|span| text[span.clone()].to_owned()).collect();
    sentence.ids = vec![5; sentence.tokens.len()];
    source.spans.push(text.len()..text.len());
    (sentence.spans, sentence.tokens) = (source.spans, [sentence.tokens, vec!["</s>".to_owned()]].concat());
    sentence.ids.push(0);
    let result = ColumnResult { hypotheses, ..ColumnResult::default() };
    session.absorb(Event::Started { number: request.number, column, source: sentence, context: None });
    session.absorb(Event::Finished { number: request.number, column, result });
}

fn asked(session: &mut Session) -> Vec<(u64, AlignQuestion)> {
    let question = |chore| match chore {
        FileJob::Align { number, question } => Some((number, question)),
        _ => None,
    };
    chores(session).into_iter().filter_map(question).collect()
}

fn table(session: &Session) -> &AlignmentTable {
    session.nth(0).table.as_deref().expect("it is translated")
}

#[test]
fn links_are_asked_for_only_where_they_are_shown_and_the_last_answer_counts() {
    let mut session = session(&english_to("fr"));
    let beam = |words: &[&str]| vec![hypothesis(words, 3), hypothesis(&["le", "soulier", "</s>"], 3)];
    translate(&mut session, "the shoe", beam(&["la", "chaussure", "</s>"]));
    assert!(asked(&mut session).is_empty(), "nobody wants to see them");
    session.apply(SettingsCommand::SetLinks(true));
    let [(old, question)] = &asked(&mut session)[..] else { panic!("one question") };
    assert_eq!(question.source.spans, [0..3, 4..8, 8..8]);
    assert_eq!(question.target, ["la", "chaussure", "</s>"]);
    let column = session.nth(0).id;
    session.apply(SelectCommand::Hypothesis { column, hypothesis: 1 });
    let [(new, question)] = &asked(&mut session)[..] else { panic!("another question") };
    assert_eq!(question.target[1], "soulier");
    session.absorb_file(FileEvent::Aligned { number: *old, links: Links::new(vec![link(0, 0)], vec![]) });
    assert_eq!(table(&session).links, None, "these were the links of another hypothesis");
    let revision = table(&session).revision;
    session.absorb_file(FileEvent::Aligned { number: *new, links: Links::new(vec![link(0, 0)], vec![link(0, 1)]) });
    let shown = table(&session);
    assert!(shown.revision != revision && shown.links.as_ref().is_some_and(|links| links.is_sure(link(0, 0))));
    let agreement = shown.agreement.expect("alpha is compared with them");
    assert_eq!((agreement.on_link, agreement.linked, agreement.words), (1, 2, 2), "`</s>` is no word");
    let json = |session: &Session| -> Value {
        let text = session.written(0, AlignmentFormat::Json).expect("something");
        serde_json::from_str(&text).expect("JSON")
    };
    let found = json(&session)["hypotheses"].clone();
    assert_eq!(found[1]["links"]["sure"], serde_json::json!([[0, 0]]));
    assert_eq!(found[1]["links"]["possible"], serde_json::json!([[0, 1]]));
    assert!(found[0]["links"].is_null(), "they are those of the shown hypothesis");
    let svg = drawn(&session);
    assert!(svg.contains("#ff9a1f") && svg.contains("1 of 2 on links"), "{svg}");
    translate(&mut session, "the red shoe", beam(&["la", "chaussure", "rouge", "</s>"]));
    assert_eq!(asked(&mut session).len(), 1, "another text");
    assert_eq!(table(&session).links, None);
    session.apply(SettingsCommand::SetLinks(false));
    assert!(asked(&mut session).is_empty() && json(&session)["hypotheses"][0]["links"].is_null());
}

/// The share was of the words that the model makes, and page Corpus had another one of the same sentence.
#[test]
fn the_share_on_links_is_of_the_words_of_the_texts() {
    let mut session = session(&english_to("fr"));
    session.apply(SettingsCommand::SetLinks(true));
    let rules = [WordRule::Tokens, WordRule::Eliding];
    let cut =
        HypothesisView { text: "c'est bon.".to_owned(), rules, ..hypothesis(&["c'", "est", "bon", ".", "</s>"], 4) };
    translate(&mut session, "it is good.", vec![cut]);
    let [(number, _)] = asked(&mut session)[..] else { panic!("one question") };
    let links = Links::new(vec![link(0, 0), link(2, 2)], vec![link(1, 1)]);
    session.absorb_file(FileEvent::Aligned { number, links });
    let agreement = table(&session).agreement.expect("alpha is compared with them");
    assert_eq!((agreement.on_link, agreement.linked, agreement.words), (3, 3, 4), "the full stop is a word");
}

/// Outlines were those of the model's own translation alone.
#[test]
fn a_translation_of_ones_own_has_the_links_of_the_aligner() {
    let mut session = session(&english_to("fr"));
    session.apply(SettingsCommand::SetLinks(true));
    translate(&mut session, "the shoe", vec![hypothesis(&["la", "chaussure", "</s>"], 3)]);
    let [(own, _)] = asked(&mut session)[..] else { panic!("one question") };
    session.absorb_file(FileEvent::Aligned { number: own, links: Links::new(vec![link(0, 0)], vec![]) });
    session.apply(SourceCommand::Give(Some("soulier le".to_owned())));
    let (column, number) = (session.nth(0).id, session.app().tasks.newest);
    let given = Ok(Box::new(hypothesis(&["soulier", "le", "</s>"], 3)));
    session.absorb(Event::Given { number, column, given });
    let questions = asked(&mut session);
    let [(number, question)] = &questions[..] else { panic!("one question: {questions:?}") };
    assert_eq!(question.target, ["soulier", "le", "</s>"]);
    assert!(table(&session).is_given && table(&session).links.is_none());
    session.absorb_file(FileEvent::Aligned { number: *number, links: Links::new(vec![link(1, 0)], vec![link(0, 1)]) });
    assert!(table(&session).links.as_ref().is_some_and(|links| links.is_sure(link(1, 0))));
    let agreement = table(&session).agreement.expect("alpha is compared with them");
    assert_eq!((agreement.on_link, agreement.words), (0, 2));
    session.apply(SelectCommand::ShowGiven(false));
    assert!(table(&session).links.as_ref().is_some_and(|links| links.is_sure(link(0, 0))), "its own are there");
    session.apply(SelectCommand::ShowGiven(true));
    session.apply(SettingsCommand::SetLinks(false));
    assert!(table(&session).links.is_none());
}

/// alpha and energy beside a measure were of the row by the word read, the measure of the step that predicts.
#[test]
fn a_measure_stands_beside_alpha_of_its_own_step() {
    let (shown, mut source) = (hypothesis(&["la", "chaussure", "</s>"], 3), Sentence::default());
    source.tokens = ["the", "shoe", "</s>"].map(str::to_owned).to_vec();
    (source.ids, source.spans) = (vec![5; 3], vec![0..3, 4..8, 8..8]);
    let rows = vec![vec![0.5, 0.1, 0.0]; 3];
    let measured = vec![MeasuredWords { measure: 0, rows, kendall: Some(0.5), heads: Vec::new() }];
    let tested = Tested { source: vec![5; 3], target: vec![5; 3], measured, ..Tested::default() };
    let making = Making { reading: Some((RowConvention::Input, 1)), tested: &[Arc::new(tested)], ..Making::default() };
    let table = build(&source, &shown, 0, &making);
    let (alpha, energies) = (shown.found.alpha.expect("it has one"), shown.found.energies.expect("it has some"));
    assert_eq!(table.alpha.as_ref().map(|read| read.row(0)), Some(&alpha[1][..]), "by the word read");
    let measured = table.measured(Shown::Measure(0)).expect("it was measured");
    let row = |of: &Option<Alignment>, i: usize| of.as_ref().map(|matrix| matrix.row(i).to_vec());
    for i in 0..3 {
        assert_eq!(row(&measured.alpha, i), Some(alpha[i].clone()));
        assert_eq!(row(&measured.energies, i), Some(energies[i].clone()));
    }
    assert!(table.measured_text(measured).contains("alpha of the same step 0.50"));
}

#[test]
fn links_and_pieces_are_switched_as_they_were_left() {
    let mut before = session(&english_to("fr"));
    before.apply(SettingsCommand::SetLinks(true));
    before.apply(SettingsCommand::SetPieces(true));
    let saved: SavedSession =
        serde_json::from_str(&serde_json::to_string(&before.saved()).expect("JSON")).expect("JSON");
    let after = Session::start(Some(saved), &OpenWith::default());
    assert!(after.app().view.settings.links && after.app().view.settings.pieces);
}

#[test]
fn no_links_are_asked_for_where_no_aligner_knows_the_languages() {
    let mut session = session(&english_to("nl"));
    session.apply(SettingsCommand::SetLinks(true));
    translate(&mut session, "the shoe", vec![hypothesis(&["de", "schoen", "</s>"], 3)]);
    assert!(asked(&mut session).is_empty());
    assert_eq!(table(&session).links, None);
}

#[test]
fn an_aligner_file_of_ones_own_links_the_words_of_its_languages() {
    let at = &Folder::new();
    let text = "the shoe\nthe house\n".repeat(30);
    at.put("t.en", &text);
    at.put("t.nl", text.replace("the", "de").replace("shoe", "schoen").replace("house", "huis"));
    let learn = ["align", "--statistical", "--source", "t.en", "--target", "t.nl", "--save", "own.aligner"];
    assert_eq!(run_in(at, &learn).code, 0);
    let mut session = session(&english_to("nl"));
    session.apply(SettingsCommand::SetLinks(true));
    let said = || vec![hypothesis(&["de", "schoen", "</s>"], 3)];
    translate(&mut session, "the shoe", said());
    assert!(asked(&mut session).is_empty(), "nothing comes with the program");
    let mut disk = Disk::spawn(Duration::ZERO, Arc::new(|| {}));
    let aligner = KeptAligners::default();
    let mut done = |session: &mut Session| {
        for chore in chores(session) {
            work::carry_out(chore, &mut disk, &aligner);
            session.absorb_file(disk.news.next_within(Duration::from_mins(1)).expect("an answer"));
        }
    };
    let open = |name: &str, model: Option<ModelSpec>| SettingsCommand::OpenAligner { path: at.join(name), model };
    session.apply(open("t.en", None));
    done(&mut session);
    assert_eq!(session.app().view.settings.aligner.iter().count(), 0, "a text is no aligner");
    session.apply(open("own.aligner", None));
    done(&mut session);
    let own = session.app().view.settings.aligner.clone();
    let languages: Vec<_> = own.iter().map(|own| own.languages.clone()).collect();
    assert_eq!(languages, [("en".to_owned(), "nl".to_owned())], "it is taken");
    done(&mut session);
    let links = table(&session).links.clone().expect("the words are linked");
    assert!(links.is_sure(Link { source: 1, target: 1 }), "{links:?}");
    let saved = serde_json::to_string(&session.saved()).expect("JSON");
    let again = Session::start(Some(serde_json::from_str(&saved).expect("JSON")), &OpenWith::default());
    assert_eq!(again.app().view.settings.aligner, own, "it is kept");
    let file = own.iter().next().expect("a file").clone();
    session.apply(SettingsCommand::RemoveAligner(file));
    assert_eq!(table(&session).links, None);

    // of one model alone
    let model = session.nth(0).system.members[0].clone();
    session.apply(open("own.aligner", Some(model.clone())));
    done(&mut session);
    done(&mut session);
    assert_eq!(table(&session).links.as_ref(), Some(&links));
    let own = session.app().view.settings.aligner.clone();
    assert!(own.of_model(&(&model).into()).is_some() && !own.has("en", "nl"), "other models have none");
    let saved = serde_json::to_string(&session.saved()).expect("JSON");
    let again = Session::start(Some(serde_json::from_str(&saved).expect("JSON")), &OpenWith::default());
    assert_eq!(again.app().view.settings.aligner, own, "it is kept");
    // what was opened is asked on; a start later the file is gone
    fs::remove_file(at.join("own.aligner")).expect("it was there");
    let told = |session: &Session| {
        session.app().view.notices.iter().filter(|notice| notice.text.contains("own.aligner: does not exist")).count()
    };
    session.apply(SettingsCommand::SetLinks(true));
    done(&mut session);
    assert_eq!((table(&session).links.as_ref(), told(&session)), (Some(&links), 0));
    let aligners = KeptAligners::default();
    for _ in 0..2 {
        session.apply(SettingsCommand::SetLinks(true));
        for chore in chores(&mut session) {
            work::carry_out(chore, &mut disk, &aligners);
        }
        if let Some(news) = disk.news.next_within(Duration::from_secs(1)) {
            session.absorb_file(news);
        }
    }
    assert_eq!((table(&session).links.as_ref(), told(&session)), (None, 1), "it is told once");
}

#[test]
fn a_word_of_rnnsearch_is_read_two_rows_after_its_own() {
    let mut session = session(&ModelFacts { input_delay: Some(2), ..english_to("fr") });
    translate(&mut session, "a b c d", vec![hypothesis(&["w", "x", "y", "z", "</s>"], 5)]);
    let alpha = |session: &Session| table(session).alpha.clone().expect("it aligns");
    let predicted = alpha(&session);
    session.apply(SettingsCommand::SetReading(Some(RowConvention::Input)));
    let read = alpha(&session);
    assert_eq!((read.rows(), table(&session).reading), (5, Some(RowConvention::Input)));
    for i in 0..3 {
        assert_eq!(read.row(i), predicted.row(i + 2), "row {i}");
    }
    assert!((3..5).all(|i| read.row(i).iter().all(|alpha| *alpha == 0.0)), "the last two were never read");
    let energies = table(&session).energies.clone().expect("it aligns");
    assert!(energies.row(0)[0] == 2.0 && energies.row(4)[0].is_nan());
    let tsv = export::shown_tsv(table(&session), Shown::Alpha, 0..5);
    assert!(tsv.starts_with("target (input)\t"), "{tsv}");
    let json = export::json_line(session.nth(0));
    let json = json_of(&json);
    assert_eq!((json["reading"].as_str(), json["hypotheses"][0]["alpha"][0][2].as_f64()), (Some("input"), Some(0.75)));
    let pharaoh = session.written(0, AlignmentFormat::Pharaoh);
    assert_eq!(pharaoh.as_deref(), Some("2-0 3-1 0-2\n"), "the row of `</s>` looks at it most and then at any word");
}

#[test]
fn rows_behind_the_end_belong_to_the_last_words_and_are_never_rows_of_their_own() {
    let mut session = session(&ModelFacts { input_delay: Some(2), reading: RowConvention::Input, ..english_to("fr") });
    let words = ["w", "x", "y", "z", "</s>"];
    let mut longer = hypothesis(&words, 5);
    let row = |i: usize| (0..5).map(|j| if i == j + 2 { 0.75 } else { 0.0625 }).collect::<Vec<f32>>();
    for rows in [&mut longer.found.alpha, &mut longer.found.energies].into_iter().flatten() {
        *rows = (0..7).map(row).collect();
    }
    translate(&mut session, "a b c d", vec![longer]);
    let column = session.nth(0).id;
    for (choice, first) in [(None, 2), (Some(RowConvention::Predicted), 0), (Some(RowConvention::Input), 2)] {
        session.apply(SettingsCommand::SetReading(choice));
        let table = table(&session);
        let (alpha, energies) = (table.alpha.as_ref().expect("it aligns"), table.energies.as_ref().expect("it aligns"));
        assert_eq!((alpha.rows(), energies.rows(), alpha.weights().len()), (5, 5, 25), "{choice:?}");
        for i in 0..5 {
            assert_eq!(alpha.row(i), row(first + i), "{choice:?}, row {i}");
        }
        let covered: f32 = table.source.iter().map(|word| word.coverage).sum();
        let summed: f32 = alpha.weights().iter().sum();
        assert!((covered - summed).abs() < 1e-5, "{choice:?}");
        let json = json_of(&export::json_line(session.nth(0)));
        assert_eq!(json["hypotheses"][0]["alpha"].as_array().map(Vec::len), Some(5), "{choice:?}");
    }
    session.apply(SettingsCommand::SetReading(None));
    let edit = |i| InterveneCommand::Row { column, i, edit: RowEdit::OneHot(0) };
    assert!(act(&mut session, edit(4)).is_none(), "the step behind `</s>` is not part of the search");
    assert!(session.notifies("no row that can be set"));
    let request = act(&mut session, edit(1)).expect("a request");
    let set = &request.columns[0].interventions;
    assert_eq!(set.pin.iter().map(|pin| pin.i).collect::<Vec<_>>(), [3]);
    let numbers = session.nth(0).numbers();
    let said = interlinear::app::document::hand::sentence(set, "a b c d", &numbers).expect("something is set");
    assert!(said.contains("alpha of word 2 is set"), "{said}");
}

fn merged(alpha: &Alignment, x: &[std::ops::Range<usize>], y: &[std::ops::Range<usize>]) -> Vec<Vec<f32>> {
    let cell = |y: &std::ops::Range<usize>, x: &std::ops::Range<usize>| {
        let sum: f32 = y.clone().flat_map(|i| x.clone().filter_map(move |j| alpha.get(i, j))).sum();
        sum / y.len() as f32
    };
    y.iter().map(|y| x.iter().map(|x| cell(y, x)).collect()).collect()
}

#[test]
fn pieces_are_shown_as_words_unless_they_are_asked_for() {
    let folder = Folder::new();
    let model = pieces::model(&folder);
    let text = "sunrise soon moonrises sons";
    let mut session = Session::start(None, &OpenWith { models: vec![(&model).into()], ..OpenWith::default() });
    let request = act(&mut session, SourceCommand::Replace(text.to_owned())).expect("another text");
    let events = serve_all(&request, &mut store(), &forever());
    session.absorb_all(events);
    let column = session.nth(0);
    let shown = column.shown().expect("it is translated");
    let cut = shown.pieces.clone().expect("the vocabulary has pieces");
    assert!(!shown.text.contains("##"), "{}", shown.text);
    let words = table(&session).clone();
    assert_eq!(words.units, Some(Units::Words));
    let source: Vec<&str> = words.source.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(source, ["sunrise", "soon", "moonrises", "sons", "</s>"]);
    assert!(words.target.iter().map(|word| &word.text).eq(&cut.words), "{:?}", cut.words);
    session.apply(SettingsCommand::SetPieces(true));
    let pieces = table(&session).clone();
    assert_eq!((pieces.units, pieces.target.len()), (Some(Units::Pieces), session.nth(0).hypotheses[0].tokens.len()));
    assert!(pieces.source.len() > words.source.len() && pieces.target.len() >= words.target.len());
    let expect = merged(pieces.alpha.as_ref().expect("it aligns"), &cut.source, &cut.target);
    let alpha = words.alpha.as_ref().expect("it aligns");
    for (i, expect) in expect.iter().enumerate() {
        assert!(alpha.row(i).iter().zip(expect).all(|(a, b)| (a - b).abs() < 1e-5), "row {i}");
        assert!((alpha.row(i).iter().sum::<f32>() - 1.0).abs() < 1e-4, "row {i}");
        let of_pieces: f32 = pieces.target[cut.target[i].clone()].iter().map(|piece| piece.log_p).sum();
        assert!((words.target[i].log_p - of_pieces).abs() < 1e-5);
    }
    let energies = words.energies.as_ref().expect("it aligns");
    assert_eq!((energies.rows(), energies.columns()), (alpha.rows(), alpha.columns()));
    assert!(export::shown_tsv(&words, Shown::Alpha, 0..1).starts_with("target (predicted, words)\t"));
    assert!(export::shown_tsv(&pieces, Shown::Alpha, 0..1).starts_with("target (predicted, pieces)\t"));
    let line = json_of(&export::json_line(session.nth(0)));
    folder.put("s", format!("{text}\n"));
    let outcome = run_in(&folder, &["translate", "--model", &model, "s", "--format", "jsonl"]);
    let told = json_of(outcome.stdout.trim());
    assert_eq!((&line["words"], &line["source"]), (&told["words"], &told["source"]));
    for key in ["tokens", "words", "text"] {
        assert_eq!(line["hypotheses"][0][key], told["hypotheses"][0][key], "{key}");
    }
    let pharaoh = session.written(0, AlignmentFormat::Pharaoh).expect("links");
    let links = run_in(&folder, &["translate", "--model", &model, "s", "--format", "pharaoh"]);
    assert_eq!(pharaoh, links.stdout, "links are of words, whatever is shown");
}

#[test]
fn links_of_a_word_lie_on_all_its_pieces() {
    let mut session = session(&english_to("fr"));
    let mut one = HypothesisView { text: "une".to_owned(), ..hypothesis(&["un", "##e", "</s>"], 3) };
    let word = interlinear::jobs::live::protocol::Pieces {
        source: vec![0..1, 1..2, 2..3],
        target: vec![0..2, 2..3],
        words: vec!["une".to_owned(), "</s>".to_owned()],
    };
    one.pieces = Some(word);
    session.apply(SettingsCommand::SetLinks(true));
    translate(&mut session, "an a", vec![one]);
    let [(number, question)] = &asked(&mut session)[..] else { panic!("one question") };
    assert_eq!(question.target, ["une", "</s>"], "aligners read words");
    session.absorb_file(FileEvent::Aligned { number: *number, links: Links::new(vec![link(1, 0)], vec![]) });
    assert_eq!(table(&session).links, Some(Links::new(vec![link(1, 0)], vec![])));
    assert_eq!(table(&session).target[0].pieces, ["un", "##e"]);
    session.apply(SettingsCommand::SetPieces(true));
    assert_eq!(table(&session).links, Some(Links::new(vec![link(1, 0), link(1, 1)], vec![])));
    let agreement = table(&session).agreement.expect("alpha is compared with them");
    assert_eq!((agreement.on_link, agreement.words), (0, 1), "words are counted, whatever is shown");
}

#[test]
fn a_guided_model_says_so_in_its_weights_and_everywhere() {
    let folder = Folder::new();
    let model = copy_of("rnnsearch", &folder);
    let (config, weights) = (model.join("config.json"), model.join("model.safetensors"));
    let config = Config::load(&config).expect("sound");
    let mut told = Weights::load(&weights, &shapes(&config)).expect("sound");
    assert_eq!((told.guided(), Weights::guided_in(&weights)), (None, None));
    told.set_guided(Some("input".to_owned()));
    told.save(&weights, false).expect("written");
    assert_eq!(Weights::guided_in(&weights).as_deref(), Some("input"));
    assert_eq!(Weights::guided_in(&model.join("config.json")), None);
    let loaded = Model::load(&model, &Device::cpu()).expect("sound");
    assert_eq!(loaded.guided(), Some("input"));
    let inspect = |arguments: &[&str]| {
        run_in(&folder, &[&["inspect", &model.display().to_string()], arguments].concat()).good().stdout
    };
    assert!(inspect(&[]).lines().any(|line| line.starts_with("guided") && line.ends_with("input")));
    let json = json_of(&inspect(&["--json"]));
    assert_eq!(json["guided"], "input");
    let events = serve_all(&request(1, "s9 s3", &[model, reference("rnnsearch")]), &mut store(), &forever());
    let mut facts: Vec<(u64, Option<String>)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Loaded { column, facts } => Some((*column, facts.guided.clone())),
            _ => None,
        })
        .collect();
    facts.sort();
    assert_eq!(facts.iter().map(|(_, guided)| guided.as_deref()).collect::<Vec<_>>(), [Some("input"), None]);
    let mut session = session(&ModelFacts { guided: Some("input".to_owned()), ..english_to("fr") });
    translate(&mut session, "the shoe", vec![hypothesis(&["la", "chaussure", "</s>"], 3)]);
    let text = |format| session.written(0, format).expect("something");
    let json = json_of(&text(AlignmentFormat::Json));
    assert_eq!(json["guided"], "input");
    assert!(drawn(&session).contains("its attention was trained on word links"));
}
