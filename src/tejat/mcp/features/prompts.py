"""Prompts of servers as slash commands."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
from operator import add
from typing import cast

from tejat.core.errors import BadPrompt
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.sanitize import sanitize_summary
from tejat.mcp.content.blocks import ContentPiece, ContentTooLarge, parse_content
from tejat.mcp.errors import McpFailure
from tejat.mcp.names import own_name_problem
from tejat.mcp.types import ClientSession, ServerPrompt

MAX_CHARACTERS = 2**20
"""Limit of the text of one prompt."""

HELP = "help"
"""The argument that shows the arguments of a command."""

_MAX_LINE_LENGTH = 500
_MAX_MENTION_LENGTH = 200
# Inside quotes a backslash escapes a quote or a backslash; outside of them also a space.
_ARGUMENT_PATTERN = (
    r'(?s)(?<!\S)(?=\S)(?:--(?P<name>[^\s="]+)=)?'
    r'(?:"(?P<quoted>(?:\\.|[^"\\])*)"(?=\s|\Z)|(?P<plain>(?:\\[\s"\\]|\S)+))?(?P<after>\s*)'
)


class PromptCommand(Frozen):
    """`name` is typed after the slash. The server's texts are unsanitized."""

    name: str
    server: ClientSession
    prompt: ServerPrompt

    @property
    def description(self) -> str:
        fallback = lazy("A prompt from MCP server {alias}", alias=self.server.alias)
        return self.prompt.description or self.prompt.title or fallback


class PromptCommands(Frozen):
    """Prompts with a name. `problems` says which have none, and why."""

    commands: tuple[PromptCommand, ...]
    problems: tuple[str, ...] = ()


def build_prompt_commands(
    offered: Iterable[tuple[ClientSession, ServerPrompt]], *, taken: Collection[str]
) -> PromptCommands:
    """Build the commands, sorted by server and prompt, independent of the order in which servers connect.

    A prompt whose name is `taken` by a command or shared by another prompt is called `<alias>_<prompt>`, or left out if
    that is ambiguous, too.
    """
    commands: list[PromptCommand] = []
    problems: list[str] = []
    usable: list[tuple[ClientSession, ServerPrompt, str]] = []
    for server, prompt in sorted(offered, key=lambda pair: (pair[0].alias, pair[1].name)):
        problem = own_name_problem(prompt.name)
        if problem is None:
            usable.append((server, prompt, re.sub(r"\s+", "-", prompt.name.strip())))
        else:
            left_out = lazy("Skipped a prompt from MCP server {alias}: {why}.", alias=server.alias, why=problem)
            problems.append(left_out)
    short = Counter(name for _, _, name in usable)
    whole = Counter(f"{server.alias}_{name}" for server, _, name in usable)
    for server, prompt, name in usable:
        if short[name] == 1 and name not in taken and name not in whole:
            commands.append(PromptCommand(name, server, prompt))
        elif whole[qualified := f"{server.alias}_{name}"] == 1 and qualified not in taken:
            commands.append(PromptCommand(qualified, server, prompt))
        else:
            left_out = lazy(
                'Skipped prompt "{name}" from MCP server {alias}: the name {qualified} is taken.',
                name=prompt.name,
                alias=server.alias,
                qualified=qualified,
            )
            problems.append(left_out)
    return PromptCommands(tuple(commands), tuple(problems))


async def expand_prompt(command: PromptCommand, arguments_text: str) -> tuple[Part, ...]:
    """Expand the prompt with these arguments to the parts of a user message. Raises BadPrompt."""
    arguments = parse_prompt_arguments(command.prompt, arguments_text)
    try:
        answer = await command.server.get_prompt(command.prompt.name, cast("JsonObject", arguments))
    except McpFailure as failure:
        message = lazy(
            "Could not get prompt /{name} from MCP server {alias}: {why}",
            name=command.name,
            alias=command.server.alias,
            why=failure.message,
        )
        raise BadPrompt(message) from failure
    return prompt_parts(answer, name=command.name)


