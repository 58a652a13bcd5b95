//! Floor 5: how spread out an alignment is: H_i = - sum_j alpha_ij log2 alpha_ij, in bits.

/// H of one row of weights, in bits; 0 log 0 is 0. Rows that do not sum to 1 (local-p, a part of a row) are taken as they are.
pub fn entropy(alpha_i: &[f32]) -> f32 {
    let bits = |alpha: f32| if alpha > 0.0 { -alpha * alpha.log2() } else { 0.0 };
    alpha_i.iter().map(|alpha| bits(*alpha)).sum()
}

/// How many source words a row looks at, in effect: 2^H, from 1 to T_x.
pub fn words_looked_at(alpha_i: &[f32]) -> f32 {
    entropy(alpha_i).exp2()
}
