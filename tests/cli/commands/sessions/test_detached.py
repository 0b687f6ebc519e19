"""Tests of sessions in the background."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from support.live_sessions import (
    ended_sessions,
    find_live,
    live_sessions,
    shell_script,
    start_detached,
    wait_for_state,
    wait_until_gone,
)
from support.program import ProgramEnv, text_script
from support.wait import wait_until
from tejat.ui.remote.directory import LiveState


@pytest.fixture
def env(tmp_path: Path) -> Generator[ProgramEnv]:
    env = ProgramEnv(tmp_path)
    with ended_sessions(env):
        yield env


def test_it_prints_the_id_waits_for_an_answer_and_ends_after_the_run(env: ProgramEnv) -> None:
    done = env.run("-m", env.script(shell_script("touch x")), "--sandbox", "off", "-p", "go", "--detach")
    session_id = done.stdout.strip()
    assert done.code == 0
    assert f"tejat attach {session_id}" in done.stderr
    live = wait_for_state(env, session_id, LiveState.WAITING)
    assert live.kind == "detached"
    assert os.getsid(live.pid) == live.pid
    assert env.run("sessions", "answer", session_id, live.questions[0].question_id, "yes").stdout == "Answered.\n"
    wait_until_gone(env, session_id)
    assert (env.project / "x").exists()
    assert "finished" in env.run("sessions").stdout


def test_the_id_as_json(env: ProgramEnv) -> None:
    done = env.run("-m", env.script(text_script("hi")), "-p", "go", "--detach", "-o", "json")
    assert set(done.json) == {"session_id"}
    wait_until_gone(env, done.json["session_id"])


def test_the_prompt_may_come_from_a_pipe(env: ProgramEnv) -> None:
    done = env.run("-m", env.script(text_script("hi")), "--detach", stdin="from the pipe")
    assert done.code == 0, done.stderr
    wait_until_gone(env, done.stdout.strip())
    assert "from the pipe" in env.run("sessions").stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-m", "gemini-2.5-pro", "-p", "go"), 41, "GEMINI_API_KEY"),
        (("-m", "scripted:missing.toml", "-p", "go"), 42, "missing.toml"),
        (("-m", "no-such-model", "-p", "go"), 42, "no-such-model"),
        (("-m", "scripted:x.toml", "-p", "go", "--no-session-server"), 42, "--detach needs the session server"),
        (("-m", "scripted:x.toml", "-p", " "), 42, "--detach needs a prompt"),
        (("-m", "scripted:a.toml", "-p", "go", "-r", "nothing"), 42, "No sessions in this project"),
    ],
)
def test_errors_at_the_start_reach_the_terminal(
    env: ProgramEnv, words: tuple[str, ...], code: int, message: str
) -> None:
    (env.project / "a.toml").write_text(text_script("hi"))
    done = env.run(*words, "--detach")
    assert (done.code, done.stdout) == (code, ""), done.stderr
    assert message in done.stderr
    assert live_sessions(env) == []


def test_the_setting_turns_it_off(env: ProgramEnv) -> None:
    env.own_file.parent.mkdir(parents=True)
    env.own_file.write_text('{"sessions": {"server": false}}')
    env.own_file.chmod(0o600)
    done = env.run("-m", env.script(text_script("hi")), "-p", "go", "--detach")
    assert done.code == 42
    assert "--detach needs the session server" in done.stderr
    assert env.run("-m", env.script(text_script("hi")), "-p", "go").stdout == "hi\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(env: ProgramEnv, number: signal.Signals) -> None:
    session_id = start_detached(env, shell_script("touch x"))
    live = wait_for_state(env, session_id, LiveState.WAITING)
    os.kill(live.pid, signal.SIGHUP)
    assert find_live(env, session_id) is not None
    os.kill(live.pid, number)
    wait_until_gone(env, session_id)
    assert not os.path.exists(live.path)
    assert "interrupted" in env.run("sessions").stdout


def test_a_killed_one_is_broken_off_and_can_be_resumed(env: ProgramEnv) -> None:
    session_id = start_detached(env, shell_script("touch x"))
    os.kill(wait_for_state(env, session_id, LiveState.WAITING).pid, signal.SIGKILL)
    wait_until(lambda: "broken off" in env.run("sessions").stdout, 30)
    done = env.run("-m", env.script(text_script("back")), "-p", "go", "-r", session_id)
    assert done.stdout == "back\n"
