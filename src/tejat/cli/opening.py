"""How a session with a person begins: is the folder trusted, is there a model, and then the talk."""

from collections.abc import Awaitable, Callable

from tejat.app.desk import Desk, open_desk
from tejat.app.first_trust import Instead, settle_trust
from tejat.cli.run_options import RunOptions, agent_options
from tejat.core.agent_options import AgentOptions
from tejat.core.confirm import Approver
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.person import Person


async def open_and_talk(
    options: RunOptions, person: Person, approver: Approver, talk: Callable[[Desk], Awaitable[int]]
) -> int | Instead:
    """The exit code of the talk, or what the person wants in the place of one. Raises TejatError."""
    settled = await settle_trust(agent_options(options), person)
    while isinstance(settled, AgentOptions):
        try:
            async with open_desk(settled, approver) as desk:
                return await talk(desk)
        except ModelFailure as failure:
            if failure.kind is not FailureKind.NO_KEY:
                raise
        from tejat.app.first_model import settle_model

        settled = await settle_model(settled, person)
    return settled
