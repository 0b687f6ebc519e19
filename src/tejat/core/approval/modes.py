"""Modes of a run: how much needs approval, and whether commands are sandboxed."""

from typing import Literal, TypeAlias

from tejat.core.frozen import Frozen
from tejat.core.messages.tool_names import ENTER_PLAN_MODE, EXIT_PLAN_MODE
from tejat.core.text.str_enum import StrEnum


class ApprovalMode(StrEnum):
    """How much needs approval. `plan` only reads, `auto_edit` applies edits without asking, `yolo` asks for nothing."""

    DEFAULT = "default"
    AUTO_EDIT = "auto_edit"
    YOLO = "yolo"
    PLAN = "plan"


TOOL_MODES = {
    ENTER_PLAN_MODE: (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT),
    EXIT_PLAN_MODE: (ApprovalMode.PLAN,),
}
"""The modes in which these tools are declared."""


class SandboxMode(StrEnum):
    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


ModeName: TypeAlias = Literal["default", "auto_edit", "plan", "yolo"]
"""The names of the approval modes."""
PlanModeName: TypeAlias = Literal["default", "auto_edit"]
"""The names of the modes in which an approved plan may be carried out."""
SandboxName: TypeAlias = Literal[
    "auto", "required", "off", "true", "false", "docker", "podman", "runsc", "lxc", "sandbox-exec", "windows-native"
]
"""The words for a sandbox: a mode, or the name of one."""

_WORDS = {
    "auto": SandboxMode.AUTO,
    "required": SandboxMode.REQUIRED,
    "true": SandboxMode.REQUIRED,
    "1": SandboxMode.REQUIRED,
    "off": SandboxMode.OFF,
    "false": SandboxMode.OFF,
    "0": SandboxMode.OFF,
}


class SandboxRequest(Frozen):
    """What a setting, a variable or a flag asks for.

    `command` names one sandbox, also one that is not supported, which is refused when it is used; empty for any that
    works. `image` is for containers. `network` is None if nothing is said about it. `allowed_paths` are further paths
    that commands may read. `floor` is the strictness below which nobody but an administrator may go.
    """

    mode: SandboxMode = SandboxMode.AUTO
    command: str = ""
    image: str = ""
    network: bool | None = None
    allowed_paths: tuple[str, ...] = ()
    floor: int = 0

    def __str__(self) -> str:
        return self.command or self.mode.value

    @property
    def strictness(self) -> int:
        """Order of requests: off, auto, required, a named one."""
        if self.command:
            return 3
        return (SandboxMode.OFF, SandboxMode.AUTO, SandboxMode.REQUIRED).index(self.mode)


def parse_sandbox_word(word: str) -> SandboxRequest:
    """Return what a word asks for. A word that is no mode names a sandbox."""
    mode = _WORDS.get(word.lower())
    return SandboxRequest(SandboxMode.REQUIRED, command=word) if mode is None else SandboxRequest(mode)
