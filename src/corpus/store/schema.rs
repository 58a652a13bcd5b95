//! The tables of a workspace.
//!
//! | table | holds |
//! |---|---|
//! | `origin` | the files that sentences and outputs came from, and how they were read |
//! | `sentence` | source and first reference; ids count from 1 without a hole |
//! | `reference` | the further references of sentences; the key is n * 2^32 + sentence, n = 1 for the second reference |
//! | `system` | models, ensembles and files of outputs |
//! | `output`, `body` | what a system says of a sentence: the text, and packed words, log p and alpha ([`Output`](super::output::Output)); the key is system * 2^32 + sentence |
//! | `measures`, `numbers` | measures of neighbouring sentences, packed f32; a later row holds for the sentences that an earlier one has too. System 0: the sentence itself. Names of scores of others begin with `given:`, those of numbers that a file has of sentences with `sentence:`. One whose numbers were folded keeps its `count` of sentences alone |
//! | `name`, `block` | columns, 4,096 sentences a row: folded measures, by the id of the name, and copies of the texts ([`blocks`](super::blocks)) |
//! | `gold`, `judgement` | alignments by hand; stars, tags, notes and marks of each annotator |
//! | `act` | what was judged, before and after: the undo; acts of one `batch` are taken back together, sentence 0 is the scheme |
//! | `part` | parts of speech of the source words of a sentence, where somebody gave them |
//! | `target` | what belongs to a reference or output by its text, whoever says it: parts of speech of its words, links by hand |
//! | `setting` | what holds for the whole workspace: the scheme of errors, the campaign, the tokenizer of BLEU |

use std::collections::HashMap;

use rusqlite::Connection;

/// `PRAGMA application_id`: the letters ILWS.
pub const APPLICATION: i64 = 0x494C_5753;

pub const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE origin(id INTEGER PRIMARY KEY, path TEXT NOT NULL, facts TEXT NOT NULL);
CREATE TABLE sentence(id INTEGER PRIMARY KEY, origin INTEGER NOT NULL, line INTEGER NOT NULL, name TEXT,
    source TEXT NOT NULL, reference TEXT);
CREATE TABLE reference(key INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE system(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL);
CREATE TABLE output(key INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE body(key INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE measures(id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE numbers(id INTEGER PRIMARY KEY AUTOINCREMENT, system INTEGER NOT NULL, measures INTEGER NOT NULL,
    first INTEGER NOT NULL, packed BLOB NOT NULL, count INTEGER);
CREATE INDEX loose ON numbers(system, first) WHERE length(packed) > 0;
CREATE TABLE name(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE block(key INTEGER PRIMARY KEY, count INTEGER NOT NULL, packed BLOB NOT NULL);
CREATE TABLE gold(sentence INTEGER PRIMARY KEY, links TEXT NOT NULL);
CREATE TABLE part(sentence INTEGER PRIMARY KEY, words TEXT NOT NULL);
CREATE TABLE target(sentence INTEGER NOT NULL, text TEXT NOT NULL, parts TEXT, links TEXT,
    PRIMARY KEY(sentence, text)) WITHOUT ROWID;
CREATE TABLE judgement(sentence INTEGER NOT NULL, annotator TEXT NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY(sentence, annotator)) WITHOUT ROWID;
CREATE TABLE act(id INTEGER PRIMARY KEY, sentence INTEGER NOT NULL, annotator TEXT, before TEXT, after TEXT,
    undone INTEGER NOT NULL DEFAULT 0, batch INTEGER);
CREATE TABLE setting(name TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE look(id INTEGER PRIMARY KEY, document TEXT NOT NULL);
INSERT INTO setting(name, document) VALUES ('tokenizer', 'usual');
";

type SchemaObject = ((String, String), Option<String>);

fn objects(all: &Connection) -> rusqlite::Result<Vec<SchemaObject>> {
    // Names in SQLite are the same in small and capital letters; spaces mean nothing.
    let object = |row: &rusqlite::Row<'_>| {
        let sql: Option<String> = row.get(2)?;
        let sql = sql.map(|sql| sql.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(((row.get(0)?, row.get::<_, String>(1)?.to_lowercase()), sql))
    };
    all.prepare("SELECT type, name, sql FROM sqlite_schema")?.query_map([], object)?.collect()
}

/// An object that no workspace has and that could run without end or change what is read: a view, a trigger, another table.
pub fn stranger(all: &Connection) -> rusqlite::Result<Option<String>> {
    let sound = Connection::open_in_memory()?;
    sound.execute_batch(TABLES)?;
    let sound: HashMap<_, _> = objects(&sound)?.into_iter().collect();
    let is_strange = |object: &SchemaObject| {
        let ((kind, name), sql) = object;
        match (sound.get(&object.0), kind.as_str()) {
            (Some(known), _) => known != sql,
            (None, "table") => sql.as_ref().is_none_or(|sql| !sql.to_lowercase().starts_with("create table ")),
            // SQLite makes these itself, of what a table says.
            (None, "index") => !name.starts_with("sqlite_autoindex_"),
            (None, _) => true,
        }
    };
    Ok(objects(all)?.into_iter().find(is_strange).map(|((kind, name), _)| format!("{kind} `{name:.40}`")))
}

/// Makes the tables of an empty file. Another window may have made them meanwhile.
pub fn make(connection: &mut Connection) -> rusqlite::Result<()> {
    let step = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if step.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))? == 0 {
        step.execute_batch(TABLES)?;
        step.pragma_update(None, "application_id", APPLICATION)?;
        step.pragma_update(None, "user_version", VERSION)?;
    }
    step.commit()
}
