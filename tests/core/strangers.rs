//! What files of strangers, links, pipes and long lines can do: each test is named after what went wrong once.

use std::path::{Path, PathBuf};
use std::{fs, io::Write as _};

use interlinear::text::links::read::{LinkLayout, read as read_links};
use interlinear::text::reader::{LineReader, read_file};
use interlinear::text::tokenizer::{CorpusEncoder, Tokenizer};
use interlinear::text::write::{write_atomic, write_inside};
use interlinear::{error::Result, training::settings::TrainingSettings};

use crate::bad_input::{copy_of, replace};
use crate::cli::{feed, reference, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};

fn tokenizer(normalizer: &str, cutting: &str, model: &str, rest: &str) -> String {
    format!(
        r#"{{"version":"1.0","added_tokens":[],"normalizer":{normalizer},"pre_tokenizer":{cutting},"model":{model}{rest}}}"#
    )
}

const WORDS: &str = r#"{"type":"WordLevel","vocab":{"</s>":0,"[UNK]":1,"a":2},"unk_token":"[UNK]"}"#;
const SPLIT: &str = r#"{"type":"WhitespaceSplit"}"#;

fn read(json: &str) -> Result<Tokenizer> {
    Tokenizer::from_json(Path::new("t.json"), json.as_bytes())
}

