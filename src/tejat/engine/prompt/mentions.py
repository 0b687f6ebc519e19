"""Expansion of `@` mentions: files, MCP resources and sub-agents in a prompt."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tejat.core.errors import BadPrompt, ErrorType, ToolFailure, WorkspaceError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy
from tejat.core.messages.history import Message
from tejat.core.messages.types import Part, Text
from tejat.core.text.mentions import MENTION_PATTERN, unescape_mention, unescape_signs
from tejat.core.text.secret_files import is_secret_file
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.engine.calls.secret_mask import SecretMask
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START, ExpandedPrompt
from tejat.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tejat.core.tools.base import BaseTool
    from tejat.workspace.files.roots import Roots

_AGENT_PREFIX = "agent:"
_TRAILING_PUNCTUATION = ".:'\"`>"
_PATH_LIKE = r"/|\.\w{1,8}$"
_GLOB_MAGIC = r"[*?\[\]{}()!+@\\]"
_FILE_HEADER = r"(?s)--- (.*?) ---\n\n"
_SKIPPED_FILE = r"(?m)^- `(.*)` \(Reason: (.*)\)$"


ResourceReader: TypeAlias = Callable[[str], Awaitable[str | None]]
"""Reads the resource `server:uri`, None if there is no such server.

Raises BadPrompt, and LookupError with a message if the server has no such resource.
"""


ReadApprover: TypeAlias = Callable[[str], Awaitable[None]]
"""Decides whether a file that usually holds secrets may be read. Raises ToolFailure if not."""


AgentFinder: TypeAlias = Callable[[str], str | None]
"""Returns the name to call the sub-agent by that a bare or qualified name means, None if there is none."""


class MentionError(BadPrompt):
    """Mentioned files cannot be read; the message says which and why."""


def mentioning_text(message: Message) -> str:
    """The text of a prompt without the content of the files that it mentions."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if CONTENT_START in texts:
        texts = texts[: texts.index(CONTENT_START)]
    return "\n".join(texts).strip()


async def expand_mentions(
    prompt: str,
    *,
    registry: ToolRegistry,
    roots: Roots,
    recursive_search: bool = True,
    mask: SecretMask | None = None,
    read_resource: ResourceReader | None = None,
    approve: ReadApprover | None = None,
    find_agent: AgentFinder | None = None,
    has_escaped_signs: bool = False,
) -> ExpandedPrompt:
    """Add the content of mentioned files and resources; a prompt without mentions stays as it is.

    `@NAME` of a sub-agent, unless a file has this name, and `@agent:NAME` add a note that the user chose it.

    With `recursive_search` a name that does not exist is searched as part of any path. `mask` removes secrets from the
    content, not from the user's own text. `approve` is asked about files that usually hold secrets: the text of a
    prompt is not always the user's own. With `has_escaped_signs` the model gets an escaped `@` without its backslash.
    Raises MentionError, and BadPrompt as `read_resource` does.
    """
    if "@" not in prompt:
        return ExpandedPrompt((Text(prompt),))
    unescape = unescape_signs if has_escaped_signs else str
    finder = _MentionResolver(
        registry, roots, read_resource, find_agent, recursive_search=recursive_search, unescape=unescape
    )
    text, named = await finder.resolve_all(prompt)
    chosen = finder.agents_note()
    if not named:
        return ExpandedPrompt((Text(text), *chosen), notes=tuple(finder.notes))
    collector = _ContentCollector(finder.notes)
    for target in named:
        if approve is not None and isinstance(target, _NamedPath):
            await _approve_secret_file(target, approve)
        result = target.result if isinstance(target, _Resource) else await _read_files(target, registry)
        if result.error is not None:
            labels = ", ".join(each.label for each in named)
            raise MentionError(lazy("Error reading files ({labels}): {why}", labels=labels, why=result.error.message))
        collector.add(target, result if mask is None else mask.mask_result(result))
    expanded = collector.build(text)
    return ExpandedPrompt((*expanded.parts, *chosen), expanded.files, expanded.notes)


async def _approve_secret_file(target: _NamedPath, approve: ReadApprover) -> None:
    if not target.is_secret:
        return
    try:
        await approve(target.path)
    except ToolFailure as failure:
        raise MentionError(lazy("@{name} was not read: {why}", name=target.label, why=failure.display)) from None


