//! What is shown as a link: what goes in comes out, and what is no link is told in a sentence.

use std::path::{Path, PathBuf};
use std::{io::Write as _, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use flate2::{Compression, write::ZlibEncoder};
use interlinear::analysis::row_convention::RowConvention;
use interlinear::app::command::{SourceCommand, WindowCommand};
use interlinear::app::document::sentence_state::{Owned, SearchChange, SearchSettings, Variant};
use interlinear::app::layout::{Layout, Look};
use interlinear::app::settings::{RowSource, Settings};
use interlinear::interventions::{Force, Interventions, Word};
use interlinear::pages::map::{Colour, METHODS, PointChoice};
use interlinear::pages::steps::{GUESSES, MODES};
use interlinear::pages::steps::{command::StepsCommand, depth::DEPTHS};
use interlinear::pages::{lesson::LessonCommand, map::command::MapCommand, sentence::command::SelectCommand};
use interlinear::session::{link::ShownLink, persist::SavedSession, state::Session};
use interlinear::{app::open_with::Installed, app::open_with::OpenWith, decoding::SystemSpec, models::anatomy::WRONGS};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::effects::Shows as _;

const MODELS: [&str; 3] = ["first-en-fr", "second-en-fr", "third-en-fr"];

fn folders(place: &str) -> Vec<PathBuf> {
    MODELS.iter().map(|name| Path::new(place).join(name)).collect()
}

fn installed(place: &str) -> Vec<Installed> {
    folders(place).into_iter().map(Installed::from).collect()
}

fn forced(text: &str, folders: &[PathBuf]) -> Owned {
    let force = vec![Force { i: 0, word: Word::Typed(text.to_owned()), held: false }];
    Owned {
        models: folders.iter().map(Into::into).collect(),
        interventions: Arc::new(Interventions { force, ..Interventions::default() }),
    }
}

fn state(number: u64) -> SavedSession {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let texts = [
        "",
        "The red house",
        "a \"quoted\" # sign.",
        "L'été à Noël, ça va ?",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} 世界 🦊",
        "word\n\tword",
    ];
    let mut pick = |count: usize| random.random_range(0..count);
    let places = folders("/somewhere/models");
    let columns = (0..pick(4)).map(|_| SystemSpec::from(&places[pick(3)])).collect();
    SavedSession {
        source: Some(texts[1 + pick(5)].repeat(1 + 40 * pick(2))),
        given: (pick(2) == 0).then(|| texts[pick(6)].to_owned()),
        columns: Some(columns),
        interventions: (0..pick(3)).map(|at| forced(texts[1 + pick(5)], &places[at..=at])).collect(),
        variants: (0..pick(3))
            .map(|at| Variant {
                models: places[at..=at].iter().map(Into::into).collect(),
                search: SearchChange { beam: Some(1 + pick(50)), ..SearchChange::default() },
                source: (pick(2) == 0).then(|| texts[1 + pick(5)].to_owned()),
                ..Variant::default()
            })
            .collect(),
        search: SearchSettings {
            beam: 1 + pick(50),
            length_normalization: pick(21) as f32 / 10.0,
            forbid_unk: pick(2) == 0,
            allow_unk: pick(2) == 0,
        },
        page: ["sentence", "map", "steps"][pick(3)].to_owned(),
        layout: Layout { look: [Look::Heatmap, Look::Links, Look::Tree][pick(3)], ..Layout::default() },
        settings: Settings {
            unk_replacement: pick(2) == 0,
            reading: [None, Some(RowConvention::Head)][pick(2)],
            asked: RowSource { origin: pick(2) == 0, both: false },
            pieces: pick(2) == 0,
            ..Settings::default()
        },
        ..SavedSession::default()
    }
}

pub fn packed(json: &str) -> String {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(json.as_bytes()).expect("in memory");
    format!("#v1.{}", URL_SAFE_NO_PAD.encode(packed.finish().expect("in memory")))
}

fn sentence(text: &str) -> String {
    ShownLink::read(text).expect_err("it is no link").to_string()
}

fn opened(place: &str) -> Session {
    Session::start(None, &OpenWith { bundled: installed(place), opening: folders(place), ..OpenWith::default() })
}

#[test]
fn what_goes_into_a_link_comes_out_of_it() {
    for number in 0..300 {
        let lesson = (number % 3 == 0).then(|| ("soft-hard".to_owned(), number as usize % 7));
        let link = ShownLink::new(state(number), lesson);
        let text = link.text().expect("it is text");
        assert!(text[1..].bytes().all(|letter| letter.is_ascii_alphanumeric() || b".-_".contains(&letter)), "{text}");
        for around in [text.clone(), format!("https://example.org/a/?b#{text}"), format!("  {text}\n")] {
            let around = around.replace("##", "#");
            assert_eq!(ShownLink::read(&around).expect("it is a link"), link, "state {number}");
        }
        let (placed, missing) = ShownLink::read(&text).expect("it is a link").placed(&installed("/elsewhere"), None);
        assert_eq!(missing, [""; 0]);
        let places = placed.state.columns.into_iter().flatten().flat_map(|system| system.members);
        assert!(places.into_iter().all(|model| model.folder.starts_with("/elsewhere")));
    }
}

