//! The workspace: a file that keeps everything, columns, conditions, orders, judgements with undo, and runs that go on
//! where they stopped.

use std::path::Path;

use interlinear::analysis::alignment::Alignment;
use interlinear::analysis::confidence::{CONFIDENCES, TranslationSigns};
use interlinear::corpus::export::out::{self, ExportFormat};
use interlinear::corpus::judgements::judge::{ErrorMark, Judgement};
use interlinear::corpus::query::table::{Sorting, rows};
use interlinear::corpus::store::output::{SystemOutput, pack, unpack};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, read::StoredAbout, write::NewSentence};
use interlinear::corpus::{import::importer::import_file, measures::table::Measuring};
use interlinear::corpus::{query::column::TableColumn, query::filter::Filter, run, run::SystemRunOptions};
use interlinear::decoding::{SearchOptions, Specials};
use interlinear::import::{ImportOptions, Role};
use interlinear::models::{Kernels, Model, Stepper};
use interlinear::{decoding, evaluation::EvaluatedSystem, nn::device::Device, text::links::read::links_of};

use crate::{cli::reference, folder::Folder, forever, judging::out};

const PAIRS: &[(&str, &str, &str, &str)] = &[
    ("a red boat", "un bateau rouge", "un bateau rouge", "un rouge"),
    ("the old mill turns", "le vieux moulin tourne", "le vieux moulin", "le moulin vieux tourne"),
    ("no reference here", "-", "pas de texte", "[UNK] ici"),
    ("rain again", "encore la pluie", "encore la pluie", "-"),
    ("A Red cart", "une charrette rouge", "une voiture rouge", "une charrette rouge"),
];

