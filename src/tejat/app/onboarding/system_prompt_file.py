"""Export of the built-in system prompt to the file that `GEMINI_WRITE_SYSTEM_MD` names."""

import os
from collections.abc import Callable

from tejat.app.run_config import RunConfig
from tejat.app.session.prompt.instructions import SYSTEM_PROMPT
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.workspace.files.private_files import write_private_file


def write_system_prompt(run_config: RunConfig, build: Callable[[], str]) -> None:
    """Write the prompt if the variable is set. Raises UsageError if there is another file, or it cannot be written."""
    path = _target(run_config)
    if path is None:
        return
    text = build() + "\n"
    if _is_other_file(path, text):
        message = _(
            "GEMINI_WRITE_SYSTEM_MD points to {path}, which already exists. Remove it, or choose another file.",
            path=path,
        )
        raise UsageError(message)
    _write(path, text)


async def offer_system_prompt(run_config: RunConfig, build: Callable[[], str], user: UserPrompter) -> None:
    """Write the prompt if the variable is set, after a question if there is another file.

    Raises UsageError if it cannot be written.
    """
    path = _target(run_config)
    if path is None:
        return
    text = build() + "\n"
    if _is_other_file(path, text):
        options = (Option(_("Yes, replace it")), Option(_("No, keep it")))
        question = _("Replace {path} with the built-in system prompt?", path=path)
        if await user.choose(Choice(question, options, initial=1, is_critical=True)) != 0:
            return
    _write(path, text)
    user.show(text_report(_("The built-in system prompt is in {path}.", path=path), Tone.QUIET))


def _target(run_config: RunConfig) -> str | None:
    """The file to write. Raises UsageError for a project's file that leads out of the project."""
    word = run_config.environment.get("GEMINI_WRITE_SYSTEM_MD", "").strip()
    if word.lower() in ("", "0", "false"):
        return None
    root = run_config.roots[0]
    if word.lower() not in ("1", "true"):
        return os.path.join(root, os.path.expanduser(word))
    path = os.path.join(root, SYSTEM_PROMPT)
    if not os.path.realpath(path).startswith(f"{os.path.realpath(root).rstrip('/')}/"):
        raise UsageError(_("{path} links to a file outside {root}, so it is not written.", path=path, root=root))
    return path


def _is_other_file(path: str, text: str) -> bool:
    """Whether there is something else than this text. Raises UsageError if that cannot be read."""
    if not os.path.lexists(path):
        return False
    if not os.path.isfile(path):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(len(text.encode()) + 1) != text.encode()
    except OSError as error:
        raise _failure(path, error) from None


def _write(path: str, text: str) -> None:
    """Raises UsageError."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_private_file(path, text, mode=0o644)
    except OSError as error:
        raise _failure(path, error) from None


def _failure(path: str, error: OSError) -> UsageError:
    return UsageError(_("Could not write {path}: {why}.", path=path, why=error.strerror or error))
