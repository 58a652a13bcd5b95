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


def timed(command: list[str]) -> tuple[float, float, str]:
    """Seconds, those of the processors, and the text of a run."""

    def spent() -> float:
        times = os.times()
        return times.children_user + times.children_system

    before, began = spent(), time.perf_counter()
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - began, spent() - before, text


def main() -> None:
    arguments = sys.argv[1:] + [""] * 3
    os.environ.setdefault("INTERLINEAR_MODELS", str(ROOT / "models"))
    with tempfile.TemporaryDirectory() as folder:
        model, rounds = arguments[0] or "rnnsearch-en-fr", int(arguments[2] or 5)
        file = arguments[1] or str(short_sentences(Path(folder)))
        program = [os.environ["PROGRAM"]] if "PROGRAM" in os.environ else [sys.executable, "-m", "interlinear"]
        speeds: dict[str, list[float]] = {"program": [], "module": []}
        costs: dict[str, list[float]] = {"program": [], "module": []}
        texts = set()
        for n in range(rounds):
            for name in sorted(speeds, reverse=n % 2 == 1):
                command = [*program, "translate", "--model", model, file]
                if name == "module":
                    command = [sys.executable, "-c", MODULE, model, file]
                seconds, spent, text = timed(command)
                words = len(text.split())
                texts.add(text)
                speeds[name].append(words / seconds)
                costs[name].append(words / spent)
                told = f"{words / seconds:7.0f} words/s, {words / spent:7.0f} words a second of processor"
                print(f"{name:8} {seconds:7.2f} s, {told}", flush=True)
        # The second kind is the one to read where others use the machine too.
        for what, found in (("words/s", speeds), ("words a second of processor", costs)):
            module, program = median(found["module"]), median(found["program"])
            print(f"module {module:.0f}, program {program:.0f} {what}, ratio {module / program:.3f}")
        print(
            "both say the same" if len(texts) == 1 else "they differ in near ties: batches are put together otherwise"
        )


if __name__ == "__main__":
    main()
