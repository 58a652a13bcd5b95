//! Floor 5: the alignment matrix as a view: row i target, column j source, alpha_ij (Bahdanau et al. 2015, eq. 6).

/// alpha of one translation, borrowed. Rows may be longer than `columns`; the rest is ignored.
#[derive(Clone, Copy, Debug)]
pub struct Alignment<'a> {
    rows: &'a [Vec<f32>],
    columns: usize,
}

impl<'a> Alignment<'a> {
    /// The whole matrix: all target words, all source words, `</s>` included where they have it.
    pub fn new(rows: &'a [Vec<f32>]) -> Self {
        Self { rows, columns: rows.iter().map(Vec::len).min().unwrap_or(0) }
    }

    /// Only the first `target_words` rows and `source_words` columns: without `</s>`, when those are the numbers of words.
    pub fn words(self, target_words: usize, source_words: usize) -> Self {
        let rows = &self.rows[..target_words.min(self.rows.len())];
        Self { rows, columns: source_words.min(self.columns) }
    }

    /// Number of target words.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Number of source words.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// alpha_ij; `None` outside the matrix.
    pub fn get(&self, i: usize, j: usize) -> Option<f32> {
        self.rows.get(i)?.get(..self.columns)?.get(j).copied()
    }

    /// The rows alpha_i, [columns] each.
    pub fn iter(&self) -> impl Iterator<Item = &'a [f32]> + use<'a> {
        let columns = self.columns;
        self.rows.iter().map(move |row| &row[..columns])
    }

    /// Sum over j of alpha_ij for each row: 1, or at most 1 for local-p and where `</s>` is cut off.
    pub fn row_sums(&self) -> Vec<f32> {
        self.iter().map(|row| row.iter().sum()).collect()
    }

    /// The column of the greatest alpha of row `i`, the first of equals; `None` when no alpha is above 0.
    pub fn greatest(&self, i: usize) -> Option<usize> {
        let row = self.rows.get(i)?.get(..self.columns)?;
        let better = |best: Option<(usize, f32)>, (j, alpha): (usize, f32)| match best {
            Some((_, most)) if alpha <= most => best,
            _ if alpha > 0.0 => Some((j, alpha)),
            _ => best,
        };
        row.iter().copied().enumerate().fold(None, better).map(|(j, _)| j)
    }
}
