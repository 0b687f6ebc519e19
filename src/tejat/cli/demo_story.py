"""What `tejat demo` prints: each event of the run in words for somebody who sees this for the first time."""

from collections.abc import Sequence

from tejat.cli.style import Style
from tejat.core.agent_events import AgentEvent, Answered, EndReason, Noticed, Prompted, Retrying, RunEnded
from tejat.core.display import FileDiff
from tejat.core.events import CallFinished
from tejat.core.model import CONVERSATION, FailureKind
from tejat.core.types import FunctionCall
from tejat.core.visible import visible
from tejat.core.words import say, translated

_LOOKING = frozenset({"list_directory", "search_file_content", "read_file"})
"""Tools whose result is best shown as the model sees it; of others the person is told by what they display."""
_NOT_SHOWN = frozenset({"old_string", "new_string", "instruction", "description"})
_MOST_LINES = 12
_MOST_CHARACTERS = 100
_INDENT = "    "


class Story:
    """Tells of a run in the directory, whose files are named as they are from there."""

    def __init__(self, directory: str, style: Style) -> None:
        self._directory = directory
        self._style = style

    def introduction(self, *, is_agreed: bool) -> list[str]:
        return [*_introduction(visible(self._directory), is_agreed=is_agreed).split("\n"), ""]

    def told(self, event: AgentEvent) -> list[str]:
        """The lines that tell of the event, none for what a newcomer need not know."""
        bold = self._style.bold
        match event:
            case Prompted(shown=shown):
                return [f"{bold(say('You:'))} {visible(shown)}", ""]
            case Answered(answer, purpose=purpose) if purpose == CONVERSATION and answer.text.strip():
                return [f"{bold(say('Model:'))} {visible(answer.text.strip())}", ""]
            case CallFinished(call=call):
                called = f"{bold(visible(call.name))} {self._arguments(call)}".rstrip()
                return [called, *_indented(self._result(event)), ""]
            case Retrying(reason=reason, wait=wait):
                told = say(
                    "The model did not answer ({reason}); once more in {wait:.1f} s.",
                    reason=visible(translated(reason)),
                    wait=wait,
                )
                return [told, ""]
            case Noticed(message):
                return [say("Note: {message}", message=visible(translated(message))), ""]
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
            return say("failed: {reason}", reason=visible(translated(result.error.message))).split("\n")
        if isinstance(result.return_display, FileDiff):
            return self._style.diff(result.return_display.file_diff).split("\n")
        is_seen = finished.call.name in _LOOKING and isinstance(result.llm_content, str)
        text = str(result.llm_content if is_seen else result.return_display)
        lines = visible(self._from_here(text)).strip("\n").split("\n")
        if len(lines) > _MOST_LINES:
            lines[_MOST_LINES:] = [_and_more(len(lines) - _MOST_LINES)]
        return lines

    def _from_here(self, text: str) -> str:
        return text.replace(f"{self._directory}/", "").replace(self._directory, ".")


def _introduction(directory: str, *, is_agreed: bool) -> str:
    asking = say("As in real use you are asked before anything is changed or run.")
    agreed = say(
        "You agreed beforehand (--yes), so nothing is asked. Without it you would see each change before it is made."
    )
    return say(
        """\
This is a demonstration: a script plays the model, so there is no key and no network. Everything else is real: the
tools, the rules that decide what may run, the sandbox, and a small project in {directory}
with a test that fails. All of it is a copy that goes away at the end; your own files and memories are not touched.
{approval}""",
        directory=directory,
        approval=agreed if is_agreed else asking,
    )


def _next_steps() -> str:
    return say("""\
What to try next, in a project of your own:

    tejat tools list                            the tools, for you as for a model
    tejat doctor                                what works here, above all the sandbox
    export GEMINI_API_KEY=...                   a key makes a model of it; others: tejat --help
    tejat -p "what does this project do?"       one question, one answer
    tejat undo                                  what was changed, and the way back

docs/scripted.md tells how to write such a script yourself, and how to record a run and play it again.""")


def _and_more(count: int) -> str:
    return say("… and {count} more lines", count=count)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{line}".rstrip() for line in lines]


def _ending(ended: RunEnded) -> list[str]:
    if ended.reason is EndReason.FINISHED:
        return _next_steps().split("\n")
    if ended.reason is EndReason.NOT_ALLOWED:
        return [
            say(
                "You said no, so it was not done, and the run is over. "
                "In real use you would now say what to do instead."
            )
        ]
    if ended.failure is FailureKind.SCRIPT:
        return [
            say("The demonstration ends here. Its script knows only one way, and this was another:"),
            visible(translated(ended.message)),
        ]
    return [say("The demonstration ended early: {reason}", reason=visible(translated(ended.message) or ended.reason))]
