"""The record of the rule set ``kep83``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.research.kep83.laws import LAWS
from planner.research.kep83.options import NAME, as_in_kep83, parse_rules
from planner.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from planner.problem.kueue import Problem
    from planner.reference.kueue.decision import Decision
    from planner.solver.kueue.planning import Planning


def _setting() -> object:
    from planner.research.kep83.verifier import match

    return match


def _verified() -> object:
    from planner.research.kep83.verifier import verify

    return verify


def _planning() -> type[Planning]:
    from planner.research.kep83.planning import Kep83Planning

    return Kep83Planning


def _decision() -> Callable[..., Decision]:
    from planner.research.kep83.replay import decide

    return decide


def _problem() -> Callable[..., Problem]:
    from planner.research.kep83.replay import problem

    return problem


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
        "setting": _setting,
        "verification": _verified,
        "planning": _planning,
        "decision": _decision,
        "problem": _problem,
    },
)
