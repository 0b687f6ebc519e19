"""Runs `tejat` under a profiler and writes down which source files are on the path of a prompt.

Usage: python main_line.py REPORT ARGUMENTS...

The report is JSON. `stacks`: the source files on the call stack at the milestones of a prompt, with the stacks that
created the running tasks. `startup`: the packages in the order in which they call each other before the first prompt.
"""

import asyncio
import json
import os
import sys
from types import FrameType
from typing import Any

import tejat
from tejat.cli.main import main

PACKAGE = os.path.dirname(tejat.__file__) + os.sep
MILESTONES = {
    ("engine/sessions/session.py", "prompt"): "prompt",
    ("models/scripted/model.py", "stream"): "model",
    ("ui/plain/approval_dialog.py", "ask"): "question",
    ("tools/replace.py", "run"): "tool",
}

stacks: dict[str, list[str]] = {}
startup: list[str] = []
creators: "dict[asyncio.Task[Any], tuple[list[str], asyncio.Task[Any] | None]]" = {}


def source_files(frame: FrameType | None) -> list[str]:
    found: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            found.append(frame.f_code.co_filename.removeprefix(PACKAGE))
        frame = frame.f_back
    return found


def running_task() -> "asyncio.Task[Any] | None":
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def make_task(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> "asyncio.Task[Any]":
    task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **options)
    creators[task] = source_files(sys._getframe(1)), running_task()
    return task


def full_stack(frame: FrameType) -> list[str]:
    found, task = source_files(frame), running_task()
    while task in creators:
        files, task = creators[task]
        found += files
    return found


def watch(frame: FrameType, event: str, _: object) -> None:
    name = frame.f_code.co_filename
    if event != "call" or not name.startswith(PACKAGE) or frame.f_code.co_name == "<module>":
        return
    file = name.removeprefix(PACKAGE)
    milestone = MILESTONES.get((file, frame.f_code.co_name))
    if milestone is not None and milestone not in stacks:
        stacks[milestone] = full_stack(frame)
    package = file.partition(os.sep)[0]
    if "prompt" not in stacks and package in ("cli", "app", "ui") and startup[-1:] != [package]:
        startup.append(package)


class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        loop.set_task_factory(make_task)
        return loop


if __name__ == "__main__":
    asyncio.set_event_loop_policy(Policy())
    sys.setprofile(watch)
    code = main(sys.argv[2:])
    sys.setprofile(None)
    with open(sys.argv[1], "w", encoding="utf-8") as report:
        json.dump({"stacks": stacks, "startup": startup}, report)
    sys.exit(code)
