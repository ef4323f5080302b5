"""A finished plan matched with the state, under fair sharing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.plan import Plan
from planner.quota.kueue.snapshot import Admitted
from planner.verifier.kueue.case import Case, match_victims
from planner.verifier.kueue.fair_removal import FairRemoval, remove_fairly, replay_fairly
from planner.verifier.kueue.fair_setting import FairSetting
from planner.verifier.kueue.setting import Setting


@dataclass(frozen=True)
class FairCase(Case):
    """Victims in one setting; the only attempt of fair sharing permits borrowing."""

    setting: FairSetting

    @property
    def rules(self) -> str:
        """The rule set that judges this case."""
        return "kueue-fair"

    @property
    def preemptor(self) -> str:
        """The preemptor, as ``namespace/name``."""
        return self.setting.preemptor.key

    @cached_property
    def removal(self) -> FairRemoval:
        """What comes of removing the victims."""
        return remove_fairly(self.setting, self.victims)

    def obstacle(self, order: Sequence[Admitted]) -> str:
        """Say what is in the way of removing the victims in this order, if anything is."""
        return "; ".join(text for text in replay_fairly(self.setting, order) if text)


def fair_setting_of(setting: Setting) -> FairSetting:
    """Return the same preemptor and state, under fair sharing."""
    return FairSetting(
        setting.snapshot,
        setting.preemptor,
        setting.request,
        setting.contested,
        setting.searched,
        setting.floor,
    )


def fair_case_of(setting: FairSetting, plan: Plan) -> FairCase:
    """Match a plan with the state; what cannot be matched becomes a fault, never an error."""
    known, reasons, faults = match_victims(setting, plan)
    return FairCase(setting, plan.borrowing, known, reasons, faults)
