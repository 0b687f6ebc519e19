"""`/settings`."""

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter
from tejat.core.ui.prompter import Choice
from tejat.core.ui.status import Preferences, ThemeName

LATER = "Takes effect at the next start."


class TestLooking:
    def test_all_of_them_with_who_set_them(self, env: CommandEnv) -> None:
        path = env.write_user_settings(
            model={"name": "a-model", "baseUrl": "https://user:s3cr3t@example.com"},
            tools={"exclude": ["glob", "replace"], "disableLLMCorrection": True},
            mcpServers={"one": {"command": "x", "env": {"KEY": "s3cr3t"}}},
        )
        lines = env.output_of("/settings list").splitlines()
        assert lines[:2] == ["Settings", "Name  Value  Source"]
        assert lines[2:-2] == sorted(lines[2:-2])
        for line in (
            f"model.name  a-model  {path}:1",
            f"model.baseUrl  (not shown)  {path}:1",
            f"tools.exclude  glob, replace  {path}:1",
            f"tools.disableLLMCorrection  true  {path}:1",
            "general.vimMode  false  default",
            "context.fileName  GEMINI.md, AGENTS.md  default",
            "model.maxSessionTurns  none  default",
            "general.sessionRetention  30d  default",
            "tools.sandbox  auto  default",
            "mcpServers  one  ",
        ):
            assert line in lines
        assert "s3cr3t" not in "\n".join(lines)

    def test_one(self, env: CommandEnv) -> None:
        assert env.output_of("/settings ui.theme") == "ui.theme\nValue  not set\nSource  not set\nFormer names  theme"
        assert env.output_of("/settings MAXSESSIONTURNS") == (
            "model.maxSessionTurns\nValue  none\nSource  default\nFormer names  maxSessionTurns"
        )

    def test_one_that_there_is_not(self, env: CommandEnv) -> None:
        told = "Unknown setting ui.font. /settings list shows all settings."
        assert env.output_of("/settings ui.font") == env.output_of("/settings ui.font big") == told


