//! Outputs are rated, campaigns planned, many annotators compared, and judgements exchanged with other programs.

use std::path::Path;

use interlinear::corpus::import::importer::{ImportReport, import_file};
use interlinear::corpus::judgements::judge::{ErrorMark, Judgement};
use interlinear::corpus::query::{column::TableColumn, filter::Filter, table::rows};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, read::StoredAbout};
use interlinear::corpus::{export::out::ExportFormat, judgements::alpha::alphas};
use interlinear::corpus::{judgements::campaign::Campaign, judgements::judgement_io, measures::table::Measuring};
use interlinear::{corpus::store::write::NewSentence, import::ImportOptions};

use crate::cli::{Outcome, json_lines, json_of, run_in, run_line};
use crate::folder::{Files as _, Folder};
use crate::forever;
use crate::judging::{bytes, out};

const SYSTEMS: [&str; 2] = ["Mill", "Brook"];

const TEXTS: &[(&str, &str, &str)] = &[
    ("a red boat", "un rouge bateau.", "le bateau"),
    ("the old mill turns", "le moulin tourne", "le vieux moulin tourne"),
    ("rain again", "la pluie la pluie", "encore la pluie"),
    ("late", "tard", "en retard"),
];

fn filled(path: &Path) -> Workspace {
    let mut workspace = Workspace::open(path).expect("a workspace");
    let origin = workspace.add_origin("texts", "").expect("an origin");
    let sentence = |text: &(&str, &str, &str)| NewSentence { source: text.0.to_owned(), ..NewSentence::default() };
    workspace.add_sentences(origin, &TEXTS.iter().map(sentence).collect::<Vec<_>>()).expect("sentences");
    for (n, name) in SYSTEMS.iter().enumerate() {
        let system = workspace.add_system(name, &StoredAbout::default()).expect("a system");
        let said = |text: &(&str, &str, &str)| SystemOutput {
            text: if n == 0 { text.1 } else { text.2 }.to_owned(),
            ..SystemOutput::default()
        };
        let outputs: Vec<_> = TEXTS.iter().map(said).enumerate().collect();
        workspace.add_outputs(system.id, &outputs, &mut Measuring::default()).expect("outputs");
    }
    workspace
}

fn rated(mill: u8, brook: u8) -> Judgement {
    let given = SYSTEMS.iter().zip([mill, brook]).filter(|(_, rating)| *rating > 0);
    Judgement { ratings: given.map(|(name, rating)| ((*name).to_owned(), rating)).collect(), ..Judgement::default() }
}

fn mark(system: &str, target: (usize, usize), letters: Option<(usize, usize)>, severity: &str) -> ErrorMark {
    let (system, category) = (system.to_owned(), "fluency/grammar".to_owned());
    ErrorMark { system, target, letters, category, severity: severity.to_owned(), ..ErrorMark::default() }
}

fn judged(path: &Path) -> Workspace {
    let mut workspace = filled(path);
    let mut anna = rated(40, 90);
    anna.mark(mark("Mill", (1, 3), None, "major"));
    anna.mark(mark("Mill", (2, 3), Some((5, 6)), "minor"));
    anna.mark(ErrorMark { source: (1, 2), note: "red".to_owned(), ..mark("Brook", (1, 1), None, "minor") });
    let mut bob = rated(50, 0);
    bob.turn_no_errors("Mill".to_owned());
    workspace.judge(0, "anna", &anna).expect("judged");
    workspace.judge(0, "bob", &bob).expect("judged");
    workspace.judge(1, "bob", &rated(70, 100)).expect("judged");
    workspace
}

fn written(workspace: &Workspace, kind: ExportFormat) -> String {
    String::from_utf8(bytes(workspace, &out("out", kind, 0..TEXTS.len() as u32))).expect("UTF-8")
}

fn brought(workspace: &mut Workspace, path: &Path) -> ImportReport {
    let (options, ticket) = (ImportOptions::default(), forever());
    import_file(workspace, (path, &options), 1, &ticket, &mut |_| {}).expect("it comes in")
}

