"""Programs that servers and hooks of an extension start: where they are, and whether they fetch their code."""

import os
import re
import shlex
from collections.abc import Sequence

from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath
from tejat.workspace.files.regular_file import find_user_program, is_executable_file

_FETCHERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "dnx"})
_FETCHING_COMMANDS = {
    "npm": {"exec", "x"},
    "yarn": {"dlx"},
    "pnpm": {"dlx", "exec"},
    "bun": {"x"},
    "uv": {"run", "tool"},
    "deno": {"run"},
    "docker": {"run"},
    "podman": {"run"},
    "nerdctl": {"run"},
    "go": {"run"},
    "nix": {"run", "shell"},
}
_PIPED_TO_SHELL = re.compile(r"\b(?:curl|wget|fetch)\b[^|;&]*\|\s*(?:sudo\s+)?(?:env\s+)?(?:ba|z|da)?sh\b")
_SUBSTITUTED = re.compile(r"(?:\$\(|`|<\()\s*(?:curl|wget)\b")
_INTERPRETERS = frozenset({"node", "python", "python3", "bash", "sh", "deno", "bun", "ruby", "perl"})
_PATH_OF_URL = re.compile(r"https?://")


def split_words(line: str) -> list[str]:
    """The words of a shell line, as far as they can be told apart."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def fetches_code(words: Sequence[str]) -> bool:
    """Whether a command is known to download the code that it runs."""
    program = os.path.basename(words[0]) if words else ""
    if program in _FETCHERS:
        return True
    arguments = [word for word in words[1:] if not word.startswith("-")]
    first = arguments[0] if arguments else ""
    if program in ("uv", "deno", "go"):  # they also run what is there already
        return first in _FETCHING_COMMANDS[program] and any(map(_is_remote, arguments[1:]))
    return first in _FETCHING_COMMANDS.get(program, ())


def line_fetches_code(line: str) -> bool:
    """Whether a shell line is known to download code that it runs."""
    return bool(_PIPED_TO_SHELL.search(line) or _SUBSTITUTED.search(line)) or any(
        fetches_code(split_words(part)) for part in re.split(r"\|\||&&|[;|\n]", line)
    )


def describe_program(name: str, *, place: str, path: str, directory: str) -> str:
    """Where a program is: in the extension, on PATH, elsewhere, or nowhere.

    `place` is the directory that the extension is in or will be in, `path` the one that has its files now.
    """
    if "/" not in name:
        found = find_user_program(name, untrusted=(path,))
        if found is None:
            return lazy("program: {name}, not found in PATH", name=name)
        return lazy("program: {path}, found in PATH", path=found)
    whole = os.path.normpath(os.path.join(directory, name))
    if is_beneath(whole, place):
        real = path + whole[len(place) :]
        if not os.path.lexists(real):
            return lazy("program: {path}, missing in the extension", path=whole)
        if not is_executable_file(real):
            return lazy("program: {path}, in the extension, not executable", path=whole)
        return lazy("program: {path}, in the extension", path=whole)
    if not is_executable_file(whole):
        return lazy("program: {path}, does not exist", path=whole)
    return lazy("program: {path}, outside of the extension", path=whole)


def missing_files(words: Sequence[str], *, place: str, path: str, directory: str) -> list[str]:
    """Files in the extension that a command names and that are not there, such as programs in `node_modules`."""
    missing: list[str] = []
    for number, word in enumerate(words):
        is_script = number == 1 and os.path.basename(words[0]) in _INTERPRETERS and not word.startswith("-")
        if not (os.path.isabs(word) or (is_script and "/" in word)) or _PATH_OF_URL.match(word):
            continue
        whole = os.path.normpath(os.path.join(directory, word))
        if is_beneath(whole, place) and not os.path.lexists(path + whole[len(place) :]):
            missing.append(whole)
    return missing


def _is_remote(word: str) -> bool:
    return word == "run" or "@" in word or word.startswith(("http://", "https://", "npm:", "jsr:", "github.com/"))
