"""The cost of installed extensions, skills and sub-agents: until the first prompt, and in every request."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.measurement import Measurement
from bench.suites.terminal import PROMPT, at_terminal
from bench.support.tool_process import TEJAT

_EXTENSIONS = 50
_SKILLS_OF_EACH = 4
_ROUNDS = 12
_CATALOGUES = (("<available_skills>", "</available_skills>"), ("<available_subagents>", "</available_subagents>"))
_BYTES_PER_TOKEN = 4


def measure(scratch: str) -> Iterator[Measurement]:
    without, installed = Path(scratch, "extending", "without"), Path(scratch, "extending", "installed")
    for home in (without, installed):
        (home / "project").mkdir(parents=True)
    for number in range(_EXTENSIONS):
        _install(installed, f"extension-{number:02}")
    yield _until_prompt(installed, without)
    yield from _catalogue(installed)


def _install(home: Path, name: str) -> None:
    """Put an extension where Gemini CLI installs it, with a context file, a command, skills and an agent."""
    place = home / ".gemini" / "extensions" / name
    place.mkdir(parents=True, mode=0o700)
    _write(place / "gemini-extension.json", json.dumps({"name": name, "version": "1.0.0"}))
    _write(place / ".gemini-extension-install.json", json.dumps({"source": f"/src/{name}", "type": "local"}))
    _write(place / "commands" / f"run-{name}.toml", 'description = "Runs it."\nprompt = "Run it."\n')
    for number in range(_SKILLS_OF_EACH):
        skill = f"{name}-skill-{number}"
        description = f"Handles case {number} of {name}. Use it when a task mentions {name} and case {number}."
        _write(place / "skills" / skill / "SKILL.md", _front_matter(skill, description) + "Follow the steps.\n" * 40)
        _write(place / "skills" / skill / "scripts" / "run.py", "print('done')\n")
    agent = f"{name}-agent"
    _write(
        place / "agents" / f"{agent}.md", _front_matter(agent, f"Reviews {name}.", tools="[read_file]") + "Review.\n"
    )


def _front_matter(name: str, description: str, **others: str) -> str:
    lines = [f"name: {name}", f"description: {description}", *(f"{key}: {value}" for key, value in others.items())]
    return "\n".join(["---", *lines, "---", ""])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(text, encoding="utf-8")


def _until_prompt(installed: Path, without: Path) -> Measurement:
    """Measure both alternately, after a round in which extensions are taken over and parsed files are remembered."""
    rounds = [(_seconds_until_prompt(installed), _seconds_until_prompt(without)) for _ in range(_ROUNDS + 1)][1:]
    ours, baseline = (min(times) for times in zip(*rounds, strict=True))
    skills = _EXTENSIONS * _SKILLS_OF_EACH
    name = f"start until the prompt with {_EXTENSIONS} extensions, {skills} skills and {_EXTENSIONS} agents, over none"
    return Measurement(name, ours / baseline, 1.15, "x", f"{ours * 1000:.0f} ms against {baseline * 1000:.0f} ms")


def _seconds_until_prompt(home: Path) -> float:
    start = time.perf_counter()
    with at_terminal([TEJAT], str(home / "project"), _environment(home)) as person:
        person.wait_for(PROMPT)
        return time.perf_counter() - start


def _environment(home: Path) -> Mapping[str, str]:
    address = "http://127.0.0.1:9"  # nobody listens there, and nothing is asked before the first prompt
    variables = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": address, "COLORFGBG": "15;0"}
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables}


def _catalogue(home: Path) -> Iterator[Measurement]:
    """Measure what a request says about skills and agents, in tokens."""
    script, recording = home / "script.toml", home / "recording.jsonl"
    _write(script, '[[answer]]\nsay = "Hello."\n')
    command = [TEJAT, "-p", "hi", "-m", f"scripted:{script}", "--record", str(recording)]
    subprocess.run(
        command, check=True, cwd=home / "project", env=_environment(home), stdout=subprocess.DEVNULL, timeout=60
    )
    recorded = "".join(json.dumps(json.loads(line), ensure_ascii=False) for line in recording.read_text().splitlines())
    for begin, end in _CATALOGUES:
        text = recorded.partition(begin)[2].partition(end)[0]
        tokens = len(text.encode()) / _BYTES_PER_TOKEN
        yield Measurement(f"tokens of {begin[1:-1]} in each request", tokens, 2000, "", f"{len(text):,} characters")