#[test]
fn the_mean_of_ratings_is_a_column_with_differences_and_conditions() {
    let (_folder, workspace) = Folder::of(|folder| judged(&folder.join("w.ilws")));
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let value = |name: &str, at: usize| TableColumn::named(name, &corpus).expect("a column").value(&corpus, at);
    assert_eq!([value("rating.1", 0), value("rating.2", 0), value("rating.2-1", 1)], [45.0, 90.0, 30.0]);
    assert!(value("rating.1", 2).is_nan() && value("rating.1-2", 3).is_nan());
    assert_eq!(corpus.counts.ratings, 5);
    for (condition, wanted) in [("rating.1<50", vec![0]), ("rating.2=100", vec![1]), ("rating.2-1>=30", vec![0, 1])] {
        let filter = Filter::new(condition, &corpus).expect("a condition");
        assert_eq!(rows(&corpus, &filter, None), wanted, "{condition}");
    }
}

#[test]
fn ratings_and_letters_go_out_and_come_in_as_table_and_as_lines() {
    let (folder, first) = Folder::of(|folder| judged(&folder.join("a.ilws")));
    for (name, kind) in [("j.tsv", ExportFormat::JudgementTable), ("j.jsonl", ExportFormat::Judgements)] {
        let path = folder.join(name);
        std::fs::write(&path, written(&first, kind)).expect("written");
        let mut other = filled(&folder.join(format!("{name}.ilws")));
        let report = judgement_io::import(&mut other, &path, None, &forever()).expect("in");
        assert!(report.warnings.is_empty(), "{report:?}");
        assert_eq!(other.judgements().expect("judgements"), first.judgements().expect("judgements"), "{name}");
    }
    let wrong = "sentence\tannotator\tsystem\trating\n1\tanna\tMill\t101\n2\tanna\t\t5\n3\tanna\tMill\t7\n";
    let path = folder.put("wrong.tsv", wrong);
    let mut other = filled(&folder.join("b.ilws"));
    let report = judgement_io::import(&mut other, &path, None, &forever()).expect("in");
    assert_eq!(report.warned, 2, "{report:?}");
    assert!(report.warnings[0].contains("line 2") && report.warnings[0].contains("from 0 to 100"), "{report:?}");
    assert_eq!(other.judgements_of(2).expect("said")["anna"], rated(7, 0));
}

#[test]
fn a_rating_of_another_translation_is_set_apart() {
    let (_folder, mut workspace) = Folder::of(|folder| judged(&folder.join("w.ilws")));
    let system = workspace.systems().expect("systems")[1].id;
    let other = SystemOutput { text: "un bateau rouge".to_owned(), ..SystemOutput::default() };
    workspace.add_outputs(system, &[(0, other)], &mut Measuring::default()).expect("outputs");
    let said = workspace.judgements_of(0).expect("said");
    assert_eq!(said["anna"].ratings.keys().collect::<Vec<_>>(), ["Mill"]);
    let apart = said["anna"].stale.iter().find(|stale| stale.mark.category == "rating").expect("it is kept");
    assert_eq!((apart.mark.severity.as_str(), apart.words.as_str()), ("90", "le bateau"));
}

