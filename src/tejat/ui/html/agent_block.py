"""Sub-agents as blocks of HTML, in which the blocks of their own work are nested."""

import time

from tejat.core.agent.events import AgentEvent
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.i18n import _
from tejat.core.tools.call_events import CallFinished
from tejat.ui.html.call_block import elapsed_markup, status_sign
from tejat.ui.html.diff import render_diff
from tejat.ui.html.markup import cut_text, disclosure, escape_text, scroll_box
from tejat.ui.shared.calls.agent_progress import AgentProgress, agent_end_labels, agent_error, agent_status
from tejat.ui.shared.calls.report import build_call_report

_MAX_RESULT_CHARS = 200_000
_MAX_PROMPT_CHARS = 20_000


class AgentBlock:
    """A run of a sub-agent. It stands for the call that started it."""

    def __init__(self, started: AgentStarted, *, root: str) -> None:
        self._started = started
        self._root = root
        self._progress = AgentProgress(started, since=time.time(), folder=root)
        self._ended: AgentEnded | None = None
        self._result: CallFinished | None = None

    def record(self, event: AgentEvent) -> None:
        """Count an event from inside the agent."""
        self._progress.record(event)

    def end(self, ended: AgentEnded) -> None:
        self._ended = ended

    def finish(self, finished: CallFinished) -> None:
        """Add the result of the call that started the agent."""
        self._result = finished

    def render(self, block_id: str) -> str:
        """Return the block; the blocks that are nested in it belong into the element of `children_slot`."""
        state = "running" if self._ended is None else agent_status(self._ended).value.replace(" ", "-")
        task = cut_text(self._started.prompt, max_chars=_MAX_PROMPT_CHARS)
        content = disclosure(escape_text(_("Task")), f'<pre class="output">{escape_text(task)}</pre>')
        if self._ended is not None and (error := agent_error(self._ended)):
            content = f'<p class="reason">{escape_text(error)}</p>{content}'
        content += children_slot(block_id) + self._result_markup()
        if self._ended is not None and self._ended.patch:
            content += disclosure(escape_text(_("Diff")), render_diff(self._ended.patch, with_split=False))
        return (
            f'<details class="block agent {state}" id="{block_id}">'
            f'<summary class="headline">{self._headline()}</summary>{content}</details>'
        )

    def _headline(self) -> str:
        if self._ended is None:
            facts = ", ".join([*map(escape_text, self._progress.figures), elapsed_markup(self._progress.since)])
            task = f" {escape_text(self._progress.task)}" if self._progress.task else ""
            name = f"<strong>{escape_text(self._progress.agent_id)}</strong>"
            return f'<span class="sign" aria-hidden="true">●</span> {name}{task} <span class="facts">({facts})</span>'
        name, *figures = map(escape_text, agent_end_labels(self._ended))
        sign = status_sign(agent_status(self._ended))
        return f'{sign} <strong>{name}</strong> <span class="facts">{" · ".join(["", *figures]).strip()}</span>'

    def _result_markup(self) -> str:
        body = "" if self._result is None else build_call_report(self._result, folder=self._root).body
        if not body:
            return ""
        text = escape_text(cut_text(body, max_chars=_MAX_RESULT_CHARS))
        return disclosure(escape_text(_("Result")), scroll_box("pre", text, class_="output whole", label=_("Result")))


def children_slot(block_id: str) -> str:
    """Return the empty element for the blocks that are nested in a block."""
    return f'<div class="children" data-children="{block_id}"></div>'
