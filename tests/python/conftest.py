"""What the tests share: the repository's own fixtures, and models where they lie in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests" / "fixtures" / "reference"

# Before anything is loaded, so that no model or state of this machine is met.
os.environ["INTERLINEAR_MODELS"] = str(ROOT / "models")


def expected(model: str, kind: str) -> list[dict[str, Any]]:
    """The reference numbers of a kind."""
    lines = (REFERENCE / model / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


def line(tokens: list[str]) -> str:
    """Tokens without `</s>`, as a line."""
    return " ".join(token for token in tokens if token != "</s>")


def references() -> list[str]:
    return sorted(folder.name for folder in REFERENCE.iterdir())


@pytest.fixture(scope="session")
def tiny() -> Any:
    """The smallest model with an alignment."""
    import interlinear as il

    return il.load(REFERENCE / "rnnsearch", threads=1)
