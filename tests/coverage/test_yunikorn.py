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
        pending: str | None = None,
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
        plan = planner.solve(planner.read(folder), pending=pending)
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


@pytest.mark.parametrize(
    ("group", "placeholder", "expected"),
    [
        ("workers", {"placeholder": True, "taskGroupName": "workers"}, ["placeholders"]),
        ("workers", {"placeholder": True, "taskGroupName": "others"}, []),
        ("workers", {"taskGroupName": "workers"}, []),
        ("", {"placeholder": True, "taskGroupName": "workers"}, []),
    ],
)
@pytest.mark.parametrize("part", ["allocations", "requests"])
def test_placeholders_of_the_group(
    solved: Callable[..., YuniKornPlan],
    group: str,
    placeholder: dict[str, Any],
    part: str,
    expected: list[str],
) -> None:
    """An ask waits for the placeholders of its group that are held or asked for.

    Source: yunikorn-core be3bb487, scheduler/objects/application.go (canReplace,
    addPlaceholderData).
    """

    def held(dump: dict[str, Any]) -> None:
        ranker = next(one for one in dump["applications"] if one["applicationID"] == "ranker")
        ask = next(one for one in ranker["requests"] if one["allocationKey"] == ASK)
        other = {**ranker["allocations"][0], "allocationKey": "other", **placeholder}
        ask["taskGroupName"] = group
        ranker[part].append(other)

    assert features(solved(held, pending=ASK)) == expected


@pytest.mark.parametrize(
    ("state", "others", "maximum", "expected"),
    [
        ("Accepted", "Running", 1, ["running-applications"]),
        ("Accepted", "Accepted", 1, ["running-applications"]),
        ("Accepted", "Completing", 1, []),
        ("Accepted", "Running", 2, []),
        ("Accepted", "Running", 0, []),
        ("Running", "Running", 1, []),
    ],
)
def test_an_application_that_may_not_start(
    solved: Callable[..., YuniKornPlan], state: str, others: str, maximum: int, expected: list[str]
) -> None:
    """Besides ``ranker``, which holds nothing, one application is in the queue.

    Source: yunikorn-core be3bb487, scheduler/objects/queue.go (TryAllocate, canRunApp,
    incRunningApps, setAllocatingAccepted).
    """

    def accepted(dump: dict[str, Any]) -> None:
        known = {one["applicationID"]: one for one in dump["applications"]}
        known["ranker"] |= {"applicationState": state, "allocations": []}
        serving = known["ranker"]["queueName"]
        (other,) = (
            one
            for one in known.values()
            if one["queueName"] == serving and one["applicationID"] != "ranker"
        )
        other["applicationState"] = others

    def capped(text: str) -> str:
        lines = text.splitlines()
        (place,) = [i for i, line in enumerate(lines) if line.strip() == "- name: serving"]
        capped = f"{' ' * (lines[place].index('-') + 2)}maxapplications: {maximum}"
        return "\n".join([*lines[: place + 1], capped, *lines[place + 1 :]])

    assert features(solved(accepted, capped, pending=ASK)) == expected
