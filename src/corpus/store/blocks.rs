//! Columns as the file keeps them: texts and numbers of [`PIECE`] sentences in one packed row, read when something of
//! it is asked for first.
//!
//! A row of texts is a copy of those in `sentence` and `output`: who changes one of them deletes the row, and until
//! it is made again the texts are read one by one. A row of numbers is what [`fold`](super::fold) made of `numbers`;
//! what came since lies over it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, types::Type};

use crate::store::file::{change, database_error, number, one, read_only};
use crate::store::output::unpacked;
use crate::store::read::{MOST_REFERENCES, key};
use crate::store::texts::{ColumnNumbers, Held, PIECE, Reads, TextPiece, TextStore, put};

/// The most bytes that the texts of a piece are packed with; longer ones are read one by one.
const MOST_TEXT: usize = 1 << 24;
const MOST_PIECE: usize = 1 << 28;
const LEVELS: (i32, i32) = (3, 1);
pub(crate) const MOST_PIECES: usize = 1 << 20;
/// Columns of numbers come behind those of texts; their ids begin with 1.
const NUMBERS: i64 = MOST_REFERENCES as i64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Sources,
    Reference(usize),
    Outputs(i64),
}

impl Written {
    pub(crate) fn of(system: i64, references: usize) -> Vec<Self> {
        match system {
            0 => std::iter::once(Self::Sources).chain((0..references).map(Self::Reference)).collect(),
            _ => vec![Self::Outputs(system)],
        }
    }

    fn key(self, n: usize) -> i64 {
        match self {
            Self::Sources => place(0, 0, n),
            Self::Reference(reference) => place(0, 1 + reference as i64, n),
            Self::Outputs(system) => place(system, 0, n),
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Sources => "SELECT id, source FROM sentence WHERE id > ?1 AND id <= ?2 ORDER BY id",
            Self::Reference(0) => "SELECT id, reference FROM sentence WHERE id > ?1 AND id <= ?2 ORDER BY id",
            Self::Reference(_) => "SELECT key, text FROM reference WHERE key > ?1 AND key <= ?2 ORDER BY key",
            Self::Outputs(_) => "SELECT key, text FROM output WHERE key > ?1 AND key <= ?2 ORDER BY key",
        }
    }

    fn keys(self, n: usize) -> [i64; 2] {
        let system = match self {
            Self::Sources => 0,
            Self::Reference(reference) => reference as i64,
            Self::Outputs(system) => system,
        };
        [key(system, (n * PIECE) as i64), key(system, ((n + 1) * PIECE) as i64)]
    }
}

/// The key of a packed row: system * 2^32 + column * 2^20 + number of the piece.
fn place(system: i64, column: i64, n: usize) -> i64 {
    key(system, column << 20 | n as i64)
}

/// The key of a packed row of numbers; `column` is the id of its measure's name.
pub(crate) fn place_of_numbers(system: i64, column: i64, n: usize) -> i64 {
    place(system, NUMBERS + column, n)
}

pub(crate) type Damage<'a> = dyn FnMut(rusqlite::Error) + 'a;

fn packed<T>(all: &Connection, key: i64, most: usize, unpack: fn(Vec<u8>) -> Option<T>) -> rusqlite::Result<Option<T>> {
    let row = |row: &rusqlite::Row<'_>| Ok(unpacked(row.get_ref(0)?.as_blob()?, most).and_then(unpack));
    one(all, "SELECT packed FROM block WHERE key = ?1", [key], row).map(Option::flatten)
}

pub(crate) fn texts(all: &Connection, written: Written, n: usize, damage: &mut Damage<'_>) -> TextPiece {
    match packed(all, written.key(n), MOST_TEXT, |bytes| String::from_utf8(bytes).ok().map(TextPiece::of_written)) {
        Ok(Some(piece)) => return piece,
        Ok(None) => {}
        Err(error) => damage(error),
    }
    let mut piece = TextPiece::default();
    if let Err(error) = single_texts(all, written, n, &mut piece) {
        damage(error);
    }
    piece
}

