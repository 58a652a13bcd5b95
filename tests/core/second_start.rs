//! A second start of the program leaves what it is given to the window that is open.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{sync::Arc, sync::mpsc::channel};

use interlinear::app::files::claim::Claim;
use interlinear::session::driver::{Driver, OpenWith};

use crate::folder::{Files as _, Folder};

const PATIENCE: Duration = Duration::from_secs(20);

fn state(home: &Path) -> PathBuf {
    home.join("interlinear/session.json")
}

fn start(home: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlinear"));
    command.args(arguments).current_dir(home).env("HOME", home).env("XDG_DATA_HOME", home);
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().expect("it starts")
}

fn ended(child: Child) -> (Option<i32>, String) {
    let done = child.wait_with_output().expect("it ends");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn the_window_that_is_open_takes_what_a_second_start_is_given_and_comes_forward() {
    let home = Folder::new();
    home.put("tale.en", "the owl sleeps\n");
    home.put("tale.fr", "le hibou dort\n");
    let (sender, woken) = channel();
    let wake = Arc::new(move || _ = sender.send(()));
    let saved = Some(state(&home));
    let mut driver = Driver::open(OpenWith { saved, ..OpenWith::default() }, wake);
    // This process runs in another folder, so that relative paths are made whole.
    let child = start(&home, &["open", "--source", "tale.en", "--target", "tale.fr"]);
    let deadline = Instant::now() + PATIENCE;
    while driver.session().app().view.calls == 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        woken.recv_timeout(left).expect("what the second was given comes in time");
        driver.pump(Duration::from_millis(8));
    }
    let files = driver.session().app().lists.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    assert_eq!(files, [home.join("tale.en")]);
    let (code, told) = ended(child);
    assert!(code == Some(0) && told.contains("--new-window"), "{told}");
}

#[test]
fn a_window_of_its_own_opens_where_one_is_asked_for_or_the_other_does_not_answer() {
    let home = Folder::new();
    let claim = Claim::on(&state(&home));
    assert!(!claim.is_taken());
    // Nobody reads the letter: the second tries its own window after some seconds and takes the letter back.
    let headed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/origins/mt-trained@1.1");
    let named_alone = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    for arguments in [
        &["explore", "--new-window"][..],
        &["explore", "--new-window", "--model", headed],
        &[named_alone, "--new-window"],
        &["explore", "--threads", "1"],
        &["explore"],
    ] {
        let (code, told) = ended(start(&home, arguments));
        assert!(code == Some(2) && told.contains("the window cannot open"), "{arguments:?}: {code:?} {told}");
        let letters = std::fs::read_dir(state(&home).with_file_name("session.json.inbox"));
        assert_eq!(letters.map_or(0, Iterator::count), 0, "{arguments:?}");
    }
    drop(claim);
}
