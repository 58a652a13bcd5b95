//! Files written in one step, packed or not. Imports floor 0.
//!
//! A user may name a device, a pipe or a link as the place of an output: what lies there is written into, never
//! replaced by something else. In a folder that the program keeps itself a link is replaced, since it could lead
//! anywhere.

use std::fs::{File, Metadata, TryLockError};
use std::io::{BufWriter, ErrorKind, Read as _, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir, TempPath};

use crate::error::{Error, Result};
use crate::text::{reader::Packing, zstandard::Encoder};

const MOST_LINKS: usize = 40;

/// Writes a file that the user named, in one step: into a temporary file in the same folder, which takes the name only
/// when everything is on the disk. A reader sees the old file or the new one, never half of one. The new file keeps the
/// permissions of the old one. Where `path` is a link, the file that it leads to is written; a pipe or a device is
/// written into.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut BufWriter<Draft>) -> std::io::Result<()>) -> Result<()> {
    write_as(path, Readers::Usual, write)
}

/// As [`write_atomic`] for what nobody but its owner may read, such as what was typed.
pub fn write_private(path: &Path, write: impl FnOnce(&mut BufWriter<Draft>) -> std::io::Result<()>) -> Result<()> {
    write_as(path, Readers::Owner, write)
}

/// What goes into a folder in one step: a folder beside it, whose files move there when all are written.
#[derive(Debug)]
pub struct FolderDraft {
    folder: PathBuf,
    draft: TempDir,
}

impl FolderDraft {
    /// For a folder, which is there or not.
    pub fn new(folder: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| Error::io(folder, &error);
        let parent = if folder.exists() { folder } else { folder_of(folder) };
        std::fs::create_dir_all(parent).map_err(failed)?;
        let draft = Builder::new().prefix(".interlinear-").tempdir_in(parent).map_err(failed)?;
        Ok(Self { folder: folder.into(), draft })
    }

    pub fn path(&self) -> &Path {
        self.draft.path()
    }

    /// Puts the files into the folder; without this call they are removed.
    pub fn keep(self) -> Result<()> {
        let failed = |error: std::io::Error| Error::io(&self.folder, &error);
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        for entry in std::fs::read_dir(self.path()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            std::fs::rename(entry.path(), self.folder.join(entry.file_name())).map_err(failed)?;
        }
        Ok(())
    }
}

/// Makes a folder, and those that it lies in, for its owner alone; one that is there stays as it is.
pub fn make_private_folder(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(|error| Error::io(folder, &error))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    Usual,
    Owner,
}

fn write_as(
    path: &Path, readers: Readers, write: impl FnOnce(&mut BufWriter<Draft>) -> std::io::Result<()>,
) -> Result<()> {
    spare_databases(path)?;
    let failed = |error: std::io::Error| Error::io(path, &error);
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_dir() => Err(Error::file(path, "is a folder; name a file to write")),
        // `/dev/stdout` may lead to a plain file that others write to as well.
        Ok(facts) if !facts.is_file() || ["/dev", "/proc"].iter().any(|of| path.starts_with(of)) => {
            write_into(path, write).map_err(failed)
        }
        Ok(facts) => {
            let target = path.canonicalize().map_err(failed)?;
            replace(&target, Some(&facts), readers, write).map_err(failed)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let target = end_of_links(path).map_err(failed)?;
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
            if let Some(folder) = folder {
                return Err(Error::file(folder, "is a folder that does not exist; make it, or check the path"));
            }
            replace(&target, None, readers, write).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// As [`write_atomic`] for a file of a folder that the program keeps itself, such as that of a training: whatever has
/// the name, a link too, is replaced by the file.
pub fn write_inside(path: &Path, write: impl FnOnce(&mut BufWriter<Draft>) -> std::io::Result<()>) -> Result<()> {
    spare_databases(path)?;
    let old = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    replace(path, old.as_ref(), Readers::Usual, write).map_err(|error| Error::io(path, &error))
}

/// Whether two names lead to one plain file, by whatever links, or to one place where there is no file yet.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(first), Ok(second)) => first.is_file() && second.is_file() && are_one((one, &first), (other, &second)),
        (Err(_), Err(_)) => place(one).is_some_and(|place_of_one| Some(place_of_one) == place(other)),
        _ => false,
    }
}

