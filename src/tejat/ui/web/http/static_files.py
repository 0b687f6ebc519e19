"""The files of the page: scripts, styles and the icon, read from the package once."""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

from tejat.core.frozen import Frozen
from tejat.ui.web.http.responses import REVALIDATED, SECURITY_HEADERS
from tejat.workspace.http.server import HttpError, ServerRequest, ServerResponse

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(Frozen):
    """A file with its type. `tag` is a hash of its content."""

    content: bytes
    content_type: str
    tag: str


class StaticFiles:
    """Serves files by name. What was not there at the start is not served."""

    def __init__(self) -> None:
        static, markup = files("tejat.ui.web") / "static", files("tejat.ui.html")
        folders = {"": static, "session/": static / "session", "html/": markup, "charts/": markup / "charts"}
        self._files = {
            f"{prefix}{entry.name}": entry
            for prefix, folder in folders.items()
            for entry in folder.iterdir()
            if _suffix(entry.name) in _TYPES
        }
        self._loaded: dict[str, StaticFile] = {}

    def respond(self, request: ServerRequest, name: str) -> ServerResponse:
        """Answer a request for a file. A browser that has it already gets no content. Raises HttpError."""
        entry = self._files.get(name)
        if entry is None:
            raise HttpError(404, "There is no such file.")
        file = self._loaded.get(name) or self._load(name, entry)
        headers = (("content-type", file.content_type), ("etag", file.tag), REVALIDATED, *SECURITY_HEADERS)
        if request.headers.get("if-none-match") == file.tag:
            return ServerResponse(304, headers)
        return ServerResponse(200, headers, file.content)

    def _load(self, name: str, entry: Traversable) -> StaticFile:
        content = entry.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
        file = self._loaded[name] = StaticFile(content, _TYPES[_suffix(entry.name)], tag)
        return file


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]
