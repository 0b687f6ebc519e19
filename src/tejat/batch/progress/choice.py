"""The progress display that fits a stream."""

import os
import sys
from typing import TextIO

from tejat.batch.progress.lines import ProgressLines
from tejat.batch.progress.live_table import LiveTable


def progress_for(stream: TextIO | None = None) -> LiveTable | ProgressLines:
    """A live table for a terminal that can move its cursor, else lines."""
    target: TextIO = sys.stderr if stream is None else stream
    if target.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb"):
        return LiveTable(target)
    return ProgressLines(target)
