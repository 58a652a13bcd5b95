//! What is read off alignments, and BLEU against the numbers of sacreBLEU 2.6.0.

mod bootstrap;
mod confidence;
mod linked;
mod scores;

use interlinear::analysis::bleu::{BleuCounts, BleuSettings, Tokenization};
use interlinear::analysis::row_convention::{READINGS, RowConvention};
use interlinear::analysis::{alignment::Alignment, buckets::Buckets};
use interlinear::analysis::{bleu, chrf, divergence, hard, mteval};

const SACREBLEU: &[(&[&str], &[&str], f64)] = &[
    (&["The cat sat on the mat."], &["The cat sat on the mat."], 100.0),
    (&["The cat sat on a mat."], &["The cat is sitting on the mat."], 17.026116978186884),
    (
        &["The cat sat on the mat.", "A dog barks."],
        &["The cat sat on the mat, quietly.", "Two dogs bark loudly at night."],
        38.723795408261374,
    ),
    (&["It costs 3.50 euros, not 3,5."], &["It costs 3.50 euros - not 3.5!"], 36.55552228545123),
    (&["L'homme qu'elle aime n'est pas venu."], &["L'homme qu'elle aimait n'est pas encore venu."], 19.721218241637786),
    (&["He said &quot;no&quot; &amp; left."], &["He said \"no\" & left the room."], 67.71219109764864),
    (&["From 1999-2004 the U.S. grew."], &["From 1999 - 2004 the U.S. economy grew."], 77.72460244048297),
    (&["yes", "no"], &["yes", "no"], 0.0),
    (&[""], &["nothing came out"], 0.0),
    (&["completely different words here"], &["nothing matches in this reference"], 0.0),
    (&["Das Café — « très » cher… 50 %"], &["Das Café — «très» cher… 50%"], 29.84745896009822),
];

#[test]
fn bleu_is_that_of_sacrebleu() {
    for (hypotheses, references, expect) in SACREBLEU {
        let score = bleu::corpus(hypotheses, references, &BleuSettings::default()).score;
        assert!((score - expect).abs() < 1e-9, "{hypotheses:?}: {score}, not {expect}");
    }
}

#[test]
fn bleu_takes_several_references_and_tokenised_text() {
    let fox = "The quick fox jumps over the dog .";
    let foxes = ["The quick brown fox jumps over the lazy dog .", "A fast fox leaps over the dog ."];
    let cases: &[(&str, &[&str], Tokenization, f64)] = &[
        (fox, &foxes, Tokenization::Mteval13a, 69.14415692838826),
        (fox, &foxes, Tokenization::None, 69.14415692838826),
        ("Hello, world!", &["Hello , world !"], Tokenization::Mteval13a, 100.0),
        ("Hello, world!", &["Hello , world !"], Tokenization::None, 0.0),
    ];
    for (hypothesis, references, tokenization, expect) in cases {
        let settings = BleuSettings { tokenization: *tokenization, ..BleuSettings::default() };
        let score = BleuCounts::of(hypothesis, references, &settings).bleu().score;
        assert!((score - expect).abs() < 1e-9, "{hypothesis}: {score}, not {expect}");
    }
}

#[test]
fn bleu_counts_of_sentences_add_up() {
    let (hypotheses, references, expect) = SACREBLEU[2];
    let count = |(text, reference): (&&str, &&str)| BleuCounts::of(text, &[reference], &BleuSettings::default());
    let counts: BleuCounts = hypotheses.iter().zip(references).map(count).sum();
    assert!((counts.bleu().score - expect).abs() < 1e-9);
    assert_eq!(counts.total[0], 11);
}

#[test]
fn text_is_cut_as_mteval_does() {
    let cases = [
        ("Hello, world!", "Hello , world !"),
        ("1,000.5 and .5 or 5.", "1,000.5 and . 5 or 5 ."),
        ("don't well-known 10-20 -3", "don't well-known 10 - 20 -3"),
        ("wait...", "wait . . ."),
        ("a&amp;b &lt;i&gt; <skipped>", "a & b < i >"),
        ("«été» \u{a0} 50%", "«été» 50 %"),
        ("a\u{1c}b", "a b"),
        ("", ""),
    ];
    for (text, expect) in cases {
        assert_eq!(mteval::tokenize(text, Tokenization::Mteval13a), expect, "{text}");
    }
}

