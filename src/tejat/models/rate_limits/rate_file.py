"""The file with the requests per minute of each service."""

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.json_text import InvalidJson, dump_json, load_json
from tejat.core.messages.types import JsonValue
from tejat.models.names import Provider
from tejat.workspace.files.private_files import write_private_file
from tejat.workspace.files.regular_file import regular_file_opener

RATE_LIMITS_VARIABLE = "TEJAT_RATE_LIMITS"
"""The environment variable that names the file."""
_VERSION = 1
_MAX_BYTES = 65_536


def create_rate_file(path: str, rates: Mapping[str, float]) -> None:
    """Write the rates, requests per minute by service, to a file for `TEJAT_RATE_LIMITS`.

    A service is named by the prefix of its models, such as `gemini` or `openai`. Services without a rate are not
    limited, but a wait that one of them asks for is shared too. The file is replaced in one step, and only if the rates
    differ, so every job of a batch may call this. The file looks like this:

        {"version":1,"rates":{"gemini":60.0,"openai":500.0}}

    The state of the limits is in a file beside it (`state_file.py`).

    Raises OSError, and ValueError for a rate that is not a positive number.
    """
    checked: dict[str, JsonValue] = {service: _check_rate(service, rates[service]) for service in sorted(rates)}
    text = dump_json({"version": _VERSION, "rates": checked})
    with suppress(OSError):
        if _read_small_file(path) == text.encode():
            return
    write_private_file(path, text)


def read_rates(path: str) -> dict[str, float]:
    """The requests per minute by service; none if there is no file. Raises UsageError for an invalid one."""
    try:
        return _parse_rates(load_json(_read_small_file(path)))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        message = _(
            "{variable}: could not read the rate limits in {path}: {why}.",
            variable=RATE_LIMITS_VARIABLE,
            path=path,
            why=why,
        )
        raise UsageError(message) from None


def _parse_rates(found: object) -> dict[str, float]:
    file = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    rates = file.get("rates")
    if file.get("version") != _VERSION or not isinstance(rates, dict):
        raise InvalidJson(_("it is not a file of rates"))
    return {service: _check_rate(service, rate) for service, rate in cast("dict[str, object]", rates).items()}


def _read_small_file(path: str) -> bytes:
    with open(path, "rb", opener=regular_file_opener) as file:
        return file.read(_MAX_BYTES)


def _check_rate(service: str, rate: object) -> float:
    """Return the rate of a service. Raises ValueError."""
    if service not in list(Provider):
        known = ", ".join(Provider)
        raise ValueError(_("unknown service {service!r}. Use one of: {known}", service=service, known=known))
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not math.isfinite(rate) or rate <= 0:
        raise ValueError(_("the rate of {service} must be a number above 0", service=service))
    return float(rate)
