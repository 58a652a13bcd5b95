//! The sheet New training: a plan by the tables of [`recipe`](training::recipe), and the file written of it.

pub mod command;
#[cfg(feature = "gui")]
pub mod view;

use std::path::PathBuf;

use crate::app::{files::work::FileJob, state::AppState};
use crate::pages::training::command::{Field, TrainingCommand};
use engine::attention::{AttentionKind, find};

pub use training::recipe::TrainingPlan;

/// The state of the sheet New training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewTraining {
    pub plan: TrainingPlan,
    pub saved: Option<PathBuf>,
    pub message: Option<String>,
}

pub fn text(plan: &TrainingPlan, field: Field) -> String {
    let path = |path: &PathBuf| path.display().to_string();
    match field {
        Field::Architecture => plan.architecture.clone(),
        Field::Attention => plan.attention.clone().unwrap_or_default(),
        Field::Score => plan.score.clone().unwrap_or_default(),
        Field::Recipe => plan.recipe.clone(),
        Field::Sizes => plan.sizes.clone(),
        Field::Name => plan.name.clone(),
        Field::SourceLanguage => plan.source_language.clone(),
        Field::TargetLanguage => plan.target_language.clone(),
        Field::TrainSource => path(&plan.train.0),
        Field::TrainTarget => path(&plan.train.1),
        Field::DevelopmentSource => path(&plan.development.0),
        Field::DevelopmentTarget => path(&plan.development.1),
        Field::Vocabulary => plan.vocabulary.as_ref().map(path).unwrap_or_default(),
        Field::Output => path(&plan.output),
    }
}

/// A score that the new attention does not allow is replaced.
fn set(plan: &mut TrainingPlan, field: Field, text: String) {
    match field {
        Field::Architecture => {
            plan.architecture = text;
            let chooses = plan.chooses_attention();
            plan.attention = chooses.then(|| AttentionKind::Global.name().to_owned());
            plan.score = chooses.then(|| "general".to_owned());
        }
        Field::Attention => plan.attention = Some(text),
        Field::Score => plan.score = Some(text),
        Field::Recipe => plan.recipe = text,
        Field::Sizes => plan.sizes = text,
        Field::Name => plan.name = text,
        Field::SourceLanguage => plan.source_language = text,
        Field::TargetLanguage => plan.target_language = text,
        Field::TrainSource => plan.train.0 = text.into(),
        Field::TrainTarget => plan.train.1 = text.into(),
        Field::DevelopmentSource => plan.development.0 = text.into(),
        Field::DevelopmentTarget => plan.development.1 = text.into(),
        Field::Vocabulary => plan.vocabulary = (!text.is_empty()).then(|| text.into()),
        Field::Output => plan.output = text.into(),
    }
    let kind = plan.attention.as_deref().and_then(AttentionKind::from_name);
    let score = plan.score.as_deref().and_then(find);
    if let (Some(kind), Some(score)) = (kind, score)
        && !kind.allows(score)
    {
        plan.score = Some("general".to_owned());
    }
}

impl NewTraining {
    pub(crate) fn apply(&mut self, command: TrainingCommand, app: &mut AppState) {
        (self.saved, self.message) = (None, None);
        match command {
            TrainingCommand::Set(field, text) => set(&mut self.plan, field, text),
            TrainingCommand::Save(path) => {
                app.tasks.chore(FileJob::SaveTraining { plan: Box::new(self.plan.clone()), path });
            }
        }
    }

    pub(crate) fn training_saved(&mut self, path: PathBuf, trouble: Option<String>) {
        self.saved = trouble.is_none().then_some(path);
        self.message = trouble;
    }
}
