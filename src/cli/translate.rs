//! `interlinear translate`: one sentence a line in, one result a line out, in order, perhaps with a file of
//! interventions beside it.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use crate::args::{LineFormat, ReadingArgs, ReplaceArgs, SearchArgs, SentenceArgs, count};
use crate::input::{InputFiles, InputSide, SourceLine};
use crate::windows::{Doing, Growth, WindowItem};
use crate::{args::LinkWordsArgs, output::LineOutput, windows};
use engine::analysis::{hard, unknown::Replacing};
use engine::decoding::{Decoded, Ensemble, Hypothesis, SearchOptions};
use engine::error::{Error, Result};
use engine::evaluation::{plan::reader, rows::RowReader};
use engine::interventions::{Intervention, InterventionFile, Resolved, ResolvedText, intervene_all};
use engine::text::{sentence::Sentence, words::vocabulary_words};
use engine::{models::Stepper, ticket::CancellationToken};
use explorer::app::files::line::{HypothesisLine, SetLine, TranslationLine, ends};
use host::words;
use host::words::LinkedSides;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Formats:
  text     the translation; with --nbest above 1, as Moses writes it, `LINE ||| TEXT ||| LOG_P`
           for each hypothesis, lines counted from 0, best first
  jsonl    one JSON object a line: source, and hypotheses with tokens, text, log_p, token_log_p,
           alpha (a row for each target token, a column for each source token; null where the
           model has no alignment, and with --no-alpha) and finished; with local attention also p_t, the aligned
           position of each target token in source tokens from 0. Where the vocabulary has pieces
           of words, tokens, alpha and p_t are of pieces, and `words` says which make up a word (punctuation apart),
           [FIRST, BEHIND THE LAST] for each: of the source, and in each hypothesis of its tokens.
           `reading` is `input` for a model whose training guided the rows of the words read: every
           token has the first row whose state has read it, zeros (p_t null) where none was computed.
           With --reading head each hypothesis has `head` beside alpha: where each token comes from by
           the model's alignment head, a row for each token, zeros for the last one
  pharaoh  `i-j` for every word j of the best translation and its source word i of greatest alpha,
           both counted from 0 as --link-words says; of greatest weight in the row of the
           alignment head with --reading head

