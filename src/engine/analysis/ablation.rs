//! How much the words of a translation depend on each weight alpha_ij, next to alpha itself: the tests of Jain
//! and Wallace (2019, Attention is not Explanation, sections 4.1 and 4.2.1) and Wiegreffe and Pinter (2019, Attention
//! is not not Explanation), and for weights left out Serrano and Smith (2019, Is Attention Interpretable?).
//!
//! At each step of a given translation alpha_i alone is changed, and the distribution of y_i before and after is
//! compared: the Jensen-Shannon divergence in nats, the total variation, whether another word is the most probable.

use serde::{Deserialize, Serialize};

use crate::analysis::correlation::{kendall, spearman};
use crate::analysis::divergence::{argmax, jensen_shannon, total_variation};
use crate::decoding::ablate::{AlphaChange, ablate, leave_heads_out};
use crate::models::{Stepper, transformer::heads::HeadPlace};
use crate::{error::Result, ticket::CancellationToken};

/// What a change of alpha_i does to the distribution of y_i.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AblationEffect {
    pub js: f32,
    pub tv: f32,
    pub log_p: f32,
    pub changes: bool,
}

/// A target word under every test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AblatedWord {
    pub token: u32,
    /// log p(y_i) by the model itself.
    pub log_p: f32,
    /// The word that the model itself likes best here.
    pub best: u32,
    pub alpha: Vec<f32>,
    /// Every source word has the same weight.
    pub uniform: AblationEffect,
    /// The weights change places; one for each seed.
    pub permuted: Vec<AblationEffect>,
    /// Source word j has no weight. [t_x]
    pub without: Vec<AblationEffect>,
}

/// Puts a translation (ids, `</s>` included) to the tests; `seeds` has one for each permutation.
pub fn words(
    stepper: &mut dyn Stepper, pair: (&[u32], &[u32]), seeds: &[u64], ticket: &CancellationToken,
) -> Result<Vec<AblatedWord>> {
    let mut words: Vec<AblatedWord> = Vec::with_capacity(pair.1.len());
    ablate(stepper, pair, seeds, ticket, &mut |said| {
        let token = pair.1[said.i];
        let log_p = said.log_p[token as usize];
        if said.change == AlphaChange::Own {
            let (best, alpha) = (argmax(said.own) as u32, said.alpha.to_vec());
            words.push(AblatedWord { token, log_p, best, alpha, ..AblatedWord::default() });
            return;
        }
        let Some(word) = words.last_mut() else { return };
        let effect = AblationEffect {
            js: jensen_shannon(said.own, said.log_p) as f32,
            tv: total_variation(said.own, said.log_p) as f32,
            log_p,
            changes: argmax(said.log_p) as u32 != word.best,
        };
        match said.change {
            AlphaChange::Own => {}
            AlphaChange::Uniform => word.uniform = effect,
            AlphaChange::Permuted(_) => word.permuted.push(effect),
            AlphaChange::Without(_) => word.without.push(effect),
        }
    })?;
    Ok(words)
}

/// What leaving out each of these heads does to the next-word distributions of a translation (ids, `</s>` included):
/// the Jensen-Shannon divergence, nats, summed over its words.
pub fn heads(
    stepper: &mut dyn Stepper, pair: (&[u32], &[u32]), places: &[HeadPlace], ticket: &CancellationToken,
) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; places.len()];
    leave_heads_out(stepper, pair, places, ticket, &mut |n, own, log_p| sums[n] += jensen_shannon(own, log_p))?;
    Ok(sums)
}

impl AblatedWord {
    /// What leaving out each source word does: its Jensen-Shannon divergence. [t_x]
    pub fn leave_one_out(&self) -> Vec<f32> {
        self.without.iter().map(|effect| effect.js).collect()
    }

    /// The source word of greatest alpha.
    pub fn looks_at(&self) -> usize {
        argmax(&self.alpha)
    }

    /// The source word that makes the greatest difference.
    pub fn depends_on(&self) -> usize {
        argmax(&self.leave_one_out())
    }

    /// Kendall's tau between alpha_i and [`AblatedWord::leave_one_out`].
    pub fn kendall(&self) -> Option<f64> {
        kendall(&self.alpha, &self.leave_one_out())
    }

    /// Spearman's rho between the same.
    pub fn spearman(&self) -> Option<f64> {
        spearman(&self.alpha, &self.leave_one_out())
    }

    fn permuted(&self, of: impl Fn(&AblationEffect) -> f64) -> Option<f64> {
        let count = self.permuted.len() as f64;
        (count > 0.0).then(|| self.permuted.iter().map(of).sum::<f64>() / count)
    }

    fn top(&self) -> Option<&AblationEffect> {
        self.without.get(self.looks_at())
    }
}

/// One line of [`FIGURES`].
pub struct AblationFigure {
    pub name: &'static str,
    pub about: &'static str,
    /// Of a word; `None` where the word has none.
    pub of: fn(&AblatedWord) -> Option<f64>,
}

/// Every figure of a word; of a text it is the mean over the words that have it.
pub const FIGURES: &[AblationFigure] = &[
    figure("js_uniform", "JS, uniform alpha", |word| Some(word.uniform.js.into())),
    figure("tv_uniform", "total variation, uniform alpha", |word| Some(word.uniform.tv.into())),
    figure("changed_uniform", "another best word, uniform alpha", |word| Some(share(word.uniform.changes))),
    figure("js_permuted", "JS, permuted alpha", |word| word.permuted(|effect| effect.js.into())),
    figure("tv_permuted", "total variation, permuted alpha", |word| word.permuted(|effect| effect.tv.into())),
    figure("changed_permuted", "another best word, permuted alpha", |word| {
        word.permuted(|effect| share(effect.changes))
    }),
    figure("js_top", "JS without the word of greatest alpha", |word| Some(word.top()?.js.into())),
    figure("changed_top", "another best word without the word of greatest alpha", |word| {
        Some(share(word.top()?.changes))
    }),
    figure("top_agrees", "the word of greatest alpha makes the greatest difference", |word| {
        Some(share(!word.alpha.is_empty() && word.looks_at() == word.depends_on()))
    }),
    figure("kendall", "Kendall's tau, alpha and leave-one-out", AblatedWord::kendall),
    figure("spearman", "Spearman's rho, alpha and leave-one-out", AblatedWord::spearman),
];

const fn figure(name: &'static str, about: &'static str, of: fn(&AblatedWord) -> Option<f64>) -> AblationFigure {
    AblationFigure { name, about, of }
}

fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// The means of [`FIGURES`] over many words, in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AblationMeans {
    pub sentences: usize,
    pub words: usize,
    sums: Vec<(f64, usize)>,
}

impl AblationMeans {
    pub fn add(&mut self, words: &[AblatedWord]) {
        self.sums.resize(FIGURES.len(), (0.0, 0));
        self.sentences += 1;
        self.words += words.len();
        for word in words {
            for (figure, sum) in FIGURES.iter().zip(&mut self.sums) {
                if let Some(value) = (figure.of)(word) {
                    *sum = (sum.0 + value, sum.1 + 1);
                }
            }
        }
    }

    /// The mean of the figure of this name; `None` where no word has it.
    pub fn named(&self, name: &str) -> Option<f64> {
        FIGURES.iter().position(|figure| figure.name == name).and_then(|figure| self.of(figure))
    }

    pub fn of(&self, figure: usize) -> Option<f64> {
        self.sums.get(figure).filter(|sum| sum.1 > 0).map(|sum| sum.0 / sum.1 as f64)
    }
}
