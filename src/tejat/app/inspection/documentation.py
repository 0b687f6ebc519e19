"""The documentation that is installed with the program."""

import os

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.text.edit_distance import edit_distance
from tejat.workspace.documentation import DOCUMENTATION_DIRECTORY, documentation_files, read_documentation

_SUFFIX = ".md"
_MAX_NAME_LENGTH = 64
_FIRST = ("index", "start")


class DocumentationPage(Frozen):
    """A page: its path beneath the directory without `.md`, its heading, and the path of the Markdown file."""

    name: str
    title: str
    path: str


def list_pages() -> list[DocumentationPage]:
    """List the pages: those to start with first, then by name."""
    names = [name.removesuffix(_SUFFIX) for name in documentation_files()]
    ordered = [name for name in _FIRST if name in names] + sorted({*names} - {*_FIRST})
    return [_page(name) for name in ordered]


def read_page(name: str) -> str:
    """Read a page as Markdown, without pictures and comments. Raises UsageError if there is none with this name."""
    return read_documentation(find_page(name).name + _SUFFIX)


def find_page(name: str) -> DocumentationPage:
    """Return a page. The name may end in `.md`, begin with `docs/` and leave out a folder. Raises UsageError."""
    wanted = name.removeprefix("docs/").removesuffix(_SUFFIX).lower()
    pages = {page.name: page for page in list_pages()}
    found = pages.get(wanted) or next((page for page in pages.values() if page.name.endswith(f"/{wanted}")), None)
    if found is not None:
        return found
    shown = name[:_MAX_NAME_LENGTH]
    closest = min(pages, key=lambda page: edit_distance(wanted[:_MAX_NAME_LENGTH], page))
    if edit_distance(wanted[:_MAX_NAME_LENGTH], closest) <= max(1, len(closest) // 3):
        raise UsageError(_("Unknown page {name!r}. Did you mean {other}?", name=shown, other=closest))
    raise UsageError(_("Unknown page {name!r}. Pages: {pages}.", name=shown, pages=", ".join(pages)))


def _page(name: str) -> DocumentationPage:
    path = os.path.join(DOCUMENTATION_DIRECTORY, name + _SUFFIX)
    with open(path, encoding="utf-8") as file:
        heading = next((line for line in file if line.startswith("# ")), f"# {name}")
    return DocumentationPage(name, heading.removeprefix("# ").strip(), path)
