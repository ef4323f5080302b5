"""A plan of Kueue matched with its state and judged by every law of its rule set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from planner.errors import UnsupportedError
from planner.laws import RULE_SETS, Law, Register
from planner.laws.kueue import FS_SHARES, KQ_ATTEMPT
from planner.plan import Verdict, Verification
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment, flavor_resources
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.rules import Piece
from planner.state.kueue import State
from planner.verifier import kueue_topology
from planner.verifier.kueue import classical, fair_sharing, flavors
from planner.verifier.kueue.case import Case, rules_fault, setting_of
from planner.verifier.kueue.fair_sharing import FairCase, fair_setting_of
from planner.verifier.kueue.setting import Setting
from planner.verifier.wording import judge
from planner.wing import find_rules

_CHECKS: Final[dict[str, Register[Any]]] = {
    Case.rules: classical.CHECKS,
    FairCase.rules: fair_sharing.CHECKS,
}


def verify_by(
    case: Case, checks: Register[Callable[[Any], Verdict]], laws: Iterable[Law]
) -> Verification:
    """Judge a case by some laws, in their order."""
    verdicts = tuple(checks[law.id](case) for law in laws)
    return Verification(
        accepted=all(verdict.holds for verdict in verdicts),
        verdicts=verdicts,
        removal_order=tuple(victim.key for victim in case.removal.order),
    )


def verify_case(case: Case) -> Verification:
    """Judge a case by every law of Kueue's own rule set."""
    return verify_by(case, _CHECKS[case.rules], RULE_SETS[case.rules])


def _own_setting(setting: Setting, rules: str) -> tuple[Setting, type[Case]]:
    return (fair_setting_of(setting), FairCase) if rules == FairCase.rules else (setting, Case)


SETTING: Final = Piece[Callable[[Setting, str], tuple[Setting, type[Case]]]](
    "setting", _own_setting
)
"""Makes of a setting one under a rule set, with its cases; given the name of the rules in plans, or
that with the options of the rule set."""
VERIFIED: Final = Piece[Callable[[Case], Verification]]("verification", verify_case)
"""Judges a case by every law of a rule set, in the order of the registry."""


def verify_plan(
    state: State, plan: Plan, *, snapshot: Snapshot | None = None, setting: Setting | None = None
) -> Verification:
    """Judge a plan by every law of its rule set, in the order of the registry.

    It is accepted if all laws hold. A plan that was proved infeasible or not found claims no
    victims, so there is nothing to judge: it is accepted, without verdicts, if it names none. A
    plan by other rules than the Configuration asks for breaks KQ-08 or FS-07, victims or not.

    The plan's assignment says what the preemptor asks for, and is itself judged where the flavors
    were chosen for least disruption (KF-01). ``snapshot`` saves the time of taking one of the
    state; ``setting`` is the result of ``setting_for``, used if it equals the plan's own.

    Raises ``InputError`` if the plan's preemptor is not a pending workload of the state;
    ``UnsupportedError`` if the plan's rule set is not known.
    """
    if plan.rules not in plan.known_rules:
        raise UnsupportedError("plan.rules", f'"{plan.rules}"', " or ".join(plan.known_rules))
    # That no set is legal is for proof trees to show; here only the rule set can be wrong.
    if plan.claim in {"infeasible", "unknown"}:
        wrong = rules_fault(state.configuration, plan.rules)
        law = FS_SHARES if plan.rules == "kueue-fair" else KQ_ATTEMPT
        verdicts = (judge(law, [wrong], ""),) if wrong else ()
        return Verification(accepted=not plan.victims and not wrong, verdicts=verdicts)
    if snapshot is None:
        state = plan.by.state(state)
    return verify_as_planned(match_plan(state, plan, snapshot=snapshot, setting=setting), plan)


def verify_as_planned(case: Case, plan: Plan) -> Verification:
    """Judge a case by its rule set, and by the laws that a plan adds.

    These are of the places of pods, and of flavors that were chosen.
    """
    found = VERIFIED.for_rules(plan.by)(case)
    more: list[Verdict] = []
    if plan.placement is not None:
        more += [
            kueue_topology.CHECKS[law.id](case.setting.floor, case.victims, plan.places)
            for law in RULE_SETS["topology"]
        ]
    if plan.flavors is not None:
        more += [
            flavors.CHECKS[law.id](case.setting, plan.assignment) for law in RULE_SETS["flavors"]
        ]
    accepted = found.accepted and all(verdict.holds for verdict in more)
    changed = {"accepted": accepted, "verdicts": (*found.verdicts, *more)}
    return found.model_copy(update=changed) if more else found


def setting_for(
    state: State,
    snapshot: Snapshot,
    pending: str,
    assignment: Assignment,
    options: str = "",
) -> Setting:
    """Return the setting of a preemptor, to verify several plans for it.

    ``options`` name a rule set that takes the place of Kueue's own, with its options.

    Raises ``InputError`` if ``pending`` is not a pending workload of the state.
    """
    setting = setting_of(snapshot, find_preemptor(state, snapshot, pending), assignment)
    fair = FairCase.rules if snapshot.configuration.fair_sharing_on else Case.rules
    return SETTING.for_rules(find_rules(options or None))(setting, options or fair)[0]


def match_plan(
    state: State, plan: Plan, *, snapshot: Snapshot | None = None, setting: Setting | None = None
) -> Case:
    """Match a plan with the state, under its rules; the certificate's checks need the result too.

    ``snapshot`` and ``setting`` are as for ``verify_plan``.

    Raises ``InputError`` if the plan's preemptor is not a pending workload of the state.
    """
    wanted = flavor_resources(plan.assignment)
    # A plan may name flavor-resources that no quota mentions; the snapshot needs a row for them.
    if snapshot is None or any(fr not in snapshot.fr_index for fr in wanted):
        snapshot = take_snapshot(state, plan.now, wanted, placing=plan.placement is not None)
    preemptor = find_preemptor(state, snapshot, plan.preemptor)
    own = setting_of(snapshot, preemptor, plan.assignment)
    options = plan.rule_options if plan.by.replaces else plan.rules
    found, kind = SETTING.for_rules(plan.by)(own, options)
    # An equal setting of the caller's keeps what was worked out on it: sides, candidates, shares.
    return kind.matching(setting if setting is not None and setting == found else found, plan)
