"""Real lines, hostile lines and random lines, the last ones against bash itself."""

import posixpath
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.deny.bash import find_lines_that_run
from bench.deny.generator import DISGUISED, FRAMES, JOINS, NOISE, SIMPLE
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.policy.effects.command import command_effects
from tejat.policy.shell.command_line import CommandLine, Redirection, ShellCommand
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.shell.plain import REDIRECTS
from tejat.policy.shell.wrappers import command_names

HERE = Path(__file__).parents[1]
ROOT = "/home/someone/project"
ALLOWED = (("git", "log"), ("ls",), ("cat",), ("echo",))
PICTURES = {"␤": "\n", "␍": "\r", "␀": "\0", "␛": "\x1b", "␇": "\a", "␈": "\b"}


def corpus(name: str) -> list[str]:
    """The lines of a file, with control pictures and `<U+200B>` turned into what they stand for."""
    lines: list[str] = []
    for written in (HERE / name).read_text(encoding="utf-8").splitlines():
        if written and not written.startswith("## "):
            text = "".join(PICTURES.get(character, character) for character in written)
            lines.append(re.sub(r"<U\+([0-9A-F]{4})>", lambda found: chr(int(found[1], 16)), text))
    assert len(set(lines)) == len(lines)
    return lines


BYPASS = corpus("bypass_lines.txt")
DESTRUCTIVE = corpus("destructive_lines.txt")
ORDINARY = corpus("ordinary_lines.txt")


def is_outside(word: str) -> bool:
    place = posixpath.normpath(posixpath.join(ROOT, word))
    return word.startswith("~") or (place != ROOT and not place.startswith(f"{ROOT}/"))


def is_covered(command: ShellCommand) -> bool:
    effects = command_effects(command.words)
    has_effects = effects.writes or effects.destroys or effects.runs_code
    begins_well = any(command.words[: len(prefix)] == prefix for prefix in ALLOWED)
    return command.is_plain and begins_well and not has_effects and not any(map(is_outside, effects.paths))


def is_allowed(line: CommandLine) -> bool:
    """What an engine with the four allowed prefixes would let through without a question."""
    return line.is_plain and not line.is_opaque and bool(line.commands) and all(map(is_covered, line.commands))


def shows(line: CommandLine, name: str) -> bool:
    return line.is_opaque or any(name in command_names(command) for command in line.commands)


class TestCorpora:
    def test_they_are_large_enough(self) -> None:
        assert len(BYPASS) >= 400
        assert len(DESTRUCTIVE) >= 60
        assert len(ORDINARY) >= 100

    def test_no_bypass_is_allowed(self) -> None:
        assert [text for text in BYPASS if is_allowed(parse_command_line(text))] == []

    def test_a_rule_against_touch_sees_it(self) -> None:
        lines = [text for text in BYPASS if "touch" in text and ":: touch" not in text]
        assert len(lines) >= 400
        hidden = [text for text in lines if not shows(parse_command_line(text), "touch")]
        assert [text for text in hidden if not is_not_run(text)] == []

    def test_what_destroys_is_seen(self) -> None:
        assert [text for text in DESTRUCTIVE if not looks_destructive(parse_command_line(text))] == []

    def test_ordinary_lines_are_plain(self) -> None:
        lines = list(map(parse_command_line, ORDINARY))
        assert [line for line in lines if not line.is_plain or line.is_opaque or line.doubts] == []
        assert [line for line in lines if not all(command.is_plain for command in line.commands)] == []

    @pytest.mark.parametrize(
        "text", ["ls", "git log --oneline -n 5", "cat README.md | cat", "echo 'a;b' && ls src 2>&1"]
    )
    def test_the_mirror_of_the_engine_allows_something(self, text: str) -> None:
        assert is_allowed(parse_command_line(text))


def is_not_run(text: str) -> bool:
    """Lines of other languages and programs, whose code is no shell line, and lines where touch is only a word."""
    others = ("awk", "sed", "vim", "ex ", "php", "make", "man", "docker", "git config", "osascript", "history", "bind")
    return text.startswith((*others, "!!", 'echo "\\"')) or "gawk" in text or "alias" in text


def looks_destructive(line: CommandLine) -> bool:
    effects = [command_effects(command.words) for command in line.commands]
    return line.is_opaque or not line.is_plain or any(each.destroys or each.runs_code for each in effects)


