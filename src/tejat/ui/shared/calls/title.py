"""Titles of tool calls: a verb and its object, such as `Read price.py`."""

from collections.abc import Callable

from tejat.core.frozen import Frozen
from tejat.core.i18n import LazyString, _, lazy, ngettext, translate
from tejat.core.messages.tool_names import ASK_USER, WRITE_TODOS
from tejat.core.messages.types import FunctionCall
from tejat.core.text.str_enum import StrEnum
from tejat.ui.shared.calls.arguments import CallArguments
from tejat.ui.shared.labels.text_summary import summarize_line

EXPLORING_TOOLS = frozenset(
    {
        *("read_file", "read_many_files", "list_directory", "glob"),
        *("search_file_content", "grep", "grep_search"),
    }
)
"""Names of the tools that only read, list and search files."""

_SHELL = "run_shell_command"
_MAX_NAME_CHARS = 80
_SERVER_SEPARATOR = "__"
_OBJECT = "{object}"
"""Stands for the object in translated titles, so that they can be split there."""


class TitleForm(StrEnum):
    """Form of the verb: `Edited`, `Editing` or `Edit`."""

    DONE = "done"
    RUNNING = "running"
    PLANNED = "planned"


class CallTitle(Frozen):
    """A sanitized title of one line. `tail` follows the object; `details` narrow it, such as a range of lines."""

    verb: str
    object: str = ""
    tail: str = ""
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = " ".join(filter(None, (self.verb, self.object, self.tail)))
        return f"{words} ({', '.join(self.details)})" if self.details else words


def call_title(call: FunctionCall, form: TitleForm, *, folder: str = "", creates_file: bool | None = None) -> CallTitle:
    """Return the title of a call. Never raises, whatever the model sent. Paths below `folder` are relative to it.

    `creates_file` says whether a change is that of a new file, None if that is unknown.
    """
    wording, subject = _describe(call, CallArguments(call.args, folder))
    if creates_file is not None and wording in (_EDIT, _WRITE):
        wording = _CREATE if creates_file else _EDIT
    template = wording.template(form)
    verb, _unused, tail = template.partition(_OBJECT)
    details = tuple(summarize_line(detail) for detail in subject.details)
    return CallTitle(verb.strip(), summarize_line(subject.text), tail.strip(), details)


def has_wording(call: FunctionCall) -> bool:
    """Whether the title of a call is more than the name of its tool and the arguments."""
    return call.name == _SHELL or call.name in _TOOLS


def tool_label(call: FunctionCall) -> str:
    """Return the sanitized tool name, `server/tool` for a tool of an MCP server."""
    server, separator, tool = call.name.partition(_SERVER_SEPARATOR)
    name = f"{server}/{tool}" if separator and server and tool else call.name
    return summarize_line(name, limit=_MAX_NAME_CHARS) or _("(no name)")


class _Wording(Frozen):
    """Templates of a title, one for each form of the verb."""

    done: LazyString
    running: LazyString
    planned: LazyString

    def template(self, form: TitleForm) -> str:
        english = {TitleForm.DONE: self.done, TitleForm.RUNNING: self.running, TitleForm.PLANNED: self.planned}[form]
        translated = translate(english)
        return translated if (_OBJECT in translated) == (_OBJECT in english) else str.__str__(english)


class _Subject(Frozen):
    """What a call is about, and what narrows it."""

    text: str
    details: tuple[str, ...] = ()


def _describe(call: FunctionCall, arguments: CallArguments) -> tuple[_Wording, _Subject]:
    if call.name == _SHELL:
        wording = _START if arguments.is_set("is_background") else _RUN
        return wording, _command(arguments)
    if call.name in _TOOLS:
        wording, subject = _TOOLS[call.name]
        return wording, subject(arguments)
    return _CALL, _Subject(f"{tool_label(call)} {arguments.summary()}".rstrip())


