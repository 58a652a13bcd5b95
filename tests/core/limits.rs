//! Small files that are large inside, and databases that are no workspaces: each ends in a sentence or shows what is sound.

use std::path::{Path, PathBuf};
use std::{fs, io::Write as _};

use interlinear::corpus::store::output::{SystemOutput, pack, unpack};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, read::StoredAbout, write::NewSentence};
use interlinear::{import, import::ImportOptions};
use rusqlite::Connection;

use crate::cli::{Outcome, feed, reference, reference_word};
use crate::folder::{Files as _, Folder};

fn made(folder: &Path) -> PathBuf {
    let path = folder.join("w.ilws");
    let mut workspace = Workspace::open(&path).expect("a workspace");
    let sentence = NewSentence { source: "an old mill".to_owned(), ..NewSentence::default() };
    workspace.add_sentences(1, &[sentence]).expect("a sentence");
    workspace.add_system("A", &StoredAbout::default()).expect("a system");
    path
}

#[test]
fn a_database_with_more_than_tables_of_a_workspace_is_not_opened() {
    for (sql, what) in [
        ("ALTER TABLE sentence RENAME TO other; CREATE VIEW sentence AS SELECT 1 AS id", "view `sentence`"),
        (
            "CREATE VIEW more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
            "view `more`",
        ),
        ("CREATE TRIGGER t AFTER INSERT ON sentence BEGIN DELETE FROM judgement; END", "trigger `t`"),
        (
            "DROP TABLE sentence; CREATE TABLE Sentence(id INTEGER PRIMARY KEY, origin, line, name,
             source TEXT AS (hex(zeroblob(400000000))), reference)",
            "table `sentence`",
        ),
        ("CREATE INDEX slow ON sentence(hex(zeroblob(400000000)))", "index `slow`"),
        ("CREATE VIRTUAL TABLE v USING fts5(x)", "table `v`"),
        ("INSERT INTO system VALUES (9000000000, 'far', '{}')", "systems with numbers"),
        ("INSERT INTO system VALUES (-1, 'below', '{}')", "systems with numbers"),
    ] {
        let (_folder, path) = Folder::of(made);
        Connection::open(&path).expect("a database").execute_batch(sql).expect(sql);
        let error = Workspace::open(&path).err().expect(sql).to_string();
        assert!(error.contains("w.ilws") && error.contains(what), "{sql}: {error}");
    }
}

#[test]
fn what_other_programs_may_add_does_no_harm() {
    let (_folder, path) = Folder::of(made);
    let sql = "CREATE TABLE theirs(a, b); CREATE INDEX theirs_a ON theirs(a); ANALYZE";
    let other = Connection::open(&path).expect("a database");
    other.execute_batch(&sql.replace("CREATE INDEX theirs_a ON theirs(a);", "")).expect(sql);
    let corpus = CorpusTable::read(&Workspace::open(&path).expect("it opens")).expect("a corpus");
    assert_eq!(corpus.sources.get(0), Some("an old mill"));
}

fn bomb(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("packed")
}

#[test]
fn packed_words_and_texts_that_are_too_long_are_damage_and_not_unpacked() {
    let words = [b"[\"\"".as_slice(), &b",\"\"".repeat(4 << 20), b"]"].concat();
    // No source words, then target words as they are; the numbers have seven bits a byte.
    let sound = pack(&SystemOutput::default(), "").expect("packed");
    assert!(unpack(String::new(), "", &sound).is_some());
    let packed = bomb(&words);
    let number = |mut number: usize| {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    };
    let body = [vec![0, 3], number(packed.len()), packed, vec![0, 0, 0, 0]].concat();
    let hostile = [vec![1], number(body.len()), body].concat();
    assert!(hostile.len() < 10_000 && unpack(String::new(), "", &hostile).is_none());
    let earlier = bomb(&[b"{\"s\":".as_slice(), &words, b",\"t\":[]}\0"].concat());
    assert!(unpack(String::new(), "", &earlier).is_none());

    // A row of a column that is too long is read sentence by sentence.
    let (_folder, path) = Folder::of(made);
    let other = Connection::open(&path).expect("a database");
    let row = bomb(&vec![b'x'; 200 << 20]);
    other.execute("INSERT OR REPLACE INTO block VALUES (0, 1, ?1)", [row]).expect("a row");
    let corpus = CorpusTable::read(&Workspace::open(&path).expect("it opens")).expect("a corpus");
    assert_eq!(corpus.sources.get(0), Some("an old mill"));
}

