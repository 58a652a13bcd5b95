//! Maps behind the window, from the order to what the page knows.

use std::{path::Path, sync::Arc, time::Duration};

use interlinear::app::command::{SourceCommand, TaskCommand, WindowCommand};
use interlinear::app::{files::work::FileJob, open_with::Installed, tasks::QueueCall};
use interlinear::jobs::live::protocol::{Event, ModelFacts};
use interlinear::jobs::queue::{JobQueue, QueueNews};
use interlinear::jobs::{Library, gate::ForegroundGate};
use interlinear::pages::map::{Colour, MAP, MapTable, Method, PointChoice, PointKind as Things, VectorMap};
use interlinear::pages::{map as maps, map::command::MapCommand, sentence::command::ColumnCommand};
use interlinear::session::{driver::OpenWith, link::ShownLink, state::Session};

use crate::cli::reference;
use crate::effects::{Shows as _, chores, lane_calls};

const PATIENCE: Duration = Duration::from_mins(1);

struct Desk {
    session: Session,
    lane: JobQueue,
}

impl Desk {
    fn new(model: &str) -> Self {
        let session = Session::start(None, &OpenWith { models: vec![reference(model).into()], ..OpenWith::default() });
        Self::of(session)
    }

    fn opening(model: &str, link: &str) -> Self {
        let bundled = vec![Installed::from(reference(model))];
        Self::of(Session::start(None, &OpenWith { bundled, link: Some(link.to_owned()), ..OpenWith::default() }))
    }

    fn of(session: Session) -> Self {
        Self { session, lane: JobQueue::spawn(Library::new(1), ForegroundGate::new(), Arc::new(|| {})) }
    }

    fn send(&mut self, command: MapCommand) {
        self.session.apply(command);
        self.pass_on();
    }

    fn pass_on(&mut self) {
        for call in lane_calls(&mut self.session) {
            match call {
                QueueCall::Submit(number, order) => self.lane.submit(number, order),
                QueueCall::Cancel(number) => self.lane.cancel(number),
                QueueCall::Pause(number, is_paused) => self.lane.pause(number, is_paused),
            }
        }
    }

    fn settle(&mut self) {
        while self.session.maps().task.is_some() {
            let event = self.lane.news.next_within(PATIENCE).expect("every order ends");
            self.session.absorb_job(event);
        }
    }

    fn compute(&mut self, choice: PointChoice, method: Method) -> Arc<VectorMap> {
        self.send(MapCommand::SetChoice(choice));
        self.send(MapCommand::SetMethod(method));
        self.send(MapCommand::Compute);
        self.settle();
        assert_eq!(self.session.maps().message, None);
        self.session.maps().chart.clone().expect("a map")
    }

    fn refusal(&mut self, choice: PointChoice) -> String {
        self.send(MapCommand::SetChoice(choice));
        self.send(MapCommand::Compute);
        self.settle();
        self.session.maps().message.clone().expect("a sentence")
    }
}

#[test]
fn words_are_mapped_and_the_rest_of_the_vocabulary_is_known() {
    let mut desk = Desk::new("rnnsearch");
    desk.send(MapCommand::SetCount(1));
    let chart = desk.compute(PointChoice::SourceWords, Method::Pca);
    let drawn = maps::COUNTS.0.min(chart.points.len());
    assert_eq!((chart.layout.places.len(), chart.space.len()), (drawn, chart.points.len()));
    assert_eq!((chart.kind, chart.points[0].number), (Things::SourceWords, 1), "</s> is left out");
    assert!(chart.layout.explained.is_some());
    let target = desk.compute(PointChoice::TargetWords, Method::Tsne);
    assert_eq!((target.kind, target.vector.as_str()), (Things::TargetWords, "target embedding"));
    assert!(target.layout.perplexity.is_some_and(|perplexity| perplexity <= 3.0));
}

