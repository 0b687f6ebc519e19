"""What a prompt like `/name words` stands for: with the real tools, the real rules, and the program as a whole."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.approver import NO, YES, FakeApprover
from support.media_files import png
from tejat.app.run_config import load_run_config
from tejat.app.tools.toolset import open_toolset
from tejat.config.custom_commands import CustomCommand, CustomCommands
from tejat.config.paths import SourceTier
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.confirmation import ExecConfirmation
from tejat.core.errors import ErrorType, NotTrusted
from tejat.core.messages.types import InlineData, Text
from tejat.core.tools.call_events import CallFinished, CallState, Event
from tejat.engine.prompt import custom_command
from tejat.engine.prompt.custom_command import CustomCommandError, CustomCommandExpander
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START, ExpandedPrompt
from tejat.engine.prompt.mentions import MentionError

PICTURE = png()
REFUSED = 'Tool execution for "Shell" requires user confirmation, which is not supported in non-interactive mode.'


class Machine:
    """A home and a project, and sessions of the real tools in it."""

    def __init__(self, base: Path) -> None:
        self.home, self.root = base / "home", base / "project"
        self.home.mkdir()
        self.root.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.events: list[Event] = []

    def expand(
        self,
        prompt: str,
        *,
        mode: str | None = None,
        allowed: Sequence[str] = (),
        approver: FakeApprover | None = None,
        broken: dict[str, str] | None = None,
        held_back: Sequence[str] = (),
        problems: tuple[str, ...] = (),
        without: str | None = None,
        **commands: str,
    ) -> ExpandedPrompt:
        return self.expand_all(
            [prompt],
            CustomCommands(
                {
                    name: CustomCommand(name, f"/c/{name}.toml", text, "", SourceTier.USER)
                    for name, text in commands.items()
                },
                broken or {},
                frozenset(held_back),
                problems,
            ),
            mode=mode,
            allowed=allowed,
            approver=approver,
            without=without,
        )[0]

    def expand_all(
        self,
        prompts: Sequence[str],
        found: CustomCommands,
        *,
        mode: str | None = None,
        allowed: Sequence[str] = (),
        approver: FakeApprover | None = None,
        without: str | None = None,
    ) -> list[ExpandedPrompt]:
        async def main() -> list[ExpandedPrompt]:
            run_config = load_run_config([str(self.root)], environment=self.environment)
            policy = PolicyOptions(allowed_tools=tuple(allowed), mode=mode)
            with open_toolset(run_config, approver, policy=policy, sandbox="off") as toolset:
                if without is not None:
                    toolset.registry.unregister(without)
                expander = CustomCommandExpander(
                    found,
                    toolset.start_scheduler(),
                    toolset.roots,
                    recursive_search=True,
                    untrusted_reason="Nobody has said so yet.",
                )
                return [await expander.expand(prompt, self.events.append) for prompt in prompts]

        return asyncio.run(main())

    @property
    def finished(self) -> list[tuple[object, CallState]]:
        return [(event.call.args["command"], event.state) for event in self.events if isinstance(event, CallFinished)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def words(text: str, *, read: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> ExpandedPrompt:
    return ExpandedPrompt((Text(text),), read, notes)


class TestFilesWithSecrets:
    @pytest.mark.parametrize("prompt", ["explain @.env", "explain @notes.txt", "/show", "/say @.env"])
    def test_they_are_read_only_after_a_yes(self, machine: Machine, prompt: str) -> None:
        (machine.root / ".env").write_text("KEY=value\n")
        (machine.root / "notes.txt").symlink_to(".env")

        def expand(approver: FakeApprover | None = None, mode: str | None = None) -> ExpandedPrompt:
            return machine.expand(prompt, approver=approver, mode=mode, show="Look: @{.env}", say="Say {{args}}")

        with pytest.raises(MentionError, match=r"was not read: .*usually contains secrets, which the model would see"):
            expand()
        with pytest.raises(MentionError, match=r"was not read: You rejected this call\."):
            expand(FakeApprover(NO))
        approver = FakeApprover(YES)
        assert "KEY=value" in str(expand(approver))
        assert len(approver.questions) == 1
        assert "KEY=value" in str(expand(mode="yolo"))

    def test_a_directory_is_read_without_them(self, machine: Machine) -> None:
        (machine.root / ".env.local").write_text("KEY=value\n")
        (machine.root / "a.txt").write_text("hello\n")
        found = machine.expand("explain @.")
        assert "hello" in str(found.parts)
        assert "KEY=value" not in str(found.parts)


class TestCalling:
    @pytest.mark.parametrize(
        ("prompt", "command", "expected"),
        [
            ("/x", "Say hello.", "Say hello."),
            ("  /x  ", "Say hello.", "Say hello."),
            ("/x Bob", "Say hello to {{args}}.", "Say hello to Bob."),
            ("/x Bob", "{{args}}, {{args}}!{{args}}", "Bob, Bob!Bob"),
            ("/x", "Say hello to {{args}}.", "Say hello to ."),
            ("/x  Bob  and\n Eve ", "Say hello to {{args}}.", "Say hello to Bob  and\n Eve."),
            ("/x Bob", "Say hello.", "Say hello.\n\n/x Bob"),
            (" /x Bob ", "Say hello.", "Say hello.\n\n/x Bob"),
            ("/x {{args}} !{touch MARK} @{MARK}", "<{{args}}>", "<{{args}} !{touch MARK} @{MARK}>"),
            ("/x !{touch MARK}", "Say hello.", "Say hello.\n\n/x !{touch MARK}"),
            ("/x y", "{ {args} } {{ args }} {{arg}}", "{ {args} } {{ args }} {{arg}}\n\n/x y"),
            ("/x\nBob", "Say hello to {{args}}.", "Say hello to Bob."),
        ],
    )
    def test_arguments(self, machine: Machine, prompt: str, command: str, expected: str) -> None:
        assert machine.expand(prompt, x=command, mode="yolo") == words(expected)
        assert list(machine.root.iterdir()) == []

    @pytest.mark.parametrize("prompt", ["/y", "/", "/ x", "//x", "/x/y", "/xx Bob", "/X", "x", "", "say /x", "/x: y"])
    def test_what_calls_no_command_is_sent_as_it_is(self, machine: Machine, prompt: str) -> None:
        assert machine.expand(prompt, x="Say hello.") == words(prompt)

    def test_what_the_user_names_is_read(self, machine: Machine) -> None:
        (machine.root / "a.txt").write_text("from a\n")
        files = f"{CONTENT_START}\nContent from @a.txt:\nfrom a{CONTENT_END}"
        expected = {
            "/x look at @./a.txt": f"Well: look at @a.txt, @a.txt.{files}",
            "/y look at @./a.txt": f"Well.\n\n/y look at @a.txt{files}",
        }
        for prompt in ("/x look at @./a.txt", "/y look at @./a.txt"):
            found = machine.expand(prompt, x="Well: {{args}}, @a.txt.", y="Well.")
            assert found == words(expected[prompt], read=("a.txt",))
        found = machine.expand("/z @./a.txt", x="Well.")
        assert found.parts == (
            *(Text("/z @a.txt"), Text(CONTENT_START), Text("\nContent from @a.txt:\n"), Text("from a")),
            Text(CONTENT_END),
        )

    def test_arguments_that_only_go_into_a_shell_command_name_no_files(self, machine: Machine) -> None:
        (machine.root / "a.txt").write_text("from a\n")
        assert machine.expand("/x @a.txt", x="<!{echo {{args}}}>", mode="yolo") == words("<@a.txt>")

    def test_a_broken_command_says_why(self, machine: Machine) -> None:
        with pytest.raises(CustomCommandError, match=r"^no prompt\.$"):
            machine.expand("/x", broken={"x": "no prompt."})

    def test_a_folder_that_is_not_trusted(self, machine: Machine) -> None:
        with pytest.raises(NotTrusted) as refusal:
            machine.expand("/x Bob", held_back=["x"], y="Say hello.")
        assert str(refusal.value) == (
            "/x is a project command, and this folder is not trusted. "
            "Nobody has said so yet. Run `tejat trust`, or use --trust for one run."
        )

    def test_problems_are_told_once(self, machine: Machine) -> None:
        command = CustomCommand("x", "/c/x.toml", "Say hello.", "", SourceTier.USER)
        found = CustomCommands({"x": command}, {}, frozenset(), ("one is broken",))
        expected = [words("/y", notes=("one is broken",)), words("Say hello.")]
        assert machine.expand_all(["/y", "/x"], found) == expected

    def test_too_many_words(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(custom_command, "MAX_CHARACTERS", 10)
        assert machine.expand("/x 12345", x="{{args}} {{args}}") == words("12345 12345")
        for command in ("{{args}} {{args}}", "!{echo {{args}} {{args}}}"):
            with pytest.raises(CustomCommandError) as refusal:
                machine.expand("/x 123456", x=command)
            assert str(refusal.value) == "/x was not sent: it is too long with these arguments."


class TestFiles:
    def test_a_file_takes_the_place(self, machine: Machine) -> None:
        (machine.root / "my style.md").write_text("Short {{args}} !{touch MARK} @{x}\n")
        expected = words("Rules: Short {{args}} !{touch MARK} @{x}. Bob", read=("my style.md",))
        assert machine.expand("/x Bob", x="Rules: @{ my style.md }. {{args}}", mode="yolo") == expected
        assert [path.name for path in machine.root.iterdir()] == ["my style.md"]

    @pytest.mark.parametrize("name", ["a{b}.txt", 'quo"te.txt', "back\\slash.txt", "[x]*.txt", "blank and, (more).txt"])
    def test_odd_names(self, machine: Machine, name: str) -> None:
        (machine.root / name).write_text("odd")
        assert machine.expand("/x", x=f"<@{{{name}}}>") == words("<odd>", read=(name,))

    def test_a_directory_file_by_file(self, machine: Machine) -> None:
        for name in ("docs/a.txt", "docs/deep/b.txt"):
            (machine.root / name).parent.mkdir(parents=True, exist_ok=True)
            (machine.root / name).write_text(f"from {name}\n")
        text = "\nContent from @docs/a.txt:\nfrom docs/a.txt\nContent from @docs/deep/b.txt:\nfrom docs/deep/b.txt"
        assert machine.expand("/x", x="<@{docs}>") == words(f"<{text}>", read=("docs/a.txt", "docs/deep/b.txt"))

    def test_a_picture_stands_between_the_words(self, machine: Machine) -> None:
        (machine.root / "p.png").write_bytes(PICTURE)
        picture = InlineData("image/png", PICTURE)
        assert machine.expand("/x", x="See @{p.png} there") == ExpandedPrompt(
            (Text("See "), picture, Text(" there")), ("p.png",)
        )
        assert machine.expand("/x", x="@{p.png}\n") == ExpandedPrompt((picture,), ("p.png",))

    def test_what_is_ignored_is_left_out(self, machine: Machine) -> None:
        subprocess.run(["git", "init", "-q", machine.root], check=True)
        (machine.root / ".gitignore").write_text("*.log\n")
        (machine.root / "x.log").write_text("secret")
        note = "@x.log was only partly read. Skipped: 1 file(s): git-ignored."
        assert machine.expand("/x", x="<@{x.log}>") == words("<>", notes=(note,))

    def test_what_is_not_there_stays_as_it_is(self, machine: Machine) -> None:
        note = "@gone.txt is sent as plain text: no such file."
        found = machine.expand("/x y", x="<@{ gone.txt }> @{gone.txt} {{args}}")
        assert found == words("<@{gone.txt}> @{gone.txt} y", notes=(note,))
        assert machine.expand("/x", x="<@{}>").parts == (Text("<@{}>"),)

    def test_what_lies_outside_stays_outside(self, machine: Machine) -> None:
        (machine.home / "secret.txt").write_text("secret")
        (machine.root / "link.txt").symlink_to(machine.home / "secret.txt")
        for path in ("../home/secret.txt", str(machine.home / "secret.txt"), "link.txt", "~/secret.txt"):
            found = machine.expand("/x", x=f"<@{{{path}}}>")
            assert (found.parts, found.files, len(found.notes)) == ((Text(f"<@{{{path}}}>"),), (), 1)

    def test_no_tool_to_read_with(self, machine: Machine) -> None:
        (machine.root / "a.txt").write_text("a")
        with pytest.raises(MentionError, match="read_many_files tool not found"):
            machine.expand("/x", x="@{a.txt}", without="read_many_files")

    def test_nothing_is_left(self, machine: Machine) -> None:
        (machine.root / "empty.txt").write_text("")
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x", x="@{empty.txt} ")
        assert str(refusal.value) == "/x was not sent: the prompt is empty."


class TestBraces:
    @pytest.mark.parametrize(
        ("command", "sign", "line"),
        [
            ("Well: !{ls", "!{", 1),
            ("one\ntwo @{x", "@{", 2),
            ("!{echo a}\n\n!{echo {b}", "!{", 3),
            ("@{a{b}", "@{", 1),
            ("!{awk '{'}", "!{", 1),
        ],
    )
    def test_what_is_never_closed(self, machine: Machine, command: str, sign: str, line: int) -> None:
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x", x=command, mode="yolo")
        told = f"/x was not sent: {sign} on line {line} of the prompt in /c/x.toml is not closed."
        assert (str(refusal.value), machine.events) == (told, [])

    def test_too_many(self, machine: Machine) -> None:
        assert machine.expand("/x", x="." + "!{}" * custom_command.MAX_INSERTIONS) == words(".")
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x", x="!{}" * (custom_command.MAX_INSERTIONS + 1))
        assert str(refusal.value) == "/x was not sent: /c/x.toml has more than 100 insertions."


class TestShell:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("<!{echo hello}>", "<hello>"),
            ("<!{ printf 'a\\n\\nb\\n' }>", "<a\n\nb>"),
            ("<!{echo out; echo err >&2}>", "<out\nerr>"),
            ("<!{}> !{ }.", "<> ."),
            ("<!{true}>", "<>"),
            ("<!{false}>", "<\n[Shell command 'false' exited with code 1]>"),
            ("<!{echo a; exit 3}>", "<a\n[Shell command 'echo a; exit 3' exited with code 3]>"),
            ("<!{kill -9 $$}>", "<\n[Shell command 'kill -9 $$' terminated by signal SIGKILL]>"),
            ("!{echo '@{x} !{y} {z}'} {{args}}", "@{x} !{y} {z} Bob"),
            ("!{echo 1}!{echo 2}", "12"),
            ("!{echo one; echo one >> f} !{cat f} !{cat f | wc -l}", "one one 1"),
            ("!{printf 'Exit Code: 7\\nSignal: (none)'}", "Exit Code: 7\nSignal: (none)"),
        ],
    )
    def test_what_it_prints_takes_its_place(self, machine: Machine, command: str, expected: str) -> None:
        arguments = " Bob" if "{{args}}" in command else ""
        assert machine.expand(f"/x{arguments}", x=command, mode="yolo") == words(expected)

    @pytest.mark.parametrize("template", ["!{echo {{args}}}", '!{echo "{{args}}"}', "!{echo '{{args}}'}"])
    @pytest.mark.parametrize(
        "hostile",
        [
            "'; touch MARK #",
            "$(touch MARK)",
            "`touch MARK`",
            '"; touch MARK; "',
            "a\ntouch MARK",
            "a && touch MARK",
            "}",
        ],
    )
    def test_hostile_arguments_are_one_word(self, machine: Machine, template: str, hostile: str) -> None:
        assert machine.expand(f"/x {hostile}", x=f"<{template}>", mode="yolo") == words(f"<{hostile}>")
        assert list(machine.root.iterdir()) == []

    def test_arguments_where_quotes_do_not_help(self, machine: Machine) -> None:
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x y", x='!{touch MARK}!{bash -c "echo {{args}}"}', mode="yolo")
        told = "{{args}} is inside the text of another command, where quoting cannot protect it."
        assert str(refusal.value) == f"/x was not sent: /c/x.toml: {told}"
        assert (machine.events, list(machine.root.iterdir())) == ([], [])

    def test_files_are_read_before_anything_runs(self, machine: Machine) -> None:
        (machine.root / "a.txt").write_text("before")
        found = machine.expand("/x", x="!{echo after > a.txt}@{a.txt}", mode="yolo")
        assert found == words("before", read=("a.txt",))

    def test_a_rule_allows_it(self, machine: Machine) -> None:
        allowed = ["run_shell_command(touch)", "run_shell_command(ls)"]
        found = machine.expand("/x y", x="!{touch {{args}}}!{ls}", allowed=allowed)
        assert found == words("y")
        assert machine.finished == [("touch y", CallState.SUCCESS), ("ls", CallState.SUCCESS)]

    def test_nobody_to_ask(self, machine: Machine) -> None:
        """What would need an answer keeps even those before it from running."""
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x", x="!{touch a}!{touch b}", allowed=["run_shell_command(touch a)"])
        assert str(refusal.value).startswith(f"/x was not sent: did not run: touch b\n{REFUSED}")
        assert machine.finished == [("touch b", CallState.ERROR)]
        assert list(machine.root.iterdir()) == []

    def test_a_rule_denies_it(self, machine: Machine) -> None:
        policies = machine.home / ".gemini" / "policies"
        policies.mkdir(parents=True)
        (policies / "no.toml").write_text(
            '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch b"\ndecision = "deny"\npriority = 100\n'
        )
        approver = FakeApprover([YES])
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x", x="!{touch a}!{touch b}", approver=approver)
        told = "/x was not sent: did not run: touch b\nTool execution denied by policy."
        assert str(refusal.value).startswith(told)
        assert (approver.questions, list(machine.root.iterdir())) == ([], [])
        [event] = [event for event in machine.events if isinstance(event, CallFinished)]
        assert event.result.error is not None
        assert event.result.error.type is ErrorType.POLICY_VIOLATION

    def test_the_user_is_asked_about_the_very_line(self, machine: Machine) -> None:
        approver = FakeApprover([YES, YES])
        found = machine.expand("/x a;b", x="!{touch {{args}} && echo 1}!{touch c && echo 2}", approver=approver)
        assert found == words("12")
        asked = [
            (shown.command, shown.description)
            for shown in approver.confirmations
            if isinstance(shown, ExecConfirmation)
        ]
        assert asked == [("touch 'a;b' && echo 1", "Part of /x"), ("touch c && echo 2", "Part of /x")]

    def test_the_user_says_no(self, machine: Machine) -> None:
        with pytest.raises(CustomCommandError) as refusal:
            machine.expand("/x", x="!{touch a}", approver=FakeApprover([NO]))
        assert str(refusal.value) == "/x was not sent: did not run: touch a\nYou rejected this call."
        assert list(machine.root.iterdir()) == []

    def test_without_the_tool_nothing_runs(self, machine: Machine) -> None:
        with pytest.raises(CustomCommandError, match=r"(?s)did not run: echo a\n.*not found in registry"):
            machine.expand("/x", x="!{echo a}", mode="yolo", without="run_shell_command")

    def test_what_no_shell_could_run(self, machine: Machine) -> None:
        with pytest.raises(CustomCommandError, match=r"Command cannot contain a NUL character\."):
            machine.expand("/x a\0b", x="!{touch a}!{echo {{args}}}", mode="yolo")
        assert list(machine.root.iterdir()) == []

    def test_what_hangs_is_cut_off_and_told(self, machine: Machine) -> None:
        settings = machine.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{"tools": {"shell": {"inactivityTimeout": 1}}}')
        [part] = machine.expand("/x", x="<!{echo a; sleep 60}>", mode="yolo").parts
        assert isinstance(part, Text)
        assert part.text.startswith("<a\n")
        assert part.text.endswith("\n[Shell command 'echo a; sleep 60' aborted]>")
        assert "exceeded the timeout" in part.text


class Program:
    """The program as a whole, in a project of its own, with a model that plays a script."""

    def __init__(self, base: Path) -> None:
        self.machine = Machine(base)
        self.script = base / "script.toml"
        self.answer("")

    def answer(self, when: str) -> None:
        """Have the model answer a prompt that contains this, and fail at any other."""
        self.script.write_text(f"[[answer]]\nwhen = {json.dumps(when)}\nsay = 'Done.'\n")

    def put(self, place: Path, name: str, prompt: str) -> Path:
        path = place / ".gemini" / "commands" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"prompt = {json.dumps(prompt)}\n")
        return path

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        model = f"scripted:{self.script}"
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "tejat", "-m", model, "--sandbox", "off", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.machine.root,
            env=self.machine.environment,
            timeout=60,
            check=False,
        )


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


class TestTheProgram:
    def test_a_command_of_the_user(self, program: Program) -> None:
        program.put(program.machine.home, "greet.toml", "Greet {{args}} from !{pwd}.")
        program.answer(f"Greet Bob from {program.machine.root}.")
        done = program.run("-p", "/greet Bob", "--allowed-tools", "run_shell_command(pwd)")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")

    def test_an_unknown_one_is_sent_as_it_is(self, program: Program) -> None:
        program.answer("/greet Bob")
        done = program.run("-p", "/greet Bob")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")

    def test_a_command_of_a_folder_that_is_not_trusted(self, program: Program) -> None:
        program.put(program.machine.root, "greet.toml", "!{touch MARK}")
        done = program.run("-p", "/greet Bob", "--output-format", "json", "--yolo")
        result = json.loads(done.stdout)
        assert (done.returncode, result["error"]["type"], result["error"]["code"]) == (55, "not_trusted", 55)
        assert result["error"]["message"].startswith("/greet is a project command, and this folder is not trusted. ")
        assert not (program.machine.root / "MARK").exists()

    def test_a_command_of_a_folder_that_is_trusted(self, program: Program) -> None:
        program.put(program.machine.home, "greet.toml", "not this one")
        program.put(program.machine.root, "greet.toml", "Greet {{args}} as the project does.")
        program.answer("Greet Bob as the project does.")
        done = program.run("-p", "/greet Bob", "--trust")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")

    def test_one_that_needs_an_answer(self, program: Program) -> None:
        program.put(program.machine.home, "x.toml", "!{touch MARK}")
        done = program.run("-p", "/x", "--output-format", "json")
        result = json.loads(done.stdout)
        assert (done.returncode, result["error"]["type"]) == (42, "bad_prompt")
        assert [denied["parameters"]["command"] for denied in result["permission_denials"]] == ["touch MARK"]
        assert not (program.machine.root / "MARK").exists()

    def test_one_that_takes_too_long_for_the_run(self, program: Program) -> None:
        program.put(program.machine.home, "x.toml", "!{sleep 60}")
        done = program.run("-p", "/x", "--yolo", "--timeout", "1", "--output-format", "json")
        assert (done.returncode, json.loads(done.stdout)["error"]["type"]) == (53, "time_limit")

    def test_a_broken_one_and_one_beside_it(self, program: Program) -> None:
        broken = program.put(program.machine.home, "broken.toml", "")
        program.put(program.machine.home, "x.toml", "Say hello.")
        told = f"tejat: Skipped command /broken. {broken}: prompt must be a non-empty string.\n"
        done = program.run("-p", "/broken")
        assert (done.returncode, done.stdout, done.stderr) == (42, "", told)
        done = program.run("-p", "/x")
        assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", told)
