//! Floor 3: the models of Luong, Pham, Manning 2015: stacked LSTM encoder and decoder, global or
//! local attention, input feeding. Imports `nn` and `attention`.

use crate::models::Shapes;
use crate::models::config::AttentionKind;
use crate::models::config::Config;

/// Names and shapes of its tensors. K vocabulary, m embedding, n hidden; a layer has the gates i, f, o and the
/// proposal g.
#[must_use]
pub fn shapes(config: &Config) -> Shapes {
    let (m, n) = (config.embedding, config.hidden);
    let mut shapes = Shapes::new();
    let Some(luong) = &config.luong else { return shapes };
    let mut add = |name: &str, shape: &[usize]| shapes.push((name.to_owned(), shape.to_vec()));
    add("source_embedding", &[config.source_vocabulary, m]);
    add("target_embedding", &[config.target_vocabulary, m]);
    for side in ["encoder", "decoder"] {
        for layer in 0..luong.layers {
            let fed = if side == "decoder" && luong.input_feeding { n } else { 0 };
            let width = if layer == 0 { m + fed } else { n };
            for gate in ["i", "f", "o", "g"] {
                add(&format!("{side}.{layer}.W_{gate}"), &[n, width]);
                add(&format!("{side}.{layer}.U_{gate}"), &[n, n]);
                add(&format!("{side}.{layer}.b_{gate}"), &[n]);
            }
        }
    }
    if luong.attention != AttentionKind::None {
        match luong.score.as_str() {
            "general" => add("attention.W_a", &[n, n]),
            "concat" => {
                add("attention.W_a", &[n, 2 * n]);
                add("attention.v_a", &[n]);
            }
            "location" => add("attention.W_a", &[luong.max_source, n]),
            _ => {}
        }
        if luong.attention == AttentionKind::LocalP {
            add("attention.W_p", &[n, n]);
            add("attention.v_p", &[n]);
        }
        add("W_c", &[n, 2 * n]);
    }
    add("W_s", &[config.target_vocabulary, n]);
    shapes
}