class TestChanging:
    @pytest.mark.parametrize(
        ("line", "shown", "kept"),
        [
            ("model.name gemini-9-pro", "model.name is now gemini-9-pro.", {"model": {"name": "gemini-9-pro"}}),
            ("model.maxSessionTurns 7", "model.maxSessionTurns is now 7.", {"model": {"maxSessionTurns": 7}}),
            (
                "tools.exclude glob, replace",
                "tools.exclude is now glob, replace.",
                {"tools": {"exclude": ["glob", "replace"]}},
            ),
            ('tools.core ["glob"]', "tools.core is now glob.", {"tools": {"core": ["glob"]}}),
            (
                "model.disableLoopDetection true",
                "model.disableLoopDetection is now true.",
                {"model": {"disableLoopDetection": True}},
            ),
        ],
    )
    def test_the_persons_own(self, env: CommandEnv, line: str, shown: str, kept: object) -> None:
        assert env.output_of(f"/settings {line}") == f"{shown}\nSaved in {env.user_file}.\n{LATER}"
        assert env.saved_settings() == kept
        assert not env.own_file.exists()

    @pytest.mark.parametrize(
        ("line", "kept"),
        [
            ("model.name openai:gpt-6", {"model": {"name": "openai:gpt-6"}}),
            ("tools.sandbox off", {"tools": {"sandbox": "off"}}),
            ("model.fallback gemini-2.5-flash", {"model": {"fallback": "gemini-2.5-flash"}}),
            ("general.sessionRetention 7", {"general": {"sessionRetention": 7}}),
        ],
    )
    def test_what_gemini_cli_cannot_use(self, env: CommandEnv, line: str, kept: object) -> None:
        path = env.write_user_settings(model={"name": "gemini-2.5-pro"})
        before = path.read_bytes()
        assert f"Saved in {env.own_file}." in env.output_of(f"/settings {line}").splitlines()
        assert env.saved_settings(own=True) == kept
        assert path.read_bytes() == before

    def test_what_stands_there_stays_and_older_names_are_kept(self, env: CommandEnv) -> None:
        path = env.home / ".gemini" / "settings.json"
        path.parent.mkdir()
        path.write_text('{\n  // mine\n  "theme": "GitHub", // old\n  "vimMode": true\n}\n')
        assert env.output_of("/settings ui.theme Xcode") == f"ui.theme is now Xcode.\nSaved in {path}."
        assert path.read_text() == '{\n  // mine\n  "theme": "Xcode", // old\n  "vimMode": true\n}\n'

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("general.vimMode maybe", "general.vimMode must be true or false, not 'maybe'"),
            (
                "model.maxSessionTurns many",
                "model.maxSessionTurns must be an integer, or 0 for no limit, not 'many'",
            ),
            (
                "model.baseUrl ftp://x",
                "model.baseUrl must be an address that starts with http:// or https://, not a different string",
            ),
        ],
    )
    def test_what_cannot_be(self, env: CommandEnv, line: str, why: str) -> None:
        assert env.output_of(f"/settings {line}") == f"Nothing was changed: {why}."
        assert not (env.home / ".gemini" / "settings.json").exists()

    @pytest.mark.parametrize(("name", "theme"), [("ui.theme", "nosuch"), ("theme", "null"), ("UI.THEME", "dark,light")])
    def test_an_unknown_theme(self, env: CommandEnv, name: str, theme: str) -> None:
        told = f"Unknown theme '{theme}'. Choose one of: auto, dark, light, plain, ANSI, "
        assert env.output_of(f"/settings {name} {theme}").startswith(told)
        assert not env.own_file.exists()
        assert not env.user_file.exists()

    def test_a_theme_in_any_case(self, env: CommandEnv) -> None:
        assert env.output_of("/settings ui.theme xcode") == f"ui.theme is now Xcode.\nSaved in {env.user_file}."

    def test_what_is_made_of_entries(self, env: CommandEnv) -> None:
        path = env.home / ".gemini" / "settings.json"
        told = f"mcpServers has several entries. Edit it in {path}."
        assert env.output_of('/settings mcpServers {"a": {}}') == told

    def test_somebody_else_may_have_the_last_word(self, env: CommandEnv) -> None:
        project = env.write_project_settings(model={"name": "theirs"})
        precedence = f"Set in {project}:1, which takes precedence."
        assert env.output_of("/settings model.name gemini-9-pro") == (
            f"model.name is now theirs.\nSaved in {env.user_file}.\n{precedence}\n{LATER}"
        )
        assert env.saved_settings() == {"model": {"name": "gemini-9-pro"}}

    def test_the_own_file_has_precedence_over_a_project(self, env: CommandEnv) -> None:
        env.write_project_settings(model={"name": "theirs"})
        assert env.output_of("/settings model.name openai:gpt-6") == (
            f"model.name is now openai:gpt-6.\nSaved in {env.own_file}.\n{LATER}"
        )

    def test_taking_the_own_one_away(self, env: CommandEnv) -> None:
        path = env.write_user_settings(model={"name": "gemini-9-pro"})
        shown = env.output_of("/settings model.name openai:gpt-6", "/settings unset model.name")
        assert shown.endswith(f"model.name is now gemini-9-pro.\nSet in {path}:1.\n{LATER}")

    def test_a_broken_file_stays_as_it_is(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> str:
            path.write_text("{ broken")
            return await runner.output_of("/settings model.name mine")

        path = env.write_user_settings()
        shown = env.run_with(work)
        assert shown.startswith(f"Error in {path}: ")
        assert path.read_text() == "{ broken"

    def test_taking_one_away(self, env: CommandEnv) -> None:
        env.write_user_settings(theme="dark", model={"name": "m"})
        assert env.output_of("/settings unset ui.theme") == "ui.theme is now not set."
        assert env.saved_settings() == {"model": {"name": "m"}}
        assert env.output_of("/settings unset ui.font") == (
            "Unknown setting ui.font. /settings list shows all settings."
        )

    def test_the_screen_changes_at_once(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> list[Preferences]:
            seen = [runner.parts.preferences]
            for line in (
                "ui.theme plain",
                "general.vimMode true",
                "general.preferredEditor nano",
                "ui.animations false",
            ):
                await runner.run(f"/settings {line}")
            return [*seen, runner.parts.preferences]

        changed = Preferences(ThemeName.PLAIN, vi_mode=True, editor="nano", animations=False)
        assert env.run_with(work) == [Preferences(), changed]


class TestChoosing:
    def names(self, person: FakePrompter) -> list[str]:
        choice = person.asked[0]
        assert isinstance(choice, Choice)
        return [option.label for option in choice.options]

    def chosen(self, env: CommandEnv, name: str, **answers: list[object]) -> str:
        asked = FakePrompter()
        assert env.output_of("/settings", prompter=asked) == ""
        place = self.names(asked).index(name)
        choices = [place, *answers.get("choices", [])]
        return env.output_of("/settings", prompter=FakePrompter(choices=choices, entries=answers.get("entries", [])))  # type: ignore[arg-type]

    def test_a_switch(self, env: CommandEnv) -> None:
        assert (
            self.chosen(env, "general.vimMode", choices=[0])
            == f"general.vimMode is now true.\nSaved in {env.user_file}."
        )
        assert self.chosen(env, "general.vimMode", choices=[None]) == ""

    def test_anything_else(self, env: CommandEnv) -> None:
        told = f"model.name is now m.\nSaved in {env.own_file}.\n{LATER}"
        assert self.chosen(env, "model.name", entries=[" m "]) == told
        assert self.chosen(env, "model.name", entries=["  "]) == ""
        assert self.chosen(env, "model.name", entries=[None]) == ""

    def test_an_unknown_theme(self, env: CommandEnv) -> None:
        assert self.chosen(env, "ui.theme", entries=["nosuch"]).startswith("Unknown theme 'nosuch'. Choose one of: ")
        assert not env.own_file.exists()
