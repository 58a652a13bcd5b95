//! Page Corpus, the sentences as a whole, by labels: an overview leads to sentences and back, and
//! keys, hits of a query, columns that are moved.

use egui::{Key, accesskit::Role::TextInput};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::corpus::query::linked::{LinkChoice, LinkOrigin};
use interlinear::pages::corpus::views::{CountedLinks, ExploreCommand, ExploreView};
use interlinear::pages::{corpus::CorpusPage, corpus::command::CorpusCommand};
use interlinear::{import::Role, jobs::corpus::thread::CorpusRequest};

use crate::{desk::WindowActions as _, workbench::Bench};

fn conllu() -> String {
    let words = [("The", "DET"), ("red", "ADJ"), ("boat", "NOUN"), ("sleeps", "VERB"), (".", "PUNCT")];
    let line = |(n, (word, part)): (usize, &(&str, &str))| format!("{}\t{word}\t_\t{part}{}\n", n + 1, "\t_".repeat(6));
    words.iter().enumerate().map(line).collect::<String>() + "\n"
}

const THIRD: &str = "Le bateau rouge dort.\nLe vieux moulin dort.\nLa pluie.\n";

fn page(bench: &Bench) -> &CorpusPage {
    bench.harness.corpus()
}

pub fn two_systems() -> Bench {
    let mut bench = Bench::filled();
    let path = bench.folder.path().join("c.fr");
    std::fs::write(&path, THIRD).expect("written");
    bench.send(CorpusCommand::SetRole(Role::Output("Third".to_owned())));
    bench.send(CorpusCommand::Import(path));
    bench.click("Dismiss");
    bench
}

fn click_with(bench: &mut Bench, part: &str) {
    bench.harness.get_by_label_contains(part).click();
    bench.settle();
}

fn labels_with(bench: &Bench, part: &str) -> Vec<String> {
    let labels = bench.harness.query_all_by_label_contains(part);
    labels.filter_map(|node| node.accesskit_node().label().or_else(|| node.accesskit_node().value())).collect()
}

#[test]
fn every_bar_and_row_of_the_overview_leads_to_its_sentences_and_back() {
    let mut bench = two_systems();
    bench.click("Overview");
    assert_eq!(page(&bench).whole.view, ExploreView::Overview);
    for part in ["of Other, 1\u{2013}10 words, 3 sentences", "of Third, 1\u{2013}10 words, 3 sentences"] {
        assert_eq!(labels_with(&bench, part).len(), 1, "{part}");
    }
    click_with(&mut bench, "of Third, 1\u{2013}10 words");
    assert_eq!((page(&bench).whole.view, page(&bench).filter.as_str()), (ExploreView::Table, "words=1..10"));
    bench.says("3 of 3");
    bench.click("\u{2190} Back");
    assert_eq!((page(&bench).whole.view, page(&bench).filter.as_str()), (ExploreView::Overview, ""));

    // A score that there is nothing to compare with says why.
    bench.click("AER by length");
    assert_eq!(labels_with(&bench, "Align the references").len(), 1);
    bench.click("chrF2 by length");
    assert_eq!(labels_with(&bench, "chrF2 ").iter().filter(|label| label.contains("of Other")).count(), 1);

    // An n-gram of the third system: what is shown are the sentences where it has it and the other has not.
    // It is below the room: the keyboard leads there too.
    bench.harness.focus_on("bateau rouge dort: right 1 time against 0");
    bench.press(Key::Enter);
    assert_eq!(page(&bench).filter, "right.2-1:\"bateau rouge dort\"");
    assert_eq!(*page(&bench).rows, [0]);
    bench.click("\u{2190} Back");
    bench.harness.query_all_by_label_contains("words seen 1 times").next().expect("a bar").focus();
    bench.harness.run();
    bench.press(Key::Enter);
    assert!(page(&bench).filter.starts_with("freq."), "{}", page(&bench).filter);
    // A tab ends the way back.
    bench.click("Table");
    assert!(bench.is_gone("\u{2190} Back"));
}

