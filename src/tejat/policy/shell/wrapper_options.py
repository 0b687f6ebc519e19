"""Option syntax of wrapper commands: which options take a value, and where the wrapped command begins."""

import re
from collections.abc import Mapping, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.shell.words import ShellWord, word_set

ShellWords = Sequence[ShellWord]


class WrappedCommands(Frozen):
    """What a wrapper runs: commands as words, lines for a shell, and why some of it may be hidden.

    If it depends on an unknown option, all interpretations are included.
    """

    commands: tuple[tuple[ShellWord, ...], ...] = ()
    lines: tuple[str, ...] = ()
    opaque_reason: str | None = None


ASSIGNMENT = re.compile(r"[^-=][^=]*=")


class WrapperSyntax(Frozen):
    """How to find the command behind a wrapper's own arguments.

    The value of an option `short_options` (letters) or `long_options` is the next word;
    `operand_count` words precede the command, the last of which may be optional.
    """

    short_options: str = ""
    long_options: frozenset[str] = frozenset()
    operand_count: int = 0
    long_flags: frozenset[str] = frozenset()
    allows_assignments: bool = False
    is_last_operand_optional: bool = False

    def unwrap(self, words: ShellWords) -> WrappedCommands:
        """Return the commands that may begin after the wrapper's own arguments."""
        starts: list[int] = []
        at = 1
        while at < len(words):
            word = words[at]
            if not word.is_literal:
                break
            step = self._option_length(word.value)
            if step is None:
                break
            if step == 0:
                # Unknown option: the next word may be its value or the command.
                starts.append(at + 2)
                step = 1
            at += step
            if word.value == "--":
                break
        starts = [start + self.operand_count for start in (at, *starts)]
        if self.is_last_operand_optional:
            starts += [start - 1 for start in starts]
        skipped = words[1 : at + self.operand_count]
        commands = tuple(tuple(words[start:]) for start in dict.fromkeys(starts) if start < len(words))
        return WrappedCommands(
            commands, opaque_reason=computed_reason(words[0], [word for word in skipped if word.is_split])
        )

    def _option_length(self, value: str) -> int | None:
        """Return how many words the option takes, 0 if unknown, None if it is not an option."""
        if value in ("--", "-") or (self.allows_assignments and ASSIGNMENT.match(value)):
            return 1
        if value.startswith("--"):
            name, equals, _ = value.partition("=")
            if equals or name in self.long_flags:
                return 1
            return 2 if name in self.long_options else 0
        if not value.startswith("-"):
            return None
        for index, letter in enumerate(value[1:], start=2):
            if letter in self.short_options:
                return 2 if index == len(value) else 1
        return 1


def computed_reason(name: ShellWord, words: ShellWords) -> str | None:
    """Return why what a wrapper runs is hidden, None if all of these words are literal."""
    if all(word.is_literal for word in words):
        return None
    return lazy("{word} runs something that is computed", word=name.value)


