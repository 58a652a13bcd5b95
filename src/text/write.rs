//! Floor 1: files written in one step, packed or not. Imports floor 0.
//!
//! A user may name a device, a pipe or a link as the place of an output: what lies there is written into, never
//! replaced by something else. In a folder that the program keeps itself a link is replaced, since it could lead
//! anywhere.

use std::fs::{File, Metadata};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The longest chain of links that is followed.
const MOST_LINKS: usize = 40;

/// Writes a file that the user named, in one step: into a temporary file in the same folder, which takes the name only
/// when everything is on the disk. A reader sees the old file or the new one, never half of one. The new file keeps
/// the permissions of the old one. Where `path` is a link, the file that it leads to is written; a pipe or a device is
/// written into.
///
/// # Errors
/// A sentence that names `path`; the old file is then untouched.
pub fn write_atomic(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_dir() => Err(Error::file(path, "is a folder; name a file to write")),
        Ok(facts) if !facts.is_file() || is_of_the_system(path) => write_into(path, write).map_err(failed),
        Ok(facts) => {
            let target = path.canonicalize().map_err(failed)?;
            replace(&target, Some(&facts), write).map_err(failed)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let target = end_of_links(path).map_err(failed)?;
            replace(&target, None, write).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// As [`write_atomic`] for a file of a folder that the program keeps itself, such as that of a training: whatever has
/// the name, a link too, is replaced by the file.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_inside(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<()> {
    let old = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    replace(path, old.as_ref(), write).map_err(|error| Error::io(path, &error))
}

/// `/dev/stdout` may lead to a plain file that others write to as well.
fn is_of_the_system(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// Writes into a pipe or a device, which is opened as it is.
fn write_into(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut writer = BufWriter::new(File::options().write(true).open(path)?);
    write(&mut writer)?;
    writer.flush()
}

/// Where the links from `path` lead, as far as there are any; the file itself need not be there.
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

/// Writes a temporary file beside `path` and gives it the name.
fn replace(
    path: &Path,
    old: Option<&Metadata>,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".interlinear-").suffix(".tmp");
    // Temporary files are private by default; this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.sync_all()?;
    drop(file);
    temporary.persist(path).map_err(|error| error.error)
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip, `.gz`.
    Gzip,
    /// zstandard, `.zst`.
    Zstandard,
}

impl Packing {
    /// By the extension of a name.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstandard,
            _ => Self::Plain,
        }
    }
}

/// Writes what `write` writes into a file, packed as its name says, in one step: the file appears when it is whole.
///
/// # Errors
/// What `write` returns, or a sentence that names `path`; an old file is then untouched.
pub fn write_packed<E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut failed = None;
    let written = write_atomic(path, |file| {
        let mut packer = Packer::new(Packing::of(path), file)?;
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

/// A file that is packed while it is written.
enum Packer<'a> {
    Plain(&'a mut BufWriter<File>),
    Gzip(flate2::write::GzEncoder<&'a mut BufWriter<File>>),
    Zstandard(zstd::stream::write::Encoder<'static, &'a mut BufWriter<File>>),
}

impl<'a> Packer<'a> {
    fn new(packing: Packing, file: &'a mut BufWriter<File>) -> std::io::Result<Self> {
        Ok(match packing {
            Packing::Plain => Self::Plain(file),
            Packing::Gzip => Self::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Packing::Zstandard => Self::Zstandard(zstd::stream::write::Encoder::new(file, 0)?),
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
