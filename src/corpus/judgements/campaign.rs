//! A campaign of human evaluation, of which a workspace keeps one: who judges which sentences, in which order, and in
//! which order the translations of each stand, under letters in the place of the systems' names. All orders follow
//! from the seed.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::judgements::judge::{Given, Judgement, Judgements, MOST_RATING, MOST_STARS};
use crate::store::file::{Workspace, one};
use engine::error::Result;

/// Who judges what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Campaign {
    /// What the orders are drawn with.
    pub seed: u64,
    pub is_blind: bool,
    /// Each translation is rated; else its errors are judged.
    pub rates: bool,
    /// A rating is given as one to five stars, each of which counts [`STAR`].
    pub in_stars: bool,
    /// Ratings alone are asked for (DA), not the errors that they are for (ESA). `None`: of a version that did not ask.
    pub ratings_only: Option<bool>,
    pub annotators: Vec<String>,
    pub each: usize,
    pub systems: Vec<String>,
    pub sentences: Vec<u32>,
}

/// What a star of a rating counts.
pub const STAR: u8 = MOST_RATING / MOST_STARS;

/// Streams of the seed: who judges which sentence, the order of sentences, that of translations.
const STREAMS: [u64; 3] = [0, 1, 2];

pub fn letter(n: usize) -> String {
    char::from_u32('A' as u32 + n as u32).filter(char::is_ascii_uppercase).map_or_else(|| n.to_string(), String::from)
}

impl Campaign {
    fn generator(&self, stream: u64, of: &str, at: u32) -> ChaCha8Rng {
        // FNV-1a, so that each annotator and sentence has an order of its own
        let bytes = of.bytes().chain(at.to_le_bytes());
        let mixed =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed ^ mixed);
        generator.set_stream(stream);
        generator
    }

    /// The sentences of an annotator, from 0, in their order; none of one who does not take part.
    pub fn tasks(&self, annotator: &str) -> Vec<u32> {
        let (count, each) = (self.annotators.len(), self.each.max(1));
        let Some(own) = self.annotators.iter().position(|name| name == annotator) else { return Vec::new() };
        let mut all = self.sentences.clone();
        all.shuffle(&mut self.generator(STREAMS[0], "", 0));
        // One after the other takes the next sentence, so that all have as much to do.
        let is_own = |n: usize| (0..each).any(|k| (n * each + k) % count == own);
        let own = all.into_iter().enumerate().filter(|(n, _)| is_own(*n));
        let mut tasks: Vec<u32> = own.map(|(_, at)| at).collect();
        tasks.shuffle(&mut self.generator(STREAMS[1], annotator, 0));
        tasks
    }

    /// The order in which the translations of a sentence, from 0, are shown to an annotator: places among [`Campaign::systems`].
    pub fn order(&self, annotator: &str, at: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.systems.len()).collect();
        if self.is_blind {
            order.shuffle(&mut self.generator(STREAMS[2], annotator, at as u32));
        }
        order
    }

    /// Whether a judgement says of a system's translation what is asked.
    pub fn has(&self, judgement: &Judgement, system: &str) -> bool {
        if self.rates { judgement.ratings.contains_key(system) } else { judgement.judges(system) }
    }

    /// As [`Judgement::settle`], where errors are asked for: a rating alone (DA, stars) says nothing of them.
    pub fn settle(&self, judgement: &mut Judgement) {
        let asks = self.rates && !self.in_stars && self.ratings_only != Some(true);
        judgement.settle(|system| asks && self.systems.contains(system));
    }

    /// The judgements that [`Campaign::settle`] changes; without `ratings_only`, if somebody judged errors.
    pub fn settled(&self, all: &Judgements) -> Vec<Given> {
        let said = self.sentences.iter().flat_map(|at| {
            let by = all.get(&(*at as usize));
            self.annotators.iter().filter_map(move |name| Some((*at as usize, name, by?.get(name)?)))
        });
        let judges = |known: &Judgement| self.systems.iter().any(|system| known.judges(system));
        if self.ratings_only.is_none() && !said.clone().any(|(.., known)| judges(known)) {
            return Vec::new();
        }
        let settled = said.filter_map(|(at, name, known)| {
            let mut judgement = known.clone();
            self.settle(&mut judgement);
            (judgement != *known).then(|| (at, name.clone(), judgement))
        });
        settled.collect()
    }

    /// Whether a judgement says of all systems what is asked.
    pub fn is_done(&self, judgement: &Judgement) -> bool {
        self.systems.iter().all(|system| self.has(judgement, system))
    }
}

impl Workspace {
    /// The campaign, where there is one.
    pub fn campaign(&self) -> Result<Option<Campaign>> {
        let sql = "SELECT document FROM setting WHERE name = 'campaign'";
        let document: Option<String> = self.ask(|all| one(all, sql, [], |row| row.get(0)))?;
        Ok(document.and_then(|document| serde_json::from_str(&document).ok()))
    }

    /// Begins a campaign in the place of the one that there is, or ends it. What was judged stays, as the campaign asked for it.
    pub fn set_campaign(&mut self, campaign: Option<&Campaign>) -> Result<()> {
        if let Some(before) = self.campaign()? {
            self.judge_all(&before.settled(&self.judgements_as_given()?), &[])?;
        }
        let document = campaign.map(|campaign| serde_json::to_string(campaign).unwrap_or_default());
        self.at_once(|all| {
            match &document {
                None => all.execute("DELETE FROM setting WHERE name = 'campaign'", []),
                Some(document) => all.execute("INSERT OR REPLACE INTO setting VALUES ('campaign', ?1)", [document]),
            }
            .map(drop)
        })
    }
}
