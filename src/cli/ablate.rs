//! `interlinear ablate`: how much each word of a translation depends on where the model looked.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{BatchArgs, RunArgs, SearchArgs, count};
use crate::columns::{TextTable, figure};
use crate::windows::{Doing, Growth, WindowItem};
use crate::{args, input::InputFiles, output::LineOutput};
use crate::{output, windows};
use engine::analysis::ablation::{AblatedWord, AblationMeans, FIGURES};
use engine::error::{Error, Result};
use engine::models::{Model, Stepper};
use engine::text::tsv::{self, TsvCell, rows};
use engine::text::{line, sentence::Sentence, words::words, write::write_atomic};
use engine::{analysis::ablation, decoding::SearchOptions, models::choice::ModelSpec, ticket::CancellationToken};
use host::runtime::Runtime;
use host::words;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Each translation is forced: the model's own, or the given one with --source and --target. At each of its
steps alpha alone is changed, the steps before it staying as they were, and the distribution of the next word is
compared with the model's own (Jain and Wallace 2019, Attention is not Explanation; Wiegreffe and Pinter 2019,
Attention is not not Explanation):
  uniform        every source token has the same weight; the row keeps its sum
  permuted       the weights change places, --permutations times
  leave one out  one source token has no weight and the others share it in proportion, for each source token (Serrano and
                 Smith 2019, Is Attention Interpretable?)
js is the Jensen-Shannon divergence in nats (at most ln 2 = 0.693), tv the total variation (at most 1), changed
whether another word is the most probable one. kendall (tau-b) and spearman correlate alpha of a target token with
the js of leaving each source token out. `</s>` is a token on both sides.

Formats:
  jsonl  an object for each line and model: model, line, source, target, log_p, token_log_p, alpha, js {uniform,
         permuted} (means over the target tokens), leave_one_out (js, a row for each target token, a column for each
         source token), leave_one_out_log_p (log p of the target token less that without the source token),
         leave_one_out_changed, tokens (each figure for each target token) and means (each figure)
  tsv    a row for each target token: its log p, the word that the model liked best there, the source tokens of
         greatest alpha and of greatest js when left out, and each figure
  table  the means over all target tokens, a column for each model
Several models are put to the test line by line. An empty line has no words to test; a line that a model cannot read
is left out, with a sentence on stderr, and exit code 2 at the end."
)]
pub struct AblateArgs {
    /// A model folder, or the name of an installed model; once for each model
    #[arg(long, value_name = "DIR", required = true, value_parser = args::folder())]
    model: Vec<ModelSpec>,
    /// A text file, one sentence a line, packed (gzip, zstandard) or not; by default stdin. The model translates it
    #[arg(value_name = "FILE", conflicts_with = "source")]
    file: Option<PathBuf>,
    /// Sentences whose translations are given
    #[arg(long, value_name = "FILE", requires = "target")]
    source: Option<PathBuf>,
    /// Their translations, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    target: Option<PathBuf>,
    /// The words are split by spaces already
    #[arg(long)]
    pretokenized: bool,
    /// How often alpha is permuted
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count(1000))]
    permutations: usize,
    /// What the permutations follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write the means over all target tokens into this file as well, with tabs between
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// Everything, an object a line
    #[default]
    #[value(alias = "json")]
    Jsonl,
    /// A row for each target token
    Tsv,
    /// The means over all target tokens
    Table,
}

struct Plan<'a> {
    args: &'a AblateArgs,
    options: SearchOptions,
    seeds: Vec<u64>,
}

struct Subject {
    model: Model,
    stepper: Box<dyn Stepper>,
    means: AblationMeans,
}

/// A source and its translation; `None` where there is nothing to test.
type Pair = Option<(Sentence, Vec<u32>)>;

struct Text {
    number: usize,
    source: String,
    target: Option<String>,
    refused: Option<Error>,
}

impl WindowItem for Text {
    fn facts(&self) -> (usize, Option<&Error>) {
        (words(&self.source).count(), self.refused.as_ref())
    }
}

impl Text {
    fn next(files: &mut InputFiles) -> Result<Option<Self>> {
        let Some((source, target)) = files.read()? else { return Ok(None) };
        let why = source.as_ref().err().or(target.as_ref().and_then(|target| target.as_ref().err()));
        let refused = why.map(|why| files.source.refuse(why));
        let target = target.map(std::result::Result::unwrap_or_default);
        Ok(Some(Self { number: files.source.number, source: source.unwrap_or_default(), target, refused }))
    }
}

