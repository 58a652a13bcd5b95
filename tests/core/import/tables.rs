//! TSV, CSV and JSON lines of this program.

use interlinear::analysis::alignment::Alignment;
use interlinear::import::decimal::Decimals::{Comma, Point, Unclear};
use interlinear::import::decimal::{NumberCount, number};
use interlinear::import::{ColumnRole, ImportOptions, Role};

use super::{Planted, read, role};

#[test]
fn a_table_names_its_columns() {
    let text = "id\tsource\treference\tmine\tmine.log_p\tmine.links\tlength\n\
                a\tthe cat\tle chat\tun chat\t-1.5\t0-0 1-1\t2\n\
                b\tit \"rains\n\
                c\t\"she said \"\"no\"\"\"\telle\telle\tmuch\t0:0\t3\tmore\n";
    let read = read("a.tsv", text);
    assert_eq!(read.sources(), ["the cat", "it \"rains", "\"she said \"\"no\"\"\""]);
    assert_eq!(read.references(), ["le chat", "elle"]);
    let roles: Vec<_> = read.facts.columns.iter().map(|column| column.role.clone()).collect();
    let mine = || "mine".to_owned();
    let expect = [
        ColumnRole::Id,
        ColumnRole::Source,
        ColumnRole::Reference,
        ColumnRole::Output(mine()),
        ColumnRole::LogP(mine()),
        ColumnRole::Links(mine()),
        ColumnRole::Number,
    ];
    assert_eq!(roles, expect);
    let output = &read.records[0].outputs[0];
    assert_eq!((output.text.as_str(), output.log_p, output.links.as_ref().unwrap().len()), ("un chat", Some(-1.5), 2));
    assert_eq!(read.records[0].extra, [("length".to_owned(), "2".to_owned())]);
    let expect = [
        "a.tsv, line 3: has 2 cells, but there are 7 columns; those that are missing are blank",
        "a.tsv, line 4: has 8 cells, but there are 7 columns; the others are left out",
        "a.tsv, line 4: column `mine.log_p` has `much`, which is no number",
        "a.tsv, line 4: column `mine.links` is left out: `0:0` is no link; write `i-j` for a sure link and `i?j` or \
         `ipj` for a possible one",
    ];
    assert_eq!(read.warnings, expect);
}

#[test]
fn a_table_without_names_begins_with_source_and_reference() {
    let read = read("a.tsv", "the cat\tle chat\nthe dog\tle chien\n");
    assert_eq!((read.sources(), read.references()), (vec!["the cat", "the dog"], vec!["le chat", "le chien"]));
    assert_eq!(read.facts.notes, ["No row names the columns."]);
    // Numbers in front are no text.
    let read = super::read("a.tsv", "12\tthe cat\tle chat\n13\tthe dog\tle chien\n");
    assert_eq!((read.sources(), read.references()), (vec!["the cat", "the dog"], vec!["le chat", "le chien"]));
}

#[test]
fn languages_name_the_sides() {
    let read = read("a.tsv", "en\tpt-BR\tsystem one\nyes\tsim\tpois\n");
    assert_eq!((read.sources(), read.references(), read.outputs()), (vec!["yes"], vec!["sim"], vec!["pois"]));
}

#[test]
fn columns_are_mapped_as_asked() {
    let columns = vec![("b".to_owned(), ColumnRole::Source), ("a".to_owned(), ColumnRole::Extra)];
    let planted = Planted::new("a.tsv", b"a\tb\tc\nx\ty\tz\n");
    let read = planted.read(&ImportOptions { columns, ..ImportOptions::default() });
    assert_eq!((read.sources(), read.outputs()), (vec!["y"], vec!["z"]));
    let read = Planted::new("a.tsv", b"source\ttarget\nx\ty\n").read(&role(Role::Output("mine".into())));
    assert_eq!((read.references().len(), read.outputs()), (0, vec!["y"]));
    let plain = ImportOptions { header: Some(false), ..ImportOptions::default() };
    assert_eq!(Planted::new("a.tsv", b"source\ttarget\nx\ty\n").read(&plain).sources(), ["source", "x"]);
}

