"""Marian decodes the lines that it was made with, by beam search, or makes a Transformer of random weights.

    python decode_marian.py make FOLDER D FFN        # FOLDER/model.npz of 6 + 6 layers, v.yml, lines.txt
    python decode_marian.py decode FOLDER [batch=1] [threads=2] [sentences=64]

`make` takes one step of training, so that Marian writes the file itself; `interlinear bench --model FOLDER/model.npz` is
what runs by turns with `decode`. The last line of the output is a JSON object: words_per_s, median_s of a call.
"""

import json
import os
import random
import statistics
import sys
import time

import pymarian

PIECES, LENGTH, BEAM = 53_000, 20, 5


def lines(count, seed):
    draw = random.Random(seed)
    return [" ".join(f"w{draw.randrange(2, PIECES)}" for _ in range(LENGTH)) for _ in range(count)]


def make(folder, d, ffn):
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    with open("v.yml", "w") as file:
        file.write("</s>: 0\n<unk>: 1\n" + "".join(f"w{i}: {i}\n" for i in range(2, PIECES)))
    for name, seed, count in (("source", 1, 8), ("target", 2, 8), ("lines.txt", 3, 320)):
        with open(name, "w") as file:
            file.write("\n".join(lines(count, seed)) + "\n")
    pymarian.Trainer(
        f"--type transformer --enc-depth 6 --dec-depth 6 --dim-emb {d} --transformer-dim-ffn {ffn} --transformer-heads 8 "
        f"--tied-embeddings-all --dim-vocabs {PIECES} {PIECES} --vocabs v.yml v.yml --train-sets source target -m model.npz "
        "--after-batches 1 --mini-batch 4 --optimizer sgd --cpu-threads 1 -w 3000 --seed 5 --overwrite"
    ).train()


def decode(folder, batch=1, threads=2, sentences=64):
    os.chdir(folder)
    with open("lines.txt") as file:
        text = file.read().splitlines()[:sentences]
    translator = pymarian.Translator(
        f"-m model.npz -v v.yml v.yml --beam-size {BEAM} --cpu-threads {threads} --mini-batch {batch} --maxi-batch 1 "
        f"--max-length {LENGTH} --max-length-factor 1 --normalize 0 --quiet --quiet-translation -w 2000"
    )
    translator.translate("\n".join(text[: 2 * batch]))
    calls = ["\n".join(text)] if batch > 1 else text[:12]
    times, words = [], 0
    for call in calls:
        began = time.perf_counter()
        words += len(translator.translate(call).split())
        times.append(time.perf_counter() - began)
    print(json.dumps({"words_per_s": words / sum(times), "median_s": statistics.median(times)}))


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "make":
        make(folder, *rest)
    else:
        decode(folder, **{key: int(value) for key, value in (word.split("=") for word in rest)})
