"""Rates on the command line, such as `gemini=60/min`."""

import math
import re

from tejat.core.i18n import _
from tejat.models.names import Provider

_RATE = re.compile(r"\s*(?P<service>[A-Za-z]+)\s*=\s*(?P<number>[0-9.]+)\s*/\s*(?P<unit>[A-Za-z]+)\s*")
_PER_MINUTE = {
    **dict.fromkeys(("s", "sec", "second"), 60.0),
    **dict.fromkeys(("m", "min", "minute"), 1.0),
    **dict.fromkeys(("h", "hour"), 1 / 60),
}


def parse_rate(text: str) -> tuple[str, float]:
    """Return the service and its requests per minute. Raises ValueError.

    The service is the prefix of its model names.
    """
    found = _RATE.fullmatch(text)
    try:
        rate = float(found["number"]) * _PER_MINUTE[found["unit"].lower()] if found else 0.0
    except (ValueError, KeyError):
        rate = 0.0
    if not found or not math.isfinite(rate) or rate <= 0:
        message = _("Not a rate: {text!r}. Write SERVICE=NUMBER/min, for example gemini=60/min.", text=text[:100])
        raise ValueError(message + " " + _("The units are /s, /min and /h."))
    service = found["service"].lower()
    if service not in list(Provider):
        known = ", ".join(Provider)
        raise ValueError(_("Unknown service {service!r}. Use one of: {known}.", service=service, known=known))
    return service, rate
