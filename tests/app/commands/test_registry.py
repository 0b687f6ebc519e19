"""What can be typed after a slash: finding commands, completing them, and what goes wrong."""

import asyncio
import json
from pathlib import Path

import pytest

from support.command_runner import CommandEnv, CommandRunner, texts
from support.external_tools import hostile_server
from support.prompter import FakePrompter
from tejat.app.commands.builtin import builtin_commands, builtin_names
from tejat.core.ui.commands import CommandAction, CommandSummary, CompletionItem, NoAction, SubmitPromptAction


def command(folder: Path, name: str, prompt: str, **fields: str) -> None:
    path = folder / ".gemini" / "commands" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(f"{key} = {json.dumps(text)}" for key, text in {"prompt": prompt, **fields}.items()))


def effect(env: CommandEnv, line: str) -> tuple[CommandAction, str]:
    async def work(runner: CommandRunner) -> tuple[CommandAction, str]:
        return await runner.run(line), runner.prompter.output

    return env.run_with(work)


def suggested(env: CommandEnv, line: str) -> list[CompletionItem]:
    async def work(runner: CommandRunner) -> list[CompletionItem]:
        if runner.parts.toolset.external is not None:
            await runner.parts.toolset.external.wait_ready()
        return list(await runner.registry.suggestions(line))

    return env.run_with(work)


