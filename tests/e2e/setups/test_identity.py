"""Types of authentication that a settings file selects or enforces."""

from pathlib import Path

import pytest

from support.model_servers.gemini import ModelServer, text_reply
from support.program import ProgramEnv, text_script


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.mark.parametrize("enforced", ["vertex-ai", "oauth-personal"])
def test_a_run_of_another_type_ends_before_any_request(machine: ProgramEnv, enforced: str) -> None:
    path = machine.write_user_settings(security={"auth": {"enforcedType": enforced}})
    with ModelServer([text_reply("Hello.")]) as server:
        machine.environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
        done = machine.run("-p", "hi", "-o", "json")
        assert server.requests == []
    assert (done.code, done.json["error"]["type"]) == (41, "authentication")
    assert f"{path}:1 enforces {enforced}, but " in done.json["error"]["message"]
    scripted = machine.run("-m", machine.script(text_script("Hi.")), "-p", "hi")
    assert (scripted.code, scripted.stdout) == (0, "Hi.\n")


def test_the_enforced_type_itself_runs(machine: ProgramEnv) -> None:
    machine.write_user_settings(security={"auth": {"enforcedType": "gateway"}})
    machine.write_project_settings(security={"auth": {"enforcedType": "vertex-ai"}})
    with ModelServer([text_reply("Hello.")]) as server:
        machine.environment |= {"GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": server.address}
        done = machine.run("--skip-trust", "-p", "hi")
    assert (done.code, done.stdout) == (0, "Hello.\n")


def test_a_selected_type_decides_what_gemini_names_mean(machine: ProgramEnv) -> None:
    machine.write_user_settings(security={"auth": {"selectedType": "gemini-api-key"}})
    with ModelServer([text_reply("Hello.")]) as server:
        machine.environment |= {
            "GEMINI_API_KEY": "key",
            "GOOGLE_GEMINI_BASE_URL": server.address,
            "GOOGLE_GENAI_USE_VERTEXAI": "true",
        }
        done = machine.run("-p", "hi")
        assert (done.code, done.stdout) == (0, "Hello.\n")
        machine.write_user_settings(security={"auth": {"selectedType": "vertex-ai"}})
        del machine.environment["GOOGLE_GENAI_USE_VERTEXAI"]
        done = machine.run("-p", "hi")
        assert done.code == 41
        assert "Vertex AI needs a project" in done.stderr
        assert len(server.requests) == 1


def test_there_is_no_sign_in(machine: ProgramEnv) -> None:
    path = machine.write_user_settings(security={"auth": {"selectedType": "oauth-personal"}})
    done = machine.run("-p", "hi")
    assert done.code == 41
    assert f"{path}:1 selects oauth-personal, but Tejat has no Google sign-in." in done.stderr
    with ModelServer([text_reply("Hello.")]) as server:
        done = machine.run("-p", "hi", GEMINI_API_KEY="key", GOOGLE_GEMINI_BASE_URL=server.address)
    assert (done.code, done.stdout) == (0, "Hello.\n")
