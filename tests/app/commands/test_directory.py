"""`/directory`: where a session works."""

from pathlib import Path

import pytest

from support.command_runner import texts
from support.external_tools import HOSTILE, LONG_TIMEOUT_MS
from support.interactive import InteractiveEnv, InteractiveRunner
from support.model_servers.gemini import ModelServer, text_reply
from support.program import script_answer, text_script
from support.wait import wait_until_async


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "notes.txt").write_text("from extra")
    return InteractiveEnv(tmp_path)


def test_shown(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        return [await runner.command_output("/directory show"), await runner.command_output("/dir show")]

    assert env.run_with(work) == [f"Current workspace directories:\n- {env.project}"] * 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/directory", "Usage: /directory show | add PATH[,PATH]"),
        ("/directory remove x", "Usage: /directory show | add PATH[,PATH]"),
        ("/directory show x", "Usage: /directory show | add PATH[,PATH]"),
        ("/directory add", "Please provide at least one path to add."),
    ],
)
def test_what_cannot_be_meant(env: InteractiveEnv, line: str, told: str) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output(line)

    assert env.run_with(work) == told


def test_each_is_told_of(env: InteractiveEnv) -> None:
    (env.base / "a file").write_text("")

    async def work(runner: InteractiveRunner) -> tuple[str, str]:
        shown = await runner.command_output("/directory add ../extra, nowhere,../a file,.,~, ")
        return shown, await runner.command_output("/dir show")

    told, shown = env.run_with(work)
    extra, home = env.base / "extra", env.home
    unusable = "Cannot use workspace directory"
    assert told.splitlines() == [
        "Successfully added directories:",
        f"- {extra}",
        f"- {home}",
        "The following directories are already in the workspace:",
        f"- {env.project}",
        f"Error adding 'nowhere': {unusable} {env.project}/nowhere: No such file or directory",
        f"Error adding '../a file': {unusable} {env.base}/a file: Not a directory",
    ]
    assert shown.splitlines()[1:] == [f"- {env.project}", f"- {extra}", f"- {home}"]


def test_tools_rules_and_undo_see_it(env: InteractiveEnv) -> None:
    extra = env.base / "extra"
    calls = [
        ("read_file", {"absolute_path": f"{extra}/notes.txt"}),
        ("write_file", {"file_path": f"{extra}/new.txt", "content": "new"}),
        ("run_shell_command", {"command": f"cat {extra}/new.txt; rm {extra}/notes.txt", "directory": str(extra)}),
    ]
    script = script_answer(
        say="First.", calls=[("write_file", {"file_path": "${root}/a", "content": "a"})]
    ) + text_script("Ok.")
    script += script_answer(say="I work.", calls=calls) + text_script("Done.")

    async def work(runner: InteractiveRunner) -> list[str]:
        await runner.prompt("begin")
        await runner.run_command(f"/directory add {extra}")
        await runner.prompt("go")
        outputs = [str(response.response) for message in runner.messages for response in message.responses][1:]
        assert sorted(path.name for path in extra.iterdir()) == ["new.txt"]
        assert await runner.command_output("/undo 2", choices=[0]) == "Restored 2 paths."
        return outputs

    outputs = env.run_with(work, script=script)
    assert "from extra" in outputs[0]
    assert "Successfully created" in outputs[1]
    assert "Stdout: new" in outputs[2]
    assert [path.name for path in extra.iterdir()] == ["notes.txt"]


def test_the_model_is_told_with_the_next_prompt_and_in_the_next_session(env: InteractiveEnv) -> None:
    extra = env.base / "extra"
    with ModelServer([text_reply("I see."), text_reply("I see.")]) as service:
        env.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": service.address}

        async def work(runner: InteractiveRunner) -> None:
            await runner.run_command("/directory add ../extra")
            await runner.prompt("hi")
            await runner.run_command("/clear")
            await runner.prompt("hi")

        env.run_with(work, model="gemini-2.5-pro")
    first, second = (request.body["contents"] for request in service.requests)
    told = first[-1]["parts"][0]["text"]
    assert told.startswith(f"From now on I am working in these directories too:\n  - {extra}\n")
    assert "notes.txt" in told
    assert f"I am working in these directories:\n  - {env.project}\n  - {extra}\n" in second[0]["parts"][0]["text"]


def test_what_is_written_for_the_model_there(env: InteractiveEnv) -> None:
    (env.base / "extra" / "GEMINI.md").write_text("Mind the gap.")
    env.write_user_settings(context={"loadMemoryFromIncludeDirectories": True})

    async def work(runner: InteractiveRunner) -> list[bool]:
        conversation = runner.session.conversation
        seen = ["Mind the gap." in conversation.template.system]
        await runner.run_command("/directory add ../extra")
        return [*seen, "Mind the gap." in conversation.template.system]

    assert env.run_with(work) == [False, True]


def test_servers_are_told(env: InteractiveEnv) -> None:
    log = env.base / "log"
    arguments = ["-c", 'tee "$0" | exec "$@"', str(log), *HOSTILE]
    env.write_user_settings(
        mcpServers={"far": {"command": "/bin/sh", "args": arguments, "startTimeout": LONG_TIMEOUT_MS}}
    )

    async def work(runner: InteractiveRunner) -> None:
        await wait_until_async(lambda: runner.interactive.status.servers.ready == 1)
        await runner.run_command("/directory add ../extra")
        await wait_until_async(lambda: "notifications/roots/list_changed" in log.read_text())

    env.run_with(work)


def test_suggestions(env: InteractiveEnv) -> None:
    (env.project / "src").mkdir()
    (env.project / ".hidden").mkdir()

    async def work(runner: InteractiveRunner) -> list[list[str]]:
        lines = ("/dir ", "/dir add ", "/dir add src,../e", "/dir add .h", "/dir show s", "/dir add /no/where/")
        return [texts(await runner.interactive.commands.suggestions(line)) for line in lines]

    assert env.run_with(work) == [["show", "add"], ["src/"], ["../extra/"], [".hidden/"], [], []]
