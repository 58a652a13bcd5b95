//! Results of an evaluation, made by hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use interlinear::analysis::aer;
use interlinear::analysis::bleu::BleuSettings;
use interlinear::analysis::bootstrap::PairedTests;
use interlinear::app::effect::Effect;
use interlinear::corpus::measures::scores::ComparedScores;
use interlinear::corpus::overview::evaluated::{Evaluated, EvaluationRecord, MeasuredSystem, Translation};
use interlinear::corpus::overview::gold;
use interlinear::corpus::overview::test_set::{EvaluationOptions, TestSet};
use interlinear::corpus::store::write::NewSentence;
use interlinear::evaluation::alignment::{AlignerDirection, Extraction};
use interlinear::jobs::corpus::thread::CorpusThread;
use interlinear::jobs::queue::{Found, QueueEvent, QueueNews};
use interlinear::pages::corpus::CorpusPage;
use interlinear::pages::corpus::command::CorpusCommand;
use interlinear::pages::evaluation::command::{EvaluationCommand, TestCommand};
use interlinear::session::state::Session;
use interlinear::text::links::Links;

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

/// A source, its reference and what a model made of it.
pub type Pair<'a> = (&'a str, &'a str, &'a str);

fn measured(name: &str, pairs: &[Pair<'_>]) -> MeasuredSystem {
    MeasuredSystem {
        name: name.to_owned(),
        architecture: "rnnsearch",
        folder: PathBuf::from(name),
        words_per_second: Some(321.0),
        records: pairs.iter().map(record).collect(),
        device: "cpu".to_owned(),
        threads: 1,
        ..MeasuredSystem::default()
    }
}

fn record((source, reference, output): &Pair<'_>) -> EvaluationRecord {
    let words = |text: &str| text.split_whitespace().count();
    EvaluationRecord {
        tokens: words(reference) + 1,
        nll: words(reference) as f64,
        source_unk: source.contains("zorglub"),
        reference_unk: false,
        translations: vec![Translation {
            text: (*output).to_owned(),
            words: words(output) + 1,
            has_unk: false,
            counts: ComparedScores::of(output, &[reference], &BleuSettings::default()),
        }],
    }
}

/// What models made of the same sources and references, every two compared.
pub fn evaluated(models: &[(&str, &[Pair<'_>])]) -> Evaluated {
    let pair = |(source, reference, _): &Pair<'_>| NewSentence {
        source: (*source).to_owned(),
        reference: Some((*reference).to_owned()),
        ..NewSentence::default()
    };
    let test_set = TestSet {
        source: PathBuf::from("shoes.en"),
        references: vec![PathBuf::from("shoes.fr")],
        pretokenized: false,
        pairs: models[0].1.iter().map(pair).collect(),
    };
    let measured = models.iter().map(|(name, pairs)| measured(name, pairs)).collect();
    let mut evaluated = Evaluated::of(test_set, &EvaluationOptions::default(), measured);
    let tests = PairedTests { bootstrap: 40, randomisation: 40, seed: 1 };
    let pairs = (1..models.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    evaluated.compare(&pairs.collect::<Vec<_>>(), tests, &mut |_| Ok(())).expect("nobody ends it");
    evaluated
}

/// Gives them a file of links by hand.
pub fn set_gold(evaluated: &mut Evaluated, golds: Vec<Links>) {
    evaluated.test_set.set_golds(golds);
    evaluated.gold = Some((PathBuf::from("gold"), "Words are counted from 1.".to_owned()));
}

/// Links that were right so often, of 100, with the greatest alpha and with two thresholds.
pub fn alignments(right: u64) -> gold::AlignmentErrorReport {
    let rows = [(None, right), (Some(0.2), right - 10), (Some(0.5), right - 5)].map(|(threshold, right)| {
        gold::AlignmentErrorRow {
            direction: AlignerDirection::Forward,
            extraction: Some(Extraction { threshold, ..Extraction::default() }),
            counts: aer::AerCounts { found: 100, sure: 100, found_sure: right, found_possible: right },
        }
    });
    gold::AlignmentErrorReport { rows: rows.into(), ..gold::AlignmentErrorReport::default() }
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
    let [first, second] = outputs.map(|outputs| {
        let pairs = sources.iter().zip(outputs).map(|((source, reference), output)| (*source, *reference, output));
        pairs.collect::<Vec<_>>()
    });
    let mut both = evaluated(&[("RNNencdec", &first), ("RNNsearch", &second)]);
    both.models[0].alignment = Some(Err("RNNencdec has no alignment".to_owned()));
    both.models[1].alignment = Some(Ok(alignments(80)));
    set_gold(&mut both, Vec::new());
    both
}
