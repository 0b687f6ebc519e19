"""Real podman with an image made from programs of this machine. Nothing is fetched."""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

IMAGE = "tejat-test"

_PROGRAMS = ("bash", "cat", "chmod", "env", "id", "ls", "mkdir", "mv", "rm", "sleep", "touch", "tr")
# Inside another container the defaults of podman often do not work.
_ENGINE_SETTINGS = (
    "",
    (
        '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
        '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
    ),
)


@contextmanager
def podman_environment() -> Generator[Mapping[str, str]]:
    """The variables with which podman works here and has IMAGE, its files in a temporary directory; else skips."""
    directory = Path(tempfile.mkdtemp(prefix="podman-", dir="/var/tmp"))
    try:
        yield _working_environment(directory)
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(directory)], check=False)
        shutil.rmtree(directory, ignore_errors=True)


def _working_environment(directory: Path) -> Mapping[str, str]:
    if shutil.which("podman") is None:
        pytest.skip("CONTAINERS MISSING: podman is not installed")
    storage = directory / "storage.conf"
    storage.write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{directory}/store"\nrunroot = "{directory}/run"\n', encoding="utf-8"
    )
    archive = directory / "image.tar"
    _write_image(archive)
    answer = ""
    for number, settings in enumerate(_ENGINE_SETTINGS):
        conf = directory / f"containers-{number}.conf"
        conf.write_text(settings, encoding="utf-8")
        added = {"CONTAINERS_CONF": str(conf), "CONTAINERS_STORAGE_CONF": str(storage)}
        answer = _try_podman({**os.environ, **added}, archive)
        if not answer:
            return added
    pytest.skip(f"CONTAINERS MISSING: podman does not work here: {answer}")


def _try_podman(environment: Mapping[str, str], archive: Path) -> str:
    """Import the image and start a container. Returns what went wrong."""
    options = ["--rm", "--init", "--network", "none", "--cap-drop", "ALL", "--read-only", "--pids-limit", "100"]
    if os.geteuid() != 0:
        options += ["--userns", "keep-id"]
    for words in (("import", str(archive), IMAGE), ("run", *options, IMAGE, "bash", "-c", ":")):
        try:
            done = subprocess.run(
                ["podman", *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"podman {words[0]} does not end"
        if done.returncode != 0:
            return done.stderr.decode(errors="replace").strip().splitlines()[-1]
    return ""


def _write_image(archive: Path) -> None:
    with tarfile.open(archive, "w") as image:
        for name in ("tmp", "proc", "sys", "dev", "run", "etc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            image.addfile(entry)
        copied: set[str] = set()
        for program in _PROGRAMS:
            path = shutil.which(program)
            if path is None:
                pytest.skip(f"CONTAINERS MISSING: there is no {program} to put into an image")
            image.add(os.path.realpath(path), f"bin/{program}")
            for library in _libraries(path):
                if library not in copied:
                    copied.add(library)
                    image.add(os.path.realpath(library), library.lstrip("/"))


def _libraries(program: str) -> Iterator[str]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=60, check=False).stdout
    yield from re.findall(r"(/\S+) \(0x", listed)
