"""How fast the module is beside the program: python tests/python/speed.py [MODEL] [FILE] [ROUNDS]

Translates the same sentences (by default 10,000 short ones) by turns, in processes of their own, from start to end, with loading. PROGRAM
names the program; by default it is the one that came with the module.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = 10_000
WORDS = 12

MODULE = """
import sys, interlinear as il
model = il.load(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    for t in model.translate(file.read().splitlines()):
        sys.stdout.write(t.text + "\\n")
        numbers = t.log_p, t.alpha
"""


def short_sentences(folder: Path) -> Path:
    """The sentences that come along, the short ones again and again."""
    lines = (ROOT / "assets" / "first-set" / "first.en").read_text(encoding="utf-8").splitlines()
    short = [line for line in lines if len(line.split()) <= WORDS]
    path = folder / "short.en"
    path.write_text("".join(short[n % len(short)] + "\n" for n in range(SENTENCES)), encoding="utf-8")
    return path


def timed(command: list[str]) -> tuple[float, int, str]:
    """Seconds, words and the text of a run."""
    began = time.perf_counter()
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - began, len(text.split()), text


def main() -> None:
    arguments = sys.argv[1:] + [""] * 3
    os.environ.setdefault("INTERLINEAR_MODELS", str(ROOT / "models"))
    with tempfile.TemporaryDirectory() as folder:
        model, rounds = arguments[0] or "rnnsearch-en-fr", int(arguments[2] or 5)
        file = arguments[1] or str(short_sentences(Path(folder)))
        program = [os.environ["PROGRAM"]] if "PROGRAM" in os.environ else [sys.executable, "-m", "interlinear"]
        speeds: dict[str, list[float]] = {"program": [], "module": []}
        texts = set()
        for n in range(rounds):
            for name in sorted(speeds, reverse=n % 2 == 1):
                command = [*program, "translate", "--model", model, file]
                if name == "module":
                    command = [sys.executable, "-c", MODULE, model, file]
                seconds, words, text = timed(command)
                texts.add(text)
                speeds[name].append(words / seconds)
                print(f"{name:8} {seconds:7.2f} s {words / seconds:9.0f} words/s", flush=True)
        told = {name: median(found) for name, found in speeds.items()}
        ratios = [module / program for module, program in zip(speeds["module"], speeds["program"])]
        print(f"module {told['module']:.0f} words/s, program {told['program']:.0f} words/s, ratio {median(ratios):.3f}")
        print(
            "both say the same" if len(texts) == 1 else "they differ in near ties: batches are put together otherwise"
        )


if __name__ == "__main__":
    main()
