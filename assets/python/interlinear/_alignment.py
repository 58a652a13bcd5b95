"""Word alignments: the statistical aligner, and how good links are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Union, get_type_hints

from . import _native
from ._common import a_text, bar, entries, languages as pair_of, same_length, texts, whole

#: Links of a sentence pair: (source, target), both from 0.
Links = list[tuple[int, int]]
Path = Union[str, "os.PathLike[str]"]


class Aligner:
    """The statistical aligner: IBM model 1 and a hidden Markov model in both directions (Och and Ney 2003).

    It learns from pairs of sentences alone. Nothing is random, and upper and lower case count as the same.

    >>> aligner = il.Aligner(sources, targets, languages="en-fr")
    >>> aligner.align(["the red house"], ["la maison rouge"])
    [[(0, 0), (1, 2), (2, 1)]]
    """

    def __init__(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        languages: Optional[Union[str, tuple[str, str]]] = None,
        pretokenized: bool = False,
        threads: Optional[int] = None,
        progress: Optional[bool] = None,
    ) -> None:
        """Learn from sentences and their translations; ten thousand pairs and more give good links.

        :param languages: such as ``"en-fr"``; their rules cut the text into words.
        :param pretokenized: words are split by spaces already.
        :raises ValueError: nothing to learn from.
        """
        x, y = texts("source", sources), texts("target", targets)
        same_length(x, y)
        tags = pair_of(languages) or ("und", "und")
        count = None if threads is None else whole("threads", threads, 1024)
        with bar("learning", _native.Learner.passes(len(x)), progress, "pair") as hear:
            self._native = _native.Learner(x, y, tags, bool(pretokenized), count, hear)

    @classmethod
    def load(cls, path: Path, *, pretokenized: bool = False) -> Aligner:
        """One that was saved here, or by `interlinear align --statistical --save`."""
        return cls._of(_native.Learner.open(os.fspath(path), bool(pretokenized)))

    @classmethod
    def bundled(cls, languages: Union[str, tuple[str, str]], *, pretokenized: bool = False) -> Aligner:
        """The one that comes along for two languages (``"en-fr"``), so that single sentences can be aligned."""
        source, target = pair_of(languages) or ("", "")
        return cls._of(_native.Learner.bundled(source, target, bool(pretokenized)))

    @classmethod
    def _of(cls, native: _native.Learner) -> Aligner:
        made = cls.__new__(cls)
        made._native = native
        return made

    def __repr__(self) -> str:
        source, target = self._native.languages
        return f"<Aligner {source or 'und'} to {target or 'und'}>"

    def save(self, path: Path, pairs: int = 500_000) -> None:
        """Keep what was learned, at most so many pairs of words; half a million take about 2 megabytes."""
        self._native.save(os.fspath(path), whole("pairs", pairs, 2**32 - 1))

    def align(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        symmetrize: str = "posterior",
        progress: Optional[bool] = None,
    ) -> list[Links]:
        """The links of pairs of sentences, between what stands between their spaces.

        :param symmetrize: ``"posterior"`` (links that are likelier than not by the mean of both directions), ``"intersection"``, ``"grow-diag"``, ``"grow-diag-final-and"``, ``"grow-diag-final"``,
            ``"union"``, or one direction alone: ``"forward"``, ``"reverse"``.
        """
        x, y = texts("source", sources), texts("target", targets)
        same_length(x, y)
        with bar("aligning", len(x), progress, "pair") as hear:
            return self._native.align(x, y, symmetrize, hear)


def align(
    sources: Iterable[str],
    targets: Iterable[str],
    *,
    symmetrize: str = "posterior",
    languages: Optional[Union[str, tuple[str, str]]] = None,
    pretokenized: bool = False,
    threads: Optional[int] = None,
    progress: Optional[bool] = None,
) -> list[Links]:
    """Learn the links of sentences and their translations from these alone; see :class:`Aligner`."""
    x, y = texts("source", sources), texts("target", targets)
    if symmetrize not in _native.symmetrizations():
        raise ValueError(f"there is no {symmetrize}; choose {', '.join(_native.symmetrizations())}")
    aligner = Aligner(x, y, languages=languages, pretokenized=pretokenized, threads=threads, progress=progress)
    return aligner.align(x, y, symmetrize=symmetrize, progress=progress)


class Aer(NamedTuple):
    """The alignment error rate with what it is made of (Och and Ney 2003), all sentences pooled.

    As a number it is the error rate: ``float(aer)``. A rate whose denominator is 0 is NaN.
    """

    #: 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
    aer: float
    #: |A ∩ P| / |A|
    precision: float
    #: |A ∩ S| / |S|
    recall: float
    #: |A|
    found: int
    #: |S|
    sure: int
    #: |A ∩ S|
    found_sure: int
    #: |A ∩ P|
    found_possible: int

    def __float__(self) -> float:
        return self.aer


# help() shows types instead of references to their names.
Aer.__annotations__.update(get_type_hints(Aer))


def pharaoh(line: str) -> tuple[Links, Links]:
    """The sure and the possible links of a line such as ``0-0 1?2``.

    :raises ValueError: it is no line of links.
    """
    return _native.pharaoh(a_text("the line of links", line))


def _links(value: Any) -> tuple[Links, Links]:
    """Sure and possible links, of a line, of pairs, or of two lists."""
    if isinstance(value, str):
        return pharaoh(value)
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, (list, set, frozenset)) for part in value):
        return _pairs(value[0]), _pairs(value[1])
    return _pairs(value), []


def _pairs(value: Iterable[Any]) -> Links:
    try:
        found = [(int(source), int(target)) for source, target in value]
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} are no links; give pairs (source, target) or a line such as `0-0 1-2`") from None
    if any(source < 0 or target < 0 for source, target in found):
        raise ValueError("a link counts words from 0, and one here is below")
    return found


def aer(links: Iterable[Any], gold: Iterable[Any]) -> Aer:
    """How far links are from those of people.

    :param links: for each sentence pair a list of (source, target), or a line in Pharaoh's notation (``0-0 1-2``).
    :param gold: the same, with possible links as ``1?2`` of a line or as a pair of lists, (sure, possible).
    :raises ValueError: lists of different length; what is no link.
    """
    found = [_links(one)[0] for one in entries("links", links)]
    wanted = [_links(one) for one in entries("gold", gold)]
    if len(found) != len(wanted):
        raise ValueError(f"there are links of {len(found)} sentence pairs and gold of {len(wanted)}")
    rates, counts = _native.aer(found, wanted)
    error, precision, recall = (float("nan") if rate is None else rate for rate in rates)
    return Aer(error, precision, recall, *counts)
