//! Links read off alpha, held against the annotators', and two directions put together.

use interlinear::analysis::alignment::Alignment;
use interlinear::analysis::symmetrize::{SYMMETRIZATIONS, symmetrization};
use interlinear::analysis::{aer, hard};
use interlinear::text::links::{Link, Links};

fn both(text: &str) -> (Vec<Link>, Vec<Link>) {
    let link = |mark: char| {
        let link = move |word: &str| {
            let (source, target) = word.split_once(mark)?;
            Some(Link { source: source.parse().ok()?, target: target.parse().ok()? })
        };
        text.split_whitespace().filter_map(link).collect()
    };
    (link('-'), link('?'))
}

fn sure(text: &str) -> Vec<Link> {
    both(text).0
}

fn gold(text: &str) -> Links {
    let (sure, possible) = both(text);
    Links::new(sure, possible)
}

#[test]
fn error_rates_are_those_of_och_and_ney() {
    // Found, gold, then |A|, |S|, |A ∩ S|, |A ∩ P|, and precision, recall and AER by hand.
    let cases = [
        ("0-0 1-1", "0-0 1-1", [2, 2, 2, 2], [Some(1.0), Some(1.0), Some(0.0)]),
        ("0-0 1-1", "0-0 1?1", [2, 1, 1, 2], [Some(1.0), Some(1.0), Some(0.0)]),
        ("0-0 1-2 2-1", "0-0 1-1 2?1", [3, 2, 1, 2], [Some(2.0 / 3.0), Some(0.5), Some(0.4)]),
        ("0-0 0-0 3-3", "0-0 1-1", [2, 2, 1, 1], [Some(0.5), Some(0.5), Some(0.5)]),
        ("", "0-0 1?1", [0, 1, 0, 0], [None, Some(0.0), Some(1.0)]),
        ("0-0", "", [1, 0, 0, 0], [Some(0.0), None, Some(1.0)]),
        ("0-0", "0?0", [1, 0, 0, 1], [Some(1.0), None, Some(0.0)]),
        ("", "", [0, 0, 0, 0], [None, None, None]),
    ];
    for (found, links, [all, s, in_s, in_p], rates) in cases {
        let counts = aer::AerCounts::of(&sure(found), &gold(links));
        let expect = aer::AerCounts { found: all, sure: s, found_sure: in_s, found_possible: in_p };
        assert_eq!(counts, expect, "{found} | {links}");
        let aer::AerRates { precision, recall, aer } = counts.rates();
        for (rate, expect) in [precision, recall, aer].into_iter().zip(rates) {
            let near = rate.zip(expect).map_or(rate == expect, |(rate, expect)| (rate - expect).abs() < 1e-12);
            assert!(near, "{found} | {links}: {rate:?}, not {expect:?}");
        }
    }
}

#[test]
fn sentences_are_pooled() {
    let pairs = [("0-0 1-1", "0-0 1?1"), ("0-1", "0-0 1-1"), ("", "")];
    let counts: Vec<aer::AerCounts> = pairs.iter().map(|(a, b)| aer::AerCounts::of(&sure(a), &gold(b))).collect();
    let all: aer::AerCounts = counts.iter().sum();
    // |A| = 3, |S| = 3, |A ∩ S| = 1, |A ∩ P| = 2.
    assert_eq!(all.rates(), aer::AerRates { precision: Some(2.0 / 3.0), recall: Some(1.0 / 3.0), aer: Some(0.5) });
}

#[test]
fn links_above_a_threshold_are_all_read() {
    let rows = vec![vec![0.6, 0.3, 0.1], vec![0.0, 0.5, 0.5], vec![0.0, 0.0, 0.0], vec![0.2, 0.2, 0.2]];
    let cases = [
        (0.0, "0-0 1-0 2-0 1-1 2-1 0-3 1-3 2-3"),
        (0.2, "0-0 1-0 1-1 2-1 0-3 1-3 2-3"),
        (0.5, "0-0 1-1 2-1"),
        (0.55, "0-0"),
        (1.0, ""),
    ];
    for (theta, expect) in cases {
        assert_eq!(hard::pharaoh(&hard::links_above(&Alignment::from_rows(&rows), theta)), expect, "{theta}");
    }
    // Words that are cut off have no links.
    assert_eq!(hard::pharaoh(&hard::links_above(&Alignment::from_rows(&rows).words(2, 2), 0.1)), "0-0 1-0 1-1");
}

