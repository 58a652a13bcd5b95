"""What the other files share: arguments that are checked, and bars of progress."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Callable, Optional, Union

#: Called with the sentences and the words that are done.
Hear = Callable[[int, int], None]

#: Shorter lists are done before a bar would be seen.
LEAST_FOR_A_BAR = 64


def whole(name: str, value: Any, most: int, least: int = 1) -> int:
    """A whole number within its bounds, or ValueError."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value.__index__() <= most:
        raise ValueError(f"{name} is {value!r}; give a whole number from {least} to {most}")
    return int(value)


def number(name: str, value: Any, least: float = 0.0) -> float:
    """A finite number from ``least`` on, or ValueError."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not least <= found < float("inf"):
        raise ValueError(f"{name} is {value!r}; give a number from {least:g} on")
    return found


def entries(name: str, values: Iterable[Any], wanted: str = "a list") -> list[Any]:
    """What a list has, or TypeError for a text or a dict, whose letters or keys nobody means."""
    if isinstance(values, (str, bytes, bytearray)):
        raise TypeError(f"give {wanted} for {name}, not one {type(values).__name__}")
    if isinstance(values, Mapping) or not (hasattr(values, "__iter__") or hasattr(values, "__getitem__")):
        raise TypeError(f"give {wanted} for {name}, not {type(values).__name__}")
    return list(values)


def a_text(what: str, value: Any) -> str:
    """A text, or TypeError; ValueError for a text that is not Unicode."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {type(value).__name__}, not str")
    try:
        value.encode()
    except UnicodeEncodeError as why:
        raise ValueError(
            f"{what} has a lone surrogate ({value[why.start]!a}) at character {why.start + 1}; decode the text again "
            "from its bytes, or remove this character"
        ) from None
    return value


def texts(name: str, values: Iterable[Any], before: int = 0) -> list[str]:
    """A list of texts, behind so many others, or TypeError with the place of what is none."""
    found = entries(f"{name}s", values)
    return [a_text(f"{name} {before + at + 1}", value) for at, value in enumerate(found)]


def languages(value: Optional[Union[str, tuple[str, str]]]) -> Optional[tuple[str, str]]:
    """``"en-fr"`` or ``("en", "fr")`` as a pair of tags."""
    if value is None:
        return None
    pair = tuple(value.split("-", 1)) if isinstance(value, str) else tuple(value)
    if len(pair) != 2 or not all(isinstance(tag, str) and tag for tag in pair):
        raise ValueError(f'languages is {value!r}; give the source and the target, such as "en-fr"')
    return (pair[0], pair[1])


def same_length(sources: list[str], targets: list[str]) -> None:
    """Refuses two lists of which one goes on alone."""
    if len(sources) != len(targets):
        raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets; give a target for each source")


@contextmanager
def bar(doing: str, total: Optional[int], wanted: Optional[bool], unit: str = "sentence") -> Iterator[Optional[Hear]]:
    """What hears progress: a bar of tqdm where that is installed, or nothing."""
    if wanted is False or (wanted is None and (total is None or total < LEAST_FOR_A_BAR)):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise ImportError("progress=True wants tqdm; pip install tqdm") from None
        yield None
        return
    # Without a word it stays silent where nobody looks, as in a script whose output goes to a file.
    is_seen = wanted or sys.stderr.isatty() or "ipykernel" in sys.modules
    with tqdm(total=total, desc=doing, unit=f" {unit}s", disable=not is_seen, leave=False) as shown:

        def hear(sentences: int, words: int) -> None:
            if words:
                shown.set_postfix_str(f"{words} words", refresh=False)
            shown.update(sentences - shown.n)

        yield hear
