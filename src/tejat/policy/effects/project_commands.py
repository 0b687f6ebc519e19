"""Test, build and check commands of projects: how they begin, and the options whose effects are known."""

import re
from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.policy.shell.words import word_set

_PYTHON = re.compile(r"python(?:3(?:\.[0-9]+)?)?\Z")
# Where the tools of a project lie in the project itself.
_LOCAL_PROGRAM = re.compile(r"(?:\./)?(?:(?:\.?venv|env)/bin|node_modules/\.bin)/(?P<name>[\w.-]+)\Z")
# Assignments, and files that hold further arguments.
_NO_OPERAND = re.compile(r"@|[^/]*=")


class CommandOptions(Frozen):
    """The options of a command that do no more than choose what is run and how it is reported.

    `letters` may be joined behind one dash. `values` take one, as the next word or after `=`. With `operands` other
    words may be paths and names of tests, with a pattern there only words that match it. `rest` and `rest_values` are
    the options after `--`.
    """

    letters: str = ""
    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    operands: bool | re.Pattern[str] = False
    rest: frozenset[str] = frozenset()
    rest_values: frozenset[str] = frozenset()

    def cover(self, words: Sequence[str]) -> bool:
        """Return whether all words are known options with their values, or operands."""
        at = 0
        while at < len(words):
            word = words[at]
            if word == "--":
                return _covers_rest(words[at + 1 :], self)
            step = self._step(word, words[at + 1 :])
            if not step:
                return False
            at += step
        return True

    def _step(self, word: str, following: Sequence[str]) -> int:
        """Return how many words an option or an operand takes, 0 if it is not known."""
        if not word.startswith("-"):
            return int(self._is_operand(word))
        name, equals, _value = word.partition("=")
        if equals:
            return int(name in self.values or word in self.flags)
        if name in self.values and following and not following[0].startswith("-"):
            return 2
        is_cluster = word[:2] != "--" and len(word) > 1 and set(word[1:]) <= set(self.letters)
        return int(word in self.flags or is_cluster or self._is_count(word))

    def _is_count(self, word: str) -> bool:
        """Return whether it is an option with a number behind it: `-j8`, `-n4`."""
        is_known = word[:2] in self.values or word[1:2] in self.letters
        return is_known and word[:2] != "--" and word[2:].isdecimal()

    def _is_operand(self, word: str) -> bool:
        if isinstance(self.operands, bool):
            return self.operands and not _NO_OPERAND.match(word)
        return self.operands.match(word) is not None


class ProjectCommand(Frozen):
    """A command of the table: its first words, and whether all that follows is known."""

    prefix: tuple[str, ...]
    is_understood: bool


def find_project_command(words: Sequence[str]) -> ProjectCommand | None:
    """Return the test, build or check command that these words are, None if they are another one."""
    if not words:
        return None
    name = _table_name(words[0])
    for beginning, options in _COMMANDS.get(name, ()):
        after = words[1 : 1 + len(beginning)]
        if len(after) == len(beginning) and all(map(_matches, beginning, after)):
            length = 1 + len(beginning)
            return ProjectCommand(tuple(words[:length]), options.cover(words[length:]))
    return None


def _table_name(word: str) -> str:
    local = _LOCAL_PROGRAM.match(word)
    name = local["name"] if local else word
    return "python" if _PYTHON.match(name) else name


def _matches(expected: "str | re.Pattern[str]", word: str) -> bool:
    return word == expected if isinstance(expected, str) else expected.match(word) is not None


def _covers_rest(words: Sequence[str], options: CommandOptions) -> bool:
    """Return whether the words after `--` are known. Without a table there must be none."""
    inner = CommandOptions(flags=options.rest, values=options.rest_values, operands=bool(options.rest))
    return inner.cover(words)


def _options(
    letters: str = "",
    flags: str = "",
    values: str = "",
    *,
    operands: bool | str = False,
    rest: str = "",
    rest_values: str = "",
) -> CommandOptions:
    pattern = re.compile(rf"(?:{operands})\Z") if isinstance(operands, str) else operands
    return CommandOptions(letters, word_set(flags), word_set(values), pattern, word_set(rest), word_set(rest_values))


