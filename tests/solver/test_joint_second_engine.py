"""Joint plans: what one engine calls impossible is asked of two before the plan is optimal."""

from typing import Any

import numpy as np
import pytest

import planner
from planner.errors import InternalError
from planner.models.kueue.joint import Cut, assemble_joint
from planner.models.shared.builder import variable
from planner.models.shared.classes import Classes
from planner.objective.profiles import PROFILES
from planner.plan import Proof
from planner.plan.kueue import JointPlan
from planner.quota.kueue.snapshot import take_snapshot
from planner.solver import mathopt
from planner.solver.deadline import Deadline
from planner.solver.kueue.joint import describe as joint_describe
from planner.solver.kueue.joint import rules as joint_rules
from planner.solver.kueue.joint import solve as joint_solve
from planner.solver.kueue.joint.question import ask
from planner.solver.kueue.joint.rules import JointRules
from planner.solver.levels import Answer, Least, LevelResult, solve_levels
from planner.solver.mathopt import MipAnswer
from planner.solver.search import Search
from planner.state.kueue import State
from planner.verifier.kueue.certificate import check_status
from tests.flavored import flavor, group, queue, running, state_of
from tests.solver.joint_clusters import lent_and_asked_for, second_first, waiting

LEAST = "least-disruption"


def lent_to_both() -> State:
    """One by one both small ones go, then the large one; together one small and the large one."""
    return state_of(*lent_and_asked_for(3))


def too_many() -> State:
    """Of 4 GPUs, all free, the first takes 3; there is room for only one of the two."""
    return state_of(
        flavor("f"),
        queue("a", group(f=4), cohort="c"),
        queue("b", group(f=2), cohort="c", reclaim="Any"),
        running("other", "a", "f", 4, 1),
        waiting("first", "b", 2, 10),
        waiting("second", "b", 1, 9),
    )


def say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second engine know nothing."""
    monkeypatch.setattr(mathopt, "ask", lambda *_: MipAnswer(infeasible=False))


def test_every_level_says_what_it_rests_on() -> None:
    plan = planner.solve_joint(lent_to_both(), objective=LEAST)
    assert plan.status == "optimal"
    proofs = {level.term: (level.value > 0, level.proof) for level in plan.certificate.levels}
    assert set(proofs.values()) == {(True, "solver"), (False, "certified")}
    assert len(plan.certificate.engines) == 2
    assert "CP-SAT" in plan.certificate.engines[0]
    assert "SCIP" in plan.certificate.engines[1]
    assert plan.certificate.corrected == 0


def test_one_engine_alone_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = planner.solve_joint(lent_to_both(), objective=LEAST)
    say_nothing(monkeypatch)
    plan = planner.solve_joint(lent_to_both(), objective=LEAST)
    assert plan.status == "feasible"
    assert "one engine finds nothing better, and no other confirms it" in plan.explanation
    assert {level.proof for level in plan.certificate.levels if level.value} == {None}
    assert plan.terms == expected.terms


def test_numbers_too_long_for_doubles_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mathopt, "_EXACT", 1)
    plan = planner.solve_joint(lent_to_both(), objective=LEAST)
    assert plan.status == "feasible"
    assert len(plan.victims) == 2


@pytest.mark.parametrize("lies", [1, 2])
def test_what_another_engine_knows_better_takes_the_place(
    lies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search calls serving one by one the best, once from each start."""
    incumbents = []

    def lying(search: Search, levels: Any) -> Answer:
        incumbents.append(search.incumbent)
        if len(incumbents) > lies + 1:  # the first answer is only where the search begins
            return solve_levels(search, levels)
        values = [(level, search.value(level, search.answer)) for level in (*levels, ("victims",))]
        done = [LevelResult(level, Least("optimal", value, value)) for level, value in values]
        return Answer("optimal", tuple(done))

    expected = planner.solve_joint(lent_to_both(), objective=LEAST)
    monkeypatch.setattr(joint_solve, "solve_levels", lying)
    plan = planner.solve_joint(lent_to_both(), objective=LEAST)
    assert (plan.status, plan.terms) == ("optimal", expected.terms)
    assert 1 <= plan.certificate.corrected <= lies
    assert len(plan.victims) < len(plan.greedy.victims)


def test_an_engine_that_never_agrees_leaves_the_plan_feasible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lying(search: Search, levels: Any) -> Answer:
        values = [(level, search.value(level, search.answer)) for level in (*levels, ("victims",))]
        done = [LevelResult(level, Least("optimal", value, value)) for level, value in values]
        return Answer("optimal", tuple(done))

    monkeypatch.setattr(joint_solve, "solve_levels", lying)
    monkeypatch.setattr(joint_solve, "ROUNDS", 1)
    plan = planner.solve_joint(lent_to_both(), objective=LEAST)
    assert plan.status == "feasible"
    assert plan.certificate.corrected == 1
    assert len(plan.victims) < len(plan.greedy.victims)


def test_who_is_refused_by_one_engine_is_found_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_solve, "find_any", lambda *_: "infeasible")
    plan = planner.solve_joint(second_first())
    assert (plan.status, set(plan.admitted)) == ("optimal", {"ns/first", "ns/second"})


def refused(plan: JointPlan) -> list[str]:
    return [one.explanation for one in plan.pending if not one.admitted]


