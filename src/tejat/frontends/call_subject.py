"""What a call is about, in one line: the file and its lines, the command, the pattern."""

import json
from collections.abc import Callable, Sequence
from typing import cast

from tejat.core.display import FileDiff
from tejat.core.types import FunctionCall, Params
from tejat.core.visible import visible
from tejat.core.words import say, say_count, translated

LONGEST = 300
"""Characters of one line."""

_LONGEST_NAME = 80
_BETWEEN = "__"


def name_of(call: FunctionCall) -> str:
    """The tool, safe to show; one of a server as `server/tool`."""
    server, between, tool = call.name.partition(_BETWEEN)
    name = f"{server}/{tool}" if between and server and tool else call.name
    return on_one_line(name, most=_LONGEST_NAME) or say("(no name)")


def subject_of(call: FunctionCall, *, folder: str = "") -> str:
    """The rest of the line after the name, safe to show. Whatever a model sent as arguments, this raises nothing."""
    return on_one_line(_BY_TOOL.get(call.name, _arguments)(_Told(call.args, folder)))


def lines_changed(change: FileDiff) -> str:
    """As `+3 -1`, by model and person together; empty where nobody has counted."""
    stat = change.diff_stat
    if stat is None:
        return ""
    added = stat.model_added_lines + stat.user_added_lines
    return f"+{added} -{stat.model_removed_lines + stat.user_removed_lines}"


def on_one_line(text: str, *, most: int = LONGEST) -> str:
    """Safe, without line ends, and not too long. Of several lines the first, and how many there are besides."""
    text = translated(text)
    lines = text[: 20 * most].strip().splitlines()
    if not lines:
        return ""
    first = " ".join(visible(lines[0]).split("\t"))
    if len(first) > most:
        first = f"{first[:most]} [...]"
    more = text.strip().count("\n") if len(lines) > 1 else 0
    return f"{first} {say_count('(and {count} more line)', '(and {count} more lines)', more)}" if more else first


class _Told:
    """The arguments as a model sent them, which may be anything."""

    def __init__(self, args: Params, folder: str) -> None:
        self.args = args
        self._folder = f"{folder.rstrip('/')}/" if folder else ""

    def text(self, *names: str) -> str:
        """The first of these that is there."""
        found = next((self.args[name] for name in names if self.args.get(name) is not None), "")
        return found if isinstance(found, str) else _as_json(found)

    def path(self, *names: str) -> str:
        path = self.text(*names)
        if self._folder and path.rstrip("/") == self._folder.rstrip("/"):
            return "."
        return path.removeprefix(self._folder) if self._folder else path

    def number(self, name: str) -> int | None:
        found = self.args.get(name)
        return int(found) if isinstance(found, int | float) and abs(found) < 1e15 else None


def _file(told: _Told) -> str:
    return told.path("file_path", "path", "absolute_path")


def _read_file(told: _Told) -> str:
    path = told.path("path", "absolute_path", "file_path")
    start, end = told.number("start_line"), told.number("end_line")
    offset, limit = told.number("offset"), told.number("limit")
    first = start if start is not None else (offset or 0) + 1
    last = end if end is not None else None if limit is None else first + limit - 1
    if last is not None:
        return say("{path} lines {first}-{last}", path=path, first=first, last=last)
    return say("{path} from line {first}", path=path, first=first) if first > 1 else path


def _command(told: _Told) -> str:
    lines = told.text("command").strip().splitlines() or [""]
    where = told.path("directory", "dir_path")
    shown = lines[0]
    if len(lines) > 1:
        shown += " " + say_count("(and {count} more line)", "(and {count} more lines)", len(lines) - 1)
    if where:
        shown += " " + say("[in {directory}]", directory=where)
    return f"{shown} {say('[in the background]')}" if told.args.get("is_background") is True else shown


def _search(told: _Told) -> str:
    pattern, where = told.text("pattern"), told.path("path", "dir_path")
    only = told.text("include", "include_pattern")
    within = " ".join(filter(None, (where, only)))
    return say("{pattern} in {place}", pattern=pattern, place=within) if within else pattern


def _directory(told: _Told) -> str:
    return told.path("path", "dir_path")


def _many_files(told: _Told) -> str:
    given = told.args.get("paths") or told.args.get("include")
    if not isinstance(given, list | tuple):
        return told.text("paths", "include")
    return ", ".join(map(str, cast("Sequence[object]", given)))


def _arguments(told: _Told) -> str:
    return _as_json(dict(told.args)) if told.args else ""


def _as_json(given: object) -> str:
    try:
        return json.dumps(given, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(given)


_BY_TOOL: dict[str, Callable[[_Told], str]] = {
    "read_file": _read_file,
    "write_file": _file,
    "replace": _file,
    "run_shell_command": _command,
    "glob": _search,
    "search_file_content": _search,
    "list_directory": _directory,
    "read_many_files": _many_files,
    "web_fetch": lambda told: told.text("url", "prompt"),
    "google_web_search": lambda told: told.text("query"),
    "save_memory": lambda told: told.text("fact"),
    "read_background_output": lambda told: told.text("pid"),
    "stop_background_process": lambda told: told.text("pid"),
}
