"""How much a person insists on a sandbox."""

from enum import StrEnum


class SandboxMode(StrEnum):
    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"
