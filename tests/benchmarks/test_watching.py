"""The script that measures a watch sees one that goes on."""

from __future__ import annotations

from contextlib import closing

from tests.benchmarks.clusters import Form
from tests.benchmarks.watching import watched

MOST = 1000
"""Windows after which it would have told something on any machine."""


def test_a_watch_is_told_of_changes_and_measured() -> None:
    with closing(watched(Form(60, queues=4), 50.0, 0.3, MOST)) as windows:
        rows = []
        for row in windows:
            rows.append(row)
            if row["lines"] >= 2:
                break
    assert rows[-1]["lines"] >= 2
    assert rows[-1]["cpu_s"] > 0.1
    assert rows[-1]["peak_mib"] > 30
