"""The state of the shared rate limits, in a file that all processes of a machine lock, read and write."""

import math
import os
from collections.abc import Callable
from typing import TypeVar, cast

from tejat.core.frozen import Frozen
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue
from tejat.models.names import Provider
from tejat.workspace.files.file_lock import acquire_lock, open_lock_file
from tejat.workspace.processes.boot import boot_id
from tejat.workspace.threads.stop import StopToken

_Result = TypeVar("_Result")

_SIZE = 1024
"""The state is written in place by one call, always with this size: a killed process leaves the old or the new one."""
_LOCK_SECONDS = 10.0


class ServiceState(Frozen):
    """The state of one service, in seconds since boot.

    `next_request` is the earliest time of the next request. The service accepts none before `blocked_until`. `changed`
    is the time of the last change.
    """

    next_request: float = 0.0
    blocked_until: float = 0.0
    changed: float = 0.0


Update = Callable[[dict[str, ServiceState]], _Result]
"""Reads and changes the states by service."""


class RateStateFile:
    """The states of all services, beside the file of rates.

    The file belongs to one boot of one machine, because its clock does. It holds a JSON object, such as
    `{"gemini":[81.5,0.0,80.5]}`, padded with spaces. A file that is missing or unreadable counts as empty and is
    written anew.
    """

    def __init__(self, rates_path: str) -> None:
        self.path = f"{rates_path}.{boot_id()[:8] or 'state'}"

    def update(self, work: Update[_Result], stop: StopToken) -> _Result:
        """Run `work` while no other process can change the states. Raises OSError."""
        descriptor = open_lock_file(self.path)
        try:
            acquire_lock(descriptor, timeout=_LOCK_SECONDS, stop=stop)
            found = os.pread(descriptor, _SIZE + 1, 0)
            states = _parse(found)
            before = dict(states)
            result = work(states)
            if states != before or len(found) > _SIZE:
                os.pwrite(descriptor, _serialize(states), 0)
                if len(found) > _SIZE:
                    os.ftruncate(descriptor, _SIZE)
        finally:
            os.close(descriptor)
        return result


def _parse(content: bytes) -> dict[str, ServiceState]:
    try:
        found = load_json(content)
    except InvalidJson:
        return {}
    if not isinstance(found, dict):
        return {}
    states: dict[str, ServiceState] = {}
    for service, values in cast("dict[str, object]", found).items():
        match values:
            case [int() | float() as following, int() | float() as blocked, int() | float() as changed]:
                # Other names would make the file grow.
                if service in list(Provider) and all(map(math.isfinite, (following, blocked, changed))):
                    states[service] = ServiceState(following, blocked, changed)
            case _:
                pass
    return states


def _serialize(states: dict[str, ServiceState]) -> bytes:
    rows: dict[str, JsonValue] = {
        service: [state.next_request, state.blocked_until, state.changed] for service, state in states.items()
    }
    return dump_json(rows).encode().ljust(_SIZE - 1) + b"\n"
