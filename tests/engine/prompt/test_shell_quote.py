"""Arguments in a shell command stay a part of one word: judged by what bash itself makes of them."""

import os
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.engine.prompt.shell_quote import (
    MAX_COMMAND_LENGTH,
    UnsafePlaceholder,
    substitute_argument,
    substitute_places,
)

PLACE = "{{args}}"
BEHIND = "where quoting cannot protect it"
HOSTILE = [
    "plain",
    "two  words",
    "'; touch MARK #",
    '"; touch MARK; "',
    "$(touch MARK)",
    "`touch MARK`",
    "'$(touch MARK)'",
    '"$(touch MARK)"',
    "x\ntouch MARK\n",
    "x; touch MARK; x",
    "a[$(touch MARK)]",
    "${x:-$(touch MARK)}",
    "); touch MARK; (",
    "}; touch MARK; {",
    "]] ; touch MARK; [[",
    "EOF\ntouch MARK\nEOF\n",
    "\\'; touch MARK; \\'",
    "\\",
    "*",
    "-n",
    "~",
    "<(touch MARK)",
    "$'\\'; touch MARK'",
    "{{args}}",
    "ünïcödé \U0001f600",
]


def printed(line: str, directory: Path | str) -> str:
    done = subprocess.run(
        ["bash", "-c", line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=directory,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C.UTF-8"},
        timeout=20,
        check=False,
    )
    return done.stdout.decode()


# A command that prints its words, and what is around the argument in the word that it belongs to.
TAKEN = {
    "printf '<%s>' {{args}}": ("", ""),
    'printf "<%s>" "{{args}}"': ("", ""),
    "printf '<%s>' '{{args}}'": ("", ""),
    'printf "<%s>" "a {{args}} b"': ("a ", " b"),
    "printf '<%s>' 'a {{args}} b'": ("a ", " b"),
    "printf '<%s>' --name={{args}}": ("--name=", ""),
    "printf '<%s>' a\\ {{args}}": ("a ", ""),
    'printf "<%s>" "\\"{{args}}\\""': ('"', '"'),
    'printf "<%s>" "$(printf %s {{args}}.)"': ("", "."),
    'printf "<%s>" "$(printf %s "{{args}}").{{args}}"': None,
    "(printf '<%s>' {{args}})": ("", ""),
    "if true; then printf '<%s>' {{args}}; fi # it's done": ("", ""),
    "# don't worry\nprintf '<%s>' {{args}}": ("", ""),
    "HOME=x; printf '<%s>' \"${HOME}\"{{args}}": ("x", ""),
    "printf '<%s>' $'it\\'s '{{args}}": ("it's ", ""),
    "printf '<%s>' {{{args}}}": ("{", "}"),
    "[ -n {{args}} ] && echo x | grep -v {{args}} | printf '<%s>' {{args}}": ("", ""),
    "[[ -n x ]] && printf '<%s>' {{args}}": ("", ""),
    "x={{args}}; printf '<%s>' \"$x\"": ("", ""),
    "printf '<%s.>' \"$(cat <<< {{args}})\"": None,
    'bash -c \'printf "<%s>" "$1"\' name {{args}}': ("", ""),
    "printf '<%s>' \"${#}\"{{args}}": ("0", ""),
}


@pytest.mark.parametrize("command", [command for command, around in TAKEN.items() if around is not None])
def test_it_is_one_word_whatever_it_says(command: str, tmp_path: Path) -> None:
    before, after = TAKEN[command] or ("", "")
    for argument in HOSTILE:
        line = substitute_argument(command, PLACE, argument)
        assert printed(line, tmp_path) == f"<{before}{argument}{after}>", argument
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [command for command, around in TAKEN.items() if around is None])
def test_two_places_and_here_strings(command: str, tmp_path: Path) -> None:
    for argument in HOSTILE:
        kept = argument.rstrip("\n")  # a substitution takes them away
        expected = f"<{kept}.>" if "<<<" in command else f"<{kept}.{argument}>"
        assert printed(substitute_argument(command, PLACE, argument), tmp_path) == expected, argument
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "filled"),
    [
        ("ls {{args}}", "ls "),
        ('ls "{{args}}"', 'ls ""'),
        ("ls '{{args}}' {{args}}", "ls '' "),
        ("no place at all", "no place at all"),
        ("", ""),
    ],
)
def test_an_empty_argument_leaves_nothing(command: str, filled: str) -> None:
    assert substitute_argument(command, PLACE, "") == filled


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("echo \\{{args}}", "after a backslash"),
        ('echo "\\{{args}}"', "after a backslash"),
        ("ls # {{args}}", "in a comment"),
        ("ls;# x {{args}}", "in a comment"),
        ("echo $'{{args}}'", "inside $'...' quotes"),
        ("echo $(( {{args}} ))", "inside arithmetic"),
        ('echo "$(( {{args}} ))"', "inside arithmetic"),
        ("(( {{args}} ))", "inside arithmetic"),
        ("echo $[ {{args}} ]", "inside arithmetic"),
        ("a[{{args}}]=1", "inside an index"),
        ("a=(x); echo {{args}}", "inside an array"),
        ("a+=({{args}})", "inside an array"),
        ("cat <<EOF\n{{args}}\nEOF", "inside a here-document"),
        ("cat <<-'EOF'\n{{args}}\nEOF", "inside a here-document"),
        ("echo `ls {{args}}`", "after a backtick"),
        ('echo "`ls {{args}}`"', "after a backtick"),
        ("echo ${x:-{{args}}}", "inside a conditional expansion"),
        ('echo "${x:-a}" {{args}}', "inside a conditional expansion"),
        ("echo ${{args}}", "inside a conditional expansion"),
        ("[[ 1 -eq {{args}} ]]", "between [[ and ]]"),
        ('[[ 1 -eq "{{args}}" ]]', "between [[ and ]]"),
        ("case {{args}} in a) ;; esac", "after case"),
        ("eval ls {{args}}", "after eval"),
        ("let x={{args}}", "after let"),
        ("ssh host ls {{args}}", "after ssh"),
        ("/usr/bin/ssh host ls {{args}}", "after ssh"),
        ("trap {{args}} EXIT", "after trap"),
        ("read {{args}}", "after read"),
        ("export {{args}}", "after export"),
        ("printf -v {{args}} x", "after -v"),
        ("[ ! -v {{args}} ]", "after -v"),
        ("echo $'a {{args}}", "inside $'...' quotes"),
        ('bash -c "ls {{args}}"', "inside the text of another command"),
        ("/bin/sh -c 'ls {{args}}'", "inside the text of another command"),
        ("find . -exec sh -c 'ls {{args}}' ';'", "inside the text of another command"),
    ],
)
@pytest.mark.parametrize("argument", ["", "plain"])
def test_where_quotes_do_not_help_it_is_refused(command: str, where: str, argument: str) -> None:
    with pytest.raises(UnsafePlaceholder) as refusal:
        substitute_argument(command, PLACE, argument)
    assert str(refusal.value) == f"{PLACE} is {where}, {BEHIND}"


