"""Selection of a container sandbox: program, service, image, and a probe inside."""

import os
from collections.abc import Sequence
from functools import cache

from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath
from tejat.workspace.files.private_files import make_private_directory
from tejat.workspace.sandbox.container.engine import ContainerEngine, EngineFailure, find_engine
from tejat.workspace.sandbox.container.options import DEFAULT_IMAGES, RUNSC, ContainerOptions, is_image_name
from tejat.workspace.sandbox.container.probe_script import PROBE_ARGV
from tejat.workspace.sandbox.container.sandbox import ContainerSandbox
from tejat.workspace.sandbox.probe import probe
from tejat.workspace.sandbox.types import SandboxReport


class ContainerRefused(Exception):
    """A container cannot be used: what was tried and its answer, and what the user can do."""

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.advice = advice


class ImageNotFound(ContainerRefused):
    """The image is not on this machine. `command` would fetch it."""

    def __init__(self, image: str, command: tuple[str, ...]) -> None:
        super().__init__(
            lazy("The image {image} does not exist on this machine.", image=image),
            lazy("Pull it with: {command}", command=" ".join(command)),
        )
        self.image = image
        self.command = command


def select_container(
    options: ContainerOptions, *, roots: Sequence[str], state_directory: str
) -> tuple[ContainerSandbox, SandboxReport]:
    """Return the sandbox of the named engine and what it enforces, cached per process. Raises ContainerRefused."""
    _check_roots(roots, options)
    return _probed(options, tuple(roots), state_directory)


@cache
def _probed(
    options: ContainerOptions, roots: tuple[str, ...], state_directory: str
) -> tuple[ContainerSandbox, SandboxReport]:
    engine = open_engine(options, roots)
    image = _find_image(engine, options.image)
    make_private_directory(state_directory, follow_symlinks=True)
    session = os.urandom(8).hex()
    sandbox = ContainerSandbox(engine, options, image=image, state=state_directory, session=session)
    sandbox.remove_abandoned()
    report = probe(sandbox, state=state_directory, script=PROBE_ARGV)
    if not report.files.enforced:
        sandbox.sweep()
        problem = lazy("{engine} run {image}: {why}", engine=engine.name, image=image, why=report.files.detail)
        command = f"{engine.name} run --rm {image} bash -c true"
        raise ContainerRefused(problem, lazy("The image needs bash. Test it with: {command}", command=command))
    return sandbox, replace(report, sandbox=lazy("{engine} ({image})", engine=sandbox.name, image=image))


def open_engine(options: ContainerOptions, roots: Sequence[str]) -> ContainerEngine:
    """Return the client of an engine whose service answers. Raises ContainerRefused."""
    name = options.program
    engine = find_engine(name, roots, dict(options.client_environment))
    if engine is None:
        problem = lazy("{name} was not found on PATH. Programs inside the workspace are not used.", name=name)
        raise ContainerRefused(problem, lazy("Install {name}.", name=name))
    try:
        engine.check_service()
        has_runtime = options.engine != RUNSC or engine.has_runtime(RUNSC)
    except EngineFailure as failure:
        problem = lazy("{name} version: {answer}", name=name, answer=failure)
        raise ContainerRefused(problem, lazy("Start the {name} service.", name=name)) from None
    if not has_runtime:
        raise ContainerRefused(
            lazy("docker info: the runtime runsc is not configured."),
            lazy("Install gVisor and add runsc to docker's runtimes."),
        )
    return engine


def _find_image(engine: ContainerEngine, named: str) -> str:
    if named:
        if not is_image_name(named):
            raise ContainerRefused(lazy("{image!r} is not a valid image name.", image=named))
        if not engine.has_image(named):
            raise ImageNotFound(named, engine.pull_command(named))
        return named
    image = engine.find_default_image()
    if image is None:
        raise ContainerRefused(
            lazy("No image {names}.", names=" or ".join(DEFAULT_IMAGES)),
            lazy("Build one with `tejat sandbox build`, or set GEMINI_SANDBOX_IMAGE."),
        )
    return image


def _check_roots(roots: Sequence[str], options: ContainerOptions) -> None:
    for root in roots:
        is_private = any(is_beneath(root, directory) for directory in options.private_directories)
        if root == "/" or is_private or (options.home and is_beneath(options.home, root)):
            problem = lazy("{root} cannot be mounted as a whole.", root=root)
            raise ContainerRefused(problem, lazy("Start Tejat in a project directory."))
