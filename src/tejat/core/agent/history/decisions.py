"""How tool calls were approved."""

from tejat.core.text.str_enum import StrEnum


class CallDecision(StrEnum):
    """Who decided about a call. The values are those in journals."""

    ONCE = "once"
    """The user allowed this call."""
    ALWAYS = "always"
    """The user allowed this call and later ones like it."""
    RULE = "rule"
    """A rule allowed it."""
    REFUSED = "refused"
    """The user refused it."""
    DENIED = "denied"
    """A rule denied it, or nobody could be asked."""
    UNDECIDED = ""
    """It ended before anybody decided: unknown, invalid or cancelled."""
