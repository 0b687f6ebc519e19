"""Builds the summary of an extension from its contents and its origin."""

import shlex
from collections.abc import Iterable, Iterator, Mapping

from tejat.app.extensions.description.contents import DescribedFile, ExtensionContents
from tejat.app.extensions.description.programs import (
    describe_program,
    fetches_code,
    line_fetches_code,
    missing_files,
    split_words,
)
from tejat.app.extensions.description.summary import ExtensionSummary, SummaryRow, SummarySection
from tejat.config.env_expansion import is_secret
from tejat.config.hooks import HookConfig
from tejat.config.settings.types import McpServer
from tejat.core.agent.hooks import HookEvent
from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy, lazy_plural
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import Decision, PolicyRule


class ExtensionOrigin(Frozen):
    """Where an extension comes from, and where it is or will be.

    `writers` says who can change its directory besides the user, empty if nobody can. `ignored_files` are files of the
    package that are left out.
    """

    source: str
    type: str
    place: str
    ref: str = ""
    revision: str = ""
    writers: str = ""
    follows: bool = False
    ignored_files: tuple[str, ...] = ()
    migrated_from: str = ""


class NamesInUse(Frozen):
    """Names that others have already, each with its owner: commands, skills, agents and servers."""

    commands: Mapping[str, str] = field(default_factory=dict[str, str])
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    agents: Mapping[str, str] = field(default_factory=dict[str, str])
    servers: Mapping[str, str] = field(default_factory=dict[str, str])


def build_summary(contents: ExtensionContents, origin: ExtensionOrigin, names: NamesInUse) -> ExtensionSummary:
    """All facts about an extension, in the order in which they are shown."""
    manifest = contents.manifest
    sections = (
        SummarySection("origin", lazy("Origin"), tuple(_origin_rows(contents, origin))),
        SummarySection("runs", lazy("Runs"), tuple(_program_rows(contents, origin.place))),
        SummarySection("reaches", lazy("Reaches"), tuple(_address_rows(contents.servers))),
        SummarySection("gets", lazy("Gets"), tuple(_variable_rows(contents))),
        SummarySection("tells", lazy("Tells the model"), tuple(_text_rows(contents))),
        SummarySection("rules", lazy("Rules"), tuple(_rule_rows(contents))),
        SummarySection(
            "takesAway",
            lazy("Takes away"),
            tuple(SummaryRow(lazy("tool {tool}", tool=entry.value)) for entry in manifest.excluded_tools),
        ),
        SummarySection("notUsed", lazy("Not used here"), tuple(_unused_rows(contents, origin))),
        SummarySection("clashes", lazy("Name conflicts"), tuple(_clash_rows(contents, names))),
        SummarySection("problems", lazy("Problems"), tuple(map(SummaryRow, contents.problems))),
    )
    return ExtensionSummary(manifest.name, manifest.version, tuple(section for section in sections if section.rows))


def _origin_rows(contents: ExtensionContents, origin: ExtensionOrigin) -> Iterator[SummaryRow]:
    if contents.manifest.description:
        yield SummaryRow(contents.manifest.description)
    source = lazy("source: {source} ({type})", source=origin.source, type=origin.type)
    details = [source]
    if origin.migrated_from:
        details.append(lazy("it moved here from {source}", source=origin.migrated_from))
    if contents.manifest.migrated_to:
        details.append(lazy("future updates come from {source}", source=contents.manifest.migrated_to))
    if origin.ref:
        details.append(lazy("ref: {ref}", ref=origin.ref))
    if origin.revision:
        details.append(lazy("revision: {revision}", revision=origin.revision))
    details.append(lazy("directory: {path}", path=origin.place))
    writers = origin.writers or lazy("only you")
    details.append(lazy("can be changed by: {writers}", writers=writers))
    if origin.follows:
        details.append(lazy("changes of yours in it are used without asking"))
    size = lazy_plural(
        "{count} file, {size} KiB", "{count} files, {size} KiB", contents.files, size=f"{contents.bytes / 1024:,.1f}"
    )
    yield from map(SummaryRow, (*details, size))


