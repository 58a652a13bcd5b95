//! Rows of an alignment head in everything that is written and shown: commands, figures, corpora, and what the window gets.

use std::path::{Path, PathBuf};

use interlinear::aligner::words::{Cutter, LineAligner};
use interlinear::app::document::table::{Making, build};
use interlinear::app::settings::{RowSource, Settings};
use interlinear::jobs::live::protocol::{Event, HypothesisView, ModelFacts};
use interlinear::{aligner::learned::Learned, analysis::alignment::Alignment, analysis::row_convention::RowConvention};
use interlinear::{app::command::SettingsCommand, decoding::Hypothesis, figure::heatmap::outlines::Outlined};
use interlinear::{models::config::Architecture, session::driver::OpenWith, session::persist::SavedSession};
use interlinear::{session::state::Session, text::sentence::Sentence};
use serde_json::Value;

use crate::cli::{Outcome, feed, json_lines, json_of};
use crate::folder::{Files as _, Folder};
use crate::tiny::{TINY, Tiny};
use crate::worker::{request, serve_all, store};
use crate::{forever, heads::with_head};

const ENCDEC: Tiny = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, ..TINY };

const TYPED: &str = "one two\nthree two one\nFoo one\nfoo bar\ntwo\n";

fn folder() -> Folder {
    let folder = Folder::new();
    for tiny in [TINY, ENCDEC] {
        with_head(&tiny.save(&folder));
    }
    Tiny { name: "bare", ..TINY }.save(&folder);
    let words = ["one", "two", "three"];
    let line = |k: usize| format!("{} {} {}", words[k % 3], words[(k / 2) % 3], words[(k / 3) % 3]);
    let source: Vec<String> = (0..12).map(line).collect();
    let target: Vec<String> =
        source.iter().map(|line| line.replace("one", "un").replace("two", "deux").replace("three", "trois")).collect();
    folder.put("source", source.join("\n") + "\n");
    folder.put("target", target.join("\n") + "\n");
    folder.put("typed", TYPED);
    folder.put("gold", "0-0 1-1 2-2\n".repeat(12));
    folder
}

fn run(folder: &Path, arguments: &str) -> Outcome {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    feed(folder, &arguments, TYPED.as_bytes())
}

fn told(folder: &Path, arguments: &str) -> String {
    run(folder, arguments).good().stdout
}

fn lines(text: &str) -> Vec<Value> {
    json_lines(text)
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    let numbers = |row: &Value| row.as_array().expect("a row").iter().filter_map(Value::as_f64).collect();
    value.as_array().expect("rows").iter().map(numbers).collect()
}

fn links(rows: &[Vec<f64>]) -> String {
    let linked = |(i, row): (usize, &Vec<f64>)| {
        let j = (0..row.len()).fold(0, |best, j| if row[j] > row[best] { j } else { best });
        (j + 1 < row.len()).then(|| format!("{j}-{i}"))
    };
    let linked: Vec<String> = rows[..rows.len() - 1].iter().enumerate().filter_map(linked).collect();
    linked.join(" ")
}