pub fn run(args: &AblateArgs) -> anyhow::Result<()> {
    let mut files = InputFiles::open(args.source.as_deref().or(args.file.as_deref()), args.target.as_deref())?;
    let runtime = args.run.plan()?;
    let mut subjects: Vec<Subject> =
        args.model.iter().map(|folder| Subject::load(&runtime, folder)).collect::<Result<_>>()?;
    let plan = Plan {
        args,
        options: SearchOptions { most_numbers: 0, ..args.search.plan() },
        seeds: (0..args.permutations as u64).map(|n| args.seed.wrapping_add(n)).collect(),
    };
    let mut output = LineOutput::stdout();
    if args.format == Format::Tsv {
        output.text(&tsv::text(&heads(), []))?;
    }
    let mut unread = 0;
    let doing = Doing { name: "testing", verb: "test" };
    let refused = windows::run(doing, &mut files, Growth::up_to(args.batch.batch), &mut Text::next, &mut |window| {
        let (mut tested, mut left_out) = (0, 0);
        let mut done = Vec::with_capacity(subjects.len());
        for subject in &mut subjects {
            let (pairs, refused) = subject.pairs(&plan, window)?;
            // a line that several models refuse is one line
            left_out = left_out.max(refused);
            tested += pairs.iter().flatten().map(|(_, target)| target.len()).sum::<usize>();
            done.push(pairs.into_iter());
        }
        unread += left_out;
        for text in window {
            for (subject, pairs) in subjects.iter_mut().zip(&mut done) {
                subject.test(&plan, text, &pairs.next().flatten(), &mut output)?;
            }
        }
        Ok(tested)
    })?;
    if args.format == Format::Table {
        output.text(&table(&subjects))?;
    }
    if let Some(path) = &args.summary {
        write_atomic(path, |file| file.write_all(summary(&subjects).as_bytes()))?;
    }
    output.finish()?;
    windows::refused(refused + unread)
}

impl Subject {
    fn load(runtime: &Runtime, model: &ModelSpec) -> Result<Self> {
        let model = args::load(model, runtime)?;
        if !model.config.aligns() {
            let architecture = model.config.architecture.name();
            return Err(Error::Input(format!(
                "{} ({architecture}) has no alignment to test; choose a model that has one",
                model.config.name
            )));
        }
        let stepper = model.stepper(runtime.engine, runtime.threads)?;
        Ok(Self { model, stepper, means: AblationMeans::default() })
    }

    fn pairs(&mut self, plan: &Plan<'_>, window: &[Text]) -> Result<(Vec<Pair>, usize)> {
        let (model, mut refused) = (&self.model, 0);
        let mut read = |text: &Text| {
            let side = |tokenizer, text: &str| line::read(tokenizer, text, plan.args.pretokenized);
            let given = text.target.as_ref().map(|target| side(&model.target, target).map(|target| target.ids));
            let source = side(&model.source, &text.source);
            let pair = source.and_then(|source| Ok((source, given.transpose()?)));
            let pair = pair.inspect_err(|why| {
                refused += 1;
                output::notify(&format!("{}, line {}: {why}", model.config.name, text.number));
            });
            pair.ok().filter(|(source, _)| source.words() > 0 && text.refused.is_none())
        };
        let read: Vec<Option<(Sentence, Option<Vec<u32>>)>> = window.iter().map(&mut read).collect();
        let free: Vec<&[u32]> =
            read.iter().flatten().filter(|pair| pair.1.is_none()).map(|pair| pair.0.ids.as_slice()).collect();
        let specials = words::specials(model);
        let said = words::decode_all(specials, self.stepper.as_mut(), &free, &plan.options, plan.args.batch.batch)?;
        let mut said = said.into_iter().map(|decoded| decoded.hypotheses.into_iter().next().unwrap_or_default().tokens);
        let mut whole = |(source, given): (Sentence, Option<Vec<u32>>)| {
            (source, given.unwrap_or_else(|| said.next().unwrap_or_default()))
        };
        Ok((read.into_iter().map(|pair| pair.map(&mut whole)).collect(), refused))
    }

    fn test(&mut self, plan: &Plan<'_>, text: &Text, pair: &Pair, output: &mut LineOutput) -> anyhow::Result<()> {
        let tested = match pair {
            None => Vec::new(),
            Some((source, target)) => {
                let pair = (source.ids.as_slice(), target.as_slice());
                ablation::words(self.stepper.as_mut(), pair, &plan.seeds, &CancellationToken::forever())?
            }
        };
        if !tested.is_empty() {
            self.means.add(&tested);
        }
        let source = pair.as_ref().map(|pair| pair.0.tokens.as_slice()).unwrap_or_default();
        match plan.args.format {
            Format::Jsonl => output.json(&self.record(text.number, source, &tested))?,
            Format::Tsv => {
                output
                    .text(&rows(tested.iter().enumerate().map(|(i, word)| self.row(text.number, i, source, word))))?;
            }
            Format::Table => {}
        }
        output.flush()
    }

    fn word(&self, token: u32) -> &str {
        self.model.target.token(token).unwrap_or_default()
    }

