"""What is said of findings where documented precedence is kept."""

import pytest

import planner
from planner.commands.audit import Question
from planner.commands.audit.judge import summarise
from planner.commands.audit.record import Audit, Precedence
from planner.commands.study.instance import Instance
from planner.objective.profiles import PROFILES
from planner.report.audit import render
from tests import recorded
from tests.oracle.cluster import Cluster, UnsupportedError
from tests.oracle.question import ask
from tests.research.strict.oracle import strict_sets
from tests.verifier.cases import (
    cluster,
    cohort,
    fair_sharing,
    policies,
    queue,
    running,
    waiting,
)

EVERY = 16
COUNT = Question((PROFILES["min-count"],))


def small_first() -> Audit:
    """Audit a state in which Kueue takes two small ones first; one large would do."""
    state = cluster(
        cohort("org", gpus=4),
        queue("mine", 2, "org", preemption=policies("Never", "LowerPriority")),
        queue("other", 2, "org"),
        running("large", "other", 4, priority=5),
        *[running(f"small{i}", "other", 1) for i in (1, 2)],
        waiting("incoming", 4, priority=10),
        fair_sharing(),
    )
    return planner.audit(state, objectives=("min-count",))


def test_fewer_would_do_but_only_out_of_turn() -> None:
    audit = small_first()
    (case,) = audit.cases
    assert (case.smallest, case.fewest) == (False, 1)
    assert case.precedence is not None
    assert (case.precedence.smallest, case.precedence.fewer) == (False, False)
    assert len(case.precedence.victims) == 2
    counted = audit.summary.precedence
    assert (counted.judged, counted.fewer, counted.smallest, counted.undecided) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("table", "fewer victims would still do in no case in question"),
        ("plain", "judged=1 fewer=0 smallest=0 undecided=0"),
        ("json", '"precedence"'),
        ("csv", "fewer_in_turn"),
    ],
)
def test_every_format_says_so(style: str, said: str) -> None:
    assert said in render(small_first(), style, width=120, color=False)


def test_what_is_not_decided_is_counted_so() -> None:
    (case,) = small_first().cases
    open_case = case.model_copy(update={"precedence": Precedence(smallest=None, fewer=None)})
    audit = small_first()
    instance = COUNT.answer(Instance("empty", cluster(), ()))
    summary = summarise(COUNT, [instance.model_copy(update={"rows": (open_case,)})]).summary
    assert (summary.precedence.judged, summary.precedence.undecided) == (1, 1)
    said = render(audit.model_copy(update={"summary": summary}), "table", width=120, color=False)
    assert ", 1 not decided" in said


@pytest.mark.parametrize("name", ["small-fair-flat", "small-fair-hier", "small-classical-flat"])
def test_as_many_as_all_strict_legal_sets_leave(name: str) -> None:
    compared = 0
    for line in recorded.lines(name, EVERY):
        if "exhaustive" not in line["expect"]:
            continue
        instance = Instance(
            "recorded", recorded.state_of(line), (line["pending"],), line.get("assignment")
        )
        (case,) = COUNT.answer(instance).rows
        assert (case.smallest is False) == (case.precedence is not None), line["id"]
        if case.precedence is None:
            continue
        pod_sets = line["expect"]["assignment"]["podSets"]
        flavors = {each["name"]: each["flavors"] or {} for each in pod_sets}
        try:
            question = ask(Cluster(line["state"]["items"], line["now"]), line["pending"], flavors)
            fewest = min((v.bit_count() for v in strict_sets(question)), default=99)
        except UnsupportedError:
            continue
        assert case.precedence.fewer == (fewest < len(case.victims)), line["id"]
        compared += 1
    assert compared >= 2
