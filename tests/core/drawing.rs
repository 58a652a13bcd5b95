//! `interlinear figure`, `completions` and `man` as users run them, and models that are named without a path.

use std::{path::Path, process::Command};

use crate::cli::{Outcome, feed, json_of, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};
use crate::tiny::TINY;

const WORDS: &str = "one two three";

fn figure(folder: &Path, arguments: &[&str], stdin: &str) -> Outcome {
    if !folder.join(TINY.name).exists() {
        TINY.save(folder);
    }
    feed(folder, &[&["figure", "--model", TINY.name], arguments].concat(), stdin.as_bytes())
}

fn folder() -> Folder {
    Folder::new()
}

fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).expect("XML");
    let is_text = |node: &roxmltree::Node<'_, '_>| node.has_tag_name(("http://www.w3.org/2000/svg", "text"));
    document.descendants().filter(is_text).filter_map(|node| node.text().map(str::to_owned)).collect()
}

fn fact(svg: &str, name: &str) -> String {
    let document = roxmltree::Document::parse(svg).expect("XML");
    let is_fact = |node: &roxmltree::Node<'_, '_>| node.attribute("name") == Some(name);
    let fact = document.descendants().find(is_fact).and_then(|node| node.text().map(str::to_owned));
    fact.unwrap_or_else(|| panic!("no {name} in {svg}"))
}

#[test]
fn a_sentence_becomes_a_figure_wherever_it_comes_from() {
    let folder = folder();
    let given = figure(&folder, &["--text", WORDS, "--beam", "3"], "").quiet();
    let words = texts(&given.stdout);
    assert!(["one", "two", "three", "</s>"].iter().all(|word| words.iter().any(|text| text == word)), "{words:?}");
    assert_eq!((fact(&given.stdout, "model"), fact(&given.stdout, "search")), ("tiny".into(), "beam 3".into()));
    assert_eq!(fact(&given.stdout, "sentence"), WORDS);
    assert!(fact(&given.stdout, "digest").starts_with("sha256:"));
    let piped = figure(&folder, &["--beam", "3"], "one two three\n");
    assert_eq!(piped.stdout, given.stdout);
    folder.put("a.en", WORDS);
    assert_eq!(figure(&folder, &["--beam", "3", "a.en"], "").stdout, given.stdout);
    let saved = figure(&folder, &["--text", WORDS, "--beam", "3", "--output", "a.svg"], "");
    assert_eq!((saved.code, saved.stdout.as_str()), (0, ""));
    let file = folder.text("a.svg");
    assert_eq!(file, given.stdout);
}

#[test]
fn several_models_are_one_figure() {
    let folder = folder();
    let (one, legend) = (figure(&folder, &["--text", WORDS, "--legend"], ""), "alpha");
    let both = ["--text", WORDS, "--legend", "--model", "tiny", "--columns", "1", "--caption=Two of them"];
    let many = figure(&folder, &both, "").quiet();
    let count = |svg: &str, wanted: &str| texts(svg).iter().filter(|text| *text == wanted).count();
    for (wanted, times) in [("two", 2), ("Two of them", 1)] {
        assert_eq!(count(&many.stdout, wanted), times, "{wanted}: {:?}", texts(&many.stdout));
    }
    assert_eq!(count(&many.stdout, legend), count(&one.stdout, legend), "one legend");
    let models = texts(&many.stdout).iter().filter(|text| text.starts_with("tiny, beam 5")).count();
    assert_eq!((models, fact(&many.stdout, "model").as_str()), (2, "tiny"));
    let height = |svg: &str| -> f32 {
        let document = roxmltree::Document::parse(svg).expect("XML");
        let view: Vec<f32> = document
            .root_element()
            .attribute("viewBox")
            .expect("a box")
            .split(' ')
            .filter_map(|n| n.parse().ok())
            .collect();
        view[3]
    };
    assert!(height(&many.stdout) > 1.7 * height(&one.stdout));
}

