"""A server of the web page, signed in, for the tests of this folder."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.interactive import InteractiveEnv
from support.web.browser import browser
from support.web.server import WebServer, open_web_server

__all__ = ["browser"]


@pytest.fixture
def web(tmp_path: Path) -> Generator[WebServer]:
    """A server without sessions."""
    with open_web_server(InteractiveEnv(tmp_path)) as server:
        server.sign_in()
        yield server
