//! A training configuration made from the tables: an architecture of [`TRAINED`], for luong a place of
//! [`KINDS`] and a score of [`ATTENTIONS`](engine::attention::ATTENTIONS), sizes and a recipe of the tables here.
//!
//! [`PAPERS`] holds what each paper says of its training; what a paper leaves open has the program's own default.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::settings::{
    DataSettings, LinkWords, ModelSettings, OptimizerSettings, Rule, ScheduleSettings, StartSettings, TextPair,
    TrainingSettings,
};
use engine::attention::{AttentionKind, KINDS, scores};
use engine::error::{Error, Result};
use engine::models::{ModelEntry, TRAINED};
use engine::{models::config::Architecture, text::write::write_atomic};

/// What is wanted, in the words of the tables.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingPlan {
    pub name: String,
    pub output: PathBuf,
    /// A name of [`TRAINED`].
    pub architecture: String,
    /// A name of [`KINDS`] (luong); `None`: `global`.
    pub attention: Option<String>,
    /// A name of [`ATTENTIONS`](engine::attention::ATTENTIONS) (luong); `None`: `general`.
    pub score: Option<String>,
    /// A name of [`RECIPES`].
    pub recipe: String,
    /// A name of [`SIZES`].
    pub sizes: String,
    pub source_language: String,
    pub target_language: String,
    pub train: (PathBuf, PathBuf),
    pub development: (PathBuf, PathBuf),
    /// A model folder whose vocabularies are taken, so that both models can form an ensemble.
    pub vocabulary: Option<PathBuf>,
}

impl Default for TrainingPlan {
    fn default() -> Self {
        Self {
            name: "new model".to_owned(),
            output: "model".into(),
            architecture: TRAINED.first().map_or_else(String::new, |entry| entry.name.to_owned()),
            attention: None,
            score: None,
            recipe: RECIPES[0].name.to_owned(),
            sizes: SIZES[0].name.to_owned(),
            source_language: "en".to_owned(),
            target_language: "fr".to_owned(),
            train: ("train.en".into(), "train.fr".into()),
            development: ("dev.en".into(), "dev.fr".into()),
            vocabulary: None,
        }
    }
}

/// One line of [`RECIPES`] or [`SIZES`].
pub struct RecipeEntry {
    pub name: &'static str,
    pub about: &'static str,
    apply: fn(&PaperEntry, &mut TrainingSettings),
}

/// Every way to move the weights.
pub const RECIPES: &[RecipeEntry] = &[
    RecipeEntry {
        name: "paper",
        about: id!("The paper's own rule, rate, batch and start."),
        apply: |paper, settings| (paper.apply)(settings),
    },
    RecipeEntry {
        name: "adam",
        about: id!(
            "Adam with rate 0.001 that falls to a twentieth, dropout 0.2, batches of 80: an hour on two cores for small sizes."
        ),
        apply: adam,
    },
];

/// One line of [`PAPERS`].
pub struct PaperEntry {
    pub architecture: Architecture,
    pub about: &'static str,
    pub citation: &'static str,
    apply: fn(&mut TrainingSettings),
    sizes: fn(&mut ModelSettings),
    small: fn(&mut ModelSettings),
}

/// What each paper says of its training and of its sizes.
pub const PAPERS: &[PaperEntry] = &[
    PaperEntry {
        architecture: Architecture::RNN_SEARCH,
        about: id!(
            "Adadelta with rho 0.95 and epsilon 1e-6, gradient norm cut to 1, batches of 80 cut from 20 sorted ones."
        ),
        citation: id!("Bahdanau, Cho, Bengio 2015, appendix B"),
        apply: |settings| adadelta(settings, 80),
        sizes: |model| {
            (model.embedding, model.hidden, model.maxout, model.alignment) = (620, 1000, 500, 1000);
            (model.source_vocabulary, model.target_vocabulary) = (30_000, 30_000);
        },
        small: |model| (model.maxout, model.alignment) = (256, 320),
    },
    PaperEntry {
        architecture: Architecture::RNN_ENC_DEC,
        about: id!(
            "Adadelta with rho 0.95 and epsilon 1e-6, batches of 64. The norm of the gradient is cut to 1 as in Bahdanau et al. 2015."
        ),
        citation: id!("Cho et al. 2014, section 4.1"),
        apply: |settings| adadelta(settings, 64),
        sizes: |model| {
            (model.embedding, model.hidden, model.maxout) = (100, 1000, 500);
            (model.source_vocabulary, model.target_vocabulary) = (15_000, 15_000);
        },
        small: |model| model.maxout = 256,
    },
    PaperEntry {
        architecture: Architecture::LUONG,
        about: id!(
            "Gradient descent from rate 1, halved after 5 epochs and after each further one of 10, gradient norm cut to 5, batches of 128, every weight uniform in [-0.1, 0.1] at first."
        ),
        citation: id!("Luong, Pham, Manning 2015, section 4.1"),
        apply: descent,
        sizes: |model| {
            (model.embedding, model.hidden, model.layers) = (1000, 1000, Some(4));
            (model.source_vocabulary, model.target_vocabulary) = (50_000, 50_000);
        },
        small: |model| model.layers = Some(2),
    },
];

