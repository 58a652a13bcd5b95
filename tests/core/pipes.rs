//! A pipe in the place of a file: nothing waits for it.
#![cfg(unix)]

use interlinear::{corpus::store::file::Workspace, training::curves::Curves, training::state::Checkpoint};

use crate::folder::Folder;

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let (_folder, pipe) = Folder::and_path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let error = Workspace::open(&pipe).err().expect("it is no corpus").to_string();
    assert!(error.contains("pipe: is no file"), "{error}");
    let error = Curves::load(&pipe).expect_err("it is no log").to_string();
    assert!(error.contains("pipe: is a pipe or a device"), "{error}");
    let error = Checkpoint::load(&pipe, 1).expect_err("it is no checkpoint").to_string();
    assert!(error.contains("pipe: is a pipe or a device"), "{error}");
}
