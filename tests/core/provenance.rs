//! What made a result stands in it or beside it, and nothing that scripts read is another for it.

use std::{fs, path::Path};

use serde_json::Value;

use crate::cli::{json_lines, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};

fn ran(folder: &Path, arguments: &str) -> String {
    run_line(folder, arguments).good().stdout
}

fn folder() -> Folder {
    let folder = Folder::new();
    let files =
        [("x", "s9 s31 s17\ns4 s5\n"), ("y", "t2 t3\nt4\n"), ("p.tsv", "source\tgood\tbad\ns9 s31\tt2 t3\tt2 t4\n")];
    folder.put_all(files);
    folder
}

fn is_whole(found: &Value, has_search: bool) -> bool {
    let has = |name: &str, begin: &str| found[name].as_str().is_some_and(|value| value.starts_with(begin));
    let search = if has_search { "beam 2, length penalty power:0.6" } else { "" };
    let is_searched = found["search"].as_str().unwrap_or_default() == search;
    has("model", "") && has("digest", "sha256:") && has("program", "Interlinear ") && has("command", "") && is_searched
}

#[test]
fn json_lines_say_once_what_made_them_and_other_formats_in_a_file() {
    let (folder, model) = (folder(), reference_word("rnnsearch"));
    let at = &folder;
    let search = "--beam 2 --length-normalization 0.6";
    for (command, format, table, has_search) in [
        (format!("translate --model {model} {search} x"), "jsonl", "text", true),
        (format!("ablate --model {model} {search} x"), "jsonl", "tsv", true),
        (format!("align --model {model} --source x --target y"), "jsonl", "pharaoh", false),
        (format!("contrast --model {model} p.tsv"), "json", "tsv", false),
        (format!("concordance --source x --model {model} {search} --least 1 --by word"), "json", "tsv", true),
        (format!("gloss --source x --model {model} {search}"), "", "gb4e", true),
    ] {
        if !format.is_empty() {
            let lines = ran(at, &format!("{command} --format {format}"));
            let lines = json_lines(&lines);
            assert!(is_whole(&lines[0]["provenance"], has_search), "{command}: {}", lines[0]);
            assert!(lines[1..].iter().all(|line| line.get("provenance").is_none()), "{command}");
        }
        let plain = ran(at, &format!("{command} --format {table}"));
        assert_eq!(ran(at, &format!("{command} --format {table} --provenance from.json")), plain, "{command}");
        let file = at.text("from.json");
        assert!(is_whole(&serde_json::from_str(&file).expect("JSON"), has_search), "{command}: {file}");
    }
    run_in(at, &["translate", "--model", &model, "x", "--provenance", "x"]).refused("--provenance would write over it");
}

#[test]
fn what_leaves_a_corpus_says_of_which_systems_it_is() {
    let (folder, model) = (folder(), reference_word("rnnsearch"));
    let at = &folder;
    ran(at, &format!("analyse --workspace w.ilws --source x --model {model} --beam 2 --save t.tsv"));
    ran(at, "analyse --workspace w.ilws --format npz --save a.npz");
    let beside = at.text("t.tsv.provenance.json");
    let lines = ran(at, "analyse --workspace w.ilws --format jsonl");
    let lines = json_lines(&lines);
    let mut npz = zip::ZipArchive::new(fs::File::open(at.join("a.npz")).expect("an archive")).expect("an archive");
    let mut array = Vec::new();
    std::io::copy(&mut npz.by_name("provenance.npy").expect("a key"), &mut array).expect("read");
    let start = 10 + usize::from(u16::from_le_bytes([array[8], array[9]]));
    // letters of four bytes
    let array: String = array[start..].chunks(4).map(|letter| char::from(letter[0])).collect();
    for found in [
        serde_json::from_str(&beside).expect("JSON"),
        lines[0]["provenance"].clone(),
        serde_json::from_str(&array).expect("JSON"),
    ] {
        let system = found["system"].as_str().unwrap_or_default().to_owned();
        assert!(system.contains("; digest sha256:") && system.contains("; beam 2; "), "{found}");
        assert!(found["program"].as_str().is_some_and(|program| program.starts_with("Interlinear ")), "{found}");
    }
    assert!(lines[1].get("provenance").is_none());
    at.put("again.jsonl", ran(at, "analyse --workspace w.ilws --format jsonl"));
    ran(at, "analyse --workspace other.ilws --import again.jsonl --format none");
}
