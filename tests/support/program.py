"""Running the program with its own home, project, environment and scripted model."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

TEJAT = [sys.executable, "-W", "error", "-m", "tejat"]


@dataclass(frozen=True)
class ProgramResult:
    """The result of a run."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.stdout.splitlines()]


@dataclass
class ProgramEnv:
    """Where the program runs. `environment` is its whole environment."""

    base: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        for directory in (self.home, self.project):
            directory.mkdir()
        self.environment |= {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def user_file(self) -> Path:
        """The user's settings file of Gemini CLI."""
        return self.home / ".gemini" / "settings.json"

    @property
    def own_file(self) -> Path:
        """The user's settings file of Tejat."""
        return self.home / ".config" / "tejat" / "settings.json"

    def saved_settings(self, *, own: bool = False) -> object:
        return json.loads((self.own_file if own else self.user_file).read_text())

    def write_user_settings(self, **settings: object) -> Path:
        return write_settings(self.home, settings)

    def write_project_settings(self, **settings: object) -> Path:
        return write_settings(self.project, settings)

    def script(self, text: str, name: str = "script.toml") -> str:
        """A model that follows this script, as named on the command line."""
        path = self.base / name
        path.write_text(text, encoding="utf-8")
        return f"scripted:{path}"

    def run(self, *words: str | bytes, stdin: str | bytes | None = None, **changes: str | None) -> ProgramResult:
        """Run `tejat` with these words; a variable that is None is removed."""
        done = subprocess.run(
            [*TEJAT, *words],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=self.project,
            env=self.changed_environment(changes),
            timeout=60,
            check=False,
        )
        return ProgramResult(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str, stdin: int | IO[bytes] = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*TEJAT, *words],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.project,
            env=self.environment,
        )

    def run_shell(self, line: str, *words: str) -> ProgramResult:
        """Run a shell line in which `"$@"` is the program with these words."""
        done = subprocess.run(
            ["bash", "-c", line, "bash", *TEJAT, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.project,
            env=self.environment,
            timeout=60,
            check=False,
        )
        return ProgramResult(done.returncode, done.stdout.decode(), done.stderr.decode())

    def changed_environment(self, changes: "dict[str, str | None]") -> dict[str, str]:
        return {name: text for name, text in (self.environment | changes).items() if text is not None}


def write_settings(folder: Path, settings: object) -> Path:
    """Write the settings of a home or a project."""
    return write_json(folder / ".gemini" / "settings.json", settings)


def write_json(path: Path, value: object) -> Path:
    """Write a private file: a text as it is, other values as JSON."""
    path.parent.mkdir(exist_ok=True, mode=0o700)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    path.chmod(0o600)
    return path


def wait_for_exit(process: "subprocess.Popen[bytes]") -> ProgramResult:
    out, aside = process.communicate(timeout=60)
    return ProgramResult(process.returncode, out.decode(), aside.decode())


def text_script(*answers: str, **fields: Any) -> str:
    """A script of text answers."""
    return "".join(script_answer(say=text, **fields) for text in answers)


def script_answer(*, calls: Sequence[tuple[str, Mapping[str, object]]] = (), **fields: object) -> str:
    """One answer of a script."""
    lines = ["[[answer]]", *(f"{name} = {_toml(value)}" for name, value in fields.items())]
    for name, args in calls:
        lines += ["[[answer.call]]", f"name = {_toml(name)}", f"args = {_toml(args)}"]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
