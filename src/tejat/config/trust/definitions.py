"""Skills and agents of a project: the files that need trust, and what they say."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import overload

from tejat.config.front_matter import FrontMatter, FrontMatterError, parse_front_matter
from tejat.config.paths import AGENT_DIRECTORIES, SKILL_DIRECTORIES, SKILL_FILE, AppPaths, project_directories
from tejat.config.trust.command_files import CommandSpec
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.messages.types import JsonValue
from tejat.core.text.paths import is_beneath

SKILL = "skill"
SKILL_CONTENT = "skill file"
AGENT = "agent"

MAX_SKILL_FILES = 2000
"""Files and directories of one skill."""
MAX_SKILLS = 500

_SERVER_KEYS = ("mcp_servers", "mcpServers")
_MAX_NAMED = 8


def find_definition_files(paths: AppPaths, root: str) -> Iterator[tuple[str, str]]:
    """The files of skills and agents by path relative to the root, with their kinds.

    Links that lead out of the project are not followed. Raises UsageError if there are too many files.
    """
    directories = project_directories(root, paths.homes)
    top = os.path.realpath(directories[-1])
    for directory in directories:
        prefix = "" if directory is directories[0] else os.path.relpath(directory, os.path.realpath(root)) + "/"
        for name in SKILL_DIRECTORIES:
            for skill in _skill_directories(root, f"{prefix}{name}", top):
                yield from _skill_files(root, skill, top)
    for name in AGENT_DIRECTORIES:
        for entry in _entries(os.path.join(root, name)):
            if entry.name.endswith(".md"):
                yield f"{name}/{entry.name}", AGENT


def _skill_directories(root: str, directory: str, top: str) -> Iterator[str]:
    """The directories with a SKILL.md: this one, or those in it."""
    place = os.path.join(root, directory)
    if os.path.islink(place) and not is_beneath(os.path.realpath(place), top):
        return
    entries = _entries(place)
    if any(entry.name == SKILL_FILE for entry in entries):
        yield directory
        return
    found = 0
    for entry in entries:
        if not os.path.lexists(os.path.join(entry.path, SKILL_FILE)):
            continue
        if entry.is_symlink() and not is_beneath(os.path.realpath(entry.path), top):
            continue
        found += 1
        if found > MAX_SKILLS:
            raise UsageError(_("{path} contains more than {most} skills.", path=place, most=MAX_SKILLS))
        yield f"{directory}/{entry.name}"


def _skill_files(root: str, skill: str, top: str) -> Iterator[tuple[str, str]]:
    """All files of a skill, scripts included, but not what its version control keeps."""
    waiting, seen = [skill], set[str]()
    count = 0
    while waiting:
        here = waiting.pop()
        real = os.path.realpath(os.path.join(root, here))
        if real in seen or not is_beneath(real, top):
            continue
        seen.add(real)
        for entry in _entries(os.path.join(root, here)):
            count += 1
            if count > MAX_SKILL_FILES:
                path = os.path.join(root, skill)
                raise UsageError(_("{path} contains more than {most} files.", path=path, most=MAX_SKILL_FILES))
            path = f"{here}/{entry.name}"
            if entry.is_dir():
                if entry.name != ".git":
                    waiting.append(path)
            elif not entry.is_symlink() or is_beneath(os.path.realpath(entry.path), top):
                yield path, SKILL if path == f"{skill}/{SKILL_FILE}" else SKILL_CONTENT


def _entries(directory: str) -> "list[os.DirEntry[str]]":
    """The entries of a directory by name, none if it does not exist. Raises UsageError."""
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UsageError(_("Could not read {path}: {reason}.", path=directory, reason=error.strerror)) from error


class DefinitionDetails(Sequence[str]):
    """What a skill or an agent says, for the user. Parsed when it is shown: most runs only compare digests."""

    def __init__(self, kind: str, path: str, content: bytes) -> None:
        self._kind = kind
        self._path = path
        self._content = content

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        parsed = _parse(self._content)
        if isinstance(parsed, str):
            return (_("cannot be read: {error}", error=parsed),)
        return tuple(_describe_skill(parsed, self._path) if self._kind == SKILL else _describe_agent(parsed))

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)


def agent_servers(content: bytes) -> Mapping[str, CommandSpec]:
    """The commands of the MCP servers that an agent brings, by name; an address has no command."""
    if not any(key.encode() in content for key in _SERVER_KEYS):
        return {}
    parsed = _parse(content)
    return {} if isinstance(parsed, str) else {name: _command_spec(entry) for name, entry in _servers(parsed).items()}


def _parse(content: bytes) -> FrontMatter | str:
    try:
        return parse_front_matter(content.decode("utf-8", errors="replace"))
    except FrontMatterError as error:
        return str(error)


def _describe_skill(parsed: FrontMatter, path: str) -> Iterator[str]:
    if description := parsed.text("description"):
        yield description
    if tools := _names(parsed.fields.get("allowed-tools")):
        yield _("asks for the tools {names}", names=", ".join(tools))
    scripts = [entry.name for entry in _entries(os.path.join(os.path.dirname(path), "scripts")) if _is_file(entry)]
    if scripts:
        more = ", ..." if len(scripts) > _MAX_NAMED else ""
        yield _("has the scripts {names}", names=", ".join(scripts[:_MAX_NAMED]) + more)


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False


def _describe_agent(parsed: FrontMatter) -> Iterator[str]:
    if description := parsed.text("description"):
        yield description
    tools = parsed.fields.get("tools")
    if tools is None:
        yield _("may use all tools")
    elif names := _names(tools, separator=","):
        yield _("may use the tools {names}", names=", ".join(names))
    if model := parsed.text("model"):
        yield _("uses the model {name}", name=model)
    for name, entry in _servers(parsed).items():
        spec = _command_spec(entry)
        if spec.line:
            yield _("{name} runs: {command}", name=name, command=" ".join((spec.line, *spec.arguments)))
        for key in ("url", "http_url", "httpUrl", "tcp"):
            if isinstance(address := entry.get(key), str):
                yield _("{name} connects to: {address}", name=name, address=address)


def _names(value: JsonValue, *, separator: str | None = None) -> list[str]:
    """The names in a list, or in a text with a separator between them."""
    if isinstance(value, str):
        return [name.strip() for name in value.split(separator) if name.strip()]
    return [name for name in value if isinstance(name, str)] if isinstance(value, Sequence) else []


def _servers(parsed: FrontMatter) -> dict[str, Mapping[str, JsonValue]]:
    found: dict[str, Mapping[str, JsonValue]] = {}
    for key in _SERVER_KEYS:
        servers = parsed.fields.get(key)
        if isinstance(servers, Mapping):
            found |= {name: entry for name, entry in servers.items() if isinstance(entry, Mapping)}
    return found


def _command_spec(entry: Mapping[str, JsonValue]) -> CommandSpec:
    command, directory, variables = entry.get("command"), entry.get("cwd"), entry.get("env")
    return CommandSpec(
        command if isinstance(command, str) else "",
        _names(entry.get("args")),
        directory if isinstance(directory, str) else "",
        {name: value for name, value in variables.items() if isinstance(value, str)}
        if isinstance(variables, Mapping)
        else {},
    )