def _command(arguments: CallArguments) -> _Subject:
    lines = arguments.text("command").strip().splitlines() or [""]
    shown, where = lines[0], arguments.path("directory", "dir_path")
    if len(lines) > 1:
        shown += " " + ngettext("(and {count} more line)", "(and {count} more lines)", len(lines) - 1)
    return _Subject(shown, (_("in {directory}", directory=where),) if where and where != "." else ())


def _file(arguments: CallArguments) -> _Subject:
    return _Subject(arguments.path("file_path", "path", "absolute_path"))


def _file_lines(arguments: CallArguments) -> _Subject:
    path = arguments.path("path", "absolute_path", "file_path")
    start, end = arguments.number("start_line"), arguments.number("end_line")
    offset, limit = arguments.number("offset"), arguments.number("limit")
    first = start if start is not None else (offset or 0) + 1
    last = end if end is not None else None if limit is None else first + limit - 1
    if last is not None:
        return _Subject(path, (_("lines {first}-{last}", first=first, last=last),))
    return _Subject(path, (_("from line {first}", first=first),) if first > 1 else ())


def _files(arguments: CallArguments) -> _Subject:
    return _Subject(", ".join(arguments.paths("paths", "include")))


def _directory(arguments: CallArguments) -> _Subject:
    return _Subject(arguments.path("path", "dir_path") or ".")


def _pattern(arguments: CallArguments) -> _Subject:
    pattern, where = _quote(arguments.text("pattern")), arguments.path("path", "dir_path")
    only = arguments.text("include", "include_pattern")
    within = " ".join(filter(None, ("" if where == "." else where, only)))
    return _Subject(_("{pattern} in {place}", pattern=pattern, place=within) if within else pattern)


def _addresses(arguments: CallArguments) -> _Subject:
    return _Subject(", ".join(arguments.urls("url", "prompt")) or arguments.text("url", "prompt"))


def _tool_query(arguments: CallArguments) -> _Subject:
    return _Subject(_quote(", ".join(filter(None, [arguments.text("query"), *arguments.paths("names")]))))


def _recalled(arguments: CallArguments) -> _Subject:
    text, messages, turns = (arguments.text(name) for name in ("text", "messages", "turns"))
    place = f"messages {messages}" if messages else f"turns {turns}" if turns else ""
    return _Subject(_quote(text) or place or "all turns", (place,) if text and place else ())


def _quoted(name: str) -> Callable[[CallArguments], _Subject]:
    return lambda arguments: _Subject(_quote(arguments.text(name)))


def _process(arguments: CallArguments) -> _Subject:
    return _Subject(arguments.text("pid"))


def _quote(text: str) -> str:
    return f'"{summarize_line(text)}"' if text else ""


