"""Figures of alignments: those of models and anybody's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._common import a_text, entries, number
from ._native import NativeFigure, draw, words_of_pieces


class Figure:
    """A drawing. In a notebook it shows itself."""

    __slots__ = ("_native",)

    def __init__(self, native: NativeFigure) -> None:
        self._native = native

    def svg(self) -> str:
        """As SVG."""
        return bytes(self._native.bytes("svg")).decode()

    def pdf(self) -> bytes:
        """As PDF, with its fonts."""
        return bytes(self._native.bytes("pdf"))

    def png(self) -> bytes:
        """As PNG, at its resolution."""
        return bytes(self._native.bytes("png"))

    def save(self, path: Union[str, os.PathLike[str]]) -> Path:
        """Write it: SVG, PDF or PNG, as the name ends.

        :raises ValueError: a name that ends otherwise.
        :raises OSError: a file that cannot be written.
        """
        self._native.save(os.fspath(path))
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        source, target = self._native.words
        return f"<Figure {self._native.kind}: {len(source)} source words, {len(target)} target words>"


#: How a figure looks: the options that :func:`show` explains.
STYLE = ("kind", "palette", "dark", "legend", "caption", "width", "dpi", "threshold", "opacity")


def asked(options: dict[str, Any]) -> dict[str, Any]:
    """The style among the arguments of a function, checked."""
    style = {name: options[name] for name in STYLE}
    style.update({name: bool(style[name]) for name in ("dark", "legend", "opacity")})
    style.update({name: number(name, style[name]) for name in ("dpi", "threshold")})
    style["width"] = None if style["width"] is None else number("width", style["width"])
    return style


def matrix(alpha: Any) -> NDArray[np.float32]:
    """Weights as an array of float32, whether they are of numpy, torch, tensorflow, jax or lists."""
    # A tensor of torch that was trained, or lies on a graphics card, becomes an array by these steps alone.
    for step in ("detach", "cpu"):
        if hasattr(alpha, step):
            alpha = getattr(alpha, step)()
    if str(getattr(alpha, "dtype", "")) == "torch.bfloat16":
        alpha = alpha.float()
    try:
        found = np.asarray(alpha, dtype=np.float32)
    except (TypeError, ValueError) as why:
        raise ValueError(f"the weights are no matrix of numbers: {why}") from None
    if found.ndim != 2:
        shape = " by ".join(str(size) for size in found.shape) or "a number"
        raise ValueError(
            f"the weights are {shape}; give a matrix with a row for each target word and a column for each source "
            "word, such as attention[layer][0].mean(0) over heads"
        )
    return found


def tokens(side: Union[str, Iterable[str]], count: int, what: str) -> list[str]:
    """Words of a side: those of a list, or what stands between the spaces of a text, with ``</s>`` where one is missing."""
    if not isinstance(side, str):
        return [a_text("a token", str(token)) for token in entries(what, side, "a text or a list")]
    found = a_text(what, side).split()
    if len(found) + 1 == count:
        found.append("</s>")
    if len(found) != count:
        raise ValueError(f"{what} has {len(found)} words and the weights are for {count}; give the tokens as a list")
    return found


def words(source: Iterable[str], target: Iterable[str], alpha: Any) -> tuple[list[str], list[str], NDArray[np.float32]]:
    """Put pieces of words together: ``▁un believ able``, ``un ##believ ##able``, ``un@@ believ@@ able``.

    :param alpha: weights, a row for each target piece, a column for each source piece.
    :returns: source words, target words and the weights between them. The column of a word is the sum of those of its
        pieces, its row the mean of theirs.
    """
    weights = matrix(alpha)
    x, y = entries("source", source), entries("target", target)
    x, y = ([a_text("a piece", str(piece)) for piece in side] for side in (x, y))
    return words_of_pieces(x, y, weights)


def show(
    source: Union[str, Iterable[str]],
    target: Union[str, Iterable[str]],
    alpha: Any,
    *,
    title: str = "Attention",
    kind: Optional[str] = None,
    palette: Optional[str] = None,
    dark: bool = False,
    legend: bool = False,
    caption: Optional[str] = None,
    width: Optional[float] = None,
    dpi: float = 300.0,
    threshold: float = 0.1,
    opacity: bool = False,
) -> Figure:
    """Draw anybody's attention.

    :param source: source words; of a text, what stands between its spaces (``</s>`` is added where it is missing).
    :param target: target words likewise.
    :param alpha: weights from 0 to 1, of numpy, torch or lists: a row for each target word, a column for each source
        word. ``interlinear.explore(figure)`` shows it in the window.
    :param title: what the file of the figure says it is.
    :param kind: ``"heatmap"`` or ``"links"``.
    :param palette: colours of the heatmap: ``"print"`` (1 is black; the usual one on paper), ``"gray"`` (1 is white; the
        usual one on a dark ground), ``"viridis"`` and others.
    :param dark: for a dark ground.
    :param legend: say below what colours and widths mean.
    :param caption: text below.
    :param width: of the figure in a file, in millimetres.
    :param dpi: pixels in an inch, of a PNG.
    :param threshold: links with less weight are left out.
    :param opacity: links show their weight by opacity, not by width.
    :raises ValueError: weights whose shape is not that of the words; a name that does not exist.
    """
    weights = matrix(alpha)
    x, y = tokens(source, weights.shape[1], "the source"), tokens(target, weights.shape[0], "the target")
    style = asked(locals())
    return Figure(draw(x, y, weights, a_text("title", title), style, []))
