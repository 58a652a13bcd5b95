//! Words and ids: cutting, joining, vocabularies, files and minibatches.

mod foreign;
mod links;
mod unspaced;

use std::path::{Path, PathBuf};
use std::{collections::HashMap, io::Write as _};

use interlinear::error::{Error, Result};
use interlinear::text::corpus::{PairRules, ParallelText};
use interlinear::text::tokenizer::{CorpusEncoder, Tokenizer};
use interlinear::text::vocab::bpe::{build_bpe, build_joint_bpe};
use interlinear::text::write::{FolderDraft, write_atomic};
use interlinear::text::{lines::TextFile, parallel::ParallelReader, reader::LineReader, vocab};

use crate::folder::Folder;

fn read_lines(path: &Path) -> Result<Vec<String>> {
    LineReader::open(path)?.held().collect()
}

fn tokenizer(language: &str, words: &[&str]) -> Tokenizer {
    let counts = words.iter().enumerate().map(|(i, word)| ((*word).to_owned(), 1000 - i as u64));
    vocab::build(language, counts, 1000).expect("these words make a vocabulary")
}

const CUTS: &[(&str, &str, &str)] = &[
    (
        "fr",
        "L'homme qu'elle aime n'est-il pas venu aujourd'hui ?",
        "L'|homme|qu'|elle|aime|n'|est|-il|pas|venu|aujourd'|hui|?",
    ),
    ("fr", "Y a-t-il 1 234,5 € dans l’« armoire » ?", "Y|a|-t|-il|1|234,5|€|dans|l'|«|armoire|»|?"),
    ("fr", "va-t'en, grand-mère... à 10:30", "va|-t'|en|,|grand|-mère|...|à|10:30"),
    ("fr", "c' est l' an 2000-2001", "c'|est|l'|an|2000|-|2001"),
    ("fr", "le 20e siècle, 3D", "le|20e|siècle|,|3D"),
    ("fr-CA", "d'accord", "d'|accord"),
    ("it", "l'amico dell'uomo", "l'|amico|dell'|uomo"),
    ("en", "I don't know John's well-known dog.", "I|don|'t|know|John|'s|well|-known|dog|."),
    ("en", "The U.S. said “no” at 5 p.m. -- twice", "The|U.S.|said|\"|no|\"|at|5|p.m.|--|twice"),
    ("en", "'hello' (50%) 10-year-old", "'|hello|'|(|50|%|)|10|-year|-old"),
    ("en", "so\u{ad}ft\u{a0}space\u{200b}d \u{7}bell", "soft|spaced|bell"),
    ("en", "cafe\u{301} 👩\u{200d}🚀👍 مرحبا بك", "café|👩\u{200d}🚀|👍|مرحبا|بك"),
    ("de", "Er sagt's: „Ja“", "Er|sagt|'s|:|\"|Ja|\""),
    ("en", " \t\u{0}\u{200b}\u{feff} ", ""),
];

#[test]
fn words_are_cut_as_each_language_writes_them() {
    for (language, text, expect) in CUTS {
        let words = tokenizer(language, &[]).words(text);
        assert_eq!(words.join("|"), *expect, "{language}: {text}");
    }
}