#[test]
fn the_keyboard_reaches_every_row_of_a_list() {
    let mut bench = Bench::filled();
    let at = |name: &str| bench.folder.path().join(name);
    // 40 n-grams of one system, of which eleven are in view.
    let words: Vec<String> = (10..60).map(|n| format!("w{n}")).collect();
    let text = words.join(" ");
    std::fs::write(at("d.en"), format!("{text}\n")).expect("written");
    std::fs::write(at("d.fr"), format!("{text}\n")).expect("written");
    std::fs::write(at("e.fr"), "nothing\n").expect("written");
    let path = at("x.ilws");
    let files = [("d.en", Role::Source, at("d.en")), ("d.fr", Role::Reference, at("d.fr"))];
    let outputs =
        [("d.fr", Role::Output("All".to_owned()), at("d.fr")), ("e.fr", Role::Output("None".to_owned()), at("e.fr"))];
    bench.send(CorpusRequest::Open(path));
    for (_, role, path) in files.into_iter().chain(outputs) {
        bench.send(CorpusCommand::SetRole(role));
        bench.send(CorpusCommand::Import(path));
    }
    bench.send(ExploreCommand::SetView(ExploreView::Overview));
    let overview = page(&bench).whole.counted.overview.clone().expect("counted");
    let ngrams = &overview.pair.as_ref().expect("a pair").ngrams[0];
    assert!(ngrams.len() > 30, "{}", ngrams.len());
    let label = |n: usize| format!("{}: right 1 time against 0", ngrams[n].words);
    bench.harness.focus_on(&label(0));
    assert!(bench.is_gone(&label(25)));
    for (keys, row) in [
        (&[Key::ArrowDown][..], 1),
        (&[Key::PageDown, Key::PageDown], 23),
        (&[Key::ArrowDown, Key::ArrowDown], 25),
        (&[Key::ArrowUp], 24),
        (&[Key::End], ngrams.len() - 1),
        (&[Key::ArrowDown], ngrams.len() - 1),
        (&[Key::Home, Key::ArrowUp], 0),
        (&[Key::PageDown, Key::PageUp, Key::ArrowDown], 1),
    ] {
        for key in keys {
            bench.harness.press(*key);
        }
        let name = label(row);
        let row = bench.harness.get_by_label(&name);
        assert!(row.accesskit_node().is_focused(), "{keys:?}");
        assert!(row.rect().top() > 0.0 && row.rect().bottom() < 800.0, "{keys:?}: {:?}", row.rect());
    }
    bench.harness.press(Key::PageDown);
    bench.press(Key::Enter);
    assert_eq!(page(&bench).filter, interlinear::corpus::overview::compute::ngram_condition(0, 1, &ngrams[12].words));
}

#[test]
fn an_overview_counts_what_is_shown() {
    let mut bench = two_systems();
    bench.send(ExploreCommand::SetView(ExploreView::Overview));
    let of = |bench: &Bench| page(bench).whole.counted.overview.as_ref().map(|of| of.of);
    assert_eq!(of(&bench), Some(3));
    bench.send(CorpusCommand::SetFilter("source:boat".to_owned()));
    assert_eq!(of(&bench), Some(1));
    bench.click("All");
    assert_eq!((page(&bench).filter.as_str(), of(&bench)), ("", Some(3)));
}

#[test]
fn parts_of_speech_have_a_table_once_a_file_brought_them() {
    let mut bench = two_systems();
    bench.send(ExploreCommand::SetView(ExploreView::Overview));
    assert!(bench.is_gone("Source words by part of speech"));
    for (name, text, role) in [
        ("linked.fr", "Le bateau rouge dort. ||| 0-0 1-2 2-1 3-3\n", Role::Output("Linked".to_owned())),
        ("a.conllu", &conllu(), Role::Source),
    ] {
        let path = bench.folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        bench.send(CorpusCommand::SetRole(role));
        bench.send(CorpusCommand::Import(path));
        bench.click("Dismiss");
    }
    bench.says("Source words by part of speech");
    // words, fertility, unaligned, crossing, then what is wrong of those that are judged
    assert_eq!(labels_with(&bench, "NOUN, Linked, 1, 1.0000, 0.0000, 1.0000, 1, 0, 0.0000").len(), 1);
    // A query may ask for them, and links be counted by them.
    bench.send(ExploreCommand::SetView(ExploreView::Concordance));
    bench.send(ExploreCommand::SetQuery("noun".to_owned()));
    let hits = |bench: &Bench| page(bench).whole.concordance.lines.len();
    assert_eq!(hits(&bench), 0, "no word is called so");
    bench.click("by part of speech");
    assert_eq!(hits(&bench), 1);
    bench.send(ExploreCommand::SetQuery(String::new()));
    bench.send(ExploreCommand::SetLinks(LinkChoice { system: Some(2), by: LinkOrigin::Own }));
    bench.send(ExploreCommand::SetCounts(CountedLinks {
        is_shown: true,
        each_word: true,
        least: 1,
        ..CountedLinks::default()
    }));
    assert!(!labels_with(&bench, "NOUN").is_empty());
    bench.send(ExploreCommand::SetView(ExploreView::Overview));
    // It is below the room: the keyboard leads there too.
    bench.harness.focus_on("Error rate");
    bench.press(Key::Enter);
    bench.says("Error rate, greatest first");
}

