"""Lets a person rewrite a proposed text in the editor of their choice."""

import asyncio
import os
import re
import shlex
import sys
import termios
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from tejat.core.errors import UsageError
from tejat.core.value import value

EDITORS: dict[str, tuple[str, ...]] = {
    "vscode": ("code", "code-insiders"),
    "vscodium": ("codium", "vscodium"),
    "windsurf": ("windsurf",),
    "cursor": ("cursor",),
    "zed": ("zed", "zeditor"),
    "antigravity": ("agy",),
    "sublimetext": ("subl",),
    "lapce": ("lapce",),
    "nova": ("nova",),
    "bbedit": ("bbedit",),
    "vim": ("vim",),
    "neovim": ("nvim",),
    "emacs": ("emacs",),
    "emacsclient": ("emacsclient -t",),
    "hx": ("hx", "helix"),
    "micro": ("micro",),
    "nano": ("nano",),
    "vi": ("vi",),
}
"""The editors that a setting may name, and the commands that start each of them, the first that is there."""

_SECONDS_TO_END = 2.0


@value
class Editor:
    """The person's editor: the one they set, else that of their own VISUAL or EDITOR.

    `preferred` is a key of EDITORS. Programs that lie in one of the `untrusted` directories, those worked in, are never
    taken from PATH.
    """

    preferred: str | None = None
    untrusted: tuple[str, ...] = ()

    async def edit(self, file_name: str, *, old: str, new: str) -> str:
        """Open the new text, beside the old one where the editor can do that, and return what was saved.

        Raises UsageError that says in words why nothing came of it. Nothing is left behind in any case.
        """
        command = self._command()
        try:
            with _private_files(file_name, old, new) as (old_path, new_path):
                code = await _run(_arguments(command, old_path, new_path), os.path.dirname(new_path))
                if code:
                    raise UsageError(f"The editor ended with exit code {code}, so nothing was taken over.")
                return _read(new_path)
        except OSError as error:
            raise UsageError(f"The text could not be handed to the editor: {error.strerror}.") from error
        except UnicodeEncodeError as error:
            raise UsageError("The text has characters that cannot be handed to an editor.") from error

    def _command(self) -> list[str]:
        """The program by its absolute path, and the arguments that the person gave it. Raises UsageError."""
        wanted = self._wanted()
        for words in wanted:
            path = self._find(words[0])
            if path is not None:
                return [path, *words[1:]]
        raise UsageError(f"No external editor is available: {wanted[0][0]} was not found.")

    def _wanted(self) -> list[list[str]]:
        if self.preferred is not None:
            if self.preferred not in EDITORS:
                known = ", ".join(EDITORS)
                raise UsageError(f'No external editor is available: "{self.preferred}" is none of {known}.')
            return [command.split() for command in EDITORS[self.preferred]]
        for name in ("VISUAL", "EDITOR"):
            value = os.environ.get(name, "")
            try:
                words = shlex.split(value)
            except ValueError as error:
                raise UsageError(f"No external editor is available: {name} cannot be read, {error}.") from error
            if words:
                return [words]
        raise UsageError("No external editor is available. Set VISUAL or EDITOR, or preferredEditor in the settings.")

    def _find(self, program: str) -> str | None:
        if "/" in program:
            return program if os.path.isabs(program) and _is_program(program) else None
        for directory in os.environ.get("PATH", "").split(os.pathsep):
            path = os.path.join(directory, program)
            if os.path.isabs(directory) and _is_program(path) and not self._is_untrusted(path):
                return path
        return None

    def _is_untrusted(self, path: str) -> bool:
        places = (path, os.path.realpath(path))
        roots = [os.path.join(spelled, "") for root in self.untrusted for spelled in (root, os.path.realpath(root))]
        return any(place.startswith(root) for place in places for root in roots)


def _arguments(command: Sequence[str], old_path: str, new_path: str) -> list[str]:
    """The command that shows both texts where the editor is known to be able to, else opens the new one."""
    name = os.path.basename(command[0])
    if name in _WITH_DIFF_OPTION:
        return [*command, "--wait", "--diff", old_path, new_path]
    if name in ("vim", "nvim"):
        # Without swap file, history and modelines: the text is not the person's yet.
        quiet = ("-n", "-i", "NONE", "--cmd", "autocmd BufReadPre * setlocal nomodeline nofixendofline")
        left = "wincmd h | setlocal readonly nomodifiable | wincmd l"
        return [*command, *quiet, "-d", "-c", left, old_path, new_path]
    if name == "emacs":
        compared = f"(ediff-files {_lisp(old_path)} {_lisp(new_path)})"
        return [*command, "--eval", f"(progn (setq enable-local-variables nil) {compared})"]
    if name in ("hx", "helix"):
        return [*command, "--vsplit", old_path, new_path]
    if name in _WITH_WAIT_OPTION:
        return [*command, "-w", new_path]
    return [*command, new_path]


@contextmanager
def _private_files(file_name: str, old: str, new: str) -> Generator[tuple[str, str]]:
    """Both texts as files that nobody else can see. Raises OSError, and UnicodeEncodeError for what is no text."""
    directory = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"gemini-cli-tool-modify-{os.urandom(6).hex()}")
    stem, extension = (_UNUSUAL.sub("_", part)[:_LONGEST_PART] for part in os.path.splitext(file_name))
    now = time.time_ns() // 1_000_000
    os.mkdir(directory, 0o700)
    try:
        os.chmod(directory, 0o700)  # whatever the umask took away
        paths = [os.path.join(directory, f"gemini-cli-modify-{stem}-{age}-{now}{extension}") for age in ("old", "new")]
        for path, text in zip(paths, (old, new), strict=True):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(text.encode("utf-8", "surrogateescape"))
        yield paths[0], paths[1]
    finally:
        _remove(directory)


async def _run(arguments: Sequence[str], directory: str) -> int:
    """Hand the terminal to a program until it ends; return its exit code. Cancelled, it ends the program first."""
    # Results may be on their way into a file; whoever edits looks at the terminal where they were asked.
    output = None if sys.stdout.isatty() else sys.stderr.fileno()
    with _terminal_kept():
        process = await asyncio.create_subprocess_exec(*arguments, cwd=directory, stdout=output)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _SECONDS_TO_END)
    except TimeoutError:
        process.kill()
        await process.wait()


@contextmanager
def _terminal_kept() -> Generator[None]:
    """However the program leaves the terminal, lines can be typed afterwards."""
    terminal = sys.stdin.fileno()
    try:
        modes = termios.tcgetattr(terminal)
    except termios.error:
        yield
        return
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSADRAIN, modes)


def _read(path: str) -> str:
    """What was saved; a file that was removed counts as empty."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _remove(directory: str) -> None:
    """Remove the directory with whatever the editor left in it."""
    for base, directories, files in os.walk(directory, topdown=False):
        for name in (*files, *directories):
            path = os.path.join(base, name)
            with suppress(OSError):
                if os.path.isdir(path) and not os.path.islink(path):
                    os.rmdir(path)
                else:
                    os.unlink(path)
    with suppress(OSError):
        os.rmdir(directory)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _lisp(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_WITH_DIFF_OPTION = frozenset(
    {"code", "code-insiders", "codium", "vscodium", "windsurf", "cursor", "zed", "zeditor", "agy"}
)
_WITH_WAIT_OPTION = frozenset({"subl", "lapce", "nova", "bbedit"})
_UNUSUAL = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_PART = 60