#[test]
fn tokens_are_slices_of_what_was_typed() {
    for (language, text, expect) in CUTS {
        let sentence = tokenizer(language, &[]).encode(text);
        let words = expect.split('|').filter(|word| !word.is_empty()).count();
        assert_eq!((sentence.words(), sentence.len()), (words, words + 1), "{text}");
        for (token, span) in sentence.tokens.iter().zip(&sentence.spans).take(words) {
            assert_eq!(&sentence.text[span.clone()], token, "{text}");
        }
        assert_eq!(sentence.spans[words], text.len()..text.len());
        assert!(sentence.spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}

#[test]
fn words_are_looked_up_as_folded_and_kept_as_typed() {
    let fr = tokenizer("fr", &["l'", "été", "."]);
    let sentence = fr.encode("l’e\u{301}te\u{301} xyz.");
    assert_eq!(sentence.tokens, ["l’", "e\u{301}te\u{301}", "xyz", ".", "</s>"]);
    assert_eq!(sentence.ids, [2, 3, 1, 4, 0]);
    assert_eq!(fr.tokens(&[0, 1, 2, 99]), ["</s>", "[UNK]", "l'", "[UNK]"]);
}

#[test]
fn the_end_of_the_sentence_is_never_typed() {
    let json = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":null,"decoder":null,
        "model":{"type":"WordLevel","vocab":{"</s>":0,"[UNK]":1,"a":2},"unk_token":"[UNK]"}}"#;
    let plain = Tokenizer::from_json(Path::new("a.json"), json.as_bytes()).expect("a good file");
    let sentence = plain.encode("a </s> [UNK] \u{1}");
    assert_eq!(sentence.tokens, ["a", "</s>", "[UNK]", "</s>"]);
    assert_eq!((sentence.ids.as_slice(), sentence.words()), (&[2, 1, 1, 0][..], 3));
    assert_eq!(plain.encode("").ids, [0]);
    assert_eq!(plain.clone().ending(false).encode("a").ids, [2]);
    assert_eq!(plain.encode_with("a", Some(7)).ids, [2, 7]);
}

#[test]
fn words_that_are_cut_already_are_looked_up_whole() {
    let en = tokenizer("en", &["don't", "a", "it's"]);
    let sentence = en.encode_words(&["a", "don't", "well-known", "it’s"]);
    assert_eq!(sentence.text, "a don't well-known it’s");
    assert_eq!(sentence.ids, [3, 2, 1, 4, 0]);
    let texts: Vec<&str> = sentence.spans.iter().map(|span| &sentence.text[span.clone()]).collect();
    assert_eq!(texts, ["a", "don't", "well-known", "it’s", ""]);
}

#[test]
fn sentences_come_back_as_they_were() {
    let same = [
        ("fr", "L'homme qu'elle aime n'est-il pas venu aujourd'hui ?"),
        ("fr", "Il a dit : « Va-t'en ! », puis (sans attendre) il est parti..."),
        ("fr", "Le 3 mars, 10 000 personnes, soit 12,5 % du total, ont payé 4 $ ou 5 €."),
        ("fr", "\"Jean-Claude\" est grand-père ; et/ou pas."),
        ("en", "I don't know John's well-known dog; it's 10% off: $5 (or £4)!"),
        ("en", "She said \"no\" and 'yes' at 5 p.m. - twice, in 1999-2004."),
        ("en", "The students' books are here, aren't they?"),
        ("en", "COVID-19 was on page 3/4, at 10:30."),
        ("de", "Wie geht's dir, Anna?"),
    ];
    for (language, text) in same {
        let cutter = tokenizer(language, &[]);
        assert_eq!(cutter.join(language, &cutter.words(text)), text);
    }
}

#[test]
fn joined_text_has_no_end_mark_and_shows_unknown_words() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("fr", &["l'", "[UNK]", "-t", "-il", "?", "</s>"], "l'[UNK]-t-il ?"),
        ("fr", &["l’", "été"], "l’été"),
        ("en", &["[UNK]", "'s", "dog", ".", "</s>"], "[UNK]'s dog."),
        ("en", &["</s>"], ""),
        ("en", &["", "a"], " a"),
    ];
    for (language, tokens, expect) in cases {
        assert_eq!(tokenizer(language, &[]).join(language, tokens), *expect);
    }
}

#[test]
fn a_megabyte_is_cut_in_linear_time() {
    // Each of these once took quadratic time or memory in some tokeniser; the limit is generous for slow machines.
    for piece in ["a", "a ", "1,", "a-a", "l'a", "a.", "e\u{301}", "👩\u{200d}🚀", "!\u{1}"] {
        let text = piece.repeat(200_000 / piece.len());
        let start = std::time::Instant::now();
        let sentence = tokenizer("fr", &[]).encode(&text);
        assert!(sentence.len() >= 2 && start.elapsed().as_secs() < 20, "{piece:?} took {:?}", start.elapsed());
    }
}

