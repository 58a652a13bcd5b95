//! How far annotators agree, and how much of it is more than chance: Cohen's kappa of two (Cohen 1960), for links the
//! share that both drew, and of any number, where each judged some of the things, Krippendorff's alpha (Krippendorff 2011): 1 for
//! perfect agreement, 0 for what chance would give, below 0 where they differ more than that. Imports `text`.

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

    pub fn add_all(&mut self, other: &Self) {
        for ((one, two), count) in &other.counts {
            self.add(one.clone(), two.clone(), *count);
        }
    }

    pub fn counts(&self) -> impl Iterator<Item = (&T, &T, u64)> {
        self.counts.iter().map(|((one, other), count)| (one, other, *count))
    }

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

    fn habits(&self) -> (BTreeMap<&T, u64>, BTreeMap<&T, u64>) {
        let (mut first, mut second): (BTreeMap<&T, u64>, BTreeMap<&T, u64>) = Default::default();
        for (one, other, count) in self.counts() {
            *first.entry(one).or_default() += count;
            *second.entry(other).or_default() += count;
        }
        (first, second)
    }

    /// Weighted kappa (Cohen 1968): 1 less the mean of `apart` over the pairs of judgements, as a share of what chance
    /// would give. `apart` is 0 for what is the same. `None` where chance gives nothing to be apart.
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
    Apart,
    Possible,
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

/// Judgements of things, counted as pairs of judgements of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedUnits<T: Ord> {
    /// o_ck: how often one said c and another k of a thing, each thing of m judgements weighed by 1 / (m - 1).
    pairs: BTreeMap<(T, T), f64>,
    /// n_c: how often each was said.
    counts: BTreeMap<T, f64>,
    /// Things that two or more judged.
    pub units: usize,
    pub values: usize,
}

impl<T: Ord> Default for JudgedUnits<T> {
    fn default() -> Self {
        Self { pairs: BTreeMap::new(), counts: BTreeMap::new(), units: 0, values: 0 }
    }
}

impl<T: Ord + Clone> JudgedUnits<T> {
    /// Counts what was said of a thing; what only one said tells nothing.
    pub fn add(&mut self, said: &[T]) {
        if said.len() < 2 {
            return;
        }
        self.units += 1;
        self.values += said.len();
        let weight = 1.0 / (said.len() - 1) as f64;
        for (i, one) in said.iter().enumerate() {
            *self.counts.entry(one.clone()).or_default() += 1.0;
            for (_, other) in said.iter().enumerate().filter(|(j, _)| *j != i) {
                *self.pairs.entry((one.clone(), other.clone())).or_default() += weight;
            }
        }
    }

    /// alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, where d is how far two judgements are apart, 0 for the
    /// same. `None` where all said the same of everything, or nothing is counted.
    pub fn alpha(&self, apart: impl Fn(&T, &T) -> f64) -> Option<f64> {
        let observed: f64 = self.pairs.iter().map(|((one, other), count)| count * apart(one, other)).sum();
        let mut expected = 0.0;
        for (one, count) in &self.counts {
            expected += self.counts.iter().map(|(other, times)| count * times * apart(one, other)).sum::<f64>();
        }
        (expected > 0.0).then(|| 1.0 - (self.values as f64 - 1.0) * observed / expected)
    }

    /// alpha of names: any two that differ are equally far apart.
    pub fn nominal(&self) -> Option<f64> {
        self.alpha(|one, other| f64::from(u8::from(one != other)))
    }

    /// alpha of ranks: two are so far apart as judgements lie between them.
    pub fn ordinal(&self) -> Option<f64> {
        self.alpha(|one, other| {
            let (low, high) = if one < other { (one, other) } else { (other, one) };
            let between: f64 = self.counts.range(low..=high).map(|(_, count)| count).sum();
            (between - f64::midpoint(self.counts[low], self.counts[high])).powi(2)
        })
    }
}

impl JudgedUnits<u8> {
    /// alpha of numbers: two are apart by the square of their difference.
    pub fn interval(&self) -> Option<f64> {
        self.alpha(|one, other| f64::from(one.abs_diff(*other)).powi(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four observers, twelve units.
    #[test]
    fn alpha_is_that_of_the_paper() {
        let of = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ];
        let mut units = JudgedUnits::default();
        for n in 0..12 {
            let said: Vec<u8> = of.iter().map(|one| one[n]).filter(|value| *value > 0).collect();
            units.add(&said);
        }
        assert_eq!((units.units, units.values), (11, 40), "unit 12 was judged once");
        let near = |alpha: Option<f64>, wanted: f64| assert!((alpha.expect("some") - wanted).abs() < 5e-4, "{alpha:?}");
        near(units.nominal(), 0.743);
        near(units.ordinal(), 0.815);
        near(units.interval(), 0.849);
    }

    #[test]
    fn what_tells_nothing_has_no_alpha() {
        let mut units = JudgedUnits::<u8>::default();
        assert_eq!(units.nominal(), None);
        units.add(&[1]);
        units.add(&[2, 2, 2]);
        assert_eq!((units.units, units.interval()), (1, None), "all said the same");
        units.add(&[1, 1]);
        assert_eq!(units.interval(), Some(1.0));
    }
}