async def _read_files(target: _NamedPath, registry: ToolRegistry) -> ToolResult:
    tool = registry.builtin("read_many_files")
    if tool is None:
        raise MentionError(lazy("Error: read_many_files tool not found."))
    return await validate_and_execute(tool, target.arguments)


class _Resource(Frozen):
    """An MCP resource that has been read."""

    label: str
    content: str

    @property
    def path(self) -> str:
        """A key that no file path can equal."""
        return f"@{self.label}"

    @property
    def result(self) -> ToolResult:
        return ToolResult(f"--- {self.label} ---\n\n{self.content}")


class _NamedPath(Frozen):
    """An existing file or directory that a prompt mentions, shown relative to the first root if it is in it."""

    path: str
    display_path: str
    is_directory: bool
    is_secret: bool

    @property
    def label(self) -> str:
        return f"{self.display_path.rstrip('/')}/**" if self.is_directory else self.display_path

    @property
    def arguments(self) -> dict[str, object]:
        # A named file is read even if it is usually excluded. A directory is passed by its short path, because excluded
        # names in a path count as requested.
        if self.is_directory:
            return {"paths": [self.display_path]}
        return {"paths": [self.path], "useDefaultExcludes": False}


class _MentionResolver:
    """Resolves the mentions of one prompt."""

    def __init__(
        self,
        registry: ToolRegistry,
        roots: Roots,
        resource: ResourceReader | None,
        find_agent: AgentFinder | None,
        *,
        recursive_search: bool,
        unescape: Callable[[str], str],
    ) -> None:
        self.notes: list[str] = []
        self._registry = registry
        self._resource = resource
        self._find_agent = find_agent
        self._agents: dict[str, None] = {}
        self._missing_resources: dict[str, str] = {}
        self._resources_read: dict[str, _Resource] = {}
        self._recursive_search = recursive_search
        self._unescape = unescape
        self._roots = roots

    async def resolve_all(self, prompt: str) -> tuple[str, list[_NamedPath | _Resource]]:
        """Return the prompt with resolved mentions spelled out, and each of them once."""
        text: list[str] = []
        named: dict[str, _NamedPath | _Resource] = {}
        end = 0
        for mention in re.finditer(MENTION_PATTERN, prompt):
            names = _candidate_names(mention)
            if self._choose_agent(names):
                continue
            found = await self._resolve(names)
            if found is None:
                continue
            target, rest = found
            named.setdefault(target.path, target)
            text += [self._unescape(prompt[end : mention.start()]), "@", target.label]
            end = mention.end() - len(rest)
        return "".join([*text, self._unescape(prompt[end:])]), list(named.values())

    def agents_note(self) -> tuple[Text, ...]:
        """What the model is told about the sub-agents that the user mentioned."""
        if not self._agents:
            return ()
        names = ", ".join(self._agents)
        return (Text(f"\n\n(The user chose for this: {names}. Delegate it with `invoke_agent`.)"),)

    def _choose_agent(self, readings: Sequence[tuple[str, str]]) -> bool:
        """Whether a mention means a sub-agent: no file has its name, or it begins with `agent:`."""
        if self._find_agent is None:
            return False
        for word, _rest in readings:
            name = word.removeprefix(_AGENT_PREFIX)
            agent = self._find_agent(name)
            if agent is not None and (name != word or not isinstance(self._find_existing(word), _NamedPath)):
                self._agents[agent] = None
                return True
        return False

    async def _resolve(self, readings: Sequence[tuple[str, str]]) -> tuple[_NamedPath | _Resource, str] | None:
        for word, rest in readings:
            found = await self._read_resource(word)
            if found is not None:
                return found, rest
            target = self._find_existing(word)
            if isinstance(target, _NamedPath):
                return target, rest
        word, rest = readings[-1]
        target = await self._search(word) or self._find_existing(word)
        if isinstance(target, _NamedPath):
            return target, rest
        missing = (self._missing_resources.get(each) for each, _unused in readings)
        why = target or next(filter(None, missing), "")
        if not why and re.search(_PATH_LIKE, word):  # otherwise it may be a user name or a decorator
            why = _("no such file.")
        if why:
            self.notes.append(_("@{name} is sent as plain text: {why}", name=word[:_MAX_SEARCH_LENGTH], why=why))
        return None

    async def _read_resource(self, word: str) -> _Resource | None:
        """Read a resource once, however often it is mentioned."""
        if self._resource is None or ":" not in word:
            return None
        if word not in self._resources_read:
            try:
                content = await self._resource(word)
            except LookupError as error:
                self._missing_resources[word] = str(error)
                content = None
            if content is None:
                return None
            self._resources_read[word] = _Resource(word, content)
        return self._resources_read[word]

    def _find_existing(self, word: str) -> _NamedPath | str:
        """Return the path of this name, or why it cannot be used; an empty text if there is none."""
        try:
            location = self._roots.locate(word)
            mode = self._roots.stat(location).st_mode
        except WorkspaceError as error:
            return "" if error.error_type is ErrorType.FILE_NOT_FOUND else error.message
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            return _("not a file or directory.")
        first, path = self._roots.first.path.rstrip("/"), location.path
        display_path = "." if path.rstrip("/") == first else path.removeprefix(f"{first}/")
        is_directory = stat.S_ISDIR(mode)
        is_secret = not is_directory and is_secret_file(os.path.realpath(path))
        return _NamedPath(path, display_path, is_directory, is_secret)

    async def _search(self, word: str) -> _NamedPath | None:
        """Return the file with this text in its path, preferably one of exactly this name."""
        if not self._recursive_search or word.startswith(("/", "../", "./")):
            return None
        glob = self._registry.builtin("glob") if _MIN_SEARCH_LENGTH <= len(word) <= _MAX_SEARCH_LENGTH else None
        if glob is None:
            return None
        escaped = re.sub(_GLOB_MAGIC, r"\\\g<0>", word)
        paths = await _glob_paths(glob, f"**/*{escaped}*")
        if not paths:
            return None
        found = self._find_existing(next((path for path in paths if path.endswith(f"/{word}")), paths[0]))
        if not isinstance(found, _NamedPath):
            return None
        self.notes.append(_("@{name} was read as {path}.", name=word, path=found.display_path))
        return found


