"""Code run anew by a Python whose sets iterate in another order."""

import os
import subprocess
import sys

from tests.conftest import ROOT


def printed(code: str, seed: str) -> str:
    """Return what code prints under a seed of hashing."""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout
