"""Flags of a run, and the tokens of a command line.

The command line is split without argparse, whose import and set-up take longer than the rest of the start.
"""

from collections import deque
from collections.abc import Iterator, Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import _

SWITCHES = frozenset(
    {
        *("--yolo", "--trust", "--list-sessions", "--list-extensions", "--screen-reader", "--debug", "--help"),
        *("--version", "--strict-settings", "--raw-output", "--accept-raw-output-risk", "--acp", "--login"),
        *("--require-answers", "--agents-in-copies", "--detach", "--session-server"),
    }
)
LISTS = frozenset(
    {
        *("--allowed-tools", "--exclude-tools", "--allowed-mcp-server-names", "--include-directories"),
        *("--extensions", "--policy", "--admin-policy", "--answer"),
    }
)
TEXTS = frozenset({"--prompt", "--prompt-interactive"})
"""Flags whose value may be any word, even one that looks like a flag."""
SINGLE_VALUES = frozenset(
    {
        *("--model", "--output-format", "--approval-mode", "--session-id", "--session-file", "--delete-session"),
        *("--approve-plan", "--record", "--replay", "--max-turns", "--max-tokens", "--max-cost", "--timeout"),
    }
)
OPTIONAL_VALUES = {"--resume": "latest", "--worktree": "", "--sandbox": "true"}
"""Flags that may have a value, and the value that they have without one."""
SANDBOX_WORDS = ("auto", "required", "off", "true", "false", "docker", "podman", "runsc", "lxc", "sandbox-exec")
"""Values of `--sandbox` that may stand in the next word."""
SHORT_FLAGS = {
    "p": "--prompt",
    "i": "--prompt-interactive",
    "m": "--model",
    "o": "--output-format",
    "y": "--yolo",
    "s": "--sandbox",
    "e": "--extensions",
    "l": "--list-extensions",
    "r": "--resume",
    "w": "--worktree",
    "d": "--debug",
    "h": "--help",
    "v": "--version",
    "V": "--version",
}
ALIASES = {"--skip-trust": "--trust", "--experimental-acp": "--acp"}
FLAGS = SWITCHES | LISTS | TEXTS | SINGLE_VALUES | frozenset(OPTIONAL_VALUES)
_NEEDS_VALUE = LISTS | TEXTS | SINGLE_VALUES
_VALUE_MAY_ADJOIN = _NEEDS_VALUE | {"--resume", "--worktree"}
"""Flags whose short form takes the rest of the word: `-r3`, but `-sy` is `-s -y`."""
_SWITCH_WORDS = {"true": True, "false": False}
_REPLACEMENTS = {
    "--fake-responses": "--replay",
    "--fake-responses-non-strict": "--replay",
    "--record-responses": "--record",
}
"""Flags of Gemini CLI's own tests, and ours with the same purpose."""


class Token(Frozen):
    """One flag with its value, one positional word, or a mistake.

    `flag` is the long name; it is empty for a word, and `--` for a word after `--`.
    """

    flag: str = ""
    value: str | bool = ""
    error: str = ""


def split_words(words: Sequence[str]) -> Iterator[Token]:
    """Split a command line. A mistake becomes a token with an error, and the rest is split all the same."""
    left = deque(words)
    while left:
        word = left.popleft()
        if word == "--":
            yield from (Token("--", rest) for rest in left)
            return
        if not _is_flag(word):
            yield Token("", word)
        elif word.startswith("--"):
            yield _long_flag(word, left)
        else:
            expanded = _expand_short_flag(word)
            if isinstance(expanded, Token):
                yield expanded
            else:
                left.extendleft(reversed(expanded))


def requested_information(words: Sequence[str]) -> str:
    """`--help` or `--version` if the command line asks for it, else an empty string."""
    asked = (token.flag for token in split_words(words) if token.flag in ("--help", "--version") and token.value)
    return next(asked, "")


def _is_flag(word: str) -> bool:
    """Whether the word is a flag, possibly with its value in the same word, which may be a sentence."""
    is_letter_with_value = word.startswith("-") and SHORT_FLAGS.get(word[1:2]) in _VALUE_MAY_ADJOIN
    return _looks_like_flag(word) or _canonical(word.partition("=")[0]) in FLAGS or is_letter_with_value