class TestWholeLines:
    def test_a_plain_line(self) -> None:
        text = "git log --format='%h %s' | head -n 5 2>&1; echo \"a;b\" > /dev/null"
        assert parse_command_line(text) == CommandLine(
            text=text,
            commands=(
                ShellCommand(("git", "log", "--format=%h %s"), is_plain=True),
                ShellCommand(("head", "-n", "5"), is_plain=True),
                ShellCommand(("echo", "a;b"), is_plain=True),
            ),
            redirections=(
                Redirection(">&", "1", writes=False, is_harmless=True),
                Redirection(">", "/dev/null", writes=True, is_harmless=True),
            ),
            is_plain=True,
            is_opaque=False,
            doubts=(),
            program_names=("git", "head", "echo"),
        )

    def test_a_line_that_is_plain_but_for_a_redirection(self) -> None:
        text = "ls src > 'out file' 2>/dev/null"
        assert parse_command_line(text) == CommandLine(
            text=text,
            commands=(ShellCommand(("ls", "src"), is_plain=True),),
            redirections=(
                Redirection(">", "out file", writes=True, is_harmless=False),
                Redirection(">", "/dev/null", writes=True, is_harmless=True),
            ),
            is_plain=False,
            is_opaque=False,
            doubts=(REDIRECTS,),
            program_names=("ls",),
        )

    def test_wrappers_and_what_they_wrap(self) -> None:
        text = 'sudo -u bob env A=1 bash -lc "touch MARK; ls"'
        inner = ("bash", "-lc", "touch MARK; ls")
        assert parse_command_line(text) == CommandLine(
            text=text,
            commands=(
                ShellCommand(("sudo", "-u", "bob", "env", "A=1", *inner), is_plain=True),
                ShellCommand(("env", "A=1", *inner), is_plain=True, wrappers=("sudo",)),
                ShellCommand(inner, is_plain=True, wrappers=("sudo", "env")),
                ShellCommand(("touch", "MARK"), is_plain=True, wrappers=("sudo", "env", "bash")),
                ShellCommand(("ls",), is_plain=True, wrappers=("sudo", "env", "bash")),
            ),
            redirections=(),
            is_plain=True,
            is_opaque=False,
            doubts=(),
            program_names=("sudo", "env", "bash", "touch", "ls"),
        )

    def test_a_line_that_does_not_parse(self) -> None:
        line = parse_command_line("git log &&& touch MARK")
        assert (line.is_plain, line.is_opaque) == (False, True)
        assert "it cannot be parsed" in line.doubts

    def test_an_empty_line(self) -> None:
        doubts = ("it contains no command",)
        assert parse_command_line("") == CommandLine(
            "", (), (), is_plain=False, is_opaque=False, doubts=doubts, program_names=()
        )

    @pytest.mark.parametrize(
        ("text", "commands"),
        [
            (
                'git status && ls | wc -l; echo "a;b" & sleep 1',
                [("git", "status"), ("ls",), ("wc", "-l"), ("echo", "a;b"), ("sleep", "1")],
            ),
            ("echo 'x && y' || true", [("echo", "x && y"), ("true",)]),
            ("cd /tmp;", [("cd", "/tmp")]),
            ('bash -c "ls -l"', [("bash", "-c", "ls -l"), ("ls", "-l")]),
            ("sh -c ls", [("sh", "-c", "ls"), ("ls",)]),
            ("zsh  -c 'a b'", [("zsh", "-c", "a b"), ("a", "b")]),
            ("cmd.exe /c dir", [("cmd.exe", "/c", "dir"), ("dir",)]),
            ("ls -c x", [("ls", "-c", "x")]),
        ],
    )
    def test_splitting(self, text: str, commands: list[tuple[str, ...]]) -> None:
        assert [command.words for command in parse_command_line(text).commands] == commands

    @pytest.mark.parametrize(
        ("text", "roots"),
        [
            ("/usr/bin/git log", ("git",)),
            ('"my tool" -x', ("my tool",)),
            ("FOO=1 env", ("env",)),
            ("", ()),
            ("a | b && c; (d) & e", ("a", "b", "c", "d", "e")),
            ("git log; git status; ls", ("git", "ls")),
            ("echo $(whoami) `id`", ("echo", "whoami", "id")),
        ],
    )
    def test_roots(self, text: str, roots: tuple[str, ...]) -> None:
        assert parse_command_line(text).program_names == roots

    @pytest.mark.parametrize(
        ("text", "inner"),
        [
            ("echo $(ls)", True),
            ('echo "$(ls)"', True),
            ("echo '$(ls)'", False),
            ("echo \\$(ls)", None),
            ("echo `ls`", True),
            ('echo "`ls`"', True),
            ("echo '`ls`'", False),
            ("echo \\`ls\\`", False),
            ("diff <(ls) x", True),
            ('echo "<(ls)"', False),
            ("tee >(ls)", True),
            ("echo ${x:-$(ls)}", True),
            ("echo ${a[$(ls)]}", True),
            ("cat <<E\n$(ls)\nE", True),
            ("cat <<'E'\n$(ls)\nE", False),
        ],
    )
    def test_substitution(self, text: str, inner: bool | None) -> None:
        line = parse_command_line(text)
        if inner is None:
            assert line.is_opaque
        else:
            assert any(command.name == "ls" for command in line.commands) == inner

    @pytest.mark.parametrize("text", ["echo 'a > b'", 'echo "x >> y"', "git commit -m 'a <- b'"])
    def test_quoted_redirections_are_none(self, text: str) -> None:
        line = parse_command_line(text)
        assert (line.is_plain, line.redirections) == (True, ())


