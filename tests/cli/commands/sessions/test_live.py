"""Tests of `tejat sessions stop`, `send` and `answer`."""

import json
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support.live_sessions import (
    ended_sessions,
    live_sessions,
    shell_script,
    start_detached,
    wait_for_live,
    wait_for_state,
    wait_until_gone,
)
from support.program import ProgramEnv, text_script, wait_for_exit
from support.wait import wait_until
from tejat.ui.remote.directory import LiveState

YOLO = ("--approval-mode", "yolo", "--sandbox", "off")


@pytest.fixture
def env(tmp_path: Path) -> Generator[ProgramEnv]:
    env = ProgramEnv(tmp_path)
    with ended_sessions(env):
        yield env


def test_wrong_words_are_refused(env: ProgramEnv) -> None:
    session_id = start_detached(env, shell_script("touch x"))
    question = wait_for_state(env, session_id, LiveState.WAITING).questions[0].question_id
    for words, message in (
        ((session_id, question, "perhaps"), "is no answer to this question. Answers: yes, "),
        ((session_id, question, "tell"), "Say what to do instead: tell TEXT"),
        ((session_id, question, "yes", "text"), "Only tell takes a text"),
        ((session_id, "q1", "yes"), "no longer has this question"),
        (("nothing", question, "yes"), "No running session nothing"),
        ((session_id, question), "Wrong arguments"),
    ):
        done = env.run("sessions", "answer", *words)
        assert done.code == 42, words
        assert message in done.stderr
    for words in (("stop", session_id, "x"), ("send", session_id), ("stop", "nothing"), ("send", "nothing", "x")):
        assert env.run("sessions", *words).code == 42
    printed = env.run("sessions", "answer", session_id).stdout
    assert question in printed
    assert "yes: " in printed
    assert not (env.project / "x").exists()


def test_an_answer_with_a_text_and_the_beginning_of_the_id(env: ProgramEnv) -> None:
    session_id = start_detached(env, shell_script("touch x"))
    question = wait_for_state(env, session_id, LiveState.WAITING).questions[0].question_id
    done = env.run("sessions", "answer", session_id[:6], question, "tell", "use", "another", "name")
    assert done.stdout == "Answered.\n"
    wait_until_gone(env, session_id)
    journal = next((env.home / ".local/state/tejat/sessions").rglob("*.jsonl")).read_text()
    assert "use another name" in journal
    assert not (env.project / "x").exists()


def test_stop_ends_a_session_in_the_background(env: ProgramEnv) -> None:
    session_id = start_detached(env, shell_script("sleep 60"), *YOLO[:2])
    wait_for_state(env, session_id, LiveState.WORKING)
    assert env.run("sessions", "stop", session_id).stdout == f"Stopped session {session_id}.\n"
    wait_until_gone(env, session_id)
    assert "interrupted" in env.run("sessions").stdout


def test_a_headless_run_is_listed_steered_and_stopped(env: ProgramEnv) -> None:
    script = shell_script("while [ ! -e go ]; do sleep 0.05; done", "sleep 60")
    with env.start("-m", env.script(script), *YOLO, "-p", "look at it") as process:
        live = wait_for_live(env, "headless")
        assert (live.state, live.pid, live.title) == (LiveState.WORKING, process.pid, "look at it")
        assert "after its current tool calls" in env.run("sessions", "send", live.session_id, "be", "quick").stdout
        (env.project / "go").touch()
        journals = env.home / ".local/state/tejat/sessions"
        wait_until(lambda: any("be quick" in each.read_text() for each in journals.rglob("*.jsonl")))
        assert env.run("sessions", "stop", live.session_id).code == 0
        done = wait_for_exit(process)
    assert done.code == 130
    assert live_sessions(env) == []


@pytest.mark.parametrize("is_setting", [True, False])
def test_a_session_without_a_socket_is_not_reached(env: ProgramEnv, *, is_setting: bool) -> None:
    if is_setting:
        env.own_file.parent.mkdir(parents=True)
        env.own_file.write_text('{"sessions": {"server": false}}')
        env.own_file.chmod(0o600)
    more = () if is_setting else ("--no-session-server",)
    with env.start("-m", env.script(shell_script("sleep 1.5")), *YOLO, "-p", "go", *more) as process:
        time.sleep(1.2)
        assert live_sessions(env) == []
        assert not (env.home / ".local/state/tejat/run").exists()
        assert wait_for_exit(process).stdout == "Done.\n"


def test_the_list_has_all_states(env: ProgramEnv) -> None:
    env.run("-m", env.script(text_script("hi")), "-p", "the finished one")
    waits = start_detached(env, shell_script("touch x"), name="waits.toml")
    works = start_detached(env, shell_script("sleep 60"), *YOLO[:2], name="works.toml")
    question = wait_for_state(env, waits, LiveState.WAITING).questions[0]
    wait_for_state(env, works, LiveState.WORKING)
    listed = {each["session_id"]: each for each in json.loads(env.run("sessions", "--json").stdout)}
    assert [each["state"] for each in listed.values()] == ["ended", "waiting", "working"]
    assert listed[waits]["questions"][0]["id"] == question.question_id
    assert "yes" in {each["word"] for each in listed[waits]["questions"][0]["options"]}
    assert listed[waits]["waiting_since"] == question.asked_at
    assert listed[works]["kind"] == "detached"
    (ended,) = (each for each in listed.values() if each["state"] == "ended")
    assert (ended["end_reason"], ended["title"]) == ("finished", "the finished one")
    text = env.run("sessions").stdout
    assert "waiting, asked" in text
    assert "working" in text
    assert waits[:8] in text
