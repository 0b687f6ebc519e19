"""Running the official MCP conformance suite."""

import asyncio
import json
import re
from pathlib import Path

from support.mcp.node_programs import CONFORMANCE, node_environment

SECONDS = 100
_TIME = r"-\d{4}-\d\d-\d\dT[-\dZ]+"


async def run_suite(node: str, *words: str, results: Path) -> dict[str, list[str]]:
    """Run the suite; return the problems of each scenario. Raises AssertionError if none ran."""
    process = await asyncio.create_subprocess_exec(
        *(node, str(CONFORMANCE), *words, "-o", str(results)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=node_environment(),
    )
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = _read(results)
    assert found, said.decode()
    return found


def _read(results: Path) -> dict[str, list[str]]:
    return {_scenario(path.parent, results): _problems(path) for path in results.rglob("checks.json")}


def _scenario(directory: Path, results: Path) -> str:
    """The results directory of a scenario is named after it and the time."""
    return re.sub(_TIME, "", str(directory.relative_to(results)))


def _problems(checks: Path) -> list[str]:
    """The failed checks. Timing is ignored: this machine may be busy."""
    return [
        f"{check['id']}: {check.get('errorMessage') or check['description']}"
        for check in json.loads(checks.read_text(encoding="utf-8"))
        if check["status"] == "FAILURE" and " late " not in check.get("errorMessage", "")
    ]
