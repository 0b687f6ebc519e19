"""Checks: in the tree, in the sandbox of the agent, with bounded output and time."""

import os
from pathlib import Path
from typing import Any

import pytest

from support.batch_jobs import JobCase, saying, writing
from support.process_marks import living_pids
from tejat.batch.result import TaskFailure, TaskResult, TaskStatus
from tejat.batch.runner.check_child import write_output
from tejat.workspace.processes.bounded_buffer import BoundedBuffer


def run_check(case: JobCase, check: str, **fields: Any) -> TaskResult:
    return case.run(case.job(writing("b.txt", "two\n"), saying(), check=check, **fields))


class TestExitCode:
    def test_zero_passes(self, case: JobCase) -> None:
        result = run_check(case, "test -e a.txt && test -e b.txt && [[ $PWD == */tree ]]")
        assert (result.status, result.check_exit_code) == (TaskStatus.PASSED, 0)
        assert 0 < result.check_seconds < result.seconds

    def test_any_other_fails(self, case: JobCase) -> None:
        result = run_check(case, "exit 7")
        assert (result.failure, result.check_exit_code) == (TaskFailure.CHECK_FAILED, 7)

    def test_a_signal_fails(self, case: JobCase) -> None:
        assert run_check(case, "kill -TERM $$").check_exit_code == 143

    def test_a_run_without_changes_passes_with_it(self, case: JobCase) -> None:
        assert case.run(case.job(saying(), check="true")).status is TaskStatus.PASSED


class TestOutput:
    def test_both_streams_in_order(self, case: JobCase) -> None:
        run_check(case, "echo one; echo two >&2; echo three; read line; echo end $?")
        assert case.text("check.txt") == "one\ntwo\nthree\nend 1\n"

    def test_long_output_has_a_beginning_and_an_end(self, case: JobCase) -> None:
        run_check(case, "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last")
        content = Path(case.task().check).read_bytes()
        assert content.startswith(b"first\n")
        assert content.endswith(b"x\nlast\n")
        assert b"bytes left out ...]" in content
        assert 10 << 20 <= len(content) < (10 << 20) + 100

    def test_what_it_writes_is_not_in_the_patch(self, case: JobCase) -> None:
        result = run_check(case, "echo x > made.txt")
        assert result.files_changed == 1
        assert "made.txt" not in case.text("patch.diff")

    def test_a_short_one_is_written_whole(self, tmp_path: Path) -> None:
        buffer = BoundedBuffer(head=3, tail=3, spool=None, spool_limit=0)
        buffer.add(b"abc")
        write_output(str(tmp_path / "check.txt"), buffer)
        assert (tmp_path / "check.txt").read_bytes() == b"abc"
        buffer.add(b"defghi")
        write_output(str(tmp_path / "check.txt"), buffer)
        assert (tmp_path / "check.txt").read_bytes() == b"abc\n[... 3 bytes left out ...]\nghi"


class TestTime:
    def test_a_check_that_takes_too_long(self, case: JobCase, mark: str) -> None:
        result = run_check(case, f"echo begun; sleep {mark} & setsid sleep {mark}", check_seconds=0.5)
        assert (result.status, result.failure) == (TaskStatus.FAILED, TaskFailure.CHECK_TIMED_OUT)
        assert result.check_exit_code is None
        assert case.text("check.txt") == "begun\n"
        assert living_pids(mark) == []

    def test_processes_that_it_leaves_are_stopped(self, case: JobCase, mark: str) -> None:
        assert run_check(case, f"sleep {mark} & true").status is TaskStatus.PASSED
        assert living_pids(mark) == []


class TestEnvironment:
    def test_secrets_are_not_in_it(self, case: JobCase, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", "a-key-of-a-test-that-nobody-may-see")
        run_check(case, "env")
        assert "PATH=" in case.text("check.txt")
        assert "a-key-of-a-test" not in case.text("check.txt")

    def test_the_sandbox_of_the_agent(self, case: JobCase, monkeypatch: pytest.MonkeyPatch) -> None:
        home = case.base / "home"
        (home / ".local" / "state" / "tejat").mkdir(parents=True)
        (home / ".local" / "state" / "tejat" / "secret").write_text("hidden")
        monkeypatch.setenv("HOME", str(home))
        Path(case.directory.path).mkdir()
        Path(case.directory.plan).write_text("hidden")
        script = f"""
            echo x > inside.txt && touch "${{TMPDIR:-/tmp}}/file" && mkdir .pytest_cache && git status || exit 1
            for path in {home}/.local/state/tejat/secret {case.directory.plan}; do cat $path && exit 2; done
            ls {case.task().path}/events.jsonl && exit 3
            echo x > {case.repo}/outside.txt && test -e {case.repo}/a.txt && exit 4
            exit 0
        """
        result = run_check(case, script, sandbox="required")
        if result.failure is TaskFailure.SANDBOX:
            pytest.skip("SANDBOX MISSING: no sandbox works here")
        assert result.check_exit_code == 0, case.text("check.txt")
        assert not (case.repo / "outside.txt").exists()
        assert "hidden" not in case.text("check.txt")

    def test_a_required_sandbox_that_is_missing(self, case: JobCase) -> None:
        result = run_check(case, "true", sandbox="windows-native")
        assert (result.status, result.failure, result.exit_code) == (TaskStatus.ERROR, TaskFailure.SANDBOX, 44)
        assert not os.path.exists(case.task().check)
