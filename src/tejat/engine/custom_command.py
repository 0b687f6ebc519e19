"""Turns a prompt like `/name words` into what the command of that name stands for."""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tejat.config.custom_commands import CustomCommand, CustomCommands
from tejat.core.errors import BadPrompt, ErrorType, NotTrusted, ToolFailure
from tejat.core.events import Watch
from tejat.core.tool import ToolResult
from tejat.core.types import FunctionCall, Part, Text
from tejat.core.value import value
from tejat.core.words import phrase, say
from tejat.engine.at_paths import Expanded, ReadResource, expand_at_paths
from tejat.engine.scheduler import Scheduler
from tejat.engine.shell_argument import NoPlaceForArgument, with_argument
from tejat.policy.rules import Decision

if TYPE_CHECKING:
    from tejat.workspace.roots import Roots

MOST_INSERTIONS = 100
"""Files and shell commands in one prompt."""
MOST_CHARACTERS = 8 * 2**20
"""Of the words that are put into one prompt."""

_ARGUMENTS = "{{args}}"
_SHELL = "run_shell_command"
# An exclamation mark before the arguments is just that.
_INSERTION = re.compile(r"[@!]\{(?!\{args\}\})")
_BRACE = re.compile(r"[{}]")
_INVOCATION = re.compile(r"/(\S+)\s*(.*)", re.DOTALL)
_ENDED = re.compile(
    r"(\nStdout: \(empty\)\nStderr: \(empty\))?\nError: \(none\)\nExit Code: (\S+)\nSignal: (\S+)\n"
    r"Background PIDs: [^\n]*\nProcess Group PGID: \S+\Z"
)


class CustomCommandError(BadPrompt):
    """A command cannot be turned into a prompt; the message says which and why."""