fn look(session: &mut Session, number: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let mut pick = |count: usize| random.random_range(0..count);
    let columns = session.ids();
    if pick(2) == 0 {
        session.apply(SelectCommand::Column(columns[pick(3)]));
    }
    let wrong = WRONGS.get(pick(WRONGS.len() + 1)).map(|entry| entry.wrong);
    let guess = GUESSES.get(pick(GUESSES.len() + 1)).map(|entry| entry.value);
    for command in [
        StepsCommand::SetMode(MODES[pick(3)].value),
        StepsCommand::SetDepth(DEPTHS[pick(3)].value),
        StepsCommand::SetWrong(wrong),
        StepsCommand::SetGuessing(guess),
        StepsCommand::SetByStage(pick(2) == 0),
        StepsCommand::SetBeam(pick(2) == 0),
    ] {
        session.apply(command);
    }
    if pick(3) > 0 {
        session.apply(MapCommand::SetModel((&folders("/there")[pick(3)]).into()));
        session.apply(MapCommand::SetChoice(PointChoice::ALL[pick(5)].0));
        session.apply(MapCommand::SetCount(10 + pick(3000)));
        session.apply(MapCommand::SetMethod(METHODS[pick(METHODS.len())].method));
        session.apply(MapCommand::SetPerplexity(2.0 + pick(90) as f32 / 3.0));
        session.apply(MapCommand::SetColour([Colour::Rank, Colour::Length][pick(2)]));
        session.apply(MapCommand::SetTyped("the old house\n\nL'été 🦊".to_owned()));
        session.apply(MapCommand::Search(["", "house"][pick(2)].to_owned()));
    }
    if pick(2) == 0 {
        session.apply(MapCommand::Compute);
    }
}

#[test]
fn what_the_pages_show_goes_into_a_link_and_comes_out_of_it() {
    for number in 0..60 {
        let mut there = opened("/there");
        look(&mut there, number);
        let link = there.link().expect("it is text");
        let mut here = opened("/here");
        look(&mut here, number + 1000);
        here.apply(WindowCommand::OpenLink(link.clone()));
        assert_eq!(here.link().expect("it is text"), link, "{:?}", ShownLink::read(&link));
    }
}

#[test]
fn the_selected_column_is_the_same_where_another_model_is_missing() {
    let mut there = opened("/there");
    let columns = there.ids();
    for (selected, here) in [(2, Some(folders("/here")[2].clone())), (0, None)] {
        there.apply(SelectCommand::Column(columns[selected]));
        let with = OpenWith {
            bundled: installed("/here").split_off(1),
            link: Some(there.link().expect("it is text")),
            ..OpenWith::default()
        };
        let session = Session::start(None, &with);
        let id = session.app().view.selection.column;
        let folder = id.and_then(|id| session.app().document.column(id)).map(|column| column.system.clone());
        assert_eq!((session.app().document.columns.len(), folder), (2, here.map(Into::into)));
    }
}

#[test]
fn a_link_holds_nothing_of_the_person_who_made_it() {
    let mut mine = state(1);
    mine.translated = vec!["my secret sentence".to_owned()];
    mine.settings.zoom = 2.0;
    mine.settings.site = Some("https://example.org/".to_owned());
    let link = ShownLink::new(mine, None);
    let told = serde_json::to_string(&link).expect("it is text");
    for own in ["secret", "somewhere", "example.org"] {
        assert!(!told.contains(own), "{own}: {told}");
    }
    assert_eq!(link.state.settings.zoom, 1.0);
}

#[test]
fn a_damaged_link_and_one_of_a_newer_version_are_told() {
    let text = ShownLink::new(state(7), None).text().expect("it is text");
    for cut in 0..text.len() {
        assert!(ShownLink::read(&text[..cut]).is_err(), "{cut} letters of {text}");
    }
    let link = ShownLink::read(&text).expect("it is a link");
    for at in "#v1.".len()..text.len() {
        let other = if &text[at..=at] == "A" { "B" } else { "A" };
        let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        // the last letter has bits that mean nothing
        assert!(ShownLink::read(&changed).map_or(true, |read| read == link), "letter {at} of {text}");
    }
    for damaged in
        ["", "#", "#v1", "#v1.", "#v.x", "https://example.org/", "#v1.====", &packed("[]"), &packed("{\"source\": 3}")]
    {
        assert!(sentence(damaged).contains("damaged"), "{damaged}: {}", sentence(damaged));
    }
    assert!(sentence(&packed(&" ".repeat(20 << 20))).contains("damaged"));
    let many = |key: &str, one: &str, count: usize| packed(&format!("{{\"{key}\": [{}]}}", vec![one; count].join(",")));
    for bomb in [
        many("columns", "{}", 1),
        many("columns", "{}", 1_000_000),
        many("columns", "\"first-en-fr\"", 65),
        many("interventions", "{}", 100_000),
        many("variants", "{}", 65),
        packed(&format!("{{\"columns\": [{{\"members\": [{}]}}]}}", vec!["\"first-en-fr\""; 65].join(","))),
        packed(&format!("{{\"pages\": {{\"steps\": [{}0]}}}}", "0,".repeat(10_000))),
    ] {
        assert!(sentence(&bomb).contains("damaged"), "{} letters", bomb.len());
    }
    for newer in [text.replace("#v1.", "#v2."), "#v17.anything".to_owned(), "#v99999999999999.x".to_owned()] {
        assert!(sentence(&newer).contains("newer Interlinear; update"), "{newer}");
    }
}

