"""Files of a folder that could start a process, set a variable or change a rule, with digests."""

import hashlib
import os
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tejat.config.env_file import find_env_file, parse_env
from tejat.config.jsonc import JsoncError, parse_jsonc
from tejat.config.paths import PROJECT_SETTINGS, AppPaths, same_directory
from tejat.config.trust.command_files import CommandSpec, find_command_files, unpinned_reason
from tejat.config.trust.definitions import AGENT, SKILL, DefinitionDetails, agent_servers, find_definition_files
from tejat.config.trust.store import TrustItem
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.workspace.files.regular_file import regular_file_opener

if TYPE_CHECKING:
    from tejat.config.jsonc import JsonNode

SANDBOX_DOCKERFILE = ".gemini/sandbox.Dockerfile"
MAX_ITEMS = 2000
MAX_BYTES = 512 * 2**20


def scan_trust_items(paths: AppPaths, root: str) -> tuple[TrustItem, ...]:
    """Find the files that need trust; none where the files are the user's own.

    Raises UsageError if that cannot be determined: there are too many, or a file belongs to another user.
    """
    if any(same_directory(root, home) for home in paths.homes):
        return ()
    items = {item.path: item for item in _scan_files(paths, root)}
    agents = [item.path for item in items.values() if item.kind == AGENT and item.servers]
    for path in _find_scripts(root, agents, _env_file_variables(paths, root)):
        if path not in items and (item := _item(root, path, "script")):
            items[path] = item
    return tuple(items[path] for path in sorted(items))


def _scan_files(paths: AppPaths, root: str) -> Iterator[TrustItem]:
    named = [(path, "settings") for path in _SETTINGS]
    named.append((SANDBOX_DOCKERFILE, "image"))
    environment = find_env_file(paths, root)
    if environment and not environment.is_user_file:
        named.append((os.path.relpath(environment.path, os.path.realpath(root)), "environment file"))
    for directory, ending, what in _DIRECTORIES:
        named += [(path, what) for path in _list_files(root, directory, ending)]
    named += find_definition_files(paths, root)
    for path, what in named:
        if item := _item(root, path, what):
            yield item


def _env_file_variables(paths: AppPaths, root: str) -> dict[str, str]:
    """The variables in the folder's own .env file, which its settings may refer to."""
    file = find_env_file(paths, root)
    if file is None or file.is_user_file:
        return {}
    try:
        with open(file.path, "rb", opener=regular_file_opener) as opened:
            return parse_env(opened.read(_CHUNK_SIZE).decode("utf-8", errors="replace"))
    except OSError:
        return {}


def _list_files(root: str, directory: str, ending: str) -> list[str]:
    """All files with this suffix at any depth, links followed, each directory once."""
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
            path, reason = os.path.join(root, here), error.strerror
            raise UsageError(_("Could not read {path}: {reason}.", path=path, reason=reason)) from error
        seen.add((status.st_dev, status.st_ino))
        for name in names:
            path = f"{here}/{name}"
            if os.path.isdir(os.path.join(root, path)):
                waiting.append(path)
            elif name.endswith(ending):
                found.append(path)
        if len(found) + len(seen) + len(waiting) > MAX_ITEMS:
            top = os.path.join(root, directory)
            raise UsageError(_("{path} contains more than {most} files.", path=top, most=MAX_ITEMS))
    return found


def _item(root: str, path: str, what: str) -> TrustItem | None:
    """The file as it is now, None if it does not exist. An unreadable or special file is pinned as such."""
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
            raise UsageError(_("{path} belongs to another user (uid {owner}).", path=absolute, owner=status.st_uid))
        if not stat.S_ISREG(status.st_mode):
            return TrustItem(path, what, "no regular file")
        digest, start = _digest(descriptor, absolute)
    except OSError as error:
        return TrustItem(path, what, f"unreadable: {error.strerror}")
    finally:
        os.close(descriptor)
    if what in (SKILL, AGENT):
        servers = len(agent_servers(start)) if what == AGENT else 0
        return TrustItem(path, what, digest, DefinitionDetails(what, absolute, start), servers)
    servers, hooks = _count_programs(start) if what == "settings" else (0, 0)
    return TrustItem(path, what, digest, tuple(_describe(what, start)), servers, hooks)


