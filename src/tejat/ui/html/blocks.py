"""Blocks of a transcript besides calls and sub-agents: prompts, answers, thoughts, notices, questions and plans."""

from collections.abc import Sequence
from itertools import accumulate

from tejat.core.agent.events import EndReason, Noticed, PlanPresented, RunEnded, Severity
from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply
from tejat.core.i18n import _, ngettext, translate
from tejat.core.sanitize import sanitize_line
from tejat.ui.html.markdown import render_markdown, top_level_starts
from tejat.ui.html.markup import cut_text, disclosure, element, escape_text
from tejat.ui.html.question import render_answered_question, render_question
from tejat.ui.shared.labels.run_summary import RunSummary
from tejat.ui.shared.labels.text_summary import thought_subject
from tejat.ui.shared.notices import run_end_message, severity_label

MAX_SEGMENT_CHARS = 6_000
"""Length from which a streamed answer continues in another block, so that each update stays small."""
_MAX_ALWAYS_SHOWN = 4 * MAX_SEGMENT_CHARS
"""Length up to which a block is rendered again for each piece of it."""
_MAX_PROMPT_LINES = 8
_MAX_PROMPT_CHARS = 200_000
_LONG_PROMPT_LINES = 16
"""Lines from which a prompt is shown in part."""
_MAX_LIVE_THOUGHT = 2_000


class PromptBlock:
    """What the user typed, with the names of attached media."""

    def __init__(self, text: str, attachments: tuple[str, ...] = ()) -> None:
        self._text = text
        self._attachments = attachments

    def render(self, block_id: str) -> str:
        lines = cut_text(self._text.strip("\n"), max_chars=_MAX_PROMPT_CHARS).split("\n")
        shown = lines if len(lines) <= _LONG_PROMPT_LINES else lines[:_MAX_PROMPT_LINES]
        content = f'<h2 class="visually-hidden">{escape_text(_("Your prompt"))}</h2>'
        content += f'<div class="typed">{escape_text(chr(10).join(shown))}</div>'
        if rest := lines[len(shown) :]:
            label = ngettext("{count} more line", "{count} more lines", len(rest))
            more = f'<div class="typed">{escape_text(chr(10).join(rest))}</div>'
            content += disclosure(escape_text(label), more)
        if self._attachments:
            names = "".join(f"<li>{escape_text(name)}</li>" for name in self._attachments)
            content += f'<ul class="attachments">{names}</ul>'
        return element("article", content, class_="block prompt", id=block_id)


class AnswerBlock:
    """Markdown of the model, or a part of it."""

    def __init__(self, *, is_continued: bool = False) -> None:
        self._chunks: list[str] = []
        self._length = 0
        self._updated_length = self._parsed_length = 0
        self._is_continued = is_continued

    @property
    def text(self) -> str:
        if len(self._chunks) > 1:
            self._chunks = ["".join(self._chunks)]
        return self._chunks[0] if self._chunks else ""

    def append(self, text: str) -> bool:
        """Add text, and return whether the block should be shown again.

        A long block that cannot be split is shown again only when it has grown by a part of its length: otherwise all
        of it would be rendered for each piece.
        """
        self._chunks.append(text)
        self._length += len(text)
        if not _has_grown(self._length, self._updated_length):
            return False
        self._updated_length = self._length
        return True

    def split(self) -> "Sequence[AnswerBlock]":
        """Move what follows about MAX_SEGMENT_CHARS characters into blocks of about that length, which are returned.

        The text is split between blocks of Markdown that no further text can change. Empty if there is no such place.
        """
        if self._length <= MAX_SEGMENT_CHARS or not _has_grown(self._length, self._parsed_length):
            return ()
        self._parsed_length = self._length
        text = self.text
        whole_lines = text[: text.rfind("\n") + 1]
        offsets = [0, *accumulate(len(line) + 1 for line in whole_lines.split("\n"))]
        cuts = [0]
        for start in top_level_starts(whole_lines):
            if offsets[start] >= cuts[-1] + MAX_SEGMENT_CHARS:
                cuts.append(offsets[start])
        segments = [text[begin:end] for begin, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]
        self._chunks, self._length = segments[:1], len(segments[0])
        continued = [AnswerBlock(is_continued=True) for _ in segments[1:]]
        for block, segment in zip(continued, segments[1:], strict=True):
            block.append(segment)
        return tuple(continued)

    def render(self, block_id: str) -> str:
        class_ = "block answer continued" if self._is_continued else "block answer"
        return element("div", render_markdown(self.text), class_=f"{class_} md", id=block_id)


