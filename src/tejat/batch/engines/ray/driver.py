"""The program that is the Ray driver of a batch. The batch talks to it over a socket, whose number is the argument.

When the socket closes without a word, because the batch was killed, the program ends at once and Ray kills the workers.
"""

import asyncio
import os
import shutil
import socket
import sys
from contextlib import suppress
from typing import Any

from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.contract import EngineUnavailable, JobLost
from tejat.batch.engines.ray.activity import ActivityBoard
from tejat.batch.engines.ray.cluster import RayCluster
from tejat.batch.engines.ray.messages import Message, MessageKind, read_message, receive_message, send_message
from tejat.batch.engines.ray.repositories import ShippedRepositories
from tejat.batch.engines.ray.submission import BatchOnCluster, JobSubmission
from tejat.batch.engines.ray.variables import variables_to_pass
from tejat.batch.engines.ray.worker import WorkerRequest, machine_id, remove_directory, run_job
from tejat.batch.job import job_from_json
from tejat.core.errors import UsageError
from tejat.core.log import report_unexpected

_WATCH_SECONDS = 5.0
_ACTIVITY_SECONDS = 0.5
_STOP_SECONDS = 100.0
_CLEAN_SECONDS = 20.0
_MAX_QUEUE = 32
"""Jobs at the cluster besides those that run, so that no worker waits for the way from one result to the next job."""


def main() -> None:
    """Serve the batch until it closes the socket."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    options = read_message(channel)
    if options is not None:
        # In this thread: the servers of a local cluster end with the thread that started them.
        connection = _connect(options)
        asyncio.run(_serve(channel, connection, options))
        # The batch does it too, unless it was killed.
        shutil.rmtree(options["ray_directory"], ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads that wait for a cluster would keep the process from ending.
    os._exit(0)


def _connect(options: Message) -> RayCluster | UsageError:
    try:
        cluster = RayCluster(options["resources"])
        cluster.connect(options["address"], jobs=options["jobs"], directory=options["ray_directory"])
    except EngineUnavailable as error:
        return error
    return cluster


async def _serve(channel: socket.socket, connection: RayCluster | UsageError, options: Message) -> None:
    reader, writer = await asyncio.open_connection(sock=channel)
    try:
        if isinstance(connection, UsageError):
            raise connection
        driver = _Driver(_prepare(connection, options), writer)
    except UsageError as error:
        send_message(writer, MessageKind.UNAVAILABLE, message=str(error))
        with suppress(ConnectionError):
            await writer.drain()
        return
    jobs, slots = options["jobs"] or connection.view.slots, connection.view.slots
    # With more slots, a job in the queue would run beside the others.
    queue = min(jobs, _MAX_QUEUE) if jobs == slots else 0
    send_message(writer, MessageKind.READY, jobs=jobs, queue=queue)
    if await driver.serve(reader):
        await driver.close()
    connection.ray.shutdown()


def _prepare(cluster: RayCluster, options: Message) -> BatchOnCluster:
    ray = cluster.ray
    directory = BatchDirectory(options["directory"])
    # On the node of the driver, so that it does not die with another one.
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(cluster.own_node, soft=True)
    board = ray.remote(num_cpus=0, max_restarts=-1, scheduling_strategy=here)(ActivityBoard).remote()
    request = WorkerRequest(
        number=0,
        job={},
        key=options["key"],
        token_path=options["token_path"],
        token=options["token"],
        machine=machine_id(),
        is_shared=options["is_shared"],
        variables=variables_to_pass(os.environ, options["passed_variables"]),
    )
    run = ray.remote(**cluster.task_options())(run_job)
    return BatchOnCluster(cluster, directory, ShippedRepositories(ray, directory), run, board, request)


class _Driver:
    """The running jobs."""

    def __init__(self, batch: BatchOnCluster, writer: asyncio.StreamWriter) -> None:
        self._batch = batch
        self._writer = writer
        self._jobs: dict[int, tuple[JobSubmission, asyncio.Task[None]]] = {}
        self._apart_nodes: set[str] = set()
        self._is_gone = False
        self._background = [asyncio.create_task(work()) for work in (self._watch, self._relay_activity)]

    async def serve(self, reader: asyncio.StreamReader) -> bool:
        """Do what the batch asks for until it ends. Returns whether it ended in order."""
        while (message := await receive_message(reader)) is not None:
            if message["kind"] == MessageKind.STOP:
                return True
            number: int = message["number"]
            if message["kind"] == MessageKind.RUN:
                submission = JobSubmission(self._batch, number, job_from_json(message["job"]))
                self._jobs[number] = (submission, asyncio.create_task(self._run(submission)))
            elif number in self._jobs:
                self._jobs[number][0].cancel()
        return False

    async def close(self) -> None:
        """Stop all jobs, and remove what is left on the nodes."""
        for task in self._background:
            task.cancel()
        running = [task for _, task in self._jobs.values()]
        for submission, _ in self._jobs.values():
            submission.cancel()
        if running and not self._is_gone:
            await asyncio.wait(running, timeout=_STOP_SECONDS)
        if self._apart_nodes and not self._is_gone:
            await self._clean_nodes()

    async def _run(self, submission: JobSubmission) -> None:
        number = submission.number
        try:
            result = await submission.run()
        except JobLost as error:
            self._send(MessageKind.LOST, number=number, message=str(error))
        except EngineUnavailable as error:
            self._give_up(error)
        except Exception as error:  # noqa: BLE001 -- the batch must hear of it
            self._send(MessageKind.LOST, number=number, message=report_unexpected(error, "a job on the cluster"))
        else:
            kind = MessageKind.CANCELLED if result is None else MessageKind.DONE
            self._send(kind, number=number, result=result)
        finally:
            if submission.apart_node:
                self._apart_nodes.add(submission.apart_node)
            self._jobs.pop(number, None)

    def _give_up(self, error: EngineUnavailable) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._send(MessageKind.UNAVAILABLE, message=str(error))

    def _send(self, kind: MessageKind, **fields: Any) -> None:
        if not self._writer.is_closing():
            send_message(self._writer, kind, **fields)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                await self._batch.cluster.check()
            except EngineUnavailable as error:
                self._give_up(error)
                return

    async def _relay_activity(self) -> None:
        errors: Any = self._batch.cluster.ray.exceptions.RayError
        while True:
            try:
                entries: dict[int, tuple[str, str, int]] = await self._batch.board.take.remote()
            except errors:
                entries = {}
                await asyncio.sleep(_WATCH_SECONDS)
            for number, (phase, activity, tokens) in entries.items():
                self._send(MessageKind.ACTIVITY, number=number, phase=phase, activity=activity, tokens=tokens)
            await asyncio.sleep(_ACTIVITY_SECONDS)

    async def _clean_nodes(self) -> None:
        ray: Any = self._batch.cluster.ray
        remove = ray.remote(max_retries=0, num_cpus=0)(remove_directory)
        strategy: Any = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        removals: list[Any] = [
            remove.options(scheduling_strategy=strategy(node, soft=False)).remote(self._batch.request.key)
            for node in self._apart_nodes
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLEAN_SECONDS):
                await asyncio.gather(*removals, return_exceptions=True)


if __name__ == "__main__":
    main()
