"""`tejat export`: real sessions of a scripted model as HTML, Markdown and JSON."""

import json
import re
from pathlib import Path

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck
from support.program import ProgramEnv, ProgramResult, script_answer, text_script

SECRET = "corp+7f3a9be01c/Zz42-local"
HIDDEN = "\x00\x07\x08\x1b\x7f\x9b\u202e\u2066\u200b\ufeff\U000e0041"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def begin(machine: ProgramEnv, *answers: str, prompt: str = "one") -> str:
    """Have a session with these answers of a script, and return its id."""
    model = machine.script("".join(answers))
    done = machine.run("-p", prompt, "-m", model, "-o", "json", "--approval-mode", "yolo")
    assert done.code == 0
    return done.json["session_id"]


def work(machine: ProgramEnv) -> str:
    """A session with every common kind of call."""
    (machine.project / "a.py").write_text("def f(price):\n    return price * 2\n")
    path = str(machine.project / "a.py")
    return begin(
        machine,
        script_answer(
            say="I **look** first.",
            think="**Plan**\n\nRead it.",
            usage={"prompt": 1000, "output": 20},
            calls=[
                ("read_file", {"file_path": path}),
                ("replace", {"file_path": path, "old_string": "price * 2", "new_string": "price * 3"}),
                ("run_shell_command", {"command": "seq 1 100; exit 3"}),
                ("write_todos", {"todos": [{"description": "Check it", "status": "in_progress"}]}),
                ("read_file", {"file_path": "missing.txt"}),
            ],
        ),
        script_answer(say="Done:\n\n```python\nreturn 1\n```"),
        prompt="Fix the price.",
    )


def test_an_html_page_shows_the_whole_session(machine: ProgramEnv) -> None:
    session = work(machine)
    assert machine.run("export", "latest", "page.html") == ProgramResult(0, "Exported to page.html.\n", "")
    page = machine.project / "page.html"
    assert page.stat().st_mode & 0o777 == 0o600
    markup = page.read_text()
    check = HtmlCheck(markup)
    assert check.problems == []
    text = " ".join(check.text.split())
    for part in (
        f"Session{session}",
        f"Project{machine.project}",
        "Turns1",
        "Tokens1,020",
        "Fix the price.",
        "Thinking: Plan",
        "I look first.",
        "Read a.py",
        "Edited a.py +1 -1",
        "Ran seq 1 100; exit 3 (exit 3)",
        "… 88 more lines",
        "Whole output: 100 lines",
        "[>] Check it (in progress)",
        "(failed)",
        "Done:",
    ):
        assert part in text, part
    assert '<span class="hl-keyword">return</span>' in markup
    assert "<details" in markup
    assert "http" not in re.sub(r"http-equiv", "", markup)
    assert machine.run("export", session[:8], "--html").stdout == markup


def test_markdown_has_a_header_and_the_conversation(machine: ProgramEnv) -> None:
    work(machine)
    done = machine.run("export", "latest")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("# Fix the price.\n\n- Session: ")
    assert "\n- Tokens: 1,020\n" in done.stdout
    assert machine.run("sessions", "show", "latest").stdout in done.stdout
    assert machine.run("export", "1", "a.md").stdout == "Exported to a.md.\n"
    assert (machine.project / "a.md").read_text() == done.stdout
    assert machine.run("export", "1", "--md").stdout == done.stdout


def test_json_has_the_session_and_its_messages(machine: ProgramEnv) -> None:
    session = work(machine)
    exported = machine.run("export", "1", "--json").json
    assert exported["session"]["session_id"] == session
    assert (exported["session"]["turns"], exported["session"]["tokens"], exported["masked"]) == (1, 1020, 0)
    assert [message["role"] for message in exported["messages"]] == ["user", "model", "user", "model"]
    machine.run("export", "1", "a.JSON")
    assert json.loads((machine.project / "a.JSON").read_text()) == exported


def test_the_flag_counts_before_the_ending(machine: ProgramEnv) -> None:
    begin(machine, text_script("Hello."))
    machine.run("export", "latest", "page.html", "--json")
    assert json.loads((machine.project / "page.html").read_text())["messages"]


