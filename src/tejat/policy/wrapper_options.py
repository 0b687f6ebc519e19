"""Wrappers whose command follows their own options: which of those take a value, and what may follow them."""

import re
from collections.abc import Mapping, Sequence

from tejat.core.value import value
from tejat.core.words import phrase
from tejat.policy.words import Word, names

Words = Sequence[Word]


@value
class Wrapped:
    """What a wrapper runs: commands given as words, lines that a shell will read, and why some of it is not to be seen.

    Where it depends on an option that is not known here, every reading is given.
    """

    commands: tuple[tuple[Word, ...], ...] = ()
    lines: tuple[str, ...] = ()
    hidden: str | None = None


ASSIGNMENT = re.compile(r"[^-=][^=]*=")


@value
class Prefix:
    """How to find the command behind a wrapper's own words.

    `valued` are the letters of short options, and `long` the long options, whose value is the next word; `operands` is
    how many words stand before the command.
    """

    valued: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0
    flags: frozenset[str] = frozenset()
    has_assignments: bool = False

    def wrapped(self, words: Words) -> Wrapped:
        starts: list[int] = []
        at = 1
        while at < len(words):
            word = words[at]
            if not word.is_literal:
                break
            step = self._option(word.value)
            if step is None:
                break
            if step == 0:
                # An option that is not known here: its value may be the next word, or the next word the command.
                starts.append(at + 2)
                step = 1
            at += step
            if word.value == "--":
                break
        starts = [start + self.operands for start in (at, *starts)]
        skipped = words[1 : at + self.operands]
        is_hidden = any(word.is_split and not word.is_literal for word in skipped)
        commands = tuple(tuple(words[start:]) for start in dict.fromkeys(starts) if start < len(words))
        return Wrapped(
            commands,
            hidden=phrase("{word} runs something that is computed", word=words[0].value) if is_hidden else None,
        )

    def _option(self, value: str) -> int | None:
        """How many words the option takes up, 0 where that is not known, None where it is none."""
        if self.has_assignments and ASSIGNMENT.match(value):
            return 1
        if value == "--" or value == "-":
            return 1
        if value.startswith("--"):
            name, equals, _ = value.partition("=")
            if equals or name in self.flags:
                return 1
            return 2 if name in self.long else 0
        if not value.startswith("-"):
            return None
        for index, letter in enumerate(value[1:], start=2):
            if letter in self.valued:
                return 2 if index == len(value) else 1
        return 1


