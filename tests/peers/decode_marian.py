"""A Transformer (Vaswani et al. 2017) decodes a file by beam search in Marian, in f32.

    python decode_marian.py MODEL_DIR FILE BEAM MAX_LENGTH [batch=1] [threads=2]

MODEL_DIR is a model folder, FILE has a sentence a line, words split by spaces. The last line of the output is a JSON
object: words_per_s (target words), median_s and p95_s (of a batch), first (the ids of the best translation of the first
sentence) and score (its log p). `cargo bench --bench bench -- competition --peer "python decode_marian.py"` runs it by
turns with Interlinear. The converted model is kept beside MODEL_DIR for the next turn.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pymarian
from safetensors.numpy import load_file


def convert(folder, to):
    """Writes the model as Marian reads it: matrices [in, out], and its configuration as bytes."""
    config = json.loads((folder / "config.json").read_text())
    expected = {
        "architecture": "transformer",
        "decoder_cell": "attention",
        "positions": "marian",
        "norm_first": False,
        "norm_epsilon": 1e-6,
        "scale_embedding": True,
        "tied_output": True,
        "decoder_feed_forward": config.get("feed_forward"),
    }
    if differs := [key for key, value in expected.items() if config.get(key) != value]:
        sys.exit(f"Marian is not given models of another {', '.join(differs)} here")
    weights = load_file(folder / "model.safetensors")
    get = lambda name: weights[name].astype(np.float32)
    flat = lambda name: get(name).reshape(1, -1)
    d = config["hidden"]
    made = {}

    def norm(to, name):
        made[f"{to}_ln_scale"], made[f"{to}_ln_bias"] = flat(f"{name}.norm.g"), flat(f"{name}.norm.b")

    for side in ("encoder", "decoder"):
        for l in range(1, config[f"{side}_layers"] + 1):
            parts = [("self", "self")] + ([("context", "cross")] if side == "decoder" else [])
            for theirs, ours in parts:
                for part in "qkvo":
                    made[f"{side}_l{l}_{theirs}_W{part}"] = get(f"{side}.{l}.{ours}.W_{part}").T
                    made[f"{side}_l{l}_{theirs}_b{part}"] = flat(f"{side}.{l}.{ours}.b_{part}")
                norm(f"{side}_l{l}_{theirs}_Wo", f"{side}.{l}.{ours}")
            for part in "12":
                made[f"{side}_l{l}_ffn_W{part}"] = get(f"{side}.{l}.feed.W_{part}").T
                made[f"{side}_l{l}_ffn_b{part}"] = flat(f"{side}.{l}.feed.b_{part}")
            norm(f"{side}_l{l}_ffn_ffn", f"{side}.{l}.feed")
    made["decoder_ff_logit_out_b"] = flat("readout.b_o")
    if config["shared_embedding"]:
        made["Wemb"] = get("source_embedding")
    else:
        made["encoder_Wemb"], made["decoder_Wemb"] = get("source_embedding"), get("target_embedding")
    truth = lambda value: str(bool(value)).lower()
    settings = {
        "type": "transformer",
        "version": "v1.12.0",
        "dim-emb": d,
        "dim-vocabs": f"[{config['source_vocabulary']}, {config['target_vocabulary']}]",
        "enc-depth": config["encoder_layers"],
        "dec-depth": config["decoder_layers"],
        "transformer-heads": config["heads"],
        "transformer-dim-ffn": config["feed_forward"],
        "transformer-ffn-depth": 2,
        "transformer-ffn-activation": config["activation"],
        "transformer-preprocess": '""',
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-decoder-autoreg": "self-attention",
        "tied-embeddings-all": truth(config["shared_embedding"]),
        "tied-embeddings-src": "false",
        "tied-embeddings": truth(not config["shared_embedding"]),
    }
    text = "".join(f"{key}: {value}\n" for key, value in settings.items()) + "\0"
    made["special:model.yml"] = np.frombuffer(text.encode(), np.int8)
    to.mkdir(parents=True)
    np.savez(to / "model.npz", **{name: np.ascontiguousarray(value) for name, value in made.items()})
    for side in ("source", "target"):
        vocabulary = json.loads((folder / f"{side}.tokenizer.json").read_text())["model"]["vocab"]
        names = {"[UNK]": "<unk>"}
        lines = (f"{json.dumps(names.get(word, word))}: {place}\n" for word, place in vocabulary.items())
        (to / f"{side}.yml").write_text("".join(lines))


def main():
    options = {"batch": "1", "threads": "2"}
    options.update(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    if len(arguments := [argument for argument in sys.argv[1:] if "=" not in argument]) != 4:
        sys.exit(__doc__)
    if unknown := options.keys() - {"batch", "threads"}:
        sys.exit(f"there is no option {', '.join(unknown)}")
    folder, text, beam, max_length = Path(arguments[0]), arguments[1], int(arguments[2]), int(arguments[3])
    batch = int(options["batch"])
    converted = folder.with_name(f"{folder.name}-marian")
    if not converted.exists():
        convert(folder, converted)
    sentences = Path(text).read_text(encoding="utf-8").splitlines()
    # a limit of the length is a multiple of the source's, which has 20 words and an end here
    translator = pymarian.Translator(
        f"-m {converted}/model.npz -v {converted}/source.yml {converted}/target.yml --beam-size {beam} "
        f"--cpu-threads {options['threads']} --mini-batch {batch} --maxi-batch 1 --max-length-factor {max_length / 21} "
        "--normalize 0 --n-best --allow-unk --quiet --quiet-translation -w 2000"
    )

    def translate(lines):
        """The best of each: its words and log p."""
        best = {}
        for line in translator.translate("\n".join(lines)).splitlines():
            number, words, _, score = (part.strip() for part in line.split(" ||| "))
            best.setdefault(int(number), (words.split(), float(score)))
        return [best[number] for number in sorted(best)]

    translate(sentences[:batch])  # not counted
    seconds, best = [], []
    for first in range(0, len(sentences), batch):
        began = time.perf_counter()
        best += translate(sentences[first : first + batch])
        seconds.append(time.perf_counter() - began)
    vocabulary = json.loads((folder / "target.tokenizer.json").read_text())["model"]["vocab"]
    seconds_in_all = sum(seconds)
    seconds.sort()
    print(json.dumps({
        "sentences": len(sentences),
        "words_per_s": sum(len(words) for words, _ in best) / seconds_in_all,
        "median_s": seconds[len(seconds) // 2],
        "p95_s": seconds[int(len(seconds) * 0.95)],
        "first": [vocabulary.get(word, vocabulary.get("[UNK]")) for word in best[0][0]],
        "score": best[0][1],
    }))


main()
