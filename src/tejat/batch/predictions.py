"""The patches of a batch as predictions for SWE-bench."""

import json
import os
from collections.abc import Callable, Iterable
from typing import TextIO

from tejat.batch.directory import BatchDirectory
from tejat.batch.result import TaskResult, TaskStatus
from tejat.core.i18n import _
from tejat.workspace.files.regular_file import regular_file_opener

_TRIED = frozenset({TaskStatus.PASSED, TaskStatus.FAILED})


def write_predictions(
    directory: BatchDirectory,
    results: Iterable[TaskResult],
    out: TextIO,
    *,
    name: str,
    includes_untried: bool = False,
    warn: Callable[[str], None] | None = None,
) -> int:
    """Write one JSON line per task and return how many there are. Raises OSError if `out` cannot be written.

    A line has `instance_id`, the id of the task; `model_name_or_path`, which is `name`; and `model_patch`, the patch or
    "" if nothing was changed. Lines are ASCII, because the harness reads them in the encoding of its locale. Tasks that
    could not be tried are left out unless `includes_untried`: the harness would count them as unsolved.

    JSON has no bytes, so bytes of a patch that are not UTF-8 become U+FFFD, and the patch probably does not apply. This
    and a patch that cannot be read, whose task is left out, are reported through `warn`.
    """
    count = 0
    for result in results:
        if result.status not in _TRIED and not includes_untried:
            continue
        try:
            patch, is_exact = _read_patch(directory, result)
        except OSError as error:
            _warn(warn, _("{id}: could not read the patch: {why}. Left out.", id=result.id, why=error.strerror))
            continue
        if not is_exact:
            _warn(warn, _("{id}: the patch is not UTF-8 and probably does not apply.", id=result.id))
        line = {"instance_id": result.id, "model_name_or_path": name, "model_patch": patch}
        out.write(json.dumps(line) + "\n")
        count += 1
    return count


def _read_patch(directory: BatchDirectory, result: TaskResult) -> tuple[str, bool]:
    """Return the patch as text, and whether that is exactly the patch. Raises OSError."""
    if not result.patch:
        return "", True
    with open(os.path.join(directory.path, result.patch), "rb", opener=regular_file_opener) as file:
        content = file.read()
    text = content.decode("utf-8", "replace")
    return text, text.encode() == content


def _warn(warn: Callable[[str], None] | None, message: str) -> None:
    if warn is not None:
        warn(message)
