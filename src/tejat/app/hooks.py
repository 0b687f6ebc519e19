"""The hooks of a run."""

from tejat.app.run_config import RunConfig
from tejat.app.tools.tool_services import ToolServices
from tejat.config.hooks import parse_hooks
from tejat.core.approval.confirmation import Approver
from tejat.engine.hooks.factory import open_hooks
from tejat.engine.hooks.session_hooks import SessionHooks


def start_hooks(run_config: RunConfig, approver: Approver | None, services: ToolServices) -> SessionHooks | None:
    """Start the configured hooks, None if there are none. Their processes end with the services. Raises UsageError.

    Hooks never start in an untrusted folder, because many programs obey files in their working directory.
    """
    settings = run_config.settings
    configured = parse_hooks(settings.hooks, settings.hooks_switches, run_config.extension_effects.hooks)
    if not configured.hooks and not configured.warnings:
        return None
    return open_hooks(
        configured,
        approver,
        services.supervisor,
        roots=run_config.roots,
        environment=run_config.environment,
        variable_lists=services.variable_lists,
        items=run_config.trust.items,
        extensions=run_config.extensions,
        directory=None if run_config.trust.is_trusted else run_config.paths.home,
    )
