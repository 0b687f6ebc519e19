"""What an extension brings, read from its directory without running anything."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

from tejat.config.extensions.active import fill_places
from tejat.config.extensions.install_record import INSTALL_RECORD
from tejat.config.extensions.manifest import ExtensionManifest
from tejat.config.extensions.pins import HOOKS_FILE, SETTINGS_FILE
from tejat.config.extensions.variables import ExtensionVariables
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.config.front_matter import FrontMatterError, parse_front_matter
from tejat.config.hooks import HookConfig, parse_hooks
from tejat.config.paths import SourceTier
from tejat.config.settings.types import McpServer, Setting
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonValue
from tejat.policy.errors import PolicyError
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.types import PolicyRule, Tier
from tejat.workspace.downloads.tree import walk_tree

_KINDS_OF_REMOTE_AGENTS = ("remote", "a2a")


class ContextText(Frozen):
    """A context file by relative path, and the tokens it costs in every request."""

    name: str
    tokens: int


class DescribedFile(Frozen):
    """A skill or an agent: its name and description, and the tokens of its entry in the catalogue and of its body.

    `files` counts the other files in the directory of a skill.
    """

    name: str
    description: str
    path: str
    catalogue_tokens: int
    body_tokens: int
    files: int = 0
    tools: tuple[str, ...] = ()


class ExtensionContents(Frozen):
    """Everything that an extension declares. `problems` are sentences about what cannot be read.

    Variables in servers and hooks are filled in as far as they are places; values of settings are not.
    """

    path: str
    manifest: ExtensionManifest
    servers: Mapping[str, McpServer]
    hooks: tuple[HookConfig, ...]
    context: tuple[ContextText, ...]
    commands: tuple[str, ...]
    skills: tuple[DescribedFile, ...]
    agents: tuple[DescribedFile, ...]
    rules: tuple[PolicyRule, ...]
    remote_agents: tuple[str, ...]
    files: int
    bytes: int
    problems: tuple[str, ...]

    @property
    def context_tokens(self) -> int:
        return sum(text.tokens for text in self.context)

    @property
    def skill_tokens(self) -> int:
        return sum(skill.catalogue_tokens for skill in self.skills)

    @property
    def agent_tokens(self) -> int:
        return sum(agent.catalogue_tokens for agent in self.agents)

    @property
    def tokens(self) -> int:
        """Tokens for every request, as far as they are known before servers have started."""
        return self.context_tokens + self.skill_tokens + self.agent_tokens


def read_contents(
    path: str, manifest: ExtensionManifest, *, workspace: str, place: str | None = None
) -> ExtensionContents:
    """Read the extension in `path`. `place` is where it will be, if that is another directory.

    Raises ConfigurationError for a server that cannot be understood; what is wrong with files is in the problems.
    """
    return _Reader(path, manifest, workspace, place or path).read()


class _Reader:
    def __init__(self, path: str, manifest: ExtensionManifest, workspace: str, place: str) -> None:
        self._path = path
        self._manifest = manifest
        self._variables = ExtensionVariables(place, workspace)
        self._problems: list[str] = []
        self._remote_agents: list[str] = []

    def read(self) -> ExtensionContents:
        servers = {name: each.value for name, each in self._manifest.servers(self._fill_places).items()}
        files, size = _measure(self._path)
        return ExtensionContents(
            path=self._path,
            manifest=self._manifest,
            servers=servers,
            hooks=self._read_hooks(),
            context=tuple(self._read_context()),
            commands=tuple(self._command_names()),
            skills=tuple(self._read_skills()),
            agents=tuple(self._read_agents()),
            rules=tuple(self._read_rules()),
            remote_agents=tuple(self._remote_agents),
            files=files,
            bytes=size,
            problems=tuple(self._problems),
        )

    def _read_hooks(self) -> tuple[HookConfig, ...]:
        text = self._text(HOOKS_FILE)
        if text is None:
            return ()
        path = os.path.join(self._path, HOOKS_FILE)
        try:
            content = load_json(text)
        except InvalidJson as error:
            self._problems.append(lazy("{path}: {why}", path=HOOKS_FILE, why=error))
            return ()
        found = cast("Mapping[str, JsonValue]", content).get("hooks") if isinstance(content, Mapping) else None
        if not isinstance(found, Mapping):
            self._problems.append(lazy("{path}: it must be an object with the key hooks", path=HOOKS_FILE))
            return ()
        events: dict[str, list[Setting[JsonValue]]] = {}
        for name, entries in cast("Mapping[str, JsonValue]", self._expand(found)).items():
            listed = entries if isinstance(entries, list | tuple) else (entries,)
            events[name] = [Setting(entry, path, SourceTier.WORKSPACE) for entry in listed]
        config = parse_hooks(events, {})
        self._problems += [warning.replace(path, HOOKS_FILE) for warning in config.warnings]
        return config.hooks

    def _fill_places(self, text: str) -> str:
        return fill_places(text, self._variables.places)

    def _expand(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._fill_places(value)
        if isinstance(value, Mapping):
            return {name: self._expand(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self._expand(item) for item in value]
        return value

    def _read_context(self) -> Iterator[ContextText]:
        for name in self._manifest.possible_context_files:
            text = self._text(name)
            if text is not None:
                yield ContextText(name, estimate_text_tokens(text))
            elif self._manifest.context_files is not None:
                self._problems.append(lazy("the context file {name} is missing", name=name))

    def _command_names(self) -> Iterator[str]:
        for relative in _files_below(self._path, "commands"):
            if relative.endswith(".toml"):
                yield relative.removeprefix("commands/").removesuffix(".toml").replace("/", ":")

    def _read_skills(self) -> Iterator[DescribedFile]:
        top = os.path.join(self._path, "skills")
        for name in _directories(top):
            relative = f"skills/{name}/SKILL.md"
            found = self._read_described(relative, name)
            if found is not None:
                others = len(list(_files_below(self._path, f"skills/{name}"))) - 1
                yield DescribedFile(
                    found.name,
                    found.description,
                    found.path,
                    found.catalogue_tokens,
                    found.body_tokens,
                    max(0, others),
                )

    def _read_agents(self) -> Iterator[DescribedFile]:
        for name in sorted(_names(os.path.join(self._path, "agents"))):
            if name.endswith(".md") and not name.startswith("_"):
                found = self._read_described(f"agents/{name}", name.removesuffix(".md"))
                if found is not None:
                    yield found

    def _read_described(self, relative: str, fallback: str) -> DescribedFile | None:
        text = self._text(relative)
        if text is None:
            return None
        try:
            front = parse_front_matter(text)
        except FrontMatterError as error:
            self._problems.append(lazy("{path}: {why}", path=relative, why=error))
            return None
        name = str(front.fields.get("name") or fallback)
        if str(front.fields.get("kind", "")) in _KINDS_OF_REMOTE_AGENTS:
            self._remote_agents.append(name)
            return None
        description = str(front.fields.get("description") or "")
        if not description:
            self._problems.append(lazy("{path}: description is missing", path=relative))
        tools = front.fields.get("tools")
        entry = f"{name}: {description} {relative}"
        return DescribedFile(
            name,
            description,
            relative,
            estimate_text_tokens(entry),
            estimate_text_tokens(front.body),
            tools=tuple(map(str, tools)) if isinstance(tools, list | tuple) else (),
        )

    def _read_rules(self) -> Iterator[PolicyRule]:
        for name in sorted(_names(os.path.join(self._path, "policies"))):
            relative = f"policies/{name}"
            text = self._text(relative) if name.endswith(".toml") else None
            if text is not None:
                try:
                    yield from parse_rules(text, source=relative, tier=Tier.WORKSPACE)
                except PolicyError as error:
                    self._problems.append(str(error))

    def _text(self, relative: str) -> str | None:
        """The text of a file, None if there is none or it cannot be read, which is a problem."""
        try:
            return read_config_file(os.path.join(self._path, relative), writers=AllowedWriters.ANYONE)
        except ConfigurationError as error:
            self._problems.append(str(error))
            return None


def _measure(path: str) -> tuple[int, int]:
    files = size = 0
    with suppress(OSError):
        for relative, entry in walk_tree(path):
            if entry.is_file(follow_symlinks=False) and relative not in (INSTALL_RECORD, SETTINGS_FILE):
                files += 1
                size += entry.stat(follow_symlinks=False).st_size
    return files, size


def _files_below(path: str, relative: str) -> Iterator[str]:
    """The files below a directory of the extension by relative path, in order."""
    with suppress(OSError):
        found = walk_tree(os.path.join(path, relative))
        yield from sorted(f"{relative}/{inner}" for inner, entry in found if not entry.is_dir(follow_symlinks=False))


def _directories(path: str) -> list[str]:
    return sorted(name for name in _names(path) if os.path.isdir(os.path.join(path, name)))


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
