"""The hooks of a run."""

from collections.abc import Sequence

from tejat.app.run_config import RunConfig
from tejat.app.tools.tool_services import ToolServices
from tejat.config.hooks import HookConfig, parse_hooks
from tejat.config.paths import SourceTier
from tejat.core.agent.hooks import Hook, HookEvent
from tejat.core.approval.confirmation import Approver
from tejat.core.frozen import replace
from tejat.engine.hooks.factory import open_hooks
from tejat.engine.hooks.session_hooks import SessionHooks


def start_hooks(
    run_config: RunConfig,
    approver: Approver | None,
    services: ToolServices,
    functions: Sequence[tuple[HookEvent, Hook]] = (),
) -> SessionHooks | None:
    """Start the configured hooks, None if there are none. Their processes end with the services. Raises UsageError.

    Hooks never start in an untrusted folder, because many programs obey files in their working directory. `functions`
    are those of the embedding program, which no settings turn off.
    """
    settings = run_config.settings
    configured = parse_hooks(settings.hooks, settings.hooks_switches, run_config.extension_effects.hooks)
    configured = replace(configured, hooks=(*configured.hooks, *(_function_hook(*each) for each in functions)))
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


def _function_hook(event: HookEvent, hook: Hook) -> HookConfig:
    """The configuration of a Python function. Each sees what those before it have changed."""
    name = hook.name or getattr(hook.function, "__name__", type(hook.function).__name__)
    matcher = "" if hook.matcher.strip() == "*" else hook.matcher.strip()
    return HookConfig(
        *(event, event.value, name, "", matcher, SourceTier.USER, "Agent(hooks=...)"),
        timeout=hook.timeout,
        is_sequential=True,
        function=hook.function,
    )
