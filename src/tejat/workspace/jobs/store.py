"""Background jobs, recorded on disk so that later processes can list, read and stop them."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.files.private_files import create_private_file, make_private_directory, write_private_file
from tejat.workspace.jobs.log import LogChunk, read_log, read_log_tail
from tejat.workspace.processes.boot import boot_id
from tejat.workspace.processes.process_tree import (
    ProcessTermination,
    list_processes,
    process_start_time,
    with_descendants,
)
from tejat.workspace.processes.spawn import ProcessSpec, start_detached

RETENTION_SECONDS = 7 * 24 * 3600
"""How long finished jobs are kept."""

_STOP_TIMEOUT_SECONDS = 3.0
_POLL_SECONDS = 0.01
_MAX_RECORD_BYTES = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class JobState(StrEnum):
    RUNNING = "running"
    EXITED = "exited"


class Job(Frozen):
    """A background command. `started` is in seconds since the epoch.

    A finished job with neither exit code nor signal was killed together with its supervisor.
    """

    pid: int
    command: str
    directory: str
    started: float
    log: str
    state: JobState
    exit_code: int | None
    signal: int | None
    log_size: int


class JobList(Frozen):
    """The jobs, oldest first, and the paths of unreadable records."""

    jobs: tuple[Job, ...]
    unreadable: tuple[str, ...] = ()


class JobStore:
    """The jobs recorded in one directory, whichever process started them.

    The directory is created with the first job. Needs no event loop; `start` and `stop` block briefly.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._exit_callbacks: dict[str, Callable[[], None]] = {}

    def start(
        self,
        launch: ProcessSpec,
        *,
        command: str,
        directory: str,
        on_exit: Callable[[], None],
        stop_command: tuple[str, ...] = (),
    ) -> Job:
        """Start a job that outlives this process; `command` and `directory` are for display.

        `on_exit` is called once, by the first method that notices the end of the job. `stop_command` ends what runs
        outside of its process tree. Raises OSError; then nothing is left.
        """
        make_private_directory(self._directory)
        self.prune()
        stem = os.path.join(self._directory, os.urandom(8).hex())
        os.close(create_private_file(f"{stem}.log"))
        now = time.time()
        try:
            detached = start_detached(launch, log=f"{stem}.log", state=f"{stem}.state")
        except BaseException:
            os.unlink(f"{stem}.log")
            raise
        record = _Record(
            stem=stem,
            pid=detached.pid,
            pid_started=process_start_time(detached.pid) or 0,
            supervisor_pid=detached.supervisor_pid,
            supervisor_started=detached.started,
            boot=boot_id(),
            command=command,
            directory=directory,
            started=now,
            stop_command=stop_command,
        )
        try:
            record.write()
        except BaseException:
            # A job without a record could not be found again, so it must not continue.
            _terminate(record, time.monotonic() + _STOP_TIMEOUT_SECONDS)
            for ending in ("log", "state"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{stem}.{ending}")
            raise
        self._exit_callbacks[stem] = on_exit
        return self._job_status(record)

    def list_jobs(self) -> JobList:
        """List all jobs. Raises nothing."""
        records, unreadable = self._read_records()
        return JobList(tuple(self._job_status(record) for record in records), tuple(unreadable))

    def get(self, pid: int) -> Job:
        """Return the latest job with this pid. Raises ToolFailure if there is none."""
        return self._job_status(self._find_record(pid))

    def read_log(self, pid: int, *, offset: int | None = None, lines: int | None = None) -> LogChunk:
        """Return the job's output from `offset` on, or the last `lines` of it; at most 64 KiB.

        Raises ToolFailure if there is no such job, or its log is missing or not a regular file.
        """
        record = self._find_record(pid)
        path = f"{record.stem}.log"
        is_over = self._job_status(record).state is JobState.EXITED
        try:
            with open(os.open(path, _READ), "rb", buffering=0) as file:
                if offset is None:
                    return read_log_tail(file, lines=lines, is_finished=is_over)
                return read_log(file, offset, lines=lines, is_finished=is_over)
        except FileNotFoundError:
            raise _failure(lazy("The output of process {pid} no longer exists.", pid=pid)) from None
        except OSError as error:
            why = error.strerror
            message = lazy("Could not read the output of process {pid}: {why} ({path})", pid=pid, why=why, path=path)
            raise _failure(message) from error

    def stop(self, pid: int) -> Job:
        """Terminate the job with all its processes. Returns when they are gone, after at most three seconds.

        Raises ToolFailure if there is no such job or it cannot be stopped.
        """
        record = self._find_record(pid)
        _terminate(record, time.monotonic() + _STOP_TIMEOUT_SECONDS)
        _run_stop_command(record.stop_command)
        job = self._job_status(record)
        if job.state is JobState.RUNNING:
            raise _failure(lazy("Could not stop process {pid}.", pid=pid))
        return job

    def prune(self) -> None:
        """Remove the files of jobs that finished long ago. Raises nothing."""
        oldest = time.time() - RETENTION_SECONDS
        records, _ = self._read_records()
        running = {record.stem for record in records if self._job_status(record).state is JobState.RUNNING}
        for name in _list_names(self._directory):
            path = os.path.join(self._directory, name)
            stem = os.path.join(self._directory, name.partition(".")[0])
            with suppress(OSError):
                if stem not in running and os.lstat(path).st_mtime < oldest:
                    os.unlink(path)

    def _find_record(self, pid: int) -> "_Record":
        records, _ = self._read_records()
        found = [record for record in records if record.pid == pid]
        if not found:
            raise _failure(lazy("No background process {pid}.", pid=pid))
        return found[-1]

    def _read_records(self) -> "tuple[list[_Record], list[str]]":
        records: list[_Record] = []
        unreadable: list[str] = []
        for name in _list_names(self._directory):
            if not name.endswith(".json"):
                continue
            path = os.path.join(self._directory, name)
            try:
                records.append(_read_record(path))
            except (OSError, InvalidJson, KeyError, TypeError, ValueError):
                unreadable.append(path)
        return sorted(records, key=lambda record: record.started), sorted(unreadable)

    def _job_status(self, record: "_Record") -> Job:
        exit_code, number = record.exit_status()
        is_over = not record.is_alive()
        if is_over:
            exit_code, number = record.exit_status()  # it may have been written in between
            if when_over := self._exit_callbacks.pop(record.stem, None):
                when_over()
        log = f"{record.stem}.log"
        size = 0
        with suppress(OSError):
            size = os.lstat(log).st_size
        state = JobState.EXITED if is_over else JobState.RUNNING
        return Job(record.pid, record.command, record.directory, record.started, log, state, exit_code, number, size)


class _Record(Frozen):
    """The record of a job. `stem` is the path of its files without extension.

    A process is identified by pid, start time and boot id, because pids are reused.
    """

    stem: str
    pid: int
    pid_started: int
    supervisor_pid: int
    supervisor_started: int
    boot: str
    command: str
    directory: str
    started: float
    stop_command: tuple[str, ...] = ()

    def write(self) -> None:
        record = dump_json({name: getattr(self, name) for name in (*_FIELDS, _STOP_COMMAND)})
        write_private_file(f"{self.stem}.json", record, follow_symlinks=False)

    def is_alive(self) -> bool:
        """Whether the job is running: its supervisor stays until all its processes have ended, unless it is killed."""
        return self.is_supervisor_alive() or bool(self.orphans())

    def is_supervisor_alive(self) -> bool:
        return self._is_same_process(self.supervisor_pid, self.supervisor_started)

    def orphans(self) -> set[int]:
        """Return the processes of a job whose supervisor was killed, as far as they can still be found."""
        if self.is_supervisor_alive() or not self._is_same_process(self.pid, self.pid_started):
            return set()
        table = list_processes()
        session = [process.pid for process in table.values() if process.session == self.pid]
        return {pid for pid in with_descendants([self.pid, *session], table) if table[pid].is_alive}

    def exit_status(self) -> tuple[int | None, int | None]:
        """Return exit code and signal as the supervisor wrote them, else None."""
        try:
            parsed = load_json(_read_small(f"{self.stem}.state"))
        except (OSError, InvalidJson):
            return None, None
        known = cast("dict[str, object]", parsed) if isinstance(parsed, dict) else {}
        code, number = known.get("exit"), known.get("signal")
        return code if isinstance(code, int) else None, number if isinstance(number, int) else None

    def _is_same_process(self, pid: int, started: int) -> bool:
        return self.boot == boot_id() and process_start_time(pid) == started


_FIELDS = (
    *("pid", "pid_started", "supervisor_pid", "supervisor_started"),
    *("boot", "command", "directory", "started"),
)
_STOP_COMMAND = "stop_command"
"""Missing in the records of older versions."""


def _read_record(path: str) -> _Record:
    """Raises OSError, InvalidJson, KeyError, TypeError or ValueError for an invalid record."""
    parsed = load_json(_read_small(path))
    if not isinstance(parsed, dict):
        raise TypeError(path)
    known = cast("dict[str, object]", parsed)
    values = {name: known[name] for name in _FIELDS}
    numbers = [values[name] for name in _FIELDS[:4]]
    if not all(type(number) is int and 0 <= number < 2**63 for number in numbers) or 0 in (numbers[0], numbers[2]):
        raise TypeError(path)
    started = values["started"]
    if not all(isinstance(values[name], str) for name in _FIELDS[4:7]) or not isinstance(started, float | int):
        raise TypeError(path)
    stop_command = known.get(_STOP_COMMAND, [])
    if not isinstance(stop_command, list) or not all(
        isinstance(word, str) for word in cast("list[object]", stop_command)
    ):
        raise TypeError(path)
    values |= {"started": float(started), _STOP_COMMAND: tuple(cast("list[str]", stop_command))}
    return _Record(os.path.splitext(path)[0], **cast("dict[str, Any]", values))


def _read_small(path: str) -> bytes:
    with open(os.open(path, _READ), "rb") as file:
        return file.read(_MAX_RECORD_BYTES)


def _list_names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _run_stop_command(command: Sequence[str]) -> None:
    """End a container, whatever became of the program that waits for it. Raises nothing."""
    if command:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_STOP_TIMEOUT_SECONDS,
                check=False,
            )


def _terminate(record: _Record, deadline: float) -> None:
    """Terminate as much of a job as possible until the deadline. Raises ToolFailure if it belongs to another user."""
    if record.is_supervisor_alive():
        _terminate_supervisor(record)
        while record.is_supervisor_alive() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
    ending = ProcessTermination(record.orphans)
    while (pause := ending.step()) is not None and time.monotonic() < deadline:
        time.sleep(min(pause, _POLL_SECONDS))


def _terminate_supervisor(record: _Record) -> None:
    """Send SIGTERM to the supervisor, never to another process that has reused its pid."""
    if not hasattr(os, "pidfd_open"):
        with suppress(ProcessLookupError):
            os.kill(record.supervisor_pid, signal.SIGTERM)
        return
    try:
        handle = os.pidfd_open(record.supervisor_pid)
    except ProcessLookupError:
        return
    try:
        if record.is_supervisor_alive():
            signal.pidfd_send_signal(handle, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError as error:
        raise _failure(lazy("Process {pid} belongs to another user and cannot be stopped.", pid=record.pid)) from error
    finally:
        os.close(handle)


def _failure(message: str) -> ToolFailure:
    return ToolFailure(message, ErrorType.SHELL_EXECUTE_ERROR)