#[test]
fn a_link_of_before_models_were_called_so_keeps_what_was_set() {
    let text = r#"{"interventions": [{"folders": ["first-en-fr"], "set": {"version": 1, "force": [{"position": 1, "word": {"text": "une"}}]}}],
        "variants": [{"folders": ["first-en-fr"], "beam": 3}]}"#;
    let state: SavedSession = serde_json::from_str(text).expect("a state");
    assert_eq!(state.interventions, [forced("une", &[PathBuf::from("first-en-fr")])]);
    assert_eq!(state.variants[0].models, state.interventions[0].models);
}

#[test]
fn a_link_names_models_and_leads_to_no_folder() {
    for path in ["../secret", "/etc", "a/b", "..", "", "a\\\\b", "https://example.org/model"] {
        let text = packed(&format!("{{\"columns\": [\"{path}\"]}}"));
        assert!(sentence(&text).contains("damaged"), "{path}");
    }
    let text = packed("{\"source\": \"a house\", \"columns\": [\"first-en-fr\", \"nobody\", \"second-en-fr@6.1\"]}");
    let (link, missing) = ShownLink::read(&text).expect("it is a link").placed(&installed("/here"), None);
    let here = ["/here/first-en-fr", "/here/second-en-fr@6.1"].map(SystemSpec::from);
    assert_eq!((link.state.columns, missing), (Some(here.to_vec()), vec!["nobody".to_owned()]));
}

#[test]
fn a_link_opens_on_another_desk_as_it_was_and_can_be_undone() {
    let mut there = Session::start(Some(state(11)), &OpenWith { bundled: installed("/there"), ..OpenWith::default() });
    there.apply(SourceCommand::Edit("The old man reads".to_owned()));
    let text = there.link().expect("it is text");
    let kept = |session: &Session| ShownLink::new(session.saved(), None);

    let mut here = opened("/here");
    let before = here.source().to_owned();
    here.apply(WindowCommand::Open(format!("https://example.org/{text}").into()));
    assert_eq!(kept(&here), kept(&there));
    let columns = &here.app().document.columns;
    assert!(columns.iter().all(|column| column.system.to_string().starts_with("/here")));
    here.apply(SourceCommand::Undo);
    assert_eq!(here.source(), before);

    // at the start too
    let with = OpenWith { bundled: installed("/here"), link: Some(text), ..OpenWith::default() };
    assert_eq!(kept(&Session::start(Some(state(2)), &with)), kept(&there));
}

#[test]
fn a_link_leads_to_the_page_of_a_lesson_and_a_bad_one_changes_nothing() {
    let mut there = opened("/there");
    let key = there.lessons().shelf().next().expect("there are lessons").key.clone();
    there.apply(LessonCommand::Open(key.clone()));
    there.apply(LessonCommand::Turn(2));
    let mut here = opened("/here");
    here.apply(WindowCommand::OpenLink(there.link().expect("it is text")));
    let open = here.lessons().open().expect("the lesson is open");
    assert_eq!((open.key.as_str(), open.page), (key.as_str(), 2));

    let mut here = opened("/here");
    let before = here.saved();
    for bad in ["#v9.x", "#v1.x", &packed("{\"lesson\": \"nobody\"}")] {
        here.apply(WindowCommand::OpenLink(bad.to_owned()));
        assert!(here.has_error(""), "{bad}");
    }
    assert_eq!(here.saved().source, before.source);
    assert_eq!(here.saved().columns, before.columns);
}

#[test]
fn links_begin_with_the_address_of_a_site_where_one_is_known() {
    let with = OpenWith { site: Some("https://example.org/class/".to_owned()), ..OpenWith::default() };
    let session = Session::start(None, &with);
    assert!(session.link().expect("it is text").starts_with("https://example.org/class/#v1."));
    assert_eq!(session.saved().settings.site, with.site);
    assert!(opened("/here").link().expect("it is text").starts_with("#v1."));
}