def _digest(descriptor: int, path: str) -> tuple[str, bytes]:
    """The digest of the whole file, and its beginning, for the description."""
    digest, start, size = hashlib.sha256(), b"", 0
    while piece := os.read(descriptor, _CHUNK_SIZE):
        start = start or piece
        size += len(piece)
        if size > MAX_BYTES:
            raise UsageError(_("{path} is larger than {megabytes} MiB.", path=path, megabytes=MAX_BYTES // 2**20))
        digest.update(piece)
    return digest.hexdigest(), start


def _describe(what: str, content: bytes) -> Iterator[str]:
    text = content.decode("utf-8", errors="replace")
    if what == "tool":
        yield _("runs inside this program, outside any sandbox")
    elif what == "image":
        yield _("defines how the sandbox image is built")
    elif what == "environment file":
        names = sorted(parse_env(text))
        if names:
            yield _("sets {names}", names=", ".join(names))
    elif what == "settings":
        try:
            top = parse_jsonc(text)
        except JsoncError as error:
            yield _("cannot be read: {error}", error=error)
            return
        for command in _find_commands(top):
            yield _("{name} runs: {command}", name=command.name, command=command.display)
            if why := unpinned_reason(command.spec):
                yield _("{name} is not pinned: {why}", name=command.name, why=why)
        for name, address in _find_urls(top):
            yield _("{name} connects to: {address}", name=name, address=address)
        if names := _setting_names(top):
            yield _("sets {names}", names=", ".join(names))


def _count_programs(content: bytes) -> tuple[int, int]:
    """The numbers of MCP servers and hooks in settings, 0 if they cannot be read."""
    try:
        top = parse_jsonc(content.decode("utf-8", errors="replace")).value
    except JsoncError:
        return 0, 0
    members = top if isinstance(top, dict) else {}
    servers, hooks = members.get("mcpServers"), members.get("hooks")
    named = servers.value if servers is not None else None
    return len(named) if isinstance(named, dict) else 0, 0 if hooks is None else len(list(_find_commands(hooks)))


def _setting_names(node: "JsonNode", name: str = "") -> list[str]:
    """The full names of settings; servers and hooks are not listed one by one."""
    if not isinstance(node.value, dict) or name in ("mcpServers", "hooks"):
        return [name] if name else []
    inner = (_setting_names(member, f"{name}.{key}" if name else key) for key, member in node.value.items())
    return [each for names in inner for each in names]


def _find_scripts(root: str, agents: Sequence[str], variables: Mapping[str, str]) -> set[str]:
    """The files in the folder that commands of settings and agents refer to. Files that those load are not known."""
    seen: set[str] = set()
    for path in (os.path.join(root, name) for name in (*_SETTINGS, *agents)):
        is_agent = path.endswith(".md")
        for command in _read_agent_commands(path) if is_agent else _read_commands(path):
            seen.update(find_command_files(command, root, variables))
            if len(seen) > MAX_ITEMS:
                raise UsageError(_("{path} refers to more than {most} files.", path=path, most=MAX_ITEMS))
    return seen


class _ConfiguredCommand(NamedTuple):
    """A command and the name of its setting."""

    name: str
    spec: CommandSpec

    @property
    def display(self) -> str:
        """The command in shell syntax, with its directory and variables."""
        command = self.spec
        words = " ".join(filter(None, (command.line, shlex.join(command.arguments))))
        variables = ", ".join(f"{name}={given}" for name, given in command.environment.items())
        if command.directory:
            words += " " + _("(in {directory})", directory=command.directory)
        return words + " " + _("(with {variables})", variables=variables) if variables else words


def _read_commands(path: str) -> list[CommandSpec]:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            top = parse_jsonc(file.read(_CHUNK_SIZE).decode("utf-8", errors="replace"))
    except (OSError, JsoncError):
        return []
    return [command.spec for command in _find_commands(top)]


def _read_agent_commands(path: str) -> list[CommandSpec]:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            return list(agent_servers(file.read(_CHUNK_SIZE)).values())
    except OSError:
        return []


def _find_commands(node: "JsonNode", name: str = "") -> Iterator[_ConfiguredCommand]:
    """Every `command` with its arguments, and every setting whose name ends so."""
    if isinstance(node.value, list):
        for item in node.value:
            yield from _find_commands(item, name)
    if not isinstance(node.value, dict):
        return
    for key, member in node.value.items():
        inner = f"{name}.{key}" if name else key
        if isinstance(member.value, str | list) and key.lower().endswith("command"):
            line = member.value if isinstance(member.value, str) else ""
            arguments = [*_strings(member), *_strings(node.value.get("args"))]
            is_entry = key == "command"
            named = CommandSpec(
                line,
                arguments,
                _string(node.value.get("cwd")) if is_entry else "",
                _string_members(node.value.get("env")) if is_entry else {},
            )
            yield _ConfiguredCommand((name or key) if is_entry else inner, named)
        yield from _find_commands(member, inner)


def _find_urls(node: "JsonNode", name: str = "") -> Iterator[tuple[str, str]]:
    if not isinstance(node.value, dict):
        return
    for key, member in node.value.items():
        if isinstance(member.value, str) and key in ("url", "httpUrl"):
            yield name, member.value
        yield from _find_urls(member, f"{name}.{key}" if name else key)


def _strings(node: "JsonNode | None") -> list[str]:
    if node is None or not isinstance(node.value, list):
        return []
    return [item.value for item in node.value if isinstance(item.value, str)]


def _string(node: "JsonNode | None") -> str:
    return node.value if node is not None and isinstance(node.value, str) else ""


def _string_members(node: "JsonNode | None") -> dict[str, str]:
    if node is None or not isinstance(node.value, dict):
        return {}
    return {name: member.value for name, member in node.value.items() if isinstance(member.value, str)}


_SETTINGS = (PROJECT_SETTINGS, ".mcp.json")
_DIRECTORIES = (
    (".gemini/policies", ".toml", "policy"),
    (".gemini/commands", ".toml", "command"),
    (".gemini/tools", ".py", "tool"),
)
_CHUNK_SIZE = 2**20
