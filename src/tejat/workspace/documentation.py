"""The documentation files that are installed with the program."""

import os
import re
from glob import glob

DOCUMENTATION_DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "docs")
"""In a checkout, links to the files in `docs/`; in an installed package, copies of them."""

_HTML = re.compile(r"^(?:<picture>\n.*?^</picture>|<!--.*?-->)\n+", re.MULTILINE | re.DOTALL)


def documentation_files() -> list[str]:
    """List the paths of the files beneath the directory, sorted."""
    return sorted(glob("**/*.md", root_dir=DOCUMENTATION_DIRECTORY, recursive=True))


def read_documentation(name: str) -> str:
    """Read one of `documentation_files` as Markdown, without pictures and comments."""
    with open(os.path.join(DOCUMENTATION_DIRECTORY, name), encoding="utf-8") as file:
        return _HTML.sub("", file.read())
