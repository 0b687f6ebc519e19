from tejat.core.sandbox_wish import SandboxWish
from tejat.workspace.sandbox.bubblewrap import Bubblewrap
from tejat.workspace.sandbox.landlocked import Landlocked
from tejat.workspace.sandbox.plan import Axis, Report, Sandbox, nothing_enforced
from tejat.workspace.sandbox.seatbelt import Seatbelt


def test_the_words_of_the_flag() -> None:
    assert [wanted.value for wanted in SandboxWish] == ["auto", "required", "off"]


def test_a_run_without_a_sandbox() -> None:
    axis = Axis(enforced=False, how="because")
    assert nothing_enforced("because") == Report(None, axis, axis, axis, axis, axis)


def test_all_of_them_are_sandboxes() -> None:
    sandboxes: list[Sandbox] = [Bubblewrap("/bwrap", state="/state"), Landlocked(), Seatbelt("/sandbox-exec")]
    assert [sandbox.name for sandbox in sandboxes] == ["bubblewrap", "landlock", "sandbox-exec"]
