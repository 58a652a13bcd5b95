//! Translates a sentence and prints alpha:
//! `cargo run --release -p interlinear-engine --example alpha -- models/rnnsearch-en-fr "The old mill turns."`

use engine::decoding::{SearchOptions, Specials, decode};
use engine::models::{Kernels, Model};
use engine::{nn::device::Device, ticket::CancellationToken};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, text] = arguments.as_slice() else { return Err("name a model folder and a sentence".into()) };
    let model = Model::load(folder, &Device::cpu())?;
    let mut stepper = model.stepper(Kernels::Fused, 1)?;
    let (source, options) = (model.source.encode(text), SearchOptions::default());
    let (specials, ticket) = (Specials::of(&model.config), CancellationToken::forever());
    let found = decode(stepper.as_mut(), specials, &[&source.ids], &options, &ticket, &mut |_, _| ())?;
    let Some(best) = found.first().and_then(|sentence| sentence.hypotheses.first()) else { return Ok(()) };
    println!("{:12}{}", "", source.tokens.iter().map(|word| format!("{word:>10}")).collect::<String>());
    for (word, alpha_i) in model.target.tokens(&best.tokens).iter().zip(best.alpha.iter().flatten()) {
        println!("{word:12}{}", alpha_i.iter().map(|alpha_ij| format!("{alpha_ij:10.3}")).collect::<String>());
    }
    Ok(())
}
