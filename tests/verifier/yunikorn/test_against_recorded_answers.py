"""The verifier accepts exactly what the real core's own primitives accept.

Every non-empty subset of the recorded candidates is judged for every recorded node, under both
rule sets. By default every thirtieth line is taken, and more where that is quick;
PLANNER_TEST_ALL=1 takes them all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from planner.plan.yunikorn import YuniKornPlan
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, find_ask, prepare
from planner.quota.yunikorn.lowered import LOWERED
from planner.state.yunikorn import YuniKornState
from planner.verifier.yunikorn import verify_yunikorn_case, verify_yunikorn_plan
from planner.verifier.yunikorn.case import Victim, YuniKornCase
from tests.verifier.yunikorn.plans import CODE, DESIGN, REQUIRED, victim_of
from tests.yunikorn.building import SECOND, asking_of, state_of
from tests.yunikorn.legality import SMALL_QUOTA, lowered_lines
from tests.yunikorn.recorded import NAMES, Line, lines

SMALL = [name for name in NAMES if name.startswith("small-")]
GENERIC = [
    name
    for name in NAMES
    if name in {"generic", "fenced", "priority", "multi-node", "optout", "corner"}
]
NEVER_BROKEN = {"YK-01", "YK-03", "YK-05", "YK-06", "YK-07", "YK-10", "YK-11"}
REQUIRED_NODE = [name for name in NAMES if name == "required-node"]


@dataclass(frozen=True)
class Recorded:
    """A recorded line made ready."""

    line: Line
    state: YuniKornState
    cluster: Cluster
    asking: Asking

    @property
    def expect(self) -> dict[str, Any]:
        """The recorded answer."""
        answer: dict[str, Any] = self.line["expect"]
        return answer

    def held(self) -> dict[str, Victim]:
        """Return all allocations by key."""
        return {
            allocation.allocation_key: Victim(
                allocation, self.cluster.tree.leaf_of(application), application.application_id
            )
            for application in self.cluster.partition.applications
            for allocation in application.allocations
        }

    def candidates(self) -> list[Victim]:
        """Return the recorded candidates, in the order of the masks' bits."""
        held = self.held()
        return [held[key] for key in self.expect["legality"]["candidates"] or ()]

    def broken(self, rules: str, room: NodeRoom | None, victims: Sequence[Victim]) -> set[str]:
        """Return the laws that a set breaks; the lists leave out whether the ask may preempt."""
        case = YuniKornCase(self.cluster, self.asking, rules, room, tuple(victims))
        verification = verify_yunikorn_case(case)
        return {one.law for one in verification.verdicts if not one.holds} - {"YK-11"}


def recorded(name: str, step: int) -> Iterator[Recorded]:
    """Yield the lines of a file in which an ask is decided."""
    for line in lines(name, step):
        if "ask" not in line or line.get("mode") == "flow":
            continue
        state = state_of({key: value for key, value in line.items() if key != "expect"})
        cluster = prepare(state)
        asking = find_ask(cluster, line["ask"]["allocationKey"], line["ask"]["applicationID"])
        yield Recorded(line, state, cluster, asking)


def chosen(candidates: Sequence[Victim], mask: int) -> list[Victim]:
    return [victim for position, victim in enumerate(candidates) if mask >> position & 1]


def mask_of(candidates: Sequence[Victim], node: str | None) -> int:
    """Return the bits of the candidates on a node, of all without one."""
    bits = (1 << i for i, v in enumerate(candidates) if node in {None, v.allocation.node_id})
    return sum(bits)


def submasks(mask: int) -> Iterator[int]:
    """Yield every non-empty subset of a set of bits."""
    part = mask
    while part:
        yield part
        part = (part - 1) & mask


@pytest.mark.parametrize("name", SMALL)
def test_every_subset_of_the_candidates(name: str) -> None:
    judged = 0
    for one in recorded(name, step=30):
        candidates = one.candidates()
        for truth in one.expect["legality"]["perNode"] or ():
            room = one.cluster.node(truth["node"])
            on_node = mask_of(candidates, None if truth["freeFit"] else truth["node"])
            for rules, key in ((DESIGN, "legal"), (CODE, "code")):
                accepted = {
                    mask
                    for mask in submasks(on_node)
                    if not one.broken(rules, room, chosen(candidates, mask))
                }
                assert accepted == set(truth[key] or ()), (one.line["id"], truth["node"], rules)
                judged += 1
    assert judged


@pytest.mark.parametrize("name", SMALL_QUOTA)
def test_every_subset_for_a_lowered_quota(name: str) -> None:
    """Whoever is no recorded candidate may not go in any set."""
    judged = strangers = 0
    for line, queue, legal in lowered_lines(name, 3):
        one = Recorded(line, state_of(line), *asking_of(line, queue, LOWERED))
        candidates = one.candidates()
        sets = {mask: chosen(candidates, mask) for mask in range(1 << len(candidates))}
        accepted = {mask for mask in sets if not one.broken(LOWERED, None, sets[mask])}
        assert {frozenset(v.key for v in sets[mask]) for mask in accepted} == legal, line["id"]
        judged += len(sets)
        known = {victim.key for victim in candidates}
        for key, victim in one.held().items():
            if key not in known:
                assert "YK-14" in one.broken(LOWERED, None, [*candidates, victim]), line["id"]
                strangers += 1
    assert judged
    assert strangers


