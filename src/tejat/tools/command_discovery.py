"""Tools that a command of the settings declares: it is run once, and what it prints is read with care."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tejat.core.command_words import command_words
from tejat.core.errors import UsageError
from tejat.core.foreign_schema import flaw_in
from tejat.core.json_text import NotJson, dump_json, load_json
from tejat.core.tool import FunctionDeclaration
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.visible import visible, without_hidden
from tejat.core.words import phrase
from tejat.tools.shell_result import signal_name
from tejat.workspace.offload import off_loop
from tejat.workspace.processes.keeping import Keeper
from tejat.workspace.processes.program import Cause, Finished, run_program, why_not_run

SECONDS = 30.0
MOST_BYTES = 10 * 2**20
"""Of each stream."""
MOST_TOOLS = 1000
LONGEST_DESCRIPTION = 8 * 1024
LONGEST_SCHEMA = 64 * 1024
DEEPEST_SCHEMA = 64

_CALLED = phrase("Tool discovery command")
_MOST_WARNINGS = 20
_MOST_LINES = 40
_LONGEST_LINE = 400
_LONGEST_SHOWN = 100
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,62}")
_TYPES = {name.upper(): name for name in ("object", "array", "string", "number", "integer", "boolean", "null")}
_EMPTY: JsonObject = {"type": "object", "properties": {}}


@value
class Discovered:
    """What a discovery came to. `warnings` and the last lines of `stderr` are for the person, ready to be shown."""

    tools: tuple[FunctionDeclaration, ...] = ()
    warnings: tuple[str, ...] = ()
    stderr: tuple[str, ...] = ()


class DiscoveryFailed(UsageError):
    """The command told of no tools, and the message says why. `lines` are all that there is to show to the person."""

    def __init__(self, reason: str, *, command: Sequence[str], stderr: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.lines = (f'{_CALLED} "{visible(shlex.join(command))}" failed: {reason}', *stderr)


async def discover(
    command: str | Sequence[str] | None,
    *,
    keeper: Keeper,
    directory: str,
    environment: Mapping[str, str],
    seconds: float = SECONDS,
) -> Discovered:
    """Run the command in a directory, with nothing but this environment, and read what tools it tells of.

    Without a command there is nothing to do. Names that no model could call are left out; whether a name is free is not
    looked at. Raises UsageError for what is no command, and DiscoveryFailed.
    """
    if command is None:
        return Discovered()
    words = command_words(command, called=_CALLED)
    try:
        finished = await run_program(
            keeper, words, directory=directory, environment=environment, seconds=seconds, most_bytes=MOST_BYTES
        )
    except OSError as error:
        raise DiscoveryFailed(
            phrase("{command} cannot be run: {why}", command=_CALLED, why=why_not_run(error)), command=words
        ) from error
    stderr = _last_lines(finished.stderr)
    if problem := _problem_with(finished, seconds):
        raise DiscoveryFailed(problem, command=words, stderr=stderr)
    try:
        read = await off_loop(lambda _: _read(finished.stdout))
    except NotJson as error:
        raise DiscoveryFailed(str(error), command=words, stderr=stderr) from None
    return Discovered(tuple(read.tools), tuple(read.warnings), stderr)


def _problem_with(finished: Finished, seconds: float) -> str | None:
    ended = finished.exit
    if finished.cause is Cause.OUTPUT:
        return phrase("{command} output exceeded size limit of {most} bytes.", command=_CALLED, most=MOST_BYTES)
    if finished.cause is Cause.TIME or ended is None:
        return phrase(
            "{command} took longer than {seconds:g} seconds and was stopped.", command=_CALLED, seconds=seconds
        )
    if ended.signal is not None:
        return phrase("{command} was ended by {signal}.", command=_CALLED, signal=signal_name(ended.signal))
    return phrase("{command} failed with exit code {code}", command=_CALLED, code=ended.code) if ended.code else None


def _last_lines(printed: bytes) -> tuple[str, ...]:
    lines = printed.decode(errors="replace").splitlines()[-_MOST_LINES:]
    return tuple(visible(line[:_LONGEST_LINE]) for line in lines)


def _read(printed: bytes) -> "_Reading":
    """Raises NotJson with the whole of what there is to say."""
    if not printed.strip():
        raise NotJson(phrase("{command} printed nothing.", command=_CALLED))
    try:
        listed = load_json(printed)
    except NotJson as error:
        raise NotJson(phrase("{command} did not print JSON: {why}.", command=_CALLED, why=error)) from None
    if not isinstance(listed, list):
        raise NotJson(phrase("{command} did not return a JSON array of tools.", command=_CALLED))
    reading = _Reading()
    for item in cast("list[object]", listed):
        reading.take(item)
    reading.count_the_rest()
    return reading


class _Reading:
    """The tools that were told of so far, and what was wrong with others."""

    def __init__(self) -> None:
        self.tools: list[FunctionDeclaration] = []
        self.warnings: list[str] = []
        self._more_warnings = 0
        self._more_tools = 0

    def take(self, item: object) -> None:
        """One item of the array: a declaration, or an object that holds a list of them."""
        if not isinstance(item, dict):
            return
        found = cast("dict[str, object]", item)
        for key in ("function_declarations", "functionDeclarations"):
            inner = found.get(key)
            if isinstance(inner, list):
                for each in cast("list[object]", inner):
                    if isinstance(each, dict):
                        self._declare(cast("dict[str, object]", each))
                return
        self._declare(found)

    def count_the_rest(self) -> None:
        """The last warnings, of what there was too much of."""
        if self._more_tools:
            self.warnings.append(
                phrase("Discovered more than {most} tools. Skipping {rest}.", most=MOST_TOOLS, rest=self._more_tools)
            )
        if self._more_warnings:
            self.warnings.append(phrase("And {rest} more of such warnings.", rest=self._more_warnings))

    def _declare(self, declared: Mapping[str, object]) -> None:
        name = declared.get("name")
        if not name:
            self._warn(phrase("Discovered a tool with no name. Skipping."))
        elif not isinstance(name, str) or not _NAME.fullmatch(name):
            self._warn(
                f'Discovered a tool with the name "{_shown(name)}", which no model could call: a name has at most 63 '
                "letters, digits and _.:- and begins with a letter or _. Skipping."
            )
        elif len(self.tools) == MOST_TOOLS:
            self._more_tools += 1
        else:
            description = self._described(name, declared.get("description"))
            self.tools.append(FunctionDeclaration(name, description, self._parameters(name, declared)))

    def _described(self, name: str, given: object) -> str:
        if not isinstance(given, str):
            return ""
        description = without_hidden(given)
        if description != given:
            self._warn(
                phrase("The description of the tool {name} has hidden characters. They were taken out.", name=name)
            )
        if len(description) > LONGEST_DESCRIPTION:
            self._warn(
                phrase(
                    "The description of the tool {name} was cut at {most} characters.",
                    name=name,
                    most=LONGEST_DESCRIPTION,
                )
            )
            description = f"{description[:LONGEST_DESCRIPTION]}..."
        return description

    def _parameters(self, name: str, declared: Mapping[str, object]) -> JsonObject:
        given = declared.get("parametersJsonSchema")
        if given is None:
            given = declared.get("parameters")
        if given is None:
            return _EMPTY
        try:
            return _schema(given)
        except _Broken as broken:
            self._warn(phrase("The parameters of the tool {name} were left out: {broken}.", name=name, broken=broken))
            return _EMPTY

    def _warn(self, warning: str) -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(warning)
        else:
            self._more_warnings += 1


class _Broken(Exception):
    """What was declared is no schema that could be used; the message says why."""


def _schema(given: object) -> JsonObject:
    """The schema as it was given, of an object in any case. Raises _Broken."""
    if not isinstance(given, dict):
        raise _Broken(phrase("they are no object"))
    if not _is_shallow(cast("JsonValue", given)):
        raise _Broken(phrase("they are nested deeper than {most} levels", most=DEEPEST_SCHEMA))
    schema: JsonObject = {**_EMPTY, **cast("JsonObject", _with_lower_types(cast("JsonValue", given)))}
    if schema["type"] != "object":
        raise _Broken(phrase("they are not those of an object"))
    if len(dump_json(schema)) > LONGEST_SCHEMA:
        raise _Broken(phrase("they take more than {most} KiB", most=LONGEST_SCHEMA // 1024))
    if flaw := flaw_in(schema):
        raise _Broken(phrase("they are no JSON Schema, {flaw}", flaw=_shown(flaw)))
    return schema


def _is_shallow(schema: JsonValue) -> bool:
    level = [schema]
    for _ in range(DEEPEST_SCHEMA):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return True
    return False


def _inner(outer: JsonValue) -> Iterable[JsonValue]:
    if isinstance(outer, Mapping):
        return outer.values()
    return outer if isinstance(outer, list) else ()


def _with_lower_types(schema: JsonValue) -> JsonValue:
    """Types as JSON Schema writes them: in the older `parameters` they stand in capitals."""
    if isinstance(schema, list):
        return [_with_lower_types(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    lowered = {key: _with_lower_types(each) for key, each in schema.items()}
    if isinstance(written := lowered.get("type"), str):
        lowered["type"] = _TYPES.get(written, written)
    return lowered


def _shown(text: object) -> str:
    return visible(str(text)[:_LONGEST_SHOWN]).replace("\n", "<U+000A>")
