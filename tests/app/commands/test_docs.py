"""`/docs`."""

from pathlib import Path

from support.command_runner import CommandEnv

ROOT = Path(__file__).parents[3]


def test_every_page_of_the_documentation(env: CommandEnv) -> None:
    lines = env.output_of("/docs").splitlines()
    assert lines[:2] == ["Documentation", "The documentation is in the directory docs of the source code:"]
    assert all((ROOT / "docs" / line.split("  ")[0]).is_file() for line in lines[2:])
