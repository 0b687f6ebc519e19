"""Other agents on this machine, given the same prompt with the same server."""

import glob
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.support.model_servers.gemini import Received, Reply, error_reply, text_reply

from bench.support.launcher import Launched, launch
from bench.support.tool_process import TEJAT

ANSWER = "Good day to you."


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent. `ask` makes it answer one prompt and raises AssertionError if the answer is not the server's."""

    name: str
    ask: Callable[[], Launched]


def tejat(scratch: str, address: str, *more: str) -> Agent:
    """`more` are further arguments."""
    return _agent("tejat", [TEJAT, *more, "-p", "hi"], scratch, environment(scratch, address))


def gemini(scratch: str, address: str) -> Agent | None:
    """Return gemini-cli if it is installed."""
    program = find_gemini()
    if program is None:
        return None
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    _write(os.path.join(scratch, "home", ".gemini", "settings.json"), json.dumps(settings))
    trusting = {**environment(scratch, address), "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return _agent("gemini-cli", [program, "-p", "hi", "-m", "gemini-2.5-flash"], scratch, trusting)


def find_gemini() -> str | None:
    return _found("gemini", "TEJAT_BENCH_GEMINI")


def codex(scratch: str, address: str, *more: str, flags: Sequence[str] = (), is_native: bool = True) -> Agent | None:
    """Return codex if it is installed, by default without its script. `more` are lines to add to its configuration."""
    installed = find_codex()
    if installed is None:
        return None
    program = native_codex(installed) if is_native else installed
    home = os.path.join(scratch, "home", ".codex")
    provider = {"name": "loopback", "base_url": f"{address}/v1", "wire_api": "responses", "env_key": "OPENAI_API_KEY"}
    lines = ['model = "none"', 'model_provider = "loopback"', "[model_providers.loopback]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in provider.items()]
    _write(os.path.join(home, "config.toml"), "\n".join([*lines, *more]))
    told = {**environment(scratch, address), "CODEX_HOME": home, "OPENAI_API_KEY": "none"}
    name = "codex" if program == installed else "the native program of codex"
    return _agent(name, [program, "exec", "--skip-git-repo-check", *flags, "hi"], scratch, told)


def find_codex() -> str | None:
    return _found("codex", "TEJAT_BENCH_CODEX")


def native_codex(program: str) -> str:
    """The native program that the script of an npm package starts, which takes less time. Else the program itself."""
    script = os.path.realpath(program)
    packages = os.path.dirname(os.path.dirname(os.path.dirname(script)))
    natives = glob.glob(os.path.join(glob.escape(packages), "codex-*", "vendor", "*", "bin", "codex"))
    return natives[0] if script.endswith(".js") and len(natives) == 1 else program


def environment(scratch: str, address: str) -> dict[str, str]:
    """Return an environment that has only PATH in common with ours."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.path.join(scratch, "home"),
        "LANG": "C.UTF-8",
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": address,
    }


def respond(received: Received) -> Reply:
    """Give every agent the same answer, in its own protocol."""
    if received.target.endswith("/responses"):
        content = [{"type": "output_text", "text": ANSWER}]
        return response_with({"type": "message", "role": "assistant", "content": content})
    if ":streamGenerateContent" in received.target:
        return text_reply(ANSWER)
    return error_reply(404, "no such method")


def response_with(item: Mapping[str, object]) -> Reply:
    """Return a response of the Responses API with one item."""
    usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
    events: list[dict[str, object]] = [
        {"type": "response.created", "response": {"id": "1"}},
        {"type": "response.output_item.done", "item": {"id": "2", **item}},
        {"type": "response.completed", "response": {"id": "1", "usage": usage}},
    ]
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Reply((body.encode(),), headers={"Content-Type": "text/event-stream"})


def _agent(name: str, command: list[str], scratch: str, variables: Mapping[str, str]) -> Agent:
    def ask() -> Launched:
        launched = launch(command, scratch, variables)
        assert ANSWER in launched.output, f"{name} answered {launched.output!r}"
        return launched

    return Agent(name, ask)


def _found(name: str, variable: str) -> str | None:
    return shutil.which(os.environ.get(variable) or name)


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