def test_who_is_refused_by_one_engine_alone_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JointRules, "is_hopeless", lambda *_: False)
    plan = planner.solve_joint(too_many())
    assert (plan.status, refused(plan)) == ("optimal", [joint_describe.PROVED])
    say_nothing(monkeypatch)
    plan = planner.solve_joint(too_many())
    assert (plan.status, refused(plan)) == ("feasible", [joint_describe.UNDECIDED])


def test_in_order_of_precedence_bounds_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_solve, "ORDERS", 1)
    plan = planner.solve_joint(lent_to_both(), objective="min-count")
    assert plan.status == "optimal"
    assert all(level.proof for level in plan.certificate.levels)
    say_nothing(monkeypatch)
    plan = planner.solve_joint(lent_to_both(), objective="min-count")
    assert plan.status == "feasible"


def test_victims_that_cannot_be_divided_are_asked_about_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody may go for first alone: that is refused by one engine, and confirmed by another."""
    state = second_first()
    question = ask(state, take_snapshot(state), ["ns/first", "ns/second"])
    rules = JointRules(question, question.forest.table(None), in_order=False)
    rules.admit, rules.refuse = frozenset({0}), frozenset({1})
    assert rules.steps(range(len(question.forest.workloads))) is None
    assert rules.are_confirmed(Deadline())
    assert not rules.are_confirmed(Deadline.after(0))
    say_nothing(monkeypatch)
    assert not rules.are_confirmed(Deadline())


def test_levels_are_asked_about_on_copies_of_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels after the rank have the same classes: only its own row is added to a copy."""
    built: list[int] = []

    def counting(*given: Any, **named: Any) -> Any:
        built.append(1)
        return assemble_joint(*given, **named)

    def counted(engines: Any, search: Search, levels: Any) -> Any:
        begun = len(built)
        judged = judge(engines, search, levels)
        asked.append((len([one for one in levels if one.least.value]), len(built) - begun))
        return judged

    asked: list[tuple[int, int]] = []
    judge = joint_solve.judge
    monkeypatch.setattr(joint_rules, "assemble_joint", counting)
    monkeypatch.setattr(joint_solve, "judge", counted)
    plan = planner.solve_joint(lent_to_both(), objective="no-regret")
    assert plan.status == "optimal"
    ((levels, models),) = asked
    assert levels >= 3
    assert models <= 2


def test_a_copied_model_is_built_anew_once_something_is_learned() -> None:
    state = second_first()
    question = ask(state, take_snapshot(state), ["ns/first", "ns/second"])
    rules = JointRules(question, question.forest.table(None), in_order=False)
    positions = list(range(len(question.forest.workloads)))
    classes = Classes([[position] for position in positions], np.array(positions, dtype=np.int64))
    first = rules.assemble(classes).builder
    second = rules.assemble(classes).builder
    assert second is not first
    assert second.origin is first.origin is not None
    rows = len(second.proto.constraints)
    first.add(variable(0) >= 1)
    assert len(rules.assemble(classes).builder.proto.constraints) == rows
    rules.admit = frozenset({0})
    admitting = rules.assemble(classes).builder
    assert admitting.origin is not second.origin
    rules.cuts.append(Cut(0, frozenset(), frozenset(), frozenset({0})))
    cut = rules.assemble(classes).builder
    assert cut.origin is not admitting.origin
    rules.in_order = True
    assert rules.assemble(classes).builder.origin is not cut.origin
    narrowed = classes.narrowed({0: 1}, {})
    assert rules.assemble(narrowed).builder.lower[0] == 1


def judged(state: State, gone: set[str]) -> tuple[int, int | None, Proof | None]:
    """Claim that the rank of some victims is least; return it, a lower one found, and the proof."""
    question = ask(state, take_snapshot(state), ["ns/first", "ns/second"])
    joint = joint_solve._Joint(question, PROFILES["no-regret"], Deadline())  # noqa: SLF001
    joint.admit()
    search, place = joint.search, question.forest.place
    counts = search.classes.counts(place[key] for key in gone)
    assert counts is not None
    value = search.value(("highest_priority",), counts)
    claimed = LevelResult(("highest_priority",), Least("optimal", value, value))
    better, (level,) = joint_solve.judge(joint.engines_asked, search, [claimed])
    return (
        value,
        None if better is None else search.value(("highest_priority",), better),
        level.proof,
    )


def test_the_highest_rank_is_asked_about_as_other_levels_are() -> None:
    """For 2 GPUs each the two small ones do, for 3 each one of them and the large one must go."""
    value, lower, proof = judged(state_of(*lent_and_asked_for(2)), {"ns/large"})
    assert lower is not None
    assert lower < value
    assert proof is None
    value, lower, proof = judged(lent_to_both(), {"ns/large", "ns/small-1"})
    assert value > 0
    assert (lower, proof) == (None, "solver")


def test_the_verifier_refuses_an_optimum_without_proof() -> None:
    plan = planner.solve_joint(lent_to_both(), objective=LEAST)
    assert check_status(plan).holds
    levels = [level.model_copy(update={"proof": None}) for level in plan.certificate.levels]
    certificate = plan.certificate.model_copy(update={"levels": tuple(levels)})
    forged = plan.model_copy(update={"certificate": certificate})
    assert not check_status(forged).holds
    assert check_status(forged.model_copy(update={"status": "feasible"})).holds


def test_no_optimum_without_proof_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_solve, "_all_proved", lambda _: True)
    say_nothing(monkeypatch)
    with pytest.raises(InternalError, match="CT-02"):
        planner.solve_joint(lent_to_both(), objective=LEAST)
