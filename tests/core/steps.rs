//! The page Steps: what it asks for, how one goes through a translation, guesses; and the lane that takes models apart.

use std::{borrow::Cow, sync::Arc};

use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::decoding::step_trace::{Then, TracedStep};
use interlinear::decoding::{Hypothesis, NodeFate};
use interlinear::jobs::live::protocol::{ColumnResult, Event, HypothesisView, ModelFacts};
use interlinear::jobs::steps::{StepTrace, StepsEvent, StepsRequest, StepsThread};
use interlinear::models::anatomy::{Miswiring, anatomy_of};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::pages::sentence::command::{ColumnCommand, SearchCommand, SelectCommand, VariantCommand};
use interlinear::pages::steps::beam::{Became, beam};
use interlinear::pages::steps::{Guessed, Mode, STEPS};
use interlinear::text::links::{Link, Links};
use interlinear::{analysis::aer::AerCounts, app::open_with::Installed, app::page::SENTENCE, app::tasks::Effect};
use interlinear::{jobs::Library, models::Model, pages::steps::command::StepsCommand, pages::steps::depth::Depth};
use interlinear::{pages::steps::guess::f1, session::driver::OpenWith, session::state::Session};

use crate::effects::{Shows as _, node, without_models};
use crate::session::{sentence, told};
use crate::{cli::reference, link::packed, worker::PATIENCE};

pub fn session() -> (Session, u64, Vec<(u64, StepsRequest)>) {
    let mut session = without_models("red house");
    session.apply(ColumnCommand::Add("model".into()));
    session.apply(WindowCommand::ShowPage(STEPS));
    let column = session.nth(0).id;
    session.absorb(Event::Loaded { column, facts: facts() });
    session.take_effects();
    finish(&mut session, "red house", &[8, 9, 0]);
    let asked = asked(&mut session);
    (session, column, asked)
}

/// Its steps are there.
pub fn answered() -> (Session, Vec<(u64, StepsRequest)>) {
    let (mut session, _, requests) = session();
    session.absorb_steps(StepsEvent { number: requests[0].0, found: Ok(answer(&[8, 9, 0], false)) });
    (session, requests)
}

fn facts() -> ModelFacts {
    let (source_language, target_language) = ("en".to_owned(), "fr".to_owned());
    ModelFacts { has_alignment: true, source_language, target_language, ..ModelFacts::default() }
}

fn finish(session: &mut Session, text: &str, ids: &[u32]) {
    let (column, number) = (session.nth(0).id, session.app().tasks.newest);
    let best = HypothesisView {
        found: Hypothesis {
            tokens: ids.to_vec(),
            token_log_p: vec![-0.1; ids.len()],
            alpha: Some(vec![vec![0.2, 0.7, 0.1]; ids.len()]),
            finished: true,
            ..Hypothesis::default()
        },
        tokens: ids.iter().map(|id| format!("t{id}")).collect(),
        is_unk: vec![false; ids.len()],
        ..HypothesisView::default()
    };
    for event in told(number, column, sentence(text), best) {
        session.absorb(event);
    }
}

fn asked(session: &mut Session) -> Vec<(u64, StepsRequest)> {
    let of = |effect| if let Effect::TakeApart { number, request } = effect { Some((number, *request)) } else { None };
    session.take_effects().into_iter().filter_map(of).collect()
}

pub fn answer(ids: &[u32], waits: bool) -> Arc<StepTrace> {
    let model = Model::load(reference("rnnsearch"), &Device::cpu()).expect("the model");
    let machine = anatomy_of(&model.config, &model.weights, None).expect("apart").machine();
    let step = |said: Option<u32>| TracedStep {
        alpha_i: Some(vec![0.2, 0.7, 0.1]),
        best: vec![(8, -0.1), (9, -2.0)],
        said: said.map(|id| (id, -0.1)),
        ..TracedStep::default()
    };
    let steps: Vec<TracedStep> = ids.iter().copied().map(Some).chain(waits.then_some(None)).map(step).collect();
    let words = steps.iter().map(|step| {
        let best = ["t8".to_owned(), "t9".to_owned()].into_iter();
        best.chain(step.said.map(|(id, _)| format!("t{id}"))).collect()
    });
    let words = words.collect();
    Arc::new(StepTrace { aligns: true, machine, source: sentence("red house"), words, steps, ..StepTrace::default() })
}

