"""What a state of YuniKorn holds that is not modelled makes answers conditional."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.plan.yunikorn import YuniKornPlan
from tests.conftest import ROOT

QUICKSTART = ROOT / "instances" / "yunikorn" / "quickstart"
ASK = "bc018a5b-01eb-4d89-a462-6516dbfbb560"


@pytest.fixture
def solved(tmp_path: Path) -> Callable[..., YuniKornPlan]:
    """Return what solves the quickstart after a change of its dump, or of queues.yaml."""

    def solve(
        change: Callable[[dict[str, Any]], object] = len,
        queues: Callable[[str], str] = lambda text: text,
        pods: list[dict[str, Any]] | None = None,
    ) -> YuniKornPlan:
        folder = tmp_path / "dump"
        shutil.copytree(QUICKSTART, folder)
        dump = json.loads((folder / "statedump.json").read_text("utf-8"))
        change(dump)
        (folder / "statedump.json").write_text(json.dumps(dump), "utf-8")
        text = (folder / "queues.yaml").read_text("utf-8")
        (folder / "queues.yaml").write_text(queues(text), "utf-8")
        if pods is not None:
            (folder / "pods.json").write_text(
                json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}), "utf-8"
            )
        plan = planner.solve(planner.read(folder))
        assert isinstance(plan, YuniKornPlan)
        return plan

    return solve


def features(plan: YuniKornPlan) -> list[str]:
    """Return what a plan leaves out."""
    return [one.feature for one in plan.coverage]


def test_the_quickstart_is_covered(solved: Callable[..., YuniKornPlan]) -> None:
    plan = solved()
    assert (plan.status, plan.coverage) == ("optimal", ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("serving", ["user-limits"]),
        ("Serving", ["user-limits"]),
        ("root", ["user-limits"]),
        ("training", []),
    ],
)
def test_limits_of_users_on_the_way_to_the_queue(
    solved: Callable[..., YuniKornPlan], name: str, expected: list[str]
) -> None:
    limits = "limits: [{limit: all, users: ['*'], maxapplications: 5}]"

    def limited(text: str) -> str:
        lines = text.splitlines()
        found = f"- name: {name.lower()}"
        (place,) = [i for i, line in enumerate(lines) if line.strip() == found]
        start = lines[place][: lines[place].index("-") + 2]
        named = [f"{start}name: {name}", " " * len(start) + limits]
        return "\n".join([*lines[:place], *named, *lines[place + 1 :]])

    plan = solved(queues=limited)
    assert features(plan) == expected
    assert plan.status == ("conditional" if expected else "optimal")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {"zone": "a"}}, ["predicates"]),
        ({"affinity": {"nodeAffinity": {}}}, ["predicates"]),
        ({"topologySpreadConstraints": [{"maxSkew": 1}]}, ["predicates"]),
        ({"priorityClassName": "serving"}, []),
    ],
)
def test_what_binds_the_pod_to_nodes(
    solved: Callable[..., YuniKornPlan], spec: dict[str, Any], expected: list[str]
) -> None:
    metadata = {"name": "ranker-2", "namespace": "serving", "uid": ASK}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    assert features(solved(pods=[pod])) == expected


def test_placeholders_of_the_application(solved: Callable[..., YuniKornPlan]) -> None:
    def held(dump: dict[str, Any]) -> None:
        ranker = next(one for one in dump["applications"] if one["applicationID"] == "ranker")
        ranker["allocations"][0]["placeholder"] = True

    assert features(solved(held)) == ["placeholders"]
