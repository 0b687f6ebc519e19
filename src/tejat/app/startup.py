"""Start-up of an interactive run: user configuration, trust, project configuration, model, session."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from tejat.app.onboarding.trust import StartupExit, review_instructions, setup_trust
from tejat.app.run_config import RunConfig, UserConfig, load_agent_config
from tejat.app.session.interactive import InteractiveSession, open_interactive_session
from tejat.app.session.lifespan import ServeSession
from tejat.core.agent.options import AgentOptions
from tejat.core.errors import SandboxUnavailable
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.ui.prompter import UserPrompter


@asynccontextmanager
async def open_startup_session(
    options: AgentOptions, config: UserConfig, user: UserPrompter, serve: ServeSession | None = None
) -> AsyncGenerator[InteractiveSession | StartupExit]:
    """Run the onboarding steps that are needed and open a session, or yield what the user chose instead.

    Raises TejatError if the session cannot be opened.
    """
    async with AsyncExitStack() as stack:
        session = await _open_session(stack, options, config, user)
        if serve is not None and not isinstance(session, StartupExit):
            await stack.enter_async_context(serve(session.events, lambda: session))
        yield session


async def _open_session(
    stack: AsyncExitStack, options: AgentOptions, config: UserConfig, user: UserPrompter
) -> InteractiveSession | StartupExit:
    trusted = await setup_trust(config, user)
    if isinstance(trusted, StartupExit):
        return trusted
    config = trusted
    if (leaving := await review_instructions(config, user)) is not None:
        return leaving
    run_config = await load_project(options, config, user)
    while True:
        try:
            session = await stack.enter_async_context(open_interactive_session(options, run_config=run_config))
            await session.offer_system_prompt(user)
            is_allowed = await session.check_cost_limit(user)
            return session if is_allowed else StartupExit.QUIT
        except SandboxUnavailable as refused:
            from tejat.app.onboarding.sandbox_image import offer_image_pull

            if (leaving := await offer_image_pull(refused, user, options.environment)) is not None:
                return leaving
            continue
        except ModelFailure as failure:
            if failure.kind is not FailureKind.NO_KEY:
                raise
        from tejat.app.onboarding.model import setup_model

        configured = config.settings.model_name
        chosen = await setup_model(options, user, configured=None if configured is None else configured.value)
        if isinstance(chosen, StartupExit):
            return chosen
        options = chosen
        run_config = load_agent_config(options)


async def load_project(options: AgentOptions, config: UserConfig, user: UserPrompter) -> RunConfig:
    """Load the whole configuration, and again if the user agreed to an extension. Raises UsageError."""
    run_config = load_agent_config(options, config)
    if not run_config.extension_effects.unreviewed:
        return run_config
    from tejat.app.onboarding.extensions import review_extensions

    return load_agent_config(options, config) if await review_extensions(run_config, user) else run_config
