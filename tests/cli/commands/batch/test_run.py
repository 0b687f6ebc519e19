"""`tejat batch run`: task files, flags, exit codes, and continuing."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.batch_env import BatchEnv, tree_state
from support.program import TEJAT, script_answer
from support.wait import wait_until


@pytest.fixture
def env(tmp_path: Path) -> BatchEnv:
    return BatchEnv(tmp_path)


def test_tasks_are_run_checked_and_recorded(env: BatchEnv) -> None:
    repo = env.repository()
    before = tree_state(repo)
    common = {"repo": "repo", "prompt": "Write b.", "model": env.writer()}
    tasks = env.tasks(
        {"id": "good", "check": "test -f b.txt", **common},
        {"id": "bad", "check": "echo seen; test -f c.txt", **common},
        {"id": "gone", **common, "repo": "missing"},
    )
    done = env.run("batch", "run", tasks, "--out", "out")
    assert done.code == 1
    assert done.stdout == ""
    assert "3/3 done · 1 passed · 1 failed · 1 error" in done.stderr
    assert env.statuses() == {"good": "passed", "bad": "failed", "gone": "error"}
    good, bad = env.results()["good"], env.results()["bad"]
    assert (good["exit_code"], good["check_exit_code"], good["patch"]) == (0, 0, "tasks/good/patch.diff")
    assert (bad["failure"], bad["check_exit_code"]) == ("check_failed", 1)
    out = env.project / "out"
    assert "+new\n" in (out / good["patch"]).read_text()
    assert (out / "tasks/bad/check.txt").read_text() == "seen\n"
    assert "I write." in (out / "tasks/good/transcript.md").read_text()
    assert json.loads((out / "tasks/good/run.json").read_text())["status"] == "success"
    assert json.loads((out / "tasks/good/result.json").read_text()) == good
    assert not (out / "tasks/good/work").exists()
    assert tree_state(repo) == before
    assert not (env.home / ".local").exists()


def test_one_prompt_for_many_repositories(env: BatchEnv) -> None:
    for name in ("src/one", "src/two"):
        env.repository(name)
    (env.project / "src/notes").mkdir()
    model = env.writer("name.txt", "x")
    words = ("--each", "src/*", "-p", "Look at {{name}}.", "-m", model, "--out", "out")
    assert env.run("batch", "run", *words).code == 1
    assert env.statuses() == {"one": "passed", "two": "passed", "notes": "error"}
    assert "Look at two." in (env.project / "out/tasks/two/transcript.md").read_text()


def test_a_run_that_changes_nothing_fails_unless_it_may(env: BatchEnv) -> None:
    env.repository()
    tasks = env.tasks({"id": "a", "repo": "repo", "prompt": "Read.", "model": env.script(script_answer(say="Fine."))})
    assert env.run("batch", "run", tasks, "--out", "out").code == 1
    assert env.results()["a"]["failure"] == "no_changes"
    assert env.run("batch", "run", tasks, "--out", "other", "--allow-no-changes").code == 0


def test_a_finished_batch_is_not_run_again(env: BatchEnv) -> None:
    env.repository()
    tasks = env.tasks({"id": "a", "repo": "repo", "prompt": "Write.", "model": env.writer()})
    words = ("batch", "run", tasks, "--out", "out")
    assert env.run(*words).code == 0
    result = env.project / "out/tasks/a/result.json"
    before = result.read_bytes()
    assert env.run(*words).code == 0
    assert result.read_bytes() == before
    assert env.run(*words, "--redo", "passed").code == 0
    assert env.results()["a"]["attempts"] == 2
    assert (env.project / "out/tasks/a/attempts/1/patch.diff").exists()


def test_changed_and_missing_tasks_are_refused(env: BatchEnv) -> None:
    env.repository()
    task = {"id": "a", "repo": "repo", "prompt": "Write.", "model": env.writer()}
    tasks = env.tasks(task, {**task, "id": "b"})
    words = ("batch", "run", tasks, "--out", "out")
    assert env.run(*words).code == 0
    env.tasks(task)
    done = env.run(*words)
    assert (done.code, done.stderr) == (
        42,
        "tejat: 1 task of this batch is missing now: b. Use another directory with --out.\n",
    )
    env.tasks({**task, "prompt": "Write now."}, {**task, "id": "b"})
    done = env.run(*words)
    assert done.code == 42
    assert "1 task changed since this batch was started: a." in done.stderr
    assert env.run(*words, "--redo", "changed").code == 0
    assert {name: result["attempts"] for name, result in env.results().items()} == {"a": 2, "b": 1}


def test_a_limit_ends_the_batch(env: BatchEnv) -> None:
    env.repository()
    common = {"repo": "repo", "prompt": "Write.", "model": env.writer(), "check": "false"}
    tasks = env.tasks(*({"id": f"t{number}", **common} for number in range(5)))
    done = env.run("batch", "run", tasks, "--out", "out", "--jobs", "1", "--max-failures", "2")
    assert done.code == 53
    assert list(env.statuses().values()) == ["failed", "failed", "skipped", "skipped", "skipped"]


def test_events_for_machines(env: BatchEnv) -> None:
    env.repository()
    tasks = env.tasks({"id": "a", "repo": "repo", "prompt": "Write.", "model": env.writer()})
    done = env.run("batch", "run", tasks, "--out", "out", "-o", "stream-json")
    kinds = [line["type"] for line in done.lines]
    assert (kinds[0], kinds[-1]) == ("batch_start", "batch_end")
    ended = next(line for line in done.lines if line["type"] == "task_end")
    assert {**ended, "timestamp": "", "type": ""} == {**env.results()["a"], "timestamp": "", "type": ""}
    assert done.stderr == ""


def test_shards_split_the_tasks(env: BatchEnv) -> None:
    env.repository()
    common = {"repo": "repo", "prompt": "Write.", "model": env.writer()}
    tasks = env.tasks(*({"id": f"t{number}", **common} for number in range(3)))
    for shard in ("0", "1"):
        assert env.run("batch", "run", tasks, "--out", f"out-{shard}", "--shard", f"{shard}/2").code == 0
    assert [set(env.statuses(f"out-{shard}")) for shard in ("0", "1")] == [{"t0", "t2"}, {"t1"}]
    report = env.run("batch", "report", "out-0", "out-1", "--json").json
    assert (report["total"], report["passed"]) == (3, 3)


def test_an_interrupt_stops_everything_and_the_batch_continues(env: BatchEnv) -> None:
    env.repository()
    call = ("run_shell_command", {"command": "touch started; sleep 1000"})
    slow = env.script(script_answer(say="I wait.", calls=[call]) + script_answer(say="Done."), "slow.toml")
    tasks = env.tasks(
        {"id": "slow", "repo": "repo", "prompt": "Wait.", "model": slow, "approval_mode": "yolo"},
        {"id": "fast", "repo": "repo", "prompt": "Write.", "model": env.writer()},
    )
    words = [*TEJAT, "batch", "run", tasks, "--out", "out", "--jobs", "1"]
    tree = env.project / "out/tasks/slow/work/tree"
    process = subprocess.Popen(words, cwd=env.project, env=env.environment, stderr=subprocess.PIPE, text=True)
    wait_until((tree / "started").exists)
    process.send_signal(signal.SIGINT)
    _stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert not subprocess.run(["pgrep", "-f", str(tree)], capture_output=True, check=False).stdout
    assert not (env.project / "out/results.jsonl").exists()
    env.script(script_answer(say="Done."), "slow.toml")
    assert env.run("batch", "run", tasks, "--out", "out", "--allow-no-changes", "--redo", "changed").code == 0
    assert env.statuses() == {"slow": "passed", "fast": "passed"}
    reason = json.loads((env.project / "out/tasks/slow/attempts/1/reason.json").read_text())
    assert "interrupt" in json.dumps(reason)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "out"), "Give a task file, or repositories with --each GLOB."),
        (("tasks.jsonl", "--each", "*", "--out", "out"), "Give a task file, or repositories with --each GLOB."),
        (("tasks.jsonl",), "--out"),
        (("tasks.jsonl", "--out", "out", "--jobs", "0"), "give a whole number above 0, not '0'"),
        (("tasks.jsonl", "--out", "out", "--max-cost", "-1"), "--max-cost"),
        (("tasks.jsonl", "--out", "out", "--shard", "2/2"), "give I/N with I from 0 to N-1"),
        (("tasks.jsonl", "--out", "out", "--rate", "gemini"), "--rate"),
        (("tasks.jsonl", "--out", "out", "--resource", "CPU"), "give a number above 0"),
        (("tasks.jsonl", "--out", "out", "--resource", "=1"), "give NAME=N, such as CPU=2"),
        (("tasks.jsonl", "--out", "out", "--engine", "rya"), "Did you mean ray?"),
    ],
)
def test_bad_usage(env: BatchEnv, words: tuple[str, ...], message: str) -> None:
    done = env.run("batch", "run", *words)
    assert done.code == 2
    assert message in done.stderr
    assert not (env.project / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("missing.jsonl",), "missing.jsonl"),
        (("--each", "nothing/*", "-p", "x"), "nothing/*"),
    ],
)
def test_input_that_cannot_be_used(env: BatchEnv, words: tuple[str, ...], message: str) -> None:
    done = env.run("batch", "run", *words, "--out", "out")
    assert done.code == 42
    assert message in done.stderr
