"""The rules that hold where nobody wrote any."""

from tejat.core.words import phrase
from tejat.policy.rules import Decision, Mode, Rule, Tier
from tejat.policy.tool_names import MEMORY, SHELL

_SOURCE = phrase("built-in")
_PLAN = frozenset({Mode.PLAN})

_FREE = (
    "list_directory",
    "read_file",
    "search_file_content",
    "glob",
    "read_many_files",
    "list_background_processes",
    "read_background_output",
)
_CHANGING = ("write_file", "replace", MEMORY, "stop_background_process")
"""What these do is never reading, whatever they are given."""


def default_rules() -> tuple[Rule, ...]:
    """Reading is free, the rest asks. Where no rule matches, not even one of these, the answer is to ask."""
    return (
        *(Rule(Decision.ALLOW, Tier.DEFAULT, _SOURCE, tool) for tool in _FREE),
        Rule(Decision.ALLOW, Tier.DEFAULT, _SOURCE, "google_web_search", network=True),
        Rule(Decision.ASK, Tier.DEFAULT, _SOURCE, "web_fetch", network=True),
        Rule(Decision.ASK, Tier.DEFAULT, _SOURCE, SHELL),
        *(Rule(Decision.ASK, Tier.DEFAULT, _SOURCE, tool) for tool in _CHANGING),
        *(
            Rule(Decision.DENY, Tier.DEFAULT, _SOURCE, tool, modes=_PLAN, message=phrase("Plan mode only reads."))
            for tool in _CHANGING
        ),
    )
