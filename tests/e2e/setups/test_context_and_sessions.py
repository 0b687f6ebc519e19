"""Settings of context files, ignored files, output and old sessions, as Gemini CLI has them."""

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support.model_servers.gemini import ModelServer, text_reply
from support.program import ProgramEnv, text_script

DAY = 86_400


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.fixture
def server(machine: ProgramEnv) -> Generator[ModelServer]:
    with ModelServer([text_reply("Hello.")]) as server:
        machine.environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
        yield server


def first_request(machine: ProgramEnv, server: ModelServer) -> str:
    done = machine.run("--skip-trust", "-p", "hi")
    assert (done.code, done.stdout) == (0, "Hello.\n")
    return str(server.requests[0].body)


@pytest.mark.parametrize("included", [True, False])
def test_the_tree_of_the_project(machine: ProgramEnv, server: ModelServer, *, included: bool) -> None:
    (machine.project / "landmark.txt").touch()
    machine.write_user_settings(context={"includeDirectoryTree": included})
    assert ("landmark.txt" in first_request(machine, server)) is included


@pytest.mark.parametrize("markers", [None, []])
def test_context_files_above_the_project(machine: ProgramEnv, server: ModelServer, markers: list[str] | None) -> None:
    (machine.base / ".git").mkdir()
    (machine.base / "GEMINI.md").write_text("from above")
    machine.write_user_settings(context={} if markers is None else {"memoryBoundaryMarkers": markers})
    assert ("from above" in first_request(machine, server)) is (markers is None)


def test_other_ignore_files(machine: ProgramEnv) -> None:
    machine.write_user_settings(context={"fileFiltering": {"customIgnoreFilePaths": ["x.ignore", "missing"]}})
    (machine.project / "x.ignore").write_text("*.hidden\n")
    for name in ("a.hidden", "a.shown"):
        (machine.project / name).touch()
    done = machine.run("tools", "call", "glob", "pattern=a.*")
    assert done.code == 0
    assert "a.shown" in done.stdout
    assert "a.hidden" not in done.stdout
    run = machine.run("-m", machine.script(text_script("Hello.")), "-p", "hi")
    assert f"The ignore file {machine.project / 'missing'} does not exist" in run.stderr


def test_the_output_format(machine: ProgramEnv) -> None:
    machine.write_user_settings(output={"format": "json"})
    script = machine.script(text_script("Hello."))
    assert machine.run("-m", script, "-p", "hi").json["response"] == "Hello."
    assert machine.run("-m", script, "-p", "hi", "-o", "text").stdout == "Hello.\n"


def test_the_id_of_a_new_session_is_new(machine: ProgramEnv) -> None:
    script = machine.script(text_script("Hello."))
    assert machine.run("-m", script, "-p", "hi", "--session-id", "mine").stdout == "Hello.\n"
    again = machine.run("-m", script, "-p", "hi", "--session-id", "mine")
    assert (again.code, again.stdout) == (42, "")
    assert "There is a session mine already. Use --resume mine to continue it, or another id." in again.stderr
    assert machine.run("-m", script, "-p", "hi", "--session-id", "min").stdout == "Hello.\n"


def test_only_the_newest_sessions_are_kept(machine: ProgramEnv) -> None:
    machine.write_user_settings(general={"sessionRetention": {"maxCount": 2}})
    script = machine.script(text_script("Hello."))
    for name in ("one", "two", "three"):
        machine.run("-m", script, "-p", "hi", "--session-id", name)
    sessions = machine.home / ".local" / "state" / "tejat" / "sessions"
    saved = {path: name for path in sessions.rglob("*.jsonl") for name in ("one", "two", "three") if name in path.name}
    assert len(saved) == 3  # none of them is a day old
    for path, name in saved.items():
        at = time.time() - {"one": 3, "two": 2, "three": 1.5}[name] * DAY
        os.utime(path, (at, at))
    (sessions / "tidied").unlink()
    machine.run("-m", script, "-p", "hi", "--session-id", "four")
    assert sorted(path.name[20:] for path in sessions.rglob("*.jsonl")) == ["four.jsonl", "three.jsonl"]
