//! A model whose vocabularies have pieces of words: its alignments are of words, and its JSON says what it is of.

use std::{collections::HashMap, fs, path::Path};

use interlinear::models::{checkpoint::Weights, config::Config, shapes};
use interlinear::text::vocab::bpe::build_joint_bpe;
use serde_json::Value;

use crate::bad_input::copy_of;
use crate::cli::{feed, json_of, reference, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};

const WORDS: &[&str] =
    &["sun", "suns", "sunrise", "rise", "rises", "risen", "moon", "moonrise", "moons", "noon", "soon", "son", "sons"];

pub fn model(folder: &Path) -> String {
    let model = copy_of("rnnsearch", folder);
    let config: Value = serde_json::from_slice(&fs::read(model.join("config.json")).expect("read")).expect("JSON");
    let size = config["source_vocabulary"].as_u64().expect("a number") as usize;
    assert_eq!(config["target_vocabulary"].as_u64(), Some(size as u64), "the fixture has two vocabularies of one size");
    let counts: HashMap<String, u64> = WORDS.iter().zip(2..).map(|(word, count)| ((*word).to_owned(), count)).collect();
    let both = build_joint_bpe(["en", "fr"], [counts.clone(), counts], size).expect("pieces");
    for (tokenizer, side) in both.iter().zip(["source", "target"]) {
        assert_eq!(tokenizer.len(), size, "the words have enough pieces");
        tokenizer.save(&model.join(format!("{side}.tokenizer.json"))).expect("written");
    }
    model.display().to_string()
}

fn ranges(value: &Value) -> Vec<std::ops::Range<usize>> {
    let end = |value: &Value| value.as_u64().expect("a number") as usize;
    value.as_array().expect("ranges").iter().map(|range| end(&range[0])..end(&range[1])).collect()
}

fn links(alpha: &Value, x: &[std::ops::Range<usize>], y: &[std::ops::Range<usize>]) -> String {
    let alpha = |i: usize, j: usize| alpha[i][j].as_f64().expect("a number");
    let weight = |word: &std::ops::Range<usize>, at: &std::ops::Range<usize>| {
        word.clone().flat_map(|i| at.clone().map(move |j| alpha(i, j))).sum::<f64>() / word.len() as f64
    };
    let best = |word: &std::ops::Range<usize>| {
        (0..x.len()).reduce(|best, j| if weight(word, &x[j]) > weight(word, &x[best]) { j } else { best })
    };
    let links = y.iter().enumerate().filter_map(|(i, word)| best(word).map(|j| format!("{j}-{i}")));
    links.collect::<Vec<_>>().join(" ")
}

#[test]
fn alignments_of_pieces_are_told_of_words() {
    let (folder, model) = Folder::of(model);
    let input = "sunrise soon moonrises sons\nrisen moons noon\n";
    folder.put("s", input);
    let run = |arguments: &[&str]| run_in(&folder, arguments).good().stdout;
    let translate = ["translate", "--model", &model, "s", "--max-length", "12", "--format"];
    let score = ["score", "--model", &model, "--source", "s", "--target", "s", "--format"];
    let mut merged = false;
    for (command, is_score) in [(&translate[..], false), (&score[..], true)] {
        let json = run(&[command, &["jsonl"]].concat());
        let pharaoh = run(&[command, &["pharaoh"]].concat());
        assert_eq!((json.lines().count(), pharaoh.lines().count()), (2, 2));
        for ((json, pharaoh), line) in json.lines().zip(pharaoh.lines()).zip(input.lines()) {
            let record = json_of(json);
            let best = if is_score { &record } else { &record["hypotheses"][0] };
            let tokens = if is_score { &record["target"] } else { &best["tokens"] };
            let (x, y) = if is_score {
                (ranges(&record["words"]["source"]), ranges(&record["words"]["target"]))
            } else {
                (ranges(&record["words"]), ranges(&best["words"]))
            };
            assert_eq!(x.len(), line.split(' ').count() + 1, "a range for each word and `</s>`");
            assert_eq!(y.last().map(|last| last.end), tokens.as_array().map(Vec::len));
            merged |= x.iter().any(|word| word.len() > 1);
            let without_end =
                |words: &[std::ops::Range<usize>], ended: bool| words[..words.len() - usize::from(ended)].to_vec();
            let ended = tokens[y.last().map_or(0, |last| last.start)] == "</s>";
            assert_eq!(pharaoh, links(&best["alpha"], &without_end(&x, true), &without_end(&y, ended)));
            for row in best["alpha"].as_array().expect("rows") {
                let sum: f64 = row.as_array().expect("a row").iter().filter_map(Value::as_f64).sum();
                assert!((sum - 1.0).abs() < 1e-4);
            }
            assert!(is_score || !best["text"].as_str().expect("text").contains("##"), "{}", best["text"]);
        }
    }
    assert!(merged, "some word has several pieces");
}

