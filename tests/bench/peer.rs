//! Another program that does the same work, run by turns with ours.
//!
//! A peer is a shell command. It is called with arguments behind it and prints its figures as the last line of stdout,
//! one JSON object; what it says on stderr is shown only when it prints none.

use std::{ffi::OsString, process::Command};

use serde_json::Value;

#[derive(Clone)]
pub struct Peer {
    command: String,
    key: &'static str,
}

impl Peer {
    pub fn new(command: &str, key: &'static str) -> Self {
        Self { command: command.to_owned(), key }
    }

    pub fn name(&self) -> &str {
        self.command.rsplit('/').next().unwrap_or_default()
    }

    pub fn run(&self, arguments: &[OsString]) -> Result<Value, String> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{} \"$@\"", self.command)).arg("sh").args(arguments);
        let done = command.output().map_err(|error| format!("sh: {error}"))?;
        let last = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
        };
        let figures: Option<Value> = serde_json::from_str(&last(&done.stdout)).ok().filter(|_| done.status.success());
        figures.filter(|figures| figures[self.key].is_number()).ok_or_else(|| {
            let said: String = last(&done.stderr).chars().take(200).collect();
            format!("the peer printed no figures ({}: {said}); run it by hand to see why", done.status)
        })
    }
}

pub fn must_have_run(asked: bool, ran: bool) -> anyhow::Result<()> {
    anyhow::ensure!(!asked || ran, "the peer printed no figures for any model; what it said stands above");
    Ok(())
}