#[test]
fn the_page_asks_for_what_the_column_shows_and_for_nothing_twice() {
    let (mut session, _, requests) = session();
    let [(number, request)] = &requests[..] else { panic!("{requests:?}") };
    let expected = StepsRequest {
        model: "model".into(),
        device: session.app().view.settings.device,
        source: "red house".to_owned(),
        given: vec![8, 9, 0],
        then: Then::Wait,
        wrong: None,
    };
    assert_eq!(*request, expected);
    assert!(session.steps().is_waiting());
    session.absorb_steps(StepsEvent { number: *number, found: Ok(answer(&[8, 9, 0], false)) });
    assert!(!session.steps().is_waiting() && asked(&mut session).is_empty());

    // Another page asks for nothing, and what is there stays.
    session.apply(WindowCommand::ShowPage(SENTENCE));
    session.apply(SourceCommand::Replace("red".to_owned()));
    finish(&mut session, "red", &[8, 0]);
    assert!(asked(&mut session).is_empty() && session.steps().trace.is_some());
    session.apply(WindowCommand::ShowPage(STEPS));
    let again = asked(&mut session);
    assert_eq!((again[0].1.source.as_str(), &again[0].1.given[..]), ("red", &[8, 0][..]));
    // An old answer changes nothing.
    session.absorb_steps(StepsEvent { number: *number, found: Err("old".to_owned()) });
    assert_eq!(session.steps().message, None);
    session.absorb_steps(StepsEvent { number: again[0].0, found: Err("It fails.".to_owned()) });
    assert!(session.steps().message.as_deref() == Some("It fails.") && session.steps().trace.is_some());
    for (command, then, wrong) in [
        (StepsCommand::SetMode(Mode::Greedy), Then::Greedy, None),
        (StepsCommand::SetWrong(Some(Miswiring::LateQuery)), Then::Greedy, Some(Miswiring::LateQuery)),
        (StepsCommand::SetMode(Mode::Class), Then::Wait, Some(Miswiring::LateQuery)),
    ] {
        session.apply(command);
        let (_, request) = asked(&mut session).pop().expect("something else is wanted");
        assert_eq!((request.then, request.wrong, request.given.is_empty()), (then, wrong, true));
    }
    // while the model is read for another device, nothing is asked
    session.apply(SettingsCommand::SetDevice(DeviceChoice::Cpu));
    assert!(asked(&mut session).is_empty());
}

fn there(link: &str, text: &str, ids: &[u32]) -> Session {
    let bundled = vec![Installed::from(std::path::PathBuf::from("/there/model"))];
    let with = OpenWith { bundled, link: Some(link.to_owned()), ..OpenWith::default() };
    let mut session = Session::start(None, &with);
    let column = session.nth(0).id;
    session.absorb(Event::Loaded { column, facts: facts() });
    finish(&mut session, text, ids);
    session
}

