//! Alignments as matrices: arrays of numpy in one `.npz`, or a table for each in a folder.
//!
//! The arrays of sentence 12 and system 1, both counted from 1, are `12.1.alpha` [target words, source words] as f4,
//! and `12.1.source` and `12.1.target`, the words, `</s>` where alpha has its column and its row. `precision` says
//! how exact the weights are, and `provenance` is one text, the JSON of what the systems are.

use std::io::{Error as IoError, Write};
use std::path::Path;

use zip::{ZipWriter, write::SimpleFileOptions};

use crate::export::provenance::provenance;
use crate::store::output::{PRECISION, SystemOutput};
use crate::store::{corpus::CorpusTable, file::Workspace};
use engine::error::{Error, Result};
use engine::text::tsv::{TsvCell, rows};
use engine::text::write::{FolderDraft, write_atomic};
use engine::{analysis::alignment::Alignment, text::commands};

const MOST_TABLES: usize = 10_000;

type Job<'a> = dyn FnMut(usize, usize, &SystemOutput, &Alignment) -> Result<()> + 'a;

fn each(rows: &[u32], corpus: &CorpusTable, workspace: &Workspace, job: &mut Job<'_>) -> Result<()> {
    for &at in rows {
        for (n, column) in corpus.systems.iter().enumerate() {
            let Some(output) = workspace.output(column.system.id, at as usize)? else { continue };
            if let Some(alpha) = &output.alpha {
                job(at as usize, n, &output, alpha)?;
            }
        }
    }
    Ok(())
}

/// Writes arrays of numpy into a stream.
pub fn npz(file: &mut dyn Write, path: &Path, rows: &[u32], corpus: &CorpusTable, workspace: &Workspace) -> Result<()> {
    let mut file = UntilFailure { file, failed: false };
    let mut zip = ZipWriter::new_stream(&mut file);
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let failed = |error: IoError| Error::io(path, &error);
    zip.start_file("precision.npy", options).map_err(|error| failed(error.into()))?;
    zip.write_all(&words(&[PRECISION.to_owned()])).map_err(failed)?;
    each(rows, corpus, workspace, &mut |at, n, output, alpha| {
        let arrays = [("alpha", numbers(alpha)), ("source", words(&output.source)), ("target", words(&output.target))];
        for (name, bytes) in arrays {
            let name = format!("{}.{}.{name}.npy", at + 1, n + 1);
            zip.start_file(name, options).map_err(|error| failed(error.into()))?;
            zip.write_all(&bytes).map_err(failed)?;
        }
        Ok(())
    })?;
    let about = words(&[commands::json(&provenance(corpus, None).json())?]);
    zip.start_file("provenance.npy", options).map_err(|error| failed(error.into()))?;
    zip.write_all(&about).map_err(failed)?;
    zip.finish().map(drop).map_err(|error| failed(error.into()))
}

/// A stream that fails once: an archive that is dropped after a failure writes its end, and prints the second failure.
struct UntilFailure<'a> {
    file: &'a mut dyn Write,
    failed: bool,
}

impl Write for UntilFailure<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.failed {
            return Ok(bytes.len());
        }
        self.file.write(bytes).inspect_err(|_| self.failed = true)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.failed { Ok(()) } else { self.file.flush().inspect_err(|_| self.failed = true) }
    }
}

fn head(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let blank = 63 - (10 + text.len()) % 64;
    text.extend(std::iter::repeat_n(' ', blank));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}

fn numbers(alpha: &Alignment) -> Vec<u8> {
    let mut bytes = head("<f4", &format!("({}, {})", alpha.rows(), alpha.columns()));
    bytes.extend(alpha.weights().iter().flat_map(|alpha| alpha.to_le_bytes()));
    bytes
}

/// Words as UTF-32, each as long as the longest.
fn words(words: &[String]) -> Vec<u8> {
    let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = head(&format!("<U{width}"), &format!("({},)", words.len()));
    for word in words {
        let letters = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        bytes.extend(letters.flat_map(u32::to_le_bytes));
    }
    bytes
}

/// Writes a table for each alignment into a folder: source words along the top, target words down the side.
pub fn tables(folder: &Path, chosen: &[u32], corpus: &CorpusTable, workspace: &Workspace) -> Result<()> {
    if chosen.len() > MOST_TABLES {
        let message = format!("{} sentences are chosen, and at most {MOST_TABLES} go into a folder", chosen.len());
        return Err(Error::Input(format!("{message}; narrow the conditions, or save them as .npz")));
    }
    let folder = FolderDraft::new(folder)?;
    each(chosen, corpus, workspace, &mut |at, n, output, alpha| {
        let words = output.source.iter().map(TsvCell::from);
        let mut table = vec![std::iter::once(TsvCell::plain("")).chain(words).collect::<Vec<_>>()];
        for (word, row) in output.target.iter().zip(alpha.iter()) {
            table.push(std::iter::once(TsvCell::from(word)).chain(row.iter().map(TsvCell::plain)).collect());
        }
        let path = folder.path().join(format!("sentence-{:06}.{}.tsv", at + 1, n + 1));
        write_atomic(&path, |file| file.write_all(rows(table).as_bytes()))
    })?;
    folder.keep()
}
