"""Cases to totals."""

from planner.commands.audit import Case, Question
from planner.commands.audit.judge import summarise
from planner.commands.audit.record import FindingCode, Judgement, StateAudit, Summary
from planner.commands.study.record import Failure
from planner.objective.profiles import PROFILES, Profile
from planner.plan import Shown

FEW = Profile("few", "", levels=(("workloads",),))


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
        terms={"workloads": optimum},
        gaps={"workloads": greedy - optimum} if greedy else {},
        best=best,
        shown=shown or Shown(),
    )
    return Case(
        state=name,
        pending="ns/p",
        rules="kueue-classical",
        status="feasible",
        victims=tuple(f"ns/v{i}" for i in range(greedy)),
        terms={"workloads": greedy},
        outside_rules=outside,
        judgements=(judgement,),
        findings=findings,
        proved=proved,
    )


def totals(*cases: Case, failures: tuple[Failure, ...] = ()) -> Summary:
    """Return the totals of cases, each in a state of its own; a failure is a state, too."""
    states = [StateAudit(state=one.state, rows=(one,)) for one in cases]
    states += [StateAudit(state=one.state, failures=(one,)) for one in failures]
    return summarise(Question((FEW,)), states).summary


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
