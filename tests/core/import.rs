//! Files of others: each format good and damaged, encodings, packing, and what is found out and asked.

mod dumps;
mod gold;
mod tables;
mod texts;

use std::{fs, path::PathBuf};

use interlinear::import::{self, FORMATS, Facts, ImportOptions, Record, Role};
use interlinear::{error::Result, import::beside::Sides};

use crate::folder::Folder;

struct Planted {
    _folder: Folder,
    path: PathBuf,
}

impl Planted {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = Folder::new();
        let path = folder.join(name);
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

fn read_beside(name: &str, bytes: &[u8], words: &[(u32, u32)]) -> Read {
    let sides: Vec<_> = words.iter().map(|(source, target)| [Some(*source), Some(*target)]).collect();
    let beside = Sides(sides.into());
    Planted::new(name, bytes).read(&ImportOptions { beside, ..ImportOptions::default() })
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

#[test]
fn what_is_no_text_is_refused() {
    let tar = [b"sentences.en\0".as_slice(), &[0; 244], b"ustar  \0", &[0; 247], b"A cat.\n"].concat();
    let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect();
    for (name, bytes, says) in [
        ("a.fr.xz", &b"\xFD7zXZ\0\0\x04abc"[..], "is packed with xz, no text"),
        ("a.fr.bz2", b"BZh91AY&SYabc", "is packed with bzip2"),
        ("a.fr", b"PK\x03\x04 and so on", "is a zip archive"),
        ("a.pdf", b"%PDF-1.7", "is a PDF"),
        ("a.fr", &noise, "is full of control characters"),
        ("a.json", b"{\"tokens\": [1, 2],\n \"more\": {\"a\": null}}\n", "is JSON of a kind"),
        ("a.txt", b"[[0.5, 0.5],\n [0.25", "is JSON of a kind"),
        ("a.jsonl", b"{\"a\": 1}\n{\"b\": 2}\n", "is JSON of a kind"),
        ("a.en", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "run `git lfs pull`"),
        ("a.en", &tar, "is a tar archive"),
        (
            "a.xml",
            b"<?xml version=\"1.0\"?>\n<dataset id=\"x\">\n<seg id=\"1\">A cat.</seg>\n",
            "tags are no sentences",
        ),
        (
            "a.sgm",
            b"<srcset setid=\"x\" srclang=\"any\">\n<doc docid=\"d\">\n<seg id=\"1\"> A cat. </seg>\n",
            "between tags",
        ),
        ("a.html", b"<!DOCTYPE html>\n<html><body>\n<p>A cat.</p>\n", "`interlinear documents`"),
        (
            "xx.A3.final",
            b"# Sentence pair (1) source length 1 target length 1 alignment score : 0.1\nun\nNULL ({ }) one ({ 1 })\n",
            "GIZA++",
        ),
        ("a.ali.js", b"var alignments = [\n[[0.5, 1.0]],\n]\n", "SoftAlignments"),
        ("a.txt", b"[[0.50 0.25 0.25]\n [0.10 0.90 0.00]]\n", "rows of numbers"),
        ("a.txt", b"the cat\nle 0.5 0.5\nchat 0.1 0.9\nnoir 0.2 0.8\n", "rows of numbers"),
        ("avg.tsv", b"system score id\nA 0.5 1\nB None 2\n", "parted by spaces"),
        ("comet.log", b"a.fr\tSegment 0\tscore: 0.8275\na.fr\tscore: 0.8275\n", "comet-score"),
        ("pt", b"the cat ||| le chat ||| 0.5 0.25 1 0.5 ||| 0-0 1-1 ||| 2 1 1\n", "phrase pairs"),
    ] {
        for role in [None, Some(Role::Reference)] {
            let is_role_sure = role.is_some();
            let why = refusal(name, bytes, &ImportOptions { role, is_role_sure, ..ImportOptions::default() });
            assert!(why.starts_with(name) && why.contains(says), "{why}");
        }
    }
    // Texts begin with anything.
    for text in [
        "[2] He came in.\n[3] He left.\n",
        "{sic} she said\n",
        "a \u{1} odd\nb\n",
        "BZ came\n",
        "<applause> Thank you.\n<unk> the house\nGood night.\n",
        "<anna> hi\n<bob> hello\n",
        "<s> the cat </s>\n<s> the dog </s>\n",
        "<?xml is how such a file begins\nand this is a book about it.\nIt goes on.\n",
        "<div class=\"a\">\n<p>one</p>\nif a < b:\n",
        "<doc> means a document\nA cat.\nA dog.\n",
        "1990\n1991\n3.14\n",
        "12 13\n3 4 5\n030 1234567\n",
        "Prices: 3.50 and 4.20\nIt costs 2.99 now\nvar x = 5;\n",
        "var x = [\n1,\n2\n",
        "# Sentence pairs are hard\n# Title\n",
        "1\nThe first --> the last\nEnd\n",
        "WEBVTTX is no word\nversion 2 of git-lfs\n",
        "A note: score: 5\nSegment 1\n",
        "3-2 was the score\nhalf ||| half\n",
    ] {
        assert_eq!(read("a.txt", text).records.len(), text.lines().count(), "{text}");
    }
    let sure = |role| ImportOptions { role: Some(role), is_role_sure: true, ..ImportOptions::default() };
    assert_eq!(Planted::new("a.txt", b"3-2\n1-1\n").read(&sure(Role::Source)).sources(), ["3-2", "1-1"]);
    assert_eq!(
        Planted::new("a.txt", b"7\tle chat\n9\tun\n").read(&sure(Role::Reference)).references(),
        ["le chat", "un"]
    );
    let plain = ImportOptions { format: Some("text".to_owned()), ..ImportOptions::default() };
    assert_eq!(Planted::new("a.xml", b"<?xml version=\"1.0\"?>\n<a>\n").read(&plain).sources().len(), 2);
}

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
        assert!(!entry.proof.is_empty(), "{} is read rightly on nothing", entry.name);
    }
}

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
    ("a.talp", "1-1 2p2\n", "talp"),
    ("a.srt", "1\n00:00:01,000 --> 00:00:02,500\nHello.\n", "subtitles"),
    ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.500\nHello.\n", "subtitles"),
    ("a.tsv", "system\tdoc\trater\tsource\ttarget\tcategory\tseverity\n", "mqm"),
    ("a.jsonl", "{\"user_id\": \"a\", \"annotation\": [{}], \"item\": []}\n", "pearmut"),
    ("a.json", "{\"a.fr\": [{\"src\": \"a\", \"mt\": \"b\", \"COMET\": 0.5}]}", "comet"),
    ("a.conllu", "# text = a\n1-2\tau\t_\t_\t_\t_\t_\t_\t_\t_\n1\t\u{e0}\t_\tADP\t_\t_\t_\t_\t_\t_\n", "conllu"),
    ("a.txt", "the cat ||| le chat ||| 0.5 1 ||| 0-0\n3 ||| 3 ||| 1 1\n", "phrase-table"),
    ("a.nbest", "0 ||| le chat ||| -2.5\n0 ||| chat ||| -3\n", "nbest"),
    ("a.txt", "le chat ||| 0.9,0.1 0.1,0.9\n", "marian-soft"),
    ("a.txt", "0 ||| le chat ||| 0.9,0.1 0.1,0.9 ||| F0= -1.5 ||| -1.5\n", "nbest"),
    ("a.txt", "0 ||| le chat ||| 0-0 1-1 ||| F0= -1.5 ||| -1.5\n", "nbest"),
    ("a.txt", "0 ||| le chat ||| LM0= -1 ||| -2.5 ||| 0-1=0-1 ||| 0-0 1-1\n", "nbest"),
    ("a.txt", "0 ||| le chat ||| -2.5\n1 ||| la pluie ||| -1\n", "nbest"),
    ("a.txt", "le chat ||| -2.5 ||| x\n", "text"),
    ("a.txt", "0 ||| le chat ||| 8.2 ||| ||| 1 3\n1.0\n1.0\n1.0\n", "nematus"),
    ("a.txt", "0 ||| le chat ||| 8.2 ||| ||| 0 2\n1.0\n1.0\n1.0\n", "nematus"),
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