def _program_rows(contents: ExtensionContents, place: str) -> Iterator[SummaryRow]:
    for alias, server in contents.servers.items():
        if server.command is not None:
            yield _server_row(alias, server, contents.path, place)
    for hook in contents.hooks:
        if hook.command:
            yield _hook_row(hook, contents.path, place)
    for skill in contents.skills:
        if skill.files:
            what = lazy("files of the skill {name}, when the model runs them and you allow it", name=skill.name)
            yield SummaryRow(what, (lazy_plural("{count} file", "{count} files", skill.files),))


def _server_row(alias: str, server: McpServer, path: str, place: str) -> SummaryRow:
    words = [server.command or "", *server.arguments]
    directory = server.directory or place
    where = lazy("directory: {path}", path=server.directory) if server.directory else lazy("directory: your workspace")
    details: list[str] = [shlex.join(words), where]
    details.append(describe_program(words[0], place=place, path=path, directory=directory))
    details += _missing_rows(words, path, place, directory)
    details.append(lazy("in the sandbox") if server.is_sandboxed else lazy("not in the sandbox"))
    if fetches_code(words):
        details.append(_FETCHES)
    return SummaryRow(lazy("MCP server {alias}, at the start of each session", alias=alias), tuple(details))


def _hook_row(hook: HookConfig, path: str, place: str) -> SummaryRow:
    words = split_words(hook.command)
    details: list[str] = [hook.command]
    if words:
        details.append(describe_program(words[0], place=place, path=path, directory=place))
        details += _missing_rows(words, path, place, place)
    details.append(lazy("not in the sandbox"))
    if line_fetches_code(hook.command):
        details.append(_FETCHES)
    if hook.event in (HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL) and not hook.matcher:
        details.append(lazy("starts a process for every tool call"))
    return SummaryRow(lazy("hook, {when}", when=describe_event(hook)), tuple(details))


def describe_event(hook: HookConfig) -> str:
    """When a hook runs."""
    matcher = hook.matcher
    match hook.event:
        case HookEvent.BEFORE_TOOL:
            return lazy("before each tool that matches {m}", m=matcher) if matcher else lazy("before every tool")
        case HookEvent.AFTER_TOOL:
            return lazy("after each tool that matches {m}", m=matcher) if matcher else lazy("after every tool")
        case HookEvent.SESSION_START:
            return lazy("at the start of each session")
        case HookEvent.SESSION_END:
            return lazy("at the end of each session")
        case event:
            return lazy("at the event {event}", event=event.value)


def _missing_rows(words: list[str], path: str, place: str, directory: str) -> list[str]:
    return [
        lazy("{file} does not exist; no package manager is run to create it", file=file)
        for file in missing_files(words, place=place, path=path, directory=directory)
    ]


def _address_rows(servers: Mapping[str, McpServer]) -> Iterator[SummaryRow]:
    for alias, server in servers.items():
        address = server.http_url or server.url or server.tcp
        if address:
            names = ", ".join(server.headers)
            details = (address, lazy("headers: {names}", names=names)) if names else (address,)
            yield SummaryRow(lazy("MCP server {alias}", alias=alias), details)


def _variable_rows(contents: ExtensionContents) -> Iterator[SummaryRow]:
    for setting in contents.manifest.effective_settings:
        kind = lazy("a secret") if setting.is_sensitive else lazy("a value")
        details = (setting.description,) if setting.description else ()
        what = lazy(
            "{variable}: {kind} that you give it ({name})", variable=setting.variable, kind=kind, name=setting.name
        )
        yield SummaryRow(what, details)
    declared = {setting.variable for setting in contents.manifest.settings}
    for alias, server in contents.servers.items():
        for name, value in server.environment.items():
            if name not in declared:
                mark = lazy("{name} for the server {alias}, looks secret", name=name, alias=alias)
                plain = lazy("{name} for the server {alias}", name=name, alias=alias)
                yield SummaryRow(mark if is_secret(name, value) else plain)
    if any(server.command is not None for server in contents.servers.values()) or contents.hooks:
        yield SummaryRow(lazy("the directory you work in, as you: its programs can read and change what you can"))


