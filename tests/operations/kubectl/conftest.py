"""A kubectl on PATH that serves a small cluster."""

from pathlib import Path

import pytest

from tests.cli.running import cluster
from tests.stand_in import StandIn


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn.make(tmp_path / "bin", cluster()["items"])
    monkeypatch.setenv("PATH", str(stand_in.folder))
    return stand_in
