"""The part of the engine that runs on the nodes: a job in a worker process of Ray."""

import asyncio
import os
import pickle
import platform
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tejat import __version__
from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.contract import JobLost
from tejat.batch.engines.ray.activity import ActivitySender
from tejat.batch.engines.ray.archive import pack_task
from tejat.batch.engines.ray.library import hide_cluster_token, load_ray
from tejat.batch.engines.ray.worker_loop import run_on_loop
from tejat.batch.git.errors import RepositoryProblem
from tejat.batch.git.mirror import Mirror, mirror_from_bundle, mirror_key
from tejat.batch.job import TaskJob, job_from_json
from tejat.batch.result import TaskResult, TaskStatus, result_to_json
from tejat.batch.runner.job_runner import JobRunner
from tejat.batch.runner.work_folder import remove_work
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.private_files import make_private_directory, write_private_file
from tejat.workspace.processes.boot import boot_id

_UNPACKED: dict[tuple[str, str], Mirror] = {}
"""The repositories that this process has got, by key and commit. A worker process belongs to one batch."""


class UnfitNode(Exception):
    """This node cannot run jobs of the batch. The message says why."""


class ReplyKind(StrEnum):
    """How a call of `run_job` ended."""

    DONE = "done"
    STOPPED = "stopped"
    """The job was cancelled; the files are what it left."""
    LOST = "lost"
    NEEDS_REPOSITORY = "needs_repository"
    """Nothing was done: the node has neither the repository nor a bundle of it."""


class WorkerRequest(Frozen):
    """A job for a node.

    `key` names the batch on all nodes. `token` is the content of the file `token_path` on the machine of the driver,
    and `machine` that machine. `mirror` is the path of the repository there, empty for a URL.
    """

    number: int
    job: JsonObject
    key: str
    token_path: str
    token: str
    machine: str
    is_shared: bool
    mirror: str = ""
    variables: dict[str, str] = field(default_factory=dict[str, str])


class WorkerReply(Frozen):
    """The end of a job. `files` is the archive of the task, empty where the directory is shared."""

    kind: ReplyKind
    node: str
    host: str
    message: str = ""
    result: JsonObject | None = None
    files: bytes = b""
    shortened: tuple[str, ...] = ()


def run_job(version: str, packed: bytes, bundle: Sequence[Any], board: Any) -> WorkerReply:
    """Run a job in this process and wait for it. An interrupt stops it.

    `packed` is a WorkerRequest. It travels inside of the task, so that its variables reach neither the object store,
    which may be on a disk, nor a log. `bundle` has a reference to the repository in the object store, or nothing.
    `board` is the actor that collects activity. Raises UnfitNode.
    """
    if version != __version__:
        message = lazy(
            "Node {node} has Tejat {here}, but the batch runs with {there}. Install the same version on all nodes.",
            node=platform.node(),
            here=__version__,
            there=version,
        )
        raise UnfitNode(message)
    request: WorkerRequest = pickle.loads(packed)
    reply = WorkerReply(ReplyKind.NEEDS_REPOSITORY, load_ray().get_runtime_context().get_node_id(), platform.node())
    job = job_from_json(request.job)
    shares = shares_directory(request)
    if not shares and request.mirror and not bundle:
        return reply
    hide_cluster_token()
    os.environ.update(request.variables)
    sender = ActivitySender(request.number, board)
    run = partial(_run_here, request=request) if shares else partial(_run_apart, request=request, bundle=bundle)
    try:
        return run_on_loop(lambda runner: run(runner, job, sender, reply))
    except asyncio.CancelledError:
        # Ray passes on what a cancelled task returns.
        return replace(reply, kind=ReplyKind.STOPPED)
    except RepositoryProblem as problem:
        return replace(reply, kind=ReplyKind.DONE, result=result_to_json(problem_result(job, problem)))


def shares_directory(request: WorkerRequest) -> bool:
    """Whether this node works in the directory of the batch: on the same machine, or if the user calls it shared.

    Raises UnfitNode if the user does and it is not there.
    """
    if not request.is_shared and request.machine != machine_id():
        return False
    with suppress(OSError), open(request.token_path, encoding="ascii") as file:
        if file.read() == request.token:
            return True
    if request.is_shared:
        message = lazy(
            "Node {node} does not see the directory {path} of the batch. Mount it there, or leave out --shared.",
            node=platform.node(),
            path=os.path.dirname(request.token_path),
        )
        raise UnfitNode(message)
    return False


def machine_id() -> str:
    """A name for this machine since it was started."""
    return f"{platform.node()} {boot_id()}"


def remove_directory(key: str) -> None:
    """Remove what this node has of the batch."""
    remove_work(node_directory(key))


def node_directory(key: str) -> str:
    """The directory of a batch on a node that does not share the one of the driver."""
    return os.path.join(tempfile.gettempdir(), f"tejat-batch-{os.geteuid()}-{key}")


def problem_result(job: TaskJob, problem: RepositoryProblem) -> TaskResult:
    """The result of a job whose repository cannot be had."""
    directory = BatchDirectory(job.directory)
    return TaskResult(
        id=job.task.id,
        status=TaskStatus.ERROR,
        failure=problem.failure,
        message=str(problem),
        attempts=job.attempt,
        model=job.task.model or "",
        repo=job.task.repo,
        commit=job.commit,
        node=platform.node(),
        directory=directory.relative(directory.task(job.task.id).path),
    )


async def _run_here(
    runner: JobRunner, job: TaskJob, sender: ActivitySender, reply: WorkerReply, *, request: WorkerRequest
) -> WorkerReply:
    """Run the job in the directory of the batch."""
    mirror = Mirror(request.mirror, job.commit) if request.mirror else None
    return await _run(runner, job, sender, reply, mirror)


async def _run_apart(
    runner: JobRunner,
    job: TaskJob,
    sender: ActivitySender,
    reply: WorkerReply,
    *,
    request: WorkerRequest,
    bundle: Sequence[Any],
) -> WorkerReply:
    """Run the job in a directory of this node and pack its files."""
    directory = BatchDirectory(node_directory(request.key))
    make_private_directory(directory.path)
    task = directory.task(job.task.id)
    remove_work(task.path)  # left by a process that was killed
    mirror = await _unpack_repository(bundle[0], job, directory) if request.mirror else None
    reply = await _run(runner, replace(job, directory=directory.path), sender, reply, mirror)
    archive = pack_task(task)
    remove_work(task.path)
    return replace(reply, files=archive.content, shortened=archive.shortened)


async def _run(
    runner: JobRunner, job: TaskJob, sender: ActivitySender, reply: WorkerReply, mirror: Mirror | None
) -> WorkerReply:
    try:
        result = await runner.run(job, sender, mirror=mirror)
    except JobLost as error:
        return replace(reply, kind=ReplyKind.LOST, message=str(error))
    except asyncio.CancelledError:
        return replace(reply, kind=ReplyKind.STOPPED)
    finally:
        sender.close()
    return replace(reply, kind=ReplyKind.DONE, result=result_to_json(result))


async def _unpack_repository(reference: Any, job: TaskJob, directory: BatchDirectory) -> Mirror:
    key = mirror_key(job.task.repo)
    if (key, job.commit) in _UNPACKED:
        return _UNPACKED[key, job.commit]
    path = os.path.join(directory.path, f"{key}-{os.getpid()}.bundle")
    try:
        content: bytes = await reference
        write_private_file(path, content)
        mirror = _UNPACKED[key, job.commit] = await mirror_from_bundle(path, job.commit, directory, key)
        return mirror
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)
