//! What a word of a corpus is: chosen once for each side, the same in hits and counts, kept in the file; links, marks and older
//! files that count words between spaces are told of it by letters.

use std::{fs, path::Path};

use interlinear::corpus::export::out::{ExportFormat, Out, write};
use interlinear::corpus::judgements::judge::{ErrorMark, Judgement};
use interlinear::corpus::query::linked::{LinkChoice, TallyOrder, Tallying};
use interlinear::corpus::store::rules::{KnownWords, SideRules};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, read::StoredAbout};
use interlinear::corpus::{judgements::judgement_io, measures::table::Measuring, query::hits::Searching};
use interlinear::{corpus::store::write::NewSentence, text::cells::TableCell};
use interlinear::{text::cut::WordRule, text::links::pharaoh, text::links::read::links_of};

use crate::folder::{Files as _, Folder};
use crate::{forever, judging::out};

const LINES: [(&str, &str, &str); 3] = [
    ("He bought a red car.", "Il a acheté une voiture rouge.", "0-0 1?1 1-2 2-3 3-5 4-4"),
    ("I don't know him, not now.", "Je n'ai pas l'heure, n'est-elle pas à l'homme ?", "0-0 1-1 1-2 3?3 4-4"),
    ("The farmer's (old) dog... -- sleeps!", "Le « vieux » chien, lui : il dort...", "0-0 1-4 2?2 3-4 4-6 5-8"),
];

fn sentence((n, line): (usize, &(&str, &str, &str))) -> NewSentence {
    let gold = links_of(line.2);
    NewSentence { source: line.0.into(), reference: Some(line.1.into()), line: n + 1, gold, ..NewSentence::default() }
}

fn filled(path: &Path, known: &KnownWords) -> Workspace {
    let mut workspace = Workspace::open(path).expect("a new workspace");
    let (sources, references) = (LINES.iter().map(|line| line.0), LINES.iter().map(|line| line.1));
    workspace.settle_words(known, sources, references).expect("rules");
    let origin = workspace.add_origin("lines", "").expect("an origin");
    workspace.add_sentences(origin, &LINES.iter().enumerate().map(sentence).collect::<Vec<_>>()).expect("sentences");
    let system = workspace.add_system("S", &StoredAbout::default()).expect("a system");
    let rules = workspace.rules();
    let said = |(at, line): (usize, &(&str, &str, &str))| {
        let links: Vec<_> = links_of(line.2).expect("links").all().into_iter().map(|(link, _)| link).collect();
        let links = Some(rules.respread_links(&links, SideRules::SPACES, (line.0, line.1)));
        (at, SystemOutput { links, ..SystemOutput::plain(line.1, line.0, rules) })
    };
    let said: Vec<_> = LINES.iter().enumerate().map(said).collect();
    workspace.add_outputs(system.id, &said, &mut Measuring::default()).expect("outputs");
    workspace
}

fn written(workspace: &Workspace, kind: ExportFormat, link_tokens: bool) -> String {
    let corpus = CorpusTable::read(workspace).expect("a corpus");
    let path = workspace.path().with_extension("out");
    let out = Out { link_tokens, ..out(&path, kind, 0..corpus.len() as u32) };
    write(&out, &corpus, workspace).expect("written");
    fs::read_to_string(path).expect("a file")
}

#[test]
fn what_a_word_is_is_chosen_once_by_the_first_texts_of_each_side() {
    let (folder, path) = Folder::and_path("a.ilws");
    let mut workspace = Workspace::open(&path).expect("a workspace");
    let new = |source: &str| [NewSentence { source: source.to_owned(), ..NewSentence::default() }];
    workspace.add_sentences(0, &new(LINES[0].0)).expect("a sentence");
    drop(workspace);
    // references come later, and French is guessed of them
    let mut workspace = Workspace::open(&path).expect("it opens");
    workspace.set_references(0, &[(0, LINES[1].1.to_owned())]).expect("a reference");
    let rules = SideRules { source: WordRule::Tokens, target: WordRule::Eliding };
    workspace.add_sentences(0, &new("L'homme n'est pas l'heure, il n'a rien qu'il n'aime pas.")).expect("French");
    workspace.copy(&folder.join("b.ilws")).expect("a copy");
    for name in ["a.ilws", "b.ilws"] {
        let kept = Workspace::open(&folder.join(name)).expect("it opens");
        assert_eq!((kept.rules(), CorpusTable::read(&kept).expect("read").rules), (rules, rules), "{name}");
    }
    let cut = KnownWords { pretokenized: true, ..KnownWords::default() };
    let late = workspace.settle_words(&cut, std::iter::empty(), std::iter::empty()).expect_err("it has tokens");
    assert!(late.to_string().contains("begin a new corpus"), "{late}");
}

