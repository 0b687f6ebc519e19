from tejat.policy.tool_names import CANONICAL_NAMES, TOOL_ALIASES
from tejat.tools.registry import ALIASES, CLASS_ALIASES


def test_every_name_means_one_tool() -> None:
    others = [name for names in TOOL_ALIASES.values() for name in names]
    assert len(others) == len(set(others)) == len(CANONICAL_NAMES)
    assert not set(others) & set(TOOL_ALIASES)


def test_the_names_that_the_registry_knows_are_among_them() -> None:
    for name, aliases in ALIASES.items():
        assert set(aliases) <= set(TOOL_ALIASES[name])
    for class_name, aliases in CLASS_ALIASES.items():
        assert {CANONICAL_NAMES[alias] for alias in aliases} == {CANONICAL_NAMES[class_name]}
