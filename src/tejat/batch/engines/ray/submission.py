"""One job on a Ray cluster: submitted, awaited, cancelled, and its files put in place."""

import asyncio
import os
import pickle
from collections.abc import Mapping
from typing import Any

from tejat import __version__
from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.contract import EngineUnavailable, JobLost
from tejat.batch.engines.ray.archive import UnsafeArchive, unpack_task
from tejat.batch.engines.ray.cluster import RayCluster, describe_error
from tejat.batch.engines.ray.repositories import ShippedRepositories
from tejat.batch.engines.ray.worker import ReplyKind, UnfitNode, WorkerReply, WorkerRequest, problem_result
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.job import TaskJob, job_to_json
from tejat.batch.result import TaskResult, result_from_json, result_to_json
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject
from tejat.workspace.threads.daemon import run_in_daemon

_CANCEL_SECONDS = 75.0
"""How long a cancelled job may take to end before its worker process is killed."""
_KILL_SECONDS = 15.0


class BatchOnCluster(Frozen):
    """What all jobs of a batch have in common.

    `run` and `board` are the remote function and the actor. `request` is the request without a job.
    """

    cluster: RayCluster
    directory: BatchDirectory
    repositories: ShippedRepositories
    run: Any
    board: Any
    request: WorkerRequest


class JobSubmission:
    """A job on the cluster."""

    def __init__(self, batch: BatchOnCluster, number: int, job: TaskJob) -> None:
        self.number = number
        self.apart_node = ""
        """The node that worked in a directory of its own, if it was one."""
        self._batch = batch
        self._job = replace(job, rates=share_rates(job.rates, batch.cluster.view.machines))
        self._reference: Any = None
        self._cancelled = asyncio.Event()

    async def run(self) -> JsonObject | None:
        """Run the job and return its result, None if it was cancelled. Raises JobLost, EngineUnavailable."""
        try:
            return await self._run()
        except RepositoryProblem as problem:
            return result_to_json(problem_result(self._job, problem))
        except (OSError, UnsafeArchive) as error:
            raise JobLost(describe_error(error)) from error

    def cancel(self) -> None:
        """Stop the job, wherever it is. `run` returns when it has ended."""
        self._cancelled.set()
        if self._reference is not None:
            self._batch.cluster.ray.cancel(self._reference, force=False)

    async def _run(self) -> JsonObject | None:
        batch, bundle = self._batch, list[Any]()
        mirror = await batch.repositories.open(self._job)
        path = mirror.path if mirror else ""
        request = replace(batch.request, number=self.number, job=job_to_json(self._job), mirror=path)
        while not self._cancelled.is_set():
            self._reference = batch.run.remote(__version__, pickle.dumps(request), bundle, batch.board)
            reply = await self._receive()
            if reply is None:
                return None
            if reply.kind is not ReplyKind.NEEDS_REPOSITORY or mirror is None:
                return await self._finish(reply)
            bundle = [await batch.repositories.bundle(mirror)]
        return None

    async def _receive(self) -> WorkerReply | None:
        """The reply of the worker, None if the job was cancelled before it started."""
        reply = asyncio.ensure_future(_resolve(self._reference))
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait((reply, cancelled), return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():
                await self._wait_for_end(reply)
            return reply.result()
        except Exception as error:  # noqa: BLE001 -- Ray raises many kinds
            return await self._explain(error)
        finally:
            cancelled.cancel()
            reply.cancel()

    async def _wait_for_end(self, reply: "asyncio.Future[WorkerReply]") -> None:
        """Wait for a cancelled job. Raises JobLost if it cannot be stopped."""
        await asyncio.wait((reply,), timeout=_CANCEL_SECONDS)
        if not reply.done():
            self._batch.cluster.ray.cancel(self._reference, force=True)
            await asyncio.wait((reply,), timeout=_KILL_SECONDS)
        if not reply.done():
            raise JobLost(_("The node does not answer."))

    async def _finish(self, reply: WorkerReply) -> JsonObject | None:
        if reply.files:
            self.apart_node = reply.node
            task = self._batch.directory.task(self._job.task.id)
            await run_in_daemon(lambda: unpack_task(reply.files, task))
        if reply.kind is ReplyKind.LOST:
            raise JobLost(reply.message)
        if reply.result is None:
            return None
        return result_to_json(with_warnings(result_from_json(reply.result), reply.shortened))

    async def _explain(self, error: Exception) -> None:
        """Raise JobLost or EngineUnavailable for an error of Ray. Returns if the job was cancelled."""
        if isinstance(error, JobLost):
            raise error
        kinds: Any = self._batch.cluster.ray.exceptions
        cause = getattr(error, "cause", None)
        if isinstance(cause, UnfitNode):
            raise EngineUnavailable(str(cause))
        if self._cancelled.is_set() and (isinstance(error, kinds.TaskCancelledError) or _is_cancellation(cause)):
            return
        if isinstance(error, kinds.RuntimeEnvSetupError | kinds.TaskUnschedulableError) or _is_import_problem(error):
            message = _("A node cannot run tasks: {reason} Install the same Tejat there.", reason=describe_error(error))
            raise EngineUnavailable(message)
        await self._batch.cluster.check()
        raise JobLost(_describe_loss(error, kinds)) from error


def share_rates(rates: Mapping[str, float], machines: int) -> dict[str, float]:
    """The part of the rates that each machine gets: the limits are kept by machine."""
    return {service: rate / max(1, machines) for service, rate in rates.items()}


async def _resolve(reference: Any) -> WorkerReply:
    reply: WorkerReply = await reference
    return reply


def with_warnings(result: TaskResult, shortened: tuple[str, ...]) -> TaskResult:
    """The result with a warning for each file that was too large to be sent, and without such a patch."""
    added = [_("{name} was too large to be sent from the node, and is not complete.", name=name) for name in shortened]
    patch = "" if os.path.basename(result.patch) in shortened else result.patch
    return replace(result, patch=patch, warnings=(*result.warnings, *added))


def _is_cancellation(cause: object) -> bool:
    return type(cause).__name__ in ("TaskCancelledError", "KeyboardInterrupt", "CancelledError")


def _is_import_problem(error: Exception) -> bool:
    """Whether the worker could not load our function."""
    cause = getattr(error, "cause", None)
    return isinstance(cause, ImportError) or "failed to import on the worker" in str(error)


def _describe_loss(error: Exception, kinds: Any) -> str:
    if isinstance(error, kinds.NodeDiedError):
        return _("The node died.")
    if isinstance(error, kinds.OutOfMemoryError):
        return _("The node ran out of memory.")
    if isinstance(error, kinds.WorkerCrashedError):
        return _("The worker process was killed.")
    return describe_error(getattr(error, "cause", None) or error)
