"""Translations, found or given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._figure import Figure, Style, asked
from ._native import NativeTranslation

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FigureOptions(Style, total=False):
    """Options of :meth:`Translation.save`, for those who check types."""

    words: bool


class Translation:
    """A translation of a sentence, with its numbers. In a notebook it shows itself as the heatmap of alpha.

    T_y is the number of target tokens, T_x that of source tokens, ``</s>`` counted where the model has it. Arrays are
    made when they are first asked for, are of float32, and belong to you.
    """

    __slots__ = ("_native",)

    def __init__(self, native: NativeTranslation) -> None:
        self._native = native

    @property
    def source(self) -> str:
        """What is translated, as it was given."""
        return self._native.source

    @property
    def source_tokens(self) -> list[str]:
        """x, as the model reads it: the columns of alpha. Unknown words stand as they were typed."""
        return self._native.source_tokens

    @property
    def text(self) -> str:
        """The translation as people read it."""
        return self._native.text

    @property
    def tokens(self) -> list[str]:
        """y, ``</s>`` included: the rows of alpha."""
        return self._native.tokens

    @property
    def log_p(self) -> float:
        """log p(y | x), the natural logarithm; NaN where there is no translation."""
        return self._native.log_p

    @property
    def token_log_p(self) -> NDArray[np.float32]:
        """log p of each token given those before it. [T_y]"""
        return self._native.token_log_p

    @property
    def rank(self) -> float:
        """What it is ranked by: log p, corrected for length and coverage where that was asked for."""
        return self._native.rank

    @property
    def finished(self) -> bool:
        """Whether it ends with ``</s>``."""
        return self._native.finished

    @property
    def alpha(self) -> Optional[NDArray[np.float32]]:
        """alpha_ij, how much the model looked at source token j when it wrote target token i. [T_y, T_x]

        None where the model has no alignment, and of hypotheses behind the best unless ``beam_alpha=True``.
        """
        return self._native.alpha

    @property
    def energies(self) -> Optional[NDArray[np.float32]]:
        """e_ij, alpha before the softmax; NaN where a word has no energy. [T_y, T_x]"""
        return self._native.energies

    @property
    def p_t(self) -> Optional[NDArray[np.float32]]:
        """The aligned position of each token, in source tokens from 0, where attention is local. [T_y]"""
        return self._native.p_t

    @property
    def beam(self) -> list[Translation]:
        """All hypotheses, best first."""
        return [Translation(one) for one in self._native.beam]

    @property
    def reading(self) -> str:
        """Which word a row of alpha belongs to: ``predicted``, or ``input`` or ``head``."""
        return self._native.reading

    @property
    def error(self) -> Optional[str]:
        """Why the model does not read the sentence, with ``errors="empty"``."""
        return self._native.error

    @property
    def words(self) -> tuple[list[str], list[str], Optional[NDArray[np.float32]]]:
        """Source words, target words and alpha between them, where tokens are pieces of words.

        The column of a word is the sum of those of its pieces, its row the mean of theirs.
        """
        return self._native.words

    def links(self, threshold: Optional[float] = None, words: str = "spaces") -> list[tuple[int, int]]:
        """Word alignment as (source, target), both from 0.

        Each target word is linked to its source word of greatest alpha, or to all with alpha of at least ``threshold``.

        :param words: ``"spaces"`` counts what stands between the spaces of the texts, as other programs do; punctuation has no
            vote as long as its word has a letter or digit. ``"tokens"`` counts the words of :attr:`words`, punctuation apart.
        :raises ValueError: the model has no alignment.
        """
        return self._native.links(threshold, words)

    def figure(self, *, words: bool = True, **style: Unpack[Style]) -> Figure:
        """The heatmap of alpha, or the beam where there is no alignment.

        :param words: whole words; otherwise the tokens of the model.
        :param style: as :func:`interlinear.show` takes it; ``kind`` may also be ``"beam"``.
        """
        return Figure(self._native.figure(bool(words), asked(**style)))

    def save(self, path: Union[str, os.PathLike[str]], **options: Unpack[FigureOptions]) -> Path:
        """Draw it into a file: SVG, PDF or PNG, as its name ends. Options are those of :meth:`figure`."""
        return self.figure(**options).save(path)

    def _repr_svg_(self) -> Optional[str]:
        return self.figure().svg() if self._native.beam else None

    def __repr__(self) -> str:
        return f"<Translation {self.text!r}, log p {self.log_p:.4f}>"

    def __str__(self) -> str:
        return self.text
