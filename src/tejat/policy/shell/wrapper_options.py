"""Option syntax of wrapper commands: which options take a value, and where the wrapped command begins."""

import re
from collections.abc import Mapping, Sequence

from tejat.core.frozen import frozen
from tejat.core.i18n import lazy
from tejat.policy.shell.words import ShellWord, word_set

ShellWords = Sequence[ShellWord]


@frozen
class WrappedCommands:
    """What a wrapper runs: commands as words, lines for a shell, and why some of it may be hidden.

    If it depends on an unknown option, all interpretations are included.
    """

    commands: tuple[tuple[ShellWord, ...], ...] = ()
    lines: tuple[str, ...] = ()
    opaque_reason: str | None = None


ASSIGNMENT = re.compile(r"[^-=][^=]*=")


@frozen
class WrapperSyntax:
    """How to find the command behind a wrapper's own arguments.

    The value of an option `short_options_with_value` (letters) or `long_options_with_value` is the next word;
    `operand_count` words precede the command.
    """

    short_options_with_value: str = ""
    long_options_with_value: frozenset[str] = frozenset()
    operand_count: int = 0
    long_flags: frozenset[str] = frozenset()
    allows_assignments: bool = False

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
        skipped = words[1 : at + self.operand_count]
        is_hidden = any(word.is_split and not word.is_literal for word in skipped)
        commands = tuple(tuple(words[start:]) for start in dict.fromkeys(starts) if start < len(words))
        return WrappedCommands(
            commands,
            opaque_reason=lazy("{word} runs something that is computed", word=words[0].value) if is_hidden else None,
        )

    def _option_length(self, value: str) -> int | None:
        """Return how many words the option takes, 0 if unknown, None if it is not an option."""
        if self.allows_assignments and ASSIGNMENT.match(value):
            return 1
        if value == "--" or value == "-":
            return 1
        if value.startswith("--"):
            name, equals, _ = value.partition("=")
            if equals or name in self.long_flags:
                return 1
            return 2 if name in self.long_options_with_value else 0
        if not value.startswith("-"):
            return None
        for index, letter in enumerate(value[1:], start=2):
            if letter in self.short_options_with_value:
                return 2 if index == len(value) else 1
        return 1