fn some(text: &str) -> Option<String> {
    (text != "-").then(|| text.to_owned())
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn output(source: &str, text: &str, log_p: f32) -> SystemOutput {
    let (source, target) = (words(source), words(text));
    let row = |i: usize| {
        let at = i.min(source.len() - 1);
        (0..source.len()).map(|j| if j == at { 0.75 } else { 0.25 / (source.len() - 1) as f32 }).collect()
    };
    let alpha = Alignment::from_rows(&(0..target.len()).map(row).collect::<Vec<Vec<f32>>>());
    let (word_log_p, word_count) = (vec![log_p / target.len() as f32; target.len()], target.len());
    SystemOutput {
        text: text.to_owned(),
        source,
        target,
        word_log_p,
        log_p: Some(log_p),
        token_count: 1 + word_count,
        alpha: Some(alpha),
        is_head: false,
        links: None,
    }
}

fn filled(path: &Path) -> Workspace {
    let mut workspace = Workspace::open(path).expect("a new workspace");
    let origin = workspace.add_origin("pairs.txt", "plain text").expect("an origin");
    let sentence = |(n, pair): (usize, &(&str, &str, &str, &str))| NewSentence {
        source: pair.0.to_owned(),
        reference: some(pair.1),
        line: n + 1,
        ..NewSentence::default()
    };
    let new: Vec<NewSentence> = PAIRS.iter().enumerate().map(sentence).collect();
    assert_eq!(workspace.add_sentences(origin, &new[..2]).expect("sentences"), 0);
    assert_eq!(workspace.add_sentences(origin, &new[2..]).expect("sentences"), 2);
    for (system, pick) in [
        ("First", (|pair| pair.2) as fn(&(&str, &str, &'static str, &'static str)) -> &'static str),
        ("Second", |pair| pair.3),
    ] {
        let system = workspace.add_system(system, &StoredAbout::default()).expect("a system");
        let said = PAIRS
            .iter()
            .enumerate()
            .filter_map(|(at, pair)| some(pick(pair)).map(|text| (at, output(pair.0, &text, -1.0 - at as f32))));
        let said: Vec<_> = said.collect();
        workspace.add_outputs(system.id, &said, &mut Measuring::default()).expect("outputs");
    }
    workspace
}

fn places(corpus: &CorpusTable, filter: &str, sorting: &str) -> Vec<u32> {
    let filter = Filter::new(filter, corpus).expect(filter);
    let sorting = (!sorting.is_empty()).then(|| Sorting::named(sorting, corpus).expect(sorting));
    rows(corpus, &filter, sorting.as_ref())
}

#[test]
fn what_was_put_in_comes_out_after_opening_again() {
    let (_folder, path) = Folder::and_path("a.ilws");
    drop(filled(&path));
    let workspace = Workspace::open_existing(&path).expect("it opens");
    assert_eq!(workspace.len().expect("a count"), PAIRS.len());
    let systems = workspace.systems().expect("systems");
    assert_eq!(systems.iter().map(|system| system.name.as_str()).collect::<Vec<_>>(), ["First", "Second"]);
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    assert_eq!(corpus.damages, Vec::<String>::new());
    for (at, pair) in PAIRS.iter().enumerate() {
        assert_eq!(corpus.sources.get(at), Some(pair.0));
        assert_eq!(corpus.references.get(at).map(str::to_owned), some(pair.1));
        for (column, text) in corpus.systems.iter().zip([pair.2, pair.3]) {
            assert_eq!(column.texts.get(at).map(str::to_owned), some(text));
            let kept = workspace.output(column.system.id, at).expect("an answer");
            assert_eq!(
                kept,
                some(text).map(|text| output(pair.0, &text, -1.0 - at as f32)).map(|output| as_kept(&output))
            );
        }
    }
    assert_eq!(corpus.systems[1].done, 4);
}

fn as_kept(output: &SystemOutput) -> SystemOutput {
    unpack(output.text.clone(), "", &pack(output, "").expect("packed")).expect("unpacked")
}

#[test]
fn kept_rows_have_the_sums_that_they_had() {
    let mut seed = 7_u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 24)
    };
    let mut row = |sum: f64| -> Vec<f32> {
        let weights: Vec<f64> = (0..37).map(|_| (random() * 12.0 - 12.0).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| (weight * sum / total) as f32).collect()
    };
    let sums = [1.0, 1.0, 0.555, 0.9998, 0.0, 1.0, 1.0, 1.0, 1.0, 0.97, 1.0];
    let alpha = Alignment::from_rows(&sums.map(&mut row));
    let given = SystemOutput { text: "x".to_owned(), alpha: Some(alpha.clone()), ..SystemOutput::default() };
    let kept = as_kept(&given).alpha.expect("alpha");
    for (sum, expect) in kept.row_sums().into_iter().zip(alpha.row_sums()) {
        assert!((sum - expect).abs() < 1e-6, "{sum} is not {expect}");
    }
    for (kept, given) in kept.weights().iter().zip(alpha.weights()) {
        assert!((kept - given).abs() <= 1e-3 * given + 1e-7, "{kept} is not {given}");
        assert_eq!(half::f16::from_f32(*kept), half::f16::from_f32(*given), "{kept} is not {given}");
    }
    let again = SystemOutput { alpha: Some(kept.clone()), ..given.clone() };
    for (again, kept) in as_kept(&again).alpha.expect("alpha").weights().iter().zip(kept.weights()) {
        assert!((again - kept).abs() < 1e-7, "kept again, {again} is not {kept}");
    }

    let (folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws")));
    workspace.add_outputs(1, &[(0, given)], &mut Measuring::default()).expect("outputs");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let path = folder.join("a.jsonl");
    out::write(&out(&path, ExportFormat::Jsonl, [0]), &corpus, &workspace).expect("written");
    let line: serde_json::Value = serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON");
    let said = &line["systems"]["First"];
    let written: Vec<Vec<f32>> = serde_json::from_value(said["alpha"].clone()).expect("rows");
    assert!(said["alpha_precision"].as_str().is_some_and(|text| text.starts_with("half precision")), "{said}");
    assert!(said["alpha"].to_string().split(',').all(|number| number.len() < 18), "as many digits as f32 has: {said}");
    let seen = TranslationSigns { alpha: Alignment::from_rows(&written), ..TranslationSigns::default() };
    for entry in CONFIDENCES.iter().filter(|entry| ["ap_in", "ap_out", "cdp", "entropy"].contains(&entry.name)) {
        assert_eq!(
            said["measures"][entry.name].as_f64().map(|number| number as f32),
            (entry.of)(&seen).map(|number| number as f32)
        );
    }
}

#[test]
fn numbers_are_those_of_the_measures() {
    let folder = Folder::new();
    let corpus = CorpusTable::read(&filled(&folder.join("a.ilws"))).expect("a corpus");
    let value = |name: &str, at: usize| TableColumn::named(name, &corpus).expect(name).value(&corpus, at);
    for (name, at, expect) in [
        ("words", 1, 4.0),
        ("reference_words", 1, 4.0),
        ("length.1", 1, 3.0),
        ("length.2", 1, 4.0),
        ("length.1-2", 1, -1.0),
        ("ratio.2", 0, 2.0 / 3.0),
        ("logp.1", 2, -3.0),
        ("mean_logp.1", 2, -1.0),
        ("bleu.1", 0, 100.0),
        ("chrf.1", 0, 100.0),
        ("unk.2", 2, 1.0),
        ("unk.1", 2, 0.0),
        ("number", 3, 4.0),
        ("stars", 3, 0.0),
    ] {
        assert!((value(name, at) - expect).abs() < 1e-4, "{name} of {at} is {}", value(name, at));
    }
    for (name, at) in [("bleu.1", 2), ("reference_words", 2), ("length.2", 3), ("bleu.1-2", 3), ("aer.1", 0)] {
        assert!(value(name, at).is_nan(), "{name} of {at} is {}", value(name, at));
    }
    for (name, says) in [("blue", "there is no column `blue`"), ("bleu.3", "there are 2"), ("bleu.0", "counted from 1")]
    {
        let error = TableColumn::named(name, &corpus).expect_err(name).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn conditions_choose_and_columns_sort() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws")));
    let tagged = Judgement { tags: ["idiom".to_owned()].into(), note: "Odd word".to_owned(), ..Judgement::default() };
    workspace.judge(1, "anna", &tagged).expect("judged");
    workspace.judge(3, "ben", &Judgement { stars: 4, ..Judgement::default() }).expect("judged");
    workspace.judge_all(&[], &[(0, links_of("0-0 1-2 2?1").expect("links"))]).expect("gold");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    for (filter, expect) in [
        ("", &[0, 1, 2, 3, 4][..]),
        ("red", &[0, 4]),
        ("source:RED", &[0, 4]),
        ("reference:rouge", &[0, 4]),
        ("output:voiture", &[4]),
        ("2:charrette", &[4]),
        ("1:charrette", &[]),
        ("\"old mill\"", &[1]),
        ("source:\"d m\"", &[1]),
        ("/^un /", &[0]),
        ("1:/^une? /", &[0, 4]),
        ("/a.*b/", &[0]),
        ("-red", &[1, 2, 3]),
        ("red -cart", &[0]),
        ("words<3", &[3]),
        ("words>=4 number<3", &[1]),
        ("words=3", &[0, 2, 4]),
        ("length.2-1>0", &[1]),
        ("unk.2>0", &[2]),
        ("bleu.1<100", &[1, 4]),
        ("tag:idiom", &[1]),
        ("note:ODD", &[1]),
        ("by:ben", &[3]),
        ("stars>=4", &[3]),
        ("has:gold", &[0]),
        ("has:note", &[1]),
        ("-has:reference", &[2]),
        ("-has:2", &[3]),
        ("10:30", &[]),
        ("2:30", &[]),
    ] {
        assert_eq!(places(&corpus, filter, ""), expect, "{filter}");
    }
    for (sorting, expect) in [
        ("number", [0, 1, 2, 3, 4]),
        ("-number", [4, 3, 2, 1, 0]),
        ("words", [3, 0, 2, 4, 1]),
        ("-words", [1, 0, 2, 4, 3]),
        ("logp.1", [4, 3, 2, 1, 0]),
        ("reference_words", [0, 3, 4, 1, 2]),
        ("-length.2", [1, 4, 0, 2, 3]),
        ("length.1-2", [1, 4, 0, 2, 3]),
        // By letters, their case aside; what has no text comes last.
        ("source", [0, 4, 2, 3, 1]),
        ("-source", [1, 3, 2, 4, 0]),
        ("reference", [3, 1, 0, 4, 2]),
        ("-reference", [4, 0, 1, 3, 2]),
        ("output.2", [2, 1, 0, 4, 3]),
    ] {
        assert_eq!(places(&corpus, "", sorting), expect, "{sorting}");
    }
    let error = Sorting::named("output.3", &corpus).expect_err("two systems").to_string();
    assert!(error.contains("names system 3; there are 2"), "{error}");
    for (filter, says) in [
        ("\"open", "has no closing \""),
        ("/(/", "no regular expression"),
        ("bleu<x", "`x` in `bleu<x` is no number"),
        ("colour<3", "there is no column `colour`"),
        ("3:x", "there are 2 systems"),
        ("right.9:x", "`9` is no system"),
        ("has:cake", "`cake` is none of"),
    ] {
        let error = Filter::new(filter, &corpus).expect_err(filter).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn judgements_have_one_undo_that_outlives_the_program() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mark =
        ErrorMark { system: "First".to_owned(), target: (1, 2), category: "style".to_owned(), ..ErrorMark::default() };
    let acts = [
        Judgement { stars: 2, ..Judgement::default() },
        Judgement { stars: 2, marks: vec![mark], ..Judgement::default() },
        Judgement::default(),
    ];
    let mut workspace = filled(&path);
    for act in &acts {
        workspace.judge(1, "anna", act).expect("judged");
    }
    workspace.judge_all(&[], &[(1, links_of("0-0").expect("links"))]).expect("gold");
    drop(workspace);
    let mut workspace = Workspace::open(&path).expect("it opens");
    let stands = |workspace: &Workspace| {
        let judgement = workspace.judgements().expect("judgements").get(&1).and_then(|by| by.get("anna").cloned());
        (judgement.unwrap_or_default(), workspace.gold(1).expect("gold").is_some())
    };
    let mut expect = vec![(acts[2].clone(), true), (acts[2].clone(), false), (acts[1].clone(), false)];
    expect.push((acts[0].clone(), false));
    expect.push((Judgement::default(), false));
    for n in 0..expect.len() - 1 {
        assert_eq!(stands(&workspace), expect[n], "before undo {n}");
        let undone = workspace.undo().expect("an answer").expect("an act");
        assert!(undone.judged.union(&undone.golds).eq(&[1]));
        assert_eq!(undone.golds.len(), usize::from(n == 0));
    }
    assert_eq!(stands(&workspace), expect[4]);
    assert_eq!(workspace.undo().expect("an answer"), None);
    for n in (0..expect.len() - 1).rev() {
        workspace.redo().expect("an answer").expect("an act");
        assert_eq!(stands(&workspace), expect[n], "after redo to {n}");
    }
    assert_eq!(workspace.redo().expect("an answer"), None);
    workspace.undo().expect("an answer");
    workspace.judge(1, "anna", &acts[0]).expect("judged");
    assert_eq!(workspace.redo().expect("an answer"), None, "a new act ends what could be done again");
}

#[test]
fn gold_gives_references_an_error_rate() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws")));
    workspace.judge_all(&[], &[(0, links_of("0-0 1-2 2?1").expect("links"))]).expect("gold");
    let rows = workspace.measure(&[0]).expect("measured");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let aer = TableColumn::named("aer.1", &corpus).expect("a column");
    // Links of greatest alpha: 0-0 (sure), 1-1 and 2-2 (neither).
    let expect = 1.0 - 2.0 / 5.0;
    assert!((aer.value(&corpus, 0) - expect).abs() < 1e-6, "{}", aer.value(&corpus, 0));
    assert_eq!(rows.len(), 2);
}

#[test]
fn outputs_have_links_by_hand_of_their_own() {
    let (folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws")));
    let errors = |workspace: &Workspace| {
        let corpus = CorpusTable::read(workspace).expect("a corpus");
        let of = |name| TableColumn::named(name, &corpus).expect("a column").value(&corpus, 1);
        ([of("aer.1"), of("aer.2")].map(|aer| (!aer.is_nan()).then_some(aer)), corpus.golds.contains(&1))
    };
    assert_eq!(errors(&workspace), ([None, None], false));
    let changed = workspace.draw_output(1, "le vieux moulin", links_of("0-0 1-1 2?2").as_ref()).expect("drawn");
    assert_eq!(changed.golds.iter().collect::<Vec<_>>(), [&1]);
    workspace.measure(&[1]).expect("measured");
    assert_eq!(errors(&workspace), ([Some(0.0), None], true));
    assert_eq!(workspace.gold(1).expect("read"), None, "the reference has none");
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let path = folder.join("gold");
    out::write(&out(&path, ExportFormat::OutputGold(0), [0, 1]), &corpus, &workspace).expect("written");
    assert_eq!(std::fs::read_to_string(path).expect("a file"), "\n0-0 1-1 2?2\n");
    for (expect, call) in [(false, Workspace::undo as fn(&mut Workspace) -> _), (true, Workspace::redo)] {
        call(&mut workspace).expect("done").expect("an act");
        workspace.measure(&[1]).expect("measured");
        assert_eq!(errors(&workspace), ([expect.then_some(0.0), None], expect));
    }
}

#[test]
fn what_is_no_workspace_is_refused_and_left_alone() {
    let folder = Folder::new();
    let at = |name: &str| folder.join(name);
    std::fs::write(at("text"), "only a text\n").expect("written");
    std::fs::create_dir(at("folder")).expect("made");
    let sql = |name: &str, sql: &str| {
        let connection = rusqlite::Connection::open(at(name)).expect("a database");
        connection.execute_batch(sql).expect(sql);
    };
    sql("other", "CREATE TABLE cakes(id)");
    drop(filled(&at("newer")));
    sql("newer", "PRAGMA user_version = 99");
    for (name, says) in [
        ("text", "is not a corpus"),
        ("folder", "is no file"),
        ("other", "database of another program"),
        ("newer", "is of version 99, and this Interlinear reads version 1; open it with"),
    ] {
        let error = Workspace::open(&at(name)).err().expect(name).to_string();
        assert!(error.contains(name) && error.contains(says), "{error}");
    }
    assert_eq!(std::fs::read_to_string(at("text")).expect("it is there"), "only a text\n");
    let error = Workspace::open_existing(&at("none")).err().expect("none").to_string();
    assert!(error.contains("does not exist") && !at("none").exists(), "{error}");
}

#[test]
fn a_damaged_workspace_opens_as_far_as_it_goes() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mut workspace = Workspace::open(&path).expect("a workspace");
    let sentence = |n: usize| NewSentence {
        source: format!("sentence {n} {}", "x".repeat(90)),
        line: n,
        ..NewSentence::default()
    };
    workspace.add_sentences(1, &(1..6000).map(sentence).collect::<Vec<_>>()).expect("sentences");
    drop(workspace);
    let mut bytes = std::fs::read(&path).expect("bytes");
    let at = bytes.windows(14).position(|bytes| bytes == b"sentence 1500 ").expect("it is there") / 16384 * 16384;
    bytes[at..at + 16384].fill(0xff);
    std::fs::write(&path, bytes).expect("spoiled");
    let corpus = CorpusTable::read(&Workspace::open(&path).expect("it opens")).expect("what there is");
    assert_eq!(corpus.len(), 5999);
    let good: Vec<usize> = (0..corpus.len()).filter(|at| corpus.sources.get(*at).is_some()).collect();
    assert!(good.len() > 2800 && good.contains(&1000) && !good.contains(&1499) && good.contains(&5000));
    let damages = corpus.take_damages();
    assert!(damages.iter().any(|why| why.contains("a.ilws") && why.contains("damaged")), "{damages:?}");
    assert_eq!(corpus.take_damages(), Vec::<String>::new(), "told once");
}

#[test]
fn two_windows_see_each_other_s_work() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mut first = filled(&path);
    let mut second = Workspace::open(&path).expect("a second window");
    let version = second.version().expect("a version");
    first.judge(0, "anna", &Judgement { stars: 1, ..Judgement::default() }).expect("judged");
    assert_ne!(second.version().expect("a version"), version);
    second.judge(1, "ben", &Judgement { stars: 2, ..Judgement::default() }).expect("judged");
    assert_eq!(first.judgements().expect("judgements"), second.judgements().expect("judgements"));
    assert_eq!(first.judgements().expect("judgements").len(), 2);
}

#[test]
fn outputs_survive_packing_and_damage_is_no_output() {
    let plain = SystemOutput { text: "x".to_owned(), ..SystemOutput::default() };
    let linked =
        SystemOutput { links: Some(vec![interlinear::text::links::Link { source: 1, target: 0 }]), ..plain.clone() };
    let whole = as_kept(&output("a b c", "x y", -2.5));
    let ended = |words: &str| words.split(' ').chain(["</s>"]).map(str::to_owned).collect::<Vec<_>>();
    let cut = SystemOutput {
        source: ended("a b c"),
        target: ended("x [UNK] y"),
        text: "x[UNK] y".to_owned(),
        ..SystemOutput::default()
    };
    let apart = SystemOutput { source: ended("a\u{2581} b"), target: ended("z"), ..whole.clone() };
    let odd = [vec![-0.5, 2.0, 0.0], vec![f32::INFINITY, 1e-7, 1.0]];
    let odd = as_kept(&SystemOutput {
        alpha: Some(Alignment::from_rows(&odd)),
        log_p: None,
        word_log_p: Vec::new(),
        ..whole.clone()
    });
    let empty = SystemOutput { alpha: Some(Alignment::default().resized(3, 0, 0.0)), ..whole.clone() };
    let by_head = SystemOutput { is_head: true, ..whole.clone() };
    for output in [plain, linked, whole, by_head, cut, apart, odd, empty] {
        let packed = pack(&output, "a b  c").expect("packed");
        assert_eq!(unpack(output.text.clone(), "a b  c", &packed), Some(output.clone()));
        for end in 0..packed.len() {
            assert_eq!(unpack(output.text.clone(), "a b  c", &packed[..end]), None, "cut at {end}");
        }
    }
}

/// Log-probability and alignment of a translation, or of the best one, without a corpus.
fn alone(
    (stepper, specials): (&mut dyn Stepper, Specials), search: &SearchOptions,
    (source, target): (&[u32], Option<&[u32]>),
) -> (f32, Option<Vec<Vec<f32>>>) {
    if let Some(target) = target {
        let forced = decoding::force(stepper, &[(source, target)], &forever()).expect("forced").remove(0);
        return (forced.log_p, forced.alpha);
    }
    let decoded = decoding::decode(stepper, specials, &[source], search, &forever(), &mut |_, _| {});
    let best = decoded.expect("decoded").remove(0).hypotheses.remove(0);
    (best.log_p, best.alpha)
}

/// A run stops at a stale ticket, keeps what it had, and goes on there; numbers are those of decoding alone.
#[test]
fn a_run_goes_on_where_it_stopped_and_says_what_the_model_says() {
    let folder = Folder::new();
    for (name, forces) in
        [("rnnsearch", false), ("rnnsearch", true), ("rnnencdec", false), ("luong-local-p-general", false)]
    {
        let path = folder.join(format!("{name}-{forces}.ilws"));
        let mut workspace = Workspace::open(&path).expect("a workspace");
        let sentence = |n: usize| NewSentence {
            source: if n == 7 { String::new() } else { format!("s{} s{} s{}", 2 + n % 9, 3 + n % 7, 4 + n % 5) },
            reference: Some(format!("t{} t{}", 2 + n % 5, 3 + n % 4)),
            line: n + 1,
            ..NewSentence::default()
        };
        let sentences: Vec<NewSentence> = (0..40).map(sentence).collect();
        workspace.add_sentences(1, &sentences).expect("sentences");
        let model = Model::load(reference(name), &Device::cpu()).expect("a model");
        let search = SearchOptions { beam: 3, ..SearchOptions::default() };
        let options = SystemRunOptions { search, batch: 2, forces, ..SystemRunOptions::default() };
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        let id = workspace.add_system(name, &StoredAbout::default()).expect("a system").id;
        let (mut refused, mut heard) = (Vec::new(), 0);
        for round in 0..2 {
            let tickets = interlinear::ticket::Generation::new();
            let ticket = tickets.next();
            let told = run::run(
                &mut workspace,
                id,
                (EvaluatedSystem::from(&model), stepper.as_mut()),
                &options,
                &mut Measuring::default(),
                &ticket,
                &mut |done| {
                    heard += done.outputs.len();
                    refused.extend_from_slice(done.refused);
                    assert_eq!((done.done, done.total), (heard, 40));
                    if round == 0 {
                        ticket.check().and_then(|()| {
                            tickets.cancel();
                            ticket.check()
                        })
                    } else {
                        Ok(())
                    }
                },
            );
            assert_eq!(told.is_err(), round == 0, "{told:?}");
            assert_eq!(workspace.outputs(id).expect("a count"), heard);
        }
        assert_eq!(heard, 40);
        assert_eq!(refused, [(7, "has no words".to_owned())]);
        let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
        let corpus = CorpusTable::read(&workspace).expect("a corpus");
        for at in [0, 13, 39] {
            let source = model.source.encode(&sentences[at].source);
            let kept = workspace.output(id, at).expect("an answer").expect("an output");
            let target = sentences[at].reference.as_deref().filter(|_| forces);
            let target = target.map(|reference| model.target.encode(reference).ids);
            let (log_p, alpha) = alone((stepper.as_mut(), specials), &options.search, (&source.ids, target.as_deref()));
            assert!((kept.log_p.expect("log p") - log_p).abs() < 1e-4, "{name}, {at}");
            let alpha = alpha.as_deref().map(Alignment::from_rows);
            let shape = |alpha: &Option<Alignment>| alpha.as_ref().map(|alpha| (alpha.rows(), alpha.columns()));
            assert_eq!(shape(&kept.alpha), shape(&alpha), "{name}");
            let weights = |alpha: Option<Alignment>| alpha.unwrap_or_default().weights().to_vec();
            for (kept, alpha) in weights(kept.alpha).into_iter().zip(weights(alpha)) {
                assert!((kept - alpha).abs() < 1e-3, "{name}, {at}");
            }
            // The words of these vocabularies are tokens.
            assert_eq!((kept.target.len(), kept.token_count), (kept.word_log_p.len(), kept.word_log_p.len()));
            let column = |name: &str| TableColumn::named(name, &corpus).expect("a column").value(&corpus, at);
            assert!((column("token_logp.1") * kept.token_count as f32 - column("logp.1")).abs() < 1e-5, "{name}, {at}");
        }
    }
}

#[test]
fn a_system_that_follows_a_removed_one_was_not_seen() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws")));
    let mut corpus = CorpusTable::read(&workspace).expect("a corpus");
    let second = workspace.systems().expect("systems")[1].id;
    workspace.remove_system(second).expect("removed");
    let third = workspace.add_system("Third", &StoredAbout::default()).expect("a system");
    assert_ne!(third.id, second, "what still runs under the old number must not become the new one's");
    let said = [(0, output(PAIRS[0].0, "autre chose", -1.0))];
    workspace.add_outputs(third.id, &said, &mut Measuring::default()).expect("outputs");
    workspace.add_outputs(second, &said, &mut Measuring::default()).expect("nothing happens");
    corpus.refresh(&workspace).expect("read again");
    let names: Vec<&str> = corpus.systems.iter().map(|column| column.system.name.as_str()).collect();
    assert_eq!(names, ["First", "Third"]);
    assert_eq!(corpus.systems[1].texts.get(0), Some("autre chose"));
    assert!(!TableColumn::named("length.2", &corpus).expect("a column").value(&corpus, 0).is_nan());
    assert_eq!(workspace.outputs(second).expect("a count"), 0);
}

