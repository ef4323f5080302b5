"""A plan of Kueue matched with its state and judged by every law of its rule set."""

from __future__ import annotations

from collections.abc import Iterator

from planner.errors import UnsupportedError
from planner.laws import RULE_SETS
from planner.laws.kueue import FS_SHARES, KQ_ATTEMPT, KT_PLACEMENT
from planner.plan import Verdict, Verification
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment, flavor_resources
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.slices import without_slices
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.state.kep83 import Kep83
from planner.state.kueue import State
from planner.verifier import kueue_topology
from planner.verifier.kep83 import CHECKS as KEP83_CHECKS
from planner.verifier.kep83 import Kep83Case, Kep83Setting, kep83_case_of, kep83_setting_of
from planner.verifier.kueue import classical, fair_sharing, flavors
from planner.verifier.kueue.case import Case, case_of, rules_fault, setting_of
from planner.verifier.kueue.fair_sharing import FairCase, FairSetting, fair_case_of, fair_setting_of
from planner.verifier.kueue.setting import Setting
from planner.verifier.wording import judge

__all__ = ["match_plan", "setting_for", "verify_case", "verify_plan"]


def verify_plan(
    state: State, plan: Plan, *, snapshot: Snapshot | None = None, setting: Setting | None = None
) -> Verification:
    """Judge a plan by every law of its rule set, in the order of the registry.

    It is accepted if all laws hold. A plan that was proved infeasible or not found claims no
    victims, so there is nothing to judge: it is accepted, without verdicts, if it names none. A
    strict plan is also judged by ST-01 to ST-05, if the laws of its rule set hold. A
    plan by other rules than the Configuration asks for breaks KQ-08 or FS-07, victims or not.

    Parameters
    ----------
    plan
        The plan; its assignment says what the preemptor asks for, and is itself judged where
        the flavors were chosen for least disruption (KF-01).
    snapshot
        A snapshot of the state, to save the time of taking one.
    setting
        What ``setting_for`` said of the snapshot; used if it says the same as the plan.

    Raises
    ------
    InputError
        If the plan's preemptor is not a pending workload of the state.
    UnsupportedError
        If the verifier does not know the plan's rule set.
    """
    if plan.rules not in RULE_SETS:
        raise UnsupportedError("plan.rules", f'"{plan.rules}"', f"one of {sorted(RULE_SETS)}")
    # That nothing is legal is for proof trees to show; here only the rules can be the wrong ones.
    if plan.claim in {"infeasible", "unknown"}:
        wrong = rules_fault(state.configuration, plan.rules)
        law = FS_SHARES if plan.rules == "kueue-fair" else KQ_ATTEMPT
        verdicts = (judge(law, [wrong], ""),) if wrong else ()
        return Verification(accepted=not plan.victims and not wrong, verdicts=verdicts)
    # KEP-83 knows no slices: the preemptor asks for all, and the old slice is one that runs.
    if plan.kep83 is not None and snapshot is None:
        state = without_slices(state)
    case = match_plan(state, plan, snapshot=snapshot, setting=setting)
    found = _with_precedence(case, verify_case(case)) if plan.strict else verify_case(case)
    more: list[Verdict] = []
    if plan.placement is not None:
        more += [
            kueue_topology.CHECKS[law.id](case.setting.floor, case.victims, plan.places)
            for law in RULE_SETS["topology"]
            # With `placement: any` the pods go where there is room, and KT-02 is not asked
            # (docs/semantics/kueue-topology.md §8.2).
            if law is not KT_PLACEMENT or plan.placement == "kueue"
        ]
    if plan.flavors is not None:
        more += [
            flavors.CHECKS[law.id](case.setting, plan.assignment) for law in RULE_SETS["flavors"]
        ]
    if not more:
        return found
    return found.model_copy(
        update={
            "accepted": found.accepted and all(verdict.holds for verdict in more),
            "verdicts": (*found.verdicts, *more),
        }
    )


def _with_precedence(case: Case, found: Verification) -> Verification:
    """Judge what today's laws accept by ST-01 to ST-05, too; undecided is not accepted."""
    from planner.verifier.kueue_strict.laws import (  # noqa: PLC0415 - for strict plans alone
        judge_strictly,
    )

    # Precedence asks of legal removals whose turn it was: of others it says nothing.
    if not found.accepted:
        return found
    strict = judge_strictly(case)
    return Verification(
        accepted=strict.legal is True,
        verdicts=(*found.verdicts, *strict.verdicts),
        removal_order=strict.order,
    )


def setting_for(
    state: State,
    snapshot: Snapshot,
    pending: str,
    assignment: Assignment,
    kep83: Kep83 | None = None,
) -> Setting:
    """Return who wants in and over whom, to verify several plans for one preemptor.

    ``kep83`` are the options of KEP-83's rules where plans are by these.

    Raises
    ------
    InputError
        If it is not a pending workload of the state.
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

    Raises
    ------
    InputError
        If the plan's preemptor is not a pending workload of the state.
    """
    wanted = flavor_resources(plan.assignment)
    # A plan may name flavor-resources that no quota mentions; the snapshot needs a row for them.
    if snapshot is None or any(fr not in snapshot.fr_index for fr in wanted):
        snapshot = take_snapshot(state, plan.now, wanted, placing=plan.placement is not None)
        snapshot = snapshot.at_will() if plan.placement == "any" else snapshot
    preemptor = find_preemptor(state, snapshot, plan.preemptor)
    found = setting_of(snapshot, preemptor, plan.assignment)
    if plan.rules == "kueue-fair":
        fair = fair_setting_of(found)
        # An equal setting that the caller has keeps what was worked out on it: sides, candidates,
        # shares.
        if isinstance(setting, FairSetting) and setting == fair:
            fair = setting
        return fair_case_of(fair, plan)
    if plan.kep83 is not None:
        early = kep83_setting_of(found, plan.kep83)
        if isinstance(setting, Kep83Setting) and setting == early:
            early = setting
        return kep83_case_of(early, plan)
    return case_of(setting if setting is not None and setting == found else found, plan)


def verify_case(case: Case) -> Verification:
    """Judge a case by every law of its rule set."""
    verdicts = tuple(_verdicts(case))
    return Verification(
        accepted=all(verdict.holds for verdict in verdicts),
        verdicts=verdicts,
        removal_order=tuple(victim.key for victim in case.removal.order),
    )


def _verdicts(case: Case) -> Iterator[Verdict]:
    for law in RULE_SETS[case.rules]:
        if isinstance(case, FairCase):
            yield fair_sharing.CHECKS[law.id](case)
        elif isinstance(case, Kep83Case):
            yield KEP83_CHECKS[law.id](case)
        else:
            yield classical.CHECKS[law.id](case)
