"""A trial start of the MCP servers of an extension that nobody has agreed to: in the sandbox, without network."""

import os
import re
import tempfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager

from tejat import __version__
from tejat.app.extensions.description.programs import fetches_code
from tejat.app.extensions.description.server_tools import ProbedServer, ProbedTool, ProbeState
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.app.extensions.session.programs import blocked_servers, read_servers
from tejat.app.extensions.staged import StagedExtension
from tejat.app.mcp.manager import register_server_tools
from tejat.app.mcp.server_plan import StartBlockers, to_mcp_root
from tejat.app.tools.listed_tools import builtin_registry
from tejat.app.tools.sandbox.paths import sandbox_paths
from tejat.config.extensions.variables import ExtensionVariables
from tejat.config.paths import SourceTier
from tejat.config.settings.types import McpServer, Setting
from tejat.config.trust.decision import TrustDecision, TrustLevel
from tejat.core.approval.modes import SandboxMode
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.core.sanitize import sanitize_line
from tejat.engine.calls.secret_mask import SecretMask
from tejat.mcp.client import ClientLimits, ServerPlan
from tejat.mcp.client_pool import McpClientPool
from tejat.mcp.features.tool_pins import ToolPins
from tejat.mcp.transports.base import Transport
from tejat.mcp.transports.stdio_factory import create_stdio_transport
from tejat.mcp.types import ClientCallbacks, ServerState, ServerStatus
from tejat.workspace.context import Workspace
from tejat.workspace.processes.environment import VariableLists
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.session_sandbox import SessionSandbox

START_SECONDS = 20.0
"""Time for the start and handshake of a server, and again for the list of its tools."""
_TOTAL_SECONDS = 60.0
_MAX_REASON = 300
_NETWORK_SIGNS = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|getaddrinfo|name resolution|NameResolution|dns error"
    r"|name or service not known|network is (?:unreachable|down)|could ?n[o']t resolve|no such host|connection refused"
    r"|fetch failed|no address associated",
    re.IGNORECASE,
)


def starts_programs(staged: StagedExtension) -> bool:
    """Whether a trial start would run anything: remote servers are not contacted."""
    return any(_is_program(server) for server in staged.contents.servers.values())


async def probe_servers(environment: ExtensionEnvironment, staged: StagedExtension) -> tuple[ProbedServer, ...]:
    """Start the servers of an extension once, list their tools, and end them.

    They can write to an empty directory only and have no network. They get the variables of a real start, and of the
    extension's settings the values that the user gave to the installed one from the same source. In a folder that is
    not trusted the empty directory is their workspace. Raises SandboxUnavailable, ConfigurationError and OSError.
    """
    with _open_place(environment, staged) as place:
        return await _Probe(environment, staged, place).run()


class _Place(Frozen):
    """What the servers see: their workspace, an empty directory that they can write to, and the sandbox."""

    workspace: str
    empty: str
    sandbox: SessionSandbox
    supervisor: ProcessSupervisor


@contextmanager
def _open_place(environment: ExtensionEnvironment, staged: StagedExtension) -> Generator[_Place]:
    """Raises SandboxUnavailable and OSError."""
    with ExitStack() as stack:
        empty = os.path.realpath(stack.enter_context(tempfile.TemporaryDirectory(prefix="tejat-probe-")))
        workspace = os.path.realpath(environment.root) if environment.run_config.trust.is_trusted else empty
        roots = stack.enter_context(Workspace((empty,))).roots.directories
        paths = sandbox_paths(environment.paths, roots)
        sandbox = stack.enter_context(SessionSandbox(SandboxMode.REQUIRED, paths))
        sandbox.show(os.path.realpath(staged.tree))
        sandbox.show(workspace)
        supervisor = ProcessSupervisor()
        stack.callback(supervisor.close)
        yield _Place(workspace, empty, sandbox, supervisor)


