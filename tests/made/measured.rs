//! Results of an evaluation, made by hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use interlinear::analysis::bleu::{BleuSettings, SIGNATURE};
use interlinear::analysis::buckets::Buckets;
use interlinear::analysis::{aer, chrf};
use interlinear::app::effect::Effect;
use interlinear::corpus::measures::scores::{ComparedScores, PairedTests};
use interlinear::corpus::overview::evaluated::{
    Against, Evaluated, EvaluationRecord, EvaluationReport, MeasuredSystem, Translation, compare, known, rows,
};
use interlinear::corpus::overview::gold;
use interlinear::corpus::overview::test_set::{TestPair, Unk};
use interlinear::decoding;
use interlinear::evaluation::alignment::{AlignerDirection, Extraction};
use interlinear::jobs::corpus::thread::CorpusThread;
use interlinear::jobs::queue::{Found, QueueEvent, QueueNews};
use interlinear::pages::corpus::CorpusPage;
use interlinear::pages::corpus::command::CorpusCommand;
use interlinear::pages::evaluation::command::{EvaluationCommand, TestCommand};
use interlinear::session::state::Session;
use interlinear::text::links::Links;
use interlinear::text::links::read::{Base, GoldLinks, LinkOrder, Notation};

/// Lets the corpus thread answer what a session asks, until the page is so.
pub fn answer(session: &mut Session, thread: &CorpusThread, until: impl Fn(&CorpusPage) -> bool) {
    loop {
        for effect in session.take_effects() {
            if let Effect::Corpus(request) = effect {
                thread.send(request);
            }
        }
        if until(session.corpus()) {
            return;
        }
        let news = thread.news.next_within(Duration::from_secs(30)).expect("the thread answers");
        session.absorb_corpus_news(news);
    }
}

/// Evaluates with these results, and opens the first sentence on page Sentence.
pub fn open_first(session: &mut Session, results: Evaluated) {
    session.apply(TestCommand::SetSource(Some("a.en".into())));
    session.apply(TestCommand::AddReference("a.fr".into()));
    session.apply(EvaluationCommand::Run);
    let number = session.evaluation().task.expect("it runs");
    session.absorb_corpus(QueueEvent { number, kind: QueueNews::Found(Found::Evaluated(results)) });
    session.apply(EvaluationCommand::ShowSentences);
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    answer(session, &thread, |page| !page.rows.is_empty());
    session.apply(CorpusCommand::Select(Some(0)));
    answer(session, &thread, |page| page.detail.is_some());
    session.apply(CorpusCommand::OpenSentence);
}

/// What a model made of these pairs: (source, reference, translation).
pub fn measured(name: &str, pairs: &[(&str, &str, &str)]) -> MeasuredSystem {
    let records: Vec<EvaluationRecord> =
        pairs.iter().map(|(source, reference, output)| record(source, reference, output)).collect();
    let unk = vec![Unk::Allowed];
    let report = EvaluationReport {
        name: name.to_owned(),
        architecture: "rnnsearch",
        folder: PathBuf::from(name),
        mixing: None,
        test_set: "shoes.en".to_owned(),
        search: decoding::SearchOptions::default(),
        replaced: false,
        batch: 16,
        rows: rows(&records, &known(&[&records]), &unk, &Buckets::default()),
        unk,
        bleu_signature: SIGNATURE.to_owned(),
        chrf_signature: chrf::signature(Some(1), false),
        seconds: None,
        translated: records.len(),
        words: 100,
        records,
    };
    let words_per_second = Some(321.0);
    MeasuredSystem {
        report,
        words_per_second,
        alignment: None,
        importances: Vec::new(),
        device: "cpu".to_owned(),
        threads: 1,
    }
}

fn record(source: &str, reference: &str, output: &str) -> EvaluationRecord {
    let counts = ComparedScores::of(output, &[reference], &BleuSettings::default());
    let words = |text: &str| text.split_whitespace().count();
    EvaluationRecord {
        pair: TestPair { source: source.into(), references: [Arc::from(reference)].into() },
        source_words: words(source),
        words: words(reference) + 1,
        tokens: words(reference) + 1,
        nll: words(reference) as f64,
        source_unk: source.contains("zorglub"),
        reference_unk: false,
        translations: vec![Translation {
            text: output.to_owned(),
            words: words(output) + 1,
            has_unk: false,
            bleu: counts.bleu.sentence(),
            counts,
        }],
    }
}

/// These models, every two compared.
pub fn evaluated(models: Vec<MeasuredSystem>) -> Evaluated {
    let models: Vec<Arc<MeasuredSystem>> = models.into_iter().map(Arc::new).collect();
    let mut comparisons = Vec::new();
    for second in 1..models.len() {
        for first in 0..second {
            let mut found = compare(
                &models[first].report,
                &models[second].report,
                PairedTests { bootstrap: 40, randomisation: 40, seed: 1 },
            );
            comparisons.extend(found.next().map(|(unk, by)| Against { pair: (first, second), unk, by }));
        }
    }
    Evaluated { models, comparisons, ..Evaluated::default() }
}

/// A file of links by hand.
pub fn gold(pairs: Vec<Links>) -> (PathBuf, GoldLinks) {
    let (notation, base, order) = (Notation::Pharaoh, Base::One, LinkOrder::SourceFirst);
    (PathBuf::from("gold"), GoldLinks { pairs, notation, base, order, note: "Words are counted from 1.".to_owned() })
}

/// Links that were right so often, of 100, with the greatest alpha and with two thresholds.
pub fn alignments(right: u64) -> gold::AlignmentErrorReport {
    let rows = [(None, right), (Some(0.2), right - 10), (Some(0.5), right - 5)].map(|(threshold, right)| {
        gold::AlignmentErrorRow {
            direction: AlignerDirection::Forward,
            extraction: Extraction { threshold, ..Extraction::default() },
            counts: aer::AerCounts { found: 100, sure: 100, found_sure: right, found_possible: right },
        }
    });
    let name = "RNNsearch".to_owned();
    gold::AlignmentErrorReport { name, reverse: None, rows: rows.into(), sentences: Vec::new(), links: Vec::new() }
}

/// Four sentences: the second model is better at the third, and worse at the last.
pub fn two_models() -> Evaluated {
    let sources = [
        ("the red shoe is here", "la chaussure rouge est ici"),
        ("a dog sleeps", "un chien dort"),
        (
            "the old man reads a long book about the sea and its ships",
            "le vieil homme lit un long livre sur la mer et ses bateaux",
        ),
        ("zorglub sings", "zorglub chante"),
    ];
    let outputs = [
        ["la chaussure rouge est ici", "un chien dort", "le vieux lit", "zorglub chante"],
        [
            "la chaussure rouge est ici",
            "un chien dort",
            "le vieil homme lit un long livre sur la mer et ses bateaux",
            "il rit",
        ],
    ];
    let of = |name: &str, outputs: &[&str; 4]| {
        let pairs: Vec<(&str, &str, &str)> =
            sources.iter().zip(outputs).map(|((source, reference), output)| (*source, *reference, *output)).collect();
        measured(name, &pairs)
    };
    let (mut first, mut second) = (of("RNNencdec", &outputs[0]), of("RNNsearch", &outputs[1]));
    first.alignment = Some(Err("RNNencdec has no alignment".to_owned()));
    second.alignment = Some(Ok(alignments(80)));
    let mut both = evaluated(vec![first, second]);
    both.gold = Some(gold(Vec::new()));
    both
}