class CommandPrompts:
    """Expands the prompts of one session that call a command.

    `why_not_trusted` is said of the folder when a command of it is called that it may not bring along. `resource` reads
    what servers have, where the person names it.
    """

    def __init__(
        self,
        found: CustomCommands,
        scheduler: Scheduler,
        roots: "Roots",
        *,
        recursive_search: bool,
        why_not_trusted: str,
        resource: ReadResource | None = None,
    ) -> None:
        self._found = found
        self._resource = resource
        self._scheduler = scheduler
        self._with_files = partial(expand_at_paths, registry=scheduler.registry, roots=roots, mask=scheduler.mask)
        self._recursive_search = recursive_search
        self._why_not_trusted = why_not_trusted
        self._untold = found.problems

    async def expand(self, prompt: str, watch: Watch | None = None) -> Expanded:
        """What the prompt stands for, with the files that the person names in it with `@`.

        A prompt that calls no command is taken as it is. Shell commands run as any call does: the rules, the sandbox
        and the person have their say, and `watch` sees them. Nothing that is put into the prompt is expanded again.
        Raises CustomCommandError, NotTrusted and AtPathError.
        """
        notes, self._untold = self._untold, ()
        called = _INVOCATION.fullmatch(prompt.strip())
        command = self._command(called[1]) if called else None
        if called is None or command is None:
            said = await self._said(prompt)
            return Expanded(said.parts, said.read, (*notes, *said.notes))
        pieces = _pieces_of(command)
        made = _Made(notes)
        words = await self._arguments(command, pieces, called, made)
        files = {piece.inside: await self._content(piece.inside) for piece in pieces if piece.kind == "@"}
        outputs = await self._outputs(command, _lines_of(command, pieces, called[2]), watch)
        for piece in pieces:
            match piece.kind:
                case "@":
                    made.add_files(files[piece.inside])
                case "!":
                    made.add(outputs.pop(0))
                case _:
                    made.add(piece.inside.replace(_ARGUMENTS, words))
        made.add_said()
        return made.expanded(command)

    @property
    def names(self) -> frozenset[str]:
        """Those of all commands, even if they cannot be used."""
        return frozenset({*self._found.commands, *self._found.broken, *self._found.held_back})

    def _command(self, name: str) -> CustomCommand | None:
        command = self._found.commands.get(name)
        if command is None and name in self._found.broken:
            raise CustomCommandError(self._found.broken[name])
        if command is None and name in self._found.held_back:
            raise NotTrusted(
                phrase(
                    "/{name} is a command of this folder, and only a trusted folder may bring commands along. "
                    "{why} See `tejat trust`; --trust trusts it for one run.",
                    name=name,
                    why=self._why_not_trusted,
                )
            )
        return command

    async def _said(self, text: str) -> Expanded:
        return await self._with_files(text, recursive_search=self._recursive_search, resource=self._resource)

    async def _arguments(
        self, command: CustomCommand, pieces: "Sequence[_Piece]", called: re.Match[str], made: "_Made"
    ) -> str:
        """The arguments as they are put between the words; where they have no place, they are said at the end."""
        given = called[2]
        places = sum(piece.inside.count(_ARGUMENTS) for piece in pieces if piece.kind != "@")
        if places * len(given) > MOST_CHARACTERS:
            raise _not_sent(command, phrase("it would be too long with these arguments."))
        if not given or (places and not any(_ARGUMENTS in piece.inside for piece in pieces if not piece.kind)):
            return ""
        said = await self._said(given if places else called[0])
        made.keep_said(said, at_the_end=not places)
        first = said.parts[0]
        return first.text if places and isinstance(first, Text) else ""

    async def _content(self, path: str) -> Expanded:
        """A file as it is, a directory file by file; the insertion itself where there is nothing of this name."""
        escaped = re.sub(r'["\\]', r"\\\g<0>", path)
        mention = f'@"{escaped}"'
        found = await self._with_files(mention, recursive_search=False)
        label = found.parts[0]
        if label == Text(mention):
            notes = found.notes or (
                say("@{name} is left as it is: {why}", name=path, why=say("there is no such file.")),
            )
            return Expanded((Text(f"@{{{path}}}"),), notes=notes)
        content = found.parts[2:-1]
        is_directory = isinstance(label, Text) and label.text.endswith("/**")
        if content and isinstance(content[0], Text) and not is_directory:
            content = content[1:]  # the heading that says which file it is
        return Expanded(content, found.read, found.notes)

    async def _outputs(self, command: CustomCommand, lines: Sequence[str], watch: Watch | None) -> list[str]:
        """What the lines print. What may not run is refused before anything has run."""
        description = f"Part of /{command.name}"
        calls = [
            FunctionCall(_SHELL, {"command": line, "description": description}, f"{command.name}-{number}")
            for number, line in enumerate(lines, 1)
            if line
        ]
        told: dict[str, str] = {"": ""}
        for call in sorted(calls, key=self._may_run):
            line = str(call.args["command"])
            result = await self._scheduler.run(call, watch)
            if result.error is not None and result.error.type is not ErrorType.TIMEOUT:
                raise _not_sent(
                    command, phrase("this did not run: {line}\n{result}", line=line, result=_reason(result))
                )
            told[call.id or ""] = _told(line, result)
        return [told[f"{command.name}-{number}" if line else ""] for number, line in enumerate(lines, 1)]

    def _may_run(self, call: FunctionCall) -> bool:
        """Whether it is neither refused by the rules nor asks somebody who is not there."""
        tool = self._scheduler.registry.get(call.name)
        if tool is None or tool.rejection(call.args) is not None:
            return False
        permission = self._scheduler.permission
        try:
            decision = permission.decide(tool, call.args)[1].decision
        except ToolFailure:
            return False
        return decision is Decision.ALLOW or (decision is Decision.ASK and permission.can_ask)


@value
class _Piece:
    """A part of a prompt: words, or with `@` or `!` as its kind what stands between the braces."""

    kind: str
    inside: str


