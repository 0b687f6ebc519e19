"""Command line arguments of a run with a model."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from tejat.cli.flags import LISTS, SANDBOX_WORDS, Token, split_words
from tejat.core.agent.options import PLAN_APPROVALS, AgentOptions
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _

FORMATS = ("text", "json", "stream-json")


class BadArguments(UsageError):
    """The command line is wrong."""


class RunOptions(Frozen):
    """The given flags, each under its own name. `prompt` may also be positional.

    `sandbox` is the word after `--sandbox`, `true` if there is none and `off` for `--no-sandbox`. `screen_reader`,
    `output_format` and `session_server` are None if the settings decide.
    """

    prompt: str | None = None
    prompt_interactive: str | None = None
    model: str | None = None
    output_format: str | None = None
    yolo: bool = False
    approval_mode: str | None = None
    allowed_tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    allowed_mcp_server_names: tuple[str, ...] = ()
    policy_paths: tuple[str, ...] = ()
    admin_policy_paths: tuple[str, ...] = ()
    include_directories: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    list_extensions: bool = False
    answer: tuple[str, ...] = ()
    require_answers: bool = False
    approve_plan: str | None = None
    agents_in_copies: bool = False
    sandbox: str | None = None
    trust: bool = False
    resume: str | None = None
    session_id: str | None = None
    session_file: str | None = None
    worktree: str | None = None
    list_sessions: bool = False
    delete_session: str | None = None
    record: str | None = None
    replay: str | None = None
    max_turns: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    timeout: float | None = None
    screen_reader: bool | None = None
    strict_settings: bool = False
    raw_output: bool = False
    accept_raw_output_risk: bool = False
    acp: bool = False
    login: bool = False
    detach: bool = False
    session_server: bool | None = None
    debug: bool = False


def parse_args(words: Sequence[str]) -> RunOptions:
    """Parse the command line. Raises BadArguments."""
    options, prompt = RunOptions(), list[str]()
    for token in split_words(words):
        if token.error:
            raise BadArguments(token.error)
        if token.flag in ("", "--"):
            prompt.append(str(token.value))
        else:
            options = _apply(options, token)
    _check_combination(options, has_words=bool(prompt))
    _check_extensions(options.extensions)
    _check_answers(options.answer)
    return replace(options, prompt=" ".join(prompt)) if prompt else options


def find_output_format(words: Sequence[str]) -> str | None:
    """Find the output format in a command line that is otherwise wrong."""
    options = RunOptions()
    for token in split_words(words):
        if token.flag == "--output-format":
            with suppress(BadArguments):
                options = _apply(options, token)
    return options.output_format


def _check_combination(options: RunOptions, *, has_words: bool) -> None:
    """Raises BadArguments if flags exclude each other."""
    if options.prompt is not None and options.prompt_interactive is not None:
        raise BadArguments(_("Cannot use both --prompt (-p) and --prompt-interactive (-i) together"))
    if has_words and (options.prompt is not None or options.prompt_interactive is not None):
        flag = "--prompt (-p)" if options.prompt is not None else "--prompt-interactive (-i)"
        raise BadArguments(_("Cannot use both a positional prompt and the {flag} flag together", flag=flag))
    if options.yolo and options.approval_mode:
        raise BadArguments(
            _("Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.")
        )
    if options.record and options.replay:
        raise BadArguments(_("Cannot use both --record and --replay together"))
    sessions = {"--resume": options.resume, "--session-id": options.session_id, "--session-file": options.session_file}
    given = [flag for flag, value in sessions.items() if value is not None]
    if len(given) > 1:
        raise BadArguments(_("Cannot use both {one} and {other} together", one=given[0], other=given[1]))


def _check_extensions(values: Sequence[str]) -> None:
    """Raises BadArguments if `none` is one of several names."""
    names = [name.lower() for name in _split(values)]
    if "none" in names and set(names) != {"none"}:
        raise BadArguments(_("Cannot use both -e none and other extensions together"))


def _check_answers(values: Sequence[str]) -> None:
    """Raises BadArguments if an answer does not say which question it is for."""
    for value in values:
        header, _equals, answer = value.partition("=")
        if not header.strip() or not answer.strip():
            raise BadArguments(
                _(
                    "--answer must be HEADER=VALUE, not {word!r}. For example: --answer database=SQLite",
                    word=value[:200],
                )
            )


def to_agent_options(options: RunOptions) -> AgentOptions:
    return AgentOptions(
        directories=(".", *_split(options.include_directories)),
        model=options.model,
        mode="yolo" if options.yolo else options.approval_mode,
        allowed_tools=options.allowed_tools,
        excluded_tools=tuple(_split(options.exclude_tools)),
        servers=tuple(_split(options.allowed_mcp_server_names)) if options.allowed_mcp_server_names else None,
        policy_paths=tuple(_split(options.policy_paths)),
        admin_policy_paths=tuple(_split(options.admin_policy_paths)),
        extensions=_extensions(options.extensions) if options.extensions else None,
        answers=tuple(_answer(value) for value in options.answer),
        requires_answers=options.require_answers,
        approve_plan=options.approve_plan,
        agents_in_copies=options.agents_in_copies,
        strict_settings=options.strict_settings,
        sandbox=options.sandbox,
        trusts_folder=options.trust,
        resume=options.resume,
        session_id=options.session_id,
        session_file=options.session_file,
        max_turns=options.max_turns,
        max_tokens=options.max_tokens,
        max_cost=options.max_cost,
        timeout=options.timeout,
        record=options.record,
        replay=options.replay,
    )


def _extensions(values: Sequence[str]) -> tuple[str, ...]:
    """The names of the extensions to use: none for `none`."""
    return tuple(name for name in _split(values) if name.lower() != "none")


def _answer(value: str) -> tuple[str, str]:
    header, _equals, answer = value.partition("=")
    return header.strip(), answer.strip()


def _split(values: Sequence[str]) -> list[str]:
    """Split comma-separated lists and join repeated flags."""
    return [entry.strip() for value in values for entry in value.split(",") if entry.strip()]


def _apply(options: RunOptions, token: Token) -> RunOptions:
    """The options with one more flag. Raises BadArguments if its value is wrong."""
    flag, value = token.flag, token.value
    if flag in ("--help", "--version"):
        return options  # switched off: the command line asks for them before it is parsed
    name = _FIELDS.get(flag) or flag.removeprefix("--").replace("-", "_")
    if isinstance(value, bool):
        return replace(options, **{name: value})
    if flag in LISTS:
        return replace(options, **{name: (*getattr(options, name), value)})
    return replace(options, **{name: _PARSERS.get(flag, _verbatim)(flag, value)})


def _verbatim(_flag: str, word: str) -> str:
    return word


def _session_id(flag: str, word: str) -> str:
    """Check a session id: it must not look like a number of the list and be printable anywhere."""
    is_plain = word.isascii() and word.replace("-", "").replace("_", "").isalnum()
    if not is_plain or word.isdecimal() or len(word) > _MAX_ID_LENGTH:
        raise BadArguments(
            _(
                "{flag} must have at most {most} letters, digits, - and _, and must not be a number: {word!r}",
                flag=flag,
                most=_MAX_ID_LENGTH,
                word=word[:200],
            )
        )
    return word


def _one_of(choices: Sequence[str]) -> Callable[[str, str], str]:
    def read(flag: str, word: str) -> str:
        from tejat.cli.help.suggestions import did_you_mean

        if word not in choices:
            known = ", ".join(choices)
            message = _("{flag} must be one of {known}, not {word!r}.", flag=flag, known=known, word=word)
            raise BadArguments(message + did_you_mean(word, choices))
        return word

    return read


def _sandbox(flag: str, word: str) -> str:
    """The word that names a sandbox: `true` for one that works here, `off` for none."""
    word = _ON_OFF.get(word.lower(), word.lower())
    return _one_of(sorted({*SANDBOX_WORDS, "windows-native"} - {"false"}))(flag, word)


def _whole_number(flag: str, word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise BadArguments(_("{flag} must be an integer greater than 0, not {word!r}.", flag=flag, word=word))
    return number


def _positive_number(flag: str, word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise BadArguments(_("{flag} must be a number greater than 0, not {word!r}.", flag=flag, word=word))
    return number


_MAX_ID_LENGTH = 100
_ON_OFF = {"1": "true", "0": "off", "false": "off"}
_PARSERS: Mapping[str, Callable[[str, str], object]] = {
    "--output-format": _one_of(FORMATS),
    "--approval-mode": _one_of(tuple(mode.value for mode in ApprovalMode)),
    "--approve-plan": _one_of(PLAN_APPROVALS),
    "--sandbox": _sandbox,
    "--session-id": _session_id,
    "--max-turns": _whole_number,
    "--max-tokens": _whole_number,
    "--max-cost": _positive_number,
    "--timeout": _positive_number,
}
_FIELDS = {"--policy": "policy_paths", "--admin-policy": "admin_policy_paths"}
