"""An update is a whole: whatever fails, and whenever the program is killed, the old or the new version is there."""

import json
import random
import subprocess
import time
from pathlib import Path

import pytest

from support.extension_trees import demo_manifest, installed_tree, write_demo, write_plain
from support.program import TEJAT, ProgramEnv

KILLS = 12


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def content(machine: ProgramEnv) -> dict[str, bytes]:
    """The installed files without the record and the values."""
    left_out = ("demo/.gemini-extension-install.json", "demo/.env")
    return {name: data for name, data in installed_tree(machine).items() if name not in left_out}


def state_of(machine: ProgramEnv) -> tuple[str, str]:
    listed = machine.run("extensions", "list", "-o", "json").json
    assert [each["name"] for each in listed] == ["demo"]
    return listed[0]["version"], listed[0]["state"]


def test_update_is_a_whole(machine: ProgramEnv) -> None:
    source = write_demo(machine.project / "demo")
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0
    values = machine.home / ".gemini/extensions/demo/.env"
    values.write_text("REGION=eu\n")
    first = content(machine)
    (source / "gemini-extension.json").write_text(demo_manifest("1.1.0"))
    (source / "check.sh").write_text("#!/bin/sh\nexit 1\n")
    (source / "server.js").unlink()
    (source / "server.js").symlink_to("/etc/passwd")  # fails half way, whoever runs it

    broken = machine.run("extensions", "update", "demo", "--yes")
    assert broken.code == 1
    assert "server.js" in broken.stderr
    assert content(machine) == first
    assert state_of(machine) == ("1.0.0", "enabled")

    (source / "server.js").unlink()
    (source / "server.js").write_text("console.log(1)\n")
    done = machine.run("extensions", "update", "demo", "--yes")
    assert (done.code, done.stderr) == (0, "")
    assert "1 file of code changed:\n  changed check.sh" in done.stdout
    assert 'Extension "demo" successfully updated: 1.0.0 → 1.1.0.' in done.stdout
    assert values.read_text() == "REGION=eu\n"
    assert state_of(machine) == ("1.1.0", "enabled")

    back = machine.run("extensions", "back", "demo")
    assert (back.code, back.stdout) == (0, 'Extension "demo" restored: 1.1.0 → 1.0.0.\n')
    assert content(machine) == first
    assert values.read_text() == "REGION=eu\n"
    assert state_of(machine) == ("1.0.0", "enabled")


def test_only_code_changed(machine: ProgramEnv) -> None:
    """The question is repeated for any changed byte."""
    source = write_demo(machine.project / "demo")
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0
    (source / "gemini-extension.json").write_text(demo_manifest("1.0.1"))
    (source / "server.js").write_text("console.log(2)\n")
    done = machine.run("extensions", "update", "demo")
    assert done.code == 3
    assert "changed server.js" in done.stdout
    assert state_of(machine) == ("1.0.0", "enabled")


def test_killed_at_any_moment(machine: ProgramEnv) -> None:
    source = write_plain(machine.project / "demo", GEMINI_md="x" * 10_000)
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0
    began = time.monotonic()
    write_plain(source, version="1.0.1")
    assert machine.run("extensions", "update", "demo", "--yes").code == 0
    usual = time.monotonic() - began
    chance = random.Random(7)
    version = "1.0.1"
    for number in range(KILLS):
        newer = f"1.1.{number}"
        write_plain(source, version=newer, GEMINI_md=f"{number} " * 5_000)
        process = subprocess.Popen(
            [*TEJAT, "extensions", "update", "demo", "--yes"],
            cwd=machine.project,
            env=machine.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(usual * chance.uniform(0.4, 1.1))
        process.kill()
        process.wait()
        found, state = state_of(machine)
        assert state == "enabled"
        assert found in (version, newer)
        version = found
    assert machine.run("extensions", "update", "demo", "--yes").code == 0
    left = [path.name for path in (machine.home / ".gemini/extensions").iterdir()]
    assert left == ["demo"]


def test_a_new_source_and_a_new_name(machine: ProgramEnv) -> None:
    source = write_plain(machine.project / "demo")
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0
    assert machine.run("extensions", "disable", "demo").code == 0
    moved = write_plain(machine.project / "moved", "renamed", "2.0.0")
    fields = {"name": "demo", "version": "1.5.0", "migratedTo": str(moved)}
    (source / "gemini-extension.json").write_text(json.dumps(fields))
    assert machine.run("extensions", "update", "demo", "--yes").code == 0
    done = machine.run("extensions", "update", "demo", "--yes")
    assert (done.code, done.stderr) == (0, "")
    assert f"it moved here from {source}" in done.stdout
    listed = machine.run("extensions", "list", "-o", "json").json
    assert [(each["name"], each["state"]) for each in listed] == [("renamed", "disabled")]


def test_uninstall(machine: ProgramEnv) -> None:
    source = write_demo(machine.project / "demo")
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0
    assert machine.run("extensions", "config", "demo", "--from-env", MY_API_KEY="sk-test-0123456789abcdef").code == 0
    asked = machine.run("extensions", "uninstall", "demo")
    assert asked.code == 3
    assert state_of(machine) == ("1.0.0", "enabled")
    done = machine.run("extensions", "uninstall", "demo", "--yes")
    assert 'Extension "demo" successfully uninstalled.' in done.stdout
    left = [path for path in machine.home.rglob("*") if path.is_file()]
    assert all(b"sk-test" not in path.read_bytes() for path in left)
    assert installed_tree(machine) == {}
    assert source.is_dir()
    assert machine.run("extensions", "list").stdout == "No extensions installed.\n"


def test_the_source_of_a_link_stays(machine: ProgramEnv) -> None:
    source = write_plain(machine.project / "demo")
    assert machine.run("extensions", "link", "./demo", "--yes").code == 0
    assert machine.run("extensions", "update", "demo").stdout == 'Extension "demo" is already up to date.\n'
    assert machine.run("extensions", "update", "--all").stdout == "No extensions to update.\n"
    assert machine.run("extensions", "uninstall", "demo", "--yes").code == 0
    assert (source / "gemini-extension.json").exists()
