"""`/help`."""

from support.command_runner import CommandEnv
from tejat.app.commands.builtin import builtin_commands


def test_all_commands_and_keys(env: CommandEnv) -> None:
    lines = env.output_of("/help").splitlines()
    assert lines[0] == "Commands"
    for summary in builtin_commands():
        names = ", ".join(f"/{name}" for name in (summary.name, *summary.aliases))
        assert f"{names}  {summary.summary}" in lines
    assert lines[len(builtin_commands()) + 1 :][:2] == ["/help COMMAND tells more about one of them.", "In a prompt"]
    assert "Ctrl-D  leave, where the line is empty" in lines
    assert env.output_of("/?").splitlines() == lines


def test_commands_of_others_by_where_they_come_from(env: CommandEnv) -> None:
    for folder, name in ((env.home, "mine"), (env.project, "theirs")):
        (folder / ".gemini" / "commands").mkdir(parents=True)
        (folder / ".gemini" / "commands" / f"{name}.toml").write_text(f'prompt = "x"\ndescription = "It is {name}"')
    shown = env.output_of("/help")
    assert "\nFrom your commands\n/mine  It is mine\n" in shown
    assert "\nFrom commands of this project\n/theirs  It is theirs\n" in shown


def test_one_command(env: CommandEnv) -> None:
    told = "/stats\nRequests, tokens, calls and times\nUsage: /stats [model | tools]\nAlso called /usage"
    assert env.output_of("/help stats") == env.output_of("/help /usage") == told


def test_one_that_there_is_not(env: CommandEnv) -> None:
    assert env.output_of("/help nothing") == "There is no command /nothing. /help shows all of them."
