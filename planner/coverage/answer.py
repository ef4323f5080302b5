"""The features that decide who is preempted, and an answer with the features it leaves out.

Each feature is one record, which says whether it is exact or not modelled. An answer keeps the
status that remains with the features that it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, cast

from planner.plan import AnyPlan, Assume, Uncovered, qualified
from planner.scheduler import scheduler_of
from planner.state import AnyState

if TYPE_CHECKING:
    from planner.plan.front import Front, FrontPoint

Standing = Literal["exact", "left out", "evidence", "harmless"]
"""exact: as the scheduler does it. left out: not modelled, and named in every answer that it may
concern. evidence: read to be compared with what is worked out. harmless: nothing of it decides who
is preempted."""

MOST_OBJECTS: Final = 5
"""How many objects are named as examples."""


class Feature(NamedTuple):
    """Something in a state that may decide who is preempted.

    ``effect`` says what it can change, in one sentence; ``source`` is the page that describes it.
    """

    id: str
    scheduler: str
    title: str
    standing: Standing
    effect: str
    source: str

    def found(
        self,
        objects: Sequence[str],
        evidence: str,
        kind: Literal["unmodelled", "contradiction", "assumed"] = "unmodelled",
    ) -> Uncovered:
        """Return the record of this feature in a state, with the objects that show it."""
        return Uncovered(
            feature=self.id,
            kind=kind,
            title=self.title,
            objects=tuple(objects[:MOST_OBJECTS]),
            count=len(objects),
            effect=self.effect,
            evidence=evidence,
        )


def features_of(scheduler: str, table: str) -> tuple[Feature, ...]:
    """Return the features of a scheduler, by a table of them.

    Each has a line with its id, standing and title, and below it, indented, the page that describes
    it, and its effect.
    """
    features: list[Feature] = []
    for row in re.split(r"\n(?=\S)", table.strip()):
        head, body = row.split("\n", 1)
        name, standing, title = head.split(" | ")
        source, effect = " ".join(body.split()).split(": ", 1)
        standing = cast("Standing", standing)
        features.append(Feature(name, scheduler, title, standing, effect, source))
    return tuple(features)


Plan_contra = TypeVar("Plan_contra", contravariant=True)


class Covering(Generic[Plan_contra]):
    """The coverage of a state, for all workloads or asks that wait in it: here all is modelled."""

    def unmodelled(self, pending: str) -> tuple[Uncovered, ...]:
        """Return what may decide about a pending workload or ask, and is not modelled."""
        del pending
        return ()

    def contradicted(self, plan: Plan_contra) -> tuple[Uncovered, ...]:
        """Return where the cluster's own words contradict a finished plan."""
        del plan
        return ()

    def everything(self) -> tuple[Uncovered, ...]:
        """Return what is not modelled for any workload or ask, for answers about a whole state."""
        return ()

    def remarks(self, pending: str) -> tuple[str, ...]:
        """Return remarks on the state for the reader of an answer."""
        del pending
        return ()


PointT = TypeVar("PointT", bound="FrontPoint")


def covering(state: AnyState) -> Covering[Any]:
    """Return the coverage of a state, for all workloads or asks that wait in it."""
    return scheduler_of(state).coverage_of(state)


def uncovered(known: Covering[Any], plan: AnyPlan) -> tuple[Uncovered, ...]:
    """Return everything that a plan leaves out."""
    found = (*known.unmodelled(plan.preemptor), *known.contradicted(plan))
    return tuple(one for one in found if one.feature not in plan.about.sees_to)


def covered(
    state: AnyState,
    plan: AnyPlan,
    assume: Assume | None = None,
    before: AnyPlan | None = None,
) -> AnyPlan:
    """Return a plan with what it leaves out of its state; ``assume`` is what a user vouches for.

    ``before`` is the plan before the state was edited, if it was. The cluster's own words are about
    the state that was read: what an edit makes of it they do not contradict, and where they
    contradicted the planner they go on to do so.
    """
    known = covering(state)
    notes = known.remarks(plan.preemptor)
    if notes:
        plan = plan.model_copy(update={"notes": (*plan.notes, *notes)})
    missing = uncovered(known, plan)
    if before is not None:
        said = (one for one in before.coverage if one.kind == "contradiction")
        missing = (*(one for one in missing if one.kind != "contradiction"), *said)
    return qualified(plan, missing, assume)


def covered_front(state: AnyState, front: Front, assume: Assume | None = None) -> Front:
    """Return a front whose plans all name everything that any of them leaves out."""
    known = covering(state)
    notes = known.remarks(front.preemptor)
    if notes:
        front = front.model_copy(update={"notes": (*front.notes, *notes)})
    shown: list[FrontPoint] = [*front.points, front.greedy]
    shown += [front.unproved] if front.unproved else []
    missing = tuple(dict.fromkeys(one for each in shown for one in uncovered(known, each.plan)))
    if not missing:
        return front

    def with_gaps(point: PointT) -> PointT:
        return point.model_copy(update={"plan": qualified(point.plan, missing, assume)})

    update = {
        "points": tuple(map(with_gaps, front.points)),
        "greedy": with_gaps(front.greedy),
        "unproved": with_gaps(front.unproved) if front.unproved else None,
    }
    return qualified(front.model_copy(update=update), missing, assume)
