//! New configurations: every choice of the tables is written and read back, every other name is a sentence.

use std::path::{Path, PathBuf};

use interlinear::attention::{KINDS, scores};
use interlinear::training::recipe::{PAPERS, RECIPES, SIZES, TrainingPlan};
use interlinear::training::settings::{Rule, StartSettings, TrainingSettings};
use interlinear::{models::TRAINED, models::config::Architecture, training::recipe};

use crate::cli::{run_in, run_line};
use crate::folder::Folder;

fn plan(architecture: &str) -> TrainingPlan {
    TrainingPlan { architecture: architecture.to_owned(), ..TrainingPlan::default() }
}

fn models() -> String {
    TRAINED.iter().map(|model| model.name).collect::<Vec<_>>().join(", ")
}

fn plans() -> Vec<TrainingPlan> {
    let mut plans = Vec::new();
    for model in TRAINED {
        let mut own = vec![plan(model.name)];
        if model.name == Architecture::LUONG.name() {
            own = KINDS
                .iter()
                .flat_map(|kind| {
                    scores(model.name).filter(|score| kind.kind.allows(score)).map(move |score| (kind, score))
                })
                .map(|(kind, score)| TrainingPlan {
                    attention: Some(kind.name.to_owned()),
                    score: Some(score.name.to_owned()),
                    ..plan(model.name)
                })
                .collect();
        }
        for one in own {
            for recipe in RECIPES {
                for sizes in SIZES {
                    let (recipe, sizes) = (recipe.name.to_owned(), sizes.name.to_owned());
                    plans.push(TrainingPlan { recipe, sizes, ..one.clone() });
                }
            }
        }
    }
    plans
}

#[test]
fn every_choice_of_the_tables_is_written_and_read_back() {
    let folder = Folder::new();
    let plans = plans();
    assert!(plans.len() > 50, "{}", plans.len());
    for (n, plan) in plans.iter().enumerate() {
        let path = folder.join(format!("new/{n}.toml"));
        recipe::save(plan, &path, false).unwrap_or_else(|error| panic!("{plan:?}: {error}"));
        let mut read = TrainingSettings::load(&path).expect("it loads");
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(!text.contains("9999"), "numbers stand as they were meant\n{text}");
        for line in plan.explanation().expect("lines") {
            assert!(text.contains(&line), "{line}");
        }
        let composed = plan.compose().expect("composes");
        assert_eq!(read.output, folder.join("new").join(&composed.output));
        (read.output, read.data) = (composed.output.clone(), composed.data.clone());
        assert_eq!(read, composed);
        assert!(recipe::save(plan, &path, false).is_err(), "nothing is written over");
        recipe::save(plan, &path, true).expect("unless that is asked for");
    }
}

#[test]
fn the_papers_recipes_are_theirs() {
    assert!(TRAINED.iter().all(|model| PAPERS.iter().any(|paper| paper.architecture.name() == model.name)));
    let composed = |architecture| plan(architecture).compose().expect("composes");
    let luong = composed("luong");
    assert_eq!((luong.optimizer.rule, luong.optimizer.rate(), luong.optimizer.clip), (Rule::Sgd, 1.0, 5.0));
    assert_eq!((luong.optimizer.halve_after_epochs, luong.schedule.batch), (Some(5), 128));
    assert_eq!((luong.schedule.epochs, luong.model.start), (Some(10), StartSettings::Uniform));
    assert_eq!([4, 5, 6].map(|epoch| luong.optimizer.rate_at(0, epoch, 1)), [1.0, 0.5, 0.25]);
    for (architecture, batch) in [("rnnsearch", 80), ("rnnencdec", 64)] {
        let settings = composed(architecture);
        let optimizer = &settings.optimizer;
        assert_eq!((optimizer.rule, optimizer.rho, optimizer.epsilon()), (Rule::Adadelta, 0.95, 1e-6));
        assert_eq!((settings.schedule.batch, settings.model.start), (batch, StartSettings::Papers));
    }
    let local = TrainingPlan { attention: Some("local-p".to_owned()), ..plan("luong") };
    assert_eq!(local.compose().expect("composes").model.window, Some(10));
}

