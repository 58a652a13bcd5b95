"""Figures of alignments: those of models and anybody's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

from ._common import entries, number
from ._native import NativeFigure, draw, words_of_pieces

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Style(TypedDict, total=False):
    """How a figure looks, as :func:`show` says it, for those who check types."""

    kind: Optional[str]
    palette: str
    dark: bool
    legend: bool
    caption: Optional[str]
    width: Optional[float]
    dpi: float
    threshold: float
    opacity: bool


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


def asked(
    *,
    kind: Optional[str] = None,
    palette: Optional[str] = None,
    dark: bool = False,
    legend: bool = False,
    caption: Optional[str] = None,
    width: Optional[float] = None,
    dpi: float = 300.0,
    threshold: float = 0.1,
    opacity: bool = False,
) -> dict[str, Any]:
    """The style of a figure, whole."""
    return {
        "kind": kind,
        "palette": palette,
        "dark": bool(dark),
        "legend": bool(legend),
        "caption": caption,
        "width": None if width is None else number("width", width),
        "dpi": number("dpi", dpi),
        "threshold": number("threshold", threshold),
        "opacity": bool(opacity),
    }


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
        return [str(token) for token in side]
    found = side.split()
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
    return words_of_pieces([str(piece) for piece in x], [str(piece) for piece in y], weights)


def show(
    source: Union[str, Iterable[str]],
    target: Union[str, Iterable[str]],
    alpha: Any,
    *,
    title: str = "Attention",
    **style: Unpack[Style],
) -> Figure:
    """Draw anybody's attention.

    :param source: source words; of a text, what stands between its spaces (``</s>`` is added where it is missing).
    :param target: target words likewise.
    :param alpha: weights from 0 to 1, of numpy, torch or lists: a row for each target word, a column for each source
        word. ``interlinear.open(figure)`` shows it in the window.
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
    return Figure(draw(x, y, weights, title, asked(**style)))
