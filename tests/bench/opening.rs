//! Opening and searching a long list without a display: a file of a million lines, made for the measurement and thrown
//! away. The same driver, worker and file threads as the window's, in turns as long as those of a frame.

use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};
use std::{path::Path, sync::Arc, sync::mpsc::sync_channel};

use serde_json::{Value, json};

use crate::{Setup, timing::millis};
use interlinear::app::{command::WindowCommand, files::lists::List};
use interlinear::cli::bench::figures::{BenchColumn, Figures};
use interlinear::error::{Error, Result};
use interlinear::pages::{command::Command, sentence::command::ListCommand};
use interlinear::session::driver::{Driver, OpenWith};

/// Lines of the file, and of that of the quick form.
const LINES: (usize, usize) = (1_000_000, 2_000);
/// What is looked for: in every line, in one of a thousand, nowhere.
const NEEDLES: &[(&str, &str)] = &[("every line", "RIVER"), ("one in 1,000", "blue 77;"), ("no line", "violet")];
/// As long as the window takes in news in one frame.
const TURN: Duration = Duration::from_millis(4);
const LOOK_EVERY: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_mins(2);

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("search finds", 12),
    BenchColumn::number("lines", 0),
    BenchColumn::number("MB", 0),
    BenchColumn::number("first lines ms", 1),
    BenchColumn::number("all lines ms", 0),
    BenchColumn::number("search ms", 0),
    BenchColumn::number("longest turn ms", 1),
    BenchColumn::number("memory MB", 0),
];

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let lines = if setup.quick { LINES.1 } else { LINES.0 };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("lines.txt");
    write(&path, lines)?;
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
    figures
        .line("memory is the most beyond that of before; a turn is what one frame takes in, at most 4 ms by itself")?;
    figures.head(COLUMNS)?;
    for (what, needle) in NEEDLES {
        let (found, millis, memory) = opening(&path, needle)?;
        anyhow::ensure!(found == lines, "{lines} lines were opened as {found}");
        let row = [&[json!(what), json!(lines), json!(megabytes)], &millis.map(Value::from)[..], &[json!(memory)]];
        figures.row(&row.concat())?;
    }
    Ok(())
}

fn opening(path: &Path, needle: &str) -> Result<(usize, [f64; 4], Option<f64>)> {
    let (sender, woken) = sync_channel::<()>(1);
    let wake = Arc::new(move || {
        // A full channel has told already.
        let _ = sender.try_send(());
    });
    let before = resident("VmRSS:");
    let mut driver = Driver::open(OpenWith::default(), wake);
    let mut longest = 0.0_f64;
    let began = Instant::now();
    let mut turn = |driver: &mut Driver, command: Option<Command>| -> Result<f64> {
        let start = Instant::now();
        if let Some(command) = command {
            driver.send(command);
        }
        driver.pump(TURN);
        longest = longest.max(millis(start));
        // News wake us; without any we look again.
        let _ = woken.recv_timeout(LOOK_EVERY);
        if began.elapsed() > PATIENCE {
            return Err(Error::file(path, "was not read in two minutes; measure with a shorter file"));
        }
        Ok(millis(began))
    };
    let mut now = turn(&mut driver, Some(WindowCommand::Open(path.to_owned()).into()))?;
    let (mut first, mut whole) = (None, None);
    while whole.is_none() {
        let session = driver.session();
        if let Some(notice) = session.app().view.notices.iter().find(|notice| notice.is_error) {
            return Err(Error::Input(notice.text.clone()));
        }
        let shown = matches!(session.app().lists.shown, List::File(_)) && session.app().lists.sentence(0).is_some();
        first = first.or(shown.then_some(now));
        let is_whole = shown && session.app().lists.files.iter().any(|file| file.path == path && file.is_whole());
        whole = is_whole.then_some(now);
        if whole.is_none() {
            now = turn(&mut driver, None)?;
        }
    }
    let asked = turn(&mut driver, Some(ListCommand::Last.into()))?;
    let mut searched = turn(&mut driver, Some(ListCommand::Search(needle.to_owned()).into()))?;
    while driver.session().app().lists.is_searching() {
        searched = turn(&mut driver, None)?;
    }
    let memory = before.zip(resident("VmHWM:")).map(|(before, most)| most.saturating_sub(before) as f64 / 1e6);
    let times = [first.unwrap_or_default(), whole.unwrap_or_default(), searched - asked, longest];
    Ok((driver.session().app().lists.len(), times, memory))
}

fn resident(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

fn write(path: &Path, lines: usize) -> Result<()> {
    let failed = |error| Error::io(path, &error);
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    for n in 0..lines {
        let (children, blue) = (n % 97, n % 1000);
        let line = format!(
            "Line {n}: the old bicycle stood behind the house near the river, where {children} children of the village \
             played; blue {blue}; red."
        );
        writeln!(file, "{line}").map_err(failed)?;
    }
    file.flush().map_err(failed)
}
