"""Images of container sandboxes: what `tejat sandbox build` builds, and from which file."""

import hashlib
import os
from collections.abc import Mapping

from tejat.app.run_config import RunConfig
from tejat.app.tools.sandbox.options import resolve_sandbox
from tejat.config.trust.items import SANDBOX_DOCKERFILE
from tejat.core.errors import NotTrusted, SandboxUnavailable
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import _
from tejat.workspace.sandbox import container
from tejat.workspace.sandbox.container.engine import ContainerEngine
from tejat.workspace.sandbox.container.options import (
    DEFAULT_IMAGES,
    DOCKER,
    ENGINES,
    PODMAN,
    ContainerOptions,
    client_environment,
)
from tejat.workspace.sandbox.container.selection import ContainerRefused, open_engine

_OWN_DOCKERFILE = "Dockerfile"
_STDIN = "-"


class ImageBuild(Frozen):
    """A build to run: `dockerfile` is the input of `command`. `source` is the path of the Dockerfile."""

    command: tuple[str, ...]
    dockerfile: bytes
    source: str
    image: str
    environment: Mapping[str, str] = field(repr=False)


def plan_image_build(run_config: RunConfig, word: str | None) -> ImageBuild:
    """Plan the build for a project: from its own Dockerfile if it has one, else from ours.

    Raises NotTrusted if the project's file is not trusted as it is, SandboxUnavailable if no engine works.
    """
    root = run_config.roots[0]
    engine = _find_engine(run_config, word)
    path = os.path.join(root, SANDBOX_DOCKERFILE)
    context = root
    if os.path.lexists(path):
        dockerfile = _read_trusted(run_config, path)
    else:
        path = own_dockerfile()
        context = os.path.dirname(path)
        with open(path, "rb") as file:
            dockerfile = file.read()
    image = DEFAULT_IMAGES[0]
    return ImageBuild(
        engine.build_command(image, file=_STDIN, context=context),
        dockerfile,
        path,
        image,
        engine.fetching_environment(run_config.environment),
    )


def own_dockerfile() -> str:
    """The path of the Dockerfile that comes with this program."""
    return os.path.join(os.path.dirname(container.__file__), _OWN_DOCKERFILE)


def _find_engine(run_config: RunConfig, word: str | None) -> ContainerEngine:
    wanted = resolve_sandbox(word, run_config.settings)
    named = wanted.value.command
    if named and named not in ENGINES:
        raise SandboxUnavailable(_("{name} has no images. Use docker or podman.", name=named))
    options = ContainerOptions(client_environment=client_environment(run_config.environment))
    refusals: list[str] = []
    for engine in (named,) if named else (DOCKER, PODMAN):
        try:
            return open_engine(replace(options, engine=engine), run_config.roots)
        except ContainerRefused as refused:
            refusals += [refused.problem, refused.advice]
    raise SandboxUnavailable("\n".join(filter(None, refusals)))


def _read_trusted(run_config: RunConfig, path: str) -> bytes:
    """The project's Dockerfile, as it was when the folder was trusted. Raises NotTrusted."""
    pinned = next((item for item in run_config.trust.items if item.path == SANDBOX_DOCKERFILE), None)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise SandboxUnavailable(_("Could not read {path}: {why}.", path=path, why=error.strerror)) from error
    is_same = pinned is not None and pinned.digest == hashlib.sha256(content).hexdigest()
    if not run_config.trust.is_trusted or not is_same:
        raise NotTrusted(_("{path} is not used, because the folder is not trusted. See `tejat trust`.", path=path))
    return content
