//! `interlinear analyse --assign`: a campaign of human evaluation with the sentences that are chosen.

use clap::Args;

use crate::output;
use corpus::judgements::campaign::Campaign;
use corpus::store::{corpus::CorpusTable, file::Workspace};
use engine::error::Result;

/// As typed.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(super) struct CampaignArgs {
    /// Begin a campaign: these annotators, with commas between, judge what the systems say of the sentences that are chosen, on page
    /// Corpus, Judge. --format tasks lists who judges what
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    assign: Vec<String>,
    /// So many annotators judge each sentence; without it all do
    #[arg(long, value_name = "N", requires = "assign")]
    each: Option<usize>,
    /// The order of sentences and translations follows from it
    #[arg(long, value_name = "N", default_value_t = 1, requires = "assign")]
    order_seed: u64,
    /// Show the names of the systems, in their order
    #[arg(long, requires = "assign")]
    named: bool,
    /// Errors are asked for and no ratings: a translation is judged once some are marked, or it is said that there are none
    #[arg(long, requires = "assign")]
    marks_only: bool,
    /// A rating is one to five stars, kept as 20 to 100, and not a number from 0 to 100
    #[arg(long, requires = "assign", conflicts_with = "marks_only")]
    stars: bool,
    /// Ratings alone are asked for (DA); else a rating without a mark says that a translation has no errors (ESA). Stars say nothing of
    /// errors
    #[arg(long, requires = "assign", conflicts_with = "marks_only")]
    ratings_only: bool,
}

impl CampaignArgs {
    pub(super) fn begin(&self, workspace: &mut Workspace, corpus: &CorpusTable, rows: &[u32]) -> Result<bool> {
        if self.assign.is_empty() {
            return Ok(false);
        }
        let plan = Campaign {
            seed: self.order_seed,
            is_blind: !self.named,
            rates: !self.marks_only,
            in_stars: self.stars,
            ratings_only: Some(self.ratings_only),
            annotators: self.assign.clone(),
            each: self.each.unwrap_or(usize::MAX),
            ..Campaign::default()
        };
        let campaign = plan.begun(corpus, rows)?;
        workspace.set_campaign(Some(&campaign))?;
        let (sentences, systems) = (campaign.sentences.len(), campaign.systems.len());
        output::notify(&format!("{sentences} sentences of {systems} systems are assigned"));
        if sentences < rows.len() {
            let left = rows.len() - sentences;
            output::notify(&format!("{left} sentences are left out, of which not every system says something"));
        }
        Ok(true)
    }
}
