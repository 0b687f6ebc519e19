"""What a folder brings along that could start a process, set a variable or change a rule, and a digest of each."""

import hashlib
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tejat.config.env_file import find_environment_file, parse
from tejat.config.json_with_comments import BadJson, read_json
from tejat.config.named_files import NamedCommand, files_named
from tejat.config.places import Places
from tejat.config.settings_file import is_same_directory
from tejat.config.trust_store import TrustItem
from tejat.core.errors import UsageError
from tejat.core.words import say
from tejat.workspace.regular_file import without_waiting

if TYPE_CHECKING:
    from tejat.config.json_with_comments import Node

MAX_ITEMS = 2000
MAX_BYTES = 512 * 2**20


def find_items(places: Places, root: str) -> tuple[TrustItem, ...]:
    """What the folder brings along, nothing where its files are the person's own.

    Raises UsageError where that cannot be known: there is too much of it, or a file belongs to another user.
    """
    if any(is_same_directory(root, home) for home in (places.home, os.path.dirname(places.gemini))):
        return ()
    items = {item.path: item for item in _items_of_files(places, root)}
    for path in _scripts(root, _variables(places, root)):
        if path not in items and (item := _item(root, path, "script")):
            items[path] = item
    return tuple(items[path] for path in sorted(items))


def _items_of_files(places: Places, root: str) -> Iterator[TrustItem]:
    named = [(path, "settings") for path in _SETTINGS]
    environment = find_environment_file(places, root)
    if environment and not environment.is_own:
        named.append((os.path.relpath(environment.path, os.path.realpath(root)), "environment file"))
    for directory, ending, what in _DIRECTORIES:
        named += [(path, what) for path in _files_below(root, directory, ending)]
    for path, what in named:
        if item := _item(root, path, what):
            yield item


def _variables(places: Places, root: str) -> dict[str, str]:
    """What the folder's own environment file sets: its settings may refer to that."""
    file = find_environment_file(places, root)
    if file is None or file.is_own:
        return {}
    try:
        with open(file.path, "rb", opener=without_waiting) as opened:
            return parse(opened.read(_PIECE).decode("utf-8", errors="replace"))
    except OSError:
        return {}


def _files_below(root: str, directory: str, ending: str) -> list[str]:
    """Every file with this ending in there at any depth, links followed, each directory once."""
    found: list[str] = []
    seen: set[tuple[int, int]] = set()
    waiting = [directory]
    while waiting:
        here = waiting.pop()
        try:
            status = os.stat(os.path.join(root, here))
            names = os.listdir(os.path.join(root, here)) if (status.st_dev, status.st_ino) not in seen else []
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise UsageError(
                say("Cannot look into {path}: {reason}.", path=os.path.join(root, here), reason=error.strerror)
            ) from error
        seen.add((status.st_dev, status.st_ino))
        for name in names:
            path = f"{here}/{name}"
            if os.path.isdir(os.path.join(root, path)):
                waiting.append(path)
            elif name.endswith(ending):
                found.append(path)
        if len(found) + len(seen) + len(waiting) > MAX_ITEMS:
            raise UsageError(
                say(
                    "{path} holds more than {most} files.",
                    path=os.path.join(root, directory),
                    most=MAX_ITEMS,
                )
            )
    return found