_READ = _Wording(
    lazy("Read {object}", object=_OBJECT),
    lazy("Reading {object}", object=_OBJECT),
    lazy("Read {object}", object=_OBJECT),
)
_LIST = _Wording(
    lazy("Listed {object}", object=_OBJECT),
    lazy("Listing {object}", object=_OBJECT),
    lazy("List {object}", object=_OBJECT),
)
_SEARCH = _Wording(
    lazy("Searched {object}", object=_OBJECT),
    lazy("Searching {object}", object=_OBJECT),
    lazy("Search {object}", object=_OBJECT),
)
_FIND = _Wording(
    lazy("Found files {object}", object=_OBJECT),
    lazy("Finding files {object}", object=_OBJECT),
    lazy("Find files {object}", object=_OBJECT),
)
_RUN = _Wording(
    lazy("Ran {object}", object=_OBJECT), lazy("Running {object}", object=_OBJECT), lazy("Run {object}", object=_OBJECT)
)
_START = _Wording(
    lazy("Started {object} in the background", object=_OBJECT),
    lazy("Starting {object} in the background", object=_OBJECT),
    lazy("Start {object} in the background", object=_OBJECT),
)
_EDIT = _Wording(
    lazy("Edited {object}", object=_OBJECT),
    lazy("Editing {object}", object=_OBJECT),
    lazy("Edit {object}", object=_OBJECT),
)
_CREATE = _Wording(
    lazy("Created {object}", object=_OBJECT),
    lazy("Creating {object}", object=_OBJECT),
    lazy("Create {object}", object=_OBJECT),
)
_WRITE = _Wording(
    lazy("Edited {object}", object=_OBJECT),
    lazy("Writing {object}", object=_OBJECT),
    lazy("Write {object}", object=_OBJECT),
)
_FETCH = _Wording(
    lazy("Fetched {object}", object=_OBJECT),
    lazy("Fetching {object}", object=_OBJECT),
    lazy("Fetch {object}", object=_OBJECT),
)
_SEARCH_WEB = _Wording(
    lazy("Searched the web for {object}", object=_OBJECT),
    lazy("Searching the web for {object}", object=_OBJECT),
    lazy("Search the web for {object}", object=_OBJECT),
)
_REMEMBER = _Wording(
    lazy("Remembered {object}", object=_OBJECT),
    lazy("Remembering {object}", object=_OBJECT),
    lazy("Remember {object}", object=_OBJECT),
)
_LIST_JOBS = _Wording(
    lazy("Listed background processes"), lazy("Listing background processes"), lazy("List background processes")
)
_READ_JOB = _Wording(
    lazy("Read the output of process {object}", object=_OBJECT),
    lazy("Reading the output of process {object}", object=_OBJECT),
    lazy("Read the output of process {object}", object=_OBJECT),
)
_STOP_JOB = _Wording(
    lazy("Stopped process {object}", object=_OBJECT),
    lazy("Stopping process {object}", object=_OBJECT),
    lazy("Stop process {object}", object=_OBJECT),
)
_FIND_TOOLS = _Wording(
    lazy("Searched the tools for {object}", object=_OBJECT),
    lazy("Searching the tools for {object}", object=_OBJECT),
    lazy("Search the tools for {object}", object=_OBJECT),
)
_RECALL = _Wording(
    lazy("Recalled {object}", object=_OBJECT),
    lazy("Recalling {object}", object=_OBJECT),
    lazy("Recall {object}", object=_OBJECT),
)
_ASK = _Wording(
    lazy("Asked you about {object}", object=_OBJECT),
    lazy("Asking you about {object}", object=_OBJECT),
    lazy("Ask you about {object}", object=_OBJECT),
)
_WRITE_TODOS = _Wording(lazy("Updated the todo list"), lazy("Updating the todo list"), lazy("Update the todo list"))
_CALL = _Wording(
    lazy("Called {object}", object=_OBJECT),
    lazy("Calling {object}", object=_OBJECT),
    lazy("Call {object}", object=_OBJECT),
)

_TOOLS: dict[str, tuple[_Wording, Callable[[CallArguments], _Subject]]] = {
    "read_file": (_READ, _file_lines),
    "read_many_files": (_READ, _files),
    "list_directory": (_LIST, _directory),
    "glob": (_FIND, _pattern),
    "search_file_content": (_SEARCH, _pattern),
    "grep": (_SEARCH, _pattern),
    "grep_search": (_SEARCH, _pattern),
    "replace": (_EDIT, _file),
    "write_file": (_WRITE, _file),
    "web_fetch": (_FETCH, _addresses),
    "google_web_search": (_SEARCH_WEB, _quoted("query")),
    "save_memory": (_REMEMBER, _quoted("fact")),
    "list_background_processes": (_LIST_JOBS, lambda _: _Subject("")),
    "read_background_output": (_READ_JOB, _process),
    "stop_background_process": (_STOP_JOB, _process),
    ASK_USER: (_ASK, lambda arguments: _Subject(", ".join(arguments.members("questions", "header")))),
    WRITE_TODOS: (_WRITE_TODOS, lambda _: _Subject("")),
    "find_tools": (_FIND_TOOLS, _tool_query),
    "recall": (_RECALL, _recalled),
}
