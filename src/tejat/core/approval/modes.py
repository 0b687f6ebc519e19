"""Modes of a run: how much needs approval, and whether commands are sandboxed."""

from enum import StrEnum


class ApprovalMode(StrEnum):
    DEFAULT = "default"
    AUTO_EDIT = "auto_edit"
    YOLO = "yolo"
    PLAN = "plan"


class SandboxMode(StrEnum):
    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"
