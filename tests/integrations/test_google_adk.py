"""The toolset for google-adk. It is tested in an environment of its own: it needs an older google-genai."""

import os
import subprocess
import sys
from pathlib import Path

from support.source_tree import ROOT

PYTHON = ROOT / ".venv-adk" / "bin" / "python"
CASES = Path(__file__).with_name("adk_cases.py")


def test_the_cases_pass_in_their_environment() -> None:
    assert PYTHON.exists(), "There is no .venv-adk. `scripts/test` creates it."
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    words = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", CASES]
    done = subprocess.run(words, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = "import sys; sys.modules['google.adk'] = None; import tejat.integrations.google_adk"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "google-adk is not installed. Install it with `pip install 'tejat[adk]'`." in done.stderr
