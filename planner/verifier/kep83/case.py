"""A finished plan matched with the state, by KEP-83's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.plan import Plan
from planner.quota.kueue.snapshot import Admitted
from planner.verifier.kep83.removal import remove_kep83, replay_kep83
from planner.verifier.kep83.setting import Kep83Setting
from planner.verifier.kueue.case import Case, match_victims
from planner.verifier.kueue.removal import Removal


@dataclass(frozen=True)
class Kep83Case(Case):
    """Victims in one setting; ``borrowing`` is what the plan says of the only attempt there is."""

    setting: Kep83Setting

    @property
    def rules(self) -> str:
        """The rule set that judges this case."""
        return "kep83"

    @cached_property
    def removal(self) -> Removal:
        """What comes of removing the victims."""
        return remove_kep83(self.setting, self.victims)

    def obstacle(self, order: Sequence[Admitted]) -> str:
        """Say what is in the way of removing the victims in this order, if anything is."""
        return replay_kep83(self.setting, order).obstacle


def kep83_case_of(setting: Kep83Setting, plan: Plan) -> Kep83Case:
    """Match a plan with the state; what cannot be matched becomes a fault, never an error."""
    known, reasons, faults = match_victims(setting, plan)
    return Kep83Case(setting, plan.borrowing, known, reasons, faults)