#[test]
fn translate_and_score_have_the_head_beside_alpha_and_nothing_else_changes() {
    let folder = folder();
    let mut unlinked = 0;
    for model in ["tiny", "encdec"] {
        for command in [
            format!("translate --model {model} --format jsonl --beam 3 --nbest 2"),
            format!("score --model {model} --source source --target target"),
        ] {
            let plain = told(&folder, &command);
            let with = told(&folder, &format!("{command} --reading head"));
            let mut found = lines(&with);
            for line in &mut found {
                let all = match line.get_mut("hypotheses") {
                    Some(all) => all.as_array_mut().expect("hypotheses").iter_mut().collect(),
                    None => vec![line],
                };
                for one in all {
                    let head = one.as_object_mut().expect("an object").remove("head").expect("it has a head");
                    let (rows, words) = (rows(&head), one["tokens"].as_array().or(one["target"].as_array()));
                    assert_eq!(rows.len(), words.expect("words").len(), "{command}");
                    for (i, row) in rows.iter().enumerate() {
                        let wanted = if i + 1 == rows.len() { 0.0 } else { 1.0 };
                        assert!((row.iter().sum::<f64>() - wanted).abs() < 1e-5, "{command}: {row:?}");
                    }
                }
            }
            assert_eq!(found, lines(&plain), "{command}");
        }
        // the links are those of the head, in both commands and in `align`
        let pair = format!("--model {model} --source source --target target --reading head");
        let scored = lines(&told(&folder, &format!("score {pair}")));
        let by_hand: Vec<String> = scored.iter().map(|line| links(&rows(&line["head"]))).collect();
        for command in [format!("score {pair} --format pharaoh"), format!("align {pair}")] {
            let found = told(&folder, &command);
            assert_eq!(found.lines().collect::<Vec<_>>(), by_hand, "{command}");
        }
        unlinked += scored.iter().map(|line| rows(&line["head"]).len() - 1).sum::<usize>();
        unlinked -= by_hand.iter().map(|links| links.split_whitespace().count()).sum::<usize>();
        let command = format!("translate --model {model} --reading head");
        let found = lines(&told(&folder, &format!("{command} --format jsonl")));
        let by_hand: Vec<String> = found.iter().map(|line| links(&rows(&line["hypotheses"][0]["head"]))).collect();
        let written = told(&folder, &format!("{command} --format pharaoh"));
        assert_eq!(written.lines().collect::<Vec<_>>(), by_hand);
        // and in a corpus, which keeps what the head said
        let analyse = format!("analyse --workspace {model}.ilws --source typed --model {model} --reading head");
        assert_eq!(told(&folder, &format!("{analyse} --format links")), written, "{analyse}");
    }
    assert!(unlinked > 0, "no word looks at </s> most");
}

#[test]
fn dictionaries_and_unknown_words_go_by_the_head() {
    let folder = folder();
    let written = |model: &str, more: &str| {
        let all = format!("dictionary --minimum 1 --model {model} --source source --target target --output out {more}");
        told(&folder, &all);
        folder.text("out")
    };
    let (own, bare) = (written("tiny", ""), written("bare", ""));
    assert_eq!(own, written("tiny", "--reading head"));
    assert_eq!(bare, written("tiny", "--reading predicted"));
    assert_ne!(own, bare, "the rows of the head are others");
    assert!(!written("encdec", "").is_empty(), "a probe");
    with_head(&Tiny { name: "unknowing", ..TINY }.unknowing().save(&folder));
    let command = "translate --model unknowing --beam 1 --max-length 8";
    let found = lines(&told(&folder, &format!("{command} --reading head --format jsonl")));
    let texts = told(&folder, &format!("{command} --replace-unk --pretokenized"));
    let mut replaced = 0;
    for (line, text) in found.iter().zip(texts.lines()) {
        let one = &line["hypotheses"][0];
        let (head, source) = (rows(&one["head"]), line["source"].as_array().expect("words"));
        let is_known = |i: usize| one["tokens"][i] != "[UNK]" || i + 1 == head.len();
        for (i, word) in text.split(' ').enumerate().filter(|(i, _)| !is_known(*i)) {
            let words = &head[i][..source.len() - 1];
            let j = (0..words.len()).fold(0, |best, j| if words[j] > words[best] { j } else { best });
            assert_eq!(source[j], word, "{line}");
            replaced += 1;
        }
    }
    assert!(replaced > 0, "{texts}");
}

#[test]
fn evaluate_analyse_and_figure_read_the_head() {
    let folder = folder();
    let files = "--source source --target target --pretokenized --unk none";
    let gold = "--gold gold --gold-order source --gold-base 0 --threshold 0.2 --format json";
    for (model, first) in [("tiny", "predicted"), ("encdec", "head")] {
        let report = told(&folder, &format!("evaluate --model {model} {files} {gold}"));
        let report = json_of(&report);
        let found = report.to_string();
        for wanted in ["\"reading\":\"head\"", "\"threshold\":null", "\"threshold\":0.2"] {
            assert!(found.contains(wanted), "{model}: no {wanted} in {found}");
        }
        let place = |reading: &str| found.find(&format!("\"reading\":\"{reading}\""));
        assert!(place(first) <= place("head"), "{model}: its own rows come first");
        assert_eq!(place("predicted").is_some(), model == "tiny", "RNNencdec has no alpha to be read");
    }
    let analyse = |more: &str| {
        let all = format!("analyse --workspace w.ilws --source source --model tiny --format jsonl {more}");
        told(&folder, &all)
    };
    let (plain, by_head) = (analyse(""), analyse("--reading head"));
    assert!(!plain.contains("tiny, head") && by_head.contains("tiny, head"), "{by_head}");
    let svg = told(&folder, "figure --model encdec --reading head --caption --text three");
    assert!(svg.contains("reading head"), "{svg}");
    assert!(run(&folder, "figure --model encdec --text three").code == 2, "it has no alpha");
}