#[test]
fn lists_come_in_reranked_by_what_is_typed() {
    let mut bench = two_systems();
    bench.click("Import...");
    bench.harness.focus_on("Rerank n-best lists by");
    bench.harness.get_by_label("Rerank n-best lists by").type_text("LM0");
    bench.settle();
    let path = bench.folder.path().join("some.nbest");
    let lists = "0 ||| un bateau ||| LM0= -2 ||| -1\n0 ||| le bateau ||| LM0= -1 ||| -2\n";
    std::fs::write(&path, lists).expect("written");
    bench.send(CorpusCommand::SetRole(Role::Output("Mill".to_owned())));
    bench.send(CorpusCommand::Import(path));
    let corpus = &page(&bench).corpus;
    let said = |name: &str| corpus.systems.iter().find(|column| column.system.name == name)?.texts.get(0);
    assert_eq!([said("Mill"), said("Mill by LM0")], [Some("un bateau"), Some("le bateau")]);
}

#[test]
fn a_query_has_hits_with_colours_and_numbers() {
    let mut bench = two_systems();
    bench.click("Concordance");
    bench.harness.focus_on("Find");
    bench.harness.get_by_label("Find").type_text("the _");
    bench.settle();
    bench.says_all(&["Hit 1: The red in sentence 1", "Hit 2: The old in sentence 2", "Hit 3: the wind in sentence 2"]);
    bench.says("3 hits in 2 of 3 sentences");
    bench.send(ExploreCommand::SetOrder(interlinear::analysis::concordance::ConcordanceOrder::Hit));
    bench.says("Hit 1: The old in sentence 2");
    bench.click("Hit 2: The red in sentence 1");
    assert_eq!(bench.chosen(), Some(0));
    bench.press(Key::ArrowDown);
    assert_eq!((page(&bench).whole.concordance.selected, bench.chosen()), (Some(2), Some(1)));
    let path = bench.folder.path().join("hits.tsv");
    bench.send(ExploreCommand::SaveHits(path.clone()));
    let text = std::fs::read_to_string(path).expect("written");
    assert!(text.starts_with("sentence\tleft\thit\tright") && text.lines().count() == 4, "{text}");

    bench.send(ExploreCommand::SetQuery("{the".to_owned()));
    assert_eq!(labels_with(&bench, "column 1: the list has no").len(), 1);
    bench.click_each(&["Examples", "house -> maison"]);
    assert_eq!(page(&bench).whole.concordance.query, "house -> maison");
    bench.says("0 hits in 0 of 3 sentences");
}

#[test]
fn columns_are_moved_from_their_menu_and_come_back() {
    let mut bench = two_systems();
    bench.click_each(&["Columns", "Move BLEU, system 1 left"]);
    let shown = |bench: &Bench| -> Vec<String> {
        let page = page(bench);
        page.columns.shown(&page.corpus).iter().map(|column| column.name(&page.corpus)).collect()
    };
    let first = shown(&bench);
    assert_eq!(first[..3], ["words", "bleu.1", "logp.1"]);
    // A head that is dragged over another takes its place.
    bench.press(Key::Escape);
    let place = |label: &str| bench.harness.get_by_label(label).rect().center();
    let (from, to) = (place("BLEU 2"), place("words"));
    bench.harness.drag_at(from);
    bench.harness.run();
    bench.harness.hover_at(to);
    bench.harness.run();
    bench.harness.drop_at(to);
    bench.settle();
    let first = shown(&bench);
    assert_eq!(first[..3], ["bleu.2", "words", "bleu.1"]);
    let path = page(&bench).path.clone().expect("open");
    bench.send(CorpusRequest::Close);
    bench.send(CorpusRequest::Open(path));
    assert_eq!(shown(&bench), first);
}

