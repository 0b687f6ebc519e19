"""The rate limit of one service, shared by all processes of a machine."""

import os
from collections.abc import Callable
from typing import TypeVar

from tejat.core.frozen import Frozen, replace
from tejat.models.rate_limits.state_file import RateStateFile, ServiceState
from tejat.workspace.processes.boot import seconds_since_boot
from tejat.workspace.threads.stop import StopToken

_Result = TypeVar("_Result")

_HORIZON = 2.0
"""How far ahead a turn is reserved, in seconds. Turns of killed processes pass unused, so there must be few of them."""
_MAX_BLOCK = 600.0
"""A service that asks for a longer wait is asked again after this time: the user may have changed the key since."""


class Turn(Frozen):
    """The answer to a process that wants to send a request.

    It may send one in `wait` seconds if `is_granted`; otherwise it must ask again by then. `is_blocked`: the service
    asked to wait.
    """

    wait: float
    is_granted: bool
    is_blocked: bool = False


class SharedRateLimit:
    """Spaces the requests to a service evenly, `rate` per minute; None for no limit.

    A wait that the service asked one process for applies to all of them. If the file cannot be used, the limit applies
    to this process alone. Every method blocks for a moment and is for a thread. The clock must be the one of the
    machine; a state from the future of it is void.
    """

    def __init__(
        self,
        file: RateStateFile,
        service: str,
        rate: float | None,
        *,
        clock: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self.service = service
        self.rate = rate
        self._file = file
        self._interval = 60.0 / rate if rate is not None else 0.0
        self._clock = clock
        self._own_states: dict[str, ServiceState] = {}

    def take_turn(self, stop: StopToken) -> Turn:
        """Reserve the next turn, if it is not too far away."""
        return self._update(self._take_turn, stop)

    def block(self, seconds: float, stop: StopToken) -> None:
        """Let no process send a request for this time."""

        def block(state: ServiceState, now: float) -> tuple[ServiceState, None]:
            until = now + min(seconds, _MAX_BLOCK)
            return replace(state, blocked_until=max(state.blocked_until, until)), None

        self._update(block, stop)

    def is_blocked(self, stop: StopToken) -> bool:
        """Whether the service asked to wait, and the time is not over."""
        return self._update(lambda state, now: (state, state.blocked_until > now), stop)

    def find_problem(self, stop: StopToken) -> str:
        """Return why the state cannot be shared with other processes, "" if it can."""
        try:
            self._file.update(len, stop)
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def _take_turn(self, state: ServiceState, now: float) -> tuple[ServiceState, Turn]:
        if state.blocked_until > now:
            return state, Turn(state.blocked_until - now, is_granted=False, is_blocked=True)
        if not self._interval:
            return state, Turn(0.0, is_granted=True)
        wait = max(state.next_request - now, 0.0)
        reach = max(_HORIZON, self._interval)
        if wait > reach:
            # Those who wait longer come back at different times, long before the reserved turns are used up.
            return state, Turn(wait - reach + reach / 2 * _random_fraction(), is_granted=False)
        return replace(state, next_request=now + wait + self._interval), Turn(wait, is_granted=True)

    def _update(self, work: Callable[[ServiceState, float], tuple[ServiceState, _Result]], stop: StopToken) -> _Result:
        def change(states: dict[str, ServiceState]) -> _Result:
            now = self._clock()
            state = states.get(self.service, ServiceState())
            if state.changed > now:
                state = ServiceState()
            changed, result = work(state, now)
            if changed is not state:
                states[self.service] = replace(changed, changed=now)
            return result

        try:
            return self._file.update(change, stop)
        except OSError:
            return change(self._own_states)


def _random_fraction() -> float:
    # Importing `random` takes longer than everything else here.
    return os.urandom(1)[0] / 255
