"""Repositories of tasks: paths become absolute, URLs stay, what could run a command is refused."""

import os
import subprocess
from pathlib import Path

import pytest

from tejat.batch.plan.repository import is_repository, repository_name, resolve_repository, without_credentials
from tejat.batch.plan.types import InvalidTask
from tejat.batch.result import TaskFailure


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("web", "/base/web"),
        ("../web/", "/web"),
        (".", "/base"),
        ("/srv/web", "/srv/web"),
        ("django/django", "/base/django/django"),
        ("a:b", "/base/a:b"),
    ],
)
def test_paths_are_relative_to_the_task_file(given: str, expected: str) -> None:
    assert resolve_repository(given, directory="/base") == expected


def test_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert resolve_repository("~/web", directory="/base") == "/home/me/web"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a/b.git",
        "http://example.com:8080/a",
        "ssh://git@example.com:22/a/b",
        "git://example.com/a",
        "file:///srv/a",
        "git@example.com:a/b.git",
        "me@host:~/a",
        "git@[::1]:a",
    ],
)
def test_urls_stay(url: str) -> None:
    assert resolve_repository(url, directory="/base") == url


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("-x", "begin with a hyphen"),
        ("--upload-pack=touch x", "begin with a hyphen"),
        ("ext::sh -c id", "remote helper"),
        ("fd::17", "remote helper"),
        ("https::example", "remote helper"),
        ("foo://x/y", "unsupported scheme"),
        ("ext://x/y", "unsupported scheme"),
        ("ssh://-oProxyCommand=id/x", "host that begins with a hyphen"),
        ("ssh://git@-oProxyCommand=id/x", "host that begins with a hyphen"),
        ("ssh://-oProxyCommand=id@host/x", "host that begins with a hyphen"),
        ("git@-oProxyCommand:x", "host that begins with a hyphen"),
        ("https://", "not a valid URL"),
        ("https:///", "not a valid URL"),
        ("https://a b/c", "not a valid URL"),
    ],
)
def test_refusals(given: str, message: str) -> None:
    with pytest.raises(InvalidTask, match=message) as caught:
        resolve_repository(given, directory="/base")
    assert caught.value.failure is TaskFailure.INPUT


def test_a_path_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(InvalidTask, match="not valid UTF-8") as caught:
        resolve_repository("a\udcff", directory="/base")
    assert caught.value.failure is TaskFailure.REPOSITORY


@pytest.mark.parametrize(
    ("repo", "name"),
    [
        ("/srv/web", "web"),
        ("/srv/web.git", "web"),
        ("https://example.com/a/b.git/", "b"),
        ("git@example.com:a.git", "a"),
        ("/srv/.git", ".git"),
        ("/", ""),
    ],
)
def test_names(repo: str, name: str) -> None:
    assert repository_name(repo) == name


@pytest.mark.parametrize(
    ("repo", "shown"),
    [
        ("https://me:secret@example.com/a@b", "https://example.com/a@b"),
        ("https://example.com/a@b", "https://example.com/a@b"),
        ("git@example.com:a", "git@example.com:a"),
        ("/srv/a://b@c", "/srv/a://b@c"),
    ],
)
def test_a_prompt_has_no_password(repo: str, shown: str) -> None:
    assert without_credentials(repo) == shown


def test_repositories_are_recognized(tmp_path: Path) -> None:
    for name, flags in (("tree", []), ("bare", ["--bare"])):
        subprocess.run(["git", "init", "-q", *flags, name], cwd=tmp_path, check=True, timeout=60)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    (tmp_path / "plain").mkdir()
    found = {name: is_repository(str(tmp_path / name)) for name in sorted(os.listdir(tmp_path))}
    assert found == {"bare": True, "linked": True, "plain": False, "tree": True}
    assert not is_repository(str(tmp_path / "missing"))
