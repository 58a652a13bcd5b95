//! Floor 5: how far two annotators agree, and how much of it is more than chance: Cohen's kappa (Cohen 1960), and for
//! links the share that both drew. Imports `text`.

use std::collections::BTreeMap;

use crate::text::links::{Link, Links};

/// What two annotators said of the same things; counts of sentences add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion<T: Ord> {
    counts: BTreeMap<(T, T), u64>,
}

impl<T: Ord> Default for Confusion<T> {
    fn default() -> Self {
        Self { counts: BTreeMap::new() }
    }
}

/// Agreement of two annotators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kappa {
    /// How many things both judged.
    pub items: u64,
    /// Of how many they said the same.
    pub agreed: u64,
    /// p_o, the share of these.
    pub observed: f64,
    /// p_e, the share that two who judge apart from each other, each with his own habits, would have by chance.
    pub expected: f64,
    /// (p_o - p_e) / (1 - p_e); `None` where both gave one and the same judgement to everything, which tells nothing.
    pub kappa: Option<f64>,
}

impl<T: Ord + Clone> Confusion<T> {
    /// Counts `count` things of which the first annotator said `one` and the second `other`.
    pub fn add(&mut self, one: T, other: T, count: u64) {
        if count > 0 {
            *self.counts.entry((one, other)).or_default() += count;
        }
    }

    /// Adds what was counted elsewhere.
    pub fn add_all(&mut self, other: &Self) {
        for ((one, two), count) in &other.counts {
            self.add(one.clone(), two.clone(), *count);
        }
    }

    /// Each pair of judgements with how often it occurred.
    pub fn counts(&self) -> impl Iterator<Item = (&T, &T, u64)> {
        self.counts.iter().map(|((one, other), count)| (one, other, *count))
    }

    /// The agreement; `None` where nothing was counted.
    pub fn kappa(&self) -> Option<Kappa> {
        let items: u64 = self.counts.values().sum();
        if items == 0 {
            return None;
        }
        let agreed = self.counts().filter(|(one, other, _)| one == other).map(|(.., count)| count).sum::<u64>();
        let (first, second) = self.habits();
        let share = |count: u64| count as f64 / items as f64;
        let chance =
            |(judgement, count): (&&T, &u64)| share(*count) * second.get(*judgement).map_or(0.0, |count| share(*count));
        let (observed, expected) = (share(agreed), first.iter().map(chance).sum::<f64>());
        let is_open = expected < 1.0;
        Some(Kappa {
            items,
            agreed,
            observed,
            expected,
            kappa: is_open.then(|| (observed - expected) / (1.0 - expected)),
        })
    }

    /// How often each annotator gave each judgement.
    fn habits(&self) -> (BTreeMap<&T, u64>, BTreeMap<&T, u64>) {
        let (mut first, mut second): (BTreeMap<&T, u64>, BTreeMap<&T, u64>) = Default::default();
        for (one, other, count) in self.counts() {
            *first.entry(one).or_default() += count;
            *second.entry(other).or_default() += count;
        }
        (first, second)
    }

    /// Weighted kappa (Cohen 1968): 1 less the mean of `apart` over the pairs of judgements, as a share of what chance would
    /// give. `apart` is 0 for what is the same. `None` where chance gives nothing to be apart.
    pub fn weighted(&self, apart: impl Fn(&T, &T) -> f64) -> Option<f64> {
        let items: u64 = self.counts.values().sum();
        let (first, second) = self.habits();
        let observed: f64 = self.counts().map(|(one, other, count)| apart(one, other) * count as f64).sum();
        let mut expected = 0.0;
        for (one, count) in &first {
            for (other, times) in &second {
                expected += apart(one, other) * *count as f64 * *times as f64 / items as f64;
            }
        }
        (expected > 0.0).then(|| 1.0 - observed / expected)
    }
}

/// What an annotator said of a pair of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairVote {
    /// They are not linked.
    Apart,
    /// They may be linked.
    Possible,
    /// They are linked.
    Sure,
}

/// What two annotators said of each pair of words of a sentence with so many source and target words.
pub fn of_links(first: &Links, second: &Links, source: usize, target: usize) -> Confusion<PairVote> {
    let cell = |links: &Links, link: Link| match (links.is_sure(link), links.is_possible(link)) {
        (true, _) => PairVote::Sure,
        (false, true) => PairVote::Possible,
        (false, false) => PairVote::Apart,
    };
    let mut confusion = Confusion::default();
    let mut drawn: Vec<Link> = first.all().into_iter().chain(second.all()).map(|(link, _)| link).collect();
    drawn.sort_unstable();
    drawn.dedup();
    for link in &drawn {
        confusion.add(cell(first, *link), cell(second, *link), 1);
    }
    confusion.add(PairVote::Apart, PairVote::Apart, ((source * target) as u64).saturating_sub(drawn.len() as u64));
    confusion
}

/// Of the links of both annotators, sure and possible, the share that the other drew too: 2 |A ∩ B| / (|A| + |B|);
/// `None` where nobody drew any.
pub fn shared(confusion: &Confusion<PairVote>) -> Option<f64> {
    let (mut both, mut all) = (0, 0);
    for (one, other, count) in confusion.counts() {
        let (one, other) = (*one != PairVote::Apart, *other != PairVote::Apart);
        both += if one && other { 2 * count } else { 0 };
        all += count * (u64::from(one) + u64::from(other));
    }
    (all > 0).then(|| both as f64 / all as f64)
}
