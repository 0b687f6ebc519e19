"""Expansion of custom commands: prompts like `/name arguments`."""

import os
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tejat.config.context.reader import ContextReader, UnreadableContextFile
from tejat.config.custom_commands import CustomCommand, CustomCommands
from tejat.config.extensions.active import ActiveExtension, fill_places
from tejat.core.errors import BadPrompt, ErrorType, NotTrusted, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy
from tejat.core.messages.types import FunctionCall, Part, Text
from tejat.core.tools.base import ToolResult
from tejat.core.tools.call_events import CallEventSink
from tejat.engine.calls.read_approval import approve_reading
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.prompt.expanded_prompt import ExpandedPrompt
from tejat.engine.prompt.mentions import AgentFinder, ResourceReader, expand_mentions
from tejat.engine.prompt.shell_quote import UnsafePlaceholder, substitute_argument, substitute_places
from tejat.policy.types import Decision
from tejat.workspace.threads.offload import run_blocking

if TYPE_CHECKING:
    from tejat.workspace.files.roots import Roots

MAX_INSERTIONS = 100
"""Files and shell commands in one prompt."""
MAX_CHARACTERS = 8 * 2**20
"""Characters of inserted arguments in one prompt."""

_ARGUMENTS = "{{args}}"
_SHELL_TOOL = "run_shell_command"
# An exclamation mark before {{args}} is plain text.
_INSERTION = re.compile(r"[@!]\{(?!\{args\}\})")
_BRACE = re.compile(r"[{}]")
_INVOCATION = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
_SHELL_RESULT = re.compile(
    r"(\nStdout: \(empty\)\nStderr: \(empty\))?\nError: \(none\)\nExit Code: (\S+)\nSignal: (\S+)\n"
    r"Background PIDs: [^\n]*\nProcess Group PGID: \S+\Z"
)


class CustomCommandError(BadPrompt):
    """A command cannot be expanded; the message says which and why."""


