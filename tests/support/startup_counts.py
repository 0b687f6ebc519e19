"""Counts of what a run of the program does before it ends: modules, files, system calls. They depend on no clock.

Used by tests and benchmarks.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from tests.support.model_servers.gemini import ModelServer, Reply, function_call, text_reply

BUDGET = Path(__file__).parents[1] / "architecture" / "startup_budget.json"

# The lists may grow by this many names, or by this part of themselves, before somebody has to look.
_MORE_NAMES, _MORE_OF_ALL = 2, 0.02
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_NUMBERS = ("stat_calls", "processes", "compilations", "written_bytes", "fsyncs")


@dataclass(frozen=True, slots=True)
class StartupCounts:
    """What one run did.

    Modules that are loaded at their first use count when they are loaded. `files` are those it opened besides modules;
    `stat_calls` counts each path once; `compilations` are texts of Python, which no bytecode saves.
    """

    own_modules: list[str]
    other_modules: list[str]
    files: list[str]
    stat_calls: int
    processes: int
    compilations: int
    written_bytes: int
    fsyncs: int

    def over_budget(self, budget: Self) -> list[str]:
        """What is above the budget, with the names that are new."""
        found = list[str]()
        for name in ("own_modules", "other_modules", "files"):
            mine, theirs = getattr(self, name), getattr(budget, name)
            if len(mine) > _limit(len(theirs)):
                new = sorted(set(mine) - set(theirs)) or sorted(each for each in set(mine) if mine.count(each) > 1)
                found.append(f"{name}: {len(mine)}, budget {len(theirs)}. New: {', '.join(new)}")
        for name in _NUMBERS:
            mine, theirs = getattr(self, name), getattr(budget, name)
            if mine > _limit(theirs):
                found.append(f"{name}: {mine}, budget {theirs}")
        return found

    def share_of(self, budget: Self) -> float:
        """The largest part of a limit that is used."""
        pairs = zip(self._sizes(), budget._sizes(), strict=True)
        return max(ours / max(_limit(theirs), 1) for ours, theirs in pairs if ours)

    def __str__(self) -> str:
        own, others, files, stats, processes, compilations, written, fsyncs = self._sizes()
        return (
            f"{own} own modules, {others} others, {files} more files, {stats} stat calls, {processes} processes, "
            f"{compilations} compilations, {written} bytes written, {fsyncs} fsyncs"
        )

    def _sizes(self) -> tuple[int, ...]:
        lists = (self.own_modules, self.other_modules, self.files)
        return (*map(len, lists), self.stat_calls, self.processes, self.compilations, self.written_bytes, self.fsyncs)


def _limit(budget: int) -> int:
    return budget + max(_MORE_NAMES, int(budget * _MORE_OF_ALL)) if budget else 0


def count_version() -> StartupCounts:
    """`tejat --version`."""
    return _count(["--version"], None)


def count_turn() -> StartupCounts:
    """`tejat -p hi`, answered with a sentence."""
    return _count(["-p", "hi"], lambda: [text_reply("Hello.")])


def count_tool_turn() -> StartupCounts:
    """`tejat -p hi`, answered with a call of `read_file` and then with a sentence."""
    call = function_call("read_file", {"path": "small.txt"})
    return _count(["-p", "hi"], lambda: [text_reply(call), text_reply("Hello.")])


COUNTED: Mapping[str, Callable[[], StartupCounts]] = {
    "tejat --version": count_version,
    "a headless turn": count_turn,
    "a headless turn with a tool call": count_tool_turn,
}


def read_budget() -> dict[str, StartupCounts]:
    """The budget of each run. What another version of Python imports is its own business: then it has no limit."""
    stored = json.loads(BUDGET.read_text(encoding="utf-8"))
    budget = {name: StartupCounts(**fields) for name, fields in stored["runs"].items()}
    if stored["python"] == _PYTHON:
        return budget
    return {name: replace(each, other_modules=["any"] * 999, stat_calls=9_999) for name, each in budget.items()}


def write_budget(counted: Mapping[str, StartupCounts]) -> None:
    runs = {name: asdict(counts) for name, counts in counted.items()}
    BUDGET.write_text(json.dumps({"python": _PYTHON, "runs": runs}, indent=1) + "\n", encoding="utf-8")


def _count(words: list[str], replies: Callable[[], list[Reply]] | None) -> StartupCounts:
    """Count the second of two runs: the first one writes bytecode and the directories of a user."""
    with TemporaryDirectory(prefix="tejat-count-") as directory:
        place = Path(os.path.realpath(directory))
        (place / "home").mkdir()
        (place / "project" / ".git").mkdir(parents=True)
        (place / "project" / "small.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
        # Other tests run the program too, and what they need must not be written in the run that is counted.
        for variables in ({}, {"PYTHONDONTWRITEBYTECODE": "1"}):
            if replies is None:
                _run(words, place, variables)
            else:
                with ModelServer(replies()) as server:
                    address = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": server.address}
                    _run(words, place, {**variables, **address})
        found: dict[str, Any] = json.loads((place / "report").read_text(encoding="utf-8"))
    modules = sorted(found.pop("modules"))
    return StartupCounts(
        own_modules=[name for name in modules if name.partition(".")[0] == "tejat"],
        other_modules=[name for name in modules if name.partition(".")[0] != "tejat"],
        files=sorted(_short_name(path, str(place)) for path in found.pop("opened") if not _is_ignored(path)),
        **found,
    )


def _run(words: list[str], place: Path, variables: Mapping[str, str]) -> None:
    usual = {"PATH": os.defpath, "HOME": str(place / "home"), "LANG": "C.UTF-8"}
    subprocess.run(
        [sys.executable, "-c", _COUNTER, str(place / "report"), *words],
        cwd=place / "project",
        env={**usual, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )


# Wraps system calls, which have no audit events, and reports when the program ends itself.
_COUNTER = """
import os, posix, sys

