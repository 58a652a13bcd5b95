//! `interlinear score`: log p(y | x) and the alignment of given pairs, as JSON lines.

pub mod contrast;

use clap::{Arg, ArgMatches, Args, FromArgMatches as _};

use crate::args::{BatchArgs, ModelArgs, PairArgs, ReadingArgs, RunArgs, ScoreFormat};
use crate::pairs::{PairForcer, SourcePair};
use crate::{args::LinkWordsArgs, output::LineOutput, phrases, phrases::PhrasesPlan, windows, windows::Doing};
use engine::decoding::{Ensemble, Hypothesis};
use engine::text::sentence::{EOS, Sentence};
use engine::{analysis::hard, error::Error, text::words::vocabulary_words};
use explorer::app::files::line::{ScoreLine, WordsLine, ends};
use host::words;
use host::words::LinkedSides;
use training::settings::LinkWords;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Formats:
  jsonl    one JSON object a line: source, target, log_p, log_p_per_word (words as the target's language
           cuts them: punctuation, elisions and clitics are words), log_p_per_token (tokens of the model;
           both count `</s>`), token_log_p, alpha (a row for each target token, a column for each source
           token) and energies (before the softmax); null where there are none.
           With local attention also p_t, the aligned position of each target token in source tokens from
           0. Where the vocabulary has pieces of words, all these are of pieces, and `words` says which
           make up a word (punctuation apart), [FIRST, BEHIND THE LAST] for each, of source and target. `reading` is `input`
           for a model whose training guided the rows of the words read: every token has the first row
           whose state has read it. With --reading head `head` is where each token comes from by the model's
           alignment head, a row for each target token, zeros for `</s>`; alpha stays what it is
  text     log p, a line for each pair
  pharaoh  `i-j` for every target word j and its source word i of greatest alpha, both counted from 0 as --link-words
           says; with --reading head by its rows
  tsv      with --top alone

A pair that a model cannot read (too long, or without source words where it reads no `</s>`) gets nulls or an empty
line, a sentence on stderr, and exit code 2 at the end.",
    mut_arg("source", either),
    mut_arg("target", either)
)]
#[expect(clippy::duplicated_attributes, reason = "the same for two arguments")]
pub struct ScoreArgs {
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    counted: LinkWordsArgs,
    #[command(flatten)]
    batch: BatchArgs,
    /// What to write: jsonl, text or pharaoh, by default jsonl; with --top text, tsv or jsonl, by default text
    #[arg(long, value_enum)]
    format: Option<ScoreFormat>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    pub phrases: PhrasesPlan,
}

/// The files are not needed beside a phrase table.
fn either(argument: Arg) -> Arg {
    argument.required(false).required_unless_present("phrase_table")
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    if matches.contains_id("phrase_table") {
        return phrases::run(matches);
    }
    let args = ScoreArgs::from_arg_matches(matches)?;
    let format = args.format.unwrap_or(ScoreFormat::Jsonl);
    if format == ScoreFormat::Tsv {
        return Err(Error::Input("--format tsv is of --top; choose jsonl, text or pharaoh".into()).into());
    }
    let mut output = LineOutput::stdout();
    let forcer = PairForcer::open(&args.pairs, &args.models, (args.reading, false), (args.batch, &args.run))?;
    if format == ScoreFormat::Pharaoh {
        forcer.require_alignment("--format pharaoh")?;
    }
    let (pretokenized, how) = (args.pairs.pretokenized, (format, forcer.rows.name(), args.counted.link_words));
    let doing = Doing { name: "scoring", verb: "score" };
    let refused = forcer.run(doing, &mut |system, window, forced| {
        for (pair, forced) in window.iter().zip(forced) {
            write(&mut output, how, system, pair, forced.as_ref(), pretokenized)?;
        }
        output.flush()
    })?;
    output.finish()?;
    windows::refused(refused)
}

fn write(
    output: &mut LineOutput, (format, reading, counted): (ScoreFormat, Option<&'static str>, LinkWords),
    system: &Ensemble, pair: &SourcePair, forced: Option<&Hypothesis>, pretokenized: bool,
) -> anyhow::Result<()> {
    match format {
        ScoreFormat::Jsonl | ScoreFormat::Tsv => {
            output.json(&ScoreLine { reading, ..record(system, pair, forced, pretokenized) })
        }
        ScoreFormat::Text => output.line(&forced.map_or_else(String::new, |forced| forced.log_p.to_string())),
        ScoreFormat::Pharaoh => {
            let rows = forced.and_then(words::came_from);
            let sides = LinkedSides::of_pair(system, (&pair.0.sentence, &pair.1.sentence), pretokenized);
            output.line(&hard::pharaoh(&words::links(sides, rows, counted)))
        }
    }
}

fn record<'a>(
    system: &Ensemble, (source, target): &'a SourcePair, forced: Option<&'a Hypothesis>, pretokenized: bool,
) -> ScoreLine<'a> {
    let (x, y) = (&system.lead().source, system.target());
    let words = |tokenizer, side: &Sentence| ends(&vocabulary_words(tokenizer, side, pretokenized));
    let (end, rule) =
        (usize::from(target.sentence.tokens.last().is_some_and(|last| last == EOS)), y.rule(pretokenized));
    let mean = |count: usize| forced.filter(|_| count > 0).map(|forced| forced.log_p / count as f32);
    let has_pieces = x.marks().has_pieces() || y.marks().has_pieces();
    ScoreLine {
        words: has_pieces.then(|| WordsLine { source: words(x, &source.sentence), target: words(y, &target.sentence) }),
        source: &source.sentence.tokens,
        target: &target.sentence.tokens,
        log_p: forced.map(|forced| forced.log_p),
        log_p_per_word: mean(rule.count(&target.sentence.text) + end),
        log_p_per_token: mean(target.sentence.tokens.len()),
        token_log_p: forced.map(|forced| forced.token_log_p.as_slice()),
        alpha: forced.and_then(|forced| forced.alpha.as_deref()),
        energies: forced.and_then(|forced| forced.energies.as_deref()),
        reading: None,
        head: forced.and_then(|forced| forced.head.as_deref()),
        p_t: forced.and_then(|forced| forced.p_t.as_deref()),
    }
}
