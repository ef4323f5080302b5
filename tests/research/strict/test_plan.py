"""Plans by documented precedence: the smallest strict-legal set, found by cutting off others."""

from pathlib import Path

import pytest

import planner
from planner.errors import InputError
from planner.research.strict import planning as strict
from planner.research.strict.verifier import Strict, judge_strictly
from tests import recorded
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.commands.check.test_forged import refused_without_topology
from tests.oracle.cluster import Cluster, UnsupportedError
from tests.oracle.question import ask
from tests.research.strict.oracle import strict_sets
from tests.told import told

FILES = ("small-fair-flat", "small-fair-hier", "small-classical-hier")
EVERY = 48

STATE = state_of(
    cohort("org", nominal=4),
    queue("mine", 2, "org", reclaim="LowerPriority"),
    queue("other", 2, "org"),
    running("large", "other", 4),
    *[running(f"small{i}", "other", 1) for i in (1, 2)],
    pending("mine", 4, 10),
    fair_sharing(),
)
"""One large workload would do, but the first strategy finds the two small ones before it."""


def test_a_set_whose_turn_does_not_come_is_cut_off() -> None:
    today = planner.solve(STATE, objective="min-count")
    assert today.keys == ("ns/large",)
    plan = planner.solve(STATE, objective="min-count", rules="strict")
    assert plan.status == "feasible"
    assert set(plan.keys) == {"ns/small1", "ns/small2"}
    assert plan.certificate is not None
    assert plan.certificate.claimed
    assert plan.certificate.cut_off >= 1
    assert (plan.rules, plan.rule_options) == ("kueue-fair", "strict")
    assert {"ST-02", "ST-03"} <= {verdict.law for verdict in plan.certificate.verdicts}
    assert set(plan.certificate.removal_order) == set(plan.keys)
    assert planner.verify(STATE, plan).accepted
    assert not planner.verify(STATE, today.model_copy(update={"rule_options": "strict"})).accepted
    assert not today.rule_options


def test_what_is_left_out_has_to_be_said(tmp_path: Path) -> None:
    """By documented precedence quota alone is looked at, also of a state with topology."""
    assert "CT-09" in refused_without_topology(tmp_path, "strict")


def test_what_is_not_decided_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets that the judgement does not decide are left out, and then nothing is optimal."""
    judge = judge_strictly

    def forgetful(case: object) -> Strict:
        found = judge(case)  # type: ignore[arg-type]
        return found if found.legal else Strict(legal=None)

    monkeypatch.setattr(strict, "judge_strictly", forgetful)
    plan = planner.solve(STATE, objective="min-count", rules="strict")
    assert plan.status == "feasible"
    assert set(plan.keys) == {"ns/small1", "ns/small2"}
    monkeypatch.setattr(strict, "judge_strictly", lambda _: Strict(legal=None))
    nothing = planner.solve(STATE, objective="min-count", rules="strict")
    assert (nothing.status, nothing.rule_options) == ("unknown", "strict")


def test_the_schedulers_own_answer_is_judged_too() -> None:
    own = planner.greedy(STATE, rules="strict")
    assert not own.outside_rules


def test_what_does_not_go_with_it() -> None:
    with pytest.raises(InputError) as caught:
        planner.solve(STATE, rules="strict", flavors="optimal")
    told(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_the_fewest_of_all_strict_legal_sets(name: str) -> None:
    compared = 0
    for line in recorded.lines(name, EVERY):
        if "exhaustive" not in line["expect"] or not recorded.asks_the_state(line):
            continue
        pod_sets = line["expect"]["assignment"]["podSets"]
        flavors = {each["name"]: each["flavors"] or {} for each in pod_sets}
        try:
            question = ask(Cluster(line["state"]["items"], line["now"]), line["pending"], flavors)
            sets = strict_sets(question)
        except UnsupportedError:
            continue
        plan = planner.solve(
            recorded.state_of(line),
            line["pending"],
            "min-count",
            assignment=line.get("assignment"),
            rules="strict",
        )
        fewest = min((victims.bit_count() for victims in sets), default=None)
        # No tree knows documented precedence: that nothing is better is the solver's word.
        assert plan.status == ("unknown" if fewest is None else "feasible"), line["id"]
        assert plan.certificate is None or plan.certificate.claimed, line["id"]
        assert fewest is None or len(plan.keys) == fewest, line["id"]
        compared += 1
    assert compared > 3
