"""Repositories of the driver's machine, as bundles in the object store for the nodes that do not have them."""

import asyncio
import os
import tempfile
from typing import Any

from tejat.batch.directory import BatchDirectory
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import Mirror, mirror_key, open_mirror, write_bundle
from tejat.batch.job import TaskJob
from tejat.core.i18n import _
from tejat.workspace.threads.daemon import run_in_daemon

MAX_BUNDLE_BYTES = 2**30
_MAX_BUNDLES = 64
"""How many stay in the object store. One that is needed again is made again."""


class ShippedRepositories:
    """Mirrors and bundles of the repositories of a batch."""

    def __init__(self, ray: Any, directory: BatchDirectory) -> None:
        self._ray = ray
        self._directory = directory
        self._bundles: dict[Mirror, asyncio.Task[Any]] = {}

    async def open(self, job: TaskJob) -> Mirror | None:
        """The mirror of a repository on this machine, None for a URL: nodes clone that. Raises RepositoryProblem."""
        if not os.path.isabs(job.task.repo):
            return None
        return await open_mirror(job.task, job.commit, self._directory)

    async def bundle(self, mirror: Mirror) -> Any:
        """A reference to the bundle of a mirror. It is made once, whoever asks. Raises RepositoryProblem, OSError."""
        making = self._bundles.pop(mirror, None)
        if making is None or (making.done() and (making.cancelled() or making.exception())):
            making = asyncio.create_task(self._make_bundle(mirror))
        self._bundles[mirror] = making
        while len(self._bundles) > _MAX_BUNDLES:
            del self._bundles[next(iter(self._bundles))]
        return await asyncio.shield(making)

    async def _make_bundle(self, mirror: Mirror) -> Any:
        with tempfile.TemporaryDirectory(prefix="bundle-", dir=self._directory.repositories) as folder:
            path = os.path.join(folder, mirror_key(mirror.path))
            await write_bundle(mirror, path)
            size = os.stat(path).st_size
            if size > MAX_BUNDLE_BYTES:
                message = _(
                    "The repository is too large to send to other machines: {size:,} MB, the limit is {limit:,} MB. "
                    "Give its URL in the task, or use a directory that all nodes share (--shared).",
                    size=size // 10**6,
                    limit=MAX_BUNDLE_BYTES // 10**6,
                )
                raise RepositoryProblem(message)
            return await run_in_daemon(lambda: self._put(path))

    def _put(self, path: str) -> Any:
        with open(path, "rb") as file:
            return self._ray.put(file.read())
