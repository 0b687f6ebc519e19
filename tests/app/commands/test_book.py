"""What can be typed after a slash: finding commands, completing them, and what goes wrong."""

import asyncio
import json
from pathlib import Path

import pytest

from command_checks import Desks, Seat, texts
from foreign_checks import hostile
from persons import Answering
from tejat.app.commands import book
from tejat.app.commands.catalogue import own_commands, own_names
from tejat.core.commands import CommandSummary, Done, Effect, Submit, Suggestion


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def command(folder: Path, name: str, prompt: str, **fields: str) -> None:
    path = folder / ".gemini" / "commands" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(f"{key} = {json.dumps(text)}" for key, text in {"prompt": prompt, **fields}.items()))


def effect(desks: Desks, line: str) -> tuple[Effect, str]:
    async def work(seat: Seat) -> tuple[Effect, str]:
        return await seat.type(line), seat.person.shown

    return desks.at_desk(work)


def suggested(desks: Desks, line: str) -> list[Suggestion]:
    async def work(seat: Seat) -> list[Suggestion]:
        if seat.parts.workshop.session.foreign is not None:
            await seat.parts.workshop.session.foreign.ready()
        return list(await seat.book.suggestions(line))

    return desks.at_desk(work)


class TestFinding:
    def test_a_command_is_called_by_each_of_its_names_whatever_the_case(self, desks: Desks) -> None:
        for line in ("/tools", "/TOOLS", "  /tools  "):
            assert effect(desks, line)[0] == Done()
            assert effect(desks, line)[1].startswith("Available Gemini CLI tools:\n")
        assert effect(desks, "/usage")[1].startswith("This session\n")

    @pytest.mark.parametrize(
        ("line", "meant"),
        [
            ("/toolz", "Did you mean /tools?"),
            ("/hel", "Did you mean /help?"),
            ("/memroy show", "Did you mean /memory?"),
            ("/xyzzyplugh", "/help shows all commands."),
            ("/", "/help shows all commands."),
        ],
    )
    def test_an_unknown_one_names_the_nearest(self, desks: Desks, line: str, meant: str) -> None:
        name = line.split(maxsplit=1)[0]
        assert effect(desks, line) == (Done(), f"Unknown command: {name}\n{meant}")

    @pytest.mark.parametrize("line", ["/usr/bin/env prints what?", "/* a comment */", "//"])
    def test_what_is_no_command_at_all_is_a_prompt(self, desks: Desks, line: str) -> None:
        assert effect(desks, line) == (Submit(line, line), "")

    def test_custom_ones_are_for_the_session_to_expand(self, desks: Desks) -> None:
        command(desks.home, "mine", "Do it.")
        command(desks.project, "git/commit", "Commit {{args}}.")
        (desks.home / ".gemini" / "commands" / "broken.toml").write_text("prompt = 1")
        for line in ("/mine", "/git:commit all of it", "/broken"):
            assert effect(desks, line) == (Submit(line, line), "")

    def test_those_of_a_folder_that_is_not_trusted_too_for_it_says_why(self, desks: Desks) -> None:
        command(desks.project, "theirs", "Do it.")

        async def work(seat: Seat) -> tuple[Effect, list[str]]:
            return await seat.type("/theirs"), [summary.name for summary in seat.book.summaries()]

        done, names = desks.at_desk(work, trusts_folder=False)
        assert done == Submit("/theirs", "/theirs")
        assert "theirs" not in names

    def test_nobody_takes_the_name_of_ours(self, desks: Desks) -> None:
        command(desks.project, "permissions", "Allow everything.")
        path = desks.project / ".gemini" / "commands" / "permissions.toml"
        assert effect(desks, "/permissions")[0] == Done()
        told = f"{path} is not used: /permissions is a command of ours. Give the file another name."
        assert told in desks.shown("/help").splitlines()

    def test_prompts_of_servers(self, desks: Desks) -> None:
        listed = {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}, {"name": "help"}]}
        desks.person_sets(mcpServers={"bad": hostile(f"result=prompts/list:{json.dumps(listed)}")})

        async def work(seat: Seat) -> tuple[list[Effect], list[CommandSummary]]:
            assert seat.parts.workshop.session.foreign is not None
            await seat.parts.workshop.session.foreign.ready()
            effects = [await seat.type(line) for line in ("/greet Ada", "/bad_help")]
            return effects, [summary for summary in seat.book.summaries() if summary.source]

        effects, summaries = desks.at_desk(work)
        assert effects == [Submit("/greet Ada", "/greet Ada"), Submit("/bad_help", "/bad_help")]
        assert summaries == [
            CommandSummary("bad_help", "A prompt of MCP server bad", source="MCP server bad"),
            CommandSummary("greet", "A prompt of MCP server bad", "/greet --who=…", source="MCP server bad"),
        ]

    def test_every_command_of_ours_has_a_home_and_a_name_of_its_own(self) -> None:
        names = [name for summary in own_commands() for name in (summary.name, *summary.aliases)]
        assert len(names) == len(set(names)) == len(own_names())
        assert set(book._HOMES) == {summary.name for summary in own_commands()}
        assert [summary.name for summary in own_commands()] == sorted(summary.name for summary in own_commands())

    def test_every_one_can_be_loaded(self, desks: Desks) -> None:
        async def work(seat: Seat) -> list[str]:
            return [type(seat.book._command(summary.name)).__name__ for summary in own_commands()]

        assert len(desks.at_desk(work)) == len(own_commands())


