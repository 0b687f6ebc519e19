"""Directories with the files of sub-agents."""

import os
from collections.abc import Iterator, Mapping

from tejat.config.agents.definition import MAX_NAME_LENGTH, normalize_keys, parse_definition
from tejat.config.agents.entries import SubagentEntry, SubagentState
from tejat.config.agents.errors import BrokenAgent
from tejat.config.agents.places import AgentDirectory
from tejat.config.agents.tool_list import KnownTools
from tejat.config.extensions.active import fill_places
from tejat.config.files.reader import AllowedWriters, list_config_directory, read_config_file
from tejat.config.files.real_paths import RealPaths
from tejat.config.front_matter import FrontMatterError, YamlParser, front_matter_list, parse_front_matter
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy, map_lazy
from tejat.core.messages.types import JsonValue
from tejat.core.provenance import Party, Provenance
from tejat.core.sanitize import sanitize_summary, strip_hidden
from tejat.core.text.digest import sha256

MAX_AGENTS = 200
"""All files together."""

_SUFFIX = ".md"
_MAX_ADDRESS = 200
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class AgentReader:
    """Reads directories. `problems` are about directories that cannot be read as a whole."""

    def __init__(self, known: KnownTools, parse_yaml: YamlParser) -> None:
        self.problems: list[str] = []
        self._known = known
        self._parse_yaml = parse_yaml
        self._real_paths = RealPaths()
        self._left = MAX_AGENTS

    def read(self, directory: AgentDirectory) -> Iterator[SubagentEntry]:
        """The agents of a directory by file name. Raises nothing: what is unusable is an entry or a problem."""
        try:
            self._refuse_outside(directory.path, directory)
            names = list_config_directory(directory.path, writers=_writers(directory))
        except BrokenAgent as error:
            self.problems.append(lazy("Ignoring {path}: {why}.", path=directory.path, why=error))
            return
        except ConfigurationError as error:
            self.problems.append(str(error))
            return
        files = [name for name in names if name.endswith(_SUFFIX) and not name.startswith(("_", "."))]
        if len(files) > self._left:
            self.problems.append(
                lazy(
                    "There are more than {most} agents. Some in {directory} are ignored.",
                    most=MAX_AGENTS,
                    directory=directory.path,
                )
            )
        files = files[: self._left]
        self._left -= len(files)
        for name in files:
            yield from self.read_file(os.path.join(directory.path, name), directory)

    def read_file(self, path: str, directory: AgentDirectory) -> Iterator[SubagentEntry]:
        """The agent of a file; several if it lists remote agents, and none if it is gone."""
        provenance = Provenance(directory.party, path, directory.extension)
        stem = os.path.basename(path).removesuffix(_SUFFIX)
        try:
            self._refuse_outside(path, directory)
            text = read_config_file(path, writers=_writers(directory))
            if text is None:
                return
            self._check_pin(path, text, directory)
            text = fill_places(text, directory.places) if directory.places else text
            yield from self._parse(text, provenance, stem)
        except (BrokenAgent, FrontMatterError, ConfigurationError) as error:
            reason = _reason(error, path)
            yield SubagentEntry(stem, provenance, SubagentState.BROKEN, reason=reason)

    def _parse(self, text: str, provenance: Provenance, stem: str) -> Iterator[SubagentEntry]:
        """Raises BrokenAgent and FrontMatterError."""
        if listed := front_matter_list(text):
            for given in listed:
                yield _remote_entry(normalize_keys(given), provenance, stem)
            return
        matter = parse_front_matter(text, parse=self._parse_yaml)
        if matter.is_fallback:
            # Without its list of tools an agent would get all of them.
            raise BrokenAgent(lazy("its front matter is not valid YAML, so its tools are not known"))
        fields = normalize_keys(matter.fields)
        match fields.get("kind"):
            case None | "local":
                parsed = parse_definition(fields, matter.body, provenance=provenance, known=self._known)
                notes = (*matter.notes, *parsed.notes)
                yield SubagentEntry(parsed.definition.name, provenance, definition=parsed.definition, notes=notes)
            case "remote":
                yield _remote_entry(fields, provenance, stem)
            case _:
                raise BrokenAgent(lazy("kind must be local or remote"))

    def _check_pin(self, path: str, text: str, directory: AgentDirectory) -> None:
        if directory.pins is None:
            return
        base = directory.confined_to
        if directory.extension:  # its links are pinned where they lead to
            path, base = self._real_paths.find(path), self._real_paths.find(base)
        inside = f"{base.rstrip('/')}/"
        relative = path.removeprefix(inside) if path.startswith(inside) else os.path.relpath(path, base)
        pin, content = directory.pins.get(relative), text.encode()
        if pin != sha256(content).hexdigest() and pin != sha256(_BYTE_ORDER_MARK + content).hexdigest():
            raise BrokenAgent(lazy("it changed after the folder was checked"))

    def _refuse_outside(self, path: str, directory: AgentDirectory) -> None:
        if not directory.confined_to:
            return
        base = self._real_paths.find(directory.confined_to)
        if not self._real_paths.find(path).startswith(f"{base.rstrip('/')}/"):
            raise BrokenAgent(lazy("it points outside {directory}", directory=directory.confined_to))


def _remote_entry(given: Mapping[str, JsonValue], provenance: Provenance, stem: str) -> SubagentEntry:
    """The entry of a remote agent, which is never contacted."""
    if given.get("kind") != "remote":
        raise BrokenAgent(lazy("a list of agents can only have remote agents"))
    name, address = given.get("name"), given.get("agent_card_url")
    where = sanitize_summary(address)[:_MAX_ADDRESS] if isinstance(address, str) else lazy("an inline agent card")
    return SubagentEntry(
        strip_hidden(name).strip()[:MAX_NAME_LENGTH] if isinstance(name, str) and name.strip() else stem,
        provenance,
        SubagentState.NOT_SUPPORTED,
        reason=lazy("remote agents are not supported ({address})", address=where),
    )


def _writers(directory: AgentDirectory) -> AllowedWriters:
    return AllowedWriters.TRUSTED if directory.party is Party.USER else AllowedWriters.ANYONE


def _reason(error: Exception, path: str) -> str:
    """The reason for a broken file, without its name and the final period."""
    if not isinstance(error, ConfigurationError):
        return error.args[0] if error.args else str(error)
    return map_lazy(str(error), lambda text: text.removeprefix(f"Could not read {path}: ").rstrip("."))
