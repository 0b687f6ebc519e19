"""Edit tools of other agents on the same cases, if they are installed. None of them asks a model."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.edit.case import Call, Case
from bench.edit.outcome import Outcome, Verdict
from bench.edit.runners.tejat_cli import read_back, write_files

GEMINI_CORE = "TEJAT_BENCH_GEMINI_CORE"
"""Directory in which `npm install @google/gemini-cli-core` was run, or the package itself."""

AIDER = "TEJAT_BENCH_AIDER"
"""Python of an environment with aider-chat."""

_HERE = Path(__file__).parent
_PACKAGE = Path("node_modules", "@google", "gemini-cli-core")
_BEFORE, _AFTER = b"one\ntwo\nthree\n", b"one\nzwei\nthree\n"
_PROBE = Case("probe", (), (), "LF", "probe.txt", _BEFORE, _BEFORE, (), Call("two", "zwei"), _AFTER)


@dataclass(frozen=True, slots=True)
class Competitor:
    """Another edit tool. `supports` tells which cases it can be given: not every tool has all arguments."""

    name: str
    command: tuple[str, ...]
    supports: Callable[[Case], bool]


def find_competitors() -> tuple[list[Competitor], list[str]]:
    """Find the installed tools, and messages about the missing ones."""
    others: list[Competitor] = []
    missing: list[str] = []
    core, node = _gemini_core(), shutil.which("node")
    if core is None or node is None:
        missing.append(f"gemini-cli's edit tool is not here; {GEMINI_CORE} may say where the package is")
    else:
        # It can change all places, but not an expected number of them.
        command = (node, str(_HERE / "gemini_edit.mjs"), str(core))
        others.append(Competitor(_gemini_name(core), command, lambda case: case.call.expected is None))
    python = _aider_python()
    if python is None:
        missing.append(f"aider is not here; {AIDER} may say where its Python is")
    else:
        # A block changes one place, and a block without old text appends.
        command = (python, str(_HERE / "aider_edit.py"))
        others.append(Competitor("aider", command, _is_single_block))
    return others, missing


def run(other: Competitor, cases: Sequence[Case], scratch: str) -> list[Outcome]:
    """Run the cases, with prior edits already applied.

    Raises AssertionError if the tool does not answer every case or fails on a plain exact edit: it is then called
    wrongly, and its figures would mean nothing.
    """
    probe = _outcomes(other, [_PROBE], os.path.join(scratch, f"{other.name} probe"))[0]
    assert probe.verdict is Verdict.RIGHT, f"{other.name} does not make a plain edit: {probe.message}"
    given = [replace(case, before=case.start, prior_calls=()) for case in cases if other.supports(case)]
    return _outcomes(other, given, os.path.join(scratch, other.name))


def _outcomes(other: Competitor, given: Sequence[Case], root: str) -> list[Outcome]:
    paths = write_files(given, root)
    lines = [json.dumps(case.call.arguments(path)) for case, path in zip(given, paths, strict=True)]
    done = subprocess.run(
        other.command,
        input="".join(f"{line}\n" for line in lines).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": root, "LANG": "C.UTF-8"},
        cwd=root,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(given), f"{other.name} answered {len(answers)} of {len(given)} cases"
    return [
        Outcome(case, read_back(path), answer["said"], refused=answer["error"])
        for case, path, answer in zip(given, paths, answers, strict=True)
    ]


def _gemini_core() -> Path | None:
    named = os.environ.get(GEMINI_CORE)
    places = [Path(named), Path(named) / _PACKAGE] if named else []
    program = shutil.which("gemini")
    if program is not None:
        places += [parent / _PACKAGE for parent in Path(program).resolve().parents]
    return next((place for place in places if (place / "dist" / "src" / "tools" / "edit.js").exists()), None)


def _gemini_name(core: Path) -> str:
    return f"gemini-cli {json.loads((core / 'package.json').read_text(encoding='utf-8'))['version']}"


def _aider_python() -> str | None:
    named = os.environ.get(AIDER)
    if named:
        return shutil.which(named)
    program = shutil.which("aider")
    return None if program is None else shutil.which(str(Path(program).resolve().parent / "python"))


def _is_single_block(case: Case) -> bool:
    return case.call.expected is None and not case.call.allow_multiple and bool(case.call.old)