def parse_prompt_arguments(prompt: ServerPrompt, arguments_text: str) -> Mapping[str, str]:
    """Parse the arguments after a command. Raises BadPrompt for missing and surplus ones.

    `--name="value"` and `--name=value` are named; other words fill the missing required arguments, then the optional
    ones. A single missing required argument takes all the rest as it was typed.
    """
    known = [argument.name for argument in prompt.arguments]
    arguments: dict[str, str] = {}
    words: list[re.Match[str]] = []
    for found in re.finditer(_ARGUMENT_PATTERN, arguments_text):
        name = found["name"]
        if name is None:
            words.append(found)
        elif name in known:
            arguments[name] = _unescape(found)
        else:
            message = lazy(
                'Unknown argument --{name}. Known: {names}. Quote it if it is part of the text: "--name=value".',
                name=name[:_MAX_MENTION_LENGTH],
                names=", ".join(f"--{each}" for each in known) or lazy("none"),
            )
            raise BadPrompt(message)
    needed = [each.name for each in prompt.arguments if each.is_required and each.name not in arguments]
    if len(needed) == 1 and words:
        blanks = [*(found["after"] for found in words[:-1]), ""]
        return {**arguments, needed[0]: "".join(map(add, map(_unescape, words), blanks))}
    open_ones = [each.name for each in prompt.arguments if not each.is_required and each.name not in arguments]
    arguments.update(zip([*needed, *open_ones], map(_unescape, words), strict=False))
    missing = [f"--{name}" for name in needed if name not in arguments]
    if missing:
        raise BadPrompt(lazy("Missing required argument(s): {names}", names=", ".join(missing)))
    left = words[len(needed) + len(open_ones) :]
    if left:
        shown = " ".join(map(_unescape, left))[:_MAX_MENTION_LENGTH]
        raise BadPrompt(lazy("Too many arguments: {shown}. Quote text that contains spaces.", shown=shown))
    return arguments


def _unescape(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        return re.sub(r'\\(["\\])', r"\1", found["quoted"])
    return re.sub(r'\\([\s"\\])', r"\1", found["plain"] or "")


def help_text(command: PromptCommand) -> str:
    """Return the sanitized help of the command."""
    if not command.prompt.arguments:
        return lazy("/{name} takes no arguments.", name=command.name)
    lines = [lazy("Arguments for /{name}:", name=command.name), ""]
    for argument in command.prompt.arguments:
        lines.append(f"  --{_line(argument.name)} ({'required' if argument.is_required else 'optional'})")
        if argument.description:
            lines.append(f"      {_line(argument.description)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return sanitize_summary(text[:_MAX_LINE_LENGTH])


def prompt_parts(answer: JsonObject, *, name: str) -> tuple[Part, ...]:
    """Convert the result of `prompts/get` to parts of one message. Raises BadPrompt if it is empty or too large.

    Roles are named only if both occur.
    """
    messages = answer.get("messages")
    given = [each for each in (messages if isinstance(messages, list) else []) if isinstance(each, Mapping)]
    contents = [_message_content(message) for message in given]
    try:
        blocks = iter(parse_content(list(chain.from_iterable(contents)), source=f"Prompt '{name}'"))
    except ContentTooLarge as error:
        raise BadPrompt(lazy("The prompt /{name} is too large: it contains {why}.", name=name, why=error)) from error
    both_speak = all(any(message.get("role") == role for message in given) for role in ("user", "assistant"))
    parts: list[Part] = []
    for message, content in zip(given, contents, strict=True):
        pieces = [piece for block in islice(blocks, len(content)) for piece in block.pieces]
        if both_speak and pieces:
            parts.append(Text("Assistant:" if message.get("role") == "assistant" else "User:"))
        # Services reject empty parts.
        parts += [part for piece in pieces if (part := _to_part(piece)) != Text("")]
    if not parts:
        raise BadPrompt(lazy("The prompt /{name} is empty.", name=name))
    size = sum(len(part.text) for part in parts if isinstance(part, Text))
    if size > MAX_CHARACTERS:
        raise BadPrompt(
            lazy(
                "The prompt /{name} is too large: {size} characters (limit: {most}).",
                name=name,
                size=size,
                most=MAX_CHARACTERS,
            )
        )
    return tuple(parts)


def _message_content(message: JsonObject) -> Sequence[JsonValue]:
    """Return the blocks of a message; older servers send several."""
    content = message.get("content")
    return content if isinstance(content, list) else [content]


def _to_part(piece: ContentPiece) -> Part:
    return piece if isinstance(piece, InlineData) else Text(piece.text)