#[test]
fn phrases_and_annotations_are_mapped() {
    let mut desk = Desk::new("rnnsearch");
    let list = desk.compute(PointChoice::List, Method::Pca);
    assert_eq!((list.kind, list.points[0].number), (Things::Phrases, 1));
    assert_eq!(list.points[1].text, desk.session.app().lists.sentence(1).expect("an example"));
    desk.send(MapCommand::SetTyped("one two\n\n  three  \n".to_owned()));
    let typed = desk.compute(PointChoice::Typed, Method::Pca);
    let known: Vec<_> = typed.points.iter().map(|point| (point.text.as_str(), point.number, point.length)).collect();
    assert_eq!(known, [("one two", 1, 2), ("three", 3, 1)]);
    desk.session.apply(SourceCommand::Replace("a b c d".to_owned()));
    let annotations = desk.compute(PointChoice::Annotations, Method::Pca);
    let words: Vec<&str> = annotations.points.iter().map(|point| point.text.as_str()).collect();
    assert_eq!((annotations.kind, words), (Things::Annotations, vec!["a", "b", "c", "d", "</s>"]));
}

#[test]
fn a_link_makes_the_same_map_with_the_same_point() {
    let mut desk = Desk::new("rnnsearch");
    desk.session.apply(SourceCommand::Replace("a b a d".to_owned()));
    desk.compute(PointChoice::Annotations, Method::Pca);
    desk.send(MapCommand::Search("a".to_owned()));
    desk.send(MapCommand::Select(Some(2)));
    desk.session.apply(WindowCommand::ShowPage(MAP));
    let link = desk.session.link().expect("it is text");

    let mut other = Desk::opening("rnnsearch", &link);
    other.pass_on();
    assert_eq!(other.session.maps().task, None, "its model is not there yet");
    let column = other.session.nth(0).id;
    other.session.absorb(Event::Loaded { column, facts: ModelFacts::default() });
    other.pass_on();
    assert!(other.session.maps().task.is_some());
    assert_eq!(other.session.link().expect("it is text"), link);
    other.settle();
    let shown = |desk: &Desk| {
        let maps = desk.session.maps();
        (maps.chart.clone(), maps.selected, maps.matches.clone(), maps.neighbours.clone())
    };
    assert_eq!(shown(&other), shown(&desk));
    assert_eq!((other.session.maps().selected, other.session.link().expect("it is text")), (Some(2), link));
}

#[test]
fn the_lines_of_a_list_stay_where_they_are() {
    let mut desk = Desk::new("rnnsearch");
    desk.compute(PointChoice::List, Method::Pca);
    desk.send(MapCommand::SetTyped("mine".to_owned()));
    desk.send(MapCommand::Select(Some(0)));
    desk.session.apply(WindowCommand::ShowPage(MAP));
    let link = ShownLink::read(&desk.session.link().expect("it is text")).expect("a link");
    assert_eq!(link.pages.get("maps"), Some(&serde_json::json!({ "choice": "list", "method": "pca" })));
}

#[test]
fn what_cannot_be_mapped_is_a_sentence_and_the_last_map_stays() {
    let mut desk = Desk::new("rnnencdec");
    let chart = desk.compute(PointChoice::SourceWords, Method::Pca);
    assert!(desk.refusal(PointChoice::Annotations).contains("keeps no annotations"));
    assert!(desk.refusal(PointChoice::Typed).contains("no phrase to map"));
    assert_eq!(desk.session.maps().chart, Some(chart));
    desk.send(MapCommand::DismissMessage);
    assert_eq!(desk.session.maps().message, None);
    let columns = desk.session.ids();
    for column in columns {
        desk.session.apply(ColumnCommand::Remove(column));
    }
    assert!(desk.refusal(PointChoice::SourceWords).contains("no model"));
}

#[test]
fn a_map_under_way_is_replaced_paused_and_cancelled() {
    let mut desk = Desk::new("rnnsearch");
    desk.send(MapCommand::SetMethod(Method::Tsne));
    desk.send(MapCommand::Compute);
    let first = desk.session.maps().task.expect("under way");
    desk.send(MapCommand::Compute);
    let second = desk.session.maps().task.expect("under way");
    assert_ne!(first, second);
    desk.session.apply(TaskCommand::Pause(second, true));
    desk.pass_on();
    desk.session.apply(TaskCommand::Cancel(second));
    desk.pass_on();
    assert_eq!((desk.session.maps().task, &desk.session.maps().chart), (None, &None));
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let event = desk.lane.news.next_within(PATIENCE).expect("both end");
        if !matches!(event.kind, QueueNews::Progress(_)) {
            assert_eq!(event.kind, QueueNews::Cancelled);
            ended.push(event.number);
        }
        assert!(!desk.session.absorb_job(event), "nothing is heard of it any more");
    }
    assert_eq!(ended, [first, second]);
}

