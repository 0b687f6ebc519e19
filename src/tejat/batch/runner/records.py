"""Records of a run, read from its events: the result and the model."""

import errno
import os
from contextlib import suppress
from typing import cast

from tejat.batch.directory import TaskDirectory
from tejat.batch.runner.outcome import RunReport
from tejat.core.exit_codes import EXIT_FAILED, EXIT_TOOL
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue
from tejat.workspace.files.private_files import open_private_file

_CHUNK = 1 << 16
_MAX_LINE = 64 << 20
_PROBE_BYTES = 1 << 16
_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)


def write_plain_file(path: str, text: str) -> None:
    """Write a private file that need not survive a power failure. Raises OSError."""
    descriptor = open_private_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def record_run(task: TaskDirectory, exit_code: int, tokens: int) -> RunReport:
    """Write `run.json`, if the run has a result, and return how it ended. `tokens` counts if there is none.

    Raises OSError.
    """
    first, last = _first_and_last_line(task.events)
    start, result = _parse(first), _parse(last)
    model = _text(start, "model") if start.get("type") == "init" else ""
    if result.get("type") != "result":
        is_full = exit_code in (EXIT_FAILED, EXIT_TOOL) and is_disk_full(task.path)
        return RunReport(exit_code, tokens=tokens, cost=None if tokens else 0.0, model=model, is_disk_full=is_full)
    write_plain_file(task.run, dump_json(result, indent=2) + "\n")
    error, stats = _object(result, "error"), _object(result, "stats")
    denials = result.get("permission_denials")
    reasons = [_text(_as_object(each), "reason") for each in denials] if isinstance(denials, list) else []
    cost = result.get("cost_usd")
    has_failed_to_write = exit_code in (EXIT_FAILED, EXIT_TOOL) and is_disk_full(task.path)
    return RunReport(
        exit_code,
        error_type=_text(error, "type"),
        message=_text(error, "message"),
        denials=tuple(reasons),
        tool_calls=_number(stats, "tool_calls"),
        tokens=_number(stats, "total_tokens") or tokens,
        cost=float(cost) if isinstance(cost, int | float) else None if stats else 0.0,
        model=model,
        is_disk_full=has_failed_to_write,
    )


def is_disk_full(directory: str) -> bool:
    """Whether nothing more can be written in a directory."""
    path = os.path.join(directory, f".probe-{os.urandom(4).hex()}")
    try:
        descriptor = open_private_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            return os.write(descriptor, bytes(_PROBE_BYTES)) < _PROBE_BYTES
        finally:
            os.close(descriptor)
    except OSError as error:
        return is_full_error(error)
    finally:
        with suppress(OSError):
            os.unlink(path)


def is_full_error(error: OSError) -> bool:
    return error.errno in _FULL_ERRORS


def _first_and_last_line(path: str) -> tuple[bytes, bytes]:
    """Raises OSError."""
    with open(path, "rb") as file:
        first = file.readline(_CHUNK)
        end = file.seek(0, os.SEEK_END)
        last = b""
        start = end
        while start > 0 and b"\n" not in last[:-1] and len(last) < _MAX_LINE:
            size = min(start, _CHUNK)
            start -= size
            file.seek(start)
            last = file.read(size) + last
    # A line that was cut by a kill is no result.
    return first, last[:-1].rpartition(b"\n")[2] if last.endswith(b"\n") else b""


def _parse(line: bytes) -> dict[str, JsonValue]:
    try:
        return _as_object(load_json(line))
    except InvalidJson:
        return {}


def _as_object(found: object) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", found) if isinstance(found, dict) else {}


def _object(found: dict[str, JsonValue], name: str) -> dict[str, JsonValue]:
    return _as_object(found.get(name))


def _text(found: dict[str, JsonValue], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _number(found: dict[str, JsonValue], name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0
