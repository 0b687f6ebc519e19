"""What a command sees of the environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.workspace.processes.environment import (
    VariableLists,
    child_environment,
    git_reading_environment,
    user_environment,
)

SET = {
    "GEMINI_CLI": "1",
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "GH_PAGER": "cat",
    "AWS_PAGER": "cat",
    "BAT_PAGER": "cat",
    "LESS": "-FRX",
    "LESSOPEN": "",
    "EDITOR": ":",
    "VISUAL": ":",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "HGEDITOR": ":",
    "SVN_EDITOR": ":",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "SUDO_ASKPASS": "",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
}


def test_from_nothing_comes_what_is_always_set() -> None:
    assert child_environment({}) == {**SET, "PATH": os.defpath}


def test_what_programs_need_is_passed_on() -> None:
    base = {
        "PATH": "/a:/b",
        "HOME": "/home/u",
        "LC_ALL": "C.UTF-8",
        "VIRTUAL_ENV": "/v",
        "CONDA_PREFIX": "/c",
        "NVM_DIR": "/n",
        "PYENV_ROOT": "/p",
        "GOPATH": "/g",
        "XDG_CACHE_HOME": "/x",
        "https_proxy": "http://proxy:3128",
        "no_proxy": "localhost",
        "SSL_CERT_FILE": "/etc/ca.pem",
    }
    assert child_environment(base) == {**SET, **base}


@pytest.mark.parametrize(
    "name",
    [
        *("GEMINI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL"),
        *("CONDA_TOKEN", "NVM_AUTH_TOKEN", "LC_SECRET", "PYENV_PASSWORD", "HOMEBREW_GITHUB_API_TOKEN", "nvm_key"),
        *("SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "NIX_CREDENTIALS", "LD_PRELOAD"),
        *("GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS", "PYTHONSTARTUP", "NODE_OPTIONS", "BROWSER"),
        *("PERL5OPT", "RUBYOPT", "GOAUTH", "LESSCLOSE", "GIT_DIR", "GIT_PROXY_COMMAND", "TEJAT_ANYTHING"),
    ],
)
def test_what_is_secret_or_strange_is_not(name: str) -> None:
    assert child_environment({name: "canary"}) == child_environment({})


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "DATABASE_URL", "SSH_AUTH_SOCK", "CONDA_TOKEN"])
def test_the_user_may_pass_on_more(name: str) -> None:
    assert child_environment({name: "wanted"}, lists=VariableLists((name,))) == {
        **child_environment({}),
        name: "wanted",
    }
    assert child_environment({}, lists=VariableLists((name,))) == child_environment({})


def test_a_pager_or_editor_of_the_users_choice_is_kept_when_listed() -> None:
    base = {"PAGER": "less", "EDITOR": "vi"}
    assert child_environment(base) == child_environment({})
    assert child_environment(base, lists=VariableLists(("PAGER",))) == {**child_environment({}), "PAGER": "less"}


@pytest.mark.parametrize(
    "name",
    ["BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "BASH_FUNC_ls%%", "BASH_FUNC_x"],
)
def test_what_a_shell_would_run_is_never_passed_on(name: str) -> None:
    assert child_environment({name: "() { touch MARK; }"}) == child_environment({})
    with pytest.raises(UsageError):
        child_environment({name: "x"}, lists=VariableLists((name,)))
    with pytest.raises(UsageError):
        child_environment({}, extra={name: "x"})


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("/a:/b", "/a:/b"),
        (":/a::/b:", "/a:/b"),
        (".:/a:bin:../x:~/bin", "/a"),
        ("/a:/b:/a", "/a:/b"),
        ("", ""),
    ],
)
def test_only_absolute_directories_are_searched(path: str, cleaned: str) -> None:
    assert child_environment({"PATH": path}, extra={})["PATH"] == cleaned


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "all_proxy", "GOPROXY"])
@pytest.mark.parametrize(
    "value", ["http://user:pass@proxy:1", "http://user@proxy", "user:pass@proxy:1", "socks5://u:p%40@h,direct"]
)
def test_a_proxy_with_a_password_is_not_passed_on(name: str, value: str) -> None:
    assert child_environment({name: value}) == child_environment({})
    assert child_environment({name: value}, lists=VariableLists((name,))) == {**child_environment({}), name: value}


@pytest.mark.parametrize("term", ["dumb", "screen"])
def test_the_terminal_of_the_user_is_kept(term: str) -> None:
    assert child_environment({"TERM": term})["TERM"] == term


def test_what_is_set_on_top_wins() -> None:
    assert child_environment({"HOME": "/h"}, extra={"HOME": "/other", "PATH": "/only"}) == {
        **SET,
        "HOME": "/other",
        "PATH": "/only",
    }


@pytest.mark.parametrize("name", ["", "A=B", "1A", "A B", "A\0", "Ä", "A\n"])
def test_names_that_no_variable_can_have(name: str) -> None:
    assert child_environment({name: "x"}) == child_environment({})
    with pytest.raises(UsageError):
        child_environment({}, lists=VariableLists((name,)))
    with pytest.raises(UsageError):
        child_environment({}, extra={name: "x"})


def test_a_nul_in_a_value_is_refused() -> None:
    with pytest.raises(UsageError, match="HOME"):
        child_environment({"HOME": "a\0b"})


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_lying_around_as_files_decides_nothing(tmp_path: Path) -> None:
    """Case 82: with the settings git refuses it, without them it takes it for a repository."""
    subprocess.run(["git", "init", "-q", "--bare", "evil"], cwd=tmp_path, check=True)
    environment = child_environment(dict(os.environ), extra={"GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(tmp_path)})
    question = ["git", "rev-parse", "--is-bare-repository"]
    inside = tmp_path / "evil"
    refused = subprocess.run(question, cwd=inside, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 128
    assert "bare repository" in refused.stderr
    del environment["GIT_CONFIG_COUNT"]
    taken = subprocess.run(question, cwd=inside, env=environment, capture_output=True, text=True, check=False)
    assert taken.stdout == "true\n"


def test_the_person_has_all_of_their_own_and_nobody_to_ask() -> None:
    base = {"PATH": "/a:.", "SERVICE_TOKEN": "s", "BASH_ENV": "/b", "TERM": "vt100", "PAGER": "less", "no name": "x"}
    made = user_environment({**base, "ODD": "a\0b"})
    kept = {name: text for name, text in made.items() if name not in SET}
    assert kept == {"PATH": "/a:.", "SERVICE_TOKEN": "s", "BASH_ENV": "/b"}
    assert (made["TERM"], made["PAGER"], made["GEMINI_CLI"]) == ("vt100", "cat", "1")
    assert user_environment({})["TERM"] == "xterm-256color"


def test_commands_that_only_read_run_no_hooks() -> None:
    made = child_environment({}) | git_reading_environment()
    settings = {
        made[f"GIT_CONFIG_KEY_{at}"]: made[f"GIT_CONFIG_VALUE_{at}"] for at in range(int(made["GIT_CONFIG_COUNT"]))
    }
    assert settings == {
        "safe.bareRepository": "explicit",
        "core.fsmonitor": "false",
        "core.hooksPath": "/dev/null",
    }


PEM = "-----BEGIN {kind}-----\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n-----END {kind}-----\n"


@pytest.mark.parametrize(
    "value",
    [
        "ghp_" + "a1" * 18,
        "github_pat_" + "a1" * 20,
        "AIza" + "b" * 35,
        "AKIA" + "C2" * 8,
        "sk_live_" + "d3" * 12,
        "xoxb-1234567890-abcdef",
        "eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijkl",
        "postgres://user:pw@db.example/app",
        PEM.format(kind="RSA PRIVATE KEY"),
        PEM.format(kind="CERTIFICATE"),
    ],
)
def test_an_allowed_variable_whose_value_looks_like_a_key_is_not_passed(value: str) -> None:
    lists = VariableLists(allowed=("MY_VALUE", "PLAIN"))
    given = {"MY_VALUE": value, "PLAIN": "see https://example.org/a"}
    assert child_environment(given, lists=lists) == {**child_environment({}), "PLAIN": "see https://example.org/a"}


def test_allowed_and_blocked_names_are_compared_without_regard_to_case() -> None:
    lists = VariableLists(passed=("Foo",), allowed=("bar", "FOO"), blocked=("foO",))
    assert child_environment({"Foo": "1", "BAR": "2", "foo": "3"}, lists=lists) == {**child_environment({}), "BAR": "2"}


def test_a_blocked_variable_is_not_passed_even_if_the_usual_list_names_it() -> None:
    lists = VariableLists(passed=("HOME", "PATH"), blocked=("HOME", "path", "LC_ALL"))
    given = {"HOME": "/h", "PATH": "/mine", "LC_ALL": "C", "USER": "u"}
    assert child_environment(given, lists=lists) == {**child_environment({}), "USER": "u"}


def test_an_allowed_variable_that_shells_would_run_is_left_out() -> None:
    lists = VariableLists(allowed=("BASH_ENV", "not a name", "PAGER"))
    made = child_environment({"BASH_ENV": "x", "not a name": "y", "PAGER": "less"}, lists=lists)
    assert made == {**child_environment({}), "PAGER": "less"}
