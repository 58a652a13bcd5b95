//! Signs of confidence, agreement of annotators, and the corpus query.

use interlinear::analysis::concordance::{ConcordanceQuery, ConcordanceSentence};
use interlinear::analysis::confidence::{CONFIDENCES, TranslationSigns, argmax, unattended};
use interlinear::analysis::kappa::{Confusion, PairVote, of_links, shared};
use interlinear::analysis::{alignment::Alignment, row_convention::RowConvention};
use interlinear::text::links::{Link, Links};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
    pairs.iter().map(|&(source, target)| Link { source, target }).collect()
}

/// The example of the README of SoftAlignments (Rikters et al. 2017), 4 by 7.
const PUBLISHED: [f32; 28] = [
    0.723834, 0.0471278, 0.126415, 0.000413103, 0.000774298, 0.000715227, 0.10072, //
    0.00572539, 0.743366, 0.0342341, 0.000315413, 0.00550132, 0.00150629, 0.209351, //
    0.0122618, 0.0073559, 0.909192, 0.000606444, 0.00614908, 0.00256837, 0.0618667, //
    0.00110054, 0.0214063, 0.0759918, 0.000446028, 0.104856, 0.0435644, 0.752634,
];

const GAP: [f32; 12] = [0.25, 0.75, 0.0, 0.0, 0.75, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn alpha(weights: &[f32], columns: usize) -> Alignment {
    Alignment::new(weights.to_vec(), columns).expect("whole rows")
}

fn close(name: &str, seen: &TranslationSigns<'_>, expect: Option<f64>) {
    let value = (CONFIDENCES.iter().find(|entry| entry.name == name).unwrap().of)(seen);
    let near = value.zip(expect).is_some_and(|(value, expect)| (value - expect).abs() < 1e-6);
    assert!(near || value == expect, "{name}: {value:?}, not {expect:?}");
}

#[test]
fn confidence_is_the_published_one() {
    let seen = TranslationSigns { alpha: alpha(&PUBLISHED, 7), ..TranslationSigns::default() };
    for (name, expect) in [
        ("cdp", -0.2921321515),
        ("ap_in", -0.6299903148),
        ("ap_out", -0.72355576),
        ("confidence", -0.2921321515 - 0.6299903148 - 0.72355576),
    ] {
        close(name, &seen, Some(expect));
    }
}

#[test]
fn a_word_that_nothing_looks_at_is_counted_and_never_free() {
    let (source, target) = (words("a b c </s>"), words("d e </s>"));
    let seen =
        TranslationSigns { alpha: alpha(&GAP, 4), source: &source, target: &target, ..TranslationSigns::default() };
    assert_eq!(unattended(&seen, 0.2), [2]);
    let spread = (0.25_f64 * 0.25_f64.ln()) + 0.75 * 0.75_f64.ln();
    for (name, expect) in [
        ("unattended", 1.0),
        ("cdp", -std::f64::consts::LN_2 / 4.0),
        // Two spread columns and </s>; the one of 0 does not make the mean better.
        ("ap_in", 2.0 * spread / 3.0),
        ("ap_out", 2.0 * spread / 3.0),
        ("entropy", -2.0 * spread / 3.0),
        ("monotonicity", 0.0),
        ("jump", 1.0),
        ("eos_attention", 0.0),
        ("length_ratio", 2.0 / 3.0),
        ("unk", 0.0),
        ("repetition", 0.0),
    ] {
        close(name, &seen, Some(expect));
    }
    assert_eq!(argmax(&seen), links(&[(1, 0), (0, 1)]));
    close("disagreement", &seen, None);
    let drawn = Links::new(links(&[(1, 0)]), links(&[(2, 1)]));
    let seen = TranslationSigns { links: Some(&drawn), ..seen };
    close("disagreement", &seen, Some(0.5));
    // by a head, the first word comes from no word: more of its weight is at `</s>`
    let alpha = Alignment::from_rows(&[vec![0.1, 0.3, 0.0, 0.6], vec![0.9, 0.0, 0.0, 0.1], vec![0.0, 0.0, 0.0, 1.0]]);
    let by_head = TranslationSigns { alpha: alpha.clone(), reading: RowConvention::Head, ..seen.clone() };
    assert_eq!(argmax(&by_head), links(&[(0, 1)]));
    close("disagreement", &by_head, Some(1.0));
    assert_eq!(argmax(&TranslationSigns { alpha, ..seen }), links(&[(1, 0), (0, 1)]));
}

/// An alignment head has no row for the last token: means over rows are those of the rows before it, whether the matrix keeps a
/// place for it or not. The numbers are -sum x ln x in Python's double precision, the mean over the two rows.
#[test]
fn means_are_over_rows_that_exist() {
    let (source, target) = (words("a b </s>"), words("c d </s>"));
    let rows = [[0.7, 0.2, 0.1], [0.25, 0.5, 0.25]];
    let kept: Vec<[f32; 3]> = rows.into_iter().chain([[0.0; 3]]).collect();
    // Of local attention a row may sum to less than 1, and exists.
    let local = [[0.7, 0.2, 0.1], [0.1, 0.0, 0.0], [0.0; 3]];
    for (rows, entropy, eos) in
        [(&rows[..], 0.9207696, 0.175), (&kept[..], 0.9207696, 0.175), (&local[..], 0.5160385, 0.05)]
    {
        let alpha = Alignment::from_rows(rows);
        let seen = TranslationSigns { alpha, source: &source, target: &target, ..TranslationSigns::default() };
        close("entropy", &seen, Some(entropy));
        close("ap_out", &seen, Some(-entropy));
        close("eos_attention", &seen, Some(eos));
        let value = |name: &str| (CONFIDENCES.iter().find(|entry| entry.name == name).unwrap().of)(&seen).unwrap();
        close("confidence", &seen, Some(value("cdp") + value("ap_in") - entropy));
    }
    // A translation that was cut off: its last word has no row of a head, and is no word that does not look at `</s>`.
    let cut = words("c d e");
    let seen = TranslationSigns {
        alpha: Alignment::from_rows(&kept),
        source: &source,
        target: &cut,
        ..TranslationSigns::default()
    };
    close("eos_attention", &seen, Some(0.175));
}

#[test]
fn what_is_not_there_has_no_value() {
    for entry in CONFIDENCES {
        assert_eq!((entry.of)(&TranslationSigns::default()), None, "{}", entry.name);
    }
    let target = words("the the the [UNK] <unk> </s>");
    let seen = TranslationSigns { target: &target, ..TranslationSigns::default() };
    close("repetition", &seen, Some(0.25));
    close("unk", &seen, Some(2.0));
    close("confidence", &seen, None);
}

#[test]
fn kappa_is_cohens() {
    // Cohen's own kind of table: 20 and 15 agreed, 5 and 10 not.
    let mut table = Confusion::default();
    for (one, other, count) in [("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)] {
        table.add(one, other, count);
    }
    let of = |pairs: &[(u8, u8)]| {
        let mut table = Confusion::default();
        for (one, other) in pairs {
            table.add(*one, *other, 1);
        }
        table.kappa()
    };
    let kappa = table.kappa().unwrap();
    assert_eq!((kappa.items, kappa.agreed), (50, 35));
    assert!((kappa.observed - 0.7).abs() < 1e-12 && (kappa.expected - 0.5).abs() < 1e-12);
    assert!((kappa.kappa.unwrap() - 0.4).abs() < 1e-12);
    assert_eq!(of(&[(1, 1), (1, 1)]).unwrap().kappa, None);
    assert_eq!(of(&[]), None);
    assert!((of(&[(1, 2), (2, 1)]).unwrap().kappa.unwrap() + 1.0).abs() < 1e-12);
}

#[test]
fn annotators_agree_on_links() {
    let first = Links::new(links(&[(0, 0), (1, 1)]), links(&[(2, 2)]));
    let second = Links::new(links(&[(0, 0)]), links(&[(1, 1), (1, 2)]));
    let mut all = of_links(&first, &second, 3, 3);
    let counts: Vec<(PairVote, PairVote, u64)> =
        all.counts().map(|(one, other, count)| (*one, *other, count)).collect();
    let expect = [
        (PairVote::Apart, PairVote::Apart, 5),
        (PairVote::Apart, PairVote::Possible, 1),
        (PairVote::Possible, PairVote::Apart, 1),
        (PairVote::Sure, PairVote::Possible, 1),
        (PairVote::Sure, PairVote::Sure, 1),
    ];
    assert_eq!(counts, expect);
    assert_eq!(shared(&all), Some(4.0 / 6.0));
    all.add_all(&of_links(&first, &first, 3, 3));
    assert_eq!(all.kappa().unwrap().agreed, 15);
    assert_eq!(shared(&of_links(&Links::default(), &Links::default(), 2, 2)), None);
}

const SOURCE: &str = "the Old red house and the red car";
const OUTPUT: &str = "la vieille maison rouge et la voiture rouge";
const LINKS: &[(usize, usize)] = &[(0, 0), (1, 1), (2, 3), (3, 2), (4, 4), (5, 5), (6, 7), (7, 6)];

type Case = (&'static str, &'static [(&'static [usize], &'static [Option<usize>], &'static [usize])]);

const QUERIES: &[Case] = &[
    ("red", &[(&[2], &[None], &[]), (&[6], &[None], &[])]),
    ("RED house", &[(&[2, 3], &[None, None], &[])]),
    ("old house", &[]),
    ("old ..1 house", &[(&[1, 3], &[None, None], &[])]),
    ("{old, red} /h.*|c.r/", &[(&[2, 3], &[None, None], &[]), (&[6, 7], &[None, None], &[])]),
    ("/Old/", &[(&[1], &[None], &[])]),
    ("/old/", &[]),
    ("/ol/", &[]),
    ("old -> vieille", &[(&[1], &[Some(1)], &[])]),
    ("red -> /rou.*/ car", &[(&[6, 7], &[Some(7), None], &[])]),
    ("red->maison", &[]),
    ("red .. _ -> la", &[(&[2, 5], &[None, Some(5)], &[])]),
    ("{old, red} ..1 house crossing", &[(&[2, 3], &[Some(3), Some(2)], &[])]),
    ("the _ crossing", &[]),
    ("| la ..1 maison", &[(&[], &[], &[0, 2])]),
    ("car | rouge ..9 voiture", &[(&[7], &[None], &[3, 6])]),
    ("car | voiture maison", &[]),
    ("red -> _ house -> _ | maison crossing", &[(&[2, 3], &[Some(3), Some(2)], &[2])]),
    ("\"red\" {\"house\"}", &[(&[2, 3], &[None, None], &[])]),
];

#[test]
fn a_query_finds_words_and_links() {
    let (source, output, links) = (words(SOURCE), words(OUTPUT), links(LINKS));
    let sentence = ConcordanceSentence { source: &source, output: &output, links: &links, chunks: None };
    for (text, expect) in QUERIES {
        let found = ConcordanceQuery::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).find(&sentence);
        let hits: Vec<_> = found
            .hits
            .iter()
            .map(|hit| (hit.source.as_slice(), hit.linked.as_slice(), hit.output.as_slice()))
            .collect();
        assert_eq!((hits.as_slice(), found.is_complete), (*expect, true), "{text}");
    }
}

#[test]
fn a_query_that_says_nothing_is_refused_with_the_column() {
    for (text, expect) in [
        ("", "column 1: there is no word to look for"),
        ("  crossing", "column 3: `crossing` needs two source words"),
        ("a crossing", "column 3: `crossing` needs two source words"),
        ("é {a, b", "column 3: the list has no `}` at its end"),
        ("{ , }", "column 1: the list is empty"),
        ("{a | b}", "column 4: is no word of a list"),
        ("a }", "column 3: `}` closes no list"),
        ("a /b", "column 3: the regular expression has no `/` at its end"),
        ("a /b(/", "column 3: `/b(/` is no regular expression (unclosed group)"),
        ("\"a", "column 1: the quotation mark is not closed"),
        ("a ->", "column 5: `->` leads to a word"),
        ("a -> | b", "column 6: `->` leads to a word"),
        ("-> a", "column 1: an arrow leads from a source word; there is none before it"),
        ("a | b -> c", "column 7: `->` leads from a source word to an output word"),
        ("..2 a", "column 1: a distance stands between two words; there is none before it"),
        ("a ..2", "column 3: a distance stands between two words; there is none behind it"),
        ("a ..99999999999999999999 b", "column 3: `..99999999999999999999` is too far"),
        ("a |", "column 4: there is nothing behind `|`"),
        ("a b crossing c", "column 14: is behind the end"),
        ("a b c d e f g h i j k l m n o p q", "column 33: is one word too many"),
    ] {
        let said = ConcordanceQuery::parse(text).map_or_else(|error| error.to_string(), |query| format!("{query:?}"));
        assert!(said.starts_with(expect), "{text}: {said}");
    }
}

#[test]
fn a_query_without_bounds_gives_up_in_time() {
    let source: Vec<String> = (0..500).map(|n| format!("w{n}")).collect();
    let sentence = ConcordanceSentence { source: &source, output: &[], links: &[], chunks: None };
    let found = ConcordanceQuery::parse("_ .. _ .. _ .. /x/").unwrap().find(&sentence);
    assert_eq!((found.hits.len(), found.is_complete), (0, false));
    let found = ConcordanceQuery::parse("_ .. _").unwrap().find(&sentence);
    assert_eq!((found.hits.len(), found.is_complete), (100, false));
}