NO_OPTIONS = WrapperSyntax()
WRAPPERS: Mapping[str, WrapperSyntax] = {
    "builtin": NO_OPTIONS,
    "bundle": WrapperSyntax(operand_count=1),
    "bunx": NO_OPTIONS,
    "busybox": NO_OPTIONS,
    "caffeinate": WrapperSyntax("tw"),
    "catchsegv": NO_OPTIONS,
    "chpst": WrapperSyntax("ueolnmdfcrtbU/"),
    "chronic": NO_OPTIONS,
    "chroot": WrapperSyntax(operand_count=1, long_options_with_value=word_set("--groups --userspec")),
    "chrt": WrapperSyntax("TPD", operand_count=1),
    "coproc": WrapperSyntax(allows_assignments=True),
    "cpulimit": WrapperSyntax("lpeP"),
    "cross-env": WrapperSyntax(allows_assignments=True),
    "daemonize": WrapperSyntax("acelopuE"),
    "dbus-run-session": NO_OPTIONS,
    "doas": WrapperSyntax("Cu"),
    "dumb-init": WrapperSyntax("r"),
    "eatmydata": NO_OPTIONS,
    "entr": NO_OPTIONS,
    "exec": WrapperSyntax("a"),
    "fakeroot": WrapperSyntax("lsib"),
    "faketime": WrapperSyntax("f", operand_count=1),
    "firejail": NO_OPTIONS,
    "gchroot": WrapperSyntax(operand_count=1),
    "gdb": WrapperSyntax("x", long_options_with_value=word_set("--command --eval-command --directory --symbols")),
    "genv": WrapperSyntax("uCS", allows_assignments=True),
    "gnice": WrapperSyntax("n", long_options_with_value=word_set("--adjustment")),
    "gnohup": NO_OPTIONS,
    "gosu": WrapperSyntax(operand_count=1),
    "gstdbuf": WrapperSyntax("ioe", long_options_with_value=word_set("--input --output --error")),
    "gtime": WrapperSyntax("fo"),
    "gtimeout": WrapperSyntax("ks", long_flags=word_set("--foreground --preserve-status --verbose"), operand_count=1),
    "ionice": WrapperSyntax("cnpPu", long_options_with_value=word_set("--class --classdata")),
    "ip": WrapperSyntax(operand_count=3),
    "linux32": NO_OPTIONS,
    "linux64": NO_OPTIONS,
    "logsave": WrapperSyntax(operand_count=1),
    "ltrace": WrapperSyntax("aeDFlnopsuwxA"),
    "nice": WrapperSyntax("n", long_options_with_value=word_set("--adjustment")),
    "nohup": NO_OPTIONS,
    "npx": WrapperSyntax("pc", long_options_with_value=word_set("--package --call --workspace")),
    "nsenter": WrapperSyntax("tSGW"),
    "numactl": WrapperSyntax("iPpmNCl"),
    "perf": WrapperSyntax("eo", operand_count=1),
    "pipenv": WrapperSyntax(operand_count=1),
    "pkexec": WrapperSyntax(long_options_with_value=word_set("--user")),
    "pnpx": NO_OPTIONS,
    "poetry": WrapperSyntax(operand_count=1),
    "prlimit": WrapperSyntax("op"),
    "proot": WrapperSyntax("rbqwvkip"),
    "proxychains": WrapperSyntax("f"),
    "proxychains4": WrapperSyntax("f"),
    "pyenv": WrapperSyntax(operand_count=1),
    "rbenv": WrapperSyntax(operand_count=1),
    "rlwrap": WrapperSyntax("abcCDfHlMopPqsSt"),
    "runcon": WrapperSyntax("turl"),
    "setarch": WrapperSyntax(operand_count=1),
    "setpriv": NO_OPTIONS,
    "setsid": NO_OPTIONS,
    "setuidgid": WrapperSyntax(operand_count=1),
    "softlimit": WrapperSyntax("abcdflmoprst"),
    "start-stop-daemon": WrapperSyntax("pxnusadrcNIkPRg"),
    "stdbuf": WrapperSyntax("ioe", long_options_with_value=word_set("--input --output --error")),
    "strace": WrapperSyntax("aeEoOpPsSuIbX"),
    "su-exec": WrapperSyntax(operand_count=1),
    "sudo": WrapperSyntax(
        "CDghpRrtTuU", long_flags=word_set("--preserve-env --login --stdin --non-interactive"), allows_assignments=True
    ),
    "systemd-inhibit": NO_OPTIONS,
    "systemd-run": WrapperSyntax("HMptEGud"),
    "taskset": WrapperSyntax(operand_count=1),
    "time": WrapperSyntax("fo", allows_assignments=True),
    "timeout": WrapperSyntax("ks", long_flags=word_set("--foreground --preserve-status --verbose"), operand_count=1),
    "tini": WrapperSyntax("pe"),
    "torify": NO_OPTIONS,
    "torsocks": NO_OPTIONS,
    "toybox": NO_OPTIONS,
    "tsocks": NO_OPTIONS,
    "unbuffer": NO_OPTIONS,
    "unshare": WrapperSyntax("SGRw"),
    "uvx": NO_OPTIONS,
    "valgrind": NO_OPTIONS,
    "xvfb-run": WrapperSyntax("enfps"),
}
SHELLS = word_set("bash sh zsh dash ksh ksh93 mksh ash fish rbash yash csh tcsh")

# Options that contain commands, per program.
COMMAND_OPTIONS: Mapping[str, frozenset[str]] = {
    "tar": word_set(
        "--to-command --use-compress-program -I --checkpoint-action --rsh-command --info-script -F --rmt-command"
    ),
    "bsdtar": word_set("--use-compress-program"),
    "rsync": word_set("-e --rsh --rsync-path"),
    "scp": word_set("-o -S"),
    "sftp": word_set("-o -S"),
    "zip": word_set("-TT --unzip-command"),
    "man": word_set("-P --pager -H --html"),
    "tcpdump": word_set("-z"),
    "sort": word_set("--compress-program"),
    "split": word_set("--filter"),
    "rg": word_set("--pre --hostname-bin"),
    "make": word_set("SHELL --eval"),
    "gmake": word_set("SHELL --eval"),
    "hyperfine": word_set("-p --prepare -c --cleanup -s --setup"),
    "entr": word_set("-s"),
    "nix-shell": word_set("--run --command"),
    "sg": word_set("-c"),
    "capsh": word_set("-c"),
}
