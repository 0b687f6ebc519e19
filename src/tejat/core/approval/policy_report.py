"""Reports about the policy and the environment, for `tejat policy` and `tejat doctor`."""

from tejat.core.frozen import Frozen, fields_of
from tejat.core.i18n import join_lazy
from tejat.core.messages.types import JsonObject


def describe_mode(mode: str, source: str) -> str:
    """Return the approval mode for display, with its source unless it is the default."""
    return mode if source in ("", "default") else join_lazy("", (mode, " (", source, ")"))


class PolicyExplanation(Frozen):
    """The decision on a call, and why. `rule` is None if none matched; `source` is its file and line.

    For a shell command `commands` lists each command in it with its effects, and `doubts` what makes it hard to
    analyse. `scripts` are the files of skills that it may run, each with the full name of the skill. `mode` is the
    approval mode, and `mode_source` says who chose it.
    """

    decision: str
    rule: str | None
    source: str
    reason: str
    commands: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    mode: str = ""
    mode_source: str = ""
    scripts: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        return {field.name: getattr(self, field.name) for field in fields_of(PolicyExplanation)}


class RuleListing(Frozen):
    """A rule in a list.

    `id` identifies a saved rule, to revoke it. `remark` says why the rule does not count, or not as written.
    `description` is what its author wrote for people.
    """

    tier: str
    text: str
    source: str
    id: str | None = None
    remark: str | None = None
    description: str | None = None

    def to_json(self) -> JsonObject:
        return {
            "tier": self.tier,
            "rule": self.text,
            "source": self.source,
            "id": self.id,
            "remark": self.remark,
            "description": self.description,
        }


class PolicyCaseResult(Frozen):
    """The result of a policy test case: its source, the call, and the decision.

    `expected` describes the expected decision, and for a failed case the actual one too.
    """

    source: str
    call: str
    expected: str
    actual: PolicyExplanation
    passed: bool


class DoctorCheck(Frozen):
    """The result of one check: whether it passed, and the detail to show.

    A failed check with an `exit_code` would end a run with it. `fix` is a shell command that helps.
    """

    group: str
    name: str
    passed: bool
    detail: str
    exit_code: int = 0
    fix: str = ""

    def to_json(self) -> JsonObject:
        found: dict[str, str | bool] = {
            "group": self.group,
            "name": self.name,
            "works": self.passed,
            "how": self.detail,
        }
        return {**found, "fix": self.fix} if self.fix else found
