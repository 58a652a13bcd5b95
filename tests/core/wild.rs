//! Faults that were seen in files of others, each with a small input of our own that has the same fault. A folder of
//! `tests/fixtures/wild` is a case: its files, and `case.toml` with where the fault was seen, what is right, and the
//! command lines that show it.

use std::{fs, path::Path};

use serde::Deserialize;

use crate::cli::feed;
use crate::folder::{Files as _, Folder};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    seen: String,
    right: String,
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    code: i32,
    stdout: Option<String>,
    #[serde(default)]
    stdout_has: Vec<String>,
    #[serde(default)]
    stdout_lacks: Vec<String>,
    #[serde(default)]
    stderr_has: Vec<String>,
    #[serde(default)]
    stderr_lacks: Vec<String>,
}

impl Run {
    fn faults(&self, folder: &Path) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let whole = |name: &str| root.join(name).display().to_string();
        let filled =
            |text: &String| text.replace("{fixtures}", &whole("tests/fixtures")).replace("{models}", &whole("models"));
        let args: Vec<String> = self.args.iter().map(filled).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let outcome = feed(folder, &args, self.stdin.as_bytes());
        let mut faults = Vec::new();
        if outcome.code != self.code {
            faults.push(format!("exit code {}, not {}", outcome.code, self.code));
        }
        if self.stdout.as_ref().is_some_and(|all| *all != outcome.stdout) {
            faults.push("another output".to_owned());
        }
        let texts = [
            (&self.stdout_has, &outcome.stdout, true),
            (&self.stdout_lacks, &outcome.stdout, false),
            (&self.stderr_has, &outcome.stderr, true),
            (&self.stderr_lacks, &outcome.stderr, false),
        ];
        for (wanted, text, is_there) in texts {
            let strange = wanted.iter().filter(|part| text.contains(part.as_str()) != is_there);
            faults.extend(strange.map(|part| format!("{} `{part}`", if is_there { "lacks" } else { "has" })));
        }
        if !faults.is_empty() {
            let (stdout, stderr) = (&outcome.stdout, &outcome.stderr);
            faults.push(format!("{:?}\n--- stdout\n{stdout}--- stderr\n{stderr}", self.args.join(" ")));
        }
        faults
    }
}

fn faults(folder: &Path) -> Vec<String> {
    let text = folder.text("case.toml");
    let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    assert!(!case.seen.is_empty() && !case.right.is_empty() && !case.run.is_empty(), "{}", folder.display());
    let copy = Folder::new();
    copied(folder, &copy);
    case.run.iter().flat_map(|run| run.faults(&copy)).collect()
}

fn copied(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            fs::create_dir(&copy).expect("a folder");
            copied(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("a copy");
        }
    }
}

#[test]
fn files_of_others_are_read_as_they_are_meant() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wild");
    let mut cases: Vec<_> = fs::read_dir(all).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    cases.sort();
    // One alone while it is worked on: WILD=lines-cr cargo test --test core wild
    let only = std::env::var("WILD").unwrap_or_default();
    let mut failed = Vec::new();
    for case in cases.iter().filter(|case| case.display().to_string().contains(&only)) {
        let faults = faults(case);
        if !faults.is_empty() {
            failed.push(format!("{}: {}", case.display(), faults.join("; ")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
