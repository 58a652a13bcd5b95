//! Models run with interventions over a workspace, as systems of their own; ids of lines that `translate` passes through.

use std::path::Path;

use interlinear::corpus::{store::file::Workspace, store::parts::FileVersion};

use crate::cli::{Outcome, feed, json_lines, json_of, reference, reference_word, run_in};
use crate::folder::{Files as _, Folder};

const SOURCE: &str = "s2 s3 s4\ns5 s6\n\ns7 s8 s9 s10\n";

fn ran(folder: &Path, arguments: &[&str]) -> Outcome {
    run_in(folder, arguments).good()
}

fn said(folder: &Path, system: &str) -> Vec<Option<String>> {
    let lines = ran(folder, &["analyse", "--workspace", "w.ilws", "--format", "jsonl"]).stdout;
    let text = |line: &str| {
        let object = json_of(line);
        object["systems"][system]["text"].as_str().map(str::to_owned)
    };
    lines.lines().map(text).collect()
}

#[test]
fn a_model_runs_with_interventions_as_a_system_of_its_own() {
    let at = &Folder::new();
    let model = &*reference_word("rnnsearch");
    at.put("a.en", SOURCE);
    at.put("no-end.json", "{\"version\": 1, \"source\": \"another\", \"mask\": [{\"word\": \"</s>\"}]}");
    let run = |more: &[&str]| {
        let first = ["analyse", "--workspace", "w.ilws", "--model", model, "--beam", "2", "--format", "none"];
        ran(at, &[&first[..], more].concat()).stderr
    };
    run(&["--source", "a.en"]);
    run(&["--interventions", "no-end.json"]);
    let name = json_of(&std::fs::read_to_string(Path::new(model).join("config.json")).expect("a file"))["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    let acted = said(at, &format!("{name} + no-end, beam 2"));
    at.put("plain.json", "{\"version\": 1, \"mask\": [{\"word\": \"</s>\"}]}");
    let translate =
        ["translate", "--model", model, "--beam", "2", "--format", "jsonl", "--interventions", "plain.json", "a.en"];
    let lines = ran(at, &translate).stdout;
    for (n, line) in lines.lines().enumerate().filter(|(n, _)| *n != 2) {
        let line = json_of(line);
        assert_eq!(acted[n].as_deref(), line["hypotheses"][0]["text"].as_str(), "sentence {}", n + 1);
    }

    // The same goes on, others under the same name are another system.
    at.put("b.en", "s3 s2\n");
    run(&["--source", "b.en", "--interventions", "no-end.json"]);
    assert!(said(at, &format!("{name} + no-end, beam 2"))[4].is_some());
    at.put("no-end.json", "{\"version\": 1, \"mask\": [{\"position\": 4}]}");
    let told = run(&["--interventions", "no-end.json"]);
    assert!(told.contains("sentence 2: is left out") && told.contains("source word 4"), "{told}");
    let other = said(at, &format!("{name} + no-end, beam 2 (2)"));
    assert_eq!(other.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, true, false]);

    // A line for each sentence.
    at.put("each.jsonl", "\n{\"version\": 1, \"force\": [{\"position\": 1, \"word\": \"t5\"}]}\n");
    run(&["--interventions", "each.jsonl"]);
    let each = said(at, &format!("{name} + each, beam 2"));
    assert_eq!(
        (&each[0], each[1].as_deref().map(|text| text.starts_with("t5"))),
        (&said(at, &format!("{name}, beam 2"))[0], Some(true))
    );

    let encdec = &*reference_word("rnnencdec");
    at.put("long.jsonl", "{\"version\": 1, \"temperature\": 2}\n".repeat(9));
    for (model, more, says) in [
        (encdec, &["--interventions", "no-end.json"][..], "key `mask` changes the alignment"),
        (model, &["--interventions", "long.jsonl"], "has 9 lines, but the corpus has 5 sentences"),
        (model, &["--interventions", "none.json"], "none.json"),
        (model, &["--interventions", "no-end.json", "--force"], "cannot be used with"),
    ] {
        run_in(at, &[&["analyse", "--workspace", "w.ilws", "--model", model][..], more].concat()).refused(says);
    }

    // an aligner that is gone is told before anything is run
    let look = FileVersion { aligner: Some(at.join("gone.aligner")), ..FileVersion::default() };
    Workspace::open(&at.join("w.ilws")).expect("opened").keep_look(&look).expect("kept");
    let more = ["analyse", "--workspace", "w.ilws", "--model", model, "--interventions", "long.jsonl"];
    run_in(at, &more).refused("gone.aligner: does not exist");
}

#[test]
fn ids_pass_through_and_bad_lines_need_not_end_in_an_error() {
    let folder = Folder::new();
    let model = &*reference_word("rnnsearch");
    let long = "s2 ".repeat(2000);
    let text = format!("b-7\ts2 s3\nno tab\n9\t\n11\t{long}\n12\ts2 s3\n");
    let run = |more: &[&str]| {
        let arguments = [&["translate", "--model", model, "--beam", "2", "--ids"][..], more].concat();
        feed(&folder, &arguments, text.as_bytes())
    };
    let outcome = run(&["--format", "jsonl", "--keep-going"]).good();
    let lines = json_lines(&outcome.stdout);
    let ids: Vec<&str> = lines.iter().map(|line| line["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["b-7", "no tab", "9", "11", "12"]);
    let counts: Vec<usize> = lines.iter().map(|line| line["hypotheses"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [1, 0, 0, 0, 1]);
    for (line, says) in [(1, "has no tab behind its id"), (3, "words")] {
        assert!(lines[line]["error"].as_str().is_some_and(|why| why.contains(says)), "{}", lines[line]);
    }
    assert!(lines[0].get("error").is_none() && lines[2].get("error").is_none());
    let outcome = run(&[]);
    assert_eq!(outcome.code, 2);
    let first = lines[0]["hypotheses"][0]["text"].as_str().expect("a text");
    assert_eq!(outcome.stdout, format!("b-7\t{first}\nno tab\t\n9\t\n11\t\n12\t{first}\n"));
}

#[test]
fn a_line_that_is_no_text_is_gone_past_where_that_is_asked_for() {
    let folder = Folder::new();
    let model = reference("rnnsearch");
    let run = |more: &[&str]| {
        let model = model.to_str().expect("a path");
        let arguments = [&["translate", "--model", model, "--beam", "2", "--format", "jsonl"][..], more].concat();
        feed(&folder, &arguments, b"s2 s3\nbad \xff\ns2 s3\n")
    };
    let outcome = run(&["--keep-going"]).good();
    let mut lines = json_lines(&outcome.stdout);
    assert!(lines[0].as_object_mut().and_then(|first| first.remove("provenance")).is_some());
    assert_eq!((lines.len(), &lines[0]), (3, &lines[2]));
    assert!(lines[1]["error"].as_str().is_some_and(|why| why.contains("line 2: is not UTF-8")), "{}", lines[1]);
    run(&[]).refused("line 2: is not UTF-8");
}