class CustomCommandExpander:
    """Expands the custom commands of one session.

    `untrusted_reason` explains why commands of the project are not available. `read_resource` reads MCP resources that
    the user mentions, and `find_agent` finds sub-agents.
    """

    def __init__(
        self,
        commands: CustomCommands,
        scheduler: Scheduler,
        roots: "Roots",
        *,
        recursive_search: bool,
        untrusted_reason: str,
        read_resource: ResourceReader | None = None,
        find_agent: AgentFinder | None = None,
    ) -> None:
        self._commands = commands
        self._scheduler = scheduler
        approve = partial(approve_reading, scheduler)
        expand = partial(
            expand_mentions, registry=scheduler.registry, roots=roots, mask=scheduler.mask, approve=approve
        )
        self._expand_mentions = expand
        self._expand_user_text = partial(
            expand, recursive_search=recursive_search, read_resource=read_resource, find_agent=find_agent
        )
        self._untrusted_reason = untrusted_reason
        self._unreported = commands.problems

    async def expand(self, prompt: str, emit: CallEventSink | None = None) -> ExpandedPrompt:
        """Expand a prompt, including the files that the user mentions with `@`.

        A prompt that calls no command stays as it is. Shell commands run like any call: policy, sandbox and approval
        apply, and `emit` gets their events. Inserted text is not expanded again. Raises CustomCommandError, NotTrusted
        and MentionError.
        """
        notes, self._unreported = self._unreported, ()
        invocation = _INVOCATION.fullmatch(prompt.strip())
        command = self._command(invocation[1]) if invocation else None
        if invocation is None or command is None:
            expanded = await self._expand_user_text(prompt)
            return ExpandedPrompt(expanded.parts, expanded.files, (*notes, *expanded.notes))
        segments = _fill_places(command, _parse_segments(command))
        builder = _PromptBuilder(notes)
        arguments = await self._arguments(command, segments, invocation, builder)
        files = {
            segment.text: await self._file_content(command, segment.text) for segment in segments if segment.kind == "@"
        }
        outputs = await self._run_shell_commands(command, _shell_lines(command, segments, invocation[2]), emit)
        for segment in segments:
            match segment.kind:
                case "@":
                    builder.add_files(files[segment.text])
                case "!":
                    builder.add_text(outputs.pop(0))
                case _:
                    builder.add_text(segment.text.replace(_ARGUMENTS, arguments))
        return builder.build(command)

    @property
    def names(self) -> frozenset[str]:
        """The names of all commands, even of unusable ones."""
        return self._commands.names

    def _command(self, name: str) -> CustomCommand | None:
        command = self._commands.find(name)
        if command is None and name in self._commands.invalid:
            raise CustomCommandError(self._commands.invalid[name])
        if command is None and name in self._commands.untrusted:
            raise NotTrusted(
                lazy(
                    "/{name} is a project command, and this folder is not trusted. {why} Run `tejat trust`, "
                    "or use --trust for one run.",
                    name=name,
                    why=self._untrusted_reason,
                )
            )
        return command

    async def _arguments(
        self,
        command: CustomCommand,
        segments: "Sequence[_Segment]",
        invocation: re.Match[str],
        builder: "_PromptBuilder",
    ) -> str:
        """Return the arguments to insert. If the prompt has no place for them, they follow at the end."""
        arguments = invocation[2]
        places = sum(segment.text.count(_ARGUMENTS) for segment in segments if segment.kind != "@")
        if places * len(arguments) > MAX_CHARACTERS:
            raise _not_sent_error(command, lazy("it is too long with these arguments."))
        is_in_text = any(_ARGUMENTS in segment.text for segment in segments if not segment.kind)
        if not arguments or (places and not is_in_text):
            return ""
        expanded = await self._expand_user_text(arguments if places else invocation[0])
        builder.set_user_text(expanded, at_end=not places)
        first = expanded.parts[0]
        return first.text if places and isinstance(first, Text) else ""

    async def _file_content(self, command: CustomCommand, path: str) -> ExpandedPrompt:
        """Return the content of a file or of all files in a directory; the insertion itself if there is none."""
        if command.extension is not None and _is_in_extension(command.extension, path):
            extension = command.extension
            return ExpandedPrompt((Text(await run_blocking(lambda _: _read_extension_file(command, extension, path))),))
        escaped = re.sub(r'["\\]', r"\\\g<0>", path)
        mention = f'@"{escaped}"'
        found = await self._expand_mentions(mention, recursive_search=False)
        label = found.parts[0]
        if label == Text(mention):
            notes = found.notes or (_("@{name} is sent as plain text: {why}", name=path, why=_("no such file.")),)
            return ExpandedPrompt((Text(f"@{{{path}}}"),), notes=notes)
        content = found.parts[2:-1]
        is_directory = isinstance(label, Text) and label.text.endswith("/**")
        if content and isinstance(content[0], Text) and not is_directory:
            content = content[1:]  # the heading with the name of the file
        return ExpandedPrompt(content, found.files, found.notes)

    async def _run_shell_commands(
        self, command: CustomCommand, lines: Sequence[str], emit: CallEventSink | None
    ) -> list[str]:
        """Return the outputs of the commands. Commands that may not run are refused before any runs."""
        description = f"Part of /{command.name}"
        if command.extension is not None:
            description += f" of the extension {command.extension.name}"
            await _check_extension(command, command.extension, lines)
        calls = [
            FunctionCall(_SHELL_TOOL, {"command": line, "description": description}, f"{command.name}-{number}")
            for number, line in enumerate(lines, 1)
            if line
        ]
        outputs: dict[str, str] = {"": ""}
        for call in sorted(calls, key=self._may_run):
            line = str(call.args["command"])
            result = await self._scheduler.run(call, emit)
            if result.error is not None and result.error.type is not ErrorType.TIMEOUT:
                why = lazy("did not run: {line}\n{result}", line=line, result=_failure_text(result))
                raise _not_sent_error(command, why)
            outputs[call.id or ""] = _output_text(line, result)
        return [outputs[f"{command.name}-{number}" if line else ""] for number, line in enumerate(lines, 1)]

    def _may_run(self, call: FunctionCall) -> bool:
        """Whether a call is allowed, or needs an approval that somebody can give."""
        tool = self._scheduler.registry.get(call.name)
        if tool is None or tool.rejection(call.args) is not None:
            return False
        permission = self._scheduler.permission
        try:
            decision = permission.decide(tool, call.args)[1].decision
        except ToolFailure:
            return False
        return decision is Decision.ALLOW or (decision is Decision.ASK and permission.can_ask)


def _is_in_extension(extension: ActiveExtension, path: str) -> bool:
    root = os.path.realpath(extension.path)
    return os.path.isabs(path) and os.path.realpath(path).startswith(f"{root.rstrip('/')}/")


def _read_extension_file(command: CustomCommand, extension: ActiveExtension, path: str) -> str:
    """Read a file of the extension as it was agreed to. Raises CustomCommandError."""
    reader = ContextReader()
    reader.accepts = None if extension.pinned is None else extension.pinned.accepts
    try:
        return reader.read(os.path.realpath(path), named=path)
    except UnreadableContextFile as problem:
        raise _not_sent_error(command, lazy("{path}: {why}.", path=path, why=problem)) from None


async def _check_extension(command: CustomCommand, extension: ActiveExtension, lines: Sequence[str]) -> None:
    """Raise CustomCommandError if a shell command uses files of an extension that changed."""
    pinned = extension.pinned
    if pinned is None or not any(extension.path in line for line in lines):
        return
    if reason := await run_blocking(lambda _: pinned.find_change()):
        raise _not_sent_error(command, lazy("{why}.", why=reason))


class _Segment(Frozen):
    """A segment of a prompt: text, or for the kinds `@` and `!` the content of the braces."""

    kind: str
    text: str


