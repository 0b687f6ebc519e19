"""Running sessions of the program, as other processes of the user reach them."""

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.program import ProgramEnv, script_answer, text_script
from support.wait import wait_until
from tejat.core.errors import UsageError
from tejat.ui.remote.directory import LiveSession, LiveState, list_live_sessions
from tejat.ui.remote.socket_name import socket_pid

SHELL = "run_shell_command"


def socket_directory(env: ProgramEnv) -> Path:
    """Where the sockets of the sessions of this home are."""
    return env.home / ".local" / "state" / "tejat" / "run"


def live_sessions(env: ProgramEnv) -> list[LiveSession]:
    return asyncio.run(list_live_sessions(str(socket_directory(env))))


def find_live(env: ProgramEnv, session_id: str) -> LiveSession | None:
    return next((each for each in live_sessions(env) if each.session_id == session_id), None)


def wait_for_state(env: ProgramEnv, session_id: str, state: LiveState) -> LiveSession:
    """Wait until the session is in this state, and return it."""

    def is_so() -> bool:
        found = find_live(env, session_id)
        return found is not None and found.state is state

    wait_until(is_so, 60, f"the state {state}")
    found = find_live(env, session_id)
    assert found is not None
    return found


def wait_until_gone(env: ProgramEnv, session_id: str) -> None:
    wait_until(lambda: find_live(env, session_id) is None, 60, "the end of the session")


def wait_for_live(env: ProgramEnv, kind: str) -> LiveSession:
    """Wait for a session of this kind, and return it."""
    wait_until(lambda: any(each.kind == kind for each in live_sessions(env)), 60, f"a session of kind {kind}")
    return next(each for each in live_sessions(env) if each.kind == kind)


def start_detached(env: ProgramEnv, script: str, *words: str, name: str = "detached.toml") -> str:
    """Start a session in the background without a sandbox, and return its id."""
    done = env.run("-m", env.script(script, name), "--sandbox", "off", "-p", "go", "--detach", *words)
    assert done.code == 0, done.stderr
    return done.stdout.strip()


def shell_script(*commands: str) -> str:
    """A script whose answers run these commands one after the other, and then say `Done.`"""
    return "".join(script_answer(calls=[(SHELL, {"command": each})]) for each in commands) + text_script("Done.")


@contextmanager
def ended_sessions(env: ProgramEnv) -> Generator[None]:
    """End the sessions of this home when the body is left."""
    try:
        yield
    finally:
        for path in socket_directory(env).glob("*.sock"):
            with suppress(ProcessLookupError, UsageError):
                os.kill(socket_pid(str(path)), signal.SIGKILL)
