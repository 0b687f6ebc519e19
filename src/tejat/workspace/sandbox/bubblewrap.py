"""Sandbox built from Linux namespaces by bubblewrap: a private view of files, processes and network."""

import os
from collections.abc import Container, Sequence
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.workspace.files.private_files import make_private_directory
from tejat.workspace.sandbox import exec_helper
from tejat.workspace.sandbox.landlock_sandbox import exec_helper_argv, helper_paths
from tejat.workspace.sandbox.mounts import NEUTRAL_COMMON_DIRECTORY, MountKind, MountPlan
from tejat.workspace.sandbox.placeholders import MountPlaceholders
from tejat.workspace.sandbox.types import OverlayLayer, SandboxedCommand, SandboxPolicy

# The kernel truncates process names.
_MAX_PROCESS_NAME = 15
_RECORD_IN_SANDBOX = "/run/.tejat-lock"

_PLACEHOLDER_TEXTS = {MountKind.BLOCKED: None, MountKind.NEUTRAL_FILE: NEUTRAL_COMMON_DIRECTORY}

_NAMESPACES = (
    "--unshare-all",
    "--unshare-user",
    # Otherwise root could remount read-only paths as writable.
    *("--cap-drop", "ALL"),
    # No --die-with-parent: what a command leaves in the background outlives its shell. The supervisor terminates the
    # rest.
    "--new-session",
)

# Kernel settings belong to root even without capabilities, so /proc has to be read-only.
_SYSTEM = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")

# A command that makes it writable only writes into its own tmpfs. A read-only remount would be a second step that costs
# as much as the first.
_EMPTY_DIRECTORY = ("--perms", "0555", "--tmpfs")


class BubblewrapSandbox:
    """Sandbox that runs commands under the bubblewrap binary at `program`.

    `state` is a directory of ours for clean-up records.
    """

    name = "bubblewrap"
    is_container = False

    def __init__(self, program: str, *, state: str, interpreter: str | None = None) -> None:
        self.program = program
        self.placeholders = MountPlaceholders(state)
        self._empty_file_path = os.path.join(state, "nothing")
        self._interpreter = interpreter
        name = os.fsencode(os.path.basename(program))[:_MAX_PROCESS_NAME]
        self._helper_processes = frozenset({os.fsdecode(name)})

    def wrap(self, arguments: Sequence[str], policy: SandboxPolicy, *, directory: str) -> SandboxedCommand:
        """See `Sandbox.wrap`. Raises UsageError when a writable root is `/`."""
        if "/" in policy.writable_roots:
            raise UsageError("A command cannot be fenced into /: open a directory below it.")
        with self.placeholders.lock_existing() as existing:
            mounts = MountPlan(policy, helper_paths=helper_paths(self._interpreter), placeholders=existing)
            ordered = mounts.ordered()
            texts = {path: _PLACEHOLDER_TEXTS[kind] for path, kind in ordered if kind in _PLACEHOLDER_TEXTS}
            created = self.placeholders.create(texts, existing)
        words = self._mount_options(ordered, policy.temp_directory, created.paths)
        if created.record is not None:
            words += ["--ro-bind", created.record, _RECORD_IN_SANDBOX, "--lock-file", _RECORD_IN_SANDBOX]
        return SandboxedCommand(
            (*self._sandbox_argv(policy, words, directory), *arguments),
            clean_up=created.release,
            unprotected_paths=mounts.unprotected_paths,
            helper_processes=self._helper_processes,
            detach=created.detach,
        )

    def wrap_in_overlay(
        self, arguments: Sequence[str], policy: SandboxPolicy, layers: Sequence[OverlayLayer], *, directory: str
    ) -> SandboxedCommand:
        """Like `wrap`, with an overlay over each root and the temporary directory, so that the real ones do not change.

        Existing control paths are read-only. Missing ones can be created in a layer, because no placeholders are put
        into the real roots: the caller has to check for them before it keeps the layer.
        """
        mounts = MountPlan(policy, helper_paths=helper_paths(self._interpreter))
        words: list[str] = []
        over = {layer.lower: layer for layer in layers}
        for path, kind in mounts.ordered():
            match kind:
                case MountKind.WRITABLE:
                    words += _overlay_options(over[path], path)
                case MountKind.TEMPORARY:
                    words += _overlay_options(over[policy.temp_directory], path)
                case MountKind.PINNED:
                    pass  # paths on a lower layer cannot be moved away
                case _:
                    words += self._mount_options([(path, kind)], policy.temp_directory)
        return SandboxedCommand(
            (*self._sandbox_argv(policy, words, directory), *arguments), helper_processes=self._helper_processes
        )

    def _sandbox_argv(self, policy: SandboxPolicy, mounts: Sequence[str], directory: str) -> tuple[str, ...]:
        """Return everything that precedes the command's own arguments."""
        writable = (*policy.writable_roots, *(mount.source for mount in policy.mounts if mount.is_writable))
        restrictions = [f"{exec_helper.WRITABLE}={path}" for path in writable]
        inner = exec_helper_argv(
            exec_helper.IN_NAMESPACES,
            network=policy.network,
            restrictions=[*restrictions, f"{exec_helper.TEMPORARY}=/tmp"],
            interpreter=self._interpreter,
        )
        network = ("--share-net",) if policy.network else ()
        return (self.program, *_NAMESPACES, *network, *_SYSTEM, *mounts, "--chdir", directory, "--", *inner)

    def sweep(self) -> None:
        with suppress(OSError):
            self.placeholders.sweep()

    def _mount_options(
        self, ordered: list[tuple[str, MountKind]], temporary: str, created: Container[str] = ()
    ) -> list[str]:
        words: list[str] = []
        for path, kind in ordered:
            match kind:
                case MountKind.WRITABLE | MountKind.PINNED:
                    words += ["--bind", path, path]
                case MountKind.READ_ONLY:
                    words += ["--ro-bind", path, path]
                case MountKind.TEMPORARY:
                    words += ["--bind", temporary, path]
                case MountKind.EMPTY:
                    words += ["--tmpfs", path]
                case MountKind.HIDDEN if not os.path.isdir(path):
                    words += ["--ro-bind", self._empty_file(), path]
                case MountKind.BLOCKED | MountKind.NEUTRAL_FILE if path not in created:
                    pass  # nobody can create anything there
                case MountKind.HIDDEN | MountKind.BLOCKED:
                    words += [*_EMPTY_DIRECTORY, path]
                case MountKind.NEUTRAL_FILE:
                    words += ["--ro-bind", path, path]
        return words

    def _empty_file(self) -> str:
        """Return the file mounted over hidden files: programs prefer empty settings to missing ones."""
        if not os.path.exists(self._empty_file_path):
            make_private_directory(os.path.dirname(self._empty_file_path), follow_symlinks=True)
            os.close(os.open(self._empty_file_path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o400))
        return self._empty_file_path


def _overlay_options(layer: OverlayLayer, path: str) -> tuple[str, ...]:
    return ("--overlay-src", layer.lower, "--overlay", layer.upper, layer.work, path)
