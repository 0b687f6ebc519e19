"""`batch.json`: that a directory is one of a batch, its format, its runs, and their totals."""

import os
from typing import cast

from tejat.batch.directory import BatchDirectory
from tejat.batch.driver.options import BatchOptions
from tejat.batch.events import BatchEnded
from tejat.core.errors import UsageError
from tejat.core.frozen import fields_of
from tejat.core.i18n import _
from tejat.core.json_text import dump_json, load_json
from tejat.core.messages.types import JsonObject
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.files.regular_file import regular_file_opener

FORMAT = 1
_KIND = "tejat-batch"
_MAX_STARTS = 100
_MAX_BYTES = 1 << 20


def check_directory(directory: BatchDirectory) -> None:
    """Check that the directory is missing, empty, or one of a batch that this version can continue.

    Raises UsageError.
    """
    if read_settings(directory):
        return
    try:
        names = sorted(os.listdir(directory.path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(_("Cannot use {path}: {why}.", path=directory.path, why=error.strerror)) from None
    # A process may have been killed before it wrote the file; the lock and the plan come first.
    ours = {os.path.basename(directory.lock)}
    if os.path.basename(directory.plan) in names:
        paths = (directory.plan, directory.events, directory.tasks)
        ours.update(map(os.path.basename, paths))
    others = [name for name in names if name not in ours and not name.startswith(".tejat-")]
    if others:
        raise UsageError(
            _(
                "{path} holds other files ({name}) and is not the directory of a batch. Give a new one.",
                path=directory.path,
                name=others[0],
            )
        )


def read_settings(directory: BatchDirectory) -> JsonObject:
    """The content of `batch.json`, empty without one. Raises UsageError for any that is not ours or is newer."""
    path = directory.settings
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            found = load_json(file.read(_MAX_BYTES))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise UsageError(_("{path} is not a directory.", path=directory.path)) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            _("Cannot read {path}: {why}. Remove it to continue the batch without it.", path=path, why=why)
        ) from None
    content: JsonObject = cast("JsonObject", found) if isinstance(found, dict) else {}
    version = content.get("format")
    if content.get("kind") != _KIND or not isinstance(version, int):
        raise UsageError(_("{path} is not the file of a batch. Give another directory.", path=path))
    if version > FORMAT:
        raise UsageError(
            _(
                "The batch in {path} was made by a newer version of Tejat ({version}). Update Tejat to continue it.",
                path=directory.path,
                version=content.get("tejat") or "?",
            )
        )
    return content


def record_start(directory: BatchDirectory, options: BatchOptions, *, total: int, now: float) -> None:
    """Write down that a run starts, with its options. Raises OSError, UsageError."""
    before = read_settings(directory)
    starts = before.get("started")
    times = [*(cast("list[float]", starts) if isinstance(starts, list) else []), round(now, 3)]
    _write(directory, {**before, **_head(options), "started": times[-_MAX_STARTS:], "tasks": total})


def record_end(directory: BatchDirectory, ended: BatchEnded, *, now: float) -> None:
    """Write down the totals at the end of a run. Raises OSError, UsageError."""
    totals = {
        "counts": dict(ended.counts),
        "cost": ended.cost,
        "unknown_costs": ended.unknown_costs,
        "tokens": ended.tokens,
        "reason": str(ended.reason),
    }
    _write(directory, {**read_settings(directory), "ended": round(now, 3), "totals": totals})


def _head(options: BatchOptions) -> JsonObject:
    values = {each.name: getattr(options, each.name) for each in fields_of(BatchOptions)}
    for name in ("directory", "version"):
        del values[name]
    values["rates"] = dict(options.rates)
    values["resources"] = None if options.resources is None else dict(options.resources)
    values["redo"] = list(options.redo)
    values["shard"] = None if options.shard is None else list(options.shard)
    return {"kind": _KIND, "format": FORMAT, "tejat": options.version, "options": values}


def _write(directory: BatchDirectory, content: JsonObject) -> None:
    write_private_file(directory.settings, dump_json(content, indent=2) + "\n")
