"""Conversations in notebooks."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import cast

from tejat.app.session.replay import answer_events
from tejat.app.session.transcript_export import render_transcript
from tejat.core.agent.events import AgentEvent, Prompted
from tejat.core.messages.history import Message, Role
from tejat.engine.prompt.mentions import mentioning_text
from tejat.engine.prompt.system_prompt import ACKNOWLEDGEMENT
from tejat.notebook.markdown import escape_html
from tejat.notebook.style import view_markup
from tejat.ui.html.document import nest_blocks
from tejat.ui.html.transcript import HtmlTranscript


class NotebookTranscript:
    """A conversation, shown as HTML: `NotebookTranscript(agent.history)`. Paths below `root` are relative to it.

    The messages about the workspace at the beginning of a session are left out.
    """

    def __init__(self, messages: Iterable[Message], *, root: str | None = None) -> None:
        """Raises TypeError for anything but messages."""
        given = _checked_messages(messages)
        has_preamble = len(given) > 1 and given[1].text == ACKNOWLEDGEMENT
        self.messages = given[2:] if has_preamble else given
        self._root = os.getcwd() if root is None else root

    def __repr__(self) -> str:
        return f"NotebookTranscript({len(self.messages)} messages)"

    def _repr_html_(self) -> str:
        return view_markup(events_markup(message_events(self.messages, self._root), self._root))

    def _repr_markdown_(self) -> str:
        return messages_markdown(self.messages)


def _checked_messages(given: object) -> tuple[Message, ...]:
    """Raises TypeError."""
    messages = tuple(cast("Iterable[object]", given)) if isinstance(given, Iterable) else (given,)
    for each in messages:
        if not isinstance(each, Message):
            raise TypeError(f"NotebookTranscript needs messages, such as `agent.history`, not {each!r}.")
    return cast("tuple[Message, ...]", messages)


def message_events(messages: Sequence[Message], root: str) -> Iterator[AgentEvent]:
    """Yield messages as events. Calls get the responses in the message that follows."""
    for message, following in zip_longest(messages, messages[1:]):
        if message.role is Role.MODEL:
            yield from answer_events(message, following, root)
        elif not message.responses:
            yield Prompted(message, mentioning_text(message))


def events_markup(events: Iterable[AgentEvent], root: str) -> str:
    """Return the blocks of a transcript as markup."""
    transcript = HtmlTranscript(root=root, with_split=False)
    for event in events:
        transcript.handle_event(event)
    return transcript_markup(transcript)


def transcript_markup(transcript: HtmlTranscript) -> str:
    """Return the present blocks of a transcript as markup."""
    return f'<div class="transcript">{nest_blocks(transcript.blocks())}</div>'


def messages_markdown(messages: Sequence[Message]) -> str:
    """Return messages as Markdown, with raw HTML as text."""
    return escape_html(render_transcript(messages, as_json=False))
