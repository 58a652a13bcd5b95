//! Packages as they are made of a built program, unpacked and started from another folder.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, process::Command};

use crate::cli::json_of;
use crate::folder::{Files as _, Folder};

fn package(kind: &str, tool: &str, folder: &Path, set: &[(&str, &str)]) -> Option<PathBuf> {
    if Command::new(tool).arg("--version").output().is_err() {
        return None;
    }
    // As of a user who lets nobody else read.
    let done = Command::new("sh")
        .args(["-c", "umask 077; exec \"$0\" \"$@\""])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/packaging/package.sh"))
        .args([kind, env!("CARGO_BIN_EXE_interlinear")])
        .arg(folder.join("out"))
        .env("COMPRESSION", "none")
        .envs(set.iter().copied())
        .output()
        .expect("a shell");
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{kind}: {told}");
    let path = String::from_utf8(done.stdout).expect("a path");
    Some(PathBuf::from(path.trim_end()))
}

fn check(prefix: &Path, elsewhere: &Path) {
    for file in [
        "share/applications/interlinear.desktop",
        "share/icons/hicolor/256x256/apps/interlinear.png",
        "share/icons/hicolor/48x48/apps/interlinear.png",
        "share/icons/hicolor/scalable/apps/interlinear.svg",
        "share/doc/interlinear/README.md",
        "share/doc/interlinear/manual/sentence.html",
        "share/doc/interlinear/manual/pictures/heatmap.png",
        "share/mime/packages/interlinear.xml",
        "share/metainfo/org.interlinear.Interlinear.metainfo.xml",
        "share/man/man1/interlinear.1.gz",
        "share/man/man1/interlinear-figure.1.gz",
        "share/bash-completion/completions/interlinear",
        "share/doc/interlinear/copyright",
    ] {
        assert!(prefix.join(file).is_file(), "{file} is missing in {}", prefix.display());
    }
    let terms = prefix.text("share/doc/interlinear/copyright");
    for text in ["MIT License", "SIL OPEN FONT LICENSE", "UBUNTU FONT LICENCE", "\ncandle-core v", "\nwinit v"] {
        assert!(terms.contains(text), "{text} is missing");
    }
    // Not the models of this checkout.
    let config = prefix.join("share/interlinear/models/rnnsearch-en-fr/config.json");
    let text = std::fs::read_to_string(&config).expect("a model");
    let mut value = json_of(&text);
    value["name"] = "the installed one".into();
    std::fs::write(&config, value.to_string()).expect("written");
    std::fs::create_dir_all(elsewhere).expect("created");
    let program = prefix.join("bin/interlinear");
    let done = Command::new(&program)
        .args(["inspect", "rnnsearch-en-fr"])
        .current_dir(elsewhere)
        .env("HOME", elsewhere)
        .env_remove("XDG_DATA_HOME")
        .env_remove("INTERLINEAR_MODELS")
        .output()
        .expect("it starts");
    let (said, told) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && said.contains("the installed one"), "{said}{told}");
}

#[test]
fn packages_are_installed_and_start_from_another_folder() {
    let (folder, elsewhere) = Folder::and_path("elsewhere");
    let set = [("MODELS", "rnnsearch-en-fr"), ("BITS", "16")];
    if let Some(deb) = package("deb", "dpkg-deb", &folder, &set) {
        let field = |name: &str| {
            let done = Command::new("dpkg-deb").arg("-f").arg(&deb).arg(name).output().expect("dpkg-deb");
            String::from_utf8_lossy(&done.stdout).trim().to_owned()
        };
        assert_eq!((field("Package"), field("Version")), ("interlinear".into(), env!("CARGO_PKG_VERSION").into()));
        let root = folder.join("deb");
        let done = Command::new("dpkg").arg("-x").arg(&deb).arg(&root).status().expect("dpkg");
        assert!(done.success());
        check(&root.join("usr"), &elsewhere);
    }
    if let Some(tar) = package("tar", "zstd", &folder, &set) {
        let root = folder.join("tar");
        std::fs::create_dir(&root).expect("created");
        let done = Command::new("tar").arg("-xf").arg(&tar).arg("-C").arg(&root).arg("--strip-components=1").status();
        assert!(done.expect("tar").success());
        check(&root, &elsewhere);
    }
}

