"""The engine `ray`: jobs as tasks of a Ray cluster."""

import asyncio
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from itertools import islice

from tejat.batch.directory import BatchDirectory
from tejat.batch.engines.contract import EngineOptions, EngineUnavailable, JobLost, ReportActivity
from tejat.batch.engines.ray.cluster import no_answer
from tejat.batch.engines.ray.library import has_ray, ray_environment
from tejat.batch.engines.ray.messages import Message, MessageKind, receive_message, send_message
from tejat.batch.events import TaskPhase
from tejat.batch.job import TaskJob, job_to_json
from tejat.batch.result import TaskResult, result_from_json
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.core.text.digest import sha256
from tejat.workspace.files.private_files import create_private_file, make_private_directory, write_private_file

_PROBE_SECONDS = 15.0
_CONNECT_SECONDS = 60.0
_START_SECONDS = 180.0
"""A cluster on this machine takes ten seconds to start, much longer on a busy one."""
_CANCEL_SECONDS = 100.0
_CLOSE_SECONDS = 120.0
_MODULE = "tejat.batch.engines.ray.driver"
_TOKEN_FILE = "cluster.token"
_MAX_SOCKET_DIRECTORY = 30
"""Length of a directory in which Ray's sockets have short enough names."""
_LOG_TAIL = 4096


@asynccontextmanager
async def open_engine(options: EngineOptions) -> AsyncGenerator["RayEngine"]:
    """Connect to a cluster, or start one on this machine for the time of the batch. Raises EngineUnavailable."""
    if not has_ray():
        raise EngineUnavailable(_("The package ray is not installed. Install it with: pip install 'tejat[ray]'"))
    await _check_address(options.address)
    directory = BatchDirectory(options.directory)
    make_private_directory(directory.path)
    token_path = os.path.join(directory.path, _TOKEN_FILE)
    token = secrets.token_hex(16)
    write_private_file(token_path, token)
    scratch = tempfile.mkdtemp(prefix="tejat-ray-", dir=_short_directory())
    try:
        driver = await _start_driver(options, scratch)
        engine = RayEngine(options, driver)
        try:
            await engine.open(token_path=token_path, token=token, ray_directory=scratch)
        except BaseException:
            await driver.kill()
            raise
        try:
            yield engine
        finally:
            await engine.close()
    finally:
        with suppress(FileNotFoundError):
            os.unlink(token_path)
        shutil.rmtree(scratch, ignore_errors=True)


class RayEngine:
    """Runs jobs through a process that is the Ray driver."""

    def __init__(self, options: EngineOptions, driver: "_DriverProcess") -> None:
        self.jobs = options.jobs or 1
        self.queue = 0
        self._options = options
        self._driver = driver
        self._calls: dict[int, _JobCall] = {}
        self._last_number = 0
        self._problem: EngineUnavailable | None = None
        self._listener: asyncio.Task[None] | None = None

    async def open(self, *, token_path: str, token: str, ray_directory: str) -> None:
        """Wait until the cluster answers. Raises EngineUnavailable."""
        options = self._options
        send_message(
            self._driver.writer,
            MessageKind.OPEN,
            address=options.address,
            jobs=options.jobs,
            directory=options.directory,
            is_shared=options.is_shared,
            resources={"CPU": 1.0, **(options.resources or {})},
            passed_variables=list(options.passed_variables),
            key=sha256(f"{socket.gethostname()}\0{options.directory}".encode("utf-8", "surrogatepass")).hexdigest()[
                :16
            ],
            token_path=token_path,
            token=token,
            ray_directory=ray_directory,
        )
        try:
            async with asyncio.timeout(_CONNECT_SECONDS if options.address else _START_SECONDS):
                answer = await receive_message(self._driver.reader)
        except TimeoutError:
            raise EngineUnavailable(_no_answer(options.address)) from None
        if answer is None:
            raise EngineUnavailable(f"{_no_answer(options.address)} {self._driver.last_words()}".rstrip())
        if answer["kind"] != MessageKind.READY:
            raise EngineUnavailable(answer["message"])
        self.jobs = answer["jobs"]
        self.queue = answer["queue"]
        self._listener = asyncio.create_task(self._listen())

    async def run(self, job: TaskJob, report: ReportActivity) -> TaskResult:
        """See `Engine`."""
        if self._problem is not None:
            raise self._problem
        self._last_number = number = self._last_number + 1
        call = self._calls[number] = _JobCall(report)
        send_message(self._driver.writer, MessageKind.RUN, number=number, job=job_to_json(job))
        report(TaskPhase.QUEUED, "", 0)
        self._note_starts()
        try:
            return await asyncio.shield(call.ended)
        except asyncio.CancelledError:
            if not call.ended.done():
                send_message(self._driver.writer, MessageKind.CANCEL, number=number)
                await asyncio.wait((call.ended,), timeout=_CANCEL_SECONDS)
            raise
        finally:
            del self._calls[number]
            self._note_starts()
            if call.ended.done() and not call.ended.cancelled():
                call.ended.exception()  # retrieved, so that it is not reported as lost

    def _note_starts(self) -> None:
        """Report the jobs that have a place now: Ray runs them in the order in which they came."""
        for call in islice(self._calls.values(), self.jobs):
            call.note_start()

    async def close(self) -> None:
        """Stop all jobs and end the driver, and the cluster if it is our own."""
        await self._driver.close()
        if self._listener is not None:
            self._listener.cancel()

    async def _listen(self) -> None:
        while (message := await receive_message(self._driver.reader)) is not None:
            if message["kind"] == MessageKind.UNAVAILABLE:
                self._fail(EngineUnavailable(message["message"]))
            elif (call := self._calls.get(message["number"])) is not None:
                call.receive(message)
        text = _("The connection to the Ray cluster is lost. Run the same command again to continue.")
        self._fail(EngineUnavailable(f"{text} {self._driver.last_words()}".rstrip()))

    def _fail(self, problem: EngineUnavailable) -> None:
        self._problem = self._problem or problem
        for call in self._calls.values():
            call.fail(self._problem)


