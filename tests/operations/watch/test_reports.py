"""Reported situations of a watch: beside a kubectl that was written to break it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import command, environment
from tests.conftest import ROOT, TEST_ALL
from tests.reports import reports

FOLDER = reports()
STRANGE = None if FOLDER is None else FOLDER / "attack" / "watch-ends-with-70-on-a-strange-event"


STREAMED = ("surrogate", "meta", "kind", "version", "ns", "cond", "apiv")
"""Each takes a watch of five seconds; test_live.py tries them all, and more, without a stream."""


@pytest.mark.skipif(STRANGE is None or not TEST_ALL, reason="no folder of reports, or by day")
@pytest.mark.parametrize("how", STREAMED)
def test_a_strange_event(how: str, tmp_path: Path) -> None:
    """It comes two seconds after all objects were listed."""
    assert STRANGE is not None
    shutil.copytree(STRANGE / "bin", tmp_path / "bin")
    (tmp_path / "bin" / "kubectl").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command("watch", "--for", "5", "--interval", "0.5"),
        env=environment({"PATH": path, "HOW": how, "PROJECT": str(ROOT)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "read: 61 workloads" in done.stdout