def test_a_file_is_never_overwritten(machine: ProgramEnv) -> None:
    begin(machine, text_script("Hello."))
    (machine.project / "a.html").write_text("mine")
    (machine.project / "link.md").symlink_to("nowhere.md")
    for name in ("a.html", "link.md"):
        done = machine.run("export", "latest", name)
        assert done == ProgramResult(42, "", f"tejat: {name} already exists. Choose another name.\n")
    assert (machine.project / "a.html").read_text() == "mine"
    done = machine.run("export", "latest", "no/a.md")
    assert (done.code, done.stderr) == (42, "tejat: Could not write no/a.md: No such file or directory.\n")


@pytest.mark.parametrize(
    ("words", "code"), [([], 2), (["1", "a", "b"], 2), (["1", "--html", "--md"], 2), (["nothing"], 42)]
)
def test_bad_usage(machine: ProgramEnv, words: list[str], code: int) -> None:
    begin(machine, text_script("Hello."))
    done = machine.run("export", *words)
    assert (done.code, done.stdout) == (code, "")
    assert done.stderr


@pytest.mark.parametrize("flag", ["--html", "--md", "--json"])
def test_secrets_are_masked_and_counted(machine: ProgramEnv, flag: str) -> None:
    begin(
        machine,
        script_answer(
            say=f"It is {SECRET}, and DB_PASSWORD=Xk29dk2Lsk20dkwlq8 in the file.",
            calls=[("server__login", {"api_key": "Qm83jdK2lsPq09dkeL", "note": f"x {SECRET}"})],
        ),
        script_answer(say="Done."),
        prompt=f"Use {SECRET}",
    )
    done = machine.run("export", "latest", flag, CORP_TOKEN=SECRET)
    assert done.code == 0
    for secret in (SECRET, "Xk29dk2Lsk20dkwlq8", "Qm83jdK2lsPq09dkeL"):
        assert secret not in done.stdout
    assert "CORP_TOKEN" in done.stdout
    assert "***" in done.stdout
    assert done.stderr == "tejat: 5 secrets were masked.\n"
    if flag == "--json":
        assert done.json["masked"] == 5
    else:
        assert "5 secrets were masked." in done.stdout


@pytest.mark.parametrize("flag", ["--html", "--md", "--json"])
def test_hidden_characters_are_neutralized(machine: ProgramEnv, flag: str) -> None:
    hostile = "\n\n".join(text for text in HOSTILE_TEXTS if "\ud800" not in text)
    answer = script_answer(say=hostile.replace("\x7f", ""))  # which no TOML file may hold
    begin(machine, answer, prompt="\u202eone\x1b[2J <script>alert(1)</script>")
    done = machine.run("export", "latest", flag)
    assert done.code == 0
    assert not set(done.stdout) & set(HIDDEN)
    if flag == "--html":
        assert HtmlCheck(done.stdout).problems == []
    if flag == "--json":
        assert "\u202eone" in done.json["messages"][0]["parts"][-1]["text"]


def test_sub_agents_are_nested_in_the_page(machine: ProgramEnv) -> None:
    begin(
        machine,
        script_answer(
            say="I ask an agent.",
            calls=[("invoke_agent", {"agent_name": "generalist", "prompt": "List the files."})],
        ),
        script_answer(say="It is done."),
        script_answer(purpose="agent:generalist", say="I list them.", calls=[("list_directory", {"path": "."})]),
        script_answer(
            purpose="agent:generalist",
            say="Ready.",
            calls=[("complete_task", {"result": {"response": "No files at all."}})],
        ),
    )
    markup = machine.run("export", "latest", "--html").stdout
    check = HtmlCheck(markup)
    assert check.problems == []
    (agent,) = check.all_with_class("agent")
    assert "ok" in agent["class"].split()
    children = markup[markup.index(f'data-children="{agent["id"]}"') :]
    assert children.index("I list them.") < children.index("Listed") < children.index("No files at all.")


def test_help_names_the_formats(machine: ProgramEnv) -> None:
    done = machine.run("export", "--help")
    assert done.code == 0
    assert all(flag in done.stdout for flag in ("--html", "--md", "--json"))
