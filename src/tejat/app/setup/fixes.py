"""Shell commands that help with failed checks of `tejat doctor`."""

import re
from shlex import join, quote

from tejat.core.errors import ConfigurationError
from tejat.workspace.helper_program import find_program

_INSTALLERS = {
    "apt-get": "sudo apt-get install {}",
    "dnf": "sudo dnf install {}",
    "pacman": "sudo pacman -S {}",
    "zypper": "sudo zypper install {}",
    "apk": "sudo apk add {}",
    "brew": "brew install {}",
}
_SOURCE = re.compile(r"(/.+?):(\d+)(?=[: ,;)]|\Z)")


def edit_fix(path: str, line: int | None = None) -> str:
    """Open a file in the user's editor."""
    return f"$EDITOR {quote(path)}" if line is None else f"$EDITOR +{line} {quote(path)}"


def source_fix(text: str) -> str:
    """Open the first place like `/path:line` in a text; empty if there is none."""
    found = _SOURCE.search(text)
    return "" if found is None else edit_fix(found[1], int(found[2]))


def fault_fix(error: ConfigurationError) -> str:
    """What helps with an invalid file."""
    if error.fix:
        return join(error.fix)
    return edit_fix(error.path, error.line) if error.path else source_fix(str(error))


def install_fix(package: str) -> str:
    """Install a package, with the package manager of this machine if it is known."""
    for program, command in _INSTALLERS.items():
        if find_program(program) is not None:
            return command.format(package)
    return ""
