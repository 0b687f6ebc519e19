import pytest

from tejat.core.errors import UsageError
from tejat.policy.errors import PolicyError


@pytest.mark.parametrize(("line", "told"), [(3, "a.toml:3: no"), (None, "a.toml: no")])
def test_the_message_says_where(line: int | None, told: str) -> None:
    error = PolicyError("a.toml", line, "no")
    assert isinstance(error, UsageError)
    assert (str(error), error.file, error.line, error.problem) == (told, "a.toml", line, "no")
