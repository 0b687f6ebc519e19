"""The catalogue that comes with the program: complete, plausible, small, and its windows and aliases."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.models.catalogue.aliases import resolve_alias
from tejat.models.catalogue.catalogue_file import (
    CATALOGUE_FILE,
    Chain,
    ChainModel,
    ModelCatalogue,
    Route,
    builtin_catalogue,
    load_catalogue,
)

ROOT = Path(__file__).parents[3]
PRO, FLASH, LITE = "gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-3.5-flash-lite"


def test_every_model_has_a_plausible_price_and_most_a_window() -> None:
    entries = list(builtin_catalogue().models)
    assert len(entries) > 90
    assert len({entry.id for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.prices, entry.id
        starts = [dated.start for dated in entry.prices]
        assert starts == sorted(starts), entry.id
        for price in (
            price for dated in entry.prices for price in (dated.price, *(each for _, each in dated.price.steps))
        ):
            assert 0 <= price.cached <= price.input <= price.output < 1000, entry.id
            assert price.cache_write is None or price.cache_write >= price.input, entry.id
        assert entry.context_window is None or 4_000 <= entry.context_window <= 3_000_000, entry.id
    assert sum(entry.context_window is None for entry in entries) < 15


def test_the_file_is_small_dated_and_says_where_it_comes_from() -> None:
    catalogue = builtin_catalogue()
    assert os.path.getsize(CATALOGUE_FILE) <= 80_000
    assert catalogue.date >= "2026-11-17"
    assert catalogue.origin.startswith("genai-prices ")
    data = json.loads(Path(CATALOGUE_FILE).read_text(encoding="utf-8"))
    assert "Permission is hereby granted, free of charge" in data["notice"]
    assert "Pydantic Services Inc." in data["notice"]
    assert "Berri AI" in data["notice"]


@pytest.mark.skipif(not os.environ.get("TEJAT_RELEASE"), reason="only a release needs a fresh catalogue")
def test_a_release_has_a_fresh_catalogue() -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "catalogue", "--check"], check=True)


@pytest.mark.parametrize(("day", "code"), [("2026-11-17", 0), ("2099-01-01", 1)])
def test_the_release_check_sees_the_age(day: str, code: int) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "catalogue"), "--check", "--date", day]
    assert subprocess.run(script, check=False, capture_output=True).returncode == code


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gemini-2.5-pro", 1_048_576),
        ("gemini-3.1-pro-preview-customtools", 1_048_576),
        ("gemini-3-flash", 1_048_576),
        ("gemini-99-pro", 1_048_576),
        ("models/gemini-1.5-pro-002", 2_097_152),
        ("gemma-3-1b-it", 32_768),
        ("gemma-3-27b-it", 131_072),
        ("gemma-4-31b-it", 262_144),
        ("gemma-4-26b-a4b-it", 262_144),
        ("gemma-4-new", 262_144),
        ("gpt-4", 8_192),
        ("gpt-4o-mini", 128_000),
        ("gpt-5", 272_000),
        ("gpt-6-astra", 922_000),
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-6", 1_000_000),
        ("claude-opus-5", 1_000_000),
        ("claude-unheard-of", 200_000),
        ("openai/gpt-oss-20b", 131_072),
        ("us.anthropic.claude-opus-5-v1:0", 1_000_000),
        ("anthropic.claude-unheard-of-v1:0", 200_000),
        ("somebody's", 128_000),
    ],
)
def test_windows(model: str, window: int) -> None:
    assert load_catalogue("").context_window(model) == window


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("auto", {}, ("auto", PRO)),
        ("auto-gemini-3", {}, ("auto-gemini-3", PRO)),
        ("auto-gemini-2.5", {}, ("auto-gemini-2.5", "gemini-2.5-pro")),
        (" pro ", {}, ("pro", PRO)),
        ("gemini-3-pro-preview", {}, ("gemini-3-pro-preview", PRO)),
        ("flash", {}, ("flash", FLASH)),
        ("flash-lite", {}, ("flash-lite", LITE)),
        ("gemini:pro", {"OPENAI_BASE_URL": "http://x"}, ("pro", f"gemini:{PRO}")),
        ("vertex:flash", {}, ("flash", f"vertex:{FLASH}")),
        ("pro", {"OPENAI_BASE_URL": "http://x"}, None),
        ("openai:auto", {}, None),
        ("anthropic:pro", {}, None),
        ("ollama:flash", {}, None),
        ("gemini-3.5-flash", {}, None),
        ("gemini-3-flash", {}, None),
        ("gemini-3.1-flash-lite", {}, None),
        ("gemini-3-flash-preview", {}, None),
        ("gemini-flash-latest", {}, None),
        ("tunedModels/pro", {}, None),
    ],
)
def test_aliases(name: str, environment: dict[str, str], expected: tuple[str, str] | None) -> None:
    assert resolve_alias(name, environment) == expected


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("gemini-38-flash", ("gemini-3.8-flash", "gemini-3.5-flash", "gemini-3.6-flash")),
        ("models/GEMINI-3.1-pro", ("gemini-3.1-pro-preview", "gemini-2.5-pro")),
        ("gpt-6", ("gpt-6-astra", "gpt-6-cyber", "gpt-6-luna")),
        ("qwen3:8b", ()),
    ],
)
def test_names_that_are_close(name: str, similar: tuple[str, ...]) -> None:
    assert builtin_catalogue().similar_models(name) == similar


def test_routes() -> None:
    catalogue = builtin_catalogue()
    assert catalogue.route("auto") == catalogue.route("auto-gemini-3") == Route(PRO, FLASH, LITE)
    assert catalogue.route("auto-gemini-2.5") == Route("gemini-2.5-pro", FLASH, LITE)
    assert catalogue.route("pro") is None


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("auto", Chain((ChainModel(PRO, 3), ChainModel(FLASH, 10)), is_silent=True)),
        ("auto-gemini-2.5", Chain((ChainModel("gemini-2.5-pro", 3), ChainModel(FLASH, 10)), is_silent=True)),
        ("pro", Chain((ChainModel(PRO), ChainModel(FLASH)))),
        ("flash", Chain((ChainModel(FLASH), ChainModel(PRO)))),
        ("gemini-3.5-flash", Chain((ChainModel("gemini-3.5-flash"), ChainModel(PRO)))),
        ("flash-lite", Chain((ChainModel(LITE), ChainModel(FLASH), ChainModel("gemini-2.5-pro")), is_silent=True)),
        ("gemini-2.5-pro", Chain((ChainModel("gemini-2.5-pro"),))),
        ("claude-opus-5", Chain((ChainModel("claude-opus-5"),))),
    ],
)
def test_chains(name: str, chain: Chain) -> None:
    assert builtin_catalogue().chain(name) == chain


class TestAnUpdatedFile:
    def updated(self, path: Path, date: str) -> ModelCatalogue:
        path.write_text(
            json.dumps(
                {
                    "date": date,
                    "sources": {"somewhere": ""},
                    "models": [
                        {"id": "gpt-5", "service": "openai", "window": 400_000, "prices": [{"input": 9, "output": 10}]},
                        {
                            "id": "brand-new",
                            "service": "openai",
                            "window": 5_000,
                            "prices": [{"input": 1, "output": 2}],
                        },
                    ],
                }
            )
        )
        return load_catalogue(str(path))

    def test_counts_if_it_is_newer(self, tmp_path: Path) -> None:
        catalogue = self.updated(tmp_path / "new.json", "2099-01-01")
        known, new = catalogue.find("gpt-5"), catalogue.find("brand-new")
        assert known is not None
        assert new is not None
        assert known.prices[0].price.input == 9
        assert (known.context_window, known.title) == (272_000, "GPT-5")
        assert catalogue.context_window("brand-new") == 5_000
        assert catalogue.current.source == str(tmp_path / "new.json")
        assert [entry.id for entry in catalogue][-1] == "brand-new"

    def test_does_not_count_if_it_is_older(self, tmp_path: Path) -> None:
        catalogue = self.updated(tmp_path / "old.json", "2020-01-01")
        assert (catalogue.updated, catalogue.find("brand-new"), catalogue.problem) == (None, None, "")

    @pytest.mark.parametrize("text", ["no JSON", "[]", '{"date"', "\x00", "{" + " " * 4_000_001 + "}"])
    def test_is_passed_over_with_a_reason_if_it_cannot_be_read(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "broken.json"
        path.write_text(text)
        catalogue = load_catalogue(str(path))
        assert catalogue.updated is None
        assert catalogue.problem
        assert catalogue.find("gpt-5") is not None

    def test_may_hold_anything(self, tmp_path: Path) -> None:
        path = tmp_path / "odd.json"
        models: list[object] = [
            3,
            {"id": 7},
            {"id": "x", "prices": 3, "names": [None, "y*"], "window": -1, "above": []},
            {"id": ""},
        ]
        prices = [{"input": True, "output": 1}, {"input": "1", "output": 1}, {"input": -1, "output": 1}]
        models.append({"id": "z", "prices": [*prices, {"input": 1, "output": 2, "above": {"x": {}, "5": 3}}]})
        path.write_text(json.dumps({"date": "2099-01-01", "models": models}))
        catalogue = load_catalogue(str(path))
        found = [catalogue.find(name) for name in ("x", "yes", "z")]
        assert all(found)
        assert [len(entry.prices) for entry in found if entry] == [0, 0, 1]

    def test_is_not_needed(self, tmp_path: Path) -> None:
        catalogue = load_catalogue(str(tmp_path / "missing.json"))
        assert (catalogue.updated, catalogue.problem) == (None, "")
