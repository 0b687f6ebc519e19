"""The web page: from the model to the screen, long transcripts, and what an idle page and many sessions cost."""

import os
import pty
import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.support.model_servers.gemini import text_reply
from tests.support.program import ProgramEnv, script_answer, text_script
from tests.support.web.browser import NODE_MODULES, Browser, Page, find_chromium

from bench.measurement import Measurement
from bench.support.model_server import Stopwatch
from bench.support.tool_process import TEJAT

_PROMPTS = 30
_SESSIONS = 20
_TURNS = 300
_CALLS = 5
_WORDS = 14
_IDLE_SECONDS = 12
_IDLE_ROUNDS = 2
_MIB = 2**20
_ANSWER = "Good day to you."

# Notes the time at which each new answer was painted, in milliseconds since 1970.
_WATCH = """() => {
  window.paints = [];
  let seen = document.querySelectorAll(".answer").length;
  new MutationObserver(() => {
    const count = document.querySelectorAll(".answer").length;
    if (count <= seen) return;
    seen = count;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.paints.push(performance.timeOrigin + performance.now());
      port2.postMessage(null);
    });
  }).observe(document.getElementById("transcript"), { childList: true });
}"""

# Notes how long after the navigation the end of the transcript was painted, in milliseconds.
_WATCH_END = """
new MutationObserver(() => {
  const last = document.querySelector("#transcript > .answer:last-of-type");
  if (window.endShown || !last?.textContent.includes("The very end.")) return;
  window.endShown = -1;
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (window.endShown = performance.now());
    port2.postMessage(null);
  });
}).observe(document, { childList: true, subtree: true });
"""

# Scrolls up through the page, and returns the milliseconds between frames.
_SCROLL = """() => new Promise((resolve) => {
  const times = [];
  const step = (now) => {
    times.push(now);
    scrollBy(0, -60);
    if (times.length < 240) requestAnimationFrame(step);
    else resolve(times.slice(1).map((time, index) => time - times[index]));
  };
  requestAnimationFrame(step);
})"""


def measure(scratch: str) -> Iterator[Measurement]:
    executable, node = find_chromium(), shutil.which("node")
    if executable is None or node is None or not (NODE_MODULES / "playwright-core").is_dir():
        print("--   Chromium or Playwright's core is not installed: the web page is not measured", flush=True)
        return
    browser = Browser(executable, node)
    try:
        yield _first_pixels(_env(scratch, "pixels"), browser)
        yield from _long_transcript(_env(scratch, "long"), browser)
        yield from _many_sessions(_env(scratch, "many"), browser)
    finally:
        browser.close()


def _env(scratch: str, name: str) -> ProgramEnv:
    base = Path(scratch, "web", name)
    base.mkdir(parents=True)
    return ProgramEnv(base)


@contextmanager
def _web_server(env: ProgramEnv) -> Generator[tuple[str, int]]:
    """The link of a running server, and its process."""
    command = [TEJAT, "web", "--no-open", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=env.project, env=env.environment)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip(), server.pid
    finally:
        server.terminate()
        server.wait(20)


class _TerminalSession:
    """A session in a terminal that nobody looks at."""

    def __init__(self, env: ProgramEnv, model: str, prompt: str = "", **variables: str) -> None:
        self._env = env
        self._master, slave = pty.openpty()
        words = [TEJAT, "--screen-reader", "-m", model, "--sandbox=off", *(["-i", prompt] if prompt else [])]
        environment = {**env.environment, "TERM": "dumb", **variables}
        self._process = subprocess.Popen(
            words, stdin=slave, stdout=slave, stderr=slave, cwd=env.project, env=environment, start_new_session=True
        )
        os.close(slave)
        threading.Thread(target=self._drain, daemon=True).start()

    def __enter__(self) -> str:
        """Return its id, when it is idle."""
        for _ in range(600):
            for each in self._env.run("sessions", "--json").json:
                if each.get("pid") == self._process.pid and each["state"] == "idle":
                    return each["session_id"]
            time.sleep(0.1)
        raise AssertionError("The session does not become idle.")

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _drain(self) -> None:
        with suppress(OSError):
            while os.read(self._master, 65_536):
                pass


def _open(page: Page, link: str, session_id: str = "") -> None:
    page.open(link)
    page.wait_for("h1")
    if session_id:
        page.open(f"{link.partition('?')[0]}session/{session_id}")
        page.wait_for("#prompt")


