//! Pickles of torch, read without running them: numbers, texts, lists, dictionaries and calls of [`KNOWN`], kept as
//! written. Values name each other by their places in one list, so that memory grows as the bytes of the pickle do.

use std::collections::{HashMap, HashSet};

use crate::models::origins::pickled::{PickleReader, PickleResult, Pickled};

const ORDERED: &str = "collections.OrderedDict";

const DEFAULT: &str = "collections.defaultdict";

/// What a pickle may name: the parts of a tensor.
const KNOWN: &[&str] = &[
    ORDERED,
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

/// Programs whose objects may stand in a checkpoint: an object is the dictionary of its attributes, a call is kept as
/// it is written.
const INERT: &[&str] = &[
    "argparse.Namespace", "collections.Counter", "collections.defaultdict", "functools.partial", "onmt.",
    "torch.device", "torch.int64", "torchtext.",
];

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
    objects: HashSet<usize>,
}

pub fn read(bytes: &[u8]) -> PickleResult<PickleReader<'_>> {
    first(bytes).map(|(reading, _)| reading)
}

/// A pickle, and the bytes behind it.
pub fn first(bytes: &[u8]) -> PickleResult<(PickleReader<'_>, &[u8])> {
    let (values, stack, memo, objects) = Default::default();
    let mut machine = Machine { rest: bytes, values, stack, memo, objects };
    loop {
        let code = machine.byte()?;
        if code == b'.' {
            let result = machine.pop()?;
            return Ok((PickleReader { values: machine.values, result }, machine.rest));
        }
        machine.step(code)?;
    }
}

fn damaged() -> String {
    "is damaged; copy the file again".to_owned()
}

impl<'a> Machine<'a> {
    fn bytes(&mut self, count: usize) -> PickleResult<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> PickleResult<u8> {
        Ok(self.bytes(1)?[0])
    }

    fn size(&mut self, count: usize) -> PickleResult<usize> {
        let bytes = self.bytes(count)?;
        let number = bytes
            .iter()
            .rev()
            .try_fold(0_u64, |number, byte| number.checked_mul(256).map(|number| number + u64::from(*byte)));
        number.and_then(|number| usize::try_from(number).ok()).ok_or_else(damaged)
    }

