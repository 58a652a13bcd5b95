//! Minimal pairs: the numbers of `contrast` are those of `score`, by tag and model, and files that do not fit are named.

use std::{path::Path, sync::Arc};

use interlinear::jobs::queue::{Found, JobQueue, QueueNews, QueueOrder};
use interlinear::jobs::{Library, gate::ForegroundGate, queue::contrast::ContrastOrder};
use interlinear::text::cells::{CellTable, TableCell};
use interlinear::{decoding::SystemSpec, evaluation::contrast::ContrastMeasures, nn::device::DeviceChoice};
use serde_json::Value;

use crate::cli::{Outcome, json_lines, json_of, reference, reference_word, run_in};
use crate::folder::{Files as _, Folder};
use crate::worker::PATIENCE;

const TABLE: &str = "source\tgood\tbad\ttag\n\
    s9 s31 s17\tt18 t13 t2\tt18 t14 t2\tnumber\n\
    s9 s31 s17\tt18 t13\tt18 t13 t2\tnumber, length\n\
    s4\tt18 zzz t2\tt18 yyy t2\tlength\n\
    s4 s5\tt18 t13\tt18 t13\t\n";
const MODELS: [&str; 2] = ["rnnsearch", "luong-global-location"];

fn contrast(folder: &Path, arguments: &str) -> Outcome {
    let models = MODELS.map(|name| reference(name).to_str().expect("a plain path").to_owned());
    let mut words = vec!["contrast", "--pretokenized", "--model", &models[0], "--model", &models[1]];
    words.extend(arguments.split_whitespace());
    run_in(folder, &words)
}

fn scored(folder: &Path, model: &str, targets: [&str; 2]) -> Vec<Vec<f64>> {
    folder.put("x", "s9 s31 s17\ns9 s31 s17\n");
    folder.put("y", format!("{}\n{}\n", targets[0], targets[1]));
    let model = &*reference_word(model);
    let all = ["score", "--pretokenized", "--model", model, "--source", "x", "--target", "y"];
    let outcome = run_in(folder, &all);
    let of_line = |line: &str| {
        let record = json_of(line);
        let tokens = record["token_log_p"].as_array().expect("numbers").iter();
        tokens.map(|log_p| log_p.as_f64().expect("a number")).collect()
    };
    outcome.stdout.lines().map(of_line).collect()
}

#[test]
fn the_difference_is_that_of_score_and_the_critical_word_is_the_first_that_differs() {
    let folder = Folder::new();
    folder.put("pairs.tsv", TABLE);
    let outcome = contrast(&folder, "pairs.tsv --pairs each.tsv --format json").quiet();
    let each = folder.text("each.tsv");
    let rows: Vec<Vec<&str>> = each.lines().map(|line| line.split('\t').collect()).collect();
    let number = |row: &[&str], name: &str| -> f64 {
        let at = rows[0].iter().position(|head| *head == name).expect("a column");
        row[at].parse().expect("a number")
    };
    assert_eq!(rows.len(), 9);
    for (n, targets) in [["t18 t13 t2", "t18 t14 t2"], ["t18 t13", "t18 t13 t2"]].into_iter().enumerate() {
        for (m, model) in MODELS.iter().enumerate() {
            let row = &rows[1 + 2 * n + m];
            let said = scored(&folder, model, targets);
            let at = n + 1;
            let wanted = [
                ("difference", said[0].iter().sum::<f64>() - said[1].iter().sum::<f64>()),
                ("word_log_p_good", said[0][at]),
                ("word_log_p_bad", said[1][at]),
                ("word_difference", said[0][at] - said[1][at]),
            ];
            for (name, wanted) in wanted {
                assert!((number(row, name) - wanted).abs() < 1e-4, "{model} {targets:?} {name}: {row:?}, not {wanted}");
            }
        }
    }
    assert_eq!([&rows[1][7..9], &rows[3][7..9]], [["t13", "t14"], ["</s>", "t2"]]);
    let objects = json_lines(&outcome.stdout);
    assert_eq!(objects.len(), 6, "all and two tags, of two models");
    let all = &objects[0];
    assert_eq!([&all["pairs"], &all["equal"]], [4, 2], "what nobody knows is one word, and a pair is one text");
    let right = rows[1..].iter().step_by(2).filter(|row| number(row, "difference") > 0.0).count();
    assert!((all["accuracy"].as_f64().expect("a number") - right as f64 / 4.0).abs() < 1e-9);
    assert!(all["p"].is_null() && objects[1]["p"].as_f64().is_some_and(|p| p > 0.0 && p <= 1.0));
    let tags: Vec<(&Value, &Value)> = objects.iter().map(|object| (&object["tag"], &object["pairs"])).collect();
    assert_eq!(
        [tags[2], tags[4]],
        [(&Value::from("number"), &Value::from(2)), (&Value::from("length"), &Value::from(2))]
    );
}

