"""Jobs from the working copy to the result, with real processes and a scripted model."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from support.batch_jobs import JobCase, saying, shell, start_driver, with_limits, writing
from support.process_marks import is_alive, living_pids
from support.wait import wait_until, wait_until_async
from tejat.batch.engines.contract import JobLost
from tejat.batch.events import TaskPhase
from tejat.batch.result import TaskFailure, TaskStatus
from tejat.batch.runner.job_runner import JobRunner
from tejat.core.frozen import replace


class TestResult:
    def test_a_change_passes(self, case: JobCase) -> None:
        result = case.run(case.job(writing("b.txt", "two\n"), saying()))
        assert (result.status, result.failure, result.message) == (TaskStatus.PASSED, TaskFailure.NONE, "")
        assert (result.exit_code, result.check_exit_code) == (0, None)
        assert (result.files_changed, result.lines_added, result.lines_removed) == (1, 1, 0)
        assert (result.tokens, result.cost, result.tool_calls, result.denied_calls) == (110, 0.0, 1, 0)
        assert (result.patch, result.directory) == ("tasks/one/patch.diff", "tasks/one")
        assert (result.repo, result.commit, result.attempts) == (str(case.repo), case.commit, 1)
        assert result.model == f"scripted:{case.base / 'one.toml'}"
        assert 0 < result.run_seconds <= result.seconds
        assert result.started <= result.ended

    def test_records(self, case: JobCase) -> None:
        case.run(case.job(writing("b.txt", "two\n"), saying("All is well.")))
        names = ["events.jsonl", "patch.diff", "run.json", "stderr.txt", "transcript.md"]
        assert sorted(os.listdir(case.task().path)) == names
        assert "+two" in case.text("patch.diff")
        assert json.loads(case.text("run.json")) == case.events()[-1]
        assert [event["type"] for event in case.events()][:2] == ["init", "message"]
        assert "All is well." in case.text("transcript.md")
        assert case.text("stderr.txt") == ""

    def test_phases_and_activity(self, case: JobCase) -> None:
        case.run(case.job(writing("b.txt", "two\n"), saying(), check="true"))
        expected = [
            (TaskPhase.PREPARING, "", 0),
            (TaskPhase.RUNNING, "", 0),
            (TaskPhase.RUNNING, "write_file b.txt", 110),
            (TaskPhase.RECORDING, "", 110),
            (TaskPhase.CHECKING, "", 110),
        ]
        assert case.activities == expected

    def test_no_change_fails(self, case: JobCase) -> None:
        result = case.run(case.job(saying()))
        assert (result.status, result.failure, result.patch) == (TaskStatus.FAILED, TaskFailure.NO_CHANGES, "")
        assert not case.exists("patch.diff")

    def test_refused_calls_are_named(self, case: JobCase) -> None:
        result = case.run(case.job(writing("b.txt", "two\n"), saying(), approval_mode="default"))
        assert (result.failure, result.denied_calls) == (TaskFailure.NO_CHANGES, 1)
        assert result.message.startswith("The run changed nothing. 1 tool call was refused: ")

    def test_allowed_and_excluded_tools(self, case: JobCase) -> None:
        answers = (writing("b.txt", "two\n"), saying())
        job = case.job(*answers, approval_mode="default", allowed_tools=("write_file",))
        assert case.run(job).status is TaskStatus.PASSED
        result = case.run(case.job(*answers, excluded_tools=("write_file",)))
        assert result.failure is TaskFailure.NO_CHANGES

    def test_a_limit_of_the_run(self, case: JobCase) -> None:
        job = with_limits(case.job(writing("b.txt", "two\n"), saying()), turns=1)
        result = case.run(job)
        assert (result.status, result.failure, result.exit_code) == (TaskStatus.FAILED, TaskFailure.LIMIT, 53)
        assert result.files_changed == 1
        checked = case.run(replace(job, task=replace(job.task, check="test -e b.txt")))
        assert (checked.status, checked.exit_code, checked.check_exit_code) == (TaskStatus.PASSED, 53, 0)

    def test_a_failing_service(self, case: JobCase) -> None:
        result = case.run(case.job(saying(fail="no_key", detail="No key.")))
        assert (result.status, result.failure, result.exit_code) == (
            TaskStatus.ERROR,
            TaskFailure.AUTHENTICATION,
            41,
        )
        assert "No key." in result.message

    def test_a_run_that_cannot_begin_has_all_records(self, case: JobCase) -> None:
        job = case.job(check="true")
        result = case.run(replace(job, task=replace(job.task, model="scripted:/missing.toml")))
        assert (result.status, result.failure, result.cost) == (TaskStatus.ERROR, TaskFailure.CONFIGURATION, 0.0)
        assert "/missing.toml" in result.message
        assert "/missing.toml" in case.text("transcript.md")
        assert not case.exists("check.txt")

    def test_a_missing_repository(self, case: JobCase) -> None:
        job = case.job(saying())
        missing = str(case.base / "missing")
        result = case.run(replace(job, task=replace(job.task, repo=missing), commit=""))
        assert (result.status, result.failure, result.exit_code) == (TaskStatus.ERROR, TaskFailure.REPOSITORY, None)
        assert not case.exists("work")

    def test_a_directory_that_cannot_be_made(self, case: JobCase) -> None:
        Path(case.directory.path).write_text("a file")
        result = case.run(case.job(saying()))
        assert (result.status, result.failure) == (TaskStatus.ERROR, TaskFailure.INTERNAL)
        assert case.directory.path in result.message


class TestTree:
    def test_it_can_be_kept(self, case: JobCase) -> None:
        case.run(case.job(writing("b.txt", "two\n"), saying(), keeps_tree=True))
        assert (Path(case.task().tree) / "b.txt").read_text() == "two\n"

    def test_what_an_earlier_attempt_left_is_gone(self, case: JobCase) -> None:
        case.run(case.job(writing("b.txt", "two\n"), saying(), check="true", keeps_tree=True))
        result = case.run(case.job(writing("c.txt", "three\n"), saying()))
        assert result.files_changed == 1
        assert "b.txt" not in case.text("patch.diff")
        assert not case.exists("check.txt")

    def test_the_repository_is_not_touched(self, case: JobCase) -> None:
        before = sorted(str(path) for path in case.repo.rglob("*"))
        job = case.job(shell("git add -A; git commit -qm x; git branch new; echo x > a.txt"), saying())
        assert case.run(job).status is TaskStatus.PASSED
        assert sorted(str(path) for path in case.repo.rglob("*")) == before
        assert (case.repo / "a.txt").read_text() == "one\n"

    def test_git_works_in_it(self, case: JobCase) -> None:
        case.run(case.job(shell("git log --format=%H"), saying()))
        assert case.commit in str(case.events())

    def test_a_mirror_on_this_machine(self, case: JobCase, tmp_path: Path) -> None:
        case.run(case.job(writing("b.txt", "two\n"), saying(), keeps_tree=True))
        (mirror,) = (path for path in Path(case.directory.repositories).iterdir() if path.is_dir())
        case.repo.rename(tmp_path / "moved")

        async def main() -> TaskStatus:
            from tejat.batch.git.mirror import Mirror

            async with JobRunner() as runner:
                job = case.job(writing("b.txt", "two\n"), saying())
                return (await runner.run(job, case.report, mirror=Mirror(str(mirror), case.commit))).status

        assert asyncio.run(main()) is TaskStatus.PASSED


class TestState:
    def test_nothing_is_written_to_the_users(self, case: JobCase, monkeypatch: pytest.MonkeyPatch) -> None:
        home = case.base / "home"
        (home / ".local" / "state").mkdir(parents=True)
        monkeypatch.setenv("HOME", str(home))
        case.run(case.job(writing("b.txt", "two\n"), shell("true"), saying()))
        assert list(home.rglob("*")) == [home / ".local", home / ".local" / "state"]

    def test_commands_get_the_variable_of_the_user(self, case: JobCase, monkeypatch: pytest.MonkeyPatch) -> None:
        command = shell("echo state=${XDG_STATE_HOME-none}=")
        monkeypatch.setenv("XDG_STATE_HOME", str(case.base / "mine"))
        case.run(case.job(command, saying()))
        assert f"state={case.base / 'mine'}=" in str(case.events())
        monkeypatch.delenv("XDG_STATE_HOME")
        case.run(case.job(command, saying()))
        assert "state=none=" in str(case.events())


class TestBackground:
    def test_processes_end_with_the_run(self, case: JobCase, mark: str) -> None:
        job = case.job(shell(f"sleep {mark}", is_background=True), writing("b.txt", "x"), saying(), check="true")
        assert case.run(job).status is TaskStatus.PASSED
        assert living_pids(mark) == []


class TestManyAtOnce:
    def test_each_has_its_own_output(self, case: JobCase) -> None:
        jobs = [
            case.job(writing("n.txt", f"{number}\n"), saying(f"I am {number}."), task_id=f"t{number}")
            for number in range(8)
        ]

        async def main() -> list[TaskStatus]:
            async with JobRunner() as runner:
                return [each.status for each in await asyncio.gather(*(runner.run(job, case.report) for job in jobs))]

        assert asyncio.run(main()) == [TaskStatus.PASSED] * 8
        for number in range(8):
            assert f"I am {number}." in case.text("transcript.md", f"t{number}")
            assert f"+{number}\n" in case.text("patch.diff", f"t{number}")


class TestCancellation:
    def test_everything_stops_and_the_work_is_kept(self, case: JobCase, mark: str) -> None:
        job = case.job(writing("b.txt", "two\n"), shell(f"sleep {mark}"), saying())

        async def main() -> None:
            async with JobRunner() as runner:
                running = asyncio.ensure_future(runner.run(job, case.report))
                await wait_until_async(lambda: living_pids(mark))
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
                await wait_until_async(lambda: not living_pids(mark))
                assert "+two" in case.text("patch.diff")

        asyncio.run(main())
        assert case.events()[-1]["error"]["code"] == 143
        assert "write_file" in case.text("transcript.md")
        assert (Path(case.task().tree) / "b.txt").exists()

    def test_a_check_stops_too(self, case: JobCase, mark: str) -> None:
        job = case.job(writing("b.txt", "two\n"), saying(), check=f"sleep {mark}")

        async def main() -> None:
            async with JobRunner() as runner:
                running = asyncio.ensure_future(runner.run(job, case.report))
                await wait_until_async(lambda: living_pids(mark))
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
                await wait_until_async(lambda: not living_pids(mark))

        asyncio.run(main())


class TestKills:
    def test_a_killed_run_is_lost(self, case: JobCase, mark: str) -> None:
        job = case.job(shell(f"sleep {mark}"), saying())

        async def main(number: signal.Signals) -> str:
            async with JobRunner() as runner:
                running = asyncio.ensure_future(runner.run(job, case.report))
                await wait_until_async(lambda: living_pids(mark))
                os.kill(_agent_pid(living_pids(mark)[0]), number)
                with pytest.raises(JobLost) as lost:
                    await running
                await wait_until_async(lambda: not living_pids(mark))
                return str(lost.value)

        assert "SIGKILL" in asyncio.run(main(signal.SIGKILL))
        assert asyncio.run(main(signal.SIGTERM)) == "The run was stopped by SIGTERM."

    def test_a_killed_template_loses_its_jobs_and_is_replaced(self, case: JobCase, mark: str) -> None:
        job = case.job(shell(f"sleep {mark}"), saying())

        async def main() -> TaskStatus:
            async with JobRunner() as runner:
                running = asyncio.ensure_future(runner.run(job, case.report))
                await wait_until_async(lambda: living_pids(mark))
                agent = _agent_pid(living_pids(mark)[0])
                os.kill(_parent(agent), signal.SIGKILL)
                with pytest.raises(JobLost):
                    await running
                await wait_until_async(lambda: not living_pids(mark) and not is_alive(agent))
                again = case.job(writing("b.txt", "two\n"), saying(), task_id="two")
                return (await runner.run(again, case.report)).status

        assert asyncio.run(main()) is TaskStatus.PASSED

    def test_nothing_outlives_a_killed_driver(self, case: JobCase, mark: str) -> None:
        jobs = [
            case.job(shell(f"sleep {mark}", is_background=True), shell(f"sleep {mark}"), saying(), task_id="one"),
            case.job(writing("b.txt", "x"), saying(), task_id="two", check=f"sleep {mark}"),
        ]
        driver = start_driver(jobs, case.base)
        try:
            wait_until(lambda: len({_command_line(pid) for pid in living_pids(mark)}) and _sleepers(mark) == 3)
            agents = {_agent_pid(pid) for pid in living_pids(mark)} - {0}
            template = {_parent(agent) for agent in agents}
        finally:
            driver.kill()
            driver.wait()
        wait_until(lambda: not living_pids(mark))
        wait_until(lambda: not any(map(is_alive, agents | template)))


def _sleepers(mark: str) -> int:
    return sum(_command_line(pid).startswith(b"sleep\0") for pid in living_pids(mark))


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])


def _agent_pid(pid: int) -> int:
    """The run that started a command: above its supervisor, with the command line of the template."""
    while pid > 1:
        if b"tejat.batch.runner.template" in _command_line(pid):
            parent = _parent(pid)
            return pid if b"tejat.batch.runner.template" in _command_line(parent) else 0
        pid = _parent(pid)
    return 0
