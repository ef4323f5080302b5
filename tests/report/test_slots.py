"""Pictures: slots of racks and hosts, bars and their marks, calculated by hand."""

import re
from collections.abc import Sequence

import pytest

import planner
from planner.commands.explain.kueue.picture import MOST_LISTED, nodes_around
from planner.plan.kueue import DomainSlots, NodesAround, Plan
from planner.quantity import UNLIMITED
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.report.document import Gauge, Gauges, SlotRow, Slots
from planner.report.explanation import render as render_explanation
from planner.report.html.page import Bar, Part, draw_gauges, draw_slots
from planner.report.kueue.plan import NOT_PLACED, slots_in
from planner.report.plan import render
from tests.cluster import PENDING, Object
from tests.conftest import QUICKSTART, ROOT
from tests.reference.topology.racks import (
    RACK,
    flavor,
    node,
    pods,
    room,
    runs,
    state_of,
    topology,
    waits,
)
from tests.told import told

TREE = [*topology(), *flavor()]
FOUR = {"gpu": 4}


def drawn(victims: Sequence[str], *parts: Sequence[Object]) -> tuple[NodesAround, ...]:
    """Return the nodes around the pending workload with some victims gone."""
    state = state_of(TREE, room(), *parts)
    snapshot = take_snapshot(state, placing=True)
    preemptor = find_preemptor(state, snapshot, PENDING)
    assignment = decide(snapshot, preemptor).assignment
    return nodes_around(snapshot, preemptor, assignment, victims)


def counts(one: DomainSlots) -> tuple[str, int, int, int, int, int]:
    """Return the numbers of a domain."""
    return one.name, one.slots, one.taken, one.freed, one.used, one.reused


TWO_RACKS = [
    *node("n1", "r1", gpu=8),
    *node("n2", "r1", gpu=8),
    *node("n3", "r2", gpu=8),
    *runs("a", FOUR, {"n1": 1}),
    *runs("b", FOUR, {"n2": 2}),
    *runs("c", {"gpu": 2}, {"n3": 1}, priority=9),
]


def test_slots_of_racks_and_hosts() -> None:
    """3 pods go to r1, where a and b leave 3 slots beside the one of n1; 2 GPUs take a slot."""
    asks = waits(pods("main", 3, FOUR, {"required": RACK}))
    (found,) = drawn(["ns/a", "ns/b"], TWO_RACKS, asks)
    assert (found.pod_set, found.flavor, found.slot, found.placed) == (
        "main",
        "default",
        "4 gpu",
        True,
    )
    assert [counts(one) for one in found.domains] == [
        ("rack r1", 4, 3, 3, 3, 2),
        ("node n1", 2, 1, 1, 2, 1),
        ("node n2", 2, 2, 2, 1, 1),
        ("rack r2", 2, 1, 0, 0, 0),
        ("node n3", 2, 1, 0, 0, 0),
    ]
    (found,) = drawn(["ns/a"], TWO_RACKS, asks)
    assert not found.placed
    assert [one.used for one in found.domains] == [0] * 5


def test_of_many_nodes_those_are_listed_that_change() -> None:
    many = [node(f"n{n:03}", f"r{n // 4:02}", gpu=4) for n in range(240)]
    asks = waits(pods("main", 2, FOUR, {"required": RACK}))
    (found,) = drawn(["ns/a"], *many, runs("a", FOUR, {"n239": 1}), asks)
    names = [one.name for one in found.domains]
    assert len(names) == MOST_LISTED
    assert {"rack r59", "node n239"} <= {*names}
    listed = sum(one.name.startswith("rack") for one in found.domains)
    assert listed + found.hidden == 60
    for one in found.domains:
        below = [
            two for two in found.domains if len(two.domain) == 2 and two.domain[0] == one.name[5:]
        ]
        if len(one.domain) == 1:
            assert len(below) + one.hidden == 4


def test_bars_of_one_depth_share_a_scale() -> None:
    rows = (SlotRow("r", 0, 3, 2, 1, 2), SlotRow("a", 1, 3, 1, 0, 0), SlotRow("b", 1, 0, 1, 1, 0))
    whole, first, second = draw_slots(Slots("main", rows))
    assert [(part.style, part.x, part.width) for part in whole.parts] == [
        ("stays", 0.0, 375.0),
        ("used", 375.0, 250.0),
        ("freed", 625.0, 125.0),
        ("free", 750.0, 250.0),
    ]
    assert (first.width, second.width) == (1000.0, 500.0)
    told(second.said)


def test_pages_have_the_picture_and_load_nothing() -> None:
    plan = planner.solve(planner.read(ROOT / "instances" / "topology" / "needless.yaml"))
    assert isinstance(plan, Plan)
    page = render([plan], "html", width=100, color=False, alone=True)
    assert '<figure class="gauges slots">' in page
    assert "rack b: 0 stays taken, 2 used by the preemptor, 0 freed, 0 free" in page
    assert NOT_PLACED.replace("'", "&#39;") not in page
    assert not re.search(r"<script|href=\"http|src=", page)
    text = render([plan], "markdown", width=100, color=False, alone=True)
    assert "| `rack b` | 0 | 2 | 0 | 0 |" in text