def _item(root: str, path: str, what: str) -> TrustItem | None:
    """The file as it is now, None if there is none. What is no file, or cannot be read, is known by that."""
    absolute = os.path.join(root, path)
    try:
        descriptor = os.open(absolute, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return TrustItem(path, what, f"unreadable: {error.strerror}")
    try:
        status = os.fstat(descriptor)
        if status.st_uid not in (0, os.geteuid()):
            raise UsageError(
                say("{path} belongs to another user (number {owner}).", path=absolute, owner=status.st_uid)
            )
        if not stat.S_ISREG(status.st_mode):
            return TrustItem(path, what, "no regular file")
        digest, start = _digest(descriptor, absolute)
    except OSError as error:
        return TrustItem(path, what, f"unreadable: {error.strerror}")
    finally:
        os.close(descriptor)
    return TrustItem(path, what, digest, tuple(_words_of(what, start)))


def _digest(descriptor: int, path: str) -> tuple[str, bytes]:
    """The digest of the whole file, and as much of its content as it takes to tell what it says."""
    digest, start, size = hashlib.sha256(), b"", 0
    while piece := os.read(descriptor, _PIECE):
        start = start or piece
        size += len(piece)
        if size > MAX_BYTES:
            raise UsageError(say("{path} is longer than {megabytes} MiB.", path=path, megabytes=MAX_BYTES // 2**20))
        digest.update(piece)
    return digest.hexdigest(), start


def _words_of(what: str, content: bytes) -> Iterator[str]:
    text = content.decode("utf-8", errors="replace")
    if what == "tool":
        yield say("runs inside this program, outside of any sandbox")
    elif what == "environment file":
        names = sorted(parse(text))
        if names:
            yield say("sets {names}", names=", ".join(names))
    elif what == "settings":
        try:
            top = read_json(text)
        except BadJson as error:
            yield say("cannot be read: {error}", error=error)
            return
        for command in _commands(top):
            yield say("{name} runs: {command}", name=command.name, command=command.shown)
        for name, address in _addresses(top):
            yield say("{name} connects to: {address}", name=name, address=address)
        if names := _names(top):
            yield say("sets {names}", names=", ".join(names))


def _names(node: "Node", name: str = "") -> list[str]:
    """What the settings set, by full name; of servers and hooks only that there are any."""
    if not isinstance(node.value, dict) or name in ("mcpServers", "hooks"):
        return [name] if name else []
    inner = (_names(member, f"{name}.{key}" if name else key) for key, member in node.value.items())
    return [each for names in inner for each in names]


def _scripts(root: str, variables: Mapping[str, str]) -> set[str]:
    """The files inside the folder that its settings name in a command. What those load in turn is not known."""
    seen: set[str] = set()
    for path in _SETTINGS:
        for command in _commands_in(os.path.join(root, path)):
            seen.update(files_named(command.named, root, variables))
            if len(seen) > MAX_ITEMS:
                raise UsageError(
                    say(
                        "{path} names more than {most} files.",
                        path=os.path.join(root, path),
                        most=MAX_ITEMS,
                    )
                )
    return seen


class _Command(NamedTuple):
    """What would be run, by the name it stands under."""

    name: str
    named: NamedCommand

    @property
    def shown(self) -> str:
        """The command as a shell would take it, and what changes the meaning of it."""
        command = self.named
        words = " ".join(filter(None, (command.line, shlex.join(command.arguments))))
        variables = ", ".join(f"{name}={given}" for name, given in command.environment.items())
        if command.directory:
            words += " " + say("(in {directory})", directory=command.directory)
        return f"{words} {say('(with {variables})', variables=variables)}" if variables else words


def _commands_in(path: str) -> list[_Command]:
    try:
        with open(path, "rb", opener=without_waiting) as file:
            top = read_json(file.read(_PIECE).decode("utf-8", errors="replace"))
    except (OSError, BadJson):
        return []
    return list(_commands(top))


def _commands(node: "Node", name: str = "") -> Iterator[_Command]:
    """Any `command` with its arguments, and commands by name, each of them a line or a list."""
    if isinstance(node.value, list):
        for item in node.value:
            yield from _commands(item, name)
    if not isinstance(node.value, dict):
        return
    for key, member in node.value.items():
        inner = f"{name}.{key}" if name else key
        if isinstance(member.value, str | list) and key.lower().endswith("command"):
            line = member.value if isinstance(member.value, str) else ""
            arguments = [*_texts(member), *_texts(node.value.get("args"))]
            is_entry = key == "command"
            named = NamedCommand(
                line,
                arguments,
                _text(node.value.get("cwd")) if is_entry else "",
                _members(node.value.get("env")) if is_entry else {},
            )
            yield _Command((name or key) if is_entry else inner, named)
        yield from _commands(member, inner)


def _addresses(node: "Node", name: str = "") -> Iterator[tuple[str, str]]:
    if not isinstance(node.value, dict):
        return
    for key, member in node.value.items():
        if isinstance(member.value, str) and key in ("url", "httpUrl"):
            yield name, member.value
        yield from _addresses(member, f"{name}.{key}" if name else key)


def _texts(node: "Node | None") -> list[str]:
    if node is None or not isinstance(node.value, list):
        return []
    return [item.value for item in node.value if isinstance(item.value, str)]


def _text(node: "Node | None") -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _members(node: "Node | None") -> dict[str, str]:
    """What is no text is no path either."""
    if node is None or not isinstance(node.value, dict):
        return {}
    return {name: member.value for name, member in node.value.items() if isinstance(member.value, str)}


_SETTINGS = (".gemini/settings.json", ".mcp.json")
_DIRECTORIES = (
    (".gemini/policies", ".toml", "policy"),
    (".gemini/commands", ".toml", "command"),
    (".gemini/tools", ".py", "tool"),
)
_PIECE = 2**20