#[test]
fn a_link_leads_to_the_step_the_stage_and_the_box() {
    let (mut session, _) = answered();
    for command in [
        StepsCommand::SetDepth(Depth::Step),
        StepsCommand::SetByStage(true),
        StepsCommand::GoTo(1),
        StepsCommand::Move(1),
        StepsCommand::Move(1),
        StepsCommand::Open(Some("alpha".to_owned())),
        StepsCommand::SetBeam(true),
        StepsCommand::SetGuessing(Some(Guessed::Word)),
    ] {
        session.apply(command);
    }
    let told = |session: &Session| {
        let steps = session.steps();
        let guessed = steps.guessing.as_ref().map(|guessing| guessing.of);
        (steps.mode, steps.depth, steps.i, steps.current(), steps.open.clone(), steps.by_stage, steps.has_beam, guessed)
    };
    let link = session.link().expect("it is text");
    let mut other = there(&link, "red house", &[8, 9, 0]);
    assert_eq!((other.app().view.page, other.steps().i), (STEPS, 0), "the steps are not there yet");
    assert_eq!(other.link().expect("it is text"), link);
    let (number, request) = asked(&mut other).pop().expect("asked");
    assert_eq!(request.given, [8, 9, 0]);
    other.absorb_steps(StepsEvent { number, found: Ok(answer(&[8, 9, 0], false)) });
    assert_eq!(told(&other), told(&session));
    assert_eq!((told(&other).2, told(&other).3.is_some()), (2, true), "{:?}", told(&other));
    assert_eq!(other.link().expect("it is text"), link);

    // what the class has said, in a model that is wired wrongly
    session.apply(StepsCommand::SetGuessing(None));
    session.apply(StepsCommand::SetWrong(Some(Miswiring::LateQuery)));
    session.apply(StepsCommand::GoTo(1));
    session.apply(StepsCommand::Say(7));
    let link = session.link().expect("it is text");
    let mut other = there(&link, "red house", &[8, 9, 0]);
    let (_, request) = asked(&mut other).pop().expect("asked");
    assert_eq!((&request.given[..], request.wrong), (&[8, 7][..], Some(Miswiring::LateQuery)));
    // another sentence is another story
    other.apply(SourceCommand::Replace("house".to_owned()));
    finish(&mut other, "house", &[9, 0]);
    assert!(asked(&mut other).pop().expect("asked").1.given.is_empty() && other.steps().i == 0);
}

#[test]
fn a_link_without_a_page_opens_it_as_at_first_and_one_of_nonsense_does_no_harm() {
    let (mut session, _) = answered();
    session.apply(StepsCommand::SetPace(4.0));
    session.apply(StepsCommand::GoTo(2));
    session.apply(StepsCommand::SetMode(Mode::Greedy));
    let open = |session: &mut Session, pages: &str| {
        let json = format!("{{\"source\": \"red house\", \"page\": \"steps\"{pages}}}");
        session.apply(WindowCommand::OpenLink(packed(&json)));
    };
    open(&mut session, "");
    let steps = session.steps();
    assert_eq!((steps.mode, steps.i, steps.pace(), steps.trace.is_some()), (Mode::Shown, 0, 4.0, true));
    let unknown = "{\"mode\": \"no\", \"depth\": \"\", \"wrong\": \"x\", \"i\": 99999, \"stage\": \"y\"}";
    for nonsense in ["3", "{\"i\": -1}", unknown] {
        open(&mut session, &format!(", \"pages\": {{\"steps\": {nonsense}}}"));
        let (number, _) = asked(&mut session).pop().expect("asked anew");
        session.absorb_steps(StepsEvent { number, found: Ok(answer(&[8, 9, 0], false)) });
        let steps = session.steps();
        assert_eq!((steps.mode, steps.wrong, steps.done), (Mode::Shown, None, None), "{nonsense}");
    }
    assert_eq!(session.steps().i, 2, "the last step");
}

#[test]
fn numbers_of_another_model_or_sentence_are_known_to_be_old() {
    let (mut session, _, sent) = session();
    let is_old = |session: &Session| session.steps().is_old(session.app());
    assert!(!is_old(&session), "there is nothing yet");
    let (number, _) = sent[0];
    session.absorb_steps(StepsEvent { number, found: Ok(answer(&[8, 9, 0], false)) });
    assert!(!is_old(&session));
    session.apply(SourceCommand::Replace("blue house".to_owned()));
    assert!(is_old(&session), "the sentence is another one");
    finish(&mut session, "blue house", &[8, 0]);
    assert!(is_old(&session), "it is translated and not taken apart");
    let (number, _) = asked(&mut session)[0];
    session.absorb_steps(StepsEvent { number, found: Ok(answer(&[8, 0], false)) });
    assert!(!is_old(&session));
    session.apply(ColumnCommand::Add("other".into()));
    let other = session.nth(1).id;
    session.apply(SelectCommand::Column(other));
    assert!(is_old(&session), "the model is another one");
}

