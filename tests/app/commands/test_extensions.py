"""`/extensions`."""

import json

import pytest

from support.command_runner import CommandEnv, CommandRunner, texts
from support.extension_trees import write_plain
from support.packages import write_tree
from support.prompter import FakePrompter
from tejat.core.ui.prompter import Choice

NO, YES = 0, 1
RULE = '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 1\n'


@pytest.fixture
def source(env: CommandEnv) -> str:
    tree = write_plain(env.base / "demo", GEMINI_md="CTX-7731")
    write_tree(
        tree,
        {
            "commands/deploy.toml": 'prompt = "Deploy it"\n',
            "policies/p.toml": RULE,
            "skills/audit/SKILL.md": "---\nname: audit\ndescription: Audits.\n---\nBody\n",
            "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
        },
    )
    return str(tree)


def test_list_and_explore(env: CommandEnv) -> None:
    assert env.output_of("/extensions") == "No extensions installed."
    assert env.output_of("/extensions list") == "No extensions installed."
    assert "https://geminicli.com/extensions/" in env.output_of("/extensions explore")
    for line in ("/extensions nonsense", "/extensions review", "/extensions disable x --scope y", "/extensions 'x"):
        assert "Usage: /extensions" in env.output_of(line)
    assert env.output_of("/extensions review nope") == "Extension not found."


def test_no_is_no(env: CommandEnv, source: str) -> None:
    user = FakePrompter(choices=[NO])
    output = env.output_of(f"/extensions install {source}", prompter=user)
    assert "Nothing was changed." in output
    assert "context file GEMINI.md" in output
    choice = user.asked[0]
    assert isinstance(choice, Choice)
    assert ([option.label for option in choice.options], choice.initial) == (["No", "Yes", "Show a file"], 0)
    assert env.output_of("/extensions") == "No extensions installed."


def test_installed_and_reloaded(env: CommandEnv, source: str) -> None:
    async def work(runner: CommandRunner) -> None:
        context = runner.parts
        assert 'Extension "demo" installed successfully and enabled.' in await runner.output_of(
            f"/extensions install {source}"
        )
        assert "CTX-7731" not in context.conversation.template.system
        assert "+ demo 1.0.0" in await runner.output_of("/extensions reload")
        assert "CTX-7731" in context.conversation.template.system
        assert "deploy" in context.custom_commands.commands
        assert context.manager.subagents.find("helper") is not None
        assert context.toolset.services.has_skills
        assert context.toolset.is_forbidden("glob")

        assert "is disabled in this session" in await runner.output_of("/extensions disable demo --scope session")
        assert "CTX-7731" not in context.conversation.template.system
        assert "deploy" not in context.custom_commands.commands
        assert context.manager.subagents.find("helper") is None
        assert not context.toolset.is_forbidden("glob")
        assert "demo 1.0.0: enabled" in await runner.output_of("/extensions list")

        assert "is enabled in this session" in await runner.output_of("/extensions enable demo --scope session")
        assert "CTX-7731" in context.conversation.template.system

    env.run_with(work, prompter=FakePrompter(choices=[YES]))


def test_switch_update_and_uninstall(env: CommandEnv, source: str) -> None:
    async def work(runner: CommandRunner) -> None:
        await runner.run(f"/extensions install {source}")
        assert 'successfully disabled for scope "user": everywhere.' in await runner.output_of(
            "/extensions disable demo"
        )
        rules = json.loads((env.home / ".gemini/extensions/extension-enablement.json").read_text())
        assert rules == {"demo": {"overrides": ["!/*"]}}
        assert 'for scope "workspace": in ' in await runner.output_of("/extensions enable demo --scope=workspace")
        assert "already up to date" in await runner.output_of("/extensions update demo")
        write_plain(env.base / "demo", version="1.1.0")
        assert "successfully updated: 1.0.0 → 1.1.0." in await runner.output_of("/extensions update --all")
        assert "has no settings" in await runner.output_of("/extensions config demo")
        assert "has not changed" in await runner.output_of("/extensions review demo")
        assert "successfully uninstalled" in await runner.output_of("/extensions delete demo")
        assert "- demo" not in await runner.output_of("/extensions reload")

    env.run_with(work, prompter=FakePrompter(choices=[YES, YES, YES]))


def test_completion(env: CommandEnv, source: str) -> None:
    async def work(runner: CommandRunner) -> None:
        await runner.run(f"/extensions install {source}")
        assert texts(await runner.registry.suggestions("/extensions re")) == ["review", "reload"]
        assert texts(await runner.registry.suggestions("/extensions enable d")) == ["demo"]

    env.run_with(work, prompter=FakePrompter(choices=[YES]))
