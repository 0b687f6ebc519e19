from tejat.core.approval.modes import SandboxMode
from tejat.workspace.sandbox.bubblewrap import BubblewrapSandbox
from tejat.workspace.sandbox.landlock_sandbox import LandlockSandbox
from tejat.workspace.sandbox.seatbelt import SeatbeltSandbox
from tejat.workspace.sandbox.types import EnforcementAxis, Sandbox, SandboxReport, unenforced_report


def test_the_words_of_the_flag() -> None:
    assert [wanted.value for wanted in SandboxMode] == ["auto", "required", "off"]


def test_a_run_without_a_sandbox() -> None:
    axis = EnforcementAxis(enforced=False, detail="because")
    assert unenforced_report("because") == SandboxReport(None, axis, axis, axis, axis, axis, axis)


def test_all_of_them_are_sandboxes() -> None:
    sandboxes: list[Sandbox] = [
        BubblewrapSandbox("/bwrap", state="/state"),
        LandlockSandbox(),
        SeatbeltSandbox("/sandbox-exec"),
    ]
    assert [sandbox.name for sandbox in sandboxes] == ["bubblewrap", "landlock", "sandbox-exec"]
