//! The models that align, of one direction or both, and pairs as they read them.

use crate::{
    align::arguments::AlignArgs, args, evaluate::opposite, input::InputFiles, output::provenance, windows::WindowItem,
};
use engine::error::{Error, Result};
use engine::evaluation::alignment::{Aligner, AlignerDirection, Refused, WordPair};
use engine::models::{Model, Stepper};
use engine::text::{links::Link, words::words};
use engine::{
    aligner::learned::Directions, analysis::symmetrize::symmetrization, evaluation::rows::RowReader,
    models::choice::ModelSpec,
};
use host::runtime::Runtime;
use training::settings::LinkWords;

type Loaded = (Model, Box<dyn Stepper>);

pub(super) struct Steppers {
    pub(super) forward: Box<dyn Stepper>,
    pub(super) reverse: Option<Box<dyn Stepper>>,
}

pub(super) struct Plan<'a> {
    pub(super) args: &'a AlignArgs,
    pub(super) forward: Model,
    pub(super) reverse: Option<Model>,
}

pub(super) struct Pair {
    pub(super) forward: WordPair,
    pub(super) reverse: Option<WordPair>,
    pub(super) words: usize,
}

/// Loads the models, and refuses what they cannot do.
pub(super) fn plan(args: &AlignArgs) -> anyhow::Result<(Plan<'_>, Steppers)> {
    if args.symmetrize.is_some() && args.reverse_model.is_none() {
        let message = "--symmetrize needs two directions; give --reverse-model, or --statistical in place of a model";
        return Err(Error::Input(message.to_owned()).into());
    }
    let runtime = args.run.plan()?;
    let (forward, forward_stepper) = load(&runtime, args, &args.model.clone().unwrap_or_default())?;
    let loaded = args.reverse_model.as_ref().map(|folder| load(&runtime, args, folder)).transpose()?;
    let (reverse, reverse_stepper) = loaded.unzip();
    if let Some(reverse) = &reverse {
        opposite(&forward, reverse)?;
    }
    let steppers = Steppers { forward: forward_stepper, reverse: reverse_stepper };
    let check = |model: &Model, stepper: &dyn Stepper| RowReader::chosen(model.into(), stepper, args.reading.reading);
    let there = check(&forward, &*steppers.forward);
    let back = reverse.as_ref().zip(steppers.reverse.as_ref()).map(|(model, stepper)| check(model, &**stepper));
    // Of alpha it is enough that one of both has such rows: those of the other belong to their own words.
    match back {
        Some(back) if args.reading.is_head() => there.and(back)?,
        Some(back) => there.or(back)?,
        None => there?,
    };
    Ok((Plan { args, forward, reverse }, steppers))
}

fn load(runtime: &Runtime, args: &AlignArgs, model: &ModelSpec) -> anyhow::Result<Loaded> {
    let model = args::load(model, runtime)?;
    provenance::fact("reading", args.reading.reading.map_or("", |reading| reading.name()));
    if args.reading.is_head() {
        let stepper = model.stepper_with_head(runtime.engine, runtime.threads)?;
        return Ok((model, stepper));
    }
    let mut stepper = model.stepper(runtime.engine, runtime.threads)?;
    Aligner { system: (&model).into(), stepper: stepper.as_mut() }.require_alignment()?;
    Ok((model, stepper))
}

impl WindowItem for Result<Pair> {
    fn facts(&self) -> (usize, Option<&Error>) {
        (self.as_ref().map_or(0, |pair| pair.words), self.as_ref().err())
    }
}

impl Plan<'_> {
    pub(super) fn next(&self, files: &mut InputFiles) -> Result<Option<Result<Pair>>> {
        let Some((source, target)) = files.pair()? else { return Ok(None) };
        let read = source.map_err(|why| Refused { target: false, why }).and_then(|source| {
            let target = target.map_err(|why| Refused { target: true, why })?;
            self.read(&source, &target)
        });
        Ok(Some(read.map_err(|refused| files.side(refused.target).refuse(refused.why))))
    }

    fn read(&self, source: &str, target: &str) -> std::result::Result<Pair, Refused> {
        let pretokenized = self.args.pairs.pretokenized;
        let read = |model: &Model, pair| {
            let pair = WordPair::read(model, pair, pretokenized)?;
            Ok(if self.args.counted.link_words == LinkWords::Tokens { pair.by_words() } else { pair })
        };
        let forward = read(&self.forward, (source, target))?;
        let reverse = self.reverse.as_ref().map(|reverse| {
            // Here the target is what is translated from.
            read(reverse, (target, source)).map_err(|refused| Refused { target: !refused.target, ..refused })
        });
        let words = words(source).count() + words(target).count();
        Ok(Pair { forward, reverse: reverse.transpose()?, words })
    }

    pub(super) fn put_together(&self, there: Vec<Link>, back: Vec<Link>) -> Vec<Link> {
        let back: Vec<Link> = back.into_iter().map(Link::turned).collect();
        let way = self.args.symmetrize.unwrap_or_else(default_way);
        way.of(Directions { forward: there, reverse: back, ..Directions::default() })
    }
}

fn default_way() -> AlignerDirection {
    symmetrization("grow-diag-final-and").map_or(AlignerDirection::Forward, AlignerDirection::Both)
}