--interventions FILE changes what the model does: FILE is one JSON object for all sentences, or a line with
an object for each (empty: none). Positions count tokens from 1, as the arrays of jsonl do; words are text:
  {\"version\": 1, \"prefix\": \"la\", \"force\": [{\"position\": 2, \"word\": \"vieille\"}],
   \"forbid\": [{\"word\": \"ancienne\"}, {\"position\": 3, \"word\": \"maison\"}],
   \"pin\": [{\"row\": 3, \"alpha\": {\"weights\": [0.1, 0.9, 0]}}, {\"row\": 4, \"alpha\": \"uniform\"}],
   \"mask\": [{\"position\": 1}, {\"word\": \"the\"}], \"temperature\": 0.5,
   \"leave_out\": [{\"layer\": 6, \"head\": 1}, {\"attention\": \"source\", \"layer\": 2, \"head\": 3}]}
alpha of a pinned row is weights (one for each source token, taken as they are), {\"position\": J}, {\"word\": W},
\"uniform\" or {\"permuted\": SEED}. leave_out is for Transformers: the output of these heads is zero (attention is \"cross\" if not
named, \"source\" in the encoder, \"target\" at the words before; layers and heads count from 1). Of a Transformer pinned
rows are those of the heads that are its alignment, and a masked word is hidden from all heads of cross-attention. Files that the window saves also have \"source\", the sentence, which has to be
the one translated, \"model\", a name that is not compared, and \"held\": true at words that were only held. Probabilities stay those of the model; nothing is normalised again. What was
given is marked: text and pharaoh have it behind a tab (with --nbest behind a further ` ||| `), as
`forced 1 2; pinned 3`; jsonl has `interventions`, and in each hypothesis `forced` and `pinned`, a truth value
for each token, `log_p_forced` and `log_p_free`.

An empty line gives an empty result. A line that is too long for a model gives an empty result
as well (jsonl: `error` says why), a sentence on stderr, and exit code 2 at the end, or 0 with --keep-going. So does
a line that is not UTF-8 with --keep-going; without it the work ends there.")]
pub struct TranslateArgs {
    #[command(flatten)]
    sentences: SentenceArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// Hypotheses to write for each sentence, best first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count(1000))]
    nbest: usize,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: LineFormat,
    #[command(flatten)]
    replace: ReplaceArgs,
    /// Force and forbid words, pin rows of alpha, mask source words, as this JSON file says (see below)
    #[arg(long, value_name = "FILE")]
    interventions: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    counted: LinkWordsArgs,
    /// With --format jsonl: write null for alpha and no p_t; alpha takes the most room
    #[arg(long)]
    no_alpha: bool,
    /// Each line begins with an id and a tab, which its result has too: `id` of jsonl, else before a tab
    #[arg(long)]
    ids: bool,
    /// Go past lines that are not UTF-8, and exit with 0 even where a model cannot read some lines; jsonl tells why as `error`
    #[arg(long)]
    keep_going: bool,
}

struct Plan<'a> {
    args: &'a TranslateArgs,
    system: Ensemble,
    options: SearchOptions,
    replacing: Option<Replacing>,
    /// Whose rows alpha has.
    rows: RowReader,
}

struct Planned {
    id: Option<String>,
    line: SourceLine,
    set: Resolved,
}

impl WindowItem for Planned {
    fn facts(&self) -> (usize, Option<&Error>) {
        self.line.facts()
    }
}

pub fn run(args: &TranslateArgs) -> anyhow::Result<()> {
    let mut files = InputFiles::open(args.sentences.file.as_deref(), None)?;
    files.source.goes_on = args.keep_going;
    let mut file = args.interventions.as_deref().map(InterventionFile::open).transpose()?;
    let (plan, mut stepper) = plan(args)?;
    if let Some((all, origin)) = file.as_ref().and_then(InterventionFile::all) {
        reader(&plan.system).check(all, &origin)?;
    }
    let mut output = LineOutput::stdout();
    let doing = Doing { name: "translating", verb: "translate" };
    let growth = Growth::new(args.sentences.batch.batch);
    let mut next = |files: &mut InputFiles| plan.next(files, file.as_mut());
    let refused = windows::run(doing, &mut files, growth, &mut next, &mut |window| {
        let done = translate_window(&plan, stepper.as_mut(), window)?;
        for (planned, decoded) in window.iter().zip(&done) {
            write(&plan, &mut output, planned, decoded.as_ref())?;
        }
        output.flush()?;
        Ok(target_words(&done))
    })?;
    output.finish()?;
    if args.keep_going { Ok(()) } else { windows::refused(refused) }
}

fn plan(args: &TranslateArgs) -> anyhow::Result<(Plan<'_>, Box<dyn Stepper>)> {
    let mut options = args.search.plan();
    if needs_only_best(args) {
        options.most_numbers = 0;
    }
    let nbest = args.nbest;
    if nbest > options.beam {
        let sentence =
            format!("--nbest {nbest} asks for more hypotheses than --beam {} keeps; raise --beam", options.beam);
        return Err(Error::Input(sentence).into());
    }
    if args.format == LineFormat::Pharaoh && nbest > 1 {
        let sentence =
            "--format pharaoh writes the best translation's alignment only; leave out --nbest or choose --format jsonl";
        return Err(Error::Input(sentence.into()).into());
    }
    if args.no_alpha && args.format != LineFormat::Jsonl {
        let sentence = "--no-alpha is for --format jsonl, which alone has alpha; leave it out";
        return Err(Error::Input(sentence.into()).into());
    }
    let replacing = args.replace.plan()?;
    let runtime = args.sentences.run.plan()?;
    let system = args.sentences.models.load(&runtime)?;
    let (rows, stepper) = args.reading.open(&system, &runtime, args.replace.replace_unk)?;
    let (is_head, has_head) = (args.reading.is_head(), stepper.has_alignment_head());
    let needs = [
        (args.format == LineFormat::Pharaoh, is_head, "--format pharaoh"),
        (args.replace.replace_unk, has_head, "--replace-unk"),
        (options.ranking.coverage > 0.0, false, "--coverage"),
    ];
    for (_, has_head, flag) in needs.into_iter().filter(|(needed, ..)| *needed) {
        words::require_alignment(&system, has_head, flag)?;
    }
    let rows = if is_head { RowReader::own((&system).into()) } else { rows };
    Ok((Plan { args, system, options, replacing, rows }, stepper))
}

impl Plan<'_> {
    fn next(&self, files: &mut InputFiles, file: Option<&mut InterventionFile>) -> Result<Option<Planned>> {
        let Some(text) = files.source.read()? else {
            return file.map_or(Ok(()), InterventionFile::finish).map(|()| None);
        };
        let (id, text, has_tab) = match text {
            Ok(line) if self.args.ids => match line.split_once('\t') {
                Some((id, text)) => (Some(id.to_owned()), Ok(text.to_owned()), true),
                None => (Some(line), Ok(String::new()), false),
            },
            text => (None, text, true),
        };
        let pretokenized = self.args.sentences.pretokenized;
        let mut line = InputSide { tokenizer: &self.system, pretokenized }.read(&files.source, text);
        if !has_tab {
            let message = "has no tab behind its id; write `ID<tab>TEXT`, or leave out --ids";
            line.refused = Some(files.source.refuse(message));
        }
        let mut set = Resolved::default();
        if let Some(file) = file {
            let (interventions, origin) = file.next_sentence()?;
            if line.is_readable() {
                let words = vocabulary_words(&self.system.lead().source, &line.sentence, pretokenized);
                let source = ResolvedText { sentence: &line.sentence, words: &words };
                match reader(&self.system).resolve(&interventions, source).strict(&origin) {
                    Ok(resolved) => set = resolved,
                    Err(why) => line.refused = Some(files.source.refuse(format!("is left out: {why}"))),
                }
            }
        }
        Ok(Some(Planned { id, line, set }))
    }
}