#[test]
fn the_player_goes_by_words_and_by_boxes_and_stops_at_the_end() {
    let (mut session, _) = answered();
    let place = |session: &Session| (session.steps().i, session.steps().done);
    let rows = |session: &Session| session.steps().table.as_ref().map(|table| table.target.len());
    assert_eq!((place(&session), rows(&session)), ((0, None), Some(1)));
    session.apply(StepsCommand::Play(true));
    for i in [1, 2] {
        session.apply(StepsCommand::Move(1));
        assert_eq!((place(&session), rows(&session)), ((i, None), Some(i + 1)));
    }
    assert!(session.steps().is_playing);
    session.apply(StepsCommand::Move(1));
    assert!(!session.steps().is_playing && place(&session) == (2, None));

    session.apply(StepsCommand::SetDepth(Depth::Inside));
    session.apply(StepsCommand::SetByStage(true));
    session.apply(StepsCommand::GoTo(1));
    session.apply(StepsCommand::Move(1));
    assert_eq!((place(&session), session.steps().current()), ((2, Some(1)), Some("state")));
    assert!(session.steps().is_done("annotations") && !session.steps().is_done("alpha"));
    assert_eq!(rows(&session), Some(2), "the row is not there before its box is");
    let boxes = session.steps().stages().len();
    for _ in 1..boxes {
        session.apply(StepsCommand::Move(1));
    }
    assert_eq!((place(&session), rows(&session)), ((2, None), Some(3)));
    session.apply(StepsCommand::Move(-1));
    assert_eq!(place(&session), (2, Some(boxes - 1)));
    session.apply(StepsCommand::MoveWord(-5));
    session.apply(StepsCommand::Move(-1));
    assert_eq!(place(&session), (0, Some(boxes - 1)));
    session.apply(StepsCommand::GoTo(99));
    assert_eq!(place(&session).0, 2);
}

#[test]
fn the_class_chooses_words_and_takes_them_back() {
    let (mut session, _, _) = session();
    session.apply(StepsCommand::SetMode(Mode::Class));
    let (number, _) = asked(&mut session).pop().expect("asked");
    session.absorb_steps(StepsEvent { number, found: Ok(answer(&[], true)) });
    session.apply(StepsCommand::Say(9));
    let (number, request) = asked(&mut session).pop().expect("asked");
    assert_eq!(request.given, [9]);
    session.absorb_steps(StepsEvent { number, found: Ok(answer(&[9], true)) });
    assert_eq!(session.steps().i, 1, "the next step waits");
    session.apply(StepsCommand::GoTo(0));
    session.apply(StepsCommand::Say(8));
    assert_eq!(session.steps().class, [8], "words after it are forgotten");
    session.apply(StepsCommand::TakeBack);
    assert_eq!(asked(&mut session).pop().expect("asked").1.given, Vec::<u32>::new());
    // A candidate of the translation that is shown keeps the words before it.
    session.apply(StepsCommand::SetMode(Mode::Shown));
    let (number, _) = asked(&mut session).pop().expect("asked");
    session.absorb_steps(StepsEvent { number, found: Ok(answer(&[8, 9, 0], false)) });
    session.apply(StepsCommand::GoTo(1));
    session.apply(StepsCommand::Say(7));
    assert_eq!((session.steps().mode, &session.steps().class[..]), (Mode::Class, &[8, 7][..]));
    // Another sentence is another story.
    session.apply(StepsCommand::Say(9));
    session.apply(SourceCommand::Replace("house".to_owned()));
    finish(&mut session, "house", &[9, 0]);
    assert!(session.steps().class.is_empty());
}

