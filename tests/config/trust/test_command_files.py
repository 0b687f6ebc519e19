"""The files that a command names."""

from pathlib import Path

import pytest

from tejat.config.trust.command_files import MAX_NAMES, CommandSpec, find_command_files, unpinned_reason
from tejat.core.errors import UsageError

FILES = (
    "a.py",
    "bin/tool",
    "my tools.py",
    "pkg/__init__.py",
    "pkg/__main__.py",
    "pkg/server.py",
    "sub/a.py",
    "sub/x.sh",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (CommandSpec("python3 a.py"), ["a.py"]),
        (CommandSpec("python3", ["my tools.py"]), ["my tools.py"]),
        (CommandSpec("sh -c 'python3 \"my tools.py\"'"), ["my tools.py"]),
        (CommandSpec("python3", ["--at=a.py"]), ["a.py"]),
        (CommandSpec("$PWD/a.py"), ["a.py"]),
        (CommandSpec("$(pwd)/a.py"), ["a.py"]),
        (CommandSpec('sh "$(pwd -P)/sub/x.sh"'), ["sub/x.sh"]),
        (CommandSpec("sh `pwd`/sub/x.sh"), ["sub/x.sh"]),
        (CommandSpec("sh ~+/sub/x.sh"), ["sub/x.sh"]),
        (CommandSpec("sh $(git rev-parse --show-toplevel)/sub/x.sh"), ["sub/x.sh"]),
        (CommandSpec("sh sub/*"), ["sub/a.py", "sub/x.sh"]),
        (CommandSpec("cd sub; sh ?.sh [ab].py"), ["a.py", "sub/a.py", "sub/x.sh"]),
        (CommandSpec("sh sub/{x.sh,a.py}"), ["sub/a.py", "sub/x.sh"]),
        (CommandSpec("env PATH=bin:/usr/bin tool"), ["bin/tool"]),
        (CommandSpec('PATH="$(pwd)/bin:$PATH" tool'), ["bin/tool"]),
        (CommandSpec("PYTHONPATH=pkg:sub python3 -m server"), ["pkg/server.py"]),
        (CommandSpec("x ${NO_SUCH_THING:-a.py}"), ["a.py"]),
        (CommandSpec("cd sub && ./x.sh"), ["sub/x.sh"]),
        (CommandSpec("sh", ["-c", "cd sub; exec ./x.sh"]), ["sub/x.sh"]),
        (CommandSpec("./x.sh", directory="sub"), ["sub/x.sh"]),
        (CommandSpec("python3", ["a.py"], directory="./sub/"), ["a.py", "sub/a.py"]),
        (CommandSpec("tool", environment={"PATH": "$PWD/bin:/usr/bin"}), ["bin/tool"]),
        (CommandSpec("node", environment={"NODE_OPTIONS": "--require ./a.py"}), ["a.py"]),
        (CommandSpec("python3", ["-m", "pkg.server"]), ["pkg/server.py"]),
        (CommandSpec("python3 -um pkg"), ["pkg/__init__.py", "pkg/__main__.py"]),
        (CommandSpec("echo >a.py >> sub/x.sh 2> 'my tools.py'"), ["a.py", "my tools.py", "sub/x.sh"]),
        (CommandSpec("echo >sub/x.sh >> a.py"), []),
        (CommandSpec("sh <>a.py"), ["a.py"]),
        (CommandSpec(r"env X=\> ./a.py"), ["a.py"]),
        (CommandSpec("tee >(sh a.py)"), ["a.py"]),
        (CommandSpec("\0", ["", ".", "/", "..", "/etc/passwd", "nothing"]), []),
    ],
)
def test_however_it_is_written(root: Path, command: CommandSpec, named: list[str]) -> None:
    assert sorted(find_command_files(command, str(root))) == named


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (CommandSpec("$(dirname $0)/a.py"), "the command is only known when it runs"),
        (CommandSpec("sh `cat which`"), "the command is only known when it runs"),
        (CommandSpec("sh", ["$WHERE/x.sh"]), "the command is only known when it runs"),
        (CommandSpec("PYTHONPATH=lib python3 -c 'import x'"), "it loads everything in PYTHONPATH"),
        (CommandSpec("node x.js", environment={"NODE_PATH": "lib"}), "it loads everything in NODE_PATH"),
        (CommandSpec("npm run x"), "npm runs what other files in the folder define"),
        (CommandSpec("cd sub && /usr/bin/make"), "make runs what other files in the folder define"),
        (CommandSpec("$(pwd)/a.py $HOME/x"), None),
        (CommandSpec("node", ["server.js", "--token=$TOKEN"], environment={"TOKEN": "$TOKEN"}), None),
        (CommandSpec("sh sub/*.sh"), None),
    ],
)
def test_what_cannot_be_pinned_is_said(command: CommandSpec, reason: str | None) -> None:
    assert unpinned_reason(command) == reason


def test_variables_that_are_known(root: Path) -> None:
    command = CommandSpec("python3", ["$WHERE/x.sh", "$KEY"])
    assert find_command_files(command, str(root)) == ()
    # What looks like a secret is not put in for a project.
    assert find_command_files(command, str(root), {"WHERE": "sub", "KEY": "a.py"}) == ("sub/x.sh",)


def test_links(root: Path) -> None:
    (root / "link").symlink_to("sub/x.sh")
    (root / "away").symlink_to("/etc/passwd")
    (root.parent / f"{root.name}-too").symlink_to(root)
    assert find_command_files(CommandSpec("link away"), f"{root}-too") == ("sub/x.sh",)


def test_too_much(root: Path) -> None:
    words = [str(number) for number in range(MAX_NAMES)]
    with pytest.raises(UsageError, match="refers to more than"):
        find_command_files(CommandSpec("x", words), str(root))
