//! What is written never takes the place of what is read. One look at the arguments of every command, before
//! any work begins: the same file by its name, a link, or as standard input is refused.

use std::path::{Path, PathBuf};
use std::{any::TypeId, ffi::OsStr};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use engine::error::{Error, Result};
use engine::models::choice::ModelSpec;
use engine::models::disk::{CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use engine::text::write::{BESIDE_DATABASE, is_same_file};

const STDIN: &str = "/dev/stdin";
const OF_MODEL: [&str; 4] = [CONFIG_FILE, WEIGHTS_FILE, SOURCE_FILE, TARGET_FILE];
const IN_FOLDERS: [(&str, &str); 8] = [
    ("figures", ".tsv"),
    ("bootstrap", ".tsv"),
    ("alignment", ".tsv"),
    ("report", ".json"),
    ("", ".sentences.tsv"),
    ("", ".sentences.jsonl"),
    ("", ".html"),
    ("sentence-", ".tsv"),
];

struct InputPath {
    path: PathBuf,
    argument: String,
}

/// Refuses arguments that name the same file to be read and to be written.
pub fn check(command: &Command, writes: &[&str], matches: &ArgMatches) -> Result<()> {
    let is_written = |argument: &&Arg| writes.contains(&argument.get_id().as_str());
    let (written, others): (Vec<&Arg>, Vec<&Arg>) = command.get_arguments().partition(is_written);
    let read: Vec<InputPath> = others.into_iter().flat_map(|argument| all_read(argument, matches)).collect();
    let stdin = InputPath { path: STDIN.into(), argument: "standard input".to_owned() };
    // A model's translations are called after it.
    let names: Vec<&OsStr> = read.iter().filter_map(|read| read.path.file_name()).collect();
    for argument in written {
        for path in values(argument, matches).map(Path::new) {
            let would_replace = |read: &&InputPath| would_replace(path, &read.path, &names);
            if let Some(read) = read.iter().chain([&stdin]).find(would_replace) {
                let (file, written) = (read.path.display(), shown(argument));
                let message = format!("{file} is read, as {}, and {written} would write over it", read.argument);
                return Err(Error::Input(format!("{message}; name another place")));
            }
        }
    }
    Ok(())
}

fn values<'a>(argument: &Arg, matches: &'a ArgMatches) -> impl Iterator<Item = &'a OsStr> {
    let id = argument.get_id().as_str();
    let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
    matches.try_get_raw(id).ok().flatten().filter(|_| is_typed).into_iter().flatten()
}

fn all_read(argument: &Arg, matches: &ArgMatches) -> Vec<InputPath> {
    let kind = argument.get_value_parser().type_id();
    let is_path = kind == TypeId::of::<PathBuf>() || kind == TypeId::of::<ModelSpec>();
    // `NAME=FILE` and `[NAME=]FILE` name a file too.
    let is_named = argument.get_value_names().is_some_and(|names| names.iter().any(|name| name.ends_with("FILE")));
    if !is_path && !is_named {
        return Vec::new();
    }
    let is_workspace = argument.get_id() == "workspace";
    let mut paths: Vec<PathBuf> = values(argument, matches).map(PathBuf::from).collect();
    if is_named {
        let files = values(argument, matches).filter_map(|typed| typed.to_str()?.split_once('='));
        paths.extend(files.map(|(_, file)| file.into()));
    }
    if is_workspace {
        let beside =
            |path: &PathBuf| BESIDE_DATABASE.map(|ending| PathBuf::from(format!("{}{ending}", path.display())));
        paths.extend(paths.iter().flat_map(beside).collect::<Vec<_>>());
    }
    paths.into_iter().map(|path| InputPath { path, argument: shown(argument) }).collect()
}

fn shown(argument: &Arg) -> String {
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => {
            argument.get_value_names().and_then(|names| names.first()).map_or_else(String::new, ToString::to_string)
        }
    }
}

fn would_replace(written: &Path, read: &Path, names: &[&OsStr]) -> bool {
    if read.is_dir() {
        return OF_MODEL.iter().map(|name| read.join(name)).any(|file| file.exists() && is_same_file(written, &file));
    }
    if !written.is_dir() {
        return is_same_file(written, read);
    }
    let name = read.file_name().unwrap_or_default();
    let is_ours = |name: &str| {
        let is_number = || name.split_once('.').is_some_and(|(stem, _)| stem.bytes().all(|byte| byte.is_ascii_digit()));
        let is_named = || name.strip_suffix(".txt").is_some_and(|stem| names.contains(&OsStr::new(stem)));
        IN_FOLDERS.iter().any(|(begin, end)| name.starts_with(begin) && name.ends_with(end))
            || is_number()
            || is_named()
    };
    name.to_str().is_some_and(is_ours) && is_same_file(&written.join(name), read)
}
