"""Paths as the user reads them: relative to the project, else with `~` for the home directory."""

import os

from tejat.core.text.paths import is_beneath


def shorten_path(path: str, *, folder: str = "") -> str:
    """Shorten an absolute path below `folder` or below the home directory. The result is not sanitized.

    A relative path never begins with `~`, so that a folder of this name cannot pass for the home directory.
    """
    if folder and is_beneath(path, folder):
        relative = path[len(folder.rstrip("/")) :].lstrip("/") or "."
        return f"./{relative}" if relative.startswith("~") else relative
    home = os.path.expanduser("~").rstrip("/")
    return f"~{path[len(home) :]}" if home and is_beneath(path, home) else path
