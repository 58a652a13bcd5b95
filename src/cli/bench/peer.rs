//! Floor 10: another program that does the same work, run by turns with ours.
//!
//! A peer is a shell command. It is called with arguments behind it and prints its figures as the last line of stdout,
//! one JSON object; what it says on stderr is shown only when it prints none.

use std::ffi::OsString;
use std::process::Command;

use serde_json::Value;

use crate::cli::output::failed;
use crate::error::Error;

/// Another program, as a shell command.
#[derive(Clone, Debug)]
pub struct Peer {
    command: String,
    /// What its figures must hold, a number.
    key: &'static str,
}

impl Peer {
    /// A program that prints a number of that key.
    pub fn new(command: &str, key: &'static str) -> Self {
        Self { command: command.to_owned(), key }
    }

    /// Why it printed none, without the command, for a table that is kept.
    pub fn refusal(&self, error: &anyhow::Error) -> String {
        error.to_string().replace(&format!(" `{}`", self.command), "")
    }

    /// Runs it once and reads the last line that it prints.
    pub fn run(&self, arguments: &[OsString]) -> anyhow::Result<Value> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{} \"$@\"", self.command)).arg("sh").args(arguments);
        let done = command.output().map_err(|error| failed("sh", error))?;
        let last = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
        };
        let printed = last(&done.stdout);
        let figures: Option<Value> = serde_json::from_str(&printed).ok().filter(|_| done.status.success());
        let figures = figures.filter(|figures| figures[self.key].is_number());
        figures.ok_or_else(|| {
            let said: String = last(&done.stderr).chars().take(200).collect();
            let why = if said.is_empty() { done.status.to_string() } else { format!("{}: {said}", done.status) };
            let peer = &self.command;
            Error::Input(format!("the peer `{peer}` printed no figures ({why}); run it by hand to see why")).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_last_line_and_a_peer_without_any_says_why() {
        let run = |command: &str| Peer::new(command, "rate").run(&["5".into()]);
        let told = run("printf 'loading\\n{\"rate\": %s}\\n'").expect("figures");
        assert_eq!(told["rate"], 5);
        for (command, why) in [
            ("false", "exit status: 1)"),
            ("echo '{\"other\": 1}' #", "exit status: 0)"),
            ("sh -c 'echo no such model >&2; exit 3'", "exit status: 3: no such model)"),
        ] {
            let error = run(command).expect_err("no figures");
            let kept = Peer::new(command, "rate").refusal(&error);
            assert!(kept.contains(why) && !kept.contains(&format!("`{command}`")), "{kept}");
            let error = error.to_string();
            assert!(error.contains(why) && error.contains(command), "{error}");
        }
    }
}