@pytest.mark.parametrize(
    ("command", "sign"), [("echo '{{args}}", "'"), ('echo {{args}} "', '"'), ("x=$(ls {{args}}", "(")]
)
def test_a_command_that_is_not_whole_is_refused(command: str, sign: str) -> None:
    with pytest.raises(UnsafePlaceholder) as refusal:
        substitute_argument(command, PLACE, "plain")
    assert str(refusal.value) == f"{PLACE} is in a command with an unclosed {sign}"


def test_a_long_command_is_not_read() -> None:
    line = f"echo {'x' * MAX_COMMAND_LENGTH}"
    assert substitute_argument(line, PLACE, "plain") == line
    with pytest.raises(UnsafePlaceholder) as refusal:
        substitute_argument(f"{line} {PLACE}", PLACE, "plain")
    assert str(refusal.value) == f"{PLACE} is in a command of more than 16384 characters"


@pytest.mark.parametrize("piece", ["[ ", "$' ", "$(", "((", "printf ", "# ", '"', "${", "a["])
def test_no_command_takes_long_to_read(piece: str) -> None:
    line = piece * (MAX_COMMAND_LENGTH // len(piece) - len(PLACE)) + PLACE
    began = time.process_time()
    with suppress(UnsafePlaceholder):
        substitute_argument(line, PLACE, "plain")
    assert time.process_time() - began < 2


FRAGMENTS = st.sampled_from(
    [
        *("echo ", "true ", "x", " ", ";", "\n", "&&", "|", "'", '"', "\\", "$(", "(", ")", "`", "${", "${x}", "}"),
        *(
            "${x:-",
            "$'",
            '$"',
            "#",
            " #",
            "<<<",
            "<<E\n",
            "\nE\n",
            "((",
            "$((",
            "))",
            "[[ ",
            " ]]",
            "[",
            "]",
            "a[",
            "=",
        ),
        *("case x in x) ", ";;", " esac", "if true; then ", " fi", "{ ", "; }", "<(", "!", "*", "a=", "a=(", "$x", "$"),
        *(
            PLACE,
            PLACE,
            f'"{PLACE}"',
            f"'{PLACE}'",
            f" {PLACE} ",
            "echo ",
            "eval ",
            "read ",
            "f() ",
            "@(",
            " -eq ",
            "-c ",
        ),
    ]
)


@settings(max_examples=250)
@given(pieces=st.lists(FRAGMENTS, min_size=1, max_size=14), argument=st.sampled_from(HOSTILE))
def test_nothing_that_is_accepted_runs_the_argument(pieces: list[str], argument: str) -> None:
    try:
        line = substitute_argument("".join([*pieces, PLACE]), PLACE, argument)
    except UnsafePlaceholder:
        return
    with tempfile.TemporaryDirectory() as directory:
        printed(line, directory)
        assert "MARK" not in os.listdir(directory), line


class TestPlaces:
    PLACES: ClassVar = {"${extensionPath}": "/e/a b", "${workspacePath}": "/plain", "${/}": "/"}

    def test_each_is_a_part_of_one_word(self) -> None:
        line = "cat ${extensionPath}${/}x ${workspacePath}${/}y"
        assert substitute_places(line, self.PLACES) == "cat '/e/a b'/x /plain/y"

    def test_a_plain_value_needs_no_quotes(self) -> None:
        assert substitute_places("bash -c '${workspacePath}/x'", self.PLACES) == "bash -c '/plain/x'"

    def test_where_quotes_do_not_help(self) -> None:
        with pytest.raises(UnsafePlaceholder):
            substitute_places("bash -c '${extensionPath}/x'", self.PLACES)

    def test_a_value_with_another_variable(self) -> None:
        with pytest.raises(UnsafePlaceholder):
            substitute_places("${a}", {"${a}": "/${b}", "${b}": "/x"})