#[test]
fn links_of_lines_come_out_as_they_came_in() {
    for known in [KnownWords::default(), KnownWords { pretokenized: true, ..KnownWords::default() }] {
        let (_folder, mut workspace) = Folder::of(|folder| filled(&folder.join("a.ilws"), &known));
        let lines: Vec<&str> = LINES.iter().map(|line| line.2).collect();
        assert_eq!(written(&workspace, ExportFormat::Gold, false), lines.join("\n") + "\n", "{known:?}");
        let rule = interlinear::corpus::export::out::LinkRule::Greatest;
        let links = written(&workspace, ExportFormat::Pharaoh(0, rule), false);
        assert_eq!(links, lines.join("\n").replace('?', "-") + "\n", "{known:?}");
        // links of tokens by hand are links of tokens again
        let tokens = links_of("0-0 4-4 5-6 4?5").expect("links");
        workspace.set_golds(&[(0, tokens.clone())]).expect("links");
        let out = written(&workspace, ExportFormat::Gold, true);
        assert_eq!(out.lines().next(), Some(&*pharaoh(&tokens)));
        let system = workspace.systems().expect("systems")[0].id;
        let output = workspace.output(system, 0).expect("read").expect("an output");
        let counted = if known.pretokenized { 5 } else { 6 };
        assert_eq!(
            (output.source.len(), output.word_links(LINES[0].0, workspace.rules()).map(|all| all.len())),
            (counted, Some(6))
        );
    }
}

#[test]
fn hits_and_counts_are_of_the_same_words() {
    let (folder, workspace) = Folder::of(|folder| filled(&folder.join("a.ilws"), &KnownWords::default()));
    let corpus = CorpusTable::read(&workspace).expect("a corpus");
    let choice = LinkChoice::default();
    for (query, expect) in
        [("red car", 1), ("red -> rouge", 1), ("{don, 't} -> n'", 2), ("him", 1), ("him,", 1), ("car,", 0), ("'s", 1)]
    {
        let with = (None, corpus.rules);
        let mut searching = Searching::new(query, &folder, choice, vec![0, 1, 2], with).expect(query);
        let lines = searching.step(&corpus, &workspace, 9).expect("hits");
        let sentences: std::collections::BTreeSet<u32> = lines.iter().map(|line| line.at).collect();
        assert_eq!(lines.len(), expect, "{query}");
        let order = TallyOrder {
            number: 1,
            query: query.to_owned(),
            kinds: vec![(choice, "S".to_owned())],
            each_word: false,
            least: 1,
            ..TallyOrder::default()
        };
        let mut tallying = Tallying::new(order, &folder, vec![0, 1, 2], with).expect(query);
        let table = tallying.step(&corpus, &workspace, 9).expect("counts").expect("a table");
        let mut counts = table.rows.iter().flatten();
        let first = counts.find_map(|cell| if let TableCell::Count(count) = cell { Some(*count) } else { None });
        assert_eq!(first.unwrap_or(0) as usize, sentences.len(), "{query}: {table:?}");
    }
}

#[test]
fn judgements_of_other_words_go_to_the_same_letters() {
    let folder = Folder::new();
    let mark = |target, letters| ErrorMark {
        system: "S".to_owned(),
        target,
        letters,
        source: (4, 5),
        category: "word".to_owned(),
        severity: "minor".to_owned(),
        ..ErrorMark::default()
    };
    // `rouge.`, and `oiture` of `voiture`
    let old = Judgement {
        marks: vec![mark((5, 6), None), mark((4, 5), Some((1, 7)))],
        links: "4-4 3-5".to_owned(),
        ..Judgement::default()
    };
    let line = serde_json::json!({ "sentence": 1, "source": LINES[0].0, "by": { "ann": old } }).to_string();
    folder.put("old.jsonl", line);
    let mut first = filled(&folder.join("a.ilws"), &KnownWords::default());
    judgement_io::import(&mut first, &folder.join("old.jsonl"), None, &forever()).expect("report");
    let said = first.judgements_of(0).expect("judgements")["ann"].clone();
    let spans: Vec<_> = said.marks.iter().map(|mark| (mark.target, mark.letters, mark.source)).collect();
    assert_eq!(spans, [((5, 7), None, (4, 6)), ((4, 5), Some((1, 7)), (4, 6))]);
    assert_eq!(said.links, "3-5 4-4");
    let cut = KnownWords { pretokenized: true, ..KnownWords::default() };
    for (name, kind) in [("t.tsv", ExportFormat::JudgementTable), ("t.jsonl", ExportFormat::Judgements)] {
        let file = folder.join(name);
        fs::write(&file, written(&first, kind, false)).expect("a file");
        for (corpus, known, expect) in [("same", KnownWords::default(), &said), ("given", cut.clone(), &old)] {
            let mut other = filled(&folder.join(format!("{corpus}-{name}.ilws")), &known);
            judgement_io::import(&mut other, &file, None, &forever()).expect("report");
            let mut back = other.judgements_of(0).expect("judgements")["ann"].clone();
            back.links = pharaoh(&links_of(&back.links).expect("links"));
            let links = pharaoh(&links_of(&expect.links).expect("links"));
            assert_eq!(back, Judgement { links, ..expect.clone() }, "{name} into {corpus}");
        }
    }
}
