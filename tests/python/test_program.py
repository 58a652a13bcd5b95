"""The program comes along, is started on files, and the package is typed and described."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import interlinear as il
import pytest
from conftest import REFERENCE
from interlinear import _window


def run(*command, text=""):
    return subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "command", [[Path(sysconfig.get_path("scripts")) / "interlinear"], [sys.executable, "-m", "interlinear"]]
)
def test_the_program_runs(command):
    assert run(*command, "--version").stdout.split() == ["interlinear", il.__version__]
    done = run(*command, "translate", "--model", REFERENCE / "rnnsearch", "--pretokenized", text="s1 s2\n")
    assert done.returncode == 0 and done.stdout.count("\n") == 1
    wrong = run(*command, "translate", "--model", "nobody-has-this")
    assert wrong.returncode == 2 and wrong.stderr.startswith("interlinear: ")
    assert "Traceback" not in wrong.stderr


def test_the_program_says_what_the_module_says(tiny):
    sentences = ["s1 s2 s3", "s4 s5", "s9"]
    command = [sys.executable, "-m", "interlinear", "translate", "--model", REFERENCE / "rnnsearch", "--threads", "1"]
    done = run(*command, "--pretokenized", text="\n".join(sentences) + "\n")
    assert done.stdout.splitlines() == [t.text for t in tiny.translate(sentences, pretokenized=True)]


def test_the_window_is_started_on_what_is_given(tiny, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(_window, "start", lambda arguments: started.append(arguments) or None)
    workspace = il.Workspace(tmp_path / "w.ilw")
    workspace.add_sentences(["a"])
    il.open()
    il.open(workspace)
    il.open(tmp_path / "w.ilw", model="rnnsearch-en-fr")
    il.open(tiny)
    assert started == [
        [],
        [str(workspace.path.resolve())],
        [str(workspace.path.resolve()), "--model", "rnnsearch-en-fr"],
        ["--model", str(REFERENCE / "rnnsearch")],
    ]
    started.clear()
    il.open(["one\nline", tiny.translate("s1 s2", pretokenized=True)], model=[tiny])
    assert Path(started[0][1]).read_text() == "one line\ns1 s2\n" and started[0][2] == "--model"
    started.clear()
    il.open(il.show(["a", "b"], ["x", "</s>"], [[0.3, 0.7], [0.5, 0.5]]))
    made = il.Workspace(started[0][0])
    assert made.sources == ["a b"] and made.table()["attention"] == ["x"]
    il.open(tiny.translate("s1 s2", pretokenized=True))
    assert il.Workspace(started[1][0]).sources == ["s1 s2"]
    with pytest.raises(FileNotFoundError, match="nowhere: does not exist"):
        il.open(tmp_path / "nowhere")


def test_a_file_that_is_not_there_ends_before_a_window_opens():
    done = run(sys.executable, "-m", "interlinear", "explore", "nowhere.ilw")
    assert done.returncode == 2 and "nowhere.ilw: does not exist" in done.stderr


def test_everything_public_is_described():
    for name in il.__all__:
        thing = getattr(il, name)
        if name.startswith("__"):
            continue
        assert inspect.getdoc(thing), f"{name} has no docstring"
        if inspect.isclass(thing):
            own = {key: value for key, value in vars(thing).items() if not key.startswith("_")}
            for key, value in own.items():
                if callable(value) or isinstance(value, (property, classmethod)):
                    assert inspect.getdoc(value), f"{name}.{key} has no docstring"


def test_the_package_is_typed():
    pytest.importorskip("mypy")
    package = Path(il.__file__).parent
    assert (package / "py.typed").exists()
    # Neither pandas nor tqdm is typed unless further packages are there.
    done = run(
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        os.devnull,
        "--disable-error-code",
        "import-untyped",
        "-p",
        "interlinear",
    )
    assert done.returncode == 0, done.stdout


def test_the_stub_is_what_is_there():
    import ast

    from interlinear import _native

    stub = ast.parse((Path(il.__file__).parent / "_native.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert hasattr(_native, node.name)
        elif isinstance(node, ast.ClassDef):
            there = {key for key in vars(getattr(_native, node.name)) if not key.startswith("_")}
            told = {
                part.name for part in node.body if isinstance(part, ast.FunctionDef) if not part.name.startswith("_")
            }
            assert there == told, node.name