@pytest.mark.parametrize("name", SMALL)
def test_no_other_node_will_do(name: str) -> None:
    """No list is recorded for nodes which may not be planned."""
    refused = 0
    for one in recorded(name, step=5):
        candidates = one.candidates()
        known = {truth["node"] for truth in one.expect["legality"]["perNode"] or ()}
        for room in one.cluster.nodes:
            if candidates and known and room.node_id not in known:
                own = chosen(candidates, mask_of(candidates, room.node_id))
                assert "YK-08" in one.broken(CODE, room, own or candidates), one.line["id"]
                refused += 1
    assert refused


@pytest.mark.parametrize("name", SMALL)
def test_no_other_allocation_may_go_with_them(name: str) -> None:
    """A legal set stays legal with no allocation that was not a candidate."""
    for one in recorded(name, step=12):
        candidates, keys = one.candidates(), {victim.key for victim in one.candidates()}
        for truth in one.expect["legality"]["perNode"] or ():
            room = one.cluster.node(truth["node"])
            for mask in (truth["code"] or ())[:2]:
                for key, other in one.held().items():
                    if key not in keys:
                        together = [*chosen(candidates, mask), other]
                        assert one.broken(CODE, room, together), (one.line["id"], key)


def plan_of(one: Recorded, rules: str, *, node: str | None, victims: Sequence[str]) -> YuniKornPlan:
    """Return a recorded answer as a plan."""
    asking, cluster = one.asking, one.cluster
    made: dict[str, Any] = {
        "rules": rules,
        "algorithm": "yunikorn",
        "objective": "yunikorn",
        "status": "feasible",
        "explanation": "",
        "partition": cluster.partition.name,
        "preemptor": asking.ask.allocation_key,
        "application": asking.application.application_id,
        "queue": asking.leaf.path,
        "priority": asking.ask.priority,
        "now": datetime.fromtimestamp(cluster.now // SECOND, UTC),
        "node": node,
        "victims": tuple(victim_of(cluster, key) for key in victims),
    }
    return YuniKornPlan(**made)


@pytest.mark.parametrize("name", SMALL)
def test_the_cores_own_answer_is_legal_where_it_was_recorded_so(name: str) -> None:
    legal = 0
    for one in recorded(name, step=4):
        truth = one.expect["legality"]
        if not one.expect["victims"]:
            continue
        for rules, key in ((DESIGN, "greedyLegal"), (CODE, "greedyCode")):
            plan = plan_of(one, rules, node=one.expect["node"], victims=one.expect["victims"])
            verification = verify_yunikorn_plan(one.state, plan, cluster=one.cluster)
            assert verification.accepted == truth[key], (one.line["id"], rules)
            if verification.accepted:
                assert sorted(verification.removal_order) == sorted(plan.keys)
                legal += 1
    assert legal


@pytest.mark.parametrize("name", GENERIC)
def test_laws_that_the_core_never_breaks(name: str) -> None:
    """Its last step may drop victims, so what they make room for is not among these laws."""
    judged = 0
    for one in recorded(name, step=4):
        if not one.expect["victims"]:
            continue
        plan = plan_of(one, CODE, node=one.expect["node"], victims=one.expect["victims"])
        verification = verify_yunikorn_plan(one.state, plan, cluster=one.cluster)
        failed = {verdict.law for verdict in verification.verdicts if not verdict.holds}
        assert not failed & NEVER_BROKEN, one.line["id"]
        judged += 1
    assert judged


@pytest.mark.parametrize("name", GENERIC)
def test_what_fits_as_it_is(name: str) -> None:
    """A plan that evicts nothing is right exactly where the core would allocate at once."""
    for one in recorded(name, step=4):
        conditions = one.expect.get("preconditions")
        if conditions is None or one.asking.ask.required_node:
            continue
        plan = plan_of(one, DESIGN, node=None, victims=())
        accepted = verify_yunikorn_plan(one.state, plan, cluster=one.cluster).accepted
        now = conditions["fitsHeadroom"] and conditions["allocatableNow"]
        assert accepted == now, one.line["id"]


@pytest.mark.parametrize("name", REQUIRED_NODE)
def test_answers_for_a_required_node(name: str) -> None:
    judged = 0
    for one in recorded(name, step=4):
        if one.expect["victims"]:
            node = one.asking.ask.required_node
            plan = plan_of(one, REQUIRED, node=node, victims=one.expect["victims"])
            verification = verify_yunikorn_plan(one.state, plan, cluster=one.cluster)
            assert verification.accepted, (one.line["id"], verification.verdicts)
            judged += 1
    assert judged
