"""What people asked in public threads about words, answered as they should have been.

The situations in a few words stand in the tests of this folder; here are the dumps as reported.
"""

import shlex

import pytest

from tests.cli.running import call
from tests.reports import reports

ANSWERS = {
    "asked-1-available-0-short-4": [
        "Cohort pool uses 3 nvidia.com/gpu in flavor std more than its quota",
        " -3 ",
    ],
    "explain-drops-the-notes-of-solve": [
        "Kueue 0.15.8 cannot count so far, and takes it for 0",
        '"notes": [',
    ],
    "explain-victim-when-nothing-is-short": [
        (
            "resv-2/pod-r2 fits as it is: nobody is evicted for it, and resv-1/pod-r1 could not "
            "be: KQ-05 reclaimWithinCohort of ClusterQueue resv-2 is Never"
        )
    ],
    "note-nothing-asks-for-it-back": ["it counts as borrowed, and others may take it back"],
    "solve-blames-quota-when-nodes-lack-room": [
        (
            "even without the only candidate the nodes lack room (KT-01): main needs 2 slots of 4 "
            "nvidia.com/gpu in one node of flavor alpha, and none of 1 has room: node node-1 has 1"
        )
    ],
}
WRONG = ("what is short, ;", "nothing asks for it back", "no set of the 1 candidates")


@pytest.mark.parametrize("name", ANSWERS)
def test_reported(name: str) -> None:
    root = reports()
    folder = None if root is None else root / "kueue" / name
    if folder is None or not folder.is_dir():
        pytest.skip("no reports: set PLANNER_REPORTS to their folder")
    said = []
    for command in (folder / "cmd.txt").read_text("utf-8").splitlines():
        words = shlex.split(command.partition("|")[0])[1:]
        result = call(*(folder / word if word == "dump.yaml" else word for word in words))
        assert result.exit_code in {0, 3, 6}, result.stderr
        said += [result.stdout, result.stderr]
    text = " ".join(" ".join(said).split())
    assert [one for one in ANSWERS[name] if one not in f"{text} "] == []
    assert [one for one in WRONG if one in text] == []
