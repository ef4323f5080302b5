"""Reports of answers that left out the scheduling cycle around a decision."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import call
from tests.cluster import dump_of, queue, running
from tests.reference.cycles import strict, waits
from tests.reports import reports
from tests.told import told

RESERVED = (
    "assured/pod-a2 of ClusterQueue assured is before it in every cycle and reserves the room "
    "(KL-19)"
)


def dumps(name: str, own: dict[str, Any], folder: Path) -> list[str]:
    """Return a small dump of the same kind, and that of the report where it is there."""
    small = folder / "small.json"
    small.write_text(json.dumps(own), encoding="utf-8")
    root = reports()
    there = [] if root is None else [root / "kueue" / name / "dump.yaml"]
    return [str(one) for one in (small, *there) if one.is_file()]


def test_who_reserves_the_room_is_named_by_every_command(tmp_path: Path) -> None:
    """It fits, and Kueue never admits it: the head of another queue is before it."""
    own = dump_of(
        strict("assured", 2, "root", reclaim="LowerPriority"),
        queue("leftover", 0, "root"),
        running("pod-a1", "assured", 1, 100),
        waits("pod-a2", "assured", 2, 100),
        waits("pod-b1", "leftover", 1),
    )
    found = dumps("fits-but-another-head-reserves-the-room", own, tmp_path)
    for dump, first, asks in zip(found, ("ns", "assured"), ("ns", "leftover"), strict=False):
        said, key = RESERVED.replace("assured/", f"{first}/"), f"{asks}/pod-b1"
        solved = call("solve", dump, "--pending", key, "--format", "json")
        answer = json.loads(solved.stdout)
        assert (solved.exit_code, answer["held_back"]["why"]) == (0, "notFirst")
        assert answer["greedy"]["in_the_way"] == [f"{first}/pod-a2"]
        assert said in answer["notes"][-1]
        assert said in answer["greedy"]["explanation"]
        assert said in solved.stderr
        for command in ("solve", "explain"):
            text = call(command, dump, "--pending", key, "--format", "plain").stdout
            assert "Kueue admits it without preemption" not in text
        text = call("explain", dump, "--pending", key, "--format", "plain").stdout
        assert said in text
        cure = "clusterqueue/assured.queueingStrategy=BestEffortFIFO"
        text = call("whatif", dump, "--pending", key, "--set", cure, "--format", "table").stdout
        told(text)


def test_one_by_one_is_in_kueues_order_and_the_plan_does_not_last(tmp_path: Path) -> None:
    """Within its nominal quota the owner comes before the guest of higher priority."""
    own = dump_of(
        queue("owner", 5, "root", reclaim="Any"),
        queue("guest", 0, "root"),
        waits("job-guest", "guest", 5, 100),
        waits("job-owner", "owner", 5, minute=20),
    )
    found = dumps("joint-one-by-one-not-in-kueues-order", own, tmp_path)
    for dump, namespaces in zip(found, (("ns", "ns"), ("owner", "guest")), strict=False):
        owner, guest = (
            f"{where}/{name}"
            for where, name in zip(namespaces, ("job-owner", "job-guest"), strict=True)
        )
        solved = call("solve", dump, "--all", "--joint", "--format", "json")
        plan = json.loads(solved.stdout)
        turns = [(one["preemptor"], one["admitted"]) for one in plan["greedy"]["turns"]]
        assert (solved.exit_code, turns) == (0, [(owner, True), (guest, False)])
        assert plan["greedy"]["preemptors_evicted"] == []
        told(plan["explanation"])


@pytest.mark.parametrize("reclaim", ["Never", "LowerPriority"])
def test_a_plan_that_nobody_undoes_lasts(reclaim: str, tmp_path: Path) -> None:
    own = dump_of(
        queue("owner", 5, "root", reclaim=reclaim),
        queue("guest", 0, "root"),
        waits("job-guest", "guest", 5, 100),
        waits("job-owner", "owner", 5, minute=20),
    )
    (dump,) = dumps("none", own, tmp_path)
    solved = call("solve", dump, "--all", "--joint", "--format", "json")
    assert "last" not in json.loads(solved.stdout)["explanation"]
