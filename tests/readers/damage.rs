//! Damages an input: the same seed does the same.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Bytes of a damaged input, at most.
const MOST: usize = 1 << 16;

/// What breaks readers: numbers at the edges of types, ends of lines, marks of formats, letters of several bytes.
const PIECES: &[&str] = &[
    "0", "-1", "1e309", "NaN", "4294967296", "18446744073709551615", "9223372036854775808", "16777216", "0.5", "null",
    "true", "[]", "{}", "\"\"", "\"", "{", "[", "]", ",", ":", "=", "\n", "\r", "\r\n", "\t", " ", "|||", " ||| ", "-",
    "\u{feff}", "\u{0}", "\u{1b}[2J", "\u{301}", "é", "\u{202e}", "猫", "\\ud800", "</s>", "[UNK]",
];

pub fn damaged(inputs: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut input = inputs[rng.random_range(0..inputs.len())].clone();
    for _ in 0..rng.random_range(1..=4) {
        let other = &inputs[rng.random_range(0..inputs.len())];
        once(&mut input, other, &mut rng);
        input.truncate(MOST);
    }
    input
}

fn once(input: &mut Vec<u8>, other: &[u8], rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..=input.len());
    let end = at + rng.random_range(0..=(input.len() - at).min(64));
    match rng.random_range(0..8) {
        0 => input.truncate(at),
        1 => drop(input.drain(at..end)),
        2 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        3 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = rng.random_range(0..=255);
            }
        }
        4 => {
            let part: Vec<u8> = input[at..end].to_vec();
            let times = rng.random_range(1..=1000);
            input.splice(at..at, part.repeat(times));
        }
        5 => {
            let from = rng.random_range(0..=other.len());
            let to = from + rng.random_range(0..=(other.len() - from).min(256));
            input.splice(at..end, other[from..to].iter().copied());
        }
        _ => {
            // a whole number or word gives way more often than a place in the middle of one
            let (from, to) = word_around(input, at);
            input.splice(from..to, PIECES[rng.random_range(0..PIECES.len())].bytes());
        }
    }
}

fn word_around(input: &[u8], at: usize) -> (usize, usize) {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric();
    let before = input[..at].iter().rev().take_while(|byte| inside(byte)).count();
    let behind = input[at..].iter().take_while(|byte| inside(byte)).count();
    (at - before, at + behind)
}
