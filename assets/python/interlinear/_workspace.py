"""Workspaces: sentences and what systems say of them, in one file that the window opens too."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._alignment import Links, _links
from ._common import bar, entries, languages as pair_of, texts, whole
from ._figure import matrix, tokens
from ._model import Model
from ._native import NativeWorkspace
from ._translation import Kept, Translation

if TYPE_CHECKING:
    import pandas

#: Sentences of a report that have pictures, unless others are asked for.
PICTURES = 100
#: Rows of a table that a notebook shows.
SHOWN = 20

Languages = Optional[Union[str, tuple[str, str]]]


class Table:
    """Columns by name: texts, and numbers (NaN where there is none)."""

    def __init__(self, columns: Iterable[tuple[str, Union[list[Optional[str]], NDArray[np.float32]]]]) -> None:
        self._columns: dict[str, Union[list[Optional[str]], NDArray[Any]]] = {}
        for name, values in columns:
            # A system may be called as a column is.
            key, n = name, 2
            while key in self._columns:
                key, n = f"{name} ({n})", n + 1
            self._columns[key] = np.asarray(values, dtype=np.int64) if key == "number" else values

    @property
    def columns(self) -> list[str]:
        """The names: ``number``, ``source``, ``reference``, each system; then numbers such as ``words`` and ``bleu.1``
        (of the first system)."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(self._columns["number"])

    def __getitem__(self, name: str) -> Union[list[Optional[str]], NDArray[Any]]:
        return self._columns[name]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        columns = self.to_dict()
        return (dict(zip(columns, row)) for row in zip(*columns.values()))

    def to_dict(self) -> dict[str, list[Any]]:
        """Lists by the names of the columns; None where there is no text or number."""

        def plain(values: Any) -> list[Any]:
            if isinstance(values, list):
                return list(values)
            return [None if value != value else value for value in values.tolist()]

        return {name: plain(values) for name, values in self._columns.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame.

        :raises ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas wants pandas; pip install pandas") from None
        return pandas.DataFrame(dict(self._columns))

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        shown = {name: values for name, values in self.to_dict().items() if any(v is not None for v in values)}

        def cell(value: Any) -> str:
            text = "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
            return f"<td>{html.escape(text)}</td>"

        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        rows = list(zip(*shown.values()))
        body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows[:SHOWN])
        more = f"<p>{len(rows) - SHOWN} more rows</p>" if len(rows) > SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Workspace:
    """A file with sentences, references, what systems say of them, and judgements; the window's page Corpus shows it.

    >>> with il.Workspace("study.ilw") as w:
    ...     w.add_sentences(sources, references)
    ...     w.add_system("RNNsearch", model.translate(sources))
    ...     w.add_system("mine", outputs, attention=weights)
    ...     w.table(sort="bleu.1").to_pandas()
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        """Open a workspace, or make an empty one where there is no file.

        :raises OSError: the file is something else, damaged, or of a newer program.
        """
        self._native = NativeWorkspace(os.fspath(path))

    @property
    def path(self) -> Path:
        """The file."""
        return self._native.path

    @property
    def systems(self) -> list[str]:
        """The names of its systems, in order: the first is number 1 of columns such as ``bleu.1``."""
        return self._native.systems

    @property
    def sources(self) -> list[str]:
        """All source sentences."""
        return self._native.sources()

    def close(self) -> None:
        """Close the file, as leaving a ``with`` block does. Only :attr:`path` is left."""
        self._native.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        try:
            len(self)
        except (RuntimeError, ValueError):
            return f"<Workspace {str(self.path)!r}: closed>"
        return f"<Workspace {str(self.path)!r}: {len(self)} sentences, systems {self.systems}>"

    def add_sentences(
        self,
        sources: Iterable[str],
        references: Optional[Iterable[Union[str, Sequence[str]]]] = None,
        *,
        languages: Languages = None,
        pretokenized: bool = False,
    ) -> None:
        """Put sentences behind those that are there.

        The first ones say what a word is in the workspace: a token, as the rules of the languages cut the texts.

        :param references: a translation by people for each, or several.
        :param languages: such as ``"en-fr"``; without them they are guessed from the texts.
        :param pretokenized: the texts are cut into words, which stand between spaces.
        """
        x = texts("source", sources)
        all_of_them: list[list[str]] = [[] for _ in x]
        if references is not None:
            of_each = entries("references", references)
            all_of_them = [[one] if isinstance(one, str) else texts("reference", one) for one in of_each]
            if len(all_of_them) != len(x):
                raise ValueError(f"there are {len(x)} sources and references of {len(all_of_them)}")
        self._native.add_sentences(x, all_of_them, "Python", (pair_of(languages), pretokenized))

    def add_system(
        self,
        name: str,
        outputs: Iterable[Union[str, Translation]],
        *,
        attention: Optional[Iterable[Any]] = None,
        source_tokens: Optional[Iterable[Optional[Sequence[str]]]] = None,
        target_tokens: Optional[Iterable[Optional[Sequence[str]]]] = None,
        links: Optional[Iterable[Any]] = None,
        log_p: Optional[Iterable[Optional[float]]] = None,
        sources: Optional[Iterable[str]] = None,
        references: Optional[Iterable[Union[str, Sequence[str]]]] = None,
        languages: Languages = None,
        progress: Optional[bool] = None,
    ) -> None:
        """Put in what a system says of every sentence, in their order; a system of this name says this from now on.

        :param outputs: translations as text, or those of :meth:`Model.translate`, which bring their alignment along.
        :param attention: weights for each, or None: a row for each target word, a column for each source word.
        :param source_tokens: the words that the columns are; by default what stands between the spaces of the source,
            with ``</s>`` where there is one column more. :func:`interlinear.words` makes words of pieces.
        :param target_tokens: the words that the rows are, likewise.
        :param links: word alignments, as (source, target) or as lines ``0-0 1-2``, in place of attention.
        :param log_p: log p of each output.
        :param sources: what was translated, where the workspace is empty; translations know theirs.
        :param references: translations by people, with them.
        :param languages: such as ``"en-fr"``, for an aligner to compare the attention with.
        :raises ValueError: another number of outputs than sentences; weights that do not fit their words.
        """
        said = entries("outputs", outputs)
        found = [one for one in said if isinstance(one, Translation)]
        if found and len(found) != len(said):
            raise TypeError("outputs are texts or translations, and here they are both")
        if sources is None and found and len(self) == 0:
            sources = [one.source for one in found]
        if sources is not None:
            self._take_sources(texts("source", sources), references, name)
        elif references is not None:
            raise ValueError("references come with sources; give both, or use add_sentences")
        if len(self) == 0:
            raise ValueError("the workspace has no sentences; give sources, or use add_sentences first")
        with bar(f"adding {name}", len(said), progress) as hear:
            if found:
                given = (attention, source_tokens, target_tokens, links, log_p)
                if any(one is not None for one in given):
                    raise ValueError("translations bring their own attention and tokens; give their texts instead")
                if not any(isinstance(one._native, Kept) for one in found):
                    self._native.add_translations(name, [one._native for one in found], hear)
                    return
                # Copies, which have no model.
                source_tokens, target_tokens, attention = zip(*(one.words for one in found))
                log_p = [one.log_p for one in found]
            written = texts("output", [one.text if found else one for one in said])
            lists = {
                "attention": attention,
                "source_tokens": source_tokens,
                "target_tokens": target_tokens,
                "links": links,
                "log_p": log_p,
            }
            rows = {key: _side(key, values, len(written)) for key, values in lists.items()}
            if len(written) != len(self):
                raise ValueError(f"{name} has {len(written)} outputs, and there are {len(self)} sentences")
            asked = [
                _output(at, source, text, *(rows[key][at] for key in lists))
                for at, (source, text) in enumerate(zip(self.sources, written))
            ]
            self._native.add_outputs(name, asked, pair_of(languages), hear)

    def _take_sources(
        self, sources: list[str], references: Optional[Iterable[Union[str, Sequence[str]]]], name: str
    ) -> None:
        if len(self) == 0:
            self.add_sentences(sources, references)
        elif sources != self.sources:
            raise ValueError(f"the sources of {name} are not the sentences of the workspace; use another file")
        elif references is not None:
            raise ValueError("the workspace has its sentences already; references come with them in add_sentences")

    def run(
        self,
        model: Model,
        name: Optional[str] = None,
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
        progress: Optional[bool] = None,
    ) -> None:
        """Translate every sentence with a model and put that in; options are those of :meth:`Model.translate`."""
        options = {key: value for key, value in locals().items() if key not in ("self", "model", "name")}
        translations = model.translate(self.sources, errors="empty", **options)
        self.add_system(name or model.name, translations, progress=progress)

    def remove_system(self, name: str) -> None:
        """Take a system away, with all that it said."""
        self._native.remove_system(name)

    def table(
        self,
        filter: str = "",
        *,
        sort: Optional[str] = None,
        columns: Sequence[str] = (),
        limit: Optional[int] = None,
        languages: Languages = None,
    ) -> Table:
        """Texts and measures of the sentences.

        :param filter: conditions as on page Corpus and in `interlinear analyse --help`, such as ``"bleu.1<20 words=7"``.
        :param sort: a column; ``-`` before it means the greatest first.
        :param columns: only these columns of numbers.
        :param limit: at most so many sentences.
        :param languages: such as ``"en-fr"``, for conditions that need an aligner; by default those of the models.
        :raises ValueError: a condition or a column that is none.
        """
        return Table(self._native.table(_rows(filter, sort, limit, languages), texts("column", columns)))

    def report(
        self,
        path: Union[str, os.PathLike[str]],
        filter: str = "",
        *,
        sort: Optional[str] = None,
        limit: Optional[int] = None,
        pictures: int = PICTURES,
        languages: Languages = None,
    ) -> Path:
        """Write a report, one page of HTML that needs nothing beside it.

        :param pictures: how many sentences have heatmaps, the first ones.
        """
        rows = _rows(filter, sort, limit, languages)
        self._native.report(os.fspath(path), rows, whole("pictures", pictures, 2**31, least=0))
        return Path(path)


def _rows(filter: str, sort: Optional[str], limit: Optional[int], languages: Languages) -> dict[str, Any]:
    most = None if limit is None else whole("limit", limit, 2**62, least=0)
    return {"filter": filter, "sort": sort, "limit": most, "languages": pair_of(languages)}


def _side(name: str, values: Optional[Iterable[Any]], count: int) -> list[Any]:
    if values is None:
        return [None] * count
    found = entries(name, values)
    if len(found) != count:
        raise ValueError(f"{name} has {len(found)} entries, and there are {count} outputs")
    return found


def _output(
    at: int, source: str, text: str, alpha: Any, source_tokens: Any, target_tokens: Any, links: Any, log_p: Any
) -> dict[str, Any]:
    """What a system says of a sentence, checked."""
    try:
        weights = None if alpha is None else matrix(alpha)
        rows, columns = (None, None) if weights is None else weights.shape
        x = _tokens(source_tokens, source, columns, "the source")
        y = _tokens(target_tokens, text, rows, "the output")
        linked: Optional[Links] = None if links is None else _links(links)[0]
        number = None if log_p is None else _log_p(log_p)
    except (TypeError, ValueError) as why:
        kind = TypeError if isinstance(why, TypeError) else ValueError
        raise kind(f"sentence {at + 1}: {why}") from None
    return {"text": text, "source": x, "target": y, "alpha": weights, "links": linked, "log_p": number}


def _log_p(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"log_p is {value!r}; give a number") from None


def _tokens(given: Any, text: str, count: Optional[int], what: str) -> list[str]:
    if given is not None:
        return [str(token) for token in entries(f"the tokens of {what}", given)]
    return text.split() if count is None else tokens(text, count, what)