def _pieces_of(command: CustomCommand) -> list[_Piece]:
    """Raises CustomCommandError for braces that are never closed."""
    prompt = command.prompt
    pieces: list[_Piece] = []
    start = 0
    while found := _INSERTION.search(prompt, start):
        end = _end_of_braces(prompt, found.end())
        if end is None:
            line = prompt.count("\n", 0, found.start()) + 1
            raise _not_sent(
                command,
                phrase(
                    "{found} in line {line} of the prompt of {path} is never closed.",
                    found=found[0],
                    line=line,
                    path=command.path,
                ),
            )
        pieces += [
            _Piece("", prompt[start : found.start()]),
            _Piece(found[0][0], prompt[found.end() : end - 1].strip()),
        ]
        start = end
    if len(pieces) > 2 * MOST_INSERTIONS:
        raise _not_sent(
            command, phrase("{path} has more than {most} insertions.", path=command.path, most=MOST_INSERTIONS)
        )
    return [*pieces, _Piece("", prompt[start:])]


def _end_of_braces(text: str, start: int) -> int | None:
    """Behind the brace that closes the one before `start`."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return None


def _lines_of(command: CustomCommand, pieces: Sequence[_Piece], arguments: str) -> list[str]:
    """The shell commands. Raises CustomCommandError where the arguments cannot be put into one."""
    try:
        return [with_argument(piece.inside, _ARGUMENTS, arguments) for piece in pieces if piece.kind == "!"]
    except NoPlaceForArgument as error:
        raise _not_sent(command, phrase("in {path}, {why}.", path=command.path, why=error)) from None


def _not_sent(command: CustomCommand, why: str) -> CustomCommandError:
    return CustomCommandError(phrase("/{name} was not sent: {why}", name=command.name, why=why))


def _reason(result: ToolResult) -> str:
    assert result.error is not None
    display = result.return_display
    return display if isinstance(display, str) and display else result.error.message


def _told(line: str, result: ToolResult) -> str:
    """What was printed, and how it ended if not well."""
    display = result.return_display
    output = display.rstrip("\n") if isinstance(display, str) else ""
    if result.error is not None:
        return f"{output}\n[Shell command '{line}' aborted]"
    ended = _ENDED.search(result.llm_content) if isinstance(result.llm_content, str) else None
    if ended is None:
        return output
    nothing, code, signal = ended.groups()
    if nothing:
        output = ""  # the display says how it ended, and so do we
    if signal != "(none)":
        return f"{output}\n[Shell command '{line}' terminated by signal {signal}]"
    return output if code == "0" else f"{output}\n[Shell command '{line}' exited with code {code}]"


class _Made:
    """A prompt while it is being made."""

    def __init__(self, notes: Sequence[str]) -> None:
        self._notes = list(notes)
        self._read: dict[str, None] = {}
        self._parts: list[Part] = []
        self._words: list[str] = []
        self._said: Sequence[Part] = ()

    def keep_said(self, said: Expanded, *, at_the_end: bool) -> None:
        """What the person said: the files that they named, and at the end their words too."""
        self._note(said)
        first, *files = said.parts
        self._said = [Text(f"\n\n{first.text}"), *files] if at_the_end and isinstance(first, Text) else files

    def add(self, words: str) -> None:
        self._words.append(words)

    def add_files(self, files: Expanded) -> None:
        self._note(files)
        self._add_parts(files.parts)

    def add_said(self) -> None:
        self._add_parts(self._said)

    def expanded(self, command: CustomCommand) -> Expanded:
        self._end_words()
        if not self._parts:
            raise _not_sent(command, phrase("nothing is left of its prompt."))
        return Expanded(tuple(self._parts), tuple(self._read), tuple(dict.fromkeys(self._notes)))

    def _note(self, expanded: Expanded) -> None:
        self._read |= dict.fromkeys(expanded.read)
        self._notes += expanded.notes

    def _add_parts(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Text):
                self.add(part.text)
            else:
                self._end_words()
                self._parts.append(part)

    def _end_words(self) -> None:
        words = "".join(self._words)
        self._words.clear()
        # No service likes a part without words.
        if words.strip():
            self._parts.append(Text(words))
