"""The effect of an extension on a session here, as a difference: what it has now, and what it would get."""

from collections.abc import Sequence

from tejat.app.extensions.description.contents import ExtensionContents
from tejat.app.extensions.description.server_tools import ProbedServer, ProbeState
from tejat.app.extensions.description.summary_builder import rule_refusal
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.errors import ExtensionFailure
from tejat.app.run_config import RunConfig
from tejat.app.session.prompt.instructions import find_all_context_files
from tejat.app.skills.service import load_library
from tejat.app.subagents.definitions import load_subagents
from tejat.app.tools.listed_tools import builtin_registry
from tejat.config.extensions.loader import ExtensionState
from tejat.config.hooks import HookConfig
from tejat.config.paths import SourceTier
from tejat.config.settings.types import configured_servers
from tejat.core.agent.hooks import HookEvent
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, ngettext, translate
from tejat.core.json_text import dump_json
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_line
from tejat.core.ui.report import Paragraph, Report
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import Decision
from tejat.tools import load_declarations

_MAX_NOTE = 60


class EffectRow(Frozen):
    """One measure: its value now and with the extension, and names. Without values only names are shown."""

    key: str
    label: str
    now: int | None = None
    then: int | None = None
    note: str = ""
    is_part: bool = False

    @property
    def change(self) -> int:
        return (self.then or 0) - (self.now or 0)

    def to_json(self) -> JsonObject:
        values = {} if self.now is None else {"now": self.now, "with": self.then, "change": self.change}
        return {**values, "note": self.note}


class ExtensionEffect(Frozen):
    """The difference that an extension makes."""

    name: str
    version: str
    rows: tuple[EffectRow, ...]

    @property
    def lines(self) -> list[str]:
        """The rows as a table."""
        title = _("with {name} {version}", name=self.name, version=self.version)
        cells = [("", _("now"), sanitize_line(title), "", "")]
        for row in self.rows:
            label = f"  {translate(row.label)}" if row.is_part else translate(row.label)
            has_values = row.now is not None
            cells.append(
                (
                    label,
                    f"{row.now:,}" if has_values else "",
                    f"{row.then:,}" if has_values else "",
                    f"{row.change:+,}" if has_values and row.change else "",
                    sanitize_line(translate(row.note)),
                )
            )
        widths = [max(len(line[column]) for line in cells) for column in range(4)]
        widths[2] = max(len(line[2]) for line in cells[1:])
        lines = [_format_row(cells[0], widths)]
        return [*lines, *(_format_row(line, widths) for line in cells[1:])]

    def report(self) -> Report:
        return Report(_("Effect here"), (Paragraph("\n".join(self.lines)),))

    def to_json(self) -> JsonObject:
        return {row.key: row.to_json() for row in self.rows}


class SessionMeasures(Frozen):
    """What a session has: tokens by part, and programs that run."""

    context: int = 0
    tools: int = 0
    skills: int = 0
    agents: int = 0
    at_start: int = 0
    before_tools: int = 0

    @property
    def tokens(self) -> int:
        return self.context + self.tools + self.skills + self.agents


def measure_session(environment: ExtensionEnvironment, *, besides: str = "") -> SessionMeasures:
    """What a session here has now, without one extension. Nothing is started."""
    run_config = replace(environment.run_config, extensions=())
    own = [
        name for name, each in configured_servers(run_config.settings).items() if each.tier is not SourceTier.EXTENSION
    ]
    context = find_all_context_files(run_config).to_prompt(environment.root)
    found = [
        each
        for each in environment.find_all().extensions
        if each.state is ExtensionState.ENABLED and each.name.lower() != besides.lower()
    ]
    contents: list[ExtensionContents] = []
    for each in found:
        try:
            contents.append(environment.read_contents(each))
        except (ConfigurationError, ExtensionFailure):
            continue
    return SessionMeasures(
        context=estimate_text_tokens(context) + sum(each.context_tokens for each in contents),
        tools=sum(estimate_text_tokens(dump_json(declaration)) for declaration in load_declarations()),
        skills=_skill_tokens(run_config) + sum(each.skill_tokens for each in contents),
        agents=_agent_tokens(run_config) + sum(each.agent_tokens for each in contents),
        at_start=len(own) + sum(len(_programs_at_start(each)) for each in contents),
        before_tools=sum(len(_hooks_before_tools(each)) for each in contents),
    )


def _skill_tokens(run_config: RunConfig) -> int:
    settings = run_config.settings
    if not settings.skills_enabled.value or not settings.skills_switch.value:
        return 0
    listed = load_library(run_config).catalogue
    return sum(estimate_text_tokens(f"{skill.call_name}: {skill.fields.description}") for skill in listed)


