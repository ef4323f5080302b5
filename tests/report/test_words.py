"""Codes, proofs, victims that preempt again and what a plan takes more of, in words."""

import json
from collections.abc import Sequence
from itertools import islice

import pytest
from msgspec.structs import astuple

import planner
from planner.laws import RULE_SETS, law_behind
from planner.plan import Certificate, Excess, Proof
from planner.plan.kueue import Cascade, Plan
from planner.plan.proof import ByRows, Tree
from planner.reference.kueue.classical import REASON
from planner.reference.kueue.fair_sharing import FAIR, OWN, WITHIN_NOMINAL
from planner.report.kueue.plan import cascades_in_words as in_words
from planner.report.words import (
    contrast,
    more_than_greedy,
    proof_in_words,
    rules_name,
    scheduler_name,
    term_rows,
)
from planner.report.yunikorn.plan import last_tier
from planner.scheduler import schedulers
from planner.term import TERMS, text_of
from tests.recorded import asks_the_state, lines, state_of
from tests.report.factory import make_certificate, make_greedy, make_plan, make_victim
from tests.report.rendering import as_json, table
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_yunikorn,
    make_yunikorn_certificate,
)
from tests.told import told


def test_victims_of_yunikorn_are_allocations_in_every_term() -> None:
    for name in (*TERMS, "victims@-7", "more@each"):
        text = text_of(name, "yunikorn")
        assert text is not None
        assert "workload" not in text.title + text.unit
    told(text_of("victims@-7", "yunikorn"))
    told(text_of("victims@-7", "kueue"))
    assert text_of("victims@each@all", "yunikorn") is None
    texts = {row.id: (row.title, row.unit) for row in term_rows(make_yunikorn())}
    assert texts["workloads"] == ("allocations preempted", "allocations")
    told(texts["lost_work+restart_cost"])


def test_every_reason_of_the_scheduler_has_its_law() -> None:
    behind = {
        rules: [reason for law in laws for reason in law.reasons]
        for rules, laws in RULE_SETS.items()
    }
    assert set(behind["kueue-classical"]) == set(REASON.values())
    assert set(behind["kueue-fair"]) == {OWN, WITHIN_NOMINAL, FAIR}
    for reasons in behind.values():
        assert len(set(reasons)) == len(reasons)


def test_every_rule_set_and_scheduler_has_a_name() -> None:
    named = {rules for one in schedulers() for rules in one.words.rules}
    assert named == set(RULE_SETS) - {"flavors", "topology"}  # these are added to others
    assert {scheduler_name(make_plan()), scheduler_name(make_yunikorn())} == {"Kueue", "YuniKorn"}
    told(rules_name(make_yunikorn(rules="yunikorn-code")))


def test_the_same_reason_has_another_law_under_other_rules() -> None:
    classical, fair = (make_plan(rules=f"kueue-{kind}") for kind in ("classical", "fair"))
    assert [
        law.id for plan in (classical, fair) if (law := law_behind(plan.laws, "InClusterQueue"))
    ] == ["KQ-04", "FS-03"]
    assert law_behind(classical.laws, "InCohortFairSharing") is None


def test_the_scheduler_has_no_terms_when_it_found_nobody() -> None:
    plan = make_plan(greedy=make_greedy(victims=(), terms={"workloads": 0}))
    assert {row.greedy for row in term_rows(plan)} == {None}


def test_a_term_the_report_does_not_know_is_shown_by_its_id() -> None:
    plan = make_plan(terms={"D99": 7}, certificate=make_certificate(levels=()), greedy=None)
    (row,) = term_rows(plan)
    assert astuple(row) == ("D99", "D99", "", 7, None, None, None, None, None)


def test_contrast_keeps_the_order_of_each_plan() -> None:
    plan = make_plan(victims=[make_victim(name) for name in ("ns/c", "ns/a", "ns/b")])
    greedy = make_greedy(victims=[make_victim(name) for name in ("ns/b", "ns/d", "ns/c")])
    parts = contrast(plan, greedy)
    assert parts.common == ("ns/c", "ns/b")
    assert parts.spared == ("ns/d",)
    assert parts.instead == ("ns/a",)


def test_contrast_of_allocations_is_by_key() -> None:
    """Two pods of one name are two allocations."""
    plan = make_yunikorn(victims=[make_allocation("a"), make_allocation("b", pod="research/a")])
    parts = contrast(plan, make_core_plan(victims=[make_allocation("a")]))
    assert (parts.common, parts.spared, parts.instead) == (("a-key",), (), ("b-key",))


LAST = [
    make_allocation("a", originator=True, opted_out=True),
    make_allocation("b", opted_out=True),
    make_allocation("c"),
]


def test_last_tier_victims_are_counted_by_what_they_are() -> None:
    plan = make_yunikorn(victims=LAST, certificate=None)
    told(last_tier(plan))
    assert last_tier(make_yunikorn(victims=LAST[1:], certificate=None)) == "1 opted out"