#[test]
fn a_reference_beside_systems_stays_the_reference_whatever_the_file_is_taken_for() {
    let table = Planted::new("a.tsv", b"source\treference\tmine\tother\na\tb\tc\td\n");
    let read = table.read(&role(Role::Output("a".into())));
    assert_eq!((read.references(), read.facts.columns.len()), (vec!["b"], 4));
    assert!(!read.facts.columns.iter().any(|column| column.role == ColumnRole::Output("a".into())));
}

#[test]
fn csv_is_read_by_its_rules() {
    let read = read("a.csv", "source;target\n\"a; b\";\"c\n d\"\ne;f\n");
    assert_eq!((read.sources(), read.references()), (vec!["a; b", "e"], vec!["c d", "f"]));
    assert_eq!(read.records.iter().map(|record| record.line).collect::<Vec<_>>(), [2, 4]);
    let unclosed = format!("source,target\na,\"b\n{}", "c,d\n".repeat(30));
    let read = super::read("a.csv", &unclosed);
    assert!(read.warnings[0].contains("line 2: begins a row of") && read.warnings[0].contains("quotation mark"));
}

#[test]
fn a_column_tells_what_its_commas_are() {
    for (cells, found, numbers) in [
        (&["0.5", "-3", "1e-5", ".5"][..], Point, &[Some(0.5), Some(-3.0), Some(1e-5), Some(0.5)][..]),
        (&["0,8275", "0,9", "1"], Comma, &[Some(0.8275), Some(0.9), Some(1.0)]),
        (&["1.234,5", "2.000", "-0,25"], Comma, &[Some(1234.5), Some(2000.0), Some(-0.25)]),
        (&["1,234.5", "2,000", "3.25"], Point, &[Some(1234.5), Some(2000.0), Some(3.25)]),
        (&["1,234", "2"], Unclear, &[None, Some(2.0)]),
        (&["0,234", "1,234"], Comma, &[Some(0.234), Some(1.234)]),
        (&["0,5", "0.5"], Unclear, &[None, Some(0.5)]),
        (&["1,5e-05"], Comma, &[Some(1.5e-5)]),
    ] {
        let mut count = NumberCount::default();
        for cell in cells {
            count.add(cell);
        }
        assert_eq!((count.decimals(), count.numbers), (found, cells.len()), "{cells:?}");
        for (cell, wanted) in cells.iter().zip(numbers) {
            assert_eq!(number(cell, found), *wanted, "{cells:?}");
        }
    }
    for other in ["", "inf", "NaN", "1,2,3", "12,34.5", "a", "1 2", "--1"] {
        let is_number = [Point, Comma].into_iter().any(|decimals| number(other, decimals).is_some());
        assert!(!is_number, "{other}");
    }
}

const TRANSLATE: &str = r#"{"source": ["the", "c@@", "at", "</s>"], "hypotheses": [{"tokens": ["chat", "</s>"], "text": "chat", "log_p": -1.5, "token_log_p": [-1.0, null], "alpha": [[0.1, 0.4, 0.4, 0.1], [0, 0, 0, 1]], "finished": true}, {"tokens": ["le"], "text": "le", "log_p": -2.0, "token_log_p": [-2.0], "alpha": null, "finished": false}]}

