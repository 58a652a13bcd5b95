//! `interlinear analyse`: how links are read off alpha, as typed.

use clap::Args;

use crate::args::one_of;
use corpus::export::out;
use engine::analysis::symmetrize::SYMMETRIZATIONS;

/// How links are read off alpha, as typed.
#[derive(Args, Clone, Debug)]
pub(super) struct LinkArgs {
    /// With --format links: all with alpha of at least this, rather than the greatest of each target word
    #[arg(long, value_name = "ALPHA", value_parser = hundredths, conflicts_with = "symmetrize")]
    threshold: Option<u8>,
    /// With --format links: the greatest of each row and of each column of alpha, put together as Moses does
    #[arg(long, value_name = "RULE", value_parser = one_of(SYMMETRIZATIONS.iter().enumerate().map(|(at, rule)| (rule.name, rule.about, at))))]
    symmetrize: Option<usize>,
}

impl LinkArgs {
    pub(super) fn plan(&self) -> out::LinkRule {
        match (self.threshold, self.symmetrize) {
            (Some(hundredths), _) => out::LinkRule::Above(hundredths),
            (None, Some(rule)) => out::LinkRule::Symmetrised(rule),
            (None, None) => out::LinkRule::Greatest,
        }
    }
}

fn hundredths(text: &str) -> std::result::Result<u8, String> {
    let share = text.parse::<f32>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map(|share| (share * 100.0).round() as u8).ok_or_else(|| "write a number from 0 to 1, such as 0.2".to_owned())
}
