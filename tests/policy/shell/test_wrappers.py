"""What wrappers run, in all the spellings that people and models use."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.words import ShellWord, literal_word, parse_word
from tejat.policy.shell.wrappers import base_name, command_names, unwrap_command

WRAPPED_TOUCH = [
    "env touch M",
    "bash touch M",
    "bash -x touch M",
    "source touch M",
    ". touch",
    "env -i touch M",
    "env A=1 B=2 touch M",
    "env -u X touch M",
    "env -uX touch M",
    "env --unset X touch M",
    "env -C / touch M",
    "env -- touch M",
    "env - touch M",
    "/usr/bin/env touch M",
    "sudo touch M",
    "sudo -u bob touch M",
    "sudo -ubob -n touch M",
    "sudo A=1 touch M",
    "sudo --user bob touch M",
    "sudo --user=bob touch M",
    "sudo -- touch M",
    "doas -u bob touch M",
    "nohup touch M",
    "nice touch M",
    "nice -n 5 touch M",
    "nice -5 touch M",
    "nice --adjustment=5 touch M",
    "ionice -c 3 touch M",
    "ionice -c3 -n 2 touch M",
    "timeout 5 touch M",
    "timeout -k 1 5 touch M",
    "timeout -s KILL 5 touch M",
    "timeout --signal=KILL 5 touch M",
    "timeout --preserve-status 5 touch M",
    "setsid -w touch M",
    "stdbuf -oL touch M",
    "stdbuf -o L touch M",
    "time -p touch M",
    "time A=1 touch M",
    "coproc touch M",
    "command touch M",
    "command -p touch M",
    "builtin touch M",
    "exec touch M",
    "exec -a ls touch M",
    "exec -c touch M",
    "xargs touch",
    "xargs -n 1 touch",
    "xargs -0 -P4 touch",
    "xargs --max-args 1 touch",
    "xargs -I {} touch {}",
    "xargs -d , touch M",
    "parallel touch",
    "parallel -j 4 touch ::: M",
    "busybox touch M",
    "toybox touch M",
    "find . -exec touch M ;",
    "find . -execdir touch {} +",
    "find . -name x -ok touch M ;",
    "find . -exec ls ; -exec touch M ;",
    "fd x -x touch",
    "chroot / touch M",
    "chroot --userspec bob / touch M",
    "unshare -r touch M",
    "nsenter -t 1 touch M",
    "bwrap --bind / / touch M",
    "strace touch M",
    "strace -f -o x touch M",
    "ltrace touch M",
    "gdb --args touch M",
    "chrt -f 1 touch M",
    "taskset 1 touch M",
    "taskset -c 0 touch M",
    "eatmydata touch M",
    "fakeroot -- touch M",
    "proot touch M",
    "systemd-run --scope touch M",
    "systemd-run -p A=1 touch M",
    "flock x touch M",
    "flock -n x touch M",
    "runuser -u bob touch M",
    "setpriv --no-new-privs touch M",
    "uv run touch M",
    "poetry run touch M",
    "npm exec touch M",
    "git bisect run touch M",
    "docker exec x -- touch M",
    "rlwrap touch M",
]
LINES_WITH_TOUCH = [
    "bash -c 'touch M'",
    "bash -lc 'touch M'",
    "bash -ec 'touch M'",
    "bash -c -- 'touch M'",
    "bash -c -x 'touch M'",
    "bash +x -c 'touch M'",
    "bash -o errexit -c 'touch M'",
    "bash -O extglob -c 'touch M'",
    "bash --norc -c 'touch M'",
    "bash --rcfile x -c 'touch M'",
    "sh -c 'touch M'",
    "/bin/sh -c 'touch M'",
    "zsh -c 'touch M'",
    "dash -c 'touch M'",
    "fish --command 'touch M'",
    "eval 'touch M'",
    "eval touch M",
    "eval -- touch M",
    "trap 'touch M' EXIT",
    "trap -- 'touch M' 0",
    "env -S 'touch M'",
    "env -S'touch M'",
    "env -iS 'touch M'",
    "env --split-string='touch M'",
    "env --split-string 'touch M'",
    "su -c 'touch M'",
    "su bob -c 'touch M'",
    "su --command='touch M'",
    "script -qc 'touch M' x",
    "script -c 'touch M'",
    "flock x -c 'touch M'",
    "watch 'touch M'",
    "watch -n 1 touch M",
    "ssh host touch M",
    "ssh -p 22 host 'touch M'",
    "ssh -o ProxyCommand='touch M' host",
    "ssh -oProxyCommand='touch M' host",
    "git -c alias.x='!touch M' x",
    "git -c core.pager='touch M' log",
    "git rebase -x 'touch M'",
    "git rebase --exec='touch M'",
    "git submodule foreach 'touch M'",
    "git submodule foreach touch M",
    "git grep -O'touch M' x",
    "git clone -u 'touch M' x",
    "git difftool --extcmd 'touch M'",
    "tar --to-command='touch M' -xf x",
    "tar --checkpoint-action=exec='touch M' -cf x y",
    "tar -I 'touch M' -xf x",
    "rsync -e 'touch M' a b",
    "rsync --rsh='touch M' a b",
    "zip -TT 'touch M' a b",
    "man -P 'touch M' ls",
    "tcpdump -z 'touch M'",
    "sort --compress-program='touch M'",
    "split --filter='touch M' x",
    "rg --pre 'touch M' x",
    "make SHELL='touch M'",
    "cmd.exe /c touch M",
    "cmd /k touch M",
    "powershell -Command touch M",
    "pwsh -c touch M",
    "parallel 'touch M' ::: x",
]
HIDDEN = [
    "bash",
    "bash -s",
    "bash -",
    "bash --norc",
    "bash /dev/stdin",
    "bash $x",
    'bash -c "$x"',
    "sh -i",
    "eval $x",
    'eval "ls $x"',
    "trap $x EXIT",
    "timeout $x ls",
    "find . $x",
    "at now",
    "batch",
    "su",
    "su bob",
    "parallel",
    "powershell -enc AAAA",
    "tar --to-command=$x -xf x",
    "git -c alias.x=$x x",
    "bash -s x",
]
NOTHING = [
    "ls -c x",
    "command -v git",
    "command -V git",
    "trap - EXIT",
    "trap",
    "bash --version",
    "npm run build",
    "env",
    "git log",
    "find .",
]


def words_of(text: str) -> list[ShellWord]:
    return (
        [parse_word(word) for word in text.split(" ")]
        if "$" in text
        else [literal_word(word) for word in shlex.split(text)]
    )


def test_commands_behind_wrappers() -> None:
    assert [text for text in WRAPPED_TOUCH if not wraps_touch(text)] == []


def wraps_touch(text: str) -> bool:
    wrapped = unwrap_command(words_of(text))
    names = [command[0].value for command in wrapped.commands] if wrapped else []
    return wrapped is not None and "touch" in names and wrapped.opaque_reason is None


def test_lines_behind_wrappers() -> None:
    assert [text for text in LINES_WITH_TOUCH if not wraps_line_with_touch(text)] == []


def wraps_line_with_touch(text: str) -> bool:
    wrapped = unwrap_command(words_of(text))
    lines = [line.removeprefix("env ") for line in wrapped.lines] if wrapped else []
    has_touch = any(line.startswith("touch M") for line in lines)
    return wrapped is not None and has_touch and wrapped.opaque_reason is None


@pytest.mark.parametrize("text", HIDDEN)
def test_what_cannot_be_seen(text: str) -> None:
    wrapped = unwrap_command(words_of(text))
    assert wrapped is not None
    assert wrapped.opaque_reason


@pytest.mark.parametrize("text", NOTHING)
def test_what_wraps_nothing(text: str) -> None:
    wrapped = unwrap_command(words_of(text))
    assert wrapped is None or (wrapped.commands, wrapped.lines, wrapped.opaque_reason) == ((), (), None)


def test_an_option_that_is_not_known_is_read_both_ways() -> None:
    wrapped = unwrap_command(words_of("sudo --new-option ls x"))
    assert wrapped is not None
    assert [[word.value for word in command] for command in wrapped.commands] == [["ls", "x"], ["x"]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("touch", ("touch",)),
        ("/usr/bin/touch", ("/usr/bin/touch", "touch")),
        ("./x/", ("./x/", "x")),
        ("/", ("/",)),
        ("", ("",)),
    ],
)
def test_names(name: str, expected: tuple[str, ...]) -> None:
    assert command_names(ShellCommand((name, "x"), is_plain=True)) == expected
    assert command_names(ShellCommand((name,), is_plain=True))[-1] == base_name(name)


NAMES = [text.split(" ")[0] for text in (*WRAPPED_TOUCH, *LINES_WITH_TOUCH, *HIDDEN)]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(["-c", "-S", "--", "-", "$x", "ls", "=", "-I", "--x=y", "", "{}", ":::"]), max_size=6),
)
def test_nothing_is_raised(name: str, rest: list[str]) -> None:
    unwrap_command([parse_word(word) for word in (name, *rest)])
