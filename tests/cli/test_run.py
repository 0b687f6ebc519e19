"""What is wanted of a model: which words go together, and what they lead to."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult, script_answer, text_script

WORKTREE = "git worktree add .gemini/worktrees/fix -b worktree-fix"
HINT = "Run `tejat --help` for usage.\n"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-p", "a", "-i", "b"], "Cannot use both --prompt (-p) and --prompt-interactive (-i) together"),
        (
            ["-y", "--approval-mode", "default", "-p", "a"],
            "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.",
        ),
        (["-p", "a", "b"], "Cannot use both a positional prompt and the --prompt (-p) flag together"),
        (
            ["-i", "a"],
            "The --prompt-interactive flag cannot be used when input is piped from stdin.",
        ),
        (["--record", "a", "--replay", "b", "hi"], "Cannot use both --record and --replay together"),
        (["--nonsense"], "Unknown flag --nonsense."),
        (["-p", "hi", "--max-turns", "0"], "--max-turns must be an integer greater than 0, not '0'."),
    ],
)
def test_words_that_do_not_go_together_are_bad_input(machine: ProgramEnv, words: list[str], told: str) -> None:
    assert machine.run(*words) == ProgramResult(42, "", f"tejat: {told}\n{HINT}")


def test_no_message_can_command_the_terminal(machine: ProgramEnv) -> None:
    done = machine.run("--\x1b[2J")
    assert (done.code, done.stdout) == (42, "")
    assert "\x1b" not in done.stderr


def test_a_prompt_may_stand_alone_in_several_words(machine: ProgramEnv) -> None:
    model = machine.script(script_answer(when="how are you", say="Fine."))
    assert machine.run("how", "are", "you", "-m", model) == ProgramResult(0, "Fine.\n", "")


def test_lists_with_commas_and_flags_again_mean_the_same(machine: ProgramEnv) -> None:
    for name in ("one", "two", "three"):
        (machine.base / name).mkdir()
        (machine.base / name / "file.txt").write_text(f"content of {name}")
    paths = [str(machine.base / name) for name in ("one", "two", "three")]
    reads = [("read_file", {"path": f"{path}/file.txt"}) for path in paths]
    model = machine.script(script_answer(calls=reads) + text_script("Done."))
    for words in (
        ["--include-directories", ",".join(paths)],
        ["--include-directories", f"{paths[0]}, {paths[1]}", "--include-directories", paths[2]],
    ):
        done = machine.run("-p", "hi", "-m", model, "-o", "stream-json", *words)
        contents = [line["content"] for line in done.lines if line["type"] == "tool_result"]
        assert sorted(contents) == ["content of one", "content of three", "content of two"]


def test_tools_that_are_allowed_and_excluded(machine: ProgramEnv) -> None:
    calls = [("run_shell_command", {"command": "echo there"}), ("glob", {"pattern": "*"})]
    model = machine.script(script_answer(calls=calls) + text_script("Done."))
    words = ["--allowed-tools", "ReadFileTool,ShellTool(echo)", "--exclude-tools", "replace, glob"]
    done = machine.run("-p", "hi", "-m", model, "-o", "stream-json", "--sandbox", "off", *words)
    results = [line for line in done.lines if line["type"] == "tool_result"]
    assert [(line["status"], line.get("error", {}).get("type")) for line in results] == [
        ("success", None),
        ("error", "tool_not_registered"),
    ]


def test_sessions_are_listed_without_asking_anything(machine: ProgramEnv) -> None:
    assert machine.run("--list-sessions") == ProgramResult(0, "No sessions in this project yet.\n", "")


class TestOutputFormat:
    def test_the_setting_is_the_default_and_the_flag_wins(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(output={"format": "json"})
        model = machine.script(text_script("Hello."))
        assert machine.run("-p", "hi", "-m", model).json["response"] == "Hello."
        assert machine.run("-p", "hi", "-m", model, "-o", "text").stdout == "Hello.\n"

    def test_errors_of_the_run_have_the_format_of_the_setting(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(output={"format": "json"})
        done = machine.run("-p", "hi", "-m", "scripted:nowhere.toml")
        assert done.json["error"]["code"] == done.code == 42

    def test_settings_that_cannot_be_read_are_reported_in_the_format_of_the_flag(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(mcpServers=7)
        done = machine.run("-p", "hi", "-o", "json")
        assert (done.code, done.json["error"]["type"]) == (52, "configuration")


class TestRawOutput:
    TEXT = "\x1b[31mred\x1b[0m\x07"

    def test_the_text_is_as_the_model_wrote_it(self, machine: ProgramEnv) -> None:
        model = machine.script(text_script(self.TEXT))
        assert machine.run("-p", "hi", "-m", model).stdout == "red\n"
        done = machine.run("-p", "hi", "-m", model, "--raw-output")
        assert done.stdout == f"{self.TEXT}\n"
        assert done.stderr.startswith("tejat: --raw-output prints the model's text unchanged. ")

    def test_the_warning_can_be_hidden(self, machine: ProgramEnv) -> None:
        model = machine.script(text_script(self.TEXT))
        words = ["-p", "hi", "-m", model, "--accept-raw-output-risk"]
        assert machine.run(*words) == ProgramResult(0, "red\n", "")
        assert machine.run(*words, "--raw-output") == ProgramResult(0, f"{self.TEXT}\n", "")

    @pytest.mark.parametrize("words", [["-o", "json"], ["-o", "stream-json"], []])
    def test_no_other_format(self, machine: ProgramEnv, words: list[str]) -> None:
        machine.write_user_settings(output={"format": "json"})
        done = machine.run("-p", "hi", "--raw-output", *words)
        assert done.code == 42
        assert "--raw-output" in done.stderr


def test_worktrees_cannot_be_created_yet(machine: ProgramEnv) -> None:
    told = f"tejat: --worktree is not supported yet. Create a worktree yourself: {WORKTREE}\n{HINT}"
    assert machine.run("-w", "fix", "-p", "hi") == ProgramResult(42, "", told)


@pytest.mark.parametrize("words", [["acp"], ["--acp"], ["--experimental-acp", "-o", "json"]])
def test_acp_prints_nothing_a_client_could_take_for_an_answer(machine: ProgramEnv, words: list[str]) -> None:
    assert machine.run(*words) == ProgramResult(0, "", "")
    told = "tejat: A prompt cannot be used with ACP: the client sends prompts.\n"
    assert machine.run(*words, "-p", "hi") == ProgramResult(42, "", told)


@pytest.mark.parametrize("words", [["acp", "--login"], ["--acp", "--login"], ["--login"]])
def test_a_login_needs_a_terminal(machine: ProgramEnv, words: list[str]) -> None:
    assert machine.run(*words) == ProgramResult(42, "", "tejat: --login needs a terminal.\n")
