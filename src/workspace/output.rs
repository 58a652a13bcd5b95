//! Floor 7: what a system says of a sentence, and how it is packed.

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use serde::{Deserialize, Serialize};

use crate::analysis::alignment::Alignment;
use crate::analysis::hard;
use crate::text::links::Link;
use crate::text::sentence::EOS;

/// Level of zstandard: higher ones save little on numbers.
const LEVEL: i32 = 3;
/// The most bytes that one output may unpack to.
const MOST: usize = 1 << 28;

/// What a system says of a sentence, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The translation as people read it.
    pub text: String,
    /// The source words as the system counts them, `</s>` among them where alpha has its column; none where they are
    /// not known.
    pub source: Vec<String>,
    /// The target words, `</s>` where alpha has its row.
    pub target: Vec<String>,
    /// log p of each target word; none where they are not known.
    pub word_log_p: Vec<f32>,
    /// log p of the whole.
    pub log_p: Option<f32>,
    /// A row for each target word, a column for each source word.
    pub alpha: Option<Vec<Vec<f32>>>,
    /// Links that came without weights.
    pub links: Option<Vec<Link>>,
}

impl Output {
    /// Target words without `</s>`.
    pub fn words(&self) -> &[String] {
        without_end(&self.target)
    }

    /// Source words without `</s>`.
    pub fn source_words(&self) -> &[String] {
        without_end(&self.source)
    }

    /// Its links between words: those that it came with, else the source word of greatest alpha for each target word.
    /// `None` where it has neither.
    pub fn hard_links(&self) -> Option<Vec<Link>> {
        if let Some(links) = &self.links {
            return Some(links.clone());
        }
        self.alignment().map(|alignment| hard::links(&alignment))
    }

    /// alpha between words, without `</s>` on either side.
    pub fn alignment(&self) -> Option<Alignment<'_>> {
        let alpha = self.alpha.as_ref()?;
        Some(Alignment::new(alpha).words(self.words().len(), self.source_words().len()))
    }
}

fn without_end(words: &[String]) -> &[String] {
    match words.split_last() {
        Some((last, words)) if last == EOS => words,
        _ => words,
    }
}

/// All but the text and the weights.
#[derive(Serialize, Deserialize)]
struct Head {
    s: Vec<String>,
    t: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    p: Vec<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_p: Option<f32>,
    /// Rows and columns of alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    a: Option<(usize, usize)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    l: Option<Vec<(usize, usize)>>,
}

/// Packs all but the text: the words as JSON, then alpha as f16, low bytes before high ones, which packs better.
pub fn pack(output: &Output) -> std::io::Result<Vec<u8>> {
    let shape = output.alpha.as_ref().map(|alpha| (alpha.len(), alpha.first().map_or(0, Vec::len)));
    let head = Head {
        s: output.source.clone(),
        t: output.target.clone(),
        p: output.word_log_p.clone(),
        log_p: output.log_p,
        a: shape,
        l: output.links.as_ref().map(|links| links.iter().map(|link| (link.source, link.target)).collect()),
    };
    let mut bytes = serde_json::to_vec(&head)?;
    bytes.push(0);
    if let (Some(alpha), Some((_, columns))) = (&output.alpha, shape) {
        let flat = alpha.iter().flat_map(|row| (0..columns).map(|j| f16::from_f32(row.get(j).copied().unwrap_or(0.0))));
        let halves: Vec<f16> = flat.collect();
        let bits: &[u16] = halves.reinterpret_cast();
        bytes.extend(bits.iter().map(|bits| *bits as u8));
        bytes.extend(bits.iter().map(|bits| (bits >> 8) as u8));
    }
    zstd::bulk::compress(&bytes, LEVEL)
}

/// The reverse of [`pack`]; the text comes from its own column. `None` where the bytes are damaged.
pub fn unpack(text: String, packed: &[u8]) -> Option<Output> {
    let size = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
    let bytes = zstd::bulk::decompress(packed, usize::try_from(size).ok()?.min(MOST)).ok()?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let (head, rest) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    let head: Head = serde_json::from_slice(head).ok()?;
    let alpha = match head.a {
        None => None,
        Some((rows, columns)) => {
            let count = rows.checked_mul(columns)?;
            let (low, high) = (rest.get(..count)?, rest.get(count..count.checked_mul(2)?)?);
            let at = |k: usize| f16::from_bits(u16::from(low[k]) | u16::from(high[k]) << 8).to_f32();
            Some((0..rows).map(|i| (0..columns).map(|j| at(i * columns + j)).collect()).collect())
        }
    };
    let links = head.l.map(|links| links.into_iter().map(|(source, target)| Link { source, target }).collect());
    Some(Output { text, source: head.s, target: head.t, word_log_p: head.p, log_p: head.log_p, alpha, links })
}