    fn record<'a>(&'a self, line: usize, source: &'a [String], tested: &'a [AblatedWord]) -> Record<'a> {
        let mut means = AblationMeans::default();
        means.add(tested);
        let mean = |name: &str| FIGURES.iter().position(|figure| figure.name == name).and_then(|n| means.of(n));
        let of = |figure: &ablation::AblationFigure| tested.iter().map(figure.of).collect::<Vec<_>>().into();
        Record {
            model: &self.model.config.name,
            line,
            source,
            target: tested.iter().map(|word| self.word(word.token)).collect(),
            log_p: tested.iter().map(|word| f64::from(word.log_p)).sum::<f64>() as f32,
            token_log_p: tested.iter().map(|word| word.log_p).collect(),
            alpha: tested.iter().map(|word| word.alpha.as_slice()).collect(),
            js: Js { uniform: mean("js_uniform"), permuted: mean("js_permuted") },
            leave_one_out: tested.iter().map(AblatedWord::leave_one_out).collect(),
            leave_one_out_log_p: matrix(tested, |word, j| word.log_p - word.without[j].log_p),
            leave_one_out_changed: matrix(tested, |word, j| word.without[j].changes),
            tokens: FIGURES.iter().map(|figure| (figure.name.to_owned(), of(figure))).collect(),
            means: FIGURES.iter().enumerate().map(|(n, figure)| (figure.name.to_owned(), means.of(n).into())).collect(),
        }
    }

    fn row(&self, line: usize, i: usize, source: &[String], word: &AblatedWord) -> Vec<TsvCell> {
        let at = |j: usize| TsvCell::from(source.get(j).map_or("", String::as_str));
        let alpha = word.alpha.get(word.looks_at()).copied().unwrap_or_default();
        let mut cells = vec![
            TsvCell::from(self.model.config.name.as_str()),
            TsvCell::plain(&line),
            TsvCell::plain(&(i + 1)),
            TsvCell::from(self.word(word.token)),
            TsvCell::plain(&word.log_p),
            TsvCell::from(self.word(word.best)),
            at(word.looks_at()),
            TsvCell::plain(&alpha),
            at(word.depends_on()),
        ];
        cells.extend(FIGURES.iter().map(|figure| number((figure.of)(word))));
        cells
    }
}

fn heads() -> Vec<&'static str> {
    let own = ["model", "line", "position", "word", "log_p", "best", "looks_at", "alpha", "depends_on"];
    own.into_iter().chain(FIGURES.iter().map(|figure| figure.name)).collect()
}

fn number(value: Option<f64>) -> TsvCell {
    TsvCell::Plain(value.map_or_else(String::new, |value| (value as f32).to_string()))
}

fn matrix<T>(tested: &[AblatedWord], of: impl Fn(&AblatedWord, usize) -> T) -> Vec<Vec<T>> {
    tested.iter().map(|word| (0..word.without.len()).map(|j| of(word, j)).collect()).collect()
}

#[derive(Serialize)]
struct Record<'a> {
    model: &'a str,
    line: usize,
    source: &'a [String],
    target: Vec<&'a str>,
    log_p: f32,
    token_log_p: Vec<f32>,
    alpha: Vec<&'a [f32]>,
    js: Js,
    leave_one_out: Vec<Vec<f32>>,
    leave_one_out_log_p: Vec<Vec<f32>>,
    leave_one_out_changed: Vec<Vec<bool>>,
    tokens: Map<String, Value>,
    means: Map<String, Value>,
}

#[derive(Serialize)]
struct Js {
    uniform: Option<f64>,
    permuted: Option<f64>,
}

fn table(subjects: &[Subject]) -> String {
    let names = subjects.iter().map(|subject| subject.model.config.name.clone());
    let mut table = TextTable::new(std::iter::once("mean over the target tokens".to_owned()).chain(names));
    let row = |name: &str, of: &dyn Fn(&Subject) -> String| -> Vec<String> {
        std::iter::once(name.to_owned()).chain(subjects.iter().map(of)).collect()
    };
    table.row(row("sentences", &|subject| subject.means.sentences.to_string()));
    table.row(row("target tokens", &|subject| subject.means.words.to_string()));
    for (n, one) in FIGURES.iter().enumerate() {
        table.row(row(one.about, &|subject| figure(subject.means.of(n), 4)));
    }
    table.text()
}

fn summary(subjects: &[Subject]) -> String {
    let heads = ["model", "sentences", "tokens"].into_iter().chain(FIGURES.iter().map(|figure| figure.name));
    let heads: Vec<&str> = heads.collect();
    let body = subjects.iter().map(|Subject { model, means, .. }| {
        let counts = [means.sentences, means.words].map(|count| TsvCell::plain(&count));
        let figures = (0..FIGURES.len()).map(|n| number(means.of(n)));
        std::iter::once(model.config.name.as_str().into()).chain(counts).chain(figures).collect()
    });
    tsv::text(&heads, body)
}
