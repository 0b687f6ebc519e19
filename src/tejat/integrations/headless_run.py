"""A headless run inside the container of a benchmark: installation, command line, settings and model name."""

import shlex
from collections.abc import Mapping, Sequence

from tejat.core.json_text import dump_json
from tejat.core.messages.types import JsonObject

WEB_TOOLS = ("google_web_search", "web_fetch")
"""The tools that reach the network by themselves."""
_PYTHON = ">=3.11"
_SERVICES = {
    "google": "gemini",
    "vertex_ai": "vertex",
    "amazon-bedrock": "bedrock",
    "openai-responses": "openai",
    "openai_responses": "openai",
    **{name: name for name in ("gemini", "anthropic", "openai", "azure", "bedrock", "ollama")},
}
"""The prefixes of our model names, by provider as other programs name them."""


def is_known_provider(provider: str) -> bool:
    """Whether the provider has a client of its own. Others are asked through the API of OpenAI."""
    return provider in _SERVICES


def split_model_name(name: str) -> tuple[str, str] | None:
    """Split a name such as `gemini:gemini-2.5-pro` or `google/gemini-2.5-pro` into provider and model, else None.

    These are names that a harness does not know how to split.
    """
    service, colon, model = name.partition(":")
    if colon and service in _SERVICES.values():
        return ("vertex_ai" if service == "vertex" else service), model
    return ("gemini", name.removeprefix("google/")) if name.startswith("google/") else None


def to_model_name(provider: str | None, model: str) -> str:
    """Return our name for a model. Without a provider it is one already."""
    return model if provider is None else f"{_SERVICES.get(provider, 'openai')}:{model}"


def run_command(
    prompt: str,
    *,
    model: str | None = None,
    program: str = "tejat",
    resumes: bool = False,
    excluded_tools: Sequence[str] = (),
    extra_arguments: Sequence[str] = (),
) -> list[str]:
    """Return the command of a run that prints its events as JSON lines.

    The container is the sandbox: it holds nothing but the task, and is thrown away. So the run asks for no approval and
    does not sandbox its commands again, which most containers would not allow anyway. With `resumes`, the latest
    session of the directory goes on.
    """
    command = [program, "--output-format", "stream-json", "--approval-mode", "yolo", "--sandbox", "off"]
    if model:
        command += ["--model", model]
    if resumes:
        command += ["--resume", "latest"]
    if excluded_tools:
        command += ["--exclude-tools", ",".join(excluded_tools)]
    # The prompt is one word, so that one that starts with a dash is not taken for a flag.
    return [*command, *extra_arguments, f"--prompt={prompt}"]


def logged_run(command: Sequence[str], *, events: str, errors: str) -> str:
    """Return a shell line that runs the command with its output in two files.

    It prints the last event, and after a failure the end of the errors. A harness looks for error messages in what is
    printed. In the whole stream it would find those that the model writes or reads.
    """
    # A harness that runs several steps appends to the same files.
    run = f"{shlex.join(command)} </dev/null >>{shlex.quote(events)} 2>>{shlex.quote(errors)}"
    show = f"tail -n 1 {shlex.quote(events)}; [ $code = 0 ] || tail -n 20 {shlex.quote(errors)} >&2"
    return f"{run}; code=$?; {show}; exit $code"


def install_script(requirement: str) -> str:
    """Return a bash script that installs Tejat for the current user, in an environment of its own.

    The image of a task may have any Python, or none. uv takes one that is new enough, or downloads it.
    """
    return " && ".join(
        (
            "set -euo pipefail",
            "{ command -v uv >/dev/null || curl -LsSf https://astral.sh/uv/install.sh | sh; }",
            'export PATH="$HOME/.local/bin:$PATH"',
            f"uv tool install --force --python {shlex.quote(_PYTHON)} {shlex.quote(requirement)}",
            "tejat --version",
        )
    )


def with_path(command: str) -> str:
    """Return a shell line that finds a program that `install_script` has installed."""
    return f'export PATH="$HOME/.local/bin:$PATH"; {command}'


def settings_text(mcp_servers: Mapping[str, JsonObject]) -> str:
    """Return the text of a settings file with these MCP servers."""
    return dump_json({"mcpServers": dict(mcp_servers)}, indent=2) + "\n"


def settings_script(mcp_servers: Mapping[str, JsonObject]) -> str:
    """Return a shell line that writes the user's settings, with these MCP servers."""
    return f"mkdir -p ~/.gemini && printf %s {shlex.quote(settings_text(mcp_servers))} > ~/.gemini/settings.json"


def skills_script(directory: str) -> str:
    """Return a shell line that makes the skills in a directory available."""
    return f"mkdir -p ~/.gemini/skills && cp -r {shlex.quote(directory)}/. ~/.gemini/skills/"
