//! A workspace file: opened, made, refused.

use std::path::{Path, PathBuf};
use std::{cell::Cell, time::Duration};

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Row};

use crate::store::schema::{APPLICATION, VERSION, make, stranger};
use engine::error::{Error, Result};
use engine::text::cut::WordRule;
use engine::text::write::{DATABASE, folder_of};

/// How long one window waits for another that is writing.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a page of a new file: what systems say fills small ones badly.
const PAGE: i64 = 1 << 14;
/// Pages of the log that are brought into the file at once.
const CHECKPOINT: i64 = 4096;
/// The longest text or row of bytes, in bytes: alpha of 4,000 words by 4,000 is shorter.
const LONGEST: i32 = 1 << 26;
const MOST_SYSTEMS: i64 = 1 << 16;

/// An open workspace file. Each call commits; several windows may have the same file open.
pub struct Workspace {
    pub(crate) connection: Connection,
    path: PathBuf,
    is_fixed: bool,
    /// What a word is, once both sides have texts.
    pub(super) rules: Cell<Option<[WordRule; 2]>>,
}

impl Workspace {
    /// Opens a workspace, or makes an empty one if there is no file; read-only if the file or its folder is.
    pub fn open(path: &Path) -> Result<Self> {
        check(path)?;
        if is_fixed(path) {
            return Self::open_to_look(path);
        }
        let database_error = |error: rusqlite::Error| database_error(path, &error);
        keep_private(path)?;
        let mut connection = Connection::open(path).map_err(database_error)?;
        limit(&connection).map_err(database_error)?;
        let is_new = require_workspace(path, &connection)? == 0;
        if is_new {
            connection.pragma_update(None, "page_size", PAGE).map_err(database_error)?;
        }
        // Readers and one writer do not wait for each other.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(database_error)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(database_error)?;
        // Else a long import would write every page of the file twice.
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT).map_err(database_error)?;
        if is_new {
            make(&mut connection).map_err(database_error)?;
        }
        Ok(Self { connection, path: path.to_owned(), is_fixed: false, rules: Cell::default() })
    }

    /// Opens a workspace as on read-only media: nothing is written, not even a log next to it.
    pub fn open_to_look(path: &Path) -> Result<Self> {
        check(path)?;
        let advice = "copy it to a folder that may be written and open the copy";
        if has_log(path) {
            return Err(Error::file(path, format!("has a log beside it that was not taken in; {advice} with the log")));
        }
        let connection = immutable(path).map_err(|error| database_error(path, &error))?;
        if require_workspace(path, &connection)? == 0 {
            let message = "is empty, and nothing may be written where it lies";
            return Err(Error::file(path, format!("{message}; {advice}")));
        }
        Ok(Self { connection, path: path.to_owned(), is_fixed: true, rules: Cell::default() })
    }

    /// Whether it can only be looked at: what is judged and imported cannot be kept.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Opens a workspace that must be there.
    pub fn open_existing(path: &Path) -> Result<Self> {
        std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        Self::open(path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a copy into a new file.
    pub fn copy(&self, to: &Path) -> Result<()> {
        if to.exists() {
            return Err(Error::file(to, "is there already; name a new file"));
        }
        let name = to.to_str().ok_or_else(|| Error::file(to, "has a name that is no text; name another file"))?;
        keep_private(to)?;
        let copied = self.ask(|all| all.execute("VACUUM INTO ?1", [name]).map(drop));
        if copied.is_err() {
            // Half of a copy, which would be in the way of the next one.
            let _ = std::fs::remove_file(to);
        }
        copied
    }

    /// Writes the log into the file, so that a copy of the file is complete; failure loses nothing.
    pub fn settle(&self) {
        if !self.is_fixed {
            let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
    }

    /// A number that changes whenever another connection has written.
    pub fn version(&self) -> Result<i64> {
        self.ask(|all| all.pragma_query_value(None, "data_version", |row| row.get(0)))
    }

    pub(crate) fn ask<'a, T>(&'a self, job: impl FnOnce(&'a Connection) -> rusqlite::Result<T>) -> Result<T> {
        job(&self.connection).map_err(|error| database_error(&self.path, &error))
    }

    pub(crate) fn at_once<T>(&mut self, job: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let path = self.path.clone();
        let run = || {
            let all = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let done = job(&all)?;
            all.commit()?;
            Ok(done)
        };
        run().map_err(|error| database_error(&path, &error))
    }
}

pub(crate) fn one<T>(
    all: &Connection, sql: &str, params: impl Params, row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    all.prepare_cached(sql)?.query_row(params, row).optional()
}

pub(crate) fn list<T, All: FromIterator<T>>(
    all: &Connection, sql: &str, params: impl Params, row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<All> {
    all.prepare_cached(sql)?.query_map(params, row)?.collect()
}

pub(crate) fn number(all: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<i64> {
    one(all, sql, params, |row| row.get(0)).map(Option::unwrap_or_default)
}

pub(crate) fn change(all: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
    all.prepare_cached(sql)?.execute(params)
}

/// What a file of strangers may do at most: wait, be so long, call nothing but what SQLite itself has.
fn limit(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Refuses other databases, versions and objects that are not ours; returns the number of objects.
fn require_workspace(path: &Path, connection: &Connection) -> Result<i64> {
    let database_error = |error: rusqlite::Error| database_error(path, &error);
    // One moment of the file: another window may be making it.
    let _moment = connection.unchecked_transaction().map_err(database_error)?;
    let number =
        |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(database_error);
    let (kind, version) = (number("application_id")?, number("user_version")?);
    let tables =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(database_error)?;
    if tables == 0 {
        return Ok(0);
    }
    if kind != APPLICATION {
        return Err(Error::file(path, "is a database of another program; choose another file"));
    }
    if version != VERSION {
        let message = format!("is of version {version}, and this Interlinear reads version {VERSION}");
        return Err(Error::file(path, format!("{message}; open it with the Interlinear that wrote it")));
    }
    if let Some(what) = stranger(connection).map_err(database_error)? {
        let message = format!("holds a {what} that no workspace has; it is not opened, for it may do harm");
        return Err(Error::file(path, message));
    }
    let sql = "SELECT count(*) FROM system WHERE id NOT BETWEEN 1 AND ?1";
    let odd = connection.query_row(sql, [MOST_SYSTEMS], |row| row.get::<_, i64>(0)).map_err(database_error)?;
    if odd > 0 {
        return Err(Error::file(path, format!("has systems with numbers that are not from 1 to {MOST_SYSTEMS}")));
    }
    Ok(tables)
}

/// Makes a new file for its owner alone: people's notes are in it. One that is there keeps its permissions.
#[cfg(unix)]
fn keep_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(Error::io(path, &error)),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_private(_: &Path) -> Result<()> {
    Ok(())
}

fn is_fixed(path: &Path) -> bool {
    let folder = folder_of(path);
    let may_write = || std::fs::OpenOptions::new().append(true).open(path).and_then(|_| tempfile::tempfile_in(folder));
    let is_refused = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
    };
    path.is_file() && may_write().is_err_and(|error| is_refused(&error))
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|facts| facts.len() > 0)
}

fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = path.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(path.clone()))?;
    let name = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23").replace('\\', "/");
    let root = if name.starts_with('/') { "" } else { "/" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{root}{name}?immutable=1"), flags)?;
    limit(&connection)?;
    Ok(connection)
}

pub(crate) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    if is_fixed(path) {
        return immutable(path);
    }
    // One that may not write at all would leave the log behind when it is closed last.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    limit(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// SQLite takes any short file for an empty one and would overwrite it.
fn check(path: &Path) -> Result<()> {
    use std::io::Read as _;
    let io = |error: std::io::Error| Error::io(path, &error);
    let facts = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        facts => facts.map_err(io)?,
    };
    if !facts.is_file() {
        return Err(Error::file(path, "is no file; name a file for the corpus"));
    }
    let mut begin = Vec::new();
    std::fs::File::open(path).and_then(|file| file.take(DATABASE.len() as u64).read_to_end(&mut begin)).map_err(io)?;
    if begin.is_empty() || begin == DATABASE {
        return Ok(());
    }
    Err(Error::file(path, "is not a corpus; to bring a text into one, open a corpus and import the file"))
}

pub(crate) fn database_error(path: &Path, error: &rusqlite::Error) -> Error {
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "is being written by another program; try again when that is done".to_owned()
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!(
                "is damaged ({error}); open a copy that was kept, or take out what can still be read with `sqlite3 FILE .recover`"
            )
        }
        Some(ErrorCode::DiskFull) => "could not be written because the disk is full; free some space".to_owned(),
        Some(ErrorCode::ReadOnly) => "may only be read; check its permissions and those of its folder".to_owned(),
        Some(ErrorCode::CannotOpen) => "could not be opened; check the folder and its permissions".to_owned(),
        _ => format!("could not be read or written ({error})"),
    };
    Error::file(path, message)
}
