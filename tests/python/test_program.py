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
from conftest import REFERENCE, ROOT
from interlinear import _window

TRANSFORMER = ROOT / "tests" / "fixtures" / "origins" / "mt-trained"


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


def test_the_window_has_all_of_several_models_and_the_chosen_head(monkeypatch):
    started = []
    monkeypatch.setattr(_window, "start", lambda arguments: started.append(arguments) or None)
    first, headed = REFERENCE / "rnnsearch", str(TRANSFORMER) + "@1.1"
    both, one = il.load(first, first), il.load(headed)
    assert both.folder == first and both.folders == [first, first]
    assert one.folder == TRANSFORMER and one.folders == [Path(headed)]
    il.open(both)
    il.open(one)
    assert started == [["--model", str(first)] * 2, ["--model", headed]]


def test_a_file_that_is_not_there_ends_before_a_window_opens():
    done = run(sys.executable, "-m", "interlinear", "explore", "nowhere.ilw")
    assert done.returncode == 2 and "nowhere.ilw: does not exist" in done.stderr
    done = run(sys.executable, "-m", "interlinear", "explore", "--model", REFERENCE / "nowhere@1.1")
    assert done.returncode == 2 and "nowhere: does not exist" in done.stderr


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

    def parameters(thing):
        return list(inspect.signature(thing).parameters)

    def told(function):
        arguments = function.args
        return [one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]

    def own(there):
        return {name for name in there if not name.startswith("_")}

    stub = ast.parse((Path(il.__file__).parent / "_native.pyi").read_text())
    functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert own(vars(_native)) == {*functions, *classes, "VERSION"}
    for name, node in functions.items():
        assert parameters(getattr(_native, name)) == told(node), name
    for name, node in classes.items():
        there = getattr(_native, name)
        parts = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
        assert own(vars(there)) == own(parts), name
        if "__new__" in parts:
            assert parameters(there) == told(parts["__new__"])[1:], name
        for part in own(parts):
            if callable(getattr(there, part)):
                assert parameters(getattr(there, part)) == told(parts[part]), f"{name}.{part}"


def test_paths_come_as_the_stub_says(tmp_path):
    from interlinear import _native

    paths = [_native.model_path("a/b"), *_native.installed(), _native.NativeWorkspace(tmp_path / "w.ilw").path]
    assert len(paths) > 2 and all(isinstance(path, Path) for path in paths)


def test_options_are_those_that_are_typed():
    from interlinear import _figure, _model, _translation

    def options(function, *others):
        return set(inspect.signature(function).parameters) - {"self", *others}

    assert options(il.Model.translate, "text") == set(_model.SearchOptions.__annotations__)
    assert options(il.Model.translate, "text", "errors") == set(_model.RunOptions.__annotations__)
    assert options(il.Model.score, "sources", "targets") == set(_model.ScoreOptions.__annotations__)
    assert options(il.Model.score, "sources", "targets", "reading") == set(_model.HeadOptions.__annotations__)
    assert options(_figure.asked) == set(_figure.Style.__annotations__)
    assert options(_figure.asked) | {"words"} == set(_translation.FigureOptions.__annotations__)
