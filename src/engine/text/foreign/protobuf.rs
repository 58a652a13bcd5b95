//! The fields of a protocol buffer, one after the other. Imports nothing of ours.

pub(super) struct Message<'a> {
    rest: &'a [u8],
}

/// What a field holds.
pub(super) enum Field<'a> {
    /// A number of variable length: integers, enumerations, truth values.
    Number(u64),
    Four(u32),
    Bytes(&'a [u8]),
    Eight,
}

impl<'a> Message<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field with its number; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, &'static str> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.number()?;
        let field = match key & 7 {
            0 => Field::Number(self.number()?),
            1 => self.take(8).map(|_| Field::Eight)?,
            2 => {
                let length = self.number()?;
                Field::Bytes(self.take(length)?)
            }
            5 => {
                let four = self.take(4)?;
                Field::Four(four.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
            }
            _ => return Err("has a field of a kind that protocol buffers do not have"),
        };
        Ok(Some((key >> 3, field)))
    }

    fn number(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for i in 0..10 {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << (7 * i).min(63);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("has a number of more than 64 bits")
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], &'static str> {
        let length = usize::try_from(length).ok().filter(|length| *length <= self.rest.len());
        let (taken, rest) = self.rest.split_at(length.ok_or("ends in the middle of a field")?);
        self.rest = rest;
        Ok(taken)
    }
}
