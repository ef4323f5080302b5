"""Codes in words, and two plans compared."""

from msgspec.structs import astuple

from planner.laws import RULE_SETS
from planner.reference.kep83 import OWN_QUEUE, RECLAIMED, WHILE_BORROWING
from planner.reference.kueue.candidates import REASON
from planner.reference.kueue.fair_sharing import FAIR, OWN, WITHIN_NOMINAL
from planner.report.kueue.plan import law_behind
from planner.report.words import (
    contrast,
    outside_rules,
    rules_name,
    scheduler_name,
    term_rows,
)
from planner.report.yunikorn.plan import last_tier
from planner.scheduler import schedulers
from planner.term import TERMS, text_of
from tests.report.factory import make_certificate, make_greedy, make_plan, make_victim
from tests.report.yunikorn_factory import (
    BREAKS,
    make_allocation,
    make_core_plan,
    make_yunikorn,
    make_yunikorn_certificate,
)


def test_victims_of_yunikorn_are_allocations_in_every_term() -> None:
    for name in (*TERMS, "victims@-7", "more@each"):
        text = text_of(name, "yunikorn")
        assert text is not None
        assert "workload" not in text.title + text.unit
    assert text_of("victims@-7", "yunikorn") == ("victims of adjusted priority -7", "allocations")
    assert text_of("victims@-7", "kueue") == ("victims of priority -7", "workloads")
    assert text_of("victims@each@all", "yunikorn") is None
    texts = {row.id: (row.title, row.unit) for row in term_rows(make_yunikorn())}
    assert texts["D2"] == ("allocations preempted", "allocations")
    assert texts["D4+D5"] == ("lost work and restart cost", "accelerator-seconds")


def test_every_reason_of_the_scheduler_has_its_law() -> None:
    behind = {
        rules: [reason for law in laws for reason in law.reasons]
        for rules, laws in RULE_SETS.items()
    }
    assert set(behind["kueue-classical"]) == set(REASON.values())
    assert set(behind["kueue-fair"]) == {OWN, WITHIN_NOMINAL, FAIR}
    assert set(behind["kep83"]) == {OWN_QUEUE, RECLAIMED, WHILE_BORROWING}
    for reasons in behind.values():
        assert len(set(reasons)) == len(reasons)


def test_every_rule_set_and_scheduler_has_a_name() -> None:
    named = {rules for one in schedulers() for rules in (*one.words.rules, *one.words.options)}
    assert named == set(RULE_SETS)
    assert {scheduler_name(make_plan()), scheduler_name(make_yunikorn())} == {"Kueue", "YuniKorn"}
    assert rules_name(make_yunikorn(rules="yunikorn-code")) == "laws as coded"


def test_the_same_reason_has_another_law_under_other_rules() -> None:
    classical, fair = (make_plan(rules=f"kueue-{kind}") for kind in ("classical", "fair"))
    assert [
        law.id for plan in (classical, fair) if (law := law_behind(plan, "InClusterQueue"))
    ] == [
        "KQ-04",
        "FS-03",
    ]
    assert law_behind(classical, "InCohortFairSharing") is None


def test_levels_come_first_and_no_term_twice() -> None:
    rows = term_rows(make_plan())
    assert [row.id for row in rows[:7]] == ["D0", "D1", "D2", "D3", "D4+D5", "D7", "D8"]
    assert [row.level for row in rows] == [1, 2, 3, 4, 5, 6, 7, None, None, None, None]
    assert [row.id for row in rows[7:]] == ["D4", "D5", "count", "cost"]


def test_a_sum_of_terms_is_summed_for_the_scheduler_too() -> None:
    by_id = {row.id: row for row in term_rows(make_plan())}
    assert by_id["D4+D5"].value == 33_360
    assert by_id["D4+D5"].greedy == by_id["D4"].greedy + by_id["D5"].greedy == 114_930  # type: ignore[operator]


def test_the_scheduler_has_no_terms_when_it_found_nobody() -> None:
    plan = make_plan(greedy=make_greedy(victims=(), terms={"D2": 0}))
    assert {row.greedy for row in term_rows(plan)} == {None}


def test_a_term_the_report_does_not_know_is_shown_by_its_id() -> None:
    plan = make_plan(terms={"D99": 7}, certificate=make_certificate(levels=()), greedy=None)
    (row,) = term_rows(plan)
    assert astuple(row) == ("D99", "D99", "", 7, None, None, None, None)


def test_contrast_keeps_the_order_of_each_plan() -> None:
    plan = make_plan(victims=[make_victim(name) for name in ("ns/c", "ns/a", "ns/b")])
    greedy = make_greedy(victims=[make_victim(name) for name in ("ns/b", "ns/d", "ns/c")])
    parts = contrast(plan, greedy)
    assert parts.common == ("ns/c", "ns/b")
    assert parts.spared == ("ns/d",)
    assert parts.instead == ("ns/a",)


def test_yunikorn_s_own_answer_breaks_a_law() -> None:
    assert outside_rules(make_core_plan()) == [
        ("YK-02", f"YuniKorn's own answer breaks {BREAKS}"),
    ]


def test_yunikorn_makes_one_attempt_and_its_sums_are_summed() -> None:
    assert make_yunikorn().attempt == ""
    by_id = {row.id: row for row in term_rows(make_yunikorn())}
    assert (by_id["D4+D5"].value, by_id["D4+D5"].greedy) == (16_680, 3_120)


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
    assert last_tier(plan) == "1 originator, 2 opted out"
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
