//! Models of several target languages: the language is chosen once and for all, or typed; and what is longer than a model's
//! positions.

use std::path::{Path, PathBuf};

use interlinear::decoding::ensemble::{Ensemble, Mixing};
use interlinear::models::choice::{self, ModelChoice};
use interlinear::pages::sentence::command::ColumnCommand;
use interlinear::text::words::{SideWords, vocabulary_words};
use interlinear::{app::document::table::SourceWord, jobs::live::protocol::ModelFacts, jobs::live::serve::serve};
use interlinear::{
    jobs::models::store::Store, models::Model, models::transformer::sizes::Positions, nn::device::Device,
};
use interlinear::{session::driver::OpenWith, session::state::Session, text::tokenizer::Encode as _};

use crate::cli::{feed, run_in};
use crate::effects::{Shows as _, act};
use crate::{effects::without_models, folder::Folder, forever};

fn multi(choice: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/origins/mt-multi");
    PathBuf::from(format!("{}{choice}", path.display()))
}

fn load(choice: &str) -> Model {
    Model::load(multi(choice), &Device::cpu()).unwrap_or_else(|error| panic!("{choice}: {error}"))
}

#[test]
fn a_chosen_language_is_read_as_if_it_were_typed_and_has_no_place_in_the_text() {
    let (plain, chosen) = (load(""), load("@fra"));
    assert_eq!(plain.source.languages().collect::<Vec<_>>(), ["fra", "oci"]);
    assert_eq!((chosen.config.target_language.as_str(), chosen.config.name.as_str()), ("fra", "mt-multi @fra"));
    let text = "the red boat sails.";
    let (typed, led) = (plain.source.encode(&format!(">>fra<< {text}")), chosen.source.encode(text));
    assert_eq!((&led.ids, &led.tokens[0], &led.spans[0]), (&typed.ids, &typed.tokens[0], &(0..0)));
    assert_eq!(led.words(), plain.source.encode(text).words(), "it is no word of the text");
    let cut: Vec<&str> = text.split(' ').collect();
    assert_eq!(chosen.source.encode_words(&cut).ids[0], led.ids[0]);
    assert_eq!(chosen.source.encode_phrase(text, Some(0)), led.ids, "phrases are read so, too");
    assert_eq!(chosen.source.encode(&format!(">>oci<< {text}")), plain.source.encode(&format!(">>oci<< {text}")));
    assert_eq!(chosen.source.encode("").words(), 0);
    for pretokenized in [false, true] {
        let led = interlinear::text::line::encode(&chosen.source, text, pretokenized);
        let words = vocabulary_words(&chosen.source, &led, pretokenized);
        // the full stop of raw text is a word
        let count = cut.len() + 2 + usize::from(!pretokenized);
        assert_eq!((words[0].clone(), words.len()), (0..1, count), "{words:?}");
        let side = SideWords::of_sentence(&chosen.source, &led, text, pretokenized).expect("the same text");
        assert!(side.places.places[0].is_empty() && side.places.places[1] == (0..1), "{side:?}");
    }
    // where the text is missing, or a language
    assert!(plain.source.refuses(&plain.source.encode(text)).is_some_and(|why| why.contains("MODEL@fra")));
    assert_eq!(chosen.source.refuses(&led), None);
    assert_eq!(plain.source.refuses(&typed), None);
    assert!(plain.source.refuses(&plain.source.encode(">>deu<< the boat")).is_some(), "none of its languages");
    assert_eq!(plain.target.refuses(&plain.target.encode(text)), None, "a target names no language");
    for (choice, told) in [("@deu", "does not translate into deu, but into fra, oci"), ("@fra@9.1", "there is no @9.1")]
    {
        let why = Model::load(multi(choice), &Device::cpu()).expect_err("refused").to_string();
        assert!(why.contains(told), "{why}");
    }
    let both = load("@oci@1.2");
    assert_eq!(both.config.name, "mt-multi @oci@1.2");
    assert_eq!(both.config.transformer().map(|sizes| sizes.alignment_layer), Some(1));
    let ensemble = Ensemble::new(vec![load("@fra"), load("@fra")], Mixing::default()).expect("the same words");
    assert_eq!(ensemble.refuses(&ensemble.encode(text)), None);
}

#[test]
fn commands_take_a_language_behind_a_model() {
    let folder = Folder::new();
    let run = |model: &str, input: &str, format: &str| {
        let model = multi(model).display().to_string();
        feed(&folder, &["translate", "--model", &model, "--format", format], input.as_bytes())
    };
    let chosen = run("@oci", "the red boat sails.\n\n", "text");
    let typed = run("", ">>oci<< the red boat sails.\n\n", "text");
    assert_eq!((chosen.code, &chosen.stdout, chosen.stderr.as_str()), (0, &typed.stdout, ""), "{}", typed.stderr);
    let missing = run("", "the red boat sails.\n>>fra<< the boat\n", "text");
    assert_eq!((missing.code, missing.stdout.lines().count()), (2, 2));
    assert!(missing.stderr.contains("line 1") && missing.stderr.contains("`MODEL@fra`"), "{}", missing.stderr);
    // links count the words of the text
    let links = run("@fra", "the red boat sails.\n", "pharaoh").stdout;
    let sources = links.split_whitespace().filter_map(|link| link.split_once('-')?.0.parse::<usize>().ok());
    assert!(sources.clone().count() > 0 && sources.max().is_some_and(|most| most < 4), "{links}");
}