#[test]
fn tokenizer_files_that_cannot_be_used_are_named() {
    let missing = Tokenizer::from_file(Path::new("no/such/tokenizer.json")).expect_err("it is missing");
    assert!(missing.is_users() && missing.to_string().contains("no/such/tokenizer.json"));
    let wordlevel = |vocabulary: &str| {
        format!(
            r#"{{"version":"1.0","added_tokens":[],"model":{{"type":"WordLevel","vocab":{vocabulary},"unk_token":"[UNK]"}}}}"#
        )
    };
    let cases = [
        (String::new(), "is not a complete"),
        ("[1, 2]".to_owned(), "is not a complete"),
        (wordlevel("{\"</s>\": 0"), "is not a complete"),
        (wordlevel(r#"{"[UNK]": 1}"#), "`</s>`"),
        (wordlevel(r#"{"</s>": 0}"#), "`[UNK]`"),
        (wordlevel(r#"{"</s>": 0, "[UNK]": 4000000000}"#), "number the words from 0"),
    ];
    for (json, expect) in cases {
        let error =
            Tokenizer::from_json(Path::new("t.json"), json.as_bytes()).expect_err("it is no tokenizer").to_string();
        assert!(error.starts_with("t.json: ") && error.contains(expect), "{error}");
    }
}

#[test]
fn a_vocabulary_is_a_shortlist_by_count() -> Result<()> {
    let lines = ["b a’s b", "c b, b", "a's"].map(|line| Ok(line.to_owned()));
    let counts = vocab::count("en", lines)?;
    let expect: HashMap<String, u64> =
        [("b", 4), ("a", 2), ("'s", 2), ("c", 1), (",", 1)].map(|(word, n)| (word.to_owned(), n)).into();
    assert_eq!(counts, expect);
    let shortlist = vocab::build("en", counts, 5)?;
    assert_eq!(shortlist.tokens(&[0, 1, 2, 3, 4]), ["</s>", "[UNK]", "b", "'s", "a"]);
    assert_eq!((shortlist.len(), shortlist.id("c")), (5, None));
    Ok(())
}

#[test]
fn a_saved_tokenizer_reads_the_same() -> Result<()> {
    let (_folder, path) = Folder::and_path("source.tokenizer.json");
    let fr = tokenizer("fr", &["l'", "homme", "est", "-il", "?"]);
    fr.save(&path)?;
    let again = Tokenizer::from_file(&path)?;
    let text = "L’homme est-il l'homme ?";
    assert_eq!((again.encode(text), again.len()), (fr.encode(text), fr.len()));
    Ok(())
}

#[test]
fn the_corpus_encoder_gives_the_same_ids() {
    let fr = tokenizer("fr", &["l'", "homme", "est", "-il", "?", "."]);
    let mut encoder = CorpusEncoder::new(&fr);
    for text in ["l'homme est-il ?", " l’homme\u{a0}?  l'homme. ", "", "autre chose\u{1}homme"] {
        let mut ids = Vec::new();
        encoder.extend(text, &mut ids);
        encoder.extend("", &mut ids);
        assert_eq!(ids, fr.encode_with(text, None).ids, "{text}");
    }
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    path
}

#[test]
fn lines_of_any_file_are_read() -> Result<()> {
    let folder = Folder::new();
    let text = "un\r\ndeux\r\n\r\nété\n".as_bytes();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text).expect("memory can be written");
    let gz = gz.finish().expect("memory can be written");
    let zst = zstd::encode_all(text, 1).expect("memory can be read");
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("crlf.txt", text, &["un", "deux", "", "été"]),
        // Known by what is in them, not by the name.
        ("packed.gz", &gz, &["un", "deux", "", "été"]),
        ("packed.txt", &zst, &["un", "deux", "", "été"]),
        ("mac.txt", b"a\rb\r\rc", &["a", "b", "", "c"]),
        ("stray.txt", b"a\nb\rc\nd", &["a", "b c", "d"]),
        ("bom.txt", b"\xef\xbb\xbfa\n", &["a"]),
        ("empty.txt", b"", &[]),
        ("newline.txt", b"\n", &[""]),
    ];
    for (name, bytes, expect) in cases {
        let path = file(&folder, name, bytes);
        assert_eq!(read_lines(&path)?, *expect, "{name}");
        let list = TextFile::open(&path)?;
        let lines: Vec<_> = (0..list.len()).map(|i| list.line(i).into_owned()).collect();
        assert_eq!(lines, *expect, "{name} as a list");
        assert_eq!(list.line(list.len()), "");
    }
    Ok(())
}

#[test]
fn damaged_files_are_named_with_their_line() {
    let folder = Folder::new();
    let zst = zstd::encode_all("a line\n".repeat(10_000).as_bytes(), 1).expect("memory can be read");
    let cases: &[(&str, &[u8], &str)] = &[
        ("latin.txt", b"good\n\xe9t\xe9\n", "latin.txt, line 2: is not UTF-8; convert"),
        ("short.zst", &zst[..zst.len() / 2], "short.zst"),
    ];
    for (name, bytes, expect) in cases {
        let path = file(&folder, name, bytes);
        for error in [read_lines(&path).map(drop), TextFile::open(&path).map(drop)] {
            let error = error.expect_err("it is damaged");
            assert!(error.is_users() && error.to_string().contains(expect), "{error}");
        }
    }
    for path in [folder.join("missing"), folder.to_owned()] {
        assert!(read_lines(&path).expect_err("there is no such file").is_users());
    }
}

#[cfg(unix)]
#[test]
fn a_list_is_an_ordinary_file() {
    let (folder, pipe) = Folder::and_path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success());
    let link = folder.join("link");
    std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
    let paths = [Path::new("/dev/zero"), Path::new("/dev/null"), &link, &pipe];
    for path in &paths[..if made { 4 } else { 3 }] {
        let error = TextFile::open(path).expect_err("it is no file").to_string();
        assert!(error.contains("is a pipe or a device") && error.contains(&*path.to_string_lossy()), "{error}");
    }
    let error = TextFile::open(&folder).expect_err("it is no file").to_string();
    assert!(error.contains("is a folder"), "{error}");
    assert_eq!(read_lines(Path::new("/dev/null")).expect("the command line may read it"), [""; 0]);
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_one() -> Result<()> {
    let folder = Folder::new();
    let path = file(&folder, "saved", b"old");
    let full = |writer: &mut std::io::BufWriter<interlinear::text::write::Draft>| {
        writer.write_all(b"half")?;
        Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
    };
    let error = write_atomic(&path, full).expect_err("the disk is full").to_string();
    assert!(error.contains("saved") && error.contains("disk is full"), "{error}");
    assert_eq!(read_lines(&path)?, ["old"]);
    write_atomic(&path, |writer| writer.write_all(b"new"))?;
    assert_eq!(read_lines(&path)?, ["new"]);
    let left = std::fs::read_dir(&folder).expect("the folder can be read").count();
    assert_eq!(left, 1, "no temporary file is left");
    assert!(write_atomic(&folder.join("no/folder"), |_| Ok(())).is_err());
    Ok(())
}

#[test]
fn parallel_files_must_have_as_many_lines() -> Result<()> {
    let folder = Folder::new();
    let a = file(&folder, "a", b"1\n2\n");
    let b = file(&folder, "b", b"x\ny");
    let c = file(&folder, "c", b"u\nv\nw\n");
    let pairs: Result<Vec<_>> = ParallelReader::new(&[(a.clone(), b.clone()), (b, a.clone())]).collect();
    let pairs: Vec<String> = pairs?.into_iter().map(|(x, y)| x + &y).collect();
    assert_eq!(pairs, ["1x", "2y", "x1", "y2"]);
    for files in [(a.clone(), c.clone()), (c, a.clone())] {
        let mut reader = ParallelReader::new(&[files]);
        let error = reader.by_ref().find_map(Result::err).expect("the third line has no partner");
        let told = error.to_string();
        assert!(matches!(&error, Error::File { path, .. } if *path == a), "{error}");
        assert!(told.contains("ends after line 2, but") && told.contains("goes on"), "{error}");
        assert!(reader.next().is_none());
    }
    Ok(())
}

#[test]
fn a_corpus_leaves_out_what_is_too_long_or_empty() -> Result<()> {
    let folder = Folder::new();
    let source = file(&folder, "s", b"a b\na a a a\n\na\n");
    let target = file(&folder, "t", b"x\ny\nx\nx z\n");
    let (a, x) = (tokenizer("en", &["a", "b"]), tokenizer("fr", &["x"]));
    let mut reading = PairRules { eos: 0, source_eos: true, max_words: 3, max_pairs: None, max_bytes: u64::MAX };
    let files = [(source, target)];
    let corpus = ParallelText::read(&files, &a, &x, &reading, &mut |_| Ok(()))?;
    assert_eq!((corpus.len(), corpus.left_out, corpus.target_ids()), (2, 2, 5));
    assert_eq!(corpus.pair(0), (&[2, 3, 0][..], &[2, 0][..]));
    assert_eq!(corpus.pair(1), (&[2, 0][..], &[2, 1, 0][..]));
    reading.max_pairs = Some(1);
    reading.source_eos = false;
    let corpus = ParallelText::read(&files, &a, &x, &reading, &mut |_| Ok(()))?;
    assert_eq!((corpus.len(), corpus.pair(0).0), (1, &[2, 3][..]));
    reading.max_words = 0;
    let error = ParallelText::read(&files, &a, &x, &reading, &mut |_| Ok(())).expect_err("nothing is left").to_string();
    assert!(error.contains("no pair of at most 0 words"), "{error}");
    Ok(())
}

fn lengths() -> ParallelText {
    let mut corpus = ParallelText::default();
    for i in 0..50_usize {
        corpus.push(&vec![2; 1 + i % 5], &vec![2; 1 + i % 7]);
    }
    corpus
}

#[test]
fn an_epoch_follows_from_seed_and_number() {
    let corpus = lengths();
    assert_eq!(corpus.batches(1, 3, 4, 2), corpus.batches(1, 3, 4, 2));
    assert_ne!(corpus.batches(1, 3, 4, 2), corpus.batches(1, 4, 4, 2));
    assert_ne!(corpus.batches(1, 3, 4, 2), corpus.batches(2, 3, 4, 2));
}

#[test]
fn minibatches_hold_every_pair_once_and_are_sorted_within() {
    let corpus = lengths();
    let batches = corpus.batches(1, 0, 4, 3);
    assert_eq!((batches.len(), batches.get(batches.len())), (13, None));
    let mut seen: Vec<u32> = batches.iter().flatten().copied().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..50).collect::<Vec<u32>>());
    let length = |i: &u32| (corpus.pair(*i as usize).1.len(), corpus.pair(*i as usize).0.len());
    assert!(batches.iter().all(|batch| batch.is_sorted_by_key(length)));
    // A pool of 3 x 4 pairs, sorted, spreads lengths 1 to 7 over three minibatches: each holds few.
    let spread = |batch: &[u32]| length(&batch[batch.len() - 1]).0 - length(&batch[0]).0;
    assert!(batches.iter().map(spread).sum::<usize>() < 13 * 4);
    assert!(ParallelText::default().batches(1, 0, 80, 20).is_empty());
}

fn counted(words: &[(&str, u64)]) -> HashMap<String, u64> {
    words.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect()
}

const COUNTED: &[(&str, u64)] = &[
    ("low", 50),
    ("lower", 20),
    ("lowest", 20),
    ("new", 60),
    ("newer", 10),
    ("l'", 30),
    ("été", 9),
    ("#", 5),
    (".", 80),
];

#[test]
fn pieces_are_learned_from_counts_always_the_same() -> Result<()> {
    let [one, two] = [build_bpe("fr", counted(COUNTED), 40)?, build_bpe("fr", counted(COUNTED), 40)?];
    let all = |tokenizer: &Tokenizer| {
        (0..tokenizer.len() as u32).map(|id| tokenizer.token(id).map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(all(&one), all(&two));
    assert!(one.len() <= 40 && one.tokens(&[0, 1]) == ["</s>", "[UNK]"]);
    assert!(one.id("low").is_some(), "the most frequent word is whole: {:?}", all(&one));
    let error = build_bpe("fr", counted(COUNTED), 9).expect_err("it does not hold the letters").to_string();
    assert!(error.contains("9 pieces") && error.contains("more pieces"), "{error}");
    let [source, target] = build_joint_bpe(["en", "fr"], [counted(COUNTED), counted(&[("thé", 7)])], 60)?;
    assert_eq!(all(&source), all(&target));
    assert_ne!(source.encode("l'été").tokens, target.encode("l'été").tokens, "each side cuts words its own way");
    Ok(())
}

#[test]
fn pieces_go_together_to_the_words_they_came_from() -> Result<()> {
    let tokenizer = build_bpe("fr", counted(COUNTED), 34)?;
    for (text, words) in [
        ("l'été newest lower.", &["l'", "été", "newest", "lower", "."][..]),
        ("low # # .", &["low", "#", "#", "."]),
        // A letter that was never counted makes its whole word unknown.
        ("low lowzer new", &["low", "[UNK]", "new"]),
        ("", &[]),
    ] {
        let sentence = tokenizer.encode(text);
        let pieces = tokenizer.tokens(&sentence.ids);
        let ranges = tokenizer.word_ranges(&sentence.ids);
        let whole: Vec<String> = ranges.iter().map(|word| tokenizer.marks().word(&pieces[word.clone()])).collect();
        assert_eq!(whole[..whole.len() - 1], *words, "{text}: {pieces:?}");
        assert_eq!(ranges.last(), Some(&(pieces.len() - 1..pieces.len())), "`</s>` is a word");
        for (token, span) in sentence.tokens.iter().zip(&sentence.spans).take(sentence.words()) {
            assert_eq!(&sentence.text[span.clone()], token);
        }
        let joined = text.replace("lowzer", "[UNK]").replace("# # .", "##.");
        assert_eq!(tokenizer.join("fr", &pieces), joined);
    }
    let words = tokenizer.encode_words(&["l'été", "lowest"]);
    assert_eq!((words.text.as_str(), words.ids.last()), ("l'été lowest", Some(&0)));
    assert!(words.tokens.len() > 4 && words.words() < words.tokens.len());
    Ok(())
}

#[test]
fn a_vocabulary_of_pieces_is_saved_and_read_again() -> Result<()> {
    let (_folder, path) = Folder::and_path("source.tokenizer.json");
    let tokenizer = build_bpe("en", counted(COUNTED), 40)?;
    tokenizer.save(&path)?;
    let again = Tokenizer::from_file(&path)?;
    let text = "lower newest low newer.";
    assert_eq!((again.encode(text), again.marks()), (tokenizer.encode(text), tokenizer.marks()));
    let mut ids = Vec::new();
    CorpusEncoder::new(&again).extend(text, &mut ids);
    assert_eq!(ids, again.encode_with(text, None).ids);
    Ok(())
}

#[test]
fn a_folder_is_there_with_all_its_files_or_not_at_all() -> Result<()> {
    let (folder, out) = Folder::and_path("more/out");
    let left = || std::fs::read_dir(folder.join("more")).expect("a folder").count();
    let draft = FolderDraft::new(&out)?;
    file(draft.path(), "a", b"half");
    drop(draft);
    assert!(!out.exists() && left() == 0);
    for (name, files) in [("a", 1), ("b", 2)] {
        let draft = FolderDraft::new(&out)?;
        file(draft.path(), name, b"whole");
        draft.keep()?;
        assert_eq!((left(), std::fs::read_dir(&out).expect("a folder").count()), (1, files));
    }
    Ok(())
}
