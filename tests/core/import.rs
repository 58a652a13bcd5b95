//! Files of others: each format good and damaged, encodings, packing, and what is found out and asked.

mod dumps;
mod gold;
mod tables;
mod texts;

use std::fs;
use std::path::PathBuf;

use interlinear::error::Result;
use interlinear::import::{self, BesideFiles, FORMATS, Facts, ImportOptions, Record, Role};

/// A folder with one file.
struct Planted {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Planted {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        Self { _folder: folder, path }
    }

    fn read(&self, options: &ImportOptions) -> Read {
        let mut import = import::open(&self.path, options).unwrap();
        let mut records = Vec::new();
        // A few at a time, as the program does.
        let error = loop {
            match import.window(7) {
                Ok(window) if window.is_empty() => break None,
                Ok(window) => {
                    let (read, warnings) = window.read();
                    records.extend(read);
                    import.warnings.absorb(warnings);
                }
                Err(fatal) => break Some(fatal.to_string()),
            }
        };
        let folder = format!("{}/", self.path.parent().unwrap().display());
        let bare = |sentence: &str| sentence.replace(&folder, "");
        Read {
            facts: import.facts.clone(),
            records,
            warnings: import.warnings.kept.iter().map(|warning| bare(&warning.sentence)).collect(),
            count: import.warnings.count,
            error: error.map(|error| bare(&error)),
        }
    }
}

/// All that came of a file.
struct Read {
    facts: Facts,
    records: Vec<Record>,
    warnings: Vec<String>,
    count: usize,
    error: Option<String>,
}

impl Read {
    fn sources(&self) -> Vec<&str> {
        self.records.iter().filter_map(|record| record.source.as_ref()).map(|text| text.text.as_str()).collect()
    }

    fn references(&self) -> Vec<&str> {
        self.records.iter().filter_map(|record| record.reference.as_ref()).map(|text| text.text.as_str()).collect()
    }

    fn outputs(&self) -> Vec<&str> {
        self.records.iter().flat_map(|record| &record.outputs).map(|output| output.text.as_str()).collect()
    }

    fn sentences(&self) -> Vec<usize> {
        self.records.iter().map(|record| record.sentence).collect()
    }
}

fn read(name: &str, text: &str) -> Read {
    Planted::new(name, text.as_bytes()).read(&ImportOptions::default())
}

/// With texts beside it, the target's where there is one.
fn read_beside(name: &str, bytes: &[u8], source: &str, target: Option<&str>) -> Read {
    let planted = Planted::new(name, bytes);
    let plant = |name: &str, text: &str| {
        let path = planted.path.with_file_name(name);
        fs::write(&path, text).unwrap();
        path
    };
    let beside =
        BesideFiles { source: Some(plant("s.txt", source)), target: target.map(|target| plant("t.txt", target)) };
    planted.read(&ImportOptions { beside, ..ImportOptions::default() })
}

fn role(role: Role) -> ImportOptions {
    ImportOptions { role: Some(role), ..ImportOptions::default() }
}

fn refusal(name: &str, bytes: &[u8], options: &ImportOptions) -> String {
    let planted = Planted::new(name, bytes);
    let opened: Result<_> = import::open(&planted.path, options);
    opened.err().map_or_else(
        || panic!("{name} was opened"),
        |error| {
            let folder = format!("{}/", planted.path.parent().unwrap().display());
            error.to_string().replace(&folder, "")
        },
    )
}

#[test]
fn a_file_can_be_read_behind_the_window() {
    fn goes_to_a_thread<T: Send + 'static>() {}
    goes_to_a_thread::<import::Import>();
}

/// A file that is packed in another way, or no text at all, is not read as one.
#[test]
fn what_is_no_text_is_refused() {
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect();
    for (name, bytes, says) in [
        ("a.fr.xz", &b"\xFD7zXZ\0\0\x04abc"[..], "is packed with xz, no text"),
        ("a.fr.bz2", b"BZh91AY&SYabc", "is packed with bzip2"),
        ("a.fr", b"PK\x03\x04 and so on", "is a zip archive"),
        ("a.pdf", b"%PDF-1.7", "is a PDF"),
        ("a.fr", &noise, "is full of control characters"),
        ("a.json", b"{\"tokens\": [1, 2],\n \"more\": {\"a\": null}}\n", "also not as JSON"),
        ("a.txt", b"[[0.5, 0.5],\n [0.25", "also not as JSON"),
        ("a.jsonl", b"{\"a\": 1}\n{\"b\": 2}\n", "also not as JSON"),
    ] {
        for role in [None, Some(Role::Reference)] {
            let why = refusal(name, bytes, &ImportOptions { role, ..ImportOptions::default() });
            assert!(why.starts_with(name) && why.contains(says), "{why}");
        }
    }
    for text in ["[2] He came in.\n[3] He left.\n", "{sic} she said\n", "a \u{1} odd\nb\n", "BZ came\n"] {
        assert_eq!(read("a.txt", text).records.len(), text.lines().count(), "{text}");
    }
}

