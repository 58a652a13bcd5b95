"""The guide runs from its first cell to its last."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")


def test_the_guide_runs(tmp_path):
    guide = nbformat.read(Path(__file__).with_name("guide.ipynb"), as_version=4)
    assert all(not cell.get("outputs") for cell in guide.cells), "it is kept without what it gave"
    nbclient.NotebookClient(guide, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.get("data", {}) for cell in guide.cells for output in cell.get("outputs", [])]
    drawn = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert len(drawn) == 2 and all("<svg" in "".join(svg) for svg in drawn), "a translation and somebody's attention"
    assert sum("text/html" in data for data in shown) == 1, "the table"
    said = "".join(output.get("text", "") for cell in guide.cells for output in cell.get("outputs", []))
    assert "maison" in said