PLAIN_PREFIX = Prefix()
PREFIXES: Mapping[str, Prefix] = {
    "builtin": PLAIN_PREFIX,
    "bundle": Prefix(operands=1),
    "bunx": PLAIN_PREFIX,
    "busybox": PLAIN_PREFIX,
    "caffeinate": Prefix("tw"),
    "catchsegv": PLAIN_PREFIX,
    "chpst": Prefix("ueolnmdfcrtbU/"),
    "chronic": PLAIN_PREFIX,
    "chroot": Prefix(operands=1, long=names("--groups --userspec")),
    "chrt": Prefix("TPD", operands=1),
    "coproc": Prefix(has_assignments=True),
    "cpulimit": Prefix("lpeP"),
    "cross-env": Prefix(has_assignments=True),
    "daemonize": Prefix("acelopuE"),
    "dbus-run-session": PLAIN_PREFIX,
    "doas": Prefix("Cu"),
    "dumb-init": Prefix("r"),
    "eatmydata": PLAIN_PREFIX,
    "entr": PLAIN_PREFIX,
    "exec": Prefix("a"),
    "fakeroot": Prefix("lsib"),
    "faketime": Prefix("f", operands=1),
    "firejail": PLAIN_PREFIX,
    "gchroot": Prefix(operands=1),
    "gdb": Prefix("x", long=names("--command --eval-command --directory --symbols")),
    "genv": Prefix("uCS", has_assignments=True),
    "gnice": Prefix("n", long=names("--adjustment")),
    "gnohup": PLAIN_PREFIX,
    "gosu": Prefix(operands=1),
    "gstdbuf": Prefix("ioe", long=names("--input --output --error")),
    "gtime": Prefix("fo"),
    "gtimeout": Prefix("ks", flags=names("--foreground --preserve-status --verbose"), operands=1),
    "ionice": Prefix("cnpPu", long=names("--class --classdata")),
    "ip": Prefix(operands=3),
    "linux32": PLAIN_PREFIX,
    "linux64": PLAIN_PREFIX,
    "logsave": Prefix(operands=1),
    "ltrace": Prefix("aeDFlnopsuwxA"),
    "nice": Prefix("n", long=names("--adjustment")),
    "nohup": PLAIN_PREFIX,
    "npx": Prefix("pc", long=names("--package --call --workspace")),
    "nsenter": Prefix("tSGW"),
    "numactl": Prefix("iPpmNCl"),
    "perf": Prefix("eo", operands=1),
    "pipenv": Prefix(operands=1),
    "pkexec": Prefix(long=names("--user")),
    "pnpx": PLAIN_PREFIX,
    "poetry": Prefix(operands=1),
    "prlimit": Prefix("op"),
    "proot": Prefix("rbqwvkip"),
    "proxychains": Prefix("f"),
    "proxychains4": Prefix("f"),
    "pyenv": Prefix(operands=1),
    "rbenv": Prefix(operands=1),
    "rlwrap": Prefix("abcCDfHlMopPqsSt"),
    "runcon": Prefix("turl"),
    "setarch": Prefix(operands=1),
    "setpriv": PLAIN_PREFIX,
    "setsid": PLAIN_PREFIX,
    "setuidgid": Prefix(operands=1),
    "softlimit": Prefix("abcdflmoprst"),
    "start-stop-daemon": Prefix("pxnusadrcNIkPRg"),
    "stdbuf": Prefix("ioe", long=names("--input --output --error")),
    "strace": Prefix("aeEoOpPsSuIbX"),
    "su-exec": Prefix(operands=1),
    "sudo": Prefix(
        "CDghpRrtTuU", flags=names("--preserve-env --login --stdin --non-interactive"), has_assignments=True
    ),
    "systemd-inhibit": PLAIN_PREFIX,
    "systemd-run": Prefix("HMptEGud"),
    "taskset": Prefix(operands=1),
    "time": Prefix("fo", has_assignments=True),
    "timeout": Prefix("ks", flags=names("--foreground --preserve-status --verbose"), operands=1),
    "tini": Prefix("pe"),
    "torify": PLAIN_PREFIX,
    "torsocks": PLAIN_PREFIX,
    "toybox": PLAIN_PREFIX,
    "tsocks": PLAIN_PREFIX,
    "unbuffer": PLAIN_PREFIX,
    "unshare": Prefix("SGRw"),
    "uvx": PLAIN_PREFIX,
    "valgrind": PLAIN_PREFIX,
    "xvfb-run": Prefix("enfps"),
}
SHELLS = names("bash sh zsh dash ksh ksh93 mksh ash fish rbash yash csh tcsh")

# Programs whose options hold commands, and those options.
COMMAND_OPTIONS: Mapping[str, frozenset[str]] = {
    "tar": names(
        "--to-command --use-compress-program -I --checkpoint-action --rsh-command --info-script -F --rmt-command"
    ),
    "bsdtar": names("--use-compress-program"),
    "rsync": names("-e --rsh --rsync-path"),
    "scp": names("-o -S"),
    "sftp": names("-o -S"),
    "zip": names("-TT --unzip-command"),
    "man": names("-P --pager -H --html"),
    "tcpdump": names("-z"),
    "sort": names("--compress-program"),
    "split": names("--filter"),
    "rg": names("--pre --hostname-bin"),
    "make": names("SHELL --eval"),
    "gmake": names("SHELL --eval"),
    "hyperfine": names("-p --prepare -c --cleanup -s --setup"),
    "entr": names("-s"),
    "nix-shell": names("--run --command"),
    "sg": names("-c"),
    "capsh": names("-c"),
}
