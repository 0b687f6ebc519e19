"""Commands of Gemini CLI that do not exist here: their names are never sent to a model."""

from tejat.app.run_config import load_run_config
from tejat.cli.flags import split_words
from tejat.cli.messages import print_error
from tejat.cli.run import report_input_error
from tejat.cli.subcommands import prompt_command
from tejat.config.settings.admin import require_enabled
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.exit_codes import EXIT_CONFIGURATION, EXIT_OK
from tejat.core.i18n import _


def run_skills(words: list[str]) -> int:
    """Report that there are no skills yet and return the exit code."""
    refused = None if {"-h", "--help"} & set(words) else refuse_if_switched_off("skills")
    if refused is not None:
        return refused
    return _refuse("skills", words, "")


def refuse_if_switched_off(feature: str) -> int | None:
    """Report that extensions or skills are disabled and return the exit code; None if they are not."""
    try:
        settings = load_run_config(["."]).settings
        switch = settings.skills_enabled if feature == "skills" else settings.extensions_enabled
        require_enabled(switch, f"admin.{feature}.enabled")
    except ConfigurationError as error:
        print_error(error)
        return EXIT_CONFIGURATION
    except UsageError:
        return None  # not the settings' fault
    return None


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