def _first_pixels(env: ProgramEnv, browser: Browser) -> Measurement:
    """The time from the first byte that the model sends to the frame that shows it."""
    with Stopwatch([text_reply(_ANSWER)] * (_PROMPTS + 1)) as model:
        variables = {"GEMINI_API_KEY": "k" * 39, "GOOGLE_GEMINI_BASE_URL": model.address}
        with (
            _TerminalSession(env, "gemini-2.5-flash", "hi", **variables) as session_id,
            _web_server(env) as (link, _pid),
            browser.page() as page,
        ):
            _open(page, link, session_id)
            page.wait_for(".answer")
            page.evaluate(_WATCH)
            for number in range(1, _PROMPTS + 1):
                page.fill("#prompt", "hi")
                page.press("Enter")
                page.wait_until("(count) => window.paints.length >= count", number)
            painted: list[float] = page.evaluate("() => window.paints")
        offset = time.time() - time.perf_counter()
        sent = [(moment + offset) * 1000 for moment in model.answered[1:]]
    delays = [after - before for before, after in zip(sent, painted, strict=True)]
    detail = f"{min(delays):.0f} to {max(delays):.0f} ms, {_PROMPTS} prompts in a session of another process"
    return Measurement(
        "first words on screen after they came from the model, median", statistics.median(delays), 100, "ms", detail
    )


def _long_transcript(env: ProgramEnv, browser: Browser) -> Iterator[Measurement]:
    (env.project / "a.txt").write_text("one\ntwo\n" * 20)
    model = env.script("".join(map(_turn, range(_TURNS))) + text_script("The very end."))
    env.write_user_settings(model={"maxSessionTurns": _TURNS * 2})
    with _TerminalSession(env, model, "work") as session_id, _web_server(env) as (link, _pid), browser.page() as page:
        page.open(link)
        page.wait_for("h1")
        page.call("addInitScript", {"content": _WATCH_END})
        page.open(f"{link.partition('?')[0]}session/{session_id}")
        page.wait_until("() => window.endShown > 0")
        opened = page.evaluate("() => window.endShown")
        events = _TURNS * (_CALLS * 4 + _WORDS)
        detail = f"about {events:,} events, in a session of another process, without anything cached"
        yield Measurement("long transcript on screen after its address was opened", opened / 1000, 1, "s", detail)
        gaps = sorted(page.evaluate(_SCROLL))
        detail = f"median {statistics.median(gaps):.1f} ms, slowest {gaps[-1]:.1f} ms, with earlier entries loaded"
        yield Measurement("frame while scrolling it, 95th percentile", gaps[int(len(gaps) * 0.95)], 33.4, "ms", detail)


def _turn(number: int) -> str:
    """An answer with calls, different from all others, because a model that repeats itself is stopped."""
    calls = [("glob", {"pattern": f"*{number}-{place}*"}) for place in range(_CALLS)]
    words = f"Turn {number} has **words** with `code` in them, and a list.\n\n- one\n- two\n- three"
    return script_answer(say=words, calls=calls)


def _many_sessions(env: ProgramEnv, browser: Browser) -> Iterator[Measurement]:
    model = env.script(
        '[[topic]]\n[[topic.answer]]\nsay = "' + " ".join(f"word{number}" for number in range(250)) + '"\n'
    )
    with ExitStack() as stack:
        sessions = [stack.enter_context(_TerminalSession(env, model, "hi")) for _ in range(_SESSIONS)]
        link, pid = stack.enter_context(_web_server(env))
        page = stack.enter_context(browser.page())
        _open(page, link)
        for session_id in sessions:
            _open(page, link, session_id)
            page.wait_for(".answer")
        detail = f"{_SESSIONS} sessions of other processes, each opened in a browser"
        yield Measurement("memory of the server", _memory(pid), 200, "MB", detail)
        yield from _idle_load(pid, page)


def _idle_load(pid: int, page: Page) -> Iterator[Measurement]:
    time.sleep(12)  # the list of sessions is read less often when nothing changes
    page.cdp("Performance.enable")
    # The browser collects garbage once after a page was busy.
    server, shown = map(min, zip(*(_idle_percentages(pid, page) for _ in range(_IDLE_ROUNDS)), strict=True))
    yield Measurement("processor time of an idle server", server, 1, "%", f"a page open, {_SESSIONS} sessions listed")
    yield Measurement("processor time of an idle page", shown, 1, "%", "the tasks of its main thread")


def _idle_percentages(pid: int, page: Page) -> tuple[float, float]:
    """The load of the server and of the page's main thread meanwhile."""
    before, busy = _processor_seconds(pid), _page_seconds(page)
    time.sleep(_IDLE_SECONDS)
    server, shown = _processor_seconds(pid) - before, _page_seconds(page) - busy
    return server / _IDLE_SECONDS * 100, shown / _IDLE_SECONDS * 100


def _page_seconds(page: Page) -> float:
    metrics: list[Mapping[str, object]] = page.cdp("Performance.getMetrics")["metrics"]
    return next(float(str(each["value"])) for each in metrics if each["name"] == "TaskDuration")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024 / _MIB