class TestOpaque:
    def test_what_cannot_be_seen(self) -> None:
        lines = list(map(parse_command_line, corpus("opaque_lines.txt")))
        assert [line for line in lines if line.is_plain or not line.is_opaque or not line.doubts] == []

    def test_what_is_not_plain_but_can_be_seen(self) -> None:
        lines = list(map(parse_command_line, corpus("seen_lines.txt")))
        assert [line for line in lines if line.is_plain or line.is_opaque] == []


NESTED = {
    "long": "ls " * 400_000,
    "one word": "echo " + "x" * 1_000_000,
    "zeros": "\0" * 1_000_000,
    "substitutions": "$(" * 20_000,
    "closed substitutions": "echo " + "$(echo " * 3_000 + ")" * 3_000,
    "strings": '"$(' * 20_000,
    "blocks": "{ " * 50_000,
    "functions": "f()" * 40_000,
    "expansions": "${x:-" * 20_000,
    "arrows": "<" * 60_000,
    "documents": "cat <<E;" * 10_000,
    "wrappers": "env " * 5_000 + "ls",
    "unknown options": "sudo --what " * 500 + "ls",
    "lines in lines": "bash -c '" * 400,
    "lists": "ls;" * 50_000,
    "quotes": "'" * 99_999,
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_hostile_sizes_end_soon(text: str) -> None:
    began = time.thread_time()
    line = parse_command_line(text)
    assert time.thread_time() - began < 4
    assert (line.is_plain, line.is_opaque) == (False, True)


PIECES = st.sampled_from(
    [
        *(
            "ls",
            "touch MARK",
            "$(",
            ")",
            "`",
            "'",
            '"',
            "\\",
            "\n",
            "{",
            "}",
            "((",
            "[[",
            "<<E\n",
            "E\n",
            ";",
            "&",
            "|",
        ),
        *("$", "#", "a[", "]", "case x in", "esac", "é", "\ud800", "\0", "\r", "=", "bash -c ", "env -S ", "xargs "),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
@example("\ud800")
@example("$'\\x'")
@example("$'\\U99999999' x")
def test_nothing_is_raised(text: str) -> None:
    line = parse_command_line(text)
    assert line.text == text
    assert bool(line.doubts) != line.is_plain
    assert not (line.is_plain and line.is_opaque)


# Differential: what bash does with random lines.

# Put together at random, these are plain as often as not.
NEARLY_PLAIN = [
    *(
        "ls",
        "git log",
        "cat x",
        "echo",
        "touch MARK",
        "touch",
        "MARK",
        "a=b",
        "HEAD~1",
        "'a;b'",
        '"c|d"',
        "'",
        '"',
        "''",
        "-x",
    ),
    *(
        ";",
        "&&",
        "||",
        "|",
        "&",
        "\n",
        "2>&1",
        ">/dev/null",
        "2>/dev/null",
        "&>/dev/null",
        "</dev/null",
        ">&2",
        "#",
        "!",
        "\\",
    ),
]


def random_line(chance: random.Random, depth: int = 0) -> str:
    if depth == 0 and chance.random() < 0.25:
        pieces = chance.choices(NEARLY_PLAIN, k=chance.randint(1, 9))
        return chance.choice(("ls", "git log", "echo")) + "".join(
            chance.choice((" ", " ", " ", "")) + piece for piece in pieces
        )
    choice = chance.random()
    if choice < 0.30 or depth > 3:
        text = chance.choice(SIMPLE if chance.random() < 0.6 else DISGUISED)
    elif choice < 0.65:
        text = random_line(chance, depth + 1) + chance.choice(JOINS) + random_line(chance, depth + 1)
    else:
        text = chance.choice(FRAMES).replace("@@", random_line(chance, depth + 1))
    if depth == 0 and chance.random() < 0.35:
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(text))
            text = text[:at] + chance.choice(NOISE) + text[at + chance.choice((0, 0, 1)) :]
    return text


def random_lines(seed: int, count: int) -> Iterator[str]:
    chance = random.Random(seed)
    found: set[str] = set()
    while len(found) < count:
        line = random_line(chance)
        if line not in found and "\0" not in line and len(line) < 2000:
            found.add(line)
            yield line


def test_bash_agrees(tmp_path: Path) -> None:
    lines = list(random_lines(seed=20240229, count=1200))
    marked = find_lines_that_run("touch", lines, tmp_path / "place")
    parsed = {line: parse_command_line(line) for line in lines}
    assert len(marked) > 300
    assert [line for line in marked if is_allowed(parsed[line])] == []
    assert [line for line in marked if not shows(parsed[line], "touch")] == []
    assert sum(map(is_allowed, parsed.values())) > 50
