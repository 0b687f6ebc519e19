"""Records of the containers that this user's sessions have started, one locked file each."""

import hashlib
import os
import time
from contextlib import suppress

from tejat.workspace.files.file_lock import share_lock, try_lock
from tejat.workspace.files.private_files import make_private_directory, open_private_file

_STARTING_SECONDS = 60.0


class ContainerRecords:
    """Records in a directory of ours below `state`, each named after its container.

    A record is locked by whoever started the container and by the program that waits for it. One that is locked by
    nobody belongs to a session that is gone.
    """

    def __init__(self, state: str) -> None:
        self._directory = os.path.join(state, "containers")
        self.label = f"tejat.state={_digest(os.path.realpath(state))}"
        """The label of all containers with a record here: a service may serve several users."""

    def create(self, container: str) -> "ContainerRecord":
        """Create the record of a container, locked. Raises OSError."""
        make_private_directory(self._directory, follow_symlinks=True)
        path = os.path.join(self._directory, container)
        descriptor = open_private_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        share_lock(descriptor)
        return ContainerRecord(path, descriptor)

    def is_abandoned(self, container: str) -> bool:
        """Whether nobody waits for this container any more."""
        try:
            descriptor = os.open(os.path.join(self._directory, container), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        try:
            return try_lock(descriptor)
        finally:
            os.close(descriptor)

    def remove_stale(self) -> None:
        """Remove the records that nobody has locked. Raises nothing."""
        oldest = time.time() - _STARTING_SECONDS
        with suppress(OSError):
            for name in os.listdir(self._directory):
                path = os.path.join(self._directory, name)
                with suppress(OSError):
                    if os.lstat(path).st_mtime < oldest and self.is_abandoned(name):
                        os.unlink(path)


class ContainerRecord:
    """The record of one container."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @property
    def exists(self) -> bool:
        """Whether the container has not ended by itself, as far as is known."""
        return os.path.lexists(self.path)

    def unlock(self) -> None:
        """Leave the record to the program that waits for the container. May be called again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Unlock and remove the record. May be called again; raises nothing."""
        self.unlock()
        with suppress(OSError):
            os.unlink(self.path)


def _digest(text: str) -> str:
    return hashlib.sha256(os.fsencode(f"{os.geteuid()}:{text}")).hexdigest()[:16]
