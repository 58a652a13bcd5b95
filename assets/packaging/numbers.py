"""Whether a program that was built for another machine computes the reference numbers: python3 assets/packaging/numbers.py COMMAND...

    python3 assets/packaging/numbers.py qemu-aarch64 -L FOLDER_OF_GLIBC interlinear

COMMAND is how the program is started here. It scores the pairs of tests/fixtures/reference; all must be within 1e-4.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "reference"
NEAR = 1e-4


def scored(command: list[str], model: Path, pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the program says of the pairs."""
    with tempfile.TemporaryDirectory() as folder:
        options = []
        for side in ("source", "target"):
            lines = [" ".join(token for token in pair[side] if token != "</s>") for pair in pairs]
            path = Path(folder) / side
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            options += [f"--{side}", str(path)]
        command = [*command, "score", "--model", str(model), "--pretokenized", "--threads", "1", *options]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return [json.loads(line) for line in said.splitlines()]


def numbers(record: dict[str, Any]) -> list[float]:
    rows = record.get("alpha") or []
    return [record["log_p"], *record["token_log_p"], *(weight for row in rows for weight in row)]


def main() -> int:
    worst, count = 0.0, 0
    for model in sorted(folder for folder in REFERENCE.iterdir() if folder.is_dir()):
        lines = (model / "expected.jsonl").read_text(encoding="utf-8").splitlines()
        pairs = [record for record in map(json.loads, lines) if record["kind"] == "score"]
        found = [numbers(record) for record in scored(sys.argv[1:], model, pairs)]
        expected = [numbers(pair) for pair in pairs]
        if [len(row) for row in found] != [len(row) for row in expected]:
            sys.exit(f"{model.name}: other numbers are given than are expected")
        off = max(abs(x - y) for row, wanted in zip(found, expected) for x, y in zip(row, wanted))
        print(f"{model.name:24} {len(pairs)} pairs, off by at most {off:.1e}", flush=True)
        worst, count = max(worst, off), count + len(pairs)
    print(f"{count} pairs within {worst:.1e}")
    return int(worst > NEAR)


if __name__ == "__main__":
    sys.exit(main())
