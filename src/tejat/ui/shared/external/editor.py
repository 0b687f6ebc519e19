"""The user's external editor."""

import os
import re
import shlex
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.ui.editors import EDITOR_VARIABLES, KNOWN_EDITORS
from tejat.ui.shared.external.program import private_temp_directory, run_in_terminal, write_private_file
from tejat.workspace.files.regular_file import find_user_program


class ExternalEditor(Frozen):
    """The editor from the settings, else from VISUAL or EDITOR.

    `preferred` is a key of KNOWN_EDITORS, or a command. Programs below the `untrusted` directories (the workspace) are
    never taken from PATH. With `new_window`, VS Code and its relatives open a window of their own.
    """

    preferred: str | None = None
    untrusted: tuple[str, ...] = ()
    new_window: bool = False

    async def edit_diff(self, file_name: str, *, old: str, new: str) -> str:
        """Open the new text, as a diff if possible, and return the saved text. Leaves no files. Raises UsageError."""
        command = self._command()
        with _editor_errors(), _private_files(file_name, old, new) as (old_path, new_path):
            return await _run_editor(_diff_command(command, old_path, new_path), new_path)

    async def edit_text(self, text: str, *, suffix: str) -> str:
        """Open a text and return the saved one. Raises UsageError as `edit_diff` does."""
        command = self._command()
        with _editor_errors(), private_temp_directory("tejat-text") as directory:
            path = os.path.join(directory, f"text{_UNSAFE_CHARACTERS.sub('_', suffix)[:_MAX_PART_CHARS]}")
            write_private_file(path, text)
            return await _run_editor(_open_command(command, path), path)

    def _command(self) -> list[str]:
        """Return the absolute path of the program and the configured arguments. Raises UsageError."""
        candidates = self._candidates()
        for words in candidates:
            path = find_user_program(words[0], untrusted=self.untrusted)
            if path is not None:
                has_option = self.new_window and os.path.basename(path) in _VS_CODE_FAMILY
                return [path, *words[1:], *(("--new-window",) if has_option else ())]
        raise UsageError(_("No external editor is available: {name} was not found.", name=candidates[0][0]))

    def _candidates(self) -> list[list[str]]:
        if self.preferred in KNOWN_EDITORS:
            return [command.split() for command in KNOWN_EDITORS[self.preferred]]
        sources = {
            "preferredEditor": self.preferred or "",
            **{name: os.environ.get(name, "") for name in EDITOR_VARIABLES},
        }
        for name, command in sources.items():
            try:
                words = shlex.split(command)
            except ValueError as error:
                why = _("No external editor is available: could not parse {name} ({error}).", name=name, error=error)
                raise UsageError(why) from error
            if words:
                return [words]
        why = _("No external editor is available. Set VISUAL or EDITOR, or preferredEditor in the settings.")
        raise UsageError(why)


async def _run_editor(arguments: Sequence[str], path: str) -> str:
    """Run the editor and return the content of the file. Raises UsageError and OSError."""
    code = await run_in_terminal(arguments, os.path.dirname(path))
    if code:
        raise UsageError(_("The editor exited with code {code}. Nothing was changed.", code=code))
    return _read(path)


@contextmanager
def _editor_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(_("Could not open the editor: {reason}.", reason=error.strerror)) from error
    except UnicodeEncodeError as error:
        raise UsageError(_("The text contains characters that an editor cannot read.")) from error


def _diff_command(command: Sequence[str], old_path: str, new_path: str) -> list[str]:
    """Return the command that shows both texts if the editor is known to support that, else opens the new one."""
    name = os.path.basename(command[0])
    if name in _WITH_DIFF_OPTION:
        return [*command, "--wait", "--diff", old_path, new_path]
    if name in ("vim", "nvim"):
        # No swap file, history or modelines: the text is not trusted yet.
        quiet = ("-n", "-i", "NONE", "--cmd", "autocmd BufReadPre * setlocal nomodeline nofixendofline")
        left = "wincmd h | setlocal readonly nomodifiable | wincmd l"
        return [*command, *quiet, "-d", "-c", left, old_path, new_path]
    if name == "emacs":
        compared = f"(ediff-files {_lisp(old_path)} {_lisp(new_path)})"
        return [*command, "--eval", f"(progn (setq enable-local-variables nil) {compared})"]
    if name in ("hx", "helix"):
        return [*command, "--vsplit", old_path, new_path]
    return _open_command(command, new_path)


def _open_command(command: Sequence[str], path: str) -> list[str]:
    """Return the command that opens one file and waits until it is closed."""
    name = os.path.basename(command[0])
    if name in _WITH_DIFF_OPTION:
        return [*command, "--wait", path]
    return [*command, "-w", path] if name in _WITH_WAIT_OPTION else [*command, path]


@contextmanager
def _private_files(file_name: str, old: str, new: str) -> Generator[tuple[str, str]]:
    """Write both texts to private files. Raises OSError, and UnicodeEncodeError for text that cannot be encoded."""
    stem, extension = (_UNSAFE_CHARACTERS.sub("_", part)[:_MAX_PART_CHARS] for part in os.path.splitext(file_name))
    now = time.time_ns() // 1_000_000
    with private_temp_directory("gemini-cli-tool-modify") as directory:
        paths = [os.path.join(directory, f"gemini-cli-modify-{stem}-{age}-{now}{extension}") for age in ("old", "new")]
        for path, text in zip(paths, (old, new), strict=True):
            write_private_file(path, text)
        yield paths[0], paths[1]


def _read(path: str) -> str:
    """Return the saved text; a removed file counts as empty."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _lisp(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_VS_CODE_FAMILY = frozenset({"code", "code-insiders", "codium", "vscodium", "windsurf", "cursor", "agy"})
_WITH_DIFF_OPTION = _VS_CODE_FAMILY | {"zed", "zeditor"}
_WITH_WAIT_OPTION = frozenset({"subl", "lapce", "nova", "bbedit"})
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_.-]")
_MAX_PART_CHARS = 60
