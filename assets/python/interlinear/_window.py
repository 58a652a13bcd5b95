"""The window, from Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

from ._figure import Figure
from ._model import Model
from ._translation import Translation
from ._workspace import Workspace

#: Seconds within which a window that cannot open has ended.
FAILS_WITHIN = 1.0

Name = Union[str, "os.PathLike[str]", Model]


def explore(what: Any = None, *, model: Union[None, Name, Iterable[Name]] = None) -> subprocess.Popen[bytes]:
    """Open the window and go on; it stays open when Python ends.

    :param what: nothing; a file or folder, as if it were dropped on the window (a corpus, a text, links, a model); a
        :class:`Workspace`; a :class:`Model`; a :class:`Figure` or a :class:`Translation`, whose attention becomes a
        corpus of one sentence; a list of sentences or of translations, which becomes a list in the window.
        Of several models that :func:`load` made one of, each has its column.
    :param model: models for the columns, by path or name.
    :returns: the process of the window.
    :raises RuntimeError: there is no display.
    """
    arguments: list[str] = []
    named: list[Name] = []
    if model is not None:
        named = [model] if isinstance(model, (str, os.PathLike, Model)) else list(model)
    if isinstance(what, Model):
        named.append(what)
    elif isinstance(what, (str, os.PathLike)):
        arguments.append(_there(Path(what)))
    elif isinstance(what, Workspace):
        arguments.append(str(what.path.resolve()))
    elif isinstance(what, (Figure, Translation)):
        arguments.append(str(_workspace_of(what)))
    elif what is not None:
        sentences = [one.source if isinstance(one, Translation) else one for one in what]
        path = _folder() / "sentences.txt"
        # A sentence is a line.
        path.write_text("".join(" ".join(str(one).split()) + "\n" for one in sentences), encoding="utf-8")
        arguments += ["--source", str(path)]
    for one in named:
        for folder in one.folders if isinstance(one, Model) else [one]:
            arguments += ["--model", os.fspath(folder)]
    return start(arguments)


def start(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start the program with its window on these arguments."""
    is_ours = sys.platform in ("win32", "darwin")
    if not is_ours and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"))):
        raise RuntimeError("there is no display for a window: neither DISPLAY nor WAYLAND_DISPLAY is set")
    command = [sys.executable, "-m", "interlinear", "explore", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        code = process.wait(FAILS_WITHIN)
    except subprocess.TimeoutExpired:
        return process
    if code:
        display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
        where = "" if is_ours else f"; check that the display {display} is there"
        raise RuntimeError(f"the window did not open{where}")
    return process


def _there(path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(f"{path}: does not exist; check the path")
    return str(path.resolve())


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="interlinear-"))


def _workspace_of(what: Union[Figure, Translation]) -> Path:
    """A corpus of one sentence with this attention."""
    path = _folder() / "attention.ilw"
    if isinstance(what, Translation):
        Workspace(path).add_system("translation", [what])
        return path
    source, target = what._native.words

    def text(words: list[str]) -> str:
        return " ".join(word for word in words if word != "</s>")

    Workspace(path).add_system(
        "attention",
        [text(target)],
        sources=[text(source)],
        attention=[what._native.weights],
        source_tokens=[source],
        target_tokens=[target],
    )
    return path
