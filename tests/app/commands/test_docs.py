"""`/docs`."""

from pathlib import Path

from support.command_runner import CommandEnv

ROOT = Path(__file__).parents[3]


def test_every_page_with_its_title(env: CommandEnv) -> None:
    title, *rows, hint = env.output_of("/docs").splitlines()
    assert (title, hint) == ("Documentation", "/docs PAGE shows a page; in a shell: `tejat docs PAGE`.")
    assert "commands  Slash commands" in rows
    assert all((ROOT / "docs" / f"{row.split('  ')[0]}.md").is_file() for row in rows)


def test_one_page(env: CommandEnv) -> None:
    assert env.output_of("/docs commands").startswith("# Slash commands\n")


def test_an_unknown_page(env: CommandEnv) -> None:
    assert env.output_of("/docs comands") == "Unknown page 'comands'. Did you mean commands?"
