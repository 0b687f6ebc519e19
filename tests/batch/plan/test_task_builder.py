"""Tasks from records: the task's own fields precede defaults, prompts come from one place."""

from pathlib import Path

import pytest

from tejat.batch.plan.fields import MAX_TEXT_BYTES
from tejat.batch.plan.task_builder import TaskBuilder, resolve_model
from tejat.batch.plan.types import RejectedTask, TaskDefaults, TaskRecord
from tejat.batch.result import TaskFailure
from tejat.batch.task import BatchTask, TaskLimits

NO_DEFAULTS = TaskDefaults()


def build(directory: Path, defaults: TaskDefaults = NO_DEFAULTS, **values: object) -> BatchTask | RejectedTask:
    record = TaskRecord({"repo": "web", **values}, "line-7", "tasks.jsonl:7")
    return TaskBuilder(defaults, directory=str(directory)).build(record)


def accepted(found: BatchTask | RejectedTask) -> BatchTask:
    assert isinstance(found, BatchTask), found
    return found


def refusal(found: BatchTask | RejectedTask) -> str:
    assert isinstance(found, RejectedTask), found
    assert (found.failure, found.source) == (TaskFailure.INPUT, "tasks.jsonl:7")
    return found.message


class TestDefaults:
    DEFAULTS = TaskDefaults(
        prompt="Fix {{name}}",
        model="m",
        limits=TaskLimits(1.0, 2.0, 3, 4),
        allowed_tools=("a",),
        excluded_tools=("b",),
        approval_mode="yolo",
        sandbox="auto",
        trusts_folder=True,
        check="make {{name}}",
        check_seconds=5.0,
        allows_no_changes=True,
        allows_dirty=True,
        commit="main",
    )

    def test_apply_to_what_a_task_does_not_set(self, tmp_path: Path) -> None:
        assert accepted(build(tmp_path, self.DEFAULTS)) == BatchTask(
            id="line-7",
            repo=f"{tmp_path}/web",
            prompt="Fix web",
            commit="main",
            model="m",
            limits=TaskLimits(1.0, 2.0, 3, 4),
            allowed_tools=("a",),
            excluded_tools=("b",),
            approval_mode="yolo",
            sandbox="auto",
            trusts_folder=True,
            check="make web",
            check_seconds=5.0,
            allows_no_changes=True,
            allows_dirty=True,
            source="tasks.jsonl:7",
        )

    def test_a_task_precedes_them(self, tmp_path: Path) -> None:
        own = {"id": "x", "prompt": "p", "commit": "", "model": "n", "timeout": 9, "max_tokens": 8}
        switches = {"allowed_tools": [], "approval_mode": "plan", "sandbox": False, "trust": False, "check": ""}
        found = accepted(build(tmp_path, self.DEFAULTS, **own, **switches, check_timeout=1, allow_dirty=False))
        assert (found.id, found.prompt, found.commit, found.model) == ("x", "p", "", "n")
        assert found.limits == TaskLimits(9.0, 2.0, 8, 4)
        assert (found.allowed_tools, found.approval_mode, found.sandbox, found.check) == ((), "plan", "off", "")
        assert (found.trusts_folder, found.check_seconds, found.allows_dirty) == (False, 1.0, False)
        assert found.allows_no_changes


