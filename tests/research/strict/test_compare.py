"""Documented precedence beside Kueue's own laws, in comparisons."""

import pytest

from planner.commands.compare.measure import find_algorithm
from planner.errors import SchemaError
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.commands.compare.test_measure import rows_of
from tests.research.strict.test_plan import STATE

FEWEST = "strict/optimum:min-count"


def test_fewer_would_do_but_only_out_of_turn() -> None:
    rows = rows_of(STATE, "greedy", "optimum:min-count", "strict", FEWEST)
    assert [len(row.victims) for row in rows.values()] == [2, 1, 2, 2]
    assert rows[FEWEST].victims == rows["greedy"].victims
    assert (rows[FEWEST].outside_rules, rows[FEWEST].own_flavors) == ((), True)


def test_kueue_itself_gives_back_whose_turn_was_first() -> None:
    """Queue ``more`` has the higher share, and gives ``small``, which ``large`` makes needless."""
    state = state_of(
        cohort("org", nominal=8),
        queue("mine", 4, "org", reclaim="LowerPriority"),
        queue("more", 0, "org"),
        queue("less", 0, "org"),
        running("small", "more", 1),
        running("prior", "more", 6, priority=20),
        running("large", "less", 5),
        pending("mine", 4, 10),
        fair_sharing(),
    )
    rows = rows_of(state, "greedy", "strict", FEWEST)
    assert rows["greedy"].victims == rows["strict"].victims == ("ns/large",)
    assert not rows["greedy"].outside_rules
    (outside,) = rows["strict"].outside_rules
    assert outside.startswith("ST-03")
    assert {*rows[FEWEST].victims} == {"ns/small", "ns/large"}


@pytest.mark.parametrize("name", ["strict:wait=1", "strict/optimum:none", "strict/x", "strictly"])
def test_what_is_no_algorithm(name: str) -> None:
    with pytest.raises(SchemaError):
        find_algorithm(name)
