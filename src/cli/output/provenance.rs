//! What a run of the program used, for its results: the command, its models with their digests, how they searched, and the
//! version. Commands note it where they load and search, so that no command has to hand it on.
//!
//! JSON lines have it as the key `provenance` of their first object, figures as facts, everything as the file of `--provenance`. Tables
//! and links that go to standard output have no place for it: scripts read their first line as the head, or as the first sentence.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::{Arg, ArgMatches, value_parser};

use engine::{error::Result, models::Model, text::write::write_atomic};
use figure::provenance::Provenance;

/// The id of the argument.
pub const ARGUMENT: &str = "provenance";

/// What the process has used so far; nothing where nobody asks, since a digest is of all weights.
static USED: Mutex<Option<Provenance>> = Mutex::new(None);

/// The argument, for commands whose results have it.
pub fn argument() -> Arg {
    let help =
        "Write into this file, as JSON, what made the results: models, digests, search and version of the program";
    Arg::new(ARGUMENT).long(ARGUMENT).value_name("FILE").help(help).value_parser(value_parser!(PathBuf))
}

/// Takes notes from now on where the results of a command that has [`argument`] will have them.
pub fn begin_for(command: &str, matches: &ArgMatches) {
    let format = matches.try_get_raw("format").ok().flatten().and_then(|mut typed| typed.next());
    let is_json = format.and_then(|format| format.to_str()).is_some_and(|format| format.starts_with("json"));
    if is_json || file(matches).is_some() {
        begin(command);
    }
}

/// Takes notes from now on.
pub fn begin(command: &str) {
    let facts = vec![("command".to_owned(), command.to_owned())];
    *USED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Provenance { facts, ..Provenance::default() });
}

fn file(matches: &ArgMatches) -> Option<&PathBuf> {
    matches.try_get_one::<PathBuf>(ARGUMENT).ok().flatten()
}

fn note(add: impl FnOnce(&mut Provenance)) {
    if let Some(used) = USED.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        add(used);
    }
}

/// Notes a model that was loaded.
pub fn model(model: &Model) {
    note(|used| used.model(&model.config.name, &model.digest()));
}

/// Notes what else a result depends on, once.
pub fn fact(name: &str, value: &str) {
    note(|used| {
        if !used.facts.iter().any(|(known, old)| known == name && old == value) {
            used.fact(name, value);
        }
    });
}

/// What was noted, where notes were taken.
pub fn used() -> Option<Provenance> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
    used.program();
    Some(used)
}

/// Writes the file of the argument, where it is given.
pub fn end(matches: &ArgMatches) -> Result<()> {
    let Some((path, used)) = file(matches).zip(used()) else { return Ok(()) };
    write_atomic(path, |file| writeln!(file, "{:#}", used.json()))
}