#[test]
fn a_campaign_deals_sentences_out_evenly_and_its_orders_follow_from_the_seed() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("w.ilws")));
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let plan = |seed: u64, each: usize| Campaign {
        seed,
        is_blind: true,
        rates: true,
        annotators: vec![" anna".to_owned(), "bob".to_owned(), "bob".to_owned(), "cleo".to_owned()],
        each,
        ..Campaign::default()
    };
    let campaign = plan(7, 2).begun(&corpus, &[0, 1, 2, 3]).expect("a campaign");
    assert_eq!((campaign.annotators.len(), campaign.systems.len(), campaign.each), (3, 2, 2));
    let mut times = [0; 4];
    for annotator in ["anna", "bob", "cleo"] {
        let tasks = campaign.tasks(annotator);
        assert!((2..=3).contains(&tasks.len()), "{annotator} has {tasks:?}");
        for at in tasks {
            times[at as usize] += 1;
        }
    }
    assert_eq!(times, [2; 4], "each sentence is judged twice");
    assert!(campaign.tasks("dan").is_empty());
    let many = Campaign { systems: (0..4).map(|n| n.to_string()).collect(), ..campaign.clone() };
    let orders = |campaign: &Campaign| (0..20).map(|at| campaign.order("anna", at)).collect::<Vec<_>>();
    assert_eq!(orders(&many), orders(&many.clone()));
    assert_ne!(orders(&many), orders(&Campaign { seed: 8, ..many.clone() }));
    assert!(orders(&many).iter().any(|order| order[0] != 0), "the first system is not always A");
    assert!(orders(&Campaign { is_blind: false, ..many }).iter().all(|order| *order == [0, 1, 2, 3]));

    workspace.set_campaign(Some(&campaign)).expect("kept");
    assert_eq!(workspace.campaign().expect("read"), Some(campaign.clone()));
    let (task, mut done) = (campaign.tasks("anna")[0] as usize, rated(10, 0));
    for (judgement, is_done) in [(done.clone(), false), (rated(10, 20), true)] {
        workspace.judge(task, "anna", &judgement).expect("judged");
        let corpus = CorpusTable::read(&workspace).expect("a corpus");
        assert_eq!(campaign.is_done_by(&corpus, "anna", task), is_done);
        let todo = rows(&corpus, &Filter::new("todo:anna", &corpus).expect("a condition"), None);
        assert_eq!(todo.contains(&(task as u32)), !is_done, "{todo:?}");
    }
    done.turn_no_errors("Brook".to_owned());
    assert!(!campaign.is_done(&done) && !Campaign { rates: false, ..campaign.clone() }.is_done(&done));
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let error = Filter::new("todo:dan", &corpus).expect_err("no condition").to_string();
    assert!(error.contains("nobody named `dan` is in the campaign; these are: anna, bob, cleo"), "{error}");
    workspace.set_campaign(None).expect("ended");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    assert!(Filter::new("task:anna", &corpus).expect_err("no campaign").to_string().contains("there is no campaign"));
    let nobody = Campaign { annotators: Vec::new(), ..campaign };
    assert!(nobody.begun(&corpus, &[0]).expect_err("nobody").to_string().contains("the name of an annotator"));
}

/// Counted by hand: ratings (40, 50), (60, 70), (80, 90) of two, one of which a third judged like the first.
#[test]
fn three_annotators_are_compared_by_alpha() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("w.ilws")));
    let tagged = |mut judgement: Judgement, tag: &str| {
        judgement.tags.insert(tag.to_owned());
        judgement
    };
    for (at, ratings) in [[40, 50, 40], [60, 70, 0], [80, 90, 0]].into_iter().enumerate() {
        for (name, rating) in ["anna", "bob", "cleo"].iter().zip(ratings).filter(|(_, rating)| *rating > 0) {
            workspace.judge(at, name, &tagged(rated(rating, 0), if at == 0 { "idiom" } else { name })).expect("judged");
        }
    }
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let found = alphas(&corpus, &["anna", "bob", "cleo"], &[0, 1, 2, 3]).expect("compared");
    let line = |name: &str| found.iter().find(|line| line.name == name).expect("a line").clone();
    // D_o: the first unit gives 2 * 2 * 100 / 2 = 200, the others 200 each; D_e is over all pairs of 7 values.
    let values: [f64; 7] = [40.0, 50.0, 40.0, 60.0, 70.0, 80.0, 90.0];
    let expected: f64 = values.iter().flat_map(|a| values.iter().map(move |b| (a - b).powi(2))).sum();
    let ratings = line("ratings");
    assert_eq!((ratings.units, ratings.values), (3, 7));
    assert!((ratings.alpha.expect("alpha") - (1.0 - 6.0 * 600.0 / expected)).abs() < 1e-9, "{ratings:?}");
    assert_eq!(line("tag idiom").alpha, Some(1.0));
    assert!(line("tag bob").alpha.expect("alpha") < 0.0);
    assert_eq!(line("stars").units, 0);
    assert!(alphas(&corpus, &["anna", "dan"], &[0]).expect_err("nobody").to_string().contains("nobody named `dan`"));
}