#[test]
fn links_of_any_kind_are_searched_and_counted_against_each_other() {
    let mut bench = two_systems();
    let gold = bench.folder.path().join("gold.txt");
    std::fs::write(&gold, "0-0 1-2 2-1 3-3\n0-0 1-1 2-2 3-3 4-4\n0-0\n").expect("written");
    bench.send(CorpusCommand::import_gold(gold));
    bench.click_each(&["Dismiss", "Concordance"]);
    bench.send(ExploreCommand::SetQuery("_ -> _ _ -> _ crossing".to_owned()));
    bench.says("0 hits in 0 of 3 sentences");
    bench.click_each(&["in", "the reference, by hand"]);
    bench.says("Hit 1: red boat in sentence 1, linked to bateau rouge");
    bench.says("1 hit in 1 of 3 sentences");
    bench.click_each(&["in", "the reference, statistical aligner"]);
    assert_eq!(page(&bench).whole.concordance.links.by, LinkOrigin::Aligner);
    bench.click_each(&["in", "the reference, by hand"]);

    bench.send(ExploreCommand::SetQuery(String::new()));
    bench.click("Counts of links");
    let row = "(all), the reference, by hand, 15, 0.6667, 0.3333, -, -, -, 0.1333, -, -, -";
    bench.says(row);
    bench.click_each(&["Compared with 0...", "the reference, statistical aligner", "1. Other, statistical aligner"]);
    bench.press(Key::Escape);
    let rows = |bench: &Bench| page(bench).whole.tallied.table.as_ref().map_or(0, |table| table.rows.len());
    assert_eq!(rows(&bench), 3);
    bench.says(row);
    bench.click("Each word");
    assert_eq!(rows(&bench), 3, "no word is there five times");
    bench.send(ExploreCommand::SetCounts(CountedLinks { least: 2, ..page(&bench).whole.tallied.asked.clone() }));
    assert_eq!(rows(&bench), 9, "the, and the full stop: three rows more of each");
    // A head sorts: the greatest fertility is first.
    bench.click("Fertility");
    bench.says("Fertility, greatest first");
    let path = bench.folder.path().join("links.tsv");
    bench.send(ExploreCommand::SaveCounts(path.clone()));
    let (to, text) = bench.written();
    assert_eq!(to, path);
    let table: Vec<&str> = text.lines().collect();
    assert_eq!(
        table[0],
        "word\tlinks\twords\tfertility\tunaligned\tdiff_unaligned_low\tdiff_unaligned_high\tp_unaligned\tcrossing\tdiff_crossing_low\tdiff_crossing_high\tp_crossing\ttargets"
    );
    let the = table.iter().find(|row| row.starts_with("the\tthe reference, by hand\t3\t"));
    assert!(the.is_some_and(|row| row.ends_with("le 2")), "{text}");

    // A query is counted, too: in how many sentences, and what its hits are linked to.
    bench.send(ExploreCommand::SetQuery("boat -> _".to_owned()));
    bench.says("the reference, by hand, (sentences), 1, 0.3333, -, -, -");
    bench.says("the reference, by hand, boat, bateau, 1, 1.0000, -, -, -");
    bench.send(ExploreCommand::SetQuery("{boat".to_owned()));
    assert_eq!(labels_with(&bench, "column 1: the list has no").len(), 1);

    // What looks at a hit, and how much.
    bench.send(ExploreCommand::SetQuery("red".to_owned()));
    bench.click("Weights");
    assert_eq!(labels_with(&bench, "Weights need source words, | and output words").len(), 1);
    let path = bench.folder.path().join("alpha.jsonl");
    let line = r#"{"source": ["The", "red", "boat", "sleeps", "."], "target": ["Le", "bateau", "rouge", "dort", "."],
        "alpha": [[1, 0, 0, 0, 0], [0, 0.25, 0.75, 0, 0], [0, 0.75, 0.25, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]}"#
        .replace('\n', " ");
    std::fs::write(&path, line).expect("written");
    bench.send(CorpusCommand::SetRole(Role::Output("Seen".to_owned())));
    bench.send(CorpusCommand::Import(path));
    bench.click("Dismiss");
    bench.send(ExploreCommand::SetQuery("red | {bateau, rouge}".to_owned()));
    bench.says_all(&["3. Seen, (all), 0.5000, -, -, 1, 2", "3. Seen, rouge, 0.7500, -, -, 1, 1"]);
    bench.click_each(&["Hits", "Counts of links"]);
    assert!(bench.is_gone("3. Seen, rouge, 0.7500, -, -, 1, 1"));
}

