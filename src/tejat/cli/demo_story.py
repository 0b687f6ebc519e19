"""What `tejat demo` prints: each event of the run in words for somebody who sees this for the first time."""

from collections.abc import Sequence

from tejat.cli.style import Style
from tejat.core.agent_events import AgentEvent, Answered, EndReason, Noticed, Prompted, Retrying, RunEnded
from tejat.core.display import FileDiff
from tejat.core.events import CallFinished
from tejat.core.model import CONVERSATION, FailureKind
from tejat.core.types import FunctionCall
from tejat.core.visible import visible

_LOOKING = frozenset({"list_directory", "search_file_content", "read_file"})
"""Tools whose result is best shown as the model sees it; of others the person is told by what they display."""
_NOT_SHOWN = frozenset({"old_string", "new_string", "instruction", "description"})
_MOST_LINES = 12
_MOST_CHARACTERS = 100
_INDENT = "    "

_INTRODUCTION = """\
This is a demonstration: a script plays the model, so there is no key and no network. Everything else is real: the
tools, the rules that decide what may run, the sandbox, and a small project in {directory}
with a test that fails. All of it is a copy that goes away at the end; your own files and memories are not touched.
{approval}"""
_ASKING = "As in real use you are asked before anything is changed or run."
_AGREED = "You agreed beforehand (--yes), so nothing is asked. Without it you would see each change before it is made."

_NEXT_STEPS = """\
What to try next, in a project of your own:

    tejat tools list                            the tools, for you as for a model
    tejat doctor                                what works here, above all the sandbox
    export GEMINI_API_KEY=...                   a key makes a model of it; others: tejat --help
    tejat -p "what does this project do?"       one question, one answer
    tejat undo                                  what was changed, and the way back

docs/scripted.md tells how to write such a script yourself, and how to record a run and play it again."""


class Story:
    """Tells of a run in the directory, whose files are named as they are from there."""

    def __init__(self, directory: str, style: Style) -> None:
        self._directory = directory
        self._style = style

    def introduction(self, *, is_agreed: bool) -> list[str]:
        approval = _AGREED if is_agreed else _ASKING
        return [*_INTRODUCTION.format(directory=visible(self._directory), approval=approval).split("\n"), ""]

    def told(self, event: AgentEvent) -> list[str]:
        """The lines that tell of the event, none for what a newcomer need not know."""
        bold = self._style.bold
        match event:
            case Prompted(shown=shown):
                return [f"{bold('You:')} {visible(shown)}", ""]
            case Answered(answer, purpose=purpose) if purpose == CONVERSATION and answer.text.strip():
                return [f"{bold('Model:')} {visible(answer.text.strip())}", ""]
            case CallFinished(call=call):
                called = f"{bold(visible(call.name))} {self._arguments(call)}".rstrip()
                return [called, *_indented(self._result(event)), ""]
            case Retrying(reason=reason, wait=wait):
                return [f"The model did not answer ({visible(reason)}); once more in {wait:.1f} s.", ""]
            case Noticed(message):
                return [f"Note: {visible(message)}", ""]
            case RunEnded():
                return _ending(event)
            case _:
                return []

    def _arguments(self, call: FunctionCall) -> str:
        """What the call is about, in a line; the texts of an edit are in its diff."""
        if "command" in call.args:
            return f"$ {self._short(call.args['command'])}"
        return " ".join(f"{key}={self._short(value)}" for key, value in call.args.items() if key not in _NOT_SHOWN)

    def _short(self, value: object) -> str:
        text = visible(self._from_here(str(value))).replace("\n", " ")
        return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"

    def _result(self, finished: CallFinished) -> list[str]:
        result = finished.result
        if result.error is not None:
            return f"failed: {visible(result.error.message)}".split("\n")
        if isinstance(result.return_display, FileDiff):
            return self._style.diff(result.return_display.file_diff).split("\n")
        is_seen = finished.call.name in _LOOKING and isinstance(result.llm_content, str)
        text = str(result.llm_content if is_seen else result.return_display)
        lines = visible(self._from_here(text)).strip("\n").split("\n")
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES:] = [f"… and {len(lines) - _MOST_LINES} more lines"]
        return lines

    def _from_here(self, text: str) -> str:
        return text.replace(f"{self._directory}/", "").replace(self._directory, ".")


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{line}".rstrip() for line in lines]


def _ending(ended: RunEnded) -> list[str]:
    if ended.reason is EndReason.FINISHED:
        return list(_NEXT_STEPS.split("\n"))
    if ended.reason is EndReason.NOT_ALLOWED:
        return [
            "You said no, so it was not done, and the run is over. In real use you would now say what to do instead."
        ]
    if ended.failure is FailureKind.SCRIPT:
        return [
            "The demonstration ends here. Its script knows only one way, and this was another:",
            visible(ended.message),
        ]
    return [f"The demonstration ended early: {visible(ended.message or ended.reason)}"]