class TestPrompt:
    def test_variables(self, tmp_path: Path) -> None:
        prompt = "{{id}} {{repo}} {{commit}} {{name}} {{n}}"
        found = accepted(build(tmp_path, id="a", commit="main", prompt=prompt, vars={"n": 1}))
        assert found.prompt == f"a {tmp_path}/web main web 1"
        assert found.variables == {"n": "1"}

    def test_own_variables_precede_built_in_ones(self, tmp_path: Path) -> None:
        assert accepted(build(tmp_path, prompt="{{name}}", vars={"name": "mine"})).prompt == "mine"

    def test_file(self, tmp_path: Path) -> None:
        (tmp_path / "fix.md").write_bytes(b"\xef\xbb\xbfFix {{name}}\n")
        assert accepted(build(tmp_path, prompt_file="fix.md")).prompt == "Fix web\n"

    def test_file_in_the_home_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "fix.md").write_text("Fix", encoding="utf-8")
        assert accepted(build(tmp_path, prompt_file="~/fix.md")).prompt == "Fix"

    def test_a_file_that_cannot_be_used(self, tmp_path: Path) -> None:
        (tmp_path / "binary").write_bytes(b"a\xff")
        (tmp_path / "nul").write_bytes(b"a\0")
        (tmp_path / "large").write_bytes(b"x" * (MAX_TEXT_BYTES + 1))
        (tmp_path / "empty").write_bytes(b" \n")
        messages = {
            name: refusal(build(tmp_path, prompt_file=name)).removeprefix(f"{tmp_path}/")
            for name in ("binary", "nul", "large", "empty")
        }
        assert messages == {
            "binary": "binary is not UTF-8: invalid byte 2.",
            "nul": "nul contains a NUL character.",
            "large": "large is larger than 8 MB.",
            "empty": "The prompt is empty.",
        }
        missing = refusal(build(tmp_path, prompt_file="none"))
        assert missing == f"Could not read {tmp_path}/none: No such file or directory."
        assert "not a regular file" in refusal(build(tmp_path, prompt_file="."))

    def test_two_places(self, tmp_path: Path) -> None:
        message = refusal(build(tmp_path, prompt="a", prompt_file="b"))
        assert message == "Both prompt and prompt_file are set. Use one of them."

    @pytest.mark.parametrize("prompt", ["", "  \n", "\u200b", "{{empty}}"])
    def test_empty(self, tmp_path: Path, prompt: str) -> None:
        assert refusal(build(tmp_path, prompt=prompt, vars={"empty": ""})) == "The prompt is empty."

    def test_none(self, tmp_path: Path) -> None:
        assert refusal(build(tmp_path)) == "No prompt. Set prompt or prompt_file, or add -p PROMPT for all tasks."

    def test_unknown_variable(self, tmp_path: Path) -> None:
        message = refusal(build(tmp_path, TaskDefaults(prompt="Fix {{issue}}"), vars={"isue": "1"}))
        assert message.startswith("Unknown variable issue in prompt. Available: commit, id, isue, name, repo.")

    def test_a_url_is_shown_to_the_model_without_its_password(self, tmp_path: Path) -> None:
        found = accepted(build(tmp_path, repo="https://me:secret@example.com/a.git", prompt="{{repo}} {{name}}"))
        assert (found.prompt, found.repo) == ("https://example.com/a.git a", "https://me:secret@example.com/a.git")


class TestProblemStatement:
    def test_is_no_template(self, tmp_path: Path) -> None:
        found = accepted(build(tmp_path, problem_statement="{{ user }} and {{name}}"))
        assert found.prompt == "{{ user }} and {{name}}"

    def test_may_be_wrapped_by_the_prompt_of_a_flag(self, tmp_path: Path) -> None:
        defaults = TaskDefaults(prompt="Fix:\n{{problem_statement}}")
        assert accepted(build(tmp_path, defaults, problem_statement="{{x}}")).prompt == "Fix:\n{{x}}"

    def test_precedes_a_prompt_of_a_flag_that_does_not_mention_it(self, tmp_path: Path) -> None:
        found = accepted(build(tmp_path, TaskDefaults(prompt="Fix it"), problem_statement="It fails"))
        assert found.prompt == "It fails"

    def test_does_not_precede_a_prompt_of_the_task(self, tmp_path: Path) -> None:
        assert accepted(build(tmp_path, prompt="own", problem_statement="It fails")).prompt == "own"

    def test_empty(self, tmp_path: Path) -> None:
        assert refusal(build(tmp_path, problem_statement=" ")) == "The prompt is empty."


class TestRejections:
    def test_have_the_id_if_it_is_readable(self, tmp_path: Path) -> None:
        for given, expected in (("a", "a"), (7, "7"), ("", "line-7"), (None, "line-7")):
            found = build(tmp_path, prompt="p", timeout=-1, id=given)
            assert isinstance(found, RejectedTask)
            assert found.id == expected

    def test_repository(self, tmp_path: Path) -> None:
        assert refusal(build(tmp_path, repo=None, prompt="p")) == "No repository. Set repo to a path or a git URL."
        assert "remote helper" in refusal(build(tmp_path, repo="ext::sh", prompt="p"))

    def test_check(self, tmp_path: Path) -> None:
        assert "Unknown variable x in check" in refusal(build(tmp_path, prompt="p", check="{{x}}"))
        found = accepted(build(tmp_path, prompt="p", check="test -d {{v}}", vars={"v": "a; rm -rf b"}))
        assert found.check == "test -d 'a; rm -rf b'"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini-2.5-pro", "gemini-2.5-pro"),
        ("openai:scripted:x", "openai:scripted:x"),
        ("scripted:a.toml", "scripted:/d/a.toml"),
        ("scripted:/x/a.toml", "scripted:/x/a.toml"),
    ],
)
def test_the_file_of_a_scripted_model_is_relative_to_the_task_file(model: str, expected: str) -> None:
    assert resolve_model(model, "/d") == expected
