"""Codes in words, and two plans compared."""

import dataclasses

from planner.laws import RULE_SETS
from planner.objective.terms import TERMS
from planner.reference.candidates import REASON
from planner.report.contrast import contrast
from planner.report.words import ALLOWED_BY, RULES, TERM_TEXTS, law_behind, term_rows
from tests.report.factory import make_certificate, make_greedy, make_plan, make_victim


def test_titles_and_units_are_those_of_the_terms() -> None:
    assert {term.id: (term.title, term.unit) for term in TERMS.values()} == TERM_TEXTS


def test_every_reason_of_the_scheduler_has_its_law() -> None:
    assert set(ALLOWED_BY) == set(RULES) == set(RULE_SETS)
    assert set(ALLOWED_BY["kueue-classical"]) == set(REASON.values())
    for rules, laws in ALLOWED_BY.items():
        assert set(laws.values()) <= set(RULE_SETS[rules])


def test_the_same_reason_has_another_law_under_other_rules() -> None:
    classical, fair = (make_plan(rules=rules) for rules in RULE_SETS)
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
    assert dataclasses.astuple(row) == ("D99", "D99", "", 7, None, None, None)


def test_contrast_keeps_the_order_of_each_plan() -> None:
    plan = make_plan(victims=[make_victim(name) for name in ("ns/c", "ns/a", "ns/b")])
    greedy = make_greedy(victims=[make_victim(name) for name in ("ns/b", "ns/d", "ns/c")])
    parts = contrast(plan, greedy)
    assert parts.common == ("ns/c", "ns/b")
    assert parts.spared == ("ns/d",)
    assert parts.instead == ("ns/a",)
