"""See how neural machine translation aligns words.

>>> import interlinear as il
>>> model = il.load("rnnsearch-en-fr")
>>> t = model.translate("The red house is small.")
>>> t.text, t.log_p, t.alpha.shape        # alpha has a row for each target token
>>> t.save("house.pdf")

Models are found where the program finds them: by the path of a folder or file, or by the name of a folder in
``INTERLINEAR_MODELS``, in the platform's folder for data, or in ``models`` here. Everything runs on this machine.
"""

from __future__ import annotations

from ._alignment import Aer, Aligner, aer, align, pharaoh
from ._figure import Figure, show, words
from ._model import Model, load, models
from ._native import VERSION as __version__
from ._translation import Translation
from ._window import explore
from ._workspace import Table, Workspace

__all__ = [
    "Aer",
    "Aligner",
    "Figure",
    "Model",
    "Table",
    "Translation",
    "Workspace",
    "__version__",
    "aer",
    "align",
    "explore",
    "load",
    "models",
    "pharaoh",
    "show",
    "words",
]

#: The former name of :func:`explore`; `from interlinear import *` leaves the function of Python alone.
open = explore

# What is public is shown by its public name.
for _name in __all__:
    if not _name.startswith("__"):
        globals()[_name].__module__ = __name__