#[test]
fn a_guess_hides_the_row_and_is_counted_once() {
    let (mut session, _) = answered();
    session.apply(StepsCommand::SetGuessing(Some(Guessed::Row)));
    let rows = |session: &Session| session.steps().table.as_ref().map(|table| table.target.len());
    assert!(session.steps().hides(Guessed::Row, 0) && rows(&session) == Some(0));
    session.apply(StepsCommand::Guess(1));
    session.apply(StepsCommand::Guess(2));
    session.apply(StepsCommand::Guess(2));
    session.apply(StepsCommand::Reveal);
    session.apply(StepsCommand::Reveal);
    session.apply(StepsCommand::Guess(0));
    let guessing = session.steps().guessing.clone().expect("it is on");
    assert!(guessing.is_revealed && guessing.words.iter().eq(&[1]) && rows(&session) == Some(1));
    assert_eq!((guessing.score.steps, guessing.score.model), (1, 1));
    assert!((guessing.score.mass - 0.7).abs() < 1e-6);
    session.apply(StepsCommand::Move(1));
    assert!(session.steps().hides(Guessed::Row, 1) && rows(&session) == Some(1), "the next one is hidden again");
    session.apply(StepsCommand::Guess(0));
    session.apply(StepsCommand::Reveal);
    let score = session.steps().guessing.as_ref().expect("on").score;
    assert_eq!((score.steps, score.model), (2, 1));
    assert!((score.mass - 0.9).abs() < 1e-6);
    // One move on shows the step first, and goes on then.
    session.apply(StepsCommand::MoveWord(1));
    session.apply(StepsCommand::Move(1));
    assert_eq!((session.steps().i, session.steps().hides(Guessed::Row, 2)), (2, false));
    assert_eq!(session.steps().guessing.as_ref().map(|guessing| guessing.score.steps), Some(2), "no guess, no point");
    // Another way to choose the words begins with a guess, too.
    session.apply(StepsCommand::SetMode(Mode::Greedy));
    assert!(session.steps().hides(Guessed::Row, 0));
    session.apply(StepsCommand::SetGuessing(None));
    assert!(!session.steps().hides(Guessed::Row, 0));
}

#[test]
fn the_whole_alignment_is_guessed_at_once() {
    let (mut session, _) = answered();
    session.apply(StepsCommand::MoveWord(2));
    session.apply(StepsCommand::SetGuessing(Some(Guessed::Whole)));
    let table = |session: &Session| session.steps().table.clone().expect("rows");
    let alpha = |session: &Session| table(session).alpha.clone().expect("it aligns").weights().to_vec();
    assert!((0..3).all(|i| session.steps().hides(Guessed::Row, i)), "earlier rows as well");
    assert!(alpha(&session).len() == 9 && alpha(&session).iter().all(|alpha| *alpha == 0.0), "nothing leaks");
    let link = |source: usize, target: usize| Link { source, target };
    for guess in [link(1, 0), link(0, 1), link(2, 1), link(2, 1), link(2, 2)] {
        session.apply(StepsCommand::GuessLink(guess));
    }
    assert_eq!(
        table(&session).links.as_ref().map(|links| links.sure().to_vec()),
        Some(vec![link(0, 1), link(1, 0), link(2, 2)])
    );
    // Going to another step loses no guess; showing counts and shows.
    session.apply(StepsCommand::GoTo(0));
    session.apply(StepsCommand::Move(1));
    let guessing = session.steps().guessing.clone().expect("it is on");
    assert!(guessing.is_revealed && session.steps().i == 0, "shown before it goes on");
    assert_eq!(alpha(&session), [0.2, 0.7, 0.1].repeat(3));
    let compared = guessing.compared.expect("it was guessed");
    let counts = |counts: AerCounts| (counts.found, counts.sure, counts.found_sure);
    // The model: red to the first, house to the second; `</s>` of neither side counts.
    assert_eq!((counts(compared.model), compared.aligner), ((2, 2, 1), None));
    assert!((f1(&compared.model) - 0.5).abs() < 1e-6);
    session.apply(StepsCommand::GuessLink(link(1, 1)));
    assert_eq!(session.steps().guessing.as_ref().map(|guessing| guessing.links.len()), Some(3), "too late");

    // The aligner's links are asked for though they are not shown.
    let question = session.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Chore(FileJob::Align { number, .. }) => Some(number),
        _ => None,
    });
    let links = Links::new(vec![link(0, 0)], vec![link(1, 0), link(1, 1)]);
    session.absorb_file(FileEvent::Aligned { number: question.expect("a question"), links });
    assert_eq!(session.nth(0).table.as_ref().and_then(|table| table.links.as_ref()), None, "nobody shows them");
    session.apply(StepsCommand::SetGuessing(Some(Guessed::Whole)));
    session.apply(StepsCommand::GuessLink(link(1, 0)));
    session.apply(StepsCommand::Reveal);
    let compared = session.steps().guessing.as_ref().and_then(|guessing| guessing.compared).expect("compared");
    assert_eq!(compared.aligner.map(counts), Some((1, 3, 1)));
    assert_eq!(compared.model_to_aligner.map(counts), Some((2, 3, 2)));

    // Another way to choose the words begins anew.
    session.apply(StepsCommand::SetMode(Mode::Greedy));
    let guessing = session.steps().guessing.as_ref().expect("on");
    assert!(guessing.links.is_empty() && !guessing.is_revealed && guessing.compared.is_none());
}

