"""Prompts of servers as slash commands: what they are called, the arguments typed behind them, what they come to."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
from operator import add
from typing import cast

from tejat.core.errors import BadPrompt
from tejat.core.types import InlineData, JsonObject, JsonValue, Part, Text
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.blocks import Piece, TooLarge, read_blocks
from tejat.mcp.failures import McpFailure
from tejat.mcp.names import own_name_problem
from tejat.mcp.values import Server, ServerPrompt

MOST_CHARACTERS = 2**20
"""Of the text that one prompt comes to."""

HELP = "help"
"""What is typed behind a command to see its arguments."""

_LONGEST_LINE = 500
_LONGEST_MENTION = 200
# Within quotes a backslash keeps a quote or a backslash; outside of them also a blank.
_TYPED = (
    r'(?s)(?<!\S)(?=\S)(?:--(?P<name>[^\s="]+)=)?'
    r'(?:"(?P<quoted>(?:\\.|[^"\\])*)"(?=\s|\Z)|(?P<plain>(?:\\[\s"\\]|\S)+))?(?P<after>\s*)'
)


@value
class PromptCommand:
    """`name` is what is typed behind the slash. What the server says about it is not made fit to be shown."""

    name: str
    server: Server
    prompt: ServerPrompt

    @property
    def description(self) -> str:
        return (
            self.prompt.description
            or self.prompt.title
            or phrase("A prompt of MCP server {alias}", alias=self.server.alias)
        )


@value
class PromptCommands:
    """The prompts that have a name. `problems` tells which have none, and why."""

    commands: tuple[PromptCommand, ...]
    problems: tuple[str, ...] = ()


def prompt_commands(offered: Iterable[tuple[Server, ServerPrompt]], *, taken: Collection[str]) -> PromptCommands:
    """The commands that prompts become, by server and prompt, whatever the order in which servers connected.

    One whose name is `taken` by another command, or shared by another prompt, is called `<alias>_<prompt>`. Where that
    does not help either it is left out.
    """
    commands: list[PromptCommand] = []
    problems: list[str] = []
    usable: list[tuple[Server, ServerPrompt, str]] = []
    for server, prompt in sorted(offered, key=lambda pair: (pair[0].alias, pair[1].name)):
        problem = own_name_problem(prompt.name)
        if problem is None:
            usable.append((server, prompt, _hyphened(prompt.name)))
        else:
            problems.append(
                phrase("A prompt of MCP server {alias} was left out: {why}.", alias=server.alias, why=problem)
            )
    short = Counter(name for _, _, name in usable)
    whole = Counter(f"{server.alias}_{name}" for server, _, name in usable)
    for server, prompt, name in usable:
        if short[name] == 1 and name not in taken and name not in whole:
            commands.append(PromptCommand(name, server, prompt))
        elif whole[qualified := f"{server.alias}_{name}"] == 1 and qualified not in taken:
            commands.append(PromptCommand(qualified, server, prompt))
        else:
            problems.append(
                phrase(
                    'The prompt "{name}" of MCP server {alias} was left out: another command is called {qualified}, '
                    "too.",
                    name=prompt.name,
                    alias=server.alias,
                    qualified=qualified,
                )
            )
    return PromptCommands(tuple(commands), tuple(problems))


def _hyphened(name: str) -> str:
    return re.sub(r"\s+", "-", name.strip())


async def fill_in(command: PromptCommand, typed: str) -> tuple[Part, ...]:
    """What the prompt comes to with these arguments, for the message of the person. Raises BadPrompt."""
    arguments = arguments_of(command.prompt, typed)
    try:
        answer = await command.server.get_prompt(command.prompt.name, cast("JsonObject", arguments))
    except McpFailure as failure:
        told = phrase(
            "The prompt /{name} of MCP server {alias} cannot be had: {why}",
            name=command.name,
            alias=command.server.alias,
            why=failure.message,
        )
        raise BadPrompt(told) from failure
    return prompt_parts(answer, name=command.name)


def arguments_of(prompt: ServerPrompt, typed: str) -> Mapping[str, str]:
    """The arguments that were typed behind a command. Raises BadPrompt that says what is missing or too much.

    `--name="value"` and `--name=value` name theirs; the rest fills what is still needed, word by word, and then what
    may be left out. Where just one argument is still needed it takes all the rest, as it was typed.
    """
    known = [argument.name for argument in prompt.arguments]
    arguments: dict[str, str] = {}
    words: list[re.Match[str]] = []
    for found in re.finditer(_TYPED, typed):
        name = found["name"]
        if name is None:
            words.append(found)
        elif name in known:
            arguments[name] = _meant(found)
        else:
            raise BadPrompt(
                phrase(
                    "There is no argument --{name}; known are: {names}. Put it in quotes if it is part of a text: "
                    '"--name=value".',
                    name=name[:_LONGEST_MENTION],
                    names=", ".join(f"--{each}" for each in known) or phrase("none"),
                )
            )
    needed = [each.name for each in prompt.arguments if each.is_required and each.name not in arguments]
    if len(needed) == 1 and words:
        blanks = [*(found["after"] for found in words[:-1]), ""]
        return {**arguments, needed[0]: "".join(map(add, map(_meant, words), blanks))}
    open_ones = [each.name for each in prompt.arguments if not each.is_required and each.name not in arguments]
    arguments.update(zip([*needed, *open_ones], map(_meant, words), strict=False))
    missing = [f"--{name}" for name in needed if name not in arguments]
    if missing:
        raise BadPrompt(phrase("Missing required argument(s): {names}", names=", ".join(missing)))
    left = words[len(needed) + len(open_ones) :]
    if left:
        shown = " ".join(map(_meant, left))[:_LONGEST_MENTION]
        raise BadPrompt(phrase("Too many arguments: {shown}. Put quotes around a text of several words.", shown=shown))
    return arguments


def _meant(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        return re.sub(r'\\(["\\])', r"\1", found["quoted"])
    return re.sub(r'\\([\s"\\])', r"\1", found["plain"] or "")


def help_text(command: PromptCommand) -> str:
    """What can be typed behind the command, fit to be shown."""
    if not command.prompt.arguments:
        return phrase("/{name} takes no arguments.", name=command.name)
    lines = [phrase("Arguments of /{name}:", name=command.name), ""]
    for argument in command.prompt.arguments:
        lines.append(f"  --{_line(argument.name)} ({'required' if argument.is_required else 'optional'})")
        if argument.description:
            lines.append(f"      {_line(argument.description)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(visible(text[:_LONGEST_LINE]).split())


def prompt_parts(answer: JsonObject, *, name: str) -> tuple[Part, ...]:
    """The answer to `prompts/get` as parts of one message. Raises BadPrompt if there is nothing in it, or too much.

    Everything that its messages hold is in them. Who is meant to speak is told only where both sides do.
    """
    messages = answer.get("messages")
    given = [each for each in (messages if isinstance(messages, list) else []) if isinstance(each, Mapping)]
    contents = [_content_of(message) for message in given]
    try:
        blocks = iter(read_blocks(list(chain.from_iterable(contents)), giver=f"Prompt '{name}'"))
    except TooLarge as error:
        raise BadPrompt(phrase("The prompt /{name} is too large: it holds {why}.", name=name, why=error)) from error
    both_speak = all(any(message.get("role") == role for message in given) for role in ("user", "assistant"))
    parts: list[Part] = []
    for message, content in zip(given, contents, strict=True):
        said = [piece for block in islice(blocks, len(content)) for piece in block.pieces]
        if both_speak and said:
            parts.append(Text("Assistant:" if message.get("role") == "assistant" else "User:"))
        # No service likes a part without words.
        parts += [part for piece in said if (part := _part(piece)) != Text("")]
    if not parts:
        raise BadPrompt(phrase("The prompt /{name} came back empty.", name=name))
    size = sum(len(part.text) for part in parts if isinstance(part, Text))
    if size > MOST_CHARACTERS:
        raise BadPrompt(
            phrase(
                "The prompt /{name} is too large: {size} characters, and at most {most} are taken.",
                name=name,
                size=size,
                most=MOST_CHARACTERS,
            )
        )
    return tuple(parts)


def _content_of(message: JsonObject) -> Sequence[JsonValue]:
    """One block, or by older servers several."""
    content = message.get("content")
    return content if isinstance(content, list) else [content]


def _part(piece: Piece) -> Part:
    return piece if isinstance(piece, InlineData) else Text(piece.text)
