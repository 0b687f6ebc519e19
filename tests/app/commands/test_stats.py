"""`/stats`."""

from support.command_runner import HELLO, CommandEnv, CommandRunner

CALLS = """
[[answer]]
usage = { prompt = 1000, cached = 400, output = 5 }
[[answer.call]]
name = "list_directory"
args = { path = "." }
[[answer.call]]
name = "read_file"
args = { path = "missing" }
"""


def after_a_run(env: CommandEnv, line: str) -> list[str]:
    async def work(runner: CommandRunner) -> str:
        await runner.prompt("go")
        for counted in (*runner.parts.statistics.models.values(), *runner.parts.statistics.tools.values()):
            counted.seconds = 61.2
        return await runner.output_of(line)

    return env.run_with(work, script=CALLS + HELLO).splitlines()


def test_the_session(env: CommandEnv) -> None:
    lines = after_a_run(env, "/stats")
    assert [line.partition("  ")[0] for line in lines[:2]] == ["This session", "Session"]
    assert lines[2:] == [
        "Requests  2",
        "Tokens sent  1,010",
        "Cached  400",
        "Tokens received  10",
        "Cost  $0.0000",
        "Price  free",
        "Tool calls  2",
        "Failed  1",
        "Denied  0",
        "Lines changed  +0 -0",
        "Model time  1 min 1 s",
        "Tool time  2 min 2 s",
    ]
    assert after_a_run(env, "/usage")[2:] == lines[2:]


def test_by_model(env: CommandEnv) -> None:
    assert after_a_run(env, "/stats model") == [
        "Models",
        "Model  Requests  Errors  Sent  Cached  Received  Time  Price",
        "scripted  2  0  1,010  400  10  1 min 1 s  ",
    ]


def test_by_tool(env: CommandEnv) -> None:
    assert after_a_run(env, "/stats tools") == [
        "Tools",
        "Tool  Calls  Failed  Rejected  Time",
        "list_directory  1  0  0  1 min 1 s",
        "read_file  1  1  0  1 min 1 s",
    ]


def test_before_anything_happened(env: CommandEnv) -> None:
    assert env.output_of("/stats model") == "Models\nNo requests yet."
    assert env.output_of("/stats tools") == "Tools\nNo tool calls yet."
    assert "\nModel time  0.0 s\n" in env.output_of("/stats")


def test_any_other_word(env: CommandEnv) -> None:
    assert env.output_of("/stats all") == "Usage: /stats [session | model | tools | agents]"
