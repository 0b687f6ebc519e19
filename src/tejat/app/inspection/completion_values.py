"""Values for shell completion: models, sessions, tools, MCP servers and pages. They are read from files only."""

import os
from collections.abc import Iterator
from contextlib import suppress

from tejat.app.inspection.documentation import list_pages
from tejat.config.mcp.entries import McpServerEntries, SettingsScope
from tejat.config.paths import app_paths
from tejat.core.errors import TejatError
from tejat.core.i18n import _
from tejat.engine.sessions.session_store import SessionStore
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.catalogue.price_list import day_of
from tejat.tools import load_declarations


def completion_values(kind: str) -> Iterator[tuple[str, str]]:
    """The values of a kind with their meanings. Raises KeyError for an unknown kind, TejatError and OSError."""
    return _KINDS[kind]()


def _models() -> Iterator[tuple[str, str]]:
    catalogue = load_catalogue(app_paths(os.environ).catalogue)
    yield "auto", _("the strongest Gemini model")
    for alias in ("pro", "flash", "flash-lite"):
        yield alias, _("the current {name} model", name=alias)
    today = day_of()
    for entry in catalogue:
        if not entry.is_retired(today):
            yield (entry.id if entry.service == "gemini" else f"{entry.service}:{entry.id}"), entry.service
    for provider in ("ollama:", "openai:", "anthropic:", "scripted:"):
        yield provider, _("any other model")


def _sessions() -> Iterator[tuple[str, str]]:
    found = SessionStore(app_paths(os.environ).sessions, ".").list_sessions()
    if found:
        yield "latest", _("the latest session")
    for entry in reversed(found):
        yield entry.session_id, entry.title


def _tools() -> Iterator[tuple[str, str]]:
    for declaration in load_declarations():
        yield declaration["name"], declaration["displayName"]


def _servers() -> Iterator[tuple[str, str]]:
    entries = McpServerEntries(app_paths(os.environ), os.path.abspath("."), os.environ)
    for scope in SettingsScope:
        with suppress(TejatError):
            for name in entries.names(scope):
                yield name, scope.value


def _pages() -> Iterator[tuple[str, str]]:
    for page in list_pages():
        yield page.name, page.title


_KINDS = {"models": _models, "sessions": _sessions, "tools": _tools, "servers": _servers, "pages": _pages}