class _JobCall:
    """A call of `run` that waits."""

    def __init__(self, report: ReportActivity) -> None:
        self.ended: asyncio.Future[TaskResult] = asyncio.get_running_loop().create_future()
        self._report = report
        self._is_queued = True

    def note_start(self) -> None:
        """Report that the job has a place, once."""
        if self._is_queued:
            self._is_queued = False
            self._report(TaskPhase.PREPARING, "", 0)

    def receive(self, message: Message) -> None:
        match message["kind"]:
            case MessageKind.ACTIVITY:
                self._is_queued = False
                self._report(TaskPhase(message["phase"]), message["activity"], message["tokens"])
            case MessageKind.DONE if not self.ended.done():
                self.ended.set_result(result_from_json(message["result"]))
            case MessageKind.LOST:
                self.fail(JobLost(message["message"]))
            case _:
                self.fail(JobLost(_("The task was cancelled on the cluster.")))

    def fail(self, error: JobLost | EngineUnavailable) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)


class _DriverProcess:
    """The process of the Ray driver. It leads a process group of its own."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        log: str,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._process = process
        self._log = log

    def last_words(self) -> str:
        """The last line that Ray wrote about an error, empty if there is none."""
        try:
            with open(self._log, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_TAIL))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        found = [line for line in lines if "Error" in line or " E " in line or " C " in line]
        return sanitize_line(found[-1].strip()[:300]) if found else ""

    async def close(self) -> None:
        """Let the driver stop everything and end."""
        send_message(self.writer, MessageKind.STOP)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """End the driver at once."""
        self.writer.close()
        # The servers of a local cluster are in the same group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()


async def _check_address(address: str) -> None:
    """Find out within seconds that nothing is there: Ray itself takes minutes. Raises EngineUnavailable."""
    if "://" in address:
        message = _(
            "Addresses of Ray Client, such as {address}, are not supported. "
            "Run the batch on a node of the cluster, with --address auto.",
            address=sanitize_line(address),
        )
        raise EngineUnavailable(message)
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        return  # Ray knows other forms
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, OverflowError, TimeoutError) as error:
        raise EngineUnavailable(_no_answer(address)) from error
    writer.close()


async def _start_driver(options: EngineOptions, scratch: str) -> _DriverProcess:
    """Start the driver. Raises EngineUnavailable."""
    environment = ray_environment(os.environ)
    if not options.address:
        # Nobody else gets into our own cluster, and no token is left in the user's home.
        environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        environment.pop("RAY_AUTH_TOKEN_PATH", None)
    log = os.path.join(scratch, "driver.log")
    ours, theirs = socket.socketpair()
    with theirs, os.fdopen(create_private_file(log), "wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())),
            env=environment,
            pass_fds=(theirs.fileno(),),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # Ctrl+C at the terminal is for the batch, which stops the jobs.
            start_new_session=True,
        )
    reader, writer = await asyncio.open_connection(sock=ours)
    return _DriverProcess(process, reader, writer, log)


def _no_answer(address: str) -> str:
    if not address:
        return _("Ray did not start on this machine.")
    hint = _(
        "Check the address, and that this machine is a node of the cluster: ray start --address={address}",
        address=sanitize_line(address),
    )
    return f"{no_answer(address)} {hint}"


def _short_directory() -> str:
    """A directory for temporary files that leaves room for the names of sockets."""
    found = tempfile.gettempdir()
    return found if len(found) <= _MAX_SOCKET_DIRECTORY else "/tmp"
