"""Model names, prices and lists of models, with the installed command and a service on this machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.model_servers.gemini import (
    LoopbackServer,
    ModelServer,
    Reply,
    chunk,
    error_reply,
    json_reply,
    stream,
    text_reply,
)
from support.program import ProgramEnv, ProgramResult, script_answer

PRO, FLASH, LITE = "gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-3.5-flash-lite"
KEY = "a-key-for-tests"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    machine.environment["OLLAMA_HOST"] = "127.0.0.1:9"
    return machine


def run(machine: ProgramEnv, *words: str, replies: list[Reply] | None = None) -> tuple[ProgramResult, list[str]]:
    """Run a prompt, and return the models that the service was asked for."""
    with ModelServer(replies or [text_reply("Done.")]) as server:
        result = machine.run(*words, GOOGLE_GEMINI_BASE_URL=server.address, GEMINI_API_KEY=KEY)
    return result, [request.target.rpartition("/")[2].partition(":")[0] for request in server.requests]


class TestNames:
    @pytest.mark.parametrize(
        ("name", "sent"),
        [
            (None, PRO),
            ("auto", PRO),
            ("pro", PRO),
            ("flash", FLASH),
            ("flash-lite", LITE),
            ("gemini-3-pro-preview", PRO),
            ("gemini-3.5-flash", "gemini-3.5-flash"),
            ("gemini-flash-latest", "gemini-flash-latest"),
        ],
    )
    def test_of_the_settings(self, machine: ProgramEnv, name: str | None, sent: str) -> None:
        """One request, without a router's; what an alias stands for is told once."""
        if name is not None:
            machine.write_user_settings(model={"name": name})
        result, asked = run(machine, "-p", "hi")
        assert (result.code, result.stdout, asked) == (0, "Done.\n", [sent])
        told = f"tejat: {name} is an alias of {sent}.\n" if name not in (None, sent) else ""
        assert result.stderr == told
        again, _ = run(machine, "-p", "hi")
        assert again.stderr == ""

    def test_of_the_environment_and_the_flag(self, machine: ProgramEnv) -> None:
        machine.environment["GEMINI_MODEL"] = "flash"
        assert run(machine, "-p", "hi")[1] == [FLASH]
        assert run(machine, "-p", "hi", "-m", "gemini:flash-lite")[1] == [LITE]

    def test_a_name_that_the_service_does_not_know(self, machine: ProgramEnv) -> None:
        result, asked = run(
            machine, "-p", "hi", "-m", "gemini-38-flash", replies=[error_reply(404, "models/x is not found")]
        )
        assert (result.code, asked) == (1, ["gemini-38-flash"])
        assert "Model not found." in result.stderr
        assert "Did you mean gemini-3.8-flash or " in result.stderr

    def test_the_model_of_an_alias_that_the_service_does_not_know(self, machine: ProgramEnv) -> None:
        replies = [error_reply(404, "models/x is not found"), text_reply("Done.")]
        result, asked = run(machine, "-p", "hi", "-m", "pro", replies=replies)
        assert (result.code, result.stdout, asked) == (0, "Done.\n", [PRO, FLASH])
        assert FLASH in result.stderr

    def test_the_doctor_says_what_auto_means(self, machine: ProgramEnv) -> None:
        checks = machine.run("doctor", "--json").json
        details = {check["name"]: check["how"] for check in checks if check["group"] == "model"}
        assert details["name"] == f"auto: {PRO} (default)"
        assert " old, built-in" in details["prices"]


class TestCostLimit:
    def test_an_unknown_price_is_counted_with_a_stated_upper_bound(self, machine: ProgramEnv) -> None:
        usage = {"promptTokenCount": 1_000_000, "candidatesTokenCount": 10}
        reply = stream(chunk("Done.", reason="STOP", usageMetadata=usage))
        result, asked = run(
            machine, "-p", "hi", "-m", "gemini-secret", "--max-cost", "100", "-o", "json", replies=[reply]
        )
        assert (result.code, asked) == (0, ["gemini-secret"])
        (warning,) = result.json["warnings"]
        assert warning.startswith("The price of gemini-secret is unknown. --max-cost assumes the highest known")
        assert "prices of gemini: $" in warning
        assert result.stderr == f"tejat: {warning}\n"
        assert "cost_usd" not in result.json

    def test_the_upper_bound_ends_a_run(self, machine: ProgramEnv) -> None:
        script = machine.script(
            script_answer(calls=[("list_directory", {"path": "."})], usage={"prompt": 1_000_000}) * 3
        )
        machine.write_user_settings(model={"prices": {"scripted": {"input": 60, "cached": 1, "output": 1}}})
        result = machine.run("-m", script, "--max-cost", "100", "-p", "hi", "-o", "json")
        assert result.json["error"]["message"] == "Reached the cost limit of $100 ($120.0000 spent)."