fn single_texts(all: &Connection, written: Written, n: usize, piece: &mut TextPiece) -> rusqlite::Result<()> {
    let mut find = all.prepare_cached(written.sql())?;
    let mut rows = find.query(written.keys(n))?;
    while let Some(row) = rows.next()? {
        let at = ((row.get::<_, i64>(0)? & 0xFFFF_FFFF) as usize).wrapping_sub(1 + n * PIECE);
        while piece.len() < at.min(PIECE) {
            piece.push(None);
        }
        if piece.bytes() > MOST_PIECE {
            return Err(rusqlite::Error::InvalidColumnType(1, "texts, too long".to_owned(), Type::Text));
        }
        if at == piece.len() {
            piece.push(row.get_ref(1)?.as_str_or_null().unwrap_or_default());
        }
    }
    Ok(())
}

pub(crate) fn pack_texts(all: &Connection, written: Written, n: usize) -> rusqlite::Result<()> {
    let key = written.key(n);
    if all.prepare_cached("SELECT 1 FROM block WHERE key = ?1")?.exists([key])? {
        return Ok(());
    }
    let mut piece = TextPiece::default();
    single_texts(all, written, n, &mut piece)?;
    if piece.bytes() > MOST_TEXT / 2 {
        return Ok(());
    }
    let packed = compress(piece.written().as_bytes(), LEVELS.0)?;
    keep(all, key, piece.count(), packed)
}

pub(crate) fn keep(all: &Connection, key: i64, count: usize, packed: Vec<u8>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO block(key, count, packed) VALUES (?1, ?2, ?3)";
    change(all, sql, (key, count as i64, packed)).map(drop)
}

pub(crate) fn forget_texts(
    all: &Connection, written: Written, places: impl Iterator<Item = usize>,
) -> rusqlite::Result<()> {
    let mut last = None;
    for n in places.map(|at| at / PIECE) {
        if last.replace(n) != Some(n) {
            change(all, "DELETE FROM block WHERE key = ?1", [written.key(n)])?;
        }
    }
    Ok(())
}

pub(crate) fn count_outputs(all: &Connection, system: i64, len: usize) -> rusqlite::Result<usize> {
    let written = Written::Outputs(system);
    let mut total = 0;
    for n in 0..len.div_ceil(PIECE) {
        total += match one(all, "SELECT count FROM block WHERE key = ?1", [written.key(n)], |row| row.get(0))? {
            Some(count) => count,
            None => number(all, "SELECT count(*) FROM output WHERE key > ?1 AND key <= ?2", written.keys(n))?,
        };
    }
    Ok(total as usize)
}

fn compress(bytes: &[u8], level: i32) -> rusqlite::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, level).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// Numbers packed: the first bytes of all, then the second ones.
pub(crate) fn pack_numbers(numbers: &[f32]) -> rusqlite::Result<Vec<u8>> {
    let bytes: Vec<[u8; 4]> = numbers.iter().map(|number| number.to_le_bytes()).collect();
    let planes: Vec<u8> = (0..4).flat_map(|plane| bytes.iter().map(move |bytes| bytes[plane])).collect();
    compress(&planes, LEVELS.1)
}

fn numbers_of(planes: &[u8]) -> Option<Vec<f32>> {
    let (count, rest) = (planes.len() / 4, planes.len() % 4);
    let number = |k: usize| f32::from_le_bytes([0, 1, 2, 3].map(|plane| planes[plane * count + k]));
    (rest == 0).then(|| (0..count).map(number).collect())
}

pub(crate) fn column(all: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    one(all, "SELECT id FROM name WHERE name = ?1", [name], |row| row.get(0))
}

pub(crate) struct Loose {
    pub(crate) id: i64,
    pub(crate) names: Vec<String>,
    pub(crate) first: usize,
    pub(crate) packed: Vec<u8>,
}

impl Loose {
    pub(crate) fn places(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.packed.len() / (4 * self.names.len().max(1))
    }

    pub(crate) fn numbers(&self, name: &str) -> impl Iterator<Item = (usize, f32)> {
        let column = self.names.iter().position(|known| known == name);
        let rows = self.packed.chunks_exact(4 * self.names.len().max(1)).enumerate();
        rows.filter_map(move |(n, row)| Some((self.first + n, *row.as_chunks::<4>().0.get(column?)?)))
            .map(|(at, bytes)| (at, f32::from_le_bytes(bytes)))
    }
}

