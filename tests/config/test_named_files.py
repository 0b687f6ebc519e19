"""The files that a command names."""

from pathlib import Path

import pytest

from tejat.config.named_files import MOST_NAMES, NamedCommand, files_named
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
        (NamedCommand("python3 a.py"), ["a.py"]),
        (NamedCommand("python3", ["my tools.py"]), ["my tools.py"]),
        (NamedCommand("sh -c 'python3 \"my tools.py\"'"), ["my tools.py"]),
        (NamedCommand("python3", ["--at=a.py"]), ["a.py"]),
        (NamedCommand("$PWD/a.py"), ["a.py"]),
        (NamedCommand("x ${NO_SUCH_THING:-a.py}"), ["a.py"]),
        (NamedCommand("cd sub && ./x.sh"), ["sub/x.sh"]),
        (NamedCommand("sh", ["-c", "cd sub; exec ./x.sh"]), ["sub/x.sh"]),
        (NamedCommand("./x.sh", directory="sub"), ["sub/x.sh"]),
        (NamedCommand("python3", ["a.py"], directory="./sub/"), ["a.py", "sub/a.py"]),
        (NamedCommand("tool", environment={"PATH": "$PWD/bin:/usr/bin"}), ["bin/tool"]),
        (NamedCommand("node", environment={"NODE_OPTIONS": "--require ./a.py"}), ["a.py"]),
        (NamedCommand("python3", ["-m", "pkg.server"]), ["pkg/server.py"]),
        (NamedCommand("python3 -um pkg"), ["pkg/__init__.py", "pkg/__main__.py"]),
        (NamedCommand("echo >a.py >> sub/x.sh 2> 'my tools.py'"), ["a.py", "my tools.py", "sub/x.sh"]),
        (NamedCommand("echo >sub/x.sh >> a.py"), []),
        (NamedCommand("sh <>a.py"), ["a.py"]),
        (NamedCommand(r"env X=\> ./a.py"), ["a.py"]),
        (NamedCommand("tee >(sh a.py)"), ["a.py"]),
        (NamedCommand("\0", ["", ".", "/", "..", "/etc/passwd", "nothing"]), []),
    ],
)
def test_however_it_is_written(root: Path, command: NamedCommand, named: list[str]) -> None:
    assert sorted(files_named(command, str(root))) == named


def test_variables_that_are_known(root: Path) -> None:
    command = NamedCommand("python3", ["$WHERE/x.sh", "$KEY"])
    assert files_named(command, str(root)) == ()
    # What looks like a secret is not put in for a project.
    assert files_named(command, str(root), {"WHERE": "sub", "KEY": "a.py"}) == ("sub/x.sh",)


def test_links(root: Path) -> None:
    (root / "link").symlink_to("sub/x.sh")
    (root / "away").symlink_to("/etc/passwd")
    (root.parent / f"{root.name}-too").symlink_to(root)
    assert files_named(NamedCommand("link away"), f"{root}-too") == ("sub/x.sh",)


def test_too_much(root: Path) -> None:
    words = [str(number) for number in range(MOST_NAMES)]
    with pytest.raises(UsageError, match="names more than"):
        files_named(NamedCommand("x", words), str(root))
