"""Cases to totals, and what is said of findings where documented precedence is kept."""

import pytest

import planner
from planner.commands.audit import Case, Question
from planner.commands.audit.judge import summarise
from planner.commands.audit.record import (
    Audit,
    FindingCode,
    Judgement,
    Precedence,
    StateAudit,
    Summary,
)
from planner.commands.study.instance import Instance
from planner.commands.study.record import Failure
from planner.objective.profiles import PROFILES, Profile
from planner.plan import Shown
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

D2 = Profile("few", "", levels=(("D2",),))


def case(  # noqa: PLR0913 - the fields that are counted
    name: str,
    *,
    greedy: int = 0,
    optimum: int = 0,
    best: bool | None = None,
    findings: tuple[FindingCode, ...] = (),
    outside: tuple[str, ...] = (),
    proved: bool = True,
    shown: Shown | None = None,
) -> Case:
    """Return a case in which so many workloads are evicted."""
    judgement = Judgement(
        objective="few",
        status="optimal",
        victims=tuple(f"ns/v{i}" for i in range(optimum)),
        terms={"D2": optimum},
        gaps={"D2": greedy - optimum} if greedy else {},
        best=best,
        shown=shown or Shown(),
    )
    return Case(
        state=name,
        pending="ns/p",
        rules="kueue-classical",
        status="feasible",
        victims=tuple(f"ns/v{i}" for i in range(greedy)),
        terms={"D2": greedy},
        outside_rules=outside,
        judgements=(judgement,),
        findings=findings,
        proved=proved,
    )


def totals(*cases: Case, failures: tuple[Failure, ...] = ()) -> Summary:
    """Return the totals of cases, each in a state of its own; a failure is a state, too."""
    states = [StateAudit(state=one.state, rows=(one,)) for one in cases]
    states += [StateAudit(state=one.state, failures=(one,)) for one in failures]
    return summarise(Question((D2,)), states).summary


def test_totals() -> None:
    summary = totals(
        case("a", greedy=5, optimum=2, best=False, findings=("disruption",)),
        case("b", greedy=2, optimum=2, best=True),
        case("c", greedy=1, optimum=3, findings=("rules",), outside=("FS-07 share",)),
        case("d", proved=False),
        failures=(Failure(state="e", detail="cannot be read"),),
    )
    assert (summary.states, summary.cases, summary.failures) == (5, 4, 1)
    assert (summary.with_victims, summary.clean, summary.unproved) == (3, 2, 1)
    assert summary.findings == {"disruption": 1, "rules": 1}
    (verdicts,) = summary.verdicts
    assert (verdicts.judged, verdicts.best, verdicts.not_best, verdicts.proved) == (2, 1, 1, 4)
    (gap,) = summary.gaps
    assert (gap.compared, gap.more, gap.less) == (2, 1, 0)
    assert (gap.total, gap.greedy_total, gap.worst) == (3, 7, 3)
    assert gap.worst_case == "a: ns/p"


def test_levels_are_counted_by_what_they_rest_on() -> None:
    (verdicts,) = totals(
        case("a", shown=Shown(zero=2, one_row=3, multipliers=1)),
        case("b", shown=Shown(one_row=1, multipliers=2, tree=4)),
        case("c", shown=Shown(unproved=1), proved=False),
    ).verdicts
    assert verdicts.shown == Shown(zero=2, one_row=4, multipliers=3, tree=4, unproved=1)
    assert (verdicts.shown.by_hand, verdicts.shown.levels) == (9, 14)


def test_nothing_at_all() -> None:
    question = Question((PROFILES["no-regret"], PROFILES["min-count"]))
    summary = summarise(question, []).summary
    assert summary.cases == 0
    assert summary.gaps == ()
    assert [one.judged for one in summary.verdicts] == [0, 0]


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
