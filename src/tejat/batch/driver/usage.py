"""What attempts cost that are not the result of their task: retried, interrupted or redone ones."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

from tejat.batch.directory import TaskDirectory
from tejat.core.frozen import Frozen
from tejat.core.json_text import load_json
from tejat.core.messages.types import JsonObject
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_BYTES = 16 << 20


class Spending(Frozen):
    """Dollars and tokens. `cost` is None if unknown."""

    cost: float | None = 0.0
    tokens: int = 0


def attempt_directories(task: TaskDirectory) -> list[TaskDirectory]:
    """The folders of the attempts that were kept, by number."""
    try:
        names = os.listdir(task.attempts)
    except OSError:
        return []
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit())
    return [TaskDirectory(os.path.join(task.attempts, str(number))) for number in numbers]


def next_attempt(task: TaskDirectory) -> int:
    """The number of the next attempt, counted from 1."""
    kept = attempt_directories(task)
    return int(os.path.basename(kept[-1].path)) + 1 if kept else 1


def earlier_spending(task: TaskDirectory) -> Iterator[Spending]:
    """What each of the kept attempts used, as far as it is known."""
    return map(spending_of, attempt_directories(task))


def spending_of(attempt: TaskDirectory) -> Spending:
    """What an attempt used: by its result, else by the result of its run. Raises nothing."""
    result = _read_object(attempt.result)
    if result:
        return Spending(_number(result.get("cost")), int(_number(result.get("tokens")) or 0))
    run = _read_object(attempt.run)
    stats = run.get("stats")
    tokens = cast("JsonObject", stats).get("total_tokens") if isinstance(stats, Mapping) else 0
    return Spending(_number(run.get("cost_usd")) if run else 0.0, int(_number(tokens) or 0))


def run_error(attempt: TaskDirectory) -> str:
    """The type of the error that the run ended with, such as `cost_limit`. Empty if unknown."""
    error = _read_object(attempt.run).get("error")
    kind = cast("JsonObject", error).get("type") if isinstance(error, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _read_object(path: str) -> JsonObject:
    """An object in a file, an empty one if there is none."""
    with suppress(OSError, ValueError):
        with open(path, "rb", opener=regular_file_opener) as file:
            found = load_json(file.read(_MAX_BYTES))
        if isinstance(found, dict):
            return cast("JsonObject", found)
    return {}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