#[test]
fn a_strange_tokenizer_file_is_an_error_of_the_file_and_no_panic() {
    let bpe = r#"{"type":"BPE","vocab":{"</s>":0,"[UNK]":1,"a":2,"b":3},"merges":[["a","b"]],"continuing_subword_prefix":"toolong"}"#;
    for (json, expect) in [
        (tokenizer("null", SPLIT, bpe, ""), "is not a complete"),
        (tokenizer(r#"{"type":"Precompiled","precompiled_charsmap":"AAAA"}"#, SPLIT, WORDS, ""), "t.json: "),
        (tokenizer("null", r#"{"type":"FixedLength","length":0}"#, WORDS, ""), "fail on ordinary text"),
        (
            tokenizer(
                "null",
                SPLIT,
                WORDS,
                r#","post_processor":{"type":"TemplateProcessing","single":[],"pair":[],"special_tokens":{}}"#,
            ),
            "key `post_processor`",
        ),
        (tokenizer("null", SPLIT, WORDS, r#","padding":{"strategy":{"Fixed":3}}"#), "key `padding`"),
        (tokenizer("null", SPLIT, WORDS, r#","truncation":{"max_length":2}"#), "key `truncation`"),
    ] {
        let error = read(&json).expect_err(&json);
        assert!(error.is_users() && error.to_string().contains(expect), "{error}");
    }
    // Ids are turned into text by our own rules, so a decoder is not looked at.
    assert!(read(&tokenizer("null", SPLIT, WORDS, r#","decoder":"full""#)).is_ok());
}

#[test]
fn the_same_text_is_cut_the_same_each_time() -> Result<()> {
    let bpe = r#"{"type":"BPE","dropout":0.5,"unk_token":"[UNK]","vocab":{"</s>":0,"[UNK]":1,"a":2,"b":3,"ab":4},"merges":[["a","b"]]}"#;
    let dropping = read(&tokenizer("null", SPLIT, bpe, ""))?;
    let first = dropping.encode("ab ab ab ab ab ab ab ab").ids;
    assert_eq!(first, [4, 4, 4, 4, 4, 4, 4, 4, 0]);
    Ok(())
}

#[test]
fn rules_that_blow_a_letter_up_to_gigabytes_make_the_text_unknown() -> Result<()> {
    let rule = r#"{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaa"}"#;
    let chain = format!(r#"{{"type":"Sequence","normalizers":[{}]}}"#, [rule; 10].join(","));
    let blowing = read(&tokenizer(&chain, SPLIT, WORDS, ""))?;
    assert_eq!(blowing.encode("b a").ids, [1, 1, 0]);
    assert_eq!(blowing.encode_words(&["ba", "a"]).ids, [1, 2, 0]);
    let long = rule.replace("aaaaaaaaaa", &"a".repeat(1000));
    let error = read(&tokenizer(&long, SPLIT, WORDS, "")).expect_err("it is too long").to_string();
    assert!(error.contains("key `normalizer`"), "{error}");
    Ok(())
}

#[test]
fn a_corpus_has_the_ids_that_the_tokenizer_gives_whatever_it_looks_at() -> Result<()> {
    let bytes = r#"{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}"#;
    let model = r#"{"type":"BPE","unk_token":"[UNK]","vocab":{"</s>":0,"[UNK]":1,"a":2,"Ġ":3,"Ġa":4,"b":5},"merges":[["Ġ","a"]]}"#;
    let joining = r#"{"type":"Replace","pattern":{"String":"a a"},"content":"b"}"#;
    for (normalizer, cutting, model) in [("null", bytes, model), (joining, SPLIT, WORDS)] {
        let tokenizer = read(&tokenizer(normalizer, cutting, model, ""))?;
        let mut ids = Vec::new();
        CorpusEncoder::new(&tokenizer).extend("a a a", &mut ids);
        assert_eq!(ids, tokenizer.encode_with("a a a", None).ids, "{cutting}");
    }
    Ok(())
}

fn gzip(write: impl FnOnce(&mut dyn std::io::Write)) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    write(&mut packer);
    packer.finish().expect("memory can be written")
}

#[test]
fn a_packed_line_without_end_does_not_fill_the_memory() {
    let (folder, path) = Folder::and_path("zeros.gz");
    let zeros = vec![0_u8; 1 << 20];
    fs::write(&path, gzip(|out| (0..64).for_each(|_| out.write_all(&zeros).expect("written")))).expect("written");
    let mut lines = LineReader::open(&path).expect("it opens");
    let error = lines.next().expect("a line").expect_err("it is too long").to_string();
    assert!(error.contains("zeros.gz, line 1: has more than 1048576 bytes"), "{error}");
    assert!(lines.bytes() < 2 << 20, "{} bytes were read", lines.bytes());
    // The same in a gold file and in parallel text.
    let (model, path) = (reference("rnnsearch"), path.display().to_string());
    let arguments = ["evaluate", "--model", &model.display().to_string(), "--source", &path, "--target", &path];
    run_in(&folder, &arguments).refused("has more than 1048576 bytes");
}

#[test]
fn endless_empty_lines_are_not_held_in_memory() {
    let (_folder, path) = Folder::and_path("empty.txt");
    fs::write(&path, vec![b'\n'; 11 << 20]).expect("written");
    let lines: Result<Vec<String>> = LineReader::open(&path).expect("it opens").held().collect();
    let error = lines.expect_err("too many lines").to_string();
    assert!(error.contains("empty.txt: has more than 10000000 lines"), "{error}");
    // A gold file ends where its text ends.
    let gold = read_links(&path, &[(2, 2)], &LinkLayout::default());
    let error = gold.expect_err("the text has one line").to_string();
    assert!(error.contains("has more than 1 lines, but the corpus has 1"), "{error}");
}

#[cfg(target_os = "linux")]
fn run_within(folder: &Path, line: &str, mebibytes: usize, seconds: usize) -> (Option<i32>, String) {
    let script = format!("ulimit -v {} -t {seconds}; {line}", 1024 * mebibytes);
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_interlinear")]).current_dir(folder);
    let done = command.output().expect("bash");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[cfg(target_os = "linux")]
fn configuration(text: &str) -> String {
    format!(
        "name = \"toy\"\noutput = \"out\"\n[model]\narchitecture = \"rnnencdec\"\nsource_language = \"en\"\n\
         target_language = \"fr\"\nsource_vocabulary = 9\ntarget_vocabulary = 9\nembedding = 3\nhidden = 3\nmaxout = 2\n\
         [data]\ntrain = [{{ source = \"{text}\", target = \"{text}\" }}]\n\
         development = {{ source = \"few\", target = \"few\" }}\nmax_length = 8\n"
    )
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_packed_file_of_very_many_empty_lines_ends_in_a_sentence_soon() {
    let folder = Folder::new();
    let path = |name: &str| folder.join(name);
    let feeds = vec![b'\n'; 1 << 20];
    fs::write(path("empty.gz"), gzip(|out| (0..11).for_each(|_| out.write_all(&feeds).expect("written"))))
        .expect("written");
    fs::write(path("few"), "a b\nb a\n".repeat(20)).expect("written");
    fs::write(path("toy.toml"), configuration("empty.gz")).expect("written");
    let model = reference_word("rnnsearch");
    let (empty, few) = ("--source empty.gz --target empty.gz", "--source few --target few");
    let blank = "as are the 1000000 lines before it";
    for (line, expect) in [
        (format!("evaluate --model {model} {empty}"), "empty.gz: has more than 1000000 lines"),
        (format!("align --statistical {empty}"), "as do the 1000000 pairs before it"),
        (format!("align --statistical {few} --corpus-source empty.gz --corpus-target empty.gz"), blank),
        (format!("align --statistical {few} --corpus-source <(yes '') --corpus-target <(yes '')"), blank),
        (format!("dictionary --statistical {empty} --output out.tsv"), blank),
        ("train toy.toml --threads 1".to_owned(), blank),
    ] {
        let (code, said) = run_within(&folder, &format!("\"$0\" {line}"), 700, 60);
        assert!(code == Some(2) && said.contains(expect), "{line}: {code:?} {said}");
    }
    assert!(!path("out.tsv").exists() && !path("table.gz").exists());
}

#[test]
fn a_gold_file_with_more_links_than_words_is_refused() {
    let folder = Folder::new();
    let path = folder.put("gold", "1 1 1 S\n".repeat(2000));
    let gold = read_links(&path, &[(2, 2)], &LinkLayout::default());
    let error = gold.expect_err("there cannot be so many").to_string();
    assert!(error.contains("gold, line 1017: has more links"), "{error}");
}

#[cfg(unix)]
fn pipe(folder: &Path) -> Option<PathBuf> {
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success());
    made.then_some(pipe)
}

#[cfg(unix)]
#[test]
fn an_output_that_is_a_pipe_stays_one() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = Folder::new();
    let Some(pipe) = pipe(&folder) else { return };
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).expect("what is written into it")
    });
    // Opened for reading as well, so that nothing here waits for the thread.
    write_atomic(&pipe, |file| file.write_all(b"text")).expect("it is written into");
    assert!(fs::symlink_metadata(&pipe).expect("it is there").file_type().is_fifo());
    assert_eq!(reader.join().expect("it ends"), "text");
    let error = read_file(&pipe, 10).expect_err("it may never answer").to_string();
    assert!(error.contains("is a pipe or a device"), "{error}");
    let error = Tokenizer::from_file(&pipe).expect_err("it may never answer").to_string();
    assert!(error.contains("is a pipe or a device"), "{error}");
}

#[cfg(unix)]
#[test]
fn an_output_that_is_a_link_is_followed_and_keeps_its_mode() -> Result<()> {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Folder::new();
    let (file, link, chain) = (folder.join("file"), folder.join("link"), folder.join("chain"));
    fs::write(&file, "old").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("changed");
    symlink("file", &link).expect("a link");
    symlink(&link, &chain).expect("a link");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    write_atomic(&chain, |out| out.write_all(b"new"))?;
    assert_eq!((fs::read_to_string(&file).expect("read").as_str(), mode(&file)), ("new", 0o600));
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(fs::symlink_metadata(&chain).expect("there").is_symlink());
    // A link to what is not there yet makes it.
    let (far, dangling) = (folder.join("far"), folder.join("dangling"));
    symlink("far", &dangling).expect("a link");
    write_atomic(&dangling, |out| out.write_all(b"made"))?;
    assert_eq!(fs::read_to_string(&far).expect("read"), "made");
    // In a folder of the program's own a link could lead anywhere: it is replaced, and what it led to stays.
    write_inside(&link, |out| out.write_all(b"own"))?;
    assert!(fs::symlink_metadata(&link).expect("there").is_file());
    assert_eq!(fs::read_to_string(&file).expect("read"), "new");
    // One that leads back to itself, and a folder, are told.
    let ring = folder.join("ring");
    symlink("ring", &ring).expect("a link");
    assert!(write_atomic(&ring, |_| Ok(())).is_err());
    let error = write_atomic(&folder, |_| Ok(())).expect_err("a folder").to_string();
    assert!(error.contains("is a folder"), "{error}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn a_new_training_follows_a_link_that_was_named() {
    let folder = Folder::new();
    folder.put("real.toml", "");
    std::os::unix::fs::symlink("real.toml", folder.join("run.toml")).expect("a link");
    run_line(&folder, "train --new run.toml --force").good();
    assert!(fs::symlink_metadata(folder.join("run.toml")).expect("there").is_symlink());
    assert!(folder.text("real.toml").contains("[model]"));
}

fn rude(folder: &Path) -> String {
    let model = copy_of("rnnsearch", folder);
    let config = model.text("config.json");
    let name = config.split("\"name\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a name").to_owned();
    replace(
        &model.join("config.json"),
        &format!("\"name\": \"{name}\""),
        "\"name\": \"=ru\\u001b[31mde\\n\\u009bname\"",
    );
    model.display().to_string()
}

fn rude_words(model: &str, side: &str) {
    let path = Path::new(model).join(format!("{side}.tokenizer.json"));
    let mut file: serde_json::Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    let vocabulary = file["model"]["vocab"].as_object_mut().expect("a list of words");
    let rude = |(word, id): (&String, &serde_json::Value)| {
        let new =
            if ["</s>", "[UNK]"].contains(&word.as_str()) { word.clone() } else { format!("=\u{1b}[2J{word}\nx\"") };
        (new, id.clone())
    };
    *vocabulary = vocabulary.iter().map(rude).collect();
    fs::write(&path, serde_json::to_vec(&file).expect("JSON")).expect("written");
}

#[test]
fn nothing_that_a_terminal_obeys_reaches_stdout_and_a_line_stays_a_line() {
    let (folder, model) = Folder::of(rude);
    rude_words(&model, "target");
    folder.put("s", "a\nb\n");
    folder.put("t", "a\nb\n");
    let pairs = ["--source", "s", "--target", "t"];
    let word = format!("=\u{1b}[2J{}\nx\"", first_word(&reference("rnnsearch")));
    let cases: &[(&[&str], Option<usize>)] = &[
        (&["inspect", &model], None),
        (&["inspect", &model, "--json"], Some(1)),
        (&["translate", "--model", &model], Some(2)),
        (&["translate", "--model", &model, "--format", "jsonl"], Some(2)),
        (&["sample", "--model", &model], Some(2)),
        (&["evaluate", "--model", &model, pairs[0], pairs[1], pairs[2], pairs[3]], None),
        (&["evaluate", "--model", &model, pairs[0], pairs[1], pairs[2], pairs[3], "--format", "tsv"], None),
        (&["neighbours", "--model", &model, "--side", "target", "--count", "3", &word], Some(4)),
        (&["neighbours", "--model", &model, "--side", "target", "--count", "3", "--format", "tsv", &word], Some(4)),
        (&["map", "--model", &model, "--side", "target", "--words", "5"], Some(6)),
    ];
    for (arguments, lines) in cases {
        let is_table = arguments.contains(&"tsv") || arguments[0] == "map";
        let guarded = if is_table { &["--for-spreadsheets"][..] } else { &[] };
        let outcome = feed(&folder, &[arguments, guarded].concat(), b"a\nb\n").good();
        let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!outcome.stdout.contains(obeyed), "{arguments:?}: {:?}", outcome.stdout);
        if let Some(lines) = lines {
            assert_eq!(outcome.stdout.lines().count(), *lines, "{arguments:?}: {:?}", outcome.stdout);
        }
        let mut cells = outcome.stdout.lines().flat_map(|line| line.split('\t')).filter(|_| is_table);
        let formula = cells.find(|cell| cell.trim_start_matches('"').starts_with('='));
        assert_eq!(formula, None, "{arguments:?}");
    }
}

fn first_word(model: &Path) -> String {
    let tokenizer = Tokenizer::from_file(&model.join("target.tokenizer.json")).expect("the fixture is sound");
    tokenizer.token(2).expect("a third word").to_owned()
}

#[test]
fn a_model_with_a_long_name_has_its_files_of_evaluate() {
    let folder = Folder::new();
    let model = copy_of("rnnsearch", &folder);
    let config = model.text("config.json");
    let name = config.split("\"name\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a name").to_owned();
    replace(
        &model.join("config.json"),
        &format!("\"name\": \"{name}\""),
        &format!("\"name\": \"{}\"", "é".repeat(140)),
    );
    folder.put("s", "a\n");
    let model = model.display().to_string();
    let arguments = ["evaluate", "--model", &model, "--source", "s", "--target", "s", "--output", "out"];
    run_in(&folder, &arguments).good();
    let files: Vec<String> = fs::read_dir(folder.join("out"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(files.iter().any(|name| name.ends_with(".sentences.jsonl")), "{files:?}");
}

#[test]
fn every_command_of_lines_says_when_its_input_was_empty_and_takes_the_same_formats() {
    let folder = Folder::new();
    folder.put("s", "");
    folder.put("a", "a\n");
    let model = reference_word("rnnsearch");
    for (arguments, verb) in [
        (&["translate", "--model", &model][..], "translate"),
        (&["sample", "--model", &model], "sample"),
        (&["score", "--model", &model, "--source", "s", "--target", "s"], "score"),
        (&["align", "--model", &model, "--source", "s", "--target", "s"], "align"),
    ] {
        let outcome = run_in(&folder, arguments);
        let told = format!("has no lines, so there was nothing to {verb}");
        assert!(outcome.code == 0 && outcome.stderr.contains(&told), "{arguments:?}: {}", outcome.stderr);
    }
    for format in ["text", "jsonl", "pharaoh"] {
        for arguments in [
            &["translate", "--model", &model, "--format", format, "a"][..],
            &["score", "--model", &model, "--format", format, "--source", "a", "--target", "a"],
        ] {
            let outcome = run_in(&folder, arguments);
            assert!(outcome.code == 0 && outcome.stdout.lines().count() == 1, "{arguments:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn a_configuration_of_brackets_that_are_never_closed_overflowed_the_stack() {
    let folder = Folder::new();
    let path = folder.put("toy.toml", format!("[data]\n{}", "train = [{ a = 1, b\n".repeat(20_000)));
    let error = TrainingSettings::load(&path).expect_err("it is no configuration").to_string();
    assert!(error.contains("toy.toml: has more than 600 opening brackets"), "{error}");
    fs::write(&path, vec![b'#'; 2 << 20]).expect("written");
    let error = TrainingSettings::load(&path).expect_err("it is too long").to_string();
    assert!(error.contains("toy.toml: has more than 1048576 bytes"), "{error}");
}