#[test]
fn the_usual_palette_is_that_of_the_ground() {
    let folder = folder();
    let drawn = |more: &[&str]| figure(&folder, &[&["--text", WORDS], more].concat(), "").stdout;
    assert_eq!(drawn(&[]), drawn(&["--palette", "print"]));
    let dark = ["--theme", "dark"];
    assert_eq!(drawn(&dark), drawn(&[&dark[..], &["--palette", "gray"]].concat()));
    assert_ne!(drawn(&[]), drawn(&["--palette", "gray"]));
    assert_eq!(interlinear::figure::sheet::FigureStyle::default().map.key, "print", "of a corpus as well");
}

#[test]
fn the_legend_of_many_is_a_part_of_none() {
    let folder = folder();
    let local = reference_word("luong-local-p-general");
    let arguments = ["figure", "--model", &local, "--together", "--columns", "2", "--legend"];
    let drawn = feed(&folder, &arguments, b"s9\ns9 s31 s17 s4 s5 s6 s7 s8\n").good();
    let document = roxmltree::Document::parse(&drawn.stdout).expect("XML");
    let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
    let placed: Vec<(String, f32)> = texts
        .filter_map(|node| {
            let at = node.attribute("transform")?.strip_prefix("translate(")?;
            Some((node.text()?.to_owned(), at.split_once(' ')?.1.split(')').next()?.parse().ok()?))
        })
        .collect();
    let heights = |begin: &str| -> Vec<f32> {
        placed.iter().filter(|(text, _)| text.starts_with(begin)).map(|(_, y)| *y).collect()
    };
    let captions = heights("luong");
    assert!(captions.len() == 2 && (captions[0] - captions[1]).abs() < 1e-3, "{placed:?}");
    let legend = heights("local-p: a row adds up to less than 1");
    assert!(
        legend.len() == 1 && placed.iter().filter(|(text, _)| text == "1").all(|(_, y)| *y > captions[0]),
        "{placed:?}"
    );
    assert!(legend[0] > captions[0]);
}

#[test]
fn several_lines_are_one_figure() {
    let folder = folder();
    folder.put("three.en", "one two\n\nthree\n");
    let together = figure(&folder, &["--together", "--legend", "three.en"], "");
    assert_eq!(together.code, 2, "{}", together.stderr);
    assert!(together.stderr.contains("three.en:2") || together.stderr.contains("line 2"), "{}", together.stderr);
    let words = texts(&together.stdout);
    assert!(["one", "two", "three"].iter().all(|word| words.iter().any(|text| text == word)), "{words:?}");
    assert_eq!(words.iter().filter(|text| text.starts_with("tiny, beam 5")).count(), 2, "{words:?}");
    assert_eq!(words.iter().filter(|text| *text == "0").count(), 1, "one legend: {words:?}");
    // Models and lines alike: a panel for each of both, in a file.
    let both = ["--together", "--model", "tiny", "--output", "all.svg"];
    let saved = figure(&folder, &both, "one two\nthree\n");
    assert_eq!((saved.code, saved.stdout.as_str(), saved.stderr.as_str()), (0, "", ""));
    let svg = folder.text("all.svg");
    assert_eq!(texts(&svg).iter().filter(|text| text.starts_with("tiny, beam 5")).count(), 4);
    figure(&folder, &["--together", "--folder", "f", "three.en"], "").refused("cannot be used with");
}

#[test]
fn each_of_several_models_has_links_and_what_was_set() {
    let folder = folder();
    let write = |name: &str, text: &str| folder.put(name, text);
    write("g.links", "0-1 1?0\n");
    write("set.json", "{\"version\": 1, \"mask\": [{\"position\": 2}]}\n");
    let both = ["--text", WORDS, "--model", "tiny", "--legend"];
    let drawn = |more: &[&str]| figure(&folder, &[&both, more].concat(), "");
    let given = drawn(&["--target", "un deux", "--gold", "g.links"]).quiet();
    assert_eq!(fact(&given.stdout, "links"), "by hand");
    let count = |svg: &str, wanted: &str| texts(svg).iter().filter(|text| text.contains(wanted)).count();
    assert_eq!(count(&given.stdout, "outlined: links by hand"), 1, "{:?}", texts(&given.stdout));
    let set = drawn(&["--interventions", "set.json"]).quiet();
    assert_eq!(fact(&set.stdout, "interventions"), "masked 2");
    let told = texts(&set.stdout).join(" ");
    assert_eq!(told.matches("Set by hand: masked 2").count(), 2, "{told}");
    assert_eq!(fact(&drawn(&["--aligner"]).stdout, "links"), "of the statistical aligner");
    for (more, wanted) in [
        (&["--gold", "g.links"][..], "--gold links sentences with translations"),
        (&["--gold", "g.links", "--aligner"], "cannot be used with"),
        (&["--aligner=none"], "none"),
    ] {
        drawn(more).refused(wanted);
    }
}

