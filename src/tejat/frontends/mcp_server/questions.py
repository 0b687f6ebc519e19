"""What a client is asked to ask its person before a call runs: a message that hides nothing, and a form of two fields.

Lines that others wrote begin with a mark, so that none of them can pass for one of ours.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate, takewhile
from typing import assert_never

from tejat.core.confirm import (
    Answer,
    Confirmation,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    Question,
    Scope,
    TrialConfirmation,
)
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.json_text import dump_json
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.visible import visible

ONCE = "allow once"
FOR_SESSION = "allow for this session"
NO = "no"

_LONGEST_MESSAGE = 65_536
_LONGEST_DIFF = 32_768
_LONGEST_REASON = 1_000


@value
class Form:
    """A question as an elicitation in form mode asks it."""

    message: str
    schema: JsonObject
    choices: tuple[str, ...]

    def params(self, *, with_mode: bool) -> JsonObject:
        """`with_mode` for the revisions that have more than one."""
        asked: dict[str, JsonValue] = {"message": self.message, "requestedSchema": self.schema}
        return {"mode": "form", **asked} if with_mode else asked


def form_of(question: Question) -> Form:
    """Raises ToolFailure where what would run is too long to be shown: nobody could say yes to it."""
    message = "\n".join(_lines(question))
    if len(message) > _LONGEST_MESSAGE:
        raise ToolFailure(
            f'What "{question.tool_name}" would do is too long to be shown to anybody, so nobody can allow it. '
            "Do it in smaller steps.",
            ErrorType.POLICY_VIOLATION,
        )
    choices = (ONCE, FOR_SESSION, NO) if question.always is not None else (ONCE, NO)
    properties: dict[str, JsonValue] = {
        "decision": {"type": "string", "title": "May this run?", "enum": list(choices)},
        "reason": {
            "type": "string",
            "title": "A word to the agent",
            "description": "Optional. It goes along with a no.",
            "maxLength": _LONGEST_REASON,
        },
    }
    return Form(message, {"type": "object", "properties": properties, "required": ["decision"]}, choices)


def answer_of(result: JsonObject, form: Form) -> Answer:
    """What the person decided. Everything that is not plainly a yes to this form is a no."""
    content = result.get("content")
    given: Mapping[str, JsonValue] = content if isinstance(content, Mapping) else {}
    reason = given.get("reason")
    feedback = visible(reason[:_LONGEST_REASON]) if isinstance(reason, str) and reason.strip() else None
    decision = given.get("decision")
    if result.get("action") == "accept" and decision in form.choices:
        if decision == ONCE:
            return Answer(Outcome.PROCEED_ONCE)
        if decision == FOR_SESSION:
            return Answer(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)
    return Answer(Outcome.CANCEL, feedback=feedback)


def _lines(question: Question) -> Iterator[str]:
    confirmation = question.confirmation
    yield one_line(confirmation.title)
    if question.note:
        yield one_line(question.note)
    if question.reason:
        yield f"Reason: {one_line(question.reason)}"
    if isinstance(confirmation, ElicitationConfirmation):
        raise ToolFailure("A question of another server cannot be passed on.", ErrorType.POLICY_VIOLATION)
    yield from _what_would_run(confirmation)
    if question.always is not None:
        yield f'"{FOR_SESSION}" would remember this rule: {one_line(question.always)}'


def _what_would_run(confirmation: Confirmation) -> Iterator[str]:
    match confirmation:
        case EditConfirmation():
            yield from _change(confirmation)
        case ExecConfirmation():
            yield f"Directory: {one_line(confirmation.directory)}"
            yield from _marked(confirmation.command, first="$ ")
            if confirmation.root_commands:
                yield f"Programs: {one_line(confirmation.root_command)}"
            if confirmation.description:
                yield f"The model says: {one_line(confirmation.description)}"
            yield from (f"Note: {one_line(note)}" for note in confirmation.notes)
        case TrialConfirmation():
            yield from _marked(confirmation.command, first="$ ")
            yield from _marked(confirmation.diff)
        case McpConfirmation():
            yield f"Server: {one_line(confirmation.server_name)}"
            yield f"Tool: {one_line(confirmation.tool_name)}"
            yield from _marked(dump_json(confirmation.tool_args or {}, indent=2))
        case InfoConfirmation():
            yield from _marked(confirmation.prompt)
            yield from (f"Address: {one_line(url)}" for url in confirmation.urls)
        case _:
            assert_never(confirmation)


def _change(confirmation: EditConfirmation) -> Iterator[str]:
    stat = confirmation.diff_stat
    counts = "" if stat is None else f" (+{stat.model_added_lines} -{stat.model_removed_lines})"
    yield f"File: {one_line(confirmation.file_path)}{counts}"
    lines = [f"| {line}" for line in visible(confirmation.file_diff.removesuffix("\n")).split("\n")]
    ends = accumulate(len(line) + 1 for line in lines)
    shown = sum(1 for _ in takewhile(lambda end: end <= _LONGEST_DIFF, ends))
    yield from lines[:shown]
    if shown < len(lines):
        yield f"The change goes on: {len(lines) - shown} more lines are not shown. Say no unless you know them."


def _marked(text: str, *, first: str = "> ") -> Iterator[str]:
    for number, line in enumerate(visible(text).split("\n")):
        yield f"{'> ' if number else first}{line}"


def one_line(text: str) -> str:
    """A text that is to stand in one line, with everything shown that would end the line."""
    return visible(text).replace("\n", "<U+000A>")
