//! Corpora in scripts that set no spaces: overviews, conditions, frequencies and concordances count the same words.

use std::path::Path;

use interlinear::analysis::lexical::{LexicalCounts, cut};
use interlinear::analysis::mteval::Tokenization;
use interlinear::corpus::overview::compute::{OverviewOptions, ngram_condition};
use interlinear::corpus::query::{expensive::FilterResources, hits::Searching, linked::LinkChoice, table::rows};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, read::StoredAbout};
use interlinear::corpus::{measures::table::Measuring, overview::tables::overview, query::column::TableColumn};
use interlinear::{corpus::store::write::NewSentence, text::words::words};

use crate::folder::Folder;

const LINES: &[[&str; 4]] = &[
    ["the book is red", "这本书是红色的。", "这本书是红色的。", "这本书是蓝色的。"],
    ["I like the red boat", "我喜欢红色的船。", "我喜欢红船。", "我爱红色的船。"],
    ["the cat likes reading", "猫 喜欢 看书 。", "猫喜欢看书。", "猫在读书。"],
    ["a new book", "新しい本を買った。", "新しい本を買った。", "本を買った。"],
    ["we eat rice", "เรากินข้าว", "เรากินข้าว", "เรากินปลา"],
];

fn filled(path: &Path) -> (Workspace, CorpusTable) {
    let mut workspace = Workspace::open(path).expect("a new workspace");
    let origin = workspace.add_origin("lines", "").expect("an origin");
    let sentence = |(n, [source, reference, ..]): (usize, &[&str; 4])| NewSentence {
        source: (*source).to_owned(),
        reference: Some((*reference).to_owned()),
        line: n + 1,
        ..NewSentence::default()
    };
    workspace.add_sentences(origin, &LINES.iter().enumerate().map(sentence).collect::<Vec<_>>()).expect("sentences");
    for (n, name) in ["First", "Second"].into_iter().enumerate() {
        let system = workspace.add_system(name, &StoredAbout::default()).expect("a system");
        let said = |line: &[&str; 4]| SystemOutput { text: line[2 + n].to_owned(), ..SystemOutput::default() };
        let said: Vec<(usize, SystemOutput)> = LINES.iter().map(said).enumerate().collect();
        workspace.add_outputs(system.id, &said, &mut Measuring::default()).expect("outputs");
    }
    let corpus = CorpusTable::read(&workspace).expect("read");
    (workspace, corpus)
}

/// They were cut at punctuation of Western languages alone, so that a line was one word.
#[test]
fn words_without_spaces_are_the_same_in_overviews_conditions_and_concordances() {
    let folder = Folder::new();
    let (workspace, corpus) = filled(&folder.join("w.ilws"));
    let all: Vec<u32> = (0..LINES.len() as u32).collect();
    let shown = |line: &str| -> Vec<u32> {
        let filter = FilterResources::default().filter(line, &corpus, &workspace, &mut || true).expect(line);
        rows(&corpus, &filter, None).into_iter().map(|at| at + 1).collect()
    };
    let options = OverviewOptions { pair: (0, 1), most: 100, ..OverviewOptions::default() };
    let of = overview(&corpus, &workspace, &all, &options, &mut FilterResources::default()).expect("counted");
    let counted: LexicalCounts = of.classes.iter().map(|class| class.words[0]).sum();
    let wanted = |side: usize| LINES.iter().map(|line| words(line[side]).count() as u64).sum::<u64>();
    assert_eq!((counted.reference, counted.output), (wanted(1), wanted(2)));
    assert_eq!(counted.right, 23, "the second reference has 红色 的 船 for 红船");
    let pair = of.pair.as_ref().expect("two systems");
    for (one, other, ngrams) in [(0, 1, &pair.ngrams[0]), (1, 0, &pair.ngrams[1])] {
        assert!(!ngrams.is_empty());
        for ngram in ngrams {
            let condition = ngram_condition(one, other, &ngram.words);
            assert!(!shown(&condition).is_empty(), "{condition}");
        }
    }
    for (line, expect) in [
        ("right.1:喜欢", &[2, 3][..]),
        ("right.1:红色的", &[1]),
        ("right.2:红色的船", &[2]),
        ("right.2:\"红色 的 船 。\"", &[2]),
        ("right.1:红", &[]),
        ("missed.1:红色", &[2]),
        ("extra.2:蓝色", &[1]),
        ("right.1:喜欢看书。", &[3]),
        ("right.1-2:本", &[]),
        ("right.1-2:新しい本", &[4]),
        ("right.1:กินข้าว", &[5]),
        ("freq=4", &[1, 2, 3, 4]),
        ("freq.1=0", &[2]),
    ] {
        assert_eq!(shown(line), expect, "{line}");
    }
    for (query, expect) in [
        ("| 红色", &[1][..]),
        ("| 红色的", &[1]),
        ("| {蓝色的, 红色的} 。", &[1]),
        // the shorter word of a list does not hide the longer one
        ("| {红色, 红色的} 。", &[1]),
        ("| 本 ..2 红色", &[1]),
        ("| 喜欢看书", &[3]),
        ("| 喜", &[]),
        ("| กินข้าว", &[5]),
        ("book | 书", &[1]),
    ] {
        let mut searching =
            Searching::new(query, &folder, LinkChoice::default(), all.clone(), (None, corpus.rules)).expect(query);
        let lines = searching.step(&corpus, &workspace, LINES.len()).expect("read");
        assert_eq!(lines.iter().map(|line| line.at + 1).collect::<Vec<_>>(), expect, "{query}");
    }
}

#[test]
fn words_of_scripts_without_spaces_are_cut_on_at_western_signs() {
    for (text, expect) in [
        ("红色的书。", "红色 的 书 。"),
        ("我用 Python, 好吗?", "我 用 Python , 好 吗 ?"),
        ("长3.5米 (约)", "长 3.5 米 ( 约 )"),
        ("红色 的 书 。", "红色 的 书 。"),
        ("the 猫, mill", "the 猫 , mill"),
        ("Don\u{2019}t \u{2014} he said.", "Don\u{2019}t \u{2014} he said ."),
    ] {
        assert_eq!(cut(text, Tokenization::default()), expect);
    }
}

#[test]
fn corpora_take_the_tokenizer_that_their_script_asks_for_until_somebody_chooses_another() {
    let (_folder, path) = Folder::and_path("w.ilws");
    let seen = |workspace: &Workspace| {
        let corpus = CorpusTable::read(workspace).expect("read");
        corpus.read_texts();
        let bleu = TableColumn::named("bleu.1", &corpus).expect("a column").value(&corpus, 1);
        (corpus.bleu.tokenization.name(), (bleu * 100.0).round() / 100.0)
    };
    let (mut workspace, _) = filled(&path);
    // sacreBLEU 2.6.0: sentence_bleu("我喜欢红船。", ["我喜欢红色的船。"], tokenize=..)
    assert_eq!(seen(&workspace), ("char", 43.3));
    let stopped = |_: f32| Err(interlinear::error::Error::Stale);
    workspace.set_tokenizer(Tokenization::None, &mut { stopped }).expect_err("it is stopped");
    assert_eq!(seen(&workspace), ("char", 43.3), "then nothing changes");
    workspace.set_tokenizer(Tokenization::Chinese, &mut |_| Ok(())).expect("measured");
    assert_eq!(seen(&Workspace::open(&path).expect("again")), ("zh", 43.3));
}