#[test]
fn a_name_of_no_table_is_a_sentence_that_lists_it() {
    let luong = plan("luong");
    let some = |text: &str| Some(text.to_owned());
    let models = models();
    // (plan, what the sentence has)
    let cases = [
        (plan("transformer"), models.as_str()),
        (TrainingPlan { attention: some("everywhere"), ..luong.clone() }, "none, global, local-m, local-p"),
        (TrainingPlan { score: some("additive"), ..luong.clone() }, "dot, general, concat, location"),
        (TrainingPlan { recipe: "lion".to_owned(), ..luong.clone() }, "paper, adam"),
        (TrainingPlan { sizes: "huge".to_owned(), ..luong.clone() }, "small, paper"),
        (TrainingPlan { attention: some("local-m"), score: some("location"), ..luong }, "location"),
        (TrainingPlan { score: some("dot"), ..plan("rnnsearch") }, "luong"),
        (TrainingPlan { source_language: "english please".to_owned(), ..plan("rnnsearch") }, "source_language"),
    ];
    for (plan, has) in cases {
        let error = plan.compose().expect_err("refused");
        assert!(error.is_users() && error.to_string().contains(has), "{error}");
    }
}

#[test]
fn paths_begin_at_the_folder_of_the_file() {
    let texts = TrainingPlan {
        train: ("corpus/a.en".into(), "/data/a.fr".into()),
        output: "work/out".into(),
        vocabulary: Some("models/m".into()),
        ..TrainingPlan::default()
    };
    let seen = texts.clone().seen_from(Path::new("/home/me"), Path::new("work"));
    assert_eq!(seen.train, (PathBuf::from("/home/me/corpus/a.en"), PathBuf::from("/data/a.fr")));
    assert_eq!((seen.output, seen.vocabulary), (PathBuf::from("out"), Some(PathBuf::from("/home/me/models/m"))));
    assert_eq!(seen.development, TrainingPlan::default().development, "beside the file until they are chosen");
    assert_eq!(texts.clone().seen_from(Path::new("/home/me"), Path::new("")).train.0, texts.train.0);
    assert_eq!(recipe::command(Path::new("a b.toml")), "interlinear train \"a b.toml\"");
}

#[test]
fn the_command_line_writes_a_configuration() {
    let folder = Folder::new();
    let new = ["train", "--new", "t.toml", "--architecture", "luong", "--attention", "local-p", "--score", "general"];
    let done = run_in(&folder, &new);
    assert_eq!((done.code, done.stdout.as_str()), (0, "interlinear train t.toml\n"), "{}", done.stderr);
    assert!(done.stderr.contains("e_ts = h_t' W_a h_s"), "{}", done.stderr);
    let settings = TrainingSettings::load(&folder.join("t.toml")).expect("it loads");
    assert_eq!(settings.model.attention.as_deref(), Some("local-p"));
    run_in(&folder, &new).refused("exists already");
    // (arguments, what the sentence has)
    let models = models();
    let cases: &[(&[&str], &str)] = &[
        (&["train", "--new", "u.toml", "--architecture", "x"], &models),
        (&["train", "--new", "u.toml", "--recipe", "x"], "paper, adam"),
        (&["train", "--new", "u.toml", "--languages", "english"], "en-fr"),
        (&["train", "--architecture", "luong"], "--new"),
    ];
    for (arguments, has) in cases {
        run_in(&folder, arguments).refused(has);
        assert!(!folder.join("u.toml").exists());
    }
    let help = run_line(&folder, "train --help");
    for entry in RECIPES {
        assert!(help.stdout.contains(entry.about), "{}", help.stdout);
    }
}
