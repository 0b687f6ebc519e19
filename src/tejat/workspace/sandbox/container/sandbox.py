"""Sandbox that runs each command in a container of its own, by docker or podman."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tejat.core.frozen import Frozen
from tejat.core.text.paths import is_beneath, is_beneath_any
from tejat.workspace.files.private_files import make_private_directory, open_private_file
from tejat.workspace.sandbox.container import launcher
from tejat.workspace.sandbox.container.engine import ContainerEngine, EngineFailure
from tejat.workspace.sandbox.container.options import CLIENT_VARIABLES, RUNSC, ContainerOptions
from tejat.workspace.sandbox.container.records import ContainerRecord, ContainerRecords
from tejat.workspace.sandbox.landlock_sandbox import helper_paths
from tejat.workspace.sandbox.mounts import MountKind, MountPlan
from tejat.workspace.sandbox.types import SandboxedCommand, SandboxPolicy

_PIDS = 4096
_REMOVAL_SECONDS = 15.0
_HOME = "/tmp/home"
# Processes of the engine that may end just after the command.
_HELPER_PROCESSES = frozenset(
    {"docker", "podman", "conmon", "catatonit", "crun", "runc", "netavark", "slirp4netns", "pasta", "fuse-overlayfs"}
)
_WRITABLE_KINDS = (MountKind.WRITABLE, MountKind.PINNED)
_MISSING_KINDS = (MountKind.BLOCKED, MountKind.NEUTRAL_FILE)


class ContainerSandbox:
    """Sandbox in containers made from one image, which must have bash.

    `session` labels the containers. Only the roots, a private /tmp and the user's own mounts of the host are seen.
    Control paths that do not exist cannot be kept from being created.
    """

    is_container = True

    def __init__(
        self, engine: ContainerEngine, options: ContainerOptions, *, image: str, state: str, session: str
    ) -> None:
        self.name = RUNSC if options.engine == RUNSC else engine.name
        self.image = image
        self._engine = engine
        self._options = options
        self._state = state
        self._session = session
        self._records = ContainerRecords(state)
        self._removals: list[subprocess.Popen[bytes]] = []
        self._keeps_user_id = os.geteuid() != 0 and engine.is_podman()

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        """See `Sandbox.wrap`. A program that the container does not show is looked up on the image's own PATH."""
        plan = MountPlan(policy, helper_paths=helper_paths())
        mounts = tuple(self._mounts(plan, policy))
        make_private_directory(os.path.join(policy.temp_directory, os.path.basename(_HOME)))
        _make_mount_points(mounts, policy.temp_directory)
        container = f"tejat-{os.urandom(8).hex()}"
        record = self._records.create(container)
        visible = [mount.target for mount in mounts]
        program, *others = arguments
        if not is_beneath_any(program, visible):
            program = os.path.basename(program)
        command = (
            *(self._engine.program, *self._run_options(container, directory)),
            *(() if policy.network else ("--network", "none")),
            *(word for mount in mounts for word in ("--mount", str(mount))),
            *(*self._options.flags, self.image, program, *others),
        )
        words = [
            f"{launcher.RECORD}={record.path}",
            *(f"{launcher.CLIENT}={name}" for name in self._engine.environment),
            *(f"{launcher.REMOVED}={name}" for name in CLIENT_VARIABLES if name not in self._engine.environment),
            *(f"{launcher.VISIBLE}={path}" for path in visible),
        ]
        run = _ContainerRun(self, container, record)
        return SandboxedCommand(
            (os.path.realpath(sys.executable), "-I", "-S", launcher.__file__, *words, "--", *command),
            clean_up=run.clean_up,
            detach=record.unlock,
            unprotected_paths=(
                *plan.unprotected_paths,
                *(path for path, kind in plan.ordered() if kind in _MISSING_KINDS),
            ),
            helper_processes=_HELPER_PROCESSES,
            environment={**dict(self._options.environment), **self._engine.environment},
            stop_command=self._engine.removal_command(container),
        )

    def sweep(self) -> None:
        """Wait until the containers of cancelled commands are gone."""
        while self._removals:
            removal = self._removals.pop()
            with suppress(subprocess.TimeoutExpired):
                removal.wait(_REMOVAL_SECONDS)

    def remove_abandoned(self) -> None:
        """Remove the containers of sessions that are gone. Raises nothing."""
        with suppress(EngineFailure):
            for container in self._engine.list_containers(self._records.label):
                if self._records.is_abandoned(container):
                    self.remove(container)
        self._records.remove_stale()

    def remove(self, container: str) -> None:
        """End and remove a container, without waiting. Raises nothing."""
        self._removals = [removal for removal in self._removals if removal.poll() is None]
        with suppress(OSError):
            self._removals.append(
                subprocess.Popen(
                    self._engine.removal_command(container),
                    env=self._engine.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )

    def _run_options(self, container: str, directory: str) -> tuple[str, ...]:
        return (
            *("run", "--rm", "--interactive", "--init", "--pull", "never", "--entrypoint", "", "--name", container),
            *("--label", f"tejat.session={self._session}", "--label", self._records.label),
            *("--workdir", directory, "--user", f"{os.geteuid()}:{os.getegid()}"),
            *(("--userns", "keep-id") if self._keeps_user_id else ()),
            *(("--runtime", RUNSC) if self._options.engine == RUNSC else ()),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", str(_PIDS), "--read-only"),
            *("--env", f"HOME={_HOME}", "--env", "TMPDIR=/tmp"),
        )

    def _mounts(self, plan: MountPlan, policy: SandboxPolicy) -> "Iterator[_BindMount]":
        yield _BindMount(policy.temp_directory, "/tmp", is_writable=True)
        for path, kind in plan.ordered():
            if not is_beneath_any(path, policy.writable_roots) or kind in _MISSING_KINDS:
                continue
            if kind in (*_WRITABLE_KINDS, MountKind.READ_ONLY):
                yield _BindMount(path, path, is_writable=kind in _WRITABLE_KINDS)
            elif kind is MountKind.HIDDEN:
                yield _BindMount(self._empty_path(path), path)
        for mount in policy.mounts:
            yield _BindMount(mount.source, mount.target, is_writable=mount.is_writable)
            for path in policy.hidden_paths:
                if path != mount.source and is_beneath(path, mount.source):
                    yield _BindMount(self._empty_path(path), mount.target + path[len(mount.source) :])

    def _empty_path(self, path: str) -> str:
        """Return an empty directory or file to mount over what must not be seen."""
        if os.path.isdir(path):
            empty = os.path.join(self._state, "empty")
            make_private_directory(empty, follow_symlinks=True)
            return empty
        nothing = os.path.join(self._state, "nothing")
        if not os.path.exists(nothing):
            os.close(open_private_file(nothing, os.O_WRONLY | os.O_CREAT))
        return nothing


class _ContainerRun:
    """One container of a command."""

    def __init__(self, sandbox: ContainerSandbox, container: str, record: ContainerRecord) -> None:
        self._sandbox = sandbox
        self._container = container
        self._record = record

    def clean_up(self) -> None:
        """Remove the container unless it has ended by itself."""
        if self._record.exists:
            self._sandbox.remove(self._container)
            self._record.remove()
        self._record.unlock()


class _BindMount(Frozen):
    source: str
    target: str
    is_writable: bool = False

    def __str__(self) -> str:
        fields = ["type=bind", f"source={self.source}", f"target={self.target}"]
        return ",".join(map(_csv_field, fields if self.is_writable else [*fields, "readonly"]))


def _make_mount_points(mounts: Sequence[_BindMount], temporary: str) -> None:
    """Create what is mounted below /tmp: the engine would create it as another user, and nobody could remove it."""
    targets = [mount.target for mount in mounts if mount.target != "/tmp"]
    for mount in mounts:
        others = (target for target in targets if target != mount.target)
        if mount.target in targets and is_beneath(mount.target, "/tmp") and not is_beneath_any(mount.target, others):
            place = temporary + mount.target.removeprefix("/tmp")
            is_directory = os.path.isdir(mount.source)
            make_private_directory(place if is_directory else os.path.dirname(place))
            if not is_directory:
                os.close(open_private_file(place, os.O_WRONLY | os.O_CREAT))


def _csv_field(text: str) -> str:
    if not {",", '"', "\n"} & set(text):
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'
