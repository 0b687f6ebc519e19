"""An updated catalogue: the published data of genai-prices from a file or an address, read without running anything."""

import asyncio
import json
import stat
from pathlib import Path

import pytest

from support.model_servers.gemini import LoopbackServer, Reply, json_reply
from tejat.core.agent.prices import Price
from tejat.core.errors import UsageError
from tejat.models.catalogue.catalogue_file import Catalogue, load_catalogue
from tejat.models.catalogue.update import update_catalogue

DAY = "2099-01-01"
PUBLISHED = [
    {
        "id": "google",
        "name": "Google",
        "models": [
            {
                "id": "gemini-9-pro",
                "name": "Gemini 9 Pro",
                "context_window": 3_000_000,
                "match": {"or": [{"starts_with": "gemini-9-pro"}, {"equals": "gemini-newest"}, {"regex": "(a+)+$"}]},
                "prices": {
                    "input_mtok": {"base": 2, "tiers": [{"start": 200_000, "price": 4}]},
                    "cache_read_mtok": 0.2,
                    "output_mtok": {
                        "base": 12,
                        "tiers": [{"start": 100_000, "price": 15}, {"start": 200_000, "price": 18}],
                    },
                    "input_audio_mtok": 7,
                },
            },
            {
                "id": "claude-on-vertex",
                "match": {"equals": "claude-on-vertex"},
                "prices": {"input_mtok": 1, "output_mtok": 1},
            },
            {"id": "gemini-embed", "match": {"equals": "gemini-embed"}, "prices": {"input_mtok": 1}},
        ],
    },
    {
        "id": "anthropic",
        "models": [
            {
                "id": "claude-9",
                "match": {"and": [{"starts_with": "claude-9-"}, {"regex": "x"}]},
                "prices": [
                    {"prices": {"input_mtok": 3, "cache_write_mtok": 3.75, "output_mtok": 15}},
                    {"constraint": {"start_date": "2098-01-01"}, "prices": {"input_mtok": 2, "output_mtok": 10}},
                    {"constraint": {"start_time": "16:30:00Z"}, "prices": {"input_mtok": 99, "output_mtok": 99}},
                    {"constraint": {"start_date": "2100-01-01"}, "prices": {"input_mtok": 9, "output_mtok": 9}},
                ],
            }
        ],
    },
    {"id": "mistral", "models": [{"id": "m", "prices": {"input_mtok": 1, "output_mtok": 1}}]},
]


def update(source: str, path: Path, **environment: str) -> Catalogue:
    return asyncio.run(update_catalogue(source, str(path), day=DAY, environment=environment))


def price(path: Path, name: str) -> Price | None:
    entry = load_catalogue(str(path)).find(name)
    return None if entry is None else entry.price_on(DAY)


def test_published_data_of_a_file(tmp_path: Path) -> None:
    source, path = tmp_path / "data.json", tmp_path / "state" / "catalogue.json"
    source.write_text(json.dumps(PUBLISHED))
    updated = update(str(source), path)
    assert (updated.date, updated.origin, updated.source) == (DAY, "data.json", str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    steps = ((100_000, Price(2, 0.2, 15)), (200_000, Price(4, 0.2, 18)))
    expected = Price(2, 0.2, 12, steps=steps)
    assert [price(path, name) for name in ("gemini-9-pro", "gemini-9-pro-preview", "gemini-newest")] == [expected] * 3
    assert price(path, "claude-9-sonnet") == Price(2, 2, 10)
    assert [price(path, name) for name in ("claude-on-vertex", "gemini-embed", "m")] == [None] * 3
    assert load_catalogue(str(path)).context_window("gemini-9-pro") == 3_000_000
    assert load_catalogue(str(path)).find("gemini-2.5-pro") is not None


def test_a_catalogue_of_this_program_and_an_address(tmp_path: Path) -> None:
    own = {"date": "2020-01-01", "models": [{"id": "mine", "service": "openai", "prices": [{"input": 1, "output": 2}]}]}
    path = tmp_path / "catalogue.json"
    with LoopbackServer(lambda _: json_reply(own)) as server:
        updated = update(f"{server.address}/data.json?secret=1", path)
    assert (updated.date, updated.origin, price(path, "mine")) == (DAY, "data.json", Price(1, 1, 2))
    assert [request.target for request in server.requests] == ["/data.json?secret=1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no JSON", "is not JSON"),
        ("[]", "Not genai-prices data"),
        ('{"a": 1}', "Not genai-prices data"),
        ('[{"id": "google", "models": [{"id": "gemini-x"}]}]', "lists no models with prices"),
        ('{"models": [{"id": "x"}]}', "lists no models with prices"),
        ("[" + " " * 4_000_001 + "]", "larger than 4 MB"),
    ],
)
def test_other_files_change_nothing(tmp_path: Path, text: str, message: str) -> None:
    source, path = tmp_path / "data.json", tmp_path / "catalogue.json"
    source.write_text(text)
    path.write_text("as before")
    with pytest.raises(UsageError, match=message):
        update(str(source), path)
    assert path.read_text() == "as before"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply((b"gone",), status=404), "returned HTTP 404"),
        (Reply((b"[" + b" " * 5_000_000 + b"]",)), "larger than 4 MB"),
        (Reply((b"<html>",)), "is not JSON"),
    ],
)
def test_other_answers_change_nothing(tmp_path: Path, reply: Reply, message: str) -> None:
    with LoopbackServer(lambda _: reply) as server, pytest.raises(UsageError, match=message):
        update(f"{server.address}/data.json", tmp_path / "catalogue.json")
    assert not (tmp_path / "catalogue.json").exists()


@pytest.mark.parametrize("source", ["http://example.org/data.json", "ftp://example.org/x", "file:///etc/passwd"])
def test_only_encrypted_addresses_are_asked(tmp_path: Path, source: str) -> None:
    with pytest.raises(UsageError, match="is not an https address"):
        update(source, tmp_path / "catalogue.json")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=": No such file"):
        update(str(tmp_path / "missing"), tmp_path / "catalogue.json")