fn needs_only_best(args: &TranslateArgs) -> bool {
    match args.format {
        LineFormat::Text => args.nbest == 1 || !args.replace.replace_unk,
        LineFormat::Jsonl => args.nbest == 1 || args.no_alpha && !args.replace.replace_unk,
        LineFormat::Pharaoh => true,
    }
}

/// The results of a window, in its order; `None` for a line without words and for a refused one.
fn translate_window(plan: &Plan<'_>, stepper: &mut dyn Stepper, window: &[Planned]) -> Result<Vec<Option<Decoded>>> {
    let chosen: Vec<usize> = (0..window.len()).filter(|&index| window[index].line.is_readable()).collect();
    let sources: Vec<&[u32]> = chosen.iter().map(|&index| window[index].line.sentence.ids.as_slice()).collect();
    let lists: Vec<Arc<[Intervention]>> = chosen.iter().map(|&index| Arc::clone(&window[index].set.list)).collect();
    let mut done: Vec<Option<Decoded>> = window.iter().map(|_| None).collect();
    let mut keep = |indexes: &[usize], decoded: Vec<Decoded>| {
        for (&index, decoded) in indexes.iter().zip(decoded) {
            done[chosen[index]] = Some(decoded);
        }
        Ok(())
    };
    let (specials, batch, ticket) =
        (plan.system.specials(), plan.args.sentences.batch.batch, CancellationToken::forever());
    intervene_all(stepper, specials, &sources, &lists, &plan.options, batch, &ticket, &mut keep)?;
    if plan.args.format != LineFormat::Text && !plan.args.no_alpha || plan.replacing.is_some() {
        let translations = window.iter().zip(&mut done).flat_map(|(planned, done)| {
            let all = done.iter_mut().flat_map(|decoded| decoded.hypotheses.iter_mut().take(plan.args.nbest));
            all.map(|one| (planned.line.sentence.ids.as_slice(), &*planned.set.list, one))
        });
        plan.rows.extend_and_assign(stepper, translations.collect(), batch, &ticket)?;
    }
    Ok(done)
}

fn target_words(done: &[Option<Decoded>]) -> usize {
    done.iter().flatten().filter_map(|decoded| decoded.hypotheses.first()).map(|best| best.tokens.len()).sum()
}