#[test]
fn points_are_looked_up_selected_and_saved() {
    let mut desk = Desk::new("rnnsearch");
    desk.send(MapCommand::SetTyped("red house\nhouse\nblue tree\nHouse of glass".to_owned()));
    desk.compute(PointChoice::Typed, Method::Pca);
    desk.send(MapCommand::Search("HOUSE ".to_owned()));
    assert_eq!(desk.session.maps().matches, [1, 0, 3], "the whole phrase first");
    for (by, selected) in [(1, 1), (1, 0), (-1, 1), (-1, 3), (1, 1)] {
        desk.send(MapCommand::MoveMatch(by));
        assert_eq!(desk.session.maps().selected, Some(selected));
    }
    let near: Vec<usize> = desk.session.maps().neighbours.iter().map(|near| near.index).collect();
    assert!(near.len() == 3 && !near.contains(&1));
    let tsv = desk.session.maps().tsv(MapTable::Neighbours).expect("a table");
    assert!(tsv.starts_with("query\tneighbour\tcosine\tline\nhouse\t") && tsv.lines().count() == 4, "{tsv}");
    let points = desk.session.maps().tsv(MapTable::Points).expect("a table");
    assert!(points.starts_with("x\ty\tline\tlength\ttext\n") && points.ends_with("\t3\tHouse of glass\n"), "{points}");
    desk.session.apply(MapCommand::Save(MapTable::Neighbours, "near.tsv".into()));
    assert!(chores(&mut desk.session).contains(&FileJob::Write { path: "near.tsv".into(), text: tsv }));
    // A new map keeps what was selected where it knows it.
    desk.send(MapCommand::SetTyped("blue tree\nhouse".to_owned()));
    desk.compute(PointChoice::Typed, Method::Pca);
    assert_eq!((desk.session.maps().selected, desk.session.maps().matches.as_slice()), (Some(1), &[1][..]));
    desk.send(MapCommand::Select(Some(99)));
    assert_eq!((desk.session.maps().selected, desk.session.maps().tsv(MapTable::Neighbours)), (None, None));
}

#[test]
fn settings_are_kept_between_starts_and_nonsense_is_mended() {
    let mut desk = Desk::new("rnnsearch");
    for command in [
        MapCommand::SetModel(reference("rnnsearch").into()),
        MapCommand::SetChoice(PointChoice::TargetWords),
        MapCommand::SetCount(500),
        MapCommand::SetMethod(Method::Pca),
        MapCommand::SetPerplexity(12.0),
        MapCommand::SetPerplexity(f32::NAN),
        MapCommand::SetColour(Colour::Length),
        MapCommand::SetTyped("some words".to_owned()),
    ] {
        let before = desk.session.app().revision;
        let changes = command != MapCommand::SetPerplexity(f32::NAN) && !format!("{command:?}").contains("NaN");
        desk.send(command);
        assert_eq!(desk.session.app().revision > before, changes);
    }
    let saved = desk.session.saved();
    let again = Session::start(Some(saved), &OpenWith::default());
    assert_eq!(again.maps(), desk.session.maps());
    assert_eq!(again.maps().model_of(again.app()), Some(&reference("rnnsearch").into()));
    desk.send(MapCommand::SetModel(Path::new("somewhere/else").into()));
    assert_eq!(
        desk.session.maps().model_of(desk.session.app()),
        Some(&reference("rnnsearch").into()),
        "only columns' models"
    );
    desk.send(MapCommand::SetCount(usize::MAX));
    desk.send(MapCommand::SetPerplexity(1e9));
    assert_eq!((desk.session.maps().count, desk.session.maps().perplexity), (maps::COUNTS.1, maps::PERPLEXITIES.1));
}