_PYTEST = _options(
    "qvxsl",
    """
    -ra -rA -rf -rfE -rP -rs -rx --quiet --verbose --exitfirst --showlocals --lf --last-failed --ff --failed-first
    --nf --new-first --sw --stepwise --co --collect-only --no-header --no-summary --disable-warnings --strict-markers
    --strict-config --no-cov --cov --cov-branch --full-trace --doctest-modules
    --tb=short --tb=long --tb=line --tb=native --tb=no --tb=auto --color=no --color=yes --color=auto
    --cov-report=term --cov-report=term-missing --cov-report=term-missing:skip-covered --capture=no --capture=fd
    """,
    "-k -m -n --numprocesses --maxfail --durations --durations-min --cov --cov-fail-under --timeout --deselect --ignore"
    " --count --tb --color --verbosity --dist",
    operands=True,
)
_UNITTEST = _options(
    "vqfb",
    "--verbose --quiet --failfast --buffer --locals",
    "-k -s -p -t --start-directory --pattern --top-level-directory --durations",
    operands=True,
)
_RUFF_CHECK = _options(
    "q",
    "--quiet --no-fix --statistics --show-files --show-settings --diff --preview --no-cache",
    "--select --ignore --extend-select --extend-ignore --output-format --exclude --target-version --line-length",
    operands=True,
)
_RUFF_FORMAT = _options("q", "--quiet --check --diff --preview --no-cache", "--exclude --line-length", operands=True)
_MYPY = _options(
    "v",
    """
    --strict --show-error-codes --no-error-summary --pretty --ignore-missing-imports --no-incremental
    --show-column-numbers --no-color-output --check-untyped-defs --warn-unused-ignores
    --explicit-package-bases --namespace-packages
    """,
    "-p --package -m --module --python-version --platform --follow-imports",
    operands=True,
)
_PYRIGHT = _options("", "--stats --warnings --outputjson", "--level --pythonversion --pythonplatform", operands=True)
_TSC = _options(
    "",
    "--noEmit --strict --skipLibCheck --pretty --listFiles --build -b",
    "-p --project --target --module --moduleResolution --jsx",
)
_ESLINT = _options(
    "",
    "--quiet --no-color --color --no-cache --no-error-on-unmatched-pattern",
    "--ext --max-warnings",
    operands=True,
)
_JEST = _options(
    "i",
    "--ci --coverage --runInBand --bail --verbose --silent --no-cache --passWithNoTests --watchAll=false",
    "-t --testNamePattern --testPathPattern --maxWorkers -w",
    operands=True,
)
_VITEST = _options(
    "", "--coverage --run --no-color --passWithNoTests", "-t --testNamePattern --reporter --bail", operands=True
)
_SCRIPT = _options("s", "--silent --if-present --quiet", "-w --workspace")
_CARGO = _options(
    "qv",
    """
    --release --all --workspace --all-targets --all-features --no-default-features --lib --bins --tests --examples
    --benches --doc --quiet --verbose --locked --offline --frozen --no-run --no-fail-fast --keep-going
    """,
    "-p --package --test --bin --example --bench --features -F -j --jobs --profile --message-format --color --exclude",
    operands=True,
    rest="--nocapture --no-capture --ignored --include-ignored --exact --list --quiet",
    rest_values="--test-threads --skip --color",
)
_CLIPPY = _options(
    "qv",
    "--release --all --workspace --all-targets --all-features --no-default-features --lib --bins --tests --examples"
    " --no-deps --quiet --verbose --locked --offline --frozen --keep-going",
    "-p --package --bin --features -F -j --jobs --message-format --color --exclude",
    rest="-Dwarnings",
    rest_values="-D -W -A --deny --warn --allow",
)
_CARGO_FORMAT = _options("qv", "--check --all --quiet --verbose", "-p --package")
_GO = _options(
    "v",
    "-race -short -cover -failfast -json -n -x -a -benchmem -trimpath",
    "-run -skip -bench -count -timeout -parallel -cpu -benchtime -covermode -shuffle",
    operands=True,
)
_GO_VET = _options("v", "-json -n -x", operands=True)
_TARGET = "test|tests|check|build|lint|all|typecheck|unittest|unit|(?:test|check|lint)[-_][A-Za-z0-9_-]+"
# The number of jobs is optional: a word after -j may be a target.
_MAKE = _options("skj", "--silent --quiet --keep-going --no-print-directory", operands=rf"{_TARGET}|[0-9]+")
_MAVEN = _options(
    "qBoe", "--quiet --batch-mode --offline --no-transfer-progress -ntp", operands="test|verify|compile|package"
)
_GRADLE = _options(
    "qsi",
    "--quiet --offline --no-daemon --stacktrace --info --console=plain",
    "--tests",
    operands="test|build|check|assemble",
)
_CTEST = _options(
    "VQN",
    "-VV --verbose --output-on-failure --quiet --stop-on-failure --rerun-failed --no-tests=error",
    "-R -E -L -j --parallel -C --build-config --test-dir --timeout --tests-regex --exclude-regex --label-regex",
)
_TOX = _options("qvp", "--quiet --verbose --parallel", operands="auto|all|[0-9]+")
_NOX = _options("r", "--reuse-existing-virtualenvs --no-install")

