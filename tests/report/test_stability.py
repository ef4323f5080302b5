"""Victims that would preempt again, on a screen, in plain lines and on a page."""

from __future__ import annotations

from planner.plan.kueue import Cascade, Plan
from planner.report.document import MAX_NAMES as MAX_SHOWN
from planner.report.kueue.plan import STABLE
from planner.report.kueue.plan import cascades_in_words as in_words
from tests.report.factory import make_plan
from tests.report.rendering import html, plain, table

BACK = Cascade(victim="team-b/sweep-17", targets=("team-a/train-llm",), preemptor=True)
THIRD = Cascade(victim="team-a/notebook-3", targets=("x/one", "x/two"), preemptor=False)


def made(*cascades: Cascade) -> Plan:
    plan = make_plan()
    terms = {**plan.terms, "D11": len(cascades)}
    return plan.model_copy(update={"stability": cascades, "terms": terms})


def test_sentences_name_victims_and_targets() -> None:
    assert in_words([BACK, THIRD]).split("\n") == [
        "Not stable: 2 victims would preempt again once pending:",
        "  team-b/sweep-17 would preempt team-a/train-llm (the preemptor itself)",
        "  team-a/notebook-3 would preempt x/one, x/two",
    ]
    assert in_words([BACK]).startswith("Not stable: 1 victim would preempt again")
    assert in_words([]) == STABLE


def test_long_lists_are_cut_and_counted() -> None:
    targets = tuple(f"x/w{number}" for number in range(MAX_SHOWN + 2))
    many = [Cascade(victim="a/b", targets=targets, preemptor=False)] * (MAX_SHOWN + 3)
    lines = in_words(many).split("\n")
    assert lines[-1] == "  and 3 more"
    assert lines[1].endswith(f"x/w{MAX_SHOWN - 1} and 2 more")
    assert len(lines) == MAX_SHOWN + 2


def test_names_cannot_write_to_the_screen() -> None:
    bad = Cascade(victim="a/\x1b[31m", targets=("b/\n",), preemptor=False)
    said = in_words([bad])
    assert "\x1b" not in said
    assert said.count("\n") == 1


def test_plain_lines_have_a_fact_each() -> None:
    text = plain.render(made(BACK, THIRD))
    assert "unstable         2\n" in text
    assert "cascade          team-b/sweep-17 preemptor=yes target=team-a/train-llm\n" in text
    assert "cascade          team-a/notebook-3 preemptor=no target=x/one target=x/two\n" in text
    assert "unstable         0\n" in plain.render(made())
    assert "unstable" not in plain.render(make_plan())


def test_tables_and_pages_say_it_below_the_victims() -> None:
    for show in (lambda plan: table.render(plan, width=108, color=False), html.render):
        assert "team-a/notebook-3 would preempt x/one, x/two" in show(made(BACK, THIRD))
        assert STABLE in show(made())
        assert "would preempt" not in show(make_plan())
        unasked = make_plan().model_copy(update={"stability": ()})
        assert STABLE not in show(unasked)
        assert STABLE not in show(make_plan())