#[test]
fn a_word_is_guessed_among_the_candidates_or_typed() {
    let (mut session, _, requests) = session();
    session.absorb_steps(StepsEvent { number: requests[0].0, found: Ok(answer(&[8, 9, 7], false)) });
    session.apply(StepsCommand::SetGuessing(Some(Guessed::Word)));
    let last = |session: &Session| {
        let table = session.steps().table.clone().expect("rows");
        table.target.last().map(|word| (word.text.clone(), word.candidates.len()))
    };
    assert!(session.steps().hides(Guessed::Word, 0) && !session.steps().hides(Guessed::Row, 0));
    assert_eq!(last(&session), Some(("?".to_owned(), 0)), "the row is there, its word is not");
    assert_eq!(session.steps().options(), ["t8", "t9"]);
    session.apply(StepsCommand::GuessWord(" T8 ".to_owned()));
    session.apply(StepsCommand::Move(1));
    assert_eq!((session.steps().i, last(&session)), (0, Some(("t8".to_owned(), 2))), "shown before it goes on");
    session.apply(StepsCommand::GuessWord("t9".to_owned()));
    let score = |session: &Session| session.steps().guessing.as_ref().expect("on").score;
    assert_eq!((score(&session).steps, score(&session).model, score(&session).among), (1, 1, 1));
    assert!((score(&session).mass - (-0.1_f32).exp()).abs() < 1e-6);

    // The third word is none of the candidates, but it is among those to click.
    session.apply(StepsCommand::MoveWord(2));
    assert_eq!(session.steps().options(), ["t7", "t8"]);
    session.apply(StepsCommand::GuessWord("another".to_owned()));
    session.apply(StepsCommand::Reveal);
    assert_eq!((score(&session).steps, score(&session).model, score(&session).among), (2, 1, 1));
    // Nothing but spaces is no guess and is not counted.
    session.apply(StepsCommand::MoveWord(-1));
    session.apply(StepsCommand::GuessWord("  ".to_owned()));
    session.apply(StepsCommand::Reveal);
    assert_eq!(score(&session).steps, 2);
}