class TestLists:
    MODELS: tuple[dict[str, Any], ...] = (
        {"name": "models/gemini-3.8-flash", "inputTokenLimit": 1_048_576},
        {"name": "models/gemini-of-tomorrow", "inputTokenLimit": 2_000_000},
    )

    def test_what_the_service_offers(self, machine: ProgramEnv) -> None:
        with LoopbackServer(lambda _: json_reply({"models": list(self.MODELS)})) as server:
            changes = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.address}
            listed = machine.run("models", **changes)
            as_json = machine.run("models", "list", "--json", **changes)
        header, flash, new = listed.stdout.splitlines()
        assert header.split() == ["MODEL", "CONTEXT", "INPUT", "OUTPUT", "NOTES"]
        assert flash.split()[:2] == ["gemini-3.8-flash", "1M"]
        assert flash.split()[4:] == ["flash"]
        assert new.split() == ["gemini-of-tomorrow", "2M"]
        assert "Prices as of " in listed.stderr
        (service,) = as_json.json["services"]
        assert (service["service"], service["source"]) == ("gemini", "service")
        assert [model["name"] for model in service["models"]] == ["gemini-3.8-flash", "gemini-of-tomorrow"]
        assert [model["price"] is None for model in service["models"]] == [False, True]
        assert as_json.json["catalogue"]["date"] >= "2026-11-17"

    def test_the_catalogue_without_a_network(self, machine: ProgramEnv) -> None:
        listed = machine.run("models", "list", GEMINI_API_KEY=KEY, GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9")
        assert listed.code == 0
        assert "Showing the catalogue from " in listed.stderr
        assert "gemini-3.8-flash " in listed.stdout

    def test_an_update_counts_for_prices_and_windows(self, machine: ProgramEnv) -> None:
        published = [
            {
                "id": "openai",
                "models": [
                    {
                        "id": "gpt-tomorrow",
                        "context_window": 77_000,
                        "match": {"equals": "gpt-tomorrow"},
                        "prices": {"input_mtok": 1.5, "output_mtok": 2.5},
                    }
                ],
            }
        ]
        source = machine.base / "data.json"
        source.write_text(json.dumps(published))
        for word in ("update", "refresh"):
            done = machine.run("models", word, str(source))
            assert (done.code, done.stderr) == (0, "")
        assert "Stored 1 model with prices of " in done.stdout
        listed = machine.run("models", "--service", "openai")
        (row,) = [line for line in listed.stdout.splitlines() if line.startswith("gpt-tomorrow")]
        assert row.split() == ["gpt-tomorrow", "77k", "$1.50", "$2.50"]
        checks = machine.run("doctor", "--json").json
        (prices,) = [check["how"] for check in checks if check["name"] == "prices"]
        assert prices.endswith("0 days old, " + str(machine.home / ".local/state/tejat/catalogue.json"))

    def test_the_address_of_the_settings(self, machine: ProgramEnv) -> None:
        own = {"models": [{"id": "gpt-mine", "service": "openai", "prices": [{"input": 1, "output": 2}]}]}
        with LoopbackServer(lambda _: json_reply(own)) as server:
            machine.write_user_settings(models={"catalogueUrl": f"{server.address}/own.json"})
            done = machine.run("models", "update")
        assert (done.code, len(server.requests)) == (0, 1)
        assert f"from {server.address}/own.json in " in done.stdout

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["update", "missing.json"], "missing.json: No such file or directory."),
            (["update", "http://example.org/x"], "http://example.org/x is not an https address."),
            (["--service", "nobody"], "Unknown service 'nobody'."),
            (["of", "planes"], "Unknown command `tejat models of`. Use one of: list, update."),
            (["list", "more"], "Wrong arguments for `tejat models list`."),
        ],
    )
    def test_what_cannot_be_meant(self, machine: ProgramEnv, words: list[str], told: str) -> None:
        result = machine.run("models", *words)
        assert result.code in (2, 42)
        assert told in result.stderr
