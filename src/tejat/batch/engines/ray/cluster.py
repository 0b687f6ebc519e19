"""A Ray cluster as the driver sees it: the connection, the nodes, and whether it is still there."""

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Any

from tejat.batch.engines.contract import EngineUnavailable
from tejat.batch.engines.local import usable_cores
from tejat.batch.engines.ray.library import load_ray
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.sanitize import sanitize_line
from tejat.workspace.threads.daemon import run_in_daemon

_ANSWER_SECONDS = 20.0
_FRESH_SECONDS = 1.0
_PATIENCE_SECONDS = 30.0
"""How long a cluster may be without a node for the jobs."""
_OBJECT_STORE_BYTES = 256 * 2**20
_NAMED = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
"""Resources that have a parameter of their own."""
_MAX_REASON = 300


class ClusterView(Frozen):
    """The nodes of a cluster. `slots` is how many jobs fit on them, `machines` how many computers they are."""

    slots: int
    machines: int
    has_own_node: bool


class RayCluster:
    """A connection to a cluster."""

    def __init__(self, resources: Mapping[str, float]) -> None:
        """`resources` are what each job needs."""
        self.ray = load_ray()
        self._resources = resources
        self.own_node = ""
        """The node that this process is connected to."""
        self._view = ClusterView(0, 1, has_own_node=True)
        self._seen = -math.inf
        self._fitted = time.monotonic()
        self._address = ""

    def connect(self, address: str, *, jobs: int | None, directory: str) -> None:
        """Connect to a cluster, or start one for this process with its files in `directory`. Blocks.

        Raises EngineUnavailable.
        """
        self._address = address
        quiet = {"log_to_driver": False, "configure_logging": False}
        try:
            if address:
                self.ray.init(address=address, **quiet)
            else:
                self.ray.init(address="local", **quiet, **self._local_options(jobs, directory))
            self.own_node = self.ray.get_runtime_context().get_node_id()
            self._view = self._read_view()
        except Exception as error:
            raise EngineUnavailable(self._connection_problem(error)) from error
        self._seen = self._fitted = time.monotonic()
        if not self._view.slots:
            wanted = ", ".join(f"{name}={amount:g}" for name, amount in self._resources.items())
            raise EngineUnavailable(
                _(
                    "No node of the Ray cluster has what a task needs: {wanted}. Ask for less, or add nodes.",
                    wanted=wanted,
                )
            )

    @property
    def view(self) -> ClusterView:
        """The nodes when they were last looked at."""
        return self._view

    def task_options(self) -> dict[str, Any]:
        """The options of a Ray task that runs a job."""
        named = {_NAMED[name]: amount for name, amount in self._resources.items() if name in _NAMED}
        other = {name: amount for name, amount in self._resources.items() if name not in _NAMED}
        return {"max_retries": 0, "num_cpus": 0, **named, "resources": other or None}

    async def check(self) -> None:
        """Look at the nodes again, at most once a second. Raises EngineUnavailable if the cluster is of no use."""
        if time.monotonic() - self._seen < _FRESH_SECONDS:
            return
        self._seen = time.monotonic()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                self._view = await run_in_daemon(self._read_view)
        except Exception as error:
            raise EngineUnavailable(self._gone()) from error
        now = time.monotonic()
        if self._view.slots:
            self._fitted = now
        if not self._view.has_own_node or now - self._fitted > _PATIENCE_SECONDS:
            raise EngineUnavailable(self._gone())

    def _local_options(self, jobs: int | None, directory: str) -> dict[str, Any]:
        cores, count = usable_cores(), jobs or 1
        needed = {name: amount * count for name, amount in self._resources.items()}
        gpus = {"num_gpus": math.ceil(needed["GPU"])} if "GPU" in needed else {}
        return {
            "num_cpus": max(cores, math.ceil(needed.get("CPU", 0))),
            **gpus,
            "resources": {name: amount for name, amount in needed.items() if name not in _NAMED},
            "include_dashboard": False,
            "object_store_memory": _OBJECT_STORE_BYTES,
            "_temp_dir": directory,
            "_node_ip_address": "127.0.0.1",
        }

    def _read_view(self) -> ClusterView:
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        return ClusterView(
            slots=sum(self._count_slots(node["Resources"]) for node in alive),
            machines=len({node["NodeManagerHostname"] for node in alive}),
            has_own_node=any(node["NodeID"] == self.own_node for node in alive),
        )

    def _count_slots(self, total: Mapping[str, float]) -> int:
        wanted = {name: amount for name, amount in self._resources.items() if amount > 0}
        return int(min((total.get(name, 0.0) // amount for name, amount in wanted.items()), default=1))

    def _connection_problem(self, error: Exception) -> str:
        reason = describe_error(error)
        if not self._address:
            return _("Ray cannot start on this machine: {reason}", reason=reason)
        if type(error).__name__ == "AuthenticationError":
            hint = _("Set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH to the token of the cluster.")
        else:
            hint = _(
                "Check the address, and that this machine is a node of the cluster: ray start --address={address}",
                address=self._address,
            )
        return f"{no_answer(self._address)} {reason} {hint}"

    def _gone(self) -> str:
        if not self._address:
            return _("The local Ray cluster has ended. Run the same command again to continue.")
        return _(
            "The Ray cluster at {address} is gone. Start it again, then run the same command to continue.",
            address=self._address,
        )


def no_answer(address: str) -> str:
    """The message for a cluster that cannot be reached."""
    return _("No connection to a Ray cluster at {address}.", address=sanitize_line(address))


def describe_error(error: BaseException) -> str:
    """The first line of an error of Ray."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = sanitize_line(lines[0][:_MAX_REASON]) if lines else type(error).__name__
    return text if text.endswith(".") else f"{text}."
