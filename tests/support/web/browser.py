"""Chromium, driven with Playwright's core: pages, clicks, keys, pictures, and checks of accessibility."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
NODE_MODULES = ROOT / "tests" / "node" / "node_modules"
DRIVER = Path(__file__).with_name("driver.cjs")
UNPACKED = ROOT / "build" / "chromium"
TIMEOUT_MS = 15_000
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


def find_chromium() -> str | None:
    """Chromium of the system, or the one that scripts/test has unpacked."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return found
    unpacked = UNPACKED / "usr" / "lib" / "chromium" / "chromium"
    return str(unpacked) if unpacked.is_file() else None


class BrowserError(Exception):
    """What the browser reports."""


class Browser:
    """A browser with any number of windows, each with its own cookies and storage."""

    def __init__(self, executable: str, node: str) -> None:
        environment = dict(os.environ)
        if executable.startswith(str(UNPACKED)):
            # Some libraries are in a folder of their own, which an installed package names in /etc/ld.so.conf.d.
            folders = {str(path.parent) for path in (UNPACKED / "usr" / "lib").rglob("*.so*")}
            environment["LD_LIBRARY_PATH"] = os.pathsep.join(sorted(folders))
        self._process = subprocess.Popen(
            [node, str(DRIVER), str(NODE_MODULES / "playwright-core")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.request("launch", executable=executable, args=list(_FLAGS))

    def request(self, kind: str, **fields: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"kind": kind, **fields}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise BrowserError(answer["error"])
        return answer["value"]

    @contextmanager
    def page(self, name: str = "page", **options: Any) -> Generator["Page"]:
        """Open a window; `options` are those of Playwright's contexts."""
        self.request("open", name=name, options={"viewport": DESKTOP, "locale": "en-GB", **options})
        try:
            page = Page(self, name)
            page.call("setDefaultTimeout", TIMEOUT_MS)
            yield page
        finally:
            self.request("close", name=name)

    def close(self) -> None:
        self._process.communicate(timeout=20)


class Page:
    """One window."""

    def __init__(self, browser: Browser, name: str) -> None:
        self._browser = browser
        self._name = name

    def call(self, method: str, *args: Any, path: Sequence[Sequence[Any]] = ()) -> Any:
        """Call a method of Playwright's page, or of what the path leads to."""
        return self._browser.request("call", name=self._name, method=method, args=args, path=path)

    def open(self, address: str) -> None:
        self.call("goto", address)

    def click(self, selector: str) -> None:
        self.call("click", selector)

    def fill(self, selector: str, text: str) -> None:
        self.call("fill", selector, text)

    def type(self, text: str) -> None:
        self.call("type", text, path=[["keyboard"]])

    def press(self, key: str) -> None:
        self.call("press", key, path=[["keyboard"]])

    def wait_for(self, selector: str, state: str = "visible") -> None:
        self.call("waitFor", {"state": state}, path=[["locator", selector], ["first"]])

    def text(self, selector: str) -> str:
        return self.call("innerText", path=[["locator", selector], ["first"]])

    def texts(self, selector: str) -> list[str]:
        return self.call("allInnerTexts", path=[["locator", selector]])

    def count(self, selector: str) -> int:
        return self.call("count", path=[["locator", selector]])

    def evaluate(self, code: str, argument: Any = None) -> Any:
        """Run a function of JavaScript with an argument, and return its value."""
        return self._browser.request("evaluate", name=self._name, code=code, argument=argument)

    def wait_until(self, code: str, argument: Any = None) -> None:
        """Wait until a function returns something true. The policy of the page forbids to poll inside it."""
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while not self.evaluate(code, argument):
            assert time.monotonic() < deadline, code
            time.sleep(0.02)

    def screenshot(self, path: Path | str) -> None:
        self.call("screenshot", {"path": str(path)})

    def cdp(self, method: str, **params: Any) -> Any:
        """Send a command of the browser's own protocol."""
        return self._browser.request("cdp", name=self._name, method=method, params=params)

    @property
    def log(self) -> dict[str, list[str]]:
        """Console messages, requested addresses and uncaught errors."""
        return self._browser.request("log", name=self._name)

    def check_accessibility(self) -> list[str]:
        """The violations that axe-core finds, each with its elements."""
        file = str(NODE_MODULES / "axe-core" / "axe.min.js")
        self._browser.request("evaluateFile", name=self._name, file=file)
        found = self.evaluate("async () => (await axe.run(document)).violations")
        return [
            f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]
        ]


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    """One Chromium for all tests of a worker."""
    executable, node = find_chromium(), shutil.which("node")
    if executable is None or node is None or not (NODE_MODULES / "playwright-core").is_dir():
        pytest.skip("needs Chromium and Playwright's core, which scripts/test prepares where it can")
    running = Browser(executable, node)
    try:
        yield running
    finally:
        running.close()
