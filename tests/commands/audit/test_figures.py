"""The table of figures about recorded and generated states, and what it says of their frame."""

from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from planner.commands.audit import Case
from planner.commands.audit.record import Audit, Judgement, Summary
from planner.commands.compare.confidence import mean, share
from tests.conftest import ROOT
from tests.told import told


@pytest.fixture(scope="module")
def script() -> Any:
    """Give the script as a module."""
    return SimpleNamespace(**run_path(str(ROOT / "instances" / "recorded" / "figures.py")))


def case(victims: int, gaps: tuple[int, int], state: str = "f") -> Case:
    """Return a case with so many victims; how many are too many, and how many no-regret spares."""
    more, regretless = gaps
    return Case(
        state=f"folder/{state}.jsonl.gz: line 1",
        pending="p",
        rules="kueue-classical",
        status="feasible" if victims else "infeasible",
        victims=tuple(map(str, range(victims))),
        terms={},
        smallest=not more,
        fewest=victims - more,
        judgements=(
            Judgement(
                objective="no-regret",
                status="optimal",
                victims=(),
                terms={"workloads": 0},
                gaps={"workloads": regretless},
                best=None,
            ),
        ),
        proved=True,
    )


def audit_of(*cases: Case) -> Audit:
    """Return an audit of some cases."""
    counts = dict.fromkeys(("with_victims", "infeasible", "clean", "unproved", "failures"), 0)
    totals: dict[str, Any] = {**counts, "states": len(cases), "cases": len(cases)}
    summary = Summary(**totals, findings={}, verdicts=(), gaps=())
    return Audit(objectives=("no-regret",), summary=summary, cases=cases)


def test_a_row_for_each_rule_set(script: Any) -> None:
    audit = audit_of(case(5, (4, 0)), case(2, (0, 0)), case(1, (0, 0)), case(0, (0, 0)))
    header, _, row, _, frame = script.figures({"mine": audit}).splitlines()
    found = dict(zip(header.strip("| ").split(" | "), row.strip("| ").split(" | "), strict=True))
    low, high = (f"{100 * bound:.0f}" for bound in share(1, 3)[1:])
    gap = mean([4, 0, 0])
    assert (found["states"], found["rules"]) == ("mine", "classical")
    assert found["evicting"] == "3 of 4"
    assert found["fewer would do"] == f"33% ({low} to {high})"
    said = f"1.33 ({gap.low:.2f} to {gap.high:.2f}), 0, 4"
    assert found["too many"] == said
    assert found["fewer, no regret"].startswith("0% (")
    told(frame)


def test_states_that_were_chosen_for_what_comes_out_are_named(script: Any) -> None:
    audit = audit_of(case(1, (0, 0)), case(1, (0, 0), state="small-f"))
    told(script.figures({"mine": audit}))