#[test]
fn a_language_that_the_model_does_not_have_is_answered_with_those_it_has() {
    let folder = multi("@deu").display().to_string();
    let asked = Model::load(Path::new(&folder), &Device::cpu()).expect_err("it has no German").to_string();
    assert!(asked.contains("does not translate into deu, but into fra, oci"), "{asked}");
    for choice in ["", "@fra"] {
        let model = load(choice);
        let typed = model.source.encode(">>deu<< the red boat sails.");
        let told = model.source.refuses(&typed).expect("it is refused");
        assert!(told.contains("begins with >>deu<<, and the model translates into fra, oci"), "{told}");
        assert_eq!(model.source.refuses(&model.source.encode(">>oci<< the red boat sails.")), None);
    }
}

#[test]
fn importing_a_model_with_a_choice_behind_it_says_what_to_do() {
    let out = Folder::new();
    let path = multi("@fra").display().to_string();
    let target = out.join("new").display().to_string();
    let ran = run_in(&out, &["import", &path, &target]);
    let told = ran.stderr;
    assert!(ran.code != 0 && told.contains("written whole, so `@fra` has no place behind it"), "{told}");
    assert!(told.contains("as OUT@fra"), "{told}");
}

#[test]
fn a_column_says_its_language_apart_from_the_text_and_keeps_it() {
    let (_folder, path) = Folder::and_path("state.json");
    let mut session = without_models("the red boat sails.");
    let mut store = Store::new(1).with_every_row();
    let mut live = |session: &mut Session, command: ColumnCommand| {
        let request = act(session, command).expect("it asks");
        let mut events = Vec::new();
        serve(&request, &mut store, &forever(), &mut |event| events.push(event));
        for event in events {
            _ = session.absorb(event);
        }
    };
    live(&mut session, ColumnCommand::Add((&multi("")).into()));
    let column = |session: &Session| session.nth(0).clone();
    let first = column(&session);
    let facts: ModelFacts = first.facts.clone().expect("it is loaded");
    assert_eq!(facts.languages, ["fra", "oci"]);
    let message = first.message.expect("a sentence");
    assert!(message.starts_with("The text says no target language") && message.contains("menu"), "{message}");

    let chosen = ModelChoice { language: Some("oci".to_owned()), ..ModelChoice::default() };
    live(&mut session, ColumnCommand::Choose { column: first.id, chosen });
    let shown = column(&session);
    assert_eq!((shown.name().as_str(), shown.message.as_ref()), ("mt-multi @oci", None));
    let table = shown.table.expect("a translation");
    assert!(table.source[0].is_language && !table.source[0].is_word() && table.source[0].text == ">>oci<<");
    assert_eq!(table.source.iter().filter(|word| SourceWord::is_word(word)).count(), 5);
    assert!((0..table.target.len()).all(|i| table.looks_at(i).is_some_and(|j| table.source[j].is_word())));

    // heads are chosen beside it, and both are kept
    let heads = choice::HeadChoice::parse("1.2");
    let own = column(&session).system.members[0].choice.clone();
    let id = column(&session).id;
    live(&mut session, ColumnCommand::Choose { column: id, chosen: ModelChoice { heads, ..own } });
    assert_eq!(column(&session).name(), "mt-multi @oci@1.2");
    session.saved().save(&path).expect("written");
    let again = Session::start(interlinear::session::persist::load_or_set_aside(&path).state, &OpenWith::default());
    assert!(column(&again).system.name() == "mt-multi@oci@1.2", "{}", column(&again).system);
}

#[test]
fn what_is_longer_than_the_positions_of_a_model_is_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/origins/ct2-f32");
    let model = Model::load(&path, &Device::cpu()).expect("a model");
    let sizes = model.config.transformer().expect("a Transformer");
    assert_eq!(sizes.positions, Positions::Table);
    let folder = Folder::new();
    let long = "the red boat sails. ".repeat(sizes.max_positions / 4 + 1);
    let model = path.display().to_string();
    let input = format!("{long}\nthe boat\n");
    let said = feed(&folder, &["translate", "--model", &model], input.as_bytes());
    assert_eq!((said.code, said.stdout.lines().count()), (2, 2), "{}", said.stderr);
    assert!(said.stdout.ends_with('\n') && !said.stdout.trim().is_empty(), "the other line is translated");
    assert!(said.stderr.contains("line 1") && said.stderr.contains("cut it into sentences"), "{}", said.stderr);
}
