"""A stand-in for docker and podman: records how it is called and runs commands for real, under bubblewrap."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tejat.core.approval.modes import SandboxMode
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.selection import select_sandbox

IMAGE = "tejat-sandbox"
_TESTS = Path(__file__).parents[1]

_PROGRAM = r"""
import csv, json, os, subprocess, sys

state = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(state, "config.json")) as file:
    config = json.load(file)
words = sys.argv[1:]
with open(os.path.join(state, "calls"), "a") as file:
    file.write(json.dumps({"argv": words, "environment": dict(os.environ)}) + "\n")
if config["dead"]:
    sys.exit("Cannot connect to the service. Is it running?")

def value(option):
    return words[words.index(option) + 1] if option in words else ""

def run():
    options, rest = [], words[1:]
    flags = {"--rm", "--interactive", "--init", "--read-only"}
    while rest[0].startswith("--"):
        option = rest.pop(0)
        options.append((option, "" if option in flags or "=" in option else rest.pop(0)))
    image, *command = rest
    if image not in config["images"]:
        print("Error: no such image", file=sys.stderr)
        return 125
    mounts = [list(csv.reader([text]))[0] for option, text in options if option == "--mount"]
    binds = []
    for fields in mounts:
        named = dict(field.partition("=")[::2] for field in fields)
        binds.append((named["target"], named["source"], "readonly" in fields))
    binds += [(path, path, True) for path in config["image_paths"]]
    arguments = [config["bwrap"], "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent"]
    if ("--network", "none") not in options:
        arguments.append("--share-net")
    arguments += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--clearenv"]
    arguments += ["--setenv", "PATH", config["path"]]
    for target, source, is_read_only in sorted(binds, key=lambda bind: bind[0].split("/")):
        arguments += ["--ro-bind" if is_read_only else "--bind", source, target]
    for option, text in options:
        if option == "--env":
            name, equals, given = text.partition("=")
            arguments += ["--setenv", name, given if equals else os.environ[name]]
    with open(os.path.join(state, "running"), "a") as file:
        file.write(value("--name") + "\n")
    return subprocess.call([*arguments, "--chdir", value("--workdir"), "--", *command])

if words[0] == "version":
    print("1.0")
elif words[0] == "--version":
    print("stand-in 1.0")
elif words[:2] == ["image", "inspect"]:
    if words[-1] not in config["images"]:
        sys.exit("Error: no such image")
    print("sha256:0")
elif words[0] == "info":
    print(json.dumps(dict.fromkeys(config["runtimes"], {})))
elif words[0] == "ps":
    print("\n".join(config["containers"]))
elif words[0] in ("pull", "build"):
    config["images"].append(words[-1] if words[0] == "pull" else value("--tag"))
    with open(os.path.join(state, "config.json"), "w") as file:
        json.dump(config, file)
elif words[0] == "run":
    sys.exit(run())
"""


class ContainerStandIn:
    """A stand-in in `directory`, under the names `docker` and `podman`; `path` is the entry for PATH.

    The test is skipped where bubblewrap does not work.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.path = directory / "bin"
        self.path.mkdir(parents=True)
        self._config: dict[str, Any] = {
            "dead": False,
            "images": [IMAGE],
            "runtimes": ["runc"],
            "containers": [],
            "path": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.defpath}",
            "bwrap": find_bubblewrap(directory),
            # What the image has, though the temporary directory of the host is hidden.
            "image_paths": [sys.prefix, str(_TESTS)],
        }
        for name in ("docker", "podman"):
            self.add_program(name)
        self.configure()

    def add_program(self, name: str) -> None:
        program = self.path / name
        program.write_text(f"#!{sys.executable} -IS\n{_PROGRAM}")
        program.chmod(0o755)

    def remove_program(self, name: str) -> None:
        (self.path / name).unlink()

    def configure(self, **values: object) -> None:
        self._config |= values
        (self._directory / "config.json").write_text(json.dumps(self._config))

    @property
    def search_path(self) -> str:
        """A PATH on which the stand-in comes first."""
        return f"{self.path}{os.pathsep}{os.environ['PATH']}"

    def calls(self, command: str) -> list[dict[str, Any]]:
        """The calls of this command of the client: `argv` without the program, and the `environment`."""
        recorded = self._directory / "calls"
        lines = recorded.read_text().splitlines() if recorded.exists() else []
        return [call for call in map(json.loads, lines) if call["argv"][0] == command]


def find_bubblewrap(directory: Path) -> str:
    state = directory / "bubblewrap"
    sandbox, _ = select_sandbox(SandboxMode.AUTO, roots=[str(directory / "root")], state_directory=str(state))
    if not isinstance(sandbox, BubblewrapSandbox):
        pytest.skip("SANDBOX MISSING: bubblewrap does not work here")
    return sandbox.program
