//! What becomes of source words through alignments: which words of an output and of the reference they are linked to,
//! and which of those the other has too. Words are those of the corpus, bare.

use std::collections::BTreeMap;

use crate::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, rules::SideRules};
use engine::aligner::{bundled::AlignerChoice, words::LineAligner};
use engine::analysis::lexical::{bare, right, right_of_any};
use engine::analysis::{aer, hard};
use engine::text::{cut::WordRule, links::Link};
use engine::{analysis::sums, error::Result};

/// Who linked source and reference, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignedBy {
    Hand,
    Forced,
    Aligner,
    Nobody,
}

/// A source word in a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordFate {
    /// Output words that it is linked to.
    pub said: u64,
    /// Those of them that the reference has.
    pub right: u64,
    /// Words of the reference that it is linked to.
    pub wanted: u64,
    pub found: u64,
}

sums!(WordFate: said, right, wanted, found; each);

impl WordFate {
    /// Whether anything is not as in the reference.
    pub fn is_wrong(&self) -> bool {
        self.right < self.said || self.found < self.wanted
    }
}

/// Links source and reference.
#[derive(Default)]
pub struct Linker {
    aligner: Option<LineAligner>,
}

impl Linker {
    /// With the aligner of two languages, where there is one, over texts of these words.
    pub fn new(choice: Option<&AlignerChoice>, rules: SideRules) -> Result<Self> {
        let aligner = choice.map(|choice| LineAligner::chosen(choice, rules.are_given())).transpose()?;
        Ok(Self { aligner: aligner.flatten() })
    }

    /// The links between the words of a source and its reference.
    pub fn of_reference(
        &mut self, corpus: &CorpusTable, workspace: &Workspace, at: usize,
    ) -> Result<(Vec<Link>, AlignedBy)> {
        let (Some(source), Some(reference)) = (corpus.sources.get(at), corpus.references.get(at)) else {
            return Ok((Vec::new(), AlignedBy::Nobody));
        };
        if corpus.golds.contains(&at)
            && let Some(gold) = workspace.gold(at)?
        {
            return Ok((gold.all().into_iter().map(|(link, _)| link).collect(), AlignedBy::Hand));
        }
        for column in corpus.systems.iter().filter(|column| column.system.is_forced()) {
            let output = workspace.output(column.system.id, at)?;
            let is_reference = |output: &SystemOutput| corpus.rules.target.are_alike(reference, &output.text);
            if let Some(links) = output.filter(is_reference).and_then(|output| output.word_links(source, corpus.rules))
            {
                return Ok((links, AlignedBy::Forced));
            }
        }
        let aligned = self.aligner.as_mut().map(|aligner| corpus.rules.aligned(aligner, source, reference).forward);
        Ok(aligned.map_or((Vec::new(), AlignedBy::Nobody), |links| (links, AlignedBy::Aligner)))
    }
}

fn bares(text: &str, rule: WordRule) -> Vec<String> {
    rule.words(text).into_iter().map(bare).collect()
}

/// What becomes of each source word; `links` are those of the first reference. An output word is right if any reference has
/// it, and missing only if all references have it.
pub fn word_fates(
    (source, rules): (&str, SideRules), references: &[&str], links: &[Link], output: &SystemOutput,
) -> Vec<WordFate> {
    let mut fates = vec![WordFate::default(); rules.source.count(source)];
    let said = bares(&output.text, rules.target);
    let references: Vec<Vec<String>> = references.iter().map(|text| bares(text, rules.target)).collect();
    let Some((reference, further)) = references.split_first() else { return fates };
    let said_right = right_of_any(&said, &references);
    let reference_found = right(reference, said.iter());
    let is_shared: Vec<Vec<bool>> = further.iter().map(|other| right(reference, other.iter())).collect();
    let own = output.word_links(source, rules).unwrap_or_default();
    for link in own {
        if let (Some(fate), Some(is_right)) = (fates.get_mut(link.source), said_right.get(link.target)) {
            fate.said += 1;
            fate.right += u64::from(*is_right);
        }
    }
    for link in links {
        let is_wanted = is_shared.iter().all(|shared| shared.get(link.target) == Some(&true));
        if let (Some(fate), Some(is_found), true) =
            (fates.get_mut(link.source), reference_found.get(link.target), is_wanted)
        {
            fate.wanted += 1;
            fate.found += u64::from(*is_found);
        }
    }
    fates
}

/// The same of each word that is linked, wherever it stands. Punctuation is left out.
pub fn fates(source: &str, rule: WordRule, word_fates: &[WordFate]) -> BTreeMap<String, WordFate> {
    let mut fates: BTreeMap<String, WordFate> = BTreeMap::new();
    for (word, fate) in bares(source, rule).into_iter().zip(word_fates).filter(|(_, fate)| fate.said + fate.wanted > 0)
    {
        *fates.entry(word).or_default() += *fate;
    }
    fates.retain(|word, _| word.chars().any(char::is_alphanumeric));
    fates
}

/// Weights of alpha from which on links are counted, beside the source word of greatest alpha.
pub const THRESHOLDS: &[f32] = &[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The alignment errors of an output that equals the reference, against gold links: by greatest alpha, and with `is_all`
/// by each of [`THRESHOLDS`]; empty if there is nothing to compare.
pub fn reference_errors(
    (source, reference): (&str, &str), (output, is_all): (&SystemOutput, bool), corpus: &CorpusTable,
    workspace: &Workspace, at: usize,
) -> Result<Vec<aer::AerCounts>> {
    if !corpus.golds.contains(&at) || !corpus.rules.target.are_alike(reference, &output.text) {
        return Ok(Vec::new());
    }
    let (Some(gold), Some(found)) = (workspace.gold(at)?, output.word_links(source, corpus.rules)) else {
        return Ok(Vec::new());
    };
    let words = if is_all { output.word_alignment(source, corpus.rules) } else { None };
    let above = |words| THRESHOLDS.iter().map(move |theta| hard::links_above(words, *theta));
    let links = std::iter::once(found).chain(words.iter().flat_map(above));
    let counts: Vec<aer::AerCounts> = links.map(|links| aer::AerCounts::of(&links, &gold)).collect();
    Ok(if counts[0].rates().aer.is_some() { counts } else { Vec::new() })
}
