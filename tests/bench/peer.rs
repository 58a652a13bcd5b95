//! Another program that does the same work, run by turns with ours, each in the settings that are best for it.
//!
//! A peer is a shell command. It is called with arguments behind it and prints its figures as the last line of stdout,
//! one JSON object; what it says on stderr is shown only when it prints none.

use std::{ffi::OsString, process::Command};

use serde_json::Value;

use crate::others::Others;

/// How a peer is run: on how many threads, how they wait for each other, and how many translators share them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    pub name: &'static str,
    all_threads: bool,
    waiting: &'static str,
    side_by_side: bool,
}

const fn setting(name: &'static str, all_threads: bool, waiting: &'static str, side_by_side: bool) -> Setting {
    Setting { name, all_threads, waiting, side_by_side }
}

/// One thread, all of them in both ways of waiting of OpenMP, and a translator for each thread.
pub const SETTINGS: [Setting; 4] = [
    setting("1 thread", false, "", false),
    setting("all, active", true, "ACTIVE", false),
    setting("all, passive", true, "PASSIVE", false),
    setting("side by side", true, "", true),
];

/// A setting this much slower than the best one is not tried again.
const HOPELESS: f64 = 0.8;

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

    /// Runs it on up to `threads` threads; one that does not know a setting prints no figures.
    pub fn run(&self, arguments: &[OsString], setting: Setting, threads: usize) -> Result<Value, String> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{} \"$@\"", self.command)).arg("sh").args(arguments);
        let (each, several) = match setting {
            Setting { side_by_side: true, .. } => (1, Some(threads)),
            Setting { all_threads: true, .. } => (threads, None),
            _ => (1, None),
        };
        command.arg(format!("threads={each}")).args(several.map(|several| format!("side_by_side={several}")));
        if !setting.waiting.is_empty() {
            command.env("OMP_WAIT_POLICY", setting.waiting);
        }
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

/// What a peer printed in each setting, turn after turn.
pub struct Laps {
    peer: Peer,
    settings: Vec<(Setting, Vec<Value>)>,
    threads: usize,
    pub refused: Option<String>,
}

impl Laps {
    pub fn new(peer: &Peer, threads: usize) -> Self {
        let settings = SETTINGS.iter().filter(|setting| threads > 1 || !setting.all_threads);
        let settings = settings.map(|setting| (*setting, Vec::new())).collect();
        Self { peer: peer.clone(), settings, threads, refused: None }
    }

    pub fn name(&self) -> &str {
        self.peer.name()
    }

    /// One turn in each setting that may still be its best.
    pub fn turn(&mut self, arguments: &[OsString], others: &mut Others) {
        let most = self.best().map_or(0.0, |(_, rate)| rate);
        let (peer, threads, refused) = (&self.peer, self.threads, &mut self.refused);
        let key = peer.key;
        self.settings.retain(|(_, lap)| lap.is_empty() || rate(lap, key) > HOPELESS * most);
        self.settings.retain_mut(|(setting, lap)| {
            // once is enough: a peer need not know every architecture, nor every setting
            if refused.is_some() {
                return false;
            }
            match others.during(|| peer.run(arguments, *setting, threads)) {
                Ok(figures) => lap.push(figures),
                Err(why) if *setting == SETTINGS[0] => *refused = Some(why),
                Err(_) => return false,
            }
            refused.is_none()
        });
    }

    /// The setting with the best median of the words a second, and that median.
    fn best(&self) -> Option<(usize, f64)> {
        let rates = self.settings.iter().map(|(_, lap)| rate(lap, self.peer.key)).enumerate();
        rates.filter(|(at, _)| !self.settings[*at].1.is_empty()).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The name of its best setting, and what it printed in it.
    pub fn at_its_best(&self) -> Option<(&'static str, &[Value])> {
        let (setting, lap) = &self.settings[self.best()?.0];
        Some((setting.name, lap))
    }
}

fn rate(lap: &[Value], key: &str) -> f64 {
    numbers(lap, key, 0.5)
}

/// The number at a share of what was printed under a key, in order.
pub fn numbers(lap: &[Value], key: &str, share: f64) -> f64 {
    let all: Vec<f64> = lap.iter().filter_map(|figures| figures[key].as_f64()).collect();
    interlinear::cli::bench::figures::quantile(&all, share)
}

pub fn must_have_run(asked: bool, ran: bool) -> anyhow::Result<()> {
    anyhow::ensure!(!asked || ran, "the peer printed no figures for any model; what it said stands above");
    Ok(())
}
