"""Access of the commands to a batch that was run, and the pages they write."""

import os

from tejat.batch.directory import BatchDirectory
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_text


def existing_batch(path: str) -> BatchDirectory:
    """The directory of a batch. Raises UsageError if there is none."""
    directory = BatchDirectory(path)
    if not os.path.isfile(directory.plan):
        raise UsageError(_("No batch in {path}. Give the directory that `tejat batch run` got with --out.", path=path))
    return directory


def write_page(path: str, markup: str) -> None:
    """Write an HTML file, replacing an older one, and say where it is. Raises UsageError."""
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as target:
            target.write(markup)
    except OSError as error:
        raise UsageError(_("Could not write {path}: {reason}.", path=path, reason=error.strerror or error)) from None
    print(_("Report written to {path}.", path=sanitize_text(path)))
