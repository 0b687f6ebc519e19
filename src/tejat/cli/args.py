"""Command line arguments of a run with a model.

They are parsed without argparse, whose import and set-up take longer than the rest of the start.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from tejat.core.agent.options import AgentOptions
from tejat.core.approval.modes import ApprovalMode, SandboxMode
from tejat.core.errors import UsageError
from tejat.core.frozen import frozen, replace
from tejat.core.i18n import _

FORMATS = ("text", "json", "stream-json")


class BadArguments(UsageError):
    """The command line is wrong."""


@frozen
class RunOptions:
    """The given flags, each under its own name. `prompt` may also be positional."""

    prompt: str | None = None
    prompt_interactive: str | None = None
    model: str | None = None
    output_format: str = "text"
    yolo: bool = False
    approval_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    allowed_mcp_server_names: tuple[str, ...] = ()
    include_directories: tuple[str, ...] = ()
    sandbox: str | None = None
    trust: bool = False
    resume: str | None = None
    session_id: str | None = None
    list_sessions: bool = False
    delete_session: str | None = None
    record: str | None = None
    replay: str | None = None
    max_turns: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    timeout: float | None = None
    screen_reader: bool = False
    debug: bool = False


def parse_args(words: Sequence[str]) -> RunOptions:
    """Parse the command line. Raises BadArguments."""
    options, prompt = _parse_words(words)
    if options.prompt is not None and options.prompt_interactive is not None:
        raise BadArguments(_("Cannot use both --prompt (-p) and --prompt-interactive (-i) together"))
    if prompt and (options.prompt is not None or options.prompt_interactive is not None):
        flag = "--prompt (-p)" if options.prompt is not None else "--prompt-interactive (-i)"
        raise BadArguments(_("Cannot use both a positional prompt and the {flag} flag together", flag=flag))
    if options.yolo and options.approval_mode:
        raise BadArguments(
            _("Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.")
        )
    if options.record and options.replay:
        raise BadArguments(_("Cannot use both --record and --replay together"))
    return replace(options, prompt=" ".join(prompt)) if prompt else options


def find_output_format(words: Sequence[str]) -> str:
    """Find the output format in a command line that is otherwise wrong."""
    options = RunOptions()
    left = deque(words)
    while left and (word := left.popleft()) != "--":
        with suppress(BadArguments):
            if not _is_flag(word):
                continue
            if word.startswith("--"):
                options = _apply_flag(options, word, left)
            else:
                left.extendleft(reversed(_expand_short_flag(word)))
    return options.output_format


def to_agent_options(options: RunOptions) -> AgentOptions:
    return AgentOptions(
        directories=(".", *_split(options.include_directories)),
        model=options.model,
        mode="yolo" if options.yolo else options.approval_mode,
        allowed_tools=options.allowed_tools,
        excluded_tools=tuple(_split(options.exclude_tools)),
        servers=tuple(_split(options.allowed_mcp_server_names)) if options.allowed_mcp_server_names else None,
        sandbox=options.sandbox,
        trusts_folder=options.trust,
        resume=options.resume,
        session_id=options.session_id,
        max_turns=options.max_turns,
        max_tokens=options.max_tokens,
        max_cost=options.max_cost,
        timeout=options.timeout,
        record=options.record,
        replay=options.replay,
    )


def _split(values: Sequence[str]) -> list[str]:
    """Split comma-separated lists and join repeated flags."""
    return [entry.strip() for value in values for entry in value.split(",") if entry.strip()]


def _parse_words(words: Sequence[str]) -> tuple[RunOptions, list[str]]:
    """The options from flags, and the positional words."""
    options, prompt = RunOptions(), list[str]()
    left = deque(words)
    while left:
        word = left.popleft()
        if word == "--":
            prompt += left
            break
        if not _is_flag(word):
            prompt.append(word)
        elif word.startswith("--"):
            options = _apply_flag(options, word, left)
        else:
            left.extendleft(reversed(_expand_short_flag(word)))
    return options, prompt


def _is_flag(word: str) -> bool:
    """Whether the word is a flag, possibly with its value in the same word, which may be a sentence."""
    is_letter_with_value = word.startswith("-") and _SHORT_FLAGS.get(word[1:2]) in _WITH_VALUE
    return _looks_like_flag(word) or word.partition("=")[0] in _FLAGS or is_letter_with_value


def _looks_like_flag(word: str) -> bool:
    """Whether the word has the form of a flag; sentences and numbers may begin with a hyphen too."""
    is_number = word[1:].replace(".", "", 1).isdecimal()
    return len(word) > 1 and word.startswith("-") and not is_number and len(word.split()) == 1


def _expand_short_flag(word: str) -> list[str]:
    """Expand the first short flag of a word: `-yphi` is `--yolo -phi`."""
    letter, rest = word[1], word[2:]
    flag = _SHORT_FLAGS.get(letter)
    if flag is None:
        raise BadArguments(_("There is no flag {flag}", flag=f"-{letter}"))
    if not rest:
        return [flag]
    if flag in _WITH_VALUE:
        return [f"{flag}={rest.removeprefix('=')}"]
    if rest[0] not in _SHORT_FLAGS:
        raise BadArguments(_("There is no flag {flag}", flag=word))
    return [flag, f"-{rest}"]


def _apply_flag(options: RunOptions, word: str, left: deque[str]) -> RunOptions:
    """The options with one more flag, whose value may be the next word."""
    flag, has_value, given = word.partition("=")
    if flag not in _FLAGS:
        raise BadArguments(_("There is no flag {flag}", flag=flag))
    name = _FIELDS.get(flag) or flag.removeprefix("--").replace("-", "_")
    if flag in _SWITCHES:
        if has_value:
            raise BadArguments(_("The flag {flag} takes no value", flag=flag))
        return replace(options, **{name: True})
    if not has_value:
        given = _next_value(flag, left)
    if flag in _LISTS:
        return replace(options, **{name: (*getattr(options, name), given)})
    return replace(options, **{name: _PARSERS[flag](flag, given)})


def _next_value(flag: str, left: deque[str]) -> str:
    if left and not _looks_like_flag(left[0]):
        return left.popleft()
    if flag == _RESUME:
        return "latest"
    raise BadArguments(_("The flag {flag} needs a value", flag=flag))


def _verbatim(_flag: str, word: str) -> str:
    return word


def _session_id(flag: str, word: str) -> str:
    """Check a session id: it must not look like a number of the list and be printable anywhere."""
    is_plain = word.isascii() and word.replace("-", "").replace("_", "").isalnum()
    if not is_plain or word.isdecimal() or len(word) > _MAX_ID_LENGTH:
        raise BadArguments(
            _(
                "{flag} must be of at most {most} letters, digits, - and _, and no number, but is {word!r}",
                flag=flag,
                most=_MAX_ID_LENGTH,
                word=word[:200],
            )
        )
    return word


def _one_of(choices: Sequence[str]) -> Callable[[str, str], str]:
    def read(flag: str, word: str) -> str:
        if word not in choices:
            known = ", ".join(choices)
            raise BadArguments(_("{flag} must be one of {known}, but is {word!r}", flag=flag, known=known, word=word))
        return word

    return read


def _whole_number(flag: str, word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise BadArguments(_("{flag} must be a whole number above 0, but is {word!r}", flag=flag, word=word))
    return number


def _positive_number(flag: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise BadArguments(_("{flag} must be a number above 0, but is {word!r}", flag=flag, word=word))
    return number


_RESUME = "--resume"
"""The only flag with an optional value."""
_MAX_ID_LENGTH = 100
_SWITCHES = frozenset({"--yolo", "--trust", "--skip-trust", "--list-sessions", "--screen-reader", "--debug"})
_LISTS = frozenset({"--allowed-tools", "--exclude-tools", "--allowed-mcp-server-names", "--include-directories"})
_PARSERS: Mapping[str, Callable[[str, str], object]] = {
    _RESUME: _verbatim,
    "--prompt": _verbatim,
    "--prompt-interactive": _verbatim,
    "--model": _verbatim,
    "--output-format": _one_of(FORMATS),
    "--approval-mode": _one_of(tuple(mode.value for mode in ApprovalMode)),
    "--sandbox": _one_of(tuple(SandboxMode)),
    "--session-id": _session_id,
    "--delete-session": _verbatim,
    "--record": _verbatim,
    "--replay": _verbatim,
    "--max-turns": _whole_number,
    "--max-tokens": _whole_number,
    "--max-cost": _positive_number,
    "--timeout": _positive_number,
}
_WITH_VALUE = frozenset({*_LISTS, *_PARSERS})
_FLAGS = _SWITCHES | _WITH_VALUE
_FIELDS = {"--skip-trust": "trust"}
_SHORT_FLAGS = {
    "p": "--prompt",
    "i": "--prompt-interactive",
    "m": "--model",
    "o": "--output-format",
    "y": "--yolo",
    "s": "--sandbox=required",
    "r": _RESUME,
    "d": "--debug",
}