#[test]
fn heads_vote_beside_a_statistical_aligner() {
    let folder = folder();
    let pair = "--source source --target target --pretokenized";
    told(&folder, &format!("align --statistical --save kept {pair}"));
    let learned = Learned::open(&folder.join("kept")).expect("it was kept");
    let cutter = || Cutter::new("und", true);
    let mut aligner = LineAligner::new(learned, cutter(), cutter());
    let text = |name: &str| folder.text(name);
    let scored = |model: &str| lines(&told(&folder, &format!("score --model {model} {pair} --reading head")));
    for (votes, share, theta) in [("--vote tiny", 3.0, None), ("--vote tiny --vote encdec", 4.0, Some(0.3))] {
        let heads: Vec<Vec<Value>> = votes.split("--vote ").skip(1).map(|model| scored(model.trim())).collect();
        let mut wanted = Vec::new();
        for (n, (source, target)) in text("source").lines().zip(text("target").lines()).enumerate() {
            let weights = aligner.weights(source, target);
            let heads: Vec<Vec<Vec<f64>>> = heads.iter().map(|lines| rows(&lines[n]["head"])).collect();
            let mut links = Vec::new();
            for (i, row) in weights.iter().enumerate() {
                for (j, weight) in row.iter().enumerate() {
                    let sum = 2.0 * f64::from(*weight) + heads.iter().map(|head| head[i][j]).sum::<f64>();
                    if sum / share >= theta.unwrap_or(0.4) {
                        links.push(format!("{j}-{i}"));
                    }
                }
            }
            wanted.push(links.join(" "));
        }
        let theta = theta.map_or_else(String::new, |theta| format!("--threshold {theta}"));
        let found = told(&folder, &format!("align --learned kept {votes} {theta} --batch 5 {pair}"));
        assert_eq!(found.lines().collect::<Vec<_>>(), wanted, "{votes}");
        assert!(found.contains("0-0"), "{found}");
    }
    folder.put("long", format!("one\n{}\ntwo\n", "one ".repeat(1001)));
    folder.put("its", "un\ndeux\ndeux\n");
    let outcome = run(&folder, "align --learned kept --vote tiny --source long --target its --threshold 0.1");
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (2, 3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("long, line 2"), "{}", outcome.stderr);
}

#[test]
fn heads_of_both_directions_are_put_together_and_vote() {
    let folder = folder();
    let back = Tiny { name: "back", source: TINY.target, target: TINY.source, seed: 7, ..TINY }.save(&folder);
    let config = back.text("config.json");
    let turned = config.replace("\"en\"", "\"?\"").replace("\"fr\"", "\"en\"").replace("\"?\"", "\"fr\"");
    back.put("config.json", turned);
    with_head(&back);
    let (pair, other) = ("--source source --target target", "--source target --target source");
    for threshold in ["", "--threshold 0.2"] {
        let of = |model: &str, pair: &str| {
            told(&folder, &format!("align --model {model} --reading head {threshold} --pretokenized {pair}"))
        };
        let (there, back) = (of("tiny", pair), of("back", other));
        for (way, both) in [("intersection", true), ("union", false)] {
            let asked =
                format!("--reverse-model back --symmetrize {way} --reading head {threshold} --pretokenized {pair}");
            let found = told(&folder, &format!("align --model tiny {asked}"));
            for (n, line) in found.lines().enumerate() {
                let links = |text: &str| -> Vec<String> {
                    text.lines().nth(n).expect("a line").split(' ').map(str::to_owned).collect()
                };
                let turn = |link: String| link.split_once('-').map(|(j, i)| format!("{i}-{j}")).expect("a link");
                let (there, back) = (links(&there), links(&back).into_iter().filter(|link| !link.is_empty()).map(turn));
                let back: Vec<String> = back.collect();
                let mut wanted: Vec<String> = there.iter().filter(|link| !link.is_empty()).cloned().collect();
                wanted.extend(back.iter().cloned());
                wanted.retain(|link| !both || there.contains(link) && back.contains(link));
                wanted.sort();
                wanted.dedup();
                let mut found: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
                found.sort();
                assert_eq!(found, wanted, "{way} {threshold}, line {}", n + 1);
            }
        }
    }
    told(&folder, &format!("align --statistical --save kept --pretokenized {pair}"));
    let learned = Learned::open(&folder.join("kept")).expect("it was kept");
    let cutter = || Cutter::new("und", true);
    let mut aligner = LineAligner::new(learned, cutter(), cutter());
    let scored = lines(&told(&folder, &format!("score --model back --pretokenized {other} --reading head")));
    let text = |name: &str| folder.text(name);
    let languages = "--source-language en --target-language fr";
    let voted = format!("align --learned kept --vote back --threshold 0.8 --pretokenized {languages} {pair}");
    let found = told(&folder, &voted);
    for (n, (source, target)) in text("source").lines().zip(text("target").lines()).enumerate() {
        // its rows are the words of the source
        let (weights, head) = (aligner.weights(source, target), rows(&scored[n]["head"]));
        let is_link = |i: usize, j: usize| (2.0 * f64::from(weights[i][j]) + head[j][i]) / 3.0 >= 0.8;
        let cells = (0..weights.len()).flat_map(|i| (0..weights[i].len()).map(move |j| (i, j)));
        let wanted: Vec<String> = cells.filter(|(i, j)| is_link(*i, *j)).map(|(i, j)| format!("{j}-{i}")).collect();
        assert_eq!(found.lines().nth(n), Some(&*wanted.join(" ")), "line {}", n + 1);
    }
}

