"""Nodes as cases of the laws of placement, and who judges them: replay, model, verifier.

All that run are in the preemptor's own queue, of lower priority, with quota to spare: placement
alone decides which sets of them are legal.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from planner.plan import Conclusion, Verdict
from planner.plan.kueue import Plan
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.holders import Admitted
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.topology.assigning import Placing
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from planner.state.kueue import State
from planner.verifier.kueue.plan import verify_plan
from tests import admitted
from tests.cluster import PENDING, Object
from tests.laws.judges import Sets
from tests.reference.topology.racks import state_of
from tests.subsets import subsets


@dataclass(frozen=True)
class Floor:
    """One state."""

    parts: Sequence[Object]

    @cached_property
    def state(self) -> State:
        """The state that its parts make."""
        return state_of(self.parts)

    @cached_property
    def planning(self) -> Planning:
        """The preemptor, ready for planning."""
        found = start(self.state, Given(PENDING))
        assert isinstance(found, Planning)
        return found

    @property
    def workloads(self) -> Sequence[Admitted]:
        """All that other laws permit."""
        running = self.planning.problem.workloads
        return [running[place] for place in self.planning.eligible.nonzero()[0].tolist()]

    def subsets(self) -> Iterator[tuple[Admitted, ...]]:
        """Yield every set of them."""
        return subsets(self.workloads)

    def replayed(self) -> Sets:
        """Return the sets without which Kueue's own placement, replayed, finds places."""
        planning = self.planning
        placing = Placing.of_preemptor(planning.case.snapshot, planning.case.preemptor, Chance())
        assert placing is not None
        test = placing.test(planning.case.assignment)
        assert test is not None
        found = set()
        for gone in self.subsets():
            for one in gone:
                test.take_out(one)
            if test.fits():
                found.add(keys(gone))
            for one in gone:
                test.put_back(one)
        return frozenset(found)

    def admitted(self, without: Collection[str] = ()) -> Sets:
        """Return the sets that the model admits: of several podsets only that there is room."""
        problem: Problem = build_problem(
            self.planning.case.snapshot, self.planning.case.preemptor, self.planning.case.assignment
        )
        return frozenset(chain.from_iterable(admitted.admitted(problem, without).values()))

    def broken(self, gone: Collection[Admitted]) -> list[str]:
        """Return the laws that evicting a set breaks."""
        return [one.law for one in self._verdicts(gone) if not one.holds]

    def detail(self, gone: Collection[Admitted], law: str) -> str:
        """Return what the verifier says of a law for a set."""
        (said,) = (one.detail for one in self._verdicts(gone) if one.law == law)
        return said

    def _verdicts(self, gone: Collection[Admitted]) -> Sequence[Verdict]:
        planning = self.planning
        positions = [planning.keys.index(one.key) for one in gone]
        found = Conclusion[Plan]("feasible", objective="min-count")
        victims = planning.describe_in_order(positions)
        plan = planning.plan(found, victims, borrowing=True if gone else None)
        return verify_plan(self.state, plan).verdicts

    def accepted(self) -> Sets:
        """Return the sets that the verifier accepts."""
        return frozenset(keys(gone) for gone in self.subsets() if not self.broken(gone))

    def named(self, *names: str) -> list[Admitted]:
        """Return workloads by their names."""
        return [one for one in self.workloads if one.key.removeprefix("ns/") in names]


def keys(gone: Collection[Admitted]) -> frozenset[str]:
    """Return the keys of workloads."""
    return frozenset(one.key for one in gone)