pub(crate) fn loose(all: &Connection, system: i64, before: usize, most: usize) -> rusqlite::Result<Vec<Loose>> {
    let sql = "SELECT numbers.id, names, first, packed FROM numbers INDEXED BY loose JOIN measures
        ON measures.id = numbers.measures WHERE system = ?1 AND length(packed) > 0 AND first < ?2 ORDER BY numbers.id";
    let mut find = all.prepare_cached(sql)?;
    let (mut rows, mut found, mut bytes) = (find.query([system, before as i64])?, Vec::new(), 0);
    while let Some(row) = rows.next()?
        && bytes < most
    {
        let names: String = row.get(1)?;
        let packed: Vec<u8> = row.get(3)?;
        bytes += packed.len();
        let (first, names) = (row.get::<_, i64>(2)?.max(0) as usize, names.split(' ').map(str::to_owned).collect());
        found.push(Loose { id: row.get(0)?, names, first, packed });
    }
    Ok(found)
}

pub(crate) fn packed_numbers(all: &Connection, key: i64) -> rusqlite::Result<Vec<f32>> {
    packed(all, key, size_of::<f32>() * PIECE, |planes| numbers_of(&planes)).map(Option::unwrap_or_default)
}

pub(crate) fn lay_over<'a>(numbers: &mut Vec<f32>, name: &str, n: usize, loose: impl IntoIterator<Item = &'a Loose>) {
    let piece = n * PIECE..(n + 1) * PIECE;
    for loose in loose {
        for (at, number) in loose.numbers(name).filter(|(at, _)| piece.contains(at)) {
            put(numbers, at - piece.start, number);
        }
    }
}

fn numbers(all: &Connection, system: i64, name: &str, n: usize) -> rusqlite::Result<Vec<f32>> {
    let mut numbers = match column(all, name)? {
        Some(column) => packed_numbers(all, place_of_numbers(system, column, n))?,
        None => Vec::new(),
    };
    let loose = loose(all, system, (n + 1) * PIECE, usize::MAX)?;
    lay_over(&mut numbers, name, n, loose.iter().filter(|loose| loose.places().end > n * PIECE));
    Ok(numbers)
}

pub(crate) struct Blocks {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
    damages: Mutex<Vec<String>>,
    pub(crate) held: Held,
}

impl Blocks {
    pub(crate) fn new(path: &Path) -> Arc<Self> {
        Arc::new(Self {
            path: path.to_owned(),
            connection: Mutex::default(),
            damages: Mutex::default(),
            held: Held::default(),
        })
    }

    pub(crate) fn take_damages(&self) -> Vec<String> {
        std::mem::take(&mut self.damages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn damaged(&self, what: &str, error: &rusqlite::Error) {
        let why = format!("{what}: {}", database_error(&self.path, error));
        let mut damages = self.damages.lock().unwrap_or_else(PoisonError::into_inner);
        if !damages.contains(&why) {
            damages.push(why);
        }
    }

    fn ask<T: Default>(&self, what: &str, job: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            if connection.is_none() {
                *connection = Some(read_only(&self.path)?);
            }
            connection.as_ref().map_or_else(|| Ok(T::default()), job)
        };
        read().unwrap_or_else(|error| {
            self.damaged(what, &error);
            T::default()
        })
    }

    pub(crate) fn texts(self: &Arc<Self>, written: Written, len: usize) -> TextStore {
        let blocks = Arc::clone(self);
        let what = if matches!(written, Written::Outputs(_)) { "outputs" } else { "sentences" };
        let reads: Reads<TextPiece> = Arc::new(move |n| {
            let piece: TextPiece =
                blocks.ask(what, |all| Ok(texts(all, written, n, &mut |error| blocks.damaged(what, &error))));
            piece.counted(&blocks.held)
        });
        TextStore::of_file(len, &self.held, reads)
    }

    pub(crate) fn numbers(self: &Arc<Self>, system: i64, name: &'static str, len: usize) -> ColumnNumbers {
        let blocks = Arc::clone(self);
        let reads = Arc::new(move |n| blocks.ask("measures", |all| numbers(all, system, name, n)));
        ColumnNumbers::of_file(len, &Held::default(), reads)
    }
}
