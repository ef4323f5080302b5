"""Those who judge a small YuniKorn cluster: enumeration, model, verifier, and the core's own steps.

Whatever a test says by hand of the sets that the model admits, the others are asked as well.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.laws.yunikorn import Spared
from planner.plan.yunikorn import YuniKornPlan
from planner.problem.yunikorn import YuniKornProblem
from planner.quota.yunikorn.lowered import LOWERED
from planner.state.yunikorn import YuniKornState
from tests.subsets import subsets
from tests.verifier.yunikorn.plans import broken, plan_of, verdicts
from tests.yunikorn.admitted import NodeSets, admitted, problem_of
from tests.yunikorn.brute_force import legal_sets
from tests.yunikorn.building import Json, asking_of, decided, state_of

ENUMERATED: Final = {"yunikorn-design", "yunikorn-code", "yunikorn-required-node", LOWERED}
"""The rules that the brute force knows."""
OF_THE_CORE: Final = {"yunikorn-code", "yunikorn-required-node"}
"""Those that whatever the core does keeps."""


@dataclass(frozen=True)
class Court:
    """The judges of one cluster with an ask ``ask``, or of a queue above its maximum, by its path.

    A queue needs no node: its sets are those of node "".
    """

    value: Json
    queue: str = ""

    @property
    def _who(self) -> tuple[str, str]:
        return (self.queue, LOWERED) if self.queue else ("ask", "")

    @cached_property
    def problem(self) -> YuniKornProblem:
        """What the model sees."""
        return problem_of(self.value, *self._who)

    @cached_property
    def state(self) -> YuniKornState:
        """What the verifier sees."""
        return state_of(self.value)

    def admitted(
        self,
        rules: str = "yunikorn-design",
        *,
        spare: Spared = "nobody",
        without: Collection[str] = (),
    ) -> NodeSets:
        """Return what the model admits on each usable node, once the others agree with it.

        What it admits without some laws breaks nothing but these. Who is spared is asked of no
        other judge: whether that is right depends on what else there is.
        """
        rules = LOWERED if self.queue else rules
        found = admitted(self.problem, rules, spare=spare, without=without)
        if spare != "nobody":
            return found
        if without:
            legal = self.admitted(rules)
            for node, sets in found.items():
                for victims in sets - legal[node]:
                    assert {*self._broken(rules, node, victims)} <= {*without}, victims
            return found
        if rules in ENUMERATED:
            assert found == legal_sets(*asking_of(self.value, *self._who), rules)
        assert found == {
            node: {victims for victims in self._subsets() if not self._broken(rules, node, victims)}
            for node in found
        }
        core = decided(self.value, *self._who)
        assert (
            rules not in OF_THE_CORE
            or not core.victims
            or (core.node is not None and frozenset(core.victim_keys) in found[core.node])
        )
        return found

    def forbids(self, law: str, *victims: str, rules: str = "yunikorn-design") -> bool:
        """Say whether a law alone is in the way of these victims on node n1; else they may go."""
        keys, node = frozenset(victims), "" if self.queue else "n1"
        assert keys in self.admitted(rules, without={law})[node]
        return keys not in self.admitted(rules)[node]

    def detail(self, law: str, *victims: str, rules: str = "yunikorn-design") -> str:
        """Return what the verifier says of a law that these victims break."""
        verdict = verdicts(self.state, self._plan(rules, "n1", victims))[law]
        assert not verdict.holds
        return verdict.detail

    def _broken(self, rules: str, node: str, victims: Collection[str]) -> Collection[str]:
        return broken(self.state, self._plan(rules, node, victims))

    def _plan(self, rules: str, node: str, victims: Collection[str]) -> YuniKornPlan:
        if not self.queue:
            return plan_of(self.state, node, *victims, rules=rules)
        named = {"preemptor": self.queue, "queue": self.queue, "application": "", "priority": 0}
        return plan_of(self.state, None, *victims, rules=LOWERED, **named)

    def _subsets(self) -> list[frozenset[str]]:
        running = [one for app in self.value["applications"] for one in app["allocations"]]
        return [*map(frozenset, subsets([one["allocationKey"] for one in running]))]
