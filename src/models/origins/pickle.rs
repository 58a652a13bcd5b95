//! Floor 3: pickles of torch, read without doing what they say. Values are numbers, texts, lists and dictionaries; a call
//! is kept as it is written, and only those of [`KNOWN`] are. Imports nothing of ours.
//!
//! Values lie in one list and name each other by their places there: what a pickle repeats is never copied, so that what
//! is kept grows as the bytes of the pickle do.

use std::collections::HashMap;

/// What a pickle may name: the parts of a tensor.
const KNOWN: &[&str] = &[
    "collections.OrderedDict",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_tensor_v2",
    "torch.BFloat16Storage",
    "torch.BoolStorage",
    "torch.ByteStorage",
    "torch.CharStorage",
    "torch.DoubleStorage",
    "torch.FloatStorage",
    "torch.HalfStorage",
    "torch.IntStorage",
    "torch.LongStorage",
    "torch.ShortStorage",
];

/// A value; others stand in it by their places.
#[derive(Debug, PartialEq)]
pub enum Pickled<'a> {
    /// None, a truth or a fraction: nothing that a tensor is made of.
    Other,
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'a str),
    /// One of [`KNOWN`].
    Class(String),
    /// A list or a tuple.
    List(Vec<usize>),
    /// Keys and values.
    Dictionary(Vec<(usize, usize)>),
    /// What would be called, and the list of its arguments.
    Call(usize, usize),
    /// What lies outside of the pickle, and how it is named.
    Stored(usize),
}

/// What a pickle holds.
#[derive(Debug)]
pub struct PickleReader<'a> {
    values: Vec<Pickled<'a>>,
    result: usize,
}

/// What stands where a value does.
#[derive(Clone, Copy)]
enum Slot {
    Value(usize),
    Mark,
}

struct Machine<'a> {
    rest: &'a [u8],
    values: Vec<Pickled<'a>>,
    stack: Vec<Slot>,
    memo: HashMap<u32, usize>,
}

type Told<T> = Result<T, String>;

/// Reads a pickle.
///
/// # Errors
/// The rest of a sentence: what it names that is no part of a tensor, or that it is damaged.
pub fn read(bytes: &[u8]) -> Told<PickleReader<'_>> {
    let mut machine = Machine { rest: bytes, values: Vec::new(), stack: Vec::new(), memo: HashMap::new() };
    loop {
        let code = machine.byte()?;
        if code == b'.' {
            let result = machine.pop()?;
            return Ok(PickleReader { values: machine.values, result });
        }
        machine.step(code)?;
    }
}

fn damaged() -> String {
    "is damaged; copy the file again".to_owned()
}

impl<'a> Machine<'a> {
    fn bytes(&mut self, count: usize) -> Told<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Told<u8> {
        Ok(self.bytes(1)?[0])
    }

    /// A whole number of so many bytes, the least first, as it is without a sign.
    fn size(&mut self, count: usize) -> Told<usize> {
        let bytes = self.bytes(count)?;
        let number = bytes
            .iter()
            .rev()
            .try_fold(0_u64, |number, byte| number.checked_mul(256).map(|number| number + u64::from(*byte)));
        number.and_then(|number| usize::try_from(number).ok()).ok_or_else(damaged)
    }

