"""Runs cases through `tejat tools call --jsonl` on files on disk."""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.edit.case import Case
from bench.edit.outcome import Outcome
from bench.support.tool_process import TEJAT


def run(cases: Sequence[Case], scratch: str) -> list[Outcome]:
    """Run all cases in one process. Raises AssertionError if an answer is missing."""
    root = os.path.join(scratch, "tejat")
    paths = write_files(cases, root)
    calls: list[dict[str, object]] = []
    for case, path in zip(cases, paths, strict=True):
        for call in (*case.prior_calls, case.call):
            calls.append({"id": len(calls), "name": "replace", "args": call.arguments(path)})
    answers = _call_tools(calls, root)
    outcomes: list[Outcome] = []
    at = 0
    for case, path in zip(cases, paths, strict=True):
        for earlier in answers[at : at + len(case.prior_calls)]:
            assert earlier["error"] is None, f"an exact edit of {case.name} failed: {earlier['error']}"
        at += len(case.prior_calls) + 1
        answer = answers[at - 1]
        outcomes.append(Outcome(case, read_back(path), str(answer["llmContent"]), refused=answer["error"] is not None))
    return outcomes


def write_files(cases: Iterable[Case], root: str) -> list[str]:
    """Write the files of the cases and return their paths."""
    os.makedirs(root)
    paths: list[str] = []
    for case in cases:
        paths.append(os.path.join(root, case.file_name))
        with open(paths[-1], "xb") as file:
            file.write(case.before)
    return paths


def read_back(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _call_tools(calls: Sequence[Mapping[str, object]], root: str) -> list[dict[str, Any]]:
    home = f"{root}-home"
    os.makedirs(home)
    lines = "".join(f"{json.dumps(call)}\n" for call in calls)
    done = subprocess.run(
        [TEJAT, "tools", "call", "--jsonl", "--yes", "--root", root],
        input=lines.encode(),
        stdout=subprocess.PIPE,
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "LANG": "C.UTF-8"},
        cwd=root,
        check=True,
    )
    answers: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [call["id"] for call in calls]
    return answers
