"""The program: ``interlinear``, or ``python -m interlinear``."""

from __future__ import annotations

import signal
import sys

from ._native import run_program


def main() -> int:
    # Ctrl-C ends the program at once, as it does without Python around it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_program(["interlinear", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
