"""Attempts that were interrupted or are tried again: what they left is kept in a folder for each."""

import asyncio
import os
import shutil
import time
from contextlib import suppress
from typing import cast

from tejat.batch.directory import TaskDirectory
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import Mirror
from tejat.batch.git.patch import write_patch
from tejat.batch.runner.background import stop_background_jobs
from tejat.batch.runner.records import write_plain_file
from tejat.batch.runner.work_folder import remove_work
from tejat.config.paths import app_paths
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.workspace.threads.daemon import start_daemon

REASON_FILE = "reason.json"
SESSION_FILE = "session.jsonl"
MIRROR_FILE = "mirror.json"
"""In the folder `work`: the mirror that the tree was made from."""
_PATCH_SECONDS = 120.0


def remember_mirror(task: TaskDirectory, mirror: Mirror) -> None:
    """Write down which mirror the tree is from, so that a later process can write its patch. Raises OSError."""
    text = dump_json({"path": mirror.path, "commit": mirror.commit})
    write_plain_file(os.path.join(task.work, MIRROR_FILE), text)


def keep_attempt(task: TaskDirectory, reason: str) -> None:
    """Move what an attempt left into `attempts/N`, with a `reason.json`.

    If the attempt was killed, background processes that it left are stopped, and the patch of its tree and the journal
    of its session are kept. The tree itself is removed, unless its patch cannot be written. Without anything to keep,
    nothing is done. Blocks for as long as git takes. Raises OSError.
    """
    if not _list_names(task):
        return
    problem = _close_work(task)
    kept = _new_folder(task.attempts)
    # The result first: a task with a result counts as done, whatever else is missing.
    for name in sorted(_list_names(task), key=lambda name: name != os.path.basename(task.result)):
        os.rename(os.path.join(task.path, name), os.path.join(kept, name))
    values = {"reason": reason, "ended": round(time.time(), 3)}
    note = dump_json({**values, "problem": problem} if problem else values, indent=2)
    write_plain_file(os.path.join(kept, REASON_FILE), note + "\n")
    if not problem:
        remove_work(os.path.join(kept, os.path.basename(task.work)))


def _list_names(task: TaskDirectory) -> list[str]:
    """What is in the folder of a task besides earlier attempts. Raises OSError."""
    try:
        return sorted(set(os.listdir(task.path)) - {os.path.basename(task.attempts)})
    except FileNotFoundError:
        return []


def _close_work(task: TaskDirectory) -> str:
    """Write the partial patch and save the journal of the session. Returns why there is no patch, empty otherwise."""
    if not os.path.isdir(task.work):
        return ""
    paths = app_paths({**os.environ, "XDG_STATE_HOME": task.state})
    stop_background_jobs(paths.jobs)
    if not os.path.exists(task.transcript):
        _copy_journal(paths.sessions, os.path.join(task.path, SESSION_FILE))
    mirror = _read_mirror(task)
    if mirror is None or os.path.exists(task.patch):
        return ""
    try:
        # In a thread of its own: the caller may run an event loop.
        start_daemon(lambda: asyncio.run(_write_patch(mirror, task))).result()
    except (OSError, RepositoryProblem, TimeoutError) as error:
        return str(error) or type(error).__name__
    return ""


async def _write_patch(mirror: Mirror, task: TaskDirectory) -> None:
    async with asyncio.timeout(_PATCH_SECONDS):
        await write_patch(mirror, task)


def _read_mirror(task: TaskDirectory) -> Mirror | None:
    """The mirror of the tree, None if there is no complete tree."""
    try:
        with open(os.path.join(task.work, MIRROR_FILE), "rb") as file:
            found = load_json(file.read())
    except (OSError, InvalidJson):
        return None
    if not isinstance(found, dict) or not os.path.isdir(task.tree):
        return None
    values = cast("dict[str, object]", found)
    return Mirror(str(values.get("path", "")), str(values.get("commit", "")))


def _copy_journal(sessions: str, target: str) -> None:
    for directory, _, names in os.walk(sessions):
        for name in names:
            if name.endswith(".jsonl"):
                with suppress(OSError):
                    shutil.copyfile(os.path.join(directory, name), target)
                return


def _new_folder(attempts: str) -> str:
    """Make the next free folder. Raises OSError."""
    os.makedirs(attempts, mode=0o700, exist_ok=True)
    number = 1
    while True:
        path = os.path.join(attempts, str(number))
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            number += 1
        else:
            return path
