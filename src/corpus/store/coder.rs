//! Small whole numbers packed by how often each comes, learned on the way: a binary arithmetic coder after Witten,
//! Neal and Cleary (1987). Imports nothing.

/// Bits of a number.
const BITS: u32 = 5;
/// A chance of a half.
const HALF: u16 = 1 << 15;
/// The slowest that a chance learns: by a part in 2^SLOWEST.
const SLOWEST: u8 = 5;

/// How likely a bit is 1 after the bits before it.
#[derive(Clone, Copy)]
struct Chance {
    of_one: u16,
    /// Learns slower with every bit, down to [`SLOWEST`].
    seen: u8,
}

/// For each beginning of a number the chance of its next bit.
struct Chances([Chance; 1 << BITS]);

impl Chances {
    fn new() -> Self {
        Self([Chance { of_one: HALF, seen: 0 }; 1 << BITS])
    }
}

impl Chance {
    fn learn(&mut self, bit: bool) {
        let by = 1 + self.seen.min(SLOWEST - 1);
        self.seen = self.seen.saturating_add(1);
        if bit {
            self.of_one += (u16::MAX - self.of_one) >> by;
        } else {
            self.of_one -= self.of_one >> by;
        }
        // Neither side ever becomes impossible.
        self.of_one = self.of_one.clamp(1 << 5, u16::MAX - (1 << 5));
    }
}

/// Where the interval is cut: below and at it lies a 1.
fn middle(low: u32, high: u32, chance: Chance) -> u32 {
    low + ((u64::from(high - low) * u64::from(chance.of_one)) >> 16) as u32
}

/// Packs numbers below 32.
pub fn encode(numbers: impl Iterator<Item = u8>) -> Vec<u8> {
    let (mut chances, mut bytes) = (Chances::new(), Vec::new());
    let (mut low, mut high) = (0_u32, u32::MAX);
    for number in numbers {
        let mut node = 1;
        for bit in (0..BITS).rev().map(|bit| number >> bit & 1 == 1) {
            let chance = &mut chances.0[node];
            let cut = middle(low, high, *chance);
            (low, high) = if bit { (low, cut) } else { (cut + 1, high) };
            chance.learn(bit);
            node = 2 * node + usize::from(bit);
            while (low ^ high) >> 24 == 0 {
                bytes.push((high >> 24) as u8);
                (low, high) = (low << 8, high << 8 | 0xFF);
            }
        }
    }
    // As few bytes as name a place in the interval; those that are missing are read as 0.
    for count in 0..4 {
        let place = u32::MAX.checked_shl(32 - 8 * count).unwrap_or(0) & high;
        if place >= low {
            bytes.extend_from_slice(&place.to_be_bytes()[..count as usize]);
            return bytes;
        }
    }
    bytes.extend_from_slice(&high.to_be_bytes());
    bytes
}

/// The reverse of [`encode`], for so many numbers.
pub fn decode(bytes: &[u8], count: usize) -> Vec<u8> {
    let (mut chances, mut numbers) = (Chances::new(), Vec::with_capacity(count));
    let mut bytes = bytes.iter().copied().chain(std::iter::repeat(0));
    let mut next = || u32::from(bytes.next().unwrap_or(0));
    let (mut low, mut high, mut place) = (0_u32, u32::MAX, 0);
    for _ in 0..4 {
        place = place << 8 | next();
    }
    for _ in 0..count {
        let mut node = 1;
        for _ in 0..BITS {
            let chance = &mut chances.0[node];
            let cut = middle(low, high, *chance);
            let bit = place <= cut;
            (low, high) = if bit { (low, cut) } else { (cut + 1, high) };
            chance.learn(bit);
            node = 2 * node + usize::from(bit);
            while (low ^ high) >> 24 == 0 {
                (low, high, place) = (low << 8, high << 8 | 0xFF, place << 8 | next());
            }
        }
        numbers.push((node & ((1 << BITS) - 1)) as u8);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_the_usual_ones_take_little_room() {
        let usual = |n: usize| if n.is_multiple_of(97) { (n % 32) as u8 } else { 11 };
        let cases: [(Vec<u8>, usize); 5] = [
            (Vec::new(), 0),
            (vec![31], 1),
            ((0..5000).map(|n| (n * n % 31) as u8).collect(), 3200),
            (vec![7; 10_000], 60),
            ((0..10_000).map(usual).collect(), 450),
        ];
        for (numbers, most) in cases {
            let packed = encode(numbers.iter().copied());
            assert_eq!(decode(&packed, numbers.len()), numbers);
            assert!(packed.len() <= most, "{} numbers take {} bytes", numbers.len(), packed.len());
        }
    }

    #[test]
    fn any_bytes_are_some_numbers() {
        for n in 0..200_u32 {
            let bytes: Vec<u8> = (0..n).map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            assert!(decode(&bytes, 500).iter().all(|number| *number < 32));
        }
    }
}
