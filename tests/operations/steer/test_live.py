"""Stories told through kubectl alone: of a stand-in for a cluster, and of a real one where it is.

``PLANNER_TEST_KUBECONFIG`` names the configuration of a cluster to throw away, in which ``planner
steer --check`` finds everything, and nobody steers.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from planner.state.kueue_workload import BOOST_ANNOTATION
from tests.cli.running import environment, process
from tests.conftest import TEST_ALL
from tests.operations.steer.live import Live, lines, stand_in, story
from tests.operations.steer.test_command import fail_safe

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on PATH")
VARIABLE = "PLANNER_TEST_KUBECONFIG"
REAL = os.environ.get(VARIABLE)
AT_NIGHT = pytest.mark.skipif(
    REAL is None and not TEST_ALL,
    reason="ordinary runs have this story without kubectl, in test_stories.py or its neighbours",
)
A_SECOND_LATER = 1.1
"""Kueue's clock has whole seconds: after so long it shows another one."""
CHECKPOINT = "preemption-planner.io/last-checkpoint"


@pytest.fixture(
    params=[
        "stand-in",
        pytest.param(
            "real",
            marks=pytest.mark.skipif(
                REAL is None, reason=f"{VARIABLE} names no cluster with Kueue to throw away"
            ),
        ),
    ]
)
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Live]:
    if request.param == "real":
        config = Path(str(REAL))
        done = process("steer", "--check", "--kubeconfig", config)
        assert done.returncode == 0, done.stdout + done.stderr
        with story(config, Path.home()) as found:
            yield found
        return
    with stand_in(tmp_path) as config, story(config, tmp_path) as found:
        yield found


def fill(live: Live) -> None:
    """Have two Jobs borrow all that is lent: Kueue would take ``late``, the plan ``saved``."""
    live.submit("saved", "borrower")
    time.sleep(A_SECOND_LATER)
    late = live.submit("late", "borrower")
    time.sleep(A_SECOND_LATER)
    saved = live.workloads()["saved"]
    assert late.holds_quota
    stamp = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    note(live, str(saved.at("metadata", "name")), CHECKPOINT, stamp)


def note(live: Live, name: str, annotation: str, text: str) -> None:
    where = ("workloads.kueue.x-k8s.io", f"--namespace={live.name}", name)
    live.kubectl("annotate", *where, f"{annotation}={text}")


@AT_NIGHT
def test_what_is_planned_is_evicted_where_all_is_quiet(live: Live) -> None:
    fill(live)
    first = live.submit("first", "lender", "high")
    assert live.evicted_for(first.uid) == set()
    with live.steering() as planner:
        came = next(one for one in lines(planner) if one["kind"] == "steered")
        assert (came["came"], came["steered"], came["admitted"]) == ("exact", True, True)
        assert live.evicted_for(first.uid) == {"saved"}
        assert next(lines(planner))["act"] == "take back"
    live.wait("first", lambda one: one.holds_quota)
    assert live.left()[0] == set()


@AT_NIGHT
def test_never_anybody_else_where_jobs_come_and_go(live: Live) -> None:
    fill(live)
    first = live.submit("first", "lender", "high", gpus=2)
    with live.steering() as planner:
        told = lines(planner)
        next(one for one in told if one.get("act") == "plan")
        live.end("late")
        live.start("other", "borrower")
        came = next(one for one in told if one["kind"] == "steered")
        assert came["admitted"]
    found = live.workloads()
    evicted = {found[name].key for name in live.evicted_for(first.uid)}
    assert evicted <= {*(came["planned"] if came["steered"] else came["own"])}
    assert live.left()[0] == set()


@AT_NIGHT
def test_two_preemptors_of_a_tree_come_one_after_the_other(live: Live) -> None:
    fill(live)
    first, second = (live.submit(name, "lender", "high") for name in ("first", "second"))
    told = []
    with live.steering() as planner:
        for one in lines(planner):
            told.append(one.get("act", one["kind"]))
            if told.count("steered") == 2:
                break
    assert [one for one in told if one in {"open", "steered"}] == ["open", "steered"] * 2
    both = live.evicted_for(first.uid), live.evicted_for(second.uid)
    assert sorted(both, key=sorted) == [{"late"}, {"saved"}]


@AT_NIGHT
def test_kueue_chooses_where_boosts_cannot_be_had(live: Live) -> None:
    fill(live)
    for one in live.workloads().values():
        note(live, str(one.at("metadata", "name")), BOOST_ANNOTATION, "0")
    first = live.submit("first", "lender", "high")
    with live.steering() as planner:
        came = next(one for one in lines(planner) if one["kind"] == "steered")
    assert not came["steered"]
    assert live.evicted_for(first.uid) == {"late"}
    assert {one.boost for name, one in live.workloads().items() if name != "first"} == {"0"}


@AT_NIGHT
@pytest.mark.parametrize("act", ["plan", "boost", "open"])
def test_what_a_killed_planner_leaves_is_taken_back(live: Live, act: str) -> None:
    fill(live)
    first = live.submit("first", "lender", "high")
    with live.steering() as planner:
        next(one for one in lines(planner) if one.get("act") == act)
        planner.kill()
    done = process("steer", "--release", "--kubeconfig", live.config, env={"HOME": str(live.home)})
    assert done.returncode == 0, done.stderr
    assert live.left() == (set(), set())
    live.wait("first", lambda one: one.holds_quota)
    assert len(live.evicted_for(first.uid)) == 1


@AT_NIGHT
def test_without_a_planner_the_fail_safe_lets_kueue_choose(live: Live) -> None:
    fill(live)
    first = live.submit("first", "lender", "high")
    time.sleep(2)
    where = {"KUBECONFIG": str(live.config), "BLOCKED_S": "1", "HOME": str(live.home)}
    subprocess.run(fail_safe(), env=environment(where), capture_output=True, check=True)
    live.wait("first", lambda one: one.holds_quota)
    assert live.evicted_for(first.uid) == {"late"}


@AT_NIGHT
def test_everything_off_lets_kueue_choose(live: Live) -> None:
    """By ``--release``: to turn Kueue's feature gate off it has to be started anew."""
    fill(live)
    first = live.submit("first", "lender", "high")
    done = process("steer", "--release", "--kubeconfig", live.config, env={"HOME": str(live.home)})
    assert done.returncode == 0, done.stderr
    live.wait("first", lambda one: one.holds_quota)
    assert live.evicted_for(first.uid) == {"late"}
    assert live.left() == (set(), set())
