"""Plans of Kueue, checked from the state alone."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import takewhile
from typing import Final

import numpy as np
from msgspec.structs import replace

from planner.case.kueue import Case, in_modes
from planner.commands.check.facts import GREEDY, NONE_LEGAL, VICTIMS, Facts, check_infeasible
from planner.commands.check.plan import (
    CLAIMS,
    Check,
    CheckedClaim,
    Named,
    another_question,
    conclude,
)
from planner.errors import UnsupportedError
from planner.garbage import without_garbage_collection
from planner.laws.kueue import KQ_FITS
from planner.objective.applied import apply_profile, own_priorities, spelled_out
from planner.objective.kueue import known_groups, term_table
from planner.objective.profiles import Profile, measure_name, with_names
from planner.objective.terms import Cut, TermTable
from planner.plan import Status, Verdict
from planner.plan.asked import Asked
from planner.plan.kueue import OWN_RULES, Plan
from planner.plan.record import Commands
from planner.proof.claims import Claims, Limits
from planner.proof.kueue import kueue_rules
from planner.quota.classes import IntArray
from planner.quota.kueue.assignment import (
    Assignment,
    check_flavors,
    flavor_resources,
    parse_assignment,
)
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placement import snapshot_for
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.aftermath import admit, next_targets, snapshot_after
from planner.reference.kueue.cycle.turn import in_the_way
from planner.reference.kueue.decision import Decision
from planner.reference.kueue.persistence import Persistence
from planner.scheduler import scheduler_of
from planner.state.kueue import State
from planner.term import UNSTABLE
from planner.verifier.kueue.case import assignment_faults
from planner.verifier.kueue.certificate import check_certificate, check_facts
from planner.verifier.kueue.fair_sharing import FairSetting
from planner.verifier.kueue.plan import match_plan, setting_for, verify_as_planned, verify_plan
from planner.verifier.kueue.setting import Setting
from planner.verifier.kueue_topology import not_compared
from planner.verifier.wording import broken, compare, judge, say_some
from planner.wing import find_rules

MOST_REPLAYED: Final = 2_000_000
"""Victims times workloads that hold quota, up to which ``unstable`` is replayed: a few seconds."""
TOO_MUCH: Final = (
    "who would preempt again was not recomputed: it takes a decision of the scheduler for each "
    "victim, and this state is too large"
)
NONE_STABLE: Final = f"{NONE_LEGAL} after which no victim would preempt again"
_OPTIONS: Final = {"release": "--kueue-release", "requests": "--requests"}
_OF_CLUSTER: Final = re.compile(r"--(context|kubeconfig|as|request-timeout)=")


@without_garbage_collection()
def check_kueue(
    state: State, plan: Plan, profile: Profile, costs: Mapping[str, int] | None, named: Named
) -> Check:
    """Check a plan of Kueue.

    Raises ``InputError`` if the plan is not for this state, or its objective cannot be counted
    there; ``UnsupportedError`` if its flavors were chosen for least disruption: ranks depend on all
    that were examined.
    """
    if plan.flavors is not None:
        raise UnsupportedError(
            "plan.flavors",
            "the flavors were chosen for least disruption, which no tree shows",
            hint="check a plan under Kueue's own flavors, or under an assignment",
        )
    rules = find_rules(named.rules)
    options = rules.read(named.rules or "")
    given = None if named.assignment is None else parse_assignment(named.assignment)
    if given is not None:
        check_flavors(given, state)
    return _Checking(rules.state(state), plan, profile, costs, named, options, given).check()


@dataclass
class _Aftermath:
    """The term ``unstable`` of victim sets: for each the scheduler decides on the state after.

    ``reason`` returns the reason code of a victim, given by its position.
    """

    case: Case
    reason: Callable[[int], str]
    cuts: Sequence[Cut] = ()  # nothing is learned of other sets
    _found: dict[frozenset[int], Mapping[str, tuple[str, ...]]] = field(
        default_factory=lambda: {frozenset(): {}}
    )

    @cached_property
    def _holder(self) -> Admitted:
        """The preemptor as every plan admits it."""
        return admit(self.case.snapshot, self.case.preemptor, self.case.assignment)

    def count(self, victims: Sequence[int]) -> int:
        """Return how many of the victims, given by positions, would preempt again."""
        return len(self.targets(victims))

    def spared(self, victim: int) -> Mapping[str, int]:
        """Return how much sets hold in which a victim would not preempt again, if that is known."""
        return self._persistence.spared(victim)

    @property
    def holding(self) -> Mapping[str, IntArray]:
        """(W,) what each workload holds, by the names in what is spared."""
        return self._persistence.holding

    @cached_property
    def _persistence(self) -> Persistence:
        case = self.case
        given = case.state, case.snapshot, self._holder, case.problem.workloads
        return Persistence(*given, self.reason)

    def targets(self, victims: Sequence[int]) -> Mapping[str, tuple[str, ...]]:
        """Return whom each of the victims would preempt again that would preempt anybody."""
        chosen, workloads = frozenset(victims), self.case.problem.workloads
        if chosen not in self._found:
            going = [workloads[at] for at in sorted(chosen)]
            after = snapshot_after(self.case.snapshot, self._holder, going)
            fresh = (at for at in sorted(chosen) if not workloads[at].leaving)
            waiting = map(self._persistence.again, fresh)
            found = {one.key: next_targets(after, one) for one in waiting}
            self._found[chosen] = {key: targets for key, targets in found.items() if targets}
        return self._found[chosen]


@dataclass
class _Checking:
    state: State
    plan: Plan
    profile: Profile
    costs: Mapping[str, int] | None
    named: Named
    options: str
    given: Assignment | None

    @cached_property
    def case(self) -> Case:
        """What is decided for the preemptor, under the flavors of the plan if any were given."""
        plan, fixed = self.plan, None if self.given is None else self.plan.assignment
        preemptor = find_preemptor(self.state, self.snapshot, plan.preemptor)
        return Case(self.state, self.snapshot, preemptor, fixed, self.costs, plan.rule_options)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The snapshot of the question that is asked, whatever the plan answers."""
        named, plan = self.named, self.plan
        wanted = [*flavor_resources(plan.assignment)]
        wanted += flavor_resources(self.given) if self.given else ()
        # By other rules than its own Kueue's placement is not known, nor what victims do next.
        if named.rules is not None or named.stable or self.profile.counts(UNSTABLE):
            return take_snapshot(self.state, named.now, wanted)
        return snapshot_for(self.state, named.now, wanted, plan.preemptor)

    @cached_property
    def asked(self) -> Asked:
        """The question that is asked."""
        named, snapshot = self.named, self.snapshot
        configuration = snapshot.configuration
        own = "kueue-fair" if configuration.fair_sharing_on else "kueue-classical"
        return Asked(
            objective=self.profile.name,
            rules=self.options or own,
            now=snapshot.now,
            assume=named.assume,
            stable=named.stable,
            release=configuration.release.name,
            known_by=configuration.release_known_by,
            requests=configuration.requests_from,
            flavors="own" if self.given is None else "given",
            placement=self.case.placement,
        )

    def _differs_besides(self) -> Iterator[str]:
        """Say in what else the plan answers another question: by flavors, or as it is not stable.

        A plan which is to be the best of the stable ones, and of all, has to be stable.
        """
        plan, asked = self.plan, self._decided.assignment
        if self.given is not None:
            asked = in_modes(self.given, self.snapshot, self.case.preemptor, self.options)
        if plan.assignment != asked:
            said, own = (_in_words(one) for one in (plan.assignment, asked))
            accepted = "an assignment that is given accepts others; modes follow from the state"
            yield f"flavors {said}, not {own} ({accepted})"
        if self.named.stable and not plan.stable and plan.victims:
            positions = self.facts.positions(plan.keys)
            if not self._replays or self._aftermath.count(positions):
                yield "stable no, not yes (after it victims would preempt again, or may)"

    @cached_property
    def setting(self) -> Setting:
        plan, options = self.plan, self.case.replacing
        return setting_for(self.state, self.snapshot, plan.preemptor, plan.assignment, options)

    @cached_property
    def table(self) -> TermTable:
        problem = self.case.problem
        going = np.zeros(len(problem.workloads), dtype=np.bool_)
        # The verifier's candidates, and not those of the program that made the plan: nothing of
        # that is trusted.
        going[problem.workloads.places_of(self.setting.candidates)] = True
        table = term_table(problem, self.snapshot, going, self.costs)
        if self._replays:
            table = replace(table, replayed={UNSTABLE: self._aftermath})
        own, keys = {*self._own}, problem.workloads.keys
        return apply_profile(
            self.profile,
            table,
            lambda: known_groups(self.state),
            lambda: own_priorities(table, [i for i, key in enumerate(keys) if key in own]),
        )

    @cached_property
    def _aftermath(self) -> _Aftermath:
        targets = self.case.decision.search.targets
        reasons = {target.workload.key: target.reason for target in targets}
        reasons |= {victim.workload: victim.reason for victim in self.plan.victims}
        workloads, own = self.case.problem.workloads, self.setting.reason

        def reason(position: int) -> str:
            one = workloads[position]
            return reasons[one.key] if one.key in reasons else own(one)

        return _Aftermath(self.case, reason)

    @cached_property
    def _replays(self) -> bool:
        """Whether ``unstable`` is recomputed."""
        plan, greedy = self.plan, self.plan.greedy
        # What other rules would do with victims, or with podsets without flavors, nobody knows;
        # where there are no victims, none of them preempts again.
        whole = len(plan.assignment.pod_sets) == len(self.case.preemptor.pod_sets)
        whole = whole or not (plan.victims or (greedy and greedy.victims))
        return self._counts and whole and not plan.by.replaces and not self._is_too_much

    @cached_property
    def _counts(self) -> bool:
        """Whether the plan, or its objective, counts who would preempt again, or says who would."""
        plan, greedy = self.plan, self.plan.greedy
        levels = [level.term for level in plan.certificate.levels] if plan.certificate else []
        said = [*plan.terms, *(greedy.terms if greedy else ()), *levels]
        counted = any(UNSTABLE in term.split("+") for term in said)
        told = plan.stability is not None or (greedy is not None and greedy.stability is not None)
        demanded = self.plan.stable or self.named.stable
        return counted or told or demanded or self.profile.counts(UNSTABLE)

    @cached_property
    def _is_too_much(self) -> bool:
        """Whether a decision for each victim takes too long; caps and rates need them all."""
        profile, greedy = self.profile, self.plan.greedy
        if UNSTABLE in profile.rates or any(UNSTABLE in cap for cap in profile.caps):
            return False
        asked = len(self.plan.victims) + (len(greedy.victims) if greedy else 0)
        return asked * sum(map(len, self.snapshot.admitted.values())) > MOST_REPLAYED

    def check(self) -> Check:
        differs = another_question(self.plan, self.asked, _option, self._differs_besides())
        if differs is not None:
            return differs
        laws = verify_plan(self.state, self.plan, snapshot=self.snapshot, setting=self.setting)
        notes = [TOO_MUCH] if self._left_out else []
        about_itself = self._claims_about_itself()
        check = conclude(self.plan, self.asked, laws, about_itself, self._claims)
        left_out = (*check.unchecked, *not_compared(self.setting.floor, self.plan))
        return check.model_copy(update={"notes": (*notes, *check.notes), "unchecked": left_out})

    @property
    def _left_out(self) -> Sequence[str]:
        """The terms that are not judged."""
        return [UNSTABLE] if self._counts and self._is_too_much else ()

    def _claims_about_itself(self) -> Iterator[Verdict]:
        """Judge values, bounds, order and facts, and the scheduler's own plan beside it."""
        plan, certificate = self.plan, self.plan.certificate
        match = partial(match_plan, self.state, snapshot=self.snapshot, setting=self.setting)
        case = match(plan)
        terms = self.table.evaluate(self.facts.positions(plan.keys))
        profile = spelled_out(self.profile, self.table)
        asked = None
        if certificate is not None and plan.victims:
            asked = [measure_name(measure) for measure in with_names(profile.levels)]
            first = plan.stable and (UNSTABLE,) not in profile.levels
            asked = [*([UNSTABLE] if first else ()), *asked]
        yield from check_certificate(case, plan, terms, asked, self._left_out)
        yield self.facts.check_victims(plan)
        if again := list(self._stability_faults("", plan)):
            yield judge(VICTIMS, again, "")
        # Laws judge the flavors of other plans. Kueue itself may leave podsets without flavors.
        no_victims = plan.claim in {"infeasible", "unknown"}
        findings = [*assignment_faults(self.setting, plan.assignment)] if no_victims else []
        if findings and not self._is_assigned:
            law = next(one for one in plan.laws if one.name == KQ_FITS.name)
            yield judge(law, findings, "")
        if commands := list(self._command_faults()):
            yield judge(CLAIMS, commands, "")
        greedy = plan.greedy
        if greedy is not None:
            # What added laws say of it may have been left undecided.
            added = greedy.rule_options and not greedy.by.replaces
            outside = None if added else broken(self._own_verdicts)
            own, faults = self._own_status, self._greedy_faults(greedy)
            yield self.facts.check_greedy(greedy, own, outside, faults, self._left_out)
            yield check_facts(match(greedy), greedy)
        elif turn := list(self._turn_faults(plan)):
            yield judge(GREEDY, turn, "")
        if certificate is not None and (plan.victims or certificate.caps or certificate.dropped):
            yield self.facts.check_caps(plan, certificate, self._wishing(profile))

    def _command_faults(self) -> Iterator[str]:
        """Compare the commands of the plan with those that the planner prints for it."""
        said = self.plan.commands
        if said is None:
            return
        # Of a wing: without it, such a plan cannot be checked.
        write = scheduler_of(self.plan).with_commands
        fact: Commands = write(self.state, self.plan, ()).commands
        # Which cluster is meant is for the reader to know.
        if said.steps and fact.steps:
            try:
                words = shlex.split(said.steps[0].command)
            except ValueError:  # a quote without end: it is no command
                words = []
            own = takewhile(lambda word: word != "--", words)
            options = [one for one in own if _OF_CLUSTER.match(one)]
            fact = write(self.state, self.plan, options).commands
        printed = {one.command for one in fact.steps}
        strange = (one.command for one in said.steps if one.command not in printed)
        yield from (f"commands: the planner does not print {one!r}" for one in strange)
        if said != fact:
            yield "commands are not those that the planner prints for this plan"

    def _wishing(self, profile: Profile) -> Profile:
        """Return an objective with the wish for a stable plan where that was demanded."""
        if not self.plan.stable:
            return profile
        wishes = replace(profile.wishes, most={**profile.wishes.most, (UNSTABLE,): 0})
        return replace(profile, wishes=wishes)

    def _greedy_faults(self, greedy: Plan) -> Iterator[str]:
        """Compare flavors, reasons and attempt with the replayed algorithm's."""
        search = self.case.decision.search
        for name in ("held_back", "in_the_way"):
            said = getattr(self.plan, name)
            if said and said != getattr(greedy, name):
                yield f"{name} of the plan is not that of greedy"
        for name in ("now", "kueue", "requests", "placement", "rule_options"):
            if getattr(greedy, name) != getattr(self.plan, name):
                yield f"greedy.{name} is not that of the plan"
        if greedy.stable:
            yield "greedy.stable: nobody demands that of Kueue's own plan"
        yield from self._turn_faults(greedy)
        yield from self._stability_faults("greedy.", greedy)
        if greedy.assignment != self.plan.assignment or greedy.rules != self.plan.rules:
            yield "it has other flavors, or rules, than the plan"
        for victim, target in zip(greedy.victims, search.targets, strict=False):
            yield from compare(f"reason of {victim.workload}", victim.reason, target.reason)
        yield from compare("its attempt", greedy.borrowing, search.borrowing)

    def _stability_faults(self, beginning: str, plan: Plan) -> Iterator[str]:
        """Compare which victims would preempt whom again, where a plan says it."""
        if plan.stability is None or not self._replays:
            return
        found = dict(self._aftermath.targets(self.facts.positions(plan.keys)))
        for i, one in enumerate(plan.stability):
            where, targets = f"{beginning}stability[{i}]", found.pop(one.victim, ())
            yield from compare(f"{where}.targets of {one.victim}", one.targets, targets)
            again = self.case.preemptor.key in targets
            yield from compare(f"{where}.preemptor of {one.victim}", one.preemptor, again)
        for key, targets in found.items():
            yield f"{beginning}stability leaves out {key}, which would preempt {say_some(targets)}"

    def _turn_faults(self, plan: Plan) -> Iterator[str]:
        """Compare what keeps Kueue from serving the preemptor, where a plan says it."""
        preemptor, held_back = self.case.preemptor, plan.held_back
        if held_back is not None:
            found = self.case.held_back
            facts = (found.why, found.head) if found else ()
            yield from compare("what holds it back", (held_back.why, held_back.head), facts)
        if plan.in_the_way:
            turn = in_the_way(self.state, self.snapshot, preemptor, lambda: False)
            others = () if turn is None else tuple(turn.workloads)
            yield from compare("who is in the way", plan.in_the_way, others)

    @property
    def _own_status(self) -> Status:
        """The status of the scheduler's own plan, as its decision has it."""
        mode = self.case.assignment.mode
        if mode == "NoFit":
            return "infeasible"
        fits = mode == "Fit" and self._fits and self.setting.floor.finds(())
        return "feasible" if fits or self._own else "unknown"

    @cached_property
    def _own_verdicts(self) -> Sequence[Verdict]:
        """What the laws say of the scheduler's own victims, where these may break any."""
        setting, search = self.setting, self.case.decision.search
        # Kueue itself can break laws only by fair sharing, or where its search leaves out quota for
        # pods. Elsewhere a plan of its own that breaks laws is false, and no excuse for caps.
        keeps = not isinstance(setting, FairSetting) and setting.request == setting.searched
        if keeps or not self._own:
            return ()
        # Its victims as they are replayed, whatever the plan says of them.
        case = replace(
            match_plan(self.state, self.plan, snapshot=self.snapshot, setting=setting),
            borrowing=search.borrowing,
            victims=tuple(target.workload for target in search.targets),
            reasons=tuple(target.reason for target in search.targets),
            faults={},
        )
        unplaced = self.plan.model_copy(update={"places": ()})
        return verify_as_planned(case, unplaced).verdicts

    @cached_property
    def facts(self) -> Facts:
        outside = any(not verdict.holds for verdict in self._own_verdicts)
        listed = self.setting.candidates.keys
        keys, order = self.case.problem.workloads.keys, self.case.problem.order.tolist()
        return Facts(self.table, keys, order, listed, self._own, outside)

    @cached_property
    def _own(self) -> Sequence[str]:
        """The victims of the scheduler's own algorithm, in its order."""
        return [target.workload.key for target in self.case.decision.search.targets]

    @cached_property
    def _decided(self) -> Decision:
        """What the scheduler's own algorithm does, with the flavors that it assigns."""
        return (self.case if self.given is None else replace(self.case, fixed=None)).decision

    @property
    def _fits(self) -> bool:
        """Whether the request is available with nobody evicted, as far as quota decides."""
        setting, free = self.setting, self.snapshot.usage.available
        asked = setting.request.items()
        return all(amount <= max(0, free(setting.queue, fr)) for fr, amount in asked)

    @cached_property
    def _is_assigned(self) -> bool:
        """Whether the flavors of the plan are those that the scheduler, replayed, assigns."""
        return self._decided.assignment == self.plan.assignment

    def _claims(self) -> Iterator[CheckedClaim]:
        certificate = self.plan.certificate
        if self.plan.claim == "infeasible":
            trees = certificate.trees if certificate else ()
            # With the flavors that it assigns the scheduler looks for no victims where none fit,
            # podsets are left out, or what does not fit counts as fitting.
            given = self.plan.assignment
            looks = given.mode == "Preempt" or (given.mode == "Fit" and self._fits)
            looks &= len(given.pod_sets) >= len(self.setting.preemptor.pod_sets)
            never = "" if looks else "the scheduler, replayed, never looks for victims"
            known = never if never and self._is_assigned else ""
            title = NONE_STABLE if self.plan.stable else NONE_LEGAL
            yield check_infeasible(self._asking(()), trees, known, title=title)
        elif certificate:
            profile = spelled_out(self.profile, self.table)
            yield from self.facts.check_proofs(
                self.plan, certificate, profile, self._asking, replayed=self._replays
            )

    def _asking(self, caps: Limits) -> Claims:
        problem = self.case.problem
        rules_for = kueue_rules(self.setting, problem.workloads, problem.order.tolist())
        return Claims(self.table, rules_for, caps, self._wishing(self.profile).wishes)


def _in_words(assignment: Assignment) -> str:
    """Return flavors with their modes, podset by podset."""
    parts = [f"{assignment.mode}, borrowing at height {assignment.borrowing}"]
    for pods in assignment.pod_sets:
        each = (f"{name} {one.flavor} {one.mode}" for name, one in sorted(pods.flavors.items()))
        parts.append(f"{pods.name} x {pods.count}: {', '.join(each) or 'none'}")
    return f"({'; '.join(parts)})"


def _option(name: str, said: str) -> str:
    """Return the option that takes a part of the question; empty if there is none."""
    if name in _OPTIONS:
        return f"{_OPTIONS[name]} {said}"
    named = {("stable", "yes"): "--stable"}
    if name == "rules" and said not in OWN_RULES:
        return f"--rules {said}"
    return named.get((name, said), "")
