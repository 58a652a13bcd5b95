//! The sentences of a workspace as a whole: words, n-grams and jumps by hand-counted cases, overviews whose every number
//! leads to its sentences, concordances, and the lane that gives all that in steps.

use std::{path::Path, sync::Arc, time::Duration};

use interlinear::aligner::bundled::{AlignerChoice, AlignerFiles};
use interlinear::analysis::alignment::{JumpSet, jumps};
use interlinear::analysis::concordance::{
    ConcordanceLine, ConcordanceOrder, ConcordanceQuery, ConcordanceSentence, sorted,
};
use interlinear::analysis::contrast::{Contrast, times};
use interlinear::analysis::lexical::{LexicalCounts, bare, cut, each};
use interlinear::analysis::mteval::Tokenization;
use interlinear::corpus::export::out::{ExportFormat, Out};
use interlinear::corpus::measures::{
    aggregate::scores, frequencies::class_range, paired::TestedScore, table::Measuring,
};
use interlinear::corpus::overview::compute::{
    Overview, OverviewOptions, SHOWN_JUMP, first_pair, jump_condition, ngram_condition,
};
use interlinear::corpus::overview::{spread, tables, tables::overview};
use interlinear::corpus::query::{column::TableColumn, expensive::FilterResources, linked::LinkChoice, table::rows};
use interlinear::corpus::store::kinds::{quoted, with_condition};
use interlinear::corpus::store::read::{FORCED, StoredAbout};
use interlinear::corpus::{
    query::linked, store::corpus::CorpusTable, store::file::Workspace, store::output::SystemOutput,
    store::parts::FileVersion,
};
use interlinear::jobs::corpus::calls::{Find, Hits};
use interlinear::jobs::corpus::thread::{CorpusNews, CorpusRequest, CorpusThread};
use interlinear::{corpus::store::write::NewSentence, pages::corpus::columns::TableColumns};
use interlinear::{pages::corpus::views::Concordance, text::links::Link, text::links::read::links_of};

use crate::cli::{run_in, run_line};
use crate::folder::{Files as _, Folder};
use crate::judging::{bytes, out};

const PATIENCE: Duration = Duration::from_mins(1);

