"""Instructions of the project for the model: which of them the user has seen as they are now."""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tejat.app.run_config import RunConfig
from tejat.config.context.discovery import ContextFile, ContextFileOrigin, ContextFiles, find_context_files
from tejat.config.files.reader import AllowedWriters, read_config_file
from tejat.core.errors import UsageError

if TYPE_CHECKING:
    from tejat.config.trust.instructions import Instructions

SYSTEM_PROMPT = ".gemini/system.md"
"""The system prompt of a project, relative to its root."""


def find_all_context_files(run_config: RunConfig) -> ContextFiles:
    """The context files as they are now, seen or not."""
    settings = run_config.settings
    everywhere = settings.load_memory_from_include_directories.value
    return find_context_files(
        home_directory=run_config.paths.gemini,
        directories=run_config.roots if everywhere else run_config.roots[:1],
        names=settings.context_file_names.value,
        is_trusted=run_config.trust.is_trusted,
        import_format=settings.import_format.value,
        max_directories=settings.discovery_max_directories.value,
        boundary_markers=settings.memory_boundary_markers.value,
        ignore=run_config.ignore_options,
        extensions=run_config.extensions,
    )


def unseen_instructions(run_config: RunConfig, found: ContextFiles) -> "tuple[Instructions, ...]":
    """The project's context files, and its system prompt, that are new or changed. Raises UsageError."""
    if not run_config.trust.is_trusted or run_config.trust.is_unpinned:
        return ()
    from tejat.config.trust.instructions import find_unseen

    return find_unseen(run_config.paths, run_config.roots[0], _project_instructions(run_config, found.files))


def accept_all_instructions(run_config: RunConfig) -> None:
    """Use the instructions of the project as they are now. Raises UsageError."""
    from tejat.config.trust.instructions import accept_instructions

    found = _project_instructions(run_config, find_all_context_files(run_config).files)
    accept_instructions(run_config.paths, run_config.roots[0], found)


def relative_path(run_config: RunConfig, file: ContextFile) -> str:
    """The path of a context file as its instructions have it."""
    return os.path.relpath(file.path, os.path.realpath(run_config.roots[0]))


def _project_instructions(run_config: RunConfig, files: Sequence[ContextFile]) -> "list[Instructions]":
    from tejat.config.trust.instructions import Instructions

    others = (ContextFileOrigin.USER, ContextFileOrigin.EXTENSION)
    theirs = [file for file in files if file.origin not in others]
    instructions = [Instructions(relative_path(run_config, file), file.text) for file in theirs]
    with suppress(UsageError):  # reported where it is used
        text = read_config_file(os.path.join(run_config.roots[0], SYSTEM_PROMPT), writers=AllowedWriters.ANYONE)
        if text is not None:
            instructions.append(Instructions(SYSTEM_PROMPT, text))
    return instructions
