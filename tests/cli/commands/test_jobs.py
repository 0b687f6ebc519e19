"""`tejat jobs`: real jobs, listed for people and programs, read, stopped."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.jobs import run_job, start_job
from tejat.cli.commands import jobs as command
from tejat.cli.main import main
from tejat.workspace.jobs.store import JobState, JobStore


def run(words: list[str], open_jobs: Callable[[], JobStore]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "open_jobs", open_jobs)
        return main(["jobs", *words])


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    out, err = capsys.readouterr()
    return out, err


class TestList:
    @pytest.mark.parametrize("words", [[], ["list"]])
    def test_none(self, jobs: JobStore, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
        assert run(words, lambda: jobs) == 0
        assert printed(capsys) == ("PID  STATE  STARTED  OUTPUT  COMMAND\n", "")

    def test_a_table_for_people(self, jobs: JobStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        commands = ["echo hi\nexit 3", "kill -9 $$ # \x1b[31m", "kill -40 $$"]
        pids = [run_job(jobs, command).pid for command in commands]
        pids.append(start_job(jobs, "sleep 60").pid)
        (tmp_path / "jobs" / "broken.json").write_text("{")
        assert run([], lambda: jobs) == 0
        out, err = printed(capsys)
        assert err == f"tejat: Could not read the process record {tmp_path}/jobs/broken.json.\n"
        header, *rows = [line.split(maxsplit=5) for line in out.splitlines()]
        assert header == ["PID", "STATE", "STARTED", "OUTPUT", "COMMAND"]
        assert [row[0] for row in rows] == list(map(str, pids))
        states = ["exit 3", "SIGKILL", "signal 40", "running"]
        assert [state in line for state, line in zip(states, out.splitlines()[1:], strict=True)] == [True] * 4
        shown = ["echo hi exit 3", "kill -9 $$ # <U+001B>[31m", "kill -40 $$", "sleep 60"]
        assert [line.endswith(f"  {text}") for text, line in zip(shown, out.splitlines()[1:], strict=True)] == [
            True
        ] * 4

    def test_json_for_programs(self, jobs: JobStore, capsys: pytest.CaptureFixture[str]) -> None:
        job = run_job(jobs, "echo hi; exit 3")
        assert run(["list", "--json"], lambda: jobs) == 0
        out, err = printed(capsys)
        assert err == ""
        assert json.loads(out) == [
            {
                "pid": job.pid,
                "state": "exited",
                "exit_code": 3,
                "signal": None,
                "started": job.started,
                "log": job.log,
                "log_size": 3,
                "directory": "/where",
                "command": "echo hi; exit 3",
            }
        ]


class TestRead:
    def test_the_last_lines_or_from_an_offset(self, jobs: JobStore, capsys: pytest.CaptureFixture[str]) -> None:
        pid = str(run_job(jobs, "seq 200; printf '\\033[1mend'").pid)
        assert run(["read", pid], lambda: jobs) == 0
        assert printed(capsys) == ("".join(f"{number}\n" for number in range(102, 201)) + "end\n", "")
        assert run(["read", pid, "--lines", "1"], lambda: jobs) == 0
        assert printed(capsys) == ("end\n", "")
        assert run(["read", "--offset=2", pid, "--lines=2"], lambda: jobs) == 0
        assert printed(capsys) == ("2\n3\n", "tejat: More output follows. Continue with --offset 6.\n")

    def test_no_output(self, jobs: JobStore, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["read", str(run_job(jobs, "true").pid)], lambda: jobs) == 0
        assert printed(capsys) == ("", "")

    @pytest.mark.parametrize("word", ["read", "stop"])
    def test_no_such_job(self, jobs: JobStore, capsys: pytest.CaptureFixture[str], word: str) -> None:
        assert run([word, "1"], lambda: jobs) == 1
        told = "tejat: No background process 1.\n"
        assert printed(capsys) == ("", told)


def test_stop(jobs: JobStore, capsys: pytest.CaptureFixture[str]) -> None:
    job = start_job(jobs, "sleep 60")
    assert run(["stop", str(job.pid)], lambda: jobs) == 0
    assert printed(capsys) == (f"Process {job.pid} stopped: SIGTERM.\n", "")
    assert jobs.get(job.pid).state is JobState.EXITED


class TestUsage:
    @pytest.mark.parametrize("word", ["-h", "--help"])
    def test_help(self, jobs: JobStore, capsys: pytest.CaptureFixture[str], word: str) -> None:
        assert run([word], lambda: jobs) == 0
        assert printed(capsys) == (command.make_parser().format_help(), "")

    @pytest.mark.parametrize("words", [["what"], ["read"], ["read", "x"], ["stop", "-"], ["list", "1"]])
    def test_wrong_words(self, jobs: JobStore, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
        assert run(words, lambda: jobs) == 2
        out, err = printed(capsys)
        assert out == ""
        assert err.endswith("\nRun `tejat jobs --help` for usage.\n")

    @pytest.mark.parametrize("words", [["--what"], ["read", "1", "--offset", "x"], ["read", "1", "--lines", "-1"]])
    def test_wrong_options(self, jobs: JobStore, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
        assert run(words, lambda: jobs) == 2
        out, err = printed(capsys)
        assert out == ""
        assert "Run `tejat jobs --help` for usage." in err