#[test]
fn a_corpus_is_given_an_aligner_of_its_own_where_frequencies_are_chosen() {
    let mut bench = two_systems();
    let (workspace, gone) = (bench.folder.path().join("w.ilws"), bench.folder.path().join("gone.aligner"));
    bench.click_each(&["Overview", "Aligner..."]);
    assert!(bench.is_gone("Without gone.aligner"));
    bench.click("The aligner of this corpus...");
    bench.harness.get_by_role_and_label(TextInput, "Path").type_text(&gone.display().to_string());
    bench.harness.run();
    bench.click("Choose");
    let is_told = |bench: &Bench| {
        let told = page(bench).message.clone().unwrap_or_default();
        told.contains("gone.aligner: does not exist") && told.contains("words are linked without this one")
    };
    assert!(is_told(&bench), "{:?}", page(&bench).message);
    assert!(page(&bench).whole.counted.overview.is_some(), "it is counted all the same");
    bench.send(CorpusRequest::Close);
    bench.send(CorpusRequest::Open(workspace));
    assert_eq!(page(&bench).columns.look.aligner.as_ref(), Some(&gone), "it is kept");
    bench.click("Overview");
    assert!(is_told(&bench), "{:?}", page(&bench).message);
    bench.click_each(&["Aligner...", "Without gone.aligner"]);
    assert_eq!((page(&bench).columns.look.aligner.as_ref(), is_told(&bench)), (None, false));
}

#[test]
fn p_is_corrected_where_several_pairs_are_there() {
    let mut bench = two_systems();
    bench.send(ExploreCommand::SetView(ExploreView::Overview));
    assert_eq!(labels_with(&bench, "p too few (--paired-bs), too few (--paired-ar)").len(), 3, "three sentences");
    assert!(labels_with(&bench, "Every two systems").is_empty(), "there are two");
    let at = |name: &str| bench.folder.path().join(name);
    let lines = |of: &dyn Fn(usize) -> String| (0..32).map(|n| of(n) + "\n").collect::<String>();
    let files = [
        ("s", Role::Source),
        ("r", Role::Reference),
        ("a", Role::Output("A".to_owned())),
        ("b", Role::Output("B".to_owned())),
    ];
    let files =
        files.into_iter().chain([("c", Role::Output("C".to_owned()))]).map(|(name, role)| (at(name), name, role));
    let files: Vec<_> = files.collect();
    let path = at("many.ilws");
    bench.send(CorpusRequest::Open(path));
    for (path, name, role) in files {
        let text = match name {
            "c" => lines(&|n| format!("nothing {n}")),
            "b" => lines(&|n| format!("{} {n} by the old mill", if n % 4 == 0 { "ships" } else { "boats" })),
            _ => lines(&|n| format!("boats {n} by the old mill")),
        };
        std::fs::write(&path, text).expect("written");
        bench.send(CorpusCommand::SetRole(role));
        bench.send(CorpusCommand::Import(path));
    }
    bench.send(ExploreCommand::SetView(ExploreView::Overview));
    assert_eq!(labels_with(&bench, "; p corrected by Holm for all pairs of systems").len(), 3);
    bench.click("Every two systems, and ranks");
    assert!(!labels_with(&bench, "+100.00 (< 0.0003)").is_empty(), "A less C by BLEU");
}

#[test]
fn the_tokenizer_of_bleu_is_chosen_and_its_signature_is_shown() {
    let mut bench = two_systems();
    bench.click("Overview");
    assert_eq!(labels_with(&bench, "BLEU nrefs:1|case:mixed|eff:no|tok:13a|").len(), 1);
    let before = page(&bench).whole.counted.overview.clone().expect("counted").all.scores[0].ratio();
    bench.click_each(&["Words for BLEU", "char"]);
    assert_eq!(labels_with(&bench, "BLEU nrefs:1|case:mixed|eff:no|tok:char|").len(), 1);
    let after = page(&bench).whole.counted.overview.clone().expect("counted").all.scores[0].ratio();
    assert_ne!(before, after, "it is counted again");
    let workspace = bench.folder.path().join("w.ilws");
    bench.send(CorpusRequest::Close);
    bench.send(CorpusRequest::Open(workspace));
    assert_eq!(page(&bench).corpus.bleu.tokenization.name(), "char", "it is kept");
}