#[test]
fn undo_took_away_links_that_were_imported_over_drawn_ones() {
    let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws")));
    let links = |text: &str| links_of(text).expect("links");
    workspace.judge(1, "anna", &Judgement { stars: 1, ..Judgement::default() }).expect("judged");
    workspace.judge_all(&[], &[(0, links("0-0"))]).expect("drawn");
    workspace.set_golds(&[(0, links("1-1 2-2"))]).expect("imported");
    let undone = workspace.undo().expect("an answer").expect("an act");
    assert!(undone.judged.iter().eq(&[1]) && undone.golds.is_empty(), "the act before it");
    assert_eq!(workspace.gold(0).expect("gold"), Some(links("1-1 2-2")));
}

#[test]
fn what_came_since_is_read_as_if_anew() {
    let (_folder, path) = Folder::and_path("a.ilws");
    let mut corpus = CorpusTable::read(&Workspace::open(&path).expect("a workspace")).expect("nothing");
    let mut workspace = filled(&path);
    corpus.refresh(&workspace).expect("read");
    workspace.set_references(0, &[(2, "pas de texte".to_owned())]).expect("a reference");
    corpus.refresh(&workspace).expect("read");
    let anew = CorpusTable::read(&workspace).expect("read");
    let shown = |corpus: &CorpusTable| -> Vec<String> {
        let mut shown = Vec::new();
        for at in 0..corpus.len() {
            shown.push(format!("{:?} {:?}", corpus.sources.get(at), corpus.references.get(at)));
            for column in &corpus.systems {
                let numbers: Vec<f32> = column.numbers.iter().map(|numbers| numbers.get(at)).collect();
                shown.push(format!("{} {} {:?} {numbers:?}", column.system.name, column.done, column.texts.get(at)));
            }
        }
        shown
    };
    assert_eq!(shown(&corpus), shown(&anew));
    assert_eq!(corpus.references.get(2), Some("pas de texte"));
}

#[test]
fn an_import_goes_on_where_it_stopped_and_other_files_still_fit() {
    let folder = Folder::new();
    let mut workspace = Workspace::open(&folder.join("a.ilws")).expect("a workspace");
    let lines = |word: &str, count: usize| (1..=count).map(|n| format!("{word} {n}\n")).collect::<String>();
    let mut take = |name: &str, role: Role, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        let options = ImportOptions { role: Some(role), ..ImportOptions::default() };
        import_file(&mut workspace, (&path, &options), 1, &forever(), &mut |_| {}).expect("it comes in")
    };
    take("part.en", Role::Source, &lines("sentence", 50));
    assert_eq!(take("whole.en", Role::Source, &lines("sentence", 80)).sentences, 30);
    assert_eq!(take("whole.fr", Role::Reference, &lines("phrase", 80)).references, 80);
    let reference = |at: usize| workspace.sentence(at).expect("read").and_then(|sentence| sentence.reference);
    assert_eq!((reference(0).as_deref(), reference(79).as_deref()), (Some("phrase 1"), Some("phrase 80")));
}