    fn line(&mut self) -> PickleResult<&'a str> {
        let end = self.rest.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        str::from_utf8(&self.bytes(end + 1)?[..end]).map_err(|_| damaged())
    }

    fn push(&mut self, value: Pickled<'a>) {
        self.stack.push(Slot::Value(self.values.len()));
        self.values.push(value);
    }

    fn text(&mut self, size: usize) -> PickleResult<()> {
        let text = self.bytes(size)?;
        self.push(Pickled::Text(text));
        Ok(())
    }

    fn pop(&mut self) -> PickleResult<usize> {
        match self.stack.pop() {
            Some(Slot::Value(value)) => Ok(value),
            _ => Err(damaged()),
        }
    }

    fn top(&self) -> PickleResult<usize> {
        match self.stack.last() {
            Some(Slot::Value(value)) => Ok(*value),
            _ => Err(damaged()),
        }
    }

    fn several(&mut self, count: usize) -> PickleResult<()> {
        let mut values = (0..count).map(|_| self.pop()).collect::<PickleResult<Vec<_>>>()?;
        values.reverse();
        self.push(Pickled::List(values));
        Ok(())
    }

    fn marked(&mut self) -> PickleResult<Vec<usize>> {
        let mut values = Vec::new();
        while let Slot::Value(value) = self.stack.pop().ok_or_else(damaged)? {
            values.push(value);
        }
        values.reverse();
        Ok(values)
    }

    fn class(&mut self, module: &str, name: &str) -> PickleResult<()> {
        let name = format!("{module}.{name}");
        if !KNOWN.contains(&name.as_str()) && !INERT.iter().any(|known| name.starts_with(known)) {
            let short: String = name.chars().take(60).collect();
            return Err(format!(
                "asks for `{short}`, which is neither a tensor nor a plain value; nothing of such a file is run"
            ));
        }
        self.push(Pickled::Class(name));
        Ok(())
    }

    fn append(&mut self, more: Vec<usize>) -> PickleResult<()> {
        let place = self.top()?;
        match &mut self.values[place] {
            Pickled::List(list) => list.extend(more),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn set(&mut self, more: &[usize]) -> PickleResult<()> {
        let place = self.top()?;
        let (pairs, []) = more.as_chunks::<2>() else { return Err(damaged()) };
        match &mut self.values[place] {
            Pickled::Dictionary(all) => all.extend(pairs.iter().map(|[key, value]| (*key, *value))),
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn remember(&mut self, at: usize) -> PickleResult<()> {
        let value = self.top()?;
        self.memo.insert(u32::try_from(at).map_err(|_| damaged())?, value);
        Ok(())
    }

    fn recall(&mut self, at: usize) -> PickleResult<()> {
        let value = u32::try_from(at).ok().and_then(|at| self.memo.get(&at)).ok_or_else(damaged)?;
        self.stack.push(Slot::Value(*value));
        Ok(())
    }

    fn call(&mut self) -> PickleResult<()> {
        let (arguments, class) = (self.pop()?, self.pop()?);
        let Pickled::Class(name) = &self.values[class] else { return Err(damaged()) };
        let made = match name.as_str() {
            ORDERED => Pickled::Dictionary(self.pairs(arguments)?),
            DEFAULT => Pickled::Dictionary(Vec::new()),
            _ => Pickled::Call(class, arguments),
        };
        self.push(made);
        Ok(())
    }

    fn pairs(&self, arguments: usize) -> PickleResult<Vec<(usize, usize)>> {
        let list = |place: usize| if let Pickled::List(list) = &self.values[place] { Ok(list) } else { Err(damaged()) };
        let pair = |place: &usize| match list(*place)?.as_slice() {
            [key, value] => Ok((*key, *value)),
            _ => Err(damaged()),
        };
        match list(arguments)?.as_slice() {
            [] => Ok(Vec::new()),
            [pairs] => list(*pairs)?.iter().map(pair).collect(),
            _ => Err(damaged()),
        }
    }

    fn object(&mut self) -> PickleResult<()> {
        let (_, class) = (self.pop()?, self.pop()?);
        let Pickled::Class(_) = &self.values[class] else { return Err(damaged()) };
        self.objects.insert(self.values.len());
        self.push(Pickled::Dictionary(Vec::new()));
        Ok(())
    }

    fn build(&mut self) -> PickleResult<()> {
        let place = self.pop()?;
        let object = self.top()?;
        if self.objects.remove(&object) {
            let state = std::mem::replace(&mut self.values[place], Pickled::Nothing);
            if matches!(state, Pickled::Dictionary(_)) {
                self.values[object] = state;
            }
        }
        Ok(())
    }

    fn step(&mut self, code: u8) -> PickleResult<()> {
        match code {
            0x80 => drop(self.byte()?),   // PROTO
            0x95 => drop(self.bytes(8)?), // FRAME
            b'(' => self.stack.push(Slot::Mark),
            b'N' => self.push(Pickled::Nothing),
            0x88 | 0x89 => self.push(Pickled::Truth(code == 0x88)),
            b'0' => drop(self.pop()?),
            b'G' | b'K' | b'M' | b'J' | 0x8a => self.number(code)?,
            b'X' | b'T' => {
                let size = self.size(4)?;
                self.text(size)?;
            }
            0x8c | b'U' => {
                let size = self.size(1)?;
                self.text(size)?;
            }
            b'}' => self.push(Pickled::Dictionary(Vec::new())),
            b']' | b')' => self.push(Pickled::List(Vec::new())),
            0x85..=0x87 => self.several(usize::from(code - 0x84))?,
            b't' | b'l' => {
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
                let text = |place: usize| match &self.values[place] {
                    Pickled::Text(text) => str::from_utf8(text).map(str::to_owned).map_err(|_| damaged()),
                    _ => Err(damaged()),
                };
                let (module, name) = (text(module)?, text(name)?);
                self.class(&module, &name)?;
            }
            b'R' => self.call()?,
            b'b' => self.build()?,
            0x81 => self.object()?, // NEWOBJ
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
            _ => {
                return Err(format!(
                    "has a step {code:#04x}, which tensors and plain values do not need; it is not read"
                ));
            }
        }
        Ok(())
    }

    fn number(&mut self, code: u8) -> PickleResult<()> {
        let number = match code {
            b'G' => {
                let bytes = self.bytes(8)?.try_into().map_err(|_| damaged())?; // the greatest byte first
                Pickled::Real(f64::from_be_bytes(bytes))
            }
            b'K' => Pickled::Number(self.size(1)? as i64),
            b'M' => Pickled::Number(self.size(2)? as i64),
            b'J' => Pickled::Number(i64::from((self.size(4)? as u32).cast_signed())),
            _ => return self.long(),
        };
        self.push(number);
        Ok(())
    }

    fn long(&mut self) -> PickleResult<()> {
        let count = self.size(1)?;
        let bytes = self.bytes(count)?;
        let mut number = [if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 }; 8];
        number.get_mut(..count).ok_or_else(damaged)?.copy_from_slice(bytes);
        self.push(Pickled::Number(i64::from_le_bytes(number)));
        Ok(())
    }
}