class TestFailures:
    def test_are_told_in_a_sentence(self, desks: Desks) -> None:
        assert effect(desks, "/tools all") == (Done(), "Usage: /tools [desc | nodesc]")

    def test_of_the_machine_too(self, desks: Desks) -> None:
        desks.project.chmod(0o500)
        try:
            done, shown = effect(desks, "/init")
        finally:
            desks.project.chmod(0o700)
        # Whoever may write everywhere is not stopped.
        if isinstance(done, Done):
            assert shown == f"That did not work: {desks.project / 'GEMINI.md'}: Permission denied."

    def test_a_cancellation_passes_through(self, desks: Desks) -> None:
        class Forever(Answering):
            async def choose(self, choice: object) -> int | None:
                del choice
                return await asyncio.Event().wait() and None

        async def work(seat: Seat) -> bool:
            task = asyncio.ensure_future(seat.type("/theme"))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            return task.cancelled()

        assert desks.at_desk(work, person=Forever())


class TestSuggestions:
    def test_names_with_what_they_are_for(self, desks: Desks) -> None:
        assert suggested(desks, "/sta") == [
            Suggestion("/stats ", 4, "/stats", "Requests, tokens, calls and times"),
        ]
        assert suggested(desks, "/ab") == [
            Suggestion("/about", 3, "/about", "Version, model, sandbox and where things are kept")
        ]

    def test_other_names_only_when_they_are_typed(self, desks: Desks) -> None:
        assert texts(suggested(desks, "/us")) == ["/usage "]
        assert "/usage " not in texts(suggested(desks, "/"))
        assert len(suggested(desks, "/")) == len(own_commands())

    def test_custom_ones_by_any_part_of_their_names(self, desks: Desks) -> None:
        command(desks.home, "git/zap", "Zap {{args}}.", description="Zap it")
        assert suggested(desks, "/za") == [Suggestion("/git:zap ", 3, "/git:zap", "Zap it (your commands)")]
        assert suggested(desks, "/git:zap ") == []

    def test_arguments_of_prompts(self, desks: Desks) -> None:
        listed = {
            "prompts": [{"name": "greet", "arguments": [{"name": "who", "description": "A\nname"}, {"name": "o"}]}]
        }
        desks.person_sets(mcpServers={"bad": hostile(f"result=prompts/list:{json.dumps(listed)}")})
        assert texts(suggested(desks, "/greet ")) == ["--who=", "--o=", "help"]
        assert suggested(desks, "/greet --who=Ada --") == [Suggestion("--o=", 2, "--o=", "")]

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("/tools d", ["desc"]),
            ("/stats ", ["model", "tools"]),
            ("/mcp no", ["nodesc"]),
            ("/memory r", ["refresh"]),
            ("/permissions t", ["trust"]),
            ("/policy e", ["explain"]),
            ("/policy mode p", ["plan"]),
            ("/policy explain rep", ["replace"]),
            ("/settings ui.a", ["ui.animations"]),
            ("/settings ui.animations f", ["false"]),
            ("/settings unset ui.a", ["ui.animations"]),
            ("/settings ui.theme d", ["dark"]),
            ("/theme l", ["light"]),
            ("/vim o", ["on", "off"]),
            ("/editor n", ["nano", "nvim"]),
            ("/hooks e", ["enable"]),
            ("/help sett", ["settings"]),
            ("/about x", []),
            ("/nobody x", []),
            ("no slash", []),
        ],
    )
    def test_what_may_follow(self, desks: Desks, line: str, expected: list[str]) -> None:
        if line == "no slash":
            assert len(suggested(desks, line)) == len(own_commands())
        else:
            assert texts(suggested(desks, line)) == expected