NO_OPTIONS = WrapperSyntax()
_WITHOUT_OPTIONS = word_set(
    """
    aa-exec builtin bunx busybox catchsegv ccache chronic dbus-launch dbus-run-session eatmydata entr fakechroot
    firejail gnohup i386 i486 i586 i686 ifne linux32 linux64 nohup nq pnpx ppc ppc32 ppc64 s390 s390x sem setpriv setsid
    systemd-inhibit torify torsocks toybox tsocks tsp uname26 unbuffer uvx valgrind x86_64
    """
)
_WITH_ONE_OPERAND = word_set(
    "bundle envdir gchroot gosu logsave pipenv poetry pyenv rbenv setlock setuidgid su-exec taskset"
)
WRAPPERS: Mapping[str, WrapperSyntax] = {
    **dict.fromkeys(_WITHOUT_OPTIONS, NO_OPTIONS),
    **dict.fromkeys(_WITH_ONE_OPERAND, WrapperSyntax(operand_count=1)),
    "caffeinate": WrapperSyntax("tw"),
    "cgexec": WrapperSyntax("g"),
    "choom": WrapperSyntax("np", long_options=word_set("--adjust --pid")),
    "chpst": WrapperSyntax("ueolnmdfcrtbU/"),
    "chroot": WrapperSyntax(operand_count=1, long_options=word_set("--groups --userspec")),
    "chrt": WrapperSyntax("TPD", operand_count=1),
    **dict.fromkeys(("coproc", "cross-env"), WrapperSyntax(allows_assignments=True)),
    "cpulimit": WrapperSyntax("lpeP"),
    "daemonize": WrapperSyntax("acelopuE"),
    "doas": WrapperSyntax("Cu"),
    "dumb-init": WrapperSyntax("r"),
    "exec": WrapperSyntax("a"),
    "fakeroot": WrapperSyntax("lsib"),
    "faketime": WrapperSyntax("p", operand_count=1, long_flags=word_set("--exclude-monotonic")),
    "gdb": WrapperSyntax("x", long_options=word_set("--command --eval-command --directory --symbols")),
    "genv": WrapperSyntax("uCS", allows_assignments=True),
    "gtime": WrapperSyntax("fo"),
    "ionice": WrapperSyntax("cnpPu", long_options=word_set("--class --classdata")),
    "ip": WrapperSyntax(operand_count=3),
    "ltrace": WrapperSyntax("aeDFlnopsuwxA"),
    **dict.fromkeys(("nice", "gnice"), WrapperSyntax("n", long_options=word_set("--adjustment"))),
    "nsenter": WrapperSyntax("tSGW"),
    "numactl": WrapperSyntax("iPpmNCl"),
    "perf": WrapperSyntax("eo", operand_count=1),
    "pkexec": WrapperSyntax(long_options=word_set("--user")),
    "prlimit": WrapperSyntax("op"),
    "proot": WrapperSyntax("rbqwvkip"),
    **dict.fromkeys(("proxychains", "proxychains4"), WrapperSyntax("f")),
    "rlwrap": WrapperSyntax("abcCDfHlMopPqsSt"),
    "runcon": WrapperSyntax("turl"),
    "setarch": WrapperSyntax("p", operand_count=1, is_last_operand_optional=True),
    "softlimit": WrapperSyntax("abcdflmoprst"),
    "ssh-agent": WrapperSyntax("aEOPt"),
    "start-stop-daemon": WrapperSyntax("pxnusadrcNIkPRg"),
    **dict.fromkeys(("stdbuf", "gstdbuf"), WrapperSyntax("ioe", long_options=word_set("--input --output --error"))),
    "strace": WrapperSyntax("aeEoOpPsSuIbX"),
    "sudo": WrapperSyntax(
        "CDghpRrtTuU", long_flags=word_set("--preserve-env --login --stdin --non-interactive"), allows_assignments=True
    ),
    "systemd-run": WrapperSyntax("HMptEGud"),
    "time": WrapperSyntax("fo", allows_assignments=True),
    **dict.fromkeys(
        ("timeout", "gtimeout"),
        WrapperSyntax("ks", long_flags=word_set("--foreground --preserve-status --verbose"), operand_count=1),
    ),
    "tini": WrapperSyntax("pe"),
    "unshare": WrapperSyntax("SGRw"),
    "xvfb-run": WrapperSyntax("enfps"),
}
DYNAMIC_LINKER = re.compile(r"ld(?:-linux|-musl|64)?[-.\w]*\.so(?:\.[0-9]+)?\Z")
"""Names of the program that loads libraries; it can be given a program to run."""
LINKER_SYNTAX = WrapperSyntax(
    long_options=word_set("--library-path --inhibit-rpath --audit --preload --argv0 --glibc-hwcaps-prepend")
)
SHELLS = word_set("bash sh zsh dash ksh ksh93 mksh ash fish rbash yash csh tcsh")

# Options that contain commands, per program.
COMMAND_OPTIONS: Mapping[str, frozenset[str]] = {
    "tar": word_set(
        "--to-command --use-compress-program -I --checkpoint-action --rsh-command --info-script -F --rmt-command"
    ),
    "bsdtar": word_set("--use-compress-program"),
    "rsync": word_set("-e --rsh --rsync-path"),
    **dict.fromkeys(("scp", "sftp"), word_set("-o -S")),
    "zip": word_set("-TT --unzip-command"),
    "man": word_set("-P --pager -H --html"),
    "tcpdump": word_set("-z"),
    "sort": word_set("--compress-program"),
    "split": word_set("--filter"),
    "rg": word_set("--pre --hostname-bin"),
    **dict.fromkeys(("make", "gmake"), word_set("SHELL --eval")),
    "hyperfine": word_set("-p --prepare -c --cleanup -s --setup"),
    "entr": word_set("-s"),
    "nix-shell": word_set("--run --command"),
    "capsh": word_set("-c"),
    "execlineb": word_set("-c"),
    "nodemon": word_set("-x --exec"),
    "wget": word_set("--use-askpass"),
    "xterm": word_set("-e"),
}
