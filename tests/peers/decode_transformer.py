"""A Transformer (Vaswani et al. 2017) decodes a file by beam search in CTranslate2.

    python decode_transformer.py [compute=float32|int8] MODEL_DIR FILE BEAM MAX_LENGTH [batch=1] [threads=2] [side_by_side=1]

MODEL_DIR is a model folder, FILE has a sentence a line, words split by spaces. The last line of the output is a JSON
object: words_per_s (target words), median_s and p95_s (of a batch), first (the ids of the best translation of the first
sentence), score (its log p) and load_s. `cargo bench --bench bench -- decode --peer "python decode_transformer.py compute=int8"`
runs it by turns with Interlinear. The converted model is kept beside MODEL_DIR for the next turn.
"""

import json
import sys
import time
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import common_spec, transformer_spec
from safetensors.numpy import load_file

ACTIVATIONS = {"relu": "RELU", "swish": "SWISH", "gelu": "GELU"}


def positions(kind, count, d):
    """Sines in the first half, cosines in the second."""
    half = d // 2
    last = max(half - 1, 1) if kind == "marian" else half
    angle = np.arange(count)[:, None] * np.exp(-np.arange(half) * np.log(10000.0) / last)
    return np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)


def convert(folder, to, compute):
    """Writes the model as CTranslate2 reads it."""
    config = json.loads((folder / "config.json").read_text())
    if config["architecture"] != "transformer" or config["decoder_cell"] != "attention" or config["positions"] == "table":
        sys.exit(f"only Transformers with computed positions are decoded here, not {config['architecture']}")
    weights = load_file(folder / "model.safetensors")
    get = lambda name: weights[name].astype(np.float32)
    spec = transformer_spec.TransformerSpec.from_config(
        (config["encoder_layers"], config["decoder_layers"]),
        config["heads"],
        pre_norm=config["norm_first"],
        activation=getattr(common_spec.Activation, ACTIVATIONS[config["activation"]]),
    )

    def linear(spec, name, which):
        spec.weight = np.concatenate([get(f"{name}.W_{w}") for w in which])
        spec.bias = np.concatenate([get(f"{name}.b_{w}") for w in which])

    def norm(spec, name):
        spec.gamma, spec.beta = get(f"{name}.g"), get(f"{name}.b")

    def layer(spec, name, cross):
        attention = [("self", spec.self_attention, ["qkv", "o"])]
        attention += [("cross", spec.attention, ["q", "kv", "o"])] if cross else []
        for part, attention, matrices in attention:
            for linear_spec, which in zip(attention.linear, matrices):
                linear(linear_spec, f"{name}.{part}", which)
            norm(attention.layer_norm, f"{name}.{part}.norm")
        linear(spec.ffn.linear_0, f"{name}.feed", "1")
        linear(spec.ffn.linear_1, f"{name}.feed", "2")
        norm(spec.ffn.layer_norm, f"{name}.feed.norm")

    scale = config["hidden"] ** 0.5 if config["scale_embedding"] else 1.0
    source = get("source_embedding")
    target = source if config["shared_embedding"] else get("target_embedding")
    for name, side, table in (("encoder", spec.encoder, source), ("decoder", spec.decoder, target)):
        side.scale_embeddings = scale
        side.position_encodings.encodings = positions(config["positions"], 512, config["hidden"])
        for l, layer_spec in enumerate(side.layer, 1):
            layer(layer_spec, f"{name}.{l}", name == "decoder")
        if config["norm_first"]:
            norm(side.layer_norm, f"{name}.norm")
    spec.encoder.embeddings[0].weight = source
    spec.decoder.embeddings.weight = target
    spec.decoder.start_from_zero_embedding = True
    spec.decoder.projection.weight = target if config["tied_output"] else get("readout.W_o")
    spec.decoder.projection.bias = get("readout.b_o")
    for side, register in (("source", spec.register_source_vocabulary), ("target", spec.register_target_vocabulary)):
        vocabulary = json.loads((folder / f"{side}.tokenizer.json").read_text())["model"]["vocab"]
        register(sorted(vocabulary, key=vocabulary.get))
    spec.config.unk_token, spec.config.eos_token, spec.config.bos_token = "[UNK]", "</s>", "</s>"
    spec.config.decoder_start_token = "</s>"
    spec.config.layer_norm_epsilon = config["norm_epsilon"]
    spec.validate()
    spec.optimize(quantization=compute)
    to.mkdir(parents=True)
    spec.save(str(to))


def main():
    options = {"batch": "1", "threads": "2", "side_by_side": "1", "compute": "float32"}
    options.update(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    if len(arguments := [argument for argument in sys.argv[1:] if "=" not in argument]) != 4:
        sys.exit(__doc__)
    folder, text, beam, max_length = Path(arguments[0]), arguments[1], int(arguments[2]), int(arguments[3])
    batch, compute = int(options["batch"]), options["compute"]
    if (translators := int(options["side_by_side"])) > 1 and batch == 1:
        sys.exit("one sentence is translated by one translator")
    converted = folder.with_name(f"{folder.name}-ctranslate2-{compute}")
    if not converted.exists():
        convert(folder, converted, compute)
    began = time.perf_counter()
    translator = ctranslate2.Translator(
        str(converted),
        device="cpu",
        intra_threads=int(options["threads"]),
        inter_threads=translators,
        compute_type=compute,
    )
    load = time.perf_counter() - began
    vocabulary = json.loads((folder / "target.tokenizer.json").read_text())["model"]["vocab"]
    with open(text, encoding="utf-8") as lines:
        sentences = [[*line.split(), "</s>"] for line in lines]
    # log p is not divided by the length, as ours is not
    translate = lambda sentences: translator.translate_batch(
        sentences,
        beam_size=beam,
        max_decoding_length=max_length,
        max_batch_size=batch,
        return_scores=True,
        length_penalty=0,
    )
    together = batch * translators
    translate(sentences[:together])  # not counted
    seconds, best = [], []
    for first in range(0, len(sentences), together):
        began = time.perf_counter()
        best += translate(sentences[first : first + together])
        seconds.append(time.perf_counter() - began)
    words = sum(len(result.hypotheses[0]) for result in best)
    whole = sum(seconds)
    seconds.sort()
    print(json.dumps({
        "sentences": len(sentences),
        "words_per_s": words / whole,
        "median_s": seconds[len(seconds) // 2],
        "p95_s": seconds[int(len(seconds) * 0.95)],
        "first": [vocabulary[word] for word in best[0].hypotheses[0]],
        "score": best[0].scores[0],
        "load_s": load,
    }))


main()
