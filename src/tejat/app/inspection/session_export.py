"""A stored session for export: its conversation as events, Markdown or JSON, with secrets masked."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from tejat.app.inspection.export_mask import ExportMask
from tejat.app.inspection.stored_sessions import ListedSession
from tejat.app.session.replay import answer_events, replay_messages
from tejat.app.session.transcript_export import render_transcript
from tejat.core.agent.events import AgentEvent
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _, ngettext
from tejat.core.json_text import dump_json
from tejat.core.messages.history import Message, Role
from tejat.core.messages.message_json import message_to_json
from tejat.core.messages.tool_names import INVOKE_AGENT
from tejat.core.messages.types import FunctionCall, JsonObject
from tejat.core.sanitize import HIDDEN_CHARACTERS
from tejat.core.text.time_format import format_time
from tejat.core.tools.call_events import StateChanged
from tejat.engine.loop.archive import ConversationArchive
from tejat.engine.sessions.agent_records import AgentTranscript, read_agent_transcripts
from tejat.engine.sessions.journal_reader import LoadedSession

_END_REASONS = frozenset(SubagentEnd)


class SessionExport(Frozen):
    """A session with masked texts. `masked` counts the secrets that were masked."""

    listed: ListedSession
    loaded: LoadedSession
    agents: tuple[AgentTranscript, ...] = ()
    masked: int = 0

    @property
    def title(self) -> str:
        return self.listed.summary.title or _("(no prompt)")

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Labels and values for a header."""
        summary, cost = self.listed.summary, self.listed.cost
        return (
            (_("Session"), summary.session_id),
            (_("Model"), self.loaded.model or summary.model),
            (_("Project"), summary.root or _("unknown")),
            (_("Started"), format_time(summary.started)),
            (_("Last used"), format_time(summary.modified)),
            (_("Turns"), str(self.listed.turns)),
            (_("Tokens"), f"{self.listed.tokens:,}"),
            (_("Cost"), _("unknown") if cost is None else f"${cost:.4f}" if cost else _("free")),
        )

    @property
    def mask_note(self) -> str:
        """How many secrets were masked, as a sentence."""
        return ngettext("{count} secret was masked.", "{count} secrets were masked.", self.masked)

    def events(self) -> Iterator[AgentEvent]:
        """Yield the conversation as events, sub-agents at the calls that started them."""
        loaded, root = self.loaded, self.listed.summary.root
        archive = ConversationArchive(loaded.replaced, head_length=loaded.head_length or loaded.preamble_length)
        waiting = {agent.agent_id: agent for agent in self.agents}
        for event in replay_messages(loaded.messages, archive, loaded.rewind_points, root):
            yield event
            if isinstance(event, StateChanged):
                started = [agent for agent in waiting.values() if _starts(event.call, agent)][:1]
                for agent in started:
                    yield from agent_events(waiting.pop(agent.agent_id), root)
        for agent in waiting.values():
            yield from agent_events(agent, root)

    def to_json(self) -> str:
        """Return the session as JSON, in which hidden characters are escaped."""
        summary = self.listed.summary
        session: JsonObject = {
            "session_id": summary.session_id,
            "title": summary.title,
            "model": self.loaded.model or summary.model,
            "project": summary.root,
            "started": summary.started,
            "modified": summary.modified,
            "turns": self.listed.turns,
            "tokens": self.listed.tokens,
            "cost": self.listed.cost,
        }
        messages = list(map(message_to_json, self._messages))
        text = dump_json({"session": session, "masked": self.masked, "messages": messages}, indent=2)
        return escape_hidden_json(text) + "\n"

    def to_markdown(self) -> str:
        """Return the session as Markdown, not sanitized yet."""
        facts = "\n".join(f"- {label}: {value}" for label, value in self.facts)
        note = f"\n\n{self.mask_note}" if self.masked else ""
        title = " ".join(self.title.split())
        return f"# {title}\n\n{facts}{note}\n\n---\n\n{render_transcript(self._messages, as_json=False)}"

    @property
    def _messages(self) -> tuple[Message, ...]:
        """What was said, also before it was summarized."""
        loaded = self.loaded
        return (*loaded.replaced, *loaded.messages[loaded.head_length or loaded.preamble_length :])


def export_session(listed: ListedSession, loaded: LoadedSession, secrets: Mapping[str, str]) -> SessionExport:
    """Mask the secrets of a session and of its sub-agents."""
    mask = ExportMask(secrets)
    masked = replace(
        loaded,
        messages=mask.mask_messages(loaded.messages),
        replaced=mask.mask_messages(loaded.replaced),
    )
    count = mask.count
    # The same texts again, or messages that are only compared: not counted.
    points = (replace(point, display_text=mask.mask_text(point.display_text)) for point in loaded.rewind_points)
    masked = replace(masked, rewind_points=tuple(points))
    summary = replace(listed.summary, title=mask.mask_text(listed.summary.title))
    mask.count = count
    try:
        agents = read_agent_transcripts(listed.summary.path).values()
    except OSError:
        agents = ()
    transcripts = tuple(_mask_agent(agent, mask) for agent in agents)
    return SessionExport(replace(listed, summary=summary), masked, transcripts, mask.count)


def agent_events(agent: AgentTranscript, root: str) -> Iterator[AgentEvent]:
    """Yield the run of a sub-agent as events."""
    yield AgentStarted(agent.agent_id, agent.agent_name, agent.call_id, agent.prompt, agent.model)
    messages = list(_join_responses(agent.messages))
    for message, following in zip(messages, (*messages[1:], None), strict=False):
        if message.role is Role.MODEL:
            for event in answer_events(message, following, root):
                yield AgentActivity(agent.agent_id, agent.agent_name, event)
    yield AgentEnded(
        agent.agent_id,
        agent.agent_name,
        SubagentEnd(agent.reason) if agent.reason in _END_REASONS else SubagentEnd.ABORTED,
        turns=agent.turns,
        calls=agent.calls,
        usage=agent.usage,
        cost=agent.cost,
        seconds=agent.seconds,
        files_changed=agent.files_changed,
        error=agent.error,
    )


def escape_hidden_json(text: str) -> str:
    """Escape the hidden characters in JSON, which then means the same."""
    return re.sub(HIDDEN_CHARACTERS, lambda found: json.dumps(found[0])[1:-1], text)


def _starts(call: FunctionCall, agent: AgentTranscript) -> bool:
    return call.id == agent.call_id and call.name in (INVOKE_AGENT, agent.agent_name)


def _join_responses(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages with the responses to all calls of an answer in one message."""
    held: Message | None = None
    for message in messages:
        if held is not None and held.responses and message.responses:
            held = Message(held.role, (*held.parts, *message.parts))
            continue
        if held is not None:
            yield held
        held = message
    if held is not None:
        yield held


def _mask_agent(agent: AgentTranscript, mask: ExportMask) -> AgentTranscript:
    messages = mask.mask_messages(agent.messages)
    return replace(agent, messages=messages, prompt=mask.mask_text(agent.prompt), error=mask.mask_text(agent.error))