#[cfg(unix)]
fn are_one((_, one): (&Path, &Metadata), (_, other): (&Path, &Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn are_one((one, _): (&Path, &Metadata), (other, _): (&Path, &Metadata)) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn place(path: &Path) -> Option<PathBuf> {
    let path = end_of_links(path).ok()?;
    let folder = folder_of(&path);
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

pub const DATABASE: &[u8] = b"SQLite format 3\0";
/// How the files end that SQLite keeps beside a database.
pub const BESIDE_DATABASE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Whether a file begins as a workspace does; what is no plain file does not.
pub fn is_database(path: &Path) -> bool {
    let mut begin = [0; DATABASE.len()];
    // A pipe would be waited for.
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *DATABASE
}

/// Refuses to write over a workspace or what belongs to one: whatever is exported, people's judgements are worth more.
fn spare_databases(path: &Path) -> Result<()> {
    let name = path.to_str().unwrap_or_default();
    let owner = BESIDE_DATABASE.iter().find_map(|ending| name.strip_suffix(ending));
    if is_database(path) || owner.is_some_and(|owner| is_database(Path::new(owner))) {
        return Err(Error::file(path, "is a workspace, or belongs to one; name another file"));
    }
    Ok(())
}

fn write_into(path: &Path, write: impl FnOnce(&mut BufWriter<Draft>) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut writer = BufWriter::new(Draft(File::options().write(true).open(path)?));
    write(&mut writer)?;
    writer.flush()
}

fn end_of_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(std::io::Error::other("it is a link that leads back to itself"))
}

/// A file while it is being written.
#[derive(Debug)]
pub struct Draft(File);

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        step()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        step()?;
        self.0.flush()
    }
}

/// A file that lines are added to. One that cannot be written whole is taken back, so that what is there stays sound.
#[derive(Debug)]
pub struct Appending {
    path: PathBuf,
    file: Draft,
    length: u64,
}