#[test]
fn three_files_are_the_same_as_a_table_and_what_does_not_fit_is_named() {
    let folder = Folder::new();
    let column = |at: usize| {
        TABLE
            .lines()
            .skip(1)
            .map(|line| line.split('\t').nth(at).expect("a cell").to_owned() + "\n")
            .collect::<String>()
    };
    for (at, name) in ["s", "good", "bad", "tags"].into_iter().enumerate() {
        folder.put(name, column(at));
    }
    folder.put_all([
        ("pairs.tsv", TABLE),
        ("odd.tsv", "source\tgood\ts9\tt1\n"),
        ("hole.tsv", "source\tgood\tbad\ns9\tt18\t\ns9\tt18\tt13\n"),
        ("head.tsv", "source\tgood\tbad\n"),
        ("one", "t1\n"),
    ]);
    let files = "--source s --good good --bad bad --tags tags";
    let [table, three] = ["pairs.tsv", files].map(|arguments| contrast(&folder, &format!("{arguments} --format tsv")));
    assert_eq!((three.code, &three.stdout), (0, &table.stdout), "{}", three.stderr);
    assert!(table.stdout.starts_with("model\ttag\tpairs\taccuracy\tlow\thigh\tword_accuracy\t"), "{}", table.stdout);
    assert_eq!(contrast(&folder, "pairs.tsv").stdout.lines().count(), 7, "a table for reading");
    for (arguments, wanted) in [
        ("odd.tsv", "odd.tsv: has no columns `source`, `good` and `bad`"),
        ("head.tsv", "head.tsv: has no pairs"),
        ("hole.tsv", "hole.tsv, line 2: has no words in its bad translation"),
        ("--source s --good good --bad one", "one: has 1 lines, and s has 4"),
        ("--source s --good good", "--bad"),
        ("", "<TABLE>"),
    ] {
        contrast(&folder, arguments).refused(wanted);
    }
    assert!(contrast(&folder, "hole.tsv").stdout.lines().nth(1).is_some_and(|row| row.contains(" 1 ")));
}

const FIRST: &str =
    "source\tgood\tbad\ttag\ns9 s31 s17\tt12 t13 t2\tt11 t13 t2\tfirst\ns4 s31\tt12 t13\tt12 t14\tlater\n";

fn table(text: &str) -> Vec<std::collections::HashMap<String, String>> {
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    lines.map(|line| head.iter().cloned().zip(line).collect()).collect()
}

fn matrix(text: &str, line: usize, name: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let record = json_of(text.lines().nth(line).expect("a line"));
    let words = serde_json::from_value(record["source"].clone()).expect("words");
    (words, serde_json::from_value(record[name].clone()).expect("a matrix"))
}

fn greatest(row: &[f64]) -> usize {
    (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b]).then(b.cmp(a))).expect("a number")
}

const SOURCES: &str = "s9 s31 s17\ns9 s31 s17\ns4 s31\ns4 s31\n";
const TARGETS: &str = "t12 t13 t2\nt11 t13 t2\nt12 t13\nt12 t14\n";

#[test]
fn what_is_left_out_at_the_critical_word_is_as_ablate_leaves_it_out() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| folder.put(name, text);
    write("pairs.tsv", FIRST);
    write("x", SOURCES);
    write("y", TARGETS);
    let outcome = contrast(&folder, "pairs.tsv --pairs each.tsv --format tsv --measure left-out").quiet();
    let each = table(&folder.text("each.tsv"));
    for (m, name) in MODELS.iter().enumerate() {
        let model = &*reference_word(name);
        let asked = |words: &str| {
            let all: Vec<&str> = words.split(' ').chain(["--model", model, "--source", "x", "--target", "y"]).collect();
            run_in(&folder, &all).stdout
        };
        let ablated = asked("ablate --pretokenized --permutations 1");
        for (n, i) in [0, 1].into_iter().enumerate() {
            let row = &each[2 * n + m];
            let number = |name: &str| row[name].parse::<f64>().expect("a number");
            let (words, alpha) = matrix(&ablated, 2 * n, "alpha");
            let looked = greatest(&alpha[i]);
            let lost = [0, 1].map(|side| matrix(&ablated, 2 * n + side, "leave_one_out_log_p").1[i][looked]);
            assert_eq!(row["looks_at"], words[looked], "{name}");
            let wanted = [("alpha", alpha[i][looked]), ("left_out", lost[0]), ("left_out_word", lost[0] - lost[1])];
            for (figure, wanted) in wanted {
                assert!((number(figure) - wanted).abs() < 1e-4, "{name}, {n}, {figure}: {row:?}, not {wanted}");
            }
        }
    }
    // the row of all pairs has the mean of both, and the row of a tag its own
    let by_tag = table(&outcome.stdout);
    let left_out = |row: &std::collections::HashMap<String, String>| row["left_out"].parse::<f64>().expect("a number");
    let mean = f64::midpoint(left_out(&each[0]), left_out(&each[2]));
    assert!((left_out(&by_tag[0]) - mean).abs() < 1e-9);
    assert_eq!([&by_tag[0]["left_out_pairs"], &by_tag[2]["tag"], &by_tag[2]["left_out_pairs"]], ["2", "first", "1"]);
    assert_eq!(left_out(&by_tag[2]), left_out(&each[0]));
    assert!(!by_tag[0].contains_key("word_change"), "nothing was set");
}

