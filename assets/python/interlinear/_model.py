"""Models: loading, translating, scoring."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Callable, Optional, Union, overload

from ._common import Hear, bar, entries, number, same_length, texts, whole
from ._native import NativeModel, installed, model_path
from ._translation import Translation

Name = Union[str, "os.PathLike[str]"]
#: Translates or scores some behind so many others.
Work = Callable[[list[Any], int, Optional[Hear]], list[Translation]]

#: Sentences of an iterator that are in memory at once, in batches.
WINDOW = 16


def models() -> list[Path]:
    """The folders of the installed models, in the order of their papers; empty where there are none."""
    return installed()


def load(
    model: Name,
    *more: Name,
    threads: Optional[int] = None,
    device: str = "auto",
) -> Model:
    """Load a model by its path, or by the name of an installed one.

    A path may lead to a folder of Interlinear's own or to a model of another toolkit (Marian, Nematus, Hugging Face's
    MarianMT, CTranslate2, Argos and others). ``"MODEL@fra"`` chooses a target language, ``"MODEL@6.1"`` the head that
    is the alignment.

    :param more: further models; all translate together as an ensemble, their probabilities averaged.
    :param threads: CPU threads, by default one a physical core.
    :param device: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"metal"``.
    :raises FileNotFoundError: no such model; the sentence says where it was looked for.
    :raises OSError, ValueError: what is there cannot be read; the sentence names the file, key or tensor.
    """
    if threads is not None:
        threads = whole("threads", threads, 1024)
    folders = [model_path(_name(name)) for name in [model, *more]]
    return Model(NativeModel(folders, threads, device), folders)


def _name(model: Name) -> str:
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"a model is loaded by its name or path, not from {type(model).__name__}")
    name = os.path.expanduser(os.fspath(model))
    if not name.strip():
        raise ValueError("the name of the model is empty; give a path, or a name of interlinear.models()")
    return name


class Model:
    """A model in memory, made by :func:`load`. Calls from several threads wait for each other."""

    def __init__(self, native: NativeModel, folders: list[Path]) -> None:
        self._native = native
        self._facts = dict(native.facts)
        self._folders = folders

    @property
    def name(self) -> str:
        """Its name; of an ensemble those of its members with `` + `` between."""
        return self._facts["name"]

    @property
    def architecture(self) -> str:
        """``rnnsearch``, ``rnnencdec``, ``luong``, ``transformer``, ``nematus``."""
        return self._facts["architecture"]

    @property
    def folder(self) -> Path:
        """Where it lies; of several models, where the first does."""
        return Path(self._facts["folder"])

    @property
    def folders(self) -> list[Path]:
        """Where each of several models lies, with what was chosen of it (``MODEL@6.1``), as :func:`load` takes them."""
        return list(self._folders)

    @property
    def source_language(self) -> str:
        """The BCP 47 tag of what it translates from."""
        return self._facts["source_language"]

    @property
    def target_language(self) -> str:
        """The BCP 47 tag of what it translates into."""
        return self._facts["target_language"]

    @property
    def aligns(self) -> bool:
        """Whether it has an alignment; without one, alpha is None."""
        return self._native.aligns

    @property
    def parameters(self) -> int:
        """Numbers in its weights."""
        return self._native.parameters

    def __repr__(self) -> str:
        pair = f"{self.source_language} to {self.target_language}"
        return f"<Model {self.name}: {self.architecture}, {pair}, {self.parameters:,} parameters>"

    # fmt: off
    @overload
    def translate(  # type: ignore[overload-overlap]
        self, text: str,
        *, beam: int = ..., max_length: Optional[int] = ..., length_normalization: float = ..., coverage: float = ...,
        forbid_unk: bool = ..., allow_unk: bool = ..., replace_unk: bool = ..., pretokenized: bool = ...,
        batch: int = ..., beam_alpha: bool = ..., errors: str = ..., progress: Optional[bool] = ...,
    ) -> Translation: ...
    @overload
    def translate(  # type: ignore[overload-overlap]
        self, text: Iterator[str],
        *, beam: int = ..., max_length: Optional[int] = ..., length_normalization: float = ..., coverage: float = ...,
        forbid_unk: bool = ..., allow_unk: bool = ..., replace_unk: bool = ..., pretokenized: bool = ...,
        batch: int = ..., beam_alpha: bool = ..., errors: str = ..., progress: Optional[bool] = ...,
    ) -> Iterator[Translation]: ...
    @overload
    def translate(
        self, text: Iterable[str],
        *, beam: int = ..., max_length: Optional[int] = ..., length_normalization: float = ..., coverage: float = ...,
        forbid_unk: bool = ..., allow_unk: bool = ..., replace_unk: bool = ..., pretokenized: bool = ...,
        batch: int = ..., beam_alpha: bool = ..., errors: str = ..., progress: Optional[bool] = ...,
    ) -> list[Translation]: ...
    # fmt: on
    def translate(
        self,
        text: Union[str, Iterable[str]],
        *,
        beam: int = 5,
        max_length: Optional[int] = None,
        length_normalization: float = 0.0,
        coverage: float = 0.0,
        forbid_unk: bool = False,
        allow_unk: bool = False,
        replace_unk: bool = False,
        pretokenized: bool = False,
        batch: int = 32,
        beam_alpha: bool = False,
        errors: str = "raise",
        progress: Optional[bool] = None,
    ) -> Union[Translation, list[Translation], Iterator[Translation]]:
        """Translate a sentence, a list of sentences, or whatever an iterator yields.

        Of a string the translation comes back, of a list a list, of an iterator an iterator that takes some hundred
        sentences at a time. Python goes on meanwhile in other threads, and Ctrl-C stops it. A line break in a
        sentence counts as a space, and a warning says so for a string: ``text.splitlines()`` translates line by line.

        :param beam: hypotheses kept at every step; 1 is greedy search.
        :param max_length: most target tokens, ``</s>`` included; by default twice the source and ten more.
        :param length_normalization: rank by log p / length ** A; 0 ranks by log p.
        :param coverage: weight of the coverage penalty in the ranking (Wu et al. 2016, equation 14).
        :param forbid_unk: never say ``[UNK]``.
        :param allow_unk: let models of Marian write ``[UNK]``, which they do not by default, as in Marian.
        :param replace_unk: show in the text the source word of greatest alpha for ``[UNK]``.
        :param pretokenized: words are split by spaces already, and stay so.
        :param batch: sentences decoded together.
        :param beam_alpha: keep alpha of every hypothesis in ``beam``, not only of the best.
        :param errors: ``"raise"``, or ``"empty"``: a sentence that the model cannot read has an empty translation with
            its ``error``.
        :param progress: a bar of tqdm: always, never, or (None) for long lists at a terminal or in a notebook.
        :raises ValueError: a sentence that the model cannot read, by its number; an option that makes no sense.
        """
        asked = {
            "beam": whole("beam", beam, 1000),
            "max_length": None if max_length is None else whole("max_length", max_length, 100_000),
            "length_normalization": number("length_normalization", length_normalization),
            "coverage": number("coverage", coverage),
            "forbid_unk": bool(forbid_unk),
            "allow_unk": bool(allow_unk),
            "batch": whole("batch", batch, 4096),
            "pretokenized": bool(pretokenized),
            "replace_unk": bool(replace_unk),
            "beam_alpha": bool(beam_alpha),
            "keeps_going": _keeps_going(errors),
        }

        def work(some: list[str], before: int, hear: Optional[Hear]) -> list[Translation]:
            sentences = texts("sentence", some, before)
            return [Translation(one) for one in self._native.translate(sentences, {**asked, "before": before}, hear)]

        if isinstance(text, Iterator):
            return _streamed(text, batch * WINDOW, work, "translating", progress)
        if isinstance(text, str) and len(text.strip().splitlines()) > 1:
            warnings.warn("the text has several lines and is one sentence; give text.splitlines()", stacklevel=2)
        sentences = [text] if isinstance(text, str) else entries("text", text, "a str, a list or an iterator")
        with bar("translating", len(sentences), progress) as hear:
            found = work(sentences, 0, hear)
        return found[0] if isinstance(text, str) else found

    # fmt: off
    @overload
    def score(  # type: ignore[overload-overlap]
        self, sources: str, targets: str,
        *, pretokenized: bool = ..., batch: int = ..., reading: Optional[str] = ..., errors: str = ...,
        progress: Optional[bool] = ...,
    ) -> Translation: ...
    @overload
    def score(  # type: ignore[overload-overlap]
        self, sources: Iterator[str], targets: Iterable[str],
        *, pretokenized: bool = ..., batch: int = ..., reading: Optional[str] = ..., errors: str = ...,
        progress: Optional[bool] = ...,
    ) -> Iterator[Translation]: ...
    @overload
    def score(
        self, sources: Iterable[str], targets: Iterable[str],
        *, pretokenized: bool = ..., batch: int = ..., reading: Optional[str] = ..., errors: str = ...,
        progress: Optional[bool] = ...,
    ) -> list[Translation]: ...
    # fmt: on
    def score(
        self,
        sources: Union[str, Iterable[str]],
        targets: Union[str, Iterable[str]],
        *,
        pretokenized: bool = False,
        batch: int = 32,
        reading: Optional[str] = None,
        errors: str = "raise",
        progress: Optional[bool] = None,
    ) -> Union[Translation, list[Translation], Iterator[Translation]]:
        """log p(y | x) and the alignment of given translations, as `interlinear score` has them.

        Takes two strings, two lists, or two iterators, and gives back what :meth:`translate` does.

        :param reading: which word a row of alpha belongs to: ``"predicted"``, ``"input"``, ``"head"``; by default as the
            model was trained.
        :raises ValueError: lists of different length; a sentence that the model cannot read.
        """
        asked = {
            "batch": whole("batch", batch, 4096),
            "pretokenized": bool(pretokenized),
            "keeps_going": _keeps_going(errors),
            "reading": reading,
        }

        def work(some: list[tuple[str, str]], before: int, hear: Optional[Hear]) -> list[Translation]:
            x = texts("source", [source for source, _ in some], before)
            y = texts("target", [target for _, target in some], before)
            return [Translation(one) for one in self._native.score(x, y, {**asked, "before": before}, hear)]

        if isinstance(sources, str) or isinstance(targets, str):
            if not (isinstance(sources, str) and isinstance(targets, str)):
                raise TypeError("give two strings, or two lists of them")
            return work([(sources, targets)], 0, None)[0]
        if isinstance(sources, Iterator) or isinstance(targets, Iterator):
            return _streamed(_paired(sources, targets), batch * WINDOW, work, "scoring", progress)
        x, y = entries("sources", sources), entries("targets", targets)
        same_length(x, y)
        with bar("scoring", len(x), progress) as hear:
            return work(list(zip(x, y)), 0, hear)

    # fmt: off
    @overload
    def head(  # type: ignore[overload-overlap]
        self, sources: str, targets: str,
        *, pretokenized: bool = ..., batch: int = ..., errors: str = ..., progress: Optional[bool] = ...,
    ) -> Translation: ...
    @overload
    def head(  # type: ignore[overload-overlap]
        self, sources: Iterator[str], targets: Iterable[str],
        *, pretokenized: bool = ..., batch: int = ..., errors: str = ..., progress: Optional[bool] = ...,
    ) -> Iterator[Translation]: ...
    @overload
    def head(
        self, sources: Iterable[str], targets: Iterable[str],
        *, pretokenized: bool = ..., batch: int = ..., errors: str = ..., progress: Optional[bool] = ...,
    ) -> list[Translation]: ...
    # fmt: on
    def head(
        self,
        sources: Union[str, Iterable[str]],
        targets: Union[str, Iterable[str]],
        *,
        pretokenized: bool = False,
        batch: int = 32,
        errors: str = "raise",
        progress: Optional[bool] = None,
    ) -> Union[Translation, list[Translation], Iterator[Translation]]:
        """The same with the rows of the model's alignment head, which `interlinear train --head` learns. The row of a
        token comes with the step that reads it, so the last, `</s>`, has zeros.

        :raises ValueError: the model has no head.
        """
        return self.score(
            sources, targets, reading="head", pretokenized=pretokenized, batch=batch, errors=errors, progress=progress
        )


def _keeps_going(errors: str) -> bool:
    if errors not in ("raise", "empty"):
        raise ValueError(f'errors is {errors!r}; choose "raise" or "empty"')
    return errors == "empty"


def _paired(sources: Iterable[str], targets: Iterable[str]) -> Iterator[tuple[Any, Any]]:
    nothing = object()
    for at, (source, target) in enumerate(itertools.zip_longest(sources, targets, fillvalue=nothing)):
        if source is nothing or target is nothing:
            raise ValueError(f"one side ends after {at} sentences, and the other goes on")
        yield source, target


def _streamed(
    items: Iterator[Any], window: int, work: Work, doing: str, progress: Optional[bool]
) -> Iterator[Translation]:
    done = said = last = 0
    with bar(doing, None, progress) as hear:

        def heard(sentences: int, words: int) -> None:
            nonlocal last
            last = words
            if hear:
                hear(done + sentences, said + words)

        while some := list(itertools.islice(items, window)):
            last = 0
            yield from work(some, done, heard if hear else None)
            done, said = done + len(some), said + last
