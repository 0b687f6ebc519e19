from typing import Any

import pytest

from tejat.core.agent.model_chain import ChainAction, FailureClass, ModelChain
from tejat.models.catalogue.aliases import resolve_alias
from tejat.models.catalogue.catalogue_file import builtin_catalogue
from tejat.models.presets.chains import catalogue_chain, configured_chain, limit_chain

PRO, FLASH, OLD = "gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-2.5-pro"
TERMINAL, TRANSIENT, NOT_FOUND = FailureClass.TERMINAL, FailureClass.TRANSIENT, FailureClass.NOT_FOUND
SILENT, PROMPT = ChainAction.SILENT, ChainAction.PROMPT


def chain(name: str, *, is_gateway: bool = False) -> ModelChain:
    return catalogue_chain(name, builtin_catalogue(), is_gateway=is_gateway)


def names(found: ModelChain) -> list[str]:
    return [link.name for link in found.links]


@pytest.mark.parametrize(
    ("name", "models"),
    [
        ("auto", [PRO, FLASH]),
        ("auto-gemini-3", [PRO, FLASH]),
        ("auto-gemini-2.5", [OLD, FLASH]),
        ("pro", [PRO, FLASH]),
        (PRO, [PRO, FLASH]),
        ("flash", [FLASH, PRO]),
        ("gemini-3.5-flash", ["gemini-3.5-flash", PRO]),
        ("flash-lite", ["gemini-3.5-flash-lite", FLASH, OLD]),
        (OLD, [OLD]),
        ("gemini-2.5-flash", ["gemini-2.5-flash"]),
        ("unheard-of", ["unheard-of"]),
    ],
)
def test_who_takes_over(name: str, models: list[str]) -> None:
    assert names(chain(name)) == models


def test_attempts_and_actions() -> None:
    auto = chain("auto")
    assert [link.attempts for link in auto.links] == [3, 10]
    assert auto.links[0].actions == {TERMINAL: PROMPT, TRANSIENT: SILENT, NOT_FOUND: SILENT}
    assert (auto.headless_failures, auto.is_auto) == ({TRANSIENT, NOT_FOUND}, True)
    assert chain("flash-lite").links[0].actions == dict.fromkeys((TERMINAL, TRANSIENT, NOT_FOUND), SILENT)
    assert chain("pro").headless_failures == {NOT_FOUND}
    full_id = chain(PRO)
    assert full_id.links[0].actions == {TERMINAL: PROMPT, TRANSIENT: PROMPT}
    assert (full_id.headless_failures, full_id.is_auto) == (frozenset(), False)


def test_behind_a_gateway_aliases_end_with_a_model_that_most_know() -> None:
    assert names(chain("auto", is_gateway=True)) == [PRO, FLASH, OLD]
    assert names(chain("auto-gemini-2.5", is_gateway=True)) == [OLD, FLASH]
    assert names(chain(PRO, is_gateway=True)) == [PRO, FLASH]


def test_full_names_and_limits() -> None:
    found = limit_chain(chain("auto"), "vertex:", 2)
    assert [(link.name, link.attempts) for link in found.links] == [(f"vertex:{PRO}", 2), (f"vertex:{FLASH}", 2)]
    assert [link.attempts for link in limit_chain(chain("pro"), "", 2).links] == [None, None]
    assert [link.attempts for link in limit_chain(chain("auto"), "", None).links] == [3, 10]


def resolve(name: str) -> str:
    alias = resolve_alias(name, {})
    return name if alias is None else alias[1]


def configured(name: str, chains: Any) -> ModelChain | None:
    return configured_chain(name, chains, builtin_catalogue(), resolve)


PREVIEW = [
    {"model": "gemini-3-pro-preview", "maxAttempts": 2, "actions": {"terminal": "silent", "transient": "prompt"}},
    {"model": "flash", "isLastResort": True},
    {"no": "model"},
]


def test_chains_of_the_settings() -> None:
    found = configured(PRO, {"preview": PREVIEW})
    assert found is not None
    assert names(found) == [PRO, FLASH]
    assert found.links[0].attempts == 2
    assert found.links[0].actions[TERMINAL] is SILENT
    assert found.links[0].actions[FailureClass.UNKNOWN] is PROMPT
    assert found.headless_failures == {TERMINAL}
    turned = configured("flash", {"preview": PREVIEW})
    assert turned is not None
    assert names(turned) == [FLASH, PRO]


def test_which_chain_of_the_settings_counts() -> None:
    chains = {"auto-preview": PREVIEW, "lite": [{"model": "flash-lite"}, {"model": "m"}], "auto": [{"model": "pro"}]}
    auto, lite = configured("auto-gemini-3", chains), configured("flash-lite", chains)
    assert auto is not None
    assert lite is not None
    assert names(auto) == [PRO, FLASH]
    assert names(lite) == ["gemini-3.5-flash-lite", "m"]
    own = configured("auto", chains)
    assert own is not None
    assert names(own) == [PRO]
    assert configured("gemini-2.5-pro", chains) is None
