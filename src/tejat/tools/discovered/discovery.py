"""Tool discovery: runs the discovery command from the settings once and validates its output."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.sanitize import sanitize_line, sanitize_text, strip_hidden
from tejat.core.text.argv import parse_argv
from tejat.core.tools.schema_validation import schema_problem
from tejat.tools.shell.result import signal_name
from tejat.workspace.processes.program import ProgramEndReason, ProgramResult, format_start_error, run_program
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.types import ProgramWrapper
from tejat.workspace.threads.offload import run_blocking

TIMEOUT_SECONDS = 30.0
MAX_OUTPUT_BYTES = 10 * 2**20
"""Limit for each stream."""
MAX_TOOLS = 1000
MAX_DESCRIPTION_LENGTH = 8 * 1024
MAX_SCHEMA_LENGTH = 64 * 1024
MAX_SCHEMA_DEPTH = 64

_LABEL = lazy("Tool discovery command")
_MAX_WARNINGS = 20
_MAX_LINES = 40
_MAX_LINE_LENGTH = 400
_MAX_DISPLAY_LENGTH = 100
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,62}")
_TYPES = {name.upper(): name for name in ("object", "array", "string", "number", "integer", "boolean", "null")}
_EMPTY_SCHEMA: JsonObject = {"type": "object", "properties": {}}


class DiscoveryResult(Frozen):
    """Discovered tools. `warnings` and `stderr` (the last lines) are sanitized for display."""

    tools: tuple[FunctionDeclaration, ...] = ()
    warnings: tuple[str, ...] = ()
    stderr: tuple[str, ...] = ()


class DiscoveryFailed(UsageError):
    """Discovery failed; the message says why. `lines` is everything to show to the user."""

    def __init__(self, reason: str, *, command: Sequence[str], stderr: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.lines = (f'{_LABEL} "{sanitize_text(shlex.join(command))}" failed: {reason}', *stderr)


async def discover_tools(
    command: str | Sequence[str] | None,
    *,
    supervisor: ProcessSupervisor,
    directory: str,
    environment: Mapping[str, str],
    seconds: float = TIMEOUT_SECONDS,
    wrap: ProgramWrapper | None = None,
) -> DiscoveryResult:
    """Run the discovery command and parse the tools it prints.

    The command sees only `environment`; with `wrap` it runs in a container. Names that no model could call are skipped;
    clashes with other tools are not checked. Without a command the result is empty. Raises UsageError for a malformed
    command, and DiscoveryFailed.
    """
    if command is None:
        return DiscoveryResult()
    words = parse_argv(command, label=_LABEL)
    try:
        finished = await run_program(
            supervisor,
            words,
            directory=directory,
            environment=environment,
            seconds=seconds,
            max_bytes=MAX_OUTPUT_BYTES,
            wrap=wrap,
        )
    except OSError as error:
        raise DiscoveryFailed(
            lazy("{command} could not run: {why}", command=_LABEL, why=format_start_error(error)), command=words
        ) from error
    stderr = _last_lines(finished.stderr)
    if problem := _find_failure(finished, seconds):
        raise DiscoveryFailed(problem, command=words, stderr=stderr)
    try:
        read = await run_blocking(lambda _: _parse_output(finished.stdout))
    except InvalidJson as error:
        raise DiscoveryFailed(str(error), command=words, stderr=stderr) from None
    return DiscoveryResult(tuple(read.tools), tuple(read.warnings), stderr)


def _find_failure(finished: ProgramResult, seconds: float) -> str | None:
    exit_status = finished.exit
    if finished.reason is ProgramEndReason.OUTPUT:
        return lazy("{command} output exceeded size limit of {most} bytes.", command=_LABEL, most=MAX_OUTPUT_BYTES)
    if finished.reason is ProgramEndReason.TIME or exit_status is None:
        return lazy("{command} timed out after {seconds:g} seconds.", command=_LABEL, seconds=seconds)
    if exit_status.signal is not None:
        return lazy("{command} was killed by {signal}.", command=_LABEL, signal=signal_name(exit_status.signal))
    if exit_status.code:
        return lazy("{command} failed with exit code {code}", command=_LABEL, code=exit_status.code)
    return None


def _last_lines(output: bytes) -> tuple[str, ...]:
    lines = output.decode(errors="replace").splitlines()[-_MAX_LINES:]
    return tuple(sanitize_text(line[:_MAX_LINE_LENGTH]) for line in lines)


def _parse_output(output: bytes) -> "_DeclarationParser":
    """Parse the printed declarations. Raises InvalidJson with the complete message."""
    if not output.strip():
        raise InvalidJson(lazy("{command} printed no output.", command=_LABEL))
    try:
        listed = load_json(output)
    except InvalidJson as error:
        raise InvalidJson(lazy("{command} did not print JSON: {why}.", command=_LABEL, why=error)) from None
    if not isinstance(listed, list):
        raise InvalidJson(lazy("{command} did not return a JSON array of tools.", command=_LABEL))
    reading = _DeclarationParser()
    for item in cast("list[object]", listed):
        reading.parse_item(item)
    reading.add_overflow_warnings()
    return reading


class _DeclarationParser:
    """Parser for declarations that collects tools and warnings."""

    def __init__(self) -> None:
        self.tools: list[FunctionDeclaration] = []
        self.warnings: list[str] = []
        self._dropped_warnings = 0
        self._dropped_tools = 0

    def parse_item(self, item: object) -> None:
        """Parse one item of the array: a declaration, or an object with a list of declarations."""
        if not isinstance(item, dict):
            return
        found = cast("dict[str, object]", item)
        for key in ("function_declarations", "functionDeclarations"):
            inner = found.get(key)
            if isinstance(inner, list):
                for each in cast("list[object]", inner):
                    if isinstance(each, dict):
                        self._parse_declaration(cast("dict[str, object]", each))
                return
        self._parse_declaration(found)

    def add_overflow_warnings(self) -> None:
        """Add warnings about tools and warnings beyond the limits."""
        if self._dropped_tools:
            most, rest = MAX_TOOLS, self._dropped_tools
            self.warnings.append(lazy("Discovered more than {most} tools. Skipping {rest}.", most=most, rest=rest))
        if self._dropped_warnings:
            self.warnings.append(lazy("{rest} more warnings like these.", rest=self._dropped_warnings))

    def _parse_declaration(self, declared: Mapping[str, object]) -> None:
        name = declared.get("name")
        if not name:
            self._warn(lazy("Discovered a tool with no name. Skipping."))
        elif not isinstance(name, str) or not _NAME.fullmatch(name):
            self._warn(
                f'Discovered a tool with the name "{_for_display(name)}", which no model could call: a name has at '
                "most 63 letters, digits and _.:- and begins with a letter or _. Skipping."
            )
        elif len(self.tools) == MAX_TOOLS:
            self._dropped_tools += 1
        else:
            description = self._parse_description(name, declared.get("description"))
            self.tools.append(FunctionDeclaration(name, description, self._parse_parameters(name, declared)))

    def _parse_description(self, name: str, given: object) -> str:
        if not isinstance(given, str):
            return ""
        description = strip_hidden(given)
        if description != given:
            self._warn(lazy("Removed hidden characters from the description of tool {name}.", name=name))
        if len(description) > MAX_DESCRIPTION_LENGTH:
            most = MAX_DESCRIPTION_LENGTH
            self._warn(lazy("Shortened the description of tool {name} to {most} characters.", name=name, most=most))
            description = f"{description[:most]}..."
        return description

    def _parse_parameters(self, name: str, declared: Mapping[str, object]) -> JsonObject:
        given = declared.get("parametersJsonSchema")
        if given is None:
            given = declared.get("parameters")
        if given is None:
            return _EMPTY_SCHEMA
        try:
            return _parse_schema(given)
        except _InvalidSchema as broken:
            self._warn(lazy("Ignoring the parameters of tool {name}: {broken}.", name=name, broken=broken))
            return _EMPTY_SCHEMA

    def _warn(self, warning: str) -> None:
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(warning)
        else:
            self._dropped_warnings += 1


class _InvalidSchema(Exception):
    """The declared parameters are not a usable schema; the message says why."""


def _parse_schema(given: object) -> JsonObject:
    """Validate a schema and make it an object schema. Raises _InvalidSchema."""
    if not isinstance(given, dict):
        raise _InvalidSchema(lazy("not an object"))
    if not _is_shallow(cast("JsonValue", given)):
        raise _InvalidSchema(lazy("nested more than {most} levels deep", most=MAX_SCHEMA_DEPTH))
    schema: JsonObject = {**_EMPTY_SCHEMA, **cast("JsonObject", _lowercase_types(cast("JsonValue", given)))}
    if schema["type"] != "object":
        raise _InvalidSchema(lazy('the schema type is not "object"'))
    if len(dump_json(schema)) > MAX_SCHEMA_LENGTH:
        raise _InvalidSchema(lazy("larger than {most} KiB", most=MAX_SCHEMA_LENGTH // 1024))
    if flaw := schema_problem(schema):
        raise _InvalidSchema(lazy("not a valid JSON Schema: {flaw}", flaw=_for_display(flaw)))
    return schema


def _is_shallow(schema: JsonValue) -> bool:
    level = [schema]
    for _ in range(MAX_SCHEMA_DEPTH):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return True
    return False


def _children(outer: JsonValue) -> Iterable[JsonValue]:
    if isinstance(outer, Mapping):
        return outer.values()
    return outer if isinstance(outer, list) else ()


def _lowercase_types(schema: JsonValue) -> JsonValue:
    """Lowercase the type names, which the older `parameters` format writes in capitals."""
    if isinstance(schema, list):
        return [_lowercase_types(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    lowered = {key: _lowercase_types(each) for key, each in schema.items()}
    if isinstance(written := lowered.get("type"), str):
        lowered["type"] = _TYPES.get(written, written)
    return lowered


def _for_display(text: object) -> str:
    return sanitize_line(str(text)[:_MAX_DISPLAY_LENGTH])