#[test]
fn judgements_go_to_other_programs_and_come_back() {
    let (folder, first) = Folder::of(|folder| judged(&folder.join("a.ilws")));
    let mqm = written(&first, ExportFormat::Mqm);
    let lines: Vec<&str> = mqm.lines().collect();
    assert_eq!(
        lines[1], "Mill\tcorpus\t1\t1\tanna\ta red boat\tun <v>rouge bateau</v>.\tfluency/grammar\tMajor\t{}",
        "{mqm}"
    );
    assert!(lines[2].contains("\tun rouge batea<v>u</v>.\t"), "{mqm}");
    assert!(lines[3].contains("\ta <v>red</v> boat\tle <v></v>bateau\t") && lines[3].ends_with("{\"note\":\"red\"}"));
    assert!(
        lines[4].starts_with("Mill\t") && lines[4].contains("\tbob\t") && lines[4].contains("\tNo-error\tNo-error")
    );
    let path = folder.put("mqm.tsv", &mqm);
    let mut other = filled(&folder.join("b.ilws"));
    let report = brought(&mut other, &path);
    assert_eq!((report.sentences, report.outputs, report.warned), (0, 0, 0), "{report:?}");
    let (said, wanted) = (other.judgements_of(0).expect("said"), first.judgements_of(0).expect("said"));
    assert_eq!(said["anna"].marks, wanted["anna"].marks);
    assert_eq!(said["bob"].no_errors, wanted["bob"].no_errors);

    let lines = written(&first, ExportFormat::Pearmut);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    let line = json_of(lines.lines().next().expect("a line"));
    let said = &line["annotation"][0]["Mill"];
    assert_eq!((said["score"].as_u64(), said["error_spans"][1]["start_i"].as_u64()), (Some(40), Some(14)));
    assert_eq!(said["error_spans"][1]["end_i"].as_u64(), Some(14), "the last letter is meant, too");
    assert_eq!(line["item"][0]["tgt"]["Mill"], "un rouge bateau.");
    // As the dashboard gives it, and into an empty corpus.
    let all = json_lines(&lines);
    let dashboard = serde_json::to_string_pretty(&serde_json::json!({ "campaign": all })).expect("JSON");
    for (name, text) in [("lines.jsonl", lines.clone()), ("dashboard.json", dashboard)] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        let mut other = Workspace::open(&folder.join(format!("{name}.ilws"))).expect("a workspace");
        let report = brought(&mut other, &path);
        assert_eq!((report.sentences, report.outputs, report.judgements, report.warned), (2, 4, 3, 0), "{report:?}");
        let said = other.judgements_of(0).expect("said");
        assert_eq!(said["anna"].ratings, wanted["anna"].ratings);
        let marks = |by: &Judgement| by.marks.iter().cloned().collect::<std::collections::BTreeSet<ErrorMark>>();
        assert_eq!(marks(&said["anna"]), marks(&wanted["anna"]), "what is missing too");
        assert_eq!(said["bob"].no_errors.len(), 1);
    }
}

#[test]
fn errors_that_a_metric_found_are_marks_of_an_annotator_of_its_name() {
    let (folder, mut workspace) = Folder::of(|folder| filled(&folder.join("w.ilws")));
    let texts = TEXTS.iter().map(|(source, mill, _)| (source, mill));
    let segments: Vec<serde_json::Value> = texts
        .enumerate()
        .map(|(n, (source, said))| {
            let mut one = serde_json::json!({ "src": source, "mt": said, "ref": "x", "COMET": 0.25 * n as f64 });
            if n == 0 {
                let span = serde_json::json!({ "text": "rouge", "confidence": 0.371, "severity": "major", "start": 3, "end": 8 });
                one["errors"] = serde_json::json!([span]);
            }
            one
        })
        .collect();
    let path = folder.join("scored.json");
    let all = serde_json::json!({ "runs/first.fr": segments });
    std::fs::write(&path, serde_json::to_string_pretty(&all).expect("JSON")).expect("written");
    let report = brought(&mut workspace, &path);
    assert_eq!((report.sentences, report.outputs, report.scores, report.judgements), (0, 0, 4, 4), "{report:?}");
    assert_eq!(workspace.systems().expect("systems").len(), 2, "it is known by what it says");
    let said = &workspace.judgements_of(0).expect("said")["xCOMET"];
    let wanted = ErrorMark {
        category: "other".to_owned(),
        note: "confidence 0.37".to_owned(),
        ..mark("Mill", (1, 2), None, "major")
    };
    assert_eq!(said.marks, [wanted]);
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    assert_eq!(TableColumn::named("comet.1", &corpus).expect("a column").value(&corpus, 3), 0.75);
    std::fs::write(&path, "{\"a\": [{\"src\": 1, \"mt\"").expect("written");
    let (options, ticket) = (ImportOptions::default(), forever());
    let error = import_file(&mut workspace, (&path, &options), 1, &ticket, &mut |_| {}).expect_err("no JSON");
    assert!(error.to_string().contains("scored.json") && error.to_string().contains("comet-score"), "{error}");
}