def _looks_like_flag(word: str) -> bool:
    """Whether the word has the form of a flag; sentences and numbers may begin with a hyphen too."""
    is_number = word[1:].replace(".", "", 1).isdecimal()
    return len(word) > 1 and word.startswith("-") and not is_number and len(word.split()) == 1


def _canonical(flag: str) -> str:
    """The name of a flag that is spelled in camel case (`--approvalMode`) or has an older name."""
    if not flag.startswith("--"):
        return flag
    if not flag.islower():
        flag = "".join(f"-{letter.lower()}" if "A" <= letter <= "Z" else letter for letter in flag)
    return ALIASES.get(flag, flag)


def _expand_short_flag(word: str) -> list[str] | Token:
    """Expand the first short flag of a word: `-yphi` is `--yolo -phi`."""
    letter, rest = word[1], word[2:]
    flag = SHORT_FLAGS.get(letter)
    if flag is None:
        return _unknown_letter(f"-{letter}", letter)
    if not rest:
        return [flag]
    if rest[0] == "=" or flag in _VALUE_MAY_ADJOIN:
        return [f"{flag}={rest.removeprefix('=')}"]
    if rest[0] not in SHORT_FLAGS:
        return _unknown_letter(word, rest[0])
    return [flag, f"-{rest}"]


def _long_flag(word: str, left: deque[str]) -> Token:
    """The token of a flag, whose value may be the next word."""
    spelled, has_value, given = word.partition("=")
    flag = _canonical(spelled)
    if flag not in FLAGS:
        switch = _canonical(f"--{flag[5:]}")
        if flag.startswith("--no-") and (switch in SWITCHES or switch == "--sandbox"):
            return _switched_off(switch, spelled, given if has_value else None)
        return Token(error=_unknown_flag(spelled, flag))
    if flag in SWITCHES:
        return _switch(flag, given if has_value else _take(left, _SWITCH_WORDS))
    if has_value:
        return Token(flag, given)
    if flag in OPTIONAL_VALUES:
        return Token(flag, _optional_value(flag, left))
    if left and (flag in TEXTS or not _looks_like_flag(left[0])):
        return Token(flag, left.popleft())
    return Token(error=_("The flag {flag} needs a value.", flag=flag))


def _switch(flag: str, given: str | None) -> Token:
    if given is None:
        return Token(flag, value=True)
    if given.lower() not in _SWITCH_WORDS:
        return Token(error=_("{flag} must be true or false, not {word!r}.", flag=flag, word=given))
    return Token(flag, _SWITCH_WORDS[given.lower()])


def _switched_off(flag: str, spelled: str, given: str | None) -> Token:
    """The token of `--no-NAME`."""
    if given is not None:
        return Token(error=_("The flag {flag} takes no value.", flag=spelled))
    return Token(flag, "off" if flag == "--sandbox" else False)


def _optional_value(flag: str, left: deque[str]) -> str:
    if flag == "--sandbox":
        taken = _take(left, SANDBOX_WORDS)
    else:
        taken = left.popleft() if left and not _looks_like_flag(left[0]) else None
    return OPTIONAL_VALUES[flag] if taken is None else taken


def _take(left: deque[str], choices: Sequence[str] | dict[str, bool]) -> str | None:
    """The next word if it is one of these."""
    return left.popleft() if left and left[0] in choices else None


def _unknown_letter(spelled: str, letter: str) -> Token:
    other = letter.swapcase()
    hint = " " + _("Did you mean {word}?", word=f"-{other}") if other in SHORT_FLAGS else ""
    return Token(error=_("Unknown flag {flag}.", flag=spelled) + hint)


def _unknown_flag(spelled: str, flag: str) -> str:
    from tejat.cli.help.suggestions import did_you_mean

    if flag in _REPLACEMENTS:
        return _("Unknown flag {flag}. Use {other} FILE instead.", flag=spelled, other=_REPLACEMENTS[flag])
    return _("Unknown flag {flag}.", flag=spelled) + did_you_mean(flag, (*sorted(FLAGS), *ALIASES))