impl Appending {
    /// Opens a file at its end.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| Error::io(path, &error);
        let file = File::options().append(true).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        Ok(Self { path: path.to_owned(), file: Draft(file), length })
    }

    pub fn append(&mut self, line: &[u8]) -> Result<()> {
        if let Err(error) = self.write(line) {
            if !is_killed() {
                let _ = self.file.0.set_len(self.length);
            }
            return Err(Error::io(&self.path, &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    fn write(&mut self, line: &[u8]) -> std::io::Result<()> {
        // A disk that fills takes a part of a line.
        #[cfg(any(test, feature = "faults"))]
        for piece in line.chunks(line.len().div_ceil(3).max(1)) {
            self.file.write_all(piece)?;
        }
        #[cfg(not(any(test, feature = "faults")))]
        self.file.write_all(line)?;
        Ok(())
    }
}

/// Whether a planted failure stands for the end of the process, which tidies nothing up.
fn is_killed() -> bool {
    #[cfg(any(test, feature = "faults"))]
    return faults::kills();
    #[cfg(not(any(test, feature = "faults")))]
    false
}

/// Before every call that the system may refuse; the tests refuse each in turn.
#[cfg_attr(not(any(test, feature = "faults")), expect(clippy::unnecessary_wraps, reason = "the tests refuse"))]
fn step() -> std::io::Result<()> {
    #[cfg(any(test, feature = "faults"))]
    faults::step()?;
    Ok(())
}

const TEMPORARY: (&str, &str) = (".interlinear-", ".tmp");

/// Removes the temporary files that killed processes left in a folder that the program keeps itself. Other programs'
/// files are left alone, and so is what a living process writes and what cannot be removed.
pub fn remove_left_over(folder: &Path) {
    remove_abandoned(folder, TEMPORARY.0);
}

fn remove_abandoned(folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_ours = name.strip_prefix(prefix).is_some_and(|rest| rest.strip_suffix(TEMPORARY.1).is_some());
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::options().read(true).write(true).open(entry.path()) else { continue };
        // Who writes a temporary file holds its lock. Where the disk knows no locks, the file stays.
        if file.try_lock().is_ok() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// How the names of temporary files for `path` begin: with a checksum of its name, so that the next one who writes the
/// same file knows what a killed process has left.
fn prefix(path: &Path) -> String {
    let mut sum = flate2::Crc::new();
    sum.update(path.file_name().unwrap_or_default().as_encoded_bytes());
    format!("{}{:08x}-", TEMPORARY.0, sum.sum())
}

/// Makes a temporary file and locks it; its lock tells others that its writer lives.
fn make(builder: &Builder<'_, '_>, folder: &Path) -> std::io::Result<(File, TempPath)> {
    loop {
        let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
        match file.try_lock() {
            // Somebody who tidied up before the file was locked may have removed it.
            Ok(()) if temporary.try_exists()? => return Ok((file, temporary)),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // A disk of another machine may know no locks.
            Err(TryLockError::Error(_)) => return Ok((file, temporary)),
        }
    }
}

fn replace(
    path: &Path, old: Option<&Metadata>, readers: Readers,
    write: impl FnOnce(&mut BufWriter<Draft>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let folder = folder_of(path);
    let prefix = prefix(path);
    remove_abandoned(folder, &prefix);
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY.1);
    // Temporary files are private by default; this one may become an ordinary file.
    #[cfg(unix)]
    if readers == Readers::Usual {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    step()?;
    // A killed process removes nothing.
    #[cfg(any(test, feature = "faults"))]
    builder.disable_cleanup(faults::kills());
    let (file, temporary) = make(&builder, folder)?;
    if let Some(old) = old.filter(|_| readers == Readers::Usual) {
        file.set_permissions(old.permissions())?;
    }
    let mut writer = BufWriter::new(Draft(file));
    write(&mut writer)?;
    let Draft(file) = writer.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    step()?;
    file.sync_all()?;
    // Elsewhere the lock is held until the file has its name; Windows renames closed files alone.
    #[cfg(windows)]
    drop(file);
    step()?;
    temporary.persist(path).map_err(|error| error.error)
}

/// Writes what `write` writes into a file, packed as its name says, in one step: the file appears when it is whole.
pub fn write_packed<E: From<Error>>(
    path: &Path, write: impl FnOnce(&mut dyn Write) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut failed = None;
    let written = write_atomic(path, |file| {
        let mut packer = Packer::new(Packing::of_name(path), file)?;
        match write(&mut packer) {
            Ok(()) => packer.finish(),
            Err(error) => {
                failed = Some(error);
                Err(std::io::Error::other("stopped"))
            }
        }
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

enum Packer<'a> {
    Plain(&'a mut BufWriter<Draft>),
    Gzip(flate2::write::GzEncoder<&'a mut BufWriter<Draft>>),
    Zstandard(Encoder<'static, &'a mut BufWriter<Draft>>),
}

impl<'a> Packer<'a> {
    fn new(packing: Option<Packing>, file: &'a mut BufWriter<Draft>) -> std::io::Result<Self> {
        Ok(match packing {
            None => Self::Plain(file),
            Some(Packing::Gzip) => Self::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Some(Packing::Zstandard) => Self::Zstandard(Encoder::new(file, 0)?),
        })
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.finish()?.flush(),
            Self::Zstandard(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstandard(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstandard(encoder) => encoder.flush(),
        }
    }
}

/// Calls of the system that fail, for the tests of all that is written.
#[cfg(any(test, feature = "faults"))]
pub mod faults {
    use std::{cell::Cell, fmt::Debug, path::Path};

    use crate::text::write::TEMPORARY;

    thread_local! {
        /// Calls that still succeed on this thread; `None` where none fails.
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
        static FAILED: Cell<bool> = const { Cell::new(false) };
        static KILLS: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn step() -> std::io::Result<()> {
        match LEFT.get() {
            None => Ok(()),
            Some(0) => {
                FAILED.set(true);
                Err(std::io::Error::other("planted"))
            }
            Some(left) => {
                LEFT.set(Some(left - 1));
                Ok(())
            }
        }
    }

    /// Whether what is written would be left half-written by a kill.
    pub(super) fn kills() -> bool {
        KILLS.get()
    }

    /// Names of temporary files of ours in a folder.
    pub fn left_over(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(TEMPORARY.0)).collect()
    }

    /// Runs `act` again and again, with the first of its calls failing, the second, and so on until none fails, once
    /// with errors and once with a process that is killed there; `check` hears what happened each time and whether the
    /// temporary files may still be there. At least `least` calls are made.
    ///
    /// # Panics
    /// Where a planted failure is no error, or there were fewer calls.
    pub fn at_every_call<E: Debug>(
        least: usize, mut act: impl FnMut() -> Result<(), E>, mut check: impl FnMut(&str, bool, bool),
    ) {
        for kills in [false, true] {
            KILLS.set(kills);
            for calls in 0.. {
                LEFT.set(Some(calls));
                let outcome = act();
                LEFT.set(None);
                let failed = FAILED.replace(false);
                assert_eq!(outcome.is_err(), failed, "call {calls} failed, killed {kills}: {outcome:?}");
                check(&format!("call {calls}, killed {kills}"), failed, kills);
                if !failed {
                    assert!(calls >= least, "only {calls} calls");
                    break;
                }
            }
        }
        KILLS.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: u8) -> Vec<u8> {
        vec![of; 40_000]
    }

    #[test]
    fn at_every_call_of_a_write_the_old_file_stays_whole_and_the_next_start_leaves_nothing_over() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::Internal(error.to_string()))?;
        let path = folder.path().join("file");
        for inside in [false, true] {
            faults::at_every_call(
                8,
                || {
                    std::fs::write(&path, text(b'a')).expect("a temporary folder");
                    let new = text(b'b');
                    let write =
                        |file: &mut BufWriter<Draft>| new.chunks(9000).try_for_each(|part| file.write_all(part));
                    if inside { write_inside(&path, write) } else { write_atomic(&path, write) }
                },
                |what, failed, kills| {
                    let kept = std::fs::read(&path).expect("it is there");
                    assert!(kept == text(if failed { b'a' } else { b'b' }), "{what}");
                    assert!(kills || faults::left_over(folder.path()).is_empty(), "{what}");
                    remove_left_over(folder.path());
                    assert_eq!(faults::left_over(folder.path()), [""; 0], "{what}");
                },
            );
        }
        Ok(())
    }

    #[test]
    fn what_a_killed_command_left_beside_its_output_goes_when_the_same_output_is_written_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, other) = (folder.path().join("file"), folder.path().join("other"));
        let theirs = format!("{}notes.tmp", TEMPORARY.0);
        std::fs::write(folder.path().join(&theirs), "not for this file").expect("a temporary folder");
        let write = |path: &Path| write_atomic(path, |file| file.write_all(&text(b'a')));
        faults::at_every_call(
            4,
            || write(&path),
            |what, failed, kills| {
                write(&other).expect("nothing is in the way");
                let kept = faults::left_over(folder.path());
                assert!(kept.contains(&theirs), "{what}");
                assert!(kept.len() == 1 || (failed && kills), "{what}: {kept:?}");
                write(&path).expect("nothing is in the way");
                assert_eq!(faults::left_over(folder.path()), [theirs.as_str()], "{what}");
            },
        );
    }

    #[test]
    fn what_a_living_process_writes_beside_its_output_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        write_atomic(&path, |file| {
            write_atomic(&path, |file| file.write_all(b"the second")).expect("two may write");
            remove_left_over(folder.path());
            file.write_all(b"the first, which ends last")
        })
        .expect("its temporary file is still there");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"the first, which ends last");
        assert_eq!(faults::left_over(folder.path()), [""; 0]);
    }
}