def test_where_nothing_changes_is_folded() -> None:
    """Pods go to r1, and nothing to r2; nodes without racks are folded one by one."""
    asks = waits(pods("main", 3, FOUR, {"required": RACK}))
    (found,) = drawn(["ns/a", "ns/b"], TWO_RACKS, asks)
    (only,) = slots_in([found])
    (slots,) = only.blocks
    assert isinstance(slots, Slots)
    assert [row.name for row in slots.rows if row.aside] == ["rack r2", "node n3"]
    hosts = found.model_copy(update={"domains": found.domains[1:3] + found.domains[4:]})
    flat = [one.model_copy(update={"domain": one.domain[1:]}) for one in hosts.domains]
    (only,) = slots_in([hosts.model_copy(update={"domains": tuple(flat)})])
    (slots,) = only.blocks
    assert isinstance(slots, Slots)
    assert [row.name for row in slots.rows if row.aside] == ["node n3"]


def test_an_explanation_draws_what_kueue_itself_does() -> None:
    answer = planner.explain(planner.read(ROOT / "instances" / "topology" / "needless.yaml"))
    page = render_explanation(answer, "html", width=100, color=False)
    assert "rack a: 0 stays taken, 2 used by the preemptor, 0 freed, 0 free" in page


def test_where_no_topology_decides_nothing_is_drawn() -> None:
    plan = planner.solve(planner.read(QUICKSTART))
    assert isinstance(plan, Plan)
    assert plan.nodes == ()


def gauge(before: int, after: int | None = None, **changes: object) -> Gauge:
    """Return a ClusterQueue without marks."""
    facts: dict[str, object] = {"name": "q", "kind": "ClusterQueue", "depth": 0, "mark": None}
    return Gauge(**{**facts, "limit": None, **changes}, before=before, after=after)  # type: ignore[arg-type]


def bars_of(*gauges: Gauge, over: str = "borrowed") -> tuple[Bar, ...]:
    """Return the pictures of some gauges."""
    return draw_gauges(Gauges("gpu", gauges, "quota", "limit", over, str)).bars


def test_what_is_beyond_the_mark_has_a_colour_of_its_own() -> None:
    (bar,) = bars_of(gauge(40, 10, mark=20))
    assert bar.before == (Part(0, 500, "before"), Part(500, 500, "before over"))
    assert bar.after == (Part(0, 250, "after"),)
    assert bar.mark == 500
    assert (bar.figures, bar.change) == ("40 → 10 of 20", "−30")  # noqa: RUF001 - a minus sign


def test_without_a_word_for_it_nothing_is_beyond() -> None:
    (bar,) = bars_of(gauge(40, mark=20), over="")
    assert bar.before == (Part(0, 1000, "before"),)
    assert bar.after == ()


def test_all_queues_share_a_scale() -> None:
    small, large = bars_of(gauge(5, 5), gauge(20, 20))
    assert small.before == (Part(0, 250, "before"),)
    assert large.before == (Part(0, 1000, "before"),)


@pytest.mark.parametrize(("root", "width", "notes"), [(80, 250, 0), (81, 1000, 1)])
def test_far_larger_cohorts_have_a_scale_of_their_own(root: int, width: int, notes: int) -> None:
    gauges = Gauges("gpu", (gauge(root, kind="Cohort"), gauge(20)), "quota", "limit", "", str)
    bars = draw_gauges(gauges)
    assert bars.bars[1].before == (Part(0, width, "before"),)
    assert len(bars.notes) == notes


@pytest.mark.parametrize(("limit", "place"), [(30, 1000), (31, None), (UNLIMITED, None)])
def test_a_limit_far_away_is_told_but_not_drawn(limit: int, place: float | None) -> None:
    (bar,) = bars_of(gauge(20, mark=10, limit=limit))
    assert bar.limit == place
    assert f"limit at {limit}" in bar.said


def test_what_is_never_lent_is_marked_off() -> None:
    gauges = Gauges("gpu", (gauge(40, kept=10), gauge(20)), "quota", "limit", "", str, "never lent")
    kept, lent = draw_gauges(gauges).bars
    assert (kept.kept, lent.kept) == (250, 0)
    assert "10 never lent" in kept.said
    assert ("kept", "never lent") in draw_gauges(gauges).keys


def test_unlimited_quota_has_no_mark() -> None:
    (bar,) = bars_of(gauge(20, mark=UNLIMITED))
    assert bar.mark is None
    assert bar.before == (Part(0, 1000, "before"),)


def test_nothing_at_all_is_a_bar_without_parts() -> None:
    (bar,) = bars_of(gauge(0, 0, mark=0))
    assert (bar.before, bar.after, bar.mark) == ((), (), 0)
    assert draw_gauges(Gauges("gpu", (), "quota", "limit", "", str)).bars == ()


def test_over_admitted_usage_below_zero_is_no_bar() -> None:
    (bar,) = bars_of(gauge(-5, 3))
    assert bar.before == ()
    assert bar.change == "+8"
