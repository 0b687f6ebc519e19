"""Client program of a container service: docker or podman."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_line
from tejat.core.text.paths import is_beneath_any
from tejat.workspace.files.regular_file import is_executable_file
from tejat.workspace.sandbox.container.options import DEFAULT_IMAGES, PODMAN, with_proxies

_SECONDS = 30.0
# On one line, because a command that was cancelled may end before the second is asked for.
_REMOVAL_SCRIPT = '"$1" kill "$2"; "$1" rm --force "$2"'


class EngineFailure(Exception):
    """A command of the client failed. The message is one line: its last words."""


class ContainerEngine:
    """The client at `program`, an absolute path. `environment` is all that it sees."""

    def __init__(self, program: str, environment: Mapping[str, str]) -> None:
        self.program = program
        self.environment = dict(environment)

    @property
    def name(self) -> str:
        return os.path.basename(self.program)

    def check_service(self) -> str:
        """Return the version of the service. Raises EngineFailure if it does not answer."""
        version = self.run("version", "--format", "{{.Server.Version}}")
        if not version:
            raise EngineFailure(lazy("it did not report a server version"))
        return version

    def is_podman(self) -> bool:
        """Whether the client is podman, also under the name of docker."""
        if self.name == PODMAN:
            return True
        try:
            return PODMAN in self.run("--version").lower()
        except EngineFailure:
            return False

    def has_image(self, image: str) -> bool:
        try:
            return bool(self.run("image", "inspect", "--format", "{{.Id}}", image))
        except EngineFailure:
            return False

    def find_default_image(self) -> str | None:
        return next(filter(self.has_image, DEFAULT_IMAGES), None)

    def has_runtime(self, name: str) -> bool:
        """Whether the service offers this runtime. Raises EngineFailure."""
        return f'"{name}"' in self.run("info", "--format", "{{json .Runtimes}}")

    def list_containers(self, label: str) -> list[str]:
        """Return the names of all containers with this label. Raises EngineFailure."""
        return self.run("ps", "--all", "--filter", f"label={label}", "--format", "{{.Names}}").split()

    def pull_command(self, image: str) -> tuple[str, ...]:
        return (self.program, "pull", image)

    def build_command(self, image: str, *, file: str, context: str) -> tuple[str, ...]:
        return (self.program, "build", "--tag", image, "--file", file, context)

    def removal_command(self, container: str) -> tuple[str, ...]:
        """Return the command that ends and removes a container, whatever state it is in."""
        return ("/bin/sh", "-c", _REMOVAL_SCRIPT, "sh", self.program, container)

    def fetching_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment for `pull_command` and `build_command`."""
        return with_proxies(self.environment, environment)

    def run(self, *arguments: str) -> str:
        """Run a command of the client that ends soon; return its output. Raises EngineFailure."""
        try:
            ended = subprocess.run(
                [self.program, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EngineFailure(lazy("no answer within {seconds:g} seconds", seconds=_SECONDS)) from None
        except OSError as error:
            raise EngineFailure(error.strerror) from error
        if ended.returncode != 0:
            raise EngineFailure(last_line(ended.stderr) or lazy("exit code {code}", code=ended.returncode))
        return ended.stdout.decode(errors="replace").strip()


def last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return sanitize_line(lines[-1].strip()) if lines else ""


def find_engine(name: str, roots: Sequence[str], environment: Mapping[str, str]) -> ContainerEngine | None:
    """Return the client of this name on PATH; never one in a root, where a command may have written it."""
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(entry, name)
        is_inside = is_beneath_any(candidate, roots) or is_beneath_any(os.path.realpath(candidate), roots)
        if os.path.isabs(entry) and not is_inside and is_executable_file(candidate):
            return ContainerEngine(candidate, environment)
    return None
