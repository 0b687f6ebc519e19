"""Random lines that may run `touch`, in the open and hidden in every way that is known."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote

_CORPORA = Path(__file__).parents[2] / "tests" / "policy"
_TOUCH = "touch MARK"


def _corpus(name: str) -> list[str]:
    written = (_CORPORA / name).read_text(encoding="utf-8").splitlines()
    return [line.replace("␤", "\n") for line in written if line and not line.startswith("## ")]


DISGUISED = _corpus("fuzz_commands.txt")
"""Single commands that run touch under another spelling."""
FRAMES = _corpus("fuzz_frames.txt")
"""Syntax around a line `@@`."""
SIMPLE = ["ls", "git log", "cat x", "echo a", _TOUCH, _TOUCH, "true", "false", ":", "/stubs/touch MARK"]
JOINS = [
    *(" ; ", ";", " && ", "&&", " || ", "||"),
    *(" | ", "|", " & ", "\n", " |& ", "&", " ;\n", "&&\n", " >o;", " 2>&1 | "),
]
NOISE = [
    *" '\"\\;&|<>(){}$`#!\n\t*?[]=~^",
    *("$(", "<<E", "E\n", "2>&1", "&>", "\\\n", "''", _TOUCH, "ls", ";;", "\r", "é"),
]

_PREFIXES = """
env|env A=1|env -i /stubs/env|env -u A|nohup|timeout 5|timeout -k 1 5|nice|nice -n 1|setsid -w|ionice -c 3|stdbuf -oL
setarch x86_64|setarch -R|setarch x86_64 -R|linux64|linux64 -R|i386|x86_64 -v|choom -n 0|choom -n 0 --|choom --adjust=0
taskset 1|taskset -c 0|chrt -o 0|prlimit --nofile=99|flock lock|ssh-agent|ssh-agent -t 9|unshare -r|setpriv --nnp
command|command -p --|builtin command|exec|exec -a ls|time|time -p|!|coproc|xargs|xargs -n 1|xargs -r -- env
find . -maxdepth 0 -exec|dbus-run-session --|env -S env|gdb -q -batch -ex run --args|parallel|/stubs/env|sudo
"""
PREFIXES = [prefix for line in _PREFIXES.strip().splitlines() for prefix in line.split("|")]
"""Commands that run the words after them."""

Carrier = Callable[[str], str]
SHELLS: list[Carrier] = [
    *(lambda line, shell=shell: f"{shell} {quote(line)}" for shell in ("bash -c", "sh -ec", "dash -c", "bash -lc")),
    *(
        lambda line, word=word: f"{word} {quote(line)}"
        for word in ("eval", "env -S", "script -qc", "sg root", "sg root -c")
    ),
    *(lambda line, end=end: f"trap {quote(line)} {end}" for end in ("EXIT", "0", "DEBUG; ls")),
    lambda line: f"bash <<< {quote(line)}",
    lambda line: f"echo {quote(line)} | sh",
    lambda line: f"printf '%s\\n' {quote(line)} | bash -s",
    lambda line: f"source <(echo {quote(line)})",
    lambda line: f". /dev/stdin <<< {quote(line)}",
    lambda line: f"bash --rcfile <(echo {quote(line)}) -ic true",
    lambda line: f"find . -maxdepth 0 -exec sh -c {quote(line)} \\;",
    lambda line: f"xargs -I% sh -c % <<< {quote(quote(line))}",
    lambda line: f"flock lock -c {quote(line)}",
    lambda line: f"git -c alias.x={quote('!' + line)} x",
    lambda line: f"tar --checkpoint=1 --checkpoint-action=exec={quote(line)} -cf o x",
    lambda line: f"split --filter={quote(line)} x",
    lambda line: f"/lib64/ld-linux-x86-64.so.2 /stubs/sh -c {quote(line)}",
    lambda line: f"mapfile -C {quote(line + ' #')} -c 1 < x",
    lambda line: f"compgen -C {quote(line)}",
    lambda line: f"PS4='$({line})'; set -x; ls",
    lambda line: f"xargs -a x -n 1 sh -c {quote(line)}",
]
"""Programs and builtins that are given a line."""

SUBSCRIPTS = r"""
z=([x]=1)|z+=([x]=1)|declare z=([x]=1)|declare -a z='([x]=1)'|z[x]=1|echo ${z[x]}|echo $((x))|((x))|let x|[[ x -eq 1 ]]
declare -i y=x|RANDOM=x|OPTIND=x|read RANDOM <<< x|printf -v RANDOM x|for RANDOM in x; do :; done|test -v "$x"
unset "$x"|printf -v "$x" y|read "$x" <<< y|declare "$x=1"|echo ${HOME:x}|declare -n r=$x; r=1|echo ${!x}|[ -v "$x" ]
declare -a z="([$x]=1)"|y="([$x]=1)"; declare -a z=$y|z=(); y="([$x]=1)"; declare z=$y|exec {z[x]}>o|export OPTIND="$x"
"""
_EVALUATED = [text for line in SUBSCRIPTS.strip().splitlines() for text in line.split("|")]


def _evaluated(text: str) -> Carrier:
    return lambda line: f"x='a[$({line})0]'; {text}"


EVALUATORS: list[Carrier] = [_evaluated(text) for text in _EVALUATED]
"""Places where bash evaluates a subscript out of a string."""


def _inline(program: str, code: Callable[[str], str]) -> list[Carrier]:
    """Code for an interpreter: as an argument, from a pipe, from a here-document and from a substitution."""
    interpreter = program.split(maxsplit=1)[0]
    return [
        lambda line: f"{program} {quote(code(line))}",
        lambda line: f"printf %s {quote(code(line))} | {interpreter}",
        lambda line: f"printf %s {quote(code(line))} | {interpreter} -",
        lambda line: f"{interpreter} <<'E'\n{code(line)}\nE\n",
        lambda line: f"{interpreter} <(printf %s {quote(code(line))})",
        lambda line: f"env {program} {quote(code(line))}",
    ]


def _string(line: str) -> str:
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("$", "\\$") + '"'


FOREIGN: list[Carrier] = [
    *_inline("python3 -c", lambda line: f"import os; os.system({line!r})"),
    *_inline("python3 -B -c", lambda line: f"import subprocess as s\ns.run({line!r}, shell=True)"),
    *_inline("perl -e", lambda line: f"system({_string(line)});"),
    *_inline("ruby -e", lambda line: f"system({_string(line)})"),
    *_inline("node -e", lambda line: f"require('child_process').execSync({_string(line)})"),
    *_inline("lua -e", lambda line: f"os.execute({_string(line)})"),
    *_inline("php -r", lambda line: f"system({_string(line)});"),
    lambda line: f"python3 -m timeit -n 1 -r 1 {quote(f'import os; os.system({line!r})')}",
    lambda line: f"perl -ne {quote(f'system({_string(line)})')} x",
    lambda line: f"perl {quote(f'-MPOSIX;system({_string(line)})')} -e1",
    lambda line: f"awk {quote(f'BEGIN{{system({_string(line)})}}')}",
    lambda line: f"awk {quote(f'BEGIN{{{_string(line)} | getline}}')}",
    lambda line: f"awk {quote(f'{{print | {_string(line)}}}')} x",
    lambda line: f"printf %s {quote(f'BEGIN{{system({_string(line)})}}')} | awk -f -",
    lambda line: f"awk -f /dev/stdin <<< {quote(f'BEGIN{{system({_string(line)})}}')}",
    lambda line: f"sed {quote('1e ' + line)} x",
    lambda line: f"sed -n -e p -e {quote('1e ' + line)} x",
    lambda line: f"sed {quote('s/.*/' + line.replace('/', chr(92) + '/').replace('&', chr(92) + '&') + '/e')} x",
    lambda line: f"printf '1e %s\\n' {quote(line)} | sed -f - x",
    lambda line: f"printf 'all:\\n\\t%s\\n' {quote(line)} | make -f -",
    lambda line: f"make -f <(printf 'all:\\n\\t%s\\n' {quote(line)})",
    lambda line: f"ed -s <<< {quote('!' + line)}",
    lambda line: f"vim -es -c {quote('!' + line)} -c q",
    lambda line: f"gdb -q -batch -ex {quote('shell ' + line)}",
    lambda line: f"sqlite3 :memory: {quote('.shell ' + line)}",
    lambda line: f"sqlite3 :memory: <<< {quote('.shell ' + line)}",
    lambda line: f"tclsh <<< {quote(f'exec sh -c {{{line}}}')}",
]
"""Code of other languages."""

WRITTEN: list[Carrier] = [
    lambda line: f"printf '%s\\n' {quote(line)} > s; sh s",
    lambda line: f"printf '%s\\n' {quote(line)} > s; . ./s",
    lambda line: f"printf '%s\\n' {quote(line)} | tee s; bash ./s",
    lambda line: f"cat > s <<'E'\n{line}\nE\nsh s",
    lambda line: f"f=s; printf '%s\\n' {quote(line)} > $f; sh s",
    lambda line: f"printf '%s\\n' {quote(line)} > s; cp s t; sh t",
    lambda line: f"printf 'all:\\n\\t%s\\n' {quote(line)} > Makefile; make",
    lambda line: f"mkdir d; printf '#!/bin/sh\\n%s\\n' {quote(line)} > d/s; run-parts d",
    lambda _: "cp /stubs/touch t; ./t MARK",
    lambda _: "ln -s /stubs/touch t; ./t MARK",
    lambda _: "cat /stubs/touch > t; sh t MARK",
    lambda _: "install /stubs/touch t; ./t MARK",
    lambda _: "dd if=/stubs/touch of=t; sh t MARK",
    lambda _: "cp $(which touch) t; ./t MARK",
    lambda _: "ln -s `command -v touch` t; ./t",
    lambda _: "sh /stubs/touch",
]
"""Files that the line writes itself."""

FILES = {
    "run.sh": "#!/bin/sh\ntouch MARK\n",
    "Makefile": "all:\n\ttouch MARK\n",
    "run.py": "import os; os.system('touch MARK')",
    "run.pl": "system('touch MARK')",
    "run.sed": "1e touch MARK\n",
}
UNDECIDABLE = ["sh run.sh", "./run.sh", ". ./run.sh", "make", "python3 run.py", "perl run.pl", "sed -f run.sed x"]
"""Lines that run what is in a file from before. `docs/policy.md` names them."""


def random_lines(seed: int, count: int) -> Iterator[str]:
    """Yield different lines, each decidable: nothing it runs comes from a file that was there before."""
    chance = random.Random(seed)
    found: set[str] = set()
    while len(found) < count:
        line = random_line(chance)
        if line not in found and "\0" not in line and len(line) < 2000:
            found.add(line)
            yield line


def random_line(chance: random.Random, depth: int = 0) -> str:
    choice = chance.random()
    if depth > 3 or choice < 0.20:
        text = chance.choice(SIMPLE if chance.random() < 0.6 else DISGUISED)
    elif choice < 0.40:
        text = random_line(chance, depth + 1) + chance.choice(JOINS) + random_line(chance, depth + 1)
    elif choice < 0.58:
        text = chance.choice(FRAMES).replace("@@", random_line(chance, depth + 1))
    elif choice < 0.74:
        prefix = chance.choice(PREFIXES)
        inner = chance.choice((_TOUCH, _TOUCH, "/stubs/touch MARK", "t''ouch MARK", "sh -c 'touch MARK'"))
        end = " \\;" if prefix.startswith("find") else " </dev/null" if prefix.startswith("xargs") else ""
        chained = f"{chance.choice(PREFIXES)} {prefix}" if chance.random() < 0.3 and not end else prefix
        text = f"{chained} {inner}{end}"
    else:
        kinds: Sequence[list[Carrier]] = (SHELLS, SHELLS, EVALUATORS, FOREIGN, FOREIGN, WRITTEN)
        text = chance.choice(chance.choice(kinds))(random_line(chance, depth + 2))
    if depth == 0 and chance.random() < 0.25:
        text = _with_noise(chance, text)
    return text


def _with_noise(chance: random.Random, text: str) -> str:
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(NOISE) + text[at + chance.choice((0, 0, 1)) :]
    return text
