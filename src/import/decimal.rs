//! Numbers as people and spreadsheets write them: `0.8275`, `0,8275`, `1.234,5`. Only all numbers of a column show
//! whether a comma separates decimals or thousands.

/// What a comma is among some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decimals {
    /// A point separates decimals, commas separate thousands.
    #[default]
    Point,
    /// A comma separates decimals, points separate thousands.
    Comma,
    /// Either, as in `1,234` alone, or both, as in `0,5` and `0.5`: numbers with a comma are not read.
    Unclear,
}

/// What is wrong with numbers that are [`Decimals::Unclear`].
pub const UNCLEAR: &str = "the comma of `1,234` may separate decimals or thousands; write a decimal point";

/// What the cells of a column are, counted one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberCount {
    /// Numbers of any kind.
    pub numbers: usize,
    /// Cells that say that there is no number.
    pub missing: usize,
    /// Other cells, blank ones aside.
    pub others: usize,
    commas: usize,
    /// Whether a cell shows decimals after a point, and after a comma.
    shown: [bool; 2],
}

/// Whether a cell says that there is no number.
pub fn is_missing(cell: &str) -> bool {
    matches!(cell.trim().to_lowercase().as_str(), "" | "-" | "na" | "n/a" | "nan" | "none" | "null")
}

/// Whether text is digits in groups of three, as in `12,345`.
fn is_grouped(text: &str, by: char) -> bool {
    let mut groups = text.trim_start_matches(['+', '-']).split(by);
    let is_first = |group: &str| (1..=3).contains(&group.len()) && !group.starts_with('0');
    groups.next().is_some_and(is_first) && groups.all(|group| group.len() == 3)
}

impl NumberCount {
    pub fn add(&mut self, cell: &str) {
        let cell = cell.trim();
        let (comma, point) = (cell.rfind(','), cell.rfind('.'));
        let is_point = number(cell, Decimals::Point).is_some();
        let is_comma = comma.is_some() && number(cell, Decimals::Comma).is_some();
        if cell.is_empty() {
        } else if is_point || is_comma {
            self.numbers += 1;
            self.commas += usize::from(comma.is_some());
            // The point of `1.234` may separate thousands.
            self.shown[0] |= point.is_some() && !is_comma && (comma.is_some() || !is_grouped(cell, '.'));
            self.shown[1] |= is_comma && !is_point;
        } else if is_missing(cell) {
            self.missing += 1;
        } else {
            self.others += 1;
        }
    }

    /// What their commas are.
    pub fn decimals(&self) -> Decimals {
        match self.shown {
            _ if self.commas == 0 => Decimals::Point,
            [false, true] => Decimals::Comma,
            [true, false] => Decimals::Point,
            [true, true] | [false, false] => Decimals::Unclear,
        }
    }

    /// Whether they are numbers, apart from blank and missing ones.
    pub fn are_numbers(&self) -> bool {
        self.others == 0 && self.numbers > self.missing
    }
}

/// Whether a text is a number, however its decimals are written.
pub fn is_number(cell: &str) -> bool {
    [Decimals::Point, Decimals::Comma].iter().any(|decimals| number(cell, *decimals).is_some())
}

/// A number, where decimals are written so; it may have a sign of minus, and one of percent behind it.
pub fn number(cell: &str, decimals: Decimals) -> Option<f64> {
    let cell = cell.trim().replacen('\u{2212}', "-", 1);
    let cell = cell.strip_suffix('%').unwrap_or(&cell).trim_end();
    let (thousands, mark) = if decimals == Decimals::Comma { ('.', ',') } else { (',', '.') };
    let (whole, rest) = cell.split_at(cell.find([mark, 'e', 'E']).unwrap_or(cell.len()));
    if decimals == Decimals::Unclear && cell.contains(',') || rest.contains(thousands) {
        return None;
    }
    if whole.contains(thousands) && !is_grouped(whole, thousands) {
        return None;
    }
    let plain = whole.replace(thousands, "") + &rest.replace(mark, ".");
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}