_ENVIRONMENT = re.compile(r"(?:py|test|unit|lint|type|check|mypy|ruff|cov)[\w.,-]*\Z")
_SCRIPT_NAME = re.compile(r"(?:test|tests|build|lint|check|typecheck|type-check|tsc)(?::[\w:-]+)?\Z")
_TARGET_NAME = re.compile(rf"(?:{_TARGET})\Z")

_Beginning = tuple["str | re.Pattern[str]", ...]
_Rows = tuple[tuple[_Beginning, CommandOptions], ...]

_PYTHON_TOOLS: dict[str, _Rows] = {
    **dict.fromkeys(("pytest", "py.test"), (((), _PYTEST),)),
    "tox": ((("-e", _ENVIRONMENT), _TOX), ((), _TOX)),
    "nox": ((("-s", _ENVIRONMENT), _NOX), ((), _NOX)),
    "ruff": ((("check",), _RUFF_CHECK), (("format", re.compile(r"--(?:check|diff)\Z")), _RUFF_FORMAT)),
    "mypy": (((), _MYPY),),
    **dict.fromkeys(("pyright", "basedpyright"), (((), _PYRIGHT),)),
    "python": (
        (("-m", "pytest"), _PYTEST),
        (("-m", "unittest"), _UNITTEST),
        (("-m", "mypy"), _MYPY),
        (("-m", "ruff", "check"), _RUFF_CHECK),
    ),
}
_NODE_TOOLS: dict[str, _Rows] = {
    "tsc": (((), _TSC),),
    "eslint": (((), _ESLINT),),
    "jest": (((), _JEST),),
    "vitest": ((("run",), _VITEST),),
}


def _behind(words: tuple[str, ...], tools: dict[str, _Rows]) -> _Rows:
    """Return the rows of tools that another program starts."""
    return tuple(((*words, tool, *beginning), options) for tool, rows in tools.items() for beginning, options in rows)


_COMMANDS: dict[str, _Rows] = {
    **_PYTHON_TOOLS,
    **_NODE_TOOLS,
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm"), _behind(("run",), _PYTHON_TOOLS)),
    "npx": _behind((), _NODE_TOOLS),
    **dict.fromkeys(("npm", "bun"), ((("test",), _SCRIPT), (("run", _SCRIPT_NAME), _SCRIPT))),
    **dict.fromkeys(("pnpm", "yarn"), (((_SCRIPT_NAME,), _SCRIPT), (("run", _SCRIPT_NAME), _SCRIPT))),
    "cargo": (
        *(((verb,), _CARGO) for verb in ("test", "build", "check")),
        (("clippy",), _CLIPPY),
        (("fmt", "--check"), _CARGO_FORMAT),
    ),
    "go": (*(((verb,), _GO) for verb in ("test", "build")), (("vet",), _GO_VET)),
    **dict.fromkeys(("make", "gmake"), (((_TARGET_NAME,), _MAKE),)),
    **dict.fromkeys(("mvn", "./mvnw"), tuple(((verb,), _MAVEN) for verb in ("test", "verify", "compile", "package"))),
    **dict.fromkeys(("gradle", "./gradlew"), tuple(((verb,), _GRADLE) for verb in ("test", "build", "check"))),
    "ctest": (((), _CTEST),),
}
