import pytest

from tejat.workspace.sandbox.container.options import (
    ContainerOptions,
    client_environment,
    is_image_name,
    parse_flags,
    with_proxies,
)


def test_runsc_is_a_runtime_of_docker() -> None:
    assert [ContainerOptions(engine).program for engine in ("docker", "podman", "runsc", "")] == [
        *("docker", "podman", "docker"),
        "",
    ]


def test_the_client_gets_what_it_needs_and_no_key() -> None:
    given = {"PATH": "/bin", "DOCKER_HOST": "unix:///x", "GEMINI_API_KEY": "k", "HTTPS_PROXY": "http://p"}
    needed = client_environment(given)
    assert needed == (("PATH", "/bin"), ("DOCKER_HOST", "unix:///x"))
    assert with_proxies(dict(needed), given) == {**dict(needed), "HTTPS_PROXY": "http://p"}


@pytest.mark.parametrize("name", ["x", "tejat-sandbox", "ghcr.io/a/b:1.2", "a@sha256:0f"])
def test_images(name: str) -> None:
    assert is_image_name(name)


@pytest.mark.parametrize("name", ["", "-v", "--privileged", "a b", "a;b", "$(x)", "a\n", ".x"])
def test_names_that_are_no_image(name: str) -> None:
    assert not is_image_name(name)


def test_flags() -> None:
    text = "--memory 2g --cpus=2 --tmpfs '/a b' --security-opt label=disable --add-host $(id):1"
    assert parse_flags(text) == (
        *("--memory=2g", "--cpus=2", "--tmpfs=/a b", "--security-opt=label=disable", "--add-host=$(id):1"),
    )
    assert parse_flags("") == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("--privileged", "--privileged"),
        ("--memory 1g -v /:/host", "-v"),
        ("--security-opt seccomp=unconfined", "--security-opt seccomp=unconfined"),
        ("--cap-add=ALL", "--cap-add"),
        ("--memory", "--memory"),
        ("image", "image"),
    ],
)
def test_flags_that_could_undo_the_sandbox(text: str, named: str) -> None:
    with pytest.raises(ValueError, match="SANDBOX_FLAGS has") as caught:
        parse_flags(text)
    assert f"{named!r}" in str(caught.value)


def test_an_unclosed_quote() -> None:
    with pytest.raises(ValueError, match="unclosed quote"):
        parse_flags("--memory '2g")
