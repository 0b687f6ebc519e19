"""Directories above a path, and the files that a program is made of."""

import os
from collections.abc import Sequence

from tejat.core.text.paths import is_beneath

# A directory that holds one of these is the top of a project, a package or a virtual environment.
_TREE_MARKERS = ("pyvenv.cfg", "pyproject.toml", "setup.py", "package.json", "go.mod", "Cargo.toml", ".git")


def ancestors(path: str, top: str) -> list[str]:
    """Return the directories between `top` and the path, both excluded, outermost first."""
    found: list[str] = []
    parent = path.rpartition("/")[0]
    while is_beneath(parent, top) and parent != top:
        found.append(parent)
        parent = parent.rpartition("/")[0]
    return found[::-1]


def program_files(arguments: Sequence[str], directory: str) -> tuple[str, ...]:
    """Return the real paths of the program and of the first argument that names a file: the script of an interpreter.

    A link to the program counts as well as its target: a virtual environment is found by the link.
    """
    program, *others = (os.path.join(directory, argument) for argument in arguments)
    script = next(filter(os.path.isfile, others), None)
    links = [path for path in (program, script) if path is not None]
    named = [os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path in links]
    return tuple(dict.fromkeys((*named, *map(os.path.realpath, links))))


def program_tree(path: str, top: str) -> str:
    """Return what has to be readable below `top` for the program at `path` to run.

    This is the innermost project or environment around it, else its directory (or the one above a `bin`), or just the
    file if it lies directly in `top`.
    """
    above = ancestors(path, top)
    if not above:
        return path
    modules = next((parent for parent in above if os.path.isdir(f"{parent}/node_modules")), None)
    if modules is not None and is_beneath(path, f"{modules}/node_modules"):
        return modules
    for parent in reversed(above):
        if any(os.path.lexists(f"{parent}/{marker}") for marker in _TREE_MARKERS):
            return parent
    is_prefix = len(above) > 1 and os.path.basename(above[-1]) == "bin"
    return above[-2] if is_prefix else above[-1]
