"""The output of `tejat demo --yes`: the events of one task as plain text."""

from tejat.cli.commands.demo.tour import next_steps
from tejat.core.agent.events import AgentEvent, Answered, EndReason, Noticed, Prompted, Retrying, RunEnded
from tejat.core.i18n import _, translate
from tejat.core.messages.types import FunctionCall
from tejat.core.model import CONVERSATION
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.display import FileDiff
from tejat.ui.plain.diff import format_diff_rows
from tejat.ui.plain.style import Style
from tejat.ui.shared.diff.rows import build_diff_rows

_READ_TOOLS = frozenset({"list_directory", "search_file_content", "read_file"})
"""Tools whose result is shown as the model gets it; of others the display is shown."""
_HIDDEN_ARGUMENTS = frozenset({"old_string", "new_string", "instruction", "description"})
_MAX_LINES = 12
_MAX_CHARACTERS = 100
_INDENT = "    "


class DemoOutput:
    """Renders the events of a run; paths are relative to its directory."""

    def __init__(self, directory: str, style: Style) -> None:
        self._directory = directory
        self._style = style

    def introduction(self) -> list[str]:
        text = _(
            """\
This is Tejat with a scripted model, so it needs no API key and no network. Tools, rules and sandbox are real.
The project is a scratch copy in {directory} that is deleted at the end.
Everything is approved (--yes). Without it, you approve each change and command.""",
            directory=sanitize_text(self._directory),
        )
        return [*text.split("\n"), ""]

    def render(self, event: AgentEvent) -> list[str]:
        """The lines for an event, none for details that newcomers do not need."""
        bold = self._style.bold
        match event:
            case Prompted(display_text=shown):
                return [bold(_("You:")) + f" {sanitize_text(shown)}", ""]
            case Answered(answer, purpose=purpose) if purpose == CONVERSATION and answer.text.strip():
                return [bold(_("Model:")) + f" {sanitize_text(answer.text.strip())}", ""]
            case CallFinished(call=call):
                called = f"{bold(sanitize_text(call.name))} {self._arguments(call)}".rstrip()
                return [called, *(f"{_INDENT}{line}".rstrip() for line in self._result(event)), ""]
            case Retrying(reason=reason, wait=wait):
                text = _(
                    "The model did not answer ({reason}). Retrying in {wait:.1f} s.",
                    reason=sanitize_text(translate(reason)),
                    wait=wait,
                )
                return [text, ""]
            case Noticed(message):
                return [_("Note: {message}", message=sanitize_text(translate(message))), ""]
            case RunEnded():
                return _ending_lines(event)
            case _:
                return []

    def _arguments(self, call: FunctionCall) -> str:
        """The arguments of a call in one line, without edit texts, which are in the diff."""
        if "command" in call.args:
            return f"$ {self._short(call.args['command'])}"
        shown = [(key, value) for key, value in call.args.items() if key not in _HIDDEN_ARGUMENTS]
        return " ".join(f"{key}={self._short(value)}" for key, value in shown)

    def _short(self, value: object) -> str:
        text = sanitize_summary(self._relative(str(value)))
        return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"

    def _result(self, finished: CallFinished) -> list[str]:
        result = finished.result
        if result.error is not None:
            return _("failed: {reason}", reason=sanitize_text(translate(result.error.message))).split("\n")
        if isinstance(result.return_display, FileDiff):
            rows = build_diff_rows(result.return_display.file_diff, with_files=False)
            name = result.return_display.file_name
            return format_diff_rows(rows, self._style, file_name=name, indent=len(_INDENT))
        is_seen = finished.call.name in _READ_TOOLS and isinstance(result.llm_content, str)
        text = str(result.llm_content if is_seen else result.return_display)
        lines = sanitize_text(self._relative(text)).strip("\n").split("\n")
        if len(lines) > _MAX_LINES:
            lines[_MAX_LINES:] = [_("… and {count} more lines", count=len(lines) - _MAX_LINES)]
        return lines

    def _relative(self, text: str) -> str:
        return text.replace(f"{self._directory}/", "").replace(self._directory, ".")


def _ending_lines(ended: RunEnded) -> list[str]:
    if ended.reason is EndReason.FINISHED:
        return [_("Run `tejat demo` without --yes to try it yourself."), *next_steps().split("\n")]
    reason = sanitize_text(translate(ended.message) or ended.reason)
    return [_("The demo ended early: {reason}", reason=reason)]
