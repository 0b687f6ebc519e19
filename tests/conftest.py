"""How tests are run: away from the settings and state of whoever runs them, and properties the same way each time."""

import os
import shutil
import signal
import tempfile
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from support.acp.neovim import LOUD_EDITOR
from support.mcp.node_programs import LOUD_NODE
from support.process_marks import living_pids, new_mark
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

settings.register_profile("here", database=None, deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("here")

LOUD = "SANDBOX MISSING"
"""What the reason of a skip begins with that nobody may overlook."""
LOUD_ONES = {
    LOUD: "THE SANDBOX WAS NOT TESTED HERE",
    LOUD_NODE: "PROGRAMS OF OTHERS THAT NEED NODE WERE NOT TESTED HERE",
    LOUD_EDITOR: "NO EDITOR WAS TESTED HERE",
}


def pytest_configure() -> None:
    """Signals that whoever started the tests ignores, as background jobs do, would be ignored by every program here."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _a_home_of_their_own() -> Generator[None]:
    """No test reads or writes the settings, rules, jobs and journals of a person."""
    before = dict(os.environ)
    home = tempfile.mkdtemp(prefix="tejat-home-")
    for name in [name for name in os.environ if name.startswith(("XDG_", "GEMINI_", "TEJAT_ADMIN"))]:
        del os.environ[name]
    os.environ["HOME"] = home
    yield
    os.environ.clear()
    os.environ.update(before)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def jobs(tmp_path: Path) -> Generator[JobStore]:
    """Jobs in the background, all of them ended afterwards."""
    jobs = JobStore(str(tmp_path / "jobs"))
    yield jobs
    for job in jobs.list_jobs().jobs:
        jobs.stop(job.pid)


@pytest.fixture
def supervisor() -> Generator[ProcessSupervisor]:
    """A supervisor of processes, which are all ended afterwards."""
    supervisor = ProcessSupervisor()
    yield supervisor
    supervisor.close()


@pytest.fixture
def mark() -> Generator[str]:
    """A word in the arguments of processes, and a time to sleep; whoever still has it in the end is killed."""
    mark = new_mark()
    yield mark
    for pid in living_pids(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not tried: a run without it proves less."""
    skipped = terminalreporter.stats.get("skipped", [])
    for word, title in LOUD_ONES.items():
        reasons = sorted({report.longrepr[2] for report in skipped if word in str(report.longrepr)})
        if reasons:
            terminalreporter.section(title, sep="!", red=True, bold=True)
            for reason in reasons:
                terminalreporter.line(reason, red=True)
