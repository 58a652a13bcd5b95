//! Systems against systems as tables: two of them, every two, and their ranks; rows for files and the command line, a
//! matrix for reports and the window.

use std::fmt::Write as _;

use crate::overview::html::{heads, html_table};
use crate::{measures::paired::TestedScore, overview::compute::Overview, store::read::StoredSystem};
use engine::analysis::bootstrap::significance::{signed, unsigned};
use engine::analysis::bootstrap::{LEAST_SENTENCES, Paired};
use figure::svg::escaped;

pub const MATRIX_HEAD: &[&str] = &[
    "score", "first", "second", "sentences", "first less second", "low", "high", "p", "p --paired-ar", "Holm",
    "Holm --paired-ar",
];
const MOST_SHOWN: usize = 30;

/// The first less the second, as `bleu.1-2` has it: the difference and where 95 % of the resamples lie.
pub fn turned(paired: &Paired) -> [f64; 3] {
    [-paired.difference.value, -paired.difference.high, -paired.difference.low]
}

pub(super) fn name(systems: &[&StoredSystem], at: usize) -> String {
    systems.get(at).map_or_else(String::new, |system| system.name.clone())
}

pub(super) fn pair(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let Some(pair) = &overview.pair else { return Vec::new() };
    let row = |(tested, paired): (&TestedScore, &Paired)| {
        let mut row = vec![name(systems, pair.first), name(systems, pair.second)];
        row.extend(pair.sentences.map(|count| if tested.name == "BLEU" { count.to_string() } else { String::new() }));
        row.extend(turned(paired).map(|number| signed(number, 2)));
        let [bootstrap, rest @ ..] = paired.p_texts();
        row.push(bootstrap);
        let wins = 1.0 - paired.second_wins - paired.ties;
        row.extend([wins, paired.ties, paired.second_wins].map(|share| format!("{:.3}", share.max(0.0))));
        row.into_iter().chain(rest).chain([tested.name.to_owned()]).collect()
    };
    overview.of_pair().filter(|(tested, _)| !tested.is_given).map(row).collect()
}

pub(super) fn given_scores(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let Some(pair) = &overview.pair else { return Vec::new() };
    let given = overview.of_pair().filter(|(tested, _)| tested.is_given);
    given.map(|(tested, paired)| row(tested, ((pair.first, pair.second), paired), systems)).collect()
}

pub(super) fn matrix(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let rows = overview.tested.iter().flat_map(|tested| tested.pairs.iter().map(move |pair| (tested, pair)));
    rows.map(|(tested, (pair, paired))| row(tested, (*pair, paired), systems)).collect()
}

fn row(tested: &TestedScore, (pair, paired): ((usize, usize), &Paired), systems: &[&StoredSystem]) -> Vec<String> {
    let names = [tested.name.to_owned(), name(systems, pair.0), name(systems, pair.1), paired.sentences.to_string()];
    let numbers = turned(paired).map(|number| signed(number, tested.digits()));
    names.into_iter().chain(numbers).chain(paired.p_texts()).collect()
}

pub(super) fn ranks(overview: &Overview, systems: &[&StoredSystem]) -> Vec<Vec<String>> {
    let rows = overview.tested.iter().flat_map(|tested| tested.systems.iter().map(move |system| (tested, system)));
    rows.map(|(tested, ranked)| {
        vec![
            tested.name.to_owned(),
            ranked.rank_text(),
            name(systems, ranked.system),
            unsigned(ranked.score, tested.digits()),
        ]
    })
    .collect()
}

pub(super) fn html(overview: &Overview, systems: &[&StoredSystem]) -> String {
    let mut html = String::new();
    for tested in &overview.tested {
        let columns: Vec<String> = tested.systems.iter().map(|ranked| (ranked.system + 1).to_string()).collect();
        let head = ["rank", "system", tested.name].into_iter().chain(columns.iter().map(String::as_str));
        let rows: Vec<Vec<String>> = tested
            .systems
            .iter()
            .map(|row| {
                let title = format!("{}. {}", row.system + 1, name(systems, row.system));
                let cells = tested.systems.iter().map(|column| {
                    let Some((difference, paired)) = tested.between(row.system, column.system) else {
                        return String::new();
                    };
                    let [_, p, _, holm] = paired.p_texts();
                    let holm = if holm.is_empty() { holm } else { format!(", Holm {holm}") };
                    format!("{} (p {p}{holm})", signed(difference, tested.digits()))
                });
                [row.rank_text(), title, unsigned(row.score, tested.digits())].into_iter().chain(cells).collect()
            })
            .collect();
        let _ = write!(html, "<h3>{}</h3>\n{}", escaped(tested.name), html_table(head.map(|head| (head, "")), &rows));
    }
    let trials = overview.tested.first().and_then(|tested| tested.pairs.first()).map_or(0, |(_, paired)| paired.trials);
    let _ = writeln!(
        html,
        "<p>Each cell is the row less the column, over the sentences that both have. p: approximate randomisation ({trials} trials; \
         sacreBLEU's --paired-ar). Holm: p corrected for the number of pairs (Holm 1979). A new rank begins where each system above is \
         better than each system below, with a corrected p of at most 0.05. Fewer than {LEAST_SENTENCES} sentences have no p. References that were \
         forced are compared with none.</p>"
    );
    let rows = matrix(overview, systems);
    let table = html_table(heads(MATRIX_HEAD), &rows);
    let note = "<p>p: paired bootstrap (Koehn 2004), two-sided, of the same resamples as the interval from low to high (95 %).</p>";
    if rows.len() > MOST_SHOWN {
        let _ = writeln!(
            html,
            "<details><summary>{} pairs with their intervals</summary>{table}{note}</details>",
            rows.len()
        );
    } else {
        let _ = writeln!(html, "{table}{note}");
    }
    html
}
