"""The state file: shared by processes that may be killed at any moment."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.models.rate_limits.state_file import RateStateFile, ServiceState
from tejat.workspace.threads.stop import StopToken

COUNT = """
import sys
from tejat.core.frozen import replace
from tejat.models.rate_limits.state_file import RateStateFile, ServiceState
from tejat.workspace.threads.stop import StopToken

def count(states):
    state = states.get("gemini", ServiceState())
    states["gemini"] = replace(state, next_request=state.next_request + 1)

file, stop = RateStateFile(sys.argv[1]), StopToken()
for turn in range(int(sys.argv[2])):
    file.update(count, stop)
    if not turn:
        print("counted", flush=True)
"""

HOLD = """
import sys, time
from tejat.models.rate_limits.state_file import RateStateFile
from tejat.workspace.threads.stop import StopToken

def hold(states):
    print("locked", flush=True)
    time.sleep(600)

RateStateFile(sys.argv[1]).update(hold, StopToken())
"""


def started(program: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)


def count_of(file: RateStateFile) -> float:
    return file.update(lambda states: states["gemini"].next_request, StopToken())


def test_no_change_of_several_processes_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "rates.json")
    processes = [started(COUNT, path, "200") for _ in range(4)]
    for process in processes:
        assert process.communicate(timeout=120) == ("counted\n", None)
    assert count_of(RateStateFile(path)) == 800


def test_a_killed_process_leaves_a_whole_state(tmp_path: Path) -> None:
    path, before = str(tmp_path / "rates.json"), 0.0
    for _ in range(8):
        with started(COUNT, path, "1000000000") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "counted\n"
            process.kill()
        after = count_of(RateStateFile(path))
        assert after > before
        before = after


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = str(tmp_path / "rates.json")
    with started(HOLD, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        process.kill()
    assert RateStateFile(path).update(len, StopToken()) == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\0" * 1024,
        b"\xff\xfe",
        b"[]",
        b"7",
        b'{"gemini":"soon"}',
        b'{"gemini":[1,2]}',
        b'{"gemini":[1,2,"3"]}',
        b'{"gemini":[1,2,1e999]}',
        b'{"gemini":[1,2,NaN]}',
        b'{"nobody":[1,2,3]}',
        b"[" * 100_000,
    ],
)
def test_an_unreadable_state_is_none(tmp_path: Path, content: bytes) -> None:
    file = RateStateFile(str(tmp_path / "rates.json"))
    Path(file.path).write_bytes(content)
    assert file.update(dict, StopToken()) == {}
    state = ServiceState(5.0, 6.0, 7.0)
    file.update(lambda states: states.update(gemini=state), StopToken())
    assert json.loads(Path(file.path).read_bytes()) == {"gemini": [5.0, 6.0, 7.0]}
    assert file.update(dict, StopToken()) == {"gemini": state}


def test_the_size_never_changes(tmp_path: Path) -> None:
    file = RateStateFile(str(tmp_path / "rates.json"))
    names = ("gemini", "vertex", "openai", "anthropic", "ollama", "azure", "bedrock", "scripted")
    for number, name in enumerate(names):
        state = ServiceState(1e12 + 1 / 3, 1e12 + number, 1e12)
        file.update(lambda states, name=name, state=state: states.update({name: state}), StopToken())
        assert Path(file.path).stat().st_size == 1024
    assert set(file.update(dict, StopToken())) == set(names)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        RateStateFile(str(tmp_path / "missing" / "rates.json")).update(len, StopToken())
