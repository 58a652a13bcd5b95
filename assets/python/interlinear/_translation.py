"""Translations, found or given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._common import whole
from ._figure import Figure, asked
from ._native import NativeFigure, NativeTranslation, draw

#: What links can count.
LINKED = ("spaces", "tokens")


#: What is kept of a hypothesis without its model.
FIELDS = (
    "source",
    "source_tokens",
    "text",
    "tokens",
    "log_p",
    "token_log_p",
    "rank",
    "finished",
    "alpha",
    "energies",
    "p_t",
    "reading",
    "error",
    "words",
    "word_log_p",
    "model",
)


class Kept:
    """A translation without its model: what a copy or a pickle has. It answers as NativeTranslation does."""

    def __init__(self, hypotheses: list[dict[str, Any]], place: int = 0) -> None:
        self._hypotheses, self._place = hypotheses, place

    @classmethod
    def of(cls, native: NativeTranslation) -> Kept:
        """All hypotheses, since :attr:`beam` shows them."""
        if isinstance(native, Kept):
            return native
        hypotheses = []
        for one in native.beam or [native]:
            kept = {name: getattr(one, name) for name in FIELDS}
            if one.alpha is not None:
                kept["links"] = {words: (one.links(None, words), one.weighted_links(words)) for words in LINKED}
            hypotheses.append(kept)
        return cls(hypotheses, native.place)

    def __getattr__(self, name: str) -> Any:
        # Neither a copy nor a pickle has its hypotheses while it is made.
        if name not in FIELDS:
            raise AttributeError(name)
        return self._hypotheses[self._place][name]

    @property
    def beam(self) -> list[Kept]:
        has_any = bool(self.tokens)
        return [Kept(self._hypotheses, place) for place in range(len(self._hypotheses))] if has_any else []

    @property
    def place(self) -> int:
        return self._place

    def links(self, threshold: Optional[float] = None, words: str = "spaces") -> list[tuple[int, int]]:
        if words not in LINKED:
            raise ValueError(f"links count words of spaces or tokens, not {words}")
        if not self.beam:
            return []
        if self.alpha is None:
            raise ValueError(f"{self.model} has no alignment here, hence no links; see alpha")
        links, weighted = self._hypotheses[self._place]["links"][words]
        if threshold is None:
            return list(links)
        return list(dict.fromkeys((source, target) for source, target, alpha in weighted if alpha >= threshold))

    def figure(self, are_words: bool, word: int, pruned: bool, style: dict[str, Any]) -> NativeFigure:
        if style["kind"] in ("tree", "bars"):
            raise ValueError("this translation is a copy without its model; translate again to draw the search")
        x, y, alpha = self.words if are_words else (self.source_tokens, self.tokens, self.alpha)
        rows = [(one.log_p, list(zip(one.words[1], one.word_log_p))) for one in self.beam]
        return draw(x, y, alpha, self.model, style, rows)


class Translation:
    """A translation of a sentence, with its numbers. In a notebook it shows itself as the heatmap of alpha.

    T_y is the number of target tokens, T_x that of source tokens, ``</s>`` counted where the model has it. Arrays are
    made when they are first asked for, are of float32, and belong to you. A translation can be copied and pickled; the
    copy has all texts and numbers, but not the model.
    """

    __slots__ = ("_native",)

    def __init__(self, native: Any) -> None:
        self._native: NativeTranslation = native

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
        """The translation as people read it; empty for a sentence without words, whose log p is NaN."""
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
    def attention(self) -> Optional[NDArray[np.float32]]:
        """The same as :attr:`alpha`."""
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

    def to_dict(self) -> dict[str, Any]:
        """The main numbers as lists, strings and floats, ready for ``json.dumps``; None stands for NaN.

        ``source``, ``text``, ``source_tokens``, ``tokens``, ``log_p``, ``token_log_p``, ``alpha`` (a row for each
        target token, or None), ``source_words``, ``target_words``, ``finished``, ``reading`` and ``error``.
        """
        source_words, target_words, _ = self.words
        return {
            "source": self.source,
            "text": self.text,
            "source_tokens": self.source_tokens,
            "tokens": self.tokens,
            "log_p": None if np.isnan(self.log_p) else self.log_p,
            "token_log_p": self.token_log_p.tolist(),
            "alpha": None if self.alpha is None else self.alpha.tolist(),
            "source_words": source_words,
            "target_words": target_words,
            "finished": self.finished,
            "reading": self.reading,
            "error": self.error,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return Translation, (Kept.of(self._native),)

    def figure(
        self,
        *,
        words: bool = True,
        word: int = 0,
        pruned: bool = False,
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
        """The heatmap of alpha, or the beam where there is no alignment.

        :param words: whole words; otherwise the tokens of the model.
        :param kind: ``"heatmap"``, ``"links"``, ``"beam"``, ``"tree"`` (the whole search) or ``"bars"`` (one target
            word: the next-word candidates, and alpha over the source words). A tree or bars need the model, which
            translates again; a copy or an unpickled translation has neither.
        :param word: the target word of the bars, from 0.
        :param pruned: draw also the branches of the tree that left the beam.

        Other options are those of :func:`interlinear.show`.
        """
        count = max(1, len(self._native.words[1]) if words else len(self.tokens))
        style = asked(locals())
        return Figure(self._native.figure(bool(words), whole("word", word, count - 1, 0), bool(pruned), style))

    def save(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        words: bool = True,
        word: int = 0,
        pruned: bool = False,
        kind: Optional[str] = None,
        palette: Optional[str] = None,
        dark: bool = False,
        legend: bool = False,
        caption: Optional[str] = None,
        width: Optional[float] = None,
        dpi: float = 300.0,
        threshold: float = 0.1,
        opacity: bool = False,
    ) -> Path:
        """Draw it into a file: SVG, PDF or PNG, as its name ends. Options are those of :meth:`figure`."""
        options = {name: value for name, value in locals().items() if name not in ("self", "path")}
        return self.figure(**options).save(path)

    def _repr_svg_(self) -> Optional[str]:
        return self.figure().svg() if self._native.beam else None

    def __repr__(self) -> str:
        return f"<Translation {self.text!r}, log p {self.log_p:.4f}>"

    def __str__(self) -> str:
        return self.text