def test_only_a_closed_level_proves_that_the_last_tier_is_needed() -> None:
    (first, *others) = make_yunikorn_certificate().levels
    for levels, said in (
        ([first, *others], "proved: no legal plan under this objective does with fewer"),
        ([first.model_copy(update={"bound": 0}), *others], "not proved that no plan"),
        (others, "no-regret does not count them"),
    ):
        certificate = make_yunikorn_certificate(levels=levels)
        assert said in last_tier(make_yunikorn(certificate=certificate))


WORD = "by the solver's word alone"


def resting(
    proofs: Sequence[Proof | None], bound: int = 3, claimed: int | None = None, **changes: object
) -> Certificate:
    """Return a certificate with a level for each of some proofs; the last has bound and claim."""
    known = {"term": "workloads", "title": "", "unit": "", "value": 3}
    levels: list[dict[str, object]] = [{**known, "bound": 3, "proof": proof} for proof in proofs]
    if levels:
        levels[-1] |= {"bound": bound, "claimed": claimed}
    return make_certificate(**{"levels": levels, "trees": (), "ties": None, **changes})


def tree(steps: int) -> Tree:
    return Tree(claim="infeasible", steps=(ByRows(rows={"better": 1}),) * steps)


@pytest.mark.parametrize(
    "certificate",
    [
        make_certificate(),
        make_certificate(trees=(), trees_omitted=5000),
        resting(["certified", None], claimed=3, trees=(tree(1),)),
        resting([None, None], bound=1, claimed=2),
        resting(["certified"], trees=(tree(2),)),
        make_certificate(corrected=2),
        resting([], trees=(tree(3),)),
        resting([]),
    ],
)
def test_one_line(certificate: Certificate) -> None:
    told(proof_in_words(certificate))


def test_joint_plans_have_no_ties() -> None:
    said = proof_in_words(resting([None], claimed=3), ties=False)
    assert said == f"of 1 level 1 {WORD}"
    certified = proof_in_words(make_certificate(ties=None), ties=False)
    told(certified)


def test_names_cannot_write_to_the_screen() -> None:
    bad = Cascade(victim="a/\x1b[31m", targets=("b/\n",), preemptor=False)
    said = in_words([bad])
    assert "\x1b" not in said
    assert said.count("\n") == 1


def test_nothing_is_told_where_there_is_no_more() -> None:
    greedy = make_greedy()
    same = make_plan(victims=greedy.victims, terms=greedy.terms, greedy=greedy)
    assert same.more_than_greedy == ()
    assert "More than" not in table.render(same, width=108)
    nobody = make_greedy(status="infeasible", victims=(), terms={})
    assert make_plan(greedy=nobody).more_than_greedy == ()
    assert make_plan(greedy=None).more_than_greedy == ()


def test_more_lost_work_is_said() -> None:
    """An objective may look at priority before it looks at lost work."""
    ours, theirs = ({"lost_work": hours * 3600, "restart_cost": 1800} for hours in (5, 2))
    greedy = make_greedy(terms=theirs)
    plan = make_plan(terms=ours, greedy=greedy, victims=greedy.victims)
    assert plan.more_than_greedy == (
        Excess(measure="lost_work+restart_cost", plan=19800, greedy=9000),
    )
    told(more_than_greedy(plan))


def test_what_is_being_evicted_already_is_not_counted() -> None:
    gone = [make_victim("team-b/gone", priority=99, evicted=True)]
    terms = {"pods": 0, "queues": 0}
    assert make_plan(victims=gone, terms=terms).more_than_greedy == ()


def test_it_follows_from_the_rest_whatever_is_read() -> None:
    plan = make_plan()
    written = json.loads(as_json.render(plan))
    written["more_than_greedy"] = [{"measure": "pods", "plan": 9, "greedy": 1}]
    assert Plan.model_validate(written) == plan
    assert Plan.model_validate(written).more_than_greedy == plan.more_than_greedy


def test_no_regret_may_take_more_and_then_says_so() -> None:
    """Its caps bind neither pods nor queues, nor how many victims the highest priority has."""
    found: set[str] = set()
    for line in filter(asks_the_state, islice(lines("small-classical-flat"), 80)):
        plan = planner.solve(state_of(line), line["pending"], assignment=line.get("assignment"))
        if plan.greedy is None or not (plan.greedy.victims and plan.victims):
            continue
        excess = {one.measure: one for one in plan.more_than_greedy}
        pods, queues = ((plan.terms[term], plan.greedy.terms[term]) for term in ("pods", "queues"))
        more = Excess(measure="pods", plan=pods[0], greedy=pods[1])
        assert excess.get("pods") == (more if pods[0] > pods[1] else None)
        more = Excess(measure="queues", plan=queues[0], greedy=queues[1])
        assert excess.get("queues") == (more if queues[0] > queues[1] else None)
        found |= excess.keys()
    assert found >= {"pods", "queues"}
