"""The configuration of a run in a batch: the task's options, a state of its own, the user's keys and settings."""

import json
import os
from pathlib import Path

import pytest

from support.batch_jobs import JobCase, saying, shell, with_limits, writing
from support.program import write_settings
from tejat.batch.result import TaskFailure, TaskStatus
from tejat.batch.runner.agent_child import agent_options, load_task_config
from tejat.batch.runner.child_request import ChildRequest, ChildWork
from tejat.core.frozen import replace


@pytest.fixture
def home(case: JobCase, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = case.base / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def test_options_of_the_task(case: JobCase) -> None:
    job = with_limits(
        case.job(
            allowed_tools=("a", "b(c)"),
            excluded_tools=("d",),
            trusts_folder=True,
            approval_mode="default",
            sandbox="auto",
        ),
        seconds=1.5,
        cost=2.5,
        tokens=3,
        turns=4,
    )
    options = agent_options(job)
    assert options.directories == (case.task().tree,)
    assert (options.model, options.mode, options.sandbox) == (job.task.model, "default", "auto")
    assert (options.allowed_tools, options.excluded_tools) == (("a", "b(c)"), ("d",))
    assert (options.timeout, options.max_cost, options.max_tokens, options.max_turns) == (1.5, 2.5, 3, 4)
    assert options.trusts_folder is True


def test_the_file_of_the_rate_limits(case: JobCase) -> None:
    job = case.job()
    for rates in ({}, {"gemini": 60.0}):
        environment = agent_options(replace(job, rates=rates)).environment or {}
        assert environment["TEJAT_RATE_LIMITS"] == case.directory.rates


def test_a_run_with_rate_limits(case: JobCase) -> None:
    job = replace(case.job(writing("b.txt", "two\n"), saying()), rates={"scripted": 60_000.0})
    assert case.run(job).status is TaskStatus.PASSED
    assert json.loads(Path(case.directory.rates).read_text())["rates"] == {"scripted": 60_000.0}


def test_paths(case: JobCase, home: Path) -> None:
    job = case.job()
    case.run(replace(job, keeps_tree=True))
    config = load_task_config(agent_options(job), ChildRequest(ChildWork.RUN, job, "/mirror"))
    assert config.paths.state == os.path.join(case.task().state, "tejat")
    assert config.paths.catalogue == str(home / ".local" / "state" / "tejat" / "catalogue.json")
    assert config.paths.mcp_logins == str(home / ".local" / "state" / "tejat" / "mcp-logins")
    assert case.directory.plan in config.paths.hidden
    assert config.settings.sandbox_allowed_paths[-1].value == ("/mirror",)


def test_settings_of_the_user_count(case: JobCase, home: Path) -> None:
    write_settings(home, {"tools": {"exclude": ["write_file"]}})
    assert case.run(case.job(writing("b.txt", "two\n"), saying())).failure is TaskFailure.NO_CHANGES


def test_broken_settings_of_the_user(case: JobCase, home: Path) -> None:
    write_settings(home, "{")
    result = case.run(case.job(saying()))
    assert (result.status, result.failure, result.exit_code) == (TaskStatus.ERROR, TaskFailure.CONFIGURATION, 52)


def test_settings_of_the_repository_need_trust(tmp_path: Path) -> None:
    settings = json.dumps({"model": {"maxSessionTurns": 1}})
    case = JobCase(tmp_path, {"a.txt": "one\n", ".gemini/settings.json": settings})
    answers = (writing("b.txt", "two\n"), saying())
    assert case.run(case.job(*answers)).status is TaskStatus.PASSED
    assert case.run(case.job(*answers, trusts_folder=True)).failure is TaskFailure.LIMIT


def test_the_sandbox_shows_the_objects_of_the_repository(case: JobCase) -> None:
    result = case.run(case.job(shell("git show HEAD:a.txt > b.txt"), saying(), sandbox="required"))
    if result.failure is TaskFailure.SANDBOX:
        pytest.skip("SANDBOX MISSING: no sandbox works here")
    assert (result.status, result.lines_added) == (TaskStatus.PASSED, 1)
