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
    il.explore()
    il.explore(workspace)
    il.explore(tmp_path / "w.ilw", model="rnnsearch-en-fr")
    il.explore(tiny)
    assert started == [
        [],
        [str(workspace.path.resolve())],
        [str(workspace.path.resolve()), "--model", "rnnsearch-en-fr"],
        ["--model", str(REFERENCE / "rnnsearch")],
    ]
    started.clear()
    il.explore(["one\nline", tiny.translate("s1 s2", pretokenized=True)], model=[tiny])
    assert Path(started[0][1]).read_text() == "one line\ns1 s2\n" and started[0][2] == "--model"
    started.clear()
    il.explore(il.show(["a", "b"], ["x", "</s>"], [[0.3, 0.7], [0.5, 0.5]]))
    made = il.Workspace(started[0][0])
    assert made.sources == ["a b"] and made.table()["attention"] == ["x"]
    il.explore(tiny.translate("s1 s2", pretokenized=True))
    assert il.Workspace(started[1][0]).sources == ["s1 s2"]
    with pytest.raises(FileNotFoundError, match="nowhere: does not exist"):
        il.explore(tmp_path / "nowhere")


def test_the_window_has_all_of_several_models_and_the_chosen_head(monkeypatch):
    started = []
    monkeypatch.setattr(_window, "start", lambda arguments: started.append(arguments) or None)
    first, headed = REFERENCE / "rnnsearch", str(TRANSFORMER) + "@1.1"
    both, one = il.load(first, first), il.load(headed)
    assert both.folder == first and both.folders == [first, first]
    assert one.folder == TRANSFORMER and one.folders == [Path(headed)]
    il.explore(both)
    il.explore(one)
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


def test_overloads_have_the_options_of_their_function():
    import ast

    from interlinear import _model, _translation, _workspace

    def options(function):
        return [one.arg for one in function.args.kwonlyargs]

    def methods(module):
        nodes = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.FunctionDef)]
        return {name: [node for node in nodes if node.name == name] for name in {node.name for node in nodes}}

    model, workspace = methods(_model), methods(_workspace)
    for name in ("translate", "score", "head"):
        assert len(model[name]) == 4 and len({tuple(options(node)) for node in model[name]}) == 1, name
    assert set(options(model["translate"][0])) - set(options(workspace["run"][0])) == {"errors"}
    translation = methods(_translation)
    assert options(translation["figure"][-1]) == options(translation["save"][0])


def test_a_sample_is_typed(tmp_path):
    pytest.importorskip("mypy")
    sample = tmp_path / "sample.py"
    sample.write_text(
        "import interlinear as il\n"
        "from typing import Iterator\n"
        "m = il.load('x')\n"
        "one: il.Translation = m.translate('a', beam=3)\n"
        "some: list[il.Translation] = m.translate(['a'], errors='empty')\n"
        "more: Iterator[il.Translation] = m.score(iter(['a']), iter(['b']))\n"
        "one.save('a.svg', kind='bars', word=1, legend=True)\n"
        "with il.Workspace('w.ilw') as w:\n"
        "    w.run(m, beam=2)\n"
        "m.translate('a', bean=3)  # wrong\n"
        "one.save('a.svg', legend='yes')  # wrong\n"
        "w.run(m, beam='2')  # wrong\n"
    )
    done = run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, sample)
    wrong = [n for n, line in enumerate(sample.read_text().splitlines(), 1) if line.endswith("# wrong")]
    found = [int(line.split(":")[1]) for line in done.stdout.splitlines() if "error:" in line]
    assert sorted(set(found)) == wrong, done.stdout


def test_what_is_public_has_its_public_name_and_a_repr(tiny, tmp_path):
    space = {}
    exec("from interlinear import *", space)
    assert "open" not in space and il.open is il.explore
    for name in il.__all__:
        if not name.startswith("__"):
            assert getattr(il, name).__module__ == "interlinear", name
    assert "ForwardRef" not in str(inspect.signature(il.Aer))
    workspace = il.Workspace(tmp_path / "w.ilw")
    workspace.add_sentences(["a"])
    t = tiny.translate("s1", pretokenized=True)
    for thing in (tiny, t, t.figure(), workspace, workspace.table(), il.Aligner.bundled("en-fr"), il.aer(["0-0"], ["0-0"])):
        assert "object at 0x" not in repr(thing), repr(thing)
    assert repr(il.Aligner.bundled("en-fr")) == "<Aligner en to fr>"


def test_without_a_display_no_window_is_promised(monkeypatch):
    if sys.platform in ("win32", "darwin"):
        pytest.skip("there is always a display")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RuntimeError, match="there is no display"):
        il.explore()
    monkeypatch.setenv("DISPLAY", ":987")
    with pytest.raises(RuntimeError, match="the window did not open"):
        il.explore()