#[test]
fn every_command_reads_the_same_links_off_a_forced_translation() {
    let (folder, model) = Folder::of(model);
    let input = "sunrise-moons soon, moonrises' sons.\nrisen moons (noon) rises\nsunrise\n\
                 son. moon. soon rises\nMr. sun, hon. moons rise\nn'rise s'moon\n";
    folder.put("s", input);
    let run = |arguments: &[&str]| run_in(&folder, arguments).good().stdout;
    let pair = ["--model", &model, "--source", "s"];
    let links = run(&[&["align"][..], &pair, &["--target", "s"]].concat());
    for (links, line) in links.lines().zip(input.lines()) {
        let targets: Vec<usize> = links.split(' ').filter_map(|link| link.split_once('-')?.1.parse().ok()).collect();
        // a word whose row looks most at punctuation has none
        assert!(targets.is_sorted() && targets.iter().all(|word| *word < line.split(' ').count()), "{line}: {links}");
    }
    assert_eq!(run(&[&["score"][..], &pair, &["--target", "s", "--format", "pharaoh"]].concat()), links);
    let tokens = run(&[&["align"][..], &pair, &["--target", "s", "--link-words", "tokens"]].concat());
    let scored = ["--target", "s", "--format", "pharaoh", "--link-words", "tokens"];
    assert_eq!(run(&[&["score"][..], &pair, &scored].concat()), tokens);
    // the marks are words
    let count = |links: &str| links.lines().next().map_or(0, |line| line.split(' ').count());
    assert_eq!(count(&tokens), 8, "{tokens}");
    let corpus = ["--workspace", "w.ilws", "--reference", "s", "--force", "--format", "links"];
    assert_eq!(run(&[&["analyse"][..], &pair, &corpus].concat()), links);
}

#[test]
fn links_of_nearly_equal_weights_are_the_same_in_a_corpus() {
    let folder = Folder::new();
    let model = reference_word("rnnsearch");
    let word = |n: usize| format!("s{}", 2 + n * 7 % 37);
    let line = |n: usize| (0..5 + n % 9).map(|k| word(n * 5 + k * k)).collect::<Vec<_>>().join(" ") + "\n";
    folder.put("s", (0..150).map(line).collect::<String>());
    folder.put("t", (0..150).map(|n| line(n + 3).replace('s', "t")).collect::<String>());
    let run = |line: &str| run_line(&folder, line).good().stdout;
    let links = run(&format!("align --model {model} --source s --target t"));
    let scored = run(&format!("score --model {model} --source s --target t --format pharaoh"));
    let kept =
        run(&format!("analyse --workspace w.ilws --model {model} --source s --reference t --force --format links"));
    let differ = |other: &str| links.lines().zip(other.lines()).filter(|(a, b)| a != b).count();
    assert_eq!((differ(&kept), differ(&scored), links.lines().count()), (0, 0, 150));
}

#[test]
fn figures_of_pieces_are_of_words_unless_pieces_are_asked_for() {
    let (folder, model) = Folder::of(model);
    let words = ["sunrise", "moonrises", "noon"];
    for kind in ["heatmap", "links", "beam"] {
        let plain = [
            "figure", "--model", &model, "--text", "sunrise moonrises noon", "--target", "moonrises sunrise noon",
            "--kind", kind,
        ];
        let run = |arguments: &[&str]| run_in(&folder, arguments).good().stdout;
        let whole = run(&plain);
        assert!(words.iter().all(|word| whole.contains(word)) && !whole.contains("##"), "{kind}");
        let cut = run(&[&plain[..], &["--pieces"]].concat());
        assert!(cut.contains("##"), "{kind} shows pieces where they are asked for");
    }
}