#[test]
fn a_line_without_words_leaves_the_others_what_is_set_for_them() {
    let folder = folder();
    let write = |name: &str, text: &str| folder.put(name, text);
    write("three.en", &format!("{WORDS}\n\n{WORDS}\n"));
    let masked = |position: usize| format!("{{\"version\": 1, \"mask\": [{{\"position\": {position}}}]}}\n");
    write("set.jsonl", &format!("{}{}{}", masked(1), masked(3), masked(2)));
    let arguments = ["--model", "tiny", "--output", "drawn", "--interventions", "set.jsonl", "three.en"];
    let done = figure(&folder, &arguments, "");
    assert_eq!(done.code, 2, "{}", done.stderr);
    let set = |n: usize| {
        let svg = folder.text(format!("drawn/{n:04}.svg"));
        fact(&svg, "interventions")
    };
    assert_eq!((set(1), set(3)), ("masked 1".to_owned(), "masked 2".to_owned()));
    write("set.jsonl", &format!("{}{}{}{}", masked(1), masked(3), masked(2), masked(1)));
    let refused = figure(&folder, &arguments, "");
    assert!(refused.stderr.contains("has no sentence"), "{}", refused.stderr);
}

#[test]
fn several_lines_make_a_folder_of_the_output() {
    let folder = folder();
    folder.put("two.en", "one two\nthree\n");
    for (output, extra, name) in
        [("plain", &[][..], "svg"), ("packed", &["--format", "png"], "png"), ("named.pdf", &[], "pdf")]
    {
        figure(&folder, &[&["--output", output, "two.en"], extra].concat(), "").quiet();
        for n in 1..=2 {
            assert!(folder.join(output).join(format!("{n:04}.{name}")).is_file(), "{output} {n}");
        }
    }
}

#[test]
fn every_kind_is_written_in_every_format() {
    let folder = folder();
    for (kind, more) in [
        ("heatmap", &[][..]),
        ("links", &[]),
        ("beam", &[]),
        ("tree", &[]),
        ("tree", &["--pruned"]),
        ("bars", &["--word", "1"]),
    ] {
        for (format, start) in [("svg", &b"<?xml"[..]), ("pdf", b"%PDF-"), ("png", b"\x89PNG")] {
            let name = format!("{kind}.{format}");
            let arguments =
                ["--text", WORDS, "--kind", kind, "--legend", "--caption", "--width", "50", "--dpi", "72", "-o", &name];
            let done = figure(&folder, &[&arguments[..], more].concat(), "");
            // small letters are told, and the figure is written all the same
            let is_told = done.stderr.is_empty() || done.stderr.contains("for 6 points it wants a width of");
            assert!(done.code == 0 && is_told, "{name}: {}", done.stderr);
            let file = std::fs::read(folder.join(&name)).expect("it is there");
            assert!(file.starts_with(start), "{name}");
        }
        let svg = folder.text(format!("{kind}.svg"));
        assert!(svg.contains("width=\"50mm\""), "{svg}");
        assert!(texts(&svg).iter().any(|text| text.starts_with("tiny, beam 5, log p")), "{kind}: {:?}", texts(&svg));
        assert_eq!(fact(&svg, "kind"), kind);
    }
    let left: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 16, "nothing temporary is left: {left:?}");
}

