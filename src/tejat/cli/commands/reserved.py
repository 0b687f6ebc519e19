"""Commands of Gemini CLI that do not exist here: their names are never sent to a model."""

from tejat.cli.flags import split_words
from tejat.cli.run import report_input_error
from tejat.cli.subcommands import prompt_command
from tejat.core.exit_codes import EXIT_OK
from tejat.core.i18n import _


def run_gemma(words: list[str]) -> int:
    """Name the replacement of the local router and return the exit code."""
    hint = _("Tejat has no local router. To use a local model: tejat -m ollama:NAME.")
    return _refuse("gemma", words, hint)


def run_update(words: list[str]) -> int:
    """Explain how to update and return the exit code."""
    hint = _(
        "Tejat does not update itself. Update it the way you installed it, for example: {command}.",
        command="uv tool upgrade tejat",
    )
    return _refuse("update", words, hint)


def _refuse(command: str, words: list[str], hint: str) -> int:
    message = missing_command(command, [command, *words], hint)
    if "-h" in words or "--help" in words:
        print(message)
        return EXIT_OK
    return report_input_error(message, words)


def missing_command(command: str, words: list[str], hint: str = "") -> str:
    """The sentence about a command that does not exist, and how to send its words to the model."""
    what = hint or _('Tejat has no command "{command}" yet.', command=command)
    prompt = [str(token.value) for token in split_words(words) if token.flag in ("", "--")]
    return f"{what} {_('To send it to the model: {command}', command=prompt_command(prompt))}"