#[test]
fn what_has_no_head_says_how_to_get_one() {
    let folder = folder();
    for command in [
        "translate --model bare",
        "align --model bare --source source --target target",
        "score --model bare --source source --target target",
        "dictionary --model bare --source source --target target --output out",
        "align --statistical --vote bare --source source --target target",
        "figure --model bare --text one",
        "analyse --workspace bare.ilws --source source --model bare",
    ] {
        let asks = if command.contains("--vote") { "" } else { " --reading head" };
        let outcome = run(&folder, &format!("{command}{asks}"));
        assert_eq!(outcome.code, 2, "{command}");
        let wanted = "bare has no alignment head (alignment.safetensors); learn one with `interlinear train --head`";
        assert!(outcome.stderr.contains(wanted), "{command}: {}", outcome.stderr);
    }
    folder.put("tiny/alignment.safetensors", b"no tensors");
    run(&folder, "translate --model tiny --reading head").refused("alignment.safetensors");
    assert_eq!(run(&folder, "translate --model tiny").code, 0, "without it the model is what it was");
}

fn events(folder: &Path, name: &str) -> Vec<Event> {
    let folders: Vec<PathBuf> = vec![folder.join(name)];
    serve_all(&request(1, "three two", &folders), &mut store(), &forever())
}

#[test]
fn the_window_gets_rows_of_the_head_while_words_come() {
    let folder = folder();
    for model in ["tiny", "encdec"] {
        let (mut partial, mut last) = (0, None);
        for event in events(&folder, model) {
            match event {
                Event::Loaded { facts, .. } => assert!(facts.has_head && facts.device.notice.is_none()),
                Event::Expanded { best, .. } => {
                    let rows = best.found.head.expect("rows of the head");
                    let known = best.tokens.len() - 1;
                    assert_eq!(rows.len(), known, "{model}");
                    partial += usize::from(known > 0);
                }
                Event::Finished { result, .. } => last = result.hypotheses.into_iter().next(),
                _ => {}
            }
        }
        let last = last.expect("it is translated");
        assert!(partial > 0 && last.found.head.expect("rows").len() == last.tokens.len(), "{model}");
        assert_eq!(last.found.alpha.is_some(), model == "tiny");
    }
    folder.put("tiny/alignment.safetensors", b"no tensors");
    let events = events(&folder, "tiny");
    let is_told = |event: &Event| match event {
        Event::Loaded { facts, .. } => {
            !facts.has_head && facts.device.notice.as_ref().is_some_and(|told| told.contains("alignment.safetensors"))
        }
        _ => false,
    };
    assert!(events.iter().any(is_told) && events.iter().any(|event| matches!(event, Event::Finished { .. })));
}

