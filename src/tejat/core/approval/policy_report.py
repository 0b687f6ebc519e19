"""What a person is told about the policy and the place they are in: why a call would be allowed, what works here."""

from tejat.core.frozen import frozen
from tejat.core.messages.types import JsonObject


@frozen
class PolicyOptions:
    """What the command line says about the policy of a run. `mode` None: as the settings say."""

    roots: tuple[str, ...] = (".",)
    allowed_tools: tuple[str, ...] = ()
    mode: str | None = None


@frozen
class PolicyExplanation:
    """What would be decided on a call, and why. `rule` is None where none matched; `source` names its file and line.

    For a shell line `commands` tells each command found in it and what it does, `doubts` why the line is not plain.
    """

    decision: str
    rule: str | None
    source: str
    reason: str
    commands: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return {
            "decision": self.decision,
            "rule": self.rule,
            "source": self.source,
            "reason": self.reason,
            "commands": self.commands,
            "doubts": self.doubts,
        }


@frozen
class RuleListing:
    """A rule as it is listed. `id` is what a saved one is revoked by, None for others."""

    tier: str
    text: str
    source: str
    id: str | None = None

    def to_json(self) -> JsonObject:
        return {"tier": self.tier, "rule": self.text, "source": self.source, "id": self.id}


@frozen
class PolicyCaseResult:
    """A case of a policy test: where it stands, the call, and what the policy says.

    `expected` tells what should have come out, and of a case that did not pass also what came out instead.
    """

    source: str
    call: str
    expected: str
    actual: PolicyExplanation
    passed: bool


@frozen
class DoctorCheck:
    """One thing that was tried: whether it works, and how or why not, in words. `group` is what it belongs to."""

    group: str
    name: str
    passed: bool
    detail: str

    def to_json(self) -> JsonObject:
        return {"group": self.group, "name": self.name, "works": self.passed, "how": self.detail}
