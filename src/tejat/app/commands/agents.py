"""`/agents`: list, show, switch, configure and stop sub-agents."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.diff import diff_blocks
from tejat.app.inspection.subagents import SubagentSummary, summarize_subagents
from tejat.app.session.undo.service import UndoService, entry_title
from tejat.app.subagents.definitions import subagent_sources
from tejat.config.agents.entries import SubagentEntry, SubagentState
from tejat.config.agents.registry import SubagentRegistry
from tejat.config.settings.file import SettingKey
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.core.i18n import _, translate
from tejat.core.messages.types import JsonValue
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import (
    MarkdownBlock,
    Paragraph,
    Report,
    ReportBlock,
    ReportTable,
    SourceListing,
    Tone,
    text_report,
)
from tejat.engine.loop.transcript import render_transcript
from tejat.engine.sessions.agent_records import AgentTranscript, read_agent_transcripts

USAGE = "/agents [list | show NAME|ID | enable NAME | disable NAME | config NAME | reload | stop ID | review ID]"


class AgentsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.split():
            case [] | ["list"]:
                user.show(self._list())
            case ["show", name]:
                user.show(self._show(name))
            case [("enable" | "disable") as word, name]:
                user.show(self._switch(name, on=word == "enable"))
            case ["config", name]:
                await self._configure(name, user)
            case ["reload" | "refresh"]:
                user.show(self._reload_report())
            case ["stop", agent_id]:
                user.show(self._stop(agent_id))
            case ["review", agent_id]:
                user.show(await self._review(agent_id))
            case _:
                raise UsageError(_("Usage: {usage}", usage=USAGE))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            return complete_from(word, _actions())
        names = [(entry.name, entry.provenance.label) for entry in self._agents.entries if entry.definition]
        match word:
            case "review":
                return complete_from(rest, ((each, _("a run")) for each in self._transcripts()))
            case "show":
                return complete_from(rest, [*names, *((each, _("a run")) for each in self._transcripts())])
            case "enable" | "disable" | "config":
                return complete_from(rest, dict.fromkeys(names))
            case "stop":
                running = self.context.manager.subagent_service.running
                return complete_from(rest, ((agent_id, run.task.first_line) for agent_id, run in running.items()))
            case _:
                return ()

    @property
    def _agents(self) -> SubagentRegistry:
        return self.context.manager.subagents

    def _list(self) -> Report:
        found = summarize_subagents(self._agents, self.context.registry)
        if not found:
            text = _("Sub-agents are turned off in the settings (experimental.enableAgents).")
            return text_report(text)
        headings = (_("Name"), _("From"), _("State"), _("Model"), _("Tools"), _("Limits"), _("Tokens"))
        blocks: list[ReportBlock] = [ReportTable(tuple(map(_row, found)), headings)]
        blocks += [Paragraph(translate(problem), Tone.WARNING) for problem in self._agents.problems]
        fitted = self._agents.build_catalogue(self.context.conversation.context_window).fitted
        if fitted.left_out:
            left_out = _("Not in the list for the model: {names}.", names=", ".join(fitted.left_out))
            blocks.append(Paragraph(left_out, Tone.WARNING))
        elif fitted.is_cut:
            blocks.append(Paragraph(_("The descriptions for the model are cut (agents.catalogTokens)."), Tone.QUIET))
        running = self.context.manager.subagent_service.running
        if running:
            blocks.append(Paragraph(_("Running: {ids}", ids=", ".join(running))))
        return Report(_("Sub-agents"), tuple(blocks))

    def _show(self, name: str) -> Report:
        transcript = self._transcripts().get(name)
        if transcript is not None:
            return _transcript_report(transcript)
        entry = self._find(name)
        summary = next(each for each in summarize_subagents(self._agents, self.context.registry) if each.entry is entry)
        return _definition_report(summary)

    def _transcripts(self) -> dict[str, AgentTranscript]:
        try:
            return read_agent_transcripts(self.context.session.journal_path)
        except OSError:  # nothing is recorded yet
            return {}

    def _switch(self, name: str, *, on: bool) -> Report:
        entry = self._find(name)
        is_on = entry.state in (SubagentState.AVAILABLE, SubagentState.HIDDEN)
        if entry.definition is None:
            return text_report(_("Agent '{name}' cannot be used: {why}.", name=name, why=entry.reason), Tone.BAD)
        if on is is_on:
            text = _("Agent '{name}' is already disabled.", name=name)
            return text_report(_("Agent '{name}' is already enabled.", name=name) if on else text)
        path = self._write(entry.name, "enabled", value=on)
        self._reload()
        after = self._agents.find_entry(name)
        if on and (after is None or after.state is SubagentState.DISABLED):
            why = "" if after is None else after.reason
            return text_report(_("Agent '{name}' is still disabled: {why}.", name=name, why=why), Tone.WARNING)
        text = _("Agent '{name}' enabled.", name=name) if on else _("Agent '{name}' disabled.", name=name)
        saved = Paragraph(_("Saved in {path}.", path=path), Tone.QUIET)
        return Report(blocks=(Paragraph(text, Tone.GOOD), saved))

    async def _configure(self, name: str, user: UserPrompter) -> None:
        definition = self._find(name).definition
        if definition is None:
            raise UsageError(_("Agent '{name}' not found.", name=name))
        fields = _fields(definition)
        options = tuple(Option(field.label, detail=field.current) for field in fields)
        index = await user.choose(Choice(_("Configure {name}", name=definition.name), options))
        if index is None:
            return
        field = fields[index]
        given = await user.enter(field.label, initial=field.current)
        if given is None or not given.strip():
            user.show(text_report(_("Nothing was changed.")))
            return
        path = self._write(definition.name, field.key, value=field.parse(given.strip()))
        self._reload()
        problems = [each for each in self._agents.problems if f"agents.overrides.{definition.name}." in each]
        blocks: list[ReportBlock] = [Paragraph(_("Saved in {path}.", path=path), Tone.GOOD)]
        blocks += [Paragraph(translate(problem), Tone.WARNING) for problem in problems]
        user.show(Report(blocks=tuple(blocks)))

    def _reload_report(self) -> Report:
        before = {entry.qualified_name for entry in self._agents.entries if entry.definition}
        self._reload()
        after = {entry.qualified_name for entry in self._agents.entries if entry.definition}
        text = _(
            "Agents reloaded: {count} in all, {added} added, {removed} removed.",
            count=len(after),
            added=len(after - before),
            removed=len(before - after),
        )
        problems = [Paragraph(translate(problem), Tone.WARNING) for problem in self._agents.problems]
        return Report(blocks=(Paragraph(text, Tone.GOOD), *problems))

    def _stop(self, agent_id: str) -> Report:
        if self.context.manager.subagent_service.stop(agent_id):
            return text_report(_("Stopping {agent_id}.", agent_id=agent_id))
        running = ", ".join(self.context.manager.subagent_service.running) or _("none")
        text = _("No agent {agent_id} is running. Running: {running}.", agent_id=agent_id, running=running)
        return text_report(text, Tone.BAD)

    async def _review(self, agent_id: str) -> Report:
        """All changes of a run as one diff, by file, and the calls that made them."""
        undo_service, root = UndoService(self.context.manager), self.context.run_config.roots[0]
        entries = [entry for entry in await undo_service.session_entries() if entry.unit == agent_id]
        if not entries:
            return text_report(_("{agent_id} changed no files, or its changes were undone.", agent_id=agent_id))
        calls = [part for entry in entries for part in entry.parts or (entry,)]
        rows = tuple(
            (entry_title(part, root), ", ".join(change.path for change in part.own_changes)) for part in reversed(calls)
        )
        pieces = await undo_service.diff(entries)
        table = ReportTable(rows, (_("Call"), _("Files")))
        undo = Paragraph(_("/undo {id} takes all of it back.", id=calls[0].unit_id), Tone.QUIET)
        return Report(_("Changes of {agent_id}", agent_id=agent_id), (table, *diff_blocks(pieces, root), undo))

    def _find(self, name: str) -> SubagentEntry:
        """Raises UsageError."""
        entry = self._agents.find_entry(name)
        if entry is None:
            raise UsageError(_("Agent '{name}' not found.", name=name))
        return entry

    def _write(self, name: str, key: str, *, value: JsonValue) -> str:
        return self.context.user_settings.write(SettingKey(f"agents.overrides.{name}.{key}"), value)

    def _reload(self) -> None:
        """Read files and settings again, and tell the model from its next request on."""
        manager, context = self.context.manager, self.context
        run_config = replace(context.run_config, settings=context.reload_settings())
        self._agents.reload(subagent_sources(run_config, context.registry, max_turns=manager.options.max_turns))
        manager.offer_subagents()
        conversation = context.conversation
        conversation.set_context(conversation.template.context)


class _Field:
    """One value that `/agents config` changes."""

    def __init__(self, label: str, key: str, current: object, *, is_text: bool = False) -> None:
        self.label = label
        self.key = key
        self.current = "" if current is None else f"{current:g}" if isinstance(current, float) else str(current)
        self._is_text = is_text

    def parse(self, text: str) -> JsonValue:
        """Raises UsageError."""
        if self._is_text:
            return text
        try:
            number = float(text)
        except ValueError:
            raise UsageError(_("{label} must be a number.", label=self.label)) from None
        return int(number) if number.is_integer() else number


def _fields(definition: SubagentDefinition) -> list[_Field]:
    temperature = "modelConfig.generateContentConfig.temperature"
    return [
        _Field(_("Model"), "modelConfig.model", definition.model or "inherit", is_text=True),
        _Field(_("Temperature"), temperature, definition.temperature),
        _Field(_("Turns at most"), "runConfig.maxTurns", definition.max_turns),
        _Field(_("Minutes at most"), "runConfig.maxTimeMinutes", definition.timeout_minutes),
        _Field(_("Tokens at most"), "maxTokens", definition.max_tokens),
        _Field(_("Dollars at most"), "maxCost", definition.max_cost),
    ]


def _actions() -> list[tuple[str, str]]:
    return [
        ("list", _("all agents")),
        ("show", _("a definition, or what a run did")),
        ("enable", _("offer an agent to the model")),
        ("disable", _("do not offer it")),
        ("config", _("model, temperature and limits")),
        ("reload", _("read the files again")),
        ("stop", _("stop a running agent")),
        ("review", _("what a run changed, as one diff")),
    ]


def _row(summary: SubagentSummary) -> tuple[str, ...]:
    entry = summary.entry
    name = entry.qualified_name if entry.state is SubagentState.HIDDEN else entry.name
    tokens = f"{summary.catalogue_tokens:,}" if summary.catalogue_tokens else ""
    return (
        name,
        entry.provenance.label,
        summary.state,
        summary.model,
        summary.tool_label,
        summary.limits,
        tokens,
    )


def _definition_report(summary: SubagentSummary) -> Report:
    entry, definition = summary.entry, summary.entry.definition
    rows = [
        (_("From"), entry.provenance.label),
        (_("File"), entry.provenance.path),
        (_("State"), summary.state),
        (_("Model"), summary.model),
        (_("Tools"), ", ".join(summary.tools)),
        (_("Limits"), summary.limits),
        (_("MCP servers"), "" if definition is None else ", ".join(definition.servers)),
        (
            _("Tokens"),
            _(
                "{catalogue} in every request, {prompt} in each of its own",
                catalogue=f"{summary.catalogue_tokens:,}",
                prompt=f"{summary.prompt_tokens:,}",
            ),
        ),
    ]
    blocks: list[ReportBlock] = [ReportTable(tuple(row for row in rows if row[1]))]
    if definition is not None:
        blocks = [Paragraph(definition.description), *blocks, MarkdownBlock(definition.prompt)]
    blocks += [Paragraph(translate(problem), Tone.WARNING) for problem in entry.problems]
    return Report(entry.qualified_name, tuple(blocks))


def _transcript_report(run: AgentTranscript) -> Report:
    state = run.reason or _("still running, or its end was not recorded")
    rows = ((_("Model"), run.model), (_("End"), state), *(((_("Error"), run.error),) if run.error else ()))
    return Report(run.agent_id, (ReportTable(rows), SourceListing(render_transcript(run.messages) or run.prompt)))
