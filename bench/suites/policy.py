"""Rules and shell lines of unusual size: the time of a decision, of the start, and of the event loop meanwhile."""

import asyncio
import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.measurement import Measurement, seconds
from bench.support.scripted_run import scripted_run
from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.engine.calls.path_lookup import FileSystemLookup
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Tier
from tejat.workspace.threads.offload import run_blocking

_SHELL = "run_shell_command"
_PROGRAMS = (
    *("git", "npm", "cargo", "docker", "kubectl", "make", "python", "pytest", "ls"),
    *("cat", "grep", "rg", "find", "terraform", "helm", "go", "node", "yarn"),
)
_COMMANDS = 1024
_PATH_COMMANDS = (
    *("cd d{0}", "cp a{0} b{0}", "ln -s a{0} b{0}", "mv a{0} b{0}", "rm -rf a{0}", "tee a{0}", "echo {0} > a{0}"),
    *("cat a{0}/b", "mkdir -p a{0}", "touch a{0}", "chmod +x a{0}", "sed -i s/a/b/ a{0}", "find a{0} -name b"),
    *(
        "rsync -a s{0}/a d{0}/b",
        "install -m 644 ./a{0} b{0}",
        "git add a{0}",
        "ls *{0}",
        "tar xf a{0}",
        "awk /{0}/ a{0}",
    ),
    *("sudo rm a{0}", "grep -r x a{0}.key", "scp /tmp/a{0} ~/b{0}", "python3 a{0}.py"),
)
_ROUNDS = 7


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.realpath(scratch)
    yield _line_decision(root)
    yield _slowest_program(root)
    yield _loop_gap(root)
    yield _many_rules(root)
    yield from _odd_lines(root)
    yield _start(Path(scratch, "policy"))


def _line_decision(root: str) -> Measurement:
    engine = _engine(1000)
    _judge(engine, _line(len(_PROGRAMS), "warm"), root)  # tables of the rules and programs are made once
    lines = [_line(_COMMANDS, f"w{each}x") for each in range(_ROUNDS)]
    best = min(_processor_seconds(lambda line=line: _judge(engine, line, root)) for line in lines)
    detail = f"{len(lines[0]):,} characters, parsed and decided"
    return Measurement(f"{_COMMANDS:,} commands in a line against 1,000 rules", best * 1000, 50, "ms", detail)


def _slowest_program(root: str) -> Measurement:
    """The same with one program only, whose paths have to be resolved. No two rounds have the same ones."""
    engine = _engine(1000)
    times: dict[str, float] = {}
    for words in _PATH_COMMANDS:
        _judge(engine, words.format("warm"), root)
        lines = ["; ".join(words.format(f"{each}x{number}") for number in range(_COMMANDS)) for each in range(_ROUNDS)]
        times[words.split()[0]] = min(
            _processor_seconds(lambda line=line: _judge(engine, line, root)) for line in lines
        )
    slowest = max(times, key=times.__getitem__)
    detail = ", ".join(f"{name} {spent * 1000:.0f}" for name, spent in times.items())
    return Measurement(f"the same with one program, the slowest: {slowest}", times[slowest] * 1000, 50, "ms", detail)


def _loop_gap(root: str) -> Measurement:
    """The longest time in which the event loop does nothing while a line is judged in a thread."""
    engine, line = _engine(1000), _line(_COMMANDS)
    _judge(engine, line, root)
    gaps = [asyncio.run(_largest_gap(lambda: _judge(engine, line, root))) for _ in range(_ROUNDS)]
    detail = "least of several runs"
    return Measurement("the longest pause of the event loop meanwhile", min(gaps) * 1000, 25, "ms", detail)


async def _largest_gap(work: Callable[[], object]) -> float:
    judging = asyncio.ensure_future(run_blocking(lambda _: work()))
    largest, last = 0.0, time.perf_counter()
    while not judging.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        largest, last = max(largest, now - last), now
    return largest


def _many_rules(root: str) -> Measurement:
    engine = _engine(10_000)
    first = seconds(lambda: _judge(engine, "git status", root))
    best = min(_processor_seconds(lambda: _judge(engine, "git log -3", root)) for _ in range(_ROUNDS))
    detail = f"the first call takes {first * 1000:.0f} ms"
    return Measurement("a shell call with 10,000 rules", best * 1000, 2, "ms", detail)


