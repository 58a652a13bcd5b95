//! Floor 7: a workspace file: opened, made, refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Params, Row};

use crate::corpus::store::schema::{APPLICATION, STEPS, migrate};
use crate::error::{Error, Result};

/// How long one window waits for another that is writing.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a page of a new file: what systems say fills small ones badly.
const PAGE: i64 = 1 << 14;
/// Pages of the log that are brought into the file at once.
const CHECKPOINT: i64 = 4096;
/// The beginning of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// An open workspace. A crash of the program loses nothing that a call has written.
/// Several windows may have the same file open.
pub struct Workspace {
    pub(crate) connection: Connection,
    path: PathBuf,
}

impl Workspace {
    /// Opens a workspace, or makes an empty one where there is no file. Refuses what is something else, of a newer program,
    /// or damaged where every workspace begins.
    pub fn open(path: &Path) -> Result<Self> {
        check(path)?;
        let told = |error: rusqlite::Error| told(path, &error);
        let mut connection = Connection::open(path).map_err(told)?;
        connection.busy_timeout(PATIENCE).map_err(told)?;
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (kind, version) = (number("application_id").map_err(told)?, number("user_version").map_err(told)?);
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(told)?;
        if tables > 0 && kind != APPLICATION {
            return Err(Error::file(path, "is a database of another program; choose another file"));
        }
        let version = usize::try_from(version).unwrap_or(usize::MAX);
        if version > STEPS.len() {
            return Err(Error::file(path, "was written by a newer Interlinear; open it with that one"));
        }
        if tables == 0 {
            connection.pragma_update(None, "page_size", PAGE).map_err(told)?;
        }
        // Readers and one writer do not wait for each other.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(told)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(told)?;
        // Else a long import would write every page of the file twice.
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT).map_err(told)?;
        if version < STEPS.len() {
            migrate(&mut connection).map_err(told)?;
        }
        let mut workspace = Self { connection, path: path.to_owned() };
        if tables > 0 && version < STEPS.len() {
            // What is damaged stays as it is; what can be read is.
            let _ = workspace.fold();
        }
        Ok(workspace)
    }

    /// Opens a workspace that must be there.
    pub fn open_existing(path: &Path) -> Result<Self> {
        std::fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        Self::open(path)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of it into a new file.
    ///
    /// # Errors
    /// A sentence about either file; there is one already.
    pub fn copy(&self, to: &Path) -> Result<()> {
        if to.exists() {
            return Err(Error::file(to, "is there already; name a new file"));
        }
        let name = to.to_str().ok_or_else(|| Error::file(to, "has a name that is no text; name another file"))?;
        self.ask(|all| all.execute("VACUUM INTO ?1", [name]).map(drop))
    }

    /// A number that changes whenever another connection has written.
    pub fn version(&self) -> Result<i64> {
        self.ask(|all| all.pragma_query_value(None, "data_version", |row| row.get(0)))
    }

    /// Reads something; an error of the database is a sentence about the file.
    pub(crate) fn ask<'a, T>(&'a self, job: impl FnOnce(&'a Connection) -> rusqlite::Result<T>) -> Result<T> {
        job(&self.connection).map_err(|error| told(&self.path, &error))
    }

    /// Does several things, all or none.
    pub(crate) fn at_once<T>(&mut self, job: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let path = self.path.clone();
        let run = || {
            let all = self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let done = job(&all)?;
            all.commit()?;
            Ok(done)
        };
        run().map_err(|error| told(&path, &error))
    }
}

/// The first row that a statement gives; made ready once, it is asked often.
pub(crate) fn one<T>(
    all: &Connection,
    sql: &str,
    params: impl Params,
    row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    all.prepare_cached(sql)?.query_row(params, row).optional()
}

/// All rows.
pub(crate) fn list<T, All: FromIterator<T>>(
    all: &Connection,
    sql: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<All> {
    all.prepare_cached(sql)?.query_map(params, row)?.collect()
}

/// A number, as a count is; 0 where there is no row.
pub(crate) fn number(all: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<i64> {
    one(all, sql, params, |row| row.get(0)).map(Option::unwrap_or_default)
}

/// Changes rows; gives how many.
pub(crate) fn change(all: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
    all.prepare_cached(sql)?.execute(params)
}

/// A connection that reads beside another one.
pub(crate) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    // One that may not write at all would leave the log behind when it is closed last.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(PATIENCE)?;
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
    std::fs::File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut begin)).map_err(io)?;
    if begin.is_empty() || begin == MAGIC {
        return Ok(());
    }
    Err(Error::file(path, "is not a corpus; to bring a text into one, open a corpus and import the file"))
}

/// What went wrong, for the user.
pub(crate) fn told(path: &Path, error: &rusqlite::Error) -> Error {
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "is being written by another program; try again when that is done".to_owned()
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!("is damaged ({error}); open a copy that was kept, or go on with what can still be read")
        }
        Some(ErrorCode::DiskFull) => "could not be written because the disk is full; free some space".to_owned(),
        Some(ErrorCode::ReadOnly) => "may only be read; check its permissions and those of its folder".to_owned(),
        Some(ErrorCode::CannotOpen) => "could not be opened; check the folder and its permissions".to_owned(),
        _ => format!("could not be read or written ({error})"),
    };
    Error::file(path, message)
}
