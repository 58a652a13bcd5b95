"""The recipes of the manual's page Python do what they say, on a small model of Hugging Face's format."""

from __future__ import annotations

import re

import interlinear as il
import pytest
from conftest import ROOT

MODEL = ROOT / "tests" / "fixtures" / "origins" / "mt-trained"
SOURCES = ["the house is old", "the red house"]


def recipe(library):
    """The block of the manual that imports this."""
    page = (ROOT / "assets" / "manual" / "python.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if library in block]
    assert len(blocks) == 1
    return blocks[0].replace("Helsinki-NLP/opus-mt-en-fr", str(MODEL))


@pytest.mark.parametrize("library", ["transformers", "inseq"])
def test_attention_of_others_comes_into_a_workspace(library, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    exec(recipe(library), {"il": il, "sources": SOURCES})
    workspace = il.Workspace("others.ilw")
    assert workspace.sources == SOURCES and len(workspace.systems) == 1
    outputs = workspace.table()[workspace.systems[0]]
    assert all(outputs)
    import json
    import subprocess
    import sys

    command = [sys.executable, "-m", "interlinear", "analyse", "--workspace", "others.ilw", "--format", "jsonl"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for line, output in zip(map(json.loads, lines), outputs):
        said = line["systems"][workspace.systems[0]]
        assert "".join(word for word in said["target"] if word != "</s>") == output.replace(" ", "")
        assert [word for word in said["source"] if word != "</s>"] == line["source"].split()
        assert said["alpha"] is not None and len(said["alpha"]) == len(said["target"])
        assert all(abs(sum(row) - 1) < 0.01 for row in said["alpha"])
        assert said["links"], "they are counted between the spaces of the texts"