class _Probe:
    def __init__(self, environment: ExtensionEnvironment, staged: StagedExtension, place: _Place) -> None:
        self._run_config = environment.run_config
        self._place = place
        self._contents = staged.contents
        self._pins = ToolPins(os.path.join(place.empty, "pins"))
        self._registry = builtin_registry()
        manifest, settings = staged.manifest, self._run_config.settings
        values = _given_values(environment, staged)
        blocked = tuple(entry.value for entry in settings.environment_blocked)
        self._lists = VariableLists(settings.shell_environment.value, settings.environment_allowed.value, blocked)
        known = self._lists.without_blocked(self._run_config.environment)
        self._servers = read_servers(manifest, ExtensionVariables(staged.tree, place.workspace, known, values))
        declared = manifest.effective_settings
        missing = {setting.variable: setting.name for setting in declared if setting.variable not in values}
        self._blocked = blocked_servers(manifest, missing)
        self._mask = SecretMask({**self._run_config.named_secrets, **values})

    async def run(self) -> tuple[ProbedServer, ...]:
        skipped = dict(self._find_skipped())
        plans = [self._plan(alias, each) for alias, each in self._servers.items() if alias not in skipped]
        host = ClientCallbacks(roots=lambda: [to_mcp_root(self._place.workspace)])
        limits = ClientLimits(start=START_SECONDS, listing=START_SECONDS)
        pool = McpClientPool(plans, host, version=__version__, on_change=lambda _status: None, limits=limits)
        try:
            pool.start()
            await pool.wait_until_settled(_TOTAL_SECONDS)
            settled = {status.alias: self._describe(pool, status) for status in pool.statuses()}
        finally:
            await pool.close()
        return tuple(skipped.get(alias) or settled[alias] for alias in self._servers)

    def _find_skipped(self) -> Mapping[str, ProbedServer]:
        """The servers that are not started: those that a session would not start, remote ones, and downloaders."""
        blockers = StartBlockers(replace(self._run_config, trust=TrustDecision(TrustLevel.TRUSTED, "")))
        skipped: dict[str, ProbedServer] = {}
        for alias, setting in self._servers.items():
            server, barrier = setting.value, blockers.find(alias)
            reason = self._blocked.get(alias, "") if barrier is None else barrier[1]
            if not _is_program(server):
                written = self._contents.servers[alias]  # without the values of variables
                address = written.http_url or written.url or written.tcp or ""
                skipped[alias] = ProbedServer(alias, ProbeState.REMOTE, lazy("it is a remote server"), address)
            elif reason:
                skipped[alias] = ProbedServer(alias, ProbeState.NOT_STARTED, reason)
            elif fetches_code((server.command or "", *server.arguments)):
                reason = lazy("it fetches its code at every start")
                skipped[alias] = ProbedServer(alias, ProbeState.NEEDS_NETWORK, reason)
        return skipped

    def _plan(self, alias: str, setting: Setting[McpServer]) -> ServerPlan:
        server = setting.value

        def connect() -> Transport:
            return create_stdio_transport(
                setting,
                supervisor=self._place.supervisor,
                root=self._place.workspace,
                base_environment=self._run_config.environment,
                variables=self._run_config.reference_variables(SourceTier.EXTENSION),
                variable_lists=self._lists,
                wrap=self._place.sandbox.wrap_program,
            )

        limit = min(server.start_timeout, START_SECONDS)
        return ServerPlan(alias, "stdio", server.command or "", connect, timeout=START_SECONDS, start_timeout=limit)

    def _describe(self, pool: McpClientPool, status: ServerStatus) -> ProbedServer:
        server = self._servers[status.alias].value
        if status.state is ServerState.CONNECTED:
            client = pool.clients[status.alias]
            found = register_server_tools(self._registry, client, status.features, server, self._pins)
            tools = tuple(ProbedTool(tool.name, estimate_declaration_tokens(tool.schema)) for tool in found.tools)
            problems = tuple(map(self._one_line, found.problems))
            return ProbedServer(status.alias, ProbeState.LISTED, tools=tools, problems=problems)
        reason = self._mask.mask_text(status.reason) or lazy("It did not answer in time.")
        output = [line for line in map(self._one_line, status.recent_output) if line.strip()]
        sign = next((line for line in reversed(output) if _NETWORK_SIGNS.search(line)), None)
        if sign is not None:
            return ProbedServer(status.alias, ProbeState.NEEDS_NETWORK, reason, sign)
        return ProbedServer(status.alias, ProbeState.FAILED, reason, output[-1] if output else "")

    def _one_line(self, text: str) -> str:
        line = sanitize_line(self._mask.mask_text(str(text)))
        return line if len(line) <= _MAX_REASON else f"{line[:_MAX_REASON]}…"


def _is_program(server: McpServer) -> bool:
    """Whether a server is started here, and not reached over the network."""
    return bool(server.command) and not (server.http_url or server.url)


def _given_values(environment: ExtensionEnvironment, staged: StagedExtension) -> dict[str, str]:
    """The values that the user gave to the installed extension of this name, if it is from the same source."""
    found = environment.find_all().find(staged.manifest.name)
    if found is None or found.manifest is None or found.record is None or found.consent is None:
        return {}
    if found.record.source != staged.record.source:
        return {}
    stored = environment.settings_store(found).read(found.manifest)
    return {variable: value.value for variable, value in stored.items()}
