"""The entry for the registry of ACP agents follows the rules of that registry, as far as they can be checked here."""

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from support.acp.sdk_client import FILES, run_agent
from support.program import ProgramEnv
from support.source_tree import ROOT
from tejat import __version__

FOLDER = ROOT / "packaging" / "acp-registry" / "tejat"
ENTRY = json.loads((FOLDER / "agent.json").read_text(encoding="utf-8"))
FIELDS = {"id", "name", "version", "description", "repository", "website", "authors", "license", "distribution"}


def test_fields() -> None:
    assert {"id", "name", "version", "description", "distribution"} <= {*ENTRY} <= FIELDS
    assert re.fullmatch(r"[a-z][a-z0-9-]*", ENTRY["id"])
    assert ENTRY["id"] == FOLDER.name
    assert ENTRY["license"] == "Apache-2.0"
    assert all(isinstance(author, str) for author in ENTRY["authors"])


def test_it_names_the_last_release() -> None:
    """Every part must be a number, so candidates are left out."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", ENTRY["version"])
    released = re.findall(r"^## (\d+\.\d+\.\d+) - ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert ENTRY["version"] == released[0]
    assert __version__.startswith(ENTRY["version"]) or __version__ > ENTRY["version"]


def test_the_package_is_pinned_to_that_version() -> None:
    assert ENTRY["distribution"] == {"uvx": {"package": f"tejat=={ENTRY['version']}", "args": ["acp"]}}


def test_the_icon_is_small_and_takes_the_colour_of_the_text() -> None:
    text = (FOLDER / "icon.svg").read_text(encoding="utf-8")
    assert "<!--" not in text
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("16", "16", "0 0 16 16")
    colours = {each.get(name) for each in root.iter() for name in ("fill", "stroke")} - {None}
    assert colours == {"currentColor"}
    assert not [each for each in root.iter() if each.get("style") or each.tag.endswith("style")]


def test_users_can_log_in(tmp_path: Path) -> None:
    """The registry starts the agent in an empty home and wants a login by the agent or at a terminal."""

    async def main() -> None:
        async with run_agent(ProgramEnv(tmp_path)) as agent:
            meta = {"terminal_output": True, "terminal-auth": True}
            await agent.initialize(fs=FILES, terminal=True, field_meta=meta)
            (answer,) = [message["result"] for message in agent.log.received if "result" in message]
            kinds = [method.get("type", "agent") for method in answer["authMethods"]]
            assert {*kinds} == {"agent", "terminal"}

    asyncio.run(main())
