//! A stepper without a network: log p drawn from a hash of the source and the whole prefix.
//!
//! The hash travels through the rows as a network's state would, so a search that mixes up
//! parents gets other numbers than [`Fake::state`] computes from scratch.

use interlinear::models::{Need, StepOutput, StepRow, Stepper};
use interlinear::{error::Result, ticket::Generation};

#[derive(Clone, Default)]
pub struct Fake {
    pub seed: u64,
    pub vocabulary: usize,
    pub aligned: bool,
    pub coarse: bool,
    pub impossible: Option<usize>,
    pub prefix: Vec<u32>,
    pub broken_at: Option<usize>,
    pub cancel: Option<(usize, Generation)>,
    pub joining: bool,
    pub joined: usize,
    pub steps: usize,
    pub begun: usize,
    pub sources: Vec<Vec<u32>>,
    pub rows: Vec<(usize, u64)>,
    pub stepped: usize,
}

fn mix(state: u64, value: u64) -> u64 {
    let mut x = state ^ value.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn uniform(state: u64, index: usize) -> f64 {
    (mix(state, index as u64) >> 11) as f64 / (1u64 << 53) as f64
}

fn log_softmax(energies: &[f64]) -> Vec<f64> {
    let sum: f64 = energies.iter().map(|e| e.exp()).sum();
    energies.iter().map(|e| e - sum.ln()).collect()
}

impl Fake {
    pub fn new(seed: u64, vocabulary: usize) -> Self {
        Self { seed, vocabulary, aligned: true, ..Self::default() }
    }

    pub fn state(&self, source: &[u32], prefix: &[u32]) -> u64 {
        let start = source.iter().fold(mix(self.seed, 77), |state, &word| mix(state, word.into()));
        prefix.iter().fold(start, |state, &word| mix(state, word.into()))
    }

    pub fn log_p(&self, state: u64) -> Vec<f32> {
        if self.coarse {
            return (0..self.vocabulary).map(|k| -((uniform(state, k) * 6.0).floor() as f32 + 1.0) / 4.0).collect();
        }
        let energies: Vec<f64> = (0..self.vocabulary).map(|k| 3.0 * uniform(state, k)).collect();
        log_softmax(&energies).iter().map(|&value| value as f32).collect()
    }

    pub fn energies(&self, state: u64, t_x: usize) -> Vec<f32> {
        (0..t_x).map(|j| uniform(!state ^ self.seed, j) as f32 * 4.0 - 2.0).collect()
    }

    pub fn p_t(&self, state: u64) -> f32 {
        uniform(state ^ self.seed, 5) as f32 * 9.0
    }

    pub fn alpha(&self, state: u64, t_x: usize) -> Vec<f32> {
        let energies: Vec<f64> = self.energies(state, t_x).iter().map(|&e| f64::from(e)).collect();
        log_softmax(&energies).iter().map(|value| value.exp() as f32).collect()
    }
}

impl Stepper for Fake {
    fn forced(&self, _: usize, i: usize) -> Option<u32> {
        self.prefix.get(i).copied()
    }

    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begun += 1;
        self.steps = 0;
        self.sources = sources.iter().map(|source| source.to_vec()).collect();
        self.rows.clear();
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        if let Some((step, counter)) = &self.cancel
            && *step == self.steps
        {
            counter.cancel();
        }
        let first = self.steps == 0;
        let follow = |row: &StepRow| {
            if first {
                assert_eq!(row.y_prev, None, "nothing precedes the first word");
                return (row.sentence, self.state(&self.sources[row.sentence], &[]));
            }
            let (sentence, state) = self.rows[row.parent];
            assert_eq!(sentence, row.sentence, "a row continues its own sentence");
            assert_eq!(row.y_prev.is_none(), row.parent >= self.stepped, "a later step has a previous word");
            (sentence, row.y_prev.map_or(state, |word| mix(state, word.into())))
        };
        self.rows = rows.iter().map(follow).collect();
        self.stepped = rows.len();
        let t_x = self.sources.iter().map(Vec::len).max().unwrap_or(0);
        *output = StepOutput { rows: rows.len(), vocabulary: self.vocabulary, t_x, ..StepOutput::default() };
        for &(sentence, state) in self.rows.iter().filter(|_| self.aligned) {
            // What lies beyond the sentence must never be read.
            let length = self.sources[sentence].len();
            output.alpha.extend(self.alpha(state, length));
            output.energies.extend(self.energies(state, length));
            output.p_t.push(self.p_t(state));
            output.alpha.resize(output.alpha.len() + t_x - length, f32::NAN);
            output.energies.resize(output.energies.len() + t_x - length, f32::NAN);
        }
        Ok(())
    }

    fn predict(&mut self, _: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        for &(_, state) in &self.rows {
            output.log_p.extend(self.log_p(state));
            if let Some(word) = self.impossible {
                let first = output.log_p.len() - self.vocabulary;
                output.log_p[first + word] = f32::NEG_INFINITY;
            }
        }
        if self.broken_at.is_some_and(|step| step <= self.steps) {
            output.log_p.fill(f32::NAN);
        }
        output.answer(need);
        self.steps += 1;
        Ok(())
    }

    fn joins(&self) -> bool {
        self.joining
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        self.joined += 1;
        self.sources = kept.iter().map(|&sentence| self.sources[sentence].clone()).collect();
        for row in &mut self.rows {
            row.0 = kept.iter().position(|&sentence| sentence == row.0).unwrap_or(usize::MAX);
        }
        for source in sources {
            self.rows.push((self.sources.len(), self.state(source, &[])));
            self.sources.push(source.to_vec());
        }
        Ok(())
    }

    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        (!self.aligned).then(|| vec![self.sources[sentence].len() as f32])
    }

    fn annotations(&self, _: usize) -> Option<Vec<Vec<f32>>> {
        None
    }
}