if not sys.dont_write_bytecode:
    # The first run: else it would leave it at a few modules that the cache of other runs lacks.
    from tejat.cli.startup import module_cache
    module_cache._TOLERATED = 0
before = set(sys.modules)
# How deep the program, its environment and the project are differs between machines.
known = {"/"}
for place in (*sys.path, sys.prefix, sys.base_prefix, os.getcwd()):
    while place not in ("", "/"):
        place = os.path.dirname(place)
        known.add(place)
opened = []
counts = {"stat_calls": 0, "processes": 0, "compilations": 0, "fsyncs": 0}

def counted(key, function):
    def wrapper(*args, **options):
        # Each path once: bytecode that was made elsewhere is looked at twice.
        is_known = key == "stat_calls" and args[0] in known
        counts[key] += not is_known
        if isinstance(args[0], str):
            known.add(args[0])
        return function(*args, **options)
    for supporting in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if function in supporting:
            supporting.add(wrapper)
    return wrapper

def written_bytes():
    with open("/proc/self/io") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("wchar:"))

def watch(event, arguments):
    if event == "open":
        opened.append(os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes)) else "")
    elif event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"):
        counts["processes"] += 1
    elif event == "compile":
        counts["compilations"] += 1

def end(code):
    loaded = {name for name, module in sys.modules.items() if type(module).__name__ != "_LazyModule"}
    modules = sorted(loaded - before)
    report = {**counts, "written_bytes": written_bytes() - at_start, "modules": modules, "opened": opened[:]}
    import json
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    exit_process(code)

path = sys.argv.pop(1)
exit_process, os._exit = os._exit, end
for name in ("stat", "lstat"):
    wrapper = counted("stat_calls", getattr(os, name))
    setattr(os, name, wrapper)
    setattr(posix, name, wrapper)
for name in ("fsync", "fdatasync"):
    setattr(os, name, counted("fsyncs", getattr(os, name)))
at_start = written_bytes()
sys.addaudithook(watch)
from tejat.cli.main import program
program()
"""


def _is_ignored(path: str) -> bool:
    """Whether a file is a module, or belongs to a package that happens to be installed."""
    return path.endswith((".py", ".pyc", ".so")) or ".dist-info/" in path or path.startswith("/proc/") or not path


def _short_name(path: str, place: str) -> str:
    """The name of a file as it is in every run and on every machine."""
    name = path.replace(place, "").rpartition("/src/")[2].rpartition("/site-packages/")[2]
    return re.sub(r"\d{4}-\d\d-\d\dT[\d-]+[0-9a-f]+|[0-9a-f]{12,}", "ID", name)