/// Cells of TSV are quoted where every cell with a quotation mark is; else quotation marks are text. A quotation over two
/// sentences is no cell of two lines.
#[test]
fn cells_of_tsv_are_unquoted_where_all_of_them_are_quoted() {
    let quoted = "source\treference\tM\n\"I came, \"\"here\"\"\"\tici\t\"deux\nlignes\"\nnails\td\t\"e\tf\"\n";
    let found = read("a.tsv", quoted);
    assert_eq!((found.sources(), found.outputs()), (vec!["I came, \"here\"", "nails"], vec!["deux lignes", "e\tf"]));
    assert_eq!(found.records[1].line, 4, "lines are counted as they stand");
    for raw in ["\"He\" came\tb\tc\n", "\"stray\tb\tc\n", "5\" nails\tb\tc\n", "\"It begins.\tb\tc\nIt ends.\"\tb\tc\n"]
    {
        let found = read("a.tsv", &format!("source\treference\tM\n{raw}\"All quoted.\"\t\"d\"\te\n"));
        assert_eq!(found.sources().first(), raw.split('\t').next().as_ref());
        assert_eq!((found.sources().last(), found.references().last()), (Some(&"\"All quoted.\""), Some(&"\"d\"")));
    }
    let found = read("a.tsv", "source\treference_1\tref 2\treference_3\na\t\tv\tw\n");
    let record = &found.records[0];
    assert_eq!([0, 1, 2].map(|n| record.reference(n)), [None, Some("v"), Some("w")]);
}

#[test]
fn every_format_has_a_name_of_its_own() {
    for (n, entry) in FORMATS.iter().enumerate() {
        assert!(FORMATS[..n].iter().all(|other| other.name != entry.name), "{}", entry.name);
        assert!(!entry.label.ends_with('.'), "{}", entry.name);
        assert_eq!(import::format(entry.name).map(|found| found.label), Some(entry.label));
    }
}

/// The beginning of a file, and what it is taken for.
const SNIFFED: &[(&str, &str, &str)] = &[
    ("a.txt", "The cat sleeps .\nIt rains - again ?\n", "text"),
    ("a.txt", "", "text"),
    ("a.tsv", "source\ttarget\nthe cat\tle chat\n", "tsv"),
    ("a.txt", "the cat\tle chat\nthe dog\tle chien\n", "tsv"),
    ("a.csv", "source,target\nthe cat,le chat\n", "csv"),
    ("a.tmx", "<?xml version=\"1.0\"?>\n<tmx version=\"1.4\">", "tmx"),
    ("a.xml", "<xliff version=\"2.0\" srcLang=\"en\">", "xliff"),
    ("a", "{\"source\": [\"a\"], \"hypotheses\": []}\n", "translate"),
    ("a", "{\"source\": [\"a\"], \"target\": [\"b\"], \"alpha\": null}\n", "score"),
    ("a.txt", "0-0 1-1\n\n0-0 1?2\n", "pharaoh"),
    ("a.txt", "1 1 1 S\n1 2 2 P\n", "naacl"),
    ("a.txt", "0 ||| le chat ||| -1.5 ||| the cat ||| 0 0\n0.5 0.5\n0.4 0.6\n", "opennmt"),
    ("a.txt", "0 ||| le chat ||| 1.5 ||| the cat ||| 3 3\n0.5 0.3 0.2\n", "nematus"),
    ("a.txt", "1 ||| le chat ||| 1.5 ||| the cat ||| 2 ||| 2\n0.5 0.5\n", "sockeye"),
    ("a.json", "[\n  [\n    \"le\",\n", "nematus-json"),
    ("a.txt", "le chat ||| 0.9,0.1 0.1,0.9\n", "marian-soft"),
    ("a.txt", "0 ||| le chat ||| 0.9,0.1 0.1,0.9 ||| F0= -1.5 ||| -1.5\n", "marian-soft"),
    ("a.txt", "-1.5 ||| 0.9,0.1 0.1,0.9\n", "marian-soft"),
    ("a.txt", "le chat ||| 0-0 1-1 2-2\n", "marian-hard"),
    ("a.npy", "\u{1}", "text"),
];

#[test]
fn a_format_is_known_by_the_beginning_of_a_file() {
    for (name, text, expect) in SNIFFED {
        let planted = Planted::new(name, text.as_bytes());
        let found = import::guess(&planted.path).unwrap();
        assert_eq!(found.first().map(|(entry, _)| entry.name), Some(*expect), "{text}");
    }
}

#[test]
fn what_cannot_be_opened_is_refused_in_a_sentence() {
    let named = |format: &str| ImportOptions { format: Some(format.into()), ..ImportOptions::default() };
    let encoded = |label: &str| ImportOptions { encoding: Some(label.into()), ..ImportOptions::default() };
    for (name, bytes, options, expect) in [
        ("a.txt", &b"x"[..], named("word"), "`word` is no format of files; choose one of text, tsv"),
        ("a.txt", b"x", encoded("klingon"), "a.txt: `klingon` is no encoding"),
        ("a.bin", b"\0\x01\0\x02\0\0\0\x03", ImportOptions::default(), "a.bin: is no text but holds bytes of 0"),
        ("a.tsv", b"", named("tsv"), "a.tsv: has no rows"),
        ("a.tsv", b"id\tnumber\n1\t2\n", named("tsv"), "a.tsv: has no column with sentences"),
        ("a.tmx", b"<tmx><body></body></tmx>", named("tmx"), "a.tmx: has no translation units"),
        ("a.xlf", b"<xliff></xliff>", named("xliff"), "a.xlf: has no `file` element"),
        ("a.npy", b"\x93NUMPY\x01\0", named("neural-monkey"), "a.npy: ends within its header"),
        ("a.txt", b"words", named("neural-monkey"), "a.txt: ends within its header"),
        ("a.gz", b"\x1f\x8b\x08\0\0", ImportOptions::default(), "a.gz: could not be read"),
    ] {
        let said = refusal(name, bytes, &options);
        assert!(said.starts_with(expect), "{said}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let planted = Planted::new("a.txt", b"");
    let missing = planted.path.with_file_name("b.txt");
    let said = import::open(&missing, &ImportOptions::default()).unwrap_err().to_string();
    assert!(said.ends_with("b.txt: does not exist; check the path"), "{said}");
    let said = import::open(planted.path.parent().unwrap(), &ImportOptions::default()).unwrap_err().to_string();
    assert!(said.ends_with("is a folder; choose a file"), "{said}");
}
