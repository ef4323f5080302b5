"""Flavors chosen for least disruption, and what Kueue's own cost, in tables and plain lines."""

from typing import Any

from planner.plan.kueue import FlavorChoices, KueueFlavors, Plan
from planner.quota.kueue.assignment import Assignment
from tests.report.factory import GPU, make_infeasible, make_plan
from tests.report.rendering import plain, table
from tests.told import told


def assigned(flavor: str) -> Assignment:
    """Return an assignment of GPUs to a flavor."""
    choice = {"flavor": flavor, "mode": "Preempt"}
    pods = {"name": "workers", "count": 2, "flavors": {GPU: choice}}
    return Assignment.model_validate({"mode": "Preempt", "podSets": [pods]})


def make_chosen(plan: Plan | None = None, own: str = "l4", **changes: Any) -> Plan:
    """Return a plan in h200s that were chosen, where Kueue would take others, at 3 workloads."""
    kueue = KueueFlavors(
        assignment=assigned(own),
        status=changes.pop("status", "optimal"),
        explanation="evicting 3 workloads makes room",
        victims=changes.pop("victims", ("team-b/one", "team-b/two", "team-c/three")),
        terms=changes.pop(
            "terms",
            {
                "last_resort": 0,
                "workloads": 3,
                "priority_weight": 24,
                "lost_work": 20000,
                "restart_cost": 1000,
            },
        ),
    )
    counts = {"permitted": 6, "distinct": 4, "examined": 4, "complete": True, **changes}
    flavors = FlavorChoices(**counts, kueue=kueue)
    return (plan or make_plan()).model_copy(
        update={"assignment": assigned("h200"), "flavors": flavors}
    )


def screen(plan: Plan) -> str:
    """Return the table without its line breaks."""
    return " ".join(table.render(plan, width=120, color=False).split())


def test_table_where_kueues_own_are_as_good_or_have_no_plan() -> None:
    told(screen(make_chosen(own="h200")))
    none = make_chosen(status="infeasible", victims=(), terms={})
    told(screen(none))
    free = make_chosen(victims=(), terms={"workloads": 0})
    told(screen(free))


def test_table_says_that_more_are_permitted_than_were_listed() -> None:
    text = screen(make_chosen(complete=False, status="feasible"))
    told(text)


def test_table_without_a_plan_shows_no_flavors() -> None:
    text = screen(make_chosen(make_infeasible()))
    told(text)
    assert "Podset" not in text


def test_a_flavor_that_kueue_assigns_to_nothing() -> None:
    plan = make_chosen()
    assert plan.flavors is not None
    kueue = plan.flavors.kueue.model_copy(update={"assignment": Assignment(mode="NoFit")})
    flavors = plan.flavors.model_copy(update={"kueue": kueue})
    text = plain.render(plan.model_copy(update={"flavors": flavors}))
    assert "kueue=none" in text