#[test]
fn every_model_is_in_the_packages_or_in_the_archive_of_the_others() {
    let folder = Folder::new();
    let made = |kind: &str| package(kind, "zstd", &folder, &[]);
    let (Some(tar), Some(others)) = (made("tar"), made("models")) else {
        return;
    };
    // Each model with the bytes of its weights.
    let listed = |archive: &Path| -> BTreeMap<String, u64> {
        let done = Command::new("tar").arg("-tvf").arg(archive).output().expect("tar");
        let text = String::from_utf8(done.stdout).expect("names of files");
        let weights = text.lines().filter_map(|line| line.strip_suffix("/model.safetensors"));
        let named = weights.filter_map(|line| {
            let (_, name) = line.split_once("models/")?;
            Some((name.to_owned(), line.split_whitespace().nth(2)?.parse().ok()?))
        });
        named.collect()
    };
    let (inside, outside) = (listed(&tar), listed(&others));
    let papers = ["rnnencdec-en-fr", "rnnsearch-en-fr", "luong-global-en-fr", "luong-local-p-en-fr"];
    for model in papers {
        assert!(inside[model] < outside[&format!("{model}-original")], "{model}: {inside:?} {outside:?}");
    }
    let of_lessons = [
        "rnnsearch-guided-en-fr",
        "transformer-en-fr",
        "learning-en-fr/rnnsearch-small-0200",
        "en-de/rnnencdec-en-de",
        "en-de/rnnsearch-guided-en-de",
    ];
    for model in of_lessons {
        assert!(inside.contains_key(model), "{inside:?}");
    }
    assert!(inside.keys().all(|model| !outside.contains_key(model)), "{inside:?} {outside:?}");
    assert!(inside.values().sum::<u64>() < 110_000_000, "{inside:?}");
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    for entry in std::fs::read_dir(bundled).expect("models").flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_it = |model: &&String| model.split('/').next() == Some(&name);
        assert!(inside.keys().chain(outside.keys()).any(|model| is_it(&model)), "{name} is nowhere");
    }
}

#[test]
fn a_package_that_this_machine_cannot_make_is_left_out_with_a_sentence() {
    let folder = Folder::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/packaging/release.sh");
    let release = |part: &str| {
        let done = Command::new("bash").arg(&script).arg(part).env("CARGO_TARGET_DIR", &*folder).output();
        let done = done.expect("a shell");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (code, told) = release("macos");
    assert!(code == Some(0) && told.contains("a Mac makes it"), "{told}");
    assert!(folder.join("packages/SHA256SUMS").is_file());
    let (code, told) = release("amiga");
    assert!(code == Some(2) && told.contains("amiga is no part"), "{told}");
}

#[test]
fn what_package_sh_refuses_is_left_out_and_a_program_of_another_commit_makes_nothing() {
    let folder = Folder::new();
    let script = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    };
    let program = env!("CARGO_BIN_EXE_interlinear");
    let build = format!("[ $1 = build ] && mkdir -p $CARGO_TARGET_DIR/debug && cp {program} $CARGO_TARGET_DIR/debug/");
    script("bin/cargo", &build);
    script("target/packaging-tools/bin/cargo-zigbuild", "");
    for machine in ["x86_64", "aarch64"] {
        script(&format!("target/{machine}-unknown-linux-gnu/release/interlinear"), "touch $CARGO_TARGET_DIR/old");
    }
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").expect("a path"));
    let done = Command::new("bash")
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/assets/packaging/release.sh"), "models"])
        .envs([("PATH", path.as_str()), ("MODELS", "nobody-has-this")])
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .expect("a shell");
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    assert!(told.contains("left out: models for all machines: there is no model nobody-has-this"), "{told}");
    assert!(!folder.join("target/old").exists(), "{told}");
    assert!(folder.join("target/packages/SHA256SUMS").is_file(), "{told}");
}