fn shown() -> (Sentence, HypothesisView) {
    let tokens = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let source = Sentence {
        text: "red shoe".to_owned(),
        tokens: tokens("red shoe </s>"),
        spans: vec![0..3, 4..8, 8..8],
        ids: vec![5, 6, 0],
    };
    let shown = HypothesisView {
        found: Hypothesis {
            tokens: vec![5, 6, 0],
            token_log_p: vec![-0.5; 3],
            finished: true,
            alpha: Some(vec![vec![0.7, 0.2, 0.1], vec![0.25, 0.6, 0.15], vec![0.0, 0.1, 0.9]]),
            energies: Some(vec![vec![1.0, 0.0, 0.0]; 3]),
            p_t: Some(vec![0.5; 3]),
            head: Some(vec![vec![0.1, 0.9, 0.0], vec![0.3, 0.2, 0.5], vec![0.0; 3]]),
            ..Hypothesis::default()
        },
        tokens: tokens("chaussure rouge </s>"),
        is_unk: vec![false; 3],
        replaced: vec![None; 3],
        candidates: vec![Vec::new(); 3],
        ..HypothesisView::default()
    };
    (source, shown)
}

#[test]
fn a_table_answers_either_question_and_outlines_the_other() {
    let (source, shown) = shown();
    let facts = ModelFacts { has_head: true, has_alignment: true, input_delay: Some(1), ..ModelFacts::default() };
    let table = |asked: RowSource| {
        let settings = Settings { asked, ..Settings::default() };
        let (reading, outlined) = (settings.reading_of(Some(&facts)), settings.outlined_of(Some(&facts)));
        let making = Making { reading, outlined, ..Making::default() };
        (build(&source, &shown, 0, &making), settings.outlined(Some(&facts)))
    };
    let row = |alpha: &Option<Alignment>, i: usize| alpha.as_ref().map(|alpha| alpha.row(i).to_vec());
    let (looked, of) = table(RowSource::default());
    assert_eq!((looked.reading, of), (Some(RowConvention::Predicted), Outlined::Aligner));
    assert_eq!((row(&looked.alpha, 0), looked.links), (Some(vec![0.7, 0.2, 0.1]), None));
    let (comes, of) = table(RowSource { origin: true, both: true });
    assert_eq!((comes.reading, of), (Some(RowConvention::Head), Outlined::Alpha));
    assert_eq!(row(&comes.alpha, 1), Some(vec![0.3, 0.2, 0.5]));
    assert!(comes.energies.is_none() && comes.p_t.is_none(), "those are of the steps of the search");
    let links = comes.links.expect("alpha over it");
    let sure: Vec<_> = links.sure().iter().map(|link| (link.source, link.target)).collect();
    assert_eq!(sure, [(0, 0), (1, 1), (2, 2)], "`</s>` too");
    let possible: Vec<_> = links.possible().iter().map(|link| (link.source, link.target)).collect();
    assert!(possible.contains(&(1, 0)) && possible.contains(&(0, 1)), "{possible:?}");
    let (looked, of) = table(RowSource { origin: false, both: true });
    let links = looked.links.expect("the head over alpha");
    assert_eq!((of, links.sure().len()), (Outlined::Head, 2), "a word that comes from `</s>` is outlined there");
    // a model without a head shows what it has
    let bare = ModelFacts { has_head: false, ..facts.clone() };
    let settings = Settings { asked: RowSource { origin: true, both: true }, ..Settings::default() };
    assert_eq!(
        (settings.reading_of(Some(&bare)), settings.outlined_of(Some(&bare))),
        (Some((RowConvention::Predicted, 1)), None)
    );
}

#[test]
fn the_question_is_kept_and_outlines_are_of_one_kind() {
    let mut session = Session::start(None, &OpenWith::default());
    session.apply(SettingsCommand::SetLinks(true));
    session.apply(SettingsCommand::SetAsked(RowSource { origin: true, both: true }));
    assert!(!session.app().view.settings.links, "the links of the aligner gave way");
    let saved = serde_json::to_string(&session.saved()).expect("JSON");
    let saved: SavedSession = serde_json::from_str(&saved).expect("JSON");
    let mut session = Session::start(Some(saved), &OpenWith::default());
    assert_eq!(session.app().view.settings.asked, RowSource { origin: true, both: true });
    session.apply(SettingsCommand::SetLinks(true));
    assert_eq!(session.app().view.settings.asked, RowSource { origin: true, both: false });
}