    fn line(&mut self) -> Told<&'a str> {
        let end = self.rest.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let line = self.bytes(end + 1)?;
        str::from_utf8(&line[..end]).map_err(|_| damaged())
    }

    fn push(&mut self, value: Pickled<'a>) {
        self.stack.push(Slot::Value(self.values.len()));
        self.values.push(value);
    }

    fn text(&mut self, size: usize) -> Told<()> {
        let text = str::from_utf8(self.bytes(size)?).map_err(|_| damaged())?;
        self.push(Pickled::Text(text));
        Ok(())
    }

    fn pop(&mut self) -> Told<usize> {
        match self.stack.pop() {
            Some(Slot::Value(value)) => Ok(value),
            _ => Err(damaged()),
        }
    }

    fn top(&self) -> Told<usize> {
        match self.stack.last() {
            Some(Slot::Value(value)) => Ok(*value),
            _ => Err(damaged()),
        }
    }

    fn several(&mut self, count: usize) -> Told<()> {
        let mut values = (0..count).map(|_| self.pop()).collect::<Told<Vec<_>>>()?;
        values.reverse();
        self.push(Pickled::List(values));
        Ok(())
    }

    /// What stands behind the last mark.
    fn marked(&mut self) -> Told<Vec<usize>> {
        let mut values = Vec::new();
        while let Slot::Value(value) = self.stack.pop().ok_or_else(damaged)? {
            values.push(value);
        }
        values.reverse();
        Ok(values)
    }

    fn class(&mut self, module: &str, name: &str) -> Told<()> {
        let name = format!("{module}.{name}");
        if !KNOWN.contains(&name.as_str()) {
            let short: String = name.chars().take(60).collect();
            return Err(format!("asks for `{short}`, which is no part of a tensor; nothing of such a file is run"));
        }
        self.push(Pickled::Class(name));
        Ok(())
    }

    fn append(&mut self, more: Vec<usize>) -> Told<()> {
        let place = self.top()?;
        match &mut self.values[place] {
            Pickled::List(list) => list.extend(more),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn set(&mut self, more: &[usize]) -> Told<()> {
        let place = self.top()?;
        let (pairs, []) = more.as_chunks::<2>() else { return Err(damaged()) };
        match &mut self.values[place] {
            Pickled::Dictionary(all) => all.extend(pairs.iter().map(|[key, value]| (*key, *value))),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn remember(&mut self, at: usize) -> Told<()> {
        let value = self.top()?;
        self.memo.insert(u32::try_from(at).map_err(|_| damaged())?, value);
        Ok(())
    }

    fn recall(&mut self, at: usize) -> Told<()> {
        let value = u32::try_from(at).ok().and_then(|at| self.memo.get(&at)).ok_or_else(damaged)?;
        self.stack.push(Slot::Value(*value));
        Ok(())
    }

    fn call(&mut self) -> Told<()> {
        let (arguments, class) = (self.pop()?, self.pop()?);
        let Pickled::Class(name) = &self.values[class] else { return Err(damaged()) };
        let made = if name == KNOWN[0] { Pickled::Dictionary(Vec::new()) } else { Pickled::Call(class, arguments) };
        self.push(made);
        Ok(())
    }

    fn step(&mut self, code: u8) -> Told<()> {
        match code {
            0x80 => drop(self.byte()?),   // PROTO
            0x95 => drop(self.bytes(8)?), // FRAME
            b'(' => self.stack.push(Slot::Mark),
            b'N' | 0x88 | 0x89 => self.push(Pickled::Other), // NONE, NEWTRUE, NEWFALSE
            b'G' => {
                self.bytes(8)?; // BINFLOAT
                self.push(Pickled::Other);
            }
            b'K' | b'M' => {
                let number = self.size(if code == b'K' { 1 } else { 2 })?;
                self.push(Pickled::Number(number as i64));
            }
            b'J' => {
                let number = self.size(4)? as u32;
                self.push(Pickled::Number(i64::from(number.cast_signed())));
            }
            0x8a => self.long()?,
            b'X' => {
                let size = self.size(4)?;
                self.text(size)?;
            }
            0x8c => {
                let size = self.size(1)?;
                self.text(size)?;
            }
            b'}' => self.push(Pickled::Dictionary(Vec::new())),
            b']' | b')' => self.push(Pickled::List(Vec::new())),
            0x85..=0x87 => self.several(usize::from(code - 0x84))?,
            b't' => {
                let values = self.marked()?;
                self.push(Pickled::List(values));
            }
            b'a' => {
                let value = self.pop()?;
                self.append(vec![value])?;
            }
            b'e' => {
                let values = self.marked()?;
                self.append(values)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(&[key, value])?;
            }
            b'u' => {
                let values = self.marked()?;
                self.set(&values)?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.class(module, name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?); // STACK_GLOBAL
                let (Pickled::Text(module), Pickled::Text(name)) = (&self.values[module], &self.values[name]) else {
                    return Err(damaged());
                };
                let (module, name) = (*module, *name);
                self.class(module, name)?;
            }
            b'R' => self.call()?,
            b'b' => drop(self.pop()?), // BUILD: what else an object has
            b'Q' => {
                let name = self.pop()?; // BINPERSID
                self.push(Pickled::Stored(name));
            }
            b'q' | b'r' => {
                let at = self.size(if code == b'q' { 1 } else { 4 })?;
                self.remember(at)?;
            }
            0x94 => self.remember(self.memo.len())?, // MEMOIZE
            b'h' | b'j' => {
                let at = self.size(if code == b'h' { 1 } else { 4 })?;
                self.recall(at)?;
            }
            _ => return Err(format!("has a step {code:#04x}, which a list of tensors does not need; it is not read")),
        }
        Ok(())
    }

    /// A whole number of up to eight bytes.
    fn long(&mut self) -> Told<()> {
        let count = self.size(1)?;
        let bytes = self.bytes(count)?;
        let mut number = [if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 }; 8];
        number.get_mut(..count).ok_or_else(damaged)?.copy_from_slice(bytes);
        self.push(Pickled::Number(i64::from_le_bytes(number)));
        Ok(())
    }
}

impl PickleReader<'_> {
    /// A value by its place.
    pub fn value(&self, place: usize) -> &Pickled<'_> {
        &self.values[place]
    }

    /// A text.
    pub fn text(&self, place: usize) -> Option<&str> {
        if let Pickled::Text(text) = self.value(place) { Some(text) } else { None }
    }

    /// The name of a class.
    pub fn class(&self, place: usize) -> Option<&str> {
        if let Pickled::Class(name) = self.value(place) { Some(name) } else { None }
    }

    /// A list.
    pub fn list(&self, place: usize) -> Option<&[usize]> {
        if let Pickled::List(list) = self.value(place) { Some(list) } else { None }
    }

    /// A number from 0.
    pub fn number(&self, place: usize) -> Option<usize> {
        if let Pickled::Number(number) = self.value(place) { usize::try_from(*number).ok() } else { None }
    }

    /// All of it, texts and the places of values.
    ///
    /// # Errors
    /// Where it is no dictionary of texts.
    pub fn dictionary(&self) -> Told<Vec<(String, usize)>> {
        let Pickled::Dictionary(pairs) = self.value(self.result) else {
            return Err("is no dictionary of tensors by name".to_owned());
        };
        let pair = |(key, value): &(usize, usize)| Some((self.text(*key)?.to_owned(), *value));
        pairs.iter().map(pair).collect::<Option<_>>().ok_or_else(|| "has a key that is no text".to_owned())
    }
}
