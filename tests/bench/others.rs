//! What else ran on the machine while something was measured: a figure with a busy neighbour is none. Counted is what
//! all cores did (and what a host took away from them) beyond what this process and its finished children did.

use std::time::Instant;

/// Cores that others may keep busy before a figure is marked.
const QUIET: f64 = 0.3;

/// What all cores have done since the start, what we have, and when.
#[derive(Clone, Copy)]
struct Moment {
    all: f64,
    ours: f64,
    at: Instant,
}

/// Clock ticks a second of the files below, on every Linux.
const TICKS: f64 = 100.0;

impl Moment {
    /// `None` where the system has no /proc.
    fn now() -> Option<Self> {
        let numbers = |line: &str| line.split(' ').filter_map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>();
        let all = numbers(std::fs::read_to_string("/proc/stat").ok()?.lines().next()?);
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        // behind the name, which may hold anything: utime, stime, cutime and cstime
        let own: Vec<f64> = own.rsplit_once(") ")?.1.split(' ').skip(11).take(4).flat_map(str::parse).collect();
        // user, nice, system, then idle and waiting, then interrupts and what the host took
        let busy = all.iter().take(8).enumerate().filter(|(i, _)| !matches!(i, 3 | 4)).map(|(_, ticks)| ticks);
        Some(Self { all: busy.sum(), ours: own.iter().sum(), at: Instant::now() })
    }

    /// The core-seconds of others since then, and the seconds.
    fn others_since(self) -> Option<(f64, f64)> {
        let now = Self::now()?;
        let others = ((now.all - self.all) - (now.ours - self.ours)) / TICKS;
        Some((others.max(0.0), (now.at - self.at).as_secs_f64()))
    }
}

/// What others did during several turns: core-seconds and seconds. Turns of less than a second are put together, for
/// which a tick would count for too much.
#[derive(Default)]
pub struct Others(Vec<(f64, f64)>);

impl Others {
    pub fn during<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let before = Moment::now();
        let result = work();
        if let Some((others, seconds)) = before.and_then(Moment::others_since) {
            match self.0.last_mut() {
                Some(last) if last.1 < 1.0 => *last = (last.0 + others, last.1 + seconds),
                _ => self.0.push((others, seconds)),
            }
        }
        result
    }

    fn most(&self) -> Option<f64> {
        let long = self.0.iter().filter(|(_, seconds)| *seconds > 0.3);
        long.map(|(others, seconds)| others / seconds).max_by(f64::total_cmp)
    }
}

impl std::fmt::Display for Others {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.most() {
            Some(others) if others > QUIET => write!(f, "{others:.2} BUSY"),
            Some(others) => write!(f, "{others:.2}"),
            None => write!(f, "-"),
        }
    }
}
