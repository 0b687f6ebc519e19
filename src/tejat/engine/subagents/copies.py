"""Sub-agents that work in a copy of the files, whose changes the user reviews at the end."""

from typing import Protocol

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool
from tejat.engine.subagents.rights import AgentPermission
from tejat.policy.engine import is_built_in
from tejat.policy.types import CallFacts, Decision, PolicyVerdict

_SOURCE = lazy("the copy of the files")
_REASON = lazy("It works in a copy of the files, and its changes are reviewed at the end.")


class CopyUnavailable(TejatError):
    """An agent must work in a copy, and there is none. The message says why."""


class CopyReview(Frozen):
    """What became of the changes in a copy.

    `text` tells the parent. `feedback` sends the agent back to work. `patch` are changes that nobody could keep.
    """

    text: str = ""
    feedback: str = ""
    patch: str = ""


class AgentCopy(Protocol):
    """A copy of the files that one run works in."""

    def copied(self, tool: BaseTool) -> BaseTool:
        """The tool as it works in the copy; the same one if it does not work on files."""
        ...

    async def review(self, result: str) -> CopyReview:
        """Show the changes to the user, and keep or discard them. `result` is what the agent handed in."""
        ...


class CopyPermission(AgentPermission):
    """Does not ask before changes in the copy: nothing real has changed until the user has seen them all.

    Denials, the user's own rules, control files, secrets and the network are as ever.
    """

    def decide(self, tool: BaseTool, params: Params) -> tuple[CallFacts, PolicyVerdict]:
        facts, verdict = super().decide(tool, params)
        is_asked = verdict.decision is Decision.ASK and not verdict.always_ask and is_built_in(verdict)
        # Of the tools of this machine, only those in the copy change no files.
        if is_asked and not tool.may_change_files and not facts.wants_network and facts.server is None:
            return facts, PolicyVerdict(Decision.ALLOW, None, _REASON, setting=_SOURCE)
        return facts, verdict
