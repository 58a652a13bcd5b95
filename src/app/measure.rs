//! Floor 9: the opening of a long text file measured from inside, without a window: the same driver, worker and file
//! threads as the window's, in turns as long as those of a frame.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use crate::app::figures::OpeningFigures;
use crate::app::files::lists::List;
use crate::error::{Error, Result};
use crate::pages::sentence::command::ListCommand;
use crate::session::command::{Command, WindowCommand};
use crate::session::driver::{Driver, OpenWith};

/// As long as the window takes in news in one frame.
const TURN: Duration = Duration::from_millis(4);
/// The driver is looked at so often at least.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// The measurement ends at the latest after so long.
const PATIENCE: Duration = Duration::from_mins(2);

/// Opens `path` as a list, goes to its last line and searches it for `needle`.
pub fn opening(path: &Path, needle: &str) -> Result<OpeningFigures> {
    let (sender, woken) = sync_channel::<()>(1);
    let wake = Arc::new(move || {
        // A full channel has told already.
        let _ = sender.try_send(());
    });
    let before = resident("VmRSS:");
    let mut driver = Driver::open(OpenWith::default(), wake);
    let mut figures = OpeningFigures::default();
    let began = Instant::now();
    let mut turn = |driver: &mut Driver, command: Option<Command>| -> Result<f64> {
        let start = Instant::now();
        if let Some(command) = command {
            driver.send(command);
        }
        driver.pump(TURN);
        figures.longest_turn_millis = figures.longest_turn_millis.max(millis(start));
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
        if let Some(notice) = session.app().view.notices().iter().find(|notice| notice.is_error) {
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
    figures.lines = driver.session().app().lists.len();
    figures.found = driver.session().app().lists.visible_len();
    figures.bytes = std::fs::metadata(path).map_or(0, |facts| facts.len());
    figures.first_millis = first.unwrap_or_default();
    figures.whole_millis = whole.unwrap_or_default();
    figures.search_millis = searched - asked;
    figures.memory_bytes = before.zip(resident("VmHWM:")).map(|(before, most)| most.saturating_sub(before));
    Ok(figures)
}

/// Memory of this process as the system tells it, where it does.
fn resident(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

fn millis(since: Instant) -> f64 {
    1000.0 * since.elapsed().as_secs_f64()
}
