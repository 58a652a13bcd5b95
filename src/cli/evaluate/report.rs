//! Floor 13: the figures of `interlinear evaluate` as tables for reading.

use std::fmt::Write as _;

use crate::analysis::bootstrap::significance::{signed, unsigned};
use crate::analysis::bootstrap::{Interval, LEAST_SENTENCES, Paired};
use crate::cli::columns::TextTable;
use crate::corpus::overview::evaluated::Evaluated;
use crate::corpus::overview::figures::{figure, lines};
use crate::corpus::overview::gold::AlignmentErrorRow;
use crate::corpus::overview::test_set::Unk;

/// All of it.
pub fn table(evaluated: &Evaluated) -> String {
    let mut parts = vec![at_a_glance(evaluated), summary(evaluated)];
    parts.extend(by_length(evaluated));
    parts.extend(bootstrap(evaluated));
    parts.extend(alignments(evaluated));
    parts.push(notes(evaluated));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// BLEU as table 1 of Bahdanau et al. has it: a row for each model, a column for each set and kind of output.
fn at_a_glance(evaluated: &Evaluated) -> String {
    if evaluated.unk.is_empty() {
        return String::new();
    }
    let head = evaluated.scores.iter().map(|of| match of.unk {
        Unk::Allowed => of.set.name().to_owned(),
        Unk::Forbidden => format!("{}, UNK forbidden", of.set.name()),
    });
    let mut table = TextTable::new(["BLEU".to_owned()].into_iter().chain(head));
    for (system, measured) in evaluated.models.iter().enumerate() {
        let bleu = evaluated.scores.iter().map(|of| figure(of.all.scores[system].bleu(), 2));
        table.row([measured.name.clone()].into_iter().chain(bleu));
    }
    table.text()
}

/// All lengths together: sets and kinds of output, and under each the models.
fn summary(evaluated: &Evaluated) -> String {
    let mut table = TextTable::new([
        "set",
        "UNK",
        "model",
        "sentences",
        "words",
        "NLL",
        "NLL/word",
        "perplexity",
        "BLEU",
        "chrF2",
        "TER",
        "BP",
        "ratio",
    ]);
    for of in &evaluated.scores {
        for (measured, scores) in evaluated.models.iter().zip(&of.all.scores) {
            table.row([
                of.set.name().to_owned(),
                of.unk.name().to_owned(),
                measured.name.clone(),
                scores.sentences.to_string(),
                scores.words.to_string(),
                figure(scores.nll_per_sentence(), 3),
                figure(scores.nll_per_word(), 4),
                figure(scores.perplexity(), 3),
                figure(scores.bleu(), 2),
                figure(scores.chrf(), 2),
                figure(scores.ter(), 2),
                figure(scores.brevity_penalty(), 3),
                figure(scores.ratio(), 3),
            ]);
        }
    }
    table.text()
}

/// By length: a table for each set and kind of output, a row for each bucket; for each model BLEU, or the perplexity
/// where there are no translations.
fn by_length(evaluated: &Evaluated) -> Vec<String> {
    let translated = !evaluated.unk.is_empty();
    let mut tables = Vec::new();
    for of in evaluated.scores.iter().filter(|of| !of.lengths.is_empty()) {
        let mut title = format!("{}, {}", if translated { "BLEU" } else { "perplexity" }, of.set.name());
        if evaluated.unk.len() > 1 {
            let _ = write!(title, ", UNK {}", of.unk.name());
        }
        let names = evaluated.models.iter().flat_map(|measured| ["sentences".to_owned(), measured.name.clone()]);
        let mut table = TextTable::new([title].into_iter().chain(names));
        for group in &of.lengths {
            let cells = group.scores.iter().flat_map(|scores| {
                let value = if translated { scores.bleu() } else { scores.perplexity() };
                [scores.sentences.to_string(), figure(value, 2)]
            });
            table.row(group.bucket.iter().map(|bucket| bucket.name.clone()).chain(cells));
        }
        tables.push(table.text());
    }
    tables
}

/// Whether there are several pairs, whose p is corrected.
fn is_corrected(evaluated: &Evaluated) -> bool {
    evaluated.comparisons.iter().any(|against| against.by.bleu.p_holm.is_some())
}

/// Each model against the first.
fn bootstrap(evaluated: &Evaluated) -> Option<String> {
    let span = |of: &Interval| format!("{}..{}", unsigned(of.low, 2), unsigned(of.high, 2));
    let head = ["UNK", "metric", "score", "95 %", "difference", "95 %", "wins", "p bs", "p ar", "Holm bs", "Holm ar"];
    let width = if is_corrected(evaluated) { head.len() } else { head.len() - 2 };
    let first = format!("against {}", evaluated.name(0));
    let mut table = TextTable::new([first].into_iter().chain(head[..width].iter().map(|head| (*head).to_owned())));
    for against in &evaluated.comparisons {
        let name = evaluated.name(against.pair.1);
        for (metric, paired) in against.by.named() {
            let row = [name, against.unk.name(), metric].map(str::to_owned);
            let Paired { second, difference, second_wins, .. } = paired;
            let cells = row.into_iter().chain([
                figure(Some(second.value), 2),
                span(second),
                signed(difference.value, 2),
                span(difference),
                figure(Some(*second_wins), 3),
            ]);
            let p = paired.p_texts().map(|p| if p.is_empty() { "-".to_owned() } else { p });
            table.row(cells.chain(p).take(1 + width));
        }
    }
    (!evaluated.comparisons.is_empty()).then(|| table.text())
}

/// Alignments against the gold ones.
fn alignments(evaluated: &Evaluated) -> Option<String> {
    let lines = lines(evaluated);
    let mut table =
        TextTable::new(["alignment", "direction", "reading", "links", "found", "precision", "recall", "AER"]);
    for line in &lines {
        let AlignmentErrorRow { direction, extraction, counts } = line.row;
        let rates = counts.rates();
        let rule = match extraction.map(|extraction| extraction.threshold) {
            Some(Some(theta)) => format!("alpha >= {theta}"),
            Some(None) => "greatest".to_owned(),
            None => "-".to_owned(),
        };
        let name = [line.name.to_owned(), direction.name().to_owned(), line.reading().to_owned(), rule];
        let rates = [rates.precision, rates.recall, rates.aer].map(|rate| figure(rate, 4));
        table.row(name.into_iter().chain([counts.found.to_string()]).chain(rates));
    }
    (!lines.is_empty()).then(|| table.text())
}

/// How it was obtained.
fn notes(evaluated: &Evaluated) -> String {
    let mut text = String::new();
    let (search, translated) = (&evaluated.search, !evaluated.unk.is_empty());
    for measured in &evaluated.models {
        let _ = write!(text, "{} ({}), {}", measured.name, measured.architecture, measured.folder.display());
        if let Some(seconds) = measured.seconds.filter(|_| translated) {
            let _ = write!(
                text,
                ", beam {}, rank {}, coverage {}: {seconds:.1} s, {} sentences/s, {} words/s",
                search.beam,
                search.ranking.length,
                search.ranking.coverage,
                figure(measured.sentences_per_second, 1),
                figure(measured.words_per_second, 0)
            );
        }
        if let Some(mixing) = measured.mixing {
            let _ = write!(text, ", mean {}, alignment of {}", mixing.average, mixing.alignment);
        }
        if measured.replaced {
            text.push_str(", unknown words replaced");
        }
        let _ = writeln!(text, " on {} with {} threads", measured.device, measured.threads);
    }
    text.push_str(
        "NLL of the first reference, in nats; words and lengths are those between spaces, </s> counted in references\n",
    );
    text.extend(evaluated.incomparable().map(|why| why + "\n"));
    if translated {
        let [bleu, chrf, ter] = evaluated.signatures();
        let _ = writeln!(text, "BLEU {bleu}\nchrF2 {chrf}\nTER {ter}");
    }
    if let Some(against) = evaluated.comparisons.first() {
        let resamples = against.by.bleu.resamples;
        let _ =
            writeln!(text, "p bs: paired bootstrap, {resamples} resamples, two-sided; p ar: approximate randomisation");
        if is_corrected(evaluated) {
            text.push_str("Holm: p corrected for the number of pairs, step by step down (Holm 1979)\n");
        }
        if against.by.bleu.sentences < LEAST_SENTENCES {
            let _ = writeln!(text, "too few: fewer than {LEAST_SENTENCES} sentences have no p");
        }
    }
    text
}
