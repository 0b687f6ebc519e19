"""Provenance in words."""

import pytest

from tejat.core.provenance import Party, Provenance


def test_only_the_user_and_those_above_may_loosen() -> None:
    assert [party for party in Party if party.may_loosen] == [Party.BUILT_IN, Party.MACHINE, Party.USER]


@pytest.mark.parametrize(
    ("party", "expected"),
    [
        (Party.BUILT_IN, "built-in"),
        (Party.MACHINE, "administrator"),
        (Party.USER, "user"),
        (Party.EXTENSION, "extension gcp"),
        (Party.PROJECT, "project"),
    ],
)
def test_labels(party: Party, expected: str) -> None:
    assert Provenance(party, extension="gcp").label == expected
