//! The rules of a SentencePiece normaliser, as it stores them: a double array of bytes that leads to texts.
//! Imports nothing of ours.

/// The longest text that a rule may put in place of another, in bytes; those of Unicode's compatibility letters have
/// 33.
const MOST_CONTENT: usize = 128;

/// What stands in place of what.
#[derive(Debug)]
pub(super) struct CharsMap {
    units: Vec<u32>,
    texts: String,
}

impl CharsMap {
    /// Reads the rules; `None` where there are none.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, String> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let cut = || "is cut off; copy the file again".to_owned();
        let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let size = u32::from_le_bytes(*head) as usize;
        let (units, texts) = rest.split_at_checked(size).ok_or_else(cut)?;
        let units = units.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let texts = str::from_utf8(texts).map_err(|_| "puts something in place of letters that is not UTF-8")?;
        if texts.split('\0').any(|text| text.len() > MOST_CONTENT) {
            return Err(format!("puts more than {MOST_CONTENT} bytes in place of a text"));
        }
        Ok(Some(Self { units, texts: texts.to_owned() }))
    }

    /// The longest beginning of `text` that a rule is for: its length, and what stands in its place.
    pub(super) fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let mut node = offset(*self.units.first()?);
        let mut longest = None;
        for (i, byte) in text.bytes().enumerate() {
            node ^= usize::from(byte);
            let Some(unit) = self.units.get(node).filter(|unit| **unit & 0x8000_00ff == u32::from(byte)) else { break };
            node ^= offset(*unit);
            if unit >> 8 & 1 == 1 {
                longest = self.units.get(node).map(|leaf| (i + 1, (leaf & 0x7fff_ffff) as usize));
            }
        }
        let (length, place) = longest.filter(|(length, _)| text.is_char_boundary(*length))?;
        Some((length, self.texts.get(place..)?.split('\0').next()?))
    }
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}
