//! exp(digamma(x)), which takes the place of a count under a Dirichlet prior.

/// exp(psi(x)) for x > 0, by the recurrence up to 6 and the asymptotic series from there; to 1e-9 of its value.
pub fn exp_digamma(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 6.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    // psi(x) = ln x - 1/2x - 1/12x^2 + 1/120x^4 - 1/252x^6 + 1/240x^8 - ..
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    x * (-0.5 / x - series - below).exp()
}