#[test]
fn a_sparse_file_does_not_have_more_sentences_than_it_holds() {
    let (_folder, path) = Folder::of(made);
    let other = Connection::open(&path).expect("a database");
    other
        .execute_batch(
            "INSERT INTO sentence VALUES (1000000000000, 1, 1, NULL, 'far', NULL); PRAGMA wal_checkpoint(TRUNCATE)",
        )
        .expect("a sentence");
    drop(other);
    // The header counts pages of 16,384 bytes.
    let pages: u32 = 1 << 20;
    let file = fs::File::options().write(true).open(&path).expect("a file");
    file.set_len(u64::from(pages) << 14).expect("a sparse file");
    let mut file = file;
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(28)).expect("the header");
    file.write_all(&pages.to_be_bytes()).expect("written");
    drop(file);
    let corpus = CorpusTable::read(&Workspace::open(&path).expect("it opens")).expect("a corpus");
    assert_eq!((corpus.len(), corpus.sources.get(0)), (2, Some("an old mill")));
}

fn written(path: &Path, write: impl FnOnce(&mut dyn std::io::Write)) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).expect("a file"));
    write(&mut file);
    file.flush().expect("written");
}

fn read(path: &Path) -> Result<usize, String> {
    let told = |error: interlinear::error::Error| error.to_string();
    let mut import = import::open(path, &ImportOptions::default()).map_err(told)?;
    let mut count = 0;
    loop {
        let window = import.window(1000).map_err(told)?;
        if window.is_empty() {
            return Ok(count);
        }
        count += window.read().0.len();
    }
}

#[test]
fn units_of_xml_and_rows_of_csv_have_a_limit_as_lines_have() {
    let folder = Folder::new();
    let block = vec![b'a'; 1 << 20];
    let (head, tail) = ("<tmx><header srclang=\"en\"/><body>", "</body></tmx>");
    let unit = "<tu><tuv xml:lang=\"en\"><seg>a mill</seg></tuv><tuv xml:lang=\"fr\"><seg>un moulin</seg></tuv></tu>\n";
    let cases: [(&str, String, &[u8], &str); 5] = [
        ("segment.tmx", format!("{head}{unit}<tu><tuv xml:lang=\"en\"><seg>"), &block, tail),
        ("comment.tmx", format!("{head}{unit}<!-- "), &block, " --></body></tmx>"),
        ("many.tmx", format!("{head}{unit}<tu>"), &b"<prop>a</prop><prop>b</prop>".repeat(1000), "</tu></body></tmx>"),
        (
            "text.xlf",
            "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"fr\"><trans-unit id=\"1\"><source>"
                .to_owned(),
            &block,
            "</source></trans-unit></file></xliff>",
        ),
        ("row.csv", "source,target\na mill,un moulin\n\"".to_owned(), &block, "\",b\n"),
    ];
    for (name, begin, middle, end) in cases {
        let path = folder.join(name);
        written(&path, |out| {
            out.write_all(begin.as_bytes()).expect("packed");
            for _ in 0..(17 << 20) / middle.len() {
                out.write_all(middle).expect("packed");
            }
            out.write_all(end.as_bytes()).expect("packed");
        });
        let why = read(&path).expect_err(name);
        assert!(why.contains(name) && why.contains("16777216 bytes"), "{name}: {why}");
    }
    // Many units that are short are read, however long the file is.
    let path = folder.join("long.tmx");
    written(&path, |out| {
        out.write_all(head.as_bytes()).expect("packed");
        let long = unit.replace("a mill", &"mill ".repeat(200));
        (0..20_000).for_each(|_| out.write_all(long.as_bytes()).expect("packed"));
        out.write_all(tail.as_bytes()).expect("packed");
    });
    assert_eq!(read(&path), Ok(20_000));
}

#[test]
fn a_table_of_many_columns_is_read_column_by_column() {
    let folder = Folder::new();
    let table = |count: usize| {
        let path = folder.join(format!("{count}.csv"));
        let row = |cell: &dyn Fn(usize) -> String| (0..count).map(cell).collect::<Vec<_>>().join(",");
        let text = format!("source,{}\na mill,{}\n", row(&|n| format!("s{n}")), row(&|n| format!("said {n}")));
        fs::write(&path, text).expect("written");
        path
    };
    let mut import = import::open(&table(3000), &ImportOptions::default()).expect("a table");
    let (records, _) = import.window(10).expect("rows").read();
    let said: Vec<&str> = records[0].outputs.iter().map(|output| output.text.as_str()).collect();
    assert_eq!((said.len(), said[0], said[2999]), (3000, "said 0", "said 2999"));
    let why = read(&table(10_000)).expect_err("too many");
    assert!(why.contains("has 10001 columns, and at most 10000 are read"), "{why}");
    // Numbers and links of a system stand beside its texts, wherever their columns are.
    let path = folder.put("beside.tsv", "A.log_p\tsource\tB\tA\n-2\ta mill\t\tun moulin\n");
    let mut import = import::open(&path, &ImportOptions::default()).expect("a table");
    let (records, _) = import.window(10).expect("rows").read();
    let [output] = records[0].outputs.as_slice() else { panic!("{records:?}") };
    assert_eq!((output.system.as_deref(), output.text.as_str(), output.log_p), (Some("A"), "un moulin", Some(-2.0)));
}