type Sample = (&'static str, &'static str, &'static str, [(&'static str, &'static str); 2]);

const LINES: &[Sample] = &[
    (
        "the red boat sleeps",
        "le bateau rouge dort",
        "0-0 1-2 2-1 3-3",
        [("le bateau rouge dort", "0-0 2-1 1-2 3-3"), ("le rouge bateau dort", "0-0 1-1 2-2 3-3")],
    ),
    (
        "the boat is \"red\"",
        "le bateau est \"rouge\"",
        "-",
        [("la barque est \"rouge\"", "0-0 1-1 2-2 3-3 4-4 5-5"), ("le bateau est vert", "0-0 1-1 2-2 3-3 4-3")],
    ),
    ("the sea sleeps", "la mer dort", "0-0 1-1 2-2", [("le mer dort", "0-0 1-1 2-2"), ("-", "-")]),
    ("rain", "-", "-", [("pluie", "0-0"), ("pluie", "0-0")]),
    (
        "one two three four five six seven eight nine ten eleven",
        "a b c d e f g h i j k",
        "-",
        [("a b c d e f g h i j k", "10-0 0-1 1-2"), ("a b c d", "0-0 1-1 2-2 3-3")],
    ),
];

fn some(text: &str) -> Option<String> {
    (text != "-").then(|| text.to_owned())
}

fn filled(path: &Path) -> Workspace {
    let mut workspace = Workspace::open(path).expect("a new workspace");
    let origin = workspace.add_origin("lines", "").expect("an origin");
    let sentence = |(n, line): (usize, &Sample)| NewSentence {
        source: line.0.to_owned(),
        reference: some(line.1),
        gold: some(line.2).and_then(|links| links_of(&links)),
        line: n + 1,
        ..NewSentence::default()
    };
    workspace.add_sentences(origin, &LINES.iter().enumerate().map(sentence).collect::<Vec<_>>()).expect("sentences");
    for (n, name) in ["First", "Second"].into_iter().enumerate() {
        let system = workspace.add_system(name, &StoredAbout::default()).expect("a system");
        let said = LINES.iter().enumerate().filter_map(|(at, line)| {
            let (text, links) = line.3[n];
            let links = links_of(links).map(|links| links.all().into_iter().map(|(link, _)| link).collect());
            Some((at, SystemOutput { text: some(text)?, links, ..SystemOutput::default() }))
        });
        let said: Vec<(usize, SystemOutput)> = said.collect();
        workspace.add_outputs(system.id, &said, &mut Measuring::default()).expect("outputs");
    }
    workspace
}

fn opened() -> (Folder, Workspace, CorpusTable) {
    let (folder, workspace) = Folder::of(|folder| filled(&folder.join("w.ilws")));
    let corpus = CorpusTable::read(&workspace).expect("read");
    (folder, workspace, corpus)
}

fn shown(line: &str, corpus: &CorpusTable, workspace: &Workspace) -> Vec<u32> {
    let filter = FilterResources::default().filter(line, corpus, workspace, &mut || true).expect(line);
    rows(corpus, &filter, None).into_iter().map(|at| at + 1).collect()
}

#[test]
fn words_are_right_as_often_as_the_reference_has_them() {
    // "le" twice in the output, once in the reference: one is right. "chat" is missed, "chien" is made up.
    let counts = each("le chat voit la mer", "le chien voit le mer");
    let of = |word: &str| counts[word];
    assert_eq!(of("le"), LexicalCounts { reference: 1, output: 2, right: 1 });
    assert_eq!(of("chat"), LexicalCounts { reference: 1, output: 0, right: 0 });
    assert_eq!(of("chien"), LexicalCounts { reference: 0, output: 1, right: 0 });
    let all: LexicalCounts = counts.values().sum();
    assert_eq!(all, LexicalCounts { reference: 5, output: 5, right: 3 });
    assert_eq!((all.precision(), all.recall(), all.f1()), (Some(0.6), Some(0.6), Some(0.6)));
    let le = of("le");
    assert_eq!((le.precision(), le.recall()), (Some(0.5), Some(1.0)));
    assert!((le.f1().expect("a number") - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(LexicalCounts::default().f1(), None);
    assert_eq!(["Maison,", "l'eau", "\u{ab}", "\"Rouge\""].map(bare), ["maison", "l'eau", "\u{ab}", "rouge"]);
}

#[test]
fn ngrams_are_ranked_by_the_smoothed_ratio() {
    let mut contrast = Contrast::default();
    for (reference, first, second) in [("a b c", "a b c", "a c b"), ("a b d", "a b d", "d a b"), ("x x", "x", "x x x")]
    {
        let [reference, first, second] = [reference, first, second].map(|text| cut(text, Tokenization::default()));
        contrast.add(&reference, [&first, &second]);
    }
    // Right in the first, in the second: a 2 2, b 2 2, c 1 1, d 1 1, x 1 2; a b 2 1, b c 1 0, b d 1 0, x x 0 1;
    // a b c 1 0, a b d 1 0.
    let first: Vec<(String, u32, u32)> =
        contrast.ranked(0, 10).into_iter().map(|ngram| (ngram.words, ngram.one, ngram.other)).collect();
    let expect = [("a b c", 1, 0), ("a b d", 1, 0), ("b c", 1, 0), ("b d", 1, 0), ("a b", 2, 1)];
    assert_eq!(first, expect.map(|(words, one, other)| (words.to_owned(), one, other)));
    let second = contrast.ranked(1, 10);
    let ratios: Vec<(&str, f64)> = second.iter().map(|ngram| (ngram.words.as_str(), ngram.ratio)).collect();
    // (1 + 1) / (1 + 0 + 2) and (2 + 1) / (2 + 1 + 2)
    assert_eq!(ratios, [("x x", 2.0 / 3.0), ("x", 0.6)]);
    assert_eq!(times("a b a b a", &["a", "b"]), 2);
}

#[test]
fn jumps_are_told_between_linked_words() {
    let link = |(source, target)| Link { source, target };
    let of = |links: &[(usize, usize)]| jumps(&links.iter().copied().map(link).collect::<Vec<_>>());
    // Target words 0, 1, 3, 4 look at 0, 2, the middle of 1 and 3, and 9.
    assert_eq!(of(&[(0, 0), (2, 1), (1, 3), (3, 3), (9, 4)]), [2, 0, 7]);
    assert_eq!(of(&[(50, 0), (0, 1)]), [-30]);
    assert_eq!(of(&[(4, 0)]), [0; 0]);
    let set = JumpSet::of(&[2, 0, -30]);
    assert!(set.has(2, 2) && set.has(1, 9) && set.has(-99, -20) && !set.has(1, 1) && !set.has(3, 99));
}

#[test]
fn a_report_links_references_as_the_overview_does() {
    let (_folder, workspace, corpus) = opened();
    let all: Vec<u32> = (0..corpus.len() as u32).collect();
    let english = AlignerChoice::new(("en".to_owned(), "fr".to_owned()), &AlignerFiles::default());
    for (aligner, linked) in [(None, "2 by hand, 2 by nobody"), (Some(english), "2 by hand, 2 by the aligner")] {
        let mut means = FilterResources::default();
        means.set(None, aligner.clone());
        let options = OverviewOptions { pair: (0, 1), most: usize::MAX, ..OverviewOptions::default() };
        let of = overview(&corpus, &workspace, &all, &options, &mut means).expect("counted");
        assert_eq!(of.linked_by(), linked);
        let out = Out { aligner, ..out("r.html", ExportFormat::Report, all.iter().copied()) };
        let html = String::from_utf8(bytes(&workspace, &out)).expect("UTF-8");
        assert!(html.contains(&format!("References are linked: {linked}.")), "{html}");
        for (words, column) in of.words.iter().zip(&corpus.systems) {
            assert!(!words.is_empty());
            for word in words {
                let (name, fate) = (&column.system.name, &word.fate);
                let cells = [word.sentences as u64, word.wrong as u64, fate.said, fate.right, fate.wanted, fate.found];
                let cells: String = cells.iter().map(|number| format!("<td>{number}</td>")).collect();
                let row = format!("<td>{}</td><td>{name}</td>{cells}", word.word);
                assert!(html.contains(&row), "{row}");
            }
        }
    }
}

/// A forced reference had BLEU 100 and was better than every system with p 0.001.
#[test]
fn references_that_were_forced_are_no_rivals() {
    let (_folder, mut workspace, _) = opened();
    let about = StoredAbout { ranking: FORCED.to_owned(), ..StoredAbout::default() };
    let forced = workspace.add_system("First, references", &about).expect("a system");
    let said = |(at, line): (usize, &Sample)| {
        let links = line.3[0].1;
        let links = links_of(links).map(|links| links.all().into_iter().map(|(link, _)| link).collect());
        Some((at, SystemOutput { text: some(line.1)?, links, ..SystemOutput::default() }))
    };
    let said: Vec<(usize, SystemOutput)> = LINES.iter().enumerate().filter_map(said).collect();
    workspace.add_outputs(forced.id, &said, &mut Measuring::default()).expect("outputs");
    let corpus = CorpusTable::read(&workspace).expect("read");
    let all: Vec<u32> = (0..corpus.len() as u32).collect();
    let alone = scores(&corpus, 2, &all);
    assert_eq!((alone.sentences, alone.bleu(), alone.chrf()), (4, None, None));
    let column = |name: &str| TableColumn::named(name, &corpus).expect("a column");
    assert!(all.iter().all(|&at| column("bleu.3").value(&corpus, at as usize).is_nan()), "in the table too");
    assert!(all.iter().any(|&at| !column("aer.3").value(&corpus, at as usize).is_nan()));
    let of = |pair| {
        let options = OverviewOptions { pair, most: usize::MAX, ..OverviewOptions::default() };
        overview(&corpus, &workspace, &all, &options, &mut FilterResources::default()).expect("counted")
    };
    assert!(of((0, 2)).pair.is_none() && of((2, 1)).pair.is_none() && of((1, 0)).of_pair().count() == 3);
    let is_forced = |tested: &TestedScore| tested.systems.iter().any(|ranked| ranked.system == 2);
    assert!(!of((0, 1)).tested.iter().any(is_forced), "it is compared with none");
    let scores = &of((0, 1)).all.scores;
    assert_eq!((scores[2].sentences, scores[2].bleu(), scores[2].chrf()), (4, None, None));
    assert!(scores[2].aligned > 0 && scores[0].bleu().is_some(), "its alignments are counted");
    assert_eq!(first_pair(&corpus), (0, 1));
    let html = tables::html(&corpus, &workspace, &all, None).expect("tables");
    assert!(html.contains("p --paired-ar") && html.contains("First, references"), "{html}");

    let (folder, path) = Folder::and_path("w.ilws");
    let mut workspace = Workspace::open(&path).expect("a new workspace");
    workspace.add_system("Forced", &about).expect("a system");
    for name in ["A", "B"] {
        workspace.add_system(name, &StoredAbout::default()).expect("a system");
    }
    assert_eq!(first_pair(&CorpusTable::read(&workspace).expect("read")), (1, 2));
    drop(workspace);
    run_line(&folder, "analyse --workspace w.ilws --overview pair --pair 1,2")
        .refused("--pair, system 1 (Forced) is a reference");
}

#[test]
fn source_words_that_go_wrong_are_found_with_the_languages_of_the_systems() {
    let folder = Folder::new();
    let about = StoredAbout { languages: "en>fr".to_owned(), ..StoredAbout::default() };
    for (name, about, known) in [("with", about, true), ("without", StoredAbout::default(), false)] {
        let file = format!("{name}.ilws");
        let mut workspace = Workspace::open(&folder.join(&file)).expect("a new workspace");
        let origin = workspace.add_origin("lines", "").expect("an origin");
        let (source, reference) = ("the boat sleeps".to_owned(), Some("le bateau dort".to_owned()));
        let sentence = NewSentence { source, reference, line: 1, ..NewSentence::default() };
        workspace.add_sentences(origin, &[sentence]).expect("a sentence");
        let system = workspace.add_system("A", &about).expect("a system");
        let said = [(0, SystemOutput { text: "la barque dort".to_owned(), ..SystemOutput::default() })];
        workspace.add_outputs(system.id, &said, &mut Measuring::default()).expect("an output");
        let languages = CorpusTable::read(&workspace).expect("read").languages();
        assert_eq!(languages, known.then(|| ("en".to_owned(), "fr".to_owned())));
        drop(workspace);
        let ask = |more: &[&str]| {
            let filter = ["analyse", "--workspace", &file, "--filter", "wrong.1:boat"];
            run_in(&folder, &[&filter, more].concat())
        };
        let (bare, told) = (ask(&[]), ask(&["--languages", "en-fr"]));
        assert_eq!(told.stdout.lines().count(), 2, "{}", told.stdout);
        assert_eq!(bare.stdout == told.stdout, known, "{}", bare.stdout);
        assert_eq!(bare.stderr.contains("name the languages with --languages"), !known, "{}", bare.stderr);
    }
}

#[test]
fn every_number_of_an_overview_leads_to_its_sentences() {
    let (_folder, workspace, corpus) = opened();
    let all: Vec<u32> = (0..corpus.len() as u32).collect();
    let options = OverviewOptions { pair: (0, 1), most: 100, ..OverviewOptions::default() };
    let of = overview(&corpus, &workspace, &all, &options, &mut FilterResources::default()).expect("counted");
    let count = |condition: &str| shown(condition, &corpus, &workspace).len();

    // Four references, of which the second system says three.
    let sentences = |group: &interlinear::corpus::measures::scores::OverviewGroup| {
        group.scores.iter().map(|scores| scores.sentences).collect::<Vec<_>>()
    };
    assert_eq!((of.all.sentences, sentences(&of.all)), (5, vec![4, 3]));
    let names: Vec<(String, usize)> = of.lengths.iter().map(|group| (group.name(), group.sentences)).collect();
    assert_eq!(names, [("1\u{2013}10".to_owned(), 4), ("11\u{2013}20".to_owned(), 1)]);
    for group in &of.lengths {
        assert_eq!(count(&group.condition()), group.sentences, "{}", group.condition());
        for (system, scores) in group.scores.iter().enumerate() {
            assert_eq!(count(&of.scored(group, system)), scores.sentences);
            assert_eq!(count(&of.aligned(group, system)), scores.aligned);
        }
    }
    // Only the first system says a reference that has links by hand, with these links.
    assert_eq!((of.all.scores[0].aligned, of.all.scores[0].aer(), of.all.scores[1].aer()), (1, Some(0.0), None));

    let total: LexicalCounts = of.classes.iter().map(|class| class.words[0]).sum();
    assert_eq!(total, LexicalCounts { reference: 24, output: 24, right: 21 }, "la, barque and le are no references");
    for class in &of.classes {
        for (system, sentences) in class.sentences.iter().enumerate() {
            let condition = format!("freq.{}={}", system + 1, class_range(class.range));
            assert_eq!(count(&condition), *sentences, "{condition}");
        }
    }
    // "dort" is in two references, "le" in two, "la" in one, "barque" in none.
    assert_eq!(shown("freq.1=0", &corpus, &workspace), [2]);
    assert_eq!(shown("freq.1<1", &corpus, &workspace), [2]);
    assert_eq!(shown("freq=2 words=3", &corpus, &workspace), [3]);

    for (system, words) in of.words.iter().enumerate() {
        for word in words {
            assert_eq!(count(&word.condition(system)), word.wrong, "{}", word.condition(system));
        }
    }
    let the = of.words[0].iter().find(|word| word.word == "the").expect("the");
    assert_eq!((the.sentences, the.wrong, the.fate.said, the.fate.right), (3, 2, 3, 1));
    assert_eq!((the.fate.wanted, the.fate.found), (2, 1), "two references are linked, one has what is said");
    assert_eq!(shown("wrong.1:boat", &corpus, &workspace), [2]);
    assert_eq!(shown("wrong.2:\"red\"", &corpus, &workspace), [2]);
    assert_eq!(of.linked, [2, 0, 0, 2]);

    for (system, counts) in of.jumps.iter().enumerate() {
        for (n, times) in counts.as_ref().expect("links").iter().enumerate() {
            let condition = jump_condition(system, n as i32 - SHOWN_JUMP);
            assert_eq!(count(&condition) > 0, *times > 0, "{condition}");
        }
    }
    assert_eq!(shown("jump.1=..-8", &corpus, &workspace), [5]);
    assert_eq!(shown("jump.1=2", &corpus, &workspace), [1]);

    let pair = of.pair.as_ref().expect("two systems");
    for (sign, sentences) in [">", "=", "<"].iter().zip(pair.sentences) {
        assert_eq!(count(&format!("bleu.1-2{sign}0")), sentences);
    }
    for (one, other, ngrams) in [(0, 1, &pair.ngrams[0]), (1, 0, &pair.ngrams[1])] {
        for ngram in ngrams {
            let condition = ngram_condition(one, other, &ngram.words);
            assert!(count(&condition) > 0, "{condition}");
        }
    }
    assert!(pair.ngrams[0].iter().any(|ngram| ngram.words == "\" rouge \""), "signs are words: {:?}", pair.ngrams[0]);
    assert_eq!(shown(&ngram_condition(0, 1, "\" rouge \""), &corpus, &workspace), [2]);
    assert_eq!(shown("right.1-2:\"bateau rouge\"", &corpus, &workspace), [1]);
    assert_eq!(shown("right.2:\"le bateau\"", &corpus, &workspace), [2]);
    assert_eq!(shown("missed.1:bateau", &corpus, &workspace), [2]);
    assert_eq!(shown("extra.2:vert", &corpus, &workspace), [2]);
    the_tables_are_whole(&of, &corpus);
}

fn the_tables_are_whole(of: &Overview, corpus: &CorpusTable) {
    for table in tables::TABLES {
        let text = tables::tsv(table, of, corpus);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        // No model was forced through this corpus, and nobody gave it scores, nor its sentences tags, nor its words parts of speech.
        assert!(
            rows.len() > 1 || matches!(table.name, "likelihood" | "scores" | "tags" | "pos" | "judged" | "metrics"),
            "{}",
            table.name
        );
        assert!(rows.iter().all(|row| row.len() == table.head.len()), "{text}");
    }
}

#[test]
fn half_of_the_sentences_can_be_counted() {
    assert_eq!(spread(10, 4).collect::<Vec<_>>(), [0, 2, 5, 7]);
    assert_eq!(spread(3, 4).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(spread(0, 4).count(), 0);
    let (_folder, workspace, corpus) = opened();
    let options = OverviewOptions { pair: (0, 1), most: 2, ..OverviewOptions::default() };
    let of = overview(&corpus, &workspace, &[0, 1, 2, 4], &options, &mut FilterResources::default()).expect("counted");
    assert_eq!((of.counted, of.of, of.all.sentences), (2, 4, 2));
}

#[test]
fn conditions_are_typed_and_added() {
    let (_folder, workspace, corpus) = opened();
    assert_eq!(with_condition(" boat ", "words=3..4"), "boat words=3..4");
    assert_eq!(with_condition("words=3..4", "words=3..4"), "words=3..4");
    assert_eq!(with_condition("a OR b", "b"), "(a OR b) b");
    assert_eq!((quoted("boat"), quoted("red \"boat\"")), ("boat".to_owned(), "\"red \\\"boat\\\"\"".to_owned()));
    for (line, expect) in
        [("words=3..4", &[1, 3][..]), ("words=..1", &[4]), ("words=5..", &[2, 5]), ("-words=..4", &[2, 5])]
    {
        assert_eq!(shown(line, &corpus, &workspace), expect, "{line}");
    }
    for line in ["words=a..b", "freq.3=1", "jump.1=x", "right.1:", "right.1-7:a", "words=3..4.."] {
        assert!(FilterResources::default().filter(line, &corpus, &workspace, &mut || true).is_err(), "{line}");
    }
}

#[test]
fn columns_move_and_are_kept_in_the_file() {
    let (_folder, path) = Folder::and_path("w.ilws");
    let mut workspace = filled(&path);
    let corpus = CorpusTable::read(&workspace).expect("read");
    let mut columns = TableColumns::default();
    let names =
        |columns: &TableColumns| columns.shown(&corpus).iter().map(|column| column.name(&corpus)).collect::<Vec<_>>();
    assert_eq!(names(&columns), ["words", "logp.1", "bleu.1", "logp.2", "bleu.2", "bleu.1-2"]);
    columns.move_by("bleu.1-2", -5, &corpus);
    columns.move_by("words", 1, &corpus);
    columns.move_by("words", 1, &corpus);
    columns.move_by("logp.1", -99, &corpus);
    assert_eq!(names(&columns), ["logp.1", "bleu.1-2", "bleu.1", "words", "logp.2", "bleu.2"]);
    assert_eq!(workspace.look(), FileVersion::default());
    workspace.keep_look(&columns.look).expect("kept");
    drop(workspace);
    let again = TableColumns { look: Workspace::open(&path).expect("opened").look() };
    assert_eq!(again, columns);
}

#[test]
fn hits_are_lines_with_links_in_both_directions() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (source, output) = (words("The red boat sleeps"), words("le bateau rouge dort"));
    let links: Vec<Link> = [(0, 0), (1, 2), (2, 1), (3, 3)].map(|(source, target)| Link { source, target }).to_vec();
    let sentence = ConcordanceSentence { source: &source, output: &output, links: &links, chunks: None };
    let lines = |query: &str| -> Vec<ConcordanceLine> {
        let query = ConcordanceQuery::parse(query).expect(query);
        query.find(&sentence).hits.iter().map(|hit| ConcordanceLine::of(7, hit, &sentence)).collect()
    };
    let line = lines("red _ crossing").remove(0);
    assert_eq!(
        (line.span(), line.key(1), line.key(2), line.link(2), line.link(1)),
        (1..3, Some(0), Some(1), Some(0), Some(1))
    );
    assert_eq!(line.linked_words(), ["bateau", "rouge"]);
    let line = lines("| rouge dort").remove(0);
    assert!(line.is_output && line.words == output && line.linked_words() == ["red", "sleeps"]);
    let mut all = lines("_");
    assert_eq!(sorted(&all, ConcordanceOrder::Hit), [2, 1, 3, 0], "boat, red, sleeps, The");
    assert_eq!(sorted(&all, ConcordanceOrder::Left), [0, 3, 2, 1], "nothing, boat, red, The");
    assert_eq!(sorted(&all, ConcordanceOrder::Right), [3, 1, 0, 2]);
    all.reverse();
    assert_eq!(sorted(&all, ConcordanceOrder::Place), [0, 1, 2, 3]);
}

#[test]
fn lists_of_words_lie_in_files() {
    let folder = Folder::new();
    folder.put("colours.txt", "# colours\nRed\n\nblue\n");
    folder.put("two words.txt", "red\nsea blue\n");
    folder.put("none.txt", "# nothing\n");
    let parse = |query: &str| {
        let mut list = |name: &str| linked::words(&folder, name).map_err(|error| error.to_string());
        ConcordanceQuery::parse_with(query, &mut list)
    };
    let query = parse("{@colours.txt, old} boat").expect("a query");
    let source: Vec<String> = ["RED", "boat", "old", "boat", "big", "boat"].map(str::to_owned).to_vec();
    let found = query.find(&ConcordanceSentence { source: &source, ..ConcordanceSentence::default() });
    assert_eq!(found.hits.iter().map(|hit| hit.source[0]).collect::<Vec<_>>(), [0, 2]);
    for (query, column, says) in [
        ("red {@no.txt}", 6, "does not exist"),
        ("{@\"two words.txt\"}", 2, "line 2"),
        ("{@none.txt}", 2, "has no words"),
        ("{red, @}", 7, "leads to a file"),
    ] {
        let error = parse(query).expect_err(query);
        assert!(error.column == column && error.message.contains(says), "{query}: {error}");
    }
    let error = ConcordanceQuery::parse("{@colours.txt}").expect_err("no files there");
    assert!(error.message.contains("no files are read"), "{error}");
}

fn heard(lane: &CorpusThread, call: CorpusRequest, is_last: impl Fn(&CorpusNews) -> bool) -> Vec<CorpusNews> {
    lane.send(call);
    let mut all = Vec::new();
    loop {
        let news = lane.news.next_within(PATIENCE).expect("the lane answers");
        if let CorpusNews::Failed(why) = &news {
            panic!("{why}");
        }
        all.push(news);
        if is_last(&all[all.len() - 1]) {
            return all;
        }
    }
}

#[test]
fn the_lane_counts_and_finds_between_its_other_calls() {
    let (folder, path) = Folder::and_path("w.ilws");
    drop(filled(&path));
    let lane = CorpusThread::spawn(Arc::new(|| {}));
    let is_rows = |news: &CorpusNews| matches!(news, CorpusNews::Rows(_));
    heard(&lane, CorpusRequest::Open(path.clone()), is_rows);
    let show = |filter: &str| CorpusRequest::Show { filter: filter.to_owned(), sorting: String::new() };
    let news = heard(&lane, show("wrong.1:boat"), is_rows);
    let CorpusNews::Rows(Ok(rows)) = &news[news.len() - 1] else { panic!("rows") };
    assert_eq!(**rows, [1]);
    heard(&lane, show(""), is_rows);
    let options = OverviewOptions { pair: (1, 0), most: 100, ..OverviewOptions::default() };
    let is_counted = |news: &CorpusNews| matches!(news, CorpusNews::Counted(_));
    let news = heard(&lane, CorpusRequest::Count(Some(options)), is_counted);
    let CorpusNews::Counted(of) = &news[news.len() - 1] else { panic!("an overview") };
    assert_eq!((of.counted, of.pair.as_ref().map(|pair| (pair.first, pair.second))), (5, Some((1, 0))));

    // Of two queries that wait the first is not answered; one that is none is told with its number.
    let find = |number: u64, query: &str| {
        CorpusRequest::Find(Some(Find {
            number,
            query: query.to_owned(),
            links: LinkChoice::default(),
            by_parts: false,
            by_target: false,
        }))
    };
    lane.send(find(1, "the"));
    let is_over = |number: u64| move |news: &CorpusNews| matches!(news, CorpusNews::Hits(hits) if hits.is_over && hits.number == number);
    let news = heard(&lane, find(2, "red -> _"), is_over(2));
    let hits: Vec<u32> = news
        .iter()
        .filter_map(|news| match news {
            CorpusNews::Hits(hits) if hits.number == 2 => Some(&hits.lines),
            _ => None,
        })
        .flatten()
        .map(|line| line.at)
        .collect();
    assert_eq!(hits, [0, 1]);
    let is_refused = |news: &CorpusNews| matches!(news, CorpusNews::Refused(3, _));
    heard(&lane, find(3, "{red"), is_refused);
    let is_written = |news: &CorpusNews| matches!(news, CorpusNews::Written(_));
    let (file, lines) = (
        folder.join("hits.tsv"),
        ConcordanceLine { at: 1, words: vec!["boat".to_owned()], keys: vec![(0, 0)], ..ConcordanceLine::default() },
    );
    let (path, lines, order) = (file.clone(), Arc::new(vec![lines]), Arc::new(vec![0]));
    heard(&lane, CorpusRequest::SaveHits { path, lines, order, links: LinkChoice::default() }, is_written);
    let text = std::fs::read_to_string(file).expect("written");
    assert_eq!(text.lines().nth(1), Some("2\t\tboat\t\t\t\"la barque est \"\"rouge\"\"\""));
}

#[test]
fn the_command_line_prints_overviews_and_sorted_hits() {
    let at = &Folder::new();
    drop(filled(&at.join("w.ilws")));
    at.put("colours.txt", "red\n");
    at.put("counts.txt", "le 7\n3 dort\n");
    let ran =
        |arguments: &[&str]| run_in(at, &[&["analyse", "--workspace", "w.ilws"], arguments].concat()).good().stdout;
    let text = ran(&["--overview", "pair,frequency", "--frequencies", "counts.txt"]);
    let (frequency, pair) = text.split_once("\n\n").expect("two tables");
    assert!(frequency.starts_with("frequency\tsystem") && pair.starts_with("first\tsecond\tbetter"), "{text}");
    assert!(frequency.contains("3\tFirst\t2\t2\t2\t1.0000\t1.0000\t1.0000\tfreq.1=3\n"), "{frequency}");
    let rows = ran(&["--filter", "freq.1=3", "--frequencies", "counts.txt", "--columns", "words"]);
    assert_eq!(rows.lines().skip(1).map(|line| &line[..1]).collect::<Vec<_>>(), ["1", "3"]);
    let hits = ran(&["--query", "the", "--order", "right"]);
    let hits: Vec<&str> = hits.lines().skip(1).map(|line| line.split('\t').nth(3).expect("words")).collect();
    assert_eq!(
        hits,
        ["boat is \"\" red \"\"", "red boat sleeps", "sea sleeps"].map(|text| if text.contains('"') {
            "\"boat is \"\" red \"\"\""
        } else {
            text
        })
    );
    assert_eq!(ran(&["--query", "{@colours.txt} _ crossing"]).lines().count(), 2);
    for (arguments, says) in [
        (&["--overview", "nothing"][..], "possible values"),
        (&["--overview", "pair", "--pair", "1"], "write two systems"),
        (&["--query", "{@no.txt}"], "does not exist"),
        (&["--overview", "frequency", "--frequencies", "no.txt"], "no.txt"),
    ] {
        run_in(at, &[&["analyse", "--workspace", "w.ilws"], arguments].concat()).refused(says);
    }
}

fn conllu(sentences: &[&[(&str, &str)]]) -> String {
    let word = |(n, (word, part)): (usize, &(&str, &str))| format!("{}\t{word}\t_\t{part}{}\n", n + 1, "\t_".repeat(6));
    let sentence = |words: &&[(&str, &str)]| words.iter().enumerate().map(word).collect::<String>() + "\n";
    sentences.iter().map(sentence).collect()
}

#[test]
fn source_words_are_counted_by_their_part_of_speech() {
    let at = &Folder::new();
    drop(filled(&at.join("w.ilws")));
    let analyse = |arguments: &[&str]| run_in(at, &[&["analyse", "--workspace", "w.ilws"], arguments].concat());
    let overview = || analyse(&["--overview", "pos"]).stdout;
    assert_eq!(overview().lines().count(), 1, "nobody gave any");
    analyse(&["--query", "NOUN", "--by", "pos"]).refused("nobody gave this corpus parts of speech");
    // in another order than the corpus, cut otherwise, and one that is not there
    let quoted = [("the", "DET"), ("boat", "NOUN"), ("is", "AUX"), ("\"", "PUNCT"), ("red", "ADJ"), ("\"", "PUNCT")];
    let file = conllu(&[
        &[("rain", "NOUN")],
        &quoted,
        &[("snow", "NOUN")],
        &[("the", "DET"), ("sea", "NOUN"), ("sleeps", "_")],
        // once more: it counts once
        &[("rain", "NOUN")],
    ]);
    at.put("x.conllu", file);
    let brought = analyse(&["--import", "x.conllu", "--format", "none"]).good();
    let told = "x.conllu: Imported parts of speech of 3 sentences; 1 line has a fault. 1 sentence of the file is not in the corpus.";
    assert!(brought.stderr.contains(told), "{}", brought.stderr);
    let text = overview();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..4], ["part", "system", "words", "fertility"]);
    let row = |part: &str, system: &str| -> Vec<&str> {
        let row = rows.iter().find(|row| row[0] == part && row[1] == system);
        row.expect("a row")[2..].to_vec()
    };
    // First: the boat (la barque for le bateau), the sea (le mer), rain without a reference. Each word has one link, none crosses.
    assert_eq!(row("NOUN", "First"), ["3", "1.0000", "0.0000", "0.0000", "2", "1", "0.5000", "0.5000", "1.0000"]);
    // of "the boat" nothing is linked to the reference; "le mer" is linked to "la"
    assert_eq!(row("DET", "First"), ["2", "1.0000", "0.0000", "0.0000", "2", "2", "1.0000", "0.0000", "0.0000"]);
    assert_eq!(row("ADJ", "First")[..5], ["1", "1.0000", "0.0000", "0.0000", "1"]);
    assert_eq!(row("NOUN", "Second")[0], "2", "it says nothing of the sea");
    assert_eq!(row("PUNCT", "First")[0], "2", "quotation marks are words");
    assert!(rows.iter().any(|row| row[0] == "_"), "{text}");
    // The same parts of speech are what a query is looked for among; the hits are words.
    let hits = |query: &str| analyse(&["--query", query, "--by", "pos"]).stdout;
    let found = |query: &str| -> Vec<String> {
        let row = |line: &str| line.split('\t').take(3).collect::<Vec<_>>().join("|");
        hits(query).lines().skip(1).map(row).collect()
    };
    assert_eq!(found("DET noun"), ["2||the boat", "3||the sea"], "letter case aside");
    assert_eq!(found("{AUX, VERB}"), ["2|the boat|is"]);
    assert_eq!(found("NOUN -> mer"), ["3|the|sea"]);
    assert_eq!(found("NOUN | plus"), Vec::<String>::new());
    let report = run_line(at, "report --workspace w.ilws --output report.html");
    let html = std::fs::read_to_string(at.join("report.html")).unwrap_or_default();
    assert!(html.contains("<h2>Source words by part of speech</h2>"), "{}", report.stderr);
    at.put("none.conllu", conllu(&[&[("snow", "NOUN")]]));
    analyse(&["--import", "none.conllu"]).refused("none.conllu: has parts of speech for no sentence");
}

#[test]
fn hits_stay_until_there_are_new_ones_and_are_sorted_as_they_come() {
    let line = |at: u32, word: &str| ConcordanceLine {
        at,
        words: vec![word.to_owned()],
        keys: vec![(0, 0)],
        ..ConcordanceLine::default()
    };
    let hits =
        |number: u64, lines: Vec<ConcordanceLine>, is_over: bool| Hits { number, lines, done: 9, is_over, note: None };
    let mut concordance = Concordance::default();
    (concordance.query, concordance.order) = ("_".to_owned(), ConcordanceOrder::Hit);
    let rows = Arc::new(vec![0, 1, 2]);
    assert!(concordance.wanted(1, &rows) && !concordance.wanted(1, &rows));
    concordance.begin(1);
    concordance.take(hits(1, vec![line(0, "c"), line(0, "b")], false));
    concordance.selected = Some(0);
    concordance.take(hits(1, vec![line(2, "a")], false));
    assert_eq!((concordance.sorted.to_vec(), concordance.sentences), (vec![1, 0, 2], 2));
    // More outputs came: they are looked through when this is over.
    assert!(!concordance.wanted(2, &rows));
    concordance.take(hits(1, Vec::new(), true));
    assert_eq!((concordance.sorted.to_vec(), concordance.selected), (vec![2, 1, 0], Some(1)), "b stays chosen");
    assert!(concordance.wanted(2, &rows));
    concordance.begin(2);
    concordance.take(hits(1, vec![line(1, "z")], true));
    assert_eq!(concordance.lines.len(), 3, "those of the query before come too late, and the old ones stay");
    concordance.take(hits(2, vec![line(1, "z")], true));
    assert_eq!((concordance.lines.len(), concordance.selected), (1, None));
    concordance.begin(3);
    concordance.refuse(3, "no".to_owned());
    assert!(concordance.lines.is_empty() && concordance.trouble.is_some() && !concordance.is_searching);
}

/// Resamples are drawn by place: the p values of one set of sentences were others where the table was sorted otherwise.
#[test]
fn p_values_and_intervals_do_not_depend_on_the_order_of_the_table() {
    let (folder, workspace, corpus) = opened();
    let options = OverviewOptions { pair: (0, 1), most: usize::MAX, ..OverviewOptions::default() };
    let pair = |rows: &[u32]| {
        let counted = overview(&corpus, &workspace, rows, &options, &mut FilterResources::default()).expect("counted");
        (counted.pair, counted.tested)
    };
    let (came, sorted) = ([0, 1, 2, 3, 4], [4, 1, 0, 3, 2]);
    assert!(pair(&came).1[0].pairs[0].1.resamples >= 10_000);
    assert_eq!(pair(&sorted), pair(&came));
    let printed = |sort: &[&str]| {
        let asked = ["analyse", "--workspace", "w.ilws", "--overview", "pair"];
        run_in(&folder, &[&asked[..], sort].concat()).good().stdout
    };
    assert_eq!(printed(&["--sort=-bleu.2"]), printed(&[]));
}

#[test]
fn a_corpus_keeps_an_aligner_of_its_own_that_comes_first() {
    let at = &Folder::new();
    let mut workspace = filled(&at.join("w.ilws"));
    at.put("t.en", "the boat\nthe sea\n".repeat(20));
    at.put("t.nl", "le bateau\nla mer\n".repeat(20));
    let ran = |arguments: &[&str]| {
        let done = run_in(at, arguments).good();
        done.stderr
    };
    ran(&["align", "--statistical", "--source", "t.en", "--target", "t.nl", "--save", "own.aligner"]);
    let (nobody, aligner) = ("2 by hand, 2 by nobody", "2 by hand, 2 by the aligner");
    for (kept, arguments, linked, trouble) in [
        (None, &[][..], nobody, None),
        (Some("own.aligner"), &[], aligner, None),
        (Some("own.aligner"), &["--languages", "nl-en"], aligner, None),
        (
            Some("own.aligner"),
            &["--languages", "en-de"],
            aligner,
            Some("links words of en and nl, and these are en and de"),
        ),
        (Some("own.aligner"), &["--languages", "en-mul"], aligner, None),
        (Some("own.aligner"), &["--languages", "en-hu"], nobody, Some("links words of en and nl")),
        (Some("gone.aligner"), &[], nobody, Some("gone.aligner: does not exist")),
        (Some("t.en"), &["--languages", "en-fr"], aligner, Some("is not what an aligner learned")),
        (Some("gone.aligner"), &["--learned", "own.aligner", "--languages", "en-nl"], aligner, None),
    ] {
        let look = FileVersion { aligner: kept.map(|name| at.join(name)), ..FileVersion::default() };
        workspace.keep_look(&look).expect("kept");
        assert_eq!(workspace.look(), look);
        let said = ran(&[&["report", "--workspace", "w.ilws", "--output", "r.html"], arguments].concat());
        let html = at.text("r.html");
        assert!(html.contains(&format!("References are linked: {linked}.")), "{kept:?} {arguments:?}: {html}");
        assert_eq!(said.contains("words are linked without this one"), trouble.is_some(), "{kept:?}: {said}");
        assert!(said.contains(trouble.unwrap_or_default()), "{kept:?}: {said}");
    }
}

/// What was found out with the file of before was shown on.
#[test]
fn an_aligner_that_is_learned_again_at_the_same_path_is_asked_again() {
    let (folder, workspace, corpus) = opened();
    let at = &folder;
    at.put("t.en", "the boat\nthe sea\n".repeat(20));
    let mut means = FilterResources::default();
    let mut wrong = |target: &str| {
        at.put("t.fr", target.repeat(20));
        let learn = ["align", "--statistical", "--source", "t.en", "--target", "t.fr", "--save", "own.aligner"];
        run_in(at, &learn).good();
        let languages = Some(("en".to_owned(), "fr".to_owned()));
        means.set(None, AlignerChoice::with(languages, &AlignerFiles::default(), Some(at.join("own.aligner"))));
        let filter = means.filter("wrong.2:boat", &corpus, &workspace, &mut || true).expect("a filter");
        rows(&corpus, &filter, None)
    };
    // linked to a word that the second system says as well, and to one that it does not
    assert_eq!(wrong("le bateau\nle mer\n"), [0; 0]);
    assert_eq!(wrong("le rouge\nle mer\n"), [1]);
}