def _agent_tokens(run_config: RunConfig) -> int:
    agents = load_subagents(run_config, builtin_registry()).available()
    return sum(estimate_text_tokens(f"{agent.name}: {agent.description}") for agent in agents)


def describe_effect(
    environment: ExtensionEnvironment,
    contents: ExtensionContents,
    *,
    replaces: str = "",
    probed: Sequence[ProbedServer] = (),
) -> ExtensionEffect:
    """The difference that an extension makes to a session here. `replaces` is the name of the one it replaces.

    `probed` are its servers after a trial start.
    """
    now = measure_session(environment)
    base = measure_session(environment, besides=replaces or contents.manifest.name)
    return compute_effect(now, base, contents, probed)


def compute_effect(
    now: SessionMeasures, base: SessionMeasures, contents: ExtensionContents, probed: Sequence[ProbedServer] = ()
) -> ExtensionEffect:
    """The difference between a session now and one with the extension, which adds to `base`."""
    programs, hooks = _programs_at_start(contents), _hooks_before_tools(contents)
    tools = sum(server.tokens for server in probed)
    rows = [
        EffectRow("tokens", _("tokens per request"), now.tokens, base.tokens + contents.tokens + tools),
        EffectRow(
            "context",
            _("context files"),
            now.context,
            base.context + contents.context_tokens,
            ", ".join(text.name for text in contents.context),
            is_part=True,
        ),
        EffectRow("tools", _("tools"), now.tools, base.tools + tools, _tools_note(contents, probed), is_part=True),
        EffectRow(
            "skills",
            _("skills"),
            now.skills,
            base.skills + contents.skill_tokens,
            ", ".join(each.name for each in contents.skills),
            is_part=True,
        ),
        EffectRow(
            "agents",
            _("agents"),
            now.agents,
            base.agents + contents.agent_tokens,
            ", ".join(each.name for each in contents.agents),
            is_part=True,
        ),
        EffectRow("runsAtStart", _("runs at start"), now.at_start, base.at_start + len(programs), _shorten(programs)),
        EffectRow(
            "runsBeforeTools",
            _("runs before tools"),
            now.before_tools,
            base.before_tools + len(hooks),
            _shorten([f"{hook.matcher or '*'}: {hook.command}" for hook in hooks]),
        ),
    ]
    return ExtensionEffect(contents.manifest.name, contents.manifest.version, (*rows, *_rule_rows(contents)))


def _tools_note(contents: ExtensionContents, probed: Sequence[ProbedServer]) -> str:
    """Whose tools are counted, and whose are not known."""
    listed = {server.alias: server for server in probed if server.state is ProbeState.LISTED}
    notes = [
        ngettext("{count} tool of {server}", "{count} tools of {server}", len(server.tools), server=alias)
        for alias, server in listed.items()
    ]
    if unknown := ", ".join(alias for alias in contents.servers if alias not in listed):
        notes.append(_("known after the first start of: {names}", names=unknown))
    return "; ".join(notes)


def _rule_rows(contents: ExtensionContents) -> list[EffectRow]:
    counted = [rule for rule in contents.rules if not rule_refusal(rule)]
    asks = [str(format_rule(rule)) for rule in counted if rule.decision is Decision.ASK]
    denies = [str(format_rule(rule)) for rule in counted if rule.decision is Decision.DENY]
    denies += [entry.value for entry in contents.manifest.excluded_tools]
    remote = [server for server in contents.servers.values() if server.command is None]
    reaches = [server.http_url or server.url or server.tcp or "" for server in remote]
    return [
        EffectRow("asksMore", _("asks more"), note=", ".join(asks) or _("nothing")),
        EffectRow("denied", _("denied"), note=", ".join(denies) or _("nothing")),
        EffectRow("reaches", _("reaches"), note=", ".join(reaches) or _("nothing by itself")),
    ]


def _programs_at_start(contents: ExtensionContents) -> list[str]:
    servers = [
        " ".join([server.command, *server.arguments])
        for server in contents.servers.values()
        if server.command is not None
    ]
    return servers + [hook.command for hook in contents.hooks if hook.event is HookEvent.SESSION_START]


def _hooks_before_tools(contents: ExtensionContents) -> list[HookConfig]:
    return [hook for hook in contents.hooks if hook.event is HookEvent.BEFORE_TOOL and hook.command]


def _shorten(commands: list[str]) -> str:
    return "; ".join(each if len(each) <= _MAX_NOTE else f"{each[: _MAX_NOTE - 1]}…" for each in commands)


def _format_row(cells: tuple[str, ...], widths: list[int]) -> str:
    label, now, then, change, note = cells
    aligned = [label.ljust(widths[0]), now.rjust(widths[1]), then.rjust(widths[2]), change.rjust(widths[3]), note]
    return "  ".join(aligned).rstrip()
