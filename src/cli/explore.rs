//! `interlinear explore`: opens the window. The window itself is handed in.

pub mod serve;

use std::{path::PathBuf, time::Duration};

use clap::{ArgMatches, Args, FromArgMatches as _};

use crate::{args, args::RunArgs, output};
use engine::nn::{device, device::DeviceChoice};
use engine::{clock::Instant, error::Error, interventions::InterventionFile, models::choice::ModelSpec};
use explorer::session::driver::OpenWith as WindowOptions;
use explorer::session::{defect, link, link::ShownLink};
use explorer::{app::files::claim::Claim, jobs::files::inbox::GivenOver};
use host::bundled;

/// So long a window that is open has time to take what it is given; it looks four times a second.
const ANSWER: Duration = Duration::from_secs(3);

/// Opens the window and returns when it is closed.
pub type OpenWindow = fn(WindowOptions) -> engine::error::Result<()>;

/// What the commands cannot reach themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// The window, in a build that has one.
    pub window: Option<OpenWindow>,
}

/// As typed. The alias is what a desktop runs for a file.
#[derive(Args, Clone, Debug, Default)]
#[command(visible_alias = "open")]
pub struct ExploreArgs {
    /// Files and folders to open as if they were dropped on the window: a corpus, a text, links, a model; or a
    /// link that the explorer copied, in quotes
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A model folder to show, or the name of an installed model; once for each column (by default those shown last, or
    /// the bundled ones)
    #[arg(long, value_name = "DIR", value_parser = args::folder())]
    model: Vec<ModelSpec>,
    /// A text file to open as a list
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// Its translation, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    target: Option<PathBuf>,
    /// A file with a sentence and what is set in it, saved from the window or written for `translate --interventions`
    #[arg(long, value_name = "FILE")]
    interventions: Option<PathBuf>,
    /// The address of the explorer in a browser; links that are copied begin with it, from now on
    #[arg(long, value_name = "ADDRESS")]
    site: Option<String>,
    /// In the mode for a class: the sentence, two columns, and nothing else to press by mistake
    #[arg(long)]
    class: bool,
    /// Open another window although one is open, which otherwise opens what is given; what is done in it is not kept
    #[arg(long)]
    new_window: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Opens the window with the given models and texts.
pub fn run(matches: &ArgMatches, context: Context) -> anyhow::Result<()> {
    open(ExploreArgs::from_arg_matches(matches)?, context)
}

pub fn open(args: ExploreArgs, context: Context) -> anyhow::Result<()> {
    let Some(window) = context.window else {
        let sentence =
            "this build of Interlinear has no window; build it with `--features gui`, or see `interlinear --help`";
        return Err(Error::Input(sentence.into()).into());
    };
    let saved = state_file();
    if let Some(state) = saved.clone() {
        let window = std::thread::current().id();
        std::panic::set_hook(Box::new(move |info| {
            output::report_panic(info);
            defect::note(&state, info, window);
        }));
    }
    let is_alone = args.new_window;
    let options = plan(args, saved)?;
    if !is_alone && is_left_to_another(&options) {
        output::notify("the window that is open has it; --new-window opens another");
        return Ok(());
    }
    Ok(window(options)?)
}

fn is_left_to_another(options: &WindowOptions) -> bool {
    let Some(state) =
        options.saved.as_deref().filter(|_| options.device.is_none() && options.threads.is_none() && !options.class)
    else {
        return false;
    };
    let claim = Claim::on(state);
    let is_open = claim.is_taken();
    claim.give_up();
    if !is_open {
        return false;
    }
    // The other one may run in another folder.
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let of_model = |model: &ModelSpec| ModelSpec { folder: whole(&model.folder), ..model.clone() };
    let given = GivenOver {
        files: options.files.iter().chain(&options.interventions).map(whole).collect(),
        models: options.models.iter().map(of_model).collect(),
        source: options.source.as_ref().map(whole),
        target: options.target.as_ref().map(whole),
        link: options.link.clone(),
    };
    let Ok(letter) = given.send(state) else { return false };
    let began = Instant::now();
    while began.elapsed() < ANSWER && letter.exists() {
        std::thread::sleep(ANSWER / 100);
    }
    // A window that hangs or is about to close takes nothing. One that took it in the last moment has it.
    std::fs::remove_file(letter).is_err()
}

fn plan(mut args: ExploreArgs, saved: Option<PathBuf>) -> engine::error::Result<WindowOptions> {
    let link_in = |path: &PathBuf| path.to_str().filter(|text| link::found_in(text).is_some()).map(str::to_owned);
    let link = args.files.iter().find_map(link_in);
    args.files.retain(|path| link_in(path).is_none());
    link.as_deref().map(ShownLink::read).transpose()?;
    if args.site.as_ref().is_some_and(|site| !["http://", "https://"].iter().any(|start| site.starts_with(start))) {
        return Err(Error::Input("--site is an address that begins with http:// or https://".to_owned()));
    }
    let chosen = args.run.device;
    if chosen != DeviceChoice::Auto {
        device::pick(chosen)?;
    }
    let models = args.model.iter().map(|model| model.folder.clone());
    let files = args.files.iter().chain(&args.source).chain(&args.target).chain(&args.interventions).cloned();
    for path in files.chain(models) {
        std::fs::metadata(&path).map_err(|error| Error::io(&path, &error))?;
    }
    if let Some(path) = &args.interventions {
        InterventionFile::open(path)?;
    }
    let bundled = bundled::models();
    Ok(WindowOptions {
        saved,
        models: args.model,
        opening: bundled::opening(&bundled),
        bundled: bundled::installed(&bundled),
        home: bundled::home(),
        link,
        class: args.class,
        site: args.site.map(|site| site.split('#').next().unwrap_or_default().to_owned()),
        files: args.files.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect(),
        source: args.source,
        target: args.target,
        interventions: args.interventions,
        device: (chosen != DeviceChoice::Auto).then_some(chosen),
        threads: args.run.threads,
        kept: None,
    })
}

fn state_file() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "interlinear")?;
    Some(folders.data_local_dir().join("session.json"))
}
