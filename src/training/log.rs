//! The training log, one JSON object a line.

use std::io::{BufReader, Write as _};
use std::{fs::File, path::Path};

use serde::Serialize;

use engine::error::{Error, Result};
use engine::text::reader::{Advance, LineReader};
use engine::text::write::{Appending, write_inside};

/// An open log.
#[derive(Debug)]
pub struct Log {
    file: Appending,
}

impl Log {
    pub fn open(path: &Path, update: u64) -> Result<Self> {
        let io = |e: std::io::Error| Error::io(path, &e);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, &e))?;
        }
        let mut kept = String::new();
        // a pipe would wait for someone who writes to it; it is replaced
        if path.is_file() {
            let mut lines = LineReader::new(path, Box::new(BufReader::new(File::open(path).map_err(io)?)));
            while lines.advance().is_ok_and(|now| now == Advance::Line) {
                // what is no text is half of a letter, at the end
                let Ok(line) = lines.text() else { continue };
                let at = serde_json::from_str::<serde_json::Value>(line).ok().and_then(|v| v.get("update")?.as_u64());
                if at.is_some_and(|at| at <= update) {
                    kept.push_str(line);
                    kept.push('\n');
                }
            }
        }
        write_inside(path, |w| w.write_all(kept.as_bytes()))?;
        Ok(Self { file: Appending::open(path)? })
    }

    pub fn append(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_string(line).map_err(|e| Error::Internal(e.to_string()))?;
        text.push('\n');
        self.file.append(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::Curves;
    use engine::text::write::faults;

    #[derive(Serialize)]
    struct Line {
        update: u64,
        nll: f64,
    }

    #[test]
    fn a_log_whose_disk_fills_in_the_middle_of_a_line_goes_on_where_the_run_does() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("log.jsonl");
        let text = |updates: &[u64]| updates.iter().map(|u| format!("{{\"update\":{u},\"nll\":0.5}}\n")).collect();
        let (start, whole): (String, String) = (text(&[1, 2]), text(&[1, 2, 3]));
        let read = || std::fs::read_to_string(&path).expect("it is there");
        let mut halves = 0;
        faults::at_every_call(
            6,
            || {
                std::fs::write(&path, &start).expect("a temporary folder");
                Log::open(&path, 2)?.append(&Line { update: 3, nll: 0.5 })
            },
            |what, failed, kills| {
                let left = read();
                assert!(if failed && !kills { left == start } else { whole.starts_with(&left) }, "{what}: {left}");
                halves += usize::from(!left.ends_with('\n'));
                let curves = Curves::load(&path).expect("it can be looked at");
                assert_eq!(curves.training_nll.len(), left.matches('\n').count(), "{what}");
                // The run goes on from its checkpoint at update 2 and writes the line again.
                let mut log = Log::open(&path, 2).expect("nothing is in the way");
                assert_eq!(read(), start, "{what}");
                log.append(&Line { update: 3, nll: 0.5 }).expect("nothing is in the way");
                assert_eq!(read(), whole, "{what}");
            },
        );
        assert!(halves > 0, "no kill has left half of a line");
    }
}