def _parse_segments(command: CustomCommand) -> list[_Segment]:
    """Raises CustomCommandError for unclosed braces."""
    prompt = command.prompt
    segments: list[_Segment] = []
    start = 0
    while found := _INSERTION.search(prompt, start):
        end = _closing_brace(prompt, found.end())
        if end is None:
            line, path = prompt.count("\n", 0, found.start()) + 1, command.path
            why = lazy(
                "{found} on line {line} of the prompt in {path} is not closed.", found=found[0], line=line, path=path
            )
            raise _not_sent_error(command, why)
        segments.append(_Segment("", prompt[start : found.start()]))
        segments.append(_Segment(found[0][0], prompt[found.end() : end - 1].strip()))
        start = end
    if len(segments) > 2 * MAX_INSERTIONS:
        why = lazy("{path} has more than {most} insertions.", path=command.path, most=MAX_INSERTIONS)
        raise _not_sent_error(command, why)
    return [*segments, _Segment("", prompt[start:])]


def _fill_places(command: CustomCommand, segments: "Sequence[_Segment]") -> "list[_Segment]":
    """Fill in the variables of an extension, in shell commands as one word. Raises CustomCommandError."""
    if not command.places:
        return list(segments)
    try:
        return [
            _Segment(
                each.kind,
                substitute_places(each.text, command.places)
                if each.kind == "!"
                else fill_places(each.text, command.places),
            )
            for each in segments
        ]
    except UnsafePlaceholder as error:
        raise _not_sent_error(command, lazy("{path}: {why}.", path=command.path, why=error)) from None


def _closing_brace(text: str, start: int) -> int | None:
    """Return the index after the brace that closes the one before `start`."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return None


def _shell_lines(command: CustomCommand, segments: Sequence[_Segment], arguments: str) -> list[str]:
    """Return the shell commands. Raises CustomCommandError if the arguments cannot be inserted safely."""
    try:
        return [substitute_argument(segment.text, _ARGUMENTS, arguments) for segment in segments if segment.kind == "!"]
    except UnsafePlaceholder as error:
        raise _not_sent_error(command, lazy("{path}: {why}.", path=command.path, why=error)) from None


def _not_sent_error(command: CustomCommand, why: str) -> CustomCommandError:
    return CustomCommandError(lazy("/{name} was not sent: {why}", name=command.name, why=why))


def _failure_text(result: ToolResult) -> str:
    assert result.error is not None
    display = result.return_display
    return display if isinstance(display, str) and display else result.error.message


def _output_text(line: str, result: ToolResult) -> str:
    """Return the output of a command, and how it ended if it failed."""
    display = result.return_display
    output = display.rstrip("\n") if isinstance(display, str) else ""
    if result.error is not None:
        return f"{output}\n[Shell command '{line}' aborted]"
    ended = _SHELL_RESULT.search(result.llm_content) if isinstance(result.llm_content, str) else None
    if ended is None:
        return output
    nothing, code, signal = ended.groups()
    if nothing:
        output = ""  # the display repeats the exit status, which is added below
    if signal != "(none)":
        return f"{output}\n[Shell command '{line}' terminated by signal {signal}]"
    return output if code == "0" else f"{output}\n[Shell command '{line}' exited with code {code}]"


class _PromptBuilder:
    """Builds an expanded prompt."""

    def __init__(self, notes: Sequence[str]) -> None:
        self._notes = list(notes)
        self._files: dict[str, None] = {}
        self._parts: list[Part] = []
        self._texts: list[str] = []
        self._user_parts: Sequence[Part] = ()

    def set_user_text(self, expanded: ExpandedPrompt, *, at_end: bool) -> None:
        """Keep the files that the user mentioned and, at the end, the text too."""
        self._collect_notes(expanded)
        first, *files = expanded.parts
        self._user_parts = [Text(f"\n\n{first.text}"), *files] if at_end and isinstance(first, Text) else files

    def add_text(self, text: str) -> None:
        self._texts.append(text)

    def add_files(self, files: ExpandedPrompt) -> None:
        self._collect_notes(files)
        self._add_parts(files.parts)

    def build(self, command: CustomCommand) -> ExpandedPrompt:
        self._add_parts(self._user_parts)
        self._flush_text()
        if not self._parts:
            raise _not_sent_error(command, lazy("the prompt is empty."))
        return ExpandedPrompt(tuple(self._parts), tuple(self._files), tuple(dict.fromkeys(self._notes)))

    def _collect_notes(self, expanded: ExpandedPrompt) -> None:
        self._files |= dict.fromkeys(expanded.files)
        self._notes += expanded.notes

    def _add_parts(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Text):
                self.add_text(part.text)
            else:
                self._flush_text()
                self._parts.append(part)

    def _flush_text(self) -> None:
        text = "".join(self._texts)
        self._texts.clear()
        # Services reject parts without text.
        if text.strip():
            self._parts.append(Text(text))
