"""A plan of Kueue matched with its state and judged by every law of its rule set."""

from __future__ import annotations

from typing import Any, Final

from planner.errors import UnsupportedError
from planner.laws import RULE_SETS, Register
from planner.laws.kueue import FS_SHARES, KQ_ATTEMPT
from planner.plan import Verdict, Verification
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment, flavor_resources
from planner.quota.kueue.preemptor import as_in_kep83, find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.state.kep83 import Kep83
from planner.state.kueue import State
from planner.verifier import kep83, kueue_topology
from planner.verifier.kep83 import Kep83Case, kep83_setting_of
from planner.verifier.kueue import classical, fair_sharing, flavors
from planner.verifier.kueue.case import Case, rules_fault, setting_of
from planner.verifier.kueue.fair_sharing import FairCase, fair_setting_of
from planner.verifier.kueue.setting import Setting
from planner.verifier.wording import judge

_CHECKS: Final[dict[str, Register[Any]]] = {
    Case.rules: classical.CHECKS,
    FairCase.rules: fair_sharing.CHECKS,
    Kep83Case.rules: kep83.CHECKS,
}


def verify_plan(
    state: State, plan: Plan, *, snapshot: Snapshot | None = None, setting: Setting | None = None
) -> Verification:
    """Judge a plan by every law of its rule set, in the order of the registry.

    It is accepted if all laws hold. A plan that was proved infeasible or not found claims no
    victims, so there is nothing to judge: it is accepted, without verdicts, if it names none. A
    strict plan is also judged by ST-01 to ST-05, if the laws of its rule set hold. A
    plan by other rules than the Configuration asks for breaks KQ-08 or FS-07, victims or not.

    The plan's assignment says what the preemptor asks for, and is itself judged where the flavors
    were chosen for least disruption (KF-01). ``snapshot`` saves the time of taking one of the
    state; ``setting`` is the result of ``setting_for``, used if it equals the plan's own.

    Raises ``InputError`` if the plan's preemptor is not a pending workload of the state;
    ``UnsupportedError`` if the verifier does not know the plan's rule set.
    """
    if plan.rules not in RULE_SETS:
        raise UnsupportedError("plan.rules", f'"{plan.rules}"', f"one of {sorted(RULE_SETS)}")
    # That no set is legal is for proof trees to show; here only the rule set can be wrong.
    if plan.claim in {"infeasible", "unknown"}:
        wrong = rules_fault(state.configuration, plan.rules)
        law = FS_SHARES if plan.rules == "kueue-fair" else KQ_ATTEMPT
        verdicts = (judge(law, [wrong], ""),) if wrong else ()
        return Verification(accepted=not plan.victims and not wrong, verdicts=verdicts)
    # KEP-83 knows no slices: the preemptor asks for all its pods, the old slice is like any other.
    if plan.kep83 is not None and snapshot is None:
        state = as_in_kep83(state)
    return verify_as_planned(match_plan(state, plan, snapshot=snapshot, setting=setting), plan)


def verify_as_planned(case: Case, plan: Plan) -> Verification:
    """Judge a case by its rule set, and by the laws that a plan adds.

    These are of documented precedence, of the places of pods, and of flavors that were chosen.
    """
    found = verify_case(case)
    # Precedence asks whose turn each legal removal was: of illegal ones it says nothing.
    if plan.strict and found.accepted:
        # Loaded for strict plans alone.
        from planner.verifier.kueue_strict import judge_strictly  # noqa: PLC0415

        strict = judge_strictly(case)
        found = Verification(
            accepted=strict.legal is True,  # undecided is not accepted
            verdicts=(*found.verdicts, *strict.verdicts),
            removal_order=strict.order,
        )
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
    kep83: Kep83 | None = None,
) -> Setting:
    """Return the setting of a preemptor, to verify several plans for it.

    ``kep83`` are the options of KEP-83's rules where plans are by these.

    Raises ``InputError`` if ``pending`` is not a pending workload of the state.
    """
    setting = setting_of(snapshot, find_preemptor(state, snapshot, pending), assignment)
    if kep83 is not None:
        return kep83_setting_of(setting, kep83)
    return fair_setting_of(setting) if snapshot.configuration.fair_sharing_on else setting


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
    found = setting_of(snapshot, preemptor, plan.assignment)
    kind: type[Case] = Case
    if plan.rules == "kueue-fair":
        found, kind = fair_setting_of(found), FairCase
    elif plan.kep83 is not None:
        found, kind = kep83_setting_of(found, plan.kep83), Kep83Case
    # An equal setting of the caller's keeps what was worked out on it: sides, candidates, shares.
    return kind.of(setting if setting is not None and setting == found else found, plan)


def verify_case(case: Case) -> Verification:
    """Judge a case by every law of its rule set."""
    verdicts = tuple(_CHECKS[case.rules][law.id](case) for law in RULE_SETS[case.rules])
    return Verification(
        accepted=all(verdict.holds for verdict in verdicts),
        verdicts=verdicts,
        removal_order=tuple(victim.key for victim in case.removal.order),
    )
