"""Built-in rules."""

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import lazy
from tejat.core.messages.tool_names import PLAN_WRITERS
from tejat.policy.tool_names import MEMORY, SESSION_TOOLS, SHELL
from tejat.policy.types import Decision, PolicyRule, Tier

_SOURCE = lazy("built-in")
_PLAN = frozenset({ApprovalMode.PLAN})

_READ_ONLY_TOOLS = (
    "list_directory",
    "read_file",
    "search_file_content",
    "glob",
    "read_many_files",
    "list_background_processes",
    "read_background_output",
    "recall",
    "get_internal_docs",
)
_SESSION_TOOLS = tuple(sorted(SESSION_TOOLS))
_WRITE_TOOLS = (*PLAN_WRITERS, MEMORY, "stop_background_process")
"""These change something with any arguments."""


def default_rules() -> tuple[PolicyRule, ...]:
    """Return the built-in rules: reading is allowed, everything else asks. Without any match the decision is to ask."""
    return (
        *(PolicyRule(Decision.ALLOW, Tier.DEFAULT, _SOURCE, tool) for tool in (*_READ_ONLY_TOOLS, *_SESSION_TOOLS)),
        PolicyRule(Decision.ALLOW, Tier.DEFAULT, _SOURCE, "google_web_search", allows_network=True),
        PolicyRule(Decision.ALLOW, Tier.DEFAULT, _SOURCE, "invoke_agent"),  # what the agent does is decided
        PolicyRule(Decision.ASK, Tier.DEFAULT, _SOURCE, "web_fetch", allows_network=True),
        PolicyRule(Decision.ASK, Tier.DEFAULT, _SOURCE, SHELL),
        *(PolicyRule(Decision.ASK, Tier.DEFAULT, _SOURCE, tool) for tool in _WRITE_TOOLS),
        *(
            PolicyRule(Decision.DENY, Tier.DEFAULT, _SOURCE, tool, modes=_PLAN, spares_plans=tool in PLAN_WRITERS)
            for tool in _WRITE_TOOLS
        ),
    )