/// Every choice of sizes.
pub const SIZES: &[RecipeEntry] = &[
    RecipeEntry {
        name: "small",
        about: id!("The sizes of the bundled models, which a laptop trains in hours."),
        apply: small,
    },
    RecipeEntry {
        name: "paper",
        about: id!("The paper's own sizes, which took its authors days on a graphics card."),
        apply: |paper, settings| (paper.sizes)(&mut settings.model),
    },
];

fn small(paper: &PaperEntry, TrainingSettings { model, .. }: &mut TrainingSettings) {
    (model.embedding, model.hidden) = (256, 320);
    (model.source_vocabulary, model.target_vocabulary) = (12_000, 14_000);
    (paper.small)(model);
}

fn adadelta(settings: &mut TrainingSettings, batch: usize) {
    settings.model.start = StartSettings::Papers;
    settings.optimizer = OptimizerSettings {
        rule: Rule::Adadelta,
        learning_rate: Some(1.0),
        epsilon: Some(1e-6),
        ..OptimizerSettings::default()
    };
    settings.schedule.batch = batch;
}

fn descent(settings: &mut TrainingSettings) {
    settings.model.start = StartSettings::Uniform;
    settings.optimizer = OptimizerSettings {
        rule: Rule::Sgd,
        learning_rate: Some(1.0),
        clip: 5.0,
        halve_after_epochs: Some(5),
        ..OptimizerSettings::default()
    };
    // ten epochs end the run, however many updates they come to
    settings.schedule = ScheduleSettings { batch: 128, epochs: Some(10), updates: 10_000_000, ..settings.schedule };
}

fn adam(_: &PaperEntry, settings: &mut TrainingSettings) {
    settings.optimizer = OptimizerSettings {
        rule: Rule::Adam,
        learning_rate: Some(1e-3),
        decay_from: Some(5000),
        ..OptimizerSettings::default()
    };
    let schedule = &mut settings.schedule;
    (schedule.updates, schedule.dropout) = (8500, 0.2);
    (schedule.measure_every, schedule.checkpoint_every) = (500, 250);
}

impl TrainingPlan {
    /// Whether a place and a score are to be chosen.
    pub fn chooses_attention(&self) -> bool {
        self.architecture == Architecture::LUONG.name()
    }