def _text_rows(contents: ExtensionContents) -> Iterator[SummaryRow]:
    for text in contents.context:
        tokens = lazy_plural("{count} token", "{count} tokens", text.tokens)
        yield SummaryRow(lazy("context file {name}: {tokens} in every request", name=text.name, tokens=tokens))
    for kind, found in ((lazy("skill"), contents.skills), (lazy("agent"), contents.agents)):
        yield from (_described_row(kind, each) for each in found)
    for name in contents.commands:
        yield SummaryRow(lazy("command /{name}, when you call it", name=name))
    for name in contents.manifest.theme_names:
        yield SummaryRow(lazy("nothing by the theme {name}, which you can select", name=name))


def _described_row(kind: str, found: DescribedFile) -> SummaryRow:
    what = lazy(
        "{kind} {name}: {tokens} tokens in every request, {body} when it is used",
        kind=kind,
        name=found.name,
        tokens=f"{found.catalogue_tokens:,}",
        body=f"{found.body_tokens:,}",
    )
    details: list[str] = [found.description] if found.description else []
    if found.tools:
        details.append(lazy("tools: {tools}", tools=", ".join(found.tools)))
    return SummaryRow(what, tuple(details))


def _rule_rows(contents: ExtensionContents) -> Iterator[SummaryRow]:
    for rule in contents.rules:
        text = format_rule(rule)
        if refusal := rule_refusal(rule):
            yield SummaryRow(lazy("{rule}: not used, {why}", rule=text, why=refusal))
        else:
            yield SummaryRow(lazy("{rule}", rule=text))
    members = contents.manifest.members.get("mcpServers")
    servers = members.value if members is not None and isinstance(members.value, dict) else {}
    for alias, server in servers.items():
        if isinstance(server.value, dict) and "trust" in server.value:
            yield SummaryRow(lazy("trust of the server {alias}: not used, its tools ask", alias=alias))


def rule_refusal(rule: PolicyRule) -> str:
    """The reason why a rule of an extension does not count, empty if it does."""
    if rule.decision is Decision.ALLOW:
        return lazy("an extension cannot allow anything")
    if rule.modes is not None and rule.modes == frozenset((ApprovalMode.YOLO,)):
        return lazy("an extension cannot make rules for YOLO mode")
    return rule.passed_over or ""


def _unused_rows(contents: ExtensionContents, origin: ExtensionOrigin) -> Iterator[SummaryRow]:
    manifest = contents.manifest
    for setting in manifest.settings:
        if setting.refusal:
            yield SummaryRow(lazy("setting {name}: {why}", name=setting.name, why=setting.refusal))
    if manifest.unknown_fields:
        yield SummaryRow(lazy("unknown fields: {names}", names=", ".join(manifest.unknown_fields)))
    if contents.remote_agents:
        yield SummaryRow(lazy("remote agents: {names}", names=", ".join(contents.remote_agents)))
    for name in origin.ignored_files:
        yield SummaryRow(lazy("{name} of the package: it would belong to you", name=name))


def _clash_rows(contents: ExtensionContents, names: NamesInUse) -> Iterator[SummaryRow]:
    extension = contents.manifest.name
    for command in contents.commands:
        if owner := names.commands.get(command):
            yield SummaryRow(
                lazy(
                    "/{name} is taken by {owner}; it is called /{extension}:{name}",
                    name=command,
                    owner=owner,
                    extension=extension,
                )
            )
    kinds: Iterable[tuple[Iterable[str], Mapping[str, str]]] = (
        ([skill.name for skill in contents.skills], names.skills),
        ([agent.name for agent in contents.agents], names.agents),
    )
    for found, taken in kinds:
        for name in found:
            if owner := taken.get(name):
                yield SummaryRow(
                    lazy(
                        "{name} is taken by {owner}; it is called {extension}:{name}",
                        name=name,
                        owner=owner,
                        extension=extension,
                    )
                )
    for alias in contents.servers:
        if owner := names.servers.get(alias):
            yield SummaryRow(lazy("MCP server {alias} is also configured by {owner}", alias=alias, owner=owner))


_FETCHES = lazy("fetches its code at every start; that cannot be pinned")
