//! What is there stays: no output takes the place of an input or of a workspace, and what its owner alone may read stays so.

use std::{fs, path::Path};

use interlinear::session::persist::SavedSession;

use crate::cli::{reference, run_in, run_line};
use crate::folder::{Files as _, Folder};

fn folder() -> Folder {
    let folder = Folder::new();
    let files = ["s", "t", "l.toml", "l.html", "c.toml", "p.gz", "figures.tsv", "rnnsearch.txt", "0001.svg", "links"];
    for name in files {
        folder.put(name, "s2 s3\n");
    }
    let arguments = ["analyse", "--workspace", "w.ilws", "--source", "s", "--output", "A=t", "--format", "none"];
    assert_eq!(run_in(&folder, &arguments).code, 0);
    folder
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let file = |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).ok());
    let mut all: Vec<_> = entries.map(file).filter_map(|(name, bytes)| Some((name, bytes?))).collect();
    all.sort();
    all
}

#[test]
fn no_output_takes_the_place_of_an_input_or_of_the_workspace() {
    let folder = folder();
    let at = &folder;
    let model = at.join("rnnsearch");
    fs::create_dir(&model).expect("made");
    for name in ["config.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"] {
        fs::copy(reference("rnnsearch").join(name), model.join(name)).expect("copied");
    }
    let mut lines = vec![
        "dictionary --statistical --source s --target t --output s",
        "dictionary --statistical --source s --target t --output ./t",
        "dictionary --model rnnsearch --source s --target t --output rnnsearch/config.json",
        "align --statistical --source s --target t --save t",
        "ablate --model rnnsearch --summary s s",
        "score --model rnnsearch --phrase-table p.gz --output p.gz",
        "figure --model rnnsearch s --output s",
        "figure --model rnnsearch 0001.svg --folder .",
        "evaluate --model rnnsearch --source figures.tsv --target t --output .",
        "evaluate --model rnnsearch --source rnnsearch.txt --target t --output .",
        "analyse --workspace w.ilws --save w.ilws",
        "analyse --workspace w.ilws --save w.ilws-wal",
        "analyse --workspace new.ilws --source s --save new.ilws",
        "analyse --workspace w.ilws --source s --save s",
        "analyse --workspace w.ilws --output A=t --save t",
        "analyse --workspace w.ilws --judgements anna=t --save t",
        "report --workspace w.ilws --output w.ilws",
        "lesson l.html --print .",
        "train --new c.toml --text c.toml t",
        "train --new rnnsearch/config.json --vocabulary rnnsearch",
        "bench --model rnnsearch --json rnnsearch/model.safetensors",
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("w.ilws", at.join("link")).expect("a link");
        fs::hard_link(at.join("s"), at.join("hard")).expect("a link");
        lines.extend([
            "analyse --workspace w.ilws --save link",
            "report --workspace link --output w.ilws",
            "align --statistical --source hard --target t --save s",
        ]);
    }
    let before = contents(at);
    for line in lines {
        let arguments: Vec<&str> = line.split(' ').collect();
        let outcome = run_in(at, &arguments);
        let says = outcome.stderr.contains("would write over it") && outcome.stderr.lines().count() == 1;
        assert!(outcome.code == 2 && says, "{line}: {}, {}", outcome.code, outcome.stderr);
        assert!(contents(at) == before, "{line}");
    }
}

#[test]
fn a_workspace_is_not_written_over_whatever_is_written() {
    let at = &folder();
    let make = ["analyse", "--workspace", "other.ilws", "--source", "s", "--format", "none"];
    assert_eq!(run_in(at, &make).code, 0);
    let before = fs::read(at.join("other.ilws")).expect("a workspace");
    for line in [
        "analyse --workspace w.ilws --save other.ilws",
        "analyse --workspace w.ilws --save other.ilws-wal",
        "report --workspace w.ilws --output other.ilws",
        "dictionary --statistical --source s --target t --output other.ilws",
    ] {
        run_line(at, line).refused("belongs to one");
    }
    assert!(fs::read(at.join("other.ilws")).expect("a workspace") == before);
    // What is no input may be written again and again.
    for _ in 0..2 {
        run_line(at, "analyse --workspace w.ilws --save out.tsv").quiet();
    }
}

#[cfg(unix)]
#[test]
fn what_was_typed_is_its_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let at = &folder;
    let mode = |name: &str| fs::metadata(at.join(name)).expect(name).permissions().mode() & 0o777;
    assert_eq!(mode("w.ilws"), 0o600);
    let state = at.join("own/folder/session.json");
    SavedSession::default().save(&state).expect("saved");
    assert_eq!((mode("own"), mode("own/folder"), mode("own/folder/session.json")), (0o700, 0o700, 0o600));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o644)).expect("changed");
    SavedSession::default().save(&state).expect("saved");
    assert_eq!(mode("own/folder/session.json"), 0o600);
}