#[test]
fn signatures_name_the_settings() {
    let usual = BleuSettings::default().signature(Some(1));
    assert!(usual.starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:interlinear-"), "{usual}");
    let settings = BleuSettings { tokenization: Tokenization::None, lowercase: true };
    assert!(settings.signature(Some(3)).starts_with("nrefs:3|case:lc|eff:no|tok:none|smooth:exp|version:interlinear-"));
    let settings = BleuSettings { tokenization: Tokenization::International, lowercase: false };
    assert!(settings.signature(None).starts_with("nrefs:var|case:mixed|eff:no|tok:intl|smooth:exp|"));
    assert!(
        chrf::signature(Some(2), false).starts_with("nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:interl")
    );
}

fn matrix() -> Vec<Vec<f32>> {
    // Three target words and </s>; two source words and </s>.
    vec![vec![0.75, 0.25, 0.0], vec![0.25, 0.25, 0.5], vec![0.0, 0.0, 1.0], vec![0.0, 0.5, 0.5]]
}

#[test]
fn an_alignment_can_be_cut_to_its_words() {
    let rows = matrix();
    let all = Alignment::from_rows(&rows);
    assert_eq!((all.rows(), all.columns()), (4, 3));
    assert_eq!(all.row_sums(), [1.0; 4]);
    let words = all.words(3, 2);
    assert_eq!(words.row_sums(), [1.0, 0.5, 0.0]);
    assert_eq!((words.get(0, 0), words.get(0, 2), words.get(3, 0)), (Some(0.75), None, None));
    assert_eq!(all.words(9, 9).columns(), 3);
    assert!(Alignment::default().row_sums().is_empty());
}

#[test]
fn links_go_to_the_greatest_weight_among_words() {
    let rows = matrix();
    let links = hard::links(&Alignment::from_rows(&rows).words(3, 2));
    // The second row is a tie: the first source word wins. The third looks at </s> alone: no link is invented.
    assert_eq!(hard::pharaoh(&links), "0-0 0-1");
    assert_eq!(hard::pharaoh(&hard::links(&Alignment::from_rows(&rows))), "0-0 2-1 2-2 1-3");
    assert_eq!(hard::pharaoh(&[]), "");
}

#[test]
fn a_word_that_a_head_sends_to_the_end_has_no_link() {
    let rows = [[0.5, 0.25, 0.25], [0.25, 0.375, 0.375], [0.25, 0.25, 0.5], [0.0, 0.125, 0.875]].map(Vec::from);
    let words = Alignment::from_rows(&rows).words(4, 2);
    assert_eq!(hard::pharaoh(&RowConvention::Head.links(&words)), "0-0 1-1");
    for reading in [RowConvention::Predicted, RowConvention::Input] {
        assert_eq!(reading.links(&words), hard::links(&words));
    }
}

#[test]
fn entropy_is_in_nats() {
    let cases: &[(&[f32], f32)] = &[(&[1.0, 0.0], 1.0), (&[0.5, 0.5], 2.0), (&[0.25; 4], 4.0), (&[], 1.0)];
    for (row, alike) in cases {
        assert!((divergence::entropy(row) - alike.ln()).abs() < 1e-6, "{row:?}");
    }
}

#[test]
fn every_length_is_in_one_bucket() {
    let names =
        [(0, None), (1, Some("1-10")), (10, Some("1-10")), (11, Some("11-20")), (60, Some("51-60")), (61, Some("61+"))];
    let usual = Buckets::default();
    for (words, expect) in names {
        assert_eq!(usual.bucket(words).map(|at| usual.all()[at].name.as_str()), expect, "{words}");
    }
    assert!((1..200).all(|words| usual.bucket(words).is_some()));
    let own = Buckets::new(&[1, 5]).expect("they rise");
    assert_eq!(own.all().iter().map(|bucket| bucket.name.as_str()).collect::<Vec<_>>(), ["1", "2-5", "6+"]);
    assert_eq!(Buckets::new(&[]).expect("one for all").all()[0].name, "1+");
    for ends in [&[0, 5][..], &[5, 5], &[9, 3], &[usize::MAX]] {
        assert!(Buckets::new(ends).is_err(), "{ends:?}");
    }
}

#[test]
fn rows_belong_to_the_word_predicted_or_to_the_word_read() {
    let alpha = vec![vec![0.9, 0.1, 0.0], vec![0.2, 0.7, 0.1], vec![0.0, 0.1, 0.9]];
    assert_eq!(RowConvention::Predicted.assign_after(1, &alpha).as_ref(), alpha.as_slice());
    let read = RowConvention::Input.assign_after(1, &alpha);
    assert_eq!(read.as_ref(), [alpha[1].clone(), alpha[2].clone(), vec![0.0; 3]]);
    // Of two words and `</s>` on both sides, as the word read each is linked to what the step after it looked at.
    let links = |rows: &[Vec<f32>]| hard::pharaoh(&hard::links(&Alignment::from_rows(rows).words(2, 2)));
    assert_eq!((links(&alpha).as_str(), links(&read).as_str()), ("0-0 1-1", "1-0 1-1"));
    assert!(RowConvention::Input.assign_after(1, &[]).is_empty());
    assert_eq!((RowConvention::Input.row_after(1, 1, 2), RowConvention::Predicted.row_after(1, 1, 2)), (None, Some(1)));
    assert!(READINGS.iter().all(|entry| RowConvention::from_name(entry.name) == Some(entry.reading)));
    assert!(READINGS.iter().all(|entry| (entry.reading.name(), entry.reading.about()) == (entry.name, entry.about)));
    assert_eq!(READINGS[0].reading, RowConvention::default());
}
