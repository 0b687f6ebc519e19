"""Task files in TOML: `[[task]]` tables, and a `[defaults]` table for all of them."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

from tejat.batch.plan.fields import did_you_mean, parse_fields, rename_fields, show_value
from tejat.batch.plan.template import uses_variable
from tejat.batch.plan.text_lines import check_encoding, line_source, open_task_file
from tejat.batch.plan.types import InvalidTask, RejectedTask, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.core.errors import UsageError
from tejat.core.i18n import _

_MAX_BYTES = 64 * 2**20
_TABLES = ("defaults", "task")
_HEADER = re.compile(r"""[ \t]*\[\[[ \t]*(?:task|"task"|'task')[ \t]*\]\]""")
_LINE_OF_ERROR = re.compile(r"\(at line (\d+), column (\d+)\)")


def read_toml(path: str) -> Iterator[TaskRecord | RejectedTask]:
    """The records of a file. Raises UsageError if it cannot be read, or if `[defaults]` is wrong."""
    text = _read(path)
    tables = _parse(text, path)
    for name in tables:
        if name not in _TABLES:
            message = _("{path}: unknown key {name}.", path=path, name=show_value(name))
            raise UsageError(message + (did_you_mean(name, _TABLES) or " " + _("Use [defaults] and [[task]].")))
    defaults = _check_defaults(tables.get("defaults", {}), path)
    tasks = tables.get("task", [])
    if not isinstance(tasks, list):
        raise UsageError(_("{path}: task must be written as [[task]] tables.", path=path))
    listed = cast("list[object]", tasks)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if _HEADER.match(line)]
    for at, task in enumerate(listed):
        fallback_id = f"task-{at + 1}"
        # Tables within strings or lists have no header, or one that is none.
        source = (
            line_source(path, lines[at]) if len(lines) == len(listed) else f"{os.path.basename(path)}:{fallback_id}"
        )
        if isinstance(task, dict):
            yield TaskRecord(_merge(defaults, cast("dict[str, object]", task)), fallback_id, source)
        else:
            message = _("A task must be a table, not {value}.", value=show_value(task))
            yield RejectedTask(fallback_id, TaskFailure.INPUT, message, source)


def _read(path: str) -> str:
    with open_task_file(path) as file:
        content = file.read(_MAX_BYTES + 1)
    check_encoding(content, path)
    if len(content) > _MAX_BYTES:
        raise UsageError(_("{path} is larger than {size} MB. Use JSONL.", path=path, size=_MAX_BYTES // 2**20))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(_("{path}:{line}: not UTF-8.", path=path, line=line)) from None


def _parse(text: str, path: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(_("{path}: nested too deeply.", path=path)) from None
    except ValueError as error:
        found = _LINE_OF_ERROR.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        why = _LINE_OF_ERROR.sub("", str(error)).replace("(at end of document)", "").strip()
        raise UsageError(_("{path}:{line}: invalid TOML: {why}.", path=path, line=line, why=why)) from None


def _check_defaults(table: object, path: str) -> Mapping[str, object]:
    if not isinstance(table, dict):
        raise UsageError(_("{path}: defaults must be written as a [defaults] table.", path=path))
    values = cast("dict[str, object]", table)
    try:
        if parse_fields(values).id is not None:
            raise InvalidTask(_("id cannot have a default."))
    except InvalidTask as error:
        raise UsageError(_("{path}: [defaults]: {why}", path=path, why=error)) from None
    return rename_fields(values)


def _merge(defaults: Mapping[str, object], task: Mapping[str, object]) -> Mapping[str, object]:
    """The fields of a task over the defaults. A prompt of any kind replaces that of the defaults."""
    own, below = rename_fields(task), dict(defaults)
    template = below.get("prompt")
    wraps_statement = isinstance(template, str) and uses_variable(template, "problem_statement")
    if own.keys() & {"prompt", "prompt_file"} or ("problem_statement" in own and not wraps_statement):
        below = {name: value for name, value in below.items() if name not in ("prompt", "prompt_file")}
    common, variables = below.get("vars"), own.get("vars")
    if isinstance(common, dict) and isinstance(variables, dict):
        own["vars"] = {**cast("dict[str, object]", common), **cast("dict[str, object]", variables)}
    return {**below, **own}
