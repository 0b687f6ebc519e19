"""The sandbox that is made of namespaces: bubblewrap gives a command its own view of files, processes and network."""

import os
import sys
from collections.abc import Container, Sequence
from contextlib import suppress

from tejat.core.errors import UsageError
from tejat.workspace.sandbox import lock_in
from tejat.workspace.sandbox.ghosts import Ghosts
from tejat.workspace.sandbox.landlocked import lock_in_words, own_program
from tejat.workspace.sandbox.mounts import COMMON_DIRECTORY_AS_WITHOUT, Mounts, Seen
from tejat.workspace.sandbox.paths import is_beneath
from tejat.workspace.sandbox.plan import Fence, Layer, Wrapped

# The system cuts the names of processes off.
_LONGEST_NAME = 15
_RECORD_INSIDE = "/run/.tejat-lock"

_STAND_INS = {Seen.BLOCKED: None, Seen.SPELLED_OUT: COMMON_DIRECTORY_AS_WITHOUT}

_NAMESPACES = (
    "--unshare-all",
    "--unshare-user",
    # Without this, root can make what is read-only writable again.
    *("--cap-drop", "ALL"),
    # Nothing here dies with its parent: what a command leaves in the background goes on when its shell has ended. It is
    # whoever started us that ends the rest.
    "--new-session",
)

# The settings of the kernel belong to root, whether root may do anything else or not: /proc has to be read-only.
_SYSTEM = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")

# Whoever makes it writable writes into a memory of their own, which is gone with them. To mount it read-only would be a
# second step, which costs as much as the first.
_EMPTY_DIRECTORY = ("--perms", "0555", "--tmpfs")


class Bubblewrap:
    """Keeps a command to its fence with the program at `program`. `state` is a directory of ours for records."""

    name = "bubblewrap"

    def __init__(self, program: str, *, state: str, interpreter: str | None = None) -> None:
        self.program = program
        self.ghosts = Ghosts(state)
        self._nothing = os.path.join(state, "nothing")
        self._interpreter = interpreter
        name = os.fsencode(os.path.basename(program))[:_LONGEST_NAME]
        self._attendants = frozenset({os.fsdecode(name)})

    def wrap(self, arguments: Sequence[str], fence: Fence, *, directory: str) -> Wrapped:
        """As the contract says. Raises UsageError when the root is `/`, where nothing is left to fence off."""
        if "/" in fence.writable:
            raise UsageError("A command cannot be fenced into /: open a directory below it.")
        with self.ghosts.standing() as standing:
            own = (*own_program(self._interpreter), *_own_environment(fence))
            mounts = Mounts(fence, own_program=own, stand_ins=standing)
            ordered = mounts.in_order()
            texts = {path: _STAND_INS[seen] for path, seen in ordered if seen in _STAND_INS}
            laid = self.ghosts.lay(texts, standing)
        words = self._mount_words(ordered, fence.temporary, laid.paths)
        if laid.record is not None:
            words += ["--ro-bind", laid.record, _RECORD_INSIDE, "--lock-file", _RECORD_INSIDE]
        return Wrapped(
            (*self._words(fence, words, directory), *arguments),
            clean_up=laid.release,
            unguarded=mounts.unguarded,
            attendants=self._attendants,
            let_go=laid.let_go,
        )

    def wrap_in_copy(
        self, arguments: Sequence[str], fence: Fence, layers: Sequence[Layer], *, directory: str
    ) -> Wrapped:
        """As `wrap`, but nothing in the roots and the temporary directory changes: there is a layer over each of them.

        Control paths that are there cannot be changed. Those that are not can be made in a layer, so whoever keeps what
        is in there has to see to them: nothing is laid out in the real roots.
        """
        mounts = Mounts(fence, own_program=(*own_program(self._interpreter), *_own_environment(fence)))
        words: list[str] = []
        over = {layer.over: layer for layer in layers}
        for path, seen in mounts.in_order():
            match seen:
                case Seen.WRITABLE:
                    words += _overlay_words(over[path], path)
                case Seen.TEMPORARY:
                    words += _overlay_words(over[fence.temporary], path)
                case Seen.PINNED:
                    pass  # what is on a lower layer cannot be moved away
                case _:
                    words += self._mount_words([(path, seen)], fence.temporary)
        return Wrapped((*self._words(fence, words, directory), *arguments), attendants=self._attendants)

    def _words(self, fence: Fence, mounts: Sequence[str], directory: str) -> tuple[str, ...]:
        """All that stands before the arguments."""
        places = [f"{lock_in.WRITABLE}={root}" for root in fence.writable]
        inner = lock_in_words(
            lock_in.IN_NAMESPACES,
            network=fence.network,
            places=[*places, f"{lock_in.TEMPORARY}=/tmp"],
            interpreter=self._interpreter,
        )
        network = ("--share-net",) if fence.network else ()
        return (self.program, *_NAMESPACES, *network, *_SYSTEM, *mounts, "--chdir", directory, "--", *inner)

    def sweep(self) -> None:
        """As the contract says."""
        with suppress(OSError):
            self.ghosts.sweep()

    def _mount_words(self, ordered: list[tuple[str, Seen]], temporary: str, laid: Container[str] = ()) -> list[str]:
        words: list[str] = []
        for path, seen in ordered:
            match seen:
                case Seen.WRITABLE | Seen.PINNED:
                    words += ["--bind", path, path]
                case Seen.READ_ONLY:
                    words += ["--ro-bind", path, path]
                case Seen.TEMPORARY:
                    words += ["--bind", temporary, path]
                case Seen.EMPTY:
                    words += ["--tmpfs", path]
                case Seen.HIDDEN if not os.path.isdir(path):
                    words += ["--ro-bind", self._empty_file(), path]
                case Seen.HIDDEN:
                    words += [*_EMPTY_DIRECTORY, path]
                case Seen.BLOCKED if path in laid:
                    words += [*_EMPTY_DIRECTORY, path]
                case Seen.SPELLED_OUT if path in laid:
                    words += ["--ro-bind", path, path]
                case Seen.BLOCKED | Seen.SPELLED_OUT:
                    pass  # nothing can be made there, by nobody
        return words

    def _empty_file(self) -> str:
        """A file that shows where a hidden one is: programs read an empty file of settings more gladly than none."""
        if not os.path.exists(self._nothing):
            os.makedirs(os.path.dirname(self._nothing), mode=0o700, exist_ok=True)
            os.close(os.open(self._nothing, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o400))
        return self._nothing


def _overlay_words(layer: Layer, path: str) -> tuple[str, ...]:
    return ("--overlay-src", layer.over, "--overlay", layer.upper, layer.work, path)


def _own_environment(fence: Fence) -> tuple[str, ...]:
    """The virtual environment that we run in, where it would be out of sight: commands may well be run with it."""
    environment = os.path.realpath(sys.prefix)
    is_root = any(is_beneath(environment, root) for root in fence.writable)
    return (environment,) if is_beneath(environment, "/tmp") and not is_root else ()
