//! The rules that move weights, element by element. `x` weights, `g` gradient (cleared),
//! `scale` the factor of clipping.

use super::per_level;

per_level! {
    /// a += b; b = 0.
    pub fn take(a: &mut [f32], b: &mut [f32]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a += *b;
            *b = 0.0;
        }
    }
}

per_level! {
    /// x -= rate g.
    pub fn sgd(x: &mut [f32], g: &mut [f32], scale: f32, rate: f32) {
        for (x, g) in x.iter_mut().zip(g) {
            *x -= rate * scale * *g;
            *g = 0.0;
        }
    }
}

per_level! {
    /// Algorithm 1 of Kingma and Ba 2015.
    pub fn adam(
        x: &mut [f32], g: &mut [f32], m: &mut [f32], v: &mut [f32], scale: f32, rate: f32,
        betas: (f32, f32), corrections: (f32, f32), epsilon: f32,
    ) {
        let ((beta1, beta2), (c1, c2)) = (betas, corrections);
        let rate = rate / c1;
        let c2 = 1.0 / c2.sqrt();
        for (((x, g), m), v) in x.iter_mut().zip(g).zip(m).zip(v) {
            let d = scale * *g;
            *m = beta1 * *m + (1.0 - beta1) * d;
            *v = beta2 * *v + (1.0 - beta2) * d * d;
            *x -= rate * *m / (v.sqrt() * c2 + epsilon);
            *g = 0.0;
        }
    }
}

per_level! {
    /// [`adam`] where the gradient is 0: the same numbers.
    pub fn adam_coast(
        x: &mut [f32], m: &mut [f32], v: &mut [f32], rate: f32, betas: (f32, f32), corrections: (f32, f32), epsilon: f32,
    ) {
        let ((beta1, beta2), (c1, c2)) = (betas, corrections);
        let rate = rate / c1;
        let c2 = 1.0 / c2.sqrt();
        for ((x, m), v) in x.iter_mut().zip(m).zip(v) {
            *m *= beta1;
            *v *= beta2;
            *x -= rate * *m / (v.sqrt() * c2 + epsilon);
        }
    }
}

per_level! {
    /// [`adadelta`] where the gradient is 0: the same numbers.
    pub fn fade(g2: &mut [f32], dx2: &mut [f32], rho: f32) {
        for (g2, dx2) in g2.iter_mut().zip(dx2) {
            *g2 *= rho;
            *dx2 *= rho;
        }
    }
}

per_level! {
    /// Algorithm 1 of Zeiler 2012.
    pub fn adadelta(
        x: &mut [f32], g: &mut [f32], g2: &mut [f32], dx2: &mut [f32], scale: f32, rate: f32, rho: f32, epsilon: f32,
    ) {
        for (((x, g), g2), dx2) in x.iter_mut().zip(g).zip(g2).zip(dx2) {
            let d = scale * *g;
            *g2 = rho * *g2 + (1.0 - rho) * d * d;
            let step = -((*dx2 + epsilon).sqrt() / (*g2 + epsilon).sqrt()) * d;
            *dx2 = rho * *dx2 + (1.0 - rho) * step * step;
            *x += rate * step;
            *g = 0.0;
        }
    }
}