{"source": ["a", "</s>"], "hypotheses": [
{"source": ["a", "</s>"], "hypotheses": []}
{"source": ["a", "</s>"], "hypotheses": [{"tokens": ["b"], "alpha": [[1.0]]}]}
{"source": ["a", "</s>"], "hypotheses": [{"tokens": ["b"], "alpha": [[1.0, 0.0], [1.0]]}]}
"#;

#[test]
fn lines_of_translate_come_back() {
    let planted = Planted::new("mine.jsonl", TRANSLATE.as_bytes());
    let read = planted.read(&ImportOptions::default());
    assert_eq!(read.sentences(), [1, 4, 5]);
    assert_eq!((read.sources()[0], read.outputs()), ("the cat", vec!["chat", "le", "b"]));
    let [best, second] = read.records[0].outputs.as_slice() else { panic!("two hypotheses") };
    assert_eq!((best.system.as_deref(), best.log_p), (Some("mine"), Some(-1.5)));
    assert_eq!(best.token_log_p, [-1.0, f32::NEG_INFINITY]);
    let alpha = best.alpha.as_ref().unwrap();
    assert_eq!((alpha.rows(), alpha.columns(), alpha.row(1)), (2, 4, &[0.0, 0.0, 0.0, 1.0][..]));
    assert_eq!(second.alpha, None);
    let expect = [
        "mine.jsonl, line 2: is blank; its sentence is left out",
        "mine.jsonl, line 3: is no line of `translate --format jsonl` or `score` (EOF while parsing a list, column 41); \
         it is left out",
        "mine.jsonl, line 4: has no translation",
        "mine.jsonl, line 5: has alpha of 1 by 1 for 1 target and 2 source tokens, or weights that are no numbers; it is \
         left out",
    ];
    assert_eq!(read.warnings[..4], expect);
    assert!(read.warnings[4].contains("line 6") && read.warnings[4].contains("the rows of alpha differ in length"));
}

#[test]
fn lines_of_score_come_back() {
    let line = r#"{"source": ["the", "</s>"], "target": ["l'", "eau", "</s>"], "log_p": -3.5, "token_log_p": [-1.0, -2.0, -0.5], "alpha": [[1, 0], [1, 0], [0, 1]], "energies": [[1, 2], [null, 0], [0, 0]]}"#;
    let planted = Planted::new("a.jsonl", line.as_bytes());
    let languages = (Some("en".to_owned()), Some("fr".to_owned()));
    let read = planted.read(&ImportOptions { languages, ..ImportOptions::default() });
    let output = &read.records[0].outputs[0];
    assert_eq!((output.text.as_str(), output.tokens.len(), output.log_p), ("l'eau", 3, Some(-3.5)));
    assert_eq!(output.alpha.as_ref().unwrap().weights(), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
}

/// Which pieces make up a word was not read: words came in as their pieces.
#[test]
fn pieces_become_the_words_that_the_line_names() {
    let line = "{\"source\":[\"un\",\"##seen\",\"road\",\"</s>\"],\"words\":[[0,2],[2,3],[3,4]],\"hypotheses\":[{\
                \"tokens\":[\"che\",\"##min\",\"</s>\"],\"words\":[[0,2],[2,3]],\"text\":\"chemin\",\"token_log_p\":[-1,-0.5,-0.25],\
                \"alpha\":[[0.5,0.25,0.25,0],[0,0.25,0.75,0],[0,0,0,1]]}]}\n\
                {\"source\":[\"\u{2581}a\",\"b\"],\"words\":{\"source\":[[0,2]],\"target\":[[0,1],[1,2]]},\"target\":[\"\u{2581}c\",\"\u{2581}d\"],\
                \"alpha\":[[0.5,0.5],[0.25,0.75]]}\n\
                {\"source\":[\"a\",\"b\"],\"words\":[[0,1],[0,2]],\"hypotheses\":[{\"tokens\":[\"c\"],\"words\":[[0,9]]}]}\n";
    let planted = Planted::new("mine.jsonl", line.as_bytes());
    let read = planted.read(&ImportOptions::default());
    assert_eq!(read.sources(), ["unseen road", "ab", "a b"]);
    let tokens = |n: usize| read.records[n].source.as_ref().and_then(|source| source.tokens.clone()).expect("words");
    assert_eq!(
        (tokens(0), tokens(1)),
        (vec!["unseen".to_owned(), "road".into(), "</s>".into()], vec!["ab".to_owned()])
    );
    let output = &read.records[0].outputs[0];
    assert_eq!(
        (&output.tokens[..], &output.token_log_p[..]),
        (&["chemin".to_owned(), "</s>".into()][..], &[-1.5, -0.25][..])
    );
    let alpha = |n: usize| read.records[n].outputs[0].alpha.clone().expect("alpha");
    assert_eq!(alpha(0), Alignment::from_rows(&[[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]));
    assert_eq!(alpha(1), Alignment::from_rows(&[[1.0], [1.0]]));
    let expect = [
        "mine.jsonl, line 3: has words that are not made of its 2 tokens; they are left out",
        "mine.jsonl, line 3: has words that are not made of its 1 tokens; they are left out",
    ];
    assert_eq!(read.warnings, expect);
}