#[test]
fn the_tree_has_the_search_and_the_bars_a_word_of_it() {
    let folder = folder();
    let run = |extra: &[&str]| figure(&folder, &[&["--text", WORDS, "--beam", "3"], extra].concat(), "").quiet().stdout;
    let (tree, all) = (run(&["--kind", "tree"]), run(&["--kind", "tree", "--pruned"]));
    let line = ["translate", "--model", "tiny", "--beam", "3", "--format", "jsonl"];
    let line = feed(&folder, &line, WORDS.as_bytes()).stdout;
    let line = json_of(&line);
    let best: Vec<&str> =
        line["hypotheses"][0]["tokens"].as_array().expect("words").iter().filter_map(|word| word.as_str()).collect();
    let first: Vec<String> = texts(&tree).into_iter().filter(|text| !text.starts_with('+')).collect();
    assert_eq!(first[..best.len()], best, "the best translation stands on the first line");
    assert!(texts(&all).len() > texts(&tree).len(), "what fell out is drawn too");
    let bars = run(&["--kind", "bars", "--word", "1"]);
    assert_eq!((fact(&bars, "kind"), fact(&bars, "word")), ("bars".into(), "1".into()));
    let said = texts(&bars);
    assert!(said[0] == best[0] && said[1].starts_with(&format!("word 1 of {}", best.len())), "{said:?}");
    assert!(said.iter().any(|text| text == "Next-word candidates"), "{said:?}");
    let given = run(&["--kind", "bars", "--word", "1", "--target", "deux un"]);
    assert!(!texts(&given).iter().any(|text| text == "Next-word candidates"), "nothing was searched");
    for (extra, sentence) in [
        (&["--kind", "bars"][..], "--word"),
        (&["--kind", "bars", "--word", "40"], "the translation has no word 40"),
        (&["--kind", "tree", "--target", "un"], "a given translation has none"),
        (&["--kind", "links", "--word", "1"], "--word goes with --kind bars"),
        (&["--pruned"], "--pruned goes with --kind tree"),
    ] {
        figure(&folder, &[&["--text", WORDS], extra].concat(), "").refused(sentence);
    }
}

#[test]
fn a_given_translation_is_drawn_in_place_of_the_models_own() {
    let folder = folder();
    let target = "deux trois un un un deux";
    let given = figure(&folder, &["--text", WORDS, "--target", target, "--caption=By hand"], "").quiet();
    assert_eq!(fact(&given.stdout, "search"), "given translation");
    assert_eq!(fact(&given.stdout, "translation"), target);
    let texts = texts(&given.stdout);
    let drawn: Vec<&str> = texts.iter().map(String::as_str).filter(|text| target.contains(text)).collect();
    assert_eq!(drawn.join(" "), target);
    assert!(texts.iter().any(|text| text == "By hand"));
}

#[test]
fn a_file_becomes_numbered_figures_and_refused_lines_are_named() {
    let folder = folder();
    folder.put("a.en", "one\n\ntwo three\n");
    folder.put("a.fr", "un\nun\ndeux\n");
    for arguments in [&["a.en"][..], &["a.en", "--target-file", "a.fr"]] {
        let pictures = folder.join("new/pictures");
        let all = [arguments, &["--folder", "new/pictures", "--format", "svg", "--kind", "links"]].concat();
        let done = figure(&folder, &all, "");
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains("a.en, line 2: the sentence has no words"), "{}", done.stderr);
        assert!(done.stderr.contains("1 of the lines"), "{}", done.stderr);
        let mut names: Vec<String> = std::fs::read_dir(&pictures)
            .expect("made")
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        assert_eq!(names, ["0001.svg", "0003.svg"]);
        let third = pictures.text("0003.svg");
        assert_eq!(fact(&third, "sentence"), "two three");
        std::fs::remove_dir_all(pictures).expect("removed");
    }
}

