"""How a session with a person begins: is the folder trusted, is there a model, and then the talk."""

from collections.abc import Awaitable, Callable

from tejat.app.onboarding.trust import StartupExit, setup_trust
from tejat.app.session.interactive import InteractiveSession, open_interactive_session
from tejat.cli.args import RunOptions, to_agent_options
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.ui.prompter import UserPrompter


async def run_startup(
    options: RunOptions,
    prompter: UserPrompter,
    approver: Approver,
    talk: Callable[[InteractiveSession], Awaitable[int]],
) -> int | StartupExit:
    """The exit code of the talk, or what the person wants in the place of one. Raises TejatError."""
    settled = await setup_trust(to_agent_options(options), prompter)
    while isinstance(settled, AgentOptions):
        try:
            async with open_interactive_session(settled, approver) as interactive:
                return await talk(interactive)
        except ModelFailure as failure:
            if failure.kind is not FailureKind.NO_KEY:
                raise
        from tejat.app.onboarding.model import setup_model

        settled = await setup_model(settled, prompter)
    return settled
