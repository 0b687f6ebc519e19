"""Openers for subcommands that inspect rules, undo entries, jobs and the machine."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from shlex import quote
from typing import TYPE_CHECKING

from tejat.app.run_config import load_run_config
from tejat.app.tools.toolset import open_toolset
from tejat.config.paths import AppPaths, app_paths
from tejat.config.settings.types import Setting
from tejat.core.agent.listed_models import CatalogueInfo, ServiceListing
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import replace
from tejat.core.i18n import lazy

if TYPE_CHECKING:
    from tejat.app.setup.setup_report import SetupReport
    from tejat.core.agent.subagents import SubagentDefinition
    from tejat.engine.calls.policy_inspector import PolicyInspector
    from tejat.engine.calls.undo_recorder import UndoRecorder
    from tejat.tools.registry import ToolRegistry
    from tejat.workspace.jobs.store import JobStore


@contextmanager
def open_policy(flags: PolicyOptions) -> "Generator[PolicyInspector]":
    """Open the policy of a run with these options for queries. Raises UsageError."""
    from tejat.engine.calls.policy_inspector import PolicyContext, PolicyInspector

    with ExitStack() as stack:

        def open_judge() -> PolicyContext:
            toolset = stack.enter_context(
                open_toolset(load_run_config(flags.roots), None, policy=flags, sandbox=None, runs_nothing=True)
            )
            toolset.registry.select()  # disabled tools can be asked about too
            return PolicyContext(
                toolset.settings,
                toolset.registry,
                toolset.start_scheduler().permission,
                lambda name: _find_agent(name, flags, toolset.registry),
            )

        yield PolicyInspector(app_paths(os.environ), open_judge)


def _find_agent(name: str, flags: PolicyOptions, registry: "ToolRegistry") -> "SubagentDefinition | None":
    from tejat.app.subagents.definitions import load_subagents

    return load_subagents(load_run_config(flags.roots), registry).find(name)


def open_undo(directories: Sequence[str]) -> "UndoRecorder":
    """Open the undo log of these directories. Raises UsageError if one is missing."""
    from tejat.engine.calls.undo_recorder import UndoRecorder

    return UndoRecorder(app_paths(os.environ).undo, directories)


def open_jobs() -> "JobStore":
    """Open the background jobs of this user."""
    from tejat.workspace.jobs.store import JobStore

    return JobStore(app_paths(os.environ).jobs)


def run_checks(
    directories: Sequence[str], requested: str | None, *, is_strict: bool = False, model: str | None = None
) -> list[DoctorCheck]:
    """Run all doctor checks. Raises UsageError for bad arguments; whatever else is wrong is a failed check.

    If it `is_strict`, every problem in the settings is an error. `model` is checked instead of the configured one.
    """
    from tejat.app.model_source import DEFAULT_MODEL
    from tejat.app.setup.doctor import configuration_checks
    from tejat.app.setup.security_checks import security_checks
    from tejat.app.setup.settings_checks import settings_checks
    from tejat.app.tools.sandbox.checks import sandbox_checks
    from tejat.workspace.helper_program import find_program, find_ripgrep
    from tejat.workspace.processes.shell import find_shell

    faults: list[ConfigurationError] = []
    run_config = load_run_config(directories, faults=faults)
    if model is not None:
        named = replace(run_config.settings, model_name=Setting(model, "-m"))
        run_config = replace(run_config, settings=named)
    roots = tuple(map(os.path.realpath, directories))
    return [
        *_home_checks(run_config.paths),
        *sandbox_checks(run_config, directories, requested),
        _program_check(lazy("shell"), find_shell(roots, os.environ.get("PATH", os.defpath))[0], "bash"),
        _program_check("git", find_program("git"), "git"),
        _program_check("rg", find_ripgrep(), "ripgrep"),
        *configuration_checks(
            run_config,
            process_environment=os.environ,
            default_model=DEFAULT_MODEL,
            shows_model_figures=model is not None,
        ),
        *security_checks(run_config),
        *settings_checks(run_config, faults, is_strict=is_strict or run_config.is_strict),
    ]


def open_setup(directories: Sequence[str]) -> "SetupReport":
    """Inspect what was carried over from a set-up of Gemini CLI. Raises UsageError, never for a settings file."""
    from tejat.app.setup.setup_report import setup_report

    faults: list[ConfigurationError] = []
    return setup_report(load_run_config(directories, faults=faults), faults)


async def list_service_models(
    services: Sequence[str] | None, *, every: bool = False
) -> tuple[list[ServiceListing], CatalogueInfo]:
    """List the models of these services, or of all that can be used here, and say which catalogue counts.

    Without any API key, the models of the catalogue are listed. Raises UsageError.
    """
    from tejat.app.model_source import list_models
    from tejat.models.discovery.model_list import parse_services

    lister = list_models(load_run_config(["."]))
    providers = parse_services(services) or lister.providers_with_catalogue()
    listings = await lister.list_all(providers, every=every)
    # Ollama need not run, unless it was asked for by name.
    shown = [listing for listing in listings if services or listing.models or not listing.problem]
    return shown, lister.catalogue_info


async def update_model_catalogue(source: str | None) -> tuple[CatalogueInfo, int]:
    """Update the catalogue of models and return what was stored and how many models it has. Raises UsageError.

    `source` is a file or an address; None means the address of the settings, or the published data.
    """
    from tejat.models.catalogue.price_list import day_of
    from tejat.models.catalogue.update import PUBLISHED_URL, update_catalogue

    run_config = load_run_config(["."])
    if source is None:
        source = run_config.settings.catalogue_url.value if run_config.settings.catalogue_url else PUBLISHED_URL
    path = run_config.paths.catalogue
    updated = await update_catalogue(source, path, day=day_of(), environment=run_config.environment)
    return CatalogueInfo(updated.date, source, path), sum(1 for _ in updated.models)


_HOME_FIX = 'export HOME="$(getent passwd "$(id -un)" | cut -d: -f6)"'


def _home_checks(paths: AppPaths) -> Iterator[DoctorCheck]:
    """Check the home directory, if anything is wrong with it."""
    if not os.path.isdir(paths.home):
        detail = lazy("{path} is not a directory, so nothing can be stored", path=paths.home)
        yield DoctorCheck(lazy("files"), lazy("home"), passed=False, detail=detail, fix=_HOME_FIX)
    elif not os.access(paths.home, os.R_OK | os.W_OK | os.X_OK):
        detail = lazy("no access to {path}, so nothing can be stored", path=paths.home)
        yield DoctorCheck(
            lazy("files"), lazy("home"), passed=False, detail=detail, fix=f"chmod u+rwx {quote(paths.home)}"
        )


def _program_check(name: str, path: str | None, package: str) -> DoctorCheck:
    from tejat.app.setup.fixes import install_fix

    fix = "" if path is not None else install_fix(package)
    return DoctorCheck(lazy("programs"), name, path is not None, path or lazy("not found"), fix=fix)