#[test]
fn what_cannot_be_drawn_gets_a_sentence() {
    let folder = folder();
    folder.put("two.en", "one\ntwo\n");
    let cases: &[(&[&str], &str, &str)] = &[
        (&["--text", ""], "", "the sentence has no words"),
        (&["two.en"], "", "more than one line; give --output"),
        (&["two.en", "--output", "two.en"], "", "two.en is read, as TEXTFILE, and --output would write over it"),
        (&[], "", "has no lines, so there was nothing to draw"),
        (&["--text", WORDS, "two.en"], "", "cannot be used with"),
        (&["--text", WORDS, "--output", "a.gif"], "", "a.gif: is no kind of figure"),
        (&["--text", WORDS, "--kind", "forest"], "", "invalid value 'forest'"),
        (&["--text", WORDS, "--width", "nan"], "", "a number from 5 to 5000"),
        (&["--text", WORDS, "--width", "5000", "--dpi", "2400", "--format", "png"], "", "choose a lower resolution"),
        (&["--text", WORDS, "--palette", "pink"], "", "invalid value 'pink'"),
        (&["--text", WORDS, "--output", "nowhere/a.svg"], "", "nowhere: is a folder that does not exist"),
        (&["two.en", "--folder", "two.en"], "", "two.en"),
        (&["no.en"], "", "no.en: does not exist"),
    ];
    for (arguments, stdin, sentence) in cases {
        let done = figure(&folder, arguments, stdin);
        let code = if sentence.contains("no lines") { 0 } else { 2 };
        assert_eq!(done.code, code, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(sentence), "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stdout, "", "{arguments:?}");
    }
    let encdec = &*reference_word("rnnencdec");
    run_in(&folder, &["figure", "--model", encdec, "--text", "a"]).refused("--kind heatmap needs an alignment");
    run_in(&folder, &["figure", "--model", encdec, "--text", "a", "--kind", "beam"]).quiet();
}

#[test]
fn a_model_is_found_by_its_name_where_models_lie() {
    let folder = folder();
    let (named, data) = (folder.join("mine"), folder.join("interlinear/models"));
    let here = folder.join("here");
    for place in [&named, &data, &here] {
        std::fs::create_dir_all(place).expect("created");
    }
    TINY.save(&data);
    crate::tiny::Tiny { name: "other", ..TINY }.save(&named);
    let inspect = |name: &str, models: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlinear"));
        command.args(["inspect", name]).current_dir(&here).env("XDG_DATA_HOME", &*folder).env("HOME", &*folder);
        command.env_remove("INTERLINEAR_MODELS");
        if let Some(models) = models {
            command.env("INTERLINEAR_MODELS", models);
        }
        let done = command.output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    if cfg!(target_os = "linux") {
        assert_eq!(inspect("tiny", None), (Some(0), String::new()), "in the platform's folder");
    }
    assert_eq!(inspect("other", Some(&named)), (Some(0), String::new()), "where the user says");
    let (code, told) = inspect("other", None);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("other does not exist here or among the installed models; there are"), "{told}");
    assert!(told.contains("INTERLINEAR_MODELS"), "{told}");
    let (_, told) = inspect("./other", Some(&named));
    assert!(
        told.contains("./other does not exist; a model of this name is installed, so write other"),
        "a path is only a path: {told}"
    );
}

#[test]
fn shells_and_man_know_every_command() {
    let folder = folder();
    let commands = interlinear::cli::COMMANDS;
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = run_in(&folder, &["completions", shell]).quiet();
        for entry in commands {
            assert!(done.stdout.contains(entry.name), "{shell} does not know {}", entry.name);
        }
        assert!(done.stdout.contains("pretokenized"), "{shell}");
    }
    let done = run_line(&folder, "man share/man1");
    assert_eq!((done.code, done.stderr.as_str(), done.stdout.as_str()), (0, "", ""));
    let page = |name: &str| std::fs::read_to_string(folder.join("share/man1").join(name)).expect("a page");
    let first = page("interlinear.1");
    for entry in commands {
        let own = page(&format!("interlinear-{}.1", entry.name));
        assert!(own.starts_with(".ie") && own.contains(".TH"), "{own}");
        assert!(first.contains(&format!("interlinear\\-{}(1)", entry.name)), "{}: {first}", entry.name);
    }
    assert!(page("interlinear-figure.1").contains("width"), "its options");
    assert_eq!(run_line(&folder, "man").stdout, first);
}
