"""The record of the rule set ``kep83``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.research.kep83.laws import LAWS
from planner.research.kep83.options import NAME, as_in_kep83, parse_rules
from planner.research.kep83.replay import decide, problem_of
from planner.research.kep83.verifier import match, verify
from planner.rules import RuleSet

if TYPE_CHECKING:
    from planner.solver.kueue.planning import Planning


def _planning() -> type[Planning]:
    from planner.research.kep83.planning import Kep83Planning

    return Kep83Planning


KEP83: Final = RuleSet(
    name=NAME,
    title="Kueue as proposed in 2022",
    laws=LAWS,
    scheduler="KEP-83",
    read=lambda text: parse_rules(text).text,
    state=as_in_kep83,
    borrows=lambda options: parse_rules(options).borrows,
    counts_pods=False,
    pieces={
        "setting": match,
        "verification": verify,
        "planning": _planning,
        "decision": decide,
        "problem": lambda case: problem_of(case).base,
    },
)