#[test]
fn a_model_of_words_says_nothing_of_pieces() {
    let folder = Folder::new();
    let model = copy_of("rnnsearch", &folder).display().to_string();
    let outcome = feed(&folder, &["translate", "--model", &model, "--format", "jsonl"], b"a b\n");
    let record = json_of(outcome.stdout.trim());
    assert!(record["words"].is_null() && record["hypotheses"][0]["words"].is_null());
}

#[test]
fn dictionaries_of_pieces_are_of_words() {
    let (folder, model) = Folder::of(model);
    folder.put("s", "sunrise moonrise sons\n".repeat(3));
    let arguments = ["dictionary", "--model", &model, "--source", "s", "--target", "s", "--output", "out"];
    run_in(&folder, &arguments).good();
    let text = folder.text("out");
    for word in text.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic)) {
        assert!(["sunrise", "moonrise", "sons"].contains(&word), "{word} in {text}");
    }
}

#[test]
fn evaluate_copied_a_piece_in_place_of_an_unknown_word() {
    let (folder, model) = Folder::of(model);
    let path = Path::new(&model);
    let config = Config::load(&path.join("config.json")).expect("sound");
    let mut weights = Weights::load(&path.join("model.safetensors"), &shapes(&config)).expect("sound");
    let mut bias = weights.get("readout.b_w").expect("it has one").clone();
    bias.data[config.unk as usize] += 8.0;
    weights.insert("readout.b_w", bias);
    weights.save(&path.join("model.safetensors"), false).expect("written");
    let input = "moonrise sunrise rises\nsunrises moonrises\n";
    folder.put("s", input);
    for pretokenized in [&[][..], &["--pretokenized"]] {
        let search = ["--model", &model, "--beam", "1", "--max-length", "6", "--replace-unk"];
        let translated = run_in(&folder, &[&["translate", "s"], &search[..], pretokenized].concat()).good();
        let files = ["--source", "s", "--target", "s", "--output", "out"];
        run_in(&folder, &[&["evaluate"], &search[..], &files, pretokenized].concat()).good();
        let text = folder.text(format!("out/{}.txt", config.name));
        assert_eq!(text, translated.stdout);
        let copied = |word: &&str| input.split_whitespace().any(|source| source == *word);
        assert!(text.split_whitespace().any(|word| copied(&word)), "no whole word was copied: {text}");
    }
}

/// -log p a word, perplexity and lengths were of pieces here and of words for other models.
#[test]
fn figures_are_of_words_between_spaces_however_a_model_cuts_them() {
    let (folder, model) = Folder::of(model);
    folder.put("s", "sunrise soon moonrises sons\nrisen, moons noon\n");
    let words = reference("rnnsearch");
    let models = ["--model", &model, "--model", words.to_str().expect("plain")];
    let files = ["--source", "s", "--target", "s", "--unk", "none", "--buckets", "3"];
    let evaluate = |format: &str| {
        run_in(&folder, &[&["evaluate"], &models[..], &files, &["--format", format]].concat()).good().stdout
    };
    let report = json_of(&evaluate("json"));
    let rows = |n: usize| report["models"][n]["rows"].as_array().expect("rows").clone();
    let number = |row: &Value, name: &str| row[name].as_f64().expect(name);
    for n in 0..2 {
        let all = &rows(n)[0];
        assert_eq!((&all["sentences"], &all["words"]), (&2.into(), &(5 + 4).into()), "`</s>` counted");
        assert!((number(all, "nll_per_word") - number(all, "nll") / 9.0).abs() < 1e-9);
        assert!((number(all, "perplexity") - (number(all, "nll") / 9.0).exp()).abs() < 1e-6);
        let per_token = number(all, "nll") / number(all, "tokens");
        assert!((number(all, "nll_per_token") - per_token).abs() < 1e-9);
        let lengths: Vec<Value> = rows(n).iter().take(3).map(|row| row["length"].clone()).collect();
        assert_eq!(lengths, ["all", "1-3", "4+"]);
        assert!(rows(n)[1..3].iter().all(|row| row["sentences"] == 1), "{:?}", rows(n));
        // The other model knows none of these words, so that nothing of both is of known words.
        let known = rows(n).into_iter().find(|row| row["set"] == "without UNK").expect("a row");
        assert_eq!(known["sentences"], 0);
    }
    assert!(number(&rows(0)[0], "tokens") > 9.0, "it has pieces");
    let note = "Sentences whose reference has a word that is read as [UNK]";
    let table = evaluate("table");
    assert!(table.contains(note) && table.contains("not comparable"), "{table}");
}
