"""Where copies live: in private directories that go with their session, and those of the dead with the next copy."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from support.trial_env import TrialEnv
from tejat.core.approval.modes import SandboxMode
from tejat.workspace.overlay.manager import OverlayManager
from tejat.workspace.sandbox.session_sandbox import SandboxPaths, SessionSandbox

DIES = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.trial_env import TrialEnv
from tejat.workspace.overlay.manager import OverlayManager
trials = TrialEnv.__new__(TrialEnv)
trials.root, trials.home, trials.state = (Path(sys.argv[2]) / name for name in ("root", "home", "state"))
with trials.open_sandbox() as sandbox:
    copy = OverlayManager(sandbox, str(trials.copies)).open()
    Path(copy.layers[0].upper, "kept").mkdir()
    Path(copy.layers[0].upper, "kept", "file").write_text("x")
    os.chmod(Path(copy.layers[0].upper, "kept"), 0)
    print(copy.layers[0].upper, flush=True)
    os._exit(9)
"""


@pytest.fixture
def trials(tmp_path: Path) -> TrialEnv:
    return TrialEnv(tmp_path.resolve())


def test_a_copy_is_private_and_goes_away_when_it_is_thrown_away(trials: TrialEnv) -> None:
    with trials.open_sandbox() as session_sandbox:
        copies = OverlayManager(session_sandbox, str(trials.copies))
        copy, other = copies.open(), copies.open()
        assert len(trials.leftover_copies) == 2
        assert {stat.S_IMODE(path.stat().st_mode) for path in (trials.copies, *trials.copies.iterdir())} == {0o700}
        assert [layer.lower for layer in copy.layers] == list(session_sandbox.overlay_targets)
        copy.discard()
        copy.discard()
        assert len(trials.leftover_copies) == 1
        copies.close()
        other.discard()
        assert trials.leftover_copies == []


def test_what_a_dead_session_left_goes_with_the_next_copy_and_that_of_a_living_one_stays(trials: TrialEnv) -> None:
    tests = str(Path(__file__).parents[2])
    words = [sys.executable, "-c", DIES, tests, str(trials.root.parent)]
    died = subprocess.run(words, capture_output=True, text=True, check=False)
    assert died.returncode == 9, died.stderr
    left = Path(died.stdout.strip())
    assert left.parent.parent == trials.copies
    with trials.open_sandbox() as session_sandbox:
        ours, theirs = (OverlayManager(session_sandbox, str(trials.copies)) for _ in range(2))
        living = theirs.open()
        ours.open()
        assert not left.parent.exists()
        assert Path(living.layers[0].upper).is_dir()
        ours.close()
        theirs.close()


def test_that_it_works_is_tried_without_touching_the_root(trials: TrialEnv) -> None:
    with trials.open_sandbox() as session_sandbox:
        copies = OverlayManager(session_sandbox, str(trials.copies))
        assert copies.is_supported is session_sandbox.supports_overlay, (
            "NOT TESTED further: overlayfs does not work here"
        )
    assert list(trials.root.iterdir()) == []
    assert trials.leftover_copies == []


def test_without_a_sandbox_there_are_no_copies(trials: TrialEnv) -> None:
    grounds = SandboxPaths((str(trials.root),), str(trials.home), (), (), (), str(trials.state))
    with SessionSandbox(SandboxMode.OFF, grounds) as session_sandbox:
        assert not OverlayManager(session_sandbox, str(trials.copies)).is_supported
        with pytest.raises(OSError, match="not supported"):
            session_sandbox.wrap_in_overlay(["/bin/true"], str(trials.root), (), network=False)
    assert not trials.copies.exists()