fn ran(folder: &Path, line: &str) -> Outcome {
    feed(folder, &line.split(' ').collect::<Vec<_>>(), b"s9 s31\n")
}

#[test]
fn what_cannot_be_meant_is_told_in_one_sentence() {
    let at = &Folder::new();
    at.put("s", "a b\n");
    ran(at, "analyse --workspace w --source s --reference s --output A=s --output B=s --format none");
    let cases = [
        ("--filter bleu.-1>0", "`bleu.-1` names system -1"),
        ("--overview pair --pair 1,99999", "--pair 1,99999 names no two systems; there are 2"),
        ("--overview ngrams --pair 2,2", "--pair 2,2 names no two systems"),
        ("--filter tag:", "`tag:` says nothing behind its colon"),
        ("--filter source:", "`source:` says nothing behind its colon"),
        ("--filter bleu.1=30..10", "`30..10` in `bleu.1=30..10` has its ends the wrong way round"),
        ("--filter /a(b/", "is no regular expression: unclosed group"),
        ("--filter souce:a", "`souce:` is no condition; write `source:`, or \"souce:a\" in quotes"),
        ("--filter tags:a", "`tags:` is no condition; write `tag:`"),
        ("--filter refernece:a", "`refernece:` is no condition; write `reference:`"),
        ("--filter wrongs.1:a", "`wrongs.1:` is no condition; write `wrong:`"),
        ("--filter colour:red", "`colour:` is no condition, and no text has `colour:red`; there are source:"),
    ];
    for (line, says) in cases {
        let Outcome { code, stderr: said, .. } = ran(at, &format!("analyse --workspace w {line}"));
        assert!(code == 2 && said.contains(says) && said.lines().count() == 1, "{line}: {code} {said}");
    }
    // texts have colons too
    for line in ["10:30", "\"colour:red\"", "\"souce:a\""] {
        let Outcome { code, stdout: found, stderr: said, .. } =
            ran(at, &format!("analyse --workspace w --filter {line}"));
        assert!(code == 0 && found.lines().count() == 1, "{line}: {code} {found}{said}");
    }
    let long = format!("/{}(/", "x".repeat(100_000));
    let Outcome { code, stderr: said, .. } = ran(at, &format!("analyse --workspace w --filter {long}"));
    assert!(code == 2 && said.len() < 300, "{}", said.len());
}

#[test]
fn an_overview_counts_what_it_is_asked_as_all_together_do() {
    let at = &Folder::new();
    let texts = [
        ("s", "the mill\nold mill\n"),
        ("t", "le moulin\nvieux moulin\n"),
        ("a", "le moulin\nun moulin\n"),
        ("g", "0-0 1-1\n0-0 1-1\n"),
    ];
    at.put_all(texts);
    ran(at, "analyse --workspace w --source s --reference t --gold g --output A=a --output B=t --format none");
    let names = ["length", "frequency", "words", "ngrams", "jumps", "pair"];
    let alone: Vec<String> =
        names.iter().map(|name| ran(at, &format!("analyse --workspace w --overview {name}")).stdout).collect();
    let Outcome { code, stdout: all, .. } = ran(at, &format!("analyse --workspace w --overview {}", names.join(",")));
    assert_eq!((code, all), (0, alone.join("\n")));
    assert!(alone.iter().all(|table| !table.is_empty()), "{alone:?}");
}