class TestFinding:
    def test_a_command_is_called_by_each_of_its_names_whatever_the_case(self, env: CommandEnv) -> None:
        for line in ("/tools", "/TOOLS", "  /tools  "):
            assert effect(env, line)[0] == NoAction()
            assert effect(env, line)[1].startswith("Available tools:\n")
        assert effect(env, "/usage")[1].startswith("This session\n")

    @pytest.mark.parametrize(
        ("line", "meant"),
        [
            ("/toolz", "Did you mean /tools?"),
            ("/hel", "Did you mean /help?"),
            ("/memroy show", "Did you mean /memory?"),
            ("/xyzzyplugh", "/help lists all commands."),
            ("/", "/help lists all commands."),
        ],
    )
    def test_an_unknown_one_names_the_nearest(self, env: CommandEnv, line: str, meant: str) -> None:
        name = line.split(maxsplit=1)[0]
        assert effect(env, line) == (NoAction(), f"Unknown command: {name}\n{meant}")

    @pytest.mark.parametrize("line", ["/usr/bin/env prints what?", "/* a comment */", "//"])
    def test_what_is_no_command_at_all_is_a_prompt(self, env: CommandEnv, line: str) -> None:
        assert effect(env, line) == (SubmitPromptAction(line, line), "")

    def test_custom_ones_are_for_the_session_to_expand(self, env: CommandEnv) -> None:
        command(env.home, "mine", "Do it.")
        command(env.project, "git/commit", "Commit {{args}}.")
        (env.home / ".gemini" / "commands" / "broken.toml").write_text("prompt = 1")
        for line in ("/mine", "/git:commit all of it", "/broken"):
            assert effect(env, line) == (SubmitPromptAction(line, line), "")

    def test_those_of_a_folder_that_is_not_trusted_too_for_it_says_why(self, env: CommandEnv) -> None:
        command(env.project, "theirs", "Do it.")

        async def work(runner: CommandRunner) -> tuple[CommandAction, list[str]]:
            return await runner.run("/theirs"), [summary.name for summary in runner.registry.summaries()]

        done, names = env.run_with(work, trusts_folder=False)
        assert done == SubmitPromptAction("/theirs", "/theirs")
        assert "theirs" not in names

    def test_nobody_takes_the_name_of_ours(self, env: CommandEnv) -> None:
        command(env.project, "permissions", "Allow everything.")
        path = env.project / ".gemini" / "commands" / "permissions.toml"
        assert effect(env, "/permissions")[0] == NoAction()
        told = f"{path} is not used: /permissions is a built-in command. Rename the file."
        assert told in env.output_of("/help").splitlines()

    def test_prompts_of_servers(self, env: CommandEnv) -> None:
        listed = {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}, {"name": "help"}]}
        env.write_user_settings(mcpServers={"bad": hostile_server(f"result=prompts/list:{json.dumps(listed)}")})

        async def work(runner: CommandRunner) -> tuple[list[CommandAction], list[CommandSummary]]:
            assert runner.parts.toolset.external is not None
            await runner.parts.toolset.external.wait_ready()
            effects = [await runner.run(line) for line in ("/greet Ada", "/bad_help")]
            return effects, [summary for summary in runner.registry.summaries() if summary.source]

        effects, summaries = env.run_with(work)
        assert effects == [SubmitPromptAction("/greet Ada", "/greet Ada"), SubmitPromptAction("/bad_help", "/bad_help")]
        assert summaries == [
            CommandSummary("bad_help", "A prompt from MCP server bad", source="MCP server bad"),
            CommandSummary("greet", "A prompt from MCP server bad", "/greet --who=…", source="MCP server bad"),
        ]

    def test_every_command_of_ours_has_a_home_and_a_name_of_its_own(self) -> None:
        names = [name for summary in builtin_commands() for name in (summary.name, *summary.aliases)]
        assert len(names) == len(set(names)) == len(builtin_names())
        assert [summary.name for summary in builtin_commands()] == sorted(
            summary.name for summary in builtin_commands()
        )

    def test_every_one_can_be_loaded(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> list[str]:
            return [type(runner.registry._command(summary.name)).__name__ for summary in builtin_commands()]

        assert len(env.run_with(work)) == len(builtin_commands())


class TestFailures:
    def test_are_told_in_a_sentence(self, env: CommandEnv) -> None:
        assert effect(env, "/tools all") == (NoAction(), "Usage: /tools [desc | nodesc]")

    def test_of_the_machine_too(self, env: CommandEnv) -> None:
        env.project.chmod(0o500)
        try:
            done, shown = effect(env, "/init")
        finally:
            env.project.chmod(0o700)
        # Whoever may write everywhere is not stopped.
        if isinstance(done, NoAction):
            assert shown == f"That did not work: {env.project / 'GEMINI.md'}: Permission denied."

    def test_a_cancellation_passes_through(self, env: CommandEnv) -> None:
        class Forever(FakePrompter):
            async def choose(self, choice: object) -> int | None:
                del choice
                return await asyncio.Event().wait() and None

        async def work(runner: CommandRunner) -> bool:
            task = asyncio.ensure_future(runner.run("/theme"))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            return task.cancelled()

        assert env.run_with(work, prompter=Forever())


class TestSuggestions:
    def test_names_with_what_they_are_for(self, env: CommandEnv) -> None:
        assert suggested(env, "/sta") == [
            CompletionItem("/stats ", 4, "/stats", "Show requests, tokens, cost and times"),
        ]
        assert suggested(env, "/ab") == [
            CompletionItem("/about ", 3, "/about", "Show version, model, sandbox and configuration")
        ]

    def test_other_names_only_when_they_are_typed(self, env: CommandEnv) -> None:
        assert texts(suggested(env, "/us")) == ["/usage "]
        assert texts(suggested(env, "/u")) == ["/undo ", "/usage "]
        assert "/usage " not in texts(suggested(env, "/"))
        assert len(suggested(env, "/")) == len(builtin_commands())

    def test_custom_ones_by_any_part_of_their_names(self, env: CommandEnv) -> None:
        command(env.home, "git/zap", "Zap {{args}}.", description="Zap it")
        assert suggested(env, "/za") == [CompletionItem("/git:zap ", 3, "/git:zap", "Zap it (your commands)")]
        assert suggested(env, "/git:zap ") == []

    def test_arguments_of_prompts(self, env: CommandEnv) -> None:
        listed = {
            "prompts": [{"name": "greet", "arguments": [{"name": "who", "description": "A\nname"}, {"name": "o"}]}]
        }
        env.write_user_settings(mcpServers={"bad": hostile_server(f"result=prompts/list:{json.dumps(listed)}")})
        assert texts(suggested(env, "/greet ")) == ["--who=", "--o=", "help"]
        assert suggested(env, "/greet --who=Ada --") == [CompletionItem("--o=", 2, "--o=", "")]

    @pytest.mark.parametrize(
        ("line", "names"),
        [
            ("/exp", ["/export "]),
            ("/exi", ["/exit"]),
            ("/com", ["/commands ", "/compress "]),
            ("/terminal", ["/terminal-setup "]),
            ("/setu", ["/terminal-setup "]),
        ],
    )
    def test_an_alias_stands_in_for_its_name(self, env: CommandEnv, line: str, names: list[str]) -> None:
        assert texts(suggested(env, line)) == names

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("/tools d", ["desc"]),
            ("/stats ", ["session", "model", "tools", "agents"]),
            ("/mcp no", ["nodesc"]),
            ("/memory r", ["refresh"]),
            ("/permissions t", ["trust"]),
            ("/policy e", ["explain"]),
            ("/policy mode p", ["plan"]),
            ("/policy explain rep", ["replace"]),
            ("/settings ui.a", ["ui.animations", "ui.autoThemeSwitching"]),
            ("/settings ui.animations f", ["false"]),
            ("/settings unset ui.a", ["ui.animations", "ui.autoThemeSwitching"]),
            ("/settings ui.theme da", ["dark"]),
            ("/theme l", ["light"]),
            ("/vim o", ["on", "off"]),
            ("/export m", ["md"]),
            ("/commands re", ["reload"]),
            ("/shells s", ["stop"]),
            ("/login r", ["remove"]),
            ("/diff l", ["last"]),
            ("/terminal-setup k", ["kitty"]),
            ("/hooks e", ["enable"]),
            ("/help sett", ["settings"]),
            ("/about x", []),
            ("/nobody x", []),
            ("no slash", []),
        ],
    )
    def test_what_may_follow(self, env: CommandEnv, line: str, expected: list[str]) -> None:
        if line == "no slash":
            assert len(suggested(env, line)) == len(builtin_commands())
        else:
            assert texts(suggested(env, line)) == expected