# One or two letters match too many names.
_MIN_SEARCH_LENGTH = 3
_MAX_SEARCH_LENGTH = 200


def _candidate_names(mention: re.Match[str]) -> list[tuple[str, str]]:
    """Return the names that a mention may mean, each with the punctuation that follows it."""
    quoted = mention["quoted"]
    if quoted is not None:
        return [(unescape_mention(quoted), "")]
    word = mention["plain"]
    bare = word.rstrip(_TRAILING_PUNCTUATION)
    names = [word] if bare in ("", word) else [word, bare]
    return [(unescape_mention(each), word[len(each) :]) for each in names]


async def _glob_paths(glob: BaseTool, pattern: str) -> list[str]:
    result = await validate_and_execute(glob, {"pattern": pattern})
    if result.error is not None or not isinstance(result.llm_content, str):
        return []
    return [line for line in result.llm_content.splitlines()[1:] if line.startswith("/")]


class _ContentCollector:
    """Collects the content of mentions."""

    def __init__(self, notes: Sequence[str]) -> None:
        self._notes = list(notes)
        self._parts: list[Part] = []
        self._files: dict[str, None] = {}

    def add(self, target: _NamedPath | _Resource, result: ToolResult) -> None:
        content = result.llm_content
        items = [content] if isinstance(content, str) or not isinstance(content, Sequence) else content
        before = len(self._parts)
        for item in items:
            if not isinstance(item, str):
                self._files[target.label] = None
                self._parts.append(item)
                continue
            head = re.match(_FILE_HEADER, item)
            if head is not None and head[1] not in self._files:
                self._files[head[1]] = None
                # Services reject parts without text.
                texts = (f"\nContent from @{head[1]}:\n", item[head.end() :].strip())
                self._parts += [Text(text) for text in texts if text]
        if not isinstance(result.return_display, str):
            return
        skipped = [f"{what}: {why}" for what, why in re.findall(_SKIPPED_FILE, result.return_display)]
        if skipped:
            left_out = "; ".join(skipped)
            note = _("@{name} was only partly read. Skipped: {files}.", name=target.label, files=left_out)
            self._notes.append(note)
        elif len(self._parts) == before and target.label not in self._files:
            self._notes.append(_("@{name} contains nothing readable.", name=target.label))

    def build(self, text: str) -> ExpandedPrompt:
        if not self._parts:
            return ExpandedPrompt((Text(text),), notes=tuple(self._notes))
        parts = (Text(text), Text(CONTENT_START), *self._parts, Text(CONTENT_END))
        return ExpandedPrompt(parts, tuple(self._files), tuple(self._notes))