#[test]
fn the_beam_of_a_step_knows_what_fell_out_and_the_path() {
    let (mut session, column, _) = session();
    session.apply(SearchCommand::SetBeam(2));
    session.take_effects();
    finish(&mut session, "red house", &[8, 9, 0]);
    let number = session.app().tasks.newest;
    let node = |id, parent, step: usize, token, total: f32, fate| {
        node(id, (parent, step), token, [total / (step + 1) as f32, total], fate)
    };
    let nodes = vec![
        node(0, None, 0, 8, -0.5, NodeFate::Alive),
        node(1, None, 0, 9, -1.0, NodeFate::Pruned),
        node(2, None, 0, 7, -3.0, NodeFate::Pruned),
        node(3, Some(0), 1, 0, -1.5, NodeFate::Finished),
        node(4, Some(0), 1, 9, -2.0, NodeFate::Alive),
        node(5, Some(4), 2, 7, -2.1, NodeFate::Alive),
        node(6, Some(4), 2, 0, -2.2, NodeFate::Pruned),
    ];
    let words = [(0, "</s>"), (7, "t7"), (8, "t8"), (9, "t9")].map(|(id, word)| (id, word.to_owned())).into();
    let result = ColumnResult { nodes, words, ..ColumnResult::default() };
    session.absorb(Event::Finished { number, column, result });
    let column = session.nth(0);
    let trace = answer(&[8, 9, 7], false);
    let lines = |i: usize| -> Vec<(String, Became, bool)> {
        let text =
            |words: &[(Cow<'_, str>, f32)]| words.iter().map(|(word, _)| word.as_ref()).collect::<Vec<_>>().join(" ");
        beam(column, &trace, i).iter().map(|line| (text(&line.words), line.became, line.is_path)).collect()
    };
    let own = |text: &str, became, is_path| (text.to_owned(), became, is_path);
    assert_eq!(
        lines(0),
        [own("t8", Became::Kept, true), own("t9", Became::Kept, false), own("t7", Became::FellOut, false)]
    );
    assert_eq!(lines(1), [own("t8 </s>", Became::Finished, false), own("t8 t9", Became::Kept, true)]);
    // one has ended, so one place is left
    assert_eq!(lines(2), [own("t8 t9 t7", Became::Kept, true), own("t8 t9 </s>", Became::FellOut, false)]);
    assert!(lines(3).is_empty());
}

#[test]
fn the_model_follows_the_framed_tab_and_the_next_one_is_no_variant() {
    let (mut session, column, _) = session();
    session.apply(ColumnCommand::Add("other".into()));
    let shown = |session: &Session| session.steps().column(session.app()).map(|column| column.system.clone());
    let other = session.nth(1).id;
    session.apply(VariantCommand::Text { column, text: "the red house".to_owned() });
    assert!(session.app().document.columns.iter().any(|column| column.variant.is_some()), "a variant stands there");
    session.apply(SelectCommand::Column(column));
    assert_eq!(shown(&session), Some("model".into()));
    session.apply(SelectCommand::MoveColumn(1));
    assert_eq!(
        (shown(&session), session.app().selected_column().map(|column| column.id)),
        (Some("other".into()), Some(other))
    );
    session.apply(SelectCommand::MoveColumn(1));
    assert!(session.app().selected_column().is_some_and(|column| column.variant.is_none()));
    assert_eq!(
        session.app().selected_column().map(|column| column.id),
        session.steps().column(session.app()).map(|of| of.id)
    );
}

#[test]
fn the_lane_takes_a_translation_apart_and_says_what_is_wrong() {
    let lane = StepsThread::spawn(Library::new(1), Arc::new(|| {}));
    let request = StepsRequest {
        model: reference("rnnsearch").into(),
        device: DeviceChoice::Cpu,
        source: "s9 s31".to_owned(),
        then: Then::Greedy,
        ..StepsRequest::default()
    };
    lane.submit(1, request.clone());
    let event = lane.news.next_within(PATIENCE).expect("an answer");
    let trace = event.found.expect("steps");
    assert_eq!((event.number, trace.source.len(), trace.aligns), (1, 3, true));
    assert_eq!(trace.words.len(), trace.steps.len());
    for (i, step) in trace.steps.iter().enumerate() {
        assert_eq!(trace.said(i), Some(trace.candidates(i)[0].as_str()), "greedy says the best");
        assert_eq!(step.alpha_i.as_ref().map(Vec::len), Some(3));
    }
    let named = |name: &str| trace.matrices.iter().any(|matrix| matrix.name == name);
    assert!(named("attention.W_a") && named("readout.W_o") && named("target_embedding"));
    assert!(trace.part("annotations", 0).is_some() && trace.part("next", 0).is_some());
    lane.submit(2, StepsRequest { wrong: Some(Miswiring::BlindWeights), ..request.clone() });
    let wrong = lane.news.next_within(PATIENCE).expect("an answer").found.expect("steps");
    assert!(wrong.wrong.is_some() && wrong.steps[0].alpha_i != trace.steps[0].alpha_i);
    lane.submit(7, StepsRequest { wrong: Some(Miswiring::Untrained), ..request.clone() });
    let fresh = lane.news.next_within(PATIENCE).expect("an answer").found.expect("steps");
    assert!(fresh.matrices != trace.matrices, "the pictures are of the random numbers");
    assert_eq!(fresh.machine, trace.machine, "it is wired as in the paper");
    for (number, request, expected) in [
        (3, StepsRequest { model: "no/such/model".into(), ..request.clone() }, "no/such/model"),
        (4, StepsRequest { source: "  ".to_owned(), ..request.clone() }, "no words"),
        (5, StepsRequest { source: "s9 ".repeat(500), ..request.clone() }, "taken apart"),
        (6, StepsRequest { given: vec![99_999], ..request }, "99999"),
    ] {
        lane.submit(number, request);
        let event = lane.news.next_within(PATIENCE).expect("an answer");
        assert_eq!(event.number, number);
        assert!(event.found.is_err_and(|message| message.contains(expected)), "{expected}");
    }
}
