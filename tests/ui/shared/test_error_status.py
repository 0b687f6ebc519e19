"""Why a run could not begin: a name and an exit code for each kind of error."""

import pytest

from tejat.core.errors import ConfigurationError, NotTrusted, SandboxUnavailable, TejatError, UsageError
from tejat.core.model import FailureKind, ModelFailure
from tejat.ui.shared.exit_status import classify_error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SandboxUnavailable("x"), ("sandbox", 44)),
        (NotTrusted("x"), ("untrusted", 55)),
        (ConfigurationError("x"), ("configuration", 52)),
        (UsageError("x"), ("input", 42)),
        (TejatError("x"), ("failed", 1)),
    ],
)
def test_each_kind_of_error(error: TejatError, told: tuple[str, int]) -> None:
    assert classify_error(error) == told


@pytest.mark.parametrize("kind", FailureKind)
def test_failures_of_models(kind: FailureKind) -> None:
    is_about_a_key = kind in (FailureKind.NO_KEY, FailureKind.AUTHENTICATION)
    assert classify_error(ModelFailure("x", kind)) == (("authentication", 41) if is_about_a_key else ("failed", 1))