    pub fn paper(&self) -> Result<&'static PaperEntry> {
        let entry = named("architecture", &self.architecture, TRAINED, |entry: &ModelEntry| entry.name)?;
        let paper = PAPERS.iter().find(|paper| paper.architecture.name() == entry.name);
        paper.ok_or_else(|| Error::Internal(format!("{} has no line in the table of recipes", entry.name)))
    }

    /// With paths that begin at `here` turned into paths that begin at `folder`, where the file will lie. Those that
    /// nobody has chosen are names beside the file.
    pub fn seen_from(mut self, here: &Path, folder: &Path) -> Self {
        let base = here.join(folder);
        let first = Self::default();
        let untouched = [&first.train.0, &first.train.1, &first.development.0, &first.development.1, &first.output];
        let (train, development) = (&mut self.train, &mut self.development);
        let texts = [&mut train.0, &mut train.1, &mut development.0, &mut development.1];
        for path in texts.into_iter().chain([&mut self.output]).chain(&mut self.vocabulary) {
            if untouched.contains(&&*path) {
                continue;
            }
            let full = here.join(&*path);
            *path = full.strip_prefix(&base).map_or_else(|_| full.clone(), Path::to_path_buf);
        }
        self
    }

    pub fn compose(&self) -> Result<TrainingSettings> {
        let paper = self.paper()?;
        let recipe = named("recipe", &self.recipe, RECIPES, |entry| entry.name)?;
        let sizes = named("set of sizes", &self.sizes, SIZES, |entry| entry.name)?;
        let attention = self.attention()?;
        let Self { architecture, source_language, target_language, .. } = self.clone();
        let mut model = ModelSettings { architecture, source_language, target_language, ..ModelSettings::default() };
        if let Some((kind, score)) = attention {
            model.attention = Some(kind.name().to_owned());
            model.score = Some(score.to_owned());
            model.input_feeding = Some(kind != AttentionKind::None);
            model.reverse_source = Some(true);
            model.window = kind.is_local().then_some(WINDOW);
        }
        let (development, vocabulary) = (pair(&self.development), self.vocabulary.clone());
        let mut settings = TrainingSettings {
            name: self.name.clone(),
            output: self.output.clone(),
            model,
            data: DataSettings { train: vec![pair(&self.train)], development, vocabulary, max_length: MAX_LENGTH },
            optimizer: OptimizerSettings::default(),
            schedule: ScheduleSettings::default(),
            guide: None,
        };
        (sizes.apply)(paper, &mut settings);
        (recipe.apply)(paper, &mut settings);
        settings.check(Path::new("the new configuration"))?;
        Ok(settings)
    }

    fn attention(&self) -> Result<Option<(AttentionKind, &'static str)>> {
        if !self.chooses_attention() {
            let mut given = [("attention", &self.attention), ("score", &self.score)].into_iter();
            let Some((what, _)) = given.find(|(_, name)| name.is_some()) else { return Ok(None) };
            let (own, luong) = (&self.architecture, Architecture::LUONG.name());
            let message = format!("{own} has its paper's own {what}; leave {what} out, or choose {luong}");
            return Err(Error::Input(message));
        }
        let kind = self.attention.as_deref().unwrap_or(AttentionKind::Global.name());
        let kind = named("attention", kind, KINDS, |entry| entry.name)?.kind;
        let table: Vec<_> = scores(Architecture::LUONG.name()).collect();
        let score = named("score", self.score.as_deref().unwrap_or("general"), &table, |entry| entry.name)?;
        if !kind.allows(score) {
            return Err(Error::Input(format!(
                "the score {} does not look at the source words, so {} has no window of them; choose another score, or global",
                score.name,
                kind.name()
            )));
        }
        Ok(Some((kind, score.name)))
    }

    pub fn explanation(&self) -> Result<Vec<String>> {
        let paper = self.paper()?;
        let model = named("architecture", &self.architecture, TRAINED, |entry: &ModelEntry| entry.name)?;
        let mut lines = vec![model.citation.to_owned()];
        let chosen = self.attention()?;
        let kind = chosen.and_then(|(kind, _)| KINDS.iter().find(|entry| entry.kind == kind));
        lines.extend(kind.map(|entry| format!("{}, {}", entry.name, entry.explanation)));
        let looks = chosen.is_none_or(|(kind, _)| kind != AttentionKind::None);
        let own = |name: &str| chosen.is_none_or(|(_, score)| score == name);
        let score = scores(&self.architecture).find(|entry| looks && own(entry.name));
        lines.extend(score.map(|entry| format!("{} ({})", entry.equation, entry.citation)));
        lines.push(if self.recipe == RECIPES[0].name {
            format!("{} {}.", paper.about, paper.citation)
        } else {
            named("recipe", &self.recipe, RECIPES, |entry| entry.name)?.about.to_owned()
        });
        Ok(lines)
    }
}

/// D of local attention (Luong et al. 2015, section 4.1).
const WINDOW: usize = 10;
/// Most words of a sentence, as in both papers of 2015.
const MAX_LENGTH: usize = 50;

fn pair((source, target): &(PathBuf, PathBuf)) -> TextPair {
    let (source, target, link_words) = (source.clone(), target.clone(), LinkWords::default());
    TextPair { source, target, repeat: 1, limit: None, links: None, link_words }
}

fn named<'a, T>(what: &str, name: &str, table: &'a [T], names: impl Fn(&T) -> &str) -> Result<&'a T> {
    let found = table.iter().find(|entry| names(entry) == name);
    found.ok_or_else(|| {
        let list: Vec<&str> = table.iter().map(names).collect();
        Error::Input(format!("there is no {what} `{name}`; choose one of {}", list.join(", ")))
    })
}

/// The file as it is written: the choice in comments, then every key.
pub fn text(plan: &TrainingPlan) -> Result<String> {
    let settings = plan.compose()?;
    let keys = toml::to_string(&settings)
        .map_err(|error| Error::Internal(format!("the configuration cannot be written ({error})")))?;
    let mut text = String::new();
    for line in plan.explanation()? {
        // writing to a string cannot fail
        let _ = writeln!(text, "# {line}");
    }
    text.push_str("# Paths begin at the folder of this file.\n\n");
    text.push_str(&keys);
    Ok(text)
}

/// Writes the configuration to a file, in a new folder where there is none, and reads it back. `replace` allows that
/// there is such a file.
pub fn save(plan: &TrainingPlan, path: &Path, replace: bool) -> Result<()> {
    if path.exists() && !replace {
        return Err(Error::file(path, "exists already; choose another name or replace it with `train --new --force`"));
    }
    let text = text(plan)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    write_atomic(path, |file| file.write_all(text.as_bytes()))?;
    TrainingSettings::load(path).map(|_| ())
}

/// What to type to train with this file.
pub fn command(path: &Path) -> String {
    let path = path.display().to_string();
    if path.contains([' ', '\'', '"', '\\']) {
        format!("interlinear train \"{}\"", path.replace('"', "\\\""))
    } else {
        format!("interlinear train {path}")
    }
}