def _odd_lines(root: str) -> Iterator[Measurement]:
    """How much longer a line of 64 KB takes than one of 16 KB, and at most."""
    engine = _engine(100)
    for name, build in _ODD_LINES.items():
        times: list[float] = []
        for size in (16_000, 64_000):
            line = build(size)
            times.append(min(_processor_seconds(lambda line=line: _judge(engine, line, root)) for _ in range(3)))
        detail = f"{times[0] * 1000:.1f} ms for 16 KB, {times[1] * 1000:.1f} ms for 64 KB"
        yield Measurement(f"a line of 64 KB over one of 16 KB: {name}", times[1] / max(times[0], 0.005), 6, "x", detail)


_ODD_LINES: dict[str, Callable[[int], str]] = {
    "one long word": lambda size: f"cat {'a' * size}",
    "many paths in one word": lambda size: f"cat {'=/a' * (size // 3)}",
    "many words": lambda size: "ls " + " ".join(f"a{number}" for number in range(size // 7)),
    "nested subshells": lambda size: "( " * (size // 4) + "ls" + " )" * (size // 4),
    "nested substitutions": lambda size: "echo " + "$(" * (size // 3) + "ls" + ")" * (size // 3),
    "a here-document": lambda size: "cat <<EOF\n" + "a line of text\n" * (size // 15) + "EOF\n",
    "assignments": lambda size: " ".join(f"a{number}=1" for number in range(size // 8)) + " ls",
    "unfinished arrays": lambda size: "a=(" * (size // 3),
    "unfinished functions": lambda size: "f()" * (size // 3),
}


def _start(directory: Path) -> Measurement:
    """The processor time of a run, because the time on the clock depends on what else the machine does."""
    many = scripted_run(directory / "many", {"policies/many.toml": _rules_text(10_000)})
    none = scripted_run(directory / "none", {})
    best_many = best_none = float("inf")
    for _ in range(20):
        best_none = min(best_none, _child_seconds(none))
        best_many = min(best_many, _child_seconds(many))
    detail = f"{best_many * 1000:.1f} ms against {best_none * 1000:.1f} ms of processor time"
    return Measurement("a run with 10,000 rules, over one without", best_many / best_none, 1.3, "x", detail)


def _child_seconds(work: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _rules_text(count: int) -> str:
    """Rules of all kinds, with commands, patterns for them, and patterns for arguments."""
    return "\n".join(
        f'[[rule]]\n{_conditions(number)}decision = "{("allow", "ask_user", "deny")[number % 3]}"\n'
        f"priority = {number % 20 * 50}\n"
        for number in range(count)
    )


def _conditions(number: int) -> str:
    if number % 10 == 9:
        return f'toolName = "write_file"\nargsPattern = "\\"file_path\\":\\"secret{number}/[a-z]+"\n'
    if number % 10 == 8 and number % 3:
        return f'toolName = "run_shell_command"\ncommandRegex = "tool{number}\\\\s+--force"\n'
    program = _PROGRAMS[number % len(_PROGRAMS)] if number % 2 else f"program{number}"
    return f'toolName = "run_shell_command"\ncommandPrefix = "{program} sub{number}"\n'


def _engine(count: int) -> PolicyEngine:
    return PolicyEngine(parse_rules(_rules_text(count), source="rules", tier=Tier.USER), ApprovalMode.DEFAULT)


def _line(count: int, word: str = "word") -> str:
    names: Sequence[str] = [name for name in _PROGRAMS if name != "git"]
    return "; ".join(f"{names[number % len(names)]} {word}{number}" for number in range(count))


def _judge(engine: PolicyEngine, line: str, root: str) -> object:
    facts = CallFacts(
        _SHELL,
        Kind.EXECUTE,
        {"command": line},
        (root,),
        "/nowhere",
        line=parse_command_line(line),
        directory=root,
        lookup=FileSystemLookup(),
    )
    return engine.decide(facts)


def _processor_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
