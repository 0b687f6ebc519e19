"""The profile as text: no Mac is at hand, so what it does there is for the probe to say."""

import re

import pytest

from tejat.core.errors import UsageError
from tejat.workspace.sandbox.seatbelt import SeatbeltSandbox, build_profile
from tejat.workspace.sandbox.types import SandboxPolicy

POLICY = SandboxPolicy(
    writable_roots=("/project/a b", '/project/"x"'),
    temp_directory="/private/tmp/own",
    read_only_paths=((".git/config", False), (".Agent", True)),
    hidden_paths=("/home/.ssh",),
    network=False,
)


def rules_of(policy: SandboxPolicy) -> list[str]:
    text, parameters = build_profile(policy)
    for name, value in parameters.items():
        text = text.replace(f'(param "{name}")', repr(value))
    return [line for line in text.splitlines() if 'regex #"^/project' in line or "'/" in line]


def test_the_rules_in_their_order() -> None:
    assert rules_of(POLICY) == [
        "(allow file-write* (subpath '/project/a b'))",
        "(allow file-write* (subpath '/project/\"x\"'))",
        '(deny file-write* (regex #"^/project/a.b/.[gG][iI][tT]/[cC][oO][nN][fF][iI][gG](/|$)"))',
        "(deny file-write-unlink (literal '/project/a b/.git'))",
        '(deny file-write* (regex #"^/project/a.b/.[aA][gG][eE][nN][tT](/|$)"))',
        '(deny file-write* (regex #"^/project/.x./.[gG][iI][tT]/[cC][oO][nN][fF][iI][gG](/|$)"))',
        "(deny file-write-unlink (literal '/project/\"x\"/.git'))",
        '(deny file-write* (regex #"^/project/.x./.[aA][gG][eE][nN][tT](/|$)"))',
        "(deny file-read* file-write* (subpath '/home/.ssh'))",
        "(allow file-read* file-write* (subpath '/private/tmp/own'))",
    ]


def test_everything_is_denied_first_and_the_network_only_on_request() -> None:
    text, _ = build_profile(POLICY)
    assert text.startswith("(version 1)\n(deny default)\n")
    assert "network" not in text
    allowed, _ = build_profile(SandboxPolicy((), "/t", (), (), network=True))
    assert "(allow network-outbound (remote ip))" in allowed


def test_no_path_is_part_of_the_text() -> None:
    """Nothing that a path holds can be read as a rule."""
    hostile = '/r")) (allow default) (deny file-read* (literal "\n\\é'
    text, parameters = build_profile(
        SandboxPolicy((hostile,), hostile, ((".a", True),), (hostile + "/h",), network=False)
    )
    assert "(allow default)" not in text
    assert hostile in parameters.values()
    assert text.count("(") == text.count(")")
    (expression,) = re.findall(r'#"(\^/r.*)"', text)
    assert re.match(expression, hostile + "/.A/x", re.DOTALL)
    assert not re.match(expression, hostile + "/.ab", re.DOTALL)


def test_the_arguments() -> None:
    wrapped = SeatbeltSandbox("/usr/bin/sandbox-exec").wrap(
        ["/bin/bash", "-c", "true"], POLICY, directory="/project/a b"
    )
    text, parameters = build_profile(POLICY)
    defined = [word for name, value in parameters.items() for word in ("-D", f"{name}={value}")]
    assert wrapped.arguments == (
        *("/usr/bin/sandbox-exec", "-p", text, *defined),
        *("/usr/bin/env", "TMPDIR=/private/tmp/own", "/bin/bash", "-c", "true"),
    )
    assert wrapped.unprotected_paths == ()
    wrapped.clean_up()


def test_the_whole_system_is_no_root() -> None:
    with pytest.raises(UsageError, match="cannot be fenced into /"):
        SeatbeltSandbox("/x").wrap(["/bin/true"], SandboxPolicy(("/",), "/t", (), (), network=False), directory="/")
