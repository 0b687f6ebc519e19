"""The files of the page, and nothing else."""

import re
from importlib.resources import files

import pytest

from support.web.server import WebServer


def test_the_files_have_types_and_tags(web: WebServer) -> None:
    for name, kind in {"app.js": "text/javascript", "page.css": "text/css", "icon.svg": "image/svg+xml"}.items():
        answer = web.request("GET", f"/static/{name}")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(kind)
        again = web.request("GET", f"/static/{name}", if_none_match=answer.headers["etag"])
        assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path", ["nothing.js", "../page.py", "..%2fpage.py", "session/../../page.py", "__init__.py", "", "session/"]
)
def test_other_files_are_not_served(web: WebServer, path: str) -> None:
    assert web.request("GET", f"/static/{path}").status == 404


def test_every_import_of_a_script_is_served(web: WebServer) -> None:
    waiting, seen = ["/static/app.js", "/static/sign-in.js"], set[str]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = web.request("GET", path)
        assert answer.status == 200, path
        folder = path.rpartition("/")[0]
        for name in re.findall(r'from "(\.[^"]+)"', answer.body.decode()):
            up = name.startswith("../")
            base = folder.rpartition("/")[0] if up else folder
            waiting.append(f"{base}/{name.removeprefix('../').removeprefix('./')}")
    folder = files("tejat.ui.web") / "static"
    scripts = {
        entry.name for sub in (folder, folder / "session") for entry in sub.iterdir() if entry.name.endswith(".js")
    }
    assert scripts - {path.rpartition("/")[2] for path in seen} == {"theme.js"}
