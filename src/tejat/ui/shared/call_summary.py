"""One-line summaries of tool calls: the file and its lines, the command, the pattern."""

import json
from collections.abc import Callable, Sequence
from typing import cast

from tejat.core.i18n import _, ngettext, translate
from tejat.core.messages.types import FunctionCall, Params
from tejat.core.sanitize import sanitize_summary
from tejat.core.tools.display import FileDiff

MAX_LINE_CHARS = 300
"""Longest summary line."""

_MAX_NAME_CHARS = 80
_SERVER_SEPARATOR = "__"


def tool_label(call: FunctionCall) -> str:
    """Return the sanitized tool name, `server/tool` for a tool of an MCP server."""
    server, separator, tool = call.name.partition(_SERVER_SEPARATOR)
    name = f"{server}/{tool}" if separator and server and tool else call.name
    return summarize_line(name, limit=_MAX_NAME_CHARS) or _("(no name)")


def summarize_arguments(call: FunctionCall, *, folder: str = "") -> str:
    """Summarize the arguments in one sanitized line. Never raises, whatever the model sent."""
    return summarize_line(_SUMMARIES.get(call.name, _arguments)(_CallArguments(call.args, folder)))


def format_diff_stat(change: FileDiff) -> str:
    """Format changed lines as `+3 -1`, model and user together; empty without statistics."""
    stat = change.diff_stat
    if stat is None:
        return ""
    added = stat.model_added_lines + stat.user_added_lines
    return f"+{added} -{stat.model_removed_lines + stat.user_removed_lines}"


def summarize_line(text: str, *, limit: int = MAX_LINE_CHARS) -> str:
    """Return the first line of a text, sanitized and shortened, and the number of further lines."""
    text = translate(text)
    lines = text[: 20 * limit].strip().splitlines()
    if not lines:
        return ""
    first = sanitize_summary(lines[0])
    if len(first) > limit:
        first = f"{first[:limit]} [...]"
    more = text.strip().count("\n") if len(lines) > 1 else 0
    if not more:
        return first
    return first + " " + ngettext("(and {count} more line)", "(and {count} more lines)", more)


class _CallArguments:
    """Arguments as the model sent them, of any type."""

    def __init__(self, args: Params, folder: str) -> None:
        self.args = args
        self._folder = f"{folder.rstrip('/')}/" if folder else ""

    def text(self, *names: str) -> str:
        """Return the first of these arguments that is set."""
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


def _file(arguments: _CallArguments) -> str:
    return arguments.path("file_path", "path", "absolute_path")


def _read_file(arguments: _CallArguments) -> str:
    path = arguments.path("path", "absolute_path", "file_path")
    start, end = arguments.number("start_line"), arguments.number("end_line")
    offset, limit = arguments.number("offset"), arguments.number("limit")
    first = start if start is not None else (offset or 0) + 1
    last = end if end is not None else None if limit is None else first + limit - 1
    if last is not None:
        return _("{path} lines {first}-{last}", path=path, first=first, last=last)
    return _("{path} from line {first}", path=path, first=first) if first > 1 else path


def _command(arguments: _CallArguments) -> str:
    lines = arguments.text("command").strip().splitlines() or [""]
    where = arguments.path("directory", "dir_path")
    shown = lines[0]
    if len(lines) > 1:
        shown += " " + ngettext("(and {count} more line)", "(and {count} more lines)", len(lines) - 1)
    if where:
        shown += " " + _("[in {directory}]", directory=where)
    return shown + " " + _("[in the background]") if arguments.args.get("is_background") is True else shown


def _search(arguments: _CallArguments) -> str:
    pattern, where = arguments.text("pattern"), arguments.path("path", "dir_path")
    only = arguments.text("include", "include_pattern")
    within = " ".join(filter(None, (where, only)))
    return _("{pattern} in {place}", pattern=pattern, place=within) if within else pattern


def _directory(arguments: _CallArguments) -> str:
    return arguments.path("path", "dir_path")


def _many_files(arguments: _CallArguments) -> str:
    given = arguments.args.get("paths") or arguments.args.get("include")
    if not isinstance(given, list | tuple):
        return arguments.text("paths", "include")
    return ", ".join(map(str, cast("Sequence[object]", given)))


def _arguments(arguments: _CallArguments) -> str:
    return _as_json(dict(arguments.args)) if arguments.args else ""


def _as_json(given: object) -> str:
    try:
        return json.dumps(given, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(given)


_SUMMARIES: dict[str, Callable[[_CallArguments], str]] = {
    "read_file": _read_file,
    "write_file": _file,
    "replace": _file,
    "run_shell_command": _command,
    "glob": _search,
    "search_file_content": _search,
    "list_directory": _directory,
    "read_many_files": _many_files,
    "web_fetch": lambda arguments: arguments.text("url", "prompt"),
    "google_web_search": lambda arguments: arguments.text("query"),
    "save_memory": lambda arguments: arguments.text("fact"),
    "read_background_output": lambda arguments: arguments.text("pid"),
    "stop_background_process": lambda arguments: arguments.text("pid"),
}
