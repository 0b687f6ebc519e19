"""The script that generates the catalogue: it reads two sources as data, and fails where they disagree."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

from tejat.models.catalogue.catalogue_file import CATALOGUE_FILE

SCRIPT = Path(__file__).parents[3] / "scripts" / "catalogue"
DATA = """
from decimal import Decimal
import datetime
from .types import *

raise SystemExit("this must not be executed")

providers: list[Provider] = [
    Provider(
        id='google',
        models=[
            ModelInfo(
                id='gemini-a',
                match=ClauseOr(or_=[ClauseStartsWith(starts_with='gemini-a'), ClauseEquals(equals='gemini-other')]),
                context_window=1000000,
                prices=ModelPrice(
                    input_mtok=TieredPrices(base=Decimal('2'), tiers=[Tier(start=200000, price=Decimal('4'))]),
                    output_mtok=Decimal('12'),
                ),
            ),
            ModelInfo(
                id='gemini-b',
                match=ClauseEquals(equals='gemini-b'),
                context_window=100000,
                prices=[
                    ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('1'), output_mtok=Decimal('2'))),
                    ConditionalPrice(
                        constraint=StartDateConstraint(start_date=datetime.date(2026, 1, 1)),
                        prices=ModelPrice(input_mtok=Decimal('9'), output_mtok=Decimal('2')),
                    ),
                ],
            ),
            ModelInfo(id='gemini-c', match=ClauseEquals(equals='gemini-c'), prices=ModelPrice()),
        ],
    ),
]
"""
SECOND = {
    "gemini/gemini-a": {
        "litellm_provider": "gemini",
        "mode": "chat",
        "max_input_tokens": 1_048_576,
        "input_cost_per_token": 2.01e-06,
        "input_cost_per_token_above_200k_tokens": 5e-06,
        "output_cost_per_token": 1.2e-05,
    },
    "gemini/gemini-other": {"litellm_provider": "gemini", "mode": "chat", "output_cost_per_token": 3e-05},
    "gemini/gemini-b": {
        "litellm_provider": "gemini",
        "mode": "chat",
        "max_input_tokens": 50_000,
        "input_cost_per_token": 9e-06,
        "output_cost_per_token": 2e-06,
    },
}


def wheel(path: Path, name: str, text: str) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, text)
    return str(path)


def test_disagreements_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    first = wheel(tmp_path / "genai_prices-1.2-py3-none-any.whl", "genai_prices/data.py", DATA)
    name = "litellm/model_prices_and_context_window_backup.json"
    second = wheel(tmp_path / "litellm-3.4-py3-none-any.whl", name, json.dumps(SECOND))
    before = Path(CATALOGUE_FILE).read_bytes()
    done = subprocess.run([sys.executable, SCRIPT, first, second], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    problems = [line for line in done.stderr.splitlines() if "alias or chain" not in line]
    assert problems == [
        "gemini-a: input_above_200k_tokens is 4 in genai-prices and 5 in litellm",
        "gemini-b: a context window of 100000 in genai-prices and 50000 in litellm",
        "gemini-c: no price",
        "gemini/gemini-other, found as gemini-a: output is 12 in genai-prices and 30 in litellm",
        f"{len(done.stderr.splitlines()) - 1} problems, nothing written.",
    ]
    assert Path(CATALOGUE_FILE).read_bytes() == before