#[test]
fn interventions_over_a_list_change_what_they_say() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| folder.put(name, text);
    write("pairs.tsv", FIRST);
    let each = |file: &str, text: &str| {
        write(file, text);
        let asked = format!("pairs.tsv --pairs each.tsv --format tsv --measure left-out --interventions {file}");
        contrast(&folder, &asked).quiet();
        table(&folder.text("each.tsv"))
    };
    let number = |row: &std::collections::HashMap<String, String>, name: &str| row[name].parse::<f64>().expect(name);
    let plain = each("nothing.json", "{\"version\":1}");
    assert!(plain.iter().all(|row| number(row, "difference_change").abs() < 1e-5), "{plain:?}");
    // at the first word nothing before it is changed: a mask there is the source word left out
    let looked = plain[1]["looks_at"].clone();
    let lines = format!("{{\"version\":1,\"mask\":[{{\"word\":\"{looked}\"}}]}}\n{{\"version\":1}}\n");
    let masked = each("mask.jsonl", &lines);
    assert!((number(&masked[1], "word_change") + number(&masked[1], "left_out_word")).abs() < 1e-4, "{masked:?}");
    assert!(
        number(&masked[1], "word_change").abs() > 1e-3 && number(&masked[3], "word_change").abs() < 1e-5,
        "{masked:?}"
    );
    // what does not fit is named
    for (text, wanted) in [
        ("{\"version\":1,\"forbid\":[{\"word\":\"t2\"}]}", "one.json: has words that are said or not said"),
        (
            "{\"version\":1}\n{\"version\":1}\n{\"version\":1}\n{\"version\":1,\"temperature\":2}\n",
            "one.json: has 4 lines",
        ),
    ] {
        write("one.json", text);
        contrast(&folder, "pairs.tsv --interventions one.json").refused(wanted);
    }
    write("one.json", "{\"version\":1,\"mask\":[{\"position\":4}]}");
    let outcome =
        contrast(&folder, "pairs.tsv --interventions one.json").refused("pairs.tsv, line 3: is left out: one.json");
    assert!(outcome.stdout.lines().nth(1).is_some_and(|row| row.contains(" 1 ")), "{}", outcome.stdout);
}

#[test]
fn the_window_writes_the_same_bytes() {
    let folder = Folder::new();
    let table = folder.put("pairs.tsv", TABLE.replace("s4 s5", "s4"));
    let models = MODELS.map(|name| reference(name).to_str().expect("a plain path").to_owned());
    let interventions = folder.put("warm.json", "{\"version\":1,\"temperature\":2}");
    let words = ["contrast", "pairs.tsv", "--model", &models[0], "--model", &models[1], "--pairs", "each.tsv"];
    let asks = ["--interventions", "warm.json", "--measure", "left-out", "--format", "tsv"];
    let printed = run_in(&folder, &[&words[..], &asks].concat()).good();

    let lane = JobQueue::<QueueOrder>::spawn(Library::new(1), ForegroundGate::new(), Arc::new(|| {}));
    let systems = MODELS.map(|name| SystemSpec::from(reference(name))).to_vec();
    let measures = ContrastMeasures { left_out: true };
    let order =
        ContrastOrder { table, systems, interventions: Some(interventions), measures, device: DeviceChoice::Cpu };
    lane.submit(1, QueueOrder::Contrast(order));
    let found = loop {
        match lane.news.next_within(PATIENCE).expect("every order ends").kind {
            QueueNews::Progress(_) => {}
            QueueNews::Found(Found::Contrasted(found)) => break found,
            other => panic!("{other:?}"),
        }
    };
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    let written = folder.text("each.tsv");
    assert_eq!(found.tables.each.tsv(), written);
    assert_eq!(found.tables.by_tag.tsv(), printed.stdout);
}

#[test]
fn rows_are_sorted_by_numbers_and_by_words() {
    let row = |text: &str, number: Option<f64>| vec![TableCell::from(text), TableCell::Number(number)];
    let table =
        CellTable { head: vec!["word", "p"], rows: vec![row("b", Some(10.0)), row("A", None), row("a", Some(9.0))] };
    assert_eq!([table.sorted(1, true), table.sorted(1, false)], [[0, 2, 1], [1, 2, 0]]);
    assert_eq!([table.sorted(0, false), table.sorted(0, true)], [[1, 2, 0], [0, 1, 2]]);
    assert_eq!(table.tsv(), "word\tp\nb\t10\nA\t\na\t9\n");
    assert_eq!(table.rows[1][1].shown(), "-");
}
