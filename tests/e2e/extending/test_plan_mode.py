"""Plan mode of a headless run: nothing but plans can be written, and nobody but a person approves one."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult, script_answer, text_script
from tejat.config.paths import project_key

SESSION = "11111111-2222-4333-8444-555555555555"
PLAN = "# Add a parser\n\n1. Write it.\n"
REFUSED = "You are in Plan Mode and cannot modify source code."

Call = tuple[str, Mapping[str, object]]


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    (machine.project / "src").mkdir()
    (machine.project / "README.md").write_text("mine\n")
    return machine


def plans(machine: ProgramEnv) -> Path:
    """The private directory of plans of the session."""
    return machine.home / ".local" / "state" / "tejat" / "plans" / project_key(str(machine.project)) / SESSION


def made_plans(machine: ProgramEnv) -> Path:
    directory = plans(machine)
    directory.mkdir(parents=True, mode=0o700)
    return directory


def write(path: str, content: str = PLAN) -> Call:
    return "write_file", {"file_path": path, "content": content}


def leave(name: str) -> Call:
    return "exit_plan_mode", {"plan_filename": name}


ENTER: Call = ("enter_plan_mode", {"reason": "It is large."})


def run(machine: ProgramEnv, calls: Sequence[Call], *words: str, last: str = "") -> ProgramResult:
    """Run a session that makes one call after the other."""
    script = "".join(script_answer(calls=[call]) for call in calls) + (text_script(last) if last else "")
    given = ("-m", machine.script(script), "-p", "go", "--session-id", SESSION, "--sandbox", "off", *words)
    return machine.run(*given)


def results(ended: ProgramResult) -> list[str]:
    """What the model got for each call."""
    return [line["content"] for line in ended.lines if line["type"] == "tool_result"]


def tree(directory: Path) -> dict[str, bytes | str | None]:
    found: dict[str, bytes | str | None] = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def test_the_run_ends_with_the_plan(machine: ProgramEnv) -> None:
    before = tree(machine.project)
    calls = [ENTER, write("${root}/src/a.py"), write("plan.md"), leave("plan.md")]
    ended = run(machine, calls, "-o", "json")
    path = plans(machine) / "plan.md"
    assert ended.code == 0
    assert ended.json["response"].endswith(PLAN.strip())
    assert ended.json["plan"] == {"path": str(path), "text": PLAN, "approved": False}
    assert [denied["tool_name"] for denied in ended.json["permission_denials"]] == ["write_file"]
    assert tree(machine.project) == before
    assert path.read_text() == PLAN
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert "yolo" not in ended.stdout.lower()


def test_the_result_of_a_stream_has_the_plan(machine: ProgramEnv) -> None:
    ended = run(machine, [ENTER, write("plan.md"), leave("plan.md")], "-o", "stream-json")
    result = ended.lines[-1]
    assert (result["type"], result["status"]) == ("result", "success")
    assert result["plan"] == {"path": str(plans(machine) / "plan.md"), "text": PLAN, "approved": False}
    entered, written, left = results(ended)
    assert entered == "Switching to Plan mode."
    assert written == f"Successfully created and wrote to new file: {plans(machine) / 'plan.md'}."
    assert left.startswith("Nobody can approve the plan in this run, so the run ends here.")


def test_the_text_ends_with_the_plan(machine: ProgramEnv) -> None:
    ended = run(machine, [ENTER, write("plan.md"), leave("plan.md")])
    assert (ended.code, ended.stdout) == (0, PLAN)


def test_plans_are_deleted_with_their_session(machine: ProgramEnv) -> None:
    run(machine, [ENTER, write("plan.md"), leave("plan.md")])
    assert (plans(machine) / "plan.md").exists()
    deleted = machine.run("sessions", "delete", SESSION, "--yes")
    assert (deleted.code, deleted.stdout) == (0, f"Deleted session {SESSION}.\n")
    assert not plans(machine).exists()


@pytest.mark.parametrize("mode", ["default", "auto_edit"])
def test_a_plan_that_was_approved_beforehand_is_carried_out(machine: ProgramEnv, mode: str) -> None:
    calls = [ENTER, write("plan.md"), leave("plan.md"), write("${root}/src/a.py", "x = 1\n")]
    ended = run(machine, calls, "--approve-plan", mode, "-o", "stream-json", last="Done.")
    result, approved, edited = ended.lines[-1], *results(ended)[2:]
    assert result["plan"]["approved"] is True
    words = {
        "auto_edit": "Auto-Edit mode (edits will be applied automatically)",
        "default": "Default mode (edits will require confirmation)",
    }
    assert approved.startswith(f"Plan approved. Switching to {words[mode]}.")
    assert f"The approved implementation plan is stored at: {plans(machine) / 'plan.md'}" in approved
    assert (machine.project / "src" / "a.py").exists() is (mode == "auto_edit")
    assert ("requires user confirmation" in edited) is (mode == "default")


def test_yolo_approves_no_plan(machine: ProgramEnv) -> None:
    assert run(machine, [ENTER], "--approve-plan", "yolo").code == 42
    ended = run(machine, [ENTER, write("plan.md"), leave("plan.md")], "-y", "-o", "json")
    assert ended.json["plan"]["approved"] is False


def test_the_three_messages(machine: ProgramEnv) -> None:
    directory = made_plans(machine)
    (directory / "link.md").symlink_to(machine.project / "README.md")
    (directory / "empty.md").write_text(" \n")
    names = ["../x.md", "link.md", "empty.md", "none.md", str(machine.project / "README.md")]
    ended = run(machine, [ENTER, *map(leave, names)], "-o", "stream-json", last="Done.")
    outside, link, empty, missing, elsewhere = results(ended)[1:]
    denied = "Access denied: plan path ({}) must be within the designated plans directory ({})."
    assert outside.startswith(denied.format("../x.md", directory))
    assert link.startswith(denied.format("link.md", directory))
    assert empty.startswith("Plan file is empty.")
    assert missing.startswith("Plan file does not exist: none.md.")
    assert elsewhere.startswith(denied.format(names[-1], directory))


def test_modes_that_do_not_fit(machine: ProgramEnv) -> None:
    ended = run(machine, [leave("plan.md"), ENTER, ENTER], "-o", "stream-json", last="Done.")
    before, _entered, again = results(ended)
    assert before == "You are not currently in Plan Mode. Use enter_plan_mode first to design a plan."
    assert again == "You are already in Plan Mode."


class TestNothingElseIsWritten:
    def refused(self, machine: ProgramEnv, *calls: Call) -> list[str]:
        """The results of calls in plan mode that must change neither the project nor the plans."""
        before = tree(machine.project), tree(plans(machine))
        ended = run(machine, calls, "--approval-mode", "plan", "-o", "stream-json", last="Done.")
        assert (tree(machine.project), tree(plans(machine))) == before
        return results(ended)

    def test_files_of_the_project(self, machine: ProgramEnv) -> None:
        made_plans(machine)
        calls: list[Call] = [
            write("README.md"),
            write("${root}/plan.md"),
            write("src/plan.md"),
            write("notes.txt"),
            write(".gemini/plans/plan.md"),
            ("replace", {"file_path": "README.md", "old_string": "mine", "new_string": "yours"}),
            ("save_memory", {"fact": "This is a fact."}),
            ("run_shell_command", {"command": "touch src/b.py"}),
        ]
        for content in self.refused(machine, *calls):
            assert REFUSED in content

    def test_links_and_other_files_in_the_directory(self, machine: ProgramEnv) -> None:
        directory = made_plans(machine)
        (directory / "link.md").symlink_to(machine.project / "README.md")
        (directory / "dangling.md").symlink_to(machine.project / "new.md")
        os.link(machine.project / "README.md", directory / "hard.md")
        (directory / "folder.md").mkdir()
        os.mkfifo(directory / "pipe.md")
        names = [
            *("link.md", "dangling.md", "hard.md", "folder.md", "pipe.md", "notes.txt", "PLAN.MD", ".hidden.md"),
            *("folder.md/x.md", f"../{SESSION}/../x.md", "../../../../../../project/README.md"),
        ]
        for content in self.refused(machine, *(write(str(directory / name)) for name in names)):
            assert "Success" not in content

    def test_what_a_link_leads_to_counts(self, machine: ProgramEnv) -> None:
        directory = made_plans(machine)
        (machine.project / "link").symlink_to(directory)
        (directory / "out").symlink_to(machine.project / "src")
        calls = [write("${root}/link/plan.md"), write(str(directory / "out" / "plan.md"))]
        ended = run(machine, calls, "--approval-mode", "plan", "-o", "stream-json", last="Done.")
        assert results(ended)[0].endswith(f"new file: {directory / 'plan.md'}.")
        assert sorted(os.listdir(directory)) == ["out", "plan.md"]
        assert os.listdir(machine.project / "src") == []

    def test_outside_of_plan_mode_plans_can_only_be_read(self, machine: ProgramEnv) -> None:
        calls = [ENTER, write("plan.md"), leave("plan.md")]
        path = str(plans(machine) / "plan.md")
        after: list[Call] = [("read_file", {"path": path}), write(path, "changed")]
        ended = run(machine, [*calls, *after], "--approve-plan", "auto_edit", "-o", "stream-json", last="Done.")
        read, written = results(ended)[3:]
        assert "Add a parser" in read
        assert "Path not in workspace" in written
        assert Path(path).read_text() == PLAN


class TestTheDirectoryOfTheSettings:
    def trusted(self, machine: ProgramEnv, directory: str) -> None:
        machine.write_user_settings(general={"plan": {"directory": directory}})

    def test_plans_are_written_there(self, machine: ProgramEnv) -> None:
        self.trusted(machine, ".gemini/plans")
        calls = [ENTER, write("plan.md"), write("${root}/.gemini/x.md"), write("${root}/.gemini/plans/GEMINI.md")]
        ended = run(machine, [*calls, leave("plan.md")], "-o", "stream-json")
        path = machine.project / ".gemini" / "plans" / "plan.md"
        assert ended.lines[-1]["plan"]["path"] == str(path)
        assert path.read_text() == PLAN
        _entered, _written, control, instructions, _left = results(ended)
        assert REFUSED in control
        assert REFUSED in instructions
        assert sorted(os.listdir(machine.project / ".gemini")) == ["plans"]

    @pytest.mark.parametrize("directory", ["..", "/tmp", ".", "out/plans", ".git/plans", ".gemini/agents", "README.md"])
    def test_one_that_is_refused(self, machine: ProgramEnv, directory: str) -> None:
        (machine.project / "out").symlink_to(machine.base)
        self.trusted(machine, directory)
        ended = machine.run("-m", machine.script(text_script("Hi.")), "-p", "go")
        assert ended.code == 52
        assert f"general.plan.directory is {directory!r}" in ended.stderr

    def test_disabled(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(general={"plan": {"enabled": False}})
        (content,) = results(run(machine, [ENTER], "-o", "stream-json", last="Done."))
        assert content == "Plan mode needs a session in which it is enabled."

    def test_the_mode_of_the_settings(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(general={"defaultApprovalMode": "plan"})
        ended = run(machine, [write("plan.md"), leave("plan.md")], "-o", "json")
        assert ended.json["plan"]["approved"] is False


@pytest.mark.parametrize(
    ("mode", "enters", "leaves"),
    [("default", True, False), ("auto_edit", True, False), ("plan", False, True), ("yolo", False, False)],
)
def test_where_the_tools_are_declared(machine: ProgramEnv, mode: str, enters: bool, leaves: bool) -> None:
    record = machine.base / "record.jsonl"
    run(machine, [], "--record", str(record), "--approval-mode", mode, last="Hi.")
    first = next(line for line in map(json.loads, record.read_text().splitlines()) if "request" in line)
    names = [name for name, *_ in first["request"]["tools"]]
    assert ("enter_plan_mode" in names, "exit_plan_mode" in names) == (enters, leaves)
    assert ("write_file" in names) is True
    assert ("save_memory" in names) is (mode != "plan")