def _has_grown(length: int, before: int) -> bool:
    """Whether a text is short, or longer by a part of its length."""
    return length < _MAX_ALWAYS_SHOWN or length >= before + before // 8


class ThoughtBlock:
    """Thoughts of the model. While they are streamed, only the end of them is shown."""

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._is_over = False

    def append(self, text: str) -> None:
        if text:  # so that the latest chunks are at least as many characters
            self._chunks.append(text)

    def close(self) -> None:
        self._is_over = True

    def render(self, block_id: str) -> str:
        text = "".join(self._chunks if self._is_over else self._chunks[-_MAX_LIVE_THOUGHT:])
        subject = thought_subject(text[-_MAX_LIVE_THOUGHT:])
        label = _("Thinking: {subject}", subject=subject) if subject else _("Thinking")
        if self._is_over:
            content = f'<div class="md">{render_markdown(text)}</div>'
        else:
            content = f'<div class="typed">{escape_text(text[-_MAX_LIVE_THOUGHT:])}</div>'
        content = f"<summary>{escape_text(label)}</summary>{content}"
        return element("details", content, class_="block thoughts", id=block_id)


class NoticeBlock:
    """A message that needs no answer."""

    def __init__(self, noticed: Noticed, *, class_: str = "notice") -> None:
        self._noticed = noticed
        self._class = class_

    def render(self, block_id: str) -> str:
        severity = self._noticed.severity
        sign = {Severity.NOTE: "•", Severity.WARNING: "▲", Severity.ERROR: "✗"}[severity]
        label = "" if severity is Severity.NOTE else f"<strong>{escape_text(severity_label(severity))}:</strong> "
        text = label + escape_text(translate(self._noticed.message).strip())
        content = f'<span class="sign" aria-hidden="true">{sign}</span> <span>{text}</span>'
        return f'<p class="block {self._class} {severity.value}" id="{block_id}">{content}</p>'


class QuestionBlock:
    """A question to the user, and how it was answered."""

    def __init__(self, question: PendingQuestion) -> None:
        self._question = question
        self._is_open = True
        self._reply: ApprovalReply | None = None

    def answer(self, reply: ApprovalReply | None) -> None:
        self._is_open, self._reply = False, reply

    def render(self, block_id: str) -> str:
        request = self._question.request
        content = render_question(request) if self._is_open else render_answered_question(request, self._reply)
        class_ = "block question open" if self._is_open else "block question"
        return element("section", content, class_=class_, id=block_id, data_question=self._question.question_id)


class PlanBlock:
    """A plan that the model presented."""

    def __init__(self, plan: PlanPresented) -> None:
        self._plan = plan

    def render(self, block_id: str) -> str:
        path = sanitize_line(self._plan.path)
        is_approved = self._plan.is_approved
        heading = _("Approved plan: {path}", path=path) if is_approved else _("Plan: {path}", path=path)
        content = f'<h3>{escape_text(heading)}</h3><div class="md">{render_markdown(self._plan.text)}</div>'
        return element("section", content, class_="block plan", id=block_id)


class RunEndBlock:
    """Why a run ended if there is something to say, and its figures if they are worth showing."""

    def __init__(self, ended: RunEnded, summary: RunSummary | None, *, was_cut: bool) -> None:
        sentences = [run_end_message(ended), _("The answer above is incomplete.") if was_cut else ""]
        self._words = " ".join(filter(None, sentences))
        self._is_stop = ended.reason in (EndReason.FINISHED, EndReason.INTERRUPTED)
        self._figures = "" if summary is None else " · ".join(summary.labels)

    @property
    def is_empty(self) -> bool:
        return not self._words and not self._figures

    def render(self, block_id: str) -> str:
        content = ""
        if self._words:
            sign = "■" if self._is_stop else "✗"
            class_ = "warning" if self._is_stop else "error"
            content = (
                f'<p class="notice {class_}"><span class="sign" aria-hidden="true">{sign}</span> '
                f"<span>{escape_text(self._words)}</span></p>"
            )
        if self._figures:
            content += f'<p class="figures">{escape_text(self._figures)}</p>'
        return element("div", content, class_="block run-end", id=block_id)