fn write(plan: &Plan<'_>, output: &mut LineOutput, planned: &Planned, decoded: Option<&Decoded>) -> anyhow::Result<()> {
    let (Planned { id, line, set }, nbest) = (planned, plan.args.nbest);
    let before = id.as_ref().map_or_else(String::new, |id| format!("{id}\t"));
    let hypotheses = decoded.map_or(&[][..], |decoded| &decoded.hypotheses);
    let hypotheses = &hypotheses[..hypotheses.len().min(nbest)];
    let lead = plan.system.lead();
    match plan.args.format {
        LineFormat::Jsonl => output.json(&TranslationLine {
            id: id.as_deref(),
            error: line.refused.as_ref().map(ToString::to_string),
            source: &line.sentence.tokens,
            words: lead
                .source
                .marks()
                .has_pieces()
                .then(|| ends(&vocabulary_words(&lead.source, &line.sentence, plan.args.sentences.pretokenized))),
            interventions: (!set.list.is_empty()).then_some(&set.applied.form),
            reading: plan.rows.name(),
            hypotheses: hypotheses.iter().map(|hypothesis| record(plan, planned, hypothesis)).collect(),
            ..TranslationLine::default()
        }),
        LineFormat::Pharaoh => output.line(&hypotheses.first().map_or_else(
            || before.clone(),
            |best| {
                let head = best.head.as_deref().filter(|_| plan.args.reading.is_head());
                let rows = words::read_by(head, best.alpha.as_deref());
                let pretokenized = plan.args.sentences.pretokenized;
                let sides = LinkedSides::of_translation(lead, &line.sentence, best, pretokenized);
                let links = words::links(sides, rows, plan.args.counted.link_words);
                format!("{before}{}{}", hard::pharaoh(&links), marked("\t", set, best))
            },
        )),
        LineFormat::Text if nbest == 1 => output.line(&hypotheses.first().map_or_else(
            || before.clone(),
            |best| format!("{before}{}{}", text(plan, &line.sentence, best), marked("\t", set, best)),
        )),
        LineFormat::Text => hypotheses.iter().try_for_each(|hypothesis| {
            let (text, marked) = (text(plan, &line.sentence, hypothesis), marked(" ||| ", set, hypothesis));
            let number = id.clone().unwrap_or_else(|| (line.number - 1).to_string());
            output.line(&format!("{number} ||| {text} ||| {}{marked}", hypothesis.log_p))
        }),
    }
}

fn marked(gap: &str, set: &Resolved, hypothesis: &Hypothesis) -> String {
    let marks = set.applied.describe(hypothesis.tokens.len());
    if marks.is_empty() { marks } else { format!("{gap}{marks}") }
}

fn record<'a>(plan: &'a Plan<'_>, planned: &Planned, hypothesis: &'a Hypothesis) -> HypothesisLine<'a> {
    let (target, has_alpha) = (plan.system.target(), !plan.args.no_alpha);
    HypothesisLine {
        tokens: words::tokens(plan.system.lead(), &hypothesis.tokens),
        words: target.marks().has_pieces().then(|| ends(&target.word_ranges(&hypothesis.tokens))),
        text: text(plan, &planned.line.sentence, hypothesis).into(),
        log_p: hypothesis.log_p,
        token_log_p: &hypothesis.token_log_p,
        alpha: hypothesis.alpha.as_deref().filter(|_| has_alpha).map(Into::into),
        p_t: hypothesis.p_t.as_deref().filter(|_| has_alpha).map(Into::into),
        head: hypothesis.head.as_deref().filter(|_| has_alpha && plan.args.reading.is_head()).map(Into::into),
        finished: hypothesis.finished,
        set: (!planned.set.list.is_empty()).then(|| SetLine::of(&planned.set.applied, &hypothesis.token_log_p)),
        ..HypothesisLine::default()
    }
}

fn text(plan: &Plan<'_>, source: &Sentence, hypothesis: &Hypothesis) -> String {
    words::text(plan.system.lead(), hypothesis, source, plan.replacing.as_ref(), plan.args.sentences.pretokenized)
}