#[test]
fn a_report_has_any_number_of_sentences_and_pictures_of_the_first() {
    let at = &Folder::new();
    let line = |n: usize| {
        format!(
            "{{\"source\":[\"w{n}\",\"</s>\"],\"hypotheses\":[{{\"tokens\":[\"v{n}\",\"</s>\"],\"text\":\"v{n}\",\"log_p\":-1,\"token_log_p\":[-1,0],\"alpha\":[[0.75,0.25],[0.25,0.75]],\"finished\":true}}]}}\n"
        )
    };
    at.put("a.jsonl", (0..600).map(line).collect::<String>());
    at.put("s", (0..600).map(|n| format!("w{n}\n")).collect::<String>());
    ran(at, "analyse --workspace w --source s --output A=a.jsonl --format none").good();
    for (arguments, pictures) in [("", 100), ("--pictures 3", 3), ("--pictures 0", 0)] {
        let Outcome { code, stderr: said, .. } =
            ran(at, format!("report --workspace w --output r.html {arguments}").trim_end());
        let html = fs::read_to_string(at.join("r.html")).expect(&said);
        assert_eq!(
            (code, html.matches("<article>").count(), html.matches("<svg").count()),
            (0, 600, pictures),
            "{said}"
        );
        assert!(
            html.contains(&format!("The first {pictures} below have pictures")) && html.len() < 1 << 20,
            "{}",
            html.len()
        );
        roxmltree::Document::parse(&html.replace("<!DOCTYPE html>", "").replace("<meta charset=\"utf-8\">", ""))
            .expect("whole");
    }
    // An archive of so many alignments is written in pieces, and the second failure printed a line of its own.
    if cfg!(target_os = "linux") {
        let Outcome { code, stderr: said, .. } = ran(at, "analyse --workspace w --format npz --save /dev/full");
        assert!(code == 2 && said.contains("because the disk is full") && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn translate_leaves_alpha_out_and_all_else_as_it_is() {
    let folder = Folder::new();
    for name in ["rnnsearch", "luong-local-p-general", "rnnencdec"] {
        let line = format!("translate --model {} --format jsonl --nbest 2 --beam 3", reference(name).display());
        let value = |line: &str| -> serde_json::Value {
            let printed = ran(&folder, line).good().stdout;
            serde_json::from_str(&printed).expect("a line of JSON")
        };
        let (mut whole, bare) = (value(&line), value(&format!("{line} --no-alpha")));
        for hypothesis in whole["hypotheses"].as_array_mut().expect("hypotheses") {
            hypothesis["alpha"] = serde_json::Value::Null;
            hypothesis.as_object_mut().expect("an object").remove("p_t");
        }
        assert_eq!(bare, whole, "{name}");
    }
    let line = format!("translate --model {} --no-alpha", reference("rnnsearch").display());
    ran(&folder, &line).refused("--no-alpha is for --format jsonl");
}

#[test]
fn help_is_what_people_try_first() {
    let folder = Folder::new();
    assert_eq!(ran(&folder, "help").stdout, ran(&folder, "--help").stdout);
    assert_eq!(ran(&folder, "help translate").stdout, ran(&folder, "translate --help").stdout);
    assert_eq!(ran(&folder, "help").code, 0);
    assert_eq!(ran(&folder, "help nonsense").code, 2);
}

#[test]
fn what_is_packed_otherwise_is_told_as_that_and_not_as_letters_of_another_encoding() {
    let at = &Folder::new();
    let files: [(&str, &[u8], &str); 3] = [
        ("xz", b"\xFD7zXZ\0\0\x04\xe6\xd6", "is packed with xz, no text"),
        ("bz", b"BZh91AY&SY\xd3\n", "is packed with bzip2, no text"),
        ("latin", b"caf\xe9\n", "iconv"),
    ];
    let model = reference_word("rnnsearch");
    for (name, bytes, says) in files {
        at.put(name, bytes);
        ran(at, &format!("align --model {model} --source {name} --target {name}")).refused(says);
    }
}

#[test]
fn a_corpus_is_linked_by_an_aligner_of_ones_own() {
    let at = &Folder::new();
    let text: String = (0..60).map(|n| format!("a{} b{}\n", n % 7, n % 5)).collect();
    at.put("s.xx", &text);
    at.put("t.yy", text.to_uppercase().replace('A', "x"));
    ran(at, "align --statistical --source s.xx --target t.yy --save own.aligner");
    at.put("o.yy", "q q\n".repeat(60));
    ran(at, "analyse --workspace w --source s.xx --reference t.yy --output A=o.yy --format none");
    let linked = |more: &str| ran(at, &format!("analyse --workspace w --languages xx-yy --overview words{more}"));
    let (none, own) = (linked("").good().stdout, linked(" --learned own.aligner").good().stdout);
    assert!(!none.contains("wrong.1:b1") && own.contains("wrong.1:b1"), "{none}{own}");
    linked(" --learned s.xx").refused("s.xx");
}