/// Forward and backward links, then intersection, grow-diag, grow-diag-final-and, grow-diag-final and union. The last three
/// cases are what Moses' `symal` answers; the others are by hand.
const DIRECTIONS: &[(&str, &str, [&str; 5])] = &[
    ("", "", ["", "", "", "", ""]),
    // Without a common link nothing grows; final-and takes links whose words are both free, the forward ones first.
    ("0-0", "0-1", ["", "", "0-0", "0-0 0-1", "0-0 0-1"]),
    // A neighbour that touches a free word is taken, a far one is not.
    ("0-0 0-1 3-3", "0-0", ["0-0", "0-0 0-1", "0-0 0-1 3-3", "0-0 0-1 3-3", "0-0 0-1 3-3"]),
    // A neighbour between two linked words is left out.
    ("0-0 1-1 0-1", "0-0 1-1", ["0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0 1-1", "0-0 0-1 1-1"]),
    (
        "1-1 1-2 3-0 5-3",
        "0-0 1-0 2-0 3-0 4-3 5-1",
        [
            "3-0",
            "0-0 1-0 1-1 1-2 2-0 3-0",
            "0-0 1-0 1-1 1-2 2-0 3-0 5-3",
            "0-0 1-0 1-1 1-2 2-0 3-0 4-3 5-3",
            "0-0 1-0 1-1 1-2 2-0 3-0 4-3 5-1 5-3",
        ],
    ),
    (
        "0-0 3-3 4-5 5-4",
        "0-0 1-0 2-0 3-3 4-2 5-5",
        [
            "0-0 3-3",
            "0-0 1-0 2-0 3-3 4-2",
            "0-0 1-0 2-0 3-3 4-2 5-4",
            "0-0 1-0 2-0 3-3 4-2 4-5 5-4",
            "0-0 1-0 2-0 3-3 4-2 4-5 5-4 5-5",
        ],
    ),
    (
        "0-2 2-0 2-3 3-4",
        "0-0 1-1 2-4 3-4",
        ["3-4", "2-3 2-4 3-4", "0-2 1-1 2-3 2-4 3-4", "0-2 1-1 2-0 2-3 2-4 3-4", "0-0 0-2 1-1 2-0 2-3 2-4 3-4"],
    ),
];

#[test]
fn two_directions_are_put_together_as_moses_does() {
    let names = ["intersection", "grow-diag", "grow-diag-final-and", "grow-diag-final", "union"];
    for (forward, backward, expect) in DIRECTIONS {
        for (name, expect) in names.iter().zip(expect) {
            let way = symmetrization(name).expect("it has a line in the table");
            let links = (way.combine)(&sure(forward), &sure(backward));
            assert_eq!(hard::pharaoh(&links), *expect, "{name} of {forward} | {backward}");
        }
    }
    assert_eq!(SYMMETRIZATIONS.iter().map(|way| way.name).collect::<Vec<_>>(), names);
    assert!(symmetrization("shrink").is_none());
}

#[test]
fn every_way_lies_between_intersection_and_union() {
    for (forward, backward, _) in DIRECTIONS {
        let of = |name: &str| (symmetrization(name).expect("it is there").combine)(&sure(forward), &sure(backward));
        let (few, many) = (of("intersection"), of("union"));
        for way in SYMMETRIZATIONS {
            let links = (way.combine)(&sure(forward), &sure(backward));
            assert!(few.iter().all(|link| links.contains(link)) && links.iter().all(|link| many.contains(link)));
            assert!(links.is_sorted() && !way.about.is_empty(), "{}", way.name);
        }
    }
}