#[test]
fn a_rating_is_a_judgement_of_errors_where_these_were_asked_for() {
    let folder = Folder::new();
    for (ratings_only, in_stars, marks, wanted) in [
        (None, false, false, None),
        (None, false, true, Some(0.0)),
        (None, true, true, None),
        (Some(false), false, false, Some(0.0)),
        (Some(true), false, true, None),
    ] {
        let mut workspace = filled(&folder.join(format!("{ratings_only:?}{in_stars}{marks}.ilws")));
        let [annotators, systems] = [vec!["anna".to_owned()], SYSTEMS.map(str::to_owned).to_vec()];
        let sentences = vec![0, 1, 2, 3];
        let plan =
            Campaign { rates: true, in_stars, ratings_only, annotators, systems, sentences, ..Campaign::default() };
        workspace.set_campaign(Some(&plan)).expect("begun");
        workspace.judge(0, "anna", &rated(60, 80)).expect("judged");
        workspace.judge(0, "dora", &rated(10, 20)).expect("judged by nobody of it");
        let mut other = rated(0, 50);
        other.marks.extend(marks.then(|| mark("Brook", (0, 1), None, "major")));
        workspace.judge(1, "anna", &other).expect("judged");
        let values = |workspace: &Workspace| {
            let corpus = CorpusTable::read(workspace).expect("a corpus");
            let value = |name: &str| TableColumn::named(name, &corpus).expect("a column").value(&corpus, 0);
            [value("errors.1"), value("mqm_score.2")].map(|value| Some(value).filter(|value| !value.is_nan()))
        };
        assert_eq!(values(&workspace), [wanted; 2], "{plan:?}");
        // What it asked for stays when it ends, and the end can be taken back like any act.
        workspace.set_campaign(None).expect("ended");
        assert_eq!(values(&workspace), [wanted; 2], "{plan:?}");
    }
}

#[test]
fn a_campaign_goes_through_the_command_line() {
    let folder = Folder::new();
    drop(judged(&folder.join("w.ilws")));
    let ran = |arguments: &[&str]| run_in(&folder, &[&["analyse", "--workspace", "w.ilws"], arguments].concat()).good();
    let Outcome { stdout: tasks, stderr: told, .. } =
        ran(&["--assign", "anna,bob", "--each", "1", "--order-seed", "3", "--format", "tasks"]);
    assert!(told.contains("4 sentences of 2 systems are assigned"), "{told}");
    assert_eq!(tasks.lines().next(), Some("annotator\ttask\tsentence\tdone\tsource"));
    assert_eq!(tasks.lines().count(), 5, "{tasks}");
    // Anna has rated all of sentence 1 and bob of sentence 2: done where it is their task.
    let has = |annotator: &str, sentence: &str| {
        tasks.lines().any(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            (cells[0], cells[2]) == (annotator, sentence)
        })
    };
    let done = usize::from(has("anna", "1")) + usize::from(has("bob", "2"));
    assert_eq!(tasks.matches("\tyes\t").count(), done, "{tasks}");
    let todo = ran(&["--filter", "task:anna", "--columns", "rating.1"]).stdout;
    assert_eq!(todo.lines().count(), 3, "{todo}");
    let alpha = ran(&["--agreement", "anna", "bob"]).stdout;
    assert!(alpha.contains("\nratings\ttranslations\t1\t2\t"), "{alpha}");
    let mqm = ran(&["--format", "mqm"]).stdout;
    assert!(mqm.starts_with("system\tdoc\tdocSegId"), "{mqm}");
    assert_eq!(ran(&["--format", "pearmut"]).stdout.lines().count(), 3);
    run_line(&folder, "report --workspace w.ilws --output r.html").good();
    let page = folder.text("r.html");
    assert!(
        page.contains("Errors and ratings of each system") && page.contains("<td>57.5000</td>"),
        "of 45, the mean of 40 and 50, and 70"
    );
    let scores = ran(&["--overview", "scores", "--pair", "2,1"]).stdout;
    assert!(scores.contains("rating\tBrook\tMill\t2\t+37.5000"), "{scores}");
}
